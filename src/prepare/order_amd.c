/*
 * Approximate minimum degree (P. R. Amestoy, T. A. Davis and I. S. Duff, Algorithm 837: AMD, ACM Trans. Math.
 * Softw. 30 (2004)), with aggressive absorption.
 *
 * What is called is amd_2, the ordering itself: a graph is already what it needs, symmetric and without the
 * diagonal, and all its memory is given to it, so that the caller's allocator has it. Its own treatment of
 * dense rows is off: sd_order_graph has taken them out.
 *
 * It knows no vertex weights, and none are made up for: on 117 KKT matrices with pairs, ordering a graph in
 * which every pair occurs twice with the same neighbours, so that AMD finds and weighs it itself, took 1.3
 * times as long, and the flops came out the same in the median and 1 % higher in the mean.
 */
#include "prepare/order.h"

#include <amd.h>
#include <string.h>

/* AMD's lists grow as it goes on; with this much room beyond the edges it rarely has to collect garbage. */
static int64_t workspace(const sd_graph *g)
{
    return g->ptr[g->n] + g->ptr[g->n] / 5 + g->n + 1;
}

static void run_amd(const sd_graph *g, int32_t *lists, int64_t room, int32_t *work, int32_t *perm)
{
    const size_t n = (size_t)g->n;
    int32_t *begin = work, *length = work + n, *size = work + 2 * n, *position = work + 3 * n;
    int32_t *head = work + 4 * n, *elements = work + 5 * n, *degree = work + 6 * n, *flag = work + 7 * n;
    double control[AMD_CONTROL] = {0}, info[AMD_INFO] = {0};
    amd_defaults(control);
    control[AMD_DENSE] = -1.0;
    for (size_t v = 0; v < n; ++v) {
        begin[v] = (int32_t)g->ptr[v];
        length[v] = (int32_t)(g->ptr[v + 1] - g->ptr[v]);
    }
    memcpy(lists, g->ind, (size_t)g->ptr[n] * sizeof *lists);
    amd_2(g->n, begin, lists, length, (int32_t)room, (int32_t)g->ptr[n], size, position, perm, head, elements,
          degree, flag, control, info);
}

saddle_status sd_amd_order(sd_context *c, const sd_graph *g, int32_t *perm)
{
    const int64_t room = workspace(g);
    if (room > INT32_MAX)
        return sd_fail(
            c, SADDLE_NOT_SUPPORTED,
            "the graph has %lld stored edges, too many for AMD with 32-bit indices: use order rcm or natural",
            (long long)g->ptr[g->n]);
    if (g->n == 0) return SADDLE_OK;
    int32_t *lists = sd_alloc(c, room, sizeof *lists, "graph for AMD");
    int32_t *work = sd_alloc(c, 8 * (int64_t)g->n, sizeof *work, "work for AMD");
    if (lists && work) run_amd(g, lists, room, work, perm);
    const saddle_status status = lists && work ? SADDLE_OK : c->status;
    sd_free_all(c, work, lists);
    return status;
}
