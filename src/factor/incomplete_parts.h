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
 * Units, which are rows of L or groups of consecutive ones, each made after those that it has entries of.
 * `body` makes units from .. to - 1, in this order, with the work space of `thread`; false: it broke down. By
 * whom they are made, and what is made at the same time, does not show in them.
 */
typedef bool sd_units_body(void *what, int thread, int32_t from, int32_t to);

typedef struct sd_units {
    int32_t count;
    const int32_t *row; /* the first row of each, and the end; NULL: units are rows */
    int threads;

    /* with more than one thread */
    int32_t runs, *first; /* run s has units first[s] .. first[s+1] - 1 */
    double work;          /* multiplications of one, about */
    int32_t levels, *level, *run;
} sd_units;

/* L is strictly lower; its `row`s must last. work: all multiplications, about. */
saddle_status sd_units_make(sd_context *c, const sd_pattern *L, const int32_t *row, int32_t count,
                            double work, int threads, sd_units *u);
void sd_units_free(sd_context *c, sd_units *u);
saddle_status sd_units_run(sd_context *c, const sd_units *u, sd_units_body *body, void *what, bool *broken);

/* Rows of entries as they come: arrays that grow. */
typedef struct sd_growing {
    int64_t *ptr; /* n + 1 */
    int32_t *ind;
    double *val;
    int64_t count, room;
} sd_growing;

saddle_status sd_growing_make(sd_context *c, int32_t n, int64_t room, sd_growing *g);
/* Room for so many more; SADDLE_NOT_SUPPORTED where they would be too many for a pattern. */
saddle_status sd_growing_reserve(sd_context *c, sd_growing *g, int64_t more);
void sd_growing_free(sd_context *c, sd_growing *g);

/* Entries of one row that are yet to be chosen from: a list of indices, and numbers by index. */
typedef struct sd_candidates {
    int32_t *list;
    int32_t count;
    double *w;     /* n; of those that are listed */
    int32_t *seen; /* n: the row that listed an index last */
    int32_t *room_list;
    double *room;
} sd_candidates;

saddle_status sd_candidates_make(sd_context *c, int32_t n, sd_candidates *k);
void sd_candidates_free(sd_context *c, sd_candidates *k);

/*
 * Sorts list[0 .. *count) and keeps those with |w| >= least, and of these the `most` largest, of equal ones
 * the first; false where a number is not finite.
 */
bool sd_candidates_choose(const sd_candidates *k, int32_t *list, int32_t *count, double least, int64_t most);

/* So many entries a part of a row may keep, if it has `part` of the `all` entries of B off the diagonal. */
int64_t sd_most_entries(const sd_incomplete_rule *rule, int64_t part, int64_t all);

/* The 2-norm of a row of B. */
double sd_row_norm(const sd_csr *B, int32_t i);

/*
 * One try. IC and ILU fill in the numbers of m on its pattern and add to m->flops; ICT and ILUT make the
 * pattern and its arrays as well, of an m without any. broken: a pivot or a number is not as it has to be,
 * and m has no factors.
 */
typedef saddle_status sd_incomplete_try(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule,
                                        sd_incomplete *m, bool *broken);
sd_incomplete_try sd_try_ic, sd_try_ilu, sd_try_ict, sd_try_ilut;

/* Tries without a shift, then with one that doubles, m->shift, until it is not broken; m has its size and
 * what `attempt` needs, and gets shift, restarts and flops. */
typedef saddle_status sd_shift_try(void *self, sd_incomplete *m, bool *broken);
saddle_status sd_try_shifts(sd_context *c, sd_shift_try *attempt, void *self, sd_incomplete *m);
saddle_status sd_try_with_shifts(sd_context *c, const sd_csr *B, const sd_incomplete_rule *rule,
                                 sd_incomplete_try *attempt, sd_incomplete *m);
