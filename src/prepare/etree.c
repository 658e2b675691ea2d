/*
 * Elimination trees and column counts. See etree.h.
 *
 * Position j is eliminated j-th. Its parent is the first position below the diagonal of column j of L, and an
 * entry a_kj, j < k, fills in row k at every position on the path from j to k. So
 * - the tree comes by climbing, for each k, from its neighbours j < k to the root of what is there already,
 *   and making k the parent of that root. Path compression by `ancestor` keeps the climbs short (Liu).
 * - row k of L is a subtree whose root is k, and column j has as many entries as there are such subtrees
 *   with j in them. A subtree is told by its leaves: count 1 at each leaf, -1 at the least common ancestor of
 *   each leaf and the one before it in postorder, -1 at the parent of k; sums over the descendants then count
 *   every subtree once at every node (Gilbert, Ng and Peyton). Common ancestors come from disjoint sets.
 *
 * The permuted graph is never formed: the neighbours of perm[k] are looked up in the inverse permutation.
 */
#include "prepare/etree.h"

saddle_status sd_etree(sd_context *c, const sd_graph *g, const int32_t *perm, int32_t *parent)
{
    const int32_t n = g->n;
    int32_t *work = sd_alloc(c, 2 * (int64_t)n, sizeof *work, "elimination tree");
    if (!work) return c->status;
    int32_t *position = work, *ancestor = work + n;
    sd_invert_order(n, perm, position);
    for (int32_t k = 0; k < n; ++k) {
        parent[k] = ancestor[k] = -1;
        for (int64_t e = g->ptr[perm[k]]; e < g->ptr[perm[k] + 1]; ++e) {
            int32_t j = position[g->ind[e]];
            if (j > k) continue;
            while (ancestor[j] >= 0 && ancestor[j] != k) {
                const int32_t above = ancestor[j];
                ancestor[j] = k;
                j = above;
            }
            if (ancestor[j] < 0) parent[j] = ancestor[j] = k;
        }
    }
    sd_free(c, work);
    return SADDLE_OK;
}

saddle_status sd_postorder(sd_context *c, int32_t n, const int32_t *parent, int32_t *post)
{
    int32_t *work = sd_alloc(c, 2 * ((int64_t)n + 1), sizeof *work, "postorder");
    if (!work) return c->status;
    /* child[j] is the next child of j that is to be visited; place n stands above all roots. */
    int32_t *child = work, *sibling = work + n + 1;
    for (int32_t j = 0; j <= n; ++j) child[j] = -1;
    for (int32_t j = n - 1; j >= 0; --j) {
        const int32_t above = parent[j] < 0 ? n : parent[j];
        sibling[j] = child[above];
        child[above] = j;
    }
    int32_t j = n, done = 0;
    while (j < n || child[j] >= 0) {
        if (child[j] >= 0) { /* down */
            const int32_t below = child[j];
            child[j] = sibling[below];
            j = below;
        } else { /* all below j are done */
            post[done++] = j;
            j = parent[j] < 0 ? n : parent[j];
        }
    }
    sd_free(c, work);
    return SADDLE_OK;
}

typedef struct counting {
    int32_t *position;   /* of each vertex */
    int32_t *first;      /* of each position: the place in postorder of its first descendant */
    int32_t *last_first; /* of each row: the largest `first` among the neighbours seen so far */
    int32_t *last_leaf;  /* of each row: the leaf of its subtree that was found last, or -1 */
    int32_t *ancestor; /* disjoint sets: every tree that is done hangs from its lowest ancestor that is not */
} counting;

/* The root of j's set, and on the way back every path shorter. */
static int32_t find_root(int32_t *ancestor, int32_t j)
{
    int32_t root = j;
    while (ancestor[root] != root) root = ancestor[root];
    while (ancestor[j] != root) {
        const int32_t above = ancestor[j];
        ancestor[j] = root;
        j = above;
    }
    return root;
}

