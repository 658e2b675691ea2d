/*
 * `saddle bench prepare`: what the parts of a preparation cost beside METIS alone, in one run.
 *
 *   METIS    METIS_NodeND on the whole graph of A + A' (bench_metis.h); `order` where there is no such
 *            library, and nothing where there is no edge
 *   order    the library's own nested dissection of the matrix as it is: no scaling, no pairs. It leaves
 *            rows of high degree to the end, which is why it may be far quicker
 *   match    the matching of largest product
 *   whole    matching, scaling, pairs, and nested dissection of the graph compressed by them
 *   AMD      approximate minimum degree of the matrix as it is
 *
 * Beside the times stands how true the scaling is, |r_i a_ij c_j| <= 1 with equality on the matching,
 * computed here from the arrays that came back; the level sets of clusters of 8 beside those of the
 * METIS order cut every 8 rows; and the work of a complete factorization with pairs beside that without.
 * Each time is the best of --repeat runs, which take turns so that a noisy moment hits all of them.
 */
#include "cli/bench.h"
#include "cli/bench_metis.h"
#include "cli/bench_problem.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/solve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8 };

typedef struct prepare_row {
    char name[64];
    int64_t n, nnz;
    int symmetric;
    double metis, order, matching, whole, amd; /* seconds */
    double over, off;                          /* largest |rac| - 1; largest ||rac| - 1| on the matching */
    int64_t rank;
    int64_t grid_levels, cluster_levels;
    double plain_flops, pair_flops;
    double priority, dynamic; /* seconds; NaN without --blockings */
    int64_t blocking_bytes;   /* at most in use by either, the matrix with it */
} prepare_row;

typedef struct prepare_bench {
    const arguments *a;
    saddle_hooks hooks;
    bench_problem problem;
    char message[SADDLE_MESSAGE_SIZE];
    int count;
    prepare_row *rows;
} prepare_bench;

static saddle_options make_options(int scaling, int pairs, int order, int blocking)
{
    saddle_options o = saddle_options_default();
    o.scaling = scaling;
    o.pairs = pairs;
    o.order = order;
    o.blocking = blocking;
    o.block_size = BLOCK;
    return o;
}

/* Prepares with these options; free p where it went well. */
static saddle_status prepare(prepare_bench *t, int scaling, int pairs, int order, int blocking,
                             saddle_preparation *p)
{
    const saddle_options o = make_options(scaling, pairs, order, blocking);
    return saddle_prepare(&t->problem.A, &o, NULL, &t->hooks, p, t->message);
}

static saddle_status time_order(prepare_bench *t, prepare_row *row)
{
    saddle_preparation p;
    const saddle_status status =
        prepare(t, SADDLE_SCALING_NONE, SADDLE_OFF, SADDLE_ORDER_METIS, SADDLE_BLOCKING_GRID, &p);
    if (status != SADDLE_OK) return status;
    row->n = p.n;
    row->nnz = p.nnz;
    row->symmetric = p.symmetric;
    row->order = fmin(row->order, p.time_order);
    row->plain_flops = p.factor_flops;
    row->grid_levels = p.levels;
    saddle_preparation_free(&p, &t->hooks);
    return SADDLE_OK;
}

static saddle_status time_amd(prepare_bench *t, prepare_row *row)
{
    saddle_preparation p;
    const saddle_status status =
        prepare(t, SADDLE_SCALING_NONE, SADDLE_OFF, SADDLE_ORDER_AMD, SADDLE_BLOCKING_NONE, &p);
    if (status != SADDLE_OK) return status;
    row->amd = fmin(row->amd, p.time_order);
    saddle_preparation_free(&p, &t->hooks);
    return SADDLE_OK;
}

/* How far the scaled entries are from what the matching promises. */
static saddle_status measure_scaling(prepare_bench *t, const saddle_preparation *p, prepare_row *row)
{
    saddle_matrix C = {0};
    const saddle_status status =
        saddle_convert(&t->problem.A, SADDLE_COORDINATES, t->problem.A.shape, &t->hooks, &C, t->message);
    if (status != SADDLE_OK) return status;
    const double *values = C.values;
    row->over = -1.0;
    row->off = 0.0;
    for (int64_t e = 0; e < C.entries; ++e) {
        const int32_t i = C.indices[e], j = C.col_indices[e];
        const double scaled = fabs(p->row_scale[i] * values[e] * p->col_scale[j]);
        const bool matched = p->matching[j] == i || (p->symmetric && p->matching[i] == j);
        row->over = fmax(row->over, scaled - 1.0);
        if (matched) row->off = fmax(row->off, fabs(1.0 - scaled));
    }
    saddle_matrix_free(&C, &t->hooks);
    return SADDLE_OK;
}

