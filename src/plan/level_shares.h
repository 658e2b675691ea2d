/*
 * How threads share a solve with a triangle whose rows stand one level after the other: in steps, each of
 * which is a level, or several thin ones that one thread takes together. In every step a lane (what one
 * thread does) has rows next to each other, about where those of the step before were, so that most of what
 * they need is the lane's own. Those rows come first: while they are made, the others end the step before,
 * and nobody waits for long. Who makes a row does not change its bits.
 */
#pragma once

#include "plan/level_fill.h"

/* Ranks begin .. end) of a lane in a step. Rows early .. late) need of the step before only what the same
 * lane has made, and nothing of their own step; where a step is several levels, early = late. */
typedef struct sd_level_share {
    int32_t begin, early, late, end;
} sd_level_share;

typedef struct sd_level_shares {
    int32_t steps;
    int lanes;
    sd_level_share *share; /* of step k and lane t: share[k * lanes + t] */
} sd_level_shares;

/* Levels of fewer rows than `thin` are one thread's. level has levels + 1 ranks; rank r is row r of a lower
 * triangle, row n - 1 - r of an upper one. O(entries); nothing to free on failure. */
saddle_status sd_level_shares_make(sd_context *c, const sd_pattern *p, bool upper, int32_t levels,
                                   const int32_t *level, int32_t thin, int lanes, sd_level_shares *s);
void sd_level_shares_free(sd_context *c, sd_level_shares *s);
