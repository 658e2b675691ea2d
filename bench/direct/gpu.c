/*
 * `saddle bench direct --device cuda`: the direct solver on a GPU beside NVIDIA's cuDSS, in one run.
 *
 *   factor     a factorization with new values and solves with 1 and 64 right-hand sides, neither refined,
 * beside the same of cuDSS; memory, errors, inertia; the share of the GPU's dgemm, measured at the start
 *   verified   what a caller gets who asks for nothing else: refined, measured, the inertia certified
 *   pivoting   LDL' beside Cholesky, of positive definite matrices: Table 4 of the paper on SSIDS
 *   profile    how the time of a factorization is split (Table 5), and pivots accepted by tiles (Figure 8)
 *   presolve   solves with and without inverted diagonal blocks, where the library has them: Figures 9 and 10
 *   auto       below 1 Gflop: what device auto takes beside the CPU and the GPU, when it has moved or not,
 * and of a single use
 *
 * Values, right-hand sides and solutions are in the GPU's memory where CUDA's runtime is found (--arrays).
 * Every part has a solver of its own, and analyses.
 */
#include "bench/direct/gpu.h"

#include "bench/direct/gpu_memory.h"
#include "bench/operands.h"
#include "bench/peers/timing.h"
#include "cli/memory.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 64, SETTLE_MOST = 600, CUDSS = 1 << PEER_CUDSS | 1 << PEER_CUDSS_MATCHING };
#define SMALL_FLOPS 1e9 /* up to which --part auto looks */
#define SETTLE_SECONDS                                                                                       \
    4.0 /* or SETTLE_MOST factorizations, in which device auto is to have moved, if it does */

const char *const gpu_presolves[GPU_PRESOLVES] = {"off", "band", "whole"};

/* The generated problems whose figures are compared from version to version. */
static const char *const tracked[] = {"lap3d_40:1.5", "lap3d_60:1.5", "lap3d_90:1.5", "lap3d_120:1.5",
                                      "elas3d_30",    "stokes3d_30",  "pdeco3d_28",   "darcy3d_40",
                                      "helm2d_700",   "stokes2d_400", "kktz_400",     "ipm_200000"};
enum { TRACKED = sizeof tracked / sizeof tracked[0] };

typedef struct gpu_bench {
    gpu_report report;
    saddle_hooks hooks;
    bench_problem problem;
    child card;
    saddle_solver *opener; /* keeps the GPU open, so that this is in no time and no memory */
    bool small;            /* the problem at hand is too small for it */
    char path[4096];
    bool temporary;
    char message[SADDLE_MESSAGE_SIZE];
} gpu_bench;

/* ---- the card ---- */

/* Its driver measures what it can do, and then answers with its free memory. */
static void open_card(gpu_bench *t)
{
    char path[4096], line[512];
    t->report.dgemm = t->report.bandwidth = NAN;
    if (!bench_driver("peer-card", argument_text(t->report.a, "peers"), path, sizeof path)) return;
    const char *const argv[] = {path, NULL};
    if (!child_start(&t->card, argv, argument_real(t->report.a, "limit"), true)) return;
    if (child_line(&t->card, line, sizeof line) != CHILD_LINE ||
        !peer_told_text(line, "card", t->report.card, sizeof t->report.card)) {
        child_end(&t->card, true);
        return;
    }
    t->report.dgemm = peer_told_number(line, "dgemm");
    t->report.bandwidth = peer_told_number(line, "bandwidth");
}

static double free_memory(gpu_bench *t)
{
    char line[64];
    if (t->card.process <= 0 || !child_tell(&t->card, "free\n") ||
        child_line(&t->card, line, sizeof line) != CHILD_LINE)
        return NAN;
    return strtod(line, NULL);
}

/* ---- a solver with the arrays that it works on ---- */

typedef struct gpu_work {
    saddle_solver *solver;
    const saddle_matrix *A;
    bool there;
    int64_t columns;
    const double *values, *b; /* where the work is: on the GPU or here */
    double *x;
    double *here_b, *here_x, *put[3];
} gpu_work;

static void close_work(gpu_work *w)
{
    saddle_destroy(&w->solver);
    for (int k = 0; k < 3; ++k) gpu_memory_free(w->put[k]);
    free(w->here_b);
    free(w->here_x);
    *w = (gpu_work){0};
}

/* A direct solver with these options beside the caller's, and its analysis; the first factorization does what
 * those that follow need not do. False, with t->message, where that fails, and where the matrix is too small.
 */
