/*
 * The picture of `saddle bench blocks`: a panel for each curve that was measured, two in a row. After Anzt et
 * al., Variable-size batched Gauss-Huard: setup against batch size (Figure 2), application against block size
 * and differences of iterations (Figure 3), setup and solve of BiCGSTAB (Figure 4).
 */
#include "cli/axes.h"
#include "cli/bench_blocks.h"
#include "cli/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 16, NEAREST = 10 }; /* differences of more iterations stand at the edge */

typedef struct panel {
    chart chart;
    char title[96];
    double *data; /* of all its series */
} panel;

typedef struct drawing {
    const blocks_report *t;
    int count;
    bool failed;
    panel panels[PANELS];
} drawing;

/* A panel with room for CHART_SERIES series of `length` points; NULL where there is none. */
static panel *new_panel(drawing *d, int64_t length, const char *across, const char *up)
{
    if (d->count == PANELS) return NULL;
    panel *one = &d->panels[d->count];
    one->data = malloc(((size_t)length + 1) * 3 * CHART_SERIES * sizeof *one->data);
    if (!one->data) {
        d->failed = true;
        return NULL;
    }
    one->chart = (chart){.title = one->title, .across = across, .up = up, .places = 1};
    for (int s = 0; s < CHART_SERIES; ++s) {
        one->chart.series[s].x = one->data + 3 * s * (length + 1);
        one->chart.series[s].y = one->chart.series[s].x + length + 1;
    }
    ++d->count;
    return one;
}

/* A panel in which nothing is drawn is taken back. */
static void keep(drawing *d, const panel *one)
{
    if (one->chart.count > 0) return;
    free(one->data);
    --d->count;
}

static void add_point(chart_series *s, double x, double y)
{
    s->x[s->count] = x;
    s->y[s->count++] = y;
}

/* The last series is kept where it has points. */
static void end_series(panel *one, const char *name)
{
    chart_series *s = &one->chart.series[one->chart.count];
    s->name = name;
    if (s->count > 0) ++one->chart.count;
}

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
    panel *one = new_panel(d, t->row_count, "rows of a block", "nanoseconds a block");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "kernels in %s, %s blocks", precision,
             axes_number(batch, number, sizeof number));
    one->chart.log_y = true;
    for (int i = 0; i < 11 && one->chart.count < CHART_SERIES; ++i) {
        for (int64_t k = 0; k < t->row_count; ++k) {
            const block_row *row = &t->rows[k];
            if (row->batch == batch && is_of(row, "kernels", lines[i].work, lines[i].name, precision))
                add_point(&one->chart.series[one->chart.count], (double)row->size,
                          1e9 * row->seconds / (double)row->batch);
        }
        end_series(one, lines[i].name);
    }
    keep(d, one);
}

static void draw_applications(drawing *d, const char *precision)
{
    static const char *const names[] = {"jordan", "huard", "huard-t", "ldu-partial", "ldlt-bunch-kaufman",
                                        "llt"};
    const blocks_report *t = d->t;
    panel *one = new_panel(d, t->row_count, "rows of a block", "milliseconds");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "application in %s", precision);
    for (int i = 0; i < 6; ++i) {
        for (int64_t k = 0; k < t->row_count; ++k)
            if (is_of(&t->rows[k], "apply", "apply", names[i], precision))
                add_point(&one->chart.series[one->chart.count], (double)t->rows[k].size,
                          1e3 * t->rows[k].seconds);
        end_series(one, names[i]);
    }
    keep(d, one);
}

static void draw_setups(drawing *d, int64_t size)
{
    static const char *const names[] = {"jordan", "huard", "huard-t", "ldu-partial"};
    const blocks_report *t = d->t;
    const block_row *peer =
        block_row_find(t, (block_key){"setup", "factor", "getrfBatched", NULL, NULL, -1, -1});
    panel *one = new_panel(d, t->row_count, "blocks",
                           peer ? "times as fast as getrfBatched" : "times as fast as getrf");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "setup in double, %lld rows", (long long)size);
    one->chart.log_x = true;
    for (int i = 0; i < 4; ++i) {
        for (int64_t k = 0; k < t->row_count; ++k) {
            const block_row *row = &t->rows[k];
            if (row->size == size && is_of(row, "setup", "factor", names[i], "double"))
                add_point(&one->chart.series[one->chart.count], (double)row->batch,
                          block_row_speed_up(t, row));
        }
        end_series(one, names[i]);
    }
    keep(d, one);
}

/* How often Gauss-Huard took so many iterations more than Gauss-Jordan, where both solved. */
static void draw_differences(drawing *d)
{
    static const char *const names[BLOCKS_SIZES] = {"blocks of 8", "blocks of 16", "blocks of 32", "blocks"};
    const blocks_report *t = d->t;
    int64_t sizes[BLOCKS_SIZES];
    const int size_count = blocks_sizes(t->a, sizes);
    panel *one =
        new_panel(d, 2 * NEAREST + 1, "iterations of huard less those of jordan (10: or more)", "matrices");
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
        for (int k = 0; all > 0 && k <= 2 * NEAREST; ++k) add_point(series, k - NEAREST, counts[k]);
        series->place = one->chart.count;
        end_series(one, size_count == BLOCKS_SIZES && s > 0 ? names[s - 1] : names[3]);
    }
    one->chart.places = one->chart.count > 0 ? one->chart.count : 1;
    keep(d, one);
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
        d->failed = true;
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
    panel *one = new_panel(d, count, "matrices, by the time of jordan", "seconds");
    if (!one) return;
    snprintf(one->title, sizeof one->title, "BiCGSTAB: setup and solve, blocks of %lld", (long long)size);
    one->chart.log_y = true;
    for (int i = 0; i < 3; ++i) {
        for (int64_t k = 0; k < count; ++k) {
            const block_solve *s = block_solve_find(d->t, order[k].matrix, names[i], size);
            if (s && s->solved) add_point(&one->chart.series[one->chart.count], (double)(k + 1), total(s));
        }
        end_series(one, names[i]);
    }
    keep(d, one);
}

/* Of the ten quickest, in parts of the time of jordan: bars of jordan, huard and huard-t side by side, each
 * with its setup at the foot. */
static void draw_split(drawing *d, int64_t size, const block_solve *order, int64_t count)
{
    static const char *const kernels[] = {"jordan", "huard", "huard-t"};
    static const char *const names[] = {"jordan setup", "jordan solve",  "huard setup",
                                        "huard solve",  "huard-t setup", "huard-t solve"};
    panel *one = new_panel(d, 10, "the ten quickest matrices", "setup and solve beside jordan's");
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
            add_point(series, (double)(k + 1), (i % 2 ? total(s) : s->factor) / total(&order[k]));
        }
        end_series(one, names[i]);
    }
    keep(d, one);
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
    const int across = d->count > 1 ? 2 : 1, down = (d->count + across - 1) / across;
    picture p = picture_begin(across * CHART_WIDTH, (down > 0 ? down : 1) * CHART_HEIGHT);
    p.failed = d->failed;
    for (int k = 0; k < d->count; ++k) {
        const int column = k % across, row = k / across;
        chart_draw(&p, &d->panels[k].chart, column * CHART_WIDTH, row * CHART_HEIGHT);
        free(d->panels[k].data);
    }
    const int status = picture_save(&p, path);
    picture_end(&p);
    free(d);
    return status;
}
