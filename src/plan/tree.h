/*
 * The assembly tree: the plan of a multifrontal factorization.
 *
 * A front eliminates a run of consecutive positions (a supernode: columns of L with the same, or nearly
 * the same, rows) and hands the rest of its matrix to its parent. The tree is in postorder: the descendants
 * of a front come immediately before it, and children have lower numbers than their parents. Everything here
 * is decided from the pattern and the order alone; what pivoting changes (delays) is kept with the factors.
 *
 * Sources: I. S. Duff and J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear
 * equations, ACM TOMS 9 (1983); J. W. H. Liu, The multifrontal method for sparse matrix solution, SIAM Review
 * 34 (1992); amalgamation as in C. Ashcraft and R. Grimes, The influence of relaxed supernode partitions on
 * the multifrontal method, ACM TOMS 15 (1989).
 */
#pragma once

#include "core/precision.h"
#include "prepare/etree.h"

typedef struct sd_tree {
    int32_t n;
    int32_t *order;    /* the row of A at each position, in postorder of the tree */
    int32_t *position; /* its inverse */

    int32_t fronts;
    int32_t *first;  /* first position of each front; fronts + 1 of them */
    int32_t *parent; /* -1 at a root */
    bool *odd;       /* whether its distance from the root is */
    int64_t *child_ptr;
    int32_t *child; /* the children of f are child[child_ptr[f] .. child_ptr[f+1]), ascending */

    /* Rows below a front's own columns, as positions, ascending; and where each of them is among the
     * parent's own columns and rows (columns first). */
    int64_t *row_ptr; /* fronts + 1 */
    int32_t *rows, *place;

    /* The entries of A by position of their column: entry k is in the front's own row entry_row[k]
     * (columns first). Stored entry s of A goes to target[s], or nowhere where that is -1 (its mirror
     * image does). */
    int64_t *entry_ptr; /* n + 1 */
    int32_t *entry_row;
    int64_t *target;

    /* Groups of leaf subtrees, each run by one thread: all the fronts from group_first[g] to group_last[g],
     * whole subtrees whose roots have the same parent (or none). All other fronts are tasks of their own.
     * group_stack[g] numbers hold all contribution blocks within a group, but not those of its roots. */
    int32_t groups;
    int32_t *group_first, *group_last;
    int32_t *group_of; /* of each front; -1 */
    double *above;     /* operations on the way from each front, its own among them, to the root */
    int64_t *group_stack;

    int64_t column_nnz;  /* of L and D in columns one by one, without the zeros of fronts */
    double column_flops; /* and the operations that they take */
    /* L is so sparse that its columns one by one are faster than fronts (supernodes.c) */
    bool columns_once, columns_again;

    /* Predictions, without delays. */
    int64_t nnz;          /* entries of L and D, those that amalgamation adds among them */
    double flops;         /* multiplications and additions of the factorization of these fronts */
    int32_t largest_rows; /* of a front */
    int32_t largest_columns;
    int64_t height; /* fronts on the longest way to a root */
    /* Operations that must follow each other, as the tasks and their pieces are cut: flops / critical_flops
     * bounds what any number of threads can gain (critical_path.c). */
    double critical_flops;
} sd_tree;

/* What A's pattern and an order make. A is whole or half and symmetric; g is its graph, `columns` the
 * elimination tree of the order, or NULL if that is not known. Without `amalgamated` there is a front for
 * every run of columns of the same rows, and L has no zeros. */
saddle_status sd_tree_make(sd_context *c, const sd_csr *A, const sd_graph *g, const int32_t *order,
                           const sd_elimination *columns, bool amalgamated, sd_tree *tree);
void sd_tree_free(sd_context *c, sd_tree *tree);

/* Operations (a multiplication with an addition counts as two) to eliminate so many columns of a front. */
double sd_front_flops(int64_t rows, int64_t columns);

/* Bytes of a front's panel with its D and its variables; and of all panels of at most so many bytes each,
 * without delays but with room for this part of them on top. */
int64_t sd_panel_bytes(int64_t rows, int64_t columns, sd_precision precision);
int64_t sd_panels_bytes(const sd_tree *tree, sd_precision precision, int64_t most, double delays);

static inline int32_t sd_front_columns(const sd_tree *t, int32_t f)
{
    return t->first[f + 1] - t->first[f];
}
static inline int32_t sd_front_below(const sd_tree *t, int32_t f)
{
    return (int32_t)(t->row_ptr[f + 1] - t->row_ptr[f]);
}

/* Groups of leaf subtrees, and the room for their contribution blocks (groups.c): fills in groups and group_*
 * of a tree that is complete otherwise. */
saddle_status sd_tree_group(sd_context *c, sd_tree *tree);

/* critical_flops of a tree with its groups (critical_path.c). */
saddle_status sd_tree_measure_path(sd_context *c, sd_tree *tree);
