/*
 * The panels of a picture: charts (chart.h) two in a row, with room for their points. Where memory runs out
 * the picture remembers, and panels_save says so.
 */
#ifndef CLI_PANELS_H
#define CLI_PANELS_H

#include "cli/chart.h"

enum { PANELS_MOST = 16 };

typedef struct panel {
    chart chart;
    char title[96];
    double *data; /* of all its series */
} panel;

typedef struct panels {
    int count;
    bool failed;
    panel list[PANELS_MOST];
} panels;

/* A panel with room for CHART_SERIES series of `length` points, each with two numbers and one to spare (the
 * base of a bar); NULL where there is none. Its title is written by the caller. */
panel *panels_add(panels *p, int64_t length, const char *across, const char *up);

/* A panel in which nothing is drawn is taken back; it must be the last one. */
void panels_keep(panels *p, const panel *one);

/* A point of the series that is at work, and its end: it is kept where it has points. */
void panel_point(panel *one, double x, double y);
void panel_series(panel *one, const char *name);

/* Draws and saves all of them, and frees their points; an exit status. */
int panels_save(panels *p, const char *path);

#endif
