/* The plan of a block LDL': see ldlt_plan.h. */
#include "plan/ldlt_plan.h"

void sd_ldlt_plan_free(sd_context *c, sd_ldlt_plan *plan)
{
    sd_free_all(c, plan->level, plan->start, plan->block_at, plan->row, plan->diagonal, plan->list,
                plan->square, plan->number);
    *plan = (sd_ldlt_plan){0};
}

static saddle_status allocate(sd_context *c, int32_t n, int32_t blocks, const sd_ldlt_column *columns,
                              sd_ldlt_plan *plan)
{
    int64_t count = 0;
    for (int32_t j = 0; j < blocks; ++j) count += columns[j].count;
    *plan = (sd_ldlt_plan){.n = n, .blocks = blocks};
    plan->start = sd_alloc(c, (int64_t)blocks + 1, sizeof *plan->start, "plan");
    plan->block_at = sd_alloc(c, blocks, sizeof *plan->block_at, "plan");
    plan->row = sd_alloc_zero(c, (int64_t)blocks + 1, sizeof *plan->row, "plan");
    plan->diagonal = sd_alloc(c, blocks, sizeof *plan->diagonal, "plan");
    plan->list = sd_alloc(c, 2 * count, sizeof *plan->list, "plan");
    plan->square = sd_alloc(c, (int64_t)blocks + 1, sizeof *plan->square, "plan");
    plan->number = sd_alloc(c, 2 * count, sizeof *plan->number, "plan");
    return plan->start && plan->block_at && plan->row && plan->diagonal && plan->list && plan->square &&
                   plan->number
               ? SADDLE_OK
               : c->status;
}

/* number[i] is the new number of block i: by level of the pattern, then by position. */
static saddle_status number_blocks(sd_context *c, const sd_block_order *order, const sd_ldlt_column *columns,
                                   int32_t *number, sd_ldlt_plan *plan)
{
    const int32_t blocks = plan->blocks;
    int32_t *level = sd_alloc_zero(c, blocks, sizeof *level, "levels");
    if (!level) return c->status;
    for (int32_t p = 0; p < blocks; ++p) {
        const int32_t j = order->at[p];
        if (level[j] >= plan->levels) plan->levels = level[j] + 1;
        for (int32_t k = 0; k < columns[j].count; ++k) {
            const int32_t i = columns[j].list[k].other;
            if (level[i] <= level[j]) level[i] = level[j] + 1;
        }
    }
    plan->level = sd_alloc_zero(c, (int64_t)plan->levels + 2, sizeof *plan->level, "levels");
    if (plan->level) {
        for (int32_t i = 0; i < blocks; ++i) ++plan->level[level[i] + 2];
        for (int32_t l = 0; l < plan->levels; ++l) plan->level[l + 2] += plan->level[l + 1];
        for (int32_t p = 0; p < blocks; ++p) {
            const int32_t j = order->at[p];
            number[j] = plan->level[level[j] + 1]++;
            plan->block_at[number[j]] = j;
        }
    }
    sd_free(c, level);
    return plan->level ? SADDLE_OK : c->status;
}

static void place_blocks(const int32_t *start, sd_ldlt_plan *plan)
{
    plan->start[0] = 0;
    plan->square[0] = 0;
    for (int32_t i = 0; i < plan->blocks; ++i) {
        const int32_t old = plan->block_at[i], size = start[old + 1] - start[old];
        plan->start[i + 1] = plan->start[i] + size;
        plan->square[i + 1] = plan->square[i] + (int64_t)size * size;
        if (size > plan->largest) plan->largest = size;
    }
}

/* A block as its other side lists it. */
static sd_ldlt_block mirror(sd_ldlt_block b, int32_t own)
{
    return (sd_ldlt_block){b.entry, b.columns, b.rows, own, b.width, b.height, !b.transposed, b.level};
}

/* Rows of L first, column by column; then their mirror images, row by row; both come out in order. The
 * numbers of the blocks, and where they are stored, go by column. */
static void fill_lists(const sd_ldlt_column *columns, const int32_t *number, int64_t *next,
                       sd_ldlt_plan *plan)
{
    const int32_t blocks = plan->blocks;
    for (int32_t j = 0; j < blocks; ++j) {
        const sd_ldlt_column *from = &columns[plan->block_at[j]];
        plan->row[j + 1] += from->count;
        for (int32_t k = 0; k < from->count; ++k) ++plan->row[number[from->list[k].other] + 1];
    }
    for (int32_t i = 0; i < blocks; ++i) plan->row[i + 1] += plan->row[i];
    for (int32_t i = 0; i < blocks; ++i) next[i] = plan->row[i];
    for (int32_t j = 0; j < blocks; ++j) {
        const sd_ldlt_column *from = &columns[plan->block_at[j]];
        plan->diagonal[j] = next[j];
        for (int32_t k = 0; k < from->count; ++k) {
            const int32_t i = number[from->list[k].other];
            plan->list[next[i]++] = mirror(from->list[k], j);
        }
    }
    for (int32_t i = 0; i < blocks; ++i) {
        for (int64_t k = plan->row[i]; k < plan->diagonal[i]; ++k) {
            const int32_t j = plan->list[k].other;
            plan->list[next[j]++] = mirror(plan->list[k], i);
        }
    }
    int32_t count = 0;
    for (int32_t i = 0; i < blocks; ++i) next[i] = plan->row[i];
    for (int32_t j = 0; j < blocks; ++j) {
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) {
            const int64_t there = next[plan->list[k].other]++;
            plan->list[k].entry = plan->list[there].entry = plan->entries;
            plan->number[k] = plan->number[there] = count++;
            plan->entries += plan->list[k].height * plan->list[k].width;
        }
    }
}

saddle_status sd_ldlt_plan_make(sd_context *c, const int32_t *start, const sd_block_order *order,
                                const sd_ldlt_column *columns, sd_ldlt_plan *plan)
{
    const int32_t blocks = order->blocks;
    int32_t *number = sd_alloc(c, blocks, sizeof *number, "plan");
    int64_t *next = sd_alloc(c, blocks, sizeof *next, "plan");
    saddle_status status = allocate(c, start[blocks], blocks, columns, plan);
    if (!status && (!number || !next)) status = c->status;
    if (!status) status = number_blocks(c, order, columns, number, plan);
    if (!status) {
        place_blocks(start, plan);
        fill_lists(columns, number, next, plan);
    }
    sd_free_all(c, number, next);
    if (status) sd_ldlt_plan_free(c, plan);
    return status;
}

sd_trisolve_work sd_ldlt_work_of(const sd_ldlt_plan *plan, sd_precision precision)
{
    const double number = (double)sd_precision_size(precision);
    int64_t longest[2] = {0, 0}; /* of each triangle */
    for (int32_t i = 0; i < plan->blocks; ++i) {
        int64_t columns[2] = {0, 0};
        for (int64_t k = plan->row[i]; k < plan->row[i + 1]; ++k)
            columns[k >= plan->diagonal[i]] += plan->list[k].width;
        for (int k = 0; k < 2; ++k) longest[k] = columns[k] > longest[k] ? columns[k] : longest[k];
    }
    const double bytes =
        number * (2.0 * (double)(plan->entries + plan->square[plan->blocks]) + 4.0 * plan->n) +
        (double)plan->row[plan->blocks] * (double)sizeof *plan->list;
    return (sd_trisolve_work){
        .levels = plan->levels, .bytes = bytes, .swept = bytes, .longest = (double)(longest[0] + longest[1])};
}
