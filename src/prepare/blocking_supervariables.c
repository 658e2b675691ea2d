/*
 * Supervariables: vertices with the same neighbours, each counted among its own, as the variables of one node
 * of a mesh are; then several of them in a block (supervariable amalgamation: E. Chow, H. Anzt, J. Scott and
 * J. Dongarra, Using Jacobi iterations and blocking for solving sparse triangular systems in incomplete
 * factorization preconditioning, J. Parallel Distrib. Comput. 119 (2018), section 2.3). Values play no part.
 *
 * Exact ones are found by hashing: equal neighbourhoods have equal sums of hashed members, and those that
 * have are compared. Since each is in the neighbourhood of all the others, only neighbours need be.
 *
 * Approximate ones by the cosine of the angle between two patterns as vectors of zeros and ones (Y. Saad,
 * Finding exact and approximate block structures for ILU preconditioning, SIAM J. Sci. Comput. 24 (2003)):
 * for each vertex that has no supervariable yet, those that have an angle of at least COSINE with it join it.
 * The inner products come from the lists of the neighbours' neighbours. Neighbouring nodes of a mesh of
 * quadrilaterals or bricks have 2/3 of their neighbours in common: COSINE lies above that, so that nodes are
 * not taken for one another, while a node's variables may lack nearly a third of each other's entries.
 *
 * A supervariable that is too large is divided evenly. The rest are amalgamated on the condensed graph: in
 * reverse Cuthill-McKee order, a block takes the coupled supervariable that comes first in this order.
 * (Joining those that are side by side in it, as the paper does, would put uncoupled ones together: on a
 * grid the vertices of one level set of the order have no edge between them.)
 */
#include "prepare/blocking_parts.h"
#include "prepare/order.h"

static const double COSINE = 0.7;

typedef struct angles {
    const sd_graph *g;
    int64_t heavy;  /* lists that are longer are not traversed, nor counted in the patterns */
    int32_t *norm2; /* entries of each pattern: the vertex itself and its neighbours, without heavy ones */
    int32_t *inner; /* inner products with the pattern of one vertex; 0 between uses */
    int32_t *seen;  /* the vertices whose product is not 0 */
    int32_t count;
} angles;

static bool is_heavy(const angles *t, int32_t v)
{
    return sd_degree(t->g, v) > t->heavy;
}

/* Counts v as a member of the patterns of all free vertices that have it. */
static void count_member(angles *t, const int32_t *super, int32_t v)
{
    const sd_graph *g = t->g;
    if (is_heavy(t, v)) return;
    for (int64_t k = g->ptr[v] - 1; k < g->ptr[v + 1]; ++k) {
        const int32_t w = k < g->ptr[v] ? v : g->ind[k];
        if (super[w] >= 0 || is_heavy(t, w)) continue;
        if (t->inner[w]++ == 0) t->seen[t->count++] = w;
    }
}

static void find_angles(angles *t, int32_t *super)
{
    const sd_graph *g = t->g;
    for (int32_t v = 0; v < g->n; ++v) {
        t->norm2[v] = !is_heavy(t, v);
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) t->norm2[v] += !is_heavy(t, g->ind[k]);
        super[v] = -1;
    }
    for (int32_t v = 0; v < g->n; ++v) {
        if (super[v] >= 0) continue;
        super[v] = v;
        if (is_heavy(t, v)) continue;
        t->count = 0;
        count_member(t, super, v);
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) count_member(t, super, g->ind[k]);
        for (int32_t s = 0; s < t->count; ++s) {
            const int32_t w = t->seen[s];
            const double inner = t->inner[w];
            if (inner >= COSINE * sqrt((double)t->norm2[v] * (double)t->norm2[w])) super[w] = v;
            t->inner[w] = 0;
        }
    }
}

/* Lists of more than ten times the mean length are left out, so that the work stays near the number of edges
 * times the mean degree. */
