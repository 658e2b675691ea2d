/* The JSON of `saddle bench blocks`. */
#include "bench/blocks/blocks.h"

#include <math.h>
#include <string.h>

static void json_row(json *j, const blocks_report *t, const block_row *row)
{
    const block_row *peer = block_row_peer(t, row);
    const bool apply = strcmp(row->work, "apply") == 0, factor = strcmp(row->work, "factor") == 0;
    json_object(j, NULL);
#define TEXT(key) json_text(j, #key, row->key);
#define COUNT(key) json_count(j, #key, row->key);
#define NUMBER(key) json_number(j, #key, row->key);
    BLOCK_KEYS(TEXT, COUNT, NUMBER)
    const bool mixed = strcmp(row->part, "mixed") == 0 && row->size == 0;
    JSON_PUT(j, true,
             J_NUMBER("nanoseconds_a_block", row->batch > 0 ? 1e9 * row->seconds / (double)row->batch : NAN),
             J_NUMBER("copies", factor ? block_row_copies(t, row) : NAN),
             J_TEXT("peer", peer ? peer->name : NULL), J_NUMBER("times_as_fast", block_row_speed_up(t, row)),
             J_NUMBER("percent_of_peak", factor ? block_row_peak(t, row) : NAN),
             J_NUMBER("percent_of_floor", apply ? block_row_floor(t, row) : NAN),
             J_NUMBER("over_equal_sizes", mixed ? block_row_mixed(t, row) : NAN));
    json_close(j);
}

/* A break-even that is never reached is null, and "never" is true. */
static void json_break_even(json *j, const blocks_report *t)
{
    json_array(j, "break_even");
    for (int64_t k = 0; k < t->row_count; ++k) {
        const block_row *row = &t->rows[k];
        if (strcmp(row->work, "apply") != 0 || strcmp(row->name, "jordan") != 0) continue;
        const double even = blocks_break_even(t, row->precision, row->size);
        JSON_OBJECT(j, NULL, true, J_TEXT("precision", row->precision), J_COUNT("size", row->size),
                    J_NUMBER("applications", even), J_TRUTH("never", isinf(even)));
    }
    json_close(j);
}

static void json_solve(json *j, const block_solve *s)
{
    json_object(j, NULL);
    JSON_PUT(j, true, J_TEXT("matrix", s->matrix), J_COUNT("n", s->n), J_COUNT("nnz", s->nnz),
             J_TEXT("kernel", s->kernel), J_COUNT("block_size", s->block_size));
    json_info(j, true, &s->info, "blocks replaced=replaced_blocks");
    JSON_PUT(j, true, J_TRUTH("solved", s->solved), J_TEXT("reason", s->reason));
    json_info(j, true, &s->info, "iterations relative_residual");
    JSON_PUT(j, true, J_NUMBER("prepare", s->prepare), J_NUMBER("factor", s->factor),
             J_NUMBER("solve", s->solve));
    json_close(j);
}

void json_blocks(json *j, const void *report)
{
    const blocks_report *t = report;
    bench_json_head(j, "blocks");
    JSON_PUT(j, true, J_TEXT("device", t->device), J_TEXT("machine", t->machine[0] ? t->machine : NULL),
             J_COUNT("threads", argument_count(t->a, "threads")),
             J_TRUTH("quick", argument_given(t->a, "quick")));
    json_array(j, "rows");
    for (int64_t k = 0; k < t->row_count; ++k) json_row(j, t, &t->rows[k]);
    json_close(j);
    json_break_even(j, t);
    json_array(j, "solves");
    for (int64_t k = 0; k < t->solve_count; ++k) json_solve(j, &t->solves[k]);
    json_close(j);
}
