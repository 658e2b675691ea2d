/*
 * The errors of x where the terms a_ij x_j and b_i are spread over more than the exponents of a double:
 * brought to one scale, small rows would vanish, with whatever is wrong in them. Here every row has a power
 * of two of its own, that of its largest term, and A is the caller's, unscaled. Slower, and needed for
 * matrices such as SBS with S from 1e-100 to 1e100.
 */
#include "solve/measure_rows.h"

#include "core/dd.h"
#include "core/power.h"

#include <limits.h>
#include <math.h>

enum {
    NOTHING = INT_MIN / 4, /* the exponent of a row without terms */
    NEGLIGIBLE = -200      /* relative to the largest term of a row, which is carried to 106 bits */
};

typedef struct rows {
    const sd_csr *A;
    const double *b, *x;
    int *top; /* row i is kept as 2^-top_i times itself */
    double *hi, *lo, *weight;
} rows;

static void raise_to(int *top, int exponent)
{
    if (exponent > *top) *top = exponent;
}

/* ilogb of a number that is not 0 and finite. */
static int exponent_of(double a)
{
    int exponent;
    sd_take_apart(a, &exponent);
    return exponent - 1;
}

/* The exponent of the largest term of each row. */
static void find_tops(const rows *w)
{
    const sd_csr *A = w->A;
    for (int32_t i = 0; i < A->n; ++i) w->top[i] = w->b[i] != 0 ? exponent_of(w->b[i]) : NOTHING;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            if (A->val[k] == 0) continue;
            const int of_a = exponent_of(A->val[k]);
            if (w->x[j] != 0) raise_to(&w->top[i], of_a + exponent_of(w->x[j]));
            if (A->half && j != i && w->x[i] != 0) raise_to(&w->top[j], of_a + exponent_of(w->x[i]));
        }
    }
}

/* Row i gets the term -a x. */
static inline void subtract(const rows *w, int32_t i, double a, double x)
{
    int of_a, of_x;
    if (a == 0 || x == 0) return;
    a = sd_take_apart(a, &of_a);
    x = sd_take_apart(x, &of_x);
    const int shift = of_a + of_x - w->top[i]; /* at most 2 */
    if (shift < NEGLIGIBLE) return;
    a *= sd_power_of_two(shift);
    sd_dd_add_product(&w->hi[i], &w->lo[i], -a, x);
    w->weight[i] += fabs(a * x);
}

SD_WITH_FMA static void find_residual(const rows *w)
{
    const sd_csr *A = w->A;
    for (int32_t i = 0; i < A->n; ++i) {
        w->hi[i] = w->b[i] != 0 ? sd_times_power(w->b[i], -w->top[i]) : 0;
        w->lo[i] = 0;
        w->weight[i] = fabs(w->hi[i]);
    }
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            subtract(w, i, A->val[k], w->x[j]);
            if (A->half && j != i) subtract(w, j, A->val[k], w->x[i]);
        }
    }
    for (int32_t i = 0; i < A->n; ++i) w->hi[i] += w->lo[i];
}

/* The 2-norm of v_i 2^of_i (of NULL: of v) as a number times 2^*exponent. */
static double norm_of(const double *v, const int *of, int32_t n, int *exponent)
{
    double sum = 0;
    *exponent = NOTHING;
    for (int32_t i = 0; i < n; ++i)
        if (v[i] != 0) raise_to(exponent, ilogb(v[i]) + (of ? of[i] : 0));
    for (int32_t i = 0; i < n; ++i) {
        const double a = v[i] != 0 ? sd_times_power(v[i], (of ? of[i] : 0) - *exponent) : 0;
        sum += a * a;
    }
    return sqrt(sum);
}

static void tell(const rows *w, const sd_scale_of *at, saddle_errors *errors, double *share_of_b)
{
    const int32_t n = w->A->n;
    int of_r, of_b;
    double share = 0, largest = 0;
    errors->componentwise = 0;
    const double norm_r = norm_of(w->hi, w->top, n, &of_r), norm_b = norm_of(w->b, NULL, n, &of_b);
    for (int32_t i = 0; i < n; ++i) {
        if (!(w->weight[i] > 0)) continue;
        errors->componentwise = fmax(errors->componentwise, fabs(w->hi[i]) / w->weight[i]);
        share = fmax(share, fabs(sd_times_power(w->b[i], -w->top[i])) / w->weight[i]);
        if (w->hi[i] != 0) largest = fmax(largest, fabs(sd_times_power(w->hi[i], w->top[i] - of_r)));
    }
    errors->backward = norm_r == 0 ? 0 : sd_times_power(largest / at->size, of_r - at->exponent);
    errors->relative_residual = norm_r == 0 ? 0 : sd_times_power(norm_r / norm_b, of_r - of_b);
    if (norm_r > 0 && norm_b == 0) errors->relative_residual = INFINITY;
    if (share_of_b) *share_of_b = share;
}

saddle_status sd_measure_by_rows(sd_context *c, const sd_csr *A, const double *b, const double *x,
                                 const sd_scale_of *at, double *residual, saddle_errors *errors,
                                 double *share_of_b)
{
    const int64_t n = A->n;
    rows w = {.A = A, .b = b, .x = x};
    w.top = sd_alloc(c, n, sizeof *w.top, "exponents of rows");
    w.hi = w.top ? sd_alloc(c, 3 * n, sizeof *w.hi, "residual") : NULL;
    if (w.hi) {
        w.lo = w.hi + n;
        w.weight = w.lo + n;
        find_tops(&w);
        find_residual(&w);
        tell(&w, at, errors, share_of_b);
        for (int64_t i = 0; i < n && residual; ++i)
            residual[i] = w.hi[i] != 0 ? sd_times_power(w.hi[i], w.top[i]) : 0;
    }
    const bool done = w.hi != NULL;
    sd_free_all(c, w.top, w.hi);
    return done ? SADDLE_OK : c->status;
}
