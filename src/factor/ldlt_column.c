/* One thread's workspace for a column: see ldlt_column.h. Memory is taken under one lock, as a context is of
 * one thread. */
#include "factor/ldlt_column.h"

#include "backend/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

/* A block of memory that grows; what was in it is lost, unless `keep` bytes are. */
static saddle_status grow(sd_context *c, void **block, int64_t count, size_t size, size_t keep)
{
    saddle_status status = SADDLE_OK;
#pragma omp critical(sd_ldlt_memory)
    {
        void *larger = sd_alloc(c, count, size, "a column of the factorization");
        if (larger) {
            if (keep) memcpy(larger, *block, keep);
            sd_free(c, *block);
            *block = larger;
        } else {
            status = c->status;
        }
    }
    return status;
}

saddle_status sd_ldlt_workspace_make(sd_context *c, const sd_block_matrix *B, sd_precision precision,
                                     bool reference, sd_ldlt_workspace *workspace)
{
    const int64_t number = (int64_t)sd_precision_size(precision);
    *workspace = (sd_ldlt_workspace){.k = (reference ? sd_ldlt_reference : sd_cpu()->ldlt) + precision,
                                     .precision = precision};
    workspace->place = sd_alloc(c, B->blocks, sizeof *workspace->place, "a column of the factorization");
    workspace->met = sd_alloc(c, B->blocks, sizeof *workspace->met, "a column of the factorization");
    workspace->touched = sd_alloc(c, B->blocks, sizeof *workspace->touched, "a column of the factorization");
    workspace->key = sd_alloc(c, B->blocks, sizeof *workspace->key, "a column of the factorization");
    workspace->v =
        sd_alloc(c, SD_BLOCK_MOST * SD_BLOCK_MOST, (size_t)number, "a column of the factorization");
    if (!workspace->place || !workspace->met || !workspace->touched || !workspace->key || !workspace->v) {
        sd_ldlt_workspace_free(c, workspace);
        return c->status;
    }
    for (int32_t i = 0; i < B->blocks; ++i) workspace->place[i] = -1;
    return SADDLE_OK;
}

void sd_ldlt_workspace_free(sd_context *c, sd_ldlt_workspace *workspace)
{
    sd_free_all(c, workspace->place, workspace->met, workspace->touched, workspace->key, workspace->term,
                workspace->accumulators, workspace->index, workspace->value, workspace->v);
    *workspace = (sd_ldlt_workspace){0};
}