static saddle_status find_similar(sd_context *c, const sd_graph *g, int32_t *super)
{
    const double mean = g->n ? (double)g->ptr[g->n] / (double)g->n : 0.0;
    angles t = {.g = g, .heavy = (int64_t)fmax(64.0, 10.0 * mean)};
    t.norm2 = sd_alloc(c, g->n, sizeof *t.norm2, "lengths of the patterns");
    t.inner = sd_alloc_zero(c, g->n, sizeof *t.inner, "inner products");
    t.seen = sd_alloc(c, g->n, sizeof *t.seen, "marks");
    const saddle_status status = t.norm2 && t.inner && t.seen ? SADDLE_OK : c->status;
    if (!status) find_angles(&t, super);
    sd_free_all(c, t.seen, t.inner, t.norm2);
    return status;
}

/* Divides the vertices member[0 .. count) into parts of at most `most` rows each, as even as can be, by
 * halving; a part goes by its first vertex. */
static void divide(const sd_graph *g, const int32_t *member, int32_t count, int32_t most, int32_t *part)
{
    int64_t rows = 0;
    for (int32_t k = 0; k < count; ++k) rows += sd_graph_size(g, member[k]);
    if (rows <= most || count == 1) {
        for (int32_t k = 0; k < count; ++k) part[member[k]] = member[0];
        return;
    }
    const int64_t pieces = (rows + most - 1) / most, left = rows * (pieces / 2) / pieces;
    int64_t before = 0;
    int32_t half = 0;
    while (half < count - 1 && (half == 0 || before + sd_graph_size(g, member[half]) <= left))
        before += sd_graph_size(g, member[half++]);
    divide(g, member, half, most, part);
    divide(g, member + half, count - half, most, part);
}

/* From supervariables, each named by its lowest vertex, to parts that are not too large. */
static saddle_status divide_all(sd_context *c, const sd_graph *g, const int32_t *super, int32_t most,
                                int32_t *part)
{
    const int32_t n = g->n;
    int32_t *end = sd_alloc_zero(c, (int64_t)n + 1, sizeof *end, "supervariables");
    int32_t *member = sd_alloc(c, n, sizeof *member, "supervariables");
    const saddle_status status = end && member ? SADDLE_OK : c->status;
    if (!status) {
        for (int32_t v = 0; v < n; ++v) ++end[super[v] + 1];
        for (int32_t v = 0; v < n; ++v) end[v + 1] += end[v];
        for (int32_t v = 0; v < n; ++v) member[end[super[v]]++] = v;
        for (int32_t v = 0, begin = 0; v < n; begin = end[v++])
            if (end[v] > begin) divide(g, member + begin, end[v] - begin, most, part);
    }
    sd_free_all(c, member, end);
    return status;
}

/* Joins coupled parts to larger ones of at most `most` rows; parts are numbered. */
static saddle_status amalgamate(sd_context *c, const sd_graph *g, int32_t most, int32_t parts, int32_t *part)
{
    sd_graph pattern = *g, condensed = {0};
    pattern.weight = NULL;
    int64_t dense;
    int32_t *order = sd_alloc(c, parts, sizeof *order, "order of the supervariables");
    int32_t *joined = sd_alloc(c, parts, sizeof *joined, "blocks of supervariables");
    saddle_status status = order && joined ? SADDLE_OK : c->status;
    if (!status) status = sd_graph_quotient(c, &pattern, part, parts, &condensed);
    if (!status) status = sd_order_graph(c, &condensed, SADDLE_ORDER_RCM, order, &dense);
    if (!status) status = sd_grow_parts(c, &condensed, order, SD_GROW_IN_ORDER, NULL, most, joined);
    for (int32_t v = 0; v < g->n && !status; ++v) part[v] = joined[part[v]];
    sd_graph_free(c, &condensed);
    sd_free_all(c, joined, order);
    return status;
}

saddle_status sd_block_supervariables(sd_context *c, const sd_graph *g, int32_t most, bool cosine,
                                      int32_t *part)
{
    int32_t parts;
    int32_t *super = sd_alloc(c, g->n, sizeof *super, "supervariables");
    if (!super) return c->status;
    saddle_status status = cosine ? find_similar(c, g, super) : sd_supervariables(c, g, super);
    if (!status) status = divide_all(c, g, super, most, part);
    sd_free(c, super);
    if (!status) status = sd_number_parts(c, g->n, part, &parts);
    return status ? status : amalgamate(c, g, most, parts, part);
}
