/*
 * `saddle bench trisolve`: incomplete factorizations with exact and swept triangular solves.
 *
 * The parts are named after the tables and figures of E. Chow, H. Anzt, J. Scott and J. Dongarra, Using
 * Jacobi iterations and blocking for solving sparse triangular systems in incomplete factorization
 * preconditioning, whose experiments they repeat on any matrices: scaling by the 2-norms of columns, reverse
 * Cuthill-McKee, a right-hand side of ones, CG to a relative residual of 1e-6 within 3,000 iterations.
 */
#include "bench/trisolve/search.h"
#include "bench/trisolve/settings.h"
#include "cli/memory.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/run.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const trisolve_part_names[PARTS] = {
    "settings", "figure1", "figure2",    "figure3", "figure4", "figure5",  "table1",     "figure6",
    "figure7",  "figure8", "tables2to5", "figure9", "auto",    "cusparse", "unsymmetric"};

static const trisolve_kind *const kinds[] = {&kind_settings, &kind_sweeps, &kind_search,   &kind_dominance,
                                             &kind_orders,   &kind_auto,   &kind_cusparse, &kind_unsymmetric};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct trisolve_report {
    trisolve_bench *bench;
    trisolve_rows rows[KINDS];
} trisolve_report;

/* ---- what the command line says ---- */

static int parse_levels(trisolve_bench *t)
{
    const char *at = argument_text(t->a, "levels");
    while (at && *at) {
        char *end;
        const long level = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || level < 0 || level > 255)
            return usage_error(t->a, "--levels: \"%s\" is not a list of numbers from 0 to 255", at);
        if (t->level_count == LEVELS_MOST)
            return usage_error(t->a, "--levels: at most %d of them", LEVELS_MOST);
        t->levels[t->level_count++] = (int)level;
        at = *end ? end + 1 : end;
    }
    return EXIT_DONE;
}

int trisolve_levels(const trisolve_bench *t, const int *usual, int count, int *levels)
{
    const int *from = t->level_count > 0 ? t->levels : usual;
    if (t->level_count > 0) count = t->level_count;
    memcpy(levels, from, (size_t)count * sizeof *levels);
    return count;
}

int trisolve_most(const trisolve_bench *t, int usual)
{
    return argument_given(t->a, "most") ? (int)argument_count(t->a, "most") : usual;
}

static bool kind_wanted(const trisolve_bench *t, const trisolve_kind *kind)
{
    for (int p = (int)kind->first; p <= (int)kind->last; ++p)
        if (t->wanted[p]) return true;
    return false;
}

/* Options that would do nothing, and outputs that cannot be. */
static int check_usage(trisolve_bench *t)
{
    static const char *const outputs[] = {"json", "plot"};
    const arguments *a = t->a;
    int status = bench_choose(a, "part", trisolve_part_names, PARTS, t->wanted);
    if (status == EXIT_DONE) status = parse_levels(t);
    if (status != EXIT_DONE) return status;
    if (argument_given(a, "settings") && !t->wanted[PART_SETTINGS])
        return usage_error(a, "--settings applies to --part settings");
    if (argument_given(a, "best") && !t->wanted[PART_TABLE1])
        return usage_error(a, "--best applies to --part table1");
    if (argument_given(a, "ways") && !kind_wanted(t, &kind_search))
        return usage_error(a, "--ways applies to --part table1, figure6 and figure7");
    if (argument_given(a, "peers") && !t->wanted[PART_UNSYMMETRIC] && !t->wanted[PART_CUSPARSE])
        return usage_error(a, "--peers applies to --part unsymmetric and --part cusparse");
    status = search_check(a);
    if (status == EXIT_DONE) status = settings_check(a);
    if (status == EXIT_DONE) status = bench_check_operands(a);
    if (status == EXIT_DONE) status = bench_check_files(a);
    if (status == EXIT_DONE) status = plot_check(argument_text(a, "plot"));
    return status == EXIT_DONE ? outputs_check(a, outputs, 2) : status;
}

/* ---- the matrices ---- */

static bool takes(const trisolve_bench *t, const trisolve_kind *kind)
{
    if (!kind_wanted(t, kind)) return false;
    return kind->takes == TAKES_ALL || (kind->takes == TAKES_SYMMETRIC) == t->problem.symmetric;
}

/* Whether the rows can be told as they come: those of several kinds are told one kind after the other. */
static bool is_alone(const trisolve_bench *t)
{
    int count = 0;
    for (int k = 0; k < KINDS; ++k) count += kind_wanted(t, kinds[k]);
    return count == 1;
}

