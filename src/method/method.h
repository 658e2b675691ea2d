/*
 * Methods: what makes a solver, or a preconditioner, of a matrix.
 *
 * A method is one row of a table and one file or folder here. Everything else goes through the row:
 * the solver plans and factors with it, the policy of `auto` compares costs, the driver of a solve applies
 * it, info and JSON are filled in by it. What it keeps is private to it:
 *
 *     plan      what can be decided in advance, from the pattern and the first values: made once per
 *               pattern, then read-only, so that several factorizations may share it
 *     factors   the result of factoring the values: for the solver, or for one solve that needs stronger
 *               ones
 *
 * A new method is a file or folder, a row in methods.c, its options in saddle.h, its tests: CONTRIBUTING.md
 * goes through the steps.
 */
#pragma once

#include "solve/operator.h"
#include "solve/preconditioner.h"
#include "solve/triangular.h"

/* New values that a device has before the host. */
typedef struct sd_arriving {
    const double *values; /* by stored entry, in the device's memory */
    /* Brings them to sd_problem.A, and facts and operators with them; until then these are of the matrix
     * before. Only the first call does something. */
    saddle_status (*take)(struct sd_arriving *arriving);
    saddle_status status; /* of that */
} sd_arriving;

/* What is to be solved. All of it is the solver's; methods only read it. */
typedef struct sd_problem {
    const saddle_options *options;
    const sd_csr *A; /* the caller's matrix */
    const saddle_facts *facts;
    const sd_operator *op;     /* by sd_precision; made before any factorization */
    const saddle_given *given; /* scaling and order of the caller's, for a matrix of given_n rows; NULL */
    const int8_t *signs;       /* of static pivots, likewise */
    int64_t given_n, signs_n;
    const void *like; /* factors on the same plan that others begin as, and learn nothing more; NULL: none */
    const struct sd_abreast *abreast; /* where others have computed what these factors would be; NULL */
    int place;                        /* there */
    bool solved;                      /* and there is an answer, so that nobody will look at their numbers */
    sd_arriving *arriving;            /* NULL: A has its values */
    int device, threads;
    double expensive; /* operations of a complete factorization that take too long to be made without need */
} sd_problem;

/* How strong a factorization is to be: a rung of `auto`'s ladder, or what the options say. */
typedef struct sd_strength {
    double tau;             /* fill below it is left out; NaN: as the options say */
    double threshold;       /* of pivots, at least; 0: as the options say */
    bool equilibrated;      /* scaled by Ruiz' method, whatever the options say */
    double most_flops;      /* it is given up beyond so many operations; 0: no limit */
    sd_precision precision; /* of factors that may be in single for speed */
} sd_strength;

/* What a plan predicts. */
typedef struct sd_cost {
    double flops, entries; /* of a factorization; NaN: not known */
    int64_t bytes;         /* in use at once, with all that is in use already; 0: not known */
} sd_cost;

/* What is known of a factorization and a solve with it, for a device to be chosen by (solver/policy.h). */
typedef struct sd_counts {
    double rows, entries;   /* of the matrix that is factored */
    double fronts, levels;  /* of the tree: in all, and on the longest way to a root */
    double flops, critical; /* operations: in all, and of the longest chain of them */
    double factor_entries;
    double delayed, suspects; /* of the last factorization: columns, and pivots that the host looked at */
    bool again;               /* its inertia was examined by further factorizations */
} sd_counts;

/* What a method remembers of the plans that it gave up: the solver keeps it. */
typedef struct sd_past {
    int64_t replans;
    double work;     /* of a factorization on the last of them; 0: there is nothing to compare with */
    double patience; /* prices of a plan that must be lost before the next */
} sd_past;

/* What factors say of themselves, for the driver of a solve to decide by. */
typedef struct sd_standing {
    bool regular;                     /* there is no zero pivot, and there would be one if a row were zero */
    bool singular;                    /* there are zero pivots */
    bool changed;                     /* they are no longer those of A: the caller's D */
    bool single;                      /* in single precision: double may do better */
    bool stale;                       /* made on a plan for other values: a new plan may do better */
    bool certain;                     /* certified to be those of a regular A: see `certify` */
    const struct sd_strength *better; /* a factorization that was found to be better; NULL: none */
} sd_standing;

