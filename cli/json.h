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

#endif