static saddle_status time_whole(prepare_bench *t, prepare_row *row)
{
    saddle_preparation p;
    saddle_status status =
        prepare(t, SADDLE_SCALING_MC64, SADDLE_ON, SADDLE_ORDER_METIS, SADDLE_BLOCKING_NONE, &p);
    if (status != SADDLE_OK) return status;
    row->matching = fmin(row->matching, p.time_matching);
    row->whole = fmin(row->whole, p.time_matching + p.time_scaling + p.time_pairs + p.time_order);
    row->pair_flops = p.factor_flops;
    row->rank = p.structural_rank;
    if (isnan(row->over)) status = measure_scaling(t, &p, row);
    saddle_preparation_free(&p, &t->hooks);
    return status;
}

static saddle_status count_levels(prepare_bench *t, prepare_row *row)
{
    saddle_preparation p;
    const saddle_status status =
        prepare(t, SADDLE_SCALING_MC64, SADDLE_ON, SADDLE_ORDER_METIS, SADDLE_BLOCKING_CLUSTERS, &p);
    if (status != SADDLE_OK) return status;
    row->cluster_levels = p.levels;
    saddle_preparation_free(&p, &t->hooks);
    return SADDLE_OK;
}

/* As Jacobi triangular solves uses it: columns scaled by their 2-norm, no pairs, no order. */
static saddle_status time_blocking(prepare_bench *t, int blocking, double *best, int64_t *bytes)
{
    saddle_preparation p;
    const saddle_status status =
        prepare(t, SADDLE_SCALING_COL2, SADDLE_OFF, SADDLE_ORDER_NATURAL, blocking, &p);
    if (status != SADDLE_OK) return status;
    *best = fmin(*best, p.time_blocking);
    if (p.peak_bytes > *bytes) *bytes = p.peak_bytes;
    saddle_preparation_free(&p, &t->hooks);
    return SADDLE_OK;
}

static saddle_status time_blockings(prepare_bench *t, prepare_row *row)
{
    if (!argument_flag(t->a, "blockings")) return SADDLE_OK;
    const saddle_status status =
        time_blocking(t, SADDLE_BLOCKING_PRIORITY, &row->priority, &row->blocking_bytes);
    if (status != SADDLE_OK) return status;
    return time_blocking(t, SADDLE_BLOCKING_PRIORITY_DYNAMIC, &row->dynamic, &row->blocking_bytes);
}

static saddle_status measure(prepare_bench *t, prepare_row *row)
{
    const int64_t repeat = argument_count(t->a, "repeat");
    bare_metis metis;
    bare_metis_begin(&metis, &t->problem.A, &t->hooks);
    saddle_status status = SADDLE_OK;
    for (int64_t k = 0; k < repeat && status == SADDLE_OK; ++k) {
        row->metis = fmin(row->metis, bare_metis_time(&metis));
        status = time_order(t, row);
        if (status == SADDLE_OK) status = time_whole(t, row);
        if (status == SADDLE_OK) status = time_amd(t, row);
        if (status == SADDLE_OK) status = time_blockings(t, row);
    }
    bare_metis_end(&metis);
    if (isinf(row->metis)) row->metis = metis.edgeless ? NAN : row->order;
    return status == SADDLE_OK ? count_levels(t, row) : status;
}

/* The ratios that are summed up. */
static double match_ratio(const prepare_row *row)
{
    return row->matching / row->metis;
}

static double whole_ratio(const prepare_row *row)
{
    return row->whole / row->metis;
}

static double order_ratio(const prepare_row *row)
{
    return row->order / row->metis;
}

static double amd_ratio(const prepare_row *row)
{
    return row->amd / row->metis;
}

static double level_ratio(const prepare_row *row)
{
    return (double)row->grid_levels / (double)row->cluster_levels;
}

static double work_ratio(const prepare_row *row)
{
    return row->pair_flops / row->plain_flops;
}

