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

int64_t sd_amd_room(int32_t n, int64_t edges)
{
    return edges + edges / 5 + n + 1;
}

void sd_amd_run(int32_t n, const int32_t *ptr, const int32_t *ind, int32_t *work, int32_t *perm)
{
    const size_t length_of = (size_t)n;
    const int64_t room = sd_amd_room(n, ptr[n]);
    int32_t *begin = work, *length = begin + length_of, *size = length + length_of,
            *position = size + length_of;
    int32_t *head = position + length_of, *elements = head + length_of, *degree = elements + length_of;
    int32_t *flag = degree + length_of, *lists = flag + length_of;
    double control[AMD_CONTROL] = {0}, info[AMD_INFO] = {0};
    amd_defaults(control);
    control[AMD_DENSE] = -1.0;
    for (int32_t v = 0; v < n; ++v) {
        begin[v] = ptr[v];
        length[v] = ptr[v + 1] - ptr[v];
    }
    memcpy(lists, ind, (size_t)ptr[n] * sizeof *lists);
    amd_2(n, begin, lists, length, (int32_t)room, ptr[n], size, position, perm, head, elements, degree, flag,
          control, info);
}

saddle_status sd_amd_order(sd_context *c, const sd_graph *g, int32_t *perm)
{
    const int64_t room = sd_amd_room(g->n, g->ptr[g->n]);
    if (room > INT32_MAX)
        return sd_fail(
            c, SADDLE_NOT_SUPPORTED,
            "the graph has %lld stored edges, too many for AMD with 32-bit indices: use order rcm or natural",
            (long long)g->ptr[g->n]);
    if (g->n == 0) return SADDLE_OK;
    int32_t *ptr = sd_alloc(c, (int64_t)g->n + 1, sizeof *ptr, "graph for AMD");
    int32_t *work = sd_alloc(c, SD_AMD_WORK * (int64_t)g->n + room, sizeof *work, "work for AMD");
    if (ptr && work) {
        for (int32_t v = 0; v <= g->n; ++v) ptr[v] = (int32_t)g->ptr[v];
        sd_amd_run(g->n, ptr, g->ind, work, perm);
    }
    const saddle_status status = ptr && work ? SADDLE_OK : c->status;
    sd_free_all(c, work, ptr);
    return status;
}
