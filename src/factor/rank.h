/* Small pivots: found, made zero, replaced. See rank.c, and method/direct/small_pivots.c for the caller. */
#pragma once

#include "factor/multifrontal.h"

/* A pivot that may be rounding: where it is, and its size. */
typedef struct sd_suspect {
    int32_t run, column; /* the first of the two, in a 2x2 pivot */
    int32_t position[2]; /* its variables; the second -1 in a 1x1 pivot */
    double vector[2];    /* eigenvector */
    double eigenvalue;
    bool second; /* the larger one of a 2x2 pivot */
} sd_suspect;

/* Those whose |eigenvalue| is at most `limit`, the smallest first, at most `most` of them (array of the
 * caller's). Zero pivots are not among them. Returns how many were found. */
int64_t sd_find_suspects(const sd_factors *f, double limit, sd_suspect *suspects, int64_t most);

/* Whether there are any up to SD_SUSPECT in a run; and whether there may be any in factors that are as they
 * were made. */
bool sd_has_suspects(const sd_factors *f, const sd_run *run);
bool sd_may_have_suspects(const sd_factors *f);

/* The zero pivots, at most `most` of them; returns how many there are. */
int64_t sd_find_zeros(const sd_factors *f, sd_suspect *zeros, int64_t most);

/* Makes a suspect a zero pivot: its D^-1 is 0 from then on (that of its eigenvalue, in a 2x2; of the smaller
 * one first). */
void sd_make_zero(sd_factors *f, const sd_suspect *suspect);

/* Whether a 2x2 pivot has lost its smaller eigenvalue. */
bool sd_is_of_rank_one(const sd_factors *f, const sd_suspect *suspect);

/* A 1x1 pivot gets another value. */
void sd_replace_pivot(sd_factors *f, const sd_suspect *suspect, double value);

/* x, by position, keeps only its part in the null space of D, or only the rest. False where there is nothing
 * in that space. */
bool sd_split_null_space(const sd_factors *f, bool keep, double *x);

/* Signs of the eigenvalues of D, as solves take them: how many are negative, zero, positive. Of all runs, and
 * of one, added to what is there. */
void sd_count_signs(const sd_factors *f, int64_t count[3]);
void sd_add_signs(const sd_factors *f, const sd_run *run, int64_t count[3]);
