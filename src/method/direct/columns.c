/*
 * Columns or fronts: how a factorization is run where the plan says that L is very sparse.
 *
 * Columns one by one take a sequence of pivots that is known in advance (factor/simplicial.h). The order of
 * the plan, with 1x1 pivots, is tried first. If it is refused, the sequence is looked for: by fronts with
 * threshold pivoting, on a tree without amalgamation, so that L gets no more entries than pivoting needs. It
 * is kept for the values that follow, as long as its numbers keep the bound on |l|.
 *
 * A search costs about twice as much as a factorization by the fronts of the plan. Where values move so far
 * that a sequence is refused, it is therefore not replaced at once: the fronts of the plan do it, for some
 * factorizations, then another search is made; and if that sequence does not last either, for twice as many.
 * A plan that was given up so often is made anew, for fronts (drift.c).
 */
#include "method/direct/direct.h"

#include <math.h>

/* A sequence is looked for with a stricter threshold than it has to keep, so that it suits other values. */
static const double STRICTER = 3, STRICTEST = 0.1;
enum { PAUSE = 8 }; /* factorizations by fronts after the first sequence that was refused */

saddle_status sd_direct_check_leaves(sd_context *c, const sd_csr *M, const int32_t *position,
                                     const double *scale, double u, bool *allowed)
{
    const int32_t n = M->n;
    double *diagonal = sd_alloc_zero(c, n, sizeof *diagonal, "sequence of pivots");
    double *most = sd_alloc_zero(c, n, sizeof *most, "sequence of pivots");
    bool *touched = sd_alloc_zero(c, n, sizeof *touched, "sequence of pivots"); /* by columns before */
    const saddle_status status = diagonal && most && touched ? SADDLE_OK : c->status;
    *allowed = true;
    for (int32_t i = 0; i < n && !status; ++i) {
        for (int64_t k = M->ptr[i]; k < M->ptr[i + 1]; ++k) {
            const int32_t p = position[i], q = position[M->ind[k]];
            const double size = fabs(scale[i] * M->val[k] * scale[M->ind[k]]);
            if (p == q)
                diagonal[p] = size;
            else if (size > 0)
                touched[p > q ? p : q] = true;
            if (p != q && size > most[p < q ? p : q]) most[p < q ? p : q] = size;
        }
    }
    for (int32_t k = 0; k < n && !status; ++k)
        *allowed = *allowed && (touched[k] || (diagonal[k] > 0 && u * most[k] <= diagonal[k]));
    sd_free_all(c, touched, most, diagonal);
    return status;
}

/* The graph of M, whose values do not matter. */
static saddle_status make_graph(sd_context *c, const sd_csr *M, sd_graph *g)
{
    sd_csr whole = {0};
    if (!M->half) return sd_graph_from_csr(c, M, true, NULL, g);
    saddle_status status = sd_csr_expand(c, M, &whole);
    if (!status) status = sd_graph_from_csr(c, &whole, true, NULL, g);
    sd_csr_free(c, &whole);
    return status;
}

/* A sequence for the values of M; none where there are zero pivots, or where it would take too long. */
static saddle_status search(sd_context *c, const sd_csr *M, const sd_factor_options *options, sd_factors *f,
                            sd_direct *d)
{
    sd_graph g = {0};
    sd_tree fine = {0};
    sd_factors other = {0};
    sd_factor_options strict = *options;
    const double u = options->pivoting.u;
    strict.pivoting.u = fmax(u, fmin(STRICTER * u, STRICTEST));
    saddle_status status = make_graph(c, M, &g);
    if (!status) status = sd_tree_make(c, M, &g, d->plan->p.permutation, NULL, false, &fine);
    if (!status) status = sd_factors_make(c, &fine, f->kernels - f->precision, SD_DOUBLE, f->delays, &other);
    if (!status) {
        sd_factors_take(&other, M, d->scale, d->exponent, options->threads);
        status = sd_factors_run(c, &other, &strict);
    }
    if (!status && !other.abandoned && other.pivots.zero == 0) {
        status = sd_factors_set_sequence(c, f, &other);
        d->columns.delayed = other.delayed;
        ++d->columns.searches;
    }
    sd_factors_free(c, &other);
    sd_tree_free(c, &fine);
    sd_graph_free(c, &g);
    return status;
}

/* The sequence was refused: when is the next one looked for? */
static void give_up(sd_columns_state *s)
{
    s->pause = s->pause == 0 ? PAUSE : 2 * s->pause;
    if (s->lasted > s->pause) s->pause = PAUSE;
    s->wait = s->pause;
    s->lasted = 0;
}

/* With pivoting: by the sequence that there is, or by another one that is looked for; *refused where fronts
 * have to do it. */
static saddle_status run_threshold(sd_context *c, const sd_csr *M, const sd_factor_options *options,
                                   sd_factors *f, sd_direct *d, bool *refused)
{
    sd_columns_state *const s = &d->columns;
    *refused = true;
    if (s->wait > 0) {
        --s->wait;
        return SADDLE_OK;
    }
    saddle_status status = SADDLE_OK;
    const bool again = f->found != NULL && s->pause > 0 && s->lasted == 0; /* a pause has ended */
    bool allowed = true;
    if (!options->ready && !f->found && !f->plain)
        status =
            sd_direct_check_leaves(c, M, d->plan->tree.position, d->scale, options->pivoting.u, &allowed);
    if (!status && !again && allowed)
        status = sd_factors_run_columns(c, f, &options->pivoting, options->ready, refused);
    if (status || !*refused) {
        s->lasted += !status;
        return status;
    }
    if ((f->found && !again) || s->given || s->once) {
        give_up(s);
        return SADDLE_OK;
    }
    status = search(c, M, options, f, d);
    if (!status && f->found) status = sd_factors_run_columns(c, f, &options->pivoting, NULL, refused);
    if (status) return status;
    if (*refused)
        give_up(s);
    else
        f->delayed = s->delayed;
    s->lasted += !*refused;
    return SADDLE_OK;
}

saddle_status sd_direct_run_columns(sd_context *c, const sd_csr *M, const sd_factor_options *options,
                                    sd_factors *f, sd_direct *d, bool *refused)
{
    if (options->pivoting.rule == SD_PIVOT_THRESHOLD) return run_threshold(c, M, options, f, d, refused);
    const saddle_status status = sd_factors_run_columns(c, f, &options->pivoting, options->ready, refused);
    /* a pivot that is not positive is an answer */
    if (!status && options->pivoting.rule == SD_PIVOT_POSITIVE) *refused = false;
    return status;
}
