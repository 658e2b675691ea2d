/* The direct solver: plan and factorization. See direct.h; solves are in direct_solve.c. */
#include "solve/direct.h"

#include "backend/cpu/cpu.h"
#include "prepare/prepare.h"
#include "solve/small_pivots.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* A column of nothing else is zero. */
static const double SMALL[] = {[SD_DOUBLE] = 1e-150, [SD_SINGLE] = 1e-20};
static const double STALE = 0.1;     /* a matched entry below this no longer carries its pivot */
static const double GROWN = 1e8;     /* one above this makes others small: the scaling no longer fits */
static const double MISSCALED = 1e8; /* the largest entry over the least matched one asks for a new scaling */
static const double ALPHA = 0x1p-26; /* of a general matrix, beside its largest entry */
static const double DELAY_ROOM = 0.03; /* of the factors, expected on top for delays */

/* (alpha I, A; A', 0) of a general matrix, by its upper triangle. */
static saddle_status augment(sd_context *c, const sd_csr *A, sd_csr *to)
{
    const int32_t n = A->n;
    if (n > INT32_MAX / 2)
        return sd_fail(c, SADDLE_NOT_SUPPORTED, "n is %d: the direct solver takes general matrices up to %d",
                       n, INT32_MAX / 2);
    *to = (sd_csr){.n = 2 * n, .nnz = A->nnz + n, .half = true};
    to->ptr = sd_alloc(c, 2 * (int64_t)n + 1, sizeof *to->ptr, "augmented matrix");
    to->ind = sd_alloc(c, to->nnz, sizeof *to->ind, "augmented matrix");
    to->val = sd_alloc(c, to->nnz, sizeof *to->val, "augmented matrix");
    if (!to->ptr || !to->ind || !to->val) return c->status;
    int64_t k = 0;
    for (int32_t i = 0; i < n; ++i) {
        to->ptr[i] = k;
        to->ind[k++] = i;
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) to->ind[k++] = n + A->ind[e];
    }
    for (int32_t i = n; i <= 2 * n; ++i) to->ptr[i] = k;
    return SADDLE_OK;
}

static double largest_of(const sd_csr *A)
{
    double largest = 0;
    for (int64_t k = 0; k < A->nnz; ++k)
        if (fabs(A->val[k]) > largest) largest = fabs(A->val[k]);
    return largest;
}

static void augment_values(const sd_csr *A, sd_csr *to)
{
    const double alpha = ALPHA * largest_of(A);
    int64_t k = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        to->val[k++] = alpha;
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) to->val[k++] = A->val[e];
    }
}

/* floor(log2 of the largest entry). */
static int exponent_of(const sd_csr *A)
{
    const double largest = largest_of(A);
    return largest == 0 ? 0 : ilogb(largest);
}

/* The same of the scaled matrix. */
static int scaled_exponent(const sd_csr *A, const double *scale)
{
    double largest = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const double a = fabs((scale[i] * A->val[k]) * scale[A->ind[k]]);
            if (a > largest) largest = a;
        }
    }
    return largest == 0 ? 0 : ilogb(largest);
}

/* The caller's signs, by position. */
static saddle_status take_signs(sd_context *c, const int8_t *signs, sd_direct *d)
{
    if (!signs || d->general) return SADDLE_OK;
    if (!d->signs) d->signs = sd_alloc(c, d->tree.n, sizeof *d->signs, "signs");
    if (!d->signs) return c->status;
    for (int32_t k = 0; k < d->tree.n; ++k) d->signs[k] = signs[d->tree.order[k]];
    return SADDLE_OK;
}

/* The entry of the tree at (i, j) of a matrix that is half or whole. */
static int64_t entry_at(const sd_csr *A, const sd_tree *t, int32_t i, int32_t j)
{
    if (A->half && j < i) {
        const int32_t swap = i;
        i = j;
        j = swap;
    }
    const int64_t k = sd_find_index(A->ind, A->ptr[i], A->ptr[i + 1], j);
    if (t->target[k] >= 0) return t->target[k];
    return t->target[sd_find_index(A->ind, A->ptr[j], A->ptr[j + 1], i)];
}

static saddle_status keep_matching(sd_context *c, const sd_csr *A, sd_direct *d)
{
    if (!d->p.matching) return SADDLE_OK;
    d->matched = sd_alloc(c, A->n, sizeof *d->matched, "matching");
    if (!d->matched) return c->status;
    for (int32_t j = 0; j < A->n; ++j)
        d->matched[j] = d->p.matching[j] < 0 ? -1 : entry_at(A, &d->tree, d->p.matching[j], j);
    return SADDLE_OK;
}

