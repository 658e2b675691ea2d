/*
 * The exact schedule that finds its pattern: see block_ldlt.h.
 *
 * Columns are made left-looking, those of one level of the elimination tree at once, each by one thread from
 * its terms to its last block: what a term reads was last touched long ago, and is read once. First comes
 * S_j; where a pivot of it is small, the block is pushed back, at the end of all others, and its column waits
 * until then. A block (i, j) that A does not have is fill, and kept by the rule,
 *
 * - by level: 1 + level(i, k) + level(j, k), the least over k, is at most so much;
 * - by threshold: max |C_ij G_j| >= tau, on the final value. Never is a block of A left out.
 *
 * The order of sums is that of positions, and whether a block is pushed back depends on its own S_j alone, so
 * the result is the same however columns are shared among threads. What was scheduled before blocks were
 * pushed back stays right for those that were not (they only lose terms), so it goes on, while a second
 * thread makes the schedule of the next generation (Stretching Jacobi, end of section V).
 */
#include "core/crew.h"
#include "factor/ldlt_column.h"
#include "plan/levels_ahead.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    PIECE = 2048,   /* columns between two looks at the limits */
    COLUMNS = 4,    /* that a thread takes at a time */
    COPIES = 256,   /* the same where they are only copied */
    CHUNK = 1 << 20 /* bytes of an arena's chunk, at least */
};

typedef struct chunk {
    struct chunk *next;
    int64_t used, size;
} chunk;

typedef sd_ldlt_column column;

/* Where a row meets a column: one of a list. */
typedef struct meeting {
    int32_t next, column, index;
} meeting;

typedef struct worker {
    sd_ldlt_workspace workspace;
    sd_engine e; /* of the diagonal blocks, one at a time */
    chunk *arena;
    int64_t entries;
    sd_ldlt_counts counts;
} worker;

typedef struct finding {
    sd_context *c;
    const sd_block_matrix *B;
    const sd_ldlt_rule *rule;
    sd_block_order order;
    sd_ldlt_counts counts;

    worker *workers;
    int threads;
    column *columns;
    int32_t *head; /* of each row's list of meetings; -1: none */
    meeting *meetings;
    int64_t meeting_count, meeting_room;

    int64_t *square;
    char *inverse;
    const int32_t *piece; /* blocks whose columns are being made */
    bool *weak;           /* of a piece: those with a small pivot, whose columns wait */
    int32_t *again;       /* those of them that are not pushed back after all */
    bool accept;          /* small pivots are moved, and no column waits */
    bool *push;
    sd_levels_ahead next; /* of the generation after this one */
    sd_crew *crew;        /* NULL: one thread */
    saddle_status status; /* of a thread */
    saddle_status result; /* of all */
    sd_ldlt_plan *plan;
    sd_ldlt_numbers *numbers;
} finding;

/* ---- memory ---- */

/* Of a chunk for at least so many: where the memory is limited, no large part of what is left. */
static int64_t chunk_bytes(const sd_context *c, int64_t least)
{
    enum { PART = 64 };
    const int64_t left = c->limit > 0 ? (c->limit - sd_bytes_in_use(c)) / PART : CHUNK;
    const int64_t most = left < CHUNK ? left : CHUNK;
    return least > most ? least : most;
}

static void *take(finding *f, worker *w, int64_t bytes)
{
    bytes = (bytes + 63) / 64 * 64;
    if (!w->arena || w->arena->used + bytes > w->arena->size) {
        int64_t size;
        chunk *more;
#pragma omp critical(sd_ldlt_memory)
        {
            size = chunk_bytes(f->c, bytes + 64);
            more = sd_alloc(f->c, size, 1, "factors");
        }
        if (!more) return NULL;
        more->next = w->arena;
        more->used = 64;
        more->size = size;
        w->arena = more;
    }
    void *block = (char *)w->arena + w->arena->used;
    w->arena->used += bytes;
    return block;
}

static void free_arena(sd_context *c, worker *w)
{
    while (w->arena) {
        chunk *next = w->arena->next;
        sd_free(c, w->arena);
        w->arena = next;
    }
}

