/*
 * `saddle bench ldlt` on generated problems, which are made in memory.
 *
 * - setup: 3-D problems, preparation, plan and factorization of ldlt beside the direct solver's factorization
 * and beside its whole setup, in time and in bytes of the factors
 * - growth: a doubling series of every family, T ~ nnz^p, log T fitted by least squares against log nnz
 */
#include "bench/ldlt/ldlt.h"
#include "cli/families.h"
#include "cli/memory.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct made_row {
    char family[32]; /* FAMILY[:P] */
    int axes;
    int64_t size, n, nnz;
    ldlt_result ldlt, direct; /* growth: of one right-hand side, and no direct one */
} made_row;

typedef struct made_report {
    const ldlt_bench *bench;
    bool growth;
    int64_t count, room;
    made_row *rows;
} made_report;

enum { SETUP_ROWS = 200000, GROWTH_ROWS = 1000000, GROWTH_LEAST = 30000, SERIES_MOST = 24 };

static const char *const setup_families[] = {"lap3d",    "lap3d:0.5", "elas3d",
                                             "stokes3d", "darcy3d",   "pdeco3d"};
static const char *const growth_families[] = {"lap2d",  "lap2d:0.5", "stokes2d", "darcy2d", "pdeco2d",
                                              "kktz",   "helm2d",    "ipm",      "lap3d",   "lap3d:0.5",
                                              "elas3d", "stokes3d",  "darcy3d",  "pdeco3d", "helm3d"};

/* The exponent p of seconds ~ nnz^p over what was solved of a family; NaN where that is less than two. */
static double made_exponent(const made_report *t, const char *text, double (*seconds_of)(const made_row *row))
{
    double count = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int64_t k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        const double time = seconds_of(row);
        if (strcmp(row->family, text) != 0 || !row->ldlt.solved || !(time > 0)) continue;
        const double u = log((double)row->nnz), v = log(time);
        count += 1;
        x += u;
        y += v;
        xx += u * u;
        xy += u * v;
    }
    return count < 2 ? NAN : (count * xy - x * y) / (count * xx - x * x);
}

/* Seconds of the setup of ldlt, and with those of the first solve. */
static double made_setup(const made_row *row)
{
    return ldlt_setup(&row->ldlt);
}

static double made_total(const made_row *row)
{
    return ldlt_setup(&row->ldlt) + row->ldlt.solve[0];
}

#define GOAL_FASTER 5.0 /* than the direct factorization */
#define GOAL_BYTES 0.2  /* of its factors */
#define GOAL_SETUP 1.1  /* exponents */
#define GOAL_TOTAL_2D 1.5
#define GOAL_TOTAL_3D 1.4

/* What the exponent of the time to solution is to be at most, by the dimensions of the family. */
static double made_goal(int axes)
{
    return axes == 3 ? GOAL_TOTAL_3D : GOAL_TOTAL_2D;
}

/* Whether row k is the first of its family. */
static bool made_opens(const made_report *t, int64_t k)
{
    for (int64_t i = 0; i < k; ++i)
        if (strcmp(t->rows[i].family, t->rows[k].family) == 0) return false;
    return true;
}

static void print_made_header(const made_report *t)
{
    if (t->growth) {
        printf("%-12s%9s%10s%9s%9s%9s%7s%10s%9s%9s\n", "ldlt", "n", "nnz", "prepare", "factor", "solve",
               "its", "backward", "/ nnz", "total s");
        return;
    }
    printf("%-12s%8s%9s%24s%17s%9s%17s\n", "", "", "", "ldlt", "direct", "faster", "than direct");
    printf("%-12s%8s%9s%8s%7s%9s%8s%9s%9s%8s%9s\n", "", "n", "setup", "its", "MB", "error", "factor", "error",
           "factor", "setup", "bytes");
}

static double megabytes(const ldlt_result *r)
{
    return r->run && r->info.factor_bytes >= 0 && isfinite(r->factor) ? 1e-6 * (double)r->info.factor_bytes
                                                                      : NAN;
}

/* What the direct solver's figure is over that of ldlt; only where both solve. */
static double ratio(const made_row *row, double direct, double ldlt)
{
    return row->ldlt.solved && row->direct.solved ? direct / ldlt : NAN;
}

