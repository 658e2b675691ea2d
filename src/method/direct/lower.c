/*
 * L as the caller sees it: by compressed columns in the order in which the pivots came.
 *
 * The columns of a front have its rows in common: the variables of its own columns, eliminated here or
 * delayed to an ancestor, then the rows of the tree. Which pivot each of them became is known when all fronts
 * are; the order of these is made once for a front. Columns without fronts are as they are wanted already.
 * Zeros, which amalgamation adds, are left out.
 */
#include "factor/device_fronts.h"
#include "method/direct/queries.h"

#include <stdlib.h>

/* A row of a front. */
typedef struct place {
    int32_t pivot, row;
} place;

/* Columns on their way out. */
typedef struct columns {
    int64_t *pointers; /* of the next column; its end so far is the next one's */
    int32_t *indices;  /* NULL: only counted */
    double *values;    /* or this */
    int64_t at;
} columns;

static void add(columns *to, int32_t pivot, double l)
{
    if (l == 0) return;
    if (to->indices) to->indices[to->at] = pivot;
    if (to->values) to->values[to->at] = l;
    ++to->at;
}

static void end_column(columns *to)
{
    *to->pointers++ = to->at;
}

static int by_pivot(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->pivot < y->pivot ? -1 : x->pivot > y->pivot;
}

/* The rows of a front, its columns having these variables, and whose pivots they are. */
static void find_places(const sd_factors *f, int32_t k, const int32_t *own, const int32_t *pivot, place *to)
{
    const sd_front *front = &f->front[k];
    const int32_t *rows = f->tree->rows + f->tree->row_ptr[k];
    for (int32_t i = 0; i < front->rows; ++i) {
        const int32_t variable = i < front->columns ? own[i] : rows[i - front->columns];
        to[i] = (place){pivot[variable], i};
    }
    qsort(to, (size_t)front->rows, sizeof *to, by_pivot);
}

static double number(const sd_factors *f, const void *panel, int64_t k)
{
    return f->precision == SD_DOUBLE ? ((const double *)panel)[k] : (double)((const float *)panel)[k];
}

/* The eliminated columns of a front, whose panel this is. What a 2x2 pivot has beside its diagonal is D's. */
static void add_front(const sd_factors *f, int32_t k, const void *panel, int64_t ld, const place *at,
                      columns *to)
{
    const sd_front *front = &f->front[k];
    const sd_run run = sd_run_of(f, k);
    for (int32_t j = 0; j < front->eliminated; ++j) {
        const int32_t first = j + (sd_get_d(f, &run, 2 * (int64_t)j + 1) != 0 ? 2 : 1);
        for (int32_t i = 0; i < front->rows; ++i)
            if (at[i].row >= first) add(to, at[i].pivot, number(f, panel, at[i].row + j * ld));
        end_column(to);
    }
}

static void add_columns(const sd_simplicial *m, columns *to)
{
    for (int32_t j = 0; j < m->s.nodes; ++j) {
        const sd_node *node = &m->s.node[j];
        for (int32_t c = 0; c < node->width; ++c) {
            for (int64_t e = node->begin + c; e < node->end; e += node->width) add(to, m->s.row[e], m->l[e]);
            end_column(to);
        }
    }
}

/* The most numbers that the columns of a front may be on their way from a device. */
static int64_t panel_most(const sd_factors *f)
{
    int64_t most = 0;
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const int64_t numbers = SD_PANEL_NUMBERS(f->front[k].rows, f->front[k].eliminated);
        if (numbers > most) most = numbers;
    }
    return most;
}

/* Front by front; those of a device come one after the other. */
static saddle_status add_fronts(sd_context *c, const sd_factors *f, columns *to)
{
    sd_engine e = {0};
    saddle_status status = sd_factors_fetch(c, f);
    if (!status && f->device) status = sd_device_fronts_open(c, f, &e);
    if (status) return status;
    int32_t *pivot = sd_alloc(c, f->tree->n, sizeof *pivot, "columns of L");
    place *at = sd_alloc(c, f->largest_front, sizeof *at, "columns of L");
    void *brought =
        f->device ? sd_alloc(c, panel_most(f), sd_precision_size(f->precision), "columns of L") : NULL;
    int32_t *own = f->device ? sd_alloc(c, f->largest_front, sizeof *own, "columns of L") : NULL;
    if (!pivot || !at || (f->device && (!brought || !own))) status = c->status;
    for (int32_t k = 0, next = 0; k < f->tree->fronts && !status; ++k)
        for (int32_t j = 0; j < f->front[k].eliminated; ++j) pivot[f->front[k].variable[j]] = next++;
    for (int32_t k = 0; k < f->tree->fronts && !status; ++k) {
        const void *panel = f->device ? brought : f->front[k].panel;
        int64_t ld = f->front[k].ld;
        if (f->device) status = sd_device_fronts_columns(&e, f, k, brought, &ld, own);
        if (status) break;
        find_places(f, k, f->device ? own : f->front[k].variable, pivot, at);
        add_front(f, k, panel, ld, at, to);
    }
    if (f->device) sd_engine_close(&e);
    sd_free_all(c, pivot, at, brought, own);
    return status;
}

saddle_status sd_direct_get_l(sd_context *c, const sd_direct *d, int64_t *pointers, int32_t *indices,
                              double *values)
{
    const sd_factors *f = sd_direct_numbers(d);
    columns to = {.pointers = pointers + 1, .indices = indices, .values = values};
    pointers[0] = 0;
    if (!f->simplicial) return add_fronts(c, f, &to);
    add_columns(f->simplicial, &to);
    return SADDLE_OK;
}
