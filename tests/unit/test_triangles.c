/*
 * Triangles of incomplete factorizations and the driver of swept solves on them: against dense solves, sweeps
 * against exact solves, on every blocking, with several right-hand sides, and any number of threads.
 */
#include "failing_allocator.h"
#include "helpers.h"

#include "factor/trisolve_cost.h"
#include "solve/triangles_solve.h"

typedef struct bench {
    sd_context c;
    sd_device d;
    sd_engine e;
} bench;

static void bench_open(bench *s, const saddle_hooks *hooks, int threads)
{
    sd_context_init(&s->c, hooks, 0);
    assert_int_equal(sd_device_open(&s->c, &s->d, SADDLE_DEVICE_CPU, 0), SADDLE_OK);
    assert_int_equal(sd_engine_open(&s->c, &s->d, &s->e, threads), SADDLE_OK);
}

static void bench_close(bench *s)
{
    sd_engine_close(&s->e);
    sd_device_close(&s->c, &s->d);
    assert_int_equal(s->c.bytes, 0);
}

/* ---- factorizations ---- */

typedef enum shape { ALONE, CHAIN, FULL, STREWN, WIDE, LONG } shape;
enum { SHAPES = 6, LAYER = 300 };

static bool has_entry(shape what, rng *r, int32_t i, int32_t j)
{
    switch (what) {
    case ALONE: return false;
    case CHAIN: return j == i - 1;
    case FULL: return true;
    case STREWN: return i % 5 != 2 && rng_below(r, 4) == 0;
    case LONG: return i % 2 && (j == i - 1 || i % 128 == 127); /* rows of two levels in turn */
    default: return j / LAYER == i / LAYER - 1 && rng_below(r, LAYER / 4) == 0;
    }
}

/* Row i of what is strictly below the diagonal, or of the transpose of what is above. */
static sd_pattern random_pattern(rng *r, shape what, int32_t n)
{
    sd_pattern p = {n, test_alloc((size_t)n + 1, sizeof *p.ptr), test_alloc((size_t)n * 50, sizeof *p.ind)};
    for (int32_t i = 0; i < n; ++i) {
        int64_t next = p.ptr[i];
        for (int32_t j = i > 800 ? i - 800 : 0; j < i; ++j)
            if (has_entry(what, r, i, j) && next < p.ptr[i] + 50) p.ind[next++] = j;
        p.ptr[i + 1] = next;
    }
    return p;
}

static double *random_values(rng *r, int64_t count, double size)
{
    double *val = test_alloc((size_t)count, sizeof *val);
    for (int64_t k = 0; k < count; ++k) val[k] = size * rng_unit(r);
    return val;
}

static sd_incomplete random_factors(rng *r, shape what, int32_t n, bool symmetric)
{
    sd_incomplete m = {.symmetric = symmetric, .n = n, .lower = random_pattern(r, what, n)};
    m.lower_val = random_values(r, m.lower.ptr[n], 0.2);
    m.diagonal = test_alloc((size_t)n, sizeof *m.diagonal);
    for (int32_t i = 0; i < n; ++i) m.diagonal[i] = 1 + fabs(rng_unit(r));
    if (symmetric) return m;
    sd_context c;
    sd_pattern rows = random_pattern(r, what, n), turned;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_pattern_transpose(&c, &rows, &turned, NULL), SADDLE_OK);
    m.upper = (sd_pattern){n, test_alloc((size_t)n + 1, sizeof *m.upper.ptr),
                           test_alloc((size_t)turned.ptr[n], sizeof *m.upper.ind)};
    memcpy(m.upper.ptr, turned.ptr, ((size_t)n + 1) * sizeof *turned.ptr);
    memcpy(m.upper.ind, turned.ind, (size_t)turned.ptr[n] * sizeof *turned.ind);
    m.upper_val = random_values(r, m.upper.ptr[n], 0.2);
    sd_pattern_free(&c, &turned);
    free(rows.ptr);
    free(rows.ind);
    return m;
}

static void free_factors(sd_incomplete *m)
{
    void *all[] = {m->lower.ptr, m->lower.ind, m->lower_val, m->upper.ptr,
                   m->upper.ind, m->upper_val, m->diagonal};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) free(all[k]);
}

