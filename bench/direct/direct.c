/*
 * `saddle bench direct`: the direct solver beside its peers, MUMPS, CHOLMOD, PARDISO and QDLDL, in one run.
 *
 * Each problem is loaded once. Then Saddle and the peers take turns, --repeat of them: a turn is an
 * analysis and factorizations until 20 ms have passed, so that short ones are compared warm with warm, and
 * a noisy moment hits all. A peer is a child process (peer.h) with as many threads of BLAS as Saddle
 * has threads. Beside the times stand the accuracy of a solution before and after refinement, pivots and
 * inertia, and how much of a dgemm of one core in the same turns the factorization reaches.
 */
#include "bench/direct/direct.h"

#include "bench/direct/fronts.h"
#include "bench/direct/gpu.h"
#include "bench/direct/sparse.h"
#include "bench/peers/timing.h"
#include "bench/problem.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COLUMNS = 64,
    WANTED = (1 << PEER_LAPACK) - 1,
    ALL_PEERS = WANTED | ((1 << PEERS) - (1 << PEER_MUMPS_POSDEF))
};

/* The generated problems whose figures are compared from version to version. */
static const struct {
    const char *name, *operand;
} anchors[] = {
    {"shlap3d_30", "lap3d_30:1.5"}, {"shlap3d_45", "lap3d_45:2.5"}, {"shlap2d_700", "lap2d_700:1.5"},
    {"kktz_150", "kktz_150"},       {"kktz_350", "kktz_350"},       {"stokes2d_300", "stokes2d_300:0.01"},
    {"stokes3d_20", "stokes3d_20"}, {"pdeco3d_20", "pdeco3d_20"},   {"pdeco2d_200", "pdeco2d_200"},
    {"ipm_60000", "ipm_60000:4"},   {"darcy3d_24", "darcy3d_24"},   {"darcy2d_250", "darcy2d_250"},
    {"lap3d_50", "lap3d_50"},       {"lap2d_700", "lap2d_700"},     {"elas3d_24", "elas3d_24"},
};
enum { ANCHORS = sizeof anchors / sizeof anchors[0] };

typedef struct direct_bench {
    direct_report report;
    saddle_hooks hooks;
    bench_problem problem;
    char path[4096]; /* of the matrix for the peers */
    bool temporary;
    peer_process peers[PEERS];
    char message[SADDLE_MESSAGE_SIZE];
} direct_bench;

/* A direct solver with these options beside the caller's; NULL, with t->message, where there is none. */
static saddle_solver *make_solver(direct_bench *t, const char *words, int threads)
{
    saddle_options o = t->report.a->library;
    saddle_solver *solver = NULL;
    o.threads = threads;
    bench_set(&o, "method=direct device=cpu");
    bench_set(&o, words);
    saddle_create(&solver, &o, &t->hooks, t->message);
    return solver;
}

/* Calls that are timed: a factorization, or one with a refined solve. */
typedef struct direct_call {
    const saddle_matrix *A;
    saddle_solver *solver;
    const double *b;
    double *x;
} direct_call;

static bool factor_once(void *self)
{
    const direct_call *c = self;
    return saddle_factor(c->solver, c->A) == SADDLE_OK;
}

/* Whether the accuracy asked for was reached does not matter here. */
static bool factor_and_solve(void *self)
{
    const direct_call *c = self;
    if (!factor_once(self)) return false;
    saddle_solve(c->solver, 1, c->b, c->A->rows, c->x, c->A->rows, NULL);
    return true;
}

typedef struct once_call {
    direct_bench *t;
    saddle_status status;
} once_call;

/* A solver is made, analyses, factors and is freed, where no other factorization is expected. */
static bool analyse_and_factor(void *self)
{
    once_call *c = self;
    direct_bench *t = c->t;
    saddle_solver *solver = make_solver(t, "krylov=none factorizations=1", t->report.threads);
    c->status = solver ? saddle_factor(solver, &t->problem.A) : SADDLE_BAD_OPTION;
    if (solver && c->status != SADDLE_OK)
        snprintf(t->message, sizeof t->message, "%s", saddle_message(solver));
    saddle_destroy(&solver);
    return c->status == SADDLE_OK;
}

