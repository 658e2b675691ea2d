/*
 * Solves and refinement of systems abreast, one right-hand side each: what sd_solve_refined does for one, in
 * the same steps and with the same bits. Columns that it has no ordinary end for are left to be solved alone.
 */
#pragma once

#include "factor/abreast.h"
#include "solve/refinement.h"

/* What they are solved in; all but a of n rows. */
typedef struct sd_abreast_memory {
    double *a;       /* the entries of the matrices */
    double *b, *x;   /* right-hand sides, the best so far */
    double *y, *r;   /* where refinement stands, its residuals */
    double *block;   /* 2 n rows, on their way through the factors */
    double *room;    /* of the residuals: 3 rows for each of the windows' */
    double *column;  /* of the witnesses (sd_abreast_rider) */
    double *witness; /* likewise */
} sd_abreast_memory;

saddle_status sd_abreast_memory_make(sd_context *c, const sd_sparse *A, int width, bool solved,
                                     sd_abreast_memory *m);
void sd_abreast_memory_free(sd_context *c, sd_abreast_memory *m);
int64_t sd_abreast_memory_bytes(const sd_sparse *A, int width);

/* A second column of each, as sd_rider is of one: solved in place along with the first, while it waits. */
typedef struct sd_abreast_rider {
    bool waiting[SD_ABREAST_MOST];
    /* the columns of those that are `aboard` came out: who needs another ride? */
    void (*arrived)(struct sd_abreast_rider *rider, const bool *aboard);
    void *what;
} sd_abreast_rider;

/* One system's. */
typedef struct sd_abreast_column {
    const double *b;
    const sd_operator *op;
    int exponent; /* of the factors: see sd_solve_frame */
    bool solved;  /* answer tells how well; its x lies in memory->x */
    sd_answer answer;
} sd_abreast_column;

/* Columns of as many systems as there are places; those that are not `solved` before are left out. */
void sd_abreast_refine(const sd_abreast_factors *f, const sd_abreast_memory *m, const double *scale,
                       bool corrections, sd_abreast_rider *rider, sd_abreast_column *columns);

/* The same unmeasured: x as the factors give it, or after one step of refinement in double; what is not
 * finite is left to be solved alone. */
void sd_abreast_solve(const sd_abreast_factors *f, const sd_abreast_memory *m, const double *scale,
                      bool refined, sd_abreast_column *columns);
