/*
 * BiCGSTAB with block-Jacobi on real matrices, as Anzt et al. (Variable-size batched Gauss-Huard, section 4)
 * compare Gauss-Jordan and Gauss-Huard: b is ones, x begins at 0, the relative residual is to reach 1e-6
 * within 10,000 iterations. Each matrix is solved with blocks of 1, 8, 16 and 32 rows by every kernel; of 1
 * row by one of them, as they do the same there.
 */
#include "bench/blocks/blocks.h"
#include "bench/problem.h"
#include "cli/memory.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_SECONDS 0.1 /* what takes less is repeated, and the best time counts */

typedef struct solve_bench {
    blocks_report *report;
    bench_limit limit;
    bench_problem problem;
    double *b, *x;
    char message[SADDLE_MESSAGE_SIZE];
} solve_bench;

static const char *const solvers[BLOCKS_KERNELS] = {"jordan", "huard", "huard-t", "lu", "ldlt", "llt"};

bool block_solver_known(const char *name, size_t length)
{
    for (int k = 0; k < BLOCKS_KERNELS; ++k)
        if (strlen(solvers[k]) == length && strncmp(name, solvers[k], length) == 0) return true;
    return false;
}

/* Whether a name is in a list with commas. */
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == 0 || at[length] == ',')) return true;
    return false;
}

int blocks_kernels(const arguments *a, bool symmetric, const char **names)
{
    static const int numbers[] = {SADDLE_BLOCK_KERNEL_JORDAN,  SADDLE_BLOCK_KERNEL_HUARD,
                                  SADDLE_BLOCK_KERNEL_HUARD_T, SADDLE_BLOCK_KERNEL_LU,
                                  SADDLE_BLOCK_KERNEL_LDLT,    SADDLE_BLOCK_KERNEL_LLT};
    const int only = a->library.block_kernel;
    const bool chosen = argument_given(a, "kernel") && !argument_given(a, "part");
    int count = 0;
    for (int k = 0; k < BLOCKS_KERNELS; ++k) {
        if (only != SADDLE_BLOCK_KERNEL_AUTO && only != numbers[k]) continue;
        if (chosen && !is_listed(argument_text(a, "kernel"), solvers[k])) continue;
        if (k < 4 || symmetric) names[count++] = solvers[k];
    }
    return count;
}

int blocks_sizes(const arguments *a, int64_t *sizes)
{
    static const int64_t all[BLOCKS_SIZES] = {1, 8, 16, 32};
    if (a->library.block_size > 0) {
        sizes[0] = a->library.block_size;
        return 1;
    }
    memcpy(sizes, all, sizeof all);
    return BLOCKS_SIZES;
}

static saddle_options options_of(const blocks_report *r, const block_solve *s)
{
    char words[160];
    saddle_options o = r->a->library;
    snprintf(words, sizeof words,
             "method=bjacobi krylov=bicgstab stop=residual tol=1e-6 maxiter=10000 block_kernel=%s "
             "block_size=%" PRId64 " device=%s",
             s->kernel, s->block_size, r->device);
    bench_set(&o, words);
    o.threads = argument_count(r->a, "threads");
    return o;
}

static void take_info(solve_bench *t, saddle_status status, block_solve *s)
{
    const char *reason = t->limit.late ? "took too long" : saddle_reason_text(s->info.reason);
    s->solved = status == SADDLE_OK;
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    s->prepare = s->info.time_prepare + s->info.time_plan;
    s->factor = fmin(s->factor, s->info.time_factor);
    s->solve = fmin(s->solve, s->info.time_solve);
}

/* Matrices that are not solved are what is counted; only what cannot be run at all is a failure. */
static int solve_one(solve_bench *t, block_solve *s)
{
    const int64_t n = t->problem.A.rows;
    const saddle_options o = options_of(t->report, s);
    saddle_solver *solver = NULL;
    const saddle_hooks hooks = bench_limited(&t->limit, t->report->a, argument_real(t->report->a, "limit"));
    s->info = saddle_info_default();
    saddle_status status = saddle_create(&solver, &o, &hooks, t->message);
    if (status != SADDLE_OK) return fail(exit_status(status), "%s", t->message);
    const double began = seconds();
    s->factor = s->solve = INFINITY;
    status = saddle_analyse(solver, &t->problem.A);
    for (int64_t k = 0; k < argument_count(t->report->a, "repeat") && status == SADDLE_OK; ++k) {
        status = saddle_factor(solver, &t->problem.A);
        if (status == SADDLE_OK)
            status = saddle_solve(solver, 1, t->b, n, t->x, n, &s->info);
        else
            saddle_query(solver, &s->info);
        take_info(t, status, s);
        if (seconds() - began > REPEAT_SECONDS) break;
    }
    const bool tried =
        status == SADDLE_OK || status == SADDLE_NOT_CONVERGED || status == SADDLE_SINGULAR || t->limit.late;
    if (!tried) fail(EXIT_DONE, "%s: %s", s->matrix, saddle_message(solver));
    saddle_destroy(&solver);
    return tried ? EXIT_DONE : exit_status(status);
}

