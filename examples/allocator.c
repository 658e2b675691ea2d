/*
 * The caller's own allocator: every byte that the library uses comes from it and goes back to it.
 *
 * This one counts bytes in use, their maximum, and calls. Factoring new values on the same pattern reuses the
 * memory: the bytes in use do not grow. A limit that is too small is reported before anything is computed.
 */
#include <saddle/saddle.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 50, N = M * M };

typedef struct counter {
    size_t bytes, peak, calls;
} counter;

/* The size of an allocation is stored in front of it, in a header that preserves malloc's alignment. */
typedef union header {
    size_t bytes;
    max_align_t alignment;
} header;

static void *allocate(size_t bytes, void *user)
{
    counter *c = user;
    header *h = malloc(sizeof *h + bytes);
    if (!h) return NULL; /* the library cleans up and returns SADDLE_OUT_OF_MEMORY */
    h->bytes = bytes;
    ++c->calls;
    c->bytes += bytes;
    if (c->bytes > c->peak) c->peak = c->bytes;
    return h + 1;
}

static void release(void *memory, void *user)
{
    if (!memory) return;
    header *h = (header *)memory - 1;
    ((counter *)user)->bytes -= h->bytes;
    free(h);
}

int main(void)
{
    /* The 5-point Laplacian on an M x M grid, shifted so that it is indefinite. */
    static int32_t colptr[N + 1], rowind[3 * N];
    static double values[3 * N];
    int32_t k = 0;
    for (int32_t j = 0; j < N; ++j) {
        colptr[j] = k;
        rowind[k] = j, values[k++] = 3.3;
        if (j % M < M - 1) rowind[k] = j + 1, values[k++] = -1;
        if (j + M < N) rowind[k] = j + M, values[k++] = -1;
    }
    colptr[N] = k;
    const saddle_matrix A = saddle_symmetric(N, colptr, rowind, values);

    counter c = {0, 0, 0};
    const saddle_hooks hooks = {.size = sizeof hooks, .allocate = allocate, .release = release, .user = &c};
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    options.threads = 1; /* several threads would need a counter with a lock */
    saddle_info info = saddle_info_default();
    saddle_solver *solver = NULL;
    if (saddle_create(&solver, &options, &hooks, NULL) != SADDLE_OK) return 1;

    size_t held = 0;
    int wrong = 0;
    for (int round = 0; round < 5 && !wrong; ++round) {
        for (int32_t e = 0; e < k; ++e) values[e] *= 2;
        if (saddle_factor(solver, &A) != SADDLE_OK) wrong = 1;
        printf("factorization %d: %zu bytes in use, %zu at most, %zu allocations so far\n", round, c.bytes,
               c.peak, c.calls);
        if (round == 1) held = c.bytes;
        if (round > 1 && c.bytes != held) wrong = 1;
    }
    saddle_query(solver, &info);
    printf("the plan was for %lld bytes\n", (long long)info.planned_bytes);
    saddle_destroy(&solver);
    printf("after saddle_destroy: %zu bytes\n", c.bytes);
    wrong += c.bytes != 0;

    options.max_memory = info.planned_bytes / 2;
    if (saddle_create(&solver, &options, &hooks, NULL) != SADDLE_OK) return 1;
    if (saddle_factor(solver, &A) != SADDLE_MEMORY_LIMIT) wrong = 1;
    printf("with half of that: %s\n", saddle_message(solver));
    saddle_destroy(&solver);
    return wrong == 0 && c.bytes == 0 ? 0 : 1;
}
