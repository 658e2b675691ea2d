/*
 * Fronts: the dense matrices of the multifrontal method, and the kernels that work on them.
 *
 * A front has `rows` rows, of which the first `columns` are fully summed: their columns are complete and
 * pivots are taken from them. Its lower triangle is kept in two pieces,
 *
 *     panel  the fully summed columns, rows x columns, by columns with leading dimension ld. What lies
 *            above the diagonal is neither read nor kept.
 *     rest   the lower triangle of order rows - columns that the pivots are subtracted from: the
 *            contribution block, laid out as plan/contribution.h says.
 *
 * The first `delays` columns were delayed by children; the plan's own columns follow. `factor` turns the
 * first `eliminated` columns of the panel into L (unit lower trapezoidal, its diagonal not kept) and d into
 * D; the others are updated by them, stay where they are, and are delayed to the parent.
 *
 *     d[2k], d[2k+1]: a 1x1 pivot is (d, 0), a 2x2 pivot at k and k + 1 is (d_kk, d_k+1,k) and (d_k+1,k+1,
 * 0), with d_k+1,k not 0. A zero pivot is (0, 0), and its column of L is zero.
 *
 * All arrays are in host memory, of double or float as the table says. Kernels give the same bits whether
 * they have a crew to share pieces with or not (NULL).
 */
#pragma once

#include "core/crew.h"
#include "plan/contribution.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/* What solves have of the triangle of L that a front's own columns are: L itself; the inverses of squares on
 * its diagonal; its inverse. */
typedef enum sd_presolve { SD_PRESOLVE_OFF, SD_PRESOLVE_BAND, SD_PRESOLVE_WHOLE } sd_presolve;

typedef struct sd_front {
    int32_t rows, columns, delays;
    int64_t ld;
    void *panel;
    void *rest;
    void *d;           /* 2 columns */
    int32_t *variable; /* of each column; moves with it when columns are exchanged */
    int32_t eliminated;
    bool rest_empty; /* the rest holds nothing yet, not even zeros: `update` writes it */
} sd_front;

/* How pivots are taken. */
typedef enum sd_pivot_rule {
    SD_PIVOT_THRESHOLD, /* 1x1 and 2x2, each |l| <= 1/u, or the column is delayed */
    SD_PIVOT_POSITIVE,  /* as they come, each > 0: stops at the first that is not */
    SD_PIVOT_STATIC     /* 1x1, as they come; small ones or those of a wrong sign are replaced */
} sd_pivot_rule;

typedef struct sd_pivoting {
    sd_pivot_rule rule;
    double u;            /* threshold, in (0, 0.5] */
    double small;        /* a column whose entries are all at most this is a zero pivot */
    double regularise;   /* static: the least |pivot| */
    const int8_t *signs; /* static: the expected sign (1, -1; 0: the pivot's own) of each variable, or NULL */
    bool root;           /* no parent takes delays: every column is eliminated, whatever it costs */
    /* Told of a large front how many columns are eliminated, now and then; true: to be given up, and spoilt.
     * May be NULL. */
    bool (*report)(void *what, int32_t eliminated);
    void *what;
} sd_pivoting;

/* What was found in a front. Eigenvalues of a 2x2 pivot count one by one. */
typedef struct sd_pivots {
    int64_t positive, negative, zero, two_by_two, perturbed;
} sd_pivots;

/* Pivots whose eigenvalue is at most this, relative to a largest entry of 1, are looked at again; and a 2x2
 * pivot with |ac/b^2 - 1| up to this is of rank one, for solves too. */
#define SD_SUSPECT 1e-8
#define SD_RANK_ONE (8 * DBL_EPSILON)

/* The entries of A in the plan's own columns: column k has row, value[ptr[k] .. ptr[k+1]), row counted
 * over the plan's own rows (without delays). */
typedef struct sd_front_entries {
    const int64_t *ptr;
    const int32_t *row;
    const double *value;
} sd_front_entries;

/* Columns [from, to) of a front that is assembled, of all its `rows`. */
typedef struct sd_span {
    int32_t from, to;
    bool rest_empty; /* as that of a front, which is this of every one of its spans in the end */
} sd_span;

/* Fills columns [from, to) of a rest, which has not been assembled yet: a block of columns that is updated as
 * soon as it is filled is still in the cache. */
typedef struct sd_filling {
    void (*fill)(void *what, int32_t from, int32_t to);
    void *what;
} sd_filling;

typedef struct sd_simplicial_kernels sd_simplicial_kernels;

/* A table of kernels in one precision. */
typedef struct sd_front_kernels {
    /* panel += A's entries, in the columns of the span. */
    void (*add_entries)(sd_front *f, const sd_front_entries *entries, const sd_span *span);

    /* Adds what a child hands up to the columns of the span: the rest of the child, row r of which is the
     * plan's own row place[r] of f (ascending); and its columns that were not eliminated, which become
     * columns `at`, at + 1 ... of f, with their variables. The panel has been cleared; columns of the rest
     * are cleared first where a child has something for any of them: then span->rest_empty becomes false. The
     * child's panel must still hold its delayed columns. How f is cut into spans changes no bit of it. */
    void (*add_child)(sd_front *f, const sd_front *child, const int32_t *place, int32_t at, sd_span *span);

    /* Numbers of workspace that `factor` and `update` need for a front of this size. */
    int64_t (*work)(int32_t rows, int32_t columns);

    /* Eliminates; sets f->eliminated, fills in d, permutes variable. With SD_PIVOT_POSITIVE f->eliminated
     * < columns says where it stopped, and the front is spoilt. */
    void (*factor)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots, void *work, sd_crew *crew);

    /* rest -= L2 D L2', L2 the eliminated columns of rows `columns` and below. Columns of the rest are filled
     * before they are touched, where there is a filling: then there must be no crew. */
    void (*update)(sd_front *f, void *work, const sd_filling *filling, sd_crew *crew);

    /* max |l_ij| over the eliminated columns, NaN where there is one. */
    double (*largest)(const sd_front *f);

    /* Solves with L and L' of a front for k right-hand sides: w[i k + r] is row i of right-hand side r.
     *   forward:  w1 = L1^-1 w1, w2 -= L2 w1
     *   backward: w1 = L1'^-1 (w1 - L2' w2)
     * w1 the `eliminated` first rows, w2 all others. */
    void (*forward)(const sd_front *f, int32_t k, void *w);
    void (*backward)(const sd_front *f, int32_t k, void *w);

    const sd_simplicial_kernels *simplicial; /* without fronts; NULL in single precision */
} sd_front_kernels;

#define SD_FRONT_KERNELS(precision, simplicial)                                                              \
    {                                                                                                        \
        add_entries_##precision, add_child_##precision, work_##precision, factor_front_##precision,          \
            update_front_##precision, largest_##precision, forward_##precision, backward_##precision,        \
            simplicial                                                                                       \
    }

/* The plain version; index 0 in double, 1 in single. */
extern const sd_front_kernels sd_fronts_reference[2];
