/*
 * Slices of about equal work, at least SLICE_WORK entries each.
 *
 * A half matrix adds to rows below its slice, into a window of its own that must be cleared and
 * gathered. Where windows are wide (entries far from the diagonal) they would cost more than the
 * product: slices are then made fewer, down to one.
 */
#include "plan/slices.h"

enum { SLICE_WORK = 16384, SLICES_MOST = 64 };

static void cut(const sd_csr *A, sd_slices *s)
{
    const int64_t work = A->nnz + A->n;
    int32_t row = 0;
    for (int32_t k = 0; k < s->count; ++k) {
        s->slice[k] = row;
        const int64_t goal = work / s->count * (k + 1);
        while (row < A->n && A->ptr[row] + row < goal) ++row;
    }
    s->slice[s->count] = A->n;
}

static void lay_windows(const sd_csr *A, sd_slices *s)
{
    s->window_total = 0;
    for (int32_t k = 0; k < s->count; ++k) {
        int32_t end = s->slice[k + 1];
        for (int32_t i = s->slice[k]; i < s->slice[k + 1]; ++i) {
            if (A->ptr[i + 1] > A->ptr[i] && A->ind[A->ptr[i + 1] - 1] >= end)
                end = A->ind[A->ptr[i + 1] - 1] + 1;
        }
        s->window[k] = end;
        s->offset[k] = s->window_total;
        s->window_total += end - s->slice[k];
    }
}

saddle_status sd_slices_make(sd_context *c, const sd_csr *A, sd_slices *s)
{
    const int64_t wanted = (A->nnz + A->n) / SLICE_WORK;
    *s = (sd_slices){.count = (int32_t)(wanted < 1 ? 1 : wanted > SLICES_MOST ? SLICES_MOST : wanted)};
    s->slice = sd_alloc(c, s->count + 1, sizeof *s->slice, "slices");
    s->window = sd_alloc(c, s->count, sizeof *s->window, "windows");
    s->offset = sd_alloc(c, s->count, sizeof *s->offset, "windows");
    if (!s->slice || !s->window || !s->offset) {
        sd_slices_free(c, s);
        return c->status;
    }
    cut(A, s);
    if (!A->half) return SADDLE_OK;
    lay_windows(A, s);
    while (s->count > 1 && s->window_total > 2 * (int64_t)A->n + A->nnz / 2) {
        s->count /= 2;
        cut(A, s);
        lay_windows(A, s);
    }
    return SADDLE_OK;
}

void sd_slices_join(const sd_csr *A, sd_slices *s)
{
    s->count = 1;
    cut(A, s);
    if (A->half) lay_windows(A, s);
}

void sd_slices_free(sd_context *c, sd_slices *s)
{
    sd_free_all(c, s->slice, s->window, s->offset);
    *s = (sd_slices){0};
}
