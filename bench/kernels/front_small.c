/*
 * Small fronts: the time of factor and update for one front, of solves, and of adding a child beside a
 * memcpy of the same bytes. One thread, double precision.
 *
 *     bench_front_small [portable | avx2 | avx512]
 *
 * Fronts lie in one buffer that fits in the second cache, as they would just after assembly; every figure is
 * the best of several rounds.
 */
#include "backend/cpu/cpu.h"
#include "backend/front.h"
#include "bench/kernels/timing.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 15, BUFFER = 256 * 1024 };

static uint64_t state = 1;

/* Copies of one front, so many that they fill the buffer. */
typedef struct batch {
    int count;
    int64_t panel, rest;
    double *from, *panels, *rests, *d, *work;
    int32_t *variable;
    sd_front *f;
} batch;

static batch batch_new(const sd_front_kernels *k, int rows, int columns, bool pairs)
{
    batch b = {.panel = (int64_t)rows * columns, .rest = sd_rest_size(rows - columns)};
    b.count = (int)(BUFFER / 8 / (b.panel + b.rest + 1));
    if (b.count < 1) b.count = 1;
    if (b.count > 500) b.count = 500;
    b.from = take(b.panel, sizeof(double));
    b.panels = take(b.panel * b.count, sizeof(double));
    b.rests = take((b.rest + 1) * b.count, sizeof(double));
    b.d = take(2 * columns, sizeof(double));
    b.variable = take(columns, sizeof(int32_t));
    b.work = take(k->work(rows, columns), sizeof(double));
    b.f = take(b.count, sizeof *b.f);
    for (int64_t i = 0; i < b.panel; ++i) b.from[i] = unit(&state);
    for (int j = 0; j < columns; ++j) {
        b.from[j + (int64_t)j * rows] = pairs ? 0 : unit(&state) < 0 ? -2 : 2;
        if (pairs && j % 2 == 0 && j + 1 < columns) b.from[j + 1 + (int64_t)j * rows] = 5;
    }
    for (int c = 0; c < b.count; ++c)
        b.f[c] = (sd_front){.rows = rows,
                            .columns = columns,
                            .ld = rows,
                            .panel = b.panels + c * b.panel,
                            .rest = b.rests + c * (b.rest + 1),
                            .d = b.d,
                            .variable = b.variable};
    return b;
}

static void batch_free(batch *b)
{
    free(b->from);
    free(b->panels);
    free(b->rests);
    free(b->d);
    free(b->variable);
    free(b->work);
    free(b->f);
}

static void time_factor(const sd_front_kernels *k, int rows, int columns, bool pairs, bool empty)
{
    const sd_pivoting how = {.rule = SD_PIVOT_THRESHOLD, .u = 0.01, .small = 1e-20, .root = rows == columns};
    sd_pivots pivots = {0};
    batch b = batch_new(k, rows, columns, pairs);
    double best[2] = {1e9, 1e9}, flops[2] = {0};
    int64_t left = 0;
    const int inner = 1 + 2000 / b.count;
    for (int round = 0; round < ROUNDS; ++round) {
        double sum[2] = {0};
        for (int again = 0; again < inner; ++again) {
            for (int c = 0; c < b.count; ++c) memcpy(b.f[c].panel, b.from, sizeof(double) * (size_t)b.panel);
            const double start = now(CLOCK_MONOTONIC);
            for (int c = 0; c < b.count; ++c) k->factor(&b.f[c], &how, &pivots, b.work, NULL);
            const double middle = now(CLOCK_MONOTONIC);
            for (int c = 0; c < b.count; ++c) {
                b.f[c].rest_empty = empty;
                k->update(&b.f[c], b.work, NULL, NULL);
            }
            sum[0] += middle - start;
            sum[1] += now(CLOCK_MONOTONIC) - middle;
        }
        for (int p = 0; p < 2; ++p) best[p] = fmin(best[p], sum[p] / inner / b.count);
    }
    for (int p = 0; p < columns; ++p)
        flops[0] += (double)(rows - p) * (columns - p) - 0.5 * (columns - p) * (columns - p);
    flops[0] *= 2;
    flops[1] = (double)columns * (rows - columns) * (rows - columns + 1);
    left = columns - b.f[0].eliminated;
    printf("%5d %4d %6s %6s  %9.0f %6.2f  %9.0f %6.2f  %9.0f %6.2f  %lld\n", rows, columns,
           pairs ? "2x2" : "1x1", empty ? "write" : "add", best[0] * 1e9, flops[0] / best[0] / 1e9,
           best[1] * 1e9, flops[1] / best[1] / 1e9, (best[0] + best[1]) * 1e9,
           (flops[0] + flops[1]) / (best[0] + best[1]) / 1e9, (long long)left);
    batch_free(&b);
}

