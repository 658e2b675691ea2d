/*
 * Residuals of several columns at once, for one instruction set. All give the same bits.
 *
 * r = b - A x in double-double (core/dd.h) and w = |A||x| + |b|, for SD_COLUMNS right-hand sides that lie
 * side by side: an entry of A is read once for all of them, and they share a register.
 */
#include "backend/cpu/isa.h"

#include <math.h>

void SD_ISA(columns)(int32_t n, const int64_t *ptr, const int32_t *ind, const double *val, const double *b,
                     const double *x, double *r, double *w)
{
    for (int64_t i = 0; i < n; ++i) {
        double hi[SD_COLUMNS], lo[SD_COLUMNS], weight[SD_COLUMNS];
        for (int c = 0; c < SD_COLUMNS; ++c) {
            hi[c] = b[i * SD_COLUMNS + c];
            lo[c] = 0;
            weight[c] = fabs(hi[c]);
        }
        for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
            const double a = val[k], *from = x + (int64_t)ind[k] * SD_COLUMNS;
            for (int c = 0; c < SD_COLUMNS; ++c) {
                const double product = -a * from[c], sum = hi[c] + product, part = sum - hi[c];
                lo[c] += fma(-a, from[c], -product);
                lo[c] += (hi[c] - (sum - part)) + (product - part);
                hi[c] = sum;
                weight[c] += fabs(product);
            }
        }
        for (int c = 0; c < SD_COLUMNS; ++c) {
            r[i * SD_COLUMNS + c] = hi[c] + lo[c];
            w[i * SD_COLUMNS + c] = weight[c];
        }
    }
}
