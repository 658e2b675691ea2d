/*
 * Reverse Cuthill-McKee: the vertices of a component in the order of a breadth-first search that visits the
 * neighbours of a vertex by ascending degree, reversed (A. George, Computer implementation of the finite
 * element method, Stanford STAN-CS-71-208, 1971). The search begins at a vertex that is nearly as far out as
 * can be, found by searching again from the far end while that gives more levels (A. George and J. W. H. Liu,
 * An implementation of a pseudoperipheral node finder, ACM Trans. Math. Softw. 5 (1979)).
 *
 * Lists of neighbours by degree come without a sort: the vertices are traversed by ascending degree, which
 * a counting sort gives, and each is entered into the lists of its neighbours.
 */
#include "prepare/order.h"

/* The number of levels grows with every search but the last; on a long thin graph it could do so often. */
enum { SEARCHES_MOST = 12 };

typedef struct rcm {
    const sd_graph *g;
    int32_t *neighbour; /* as g->ind, but each list by ascending degree, then index */
    bool *seen;         /* in the search that is going on, or ordered */
} rcm;

static saddle_status sort_lists(sd_context *c, rcm *t)
{
    const sd_graph *g = t->g;
    int64_t *next = sd_alloc(c, g->n, sizeof *next, "neighbours by degree");
    int32_t *sorted = sd_alloc(c, g->n, sizeof *sorted, "vertices by degree");
    const bool ready = next && sorted && !sd_sort_by_degree(c, g, sorted);
    if (ready) {
        for (int32_t v = 0; v < g->n; ++v) next[v] = g->ptr[v];
        for (int32_t k = 0; k < g->n; ++k) {
            const int32_t w = sorted[k];
            for (int64_t e = g->ptr[w]; e < g->ptr[w + 1]; ++e) t->neighbour[next[g->ind[e]]++] = w;
        }
    }
    sd_free_all(c, sorted, next);
    return ready ? SADDLE_OK : c->status;
}

typedef struct levels {
    int32_t count;      /* vertices reached */
    int32_t height;     /* levels */
    int32_t last_level; /* where it begins in the queue */
} levels;

/* Breadth first from root, into queue; what is reached is marked as seen. */
static levels search(const rcm *t, int32_t root, int32_t *queue)
{
    levels found = {.count = 1};
    t->seen[root] = true;
    queue[0] = root;
    for (int32_t k = 0; k < found.count;) {
        const int32_t level_end = found.count;
        found.last_level = k;
        ++found.height;
        for (; k < level_end; ++k) {
            for (int64_t e = t->g->ptr[queue[k]]; e < t->g->ptr[queue[k] + 1]; ++e) {
                const int32_t w = t->neighbour[e];
                if (t->seen[w]) continue;
                t->seen[w] = true;
                queue[found.count++] = w;
            }
        }
    }
    return found;
}

/* Of the last level, the vertex of lowest degree, then index. */
static int32_t far_vertex(const rcm *t, const int32_t *queue, const levels *found)
{
    int32_t best = queue[found->last_level];
    for (int32_t k = found->last_level + 1; k < found->count; ++k) {
        const int32_t v = queue[k];
        const int64_t difference = sd_degree(t->g, v) - sd_degree(t->g, best);
        if (difference < 0 || (difference == 0 && v < best)) best = v;
    }
    return best;
}

/* Orders the component of `lowest` into queue; returns how many vertices it has. */
static int32_t order_component(const rcm *t, int32_t lowest, int32_t *queue)
{
    levels found = search(t, lowest, queue);
    for (int32_t searches = 1; searches < SEARCHES_MOST && found.height > 1; ++searches) {
        const int32_t root = far_vertex(t, queue, &found), height = found.height;
        for (int32_t k = 0; k < found.count; ++k) t->seen[queue[k]] = false;
        found = search(t, root, queue);
        if (found.height <= height) break;
    }
    for (int32_t low = 0, high = found.count - 1; low < high; ++low, --high) {
        const int32_t swap = queue[low];
        queue[low] = queue[high];
        queue[high] = swap;
    }
    return found.count;
}

saddle_status sd_rcm_order(sd_context *c, const sd_graph *g, int32_t *perm)
{
    saddle_status status = SADDLE_OK;
    rcm t = {.g = g};
    t.neighbour = sd_alloc(c, g->ptr[g->n], sizeof *t.neighbour, "neighbours by degree");
    t.seen = sd_alloc_zero(c, g->n, sizeof *t.seen, "marks");
    if (!t.neighbour || !t.seen) status = c->status;
    if (!status) status = sort_lists(c, &t);
    int32_t done = 0;
    for (int32_t v = 0; !status && v < g->n; ++v)
        if (!t.seen[v]) done += order_component(&t, v, perm + done);
    sd_free_all(c, t.seen, t.neighbour);
    return status;
}