static const struct {
    const char *key, *what;
    double (*ratio)(const prepare_row *row);
    bool large_is_good;
} ratios[] = {
    {"match", "matching / METIS, seconds", match_ratio, false},
    {"whole", "matching to order of pairs / METIS, seconds", whole_ratio, false},
    {"order", "order without pairs / METIS, seconds", order_ratio, false},
    {"amd", "AMD / METIS, seconds", amd_ratio, false},
    {"levels", "grid of 8 / clusters of 8, level sets", level_ratio, true},
    {"work", "with pairs / without, operations of a factorization", work_ratio, false},
};
enum { RATIOS = sizeof ratios / sizeof ratios[0] };

typedef struct summary {
    int count;
    double median, ninety, worst;
    const char *name; /* of the worst */
} summary;

/* The ratios in order from good to bad; those that are not finite (a time of 0) are left out. */
static summary summarise(const prepare_bench *t, int which)
{
    summary s = {0, NAN, NAN, NAN, NULL};
    const double sign = ratios[which].large_is_good ? -1.0 : 1.0;
    double *sorted = malloc((size_t)(t->count + 1) * sizeof *sorted);
    if (!sorted) return s;
    for (int k = 0; k < t->count; ++k) {
        const double value = ratios[which].ratio(&t->rows[k]);
        if (!isfinite(value)) continue;
        int at = s.count++;
        for (; at > 0 && sign * sorted[at - 1] > sign * value; --at) sorted[at] = sorted[at - 1];
        sorted[at] = value;
        if (at == s.count - 1) s.name = t->rows[k].name;
    }
    if (s.count > 0) {
        s.median = 0.5 * (sorted[(s.count - 1) / 2] + sorted[s.count / 2]);
        s.ninety = sorted[(9 * s.count + 9) / 10 - 1];
        s.worst = sorted[s.count - 1];
    }
    free(sorted);
    return s;
}

static void print_header(void)
{
    printf("%-20s%9s%9s%9s%8s%7s%7s%8s%9s%9s%8s%7s\n", "", "", "", "METIS", "match", "whole", "AMD", "match",
           "|rac|-1", "matched", "grid /", "pairs");
    printf("%-20s%9s%9s%9s%8s%7s%7s%8s%9s%9s%8s%7s\n", "matrix", "n", "nnz", "s", "/ METIS", "", "",
           "s/M nnz", "at most", "off 1", "cluster", "work");
}

/* A number in a column of this width, or a dash where there is none. */
static void print_ratio(int width, double ratio)
{
    if (isfinite(ratio))
        printf("%*.2f", width, ratio);
    else
        printf("%*s", width, "-");
}

static void print_row(const prepare_row *row)
{
    printf("%-19.19s %9" PRId64 "%9" PRId64, row->name, row->n, row->nnz);
    if (isfinite(row->metis))
        printf("%9.4f", row->metis);
    else
        printf("%9s", "-");
    print_ratio(8, match_ratio(row));
    print_ratio(7, whole_ratio(row));
    print_ratio(7, amd_ratio(row));
    printf("%8.3f%9.0e%9.0e", 1e6 * row->matching / (double)row->nnz, fmax(row->over, 0.0), row->off);
    print_ratio(8, level_ratio(row));
    print_ratio(7, work_ratio(row));
    putchar('\n');
    fflush(stdout);
}

static void print_blockings(const prepare_bench *t)
{
    printf("\n%-20s%9s%9s%12s%12s%16s%16s\n", "blocks of at most 8", "n", "nnz", "priority s", "dynamic s",
           "dynamic s/M nnz", "bytes an entry");
    for (int k = 0; k < t->count; ++k) {
        const prepare_row *row = &t->rows[k];
        printf("%-19.19s %9" PRId64 "%9" PRId64 "%12.4f%12.4f%16.3f%16.1f\n", row->name, row->n, row->nnz,
               row->priority, row->dynamic, 1e6 * row->dynamic / (double)row->nnz,
               (double)row->blocking_bytes / (double)row->nnz);
    }
}

static void print_summary(const prepare_bench *t)
{
    printf("\n%-54s%9s%9s%9s\n", "ratios", "median", "90 %", "worst");
    for (int k = 0; k < RATIOS; ++k) {
        const summary s = summarise(t, k);
        printf("%-54s", ratios[k].what);
        print_ratio(9, s.median);
        print_ratio(9, s.ninety);
        print_ratio(9, s.worst);
        printf("  %s\n", s.name ? s.name : "");
    }
}

