/* Calls on many systems: what many.c and many_device.c share. */
#pragma once

#include "solver/solver.h"

#include <stdatomic.h>

/* A call at work. */
typedef struct sd_many_call {
    sd_context *c;    /* of the call */
    const char *call; /* its name, in messages */
    const char *stage;
    saddle_matrix A; /* with the values of system 0; NULL: nothing is factored */
    int64_t count, stride;
    const double *b; /* NULL: nothing is solved */
    double *x;
    int64_t ldb, ldx;
    char *results; /* NULL: the caller does not want them */
    size_t size;

    const int64_t *number; /* of each system, where these are some of `of`; NULL: all */
    int64_t of;
    bool plain; /* the matrices are in the library's own form */
    atomic_bool cancelled;
    int64_t first; /* that has failed, INT64_MAX: none; its status, and its message in the context */
    saddle_status status;
} sd_many_call;

/* ---- many.c ---- */

/* Members for systems of which none is kept, and what they run: all systems of a call, on the host. What is
 * opened for a call that only reads the solver is closed with it. */
saddle_status sd_many_open_members(sd_context *c, const saddle_solver *s, sd_many *many, int64_t systems,
                                   int threads, bool kept);
void sd_many_close_members(sd_context *c, sd_many *many);
saddle_status sd_many_run(sd_many_call *q, const sd_many *many, int threads);
int sd_many_threads(const saddle_solver *s, int64_t count);
void sd_many_note_failure(sd_many_call *q, int64_t k, saddle_status status, const char *message);
/* One result where the caller wants it. */
void sd_many_tell(const sd_many_call *q, int64_t k, const saddle_result *result);

/* ---- many_device.c ---- */

/* All systems of the call: those that the device can do at once there, the others on the host, where members
 * are; *done is false where the device can do none. */
saddle_status sd_many_run_values(sd_many_call *q, saddle_solver *s, bool kept, bool *done);
/* The same with factors that were kept there. */
saddle_status sd_many_run_kept(sd_many_call *q, const saddle_solver *s);
/* Runs a call on the host whose arrays may be on the device. */
saddle_status sd_many_run_here(sd_many_call *q, const saddle_solver *s, const sd_many *many, int threads);
void sd_many_free_device(saddle_solver *s);
/* Systems whose factors are kept, here or there; -1: none. */
int64_t sd_many_kept(const sd_many *many);
