/*
 * Batches of small dense blocks: many square matrices of 1 to 32 rows, of mixed sizes, each factored, solved
 * with or inverted on its own.
 *
 * A block of n rows is n x n numbers by columns, without gaps. A plan (plan/batch.h), in the memory of the
 * backend, says where the blocks lie; what is made
 * of them has the same layout, so a result may take the place of its block. Kernels (batch.def):
 *
 * - SD_LDU_PARTIAL: P A Q = L D U, L and U unit triangular, with interchanges of rows (Q = I). L below the
 *   diagonal, D on it, U above.
 * - SD_LLT: P A P' = L L', in order (P = I). L on and below the diagonal, L' above.
 * - SD_LDLT_STATIC, SD_LDLT_BUNCH_KAUFMAN, SD_LDLT_COMPLETE: P A P' = L D L', D of 1x1 and 2x2 pivots; in
 *   order, Bunch and Kaufman's, Bunch and Parlett's. L below the diagonal, L' above, D on the diagonal; where
 *   pivot s is 2x2 (bit s of `pairs`), (s + 1, s) and (s, s + 1) hold the entry of D.
 * - SD_JORDAN: A^-1 by Gauss-Jordan elimination, interchanges of rows undone.
 * - SD_HUARD, SD_HUARD_TRANSPOSED: Gauss-Huard with interchanges of columns (Anzt et al., Variable-size
 *   batched Gauss-Huard, Figure 1): its D, columns in the order of the pivots, the diagonal not inverted. In
 *   the second the part above the diagonal is transposed about the anti-diagonal: entry (i, j), i < j, is at
 *   (n - 1 - j, n - 1 - i).
 *
 * Permutations are of the block: row[r + s] is the row of A that is at position s of the block whose
 * first row is r, column[r + s] the column. Symmetric kernels use `row` alone, Gauss-Huard `column` alone,
 * the inverse neither; what a kernel does not use is the identity. A symmetric kernel may read either of
 * (i, j) and (j, i). Applications permute rows and columns of LDU, rows of LL', whatever the kernel does.
 *
 * Pivots are searched by sd_pivot_key, in all backends: the high word of |a|, and among equals the lowest row
 * of the block as it was given; where a search is of rows and columns both (SD_LDLT_COMPLETE), any of those
 * whose keys differ in the low SD_BLOCK_EQUAL_BITS only. A pivot of less than SD_BLOCK_TINY is
 * zero. There is one reciprocal a pivot: l_i = a_is (1 / d), a_ij <- fma(-l_i, a_sj, a_ij) with the pivot's
 * row or column as it was, and only then u_j = a_sj (1 / d); of L L', l_i = a_is (1 / sqrt(d)). (The portable
 * CPU kernels have no fma, as their processor may have none.) The symmetric searches, of what is left from s
 * on:
 * - Bunch and Kaufman: b = |a_rs| is the largest of column s below the diagonal, c the largest of row r
 *   beside it (both found by key, taken as numbers). s as it is where b is zero, or a_ss is not and
 *   |a_ss| >= alpha b or |a_ss| >= alpha b (b / c); else r, brought to s, where |a_rr| >= alpha c; else s and
 *   r, which is brought to s + 1.
 * - Bunch and Parlett: the largest of the diagonal, where all beside it is zero, or it is not zero and is at
 *   least alpha times the largest beside it; else that one's rows, the lower of A first.
 * - L of a 2x2 pivot is by sd_pair_solve; where sd_pair_is_zero the pivot is zero.
 *
 * Nothing that is not finite leaves batch_factor. A block that cannot be factored, and one whose input or
 * result is not finite, is replaced by its scaled identity, m I with m = max|a| (1 where that is below
 * SD_BLOCK_TINY or not finite), in the form of its kernel (sqrt(m) for L L', 1/m for the inverse), with the
 * identity as its permutations, and its state says so: all of it 0 but the status.
 */
#pragma once

#include "core/power.h"
#include "core/precision.h"
#include "plan/batch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SD_BLOCK_EQUAL_BITS = 5 }; /* see above */

typedef enum sd_batch_kernel {
    SD_LDU_PARTIAL,
    SD_LLT,
    SD_LDLT_STATIC,
    SD_LDLT_BUNCH_KAUFMAN,
    SD_LDLT_COMPLETE,
    SD_JORDAN,
    SD_HUARD,
    SD_HUARD_TRANSPOSED,
    SD_BATCH_KERNELS
} sd_batch_kernel;

static inline bool sd_batch_symmetric(sd_batch_kernel kernel)
{
    return kernel >= SD_LLT && kernel <= SD_LDLT_COMPLETE;
}

/* What became of a block. */
enum {
    SD_BLOCK_OK,
    SD_BLOCK_SINGULAR,   /* a pivot was zero */
    SD_BLOCK_INDEFINITE, /* of a Cholesky factorization: a pivot was zero or negative */
    SD_BLOCK_NOT_FINITE  /* the block, whatever else it is, or what was to become of it */
};

typedef struct sd_batch_state {
    uint32_t pairs;    /* LDL': bit s is set where s and s + 1 are a 2x2 pivot */
    uint8_t status;    /* other than SD_BLOCK_OK: the block was replaced */
    uint8_t negative;  /* LDL': eigenvalues of D below 0; of other kernels, and of what was replaced: 0 */
    uint8_t perturbed; /* pivots (of a 2x2: eigenvalues) that were moved away from 0 */
    uint8_t unused;
} sd_batch_state;

/* How a block is factored. */
typedef struct sd_batch_rule {
    sd_batch_kernel kernel;
    /* LDL' and LDU: a 1x1 pivot |d| < small becomes +-small with the sign of d (0 has +); the eigenvalues of
     * a 2x2 pivot are treated alike. 0: a zero pivot makes the block singular. Rounded to the precision of
     * the blocks; pivots are chosen before. */
    double small;
} sd_batch_rule;

/* Blocks in the backend's memory: plan->entries numbers. */
typedef struct sd_batch {
    const sd_batch_plan *plan;
    void *data;
    sd_precision precision;
} sd_batch;

/* What batch_factor makes of them. */
typedef struct sd_batch_factors {
    const sd_batch_plan *plan;
    void *data; /* plan->entries numbers */
    sd_precision precision;
    sd_batch_kernel kernel;
    uint8_t *row, *column; /* plan->rows */
    sd_batch_state *state; /* plan->blocks; where a block is not in the plan, it is left as it was */
} sd_batch_factors;

/* ------------------------------------------------------------------------------------------------
 * Pivots, for all backends (the CUDA module compiles this too).
 */
#define SD_BLOCK_TINY_DOUBLE 0x1p-1020 /* the reciprocal of such a number is finite */
#define SD_BLOCK_TINY_SINGLE 0x1p-124f
#define SD_BLOCK_ALPHA                                                                                       \
    0.6403882032022076 /* (1 + sqrt(17)) / 8: Bunch and Parlett's, and Bunch and Kaufman's */

/* Orders finite numbers by magnitude, as far as 20 bits of the mantissa go in double. NaN and infinity, which
 * would come above all others, are kept away from it. */
SD_BOTH_SIDES uint32_t sd_pivot_key_double(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (uint32_t)(bits >> 32) & 0x7fffffffu;
}
SD_BOTH_SIDES uint32_t sd_pivot_key_single(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits & 0x7fffffffu;
}

#define SD_NEXT_TO_NOTHING ((real)(SINGLE ? 0x1p-30 : 0x1p-60)) /* its square is negligible relative to 1 */
#define TEMPLATE "backend/batch_pivots.inc"
#include "backend/both_precisions.inc"
