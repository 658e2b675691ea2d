/* Which blocking is which, the numbers of the parts, and the cutting of an order. See blocking.h. */
#include "prepare/blocking.h"

#include "prepare/blocking_parts.h"

saddle_status sd_number_parts(sd_context *c, int32_t n, int32_t *part, int32_t *parts)
{
    int32_t *number = sd_alloc(c, n, sizeof *number, "numbers of the parts");
    if (!number) return c->status;
    for (int32_t v = 0; v < n; ++v) number[v] = -1;
    *parts = 0;
    for (int32_t v = 0; v < n; ++v) {
        int32_t *mine = &number[part[v]];
        if (*mine < 0) *mine = (*parts)++;
        part[v] = *mine;
    }
    sd_free(c, number);
    return SADDLE_OK;
}

saddle_status sd_block_graph(sd_context *c, const sd_graph *g, int blocking, int32_t most, int32_t *part,
                             int32_t *parts)
{
    saddle_status status;
    switch (blocking) {
    case SADDLE_BLOCKING_CLUSTERS: status = sd_block_clusters(c, g, most, part); break;
    case SADDLE_BLOCKING_SUPERVARIABLES: status = sd_block_supervariables(c, g, most, false, part); break;
    case SADDLE_BLOCKING_COSINE: status = sd_block_supervariables(c, g, most, true, part); break;
    case SADDLE_BLOCKING_PRIORITY: status = sd_block_priority(c, g, most, part); break;
    case SADDLE_BLOCKING_PRIORITY_DYNAMIC: status = sd_block_priority_dynamic(c, g, most, part); break;
    case SADDLE_BLOCKING_METIS: status = sd_block_metis(c, g, most, part); break;
    case SADDLE_BLOCKING_PABLO: status = sd_block_pablo(c, g, most, part); break;
    default: return sd_fail(c, SADDLE_BAD_ARGUMENT, "blocking %d does not partition a graph", blocking);
    }
    return status ? status : sd_number_parts(c, g->n, part, parts);
}

int32_t sd_block_cut(int32_t n, const int32_t *perm, const int32_t *partner, int32_t most, int32_t *start)
{
    int32_t blocks = 0;
    for (int32_t begin = 0; begin < n;) {
        int32_t end = n - begin > most ? begin + most : n;
        const bool splits = partner && end < n && partner[perm[end - 1]] == perm[end];
        if (splits && end - begin > 1) --end; /* a block of one row cannot keep a pair */
        start[blocks++] = begin;
        begin = end;
    }
    start[blocks] = n;
    return blocks;
}
