/*
 * The columns of L for a sequence of pivots: see sequence.h.
 *
 * Node J is in row k if an entry of row k of A is in J or in a descendant of J in the elimination tree of the
 * nodes (J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11,
 * 1990): the rows are walked twice, to count and to fill in, so that the rows of a column come in ascending
 * order, and from the columns the lists of the rows.
 */
#include "plan/sequence.h"

#include <string.h>

/* The position of row r of the front that column p belongs to. */
static int32_t position_of(const sd_tree *t, int32_t f, int32_t r)
{
    const int32_t columns = sd_front_columns(t, f);
    return r < columns ? t->first[f] + r : t->rows[t->row_ptr[f] + r - columns];
}

/* The entries of A by rows of the sequence. rank is the inverse of variable. */
static void sort_entries(const sd_tree *t, const int32_t *rank, sd_sequence *s)
{
    int64_t *ptr = s->entry_ptr;
    memset(ptr, 0, ((size_t)s->n + 1) * sizeof *ptr);
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t f = 0; f < t->fronts; ++f) {
            for (int32_t p = t->first[f]; p < t->first[f + 1]; ++p) {
                for (int64_t e = t->entry_ptr[p]; e < t->entry_ptr[p + 1]; ++e) {
                    const int32_t a = rank[p], b = rank[position_of(t, f, t->entry_row[e])];
                    const int32_t row = a > b ? a : b;
                    if (pass == 0) {
                        ++ptr[row];
                        continue;
                    }
                    const int64_t at = --ptr[row];
                    s->column[at] = a > b ? b : a;
                    s->from[at] = e;
                }
            }
        }
        if (pass == 1) break;
        int64_t sum = 0;
        for (int32_t k = 0; k <= s->n; ++k) ptr[k] = sum += ptr[k];
    }
}

/* The nodes, still without entries; returns how many. */
static void list_nodes(const bool *pair, int32_t *node_of, sd_sequence *s)
{
    s->nodes = 0;
    for (int32_t k = 0; k < s->n; ++k) {
        const int32_t width = pair && pair[k] ? 2 : 1;
        s->node[s->nodes] = (sd_node){.k = k, .width = width};
        node_of[k] = s->nodes;
        if (width == 2) node_of[++k] = s->nodes;
        ++s->nodes;
    }
}

/* parent[], by paths that are compressed as they are walked. ancestor is work. */
static void find_parents(const sd_sequence *s, const int32_t *node_of, int32_t *parent, int32_t *ancestor)
{
    for (int32_t j = 0; j < s->nodes; ++j) parent[j] = ancestor[j] = -1;
    for (int32_t k = 0; k < s->n; ++k) {
        const int32_t top = node_of[k];
        for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e) {
            for (int32_t j = node_of[s->column[e]], next; j >= 0 && j < top; j = next) {
                next = ancestor[j];
                ancestor[j] = top;
                if (next < 0) parent[j] = top;
            }
        }
    }
}

/* Walks the subtree of every row: counts the entries of the nodes in `end`, or fills them in from there. */
static void walk_rows(sd_sequence *s, const int32_t *node_of, const int32_t *parent, int32_t *mark, bool fill)
{
    for (int32_t j = 0; j < s->nodes; ++j) mark[j] = -1;
    for (int32_t k = 0; k < s->n; ++k) {
        const int32_t top = node_of[k];
        mark[top] = k;
        for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e) {
            for (int32_t j = node_of[s->column[e]]; mark[j] != k; j = parent[j]) {
                sd_node *node = &s->node[j];
                mark[j] = k;
                for (int32_t i = 0; i < node->width; ++i) {
                    if (fill) s->row[node->end] = k;
                    ++node->end;
                }
            }
        }
    }
}

/* Where the nodes' entries begin; their sum. */
static int64_t begin_nodes(sd_sequence *s)
{
    int64_t sum = 0;
    s->nnz = s->n;
    for (int32_t j = 0; j < s->nodes; ++j) {
        sd_node *node = &s->node[j];
        const int64_t entries = node->end, rows = entries / node->width;
        s->nnz += entries + (node->width == 2);
        s->products += rows * (rows - 1) / 2;
        s->flops += sd_front_flops(rows + node->width, node->width);
        if (rows + node->width > s->largest) s->largest = (int32_t)rows + node->width;
        node->begin = node->end = sum;
        sum += entries;
    }
    return sum;
}

