/*
 * `saddle bench ldlt --part symildl`: block LDL' beside SYM-ILDL (Greif, He and Liu), an incomplete LDL'
 * factorization with rook pivoting and SQMR in a program of its own (bench/peers/symildl.py), by its defaults
 * and with at most as many entries in L as Saddle stores.
 *
 * Both get the same matrix and right-hand sides, and go on to a relative residual of 1e-8 within 1,000
 * iterations. SYM-ILDL stops by the residual that SQMR carries along, of the matrix as it has scaled it; what
 * counts is what its solution leaves of the matrix as given, measured here for both alike. Where that is too
 * much, it is asked again for a residual smaller by as much. It tells whole milliseconds: times are compared
 * where it takes ten of them.
 */
#define _GNU_SOURCE
#include "bench/child.h"
#include "bench/direct/peer.h"
#include "bench/ldlt/ldlt.h"
#include "bench/means.h"
#include "cli/progress.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TOLERANCE 1e-8
#define SMALLEST 1e-14                 /* residual that it is asked for: rounding leaves hardly less */
#define MARGIN 0.3                     /* by how much more than is missing */
#define TIME_LEAST 0.01                /* seconds that its milliseconds tell well enough */
#define START_MOST 60.0                /* seconds until the driver says whether it has a program */
enum { ITERATIONS = 1000, AGAIN = 2 }; /* how often it is asked again */

enum { BY_DEFAULT, EQUAL_FILL, SETTINGS };
static const char *const setting_names[SETTINGS] = {"default", "equal"};
static const char *const setting_titles[SETTINGS] = {"SYM-ILDL", "SYM-ILDL, equal"};

/* What the peer told, and the errors of its solutions. Numbers that are not known are NaN, counts -1. */
typedef struct symildl_run {
    bool run, solved;
    char why[96];
    double nnz, setup, fill, drop_tol;
    double asked; /* residual */
    int64_t iterations[LDLT_SIDES];
    double solve[LDLT_SIDES], told[LDLT_SIDES]; /* its own residual */
    saddle_errors errors[LDLT_SIDES];
} symildl_run;

typedef struct symildl_row {
    bench_matrix matrix;
    ldlt_result ours;
    symildl_run peer[SETTINGS];
} symildl_row;

typedef struct symildl_report {
    const ldlt_bench *bench;
    char driver[4096], absent[96]; /* why it is not there */
    int count;
    symildl_row *rows;
} symildl_report;

static symildl_run nothing(const char *why)
{
    symildl_run p = {.nnz = NAN, .setup = NAN, .fill = NAN, .drop_tol = NAN, .asked = TOLERANCE};
    snprintf(p.why, sizeof p.why, "%.90s", why);
    for (int k = 0; k < LDLT_SIDES; ++k) {
        p.iterations[k] = -1;
        p.solve[k] = p.told[k] = NAN;
        p.errors[k] = (saddle_errors){NAN, NAN, NAN};
    }
    return p;
}

/* ---- ours ---- */

static bool reached(double residual, double componentwise)
{
    return residual <= TOLERANCE || componentwise <= TOLERANCE;
}

/* SYM-ILDL sets up once for each right-hand side, and the lesser time counts: so does ours. */
static ldlt_result try_ours(ldlt_bench *t)
{
    const saddle_options o = ldlt_options(t, "method=ldlt tol=1e-8 stop=residual maxiter=1000");
    ldlt_result r = ldlt_try(t, &o, LDLT_SIDES);
    r.solved = true;
    for (int k = 0; k < LDLT_SIDES; ++k) r.solved &= reached(r.residual[k], r.componentwise[k]);
    if (!r.solved || progress_interrupted()) return r;
    r.why[0] = 0;
    const ldlt_result again = ldlt_try(t, &o, 0);
    if (ldlt_setup(&again) < ldlt_setup(&r)) {
        r.analysis = again.analysis;
        r.factor = again.factor;
    }
    return r;
}

/* ---- the peer's ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

/* A folder for the files of a matrix, in which the program also works: whatever it leaves there goes with it.
 */
static bool make_folder(char *folder, size_t size)
{
    const char *among = getenv("TMPDIR");
    snprintf(folder, size, "%s/saddle-bench.XXXXXX", among && *among ? among : "/tmp");
    return mkdtemp(folder) != NULL;
}

