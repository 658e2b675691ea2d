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

/* What was found of values that were on the device. */
typedef struct sd_run_taken {
    double largest;             /* of A */
    double most, least_matched; /* of the scaled matrix; the least is infinite where none is matched */
    int64_t stale;
} sd_run_taken;

/* Parts of a factorization whose time can be measured: fronts are placed and assembled; columns are
 * eliminated, of small fronts with all that is done to them; contribution blocks are made; triangles are
 * inverted for the solves; and everything else, transfers too. */
typedef enum sd_part {
    SD_PART_ASSEMBLY,
    SD_PART_FACTOR,
    SD_PART_CONTRIBUTION,
    SD_PART_PRESOLVE,
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
    int64_t signs[3];        /* of D: negative, zero, positive, as sd_count_signs counts */
    int64_t suspects;        /* pivots whose eigenvalue is at most SD_SUSPECT */
    int64_t delayed;         /* columns that were delayed at least once */
    int64_t nnz;             /* of L and D, as eliminated */
    int64_t largest_front;   /* rows */
    int64_t panel_bytes;     /* of all panels */
    int64_t device_bytes;    /* that the run has on the device */
    int64_t offloaded_bytes; /* of the host, for panels that the device has no room for */
    bool indefinite;         /* a pivot was not positive where all must be: there are no factors */
    bool abandoned;          /* it would have taken more than most_flops */
    bool cancelled;          /* by sd_run_job.report: there are no factors */
    double flops;            /* as eliminated */
    int64_t waits;           /* times that the host had to wait for the device */
    int64_t restarts;        /* because panels with their delays did not fit */
    bool fetched;            /* sd_run_job.pivots is there */
    sd_run_taken taken;      /* of values that were on the device */
    sd_run_profile profile;
} sd_run_result;

/* Values of A in the device's memory, by stored entry, from which those of the tree are made there: what is
 * factored is 2^-exponent S A S, exponent = floor(log2 max |a|) - largest_exponent. */
typedef struct sd_run_values {
    const double *values; /* the device's */
    int64_t count;
    /* the host's, brought to the device when a run first sees them, and where `anew` says that they have
     * changed: S, and the entry of the tree that each column was matched with (NULL: none) */
    const int64_t *ptr; /* of A by rows */
    const int32_t *ind;
    const int64_t *target; /* the entry of the tree; < 0: none */
    const double *scale;
    const int64_t *matched;
    bool anew;
    int largest_exponent;
    double least, most; /* a matched entry outside is stale */
} sd_run_values;

/* A front as it came out. */
typedef struct sd_run_front {
    int32_t rows, columns, delays, eliminated;
    int64_t at; /* of its first pivot among all that are fetched */
} sd_run_front;

/* All fronts, their variables and D (2 numbers each, as doubles): arrays of fronts, and of as many columns as
 * were eliminated, n. */
typedef struct sd_run_pivots {
    sd_run_front *front;
    int32_t *variable;
    double *d;
} sd_run_pivots;

typedef struct sd_run_job {
    const double *values;       /* by entry of the tree, on the host; NULL: */
    const sd_run_values *there; /* on the device */
    const sd_pivoting *pivoting;
    double most_flops;
    sd_presolve presolve;
    bool profile; /* the times of its parts are measured too, and tiles counted */
    /* To be filled along with the result, if that can be done. NULL: nobody needs them yet. */
    const sd_run_pivots *pivots;
    /* Called once while the device works. NULL: nothing is to be done. */
    void (*meanwhile)(void *what);
    void *what;
    /* Called now and then while the host waits, with the part of the operations that is done: true stops the
     * device. Not in the first milliseconds. NULL: the host just waits. */
    bool (*report)(void *whom, double part);
    void *whom;
} sd_run_job;

/*
 * How the caller's vectors lie among those of the tree: entry i of `count` goes in as row in + i and comes
 * out as row out + i, at their positions and times their scale. What comes out is divided by 2^exponent. A
 * column whose scaled entries are far from 1 goes in without its power of two, and gets it back. Rows that
 * nothing goes into are 0.
 */
typedef struct sd_solve_frame {
    int32_t count, in, out;
    const int32_t *position;
    const double *scale;
    int exponent;
} sd_solve_frame;

/* The power of two that a column goes in without, whose largest scaled entry is this: sizes up to 2^40 are
 * left as they are. */
