/*
 * Fortran formats as they are in Rutherford-Boeing headers, (10I8), (1P,3D24.16), (4(1PE20.12)):
 * all that matters for reading is in which columns of a line the numbers are.
 */
#pragma once

#include "io/text.h"

enum { SD_FORMAT_FIELDS = 256, SD_FORMAT_COLUMNS = 4096 };

typedef struct sd_format {
    int count; /* numbers in a line */
    int16_t column[SD_FORMAT_FIELDS], width[SD_FORMAT_FIELDS];
    bool integer; /* of the I kind throughout */
} sd_format;

/* Cuts the next format in parentheses off the line; empty where there is none. */
sd_span sd_next_format(sd_span *line);

/* False where it is not a format of numbers. */
bool sd_parse_format(sd_span text, sd_format *format);

/* Numbers, one after the other, that are in lines of such a format. */
typedef struct sd_fields {
    sd_text *text;
    const sd_format *format;
    const char *what;       /* for messages: "column pointers" */
    int64_t promised, read; /* of them */
    int next;               /* field of the line */
    sd_span line;
} sd_fields;

void sd_fields_begin(sd_fields *f, sd_text *t, const sd_format *format, const char *what, int64_t promised);

saddle_status sd_next_integer(sd_fields *f, int64_t *value);

/* Takes exponents without a letter ("1.5-103"), and refuses what is not finite. */
saddle_status sd_next_real(sd_fields *f, double *value);
