/* Help on the terminal, and the texts of commands and options that it shares with the manual page. */
#pragma once

#include "cli/command.h"

void print_program_help(FILE *out);
void print_command_help(FILE *out, const command *c);

/* "solve A.mtx" */
void command_usage(const command *c, char *text, size_t text_size);

/* "--tol X" or "-q, --quiet"; and what it is, with its default. */
void option_head(const option *o, char *text, size_t text_size);
void option_tail(const option *o, char *text, size_t text_size);

/* The next part of "a|b|c" at *words, copied into part and stepped over; false at the end. */
bool next_word(const char **words, char *part, size_t part_size);

/* The number of a word in "a|b|c", -1 where it is none of them. words may be NULL. */
int word_number(const char *words, const char *word);
