/*
 * The preparation's first half, which looks at values: the matching, the scaling, and from both the
 * pairs of a symmetric matrix or the row permutation of a general one.
 *
 * The matching comes first where the scaling is its own. Otherwise it is made only where pairs may be
 * kept and a small diagonal of the scaled matrix says that they could matter: the matching of largest
 * product is the same for every scaling.
 */
#include "prepare/scaling.h"
#include "prepare/stages.h"

#include <math.h>
#include <string.h>

/* Shares of rows that need their pair (pairs.h): below the first the pairs are left, above the second they
 * are kept, and in between it depends on the work that either order would make. */
static const double FEW_NEEDY = 0.05, MANY_NEEDY = 0.2;

/* A matching is made where the diagonal of a row is smaller than this relative to its largest entry. */
static const double SMALL_DIAGONAL = 0.1;

static bool by_matching(int scaling)
{
    return scaling == SADDLE_SCALING_MC64 || scaling == SADDLE_SCALING_AUCTION;
}

static bool pairs_wanted(const sd_preparing *t)
{
    return t->options->pairs == SADDLE_ON ||
           (t->options->pairs == SADDLE_AUTO && t->p->blocking == SADDLE_BLOCKING_PAIRS);
}

/* Whether pairs may be kept, before the values are looked at. */
static bool pairs_possible(const sd_preparing *t)
{
    if (t->options->pairs != SADDLE_AUTO) return t->options->pairs == SADDLE_ON;
    if (!t->symmetric) return by_matching(t->p->scaling);
    if (t->p->blocking != SADDLE_BLOCKING_NONE && t->p->block_size == 1) return false;
    return t->p->blocking == SADDLE_BLOCKING_PAIRS || !sd_order_is_given(t->options);
}

static bool has_small_diagonal(const sd_preparing *t)
{
    for (int32_t i = 0; i < t->A->n; ++i) {
        double diagonal = 0.0, largest = 0.0;
        for (int64_t k = t->A->ptr[i]; k < t->A->ptr[i + 1]; ++k) {
            const int32_t j = t->A->ind[k];
            const double size = fabs(t->p->row_scale[i] * t->A->val[k] * t->p->col_scale[j]);
            if (j == i) diagonal = size;
            if (size > largest) largest = size;
        }
        if (diagonal < SMALL_DIAGONAL * largest) return true;
    }
    return false;
}

static saddle_status match(sd_preparing *t, sd_matching *m)
{
    const saddle_status status = t->p->scaling == SADDLE_SCALING_AUCTION
                                     ? sd_match_auction(t->c, t->A, t->symmetric, m)
                                     : sd_match_product(t->c, t->A, t->symmetric, m);
    sd_stage_tick(t, &t->p->time_matching);
    return status;
}

static saddle_status copy_given_scaling(sd_preparing *t)
{
    const saddle_given *g = t->given;
    const int32_t n = t->A->n;
    if (!g || !g->row_scale)
        return sd_fail(t->c, SADDLE_BAD_ARGUMENT, "scaling is \"user\" but no row_scale is given");
    if (t->symmetric && g->col_scale && g->col_scale != g->row_scale)
        return sd_fail(
            t->c, SADDLE_BAD_ARGUMENT,
            "the matrix is symmetric and has a single scaling for rows and columns: leave col_scale NULL");
    saddle_status status = sd_scale_check(t->c, g->row_scale, n, "the scaling");
    if (!status && g->col_scale) status = sd_scale_check(t->c, g->col_scale, n, "the scaling of the columns");
    if (status) return status;
    memcpy(t->p->row_scale, g->row_scale, (size_t)n * sizeof(double));
    if (!t->symmetric)
        memcpy(t->p->col_scale, g->col_scale ? g->col_scale : g->row_scale, (size_t)n * sizeof(double));
    return SADDLE_OK;
}

