/*
 * `saddle solve`: read, analyse, factor, solve, write, report.
 *
 * The matrix of the file is freed as soon as the solver has its copy and the right-hand side is
 * made, so that two copies never stand beside the iteration's vectors.
 */
#include "cli/solve.h"

#include "cli/outfile.h"
#include "cli/outputs.h"
#include "cli/paper.h"
#include "cli/paths.h"
#include "cli/plot.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_MOST = 1000000 };

static saddle_status run_fail(solve_run *r, saddle_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static saddle_status run_fail(solve_run *r, saddle_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(r->message, sizeof r->message, format, list);
    va_end(list);
    return status;
}

static saddle_status read_matrix(solve_run *r)
{
    const double began = seconds();
    const saddle_status status = saddle_read_matrix(r->path, &r->hooks, &r->A, r->message);
    r->time_read = seconds() - began;
    if (status != SADDLE_OK) return status;
    r->n = r->A.rows;
    r->shape = (int)r->A.shape;
    if (r->A.rows != r->A.columns) {
        return run_fail(r, SADDLE_NOT_SUPPORTED,
                        "%s: the matrix has %" PRId64 " rows and %" PRId64
                        " columns: only square systems can be solved",
                        r->path, r->A.rows, r->A.columns);
    }
    return SADDLE_OK;
}

static saddle_status read_rhs(solve_run *r, const char *path)
{
    int64_t length = 0;
    double *values = NULL;
    saddle_status status = saddle_read_vector(path, &r->hooks, &length, &values, r->message);
    if (status != SADDLE_OK) return status;
    if (length != r->n) {
        status = run_fail(r, SADDLE_FILE_FORMAT,
                          "%s: the right-hand side has %" PRId64 " entries, the matrix has %" PRId64 " rows",
                          path, length, r->n);
    } else {
        memcpy(r->b, values, (size_t)length * sizeof *values);
    }
    saddle_vector_free(values, &r->hooks);
    return status;
}

/* b by --rhs; x serves as the vector of ones on the way. */
static saddle_status make_rhs(solve_run *r)
{
    const char *rhs = argument_text(r->a, "rhs");
    r->b = memory_take(&r->memory, r->n, sizeof *r->b);
    r->x = memory_take(&r->memory, r->n, sizeof *r->x);
    if (!r->b || !r->x) {
        return run_fail(r, SADDLE_OUT_OF_MEMORY, "out of memory for two vectors of %" PRId64 " entries",
                        r->n);
    }
    if (strcmp(rhs, "random") == 0) {
        random_stream stream = random_begin((uint64_t)argument_count(r->a, "seed"));
        for (int64_t i = 0; i < r->n; ++i) r->b[i] = random_between(&stream, -1.0, 1.0);
        return SADDLE_OK;
    }
    if (strcmp(rhs, "ones") == 0) {
        for (int64_t i = 0; i < r->n; ++i) r->b[i] = 1.0;
        return SADDLE_OK;
    }
    if (strcmp(rhs, "A1") != 0) return read_rhs(r, rhs);
    for (int64_t i = 0; i < r->n; ++i) r->x[i] = 1.0;
    r->solution_known = true;
    return saddle_multiply(&r->A, 1, r->x, r->n, r->b, r->n, (int)r->a->library.threads, &r->hooks,
                           r->message);
}

/* Takes over what the solver says of its last call. */
static saddle_status take_query(solve_run *r, saddle_status status)
{
    if (saddle_query(r->solver, &r->info) == SADDLE_OK && status == SADDLE_OK) r->analysed = true;
    if (status != SADDLE_OK) snprintf(r->message, sizeof r->message, "%s", saddle_message(r->solver));
    return status;
}

/* Hands over what the files of --scaling, --order and --signs hold. */
static saddle_status give_files(solve_run *r)
{
    const char *signs = argument_text(r->a, "signs");
    given *g = &r->given;
    saddle_status status = given_read(r->a, &r->A, &r->memory, &r->hooks, g, r->message);
    if (status == SADDLE_OK && signs)
        status = given_read_signs(signs, r->n, &r->memory, &r->hooks, g, r->message);
    if (status == SADDLE_OK) status = saddle_set_given(r->solver, r->n, &g->arrays);
    if (status == SADDLE_OK) status = saddle_set_signs(r->solver, r->n, g->signs);
    given_free(g, &r->memory, &r->hooks);
    return status;
}

/* Messages of the library about the user's arrays do not know their files. */
static saddle_status name_file(solve_run *r, saddle_status status)
{
    char inner[SADDLE_MESSAGE_SIZE];
    const char *file = given_at_fault(r->a, status);
    if (!file) return status;
    memcpy(inner, r->message, sizeof inner);
    return run_fail(r, status, "%.200s: %.300s", file, inner);
}

static saddle_status prepare(solve_run *r)
{
    saddle_status status = take_query(r, saddle_analyse(r->solver, &r->A));
    if (status == SADDLE_OK) status = take_query(r, saddle_factor(r->solver, &r->A));
    return name_file(r, status);
}

static void add_history(solve_run *r)
{
    const int64_t most = r->a->library.maxiter < HISTORY_MOST ? r->a->library.maxiter : HISTORY_MOST;
    const int64_t room = most + 16;
    if (!argument_given(r->a, "json") && !argument_given(r->a, "plot") && !argument_flag(r->a, "verbose"))
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
    const saddle_status status = saddle_solve(r->solver, 1, r->b, r->n, r->x, r->n, &r->info);
    r->solved = true;
    snprintf(r->message, sizeof r->message, "%s", r->info.message);
    if (r->solution_known) {
        r->forward_error = 0.0;
        for (int64_t i = 0; i < r->n; ++i) r->forward_error = fmax(r->forward_error, fabs(r->x[i] - 1.0));
    }
    return status;
}

/* An estimate that cannot be had, for want of factors or of memory, is not known: no failure of the solve. */
static void estimate_condition(solve_run *r)
{
    if (!argument_flag(r->a, "condition") || progress_interrupted()) return;
    if (saddle_condition(r->solver, &r->condition, NULL) != SADDLE_OK) r->condition = NAN;
}

/* The work from the file to x. The solver comes first: a device that is not there is told at once. */
static saddle_status work(solve_run *r)
{
    saddle_status status = saddle_create(&r->solver, &r->a->library, &r->hooks, r->message);
    if (status == SADDLE_OK) status = read_matrix(r);
    if (status == SADDLE_OK) status = make_rhs(r);
    if (status == SADDLE_OK) status = give_files(r);
    if (status == SADDLE_OK) status = prepare(r);
    saddle_matrix_free(&r->A, &r->hooks);
    if (status != SADDLE_OK) return status;
    status = iterate(r);
    estimate_condition(r);
    return status;
}

/* Says what a failure really was: the limit that the hooks held, the signal that ended a read. */
static void settle_status(solve_run *r, saddle_status status)
{
    char where[160];
    const bool failed = status != SADDLE_OK && status != SADDLE_NOT_CONVERGED;
    if (failed && progress_interrupted()) {
        progress_where(where, sizeof where);
        status = run_fail(r, SADDLE_CANCELLED, "interrupted %s", where);
    } else {
        status = memory_settle(&r->memory, status, r->message);
    }
    if (failed && !r->message[0]) snprintf(r->message, sizeof r->message, "%s", saddle_status_text(status));
    r->status = status;
    r->exit = exit_status(status);
}

/* An output that failed is the exit status, unless something worse came before. */
static void settle_output(solve_run *r, int exit)
{
    if (exit == EXIT_DONE) return;
    if (r->exit == EXIT_DONE || r->exit == EXIT_NOT_REACHED) r->exit = exit;
}

static bool has_x(const solve_run *r)
{
    return r->solved && (r->status == SADDLE_OK || r->status == SADDLE_NOT_CONVERGED ||
                         r->status == SADDLE_SINGULAR || r->status == SADDLE_CANCELLED);
}

static void write_x(solve_run *r)
{
    char comment[512], message[SADDLE_MESSAGE_SIZE] = "";
    const char *path = argument_text(r->a, "out");
    if (!path || !has_x(r)) return;
    snprintf(comment, sizeof comment, "x of Ax = b for %s, by saddle %s: %s, relative residual %.1e", r->name,
             saddle_version(), r->status == SADDLE_OK ? "solved" : "NOT solved, the best x found",
             r->info.relative_residual);
    const saddle_status status = saddle_write_vector(path, r->n, r->x, comment, message);
    r->x_written = status == SADDLE_OK;
    if (!r->x_written) {
        settle_output(r, fail(EXIT_FILE, "%s", message));
        snprintf(r->message, sizeof r->message, "%s", message);
    }
}

static void write_plot(solve_run *r)
{
    char title[400], method[64];
    const char *path = argument_text(r->a, "plot");
    if (!path || !has_x(r) || !r->history) return;
    run_method(r, method, sizeof method);
    snprintf(title, sizeof title, "%s: %s", r->name, method);
    settle_output(r, plot_convergence(path, r->history, run_history(r), r->a->library.tol, title));
}

static void tell(solve_run *r)
{
    const arguments *a = r->a;
    const bool taken = is_standard(a, "json") || is_standard(a, "out");
    const bool report = has_x(r) && !taken && !argument_flag(a, "quiet");
    if (report) print_report(r);
    if (report && r->exit == EXIT_NOT_REACHED) return;
    if (r->status == SADDLE_NOT_CONVERGED)
        fail(r->exit, "%s: NOT solved: %s", r->path, r->message[0] ? r->message : run_reason(r));
    else if (r->status != SADDLE_OK)
        fail(r->exit, "%s", r->message);
    if (r->status != SADDLE_OK && r->status != SADDLE_NOT_CONVERGED && argument_given(a, "out") &&
        !r->x_written)
        fail(r->exit, "x was not written");
}

/* Which methods an option is for, one bit each; beside others it would do nothing. */
typedef struct purpose {
    const char *option;
    unsigned methods;
} purpose;

enum {
    FOR_DIRECT = 1 << SADDLE_METHOD_DIRECT,
    FOR_BJACOBI = 1 << SADDLE_METHOD_BJACOBI,
    FOR_LDLT = 1 << SADDLE_METHOD_LDLT,
    FOR_JACOBI = 1 << SADDLE_METHOD_JACOBI,
    FOR_FACTORS = FOR_LDLT | FOR_JACOBI,
    FOR_BLOCKS = FOR_BJACOBI | FOR_FACTORS
};

/* The words of a purpose, for messages. */
static const char *purpose_text(const purpose *p)
{
    switch (p->methods) {
    case FOR_DIRECT: return "the direct solver";
    case FOR_BJACOBI: return "bjacobi";
    case FOR_LDLT: return "ldlt";
    case FOR_JACOBI: return "jacobi";
    case FOR_FACTORS: return "ldlt and jacobi";
    case FOR_BLOCKS: return "bjacobi, ldlt and jacobi";
    case FOR_DIRECT | FOR_FACTORS: return "the direct solver, ldlt and jacobi";
    default: return "the direct solver, bjacobi, ldlt and jacobi";
    }
}

static const purpose purposes[] = {
    {"scaling", FOR_DIRECT | FOR_BLOCKS},
    {"order", FOR_DIRECT | FOR_BLOCKS},
    {"pairs", FOR_DIRECT | FOR_BLOCKS},
    {"factorization", FOR_DIRECT},
    {"threshold", FOR_DIRECT},
    {"check", FOR_DIRECT | FOR_FACTORS},
    {"signs", FOR_DIRECT},
    {"condition", FOR_DIRECT},
    {"blocking", FOR_BLOCKS},
    {"block-size", FOR_BLOCKS},
    {"block-kernel", FOR_BJACOBI},
    {"block-precision", FOR_BJACOBI},
    {"fill", FOR_FACTORS},
    {"fill-tau", FOR_FACTORS},
    {"fill-level", FOR_FACTORS},
    {"pivot", FOR_FACTORS},
    {"push-back", FOR_FACTORS},
    {"small-pivot", FOR_FACTORS},
    {"sweeps", FOR_JACOBI},
    {"sweep-order", FOR_JACOBI},
    {"relax", FOR_JACOBI},
    {"fallback", FOR_JACOBI},
    {"trisolve", FOR_FACTORS},
    {"trisolve-sweeps", FOR_FACTORS},
};

/* Options that would do nothing beside the others are refused, so that nobody relies on them. */
static int check_together(const arguments *a)
{
    static const char *const fixed[] = {"regularise", "signs"};
    const int method = a->library.method;
    const bool named = method == SADDLE_METHOD_AUTO && a->library.krylov != SADDLE_KRYLOV_AUTO;
    const bool automatic = method == SADDLE_METHOD_AUTO && !named;
    for (int k = 0; k < (int)(sizeof purposes / sizeof purposes[0]); ++k) {
        const purpose *p = &purposes[k];
        const bool direct = p->methods & FOR_DIRECT;
        if (!argument_given(a, p->option) || p->methods >> method & 1 || (direct && automatic)) continue;
        if (named && direct)
            return usage_error(a,
                               "--%s applies to %s, which --method auto does not try when --krylov is given: "
                               "use --method direct",
                               p->option, purpose_text(p));
        return usage_error(a, "--%s applies to %s, not to --method %s", p->option, purpose_text(p),
                           method == SADDLE_METHOD_AUTO ? "auto" : argument_text(a, "method"));
    }
    for (int k = 0; a->library.factorization != SADDLE_FACTORIZATION_STATIC && k < 2; ++k) {
        if (argument_given(a, fixed[k]))
            return usage_error(a, "--%s applies only to --factorization static", fixed[k]);
    }
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
        const char *path = argument_text(r->a, names[k]);
        const int error = outfile_check(path);
        if (error && k == 0) r->json_refused = true;
        if (error) return run_fail(r, SADDLE_FILE_WRITE, "%s: cannot be written: %s", path, strerror(error));
    }
    return SADDLE_OK;
}

