/*
 * Measures of the prepared matrix B(k, l) = (R(p_k) A(p_k, q_l)) C(q_l) in its blocks:
 *
 * - level sets: level(I) = 1 + max level(J) over the blocks J < I that are coupled with I by an entry of B in
 *   block (I, J) or (J, I);
 * - the entries of all blocks that hold a stored one, the diagonal blocks counted whole;
 * - |B_II|_1 - sum_J |B_IJ|_1 over block rows (D. Thuerck, Stretching Jacobi: a two-stage pivoting approach
 *   for block-based factorization, section VII);
 * - off-diagonal dominance, the mean of sum_j |b_ij| / |b_ii| over rows, and block off-diagonal dominance,
 *   the mean of sum_J |B_IJ|_F |B_II^-1|_F over block rows (E. Chow, H. Anzt, J. Scott and J. Dongarra, Using
 *   Jacobi iterations and blocking for solving sparse triangular systems in incomplete factorization
 *   preconditioning, J. Parallel Distrib. Comput. 119 (2018), section 3.3).
 *
 * The block rows are traversed once, each with a sparse accumulator over the columns and the block
 * columns that it touches. Nothing becomes NaN: entries that overflow are cut off at DBL_MAX, and sums may
 * become infinite only where no difference of two such is taken.
 */
#include "prepare/prepare.h"

#include "prepare/graph.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct block_row {
    const sd_csr *A;
    const saddle_preparation *p;
    int32_t *position; /* of each column of A in B */
    int32_t *block_of; /* each position */
    int32_t *level;    /* of each block; of one further on the highest that it is coupled with so far */

    /* one block row: its diagonal block, and an accumulator that is empty between two block rows */
    double *diagonal;          /* by rows */
    double *column_sum;        /* of magnitudes, at each position */
    double *norm1;             /* of each block */
    double *squares;           /* of its entries, summed */
    bool *touched;             /* whether it has an entry */
    int32_t *columns, *blocks; /* those with an entry */
    int32_t column_count, block_count;
} block_row;

static double entry_of(const block_row *t, int32_t row, int64_t k)
{
    const double r = t->p->row_scale ? t->p->row_scale[row] : 1.0;
    const double s = t->p->col_scale ? t->p->col_scale[t->A->ind[k]] : 1.0;
    return fmax(-DBL_MAX, fmin(r * t->A->val[k] * s, DBL_MAX));
}

static void exchange(double *a, double *b)
{
    const double swap = *a;
    *a = *b;
    *b = swap;
}

/* One step of Gauss-Jordan elimination with complete pivoting; false where the pivot is 0. */
static bool eliminate(double *a, int32_t m, int32_t s)
{
    int32_t row = s, column = s;
    for (int32_t i = s; i < m; ++i)
        for (int32_t j = s; j < m; ++j)
            if (fabs(a[i * m + j]) > fabs(a[row * m + column])) row = i, column = j;
    for (int32_t j = 0; j < m; ++j) exchange(&a[s * m + j], &a[row * m + j]);
    for (int32_t i = 0; i < m; ++i) exchange(&a[i * m + s], &a[i * m + column]);
    const double pivot = a[s * m + s];
    if (pivot == 0.0) return false;
    a[s * m + s] = 1.0;
    for (int32_t j = 0; j < m; ++j) a[s * m + j] /= pivot;
    for (int32_t i = 0; i < m; ++i) {
        const double f = a[i * m + s];
        if (i == s || f == 0.0) continue;
        a[i * m + s] = 0.0;
        for (int32_t j = 0; j < m; ++j) a[i * m + j] -= f * a[s * m + j];
    }
    return true;
}

/* The Frobenius norm of the inverse of an m x m matrix, which is overwritten; infinite where it is singular
 * or the inverse overflows. The permutations that are left in the inverse do not change the norm. */
static double inverse_norm(double *a, int32_t m)
{
    for (int32_t s = 0; s < m; ++s)
        if (!eliminate(a, m, s)) return INFINITY;
    double largest = 0.0, squares = 0.0;
    for (int32_t k = 0; k < m * m; ++k) {
        if (!isfinite(a[k])) return INFINITY;
        largest = fmax(largest, fabs(a[k]));
    }
    for (int32_t k = 0; k < m * m; ++k) squares += (a[k] / largest) * (a[k] / largest);
    return largest * sqrt(squares);
}