static saddle_status begin(finding *f)
{
    sd_context *c = f->c;
    const sd_block_matrix *B = f->B;
    const sd_precision precision = f->rule->precision;
    saddle_status status = sd_block_order_make(c, B->blocks, &f->order);
    f->threads = f->rule->threads > 0 ? f->rule->threads : 1;
    f->workers = sd_alloc_zero(c, f->threads, sizeof *f->workers, "factorization");
    f->columns = sd_alloc_zero(c, B->blocks, sizeof *f->columns, "factorization");
    f->head = sd_alloc(c, B->blocks, sizeof *f->head, "factorization");
    f->square = sd_alloc(c, (int64_t)B->blocks + 1, sizeof *f->square, "factorization");
    f->weak = sd_alloc(c, PIECE, sizeof *f->weak, "factorization");
    f->again = sd_alloc(c, PIECE, sizeof *f->again, "factorization");
    f->push = sd_alloc_zero(c, B->blocks, sizeof *f->push, "factorization");
    if (status || !f->workers || !f->columns || !f->head || !f->square || !f->weak || !f->again || !f->push)
        return c->status;
    int64_t total = 0;
    for (int32_t i = 0; i < B->blocks; ++i) {
        const int64_t size = B->start[i + 1] - B->start[i];
        f->head[i] = -1;
        f->square[i] = total;
        total += size * size;
    }
    f->square[B->blocks] = total;
    f->inverse = sd_alloc(c, total, sd_precision_size(precision), "inverses of diagonal blocks");
    if (!f->inverse) return c->status;
    if (f->threads > 1) status = sd_crew_make(c, 1, &f->crew);
    for (int t = 0; t < f->threads && !status; ++t) {
        status = sd_ldlt_workspace_make(c, B, precision, f->rule->reference, &f->workers[t].workspace);
        if (!status)
            status = sd_engine_open_host(c, &f->workers[t].e,
                                         f->rule->reference ? SADDLE_DEVICE_REFERENCE : SADDLE_DEVICE_CPU, 1);
    }
    return status;
}

static void end(finding *f)
{
    sd_context *c = f->c;
    sd_block_levels unused;
    sd_levels_ahead_end(c, -1, 0, &f->next, &unused);
    for (int t = 0; t < f->threads && f->workers; ++t) {
        sd_engine_close(&f->workers[t].e);
        sd_ldlt_workspace_free(c, &f->workers[t].workspace);
        free_arena(c, &f->workers[t]);
    }
    sd_block_order_free(c, &f->order);
    sd_crew_free(c, f->crew);
    sd_free_all(c, f->workers, f->columns, f->head, f->meetings, f->square, f->inverse, f->weak, f->again,
                f->push);
}

/* ---- one column ---- */

/* The numbers of a column stand behind its list. */
static int64_t list_bytes(int32_t count)
{
    return (count * (int64_t)sizeof(sd_ldlt_block) + 63) / 64 * 64;
}

static char *data_of(const column *from)
{
    return (char *)from->list + list_bytes(from->count);
}

static int32_t size_of(const finding *f, int32_t i)
{
    return f->B->start[i + 1] - f->B->start[i];
}

/* The earlier columns that meet row j, by position. Meetings are in the reverse of the order in which
 * columns were done, which is nearly that of positions. */
static saddle_status gather_terms(finding *f, int32_t j, sd_ldlt_workspace *d)
{
    const int64_t number = (int64_t)sd_precision_size(d->precision);
    d->terms = 0;
    for (int32_t m = f->head[j]; m >= 0; m = f->meetings[m].next) {
        const int32_t k = f->meetings[m].column, index = f->meetings[m].index;
        const column *from = &f->columns[k];
        const int32_t first = from->crossed ? 0 : index;
        sd_ldlt_term *t = sd_ldlt_term_new(f->c, d);
        if (!t) return f->c->status;
        *t = (sd_ldlt_term){.data = data_of(from),
                            .inverse = f->inverse + f->square[k] * number,
                            .own = &from->list[index],
                            .tail = from->list + first,
                            .count = from->count - first,
                            .size = size_of(f, k),
                            .position = f->order.position[k]};
    }
    sd_ldlt_sort_terms(d);
    return SADDLE_OK;
}

