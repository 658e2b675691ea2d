/*
 * Factorizations of one block that is not symmetric, in `real`: LDU, Gauss-Jordan, Gauss-Huard.
 *
 * LDU: at step s the pivot d is brought to (s, s); the rows below have l_i = a_is / d and a_ij <- a_ij - l_i
 * a_sj; at last u_j = a_sj / d. With full pivoting that is Algorithm 1 of Thuerck's Stretching Jacobi, whose
 * pivot is the signed value and whose used rows are not searched again.
 *
 * Gauss-Jordan: the same elimination of all rows but the pivot's, which stay where they are; row p_s is the
 * pivot of column s. Then x_s = sum_t m[p_s][t] b[p_t], so m[p_s][t] is entry (s, p_t) of the inverse.
 *
 * Gauss-Huard: Figure 1 of Anzt et al., Variable-size batched Gauss-Huard, lines 6 to 17.
 *
 * Included once a precision by blocks.c, with real, NAME, MATH and TINY defined. No header of its own.
 */

/* A block at work: position (i, j) stands for row[i] and column[j] of the block as it was given. */
typedef struct NAME(block) {
    int n;
    real a[SD_BLOCK_MOST * SD_BLOCK_MOST];
    uint8_t row[SD_BLOCK_MOST], column[SD_BLOCK_MOST];
    sd_block_state state;
} NAME(block);

static inline real *NAME(at)(NAME(block) * m, int i, int j)
{
    return &m->a[i + j * m->n];
}

static void NAME(swap)(real *x, real *y)
{
    const real t = *x;
    *x = *y;
    *y = t;
}

static void NAME(swap_rows)(NAME(block) * m, int p, int q)
{
    for (int j = 0; j < m->n; ++j) NAME(swap)(NAME(at)(m, p, j), NAME(at)(m, q, j));
    const uint8_t t = m->row[p];
    m->row[p] = m->row[q];
    m->row[q] = t;
}

static void NAME(swap_columns)(NAME(block) * m, int p, int q)
{
    for (int i = 0; i < m->n; ++i) NAME(swap)(NAME(at)(m, i, p), NAME(at)(m, i, q));
    const uint8_t t = m->column[p];
    m->column[p] = m->column[q];
    m->column[q] = t;
}

/* The larger of the entries at positions (i, j) and (p, q): by its key, among equals by the lower row, then
 * the lower column, of the block as it was given. */
static bool NAME(is_larger)(NAME(block) * m, int i, int j, int p, int q)
{
    const uint32_t mine = NAME(sd_pivot_key)(*NAME(at)(m, i, j));
    const uint32_t other = NAME(sd_pivot_key)(*NAME(at)(m, p, q));
    if (mine != other) return mine > other;
    if (m->row[i] != m->row[p]) return m->row[i] < m->row[p];
    return m->column[j] < m->column[q];
}

/* A 1x1 pivot, moved away from 0 where the rule says so. Its status. */
static int NAME(settle)(NAME(block) * m, real *d, real small)
{
    if (!isfinite(*d)) return SD_BLOCK_NOT_FINITE;
    if (MATH(fabs)(*d) < small) {
        *d = *d < 0 ? -small : small;
        ++m->state.perturbed;
    }
    return MATH(fabs)(*d) < TINY ? SD_BLOCK_SINGULAR : SD_BLOCK_OK;
}

/* Brings the largest of the rows and columns that are searched to (s, s). */
static void NAME(bring_pivot)(NAME(block) * m, int s, int rows, int columns)
{
    int p = s, q = s;
    for (int j = s; j < s + columns; ++j)
        for (int i = s; i < s + rows; ++i)
            if (NAME(is_larger)(m, i, j, p, q)) p = i, q = j;
    NAME(swap_rows)(m, s, p);
    NAME(swap_columns)(m, s, q);
}