/* The errors of a solution in a file, of the matrix as given; false, with the reason, where it is none. */
static bool measure_solution(ldlt_bench *t, const char *folder, int setting, int side, symildl_run *p)
{
    char path[4160];
    int64_t n = 0;
    double *x = NULL;
    snprintf(path, sizeof path, "%s/%s-%d.mtx", folder, setting_names[setting], side);
    saddle_status status = saddle_read_vector(path, NULL, &n, &x, t->message);
    if (status == SADDLE_OK && n != t->problem.A.rows) {
        status = SADDLE_BAD_MATRIX;
        snprintf(t->message, sizeof t->message, "%" PRId64 " numbers", n);
    }
    if (status == SADDLE_OK)
        status = saddle_measure(&t->problem.A, t->b + side * n, x, NULL, 1, &t->watch.hooks, &p->errors[side],
                                t->message);
    saddle_vector_free(x, NULL);
    if (status == SADDLE_OK) return true;
    const char *said = t->message;
    const size_t length = strlen(folder);
    if (strncmp(said, folder, length) == 0 && said[length] == '/')
        said += length + 1; /* a name that is made up */
    snprintf(p->why, sizeof p->why, "its solution: %.70s", said);
    return false;
}

/* Whether its solutions are good enough, and why not. */
static void judge(symildl_run *p)
{
    p->solved = true;
    for (int k = 0; k < LDLT_SIDES; ++k) {
        if (reached(p->errors[k].relative_residual, p->errors[k].componentwise)) continue;
        p->solved = false;
        if (p->told[k] <= p->asked)
            snprintf(p->why, sizeof p->why, "it tells a residual of %.0e", p->told[k]);
        else
            snprintf(p->why, sizeof p->why, "%s",
                     p->iterations[k] >= ITERATIONS ? "iteration limit" : "its iteration broke down");
    }
}

/* The residual to ask for where the one that it tells is small enough and that of its solution is not:
 * smaller by as much as the worst solution lacks. NaN where asking again would not help. */
static double smaller_residual(const symildl_run *p)
{
    double missing = 1.0;
    if (p->solved || p->iterations[LDLT_SIDES - 1] < 0) return NAN;
    for (int k = 0; k < LDLT_SIDES; ++k) {
        const double left = fmin(p->errors[k].relative_residual, p->errors[k].componentwise);
        if (!(p->told[k] <= p->asked) || !isfinite(left)) return NAN;
        missing = fmin(missing, TOLERANCE / left);
    }
    const double smaller = fmax(SMALLEST, MARGIN * missing * p->asked);
    return smaller < p->asked ? smaller : NAN;
}

static void take_line(ldlt_bench *t, const char *line, const char *folder, int setting, symildl_run *p)
{
    char key[32];
    const double asked = p->asked;
    *p = nothing(""); /* nothing of what it told before */
    p->run = true;
    p->asked = asked;
    p->nnz = peer_told_number(line, "nnz");
    p->setup = peer_told_number(line, "setup");
    p->fill = peer_told_number(line, "fill");
    p->drop_tol = peer_told_number(line, "drop_tol");
    if (peer_told_text(line, "error", p->why, sizeof p->why)) return;
    bool readable = true;
    for (int k = 0; k < LDLT_SIDES; ++k) {
        snprintf(key, sizeof key, "iterations_%d", k);
        const double iterations = peer_told_number(line, key);
        p->iterations[k] = iterations >= 0 ? (int64_t)iterations : -1;
        snprintf(key, sizeof key, "solve_%d", k);
        p->solve[k] = peer_told_number(line, key);
        snprintf(key, sizeof key, "residual_%d", k);
        p->told[k] = peer_told_number(line, key);
        readable = readable && measure_solution(t, folder, setting, k, p);
    }
    if (readable) judge(p);
}

/* One setting; the word that ended it. */
static child_word ask_setting(ldlt_bench *t, child *c, const char *folder, int setting, symildl_run *p)
{
    char line[1024], tell[48];
    for (int again = 0; again <= AGAIN; ++again) {
        const child_word word = child_line(c, line, sizeof line);
        if (word != CHILD_LINE) *p = nothing(child_why(word));
        if (word != CHILD_LINE) return word;
        take_line(t, line, folder, setting, p);
        const double smaller = smaller_residual(p);
        if (again == AGAIN || isnan(smaller)) break;
        snprintf(tell, sizeof tell, "tol %.17g\n", smaller);
        if (!child_tell(c, tell)) break;
        p->asked = smaller;
    }
    child_tell(c, "next\n");
    return CHILD_LINE;
}

