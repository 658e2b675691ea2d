/*
 * `saddle bench prepare`: what the parts of a preparation cost beside METIS alone, in one run.
 *
 *   METIS    METIS_NodeND on the whole graph of A + A' (metis.h); `order` where there is no such
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
#include "bench/bench.h"
#include "bench/metis.h"
#include "bench/problem.h"
#include "cli/paths.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is summed up. */
enum { MATCH, WHOLE, ORDER, AMD, LEVELS, WORK, RATIOS };
static const struct {
    const char *key, *what;
    bool large_is_good;
} ratios[RATIOS] = {
    [MATCH] = {"match", "matching / METIS, seconds", false},
    [WHOLE] = {"whole", "matching to order with pairs / METIS, seconds", false},
    [ORDER] = {"order", "order without pairs / METIS, seconds", false},
    [AMD] = {"amd", "AMD / METIS, seconds", false},
    [LEVELS] = {"levels", "grid of 8 / clusters of 8, level sets", true},
    [WORK] = {"work", "with pairs / without, operations of a factorization", false},
};

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
    double ratios[RATIOS];
} prepare_row;

typedef struct prepare_bench {
    const arguments *a;
    saddle_hooks hooks;
    bench_problem problem;
    char message[SADDLE_MESSAGE_SIZE];
    int count;
    prepare_row *rows;
} prepare_bench;

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

static void take_order(const saddle_preparation *p, prepare_row *row)
{
    row->n = p->n;
    row->nnz = p->nnz;
    row->symmetric = p->symmetric;
    row->order = fmin(row->order, p->time_order);
    row->plain_flops = p->factor_flops;
    row->grid_levels = p->levels;
}

static void take_whole(const saddle_preparation *p, prepare_row *row)
{
    row->matching = fmin(row->matching, p->time_matching);
    row->whole = fmin(row->whole, p->time_matching + p->time_scaling + p->time_pairs + p->time_order);
    row->pair_flops = p->factor_flops;
    row->rank = p->structural_rank;
}

static void take_amd(const saddle_preparation *p, prepare_row *row)
{
    row->amd = fmin(row->amd, p->time_order);
}

static void take_blocking(const saddle_preparation *p, prepare_row *row)
{
    double *best = p->blocking == SADDLE_BLOCKING_PRIORITY ? &row->priority : &row->dynamic;
    *best = fmin(*best, p->time_blocking);
    if (p->peak_bytes > row->blocking_bytes) row->blocking_bytes = p->peak_bytes;
}

static void take_levels(const saddle_preparation *p, prepare_row *row)
{
    row->cluster_levels = p->levels;
}

/* The preparations that take turns, and the last one, which is made once. Blockings are made as Jacobi
 * triangular solves uses them: columns scaled by their 2-norm, no pairs, no order. */
typedef struct kind {
    const char *options;
    void (*take)(const saddle_preparation *p, prepare_row *row);
} kind;
static const kind kinds[] = {
    {"scaling=none pairs=off order=metis blocking=grid block_size=8", take_order},
    {"scaling=mc64 pairs=on order=metis blocking=none block_size=8", take_whole},
    {"scaling=none pairs=off order=amd blocking=none block_size=8", take_amd},
    {"scaling=col2 pairs=off order=natural blocking=priority block_size=8", take_blocking},
    {"scaling=col2 pairs=off order=natural blocking=priority-dynamic block_size=8", take_blocking},
    {"scaling=mc64 pairs=on order=metis blocking=clusters block_size=8", take_levels}};
enum { USUAL = 3, ALL = 5 }; /* that take turns, without --blockings and with it */

static saddle_status prepare(prepare_bench *t, const kind *k, prepare_row *row)
{
    saddle_options o = saddle_options_default();
    saddle_preparation p;
    bench_set(&o, k->options);
    saddle_status status = saddle_prepare(&t->problem.A, &o, NULL, &t->hooks, &p, t->message);
    if (status != SADDLE_OK) return status;
    k->take(&p, row);
    if (k->take == take_whole && isnan(row->over)) status = measure_scaling(t, &p, row);
    saddle_preparation_free(&p, &t->hooks);
    return status;
}

static void compare(prepare_row *row)
{
    row->ratios[MATCH] = row->matching / row->metis;
    row->ratios[WHOLE] = row->whole / row->metis;
    row->ratios[ORDER] = row->order / row->metis;
    row->ratios[AMD] = row->amd / row->metis;
    row->ratios[LEVELS] = (double)row->grid_levels / (double)row->cluster_levels;
    row->ratios[WORK] = row->pair_flops / row->plain_flops;
}

static saddle_status measure(prepare_bench *t, prepare_row *row)
{
    const int turns = argument_given(t->a, "blockings") ? ALL : USUAL;
    bare_metis metis;
    bare_metis_begin(&metis, &t->problem.A, &t->hooks);
    saddle_status status = SADDLE_OK;
    for (int64_t k = 0; k < argument_count(t->a, "repeat") && status == SADDLE_OK; ++k) {
        row->metis = fmin(row->metis, bare_metis_time(&metis));
        for (int i = 0; i < turns && status == SADDLE_OK; ++i) status = prepare(t, &kinds[i], row);
    }
    bare_metis_end(&metis);
    if (isinf(row->metis)) row->metis = metis.edgeless ? NAN : row->order;
    if (status == SADDLE_OK) status = prepare(t, &kinds[ALL], row);
    compare(row);
    return status;
}

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
        const double value = t->rows[k].ratios[which];
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

