/* Triangular solves on the assembly tree: memory, tasks, panels. See triangular.h. */
#include "solve/triangular.h"

#include "factor/device_fronts.h"

#include "factor/climb.h"
#include "solve/refinement.h"
#include "solve/simplicial.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* Below this many entries of L a team of threads costs more than it saves. */
static const int64_t PARALLEL_FROM = 400000;

enum { ROWS = 64 };

/* A block of right-hand sides on its way through the tree. */
typedef struct walk {
    const sd_factors *f;
    const sd_solve_room *room;
    int parts;
    int32_t k;
    void *x;       /* n x k by rows */
    void *handed;  /* room->handed x k */
    char *scratch; /* one for each thread */
    int64_t scratch_bytes;
    int32_t *waiting; /* tasks that each front waits for */
    sd_crew *crew;    /* NULL: one thread */
} walk;

/* The work on fronts in one precision. */
typedef struct walker {
    void (*forward_group)(const walk *s, int32_t g, void *scratch);
    void (*forward_top)(const walk *s, int32_t f, void *scratch);
    void (*backward_front)(const walk *s, int32_t f, void *scratch);
    void (*diagonal_front)(const walk *s, int32_t f, void *scratch);
    void (*gather)(const double *x, int64_t ldx, int32_t n, int32_t k, void *block);
    void (*scatter)(const void *block, int32_t n, int32_t k, double *x, int64_t ldx);
    void (*gather_frame)(const sd_solve_frame *q, const double *r, int64_t ldr, int32_t n, int32_t k,
                         void *block, int *shifts);
    void (*scatter_frame)(const sd_solve_frame *q, const int *shifts, const void *block, int32_t k, double *z,
                          int64_t ldz);
} walker;

#define TEMPLATE "solve/triangular_walk.inc"
#include "backend/both_precisions.inc"

static const walker *walker_of(const sd_factors *f)
{
    return f->precision == SD_DOUBLE ? &walker_double : &walker_single;
}

saddle_status sd_solve_room_make(sd_context *c, const sd_factors *f, sd_solve_room *room)
{
    const sd_tree *t = f->tree;
    int64_t live = 0, *slot = room->slot;
    *room = (sd_solve_room){.largest = 1, .slot = slot};
    if (f->simplicial || f->device) return SADDLE_OK; /* x is all that it works in */
    if (!slot) slot = sd_alloc(c, t->fronts, sizeof *slot, "solve");
    if (!slot) return c->status;
    room->slot = slot;
    for (int32_t k = 0; k < t->fronts; ++k) {
        const int32_t g = t->group_of[k], parent = t->parent[k];
        const bool inner = g >= 0 && parent >= 0 && t->group_of[parent] == g;
        if (f->front[k].rows > room->largest) room->largest = f->front[k].rows;
        room->slot[k] = -1;
        if (inner) {
            live += sd_front_below(t, k);
            if (live > room->stack) room->stack = live;
        } else if (parent >= 0) {
            room->slot[k] = room->handed;
            room->handed += sd_front_below(t, k);
        }
        if (g < 0) continue;
        for (int64_t e = t->child_ptr[k]; e < t->child_ptr[k + 1]; ++e)
            live -= sd_front_below(t, t->child[e]);
    }
    return SADDLE_OK;
}

void sd_solve_room_free(sd_context *c, sd_solve_room *room)
{
    sd_free(c, room->slot);
    *room = (sd_solve_room){0};
}

static void *scratch_of(const walk *s)
{
    return s->scratch + (s->crew ? omp_get_thread_num() : 0) * s->scratch_bytes;
}

static void forward_group(void *what, int32_t g)
{
    const walk *s = what;
    walker_of(s->f)->forward_group(s, g, scratch_of(s));
}

static void forward_top(void *what, int32_t f)
{
    const walk *s = what;
    walker_of(s->f)->forward_top(s, f, scratch_of(s));
}

static void backward_group(const walk *s, int32_t g)
{
    const sd_tree *t = s->f->tree;
    for (int32_t f = t->group_last[g]; f >= t->group_first[g]; --f)
        walker_of(s->f)->backward_front(s, f, scratch_of(s));
}

static void backward_task(void *what, int32_t item);

/* Whether a front stands for a task: one above the groups, or the last of a group. */
static bool is_task(const sd_tree *t, int32_t f)
{
    const int32_t g = t->group_of[f];
    return g < 0 || t->group_last[g] == f;
}

