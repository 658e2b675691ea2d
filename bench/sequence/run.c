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
#include "cli/paths.h"
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
    {"ipm_40000:2", "sparse QP", 0, 1, 1, 1, 1, false},
    {"ipm_40000:2", "sparse QP, zeros", 0, 1, 1, 1, 1, true},
    {"stokes2d_60", "flow with obstacle", 0, 1, 0.3, 1, 1, false},
    {"pdeco2d_60", "elliptic, far start", 0, 0.667, 1, 1, 100, false},
    {"kkt/mm_CONT-100_mu1e-8.mtx.gz", "boundary control", 0, 1, 1, 1, 1, false},
    {"kkt/lp_greenbea_mu1e-8.mtx.gz", "LP greenbea", 0, 1, 1, 1, 1, false},
    {"kkt/lp_d6cube_mu1e-8.mtx.gz", "LP d6cube", 0, 1, 1, 1, 1, false},
    {"kkt/mip_seymour_mu1e-8.mtx.gz", "set covering", 0, 1, 1, 1, 1, false},
    {"kkt/mm_CVXQP2_L_mu1e-4.mtx.gz", "QP cvxqp2", 0, 1, 1, 1, 1, false},
    {"kkt/mm_STCQP2_mu1e-8.mtx.gz", "QP stcqp2", 0, 1, 1, 1, 1, false},
    {"kkt/dcopf_case3120sp_k_mu1e-8.mtx.gz", "power flow", 0, 1, 1, 1, 1, false},
    {"kkt/dcopf_case3120sp_k_mu1e-8.mtx.gz", "power flow, zeros", 0, 1, 1, 1, 1, true},
};
enum { TRACKED = sizeof tracked / sizeof tracked[0] };

typedef enum way { NEVER, ALWAYS, OWN, WAYS } way;

/* What one way makes of one matrix. */
typedef struct step {
    double plan, factor; /* seconds, the best */
    double flops, planned;
    double delayed, stale, error; /* backward error of a solve */
    double replans, rescalings;   /* since the beginning, and on the plan in use */
} step;

typedef struct row {
    bench_matrix matrix;
    step steps[WAYS][SEQUENCE_LENGTH];
    char error[SADDLE_MESSAGE_SIZE];
} row;

typedef struct bench {
    const arguments *a;
    saddle_hooks hooks;
    int count;
    row *rows;
    char message[SADDLE_MESSAGE_SIZE];
} bench;

/* ---- measuring ---- */

static void take_info(const saddle_info *info, step *to)
{
    to->flops = (double)info->factor_flops;
    to->planned = info->planned_flops;
    to->delayed = (double)info->delayed;
    to->stale = (double)info->stale;
    to->replans = (double)info->replans;
    to->rescalings = (double)info->rescalings;
}

/* One matrix: its times, and how well a right-hand side is solved for. */
static saddle_status measure_step(bench *t, sequence *s, saddle_solver *solver, bool plan, double *work,
                                  step *to)
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
    for (int64_t i = 0; i < n; ++i) work[i] = 1.0;
    saddle_multiply(&A, 1, work, n, work + n, n, 1, &t->hooks, t->message);
    if (saddle_solve(solver, 1, work + n, n, work, n, &info) != SADDLE_OK) to->error = INFINITY;
    if (isfinite(info.backward_error)) to->error = info.backward_error;
    take_info(&info, to);
    return SADDLE_OK;
}

static saddle_status measure_way(bench *t, sequence *s, way which, double *work, step *steps)
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
    }
    saddle_destroy(&solver);
    return status;
}

static saddle_status measure_sequence(bench *t, sequence *s, row *to)
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

static void print_steps(const row *r)
{
    for (int k = 0; k < SEQUENCE_LENGTH; ++k) {
        printf("  %2d", k);
        for (int w = 0; w < WAYS; ++w) {
            const step *s = &r->steps[w][k];
            PRINT_COLUMNS("10.4f 9.4f 8.2f 8.0f 8.0f", s->plan, s->factor, s->flops / s->planned, s->delayed,
                          w == OWN ? s->rescalings : s->stale);
        }
        PRINT_COLUMNS("10.2e 10.2e 9.1e", r->steps[NEVER][k].flops, r->steps[ALWAYS][k].flops,
                      r->steps[OWN][k].error);
        putchar('\n');
    }
}

