/* Geometric means of ratios, with the worst of them and whose it is. */
#pragma once

#include <math.h>
#include <stdbool.h>

typedef struct ratio_mean {
    int count;
    double logs, worst;
    const char *name; /* of the worst */
} ratio_mean;

/* A ratio that is not known is left out. */
static inline void mean_add(ratio_mean *m, double ratio, bool large_is_good, const char *name)
{
    if (!isfinite(ratio) || ratio <= 0.0) return;
    m->logs += log(ratio);
    if (m->count++ > 0 && (large_is_good ? ratio >= m->worst : ratio <= m->worst)) return;
    m->worst = ratio;
    m->name = name;
}

/* NaN of none. */
static inline double mean_of(const ratio_mean *m)
{
    return m->count > 0 ? exp(m->logs / m->count) : NAN;
}

static inline double mean_worst(const ratio_mean *m)
{
    return m->count > 0 ? m->worst : NAN;
}
