/* The stage as a whole, and its public face. See prepare.h; the work is in match_scale.c and choose.c. */
#include "prepare/prepare.h"

#include "core/options.h"
#include "matrix/inspect.h"
#include "prepare/order.h"
#include "prepare/stages.h"

#include <math.h>
#include <stddef.h>

enum { STEPS = SD_PREPARE_STEPS - 1, DEFAULT_BLOCK = 8 }; /* steps before the measures */

void sd_stage_tick(sd_preparing *t, double *time)
{
    const double now = sd_seconds();
    *time += now - t->clock;
    t->clock = now;
}

static void forget(saddle_preparation *p)
{
    const size_t size = p->size;
    *p = (saddle_preparation){.size = size};
    p->n = p->nnz = -1;
    p->pairs = SADDLE_AUTO; /* undecided, as the other choices at 0 */
    p->block_size = -1;
    p->blocks = p->structural_rank = p->two_by_two = p->dense_rows = -1;
    p->factor_nnz = p->tree_height = p->largest_block = p->levels = p->stored_entries = -1;
    p->log_product = p->log_scaled = p->factor_flops = NAN;
    p->dominance_least = p->dominance_mean = p->dominance_largest = NAN;
    p->off_diagonal_dominance = p->block_off_diagonal_dominance = NAN;
}

/* Scaling, matching and pairs. */
static void free_values(sd_context *c, saddle_preparation *p)
{
    if (p->col_scale != p->row_scale) sd_free(c, p->col_scale);
    sd_free_all(c, p->row_scale, p->matching, p->partner);
    p->row_scale = p->col_scale = NULL;
    p->matching = p->partner = NULL;
}

void sd_preparation_free(sd_context *c, saddle_preparation *p)
{
    free_values(c, p);
    if (p->row_permutation != p->permutation) sd_free(c, p->row_permutation);
    sd_free_all(c, p->permutation, p->block_start);
    forget(p);
}

/* What the options ask for must fit together. */
static saddle_status check_request(sd_preparing *t)
{
    const saddle_options *o = t->options;
    saddle_preparation *p = t->p;
    p->blocking = o->blocking;
    if (p->blocking == SADDLE_BLOCKING_AUTO)
        p->blocking = o->block_size > 0 ? SADDLE_BLOCKING_CLUSTERS : SADDLE_BLOCKING_NONE;
    p->block_size = o->block_size > 0 ? (int)o->block_size : DEFAULT_BLOCK;
    if (p->blocking == SADDLE_BLOCKING_NONE) p->block_size = 1;
    const bool keeps = p->blocking != SADDLE_BLOCKING_NONE && p->blocking != SADDLE_BLOCKING_GRID &&
                       p->blocking != SADDLE_BLOCKING_ADJACENT;
    if (t->symmetric && keeps && o->pairs == SADDLE_ON && p->block_size == 1)
        return sd_fail(t->c, SADDLE_BAD_OPTION,
                       "blocks of one row cannot keep pairs: use block_size 2 or more, or pairs off");
    if (t->symmetric && p->blocking == SADDLE_BLOCKING_PAIRS && o->pairs == SADDLE_OFF)
        return sd_fail(t->c, SADDLE_BAD_OPTION, "blocking \"pairs\" requires pairs: pairs cannot be off");
    if (o->order != SADDLE_ORDER_USER) return SADDLE_OK;
    if (!t->given || !t->given->permutation)
        return sd_fail(t->c, SADDLE_BAD_ARGUMENT, "order is \"user\" but no permutation is given");
    return sd_order_check(t->c, t->given->permutation, t->A->n, "the order");
}

/* What is kept of pairs and row permutation goes into p. */
static saddle_status keep_result(sd_preparing *t)
{
    saddle_preparation *p = t->p;
    const int32_t n = t->A->n;
    const bool pairs = t->symmetric ? t->keep_pairs : t->new_row != NULL;
    p->pairs = pairs ? SADDLE_ON : SADDLE_OFF;
    p->two_by_two = 0;
    if (t->symmetric && pairs) {
        for (int32_t i = 0; i < n; ++i) p->two_by_two += t->partner[i] > i;
        p->partner = t->partner;
        t->partner = NULL;
    }
    p->row_permutation = p->permutation;
    if (t->symmetric) return SADDLE_OK;
    p->row_permutation = sd_alloc(t->c, n, sizeof(int32_t), "row permutation");
    int32_t *position = sd_alloc(t->c, n, sizeof *position, "positions");
    if (p->row_permutation && position) {
        sd_invert_order(n, p->permutation, position);
        for (int32_t i = 0; i < n; ++i) p->row_permutation[position[t->new_row ? t->new_row[i] : i]] = i;
    }
    const saddle_status status = p->row_permutation && position ? SADDLE_OK : t->c->status;
    sd_free(t->c, position);
    return status;
}

