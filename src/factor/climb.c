/* From the leaves of an assembly tree to its roots. See climb.h. */
#include "factor/climb.h"

/* A group, or a front above the groups; the parent may be next. */
static void run(const sd_climb *s, int32_t f, int32_t g)
{
    if (g >= 0)
        s->group(s->what, g);
    else
        s->top(s->what, f);
    const int32_t parent = s->tree->parent[f];
    if (!s->waiting || parent < 0) return;
    int32_t left;
#pragma omp atomic capture seq_cst
    left = --s->waiting[parent];
    if (left > 0) return;
#pragma omp task firstprivate(s, parent)
    run(s, parent, -1);
}

static void count_waiting(const sd_tree *t, int32_t *waiting)
{
    for (int32_t f = 0; f < t->fronts; ++f) waiting[f] = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t g = t->group_of[f];
        if (t->parent[f] >= 0 && (g < 0 || t->group_last[g] == f)) ++waiting[t->parent[f]];
    }
}

void sd_climb_tree(const sd_climb *s)
{
    const sd_tree *t = s->tree;
    if (s->waiting) count_waiting(t, s->waiting);
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t g = t->group_of[f];
        if (g >= 0) f = t->group_last[g];
        if (!s->waiting) {
            run(s, f, g);
        } else if (g >= 0 || t->child_ptr[f] == t->child_ptr[f + 1]) {
#pragma omp task firstprivate(s, g, f)
            run(s, f, g);
        }
    }
}
