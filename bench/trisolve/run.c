/*
 * One run of `saddle bench trisolve`: a solver with the options of a text, its setup, one right-hand side.
 *
 * The time of an application of the preconditioner is that of an iteration less that of an iteration of the
 * same method without a preconditioner, which has the same products and about the same vector operations;
 * both are differences of a longer and a shorter run, so that what a solve does once does not count.
 */
#include "bench/trisolve/trisolve.h"

#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_FEW = 10, ITERATIONS_MANY = 40, TIMED = 3 }; /* of an application */

/* What a part does not say; what the command line says prevails over it. */
#define USUAL_SYMMETRIC "method=ic scaling=col2 order=rcm maxiter=3000"
#define USUAL_GENERAL "method=ilu maxiter=1000"
#define USUAL_BOTH "tol=1e-6 stop=residual device=cpu"

const char *const trisolve_blockings[BLOCKINGS] = {
    "adjacent", "supervariables", "cosine", "priority", "priority-dynamic", "metis", "clusters", "pablo"};

/* ---- the matrix ---- */

int trisolve_load(trisolve_bench *t, const char *operand)
{
    const int opened = bench_problem_open(&t->problem, operand, &t->watch.hooks);
    if (opened != EXIT_DONE) return opened;
    const size_t room = (size_t)t->problem.A.rows + 1;
    t->A = t->problem.A;
    t->operand = operand;
    t->scaled = false;
    t->values = NULL;
    t->places = NULL;
    t->b = malloc(room * sizeof *t->b);
    t->x = malloc(room * sizeof *t->x);
    int status = t->b && t->x ? EXIT_DONE : fail(EXIT_MEMORY, "%s: out of memory", operand);
    for (int64_t i = 0; i < t->A.rows && status == EXIT_DONE; ++i) t->b[i] = 1.0;
    if (status == EXIT_DONE && argument_given(t->a, "scaled") && !trisolve_scale(t))
        status = fail(EXIT_FILE, "%s: cannot be scaled: %s", operand, t->message);
    if (status != EXIT_DONE) trisolve_unload(t);
    return status;
}

void trisolve_unload(trisolve_bench *t)
{
    saddle_matrix_free(&t->made, &t->watch.hooks);
    bench_problem_free(&t->problem);
    free(t->values);
    free(t->places);
    free(t->b);
    free(t->x);
    t->values = t->b = t->x = NULL;
    t->places = NULL;
}

saddle_options trisolve_usual(const trisolve_bench *t)
{
    saddle_options o = saddle_options_default();
    char value[64];
    bench_set(&o, t->problem.symmetric ? USUAL_SYMMETRIC : USUAL_GENERAL);
    bench_set(&o, USUAL_BOTH);
    if (t->scaled && t->problem.symmetric) o.scaling = SADDLE_SCALING_NONE;
    o.threads = argument_count(t->a, "threads");
    for (int k = 0; saddle_option_at(k); ++k) {
        const saddle_option *row = saddle_option_at(k);
        char name[32];
        snprintf(name, sizeof name, "%s", row->name);
        for (char *c = name; (c = strchr(c, '_'));) *c = '-';
        if (!argument_taken(t->a, row) || !argument_given(t->a, name)) continue;
        if (saddle_options_get(&t->a->library, row->name, value, sizeof value) == SADDLE_OK)
            saddle_options_set(&o, row->name, value, NULL);
    }
    return o;
}

/* Room for the scaled matrix: values, rows and columns of its entries, and two inverse orders. */
static bool take_room(trisolve_bench *t)
{
    const size_t entries = (size_t)t->made.entries + 1, n = (size_t)t->made.rows + 1;
    t->values = malloc(entries * sizeof *t->values);
    t->places = malloc((2 * entries + 2 * n) * sizeof *t->places);
    if (t->values && t->places) return true;
    snprintf(t->message, sizeof t->message, "out of memory");
    return false;
}

