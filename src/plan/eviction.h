/*
 * Which panels of a factorization leave the device while it runs, so that it keeps to a given memory.
 *
 * Panels of a level are read again by solves, and by a parent that gets delayed columns, no more. So the
 * first levels of a schedule, as few as suffice, are factored in two regions of memory in turn: while one is
 * being filled, the other is copied to the host. A level that is larger than a region is cut into *steps*,
 * runs of its clusters and large fronts; levels that stay are one step each, and share one heap. Rows of the
 * large fronts of a step can be limited too: a device needs memory for each while it factors them.
 *
 * The heap of those that stay has the memory of the contribution blocks at its end (layout.h): in each step
 * it may grow to where these are, in that step or in a later one, and no further.
 *
 * These are pure functions of the plan and of the bytes that there are. They are compiled into the module of
 * a device too, which makes the steps when it knows its memory, and again when delays need more of it.
 */
#pragma once

#include "plan/schedule.h"

/* What panels are: bytes of a number, and the part that is kept free for delays. */
typedef struct sd_panels {
    const sd_tree *tree;
    const sd_schedule *schedule;
    int number_bytes;
    double slack;
    int64_t most_rows; /* of all large fronts of a step that has more than one of them; 0: any number */
    const int64_t
        *extent; /* of each level: bytes at the end of the memory that panels cannot have; NULL: none */
} sd_panels;

/* Bytes of a panel of so many rows and columns: columns begin at even numbers; then D, then the variables. */
static inline int64_t sd_panel_size(int64_t rows, int64_t columns, int number_bytes)
{
    const int64_t ld = (rows + 1) / 2 * 2;
    return (number_bytes * columns * (ld + 2) + 4 * columns + 15) / 16 * 16;
}

/* Rows of a large front that count, one more than it has. */
static inline int64_t sd_step_rows(const sd_tree *t, int32_t f)
{
    return sd_front_columns(t, f) + (int64_t)sd_front_below(t, f) + 1;
}

/* Those of front f as planned; and bytes with room for delays, which is a whole number of units of 256. */
int64_t sd_panel_planned(const sd_panels *p, int32_t f);
int64_t sd_with_slack(int64_t bytes, double slack);
/* Those of a level, and of what cannot be cut: its largest cluster or large front. */
int64_t sd_level_planned(const sd_panels *p, int32_t level, int64_t *largest);

typedef struct sd_eviction {
    bool fits;              /* whether the bytes that there are suffice; only if not, it is known */
    int64_t least;          /* with how many, extents among them, one can factor at all */
    int64_t whole;          /* with how many all panels stay */
    int32_t levels;         /* that leave the device: the first ones; 0: none */
    int32_t steps, evicted; /* all of them, and the first ones, of those levels */
    int64_t planned;        /* bytes of all panels */
    int64_t kept;   /* bytes for those that stay, with room for delays, ample if there is any, and extents */
    int64_t region; /* of one of the two regions */
    int64_t host;   /* of the host's memory */
    int64_t rows;   /* of the large fronts of the step with most of them */
} sd_eviction;

/* How `room` bytes suffice for all panels. */
sd_eviction sd_eviction_choose(const sd_panels *p, int64_t room);

typedef struct sd_panel_step {
    int32_t level;
    int32_t cluster_from, cluster_tiny, cluster_to; /* as in a schedule: those that are tiny come last */
    int32_t large_from, large_to;
    int64_t planned;  /* bytes of its panels */
    int64_t capacity; /* with room for delays; 0: it stays, and */
    int64_t ceiling;  /* so far the heap of those that stay may have grown when it ends */
    int64_t host;     /* where it begins in the host's memory */
} sd_panel_step;

/* All steps in their order. */
void sd_eviction_steps(const sd_panels *p, const sd_eviction *e, sd_panel_step *step);
