/* Triangles of an incomplete factorization: see triangles.h. */
#include "factor/triangles.h"

#include "core/sort.h"
#include "factor/trisolve_cost.h"

#include <math.h>
#include <string.h>

enum {
    RENUMBER_FROM = 128, /* rows of a level on average, from which on they are put one after the other */
    LONG_ROW = 16,       /* entries of a row on average, from which on that does not pay */
    SHARE_FROM = 1024,   /* rows of a level on average from which on threads share them */
    MANY_THREADS = 4     /* that share long rows, each of which waits for what it needs */
};

/* ---- levels of both triangles ---- */

saddle_status sd_incomplete_levels(sd_context *c, const sd_incomplete *m, int32_t *levels, int32_t **level,
                                   int32_t **order)
{
    const int32_t n = m->n;
    int32_t *of = sd_alloc_zero(c, n, sizeof *of, "levels of rows");
    *order = sd_alloc(c, n, sizeof **order, "rows by levels");
    *level = NULL;
    *levels = 0;
    for (int32_t i = 0; i < n && of; ++i) {
        for (int64_t k = m->lower.ptr[i]; k < m->lower.ptr[i + 1]; ++k)
            if (of[m->lower.ind[k]] >= of[i]) of[i] = of[m->lower.ind[k]] + 1;
        for (int64_t k = m->symmetric ? 0 : m->upper.ptr[i]; !m->symmetric && k < m->upper.ptr[i + 1]; ++k)
            if (of[m->upper.ind[k]] <= of[i]) of[m->upper.ind[k]] = of[i] + 1;
        if (of[i] >= *levels) *levels = of[i] + 1;
    }
    if (of && *order) *level = sd_alloc_zero(c, (int64_t)*levels + 2, sizeof **level, "levels");
    if (!*level) {
        sd_free_all(c, of, *order);
        *order = NULL;
        return c->status;
    }
    int32_t *const next = *level + 1; /* moves from the start of a level to that of the next */
    for (int32_t i = 0; i < n; ++i) ++next[of[i] + 1];
    for (int32_t l = 0; l < *levels; ++l) next[l + 1] += next[l];
    for (int32_t i = 0; i < n; ++i) (*order)[next[of[i]]++] = i;
    sd_free(c, of);
    return SADDLE_OK;
}

/* ---- layouts ---- */

static saddle_status copy_pattern(sd_context *c, const sd_pattern *p, sd_pattern *to)
{
    const int64_t n = p->n, entries = p->ptr[n];
    *to = (sd_pattern){.n = p->n};
    to->ptr = sd_alloc(c, n + 1, sizeof *to->ptr, "rows of a triangle");
    to->ind = sd_alloc(c, entries, sizeof *to->ind, "entries of a triangle");
    if (!to->ptr || !to->ind) return c->status;
    memcpy(to->ptr, p->ptr, (size_t)(n + 1) * sizeof *to->ptr);
    if (entries > 0) memcpy(to->ind, p->ind, (size_t)entries * sizeof *to->ind);
    return SADDLE_OK;
}

/* What the numbering of a row has for room. */
typedef struct renumbering {
    const int32_t *order, *place; /* inverse to each other */
    int32_t *from;                /* n: the entry of a row that each column is */
    int32_t *room;                /* n */
} renumbering;

/* A row with its columns in the new order, ascending, each with its source; returns how many there are. */
static int64_t renumber_row(const sd_pattern *p, const renumbering *by, int32_t row, int32_t *ind,
                            int32_t *source)
{
    const int64_t begin = p->ptr[row], count = p->ptr[row + 1] - begin;
    for (int64_t k = 0; k < count; ++k) {
        ind[k] = by->place[p->ind[begin + k]];
        by->from[ind[k]] = (int32_t)(begin + k);
    }
    sd_sort_indices(ind, count, by->room);
    for (int64_t k = 0; k < count; ++k) source[k] = by->from[ind[k]];
    return count;
}

