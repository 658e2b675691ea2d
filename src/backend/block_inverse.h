/*
 * The inverse of a block from its factors L D L', column by column, in `real`: included by the reference and
 * by the CPU, once a precision, with FUSED(a, b, c) = a b + c as their other kernels round it. The inverse is
 * symmetric to the last bit: what stands below the diagonal is mirrored. No header of its own.
 */

/* Column c of the inverse, in the order of the pivots: y = L'^-1 D^-1 L^-1 y, y a column of the permutation.
 */
static inline void NAME(solve_unit)(const real *f, int n, uint32_t pairs, const uint8_t *row, int c, real *y)
{
    for (int s = 0; s < n; ++s) y[s] = row[s] == c ? 1 : 0;
    for (int s = 0; s < n; ++s) {
        if (s > 0 && pairs >> (s - 1) & 1) continue;
        const int width = pairs >> s & 1 ? 2 : 1;
        for (int i = s + width; i < n; ++i)
            for (int j = s; j < s + width; ++j) y[i] = FUSED(-f[i + j * n], y[j], y[i]);
    }
    for (int s = 0; s < n; ++s) {
        if (pairs >> s & 1) {
            const NAME(sd_pair) p = {f[s + s * n], f[s + 1 + s * n], f[s + 1 + (s + 1) * n]};
            NAME(sd_pair_solve)(NAME(sd_pair_solver_of)(p), &y[s], &y[s + 1]);
            ++s;
        } else {
            y[s] /= f[s + s * n];
        }
    }
    for (int s = n - 1; s >= 0; --s) {
        const int first = s > 0 && pairs >> (s - 1) & 1 ? s - 1 : s;
        for (int j = first; j <= s; ++j)
            for (int i = s + 1; i < n; ++i) y[j] = FUSED(-f[i + j * n], y[i], y[j]);
        s = first;
    }
}

/* The inverse of the block of a job, n rows. */
static inline void NAME(invert_block)(const sd_block_factors *x, sd_block_job job, int n, sd_blocks *y)
{
    const uint8_t *row = x->row + job.row;
    real *to = (real *)y->data + job.entry, column[SD_BLOCK_MOST];
    for (int c = 0; c < n; ++c) {
        NAME(solve_unit)((const real *)x->data + job.entry, n, x->state[job.block].pairs, row, c, column);
        for (int s = 0; s < n; ++s)
            if (row[s] >= c) to[row[s] + c * n] = to[c + row[s] * n] = column[s];
    }
}
