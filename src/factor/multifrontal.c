/*
 * The multifrontal factorization: fronts in the order of the tree. See multifrontal.h.
 *
 * A front is assembled from A's entries and from what its children hand up, factored, and its
 * contribution block updated; then its children's blocks are released. Columns that found no stable
 * pivot stay in the front's panel until the parent has taken them over as its first columns.
 *
 * Tasks are the groups of leaf subtrees and the fronts above them. A front becomes a task when the last
 * of the tasks below it is done. What a task computes does not depend on who runs it or when: blocks are
 * added in the order of the children's numbers, and kernels that split their work split it the same
 * way for any number of threads.
 */
#include "factor/multifrontal.h"

#include "backend/blas.h"
#include "factor/arena.h"
#include "factor/climb.h"
#include "factor/rank.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SPAN_SHARED = 8192,  /* entries of a front that one of several threads assembles at a time, */
    SPAN_ALONE = 32768,  /* or one alone: they stay in its cache, */
    SPAN_CHILD = 4,      /* and as many for each child, which it has to look at */
    SHARES = 256,        /* fronts of less than one part in so many of the limit are added up */
    FILLED_LATER = 192,  /* order of a rest that one thread alone fills when it is updated */
    CLEARED_WHOLE = 4096 /* entries that are cleared in one piece, though half of them may not be there */
};

/* A factorization at work. What tasks write is atomic or under the storage's lock, and so is the context. */
typedef struct running {
    sd_context *c;
    sd_factors *f;
    const sd_factor_options *options;
    size_t number;     /* bytes of a number */
    sd_crew *crew;     /* NULL: one thread */
    atomic_bool ended; /* by a failure, by cancelling, by a limit, or by a pivot that is not positive */
    atomic_bool abandoned;
    atomic_flag telling; /* a thread is in the caller's progress function */
    bool failed;         /* c has the status and the message, of the last failure where there are several */
    bool indefinite;
    double done; /* operations */
    /* Operations of the fronts that were begun, as if all their columns were eliminated. A sum of whole
     * numbers: whether it comes to exceed a limit does not depend on the order in which fronts are begun.
     * Apart from what every thread reads for every front. */
    _Alignas(64) atomic_llong begun;
} running;

/* What one task holds and has counted. */
typedef struct task {
    running *r;
    void *work;
    int64_t work_bytes;
    sd_panel_room room; /* for the panels of a group */
    long long begun;    /* operations that r->begun does not have yet */
    sd_pivots pivots;
    int64_t delayed, nnz, largest_front;
    int64_t signs[3];
    bool suspects;
    double flops, told; /* operations, and how many of them were reported already */
    int64_t rows;       /* of the front at hand */
    double front_told;  /* of its operations */
} task;

/* One group is one task: a team would have nothing to share. A single front above all groups is cut up. */
static bool is_one_group(const sd_tree *t)
{
    return t->groups == 1 && t->group_first[0] == 0 && t->group_last[0] == t->fronts - 1;
}

saddle_status sd_fronts_make(sd_context *c, double delays, sd_factors *f)
{
    const sd_tree *t = f->tree;
    int64_t tops = 0, arena;
    for (int32_t k = 0; k < t->fronts; ++k) tops += t->group_of[k] < 0;
    f->front = sd_alloc_zero(c, t->fronts, sizeof *f->front, "fronts");
    f->waiting = sd_alloc(c, t->fronts, sizeof *f->waiting, "fronts");
    saddle_status status = f->front && f->waiting ? SADDLE_OK : c->status;
    if (!status && !is_one_group(t)) status = sd_crew_make(c, t->fronts, &f->crew);
    if (!status) status = sd_arena_measure(c, t, f->kernels, f->precision, &arena);
    if (!status) {
        const int64_t blocks = 4 * ((int64_t)t->groups + tops);
        const int64_t large = sd_storage_large(sd_panels_bytes(t, f->precision, INT64_MAX, 0));
        status = sd_storage_make(c, sd_panels_bytes(t, f->precision, large, delays), large, arena, blocks,
                                 &f->storage);
    }
    if (status) sd_fronts_free(c, f);
    return status;
}

