/* Help, manual page and shell completion, all from the tables of commands and options. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "cli/command.h"

#include <stdio.h>

void print_program_help(FILE *out);
void print_command_help(FILE *out, const command *c);

void print_man_page(FILE *out);
void print_bash_completion(FILE *out);
void print_zsh_completion(FILE *out);

/* Environment variables the program looks at: row k (name and help), or NULL beyond the last. */
typedef struct environment_row {
    const char *name, *help;
} environment_row;
const environment_row *environment_at(int k);

/* The next part of "a|b|c" at *words, copied into part and stepped over; false at the end. */
bool next_word(const char **words, char *part, size_t part_size);

#endif
