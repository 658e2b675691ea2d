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
    json_number(j, "nanoseconds_a_block", row->batch > 0 ? 1e9 * row->seconds / (double)row->batch : NAN);
    json_number(j, "copies", factor ? block_row_copies(t, row) : NAN);
    json_text(j, "peer", peer ? peer->name : NULL);
    json_number(j, "times_as_fast", block_row_speed_up(t, row));
    json_number(j, "percent_of_peak", factor ? block_row_peak(t, row) : NAN);
    json_number(j, "percent_of_floor", apply ? block_row_floor(t, row) : NAN);
    json_number(j, "over_equal_sizes",
                strcmp(row->part, "mixed") == 0 && row->size == 0 ? block_row_mixed(t, row) : NAN);
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
        json_object(j, NULL);
        json_text(j, "precision", row->precision);
        json_count(j, "size", row->size);
        json_number(j, "applications", even);
        json_truth(j, "never", isinf(even));
        json_close(j);
    }
    json_close(j);
}

static void json_solve(json *j, const block_solve *s)
{
    json_object(j, NULL);
    json_text(j, "matrix", s->matrix);
    JSON_COUNTS(j, true, {"n", s->n}, {"nnz", s->nnz});
    json_text(j, "kernel", s->kernel);
    JSON_COUNTS(j, true, {"block_size", s->block_size}, {"blocks", s->blocks}, {"replaced", s->replaced});
    json_truth(j, "solved", s->solved);
    json_text(j, "reason", s->reason);
    json_count(j, "iterations", s->iterations);
    JSON_NUMBERS(j, true, {"relative_residual", s->residual}, {"prepare", s->prepare}, {"factor", s->factor},
                 {"solve", s->solve});
    json_close(j);
}

int write_blocks_json(const void *report, const char *path)
{
    const blocks_report *t = report;
    json j;
    const int status = bench_json_begin(&j, path, "blocks");
    if (status != EXIT_DONE) return status;
    json_text(&j, "device", t->device);
    json_text(&j, "machine", t->machine[0] ? t->machine : NULL);
    json_count(&j, "threads", argument_count(t->a, "threads"));
    json_truth(&j, "quick", argument_flag(t->a, "quick"));
    json_array(&j, "rows");
    for (int64_t k = 0; k < t->row_count; ++k) json_row(&j, t, &t->rows[k]);
    json_close(&j);
    json_break_even(&j, t);
    json_array(&j, "solves");
    for (int64_t k = 0; k < t->solve_count; ++k) json_solve(&j, &t->solves[k]);
    json_close(&j);
    return json_end(&j);
}
