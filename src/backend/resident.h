/*
 * A matrix and vectors that stay in the device's memory: new values are taken there, and what a refinement
 * needs to know is measured there. Only a backend whose memory the host cannot reach has these.
 *
 * All arrays are the device's. Work is done in the order of an engine's calls, and nobody waits for it unless
 * that is said; results on the host are there after sd_wait.
 */
#pragma once

#include "backend/backend.h"
#include "backend/residual.h"

/* Of a residual r = b - Ax with w = |A||x| + |b|: max |r|, |b|, |x|, |r| / w, |b| / w, and 1 / the least |b|
 * and |x| that are not 0, NaN where a number is; r'r and b'b. */
enum { SD_MAX_R, SD_MAX_B, SD_MAX_X, SD_MAX_RATIO, SD_MAX_SHARE, SD_FAR_B, SD_FAR_X, SD_MAXIMA };
typedef struct sd_resident_norms {
    double maxima[SD_MAXIMA];
    double square_r, square_b;
} sd_resident_norms;

typedef struct sd_resident {
    /* The engines of a device, this one among them, use a stream of the caller's; NULL: their own. */
    saddle_status (*use_stream)(sd_engine *e, void *stream);
    /* What e does next comes after what was asked of `other` until now. */
    void (*follow)(sd_engine *e, const sd_engine *other);
    /* From anywhere to anywhere; waits where one side is the host's. */
    void (*copy)(sd_engine *e, const void *from, void *to, int64_t bytes);

    /* to[map[k]] = from[k], of doubles or floats; to[k] where map is NULL. */
    void (*take)(sd_engine *e, int64_t count, const void *from, bool single, const int32_t *map, double *to);
    /* to[k] = from[source[k]] */
    void (*spread)(sd_engine *e, int64_t count, const int32_t *source, const double *from, double *to);

    /* max |x| over k columns, NaN where there is one. */
    void (*size)(sd_engine *e, int64_t n, int64_t k, const double *x, int64_t ldx, double *size);
    /* weight is |A||x|. */
    void (*norms)(sd_engine *e, int64_t n, const double *r, const double *weight, const double *b,
                  const double *x, sd_resident_norms *norms);
} sd_resident;
