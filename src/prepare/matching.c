/*
 * Matchings of largest product and their scalings. See matching.h for the mathematics; the assignment problem
 * is solved in matching_start.c and matching_path.c.
 *
 * A symmetric matrix whose diagonal dominates, |a_ij|^2 <= |a_ii| |a_jj| for every entry (as any positive
 * definite one does), needs no search: s_i = |a_ii|^(-1/2) are optimal duals and the diagonal is the
 * matching.
 */
#include "prepare/matching.h"

#include "prepare/assignment.h"

#include <math.h>
#include <string.h>

/* Scales stay within 2^-1000 .. 2^1000, where they and their reciprocals are normal numbers. */
#define LARGEST_LOG 693.0

/* Duals and scales are repaired where an entry is off by more than this. */
#define REPAIR 1e-11

enum { REPAIR_SWEEPS = 100 };

static double scale_of_log(double x)
{
    return exp(fmin(fmax(x, -LARGEST_LOG), LARGEST_LOG));
}

saddle_status sd_assignment_init(sd_context *c, const sd_csr *A, sd_assignment *a)
{
    *a = (sd_assignment){.n = A->n, .ptr = A->ptr, .ind = A->ind};
    a->cost = sd_alloc(c, A->nnz, sizeof *a->cost, "costs of the matching");
    a->row = a->cost ? sd_alloc(c, A->n, sizeof *a->row, "rows of the matching") : NULL;
    a->col = a->row ? sd_alloc(c, A->n, sizeof *a->col, "columns of the matching") : NULL;
    if (!a->col) {
        sd_assignment_free(c, a);
        return c->status;
    }
    for (int64_t k = 0; k < A->nnz; ++k) a->cost[k] = A->val[k] != 0 ? -log(fabs(A->val[k])) : HUGE_VAL;
    return SADDLE_OK;
}

void sd_assignment_free(sd_context *c, sd_assignment *a)
{
    sd_free(c, a->cost);
    sd_free(c, a->row);
    sd_free(c, a->col);
    *a = (sd_assignment){0};
}

/* The assignment problem of A, solved as far as its structure lets it. */
static saddle_status solve(sd_context *c, const sd_csr *A, bool symmetric, sd_assignment *a, int32_t *rank)
{
    saddle_status status = sd_assignment_init(c, A, a);
    if (status) return status;
    status = sd_assignment_start(c, a, symmetric);
    if (!status) status = sd_assignment_augment(c, a, rank);
    if (status) sd_assignment_free(c, a);
    return status;
}

/*
 * Rounding in thousands of updates can leave a slack below 0. Each sweep lowers v where it is, and the row
 * matched there follows; since the matching is optimal but for rounding this ends at once.
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

/* Duals may be moved from one side to the other: so that both sides' ranges have the same middle. */
static void centre(sd_assignment *a)
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

/* The mean of both sides' duals is optimal for the matching and for its mirror image alike, but for
 * rounding: what is left of it on matched entries is shared by their two rows. */
static void average(sd_assignment *a)
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
            a->col[j].v += 0.5 * slack;
            changed = true;
        }
    }
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v;
}

static void take_result(const sd_assignment *a, sd_matching *m)
{
    for (int32_t i = 0; i < a->n; ++i) {
        m->row_of[i] = a->col[i].row;
        m->row_scale[i] = scale_of_log(a->row[i].u);
        m->col_scale[i] = scale_of_log(a->col[i].v);
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

/* B = A(I, I) for the rows I with new_index >= 0, their number there. */
static saddle_status principal_part(sd_context *c, const sd_csr *A, const int32_t *new_index, int32_t count,
                                    sd_csr *B)
{
    *B = (sd_csr){.n = count};
    B->ptr = sd_alloc(c, (int64_t)count + 1, sizeof *B->ptr, "regular part");
    B->ind = B->ptr ? sd_alloc(c, A->nnz, sizeof *B->ind, "regular part") : NULL;
    B->val = B->ind ? sd_alloc(c, A->nnz, sizeof *B->val, "regular part") : NULL;
    if (!B->val) {
        sd_csr_free(c, B);
        return c->status;
    }
    for (int32_t i = 0; i < A->n; ++i) {
        if (new_index[i] < 0) continue;
        B->ptr[new_index[i]] = B->nnz;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            if (new_index[A->ind[k]] < 0) continue;
            B->ind[B->nnz] = new_index[A->ind[k]];
            B->val[B->nnz++] = A->val[k];
        }
    }
    B->ptr[count] = B->nnz;
    return SADDLE_OK;
}

/* s_i = 1 / max_k |a_ik| s_k over matched k, in logarithms; 1 where there is none. */
static void scale_unmatched(const sd_csr *A, const double *cost, const double *log_scale, sd_matching *m)
{
    for (int32_t i = 0; i < A->n; ++i) {
        double least = HUGE_VAL;
        if (m->row_of[i] >= 0) continue;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k)
            if (m->row_of[A->ind[k]] >= 0) least = fmin(least, cost[k] - log_scale[A->ind[k]]);
        m->row_scale[i] = m->col_scale[i] = least < HUGE_VAL ? scale_of_log(least) : 1.0;
    }
}

