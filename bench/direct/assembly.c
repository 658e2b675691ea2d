/* See assembly.h. Sources: J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J.
 * Matrix Anal. Appl. 11 (1990); A. George and J. W. H. Liu, Computer solution of large sparse positive
 * definite systems (1981). */
#include "bench/direct/assembly.h"

#include <stdlib.h>
#include <string.h>

/* What the tree is made of. All arrays are n long where nothing else is said, and freed by release(). */
typedef struct tree {
    int32_t n, fronts;
    int32_t *position;             /* of each row of A; in the end in a postorder */
    int64_t *row_ptr, *column_ptr; /* n + 1 */
    int32_t *row_ind, *column_ind; /* below the diagonal by rows, and by columns, as positions */
    int32_t *parent, *count; /* of each column: in the elimination tree; entries of L with the diagonal */
    int32_t *work, *more;    /* for whoever needs them */
    int32_t *front_of;       /* of each column */
    int32_t *last, *columns, *above; /* of each front: its last column, how many it has, its parent or -1 */
    int64_t *child_ptr;              /* fronts + 1 */
    int32_t *child;
    int64_t *own_ptr, *below_ptr; /* fronts + 1: columns of each front, and rows below them */
    int32_t *own, *below;
    uint16_t *tally; /* of the entries of a front */
} tree;

static void release(tree *t)
{
    void *const all[] = {t->position, t->row_ptr,   t->column_ptr, t->row_ind,   t->column_ind,
                         t->parent,   t->count,     t->work,       t->more,      t->front_of,
                         t->last,     t->columns,   t->above,      t->child_ptr, t->child,
                         t->own_ptr,  t->below_ptr, t->own,        t->below,     t->tally};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) free(all[k]);
}

static bool take_room(tree *t, const saddle_matrix *lower)
{
    const size_t n = (size_t)lower->rows + 1, entries = (size_t)lower->entries + 1;
    int32_t **const vectors[] = {&t->position, &t->parent,  &t->count, &t->work,  &t->more, &t->front_of,
                                 &t->last,     &t->columns, &t->above, &t->child, &t->own};
    int64_t **const pointers[] = {&t->row_ptr, &t->column_ptr, &t->child_ptr, &t->own_ptr, &t->below_ptr};
    bool there = true;
    t->n = (int32_t)lower->rows;
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; ++k)
        there = (*vectors[k] = malloc(n * sizeof(int32_t))) && there;
    for (size_t k = 0; k < sizeof pointers / sizeof pointers[0]; ++k)
        there = (*pointers[k] = malloc((n + 1) * sizeof(int64_t))) && there;
    t->row_ind = malloc(entries * sizeof(int32_t));
    t->column_ind = malloc(entries * sizeof(int32_t));
    return there && t->row_ind && t->column_ind;
}

/* Items by the bin that each is in: ptr (bins + 1) and, bin after bin, ascending items. */
static void sort_into(const int32_t *bin, int32_t items, int32_t bins, int64_t *ptr, int32_t *to)
{
    memset(ptr, 0, ((size_t)bins + 1) * sizeof *ptr);
    for (int32_t k = 0; k < items; ++k)
        if (bin[k] >= 0) ptr[bin[k] + 1]++;
    for (int32_t k = 0; k < bins; ++k) ptr[k + 1] += ptr[k];
    for (int32_t k = 0; k < items; ++k)
        if (bin[k] >= 0) to[ptr[bin[k]]++] = k;
    for (int32_t k = bins; k > 0; --k) ptr[k] = ptr[k - 1];
    ptr[0] = 0;
}

