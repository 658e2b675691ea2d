/*
 * `saddle solve`: read, analyse, factor, solve, write, report.
 *
 * The matrix of the file is freed as soon as the solver has its copy and the right-hand side is
 * made, so that two copies never stand beside the iteration's vectors.
 */
#include "cli/solve.h"

#include "cli/help.h"
#include "cli/outfile.h"
#include "cli/paper.h"
#include "cli/plot.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_MOST = 1000000 };

static saddle_status read_rhs(solve_run *r, const char *path)
{
    int64_t length = 0;
    double *values = NULL;
    saddle_status status = saddle_read_vector(path, &r->run.hooks, &length, &values, r->run.message);
    if (status != SADDLE_OK) return status;
    if (length != r->run.n) {
        status = run_fail(&r->run, SADDLE_FILE_FORMAT,
                          "%s: the right-hand side has %" PRId64 " entries, the matrix has %" PRId64 " rows",
                          path, length, r->run.n);
    } else {
        memcpy(r->b, values, (size_t)length * sizeof *values);
    }
    saddle_vector_free(values, &r->run.hooks);
    return status;
}

/* b by --rhs; x serves as the vector of ones on the way. */
static saddle_status make_rhs(solve_run *r)
{
    const char *rhs = argument_text(r->run.a, "rhs");
    r->b = memory_take(&r->run.memory, r->run.n, sizeof *r->b);
    r->x = memory_take(&r->run.memory, r->run.n, sizeof *r->x);
    if (!r->b || !r->x) {
        return run_fail(&r->run, SADDLE_OUT_OF_MEMORY, "out of memory for two vectors of %" PRId64 " entries",
                        r->run.n);
    }
    if (strcmp(rhs, "random") == 0) {
        random_stream stream = random_begin((uint64_t)argument_count(r->run.a, "seed"));
        for (int64_t i = 0; i < r->run.n; ++i) r->b[i] = random_between(&stream, -1.0, 1.0);
        return SADDLE_OK;
    }
    if (strcmp(rhs, "ones") == 0) {
        for (int64_t i = 0; i < r->run.n; ++i) r->b[i] = 1.0;
        return SADDLE_OK;
    }
    if (strcmp(rhs, "A1") != 0) return read_rhs(r, rhs);
    for (int64_t i = 0; i < r->run.n; ++i) r->x[i] = 1.0;
    r->solution_known = true;
    return saddle_multiply(&r->run.A, 1, r->x, r->run.n, r->b, r->run.n, (int)r->run.a->library.threads,
                           &r->run.hooks, r->run.message);
}

/* Takes over what the solver says of a call that failed. */
static saddle_status take_message(solve_run *r, saddle_status status)
{
    if (status != SADDLE_OK) run_fail(&r->run, status, "%s", saddle_message(r->solver));
    return status;
}

/* The same, and what it knows after an analysis or a factorization. */
static saddle_status take_query(solve_run *r, saddle_status status)
{
    if (saddle_query(r->solver, &r->info) == SADDLE_OK && status == SADDLE_OK) r->analysed = true;
    return take_message(r, status);
}

/* Messages of the library about the user's arrays do not know their files. */
static saddle_status name_file(solve_run *r, saddle_status status)
{
    char inner[SADDLE_MESSAGE_SIZE];
    const char *file = given_at_fault(r->run.a, status);
    if (!file) return status;
    memcpy(inner, r->run.message, sizeof inner);
    return run_fail(&r->run, status, "%.200s: %.300s", file, inner);
}

/* Hands over what the files of --scaling, --order and --signs hold. */
static saddle_status give_files(solve_run *r)
{
    const char *signs = argument_text(r->run.a, "signs");
    given *g = &r->given;
    saddle_status status = given_read(r->run.a, &r->run.A, &r->run.memory, &r->run.hooks, g, r->run.message);
    if (status == SADDLE_OK && signs)
        status = given_read_signs(signs, r->run.n, &r->run.memory, &r->run.hooks, g, r->run.message);
    if (status == SADDLE_OK)
        status = name_file(r, take_message(r, saddle_set_given(r->solver, r->run.n, &g->arrays)));
    if (status == SADDLE_OK) status = take_message(r, saddle_set_signs(r->solver, r->run.n, g->signs));
    given_free(g, &r->run.memory, &r->run.hooks);
    return status;
}

