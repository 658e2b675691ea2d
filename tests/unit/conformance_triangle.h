/* Checks of the kernels on triangular factors against reference, one check_NAME a row of kernels.def. */
#pragma once

#include "conformance.h"
#include "triangle_shapes.h"

/* Those of 10,000 rows are shared among threads, and with several columns those of 4,000. */
static factor triangles[] = {
    {.name = "nothing", .shape = ALONE, .n = 0},
    {.name = "one row", .shape = ALONE, .n = 1, .upper = true},
    {.name = "a diagonal", .shape = ALONE, .n = 40000},
    {.name = "a chain", .shape = CHAIN, .n = 20000},
    {.name = "a chain, upper, shared", .shape = CHAIN, .n = 20000, .upper = true, .shared = true},
    {.name = "dense", .shape = FULL, .n = 300},
    {.name = "dense, upper", .shape = FULL, .n = 300, .upper = true},
    {.name = "strewn", .shape = STREWN, .n = 10000},
    {.name = "strewn, upper, shared", .shape = STREWN, .n = 10000, .upper = true, .shared = true},
    {.name = "layers", .shape = LAYERS, .n = 10000, .shared = true},
    {.name = "a few layers", .shape = LAYERS, .n = 4000},
    {.name = "a short chain", .shape = CHAIN, .n = 1300, .upper = true},
    {.name = "layers, upper", .shape = LAYERS, .n = 10000, .upper = true},
    {.name = "empty rows", .shape = HOLES, .n = 10000},
    {.name = "a grid", .shape = GRID, .n = 13500},
    {.name = "a grid, upper, shared", .shape = GRID, .n = 2700, .upper = true, .shared = true},
};
enum { TRIANGLES = sizeof triangles / sizeof triangles[0] };
static const int side_by_side[] = {1, 11};
enum { WIDTHS = sizeof side_by_side / sizeof side_by_side[0] };

/* A walk on a GPU that is emulated leaves out what is large. */
static bool is_left_out(const setting *s, const factor *f, int columns)
{
    return (int64_t)f->n * columns > (s->e.backend->host_memory || !is_slow() ? 45000 : 4000);
}

static double *triangle_bound(const factor *f, int64_t count, double times)
{
    double *bound = alloc_bound(count);
    for (int64_t k = 0; k < count; ++k) bound[k] = times * (double)(f->longest + SD_BLOCK_MOST);
    return bound;
}

typedef void triangle_check(setting *s, const factor *f, const sd_triangle *mine, const sd_triangle *its,
                            int columns);

static void each_triangle(setting *s, triangle_check *check)
{
    for (int k = 0; k < TRIANGLES; ++k) {
        const sd_triangle mine = factor_place(&s->e, &triangles[k], s->precision);
        sd_triangle its = {0};
        if (s->compare) its = factor_place(&s->reference, &triangles[k], s->precision);
        for (int w = 0; w < WIDTHS; ++w)
            if (!is_left_out(s, &triangles[k], side_by_side[w]))
                check(s, &triangles[k], &mine, &its, side_by_side[w]);
        factor_unplace(&s->e, &mine);
        if (s->compare) factor_unplace(&s->reference, &its);
    }
}

/* In each way, which must have the same bits, and in place. */
static void solve_triangle(setting *s, const factor *f, const sd_triangle *mine, const sd_triangle *its,
                           int columns)
{
    const int64_t count = (int64_t)f->n * columns;
    double *bound = triangle_bound(f, count, 16);
    uint64_t bits = 0;
    for (int run = 0; run < 4; ++run) {
        const bool in_place = run == 3;
        const uint64_t before = s->bits;
        pair b = put_pair(s, count, data[1]), y = put_pair(s, count, data[in_place ? 1 : 2]);
        sd_triangle x = *mine;
        x.way = in_place ? SD_TRIANGLE_FLAGS : (sd_triangle_way)run;
        s->bits = 1;
        sd_triangle_solve(&s->e, &x, columns, in_place ? &y.mine : &b.mine, &y.mine);
        sd_triangle_solve(&s->reference, its, columns, in_place ? &y.theirs : &b.theirs, &y.theirs);
        compare_vectors(s, &y, bound, f->name);
        if (run > 0 && s->bits != bits)
            fail_msg("%s: way %d%s has other bits (%d threads)", f->name, (int)x.way,
                     in_place ? " in place" : "", s->e.threads);
        bits = s->bits;
        s->bits = before;
        free_pair(s, &b);
        free_pair(s, &y);
    }
    record(s, &bits, sizeof bits);
    free(bound);
}

