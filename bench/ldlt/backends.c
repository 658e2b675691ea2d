/*
 * `saddle bench ldlt --part backends`: the iterations of --method ldlt on the backends beside each other.
 *
 * All backends do the same arithmetic, but for the order of some sums and for fused operations: factors
 * differ in their last digits, and what the iteration makes of that should not matter. The pattern is found
 * on the host, by the kernels of the reference or of the CPU; a GPU meets the factors by its own kernels when
 * the same values are factored again. Both are compared.
 */
#include "bench/ldlt/ldlt.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { BACKENDS = 3 };

/* Factors as their search on the host left them; the same values factored once more, on the pattern that was
 * found, by the backend. */
enum { MOMENT_FIRST, MOMENT_AGAIN, MOMENTS };

typedef struct backends_row {
    bench_matrix matrix;
    ldlt_result results[BACKENDS][MOMENTS];
} backends_row;

typedef struct backends_report {
    const ldlt_bench *bench;
    bool wanted[BACKENDS];
    char left_out[BACKENDS][SADDLE_MESSAGE_SIZE]; /* why it was, although it was wanted; "" */
    int count;
    backends_row *rows;
} backends_report;

/* The run of one backend at one moment, held beside another. */
typedef struct backends_pair {
    int backend, moment, other, other_moment;
} backends_pair;
enum { PAIRS_MOST = MOMENTS * (BACKENDS - 1) + BACKENDS };

static const char *const backend_names[BACKENDS] = {"reference", "cpu", "cuda"};
static const char *const moment_names[MOMENTS] = {"first", "again"};

static const double FEW = 50, FEW_APART = 2, SHARE_APART = 0.1; /* iterations */

/* What is compared: every backend with the first, at each moment, and each with itself. */
static int backends_pairs(const backends_report *t, backends_pair *pairs)
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

/* The iterations of one right-hand side: -1 where they are not known on both, otherwise whether the first are
 * as many as the other, but for 2 where those are fewer than 50, but for 10 % where they are not. */
static int backends_agree(const backends_row *row, const backends_pair *pair, int side)
{
    const int64_t one = row->results[pair->backend][pair->moment].iterations[side],
                  two = row->results[pair->other][pair->other_moment].iterations[side];
    if (one < 0 || two < 0) return -1;
    return fabs((double)one - (double)two) <= ((double)two < FEW ? FEW_APART : SHARE_APART * (double)two);
}

static void print_backends_header(const backends_report *t)
{
    printf("%-26s", "");
    for (int b = 0; b < BACKENDS; ++b)
        if (t->wanted[b]) printf("%26s", backend_names[b]);
    printf("\n%-18s%8s", "iterations", "n");
    for (int b = 0; b < BACKENDS; ++b)
        if (t->wanted[b]) printf("%9s%9s%8s", moment_names[0], moment_names[1], "error");
    putchar('\n');
}

static bool agrees(const backends_report *t, const backends_row *row)
{
    backends_pair pairs[PAIRS_MOST];
    const int count = backends_pairs(t, pairs);
    for (int k = 0; k < count * LDLT_SIDES; ++k)
        if (backends_agree(row, &pairs[k / LDLT_SIDES], k % LDLT_SIDES) == 0) return false;
    return true;
}

static void print_backends_row(const backends_report *t, const backends_row *row)
{
    char text[48];
    printf("%-17.17s %8" PRId64, row->matrix.name, row->matrix.n);
    for (int b = 0; b < BACKENDS; ++b) {
        const ldlt_result *r = row->results[b];
        if (!t->wanted[b]) continue;
        for (int m = 0; m < MOMENTS; ++m) printf("%9s", ldlt_sides_text(r[m].iterations, text, sizeof text));
        print_column("%.0e", 8, fmax(ldlt_backward(&r[MOMENT_FIRST]), ldlt_backward(&r[MOMENT_AGAIN])));
    }
    puts(agrees(t, row) ? "" : "  *");
    fflush(stdout);
}

static const ldlt_result *one_of(const backends_row *row, const backends_pair *pair)
{
    return &row->results[pair->backend][pair->moment];
}

static const ldlt_result *other_of(const backends_row *row, const backends_pair *pair)
{
    return &row->results[pair->other][pair->other_moment];
}

typedef struct tally {
    int compared, within, both_solved;
} tally;

static tally count_pair(const backends_report *t, const backends_pair *pair)
{
    tally all = {0, 0, 0};
    for (int i = 0; i < t->count * LDLT_SIDES; ++i) {
        const backends_row *row = &t->rows[i / LDLT_SIDES];
        const int agree = backends_agree(row, pair, i % LDLT_SIDES);
        if (agree < 0) continue;
        ++all.compared;
        all.within += agree;
        all.both_solved += one_of(row, pair)->solved && other_of(row, pair)->solved;
    }
    return all;
}

static void print_pair(const backends_report *t, const backends_pair *pair)
{
    const tally all = count_pair(t, pair);
    char text[64];
    snprintf(text, sizeof text, "%s %s against %s %s", backend_names[pair->backend],
             moment_names[pair->moment], pair->other == pair->backend ? "its" : backend_names[pair->other],
             moment_names[pair->other_moment]);
    printf("%-36s%10d%10d%10d\n", text, all.compared, all.both_solved, all.within);
}

