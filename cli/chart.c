/* See chart.h. */
#include "cli/chart.h"

#include "cli/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT = 70, TOP = 36, WIDTH = 420, HEIGHT = 270, TICKS = 16 };

/* Told apart by those who do not see all colours (Okabe and Ito), and two more. */
static const uint32_t colours[CHART_SERIES] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                               0x56b4e9, 0x222222, 0x999999, 0x7a4419, 0x6a3d9a};

typedef struct range {
    double low, high;
    bool logarithmic;
} range;

static bool drawable(const chart *c, const chart_series *s, int k)
{
    return isfinite(s->x[k]) && isfinite(s->y[k]) && (!c->log_x || s->x[k] > 0) && (!c->log_y || s->y[k] > 0);
}

/* The least step of 1, 2, 5 times a power of ten that puts at most `most` of them into the length. */
static double round_step(double length, int most)
{
    double step = pow(10.0, floor(log10(length / most)));
    while (length / step > most) {
        const double head = step / pow(10.0, floor(log10(step) + 1e-9));
        step *= head > 1.5 && head < 3 ? 2.5 : 2.0;
    }
    return step;
}

int chart_ticks(double low, double high, bool logarithmic, double *ticks, int most)
{
    int count = 0;
    if (!logarithmic) {
        const double step = round_step(high - low, 8);
        const double first = ceil(low / step - 1e-9);
        while (count < most && (first + count) * step <= high + 1e-9 * step) {
            ticks[count] = (first + count) * step;
            ++count;
        }
        return count;
    }
    const int first = (int)ceil(log10(low) - 1e-9), last = (int)floor(log10(high) + 1e-9);
    const int every = (last - first) / most + 1;
    for (int d = first; d <= last && count < most; d += every) ticks[count++] = pow(10.0, d);
    if (count >= 2) return count;
    count = 0;
    for (int d = first - 1; d <= last; ++d) {
        static const double heads[] = {1, 2, 5};
        for (int h = 0; h < 3 && count < most; ++h) {
            const double tick = heads[h] * pow(10.0, d);
            if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks[count++] = tick;
        }
    }
    return count;
}

/* Grown a little, so that points do not lie on the frame; a linear axis has 0. */
static range make_range(double low, double high, bool logarithmic)
{
    if (!(low <= high)) low = high = 1.0;
    if (logarithmic) {
        const double room = fmax(1.05, pow(high / low, 0.04));
        return (range){low / room, high * room, true};
    }
    low = fmin(low, 0.0);
    high = fmax(high, 0.0);
    const double room = high > low ? 0.04 * (high - low) : 1.0;
    return (range){low < 0.0 ? low - room : 0.0, high > 0.0 ? high + room : (low < 0.0 ? 0.0 : 1.0), false};
}

static void find_ranges(const chart *c, range *across, range *up)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (int s = 0; s < c->count; ++s) {
        for (int k = 0; k < c->series[s].count; ++k) {
            if (!drawable(c, &c->series[s], k)) continue;
            x[0] = fmin(x[0], c->series[s].x[k]);
            x[1] = fmax(x[1], c->series[s].x[k]);
            y[0] = fmin(y[0], c->series[s].y[k]);
            y[1] = fmax(y[1], c->series[s].y[k]);
        }
    }
    *across =
        c->bars && x[0] <= x[1] ? (range){x[0] - 0.7, x[1] + 0.7, false} : make_range(x[0], x[1], c->log_x);
    *up = make_range(y[0], y[1], c->log_y);
}

/* How far along its axis a value is, from 0 to 1. */
static double along(const range *r, double value)
{
    if (r->logarithmic) return log(value / r->low) / log(r->high / r->low);
    return (value - r->low) / (r->high - r->low);
}

static void number_at(picture *p, double x, double y, text_anchor anchor, double value, bool logarithmic)
{
    const double power = log10(fabs(value) + 1e-300);
    char text[32];
    if (logarithmic && fabs(power - round(power)) < 1e-9 && (power > 5.5 || power < -2.5)) {
        picture_power(p, x, y, LABEL_SIZE, anchor, INK, (int)round(power));
        return;
    }
    if (fabs(value) >= 1000.0)
        axes_number((int64_t)llround(value), text, sizeof text);
    else
        snprintf(text, sizeof text, "%g", fabs(value) < 1e-12 ? 0.0 : value);
    picture_text(p, x, y, LABEL_SIZE, anchor, INK, text);
}