/* Bytes of all that the factorization will allocate, on top of what is there. */
static int64_t factor_bytes(const sd_tree *t, const sd_front_kernels *kernels, sd_precision precision)
{
    const int64_t number = (int64_t)sd_precision_size(precision);
    const int64_t numbers = t->rests + kernels->work(t->largest_rows, t->largest_columns);
    const int64_t panels = sd_panels_bytes(t, precision);
    /* a front itself, how many it waits for, its interval of the arena */
    const int64_t lists = t->fronts * (int64_t)(sizeof(sd_front) + sizeof(int32_t) + 2 * sizeof(int64_t));
    return numbers * number + lists + t->entry_ptr[t->n] * (int64_t)sizeof(double) + panels +
           (int64_t)(DELAY_ROOM * (double)panels);
}

static const sd_front_kernels *kernels_of(const sd_direct_options *q)
{
    return q->device == SADDLE_DEVICE_REFERENCE ? sd_fronts_reference : sd_cpu()->fronts;
}

/* All of A, without its power of two, so that a matrix of another size is planned in the same way. Where its
 * sizes are too far apart for that, they stay as they are. */
static saddle_status normalise(sd_context *c, const sd_csr *A, sd_csr *to)
{
    const double size = ldexp(1, exponent_of(A)), inverse = 1 / size;
    bool exact = isfinite(inverse);
    if (A->half) {
        const saddle_status status = sd_csr_expand(c, A, to);
        if (status) return status;
    } else {
        *to = *A;
        to->borrowed_ind = true;
        to->ptr = sd_alloc(c, (int64_t)A->n + 1, sizeof *to->ptr, "matrix");
        to->val = sd_alloc(c, A->nnz, sizeof *to->val, "matrix");
        if (!to->ptr || !to->val) return c->status;
        memcpy(to->ptr, A->ptr, ((size_t)A->n + 1) * sizeof *to->ptr);
        memcpy(to->val, A->val, (size_t)A->nnz * sizeof *to->val);
    }
    for (int64_t k = 0; k < A->nnz && exact; ++k) exact = A->val[k] * inverse * size == A->val[k];
    for (int64_t k = 0; k < to->nnz && exact; ++k) to->val[k] *= inverse;
    return SADDLE_OK;
}

/* Order and tree of a matrix that is symmetric by now. */
static saddle_status plan_symmetric(sd_context *c, const sd_csr *A, const sd_direct_options *q, sd_direct *d,
                                    double times[2])
{
    sd_csr whole = {0};
    sd_graph g = {0};
    double start = sd_seconds();
    saddle_status status = normalise(c, A, &whole);
    if (!status) status = sd_prepare_order(c, &whole, q->o, q->given, &d->p, &g);
    times[0] += sd_seconds() - start;
    start = sd_seconds();
    sd_csr_free(c, &whole);
    if (!status) status = sd_tree_make(c, A, &g, d->p.permutation, &d->tree);
    sd_graph_free(c, &g);
    if (!status) status = keep_matching(c, A, d);
    times[1] += sd_seconds() - start;
    return status;
}

saddle_status sd_direct_plan(sd_context *c, const sd_csr *A, bool symmetric, const sd_direct_options *q,
                             sd_direct *d, double times[2])
{
    sd_direct_free(c, d);
    const sd_csr *M = A;
    saddle_status status = SADDLE_OK;
    d->general = !symmetric;
    if (d->general) {
        status = augment(c, A, &d->augmented);
        if (!status) augment_values(A, &d->augmented);
        M = &d->augmented;
    }
    if (!status) status = plan_symmetric(c, M, q, d, times);
    if (status) {
        sd_direct_free(c, d);
        return status;
    }
    d->largest_exponent = exponent_of(M) - scaled_exponent(M, d->p.row_scale);
    d->planned = true;
    d->precision = q->precision;
    d->planned_bytes = c->bytes + factor_bytes(&d->tree, kernels_of(q), q->precision);
    return SADDLE_OK;
}

