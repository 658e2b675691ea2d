/*
 * Matchings of largest product and their scalings. See matching.h for the mathematics; the assignment problem
 * is solved in matching_start.c (duals), matching_tight.c and matching_bids.c (what needs no search),
 * matching_path.c and matching_rows.c (shortest augmenting paths), matching_singular.c.
 *
 * A symmetric matrix whose diagonal dominates, |a_ij|^2 <= |a_ii| |a_jj| for every entry (as any positive
 * definite one does), needs no search: s_i = |a_ii|^(-1/2) are optimal duals and the diagonal is the
 * matching.
 */
#include "prepare/matching.h"

#include "prepare/assignment.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Scales stay within 2^-1000 .. 2^1000, where they and their reciprocals are normal numbers. */
#define LARGEST_LOG 693.0

/* Duals and scales are repaired where an entry is off by more than this. */
#define REPAIR 1e-11

enum { REPAIR_SWEEPS = 100 };

double sd_scale_of_log(double x)
{
    return exp(fmin(fmax(x, -LARGEST_LOG), LARGEST_LOG));
}

saddle_status sd_assignment_init(sd_context *c, const sd_csr *A, bool symmetric, sd_assignment *a)
{
    *a = (sd_assignment){.n = A->n, .ptr = A->ptr, .ind = A->ind};
    a->cost = sd_alloc(c, A->nnz, sizeof *a->cost, "costs of the matching");
    a->row = a->cost ? sd_alloc(c, A->n, sizeof *a->row, "rows of the matching") : NULL;
    a->col = a->row ? sd_alloc(c, A->n, sizeof *a->col, "columns of the matching") : NULL;
    if (a->col && !sd_matching_costs(c, A, symmetric, a->cost)) return SADDLE_OK;
    sd_assignment_free(c, a);
    return c->status;
}

void sd_assignment_free(sd_context *c, sd_assignment *a)
{
    sd_free_all(c, a->cost, a->row, a->col);
    *a = (sd_assignment){0};
}

/*
 * Rounding in thousands of updates can leave a slack below 0. Each sweep lowers v where it is, and the row
 * matched there follows; since the matching is optimal up to rounding this ends at once.
 */
static void tighten(sd_assignment *a)
{
    bool changed = true;
    for (int sweep = 0; sweep < REPAIR_SWEEPS && changed; ++sweep) {
        changed = false;
        for (int32_t i = 0; i < a->n; ++i) {
            for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
                const double slack = sd_slack(a, i, k);
                if (!(slack < -REPAIR)) continue;
                sd_assigned_column *q = &a->col[a->ind[k]];
                q->v += slack;
                if (q->row >= 0) a->row[q->row].u = a->row[q->row].cost - q->v;
                changed = true;
            }
        }
    }
}

saddle_status sd_assignment_solve(sd_context *c, const sd_csr *A, sd_start start, sd_assignment *a,
                                  int32_t *rank)
{
    saddle_status status = sd_assignment_init(c, A, start == SD_START_SYMMETRIC, a);
    if (status) return status;
    status = sd_assignment_start(c, a, start);
    if (!status) status = sd_assignment_bid(c, a);
    if (!status) status = sd_assignment_augment(c, a, rank);
    if (status)
        sd_assignment_free(c, a);
    else
        tighten(a);
    return status;
}

/* Duals may be moved from one side to the other: so that both sides' ranges have the same middle. */
void sd_assignment_centre(sd_assignment *a)
{
    double low_u = HUGE_VAL, high_u = -HUGE_VAL, low_v = HUGE_VAL, high_v = -HUGE_VAL;
    for (int32_t i = 0; i < a->n; ++i) {
        low_u = fmin(low_u, a->row[i].u);
        high_u = fmax(high_u, a->row[i].u);
        low_v = fmin(low_v, a->col[i].v);
        high_v = fmax(high_v, a->col[i].v);
    }
    const double shift = a->n > 0 ? 0.25 * ((low_v + high_v) - (low_u + high_u)) : 0.0;
    for (int32_t i = 0; i < a->n; ++i) {
        a->row[i].u += shift;
        a->col[i].v -= shift;
    }
}

/* The mean of both sides' duals is optimal for the matching and for its mirror image alike, up to rounding:
 * what is left of it on matched entries is shared by their two rows. */
void sd_assignment_average(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) a->col[i].v = 0.5 * (a->row[i].u + a->col[i].v);
    bool changed = true;
    for (int sweep = 0; sweep < REPAIR_SWEEPS && changed; ++sweep) {
        changed = false;
        for (int32_t i = 0; i < a->n; ++i) {
            const int32_t j = a->row[i].col;
            if (j < 0) continue;
            const double slack = a->row[i].cost - a->col[i].v - a->col[j].v;
            if (!(fabs(slack) > REPAIR)) continue;
            a->col[i].v += 0.5 * slack;
            if (j != i) a->col[j].v += 0.5 * slack;
            changed = true;
        }
    }
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v;
}

void sd_assignment_give(const sd_assignment *a, sd_matching *m)
{
    for (int32_t i = 0; i < a->n; ++i) {
        m->row_of[i] = a->col[i].row;
        m->row_scale[i] = sd_scale_of_log(a->row[i].u);
        m->col_scale[i] = sd_scale_of_log(a->col[i].v);
    }
}

