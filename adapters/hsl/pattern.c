/* Duplicates are counted column by column: entries are sorted by their columns first, by counting. */
#include "adapters/hsl/pattern.h"

#include <stdlib.h>
#include <string.h>

/* Swaps, drops, and notes what is kept. */
static void keep_entries(hsl_pattern *p, const int32_t *row, const int32_t *col, int base, bool either)
{
    for (int64_t k = 0; k < p->given; ++k) {
        int64_t i = (int64_t)row[k] - base, j = (int64_t)col[k] - base;
        if (either && i < j) {
            const int64_t swapped = i;
            i = j;
            j = swapped;
        }
        if (j < 0 || i < j || i >= p->n) {
            ++p->outside;
            continue;
        }
        p->row[p->kept] = (int32_t)i;
        p->col[p->kept] = (int32_t)j;
        p->taken[p->kept++] = (int32_t)k;
    }
}

/* start has n + 1, row kept, and last n numbers. */
static void count_faults(hsl_pattern *p, int32_t *start, int32_t *rows, int32_t *last)
{
    for (int64_t k = 0; k < p->kept; ++k) ++start[p->col[k] + 1];
    for (int64_t j = 0; j < p->n; ++j) start[j + 1] += start[j];
    for (int64_t k = 0; k < p->kept; ++k) rows[start[p->col[k]]++] = p->row[k];
    /* start[j] is now where column j ends */
    p->missing_diagonal = p->n;
    for (int64_t j = 0; j < p->n; ++j) last[j] = -1;
    for (int64_t j = 0, k = 0; j < p->n; ++j)
        for (; k < start[j]; ++k) {
            const int32_t i = rows[k];
            if (last[i] == j)
                ++p->duplicates;
            else if (i == j)
                --p->missing_diagonal;
            last[i] = (int32_t)j;
        }
}

saddle_status hsl_pattern_take(hsl_pattern *p, int64_t n, int64_t entries, const int32_t *row,
                               const int32_t *col, int base, bool either)
{
    const size_t room = (size_t)(entries ? entries : 1), rows = (size_t)n + 1;
    *p = (hsl_pattern){.n = n, .given = entries};
    p->row = malloc(room * sizeof *p->row);
    p->col = malloc(room * sizeof *p->col);
    p->taken = malloc(room * sizeof *p->taken);
    int32_t *const start = calloc(rows + 1, sizeof *start), *const sorted = malloc(room * sizeof *sorted),
                   *const last = malloc(rows * sizeof *last);
    const bool enough = p->row && p->col && p->taken && start && sorted && last;
    if (enough) {
        keep_entries(p, row, col, base, either);
        count_faults(p, start, sorted, last);
        if (!p->outside) {
            free(p->taken);
            p->taken = NULL;
        }
    }
    free(start);
    free(sorted);
    free(last);
    if (enough) return SADDLE_OK;
    hsl_pattern_free(p);
    return SADDLE_OUT_OF_MEMORY;
}

void hsl_pattern_free(hsl_pattern *p)
{
    free(p->row);
    free(p->col);
    free(p->taken);
    *p = (hsl_pattern){0};
}

const double *hsl_pattern_values(const hsl_pattern *p, const double *given, double **room)
{
    if (!p->taken) return given;
    if (!*room) *room = malloc(((size_t)p->kept + 1) * sizeof **room);
    for (int64_t k = 0; *room && k < p->kept; ++k) (*room)[k] = given[p->taken[k]];
    return *room;
}

saddle_matrix hsl_pattern_view(const hsl_pattern *p, const double *values)
{
    saddle_matrix A = saddle_symmetric(p->n, NULL, p->row, values);
    A.layout = SADDLE_COORDINATES;
    A.entries = p->kept;
    A.col_indices = p->col;
    return A;
}