void sd_fronts_free(sd_context *c, sd_factors *f)
{
    sd_free_all(c, f->front, f->waiting);
    sd_storage_free(c, f->storage);
    sd_crew_free(c, f->crew);
    f->front = NULL;
    f->waiting = NULL;
    f->storage = NULL;
    f->crew = NULL;
}

/* A task failed, and the context says why; or it met a pivot that is not positive. Either ends all tasks. */
static void end_all(running *r, bool failed)
{
    sd_storage_lock(r->f->storage);
    if (failed)
        r->failed = true;
    else
        r->indefinite = true;
    sd_storage_unlock(r->f->storage);
    atomic_store(&r->ended, true);
}

/* The panel of a front that takes over so many delayed columns, not cleared; false where there is no memory.
 */
static bool place_front(task *k, int32_t f, int32_t delays)
{
    running *r = k->r;
    const sd_tree *t = r->f->tree;
    sd_front *front = &r->f->front[f];
    const int32_t own = sd_front_columns(t, f), columns = own + delays;
    *front = (sd_front){.rows = columns + sd_front_below(t, f), .columns = columns, .delays = delays};
    front->ld = front->rows;
    const int64_t panel = front->ld * columns;
    const int64_t bytes = sd_panel_bytes(front->rows, columns, r->f->precision);
    front->panel = sd_storage_panel(r->c, r->f->storage, &k->room, bytes);
    if (!front->panel) return false;
    front->d = (char *)front->panel + (size_t)panel * r->number;
    front->variable = (int32_t *)(void *)((char *)front->d + 2 * (size_t)columns * r->number);
    for (int32_t i = 0; i < own; ++i) front->variable[delays + i] = t->first[f] + i;
    return true;
}

static int32_t delays_out(const sd_front *front)
{
    return front->columns - front->eliminated;
}

/* A front that is assembled, in `pieces` spans of its columns. */
typedef struct assembly {
    const running *r;
    int32_t f, pieces;
    bool rest_later; /* the rest is assembled a block at a time when it is updated */
} assembly;

/* In how many spans a front is assembled. Each goes through all children. */
static int32_t count_spans(const sd_tree *t, int32_t f, const sd_front *front, bool shared)
{
    const int64_t children = t->child_ptr[f + 1] - t->child_ptr[f];
    const int64_t entries = (int64_t)front->rows * front->rows / 2;
    return 1 + (int32_t)(entries / ((shared ? SPAN_SHARED : SPAN_ALONE) + SPAN_CHILD * children));
}

/* Where span k begins: all have about as many entries of the lower triangle. */
static int32_t span_begin(const assembly *a, int32_t k)
{
    const double rows = a->r->f->front[a->f].rows;
    return (int32_t)(rows - rows * sqrt(1 - (double)k / a->pieces));
}

/* Columns [from, to) of the panel, from the diagonal down. */
static void clear_panel(sd_front *front, int32_t from, int32_t to, size_t number)
{
    const size_t ld = (size_t)front->ld;
    if (from >= to) return;
    if (ld * (size_t)(to - from) <= CLEARED_WHOLE) {
        memset((char *)front->panel + (size_t)from * ld * number, 0, ld * (size_t)(to - from) * number);
        return;
    }
    for (size_t k = (size_t)from; k < (size_t)to; ++k)
        memset((char *)front->panel + (k * ld + k) * number, 0, (ld - k) * number);
}

static void add_children(const assembly *a, sd_span *span)
{
    const sd_factors *all = a->r->f;
    const sd_tree *t = all->tree;
    const int32_t f = a->f;
    int32_t at = 0;
    for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
        const sd_front *child = &all->front[t->child[k]];
        all->kernels->add_child(&all->front[f], child, t->place + t->row_ptr[t->child[k]], at, span);
        at += delays_out(child);
    }
}

/* Columns of a front, cleared, from A and the children. */
static void assemble_span(void *what, int32_t piece)
{
    const assembly *a = what;
    const sd_factors *all = a->r->f;
    const sd_tree *t = all->tree;
    sd_front *front = &all->front[a->f];
    sd_span span = {span_begin(a, piece), span_begin(a, piece + 1), true};
    const sd_front_entries entries = {t->entry_ptr + t->first[a->f], t->entry_row, all->values};
    if (a->rest_later && span.to > front->columns) span.to = front->columns;
    if (piece > 0 && span.from >= span.to) return;
    clear_panel(front, span.from, span.to < front->columns ? span.to : front->columns, a->r->number);
    all->kernels->add_entries(front, &entries, &span);
    add_children(a, &span);
    if (piece == 0) front->rest_empty = span.rest_empty; /* that of all spans */
}