/* Touches what the terms fill in. */
static void meet_terms(const finding *f, int32_t j, sd_ldlt_workspace *d)
{
    const int32_t *position = f->order.position;
    const bool fills = f->rule->fill != SD_FILL_NONE && !f->counts.full;
    for (int32_t t = 0; t < d->terms; ++t) {
        const sd_ldlt_term *term = &d->term[t];
        for (int32_t k = 0; k < term->count; ++k) {
            const sd_ldlt_block *b = &term->tail[k];
            const int32_t i = b->other;
            if (d->place[i] < 0) {
                if (!fills || position[i] <= position[j]) continue;
                sd_ldlt_touch(d, i);
            }
            d->met[i].rows |= b->columns;
            d->met[i].columns |= term->own->columns;
            const int32_t level = 1 + b->level + term->own->level;
            if (level < d->met[i].level) d->met[i].level = level;
        }
    }
}

/* Which rows and columns of block (i, j) are kept; none: nothing. */
static void choose(const finding *f, int32_t i, int32_t j, const sd_ldlt_workspace *d, sd_ldlt_met *m)
{
    const sd_ldlt_rule *rule = f->rule;
    const int rows = size_of(f, i), columns = size_of(f, j);
    const bool fill = m->a_rows == 0;
    m->rows |= m->a_rows;
    m->columns |= m->a_columns;
    if (rule->fill == SD_FILL_LEVEL && fill && m->level > rule->level) m->rows = m->columns = 0;
    if (rule->fill != SD_FILL_TAU) return;
    if (!fill) return;
    const double weight =
        d->k->weight(sd_ldlt_accumulator(d, i), rows, columns, sd_ldlt_ld(columns, d->precision),
                     f->inverse + f->square[j] * (int64_t)sd_precision_size(d->precision));
    if (!(weight >= rule->tau)) m->rows = m->columns = 0;
}

static int bits(uint32_t mask)
{
    int count = 0;
    for (; mask; mask &= mask - 1) ++count;
    return count;
}

/* Chooses what is kept of column j: so many blocks, with so many entries. The first that was touched is that
 * of the diagonal. */
static int32_t choose_blocks(const finding *f, int32_t j, sd_ldlt_workspace *d, int64_t *entries)
{
    int32_t count = 0;
    *entries = 0;
    sd_ldlt_sort(d, f->order.position, d->count - 1, d->touched + 1);
    for (int32_t k = 1; k < d->count; ++k) {
        sd_ldlt_met *m = &d->met[d->touched[k]];
        choose(f, d->touched[k], j, d, m);
        if (m->rows == 0) continue;
        m->height = (uint8_t)bits(m->rows);
        m->width = (uint8_t)bits(m->columns);
        *entries += m->height * m->width;
        ++count;
    }
    return count;
}

/* Keeps what the rule says of the accumulators. */
static saddle_status store_column(finding *f, int32_t j, worker *w)
{
    sd_ldlt_workspace *d = &w->workspace;
    const int64_t number = (int64_t)sd_precision_size(d->precision);
    const int ld = sd_ldlt_ld(size_of(f, j), d->precision);
    const bool symbolic = f->rule->symbolic;
    column *to = &f->columns[j];
    int64_t entries;
    const int32_t count = choose_blocks(f, j, d, &entries);
    to->list = take(f, w, list_bytes(count) + (symbolic ? 0 : entries * number));
    if (!to->list) return f->c->status;
    to->count = count;
    char *const data = data_of(to);
    sd_ldlt_block *block = to->list;
    int64_t next = 0;
    for (int32_t k = 1; k < d->count; ++k) {
        const int32_t i = d->touched[k];
        const sd_ldlt_met *m = &d->met[i];
        if (m->rows == 0) continue;
        *block++ = (sd_ldlt_block){.entry = next,
                                   .rows = m->columns,
                                   .columns = m->rows,
                                   .other = i,
                                   .height = m->width,
                                   .width = m->height,
                                   .transposed = 1,
                                   .level = (uint8_t)(m->level < 255 ? m->level : 255)};
        if (!symbolic)
            d->k->keep_block(sd_ldlt_accumulator(d, i), ld, m->rows, m->columns, data + next * number);
        next += m->height * m->width;
    }
    w->entries += entries;
    return SADDLE_OK;
}