/* The nodes of every row, from the rows of every node. */
static void list_rows(sd_sequence *s)
{
    int64_t *ptr = s->list_ptr, sum = 0;
    memset(ptr, 0, ((size_t)s->n + 1) * sizeof *ptr);
    for (int32_t j = 0; j < s->nodes; ++j)
        for (int64_t e = s->node[j].begin; e < s->node[j].end; e += s->node[j].width) ++ptr[s->row[e]];
    for (int32_t k = 0; k <= s->n; ++k) ptr[k] = sum += ptr[k];
    for (int32_t j = s->nodes - 1; j >= 0; --j)
        for (int64_t e = s->node[j].begin; e < s->node[j].end; e += s->node[j].width)
            s->list[--ptr[s->row[e]]] = j;
}

static saddle_status allocate(sd_context *c, int64_t entries, sd_sequence *s)
{
    const int64_t n = s->n;
    s->place = sd_alloc(c, n, sizeof *s->place, "sequence of pivots");
    s->node = sd_alloc(c, n, sizeof *s->node, "sequence of pivots");
    s->list_ptr = sd_alloc(c, n + 1, sizeof *s->list_ptr, "sequence of pivots");
    s->entry_ptr = sd_alloc(c, n + 1, sizeof *s->entry_ptr, "sequence of pivots");
    s->column = sd_alloc(c, entries, sizeof *s->column, "sequence of pivots");
    s->from = sd_alloc(c, entries, sizeof *s->from, "sequence of pivots");
    const bool all = s->place && s->node && s->list_ptr && s->entry_ptr && s->column && s->from;
    return all ? SADDLE_OK : c->status;
}

/* Everything; work has 4 n numbers. */
static saddle_status fill_in(sd_context *c, const sd_tree *t, const bool *pair, int32_t *work, sd_sequence *s)
{
    const int64_t n = s->n;
    int32_t *rank = work, *node_of = rank + n, *parent = node_of + n, *mark = parent + n;
    sd_invert_order(s->n, s->variable, rank);
    for (int32_t i = 0; i < s->n; ++i) s->place[i] = rank[t->position[i]];
    sort_entries(t, rank, s);
    list_nodes(pair, node_of, s);
    find_parents(s, node_of, parent, mark);
    walk_rows(s, node_of, parent, mark, false);
    const int64_t total = begin_nodes(s);
    s->row = sd_alloc(c, total, sizeof *s->row, "sequence of pivots");
    s->list = sd_alloc(c, total, sizeof *s->list, "sequence of pivots");
    if (!s->row || !s->list) return c->status;
    walk_rows(s, node_of, parent, mark, true);
    list_rows(s);
    return SADDLE_OK;
}

saddle_status sd_sequence_make(sd_context *c, const sd_tree *tree, int32_t *variable, const bool *pair,
                               sd_sequence *s)
{
    *s = (sd_sequence){.n = tree->n, .variable = variable};
    int32_t *work = sd_alloc(c, 4 * (int64_t)tree->n, sizeof *work, "sequence of pivots");
    saddle_status status = work ? allocate(c, tree->entry_ptr[tree->n], s) : c->status;
    if (!status) status = fill_in(c, tree, pair, work, s);
    sd_free(c, work);
    if (status) sd_sequence_free(c, s);
    return status;
}

int64_t sd_sequence_bytes(int64_t n, int64_t nnz, int64_t entries)
{
    enum { INDEX = sizeof(int32_t), LONG = sizeof(int64_t) };
    return n * (2 * INDEX + (int64_t)sizeof(sd_node) + 2 * LONG) + nnz * 2 * INDEX + entries * (INDEX + LONG);
}

/* ---- column by column ---- */

/* Products for every number of L and D that may have their places: each takes an index of 4 bytes. An
 * L that is as sparse as columns are meant for (plan/supernodes.c) has fewer; others stay row by row. */
