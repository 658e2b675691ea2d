/*
 * The direct solver on a GPU held against the CPU, on every symmetric matrix of files and folders: it must
 * end in the same way, be as accurate, count the same inertia and be as certain of it; and a second solver on
 * the GPU must give the same bits, of x and of D. Only the public interface is used. Not installed;
 * build/bench/compare_direct.
 *
 *     compare_direct [--device cuda|reference|cpu] [--options name=value,...] MATRIX|FOLDER...
 *
 * An operand that is no file names a problem that is made, as for saddle bench. A line a matrix; a mismatch
 * says what it is. Exits with 1 where there is one, with 2 where a matrix cannot be read.
 */
#include "bench/bench.h"
#include "bench/operands.h"
#include "bench/peers/timing.h"
#include "bench/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As accurate: within a factor, or below what rounding leaves. */
#define TIMES 10.0
#define ROUNDING 4e-16
#define COARSE 1e3 /* by which the first solution may be worse: pivots may come in another order */
#define FINE 1e-12

typedef struct outcome {
    saddle_status status;
    saddle_info info;
    double factor, *x, *d;
} outcome;

static void outcome_free(outcome *o)
{
    free(o->x);
    free(o->d);
    *o = (outcome){0};
}

/* Factors, solves for A times ones, asks. What a failure is shows in the status. */
static void run(const saddle_matrix *A, const char *device, const char *list, outcome *o)
{
    const int64_t n = A->rows;
    saddle_options options = saddle_options_default();
    saddle_solver *solver = NULL;
    char words[512], message[SADDLE_MESSAGE_SIZE] = "";
    *o = (outcome){.info = saddle_info_default()};
    o->x = malloc(((size_t)n + 1) * sizeof *o->x);
    o->d = calloc(2 * (size_t)n + 1, sizeof *o->d);
    double *b = malloc(((size_t)n + 1) * sizeof *b);
    snprintf(words, sizeof words, "method=direct device=%s %s", device, list);
    for (char *c = words; *c; ++c)
        if (*c == ',') *c = ' ';
    bench_set(&options, words);
    o->status = o->x && o->d && b ? saddle_create(&solver, &options, NULL, message) : SADDLE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n && o->status == SADDLE_OK; ++i) o->x[i] = 1.0;
    if (o->status == SADDLE_OK) o->status = saddle_multiply(A, 1, o->x, n, b, n, 0, NULL, message);
    const double began = timing_now();
    if (o->status == SADDLE_OK) o->status = saddle_factor(solver, A);
    o->factor = timing_now() - began;
    if (o->status == SADDLE_OK) o->status = saddle_solve(solver, 1, b, n, o->x, n, &o->info);
    if (solver && o->status == SADDLE_OK) o->status = saddle_get_pivots(solver, NULL, o->d);
    if (!o->info.message[0]) snprintf(o->info.message, sizeof o->info.message, "%.200s", message);
    free(b);
    saddle_destroy(&solver);
}

static bool worse(double mine, double other, double times, double fine)
{
    return !(mine <= fmax(times * other, fine)) && !(isnan(mine) && isnan(other));
}

static int told;
static void tell(const char *what, double mine, double other)
{
    printf("%s %s: %.6g, CPU %.6g", told++ ? ";" : "  MISMATCH", what, mine, other);
}

/* How many of these numbers differ, where first, and by how much of the largest. */
static void compare_bits(const char *what, const double *one, const double *other, int64_t count)
{
    int64_t differ = 0, first = -1;
    double most = 0.0, largest = 0.0;
    for (int64_t k = 0; k < count; ++k) {
        largest = fmax(largest, fabs(one[k]));
        if (memcmp(&one[k], &other[k], sizeof *one) == 0) continue;
        if (differ++ == 0) first = k;
        most = fmax(most, fabs(one[k] - other[k]));
    }
    if (differ > 0)
        printf("%s other bits of %s: %lld of %lld, the first at %lld (%.17g, %.17g), at most %.1e of the "
               "largest",
               told++ ? ";" : "  MISMATCH", what, (long long)differ, (long long)count, (long long)first,
               one[first], other[first], most / largest);
}

