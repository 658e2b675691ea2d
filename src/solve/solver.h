/* The solver behind the four verbs. */
#ifndef SD_SOLVER_H
#define SD_SOLVER_H

#include "core/info.h"
#include "factor/block_jacobi.h"
#include "factor/diagonal.h"
#include "factor/ldlt_cost.h"
#include "factor/ldlt_preconditioner.h"
#include "solve/direct.h"
#include "solve/operator.h"

enum { SD_METHODS_MOST = 4 };

struct saddle_solver {
    sd_context c;
    saddle_options options;
    int device, threads;

    /* after analyse */
    bool analysed;
    uint64_t fingerprint;
    saddle_shape shape;
    sd_csr A;    /* the caller's matrix; val is NULL before factor */
    sd_map *map; /* from the caller's entries */

    /* after factor */
    bool factored;
    saddle_facts facts;
    sd_engine e;                   /* open for the solver's life; what follows lies in its memory */
    sd_operator op[SD_PRECISIONS]; /* double always, single where asked for */
    sd_diagonal diagonal;
    sd_direct direct;
    saddle_preparation blocking; /* of block-Jacobi: made once a pattern, block_start NULL before */
    sd_block_jacobi block_jacobi;
    sd_block_ldlt ldlt;
    /* what is tried, in this order */
    int methods, method[SD_METHODS_MOST];
    double tau[SD_METHODS_MOST]; /* of ldlt; NaN: as the options say */
    int64_t budget;              /* iterations of a method before the direct solver */
    double most_flops;           /* of a factorization before it; 0: no limit */
    _Atomic int learned; /* how far `auto` had to go with this pattern: where the next factorization begins */
    int began;           /* where this one did */

    /* what the caller gave beside the matrix */
    saddle_given given;
    int8_t *signs;
    int64_t given_n, signs_n;
    int sleep; /* of tasks, for tests: see sd_factor_options */

    saddle_info info;
};

/* The context of a call that only reads the solver (which may be NULL): its hooks, and what its limit leaves.
 */
void sd_solver_context(const saddle_solver *solver, sd_context *c);

/* One attempt at a right-hand side: a preconditioner and an iteration. */
typedef struct sd_attempt {
    int method, krylov;
    const sd_direct *direct;   /* the factors, of method direct */
    const sd_block_ldlt *ldlt; /* and of ldlt */
    int64_t maxiter;
    bool converged; /* as the iteration saw it */
    saddle_reason reason;
    int64_t iterations;
} sd_attempt;

/*
 * Runs an attempt: x (on the host) becomes the best solution of A x = b that was found, 0 where none
 * is better; history goes on in `info`. Status only for failures beside which there is no x: memory,
 * device. `e` is the solve's own engine.
 */
saddle_status sd_run_attempt(const saddle_solver *solver, sd_engine *e, const double *b, double *x,
                             sd_attempt *attempt, saddle_info *info);

/*
 * SADDLE_REASON_INCONSISTENT where there is a proof that a symmetric system has no solution,
 * SADDLE_REASON_CANCELLED where the search for it was, otherwise SADDLE_REASON_NONE. It begins at x
 * where that has converged (in its componentwise error), otherwise at its residual, and costs up to as
 * many iterations as were made before, but only where there is reason for suspicion. The zero pivots of
 * `direct`, which may be NULL, are looked at first. x loses its part in the null space where there is a
 * proof.
 */
saddle_reason sd_find_inconsistency(const saddle_solver *s, sd_engine *e, const double *b, double *x,
                                    bool converged, int method, const sd_direct *direct, int64_t iterations);

/* Decides what is tried, after the values of A have been taken, and plans and factors for the direct solver
 * where that comes first. */
saddle_status sd_choose_methods(saddle_solver *solver);

/* Makes the factors of block LDL' that the attempts begin with; where these would be too dear, the direct
 * solver's. */
saddle_status sd_begin_ldlt(saddle_solver *solver);

/* Whether the options and the matrix want the direct solver planned before anything is tried. */
bool sd_wants_plan(const saddle_solver *solver);

/* Plans the direct solver from the values of s->A. */
saddle_status sd_plan_direct(saddle_solver *solver);

/* Blocks of rows for block-Jacobi, from the values of s->A; and the diagonal blocks of an operator of s. */
saddle_status sd_plan_block_jacobi(saddle_solver *solver);
saddle_status sd_make_block_jacobi(saddle_solver *solver);
/* The same for block LDL', by levels or by sweeps. */
static inline bool sd_is_ldlt(int method)
{
    return method == SADDLE_METHOD_LDLT || method == SADDLE_METHOD_JACOBI;
}
saddle_status sd_plan_ldlt(saddle_solver *solver);
/* tau is NaN where the options say it. *dear where the factorization would take more than most_flops
 * operations (0: no limit): there is none then. */
saddle_status sd_make_ldlt(saddle_solver *solver, double tau, double most_flops, bool *dear);
/* The same for one solve, with an engine of its own; m is zero before, and is the caller's to free. */
saddle_status sd_make_stronger_ldlt(const saddle_solver *solver, sd_engine *e, double tau, double most_flops,
                                    sd_block_ldlt *m, saddle_info *info, bool *dear);
/* Lays factors out for solves, and decides how these are done; `kernel` is that of their diagonal blocks. */
saddle_status sd_place_ldlt(const saddle_solver *solver, sd_engine *e, sd_batch_kernel kernel,
                            sd_block_ldlt *m);
/* The same where it is left open, as the cost model has it for a machine; `given` sweeps, or 0. */
saddle_status sd_choose_trisolve(sd_engine *e, sd_ldlt_machine machine, int given, sd_block_ldlt *m);
/* The precision that iterations run in. */
sd_precision sd_iteration_precision(const saddle_solver *solver);

/* What a direct factorization of this solver is asked for. */
sd_direct_options sd_direct_request(const saddle_solver *solver, sd_precision precision);

/* Fills in what info says of a direct factorization. */
void sd_direct_tell(const sd_direct *d, saddle_info *info);

/* What `auto` means for this matrix and method. */
int sd_choose_krylov(const saddle_solver *solver, int method);

#endif