static saddle_status make_graph(sd_preparing *t)
{
    saddle_preparation *p = t->p;
    saddle_status status = sd_graph_from_csr(t->c, t->A, t->symmetric, t->new_row, &t->graph);
    if (!status && sd_blocks_first(p->blocking))
        status = sd_graph_weigh(t->c, t->A, t->symmetric, t->new_row, p->row_scale, p->col_scale, &t->graph);
    sd_stage_tick(t, &p->time_graph);
    return status;
}

static saddle_status measure(sd_preparing *t)
{
    saddle_preparation *p = t->p;
    if (p->matching)
        sd_matching_objective(t->A, p->matching, p->row_scale, p->col_scale, &p->log_product, &p->log_scaled);
    const saddle_status status = sd_measure_blocks(t->c, t->A, p);
    sd_stage_tick(t, &p->time_measures);
    return status;
}

/* The end of a preparation without measures. */
static saddle_status end_steps(sd_context *c, saddle_status status)
{
    return status ? status : sd_progress(c, "prepare", SD_PREPARE_STEPS, SD_PREPARE_STEPS, NAN);
}

static void free_structure(sd_preparing *t)
{
    sd_graph_free(t->c, &t->graph);
    sd_elimination_free(t->c, &t->tree);
}

/* The first of the steps, at most all but the measures. Graph and elimination tree stay in t. */
static saddle_status run_steps(sd_preparing *t, int count)
{
    static saddle_status (*const steps[STEPS])(sd_preparing *) = {sd_stage_values, make_graph, sd_stage_order,
                                                                  keep_result};
    saddle_preparation *p = t->p;
    t->clock = sd_seconds();
    forget(p);
    p->n = t->A->n;
    p->nnz = t->A->nnz;
    p->symmetric = t->symmetric;
    saddle_status status = check_request(t);
    for (int k = 0; k < count && !status; ++k) {
        status = sd_progress(t->c, "prepare", k, SD_PREPARE_STEPS, NAN);
        if (!status) status = steps[k](t);
    }
    sd_free_all(t->c, t->partner, t->new_row);
    return status;
}

saddle_status sd_prepare(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                         const saddle_given *given, saddle_preparation *p)
{
    const double start = sd_seconds();
    sd_preparing t = {.c = c, .A = A, .symmetric = symmetric, .options = options, .given = given, .p = p};
    saddle_status status = run_steps(&t, STEPS);
    free_structure(&t);
    if (!status) status = sd_progress(c, "prepare", STEPS, SD_PREPARE_STEPS, NAN);
    if (!status) status = measure(&t);
    status = end_steps(c, status);
    if (status)
        sd_preparation_free(c, p);
    else
        p->time_total = sd_seconds() - start;
    return status;
}

saddle_status sd_prepare_order(sd_context *c, const sd_csr *A, const saddle_options *options,
                               const saddle_given *given, saddle_preparation *p, sd_graph *graph,
                               sd_elimination *tree)
{
    const double start = sd_seconds();
    saddle_options o = *options;
    o.blocking = SADDLE_BLOCKING_NONE;
    sd_preparing t = {.c = c,
                      .A = A,
                      .symmetric = true,
                      .options = &o,
                      .given = given,
                      .p = p,
                      .columns = o.simplicial != SADDLE_OFF};
    const saddle_status status = end_steps(c, run_steps(&t, STEPS));
    if (status) {
        free_structure(&t);
        sd_preparation_free(c, p);
    }
    *graph = t.graph;
    *tree = t.tree;
    p->time_total = sd_seconds() - start;
    return status;
}

saddle_status sd_prepare_scaling(sd_context *c, const sd_csr *A, const saddle_options *options,
                                 saddle_preparation *p)
{
    saddle_options o = *options;
    o.blocking = SADDLE_BLOCKING_NONE;
    o.order = SADDLE_ORDER_NATURAL;
    o.pairs = SADDLE_OFF;
    sd_preparing t = {.c = c, .A = A, .symmetric = true, .options = &o, .p = p};
    const saddle_status status = end_steps(c, run_steps(&t, 1));
    if (status) sd_preparation_free(c, p);
    return status;
}

