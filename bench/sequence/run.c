/*
 * `saddle bench sequence`: factorizations of interior-point systems one after the other, on plans that are
 * never, always, or by the solver's own decision made anew.
 *
 * The three ways take turns, --repeat of them. The counts of a way are the same in every turn, so the time of
 * a matrix is the best of its turns, and the time of a sequence the sum over its matrices: planning where it
 * is made, and factoring. The ratio is that of the solver's own way to the better of the other two.
 */
#include "bench/bench.h"
#include "bench/problem.h"
#include "bench/sequence/sequence.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sequences that are tracked; files are looked for in $SADDLE_MATRICES. */
static const sequence_rules tracked[] = {
    {"lqr_600", "control", 0, 1, 1, 1, 1, false},
    {"pdeco2d_90", "elliptic, controls", 0.333, 0.667, 1, 1, 1.2e-4, false},
    {"pdeco2d_90", "elliptic, states", 0, 0.333, 1, 1, 1.2e-4, false},
    {"pdeco3d_14", "elliptic 3D, both", 0, 0.667, 0.5, 1, 3e-4, false},
    {"ipm_12000:2", "sparse QP", 0, 1, 1, 1, 1, false},
    {"ipm_12000:2", "sparse QP, zeros", 0, 1, 1, 1, 1, true},
    {"stokes2d_60", "flow with obstacle", 0, 1, 0.3, 1, 1, false},
    {"pdeco2d_60", "elliptic, far start", 0, 0.667, 1, 1, 100, false},
    {"kkt/mm_CONT-100_mu1e-8.mtx.gz", "boundary control", 0, 1, 1, 1, 1, false},
    {"kkt/lp_greenbea_mu1e-8.mtx.gz", "LP greenbea", 0, 1, 1, 1, 1, false},
    {"kkt/lp_d6cube_mu1e-8.mtx.gz", "LP d6cube", 0, 1, 1, 1, 1, false},
    {"kkt/mip_seymour_mu1e-8.mtx.gz", "set covering", 0, 1, 1, 1, 1, false},
    {"kkt/mm_CVXQP2_L_mu1e-4.mtx.gz", "QP cvxqp2", 0, 1, 1, 1, 1, false},
    {"kkt/mm_STCQP2_mu1e-8.mtx.gz", "QP stcqp2", 0, 1, 1, 1, 1, false},
    {"kkt/ACTIVSg200_AC_add9_01.mtx.gz", "AC power flow", 0, 1, 1, 1, 1, false},
    {"kkt/dcopf_case3120sp_k_mu1e-8.mtx.gz", "DC power flow", 0, 1, 1, 1, 1, false},
    {"kkt/dcopf_case3120sp_k_mu1e-8.mtx.gz", "DC power flow, zeros", 0, 1, 1, 1, 1, true},
};
enum { TRACKED = sizeof tracked / sizeof tracked[0] };

typedef enum way { NEVER, ALWAYS, OWN, WAYS } way;
static const char *const way_names[WAYS] = {"never", "always", "own"};

/* What one way makes of one matrix. */
typedef struct step {
    double plan, factor; /* seconds, the best */
    double flops, planned;
    double delayed, error;      /* backward error of a solve */
    double replans, rescalings; /* since the beginning, and on the plan in use */
} step;

typedef struct row {
    bench_matrix matrix;
    step steps[WAYS][SEQUENCE_LENGTH];
} row;

typedef struct sequence_bench {
    const arguments *a;
    saddle_hooks hooks;
    int count;
    row *rows;
    char message[SADDLE_MESSAGE_SIZE];
} sequence_bench;

/* ---- measuring ---- */

static void take_info(const saddle_info *info, step *to)
{
    to->flops = (double)info->factor_flops;
    to->planned = info->planned_flops;
    to->delayed = (double)info->delayed;
    to->replans = (double)info->replans;
    to->rescalings = (double)info->rescalings;
}

