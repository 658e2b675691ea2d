/*
 * A small JSON writer: one value after the other goes to a stream, nothing is kept. Keys of the
 * outermost object stand on lines of their own. In an array the key is NULL.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "cli/outfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 8 };

typedef struct json {
    outfile file;
    FILE *out;
    int depth;
    char closer[JSON_DEPTH]; /* of each open object or array */
    bool empty[JSON_DEPTH];
} json;

/* Opens the file and the outermost object, whose first key names the program's version; json_end
 * closes both. Both return 0, or the exit status with the message on standard error. */
int json_begin(json *j, const char *path);
int json_end(json *j);

void json_object(json *j, const char *key);
void json_array(json *j, const char *key);
void json_close(json *j); /* the object or array opened last */

/* What is not known is null: a text that is NULL, a negative count, a number that is not finite, a
 * truth below 0. */
void json_text(json *j, const char *key, const char *text);
void json_count(json *j, const char *key, int64_t count);
void json_number(json *j, const char *key, double number);
void json_truth(json *j, const char *key, int truth);
/* The word of one of the library's choices, by the option's name; null where it is `auto`, which is not an
 * answer. */
void json_choice(json *j, const char *option, int choice);

/* Several of one kind, all of them null where they are not known: JSON_COUNTS(j, known, {key, count}, ...).
 */
typedef struct json_count_row {
    const char *key;
    int64_t count;
} json_count_row;
typedef struct json_number_row {
    const char *key;
    double number;
} json_number_row;
void json_counts(json *j, bool known, const json_count_row *rows, size_t count);
void json_numbers(json *j, bool known, const json_number_row *rows, size_t count);
#define JSON_ROWS(type, ...) (const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}) / sizeof(type)
#define JSON_COUNTS(j, known, ...) json_counts(j, known, JSON_ROWS(json_count_row, __VA_ARGS__))
#define JSON_NUMBERS(j, known, ...) json_numbers(j, known, JSON_ROWS(json_number_row, __VA_ARGS__))

#endif
