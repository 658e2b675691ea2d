/*
 * METIS, called so that it gives the same result every time and leaves no trace.
 *
 * - It draws its random numbers from rand(), which belongs to the whole process. So one lock is held around
 *   every call, and the generator of the C library is given a state of our own for that time: the caller's
 *   sequence goes on afterwards as if nothing had happened. (A thread of the caller that calls rand() at the
 *   very same time still disturbs both.)
 * - While it runs it takes SIGABRT (which it raises where malloc fails) and SIGTERM for its own, leaves by
 *   longjmp out of the handler, and puts the caller's handlers back without their flags and masks. So a
 *   SIGTERM is held back until METIS is done, and mask and actions are kept and put back here. (A SIGTERM
 *   that another thread of the process receives meanwhile is beyond our reach: it ends the process.)
 * - It crashes or misbehaves on graphs without edges and on fewer than two vertices: it gets none.
 */
#define _GNU_SOURCE /* initstate, setstate */
#include "prepare/metis.h"

#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

_Static_assert(IDXTYPEWIDTH == 32, "METIS must be built with 32-bit indices (IDXTYPEWIDTH 32)");

/* What METIS changes in the process, as it was before. */
typedef struct session {
    char *random_state;
    sigset_t mask;
    struct sigaction on_abort, on_terminate;
} session;

static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;
static char metis_random_state[128];

static void begin_session(session *s)
{
    sigset_t terminate;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    pthread_mutex_lock(&metis_lock);
    pthread_sigmask(SIG_BLOCK, &terminate, &s->mask);
    sigaction(SIGABRT, NULL, &s->on_abort);
    sigaction(SIGTERM, NULL, &s->on_terminate);
    s->random_state = initstate(1, metis_random_state, sizeof metis_random_state);
}

static void end_session(const session *s)
{
    setstate(s->random_state);
    sigaction(SIGABRT, &s->on_abort, NULL);
    sigaction(SIGTERM, &s->on_terminate, NULL);
    pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
    pthread_mutex_unlock(&metis_lock);
}

static saddle_status status_of(sd_context *c, int code, const char *what)
{
    switch (code) {
    case METIS_OK: return SADDLE_OK;
    case METIS_ERROR_MEMORY:
        return sd_fail(c, SADDLE_OUT_OF_MEMORY, "METIS ran out of memory while computing %s", what);
    default:
        return sd_fail(c, SADDLE_NOT_SUPPORTED,
                       "METIS failed while computing %s (code %d): use another order or blocking", what,
                       code);
    }
}

saddle_status sd_metis_check(sd_context *c, const sd_graph *g)
{
    if (g->ptr[g->n] <= INT32_MAX) return SADDLE_OK;
    return sd_fail(c, SADDLE_NOT_SUPPORTED,
                   "the graph has %lld stored edges, but METIS supports fewer than 2^31: use order rcm or "
                   "natural, and a blocking other than metis",
                   (long long)g->ptr[g->n]);
}

/* METIS does not write to its input where the numbering begins at 0; its interface does not say so. */
static idx_t *not_written(const int32_t *array)
{
    return (idx_t *)(uintptr_t)array;
}

/*
 * The option that orders connected components one by one stays off: METIS looks through all of them at every
 * level of the dissection. Of 53 matrices with several components the slowest, with 1,744 of them, took 9
 * times as long with it, and the flops of the factor were the same within 2 % in the median.
 */
static void set_options(idx_t *options)
{
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
}

saddle_status sd_metis_order(sd_context *c, const sd_graph *g, int32_t *perm)
{
    if (g->n <= 1 || g->ptr[g->n] == 0) {
        for (int32_t v = 0; v < g->n; ++v) perm[v] = v;
        return SADDLE_OK;
    }
    saddle_status status = sd_metis_check(c, g);
    if (status) return status;
    idx_t n = g->n, options[METIS_NOPTIONS];
    idx_t *xadj = sd_alloc(c, (int64_t)n + 1, sizeof *xadj, "graph for METIS");
    idx_t *inverse = sd_alloc(c, n, sizeof *inverse, "inverse order");
    if (!xadj || !inverse) {
        status = c->status;
    } else {
        for (int32_t v = 0; v <= n; ++v) xadj[v] = (idx_t)g->ptr[v];
        set_options(options);
        session s;
        begin_session(&s);
        const int code =
            METIS_NodeND(&n, xadj, not_written(g->ind), not_written(g->size), options, perm, inverse);
        end_session(&s);
        status = status_of(c, code, "a nested dissection");
    }
    sd_free_all(c, inverse, xadj);
    return status;
}

saddle_status sd_metis_bisect(sd_context *c, const sd_metis_graph *g, double share, int32_t *side)
{
    idx_t n = g->n, constraints = 1, sides = 2, cut = 0, options[METIS_NOPTIONS];
    real_t shares[] = {(real_t)share, (real_t)(1.0 - share)};
    set_options(options);
    session s;
    begin_session(&s);
    const int code = METIS_PartGraphRecursive(&n, &constraints, g->ptr, g->ind, g->size, NULL, g->weight,
                                              &sides, shares, NULL, options, &cut, side);
    end_session(&s);
    return status_of(c, code, "a partition");
}