static saddle_status prepare(solve_run *r)
{
    saddle_status status = take_query(r, saddle_analyse(r->solver, &r->run.A));
    if (status != SADDLE_OK) return name_file(r, status);
    status = saddle_factor(r->solver, &r->run.A);
    /* the solve will tell all there is to know, the inertia too, certified on the way */
    return status == SADDLE_OK ? status : name_file(r, take_query(r, status));
}

static void add_history(solve_run *r)
{
    const int64_t most = r->run.a->library.maxiter < HISTORY_MOST ? r->run.a->library.maxiter : HISTORY_MOST;
    const int64_t room = most + 16;
    if (!argument_given(r->run.a, "json") && !argument_given(r->run.a, "plot") &&
        !argument_given(r->run.a, "verbose"))
        return;
    r->history = malloc((size_t)room * sizeof *r->history);
    if (!r->history) return;
    r->info.history = r->history;
    r->info.history_room = room;
}

static saddle_status iterate(solve_run *r)
{
    r->info = saddle_info_default();
    add_history(r);
    const saddle_status status = saddle_solve(r->solver, 1, r->b, r->run.n, r->x, r->run.n, &r->info);
    r->solved = true;
    run_fail(&r->run, status, "%s", r->info.message);
    if (r->solution_known) {
        r->forward_error = 0.0;
        for (int64_t i = 0; i < r->run.n; ++i) r->forward_error = fmax(r->forward_error, fabs(r->x[i] - 1.0));
    }
    return status;
}

/* An estimate that cannot be had, for want of factors or of memory, is not known: no failure of the solve. */
static void estimate_condition(solve_run *r)
{
    if (!argument_given(r->run.a, "condition") || progress_interrupted()) return;
    if (saddle_condition(r->solver, &r->condition, NULL) != SADDLE_OK) r->condition = NAN;
}

/* What the solver is created with: there will be one factorization, unless something else was said. An
 * estimate of the condition needs the factors, so that more than one solve is expected of them. */
static saddle_options options_of(const solve_run *r)
{
    saddle_options options = r->run.a->library;
    const bool read = options.method == SADDLE_METHOD_AUTO || options.method == SADDLE_METHOD_DIRECT;
    if (options.factorizations == 0 && read)
        options.factorizations = argument_given(r->run.a, "condition") ? 2 : 1;
    return options;
}

/* A solver that knows what the program itself leaves of --max-memory, less what malloc rounds up: then it
 * chooses what fits, instead of failing when the memory ends. */
static saddle_status limit_solver(solve_run *r)
{
    saddle_options options = options_of(r);
    if (options.max_memory == 0) return SADDLE_OK;
    saddle_destroy(&r->solver);
    const int64_t left = options.max_memory - r->run.memory.bytes;
    options.max_memory = left > 1 ? left - left / 128 : 1;
    return saddle_create(&r->solver, &options, &r->run.hooks, r->run.message);
}

/* The work from the file to x. The solver comes first: a device that is not there is told at once. */
static saddle_status work(solve_run *r)
{
    const saddle_options options = options_of(r);
    saddle_status status = saddle_create(&r->solver, &options, &r->run.hooks, r->run.message);
    if (status == SADDLE_OK) status = run_read(&r->run, "systems can be solved");
    if (status == SADDLE_OK) status = make_rhs(r);
    if (status == SADDLE_OK) status = limit_solver(r);
    if (status == SADDLE_OK) status = give_files(r);
    if (status == SADDLE_OK) status = prepare(r);
    saddle_matrix_free(&r->run.A, &r->run.hooks);
    if (status != SADDLE_OK) return status;
    status = iterate(r);
    estimate_condition(r);
    return status;
}

static bool has_x(const solve_run *r)
{
    return r->solved && (r->run.status == SADDLE_OK || r->run.status == SADDLE_NOT_CONVERGED ||
                         r->run.status == SADDLE_SINGULAR || r->run.status == SADDLE_CANCELLED);
}

static void write_x(solve_run *r)
{
    char comment[512], message[SADDLE_MESSAGE_SIZE] = "";
    const char *path = argument_text(r->run.a, "out");
    if (!path || !has_x(r)) return;
    snprintf(comment, sizeof comment, "x of Ax = b for %s, by saddle %s: %s, relative residual %.1e",
             r->run.name, saddle_version(),
             r->run.status == SADDLE_OK ? "solved" : "NOT solved, the best x found",
             r->info.relative_residual);
    const saddle_status status = saddle_write_vector(path, r->run.n, r->x, comment, message);
    r->x_written = status == SADDLE_OK;
    if (!r->x_written) {
        run_output(&r->run, fail(EXIT_FILE, "%s", message));
        run_fail(&r->run, status, "%s", message);
    }
}

