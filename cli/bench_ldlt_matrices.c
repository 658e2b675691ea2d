/*
 * `saddle bench ldlt` on matrices: every one by every recipe, a row each; and part anchors, which takes those
 * of them that have published figures.
 */
#define _GNU_SOURCE
#include "cli/bench_ldlt.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/solve.h"

#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Thuerck, Stretching Jacobi, Table I, B of both columns; SYM-ILDL as it is delivered, SQMR to 1e-8. */
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

/* "ldlt,paper" into flags; all where nothing is said. */
static int choose_recipes(ldlt_report *t)
{
    const char *name = argument_text(t->a, "methods");
    for (int k = 0; k < LDLT_RECIPES; ++k) t->wanted[k] = !name;
    while (name) {
        const size_t length = strcspn(name, ",");
        int found = LDLT_RECIPES;
        for (int k = 0; k < LDLT_RECIPES; ++k)
            if (strlen(ldlt_recipe_names[k]) == length && strncmp(name, ldlt_recipe_names[k], length) == 0)
                found = k;
        if (found == LDLT_RECIPES)
            return usage_error(t->a, "--methods: there is no \"%.*s\"", (int)length, name);
        t->wanted[found] = true;
        name = name[length] ? name + length + 1 : NULL;
    }
    return EXIT_DONE;
}

/* The folder of a file, without those above it. */
static void name_group(const bench_problem *p, const char *operand, char *group, size_t group_size)
{
    char *path = realpath(operand, NULL);
    snprintf(group, group_size, "%s", p->generated || !path ? "generated" : basename(dirname(path)));
    free(path);
}

/* A matrix that cannot be read is a failure; one that is not solved is what is counted. */
static int measure_matrix(ldlt_bench *t, ldlt_report *report, const char *operand, const char *name,
                          bool anchor)
{
    ldlt_row *row = &report->rows[report->count];
    const int status = ldlt_load(t, operand);
    if (status != EXIT_DONE) return status;
    memset(row, 0, sizeof *row);
    snprintf(row->name, sizeof row->name, "%.60s", name);
    name_group(&t->problem, operand, row->group, sizeof row->group);
    row->n = t->problem.A.rows;
    row->nnz = t->nnz;
    for (int k = 0; k < LDLT_RECIPES && !progress_interrupted(); ++k) {
        if (!report->wanted[k]) continue;
        const saddle_options o = ldlt_recipe_options(t, (ldlt_recipe)k);
        row->results[k] = ldlt_try(t, &o, LDLT_SIDES);
    }
    if (anchor) {
        const saddle_options o = ldlt_options(t, "method=ldlt tol=1e-8 stop=residual maxiter=100");
        row->to_residual = ldlt_try(t, &o, LDLT_SIDES);
    }
    ldlt_unload(t);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    ++report->count;
    return EXIT_DONE;
}

static int measure_all(ldlt_bench *t, ldlt_report *report, const ldlt_operands *o, bool only_anchors,
                       bool print)
{
    int status = EXIT_DONE;
    for (int k = 0; k < o->count && status != EXIT_INTERRUPTED; ++k) {
        char name[64];
        matrix_name(o->paths[k], name, sizeof name);
        if (only_anchors && !ldlt_anchor_find(name)) continue;
        const int one = measure_matrix(t, report, o->paths[k], name, only_anchors);
        if (one != EXIT_DONE) status = one;
        progress_end();
        if (one != EXIT_DONE || !print) continue;
        if (report->count == 1) print_ldlt_header(report);
        print_ldlt_row(report, &report->rows[report->count - 1]);
    }
    return status;
}

int ldlt_matrices(ldlt_bench *t, const ldlt_operands *o, bool only_anchors)
{
    const char *json_path = argument_text(t->a, "json");
    const bool print = !argument_flag(t->a, "quiet") && !is_standard(t->a, "json");
    ldlt_report report = {.a = t->a};
    int status = choose_recipes(&report);
    if (status != EXIT_DONE) return status;
    report.rows = calloc((size_t)o->count + 1, sizeof *report.rows);
    if (!report.rows) return fail(EXIT_MEMORY, "no memory for the rows");
    status = measure_all(t, &report, o, only_anchors, print);
    if (print && report.count > 0) {
        print_ldlt_methods(&report);
        if (only_anchors)
            print_ldlt_anchors(&report);
        else
            print_ldlt_totals(&report);
        print_ldlt_run(t->a);
    }
    if (status == EXIT_DONE && report.count == 0)
        status = fail(EXIT_FILE, only_anchors ? "none of the matrices has published figures"
                                              : "there is no matrix to measure with");
    if (json_path && report.count > 0) {
        const int written = write_ldlt_json(t, &report, only_anchors ? "anchors" : "matrices");
        if (status == EXIT_DONE) status = written;
    }
    free(report.rows);
    return status;
}
