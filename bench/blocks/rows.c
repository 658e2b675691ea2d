/* What follows from the measurements of blocks: see blocks.h. */
#include "bench/blocks/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool take_text(const char *line, const char *key, char *text, size_t text_size)
{
    char wanted[16];
    snprintf(wanted, sizeof wanted, " %s=", key);
    const char *at = strstr(line, wanted);
    if (!at) return false;
    at += strlen(wanted);
    const size_t length = strcspn(at, " \n");
    snprintf(text, text_size, "%.*s", (int)length, at);
    return length > 0 && length < text_size;
}

static bool take_number(const char *line, const char *key, double *number)
{
    char text[32], *end;
    if (!take_text(line, key, text, sizeof text)) return false;
    *number = strtod(text, &end);
    return *end == 0;
}

static bool take_count(const char *line, const char *key, int64_t *count)
{
    char text[32], *end;
    if (!take_text(line, key, text, sizeof text)) return false;
    *count = strtoll(text, &end, 10);
    return *end == 0 && *count >= 0;
}

bool block_row_parse(const char *line, block_row *row)
{
    if (strncmp(line, "measured ", 9) != 0) return false;
#define TEXT(key) take_text(line, #key, row->key, sizeof row->key) &&
#define COUNT(key) take_count(line, #key, &row->key) &&
#define NUMBER(key) take_number(line, #key, &row->key) &&
    return BLOCK_KEYS(TEXT, COUNT, NUMBER) true;
}

static bool same(const char *wanted, const char *text)
{
    return !wanted || strcmp(wanted, text) == 0;
}

const block_row *block_row_find(const blocks_report *t, block_key key)
{
    for (int64_t k = 0; k < t->row_count; ++k) {
        const block_row *row = &t->rows[k];
        if (same(key.part, row->part) && same(key.work, row->work) && same(key.name, row->name) &&
            same(key.version, row->version) && same(key.precision, row->precision) &&
            (key.size < 0 || key.size == row->size) && (key.batch < 0 || key.batch == row->batch))
            return row;
    }
    return NULL;
}

const block_row *block_row_beside(const blocks_report *t, const block_row *row, const char *work,
                                  const char *name, const char *version)
{
    return block_row_find(t,
                          (block_key){row->part, work, name, version, row->precision, row->size, row->batch});
}

const block_row *block_row_peer(const blocks_report *t, const block_row *row)
{
    static const struct {
        const char *kernel, *peers[4]; /* by the beginning of its name; the first that was run */
    } alike[] = {{"ldu", {"getrf", "getrfBatched"}},
                 {"huard", {"getrf", "getrfBatched"}},
                 {"jordan", {"getrf+getri", "matinvBatched", "getrf", "getrfBatched"}},
                 {"llt", {"potrf", "potrfBatched"}},
                 {"ldlt", {"sytrf"}}};
    if (strcmp(row->who, "saddle") != 0 || strcmp(row->work, "factor") != 0) return NULL;
    for (int k = 0; k < 5; ++k) {
        if (strncmp(row->name, alike[k].kernel, strlen(alike[k].kernel)) != 0) continue;
        for (int p = 0; p < 4 && alike[k].peers[p]; ++p) {
            const block_row *peer = block_row_beside(t, row, "factor", alike[k].peers[p], NULL);
            if (peer) return peer;
        }
    }
    return NULL;
}

static const block_row *copy_of(const blocks_report *t, const block_row *row)
{
    return block_row_beside(t, row, "copy", NULL, NULL);
}

double block_row_copies(const blocks_report *t, const block_row *row)
{
    const block_row *copy = copy_of(t, row);
    return copy ? row->seconds / copy->seconds : NAN;
}

double block_row_speed_up(const blocks_report *t, const block_row *row)
{
    const block_row *peer = block_row_peer(t, row);
    return peer ? peer->seconds / row->seconds : NAN;
}

double block_row_peak(const blocks_report *t, const block_row *row)
{
    for (const block_row *gemm = row; gemm >= t->rows; --gemm) {
        if (strcmp(gemm->work, "gemm") == 0 && strcmp(gemm->precision, row->precision) == 0)
            return 100.0 * row->flops / row->seconds * gemm->seconds / gemm->flops;
    }
    return NAN;
}

double block_row_floor(const blocks_report *t, const block_row *row)
{
    const block_row *copy = copy_of(t, row);
    return copy ? 100.0 * row->bytes * copy->seconds / copy->bytes / row->seconds : NAN;
}

double block_row_mixed(const blocks_report *t, const block_row *row)
{
    for (int64_t k = 0; k < t->row_count; ++k) {
        const block_row *equal = &t->rows[k];
        if (strcmp(equal->part, "mixed") == 0 && equal->size > 0 && same(row->work, equal->work) &&
            same(row->name, equal->name) && same(row->version, equal->version) &&
            same(row->precision, equal->precision))
            return row->seconds / row->bytes / (equal->seconds / equal->bytes);
    }
    return NAN;
}

double blocks_break_even(const blocks_report *t, const char *precision, int64_t size)
{
    const block_row *found[4];
    for (int k = 0; k < 4; ++k) {
        found[k] = block_row_find(t, (block_key){"apply", k < 2 ? "factor" : "apply",
                                                 k % 2 ? "huard" : "jordan", NULL, precision, size, -1});
        if (!found[k]) return NAN;
    }
    const double setup = found[0]->seconds - found[1]->seconds; /* more for the inverse */
    const double gain = found[3]->seconds - found[2]->seconds;  /* less for it, each time */
    if (setup <= 0.0) return gain >= 0.0 ? 0.0 : NAN;
    return gain <= 0.0 ? INFINITY : setup / gain;
}

const block_solve *block_solve_find(const blocks_report *t, const char *matrix, const char *kernel,
                                    int64_t block_size)
{
    for (int64_t k = 0; k < t->solve_count; ++k) {
        const block_solve *s = &t->solves[k];
        if (strcmp(s->matrix, matrix) == 0 && strcmp(s->kernel, kernel) == 0 && s->block_size == block_size)
            return s;
    }
    return NULL;
}
