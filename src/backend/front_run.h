/*
 * Fronts on a device: a whole factorization, and solves with it, in a few calls. Only a backend whose memory
 * the host cannot reach has these; the drivers of src/factor and src/solve run the others' kernels.
 *
 * A run has the tree and the schedule in the device's memory, the panels of all fronts, D and the variables.
 * The host knows of them what sd_run_result says, and may fetch D with the variables.
 */
#pragma once

#include "backend/front.h"
#include "core/precision.h"
#include "plan/schedule.h"
#include "plan/tree.h"

typedef struct sd_engine sd_engine;
typedef struct sd_front_run sd_front_run;

/* Parts of a factorization whose time can be measured: fronts are placed and assembled; columns are
 * eliminated, of small fronts with all that is done to them; contribution blocks are made; and everything
 * else, transfers too. */
typedef enum sd_part {
    SD_PART_ASSEMBLY,
    SD_PART_FACTOR,
    SD_PART_CONTRIBUTION,
    SD_PART_OTHER,
    SD_PARTS
} sd_part;

/* Tiles are classed by how many eighths of their columns were accepted: from 0 to 8. */
enum { SD_TILE_CLASSES = 9 };

typedef struct sd_run_profile {
    double seconds[SD_PARTS]; /* NaN: not measured */
    int64_t tiles[SD_TILE_CLASSES];
} sd_run_profile;

/* What a factorization found, brought to the host in one transfer. */
typedef struct sd_run_result {
    sd_pivots pivots;
    int64_t signs[3];      /* of D: negative, zero, positive, as sd_count_signs counts */
    int64_t suspects;      /* pivots whose eigenvalue is at most SD_SUSPECT */
    int64_t delayed;       /* columns that were delayed at least once */
    int64_t nnz;           /* of L and D, as eliminated */
    int64_t largest_front; /* rows */
    int64_t panel_bytes;   /* of all panels */
    bool indefinite;       /* a pivot was not positive where all must be: there are no factors */
    bool abandoned;        /* it would have taken more than most_flops */
    double flops;          /* as eliminated */
    int64_t waits;         /* times that the host had to wait for the device */
    sd_run_profile profile;
} sd_run_result;

/* A front as it came out. */
typedef struct sd_run_front {
    int32_t rows, columns, delays, eliminated;
    int64_t at; /* of its first pivot among all that are fetched */
} sd_run_front;

/* Parts of a solve. */
enum { SD_SOLVE_FORWARD = 1, SD_SOLVE_DIAGONAL = 2, SD_SOLVE_BACKWARD = 4, SD_SOLVE_WHOLE = 7 };

typedef struct sd_front_runner {
    /* `slack` is the part of the panels that is kept free for delays. To be freed whether this fails or not.
     */
    saddle_status (*make)(sd_engine *e, const sd_tree *t, const sd_schedule *s, sd_precision precision,
                          double slack, sd_front_run **run);
    void (*free)(sd_engine *e, sd_front_run *run);
    /* Device memory of a run on this tree, without delays but with that slack. */
    int64_t (*bytes)(const sd_tree *t, const sd_schedule *s, sd_precision precision, double slack);

    /* values, by entry of the tree, are on the host. `profile`: the times of its parts are measured too, and
     * tiles counted. */
    saddle_status (*factor)(sd_engine *e, sd_front_run *run, const double *values,
                            const sd_pivoting *pivoting, double most_flops, bool profile,
                            sd_run_result *result);
    /* max |l|, NaN where there is one. */
    saddle_status (*largest)(sd_engine *e, sd_front_run *run, double *largest);

    /* X = (the parts of) (L D L')^-1 X, k columns of n doubles by position on the host. */
    saddle_status (*solve)(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x,
                           int64_t ldx);

    /* All fronts, their variables and D (2 numbers each, as doubles): arrays of fronts, and of as many
     * columns as were eliminated, n. */
    saddle_status (*fetch)(sd_engine *e, const sd_front_run *run, sd_run_front *front, int32_t *variable,
                           double *d);
    /* Pivot k of front f gets another D; columns of L are cleared or kept along v (NULL: all of column k). */
    saddle_status (*put)(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, double d, double beside);
    saddle_status (*clear)(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, const double *v);
} sd_front_runner;
