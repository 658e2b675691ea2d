/*
 * The report of `saddle bench direct`: a row a problem, and geometric means of the ratios to the peers in
 * each folder of files, over the problems whose factorization takes MUMPS more than 2 ms: below that the
 * ratio is one of fixed costs.
 */
#include "bench/direct/direct.h"

#include "bench/means.h"

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
    [FACTOR_TO_PARDISO] = {"factor_to_pardiso", "factor / PARDISO, seconds", false},
    [TOTAL_TO_PARDISO] = {"total_to_pardiso", "analysis + factor / PARDISO, seconds", false},
    [FACTOR_TO_MATCHING] = {"factor_to_pardiso_matching", "factor / PARDISO with matching, seconds", false},
    [TOTAL_TO_MATCHING] = {"total_to_pardiso_matching", "analysis + factor / PARDISO with matching, s",
                           false},
    [FACTOR_TO_QDLDL] = {"factor_to_qdldl", "factor / QDLDL, seconds", false},
    [CHOLESKY_TO_CHOLMOD] = {"cholesky_to_cholmod", "LL' / LL' of CHOLMOD, seconds", false},
    [LDLT_TO_CHOLMOD] = {"ldlt_to_cholmod", "LDL' / LDL' of CHOLMOD, seconds", false},
    [PIVOTING] = {"pivoting", "LDL' / LL', seconds", false},
    [COLUMN_OF_64] = {"column_of_64", "one right-hand side of 64 / a single one, seconds", false},
    [SPEED_UP] = {"speed_up", "one thread / all threads, seconds", true},
    [OF_DGEMM] = {"dgemm", "factor / dgemm on one core, flop/s", true},
    [CERTIFICATE] = {"certificate", "factor + solve, inertia certified / not, seconds", false},
};

static ratio_mean summarise(const direct_report *t, int which, const char *group)
{
    ratio_mean m = {0};
    for (int k = 0; k < t->count; ++k) {
        const direct_row *row = &t->rows[k];
        if (strcmp(row->matrix.group, group) == 0 && !(row->peers[PEER_MUMPS].factor < SHORTEST))
            mean_add(&m, row->ratios[which], ratios[which].large_is_good, row->matrix.name);
    }
    return m;
}

/* Whether row k is the first of its group. */
static bool first_of_group(const direct_report *t, int k)
{
    for (int i = 0; i < k; ++i)
        if (strcmp(t->rows[i].matrix.group, t->rows[k].matrix.group) == 0) return false;
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
    printf("%-17.17s %8" PRId64, row->matrix.name, row->matrix.n);
    PRINT_COLUMNS("9.4f 9.4f 7.2f 9.0e 8.0e 9.4f 9.4f 8.2f 7.2f 7.2f", row->analysis, row->factor,
                  row->ratios[OF_DGEMM], row->backward_error, row->backward_error_refined, mumps->analysis,
                  mumps->factor, row->ratios[FACTOR_TO_MUMPS], row->ratios[TOTAL_TO_MUMPS],
                  row->ratios[MEMORY_TO_MUMPS]);
    putchar('\n');
    fflush(stdout);
}

void print_direct_pivots(const direct_report *t)
{
    printf("\n%-18s%10s%9s%9s%9s%8s%9s%6s%7s%7s\n", "", "", "", "", "", "", "", "LDL'", "64 rhs", "speed");
    printf("%-18s%10s%9s%9s%9s%8s%9s%6s%7s%7s\n", "matrix", "nnz", "delays", "2x2", "negative", "Gflop/s",
           "MB", "/ LL'", "each/1", "up");
    for (int k = 0; k < t->count; ++k) {
        const direct_row *row = &t->rows[k];
        printf("%-17.17s %10" PRId64, row->matrix.name, row->matrix.nnz);
        PRINT_COLUMNS("9.0f 9.0f 9.0f 8.2f 9.1f 6.2f 7.2f 7.2f", row->delayed, row->two_by_two, row->negative,
                      row->gigaflops, 1e-6 * row->peak_bytes, row->ratios[PIVOTING],
                      row->ratios[COLUMN_OF_64], row->ratios[SPEED_UP]);
        putchar('\n');
    }
}

