/*
 * One run of `saddle bench ldlt`: a solver with the options of a recipe, its setup, two right-hand sides.
 *
 * A run is solved where for both the normwise backward error is at most 1e-12 and the relative residual or
 * the componentwise error at most 1e-8: on systems with weights over many decades the first alone says
 * little. Iterations go on to 1e-14, since they cannot stop by both, and the errors that were measured
 * decide.
 */
#include "bench/ldlt/ldlt.h"
#include "cli/paper.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BACKWARD_MOST 1e-12
#define OTHER_MOST 1e-8
#define DIRECT_SHARE 0.4 /* of a dgemm, that a direct factorization reaches at least where it is large */
#define MEMORY_SHARE 0.8 /* of what is free, that it may take */

const char *const ldlt_recipe_names[LDLT_RECIPES] = {"ldlt",  "ldlt-none", "jacobi",
                                                     "paper", "auto",      "direct"};

const char *const ldlt_side_names[LDLT_SIDES] = {"A1", "random"};

int ldlt_load(ldlt_bench *t, const char *operand)
{
    random_stream stream = random_begin(1);
    const int opened = bench_problem_open(&t->problem, operand, &t->watch.hooks);
    if (opened != EXIT_DONE) return opened;
    const int64_t n = t->problem.A.rows;
    const size_t room = (size_t)n + 1;
    saddle_status status = SADDLE_OUT_OF_MEMORY;
    t->message[0] = 0;
    t->b = malloc(LDLT_SIDES * room * sizeof *t->b);
    t->x = malloc(room * sizeof *t->x);
    if (t->b && t->x) {
        for (int64_t i = 0; i < n; ++i) t->x[i] = 1.0;
        status = saddle_multiply(&t->problem.A, 1, t->x, n, t->b, n, 0, &t->watch.hooks, t->message);
        for (int64_t i = 0; i < n; ++i) t->b[n + i] = random_between(&stream, -1.0, 1.0);
    }
    if (status == SADDLE_OK) return EXIT_DONE;
    ldlt_unload(t);
    return fail(exit_status(status), "%s: %s", operand,
                t->message[0] ? t->message : saddle_status_text(status));
}

void ldlt_unload(ldlt_bench *t)
{
    bench_problem_free(&t->problem);
    free(t->b);
    free(t->x);
    t->b = t->x = NULL;
}

saddle_options ldlt_options(const ldlt_bench *t, const char *text)
{
    saddle_options o = t->a->library;
    o.threads = argument_count(t->a, "threads");
    if (o.device == SADDLE_DEVICE_AUTO) o.device = SADDLE_DEVICE_CPU;
    bench_set(&o, text);
    return o;
}

saddle_options ldlt_recipe_options(const ldlt_bench *t, ldlt_recipe recipe)
{
    static const char *const texts[LDLT_RECIPES] = {
        [LDLT_DEFAULT] = "method=ldlt tol=1e-14 maxiter=100",
        [LDLT_NONE] = "method=ldlt fill=none tol=1e-14 maxiter=100",
        [LDLT_JACOBI] = "method=jacobi fill=none fallback=none tol=1e-14 maxiter=100",
        [LDLT_PAPER] = "tol=1e-14",
        [LDLT_AUTO] = "method=auto tol=1e-12",
        [LDLT_DIRECT] = "method=direct tol=1e-14 maxiter=100"};
    saddle_options o = ldlt_options(t, texts[recipe]);
    if (recipe == LDLT_PAPER) paper_set(&o, false, NULL);
    return o;
}

static ldlt_result nothing(void)
{
    ldlt_result r = {.run = true, .analysis = NAN, .factor = NAN, .info = saddle_info_default()};
    for (int k = 0; k < LDLT_SIDES; ++k) {
        r.iterations[k] = -1;
        r.backward[k] = r.componentwise[k] = r.residual[k] = r.solve[k] = NAN;
    }
    return r;
}

static bool good(const ldlt_result *r, int side)
{
    return r->backward[side] <= BACKWARD_MOST &&
           (r->residual[side] <= OTHER_MOST || r->componentwise[side] <= OTHER_MOST);
}

/* One right-hand side; what was not reached is measured all the same. */
static saddle_status solve_side(ldlt_bench *t, const saddle_solver *solver, int side, ldlt_result *r)
{
    const int64_t n = t->problem.A.rows;
    saddle_info info = saddle_info_default();
    const double began = bench_now(&t->watch);
    const saddle_status status = saddle_solve(solver, 1, t->b + side * n, n, t->x, n, &info);
    r->solve[side] = bench_now(&t->watch) - began;
    r->backward[side] = info.backward_error;
    r->componentwise[side] = info.componentwise_error;
    r->residual[side] = info.relative_residual;
    r->reached = r->reached && status == SADDLE_OK;
    const bool measured = status == SADDLE_OK || status == SADDLE_NOT_CONVERGED || status == SADDLE_SINGULAR;
    if (measured) r->iterations[side] = info.iterations;
    if (!measured || !good(r, side)) {
        const char *why = measured ? saddle_reason_text(info.reason) : info.message;
        snprintf(r->why, sizeof r->why, "%.90s", why);
    }
    return measured ? SADDLE_OK : status;
}