static void time_solves(const sd_front_kernels *k, int rows, int columns)
{
    static const int sides[] = {1, 2, 4, 8, 16, 64};
    batch b = batch_new(k, rows, columns, false);
    double *w = take(64 * rows, sizeof(double)), one = 0;
    for (int64_t i = 0; i < b.panel; ++i) b.from[i] /= rows;
    for (int c = 0; c < b.count; ++c) {
        memcpy(b.f[c].panel, b.from, sizeof(double) * (size_t)b.panel);
        b.f[c].eliminated = columns;
    }
    const double flops = 2.0 * columns * (rows - 0.5 * columns);
    printf("%5d %4d", rows, columns);
    for (int s = 0; s < 6; ++s) {
        double best[2] = {1e9, 1e9};
        const int inner = 1 + (int)(2e7 / (flops * sides[s] * b.count));
        for (int round = 0; round < 7; ++round)
            for (int way = 0; way < 2; ++way) {
                for (int i = 0; i < rows * sides[s]; ++i) w[i] = 1;
                const double start = now(CLOCK_MONOTONIC);
                for (int again = 0; again < inner; ++again)
                    for (int c = 0; c < b.count; ++c) (way ? k->backward : k->forward)(&b.f[c], sides[s], w);
                best[way] = fmin(best[way], (now(CLOCK_MONOTONIC) - start) / inner / b.count);
            }
        if (s == 0) one = best[0] + best[1];
        printf("  %8.0f+%-8.0f %5.1f %5.3f", best[0] * 1e9, best[1] * 1e9,
               2 * flops * sides[s] / (best[0] + best[1]) / 1e9, (best[0] + best[1]) / one / sides[s]);
    }
    printf("\n");
    free(w);
    batch_free(&b);
}

/* A child of order q into a parent of `rows` rows and `columns` columns, in runs of so many rows. */
static void time_child(const sd_front_kernels *k, int rows, int columns, int q, int run, bool empty)
{
    batch parents = batch_new(k, rows, columns, false), children = batch_new(k, q + 1, 1, false);
    int32_t *place = take(q, sizeof *place);
    double *scratch = take(children.rest, sizeof(double));
    const int n = parents.count < children.count ? parents.count : children.count, gap = rows - q;
    for (int i = 0; i < q; ++i) place[i] = i + (int)((int64_t)gap * (i / run) / ((q + run - 1) / run));
    double best = 1e9, copy = 1e9;
    const double entries = 0.5 * q * (q + 1);
    const int inner = 1 + (int)(2e6 / (entries * n));
    for (int c = 0; c < n; ++c) children.f[c].eliminated = 1;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = now(CLOCK_MONOTONIC);
        for (int again = 0; again < inner; ++again)
            for (int c = 0; c < n; ++c) {
                sd_span whole = {0, rows, empty};
                k->add_child(&parents.f[c], &children.f[c], place, 0, &whole);
            }
        best = fmin(best, (now(CLOCK_MONOTONIC) - start) / inner / n);
        start = now(CLOCK_MONOTONIC);
        for (int again = 0; again < inner; ++again)
            for (int c = 0; c < n; ++c) memcpy(scratch, children.f[c].rest, sizeof(double) * (size_t)entries);
        copy = fmin(copy, (now(CLOCK_MONOTONIC) - start) / inner / n);
    }
    printf("%5d %4d %5d %4d %6s  %9.0f ns  %6.3f ns an entry, memcpy %6.3f\n", rows, columns, q, run,
           empty ? "write" : "add", best * 1e9, best * 1e9 / entries, copy * 1e9 / entries);
    free(place);
    free(scratch);
    batch_free(&parents);
    batch_free(&children);
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = {{2, 1},    {4, 1},   {8, 2},    {16, 4},   {24, 4},   {32, 8},
                                   {48, 12},  {64, 16}, {100, 16}, {128, 24}, {200, 4},  {200, 16},
                                   {200, 24}, {24, 24}, {256, 8},  {256, 16}, {256, 24}, {160, 32},
                                   {400, 4},  {400, 8}, {500, 24}, {64, 32},  {32, 32}};
    const sd_front_kernels *k = sd_cpu()->fronts;
    for (int i = 0; argc > 1 && i < sd_cpu_isa_count; ++i)
        if (!strcmp(argv[1], sd_cpu_isas[i].name) && sd_cpu_isas[i].supported()) k = sd_cpu_isas[i].fronts;
    if (argc > 1 && !strcmp(argv[1], "reference")) k = sd_fronts_reference;
    printf(" rows cols pivots   rest   factor ns Gflop/s   update ns Gflop/s      both ns Gflop/s  left\n");
    for (int pairs = 0; pairs < 2; ++pairs)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
            time_factor(k, sizes[s][0], sizes[s][1], pairs, 1);
    printf("\n rows cols: forward + backward ns, Gflop/s, cost a side relative to one; for 1 2 4 8 16 64 "
           "sides\n");
    static const int solves[][2] = {{4, 1},    {16, 4},    {32, 8},      {64, 16},
                                    {200, 50}, {800, 200}, {4000, 1000}, {12000, 2000}};
    for (size_t s = 0; s < sizeof solves / sizeof *solves; ++s) time_solves(k, solves[s][0], solves[s][1]);
    printf("\n rows cols child runs   rest\n");
    static const int children[][4] = {{4, 2, 3, 3},       {8, 2, 6, 3},      {16, 4, 12, 12},
                                      {24, 4, 20, 4},     {40, 8, 30, 1},    {40, 8, 30, 8},
                                      {64, 16, 60, 60},   {128, 16, 100, 1}, {128, 16, 100, 8},
                                      {128, 16, 100, 25}, {400, 60, 300, 8}, {400, 60, 300, 300}};
    for (int empty = 0; empty < 2; ++empty)
        for (size_t s = 0; s < sizeof children / sizeof *children; ++s)
            time_child(k, children[s][0], children[s][1], children[s][2], children[s][3], empty);
    return 0;
}
