/*
 * `saddle bench direct --part sparse`: systems whose L has hardly more entries than they have themselves, by
 * the solver's default and `static` factorization, beside QDLDL.
 *
 * Saddle and QDLDL get the same matrix (quasidefinite.h), take turns, and are timed the same way (timing.h).
 * QDLDL's solve has one refinement. Saddle's has, by default, as many as it takes and verified errors (but no
 * certificate); in the mode `one step`, and with static pivots, one as QDLDL's. By parts, the same single
 * refinement is around it in all modes. Matrices that QDLDL gives no answer for are left out of the means.
 */
#include "bench/direct/sparse.h"

#include "bench/direct/direct.h"
#include "bench/direct/quasidefinite.h"
#include "bench/means.h"
#include "bench/peers/timing.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WANTED = 1 << PEER_QDLDL };

/* By kind, not by result: two families of control in several shapes, and every symmetric system of a power
 * grid among the files. */
static const struct {
    const char *operand, *group;
} tracked[] = {
    {"ocp_12x2x1", "ocp"},
    {"ocp_21x2x1", "ocp"},
    {"ocp_50", "ocp"},
    {"ocp_100x8x3", "ocp"},
    {"ocp_500x12x4", "ocp"},
    {"ocp_15000x2x1", "ocp"},
    {"ocp_10000", "ocp"},
    {"mpc_7x2x1", "mpc"},
    {"mpc_28", "mpc"},
    {"mpc_100x8x3", "mpc"},
    {"mpc_300x12x4", "mpc"},
    {"mpc_5600", "mpc"},
    {"kkt/ACOPP14_0003.mtx.gz", "power grid"},
    {"kkt/SWOPF_0000.mtx.gz", "power grid"},
    {"kkt/dcopf_case500_goc_mu1e-8.mtx.gz", "power grid"},
    {"kkt/ACTIVSg200_AC_add9_01.mtx.gz", "power grid"},
    {"kkt/dcopf_case3120sp_k_mu1e-8.mtx.gz", "power grid"},
    {"kkt/dcopf_case2869_pegase_mu1e-8.mtx.gz", "power grid"},
    {"kkt/dcopf_case10480_goc_mu1e-8.mtx.gz", "power grid"},
    {"spd/494_bus.mtx.gz", "power grid"},
    {"spd/685_bus.mtx.gz", "power grid"},
    {"spd/1138_bus.mtx.gz", "power grid"},
    {"spd/bprime_case2869_pegase.mtx.gz", "power grid"},
    {"spd/bprime_case10000_goc.mtx.gz", "power grid"},
};
enum { TRACKED = sizeof tracked / sizeof tracked[0] };

typedef enum mode { DEFAULT, ONE_STEP, STATIC, MODES } mode;
static const struct {
    const char *name, *options;
} modes[MODES] = {
    {"default", "method=direct device=cpu certify=off"},
    {"one step", "method=direct device=cpu certify=off krylov=refine verify=off"},
    {"static", "method=direct device=cpu certify=off krylov=refine verify=off factorization=static"},
};

enum { FACTOR, SOLVE, PARTS, ENTRIES, RATIOS_OF_MODE };
static const struct {
    const char *key, *what;
} ratio_names[RATIOS_OF_MODE] = {
    {"factor", "factor / QDLDL, seconds"},
    {"solve", "solve / QDLDL refined, seconds"},
    {"parts", "solve by parts, refined / QDLDL refined, seconds"},
    {"factor_nnz", "entries of L / QDLDL"},
};

typedef struct measured {
    char error[SADDLE_MESSAGE_SIZE];
    double factor, solve, parts, steps, factor_nnz; /* steps: refinements of solve */
    double solve_error, parts_error;
    double ratios[RATIOS_OF_MODE];
} measured;

typedef struct sparse_row {
    bench_matrix matrix;
    int64_t replaced;
    measured modes[MODES];
    peer_result qdldl;
} sparse_row;

typedef struct sparse_bench {
    const arguments *a;
    saddle_hooks hooks;
    char programs[PEERS][4096];
    int count;
    sparse_row *rows;
} sparse_bench;

/* ---- measuring ---- */

/* A turn of Saddle in one mode; one that failed is asked no more. */
static void take_turn(saddle_calls *c, measured *m)
{
    if (m->error[0]) return;
    if (timing_calls(call_factor, c, &m->factor) && timing_calls(call_solve, c, &m->solve) &&
        timing_calls(call_parts_refined, c, &m->parts))
        return;
    snprintf(m->error, sizeof m->error, "%s", saddle_message(c->solver));
}

static void take_errors(saddle_calls *c, measured *m)
{
    if (m->error[0]) return;
    if (call_parts_refined(c)) m->parts_error = quasidefinite_error(c->q);
    if (call_solve(c)) m->solve_error = quasidefinite_error(c->q);
    m->steps = (double)c->info.iterations;
    if (saddle_query(c->solver, &c->info) == SADDLE_OK) m->factor_nnz = (double)c->info.factor_nnz;
}

