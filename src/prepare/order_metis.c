/*
 * METIS, so called that it gives the same result every time and leaves no trace.
 *
 * - It draws its random numbers from rand(), which belongs to the whole process. So one lock is held around
 *   every call, and the generator of the C library is given a state of our own for that time: the caller's
 *   sequence goes on afterwards as if nothing had happened. (A thread of the caller that calls rand() at the
 *   very same time still disturbs both.)
 * - While it runs it handles SIGABRT (which it raises where malloc fails) and SIGTERM (where it has failed,
 * or where someone sent one) and leaves by longjmp out of the handler, so that the signal stays blocked. What
 * it puts back at its end is the caller's handler without its flags and mask. So mask and actions are kept
 * and put back here. (A SIGTERM that another thread receives meanwhile ends the process.)
 * - It crashes or misbehaves on graphs without edges and on fewer than two vertices: it gets none.
 */
#define _DEFAULT_SOURCE /* initstate, setstate */
#include "prepare/metis.h"

#include <math.h>
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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
    pthread_mutex_lock(&metis_lock);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
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
        return sd_fail(c, SADDLE_OUT_OF_MEMORY, "METIS ran out of memory while it made %s", what);
    default:
        return sd_fail(c, SADDLE_CANCELLED,
                       "METIS gave up while it made %s (code %d): a SIGTERM came, or it "
                       "failed; another order or blocking does without it",
                       what, code);
    }
}

/* The pointers of the graph in METIS' width, or NULL. */
static idx_t *narrow_pointers(sd_context *c, const sd_graph *g)
{
    if (g->ptr[g->n] > INT32_MAX) {
        sd_fail(
            c, SADDLE_NOT_SUPPORTED,
            "the graph has %lld stored edges, and METIS takes fewer than 2^31: use the order rcm or natural",
            (long long)g->ptr[g->n]);
        return NULL;
    }
    idx_t *xadj = sd_alloc(c, (int64_t)g->n + 1, sizeof *xadj, "graph for METIS");
    for (int32_t v = 0; xadj && v <= g->n; ++v) xadj[v] = (idx_t)g->ptr[v];
    return xadj;
}

/* METIS does not write to its input where the numbering begins at 0; its interface does not say so. */
static idx_t *not_written(const int32_t *array)
{
    return (idx_t *)(uintptr_t)array;
}

/*
 * The option that orders connected components one by one stays off: METIS walks through all of them at every
 * level of the dissection, which took up to 350 times as long, and the flops of the factor stayed the same
 * within 1 % (median of 53 matrices of several components).
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
    saddle_status status = SADDLE_OK;
    idx_t n = g->n, options[METIS_NOPTIONS];
    idx_t *xadj = narrow_pointers(c, g);
    idx_t *inverse = sd_alloc(c, n, sizeof *inverse, "inverse order");
    if (!xadj || !inverse) {
        status = c->status;
    } else {
        set_options(options);
        session s;
        begin_session(&s);
        const int code =
            METIS_NodeND(&n, xadj, not_written(g->ind), not_written(g->size), options, perm, inverse);
        end_session(&s);
        status = status_of(c, code, "a nested dissection");
    }
    sd_free(c, inverse);
    sd_free(c, xadj);
    return status;
}

enum { HEAVIEST = 10000 }; /* edge: sums over a vertex of 2 * 10^5 edges still fit 32 bits */

/*
 * Whole edge weights from 1 to HEAVIEST, linear in a_vw / sqrt(m_v m_w), m_v being the largest weight at v.
 * Linear, since what a partition should keep small is the sum of what it cuts: in logarithms ten weak edges
 * would outweigh a strong one. Relative to both ends, so that a badly scaled matrix does not make all edges
 * but a few equal; where a scaling has made the largest entry of every row 1, it is a_vw itself.
 */
static idx_t *whole_weights(sd_context *c, const sd_graph *g)
{
    double *root = sd_alloc(c, g->n, sizeof *root, "largest edge weights");
    idx_t *adjwgt = sd_alloc(c, g->ptr[g->n], sizeof *adjwgt, "edge weights for METIS");
    if (root && adjwgt) {
        for (int32_t v = 0; v < g->n; ++v) {
            double largest = 0.0;
            for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) largest = fmax(largest, g->weight[k]);
            root[v] = sqrt(largest);
        }
        for (int32_t v = 0; v < g->n; ++v) {
            for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
                const double scale = root[v] * root[g->ind[k]];
                const double share = scale > 0.0 ? fmin(g->weight[k] / scale, 1.0) : 0.0;
                adjwgt[k] = 1 + (idx_t)((HEAVIEST - 1) * share);
            }
        }
    } else {
        sd_free(c, adjwgt);
        adjwgt = NULL;
    }
    sd_free(c, root);
    return adjwgt;
}

saddle_status sd_metis_partition(sd_context *c, const sd_graph *g, int32_t parts, int32_t *part)
{
    if (parts < 1 || (parts > g->n && g->n > 0))
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "a graph of %d vertices cannot be put into %d parts", g->n,
                       parts);
    if (parts == 1 || g->ptr[g->n] == 0) {
        for (int32_t v = 0; v < g->n; ++v) part[v] = (int32_t)((int64_t)v * parts / g->n);
        return SADDLE_OK;
    }
    saddle_status status = SADDLE_OK;
    idx_t n = g->n, constraints = 1, count = parts, cut = 0, options[METIS_NOPTIONS];
    idx_t *xadj = narrow_pointers(c, g);
    idx_t *adjwgt = xadj && g->weight ? whole_weights(c, g) : NULL;
    if (!xadj || (g->weight && !adjwgt)) {
        status = c->status;
    } else {
        set_options(options);
        session s;
        begin_session(&s);
        const int code =
            METIS_PartGraphKway(&n, &constraints, xadj, not_written(g->ind), not_written(g->size), NULL,
                                adjwgt, &count, NULL, NULL, options, &cut, part);
        end_session(&s);
        status = status_of(c, code, "a partition");
    }
    sd_free(c, adjwgt);
    sd_free(c, xadj);
    return status;
}
