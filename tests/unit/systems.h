/* Many systems on one pattern, other values in each. */
#pragma once

#include "helpers.h"

typedef struct systems {
    saddle_matrix A; /* a view of the first */
    int64_t stride;
    double *values, *b;
    const void *first; /* the values that A came with: tests put others there */
} systems;

/* `count` of them, values within `spread` of those of d, which is freed, `gap` numbers between two. */
static inline systems systems_of(rng *r, dense *d, int count, int64_t gap, double spread)
{
    systems s;
    s.A = view_plain(d, SADDLE_LOWER);
    s.first = s.A.values;
    s.stride = s.A.entries + gap;
    s.values = test_alloc((size_t)(count * s.stride), sizeof *s.values);
    s.b = test_alloc((size_t)count * (size_t)d->n, sizeof *s.b);
    for (int k = 0; k < count; ++k)
        for (int64_t e = 0; e < s.A.entries; ++e)
            s.values[k * s.stride + e] = view_value(&s.A, e) * (1 + spread * rng_unit(r));
    for (int k = 0; k < count * d->n; ++k) s.b[k] = rng_unit(r);
    dense_free(d);
    return s;
}

static inline void systems_free(systems *s)
{
    s->A.values = s->first;
    view_free(&s->A);
    free(s->values);
    free(s->b);
}
