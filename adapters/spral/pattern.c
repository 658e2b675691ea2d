/*
 * The caller's pattern: compressed columns or coordinates of the lower triangle, from 0 or 1, perhaps with
 * entries that do not belong there. What is kept goes column by column, in the caller's order.
 *
 * In columns an entry above the diagonal is out of range, as one outside the matrix is. Coordinates may name
 * an entry in either triangle: (i, j) and (j, i) are the same, and add up.
 */
#include "adapters/spral/keep.h"

#include <stdlib.h>
#include <string.h>

void ssids_free_pattern(ssids_pattern *p)
{
    free(p->ptr);
    free(p->row);
    free(p->from);
    *p = (ssids_pattern){0};
}

saddle_matrix ssids_view(const ssids_pattern *p, const double *values)
{
    return (saddle_matrix){.size = sizeof(saddle_matrix),
                           .rows = p->n,
                           .columns = p->n,
                           .entries = p->kept,
                           .layout = SADDLE_COLUMNS,
                           .shape = SADDLE_LOWER,
                           .type = SADDLE_DOUBLE,
                           .pointer_bits = 64,
                           .pointers = p->ptr,
                           .indices = p->row,
                           .values = values};
}

void ssids_take_values(const ssids_pattern *p, const double *val, const double *scale, double *values)
{
    for (int32_t j = 0; j < p->n; ++j) {
        for (int64_t k = p->ptr[j]; k < p->ptr[j + 1]; ++k) {
            const double a = val[p->from ? p->from[k] : k];
            values[k] = scale ? scale[p->row[k]] * a * scale[j] : a;
        }
    }
}

static int64_t pointer(const ssids_input *in, int64_t j)
{
    return (in->ptr64 ? in->ptr64[j] : in->ptr32[j]) - in->base;
}

/* Memory for at most so many entries; at least one of each, so that NULL is a failure. */
static bool make_room(int n, int64_t most, ssids_pattern *to)
{
    to->ptr = malloc(((size_t)n + 2) * sizeof *to->ptr);
    to->row = malloc(((size_t)most + 1) * sizeof *to->row);
    to->from = malloc(((size_t)most + 1) * sizeof *to->from);
    return to->ptr && to->row && to->from;
}

/* Columns without a look at the rows: the solver will look. */
static void copy_columns(const ssids_input *in, ssids_pattern *to)
{
    for (int j = 0; j <= in->n; ++j) to->ptr[j] = pointer(in, j);
    for (int64_t k = 0; k < to->entries; ++k) to->row[k] = (int32_t)((int64_t)in->row[k] - in->base);
    to->kept = to->entries;
}

/* Columns, without what is out of range. False: all of a column is. */
static bool check_columns(const ssids_input *in, ssids_pattern *to)
{
    to->ptr[0] = 0;
    for (int j = 0; j < in->n; ++j) {
        const int64_t first = to->kept, end = pointer(in, j + 1);
        for (int64_t k = pointer(in, j); k < end; ++k) {
            const int64_t i = (int64_t)in->row[k] - in->base;
            if (i < j || i >= in->n) continue;
            to->from[to->kept] = k;
            to->row[to->kept++] = (int32_t)i;
        }
        if (to->kept == first && end > pointer(in, j)) return false;
        to->ptr[j + 1] = to->kept;
    }
    return true;
}

/* The column and row of a coordinate in the lower triangle; false: it is out of range. */
static bool place(const ssids_input *in, int64_t k, int64_t *i, int64_t *j)
{
    const int64_t one = (int64_t)in->row[k] - in->base, other = (int64_t)in->col[k] - in->base;
    *i = one > other ? one : other;
    *j = one > other ? other : one;
    return *j >= 0 && *i < in->n;
}