/* The pattern with rows and columns in another order. */
static saddle_status renumber(sd_context *c, const sd_pattern *p, const renumbering *by,
                              sd_triangle_layout *to)
{
    const int32_t n = p->n;
    const int64_t entries = p->ptr[n];
    to->pattern = (sd_pattern){.n = n};
    to->pattern.ptr = sd_alloc(c, (int64_t)n + 1, sizeof *to->pattern.ptr, "rows of a triangle");
    to->pattern.ind = sd_alloc(c, entries, sizeof *to->pattern.ind, "entries of a triangle");
    to->source = sd_alloc(c, entries, sizeof *to->source, "entries of a triangle");
    if (!to->pattern.ptr || !to->pattern.ind || !to->source) return c->status;
    int64_t next = 0;
    for (int32_t r = 0; r < n; ++r) {
        to->pattern.ptr[r] = next;
        next += renumber_row(p, by, by->order[r], to->pattern.ind + next, to->source + next);
    }
    to->pattern.ptr[n] = next;
    return SADDLE_OK;
}

/* The upper triangle's levels are the lower's from the last to the first, in ranks. */
static saddle_status mirror_levels(sd_context *c, int32_t n, int32_t levels, sd_triangle_layout *layout)
{
    int32_t *level = layout[1].level = sd_alloc(c, (int64_t)levels + 1, sizeof *level, "levels");
    if (!level) return c->status;
    for (int32_t l = 0; l <= levels; ++l) level[l] = n - layout[0].level[levels - l];
    return SADDLE_OK;
}

/* Patterns by levels, and t->order. */
static saddle_status lay_out_by_levels(sd_context *c, const sd_incomplete *m, sd_triangles *t)
{
    int32_t *place = sd_alloc(c, m->n, sizeof *place, "rows by levels");
    int32_t *from = sd_alloc(c, m->n, sizeof *from, "a row of a triangle");
    int32_t *room = sd_alloc(c, m->n, sizeof *room, "a row of a triangle");
    const renumbering by = {t->order, place, from, room};
    saddle_status status = place && from && room ? SADDLE_OK : c->status;
    for (int32_t k = 0; k < m->n && !status; ++k) place[t->order[k]] = k;
    if (!status) status = renumber(c, &m->lower, &by, &t->layout[0]);
    if (!status && !m->symmetric) status = renumber(c, &m->upper, &by, &t->layout[1]);
    if (!status) status = mirror_levels(c, m->n, t->lower.levels, t->layout);
    t->upper.levels = t->lower.levels;
    sd_free_all(c, place, from, room);
    return status;
}

/* Of triangles that stand by levels, for the threads of a host. */
static saddle_status share_levels(sd_engine *e, sd_triangles *t)
{
    for (int k = 0; k < 2; ++k) {
        sd_triangle *x = k ? &t->upper : &t->lower;
        const sd_triangle_layout *l = &t->layout[k];
        const saddle_status status = sd_level_shares_make(e->context, &l->pattern, k == 1, x->levels,
                                                          l->level, SD_TRIANGLE_THIN, e->threads, &x->shares);
        if (status) return status;
    }
    return SADDLE_OK;
}

static bool has_long_rows(const sd_pattern *p)
{
    return p->ptr[p->n] >= (int64_t)LONG_ROW * p->n;
}

static saddle_status lay_out(sd_context *c, const sd_incomplete *m, bool by_levels, sd_triangles *t)
{
    saddle_status status = sd_incomplete_levels(c, m, &t->lower.levels, &t->layout[0].level, &t->order);
    if (status) return status;
    if (by_levels && m->n >= (int64_t)RENUMBER_FROM * t->lower.levels && !has_long_rows(&m->lower)) {
        status = lay_out_by_levels(c, m, t);
    } else {
        sd_free_all(c, t->order, t->layout[0].level);
        t->order = t->layout[0].level = NULL;
        status = copy_pattern(c, &m->lower, &t->layout[0].pattern);
        if (!status && !m->symmetric) status = copy_pattern(c, &m->upper, &t->layout[1].pattern);
    }
    if (!status && m->symmetric)
        status = sd_pattern_transpose(c, &t->layout[0].pattern, &t->layout[1].pattern, &t->layout[1].from);
    for (int k = 0; k < 2 && !status && !t->order; ++k)
        status = sd_pattern_levels(c, &t->layout[k].pattern, k == 1, &(k ? &t->upper : &t->lower)->levels,
                                   &t->layout[k].level, &t->layout[k].row);
    return status;
}

