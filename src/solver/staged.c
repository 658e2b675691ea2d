/* Columns of a device's memory on the host: see staged.h. */
#include "solver/staged.h"

#include "solver/home.h"

saddle_status sd_stage_columns(const saddle_solver *s, sd_engine *e, int64_t nrhs, const double *b,
                               int64_t ldb, double *x, int64_t ldx, sd_staged *to)
{
    const int64_t n = s->A.n;
    *to = (sd_staged){NULL, b, x, ldb, ldx};
    const bool b_there = sd_is_there(s, b), x_there = sd_is_there(s, x);
    if (!b_there && !x_there) return SADDLE_OK;
    to->memory = sd_alloc(e->context, 2 * n * nrhs, sizeof *to->memory, "right-hand sides");
    if (!to->memory) return e->context->status;
    for (int64_t k = 0; k < nrhs && b_there; ++k)
        e->backend->download(e, b + k * ldb, to->memory + k * n, n * (int64_t)sizeof *b);
    if (b_there) to->b = to->memory, to->ldb = n;
    if (x_there) to->x = to->memory + n * nrhs, to->ldx = n;
    return e->status;
}

void sd_unstage_columns(const saddle_solver *s, sd_engine *e, int64_t nrhs, double *x, int64_t ldx,
                        sd_staged *from)
{
    const int64_t n = s->A.n;
    const saddle_status status = e->status;
    e->status = SADDLE_OK; /* x is given out although something has failed */
    for (int64_t k = 0; k < nrhs && from->x != x; ++k)
        e->backend->upload(e, from->x + k * n, x + k * ldx, n * (int64_t)sizeof *x);
    if (status) e->status = status;
    sd_free(e->context, from->memory);
}