/* t->A from the entries of t->made. */
static void place_entries(trisolve_bench *t, const saddle_preparation *p)
{
    const saddle_matrix *from = &t->made;
    const double *given = from->values;
    int32_t *row = t->places, *column = row + from->entries, *row_at = column + from->entries,
            *column_at = row_at + from->rows;
    for (int32_t k = 0; k < from->rows; ++k) {
        row_at[p->row_permutation[k]] = k;
        column_at[p->permutation[k]] = k;
    }
    for (int64_t k = 0; k < from->entries; ++k) {
        const int32_t i = from->indices[k], j = from->col_indices[k];
        t->values[k] = p->row_scale[i] * given[k] * p->col_scale[j];
        row[k] = row_at[i];
        column[k] = column_at[j];
    }
    t->A = *from;
    t->A.values = t->values;
    t->A.indices = row;
    t->A.col_indices = column;
}

bool trisolve_scale(trisolve_bench *t)
{
    if (t->scaled) return true;
    const bool symmetric = t->problem.symmetric;
    const saddle_hooks *hooks = &t->watch.hooks;
    saddle_options o = trisolve_usual(t);
    saddle_preparation p;
    bench_set(&o, symmetric ? "pairs=off" : "pairs=on");
    bench_set(&o, "order=natural blocking=none");
    if (saddle_prepare(&t->A, &o, NULL, hooks, &p, t->message) != SADDLE_OK) return false;
    t->scaled = saddle_convert(&t->A, SADDLE_COORDINATES, symmetric ? SADDLE_LOWER : SADDLE_GENERAL, hooks,
                               &t->made, t->message) == SADDLE_OK &&
                take_room(t);
    if (t->scaled) place_entries(t, &p);
    saddle_preparation_free(&p, hooks);
    return t->scaled;
}

/* ---- runs ---- */

double trisolve_left(const trisolve_bench *t)
{
    return progress_interrupted() ? 0.0 : fmax(0.0, t->until - bench_now(&t->watch));
}

static trisolve_result nothing(void)
{
    return (trisolve_result){
        .run = true, .setup = NAN, .solve = NAN, .application = NAN, .info = saddle_info_default()};
}

static bool set_up(trisolve_bench *t, saddle_solver *solver, trisolve_result *r)
{
    const double began = bench_now(&t->watch);
    saddle_status status = saddle_analyse(solver, &t->A);
    if (status == SADDLE_OK) status = saddle_factor(solver, &t->A);
    r->setup = bench_now(&t->watch) - began;
    saddle_query(solver, &r->info);
    if (status != SADDLE_OK) snprintf(r->why, sizeof r->why, "%.90s", saddle_message(solver));
    return status == SADDLE_OK;
}

/* What was not reached is measured all the same. */
static void solve(trisolve_bench *t, const saddle_solver *solver, trisolve_result *r)
{
    const int64_t n = t->A.rows;
    const double began = bench_now(&t->watch);
    const saddle_status status = saddle_solve(solver, 1, t->b, n, t->x, n, &r->info);
    r->solve = bench_now(&t->watch) - began;
    r->solved = status == SADDLE_OK;
    if (r->solved) return;
    const bool measured = status == SADDLE_NOT_CONVERGED || status == SADDLE_SINGULAR;
    snprintf(r->why, sizeof r->why, "%.90s", measured ? saddle_reason_text(r->info.reason) : r->info.message);
}

trisolve_result trisolve_try(trisolve_bench *t, const char *text, double seconds)
{
    trisolve_result r = nothing();
    saddle_solver *solver = NULL;
    saddle_options o = trisolve_usual(t);
    bench_set(&o, text);
    const double left = trisolve_left(t);
    const saddle_hooks hooks = bench_limited(&t->watch, t->a, left);
    if (saddle_create(&solver, &o, &hooks, t->message) != SADDLE_OK) {
        snprintf(r.why, sizeof r.why, "%.90s", t->message);
    } else if (set_up(t, solver, &r) && seconds > 0.0) {
        const double most = fmin(seconds, trisolve_left(t));
        bench_limited(&t->watch, t->a, most);
        solve(t, solver, &r);
    }
    r.late = t->watch.late;
    if (r.late) snprintf(r.why, sizeof r.why, "took too long");
    saddle_destroy(&solver);
    return r;
}