static void write_plot(solve_run *r)
{
    char title[400], method[64];
    const char *path = argument_text(r->run.a, "plot");
    if (!path || !has_x(r) || !r->history) return;
    run_method(r, method, sizeof method);
    snprintf(title, sizeof title, "%s: %s", r->run.name, method);
    run_output(&r->run, plot_convergence(path, r->history, run_history(r), r->run.a->library.tol, title));
}

static void tell(solve_run *r)
{
    const arguments *a = r->run.a;
    const bool taken = is_standard(a, "json") || is_standard(a, "out");
    const bool report = has_x(r) && !taken && !argument_given(a, "quiet");
    if (report) print_report(r);
    if (report && r->run.exit == EXIT_NOT_REACHED) return;
    if (r->run.status == SADDLE_NOT_CONVERGED)
        fail(r->run.exit, "%s: NOT solved: %s", r->run.path,
             r->run.message[0] ? r->run.message : run_reason(r));
    else if (r->run.status != SADDLE_OK)
        fail(r->run.exit, "%s", r->run.message);
    if (r->run.status != SADDLE_OK && r->run.status != SADDLE_NOT_CONVERGED && argument_given(a, "out") &&
        !r->x_written)
        fail(r->run.exit, "x was not written");
}

enum {
    FOR_DIRECT = 1 << SADDLE_METHOD_DIRECT,
    FOR_BJACOBI = 1 << SADDLE_METHOD_BJACOBI,
    FOR_JACOBI = 1 << SADDLE_METHOD_JACOBI,
    FOR_FACTORS = 1 << SADDLE_METHOD_LDLT | FOR_JACOBI,
    FOR_BLOCKS = FOR_BJACOBI | FOR_FACTORS,
    FOR_INCOMPLETE = 1 << SADDLE_METHOD_IC | 1 << SADDLE_METHOD_ILU
};

/* Which methods options are for, one bit each and in words; beside others they would do nothing. */
static const struct {
    unsigned methods;
    const char *words, *options;
} purposes[] = {
    {FOR_DIRECT | FOR_BLOCKS | FOR_INCOMPLETE, "the direct solver, bjacobi, ldlt, jacobi, ic and ilu",
     "scaling|order|pairs"},
    {FOR_DIRECT, "the direct solver",
     "factorization|threshold|certify|simplicial|signs|condition|profile|presolve|device-memory"},
    {FOR_DIRECT | FOR_FACTORS, "the direct solver, ldlt and jacobi", "check"},
    {FOR_BLOCKS | FOR_INCOMPLETE, "bjacobi, ldlt, jacobi, ic and ilu", "blocking|block-size"},
    {FOR_BJACOBI, "bjacobi", "block-kernel|block-precision"},
    {FOR_FACTORS | FOR_INCOMPLETE, "ldlt, jacobi, ic and ilu",
     "fill|fill-tau|fill-level|trisolve|trisolve-sweeps|factor-precision"},
    {FOR_FACTORS, "ldlt and jacobi", "pivot|push-back|small-pivot"},
    {FOR_JACOBI | FOR_INCOMPLETE, "jacobi, ic and ilu", "sweeps|fallback"},
    {FOR_JACOBI, "jacobi", "sweep-order|relax"},
    {FOR_INCOMPLETE, "ic and ilu", "level|fill-most|setup|tune"},
    {FOR_DIRECT | FOR_BLOCKS | 1 << SADDLE_METHOD_DIAGONAL,
     "the direct solver, bjacobi, ldlt, jacobi and the diagonal", "absolute"},
};

/* The first of several options that was given; NULL where none was. */
static const char *first_given(const arguments *a, const char *options)
{
    static char name[32];
    while (next_word(&options, name, sizeof name))
        if (argument_given(a, name)) return name;
    return NULL;
}