/* ---- blocks ---- */

static saddle_status check_blocks(sd_context *c, int32_t n, int32_t blocks, const int32_t *start)
{
    for (int32_t q = 0; q < blocks; ++q)
        if (start[q + 1] <= start[q] || start[q + 1] - start[q] > SD_BLOCK_MOST)
            return sd_fail(c, SADDLE_BAD_ARGUMENT,
                           "block %d of a triangle has %d rows: sweeps take blocks of 1 to %d (block_size)",
                           q, start[q + 1] - start[q], SD_BLOCK_MOST);
    if (start[0] != 0 || start[blocks] != n)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "the blocks of a triangle are rows %d to %d of %d", start[0],
                       start[blocks], n);
    return SADDLE_OK;
}

/* layout->split, and the levels of blocks. */
static saddle_status split_rows(sd_context *c, const sd_triangles *t, int32_t blocks, bool upper,
                                sd_triangle_layout *layout, int32_t *levels)
{
    const sd_pattern *p = &layout->pattern;
    int32_t *of = sd_alloc_zero(c, blocks, sizeof *of, "levels of blocks");
    int32_t *block = sd_alloc(c, p->n, sizeof *block, "blocks of rows");
    layout->split = sd_alloc(c, p->n, sizeof *layout->split, "entries outside blocks");
    const bool failed = !of || !block || !layout->split;
    for (int32_t q = 0; q < blocks && !failed; ++q)
        for (int32_t i = t->start[q]; i < t->start[q + 1]; ++i) block[i] = q;
    for (int32_t s = 0; s < blocks && !failed; ++s) {
        const int32_t q = upper ? blocks - 1 - s : s, first = t->start[q], end = t->start[q + 1];
        for (int32_t i = first; i < end; ++i) {
            int64_t k = p->ptr[i];
            while (k < p->ptr[i + 1] && p->ind[k] < (upper ? end : first)) ++k;
            layout->split[i] = k;
            for (int64_t o = upper ? k : p->ptr[i]; o < (upper ? p->ptr[i + 1] : k); ++o)
                if (of[block[p->ind[o]]] >= of[q]) of[q] = of[block[p->ind[o]]] + 1;
        }
        if (of[q] >= *levels) *levels = of[q] + 1;
    }
    sd_free_all(c, of, block);
    return failed ? c->status : SADDLE_OK;
}

static saddle_status lay_out_blocks(sd_context *c, int32_t n, int32_t blocks, const int32_t *start,
                                    sd_triangles *t)
{
    saddle_status status = check_blocks(c, n, blocks, start);
    if (status) return status;
    t->start = sd_alloc(c, (int64_t)blocks + 1, sizeof *t->start, "blocks of rows");
    t->square = sd_alloc(c, (int64_t)blocks + 1, sizeof *t->square, "blocks of rows");
    if (!t->start || !t->square) return c->status;
    t->start[0] = 0;
    t->square[0] = 0;
    for (int32_t q = 0; q < blocks; ++q) {
        const int32_t size = start[q + 1] - start[q];
        t->start[q + 1] = start[q + 1];
        t->square[q + 1] = t->square[q] + (int64_t)size * size;
        if (size > t->lower.largest) t->lower.largest = t->upper.largest = size;
    }
    t->lower.blocks = t->upper.blocks = blocks;
    for (int k = 0; k < 2 && !status; ++k)
        status = split_rows(c, t, blocks, k == 1, &t->layout[k], &t->block_levels);
    return status;
}

/* ---- in the backend's memory ---- */

static int64_t longest_row(const sd_pattern *p)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < p->n; ++i)
        if (p->ptr[i + 1] - p->ptr[i] > longest) longest = p->ptr[i + 1] - p->ptr[i];
    return longest;
}

/* An array of the host where the backend reads it. */
static const void *placed(sd_engine *e, const void *host, int64_t count, size_t size, sd_triangles *t)
{
    const int64_t bytes = count * (int64_t)size;
    if (!host) return NULL;
    t->bytes += bytes;
    return sd_placed(e, host, bytes, "triangles");
}