struct sd_rider;
struct sd_answer;

/* A solve that was made abreast. */
typedef struct sd_done {
    const double *x;                /* NULL: it has to be made alone */
    const struct sd_answer *answer; /* NULL: unmeasured */
    double left;                    /* of the rider: see refinement.h */
} sd_done;

/*
 * Systems abreast: several with one plan, factored and solved all at once where they take the course of the
 * factors that they are `like`. Factorizations and solves of their own follow, which take over what is ready
 * (sd_problem.abreast, sd_done); each has the bits that it would have without.
 */
typedef struct sd_abreast sd_abreast;
typedef struct sd_abreast_method {
    /* *made is NULL where there is no such course; it is freed whether this fails or not. What is to be done:
     * factor, or take factors that there are; and solve. */
    saddle_status (*make)(sd_context *c, const sd_problem *p, const void *like, bool factored, bool solved,
                          sd_abreast **made);
    void (*free)(sd_context *c, sd_abreast *abreast);
    int64_t (*bytes)(const sd_problem *p, const void *like); /* that it allocates, at most */
    int (*width)(const sd_abreast *abreast);                 /* systems at once, at most */
    /* Each problem has values, facts and operators of its own. Factors may be NULL where there are none;
     * those that will be refactored may get their numbers at once. */
    void (*factor)(sd_abreast *abreast, int count, const sd_problem *const *p, void *const *factors);
    void (*load)(sd_abreast *abreast, int count, const sd_problem *const *p, const void *const *factors);
    /* One right-hand side each. What is done stays until the next solve. */
    void (*solve)(sd_abreast *abreast, const double *const *b, sd_done *done);
} sd_abreast_method;

/*
 * Many systems on a device (backend/systems_run.h): as systems abreast, but all at once, and in its memory.
 * Those that depart from the course of the factors that they are `like` are told, and left to be done one by
 * one.
 */
typedef struct sd_systems sd_systems;
struct sd_system_outcome;
typedef struct sd_systems_method {
    /* p and `like` are on the host and must outlive what is made; map is that of the caller's entries, so
     * many, to those of p->A. *made is NULL where there is no such course; it is freed whether this fails or
     * not. */
    saddle_status (*make)(sd_engine *e, const sd_problem *p, const void *like, const sd_map *map,
                          int64_t entries, sd_systems **made);
    void (*free)(sd_engine *e, sd_systems *systems);
    bool (*solves)(const sd_problem *p);         /* whether what the options ask of a solve can be done */
    int64_t (*bytes)(const sd_systems *systems); /* of the device, for each system */
    saddle_status (*reserve)(sd_engine *e, sd_systems *systems, int64_t count);
    /* values, b and x are on the device, the outcomes on the host. Several threads may solve at once. */
    saddle_status (*factor)(sd_engine *e, sd_systems *systems, const sd_problem *p, int64_t count,
                            const void *values, int64_t stride, bool single,
                            struct sd_system_outcome *outcome);
    saddle_status (*solve)(sd_engine *e, const sd_systems *systems, const sd_problem *p, int64_t count,
                           const double *b, int64_t ldb, double *x, int64_t ldx,
                           struct sd_system_outcome *outcome);
    saddle_status (*values)(sd_engine *e, const sd_systems *systems, int64_t k, double *values); /* of A */
    void (*tell)(const sd_systems *systems, const sd_problem *p, const struct sd_system_outcome *outcome,
                 saddle_result *result);
} sd_systems_method;