/* Columns of the rest, where that was left for later. */
static void fill_rest(void *what, int32_t from, int32_t to)
{
    const assembly *a = what;
    const int32_t columns = a->r->f->front[a->f].columns;
    sd_span span = {columns + from, columns + to, true};
    add_children(a, &span);
}

/* Panel and contribution block of a front, but for what is left for later. */
static bool assemble(task *k, int32_t f, void *rest, sd_crew *crew, assembly *a)
{
    running *r = k->r;
    const sd_tree *t = r->f->tree;
    sd_front *front = &r->f->front[f];
    int32_t delays = 0;
    for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e)
        delays += delays_out(&r->f->front[t->child[e]]);
    if (!place_front(k, f, delays)) return false;
    front->rest = rest;
    *a = (assembly){r, f, count_spans(t, f, front, crew), !crew && sd_front_below(t, f) >= FILLED_LATER};
    sd_crew_each(crew, a->pieces, assemble_span, a);
    a->rest_later = a->rest_later && !front->rest_empty;
    return true;
}

/* Workspace for the front at hand. */
static bool reserve(task *k, const sd_front *front)
{
    running *r = k->r;
    const int64_t bytes = r->f->kernels->work(front->rows, front->columns) * (int64_t)r->number;
    if (bytes <= k->work_bytes) return true;
    sd_storage_give(r->f->storage, k->work, k->work_bytes);
    k->work = sd_storage_take(r->c, r->f->storage, bytes, "workspace of a front");
    k->work_bytes = k->work ? bytes : 0;
    return k->work != NULL;
}

static void count(task *k, int32_t f, const sd_front *front)
{
    const int64_t rows = front->rows, e = front->eliminated;
    for (int32_t j = front->eliminated; j < front->columns; ++j)
        k->delayed += front->variable[j] >= k->r->f->tree->first[f];
    k->nnz += e * rows - e * (e - 1) / 2;
    k->flops += sd_front_flops(rows, e);
    if (rows > k->largest_front) k->largest_front = rows;
    const sd_run run = {front->eliminated, front->variable, front->d};
    sd_add_signs(k->r->f, &run, k->signs);
    if (k->r->options->pivoting.rule == SD_PIVOT_THRESHOLD && !k->suspects)
        k->suspects = sd_has_suspects(k->r->f, &run);
}

/* Progress is told by whoever has come across another hundredth, one thread at a time: a long way up the tree
 * may be gone by a thread that is not the caller's, and it has to be possible to stop it. The caller's
 * function runs outside the lock and on a context of its own, so that nobody waits for it: who comes while it
 * runs does not tell. */
static void tell(running *r, double flops)
{
    const double total = r->f->tree->flops, step = total / 100;
    sd_storage_lock(r->f->storage);
    const bool due = floor(r->done / step) < floor((r->done + flops) / step);
    r->done += flops;
    const double part = r->done < total ? r->done / total : 1.0;
    sd_storage_unlock(r->f->storage);
    if (!due || atomic_load(&r->ended) || atomic_flag_test_and_set(&r->telling)) return;
    sd_context told;
    sd_context_init(&told, &r->c->hooks, 0);
    const saddle_status status = sd_progress(&told, "factor", (int64_t)(1000 * part), 1000, NAN);
    atomic_flag_clear(&r->telling);
    if (!status) return;
    sd_storage_lock(r->f->storage);
    sd_fail(r->c, status, "%s", told.message);
    sd_storage_unlock(r->f->storage);
    end_all(r, true);
}

/* A large front reports on its way: the last ones take a good part of the time. */
static bool report_front(void *what, int32_t eliminated)
{
    task *k = what;
    const double flops = sd_front_flops(k->rows, eliminated) - k->front_told;
    k->front_told += flops;
    k->told += flops;
    tell(k->r, flops);
    return atomic_load(&k->r->ended);
}

