/* How far the L of an incomplete factorization is from its diagonal: see triangles.h. */
#include "factor/triangles.h"

#include <math.h>

static double diagonal_of(const sd_incomplete *m, int32_t i)
{
    return m->symmetric ? m->diagonal[i] : 1;
}

/* |L_qq^-1| in the Frobenius norm. */
static double inverse_norm(const sd_incomplete *m, int32_t first, int32_t size)
{
    double x[SD_BLOCK_MOST], sum = 0;
    for (int32_t j = 0; j < size; ++j) {
        for (int32_t r = 0; r < size; ++r) {
            const int32_t i = first + r;
            x[r] = r == j ? 1 : 0;
            for (int64_t k = m->lower.ptr[i + 1]; k > m->lower.ptr[i] && m->lower.ind[k - 1] >= first; --k)
                x[r] -= m->lower_val[k - 1] * x[m->lower.ind[k - 1] - first];
            x[r] /= diagonal_of(m, i);
            sum += x[r] * x[r];
        }
    }
    return sqrt(sum);
}

/* The sum of |L_qp| over the blocks p before q: all rows of q go from one p to the next. */
static double norms_before(const sd_incomplete *m, const int32_t *start, int32_t q)
{
    const int32_t first = start[q], size = start[q + 1] - first;
    int64_t next[SD_BLOCK_MOST];
    double total = 0;
    for (int32_t r = 0; r < size; ++r) next[r] = m->lower.ptr[first + r];
    for (int32_t p = 0; p < q; ++p) {
        int32_t column = first;
        double sum = 0;
        for (int32_t r = 0; r < size; ++r)
            if (next[r] < m->lower.ptr[first + r + 1] && m->lower.ind[next[r]] < column)
                column = m->lower.ind[next[r]];
        if (column == first) break; /* nothing is left */
        int32_t low = p, high = q;  /* the block of that column */
        while (high - low > 1) {
            const int32_t middle = low + (high - low) / 2;
            *(start[middle] <= column ? &low : &high) = middle;
        }
        p = low;
        for (int32_t r = 0; r < size; ++r)
            for (; next[r] < m->lower.ptr[first + r + 1] && m->lower.ind[next[r]] < start[p + 1]; ++next[r])
                sum += m->lower_val[next[r]] * m->lower_val[next[r]];
        total += sqrt(sum);
    }
    return total;
}

void sd_incomplete_dominance(const sd_incomplete *m, int32_t blocks, const int32_t *start, double *entries,
                             double *of_blocks)
{
    double sum = 0;
    for (int32_t i = 0; i < m->n; ++i) {
        double row = 0;
        for (int64_t k = m->lower.ptr[i]; k < m->lower.ptr[i + 1]; ++k) row += fabs(m->lower_val[k]);
        sum += row / fabs(diagonal_of(m, i));
    }
    *entries = m->n > 0 ? sum / m->n : 0;
    sum = 0;
    for (int32_t q = 0; q < blocks; ++q)
        sum += norms_before(m, start, q) * inverse_norm(m, start[q], start[q + 1] - start[q]);
    *of_blocks = blocks > 0 ? sum / blocks : NAN;
}