saddle_status sd_direct_fits(sd_context *c, const sd_direct *d)
{
    const double megabyte = 1e6, need = (double)d->planned_bytes;
    if (c->limit > 0 && d->planned_bytes > c->limit) {
        return sd_fail(c, SADDLE_MEMORY_LIMIT,
                       "the direct solver needs about %.0f MB and max_memory is %.0f MB: raise it, or choose "
                       "another method",
                       ceil(need / megabyte), (double)c->limit / megabyte);
    }
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (machine > 0 && need > machine) {
        return sd_fail(c, SADDLE_OUT_OF_MEMORY,
                       "the direct solver needs about %.0f MB and this machine has %.0f MB: choose another "
                       "method",
                       ceil(need / megabyte), machine / megabyte);
    }
    return SADDLE_OK;
}

void sd_direct_forget(sd_context *c, sd_direct *d)
{
    for (int p = 0; p < SD_PRECISIONS; ++p) sd_factors_free(c, &d->factors[p]);
    sd_solve_room_free(c, &d->room);
    d->factored = false;
}

void sd_direct_free(sd_context *c, sd_direct *d)
{
    sd_direct_forget(c, d);
    sd_csr_free(c, &d->augmented);
    sd_preparation_free(c, &d->p);
    sd_tree_free(c, &d->tree);
    sd_free(c, d->matched);
    sd_free(c, d->signs);
    *d = (sd_direct){0};
}

/* The rule that the options and what is known of the matrix make. */
static sd_pivot_rule choose_rule(const sd_direct *d, bool known_definite, const sd_direct_options *q)
{
    switch (q->o->factorization) {
    case SADDLE_FACTORIZATION_CHOLESKY: return SD_PIVOT_POSITIVE;
    case SADDLE_FACTORIZATION_STATIC: return SD_PIVOT_STATIC;
    case SADDLE_FACTORIZATION_LDLT: return SD_PIVOT_THRESHOLD;
    default:
        return !d->general && (known_definite || d->was_definite) ? SD_PIVOT_POSITIVE : SD_PIVOT_THRESHOLD;
    }
}

/* How many matched entries have become small, or very large: order and scaling were made for others. */
static int64_t count_stale(const sd_direct *d, const sd_factors *f)
{
    int64_t stale = 0;
    for (int32_t j = 0; d->matched && j < d->tree.n; ++j) {
        const double size = d->matched[j] >= 0 ? fabs(f->values[d->matched[j]]) : 1;
        if (!(size >= STALE && size <= GROWN)) ++stale;
    }
    return stale;
}

/* Signs of the pivots as they stand in D. */
static void count_signs(sd_direct *d)
{
    const sd_factors *f = &d->factors[d->precision];
    d->positive = f->pivots.positive;
    d->negative = f->pivots.negative;
    d->zero = f->pivots.zero;
}

/* Whether the scaling is of so different values that small entries could be taken for zeros. */
static bool is_misscaled(const sd_direct *d, const sd_factors *f)
{
    double least = INFINITY, most = 0;
    for (int32_t j = 0; d->matched && j < d->tree.n; ++j)
        if (d->matched[j] >= 0) least = fmin(least, fabs(f->values[d->matched[j]]));
    for (int64_t k = 0; d->matched && k < d->tree.entry_ptr[d->tree.n]; ++k)
        most = fmax(most, fabs(f->values[k]));
    return d->matched && !(most <= MISSCALED * least);
}

/* A new matching and scaling in the order of the plan, which stays. */
static saddle_status rescale(sd_context *c, const sd_csr *M, const sd_direct_options *q, sd_direct *d)
{
    sd_csr whole = {0};
    sd_graph g = {0};
    saddle_preparation p;
    saddle_options o = *q->o;
    const saddle_given given = {.permutation = d->p.permutation};
    o.order = SADDLE_ORDER_USER;
    o.pairs = SADDLE_PAIRS_OFF;
    saddle_status status = normalise(c, M, &whole);
    if (!status) status = sd_prepare_order(c, &whole, &o, &given, &p, &g);
    sd_csr_free(c, &whole);
    if (status) return status;
    sd_graph_free(c, &g);
    double *scale = d->p.row_scale;
    int32_t *matching = d->p.matching;
    d->p.row_scale = d->p.col_scale = p.row_scale;
    d->p.matching = p.matching;
    p.row_scale = p.col_scale = scale;
    p.matching = matching;
    sd_preparation_free(c, &p);
    sd_free(c, d->matched);
    d->matched = NULL;
    status = keep_matching(c, M, d);
    d->largest_exponent = exponent_of(M) - scaled_exponent(M, d->p.row_scale);
    return status;
}

