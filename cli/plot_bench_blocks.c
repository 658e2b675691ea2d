/*
 * The picture of `saddle bench blocks`: a panel for each curve that was measured, two in a row. After Anzt et
 * al., Variable-size batched Gauss-Huard: setup against batch size (Figure 2), application against block size
 * and differences of iterations (Figure 3), setup and solve of BiCGSTAB (Figure 4).
 */
#include "cli/axes.h"
#include "cli/bench_blocks.h"
#include "cli/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 10 }; /* differences of more iterations stand at the edge */

typedef struct drawing {
    const blocks_report *t;
    panels all;
} drawing;

static bool is_of(const block_row *row, const char *part, const char *work, const char *name,
                  const char *precision)
{
    return strcmp(row->part, part) == 0 && strcmp(row->work, work) == 0 && strcmp(row->name, name) == 0 &&
           strcmp(row->precision, precision) == 0 && strcmp(row->version, "default") == 0;
}

/* Nanoseconds a block against its size, in the largest batch. */
static void draw_kernels(drawing *d, const char *precision)
{
    static const struct {
        const char *work, *name;
    } lines[] = {{"factor", "ldu-partial"},
                 {"factor", "ldu-full"},
                 {"factor", "ldlt-bunch-kaufman"},
                 {"factor", "llt"},
                 {"factor", "jordan"},
                 {"factor", "huard"},
                 {"copy", "copy"},
                 {"factor", "getrf"},
                 {"factor", "getrfBatched"},
                 {"factor", "matinvBatched"},
                 {"factor", "getrf+getri"}};
    const blocks_report *t = d->t;
    int64_t batch = 0;
    char number[32];
    for (int64_t k = 0; k < t->row_count; ++k)
        if (strcmp(t->rows[k].part, "kernels") == 0 && t->rows[k].batch > batch) batch = t->rows[k].batch;
    panel *one = panels_add(&d->all, t->row_count, "rows of a block", "nanoseconds a block");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "kernels in %s, %s blocks", precision,
             axes_number(batch, number, sizeof number));
    one->chart.log_y = true;
    for (int i = 0; i < 11 && one->chart.count < CHART_SERIES; ++i) {
        for (int64_t k = 0; k < t->row_count; ++k) {
            const block_row *row = &t->rows[k];
            if (row->batch == batch && is_of(row, "kernels", lines[i].work, lines[i].name, precision))
                panel_point(one, (double)row->size, 1e9 * row->seconds / (double)row->batch);
        }
        panel_series(one, lines[i].name);
    }
    panels_keep(&d->all, one);
}

static void draw_applications(drawing *d, const char *precision)
{
    static const char *const names[] = {"jordan", "huard", "huard-t", "ldu-partial", "ldlt-bunch-kaufman",
                                        "llt"};
    const blocks_report *t = d->t;
    panel *one = panels_add(&d->all, t->row_count, "rows of a block", "milliseconds");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "application in %s", precision);
    for (int i = 0; i < 6; ++i) {
        for (int64_t k = 0; k < t->row_count; ++k)
            if (is_of(&t->rows[k], "apply", "apply", names[i], precision))
                panel_point(one, (double)t->rows[k].size, 1e3 * t->rows[k].seconds);
        panel_series(one, names[i]);
    }
    panels_keep(&d->all, one);
}

static void draw_setups(drawing *d, int64_t size)
{
    static const char *const names[] = {"jordan", "huard", "huard-t", "ldu-partial"};
    const blocks_report *t = d->t;
    const block_row *peer =
        block_row_find(t, (block_key){"setup", "factor", "getrfBatched", NULL, NULL, -1, -1});
    panel *one = panels_add(&d->all, t->row_count, "blocks",
                            peer ? "times as fast as getrfBatched" : "times as fast as getrf");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "setup in double, %lld rows", (long long)size);
    one->chart.log_x = true;
    for (int i = 0; i < 4; ++i) {
        for (int64_t k = 0; k < t->row_count; ++k) {
            const block_row *row = &t->rows[k];
            if (row->size == size && is_of(row, "setup", "factor", names[i], "double"))
                panel_point(one, (double)row->batch, block_row_speed_up(t, row));
        }
        panel_series(one, names[i]);
    }
    panels_keep(&d->all, one);
}

/* How often Gauss-Huard took so many iterations more than Gauss-Jordan, where both solved. */
static void draw_differences(drawing *d)
{
    static const char *const names[BLOCKS_SIZES] = {"blocks of 8", "blocks of 16", "blocks of 32", "blocks"};
    const blocks_report *t = d->t;
    int64_t sizes[BLOCKS_SIZES];
    const int size_count = blocks_sizes(t->a, sizes);
    panel *one = panels_add(&d->all, 2 * NEAREST + 1,
                            "iterations of huard less those of jordan (10: or more)", "matrices");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "BiCGSTAB: differences of iterations");
    one->chart.bars = true;
    for (int s = 0; s < size_count; ++s) {
        double counts[2 * NEAREST + 1] = {0}, all = 0;
        for (int64_t k = 0; k < t->solve_count; ++k) {
            const block_solve *jordan = &t->solves[k];
            const block_solve *huard = block_solve_find(t, jordan->matrix, "huard", sizes[s]);
            if (strcmp(jordan->kernel, "jordan") != 0 || jordan->block_size != sizes[s] || !huard) continue;
            if (!jordan->solved || !huard->solved) continue;
            const double apart = (double)(huard->iterations - jordan->iterations);
            counts[NEAREST + (int)fmax(fmin(apart, NEAREST), -NEAREST)] += 1;
            all += 1;
        }
        chart_series *series = &one->chart.series[one->chart.count];
        for (int k = 0; all > 0 && k <= 2 * NEAREST; ++k) panel_point(one, k - NEAREST, counts[k]);
        series->place = one->chart.count;
        panel_series(one, size_count == BLOCKS_SIZES && s > 0 ? names[s - 1] : names[3]);
    }
    one->chart.places = one->chart.count > 0 ? one->chart.count : 1;
    panels_keep(&d->all, one);
}

