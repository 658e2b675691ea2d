/*
 * Long rows, sorted for searches that need only their nearest entries. See assignment.h.
 *
 * A row is sorted when it has been scanned a few times as it is: so all sorting together costs no more than
 * the scans it follows, up to a logarithm.
 */
#include "prepare/assignment.h"

enum { SCANS_BEFORE_SORTING = 32 };

static bool before(const sd_sort_item *x, const sd_sort_item *y)
{
    return x->key < y->key || (x->key == y->key && x->col < y->col);
}

static void sift(sd_sort_item *items, int64_t at, int64_t count)
{
    const sd_sort_item item = items[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(&items[child], &items[child + 1])) ++child;
        if (!before(&item, &items[child])) break;
        items[at] = items[child];
    }
    items[at] = item;
}

/* Heap sort: in place, and no input makes it slow. */
static void sort_items(sd_sort_item *items, int64_t count)
{
    for (int64_t at = count / 2 - 1; at >= 0; --at) sift(items, at, count);
    for (int64_t last = count - 1; last > 0; --last) {
        const sd_sort_item largest = items[0];
        items[0] = items[last];
        items[last] = largest;
        sift(items, 0, last);
    }
}

static int64_t whole_chunks(int64_t count)
{
    return (count + SD_CHUNK_OF_ROW - 1) / SD_CHUNK_OF_ROW * SD_CHUNK_OF_ROW;
}

saddle_status sd_long_rows_init(sd_context *c, const sd_assignment *a, sd_long_rows *rows)
{
    int64_t total = 0, longest = 0;
    *rows = (sd_long_rows){0};
    rows->scans = sd_alloc_zero(c, a->n, sizeof *rows->scans, "scans of rows");
    rows->place = rows->scans ? sd_alloc(c, a->n, sizeof *rows->place, "long rows") : NULL;
    if (!rows->place) goto fail;
    for (int32_t i = 0; i < a->n; ++i) {
        const int64_t count = a->ptr[i + 1] - a->ptr[i];
        rows->place[i] = total;
        if (count <= SD_LONG_ROW) continue;
        total += whole_chunks(count);
        if (count > longest) longest = count;
    }
    rows->ind = sd_alloc(c, total, sizeof *rows->ind, "long rows");
    rows->cost = rows->ind ? sd_alloc(c, total, sizeof *rows->cost, "long rows") : NULL;
    rows->key = rows->cost ? sd_alloc(c, total / SD_CHUNK_OF_ROW, sizeof *rows->key, "long rows") : NULL;
    rows->items = rows->key ? sd_alloc(c, longest, sizeof *rows->items, "a long row") : NULL;
    if (rows->items) return SADDLE_OK;
fail:
    sd_long_rows_free(c, rows);
    return c->status;
}

void sd_long_rows_free(sd_context *c, sd_long_rows *rows)
{
    sd_free_all(c, rows->scans, rows->place, rows->ind, rows->cost, rows->key, rows->items);
    *rows = (sd_long_rows){0};
}

void sd_long_rows_count(const sd_assignment *a, sd_long_rows *rows, int32_t i)
{
    const int64_t begin = a->ptr[i], count = a->ptr[i + 1] - begin;
    if (++rows->scans[i] < SCANS_BEFORE_SORTING) return;
    rows->scans[i] = SD_SORTED;
    for (int64_t k = 0; k < count; ++k) {
        const int32_t j = a->ind[begin + k];
        rows->items[k] = (sd_sort_item){a->cost[begin + k] - a->col[j].v, a->cost[begin + k], j};
    }
    sort_items(rows->items, count);
    for (int64_t k = 0; k < count; ++k) {
        const int64_t at = rows->place[i] + k;
        rows->ind[at] = rows->items[k].col;
        rows->cost[at] = rows->items[k].cost;
        if (k % SD_CHUNK_OF_ROW == 0) rows->key[at / SD_CHUNK_OF_ROW] = rows->items[k].key;
    }
}
