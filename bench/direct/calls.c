/*
 * `saddle bench calls`: what a call costs where the matrix is tiny, in microseconds: new values on a known
 * pattern and one right-hand side, as an interior-point or predictive controller asks for them thousands of
 * times. Beside it QDLDL, with one refinement and without, and the dense dsysv of LAPACK, on the same matrix
 * (quasidefinite.h). All take turns and are timed the same way (timing.h).
 */
#include "bench/direct/direct.h"
#include "bench/direct/quasidefinite.h"
#include "bench/means.h"
#include "bench/peers/timing.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WANTED = 1 << PEER_QDLDL | 1 << PEER_LAPACK };

/* 10, 60, 105 and 500 rows. */
static const char *const tracked[] = {"ocp_2x2x1", "ocp_12x2x1", "ocp_21x2x1", "ocp_100x2x1"};
enum { TRACKED = sizeof tracked / sizeof tracked[0] };

/* Ways of calling, each with what is compared: QDLDL refined, or not. */
enum { ALL, UNCERTIFIED, UNREFINED, PARTS, STATIC, ONCE, WAYS };
static const struct {
    const char *name, *what, *options;
    bool (*call)(void *self);
    bool refined;
} ways[WAYS] = {
    [ALL] = {"all", "refactor + solve: refined, errors verified, inertia certified",
             "method=direct device=cpu", call_factor_solve, true},
    [UNCERTIFIED] = {"uncertified", "refactor + solve: refined, errors verified (--certify off)",
                     "method=direct device=cpu certify=off", call_factor_solve, true},
    [UNREFINED] = {"unrefined", "refactor + solve: errors measured (--certify off --krylov none)",
                   "method=direct device=cpu certify=off krylov=none", call_factor_solve, false},
    [PARTS] = {"parts", "refactor + solve by parts: neither errors nor inertia",
               "method=direct device=cpu certify=off", call_factor_parts, false},
    [STATIC] = {"static", "the same with --factorization static",
                "method=direct device=cpu certify=off factorization=static", call_factor_parts, false},
    [ONCE] = {"once", "saddle_solve_once with the defaults, analysis included", "device=cpu", call_once,
              true},
};

typedef struct calls_row {
    bench_matrix matrix;
    char error[SADDLE_MESSAGE_SIZE];
    double seconds[WAYS], errors[WAYS]; /* backward errors */
    int certain;                        /* of ALL */
    peer_result peers[PEERS];
    double ratios[WAYS]; /* to QDLDL */
} calls_row;

typedef struct calls_bench {
    const arguments *a;
    saddle_hooks hooks;
    char programs[PEERS][4096];
    int count;
    calls_row *rows;
} calls_bench;

/* ---- measuring ---- */

static void take_turn(saddle_calls *c, int way, calls_row *row)
{
    if (row->error[0]) return;
    if (!timing_calls(ways[way].call, c, &row->seconds[way]))
        snprintf(row->error, sizeof row->error, "%s", saddle_message(c->solver));
}

static void take_errors(saddle_calls *c, int way, calls_row *row)
{
    if (row->error[0] || !ways[way].call(c)) return;
    row->errors[way] = quasidefinite_error(c->q);
    if (way == ALL) row->certain = c->info.inertia_certain == 1;
}

static void measure(calls_bench *t, quasidefinite *q, calls_row *row)
{
    saddle_calls calls[WAYS];
    peer_process *peers = calloc(PEERS, sizeof *peers);
    saddle_options options = t->a->library;
    options.threads = 1;
    memset(calls, 0, sizeof calls);
    for (int k = 0; k < PEERS && peers; ++k) peer_start(&peers[k], k, t->programs, q->path, 1, t->a);
    for (int k = 0; k < WAYS && !row->error[0]; ++k)
        if (calls_begin(&calls[k], q, &options, ways[k].options, row->error) == SADDLE_OK) row->error[0] = 0;
    for (int64_t turn = 0; turn < argument_count(t->a, "repeat") && !progress_interrupted(); ++turn) {
        for (int k = 0; k < WAYS; ++k) take_turn(&calls[k], k, row);
        for (int k = 0; k < PEERS && peers; ++k) peer_turn(&peers[k]);
    }
    for (int k = 0; k < WAYS; ++k) {
        take_errors(&calls[k], k, row);
        calls_end(&calls[k]);
    }
    for (int k = 0; k < PEERS && peers; ++k) peer_end(&peers[k], &row->peers[k]);
    free(peers);
}

