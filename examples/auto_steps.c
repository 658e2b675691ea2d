/*
 * What method "auto" does with a matrix, step by step: the library's log says which methods it tries and why
 * it goes on to the next. The second factorization of the same values shows what the first solve has taught
 * it.
 *
 *     auto_steps A.mtx[.gz] [OPTION=VALUE ...]
 */
#include <saddle/saddle.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static void note_interruption(int number)
{
    (void)number;
    interrupted = 1;
}

static void print_log(int level, const char *message, void *user)
{
    (void)user;
    if (level <= SADDLE_LOG_INFO) printf("    %s\n", message);
}

static int cancel(const saddle_progress *progress, void *user)
{
    (void)progress, (void)user;
    return interrupted;
}

static void print_end(const char *when, const saddle_info *info)
{
    char method[32], krylov[32], reason[64];
    saddle_info_get(info, "method", method, sizeof method);
    saddle_info_get(info, "krylov", krylov, sizeof krylov);
    saddle_info_get(info, "reason", reason, sizeof reason);
    printf("  %s %s + %s", when, method, krylov);
    if (info->fill_tau > 0) printf(", fill above %.0e", info->fill_tau);
    printf(": %s, %lld iterations, backward error %.1e; factor %.2f s, solve %.2f s\n",
           info->status ? saddle_status_text(info->status) : reason, (long long)info->iterations,
           info->backward_error, info->time_factor, info->time_solve);
    fflush(stdout);
}

/* Options as OPTION=VALUE. */
static saddle_status set_options(int count, char **words, saddle_options *options, char *message)
{
    saddle_status status = SADDLE_OK;
    for (int k = 0; k < count && !status; ++k) {
        char *value = strchr(words[k], '=');
        if (value) *value++ = 0;
        status = saddle_options_set(options, words[k], value ? value : "", message);
    }
    return status;
}

/* Factors and solves twice; x follows b in memory. */
static saddle_status solve_twice(const saddle_matrix *A, const saddle_options *options, double *b,
                                 char *message)
{
    saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    saddle_hooks hooks = saddle_hooks_default();
    hooks.log = print_log;
    hooks.progress = cancel;
    saddle_status status = saddle_create(&solver, options, &hooks, message);
    if (status) return status;
    for (int pass = 0; pass < 2 && !status; ++pass) {
        status = saddle_factor(solver, A);
        saddle_query(solver, &info);
        if (!status) status = saddle_solve(solver, 1, b, A->rows, b + A->rows, A->rows, &info);
        print_end(pass ? "second:" : "first: ", &info);
        if (status == SADDLE_NOT_CONVERGED) status = SADDLE_OK; /* as printed */
    }
    snprintf(message, SADDLE_MESSAGE_SIZE, "%s", info.message);
    saddle_destroy(&solver);
    return status;
}

int main(int argc, char **argv)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_matrix A = {0};
    saddle_options options = saddle_options_default();
    double *b = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: auto_steps A.mtx[.gz] [OPTION=VALUE ...]\n");
        return 2;
    }
    sigaction(SIGINT, &(struct sigaction){.sa_handler = note_interruption}, NULL);
    saddle_status status = set_options(argc - 2, argv + 2, &options, message);
    if (!status) status = saddle_read_matrix(argv[1], NULL, &A, message);
    if (!status) b = malloc((2 * (size_t)A.rows + 1) * sizeof *b);
    if (!status && !b) status = SADDLE_OUT_OF_MEMORY;
    if (!status) {
        for (int64_t i = 0; i < A.rows; ++i) b[A.rows + i] = 1;
        status = saddle_multiply(&A, 1, b + A.rows, A.rows, b, A.rows, 0, NULL, message);
    }
    if (!status) status = solve_twice(&A, &options, b, message);
    if (status) fprintf(stderr, "auto_steps: %s: %s\n", saddle_status_text(status), message);
    free(b);
    saddle_matrix_free(&A, NULL);
    return status != SADDLE_OK;
}
