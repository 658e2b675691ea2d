/*
 * Options of the program: one way of describing them, for the library's and for its own.
 *
 * The library's come from saddle_option_at, those of a command from its own table of the same form.
 * From both together come the parsing, the help, the manual page and the shell completion.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>
#include <stdio.h>

struct command;

/* The form of saddle_option, with two more types: 't' a text, 'f' a flag that takes no value. */
typedef struct option {
    saddle_option is;
    char letter;         /* -q for --quiet; 0 for none */
    const char *stands;  /* what stands for the value in the help: FILE, N, FILE|ones; NULL: by type */
    const char *initial; /* default of a text; NULL for none */
} option;

/* Rows of a command's table, which ends with OPTION_END. Names are written with '-'. A part "FILE"
 * of `stands` is completed with file names, every other part that is not all capitals as a word. */
#define OPTION_ROW(name, words, help, type, value, least, most, letter, stands, initial)                     \
    {                                                                                                        \
        {name, words, help, type, value, least, most}, letter, stands, initial                               \
    }
#define OPTION_TEXT(name, stands, initial, help)                                                             \
    OPTION_ROW(name, NULL, help, 't', 0, 0, 0, 0, stands, initial)
#define OPTION_FLAG(name, letter, help) OPTION_ROW(name, NULL, help, 'f', 0, 0, 0, letter, NULL, NULL)
#define OPTION_CHOICE(name, words, help) OPTION_ROW(name, words, help, 'c', 0, 0, 0, 0, NULL, NULL)
#define OPTION_COUNT(name, stands, value, least, most, help)                                                 \
    OPTION_ROW(name, NULL, help, 'n', (double)(value), (double)(least), (double)(most), 0, stands, NULL)
#define OPTION_REAL(name, stands, value, least, most, help)                                                  \
    OPTION_ROW(name, NULL, help, 'r', value, least, most, 0, stands, NULL)
#define OPTION_END OPTION_ROW(NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL)

enum { OPTION_MOST = 64 }; /* options of one command */

/* What the command line said. Texts point into argv. */
typedef struct arguments {
    const struct command *command;
    saddle_options library; /* all the library's options, those not given with their default */
    int operand_count;
    char *const *operands;
    int option_count;
    option options[OPTION_MOST];    /* all that the command takes: its own, the library's, the common ones */
    const char *given[OPTION_MOST]; /* the text given for each, NULL where it was not */
    char names[OPTION_MOST][32];    /* the library's names, with '-' */
    char stands[OPTION_MOST][64];   /* of the library's options that may be a file (given.h) */
} arguments;

/* Fills in a->options for this command, nothing given. Used for help, manual and completion too. */
void arguments_begin(arguments *a, const struct command *command);

/* Parses argv[0 .. argc), which follow the command's name, and moves the operands to the front of
 * argv. Returns 0, or the exit status 2 with the message written to standard error. */
int arguments_parse(arguments *a, int argc, char **argv);

/* Whether the command takes this option of the library. */
bool argument_taken(const arguments *a, const saddle_option *row);

/* The value of one of the command's own options, given or default: a text is NULL where it was not
 * given and has no default. The name must be in the table. */
bool argument_given(const arguments *a, const char *name); /* flags too */
const char *argument_text(const arguments *a, const char *name);
int64_t argument_count(const arguments *a, const char *name);
double argument_real(const arguments *a, const char *name);
int argument_choice(const arguments *a, const char *name); /* the word's number */

/* Shown in the help: "N", "auto|cg|...", "FILE|-"; "" for a flag. */
const char *option_stands(const option *o);

/* Whether it is a choice "off|on", which without a value is on: --check. */
bool option_is_switch(const option *o);

/* Writes the default as text, "" where there is none to tell. */
void option_default(const option *o, char *text, size_t text_size);

/* The word of words[0 .. count) that is nearest to `text`, or NULL where none is near. */
const char *nearest_word(const char *text, const char *const *words, int count);
