/*
 * Sweeps of the fixed-point iteration for incomplete factors, on any pattern.
 *
 * Where L U agrees with B on the pattern its entries solve, d the pivots and all sums over k < min(i, j),
 *
 *     c_ij = b_ij - sum_k c_ik c_kj / d_k,   d_i = b_ii - sum_k c_ik c_ki / d_k
 *
 * and l_ij = c_ij / d_j below the diagonal, u_ij = c_ij above it; for L L' l_ij = c_ij / sqrt(d_j), and
 * l_ii = sqrt(d_i). A sweep computes all of them from those of the sweep before (E. Chow and A. Patel,
 * Fine-grained parallel incomplete LU factorization, 2015, Algorithm 2). There l is iterated in place of c,
 * divided by the pivot of the sweep before; with two buffers a change of a pivot then takes two sweeps to the
 * next pivot instead of one.
 *
 * The first guess is c = b and d = the diagonal of B. That is the paper's, L = tril(B) and U = triu(B) after
 * scaling to a unit diagonal, without having to scale: the c and d of R B C, R and C diagonal, are those of B
 * times r_i c_j in every sweep, first guess included.
 *
 * The residual of L U on the pattern is c of the next sweep less c of this one, so it costs nothing but one
 * sweep more than there are. After as many sweeps as the pattern has levels the factors are those of
 * elimination, since what depends on exact numbers alone is exact; on the way there numbers may grow. They do
 * not for an M-matrix: with c <= 0 off the diagonal a sweep keeps the order of c, so that from c = b on all
 * go down, to their limits and never below, and no pivot fails. By comparison, entry by entry, none
 * fails where B is strictly diagonally dominant, which a shift beyond the longest row makes it.
 */
#pragma once

#include "factor/incomplete_parts.h"

/* A strict triangle by rows: L, or the transpose of U, whose rows are the columns of U. */
typedef struct sd_sweep_half {
    sd_csr rows;  /* of the last sweep */
    double *next; /* numbers of the sweep under way */
    double *b;    /* B; 0 where it has no entry */
} sd_sweep_half;

typedef struct sd_sweeping {
    sd_context *c;
    const sd_incomplete_rule *rule;
    const sd_shifted *B;
    bool symmetric;
    int32_t n;
    int threads;
    sd_csr transpose; /* of B; for L U only */

    sd_sweep_half lower, upper; /* `upper` for L U only */
    double *diagonal, *next;    /* of L (L L') or of U */
    double norm;                /* of B on the pattern */
    double *zeros;              /* n for each thread, while no row is under way */
    double *part;               /* of a sum, one for each chunk of rows */
    double flops_of_sweep;

    double beginning; /* residual of the first guess; NaN: not known yet */
    double residual, flops;
    int sweeps;
} sd_sweeping;

/* What does not depend on the pattern. */
saddle_status sd_sweeping_open(sd_context *c, const sd_shifted *B, bool symmetric,
                               const sd_incomplete_rule *rule, sd_sweeping *t);

/* Tells m what became of the sweeps, and frees all but what was handed over, which is NULL in t. */
void sd_sweeping_close(sd_sweeping *t, sd_incomplete *m);

/* Prepares for sweeps on the patterns in lower.rows and upper.rows, whenever they have changed. */
saddle_status sd_sweeping_fit(sd_sweeping *t);

/* The first guess on the patterns; false where a pivot cannot be used. */
bool sd_sweeping_guess(sd_sweeping *t);

/* One sweep into `next`; returns the residual of what there was before. *usable says whether the new pivots
 * can be used. sd_sweeping_accept makes the new numbers those that there are. */
double sd_sweep(sd_sweeping *t, bool *usable);
void sd_sweeping_accept(sd_sweeping *t);

/* Sweeps wherever they are made. `sweep` returns the residual of what there was before and says whether the
 * new pivots can be used; `accept` makes the new numbers those that there are. */
typedef struct sd_sweeps {
    double (*sweep)(void *self, bool *usable);
    void (*accept)(void *self);
    void *self;
    double beginning; /* residual of the first guess; NaN: not known yet */
    double residual;
    int sweeps;
} sd_sweeps;

/* At most rule->sweeps sweeps, fewer where the residual is that of rounding errors or no longer falls.
 * *broken: a pivot cannot be used, or the residual has grown. */
saddle_status sd_sweeps_iterate(sd_context *c, const sd_incomplete_rule *rule, sd_sweeps *s, bool *broken);
saddle_status sd_sweeping_iterate(sd_sweeping *t, bool *broken);

/* B, with the rows of `half`. */
static inline const sd_csr *sd_sweeping_matrix(const sd_sweeping *t, const sd_sweep_half *half)
{
    return half == &t->lower ? t->B->B : &t->transpose;
}

/* What numbers of `half` are multiplied with, by columns, to give c; NULL: 1. */
static inline const double *sd_sweeping_unit(const sd_sweeping *t, const sd_sweep_half *half)
{
    return half == &t->lower ? t->diagonal : NULL;
}

/* The other factor of a product. */
static inline sd_sweep_half *sd_sweeping_other(sd_sweeping *t, const sd_sweep_half *half)
{
    return t->symmetric || half == &t->upper ? &t->lower : &t->upper;
}