enum { SD_FAR_EXPONENT = 40 };

/* Parts of a solve. */
enum { SD_SOLVE_FORWARD = 1, SD_SOLVE_DIAGONAL = 2, SD_SOLVE_BACKWARD = 4, SD_SOLVE_WHOLE = 7 };

/* What a run takes, as predicted from the plan. */
typedef struct sd_run_bytes {
    int64_t device; /* of the device's memory; 0: the limit is below the least */
    int64_t later;  /* what values on the device, and solves with few right-hand sides, take in addition */
    int64_t host;   /* of the host's, for panels that do not stay on the device */
    int64_t least;  /* of the device's, for later too, where all panels leave it, */
    int64_t whole;  /* and where all stay */

    /* of the device's: */
    int64_t plan, lists; /* the plan; lists of what is handed up, and of the tasks of solves */
    int64_t values;      /* those of the tree, and the state of each front */
    int64_t kept;        /* panels that stay and, at the other end, contribution blocks and what is at work */
    int64_t panels;      /* all of them, without delays */
    int64_t arena;       /* the most of kept that is no panel, in any level */
    int64_t work;        /* the most of that for fronts at work */
    int64_t delays;      /* of kept: room for delays, at least */
    int64_t region;      /* where panels are that leave the device */
    /* beside these: */
    int64_t source; /* where values on the device come from */
    int64_t solve;  /* what a solve with one right-hand side works in */
} sd_run_bytes;

typedef struct sd_front_runner {
    /* `slack` is the part of the panels that is kept free for delays, `limit` the bytes that may be in use on
     * the device, for solves with few right-hand sides too (0: as many as are free now, less a reserve).
     * Panels for which there is no room go to the host's memory while others are factored; no number depends
     * on that. To be freed whether this fails or not. */
    saddle_status (*make)(sd_engine *e, const sd_tree *t, const sd_schedule *s, sd_precision precision,
                          double slack, int64_t limit, sd_front_run **run);
    void (*free)(sd_engine *e, sd_front_run *run);
    /* Memory of a run on this tree, without more delays than the slack is for; limit 0: none. On the engine's
     * device, or without an engine on one with so many multiprocessors. */
    saddle_status (*bytes)(sd_context *c, sd_engine *e, int processors, const sd_tree *t,
                           const sd_schedule *s, sd_precision precision, double slack, int64_t limit,
                           sd_run_bytes *bytes);

    saddle_status (*factor)(sd_engine *e, sd_front_run *run, const sd_run_job *job, sd_run_result *result);
    /* max |l|, NaN where there is one. */
    saddle_status (*largest)(sd_engine *e, sd_front_run *run, double *largest);

    /* X = (the parts of) (L D L')^-1 X, k columns of n doubles by position on the host. */
    saddle_status (*solve)(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x,
                           int64_t ldx);

    /* What stands between a caller's vectors and those of the fronts: copied to the device, once a
     * factorization; without a position that and the scale are those of the time before. */
    saddle_status (*frame)(sd_engine *e, sd_front_run *run, const sd_solve_frame *frame);
    /* Z = A^-1 R in that frame; where it is turned, in and out are exchanged. R and Z are k columns in the
     * device's memory, of which Z may be R. Nothing is waited for. */
    saddle_status (*apply)(sd_engine *e, const sd_front_run *run, bool turned, int64_t k, const double *r,
                           int64_t ldr, double *z, int64_t ldz);

    /* Fills the arrays; one wait. */
    saddle_status (*fetch)(sd_engine *e, const sd_front_run *run, const sd_run_pivots *to);
    /* Pivot k of front f gets another D; columns of L are cleared or kept along v (NULL: all of column k). */
    saddle_status (*put)(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, double d, double beside);
    saddle_status (*clear)(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, const double *v);
    /* The eliminated columns of front f, *ld numbers apart, in the precision of the run, in memory of the
     * host for SD_PANEL_NUMBERS of them; what is above the diagonal means nothing. And the variables of all
     * its columns, delayed ones too. One wait. */
    saddle_status (*columns)(sd_engine *e, const sd_front_run *run, int32_t f, void *to, int64_t *ld,
                             int32_t *variable);
} sd_front_runner;

/* Numbers of so many columns of a panel with so many rows, however far a device has them apart. */
#define SD_PANEL_NUMBERS(rows, columns) (((int64_t)(rows) + 64) * (columns))