static void measure(sparse_bench *t, quasidefinite *q, sparse_row *row)
{
    saddle_calls calls[MODES];
    peer_process qdldl;
    saddle_options options = t->a->library;
    options.threads = argument_count(t->a, "threads");
    peer_start(&qdldl, PEER_QDLDL, t->programs, q->path, 1, t->a);
    for (int k = 0; k < MODES; ++k) {
        measured *m = &row->modes[k];
        const saddle_status status = calls_begin(&calls[k], q, &options, modes[k].options, m->error);
        if (status == SADDLE_OK) m->error[0] = 0;
    }
    for (int64_t turn = 0; turn < argument_count(t->a, "repeat") && !progress_interrupted(); ++turn) {
        for (int k = 0; k < MODES; ++k) take_turn(&calls[k], &row->modes[k]);
        peer_turn(&qdldl);
    }
    for (int k = 0; k < MODES; ++k) {
        take_errors(&calls[k], &row->modes[k]);
        calls_end(&calls[k]);
    }
    peer_end(&qdldl, &row->qdldl);
}

static void begin_row(sparse_row *row, const quasidefinite *q, const char *group)
{
    *row = (sparse_row){.matrix = q->matrix, .replaced = q->replaced, .qdldl = peer_nothing()};
    if (group) snprintf(row->matrix.group, sizeof row->matrix.group, "%s", group);
    for (int k = 0; k < MODES; ++k) {
        measured *m = &row->modes[k];
        m->factor = m->solve = m->parts = m->steps = m->factor_nnz = m->solve_error = m->parts_error = NAN;
    }
}

static void end_row(sparse_row *row)
{
    const peer_result nothing = peer_nothing(), *q = peer_answered(&row->qdldl) ? &row->qdldl : &nothing;
    for (int k = 0; k < MODES; ++k) {
        measured *m = &row->modes[k];
        m->ratios[FACTOR] = m->factor / q->factor;
        m->ratios[SOLVE] = m->solve / q->solve_refined;
        m->ratios[PARTS] = m->parts / q->solve_refined;
        m->ratios[ENTRIES] = m->factor_nnz / q->factor_nnz;
        if (m->error[0]) fail(EXIT_DONE, "%s: %s: %s", row->matrix.name, modes[k].name, m->error);
    }
    if (row->qdldl.error[0]) fail(EXIT_DONE, "%s: qdldl: %s", row->matrix.name, row->qdldl.error);
}

/* ---- reporting ---- */

static void print_header(void)
{
    printf("%-16s%7s%6s%24s", "", "", "", "QDLDL, us:");
    for (int k = 0; k < MODES; ++k) printf("%10s / QDLDL:", modes[k].name);
    printf("\n%-16s%7s%6s%9s%9s%6s", "matrix", "n", "L", "factor", "solve", "error");
    for (int k = 0; k < MODES; ++k) printf("%7s%6s%6s", "factor", "solve", "error");
    putchar('\n');
}

static void print_row(const sparse_row *row)
{
    printf("%-15.15s %7" PRId64, row->matrix.name, row->matrix.n);
    PRINT_COLUMNS("6.2f 9.1f 9.1f 6.0e", row->modes[DEFAULT].ratios[ENTRIES], 1e6 * row->qdldl.factor,
                  1e6 * row->qdldl.solve_refined, row->qdldl.backward_error_refined);
    for (int k = 0; k < MODES; ++k) {
        const measured *m = &row->modes[k];
        PRINT_COLUMNS("7.2f 6.2f 6.0e", m->ratios[FACTOR], m->ratios[SOLVE], m->solve_error);
    }
    putchar('\n');
    fflush(stdout);
}

/* Of a group, or of all: group NULL. */
static ratio_mean summarise(const sparse_bench *t, mode which, int ratio, const char *group)
{
    ratio_mean m = {0};
    for (int k = 0; k < t->count; ++k)
        if (!group || strcmp(group, t->rows[k].matrix.group) == 0)
            mean_add(&m, t->rows[k].modes[which].ratios[ratio], false, t->rows[k].matrix.name);
    return m;
}

static bool first_of_group(const sparse_bench *t, int k)
{
    for (int i = 0; i < k; ++i)
        if (strcmp(t->rows[i].matrix.group, t->rows[k].matrix.group) == 0) return false;
    return true;
}

static void print_group(const sparse_bench *t, const char *group)
{
    printf("\n%-61s%9s%9s%9s\n", group ? group : "all", "matrices", "mean", "worst");
    for (int which = 0; which < MODES; ++which)
        for (int k = 0; k < RATIOS_OF_MODE; ++k) {
            const ratio_mean m = summarise(t, (mode)which, k, group);
            if (m.count == 0) continue;
            printf("%-9s%-52s%9d", modes[which].name, ratio_names[k].what, m.count);
            PRINT_COLUMNS("9.3f 9.3f", mean_of(&m), m.worst);
            printf("  %s\n", m.name);
        }
}

