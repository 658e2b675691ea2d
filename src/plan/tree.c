/*
 * The assembly tree from its supernodes: rows, maps, groups of subtrees, predictions. See tree.h.
 *
 * The rows of a front are those of A in its columns and those that its children hand up, less its own
 * columns; how many they are is known from the column counts. Each list is brought into ascending order
 * by two bucket sorts over all lists together, in time linear in their length.
 */
#include "plan/tree.h"

#include "plan/supernodes.h"

/* The rows of all fronts, each list in the order in which its rows were met. mark is work of n. */
static void find_rows(const sd_graph *g, sd_tree *t, int32_t *mark)
{
    for (int32_t k = 0; k < t->n; ++k) mark[k] = -1;
    for (int32_t f = 0; f < t->fronts; ++f) {
        int64_t end = t->row_ptr[f];
        const int32_t last = t->first[f + 1];
        for (int32_t k = t->first[f]; k < last; ++k) {
            const int32_t row = t->order[k];
            for (int64_t e = g->ptr[row]; e < g->ptr[row + 1]; ++e) {
                const int32_t at = t->position[g->ind[e]];
                if (at < last || mark[at] == f) continue;
                mark[at] = f;
                t->rows[end++] = at;
            }
        }
        for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
            const int32_t below = t->child[k];
            for (int64_t e = t->row_ptr[below]; e < t->row_ptr[below + 1]; ++e) {
                const int32_t at = t->rows[e];
                if (at < last || mark[at] == f) continue;
                mark[at] = f;
                t->rows[end++] = at;
            }
        }
    }
}

/* Sorts all lists of rows: by row first, then back by front. start is work of n + 1, front_of and next of
 * the lists' length and of the fronts. */
static void sort_rows(sd_tree *t, int64_t *start, int32_t *front_of, int64_t *next)
{
    const int64_t total = t->row_ptr[t->fronts];
    for (int32_t k = 0; k <= t->n; ++k) start[k] = 0;
    for (int64_t e = 0; e < total; ++e) ++start[t->rows[e] + 1];
    for (int32_t k = 0; k < t->n; ++k) start[k + 1] += start[k];
    for (int32_t f = 0; f < t->fronts; ++f) {
        next[f] = t->row_ptr[f];
        for (int64_t e = t->row_ptr[f]; e < t->row_ptr[f + 1]; ++e) front_of[start[t->rows[e]]++] = f;
    }
    int64_t e = 0;
    for (int32_t k = 0; k < t->n; ++k)
        for (; e < start[k]; ++e) t->rows[next[front_of[e]]++] = k;
}

static void list_children(sd_tree *t)
{
    for (int32_t f = 0; f <= t->fronts; ++f) t->child_ptr[f] = 0;
    for (int32_t f = 0; f < t->fronts; ++f)
        if (t->parent[f] >= 0) ++t->child_ptr[t->parent[f]];
    for (int64_t f = 0, sum = 0; f <= t->fronts; ++f) {
        sum += t->child_ptr[f];
        t->child_ptr[f] = sum;
    }
    for (int32_t f = t->fronts - 1; f >= 0; --f)
        if (t->parent[f] >= 0) t->child[--t->child_ptr[t->parent[f]]] = f;
}

/* The entries of A by column, their rows still positions. next is work of n. */
static void sort_entries(const sd_csr *A, sd_tree *t, int64_t *next)
{
    const int32_t *position = t->position;
    for (int32_t k = 0; k <= t->n; ++k) t->entry_ptr[k] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) {
            const int32_t at = position[i], other = position[A->ind[e]];
            if (A->half || other <= at) ++t->entry_ptr[(other < at ? other : at) + 1];
        }
    }
    for (int32_t k = 0; k < t->n; ++k) {
        t->entry_ptr[k + 1] += t->entry_ptr[k];
        next[k] = t->entry_ptr[k];
    }
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) {
            const int32_t at = position[i], other = position[A->ind[e]];
            t->target[e] = -1;
            if (!A->half && other > at) continue;
            const int64_t to = next[other < at ? other : at]++;
            t->target[e] = to;
            t->entry_row[to] = other < at ? at : other;
        }
    }
}

/* Positions become places: in the front's own list for the entries of A, in the parent's for rows that
 * are handed up. place_of is work of n. */
static void find_places(sd_tree *t, int32_t *place_of)
{
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t first = t->first[f], last = t->first[f + 1];
        for (int32_t k = first; k < last; ++k) place_of[k] = k - first;
        for (int64_t e = t->row_ptr[f]; e < t->row_ptr[f + 1]; ++e)
            place_of[t->rows[e]] = last - first + (int32_t)(e - t->row_ptr[f]);
        for (int64_t e = t->entry_ptr[first]; e < t->entry_ptr[last]; ++e)
            t->entry_row[e] = place_of[t->entry_row[e]];
        for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
            const int32_t below = t->child[k];
            for (int64_t e = t->row_ptr[below]; e < t->row_ptr[below + 1]; ++e)
                t->place[e] = place_of[t->rows[e]];
        }
    }
}

double sd_front_flops(int64_t rows, int64_t columns)
{
    const double r = (double)rows, c = (double)columns; /* the sum of (r - j)^2, j < c */
    return c * (r * r - r * (c - 1) + (c - 1) * (2 * c - 1) / 6);
}

int64_t sd_panel_bytes(int64_t rows, int64_t columns, sd_precision precision)
{
    const int64_t number = (int64_t)sd_precision_size(precision);
    return ((rows + 2) * columns * number + columns * (int64_t)sizeof(int32_t) + 7) / 8 * 8;
}

