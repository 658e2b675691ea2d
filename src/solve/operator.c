/* Operators: see operator.h. */
#include "solve/operator.h"

#include <math.h>
#include <stdlib.h>

enum {
    EXPONENT_SAFE = 300, /* products of a few such numbers neither overflow nor vanish */
    EXPAND_FROM = 65536  /* entries above which a half product in one slice is worth doubling the
                            memory, to run in parallel */
};

enum { LANES = 4 }; /* of a scan: one maximum would wait for the other */
static inline double larger(double most, double a)
{
    return a > most ? a : most;
}
static inline double smaller(double least, double a)
{
    return a < least && a > 0 ? a : least;
}

int sd_largest_exponent(const double *values, int64_t count)
{
    double most[LANES] = {0};
    int64_t k = 0;
    for (; k + LANES <= count; k += LANES)
        for (int l = 0; l < LANES; ++l) most[l] = larger(most[l], fabs(values[k + l]));
    for (; k < count; ++k) most[0] = larger(most[0], fabs(values[k]));
    for (int l = 1; l < LANES; ++l) most[0] = larger(most[0], most[l]);
    return most[0] > 0 && isfinite(most[0]) ? ilogb(most[0]) : 0;
}

int sd_smallest_exponent(const double *values, int64_t count)
{
    double least[LANES] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int64_t k = 0;
    for (; k + LANES <= count; k += LANES)
        for (int l = 0; l < LANES; ++l) least[l] = smaller(least[l], fabs(values[k + l]));
    for (; k < count; ++k) least[0] = smaller(least[0], fabs(values[k]));
    for (int l = 1; l < LANES; ++l) least[0] = smaller(least[0], least[l]);
    return isfinite(least[0]) ? ilogb(least[0]) : 0;
}

/* op->values = val 2^-exponent in the operator's precision; left NULL where val does as it is. */
static saddle_status scaled_values(sd_context *c, const double *val, int64_t nnz, sd_operator *op)
{
    const sd_precision precision = op->sparse.precision;
    if (precision == SD_DOUBLE && op->exponent == 0) return SADDLE_OK;
    op->values = sd_alloc(c, nnz, sd_precision_size(precision), "scaled values");
    if (!op->values) return c->status;
    for (int64_t k = 0; k < nnz; ++k) {
        const double value = ldexp(val[k], -op->exponent);
        if (precision == SD_DOUBLE)
            ((double *)op->values)[k] = value;
        else
            ((float *)op->values)[k] = (float)value;
    }
    return SADDLE_OK;
}

static int64_t longest_row(const sd_csr *A)
{
    int64_t most = 0;
    for (int32_t i = 0; i < A->n; ++i)
        if (A->ptr[i + 1] - A->ptr[i] > most) most = A->ptr[i + 1] - A->ptr[i];
    return most;
}

/* Moves the arrays over where the backend has memory of its own. */
static saddle_status place(sd_engine *e, sd_operator *op)
{
    sd_sparse *s = &op->sparse;
    if (e->backend->host_memory) return SADDLE_OK;
    op->device[0] = sd_to_backend(e, s->ptr, ((int64_t)s->n + 1) * (int64_t)sizeof *s->ptr, "row pointers");
    op->device[1] = sd_to_backend(e, s->ind, s->nnz * (int64_t)sizeof *s->ind, "column indices");
    op->device[2] = sd_to_backend(e, s->val, s->nnz * (int64_t)sd_precision_size(s->precision), "values");
    if (e->status) return e->status;
    s->ptr = op->device[0];
    s->ind = op->device[1];
    s->val = op->device[2];
    s->slice = s->window = NULL;
    s->offset = NULL;
    s->slices = 0;
    sd_csr_free(e->context, &op->whole);
    sd_slices_free(e->context, &op->slices);
    sd_free(e->context, op->values);
    op->values = NULL;
    return e->status;
}

