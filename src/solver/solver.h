/*
 * The solver behind the four verbs.
 *
 * It holds the matrix, and a list of methods at work, each with a plan and factors that only it knows. The
 * ladder says which of them are tried; only the first rung is factored by saddle_factor. A solve that has to
 * go further makes factors of its own, and writes nothing here.
 */
#pragma once

#include "core/info.h"
#include "matrix/inspect.h"
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
    atomic_int rung;             /* that was enough, counted over the whole ladder */
    atomic_bool lost;            /* iterations with the diagonal were not */
    _Atomic int64_t solve_bytes; /* most that a solve has allocated in all */
    /* Memory for a solve to work in, made by a factorization once it is known how much they need: NULL while
     * a solve is using it, and then others allocate theirs. */
    _Atomic(void *) spare;
    int64_t spare_bytes;
} sd_experience;

/* Systems of many.c that share this solver's analysis, each a solver of its own kind. */
typedef struct sd_many {
    struct saddle_solver *leader; /* factored the solver's values: what it found out, all others begin with */
    struct saddle_solver *member;
    int64_t count;
    bool kept; /* each is a system that was factored; otherwise each is one of a thread's */
    /* for each thread, what its systems are factored in abreast; NULL: one at a time */
    sd_abreast **abreast;
    int threads, width; /* how many, and systems abreast in each */

    bool hosted;    /* the solver's device is another, but leader and members are on the host, on */
    sd_device host; /* which has a plan of its own, the leader's */
    struct sd_many_device *device; /* what that device has of them; NULL: nothing */
    int64_t departed;              /* systems of the last call with values that the host had to do for it */
} sd_many;

/* The matrix in a device's memory: home.h. */
typedef struct sd_home {
    double *stored;  /* the values of A; NULL: there is no home */
    int32_t *map;    /* from the caller's entries; NULL: these are A's */
    int32_t *source; /* of the operator's entries, among A's; NULL: the same */
    void *raw;       /* the caller's values, where they come from the host and are not A's; NULL */
} sd_home;

enum { SD_NEST_BYTES = 32768 }; /* of the stack: what a solve of some 200 rows works in */

struct saddle_solver {
    sd_context c;
    saddle_options options;
    sd_policy policy;
    int device, threads;
    bool moved;       /* device auto: a GPU was looked for */
    int64_t runs;     /* factorizations by the direct solver since the analysis */
    sd_device opened; /* for the solver's life, or until it moves to a GPU; every solve has an engine on it */
    sd_engine e;      /* the solver's own; operators and factors lie in its memory */

    /* after analyse */
    bool analysed;
    uint64_t fingerprint;
    int64_t entries; /* of the caller's arrays */
    saddle_shape shape;
    sd_csr A;    /* the caller's matrix; val is NULL before factor */
    sd_map *map; /* from the caller's entries */
    int base;    /* that the caller counts from */
    sd_home home;
    sd_glance glance; /* at values; its room is kept where that is not much */
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

    saddle_options wanted; /* from the next factorization on, where they are new: */
    bool wants_others;
    bool many_outdated; /* systems of many.c have older ones */

    sd_many many;
    /* of a member: see sd_problem */
    const void *like;
    const sd_abreast *abreast;
    int place;
    bool solved;

    saddle_info info;
};

/* What other files need of the verbs. The pattern is the analysed one, or is analysed now. */
saddle_status sd_check_pattern(saddle_solver *solver, const saddle_matrix *A);
/* Factors A, whose pattern was checked. */
saddle_status sd_factor_checked(saddle_solver *solver, const saddle_matrix *A);
/* Takes values of A that have arrived in solver->A (where they are not on the host), or from the view, checks
 * them and finds out what the matrix is. */
saddle_status sd_inspect_values(saddle_solver *solver, const saddle_matrix *A, bool arrived);
/* The same in two steps: takes the values of A, with all that is to be known of them; factors them. */
saddle_status sd_take_matrix(saddle_solver *solver, const saddle_matrix *A);
saddle_status sd_factor_taken(saddle_solver *solver);
/* Takes the values of A and plans a method by them, where that has not been done. */
saddle_status sd_plan_values(saddle_solver *solver, const saddle_matrix *A, const sd_method *method);
/* With the factors goes all that info knows of them. */
void sd_forget_factors(saddle_solver *solver);
/* Whether the options let x pass as the factors give it, or after one step of refinement. */
bool sd_may_stay_unmeasured(const saddle_solver *solver);
/* Solves by an engine of its own; info begins as the solver's. A single right-hand side may have been solved
 * before: done, otherwise NULL. */
saddle_status sd_solve_columns(const saddle_solver *solver, sd_engine *e, int64_t nrhs, const double *b,
                               int64_t ldb, double *x, int64_t ldx, const sd_done *done, saddle_info *info);
/* Options that were set since the last factorization take effect: with the plans that they change goes all
 * that was made on them. */
void sd_adopt_options(saddle_solver *solver);
/* Whether the columns of a call with B and X are as they have to be, of a solver that is factored. */
saddle_status sd_check_columns(sd_context *c, const saddle_solver *solver, const char *call, int64_t nrhs,
                               const double *b, int64_t ldb, const double *x, int64_t ldx);
bool sd_is_finite(int64_t n, const double *x);
/* Frees the systems that share the plan. */
void sd_many_forget(saddle_solver *solver);
/* They hear of it when scaling, order or signs are given anew. */
void sd_many_lend_given(saddle_solver *solver);

/* What the policy decides by, as far as it is known without a plan. */
sd_outlook sd_outlook_of(const saddle_solver *solver);

/* What methods see of it. */
sd_problem sd_problem_of(const saddle_solver *solver);

/* The method's place in the list; NULL where it is not at work. */
const sd_work *sd_find_work(const saddle_solver *solver, const sd_method *method);

/* The context of a call that only reads the solver (which may be NULL): its hooks, and what its limit leaves.
 */
void sd_solver_context(const saddle_solver *solver, sd_context *c);

/* Other constants for `auto`, for all calls from now on. */
void sd_set_policy(saddle_solver *solver, const sd_policy *policy);
