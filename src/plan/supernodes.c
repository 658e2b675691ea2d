/*
 * From an elimination order to the fronts of a multifrontal factorization.
 *
 * Fundamental supernodes are runs of columns j, j + 1 ... of the postordered elimination tree in which each
 * is the only child of the next and has its rows but one. Most have one or two columns, so fronts are then
 * amalgamated: a child is taken into its parent wherever a cost model says that the entries and operations
 * that this adds cost less than the front that it spares (Ashcraft and Grimes 1989, with times in place of a
 * bound on zeros). Taking child s with c_s columns into parent p makes a front of c_s + c_p columns with p's
 * rows below.
 *
 * At last the tree is put into a postorder in which the contribution blocks that wait at the same time
 * are few: of the children of a front, the one whose subtree needs the most room beyond what it leaves
 * behind comes first (J. W. H. Liu, On the storage requirement in the out-of-core multifrontal method for
 * sparse factorization, ACM TOMS 12 (1986)).
 */
#include "plan/supernodes.h"

#include "plan/tree.h"

#include <stdlib.h>

/* The cost model, in nanoseconds of one core, fitted to bench/kernels/front_small.c and front_kernels.c. */
static const double FRONT_TIME = 80;    /* to set up a front at all */
static const double COLUMN_TIME = 22;   /* to choose and scale a pivot, in a small front */
static const double BLOCKED_TIME = 110; /* the same in one of more than SMALL_COLUMNS columns */
static const double ENTRY_TIME = 0.8;   /* to clear and fill an entry of the panel */
static const double FLOP_TIME = 0.03;
static const double HANDED_TIME = 0.8; /* an entry of a contribution block on its way to the parent */
enum { SMALL_COLUMNS = 32 };

/* The same of columns one by one (backend/cpu/simplicial.c), row by row where a sequence of pivots is used
 * once, and column by column where it is used again: a column, an entry, an operation. */
typedef struct column_times {
    double node, link, update;
} column_times;
static const column_times ONCE = {8, 3.5, 0.4}, AGAIN = {6, 2.5, 0.28};
static const double PREFERENCE = 1.5; /* fronts take longer than modelled where they are many and small */

typedef struct node {
    int32_t columns, below;
    int32_t parent; /* in the tree of fundamental supernodes, then among those that are left */
    int32_t into;   /* the node that took this one in; -1 */
    double time;
} node;

static double front_time(int32_t columns, int32_t below)
{
    const double c = columns, b = below, rows = c + b;
    const double flops = c * (rows * rows - rows * c + c * c / 3); /* the sum of (rows - j)^2 */
    return FRONT_TIME + c * (columns <= SMALL_COLUMNS ? COLUMN_TIME : BLOCKED_TIME) +
           ENTRY_TIME * (c * rows) + FLOP_TIME * flops + HANDED_TIME * 0.5 * b * (b + 1);
}

/* The elimination tree with its columns in postorder. */
typedef struct columns {
    int32_t *memory, *order, *parent, *count;
    int32_t n;
} columns;

static saddle_status make_columns(sd_context *c, const sd_graph *g, const int32_t *order,
                                  const sd_elimination *known, columns *t)
{
    const int32_t n = t->n = g->n;
    sd_elimination own = {0};
    saddle_status status = known ? SADDLE_OK : sd_eliminate(c, g, order, &own);
    if (status) return status;
    const sd_elimination *const e = known ? known : &own;
    t->memory = sd_alloc(c, 4 * (int64_t)n, sizeof *t->memory, "elimination tree");
    if (t->memory) {
        t->order = t->memory;
        t->parent = t->order + n;
        t->count = t->parent + n;
        int32_t *place = t->count + n;
        sd_invert_order(n, e->post, place);
        for (int32_t k = 0; k < n; ++k) {
            const int32_t above = e->parent[e->post[k]];
            t->order[k] = order[e->post[k]];
            t->parent[k] = above < 0 ? -1 : place[above];
            t->count[k] = e->count[e->post[k]];
        }
    }
    sd_elimination_free(c, &own);
    return t->memory ? SADDLE_OK : c->status;
}

