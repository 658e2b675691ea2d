/* From the leaves of an assembly tree to its roots. See climb.h. */
#include "factor/climb.h"

/* A front of less work, in the operations of groups.c, is gone on with by the thread that made it ready: to
 * hand it to another takes one or two microseconds. On a tree that is hardly more than a chain of small
 * fronts, as of a control problem, two threads took twice as long as one. */
static const double NOT_HANDED_OVER = 1e5;

static void run_top(void *what, int32_t f);

/* Front f, or the last of a group, is done: the parent may be next. The one to go on with, or -1. */
static int32_t go_up(const sd_climb *s, int32_t f)
{
    const sd_tree *t = s->tree;
    const int32_t parent = t->parent[f];
    if (!s->crew || parent < 0) return -1;
    int32_t left;
#pragma omp atomic capture seq_cst
    left = --s->waiting[parent];
    if (left > 0) return -1;
    const double work = t->above[parent] - (t->parent[parent] < 0 ? 0 : t->above[t->parent[parent]]);
    if (work < NOT_HANDED_OVER) return parent;
    sd_crew_post(s->crew, t->above[parent], run_top, (void *)(uintptr_t)s, parent);
    return -1;
}

static void run_top(void *what, int32_t f)
{
    const sd_climb *s = what;
    for (; f >= 0; f = go_up(s, f)) s->top(s->what, f);
}

static void run_group(void *what, int32_t g)
{
    const sd_climb *s = what;
    s->group(s->what, g);
    run_top(what, go_up(s, s->tree->group_last[g]));
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