void print_direct_peers(const direct_report *t)
{
    printf("\n%-18s%-27s%-27s%-18s%s\n", "", "  PARDISO", "  PARDISO with matching", "  QDLDL",
           "  CHOLMOD LL'   LDL'");
    printf("%-18s%9s%9s%9s%9s%9s%9s%9s%9s%9s%9s\n", "matrix", "analysis", "factor", "error", "analysis",
           "factor", "error", "factor", "error", "factor", "factor");
    for (int k = 0; k < t->count; ++k) {
        const peer_result *peers = t->rows[k].peers, *p = &peers[PEER_PARDISO], *m = &peers[PEER_MATCHING],
                          *q = &peers[PEER_QDLDL];
        printf("%-17.17s ", t->rows[k].matrix.name);
        PRINT_COLUMNS("9.4f 9.4f 9.0e 9.4f 9.4f 9.0e 9.4f 9.0e 9.4f 9.4f", p->analysis, p->factor,
                      p->backward_error, m->analysis, m->factor, m->backward_error, q->factor,
                      q->backward_error, peers[PEER_CHOLMOD].factor, peers[PEER_CHOLMOD_LDLT].factor);
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
        if (*peer_version(t, k) && (k == 0 || strcmp(peer_kinds[k].driver, peer_kinds[k - 1].driver) != 0))
            printf(", %s", peer_version(t, k));
    printf("\nthreads: %d; best of %" PRId64 " turns; dgemm %.1f Gflop/s\n", t->threads,
           argument_count(t->a, "repeat"), 1e-9 * dgemm);
}

void print_direct_summary(const direct_report *t)
{
    print_run(t);
    for (int k = 0; k < t->count; ++k) {
        if (!first_of_group(t, k)) continue;
        printf("\n%-50s%9s%9s%9s\n", t->rows[k].matrix.group, "matrices", "mean", "worst");
        for (int which = 0; which < RATIOS; ++which) {
            const ratio_mean m = summarise(t, which, t->rows[k].matrix.group);
            if (m.count == 0) continue;
            printf("%-50s%9d", ratios[which].what, m.count);
            PRINT_COLUMNS("9.3f 9.3f", mean_of(&m), m.worst);
            printf("  %s\n", m.name);
        }
    }
}

static const char *told(const char *text)
{
    return text[0] ? text : NULL;
}

void json_peer(json *j, const char *name, const peer_result *p)
{
    json_object(j, name);
    JSON_PUT(j, true, J_TRUTH("ran", p->ran), J_TEXT("error", told(p->error)),
             J_TEXT("version", told(p->version)), J_TEXT("ordering", told(p->ordering)));
#define ROW(name) json_number(j, #name, p->name);
    PEER_NUMBERS(ROW)
#undef ROW
    json_close(j);
}

static void json_row(json *j, const direct_row *row)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    json_number(j, "dgemm_gigaflops", 1e-9 * row->dgemm);
    json_object(j, "saddle");
    json_text(j, "error", told(row->error));
#define ROW(name) json_number(j, #name, row->name);
    DIRECT_NUMBERS(ROW)
#undef ROW
    json_close(j);
    for (int k = 0; k < PEERS; ++k) json_peer(j, peer_kinds[k].name, &row->peers[k]);
    json_object(j, "ratios");
    for (int k = 0; k < RATIOS; ++k) json_number(j, ratios[k].key, row->ratios[k]);
    json_close(j);
    json_close(j);
}

static void json_summary(json *j, const direct_report *t, const char *group)
{
    json_object(j, group);
    for (int which = 0; which < RATIOS; ++which) {
        const ratio_mean m = summarise(t, which, group);
        JSON_OBJECT(j, ratios[which].key, true, J_COUNT("count", m.count), J_NUMBER("mean", mean_of(&m)),
                    J_NUMBER("worst", mean_worst(&m)), J_TEXT("worst_matrix", m.name));
    }
    json_close(j);
}

void json_direct(json *j, const void *report)
{
    const direct_report *t = report;
    bench_json_head(j, "direct");
    JSON_PUT(j, true, J_COUNT("repeat", argument_count(t->a, "repeat")), J_COUNT("threads", t->threads));
    json_array(j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(j, &t->rows[k]);
    json_close(j);
    json_object(j, "summary");
    for (int k = 0; k < t->count; ++k)
        if (first_of_group(t, k)) json_summary(j, t, t->rows[k].matrix.group);
    json_close(j);
}