/* Seconds of a peer's factorization and solve. */
static double peer_seconds(const calls_row *row, int which, bool refined)
{
    const peer_result *p = &row->peers[which];
    if (!peer_answered(p)) return NAN;
    return p->factor + (refined ? p->solve_refined : p->solve);
}

/* ---- reporting ---- */

static void print_header(void)
{
    printf("%-13s%6s%8s%8s%8s%8s%8s%8s%9s%8s%8s%9s%9s\n", "us", "n", "all", "uncert.", "unref.", "parts",
           "static", "once", "QDLDL", "unref.", "dsysv", "error", "QDLDL");
}

static void print_row(const calls_row *row)
{
    const double *s = row->seconds;
    printf("%-12.12s %6" PRId64, row->matrix.name, row->matrix.n);
    PRINT_COLUMNS("8.1f 8.1f 8.1f 8.1f 8.1f 8.1f 9.1f 8.1f 8.1f 9.0e 9.0e", 1e6 * s[ALL],
                  1e6 * s[UNCERTIFIED], 1e6 * s[UNREFINED], 1e6 * s[PARTS], 1e6 * s[STATIC], 1e6 * s[ONCE],
                  1e6 * peer_seconds(row, PEER_QDLDL, true), 1e6 * peer_seconds(row, PEER_QDLDL, false),
                  1e6 * peer_seconds(row, PEER_LAPACK, false), row->errors[ALL],
                  row->peers[PEER_QDLDL].backward_error_refined);
    putchar('\n');
    fflush(stdout);
}

/* Ratios to QDLDL, a column for every matrix. */
static void print_ratios(const calls_bench *t)
{
    printf("\n%-66s", "times QDLDL (refined where Saddle refines)");
    for (int k = 0; k < t->count; ++k) printf("%8" PRId64, t->rows[k].matrix.n);
    printf("%8s\n", "mean");
    for (int way = 0; way < WAYS; ++way) {
        ratio_mean m = {0};
        printf("%-66s", ways[way].what);
        for (int k = 0; k < t->count; ++k) {
            print_column("%.2f", 8, t->rows[k].ratios[way]);
            mean_add(&m, t->rows[k].ratios[way], false, t->rows[k].matrix.name);
        }
        print_column("%.2f", 8, mean_of(&m));
        putchar('\n');
    }
}

static void json_calls(json *j, const void *report)
{
    const calls_bench *t = report;
    bench_json_head(j, "calls");
    json_count(j, "repeat", argument_count(t->a, "repeat"));
    json_array(j, "rows");
    for (int k = 0; k < t->count; ++k) {
        const calls_row *row = &t->rows[k];
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        json_text(j, "error", row->error[0] ? row->error : NULL);
        json_truth(j, "certain", row->certain);
        for (int way = 0; way < WAYS; ++way)
            JSON_OBJECT(j, ways[way].name, true, J_NUMBER("seconds", row->seconds[way]),
                        J_NUMBER("backward_error", row->errors[way]), J_NUMBER("to_qdldl", row->ratios[way]));
        json_peer(j, "qdldl", &row->peers[PEER_QDLDL]);
        json_peer(j, "lapack", &row->peers[PEER_LAPACK]);
        json_close(j);
    }
    json_close(j);
}

/* ---- running ---- */