/* Memory of a task; without it all tasks end. */
static void *take(running *r, int64_t bytes, const char *what)
{
    void *memory = sd_storage_take(r->c, r->f->storage, bytes, what);
    if (!memory) end_all(r, true);
    return memory;
}

/* Adds what the task has begun. Beyond the limit on operations all tasks end. */
static bool is_within_limit(task *k)
{
    running *r = k->r;
    const long long flops = k->begun;
    k->begun = 0;
    if (flops == 0 || (double)(atomic_fetch_add(&r->begun, flops) + flops) <= r->options->most_flops)
        return true;
    atomic_store(&r->abandoned, true);
    atomic_store(&r->ended, true);
    return false;
}

/* Whether the limit on operations allows this front too. Small ones are added up first. */
static bool is_allowed(task *k, const sd_front *front)
{
    const double most = k->r->options->most_flops;
    if (most == 0) return true;
    k->begun += llround(sd_front_flops(front->rows, front->columns));
    return (double)k->begun < most / SHARES || is_within_limit(k);
}

/* Assembles and factors a front whose children are done. */
static bool run_front(task *k, int32_t f, void *rest, sd_crew *crew)
{
    running *r = k->r;
    sd_front *front = &r->f->front[f];
    sd_pivoting pivoting = r->options->pivoting;
    pivoting.root = r->f->tree->parent[f] < 0;
    pivoting.report = report_front;
    pivoting.what = k;
    assembly a;
    if (!assemble(k, f, rest, crew, &a) || !reserve(k, front)) {
        end_all(r, true);
        return false;
    }
    if (!is_allowed(k, front)) return false;
    k->rows = front->rows;
    k->front_told = 0;
    r->f->kernels->factor(front, &pivoting, &k->pivots, k->work, crew);
    if (atomic_load(&r->ended)) return false; /* the front may have been given up */
    if (pivoting.rule == SD_PIVOT_POSITIVE && front->eliminated < front->columns) {
        end_all(r, false);
        return false;
    }
    const sd_filling filling = {fill_rest, &a};
    if (front->rows > front->columns)
        r->f->kernels->update(front, k->work, a.rest_later ? &filling : NULL, crew);
    count(k, f, front);
    return true;
}

static int64_t rest_bytes(const running *r, int32_t f)
{
    return sd_rest_size(sd_front_below(r->f->tree, f)) * (int64_t)r->number;
}

/* The blocks of the children of f have been added. Those of the roots of a group are one piece. */
static void give_children(running *r, int32_t f)
{
    const sd_tree *t = r->f->tree;
    for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
        const int32_t child = t->child[k], g = t->group_of[child];
        sd_front *front = &r->f->front[child];
        if (g < 0)
            sd_storage_give(r->f->storage, front->rest, rest_bytes(r, child));
        else if (child == sd_group_root(t, g))
            sd_storage_give(r->f->storage, front->rest, sd_group_bytes(t, g, r->number));
        front->rest = NULL;
    }
}

static void finish_task(task *k)
{
    running *r = k->r;
    sd_factors *f = r->f;
    is_within_limit(k);
    sd_storage_give(f->storage, k->work, k->work_bytes);
    sd_storage_lock(f->storage);
    f->pivots.positive += k->pivots.positive;
    f->pivots.negative += k->pivots.negative;
    f->pivots.zero += k->pivots.zero;
    f->pivots.two_by_two += k->pivots.two_by_two;
    f->pivots.perturbed += k->pivots.perturbed;
    for (int i = 0; i < 3; ++i) f->signs[i] += k->signs[i];
    f->suspects |= k->suspects;
    f->delayed += k->delayed;
    f->nnz += k->nnz;
    if (k->largest_front > f->largest_front) f->largest_front = k->largest_front;
    sd_storage_unlock(f->storage);
    tell(r, k->flops - k->told);
}

/* Fronts of a group, one after the other, their blocks on a stack with two ends (plan/groups.c), those of its
 * roots one behind the other in `roots`. */
