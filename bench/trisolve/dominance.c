/*
 * Figure 8 of Jacobi triangular solves: the off-diagonal dominance of the factors by rows, and by blocks of
 * at most 12 adjacent rows, for levels of fill. The smaller, the faster sweeps converge.
 */
#include "bench/trisolve/trisolve.h"

#include <math.h>
#include <stdio.h>

typedef struct dominance_row {
    bench_matrix matrix;
    int count, levels[LEVELS_MOST];
    trisolve_result results[LEVELS_MOST];
} dominance_row;

static void measure(trisolve_bench *t, void *to)
{
    static const int usual[] = {0, 1};
    dominance_row *row = to;
    row->count = trisolve_levels(t, usual, 2, row->levels);
    for (int k = 0; k < row->count; ++k) {
        char text[TEXT];
        snprintf(text, sizeof text,
                 "level=%d trisolve=block-jacobi blocking=adjacent block_size=12 trisolve_sweeps=1",
                 row->levels[k]);
        row->results[k] = trisolve_try(t, text, 0.0);
    }
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const dominance_row *row = at;
    (void)t;
    if (first) {
        printf("%-34s", "Figure 8: off-diagonal dominance");
        for (int k = 0; k < row->count; ++k) printf("   IC(%d): rows    blocks", row->levels[k]);
        putchar('\n');
    }
    printf("%-34.34s", row->matrix.name);
    for (int k = 0; k < row->count; ++k) {
        const saddle_info *i = &row->results[k].info;
        printf("  ");
        PRINT_COLUMNS("11.3g 10.3g", i->dominance, i->block_dominance);
    }
    for (int k = 0; k < row->count; ++k) {
        if (trisolve_is_shifted(&row->results[k])) printf("  IC(%d) shifted", row->levels[k]);
        if (row->results[k].why[0]) printf("  IC(%d): %s", row->levels[k], row->results[k].why);
    }
    putchar('\n');
}

/* Of how many matrices the last level's is at least the first level's. */
static int count_grown(const trisolve_rows *rows, bool blocks, int *of)
{
    const dominance_row *at = rows->at;
    int grown = 0;
    *of = 0;
    for (int64_t i = 0; i < rows->count; ++i) {
        const saddle_info *one = &at[i].results[0].info, *two = &at[i].results[at[i].count - 1].info;
        const double a = blocks ? one->block_dominance : one->dominance;
        const double b = blocks ? two->block_dominance : two->dominance;
        if (isnan(a) || isnan(b)) continue;
        ++*of;
        grown += b >= a;
    }
    return grown;
}

static void print(const trisolve_bench *t, const trisolve_rows *rows)
{
    const dominance_row *first = rows->at;
    (void)t;
    for (int blocks = 0; blocks < 2; ++blocks) {
        int of;
        const int grown = count_grown(rows, blocks, &of);
        printf("by %s, IC(%d)'s is at least IC(%d)'s: %d of %d\n", blocks ? "blocks" : "rows",
               first->levels[first->count - 1], first->levels[0], grown, of);
    }
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const dominance_row *at = rows->at;
    (void)t;
    json_object(j, "figure8");
    json_array(j, "rows");
    for (const dominance_row *row = at; row < at + rows->count; ++row) {
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        json_array(j, "levels");
        for (int k = 0; k < row->count; ++k) {
            const trisolve_result *r = &row->results[k];
            JSON_OBJECT(j, NULL, true, J_COUNT("level", row->levels[k]), J_NUMBER("rows", r->info.dominance),
                        J_NUMBER("blocks", r->info.block_dominance),
                        J_TRUTH("shifted", trisolve_is_shifted(r)), J_TEXT("why", r->why[0] ? r->why : NULL));
        }
        json_close(j);
        json_close(j);
    }
    json_close(j);
    for (int blocks = 0; blocks < 2; ++blocks) {
        int of;
        const int grown = count_grown(rows, blocks, &of);
        JSON_OBJECT(j, blocks ? "grown_by_blocks" : "grown_by_rows", true, J_COUNT("count", grown),
                    J_COUNT("of", of));
    }
    json_close(j);
}

const trisolve_kind kind_dominance = {
    .first = PART_FIGURE8,
    .last = PART_FIGURE8,
    .takes = TAKES_SYMMETRIC,
    .size = sizeof(dominance_row),
    .measure = measure,
    .print_row = print_row,
    .print = print,
    .write = write_rows,
};
