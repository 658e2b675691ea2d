/*
 * Pictures: a list of shapes, painted one over the other, that can be saved as PNG or as SVG.
 *
 * Lengths are in units of which a PNG has two pixels each and an SVG one CSS pixel each; y goes
 * down. Colours are 0xRRGGBB. Drawing never fails: where memory runs out the picture remembers, and
 * picture_save says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PICTURE_PIXELS = 2 }; /* a unit of length, in a PNG */

typedef enum shape_kind { SHAPE_BOX, SHAPE_LINE, SHAPE_TEXT, SHAPE_IMAGE } shape_kind;
typedef enum text_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } text_anchor;

typedef struct shape {
    shape_kind kind;
    uint32_t colour;
    double x, y, width, height; /* of boxes and images; x, y where a text's base line is anchored */

    /* line: count points x, y in pairs */
    double *points;
    int64_t count;
    double pen, dash; /* dash 0: no gaps */

    /* text, in letters of this size */
    char *text, *raised; /* raised: smaller and higher after the text, as 10 to the -3; or NULL */
    double size;
    text_anchor anchor;
    bool upwards; /* turned by a quarter to the left */

    /* image: rows of pixels from the top, magnified without smoothing */
    uint32_t *pixels;
    int columns, rows;
} shape;

typedef struct picture {
    double width, height;
    shape *shapes;
    int64_t count, room;
    bool failed;
} picture;

/* An empty white one; picture_end frees what it holds. */
picture picture_begin(double width, double height);
void picture_end(picture *p);

void picture_box(picture *p, double x, double y, double width, double height, uint32_t colour);

/* A line through count points x, y; the points are copied. */
void picture_line(picture *p, int64_t count, const double *points, double pen, double dash, uint32_t colour);

void picture_text(picture *p, double x, double y, double size, text_anchor anchor, uint32_t colour,
                  const char *text);

/* 10 to the exponent. */
void picture_power(picture *p, double x, double y, double size, text_anchor anchor, uint32_t colour,
                   int exponent);

/* Reads from the bottom up, for vertical axes. */
void picture_text_upwards(picture *p, double x, double y, double size, uint32_t colour, const char *text);

/* The picture takes over pixels, which must come from malloc and may be NULL (memory ran out). */
void picture_image(picture *p, double x, double y, double width, double height, int columns, int rows,
                   uint32_t *pixels);

/* Bytes that grow. */
typedef struct bytes {
    unsigned char *data;
    size_t length, room;
    bool failed;
} bytes;
void bytes_add(bytes *b, const void *data, size_t length);
void bytes_text(bytes *b, const char *text);

/* The whole file, added to out; false where memory ran out. */
bool picture_png(const picture *p, bytes *out);
bool picture_svg(const picture *p, bytes *out);

/* A PNG of plain pixels, RGB. */
bool png_encode(const uint32_t *pixels, int columns, int rows, bytes *out);

/* Saves by the ending of path, .png or .svg; an old file stays until the new one is whole. Returns 0,
 * or the exit status with the message on standard error. */
int picture_save(const picture *p, const char *path);
