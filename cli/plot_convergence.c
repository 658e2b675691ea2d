/*
 * The convergence curve: relative residuals on a logarithmic scale against iterations.
 *
 * A curve of more points than can be seen is thinned to the least and the greatest residual in each
 * stretch, which leaves the picture as it would be.
 *
 * A residual of exactly 0, as of a diagonal matrix after one step, has no logarithm: it stands at the foot,
 * in a strip that a break of the axis sets apart.
 */
#include "cli/axes.h"
#include "cli/numbers.h"
#include "cli/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT = 66, RIGHT = 24, TOP = 40, BOTTOM = 50, WIDTH = 460, HEIGHT = 280 };
enum { MOST_POINTS = 2 * WIDTH, MOST_MARKS = 30, MOST_LABELS = 8 };
enum { STRIP = 44, FOOT = 14 }; /* heights of the strip, and of 0 in it */

typedef struct scale {
    int low, high;   /* decades at the lower and upper edge */
    int64_t longest; /* iteration at the right edge */
    int64_t zero;    /* the first whose residual is 0; 0: none is */
    double height;   /* that the decades have */
} scale;

static bool drawable(double residual)
{
    return isfinite(residual) && residual >= 0;
}

/* Whole decades around all that is drawn and 1, with which every iteration begins. */
static scale make_scale(const double *history, int64_t length, double tol)
{
    double low = tol > 0 ? fmin(tol, 1) : 1, high = fmax(tol, 1);
    int64_t zero = 0;
    for (int64_t k = 0; k < length; k++) {
        if (history[k] == 0 && !zero) zero = k + 1;
        if (!drawable(history[k]) || history[k] == 0) continue;
        low = fmin(low, history[k]);
        high = fmax(high, history[k]);
    }
    scale s = {(int)floor(log10(low) + 1e-9), (int)ceil(log10(high) - 1e-9), length > 1 ? length : 1, zero,
               zero ? HEIGHT - STRIP : HEIGHT};
    if (tol > 0 && s.low >= log10(tol) - 1e-9) s.low--; /* room below the dashed line */
    if (s.high <= s.low) s.high = s.low + 1;
    return s;
}

static double across(const scale *s, double iteration)
{
    return LEFT + WIDTH * iteration / (double)s->longest;
}

static double down(const scale *s, double residual)
{
    if (residual == 0) return TOP + HEIGHT - FOOT;
    return TOP + s->height * (s->high - log10(residual)) / (s->high - s->low);
}

static void draw_axes(picture *p, const scale *s)
{
    char text[32];
    const int64_t decades = axes_step(s->high - s->low, MOST_LABELS), step = axes_step(s->longest, 6);
    for (int d = s->high; d >= s->low; d--) {
        if (d % decades != 0) continue;
        const double y = TOP + s->height * (s->high - d) / (s->high - s->low);
        if (d < s->high && (s->zero || d > s->low)) picture_box(p, LEFT, y - 0.25, WIDTH, 0.5, FAINT);
        axes_tick_left(p, LEFT, y, NULL);
        picture_power(p, LEFT - FRAME_PEN - TICK - 4, y + 0.36 * LABEL_SIZE, LABEL_SIZE, ANCHOR_END, INK, d);
    }
    for (int64_t t = 0; t <= s->longest; t += step) {
        const double x = across(s, (double)t);
        picture_box(p, x - FRAME_PEN / 2, TOP + HEIGHT + FRAME_PEN, FRAME_PEN, TICK, INK);
        picture_text(p, x, TOP + HEIGHT + FRAME_PEN + TICK + LABEL_SIZE, LABEL_SIZE, ANCHOR_MIDDLE, INK,
                     count_text(t, text, sizeof(text)));
    }
    picture_text(p, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, LABEL_SIZE, ANCHOR_MIDDLE, INK, "iteration");
    picture_text_upwards(p, 18, TOP + HEIGHT / 2.0, LABEL_SIZE, INK, "relative residual");
}

/* The word goes where the curve is not: it comes from the upper left and ends at the right. */
static void draw_tolerance(picture *p, const scale *s, double tol)
{
    char text[32];
    const double y = down(s, tol);
    const double ends[4] = {LEFT, y, LEFT + WIDTH, y};
    picture_line(p, 2, ends, 1.2, 5, VERMILLION);
    snprintf(text, sizeof(text), "tol = %.3g", tol);
    picture_text(p, LEFT + 8, y - 6, LABEL_SIZE, ANCHOR_START, VERMILLION, text);
}