static void print_setup_row(const made_row *row)
{
    const ldlt_result *r = &row->ldlt, *d = &row->direct;
    printf("%-12.12s%8" PRId64, row->family, row->n);
    PRINT_COLUMNS("9.2f 8.0f 7.0f 9.0e 8.2f 9.0e 9.2f 8.2f 9.3f", ldlt_setup(r), ldlt_iterations(r),
                  megabytes(r), ldlt_backward(r), d->factor, ldlt_backward(d),
                  ratio(row, d->factor, ldlt_setup(r)), ratio(row, ldlt_setup(d), ldlt_setup(r)),
                  1.0 / ratio(row, megabytes(d), megabytes(r)));
    if (!r->solved) printf("  ldlt: %.60s", r->why);
    if (!d->solved) printf("  direct %.60s", d->why);
    putchar('\n');
}

static void print_made_row(const made_report *t, const made_row *row)
{
    const ldlt_result *r = &row->ldlt;
    if (t->growth) {
        printf("%-12.12s%9" PRId64 "%10" PRId64, row->family, row->n, row->nnz);
        PRINT_COLUMNS("9.3f 9.3f 9.3f 7.0f 10.0e 9.2f 9.3f", r->analysis, r->factor, r->solve[0],
                      r->iterations[0] < 0 ? NAN : (double)r->iterations[0], r->backward[0],
                      ldlt_stored(r, row->nnz), made_total(row));
        printf("%s%.60s\n", r->solved ? "" : "  no: ", r->solved ? "" : r->why);
    } else {
        print_setup_row(row);
    }
    fflush(stdout);
}

static const char *verdict(double is, double most)
{
    return isnan(is) ? "" : is <= most ? "met" : "NOT met";
}

static void print_exponents(const made_report *t)
{
    printf("\n%-12s%7s%8s%7s%10s%8s%7s\n", "exponents", "sizes", "setup", "goal", "", "total", "goal");
    for (int64_t k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        if (!made_opens(t, k)) continue;
        const double setup = made_exponent(t, row->family, made_setup),
                     total = made_exponent(t, row->family, made_total), goal = made_goal(row->axes);
        int sizes = 0;
        for (int64_t i = 0; i < t->count; ++i)
            sizes += strcmp(t->rows[i].family, row->family) == 0 && t->rows[i].ldlt.solved;
        printf("%-12s%7d", row->family, sizes);
        print_column("%.2f", 8, setup);
        printf("%7.1f%10s", GOAL_SETUP, verdict(setup, GOAL_SETUP));
        print_column("%.2f", 8, total);
        printf("%7.1f%10s\n", goal, verdict(total, goal));
    }
    printf("(seconds ~ nnz^p, least squares over the problems solved; setup: prepare and factor; total: with "
           "a solve\n"
           "for b = A times ones to 1e-12)\n");
}

static void print_made_summary(const void *report)
{
    const made_report *t = report;
    int both = 0, faster = 0, smaller = 0;
    if (t->growth) {
        print_exponents(t);
        return;
    }
    for (int64_t k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        const double times = ratio(row, row->direct.factor, ldlt_setup(&row->ldlt));
        if (!isfinite(times)) continue;
        ++both;
        faster += times >= GOAL_FASTER;
        smaller += 1.0 / ratio(row, megabytes(&row->direct), megabytes(&row->ldlt)) <= GOAL_BYTES;
    }
    printf("\n"
           "where both solve: setup at least %.0f times as fast as the direct factorization on %d of %d, "
           "factors in at most\n"
           "%.1f of its bytes on %d of %d\n",
           GOAL_FASTER, faster, both, GOAL_BYTES, smaller, both);
}

static void json_exponents(json *j, const made_report *t)
{
    json_array(j, "exponents");
    for (int64_t k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        if (!made_opens(t, k)) continue;
        JSON_OBJECT(j, NULL, true, J_TEXT("family", row->family),
                    J_NUMBER("setup", made_exponent(t, row->family, made_setup)),
                    J_NUMBER("setup_goal", GOAL_SETUP),
                    J_NUMBER("total", made_exponent(t, row->family, made_total)),
                    J_NUMBER("total_goal", made_goal(row->axes)));
    }
    json_close(j);
}

static void json_made(json *j, const void *report)
{
    const made_report *t = report;
    ldlt_json_head(j, t->bench, t->growth ? "growth" : "setup");
    json_array(j, "rows");
    for (const made_row *row = t->rows; row < t->rows + t->count; ++row) {
        const ldlt_result *ldlt = &row->ldlt, *direct = &row->direct;
        json_object(j, NULL);
        JSON_PUT(j, true, J_TEXT("family", row->family), J_COUNT("size", row->size), J_COUNT("n", row->n),
                 J_COUNT("nnz", row->nnz));
        ldlt_json_result(j, "ldlt", ldlt);
        if (direct->run) ldlt_json_result(j, "direct", direct);
        JSON_PUT(j, true, J_NUMBER("times_as_fast_as_factor", ratio(row, direct->factor, ldlt_setup(ldlt))),
                 J_NUMBER("times_as_fast_as_setup", ratio(row, ldlt_setup(direct), ldlt_setup(ldlt))),
                 J_NUMBER("bytes_ratio", 1.0 / ratio(row, megabytes(direct), megabytes(ldlt))));
        json_close(j);
    }
    json_close(j);
    if (t->growth) json_exponents(j, t);
}