typedef struct sd_method {
    int number;          /* SADDLE_METHOD_... */
    const char *name;    /* in messages */
    const char *options; /* that it reads, in addition to those of every method: "|a|b|" */
    bool on_device;      /* whether it runs on a GPU */
    bool needs_symmetry;
    bool signed_as_A; /* its factors are indefinite where A is: no preconditioner for CG or MINRES */
    bool absolute;    /* it has a positive definite form of a symmetric indefinite A: option `absolute` */
    bool light;       /* it costs no more than a few vectors: a search for null vectors may use it */

    /* *plan, NULL before, is freed by free_plan, also where this fails. info gets times and predictions. NULL
     * functions: there is nothing to plan. */
    saddle_status (*plan)(sd_context *c, const sd_problem *p, void **plan, saddle_info *info);
    sd_cost (*cost)(const void *plan);
    void (*free_plan)(sd_context *c, void *plan);
    /* A plan that was made for another device is for p->device from now on; where that fails it is as it was.
     * NULL: it stays. */
    saddle_status (*move)(sd_context *c, const sd_problem *p, void *plan, saddle_info *info);
    /* What moving may be decided by, with what was factored on the plan (NULL: nothing yet). False: it stays
     * on the host. Of methods with `move`. */
    bool (*counts)(const void *plan, const void *factors, sd_counts *counts);
    /* Whether a new plan would be better for the values of p->A than the one that is there, with what was
     * factored on it (NULL: nothing yet). NULL: plans are kept. */
    bool (*replan)(sd_context *c, const sd_problem *p, const void *plan, const void *factors, sd_past *past);

    /* *factors is NULL before `factor`, and what a factorization left before `refactor`, which may use its
     * memory and all that it found out; without `refactor` they are made from the beginning. *given_up where
     * strength->most_flops does not suffice: then there are no factors. On failure *factors are to be freed,
     * or refactored, all the same. */
    saddle_status (*factor)(sd_engine *e, const sd_problem *p, const void *plan, const sd_strength *strength,
                            void **factors, bool *given_up);
    saddle_status (*refactor)(sd_engine *e, const sd_problem *p, const void *plan,
                              const sd_strength *strength, void **factors, bool *given_up);
    /* Refactors values that are arriving, before the host has them, where nothing about them asks for more:
     * *done. It has them in any case when this returns. NULL: the method waits for them. */
    saddle_status (*refactor_arriving)(sd_engine *e, const sd_problem *p, const sd_strength *strength,
                                       void *factors, bool *done);
    /* What factorizations so far have taught is forgotten: `refactor` then does what `factor` would do. NULL:
     * nothing is learned. */
    void (*reset)(void *factors);
    /* Factors that are to be made on another device: their numbers go, what factorizations have taught stays,
     * and `refactor` follows. NULL: they are made from the beginning. */
    void (*leave)(sd_engine *e, void *factors);
    void (*report)(const void *factors, saddle_info *info);
    void (*free_factors)(sd_engine *e, void *factors);

    /* The iteration that `auto` means. */
    int (*krylov)(const sd_context *c, const sd_problem *p, const void *factors);
    /* One solve's own view of the factors: z = M^-1 r for the system with op. To be freed by
     * sd_preconditioner_free whether it fails or not. */
    saddle_status (*precondition)(sd_engine *e, const sd_problem *p, const void *factors,
                                  const sd_operator *op, sd_preconditioner *M);

    /* The same for *columns vectors at once, one after the other in r and z, each with the bits that it has
     * alone (on a GPU, agrees to rounding). *columns becomes 1 where they would have others. NULL: one at a
     * time. */
    saddle_status (*precondition_columns)(sd_engine *e, const sd_problem *p, const void *factors,
                                          const sd_operator *op, int *columns, sd_preconditioner *M);

    /* As `precondition` of M'; NULL: M is symmetric, or as near to it as it is to a matrix. */
    saddle_status (*precondition_transposed)(sd_engine *e, const sd_problem *p, const void *factors,
                                             const sd_operator *op, sd_preconditioner *M);

    /* Of methods that solve by themselves; NULL for all others. Z = A^-1 R for k columns on the host; Z may
     * be R, memory (see triangular.h) NULL. */
    saddle_status (*solve)(sd_engine *e, const void *factors, int64_t k, const double *r, int64_t ldr,
                           double *z, int64_t ldz, sd_solve_memory *memory);
    /* The same with A'. */
    saddle_status (*solve_transposed)(sd_engine *e, const void *factors, int64_t k, const double *r,
                                      int64_t ldr, double *z, int64_t ldz);
    /* As `solve` in the memory of a device, that of the factors; nothing is waited for. NULL functions: none.
     */
    bool (*solves_there)(const void *factors);
    saddle_status (*solve_there)(sd_engine *e, const void *factors, int64_t k, const double *r, int64_t ldr,
                                 double *z, int64_t ldz);
    sd_standing (*standing)(const void *factors);
    /* The inertia of A in info, certified or in doubt. A solve may give the witness of it a ride
     * (refinement.h): `board` fills in the rest of a rider whose column has 2 n numbers, the second half for
     * work; it waits where there is something to be found out. certify then gets the same rider, or NULL. */
    void (*board)(const sd_problem *p, const void *factors, struct sd_rider *rider);
    saddle_status (*certify)(sd_engine *e, const sd_problem *p, const void *factors,
                             const struct sd_rider *rider, saddle_info *info);
    /* z = a vector in the null space that zero pivots span, z'b not 0 where the system has no solution.
     * *found is false where b asks nothing of that space. */
    saddle_status (*null_vector)(sd_context *c, const void *factors, const double *b, double *z, bool *found);
    const sd_abreast_method *abreast; /* NULL: one system at a time */
    const sd_systems_method *systems; /* NULL: not on a device */
} sd_method;

