/*
 * The report of `saddle bench direct`: a row a problem, and geometric means of the ratios to the peers in
 * each folder of files, over the problems whose factorization takes MUMPS more than 2 ms: below that the
 * ratio is one of fixed costs.
 */
#include "bench/direct/direct.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST 0.002 /* seconds of MUMPS that count in a mean */

static const struct {
    const char *key, *what;
    bool large_is_good;
} ratios[RATIOS] = {
    [FACTOR_TO_MUMPS] = {"factor_to_mumps", "factor / MUMPS, seconds", false},
    [TOTAL_TO_MUMPS] = {"total_to_mumps", "analysis + factor / MUMPS, seconds", false},
    [MEMORY_TO_MUMPS] = {"memory_to_mumps", "memory / MUMPS, bytes", false},
    [FACTOR_TO_CHOLMOD] = {"factor_to_cholmod", "factor / CHOLMOD, seconds", false},
    [PIVOTING] = {"pivoting", "LDL' / LL', seconds", false},
    [COLUMN_OF_64] = {"column_of_64", "one right-hand side of 64 / a single one, seconds", false},
    [SPEED_UP] = {"speed_up", "one thread / all threads, seconds", true},
    [OF_DGEMM] = {"dgemm", "factor / dgemm on one core, flop/s", true},
};

typedef struct summary {
    int count;
    double mean, worst;
    const char *name; /* of the worst */
} summary;

static summary summarise(const direct_report *t, int which, const char *group)
{
    summary s = {0, NAN, NAN, NULL};
    double logs = 0.0;
    for (int k = 0; k < t->count; ++k) {
        const direct_row *row = &t->rows[k];
        const double ratio = row->ratios[which], mumps = row->peers[PEER_MUMPS].factor;
        if (strcmp(row->group, group) != 0 || !isfinite(ratio) || ratio <= 0.0 || mumps < SHORTEST) continue;
        const bool worse = ratios[which].large_is_good ? ratio < s.worst : ratio > s.worst;
        logs += log(ratio);
        if (s.count++ == 0 || worse) {
            s.worst = ratio;
            s.name = row->name;
        }
    }
    if (s.count > 0) s.mean = exp(logs / s.count);
    return s;
}

/* Whether row k is the first of its group. */
static bool first_of_group(const direct_report *t, int k)
{
    for (int i = 0; i < k; ++i)
        if (strcmp(t->rows[i].group, t->rows[k].group) == 0) return false;
    return true;
}

void print_direct_header(void)
{
    printf("%-18s%8s%9s%9s%7s%9s%8s%9s%9s%8s%7s%7s\n", "", "", "", "", "of", "error", "", "MUMPS", "",
           "factor", "total", "bytes");
    printf("%-18s%8s%9s%9s%7s%9s%8s%9s%9s%8s%7s%7s\n", "matrix", "n", "analysis", "factor", "dgemm", "direct",
           "refined", "analysis", "factor", "/ MUMPS", "/", "/");
}

void print_direct_row(const direct_row *row)
{
    const peer_result *mumps = &row->peers[PEER_MUMPS];
    printf("%-17.17s %8" PRId64, row->name, row->n);
    print_column("%.4f", 9, row->analysis);
    print_column("%.4f", 9, row->factor);
    print_column("%.2f", 7, row->ratios[OF_DGEMM]);
    print_column("%.0e", 9, row->backward_error);
    print_column("%.0e", 8, row->backward_error_refined);
    print_column("%.4f", 9, mumps->analysis);
    print_column("%.4f", 9, mumps->factor);
    print_column("%.2f", 8, row->ratios[FACTOR_TO_MUMPS]);
    print_column("%.2f", 7, row->ratios[TOTAL_TO_MUMPS]);
    print_column("%.2f", 7, row->ratios[MEMORY_TO_MUMPS]);
    putchar('\n');
    fflush(stdout);
}

void print_direct_pivots(const direct_report *t)
{
    printf("\n%-18s%10s%9s%9s%9s%8s%9s%9s%9s%6s%7s%7s\n", "", "", "", "", "", "", "", "CHOLMOD", "", "LDL'",
           "64 rhs", "speed");
    printf("%-18s%10s%9s%9s%9s%8s%9s%9s%9s%6s%7s%7s\n", "matrix", "nnz", "delays", "2x2", "negative",
           "Gflop/s", "MB", "analysis", "factor", "/ LL'", "each/1", "up");
    for (int k = 0; k < t->count; ++k) {
        const direct_row *row = &t->rows[k];
        printf("%-17.17s %10" PRId64, row->name, row->nnz);
        print_column("%.0f", 9, row->delayed);
        print_column("%.0f", 9, row->two_by_two);
        print_column("%.0f", 9, row->negative);
        print_column("%.2f", 8, row->gigaflops);
        print_column("%.1f", 9, 1e-6 * row->peak_bytes);
        print_column("%.4f", 9, row->peers[PEER_CHOLMOD].analysis);
        print_column("%.4f", 9, row->peers[PEER_CHOLMOD].factor);
        print_column("%.2f", 6, row->ratios[PIVOTING]);
        print_column("%.2f", 7, row->ratios[COLUMN_OF_64]);
        print_column("%.2f", 7, row->ratios[SPEED_UP]);
        putchar('\n');
    }
}

