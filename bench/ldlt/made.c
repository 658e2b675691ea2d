/*
 * `saddle bench ldlt` on generated problems, which are made in memory.
 *
 *   setup    3-D problems: preparation, plan and factorization of ldlt beside the direct solver's
 * factorization and beside its whole setup, in time and in bytes of the factors growth   a doubling series of
 * every family: T ~ nnz^p, log T fitted by least squares against log nnz
 */
#include "bench/ldlt/made.h"

#include "cli/families.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETUP_ROWS = 200000, GROWTH_ROWS = 1000000, GROWTH_LEAST = 30000, SERIES_MOST = 24 };

static const char *const setup_families[] = {"lap3d",    "lap3d:0.5", "elas3d",
                                             "stokes3d", "darcy3d",   "pdeco3d"};
static const char *const growth_families[] = {"lap2d",  "lap2d:0.5", "stokes2d", "darcy2d", "pdeco2d",
                                              "kktz",   "helm2d",    "ipm",      "lap3d",   "lap3d:0.5",
                                              "elas3d", "stokes3d",  "darcy3d",  "pdeco3d", "helm3d"};

/* FAMILY[:P]: the family's name; NULL where there is none. */
static const family *find_family(const char *text)
{
    char name[32];
    const size_t length = strcspn(text, ":");
    if (length >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return family_find(name);
}

static made_row *add_row(made_report *t)
{
    if (t->count == t->room) {
        const int room = 2 * t->room + 32;
        made_row *rows = realloc(t->rows, (size_t)room * sizeof *rows);
        if (!rows) return NULL;
        t->rows = rows;
        t->room = room;
    }
    made_row *row = &t->rows[t->count];
    memset(row, 0, sizeof *row);
    return row;
}

/* One problem of at least this many rows: by ldlt, and for part setup by the direct solver too. */
static int measure_problem(ldlt_bench *t, made_report *report, const char *text, int64_t rows)
{
    char operand[96];
    const family *f = find_family(text);
    const int64_t size = family_size(f->name, rows);
    made_row *row = add_row(report);
    if (!row) return fail(EXIT_MEMORY, "no memory for the rows");
    snprintf(operand, sizeof operand, "%s_%" PRId64 "%s", f->name, size, text + strcspn(text, ":"));
    const int status = ldlt_load(t, operand);
    if (status != EXIT_DONE) return status;
    snprintf(row->family, sizeof row->family, "%.30s", text);
    row->axes = family_axes(f->name);
    row->size = size;
    row->n = t->matrix.n;
    row->nnz = t->matrix.nnz;
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

double made_exponent(const made_report *t, const char *text, double (*seconds_of)(const made_row *row))
{
    double count = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < t->count; ++k) {
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

double made_setup(const made_row *row)
{
    return ldlt_setup(&row->ldlt);
}

double made_total(const made_row *row)
{
    return ldlt_setup(&row->ldlt) + row->ldlt.solve[0];
}

int ldlt_made(ldlt_bench *t, bool growth)
{
    const bool print = bench_prints(t->a);
    made_report report = {.bench = t, .growth = growth};
    for (int k = 0; k < t->a->operand_count; ++k) {
        if (!find_family(t->a->operands[k]))
            return usage_error(t->a, "\"%s\" is no family of problems (saddle gen --help lists them)",
                               t->a->operands[k]);
    }
    if (print) print_made_header(&report);
    int status = measure_families(t, &report, print);
    if (print && report.count > 0) {
        print_made_summary(&report);
        print_ldlt_run(t->a);
    }
    if (report.count > 0) status = bench_draw(t->a, status, write_made_json, &report);
    free(report.rows);
    return status;
}