/* (L U) or (L L') z = b, by substitution in extended precision. */
static void solve_plainly(const sd_incomplete *m, const double *b, double *z)
{
    const int32_t n = m->n;
    long double *y = test_alloc((size_t)n, sizeof *y);
    for (int32_t i = 0; i < n; ++i) {
        y[i] = b[i];
        for (int64_t k = m->lower.ptr[i]; k < m->lower.ptr[i + 1]; ++k)
            y[i] -= m->lower_val[k] * y[m->lower.ind[k]];
        if (m->symmetric) y[i] /= m->diagonal[i];
    }
    for (int32_t i = n - 1; i >= 0; --i) {
        for (int64_t k = m->symmetric ? 0 : m->upper.ptr[i]; !m->symmetric && k < m->upper.ptr[i + 1]; ++k)
            y[i] -= m->upper_val[k] * y[m->upper.ind[k]];
        y[i] /= m->diagonal[i];
        for (int64_t k = m->lower.ptr[i]; m->symmetric && k < m->lower.ptr[i + 1]; ++k)
            y[m->lower.ind[k]] -= m->lower_val[k] * y[i];
        z[i] = (double)y[i];
    }
    free(y);
}

/* ---- solves ---- */

/* Blocks of so many rows; 0: none, and where it is negative of any number up to it. */
static int32_t *blocks_of(rng *r, int32_t n, int rows, int32_t *blocks)
{
    int32_t *start = test_alloc((size_t)n + 1, sizeof *start);
    *blocks = 0;
    for (int32_t i = 0; i < n && rows != 0; ++*blocks) {
        const int32_t size = rows > 0 ? rows : 1 + rng_below(r, -rows);
        i = n - i < size ? n : i + size;
        start[*blocks + 1] = i;
    }
    return start;
}

static sd_triangles make(bench *s, const sd_incomplete *m, sd_precision precision, int32_t blocks,
                         const int32_t *start)
{
    sd_triangles t;
    assert_int_equal(sd_triangles_make(&s->e, m, precision, blocks, start, &t), SADDLE_OK);
    assert_int_equal(sd_triangles_frame(&s->e, false, NULL, NULL, 0, 1, &t), SADDLE_OK);
    assert_int_equal(sd_triangles_frame(&s->e, true, NULL, NULL, 0, 1, &t), SADDLE_OK);
    return t;
}

static void apply(bench *s, const sd_triangles *t, sd_trisolve_kind kind, int sweeps, int columns,
                  const double *b, double *z)
{
    const sd_two_triangles of = sd_triangles_view(t, kind, columns);
    sd_swept m;
    sd_vector v = sd_vector_new(&s->e, SD_DOUBLE, of.n, "test");
    assert_int_equal(sd_swept_make(&s->e, &of, sweeps, &m), SADDLE_OK);
    sd_vector_put(&s->e, b, &v);
    sd_swept_apply(&s->e, &m, &v, &v);
    sd_vector_get(&s->e, &v, z);
    assert_int_equal(s->e.status, SADDLE_OK);
    sd_vector_free(&s->e, &v);
    sd_swept_free(&s->e, &m);
}