/* The driver ends a run of the program that takes too long; here, itself. */
static void converse(ldlt_bench *t, const char *const *argv, const char *folder, symildl_run *theirs)
{
    child c;
    const int runs = SETTINGS * LDLT_SIDES * (1 + AGAIN) + 1; /* and a search */
    const bool begun = child_start(&c, argv, 30.0 + runs * t->limit, !argument_given(t->a, "verbose"));
    child_word word = begun ? CHILD_LINE : CHILD_END;
    for (int s = 0; s < SETTINGS; ++s) {
        if (word == CHILD_LINE)
            word = ask_setting(t, &c, folder, s, &theirs[s]);
        else
            theirs[s] = nothing(child_why(word));
    }
    child_end(&c, true);
}

/* How many entries L may have: as many as we store; as the matrix where we have no factors. */
static int64_t most_entries(const symildl_row *row)
{
    const int64_t ours = row->ours.info.factor_nnz;
    return ours > 0 ? ours : row->matrix.nnz + row->matrix.n;
}

static void ask(ldlt_bench *t, const char *driver, const char *folder, symildl_row *row)
{
    const int64_t n = t->problem.A.rows;
    char files[1 + LDLT_SIDES][4160], rhs[2 * 4160 + 1], most[24], maxiter[24], tol[32], limit[32];
    snprintf(files[0], sizeof files[0], "%s/A.mtx", folder);
    saddle_status status = saddle_write_matrix(files[0], &t->problem.A, NULL, t->message);
    for (int k = 0; k < LDLT_SIDES; ++k) {
        snprintf(files[1 + k], sizeof files[1 + k], "%s/b%d.mtx", folder, k);
        if (status == SADDLE_OK)
            status = saddle_write_vector(files[1 + k], n, t->b + k * n, NULL, t->message);
    }
    if (status != SADDLE_OK) {
        for (int s = 0; s < SETTINGS; ++s) row->peer[s] = nothing(t->message);
        return;
    }
    snprintf(rhs, sizeof rhs, "%s,%s", files[1], files[2]);
    snprintf(most, sizeof most, "%" PRId64, most_entries(row));
    snprintf(maxiter, sizeof maxiter, "%d", ITERATIONS);
    snprintf(tol, sizeof tol, "%.17g", TOLERANCE);
    snprintf(limit, sizeof limit, "%.17g", t->limit);
    const char *const argv[] = {"env",       "OMP_NUM_THREADS=1",
                                driver,      files[0],
                                "--rhs",     rhs,
                                "--most",    most,
                                "--maxiter", maxiter,
                                "--tol",     tol,
                                "--limit",   limit,
                                "--folder",  folder,
                                "--turns",   NULL};
    converse(t, argv, folder, row->peer);
}

static void compare(ldlt_bench *t, const char *driver, symildl_row *row)
{
    char folder[4096];
    for (int s = 0; s < SETTINGS; ++s) row->peer[s] = nothing("");
    if (!t->problem.symmetric || progress_interrupted()) return;
    if (make_folder(folder, sizeof folder)) {
        ask(t, driver, folder, row);
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    } else {
        for (int s = 0; s < SETTINGS; ++s) row->peer[s] = nothing(strerror(errno));
    }
}

/* ---- tables ---- */

static void print_header(void)
{
    printf("%-18s%8s  %-16s%9s%7s%9s%9s%9s%9s\n", "symildl", "n", "", "its", "/ nnz", "setup s", "solve s",
           "residual", "compon.");
}

static double larger(const double *two)
{
    return isnan(two[0]) || isnan(two[1]) ? NAN : fmax(two[0], two[1]);
}

static void print_line(const char *title, const int64_t *iterations, const double *numbers, const char *why)
{
    char text[48];
    printf("  %-16s%9s", title, ldlt_sides_text(iterations, text, sizeof text));
    print_columns("7.2f 9.4f 9.4f 9.0e 9.0e", numbers);
    printf("%s%s\n", why[0] ? "  no: " : "", why);
}

