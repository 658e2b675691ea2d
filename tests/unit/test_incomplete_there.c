/*
 * Incomplete factors that a device makes, and the triangles it fills, against those of the host: by
 * elimination and by sweeps, with breakdowns and divergence, in two runs with the same bits, and solves with
 * several right-hand sides. SADDLE_TEST_CUDA=1 runs it.
 */
#include "backend_or_skip.h"
#include "incomplete.h"
#include "whole_again.h"

#include "factor/incomplete_there.h"
#include "solve/triangles_solve.h"

typedef struct bench {
    sd_context c;
    sd_device d[2];
    sd_engine e[2]; /* of the device, and of the host */
} bench;

static void bench_open(bench *s)
{
    const sd_backend *cuda = cuda_or_skip();
    sd_context_init(&s->c, NULL, 0);
    open_engine_on(&s->c, cuda, 1, &s->d[0], &s->e[0]);
    open_engine_on(&s->c, &sd_backend_reference, 1, &s->d[1], &s->e[1]);
}

static void bench_close(bench *s)
{
    for (int k = 0; k < 2; ++k) {
        sd_engine_close(&s->e[k]);
        sd_device_close(&s->c, &s->d[k]);
    }
    assert_int_equal(s->c.bytes, 0);
}

/* Factors of a matrix by both. */
typedef struct both {
    sd_prepared prepared; /* of the matrix as it is */
    sd_incomplete here, there;
    sd_incomplete_there job;
} both;

static void prepare(sd_context *c, const dense *d, sd_prepared *p)
{
    *p = (sd_prepared){.B = csr_of(c, d)};
    p->source = sd_alloc(c, p->B.nnz, sizeof *p->source, "test");
    for (int64_t k = 0; k < p->B.nnz; ++k) p->source[k] = k;
}

static void factor_there(bench *s, const sd_incomplete_rule *rule, both *f)
{
    const sd_csr *B = &f->prepared.B;
    double *values = sd_to_backend(&s->e[0], B->val, B->nnz * (int64_t)sizeof *values, "test");
    must(&s->c, sd_incomplete_there_factor(&s->e[0], rule, values, 0, &f->there, &f->job, &f->prepared));
    sd_release(&s->e[0], values);
}

/* The numbers that the device has become those of f->there; bits must be those of the run before. */
static void fetch(bench *s, both *f)
{
    const sd_pattern_factors *t = &f->job.f;
    const struct {
        double **to;
        const double *from;
        int64_t count;
    } all[] = {{&f->there.lower_val, t->lower.val, t->lower.entries},
               {&f->there.diagonal, t->diagonal, t->n},
               {&f->there.upper_val, t->upper.val, t->symmetric ? 0 : t->upper.entries}};
    for (int k = 0; k < 3; ++k) {
        const size_t bytes = (size_t)all[k].count * sizeof(double);
        double *now = sd_alloc(&s->c, all[k].count, sizeof *now, "test");
        if (all[k].count > 0) s->e[0].backend->download(&s->e[0], all[k].from, now, (int64_t)bytes);
        assert_int_equal(s->e[0].status, SADDLE_OK);
        if (*all[k].to && bytes > 0) assert_memory_equal(now, *all[k].to, bytes);
        sd_free(&s->c, *all[k].to);
        *all[k].to = now;
    }
    if (t->symmetric) return;
    double *rows = sd_alloc(&s->c, t->upper.entries, sizeof *rows, "test"); /* U by rows */
    for (int64_t k = 0; k < t->upper.entries; ++k) rows[k] = f->there.upper_val[f->job.turned[k]];
    sd_free(&s->c, f->there.upper_val);
    f->there.upper_val = rows;
}