/* An analysis and warm factorizations: the better times. The first factorization of a pattern does what
 * those that follow need not do; it counts in analyse_and_factor. The solver is left as it is for what
 * follows. */
static saddle_status take_turn(direct_bench *t, saddle_solver *solver, double *analysis, double *factor)
{
    direct_call call = {.A = &t->problem.A, .solver = solver};
    const double began = seconds();
    saddle_status status = saddle_analyse(solver, &t->problem.A);
    *analysis = fmin(*analysis, seconds() - began);
    if (status == SADDLE_OK) status = saddle_factor(solver, &t->problem.A);
    if (status == SADDLE_OK && !timing_calls(factor_once, &call, factor))
        status = saddle_factor(solver, &t->problem.A); /* why it failed */
    if (status != SADDLE_OK) snprintf(t->message, sizeof t->message, "%s", saddle_message(solver));
    return status;
}

/* A turn of a solver that is made for it alone. */
static saddle_status turn_alone(direct_bench *t, const char *words, int threads, double *factor)
{
    double analysis = INFINITY;
    saddle_solver *solver = make_solver(t, words, threads);
    if (!solver) return SADDLE_BAD_OPTION;
    const saddle_status status = take_turn(t, solver, &analysis, factor);
    saddle_destroy(&solver);
    return status;
}

