/*
 * Blocks by partitioning: METIS cuts the graph into parts of about `most` rows such that the edges between
 * them weigh little. Its parts may be a row or two too large, empty or in several pieces. So they are divided
 * into connected pieces that fit, and small pieces are joined with a neighbour, those with the heaviest edges
 * between them first.
 */
#include "prepare/blocking_parts.h"
#include "prepare/metis.h"

/* Joins neighbouring pieces that fit into one; pieces are numbered. */
static saddle_status join_small(sd_context *c, const sd_graph *g, int32_t most, int32_t pieces, int32_t *part)
{
    sd_graph q = {0};
    int32_t *joined = sd_alloc(c, pieces, sizeof *joined, "joined pieces");
    saddle_status status = joined ? sd_graph_quotient(c, g, part, pieces, &q) : c->status;
    if (!status) status = sd_block_priority(c, &q, most, joined);
    for (int32_t v = 0; v < g->n && !status; ++v) part[v] = joined[part[v]];
    sd_graph_free(c, &q);
    sd_free(c, joined);
    return status;
}

saddle_status sd_block_metis(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    int64_t rows = 0;
    for (int32_t v = 0; v < g->n; ++v) rows += sd_graph_size(g, v);
    if (rows == 0) return SADDLE_OK;
    const int64_t wanted = (rows + most - 1) / most, parts = wanted < g->n ? wanted : g->n;
    int32_t pieces;
    int32_t *cut = sd_alloc(c, g->n, sizeof *cut, "partition");
    saddle_status status = cut ? sd_metis_partition(c, g, (int32_t)parts, cut) : c->status;
    if (!status) status = sd_grow_parts(c, g, NULL, SD_GROW_BY_WEIGHT, cut, most, part);
    sd_free(c, cut);
    if (!status) status = sd_number_parts(c, g->n, part, &pieces);
    return status ? status : join_small(c, g, most, pieces, part);
}
