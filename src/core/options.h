/* Options as the library takes them from a caller: checked against the table in saddle.h. */
#pragma once

#include "core/context.h"

/* Copies the caller's options (NULL: the defaults) and checks every one against its range. */
saddle_status sd_options_take(sd_context *c, const saddle_options *from, saddle_options *to);

/* Whether "|a|b|" has the word. */
bool sd_has_word(const char *words, const char *word);

/* Whether options other than those that are named, "|a|b|", differ; and copies those that are. */
bool sd_options_differ(const saddle_options *a, const saddle_options *b, const char *but);
void sd_options_copy(const saddle_options *from, const char *names, saddle_options *to);

/* How often a pattern will be factored, as far as the caller has said. */
static inline int64_t sd_expected_factorizations(const saddle_options *options)
{
    return options->factorizations > 0 ? options->factorizations : 10;
}

/* Names are matched with '-' and '_' alike: the command line writes max-memory. */
bool sd_same_name(const char *ours, const char *name);

/* The words "a|b|c" of a choice, NULL where there is no such option. */
const char *sd_option_words(const char *name);

/*
 * Fields of options and of info, by the type in their table: 'c' is one of the words "a|b|c", 'r' a real, and
 * any other a count. As a number; and as text, of which the length that all of it has is returned.
 */
double sd_field_number(const void *field, char type);
int sd_field_text(const void *field, char type, const char *words, char *text, size_t size);
