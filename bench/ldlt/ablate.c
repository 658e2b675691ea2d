/*
 * `saddle bench ldlt --ablate`: Figure 3 and Table I of Thuerck, Stretching Jacobi, for any matrices.
 *
 * All is in the paper's settings (cli/paper.h) but for the one that a figure varies; the exact schedule in
 * the same settings stands beside the sweeps, and ldlt with its own defaults beside both. Errors are those of
 * the factors, |L D L' - A| / |A| in the infinity norm over the whole matrix, which the option check
 * measures.
 */
#include "bench/ldlt/ldlt.h"
#include "cli/paper.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ABLATE_SWEPT, ABLATE_EXACT, ABLATE_METHODS }; /* jacobi, ldlt: in the paper's settings */
enum { ABLATE_BLOCK, ABLATE_ROW, ABLATE_ORDERS };    /* of sweeps */
enum { ABLATE_EPSILON, ABLATE_SIZE, ABLATE_PIVOT, ABLATE_SETTINGS }; /* Figures 3b, c and d */
enum { ABLATE_VALUES = 6, ABLATE_SWEEPS = 16 };
enum { TIME_EXACT, TIME_BLOCK, TIME_ROW, TIME_OURS, ABLATE_TIMES };
enum { TABLE_SWEPT, TABLE_EXACT, TABLE_OURS, TABLE_ENTRIES };

typedef struct ablate_entry {
    double backward, residual, seconds; /* of the whole setup */
    int64_t iterations;
} ablate_entry;

/* Errors are |L D L' - A| / |A| in the infinity norm; NaN where a run failed. */
typedef struct ablate_row {
    bench_matrix matrix;
    double dominance[2][3]; /* 3a: least, mean, largest: in the paper's blocks, and in those of ldlt */
    double errors[ABLATE_SETTINGS][ABLATE_METHODS][ABLATE_VALUES]; /* 3b to 3d */
    double sweeps[ABLATE_ORDERS][ABLATE_SWEEPS];                   /* 3e: after so many, from 1 */
    double pattern[ABLATE_ORDERS][ABLATE_SWEEPS];                  /* 3e: residual on the pattern */
    double exact;                                                  /* 3e: of the exact schedule */
    saddle_info pivoting[ABLATE_METHODS][ABLATE_VALUES];           /* 3d: what push-back came to */
    double factor[ABLATE_TIMES];                                   /* 3f: seconds to factor */
    double again[ABLATE_TIMES];                                    /* the same on the pattern that is known */
    ablate_entry table[TABLE_ENTRIES];                             /* Table I, b = A times ones */
    double published[2][2];                                        /* its B and R: jacobi, exact; NaN */
    char why[96];                                                  /* of the last run that failed */
} ablate_row;

typedef struct ablate_report {
    const ldlt_bench *bench;
    int count;
    ablate_row *rows;
} ablate_report;

static const char *const ablate_methods[ABLATE_METHODS] = {"jacobi", "ldlt"};
static const char *const ablate_orders[ABLATE_ORDERS] = {"block", "row"};

/* One setting at a time, by the paper's figure; inner pivoting with push-back and without. */
static const struct {
    const char *title, *option;
    int count;
    const char *values[ABLATE_VALUES], *heads[ABLATE_VALUES];
} settings[ABLATE_SETTINGS] = {
    {"3b  |LDL' - A| / |A| by the smallest pivot epsilon",
     "small_pivot",
     4,
     {"0.1", "0.01", "0.001", "0.0001"},
     {"0.1", "0.01", "0.001", "0.0001"}},
    {"3c  |LDL' - A| / |A| by the rows of a block",
     "block_size",
     6,
     {"1", "2", "4", "8", "16", "32"},
     {"1", "2", "4", "8", "16", "32"}},
    {"3d  |LDL' - A| / |A| by inner pivoting, with push-back and without",
     "pivot",
     6,
     {"static", "static", "bunch-kaufman", "bunch-kaufman", "complete", "complete"},
     {"static", "no push", "BK", "no push", "compl.", "no push"}},
};

static const char *const ablate_times[ABLATE_TIMES] = {"exact", "block sweeps", "row sweeps",
                                                       "ldlt, defaults"};

