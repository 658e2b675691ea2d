/*
 * Block LDL' as a positive definite preconditioner: M = (C G + I) |S| (C G + I)' (backend/ldlt.h), |S_j| by
 * the eigenvalues of each diagonal block.
 *
 * Of |S_j|^-1 = J_j G_j with J_j = sign(G_j) only J_j is new: a solve multiplies with it between the two
 * triangles, and everything else of it stays as it is. Blocks are small, so that the host makes it, whichever
 * device they are on.
 */
#include "factor/block_inverses.h"
#include "factor/ldlt_preconditioner.h"

void sd_ldlt_unplace_signs(sd_engine *e, sd_block_ldlt *m)
{
    sd_batch_factors_free(e, &m->signs);
    sd_batch_unplace(e, &m->signs_plan);
    m->factors.signs = NULL;
}

saddle_status sd_ldlt_place_signs(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const sd_ldlt_plan *plan = &m->plan;
    const sd_precision precision = m->factors.precision;
    const size_t number = sd_precision_size(precision);
    const int64_t entries = plan->square[plan->blocks];
    sd_ldlt_unplace_signs(e, m);
    void *numbers = sd_alloc(c, entries, number, "signs of blocks");
    if (!numbers && !e->status) e->status = c->status;
    if (!e->status) e->backend->download(e, m->factors.inverse, numbers, entries * (int64_t)number);
    if (!e->status)
        sd_sign_blocks(plan->blocks, plan->start, plan->square, precision, e->threads, false, numbers);
    sd_batch_place(e, plan->blocks, plan->start, NULL, NULL, NULL, &m->signs_plan);
    if (!e->status) m->signs = sd_batch_factors_new(e, &m->signs_plan, precision);
    if (!e->status) sd_batch_set_inverses(e, numbers, &m->signs);
    if (!e->status) m->factors.signs = &m->signs;
    sd_free(c, numbers);
    return e->status;
}