static void both_make(bench *s, const dense *d, bool symmetric, const sd_incomplete_rule *rule, both *f)
{
    const saddle_preparation as_it_is = {.n = d->n};
    *f = (both){0};
    prepare(&s->c, d, &f->prepared);
    sd_csr *B = &f->prepared.B;
    must(&s->c, sd_incomplete_pattern(&s->c, B, symmetric, rule, &f->there));
    assert_true(sd_incomplete_is_there(&s->e[0], &f->there, B));
    must(&s->c, sd_incomplete_there_make(&s->e[0], &f->prepared, &as_it_is, &f->there, rule->swept, &f->job));
    for (int run = 0; run < 2; ++run) {
        factor_there(s, rule, f);
        sd_free(&s->c, f->there.upper_val); /* which is in another order */
        f->there.upper_val = NULL;
        fetch(s, f);
    }
    for (int64_t k = 0; k < B->nnz; ++k) B->val[k] = ldexp(B->val[k], -f->prepared.exponent);
    const bool negated = f->prepared.negated;
    if (symmetric) sd_prepared_turn(&f->prepared);
    assert_int_equal(negated, f->prepared.negated);
    must(&s->c, sd_incomplete_make(&s->c, B, symmetric, rule, &f->here));
}

static void both_free(bench *s, both *f)
{
    sd_incomplete_there_free(&s->e[0], &f->job);
    sd_incomplete_free(&s->c, &f->here);
    sd_incomplete_free(&s->c, &f->there);
    sd_prepared_free(&s->c, &f->prepared);
}

static void assert_near(const char *what, int64_t count, const double *a, const double *b, double bound)
{
    for (int64_t k = 0; k < count; ++k)
        if (!(fabs(a[k] - b[k]) <= bound * (1 + fabs(b[k]))))
            fail_msg("%s: number %lld is %.17g, not %.17g", what, (long long)k, a[k], b[k]);
}

static void compare(const both *f, double bound)
{
    const int32_t n = f->here.n;
    assert_true(f->there.shift == f->here.shift);
    assert_int_equal(f->there.restarts, f->here.restarts);
    assert_int_equal(f->there.sweeps, f->here.sweeps);
    assert_near("L", f->here.lower.ptr[n], f->there.lower_val, f->here.lower_val, bound);
    assert_near("the diagonal", n, f->there.diagonal, f->here.diagonal, bound);
    if (!f->here.symmetric)
        assert_near("U", f->here.upper.ptr[n], f->there.upper_val, f->here.upper_val, bound);
    if (f->here.sweeps > 0)
        assert_true(fabs(f->there.residual - f->here.residual) <= 1e-9 + 1e-6 * f->here.residual);
}

static void factors_are_those_of_the_host(void **state)
{
    (void)state;
    bench s;
    bench_open(&s);
    rng r = rng_start("incomplete_there");
    for (int round = 0; round < (is_slow() ? 12 : 48); ++round) {
        const bool symmetric = round % 2 == 0, swept = round % 3 == 0;
        dense d = blocks_problem(&r, 1 + rng_below(&r, 40), 1 + rng_below(&r, 4), 6 * fabs(rng_unit(&r)),
                                 symmetric);
        const sd_incomplete_rule rule = {
            .level = rng_below(&r, 3), .swept = swept, .sweeps = 4 + rng_below(&r, 4), .threads = 1};
        both f;
        both_make(&s, &d, symmetric, &rule, &f);
        compare(&f, 1e-11);
        both_free(&s, &f);
        dense_free(&d);
    }
    bench_close(&s);
}

/* Elimination meets pivots that are not positive, or far too small; sweeps diverge or meet them. */
static void breakdowns_are_mended_by_the_same_shift(void **state)
{
    (void)state;
    bench s;
    bench_open(&s);
    rng r = rng_start("incomplete_there");
    int shifted = 0;
    for (int round = 0; round < (is_slow() ? 8 : 24); ++round) {
        const bool symmetric = round % 2 == 0;
        dense d = blocks_problem(&r, 20, 2, 4, symmetric);
        give_diagonal(&d, symmetric ? 0.2 : 0.02);
        if (round % 4 == 3) dense_set(&d, 7, 7, 0);
        const sd_incomplete_rule rule = {.level = 1, .swept = round % 3 == 2, .sweeps = 30, .threads = 1};
        both f;
        both_make(&s, &d, symmetric, &rule, &f);
        shifted += f.here.shift > 0;
        compare(&f, 1e-8);
        both_free(&s, &f);
        dense_free(&d);
    }
    assert_true(shifted > 2);
    bench_close(&s);
}