/* Table I: B and R of Jacobi(32, 0.1) and of Multilevel(32, 0.1). */
static const struct {
    const char *name;
    double swept[2], exact[2];
} published[] = {
    {"qpband", {-6, -8}, {-6, -8}},     {"mario001", {-1, -1}, {-1, -1}},   {"bab5", {-4, -1}, {-4, -1}},
    {"c-72", {-3, -1}, {-3, -1}},       {"Si10H16", {-4, -3}, {-4, -3}},    {"boyd1", {-5, -4}, {-5, -4}},
    {"Lin", {-4, -3}, {-4, -3}},        {"map06", {-4, -2}, {-4, -2}},      {"bley_xl1", {-3, -2}, {-3, -2}},
    {"c-big", {-4, -2}, {-4, -2}},      {"co-100", {-3, -2}, {-3, -2}},     {"bab3", {-3, -2}, {-4, -2}},
    {"G3_circuit", {-4, -3}, {-4, -3}}, {"BenElechi1", {-5, -5}, {-5, -6}}, {"af_shell7", {-5, -4}, {-5, -4}},
};

/* boyd1 of the collection is the saddle-point matrix of a quadratic program. */
static void find_published(ablate_row *row)
{
    for (int k = 0; k < 4; ++k) row->published[k / 2][k % 2] = NAN;
    for (size_t k = 0; k < sizeof published / sizeof published[0]; ++k) {
        const size_t length = strlen(published[k].name);
        if (strncmp(row->matrix.name, published[k].name, length) != 0 ||
            (row->matrix.name[length] && strcmp(row->matrix.name + length, "_saddle") != 0))
            continue;
        memcpy(row->published[0], published[k].swept, sizeof row->published[0]);
        memcpy(row->published[1], published[k].exact, sizeof row->published[1]);
    }
}

/* The paper's settings, with one that differs. */
static saddle_options vary(const ldlt_bench *t, int method, const char *name, const char *value)
{
    saddle_options o = ldlt_options(t, "check=on");
    paper_set(&o, method == ABLATE_EXACT, NULL);
    if (name) saddle_options_set(&o, name, value, NULL);
    return o;
}

/* again: NULL, or for a second factorization, of which the pattern is known. */
static ldlt_result factor_twice(ldlt_bench *t, ablate_row *row, const saddle_options *o, ldlt_result *again)
{
    const ldlt_result none = {.info = saddle_info_default(), .factor = NAN};
    if (again) *again = none;
    const ldlt_result r = progress_interrupted() ? none : ldlt_try_twice(t, o, 0, again);
    if (r.why[0]) snprintf(row->why, sizeof row->why, "%s", r.why);
    return r;
}

static ldlt_result factor(ldlt_bench *t, ablate_row *row, const saddle_options *o)
{
    return factor_twice(t, row, o, NULL);
}

static void measure_dominance(ldlt_bench *t, ablate_row *row)
{
    for (int ours = 0; ours < 2; ++ours) {
        saddle_preparation p = {.size = sizeof p};
        saddle_options o = ours ? ldlt_options(t, "method=ldlt blocking=clusters block_size=8 pairs=on")
                                : vary(t, ABLATE_SWEPT, NULL, NULL);
        double *to = row->dominance[ours];
        to[0] = to[1] = to[2] = NAN;
        if (saddle_prepare(&t->problem.A, &o, NULL, &t->watch.hooks, &p, t->message) != SADDLE_OK) continue;
        to[0] = p.dominance_least;
        to[1] = p.dominance_mean;
        to[2] = p.dominance_largest;
        saddle_preparation_free(&p, &t->watch.hooks);
    }
}

static void measure_settings(ldlt_bench *t, ablate_row *row)
{
    for (int m = 0; m < ABLATE_METHODS; ++m)
        for (int s = 0; s < ABLATE_SETTINGS; ++s)
            for (int k = 0; k < settings[s].count; ++k) {
                saddle_options o = vary(t, m, settings[s].option, settings[s].values[k]);
                if (s == ABLATE_PIVOT) saddle_options_set(&o, "push_back", k % 2 ? "off" : "on", NULL);
                const saddle_info info = factor(t, row, &o).info;
                row->errors[s][m][k] = info.reconstruction_error;
                if (s == ABLATE_PIVOT) row->pivoting[m][k] = info;
            }
}