static double distance(int64_t n, const double *x, const double *y)
{
    double most = 0, size = 0;
    for (int64_t i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return size > 0 ? most / size : most;
}

static const int32_t sizes[] = {0, 1, 7, 60, 3000};
static const int blockings[] = {0, 1, 4, 32, -32};
enum { SIZES = 5, BLOCKINGS = 5 };

/* Exact solves, and as many sweeps as there are levels of entries or blocks. */
static void check_solves(rng *r, const sd_incomplete *m, int rows, int threads, sd_precision precision)
{
    const int32_t n = m->n;
    int32_t blocks, *start = blocks_of(r, n, rows, &blocks);
    double *b = random_values(r, n, 1), *plain = test_alloc((size_t)n, sizeof *plain),
           *z = test_alloc((size_t)n, sizeof *z);
    bench s;
    bench_open(&s, NULL, threads);
    sd_triangles t = make(&s, m, precision, blocks, start);
    const sd_two_triangles of = sd_triangles_view(&t, SD_TRISOLVE_ENTRIES, 1);
    const double tolerance = precision == SD_DOUBLE ? 1e-11 : 2e-4;
    solve_plainly(m, b, plain);
    if (m->symmetric) assert_ptr_equal(t.lower.val, t.upper.val);
    if (blocks > 0) assert_null(t.order);
    apply(&s, &t, SD_TRISOLVE_EXACT, 0, 1, b, z);
    assert_true(distance(n, z, plain) <= tolerance);
    if (n > 0) apply(&s, &t, SD_TRISOLVE_ENTRIES, (int)of.enough, 1, b, z);
    assert_true(distance(n, z, plain) <= tolerance);
    if (blocks > 0) apply(&s, &t, SD_TRISOLVE_BLOCKS, t.block_levels, 1, b, z);
    assert_true(distance(n, z, plain) <= tolerance);
    sd_triangles_free(&s.e, &t);
    bench_close(&s);
    free(start);
    free(b);
    free(plain);
    free(z);
}

static void solves_are_those_of_dense_triangles_on_every_blocking(void **state)
{
    (void)state;
    rng r = rng_start("triangles");
    for (int k = 0; k < SIZES; ++k)
        for (int what = 0; what < SHAPES; ++what)
            for (int symmetric = 0; symmetric < 2; ++symmetric) {
                if (sizes[k] > 1000 && what != WIDE && what != LONG && what != ALONE) continue;
                sd_incomplete m = random_factors(&r, (shape)what, sizes[k], symmetric);
                for (int q = 0; q < BLOCKINGS; ++q)
                    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)
                        check_solves(&r, &m, blockings[q], 1 + q % 3, precision);
                free_factors(&m);
            }
}

/* Rows put one level after the other, in each way and at any number of threads; with the same bits. */
static void wide_levels_are_put_one_after_the_other(void **state)
{
    (void)state;
    enum { ROWS = 12000 };
    rng r = rng_start("wide levels");
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_incomplete m = random_factors(&r, WIDE, ROWS, symmetric);
        double *b = random_values(&r, ROWS, 1), *plain = test_alloc(ROWS, sizeof *plain),
               *first = test_alloc(ROWS, sizeof *first), *z = test_alloc(ROWS, sizeof *z);
        solve_plainly(&m, b, plain);
        for (int threads = 1; threads <= 4; ++threads) {
            bench s;
            bench_open(&s, NULL, threads);
            sd_triangles t = make(&s, &m, SD_DOUBLE, 0, NULL);
            assert_non_null(t.order);
            assert_int_equal(t.lower.shares.lanes, threads > 1 ? threads : 0);
            assert_permutation(t.order, ROWS);
            assert_null(t.lower.row);
            assert_int_equal(t.lower.way,
                             ROWS >= 1024 * t.lower.levels ? SD_TRIANGLE_LEVELS : SD_TRIANGLE_SERIAL);
            for (int way = 0; way <= SD_TRIANGLE_FLAGS; ++way) {
                t.lower.way = t.upper.way = (sd_triangle_way)way;
                apply(&s, &t, SD_TRISOLVE_EXACT, 0, 1, b, z);
                if (threads == 1 && way == 0) memcpy(first, z, ROWS * sizeof *z);
                assert_memory_equal(first, z, ROWS * sizeof *z);
            }
            assert_true(distance(ROWS, z, plain) <= 1e-12);
            sd_triangles_free(&s.e, &t);
            bench_close(&s);
        }
        free(b);
        free(plain);
        free(first);
        free(z);
        free_factors(&m);
    }
}

static void columns_are_solved_as_if_alone(void **state)
{
    (void)state;
    enum { ROWS = 600, COLUMNS = 3 };
    rng r = rng_start("columns");
    sd_incomplete m = random_factors(&r, STREWN, ROWS, false);
    int32_t blocks, *start = blocks_of(&r, ROWS, -12, &blocks);
    double *b = random_values(&r, ROWS * COLUMNS, 1), all[ROWS * COLUMNS], one[ROWS];
    bench s;
    bench_open(&s, NULL, 2);
    sd_triangles t = make(&s, &m, SD_DOUBLE, blocks, start);
    for (int kind = SD_TRISOLVE_EXACT; kind <= SD_TRISOLVE_ENTRIES; ++kind) {
        apply(&s, &t, (sd_trisolve_kind)kind, 5, COLUMNS, b, all);
        for (int k = 0; k < COLUMNS; ++k) {
            apply(&s, &t, (sd_trisolve_kind)kind, 5, 1, b + k * ROWS, one);
            assert_memory_equal(one, all + k * ROWS, sizeof one);
        }
    }
    sd_triangles_free(&s.e, &t);
    bench_close(&s);
    free(start);
    free(b);
    free_factors(&m);
}