static void run_fronts(task *k, int32_t g, char *low, char *high, char *roots)
{
    running *r = k->r;
    const sd_tree *t = r->f->tree;
    for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) {
        const int32_t parent = t->parent[f];
        const bool inner = parent >= 0 && t->group_of[parent] == g;
        const int64_t bytes = rest_bytes(r, f);
        void *rest = NULL;
        if (atomic_load_explicit(&r->ended, memory_order_relaxed)) return;
        if (!inner && parent >= 0) {
            rest = roots;
            roots += sd_storage_round(bytes);
        } else if (inner && t->odd[f]) {
            rest = high -= bytes;
        } else if (inner) {
            rest = low;
            low += bytes;
        }
        if (!run_front(k, f, rest, NULL)) return;
        for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e) {
            const int64_t child = rest_bytes(r, t->child[e]);
            if (t->odd[f])
                low -= child;
            else
                high += child;
            r->f->front[t->child[e]].rest = NULL;
        }
    }
}

/* Room for the panels of a group, as planned: what one thread writes is not on the same lines of the cache as
 * what another does, and in the order of the tree. */
static void reserve_panels(task *k, int32_t g)
{
    const sd_factors *f = k->r->f;
    const sd_tree *t = f->tree;
    int64_t bytes = 0;
    for (int32_t i = t->group_first[g]; i <= t->group_last[g]; ++i) {
        const int32_t columns = sd_front_columns(t, i);
        bytes += sd_storage_planned(f->storage,
                                    sd_panel_bytes(columns + sd_front_below(t, i), columns, f->precision));
    }
    k->room = sd_storage_reserve(f->storage, bytes);
}

static void run_group(void *what, int32_t g)
{
    running *r = what;
    task k = {.r = r};
    const int64_t bytes = r->f->tree->group_stack[g] * (int64_t)r->number;
    const int64_t kept = sd_group_bytes(r->f->tree, g, r->number);
    char *roots = NULL;
    if (atomic_load(&r->ended)) return;
    if (kept > 0) {
        roots = take(r, kept, "contribution blocks");
        if (!roots) return;
    }
    char *stack = take(r, bytes, "contribution blocks");
    if (!stack) return;
    reserve_panels(&k, g);
    run_fronts(&k, g, stack, stack + bytes, roots);
    sd_storage_give(r->f->storage, stack, bytes);
    finish_task(&k);
}

static void run_top(void *what, int32_t f)
{
    running *r = what;
    task k = {.r = r};
    void *rest = NULL;
    if (atomic_load(&r->ended)) return;
    if (r->f->tree->parent[f] >= 0) {
        rest = take(r, rest_bytes(r, f), "contribution block");
        if (!rest) return;
    }
    if (run_front(&k, f, rest, r->crew)) give_children(r, f);
    finish_task(&k);
}

/* Flops as eliminated, summed in the order of the fronts, so that they have the same bits too. */
static double add_flops(const sd_factors *f)
{
    double flops = 0;
    for (int32_t k = 0; k < f->tree->fronts; ++k)
        flops += sd_front_flops(f->front[k].rows, f->front[k].eliminated);
    return flops;
}

static void climb_tree(void *what, int32_t item)
{
    (void)item;
    sd_climb_tree(what);
}

saddle_status sd_fronts_run(sd_context *c, sd_factors *f, const sd_factor_options *options)
{
    const sd_tree *t = f->tree;
    running r = {.c = c,
                 .f = f,
                 .options = options,
                 .number = sd_precision_size(f->precision),
                 .crew = options->threads > 1 ? f->crew : NULL,
                 .telling = ATOMIC_FLAG_INIT};
    f->pivots = (sd_pivots){0};
    f->delayed = f->nnz = f->largest_front = 0;
    f->signs[0] = f->signs[1] = f->signs[2] = 0;
    f->definite = f->suspects = false;
    const saddle_status status = sd_storage_clear(c, f->storage);
    if (status) return status;
    sd_blas_enter();
    sd_climb climb = {t, f->waiting, run_group, run_top, &r, r.crew};
    if (r.crew)
        sd_crew_run(r.crew, options->threads, climb_tree, &climb);
    else
        sd_climb_tree(&climb);
    sd_blas_leave();
    if (c->limit > 0) sd_storage_trim(c, f->storage); /* solves need memory too */
    f->abandoned = atomic_load(&r.abandoned) && !r.failed;
    const bool done = !r.failed && !r.indefinite && !f->abandoned;
    f->definite = done && options->pivoting.rule == SD_PIVOT_POSITIVE;
    if (done) f->flops = add_flops(f);
    return r.failed ? c->status : SADDLE_OK;
}
