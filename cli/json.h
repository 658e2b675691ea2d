/*
 * A small JSON writer: one value after the other goes to a stream, nothing is kept. Keys of the
 * outermost object stand on lines of their own. In an array the key is NULL.
 */
#pragma once

#include "cli/outfile.h"
#include "saddle/saddle.h"

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

/* A whole file: opens it and the outermost object, whose first key names the program's version, lets the
 * function write the rest and closes both. Returns 0, or the exit status with a message on standard error. */
typedef void json_writer(json *j, const void *what);
int json_write(const char *path, json_writer *write, const void *what);

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

/* Items of the library's info by their names, "key=name", or "name" where that is the key too, with a blank
 * between two. */
void json_info(json *j, bool known, const saddle_info *info, const char *names);

/* The last keys of a command's object: its exit status, and what went wrong. */
void json_ending(json *j, int exit, const char *message);

/* Several values at once, all of them null where they are not known; an object of them. */
typedef struct json_item {
    const char *key;
    char kind;
    const char *text;
    double number;
    int64_t count;
} json_item;
void json_put(json *j, bool known, const json_item *items, size_t count);
void json_put_object(json *j, const char *key, bool known, const json_item *items, size_t count);
#define J_TEXT(key, value)                                                                                   \
    (json_item)                                                                                              \
    {                                                                                                        \
        key, 't', value, 0, 0                                                                                \
    }
#define J_COUNT(key, value)                                                                                  \
    (json_item)                                                                                              \
    {                                                                                                        \
        key, 'c', NULL, 0, value                                                                             \
    }
#define J_NUMBER(key, value)                                                                                 \
    (json_item)                                                                                              \
    {                                                                                                        \
        key, 'n', NULL, value, 0                                                                             \
    }
#define J_TRUTH(key, value)                                                                                  \
    (json_item)                                                                                              \
    {                                                                                                        \
        key, 'b', NULL, 0, value                                                                             \
    }
#define JSON_ROWS(...)                                                                                       \
    (const json_item[]){__VA_ARGS__}, sizeof((const json_item[]){__VA_ARGS__}) / sizeof(json_item)
#define JSON_PUT(j, known, ...) json_put(j, known, JSON_ROWS(__VA_ARGS__))
#define JSON_OBJECT(j, key, known, ...) json_put_object(j, key, known, JSON_ROWS(__VA_ARGS__))

/* Numbers in an array. */
void json_numbers(json *j, const char *key, const double *numbers, int64_t count);