/* node_of[k], and the fundamental supernodes themselves; returns how many. children is work of n. */
static int32_t find_fundamental(const columns *t, int32_t *children, int32_t *node_of, node *nodes)
{
    int32_t count = 0;
    for (int32_t k = 0; k < t->n; ++k) children[k] = 0;
    for (int32_t k = 0; k < t->n; ++k)
        if (t->parent[k] >= 0) ++children[t->parent[k]];
    for (int32_t k = 0; k < t->n; ++k) {
        const bool continues =
            k > 0 && t->parent[k - 1] == k && children[k] == 1 && t->count[k - 1] == t->count[k] + 1;
        if (!continues) nodes[count++] = (node){.columns = 0, .into = -1};
        node_of[k] = count - 1;
        node *s = &nodes[count - 1];
        ++s->columns;
        s->below = t->count[k] - 1;
        s->parent = t->parent[k]; /* of its last column */
    }
    for (int32_t s = 0; s < count; ++s) {
        if (nodes[s].parent >= 0) nodes[s].parent = node_of[nodes[s].parent];
        nodes[s].time = front_time(nodes[s].columns, nodes[s].below);
    }
    return count;
}

static double columns_time(const column_times *its, int32_t n, const sd_supernodes *s)
{
    return its->node * n + its->link * (double)s->nnz + its->update * s->flops;
}

/* What columns one by one would take, and whether that is less time than the fronts that are left need. */
static void consider_columns(const node *nodes, int32_t count, const columns *t, sd_supernodes *s)
{
    double fronts = 0;
    for (int32_t j = 0; j < count; ++j)
        if (nodes[j].into < 0) fronts += nodes[j].time;
    for (int32_t k = 0; k < t->n; ++k) {
        s->nnz += t->count[k];
        s->flops += sd_front_flops(t->count[k], 1);
    }
    s->columns_once = columns_time(&ONCE, t->n, s) < PREFERENCE * fronts;
    s->columns_again = columns_time(&AGAIN, t->n, s) < PREFERENCE * fronts;
}

/* Children before parents: each is taken in where that saves time. */
static void amalgamate(node *nodes, int32_t count)
{
    for (int32_t s = 0; s < count; ++s) {
        if (nodes[s].parent < 0) continue;
        node *p = &nodes[nodes[s].parent];
        const double merged = front_time(nodes[s].columns + p->columns, p->below);
        if (merged > nodes[s].time + p->time) continue;
        p->columns += nodes[s].columns;
        p->time = merged;
        nodes[s].into = nodes[s].parent;
    }
    /* parents that were taken in give way to those who took them */
    for (int32_t s = count - 1; s >= 0; --s) {
        const int32_t above = nodes[s].parent;
        if (above >= 0 && nodes[above].into >= 0) {
            nodes[s].parent = nodes[above].into;
            if (nodes[s].into >= 0) nodes[s].into = nodes[above].into;
        }
    }
}

/* A front in the order of the fronts: what its subtree needs beyond what it leaves. */
typedef struct candidate {
    double excess;
    int32_t node;
} candidate;

static int by_excess(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->excess != y->excess) return x->excess > y->excess ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The front's room for its own contribution block. */
static double block_room(const node *s)
{
    return 0.5 * s->below * (s->below + 1.0);
}

/* peak[s], the most room the subtree of s takes, with the children of every node sorted as they are to be
 * run: child[ptr[s] .. ptr[s+1]). `sorting` is work. */
static void sort_children(const node *nodes, int32_t count, const int32_t *ptr, int32_t *child,
                          candidate *sorting, double *peak)
{
    for (int32_t s = 0; s < count; ++s) {
        if (nodes[s].into >= 0) continue;
        const int32_t many = ptr[s + 1] - ptr[s];
        for (int32_t k = 0; k < many; ++k) {
            const int32_t below = child[ptr[s] + k];
            sorting[k] = (candidate){peak[below] - block_room(&nodes[below]), below};
        }
        if (many > 1) qsort(sorting, (size_t)many, sizeof *sorting, by_excess);
        double waiting = 0, most = 0;
        for (int32_t k = 0; k < many; ++k) {
            child[ptr[s] + k] = sorting[k].node;
            if (waiting + peak[sorting[k].node] > most) most = waiting + peak[sorting[k].node];
            waiting += block_room(&nodes[sorting[k].node]);
        }
        waiting += block_room(&nodes[s]);
        peak[s] = most > waiting ? most : waiting;
    }
}

/* The nodes that are left in postorder, roots by their index: sequence[k] comes k-th. `stack` and `next` are
 * work. Returns how many. */
