/*
 * Incomplete factors on a pattern that is given, made in the memory of a device (backend/incomplete_run.h):
 * values of the matrix there become factors, and numbers of triangles, without the host. What is tried again
 * with a shift, and when sweeps end, is decided as on the host (incomplete.c, fixed_point_sweep.c).
 */
#pragma once

#include "backend/incomplete_run.h"
#include "factor/triangles.h"
#include "prepare/prepared.h"

typedef struct sd_incomplete_there {
    sd_pattern_factors f;             /* n is 0 where there is none */
    const int32_t *number[2], *order; /* of the triangles' numbers and rows; on the device */
    bool numbered;                    /* these are there */
    int32_t *turned;                  /* of L U, on the host: the entry of U' that each entry of U is */
    int64_t bytes;                    /* of the device */
    double flops, flops_of_sweep;
} sd_incomplete_there;

/* Whether the backend makes them: it has memory of its own, and numbers of entries fit in 32 bits. */
bool sd_incomplete_is_there(const sd_engine *e, const sd_incomplete *m, const sd_csr *B);

/* For B of a preparation and the pattern of m, whose numbers are not needed. `swept`: with room for sweeps.
 * *t may be freed whether that failed or not. */
saddle_status sd_incomplete_there_make(sd_engine *e, const sd_prepared *B, const saddle_preparation *p,
                                       const sd_incomplete *m, bool swept, sd_incomplete_there *t);

/* Factors of the values of A, which are on the device and 2^exponent times too small; m gets what is to be
 * told of them, *B the exponent and the sign of the prepared matrix; its numbers are not needed. */
saddle_status sd_incomplete_there_factor(sd_engine *e, const sd_incomplete_rule *rule, const double *values,
                                         int exponent, sd_incomplete *m, sd_incomplete_there *t,
                                         sd_prepared *B);

/* The numbers of triangles that were made of m. */
saddle_status sd_incomplete_there_fill(sd_engine *e, const sd_incomplete *m, sd_incomplete_there *t,
                                       const sd_triangles *x);

/* The numbers themselves, on the host and by rows: of L, of U (NULL where there is none), and the diagonal.
 */
saddle_status sd_incomplete_there_fetch(sd_engine *e, const sd_incomplete_there *t, double *lower,
                                        double *upper, double *diagonal);
void sd_incomplete_there_free(sd_engine *e, sd_incomplete_there *t);
