/* Products with the matrix that was factored, the sums in double-double. */
#include "method/direct/direct.h"

#include "core/dd.h"
#include "core/power.h"

#include <math.h>
#include <stdlib.h>

void sd_direct_rows(const sd_direct *d, const double *z, double *y)
{
    const int32_t n = d->plan->tree.n;
    for (int32_t i = 0; i < n; ++i) y[i] = d->scale[i] * z[d->plan->tree.position[i]];
    if (d->exponent != 0) sd_shift(n, y, -d->exponent / 2, y);
}

/* hi + lo = M y */
SD_WITH_FMA static void multiply(const sd_csr *M, const double *y, double *hi, double *lo)
{
    for (int32_t i = 0; i < M->n; ++i) hi[i] = lo[i] = 0;
    for (int32_t i = 0; i < M->n; ++i) {
        for (int64_t k = M->ptr[i]; k < M->ptr[i + 1]; ++k) {
            const int32_t j = M->ind[k];
            if (y[j] != 0) sd_dd_add_product(&hi[i], &lo[i], M->val[k], y[j]);
            if (M->half && j != i && y[i] != 0) sd_dd_add_product(&hi[j], &lo[j], M->val[k], y[i]);
        }
    }
}

void sd_direct_multiply(const sd_direct *d, const sd_csr *M, const double *z, double *v, double *room)
{
    double *const y = room, *const hi = y + M->n, *const lo = hi + M->n;
    sd_direct_rows(d, z, y);
    multiply(M, y, hi, lo);
    const int rest = -(d->exponent - d->exponent / 2);
    for (int32_t i = 0; i < M->n; ++i) v[d->plan->tree.position[i]] = d->scale[i] * (hi[i] + lo[i]);
    if (d->exponent != 0) sd_shift(M->n, v, rest, v);
}

/* Between A and the scaled matrix: from here on the square of its root would leave nothing of the last digits
 * of products y_i y_j, or overflow. */
enum { FAR_POWER = 256 };

/* The power of two that entries of A are given in a form; the rest is z's. */
static int power_of_entries(const sd_direct *d)
{
    return abs(d->exponent) > FAR_POWER ? -d->exponent : 0;
}

static void rows_of_form(const sd_direct *d, const double *z, double *y)
{
    if (power_of_entries(d) == 0)
        sd_direct_rows(d, z, y);
    else
        for (int32_t i = 0; i < d->plan->tree.n; ++i) y[i] = d->scale[i] * z[d->plan->tree.position[i]];
}

/* y'Ay and |y|'|A||y|, A times 2^power. */
SD_WITH_FMA static double quadratic_form(const sd_csr *A, int power, const double *y, double *absolute)
{
    double hi = 0, lo = 0, g = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        if (y[i] == 0) continue;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            if (y[j] == 0) continue;
            const double entry = power == 0 ? A->val[k] : ldexp(A->val[k], power);
            const double a = A->half && j != i ? 2 * entry : entry;
            const double product = y[i] * y[j], error = fma(y[i], y[j], -product);
            sd_dd_add_product(&hi, &lo, a, product);
            lo += a * error;
            g += fabs(a * product);
        }
    }
    *absolute = g;
    return hi + lo;
}

double sd_direct_form(const sd_direct *d, const sd_csr *M, double *z, const double *correction, double *v,
                      double *room, double *g)
{
    const int32_t n = M->n;
    const int power = power_of_entries(d), odd = power == 0 ? -(d->exponent % 2) : 0;
    double hi = 0, lo = 0;
    rows_of_form(d, z, room);
    const double first = ldexp(quadratic_form(M, power, room, g), odd);
    *g = ldexp(*g, odd);
    if (!correction) return first;
    sd_dd_add(&hi, &lo, first);
    sd_direct_multiply(d, M, z, v, room);
    for (int32_t i = 0; i < n; ++i) sd_dd_add_product(&hi, &lo, -2 * correction[i], v[i]);
    sd_direct_multiply(d, M, correction, v, room);
    for (int32_t i = 0; i < n; ++i) sd_dd_add_product(&hi, &lo, correction[i], v[i]);
    for (int32_t i = 0; i < n; ++i) z[i] -= correction[i];
    rows_of_form(d, z, room);
    quadratic_form(M, power, room, g);
    *g = ldexp(*g, odd);
    return hi + lo;
}
