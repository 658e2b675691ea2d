/* The tables and the JSON of `saddle bench ldlt --ablate`. */
#include "bench/ldlt/ablate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TOLD = 11 };
static const int told_sweeps[TOLD] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16};

static void print_name(const ablate_report *t, int k)
{
    printf("%2d %-13.13s", k + 1, t->rows[k].matrix.name);
}

static void print_dominance(const ablate_report *t)
{
    printf("3a  |A_ii| - sum |A_ij| in the 1-norm over block rows of the scaled matrix\n%-16s%33s%33s\n", "",
           "grid of 32", "pairs in clusters of 8");
    printf("%-16s%11s%11s%11s%11s%11s%11s\n", "", "least", "mean", "largest", "least", "mean", "largest");
    for (int k = 0; k < t->count; ++k) {
        print_name(t, k);
        for (int i = 0; i < 6; ++i) print_column("%.3g", 11, t->rows[k].dominance[i / 3][i % 3]);
        putchar('\n');
    }
}

/* A table of errors: columns of jacobi, then of ldlt. */
static void print_errors(const ablate_report *t, const char *title, const char *const *heads, int count,
                         const double *(*errors)(const ablate_row *row, int method))
{
    printf("\n%s\n%-16s", title, "");
    for (int m = 0; m < ABLATE_METHODS; ++m) printf("%*s", 8 * count, ablate_methods[m]);
    printf("\n%-16s", "");
    for (int i = 0; i < ABLATE_METHODS * count; ++i) printf("%8.7s", heads[i % count]);
    putchar('\n');
    for (int k = 0; k < t->count; ++k) {
        print_name(t, k);
        for (int i = 0; i < ABLATE_METHODS * count; ++i)
            print_column("%.0e", 8, errors(&t->rows[k], i / count)[i % count]);
        putchar('\n');
    }
}

static const double *errors_of_epsilon(const ablate_row *row, int method)
{
    return row->epsilon[method];
}

static const double *errors_of_size(const ablate_row *row, int method)
{
    return row->size[method];
}

static const double *errors_of_pivoting(const ablate_row *row, int method)
{
    return row->pivoting[method][0];
}

static void print_sweeps(const ablate_report *t)
{
    printf("\n3e  by sweeps: |LDL' - A| / |A|, and max |LDL' - A| on the pattern\n%-28s", "");
    for (int i = 0; i < TOLD; ++i) printf("%7d", told_sweeps[i]);
    printf("%7s\n", "exact");
    for (int k = 0; k < t->count; ++k) {
        const ablate_row *row = &t->rows[k];
        for (int i = 0; i < 2 * ABLATE_ORDERS; ++i) {
            const bool pattern = i % 2;
            const double *values = pattern ? row->pattern[i / 2] : row->sweeps[i / 2];
            if (i == 0)
                print_name(t, k);
            else
                printf("%16s", "");
            printf(" %-6s%-5s", pattern ? "" : ablate_orders[i / 2], pattern ? "patt." : "error");
            for (int s = 0; s < TOLD; ++s) print_column("%.0e", 7, values[told_sweeps[s] - 1]);
            print_column("%.0e", 7, pattern ? NAN : row->exact);
            putchar('\n');
        }
    }
}

static void print_times(const ablate_report *t)
{
    printf("\n3f  seconds to factor (8 sweeps)\n%-16s", "");
    for (int i = 0; i < ABLATE_TIMES; ++i) printf("%15s", ablate_times[i]);
    printf("%18s\n", "exact / block s.");
    for (int k = 0; k < t->count; ++k) {
        print_name(t, k);
        for (int i = 0; i < ABLATE_TIMES; ++i) print_column("%.4f", 15, t->rows[k].factor[i]);
        print_column("%.2f", 18, t->rows[k].factor[TIME_EXACT] / t->rows[k].factor[TIME_BLOCK]);
        putchar('\n');
    }
}

/* Of an error, which may be 0. */
static void print_logarithm(int width, double number)
{
    if (number == 0.0)
        printf("%*s", width, "exact");
    else
        print_column("%.1f", width, log10(number));
}

