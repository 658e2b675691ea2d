/*
 * Krylov methods, each written once over the backend's vectors.
 *
 * A method improves x, beginning at x = 0, for the system in `s`, and tells the monitor of every
 * iteration. It does not judge itself: the monitor looks at the true residual, decides when the
 * accuracy is reached, counts, keeps the best x, and says when to restart or to give up. What a
 * method knows on its own (a breakdown, a matrix or preconditioner that it cannot work with) it names
 * with sd_monitor_give_up.
 */
#pragma once

#include "solve/preconditioner.h"
#include "solve/race.h"

typedef struct sd_system {
    const sd_sparse *A;
    double norm_a; /* infinity norm */
    const sd_preconditioner *M;
    const sd_vector *b;
    int64_t restart;
} sd_system;

typedef enum sd_action {
    SD_GO_ON,   /* iterate further */
    SD_LOOK,    /* form x and call sd_monitor_look */
    SD_RESTART, /* the recurrence has drifted: begin again from the true residual in monitor->r */
    SD_STOP     /* done, or given up: return with the current x */
} sd_action;

typedef struct sd_monitor {
    /* what is requested */
    sd_engine *e;
    const sd_system *s;
    double tol;
    int stop;
    int64_t maxiter;
    sd_race *race; /* NULL: there is none to be won */
    /* where the history goes */
    double *history;
    int64_t history_room, history_length;

    /* what has happened */
    int64_t iterations;
    bool converged;
    saddle_reason reason;
    double norm_b, norm_b_inf;
    sd_vector r;      /* the true residual at the last look */
    double relative;  /* its 2-norm over that of b */
    sd_vector best_x; /* the best x looked at, and its relative residual */
    double best;
    /* its own */
    sd_vector abs_b, weight;
    double estimate, ratio, first_ratio; /* the method's residual norm; true norm over estimate */
    double first_estimate;               /* since the last start */
    double least_estimate;               /* for stagnation */
    int64_t least_at, next_look, looked_at;
    double restarted_from; /* the residual that the last restart with progress had */
    int in_vain;           /* restarts since */
    int patience;          /* how many of them stagnation may ask for */
} sd_monitor;

/* Allocates what the monitor needs; b must be in the backend's memory already, with norm not 0. */
saddle_status sd_monitor_begin(sd_monitor *m, sd_engine *e, const sd_system *s, double tol, int stop,
                               int64_t maxiter);
void sd_monitor_end(sd_monitor *m);

/* One iteration has been made; `estimate` is the method's own residual norm, in any norm that is
 * within a slowly changing factor of the 2-norm. */
sd_action sd_monitor_step(sd_monitor *m, double estimate);

/* Takes a look at x: the true residual, into m->r. */
sd_action sd_monitor_look(sd_monitor *m, const sd_vector *x);

/* The method has broken down. SD_RESTART where beginning again from the true residual at x may
 * help (m->r has it), SD_STOP where it did not the last time. */
sd_action sd_monitor_breakdown(sd_monitor *m, const sd_vector *x, saddle_reason reason);

/* The method cannot go on at all. */
void sd_monitor_give_up(sd_monitor *m, saddle_reason reason);

/* After the method: a last look at x, where it was not looked at, so that the best is known. */
void sd_monitor_conclude(sd_monitor *m, const sd_vector *x);

/* x holds the start (normally 0) and receives the result. */
void sd_cg(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_fcg(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_minres(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_sqmr(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_gmres(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_fgmres(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_bicgstab(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
void sd_refine(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);

/* What a product of vectors must be above, relative to their norms, to be more than rounding. */
static inline double sd_rounding(sd_precision precision)
{
    return precision == SD_DOUBLE ? 0x1p-52 : 0x1p-23;
}

/* The vectors of a method: allocated together, freed together. */
saddle_status sd_vectors_new(sd_engine *e, const sd_vector *like, int count, sd_vector *vectors);
void sd_vectors_free(sd_engine *e, int count, sd_vector *vectors);
