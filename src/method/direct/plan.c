/*
 * The plan of the direct solver: scaling, order and assembly tree, from the values of A.
 */
#include "method/direct/direct.h"

#include "backend/cpu/cpu.h"
#include "factor/arena.h"
#include "prepare/prepare.h"

#include <math.h>
#include <string.h>

static const double ALPHA = 0x1p-26; /* of a general matrix, relative to its largest entry */
enum { MANY_PROCESSORS = 160 };      /* of a GPU that is not asked yet: more than most have */

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

/* The caller's scaling and order for that matrix: rows, then columns; each row next to its column. What is
 * made here is the caller's to free. */
static saddle_status augment_given(sd_context *c, int32_t n, const saddle_given *g, double **scale,
                                   int32_t **order)
{
    if (g->row_scale && !(*scale = sd_alloc(c, 2 * (int64_t)n, sizeof **scale, "scaling"))) return c->status;
    if (g->permutation && !(*order = sd_alloc(c, 2 * (int64_t)n, sizeof **order, "order"))) return c->status;
    for (int32_t i = 0; i < n && *scale; ++i) {
        (*scale)[i] = g->row_scale[i];
        (*scale)[n + i] = g->col_scale ? g->col_scale[i] : g->row_scale[i];
    }
    for (int32_t k = 0; k < n && *order; ++k) {
        (*order)[2 * k] = g->permutation[k];
        (*order)[2 * k + 1] = n + g->permutation[k];
    }
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

/*
 * Bytes of all that a factorization on one thread and a solve will allocate, on top of what is there. Of each
 * front itself, how many it waits for, its intervals of the arena, its place in a solve. Of each row the
 * vectors of a solve with refinement, one right-hand side and its rider, and the operator: 16 of them.
 */
static saddle_status predict_bytes(sd_context *c, const sd_tree *t, const sd_front_kernels *kernels,
                                   sd_precision precision, int64_t *bytes)
{
    enum { VECTORS = 16 };
    int64_t arena;
    const saddle_status status = sd_arena_measure(c, t, &kernels[precision], precision, &arena);
    const int64_t lists = t->fronts * (int64_t)(sizeof(sd_front) + sizeof(int32_t) + 11 * sizeof(int64_t));
    const int64_t vectors = VECTORS * (int64_t)t->n * (int64_t)sizeof(double);
    *bytes = sd_bytes_in_use(c) + arena + lists + vectors + t->entry_ptr[t->n] * (int64_t)sizeof(double) +
             sd_panels_bytes(t, precision, INT64_MAX, SD_DELAY_ROOM);
    return status;
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

/* Order and tree of a matrix that is symmetric, and near by now. */
static saddle_status plan_near(sd_context *c, const sd_csr *A, const saddle_options *options,
                               const saddle_given *given, sd_direct_plan *d, saddle_info *info)
{
    sd_csr whole = {0};
    sd_graph g = {0};
    sd_elimination columns = {0};
    double start = sd_seconds();
    saddle_status status = sd_direct_normalise(c, A, &whole);
    if (!status) status = sd_prepare_order(c, &whole, options, given, &d->p, &g, &columns);
    info->time_prepare += sd_seconds() - start;
    start = sd_seconds();
    sd_csr_free(c, &whole);
    if (!status) status = sd_progress(c, "analyse", 2, 3, NAN);
    if (!status) status = sd_tree_make(c, A, &g, d->p.permutation, &columns, true, &d->tree);
    sd_graph_free(c, &g);
    sd_elimination_free(c, &columns);
    if (!status) status = sd_direct_match(c, A, &d->tree, d->p.matching, &d->matched);
    info->time_plan += sd_seconds() - start;
    return status;
}

static saddle_status balance(sd_context *c, const sd_csr *M, sd_direct_plan *d, double **values)
{
    d->tilt = sd_alloc(c, M->n, sizeof *d->tilt, "balance");
    *values = sd_alloc(c, M->nnz, sizeof **values, "balanced matrix");
    if (!d->tilt || !*values) return c->status;
    const saddle_status status = sd_direct_balance(c, M, d->tilt);
    if (!status) sd_direct_tilted(M, d->tilt, *values);
    return status;
}

/* The plan of a symmetric matrix, balanced where its entries are far apart and the scaling is ours. */
static saddle_status plan_symmetric(sd_context *c, const sd_csr *A, const saddle_options *options,
                                    const saddle_given *given, sd_direct_plan *d, saddle_info *info)
{
    sd_csr near = *A;
    double *tilted = NULL;
    saddle_status status = SADDLE_OK;
    if (options->scaling != SADDLE_SCALING_USER && sd_direct_is_far(A)) {
        status = balance(c, A, d, &tilted);
        near.val = tilted;
    }
    if (!status) status = plan_near(c, &near, options, given, d, info);
    if (!status) d->largest_exponent = sd_direct_exponent(&near, d->p.row_scale);
    sd_free(c, tilted);
    return status;
}

/* The same by way of the matrix of twice the size. */
static saddle_status plan_general(sd_context *c, const sd_problem *p, sd_direct_plan *d, saddle_info *info)
{
    double *scale = NULL;
    int32_t *order = NULL;
    saddle_status status = augment(c, p->A, &d->augmented);
    if (!status) sd_direct_augment(p->A, d->augmented.val);
    if (!status && p->given) status = augment_given(c, p->A->n, p->given, &scale, &order);
    const saddle_given given = {.row_scale = scale, .permutation = order};
    if (!status) status = plan_symmetric(c, &d->augmented, p->options, &given, d, info);
    sd_free_all(c, scale, order);
    return status;
}

void sd_direct_planned(const sd_direct_plan *d, bool columns, saddle_info *info)
{
    info->planned_flops = columns ? d->tree.column_flops : d->tree.flops;
    info->planned_nnz = columns ? d->tree.column_nnz : d->tree.nnz;
    info->critical_flops = columns ? NAN : d->tree.critical_flops;
    info->planned_bytes = d->bytes;
    info->planned_fronts = d->tree.fronts;
    info->planned_height = d->tree.height;
    info->planned_rows = d->tree.largest_rows;
    info->planned_columns = d->tree.largest_columns;
}

/* What info says of it. */
static void tell(sd_context *c, const sd_direct_plan *d, saddle_info *info)
{
    sd_direct_planned(d, d->columns, info);
    sd_log(c, SADDLE_LOG_INFO,
           "direct: %d %s, %.3g operations, %.3g of them on the critical path, %lld entries, about %.0f MB",
           d->columns ? d->tree.n : d->tree.fronts, d->columns ? "columns" : "fronts", info->planned_flops,
           d->columns ? info->planned_flops : d->tree.critical_flops, (long long)info->planned_nnz,
           1e-6 * (double)d->bytes);
}

/* Whether columns are tried: where L is very sparse; for a single factorization only if it can be seen that
 * the order will not be refused at once, since to look for another would not pay. */
static saddle_status choose_columns(sd_context *c, const sd_problem *p, sd_direct_plan *d)
{
    const saddle_options *o = p->options;
    const bool worth = o->factorizations == 1 ? d->tree.columns_once : d->tree.columns_again;
    d->columns = p->device != SADDLE_DEVICE_CUDA && sd_iteration_precision(p) == SD_DOUBLE &&
                 o->simplicial != SADDLE_OFF && (o->simplicial == SADDLE_ON || worth);
    if (!d->columns || o->simplicial == SADDLE_ON || o->factorizations != 1 || d->tilt) return SADDLE_OK;
    const sd_csr *M = d->general ? &d->augmented : p->A;
    return sd_direct_check_leaves(c, M, d->tree.position, d->p.row_scale, o->threshold, &d->columns);
}

/* What a device needs: levels, and its memory with that of the host for what does not fit. A limit that is
 * too small shows when that is allocated: the need is then known better. */
static saddle_status plan_device(sd_context *c, const sd_problem *p, sd_precision precision,
                                 sd_direct_plan *d)
{
    const sd_backend *backend = sd_backend_cuda(c);
    if (!backend) return c->status;
    const saddle_status status = sd_schedule_make(c, &d->tree, &d->schedule);
    if (status) return status;
    int64_t limit = p->options->device_memory;
    if (c->limit > 0 && (limit == 0 || limit > c->limit - c->bytes)) limit = c->limit - c->bytes;
    sd_run_bytes b = {0};
    const saddle_status told = backend->fronts->bytes(c, NULL, MANY_PROCESSORS, &d->tree, &d->schedule,
                                                      precision, SD_DELAY_ROOM, limit, &b);
    d->bytes = c->bytes + (b.device > 0 ? b.device + b.host : b.least);
    return told;
}

/* On the host, solves substitute with L itself. */
static saddle_status check_presolve(sd_context *c, const sd_problem *p)
{
    const saddle_presolve presolve = p->options->presolve;
    if (p->device == SADDLE_DEVICE_CUDA || presolve == SADDLE_PRESOLVE_AUTO ||
        presolve == SADDLE_PRESOLVE_OFF)
        return SADDLE_OK;
    return sd_fail(c, SADDLE_NOT_SUPPORTED, "presolve %s needs a GPU: use device cuda, or presolve auto",
                   presolve == SADDLE_PRESOLVE_BAND ? "band" : "whole");
}

saddle_status sd_direct_plan_make(sd_context *c, const sd_problem *p, void **plan, saddle_info *info)
{
    const sd_precision precision = sd_iteration_precision(p);
    sd_direct_plan *d = *plan = sd_alloc_zero(c, 1, sizeof *d, "plan");
    saddle_status status = d ? sd_check_given(c, p) : c->status;
    if (!status) status = check_presolve(c, p);
    if (status) return status;
    d->n = p->A->n;
    d->general = !p->facts->symmetric;
    d->nonzeros = sd_count_nonzeros(p->A);
    status =
        d->general ? plan_general(c, p, d, info) : plan_symmetric(c, p->A, p->options, p->given, d, info);
    if (status) return status;
    status = choose_columns(c, p, d);
    if (!status && p->device == SADDLE_DEVICE_CUDA)
        status = plan_device(c, p, precision, d);
    else if (!status)
        status = predict_bytes(c, &d->tree, sd_direct_kernels(p->device), precision, &d->bytes);
    if (d->columns) /* fronts may be needed all the same */
        d->bytes += sd_simplicial_predict(&d->tree, p->options->factorizations != 1);
    d->host_bytes = p->device == SADDLE_DEVICE_CUDA ? 0 : d->bytes;
    sd_free(c, d->augmented.val); /* every factorization has its own */
    d->augmented.val = NULL;
    if (!status) tell(c, d, info);
    return status;
}

/* Columns stay on the host (direct.c): what goes has fronts, and so has what returns. */
saddle_status sd_direct_plan_move(sd_context *c, const sd_problem *p, void *plan, saddle_info *info)
{
    sd_direct_plan *d = plan;
    if (p->device == SADDLE_DEVICE_CUDA) {
        const saddle_status status = plan_device(c, p, sd_iteration_precision(p), d);
        if (status) return status;
    } else {
        sd_schedule_free(c, &d->schedule);
        d->bytes = d->host_bytes;
    }
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
    sd_schedule_free(c, &d->schedule);
    sd_free_all(c, d->matched, d->tilt, d);
}
