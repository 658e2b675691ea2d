/* Manual page and shell completion of `saddle`, from the tables of commands and options. */
#pragma once

#include <stdio.h>

void print_man_page(FILE *out);
void print_bash_completion(FILE *out);
void print_zsh_completion(FILE *out);

/* Environment variables the program looks at: row k (name and help), or NULL beyond the last. */
typedef struct environment_row {
    const char *name, *help;
} environment_row;
const environment_row *environment_at(int k);