static int32_t walk(const node *nodes, int32_t count, const int32_t *ptr, const int32_t *child, int32_t *next,
                    int32_t *stack, int32_t *sequence)
{
    int32_t done = 0;
    for (int32_t s = 0; s < count; ++s) next[s] = ptr[s];
    for (int32_t root = 0; root < count; ++root) {
        if (nodes[root].into >= 0 || nodes[root].parent >= 0) continue;
        int32_t depth = 0;
        stack[depth++] = root;
        while (depth > 0) {
            const int32_t s = stack[depth - 1];
            if (next[s] < ptr[s + 1])
                stack[depth++] = child[next[s]++];
            else
                sequence[done++] = stack[--depth];
        }
    }
    return done;
}

/* Children lists of the nodes that are left. */
static void list_children(const node *nodes, int32_t count, int32_t *ptr, int32_t *child)
{
    for (int32_t s = 0; s <= count; ++s) ptr[s] = 0;
    for (int32_t s = 0; s < count; ++s)
        if (nodes[s].into < 0 && nodes[s].parent >= 0) ++ptr[nodes[s].parent];
    for (int32_t s = 0, sum = 0; s <= count; ++s) {
        sum += ptr[s];
        ptr[s] = sum;
    }
    for (int32_t s = count - 1; s >= 0; --s)
        if (nodes[s].into < 0 && nodes[s].parent >= 0) child[--ptr[nodes[s].parent]] = s;
}

/* The result: positions, and the tree renumbered by `sequence`. rank: work for each node. */
static saddle_status number(sd_context *c, const columns *t, const node *nodes, int32_t count,
                            const int32_t *node_of, const int32_t *sequence, int32_t left, int32_t *rank,
                            sd_supernodes *s)
{
    s->count = left;
    s->order = sd_alloc(c, t->n, sizeof *s->order, "elimination order");
    s->first = sd_alloc(c, (int64_t)left + 1, sizeof *s->first, "supernodes");
    s->parent = sd_alloc(c, left, sizeof *s->parent, "supernodes");
    s->below = sd_alloc(c, left, sizeof *s->below, "supernodes");
    if (!s->order || !s->first || !s->parent || !s->below) return c->status;
    s->first[0] = 0;
    for (int32_t k = 0; k < left; ++k) {
        const node *from = &nodes[sequence[k]];
        rank[sequence[k]] = k;
        s->first[k + 1] = s->first[k] + from->columns;
        s->below[k] = from->below;
    }
    for (int32_t k = 0; k < left; ++k) {
        const int32_t above = nodes[sequence[k]].parent;
        s->parent[k] = above < 0 ? -1 : rank[above];
    }
    for (int32_t k = 0; k < count; ++k)
        if (nodes[k].into >= 0) rank[k] = rank[nodes[k].into];
    for (int32_t k = 0; k < t->n; ++k) s->order[s->first[rank[node_of[k]]]++] = t->order[k];
    for (int32_t k = left; k > 0; --k) s->first[k] = s->first[k - 1];
    s->first[0] = 0;
    return SADDLE_OK;
}

saddle_status sd_supernodes_make(sd_context *c, const sd_graph *g, const int32_t *order,
                                 const sd_elimination *known, bool amalgamated, sd_supernodes *s)
{
    const int64_t n = g->n;
    columns t = {0};
    node *nodes = NULL;
    candidate *sorting = NULL;
    double *peak = NULL;
    int32_t *work = sd_alloc(c, 7 * n + 1, sizeof *work, "supernodes");
    *s = (sd_supernodes){0};
    saddle_status status = work ? make_columns(c, g, order, known, &t) : c->status;
    if (!status) nodes = sd_alloc(c, n, sizeof *nodes, "supernodes");
    if (!status) sorting = sd_alloc(c, n, sizeof *sorting, "supernodes");
    if (!status) peak = sd_alloc(c, n, sizeof *peak, "supernodes");
    if (!status && nodes && sorting && peak) {
        int32_t *node_of = work, *ptr = work + n, *child = ptr + n + 1, *next = child + n, *stack = next + n;
        int32_t *sequence = stack + n, *rank = sequence + n;
        const int32_t count = find_fundamental(&t, next, node_of, nodes);
        if (amalgamated) amalgamate(nodes, count);
        consider_columns(nodes, count, &t, s);
        list_children(nodes, count, ptr, child);
        sort_children(nodes, count, ptr, child, sorting, peak);
        const int32_t left = walk(nodes, count, ptr, child, next, stack, sequence);
        status = number(c, &t, nodes, count, node_of, sequence, left, rank, s);
    } else {
        status = c->status;
    }
    sd_free_all(c, t.memory, nodes, sorting, peak, work);
    if (status) sd_free_all(c, s->order, s->first, s->parent, s->below);
    return status;
}
