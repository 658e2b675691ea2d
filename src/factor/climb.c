/* From the leaves of an assembly tree to its roots. See climb.h. */
#include "factor/climb.h"

static void run_top(void *what, int32_t f);

/* Front f, or the last of a group, is done: the parent may be next. */
static void go_up(const sd_climb *s, int32_t f)
{
    const int32_t parent = s->tree->parent[f];
    if (!s->crew || parent < 0) return;
    int32_t left;
#pragma omp atomic capture seq_cst
    left = --s->waiting[parent];
    if (left == 0) sd_crew_post(s->crew, s->tree->above[parent], run_top, (void *)(uintptr_t)s, parent);
}

static void run_top(void *what, int32_t f)
{
    const sd_climb *s = what;
    s->top(s->what, f);
    go_up(s, f);
}

static void run_group(void *what, int32_t g)
{
    const sd_climb *s = what;
    s->group(s->what, g);
    go_up(s, s->tree->group_last[g]);
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
    if (s->crew) count_waiting(t, s->waiting);
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t g = t->group_of[f];
        void *what = (void *)(uintptr_t)s;
        if (g >= 0) f = t->group_last[g];
        if (!s->crew && g >= 0)
            run_group(what, g);
        else if (!s->crew)
            run_top(what, f);
        else if (g >= 0)
            sd_crew_post(s->crew, -1.0, run_group, what, g);
        else if (t->child_ptr[f] == t->child_ptr[f + 1])
            sd_crew_post(s->crew, t->above[f], run_top, what, f);
    }
}