static bool open_work(gpu_bench *t, const char *words, gpu_work *w, double *analysis)
{
    saddle_options o = t->report.a->library;
    saddle_info info = saddle_info_default();
    *w = (gpu_work){.A = &t->problem.A};
    bench_set(&o, "method=direct device=cuda");
    bench_set(&o, words);
    if (saddle_create(&w->solver, &o, &t->hooks, t->message) != SADDLE_OK) return false;
    const double began = timing_now();
    saddle_status status = saddle_analyse(w->solver, w->A);
    *analysis = timing_now() - began;
    if (status == SADDLE_OK) status = saddle_query(w->solver, &info);
    const double least = t->problem.generated ? 0.0 : 1e9 * argument_real(t->report.a, "least");
    t->small = status == SADDLE_OK && info.planned_flops < least;
    if (status == SADDLE_OK && !t->small) status = saddle_factor(w->solver, w->A);
    if (status != SADDLE_OK) snprintf(t->message, sizeof t->message, "%s", saddle_message(w->solver));
    if (status != SADDLE_OK || t->small) close_work(w);
    return w->solver != NULL;
}

/* Right-hand sides: A times ones, or so many random ones; and everything goes where it is wanted. */
static bool place(gpu_bench *t, gpu_work *w, int64_t columns)
{
    const int64_t n = w->A->rows, count = n * columns;
    random_stream stream = random_begin(1);
    free(w->here_b);
    free(w->here_x);
    for (int k = 0; k < 3; ++k) gpu_memory_free(w->put[k]);
    memset(w->put, 0, sizeof w->put);
    w->columns = columns;
    w->here_b = malloc(((size_t)count + 1) * sizeof *w->here_b);
    w->here_x = malloc(((size_t)count + 1) * sizeof *w->here_x);
    if (!w->here_b || !w->here_x) return false;
    for (int64_t i = 0; i < count; ++i) w->here_x[i] = 1.0;
    for (int64_t i = 0; i < count; ++i) w->here_b[i] = random_between(&stream, -1.0, 1.0);
    if (columns == 1) saddle_multiply(w->A, 1, w->here_x, n, w->here_b, n, 0, &t->hooks, t->message);
    w->values = w->A->values;
    w->b = w->here_b;
    w->x = w->here_x;
    w->there = t->report.there;
    if (!w->there) return true;
    w->values = w->put[0] = gpu_memory_put(w->A->values, w->A->entries);
    w->b = w->put[1] = gpu_memory_put(w->here_b, count);
    w->x = w->put[2] = gpu_memory_put(NULL, count);
    return w->put[0] && w->put[1] && w->put[2];
}

static bool factor_again(void *self)
{
    const gpu_work *w = self;
    return saddle_factor_values(w->solver, w->A->type, w->values) == SADDLE_OK;
}

/* Whether the accuracy asked for was reached does not matter here. */
static bool solve_again(void *self)
{
    const gpu_work *w = self;
    const int64_t n = w->A->rows;
    const saddle_status status = saddle_solve(w->solver, w->columns, w->b, n, w->x, n, NULL);
    return status == SADDLE_OK || status == SADDLE_NOT_CONVERGED;
}

static bool factor_and_solve(void *self)
{
    return factor_again(self) && solve_again(self);
}

/* The best time of a call over all turns; false, with t->message, where one fails. */
static bool time_calls(gpu_bench *t, bool (*call)(void *self), gpu_work *w, double *best)
{
    for (int64_t turn = 0; turn < argument_count(t->report.a, "repeat"); ++turn) {
        if (progress_interrupted()) return false;
        if (timing_calls(call, w, best)) continue;
        snprintf(t->message, sizeof t->message, "%s", saddle_message(w->solver));
        return false;
    }
    return true;
}

/* Errors of the first column of x. */
static saddle_errors errors_of(const gpu_bench *t, gpu_work *w)
{
    saddle_errors e = {NAN, NAN, NAN};
    if (w->there && !gpu_memory_get(w->here_x, w->x, w->A->rows)) return e;
    if (saddle_measure(w->A, w->here_b, w->here_x, NULL, 0, &t->hooks, &e, NULL) != SADDLE_OK)
        e = (saddle_errors){NAN, NAN, NAN};
    return e;
}

