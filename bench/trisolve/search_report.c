/* The tables and the JSON of Table 1 and Figures 6 and 7 (search.h). */
#include "bench/trisolve/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURE_WAYS = 3 }; /* figures show entries, blocks_12, best_12 */

static const char *const way_titles[WAYS] = {"over entries", "over adjacent rows, 12", "best blocking, 12",
                                             "over adjacent rows, 24", "best blocking, 24"};

/* The goals, of what exact solves solve without a shift: entries and the best blocking. */
static double goal_of(int level, int way)
{
    if (way == WAY_BEST) return 97.0;
    return way == WAY_ENTRIES && level == 0 ? 84.0 : way == WAY_ENTRIES && level == 1 ? 74.0 : NAN;
}

/* ---- by matrix ---- */

static void found_text(const search_found *f, char *text, size_t size)
{
    if (f->found)
        snprintf(text, size, "%d/%.0f", f->sweeps, f->iterations);
    else
        snprintf(text, size, "%s", f->late ? "limit" : f->tried ? "no" : "-");
}

void search_print_row(const trisolve_bench *t, const void *at, bool first)
{
    const search_row *row = at;
    (void)t;
    if (first)
        printf("%-26s%9s %6s%7s%9s%9s%9s  %-17s%9s%9s\n", "sweeps/iterations", "n", "", "exact", "entries",
               "blocks", "best", "blocking", "24 rows", "best");
    for (int k = 0; k < row->count; ++k) {
        const search_level *l = &row->levels[k];
        const search_found *best = &l->ways[WAY_BEST];
        char text[WAYS][24], exact[24] = "-";
        for (int w = 0; w < WAYS; ++w) found_text(&l->ways[w], text[w], sizeof text[w]);
        if (l->exact.solved)
            snprintf(exact, sizeof exact, "%s%.0f", trisolve_is_shifted(&l->exact) ? "*" : "",
                     trisolve_iterations(&l->exact));
        printf("%-26.26s%9lld  IC(%d)%6s", k ? "" : row->matrix.name, (long long)row->matrix.n, l->level,
               exact);
        if (l->exact.solved)
            printf("%9s%9s%9s  %-17s%9s%9s\n", text[0], text[1], text[2],
                   best->found ? trisolve_blockings[best->blocking] : "", text[3], text[4]);
        else
            printf("  %s\n", l->exact.why);
    }
    fflush(stdout);
}

static void print_failures(const search_row *row, const search_level *l)
{
    for (int w = 0; w < WAYS; ++w) {
        const search_found *f = &l->ways[w];
        const bool others = w == WAY_BEST || w == WAY_BEST_24;
        for (int b = 0; b < BLOCKINGS; ++b) {
            if (!f->why[b][0] || (others && b == ADJACENT)) continue;
            if (f->found && f->blocking == b) continue;
            if (w == WAY_ENTRIES && f->found) continue;
            printf("    %-24.24s IC(%d) %-9s %-16s %s\n", row->matrix.name, l->level, search_way_names[w],
                   w == WAY_ENTRIES ? "" : trisolve_blockings[b], f->why[b]);
        }
    }
}

/* ---- Table 1 ---- */

static void print_count(int count, int of)
{
    char text[32] = "-";
    if (of > 0) snprintf(text, sizeof text, "%d (%.0f %%)", count, 100.0 * count / of);
    printf("%14s", text);
}

static void print_table(const trisolve_bench *t, const trisolve_rows *rows, const search_row *first)
{
    printf("\nTable 1: solved%23s", "");
    for (int k = 0; k < first->count; ++k)
        printf("  IC(%d): no shift%12s  goal", first->levels[k].level, "all");
    printf("\n%-36s", "exact triangular solves");
    for (int k = 0; k < first->count; ++k)
        printf("%16d%14d      ", search_counted(rows, k, false).exact, search_counted(rows, k, true).exact);
    putchar('\n');
    for (int w = 0; w < WAYS; ++w) {
        if (!search_wants(t->a, (search_way)w)) continue;
        printf("sweeps %-29s", way_titles[w]);
        for (int k = 0; k < first->count; ++k) {
            const search_count paper = search_counted(rows, k, false), all = search_counted(rows, k, true);
            printf("  ");
            print_count(paper.ways[w], paper.exact);
            print_count(all.ways[w], all.exact);
            print_column("%.0f", 4, goal_of(first->levels[k].level, w));
            printf("  ");
        }
        putchar('\n');
    }
}

