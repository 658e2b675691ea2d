/*
 * What is kept of a row by threshold, and where: see incomplete_parts.h.
 *
 * The least of the `most` largest is found by quickselect on a copy of the magnitudes; the list is then gone
 * through once, in the order of its indices. So among equal entries the first are kept, and what is kept does
 * not depend on the order in which the entries came.
 */
#include "core/sort.h"
#include "factor/incomplete_parts.h"

#include <math.h>
#include <string.h>

saddle_status sd_growing_make(sd_context *c, int32_t n, int64_t room, sd_growing *g)
{
    *g = (sd_growing){.ptr = sd_alloc_zero(c, (int64_t)n + 1, sizeof *g->ptr, "rows of a factor")};
    return g->ptr ? sd_growing_reserve(c, g, room) : c->status;
}

void sd_growing_free(sd_context *c, sd_growing *g)
{
    sd_free_all(c, g->ptr, g->ind, g->val);
    *g = (sd_growing){0};
}

saddle_status sd_growing_reserve(sd_context *c, sd_growing *g, int64_t more)
{
    if (g->count + more <= g->room && g->ind) return SADDLE_OK;
    if (g->count + more > INT32_MAX)
        return sd_fail(
            c, SADDLE_NOT_SUPPORTED,
            "an incomplete factor has %lld entries and more, beyond the 2^31 - 1 that it can have: "
            "raise the threshold of its entries, or keep fewer of a row",
            (long long)(g->count + more));
    const int64_t room = g->count + more + g->count / 2;
    int32_t *ind = sd_alloc(c, room, sizeof *ind, "indices of a factor");
    double *val = sd_alloc(c, room, sizeof *val, "a factor");
    if (!ind || !val) {
        sd_free_all(c, ind, val);
        return c->status;
    }
    if (g->count > 0) {
        memcpy(ind, g->ind, (size_t)g->count * sizeof *ind);
        memcpy(val, g->val, (size_t)g->count * sizeof *val);
    }
    sd_free_all(c, g->ind, g->val);
    g->ind = ind;
    g->val = val;
    g->room = room;
    return SADDLE_OK;
}

saddle_status sd_candidates_make(sd_context *c, int32_t n, sd_candidates *k)
{
    *k = (sd_candidates){0};
    k->list = sd_alloc(c, n, sizeof *k->list, "entries of a row");
    k->room_list = sd_alloc(c, n, sizeof *k->room_list, "entries of a row");
    k->w = sd_alloc(c, n, sizeof *k->w, "a row of a factor");
    k->room = sd_alloc(c, n, sizeof *k->room, "magnitudes of a row");
    k->seen = sd_alloc(c, n, sizeof *k->seen, "entries of a row");
    if (!k->list || !k->room_list || !k->w || !k->room || !k->seen) return c->status;
    for (int32_t i = 0; i < n; ++i) k->seen[i] = -1;
    return SADDLE_OK;
}

void sd_candidates_free(sd_context *c, sd_candidates *k)
{
    sd_free_all(c, k->list, k->room_list, k->w, k->room, k->seen);
    *k = (sd_candidates){0};
}

static void swap(double *a, double *b)
{
    const double x = *a;
    *a = *b;
    *b = x;
}

/* The number that would be at place `rank`, from 0, if a[0 .. count) fell; a changes its order. */
static double find_ranked(double *a, int64_t count, int64_t rank)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2; /* the median of three comes to the middle */
        if (a[middle] > a[low]) swap(&a[middle], &a[low]);
        if (a[high] > a[low]) swap(&a[high], &a[low]);
        if (a[high] > a[middle]) swap(&a[high], &a[middle]);
        const double pivot = a[middle];
        int64_t p = low, q = high;
        while (p <= q) {
            while (a[p] > pivot) ++p;
            while (a[q] < pivot) --q;
            if (p <= q) swap(&a[p++], &a[q--]);
        }
        if (rank <= q)
            high = q;
        else if (rank >= p)
            low = p;
        else
            break; /* between them all are equal */
    }
    return a[rank];
}

/* Keeps the first of those with this magnitude, as many as there is room for beside the larger ones. */
static int32_t keep_from(int32_t *list, int32_t count, const double *w, double magnitude, int64_t most)
{
    int64_t equal = most;
    int32_t kept = 0;
    for (int32_t k = 0; k < count; ++k) equal -= fabs(w[list[k]]) > magnitude;
    for (int32_t k = 0; k < count; ++k) {
        const double size = fabs(w[list[k]]);
        if (size < magnitude || (size == magnitude && equal-- <= 0)) continue;
        list[kept++] = list[k];
    }
    return kept;
}

bool sd_candidates_choose(const sd_candidates *k, int32_t *list, int32_t *count, double least, int64_t most)
{
    int32_t kept = 0;
    for (int32_t e = 0; e < *count; ++e) {
        const double size = fabs(k->w[list[e]]);
        if (!(size <= DBL_MAX)) return false;
        if (size < least) continue;
        k->room[kept] = size;
        list[kept++] = list[e];
    }
    sd_sort_indices(list, kept, k->room_list);
    if (kept > most)
        kept = most > 0 ? keep_from(list, kept, k->w, find_ranked(k->room, kept, most - 1), most) : 0;
    *count = kept;
    return true;
}

int64_t sd_most_entries(const sd_incomplete_rule *rule, int64_t part, int64_t all)
{
    const double most = rule->most * fmax((double)part, 0.5 * (double)all);
    return most < INT32_MAX ? (int64_t)most : INT32_MAX;
}

double sd_row_norm(const sd_csr *B, int32_t i)
{
    double sum = 0;
    for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; ++k) sum += B->val[k] * B->val[k];
    return sqrt(sum);
}