/* Whether a direct factorization as it was planned goes beyond the memory that is free or the time allowed:
 * what a plan knows is not begun. */
static bool too_large(ldlt_bench *t, ldlt_result *r)
{
    machine_probe machine;
    probe_machine(&machine);
    const double bytes = (double)r->info.planned_bytes;
    if (machine.available > 0 && bytes > MEMORY_SHARE * (double)machine.available) {
        snprintf(r->why, sizeof r->why, "skipped: it would take %.1f GB", 1e-9 * bytes);
        return true;
    }
    if (!(t->gemm > 0)) t->gemm = gemm_rate();
    const double wanted = r->info.planned_flops / (DIRECT_SHARE * t->gemm);
    if (!(wanted > t->limit)) return false;
    snprintf(r->why, sizeof r->why, "skipped: it would take about %.0f s", wanted);
    return true;
}

/* What went wrong in a call of the solver. */
static saddle_status tell_why(const saddle_solver *solver, saddle_status status, ldlt_result *r)
{
    if (status != SADDLE_OK) snprintf(r->why, sizeof r->why, "%.90s", saddle_message(solver));
    return status;
}

static saddle_status factor(ldlt_bench *t, saddle_solver *solver, ldlt_result *r)
{
    const double began = bench_now(&t->watch);
    const saddle_status status = saddle_factor(solver, &t->problem.A);
    if (status == SADDLE_OK) r->factor = bench_now(&t->watch) - began;
    saddle_query(solver, &r->info);
    return tell_why(solver, status, r);
}

static saddle_status set_up(ldlt_bench *t, saddle_solver *solver, bool direct, ldlt_result *r)
{
    const double began = bench_now(&t->watch);
    const saddle_status status = saddle_analyse(solver, &t->problem.A);
    r->analysis = bench_now(&t->watch) - began;
    saddle_query(solver, &r->info);
    if (status == SADDLE_OK && direct && too_large(t, r)) return SADDLE_MEMORY_LIMIT;
    return status == SADDLE_OK ? factor(t, solver, r) : tell_why(solver, status, r);
}

static saddle_status solve_sides(ldlt_bench *t, const saddle_solver *solver, int sides, saddle_status status,
                                 ldlt_result *r)
{
    r->reached = status == SADDLE_OK && sides > 0;
    for (int k = 0; k < sides && status == SADDLE_OK; ++k) status = solve_side(t, solver, k, r);
    r->solved = status == SADDLE_OK && sides > 0 && good(r, 0) && (sides < 2 || good(r, 1));
    if (t->watch.late) snprintf(r->why, sizeof r->why, "took over %g s", t->limit);
    return status;
}

ldlt_result ldlt_try_twice(ldlt_bench *t, const saddle_options *o, int sides, ldlt_result *again)
{
    ldlt_result r = nothing();
    saddle_solver *solver = NULL;
    const saddle_hooks hooks = bench_limited(&t->watch, t->a, t->limit);
    saddle_status status = saddle_create(&solver, o, &hooks, t->message);
    if (status != SADDLE_OK) snprintf(r.why, sizeof r.why, "%.90s", t->message);
    if (status == SADDLE_OK) status = set_up(t, solver, o->method == SADDLE_METHOD_DIRECT, &r);
    status = solve_sides(t, solver, sides, status, &r);
    if (again) *again = nothing();
    if (again && status == SADDLE_OK) {
        bench_limited(&t->watch, t->a, t->limit); /* as much time again */
        status = factor(t, solver, again);
        solve_sides(t, solver, sides, status, again);
    }
    saddle_destroy(&solver);
    return r;
}

ldlt_result ldlt_try(ldlt_bench *t, const saddle_options *o, int sides)
{
    return ldlt_try_twice(t, o, sides, NULL);
}

double ldlt_iterations(const ldlt_result *r)
{
    if (r->iterations[0] < 0 || r->iterations[1] < 0) return NAN;
    return fmax((double)r->iterations[0], (double)r->iterations[1]);
}

/* The larger of two; NaN where one is. */
static double larger(double one, double two)
{
    return isnan(one) || isnan(two) ? NAN : fmax(one, two);
}

double ldlt_backward(const ldlt_result *r)
{
    return larger(r->backward[0], r->backward[1]);
}

double ldlt_other_error(const ldlt_result *r)
{
    return larger(fmin(r->residual[0], r->componentwise[0]), fmin(r->residual[1], r->componentwise[1]));
}

double ldlt_setup(const ldlt_result *r)
{
    return r->analysis + r->factor;
}

double ldlt_solve_time(const ldlt_result *r)
{
    return larger(r->solve[0], r->solve[1]);
}

double ldlt_stored(const ldlt_result *r, int64_t nnz)
{
    const bool known = r->run && r->info.factor_nnz >= 0 && nnz > 0 && !isnan(r->factor);
    return known ? (double)r->info.factor_nnz / (double)nnz : NAN;
}
