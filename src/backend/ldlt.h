/*
 * Block LDL' of a sparse symmetric matrix in dense blocks of 1 to 32 rows, as the backends see it.
 *
 * The form without permutations (C-form): with blocks in the order of elimination,
 *
 *     S_j = A_jj - sum_k C_jk G_k C_jk',   C_ij = A_ij - sum_k C_ik G_k C_jk'   (k < j < i),   G_j = S_j^-1
 *
 * so that A = (C G + I) S (C G + I)' where nothing is left out. Pivoting inside a block stays inside G_j.
 * Only C and G are kept: a solve needs nothing else, and a block that changes sides when blocks are pushed
 * back is merely transposed (D. Thuerck, Stretching Jacobi, section V; the L-form loses its meaning then).
 *
 * Most blocks are mostly empty: of an off-diagonal block only those rows and columns are kept that hold
 * something, told by the bits of two masks. What is kept is dense, by columns without gaps.
 */
#ifndef SD_LDLT_H
#define SD_LDLT_H

#include "backend/batch.h"

/*
 * An off-diagonal block as one of its two sides lists it: `rows` are those of the side that lists it,
 * `columns` those of the other. With `transposed` its numbers are stored as the other side would have them.
 */
typedef struct sd_ldlt_block {
    int64_t entry; /* the first of its numbers */
    uint32_t rows, columns;
    int32_t other;         /* the block on the other side */
    uint8_t height, width; /* bits in rows, columns */
    uint8_t transposed;
    uint8_t level; /* of fill: 0 for a block of A */
} sd_ldlt_block;

/* The same block as the other side lists it. */
static inline sd_ldlt_block sd_ldlt_mirror(sd_ldlt_block b, int32_t own)
{
    const sd_ldlt_block image = {b.entry, b.columns, b.rows, own, b.width, b.height, !b.transposed, b.level};
    return image;
}

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
        *below; /* N of each diagonal block, as `inverse` lies; NULL where nothing sweeps over entries */
    const int32_t *order; /* row r of the blocks is row order[r] of the matrix */
    const double *scale;  /* of each row of the blocks */
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
 * and A = L E^-1 L', where L_ii = I + N_i, L_ik = C_ik G_k (I + N_k). L is unit lower triangular but for the
 * order of rows within a block, so that u <- b - (L - I) u is exact after as many sweeps as it has levels,
 * and for any N_i of this kind, were it not quite that of S_i, the result is the same: G_i alone says what
 * S_i is. Beside C and G only N is kept. The stages of a solve, each over all rows at once:
 *
 *     forward   u_i = b_i - sum_k C_ik t_k - N_i u_i, with the u and t of the sweep before; then
 *               t_i = G_i (I + N_i) u_i, for those that come after it
 *     between   v_i = (I + N_i)' t_i, which is E_i u_i
 *     backward  w_i = v_i - N_i' w_i - (I + N_i)' g_i,   g_i = G_i sum_k C_ki' w_k, w of the sweep before
 */
typedef enum sd_ldlt_stage { SD_LDLT_FORWARD, SD_LDLT_BETWEEN, SD_LDLT_BACKWARD } sd_ldlt_stage;

/*
 * The same factorization on a pattern that is known: off-diagonal blocks are numbered by column, then by row,
 * so that those of a level follow one another. Target t is block C_ij,
 *
 *     C_ij = A_ij - sum W_ik C_jk',   W_ik = C_ik G_k, all rows of C_ik that are kept by all columns of block
 * k,
 *
 * its products pair[first[t] .. first[t+1]) naming C_ik (for its W) and C_jk; behind the off-diagonal targets
 * come the S_j, one a diagonal block. What a product has outside of the rows and columns that C_ij keeps is
 * lost.
 */
typedef struct sd_ldlt_shape {
    int64_t entry;   /* of C */
    int64_t weighed; /* of W, height x rows of block `column` by columns */
    int32_t row, column;
    uint32_t rows, columns;
    uint8_t height, width, size; /* kept rows, kept columns, rows of block `column` */
    uint8_t unused[5];
} sd_ldlt_shape;

typedef struct sd_ldlt_pair {
    int32_t a, b;
} sd_ldlt_pair;

typedef struct sd_ldlt_run {
    int32_t blocks, count; /* diagonal blocks; off-diagonal ones */
    const int32_t *start;
    const int64_t *square;
    const sd_ldlt_shape *shape;
    const int64_t *first; /* count + blocks + 1 */
    const sd_ldlt_pair *pair;
} sd_ldlt_run;

/* Numbers of a factorization: C and W off the diagonal, S and G on it. */
typedef struct sd_ldlt_numbers {
    void *data, *weighed, *square, *inverse;
    sd_precision precision;
} sd_ldlt_numbers;

/* A part of the targets: the columns of some diagonal blocks, their off-diagonal blocks, and where both lie.
 */
typedef struct sd_ldlt_part {
    int32_t block, block_end;
    int32_t shape, shape_end;
    int64_t entry, entry_end;
    int64_t square, square_end;
} sd_ldlt_part;

/* Where entry k of a matrix goes: C[target[k]], or S[-1 - target[k]], of which the lower triangle counts, or
 * nowhere where it is SD_LDLT_NOWHERE (the mirror image goes). */
#define SD_LDLT_NOWHERE INT64_MIN
typedef struct sd_ldlt_map {
    const int64_t *target; /* of each stored entry */
    const double *scale;   /* of each row of the matrix */
} sd_ldlt_map;

/* Entry k of a vector, or of the values of a matrix, whose precision is not that of the factors. */
static inline double sd_ldlt_number(const void *data, sd_precision precision, int64_t k)
{
    return precision == SD_DOUBLE ? ((const double *)data)[k] : (double)((const float *)data)[k];
}

static inline void sd_ldlt_put(void *data, sd_precision precision, int64_t k, double value)
{
    if (precision == SD_DOUBLE)
        ((double *)data)[k] = value;
    else
        ((float *)data)[k] = (float)value;
}

/* (s a) t: the smaller scaling first, since the product of two may leave the range of numbers. */
SD_BOTH_SIDES double sd_ldlt_scaled(double a, double s, double t)
{
    return s <= t ? (s * a) * t : (t * a) * s;
}

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

/* By sd_precision. */
extern const sd_ldlt_kernels sd_ldlt_reference[SD_PRECISIONS];

/* Whole vectors of any instruction set, 64 bytes at most, in a row of m numbers. */
static inline int sd_ldlt_ld(int m, sd_precision precision)
{
    if (m > 16) return 32;
    return m > 8 || precision == SD_SINGLE ? 16 : 8;
}

#endif
