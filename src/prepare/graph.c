/* Graphs of matrices and their quotients. See graph.h. */
#include "prepare/graph.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int32_t row_in_b(const int32_t *new_row, int32_t i)
{
    return new_row ? new_row[i] : i;
}

/* B = Q A by columns (that is, B' by rows): row i of it lists the rows that have an entry in column i.
 * Ascending, because the rows of B are traversed in order. */
static saddle_status transpose(sd_context *c, const sd_csr *A, const int32_t *old_row, int64_t **ptr,
                               int32_t **ind)
{
    const int32_t n = A->n;
    *ptr = sd_alloc_zero(c, (int64_t)n + 2, sizeof **ptr, "column counts of the graph");
    *ind = *ptr ? sd_alloc(c, A->nnz, sizeof **ind, "columns of the graph") : NULL;
    if (!*ind) return c->status;
    int64_t *next = *ptr + 1; /* moves from the start of column j to that of column j + 1 */
    for (int64_t k = 0; k < A->nnz; ++k) ++next[A->ind[k] + 1];
    for (int32_t j = 0; j < n; ++j) next[j + 1] += next[j];
    for (int32_t r = 0; r < n; ++r) {
        const int32_t i = old_row ? old_row[r] : r;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) (*ind)[next[A->ind[k]]++] = r;
    }
    return SADDLE_OK;
}

/* Merges two ascending lists without v itself; returns how many there are and writes them where to is not
 * NULL. */
static int64_t merge_lists(int32_t v, const int32_t *a, int64_t a_count, const int32_t *b, int64_t b_count,
                           int32_t *to)
{
    int64_t count = 0, p = 0, q = 0;
    while (p < a_count || q < b_count) {
        const int32_t left = p < a_count ? a[p] : INT32_MAX, right = q < b_count ? b[q] : INT32_MAX;
        const int32_t next = left < right ? left : right;
        p += left == next;
        q += right == next;
        if (next == v) continue;
        if (to) to[count] = next;
        ++count;
    }
    return count;
}

/* The edges of row r of B, with those of column r where the matrix is not symmetric. */
typedef struct row_lists {
    const sd_csr *A;
    const int32_t *old_row;
    const int64_t *column_ptr; /* NULL: symmetric */
    const int32_t *column_ind;
} row_lists;

static int64_t row_edges(const row_lists *l, int32_t r, int32_t *to)
{
    const int32_t i = l->old_row ? l->old_row[r] : r;
    const int64_t begin = l->A->ptr[i], count = l->A->ptr[i + 1] - begin;
    const int64_t other = l->column_ptr ? l->column_ptr[r] : 0;
    return merge_lists(r, l->A->ind + begin, count, l->column_ptr ? l->column_ind + other : NULL,
                       l->column_ptr ? l->column_ptr[r + 1] - other : 0, to);
}

saddle_status sd_graph_from_csr(sd_context *c, const sd_csr *A, bool symmetric, const int32_t *new_row,
                                sd_graph *g)
{
    const int32_t n = A->n;
    int64_t *column_ptr = NULL;
    int32_t *column_ind = NULL, *old_row = NULL;
    *g = (sd_graph){.n = n};
    saddle_status status = SADDLE_OK;
    if (new_row) {
        old_row = sd_alloc(c, n, sizeof *old_row, "row permutation");
        if (!old_row) goto fail;
        sd_invert_order(n, new_row, old_row);
    }
    if (!symmetric) status = transpose(c, A, old_row, &column_ptr, &column_ind);
    if (status) goto fail;
    const row_lists lists = {A, old_row, column_ptr, column_ind};
    g->ptr = sd_alloc(c, (int64_t)n + 1, sizeof *g->ptr, "graph");
    if (!g->ptr) goto fail;
    g->ptr[0] = 0;
    for (int32_t r = 0; r < n; ++r) g->ptr[r + 1] = g->ptr[r] + row_edges(&lists, r, NULL);
    g->ind = sd_alloc(c, g->ptr[n], sizeof *g->ind, "graph");
    if (!g->ind) goto fail;
    for (int32_t r = 0; r < n; ++r) row_edges(&lists, r, g->ind + g->ptr[r]);
    goto done;
fail:
    status = c->status;
    sd_graph_free(c, g);
done:
    sd_free_all(c, old_row, column_ind, column_ptr);
    return status;
}

saddle_status sd_graph_weigh(sd_context *c, const sd_csr *A, bool symmetric, const int32_t *new_row,
                             const double *row_scale, const double *col_scale, sd_graph *g)
{
    g->weight = sd_alloc_zero(c, g->ptr[g->n], sizeof *g->weight, "edge weights");
    if (!g->weight) return c->status;
    for (int32_t i = 0; i < A->n; ++i) {
        const int32_t v = row_in_b(new_row, i);
        int64_t edge = g->ptr[v]; /* both lists ascend */
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t w = A->ind[k];
            if (w == v) continue;
            while (g->ind[edge] != w) ++edge;
            if (symmetric) { /* in one order of the factors, or the two ends would round apart */
                const int32_t low = v < w ? v : w, high = v < w ? w : v;
                g->weight[edge] = fmin(fabs(row_scale[low] * A->val[k] * col_scale[high]), DBL_MAX);
            } else {
                const double size = fmin(fabs(row_scale[i] * A->val[k] * col_scale[w]), DBL_MAX);
                g->weight[edge] += 0.5 * size;
                g->weight[sd_find_index(g->ind, g->ptr[w], g->ptr[w + 1], v)] += 0.5 * size;
            }
        }
    }
    return SADDLE_OK;
}

void sd_graph_free(sd_context *c, sd_graph *g)
{
    sd_free_all(c, g->ptr, g->ind, g->size, g->weight);
    *g = (sd_graph){0};
}

