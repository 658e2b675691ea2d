/* The order of the blocks, push-back, and levels. See block_order.h. */
#include "plan/block_order.h"

#include "prepare/etree.h"

saddle_status sd_block_order_make(sd_context *c, int32_t blocks, sd_block_order *order)
{
    *order = (sd_block_order){.blocks = blocks};
    order->at = sd_alloc(c, blocks, sizeof *order->at, "order of blocks");
    order->position = sd_alloc(c, blocks, sizeof *order->position, "order of blocks");
    order->generation = sd_alloc_zero(c, blocks, sizeof *order->generation, "order of blocks");
    if (!order->at || !order->position || !order->generation) {
        sd_block_order_free(c, order);
        return c->status;
    }
    for (int32_t k = 0; k < blocks; ++k) order->at[k] = order->position[k] = k;
    return SADDLE_OK;
}

void sd_block_order_free(sd_context *c, sd_block_order *order)
{
    sd_free_all(c, order->at, order->position, order->generation);
    *order = (sd_block_order){0};
}

/* A stable counting sort of the blocks, as they are, by generation. */
saddle_status sd_push_back(sd_context *c, const bool *push, sd_block_order *order)
{
    const int32_t blocks = order->blocks;
    for (int32_t i = 0; i < blocks; ++i) {
        order->generation[i] += push[i];
        if (order->generation[i] > order->generations) order->generations = order->generation[i];
    }
    int32_t *before = sd_alloc(c, blocks, sizeof *before, "order of blocks");
    int32_t *next = sd_alloc_zero(c, (int64_t)order->generations + 2, sizeof *next, "generations");
    if (before && next) {
        for (int32_t p = 0; p < blocks; ++p) {
            before[p] = order->at[p];
            ++next[order->generation[before[p]] + 1];
        }
        for (int32_t g = 0; g <= order->generations; ++g) next[g + 1] += next[g];
        for (int32_t p = 0; p < blocks; ++p) order->at[next[order->generation[before[p]]]++] = before[p];
        sd_invert_order(blocks, order->at, order->position);
    }
    const saddle_status status = before && next ? SADDLE_OK : c->status;
    sd_free_all(c, before, next);
    return status;
}

/* Sorts the blocks that have a level, 0 or more, by it. */
static saddle_status sort_levels(sd_context *c, const sd_block_order *order, const int32_t *level,
                                 int32_t count, sd_block_levels *levels)
{
    *levels = (sd_block_levels){.count = count};
    levels->first = sd_alloc_zero(c, (int64_t)count + 1, sizeof *levels->first, "levels");
    levels->block = sd_alloc(c, order->blocks, sizeof *levels->block, "levels");
    if (!levels->first || !levels->block) {
        sd_block_levels_free(c, levels);
        return c->status;
    }
    for (int32_t p = 0; p < order->blocks; ++p)
        if (level[p] >= 0) ++levels->first[level[p]];
    for (int32_t l = 0, sum = 0; l <= count; ++l) {
        const int32_t here = levels->first[l];
        levels->first[l] = sum;
        sum += here;
    }
    for (int32_t p = 0; p < order->blocks; ++p)
        if (level[p] >= 0) levels->block[levels->first[level[p]]++] = order->at[p];
    for (int32_t l = count; l > 0; --l) levels->first[l] = levels->first[l - 1];
    levels->first[0] = 0;
    return SADDLE_OK;
}

saddle_status sd_levels_of_tree(sd_context *c, const sd_graph *g, const sd_block_order *order,
                                int32_t generation, sd_block_levels *levels)
{
    const int32_t blocks = order->blocks;
    int32_t count = 0;
    int32_t *parent = sd_alloc(c, blocks, sizeof *parent, "elimination tree");
    int32_t *level = sd_alloc_zero(c, blocks, sizeof *level, "levels");
    saddle_status status = parent && level ? sd_etree(c, g, order->at, parent) : c->status;
    for (int32_t p = 0; p < blocks && !status; ++p) { /* children come before their parents */
        if (order->generation[order->at[p]] != generation) {
            level[p] = -1;
            continue;
        }
        if (level[p] >= count) count = level[p] + 1;
        if (parent[p] >= 0 && level[parent[p]] <= level[p]) level[parent[p]] = level[p] + 1;
    }
    if (!status) status = sort_levels(c, order, level, count, levels);
    sd_free_all(c, parent, level);
    return status;
}

void sd_block_levels_free(sd_context *c, sd_block_levels *levels)
{
    sd_free_all(c, levels->first, levels->block);
    *levels = (sd_block_levels){0};
}
