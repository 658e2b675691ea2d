/* What the files of this folder give each other, and also tests and fuzzers. */
#pragma once

#include "io/text.h"

/* The largest number of rows and columns, so that an index plus one still fits. */
#define SD_SIZE_MOST (INT64_C(2147483646))

/* Readers of one format each, after the first line, which Boeing's gives to the title. */
saddle_status sd_market_matrix(sd_text *t, sd_span banner, saddle_matrix *A);
saddle_status sd_market_vector(sd_text *t, sd_span banner, int64_t *n, double **values);
saddle_status sd_boeing_matrix(sd_text *t, saddle_matrix *A);

/* Whether a first line is Matrix Market's banner, right or wrong. */
bool sd_is_market_banner(sd_span line);

/* The same as the public reader, from a context of the caller's. On failure A is empty. */
saddle_status sd_read_matrix(sd_context *c, const char *path, saddle_matrix *A);
saddle_status sd_read_matrix_memory(sd_context *c, const char *name, const void *bytes, size_t length,
                                    saddle_matrix *A);

/* The same as the public writer. */
saddle_status sd_write_matrix(sd_context *c, const char *path, const saddle_matrix *A, const char *comment);