/* The entries off the diagonal, by the later of both positions. */
static void take_rows(tree *t, const saddle_matrix *lower)
{
    const int64_t *start = lower->pointers;
    memset(t->row_ptr, 0, ((size_t)t->n + 2) * sizeof *t->row_ptr);
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t j = 0; j < t->n; ++j) {
            for (int64_t k = start[j]; k < start[j + 1]; ++k) {
                const int32_t p = t->position[lower->indices[k]], q = t->position[j], late = p > q ? p : q;
                if (p == q) continue;
                if (pass == 0)
                    t->row_ptr[late + 2]++;
                else
                    t->row_ind[t->row_ptr[late + 1]++] = p > q ? q : p;
            }
        }
        for (int32_t i = 0; i < t->n && pass == 0; ++i) t->row_ptr[i + 2] += t->row_ptr[i + 1];
    }
}

/* The elimination tree of the rows, by Liu's algorithm; work: the ancestor known so far. */
static void make_parents(tree *t)
{
    for (int32_t i = 0; i < t->n; ++i) {
        t->parent[i] = t->work[i] = -1;
        for (int64_t k = t->row_ptr[i]; k < t->row_ptr[i + 1]; ++k) {
            int32_t r = t->row_ind[k];
            while (t->work[r] >= 0 && t->work[r] != i) {
                const int32_t next = t->work[r];
                t->work[r] = i;
                r = next;
            }
            if (t->work[r] < 0) t->work[r] = t->parent[r] = i;
        }
    }
}

/* Where each column is in a postorder: t->more. Children are visited in their order. */
static void make_postorder(tree *t)
{
    int32_t *first = t->work, *next = t->count, *stack = t->front_of, done = 0;
    for (int32_t i = 0; i < t->n; ++i) first[i] = -1;
    for (int32_t i = t->n - 1; i >= 0; --i) {
        next[i] = t->parent[i] >= 0 ? first[t->parent[i]] : -1;
        if (t->parent[i] >= 0) first[t->parent[i]] = i;
    }
    for (int32_t root = 0; root < t->n; ++root) {
        int32_t depth = 0;
        if (t->parent[root] >= 0) continue;
        stack[0] = root;
        while (depth >= 0) {
            const int32_t top = stack[depth], child = first[top];
            if (child >= 0) {
                first[top] = next[child];
                stack[++depth] = child;
            } else {
                t->more[top] = done++;
                --depth;
            }
        }
    }
}

/* Entries of each column of L: row i reaches the columns on the ways from its entries up to i. */
static void count_columns(tree *t)
{
    for (int32_t i = 0; i < t->n; ++i) {
        t->count[i] = 1;
        t->work[i] = i;
        for (int64_t k = t->row_ptr[i]; k < t->row_ptr[i + 1]; ++k)
            for (int32_t r = t->row_ind[k]; t->work[r] != i; r = t->parent[r]) {
                t->work[r] = i;
                t->count[r]++;
            }
    }
}

/* Runs of columns with the same rows. A column of the run that has other children as well has no other rows.
 */
static void find_supernodes(tree *t)
{
    t->fronts = 0;
    for (int32_t j = 0; j < t->n; ++j) {
        const bool same = j > 0 && t->parent[j - 1] == j && t->count[j - 1] == t->count[j] + 1;
        const int32_t f = same ? t->fronts - 1 : t->fronts++;
        t->columns[f] = same ? t->columns[f] + 1 : 1;
        t->last[f] = j;
        t->front_of[j] = f;
    }
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t up = t->parent[t->last[f]];
        t->above[f] = up >= 0 ? t->front_of[up] : -1;
    }
}

/* Small ones go into their parents, and all are numbered anew; more: into which, work: the new numbers. */
static void merge_small(tree *t)
{
    int32_t left = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t up = t->above[f];
        const bool small = up >= 0 && t->columns[f] < ASSEMBLY_LEAST && t->columns[up] < ASSEMBLY_LEAST;
        t->more[f] = small ? up : f;
        if (small) t->columns[up] += t->columns[f];
    }
    for (int32_t f = t->fronts - 1; f >= 0; --f) t->more[f] = t->more[t->more[f]];
    for (int32_t f = 0; f < t->fronts; ++f)
        if (t->more[f] == f) t->work[f] = left++;
    for (int32_t j = 0; j < t->n; ++j) t->front_of[j] = t->work[t->more[t->front_of[j]]];
    for (int32_t f = 0; f < t->fronts; ++f) {
        if (t->more[f] != f) continue;
        const int32_t to = t->work[f], up = t->above[f];
        t->columns[to] = t->columns[f];
        t->last[to] = t->last[f];
        t->above[to] = up >= 0 ? t->work[t->more[up]] : -1;
    }
    t->fronts = left;
}