/* One matrix: its times, and how well a right-hand side is solved for. */
static saddle_status measure_step(sequence_bench *t, sequence *s, saddle_solver *solver, bool plan,
                                  double *work, step *to)
{
    const int64_t n = s->A.rows;
    saddle_matrix A = s->A;
    saddle_info info = saddle_info_default();
    A.values = s->values;
    const bench_limit clock = {.core = argument_count(t->a, "threads") == 1};
    const double began = bench_now(&clock);
    saddle_status status = plan ? saddle_analyse(solver, &A) : SADDLE_OK;
    const double planned = bench_now(&clock);
    if (status == SADDLE_OK) status = saddle_factor(solver, &A);
    const double ended = bench_now(&clock);
    if (status != SADDLE_OK) {
        snprintf(t->message, sizeof t->message, "%s", saddle_message(solver));
        return status;
    }
    to->plan = fmin(to->plan, planned - began);
    to->factor = fmin(to->factor, ended - planned);
    saddle_query(solver, &info); /* before a solve, which may tell of factors of its own */
    take_info(&info, to);
    for (int64_t i = 0; i < n; ++i) work[i] = 1.0 + 0.1 * (double)(i % 7);
    saddle_multiply(&A, 1, work, n, work + n, n, 1, &t->hooks, t->message);
    if (saddle_solve(solver, 1, work + n, n, work, n, &info) != SADDLE_OK) to->error = INFINITY;
    if (isfinite(info.backward_error)) to->error = info.backward_error;
    return SADDLE_OK;
}

static saddle_status measure_way(sequence_bench *t, sequence *s, way which, double *work, step *steps)
{
    saddle_options o = t->a->library;
    saddle_solver *solver = NULL;
    o.threads = argument_count(t->a, "threads");
    bench_set(&o, "method=direct device=cpu");
    bench_set(&o, which == OWN ? "replan=auto" : "replan=off");
    saddle_status status = saddle_create(&solver, &o, &t->hooks, t->message);
    for (int k = 0; k < SEQUENCE_LENGTH && status == SADDLE_OK && !progress_interrupted(); ++k) {
        sequence_step(s, k);
        status = measure_step(t, s, solver, k == 0 || which == ALWAYS, work, &steps[k]);
        if (k == 0 && s->rules.placeholder) steps[k].error = 0; /* it may well be singular */
    }
    saddle_destroy(&solver);
    return status;
}

static saddle_status measure_sequence(sequence_bench *t, sequence *s, row *to)
{
    saddle_status status = SADDLE_OK;
    double *work = malloc(((size_t)s->A.rows + 1) * 2 * sizeof *work);
    for (int w = 0; w < WAYS; ++w)
        for (int k = 0; k < SEQUENCE_LENGTH; ++k) to->steps[w][k].plan = to->steps[w][k].factor = INFINITY;
    if (!work) return SADDLE_OUT_OF_MEMORY;
    for (int64_t turn = 0; turn < argument_count(t->a, "repeat") && !progress_interrupted(); ++turn)
        for (int w = 0; w < WAYS && status == SADDLE_OK; ++w)
            status = measure_way(t, s, (way)w, work, to->steps[w]);
    free(work);
    return status;
}

/* ---- reporting ---- */

static double total_time(const row *r, way which)
{
    double sum = 0;
    for (int k = 0; k < SEQUENCE_LENGTH; ++k) sum += r->steps[which][k].plan + r->steps[which][k].factor;
    return sum;
}

/* The solver's own way beside the better of the other two. */
static double ratio_of(const row *r)
{
    return total_time(r, OWN) / fmin(total_time(r, NEVER), total_time(r, ALWAYS));
}

/* The most that a factorization took of what was planned. */
static double worst_work(const row *r, way which)
{
    double worst = 0;
    for (int k = 0; k < SEQUENCE_LENGTH; ++k)
        worst = fmax(worst, r->steps[which][k].flops / r->steps[which][k].planned);
    return worst;
}

static double worst_error(const row *r)
{
    double worst = 0;
    for (int k = 0; k < SEQUENCE_LENGTH; ++k) worst = fmax(worst, r->steps[OWN][k].error);
    return worst;
}

static void print_steps(const row *r)
{
    for (int w = 0; w < WAYS; ++w) {
        printf("  %s:\n%4s%9s%9s%11s%10s%9s%9s%10s\n", way_names[w], "", "plan", "factor", "operations",
               "/ planned", "delayed", "scalings", "error");
        for (int k = 0; k < SEQUENCE_LENGTH; ++k) {
            const step *s = &r->steps[w][k];
            printf("%4d", k);
            PRINT_COLUMNS("9.4f 9.4f 11.2e 10.2f 9.0f 9.0f 10.1e", s->plan, s->factor, s->flops,
                          s->flops / s->planned, s->delayed, s->rescalings, s->error);
            putchar('\n');
        }
    }
}