/* G_j from the accumulator of the diagonal block. False where a pivot is small and the column has to wait. */
static bool make_pivot(finding *f, int32_t j, bool accept, worker *w)
{
    const sd_ldlt_workspace *d = &w->workspace;
    const int64_t number = (int64_t)sd_precision_size(d->precision);
    const sd_batch_rule rule = {.kernel = f->rule->kernel, .small = accept ? f->rule->small : f->rule->weak};
    const int size = size_of(f, j);
    _Alignas(64) double s[SD_BLOCK_MOST * SD_BLOCK_MOST];
    d->k->keep_diagonal(sd_ldlt_accumulator(d, j), sd_ldlt_ld(size, d->precision), size, s);
    char *const inverse = f->inverse + f->square[j] * number;
    const sd_batch_state state = sd_ldlt_invert(&w->e, &rule, size, d->precision, s, inverse);
    if (!accept && (state.perturbed > 0 || state.status != SD_BLOCK_OK)) return false;
    w->counts.two_by_two += __builtin_popcount(state.pairs);
    w->counts.negative += state.negative;
    w->counts.perturbed += state.perturbed;
    w->counts.replaced += state.status != SD_BLOCK_OK;
    for (int k = 0; k < size * size; ++k) {
        const double x = fabs(sd_number_at(inverse, d->precision, k));
        w->counts.largest = fmax(w->counts.largest, isnan(x) ? INFINITY : x);
    }
    return true;
}

/* Column j, unless it is weak: then it is left for later. */
static saddle_status make_column(finding *f, int32_t j, bool accept, worker *w, bool *weak)
{
    sd_ldlt_workspace *d = &w->workspace;
    *weak = false;
    saddle_status status = gather_terms(f, j, d);
    if (!status) {
        sd_ldlt_touch(d, j);
        sd_ldlt_meet_matrix(f->B, f->order.position, j, d);
        meet_terms(f, j, d);
    }
    if (!status && !f->rule->symbolic) {
        status = sd_ldlt_accumulate(f->c, f->B, j, d);
        if (!status) {
            w->counts.flops += sd_ldlt_subtract(f->B, j, d);
            *weak = !make_pivot(f, j, accept, w);
            status = w->e.status;
        }
    }
    if (!status && !*weak) status = store_column(f, j, w);
    sd_ldlt_clear(d);
    return status;
}

/* ---- a piece of a level ---- */

static saddle_status link_column(finding *f, int32_t j)
{
    const column *from = &f->columns[j];
    if (f->meeting_count + from->count > f->meeting_room) {
        const int64_t room = 2 * (f->meeting_count + from->count) + 1024;
        if (room > INT32_MAX)
            return sd_fail(f->c, SADDLE_NOT_SUPPORTED, "the factors have too many blocks: use a larger tau");
        meeting *more;
#pragma omp critical(sd_ldlt_memory)
        {
            more = sd_alloc(f->c, room, sizeof *more, "factorization");
            if (more) {
                if (f->meeting_count > 0) memcpy(more, f->meetings, (size_t)f->meeting_count * sizeof *more);
                sd_free(f->c, f->meetings);
            }
        }
        if (!more) return f->c->status;
        f->meetings = more;
        f->meeting_room = room;
    }
    for (int32_t k = 0; k < from->count; ++k) {
        const int32_t i = from->list[k].other;
        f->meetings[f->meeting_count] = (meeting){f->head[i], j, k};
        f->head[i] = (int32_t)f->meeting_count++;
    }
    return SADDLE_OK;
}

typedef struct share {
    finding *f;
    int32_t count, grain;
    saddle_status (*work)(finding *, int32_t, worker *);
} share;

static void run_share(void *what, int32_t piece)
{
    const share *s = what;
    finding *f = s->f;
    worker *w = &f->workers[f->crew ? omp_get_thread_num() : 0];
    const int32_t first = piece * s->grain, end = s->count - first < s->grain ? s->count : first + s->grain;
    for (int32_t k = first; k < end; ++k) {
        saddle_status status;
#pragma omp atomic read
        status = f->status;
        if (!status) status = s->work(f, k, w);
        if (status) {
#pragma omp atomic write
            f->status = status;
        }
    }
}

