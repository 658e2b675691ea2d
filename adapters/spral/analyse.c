/*
 * Analysis: the pattern is checked, an order of elimination found or taken, and the tree planned for it.
 *
 * The plan depends on the pattern alone: the solver gets ones for values, no scaling and no pairs, and never
 * plans anew. Only ordering 2 looks at values: rows that a matching of large entries puts in pairs stay
 * together, and its scaling is kept for factorizations with scaling 3.
 */
#include "adapters/spral/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CALL[] = "ssids_analyse";

typedef struct request {
    ssids_input in;
    int *order;
    const double *val;
    int64_t threads;
} request;

void spral_ssids_default_options(struct spral_ssids_options *options)
{
    *options = (ssids_options){.unit_diagnostics = 6,
                               .unit_error = 6,
                               .unit_warning = 6,
                               .ordering = 1,
                               .nemin = 32,
                               .ignore_numa = true,
                               .use_gpu = true,
                               .min_gpu_work = INT64_C(5000000000),
                               .max_load_inbalance = 1.2F,
                               .gpu_perf_coeff = 1.0F,
                               .small_subtree_threshold = 4000000,
                               .cpu_block_size = 256,
                               .action = true,
                               .pivot_method = 2,
                               .small = 1e-20,
                               .u = 0.01};
}

/* The caller's order, place by variable, as variable by place. */
static int take_order(const request *q, int32_t *permutation)
{
    const int n = q->in.n;
    for (int k = 0; k < n; ++k) permutation[k] = -1;
    for (int i = 0; i < n; ++i) {
        const int64_t at = (int64_t)q->order[i] - q->in.base;
        if (at < 0 || at >= n || permutation[at] >= 0) return SSIDS_ORDER;
        permutation[at] = i;
    }
    return SSIDS_SUCCESS;
}

/* An order with the pairs of a matching side by side, and the scaling of that matching. */
static int match(const request *q, const saddle_options *options, ssids_akeep *a, char *message)
{
    double *const values = malloc(((size_t)a->pattern.kept + 1) * sizeof *values);
    saddle_preparation p;
    saddle_options o = *options;
    if (!values) return SSIDS_ALLOCATION;
    ssids_take_values(&a->pattern, q->val, NULL, values);
    const saddle_matrix A = ssids_view(&a->pattern, values);
    o.scaling = SADDLE_SCALING_MC64;
    o.pairs = SADDLE_ON;
    const saddle_status status = saddle_prepare(&A, &o, NULL, NULL, &p, message);
    free(values);
    if (status) return ssids_flag_of(status);
    const size_t n = (size_t)a->pattern.n;
    const int64_t rank = p.structural_rank >= 0 ? p.structural_rank : a->pattern.n;
    a->scale = malloc((n + 1) * sizeof *a->scale);
    if (a->scale && n > 0) memcpy(a->scale, p.row_scale, n * sizeof *a->scale);
    if (n > 0) memcpy(a->permutation, p.permutation, n * sizeof *a->permutation);
    saddle_preparation_free(&p, NULL);
    a->inform.matrix_rank = (int)rank;
    if (!a->scale) return SSIDS_ALLOCATION;
    return rank < a->pattern.n ? SSIDS_STRUCTURE : SSIDS_SUCCESS;
}

/* What has to be known of the order before there is a solver. */
static int find_order(const request *q, const ssids_options *options, const saddle_options *o, ssids_akeep *a,
                      char *message)
{
    switch (options->ordering) {
    case 0: return q->order || q->in.n == 0 ? take_order(q, a->permutation) : SSIDS_ORDER;
    case 1: return SSIDS_SUCCESS;
    case 2: return q->val || q->in.n == 0 ? match(q, o, a, message) : SSIDS_VAL;
    default: return SSIDS_ORDER;
    }
}

/* The solver that the first fkeep will take, and what it plans. */
static saddle_status plan(ssids_akeep *a, char *message)
{
    ssids_solver *s = &a->spare;
    saddle_info info = saddle_info_default();
    double *const ones = malloc(((size_t)a->pattern.kept + 1) * sizeof *ones);
    if (!ones) return SADDLE_OUT_OF_MEMORY;
    for (int64_t k = 0; k <= a->pattern.kept; ++k) ones[k] = 1;
    const saddle_matrix A = ssids_view(&a->pattern, ones);
    const saddle_given given = {.permutation = a->permutation};
    saddle_status status = saddle_create(&s->solver, &s->options, NULL, message);
    if (!status && s->options.order == SADDLE_ORDER_USER)
        status = saddle_set_given(s->solver, a->pattern.n, &given);
    if (!status) status = saddle_analyse(s->solver, &A);
    if (!status) status = saddle_get_order(s->solver, a->permutation);
    if (!status) status = saddle_query(s->solver, &info);
    if (status && s->solver) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", saddle_message(s->solver));
    free(ones);
    if (status) return status;
    a->inform.maxdepth = ssids_int(info.planned_height);
    a->inform.maxfront = ssids_int(info.planned_rows);
    a->inform.maxsupernode = ssids_int(info.planned_columns);
    a->inform.num_sup = ssids_int(info.planned_fronts);
    a->inform.num_factor = info.planned_nnz;
    a->inform.num_flops = info.planned_flops < 9e18 ? (int64_t)info.planned_flops : INT64_MAX;
    return SADDLE_OK;
}

