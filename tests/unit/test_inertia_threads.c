/*
 * The verdict on an inertia has the same bits with any number of threads; a query and a solve tell the same
 * counts; solves at once on one solver, of which none was there before, agree. Systems of some thousand rows:
 * one that is certain, one of an interior point, a singular one, one in doubt.
 */
#include "hard_matrices.h"

#include <pthread.h>

/* What is told about an inertia. */
typedef struct verdict {
    int64_t positive, negative, zero, rank, least, most, certain, doubt;
    double risk;
} verdict;

static verdict verdict_of(const saddle_info *info)
{
    return (verdict){.positive = info->inertia_positive,
                     .negative = info->inertia_negative,
                     .zero = info->inertia_zero,
                     .rank = info->rank,
                     .least = info->negative_least,
                     .most = info->negative_most,
                     .certain = info->inertia_certain,
                     .doubt = (int64_t)info->inertia_doubt,
                     .risk = info->inertia_risk};
}

static void assert_same_counts(const verdict *a, const verdict *b)
{
    assert_memory_equal(a, b, offsetof(verdict, risk));
}

/* (D + L, B'; B 0): L is the Laplacian of an m x m grid, row k of B joins two neighbours of it. */
typedef struct grid_system {
    int32_t n, grid, *colptr, *rowind;
    double *values, *b, *x;
    saddle_matrix A;
} grid_system;

typedef enum kind { KIND_CERTAIN, KIND_INTERIOR_POINT, KIND_SINGULAR, KIND_DOUBTFUL, KINDS } kind;

/* The value at row i of column j: barrier terms, weights, constraints. */
static double value_at(rng *r, kind what, int32_t i, int32_t j, int32_t grid)
{
    if (i >= grid && j >= grid) return 0;
    if (i >= grid) return what == KIND_SINGULAR || what == KIND_DOUBTFUL ? 0 : 1 + 0.1 * rng_unit(r);
    if (i != j) return what == KIND_DOUBTFUL ? -rng_decades(r, -3, 3) : -1;
    return what == KIND_INTERIOR_POINT ? 4 + rng_decades(r, -10, 10) : what == KIND_CERTAIN ? 5 : 0;
}

/* Diagonals of Laplacians: what makes the sums of rows zero, as far as rounding lets it. */
static void make_sums_zero(grid_system *s)
{
    double *sums = test_alloc((size_t)s->n, sizeof *sums);
    for (int32_t j = 0; j < s->grid; ++j)
        for (int32_t k = s->colptr[j] + 1; k < s->colptr[j + 1]; ++k) {
            sums[j] -= s->values[k];
            sums[s->rowind[k]] -= s->values[k];
        }
    for (int32_t j = 0; j < s->n; ++j) s->values[s->colptr[j]] = sums[j];
    free(sums);
}

static grid_system grid_system_new(rng *r, kind what, int32_t m)
{
    const int32_t grid = m * m, n = grid + (what < KIND_SINGULAR ? grid / 2 : 0);
    grid_system s = {.n = n, .grid = grid, .colptr = test_alloc((size_t)n + 1, sizeof(int32_t))};
    s.rowind = test_alloc(5 * (size_t)n, sizeof *s.rowind);
    s.values = test_alloc(5 * (size_t)n, sizeof *s.values);
    s.b = test_alloc((size_t)n, sizeof *s.b);
    s.x = test_alloc((size_t)n, sizeof *s.x);
    int32_t k = 0;
    for (int32_t j = 0; j < n; ++j) {
        s.colptr[j] = k;
        s.rowind[k++] = j;
        if (j < grid && j % m < m - 1) s.rowind[k++] = j + 1;
        if (j + m < grid) s.rowind[k++] = j + m;
        if (j < grid && grid + j / 2 < n) s.rowind[k++] = grid + j / 2;
        for (int32_t p = s.colptr[j]; p < k; ++p) s.values[p] = value_at(r, what, s.rowind[p], j, grid);
    }
    s.colptr[n] = k;
    if (what >= KIND_SINGULAR) make_sums_zero(&s);
    s.A = saddle_symmetric(n, s.colptr, s.rowind, s.values);
    for (int32_t i = 0; i < n; ++i) s.x[i] = 1 + i % 7;
    assert_int_equal(saddle_multiply(&s.A, 1, s.x, n, s.b, n, 1, NULL, NULL), SADDLE_OK);
    return s;
}

static void grid_system_free(grid_system *s)
{
    free(s->colptr);
    free(s->rowind);
    free(s->values);
    free(s->b);
    free(s->x);
}

static saddle_solver *factored(const grid_system *s, int threads)
{
    saddle_options options = options_of("method=direct");
    saddle_solver *solver = NULL;
    options.threads = threads;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    if (saddle_factor(solver, &s->A)) fail_msg("%s", saddle_message(solver));
    return solver;
}

static verdict solved_verdict(const saddle_solver *solver, const grid_system *s, double *x)
{
    saddle_info info = saddle_info_default();
    saddle_solve(solver, 1, s->b, s->n, x, s->n, &info);
    return verdict_of(&info);
}