/* Runs work(f, k, worker) for k below count, `grain` of them at a time. */
static saddle_status in_parallel(finding *f, int32_t count, int32_t grain,
                                 saddle_status (*work)(finding *, int32_t, worker *))
{
    share s = {f, count, count < 8 ? count : grain, work};
    f->status = SADDLE_OK;
    if (count > 0) sd_crew_each(f->crew, (count + s.grain - 1) / s.grain, run_share, &s);
    return f->status;
}

static saddle_status column_of(finding *f, int32_t k, worker *w)
{
    const int32_t j = f->piece[k];
    const bool accept = f->accept || f->order.generation[j] >= f->rule->generations;
    return make_column(f, j, accept, w, &f->weak[k]);
}

/* Columns of blocks that have small pivots and stay where they are. */
static saddle_status again_of(finding *f, int32_t k, worker *w)
{
    bool weak;
    return make_column(f, f->again[k], true, w, &weak);
}

/* Pushes the weak blocks of a piece back, in its order, as many as may be; the columns of the others are made
 * after all. */
static saddle_status settle_weak(finding *f, int32_t count)
{
    const int64_t before = f->counts.pushed_back;
    int32_t again = 0;
    for (int32_t k = 0; k < count; ++k) {
        const int32_t j = f->piece[k];
        if (!f->weak[k]) continue;
        if (f->counts.pushed_back >= f->rule->most_pushed) {
            f->again[again++] = j;
            continue;
        }
        f->push[j] = true;
        ++f->counts.pushed_back;
        for (int32_t m = f->head[j]; m >= 0; m = f->meetings[m].next)
            f->columns[f->meetings[m].column].crossed = true;
    }
    saddle_status status = again > 0 ? in_parallel(f, again, COLUMNS, again_of) : SADDLE_OK;
    for (int32_t k = 0; k < count && !status; ++k)
        if (!f->push[f->piece[k]]) status = link_column(f, f->piece[k]);
    if (status || f->counts.pushed_back == before) return status;
#pragma omp critical(sd_ldlt_memory)
    status = sd_push_back(f->c, f->push, &f->order);
    memset(f->push, 0, (size_t)f->B->blocks * sizeof *f->push);
    return status ? status
                  : sd_levels_ahead_begin(f->c, &f->B->graph, &f->order, f->counts.pushed_back, &f->next);
}

static saddle_status run_piece(finding *f, int32_t count, const int32_t *blocks)
{
    f->piece = blocks;
    f->accept = f->counts.pushed_back >= f->rule->most_pushed;
    saddle_status status = in_parallel(f, count, COLUMNS, column_of);
    if (!status) status = settle_weak(f, count);
    int64_t entries = 0;
    double flops = 0, largest = 0;
    for (int t = 0; t < f->threads; ++t) {
        entries += f->workers[t].entries;
        flops += f->workers[t].counts.flops;
        largest = fmax(largest, f->workers[t].counts.largest);
    }
    f->counts.full = f->counts.full || (f->rule->most > 0 && entries > f->rule->most);
    f->counts.expensive = f->counts.expensive || (f->rule->most_flops > 0 && flops > f->rule->most_flops) ||
                          (f->rule->most_inverse > 0 && largest > f->rule->most_inverse);
    return status;
}

/* ---- levels ---- */

static saddle_status run_levels(finding *f, const sd_block_levels *levels, int64_t *done)
{
    saddle_status status = SADDLE_OK;
    for (int32_t l = 0; l < levels->count && !status && !f->counts.expensive; ++l) {
        for (int32_t k = levels->first[l]; k < levels->first[l + 1] && !status && !f->counts.expensive;
             k += PIECE) {
            const int32_t left = levels->first[l + 1] - k, count = left < PIECE ? left : PIECE;
            status = run_piece(f, count, levels->block + k);
            *done += count;
        }
        if (!status) status = sd_progress(f->c, "factor", *done, f->B->blocks + f->counts.pushed_back, NAN);
    }
    return status;
}