trisolve_result trisolve_repeat(trisolve_bench *t, const char *text, double seconds)
{
    trisolve_result r = trisolve_try(t, text, seconds);
    for (int64_t k = 1; k < argument_count(t->a, "repeat") && r.solved; ++k) {
        const trisolve_result again = trisolve_try(t, text, seconds);
        if (!again.solved) break;
        r.setup = fmin(r.setup, again.setup);
        r.solve = fmin(r.solve, again.solve);
    }
    return r;
}

/* The least seconds of some solves of so many iterations, whatever they reach; *iterations: how many there
 * were. */
static double time_iterations(trisolve_bench *t, const char *text, int most, int64_t *iterations)
{
    saddle_solver *solver = NULL;
    saddle_options o = trisolve_usual(t);
    trisolve_result r = nothing();
    double least = NAN;
    bench_set(&o, text);
    o.tol = 0.0;
    o.maxiter = most;
    const saddle_hooks hooks = bench_limited(&t->watch, t->a, trisolve_left(t));
    if (saddle_create(&solver, &o, &hooks, t->message) == SADDLE_OK && set_up(t, solver, &r)) {
        for (int k = 0; k < TIMED; ++k) {
            solve(t, solver, &r);
            least = k > 0 ? fmin(least, r.solve) : r.solve;
        }
    }
    *iterations = r.info.iterations;
    saddle_destroy(&solver);
    return least;
}

/* Seconds of an iteration; NaN where there are too few to tell. */
static double time_iteration(trisolve_bench *t, const char *text)
{
    int64_t few, many;
    const double shorter = time_iterations(t, text, ITERATIONS_FEW, &few);
    const double longer = time_iterations(t, text, ITERATIONS_MANY, &many);
    return many >= few + ITERATIONS_FEW ? (longer - shorter) / (double)(many - few) : NAN;
}

void trisolve_measure_application(trisolve_bench *t, const char *text, trisolve_result *r)
{
    char one[TEXT + 64], krylov[24];
    if (!r->solved) return;
    saddle_option_word("krylov", (int)r->info.krylov, krylov, sizeof krylov);
    snprintf(one, sizeof one, "%s krylov=%s", text, krylov);
    const double with = time_iteration(t, one);
    snprintf(one, sizeof one, "%s method=none krylov=%s", text, krylov);
    r->application = with - time_iteration(t, one);
}

double trisolve_total(const trisolve_result *r)
{
    return r->setup + r->solve;
}

double trisolve_iterations(const trisolve_result *r)
{
    return isnan(r->solve) || r->late ? NAN : (double)r->info.iterations;
}

double trisolve_sweeps(const trisolve_result *r)
{
    const saddle_trisolve kind = r->info.trisolve;
    return kind == SADDLE_TRISOLVE_JACOBI || kind == SADDLE_TRISOLVE_BLOCK_JACOBI
               ? (double)r->info.trisolve_sweeps
               : NAN;
}

bool trisolve_is_shifted(const trisolve_result *r)
{
    return r->info.shift > 0.0;
}

void trisolve_json_result(json *j, const char *key, const trisolve_result *r)
{
    json_object(j, key);
    JSON_PUT(j, true, J_TRUTH("solved", r->solved), J_TEXT("why", r->why[0] ? r->why : NULL),
             J_NUMBER("iterations", trisolve_iterations(r)), J_NUMBER("setup", r->setup),
             J_NUMBER("solve", r->solve), J_NUMBER("total", trisolve_total(r)),
             J_NUMBER("application", r->application));
    json_info(j, true, &r->info,
              "method krylov relative_residual backward_error componentwise_error trisolve trisolve_sweeps "
              "trisolve_residual dominance block_dominance shift restarts levels factor_nnz blocks "
              "block_size fallback");
    json_close(j);
}