/*
 * A structurally singular symmetric matrix: with I the rows of a maximum matching, A(I, I) is structurally
 * regular (Duff and Pralet, 2005) and is matched by itself. `first` is the matching of all of A.
 */
static saddle_status match_regular_part(sd_context *c, const sd_csr *A, const sd_assignment *first,
                                        int32_t rank, sd_matching *m)
{
    const int32_t n = A->n;
    sd_csr B = {0};
    sd_assignment a = {0};
    double *log_scale = NULL;
    int32_t *new_index = sd_alloc(c, n, sizeof *new_index, "matched rows"), count = 0, again = 0;
    saddle_status status = c->status;
    if (!new_index) goto done;
    for (int32_t i = 0; i < n; ++i) new_index[i] = first->row[i].col >= 0 ? count++ : -1;
    log_scale = sd_alloc(c, n, sizeof *log_scale, "logarithms of the scaling");
    status = log_scale ? principal_part(c, A, new_index, rank, &B) : c->status;
    if (status) goto done;
    status = solve(c, &B, true, &a, &again);
    if (status) goto done;
    tighten(&a);
    average(&a);
    int32_t *old_index = new_index; /* which descends to the right: it can be turned round in place */
    for (int32_t i = 0; i < n; ++i) m->row_of[i] = -1;
    for (int32_t i = 0, k = 0; i < n; ++i)
        if (new_index[i] >= 0) old_index[k++] = i;
    for (int32_t k = 0; k < rank; ++k) {
        const int32_t j = old_index[k];
        m->row_of[j] = a.col[k].row >= 0 ? old_index[a.col[k].row] : -1;
        log_scale[j] = a.col[k].v;
        m->row_scale[j] = m->col_scale[j] = scale_of_log(log_scale[j]);
    }
    m->rank = again;
    scale_unmatched(A, first->cost, log_scale, m);
done:
    sd_assignment_free(c, &a);
    sd_csr_free(c, &B);
    sd_free(c, log_scale);
    sd_free(c, new_index);
    return status;
}

static saddle_status matching_init(sd_context *c, int32_t n, sd_matching *m)
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
    saddle_status status = matching_init(c, A->n, m);
    if (status) return status;
    if (symmetric && diagonal_is_best(A, m->row_scale)) {
        memcpy(m->col_scale, m->row_scale, (size_t)A->n * sizeof *m->col_scale);
        for (int32_t j = 0; j < A->n; ++j) m->row_of[j] = j;
        m->rank = A->n;
        return SADDLE_OK;
    }
    status = solve(c, A, symmetric, &a, &m->rank);
    if (status) goto fail;
    if (symmetric && m->rank < A->n) {
        status = match_regular_part(c, A, &a, m->rank, m);
    } else {
        tighten(&a);
        if (symmetric)
            average(&a);
        else
            centre(&a);
        take_result(&a, m);
    }
    sd_assignment_free(c, &a);
    if (!status) return SADDLE_OK;
fail:
    sd_matching_free(c, m);
    return status;
}

void sd_matching_free(sd_context *c, sd_matching *m)
{
    sd_free(c, m->row_of);
    sd_free(c, m->row_scale);
    sd_free(c, m->col_scale);
    *m = (sd_matching){0};
}

/* The value of A at (i, j), 0 where nothing is stored. */
static double value_at(const sd_csr *A, int32_t i, int32_t j)
{
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (A->ind[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A->ptr[i + 1] && A->ind[low] == j ? A->val[low] : 0.0;
}

void sd_matching_objective(const sd_csr *A, const int32_t *row_of, const double *row_scale,
                           const double *col_scale, double *log_product, double *log_scaled)
{
    long double product = 0, scaled = 0;
    for (int32_t j = 0; j < A->n; ++j) {
        const int32_t i = row_of[j];
        if (i < 0) continue;
        const long double value = fabsl((long double)value_at(A, i, j));
        const double r = row_scale ? row_scale[i] : 1.0, s = col_scale ? col_scale[j] : 1.0;
        product += logl(value);
        scaled += logl(r * value * s);
    }
    *log_product = (double)product;
    *log_scaled = (double)scaled;
}
