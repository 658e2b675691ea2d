/*
 * Text to be read line by line: from a file, standard input or memory, plain or gzipped (known by
 * its first bytes). One buffer of fixed size is all it holds of it. It counts lines, so that every
 * complaint about a file begins with "FILE:LINE: ", and reports progress once a buffer.
 */
#pragma once

#include "core/context.h"

#include <string.h>

/* Characters from begin to before end. */
typedef struct sd_span {
    const char *begin, *end;
} sd_span;

enum { SD_TEXT_NAME = 256, SD_QUOTE = 48 };

typedef struct sd_text {
    sd_context *context;
    char name[SD_TEXT_NAME]; /* as messages say it; the end of it where the path is longer */
    int64_t line;            /* number of the last line handed out, from 1 */
    /* the source: a file, or memory where file is -1 */
    int file;
    bool close_file;
    bool waits; /* input may keep us waiting: a pipe, a terminal */
    const char *memory;
    size_t memory_left;
    int64_t bytes_read, bytes_total; /* of the source, still compressed; total 0 where unknown */
    struct sd_gunzip *gunzip;        /* NULL for plain text */
    char *buffer, *at, *end;         /* at..end are not handed out yet */
    bool ended;                      /* nothing comes after end */
} sd_text;

/* "-" is standard input. On failure nothing is left open; the text must not be closed then. */
saddle_status sd_text_open(sd_text *t, sd_context *c, const char *path);
saddle_status sd_text_open_memory(sd_text *t, sd_context *c, const char *name, const void *bytes,
                                  size_t length);
void sd_text_close(sd_text *t);

/* The slow part of sd_text_line: refills the buffer. */
saddle_status sd_text_refill_line(sd_text *t, sd_span *line);

/* The next line, without its end, valid until the next call; line->begin is NULL after the last. */
static inline saddle_status sd_text_line(sd_text *t, sd_span *line)
{
    const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
    if (!stop) return sd_text_refill_line(t, line);
    line->begin = t->at;
    line->end = stop;
    t->at += stop - t->at + 1;
    t->line++;
    return SADDLE_OK;
}

/* Fails with "FILE:LINE: " before the message ("FILE: " before the first line). */
saddle_status sd_text_fail(sd_text *t, saddle_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define sd_malformed(t, ...) sd_text_fail(t, SADDLE_FILE_FORMAT, __VA_ARGS__)

static inline bool sd_is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f' || ch == '\v';
}

static inline const char *sd_skip_blanks(const char *p, const char *end)
{
    while (p < end && sd_is_blank(*p)) p++;
    return p;
}

/* Without the blanks at both ends. */
sd_span sd_trim(sd_span span);

/* The next word of a line, which is cut off from it; empty at its end. */
sd_span sd_next_word(sd_span *line);

/* Whether the span is this word, given in lower case, in any case. */
bool sd_span_is(sd_span span, const char *word);

/* The span as messages may print it: shortened, with ? for what cannot be printed. */
const char *sd_quote(sd_span span, char quoted[SD_QUOTE]);
