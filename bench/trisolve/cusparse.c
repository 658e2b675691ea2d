/*
 * `saddle bench trisolve --part cusparse`: IC(k) with exact and swept triangular solves on a GPU, beside
 * cuSPARSE's csric02 and SpSV (bench/peers/cusparse.c) in the same run, and the iterations of the CPU.
 *
 * Both begin with the same matrix in the same order; analyses are listed apart from factorizations and
 * solves. What a sweep over one triangle takes is the difference of applications with more and fewer sweeps.
 */
#include "bench/trisolve/trisolve.h"

#include "bench/child.h"
#include "bench/direct/peer.h"
#include "bench/means.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { EXACT, FEW, SOME, MANY, BLOCKS, AUTO, CPU, FORMS, SWEEPS_FEW = 2, SWEEPS_MANY = 6 };
static const struct {
    const char *title, *name, *text;
} forms[FORMS] = {
    {"exact", "exact", "trisolve=exact"},
    {"2 sweeps", "few", "trisolve=jacobi trisolve_sweeps=2"},
    {"4 sweeps", "some", "trisolve=jacobi trisolve_sweeps=4"},
    {"6 sweeps", "many", "trisolve=jacobi trisolve_sweeps=6"},
    {"3 sweeps, blocks", "blocks", "trisolve=block-jacobi blocking=adjacent block_size=12 trisolve_sweeps=3"},
    {"auto", "auto", "trisolve=auto"},
    {"exact, CPU", "cpu", "trisolve=exact device=cpu"},
};

/* What the peer told; NaN where it did not. */
typedef struct cusparse_result {
    char why[96], version[32];
    double analysis, factor, solve_analysis, apply, product, product_lower, iterations, solve,
        relative_residual;
} cusparse_result;

typedef struct cusparse_row {
    bench_matrix matrix;
    int count, levels[LEVELS_MOST];
    trisolve_result ours[LEVELS_MOST][FORMS];
    cusparse_result peer[LEVELS_MOST];
} cusparse_row;

static void take_line(const char *line, cusparse_result *p)
{
    p->analysis = peer_told_number(line, "analysis");
    p->factor = peer_told_number(line, "factor");
    p->solve_analysis = peer_told_number(line, "solve_analysis");
    p->apply = peer_told_number(line, "apply");
    p->product = peer_told_number(line, "product");
    p->product_lower = peer_told_number(line, "product_lower");
    p->iterations = peer_told_number(line, "iterations");
    p->solve = peer_told_number(line, "solve");
    p->relative_residual = peer_told_number(line, "relative_residual");
    peer_told_text(line, "version", p->version, sizeof p->version);
    peer_told_text(line, "error", p->why, sizeof p->why);
}

static void ask_peer(trisolve_bench *t, int level, cusparse_result *p)
{
    const saddle_options o = trisolve_usual(t);
    char driver[4096], fill[24], order[24], maxiter[24], tol[32], line[1024] = "";
    take_line(line, p); /* nothing yet */
    snprintf(p->why, sizeof p->why, "is not there");
    if (!bench_driver("peer-cusparse", argument_text(t->a, "peers"), driver, sizeof driver)) return;
    snprintf(fill, sizeof fill, "%d", level);
    snprintf(maxiter, sizeof maxiter, "%" PRId64, o.maxiter);
    snprintf(tol, sizeof tol, "%.17g", o.tol);
    saddle_options_get(&o, "order", order, sizeof order);
    const char *const argv[] = {driver,      t->operand, "--level", fill, "--order", order,
                                "--maxiter", maxiter,    "--tol",   tol,  NULL};
    child c;
    child_word word = CHILD_END;
    if (child_start(&c, argv, trisolve_left(t), !argument_given(t->a, "verbose")))
        word = child_line(&c, line, sizeof line);
    p->why[0] = 0;
    if (word == CHILD_LINE)
        take_line(line, p);
    else
        snprintf(p->why, sizeof p->why, "%s", child_why(word));
    child_end(&c, true);
}

static void measure(trisolve_bench *t, void *to)
{
    static const int usual[] = {0};
    cusparse_row *row = to;
    row->count = trisolve_levels(t, usual, 1, row->levels);
    for (int k = 0; k < row->count; ++k) {
        for (int f = 0; f < FORMS; ++f) {
            char text[TEXT];
            snprintf(text, sizeof text, "level=%d %s", row->levels[k], forms[f].text);
            row->ours[k][f] = trisolve_repeat(t, text, INFINITY);
            if (f != CPU) trisolve_measure_application(t, text, &row->ours[k][f]);
        }
        ask_peer(t, row->levels[k], &row->peer[k]);
    }
}

/* Seconds of a sweep over one triangle. */
static double sweep_of(const trisolve_result *ours)
{
    return (ours[MANY].application - ours[FEW].application) / (2 * (SWEEPS_MANY - SWEEPS_FEW));
}