/* Options that would do nothing beside the others are refused, so that nobody relies on them. */
static int check_together(const arguments *a)
{
    static const char *const fixed[] = {"regularise", "signs"};
    const int method = a->library.method;
    const bool named = method == SADDLE_METHOD_AUTO && a->library.krylov != SADDLE_KRYLOV_AUTO;
    const bool automatic = method == SADDLE_METHOD_AUTO && !named;
    for (size_t k = 0; k < sizeof purposes / sizeof purposes[0]; ++k) {
        const char *name = first_given(a, purposes[k].options), *words = purposes[k].words;
        const bool direct = purposes[k].methods & FOR_DIRECT;
        if (!name || purposes[k].methods >> method & 1 || (direct && automatic)) continue;
        if (named && direct)
            return usage_error(a,
                               "--%s applies to %s, which --method auto does not try when --krylov is given: "
                               "use --method direct",
                               name, words);
        return usage_error(a, "--%s applies to %s, not to --method %s", name, words,
                           method == SADDLE_METHOD_AUTO ? "auto" : argument_text(a, "method"));
    }
    for (int k = 0; a->library.factorization != SADDLE_FACTORIZATION_STATIC && k < 2; ++k) {
        if (argument_given(a, fixed[k]))
            return usage_error(a, "--%s applies only to --factorization static", fixed[k]);
    }
    if (argument_given(a, "profile") && a->library.device != SADDLE_DEVICE_CUDA)
        return usage_error(a, "--profile applies only to --device cuda");
    if (argument_given(a, "presolve") && a->library.device != SADDLE_DEVICE_CUDA)
        return usage_error(a, "--presolve applies only to --device cuda");
    if (argument_given(a, "device-memory") && a->library.device != SADDLE_DEVICE_CUDA &&
        a->library.device != SADDLE_DEVICE_AUTO)
        return usage_error(a, "--device-memory applies only to a GPU");
    return EXIT_DONE;
}

static int check_usage(const arguments *a)
{
    static const char *const outputs[] = {"json", "out", "plot"};
    static const char *const inputs[] = {"rhs", "scaling", "order", "signs", NULL};
    int status = outputs_check(a, outputs, 3);
    if (status == EXIT_DONE) status = given_check(a, a->operands[0], inputs);
    if (status == EXIT_DONE) status = check_together(a);
    return status;
}

/* What cannot be written is told before the work, not after it. */
static saddle_status check_outputs(solve_run *r)
{
    static const char *const names[] = {"json", "out", "plot"};
    for (int k = 0; k < 3; ++k) {
        const char *path = argument_text(r->run.a, names[k]);
        const int error = outfile_check(path);
        if (error && k == 0) r->run.json_refused = true;
        if (error)
            return run_fail(&r->run, SADDLE_FILE_WRITE, "%s: cannot be written: %s", path, strerror(error));
    }
    return SADDLE_OK;
}

static void finish(solve_run *r)
{
    write_x(r);
    write_plot(r);
    tell(r);
    run_json(&r->run, json_run, r);
    saddle_destroy(&r->solver);
    memory_give(&r->run.memory, r->b);
    memory_give(&r->run.memory, r->x);
    free(r->history);
}

static int run_solve(const arguments *said)
{
    arguments settled = *said;
    solve_run r = {.forward_error = NAN, .condition = NAN, .info = saddle_info_default()};
    int status = paper_settle(&settled);
    if (status == EXIT_DONE) status = check_usage(&settled);
    if (status == EXIT_DONE) status = plot_check(argument_text(&settled, "plot"));
    if (status != EXIT_DONE) return status;
    run_begin(&r.run, &settled);
    saddle_status result = check_outputs(&r);
    if (result == SADDLE_OK) result = work(&r);
    run_end(&r.run, result);
    finish(&r);
    return r.run.exit;
}

static const option solve_options[] = {
    OPTION_TEXT("rhs", "FILE|ones|random|A1", "A1",
                "right-hand side; A1 is A times ones, so that the solution is known"),
    OPTION_COUNT("seed", "N", 1, 0, INT64_MAX, "random seed of --rhs random, which is uniform in [-1, 1)"),
    OPTION_TEXT("out", "FILE|-", NULL, "write x, an n x 1 Matrix Market array with 17 digits"),
    OPTION_TEXT("json", "FILE|-", NULL, "write everything known about the run as one JSON object"),
    OPTION_TEXT("plot", "FILE", NULL, "draw the convergence curve (.svg or .png)"),
    OPTION_TEXT("signs", "FILE", NULL,
                "n x 1 vector of 1, -1, or 0 for unknown: expected signs of static pivots"),
    OPTION_FLAG("condition", 0, "estimate the condition number with the factors of the direct solver"),
    OPTION_FLAG(
        "paper", 0,
        "jacobi (or ldlt) as in \"Stretching Jacobi\": fill none, blocking grid, block-size 32, order rcm, "
        "pairs off, scaling mc64, small-pivot 0.1, sweeps 8, sweep-order block, relax 0.95, fallback none, "
        "krylov gmres, restart 25, maxiter 100; options given explicitly override these"),
    OPTION_END,
};

