/*
 * Block LDL' on the GPU against the CPU's cores: the factorization on a known pattern, the triangular solves,
 * and what they cost beside a copy of the same bytes.
 *
 *     cuda_ldlt [PROBLEM...]
 *
 * PROBLEM is a file or a family as `saddle bench` takes them (lap3d_100, kktz_700 and stokes3d_25 where none
 * is given), with @FILL behind it where fill is not to be the default. The pattern is found once on the host
 * with method ldlt's defaults; then all is measured in double and in single. Times are the best of several;
 * the floor of a solve counts all numbers of the factors and their lists once for each triangle, and the
 * vectors. Beside them: the largest difference between the devices over the largest entry, and whether two
 * runs had the same bits. A second line has what the cost model (factor/trisolve_cost.h) predicts of
 * the solves on the GPU.
 */
#include "bench/kernels/engine_timing.h"
#include "bench/problem.h"
#include "factor/ldlt_run.h"
#include "method/ldlt/ldlt.h"
#include "solver/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOLVES = 20 };

/* The factors of a solver with method ldlt. */
static const sd_block_ldlt *factors_of(const saddle_solver *s)
{
    return &((const sd_ldlt_state *)sd_find_work(s, &sd_method_ldlt)->factors)->m;
}

/* What a device makes of a problem. */
typedef struct outcome {
    double refactor, solve, copy; /* seconds; bytes a second */
    double sweeps, swept;         /* eight sweeps of the factorization; one over both triangles of a solve */
    double entries;               /* one over the single entries of both triangles */
    double *x;                    /* M^-1 b, on the host */
    bool same;
} outcome;

/* Times solves of b; x is what comes out, on the host. */
static double time_solves(sd_engine *e, const sd_ldlt_factors *f, const double *b, double *x, bool *same)
{
    const int32_t n = f->n;
    sd_vector r = sd_vector_new(e, f->precision, n, "b"), z = sd_vector_new(e, f->precision, n, "x");
    sd_vector work = sd_vector_new(e, f->precision, 2 * (int64_t)n, "work");
    double *again = sd_alloc(e->context, n, sizeof *again, "x");
    check(e->context, e->context->status);
    sd_vector_put(e, b, &r);
    sd_ldlt_solve(e, f, &r, &z, &work);
    sd_vector_get(e, &z, x);
    BEST_OF(best, e, &z, SOLVES, sd_ldlt_solve(e, f, &r, &z, &work));
    sd_vector_get(e, &z, again);
    check(e->context, e->status);
    *same = memcmp(x, again, (size_t)n * sizeof *x) == 0;
    sd_vector_free(e, &r);
    sd_vector_free(e, &z);
    sd_vector_free(e, &work);
    sd_free(e->context, again);
    return best;
}

/* One sweep over each triangle, over blocks or single entries. */
static void sweep_both(sd_engine *e, const sd_ldlt_factors *f, bool entries, sd_vector *v)
{
    if (entries) {
        sd_ldlt_sweep_entries(e, f, SD_LDLT_FORWARD, &v[0], &v[1], &v[2]);
        sd_ldlt_sweep_entries(e, f, SD_LDLT_BACKWARD, &v[0], &v[2], &v[1]);
    } else {
        sd_ldlt_sweep(e, f, true, &v[0], &v[1], &v[2]);
        sd_ldlt_sweep(e, f, false, &v[0], &v[2], &v[1]);
    }
}

/* Its seconds. */
static double time_sweeps(sd_engine *e, const sd_ldlt_factors *f, bool entries)
{
    sd_vector v[3];
    for (int k = 0; k < 3; ++k) v[k] = sd_vector_new(e, f->precision, 2 * (int64_t)f->n, "vectors");
    check(e->context, e->status);
    BEST_OF(best, e, &v[2], SOLVES, sweep_both(e, f, entries, v));
    for (int k = 0; k < 3; ++k) sd_vector_free(e, &v[k]);
    return best;
}

static const sd_batch_rule rule = {.kernel = SD_LDLT_BUNCH_KAUFMAN, .small = 1e-8};

