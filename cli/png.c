/*
 * Pictures as PNG: shapes painted into pixels, and the pixels written in the format of ISO/IEC 15948
 * with zlib's deflate.
 *
 * Lines and letters are drawn with a round pen and smooth edges: a pixel is covered by 1/2 + r - d,
 * cut to 0..1, at the distance d from the middle of a stroke of half width r. The coverage of a
 * whole line is collected (the largest of its pieces) before it is painted, so that pieces that
 * meet do not show.
 */
#include "cli/font.h"
#include "cli/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* RFC 2083: length, type, data, and a check sum over the last two. */
static void add_number(bytes *out, uint32_t number)
{
    const unsigned char big_endian[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                         (unsigned char)(number >> 8), (unsigned char)number};
    bytes_add(out, big_endian, 4);
}

static void add_chunk(bytes *out, const char *type, const unsigned char *data, size_t length)
{
    uLong sum = crc32(0, (const Bytef *)type, 4);
    if (length > 0) sum = crc32(sum, data, (uInt)length);
    add_number(out, (uint32_t)length);
    bytes_add(out, type, 4);
    bytes_add(out, data, length);
    add_number(out, (uint32_t)sum);
}

/* Three bytes a pixel, every row with the filter "Up" (difference to the row above), which suits
 * flat areas and vertical lines. */
static void filter_rows(const uint32_t *pixels, int columns, int rows, unsigned char *out)
{
    for (int r = 0; r < rows; r++) {
        *out++ = 2;
        for (int c = 0; c < columns; c++) {
            const uint32_t here = pixels[(size_t)r * (size_t)columns + (size_t)c];
            const uint32_t above = r > 0 ? pixels[(size_t)(r - 1) * (size_t)columns + (size_t)c] : 0;
            for (int shift = 16; shift >= 0; shift -= 8)
                *out++ = (unsigned char)((here >> shift) - (above >> shift));
        }
    }
}

/* What comes before the pixels. */
static void add_head(bytes *out, int columns, int rows)
{
    bytes header = {0}, density = {0};
    add_number(&header, (uint32_t)columns);
    add_number(&header, (uint32_t)rows);
    bytes_add(&header, "\x08\x02\x00\x00\x00", 5); /* 8 bits, RGB, the only methods there are */
    add_number(&density, 7559); /* 192 dots an inch, in dots a metre: two pixels a CSS pixel */
    add_number(&density, 7559);
    bytes_add(&density, "\x01", 1);
    bytes_add(out, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(out, "IHDR", header.data, header.length);
    add_chunk(out, "pHYs", density.data, density.length);
    out->failed = out->failed || header.failed || density.failed;
    free(header.data);
    free(density.data);
}

bool png_encode(const uint32_t *pixels, int columns, int rows, bytes *out)
{
    const size_t length = (size_t)rows * (3 * (size_t)columns + 1);
    uLongf packed_length = compressBound((uLong)length);
    unsigned char *plain = malloc(length), *packed = malloc(packed_length);
    bool done = plain && packed;
    if (done) {
        filter_rows(pixels, columns, rows, plain);
        done = compress2(packed, &packed_length, plain, (uLong)length, 9) == Z_OK;
    }
    if (done) {
        add_head(out, columns, rows);
        add_chunk(out, "IDAT", packed, packed_length);
        add_chunk(out, "IEND", NULL, 0);
        done = !out->failed;
    }
    free(plain);
    free(packed);
    return done;
}

typedef struct canvas {
    int columns, rows;
    uint32_t *pixels;
    unsigned char *cover;         /* of the stroke being drawn; 0 outside the box below */
    int left, right, top, bottom; /* what of it is in use */
    double radius;                /* of the pen, in pixels */
} canvas;

static uint32_t mix(uint32_t under, uint32_t over, int cover)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const int a = (int)(under >> shift & 255), b = (int)(over >> shift & 255);
        mixed |= (uint32_t)((a * (255 - cover) + b * cover + 127) / 255) << shift;
    }
    return mixed;
}

static int clamp(double value, int most)
{
    return value <= 0 ? 0 : value >= most ? most : (int)value;
}

static double distance(double px, double py, double x0, double y0, double x1, double y1)
{
    const double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
    double t = square > 0 ? ((px - x0) * dx + (py - y0) * dy) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - x0 - t * dx, py - y0 - t * dy);
}

/* In pixels. */
static void cover_segment(canvas *c, double x0, double y0, double x1, double y1)
{
    const double reach = c->radius + 1;
    const int left = clamp(fmin(x0, x1) - reach, c->columns),
              right = clamp(fmax(x0, x1) + reach + 1, c->columns);
    const int top = clamp(fmin(y0, y1) - reach, c->rows), bottom = clamp(fmax(y0, y1) + reach + 1, c->rows);
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            const double part = 0.5 + c->radius - distance(x + 0.5, y + 0.5, x0, y0, x1, y1);
            /* in 16 steps: fewer colours, and a smaller file */
            const unsigned char cover = (unsigned char)(17 * (int)(15 * fmin(fmax(part, 0), 1) + 0.5));
            unsigned char *there = &c->cover[(size_t)y * (size_t)c->columns + (size_t)x];
            if (cover > *there) *there = cover;
        }
    if (left < c->left) c->left = left;
    if (right > c->right) c->right = right;
    if (top < c->top) c->top = top;
    if (bottom > c->bottom) c->bottom = bottom;
}

static void begin_stroke(canvas *c, double pen)
{
    c->radius = pen * PICTURE_PIXELS / 2;
    c->left = c->columns;
    c->top = c->rows;
    c->right = c->bottom = 0;
}

