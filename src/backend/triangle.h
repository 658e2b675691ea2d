/*
 * A sparse triangular factor by rows, as the backends see it.
 *
 * R x = b, R lower or upper triangular with D its diagonal, or the diagonal blocks of a blocking:
 *
 *     exact      x_i = (b_i - sum_j R_ij x_j) / R_ii, every row after those it needs
 *     a sweep    x <- x + D^-1 (b - R x), every row from the x before; the first one, from 0, gives D^-1 b
 *
 * (E. Chow, H. Anzt, J. Scott and J. Dongarra, Using Jacobi iterations and blocking for solving sparse
 * triangular systems in incomplete factorization preconditioning, section 2.1). I - D^-1 R is nilpotent: as
 * many sweeps as there are levels are exact, but on the way there numbers may grow beyond all bounds.
 *
 * L' shares the numbers of L: its entries are found in them by number.
 *
 * A row's sum is b_i less one product after the other, those farthest from the diagonal first (lower: in the
 * order of the entries, upper: in the opposite one), and then divided: so what comes last is made last, and
 * however the rows are shared out, the bits are the same. Rows come one after the other by *rank*: rank r is
 * row r of a lower triangle, row n - 1 - r of an upper one, and needs only what is of lower rank.
 */
#pragma once

#include "core/precision.h"
#include "plan/level_shares.h"

#include <stdbool.h>
#include <stdint.h>

/* How a team of the host's threads shares the rows of an exact solve; the bits are the same. */
typedef enum sd_triangle_way {
    SD_TRIANGLE_SERIAL, /* not at all */
    SD_TRIANGLE_LEVELS, /* level by level, as plan/level_shares.h shares them; on a device rows in their order
                         */
    SD_TRIANGLE_FLAGS   /* by rank in pieces of SD_TRIANGLE_PIECE, each of which waits for what it needs */
} sd_triangle_way;

enum {
    SD_TRIANGLE_PIECE = 256, /* rows that one thread takes at a time */
    SD_TRIANGLE_THIN = 512,  /* rows of a level below which a team costs more than it saves */
    SD_TRIANGLE_TEAM = 32768 /* and entries of a triangle, times right-hand sides */
};

typedef struct sd_triangle {
    int32_t n;
    bool upper;
    sd_precision precision;
    sd_triangle_way way;
    int64_t entries, longest; /* off the diagonal: in all, and of the longest row */
    const int64_t *ptr;       /* row i: entries off the diagonal ptr[i] .. ptr[i+1]), columns ascending */
    const int32_t *ind;
    const int32_t *from;    /* entry k is val[from[k]]; NULL: val[k] */
    const void *val;        /* in this precision */
    const void *reciprocal; /* 1 / R_ii */

    /* Level l is rows row[level[l] .. level[l+1]), ascending; rows of one level need those of lower levels
     * only. */
    int32_t levels;
    const int32_t *level;   /* in the host's memory; levels + 1 */
    const int32_t *row;     /* n; NULL: those of ranks level[l] .. level[l+1]) */
    sd_level_shares shares; /* on the host, for several threads, where row is NULL; or 0 */

    /* For sweeps over blocks of consecutive rows; blocks is 0 without. Entries of row i outside its own
     * block are ptr[i] .. split[i]) of a lower triangle, split[i] .. ptr[i+1]) of an upper one. */
    int32_t blocks, largest; /* rows of the largest block */
    const int32_t *start;    /* blocks + 1; a block has SD_BLOCK_MOST rows at most */
    const int64_t *split;    /* n */
    const int64_t *square;   /* blocks + 1: where the inverse of each diagonal block begins, by columns */
    const void *inverse;     /* triangular as R is, the other triangle 0; both are NULL for a backend that
                              * solves with the diagonal blocks by substitution */
} sd_triangle;

/* What a sweep replaces at once. */
typedef enum sd_sweep_unit { SD_SWEEP_ENTRIES, SD_SWEEP_BLOCKS } sd_sweep_unit;

/* How vectors enter the rows of a factorization, and leave them: y_k = scale_k r_order(k), and back,
 * z_order(k) = scale_k y_k. */
typedef struct sd_frame {
    int32_t n;
    const int32_t *order;
    const double *scale;
    sd_precision precision; /* of y */
} sd_frame;
