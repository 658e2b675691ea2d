/*
 * Many systems of one pattern on a device, factored and solved all at once. Only a backend whose memory the
 * host cannot reach has this; what the CPU does is in cpu/abreast.h.
 *
 * Numbers of SD_SYSTEM_GROUP systems lie side by side, and one block of threads runs such a group: a thread
 * has one system, and shares it with the other threads of the same place in the group, who work on other
 * numbers of the same round (plan/rounds.h). Each system is checked on its own: one that departs from the
 * ordinary course, as cpu/abreast.h and method/direct/abreast.c know it, is left as it was, and the host does
 * it alone.
 *
 * Pivots, scaling and residuals are computed as the CPU's kernels do it, with fused multiply-adds; what is
 * subtracted from a number of the factorization or of a solve, and what is summed over a vector, comes in
 * another order.
 */
#pragma once

#include "backend/front.h"
#include "plan/rounds.h"

typedef struct sd_engine sd_engine;
typedef struct sd_systems_run sd_systems_run;

enum { SD_SYSTEM_GROUP = 8 };

/* What all systems have in common. */
typedef struct sd_systems_plan {
    const sd_rounds *rounds;
    const double *scale;  /* by row of A */
    const double *random; /* the witness of the inertia, n, likewise (certificate.c) */
    int largest_exponent; /* of A where the scaled matrix has entries of about 1 */
    /* entry e of A is the sum of the caller's source[source_ptr[e] .. source_ptr[e+1]); NULL: his entry e */
    const int32_t *source_ptr, *source;
} sd_systems_plan;

/* How they are factored. */
typedef struct sd_systems_rule {
    sd_pivoting pivoting; /* its signs by k, on the host */
    double suspect;       /* where a pivot is not larger, the host has a look */
    double stale, grown;  /* sizes of matched entries that the scaling was made for; beyond them a */
    double misscaled;     /* largest entry is at most this times the least matched one */
} sd_systems_rule;

/* How they are solved: as solve/abreast.h does it. */
typedef struct sd_systems_goal {
    bool measured;    /* errors are; otherwise x is as the factors give it */
    bool corrections; /* refined, or corrected once */
    bool certified;   /* the inertia is to be certified on the way */
    double left;      /* of a witness that does so, at most */
    double residual;  /* and errors that leave nothing to be done, at most */
    double backward, componentwise;
} sd_systems_goal;

enum {
    SD_SYSTEM_FACTORED = 1,  /* by the sequence */
    SD_SYSTEM_CERTIFIED = 2, /* the inertia is */
    SD_SYSTEM_SOLVED = 4     /* and x is where the caller wants it; otherwise his x is as it was */
};

typedef struct sd_system_outcome {
    double backward, componentwise, residual; /* errors of x */
    int32_t state;
    int32_t negative, zero, perturbed; /* pivots */
    int32_t steps;                     /* solves */
    int32_t padding;
} sd_system_outcome;

typedef struct sd_systems_runner {
    /* The plan goes to the device. To be freed whether this fails or not. */
    saddle_status (*make)(sd_engine *e, const sd_systems_plan *plan, sd_systems_run **run);
    void (*free)(sd_engine *e, sd_systems_run *run);
    /* Bytes that each system takes while it is factored and solved. */
    int64_t (*bytes)(const sd_rounds *rounds);
    /* Memory for the factors of so many systems. */
    saddle_status (*reserve)(sd_engine *e, sd_systems_run *run, int64_t systems);

    /* values, doubles or floats with so many between two systems, are on the device. */
    saddle_status (*factor)(sd_engine *e, sd_systems_run *run, int64_t count, const void *values,
                            int64_t stride, bool single, const sd_systems_rule *rule);
    /* b and x are on the device, too; x may be b. Several threads may do this at once, each with an engine of
     * its own. The outcomes, of factorization and solve, are on the host. */
    saddle_status (*solve)(sd_engine *e, const sd_systems_run *run, int64_t count, const double *b,
                           int64_t ldb, double *x, int64_t ldx, const sd_systems_goal *goal,
                           sd_system_outcome *outcome);
    /* Those of the factorization alone. */
    saddle_status (*fetch)(sd_engine *e, const sd_systems_run *run, int64_t count,
                           sd_system_outcome *outcome);
    /* The entries of A of one system, to the host. */
    saddle_status (*values)(sd_engine *e, const sd_systems_run *run, int64_t system, double *values);
} sd_systems_runner;
