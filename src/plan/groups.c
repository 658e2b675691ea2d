/*
 * Which fronts one thread runs in one piece, and how much room their contribution blocks take.
 *
 * Work is measured in operations, with a constant for every front. A subtree whose work is below a fixed
 * share of the whole is a leaf subtree; neighbouring ones with the same parent are grouped until the
 * group has that share. The share does not depend on the number of threads, so neither do the groups.
 *
 * Within a group contribution blocks go on a stack with two ends: blocks of fronts at even depth grow
 * from one, those at odd depth from the other. When a front is assembled, its children's blocks are the last
 * on the opposite end and its own goes on this one, so both ends are last in, first out and nothing is moved.
 */
#include "plan/tree.h"

#include "plan/contribution.h"

enum {
    SHARES = 256,        /* a leaf subtree has at most one part in so many of the work */
    FRONT_WORK = 3000,   /* operations that a front's overhead is worth */
    LEAST_WORK = 1000000 /* a group of less is not worth a task */
};

static double own_work(const sd_tree *t, int32_t f)
{
    const int64_t columns = sd_front_columns(t, f), below = sd_front_below(t, f);
    return FRONT_WORK + sd_front_flops(columns + below, columns) + (double)below * (double)below;
}

static int64_t rest_room(const sd_tree *t, int32_t f)
{
    return sd_rest_size(sd_front_below(t, f));
}

/* Adds the subtree of root to the group at work, or begins another. work of the group is in *sum. */
static void add_subtree(sd_tree *t, int32_t first, int32_t root, double work, double limit, double *sum)
{
    const int32_t g = t->groups - 1;
    const bool joins = g >= 0 && t->group_last[g] == first - 1 &&
                       t->parent[t->group_last[g]] == t->parent[root] && *sum + work <= limit;
    if (joins) {
        t->group_last[g] = root;
        *sum += work;
        return;
    }
    t->group_first[t->groups] = first;
    t->group_last[t->groups++] = root;
    *sum = work;
}

/* work[f] becomes that of the subtree of f, size[f] the number of its fronts. */
static void add_up(const sd_tree *t, double *work, int32_t *size)
{
    for (int32_t f = 0; f < t->fronts; ++f) {
        work[f] = own_work(t, f);
        size[f] = 1;
    }
    for (int32_t f = 0; f < t->fronts; ++f) {
        if (t->parent[f] < 0) continue;
        work[t->parent[f]] += work[f];
        size[t->parent[f]] += size[f];
    }
}

static void form_groups(sd_tree *t, const double *work, const int32_t *size)
{
    double total = 0, sum = 0;
    for (int32_t f = 0; f < t->fronts; ++f)
        if (t->parent[f] < 0) total += work[f];
    double limit = total / SHARES;
    if (limit < LEAST_WORK) limit = LEAST_WORK;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const bool leaf = work[f] <= limit;
        const bool top = t->parent[f] < 0 || work[t->parent[f]] > limit;
        if (leaf && top) add_subtree(t, f - size[f] + 1, f, work[f], limit, &sum);
    }
    for (int32_t f = 0; f < t->fronts; ++f) t->group_of[f] = -1;
    for (int32_t g = 0; g < t->groups; ++g)
        for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) t->group_of[f] = g;
}

static void measure_ways(sd_tree *t)
{
    for (int32_t f = t->fronts - 1; f >= 0; --f)
        t->above[f] = own_work(t, f) + (t->parent[f] < 0 ? 0 : t->above[t->parent[f]]);
}

/* Numbers in the blocks that the children of f have left. */
static int64_t children_room(const sd_tree *t, int32_t f)
{
    int64_t room = 0;
    for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) room += rest_room(t, t->child[k]);
    return room;
}

/* The size of each group's stack, for its inner blocks. */
static void measure_stacks(sd_tree *t)
{
    for (int32_t g = 0; g < t->groups; ++g) {
        int64_t stack = 0;
        t->group_stack[g] = 0;
        for (int32_t k = t->group_first[g]; k <= t->group_last[g]; ++k) {
            const bool root = t->parent[k] < 0 || t->group_of[t->parent[k]] != g;
            if (!root) stack += rest_room(t, k);
            if (stack > t->group_stack[g]) t->group_stack[g] = stack;
            stack -= children_room(t, k);
        }
    }
}

saddle_status sd_tree_group(sd_context *c, sd_tree *t)
{
    double *work = sd_alloc(c, t->fronts, sizeof *work, "groups of subtrees");
    int32_t *size = sd_alloc(c, t->fronts, sizeof *size, "groups of subtrees");
    t->group_first = sd_alloc(c, t->fronts, sizeof *t->group_first, "groups of subtrees");
    t->group_last = sd_alloc(c, t->fronts, sizeof *t->group_last, "groups of subtrees");
    t->group_of = sd_alloc(c, t->fronts, sizeof *t->group_of, "groups of subtrees");
    t->group_stack = sd_alloc(c, t->fronts, sizeof *t->group_stack, "groups of subtrees");
    t->above = sd_alloc(c, t->fronts, sizeof *t->above, "groups of subtrees");
    const bool all =
        work && size && t->group_first && t->group_last && t->group_of && t->group_stack && t->above;
    if (all) {
        add_up(t, work, size);
        form_groups(t, work, size);
        measure_stacks(t);
        measure_ways(t);
    }
    sd_free_all(c, work, size);
    return all ? SADDLE_OK : c->status;
}
