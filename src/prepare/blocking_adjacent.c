/*
 * Blocks of rows that are side by side in the order, which stays as it is: supervariables of adjacent rows
 * are divided by halves where they are too large, and amalgamated with their neighbours as long as they fit
 * (E. Chow, H. Anzt, J. Scott and J. Dongarra, Using Jacobi iterations and blocking for solving sparse
 * triangular systems in incomplete factorization preconditioning, J. Parallel Distrib. Comput. 119 (2018),
 * section 2.3). An order that makes a good incomplete factorization need not be given up for blocks.
 */
#include "prepare/blocking_parts.h"

/* Rows first .. last - 1 are one supervariable: the block that has begun takes it, or the next one does. */
static void append(int32_t first, int32_t last, int32_t most, int32_t *start, int32_t *blocks)
{
    if (last - first > most) {
        const int32_t middle = first + (last - first) / 2;
        append(first, middle, most, start, blocks);
        append(middle, last, most, start, blocks);
        return;
    }
    if (*blocks == 0 || last - start[*blocks - 1] > most) start[(*blocks)++] = first;
}

saddle_status sd_block_adjacent(sd_context *c, const sd_graph *g, const int32_t *perm, int32_t most,
                                int32_t *start, int32_t *blocks)
{
    int32_t *super = sd_alloc(c, g->n, sizeof *super, "supervariables");
    const saddle_status status = super ? sd_supervariables(c, g, super) : c->status;
    *blocks = 0;
    for (int32_t first = 0, last; first < g->n && !status; first = last) {
        for (last = first + 1; last < g->n && super[perm[last]] == super[perm[first]];) ++last;
        append(first, last, most, start, blocks);
    }
    start[*blocks] = g->n;
    sd_free(c, super);
    return status;
}