static int32_t side(void)
{
    return is_slow() ? 20 : 50;
}

static void any_number_of_threads_gives_the_same_verdict(void **state)
{
    (void)state;
    rng r = rng_start("verdicts");
    for (int what = 0; what < KINDS; ++what) {
        grid_system s = grid_system_new(&r, (kind)what, side());
        verdict queried = {0}, solved = {0};
        for (int run = 0; run < 4; ++run) { /* one thread, two, each twice */
            saddle_solver *asked = factored(&s, 1 + run % 2), *used = factored(&s, 1 + run % 2);
            const saddle_info info = info_of(asked);
            const verdict by_query = verdict_of(&info), by_solve = solved_verdict(used, &s, s.x);
            const saddle_info again = info_of(used);
            const verdict later = verdict_of(&again);
            assert_same_counts(&by_query, &by_solve);
            assert_memory_equal(&later, &by_solve, sizeof later); /* kept */
            if (run == 0) {
                queried = by_query;
                solved = by_solve;
            }
            assert_memory_equal(&by_query, &queried, sizeof queried);
            assert_memory_equal(&by_solve, &solved, sizeof solved);
            saddle_destroy(&asked);
            saddle_destroy(&used);
        }
        assert_int_equal(queried.certain, what != KIND_DOUBTFUL);
        assert_int_equal(queried.zero > 0, what >= KIND_SINGULAR);
        if (what < KIND_SINGULAR) assert_int_equal(queried.negative, s.n - s.grid);
        grid_system_free(&s);
    }
}

/* ---- at once ---- */

enum { THREADS = 2 };

typedef struct job {
    const grid_system *s;
    const saddle_solver *solver;
    bool query;
    pthread_barrier_t *start;
    verdict found;
    double *x;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    pthread_barrier_wait(j->start);
    if (j->query) {
        saddle_info info = saddle_info_default();
        saddle_query(j->solver, &info);
        j->found = verdict_of(&info);
    } else {
        j->found = solved_verdict(j->solver, j->s, j->x);
    }
    return NULL;
}

/* Two calls at once on factors that nobody has examined; `queries` of them are queries. */
static void run_at_once(const grid_system *s, int queries, const verdict *alone, const double *x)
{
    saddle_solver *solver = factored(s, 1);
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    job jobs[THREADS];
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; ++t) {
        jobs[t] = (job){.s = s, .solver = solver, .query = t < queries, .start = &start};
        jobs[t].x = test_alloc((size_t)s->n, sizeof *x);
        assert_int_equal(pthread_create(&threads[t], NULL, run_job, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    for (int t = 0; t < THREADS; ++t) {
        assert_same_counts(&jobs[t].found, alone);
        if (queries == 0) assert_memory_equal(&jobs[t].found, alone, sizeof *alone);
        if (t >= queries) assert_memory_equal(jobs[t].x, x, (size_t)s->n * sizeof *x);
        free(jobs[t].x);
    }
    saddle_destroy(&solver);
}

static void solves_at_once_on_unexamined_factors_agree(void **state)
{
    (void)state;
    rng r = rng_start("at once");
    for (int what = 0; what < KINDS; ++what) {
        grid_system s = grid_system_new(&r, (kind)what, 12);
        double *x = test_alloc((size_t)s.n, sizeof *x);
        saddle_solver *solver = factored(&s, 1);
        const verdict alone = solved_verdict(solver, &s, x);
        for (int round = 0; round < (is_slow() ? 4 : 30); ++round) run_at_once(&s, round % 3, &alone, x);
        saddle_destroy(&solver);
        free(x);
        grid_system_free(&s);
    }
}

/* ---- D replaced ---- */

static void a_replaced_d_has_no_inertia(void **state)
{
    (void)state;
    rng r = rng_start("D");
    grid_system s = grid_system_new(&r, KIND_CERTAIN, 10);
    double *d = test_alloc(2 * (size_t)s.n, sizeof *d);
    for (int queried = 0; queried < 2; ++queried) {
        saddle_solver *solver = factored(&s, 1);
        if (queried) assert_true(info_of(solver).inertia_certain);
        assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
        assert_int_equal(saddle_set_d(solver, d), SADDLE_OK);
        const saddle_info info = info_of(solver);
        const verdict solved = solved_verdict(solver, &s, s.x);
        assert_int_equal(info.inertia_positive, -1);
        assert_int_equal(info.inertia_negative, -1);
        assert_int_equal(info.inertia_zero, -1);
        assert_int_equal(info.rank, -1);
        assert_int_equal(info.negative_least, -1);
        assert_int_equal(info.negative_most, -1);
        assert_false(info.inertia_certain);
        assert_int_equal(solved.positive, -1);
        assert_false(solved.certain);
        assert_int_equal(saddle_factor(solver, &s.A), SADDLE_OK); /* and has one again */
        assert_true(info_of(solver).inertia_certain);
        saddle_destroy(&solver);
    }
    free(d);
    grid_system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_verdict),
        cmocka_unit_test(solves_at_once_on_unexamined_factors_agree),
        cmocka_unit_test(a_replaced_d_has_no_inertia),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
