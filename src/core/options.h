/* Options as the library takes them from a caller: checked against the table in saddle.h. */
#ifndef SD_OPTIONS_H
#define SD_OPTIONS_H

#include "core/context.h"

/* Copies the caller's options (NULL: the defaults) and checks every one against its range. */
saddle_status sd_options_take(sd_context *c, const saddle_options *from, saddle_options *to);

/* Names are matched with '-' and '_' alike: the command line writes max-memory. */
bool sd_same_name(const char *ours, const char *name);

/* The words "a|b|c" of a choice, NULL where there is no such option. */
const char *sd_option_words(const char *name);

/* Finds word number k in "a|b|c": its start, and its length through *length; NULL beyond the last. */
const char *sd_word_at(const char *words, int k, size_t *length);

#endif
