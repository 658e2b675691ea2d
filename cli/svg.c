/*
 * Pictures as SVG 1.1: boxes, lines and letters stay what they are, so that the picture can be
 * printed at any size; images go in as PNG. Numbers are written here, not by printf, which would
 * write a comma in some languages.
 */
#include "cli/numbers.h"
#include "cli/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With two decimals, trailing zeros left out. */
static void add_number(bytes *out, double value)
{
    char text[32];
    const long long hundredths = llround(value * 100);
    const long long size = hundredths < 0 ? -hundredths : hundredths;
    int length =
        snprintf(text, sizeof(text), "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100, size % 100);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    bytes_add(out, text, (size_t)length);
}

/* A text in which every @ stands for the next of the numbers. */
static void add_numbers(bytes *out, const char *text, const double *numbers)
{
    for (size_t length; *text; text += length + (text[length] == '@')) {
        length = strcspn(text, "@");
        bytes_add(out, text, length);
        if (text[length]) add_number(out, *numbers++);
    }
}
#define ADD(out, text, ...) add_numbers(out, text, (const double[]){__VA_ARGS__})

static void add_colour(bytes *out, const char *name, uint32_t colour)
{
    char text[32];
    snprintf(text, sizeof(text), " %s=\"#%06x\"", name, (unsigned)colour);
    bytes_text(out, text);
}

/* Names of files come in here: what XML does not allow becomes a question mark. */
static void add_escaped(bytes *out, const char *text)
{
    while (*text) {
        const size_t length = utf8_length(text);
        switch (*text) {
        case '&': bytes_text(out, "&amp;"); break;
        case '<': bytes_text(out, "&lt;"); break;
        case '>': bytes_text(out, "&gt;"); break;
        default:
            if (length == 0 || (unsigned char)*text < 32)
                bytes_text(out, "?");
            else
                bytes_add(out, text, length);
        }
        text += length ? length : 1;
    }
}

static void add_base64(bytes *out, const unsigned char *data, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < length; k += 3) {
        char four[4];
        uint32_t bits = (uint32_t)data[k] << 16;
        if (k + 1 < length) bits |= (uint32_t)data[k + 1] << 8;
        if (k + 2 < length) bits |= data[k + 2];
        for (int d = 0; d < 4; d++) four[d] = digits[bits >> (18 - 6 * d) & 63];
        if (k + 1 >= length) four[2] = '=';
        if (k + 2 >= length) four[3] = '=';
        bytes_add(out, four, 4);
    }
}

static void add_box(bytes *out, const shape *s)
{
    ADD(out, "<rect x=\"@\" y=\"@\" width=\"@\" height=\"@\"", s->x, s->y, s->width, s->height);
    add_colour(out, "fill", s->colour);
    bytes_text(out, "/>\n");
}

static void add_image(bytes *out, const shape *s)
{
    bytes png = {0};
    if (!png_encode(s->pixels, s->columns, s->rows, &png)) out->failed = true;
    ADD(out, "<image x=\"@\" y=\"@\" width=\"@\" height=\"@\"", s->x, s->y, s->width, s->height);
    bytes_text(out, " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\""
                    " xlink:href=\"data:image/png;base64,");
    add_base64(out, png.data, png.length);
    bytes_text(out, "\"/>\n");
    free(png.data);
}

/* A line of one point is drawn as a dot: round caps show where a path has no length. */
static void add_line(bytes *out, const shape *s)
{
    bytes_text(out, "<path fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"");
    bytes_text(out, s->dash > 0 ? "butt\"" : "round\"");
    add_colour(out, "stroke", s->colour);
    ADD(out, " stroke-width=\"@\"", s->pen);
    if (s->dash > 0) ADD(out, " stroke-dasharray=\"@\"", s->dash);
    bytes_text(out, " d=\"");
    for (int64_t k = 0; k < s->count || k == 1; k++)
        add_numbers(out, k == 0 ? "M@ @" : "L@ @", s->points + 2 * (k < s->count ? k : 0));
    bytes_text(out, "\"/>\n");
}

static void add_text(bytes *out, const shape *s)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    ADD(out, "<text x=\"@\" y=\"@\" font-size=\"@\"", s->x, s->y, s->size);
    add_colour(out, "fill", s->colour);
    bytes_text(out, " text-anchor=\"");
    bytes_text(out, anchors[s->anchor]);
    bytes_text(out, "\"");
    if (s->upwards) ADD(out, " transform=\"rotate(-90 @ @)\"", s->x, s->y);
    bytes_text(out, ">");
    add_escaped(out, s->text);
    if (s->raised) {
        ADD(out, "<tspan dy=\"@\" font-size=\"@\">", -0.36 * s->size, 0.72 * s->size);
        add_escaped(out, s->raised);
        bytes_text(out, "</tspan>");
    }
    bytes_text(out, "</text>\n");
}

bool picture_svg(const picture *p, bytes *out)
{
    bytes_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    ADD(out, " width=\"@\" height=\"@\" viewBox=\"0 0 @ @\" font-family=\"Helvetica,Arial,sans-serif\">\n",
        p->width, p->height, p->width, p->height);
    bytes_text(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    for (int64_t k = 0; k < p->count; k++) {
        const shape *s = &p->shapes[k];
        switch (s->kind) {
        case SHAPE_BOX: add_box(out, s); break;
        case SHAPE_LINE: add_line(out, s); break;
        case SHAPE_TEXT: add_text(out, s); break;
        case SHAPE_IMAGE: add_image(out, s); break;
        }
    }
    bytes_text(out, "</svg>\n");
    return !out->failed;
}