/* All kernels and sizes for the matrix that is loaded. */
static int solve_all(solve_bench *t)
{
    blocks_report *r = t->report;
    const bench_matrix *matrix = &t->problem.matrix;
    const char *kernels[BLOCKS_KERNELS];
    int64_t sizes[BLOCKS_SIZES];
    const int kernel_count = blocks_kernels(r->a, t->problem.symmetric, kernels);
    const int size_count = blocks_sizes(r->a, sizes);
    int status = EXIT_DONE;
    for (int s = 0; s < size_count; ++s) {
        for (int k = 0; k < (sizes[s] == 1 && kernel_count > 0 ? 1 : kernel_count); ++k) {
            if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", matrix->name);
            block_solve *one = one_more(&r->solves, &r->solve_count, &r->solve_room, sizeof *one);
            if (!one) return fail(EXIT_MEMORY, "out of memory for the rows");
            snprintf(one->matrix, sizeof one->matrix, "%s", matrix->name);
            snprintf(one->kernel, sizeof one->kernel, "%s", kernels[k]);
            one->n = matrix->n;
            one->nnz = matrix->nnz;
            one->block_size = sizes[s];
            const int came = solve_one(t, one);
            if (came != EXIT_DONE) status = came;
            if (came == EXIT_USAGE || came == EXIT_DEVICE) return came;
        }
    }
    return status;
}

static int solve_operand(solve_bench *t, const char *operand)
{
    int came = bench_problem_open(&t->problem, operand, &t->limit.hooks);
    if (came != EXIT_DONE) return came;
    const size_t room = (size_t)t->problem.A.rows + 1;
    t->b = malloc(room * sizeof *t->b);
    t->x = malloc(room * sizeof *t->x);
    for (size_t i = 0; t->b && i < room; ++i) t->b[i] = 1.0;
    came = t->b && t->x ? solve_all(t) : fail(EXIT_MEMORY, "out of memory for the right-hand side");
    free(t->b);
    free(t->x);
    bench_problem_free(&t->problem);
    return came;
}

static void print_operand(const blocks_report *t, int64_t first)
{
    for (int64_t k = first; k < t->solve_count; ++k) {
        const block_solve *s = &t->solves[k];
        printf("%-20.20s%9" PRId64 "%5" PRId64 "  %-8s%9" PRId64 "%9.1e%10.5f%10.5f", s->matrix, s->n,
               s->block_size, s->kernel, s->info.iterations, s->info.relative_residual, s->factor, s->solve);
        if (s->info.replaced_blocks > 0) printf("  %" PRId64 " replaced", s->info.replaced_blocks);
        printf("%s%s\n", s->solved ? "" : "  ", s->solved ? "" : s->reason);
    }
    fflush(stdout);
}

int bench_blocks_solve(blocks_report *t, bool print)
{
    solve_bench one = {.report = t, .limit = {.hooks = progress_begin(t->a)}};
    int status = EXIT_DONE;
    if (print)
        printf("%-20s%9s%5s  %-8s%9s%9s%10s%10s\n", "BiCGSTAB", "n", "size", "kernel", "iterat.", "residual",
               "setup s", "solve s");
    for (int k = 0; k < t->a->operand_count && !progress_interrupted(); ++k) {
        const int64_t first = t->solve_count;
        const int came = solve_operand(&one, t->a->operands[k]);
        if (came != EXIT_DONE) status = came;
        progress_end();
        if (print) print_operand(t, first);
        if (came == EXIT_USAGE || came == EXIT_DEVICE) break;
    }
    progress_end();
    return progress_interrupted() ? EXIT_INTERRUPTED : status;
}