/* y'M^-1 x = x'M^-1 y, x'M^-1 x > 0, for any number of sweeps, however far from exact. */
static void equal_sweeps_on_both_triangles_are_definite(void **state)
{
    (void)state;
    enum { ROWS = 400 };
    rng r = rng_start("symmetry");
    sd_incomplete m = random_factors(&r, STREWN, ROWS, true);
    int32_t blocks, *start = blocks_of(&r, ROWS, 6, &blocks);
    bench s;
    bench_open(&s, NULL, 2);
    for (int64_t k = 0; k < m.lower.ptr[ROWS]; ++k) m.lower_val[k] *= 4; /* far from dominant */
    sd_triangles t = make(&s, &m, SD_DOUBLE, blocks, start);
    for (int sweeps = 1; sweeps <= 6; ++sweeps) {
        for (int kind = SD_TRISOLVE_BLOCKS; kind <= SD_TRISOLVE_ENTRIES; ++kind) {
            double *x = random_values(&r, ROWS, 1), *y = random_values(&r, ROWS, 1), of_x[ROWS], of_y[ROWS];
            double xy = 0, yx = 0, xx = 0, yy = 0;
            apply(&s, &t, (sd_trisolve_kind)kind, sweeps, 1, x, of_x);
            apply(&s, &t, (sd_trisolve_kind)kind, sweeps, 1, y, of_y);
            for (int i = 0; i < ROWS; ++i) {
                xy += x[i] * of_y[i];
                yx += y[i] * of_x[i];
                xx += x[i] * of_x[i];
                yy += y[i] * of_y[i];
            }
            assert_true(xx > 0 && yy > 0);
            assert_true(fabs(xy - yx) <= 1e-12 * sqrt(xx * yy));
            free(x);
            free(y);
        }
    }
    sd_triangles_free(&s.e, &t);
    bench_close(&s);
    free(start);
    free_factors(&m);
}

/* 1 on the diagonal and `below` beside it: |G^k| = |below|^k until k = n. */
static sd_incomplete chain(int32_t n, double below)
{
    rng r = {1};
    sd_incomplete m = random_factors(&r, CHAIN, n, true);
    for (int32_t i = 0; i < n; ++i) m.diagonal[i] = 1;
    for (int64_t k = 0; k < m.lower.ptr[n]; ++k) m.lower_val[k] = below;
    return m;
}

static void divergence_is_detected_before_it_overflows(void **state)
{
    (void)state;
    enum { ROWS = 2000, MOST = 60 };
    sd_incomplete wild = chain(ROWS, -2), tame = chain(ROWS, -0.5);
    double history[MOST], *ones = test_alloc(ROWS, sizeof *ones);
    sd_sweep_trial trial;
    sd_swept m;
    bench s;
    bench_open(&s, NULL, 1);
    for (int i = 0; i < ROWS; ++i) ones[i] = 1;
    sd_triangles t = make(&s, &wild, SD_DOUBLE, 0, NULL);
    const sd_two_triangles of = sd_triangles_view(&t, SD_TRISOLVE_ENTRIES, 1);
    sd_vector b = sd_vector_new(&s.e, SD_DOUBLE, ROWS, "test");
    sd_vector_put(&s.e, ones, &b);
    assert_int_equal(sd_swept_make(&s.e, &of, 1, &m), SADDLE_OK);
    for (int first = 0; first < 2; ++first) { /* residuals are 2^k nearly: the 40th is beyond 1e12 */
        const int done = sd_swept_history(&s.e, &m, first, MOST, &b, history);
        assert_int_equal(done, 40);
        assert_true(history[0] > 1.9 && history[0] <= 2 && sd_swept_diverged(history[39]));
        assert_false(sd_swept_diverged(history[38]));
    }
    sd_swept_free(&s.e, &m);
    sd_vector_free(&s.e, &b);
    assert_int_equal(sd_swept_try(&s.e, &of, 10, &trial), SADDLE_OK);
    assert_false(isfinite(trial.apart) && trial.apart < 1e-3);
    assert_true(trial.residual[0] > 900 && trial.largest[1] == trial.residual[1]);
    assert_true(trial.useless);
    assert_int_equal(sd_swept_try(&s.e, &of, 5, &trial), SADDLE_OK);
    assert_true(trial.residual[0] > 30 && !trial.useless);
    assert_int_equal(sd_swept_try(&s.e, &of, MOST, &trial), SADDLE_OK);
    assert_true(trial.diverged);
    sd_triangles_free(&s.e, &t);
    t = make(&s, &tame, SD_DOUBLE, 0, NULL);
    const sd_two_triangles calm = sd_triangles_view(&t, SD_TRISOLVE_ENTRIES, 1);
    assert_int_equal(sd_swept_try(&s.e, &calm, MOST, &trial), SADDLE_OK);
    assert_true(!trial.diverged && !trial.useless && trial.apart <= 1e-14 && trial.residual[1] <= 1e-14);
    double z[2][ROWS]; /* until they change little */
    apply(&s, &t, SD_TRISOLVE_ENTRIES, 0, 1, ones, z[0]);
    apply(&s, &t, SD_TRISOLVE_EXACT, 0, 1, ones, z[1]);
    assert_true(distance(ROWS, z[0], z[1]) <= 0.05);
    sd_triangles_free(&s.e, &t);
    bench_close(&s);
    free(ones);
    free_factors(&wild);
    free_factors(&tame);
}