/* The axis is broken below the last decade, and has a tick for 0. Over the frame, which it interrupts. */
static void draw_break(picture *p)
{
    const double middle = TOP + HEIGHT - (STRIP + FOOT) / 2.0, half = 3, slant = 5;
    const double sides[] = {LEFT - FRAME_PEN, LEFT + WIDTH};
    for (int side = 0; side < 2; side++) {
        const double x = sides[side] + FRAME_PEN / 2;
        picture_box(p, sides[side] - 1, middle - half, FRAME_PEN + 2, 2 * half, 0xffffff);
        for (int end = -1; end <= 1; end += 2) {
            const double y = middle + end * half;
            const double stroke[] = {x - slant, y + 2, x + slant, y - 2};
            picture_line(p, 2, stroke, FRAME_PEN, 0, INK);
        }
    }
    axes_tick_left(p, LEFT, TOP + HEIGHT - FOOT, "0");
}

/* A ring, and for the first the word beside it, on the side that has room. */
static void draw_zero(picture *p, const scale *s, int64_t iteration)
{
    const double at[2] = {across(s, (double)iteration), down(s, 0)};
    const bool right = at[0] < LEFT + WIDTH / 2.0;
    picture_line(p, 1, at, 8, 0, BLUE);
    picture_line(p, 1, at, 4.5, 0, 0xffffff);
    if (iteration == s->zero)
        picture_text(p, at[0] + (right ? 9 : -9), at[1] + 0.36 * LABEL_SIZE, LABEL_SIZE,
                     right ? ANCHOR_START : ANCHOR_END, BLUE, "exactly 0");
}

static void draw_marks(picture *p, const scale *s, const double *history, int64_t length)
{
    for (int64_t k = 0; k < length && length <= MOST_MARKS; k++) {
        if (!drawable(history[k])) continue;
        const double at[2] = {across(s, (double)(k + 1)), down(s, history[k])};
        if (history[k] == 0)
            draw_zero(p, s, k + 1);
        else
            picture_line(p, 1, at, 5, 0, BLUE);
    }
    if (s->zero && length > MOST_MARKS) draw_zero(p, s, s->zero);
}

/* One stretch of the curve, or nothing where it has no points. */
static void flush(picture *p, const double *points, int64_t *count)
{
    picture_line(p, *count, points, 1.6, 0, BLUE);
    *count = 0;
}

static void draw_curve(picture *p, const scale *s, const double *history, int64_t length)
{
    const int64_t bundle = length > MOST_POINTS ? (2 * length + MOST_POINTS - 1) / MOST_POINTS : 1;
    double *points = malloc(2 * (size_t)(2 * (length / bundle + 1)) * sizeof(double));
    int64_t count = 0;
    if (!points) {
        p->failed = true;
        return;
    }
    for (int64_t first = 0; first < length; first += bundle) {
        int64_t least = -1, most = -1;
        for (int64_t k = first; k < first + bundle && k < length; k++) {
            if (!drawable(history[k])) continue;
            if (least < 0 || history[k] < history[least]) least = k;
            if (most < 0 || history[k] > history[most]) most = k;
        }
        if (least < 0) {
            flush(p, points, &count);
            continue;
        }
        const int64_t ends[2] = {least < most ? least : most, least < most ? most : least};
        for (int e = 0; e < (least == most ? 1 : 2); e++) {
            points[2 * count] = across(s, (double)(ends[e] + 1));
            points[2 * count++ + 1] = down(s, history[ends[e]]);
        }
    }
    flush(p, points, &count);
    free(points);
}

int plot_convergence(const char *path, const double *history, int64_t length, double tol, const char *title)
{
    const scale s = make_scale(history, length, tol);
    picture p = picture_begin(LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
    draw_axes(&p, &s);
    if (title) axes_title(&p, LEFT, WIDTH, title);
    if (tol > 0) draw_tolerance(&p, &s, tol);
    draw_curve(&p, &s, history, length);
    axes_frame(&p, LEFT, TOP, WIDTH, HEIGHT);
    if (s.zero) draw_break(&p);
    draw_marks(&p, &s, history, length);
    const int status = picture_save(&p, path);
    picture_end(&p);
    return status;
}