/* Posts the tasks of these fronts: fronts first, as more follows from them, then groups. */
static void post_tasks(const walk *s, const int32_t *front, int64_t count)
{
    const sd_tree *t = s->f->tree;
    for (int64_t e = count - 1; e >= 0; --e) {
        const int32_t f = front[e], g = t->group_of[f];
        if (is_task(t, f))
            sd_crew_post(s->crew, g < 0, backward_task, (void *)(uintptr_t)s, g < 0 ? f : -1 - g);
    }
}

/* Posts what is below a front, but for the first of its children that is a front above the groups: that is
 * the one to go on with, for which no other thread must be found (climb.c). -1: there is none. */
static int32_t go_down(const walk *s, int32_t f)
{
    const sd_tree *t = s->f->tree;
    const int32_t *child = t->child + t->child_ptr[f];
    const int64_t count = t->child_ptr[f + 1] - t->child_ptr[f];
    int64_t first = 0;
    while (first < count && t->group_of[child[first]] >= 0) ++first;
    if (first == count) {
        post_tasks(s, child, count);
        return -1;
    }
    post_tasks(s, child + first + 1, count - first - 1);
    post_tasks(s, child, first);
    return child[first];
}

static void backward_task(void *what, int32_t item)
{
    const walk *s = what;
    if (item < 0) {
        backward_group(s, -1 - item);
        return;
    }
    for (int32_t f = item; f >= 0; f = go_down(s, f)) walker_of(s->f)->backward_front(s, f, scratch_of(s));
}

static void backward_roots(void *what, int32_t item)
{
    const walk *s = what;
    const sd_tree *t = s->f->tree;
    (void)item;
    for (int32_t f = t->fronts - 1; f >= 0; --f)
        if (t->parent[f] < 0) post_tasks(s, &f, 1);
}

static void forward_tasks(void *what, int32_t item)
{
    (void)item;
    sd_climb_tree(what);
}

static void run_parallel(walk *s, sd_climb *forward, int threads)
{
    if (s->parts & SD_SOLVE_FORWARD) sd_crew_run(s->crew, threads, forward_tasks, forward);
    if (s->parts & SD_SOLVE_BACKWARD) sd_crew_run(s->crew, threads, backward_roots, s);
}

static void run_sequential(const walk *s, const sd_climb *forward)
{
    const sd_tree *t = s->f->tree;
    const walker *on = walker_of(s->f);
    if (s->parts & SD_SOLVE_FORWARD) sd_climb_tree(forward);
    for (int32_t f = 0; f < t->fronts && s->parts == SD_SOLVE_DIAGONAL; ++f)
        on->diagonal_front(s, f, s->scratch);
    for (int32_t f = t->fronts - 1; f >= 0 && (s->parts & SD_SOLVE_BACKWARD); --f)
        on->backward_front(s, f, s->scratch);
}

/* Of one thread, on whole cache lines. */
static int64_t scratch_bytes(const sd_solve_room *room, int32_t k, size_t number)
{
    return ((room->largest + room->stack) * k * (int64_t)number + 63) / 64 * 64;
}

void sd_solve_memory_free(sd_context *c, sd_solve_memory *m)
{
    sd_free_all(c, m->x, m->handed, m->scratch, m->waiting);
    sd_crew_free(c, m->crew);
    *m = (sd_solve_memory){0};
}

/* Memory for blocks of at most k columns, unless there is as much already. */
static saddle_status reserve(sd_context *c, const sd_factors *f, const sd_solve_room *room, int32_t k,
                             int threads, sd_solve_memory *m)
{
    const size_t number = sd_precision_size(f->precision);
    if (m->k >= k && m->threads == threads) return SADDLE_OK;
    sd_solve_memory_free(c, m);
    m->x = sd_alloc(c, (int64_t)f->tree->n * k, number, "block of right-hand sides");
    m->handed = sd_alloc(c, room->handed * k, number, "block of right-hand sides");
    m->scratch = sd_alloc(c, scratch_bytes(room, k, number) * threads, 1, "block of right-hand sides");
    if (threads > 1) m->waiting = sd_alloc(c, f->tree->fronts, sizeof *m->waiting, "solve");
    if (threads > 1) sd_crew_make(c, f->tree->fronts, &m->crew);
    if (!m->x || !m->handed || !m->scratch || (threads > 1 && (!m->waiting || !m->crew))) {
        sd_solve_memory_free(c, m);
        return c->status;
    }
    m->k = k;
    m->threads = threads;
    return SADDLE_OK;
}