static void compare(const outcome *gpu, const outcome *again, const outcome *cpu, int64_t n)
{
    const saddle_info *g = &gpu->info, *c = &cpu->info;
    const bool certain = g->inertia_certain && c->inertia_certain;
    if (gpu->status != cpu->status) tell("status", gpu->status, cpu->status);
    if (gpu->status != cpu->status) printf(" (%s | %s)", g->message, c->message);
    if (g->converged != c->converged) tell("converged", g->converged, c->converged);
    if (worse(g->backward_error, c->backward_error, TIMES, ROUNDING))
        tell("backward error", g->backward_error, c->backward_error);
    if (worse(g->componentwise_error, c->componentwise_error, TIMES, ROUNDING))
        tell("componentwise error", g->componentwise_error, c->componentwise_error);
    if (worse(g->first_error, c->first_error, COARSE, FINE))
        tell("error before refinement", g->first_error, c->first_error);
    if (g->inertia_certain != c->inertia_certain) tell("certain", g->inertia_certain, c->inertia_certain);
    if (certain && g->inertia_negative != c->inertia_negative)
        tell("negative", (double)g->inertia_negative, (double)c->inertia_negative);
    if (certain && g->inertia_zero != c->inertia_zero)
        tell("zero", (double)g->inertia_zero, (double)c->inertia_zero);
    compare_bits("x", gpu->x, again->x, n);
    compare_bits("D", gpu->d, again->d, 2 * n);
}

/* Whether it is as it should be. */
static bool check(const bench_problem *p, const char *device, const char *list)
{
    outcome cpu, gpu, again;
    const saddle_matrix *A = &p->A;
    run(A, "cpu", list, &cpu);
    run(A, device, list, &gpu);
    run(A, device, list, &again);
    printf("%-34s n %8lld %9.3g flop  negative %lld%s  error %.0e %.0e (CPU %.0e %.0e)  %lld delays (%lld)  "
           "waits %lld",
           p->matrix.name, (long long)A->rows, (double)gpu.info.factor_flops,
           (long long)gpu.info.inertia_negative, gpu.info.inertia_certain ? "" : " in doubt",
           gpu.info.first_error, gpu.info.backward_error, cpu.info.first_error, cpu.info.backward_error,
           (long long)gpu.info.delayed, (long long)cpu.info.delayed, (long long)gpu.info.waits);
    told = 0;
    compare(&gpu, &again, &cpu, A->rows);
    puts(told ? "" : "  same");
    fflush(stdout);
    outcome_free(&cpu);
    outcome_free(&gpu);
    outcome_free(&again);
    return !told;
}

int main(int argc, char **argv)
{
    const saddle_hooks hooks = saddle_hooks_default();
    const char *device = "cuda", *list = "";
    bench_operands operands = {0};
    int status = EXIT_DONE, compared = 0, mismatches = 0;
    for (int k = 1; k < argc && status == EXIT_DONE; ++k) {
        if (k + 1 < argc && strcmp(argv[k], "--device") == 0)
            device = argv[++k];
        else if (k + 1 < argc && strcmp(argv[k], "--options") == 0)
            list = argv[++k];
        else
            status = bench_operands_add(&operands, argv[k]);
    }
    for (int64_t k = 0; k < operands.count; ++k) {
        bench_problem p;
        const int opened = bench_problem_open(&p, operands.paths[k], &hooks);
        if (opened != EXIT_DONE) status = opened;
        if (opened != EXIT_DONE) continue;
        if (p.symmetric) ++compared, mismatches += !check(&p, device, list);
        bench_problem_free(&p);
    }
    printf("%d symmetric matrices, %d mismatches\n", compared, mismatches);
    bench_operands_free(&operands);
    return status != EXIT_DONE ? EXIT_USAGE : mismatches > 0;
}
