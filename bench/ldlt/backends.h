/* What `saddle bench ldlt --part backends` measures of each matrix, and its report. */
#ifndef BENCH_LDLT_BACKENDS_H
#define BENCH_LDLT_BACKENDS_H

#include "bench/ldlt/ldlt.h"

enum { BACKENDS = 3 };
extern const char *const backend_names[BACKENDS]; /* of --methods and --device */

/* Factors as their search on the host left them; the same values factored once more, on the pattern that was
 * found, by the backend. */
enum { MOMENT_FIRST, MOMENT_AGAIN, MOMENTS };
extern const char *const moment_names[MOMENTS];

typedef struct backends_row {
    ldlt_matrix matrix;
    ldlt_result results[BACKENDS][MOMENTS];
} backends_row;

typedef struct backends_report {
    const ldlt_bench *bench;
    bool wanted[BACKENDS];
    char left_out[BACKENDS][SADDLE_MESSAGE_SIZE]; /* why it was, although it was wanted; "" */
    int count;
    backends_row *rows;
} backends_report;

/* The run of one backend at one moment, held beside another. */
typedef struct backends_pair {
    int backend, moment, other, other_moment;
} backends_pair;
enum { PAIRS_MOST = MOMENTS * (BACKENDS - 1) + BACKENDS };

/* What is compared: every backend with the first, at each moment, and each with itself. */
int backends_pairs(const backends_report *t, backends_pair *pairs);
/* The iterations of one right-hand side: -1 where they are not known on both, otherwise whether the first are
 * as many as the other, but for 2 where those are fewer than 50, but for 10 % where they are not. */
int backends_agree(const backends_row *row, const backends_pair *pair, int side);

void print_backends_header(const backends_report *t);
void print_backends_row(const backends_report *t, const backends_row *row);
void print_backends_summary(const backends_report *t);
bench_json write_backends_json;

#endif
