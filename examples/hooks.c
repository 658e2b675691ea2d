/*
 * The caller's own functions: where memory comes from, where log lines go, how far the work has got,
 * and how to stop it.
 *
 * The system is a Laplacian on a line with a shift that makes it indefinite. It is solved once with
 * an allocator that counts, then again and cancelled after a few iterations: x is then the best
 * solution so far, and all memory has been released.
 */
#include <saddle/saddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2000 };

typedef struct watch {
    long pieces;        /* currently allocated */
    long calls, cancel; /* progress calls, and the one to cancel at (0: never) */
} watch;

static void *allocate(size_t bytes, void *user)
{
    void *memory = malloc(bytes);
    if (memory) ++((watch *)user)->pieces;
    return memory;
}

static void release(void *memory, void *user)
{
    if (memory) --((watch *)user)->pieces;
    free(memory);
}

static void log_line(int level, const char *line, void *user)
{
    (void)user;
    printf("  log %d: %s\n", level, line);
}

static int progress(const saddle_progress *p, void *user)
{
    watch *w = user;
    ++w->calls;
    if (strcmp(p->stage, "solve") == 0 && p->done % 5 == 0)
        printf("  iteration %lld, residual %.1e\n", (long long)p->done, p->residual);
    return w->calls == w->cancel;
}

static saddle_status solve(const saddle_matrix *A, const double *b, double *x, watch *w)
{
    const saddle_hooks hooks = {.size = sizeof hooks,
                                .allocate = allocate,
                                .release = release,
                                .log = log_line,
                                .progress = progress,
                                .user = w};
    saddle_info info = saddle_info_default();
    saddle_solver *solver = NULL;
    saddle_status status = saddle_create(&solver, NULL, &hooks, NULL);
    if (status == SADDLE_OK) status = saddle_factor(solver, A);
    if (status == SADDLE_OK) status = saddle_solve(solver, 1, b, N, x, N, &info);
    printf("%s %s\n", saddle_status_text(status), info.message);
    saddle_destroy(&solver);
    return status;
}

int main(void)
{
    static int32_t colptr[N + 1], rowind[2 * N];
    static double values[2 * N], b[N], x[N];
    int32_t k = 0;
    for (int32_t j = 0; j < N; ++j) {
        colptr[j] = k;
        rowind[k] = j;
        values[k++] = j % 2 ? 3 : -3; /* half of the eigenvalues are negative */
        if (j + 1 < N) {
            rowind[k] = j + 1;
            values[k++] = -1;
        }
        b[j] = 1 + j % 7;
    }
    colptr[N] = k;
    const saddle_matrix A = saddle_symmetric(N, colptr, rowind, values);

    watch w = {0, 0, 0};
    if (solve(&A, b, x, &w) != SADDLE_OK || w.calls == 0) return 1;
    w.calls = 0;
    w.cancel = 10;
    if (solve(&A, b, x, &w) != SADDLE_CANCELLED) return 1;
    printf("%ld pieces of memory left\n", w.pieces);
    return w.pieces == 0 ? 0 : 1;
}