static void print_row(const symildl_row *row)
{
    const ldlt_result *r = &row->ours;
    const double ours[] = {ldlt_stored(r, row->matrix.nnz), ldlt_setup(r), ldlt_solve_time(r),
                           larger(r->residual), larger(r->componentwise)};
    printf("%-18.17s%8" PRId64, row->matrix.name, row->matrix.n);
    print_line("Saddle", r->iterations, ours, r->why);
    for (int s = 0; s < SETTINGS; ++s) {
        const symildl_run *p = &row->peer[s];
        const double residual[] = {p->errors[0].relative_residual, p->errors[1].relative_residual};
        const double componentwise[] = {p->errors[0].componentwise, p->errors[1].componentwise};
        const double theirs[] = {p->nnz / (double)row->matrix.nnz, p->setup, larger(p->solve),
                                 larger(residual), larger(componentwise)};
        if (!p->run && !p->why[0]) continue;
        printf("%26s", "");
        print_line(setting_titles[s], p->iterations, theirs, p->why);
    }
    fflush(stdout);
}

typedef struct symildl_total {
    int run, ours, peer, only_ours, only_peer;
    int deceived;                        /* it tells a residual that its solution does not have */
    ratio_mean time, iterations, stored; /* theirs over ours, where both have solved it */
} symildl_total;

static double peer_iterations(const symildl_run *p)
{
    return fmax((double)p->iterations[0], (double)p->iterations[1]);
}

static symildl_total total_of(const symildl_report *t, int setting)
{
    symildl_total all = {0};
    for (const symildl_row *row = t->rows; row < t->rows + t->count; ++row) {
        const symildl_run *p = &row->peer[setting];
        const ldlt_result *r = &row->ours;
        const double theirs = p->setup + larger(p->solve), ours = ldlt_setup(r) + ldlt_solve_time(r);
        if (!p->run) continue;
        ++all.run;
        all.ours += r->solved;
        all.peer += p->solved;
        all.only_ours += r->solved && !p->solved;
        all.only_peer += p->solved && !r->solved;
        all.deceived += !p->solved && larger(p->told) <= p->asked;
        if (!r->solved || !p->solved) continue;
        mean_add(&all.iterations, peer_iterations(p) / ldlt_iterations(r), true, row->matrix.name);
        mean_add(&all.stored, p->nnz / (double)r->info.factor_nnz, true, row->matrix.name);
        if (theirs >= TIME_LEAST) mean_add(&all.time, theirs / ours, true, row->matrix.name);
    }
    return all;
}

static void print_totals(const void *report)
{
    const symildl_report *t = report;
    printf("\n%-14s%6s%8s%10s%10s%10s  SYM-ILDL's / Saddle's%10s%12s\n", "solved", "of", "Saddle", "SYM-ILDL",
           "Saddle", "SYM-ILDL", "", "told");
    printf("%-14s%6s%8s%10s%10s%10s%12s%10s%9s%12s\n", "", "", "", "", "alone", "alone", "iterations",
           "entries", "time", "otherwise");
    for (int s = 0; s < SETTINGS; ++s) {
        const symildl_total all = total_of(t, s);
        char time[32] = "-";
        if (all.time.count > 0) snprintf(time, sizeof time, "%.2f (%d)", mean_of(&all.time), all.time.count);
        printf("%-14s%6d%8d%10d%10d%10d", s == BY_DEFAULT ? "its defaults" : "equal fill", all.run, all.ours,
               all.peer, all.only_ours, all.only_peer);
        PRINT_COLUMNS("12.2f 10.2f", mean_of(&all.iterations), mean_of(&all.stored));
        printf("%11s%10d\n", time, all.deceived);
    }
    printf(
        "(solved: for b = A times ones and for a random b, relative residual or componentwise error of the\n"
        "matrix as given at most 1e-8, in 1,000 iterations; / nnz: entries of the factors over those of A;\n"
        "equal fill: at most as many entries in L as Saddle stores; iterations, entries, time: geometric\n"
        "means where both solve, of times (of so many) where SYM-ILDL takes 10 ms or more, since it tells\n"
        "whole milliseconds; SYM-ILDL stops by the residual of its scaled matrix, and is asked again where\n"
        "that of the matrix as given is larger; told otherwise: and is still)\n");
}

/* ---- JSON ---- */