static double known(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

static void take_info(const saddle_solver *solver, direct_row *row)
{
    saddle_info info = saddle_info_default();
    if (saddle_query(solver, &info) != SADDLE_OK) return;
    row->factor_nnz = known(info.factor_nnz);
    row->flops = known(info.factor_flops);
    row->peak_bytes = known(info.peak_bytes);
    row->delayed = known(info.delayed);
    row->two_by_two = known(info.two_by_two);
    row->positive = known(info.inertia_positive);
    row->negative = known(info.inertia_negative);
    row->zero = known(info.inertia_zero);
    row->certain = known(info.inertia_certain);
    row->largest_front = known(info.largest_front);
}

/* Seconds of a solve with this many columns, the better of two; NaN where it fails. *reached, if it is asked
 * for: whether it says that the accuracy was reached, which does not matter otherwise. */
static double time_solve(const saddle_solver *solver, int64_t n, int64_t columns, const double *b, double *x,
                         double *reached)
{
    double best = INFINITY;
    for (int k = 0; k < 2; ++k) {
        const double began = seconds();
        const saddle_status status = saddle_solve(solver, columns, b, n, x, n, NULL);
        if (status != SADDLE_OK && status != SADDLE_NOT_CONVERGED) return NAN;
        if (reached) *reached = status == SADDLE_OK;
        best = fmin(best, seconds() - began);
    }
    return best;
}

static void measure_errors(direct_bench *t, const double *b, const double *x, double *backward,
                           double *componentwise)
{
    saddle_errors e = {NAN, NAN, NAN};
    if (saddle_measure(&t->problem.A, b, x, NULL, 0, &t->hooks, &e, NULL) != SADDLE_OK) return;
    *backward = e.backward;
    *componentwise = e.componentwise;
}

/* Refinement is an option of a solver: one more is made for it. */
static void measure_refined(direct_bench *t, const double *b, double *x, direct_row *row)
{
    const int64_t n = t->problem.A.rows;
    saddle_solver *solver = make_solver(t, "krylov=refine", t->report.threads);
    if (!solver) return;
    if (saddle_analyse(solver, &t->problem.A) == SADDLE_OK &&
        saddle_factor(solver, &t->problem.A) == SADDLE_OK)
        row->solve_refined = time_solve(solver, n, 1, b, x, &row->reached);
    if (isfinite(row->solve_refined))
        measure_errors(t, b, x, &row->backward_error_refined, &row->componentwise_error_refined);
    saddle_destroy(&solver);
}

/* What the certificate of the inertia costs: two solvers take turns. */
static void measure_certificate(direct_bench *t, const double *b, double *x, direct_row *row)
{
    saddle_solver *solvers[2] = {NULL, NULL};
    for (int with = 0; with < 2; ++with) {
        solvers[with] = make_solver(t, with ? "certify=on" : "certify=off", t->report.threads);
        if (!solvers[with]) continue;
        factor_and_solve(&(direct_call){&t->problem.A, solvers[with], b, x}); /* what only the first does */
    }
    for (int64_t turn = 0; turn < argument_count(t->report.a, "repeat") && solvers[0] && solvers[1]; ++turn) {
        for (int with = 0; with < 2; ++with) {
            direct_call call = {&t->problem.A, solvers[with], b, x};
            timing_calls(factor_and_solve, &call, with ? &row->certified : &row->uncertified);
        }
    }
    for (int with = 0; with < 2; ++with) saddle_destroy(&solvers[with]);
}

static void measure_solves(direct_bench *t, const saddle_solver *solver, direct_row *row)
{
    const int64_t n = t->problem.A.rows;
    random_stream stream = random_begin(1);
    double *b = malloc(((size_t)n * COLUMNS + 1) * sizeof *b),
           *x = malloc(((size_t)n * COLUMNS + 1) * sizeof *x);
    if (b && x) {
        for (int64_t i = 0; i < n; ++i) x[i] = 1.0;
        saddle_multiply(&t->problem.A, 1, x, n, b, n, 0, &t->hooks, t->message);
        row->solve = time_solve(solver, n, 1, b, x, NULL);
        measure_errors(t, b, x, &row->backward_error, &row->componentwise_error);
        measure_refined(t, b, x, row);
        measure_certificate(t, b, x, row);
        for (int64_t i = 0; i < n * COLUMNS; ++i) b[i] = random_between(&stream, -1.0, 1.0);
        row->solve_64 = time_solve(solver, n, COLUMNS, b, x, NULL);
        measure_errors(t, b, x, &row->backward_error_random, &row->componentwise_error_random);
    }
    free(b);
    free(x);
}

/* Saddle's own turn, with a new solver that is left for what follows, so that its memory is that of one;
 * beside it the same with one thread, and with each factorization where the matrix is positive definite. */
static saddle_status saddle_turn(direct_bench *t, saddle_solver **solver, direct_row *row)
{
    saddle_destroy(solver);
    *solver = make_solver(t, "krylov=none", t->report.threads);
    if (!*solver) return SADDLE_BAD_OPTION;
    saddle_status status = take_turn(t, *solver, &row->analysis, &row->factor);
    if (status != SADDLE_OK) return status;
    take_info(*solver, row);
    once_call once = {t, SADDLE_OK};
    if (!timing_calls(analyse_and_factor, &once, &row->once)) return once.status;
    if (t->report.threads > 1) status = turn_alone(t, "krylov=none", 1, &row->factor_one_thread);
    if (row->negative == 0.0 && row->zero == 0.0) {
        if (status == SADDLE_OK)
            status = turn_alone(t, "krylov=none factorization=ldlt", t->report.threads, &row->factor_ldlt);
        if (status == SADDLE_OK)
            status =
                turn_alone(t, "krylov=none factorization=cholesky", t->report.threads, &row->factor_cholesky);
    }
    return status;
}

/* All turns. Where Saddle fails the peers go on. */
static saddle_status measure(direct_bench *t, direct_row *row)
{
    saddle_solver *solver = NULL;
    saddle_status status = SADDLE_OK;
    for (int k = 0; k < PEERS; ++k)
        peer_start(&t->peers[k], k, t->report.programs, t->path, t->report.threads, t->report.a);
    for (int64_t turn = 0; turn < argument_count(t->report.a, "repeat") && !progress_interrupted(); ++turn) {
        row->dgemm = fmax(row->dgemm, gemm_rate());
        if (status == SADDLE_OK) status = saddle_turn(t, &solver, row);
        for (int k = 0; k < PEERS; ++k) peer_turn(&t->peers[k]);
    }
    if (status != SADDLE_OK) snprintf(row->error, sizeof row->error, "%s", t->message);
    if (status == SADDLE_OK) measure_solves(t, solver, row);
    for (int k = 0; k < PEERS; ++k) peer_end(&t->peers[k], &row->peers[k]);
    saddle_destroy(&solver);
    return status;
}

/* What was made is written for the peers, which read files; an exit status. */
static int write_for_peers(direct_bench *t, const char *operand)
{
    bool wanted = false;
    for (int k = 0; k < PEERS; ++k) wanted = wanted || t->report.programs[k][0];
    return wanted ? peers_matrix(&t->problem, operand, t->path, sizeof t->path, &t->temporary) : EXIT_DONE;
}

static void begin_row(direct_row *row, const bench_matrix *matrix, const char *name)
{
    *row = (direct_row){.matrix = *matrix, .dgemm = NAN};
    snprintf(row->matrix.name, sizeof row->matrix.name, "%s", name);
#define ROW(name) row->name = NAN;
    DIRECT_NUMBERS(ROW)
#undef ROW
    for (int k = 0; k < PEERS; ++k) row->peers[k] = peer_nothing();
}

/* What a peer told, or nothing where that was no answer. */
static peer_result answer_of(const direct_row *row, int which)
{
    return peer_answered(&row->peers[which]) ? row->peers[which] : peer_nothing();
}

static double total_ratio(const direct_row *row, int which)
{
    const peer_result told = answer_of(row, which);
    return row->once / (told.analysis + told.factor);
}

/* Where Saddle failed in the middle, the times that it had are none. */
static void end_row(direct_row *row)
{
    const peer_result *mumps = &row->peers[PEER_MUMPS];
    double *const times[] = {&row->analysis,          &row->factor,      &row->once,
                             &row->factor_one_thread, &row->factor_ldlt, &row->factor_cholesky};
    for (int k = 0; k < 6 && row->error[0]; ++k) *times[k] = NAN;
    row->gigaflops = 1e-9 * row->flops / row->factor;
    row->ratios[FACTOR_TO_MUMPS] = row->factor / mumps->factor;
    row->ratios[TOTAL_TO_MUMPS] = row->once / (mumps->analysis + mumps->factor);
    row->ratios[MEMORY_TO_MUMPS] = row->peak_bytes / mumps->peak_bytes;
    row->ratios[FACTOR_TO_PARDISO] = row->factor / answer_of(row, PEER_PARDISO).factor;
    row->ratios[TOTAL_TO_PARDISO] = total_ratio(row, PEER_PARDISO);
    row->ratios[FACTOR_TO_MATCHING] = row->factor / answer_of(row, PEER_MATCHING).factor;
    row->ratios[TOTAL_TO_MATCHING] = total_ratio(row, PEER_MATCHING);
    row->ratios[FACTOR_TO_QDLDL] = row->factor / answer_of(row, PEER_QDLDL).factor;
    row->ratios[CHOLESKY_TO_CHOLMOD] = row->factor_cholesky / row->peers[PEER_CHOLMOD].factor;
    row->ratios[LDLT_TO_CHOLMOD] = row->factor_ldlt / row->peers[PEER_CHOLMOD_LDLT].factor;
    row->ratios[PIVOTING] = row->factor_ldlt / row->factor_cholesky;
    row->ratios[COLUMN_OF_64] = row->solve_64 / 64.0 / row->solve;
    row->ratios[SPEED_UP] = row->factor_one_thread / row->factor;
    row->ratios[OF_DGEMM] = row->flops / row->factor / row->dgemm;
    row->ratios[CERTIFICATE] = row->certified / row->uncertified;
}

static void tell_failures(const direct_row *row, bool verbose)
{
    if (row->error[0]) fail(EXIT_DONE, "%s: %s", row->matrix.name, row->error);
    for (int k = 0; k < PEERS; ++k) {
        /* that a matrix is indefinite, or not quasidefinite */
        const bool expected = (k == PEER_CHOLMOD || k == PEER_CHOLMOD_LDLT || k == PEER_MUMPS_POSDEF ||
                               k == PEER_QDLDL || k == PEER_SUPERLU_SYMMETRIC) &&
                              !verbose;
        if (row->peers[k].error[0] && !expected)
            fail(EXIT_DONE, "%s: %s: %s", row->matrix.name, peer_kinds[k].name, row->peers[k].error);
    }
}

/* The problem that is loaded; an exit status. */
static int measure_problem(direct_bench *t, const char *operand, direct_row *row)
{
    saddle_status status = SADDLE_OK;
    const int prepared = write_for_peers(t, operand);
    if (prepared == EXIT_DONE) {
        status = measure(t, row);
        end_row(row);
    }
    if (t->temporary) unlink(t->path);
    t->temporary = false;
    return prepared == EXIT_DONE && status != SADDLE_OK ? exit_status(status) : prepared;
}

/* One problem, by its operand and the name that it has in the report. */
static int bench_one(direct_bench *t, const char *operand, const char *name, bool print)
{
    direct_row *row = &t->report.rows[t->report.count];
    const int opened = bench_problem_open(&t->problem, operand, &t->hooks);
    if (opened != EXIT_DONE) return opened;
    begin_row(row, &t->problem.matrix, name);
    const int status = measure_problem(t, operand, row);
    bench_problem_free(&t->problem);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    if (status != EXIT_DONE && !row->error[0]) return status; /* nothing was measured */
    if (t->report.count++ == 0 && print) print_direct_header();
    tell_failures(row, argument_given(t->report.a, "verbose"));
    if (print) print_direct_row(row);
    return status;
}

static int bench_all(direct_bench *t, bool print)
{
    const arguments *a = t->report.a;
    int status = EXIT_DONE;
    char name[64];
    const int made = argument_given(a, "anchors") ? ANCHORS : 0;
    for (int k = 0; k < a->operand_count + made && status != EXIT_INTERRUPTED; ++k) {
        const int anchor = k - a->operand_count;
        matrix_name(anchor < 0 ? a->operands[k] : anchors[anchor].name, name, sizeof name);
        const int one = bench_one(t, anchor < 0 ? a->operands[k] : anchors[anchor].operand, name, print);
        if (one != EXIT_DONE) status = one;
    }
    return status;
}

/* What is for the other device would do nothing. */
static int check_device(const arguments *a)
{
    static const char *const others[][2] = {{"delta", "threads"}, {"arrays", "least"}};
    const bool gpu = a->library.device == SADDLE_DEVICE_CUDA;
    const int part = argument_choice(a, "part");
    if (a->library.device == SADDLE_DEVICE_REFERENCE) return usage_error(a, "--device is cpu or cuda here");
    const bool cpu_part = part == PART_SPARSE || part == PART_FRONTS;
    if (part != PART_ALL && cpu_part == gpu)
        return usage_error(a, gpu ? "that part is for the CPU" : "that part needs --device cuda");
    for (int k = 0; k < 2; ++k)
        if (argument_given(a, others[!gpu][k]))
            return usage_error(a, "--%s is for --device %s", others[!gpu][k], gpu ? "cpu" : "cuda");
    if (argument_given(a, "all-peers") && (gpu || part == PART_SPARSE))
        return usage_error(a, "--all-peers is for --device cpu, and not for --part sparse");
    return EXIT_DONE;
}

static int run_direct(const arguments *a)
{
    const bool print = bench_prints(a);
    direct_bench t = {.report = {.a = a, .threads = (int)argument_count(a, "threads")}};
    int status = bench_check_operands(a);
    if (status == EXIT_DONE) status = bench_check_files(a);
    if (status == EXIT_DONE) status = check_device(a);
    if (status == EXIT_DONE && a->library.device == SADDLE_DEVICE_CUDA) return gpu_run(a);
    if (status == EXIT_DONE && argument_choice(a, "part") == PART_SPARSE) return sparse_run(a);
    if (status == EXIT_DONE && argument_choice(a, "part") == PART_FRONTS) return fronts_run(a);
    if (status == EXIT_DONE && a->operand_count == 0 && !argument_given(a, "anchors"))
        status = usage_error(a, "no matrix is given");
    if (status != EXIT_DONE) return status;
    t.report.rows = calloc((size_t)a->operand_count + ANCHORS, sizeof *t.report.rows);
    if (!t.report.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    const unsigned wanted = argument_given(a, "all-peers") ? ALL_PEERS : WANTED;
    peers_find(argument_text(a, "peers"), wanted, t.report.programs);
    t.hooks = progress_begin(a);
    status = bench_all(&t, print);
    progress_end();
    if (print && t.report.count > 0) {
        print_direct_pivots(&t.report);
        print_direct_peers(&t.report);
        print_direct_summary(&t.report);
        peers_tell_missing(argument_text(a, "peers"), wanted, t.report.programs);
    }
    status = bench_save(a, status, json_direct, &t.report);
    free(t.report.rows);
    return status;
}

static const option direct_options[] = {
    OPTION_CHOICE(
        "part", "all|sparse|factor|verified|pivoting|profile|presolve|auto|fronts",
        "sparse: very sparse quasidefinite systems, compared with QDLDL; without matrices those of "
        "optimal control, predictive control and power grids (these in SADDLE_MATRICES). fronts: sizes of "
        "fronts, and contributions of children to their parents' entries, without numbers. The others with "
        "--device cuda: times beside cuDSS; refined and certified solves; LDL' beside LL'; the split of the "
        "time and pivots by tiles; solves with inverted blocks; device auto below 1 Gflop"),
    OPTION_CHOICE(
        "arrays", "auto|host",
        "cuda: where values, right-hand sides and solutions are; auto is on the GPU if that can be"),
    OPTION_REAL("least", "GFLOP", 0.1, 0.0, 1e9, "cuda: files whose factorization takes less are left out"),
    OPTION_REAL("delta", "D", 1e-8, 0.0, 1e100,
                "sparse: what zeros of the diagonal are replaced with, negative; QDLDL needs it"),
    OPTION_COUNT("repeat", "N", 5, 1, 1000, "turns of each; the best counts"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads of Saddle and of the peers' BLAS"),
    OPTION_FLAG("anchors", 0,
                "also the generated problems that are tracked from version to version, 15 or, with "
                "--device cuda, 12"),
    OPTION_TEXT("peers", "DIR|none", NULL, "folder of the drivers; by default next to saddle"),
    OPTION_FLAG(
        "all-peers", 0,
        "also MUMPS by its settings for positive definite and for augmented systems, SuperLU (SciPy), "
        "and SSIDS if its driver was built"),
    OPTION_REAL("limit", "SECONDS", 120.0, 0.1, 1e6, "time limit of a peer for one matrix"),
    BENCH_JSON,
    OPTION_END,
};

const command command_direct = {
    .name = "direct",
    .operands = "[A.mtx[.gz]...]",
    .help = "the direct solver, compared with MUMPS, CHOLMOD, PARDISO and QDLDL",
    .about =
        "For each matrix: the analysis and the factorization of the direct solver, its speed relative "
        "to dgemm on one core, pivots, inertia, backward error before and after refinement, and memory, "
        "compared with MUMPS, CHOLMOD, PARDISO and QDLDL if their drivers were built (a dash marks what "
        "is missing). "
        "Then the geometric means of the ratios in each folder, over the matrices that take MUMPS more "
        "than 2 ms. Drivers are built if the peers are found, and are not installed. An operand such as "
        "lap3d_30:1.5, FAMILY_SIZE[:P], that is not a file names a generated problem (saddle gen).\n\n"
        "With --device cuda: factorizations with new values and solves on a GPU, compared with cuDSS and "
        "with "
        "the GPU's dgemm, and what --part names. An operand may be a folder of matrices; without one the 12 "
        "problems of --anchors are taken.",
    .examples = "  saddle bench direct matrices/kkt/*.mtx.gz lap3d_30:1.5 --json direct.json\n"
                "  saddle bench direct --anchors --threads 2\n"
                "  saddle bench direct --part sparse\n"
                "  saddle bench direct --device cuda --part factor lap3d_60:1.5 matrices/kkt\n",
    .options = direct_options,
    .library = "scaling|order|pairs|factorization|threshold|device|device_index",
    .most = INT_MAX,
    .run = run_direct,
};
