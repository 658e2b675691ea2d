/*
 * Block LDL': the methods ldlt, by levels, and jacobi, by Jacobi sweeps.
 *
 * Thresholds are relative to the largest entry of the scaled matrix. A pivot is small below 1e-8. If some
 * had to be perturbed although their blocks were pushed back, the factorization is made again with 1e-4, for
 * the blocks that are pushed back alone, and for the pivots that are perturbed as well: perturbations of that
 * size may disturb the preconditioner less than what 1 / 1e-8 does to it. A vector decides.
 */
#pragma once

#include "factor/trisolve_cost.h"
#include "method/method.h"
#include "solve/ldlt_solve.h"

/* What is kept from one factorization to the next. The plan of the method is a saddle_preparation. */
typedef struct sd_ldlt_state {
    sd_block_ldlt m;
    bool swept;                     /* of method jacobi */
    sd_ldlt_rule rule;              /* of the last factorization, */
    sd_ldlt_counts counts;          /* and what it met */
    bool replanned;                 /* the plan at hand was stale, and another was made */
    double pattern, reconstruction; /* see saddle_info; NaN where not measured */
} sd_ldlt_state;

/* One factorization at work. */
typedef struct sd_ldlt_making {
    const sd_problem *p;
    const sd_strength *strength;
    double share; /* of the memory that may be used for fill, where it is limited; 1: all */
    sd_context *c;
    sd_engine *e;
    sd_ldlt_state *state;
    sd_block_ldlt *m; /* of the state */
    sd_block_matrix B;
    sd_csr whole;         /* all entries of a half A, */
    const sd_csr *all;    /* or A itself; */
    const sd_csr *layout; /* the one of the two that the operator stores */
} sd_ldlt_making;

#define SD_LDLT_SMALL 1e-8       /* least pivot */
#define SD_LDLT_SMALL_AGAIN 1e-4 /* where some had to be perturbed */

/* ---- rule.c: what the options leave open ---- */

sd_ldlt_rule sd_ldlt_rule_of(const sd_ldlt_making *t);
/* Whether vectors keep within the range of single precision when they are scaled. */
bool sd_ldlt_fits_single(const sd_ldlt_making *t);
/* Whether factors in single, which `auto` chose, are spoilt by an inverse with such an entry. */
bool sd_ldlt_spoilt(const sd_ldlt_making *t, const sd_ldlt_rule *rule, double inverse);
/* Numbers that may be kept off the diagonal; 0: no limit. */
int64_t sd_ldlt_most_numbers(const sd_ldlt_making *t, sd_precision precision);

/* ---- find.c: the exact schedule, which finds its pattern ---- */

saddle_status sd_ldlt_make_by_levels(const sd_ldlt_making *t, sd_ldlt_rule *rule, sd_ldlt_counts *counts);

/* ---- sweep.c: Jacobi sweeps on the pattern that is there ---- */

saddle_status sd_ldlt_make_by_sweeps(const sd_ldlt_making *t, const sd_ldlt_rule *rule,
                                     sd_ldlt_counts *counts);

/* ---- factor.c ---- */

saddle_status sd_ldlt_factor(sd_engine *e, const sd_problem *p, const void *plan, const sd_strength *strength,
                             bool swept, void **factors, bool *given_up);
saddle_status sd_ldlt_factor_again(sd_engine *e, const sd_problem *p, const void *plan,
                                   const sd_strength *strength, void **factors, bool *given_up);

/* ---- trisolve.c: how triangular solves are done ---- */

/* Lays factors out for solves; `kernel` is that of their diagonal blocks. */
saddle_status sd_ldlt_prepare_solves(sd_engine *e, const sd_problem *p, sd_batch_kernel kernel,
                                     sd_block_ldlt *m);
/* The same where it is left open, as the cost model has it for a GPU; `given` sweeps, or 0. */
saddle_status sd_choose_trisolve(sd_engine *e, int given, sd_block_ldlt *m);