static void print_header(void)
{
    printf("%-20s%8s%9s%9s%9s%8s%7s%10s%8s%8s\n", "", "", "plan once", "always", "own", "own /", "new",
           "most work", "own", "error");
    printf("%-20s%8s%9s%9s%9s%8s%7s%10s%8s%8s\n", "sequence", "n", "seconds", "seconds", "seconds", "better",
           "plans", "once", "", "own");
}

static void print_row(const row *r)
{
    printf("%-20.20s%8" PRId64, r->matrix.name, r->matrix.n);
    PRINT_COLUMNS("9.4f 9.4f 9.4f 8.2f 7.0f 10.2f 8.2f 8.0e", total_time(r, NEVER), total_time(r, ALWAYS),
                  total_time(r, OWN), ratio_of(r), r->steps[OWN][SEQUENCE_LENGTH - 1].replans,
                  worst_work(r, NEVER), worst_work(r, OWN), worst_error(r));
    putchar('\n');
    fflush(stdout);
}

static void print_summary(const sequence_bench *t)
{
    double logs = 0, worst = 0;
    for (int k = 0; k < t->count; ++k) {
        logs += log(ratio_of(&t->rows[k]));
        worst = fmax(worst, ratio_of(&t->rows[k]));
    }
    printf("\nSaddle %s (commit %s), %" PRId64 " threads, best of %" PRId64
           " turns\nown / better: geometric mean %.2f, worst %.2f, of %d sequences of %d matrices\n",
           saddle_version(), saddle_commit(), argument_count(t->a, "threads"), argument_count(t->a, "repeat"),
           exp(logs / t->count), worst, t->count, SEQUENCE_LENGTH);
}

static void json_steps(json *j, const char *name, const step *steps)
{
    json_array(j, name);
    for (const step *s = steps; s < steps + SEQUENCE_LENGTH; ++s)
        JSON_OBJECT(j, NULL, true, J_NUMBER("plan", s->plan), J_NUMBER("factor", s->factor),
                    J_NUMBER("flops", s->flops), J_NUMBER("planned_flops", s->planned),
                    J_NUMBER("delayed", s->delayed), J_NUMBER("replans", s->replans),
                    J_NUMBER("rescalings", s->rescalings), J_NUMBER("backward_error", s->error));
    json_close(j);
}