/* The values, scaled; anew where the scaling of the plan does not serve them. */
static saddle_status take_values(sd_context *c, const sd_csr *M, const sd_direct_options *q, sd_factors *f,
                                 sd_direct *d)
{
    d->exponent = exponent_of(M) - d->largest_exponent;
    sd_factors_take(f, M, d->p.row_scale, d->exponent);
    d->stale = count_stale(d, f);
    if (d->stale == 0 || !is_misscaled(d, f)) return SADDLE_OK;
    sd_log(c, SADDLE_LOG_INFO, "the scaling was made for other values: scaling again");
    const saddle_status status = rescale(c, M, q, d);
    if (status) return status;
    d->exponent = exponent_of(M) - d->largest_exponent;
    sd_factors_take(f, M, d->p.row_scale, d->exponent);
    return SADDLE_OK;
}

/* Runs a factorization by one rule in one precision. */
static saddle_status run(sd_context *c, const sd_csr *M, sd_pivot_rule rule, const sd_direct_options *q,
                         sd_precision precision, sd_direct *d)
{
    sd_factors *f = &d->factors[precision];
    saddle_status status = SADDLE_OK;
    if (!f->tree)
        status = sd_factors_make(c, &d->tree, kernels_of(q), precision,
                                 rule == SD_PIVOT_THRESHOLD ? DELAY_ROOM : 0, f);
    if (!status) status = take_signs(c, q->signs, d);
    if (!status) status = take_values(c, M, q, f, d);
    if (status) return status;
    const sd_factor_options options = {.pivoting = {.rule = rule,
                                                    .u = q->o->threshold,
                                                    .small = SMALL[precision],
                                                    .regularise = q->o->regularise,
                                                    .signs = q->signs ? d->signs : NULL},
                                       .threads = q->threads};
    d->rule = rule;
    d->precision = precision;
    return sd_factors_run(c, f, &options);
}

/* max |l| over all fronts, NaN where a number is not finite. */
static double largest_l(const sd_factors *f)
{
    double largest = 0;
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const double here = f->kernels->largest(&f->front[k]);
        if (!(here <= largest)) largest = here;
        if (isnan(here)) return here;
    }
    return largest;
}

static saddle_status check_factor(sd_context *c, const sd_direct_options *q, sd_direct *d)
{
    d->largest_l = NAN;
    if (q->o->check == SADDLE_CHECK_OFF) return SADDLE_OK;
    d->largest_l = largest_l(&d->factors[d->precision]);
    if (d->rule != SD_PIVOT_THRESHOLD || d->largest_l <= 1 / q->o->threshold) return SADDLE_OK;
    return sd_fail(
        c, SADDLE_NOT_CONVERGED,
        "the factor is not stable: its largest entry is %g, and 1/threshold %g; try another scaling",
        d->largest_l, 1 / q->o->threshold);
}

saddle_status sd_direct_factor(sd_context *c, const sd_csr *A, bool known_definite,
                               const sd_direct_options *q, sd_direct *d)
{
    const sd_csr *M = d->general ? &d->augmented : A;
    const sd_pivot_rule rule = choose_rule(d, known_definite, q);
    if (d->general) augment_values(A, &d->augmented);
    d->factored = d->changed = false;
    saddle_status status = run(c, M, rule, q, q->precision, d);
    if (!status && rule == SD_PIVOT_POSITIVE && !d->factors[d->precision].definite) {
        if (q->o->factorization == SADDLE_FACTORIZATION_CHOLESKY)
            return sd_fail(c, SADDLE_NOT_DEFINITE,
                           "a pivot is not positive: the matrix is not positive definite; use factorization "
                           "ldlt, or auto");
        status = run(c, M, SD_PIVOT_THRESHOLD, q, q->precision, d);
    }
    if (status) return status;
    status = sd_solve_room_make(c, &d->factors[d->precision], &d->room);
    if (!status) status = check_factor(c, q, d);
    if (status) return status;
    count_signs(d);
    if (d->rule == SD_PIVOT_THRESHOLD && d->precision == SD_DOUBLE) status = sd_settle_small_pivots(c, M, d);
    d->was_definite = !status && d->negative == 0 && d->zero == 0 && d->rule != SD_PIVOT_STATIC;
    d->factored = !status;
    return status;
}