/* Figures 3e and f: sweeps, and the time of as many as the paper takes, without the measuring. */
static void measure_sweeps(ldlt_bench *t, ablate_row *row)
{
    saddle_options o = vary(t, ABLATE_EXACT, NULL, NULL);
    row->exact = factor(t, row, &o).info.reconstruction_error;
    for (int k = 0; k < ABLATE_ORDERS; ++k) {
        for (int s = 0; s < ABLATE_SWEEPS; ++s) {
            o = vary(t, ABLATE_SWEPT, "sweep_order", ablate_orders[k]);
            o.sweeps = s + 1;
            const ldlt_result r = factor(t, row, &o);
            row->sweeps[k][s] = r.info.reconstruction_error;
            row->pattern[k][s] = r.info.pattern_residual;
        }
    }
    for (int k = 0; k < ABLATE_TIMES; ++k) {
        o = k == TIME_OURS    ? ldlt_options(t, "method=ldlt")
            : k == TIME_EXACT ? vary(t, ABLATE_EXACT, NULL, NULL)
                              : vary(t, ABLATE_SWEPT, "sweep_order", ablate_orders[k - TIME_BLOCK]);
        o.check = SADDLE_OFF;
        ldlt_result again;
        row->factor[k] = factor_twice(t, row, &o, &again).factor;
        row->again[k] = again.factor;
    }
}

/* Table I: four times GMRES(25) in the paper's settings; ours with the iteration that is its own. */
static void measure_table(ldlt_bench *t, ablate_row *row)
{
    for (int k = 0; k < TABLE_ENTRIES; ++k) {
        saddle_options o =
            k == TABLE_OURS ? ldlt_recipe_options(t, LDLT_DEFAULT) : vary(t, k, "tol", "1e-14");
        o.check = SADDLE_OFF;
        const ldlt_result r = progress_interrupted() ? (ldlt_result){.factor = NAN} : ldlt_try(t, &o, 1);
        row->table[k] = (ablate_entry){r.backward[0], r.residual[0], ldlt_setup(&r), r.iterations[0]};
        if (r.why[0] && isnan(r.backward[0])) snprintf(row->why, sizeof row->why, "%s", r.why);
    }
}