enum { PRODUCTS_MOST = 32 };

/* Where each node has row k, while the rows pass by, and D behind all nodes. */
typedef struct placing {
    const sd_sequence *s;
    int32_t *node_of;
    int32_t *at;       /* of the nodes that have row k */
    int64_t *products; /* the first of every node */
    int64_t entries;
} placing;

/* The place of (k, column). */
static int32_t place_of(const placing *p, int32_t k, int32_t column)
{
    const int32_t j = p->node_of[column];
    if (column == k) return (int32_t)(p->entries + 2 * (int64_t)k);
    if (j == p->node_of[k]) return (int32_t)(p->entries + 2 * (int64_t)column + 1);
    return p->at[j] + (column - p->s->node[j].k);
}

/* Row k: its entries of A, and its products in every node that has it. */
static void place_row(const placing *p, int32_t k, sd_sequence *s)
{
    const int64_t first = s->list_ptr[k], end = s->list_ptr[k + 1];
    for (int64_t t = first; t < end; ++t) p->at[s->list[t]] = (int32_t)s->node[s->list[t]].next;
    for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e)
        s->start[s->from[e]] = place_of(p, k, s->column[e]);
    for (int64_t t = first; t < end; ++t) {
        sd_node *const node = &s->node[s->list[t]];
        const int64_t above = (node->next - node->begin) / node->width;
        int32_t *const to = s->target + p->products[s->list[t]] + above * (above - 1) / 2;
        for (int64_t a = 0; a < above; ++a) to[a] = place_of(p, k, s->row[node->begin + a * node->width]);
        node->next += node->width;
    }
}

bool sd_sequence_has_places(const sd_sequence *s)
{
    const int64_t entries = s->nodes > 0 ? s->node[s->nodes - 1].end : 0;
    return entries + 2 * (int64_t)s->n <= INT32_MAX && s->products <= PRODUCTS_MOST * s->nnz;
}

saddle_status sd_sequence_place(sd_context *c, sd_sequence *s)
{
    const int64_t n = s->n;
    placing p = {.s = s, .entries = n > 0 ? s->node[s->nodes - 1].end : 0};
    p.node_of = sd_alloc(c, n, sizeof *p.node_of, "sequence of pivots");
    p.at = sd_alloc(c, n, sizeof *p.at, "sequence of pivots");
    p.products = sd_alloc(c, n, sizeof *p.products, "sequence of pivots");
    s->start = sd_alloc(c, s->entry_ptr[n], sizeof *s->start, "sequence of pivots");
    s->target = sd_alloc(c, s->products, sizeof *s->target, "sequence of pivots");
    const bool made = p.node_of && p.at && p.products && s->start && s->target;
    int64_t count = 0;
    for (int32_t j = 0; j < s->nodes && made; ++j) {
        sd_node *const node = &s->node[j];
        const int64_t rows = (node->end - node->begin) / node->width;
        for (int32_t i = 0; i < node->width; ++i) p.node_of[node->k + i] = j;
        node->next = node->begin;
        p.products[j] = count;
        count += rows * (rows - 1) / 2;
    }
    for (int32_t k = 0; k < s->n && made; ++k) place_row(&p, k, s);
    sd_free_all(c, p.products, p.at, p.node_of);
    if (made) return SADDLE_OK;
    sd_free_all(c, s->target, s->start);
    s->start = s->target = NULL;
    return c->status;
}

int64_t sd_sequence_place_bytes(double flops, int64_t nnz, int64_t entries)
{
    const double most = (double)PRODUCTS_MOST * (double)nnz;
    const double products = 0.5 * flops < most ? 0.5 * flops : most;
    return ((int64_t)products + entries) * (int64_t)sizeof(int32_t);
}

void sd_sequence_free(sd_context *c, sd_sequence *s)
{
    sd_free_all(c, s->variable, s->place, s->node, s->row, s->list_ptr, s->list, s->entry_ptr, s->column,
                s->from, s->start, s->target);
    *s = (sd_sequence){0};
}