static void finish(solve_run *r)
{
    const char *path = argument_text(r->a, "json");
    write_x(r);
    write_plot(r);
    tell(r);
    if (path && !r->json_refused && r->exit != EXIT_USAGE) settle_output(r, json_write(path, json_run, r));
    saddle_destroy(&r->solver);
    memory_give(&r->memory, r->b);
    memory_give(&r->memory, r->x);
    free(r->history);
}

static int run_solve(const arguments *said)
{
    arguments settled = *said;
    const arguments *a = &settled;
    solve_run r = {
        .a = a, .path = a->operands[0], .n = -1, .forward_error = NAN, .condition = NAN, .time_read = NAN};
    int status = paper_settle(&settled);
    if (status == EXIT_DONE) status = check_usage(a);
    if (status == EXIT_DONE) status = plot_check(argument_text(a, "plot"));
    if (status != EXIT_DONE) return status;

    const double began = seconds();
    matrix_name(r.path, r.name, sizeof r.name);
    r.info = saddle_info_default();
    r.hooks = progress_begin(a);
    memory_begin(&r.memory, a->library.max_memory, &r.hooks);
    saddle_status result = check_outputs(&r);
    if (result == SADDLE_OK) result = work(&r);
    progress_end();
    r.time_total = seconds() - began;
    settle_status(&r, result);
    finish(&r);
    return r.exit;
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
    .about = "Solves Ax = b and reports the accuracy. A is a Matrix Market or Rutherford-Boeing file, "
             "optionally gzipped, or - for standard input. Solved means that the relative residual |b - Ax| "
             "/ |b| (2-norm) or the componentwise backward error is at most --tol, measured on A and b as "
             "given; --stop selects a single criterion.\n\n"
             "--method auto uses the direct solver unless it would be too expensive: a multifrontal LDL' "
             "factorization with threshold pivoting, followed by refinement. Its options are --scaling, "
             "--order, --pairs, --factorization, --threshold, --regularise, --check, --signs and "
             "--condition; the first two also accept a file, as in \"saddle prepare\".\n\n"
             "--method bjacobi preconditions with the diagonal blocks of A, of up to --block-size rows. "
             "--blocking chooses how rows are grouped into blocks, --block-kernel how blocks are factored, "
             "--block-precision the precision that they are stored in; --scaling, --order and --pairs affect "
             "the blocking.\n\n"
             "--method ldlt preconditions with an incomplete block LDL' factorization. --fill chooses which "
             "blocks are kept beyond those of A; --pivot, --push-back and --small-pivot keep the "
             "factorization stable. --method jacobi computes such factors by --sweeps on a pattern known in "
             "advance. --paper selects the published settings of either.\n\n"
             "The report goes to standard output. x is written only to --out; if the tolerance was not "
             "reached, it is the best x found, and the file says so.",
    .examples = "  saddle solve A.mtx.gz                      # b = A times ones: the solution is known\n"
                "  saddle solve A.mtx --rhs b.mtx --out x.mtx # your own right-hand side\n"
                "  saddle solve A.mtx --factorization cholesky --condition\n"
                "  saddle solve A.mtx --krylov minres --method diagonal --plot curve.svg\n"
                "  saddle solve A.mtx --method bjacobi --block-size 16 --device cuda\n"
                "  saddle solve A.mtx --method ldlt --fill tau:0.001\n"
                "  saddle solve A.mtx --paper --block-size 8  # a published method, with smaller blocks\n"
                "  gzip -dc A.mtx.gz | saddle solve - -q --json - | jq .iterations\n",
    .options = solve_options,
    .library =
        "method|krylov|restart|maxiter|tol|stop|device|device_index|precision|threads|max_memory|scaling|"
        "order|pairs|"
        "factorization|threshold|regularise|check|blocking|block_size|block_kernel|block_precision|"
        "fill|fill_tau|fill_level|pivot|push_back|small_pivot|sweeps|sweep_order|relax|fallback|trisolve|"
        "trisolve_sweeps|factor_precision",
    .least = 1,
    .most = 1,
    .run = run_solve,
};
