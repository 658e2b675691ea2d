/*
 * Charts: panels of a picture, each with axes, curves or bars, and a legend at its right.
 *
 * A panel takes CHART_WIDTH x CHART_HEIGHT units. Axes are linear from 0 or logarithmic; their ranges come
 * from what is drawn. A point that is not finite, and one that is not positive on a logarithmic axis, is left
 * out, and interrupts its curve.
 */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include "cli/picture.h"

enum { CHART_WIDTH = 640, CHART_HEIGHT = 370, CHART_SERIES = 10 };

typedef struct chart_series {
    const char *name;
    int count;
    double *x, *y; /* the caller's */
    double *base;  /* bars only: where each begins; NULL: at 0 */
    int place;     /* bars only: which of chart.places bars side by side it is */
} chart_series;

typedef struct chart {
    const char *title, *across, *up;
    bool log_x, log_y;
    bool bars;  /* in place of curves; x are whole numbers */
    int places; /* bars side by side at one x */
    int count;
    chart_series series[CHART_SERIES];
} chart;

/* Draws the panel with its upper left corner at left, top. */
void chart_draw(picture *p, const chart *c, double left, double top);

/* The ticks of an axis from `low` to `high`: where they stand, of which a logarithmic axis has those at
 * powers of ten (or, where it has fewer than two, also at 2 and 5). At most `most`; their number. */
int chart_ticks(double low, double high, bool logarithmic, double *ticks, int most);

#endif