static void print_late(const trisolve_rows *rows, const search_row *first)
{
    for (int k = 0; k < first->count; ++k) {
        const search_count all = search_counted(rows, k, true);
        for (int w = 0; w < WAYS; ++w)
            if (all.late[w] > 0)
                printf("IC(%d), sweeps %s: of %d the time limit was over first\n", first->levels[k].level,
                       way_titles[w], all.late[w]);
    }
}

/* ---- Figures 6 and 7 ---- */

static void histogram(const trisolve_rows *rows, int level, int way, int *counts)
{
    const search_row *at = rows->at;
    memset(counts, 0, (SWEEPS_MOST + 1) * sizeof *counts);
    for (int64_t i = 0; i < rows->count; ++i) {
        const search_found *f = &at[i].levels[level].ways[way];
        if (f->found) counts[f->sweeps]++;
    }
}

static int descending(const void *one, const void *two)
{
    const double a = *(const double *)one, b = *(const double *)two;
    return (a < b) - (a > b);
}

/* The exact solve's time over the swept one's, largest first; the caller frees. NULL where memory ran out. */
static double *speedups(const trisolve_rows *rows, int level, int way, int *count)
{
    const search_row *at = rows->at;
    double *s = malloc(((size_t)rows->count + 1) * sizeof *s);
    *count = 0;
    for (int64_t i = 0; i < rows->count && s; ++i) {
        const search_level *l = &at[i].levels[level];
        if (l->ways[way].found) s[(*count)++] = l->exact.solve / l->ways[way].solve;
    }
    if (s) qsort(s, (size_t)*count, sizeof *s, descending);
    return s;
}

static void print_figure6(const trisolve_bench *t, const trisolve_rows *rows, const search_row *first)
{
    printf("\nFigure 6: matrices by the number of sweeps that is fastest\n%8s", "sweeps");
    for (int k = 0; k < first->count; ++k)
        for (int w = 0; w < FIGURE_WAYS; ++w)
            if (search_wants(t->a, (search_way)w))
                printf("  IC(%d) %-9s", first->levels[k].level, search_way_names[w]);
    putchar('\n');
    for (int s = 1; s <= trisolve_most(t, SEARCH_SWEEPS); ++s) {
        printf("%8d", s);
        for (int k = 0; k < first->count; ++k) {
            for (int w = 0; w < FIGURE_WAYS; ++w) {
                int counts[SWEEPS_MOST + 1];
                if (!search_wants(t->a, (search_way)w)) continue;
                histogram(rows, k, w, counts);
                printf("%17d", counts[s]);
            }
        }
        putchar('\n');
    }
}

static void print_figure7(const trisolve_bench *t, const trisolve_rows *rows, const search_row *first)
{
    printf("\nFigure 7: the time of the iteration with exact solves over that with sweeps, largest first\n");
    for (int k = 0; k < first->count; ++k) {
        for (int w = 0; w < FIGURE_WAYS; ++w) {
            int count;
            if (!search_wants(t->a, (search_way)w)) continue;
            double *s = speedups(rows, k, w, &count);
            printf("IC(%d) %s:", first->levels[k].level, search_way_names[w]);
            for (int i = 0; i < count && s; ++i) printf("%s %.2f", i % 16 == 15 ? "\n   " : "", s[i]);
            putchar('\n');
            free(s);
        }
    }
}

void search_print(const trisolve_bench *t, const trisolve_rows *rows)
{
    const search_row *at = rows->at;
    printf("(exact: iterations with exact triangular solves, * with a shift; no: not with 1 to %d sweeps, "
           "where a\n"
           "solve is given up after 1 second and 60 times the exact one's time)\n",
           trisolve_most(t, SEARCH_SWEEPS));
    printf("\nwhat failed, by the try that came nearest:\n");
    for (int64_t i = 0; i < rows->count; ++i)
        for (int k = 0; k < at[i].count; ++k) print_failures(&at[i], &at[i].levels[k]);
    if (t->wanted[PART_TABLE1]) print_table(t, rows, at);
    print_late(rows, at);
    if (t->wanted[PART_FIGURE6]) print_figure6(t, rows, at);
    if (t->wanted[PART_FIGURE7]) print_figure7(t, rows, at);
}

