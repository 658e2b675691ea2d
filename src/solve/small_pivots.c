/*
 * Small pivots: rounding, or not?
 *
 * The pivot d_k of A = L D L' is z'Az for z = L'^-1 e_k. When it is small, most of what was subtracted to
 * make it has cancelled and few digits are left, perhaps not even its sign. But z'Az is stationary in z: an
 * error of z enters squared. So with the z that the factors give and z'Az accumulated in double-double on the
 * caller's own A, the pivot comes out nearly as exact as A itself is, and can be compared with
 *
 *     g = |z|' |A| |z|.
 *
 * - |z'Az| within a few roundings of g: then rounding the entries of a singular matrix may have given A. The
 * pivot is taken for zero and its D^-1 for 0. (For the rounded A of a singular B, Bz = 0, z'Az = z'(A - B)z.)
 * Where g is itself no more than what the rounding of z leaves in it (z touches no nonzero of A but by its
 * rounding, as with a constraint that stands twice), the same holds of |z'Az| <= (eps |z|)^2, the error of z
 * squared beside a largest entry of about 1.
 * - |z'Az| far above that: it is the pivot, with its sign, and takes the place of the one that was computed.
 * - between the two the pivot stays as it was computed.
 *
 * In a 2x2 pivot its eigenvalues are looked at, with their eigenvectors for e_k; they are never replaced.
 */
#include "solve/small_pivots.h"

#include "core/dd.h"
#include "factor/rank.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SUSPECT = 1e-8;             /* beside a largest entry of 1 */
static const double ROUNDING = 2 * DBL_EPSILON; /* four roundings: entries may be sums of rounded numbers */
static const double SQUARED = 64 * DBL_EPSILON * DBL_EPSILON; /* (8 eps)^2: the error of z, squared */
static const double CERTAIN = 1000 * DBL_EPSILON;             /* of g: here z'Az has three digits */
static const double REPLACED = 0.01;                          /* a pivot that is off by more is replaced */
enum {
    SUSPECTS_MOST = 4096,
    ROOM = 4000000 /* numbers in the vectors z that are computed together */
};

/* y'Ay and |y|'|A||y|. */
static double quadratic_form(const sd_csr *A, const double *y, double *absolute)
{
    double hi = 0, lo = 0, g = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        if (y[i] == 0) continue;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double a = A->half && j != i ? 2 * A->val[k] : A->val[k];
            const double product = y[i] * y[j], error = fma(y[i], y[j], -product);
            sd_dd_add_product(&hi, &lo, a, product);
            lo += a * error;
            g += fabs(a * product);
        }
    }
    *absolute = g;
    return hi + lo;
}

/* What becomes of one suspect. True where it was not as it should be. */
static bool settle(const sd_csr *M, const sd_suspect *s, const double *z, double *y, sd_direct *d)
{
    double g, square = 0;
    for (int32_t i = 0; i < M->n; ++i) {
        y[i] = ldexp(d->p.row_scale[i] * z[d->tree.position[i]], -d->exponent / 2);
        square += z[i] * z[i];
    }
    double exact = quadratic_form(M, y, &g);
    if (d->exponent % 2 != 0) exact = ldexp(exact, -(d->exponent % 2)), g = ldexp(g, -(d->exponent % 2));
    int64_t *const before = s->eigenvalue > 0 ? &d->positive : &d->negative;
    if (!isfinite(exact) || !isfinite(g)) return false;
    if (fabs(exact) <= ROUNDING * g || fabs(exact) <= SQUARED * square) {
        sd_make_zero(&d->factors[d->precision], s);
        --*before;
        ++d->zero;
        return true;
    }
    const bool wrong = fabs(exact - s->eigenvalue) > REPLACED * fabs(s->eigenvalue);
    if (!wrong || s->position[1] >= 0 || fabs(exact) <= CERTAIN * g) return false;
    sd_replace_pivot(&d->factors[d->precision], s, exact);
    --*before;
    ++*(exact > 0 ? &d->positive : &d->negative);
    return true;
}

/* Suspects side by side; *wrong tells whether any of them was. */
static saddle_status settle_together(sd_context *c, const sd_csr *M, const sd_suspect *s, int64_t many,
                                     double *z, double *y, sd_direct *d, bool *wrong)
{
    const int32_t n = M->n;
    memset(z, 0, (size_t)(n * many) * sizeof *z);
    for (int64_t k = 0; k < many; ++k) {
        z[k * n + s[k].position[0]] = s[k].vector[0];
        if (s[k].position[1] >= 0) z[k * n + s[k].position[1]] = s[k].vector[1];
    }
    const saddle_status status =
        sd_triangular_solve(c, &d->factors[d->precision], &d->room, SD_SOLVE_BACKWARD, many, z, n, 1);
    for (int64_t k = 0; k < many && !status; ++k) *wrong |= settle(M, &s[k], z + k * n, y, d);
    return status;
}

saddle_status sd_settle_small_pivots(sd_context *c, const sd_csr *M, sd_direct *d)
{
    const int32_t n = M->n;
    int64_t width = ROOM / n + 1;
    if (width > SD_RHS_BLOCK) width = SD_RHS_BLOCK;
    sd_suspect *suspects = sd_alloc(c, SUSPECTS_MOST, sizeof *suspects, "small pivots");
    if (!suspects) return c->status;
    const int64_t count = sd_find_suspects(&d->factors[d->precision], SUSPECT, suspects, SUSPECTS_MOST);
    saddle_status status = SADDLE_OK;
    double *z = NULL;
    if (count > 0) {
        z = sd_alloc(c, (width + 1) * n, sizeof *z, "small pivots");
        if (!z) status = c->status;
    }
    bool wrong = true; /* the smallest come first: where none of a batch is wrong, larger ones are not */
    for (int64_t first = 0; first < count && wrong && !status; first += width) {
        const int64_t many = count - first < width ? count - first : width;
        wrong = false;
        status = settle_together(c, M, suspects + first, many, z, z + width * n, d, &wrong);
    }
    sd_free(c, z);
    sd_free(c, suspects);
    return status;
}