sd_ldlt_term *sd_ldlt_term_new(sd_context *c, sd_ldlt_workspace *d)
{
    if (d->terms == d->term_room) {
        const int32_t room = d->term_room < 64 ? 128 : 2 * d->term_room;
        void *block = d->term;
        if (grow(c, &block, room, sizeof *d->term, (size_t)d->terms * sizeof *d->term)) return NULL;
        d->term = block;
        d->term_room = room;
    }
    return &d->term[d->terms++];
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_terms(const void *a, const void *b)
{
    const sd_ldlt_term *s = a, *t = b;
    return (s->position > t->position) - (s->position < t->position);
}

void sd_ldlt_sort_terms(sd_ldlt_workspace *d)
{
    enum { MOVES = 32 }; /* a term, beyond which they are not nearly in order: a row that meets very many */
    for (int32_t a = 0, b = d->terms - 1; a < b; ++a, --b) {
        const sd_ldlt_term swap = d->term[a];
        d->term[a] = d->term[b];
        d->term[b] = swap;
    }
    int64_t moves = 0;
    const int64_t most = MOVES * (int64_t)d->terms;
    for (int32_t k = 1; k < d->terms && moves <= most; ++k) {
        const sd_ldlt_term term = d->term[k];
        int32_t at = k;
        for (; at > 0 && d->term[at - 1].position > term.position; --at) d->term[at] = d->term[at - 1];
        d->term[at] = term;
        moves += k - at;
    }
    if (moves > most) qsort(d->term, (size_t)d->terms, sizeof *d->term, compare_terms);
}

void sd_ldlt_sort(sd_ldlt_workspace *d, const int32_t *position, int32_t count, int32_t *blocks)
{
    bool sorted = true;
    for (int32_t k = 0; k < count; ++k) {
        d->key[k] = (int64_t)position[blocks[k]] << 32 | blocks[k];
        sorted = sorted && (k == 0 || d->key[k - 1] < d->key[k]);
    }
    if (sorted) return;
    qsort(d->key, (size_t)count, sizeof *d->key, compare);
    for (int32_t k = 0; k < count; ++k) blocks[k] = (int32_t)(d->key[k] & 0x7fffffff);
}

void sd_ldlt_meet_matrix(const sd_block_matrix *B, const int32_t *position, int32_t j, sd_ldlt_workspace *d)
{
    for (int32_t r = B->start[j]; r < B->start[j + 1]; ++r) {
        for (int64_t k = B->rows.ptr[r]; k < B->rows.ptr[r + 1]; ++k) {
            const int32_t i = B->block_of[B->rows.ind[k]];
            if (position[i] <= position[j]) continue;
            sd_ldlt_touch(d, i);
            d->met[i].a_rows |= 1u << (B->rows.ind[k] - B->start[i]);
            d->met[i].a_columns |= 1u << (r - B->start[j]);
            d->met[i].level = 0;
        }
    }
}

static saddle_status make_room(sd_context *c, int64_t numbers, int64_t entries, sd_ldlt_workspace *d)
{
    if (numbers > d->room) {
        const int64_t room = numbers + numbers / 2;
        if (grow(c, &d->accumulators, room, sd_precision_size(d->precision), 0)) return c->status;
        d->room = room;
    }
    if (entries > d->entry_room) {
        const int64_t room = entries + entries / 2;
        void *index = d->index, *value = d->value;
        const saddle_status first = grow(c, &index, room, sizeof *d->index, 0);
        d->index = index;
        if (first) return first;
        const saddle_status second = grow(c, &value, room, sizeof *d->value, 0);
        d->value = value;
        if (second) return second;
        d->entry_room = room;
    }
    return SADDLE_OK;
}

static int ld_of(const sd_block_matrix *B, int32_t j, const sd_ldlt_workspace *d)
{
    return sd_ldlt_ld(B->start[j + 1] - B->start[j], d->precision);
}

saddle_status sd_ldlt_accumulate(sd_context *c, const sd_block_matrix *B, int32_t j, sd_ldlt_workspace *d)
{
    const int ld = ld_of(B, j, d);
    int64_t numbers = 0, entries = 0;
    for (int32_t k = 0; k < d->count; ++k) {
        const int32_t i = d->touched[k];
        d->place[i] = numbers;
        numbers += (int64_t)(B->start[i + 1] - B->start[i]) * ld;
    }
    if (make_room(c, numbers, B->rows.ptr[B->start[j + 1]] - B->rows.ptr[B->start[j]], d)) return c->status;
    if (numbers > 0) memset(d->accumulators, 0, (size_t)numbers * sd_precision_size(d->precision));
    for (int32_t r = B->start[j]; r < B->start[j + 1]; ++r) {
        for (int64_t k = B->rows.ptr[r]; k < B->rows.ptr[r + 1]; ++k) {
            const int32_t i = B->block_of[B->rows.ind[k]];
            if (d->place[i] < 0) continue;
            d->index[entries] =
                d->place[i] + (int64_t)(B->rows.ind[k] - B->start[i]) * ld + (r - B->start[j]);
            d->value[entries++] = B->rows.val[k];
        }
    }
    d->k->scatter(entries, d->index, d->value, d->accumulators);
    return SADDLE_OK;
}

/* Asks for what the terms after term k will read: nearly all of it was last touched long ago, and a term is
 * little work beside the wait for memory. */
static void fetch_ahead(const sd_ldlt_workspace *d, int32_t k)
{
    enum { NEAR = 2, FAR = 5, LINE = 64 };
    if (k + FAR < d->terms) __builtin_prefetch(d->term[k + FAR].own);
    if (k + NEAR >= d->terms) return;
    const sd_ldlt_term *t = &d->term[k + NEAR];
    const int64_t number = (int64_t)sd_precision_size(d->precision);
    const char *inverse = t->inverse, *own = (const char *)t->data + t->own->entry * number;
    for (int64_t at = 0; at < t->size * t->size * number; at += LINE) __builtin_prefetch(inverse + at);
    for (int64_t at = 0; at < t->own->height * t->own->width * number; at += LINE)
        __builtin_prefetch(own + at);
}

double sd_ldlt_subtract(const sd_block_matrix *B, int32_t j, sd_ldlt_workspace *d)
{
    const int size = B->start[j + 1] - B->start[j], ld = ld_of(B, j, d);
    double flops = 0;
    for (int32_t t = 0; t < d->terms; ++t) {
        const sd_ldlt_term *term = &d->term[t];
        fetch_ahead(d, t);
        d->k->weigh(term, ld, d->v);
        d->k->subtract(term, ld, d->v, d->place, d->accumulators);
        int64_t numbers = 0;
        for (int32_t k = 0; k < term->count; ++k)
            if (d->place[term->tail[k].other] >= 0) numbers += term->tail[k].height * term->tail[k].width;
        flops += 2.0 * (double)numbers * size;
    }
    return flops;
}

sd_batch_state sd_ldlt_invert(sd_engine *e, const sd_batch_rule *rule, int size, sd_precision precision,
                              void *block, void *inverse)
{
    _Alignas(64) double factor[SD_BLOCK_MOST * SD_BLOCK_MOST];
    uint8_t order[2 * SD_BLOCK_MOST];
    sd_batch_state state = {0};
    sd_batch_job job = {0};
    sd_batch_plan plan = {
        .count = 1, .blocks = 1, .rows = size, .entries = (int64_t)size * size, .job = &job};
    for (int k = size + 1; k < SD_BLOCK_MOST + 2; ++k) plan.first[k] = 1;
    const sd_batch x = {&plan, block, precision};
    sd_batch y = {&plan, inverse, precision};
    sd_batch_factors f = {&plan, factor, precision, rule->kernel, order, order + SD_BLOCK_MOST, &state};
    sd_batch_factor(e, rule, &x, &f);
    sd_batch_invert(e, &f, &y);
    return state;
}

void sd_ldlt_clear(sd_ldlt_workspace *d)
{
    for (int32_t k = 0; k < d->count; ++k) d->place[d->touched[k]] = -1;
    d->count = d->terms = 0;
}
