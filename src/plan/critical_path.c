/*
 * The critical path of a factorization: the longest chain of operations none of which can begin before the
 * one before it has ended, with threads without number.
 *
 * A group of leaf subtrees is one task, all of which is on a chain. A front above the groups begins when the
 * last of its children is done. Inside it pivots are found tile by tile: for each, the tile itself, one piece
 * of the rows below and one piece of the product with the rest of the panel follow each other; for each panel
 * also one piece of the product that the next panel waits for, and at last one piece for each panel's pivots
 * of the contribution block. All other pieces run beside these. A front's chain is never longer than the
 * front.
 *
 * The pieces are those of the CPU's kernels (src/backend/cpu/fronts.c): what they are cut to is decided
 * there, and repeated here, as a plan is made without an engine.
 */
#include "plan/tree.h"

#include <math.h>

enum {
    PANEL = 128, /* columns of a panel */
    TILE = 32,   /* of a tile */
    ROWS = 64,   /* rows of a piece below a tile, twice as many in a front with many rows */
    PIECE = 256, /* rows of a piece of a large product, fewer in a front with few rows, and columns */
    WIDTH = 128,
    MANY_ROWS = 2048,
    TILE_WEIGHT = 4,    /* an operation inside a tile takes as long as so many of a product */
    ENTRY_WEIGHT = 8,   /* and an entry that is added to a parent */
    SPAN_SHARED = 8192, /* entries of a front that are assembled in one piece (src/factor/multifrontal.c) */
    SPAN_CHILD = 4,     /* and as many for each child */
    SMALL_COLUMNS = 32, /* fronts of up to so many columns and rows are not cut */
    SMALL_ROWS = 512
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double front_path(double rows, double columns)
{
    const double whole = sd_front_flops((int64_t)rows, (int64_t)columns);
    if (columns <= SMALL_COLUMNS && rows <= SMALL_ROWS) return whole;
    const double solved = rows >= MANY_ROWS ? 2 * ROWS : ROWS;
    const double piece = WIDTH * (rows >= MANY_ROWS ? PIECE : PIECE / 4);
    double path = rows > columns ? 2 * piece * columns : 0;
    for (double at = 0; at < columns; at += PANEL) {
        const double width = least(PANEL, columns - at), below = least(solved, rows - at);
        const double tile = least(TILE, width);
        const double each = TILE_WEIGHT * tile * tile * tile + below * tile * tile + below * tile * width;
        path += width / tile * each;
        if (at + width < columns) path += 2 * piece * width;
    }
    return least(path, whole);
}

/* To add the children of f: a span of its columns. */
static double assembly_path(const sd_tree *t, int32_t f, double rows)
{
    const double children = (double)(t->child_ptr[f + 1] - t->child_ptr[f]), whole = rows * rows / 2;
    const double spans = 1 + floor(whole / (SPAN_SHARED + SPAN_CHILD * children));
    double entries = whole;
    for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
        const double q = sd_front_below(t, t->child[k]);
        entries += 0.5 * q * q;
    }
    return ENTRY_WEIGHT * (entries / spans + SPAN_CHILD * children);
}

saddle_status sd_tree_measure_path(sd_context *c, sd_tree *t)
{
    /* when everything below a front is done; at the last front of a group: the group itself */
    double *ready = sd_alloc_zero(c, t->fronts, sizeof *ready, "critical path");
    if (!ready) return c->status;
    t->critical_flops = 0;
    double group = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t g = t->group_of[f], parent = t->parent[f];
        const int64_t columns = sd_front_columns(t, f), rows = columns + sd_front_below(t, f);
        double done;
        if (g >= 0) {
            group = (f == t->group_first[g] ? 0 : group) + sd_front_flops(rows, columns);
            if (f < t->group_last[g]) continue;
            done = group;
        } else {
            done = ready[f] + assembly_path(t, f, (double)rows) + front_path((double)rows, (double)columns);
        }
        if (parent >= 0 && done > ready[parent]) ready[parent] = done;
        if (done > t->critical_flops) t->critical_flops = done;
    }
    if (t->critical_flops > t->flops) t->critical_flops = t->flops;
    sd_free(c, ready);
    return SADDLE_OK;
}
