/*
 * Rows of an incomplete factor by levels, shared among threads: see incomplete_parts.h.
 *
 * What is put into levels are runs: units that follow one another, each needing the one before it, such as
 * the points of a line of a grid. They would have to wait for each other anyway, and their entries lie side
 * by side. Levels that are too little work for a team follow one another on one thread, as in triangular
 * solves.
 */
#include "core/barrier.h"
#include "factor/incomplete_parts.h"

#include <math.h>
#include <omp.h>

enum {
    PIECE = 8192, /* units between two looks at whether to go on */
    RUN = 64,     /* units of a run, at most */
    THIN = 20000, /* multiplications: what a barrier takes */
    FAR = 100     /* multiplications: what it takes to begin a run somewhere else */
};

typedef struct run {
    sd_context *c;
    const sd_units *u;
    sd_units_body *body;
    void *what;
    sd_barrier barrier;
    atomic_bool stop, broken;
    saddle_status status; /* of the caller's thread */
} run;

static int32_t row_of(const sd_units *u, int32_t unit)
{
    return u->row ? u->row[unit] : unit;
}

/* Units where runs begin, and the end; first may be NULL. Returns how many runs there are. */
static int32_t find_runs(const sd_units *u, const sd_pattern *L, int32_t *first)
{
    int32_t runs = 0, began = 0;
    for (int32_t k = 0; k < u->count; ++k) {
        const int32_t i = row_of(u, k);
        const int64_t end = L->ptr[i + 1];
        if (k > 0 && k - began < RUN && end > L->ptr[i] && L->ind[end - 1] == i - 1) continue;
        if (first) first[runs] = k;
        began = k;
        ++runs;
    }
    if (first) first[runs] = u->count;
    return runs;
}

/* The runs that each run needs. of[i], which is room, becomes the run of row i, and mark[s] the last that
 * was found to need run s. */
static void find_needs(const sd_units *u, const sd_pattern *L, int32_t *of, int32_t *mark, sd_pattern *needs)
{
    int64_t count = 0;
    for (int32_t s = 0; s < u->runs; ++s) {
        const int32_t from = row_of(u, u->first[s]), to = row_of(u, u->first[s + 1]);
        needs->ptr[s] = count;
        mark[s] = s;
        for (int32_t i = from; i < to; ++i) of[i] = s;
        for (int64_t k = L->ptr[from]; k < L->ptr[to]; ++k) {
            const int32_t other = of[L->ind[k]];
            if (mark[other] != s) needs->ind[count++] = other;
            mark[other] = s;
        }
    }
    needs->ptr[u->runs] = count;
}

static saddle_status make_levels(sd_context *c, const sd_pattern *L, sd_units *u)
{
    int32_t *of = sd_alloc(c, L->n, sizeof *of, "runs of rows");
    int32_t *mark = sd_alloc(c, u->runs, sizeof *mark, "runs that a run needs");
    sd_pattern needs = {.n = u->runs};
    needs.ptr = sd_alloc(c, (int64_t)u->runs + 1, sizeof *needs.ptr, "rows of a pattern of runs");
    needs.ind = sd_alloc(c, L->ptr[L->n], sizeof *needs.ind, "a pattern of runs");
    u->first = sd_alloc(c, (int64_t)u->runs + 1, sizeof *u->first, "runs");
    saddle_status status = of && mark && needs.ptr && needs.ind && u->first ? SADDLE_OK : c->status;
    if (!status) {
        find_runs(u, L, u->first);
        find_needs(u, L, of, mark, &needs);
        status = sd_pattern_levels(c, &needs, false, &u->levels, &u->level, &u->run);
    }
    sd_pattern_free(c, &needs);
    sd_free_all(c, of, mark);
    return status;
}

saddle_status sd_units_make(sd_context *c, const sd_pattern *L, const int32_t *row, int32_t count,
                            double work, int threads, sd_units *u)
{
    *u = (sd_units){.count = count, .row = row, .threads = 1};
    if (threads < 2 || work < 2 * THIN) return SADDLE_OK;
    u->runs = find_runs(u, L, NULL);
    u->work = work / u->runs;
    if (u->work * (threads - 1) < FAR) return SADDLE_OK;
    u->threads = sd_team(threads);
    return u->threads > 1 ? make_levels(c, L, u) : SADDLE_OK;
}

void sd_units_free(sd_context *c, sd_units *u)
{
    sd_free_all(c, u->first, u->level, u->run);
    *u = (sd_units){0};
}

static void make_units(run *t, int thread, int32_t from, int32_t to)
{
    if (atomic_load_explicit(&t->stop, memory_order_relaxed) || t->body(t->what, thread, from, to)) return;
    atomic_store(&t->broken, true);
    atomic_store(&t->stop, true);
}

static void make_runs(run *t, int thread, int32_t from, int32_t to)
{
    for (int32_t k = from; k < to; ++k) {
        const int32_t s = t->u->run[k];
        make_units(t, thread, t->u->first[s], t->u->first[s + 1]);
    }
}

static void tell(run *t, int64_t done, int64_t total)
{
    if (atomic_load(&t->stop)) return;
    t->status = sd_progress(t->c, "factor", done, total, NAN);
    if (t->status) atomic_store(&t->stop, true);
}

static bool is_thin(const sd_units *u, int32_t l)
{
    return u->work * (u->level[l + 1] - u->level[l]) < THIN;
}

/* All threads come to every barrier, also when there is nothing left to do. */
static void run_levels(run *t, int thread, int threads)
{
    const sd_units *const u = t->u;
    int32_t told = 0;
    for (int32_t l = 0, beyond; l < u->levels; l = beyond) {
        beyond = l + 1;
        if (is_thin(u, l)) {
            while (beyond < u->levels && is_thin(u, beyond)) ++beyond;
            if (thread == 0) make_runs(t, 0, u->level[l], u->level[beyond]);
        } else {
            const int64_t first = u->level[l], count = u->level[beyond] - first;
            make_runs(t, thread, (int32_t)(first + count * thread / threads),
                      (int32_t)(first + count * (thread + 1) / threads));
        }
        if (thread == 0 && u->level[beyond] - told >= PIECE / RUN) {
            told = u->level[beyond];
            tell(t, told, u->runs);
        }
        sd_barrier_wait(&t->barrier);
    }
}

static void run_team(run *t)
{
#pragma omp parallel num_threads(t->u->threads)
    {
        const int threads = omp_get_num_threads(), thread = omp_get_thread_num(); /* maybe fewer */
#pragma omp single
        sd_barrier_make(&t->barrier, threads);
        run_levels(t, thread, threads);
    }
    sd_barrier_free(&t->barrier);
}

saddle_status sd_units_run(sd_context *c, const sd_units *u, sd_units_body *body, void *what, bool *broken)
{
    run t = {.c = c, .u = u, .body = body, .what = what};
    atomic_init(&t.stop, false);
    atomic_init(&t.broken, false);
    if (u->threads > 1) {
        run_team(&t);
    } else {
        for (int32_t from = 0, to; from < u->count; from = to) {
            to = u->count - from < PIECE ? u->count : from + PIECE;
            tell(&t, from, u->count);
            make_units(&t, 0, from, to);
        }
    }
    *broken = atomic_load(&t.broken);
    return t.status;
}