/* The norm is the largest row of |A| times ones. */
static saddle_status find_norm(sd_engine *e, sd_operator *op)
{
    sd_vector ones = sd_vector_new(e, op->sparse.precision, op->sparse.n, "vector of ones");
    sd_vector sums = sd_vector_new(e, op->sparse.precision, op->sparse.n, "row sums");
    sd_engine_reserve(e, op->sparse.n, &op->sparse);
    if (!e->status) {
        sd_fill(e, 1.0, &ones);
        sd_spmv_abs(e, &op->sparse, &ones, &sums);
        sd_norm_inf(e, &sums, &op->norm_inf);
    }
    sd_vector_free(e, &ones);
    sd_vector_free(e, &sums);
    return e->status;
}

saddle_status sd_operator_make(sd_engine *e, const sd_csr *A, sd_precision precision, sd_sums sums,
                               sd_operator *op)
{
    sd_context *c = e->context;
    const sd_csr *from = A;
    *op = (sd_operator){.exponent = sd_largest_exponent(A->val, A->nnz),
                        .from = *A,
                        .smallest = sd_smallest_exponent(A->val, A->nnz)};
    if (precision == SD_DOUBLE && abs(op->exponent) <= EXPONENT_SAFE) op->exponent = 0;
    op->exponent -= op->exponent % 2; /* even: a symmetric scaling of A has the half of it on both sides */
    op->sparse.precision = precision;
    saddle_status status = sd_slices_make(c, A, &op->slices);
    const bool crowded = op->slices.count == 1 && A->nnz > EXPAND_FROM;
    const bool expand = sums == SD_SUMS_BY_SLICES ? crowded : sums == SD_SUMS_IN_ORDER_WHOLE;
    if (!status && sums == SD_SUMS_IN_ORDER && A->half) sd_slices_join(A, &op->slices);
    if (!status && A->half && (expand || !e->backend->host_memory)) {
        status = sd_csr_expand(c, A, &op->whole);
        from = &op->whole;
        sd_slices_free(c, &op->slices);
        if (!status) status = sd_slices_make(c, from, &op->slices);
    }
    if (!status) status = scaled_values(c, from->val, from->nnz, op);
    if (!status) {
        op->sparse = (sd_sparse){.n = from->n,
                                 .nnz = from->nnz,
                                 .longest = longest_row(from),
                                 .half = from->half,
                                 .precision = precision,
                                 .ptr = from->ptr,
                                 .ind = from->ind,
                                 .val = op->values ? op->values : from->val,
                                 .slices = op->slices.count,
                                 .slice = op->slices.slice,
                                 .window = op->slices.window,
                                 .offset = op->slices.offset,
                                 .window_total = op->slices.window_total};
        status = place(e, op);
    }
    if (!status) status = find_norm(e, op);
    if (status) sd_operator_free(e, op);
    return status;
}

/* floor(log2 a), 0 where a is 0. */
static int exponent_of(double a)
{
    return a > 0 ? ilogb(a) : 0;
}

bool sd_operator_renew(sd_operator *op, const saddle_facts *facts)
{
    if (op->exponent != 0 || op->sparse.precision != SD_DOUBLE ||
        abs(exponent_of(facts->largest)) > EXPONENT_SAFE)
        return false;
    op->norm_inf = facts->norm_inf;
    op->smallest = exponent_of(facts->smallest);
    return true;
}

bool sd_operator_refresh(sd_operator *op, const sd_csr *A, const saddle_facts *facts)
{
    return op->sparse.val && op->sparse.val == A->val && sd_operator_renew(op, facts);
}

void sd_operator_free(sd_engine *e, sd_operator *op)
{
    for (int k = 0; k < 3; ++k) sd_release(e, op->device[k]);
    sd_csr_free(e->context, &op->whole);
    sd_slices_free(e->context, &op->slices);
    sd_free(e->context, op->values);
    *op = (sd_operator){0};
}