static int64_t sweeps_made;

static void counting_sweep(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                           const sd_vector *from, sd_vector *to)
{
    const sd_triangles *of = t->factors;
    const sd_two_triangles plain = sd_triangles_view(of, t->kind, t->columns);
    ++sweeps_made;
    plain.can->sweep(t, e, first, b, from, to);
}

/* Ten thousand were made of a matrix with a few levels: nothing came of the others, and nobody could stop
 * them. */
static void sweeps_end_when_they_are_exact(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    rng r = rng_start("exact sweeps");
    for (int run = 0; run < 4; ++run) {
        const bool over_blocks = run % 2;
        sd_incomplete m = random_factors(&r, STREWN, ROWS, run / 2);
        int32_t blocks, *start = blocks_of(&r, ROWS, over_blocks ? 8 : 0, &blocks);
        double *b = random_values(&r, ROWS, 1), z[3][ROWS];
        bench s;
        bench_open(&s, NULL, 1);
        sd_triangles t = make(&s, &m, SD_DOUBLE, blocks, start);
        sd_two_triangles of =
            sd_triangles_view(&t, over_blocks ? SD_TRISOLVE_BLOCKS : SD_TRISOLVE_ENTRIES, 1);
        sd_triangle_functions can = *of.can;
        can.sweep = counting_sweep;
        of.can = &can;
        sd_vector v = sd_vector_new(&s.e, SD_DOUBLE, ROWS, "test");
        for (int k = 0; k < 3; ++k) { /* just enough; many more; one more, all of them made */
            sd_swept own;
            assert_int_equal(sd_swept_make(&s.e, &of, (int)of.enough + (k == 1 ? 9999 : k / 2), &own),
                             SADDLE_OK);
            if (k == 2) own.sweeps = (int)of.enough + 1;
            sd_vector_put(&s.e, b, &v);
            sweeps_made = 0;
            sd_swept_apply(&s.e, &own, &v, &v);
            sd_vector_get(&s.e, &v, z[k]);
            assert_int_equal(sweeps_made, 2 * (of.enough + k / 2));
            assert_memory_equal(z[0], z[k], sizeof z[0]);
            sd_swept_free(&s.e, &own);
        }
        sd_vector_free(&s.e, &v);
        sd_triangles_free(&s.e, &t);
        bench_close(&s);
        free(start);
        free(b);
        free_factors(&m);
    }
}