static void print_row(const prepare_row *row)
{
    printf("%-19.19s %9" PRId64 "%9" PRId64, row->name, row->n, row->nnz);
    PRINT_COLUMNS("9.4f 8.2f 7.2f 7.2f", row->metis, row->ratios[MATCH], row->ratios[WHOLE],
                  row->ratios[AMD]);
    printf("%8.3f%9.0e%9.0e", 1e6 * row->matching / (double)row->nnz, fmax(row->over, 0.0), row->off);
    PRINT_COLUMNS("8.2f 7.2f", row->ratios[LEVELS], row->ratios[WORK]);
    putchar('\n');
    fflush(stdout);
}

static void print_blockings(const prepare_bench *t)
{
    printf("\n%-20s%9s%9s%12s%12s%16s%16s\n", "blocks of at most 8", "n", "nnz", "priority s", "dynamic s",
           "dynamic s/M nnz", "bytes/entry");
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
        PRINT_COLUMNS("9.2f 9.2f 9.2f", s.median, s.ninety, s.worst);
        printf("  %s\n", s.name ? s.name : "");
    }
}

static void json_row(json *j, const prepare_row *row)
{
    const double bytes = row->blocking_bytes > 0 ? (double)row->blocking_bytes / (double)row->nnz : NAN;
    json_object(j, NULL);
    JSON_PUT(j, true, J_TEXT("name", row->name), J_COUNT("n", row->n), J_COUNT("nnz", row->nnz),
             J_TEXT("symmetry", row->symmetric ? "symmetric" : "general"),
             J_COUNT("structural_rank", row->rank));
    JSON_OBJECT(j, "seconds", true, J_NUMBER("metis", row->metis), J_NUMBER("order", row->order),
                J_NUMBER("matching", row->matching), J_NUMBER("whole", row->whole), J_NUMBER("amd", row->amd),
                J_NUMBER("priority", row->priority), J_NUMBER("priority_dynamic", row->dynamic));
    JSON_PUT(j, true, J_NUMBER("above_one", fmax(row->over, 0.0)), J_NUMBER("matched_off_one", row->off),
             J_COUNT("grid_levels", row->grid_levels), J_COUNT("cluster_levels", row->cluster_levels),
             J_NUMBER("flops", row->plain_flops), J_NUMBER("flops_with_pairs", row->pair_flops),
             J_NUMBER("blocking_bytes_an_entry", bytes));
    for (int k = 0; k < RATIOS; ++k) json_number(j, ratios[k].key, row->ratios[k]);
    json_close(j);
}

static void write_json(json *j, const void *report)
{
    const prepare_bench *t = report;
    bench_json_head(j, "prepare");
    json_count(j, "repeat", argument_count(t->a, "repeat"));
    json_array(j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(j, &t->rows[k]);
    json_close(j);
    json_object(j, "summary");
    for (int k = 0; k < RATIOS; ++k) {
        const summary s = summarise(t, k);
        JSON_OBJECT(j, ratios[k].key, true, J_NUMBER("median", s.median),
                    J_NUMBER("ninety_percent", s.ninety), J_NUMBER("worst", s.worst),
                    J_TEXT("worst_matrix", s.name));
    }
    json_close(j);
}

/* One operand. A matrix that cannot be prepared is told and left out. */
static int bench_one(prepare_bench *t, const char *operand, bool print)
{
    const bool blockings = argument_given(t->a, "blockings");
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

static int run_prepare(const arguments *a)
{
    const bool print = bench_prints(a);
    prepare_bench t = {.a = a};
    int status = bench_check_operands(a);
    if (status != EXIT_DONE) return status;
    t.rows = calloc((size_t)a->operand_count, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    t.hooks = progress_begin(a);
    for (int k = 0; k < a->operand_count && status != EXIT_INTERRUPTED; ++k) {
        const int one = bench_one(&t, a->operands[k], print);
        if (one != EXIT_DONE) status = one;
    }
    progress_end();
    if (print && t.count > 0 && argument_given(a, "blockings")) print_blockings(&t);
    if (print && t.count > 1) print_summary(&t);
    status = bench_save(a, status, write_json, &t);
    free(t.rows);
    return status;
}

static const option prepare_options[] = {
    BENCH_REPEAT,
    OPTION_FLAG("blockings", 0, "also time the priority blockings"),
    BENCH_JSON,
    OPTION_END,
};

const command command_prepare = {
    .name = "prepare",
    .operands = "A.mtx[.gz]...",
    .help = "the parts of a preparation, compared with METIS alone",
    .about = "For each matrix: the time of matching, of everything up to an order that keeps matched pairs, "
             "and of AMD, compared with METIS alone on the same matrix; also the accuracy of the scaling, "
             "the level sets of clusters against those of a grid, and the predicted work with and without "
             "pairs. An operand such as stokes2d_100 or lap3d_30:1.5, FAMILY_SIZE[:P], that is not a file "
             "names a generated problem (saddle gen).",
    .examples = "  saddle bench prepare matrices/*.mtx.gz kktz_50 kktz_100 kktz_150\n",
    .options = prepare_options,
    .library = "",
    .least = 1,
    .most = INT_MAX,
    .run = run_prepare,
};