static void json_row(json *j, const prepare_row *row)
{
    json_object(j, NULL);
    json_text(j, "name", row->name);
    json_count(j, "n", row->n);
    json_count(j, "nnz", row->nnz);
    json_text(j, "symmetry", row->symmetric ? "symmetric" : "general");
    json_count(j, "structural_rank", row->rank);
    json_object(j, "seconds");
    json_number(j, "metis", row->metis);
    json_number(j, "order", row->order);
    json_number(j, "matching", row->matching);
    json_number(j, "whole", row->whole);
    json_number(j, "amd", row->amd);
    json_number(j, "priority", row->priority);
    json_number(j, "priority_dynamic", row->dynamic);
    json_close(j);
    json_number(j, "above_one", fmax(row->over, 0.0));
    json_number(j, "matched_off_one", row->off);
    json_count(j, "grid_levels", row->grid_levels);
    json_count(j, "cluster_levels", row->cluster_levels);
    json_number(j, "flops", row->plain_flops);
    json_number(j, "flops_with_pairs", row->pair_flops);
    json_number(j, "blocking_bytes_an_entry",
                row->blocking_bytes > 0 ? (double)row->blocking_bytes / (double)row->nnz : NAN);
    for (int k = 0; k < RATIOS; ++k) json_number(j, ratios[k].key, ratios[k].ratio(row));
    json_close(j);
}

static int write_json(const prepare_bench *t, const char *path)
{
    json j;
    const int status = json_begin(&j, path);
    if (status != EXIT_DONE) return status;
    json_text(&j, "commit", saddle_commit());
    json_text(&j, "bench", "prepare");
    json_count(&j, "repeat", argument_count(t->a, "repeat"));
    json_array(&j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(&j, &t->rows[k]);
    json_close(&j);
    json_object(&j, "summary");
    for (int k = 0; k < RATIOS; ++k) {
        const summary s = summarise(t, k);
        json_object(&j, ratios[k].key);
        json_number(&j, "median", s.median);
        json_number(&j, "ninety_percent", s.ninety);
        json_number(&j, "worst", s.worst);
        json_text(&j, "worst_matrix", s.name);
        json_close(&j);
    }
    json_close(&j);
    return json_end(&j);
}

/* One operand. A matrix that cannot be prepared is told and left out. */
static int bench_one(prepare_bench *t, const char *operand, bool print)
{
    const bool blockings = argument_flag(t->a, "blockings");
    prepare_row *row = &t->rows[t->count];
    *row = (prepare_row){
        .metis = INFINITY, .order = INFINITY, .matching = INFINITY, .whole = INFINITY, .amd = INFINITY};
    row->priority = row->dynamic = blockings ? INFINITY : NAN;
    row->over = NAN;
    matrix_name(operand, row->name, sizeof row->name);
    saddle_status status = bench_problem_load(&t->problem, operand, &t->hooks, t->message);
    const bool loaded = status == SADDLE_OK;
    if (loaded) {
        status = measure(t, row);
        bench_problem_free(&t->problem);
    }
    if (status == SADDLE_CANCELLED || (status != SADDLE_OK && progress_interrupted()))
        return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    if (status != SADDLE_OK) /* what the reader says names the file, what the preparation says does not */
        return fail(exit_status(status), "%s%s%s", loaded ? operand : "", loaded ? ": " : "",
                    *t->message ? t->message : saddle_status_text(status));
    if (t->count++ == 0 && print) print_header();
    if (print) print_row(row);
    return EXIT_DONE;
}

int bench_prepare(const arguments *a)
{
    const char *json_path = argument_text(a, "json");
    const bool print = !argument_flag(a, "quiet") && !(json_path && strcmp(json_path, "-") == 0);
    prepare_bench t = {.a = a};
    int status = EXIT_DONE;
    t.rows = calloc((size_t)a->operand_count, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "no memory for the rows");
    t.hooks = progress_begin(a);
    for (int k = 1; k < a->operand_count && status != EXIT_INTERRUPTED; ++k) {
        const int one = bench_one(&t, a->operands[k], print);
        if (one != EXIT_DONE) status = one;
    }
    progress_end();
    if (print && t.count > 0 && argument_flag(a, "blockings")) print_blockings(&t);
    if (print && t.count > 1) print_summary(&t);
    if (json_path) {
        const int written = write_json(&t, json_path);
        if (status == EXIT_DONE) status = written;
    }
    free(t.rows);
    return status;
}
