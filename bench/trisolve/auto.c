/*
 * `saddle bench trisolve --part auto`: the time to solution, setup included, of `trisolve auto` beside the
 * best of all triangular solves that could have been named: exact, and sweeps over entries and over every
 * blocking. What has taken as long as the best so far is stopped; auto and the best then take turns. Half of
 * the time limit is for either, and as much for every level.
 */
#include "bench/trisolve/trisolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double NEAR = 1.2;
static const int tried_sweeps[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20};
enum { TRIED_SWEEPS = sizeof tried_sweeps / sizeof tried_sweeps[0], TURNS_LEAST = 3 };

typedef struct auto_level {
    int level;
    char best_text[TEXT]; /* "": none solves it */
    int tries;
    bool late; /* the time for tries was over before all were made */
    trisolve_result chosen, best;
} auto_level;

typedef struct auto_row {
    bench_matrix matrix;
    int count;
    auto_level levels[LEVELS_MOST];
} auto_row;

static void try_text(trisolve_bench *t, const char *text, auto_level *l)
{
    const double known = l->best_text[0] ? trisolve_total(&l->best) : INFINITY;
    if (trisolve_left(t) <= 0.0) return;
    l->tries++;
    const trisolve_result r = trisolve_try(t, text, known);
    if (!r.solved || !(trisolve_total(&r) < known)) return;
    l->best = r;
    snprintf(l->best_text, sizeof l->best_text, "%s", text);
}

/* The exact solve first, since it limits the others, and again, since the first run of all is slow. */
static void try_all(trisolve_bench *t, auto_level *l)
{
    char text[TEXT], exact[TEXT];
    snprintf(exact, sizeof exact, "level=%d trisolve=exact", l->level);
    try_text(t, exact, l);
    try_text(t, exact, l);
    for (int s = 0; s < TRIED_SWEEPS; ++s) {
        snprintf(text, sizeof text, "level=%d fallback=none trisolve=jacobi trisolve_sweeps=%d", l->level,
                 tried_sweeps[s]);
        try_text(t, text, l);
        for (int b = 0; b < BLOCKINGS; ++b) {
            snprintf(
                text, sizeof text,
                "level=%d fallback=none trisolve=block-jacobi blocking=%s block_size=12 trisolve_sweeps=%d",
                l->level, trisolve_blockings[b], tried_sweeps[s]);
            try_text(t, text, l);
        }
    }
    try_text(t, exact, l);
}

/* Auto and the best in turns, so that a noisy moment hits both: the best times of each. */
static void take_turns(trisolve_bench *t, const char *text, auto_level *l)
{
    const int64_t repeat = argument_count(t->a, "repeat");
    for (int64_t k = 0; k < repeat || k < TURNS_LEAST; ++k) {
        const trisolve_result chosen = trisolve_try(t, text, INFINITY);
        if (!l->chosen.run || (chosen.solved && trisolve_total(&chosen) < trisolve_total(&l->chosen)))
            l->chosen = chosen;
        if (!l->best_text[0] || trisolve_left(t) <= 0.0) break;
        const trisolve_result best = trisolve_try(t, l->best_text, INFINITY);
        if (best.solved && (k == 0 || trisolve_total(&best) < trisolve_total(&l->best))) l->best = best;
    }
}

static double ratio_of(const auto_level *l)
{
    if (!l->best_text[0]) return NAN;
    return l->chosen.solved ? trisolve_total(&l->chosen) / trisolve_total(&l->best) : INFINITY;
}

static void measure(trisolve_bench *t, void *to)
{
    static const int usual[] = {0, 1};
    auto_row *row = to;
    int levels[LEVELS_MOST];
    row->count = trisolve_levels(t, usual, 2, levels);
    const double end = t->until;
    for (int k = 0; k < row->count; ++k) {
        auto_level *l = &row->levels[k];
        char text[TEXT];
        const double now = bench_now(&t->watch), part = (end - now) / (row->count - k) / 2;
        l->level = levels[k];
        snprintf(text, sizeof text, "level=%d trisolve=auto", levels[k]);
        t->until = now + part;
        try_all(t, l);
        l->late = trisolve_left(t) <= 0.0;
        t->until = bench_now(&t->watch) + part;
        take_turns(t, text, l);
    }
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const auto_row *row = at;
    (void)t;
    if (first)
        printf("%-24s       %-13s%7s%10s%10s%8s  %s\n", "auto", "solves", "sweeps", "total s", "best s",
               "ratio", "the best");
    for (int k = 0; k < row->count; ++k) {
        const auto_level *l = &row->levels[k];
        char word[24] = "";
        saddle_option_word("trisolve", (int)l->chosen.info.trisolve, word, sizeof word);
        printf("%-24.24s IC(%d) %-13s", row->matrix.name, l->level, word);
        PRINT_COLUMNS("7.0f 10.4f 10.4f 8.2f", trisolve_sweeps(&l->chosen),
                      l->chosen.solved ? trisolve_total(&l->chosen) : NAN,
                      l->best_text[0] ? trisolve_total(&l->best) : NAN, ratio_of(l));
        printf("  %s%s%s%s\n", l->best_text[0] ? l->best_text : "nothing solves it",
               l->late ? " (of what there was time for)" : "", l->chosen.why[0] ? "; auto: " : "",
               l->chosen.why);
    }
    fflush(stdout);
}

static int count_near(const trisolve_rows *rows, int *of)
{
    const auto_row *at = rows->at;
    int near = 0;
    *of = 0;
    for (int64_t i = 0; i < rows->count; ++i) {
        for (int k = 0; k < at[i].count; ++k) {
            const double ratio = ratio_of(&at[i].levels[k]);
            if (isnan(ratio)) continue;
            ++*of;
            near += ratio <= NEAR;
        }
    }
    return near;
}

static void print(const trisolve_bench *t, const trisolve_rows *rows)
{
    int of;
    const int near = count_near(rows, &of);
    (void)t;
    printf("auto within %.1f of the best: %d of %d (%.0f %%)\n", NEAR, near, of,
           of ? 100.0 * near / of : 0.0);
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const auto_row *at = rows->at;
    int of;
    const int near = count_near(rows, &of);
    (void)t;
    json_object(j, "auto");
    JSON_PUT(j, true, J_NUMBER("near", NEAR), J_COUNT("within", near), J_COUNT("of", of));
    json_array(j, "rows");
    for (const auto_row *row = at; row < at + rows->count; ++row) {
        for (int k = 0; k < row->count; ++k) {
            const auto_level *l = &row->levels[k];
            json_object(j, NULL);
            bench_json_matrix(j, &row->matrix);
            JSON_PUT(j, true, J_COUNT("level", l->level), J_NUMBER("ratio", ratio_of(l)),
                     J_COUNT("tries", l->tries), J_TRUTH("late", l->late),
                     J_TEXT("best_setting", l->best_text[0] ? l->best_text : NULL));
            trisolve_json_result(j, "auto", &l->chosen);
            if (l->best_text[0]) trisolve_json_result(j, "best", &l->best);
            json_close(j);
        }
    }
    json_close(j);
    json_close(j);
}

const trisolve_kind kind_auto = {
    .first = PART_AUTO,
    .last = PART_AUTO,
    .takes = TAKES_SYMMETRIC,
    .size = sizeof(auto_row),
    .measure = measure,
    .print_row = print_row,
    .print = print,
    .write = write_rows,
};