static saddle_status run(finding *f)
{
    int64_t done = 0;
    saddle_status status = SADDLE_OK;
    for (int32_t generation = 0; generation <= f->order.generations && !status && !f->counts.expensive;
         ++generation) {
        sd_block_levels levels = {0};
        if (!sd_levels_ahead_end(f->c, generation, f->counts.pushed_back, &f->next, &levels))
            status = sd_levels_of_tree(f->c, &f->B->graph, &f->order, generation, &levels);
        if (!status) status = run_levels(f, &levels, &done);
#pragma omp critical(sd_ldlt_memory) /* the schedule of the next generation may be under way */
        sd_block_levels_free(f->c, &levels);
    }
    return status;
}

/* The numbers of column j of the plan. */
static saddle_status copy_column(finding *f, int32_t j, worker *w)
{
    const sd_ldlt_plan *plan = f->plan;
    sd_ldlt_numbers *x = f->numbers;
    const int64_t number = (int64_t)sd_precision_size(f->rule->precision);
    int64_t *const place = w->workspace.place; /* of a block in its column: nothing meets any more */
    const int32_t old = plan->block_at[j];
    const column *from = &f->columns[old];
    memcpy((char *)x->inverse + plan->square[j] * number, f->inverse + f->square[old] * number,
           (size_t)((plan->square[j + 1] - plan->square[j]) * number));
    for (int32_t k = 0; k < from->count; ++k) place[from->list[k].other] = k;
    for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) {
        const sd_ldlt_block *b = &plan->list[k];
        const int64_t entry = from->list[place[plan->block_at[b->other]]].entry;
        memcpy((char *)x->data + b->entry * number, data_of(from) + entry * number,
               (size_t)(b->height * b->width * number));
    }
    return SADDLE_OK;
}

/* The plan, and the numbers in its order. */
static saddle_status conclude(finding *f)
{
    sd_context *c = f->c;
    sd_ldlt_numbers *x = f->numbers;
    const size_t number = sd_precision_size(f->rule->precision);
    x->precision = f->rule->precision;
    saddle_status status = sd_ldlt_plan_make(c, f->B->start, &f->order, f->columns, f->plan);
    if (status || f->rule->symbolic) return status;
    x->data = sd_alloc(c, f->plan->entries, number, "factors");
    x->inverse = sd_alloc(c, f->plan->square[f->plan->blocks], number, "factors");
    if (!x->data || !x->inverse) return c->status;
    return in_parallel(f, f->plan->blocks, COPIES, copy_column);
}

/* All of it, by a crew or alone: its threads wait for each other at every level. */
static void search(void *what, int32_t item)
{
    finding *f = what;
    (void)item;
    f->result = run(f);
    if (!f->result && !f->counts.expensive) f->result = conclude(f);
}

saddle_status sd_ldlt_find(sd_context *c, const sd_block_matrix *B, const sd_ldlt_rule *rule,
                           const bool *last, sd_ldlt_plan *plan, sd_ldlt_numbers *x, sd_ldlt_counts *counts)
{
    finding f = {.c = c, .B = B, .rule = rule, .plan = plan, .numbers = x};
    *plan = (sd_ldlt_plan){0};
    *x = (sd_ldlt_numbers){0};
    saddle_status status = begin(&f);
    if (!status && last) status = sd_push_back(c, last, &f.order);
    if (!status) {
        if (f.crew)
            sd_crew_run(f.crew, f.threads, search, &f);
        else
            search(&f, 0);
        status = f.result;
    }
    for (int t = 0; t < f.threads && f.workers; ++t) {
        const sd_ldlt_counts *own = &f.workers[t].counts;
        f.counts.two_by_two += own->two_by_two;
        f.counts.negative += own->negative;
        f.counts.perturbed += own->perturbed;
        f.counts.replaced += own->replaced;
        f.counts.flops += own->flops;
        f.counts.largest = fmax(f.counts.largest, own->largest);
    }
    *counts = f.counts;
    end(&f);
    if (status) {
        sd_ldlt_plan_free(c, plan);
        sd_ldlt_numbers_free(c, NULL, x);
    }
    return status;
}
