/*
 * Are zero pivots zero, not only to rounding?
 *
 * No floating-point number that is small proves it: (1 1+e; 1+e 1+2e) has the determinant -e^2. Two things
 * do:
 *
 * - The pattern: where no more than n - q rows and columns can be matched, the determinant of every larger
 * part of the matrix is 0 (src/prepare/matching.h), whatever the values are.
 * - Null vectors. Those of matrices of whole numbers, or of constraints that repeat, have entries that are
 * fractions with a small common denominator. So the null vector that the factors give is multiplied by what
 * makes it whole, rounded, and A times it computed without rounding, as sums of numbers that do not overlap
 * (J. R. Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates,
 * Discrete Comput. Geom. 18, 1997, grow-expansion). One such vector for each zero pivot: they are
 * independent, since each alone is not 0 at its pivot.
 */
#include "method/direct/direct.h"

#include "factor/rank.h"
#include "prepare/matching.h"

#include <math.h>
#include <string.h>

enum {
    PARTS = 8,              /* numbers that a sum may consist of; with more of them nothing is proved */
    TERMS_MOST = 40,        /* of a continued fraction */
    NUMBERS_MOST = 20000000 /* in all vectors that are looked at */
};
static const double LARGEST = 0x1p24; /* whole number: its products with 53 bits are exact in two numbers */
static const double WHOLE = 1e-6;     /* this near to a whole number it is meant to be one */
static const double LEAST = 0x1p-900; /* of a product: its error must not underflow */

/* sum += b exactly; false where there is no room. Parts that are 0 are left out. */
static bool add_exactly(double *sum, int8_t *parts, double b)
{
    int count = 0;
    for (int k = 0; k < *parts; ++k) {
        const double a = sum[k], total = a + b, rest = total - a, error = (a - (total - rest)) + (b - rest);
        b = total;
        if (error != 0) sum[count++] = error;
    }
    if (b != 0) {
        if (count == PARTS) return false;
        sum[count++] = b;
    }
    *parts = (int8_t)count;
    return true;
}

static bool add_product(double *sum, int8_t *parts, double a, double w)
{
    const double product = a * w;
    if (!isfinite(product) || (product != 0 && fabs(product) < LEAST)) return false;
    return add_exactly(sum, parts, fma(a, w, -product)) && add_exactly(sum, parts, product);
}

/* Whether A w = 0. sums has PARTS n numbers, parts n. */
static bool is_null(const sd_csr *A, const double *w, double *sums, int8_t *parts)
{
    memset(parts, 0, (size_t)A->n);
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double a = A->val[k];
            if (a == 0) continue;
            if (w[j] != 0 && !add_product(sums + (int64_t)i * PARTS, &parts[i], a, w[j])) return false;
            if (!A->half || j == i || w[i] == 0) continue;
            if (!add_product(sums + (int64_t)j * PARTS, &parts[j], a, w[i])) return false;
        }
    }
    for (int32_t i = 0; i < A->n; ++i)
        if (parts[i] != 0) return false;
    return true;
}

/* The least denominator of a fraction near x, by continued fractions; more than `most` where there is none.
 */
static double denominator_of(double x, double most)
{
    double before = 0, now = 1, rest = x - nearbyint(x);
    for (int k = 0; k < TERMS_MOST && now <= most; ++k) {
        if (fabs(x * now - nearbyint(x * now)) <= WHOLE) return now;
        rest = 1 / rest;
        const double term = nearbyint(rest), next = term * now + before;
        before = now;
        now = fabs(next);
        if (next < 0) before = -before;
        rest -= term;
        if (rest == 0) break;
    }
    return fabs(x * now - nearbyint(x * now)) <= WHOLE ? now : INFINITY;
}