static void draw_axes(picture *p, const chart *c, double left, double top, const range *across,
                      const range *up)
{
    double ticks[TICKS];
    int count = chart_ticks(up->low, up->high, up->logarithmic, ticks, 9);
    for (int k = 0; k < count; ++k) {
        const double y = top + TOP + HEIGHT * (1.0 - along(up, ticks[k]));
        picture_box(p, left + LEFT, y - 0.25, WIDTH, 0.5, FAINT);
        picture_box(p, left + LEFT - FRAME_PEN - TICK, y - FRAME_PEN / 2, TICK, FRAME_PEN, INK);
        number_at(p, left + LEFT - FRAME_PEN - TICK - 4, y + 0.36 * LABEL_SIZE, ANCHOR_END, ticks[k],
                  up->logarithmic);
    }
    count = chart_ticks(across->low, across->high, across->logarithmic, ticks, 9);
    for (int k = 0; k < count; ++k) {
        const double x = left + LEFT + WIDTH * along(across, ticks[k]),
                     bottom = top + TOP + HEIGHT + FRAME_PEN;
        picture_box(p, x - FRAME_PEN / 2, bottom, FRAME_PEN, TICK, INK);
        number_at(p, x, bottom + TICK + LABEL_SIZE, ANCHOR_MIDDLE, ticks[k], across->logarithmic);
    }
    picture_text(p, left + LEFT + WIDTH / 2.0, top + TOP + HEIGHT + 40, LABEL_SIZE, ANCHOR_MIDDLE, INK,
                 c->across);
    picture_text_upwards(p, left + 14, top + TOP + HEIGHT / 2.0, LABEL_SIZE, INK, c->up);
    picture_text(p, left + LEFT + WIDTH / 2.0, top + 22, TITLE_SIZE, ANCHOR_MIDDLE, INK, c->title);
}

static void draw_curve(picture *p, const chart *c, const chart_series *s, uint32_t colour, double left,
                       double top, const range *across, const range *up)
{
    double *points = malloc(2 * ((size_t)s->count + 1) * sizeof *points);
    int64_t length = 0;
    if (!points) {
        p->failed = true;
        return;
    }
    for (int k = 0; k <= s->count; ++k) {
        if (k == s->count || !drawable(c, s, k)) {
            picture_line(p, length, points, 1.6, 0, colour);
            length = 0;
            continue;
        }
        points[2 * length] = left + LEFT + WIDTH * along(across, s->x[k]);
        points[2 * length + 1] = top + TOP + HEIGHT * (1.0 - along(up, s->y[k]));
        if (s->count <= 60) picture_line(p, 1, points + 2 * length, 4.5, 0, colour);
        ++length;
    }
    free(points);
}

static void draw_bars(picture *p, const chart *c, const chart_series *s, uint32_t colour, double left,
                      double top, const range *across, const range *up)
{
    const double each = 0.8 / c->places;
    for (int k = 0; k < s->count; ++k) {
        if (!drawable(c, s, k)) continue;
        const double base = s->base ? s->base[k] : 0.0;
        const double x = s->x[k] - 0.4 + each * s->place;
        const double from = along(across, x), to = along(across, x + 0.92 * each);
        const double low = fmax(along(up, fmax(base, up->low)), 0.0), high = along(up, s->y[k]);
        picture_box(p, left + LEFT + WIDTH * from, top + TOP + HEIGHT * (1.0 - high), WIDTH * (to - from),
                    HEIGHT * fmax(high - low, 0.0), colour);
    }
}

void chart_draw(picture *p, const chart *c, double left, double top)
{
    range across, up;
    find_ranges(c, &across, &up);
    draw_axes(p, c, left, top, &across, &up);
    for (int s = 0; s < c->count; ++s) {
        const double y = top + TOP + 8 + 17.0 * s, x = left + LEFT + WIDTH + 14;
        (c->bars ? draw_bars : draw_curve)(p, c, &c->series[s], colours[s], left, top, &across, &up);
        picture_box(p, x, y - 2, 16, c->bars ? 8 : 3, colours[s]);
        picture_text(p, x + 22, y + 0.36 * LABEL_SIZE, LABEL_SIZE, ANCHOR_START, INK, c->series[s].name);
    }
    axes_frame(p, left + LEFT, top + TOP, WIDTH, HEIGHT);
}