static void print_row(const bench *t, const row *r)
{
    const double never = total_time(r, NEVER), always = total_time(r, ALWAYS), own = total_time(r, OWN);
    printf("%-20.20s%8" PRId64, r->matrix.name, r->matrix.n);
    PRINT_COLUMNS("9.4f 9.4f 9.4f 7.2f 7.0f", never, always, own, own / fmin(never, always),
                  r->steps[OWN][SEQUENCE_LENGTH - 1].replans);
    putchar('\n');
    if (argument_given(t->a, "steps")) print_steps(r);
    fflush(stdout);
}

/* ---- running ---- */

static int open_matrix(const sequence_rules *rules, const saddle_hooks *hooks, bench_problem *p, bool *found)
{
    char path[4096], message[SADDLE_MESSAGE_SIZE];
    const char *folder = getenv("SADDLE_MATRICES");
    *found = true;
    if (strncmp(rules->operand, "lqr_", 4) == 0) {
        *p = (bench_problem){.hooks = *hooks, .generated = false};
        const saddle_status status = sequence_lqr(atoll(rules->operand + 4), hooks, &p->A, message);
        return status == SADDLE_OK ? EXIT_DONE : fail(exit_status(status), "%s", message);
    }
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", rules->operand);
    return bench_problem_open(p, access(path, R_OK) == 0 ? path : rules->operand, hooks);
}

static int bench_one(bench *t, const sequence_rules *rules)
{
    bench_problem p;
    sequence s;
    row *r = &t->rows[t->count];
    bool found;
    const int opened = open_matrix(rules, &t->hooks, &p, &found);
    if (opened != EXIT_DONE) return opened;
    const bool file = strstr(rules->operand, ".mtx") != NULL;
    saddle_status status = sequence_make(&p.A, rules, file, &t->hooks, &s, t->message);
    if (status == SADDLE_OK) status = measure_sequence(t, &s, r);
    snprintf(r->matrix.name, sizeof r->matrix.name, "%s", rules->name ? rules->name : p.matrix.name);
    r->matrix.n = s.A.rows;
    if (status == SADDLE_OK) print_row(t, r);
    sequence_free(&s);
    bench_problem_free(&p);
    t->count++;
    return status == SADDLE_OK ? EXIT_DONE : fail(exit_status(status), "%s: %s", rules->operand, t->message);
}

static int run_sequence(const arguments *a)
{
    bench t = {.a = a};
    int status = EXIT_DONE;
    t.rows = calloc((size_t)a->operand_count + TRACKED, sizeof *t.rows);
    t.hooks = progress_begin(a);
    for (int k = 0; k < (a->operand_count ? a->operand_count : TRACKED); ++k) {
        sequence_rules own = {
            .operand = a->operand_count ? a->operands[k] : "", .last = 1, .share = 1, .mu = 1, .weight = 1};
        const sequence_rules *rules = a->operand_count ? &own : &tracked[k];
        for (int j = 0; j < TRACKED && a->operand_count; ++j)
            if (strcmp(tracked[j].name, own.operand) == 0) rules = &tracked[j];
        const int one = bench_one(&t, rules);
        if (one != EXIT_DONE) status = one;
    }
    progress_end();
    free(t.rows);
    return status;
}

static const option sequence_options[] = {
    OPTION_COUNT("repeat", "N", 3, 1, 1000, "turns of each way; the best time of each matrix counts"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads"),
    OPTION_FLAG("steps", 0, "print the figures of every matrix"),
    BENCH_JSON,
    OPTION_END,
};

const command command_sequence = {
    .name = "sequence",
    .operands = "[A.mtx[.gz]...]",
    .help = "refactoring on a kept plan, on a new plan each time, and as the solver decides",
    .about = "",
    .examples = "  saddle bench sequence --steps\n",
    .options = sequence_options,
    .library = "scaling|order|pairs|factorization|threshold",
    .most = INT_MAX,
    .run = run_sequence,
};
