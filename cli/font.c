/*
 * The glyphs. Each is its width and its strokes, separated by blanks:
 *
 *     -   a polygon through its points
 *     ~   a quadratic B-spline, from the first to the last of its control points
 *     @   a closed one: four corners of a box make an oval that touches the middle of each side
 *
 * A point is a digit, x, and a letter, y: d is the base line, k the height of small letters, n that
 * of capitals, a the depth of tails.
 */
#include "cli/font.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { FIRST = 33, LAST = 126, CURVE_PIECES = 6, MOST_POINTS = 12 };

static const double GAP = 2.4, BLANK = 4.5;

typedef struct glyph {
    double width;
    const char *strokes;
} glyph;

static const glyph glyphs[LAST - FIRST + 1] = {
    {1, "-0n0g -0d0e"},                           /* ! */
    {3, "-0n0k -3n3k"},                           /* " */
    {7, "-1d2n -5d6n -0g7g -0k7k"},               /* # */
    {6, "~6l6m0m0i6i6e0e0f -3o3c"},               /* $ */
    {8, "@0j3j3n0n @5d8d8h5h -7n1d"},             /* % */
    {7, "-7d1k ~1k0l0n4n4k1j0h0d5d7h"},           /* & */
    {1, "-0n0k"},                                 /* ' */
    {2, "~2o0l0d2a"},                             /* ( */
    {2, "~0o2l2d0a"},                             /* ) */
    {4, "-2n2h -0m4i -0i4m"},                     /* * */
    {6, "-0h6h -3e3k"},                           /* + */
    {1, "-1e0b"},                                 /* , */
    {4, "-0h4h"},                                 /* - */
    {1, "-0d0e"},                                 /* . */
    {4, "-0c4o"},                                 /* / */
    {6, "@0d6d6n0n"},                             /* 0 */
    {6, "-1l3n3d"},                               /* 1 */
    {6, "~0l0n6n6i0d -0d6d"},                     /* 2 */
    {6, "~0l0n6n6i2i ~2i6i6d0d0f"},               /* 3 */
    {6, "-5d5n0g6g"},                             /* 4 */
    {6, "-5n1n0i ~0i2j6j6d0d0f"},                 /* 5 */
    {6, "@0d6d6j0j ~5n2n0j0g"},                   /* 6 */
    {6, "-0n6n2d"},                               /* 7 */
    {6, "@0d6d6i0i @1i5i5n1n"},                   /* 8 */
    {6, "@0h6h6n0n ~1d4d6h6k"},                   /* 9 */
    {1, "-0d0e -0j0k"},                           /* : */
    {1, "-1e0b -1j1k"},                           /* ; */
    {6, "-6k0h6e"},                               /* < */
    {6, "-0f6f -0j6j"},                           /* = */
    {6, "-0k6h0e"},                               /* > */
    {5, "~0l0n5n5j2j2g -2d2e"},                   /* ? */
    {9, "~6f2f2k6k6h -6k6g ~6g6e9e9n0n0c6c7c"},   /* @ */
    {6, "-0d3n6d -1g5g"},                         /* A */
    {6, "-3n0n0d3d -0i3i ~3n6n6i3i ~3i6i6d3d"},   /* B */
    {6, "~6l6n0n0d6d6f"},                         /* C */
    {6, "-2n0n0d2d ~2n6n6d2d"},                   /* D */
    {5, "-5n0n0d5d -0i4i"},                       /* E */
    {5, "-5n0n0d -0i4i"},                         /* F */
    {6, "~6l6n0n0d6d6h -6h3h"},                   /* G */
    {6, "-0d0n -6d6n -0i6i"},                     /* H */
    {0, "-0d0n"},                                 /* I */
    {4, "-4n4g ~4g4d0d0g"},                       /* J */
    {6, "-0d0n -6n0h -2i6d"},                     /* K */
    {5, "-0n0d5d"},                               /* L */
    {8, "-0d0n4g8n8d"},                           /* M */
    {6, "-0d0n6d6n"},                             /* N */
    {7, "@0d7d7n0n"},                             /* O */
    {6, "-0d0n3n -0i3i ~3n6n6i3i"},               /* P */
    {7, "@0d7d7n0n -4f7c"},                       /* Q */
    {6, "-0d0n3n -0i3i ~3n6n6i3i -3i6d"},         /* R */
    {6, "~6l6n0n0i6i6d0d0f"},                     /* S */
    {6, "-0n6n -3n3d"},                           /* T */
    {6, "-0n0g ~0g0d6d6g -6g6n"},                 /* U */
    {6, "-0n3d6n"},                               /* V */
    {8, "-0n2d4n6d8n"},                           /* W */
    {6, "-0d6n -0n6d"},                           /* X */
    {6, "-0n3i6n -3i3d"},                         /* Y */
    {6, "-0n6n0d6d"},                             /* Z */
    {2, "-2o0o0a2a"},                             /* [ */
    {4, "-0o4c"},                                 /* \ */
    {2, "-0o2o2a0a"},                             /* ] */
    {4, "-0k2n4k"},                               /* ^ */
    {5, "-0b5b"},                                 /* _ */
    {2, "-0n2l"},                                 /* ` */
    {5, "@0d5d5k0k -5k5d"},                       /* a */
    {5, "@0d5d5k0k -0n0d"},                       /* b */
    {5, "~5j5k0k0d5d5e"},                         /* c */
    {5, "@0d5d5k0k -5n5d"},                       /* d */
    {5, "-0h5h ~5h5k0k0d5d5e"},                   /* e */
    {3, "~3n1n1k -1k1d -0k3k"},                   /* f */
    {5, "@0d5d5k0k -5k5d ~5d5a0a0b"},             /* g */
    {5, "-0n0d ~0h0k5k5h -5h5d"},                 /* h */
    {0, "-0k0d -0m0n"},                           /* i */
    {2, "-2k2d ~2d2a0a -2m2n"},                   /* j */
    {5, "-0n0d -5k0f -2h5d"},                     /* k */
    {0, "-0n0d"},                                 /* l */
    {8, "-0k0d ~0h0k4k4h -4h4d ~4h4k8k8h -8h8d"}, /* m */
    {5, "-0k0d ~0h0k5k5h -5h5d"},                 /* n */
    {5, "@0d5d5k0k"},                             /* o */
    {5, "@0d5d5k0k -0k0a"},                       /* p */
    {5, "@0d5d5k0k -5k5a"},                       /* q */
    {3, "-0k0d ~0h0k3k"},                         /* r */
    {5, "~5j5k0k0h5g5d0d0e"},                     /* s */
    {3, "-1n1f ~1f1d3d -0k3k"},                   /* t */
    {5, "-0k0g ~0g0d5d5g -5k5d"},                 /* u */
    {6, "-0k3d6k"},                               /* v */
    {8, "-0k2d4k6d8k"},                           /* w */
    {5, "-0d5k -0k5d"},                           /* x */
    {6, "-0k3d -6k2a"},                           /* y */
    {5, "-0k5k0d5d"},                             /* z */
    {3, "~3o1o1k1i0h ~0h1g1e1a3a"},               /* { */
    {0, "-0o0a"},                                 /* | */
    {3, "~0o2o2k2i3h ~3h2g2e2a0a"},               /* } */
    {6, "~0g0i3i3g6g6i"},                         /* ~ */
};