static void *numbers_new(sd_engine *e, int64_t count, sd_precision precision, sd_triangles *t)
{
    const int64_t bytes = count * (int64_t)sd_precision_size(precision);
    t->bytes += bytes;
    return sd_allocate(e, bytes, "triangles");
}

static void place_triangle(sd_engine *e, const sd_triangle_layout *layout, sd_triangles *t, sd_triangle *x)
{
    const int64_t n = layout->pattern.n, entries = layout->pattern.ptr[n], blocks = x->blocks;
    x->entries = entries;
    x->longest = longest_row(&layout->pattern);
    x->ptr = placed(e, layout->pattern.ptr, n + 1, sizeof *x->ptr, t);
    x->ind = placed(e, layout->pattern.ind, entries, sizeof *x->ind, t);
    if (e->backend->host_memory) x->from = placed(e, layout->from, entries, sizeof *x->from, t);
    x->level = layout->level;
    if (e->backend->host_memory || x->way == SD_TRIANGLE_LEVELS)
        x->row = placed(e, layout->row, n, sizeof *x->row, t);
    if (!x->from) x->val = numbers_new(e, entries, x->precision, t);
    x->reciprocal = numbers_new(e, n, x->precision, t);
    if (blocks == 0) return;
    x->start = placed(e, t->start, blocks + 1, sizeof *x->start, t);
    x->split = placed(e, layout->split, n, sizeof *x->split, t);
    if (e->backend->substitutes) return;
    x->square = placed(e, t->square, blocks + 1, sizeof *x->square, t);
    x->inverse = numbers_new(e, t->square[blocks], x->precision, t);
}

/* As bench/kernels/triangle.c has measured it with two threads. The bits are the same in every way. On a
 * device rows wait for each other, in the order of levels where these are wide. */
static sd_triangle_way choose_way(const sd_engine *e, const sd_triangles *t, const sd_pattern *p,
                                  int32_t levels)
{
    if (!e->backend->host_memory)
        return p->n >= (int64_t)RENUMBER_FROM * levels ? SD_TRIANGLE_LEVELS : SD_TRIANGLE_FLAGS;
    if (t->order && p->n >= (int64_t)SHARE_FROM * levels) return SD_TRIANGLE_LEVELS;
    return e->threads >= MANY_THREADS && has_long_rows(p) ? SD_TRIANGLE_FLAGS : SD_TRIANGLE_SERIAL;
}

saddle_status sd_triangles_make(sd_engine *e, const sd_incomplete *m, sd_precision precision, int32_t blocks,
                                const int32_t *start, sd_triangles *t)
{
    sd_context *c = e->context;
    *t = (sd_triangles){.symmetric = m->symmetric};
    t->lower = (sd_triangle){.n = m->n, .precision = precision};
    t->upper = (sd_triangle){.n = m->n, .precision = precision, .upper = true};
    saddle_status status = lay_out(c, m, blocks == 0, t);
    if (!status && blocks > 0) status = lay_out_blocks(c, m->n, blocks, start, t);
    if (!status && t->order && e->backend->host_memory && e->threads > 1) status = share_levels(e, t);
    if (!status) {
        t->lower.way = choose_way(e, t, &t->layout[0].pattern, t->lower.levels);
        t->upper.way = choose_way(e, t, &t->layout[1].pattern, t->upper.levels);
        place_triangle(e, &t->layout[0], t, &t->lower);
        place_triangle(e, &t->layout[1], t, &t->upper);
        if (t->upper.from) t->upper.val = t->lower.val;
        status = e->status;
    }
    if (!status && m->diagonal) status = sd_triangles_values(e, m, t);
    if (status) sd_triangles_free(e, t);
    return e->status = status;
}

/* ---- numbers ---- */

/* Entry k of a triangle, and its diagonal. */
static double entry_of(const sd_incomplete *m, const sd_triangles *t, bool upper, int64_t k)
{
    const bool shared = upper && m->symmetric;
    const int64_t own = shared ? t->layout[1].from[k] : k;
    const int32_t *source = t->layout[upper && !shared].source;
    return (upper && !shared ? m->upper_val : m->lower_val)[source ? source[own] : own];
}