/* The first version that a peer told; "" where it never ran. */
static const char *peer_version(const direct_report *t, int which)
{
    for (int k = 0; k < t->count; ++k)
        if (t->rows[k].peers[which].ran) return t->rows[k].peers[which].version;
    return "";
}

static void print_run(const direct_report *t)
{
    double dgemm = 0.0;
    for (int k = 0; k < t->count; ++k) dgemm = fmax(dgemm, t->rows[k].dgemm);
    printf("\nSaddle %s (commit %s)", saddle_version(), saddle_commit());
    for (int k = 0; k < PEERS; ++k)
        if (*peer_version(t, k)) printf(", %s", peer_version(t, k));
    printf("\nthreads: %d; best of %" PRId64 " turns; dgemm %.1f Gflop/s\n", t->threads,
           argument_count(t->a, "repeat"), 1e-9 * dgemm);
}

void print_direct_summary(const direct_report *t)
{
    print_run(t);
    for (int k = 0; k < t->count; ++k) {
        if (!first_of_group(t, k) || summarise(t, 0, t->rows[k].group).count == 0) continue;
        printf("\n%-44s%9s%9s%9s\n", t->rows[k].group, "matrices", "mean", "worst");
        for (int which = 0; which < RATIOS; ++which) {
            const summary s = summarise(t, which, t->rows[k].group);
            if (s.count == 0) continue;
            printf("%-44s%9d", ratios[which].what, s.count);
            print_column("%.3f", 9, s.mean);
            print_column("%.3f", 9, s.worst);
            printf("  %s\n", s.name);
        }
    }
}

static void json_peer(json *j, const char *name, const peer_result *p)
{
    json_object(j, name);
    json_truth(j, "ran", p->ran);
    json_text(j, "error", p->error[0] ? p->error : NULL);
    json_text(j, "version", p->version[0] ? p->version : NULL);
    json_text(j, "ordering", p->ordering[0] ? p->ordering : NULL);
#define ROW(name) json_number(j, #name, p->name);
    PEER_NUMBERS(ROW)
#undef ROW
    json_close(j);
}

static void json_saddle(json *j, const direct_row *row)
{
    json_object(j, "saddle");
    json_text(j, "error", row->error[0] ? row->error : NULL);
#define ROW(name) json_number(j, #name, row->name);
    DIRECT_NUMBERS(ROW)
#undef ROW
    json_close(j);
}

static void json_row(json *j, const direct_row *row)
{
    json_object(j, NULL);
    json_text(j, "name", row->name);
    json_text(j, "group", row->group);
    json_count(j, "n", row->n);
    json_count(j, "nnz", row->nnz);
    json_number(j, "dgemm_gigaflops", 1e-9 * row->dgemm);
    json_saddle(j, row);
    for (int k = 0; k < PEERS; ++k) json_peer(j, peer_names[k], &row->peers[k]);
    json_object(j, "ratios");
    for (int k = 0; k < RATIOS; ++k) json_number(j, ratios[k].key, row->ratios[k]);
    json_close(j);
    json_close(j);
}

static void json_summary(json *j, const direct_report *t, const char *group)
{
    json_object(j, group);
    for (int which = 0; which < RATIOS; ++which) {
        const summary s = summarise(t, which, group);
        json_object(j, ratios[which].key);
        json_count(j, "count", s.count);
        json_number(j, "mean", s.mean);
        json_number(j, "worst", s.worst);
        json_text(j, "worst_matrix", s.name);
        json_close(j);
    }
    json_close(j);
}

int write_direct_json(const void *report, const char *path)
{
    const direct_report *t = report;
    json j;
    const int status = bench_json_begin(&j, path, "direct");
    if (status != EXIT_DONE) return status;
    json_count(&j, "repeat", argument_count(t->a, "repeat"));
    json_count(&j, "threads", t->threads);
    json_array(&j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(&j, &t->rows[k]);
    json_close(&j);
    json_object(&j, "summary");
    for (int k = 0; k < t->count; ++k)
        if (first_of_group(t, k)) json_summary(&j, t, t->rows[k].group);
    json_close(&j);
    return json_end(&j);
}
