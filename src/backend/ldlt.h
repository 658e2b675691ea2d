/*
 * Block LDL' of a sparse symmetric matrix in dense blocks of 1 to 32 rows, as the backends see it.
 *
 * The form without permutations (C-form): with blocks in the order of elimination,
 *
 *     S_j = A_jj - sum_k C_jk G_k C_jk',   C_ij = A_ij - sum_k C_ik G_k C_jk'   (k < j < i),   G_j = S_j^-1
 *
 * so that A = (C G + I) S (C G + I)' if nothing is dropped. Pivoting inside a block stays inside G_j.
 * Only C and G are kept: a solve needs nothing else, and a block that changes sides when blocks are pushed
 * back is merely transposed (D. Thuerck, Stretching Jacobi, section V; the L-form loses its meaning then).
 *
 * Most blocks are mostly empty: of an off-diagonal block only those rows and columns are kept that contain
 * something, recorded in the bits of two masks. What is kept is dense, by columns without gaps.
 */
#pragma once

#include "backend/batch.h"
#include "backend/triangle.h"
#include "plan/ldlt_schedule.h"

/*
 * Factors in the memory of a backend. Blocks are numbered in the order of elimination, those of one level,
 * which need those of lower levels only, one after the other: level l is blocks level[l] .. level[l+1]). Row
 * i of blocks is list[row[i] .. row[i+1]), ascending; those before diagonal[i] are C's, the others C' s.
 */
typedef struct sd_ldlt_factors {
    int32_t n, blocks, levels;
    int32_t largest;      /* rows of a block */
    const int32_t *level; /* in the host's memory */
    const int32_t *start;
    const int64_t *row, *diagonal, *square; /* square[i]: first entry of the inverse of diagonal block i */
    const sd_ldlt_block *list;
    const void *data, *inverse;
    const void
        *below;     /* N of each diagonal block, as `inverse` lies; NULL where nothing sweeps over entries */
    sd_frame frame; /* of the rows of the blocks, in the same precision */
    /* What solves multiply with between the two triangles, block by block (SD_JORDAN); NULL: nothing */
    const sd_batch_factors *signs;
    sd_precision precision;
} sd_ldlt_factors;

/* Where a team of threads costs a solve more than it saves: with fewer rows of blocks, or fewer blocks in the
 * lists of a level's rows. */
enum { SD_LDLT_TEAM = 512, SD_LDLT_THIN = 512 };

/*
 * Solves by Jacobi sweeps over the blocks take C and G as they are. Sweeps over single entries are those of
 * the scalar factor: with P_i S_i P_i' = L_i D_i L_i', and permutations taken inside,
 *
 *     N_i = P_i' (L_i - I) P_i,   E_i = P_i' D_i^-1 P_i = (I + N_i)' G_i (I + N_i)
 *
 * and A = L E^-1 L', where L_ii = I + N_i, L_ik = C_ik G_k (I + N_k). L is unit lower triangular except for
 * the order of rows within a block, so that u <- b - (L - I) u is exact after as many sweeps as it has
 * levels, and for any N_i of this kind, were it not quite that of S_i, the result is the same: G_i alone says
 * what S_i is. Beside C and G only N is kept. The stages of a solve, each over all rows at once:
 *
 *     forward   u_i = b_i - sum_k C_ik t_k - N_i u_i, with the u and t of the sweep before; then
 *               t_i = G_i (I + N_i) u_i, for those that come after it
 *     between   v_i = (I + N_i)' t_i, which is E_i u_i
 *     backward  w_i = v_i - N_i' w_i - (I + N_i)' g_i,   g_i = G_i sum_k C_ki' w_k, w of the sweep before
 */
typedef enum sd_ldlt_stage { SD_LDLT_FORWARD, SD_LDLT_BETWEEN, SD_LDLT_BACKWARD } sd_ldlt_stage;

/* Numbers of a factorization: C and G, which are all that solves need, and where they are made on a schedule
 * (plan/ldlt_schedule.h) W, S, and the scaling of each row of the matrix. In the memory of a backend, or of
 * the host where a search found them. */
typedef struct sd_ldlt_numbers {
    void *data, *inverse, *weighed, *square;
    double *scale;
    sd_precision precision;
} sd_ldlt_numbers;

/* ------------------------------------------------------------------------------------------------
 * On the host: the left-looking factorization of one block column j at a time, by one thread.
 *
 * What becomes of the column is summed up in accumulators: for each block i that it meets, a dense block of
 * m_i rows and m_j columns by rows, sd_ldlt_ld(m_j) numbers apart; the numbers between are 0.
 */

/* An earlier column k that column j meets. */
typedef struct sd_ldlt_term {
    const void *data;          /* what `entry` counts from, of own and tail */
    const void *inverse;       /* G_k, size x size */
    const sd_ldlt_block *own;  /* C_jk as column k lists it */
    const sd_ldlt_block *tail; /* blocks of column k, among them C_jk and those that come after j */
    int32_t count;             /* of the tail */
    int32_t size;              /* rows of block k */
    int32_t position;          /* of k: terms are subtracted in this order */
} sd_ldlt_term;

typedef struct sd_ldlt_kernels {
    /* V = G_k C_jk', size x m_j by rows, ld apart. */
    void (*weigh)(const sd_ldlt_term *t, int ld, void *v);
    /* a[place[i]] <- a[place[i]] - C_ik V for every block i of the tail whose place is not negative. */
    void (*subtract)(const sd_ldlt_term *t, int ld, const void *v, const int64_t *place, void *a);
    /* max |a G| over an accumulator of `rows` rows, G columns x columns; infinite where something is NaN. */
    double (*weight)(const void *a, int rows, int columns, int ld, const void *inverse);
    /* a[index[k]] <- value[k] */
    void (*scatter)(int64_t count, const int64_t *index, const double *value, void *a);
    /* The rows and columns of the masks, by columns without gaps. */
    void (*keep_block)(const void *a, int ld, uint32_t rows, uint32_t columns, void *to);
    /* A symmetric block, size x size, from the lower triangle of an accumulator. */
    void (*keep_diagonal)(const void *a, int ld, int size, void *to);
} sd_ldlt_kernels;

#define SD_LDLT_KERNELS(precision)                                                                           \
    {                                                                                                        \
        weigh_##precision, subtract_##precision, weight_##precision, scatter_##precision,                    \
            keep_block_##precision, keep_diagonal_##precision                                                \
    }

/* By sd_precision. */
extern const sd_ldlt_kernels sd_ldlt_reference[SD_PRECISIONS];

/* Whole vectors of any instruction set, 64 bytes at most, in a row of m numbers. */
static inline int sd_ldlt_ld(int m, sd_precision precision)
{
    if (m > 16) return 32;
    return m > 8 || precision == SD_SINGLE ? 16 : 8;
}