/* y becomes a vector of whole numbers; false where there is none near it. */
static bool make_whole(int32_t n, double *y)
{
    double largest = 0, denominator = 1;
    for (int32_t i = 0; i < n; ++i) largest = fmax(largest, fabs(y[i]));
    if (!(largest > 0 && isfinite(largest))) return false;
    for (int32_t i = 0; i < n; ++i) {
        const double x = y[i] / largest * denominator;
        if (fabs(x - nearbyint(x)) <= WHOLE) continue;
        denominator *= denominator_of(x, LARGEST / denominator);
        if (!(denominator <= LARGEST)) return false;
    }
    for (int32_t i = 0; i < n; ++i) y[i] = nearbyint(y[i] / largest * denominator);
    return true;
}

/* The null vector of a zero pivot, refined once, in the units of A. correction has n numbers, room 3 n. */
static saddle_status find_vector(sd_context *c, const sd_direct *d, const sd_csr *A, const sd_suspect *zero,
                                 double *z, double *correction, double *room)
{
    const sd_factors *f = sd_direct_numbers(d);
    const int32_t n = A->n;
    memset(z, 0, (size_t)n * sizeof *z);
    z[zero->position[0]] = zero->vector[0];
    if (zero->position[1] >= 0) z[zero->position[1]] = zero->vector[1];
    saddle_status status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_BACKWARD, 1, z, n, 1);
    if (status) return status;
    sd_direct_multiply(d, A, z, correction, room);
    sd_split_null_space(f, false, correction);
    status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_WHOLE, 1, correction, n, 1);
    for (int32_t i = 0; i < n; ++i) z[i] -= correction[i];
    for (int32_t i = 0; i < n; ++i) room[i] = d->scale[i] * z[d->plan->tree.position[i]];
    memcpy(z, room, (size_t)n * sizeof *z);
    return status;
}

/* Whether z, by row, is 0 at the variables of a zero pivot. */
static bool is_zero_at(const sd_direct *d, const sd_suspect *zero, const double *z)
{
    const int32_t *order = d->plan->tree.order;
    return z[order[zero->position[0]]] == 0 && (zero->position[1] < 0 || z[order[zero->position[1]]] == 0);
}

/* One vector for each zero pivot. */
static saddle_status by_vectors(sd_context *c, const sd_direct *d, const sd_csr *A, bool *exact)
{
    const int64_t n = A->n;
    *exact = false;
    if (d->zero * n > NUMBERS_MOST) return SADDLE_OK;
    double *work = sd_alloc(c, (5 + PARTS) * n, sizeof *work, "null vectors");
    int8_t *parts = sd_alloc(c, n, sizeof *parts, "null vectors");
    sd_suspect *zeros = sd_alloc(c, d->zero, sizeof *zeros, "null vectors");
    saddle_status status = work && parts && zeros ? SADDLE_OK : c->status;
    if (!status) *exact = sd_find_zeros(sd_direct_numbers(d), zeros, d->zero) == d->zero;
    for (int64_t k = 0; k < d->zero && *exact && !status; ++k) {
        double *const z = work;
        status = find_vector(c, d, A, &zeros[k], z, z + n, z + 2 * n);
        *exact = !status && make_whole(A->n, z) && is_null(A, z, z + 5 * n, parts);
        for (int64_t j = 0; j < d->zero && *exact; ++j) /* which makes them independent */
            *exact = is_zero_at(d, &zeros[j], z) == (j != k);
    }
    sd_free_all(c, work, parts, zeros);
    return status;
}

/* Whether the pattern alone leaves room for so few pivots. */
static saddle_status by_pattern(sd_context *c, const sd_direct *d, const sd_csr *A, bool *exact)
{
    sd_csr whole = {0};
    sd_matching m = {0};
    saddle_status status = sd_direct_normalise(c, A, &whole);
    if (!status) status = sd_match_product(c, &whole, false, &m);
    *exact = !status && A->n - m.rank >= d->zero;
    sd_matching_free(c, &m);
    sd_csr_free(c, &whole);
    return status;
}

saddle_status sd_direct_zeros_are_exact(sd_context *c, const sd_direct *d, const sd_csr *A, bool *exact)
{
    *exact = false;
    if (d->lost > 0) return SADDLE_OK; /* entries that were lost in balancing may not be nothing */
    const saddle_status status = by_vectors(c, d, A, exact);
    return status || *exact ? status : by_pattern(c, d, A, exact);
}