static void end_stroke(canvas *c, uint32_t colour)
{
    for (int y = c->top; y < c->bottom; y++)
        for (int x = c->left; x < c->right; x++) {
            const size_t k = (size_t)y * (size_t)c->columns + (size_t)x;
            if (c->cover[k]) c->pixels[k] = mix(c->pixels[k], colour, c->cover[k]);
            c->cover[k] = 0;
        }
}

/* A box, or an image that is magnified to it. */
static void paint_area(canvas *c, const shape *s)
{
    const int left = clamp(s->x * PICTURE_PIXELS + 0.5, c->columns),
              right = clamp((s->x + s->width) * PICTURE_PIXELS + 0.5, c->columns),
              top = clamp(s->y * PICTURE_PIXELS + 0.5, c->rows),
              bottom = clamp((s->y + s->height) * PICTURE_PIXELS + 0.5, c->rows);
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            uint32_t colour = s->colour;
            if (s->kind == SHAPE_IMAGE) {
                const int64_t row = (int64_t)(y - top) * s->rows / (bottom - top);
                const int64_t column = (int64_t)(x - left) * s->columns / (right - left);
                colour = s->pixels[row * s->columns + column];
            }
            c->pixels[(size_t)y * (size_t)c->columns + (size_t)x] = colour;
        }
}

/* Dashes as long as the gaps between them, running on around corners. */
static void paint_line(canvas *c, const shape *s)
{
    double along = 0; /* where in dash and gap the next piece begins */
    begin_stroke(c, s->pen);
    for (int64_t k = 0; k + 1 < s->count || k == 0; k++) {
        const double *from = s->points + 2 * k, *to = k + 1 < s->count ? from + 2 : from;
        const double length = hypot(to[0] - from[0], to[1] - from[1]);
        double done = 0;
        do {
            double piece = length - done;
            const bool gap = s->dash > 0 && fmod(along, 2 * s->dash) >= s->dash;
            if (s->dash > 0) piece = fmin(piece, s->dash - fmod(along, s->dash) + 1e-9);
            const double a = length > 0 ? done / length : 0, b = length > 0 ? (done + piece) / length : 0;
            if (!gap)
                cover_segment(c, PICTURE_PIXELS * (from[0] + a * (to[0] - from[0])),
                              PICTURE_PIXELS * (from[1] + a * (to[1] - from[1])),
                              PICTURE_PIXELS * (from[0] + b * (to[0] - from[0])),
                              PICTURE_PIXELS * (from[1] + b * (to[1] - from[1])));
            along += piece;
            done += piece;
        } while (done < length);
    }
    end_stroke(c, s->colour);
}

/* Where letters go: the base line's beginning, how long the font's unit is, in pixels. */
typedef struct lettering {
    canvas *c;
    double x, y, unit;
    bool upwards;
} lettering;

static void letter_segment(void *user, double x0, double y0, double x1, double y1)
{
    const lettering *l = user;
    if (l->upwards)
        cover_segment(l->c, l->x - l->unit * y0, l->y - l->unit * x0, l->x - l->unit * y1,
                      l->y - l->unit * x1);
    else
        cover_segment(l->c, l->x + l->unit * x0, l->y - l->unit * y0, l->x + l->unit * x1,
                      l->y - l->unit * y1);
}

enum { RAISED_BY = 5 }; /* in the font's units, of which a capital is 10 high */

static void paint_text(canvas *c, const shape *s)
{
    const double raised_size = 0.72, raised_gap = 1.5;
    const double plain = font_draw(s->text, NULL, NULL);
    const double raised = s->raised ? raised_gap + raised_size * font_draw(s->raised, NULL, NULL) : 0;
    const double back = s->anchor == ANCHOR_START    ? 0
                        : s->anchor == ANCHOR_MIDDLE ? (plain + raised) / 2
                                                     : plain + raised;
    lettering l = {c, PICTURE_PIXELS * s->x, PICTURE_PIXELS * s->y, PICTURE_PIXELS * font_unit(s->size),
                   s->upwards};
    *(s->upwards ? &l.y : &l.x) += (s->upwards ? 1 : -1) * l.unit * back;
    begin_stroke(c, 0.085 * s->size);
    font_draw(s->text, letter_segment, &l);
    if (s->raised) {
        l.x += l.unit * (plain + raised_gap);
        l.y -= l.unit * RAISED_BY;
        l.unit *= raised_size;
        font_draw(s->raised, letter_segment, &l);
    }
    end_stroke(c, s->colour);
}

bool picture_png(const picture *p, bytes *out)
{
    canvas c = {.columns = (int)ceil(p->width * PICTURE_PIXELS),
                .rows = (int)ceil(p->height * PICTURE_PIXELS)};
    const size_t count = (size_t)c.columns * (size_t)c.rows;
    c.pixels = calloc(count, sizeof(uint32_t));
    c.cover = calloc(count, 1);
    bool done = c.pixels && c.cover;
    if (done) {
        for (size_t k = 0; k < count; k++) c.pixels[k] = 0xffffff;
        for (int64_t k = 0; k < p->count; k++) {
            const shape *s = &p->shapes[k];
            switch (s->kind) {
            case SHAPE_BOX:
            case SHAPE_IMAGE: paint_area(&c, s); break;
            case SHAPE_LINE: paint_line(&c, s); break;
            case SHAPE_TEXT: paint_text(&c, s); break;
            }
        }
        done = png_encode(c.pixels, c.columns, c.rows, out);
    }
    free(c.pixels);
    free(c.cover);
    return done;
}