/* Only where all of the diagonal is negative; elimination, and sweeps, which break down at their guess. */
static void a_negative_diagonal_turns_the_sign_there_too(void **state)
{
    (void)state;
    bench s;
    bench_open(&s);
    rng r = rng_start("incomplete_there");
    for (int round = 0; round < 6; ++round) {
        dense d = blocks_problem(&r, 12, 3, 2, true);
        for (int k = 0; k < d.n * d.n; ++k) d.a[k] = -d.a[k];
        for (int k = 0; k < d.n && round == 3; ++k) /* a row of zeros breaks down with any sign */
            dense_set(&d, 4, k, 0), dense_set(&d, k, 4, 0);
        if (round > 3) dense_set(&d, 5, 5, -dense_at(&d, 5, 5));
        const sd_incomplete_rule rule = {.level = 0, .swept = round % 2, .sweeps = 5, .threads = 1};
        both f;
        both_make(&s, &d, true, &rule, &f);
        assert_int_equal(f.prepared.negated, round <= 3);
        assert_int_equal(f.here.shift > 0, round >= 3);
        compare(&f, 1e-8);
        both_free(&s, &f);
        dense_free(&d);
    }
    bench_close(&s);
}

/* z of one engine with triangles of f. */
static void solve(sd_engine *e, const sd_triangles *t, sd_trisolve_kind kind, int columns, const double *b,
                  double *z)
{
    const sd_two_triangles of = sd_triangles_view(t, kind, columns);
    sd_vector r = sd_vector_new(e, SD_DOUBLE, of.n, "test");
    sd_swept m;
    sd_vector_put(e, b, &r);
    assert_int_equal(sd_swept_make(e, &of, 3, &m), SADDLE_OK);
    sd_swept_apply(e, &m, &r, &r);
    sd_vector_get(e, &r, z);
    assert_int_equal(e->status, SADDLE_OK);
    sd_swept_free(e, &m);
    sd_vector_free(e, &r);
}

static void check_solves(bench *s, const both *f, sd_incomplete_there *job, sd_precision precision, int rows,
                         int columns, rng *r)
{
    const int32_t n = f->here.n;
    const int64_t count = (int64_t)n * columns;
    int32_t *start = test_alloc((size_t)n + 1, sizeof *start), blocks = 0;
    double *b = test_alloc((size_t)count, sizeof *b), *z = test_alloc((size_t)count, sizeof *z),
           *wanted = test_alloc((size_t)count, sizeof *wanted);
    sd_incomplete pattern = f->there;
    sd_triangles t[2];
    pattern.diagonal = NULL;
    for (int32_t i = 0; rows > 0 && i < n; ++blocks) start[blocks + 1] = i = n - i < rows ? n : i + rows;
    for (int64_t k = 0; k < count; ++k) b[k] = rng_unit(r);
    for (int k = 0; k < 2; ++k) {
        must(&s->c, sd_triangles_make(&s->e[k], k ? &f->here : &pattern, precision, blocks, start, &t[k]));
        if (k == 0) must(&s->c, sd_incomplete_there_fill(&s->e[0], &f->there, job, &t[0]));
        for (int leave = 0; leave < 2; ++leave)
            must(&s->c, sd_triangles_frame(&s->e[k], leave == 1, NULL, NULL, 0, 1, &t[k]));
    }
    for (int kind = SD_TRISOLVE_EXACT; kind <= SD_TRISOLVE_ENTRIES; ++kind) {
        if (kind == SD_TRISOLVE_BLOCKS && blocks == 0) continue;
        solve(&s->e[0], &t[0], (sd_trisolve_kind)kind, columns, b, z);
        solve(&s->e[1], &t[1], (sd_trisolve_kind)kind, columns, b, wanted);
        assert_near("a solve", count, z, wanted, precision == SD_DOUBLE ? 1e-10 : 1e-3);
    }
    for (int k = 0; k < 2; ++k) sd_triangles_free(&s->e[k], &t[k]);
    free(start);
    free(b);
    free(z);
    free(wanted);
}

