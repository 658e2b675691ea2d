/* What the files of incomplete factorizations share among themselves: see incomplete.h. */
#pragma once

#include "factor/incomplete.h"

/* B + shift S, which differs from B on its diagonal. */
typedef struct sd_shifted {
    const sd_csr *B;
    const double *diagonal; /* with the shift, 0 where B has none and there is no shift */
    const double *largest;  /* S without signs: the largest magnitude of each row, 1 where all are 0 */
} sd_shifted;

/* Pivots below this part of the largest entry of their row are rounding errors (L L'), or make entries that
 * no preconditioner can bear (L U). */
#define SD_PIVOT_ROUNDING 1e-15
#define SD_PIVOT_SMALL 1e-10

/*
 * Rows of a factor, or groups of consecutive ones, each after those that it has entries of. `body` makes
 * units unit[from .. to), or from .. to - 1 where unit is NULL, with the work space of `thread`; false: it
 * broke down. The order in which units are made, and by whom, does not show in what is made.
 */
typedef bool sd_units_body(void *what, int thread, const int32_t *unit, int32_t from, int32_t to);

typedef struct sd_units {
    int32_t count;
    int threads;
    double work;    /* of one, about, in multiplications */
    int32_t levels; /* with more than one thread: units by levels */
    int32_t *level, *unit;
} sd_units;

/* `needs` has a row for each unit, of the units that it needs. */
saddle_status sd_units_make(sd_context *c, const sd_pattern *needs, double work, int threads, sd_units *u);
void sd_units_free(sd_context *c, sd_units *u);
saddle_status sd_units_run(sd_context *c, const sd_units *u, sd_units_body *body, void *what, bool *broken);

/*
 * One try: fills in the numbers of m on its pattern and adds to m->flops. broken: a pivot or a number is not
 * as it has to be, and m has no factors.
 */
typedef saddle_status sd_incomplete_try(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule,
                                        sd_incomplete *m, bool *broken);
sd_incomplete_try sd_try_ic, sd_try_ilu;
