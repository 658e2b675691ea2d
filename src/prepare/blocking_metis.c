/*
 * Blocks by partitioning: METIS cuts the graph into parts of about `most` rows such that the edges between
 * them weigh little. Its parts may be too large, empty or in several pieces: they are divided into connected
 * pieces that fit, and small neighbours are then joined, those with the heaviest edge first.
 */
#include "prepare/blocking_parts.h"
#include "prepare/metis.h"

/* Rows that fit into the pieces of each part: as even as its rows allow. */
static saddle_status even_shares(sd_context *c, const sd_graph *g, const int32_t *part, int32_t parts,
                                 int32_t most, int32_t **share)
{
    *share = sd_alloc_zero(c, parts, sizeof **share, "sizes of the parts");
    if (!*share) return c->status;
    for (int32_t v = 0; v < g->n; ++v) (*share)[part[v]] += sd_graph_size(g, v);
    for (int32_t p = 0; p < parts; ++p) {
        const int32_t rows = (*share)[p], pieces = rows / most + (rows % most != 0);
        if (pieces) (*share)[p] = rows / pieces + (rows % pieces != 0);
    }
    return SADDLE_OK;
}

/* Joins neighbouring pieces that fit into one. */
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
    int64_t wanted = (rows + most - 1) / most;
    if (wanted > g->n) wanted = g->n;
    if (wanted == 0) return SADDLE_OK;
    int32_t pieces, *share = NULL;
    int32_t *cut = sd_alloc(c, g->n, sizeof *cut, "partition");
    saddle_status status = cut ? sd_metis_partition(c, g, (int32_t)wanted, cut) : c->status;
    if (!status) status = even_shares(c, g, cut, (int32_t)wanted, most, &share);
    if (!status) status = sd_grow_parts(c, g, NULL, SD_GROW_BY_WEIGHT, cut, share, part);
    sd_free(c, share);
    sd_free(c, cut);
    if (!status) status = sd_number_parts(c, g->n, part, &pieces);
    return status ? status : join_small(c, g, most, pieces, part);
}
