/*
 * An iteration that runs against another solver.
 *
 * Whether an iteration will converge soon is not known before it has run. So it runs for a part of what the
 * other solver would cost at least, and from then on for as long as what it needs, by its rate so far, is
 * less than what the other one needs. All of it is counted in iterations, never in
 * seconds: the same system ends in the same way everywhere.
 */
#pragma once

#include "core/context.h"

enum { SD_RACE_MARKS = 160 }; /* up to 2^27 iterations; it is judged no more after that */

typedef struct sd_race sd_race;
struct sd_race {
    double first; /* iterations before it is judged */
    double most;  /* that the other solver is worth */
    double limit; /* that must not be predicted in any case: there will not be so many */
    /* Finds out more about the other solver, once, before the first judgement: NULL, or nothing more can be
     * known. */
    void (*look)(sd_race *race);
    void *self; /* of `look` */

    /* its own */
    int marks;
    struct {
        int64_t iteration;
        double digits; /* -log10 of the residual's norm, in the norm of the method */
    } mark[SD_RACE_MARKS];
};

/* Whether the iteration goes on, after `iterations`, the residual at `norm` in the norm of the method, which
 * has to become `missing` times as small (at most 1: it is there). */
bool sd_race_goes_on(sd_race *race, int64_t iterations, double norm, double missing);