static double reciprocal_of(const sd_incomplete *m, const sd_triangles *t, bool upper, int32_t i)
{
    if (!upper && !m->symmetric) return 1;
    return 1 / m->diagonal[t->order ? t->order[i] : i];
}

/* The inverse of the diagonal block of rows first .. first + size), by columns. */
static void invert_block(const sd_incomplete *m, const sd_triangles *t, bool upper, int32_t first,
                         int32_t size, double *to)
{
    const sd_pattern *p = &t->layout[upper].pattern;
    const int64_t *split = t->layout[upper].split;
    for (int32_t j = 0; j < size; ++j) {
        double *x = to + (int64_t)j * size;
        for (int32_t s = 0; s < size; ++s) x[s] = s == j ? 1 : 0;
        for (int32_t s = 0; s < size; ++s) {
            const int32_t r = upper ? size - 1 - s : s, i = first + r;
            const int64_t end = upper ? split[i] : p->ptr[i + 1];
            for (int64_t k = upper ? p->ptr[i] : split[i]; k < end; ++k)
                x[r] -= entry_of(m, t, upper, k) * x[p->ind[k] - first];
            x[r] *= reciprocal_of(m, t, upper, i);
        }
    }
}

typedef struct filling {
    sd_engine *e;
    const sd_incomplete *m;
    sd_triangles *t;
    void *room; /* for numbers on their way to a device */
} filling;

/* Where numbers are written, and how they get to where they belong. */
static void *begin_numbers(const filling *f, const void *place)
{
    return f->e->backend->host_memory ? (void *)(uintptr_t)place : f->room;
}

static void end_numbers(const filling *f, const void *place, int64_t count, sd_precision precision)
{
    if (f->e->backend->host_memory || f->e->status) return;
    f->e->backend->upload(f->e, f->room, (void *)(uintptr_t)place,
                          count * (int64_t)sd_precision_size(precision));
}

static void fill_triangle(const filling *f, bool upper, const sd_triangle *x)
{
    const sd_precision precision = x->precision;
    const sd_pattern *p = &f->t->layout[upper].pattern;
    if (!x->from) {
        void *to = begin_numbers(f, x->val);
        for (int64_t k = 0; k < p->ptr[p->n]; ++k)
            sd_put_number(to, precision, k, entry_of(f->m, f->t, upper, k));
        end_numbers(f, x->val, p->ptr[p->n], precision);
    }
    void *to = begin_numbers(f, x->reciprocal);
    for (int32_t i = 0; i < p->n; ++i) sd_put_number(to, precision, i, reciprocal_of(f->m, f->t, upper, i));
    end_numbers(f, x->reciprocal, p->n, precision);
    if (!x->inverse) return;
    to = begin_numbers(f, x->inverse);
    for (int32_t q = 0; q < x->blocks; ++q) {
        const int32_t first = f->t->start[q], size = f->t->start[q + 1] - first;
        double inverse[SD_BLOCK_MOST * SD_BLOCK_MOST];
        invert_block(f->m, f->t, upper, first, size, inverse);
        for (int32_t k = 0; k < size * size; ++k)
            sd_put_number(to, precision, f->t->square[q] + k, inverse[k]);
    }
    end_numbers(f, x->inverse, f->t->square[x->blocks], precision);
}

saddle_status sd_triangles_values(sd_engine *e, const sd_incomplete *m, sd_triangles *t)
{
    const int64_t n = m->n, entries[] = {t->layout[0].pattern.ptr[n], t->layout[1].pattern.ptr[n]};
    const int64_t squares = t->lower.blocks > 0 ? t->square[t->lower.blocks] : 0;
    filling f = {e, m, t, NULL};
    int64_t most = n > squares ? n : squares;
    for (int k = 0; k < 2; ++k) most = entries[k] > most ? entries[k] : most;
    if (!e->backend->host_memory) {
        f.room = sd_alloc(e->context, most, sizeof(double), "triangles");
        if (!f.room) return e->status = e->context->status;
    }
    fill_triangle(&f, false, &t->lower);
    fill_triangle(&f, true, &t->upper);
    sd_free(e->context, f.room);
    return e->status;
}

