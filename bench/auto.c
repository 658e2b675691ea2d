/*
 * `saddle bench auto`: what `auto` does with a matrix, step by step. The solver's log tells which methods it
 * tries and why it leaves one for the next; the second factorization of the same values shows what the first
 * solve has taught it (src/solver/policy.h).
 */
#include "bench/bench.h"
#include "bench/problem.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_log(int level, const char *message, void *user)
{
    (void)user;
    if (level <= SADDLE_LOG_INFO) printf("    %s\n", message);
}

static void print_end(const char *when, const saddle_info *info)
{
    char method[24], krylov[24];
    printf("  %-6s %s + %s", when, saddle_option_word("method", info->method, method, sizeof method),
           saddle_option_word("krylov", info->krylov, krylov, sizeof krylov));
    if (info->fill_tau > 0) printf(", fill beyond %.0e", info->fill_tau);
    printf(": %s, %" PRId64 " iterations, backward error %.1e; factor %.2f s, solve %.2f s\n",
           info->status ? saddle_status_text(info->status) : saddle_reason_text(info->reason),
           info->iterations, info->backward_error, info->time_factor, info->time_solve);
    fflush(stdout);
}

/* Factors and solves once and again; x is what follows b. */
static saddle_status solve_twice(const saddle_matrix *A, const saddle_options *options,
                                 const saddle_hooks *hooks, double *b, char *message)
{
    saddle_solver *solver;
    saddle_info info = saddle_info_default();
    saddle_status status = saddle_create(&solver, options, hooks, message);
    if (status) return status;
    for (int pass = 0; pass < 2 && !status; ++pass) {
        status = saddle_factor(solver, A);
        if (!status) status = saddle_solve(solver, 1, b, A->rows, b + A->rows, A->rows, &info);
        print_end(pass ? "again" : "first", &info);
        if (status == SADDLE_NOT_CONVERGED) status = SADDLE_OK; /* which the line says */
    }
    snprintf(message, SADDLE_MESSAGE_SIZE, "%s", info.message);
    saddle_destroy(&solver);
    return status;
}

static int run_auto(const arguments *a)
{
    char message[SADDLE_MESSAGE_SIZE];
    saddle_hooks hooks = progress_begin(a);
    saddle_status status = SADDLE_OK;
    hooks.log = print_log;
    for (int k = 0; k < a->operand_count && !status; ++k) {
        bench_problem p;
        status = bench_problem_load(&p, a->operands[k], &hooks, message);
        if (status) break;
        printf("%s: n %" PRId64 ", %" PRId64 " entries\n", a->operands[k], p.A.rows, p.A.entries);
        double *b = malloc(2 * (size_t)p.A.rows * sizeof *b);
        for (int64_t i = 0; b && i < p.A.rows; ++i) b[i] = b[p.A.rows + i] = 1;
        status = b ? saddle_multiply(&p.A, 1, b + p.A.rows, p.A.rows, b, p.A.rows, 0, &hooks, message)
                   : SADDLE_OUT_OF_MEMORY;
        if (!status) status = solve_twice(&p.A, &a->library, &hooks, b, message);
        free(b);
        bench_problem_free(&p);
    }
    return status ? fail(exit_status(status), "%s", message) : EXIT_DONE;
}

static const option auto_options[] = {OPTION_END};

const command command_auto = {
    .name = "auto",
    .operands = "MATRIX...",
    .help = "what auto tries for a matrix, in which order",
    .about =
        "Factors and solves every matrix twice with the method left to auto, and prints what it tries, "
        "why it moves on to the next, and what the second factorization has learned from the first solve.",
    .examples = "  saddle bench auto lap3d_60 helm3d_40 stokes3d_25 --max-memory 2G\n",
    .options = auto_options,
    .library = "krylov|maxiter|tol|stop|device|threads|max_memory",
    .least = 1,
    .most = 1000,
    .run = run_auto,
};