/* The matrix at work by every part that takes it; an exit status. */
static int measure_matrix(trisolve_report *report)
{
    trisolve_bench *t = report->bench;
    for (int k = 0; k < KINDS; ++k) {
        if (!takes(t, kinds[k]) || progress_interrupted()) continue;
        trisolve_rows *rows = &report->rows[k];
        bench_matrix *row = one_more(&rows->at, &rows->count, &rows->room, kinds[k]->size);
        if (!row) return fail(EXIT_MEMORY, "out of memory for the rows");
        *row = t->problem.matrix;
        t->until = bench_now(&t->watch) + argument_real(t->a, "limit");
        kinds[k]->measure(t, row);
        progress_end();
        if (progress_interrupted()) { /* what is not whole does not count */
            if (kinds[k]->release) kinds[k]->release(row);
            rows->count--;
        } else if (bench_prints(t->a) && is_alone(t)) {
            kinds[k]->print_row(t, row, rows->count == 1);
        }
    }
    return EXIT_DONE;
}

/* One after the other; one that cannot be read is told and is the exit status, and the next ones go on. */
static int walk(trisolve_report *report, const bench_operands *o)
{
    trisolve_bench *t = report->bench;
    int status = EXIT_DONE;
    for (int64_t k = 0; k < o->count && !progress_interrupted(); ++k) {
        if (o->count > 1 && !argument_given(t->a, "quiet"))
            fprintf(stderr, "saddle bench: %lld of %lld: %s\n", (long long)k + 1, (long long)o->count,
                    o->paths[k]);
        int one = trisolve_load(t, o->paths[k]);
        if (one == EXIT_DONE) {
            one = measure_matrix(report);
            trisolve_unload(t);
        }
        if (one != EXIT_DONE) status = one;
        progress_end();
        if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", o->paths[k]);
    }
    return status;
}

/* ---- the report ---- */

static void print_report(const trisolve_report *report)
{
    const bool told = is_alone(report->bench);
    for (int k = 0; k < KINDS; ++k) {
        const trisolve_rows *rows = &report->rows[k];
        const char *at = rows->at;
        for (int64_t i = 0; i < rows->count && !told; ++i)
            kinds[k]->print_row(report->bench, at + (size_t)i * kinds[k]->size, i == 0);
        if (kinds[k]->print && rows->count > 0) kinds[k]->print(report->bench, rows);
        if (!told && rows->count > 0) putchar('\n');
    }
    bench_print_run(report->bench->a);
}

static void write_head(json *j, const trisolve_bench *t)
{
    char day[16];
    machine_probe machine;
    probe_machine(&machine);
    bench_today(day, sizeof day);
    bench_json_head(j, "trisolve");
    json_array(j, "parts");
    for (int p = 0; p < PARTS; ++p)
        if (t->wanted[p]) json_text(j, NULL, trisolve_part_names[p]);
    json_close(j);
    JSON_PUT(j, true, J_TEXT("day", day), J_TEXT("machine", machine.cpu), J_TEXT("simd", machine.simd),
             J_COUNT("threads", argument_count(t->a, "threads")),
             J_NUMBER("limit", argument_real(t->a, "limit")), J_TRUTH("core_time", bench_core_time(t->a)),
             J_TRUTH("scaled", argument_given(t->a, "scaled")));
}

static void write_report(json *j, const void *what)
{
    const trisolve_report *report = what;
    write_head(j, report->bench);
    for (int k = 0; k < KINDS; ++k)
        if (report->rows[k].count > 0) kinds[k]->write(j, report->bench, &report->rows[k]);
}

static int end_report(trisolve_report *report, int status)
{
    int64_t rows = 0;
    for (int k = 0; k < KINDS; ++k) rows += report->rows[k].count;
    if (rows > 0 && bench_prints(report->bench->a)) print_report(report);
    if (rows > 0)
        status = bench_draw(report->bench->a, status, write_report, report);
    else if (status == EXIT_DONE)
        status =
            fail(EXIT_FILE, "none of the matrices is one that the part takes: symmetric ones, unsymmetric: "
                            "general ones");
    for (int k = 0; k < KINDS; ++k) {
        char *at = report->rows[k].at;
        for (int64_t i = 0; i < report->rows[k].count && kinds[k]->release; ++i)
            kinds[k]->release(at + (size_t)i * kinds[k]->size);
        free(at);
    }
    return status;
}

