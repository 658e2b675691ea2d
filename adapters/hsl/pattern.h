/*
 * A pattern as a host gives it, made into one that the library takes: the lower triangle, in coordinates,
 * nothing out of range. The values of what is left are picked from those that the host gives.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

typedef struct hsl_pattern {
    int64_t n, given, kept;
    int32_t *row, *col; /* from 0, row >= col */
    int32_t *taken;     /* which of the given entries are kept, in their order; NULL: all of them */
    int64_t outside, duplicates, missing_diagonal;
} hsl_pattern;

/* Takes the pattern (its arrays are copied). `either`: entries of the upper triangle are those of the lower
 * one, otherwise they are out of range. SADDLE_OUT_OF_MEMORY leaves nothing to free. */
saddle_status hsl_pattern_take(hsl_pattern *pattern, int64_t n, int64_t entries, const int32_t *row,
                               const int32_t *col, int base, bool either);
void hsl_pattern_free(hsl_pattern *pattern);

/* The values of the entries that were kept, of those that the host gives: these, or a copy in *room, which
 * is made when it is first needed and the caller's to free. NULL: out of memory. */
const double *hsl_pattern_values(const hsl_pattern *pattern, const double *given, double **room);

/* The pattern with values (NULL: none) as the library takes it. */
saddle_matrix hsl_pattern_view(const hsl_pattern *pattern, const double *values);
