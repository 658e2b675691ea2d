/*
 * How Saddle and its peers are timed: the same way for both, so that a ratio means something. A call that
 * takes microseconds is repeated until a batch of them takes 50 µs; the best batch counts, divided by its
 * calls.
 *
 * A refined solve is one solve, one residual by plain loops over the lower triangle, one correction: what a
 * caller writes who has nothing but a solve.
 */
#pragma once

#include "saddle/saddle.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define TIMING_BATCH 5e-5 /* seconds */
#define TIMING_SPAN 0.02  /* of batches in a turn */

static inline double timing_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Calls until the span is over, at least once. *best (seconds of a call, NaN at first) becomes less where a
 * batch was better. False where a call was. */
static inline bool timing_calls(bool (*call)(void *self), void *self, double *best)
{
    const double first = timing_now();
    int64_t calls = 1;
    for (double began = first, ended; began == first || began - first < TIMING_SPAN; began = ended) {
        for (int64_t k = 0; k < calls; ++k)
            if (!call(self)) return false;
        ended = timing_now();
        *best = fmin(*best, (ended - began) / (double)calls);
        if (ended - began < TIMING_BATCH) calls *= 2;
        if (ended <= first) ended = first + 1e-9; /* a clock that stands still */
    }
    return true;
}

/* r = b - A x, of a lower triangle by sorted columns with 64-bit pointers, base 0. */
static inline void timing_residual(const saddle_matrix *lower, const double *b, const double *x, double *r)
{
    const int64_t n = lower->rows, *start = lower->pointers;
    const double *values = lower->values;
    memcpy(r, b, (size_t)n * sizeof *r);
    for (int64_t j = 0; j < n; ++j) {
        double sum = 0.0;
        for (int64_t k = start[j]; k < start[j + 1]; ++k) {
            const int32_t i = lower->indices[k];
            r[i] -= values[k] * x[j];
            if (i != j) sum += values[k] * x[i];
        }
        r[j] -= sum;
    }
}

/* x = A^-1 b with one refinement; solve works in place. r has n numbers. */
static inline bool timing_refined(const saddle_matrix *lower, bool (*solve)(void *self, double *x),
                                  void *self, const double *b, double *x, double *r)
{
    const size_t n = (size_t)lower->rows;
    memcpy(x, b, n * sizeof *x);
    if (!solve(self, x)) return false;
    timing_residual(lower, b, x, r);
    if (!solve(self, r)) return false;
    for (size_t i = 0; i < n; ++i) x[i] += r[i];
    return true;
}
