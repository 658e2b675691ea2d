/* The options of a command that name output files, checked before any work is done. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/command.h"

/* Whether an option of the command is given as "-". */
bool is_standard(const arguments *a, const char *name);

/* Refuses outputs that would overwrite the matrix (the first operand) or each other: 0, or 2 with the
 * message on standard error. */
int outputs_check(const arguments *a, const char *const *names, int count);

/* The same for all operands but the first, of commands that take many matrices. */
int outputs_spare_operands(const arguments *a, const char *const *names, int count);

/* Whether two paths are one file that exists. */
bool same_file(const char *one, const char *two);

#endif