/* The vertices of each part: members[start[p] .. start[p + 1]), ascending. start has parts + 2 places. */
static void list_members(int32_t n, const int32_t *part, int32_t parts, int32_t *start, int32_t *members)
{
    int32_t *next = start + 1;
    memset(start, 0, ((size_t)parts + 2) * sizeof *start);
    for (int32_t v = 0; v < n; ++v) ++next[part[v] + 1];
    for (int32_t p = 0; p < parts; ++p) next[p + 1] += next[p];
    for (int32_t v = 0; v < n; ++v) members[next[part[v]]++] = v;
}

/*
 * The lists of the quotient come out sorted without a sort: part p's neighbours r are found in any order,
 * and p is entered into the list of each r. Since p ascends, so do those lists, and the graph being
 * symmetric they are what is wanted.
 */
typedef struct quotient {
    const sd_graph *g;
    const int32_t *part;
    int32_t *start, *members; /* of the parts */
    int32_t *seen;            /* the last part that was entered into each list */
    int64_t *next;            /* the next free place of each list */
} quotient;

/* Enters part p into the lists of its neighbours; only counts where q->ind is NULL. */
static void enter_part(const quotient *t, int32_t p, sd_graph *q)
{
    for (int32_t m = t->start[p]; m < t->start[p + 1]; ++m) {
        const int32_t v = t->members[m];
        for (int64_t k = t->g->ptr[v]; k < t->g->ptr[v + 1]; ++k) {
            const int32_t r = t->part[t->g->ind[k]];
            if (r == p) continue;
            if (t->seen[r] != p) {
                t->seen[r] = p;
                if (q->ind) q->ind[t->next[r]] = p;
                if (q->weight) q->weight[t->next[r]] = 0.0;
                ++t->next[r];
            }
            if (q->weight) {
                double *weight = &q->weight[t->next[r] - 1];
                *weight = fmin(*weight + t->g->weight[k], DBL_MAX);
            }
        }
    }
}

/* The two ends of an edge were summed in different orders: the list of the higher end gives the weight. */
static void mirror_weights(sd_graph *q, int64_t *cursor)
{
    memcpy(cursor, q->ptr, (size_t)q->n * sizeof *cursor);
    for (int32_t r = 0; r < q->n; ++r) {
        for (int64_t k = q->ptr[r]; k < q->ptr[r + 1] && q->ind[k] < r; ++k) {
            const int32_t p = q->ind[k];
            while (q->ind[cursor[p]] != r) ++cursor[p];
            q->weight[cursor[p]] = q->weight[k];
        }
    }
}

static saddle_status fill_quotient(sd_context *c, quotient *t, sd_graph *q)
{
    const int32_t parts = q->n;
    for (int32_t p = 0; p < parts; ++p) t->seen[p] = -1;
    for (int32_t p = 0; p < parts; ++p) enter_part(t, p, q);
    q->ptr[0] = 0;
    for (int32_t p = 0; p < parts; ++p) {
        q->ptr[p + 1] = q->ptr[p] + t->next[p];
        t->next[p] = q->ptr[p];
        t->seen[p] = -1;
    }
    q->ind = sd_alloc(c, q->ptr[parts], sizeof *q->ind, "quotient graph");
    if (t->g->weight) q->weight = sd_alloc(c, q->ptr[parts], sizeof *q->weight, "edge weights");
    if (!q->ind || (t->g->weight && !q->weight)) return c->status;
    for (int32_t p = 0; p < parts; ++p) enter_part(t, p, q);
    if (q->weight) mirror_weights(q, t->next);
    return SADDLE_OK;
}

saddle_status sd_graph_quotient(sd_context *c, const sd_graph *g, const int32_t *part, int32_t parts,
                                sd_graph *q)
{
    saddle_status status = SADDLE_OK;
    quotient t = {.g = g, .part = part};
    *q = (sd_graph){.n = parts};
    t.start = sd_alloc(c, (int64_t)parts + 2, sizeof *t.start, "parts");
    t.members = sd_alloc(c, g->n, sizeof *t.members, "parts");
    t.seen = sd_alloc(c, parts, sizeof *t.seen, "marks");
    t.next = sd_alloc_zero(c, parts, sizeof *t.next, "quotient graph");
    q->ptr = sd_alloc(c, (int64_t)parts + 1, sizeof *q->ptr, "quotient graph");
    q->size = sd_alloc_zero(c, parts, sizeof *q->size, "part sizes");
    if (!t.start || !t.members || !t.seen || !t.next || !q->ptr || !q->size) {
        status = c->status;
    } else {
        list_members(g->n, part, parts, t.start, t.members);
        for (int32_t v = 0; v < g->n; ++v) q->size[part[v]] += sd_graph_size(g, v);
        status = fill_quotient(c, &t, q);
    }
    if (status) sd_graph_free(c, q);
    sd_free_all(c, t.next, t.seen, t.members, t.start);
    return status;
}

saddle_status sd_expand_order(sd_context *c, int32_t n, const int32_t *part, int32_t parts,
                              const int32_t *part_order, int32_t *order)
{
    int32_t *begin = sd_alloc(c, (int64_t)parts + 2, sizeof *begin, "parts");
    int32_t *members = sd_alloc(c, n, sizeof *members, "parts");
    int32_t done = 0;
    if (begin && members) {
        list_members(n, part, parts, begin, members);
        for (int32_t k = 0; k < parts; ++k) {
            const int32_t p = part_order[k], count = begin[p + 1] - begin[p];
            memcpy(order + done, members + begin[p], (size_t)count * sizeof *order);
            done += count;
        }
    }
    const saddle_status status = begin && members ? SADDLE_OK : c->status;
    sd_free_all(c, members, begin);
    return status;
}