/* The least time of the iteration of those on the GPU that solved it. */
static double best_solve(const trisolve_result *ours)
{
    double best = NAN;
    for (int f = 0; f < CPU; ++f)
        if (ours[f].solved) best = fmin(best, ours[f].solve);
    return best;
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const cusparse_row *row = at;
    (void)t;
    if (first)
        printf("%-24s%6s%12s%12s%10s%10s%10s\n", "beside cuSPARSE", "its", "analysis s", "factor ms",
               "apply ms", "solve s", "residual");
    for (int k = 0; k < row->count; ++k) {
        const trisolve_result *ours = row->ours[k];
        const cusparse_result *p = &row->peer[k];
        printf("%s, IC(%d): n = %" PRId64 ", nnz = %" PRId64 ", %" PRId64 " levels\n", row->matrix.name,
               row->levels[k], row->matrix.n, row->matrix.nnz, ours[EXACT].info.levels);
        for (int f = 0; f < FORMS; ++f) {
            const saddle_info *i = &ours[f].info;
            printf("  %-22s", forms[f].title);
            PRINT_COLUMNS("6.0f 12.3f 12.3f 10.4f 10.4f 10.1e", trisolve_iterations(&ours[f]),
                          i->time_prepare + i->time_plan, 1e3 * i->time_factor, 1e3 * ours[f].application,
                          ours[f].solve, i->relative_residual);
            printf("%s%s\n", ours[f].why[0] ? "  " : "", ours[f].why);
        }
        printf("  %-22s", "cuSPARSE");
        PRINT_COLUMNS("6.0f 12.3f 12.3f 10.4f 10.4f 10.1e", p->iterations, p->analysis + p->solve_analysis,
                      1e3 * p->factor, 1e3 * p->apply, p->solve, p->relative_residual);
        printf("%s%s\n", p->why[0] ? "  " : "", p->why);
        printf("  %-22s", "ms: a sweep, L v, A v");
        PRINT_COLUMNS("40.4f 10.4f 10.4f", 1e3 * sweep_of(ours), 1e3 * p->product_lower, 1e3 * p->product);
        putchar('\n');
    }
    fflush(stdout);
}

static void print(const trisolve_bench *t, const trisolve_rows *rows)
{
    const cusparse_row *at = rows->at;
    ratio_mean solve = {0}, exact = {0}, sweep = {0};
    (void)t;
    for (int64_t i = 0; i < rows->count; ++i)
        for (int k = 0; k < at[i].count; ++k) {
            const trisolve_result *ours = at[i].ours[k];
            mean_add(&solve, at[i].peer[k].solve / best_solve(ours), true, at[i].matrix.name);
            mean_add(&exact, ours[EXACT].application / at[i].peer[k].apply, false, at[i].matrix.name);
            mean_add(&sweep, sweep_of(ours) / at[i].peer[k].product_lower, false, at[i].matrix.name);
        }
    printf("\na sweep is over one triangle; L v and A v are cuSPARSE's products. Geometric means:\n");
    const struct {
        const char *of;
        const ratio_mean *mean;
    } means[] = {{"cuSPARSE's time of the iteration / the best of ours", &solve},
                 {"an exact application / cuSPARSE's", &exact},
                 {"a sweep / cuSPARSE's product with L", &sweep}};
    for (int k = 0; k < 3; ++k) {
        printf("  %-54s", means[k].of);
        PRINT_COLUMNS("8.2f", mean_of(means[k].mean));
        putchar('\n');
    }
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const cusparse_row *at = rows->at;
    (void)t;
    json_array(j, "cusparse");
    for (int64_t i = 0; i < rows->count; ++i)
        for (int k = 0; k < at[i].count; ++k) {
            const cusparse_result *p = &at[i].peer[k];
            json_object(j, NULL);
            bench_json_matrix(j, &at[i].matrix);
            JSON_PUT(j, true, J_COUNT("level", at[i].levels[k]), J_NUMBER("sweep", sweep_of(at[i].ours[k])));
            for (int f = 0; f < FORMS; ++f) trisolve_json_result(j, forms[f].name, &at[i].ours[k][f]);
            JSON_OBJECT(j, "cusparse", true, J_TEXT("why", p->why[0] ? p->why : NULL),
                        J_TEXT("version", p->version[0] ? p->version : NULL),
                        J_NUMBER("analysis", p->analysis), J_NUMBER("factor", p->factor),
                        J_NUMBER("solve_analysis", p->solve_analysis), J_NUMBER("application", p->apply),
                        J_NUMBER("product", p->product), J_NUMBER("product_lower", p->product_lower),
                        J_NUMBER("iterations", p->iterations), J_NUMBER("solve", p->solve),
                        J_NUMBER("relative_residual", p->relative_residual));
            json_close(j);
        }
    json_close(j);
}

const trisolve_kind kind_cusparse = {
    .first = PART_CUSPARSE,
    .last = PART_CUSPARSE,
    .takes = TAKES_SYMMETRIC,
    .size = sizeof(cusparse_row),
    .measure = measure,
    .print_row = print_row,
    .print = print,
    .write = write_rows,
};
