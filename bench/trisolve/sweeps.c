/*
 * Figures 1 to 5 of Jacobi triangular solves, for any matrix: the residual of a triangular solve, the
 * iterations of CG and their time against the number of sweeps, over entries and over blocks of
 * adjacent rows, for levels of fill. Exact solves stand beside them.
 */
#include "bench/trisolve/trisolve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 };

/* Rows of the blocks of a way; 0: sweeps over entries. */
static const int way_blocks[WAYS] = {0, 6, 12, 24};

/* What each figure of the paper shows. */
static const struct figure {
    const char *name;
    int level_count, levels[4];
    bool ways[WAYS];
    int sweeps; /* the most */
    bool setup; /* triangular solves alone: no iterations */
    const char *title;
} figures[] = {
    {"figure1", 1, {0}, {true, false, false, false}, 7, false, "IC(0), sweeps over entries"},
    {"figure2", 1, {0}, {true, false, false, false}, 7, false, "IC(0), sweeps over entries"},
    {"figure3", 1, {1}, {true, true, true, true}, 60, true, "IC(1), one triangular solve"},
    {"figure4", 1, {1}, {false, true, true, true}, 30, false, "IC(1), sweeps over blocks"},
    {"figure5",
     4,
     {0, 1, 2, 3},
     {true, false, false, false},
     10,
     false,
     "levels of fill, sweeps over entries"},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

typedef struct point {
    bool known;
    double residual, iterations, solve, relative_residual;
    char why[96];
} point;

typedef struct series {
    int level, block; /* block: rows of a block, 0 over entries */
    trisolve_result exact;
    int count;
    point at[SWEEPS_MOST]; /* by sweeps, from 1 */
} series;

typedef struct figure_result {
    int count;
    series *series;
} figure_result;

typedef struct sweeps_row {
    bench_matrix matrix;
    bool late; /* the time limit was over before all was measured */
    figure_result figures[FIGURES];
} sweeps_row;

static bool is_wanted(const trisolve_bench *t, int figure)
{
    return t->wanted[PART_FIGURE1 + figure];
}

static void way_text(char *text, int level, int block, const char *trisolve, int sweeps)
{
    char blocks[64] = "";
    if (block > 0) snprintf(blocks, sizeof blocks, " blocking=adjacent block_size=%d", block);
    snprintf(text, TEXT, "krylov=cg level=%d trisolve=%s%s trisolve_sweeps=%d", level, trisolve, blocks,
             sweeps);
}

static void measure_series(trisolve_bench *t, const struct figure *f, series *s)
{
    char text[TEXT];
    const int most = trisolve_most(t, f->sweeps);
    way_text(text, s->level, s->block, "exact", 0);
    s->exact = trisolve_repeat(t, text, f->setup ? 0.0 : INFINITY);
    for (int k = 1; k <= most && trisolve_left(t) > 0.0; ++k) {
        way_text(text, s->level, s->block, s->block > 0 ? "block-jacobi" : "jacobi", k);
        const trisolve_result r = trisolve_repeat(t, text, f->setup ? 0.0 : INFINITY);
        const bool swept = r.info.fallback != 1, solved = r.solved && swept;
        point *p = &s->at[s->count++];
        *p = (point){.known = true, /* the residual even of those that are given up */
                     .residual = r.info.trisolve_residual,
                     .iterations = solved ? trisolve_iterations(&r) : NAN,
                     .solve = solved ? r.solve : NAN,
                     .relative_residual = swept ? r.info.relative_residual : NAN};
        snprintf(p->why, sizeof p->why, "%s", swept ? r.why : "sweeps are given up");
    }
}

static void measure_figure(trisolve_bench *t, const struct figure *f, figure_result *to)
{
    int levels[LEVELS_MOST];
    const int count = trisolve_levels(t, f->levels, f->level_count, levels);
    to->series = calloc((size_t)(count * WAYS), sizeof *to->series);
    for (int k = 0; k < count && to->series; ++k) {
        for (int w = 0; w < WAYS; ++w) {
            if (!f->ways[w] || trisolve_left(t) <= 0.0) continue;
            series *s = &to->series[to->count++];
            s->level = levels[k];
            s->block = way_blocks[w];
            measure_series(t, f, s);
        }
    }
}

static void measure(trisolve_bench *t, void *to)
{
    sweeps_row *row = to;
    for (int f = 0; f < FIGURES; ++f)
        if (is_wanted(t, f)) measure_figure(t, &figures[f], &row->figures[f]);
    row->late = trisolve_left(t) <= 0.0;
}

static void print_series(const struct figure *f, const series *s)
{
    char name[48];
    snprintf(name, sizeof name, s->block > 0 ? "IC(%d), blocks of %d" : "IC(%d), entries", s->level,
             s->block);
    printf("  %-20s", name);
    if (f->setup)
        printf("%s\n", s->exact.why);
    else {
        printf(" exact: ");
        PRINT_COLUMNS("5.0f 10.4f", s->exact.solved ? trisolve_iterations(&s->exact) : NAN,
                      s->exact.solved ? s->exact.solve : NAN);
        printf(" s  %s\n", s->exact.why);
    }
    for (int k = 0; k < s->count; ++k) {
        const point *p = &s->at[k];
        printf("%24d", k + 1);
        PRINT_COLUMNS("11.1e 8.0f 12.4f 12.1e", p->residual, p->iterations, p->solve, p->relative_residual);
        printf("  %s\n", p->why);
    }
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const sweeps_row *row = at;
    (void)first;
    for (int f = 0; f < FIGURES; ++f) {
        if (!is_wanted(t, f)) continue;
        printf("%s, %s: %s\n%24s%11s%8s%12s%12s\n", figures[f].name, row->matrix.name, figures[f].title,
               "sweeps", "tri.res", "its", "solve s", "residual");
        for (int k = 0; k < row->figures[f].count; ++k) print_series(&figures[f], &row->figures[f].series[k]);
    }
    if (row->late) printf("  the time limit was over before all was measured\n");
}

static void write_series(json *j, const series *s)
{
    json_object(j, NULL);
    JSON_PUT(j, true, J_COUNT("level", s->level), J_COUNT("block_size", s->block));
    trisolve_json_result(j, "exact", &s->exact);
    json_array(j, "sweeps");
    for (int k = 0; k < s->count; ++k) {
        const point *p = &s->at[k];
        JSON_OBJECT(j, NULL, true, J_COUNT("sweeps", k + 1), J_NUMBER("trisolve_residual", p->residual),
                    J_NUMBER("iterations", p->iterations), J_NUMBER("solve", p->solve),
                    J_NUMBER("relative_residual", p->relative_residual),
                    J_TEXT("why", p->why[0] ? p->why : NULL));
    }
    json_close(j);
    json_close(j);
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const sweeps_row *at = rows->at;
    for (int f = 0; f < FIGURES; ++f) {
        if (!is_wanted(t, f)) continue;
        json_array(j, figures[f].name);
        for (const sweeps_row *row = at; row < at + rows->count; ++row) {
            json_object(j, NULL);
            bench_json_matrix(j, &row->matrix);
            json_truth(j, "late", row->late);
            json_array(j, "series");
            for (int k = 0; k < row->figures[f].count; ++k) write_series(j, &row->figures[f].series[k]);
            json_close(j);
            json_close(j);
        }
        json_close(j);
    }
}

static void release(void *at)
{
    sweeps_row *row = at;
    for (int f = 0; f < FIGURES; ++f) free(row->figures[f].series);
}

const trisolve_kind kind_sweeps = {
    .first = PART_FIGURE1,
    .last = PART_FIGURE5,
    .takes = TAKES_SYMMETRIC,
    .size = sizeof(sweeps_row),
    .measure = measure,
    .print_row = print_row,
    .write = write_rows,
    .release = release,
};