/* Factorizations by levels and by eight sweeps; by levels it is left. */
static void time_factors(sd_engine *e, const sd_operator *op, sd_block_ldlt *m, outcome *o)
{
    const sd_sweep_rule sweeps = {.pivots = rule, .relax = 1, .sweeps = 8};
    bool *weak = malloc((size_t)m->plan.blocks * sizeof *weak);
    sd_ldlt_counts counts;
    double residual;
    for (int k = 0; k < 2; ++k) {
        const double begin = sd_seconds();
        check(e->context, sd_ldlt_run_sweeps(e, &m->schedule, &op->sparse, &sweeps, weak, &m->numbers,
                                             &counts, &residual));
        o->sweeps = fmin(o->sweeps, sd_seconds() - begin);
    }
    free(weak);
    for (int k = 0; k < REPEATS; ++k) {
        const double begin = sd_seconds();
        check(e->context, sd_ldlt_refactor(e, &m->schedule, &op->sparse, &rule, &m->numbers, &counts));
        o->refactor = fmin(o->refactor, sd_seconds() - begin);
    }
}

static outcome measure(const saddle_solver *s, int device, sd_precision precision, const double *b)
{
    outcome o = {.refactor = INFINITY, .sweeps = INFINITY, .x = malloc((size_t)s->A.n * sizeof *o.x)};
    sd_context c;
    sd_device d;
    sd_engine e;
    sd_operator op;
    sd_csr whole = {0};
    sd_context_init(&c, NULL, 0);
    check(&c, sd_device_open(&c, &d, device, 0));
    check(&c, sd_engine_open(&c, &d, &e, sd_thread_count(0)));
    check(&c, sd_engine_reserve(&e, s->A.n, NULL));
    o.copy = copy_rate(&e, (int64_t)(device == SADDLE_DEVICE_CPU ? 128 : 512) << 20);
    check(&c, sd_operator_make(&e, &s->A, precision, SD_SUMS_BY_SLICES, &op));
    if (s->A.half && !op.sparse.half) check(&c, sd_csr_expand(&c, &s->A, &whole));
    /* a run on the solver's plan */
    sd_block_ldlt m = {
        .preparation = factors_of(s)->preparation, .exponent = op.exponent, .plan = factors_of(s)->plan};
    check(&c, sd_ldlt_begin_run(&e, &m, whole.ptr ? &whole : &s->A, precision));
    sd_csr_free(&c, &whole);
    time_factors(&e, &op, &m, &o);
    check(&c, sd_ldlt_place(&e, &m));
    check(&c, sd_ldlt_place_entries(&e, rule.kernel, &m));
    o.swept = time_sweeps(&e, &m.factors, false);
    o.entries = time_sweeps(&e, &m.factors, true);
    o.solve = time_solves(&e, &m.factors, b, o.x, &o.same);
    m.plan = (sd_ldlt_plan){0};
    sd_block_ldlt_free(&e, &m);
    sd_operator_free(&e, &op);
    sd_engine_close(&e);
    sd_device_close(&c, &d);
    return o;
}

