/*
 * The solver behind the four verbs.
 *
 * It holds the matrix, and a list of methods at work, each with a plan and factors that only it knows. The
 * ladder says which of them are tried; only the first rung is factored by saddle_factor. A solve that has to
 * go further makes factors of its own, and writes nothing here.
 */
#pragma once

#include "core/info.h"
#include "solver/policy.h"

#include <stdatomic.h>

/* A method at work. */
typedef struct sd_work {
    const sd_method *method; /* NULL: this place is free */
    void *plan;              /* kept while the pattern stays */
    void *factors;           /* of the solver's values where `ready`; otherwise memory to be used again */
    bool planned, ready;
    sd_past past;
} sd_work;

/* What solves find out for the next factorization. It is a place of its own, next to the solver, which they
 * only read; the largest wins, so it does not matter which of several solves ends last. */
typedef struct sd_experience {
    atomic_int rung; /* that was enough, counted over the whole ladder */
} sd_experience;

struct saddle_solver {
    sd_context c;
    saddle_options options;
    sd_policy policy;
    int device, threads;
    sd_device opened; /* for the solver's life; every solve has an engine on it */
    sd_engine e;      /* the solver's own; operators and factors lie in its memory */

    /* after analyse */
    bool analysed;
    uint64_t fingerprint;
    int64_t entries; /* of the caller's arrays */
    saddle_shape shape;
    sd_csr A;    /* the caller's matrix; val is NULL before factor */
    sd_map *map; /* from the caller's entries */
    void *room;  /* to look at values in, where that is not much; NULL */
    sd_work work[SD_RUNGS_MOST];
    bool guessed;
    double guess; /* what the direct solver may cost, without a plan of it; NaN: not known */

    /* after factor */
    bool factored;
    saddle_facts facts;
    sd_operator op[SD_PRECISIONS]; /* double always, single if requested */
    sd_ladder ladder;
    sd_experience *experience;

    /* what the caller gave in addition to the matrix */
    saddle_given given;
    int8_t *signs;
    int64_t given_n, signs_n;
    bool given_anew; /* after the plans were made */

    saddle_info info;
};

/* What methods see of it. */
sd_problem sd_problem_of(const saddle_solver *solver);

/* The method's place in the list; NULL where it is not at work. */
const sd_work *sd_find_work(const saddle_solver *solver, const sd_method *method);

/* The context of a call that only reads the solver (which may be NULL): its hooks, and what its limit leaves.
 */
void sd_solver_context(const saddle_solver *solver, sd_context *c);

/* Other constants for `auto`, for all calls from now on. */
void sd_set_policy(saddle_solver *solver, const sd_policy *policy);