/* The scaling, taken from m where it is the matching's. */
static saddle_status scale(sd_preparing *t, sd_matching *m)
{
    saddle_preparation *p = t->p;
    const int32_t n = t->A->n;
    if (by_matching(p->scaling)) {
        p->row_scale = m->row_scale;
        p->col_scale = t->symmetric ? m->row_scale : m->col_scale;
        if (t->symmetric) sd_free(t->c, m->col_scale);
        m->row_scale = m->col_scale = NULL;
        return SADDLE_OK;
    }
    p->row_scale = sd_alloc(t->c, n, sizeof(double), "row scaling");
    p->col_scale = t->symmetric ? p->row_scale : sd_alloc(t->c, n, sizeof(double), "column scaling");
    if (!p->row_scale || !p->col_scale) return t->c->status;
    saddle_status status = SADDLE_OK;
    if (p->scaling == SADDLE_SCALING_RUIZ)
        status = sd_scale_ruiz(t->c, t->A, t->symmetric, p->row_scale, p->col_scale);
    else if (p->scaling == SADDLE_SCALING_COL2)
        status = sd_scale_col2(t->c, t->A, t->symmetric, p->row_scale, p->col_scale);
    else if (p->scaling == SADDLE_SCALING_USER)
        status = copy_given_scaling(t);
    else
        for (int32_t i = 0; i < n; ++i) p->row_scale[i] = p->col_scale[i] = 1.0;
    sd_stage_tick(t, &p->time_scaling);
    return status;
}

static saddle_status match_and_scale(sd_preparing *t, sd_matching *m)
{
    saddle_preparation *p = t->p;
    saddle_status status = SADDLE_OK;
    if (by_matching(p->scaling)) status = match(t, m);
    if (!status) status = scale(t, m);
    if (!status && !m->row_of && pairs_possible(t) && (pairs_wanted(t) || has_small_diagonal(t)))
        status = match(t, m);
    if (status || !m->row_of) return status;
    p->structural_rank = m->rank;
    p->matching = m->row_of;
    m->row_of = NULL;
    return SADDLE_OK;
}

/* Matched rows go to their column, the others to the columns that are left, both in ascending order. */
static saddle_status place_rows(sd_preparing *t)
{
    const int32_t n = t->A->n, *matching = t->p->matching;
    int32_t *new_row = t->new_row = sd_alloc(t->c, n, sizeof *new_row, "row permutation");
    if (!new_row) return t->c->status;
    for (int32_t i = 0; i < n; ++i) new_row[i] = -1;
    for (int32_t j = 0; j < n; ++j)
        if (matching[j] >= 0) new_row[matching[j]] = j;
    int32_t row = 0;
    for (int32_t j = 0; j < n; ++j) {
        if (matching[j] >= 0) continue;
        while (new_row[row] >= 0) ++row;
        new_row[row] = j;
    }
    return SADDLE_OK;
}

/* What the values say: keep the pairs, leave them, or find out by ordering both ways. */
static saddle_status weigh_need(sd_preparing *t)
{
    sd_need need;
    if (pairs_wanted(t)) {
        t->keep_pairs = true;
        return SADDLE_OK;
    }
    const saddle_status status = sd_pairs_need(t->c, t->A, t->p->row_scale, &need);
    if (status) return status;
    const double n = (double)t->A->n, share = (double)need.needy / n;
    t->keep_pairs = share >= FEW_NEEDY;
    t->undecided = share < MANY_NEEDY && (double)need.small_diagonals >= FEW_NEEDY * n;
    sd_log(t->c, SADDLE_LOG_INFO, "%lld rows have a small diagonal entry, %lld of them need a pair: %s",
           (long long)need.small_diagonals, (long long)need.needy,
           t->undecided    ? "undecided"
           : t->keep_pairs ? "pairs are kept"
                           : "pairs are not kept");
    return SADDLE_OK;
}

static saddle_status find_pairs(sd_preparing *t)
{
    if (!t->p->matching || !pairs_possible(t) || t->A->n == 0) return SADDLE_OK;
    if (!t->symmetric) return place_rows(t);
    t->partner = sd_alloc(t->c, t->A->n, sizeof *t->partner, "pairs");
    if (!t->partner) return t->c->status;
    const saddle_status status = sd_pairs_split(t->c, t->A, t->p->matching, t->p->row_scale, t->partner);
    return status ? status : weigh_need(t);
}

saddle_status sd_stage_values(sd_preparing *t)
{
    sd_matching m = {0};
    t->p->scaling = t->options->scaling == SADDLE_SCALING_AUTO ? SADDLE_SCALING_MC64 : t->options->scaling;
    saddle_status status = match_and_scale(t, &m);
    sd_matching_free(t->c, &m);
    if (!status) status = find_pairs(t);
    sd_stage_tick(t, &t->p->time_pairs);
    return status;
}