static void report(const char *name, const saddle_solver *s, sd_precision precision, const outcome *cpu,
                   const outcome *gpu)
{
    const sd_ldlt_plan *plan = &factors_of(s)->plan;
    const double number = (double)sd_precision_size(precision);
    const double bytes =
        2 * number * (double)(plan->entries + plan->square[plan->blocks] + 2 * (int64_t)plan->n) +
        (double)plan->row[plan->blocks] * (double)sizeof *plan->list +
        2.0 * plan->blocks * (2 * sizeof *plan->row + sizeof *plan->square + sizeof *plan->start);
    double error = 0, size = 0;
    for (int32_t i = 0; i < plan->n; ++i) {
        error = fmax(error, fabs(cpu->x[i] - gpu->x[i]));
        size = fmax(size, fabs(cpu->x[i]));
    }
    const double floor = bytes / gpu->copy;
    printf("%-18s %9d %7d %6d %6.1f | %9.2f %9.2f %6.1f | %8.3f %8.3f %6.1f | %8.3f %5.2f | %9.2f %8.2f | "
           "%8.3f %8.3f | %8.3f %8.3f | %.0e %s\n",
           name, plan->n, plan->blocks, plan->levels, number * (double)plan->entries / 1e6,
           1e3 * cpu->refactor, 1e3 * gpu->refactor, cpu->refactor / gpu->refactor, 1e3 * cpu->solve,
           1e3 * gpu->solve, cpu->solve / gpu->solve, 1e3 * floor, floor / gpu->solve, 1e3 * cpu->sweeps,
           1e3 * gpu->sweeps, 1e3 * cpu->swept, 1e3 * gpu->swept, 1e3 * cpu->entries, 1e3 * gpu->entries,
           error / size, cpu->same && gpu->same ? "same bits" : "OTHER BITS");
}

/* What the model says of the GPU's solves, in the same columns. */
static void report_predicted(const saddle_solver *s, sd_precision precision)
{
    const sd_trisolve_work w = sd_ldlt_work_of(&factors_of(s)->plan, precision);
    printf("%-18s %31s | %26s | %8s %8.3f %6s | %14s | %18s | %8s %8.3f |\n", "  predicted", "", "", "",
           1e3 * sd_trisolve_cost_exact(&sd_trisolve_gpu, &w), "", "", "", "",
           1e3 * (sd_trisolve_cost_swept(&sd_trisolve_gpu, &w, 2) -
                  sd_trisolve_cost_swept(&sd_trisolve_gpu, &w, 1)));
    fflush(stdout);
}

static void run_problem(const char *given)
{
    char message[SADDLE_MESSAGE_SIZE], name[256];
    const char *fill = strchr(given, '@');
    const saddle_hooks hooks = {.size = sizeof hooks};
    bench_problem p;
    saddle_options o = saddle_options_default();
    saddle_solver *s = NULL;
    o.method = SADDLE_METHOD_LDLT;
    snprintf(name, sizeof name, "%.*s", fill ? (int)(fill - given) : (int)sizeof name - 1, given);
    if ((fill && saddle_options_set(&o, "fill", fill + 1, message)) ||
        bench_problem_load(&p, name, &hooks, message) || saddle_create(&s, &o, NULL, message)) {
        fprintf(stderr, "%s: %s\n", name, message);
        exit(1);
    }
    check(&s->c, saddle_factor(s, &p.A));
    double *b = malloc((size_t)s->A.n * sizeof *b);
    for (int32_t i = 0; i < s->A.n; ++i) b[i] = (double)((uint32_t)i * 2654435761u) / 4294967296.0 - 0.5;
    for (sd_precision precision = SD_DOUBLE; precision < SD_PRECISIONS; ++precision) {
        outcome cpu = measure(s, SADDLE_DEVICE_CPU, precision, b);
        outcome gpu = measure(s, SADDLE_DEVICE_CUDA, precision, b);
        report(given, s, precision, &cpu, &gpu);
        report_predicted(s, precision);
        free(cpu.x);
        free(gpu.x);
    }
    free(b);
    saddle_destroy(&s);
    bench_problem_free(&p);
}

int main(int argc, char **argv)
{
    const char *const usual[] = {"lap3d_100", "kktz_700", "stokes3d_25"};
    printf("milliseconds; CPU with %d threads\n%-18s %9s %7s %6s %6s | %9s %9s %6s | %8s %8s %6s | %8s %5s | "
           "%9s %8s | %8s %8s | %8s %8s |\n",
           sd_thread_count(0), "", "n", "blocks", "levels", "MB", "refactor", "cuda", "times", "solve",
           "cuda", "times", "floor", "share", "8 sweeps", "cuda", "sweep", "cuda", "entries", "cuda");
    for (int k = 1; k < argc; ++k) run_problem(argv[k]);
    for (int k = 0; k < 3 && argc == 1; ++k) run_problem(usual[k]);
    return 0;
}