static void new_values_take_the_same_memory(void **state)
{
    (void)state;
    rng r = rng_start("new values");
    for (int run = 0; run < 4; ++run) {
        const int32_t n = run < 2 ? 3000 : 200;
        sd_incomplete m = random_factors(&r, run < 2 ? WIDE : STREWN, n, run % 2);
        int32_t blocks, *start = blocks_of(&r, n, run < 2 ? 0 : 8, &blocks);
        double *b = random_values(&r, n, 1), *z = test_alloc((size_t)n, sizeof *z),
               *again = test_alloc((size_t)n, sizeof *again);
        bench s;
        bench_open(&s, NULL, 1);
        sd_triangles t = make(&s, &m, SD_DOUBLE, blocks, start);
        const int64_t bytes = s.c.bytes;
        for (int64_t k = 0; k < m.lower.ptr[n]; ++k) m.lower_val[k] = -m.lower_val[k] / 2;
        for (int32_t i = 0; i < n; ++i) m.diagonal[i] += 1;
        assert_int_equal(sd_triangles_values(&s.e, &m, &t), SADDLE_OK);
        assert_int_equal(s.c.bytes, bytes);
        sd_triangles fresh = make(&s, &m, SD_DOUBLE, blocks, start);
        assert_true(fresh.bytes == t.bytes && t.bytes > 0 && t.bytes <= bytes);
        const sd_trisolve_kind kind = blocks > 0 ? SD_TRISOLVE_BLOCKS : SD_TRISOLVE_EXACT;
        apply(&s, &t, kind, 3, 1, b, z);
        apply(&s, &fresh, kind, 3, 1, b, again);
        assert_memory_equal(z, again, (size_t)n * sizeof *z);
        sd_triangles_free(&s.e, &t);
        sd_triangles_free(&s.e, &fresh);
        bench_close(&s);
        free(start);
        free(b);
        free(z);
        free(again);
        free_factors(&m);
    }
}

/* Rows and columns of a matrix in other orders and scalings. */
static void frames_carry_order_and_scaling(void **state)
{
    (void)state;
    enum { ROWS = 1200 };
    rng r = rng_start("frames");
    sd_incomplete m = random_factors(&r, WIDE, ROWS, false); /* which is renumbered */
    int32_t in[ROWS], out[ROWS];
    double *scale[2], *b = random_values(&r, ROWS, 1), entered[ROWS], plain[ROWS], expected[ROWS], z[ROWS];
    rng_permutation(&r, ROWS, in);
    rng_permutation(&r, ROWS, out);
    for (int k = 0; k < 2; ++k) scale[k] = random_values(&r, ROWS, 1);
    bench s;
    bench_open(&s, NULL, 1);
    sd_triangles t;
    assert_int_equal(sd_triangles_make(&s.e, &m, SD_DOUBLE, 0, NULL, &t), SADDLE_OK);
    assert_non_null(t.order);
    assert_int_equal(sd_triangles_frame(&s.e, false, in, scale[0], 0, 1, &t), SADDLE_OK);
    for (int twice = 0; twice < 2; ++twice) /* the second takes the place of the first */
        assert_int_equal(sd_triangles_frame(&s.e, true, out, scale[1], 3, -1, &t), SADDLE_OK);
    for (int k = 0; k < ROWS; ++k) entered[k] = b[in[k]] * scale[0][in[k]];
    solve_plainly(&m, entered, plain);
    for (int k = 0; k < ROWS; ++k) expected[out[k]] = -plain[k] * scale[1][out[k]] * 8;
    apply(&s, &t, SD_TRISOLVE_EXACT, 0, 1, b, z);
    assert_true(distance(ROWS, z, expected) <= 1e-12);
    sd_triangles_free(&s.e, &t);
    bench_close(&s);
    free(b);
    free(scale[0]);
    free(scale[1]);
    free_factors(&m);
}

/* L = (2; 2 4; 0 4 4; 8 0 0 1), by hand. */
static void dominance_is_the_mean_of_rows(void **state)
{
    (void)state;
    int64_t ptr[] = {0, 0, 1, 2, 3};
    int32_t ind[] = {0, 1, 0};
    double val[] = {2, 4, 8}, diagonal[] = {2, 4, 4, 1}, entries, of_blocks;
    const int32_t halves[] = {0, 2, 4};
    const sd_incomplete m = {
        .symmetric = true, .n = 4, .lower = {4, ptr, ind}, .lower_val = val, .diagonal = diagonal};
    sd_incomplete_dominance(&m, 2, halves, &entries, &of_blocks);
    assert_true(fabs(entries - (0 + 0.5 + 1 + 8) / 4) <= 1e-15);
    /* L_21 = (0 4; 8 0), L_22^-1 = diag(1/4, 1) */
    assert_true(fabs(of_blocks - sqrt(80) * sqrt(1 + 1 / 16.0) / 2) <= 1e-14);
    sd_incomplete_dominance(&m, 0, NULL, &entries, &of_blocks);
    assert_true(isnan(of_blocks));
}