/* Makes ready for blocks of at most `k` columns. */
static saddle_status begin_block(sd_context *c, const sd_factors *f, const sd_solve_room *room, int parts,
                                 int32_t k, int threads, sd_solve_memory *m, walk *s)
{
    const bool parallel =
        threads > 1 && !f->simplicial && parts != SD_SOLVE_DIAGONAL && f->nnz * k >= PARALLEL_FROM;
    const saddle_status status = reserve(c, f, room, k, parallel ? threads : 1, m);
    *s = (walk){.f = f, .room = room, .parts = parts, .x = m->x, .handed = m->handed};
    s->scratch = m->scratch;
    s->scratch_bytes = scratch_bytes(room, k, sd_precision_size(f->precision));
    s->waiting = m->waiting;
    s->crew = m->crew;
    return status;
}

static void run_block(walk *s, int threads)
{
    sd_climb forward = {s->f->tree, s->waiting, forward_group, forward_top, s, s->crew};
    if (s->f->simplicial)
        sd_simplicial_solve(s->f->kernels->simplicial, s->f->simplicial, s->parts, s->k, s->x);
    else if (s->crew)
        run_parallel(s, &forward, threads);
    else
        run_sequential(s, &forward);
}

static int32_t block_width(int64_t left)
{
    return (int32_t)(left < SD_RHS_BLOCK ? left : SD_RHS_BLOCK);
}

/* Between columns by position and a block in the order of a sequence. */
static void gather_sequence(const sd_sequence *q, const double *x, int64_t ldx, int32_t k, double *block)
{
    for (int32_t r = 0; r < k; ++r)
        for (int32_t i = 0; i < q->n; ++i) block[(int64_t)i * k + r] = x[r * ldx + q->variable[i]];
}
static void scatter_sequence(const sd_sequence *q, const double *block, int32_t k, double *x, int64_t ldx)
{
    for (int32_t r = 0; r < k; ++r)
        for (int32_t i = 0; i < q->n; ++i) x[r * ldx + q->variable[i]] = block[(int64_t)i * k + r];
}

saddle_status sd_triangular_solve(sd_context *c, const sd_factors *f, const sd_solve_room *room, int parts,
                                  int64_t nrhs, double *x, int64_t ldx, int threads)
{
    if (f->device) return sd_device_fronts_solve(c, f, parts, nrhs, x, ldx);
    walk s = {0};
    sd_solve_memory memory = {0};
    const int32_t n = f->tree->n;
    saddle_status status = SADDLE_OK;
    if (nrhs > 0) status = begin_block(c, f, room, parts, block_width(nrhs), threads, &memory, &s);
    for (int64_t first = 0; first < nrhs && !status; first += SD_RHS_BLOCK) {
        s.k = block_width(nrhs - first);
        if (f->simplicial)
            gather_sequence(&f->simplicial->s, x + first * ldx, ldx, s.k, s.x);
        else
            walker_of(f)->gather(x + first * ldx, ldx, n, s.k, s.x);
        run_block(&s, threads);
        if (f->simplicial)
            scatter_sequence(&f->simplicial->s, s.x, s.k, x + first * ldx, ldx);
        else
            walker_of(f)->scatter(s.x, n, s.k, x + first * ldx, ldx);
    }
    sd_solve_memory_free(c, &memory);
    return status;
}

saddle_status sd_triangular_between(sd_context *c, const sd_factors *f, const sd_solve_room *room,
                                    const sd_solve_frame *frame, int64_t nrhs, const double *r, int64_t ldr,
                                    double *z, int64_t ldz, int threads, sd_solve_memory *memory)
{
    if (f->device) return sd_device_fronts_between(c, f, frame, nrhs, r, ldr, z, ldz);
    walk s = {0};
    sd_solve_memory own = {0};
    sd_solve_frame at = *frame;
    saddle_status status = SADDLE_OK;
    if (f->simplicial) at.position = f->simplicial->s.place;
    if (nrhs > 0)
        status =
            begin_block(c, f, room, SD_SOLVE_WHOLE, block_width(nrhs), threads, memory ? memory : &own, &s);
    for (int64_t first = 0; first < nrhs && !status; first += SD_RHS_BLOCK) {
        int shifts[SD_RHS_BLOCK];
        s.k = block_width(nrhs - first);
        walker_of(f)->gather_frame(&at, r + first * ldr, ldr, f->tree->n, s.k, s.x, shifts);
        run_block(&s, threads);
        walker_of(f)->scatter_frame(&at, shifts, s.x, s.k, z + first * ldz, ldz);
    }
    sd_solve_memory_free(c, &own);
    return status;
}