/* FAMILY[:P]: the family's name; NULL where there is none. */
static const family *find_family(const char *text)
{
    char name[32];
    const size_t length = strcspn(text, ":");
    if (length >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return family_find(name);
}

/* One problem of at least this many rows: by ldlt, and for part setup by the direct solver too. */
static int measure_problem(ldlt_bench *t, made_report *report, const char *text, int64_t rows)
{
    char operand[96];
    const family *f = find_family(text);
    const int64_t size = family_size(f->name, rows);
    made_row *row = one_more(&report->rows, &report->count, &report->room, sizeof *row);
    if (!row) return fail(EXIT_MEMORY, "out of memory for the rows");
    --report->count; /* until all of it is there */
    snprintf(operand, sizeof operand, "%s_%" PRId64 "%s", f->name, size, text + strcspn(text, ":"));
    const int status = ldlt_load(t, operand);
    if (status != EXIT_DONE) return status;
    snprintf(row->family, sizeof row->family, "%.30s", text);
    row->axes = family_axes(f->name);
    row->size = size;
    row->n = t->problem.matrix.n;
    row->nnz = t->problem.matrix.nnz;
    if (report->growth) {
        const saddle_options o = ldlt_options(t, "method=ldlt tol=1e-12");
        row->ldlt = ldlt_try(t, &o, 1);
        row->ldlt.solved = row->ldlt.reached; /* a time to this tolerance is what is compared */
    } else {
        const saddle_options one = ldlt_recipe_options(t, LDLT_DEFAULT),
                             two = ldlt_recipe_options(t, LDLT_DIRECT);
        row->ldlt = ldlt_try(t, &one, LDLT_SIDES);
        if (!progress_interrupted()) row->direct = ldlt_try(t, &two, LDLT_SIDES);
    }
    ldlt_unload(t);
    progress_end();
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    ++report->count;
    return EXIT_DONE;
}

/* The series of a family: as many doublings as lead from 30,000 rows to the size asked for. It ends where a
 * run is late or fails, as what is larger would too. */
static int measure_family(ldlt_bench *t, made_report *report, const char *text, int64_t rows, bool print)
{
    int64_t series[SERIES_MOST];
    int length = 1, status = EXIT_DONE;
    series[0] = rows;
    while (report->growth && length < SERIES_MOST && series[length - 1] / 2 >= GROWTH_LEAST) {
        series[length] = series[length - 1] / 2;
        ++length;
    }
    for (int k = length - 1; k >= 0 && status == EXIT_DONE; --k) {
        status = measure_problem(t, report, text, series[k]);
        if (status == EXIT_DONE && print) print_made_row(report, &report->rows[report->count - 1]);
        if (status == EXIT_DONE && report->growth && !report->rows[report->count - 1].ldlt.solved) break;
    }
    return status;
}

static int measure_families(ldlt_bench *t, made_report *report, bool print)
{
    const arguments *a = t->a;
    const int given = a->operand_count;
    const char *const *names = report->growth ? growth_families : setup_families;
    int count = report->growth ? (int)(sizeof growth_families / sizeof *growth_families)
                               : (int)(sizeof setup_families / sizeof *setup_families);
    int64_t rows = argument_count(a, "size");
    int status = EXIT_DONE;
    if (rows == 0) rows = report->growth ? GROWTH_ROWS : SETUP_ROWS;
    if (given > 0) count = given;
    for (int k = 0; k < count && status == EXIT_DONE; ++k)
        status = measure_family(t, report, given > 0 ? a->operands[k] : names[k], rows, print);
    return status;
}

int ldlt_made(ldlt_bench *t, bool growth)
{
    const bool print = bench_prints(t->a);
    made_report report = {.bench = t, .growth = growth};
    for (int k = 0; k < t->a->operand_count; ++k) {
        if (!find_family(t->a->operands[k]))
            return usage_error(t->a, "\"%s\" is not a family of problems (saddle gen --help lists them)",
                               t->a->operands[k]);
    }
    if (print) print_made_header(&report);
    const int status = measure_families(t, &report, print);
    return ldlt_end(t, status, report.count, print_made_summary, json_made, &report, report.rows);
}