static void begin_row(calls_row *row, const quasidefinite *q)
{
    *row = (calls_row){.matrix = q->matrix, .certain = -1};
    for (int k = 0; k < WAYS; ++k) row->seconds[k] = row->errors[k] = NAN;
    for (int k = 0; k < PEERS; ++k) row->peers[k] = peer_nothing();
}

static void end_row(calls_row *row)
{
    for (int k = 0; k < WAYS; ++k)
        row->ratios[k] = row->seconds[k] / peer_seconds(row, PEER_QDLDL, ways[k].refined);
    if (row->error[0]) fail(EXIT_DONE, "%s: %s", row->matrix.name, row->error);
    for (int k = 0; k < PEERS; ++k)
        if (row->peers[k].error[0])
            fail(EXIT_DONE, "%s: %s: %s", row->matrix.name, peer_kinds[k].name, row->peers[k].error);
}

static int bench_one(calls_bench *t, const char *operand, bool print)
{
    quasidefinite q;
    calls_row *row = &t->rows[t->count];
    const bool file = t->programs[PEER_QDLDL][0] || t->programs[PEER_LAPACK][0];
    const int opened = quasidefinite_open(&q, operand, argument_real(t->a, "delta"), file, &t->hooks);
    if (opened != EXIT_DONE) return opened;
    begin_row(row, &q);
    measure(t, &q, row);
    quasidefinite_close(&q);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    end_row(row);
    if (t->count++ == 0 && print) print_header();
    if (print) print_row(row);
    return EXIT_DONE;
}

static int run_calls(const arguments *a)
{
    const bool print = bench_prints(a), own = a->operand_count == 0;
    const int count = own ? TRACKED : a->operand_count;
    calls_bench t = {.a = a};
    int status = bench_check_operands(a);
    if (status != EXIT_DONE) return status;
    t.rows = calloc((size_t)count, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    peers_find(argument_text(a, "peers"), WANTED, t.programs);
    t.hooks = progress_begin(a);
    for (int k = 0; k < count && status != EXIT_INTERRUPTED; ++k) {
        const int one = bench_one(&t, own ? tracked[k] : a->operands[k], print);
        if (one != EXIT_DONE) status = one;
    }
    progress_end();
    if (print && t.count > 0) {
        print_ratios(&t);
        printf("\nSaddle %s (commit %s); one thread; best of %" PRId64 " turns\n", saddle_version(),
               saddle_commit(), argument_count(a, "repeat"));
        peers_tell_missing(argument_text(a, "peers"), WANTED, t.programs);
    }
    status = bench_save(a, status, json_calls, &t);
    free(t.rows);
    return status;
}

static const option calls_options[] = {
    OPTION_COUNT("repeat", "N", 10, 1, 1000, "turns of each; the best counts"),
    OPTION_REAL("delta", "D", 1e-8, 0.0, 1e100, "what zeros of the diagonal are replaced with, negative"),
    OPTION_TEXT("peers", "DIR|none", NULL, "folder of the drivers; by default next to saddle"),
    OPTION_REAL("limit", "SECONDS", 120.0, 0.1, 1e6, "time limit of a peer for one matrix"),
    BENCH_JSON,
    OPTION_END,
};

const command command_calls = {
    .name = "calls",
    .operands = "[A.mtx[.gz]...]",
    .help = "the cost of a call on tiny systems, compared with QDLDL and a dense dsysv",
    .about = "Microseconds of new values on a known pattern and one right-hand side (refactor + solve), with "
             "everything that the direct solver does by default and with less and less of it, and of "
             "saddle_solve_once; compared with QDLDL and LAPACK's dsysv if their drivers were built. By "
             "default for systems of optimal control with 10, 60, 105 and 500 rows. An operand such as "
             "mpc_10x2x1 that is not a file names a generated problem (saddle gen).",
    .examples = "  saddle bench calls\n"
                "  saddle bench calls mpc_7x2x1 --json calls.json\n",
    .options = calls_options,
    .library = "scaling|order|pairs|threshold",
    .most = INT_MAX,
    .run = run_calls,
};
