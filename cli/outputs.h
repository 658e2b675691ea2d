/* The options of a command that name output files, checked before any work is done. */
#pragma once

#include "cli/command.h"

/* Whether an option of the command is given as "-". */
bool is_standard(const arguments *a, const char *name);

/* Refuses outputs that would overwrite a matrix (an operand) or each other: 0, or 2 with the message on
 * standard error. */
int outputs_check(const arguments *a, const char *const *names, int count);