static void triangles_get_their_numbers_there(void **state)
{
    (void)state;
    bench s;
    bench_open(&s);
    rng r = rng_start("incomplete_there");
    static const int rows[] = {0, 3, 12, 32};
    for (int round = 0; round < 8; ++round) {
        const bool symmetric = round % 2 == 0;
        dense d = blocks_problem(&r, 30, 2, 3, symmetric);
        const sd_incomplete_rule rule = {.level = round / 4, .threads = 1};
        both f;
        both_make(&s, &d, symmetric, &rule, &f);
        check_solves(&s, &f, &f.job, round % 3 == 2 ? SD_SINGLE : SD_DOUBLE, rows[round / 2], 1 + round % 3,
                     &r);
        both_free(&s, &f);
        dense_free(&d);
    }
    bench_close(&s);
}

/* Rows in the order of levels, most of them in few: those are renumbered, and eliminated so. */
static void wide_levels_are_taken_level_by_level(void **state)
{
    (void)state;
    bench s;
    bench_open(&s);
    rng r = rng_start("incomplete_there");
    for (int round = 0; round < 2; ++round) {
        dense d = dense_new(600);
        for (int i = 300; i < 600; ++i)
            for (int k = 0; k < 3; ++k) {
                const int j = rng_below(&r, 300);
                dense_set(&d, i, j, rng_unit(&r));
                dense_set(&d, j, i, dense_at(&d, i, j));
            }
        give_diagonal(&d, 1);
        const sd_incomplete_rule rule = {.threads = 1};
        both f;
        both_make(&s, &d, round == 0, &rule, &f);
        assert_non_null(f.job.f.order);
        compare(&f, 1e-11);
        check_solves(&s, &f, &f.job, SD_DOUBLE, 0, 2, &r);
        both_free(&s, &f);
        dense_free(&d);
    }
    bench_close(&s);
}

/* Of wide levels, whose rows and entries have other numbers in the triangles. */
static void a_solver_is_whole_again_after_a_failed_allocation(void **state)
{
    (void)state;
    enum { WIDE = 256 };
    cuda_or_skip();
    double b[WIDE];
    for (int i = 0; i < WIDE; ++i) b[i] = i % 7 - 3;
    for (int way = 0; way < 3; ++way) {
        const bool symmetric = way > 0;
        dense d = dense_new(WIDE);
        for (int i = 0; i < WIDE; ++i) dense_set(&d, i, WIDE - 1 - i, 1 + abs(2 * i - WIDE + 1));
        give_diagonal(&d, 1);
        for (int k = 0; k < WIDE * WIDE && way == 2; ++k) d.a[k] = -d.a[k]; /* the host looks at it */
        saddle_matrix A = view_plain(&d, symmetric ? SADDLE_LOWER : SADDLE_GENERAL);
        assert_whole_again(&A, b,
                           symmetric ? "method=ic,device=cuda,order=natural,trisolve=exact"
                                     : "method=ilu,device=cuda,order=natural,trisolve=exact",
                           true);
        view_free(&A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_those_of_the_host),
        cmocka_unit_test(breakdowns_are_mended_by_the_same_shift),
        cmocka_unit_test(a_negative_diagonal_turns_the_sign_there_too),
        cmocka_unit_test(triangles_get_their_numbers_there),
        cmocka_unit_test(wide_levels_are_taken_level_by_level),
        cmocka_unit_test(a_solver_is_whole_again_after_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
