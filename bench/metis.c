/* See metis.h. */
#define _GNU_SOURCE
#include "bench/metis.h"

#include "cli/probe.h"
#include "cli/progress.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Every entry off the diagonal at both its ends; that none stands twice the conversion sees to. */
static saddle_status make_graph(bare_metis *m, const saddle_matrix *A)
{
    saddle_matrix C = {0};
    saddle_status status = saddle_convert(A, SADDLE_COORDINATES, SADDLE_GENERAL, &m->hooks, &C, NULL);
    if (status != SADDLE_OK) return status;
    int32_t *ends = malloc((4 * (size_t)C.entries + 1) * sizeof *ends);
    double *zeros = calloc(2 * (size_t)C.entries + 1, sizeof *zeros); /* stay in the pattern */
    if (ends && zeros) {
        saddle_matrix edges = C;
        int32_t *from = ends, *to = ends + 2 * C.entries;
        edges.entries = 0;
        for (int64_t e = 0; e < C.entries; ++e) {
            const int32_t i = C.indices[e], j = C.col_indices[e];
            if (i == j) continue;
            from[edges.entries] = to[edges.entries + 1] = i;
            to[edges.entries] = from[edges.entries + 1] = j;
            edges.entries += 2;
        }
        edges.indices = from;
        edges.col_indices = to;
        edges.values = zeros;
        status = saddle_convert(&edges, SADDLE_ROWS, SADDLE_GENERAL, &m->hooks, &m->graph, NULL);
    } else {
        status = SADDLE_OUT_OF_MEMORY;
    }
    free(ends);
    free(zeros);
    saddle_matrix_free(&C, &m->hooks);
    return status;
}

void bare_metis_begin(bare_metis *m, const saddle_matrix *A, const saddle_hooks *hooks)
{
    ordering_probe probe;
    *m = (bare_metis){.hooks = *hooks};
    probe_metis(&probe);
    if (!probe.works || probe.index_bits != 32 || make_graph(m, A) != SADDLE_OK) return;
    const int64_t n = m->graph.rows, *pointers = m->graph.pointers;
    m->edgeless = m->graph.entries == 0;
    if (m->edgeless || m->graph.entries > INT32_MAX) return;
    m->start = malloc(((size_t)n + 1) * sizeof *m->start);
    m->perm = malloc((size_t)n * sizeof *m->perm);
    m->back = malloc((size_t)n * sizeof *m->back);
    if (!m->start || !m->perm || !m->back) return;
    for (int64_t i = 0; i <= n; ++i) m->start[i] = (int32_t)pointers[i];
    m->function = dlsym(RTLD_DEFAULT, "METIS_NodeND");
}

double bare_metis_time(bare_metis *m)
{
    int (*order)(int32_t *, int32_t *, const int32_t *, int32_t *, int32_t *, int32_t *, int32_t *);
    if (!m->function) return NAN;
    memcpy(&order, &m->function, sizeof order); /* ISO C has no cast for it */
    int32_t n = (int32_t)m->graph.rows;
    /* METIS takes a SIGTERM for its own and gives up: it is kept until METIS is done. */
    sigset_t terminate, before;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    sigprocmask(SIG_BLOCK, &terminate, &before);
    const double began = seconds();
    const int code = order(&n, m->start, m->graph.indices, NULL, NULL, m->perm, m->back);
    const double time = seconds() - began;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code == 1 ? time : NAN;
}

void bare_metis_end(bare_metis *m)
{
    free(m->start);
    free(m->perm);
    free(m->back);
    saddle_matrix_free(&m->graph, &m->hooks);
}