/* ---- JSON ---- */

static void write_found(json *j, const char *key, const search_found *f)
{
    json_object(j, key);
    JSON_PUT(j, true, J_TRUTH("solved", f->found), J_TRUTH("late", f->late), J_COUNT("tries", f->tries));
    JSON_PUT(j, f->found, J_COUNT("sweeps", f->sweeps),
             J_TEXT("blocking", f->found && f->blocking >= 0 ? trisolve_blockings[f->blocking] : NULL),
             J_NUMBER("iterations", f->iterations), J_NUMBER("setup", f->setup), J_NUMBER("solve", f->solve),
             J_NUMBER("relative_residual", f->relative_residual));
    json_object(j, "failed");
    for (int b = 0; b < BLOCKINGS; ++b)
        if (f->why[b][0]) json_text(j, trisolve_blockings[b], f->why[b]);
    json_close(j);
    json_close(j);
}

static void write_level(json *j, const search_row *row, const search_level *l)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    JSON_PUT(j, true, J_COUNT("level", l->level), J_TRUTH("shifted", trisolve_is_shifted(&l->exact)));
    trisolve_json_result(j, "exact", &l->exact);
    for (int w = 0; w < WAYS; ++w)
        if (l->ways[w].tried) write_found(j, search_way_names[w], &l->ways[w]);
    json_close(j);
}

/* Of ways that were not asked for nothing is known. */
static void write_counts(json *j, const trisolve_bench *t, const trisolve_rows *rows, const search_row *first)
{
    json_array(j, "counts");
    for (int k = 0; k < first->count; ++k) {
        for (int shifted = 0; shifted < 2; ++shifted) {
            const search_count c = search_counted(rows, k, shifted);
            json_object(j, NULL);
            JSON_PUT(j, true, J_COUNT("level", first->levels[k].level), J_TRUTH("with_shifted", shifted),
                     J_COUNT("exact", c.exact));
            for (int w = 0; w < WAYS; ++w)
                json_count(j, search_way_names[w], search_wants(t->a, (search_way)w) ? c.ways[w] : -1);
            json_object(j, "late");
            for (int w = 0; w < WAYS; ++w) json_count(j, search_way_names[w], c.late[w]);
            json_close(j);
            json_close(j);
        }
    }
    json_close(j);
}

static void write_figures(json *j, const trisolve_bench *t, const trisolve_rows *rows,
                          const search_row *first)
{
    json_array(j, "figures6and7");
    for (int k = 0; k < first->count; ++k) {
        for (int w = 0; w < FIGURE_WAYS; ++w) {
            int counts[SWEEPS_MOST + 1], count;
            if (!search_wants(t->a, (search_way)w)) continue;
            double *s = speedups(rows, k, w, &count);
            histogram(rows, k, w, counts);
            json_object(j, NULL);
            JSON_PUT(j, true, J_COUNT("level", first->levels[k].level), J_TEXT("way", search_way_names[w]));
            json_array(j, "matrices_by_sweeps");
            for (int i = 1; i <= trisolve_most(t, SEARCH_SWEEPS); ++i) json_count(j, NULL, counts[i]);
            json_close(j);
            json_numbers(j, "speedups", s, s ? count : 0);
            json_close(j);
            free(s);
        }
    }
    json_close(j);
}

void search_write(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const search_row *at = rows->at;
    json_object(j, "table1");
    json_array(j, "rows");
    for (int64_t i = 0; i < rows->count; ++i)
        for (int k = 0; k < at[i].count; ++k) write_level(j, &at[i], &at[i].levels[k]);
    json_close(j);
    write_counts(j, t, rows, at);
    if (t->wanted[PART_FIGURE6] || t->wanted[PART_FIGURE7]) write_figures(j, t, rows, at);
    json_close(j);
}