static void sweep_triangle(setting *s, const factor *f, const sd_triangle *mine, const sd_triangle *its,
                           int columns)
{
    const int64_t count = (int64_t)f->n * columns;
    double *bound = triangle_bound(f, count, 16);
    pair b = put_pair(s, count, data[1]), x = put_pair(s, count, data[2]), y = put_pair(s, count, data[3]);
    for (sd_sweep_unit unit = SD_SWEEP_ENTRIES; unit <= SD_SWEEP_BLOCKS; ++unit) {
        sd_triangle_sweep(&s->e, mine, unit, columns, &b.mine, NULL, &y.mine);
        sd_triangle_sweep(&s->reference, its, unit, columns, &b.theirs, NULL, &y.theirs);
        compare_vectors(s, &y, bound, f->name);
        sd_triangle_sweep(&s->e, mine, unit, columns, &b.mine, &x.mine, &y.mine);
        sd_triangle_sweep(&s->reference, its, unit, columns, &b.theirs, &x.theirs, &y.theirs);
        compare_vectors(s, &y, bound, f->name);
    }
    free_pair(s, &b);
    free_pair(s, &x);
    free_pair(s, &y);
    free(bound);
}

static void subtract_triangle(setting *s, const factor *f, const sd_triangle *mine, const sd_triangle *its,
                              int columns)
{
    const int64_t count = (int64_t)f->n * columns;
    double *bound = triangle_bound(f, count, 16);
    pair b = put_pair(s, count, data[1]), x = put_pair(s, count, data[2]), y = put_pair(s, count, data[3]);
    sd_triangle_residual(&s->e, mine, columns, &b.mine, &x.mine, &y.mine);
    sd_triangle_residual(&s->reference, its, columns, &b.theirs, &x.theirs, &y.theirs);
    compare_vectors(s, &y, bound, f->name);
    sd_triangle_residual(&s->e, mine, columns, &b.mine, &x.mine, &b.mine);
    sd_triangle_residual(&s->reference, its, columns, &b.theirs, &x.theirs, &b.theirs);
    compare_vectors(s, &b, bound, f->name);
    free_pair(s, &b);
    free_pair(s, &x);
    free_pair(s, &y);
    free(bound);
}

static void check_triangle_solve(setting *s)
{
    each_triangle(s, solve_triangle);
}

static void check_triangle_sweep(setting *s)
{
    each_triangle(s, sweep_triangle);
}

static void check_triangle_residual(setting *s)
{
    each_triangle(s, subtract_triangle);
}

/* ---- in and out ---- */

static sd_frame place_frame(sd_engine *e, sd_precision precision, int32_t n)
{
    rng r = {n};
    int32_t *order = test_alloc((size_t)n, sizeof *order);
    double *scale = test_alloc((size_t)n, sizeof *scale);
    rng_permutation(&r, n, order);
    for (int32_t k = 0; k < n; ++k) scale[k] = 1 + rng_unit(&r) / 3;
    const sd_frame f = {n, sd_to_backend(e, order, n * (int64_t)sizeof *order, "test"),
                        sd_to_backend(e, scale, n * (int64_t)sizeof *scale, "test"), precision};
    assert_int_equal(e->status, SADDLE_OK);
    free(order);
    free(scale);
    return f;
}

static void unplace_frame(sd_engine *e, const sd_frame *f)
{
    sd_release(e, f->order);
    sd_release(e, f->scale);
}

/* Vectors outside in either precision; nothing is summed, so bits are reference's. */
static void pass_frame(setting *s, bool inwards)
{
    static const int32_t rows[] = {0, 1, 7, 4097, LARGEST / 3};
    for (int k = 0; k < 5; ++k) {
        for (int columns = 1; columns <= 3; columns += 2) {
            for (sd_precision outside = 0; outside < SD_PRECISIONS; ++outside) {
                const int64_t count = (int64_t)rows[k] * columns;
                const sd_frame mine = place_frame(&s->e, s->precision, rows[k]);
                sd_frame its = {0};
                if (s->compare) its = place_frame(&s->reference, s->precision, rows[k]);
                pair y = put_pair(s, count, data[1]);
                pair r = {put_data(&s->e, outside, count, data[2]),
                          put_data(&s->reference, outside, count, data[2])};
                if (inwards) {
                    sd_enter(&s->e, &mine, columns, &r.mine, &y.mine);
                    sd_enter(&s->reference, &its, columns, &r.theirs, &y.theirs);
                } else {
                    sd_leave(&s->e, &mine, columns, &y.mine, &r.mine);
                    sd_leave(&s->reference, &its, columns, &y.theirs, &r.theirs);
                }
                compare_vectors(s, inwards ? &y : &r, NULL, inwards ? "enter" : "leave");
                free_pair(s, &y);
                free_pair(s, &r);
                unplace_frame(&s->e, &mine);
                if (s->compare) unplace_frame(&s->reference, &its);
            }
        }
    }
}

static void check_enter(setting *s)
{
    pass_frame(s, true);
}

static void check_leave(setting *s)
{
    pass_frame(s, false);
}