static double total(const block_solve *s)
{
    return s->factor + s->solve;
}

static int by_total(const void *one, const void *two)
{
    const double a = total(one), b = total(two);
    return (a > b) - (a < b);
}

/* The solves by Gauss-Jordan with blocks of this size, where it and Gauss-Huard came to an end, by their
 * total time. NULL where there is no memory. */
static block_solve *order_solves(drawing *d, int64_t size, int64_t *count)
{
    const blocks_report *t = d->t;
    block_solve *order = malloc(((size_t)t->solve_count + 1) * sizeof *order);
    *count = 0;
    if (!order) {
        d->all.failed = true;
        return NULL;
    }
    for (int64_t k = 0; k < t->solve_count; ++k) {
        const block_solve *s = &t->solves[k], *huard = block_solve_find(t, s->matrix, "huard", size);
        if (strcmp(s->kernel, "jordan") == 0 && s->block_size == size && s->solved && huard && huard->solved)
            order[(*count)++] = *s;
    }
    qsort(order, (size_t)*count, sizeof *order, by_total);
    return order;
}

static void draw_totals(drawing *d, int64_t size, const block_solve *order, int64_t count)
{
    static const char *const names[] = {"jordan", "huard", "huard-t"};
    panel *one = panels_add(&d->all, count, "matrices, by the time of jordan", "seconds");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "BiCGSTAB: setup and solve, blocks of %lld", (long long)size);
    one->chart.log_y = true;
    for (int i = 0; i < 3; ++i) {
        for (int64_t k = 0; k < count; ++k) {
            const block_solve *s = block_solve_find(d->t, order[k].matrix, names[i], size);
            if (s && s->solved) panel_point(one, (double)(k + 1), total(s));
        }
        panel_series(one, names[i]);
    }
    panels_keep(&d->all, one);
}

/* Of the ten quickest, in parts of the time of jordan: bars of jordan, huard and huard-t side by side, each
 * with its setup at the foot. */
static void draw_split(drawing *d, int64_t size, const block_solve *order, int64_t count)
{
    static const char *const kernels[] = {"jordan", "huard", "huard-t"};
    static const char *const names[] = {"jordan setup", "jordan solve",  "huard setup",
                                        "huard solve",  "huard-t setup", "huard-t solve"};
    panel *one = panels_add(&d->all, 10, "the ten quickest matrices", "setup and solve beside jordan's");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "BiCGSTAB: setup and solve, blocks of %lld", (long long)size);
    one->chart.bars = true;
    one->chart.places = 3;
    for (int i = 0; i < 6; ++i) {
        chart_series *series = &one->chart.series[one->chart.count];
        series->base = series->y + 11;
        series->place = i / 2;
        for (int64_t k = 0; k < count && k < 10; ++k) {
            const block_solve *s = block_solve_find(d->t, order[k].matrix, kernels[i / 2], size);
            if (!s || !s->solved) continue;
            series->base[series->count] = i % 2 ? s->factor / total(&order[k]) : 0.0;
            panel_point(one, (double)(k + 1), (i % 2 ? total(s) : s->factor) / total(&order[k]));
        }
        panel_series(one, names[i]);
    }
    panels_keep(&d->all, one);
}

static void draw_solves(drawing *d)
{
    int64_t sizes[BLOCKS_SIZES], count;
    const int size_count = blocks_sizes(d->t->a, sizes);
    draw_differences(d);
    for (int s = 0; s < size_count; ++s) {
        block_solve *order = order_solves(d, sizes[s], &count);
        if (count > 0 && (size_count == 1 || sizes[s] >= 16)) {
            draw_totals(d, sizes[s], order, count);
            draw_split(d, sizes[s], order, count);
        }
        free(order);
    }
}

int plot_bench_blocks(const blocks_report *t, const char *path)
{
    drawing *d = calloc(1, sizeof *d);
    if (!d) return fail(EXIT_MEMORY, "no memory for the picture");
    d->t = t;
    draw_kernels(d, "double");
    draw_kernels(d, "single");
    draw_applications(d, "double");
    draw_applications(d, "single");
    draw_setups(d, 16);
    draw_setups(d, 32);
    if (t->solve_count > 0) draw_solves(d);
    const int status = panels_save(&d->all, path);
    free(d);
    return status;
}