const command command_solve = {
    .name = "solve",
    .operands = "A.mtx[.gz]",
    .help = "solve Ax = b",
    .about =
        "Solves Ax = b and reports the accuracy. A is a Matrix Market or Rutherford-Boeing file, "
        "optionally gzipped, or - for standard input. Solved means that the relative residual |b - Ax| "
        "/ |b| (2-norm) or the componentwise backward error is at most --tol, measured on A and b as "
        "given; --stop selects a single criterion.\n\n"
        "--method auto uses the direct solver unless it would be too expensive: a multifrontal LDL' "
        "factorization with threshold pivoting, followed by refinement. Its options are --scaling, "
        "--order, --pairs, --factorization, --threshold, --regularise, --check, --certify, "
        "--simplicial, --signs, --condition and, on a GPU, --profile, --presolve and --device-memory; the "
        "first two also accept a file, as in \"saddle prepare\".\n\n"
        "--method bjacobi preconditions with the diagonal blocks of A, of up to --block-size rows. "
        "--blocking chooses how rows are grouped into blocks, --block-kernel how blocks are factored, "
        "--block-precision the precision that they are stored in; --scaling, --order and --pairs affect "
        "the blocking.\n\n"
        "--method ldlt preconditions with an incomplete block LDL' factorization. --fill chooses which "
        "blocks are kept beyond those of A; --pivot, --push-back and --small-pivot keep the "
        "factorization stable. --method jacobi computes such factors by --sweeps on a pattern known in "
        "advance. --paper selects the published settings of either.\n\n"
        "--method ic (symmetric matrices) and ilu (any) precondition with incomplete Cholesky and LU "
        "factorizations: entries up to a --level of fill, or with --fill tau:T those above a threshold, at "
        "most --fill-most for each of A. --setup sweeps computes them by --sweeps over all entries at once. "
        "--trisolve chooses between exact triangular solves and --trisolve-sweeps over entries or blocks "
        "(--blocking, --block-size); --fallback says what happens if these diverge, --tune measures which "
        "is faster.\n\n"
        "--absolute on makes a preconditioner of a symmetric indefinite matrix positive definite, by the "
        "absolute values of pivots, blocks or diagonal entries, so that --krylov minres can use it.\n\n"
        "The report goes to standard output. x is written only to --out; if the tolerance was not "
        "reached, it is the best x found, and the file says so.",
    .examples = "  saddle solve A.mtx.gz                      # b = A times ones: the solution is known\n"
                "  saddle solve A.mtx --rhs b.mtx --out x.mtx # your own right-hand side\n"
                "  saddle solve A.mtx --factorization cholesky --condition\n"
                "  saddle solve A.mtx --krylov minres --method diagonal --plot curve.svg\n"
                "  saddle solve A.mtx --method bjacobi --block-size 16 --device cuda\n"
                "  saddle solve A.mtx --method ldlt --fill tau:0.001\n"
                "  saddle solve A.mtx --method ldlt --absolute on --krylov minres\n"
                "  saddle solve A.mtx --method ic --level 1 --trisolve block-jacobi --trisolve-sweeps 4\n"
                "  saddle solve A.mtx --paper --block-size 8  # a published method, with smaller blocks\n"
                "  gzip -dc A.mtx.gz | saddle solve - -q --json - | jq .iterations\n",
    .options = solve_options,
    .library =
        "method|krylov|restart|maxiter|tol|stop|device|device_index|precision|threads|max_memory|scaling|"
        "order|pairs|"
        "factorization|threshold|regularise|check|blocking|block_size|block_kernel|block_precision|"
        "fill|fill_tau|fill_level|pivot|push_back|small_pivot|sweeps|sweep_order|relax|fallback|trisolve|"
        "trisolve_sweeps|factor_precision|certify|simplicial|factorizations|profile|"
        "presolve|device_memory|level|fill_most|setup|tune|absolute",
    .least = 1,
    .most = 1,
    .run = run_solve,
};