typedef struct pen {
    font_segment segment;
    void *user;
    double x, y;
} pen;

static void move(pen *p, const double to[2])
{
    p->x = to[0];
    p->y = to[1];
}

static void line(pen *p, double x, double y)
{
    p->segment(p->user, p->x, p->y, x, y);
    p->x = x;
    p->y = y;
}

/* The parabola from where the pen is to `to`, with tangents through `control`. */
static void curve(pen *p, const double control[2], const double to[2])
{
    const double x = p->x, y = p->y;
    for (int k = 1; k <= CURVE_PIECES; k++) {
        const double t = (double)k / CURVE_PIECES, s = 1.0 - t;
        line(p, s * s * x + 2 * s * t * control[0] + t * t * to[0],
             s * s * y + 2 * s * t * control[1] + t * t * to[1]);
    }
}

static void middle(const double a[2], const double b[2], double m[2])
{
    m[0] = 0.5 * (a[0] + b[0]);
    m[1] = 0.5 * (a[1] + b[1]);
}

static void stroke(pen *p, char kind, double points[][2], int count)
{
    double joint[2];
    if (kind == '@') {
        middle(points[count - 1], points[0], joint);
        move(p, joint);
        for (int k = 0; k < count; k++) {
            middle(points[k], points[(k + 1) % count], joint);
            curve(p, points[k], joint);
        }
        return;
    }
    move(p, points[0]);
    for (int k = 1; k < count; k++) {
        if (kind == '-') {
            line(p, points[k][0], points[k][1]);
        } else if (k + 1 < count) {
            if (k + 2 == count)
                memcpy(joint, points[k + 1], sizeof(joint));
            else
                middle(points[k], points[k + 1], joint);
            curve(p, points[k], joint);
        }
    }
}

static void draw_glyph(const glyph *g, double x, font_segment segment, void *user)
{
    pen p = {segment, user, 0, 0};
    for (const char *s = g->strokes; *s;) {
        double points[MOST_POINTS][2] = {{0}};
        int count = 0;
        const char kind = *s++;
        for (; *s && *s != ' '; s += 2, count++) {
            points[count][0] = x + (s[0] - '0');
            points[count][1] = s[1] - 'd';
        }
        stroke(&p, kind, points, count);
        if (*s == ' ') s++;
    }
}

double font_draw(const char *text, font_segment segment, void *user)
{
    double x = 0.0, width = 0.0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c & 0xc0) == 0x80) continue; /* one mark for a character of several bytes */
        if (*c == ' ') {
            x += BLANK;
            continue;
        }
        const glyph *g = &glyphs[(*c >= FIRST && *c <= LAST ? *c : '?') - FIRST];
        if (segment) draw_glyph(g, x, segment, user);
        width = x + g->width;
        x = width + GAP;
    }
    return width;
}

double font_unit(double size)
{
    return 0.072 * size;
}

double font_width(const char *text, double size)
{
    return font_unit(size) * font_draw(text, NULL, NULL);
}
