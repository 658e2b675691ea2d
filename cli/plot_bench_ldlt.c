/*
 * The picture of `saddle bench ldlt --ablate`: a panel a figure of Thuerck's Stretching Jacobi, 3a to f, of
 * which e has three, and Table I as the last. Matrices are numbered as in the tables.
 */
#include "cli/bench_ldlt_ablate.h"
#include "cli/panels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ERROR "|LDL' - A| / |A|"

/* What series s shows of a matrix. */
typedef double value_of(const ablate_row *row, int s);

static panel *add_panel(panels *p, int64_t length, const char *title, const char *across, const char *up)
{
    panel *one = panels_add(p, length, across, up);
    if (one) snprintf(one->title, sizeof one->title, "%s", title);
    return one;
}

/* Bars over the matrices, on a logarithmic scale. */
static void draw_bars(panels *p, const ablate_report *t, const char *title, const char *up,
                      const char *const *names, int count, value_of *value)
{
    panel *one = add_panel(p, t->count, title, "matrix", up);
    if (!one) return;
    one->chart.bars = one->chart.log_y = true;
    one->chart.places = count;
    for (int s = 0; s < count; ++s) {
        one->chart.series[one->chart.count].place = s;
        for (int k = 0; k < t->count; ++k) panel_point(one, k + 1, value(&t->rows[k], s));
        panel_series(one, names[s]);
    }
    panels_keep(p, one);
}

/* Curves over the sweeps, one for each of the first matrices. */
static void draw_sweeps(panels *p, const ablate_report *t, const char *title, const char *up, int order,
                        bool pattern)
{
    panel *one = add_panel(p, ABLATE_SWEEPS, title, "sweeps", up);
    if (!one) return;
    one->chart.log_y = true;
    for (int k = 0; k < t->count && k < CHART_SERIES; ++k) {
        const ablate_row *row = &t->rows[k];
        for (int s = 0; s < ABLATE_SWEEPS; ++s)
            panel_point(one, s + 1, (pattern ? row->pattern : row->sweeps)[order][s]);
        panel_series(one, row->matrix.name);
    }
    panels_keep(p, one);
}

static void draw_dominance(panels *p, const ablate_report *t)
{
    static const char *const names[] = {"grid: least",     "grid: mean",     "grid: largest",
                                        "clusters: least", "clusters: mean", "clusters: largest"};
    panel *one = add_panel(p, t->count, "3a: dominance d = |A_ii| - sum |A_ij| of block rows", "matrix",
                           "sign(d) log10(1 + |d|)");
    if (!one) return;
    for (int s = 0; s < 6; ++s) {
        for (int k = 0; k < t->count; ++k) {
            const double d = t->rows[k].dominance[s / 3][s % 3];
            panel_point(one, k + 1, copysign(log10(1.0 + fabs(d)), d));
        }
        panel_series(one, names[s]);
    }
    panels_keep(p, one);
}

static double of_epsilon(const ablate_row *row, int s)
{
    return row->epsilon[s / ABLATE_EPSILONS][s % ABLATE_EPSILONS];
}

static double of_size(const ablate_row *row, int s)
{
    return s < ABLATE_SIZES ? row->size[ABLATE_SWEPT][s] : row->size[ABLATE_EXACT][ABLATE_SIZES - 1];
}

static double of_pivoting(const ablate_row *row, int s)
{
    return row->pivoting[s / 4][s % 4 / 2 ? 2 : 0][s % 2];
}

static double of_time(const ablate_row *row, int s)
{
    return row->factor[s];
}

static double of_table(const ablate_row *row, int s)
{
    return s % 2 ? row->table[s / 2].residual : row->table[s / 2].backward;
}

static void draw_settings(panels *p, const ablate_report *t)
{
    static const char *const epsilons[] = {"jacobi 0.1", "jacobi 0.01", "jacobi 1e-3", "jacobi 1e-4",
                                           "ldlt 0.1",   "ldlt 0.01",   "ldlt 1e-3",   "ldlt 1e-4"};
    static const char *const sizes[] = {"jacobi 1",  "jacobi 2",  "jacobi 4", "jacobi 8",
                                        "jacobi 16", "jacobi 32", "ldlt 32"};
    static const char *const pivots[] = {"jacobi static", "no push-back", "jacobi complete", "no push-back",
                                         "ldlt static",   "no push-back", "ldlt complete",   "no push-back"};
    draw_bars(p, t, "3b: by the least pivot", ERROR, epsilons, 8, of_epsilon);
    draw_bars(p, t, "3c: by rows of a block", ERROR, sizes, 7, of_size);
    draw_bars(p, t, "3d: inner pivoting, push-back", ERROR, pivots, 8, of_pivoting);
}

int plot_ablation(const ablate_report *t, const char *path)
{
    static const char *const table[] = {"jacobi: backward", "jacobi: residual", "ldlt: backward",
                                        "ldlt: residual",   "ours: backward",   "ours: residual"};
    panels *p = calloc(1, sizeof *p);
    if (!p) return fail(EXIT_MEMORY, "no memory for the picture");
    draw_dominance(p, t);
    draw_settings(p, t);
    draw_sweeps(p, t, "3e: error by block sweeps", ERROR, ABLATE_BLOCK, false);
    draw_sweeps(p, t, "3e: residual by block sweeps", "max |LDL' - A| on the pattern", ABLATE_BLOCK, true);
    draw_sweeps(p, t, "3e: residual by row sweeps", "max |LDL' - A| on the pattern", ABLATE_ROW, true);
    draw_bars(p, t, "3f: time to factor", "seconds", ablate_times, ABLATE_TIMES, of_time);
    draw_bars(p, t, "Table I: errors after 100 iterations", "error", table, 6, of_table);
    const int status = panels_save(p, path);
    free(p);
    return status;
}
