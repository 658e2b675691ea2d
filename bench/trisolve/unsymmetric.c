/*
 * `saddle bench trisolve --part unsymmetric`: ILU(0), ILU(1) and ILUT with GMRES on general matrices, beside
 * SciPy's spilu (SuperLU) with at most as many entries in its factors (bench/peers/spilu.py).
 *
 * Both get the same system: the matrix scaled by its largest matching, whose entries are on the diagonal
 * (without that, spilu finds some matrices with zeros there singular), a right-hand side of ones, and GMRES
 * with the same restart, tolerance and number of iterations. Saddle prepares it again as it does by default.
 */
#include "bench/trisolve/trisolve.h"

#include "bench/child.h"
#include "bench/direct/peer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FORMS = 3 };
static const struct {
    const char *title, *name, *text;
} forms[FORMS] = {
    {"ILU(0)", "ilu0", "krylov=gmres level=0"},
    {"ILU(1)", "ilu1", "krylov=gmres level=1"},
    {"ILUT", "ilut", "krylov=gmres fill=tau:0.001"},
};

/* What the peer told; numbers that are not known are NaN. */
typedef struct spilu_result {
    bool run, solved;
    char why[96];
    double nnz, iterations, setup, solve, relative_residual, fill_factor, drop_tol;
} spilu_result;

typedef struct unsymmetric_row {
    bench_matrix matrix;
    char why[96]; /* it was not begun */
    char version[64];
    trisolve_result ours[FORMS];
    spilu_result peer[FORMS];
} unsymmetric_row;

static void take_line(const char *line, double tol, spilu_result *p, char *version, size_t version_size)
{
    p->run = true;
    p->nnz = peer_told_number(line, "nnz");
    p->iterations = peer_told_number(line, "iterations");
    p->setup = peer_told_number(line, "setup");
    p->solve = peer_told_number(line, "solve");
    p->relative_residual = peer_told_number(line, "relative_residual");
    p->fill_factor = peer_told_number(line, "fill_factor");
    p->drop_tol = peer_told_number(line, "drop_tol");
    p->solved = p->relative_residual <= tol;
    peer_told_text(line, "version", version, version_size);
    if (!peer_told_text(line, "error", p->why, sizeof p->why) && !p->solved)
        snprintf(p->why, sizeof p->why, "iteration limit");
}

/* How many entries the peer may have: as many as we have; as the matrix where we have none. */
static void most_text(const unsymmetric_row *row, char *text, size_t size)
{
    text[0] = 0;
    for (int f = 0; f < FORMS; ++f) {
        const int64_t ours = row->ours[f].info.factor_nnz;
        const size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%" PRId64, f ? "," : "",
                 ours > 0 ? ours : row->matrix.nnz + row->matrix.n);
    }
}

/* The driver on the matrix in a file: a line for each form. */
static void ask_peer(trisolve_bench *t, const char *driver, const char *matrix, unsymmetric_row *row)
{
    const saddle_options o = trisolve_usual(t);
    char most[96], restart[24], maxiter[24], tol[32], line[1024];
    child c;
    most_text(row, most, sizeof most);
    snprintf(restart, sizeof restart, "%" PRId64, o.restart);
    snprintf(maxiter, sizeof maxiter, "%" PRId64, o.maxiter);
    snprintf(tol, sizeof tol, "%.17g", o.tol);
    const char *const argv[] = {"env",
                                "OMP_NUM_THREADS=1",
                                "OPENBLAS_NUM_THREADS=1",
                                driver,
                                matrix,
                                "--most",
                                most,
                                "--restart",
                                restart,
                                "--maxiter",
                                maxiter,
                                "--tol",
                                tol,
                                NULL};
    const bool begun = child_start(&c, argv, trisolve_left(t), !argument_given(t->a, "verbose"));
    child_word word = begun ? CHILD_LINE : CHILD_END;
    for (int f = 0; f < FORMS; ++f) {
        if (word == CHILD_LINE) word = child_line(&c, line, sizeof line);
        if (word == CHILD_LINE)
            take_line(line, o.tol, &row->peer[f], row->version, sizeof row->version);
        else
            snprintf(row->peer[f].why, sizeof row->peer[f].why, "%s", child_why(word));
    }
    child_end(&c, true);
}

static void compare(trisolve_bench *t, unsymmetric_row *row)
{
    char driver[4096], matrix[4096];
    if (!bench_driver("peer-spilu", argument_text(t->a, "peers"), driver, sizeof driver)) return;
    if (bench_temporary(".mtx", matrix, sizeof matrix) != EXIT_DONE) return;
    if (saddle_write_matrix(matrix, &t->A, row->matrix.name, t->message) == SADDLE_OK)
        ask_peer(t, driver, matrix, row);
    else
        for (int f = 0; f < FORMS; ++f)
            snprintf(row->peer[f].why, sizeof row->peer[f].why, "%.90s", t->message);
    unlink(matrix);
}