static void ablate_matrix(ldlt_bench *t, void *to)
{
    ablate_report *report = to;
    ablate_row *row = &report->rows[report->count];
    row->matrix = t->problem.matrix;
    find_published(row);
    measure_dominance(t, row);
    measure_settings(t, row);
    measure_sweeps(t, row);
    measure_table(t, row);
    report->count += !progress_interrupted();
}

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
static void print_errors(const ablate_report *t, int setting)
{
    const int count = settings[setting].count;
    printf("\n%s\n%-16s", settings[setting].title, "");
    for (int m = 0; m < ABLATE_METHODS; ++m) printf("%*s", 8 * count, ablate_methods[m]);
    printf("\n%-16s", "");
    for (int i = 0; i < ABLATE_METHODS * count; ++i) printf("%8.7s", settings[setting].heads[i % count]);
    putchar('\n');
    for (int k = 0; k < t->count; ++k) {
        print_name(t, k);
        for (int i = 0; i < ABLATE_METHODS * count; ++i)
            print_column("%.0e", 8, t->rows[k].errors[setting][i / count][i % count]);
        putchar('\n');
    }
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

static void print_times(const ablate_report *t, bool again)
{
    printf("\n3f  seconds to factor (8 sweeps)%s\n%-16s", again ? ", once the pattern is known" : "", "");
    for (int i = 0; i < ABLATE_TIMES; ++i) printf("%15s", ablate_times[i]);
    printf("%18s\n", "exact / block s.");
    for (int k = 0; k < t->count; ++k) {
        const double *seconds = again ? t->rows[k].again : t->rows[k].factor;
        print_name(t, k);
        for (int i = 0; i < ABLATE_TIMES; ++i) print_column("%.4f", 15, seconds[i]);
        print_column("%.2f", 18, seconds[TIME_EXACT] / seconds[TIME_BLOCK]);
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
    printf("(4 x GMRES(25), b = A times ones; defaults: at most 100 iterations of their own method)\n");
}

static void print_ablation(const void *report)
{
    const ablate_report *t = report;
    print_dominance(t);
    for (int s = 0; s < ABLATE_SETTINGS; ++s) print_errors(t, s);
    print_sweeps(t);
    print_times(t, false);
    print_times(t, true);
    print_table(t);
    for (int k = 0; k < t->count; ++k)
        if (t->rows[k].why[0])
            printf("%s: a run gave no figures: %s\n", t->rows[k].matrix.name, t->rows[k].why);
}

static void json_entry(json *j, const char *key, const ablate_entry *entry)
{
    JSON_OBJECT(j, key, true, J_NUMBER("backward_error", entry->backward),
                J_NUMBER("relative_residual", entry->residual), J_NUMBER("setup", entry->seconds),
                J_COUNT("iterations", entry->iterations));
}

static void json_method(json *j, const ablate_row *row, int m)
{
    json_object(j, ablate_methods[m]);
    json_numbers(j, "epsilon", row->errors[ABLATE_EPSILON][m], settings[ABLATE_EPSILON].count);
    json_numbers(j, "block_size", row->errors[ABLATE_SIZE][m], settings[ABLATE_SIZE].count);
    for (int k = 0; k < settings[ABLATE_PIVOT].count; k += 2)
        json_numbers(j, settings[ABLATE_PIVOT].values[k], row->errors[ABLATE_PIVOT][m] + k, 2);
    json_array(j, "pivoting");
    for (int k = 0; k < settings[ABLATE_PIVOT].count; ++k) {
        json_object(j, NULL);
        JSON_PUT(j, true, J_TEXT("pivot", settings[ABLATE_PIVOT].values[k]),
                 J_TRUTH("push_back", k % 2 == 0));
        json_info(j, true, &row->pivoting[m][k],
                  "blocks levels two_by_two pushed_back generations perturbed reconstruction_error");
        json_close(j);
    }
    json_close(j);
    json_entry(j, "table", &row->table[m]);
    json_close(j);
}

static void json_row(json *j, const ablate_row *row)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    json_numbers(j, "dominance_grid", row->dominance[0], 3);
    json_numbers(j, "dominance_clusters", row->dominance[1], 3);
    for (int m = 0; m < ABLATE_METHODS; ++m) json_method(j, row, m);
    json_object(j, "sweeps");
    for (int k = 0; k < ABLATE_ORDERS; ++k) {
        json_object(j, ablate_orders[k]);
        json_numbers(j, "error", row->sweeps[k], ABLATE_SWEEPS);
        json_numbers(j, "pattern_residual", row->pattern[k], ABLATE_SWEEPS);
        json_close(j);
    }
    json_close(j);
    for (int again = 0; again < 2; ++again) {
        json_object(j, again ? "factor_again_seconds" : "factor_seconds");
        for (int k = 0; k < ABLATE_TIMES; ++k)
            json_number(j, ablate_times[k], again ? row->again[k] : row->factor[k]);
        json_close(j);
    }
    json_entry(j, "defaults", &row->table[TABLE_OURS]);
    json_text(j, "why", row->why[0] ? row->why : NULL);
    json_close(j);
}

static void json_ablation(json *j, const void *report)
{
    const ablate_report *t = report;
    ldlt_json_head(j, t->bench, "ablate");
    json_text(j, "device", t->bench->a->library.device == SADDLE_DEVICE_CUDA ? "cuda" : "cpu");
    json_array(j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(j, &t->rows[k]);
    json_close(j);
}

int ldlt_ablate(ldlt_bench *t, const bench_operands *o)
{
    ablate_report report = {t, 0, calloc((size_t)o->count + 1, sizeof(ablate_row))};
    if (!report.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    const int status = ldlt_walk(t, o, ablate_matrix, &report);
    return ldlt_end(t, status, report.count, print_ablation, json_ablation, &report, report.rows);
}