/* The row of SADDLE_METHOD_...; NULL for auto. */
const sd_method *sd_method_of(int number);

extern const sd_method sd_method_none, sd_method_diagonal, sd_method_bjacobi, sd_method_ldlt,
    sd_method_jacobi, sd_method_direct, sd_method_ic, sd_method_ilu;

/* Whether the memory allows what is predicted: SADDLE_MEMORY_LIMIT or SADDLE_OUT_OF_MEMORY, with the need. */
saddle_status sd_cost_fits(sd_context *c, const char *name, sd_cost cost);

/* Asks the method to report, after what another's factors left in info. */
void sd_report(const sd_method *method, const void *factors, saddle_info *info);

/* ---- what several methods have in common ---- */

/* Plans that are a saddle_preparation, made by `prepare` of the whole matrix. */
typedef saddle_status sd_prepare_step(sd_context *c, const sd_problem *p, const sd_csr *A,
                                      saddle_preparation *to);
saddle_status sd_plan_preparation(sd_context *c, const sd_problem *p, sd_prepare_step *prepare, void **plan,
                                  saddle_info *info);
void sd_free_preparation(sd_context *c, void *plan);

/* Whether pairs are kept where the options leave it open: where they are wanted, and in blocks of them. */
saddle_switch sd_pairs_for(const saddle_options *options, bool wanted);

/* Whether some row has a diagonal entry that is small beside others; A is whole. */
bool sd_has_small_diagonal(const sd_csr *A);

/* SADDLE_BAD_ARGUMENT where scaling or order were given for another n. */
saddle_status sd_check_given(sd_context *c, const sd_problem *p);

/* All entries of A: A itself, or *whole, which is the caller's to free. */
saddle_status sd_whole_matrix(sd_context *c, const sd_csr *A, sd_csr *whole, const sd_csr **all);

/* The precision that iterations run in. */
sd_precision sd_iteration_precision(const sd_problem *p);

/* A preconditioner that the host applies, z = self r on arrays of its own: *M gets the vectors between, and
 * frees `self` by `release`, which it does at once where there is no memory for them. */
typedef struct sd_hosted {
    void (*apply)(const void *self, const double *r, double *z);
    void (*release)(sd_engine *e, void *self);
    void *self;
    int32_t n;
    double *r, *z;
} sd_hosted;
saddle_status sd_precondition_hosted(sd_engine *e, const sd_hosted *by, sd_preconditioner *M);

/* Whether the method solves by itself: with `absolute` its factors are those of another matrix. */
static inline bool sd_solves_alone(const sd_problem *p, const sd_method *method)
{
    return method->solve && p->options->absolute == SADDLE_OFF;
}

/* The iteration for a preconditioner of which no more is known. */
int sd_krylov_for(const sd_problem *p, bool symmetric, bool positive);

/* Logs a warning for every option that was changed and that `method` does not read: the one rule for options
 * that do not apply. */
void sd_report_unused(sd_context *c, const saddle_options *options);