int64_t sd_panels_bytes(const sd_tree *t, sd_precision precision, int64_t most, double delays)
{
    int64_t bytes = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t columns = sd_front_columns(t, f);
        const int64_t panel = sd_panel_bytes(columns + sd_front_below(t, f), columns, precision);
        if (panel <= most) bytes += panel;
    }
    return bytes + (int64_t)(delays * (double)bytes);
}

/* Of a tree that is zero except for its fronts and their rows. */
static void predict(sd_tree *t)
{
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t columns = sd_front_columns(t, f), rows = columns + sd_front_below(t, f);
        t->nnz += (int64_t)columns * rows - (int64_t)columns * (columns - 1) / 2;
        t->flops += sd_front_flops(rows, columns);
        if (rows > t->largest_rows) t->largest_rows = rows;
        if (columns > t->largest_columns) t->largest_columns = columns;
    }
}

/* The longest way to a root, in fronts. depth is work of the fronts. */
static void measure_height(sd_tree *t, int32_t *depth)
{
    t->height = 0;
    for (int32_t f = t->fronts - 1; f >= 0; --f) {
        depth[f] = 1 + (t->parent[f] < 0 ? 0 : depth[t->parent[f]]);
        if (depth[f] > t->height) t->height = depth[f];
        t->odd[f] = depth[f] % 2 == 0;
    }
}

static saddle_status allocate(sd_context *c, const sd_csr *A, int64_t rows, sd_tree *t)
{
    const int64_t n = t->n, fronts = t->fronts, diagonal = A->half ? A->nnz : (A->nnz + n) / 2;
    t->position = sd_alloc(c, n, sizeof *t->position, "assembly tree");
    t->child_ptr = sd_alloc(c, fronts + 1, sizeof *t->child_ptr, "assembly tree");
    t->child = sd_alloc(c, fronts, sizeof *t->child, "assembly tree");
    t->odd = sd_alloc(c, fronts, sizeof *t->odd, "assembly tree");
    t->rows = sd_alloc(c, rows, sizeof *t->rows, "rows of the fronts");
    t->place = sd_alloc(c, rows, sizeof *t->place, "assembly maps");
    t->entry_ptr = sd_alloc(c, n + 1, sizeof *t->entry_ptr, "assembly maps");
    t->entry_row = sd_alloc(c, diagonal, sizeof *t->entry_row, "assembly maps");
    t->target = sd_alloc(c, A->nnz, sizeof *t->target, "assembly maps");
    const bool all = t->position && t->child_ptr && t->child && t->odd && t->rows && t->place &&
                     t->entry_ptr && t->entry_row && t->target;
    return all ? SADDLE_OK : c->status;
}

static saddle_status take_supernodes(sd_context *c, const sd_graph *g, const int32_t *order,
                                     const sd_elimination *columns, bool amalgamated, sd_tree *t)
{
    sd_supernodes s;
    const saddle_status status = sd_supernodes_make(c, g, order, columns, amalgamated, &s);
    if (status) return status;
    t->n = g->n;
    t->fronts = s.count;
    t->order = s.order;
    t->first = s.first;
    t->parent = s.parent;
    t->column_nnz = s.nnz;
    t->column_flops = s.flops;
    t->columns_once = s.columns_once;
    t->columns_again = s.columns_again;
    t->row_ptr = sd_alloc(c, (int64_t)s.count + 1, sizeof *t->row_ptr, "assembly tree");
    if (t->row_ptr) {
        t->row_ptr[0] = 0;
        for (int32_t f = 0; f < s.count; ++f) t->row_ptr[f + 1] = t->row_ptr[f] + s.below[f];
    }
    sd_free(c, s.below);
    return t->row_ptr ? SADDLE_OK : c->status;
}

saddle_status sd_tree_make(sd_context *c, const sd_csr *A, const sd_graph *g, const int32_t *order,
                           const sd_elimination *columns, bool amalgamated, sd_tree *tree)
{
    int64_t *work = NULL;
    int32_t *front_of = NULL;
    *tree = (sd_tree){0};
    saddle_status status = take_supernodes(c, g, order, columns, amalgamated, tree);
    const int64_t rows = status ? 0 : tree->row_ptr[tree->fronts];
    if (!status) status = allocate(c, A, rows, tree);
    if (!status) {
        work = sd_alloc(c, 2 * (int64_t)tree->n + 1, sizeof *work, "assembly tree");
        front_of = sd_alloc(c, rows > tree->n ? rows : tree->n, sizeof *front_of, "assembly tree");
        status = work && front_of ? SADDLE_OK : c->status;
    }
    if (!status) {
        sd_invert_order(tree->n, tree->order, tree->position);
        list_children(tree);
        find_rows(g, tree, front_of);
        sort_rows(tree, work, front_of, work + tree->n + 1);
        sort_entries(A, tree, work);
        find_places(tree, front_of);
        predict(tree);
        measure_height(tree, front_of);
        status = sd_tree_group(c, tree);
    }
    if (!status) status = sd_tree_measure_path(c, tree);
    sd_free_all(c, work, front_of);
    if (status) sd_tree_free(c, tree);
    return status;
}

void sd_tree_free(sd_context *c, sd_tree *t)
{
    sd_free_all(c, t->order, t->position, t->first, t->parent, t->child_ptr, t->child, t->row_ptr, t->rows,
                t->place, t->entry_ptr, t->entry_row, t->target, t->group_first, t->group_last, t->group_of,
                t->group_stack, t->above, t->odd);
    *t = (sd_tree){0};
}