static void print_outliers(const backends_report *t, const backends_pair *pair)
{
    for (int i = 0; i < t->count * LDLT_SIDES; ++i) {
        const backends_row *row = &t->rows[i / LDLT_SIDES];
        const int side = i % LDLT_SIDES;
        if (backends_agree(row, pair, side) != 0) continue;
        printf("  %s, %s: %s %s %" PRId64 ", %s %s %" PRId64 "%s\n", row->matrix.name, ldlt_side_names[side],
               backend_names[pair->backend], moment_names[pair->moment], one_of(row, pair)->iterations[side],
               backend_names[pair->other], moment_names[pair->other_moment],
               other_of(row, pair)->iterations[side],
               one_of(row, pair)->solved && other_of(row, pair)->solved ? "" : "; not both solved");
    }
}

/* What was not compared, and why. */
static void print_missing(const backends_report *t)
{
    for (int b = 0; b < BACKENDS; ++b)
        if (t->left_out[b][0]) printf("without %s: %.90s\n", backend_names[b], t->left_out[b]);
    for (int i = 0; i < t->count; ++i)
        for (int k = 0; k < BACKENDS * MOMENTS; ++k) {
            const ldlt_result *r = &t->rows[i].results[k / MOMENTS][k % MOMENTS];
            if (r->run && isnan(ldlt_iterations(r)) && r->why[0])
                printf("%s, %s %s: %.60s\n", t->rows[i].matrix.name, backend_names[k / MOMENTS],
                       moment_names[k % MOMENTS], r->why);
        }
}

static void print_backends_summary(const void *report)
{
    const backends_report *t = report;
    backends_pair pairs[PAIRS_MOST];
    const int count = backends_pairs(t, pairs);
    printf("\n%-36s%10s%10s%10s\n", "", "compared", "solved", "within");
    for (int k = 0; k < count; ++k) print_pair(t, &pairs[k]);
    printf(
        "(two right-hand sides per matrix: A times ones and a random one, to 1e-14 within 100 iterations; "
        "solved: by\n"
        "both, as saddle bench ldlt defines it; within: iterations that differ by at most 2 below 50, 10 %% "
        "above;\n"
        "first: with the factors as first computed; again: the same values factored on the known pattern)\n");
    for (int k = 0; k < count; ++k) print_outliers(t, &pairs[k]);
    print_missing(t);
}

static void json_outliers(json *j, const backends_report *t, const backends_pair *pair)
{
    json_array(j, "outliers");
    for (int i = 0; i < t->count * LDLT_SIDES; ++i) {
        const backends_row *row = &t->rows[i / LDLT_SIDES];
        const int side = i % LDLT_SIDES;
        if (backends_agree(row, pair, side) != 0) continue;
        JSON_OBJECT(j, NULL, true, J_TEXT("name", row->matrix.name), J_TEXT("rhs", ldlt_side_names[side]),
                    J_COUNT("iterations", one_of(row, pair)->iterations[side]),
                    J_COUNT("beside", other_of(row, pair)->iterations[side]));
    }
    json_close(j);
}

static void json_pair(json *j, const backends_report *t, const backends_pair *pair)
{
    const tally all = count_pair(t, pair);
    json_object(j, NULL);
    JSON_PUT(j, true, J_TEXT("backend", backend_names[pair->backend]),
             J_TEXT("moment", moment_names[pair->moment]),
             J_TEXT("beside_backend", backend_names[pair->other]),
             J_TEXT("beside_moment", moment_names[pair->other_moment]), J_COUNT("compared", all.compared),
             J_COUNT("solved", all.both_solved), J_COUNT("within", all.within));
    json_outliers(j, t, pair);
    json_close(j);
}

static void json_row(json *j, const backends_report *t, const backends_row *row)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    json_object(j, "backends");
    for (int b = 0; b < BACKENDS; ++b) {
        if (!t->wanted[b]) continue;
        json_object(j, backend_names[b]);
        for (int m = 0; m < MOMENTS; ++m) ldlt_json_result(j, moment_names[m], &row->results[b][m]);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void json_backends(json *j, const void *report)
{
    const backends_report *t = report;
    backends_pair pairs[PAIRS_MOST];
    const int count = backends_pairs(t, pairs);
    ldlt_json_head(j, t->bench, "backends");
    json_array(j, "rows");
    for (int i = 0; i < t->count; ++i) json_row(j, t, &t->rows[i]);
    json_close(j);
    json_array(j, "comparisons");
    for (int k = 0; k < count; ++k) json_pair(j, t, &pairs[k]);
    json_close(j);
    json_object(j, "left_out");
    for (int b = 0; b < BACKENDS; ++b)
        if (t->left_out[b][0]) json_text(j, backend_names[b], t->left_out[b]);
    json_close(j);
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
    row->matrix = t->problem.matrix;
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

int ldlt_backends(ldlt_bench *t, const bench_operands *o)
{
    backends_report report = {.bench = t};
    int status = bench_choose(t->a, "methods", backend_names, BACKENDS, report.wanted);
    if (status != EXIT_DONE) return status;
    if (leave_out(t, &report) == 0) return fail(EXIT_FILE, "none of the given backends is available");
    report.rows = calloc((size_t)o->count + 1, sizeof *report.rows);
    if (!report.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    status = ldlt_walk(t, o, measure_matrix, &report);
    return ldlt_end(t, status, report.count, print_backends_summary, json_backends, &report, report.rows);
}
