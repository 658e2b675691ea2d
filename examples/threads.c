/*
 * Several threads solve concurrently on one factored solver. Each has its own b, x and info; the solver
 * itself is only read. The same b gives the same bits in every thread.
 */
#include <saddle/saddle.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { M = 60, N = M * M, THREADS = 4 };

typedef struct task {
    const saddle_solver *solver;
    double b[N], x[N];
    saddle_info info;
    saddle_status status;
} task;

static void *work(void *argument)
{
    task *t = argument;
    t->info = saddle_info_default();
    t->status = saddle_solve(t->solver, 1, t->b, N, t->x, N, &t->info);
    return NULL;
}

int main(void)
{
    /* The 5-point Laplacian on an M x M grid, lower triangle by columns. */
    static int32_t colptr[N + 1], rowind[3 * N];
    static double values[3 * N];
    int32_t k = 0;
    for (int32_t j = 0; j < N; ++j) {
        colptr[j] = k;
        rowind[k] = j, values[k++] = 4;
        if (j % M < M - 1) rowind[k] = j + 1, values[k++] = -1;
        if (j + M < N) rowind[k] = j + M, values[k++] = -1;
    }
    colptr[N] = k;
    const saddle_matrix A = saddle_symmetric(N, colptr, rowind, values);

    /* One thread inside each solve: here the parallelism is the caller's. */
    saddle_options options = saddle_options_default();
    options.threads = 1;
    saddle_solver *solver = NULL;
    if (saddle_create(&solver, &options, NULL, NULL) != SADDLE_OK) return 1;
    if (saddle_factor(solver, &A) != SADDLE_OK) {
        fprintf(stderr, "%s\n", saddle_message(solver));
        saddle_destroy(&solver);
        return 1;
    }

    static task tasks[THREADS];
    pthread_t threads[THREADS];
    int started = 0, failed = 0;
    for (; started < THREADS; ++started) {
        task *t = &tasks[started];
        t->solver = solver;
        for (int i = 0; i < N; ++i) t->b[i] = started < 2 ? 1 : i % (started + 1); /* 0 and 1 are equal */
        if (pthread_create(&threads[started], NULL, work, t) != 0) break;
    }
    for (int t = 0; t < started; ++t) {
        pthread_join(threads[t], NULL);
        const saddle_info *info = &tasks[t].info;
        printf("thread %d: %s, %lld iterations, relative residual %.1e\n", t,
               saddle_status_text(tasks[t].status), (long long)info->iterations, info->relative_residual);
        failed += tasks[t].status != SADDLE_OK;
    }
    saddle_destroy(&solver);
    const int same = started == THREADS && memcmp(tasks[0].x, tasks[1].x, sizeof tasks[0].x) == 0;
    printf("threads 0 and 1: %s\n", same ? "the same bits" : "DIFFERENT");
    return !failed && same ? 0 : 1;
}