static int NAME(ldu)(NAME(block) * m, sd_block_kernel kernel, real small)
{
    const int n = m->n;
    for (int s = 0; s < n; ++s) {
        NAME(bring_pivot)(m, s, kernel == SD_LDU ? 1 : n - s, kernel == SD_LDU_FULL ? n - s : 1);
        real *d = NAME(at)(m, s, s);
        const int status = NAME(settle)(m, d, small);
        if (status) return status;
        const real inverse = 1 / *d;
        for (int i = s + 1; i < n; ++i) {
            const real l = *NAME(at)(m, i, s) * inverse;
            *NAME(at)(m, i, s) = l;
            for (int j = s + 1; j < n; ++j)
                *NAME(at)(m, i, j) = MATH(fma)(-l, *NAME(at)(m, s, j), *NAME(at)(m, i, j));
        }
        for (int j = s + 1; j < n; ++j) *NAME(at)(m, s, j) *= inverse;
    }
    return SD_BLOCK_OK;
}

/* The row of the largest entry of column s among those that were no pivot yet. */
static int NAME(jordan_pivot)(NAME(block) * m, int s, const bool *used)
{
    int p = -1;
    for (int i = 0; i < m->n; ++i)
        if (!used[i] && (p < 0 || NAME(is_larger)(m, i, s, p, s))) p = i;
    return p;
}

/* Puts the inverse in order: pivot[s] is the row that was the pivot of column s. */
static void NAME(jordan_order)(NAME(block) * m, const int *pivot)
{
    const NAME(block) given = *m;
    for (int s = 0; s < m->n; ++s)
        for (int t = 0; t < m->n; ++t) *NAME(at)(m, s, pivot[t]) = given.a[pivot[s] + t * m->n];
}

static int NAME(jordan)(NAME(block) * m)
{
    const int n = m->n;
    bool used[SD_BLOCK_MOST] = {false};
    int pivot[SD_BLOCK_MOST];
    for (int s = 0; s < n; ++s) {
        const int p = pivot[s] = NAME(jordan_pivot)(m, s, used);
        used[p] = true;
        const int status = NAME(settle)(m, NAME(at)(m, p, s), 0);
        if (status) return status;
        const real inverse = 1 / *NAME(at)(m, p, s);
        for (int i = 0; i < n; ++i) {
            if (i == p) continue;
            const real l = *NAME(at)(m, i, s) * inverse;
            for (int j = 0; j < n; ++j)
                if (j != s) *NAME(at)(m, i, j) = MATH(fma)(-l, *NAME(at)(m, p, j), *NAME(at)(m, i, j));
            *NAME(at)(m, i, s) = -l;
        }
        for (int j = 0; j < n; ++j) *NAME(at)(m, p, j) *= inverse;
        *NAME(at)(m, p, s) = inverse;
    }
    NAME(jordan_order)(m, pivot);
    return SD_BLOCK_OK;
}

/* Entry (i, j), i < j, moves to (n - 1 - j, n - 1 - i). */
static void NAME(transpose_above)(NAME(block) * m)
{
    const NAME(block) given = *m;
    const int n = m->n;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < j; ++i) *NAME(at)(m, n - 1 - j, n - 1 - i) = given.a[i + j * n];
}

static int NAME(huard)(NAME(block) * m, sd_block_kernel kernel)
{
    const int n = m->n;
    for (int k = 0; k < n; ++k) {
        for (int j = k; j < n; ++j)
            for (int t = 0; t < k; ++t)
                *NAME(at)(m, k, j) = MATH(fma)(-*NAME(at)(m, k, t), *NAME(at)(m, t, j), *NAME(at)(m, k, j));
        NAME(bring_pivot)(m, k, 1, n - k);
        const int status = NAME(settle)(m, NAME(at)(m, k, k), 0);
        if (status) return status;
        const real inverse = 1 / *NAME(at)(m, k, k);
        for (int j = k + 1; j < n; ++j) {
            *NAME(at)(m, k, j) *= inverse;
            for (int i = 0; i < k; ++i)
                *NAME(at)(m, i, j) = MATH(fma)(-*NAME(at)(m, i, k), *NAME(at)(m, k, j), *NAME(at)(m, i, j));
        }
    }
    if (kernel == SD_HUARD_TRANSPOSED) NAME(transpose_above)(m);
    return SD_BLOCK_OK;
}