static double known(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

/* ---- the parts: each returns false, with t->message, where it fails ---- */

static void take_info(const gpu_work *w, gpu_row *row)
{
    saddle_info info = saddle_info_default();
    if (saddle_query(w->solver, &info) != SADDLE_OK) return;
    row->factor_nnz = known(info.factor_nnz);
    row->flops = known(info.factor_flops);
    row->factor_bytes = known(info.factor_bytes);
    row->waits = known(info.waits);
    row->delayed = known(info.delayed);
    row->two_by_two = known(info.two_by_two);
    row->negative = known(info.inertia_negative);
    row->zero = known(info.inertia_zero);
    row->fronts = known(info.fronts);
    row->levels = known(info.levels);
    row->critical_flops = info.critical_flops;
}

static bool measure_factor(gpu_bench *t, gpu_row *row)
{
    gpu_work w;
    const double before = free_memory(t);
    bool good = open_work(t, "krylov=none verify=off certify=off", &w, &row->analysis) && place(t, &w, 1) &&
                time_calls(t, factor_again, &w, &row->factor) && time_calls(t, solve_again, &w, &row->solve);
    if (good) {
        const double own = (double)w.A->entries + 2.0 * (double)w.A->rows;
        row->backward_error = errors_of(t, &w).backward;
        row->device_bytes = before - free_memory(t) - (w.there ? sizeof(double) * own : 0.0);
        take_info(&w, row);
    }
    good = good && place(t, &w, COLUMNS) && time_calls(t, solve_again, &w, &row->solve_64);
    if (good) row->backward_error_random = errors_of(t, &w).backward;
    close_work(&w);
    return good;
}

static void measure_peers(gpu_bench *t, gpu_row *row)
{
    peer_process peers[2];
    for (int k = 0; k < 2; ++k)
        peer_start(&peers[k], PEER_CUDSS + k, t->report.programs, t->path, 1, t->report.a);
    for (int64_t turn = 0; turn < argument_count(t->report.a, "repeat") && !progress_interrupted(); ++turn)
        for (int k = 0; k < 2; ++k) peer_turn(&peers[k]);
    peer_end(&peers[0], &row->cudss);
    peer_end(&peers[1], &row->matching);
}

static bool measure_verified(gpu_bench *t, gpu_row *row)
{
    gpu_work w;
    double analysis;
    saddle_info info = saddle_info_default();
    bool good = open_work(t, "", &w, &analysis) && place(t, &w, 1) && factor_and_solve(&w) &&
                time_calls(t, solve_again, &w, &row->verified);
    if (good && saddle_query(w.solver, &info) == SADDLE_OK) {
        const saddle_errors e = errors_of(t, &w);
        row->certain = info.inertia_certain;
        row->certain_negative = known(info.inertia_negative);
        row->backward_error_verified = e.backward;
        row->componentwise_error_verified = e.componentwise;
    }
    close_work(&w);
    return good;
}

static bool time_factor(gpu_bench *t, const char *words, double *factor)
{
    gpu_work w;
    double analysis;
    const bool good =
        open_work(t, words, &w, &analysis) && place(t, &w, 1) && time_calls(t, factor_again, &w, factor);
    close_work(&w);
    return good;
}

/* Of a matrix that is not positive definite there is nothing to compare. */
static bool measure_pivoting(gpu_bench *t, gpu_row *row)
{
    gpu_work w;
    double analysis;
    if (!open_work(t, "krylov=none verify=off certify=off factorization=ldlt", &w, &analysis)) return false;
    take_info(&w, row);
    close_work(&w);
    if (row->negative != 0.0 || row->zero != 0.0) return true;
    return time_factor(t, "krylov=none verify=off certify=off factorization=ldlt", &row->factor_ldlt) &&
           time_factor(t, "krylov=none verify=off certify=off factorization=cholesky", &row->factor_cholesky);
}

static bool measure_profile(gpu_bench *t, gpu_row *row)
{
    gpu_work w;
    double analysis;
    saddle_info info = saddle_info_default();
    const bool good = open_work(t, "krylov=none verify=off certify=off profile=on", &w, &analysis) &&
                      place(t, &w, 1) && time_calls(t, factor_again, &w, &row->profile_whole) &&
                      saddle_query(w.solver, &info) == SADDLE_OK;
    if (good) {
        const int64_t tiles[GPU_TILES] = {info.tiles_0, info.tiles_1, info.tiles_2,
                                          info.tiles_3, info.tiles_4, info.tiles_5,
                                          info.tiles_6, info.tiles_7, info.tiles_8};
        for (int k = 0; k < GPU_TILES; ++k) row->tiles[k] = known(tiles[k]);
        row->profile_assembly = info.profile_assembly;
        row->profile_factor = info.profile_factor;
        row->profile_contribution = info.profile_contribution;
        row->profile_other = info.profile_other;
        take_info(&w, row);
    }
    close_work(&w);
    return good;
}

static bool measure_presolve(gpu_bench *t, gpu_row *row)
{
    bool good = true;
    for (int k = 0; k < GPU_PRESOLVES && good && t->report.presolve; ++k) {
        gpu_work w;
        double analysis;
        char words[80];
        snprintf(words, sizeof words, "krylov=none verify=off certify=off presolve=%s", gpu_presolves[k]);
        good = open_work(t, words, &w, &analysis) && place(t, &w, 1) &&
               time_calls(t, factor_again, &w, &row->presolve[k].factor) &&
               time_calls(t, solve_again, &w, &row->presolve[k].solve);
        close_work(&w);
    }
    return good;
}

static bool is_on_gpu(const gpu_work *w)
{
    saddle_info info = saddle_info_default();
    return saddle_query(w->solver, &info) == SADDLE_OK && info.device == SADDLE_DEVICE_CUDA;
}

/* Uses a solver that has factored `made` times until it moves to the GPU, or for a while. */
static bool settle(gpu_work *w, int64_t made, double *moved_at)
{
    const double began = timing_now();
    while (!is_on_gpu(w)) {
        if (made >= SETTLE_MOST || timing_now() - began > SETTLE_SECONDS || progress_interrupted())
            return true;
        if (!factor_and_solve(w)) return false;
        ++made;
    }
    *moved_at = (double)made;
    return true;
}

/* Everything that a solver does which is used once. */
static bool use_once(gpu_bench *t, const char *words, double *seconds, double *moved)
{
    gpu_work w;
    double analysis;
    char all[80];
    snprintf(all, sizeof all, "%s factorizations=1", words);
    const double began = timing_now();
    const bool good = open_work(t, all, &w, &analysis) && place(t, &w, 1) && solve_again(&w);
    *seconds = fmin(*seconds, timing_now() - began);
    if (good && moved) *moved = is_on_gpu(&w);
    close_work(&w);
    return good;
}

/* Arrays of the host: where the work is done is for the solver to say. */
static bool measure_auto(gpu_bench *t, gpu_row *row)
{
    const struct {
        const char *words;
        double *seconds, *once, *moved;
    } ways[] = {{"device=cpu", &row->on_cpu, &row->once_cpu, NULL},
                {"device=cuda", &row->on_gpu, &row->once_gpu, NULL},
                {"device=auto", &row->on_auto, &row->once_auto, &row->once_auto_moved}};
    const bool there = t->report.there;
    const int64_t turns = argument_count(t->report.a, "repeat");
    gpu_work w[3];
    double analysis;
    bool good = true;
    t->report.there = false;
    memset(w, 0, sizeof w);
    for (int k = 0; k < 3 && good; ++k)
        good = open_work(t, ways[k].words, &w[k], &analysis) && place(t, &w[k], 1) && factor_and_solve(&w[k]);
    if (good) take_info(&w[1], row);
    const bool small = good && row->flops < SMALL_FLOPS;
    if (small) good = settle(&w[2], 2, &row->moved_at);
    for (int64_t turn = 0; turn < turns && good && small; ++turn) {
        for (int k = 0; k < 3 && good; ++k) good = timing_calls(factor_and_solve, &w[k], ways[k].seconds);
        for (int k = 0; k < 3 && good; ++k) good = use_once(t, ways[k].words, ways[k].once, ways[k].moved);
    }
    for (int k = 0; k < 3; ++k) close_work(&w[k]);
    t->report.there = there;
    return good;
}

static const struct {
    int part;
    bool (*measure)(gpu_bench *t, gpu_row *row);
} parts[] = {{PART_FACTOR, measure_factor},     {PART_VERIFIED, measure_verified},
             {PART_PIVOTING, measure_pivoting}, {PART_PROFILE, measure_profile},
             {PART_PRESOLVE, measure_presolve}, {PART_AUTO, measure_auto}};
enum { PARTS_HERE = sizeof parts / sizeof parts[0] };

/* ---- the problems ---- */

static void begin_row(gpu_row *row, const bench_matrix *matrix)
{
    *row = (gpu_row){.matrix = *matrix, .cudss = peer_nothing(), .matching = peer_nothing()};
#define ROW(name) row->name = NAN;
    GPU_NUMBERS(ROW)
#undef ROW
    for (int k = 0; k < GPU_TILES; ++k) row->tiles[k] = NAN;
    for (int k = 0; k < GPU_PRESOLVES; ++k) row->presolve[k].factor = row->presolve[k].solve = NAN;
}

/* An exit status. Where a part fails the others go on: what failed is told, and is not in the table. */
static int measure(gpu_bench *t, const char *operand, gpu_row *row)
{
    int status = EXIT_DONE;
    t->small = false;
    for (int k = 0; k < PARTS_HERE && !t->small && !progress_interrupted(); ++k) {
        if (!gpu_has_part(&t->report, parts[k].part) || parts[k].measure(t, row) || t->small) continue;
        snprintf(row->error, sizeof row->error, "%s", t->message);
        status = EXIT_NOT_REACHED;
    }
    if (t->small || !gpu_has_part(&t->report, PART_FACTOR) || !t->report.programs[PEER_CUDSS][0])
        return status;
    const int written = peers_matrix(&t->problem, operand, t->path, sizeof t->path, &t->temporary);
    if (written == EXIT_DONE) measure_peers(t, row);
    if (t->temporary) unlink(t->path);
    t->temporary = false;
    return written == EXIT_DONE ? status : written;
}

static void tell_failures(const gpu_row *row)
{
    const peer_result *const peers[] = {&row->cudss, &row->matching};
    if (row->error[0]) fail(EXIT_DONE, "%s: %s", row->matrix.name, row->error);
    for (int k = 0; k < 2; ++k)
        if (peers[k]->error[0])
            fail(EXIT_DONE, "%s: %s: %s", row->matrix.name, peer_kinds[PEER_CUDSS + k].name, peers[k]->error);
}

static int bench_one(gpu_bench *t, const char *operand, bool print)
{
    gpu_row *row = &t->report.rows[t->report.count];
    const int opened = bench_problem_open(&t->problem, operand, &t->hooks);
    if (opened != EXIT_DONE) return opened;
    int status = EXIT_DONE;
    begin_row(row, &t->problem.matrix);
    t->report.general += !t->problem.symmetric;
    if (t->problem.symmetric) status = measure(t, operand, row);
    const bool told = t->problem.symmetric && !t->small;
    t->report.small += t->problem.symmetric && t->small;
    bench_problem_free(&t->problem);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    if (!told) return status;
    gpu_end_row(&t->report, row);
    if (t->report.count++ == 0 && print) print_gpu_header();
    tell_failures(row);
    if (print) print_gpu_row(row);
    return status;
}

static int find_operands(const arguments *a, bench_operands *o)
{
    int status = EXIT_DONE;
    for (int k = 0; k < a->operand_count && status == EXIT_DONE; ++k)
        status = bench_operands_add(o, a->operands[k]);
    const bool made = a->operand_count == 0 || argument_given(a, "anchors");
    for (int k = 0; k < TRACKED && made && status == EXIT_DONE; ++k)
        status = bench_operands_add(o, tracked[k]);
    return status;
}

static int bench_all(gpu_bench *t, const bench_operands *o, bool print)
{
    int status = EXIT_DONE;
    for (int64_t k = 0; k < o->count && status != EXIT_INTERRUPTED; ++k) {
        const int one = bench_one(t, o->paths[k], print);
        if (one != EXIT_DONE) status = one;
    }
    return status;
}

int gpu_run(const arguments *a)
{
    const bool print = bench_prints(a);
    const int part = argument_choice(a, "part");
    saddle_options o = saddle_options_default();
    gpu_bench t = {.report = {.a = a, .parts = part == PART_ALL ? ~0u : 1u << part}};
    bench_operands operands = {0};
    char message[SADDLE_MESSAGE_SIZE];
    const double began = timing_now();
    if (saddle_describe_device("cuda", (int)a->library.device_index, message) != SADDLE_OK)
        return fail(EXIT_DEVICE, "%s", message);
    bench_set(&o, "method=direct device=cuda");
    o.device_index = a->library.device_index;
    saddle_create(&t.opener, &o, NULL, NULL);
    t.report.opening = timing_now() - began;
    int status = find_operands(a, &operands);
    if (status == EXIT_DONE) t.report.rows = calloc((size_t)operands.count + 1, sizeof *t.report.rows);
    if (status == EXIT_DONE && !t.report.rows) status = fail(EXIT_MEMORY, "out of memory for the rows");
    if (status == EXIT_DONE) {
        t.report.there = argument_choice(a, "arrays") == 0 && gpu_memory_found();
        t.report.presolve = saddle_options_set(&o, "presolve", gpu_presolves[0], NULL) == SADDLE_OK;
        peers_find(argument_text(a, "peers"), CUDSS, t.report.programs);
        t.hooks = progress_begin(a);
        open_card(&t);
        status = bench_all(&t, &operands, print);
        child_end(&t.card, true);
        progress_end();
        if (print) print_gpu_rest(&t.report);
        if (print && t.report.count > 0)
            peers_tell_missing(argument_text(a, "peers"), CUDSS, t.report.programs);
        status = bench_save(a, status, json_gpu, &t.report);
    }
    saddle_destroy(&t.opener);
    free(t.report.rows);
    bench_operands_free(&operands);
    return status;
}