/*
 * Takes the diagonal block out of block row I. Returns a power of two that brings its largest entry near
 * 1: with all of the block row multiplied by it, which changes neither dominance nor the product of norms,
 * squares neither overflow nor vanish where they matter.
 */
static double take_diagonal(block_row *t, int32_t begin, int32_t end)
{
    const int32_t m = end - begin;
    double largest = 0.0;
    memset(t->diagonal, 0, (size_t)m * (size_t)m * sizeof *t->diagonal);
    for (int32_t k = begin; k < end; ++k) {
        const int32_t row = t->p->row_permutation[k];
        for (int64_t e = t->A->ptr[row]; e < t->A->ptr[row + 1]; ++e) {
            const int32_t l = t->position[t->A->ind[e]];
            if (l < begin || l >= end) continue;
            const double b = entry_of(t, row, e);
            t->diagonal[(k - begin) * m + (l - begin)] = b;
            largest = fmax(largest, fabs(b));
        }
    }
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Adds row k of B, except for its diagonal block, to the accumulator; returns the sum of the magnitudes of
 * what it adds. */
static double accumulate_row(block_row *t, int32_t k, int32_t begin, int32_t end, double power)
{
    const int32_t row = t->p->row_permutation[k];
    double sum = 0.0;
    for (int64_t e = t->A->ptr[row]; e < t->A->ptr[row + 1]; ++e) {
        const int32_t l = t->position[t->A->ind[e]], J = t->block_of[l];
        if (l >= begin && l < end) continue;
        const double size = fabs(entry_of(t, row, e)), scaled = power * size;
        if (!t->touched[J]) {
            t->touched[J] = true;
            t->blocks[t->block_count++] = J;
            t->norm1[J] = t->squares[J] = 0.0;
        }
        if (size > 0.0 && t->column_sum[l] == 0.0) t->columns[t->column_count++] = l;
        t->column_sum[l] += size;
        t->squares[J] += scaled * scaled;
        sum += size;
    }
    return sum;
}

/* The mean over rows of off-diagonal dominance, as far as row k counts in it; `outside` is what the row has
 * outside its diagonal block. */
static double row_dominance(const block_row *t, int32_t k, int32_t begin, int32_t end, double outside)
{
    const int32_t m = end - begin, i = k - begin;
    double sum = outside;
    for (int32_t j = 0; j < m; ++j)
        if (j != i) sum += fabs(t->diagonal[i * m + j]);
    const double own = fabs(t->diagonal[i * m + i]);
    return own > 0.0 ? sum / own : INFINITY;
}

/* The largest column sum of the diagonal block. */
static double diagonal_norm1(const block_row *t, int32_t m)
{
    double norm = 0.0;
    for (int32_t j = 0; j < m; ++j) {
        double sum = 0.0;
        for (int32_t i = 0; i < m; ++i) sum += fabs(t->diagonal[i * m + j]);
        norm = fmax(norm, sum);
    }
    return fmin(norm, DBL_MAX);
}

/* Empties the accumulator into the sums of the norms of its blocks. */
static void sum_blocks(block_row *t, saddle_preparation *p, int32_t I, double *norm1, double *frobenius)
{
    const int32_t *start = p->block_start, rows = start[I + 1] - start[I];
    int32_t level = t->level[I];
    *norm1 = *frobenius = 0.0;
    for (int32_t s = 0; s < t->column_count; ++s) {
        const int32_t l = t->columns[s], J = t->block_of[l];
        t->norm1[J] = fmax(t->norm1[J], t->column_sum[l]);
        t->column_sum[l] = 0.0;
    }
    for (int32_t s = 0; s < t->block_count; ++s) {
        const int32_t J = t->blocks[s];
        *norm1 += t->norm1[J];
        *frobenius += sqrt(t->squares[J]);
        p->stored_entries += (int64_t)rows * (start[J + 1] - start[J]);
        if (J < I && t->level[J] > level) level = t->level[J];
    }
    t->level[I] = ++level;
    if (level > p->levels) p->levels = level;
    for (int32_t s = 0; s < t->block_count; ++s) {
        const int32_t J = t->blocks[s];
        t->touched[J] = false;
        if (J > I && t->level[J] < level) t->level[J] = level;
    }
    t->column_count = t->block_count = 0;
}

static void measure_block_row(block_row *t, saddle_preparation *p, int32_t I)
{
    const int32_t begin = p->block_start[I], end = p->block_start[I + 1], m = end - begin;
    const double power = take_diagonal(t, begin, end);
    for (int32_t k = begin; k < end; ++k) {
        const double outside = accumulate_row(t, k, begin, end, power);
        p->off_diagonal_dominance += row_dominance(t, k, begin, end, outside) / (double)p->n;
    }
    double others, frobenius;
    sum_blocks(t, p, I, &others, &frobenius);
    p->stored_entries += (int64_t)m * m;
    const double dominance = diagonal_norm1(t, m) - others;
    if (I == 0 || dominance < p->dominance_least) p->dominance_least = dominance;
    if (I == 0 || dominance > p->dominance_largest) p->dominance_largest = dominance;
    p->dominance_mean = fmin(p->dominance_mean + dominance / (double)p->blocks, DBL_MAX);
    for (int32_t k = 0; k < m * m; ++k) t->diagonal[k] *= power;
    const double inverse = inverse_norm(t->diagonal, m);
    p->block_off_diagonal_dominance += isfinite(inverse) ? frobenius * inverse / (double)p->blocks : INFINITY;
}

static saddle_status block_row_new(sd_context *c, const sd_csr *A, const saddle_preparation *p, block_row *t)
{
    const int64_t n = p->n, blocks = p->blocks, m = p->largest_block;
    *t = (block_row){.A = A, .p = p};
    t->position = sd_alloc(c, n, sizeof *t->position, "positions");
    t->block_of = sd_alloc(c, n, sizeof *t->block_of, "blocks of the rows");
    t->level = sd_alloc_zero(c, blocks, sizeof *t->level, "levels");
    t->diagonal = sd_alloc(c, m * m, sizeof *t->diagonal, "diagonal block");
    t->column_sum = sd_alloc_zero(c, n, sizeof *t->column_sum, "column sums");
    t->norm1 = sd_alloc(c, blocks, sizeof *t->norm1, "norms of blocks");
    t->squares = sd_alloc(c, blocks, sizeof *t->squares, "norms of blocks");
    t->touched = sd_alloc_zero(c, blocks, sizeof *t->touched, "marks");
    t->columns = sd_alloc(c, n, sizeof *t->columns, "columns of a block row");
    t->blocks = sd_alloc(c, blocks, sizeof *t->blocks, "blocks of a block row");
    if (!t->position || !t->block_of || !t->level || !t->diagonal || !t->column_sum || !t->norm1 ||
        !t->squares || !t->touched || !t->columns || !t->blocks)
        return c->status;
    sd_invert_order(A->n, p->permutation, t->position);
    for (int32_t I = 0; I < blocks; ++I)
        for (int32_t k = p->block_start[I]; k < p->block_start[I + 1]; ++k) t->block_of[k] = I;
    return SADDLE_OK;
}

static void block_row_free(sd_context *c, block_row *t)
{
    sd_free_all(c, t->blocks, t->columns, t->touched, t->squares, t->norm1, t->column_sum, t->diagonal,
                t->level, t->block_of, t->position);
}

saddle_status sd_measure_blocks(sd_context *c, const sd_csr *A, saddle_preparation *p)
{
    block_row t;
    p->largest_block = p->levels = p->stored_entries = 0;
    p->dominance_least = p->dominance_mean = p->dominance_largest = 0.0;
    p->off_diagonal_dominance = p->block_off_diagonal_dominance = 0.0;
    for (int32_t I = 0; I < p->blocks; ++I) {
        const int32_t m = p->block_start[I + 1] - p->block_start[I];
        if (m > p->largest_block) p->largest_block = m;
    }
    const saddle_status status = block_row_new(c, A, p, &t);
    for (int32_t I = 0; I < p->blocks && !status; ++I) measure_block_row(&t, p, I);
    block_row_free(c, &t);
    return status;
}
