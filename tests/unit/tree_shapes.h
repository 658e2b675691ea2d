/* Trees made up at random, for tests of what is planned on them. */
#pragma once

#include "helpers.h"

#include "plan/schedule.h"

enum { FRONTS = 400 };

/* A tree of which only parents, columns and numbers of rows are there: all that a schedule looks at. */
typedef struct shape {
    sd_tree t;
    int32_t first[FRONTS + 1], parent[FRONTS], child[FRONTS];
    int64_t child_ptr[FRONTS + 1], row_ptr[FRONTS + 1];
} shape;

/* Fronts in postorder: each takes over some of the roots so far. */
static inline void make_shape(rng *r, int32_t fronts, int size, shape *s)
{
    int32_t roots[FRONTS], count = 0;
    memset(s, 0, sizeof *s);
    s->t = (sd_tree){.fronts = fronts,
                     .first = s->first,
                     .parent = s->parent,
                     .child = s->child,
                     .child_ptr = s->child_ptr,
                     .row_ptr = s->row_ptr};
    for (int32_t f = 0; f < fronts; ++f) {
        const int32_t most = count < 4 ? count : 4, taken = f == fronts - 1 ? count : rng_below(r, most + 1);
        int64_t end = s->child_ptr[f];
        for (int32_t k = count - taken; k < count; ++k) {
            s->parent[roots[k]] = f;
            s->child[end++] = roots[k];
        }
        count -= taken;
        roots[count++] = f;
        s->parent[f] = -1;
        s->child_ptr[f + 1] = end;
        s->first[f + 1] = s->first[f] + 1 + rng_below(r, size);
        s->row_ptr[f + 1] = s->row_ptr[f] + rng_below(r, 2 * size);
    }
    s->t.n = s->first[fronts];
}