static int ascending(const void *one, const void *two)
{
    const int32_t a = *(const int32_t *)one, b = *(const int32_t *)two;
    return (a > b) - (a < b);
}

/* A row of front f, unless it is one of its columns or is known; work: which front had it last. */
static void add_row(tree *t, int32_t f, int32_t row)
{
    if (row <= t->last[f] || t->work[row] == f) return;
    t->work[row] = f;
    t->below[t->below_ptr[f + 1]++] = row;
}

/* The rows below the columns of each front: of its columns of A, and of its children. */
static bool find_rows(tree *t)
{
    int64_t room = 0;
    for (int32_t f = 0; f < t->fronts; ++f) room += t->count[t->last[f]] - 1;
    t->below = malloc(((size_t)room + 1) * sizeof *t->below);
    for (int32_t j = 0; j < t->n; ++j) t->work[j] = -1;
    t->below_ptr[0] = 0;
    for (int32_t f = 0; f < t->fronts && t->below; ++f) {
        t->below_ptr[f + 1] = t->below_ptr[f];
        for (int64_t c = t->own_ptr[f]; c < t->own_ptr[f + 1]; ++c) {
            const int32_t j = t->own[c];
            for (int64_t k = t->column_ptr[j]; k < t->column_ptr[j + 1]; ++k) add_row(t, f, t->column_ind[k]);
        }
        for (int64_t c = t->child_ptr[f]; c < t->child_ptr[f + 1]; ++c)
            for (int64_t k = t->below_ptr[t->child[c]]; k < t->below_ptr[t->child[c] + 1]; ++k)
                add_row(t, f, t->below[k]);
        const int64_t from = t->below_ptr[f];
        qsort(t->below + from, (size_t)(t->below_ptr[f + 1] - from), sizeof *t->below, ascending);
    }
    return t->below != NULL;
}

/* Rows by columns. */
static void transpose(tree *t)
{
    memset(t->column_ptr, 0, ((size_t)t->n + 1) * sizeof *t->column_ptr);
    for (int64_t k = 0; k < t->row_ptr[t->n]; ++k) t->column_ptr[t->row_ind[k] + 1]++;
    for (int32_t j = 0; j < t->n; ++j) t->column_ptr[j + 1] += t->column_ptr[j];
    for (int32_t i = 0; i < t->n; ++i)
        for (int64_t k = t->row_ptr[i]; k < t->row_ptr[i + 1]; ++k)
            t->column_ind[t->column_ptr[t->row_ind[k]]++] = i;
    for (int32_t j = t->n; j > 0; --j) t->column_ptr[j] = t->column_ptr[j - 1];
    t->column_ptr[0] = 0;
}

static bool make_tree(tree *t, const saddle_matrix *lower, const int32_t *order)
{
    for (int32_t k = 0; k < t->n; ++k) t->position[order[k]] = k;
    take_rows(t, lower);
    make_parents(t);
    make_postorder(t);
    for (int32_t i = 0; i < t->n; ++i) t->position[i] = t->more[t->position[i]];
    take_rows(t, lower);
    make_parents(t);
    count_columns(t);
    find_supernodes(t);
    merge_small(t);
    transpose(t);
    sort_into(t->front_of, t->n, t->fronts, t->own_ptr, t->own);
    sort_into(t->above, t->fronts, t->fronts, t->child_ptr, t->child);
    return find_rows(t);
}

static int64_t rows_below(const tree *t, int32_t f)
{
    return t->below_ptr[f + 1] - t->below_ptr[f];
}