/* ---- frames ---- */

static void free_frame(sd_engine *e, sd_frame *f, sd_triangles *t)
{
    if (f->order) t->bytes -= f->n * (int64_t)(sizeof *f->order + sizeof *f->scale);
    sd_release(e, f->order);
    sd_release(e, f->scale);
    *f = (sd_frame){0};
}

saddle_status sd_triangles_frame(sd_engine *e, bool leave, const int32_t *order, const double *scale,
                                 int exponent, int sign, sd_triangles *t)
{
    sd_context *c = e->context;
    const int64_t n = t->lower.n;
    sd_frame *f = leave ? &t->leave : &t->enter;
    int32_t *own = sd_alloc(c, n, sizeof *own, "order of rows");
    double *scaled = sd_alloc(c, n, sizeof *scaled, "scaling");
    free_frame(e, f, t);
    if (!own || !scaled) e->status = c->status;
    for (int32_t k = 0; k < n && !e->status; ++k) {
        const int32_t of = t->order ? t->order[k] : k;
        own[k] = order ? order[of] : of;
        scaled[k] = sign * ldexp(scale ? scale[own[k]] : 1.0, exponent);
    }
    if (!e->status) {
        *f = (sd_frame){.n = t->lower.n,
                        .order = sd_to_backend(e, own, n * (int64_t)sizeof *own, "order of rows"),
                        .scale = sd_to_backend(e, scaled, n * (int64_t)sizeof *scaled, "scaling"),
                        .precision = t->lower.precision};
        t->bytes += n * (int64_t)(sizeof *own + sizeof *scaled);
    }
    sd_free_all(c, own, scaled);
    return e->status;
}

/* ---- the end ---- */

static void free_triangle(sd_engine *e, sd_triangle *x)
{
    const void *pattern[] = {x->ptr, x->ind, x->from, x->row, x->start, x->square, x->split};
    for (size_t k = 0; k < sizeof pattern / sizeof pattern[0]; ++k) sd_unplace(e, pattern[k]);
    if (!x->from) sd_release(e, x->val);
    sd_release(e, x->reciprocal);
    sd_release(e, x->inverse);
}

void sd_triangles_free(sd_engine *e, sd_triangles *t)
{
    sd_context *c = e->context;
    sd_level_shares_free(c, &t->upper.shares);
    sd_level_shares_free(c, &t->lower.shares);
    free_triangle(e, &t->upper);
    free_triangle(e, &t->lower);
    free_frame(e, &t->enter, t);
    free_frame(e, &t->leave, t);
    for (int k = 0; k < 2; ++k) {
        sd_triangle_layout *l = &t->layout[k];
        sd_pattern_free(c, &l->pattern);
        sd_free_all(c, l->source, l->from, l->level, l->row, l->split);
    }
    sd_free_all(c, t->order, t->start, t->square);
    *t = (sd_triangles){0};
}

/* ---- what they cost ---- */

sd_trisolve_work sd_triangles_work(const sd_triangles *t)
{
    const int64_t n = t->lower.n;
    const double number = (double)sd_precision_size(t->lower.precision);
    const int32_t levels = t->lower.levels > t->upper.levels ? t->lower.levels : t->upper.levels;
    sd_trisolve_work w = {.levels = levels};
    for (int k = 0; k < 2; ++k) {
        const sd_triangle *x = k ? &t->upper : &t->lower;
        const double indices = (x->from ? 2 : 1) * sizeof *x->ind;
        /* entries; of a row its pointer, diagonal, b and y */
        w.bytes += (number + indices) * (double)x->entries + (3 * number + sizeof *x->ptr) * (double)n;
        w.longest += (double)x->longest;
    }
    w.swept = w.bytes; /* over entries */
    return w;
}

int sd_triangles_sweeps_worth(const sd_triangles *t)
{
    const sd_trisolve_work w = sd_triangles_work(t);
    return sd_trisolve_sweeps_worth(&sd_triangle_gpu, &w);
}
