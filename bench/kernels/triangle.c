/*
 * Triangular solves with IC(0) or IC(k) factors in the order that a matrix comes in: an exact solve with L
 * and one with L' by one thread and by two, in each way that threads share rows, a sweep over both, and a
 * product with a matrix of the same entries; the best of several. The triangles are as solves have them, and
 * with rows where they were. Not installed; the target is bench_triangle, the program build/bench/triangle.
 *
 *     triangle [--level K] MATRIX...
 *
 * A matrix is a file, or a problem that is made: lap3d_100, elas3d_30.
 */
#include "bench/kernels/timing.h"
#include "bench/problem.h"
#include "factor/triangles.h"
#include "solve/operator.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 15 };

static void stop(const char *what, const char *message)
{
    fprintf(stderr, "%s: %s\n", what, message);
    exit(1);
}

#define BEST(best, WORK)                                                                                     \
    double best = INFINITY;                                                                                  \
    for (int round = 0; round < ROUNDS; ++round) {                                                           \
        const double began = now(CLOCK_MONOTONIC);                                                           \
        WORK;                                                                                                \
        best = fmin(best, now(CLOCK_MONOTONIC) - began);                                                     \
    }

static void solve_both(sd_engine *e, const sd_triangles *t, const sd_vector *b, sd_vector *y)
{
    sd_triangle_solve(e, &t->lower, 1, b, y);
    sd_triangle_solve(e, &t->upper, 1, y, y);
}

static void sweep_both(sd_engine *e, const sd_triangles *t, sd_sweep_unit unit, sd_vector *v)
{
    sd_triangle_sweep(e, &t->lower, unit, 1, &v[0], &v[1], &v[2]);
    sd_triangle_sweep(e, &t->upper, unit, 1, &v[0], &v[2], &v[1]);
}

/* Seconds: of a product; of exact solves in each way; of a sweep. */
typedef struct times {
    double product, way[SD_TRIANGLE_FLAGS + 1], sweep;
} times;

static times measure(sd_context *c, const sd_incomplete *m, const sd_csr *B, int threads, int32_t blocks,
                     const int32_t *start, sd_triangles *kept)
{
    sd_engine e;
    sd_operator op;
    sd_triangles t;
    sd_vector v[3];
    times s;
    if (sd_engine_open_host(c, &e, SADDLE_DEVICE_CPU, threads) ||
        sd_operator_make(&e, B, SD_DOUBLE, SD_SUMS_BY_SLICES, &op) ||
        sd_triangles_make(&e, m, SD_DOUBLE, blocks, start, &t) || sd_engine_reserve(&e, m->n, NULL))
        stop("triangles", c->message);
    for (int k = 0; k < 3; ++k) v[k] = sd_vector_new(&e, SD_DOUBLE, m->n, "vectors");
    if (e.status) stop("vectors", c->message);
    sd_fill(&e, 1.0, &v[0]);
    BEST(product, sd_spmv(&e, &op.sparse, &v[0], &v[1]));
    s.product = product;
    for (sd_triangle_way way = SD_TRIANGLE_SERIAL; way <= SD_TRIANGLE_FLAGS; ++way) {
        sd_triangles u = t;
        u.lower.way = u.upper.way = way;
        BEST(exact, solve_both(&e, &u, &v[0], &v[1]));
        s.way[way] = exact;
    }
    BEST(swept, sweep_both(&e, &t, blocks > 0 ? SD_SWEEP_BLOCKS : SD_SWEEP_ENTRIES, v));
    s.sweep = swept;
    *kept = (sd_triangles){.order = t.order, .lower = t.lower};
    for (int k = 0; k < 3; ++k) sd_vector_free(&e, &v[k]);
    sd_triangles_free(&e, &t);
    sd_operator_free(&e, &op);
    sd_engine_close(&e);
    return s;
}

static void report(const char *name, const sd_incomplete *m, const sd_csr *B, sd_context *c, int32_t blocks,
                   const int32_t *start)
{
    static const char *const ways[] = {"serial", "levels", "flags"};
    sd_triangles t;
    const times one = measure(c, m, B, 1, blocks, start, &t), two = measure(c, m, B, 2, blocks, start, &t);
    const double alone = one.way[SD_TRIANGLE_SERIAL];
    printf(
        "%-14s %8d %9lld %6d %-9s %-6s | %7.2f %7.2f | %7.2f %7.2f %7.2f | %5.2f %5.2f | %6.2f %6.2f | %7.2f "
        "%7.2f\n",
        name, m->n, (long long)(2 * m->lower.ptr[m->n]), t.lower.levels, t.order ? "by levels" : "as it is",
        ways[t.lower.way], 1e3 * one.product, 1e3 * two.product, 1e3 * alone,
        1e3 * two.way[SD_TRIANGLE_LEVELS], 1e3 * two.way[SD_TRIANGLE_FLAGS],
        alone / two.way[SD_TRIANGLE_LEVELS], alone / two.way[SD_TRIANGLE_FLAGS], alone / one.product,
        two.way[t.lower.way] / two.product, 1e3 * one.sweep, 1e3 * two.sweep);
    fflush(stdout);
}

static void run(const char *operand, const sd_incomplete_rule *rule)
{
    enum { ROWS = 8 };
    bench_problem p;
    sd_context c;
    sd_csr B, half;
    sd_incomplete m;
    const saddle_hooks hooks = {.size = sizeof hooks};
    if (bench_problem_open(&p, operand, &hooks)) exit(1);
    sd_context_init(&c, NULL, 0);
    if (sd_csr_from_view(&c, &p.A, true, &half, NULL) || sd_csr_expand(&c, &half, &B) ||
        sd_incomplete_make(&c, &B, true, rule, &m))
        stop(operand, c.message);
    int32_t *start = take(m.n + 1, sizeof *start), blocks = 0;
    for (int32_t i = 0; i < m.n; ++blocks) start[blocks + 1] = i = m.n - i < ROWS ? m.n : i + ROWS;
    report(p.matrix.name, &m, &B, &c, 0, NULL);
    report("  blocks of 8", &m, &B, &c, blocks, start);
    free(start);
    sd_incomplete_free(&c, &m);
    sd_csr_free(&c, &B);
    sd_csr_free(&c, &half);
    bench_problem_free(&p);
}

int main(int argc, char **argv)
{
    sd_incomplete_rule rule = {.threads = 1};
    int k = 1;
    if (argc > 2 && strcmp(argv[1], "--level") == 0) {
        rule.level = atoi(argv[2]);
        k = 3;
    }
    if (k >= argc || rule.level < 0) {
        fprintf(stderr, "usage: triangle [--level K] MATRIX...\n");
        return 2;
    }
    printf("milliseconds of both triangles; entries off the diagonal; products with A, 1 and 2 threads\n"
           "%-14s %8s %9s %6s %-9s %-6s | %7s %7s | %7s %7s %7s | %5s %5s | %6s %6s | %7s %7s\n",
           "matrix", "rows", "entries", "levels", "rows", "way", "spmv", "2", "exact", "levels", "flags",
           "times", "times", "/spmv", "2", "sweep", "2");
    for (; k < argc; ++k) run(argv[k], &rule);
    return 0;
}
