/* Errors measured in a device's memory: see measure_there.h. */
#include "solve/measure_there.h"

static sd_vector vector_at(int64_t n, const double *data)
{
    return (sd_vector){.data = (void *)(uintptr_t)data, .n = n, .precision = SD_DOUBLE};
}

void sd_begin_measuring_there(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                              double *r, double *w, sd_resident_norms *found)
{
    const int64_t n = op->sparse.n;
    const sd_vector from = vector_at(n, x), right = vector_at(n, b);
    sd_vector residual = vector_at(n, r), weight = vector_at(n, w);
    sd_residual_dd(e, &op->sparse, &from, &right, &residual);
    sd_spmv_abs(e, &op->sparse, &from, &weight);
    e->backend->resident->norms(e, n, r, w, b, x, found);
}

bool sd_found_there(const sd_resident_norms *found, double norm_inf, saddle_errors *errors,
                    double *share_of_b)
{
    for (int k = 0; k < SD_MAXIMA; ++k)
        if (!(found->maxima[k] < SD_RESIDUAL_SAFE)) return false;
    if (!(found->maxima[SD_MAX_B] > 0)) return false;
    const sd_residual_norms norms = {.largest_r = found->maxima[SD_MAX_R],
                                     .largest_b = found->maxima[SD_MAX_B],
                                     .largest_x = found->maxima[SD_MAX_X],
                                     .square_r = found->square_r,
                                     .square_b = found->square_b,
                                     .ratio = found->maxima[SD_MAX_RATIO]};
    sd_errors_of(&norms, norm_inf, errors);
    if (share_of_b) *share_of_b = found->maxima[SD_MAX_SHARE];
    return true;
}

saddle_status sd_measure_there(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                               double *residual, saddle_errors *errors, double *share_of_b, bool *done)
{
    const int64_t n = op->sparse.n, bytes = n * (int64_t)sizeof *b;
    *done = false;
    if (!e->backend->resident || op->exponent != 0 || !sd_operator_is_near(op)) return SADDLE_OK;
    if (sd_engine_reserve(e, n, &op->sparse)) return e->status;
    sd_resident_norms found;
    double *const room = sd_allocate(e, 4 * bytes, "vectors of the residual");
    if (!room) return e->status;
    double *const at_b = room, *const at_x = at_b + n, *const at_r = at_x + n, *const at_w = at_r + n;
    e->backend->upload(e, b, at_b, bytes);
    e->backend->upload(e, x, at_x, bytes);
    sd_begin_measuring_there(e, op, at_b, at_x, at_r, at_w, &found);
    sd_wait(e);
    *done = !e->status && sd_found_there(&found, op->norm_inf, errors, share_of_b);
    if (*done && residual) e->backend->download(e, at_r, residual, bytes);
    sd_release(e, room);
    return e->status;
}