/* Blocks without their measures, except for the largest. */
static saddle_status run_blocks(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                                const saddle_given *given, saddle_preparation *p)
{
    const double start = sd_seconds();
    saddle_options o = *options;
    if (o.blocking == SADDLE_BLOCKING_AUTO) o.blocking = SADDLE_BLOCKING_CLUSTERS;
    sd_preparing t = {.c = c, .A = A, .symmetric = symmetric, .options = &o, .given = given, .p = p};
    const saddle_status status = end_steps(c, run_steps(&t, STEPS));
    free_structure(&t);
    if (status) {
        sd_preparation_free(c, p);
        return status;
    }
    p->largest_block = 0;
    for (int64_t k = 0; k < p->blocks; ++k) {
        const int32_t size = p->block_start[k + 1] - p->block_start[k];
        if (size > p->largest_block) p->largest_block = size;
    }
    p->time_total = sd_seconds() - start;
    return SADDLE_OK;
}

saddle_status sd_prepare_blocks(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                                const saddle_given *given, saddle_preparation *p)
{
    saddle_options o = *options;
    if (o.order == SADDLE_ORDER_AUTO) o.order = SADDLE_ORDER_NATURAL;
    const saddle_status status = run_blocks(c, A, symmetric, &o, given, p);
    if (!status) free_values(c, p);
    return status;
}

saddle_status sd_prepare_factor(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                                const saddle_given *given, saddle_preparation *p)
{
    return run_blocks(c, A, symmetric, options, given, p);
}

/* A whole matrix with values (1 for each entry of a pattern) from the caller's view, and whether it is
 * symmetric. */
static saddle_status take_matrix(sd_context *c, const saddle_matrix *given, sd_csr *whole, bool *symmetric)
{
    saddle_matrix A;
    saddle_status status = sd_view_take(c, given, &A);
    if (!status) status = sd_view_check(c, &A, NULL);
    if (!status && A.values) status = sd_view_check_values(c, &A, NULL);
    if (!status) status = sd_csr_from_view(c, &A, true, whole, NULL);
    if (status) return status;
    if (whole->half) {
        sd_csr half = *whole;
        *whole = (sd_csr){0};
        status = sd_csr_expand(c, &half, whole);
        sd_csr_free(c, &half);
        *symmetric = true;
    } else if (A.shape == SADDLE_FULL) {
        status = sd_require_symmetric(c, whole);
        *symmetric = true;
    } else {
        bool pattern;
        status = sd_csr_symmetry(c, whole, &pattern, symmetric, NULL, NULL);
    }
    if (status || whole->val) return status;
    whole->val = sd_alloc(c, whole->nnz, sizeof *whole->val, "values of a pattern");
    if (!whole->val) return c->status;
    for (int64_t k = 0; k < whole->nnz; ++k) whole->val[k] = 1.0;
    return SADDLE_OK;
}

saddle_status saddle_prepare_sized(const saddle_matrix *A, const saddle_options *options,
                                   const saddle_given *given, const saddle_hooks *hooks,
                                   saddle_preparation *preparation, size_t size, char *message)
{
    sd_context c;
    sd_csr whole = {0};
    bool symmetric = false;
    saddle_options taken;
    saddle_preparation p = {.size = size};
    saddle_status status = sd_context_open(&c, hooks);
    if (!preparation || size < offsetof(saddle_preparation, structural_rank))
        return sd_tell(
            &c, sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_prepare: preparation is NULL, or size is too small"),
            message);
    forget(&p);
    if (!status) status = sd_options_take(&c, options, &taken);
    if (!status) {
        c.limit = taken.max_memory;
        c.threads = sd_team_of_call(&c, sd_thread_count(taken.threads));
        status = take_matrix(&c, A, &whole, &symmetric);
    }
    if (!status) status = sd_prepare(&c, &whole, symmetric, &taken, given, &p);
    sd_csr_free(&c, &whole);
    if (!status) p.peak_bytes = c.peak;
    sd_give(&p, sizeof p, preparation, size);
    return sd_tell(&c, status, message);
}

void saddle_preparation_free(saddle_preparation *preparation, const saddle_hooks *hooks)
{
    sd_context c;
    saddle_preparation p = {0};
    if (!preparation || preparation->size < offsetof(saddle_preparation, structural_rank)) return;
    if (sd_context_open(&c, hooks)) return;
    forget(&p);
    sd_give(preparation, preparation->size, &p, sizeof p);
    sd_preparation_free(&c, &p);
    sd_give(&p, sizeof p, preparation, preparation->size);
}
