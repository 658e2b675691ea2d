/* What the benchmarks of whole engines share: failures end the program, times are taken when all is done. */
#pragma once

#include "backend/batch_memory.h"
#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 5, COPIES = 20 };

static inline void check(const sd_context *c, saddle_status status)
{
    if (!status) return;
    fprintf(stderr, "failed: %s\n", c->message);
    exit(1);
}

/* Waits for all that an engine has been given. */
static inline void finish(sd_engine *e, const sd_vector *any)
{
    const sd_vector first = {any->data, 1, any->precision};
    sd_dot_of(e, &first, &first);
    check(e->context, e->status);
}

/* The best seconds of WORK, one of so many together, after all that an engine was given before. */
#define BEST_OF(best, e, any, times, WORK)                                                                   \
    double best = INFINITY;                                                                                  \
    for (int repeat = 0; repeat < REPEATS; ++repeat) {                                                       \
        finish(e, any);                                                                                      \
        const double begin = sd_seconds();                                                                   \
        for (int time = 0; time < (times); ++time) WORK;                                                     \
        finish(e, any);                                                                                      \
        best = fmin(best, (sd_seconds() - begin) / (times));                                                 \
    }

/* Bytes a second of y = x, both of `bytes`. */
static inline double copy_rate(sd_engine *e, int64_t bytes)
{
    sd_vector x = sd_vector_new(e, SD_DOUBLE, bytes / 8, "copy"),
              y = sd_vector_new(e, SD_DOUBLE, bytes / 8, "copy");
    sd_engine_reserve(e, 1, NULL);
    check(e->context, e->status);
    sd_copy(e, &x, &y);
    BEST_OF(best, e, &y, COPIES, sd_copy(e, &x, &y));
    sd_vector_free(e, &x);
    sd_vector_free(e, &y);
    return 2.0 * (double)bytes / best;
}
