/*
 * What the header allows at once, done at once: everything that may be asked of a factored solver, and what
 * takes no solver, from several threads, with the same bits as alone. For ThreadSanitizer above all.
 */
#include "problems.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 4 };

/* All that a thread found out, to be held against what one alone finds. */
typedef struct answers {
    int failures;
    double x[N], applied[N], part[3][N], pivots[2 * N], scale[N], condition, relative_residual, product[N],
        errors[3];
    int32_t order[N], pivot_order[N], permutation[N];
    int64_t n, factor_nnz, iterations, nnz, fill, columns[N + 1];
    char message[SADDLE_MESSAGE_SIZE], method[16], tol[32];
} answers;

typedef struct job {
    const problem *p;
    const saddle_solver *solver;
    answers a;
} job;

/* Counts what is not SADDLE_OK: cmocka's assertions are for one thread only. */
static void want(answers *a, saddle_status status)
{
    a->failures += status != SADDLE_OK;
}

static void ask_solver(const problem *p, const saddle_solver *s, answers *a)
{
    saddle_info info = saddle_info_default();
    want(a, saddle_solve(s, 1, p->b, N, a->x, N, &info));
    a->relative_residual = info.relative_residual;
    a->iterations = info.iterations;
    want(a, saddle_get_order(s, a->order));
    want(a, saddle_get_pivots(s, a->pivot_order, a->pivots));
    want(a, saddle_get_scaling(s, a->scale));
    want(a, saddle_get_l(s, a->columns, NULL, NULL));
    want(a, saddle_apply(s, 1, 1, p->b, N, a->applied, N, NULL));
    want(a, saddle_condition(s, &a->condition, NULL));
    for (int part = 0; part < 3; ++part) {
        memcpy(a->part[part], p->b, sizeof p->b);
        want(a, saddle_solve_part(s, (saddle_part)part, 1, a->part[part], N, NULL));
    }
    want(a, saddle_query(s, &info));
    a->n = info.n;
    a->factor_nnz = info.factor_nnz;
    snprintf(a->message, sizeof a->message, "%s", saddle_message(s));
}

static void ask_library(const problem *p, answers *a)
{
    saddle_options options = saddle_options_default();
    saddle_preparation preparation;
    saddle_facts facts;
    saddle_matrix B;
    saddle_errors errors = {0};
    want(a, saddle_options_set(&options, "order", "metis", NULL));
    want(a, saddle_options_get(&options, "tol", a->tol, sizeof a->tol));
    saddle_option_word("method", 3, a->method, sizeof a->method);
    want(a, saddle_prepare(&p->A, &options, NULL, NULL, &preparation, NULL));
    memcpy(a->permutation, preparation.permutation, sizeof a->permutation);
    a->fill = preparation.factor_nnz;
    saddle_preparation_free(&preparation, NULL);
    want(a, saddle_inspect(&p->A, NULL, &facts, NULL));
    a->nnz = facts.nnz;
    want(a, saddle_convert(&p->A, SADDLE_ROWS, SADDLE_FULL, NULL, &B, NULL));
    want(a, saddle_multiply(&B, 1, p->b, N, a->product, N, 1, NULL, NULL));
    want(a, saddle_measure(&B, a->product, p->b, NULL, 1, NULL, &errors, NULL));
    saddle_matrix_free(&B, NULL);
    a->errors[0] = errors.backward;
    a->errors[1] = errors.componentwise;
    a->errors[2] = errors.relative_residual;
    double x[N];
    saddle_info *info = saddle_info_new(NULL);
    want(a, saddle_solve_once(&p->A, p->b, x, NULL, info));
    saddle_info_free(info, NULL);
}

static void *run_job(void *argument)
{
    job *j = argument;
    for (int round = 0; round < ROUNDS; ++round) {
        ask_solver(j->p, j->solver, &j->a);
        ask_library(j->p, &j->a);
    }
    return NULL;
}

static void what_the_header_allows_at_once_gives_the_same_bits(void **state)
{
    (void)state;
    static const char *const lists[] = {"method=direct", "method=direct,threads=2",
                                        "method=direct,krylov=gmres"};
    rng r = rng_start("at once");
    problem p = problem_new(&r, false);
    for (int l = 0; l < 3; ++l) {
        static job alone, jobs[THREADS];
        pthread_t threads[THREADS];
        saddle_solver *solver = create(lists[l], NULL);
        assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
        memset(&alone, 0, sizeof alone);
        alone.p = &p;
        alone.solver = solver;
        for (int t = 0; t < THREADS; ++t) jobs[t] = alone;
        run_job(&alone);
        assert_int_equal(alone.a.failures, 0);
        for (int t = 0; t < THREADS; ++t)
            assert_int_equal(pthread_create(&threads[t], NULL, run_job, &jobs[t]), 0);
        for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
        for (int t = 0; t < THREADS; ++t) assert_memory_equal(&jobs[t].a, &alone.a, sizeof alone.a);
        saddle_destroy(&solver);
    }
    problem_free(&p);
}

/* Solvers have nothing to do with each other: each thread makes, factors and changes its own. */
static void *run_own(void *argument)
{
    job *j = argument;
    for (int round = 0; round < ROUNDS; ++round) {
        const int8_t signs[N] = {0};
        saddle_options options = saddle_options_default();
        options.method = round % 2 ? SADDLE_METHOD_DIRECT : SADDLE_METHOD_LDLT;
        saddle_solver *solver;
        want(&j->a, saddle_create(&solver, &options, NULL, NULL));
        want(&j->a, saddle_set_signs(solver, N, signs));
        want(&j->a, saddle_set_given(solver, 0, NULL));
        want(&j->a, saddle_analyse(solver, &j->p->A));
        want(&j->a, saddle_factor(solver, &j->p->A));
        want(&j->a, saddle_solve(solver, 1, j->p->b, N, j->a.x, N, NULL));
        saddle_destroy(&solver);
    }
    return NULL;
}

static void solvers_of_several_threads_do_not_meet(void **state)
{
    (void)state;
    rng r = rng_start("own solvers");
    problem p = problem_new(&r, false);
    static job alone, jobs[THREADS];
    pthread_t threads[THREADS];
    alone.p = &p;
    for (int t = 0; t < THREADS; ++t) jobs[t] = alone;
    run_own(&alone);
    assert_int_equal(alone.a.failures, 0);
    for (int t = 0; t < THREADS; ++t)
        assert_int_equal(pthread_create(&threads[t], NULL, run_own, &jobs[t]), 0);
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; ++t) assert_memory_equal(&jobs[t].a, &alone.a, sizeof alone.a);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_header_allows_at_once_gives_the_same_bits),
        cmocka_unit_test(solvers_of_several_threads_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
