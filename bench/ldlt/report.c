/* The tables of `saddle bench ldlt` on matrices: what was measured, and beside it what is aimed at. */
#include "bench/ldlt/ldlt.h"
#include "cli/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOAL_SOLVED 0.92 /* of all matrices, by ldlt */
#define GOAL_STORED 10.0 /* entries beside those of A, in the median */
#define GOAL_JACOBI 0.95 /* of what ldlt solves without fill */
enum { LARGE_ROWS = 5000, LARGE_FILL = 30, LINE = 100 };

static double known(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

/* The recipe whose figures are told in full: the first that was run. */
static ldlt_recipe told(const ldlt_report *t)
{
    int k = 0;
    while (k + 1 < LDLT_RECIPES && !t->wanted[k]) ++k;
    return (ldlt_recipe)k;
}

void print_ldlt_header(const ldlt_report *t)
{
    printf("%-18s%8s%10s%8s%9s%9s%8s%8s%8s%7s%7s\n", "", "", "", "iter-", "backward", "other", "stored", "",
           "", "pushed", "per-");
    printf("%-18.17s%8s%10s%8s%9s%9s%8s%8s%8s%7s%7s\n", ldlt_recipe_names[told(t)], "n", "nnz", "ations",
           "error", "error", "/ nnz", "tau", "levels", "back", "turbed");
}

const char *ldlt_sides_text(const int64_t *iterations, char *text, size_t size)
{
    snprintf(text, size, "-");
    if (iterations[0] >= 0 && iterations[1] >= 0)
        snprintf(text, size, "%" PRId64 "/%" PRId64, iterations[0], iterations[1]);
    return text;
}

void print_ldlt_row(const ldlt_report *t, const ldlt_row *row)
{
    const ldlt_result *r = &row->results[told(t)];
    char iterations[48];
    printf("%-17.17s %8" PRId64 "%10" PRId64 "%8s", row->matrix.name, row->matrix.n, row->matrix.nnz,
           ldlt_sides_text(r->iterations, iterations, sizeof iterations));
    PRINT_COLUMNS("9.0e 9.0e 8.2f 8.0e 8.0f 7.0f 7.0f", ldlt_backward(r), ldlt_other_error(r),
                  ldlt_stored(r, row->matrix.nnz), r->info.fill_tau, known(r->info.levels),
                  known(r->info.pushed_back), known(r->info.perturbed));
    if (!r->solved) printf("  no: %.70s", r->why);
    putchar('\n');
    fflush(stdout);
}

/* Iterations where it is solved, "no" where it is not. */
static void print_verdict(const ldlt_result *r)
{
    if (!r->run)
        printf("%7s", "");
    else if (!r->solved)
        printf("%7s", "no");
    else
        print_column("%.0f", 7, ldlt_iterations(r));
}

void print_ldlt_methods(const ldlt_report *t)
{
    const ldlt_recipe first = told(t);
    printf("\n%-18s%24s%24s   %s\n", "", ldlt_recipe_names[first], "direct", "iterations where it is solved");
    printf("%-18s%8s%8s%8s%8s%8s%8s", "seconds", "prepare", "factor", "solve", "/ nnz", "prepare", "factor");
    for (int k = 0; k < LDLT_RECIPES; ++k)
        if (t->wanted[k]) printf("%7s", k == LDLT_NONE ? "none" : ldlt_recipe_names[k]);
    putchar('\n');
    for (int i = 0; i < t->count; ++i) {
        const ldlt_row *row = &t->rows[i];
        const ldlt_result *r = &row->results[first], *direct = &row->results[LDLT_DIRECT];
        printf("%-17.17s ", row->matrix.name);
        PRINT_COLUMNS("8.4f 8.4f 8.4f 8.2f 8.4f 8.4f", r->analysis, r->factor, ldlt_solve_time(r),
                      ldlt_stored(direct, row->matrix.nnz), direct->run ? direct->analysis : NAN,
                      direct->run ? direct->factor : NAN);
        for (int k = 0; k < LDLT_RECIPES; ++k)
            if (t->wanted[k]) print_verdict(&row->results[k]);
        putchar('\n');
    }
}

ldlt_total ldlt_total_of(const ldlt_report *t, ldlt_recipe recipe)
{
    ldlt_total all = {.stored_median = NAN};
    double *stored = malloc(((size_t)t->count + 1) * sizeof *stored);
    int known_count = 0;
    for (int i = 0; i < t->count; ++i) {
        const ldlt_row *row = &t->rows[i];
        const ldlt_result *r = &row->results[recipe], *direct = &row->results[LDLT_DIRECT];
        const double share = ldlt_stored(r, row->matrix.nnz), most = ldlt_stored(direct, row->matrix.nnz);
        if (!r->run) continue;
        ++all.run;
        all.solved += r->solved;
        all.missed += direct->run && direct->solved && !r->solved;
        if (isfinite(share) && stored) stored[known_count++] = share;
        if (!isfinite(share) || row->matrix.n < LARGE_ROWS || !(most > LARGE_FILL)) continue;
        ++all.large;
        all.large_a_third += 3.0 * share <= most;
    }
    all.stored_median = median_of(stored, known_count);
    free(stored);
    return all;
}

static void print_missed(const ldlt_report *t, ldlt_recipe recipe)
{
    int at = 0;
    for (int i = 0; i < t->count; ++i) {
        const ldlt_row *row = &t->rows[i];
        if (!row->results[recipe].run || row->results[recipe].solved) continue;
        if (at == 0) {
            at = printf("not by %s: %s", ldlt_recipe_names[recipe], row->matrix.name);
        } else if (at + (int)strlen(row->matrix.name) + 2 < LINE) {
            at += printf(", %s", row->matrix.name);
        } else {
            printf(",\n  ");
            at = 2 + printf("%s", row->matrix.name);
        }
    }
    if (at > 0) putchar('\n');
}

/* What a recipe is to reach, in words. */
static void goal_of(const ldlt_report *t, ldlt_recipe recipe, char *text, size_t size)
{
    const ldlt_total one = ldlt_total_of(t, recipe);
    text[0] = 0;
    if (recipe == LDLT_DEFAULT)
        snprintf(text, size, "goal %.0f %%, stored %.0f, all large ones a third", 100 * GOAL_SOLVED,
                 GOAL_STORED);
    if (recipe == LDLT_JACOBI && t->wanted[LDLT_NONE])
        snprintf(text, size, "goal %.1f: ldlt-none minus 5 %%",
                 GOAL_JACOBI * ldlt_total_of(t, LDLT_NONE).solved);
    if (recipe == LDLT_AUTO && t->wanted[LDLT_DIRECT])
        snprintf(text, size, "goal: all that direct solves; %d missed", one.missed);
}

void print_ldlt_totals(const ldlt_report *t)
{
    printf("\n%-12s%8s%6s%7s%10s%20s\n", "", "solved", "of", "%", "stored", "a third of direct's");
    for (int k = 0; k < LDLT_RECIPES; ++k) {
        const ldlt_total one = ldlt_total_of(t, (ldlt_recipe)k);
        char goal[96], third[32] = "-";
        if (!t->wanted[k]) continue;
        goal_of(t, (ldlt_recipe)k, goal, sizeof goal);
        if (one.large > 0) snprintf(third, sizeof third, "%d of %d", one.large_a_third, one.large);
        printf("%-12s%8d%6d%7.1f", ldlt_recipe_names[k], one.solved, one.run, 100.0 * one.solved / one.run);
        print_column("%.2f", 10, one.stored_median);
        printf("%20s%s%s\n", third, goal[0] ? "   " : "", goal);
    }
    printf(
        "(solved: for b = A times ones and for a random b, backward error at most 1e-12, and relative "
        "residual\n"
        "or componentwise error at most 1e-8, in 100 iterations; stored: median of entries / nnz(A);\n"
        "large: n >= %d whose direct factors have over %d nnz(A); auto: within its own 1,000 iterations)\n",
        LARGE_ROWS, LARGE_FILL);
    for (int k = 0; k < LDLT_RECIPES; ++k)
        if (t->wanted[k]) print_missed(t, (ldlt_recipe)k);
}

void print_ldlt_anchors(const ldlt_report *t)
{
    char iterations[48];
    printf("\n%-18s%10s%14s%12s%12s%12s%12s\n", "published", "stored", "its to 1e-8", "SYM-ILDL's",
           "backward", "paper's", "goal");
    for (int i = 0; i < t->count; ++i) {
        const ldlt_row *row = &t->rows[i];
        const ldlt_anchor *anchor = ldlt_anchor_find(row->matrix.name);
        const ldlt_result *r = &row->results[told(t)], *loose = &row->to_residual;
        if (!anchor) continue;
        const bool error = isfinite(anchor->published_error);
        const bool met = error ? ldlt_backward(r) <= 1e-12
                               : fmax(loose->residual[0], loose->residual[1]) <= 1e-8 &&
                                     ldlt_iterations(loose) <= anchor->published_iterations;
        printf("%-17.17s ", row->matrix.name);
        print_column("%.2f", 10, ldlt_stored(loose, row->matrix.nnz));
        printf("%14s", ldlt_sides_text(loose->iterations, iterations, sizeof iterations));
        PRINT_COLUMNS("12.0f 12.0e 12.0e", anchor->published_iterations, ldlt_backward(r),
                      anchor->published_error);
        printf("%12s  %s\n", error ? "1e-12" : "no more", met ? "met" : "NOT met");
    }
    printf("(its to 1e-8: iterations of ldlt to that relative residual, for A times ones and a random b; "
           "SYM-ILDL's\n"
           "are with SQMR, for a b of ones; stored: entries / nnz(A); backward: of %s, the paper's from "
           "Table I)\n",
           ldlt_recipe_names[told(t)]);
}