static void blocks_that_are_too_large_are_refused(void **state)
{
    (void)state;
    rng r = {1};
    sd_incomplete m = random_factors(&r, CHAIN, 40, true);
    const int32_t large[] = {0, 40}, short_of[] = {0, 20, 30};
    sd_triangles t;
    bench s;
    bench_open(&s, NULL, 1);
    assert_int_equal(sd_triangles_make(&s.e, &m, SD_DOUBLE, 1, large, &t), SADDLE_BAD_ARGUMENT);
    assert_contains(s.c.message, "40 rows");
    s.e.status = SADDLE_OK;
    assert_int_equal(sd_triangles_make(&s.e, &m, SD_DOUBLE, 2, short_of, &t), SADDLE_BAD_ARGUMENT);
    bench_close(&s);
    free_factors(&m);
}

/* Bytes are those of the arrays; a GPU's sweeps are worth it on a long chain, never on a diagonal. */
static void work_is_counted(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    rng r = {1};
    sd_incomplete long_chain = chain(ROWS, -0.5), alone = random_factors(&r, ALONE, ROWS, true);
    bench s;
    bench_open(&s, NULL, 1);
    sd_triangles t = make(&s, &long_chain, SD_DOUBLE, 0, NULL);
    const sd_trisolve_work w = sd_triangles_work(&t);
    assert_int_equal(w.levels, ROWS);
    assert_true(w.longest == 2 && w.swept == w.bytes);
    assert_true(w.bytes == (12.0 + 16.0) * (ROWS - 1) + 2 * 32.0 * ROWS);
    assert_true(sd_triangles_sweeps_worth(&t) >= 16);
    sd_triangles_free(&s.e, &t);
    t = make(&s, &alone, SD_DOUBLE, 0, NULL);
    assert_true(sd_triangles_sweeps_worth(&t) <= 1);
    sd_triangles_free(&s.e, &t);
    bench_close(&s);
    free_factors(&long_chain);
    free_factors(&alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int run = 0; run < 4; ++run) {
        const int32_t n = run < 2 ? 900 : 50;
        sd_incomplete m = random_factors(&r, run < 2 ? WIDE : STREWN, n, run % 2);
        int32_t blocks, *start = blocks_of(&r, n, run < 2 ? 0 : 5, &blocks);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_triangles t = {0};
            sd_sweep_trial trial;
            bench s;
            bench_open(&s, &hooks, 1);
            saddle_status status = sd_triangles_make(&s.e, &m, SD_SINGLE, blocks, start, &t);
            if (!status) status = sd_triangles_frame(&s.e, false, NULL, NULL, 0, 1, &t);
            if (!status) status = sd_triangles_frame(&s.e, true, NULL, NULL, 0, 1, &t);
            if (!status) {
                const sd_two_triangles of =
                    sd_triangles_view(&t, blocks > 0 ? SD_TRISOLVE_BLOCKS : SD_TRISOLVE_ENTRIES, 1);
                status = sd_swept_try(&s.e, &of, 3, &trial);
            }
            sd_triangles_free(&s.e, &t);
            bench_close(&s);
            assert_int_equal(f.live, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
        free(start);
        free_factors(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_are_those_of_dense_triangles_on_every_blocking),
        cmocka_unit_test(wide_levels_are_put_one_after_the_other),
        cmocka_unit_test(columns_are_solved_as_if_alone),
        cmocka_unit_test(equal_sweeps_on_both_triangles_are_definite),
        cmocka_unit_test(divergence_is_detected_before_it_overflows),
        cmocka_unit_test(sweeps_end_when_they_are_exact),
        cmocka_unit_test(new_values_take_the_same_memory),
        cmocka_unit_test(frames_carry_order_and_scaling),
        cmocka_unit_test(dominance_is_the_mean_of_rows),
        cmocka_unit_test(blocks_that_are_too_large_are_refused),
        cmocka_unit_test(work_is_counted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
