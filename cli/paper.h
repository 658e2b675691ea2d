/*
 * --paper: the settings of Thuerck, "Stretching Jacobi: a two-stage pivoting approach for block-based
 * factorization", section VII, which are not the defaults of ldlt and jacobi but what these are compared
 * with: MC64 scaling, reverse Cuthill-McKee, a grid of 32 rows without fill or pairs, small pivots up to 0.1
 * (which the sweeps relax by 0.95), 8 block sweeps with no way out, and four times GMRES(25).
 */
#pragma once

#include "cli/options.h"

/* Sets them: of the exact schedule (ldlt), or of the sweeps (jacobi). message may be NULL. */
saddle_status paper_set(saddle_options *o, bool exact, char *message);

/* Where the flag is given, sets those that the command line does not name, as if it did. Returns 0, or 2 with
 * the message on standard error. */
int paper_settle(arguments *a);