static bool is_cut_off(const double *scale, int32_t n)
{
    const double least = exp(-LARGEST_LOG), largest = exp(LARGEST_LOG);
    for (int32_t i = 0; i < n; ++i)
        if (scale[i] <= least || scale[i] >= largest) return true;
    return false;
}

void sd_matching_bound(const sd_csr *A, bool symmetric, sd_matching *m)
{
    if (!is_cut_off(m->row_scale, A->n) && !is_cut_off(m->col_scale, A->n)) return;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double r = log(m->row_scale[i]), s = log(m->col_scale[j]);
            const double excess = A->val[k] != 0 ? log(fabs(A->val[k])) + r + s : 0.0;
            if (!(excess > SD_TIGHT)) continue;
            if (symmetric) {
                const int32_t larger = r > s ? i : j;
                const double less = fmax(r, s) - (i == j ? 0.5 : 1.0) * excess;
                m->row_scale[larger] = m->col_scale[larger] = fmax(exp(less), DBL_MIN);
            } else if (r > s) {
                m->row_scale[i] = fmax(exp(r - excess), DBL_MIN);
            } else {
                m->col_scale[j] = fmax(exp(s - excess), DBL_MIN);
            }
        }
    }
}

/* Whether the diagonal is the matching; s holds the scaling then. */
static bool diagonal_is_best(const sd_csr *A, double *s)
{
    for (int32_t i = 0; i < A->n; ++i) {
        s[i] = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1] && A->ind[k] <= i; ++k)
            if (A->ind[k] == i && A->val[k] != 0) s[i] = 1.0 / sqrt(fabs(A->val[k]));
        if (s[i] == 0) return false;
    }
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1] && A->ind[k] < i; ++k)
            if (!(fabs(s[i] * A->val[k]) * s[A->ind[k]] <= 1.0 + SD_TIGHT)) return false;
    return true;
}

saddle_status sd_matching_init(sd_context *c, int32_t n, sd_matching *m)
{
    *m = (sd_matching){0};
    m->row_of = sd_alloc(c, n, sizeof *m->row_of, "matching");
    m->row_scale = m->row_of ? sd_alloc(c, n, sizeof *m->row_scale, "row scaling") : NULL;
    m->col_scale = m->row_scale ? sd_alloc(c, n, sizeof *m->col_scale, "column scaling") : NULL;
    if (m->col_scale) return SADDLE_OK;
    sd_matching_free(c, m);
    return c->status;
}

saddle_status sd_match_product(sd_context *c, const sd_csr *A, bool symmetric, sd_matching *m)
{
    sd_assignment a;
    saddle_status status = sd_matching_init(c, A->n, m);
    if (status) return status;
    if (symmetric && diagonal_is_best(A, m->row_scale)) {
        memcpy(m->col_scale, m->row_scale, (size_t)A->n * sizeof *m->col_scale);
        for (int32_t j = 0; j < A->n; ++j) m->row_of[j] = j;
        m->rank = A->n;
        return SADDLE_OK;
    }
    status = sd_assignment_solve(c, A, symmetric ? SD_START_SYMMETRIC : SD_START_GENERAL, &a, &m->rank);
    if (status) goto fail;
    if (m->rank < A->n) {
        status = symmetric ? sd_match_regular_part(c, A, &a, m) : sd_match_singular(c, A, &a, m);
    } else {
        if (symmetric)
            sd_assignment_average(&a);
        else
            sd_assignment_centre(&a);
        sd_assignment_give(&a, m);
    }
    sd_assignment_free(c, &a);
    if (!status) {
        sd_matching_bound(A, symmetric, m);
        return SADDLE_OK;
    }
fail:
    sd_matching_free(c, m);
    return status;
}

void sd_matching_free(sd_context *c, sd_matching *m)
{
    sd_free_all(c, m->row_of, m->row_scale, m->col_scale);
    *m = (sd_matching){0};
}

/* A product as mantissa 2^exponent: its logarithm is taken once, at the end. */
typedef struct long_product {
    long double mantissa;
    int64_t exponent;
} long_product;

static void multiply(long_product *p, long double by)
{
    int exponent;
    p->mantissa = frexpl(p->mantissa * by, &exponent);
    p->exponent += exponent;
}

static double log_of(const long_product *p)
{
    const long double log_two = 0.693147180559945309417232121458176568L;
    return (double)(logl(p->mantissa) + log_two * (long double)p->exponent);
}

void sd_matching_objective(const sd_csr *A, const int32_t *row_of, const double *row_scale,
                           const double *col_scale, double *log_product, double *log_scaled)
{
    long_product product = {1, 0}, scaled = {1, 0};
    for (int32_t j = 0; j < A->n; ++j) {
        const int32_t i = row_of[j];
        if (i < 0) continue;
        const long double value = fabsl((long double)sd_csr_at(A, i, j));
        const double r = row_scale ? row_scale[i] : 1.0, s = col_scale ? col_scale[j] : 1.0;
        multiply(&product, value);
        multiply(&scaled, r * value * s);
    }
    *log_product = log_of(&product);
    *log_scaled = log_of(&scaled);
}