static void print_summary(const sparse_bench *t)
{
    const char *version = "";
    for (int k = 0; k < t->count && !*version; ++k) version = t->rows[k].qdldl.version;
    printf("\nSaddle %s (commit %s)%s%s; best of %" PRId64 " turns\n", saddle_version(), saddle_commit(),
           *version ? ", " : "", version, argument_count(t->a, "repeat"));
    for (int k = 0; k < t->count; ++k)
        if (first_of_group(t, k)) print_group(t, t->rows[k].matrix.group);
    print_group(t, NULL);
}

static void json_row(json *j, const sparse_row *row)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    json_count(j, "replaced", row->replaced);
    for (int which = 0; which < MODES; ++which) {
        const measured *m = &row->modes[which];
        json_object(j, modes[which].name);
        JSON_PUT(j, true, J_TEXT("error", m->error[0] ? m->error : NULL), J_NUMBER("factor", m->factor),
                 J_NUMBER("solve", m->solve), J_NUMBER("parts", m->parts), J_NUMBER("steps", m->steps),
                 J_NUMBER("factor_nnz", m->factor_nnz), J_NUMBER("solve_error", m->solve_error),
                 J_NUMBER("parts_error", m->parts_error));
        json_object(j, "ratios");
        for (int k = 0; k < RATIOS_OF_MODE; ++k) json_number(j, ratio_names[k].key, m->ratios[k]);
        json_close(j);
        json_close(j);
    }
    json_peer(j, "qdldl", &row->qdldl);
    json_close(j);
}

static void json_group(json *j, const sparse_bench *t, const char *group)
{
    json_object(j, group ? group : "all");
    for (int which = 0; which < MODES; ++which) {
        json_object(j, modes[which].name);
        for (int k = 0; k < RATIOS_OF_MODE; ++k) {
            const ratio_mean m = summarise(t, (mode)which, k, group);
            JSON_OBJECT(j, ratio_names[k].key, true, J_COUNT("count", m.count), J_NUMBER("mean", mean_of(&m)),
                        J_NUMBER("worst", mean_worst(&m)), J_TEXT("worst_matrix", m.name));
        }
        json_close(j);
    }
    json_close(j);
}

static void json_sparse(json *j, const void *report)
{
    const sparse_bench *t = report;
    bench_json_head(j, "direct");
    JSON_PUT(j, true, J_TEXT("part", "sparse"), J_COUNT("repeat", argument_count(t->a, "repeat")),
             J_NUMBER("delta", argument_real(t->a, "delta")));
    json_array(j, "rows");
    for (int k = 0; k < t->count; ++k) json_row(j, &t->rows[k]);
    json_close(j);
    json_object(j, "summary");
    for (int k = 0; k < t->count; ++k)
        if (first_of_group(t, k)) json_group(j, t, t->rows[k].matrix.group);
    json_group(j, t, NULL);
    json_close(j);
}

/* ---- running ---- */

static int bench_one(sparse_bench *t, const char *operand, const char *group, bool print)
{
    quasidefinite q;
    sparse_row *row = &t->rows[t->count];
    const int opened = quasidefinite_open(&q, operand, argument_real(t->a, "delta"),
                                          t->programs[PEER_QDLDL][0] != 0, &t->hooks);
    if (opened != EXIT_DONE) return opened;
    begin_row(row, &q, group);
    measure(t, &q, row);
    quasidefinite_close(&q);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    end_row(row);
    if (t->count++ == 0 && print) print_header();
    if (print) print_row(row);
    return EXIT_DONE;
}

static int bench_all(sparse_bench *t, bool print)
{
    int status = EXIT_DONE;
    for (int k = 0; k < t->a->operand_count && status != EXIT_INTERRUPTED; ++k) {
        const int one = bench_one(t, t->a->operands[k], NULL, print);
        if (one != EXIT_DONE) status = one;
    }
    for (int k = 0; k < TRACKED && t->a->operand_count == 0 && status != EXIT_INTERRUPTED; ++k) {
        if (strchr(tracked[k].operand, '/') && !getenv("SADDLE_MATRICES")) continue;
        const int one = bench_one(t, tracked[k].operand, tracked[k].group, print);
        if (one != EXIT_DONE) status = one;
    }
    return status;
}

int sparse_run(const arguments *a)
{
    const bool print = bench_prints(a);
    sparse_bench t = {.a = a};
    if (argument_given(a, "anchors")) return usage_error(a, "--anchors is not for --part sparse");
    t.rows = calloc((size_t)a->operand_count + TRACKED, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    peers_find(argument_text(a, "peers"), WANTED, t.programs);
    t.hooks = progress_begin(a);
    int status = bench_all(&t, print);
    progress_end();
    if (print && t.count > 0) {
        print_summary(&t);
        peers_tell_missing(argument_text(a, "peers"), WANTED, t.programs);
    }
    status = bench_save(a, status, json_sparse, &t);
    free(t.rows);
    return status;
}