static int run_trisolve(const arguments *a)
{
    static const char *const folders[] = {"spd", "unsymmetric"};
    trisolve_bench t = {.a = a, .watch = {.core = bench_core_time(a)}};
    trisolve_report report = {.bench = &t};
    bench_operands operands = {0, 0, NULL};
    int status = check_usage(&t);
    const bool general = t.wanted[PART_UNSYMMETRIC];
    if (status == EXIT_DONE) status = bench_operands_find(&operands, a, folders + general, 1);
    if (status == EXIT_DONE) {
        t.watch.hooks = progress_begin(a);
        status = walk(&report, &operands);
        progress_end();
        status = end_report(&report, status);
    }
    bench_operands_free(&operands);
    return status;
}

static const option command_options[] = {
    OPTION_TEXT("part", "NAME[,NAME...]", "settings",
                "what to measure: settings, figure1 to figure9, table1, tables2to5, auto, cusparse, "
                "unsymmetric"),
    OPTION_TEXT(
        "settings", "TEXT", NULL,
        "settings of --part settings: options NAME=VALUE with blanks between them, and ; between settings"),
    OPTION_TEXT("levels", "K[,K...]", NULL, "levels of fill (default: as in the paper)"),
    OPTION_COUNT("most", "N", 20, 1, SWEEPS_MOST,
                 "sweeps, at most (figures and tables2to5: as in the paper)"),
    OPTION_FLAG("best", 0, "table1: try all numbers of sweeps and blockings for the fastest"),
    OPTION_TEXT(
        "ways", "NAME[,NAME...]", NULL,
        "table1, figure6, figure7: what is tried: entries, blocks_12, best_12, blocks_24, best_24 (default: "
        "all)"),
    OPTION_FLAG("scaled", 0,
                "scale the system beforehand, as in the paper: b is 1 and the tolerance holds after scaling"),
    OPTION_COUNT("repeat", "N", 1, 1, 1000, "runs of each, except in table1; the best counts"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads of Saddle"),
    OPTION_REAL("limit", "SECONDS", 60.0, 0.1, 1e6, "time limit of a part for one matrix"),
    OPTION_TEXT("peers", "DIR|none", NULL,
                "unsymmetric, cusparse: folder of the drivers; by default next to saddle"),
    BENCH_PLOT("what was measured, one panel each"),
    BENCH_JSON,
    OPTION_END,
};

const command command_trisolve = {
    .name = "trisolve",
    .operands = "[A.mtx[.gz]|DIR...]",
    .help = "incomplete factorizations with exact and swept triangular solves",
    .about =
        "For each matrix, or each in a folder (by default the folder spd of SADDLE_MATRICES): iterations, "
        "the "
        "time of an application and to solution of CG (of GMRES, if the matrix is not symmetric) with "
        "--method "
        "ic (ilu), with exact triangular solves and with sweeps, for a right-hand side of ones. Without "
        "options that say otherwise: --tol 1e-6 --stop residual, and for symmetric matrices --maxiter 3000 "
        "--scaling col2 --order rcm. The first sweep is from 0; the paper counts it as 0.\n\n"
        "--part settings: matrices by settings. figure1 to figure5: the residual of a triangular solve, "
        "iterations and time against the number of sweeps. table1: how many of the matrices that are solved "
        "with exact triangular solves are solved with up to 20 sweeps over entries, over blocks of "
        "adjacent rows, and over the blocks of any blocking; figure6, figure7: which numbers of sweeps are "
        "fastest, and the speed-ups; figure8: the dominance of the factors; tables2to5, figure9: orders that "
        "come with blockings. auto: the time to solution of --trisolve auto, compared with the best of all "
        "that can be named. cusparse, with --device cuda: IC(k) on a GPU beside cuSPARSE's factorization and "
        "triangular solves. unsymmetric: ILU(0), ILU(1) and ILUT with GMRES on general matrices, compared "
        "with "
        "SciPy's spilu at the same fill.",
    .examples = "  saddle bench trisolve lap3d_30 elas3d_12 --repeat 3\n"
                "  saddle bench trisolve A.mtx --settings \"level=2 trisolve=exact; level=2 trisolve=auto\"\n"
                "  saddle bench trisolve matrices/spd --part table1 --json table1.json\n"
                "  saddle bench trisolve A.mtx --part figure1,figure4 --plot sweeps.png\n",
    .options = command_options,
    .library =
        "krylov|restart|maxiter|tol|stop|device|device_index|precision|scaling|order|pairs|setup|sweeps|"
        "factor_precision|fill_most",
    .most = INT_MAX,
    .run = run_trisolve,
};
