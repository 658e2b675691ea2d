/*
 * `saddle bench ldlt --ablate`: Figure 3 and Table I of Thuerck, Stretching Jacobi, for any matrices.
 *
 * All is in the paper's settings (cli/paper.h) but for the one that a figure varies; the exact schedule in
 * the same settings stands beside the sweeps, and ldlt with its own defaults beside both. Errors are those of
 * the factors, |L D L' - A| / |A| in the infinity norm over the whole matrix, which the option check
 * measures.
 */
#include "cli/bench_ldlt_ablate.h"

#include "cli/paper.h"
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ablate_methods[ABLATE_METHODS] = {"jacobi", "ldlt"};
const char *const ablate_orders[ABLATE_ORDERS] = {"block", "row"};
const char *const ablate_epsilons[ABLATE_EPSILONS] = {"0.1", "0.01", "0.001", "0.0001"};
const char *const ablate_sizes[ABLATE_SIZES] = {"1", "2", "4", "8", "16", "32"};
const char *const ablate_pivots[ABLATE_PIVOTS] = {"static", "bunch-kaufman", "complete"};
const char *const ablate_times[ABLATE_TIMES] = {"exact", "block sweeps", "row sweeps", "ldlt, defaults"};

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

static ldlt_result factor(ldlt_bench *t, ablate_row *row, const saddle_options *o)
{
    const ldlt_result r =
        progress_interrupted() ? (ldlt_result){.reconstruction = NAN, .factor = NAN} : ldlt_try(t, o, 0);
    if (r.why[0]) snprintf(row->why, sizeof row->why, "%s", r.why);
    return r;
}

static void measure_dominance(ldlt_bench *t, ablate_row *row)
{
    for (int ours = 0; ours < 2; ++ours) {
        saddle_preparation p = {.size = sizeof p};
        saddle_options o = ours ? ldlt_options(t, "method=ldlt blocking=clusters block_size=8 pairs=on")
                                : vary(t, ABLATE_SWEPT, NULL, NULL);
        double *to = row->dominance[ours];
        to[0] = to[1] = to[2] = NAN;
        if (saddle_prepare(&t->problem.A, &o, NULL, &t->hooks, &p, t->message) != SADDLE_OK) continue;
        to[0] = p.dominance_least;
        to[1] = p.dominance_mean;
        to[2] = p.dominance_largest;
        saddle_preparation_free(&p, &t->hooks);
    }
}

/* Figures 3b, c and d: one setting at a time. */
static void measure_settings(ldlt_bench *t, ablate_row *row)
{
    for (int m = 0; m < ABLATE_METHODS; ++m) {
        for (int k = 0; k < ABLATE_EPSILONS; ++k) {
            const saddle_options o = vary(t, m, "small_pivot", ablate_epsilons[k]);
            row->epsilon[m][k] = factor(t, row, &o).reconstruction;
        }
        for (int k = 0; k < ABLATE_SIZES; ++k) {
            const saddle_options o = vary(t, m, "block_size", ablate_sizes[k]);
            row->size[m][k] = factor(t, row, &o).reconstruction;
        }
        for (int k = 0; k < 2 * ABLATE_PIVOTS; ++k) {
            saddle_options o = vary(t, m, "pivot", ablate_pivots[k / 2]);
            saddle_options_set(&o, "push_back", k % 2 ? "off" : "on", NULL);
            row->pivoting[m][k / 2][k % 2] = factor(t, row, &o).reconstruction;
        }
    }
}

/* Figures 3e and f: sweeps, and the time of as many as the paper takes, without the measuring. */
static void measure_sweeps(ldlt_bench *t, ablate_row *row)
{
    saddle_options o = vary(t, ABLATE_EXACT, NULL, NULL);
    row->exact = factor(t, row, &o).reconstruction;
    for (int k = 0; k < ABLATE_ORDERS; ++k) {
        for (int s = 0; s < ABLATE_SWEEPS; ++s) {
            o = vary(t, ABLATE_SWEPT, "sweep_order", ablate_orders[k]);
            o.sweeps = s + 1;
            const ldlt_result r = factor(t, row, &o);
            row->sweeps[k][s] = r.reconstruction;
            row->pattern[k][s] = r.pattern_residual;
        }
    }
    for (int k = 0; k < ABLATE_TIMES; ++k) {
        o = k == TIME_OURS    ? ldlt_options(t, "method=ldlt")
            : k == TIME_EXACT ? vary(t, ABLATE_EXACT, NULL, NULL)
                              : vary(t, ABLATE_SWEPT, "sweep_order", ablate_orders[k - TIME_BLOCK]);
        o.check = SADDLE_OFF;
        row->factor[k] = factor(t, row, &o).factor;
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
    row->matrix = t->matrix;
    find_published(row);
    measure_dominance(t, row);
    measure_settings(t, row);
    measure_sweeps(t, row);
    measure_table(t, row);
    report->count += !progress_interrupted();
}

int ldlt_ablate(ldlt_bench *t, const ldlt_operands *o)
{
    const char *plot = argument_text(t->a, "plot");
    ablate_report report = {0, calloc((size_t)o->count + 1, sizeof(ablate_row))};
    if (!report.rows) return fail(EXIT_MEMORY, "no memory for the rows");
    int status = ldlt_walk(t, o, ablate_matrix, &report);
    if (ldlt_prints(t->a) && report.count > 0) {
        print_ablation(&report);
        print_ldlt_run(t->a);
    }
    if (argument_given(t->a, "json") && report.count > 0) {
        const int written = write_ablation_json(t, &report);
        if (status == EXIT_DONE) status = written;
    }
    if (plot && report.count > 0) {
        const int drawn = plot_ablation(&report, plot);
        if (status == EXIT_DONE) status = drawn;
    }
    free(report.rows);
    return status;
}
