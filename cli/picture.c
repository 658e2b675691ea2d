/* The list of shapes, and where a picture is saved. */
#include "cli/picture.h"

#include "cli/command.h"
#include "cli/memory.h"
#include "cli/outfile.h"
#include "cli/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

picture picture_begin(double width, double height)
{
    return (picture){.width = width, .height = height};
}

void picture_end(picture *p)
{
    for (int64_t k = 0; k < p->count; k++) {
        free(p->shapes[k].points);
        free(p->shapes[k].text);
        free(p->shapes[k].raised);
        free(p->shapes[k].pixels);
    }
    free(p->shapes);
    *p = picture_begin(0, 0);
}

/* A shape at the end of the list; NULL where memory ran out. */
static shape *add(picture *p, shape is)
{
    shape *s = one_more(&p->shapes, &p->count, &p->room, sizeof is);
    if (s)
        *s = is;
    else
        p->failed = true;
    return s;
}

/* A copy that the picture frees. */
static char *copy_text(picture *p, const char *text)
{
    char *copy = strdup(text);
    if (!copy) p->failed = true;
    return copy;
}

void picture_box(picture *p, double x, double y, double width, double height, uint32_t colour)
{
    add(p, (shape){.kind = SHAPE_BOX, .colour = colour, .x = x, .y = y, .width = width, .height = height});
}

void picture_line(picture *p, int64_t count, const double *points, double pen, double dash, uint32_t colour)
{
    if (count < 1) return;
    shape *s = add(p, (shape){.kind = SHAPE_LINE, .colour = colour, .pen = pen, .dash = dash});
    if (s) s->points = malloc((size_t)count * 2 * sizeof(double));
    if (!s || !s->points) {
        p->failed = true;
        return;
    }
    memcpy(s->points, points, (size_t)count * 2 * sizeof(double));
    s->count = count;
}

static shape *add_text(picture *p, double x, double y, double size, text_anchor anchor, uint32_t colour,
                       const char *text)
{
    shape *s =
        add(p, (shape){.kind = SHAPE_TEXT, .colour = colour, .x = x, .y = y, .size = size, .anchor = anchor});
    if (s) s->text = copy_text(p, text);
    return s;
}

void picture_text(picture *p, double x, double y, double size, text_anchor anchor, uint32_t colour,
                  const char *text)
{
    add_text(p, x, y, size, anchor, colour, text);
}

void picture_text_upwards(picture *p, double x, double y, double size, uint32_t colour, const char *text)
{
    shape *s = add_text(p, x, y, size, ANCHOR_MIDDLE, colour, text);
    if (s) s->upwards = true;
}

void picture_power(picture *p, double x, double y, double size, text_anchor anchor, uint32_t colour,
                   int exponent)
{
    char raised[16];
    shape *s = add_text(p, x, y, size, anchor, colour, "10");
    snprintf(raised, sizeof(raised), "%d", exponent);
    if (s) s->raised = copy_text(p, raised);
}

void picture_image(picture *p, double x, double y, double width, double height, int columns, int rows,
                   uint32_t *pixels)
{
    shape *s = pixels ? add(p, (shape){.kind = SHAPE_IMAGE, .columns = columns, .rows = rows}) : NULL;
    if (!s) {
        free(pixels);
        p->failed = true;
        return;
    }
    s->x = x;
    s->y = y;
    s->width = width;
    s->height = height;
    s->pixels = pixels;
}

void bytes_add(bytes *b, const void *data, size_t length)
{
    if (b->failed) return;
    if (length > b->room - b->length) {
        const size_t room = 2 * b->room + length + 4096;
        unsigned char *grown = realloc(b->data, room);
        if (!grown) {
            b->failed = true;
            return;
        }
        b->data = grown;
        b->room = room;
    }
    if (length > 0) memcpy(b->data + b->length, data, length);
    b->length += length;
}

void bytes_text(bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

int picture_save(const picture *p, const char *path)
{
    bytes data = {0};
    outfile file = {0};
    int status = plot_check(path);
    if (status != EXIT_DONE) return status;
    const bool drawn =
        !p->failed && (path_ends(path, ".png") ? picture_png(p, &data) : picture_svg(p, &data));
    if (drawn)
        status = outfile_open(&file, path);
    else
        status = fail(EXIT_MEMORY, "%s: out of memory while drawing the plot", path);
    if (status == EXIT_DONE) {
        fwrite(data.data, 1, data.length, file.stream);
        status = outfile_close(&file, true);
    }
    free(data.data);
    return status;
}