static void json_sequences(json *j, const void *report)
{
    const sequence_bench *t = report;
    bench_json_head(j, "sequence");
    JSON_PUT(j, true, J_COUNT("repeat", argument_count(t->a, "repeat")),
             J_COUNT("threads", argument_count(t->a, "threads")));
    json_array(j, "rows");
    for (const row *r = t->rows; r < t->rows + t->count; ++r) {
        json_object(j, NULL);
        bench_json_matrix(j, &r->matrix);
        JSON_PUT(j, true, J_NUMBER("never", total_time(r, NEVER)), J_NUMBER("always", total_time(r, ALWAYS)),
                 J_NUMBER("own", total_time(r, OWN)), J_NUMBER("ratio", ratio_of(r)));
        json_object(j, "steps");
        for (int w = 0; w < WAYS; ++w) json_steps(j, way_names[w], r->steps[w]);
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

/* ---- running ---- */

/* A file may be one of $SADDLE_MATRICES; an exit status. */
static int open_matrix(const sequence_rules *rules, const saddle_hooks *hooks, bench_problem *p)
{
    char path[4096], message[SADDLE_MESSAGE_SIZE];
    const char *folder = getenv("SADDLE_MATRICES");
    if (strncmp(rules->operand, "lqr_", 4) != 0) {
        snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", rules->operand);
        return bench_problem_open(p, access(path, R_OK) == 0 ? path : rules->operand, hooks);
    }
    *p = (bench_problem){.hooks = *hooks, .matrix = {.group = "generated"}};
    snprintf(p->matrix.name, sizeof p->matrix.name, "%s", rules->operand);
    saddle_facts facts;
    saddle_status status = sequence_lqr(atoll(rules->operand + 4), hooks, &p->A, message);
    if (status == SADDLE_OK) status = saddle_inspect(&p->A, hooks, &facts, message);
    p->matrix.nnz = facts.nnz;
    return status == SADDLE_OK ? EXIT_DONE : fail(exit_status(status), "%s: %s", rules->operand, message);
}

static int bench_one(sequence_bench *t, const sequence_rules *rules, bool print)
{
    bench_problem p;
    sequence s;
    row *r = &t->rows[t->count];
    const uint64_t seed = (uint64_t)argument_count(t->a, "seed");
    const int opened = open_matrix(rules, &t->hooks, &p);
    if (opened != EXIT_DONE) return opened;
    r->matrix = p.matrix;
    snprintf(r->matrix.name, sizeof r->matrix.name, "%s", rules->name ? rules->name : p.matrix.name);
    saddle_status status = sequence_make(&p.A, rules, seed, &t->hooks, &s, t->message);
    r->matrix.n = s.A.rows;
    if (status == SADDLE_OK) status = measure_sequence(t, &s, r);
    sequence_free(&s);
    bench_problem_free(&p);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", rules->operand);
    if (status != SADDLE_OK) return fail(exit_status(status), "%s: %s", rules->operand, t->message);
    if (print && t->count == 0) print_header();
    if (print) print_row(r);
    if (print && argument_given(t->a, "steps")) print_steps(r);
    ++t->count;
    return EXIT_DONE;
}

/* The rules of an operand: those of a tracked sequence of this name, or bounds on all variables. */
static sequence_rules rules_for(const char *operand)
{
    for (int k = 0; k < TRACKED; ++k)
        if (strcmp(tracked[k].name, operand) == 0) return tracked[k];
    return (sequence_rules){.operand = operand, .last = 1, .share = 1, .mu = 1, .weight = 1};
}

static int bench_all(sequence_bench *t, bool print)
{
    const arguments *a = t->a;
    int status = EXIT_DONE;
    for (int k = 0; k < a->operand_count && status != EXIT_INTERRUPTED; ++k) {
        const sequence_rules rules = rules_for(a->operands[k]);
        const int one = bench_one(t, &rules, print);
        if (one != EXIT_DONE) status = one;
    }
    for (int k = 0; k < TRACKED && a->operand_count == 0 && status != EXIT_INTERRUPTED; ++k) {
        if (sequence_is_file(&tracked[k]) && !getenv("SADDLE_MATRICES")) continue;
        const int one = bench_one(t, &tracked[k], print);
        if (one != EXIT_DONE) status = one;
    }
    return status;
}

static int run_sequence(const arguments *a)
{
    const bool print = bench_prints(a);
    sequence_bench t = {.a = a};
    int status = bench_check_operands(a);
    if (status == EXIT_DONE) status = bench_check_files(a);
    if (status != EXIT_DONE) return status;
    t.rows = calloc((size_t)a->operand_count + TRACKED, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    t.hooks = progress_begin(a);
    status = bench_all(&t, print);
    progress_end();
    if (print && t.count > 0) print_summary(&t);
    status = bench_save(a, status, json_sequences, &t);
    free(t.rows);
    return status;
}

static const option sequence_options[] = {
    OPTION_COUNT("repeat", "N", 3, 1, 1000, "turns of each way; the best time of each matrix counts"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads; with one, seconds are those of the core"),
    OPTION_COUNT("seed", "N", 1, 0, INT64_MAX, "random seed of the sequences"),
    OPTION_FLAG("steps", 0, "print the figures of every matrix"),
    BENCH_JSON,
    OPTION_END,
};

const command command_sequence = {
    .name = "sequence",
    .operands = "[A.mtx[.gz]...]",
    .help =
        "the direct solver on sequences of interior-point systems, planned once, always, or as it decides",
    .about =
        "From each KKT matrix, 16 matrices of the same pattern, as an interior-point method makes them: the "
        "barrier terms on the diagonal spread over many decades. The time to plan and factor all of them "
        "with "
        "one plan, with a new plan for each, and as the solver decides (--replan of saddle solve); the ratio "
        "is that of its own way to the better of the other two. An operand is a matrix, the name of a "
        "tracked "
        "sequence, or a generated problem FAMILY_SIZE[:P] (saddle gen); by default all tracked sequences, "
        "those from files only if SADDLE_MATRICES names their folder.",
    .examples = "  saddle bench sequence --json sequence.json\n"
                "  saddle bench sequence \"boundary control\" --steps\n",
    .options = sequence_options,
    .library = "scaling|order|pairs|factorization|threshold|simplicial",
    .most = INT_MAX,
    .run = run_sequence,
};
