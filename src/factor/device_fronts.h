/*
 * Fronts that a device factors and solves with: the other end of backend/front_run.h.
 *
 * The factors stay in the device's memory. What the host looks at now and then, D and the variables, is
 * fetched when it is first asked for; a factorization with zero or very small pivots fetches it at once,
 * since these are examined on the host, and the next one expects as much and brings it with its result. So
 * does the first of a small matrix.
 */
#pragma once

#include "backend/backend.h"
#include "backend/front_run.h"
#include "factor/multifrontal.h"

/* Makes factors that are run by the device of e, which must outlive them, in so many bytes of its memory (0:
 * what is free). The schedule is the caller's. */
saddle_status sd_device_fronts_make(sd_engine *e, const sd_schedule *schedule, int64_t limit, sd_factors *f);
void sd_device_fronts_free(sd_context *c, sd_factors *f);
saddle_status sd_device_fronts_run(sd_context *c, sd_factors *f, const sd_factor_options *options);

/* The same of values that are on the device already, and something to do on the host in the meantime. */
typedef struct sd_there {
    sd_run_values values;
    void (*meanwhile)(void *what);
    void *what;
} sd_there;
saddle_status sd_device_fronts_run_there(sd_context *c, sd_factors *f, const sd_factor_options *options,
                                         const sd_there *there, sd_run_taken *taken);

/* X = parts of (L D L')^-1 X, as sd_triangular_solve. */
saddle_status sd_device_fronts_solve(sd_context *c, const sd_factors *f, int parts, int64_t nrhs, double *x,
                                     int64_t ldx);
/* Z = (L D L')^-1 R in a frame, as sd_triangular_between; R and Z are on the host. */
saddle_status sd_device_fronts_between(sd_context *c, const sd_factors *f, const sd_solve_frame *frame,
                                       int64_t nrhs, const double *r, int64_t ldr, double *z, int64_t ldz);
/* The same of columns in the device's memory, by an engine of the same device, which does not wait. */
saddle_status sd_device_fronts_apply(sd_engine *e, const sd_factors *f, const sd_solve_frame *frame,
                                     int64_t nrhs, const double *r, int64_t ldr, double *z, int64_t ldz);
/* The eliminated columns of a front on the host, *ld numbers apart, and the variables of all its columns, by
 * an engine of the same device. */
saddle_status sd_device_fronts_columns(sd_engine *e, const sd_factors *f, int32_t front, void *to,
                                       int64_t *ld, int32_t *variable);
saddle_status sd_device_fronts_open(sd_context *c, const sd_factors *f, sd_engine *e);
/* max |l|. */
double sd_device_fronts_largest(const sd_factors *f);
int64_t sd_device_fronts_bytes(const sd_factors *f);
/* Bytes on the device, and of the host's memory for what there is no room for. */
int64_t sd_device_fronts_device_bytes(const sd_factors *f);
int64_t sd_device_fronts_offloaded_bytes(const sd_factors *f);
/* Times that the host waited for the device in the last factorization. */
int64_t sd_device_fronts_waits(const sd_factors *f);
/* What was measured of it; NULL: nothing was. */
const sd_run_profile *sd_device_fronts_profile(const sd_factors *f);

/* Changes of D and L, as sd_put_d and sd_make_zero make them; a failure shows in the next solve. */
void sd_device_fronts_put(const sd_factors *f, int32_t front, int64_t k, double d, double beside);
void sd_device_fronts_clear(const sd_factors *f, int32_t front, int32_t k, const double *v);