/* Coordinates, column by column: counted, then put in their places. */
static bool sort_coordinates(const ssids_input *in, ssids_pattern *to)
{
    int64_t i, j, *const next = to->ptr + 1;
    memset(to->ptr, 0, ((size_t)in->n + 2) * sizeof *to->ptr);
    for (int64_t k = 0; k < in->entries; ++k)
        if (place(in, k, &i, &j)) ++to->ptr[j + 2];
    for (int64_t c = 2; c <= in->n; ++c) to->ptr[c] += to->ptr[c - 1];
    for (int64_t k = 0; k < in->entries; ++k) {
        if (!place(in, k, &i, &j)) continue;
        to->from[next[j]] = k;
        to->row[next[j]++] = (int32_t)i;
        ++to->kept;
    }
    return to->kept > 0;
}

/* Counts duplicates and columns without a diagonal entry. False: out of memory. */
static bool count_faults(ssids_pattern *p)
{
    int32_t *const last = malloc(((size_t)p->n + 1) * sizeof *last); /* the column that had each row last */
    if (!last) return false;
    for (int32_t i = 0; i < p->n; ++i) last[i] = -1;
    for (int32_t j = 0; j < p->n; ++j) {
        for (int64_t k = p->ptr[j]; k < p->ptr[j + 1]; ++k) {
            p->duplicate += last[p->row[k]] == j;
            last[p->row[k]] = j;
        }
        p->missing += last[j] != j;
    }
    free(last);
    p->outside = p->entries - p->kept;
    return true;
}

/* Counts rows in which, and columns in which, there is no entry. False: out of memory. */
static bool count_empty(ssids_pattern *p)
{
    bool *const met = calloc((size_t)p->n + 1, sizeof *met);
    if (!met) return false;
    for (int32_t j = 0; j < p->n; ++j) {
        for (int64_t k = p->ptr[j]; k < p->ptr[j + 1]; ++k) {
            met[j] = true;
            if (p->row[k] >= 0 && p->row[k] < p->n) met[p->row[k]] = true; /* the solver looks at others */
        }
    }
    for (int32_t i = 0; i < p->n; ++i) p->empty += !met[i];
    free(met);
    return true;
}

static int warning_of(const ssids_pattern *p)
{
    const int both = (p->outside > 0 ? SSIDS_OUTSIDE : 0) + (p->duplicate > 0 ? SSIDS_DUPLICATE : 0);
    if (p->missing == 0) return both;
    return both ? SSIDS_MISSING_AND : SSIDS_MISSING;
}

/* The sizes of the input; SSIDS_SUCCESS, or what is wrong with them. */
static int measure(const ssids_input *in, int64_t *entries)
{
    if (in->n < 0) return SSIDS_N;
    *entries = in->entries;
    if (in->col) return in->entries < 1 ? SSIDS_N : in->row ? SSIDS_SUCCESS : SSIDS_PTR;
    if (!in->ptr32 && !in->ptr64) return SSIDS_PTR;
    if (pointer(in, 0) != 0) return SSIDS_PTR;
    for (int64_t j = 0; j < in->n; ++j)
        if (pointer(in, j + 1) < pointer(in, j)) return SSIDS_PTR;
    *entries = pointer(in, in->n);
    return in->row || *entries == 0 ? SSIDS_SUCCESS : SSIDS_PTR;
}

static int fill(const ssids_input *in, ssids_pattern *to)
{
    if (!make_room(in->n, to->entries, to)) return SSIDS_ALLOCATION;
    if (in->col) {
        if (!sort_coordinates(in, to)) return SSIDS_ALL_OUTSIDE;
    } else if (!in->check) {
        copy_columns(in, to);
    } else if (!check_columns(in, to)) {
        return SSIDS_ALL_OUTSIDE;
    }
    if ((in->check && !count_faults(to)) || !count_empty(to)) return SSIDS_ALLOCATION;
    if (!in->col && to->outside == 0) { /* the caller's values can be used as they are */
        free(to->from);
        to->from = NULL;
    }
    return warning_of(to);
}

int ssids_read_pattern(const ssids_input *in, ssids_pattern *to)
{
    int64_t entries = 0;
    int flag = measure(in, &entries);
    if (flag) return flag;
    *to = (ssids_pattern){.n = in->n, .entries = entries};
    flag = fill(in, to);
    if (flag < 0) ssids_free_pattern(to);
    return flag;
}