/* How many children have each entry of the lower triangle of front f of so many rows; more: where positions
 * are in the front. */
static void tally_children(tree *t, int32_t f, int64_t entries)
{
    int32_t here = 0;
    memset(t->tally, 0, (size_t)entries * sizeof *t->tally);
    for (int64_t k = t->own_ptr[f]; k < t->own_ptr[f + 1]; ++k) t->more[t->own[k]] = here++;
    for (int64_t k = t->below_ptr[f]; k < t->below_ptr[f + 1]; ++k) t->more[t->below[k]] = here++;
    for (int64_t c = t->child_ptr[f]; c < t->child_ptr[f + 1]; ++c) {
        const int32_t *rows = t->below + t->below_ptr[t->child[c]];
        const int64_t count = rows_below(t, t->child[c]);
        for (int64_t i = 0; i < count; ++i) {
            const int64_t row = t->more[rows[i]];
            uint16_t *at = t->tally + row * (row + 1) / 2;
            for (int64_t k = 0; k <= i; ++k) at[t->more[rows[k]]] += at[t->more[rows[k]]] < UINT16_MAX;
        }
    }
}

static void count_entries(const tree *t, int64_t entries, int64_t children, assembly_counts *c)
{
    int64_t none = 0, one = 0, waiting = 0;
    for (int64_t k = 0; k < entries; ++k) {
        none += t->tally[k] == 0;
        one += t->tally[k] == 1;
        waiting += t->tally[k] > 0 && t->tally[k] < children;
    }
    c->entries += (double)entries;
    c->none += (double)none;
    c->one += (double)one;
    c->several += (double)(entries - none - one);
    c->waiting += (double)waiting;
}

/* Operations of front f: of p of m rows, pivot k divides m - k rows below it and updates what is left of p
 * columns; the other columns get p products. */
static void count_front(const tree *t, int32_t f, assembly_counts *c)
{
    const double p = t->columns[f], r = (double)rows_below(t, f);
    const int64_t rows = t->columns[f] + rows_below(t, f);
    double factor = 0.0, assemble = 0.0;
    for (int32_t k = 1; k <= t->columns[f]; ++k) {
        const double left = p - k;
        factor += (left + r) + left * (left + 1.0) + 2.0 * left * r;
    }
    for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
        const double below = (double)rows_below(t, t->child[k]);
        assemble += below * (below + 1.0) / 2.0;
    }
    int range = 0;
    while (range + 1 < ASSEMBLY_SIZES && rows >> (range + 1)) ++range;
    c->sizes[range].fronts++;
    c->sizes[range].flops += factor + p * r * (r + 1.0);
    c->factor += factor;
    c->assemble += assemble;
    c->contribution += p * r * (r + 1.0);
    c->nnz += (int64_t)(p * (p + 1.0) / 2.0 + p * r);
    c->leaves += t->child_ptr[f] == t->child_ptr[f + 1];
    if (rows > c->largest) c->largest = rows;
}

bool assembly_count(const saddle_matrix *lower, const int32_t *order, assembly_counts *c)
{
    tree t;
    memset(&t, 0, sizeof t);
    *c = (assembly_counts){0};
    bool there = take_room(&t, lower) && make_tree(&t, lower, order);
    for (int32_t f = 0; f < t.fronts && there; ++f) count_front(&t, f, c);
    if (there) t.tally = malloc((size_t)(c->largest * (c->largest + 1) / 2 + 1) * sizeof *t.tally);
    there = there && t.tally;
    for (int32_t f = 0; f < t.fronts && there; ++f) {
        const int64_t rows = t.columns[f] + rows_below(&t, f), children = t.child_ptr[f + 1] - t.child_ptr[f];
        if (children == 0) continue;
        tally_children(&t, f, rows * (rows + 1) / 2);
        count_entries(&t, rows * (rows + 1) / 2, children, c);
    }
    c->fronts = t.fronts;
    release(&t);
    return there;
}
