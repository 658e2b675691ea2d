/*
 * Rows of an incomplete factor by levels, shared among threads: see incomplete_parts.h. Levels that are too
 * little work for a team follow one another on one thread, as in triangular solves.
 */
#include "core/barrier.h"
#include "factor/incomplete_parts.h"

#include <math.h>
#include <omp.h>

enum {
    PIECE = 8192, /* units between two looks at whether to go on */
    THIN = 20000  /* multiplications: what a barrier takes */
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

saddle_status sd_units_make(sd_context *c, const sd_pattern *needs, double work, int threads, sd_units *u)
{
    *u = (sd_units){.count = needs->n, .threads = sd_team(threads), .work = work};
    if (u->threads < 1 || u->work * u->count < 2 * THIN) u->threads = 1;
    if (u->threads == 1) return SADDLE_OK;
    return sd_pattern_levels(c, needs, false, &u->levels, &u->level, &u->unit);
}

void sd_units_free(sd_context *c, sd_units *u)
{
    sd_free_all(c, u->level, u->unit);
    *u = (sd_units){0};
}

static void make_units(run *t, int thread, const int32_t *unit, int32_t from, int32_t to)
{
    for (int32_t end; from < to && !atomic_load(&t->stop); from = end) {
        end = to - from < PIECE ? to : from + PIECE;
        if (t->body(t->what, thread, unit, from, end)) continue;
        atomic_store(&t->broken, true);
        atomic_store(&t->stop, true);
    }
}

static void tell(run *t, int32_t done)
{
    if (atomic_load(&t->stop)) return;
    t->status = sd_progress(t->c, "factor", done, t->u->count, NAN);
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
        if (threads > 1 && is_thin(u, l)) {
            while (beyond < u->levels && is_thin(u, beyond)) ++beyond;
            if (thread == 0) make_units(t, 0, u->unit, u->level[l], u->level[beyond]);
        } else {
            const int64_t first = u->level[l], count = u->level[l + 1] - first;
            make_units(t, thread, u->unit, (int32_t)(first + count * thread / threads),
                       (int32_t)(first + count * (thread + 1) / threads));
        }
        if (thread == 0 && u->level[beyond] - told >= PIECE) tell(t, told = u->level[beyond]);
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
        for (int32_t from = 0, to; from < u->count && !atomic_load(&t.stop); from = to) {
            to = u->count - from < PIECE ? u->count : from + PIECE;
            tell(&t, from);
            make_units(&t, 0, NULL, from, to);
        }
    }
    *broken = atomic_load(&t.broken);
    return t.status;
}