static void json_run(json *j, const char *key, const symildl_run *p)
{
    json_object(j, key);
    JSON_PUT(j, true, J_TRUTH("run", p->run), J_TRUTH("solved", p->solved),
             J_TEXT("why", p->why[0] ? p->why : NULL), J_NUMBER("stored", p->nnz),
             J_NUMBER("setup", p->setup), J_NUMBER("fill", p->fill), J_NUMBER("drop_tol", p->drop_tol),
             J_NUMBER("asked_residual", p->asked));
    json_array(j, "right_hand_sides");
    for (int k = 0; k < LDLT_SIDES; ++k) {
        if (p->iterations[k] < 0) continue;
        JSON_OBJECT(j, NULL, true, J_TEXT("rhs", ldlt_side_names[k]), J_COUNT("iterations", p->iterations[k]),
                    J_NUMBER("told_residual", p->told[k]), J_NUMBER("backward_error", p->errors[k].backward),
                    J_NUMBER("componentwise_error", p->errors[k].componentwise),
                    J_NUMBER("relative_residual", p->errors[k].relative_residual),
                    J_NUMBER("solve", p->solve[k]));
    }
    json_close(j);
    json_close(j);
}

static void json_total(json *j, const symildl_total *all, const char *key)
{
    JSON_OBJECT(j, key, true, J_COUNT("of", all->run), J_COUNT("saddle", all->ours),
                J_COUNT("symildl", all->peer), J_COUNT("only_saddle", all->only_ours),
                J_COUNT("only_symildl", all->only_peer), J_COUNT("told_otherwise", all->deceived),
                J_NUMBER("iterations_ratio", mean_of(&all->iterations)),
                J_NUMBER("stored_ratio", mean_of(&all->stored)), J_NUMBER("time_ratio", mean_of(&all->time)),
                J_COUNT("timed", all->time.count));
}

static void json_symildl(json *j, const void *report)
{
    const symildl_report *t = report;
    ldlt_json_head(j, t->bench, "symildl");
    JSON_PUT(j, true, J_NUMBER("tolerance", TOLERANCE), J_TEXT("absent", t->absent[0] ? t->absent : NULL));
    json_array(j, "rows");
    for (const symildl_row *row = t->rows; row < t->rows + t->count; ++row) {
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        ldlt_json_result(j, "saddle", &row->ours);
        json_object(j, "symildl");
        for (int s = 0; s < SETTINGS; ++s) json_run(j, setting_names[s], &row->peer[s]);
        json_close(j);
        json_close(j);
    }
    json_close(j);
    json_object(j, "totals");
    for (int s = 0; s < SETTINGS; ++s) {
        const symildl_total all = total_of(t, s);
        json_total(j, &all, setting_names[s]);
    }
    json_close(j);
}

/* ---- all of them ---- */

static void measure_matrix(ldlt_bench *t, void *to)
{
    symildl_report *report = to;
    symildl_row *row = &report->rows[report->count];
    row->matrix = t->problem.matrix;
    row->ours = try_ours(t);
    compare(t, report->driver, row);
    if (progress_interrupted()) return;
    ++report->count;
    progress_end();
    if (!bench_prints(t->a)) return;
    if (report->count == 1) print_header();
    print_row(row);
}

/* Whether the driver is there, and has a program; why not. */
static bool is_there(const ldlt_bench *t, symildl_report *report)
{
    char line[256];
    child c;
    snprintf(report->absent, sizeof report->absent, "there is no peer-symildl");
    if (!bench_driver("peer-symildl", argument_text(t->a, "peers"), report->driver, sizeof report->driver))
        return false;
    const char *const argv[] = {report->driver, "--there", NULL};
    const bool begun = child_start(&c, argv, START_MOST, !argument_given(t->a, "verbose"));
    const child_word word = begun ? child_line(&c, line, sizeof line) : CHILD_END;
    child_end(&c, true);
    if (word != CHILD_LINE)
        snprintf(report->absent, sizeof report->absent, "its driver %s", child_why(word));
    else if (!peer_told_text(line, "absent", report->absent, sizeof report->absent))
        report->absent[0] = 0;
    return !report->absent[0];
}

/* Where there is nothing to compare with, nothing is measured: that is said at once. */
int ldlt_symildl(ldlt_bench *t, const bench_operands *o)
{
    symildl_report report = {.bench = t};
    if (!is_there(t, &report)) {
        if (bench_prints(t->a)) printf("SYM-ILDL was not run: %s\n", report.absent);
        return bench_save(t->a, EXIT_DONE, json_symildl, &report);
    }
    report.rows = calloc((size_t)o->count + 1, sizeof *report.rows);
    if (!report.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    const int status = ldlt_walk(t, o, measure_matrix, &report);
    return ldlt_end(t, status, report.count, print_totals, json_symildl, &report, report.rows);
}