static void measure(trisolve_bench *t, void *to)
{
    unsymmetric_row *row = to;
    for (int f = 0; f < FORMS; ++f) {
        row->peer[f].nnz = row->peer[f].iterations = row->peer[f].setup = row->peer[f].solve = NAN;
        row->peer[f].relative_residual = row->peer[f].fill_factor = row->peer[f].drop_tol = NAN;
    }
    if (!trisolve_scale(t)) {
        snprintf(row->why, sizeof row->why, "%.90s", t->message);
        return;
    }
    for (int f = 0; f < FORMS; ++f) row->ours[f] = trisolve_repeat(t, forms[f].text, INFINITY);
    compare(t, row);
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const unsymmetric_row *row = at;
    (void)t;
    if (first)
        printf("%-24s%8s        %9s%7s%9s%9s  %10s%7s%9s%9s\n", "unsymmetric", "n", "Saddle:its", "fill",
               "residual", "total s", "spilu: its", "fill", "residual", "total s");
    if (row->why[0])
        printf("%-24.24s%8" PRId64 "  cannot be scaled: %s\n", row->matrix.name, row->matrix.n, row->why);
    for (int f = 0; f < FORMS && !row->why[0]; ++f) {
        const trisolve_result *r = &row->ours[f];
        const spilu_result *p = &row->peer[f];
        const double nnz = (double)row->matrix.nnz;
        printf("%-24.24s%8" PRId64 " %-6s", f ? "" : row->matrix.name, row->matrix.n, forms[f].title);
        PRINT_COLUMNS("10.0f 7.2f 9.1e 9.4f 12.0f 7.2f 9.1e 9.4f", r->solved ? trisolve_iterations(r) : NAN,
                      r->info.factor_nnz < 0 ? NAN : (double)r->info.factor_nnz / nnz,
                      r->info.relative_residual, trisolve_total(r), p->solved ? p->iterations : NAN,
                      p->nnz / nnz, p->relative_residual, p->setup + p->solve);
        printf("%s%s%s%s\n", r->why[0] ? "  " : "", r->why, p->why[0] ? "  spilu: " : "", p->why);
    }
    fflush(stdout);
}

typedef struct unsymmetric_count {
    int run, ours, peer_run, peer, lost, won; /* lost: the peer alone solved it */
} unsymmetric_count;

static unsymmetric_count count_form(const trisolve_rows *rows, int form)
{
    const unsymmetric_row *at = rows->at;
    unsymmetric_count c = {0};
    for (int64_t i = 0; i < rows->count; ++i) {
        const bool ours = at[i].ours[form].solved, theirs = at[i].peer[form].solved;
        c.run += at[i].ours[form].run;
        c.ours += ours;
        c.peer_run += at[i].peer[form].run;
        c.peer += theirs;
        c.lost += theirs && !ours;
        c.won += at[i].peer[form].run && ours && !theirs;
    }
    return c;
}

static void print(const trisolve_bench *t, const trisolve_rows *rows)
{
    const unsymmetric_row *first = rows->at;
    (void)t;
    printf("\n%-8s%10s%6s%10s%6s%14s%14s\n", "solved", "Saddle", "of", "spilu", "of", "only Saddle",
           "only spilu");
    for (int f = 0; f < FORMS; ++f) {
        const unsymmetric_count c = count_form(rows, f);
        printf("%-8s%10d%6d%10d%6d%14d%14d\n", forms[f].title, c.ours, c.run, c.peer, c.peer_run, c.won,
               c.lost);
    }
    printf(first->version[0] ? "spilu: SciPy %s\n"
                             : "spilu was not run: it requires python3 with SciPy, and peer-spilu%s\n",
           first->version);
}

static void write_peer(json *j, const spilu_result *p)
{
    JSON_OBJECT(j, "spilu", true, J_TRUTH("run", p->run), J_TRUTH("solved", p->solved),
                J_TEXT("why", p->why[0] ? p->why : NULL), J_NUMBER("factor_nnz", p->nnz),
                J_NUMBER("iterations", p->iterations), J_NUMBER("relative_residual", p->relative_residual),
                J_NUMBER("setup", p->setup), J_NUMBER("solve", p->solve),
                J_NUMBER("fill_factor", p->fill_factor), J_NUMBER("drop_tol", p->drop_tol));
}

static void write_matrix(json *j, const unsymmetric_row *row)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    JSON_PUT(j, true, J_TEXT("why", row->why[0] ? row->why : NULL),
             J_TEXT("scipy", row->version[0] ? row->version : NULL));
    for (int f = 0; f < FORMS && !row->why[0]; ++f) {
        json_object(j, forms[f].name);
        trisolve_json_result(j, "saddle", &row->ours[f]);
        write_peer(j, &row->peer[f]);
        json_close(j);
    }
    json_close(j);
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const unsymmetric_row *at = rows->at;
    (void)t;
    json_object(j, "unsymmetric");
    json_array(j, "rows");
    for (int64_t i = 0; i < rows->count; ++i) write_matrix(j, &at[i]);
    json_close(j);
    json_object(j, "solved");
    for (int f = 0; f < FORMS; ++f) {
        const unsymmetric_count c = count_form(rows, f);
        JSON_OBJECT(j, forms[f].name, true, J_COUNT("saddle", c.ours), J_COUNT("of", c.run),
                    J_COUNT("spilu", c.peer), J_COUNT("spilu_of", c.peer_run), J_COUNT("only_saddle", c.won),
                    J_COUNT("only_spilu", c.lost));
    }
    json_close(j);
    json_close(j);
}

const trisolve_kind kind_unsymmetric = {
    .first = PART_UNSYMMETRIC,
    .last = PART_UNSYMMETRIC,
    .takes = TAKES_GENERAL,
    .size = sizeof(unsymmetric_row),
    .measure = measure,
    .print_row = print_row,
    .print = print,
    .write = write_rows,
};
