/* The interface as a library has it that is loaded at run time: ours, or SPRAL's own. And what the benchmarks
 * of this door share: a clock, matrices. */
#pragma once

#include "spral_ssids.h"

#include "saddle/saddle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOADED_TABLE(ROW)                                                                                    \
    ROW(default_options)                                                                                     \
    ROW(analyse)                                                                                             \
    ROW(factor)                                                                                              \
    ROW(solve1)                                                                                              \
    ROW(enquire_indef)                                                                                       \
    ROW(free)

typedef struct loaded {
#define LOADED_FIELD(name) __typeof__(&spral_ssids_##name) name;
    LOADED_TABLE(LOADED_FIELD)
#undef LOADED_FIELD
} loaded;

/* Where a library that is not ours finds its functions: first in what it is linked with itself. SPRAL may
 * have a METIS of another make than the one that this program has by libsaddle, and would call that.
 * Sanitizers refuse it. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OF_THEIR_OWN 0
#else
#define OF_THEIR_OWN RTLD_DEEPBIND
#endif

/* False: the library cannot be loaded, or lacks a function; dlerror says why. mode: 0 or OF_THEIR_OWN. */
static inline bool load(const char *path, int mode, loaded *to)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | mode);
    if (!library) return false;
#define LOADED_FIND(name)                                                                                    \
    *(void **)&to->name = dlsym(library, "spral_ssids_" #name);                                              \
    if (!to->name) return false;
    LOADED_TABLE(LOADED_FIND)
#undef LOADED_FIND
    return true;
}

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The lower triangle by columns, from 0; freed with free_lower. */
typedef struct lower {
    int n;
    int64_t *ptr;
    int *row;
    double *val;
} lower;

static inline lower new_lower(int n, int64_t most)
{
    lower a = {.n = n,
               .ptr = calloc((size_t)n + 1, sizeof(int64_t)),
               .row = malloc((size_t)most * sizeof(int)),
               .val = malloc((size_t)most * sizeof(double))};
    if (!a.ptr || !a.row || !a.val) {
        fprintf(stderr, "out of memory\n");
        exit(4);
    }
    return a;
}

static inline void free_lower(lower *a)
{
    free(a->ptr);
    free(a->row);
    free(a->val);
}

static inline saddle_matrix view_of(const lower *a)
{
    return (saddle_matrix){.size = sizeof(saddle_matrix),
                           .rows = a->n,
                           .columns = a->n,
                           .entries = a->ptr[a->n],
                           .layout = SADDLE_COLUMNS,
                           .shape = SADDLE_LOWER,
                           .pointer_bits = 64,
                           .pointers = a->ptr,
                           .indices = a->row,
                           .values = a->val};
}

/* The Laplacian of a grid of m x m x depth points minus a shift: indefinite for a shift inside its spectrum.
 */
static inline lower grid_matrix(int m, int depth, double shift)
{
    const int n = m * m * depth;
    lower a = new_lower(n, 4 * (int64_t)n);
    int64_t k = 0;
    for (int j = 0; j < n; ++j) {
        a.ptr[j] = k;
        a.row[k] = j, a.val[k++] = (depth > 1 ? 6 : 4) - shift;
        if (j % m < m - 1) a.row[k] = j + 1, a.val[k++] = -1;
        if (j / m % m < m - 1) a.row[k] = j + m, a.val[k++] = -1;
        if (j + m * m < n) a.row[k] = j + m * m, a.val[k++] = -1;
    }
    a.ptr[n] = k;
    return a;
}

/* (h I, K; K, -r I) with the Laplacian K of an m x m grid: the optimality system of a control problem. */
static inline lower control_matrix(int m, double r)
{
    const int half = m * m, n = 2 * half;
    lower a = new_lower(n, 7 * (int64_t)half);
    int64_t k = 0;
    for (int j = 0; j < n; ++j) {
        a.ptr[j] = k;
        a.row[k] = j, a.val[k++] = j < half ? 1 : -r;
        if (j >= half) continue;
        if (j >= m) a.row[k] = half + j - m, a.val[k++] = -1;
        if (j % m > 0) a.row[k] = half + j - 1, a.val[k++] = -1;
        a.row[k] = half + j, a.val[k++] = 4;
        if (j % m < m - 1) a.row[k] = half + j + 1, a.val[k++] = -1;
        if (j + m < half) a.row[k] = half + j + m, a.val[k++] = -1;
    }
    a.ptr[n] = k;
    return a;
}
