/*
 * `saddle bench ldlt` on matrices: every one by every recipe, a row each; and part anchors, which takes those
 * of them that have published figures.
 */
#include "bench/ldlt/ldlt.h"
#include "cli/paths.h"
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Thuerck, Stretching Jacobi, Table I, B of both columns; SYM-ILDL as it is delivered, with its own
 * right-hand side of ones, SQMR to 1e-8. */
static const ldlt_anchor anchors[] = {
    {"mario001", 1e-1, NAN}, {"boyd1_saddle", 1e-5, NAN}, {"tuma2", NAN, 28},
    {"aug3dcqp", NAN, 22},   {"bloweya", NAN, 9},
};
enum { ANCHORS = sizeof anchors / sizeof anchors[0] };

const ldlt_anchor *ldlt_anchor_find(const char *name)
{
    for (int k = 0; k < ANCHORS; ++k)
        if (strcmp(anchors[k].name, name) == 0) return &anchors[k];
    return NULL;
}

/* One matrix by all that is wanted; one that is not solved is what is counted. */
static void measure_matrix(ldlt_bench *t, void *to)
{
    ldlt_report *report = to;
    ldlt_row *row = &report->rows[report->count];
    row->matrix = t->problem.matrix;
    for (int k = 0; k < LDLT_RECIPES && !progress_interrupted(); ++k) {
        if (!report->wanted[k]) continue;
        const saddle_options o = ldlt_recipe_options(t, (ldlt_recipe)k);
        row->results[k] = ldlt_try(t, &o, LDLT_SIDES);
    }
    if (report->anchors && !progress_interrupted()) {
        const saddle_options o = ldlt_options(t, "method=ldlt tol=1e-8 stop=residual maxiter=100");
        row->to_residual = ldlt_try(t, &o, LDLT_SIDES);
    }
    if (progress_interrupted()) return;
    ++report->count;
    progress_end();
    if (!bench_prints(t->a)) return;
    if (report->count == 1) print_ldlt_header(report);
    print_ldlt_row(report, row);
}

/* Leaves out what has no published figures. */
static void keep_anchors(bench_operands *o)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < o->count; ++k) {
        char name[64];
        matrix_name(o->paths[k], name, sizeof name);
        if (ldlt_anchor_find(name))
            o->paths[kept++] = o->paths[k];
        else
            free(o->paths[k]);
    }
    o->count = kept;
}

static void print_summary(const void *report)
{
    const ldlt_report *t = report;
    print_ldlt_methods(t);
    (t->anchors ? print_ldlt_anchors : print_ldlt_totals)(t);
}

int ldlt_matrices(ldlt_bench *t, bench_operands *o, bool only_anchors)
{
    ldlt_report report = {.bench = t, .anchors = only_anchors};
    int status = bench_choose(t->a, "methods", ldlt_recipe_names, LDLT_RECIPES, report.wanted);
    if (status != EXIT_DONE) return status;
    report.rows = calloc((size_t)o->count + 1, sizeof *report.rows);
    if (!report.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    if (only_anchors) keep_anchors(o);
    status = ldlt_walk(t, o, measure_matrix, &report);
    if (status == EXIT_DONE && report.count == 0)
        status = fail(EXIT_FILE,
                      only_anchors ? "none of the matrices has published figures" : "no matrix is given");
    return ldlt_end(t, status, report.count, print_summary, json_ldlt, &report, report.rows);
}
