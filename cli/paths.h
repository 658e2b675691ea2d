/* Names of files: what they end in, the matrix that they stand for, whether two are one, and whether the
 * options that name outputs fit together. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the name ends so, in letters of either case, and has more than that. */
bool path_ends(const char *path, const char *ending);

/* The file's name without folder and without .gz, .mtx, .rb. */
void matrix_name(const char *path, char *name, size_t name_size);

/* Whether two paths are one file that exists. */
bool same_file(const char *one, const char *two);

/* Whether a plot can be written so, .png or .svg: to be asked before a long run. Returns 0, or 2 with the
 * message on standard error. path may be NULL. */
int plot_check(const char *path);
