/*
 * The plan of the direct solver: scaling, order and assembly tree, from the values of A.
 */
#include "method/direct/direct.h"

#include "backend/cpu/cpu.h"
#include "prepare/prepare.h"

#include <math.h>
#include <string.h>

static const double ALPHA = 0x1p-26; /* of a general matrix, relative to its largest entry */

/* (alpha I, A; A', 0) of a general matrix, by its upper triangle. */
static saddle_status augment(sd_context *c, const sd_csr *A, sd_csr *to)
{
    const int32_t n = A->n;
    if (n > INT32_MAX / 2)
        return sd_fail(c, SADDLE_NOT_SUPPORTED,
                       "n is %d: the direct solver supports general matrices of up to %d rows", n,
                       INT32_MAX / 2);
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

void sd_direct_augment(const sd_csr *A, double *values)
{
    const double alpha = ALPHA * largest_of(A);
    int64_t k = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        values[k++] = alpha;
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) values[k++] = A->val[e];
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

int sd_direct_exponent(const sd_csr *A, const double *scale)
{
    return exponent_of(A) - scaled_exponent(A, scale);
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

saddle_status sd_direct_match(sd_context *c, const sd_csr *A, const sd_tree *tree, const int32_t *matching,
                              int64_t **matched)
{
    *matched = NULL;
    if (!matching) return SADDLE_OK;
    *matched = sd_alloc(c, A->n, sizeof **matched, "matching");
    if (!*matched) return c->status;
    for (int32_t j = 0; j < A->n; ++j)
        (*matched)[j] = matching[j] < 0 ? -1 : entry_at(A, tree, matching[j], j);
    return SADDLE_OK;
}

const sd_front_kernels *sd_direct_kernels(int device)
{
    return device == SADDLE_DEVICE_REFERENCE ? sd_fronts_reference : sd_cpu()->fronts;
}

/* Bytes of all that the factorization will allocate, on top of what is there. */
static int64_t factor_bytes(const sd_tree *t, const sd_front_kernels *kernels, sd_precision precision)
{
    const int64_t number = (int64_t)sd_precision_size(precision);
    const int64_t numbers = t->rests + kernels->work(t->largest_rows, t->largest_columns);
    /* a front itself, how many it waits for, its interval of the arena */
    const int64_t lists = t->fronts * (int64_t)(sizeof(sd_front) + sizeof(int32_t) + 2 * sizeof(int64_t));
    return numbers * number + lists + t->entry_ptr[t->n] * (int64_t)sizeof(double) +
           sd_panels_bytes(t, precision, SD_DELAY_ROOM);
}

/* All of A, without its power of two, so that a matrix of another size is planned in the same way. Where its
 * sizes are too far apart for that, they stay as they are. */
saddle_status sd_direct_normalise(sd_context *c, const sd_csr *A, sd_csr *to)
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
static saddle_status plan_symmetric(sd_context *c, const sd_csr *A, const sd_problem *q, sd_direct_plan *d,
                                    saddle_info *info)
{
    sd_csr whole = {0};
    sd_graph g = {0};
    double start = sd_seconds();
    saddle_status status = sd_direct_normalise(c, A, &whole);
    if (!status) status = sd_prepare_order(c, &whole, q->options, q->given, &d->p, &g);
    info->time_prepare += sd_seconds() - start;
    start = sd_seconds();
    sd_csr_free(c, &whole);
    if (!status) status = sd_tree_make(c, A, &g, d->p.permutation, &d->tree);
    sd_graph_free(c, &g);
    if (!status) status = sd_direct_match(c, A, &d->tree, d->p.matching, &d->matched);
    info->time_plan += sd_seconds() - start;
    return status;
}

/* What info says of it. */
static void tell(sd_context *c, const sd_direct_plan *d, saddle_info *info)
{
    info->planned_flops = d->tree.flops;
    info->planned_nnz = d->tree.nnz;
    info->planned_bytes = d->bytes;
    sd_log(c, SADDLE_LOG_INFO, "direct: %d fronts, %.3g operations, %lld entries, about %.0f MB",
           d->tree.fronts, d->tree.flops, (long long)d->tree.nnz, 1e-6 * (double)d->bytes);
}

/* The plan is that of the balanced matrix. */
static saddle_status balance(sd_context *c, const sd_csr *M, sd_direct_plan *d, double **values)
{
    d->tilt = sd_alloc(c, M->n, sizeof *d->tilt, "balance");
    *values = sd_alloc(c, M->nnz, sizeof **values, "balanced matrix");
    if (!d->tilt || !*values) return c->status;
    const saddle_status status = sd_direct_balance(c, M, d->tilt);
    if (!status) sd_direct_tilted(M, d->tilt, *values);
    return status;
}

saddle_status sd_direct_plan_make(sd_context *c, const sd_problem *p, void **plan, saddle_info *info)
{
    const sd_precision precision = sd_iteration_precision(p);
    const sd_csr *M = p->A;
    sd_direct_plan *d = *plan = sd_alloc_zero(c, 1, sizeof *d, "plan");
    saddle_status status = d ? sd_check_given(c, p) : c->status;
    if (status) return status;
    d->n = p->A->n;
    d->general = !p->facts->symmetric;
    d->nonzeros = sd_count_nonzeros(p->A);
    if (d->general) {
        status = augment(c, p->A, &d->augmented);
        if (!status) sd_direct_augment(p->A, d->augmented.val);
        M = &d->augmented;
    }
    sd_csr balanced;
    double *tilted = NULL;
    if (!status && sd_direct_is_far(M)) {
        status = balance(c, M, d, &tilted);
        balanced = *M;
        balanced.val = tilted;
        M = &balanced;
    }
    if (!status) status = plan_symmetric(c, M, p, d, info);
    if (!status) d->largest_exponent = sd_direct_exponent(M, d->p.row_scale);
    sd_free(c, tilted);
    if (status) return status;
    d->bytes = c->bytes + factor_bytes(&d->tree, sd_direct_kernels(p->device), precision);
    sd_free(c, d->augmented.val); /* every factorization has its own */
    d->augmented.val = NULL;
    tell(c, d, info);
    return SADDLE_OK;
}

sd_cost sd_direct_cost(const void *plan)
{
    const sd_direct_plan *d = plan;
    return (sd_cost){.flops = d->tree.flops, .entries = (double)d->tree.nnz, .bytes = d->bytes};
}

void sd_direct_plan_free(sd_context *c, void *plan)
{
    sd_direct_plan *d = plan;
    sd_csr_free(c, &d->augmented);
    sd_preparation_free(c, &d->p);
    sd_tree_free(c, &d->tree);
    sd_free_all(c, d->matched, d->tilt, d);
}
