/*
 * `saddle bench ldlt --part backends`: the iterations of --method ldlt on the backends beside each other.
 *
 * All backends do the same arithmetic, but for the order of some sums and for fused operations: factors
 * differ in their last digits, and what the iteration makes of that should not matter. The pattern is found
 * on the host, by the kernels of the reference or of the CPU; a GPU meets the factors by its own kernels when
 * the same values are factored again. Both are compared.
 */
#include "bench/ldlt/backends.h"

#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>

const char *const backend_names[BACKENDS] = {"reference", "cpu", "cuda"};
const char *const moment_names[MOMENTS] = {"first", "again"};

static const double FEW = 50, FEW_APART = 2, SHARE_APART = 0.1; /* iterations */

int backends_pairs(const backends_report *t, backends_pair *pairs)
{
    int count = 0, base = 0;
    while (base < BACKENDS && !t->wanted[base]) ++base;
    for (int m = 0; m < MOMENTS; ++m)
        for (int b = base + 1; b < BACKENDS; ++b)
            if (t->wanted[b]) pairs[count++] = (backends_pair){b, m, base, m};
    for (int b = base; b < BACKENDS; ++b)
        if (t->wanted[b]) pairs[count++] = (backends_pair){b, MOMENT_AGAIN, b, MOMENT_FIRST};
    return count;
}

int backends_agree(const backends_row *row, const backends_pair *pair, int side)
{
    const int64_t one = row->results[pair->backend][pair->moment].iterations[side],
                  two = row->results[pair->other][pair->other_moment].iterations[side];
    if (one < 0 || two < 0) return -1;
    return fabs((double)one - (double)two) <= ((double)two < FEW ? FEW_APART : SHARE_APART * (double)two);
}

static saddle_options options_of(const ldlt_bench *t, int backend)
{
    saddle_options o = ldlt_recipe_options(t, LDLT_DEFAULT);
    saddle_options_set(&o, "device", backend_names[backend], NULL);
    return o;
}

/* What this machine does not have is left out, and said. */
static int leave_out(ldlt_bench *t, backends_report *report)
{
    int left = 0;
    for (int b = 0; b < BACKENDS; ++b) {
        saddle_solver *solver = NULL;
        const saddle_options o = options_of(t, b);
        if (!report->wanted[b]) continue;
        report->wanted[b] = saddle_create(&solver, &o, &t->watch.hooks, report->left_out[b]) == SADDLE_OK;
        if (report->wanted[b]) report->left_out[b][0] = 0;
        left += report->wanted[b];
        saddle_destroy(&solver);
    }
    return left;
}

static void measure_matrix(ldlt_bench *t, void *to)
{
    backends_report *report = to;
    backends_row *row = &report->rows[report->count];
    row->matrix = t->matrix;
    for (int b = 0; b < BACKENDS && !progress_interrupted(); ++b) {
        const saddle_options o = options_of(t, b);
        if (report->wanted[b])
            row->results[b][MOMENT_FIRST] = ldlt_try_twice(t, &o, LDLT_SIDES, &row->results[b][MOMENT_AGAIN]);
    }
    if (progress_interrupted()) return;
    progress_end();
    if (bench_prints(t->a) && report->count == 0) print_backends_header(report);
    if (bench_prints(t->a)) print_backends_row(report, row);
    ++report->count;
}

int ldlt_backends(ldlt_bench *t, const ldlt_operands *o)
{
    backends_report report = {.bench = t};
    int status = ldlt_choose(t->a, backend_names, BACKENDS, report.wanted);
    if (status != EXIT_DONE) return status;
    if (leave_out(t, &report) == 0) return fail(EXIT_FILE, "none of the backends that were named is here");
    report.rows = calloc((size_t)o->count + 1, sizeof *report.rows);
    if (!report.rows) return fail(EXIT_MEMORY, "no memory for the rows");
    status = ldlt_walk(t, o, measure_matrix, &report);
    if (bench_prints(t->a) && report.count > 0) {
        print_backends_summary(&report);
        print_ldlt_run(t->a);
    }
    if (report.count > 0) status = bench_draw(t->a, status, write_backends_json, &report);
    free(report.rows);
    return status;
}
