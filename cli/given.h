/*
 * Options that are a word of the library or else the user's own file: --scaling mc64, --scaling s.mtx.
 *
 * In the library's table such a choice has the word "user", for arrays that the caller gives. The program
 * shows FILE in its place; a file that is called like a word is named with its folder: ./mc64.
 */
#pragma once

#include "cli/command.h"
#include "cli/memory.h"

/* Whether a row of the library's table is such a choice. */
bool given_takes_file(const saddle_option *row);

/* The row's words for the help, "user" shown as FILE. */
void given_stands(const saddle_option *row, char *text, size_t text_size);

/* Takes the text of such an option into a->library: its word, or "user" where it is a file that exists
 * (for --scaling also two, ROWS,COLS). Returns 0, or 2 with the message on standard error. */
int given_take(arguments *a, const saddle_option *row, const char *text);

/* Refuses standard input where it is asked for twice, by the matrix or by the options of these names, the
 * last of which is NULL. */
int given_check(const arguments *a, const char *matrix, const char *const *names);

/* What the files hold, for saddle_prepare, saddle_set_given and saddle_set_signs; freed with given_free. */
typedef struct given {
    saddle_given arrays;
    double *row_scale, *col_scale;
    int32_t *permutation;
    int8_t *signs;
} given;

/* Reads the files of --scaling and --order for a matrix of n rows. A length that is not n, and a
 * permutation that is not of whole numbers from 1 to n, is refused in message (of SADDLE_MESSAGE_SIZE). */
saddle_status given_read(const arguments *a, const saddle_matrix *A, memory *m, const saddle_hooks *hooks,
                         given *g, char *message);
/* Adds the signs of a file for n rows: numbers 1, -1 and 0, or a refusal in message. */
saddle_status given_read_signs(const char *path, int64_t n, memory *m, const saddle_hooks *hooks, given *g,
                               char *message);
void given_free(given *g, memory *m, const saddle_hooks *hooks);

/* The file at fault where saddle_prepare refused the arrays with this status; NULL where it was not they. */
const char *given_at_fault(const arguments *a, saddle_status status);