static void begin_counting(int32_t n, const int32_t *parent, const int32_t *post, counting *t, int32_t *count)
{
    for (int32_t j = 0; j < n; ++j) {
        t->first[j] = t->last_first[j] = t->last_leaf[j] = -1;
        t->ancestor[j] = j;
    }
    for (int32_t k = 0; k < n; ++k) {
        int32_t j = post[k];
        count[j] = t->first[j] < 0; /* a leaf of the tree is one of its own row's subtree */
        for (; j >= 0 && t->first[j] < 0; j = parent[j]) t->first[j] = k;
    }
}

/* Column j, the next in postorder: of which rows' subtrees is it a leaf? */
static void count_leaves(const sd_graph *g, int32_t vertex, int32_t j, counting *t, int32_t *count)
{
    for (int64_t e = g->ptr[vertex]; e < g->ptr[vertex + 1]; ++e) {
        const int32_t i = t->position[g->ind[e]];
        if (i < j || t->first[j] <= t->last_first[i]) continue;
        t->last_first[i] = t->first[j];
        ++count[j];
        if (t->last_leaf[i] >= 0) --count[find_root(t->ancestor, t->last_leaf[i])];
        t->last_leaf[i] = j;
    }
}

saddle_status sd_column_counts(sd_context *c, const sd_graph *g, const int32_t *perm, const int32_t *parent,
                               const int32_t *post, int32_t *count)
{
    const int32_t n = g->n;
    int32_t *work = sd_alloc(c, 5 * (int64_t)n, sizeof *work, "column counts");
    if (!work) return c->status;
    counting t = {work, work + n, work + 2 * (int64_t)n, work + 3 * (int64_t)n, work + 4 * (int64_t)n};
    sd_invert_order(n, perm, t.position);
    begin_counting(n, parent, post, &t, count);
    for (int32_t k = 0; k < n; ++k) {
        const int32_t j = post[k];
        if (parent[j] >= 0) --count[parent[j]];
        count_leaves(g, perm[j], j, &t, count);
        if (parent[j] >= 0) t.ancestor[j] = parent[j];
    }
    for (int32_t j = 0; j < n; ++j) /* a parent comes after all its children */
        if (parent[j] >= 0) count[parent[j]] += count[j];
    sd_free(c, work);
    return SADDLE_OK;
}

saddle_status sd_eliminate(sd_context *c, const sd_graph *g, const int32_t *perm, sd_elimination *t)
{
    const int64_t n = g->n;
    *t = (sd_elimination){.parent = sd_alloc(c, 3 * n, sizeof *t->parent, "elimination tree")};
    if (!t->parent) return c->status;
    t->post = t->parent + n;
    t->count = t->post + n;
    saddle_status status = sd_etree(c, g, perm, t->parent);
    if (!status) status = sd_postorder(c, g->n, t->parent, t->post);
    if (!status) status = sd_column_counts(c, g, perm, t->parent, t->post, t->count);
    if (status) sd_elimination_free(c, t);
    return status;
}

void sd_elimination_free(sd_context *c, sd_elimination *t)
{
    sd_free(c, t->parent);
    *t = (sd_elimination){0};
}

saddle_status sd_sum_fill(sd_context *c, int32_t n, const sd_elimination *t, sd_fill_sums *fill)
{
    int32_t *depth = sd_alloc(c, n, sizeof *depth, "depths of the elimination tree");
    *fill = (sd_fill_sums){0};
    if (!depth) return c->status;
    for (int32_t j = n - 1; j >= 0; --j) {
        depth[j] = t->parent[j] < 0 ? 1 : depth[t->parent[j]] + 1;
        if (depth[j] > fill->height) fill->height = depth[j];
        fill->nnz += t->count[j];
        fill->flops += (double)t->count[j] * t->count[j];
    }
    sd_free(c, depth);
    return SADDLE_OK;
}

saddle_status sd_predict_fill(sd_context *c, const sd_graph *g, const int32_t *perm, sd_fill_sums *fill)
{
    sd_elimination t;
    saddle_status status = sd_eliminate(c, g, perm, &t);
    if (status) return status;
    status = sd_sum_fill(c, g->n, &t, fill);
    sd_elimination_free(c, &t);
    return status;
}