/* All of it, into an akeep that begins as zeros. Returns a flag. */
static int fill(const request *q, const ssids_options *options, ssids_akeep *a, char *message)
{
    const int read = ssids_read_pattern(&q->in, &a->pattern);
    if (read < 0) return read;
    a->checked = q->in.check;
    a->threads = q->threads;
    a->inform.matrix_dup = ssids_int(a->pattern.duplicate);
    a->inform.matrix_missing_diag = ssids_int(a->pattern.missing);
    a->inform.matrix_outrange = ssids_int(a->pattern.outside);
    a->inform.matrix_rank = q->in.n - a->pattern.empty;
    a->warning = read;
    a->permutation = malloc(((size_t)q->in.n + 1) * sizeof *a->permutation);
    if (!a->permutation) return SSIDS_ALLOCATION;
    saddle_options *const o = &a->spare.options;
    int flag = ssids_solver_options(options, SADDLE_SCALING_NONE, q->threads, o, &a->print, message);
    if (!flag) flag = find_order(q, options, o, a, message);
    if (flag < 0) return flag;
    /* what was found or given; an order that SADDLE_OPTIONS names wins over one that is given */
    if (options->ordering == 2 || (options->ordering == 0 && o->order == SADDLE_ORDER_AUTO))
        o->order = SADDLE_ORDER_USER;
    const int planned = ssids_flag_of(plan(a, message));
    if (planned || flag) return planned ? planned : flag;
    return a->pattern.empty > 0 ? SSIDS_STRUCTURE : read;
}

static void analyse(const request *q, void **akeep, const ssids_options *options, ssids_inform *inform)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    *inform = (ssids_inform){0};
    if (!akeep) {
        ssids_tell(CALL, options, SSIDS_CALL_SEQUENCE, "akeep is NULL", inform);
        return;
    }
    ssids_akeep *a = calloc(1, sizeof *a);
    spral_ssids_free_akeep(akeep); /* what may be there is ours, or is not looked at */
    if (!a) {
        ssids_tell(CALL, options, SSIDS_ALLOCATION, NULL, inform);
        return;
    }
    atomic_init(&a->owners, 1);
    pthread_mutex_init(&a->lock, NULL);
    int flag = fill(q, options, a, message);
    *inform = a->inform;
    const bool print = a->print;
    if (flag >= 0 && q->order)
        for (int k = 0; k < q->in.n; ++k) q->order[a->permutation[k]] = k + q->in.base;
    if (flag < 0)
        ssids_drop_akeep(a);
    else if (!(*akeep = ssids_give_akeep(a)))
        flag = SSIDS_ALLOCATION;
    ssids_tell(CALL, options, flag, message, inform);
    if (flag >= 0)
        ssids_note(options, print, "analysed n = %d: %lld entries in L, %lld operations, %d fronts", q->in.n,
                   (long long)inform->num_factor, (long long)inform->num_flops, inform->num_sup);
}

static request request_of(bool check, int n, int *order, const int *row, const double *val,
                          const ssids_options *options)
{
    return (request){
        .in = {.n = n, .base = options->array_base, .check = check, .row = row}, .order = order, .val = val};
}

void spral_ssids_analyse(bool check, int n, int *order, const int64_t *ptr, const int *row, const double *val,
                         void **akeep, const struct spral_ssids_options *options,
                         struct spral_ssids_inform *inform)
{
    request q = request_of(check, n, order, row, val, options);
    q.in.ptr64 = ptr;
    analyse(&q, akeep, options, inform);
}

void spral_ssids_analyse_ptr32(bool check, int n, int *order, const int *ptr, const int *row,
                               const double *val, void **akeep, const struct spral_ssids_options *options,
                               struct spral_ssids_inform *inform)
{
    request q = request_of(check, n, order, row, val, options);
    q.in.ptr32 = ptr;
    analyse(&q, akeep, options, inform);
}

void spral_ssids_analyse_topology(bool check, int n, int *order, const int64_t *ptr, const int *row,
                                  const double *val, void **akeep, const struct spral_ssids_options *options,
                                  struct spral_ssids_inform *inform, int nregions,
                                  const struct spral_numa_region *regions)
{
    enum { THREADS_MOST = 4096 };
    request q = request_of(check, n, order, row, val, options);
    q.in.ptr64 = ptr;
    for (int k = 0; k < nregions && regions; ++k) q.threads += regions[k].nproc > 0 ? regions[k].nproc : 0;
    if (q.threads > THREADS_MOST) q.threads = THREADS_MOST;
    analyse(&q, akeep, options, inform);
}

void spral_ssids_analyse_coord(int n, int *order, int64_t ne, const int *row, const int *col,
                               const double *val, void **akeep, const struct spral_ssids_options *options,
                               struct spral_ssids_inform *inform)
{
    request q = request_of(true, n, order, row, val, options);
    q.in.entries = ne;
    q.in.col = col;
    analyse(&q, akeep, options, inform);
}