static void print_table(const ablate_report *t)
{
    static const char *const heads[TABLE_ENTRIES] = {"jacobi(32, 0.1)", "ldlt(32, 0.1)", "ldlt, defaults"};
    printf("\nTable I: log10 of backward error B and relative residual R, and seconds of setup\n%-16s%16s",
           "", "published");
    for (int i = 0; i < TABLE_ENTRIES; ++i) printf("%22s", heads[i]);
    printf("\n%-16s%4s%4s%4s%4s", "", "B", "R", "B", "R");
    for (int i = 0; i < TABLE_ENTRIES; ++i) printf("%8s%6s%8s", "B", "R", "t");
    putchar('\n');
    for (int k = 0; k < t->count; ++k) {
        const ablate_row *row = &t->rows[k];
        print_name(t, k);
        for (int i = 0; i < 4; ++i) print_column("%.0f", 4, row->published[i / 2][i % 2]);
        for (int i = 0; i < TABLE_ENTRIES; ++i) {
            print_logarithm(8, row->table[i].backward);
            print_logarithm(6, row->table[i].residual);
            print_column("%.3f", 8, row->table[i].seconds);
        }
        putchar('\n');
    }
    printf("(4 x GMRES(25), b = A times ones; the defaults: at most 100 iterations of their own)\n");
}

void print_ablation(const ablate_report *t)
{
    static const char *const pivots[2 * ABLATE_PIVOTS] = {"static",  "no push", "BK",
                                                          "no push", "compl.",  "no push"};
    print_dominance(t);
    print_errors(t, "3b  |LDL' - A| / |A| by the least pivot epsilon", ablate_epsilons, ABLATE_EPSILONS,
                 errors_of_epsilon);
    print_errors(t, "3c  |LDL' - A| / |A| by the rows of a block", ablate_sizes, ABLATE_SIZES,
                 errors_of_size);
    print_errors(t, "3d  |LDL' - A| / |A| by inner pivoting, with push-back and without", pivots,
                 2 * ABLATE_PIVOTS, errors_of_pivoting);
    print_sweeps(t);
    print_times(t);
    print_table(t);
    for (int k = 0; k < t->count; ++k)
        if (t->rows[k].why[0])
            printf("%s: a run without figures: %s\n", t->rows[k].matrix.name, t->rows[k].why);
}

static void json_list(json *j, const char *key, const double *values, int count)
{
    json_array(j, key);
    for (int k = 0; k < count; ++k) json_number(j, NULL, values[k]);
    json_close(j);
}

static void json_entry(json *j, const char *key, const ablate_entry *entry)
{
    json_object(j, key);
    json_number(j, "backward_error", entry->backward);
    json_number(j, "relative_residual", entry->residual);
    json_number(j, "setup", entry->seconds);
    json_count(j, "iterations", entry->iterations);
    json_close(j);
}

static void json_method(json *j, const ablate_row *row, int m)
{
    json_object(j, ablate_methods[m]);
    json_list(j, "epsilon", row->epsilon[m], ABLATE_EPSILONS);
    json_list(j, "block_size", row->size[m], ABLATE_SIZES);
    for (int p = 0; p < ABLATE_PIVOTS; ++p) json_list(j, ablate_pivots[p], row->pivoting[m][p], 2);
    json_entry(j, "table", &row->table[m]);
    json_close(j);
}

static void json_row(json *j, const ablate_row *row)
{
    json_object(j, NULL);
    ldlt_json_matrix(j, &row->matrix);
    json_list(j, "dominance_grid", row->dominance[0], 3);
    json_list(j, "dominance_clusters", row->dominance[1], 3);
    for (int m = 0; m < ABLATE_METHODS; ++m) json_method(j, row, m);
    json_object(j, "sweeps");
    for (int k = 0; k < ABLATE_ORDERS; ++k) {
        json_object(j, ablate_orders[k]);
        json_list(j, "error", row->sweeps[k], ABLATE_SWEEPS);
        json_list(j, "pattern_residual", row->pattern[k], ABLATE_SWEEPS);
        json_close(j);
    }
    json_close(j);
    json_object(j, "factor_seconds");
    for (int k = 0; k < ABLATE_TIMES; ++k) json_number(j, ablate_times[k], row->factor[k]);
    json_close(j);
    json_entry(j, "defaults", &row->table[TABLE_OURS]);
    json_text(j, "why", row->why[0] ? row->why : NULL);
    json_close(j);
}

int write_ablation_json(const void *report, const char *path)
{
    const ablate_report *t = report;
    json j;
    const int status = ldlt_json_begin(&j, path, t->bench, "ablate");
    if (status != EXIT_DONE) return status;
    json_array(&j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(&j, &t->rows[k]);
    json_close(&j);
    return json_end(&j);
}
