/*
 * Incomplete factorizations beside products with their matrix: the time of the search for the pattern, of new
 * numbers on it, and of y = A x with the whole matrix as an iteration multiplies, in the same run; the best
 * of several rounds each. |A - L L'| or |A - L U| on the pattern, relative to the largest entry of A, is
 * printed beside them. Not installed; the target is bench_incomplete, the program build/bench/incomplete.
 *
 *     incomplete [--level K] [--threads N] [--repeat N] [--tau T] MATRIX...
 *
 * A matrix is a file, or a problem that is made: lap3d_100, elas3d_30. A general one has L U alone.
 */
#include "factor/incomplete.h"
#include "bench/kernels/timing.h"
#include "bench/problem.h"
#include "solve/operator.h"

#include <math.h>
#include <stdio.h>

typedef struct settings {
    sd_incomplete_rule rule;
    int repeat;
} settings;

static double seconds(int threads)
{
    return now(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
}

static void stop(const char *what, const char *message)
{
    fprintf(stderr, "%s: %s\n", what, message);
    exit(1);
}

static double seconds_of_product(sd_context *c, const sd_csr *B, int threads, int repeat)
{
    sd_engine e;
    sd_operator op;
    double best = INFINITY;
    if (sd_engine_open_host(c, &e, SADDLE_DEVICE_CPU, threads) ||
        sd_operator_make(&e, B, SD_DOUBLE, SD_SUMS_BY_SLICES, &op))
        stop("product", c->message);
    sd_vector x = sd_vector_new(&e, SD_DOUBLE, B->n, "x"), y = sd_vector_new(&e, SD_DOUBLE, B->n, "y");
    if (e.status) stop("product", c->message);
    for (int32_t i = 0; i < B->n; ++i) ((double *)x.data)[i] = 1 + i % 7;
    for (int k = 0; k < 4 * repeat; ++k) {
        const double began = seconds(threads);
        sd_spmv(&e, &op.sparse, &x, &y);
        best = fmin(best, seconds(threads) - began);
    }
    sd_vector_free(&e, &x);
    sd_vector_free(&e, &y);
    sd_operator_free(&e, &op);
    sd_engine_close(&e);
    return best;
}

/* The factors as L U, L by rows with a diagonal of its own; U of L L' is made. */
typedef struct factors {
    const sd_pattern *lower;
    const double *lower_val, *lower_diagonal; /* NULL: ones */
    sd_pattern upper;
    double *upper_val;
    const double *upper_diagonal;
    int32_t *from;
} factors;

static factors factors_of(sd_context *c, const sd_incomplete *m)
{
    factors f = {.lower = &m->lower, .lower_val = m->lower_val, .upper_diagonal = m->diagonal};
    f.upper = m->upper;
    f.upper_val = m->upper_val;
    if (!m->symmetric) return f;
    f.lower_diagonal = m->diagonal;
    if (sd_pattern_transpose(c, &m->lower, &f.upper, &f.from)) stop("transpose", c->message);
    f.upper_val = take(f.upper.ptr[m->n], sizeof *f.upper_val);
    for (int64_t k = 0; k < f.upper.ptr[m->n]; ++k) f.upper_val[k] = m->lower_val[f.from[k]];
    return f;
}

/* w <- w + row i of L U, or 0 where that has entries. */
static void add_row(const factors *f, int32_t i, bool clear, double *w)
{
    for (int64_t k = f->lower->ptr[i]; k <= f->lower->ptr[i + 1]; ++k) {
        const bool last = k == f->lower->ptr[i + 1];
        const int32_t j = last ? i : f->lower->ind[k];
        const double l = !last ? f->lower_val[k] : f->lower_diagonal ? f->lower_diagonal[i] : 1;
        w[j] = clear ? 0 : w[j] + l * f->upper_diagonal[j];
        for (int64_t e = f->upper.ptr[j]; e < f->upper.ptr[j + 1]; ++e) {
            double *const to = &w[f->upper.ind[e]];
            *to = clear ? 0 : *to + l * f->upper_val[e];
        }
    }
}

static double worst_of(const sd_pattern *p, const sd_csr *B, int32_t i, const double *w)
{
    double worst = fabs(w[i] - sd_csr_at(B, i, i));
    for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k)
        worst = fmax(worst, fabs(w[p->ind[k]] - sd_csr_at(B, i, p->ind[k])));
    return worst;
}

/* The largest entry of A - L U on the pattern, relative to that of A. */
static double error_on_pattern(sd_context *c, const sd_incomplete *m, const sd_csr *B)
{
    double worst = 0, largest = 0, *w = take(B->n, sizeof *w);
    factors f = factors_of(c, m);
    for (int64_t k = 0; k < B->nnz; ++k) largest = fmax(largest, fabs(B->val[k]));
    for (int32_t i = 0; i < B->n; ++i) {
        add_row(&f, i, false, w);
        worst = fmax(worst, fmax(worst_of(f.lower, B, i, w), worst_of(&f.upper, B, i, w)));
        add_row(&f, i, true, w);
    }
    if (m->symmetric) {
        sd_pattern_free(c, &f.upper);
        sd_free(c, f.from);
        free(f.upper_val);
    }
    free(w);
    return worst / largest;
}

static void measure(const char *name, sd_context *c, const sd_csr *B, bool symmetric, const settings *s)
{
    sd_incomplete m;
    double first = seconds(s->rule.threads), again = INFINITY;
    if (sd_incomplete_make(c, B, symmetric, &s->rule, &m)) stop(name, c->message);
    first = seconds(s->rule.threads) - first;
    for (int k = 0; k < s->repeat; ++k) {
        const double began = seconds(s->rule.threads);
        if (sd_incomplete_again(c, B, &s->rule, &m)) stop(name, c->message);
        again = fmin(again, seconds(s->rule.threads) - began);
    }
    const double product = seconds_of_product(c, B, s->rule.threads, s->repeat);
    const int64_t entries = m.n + m.lower.ptr[m.n] + (m.symmetric ? m.lower.ptr[m.n] : m.upper.ptr[m.n]);
    printf("%-16s %-4s %8d %10lld %7.2f %10.1f %10.1f %10.2f %8.1f %8.1e %9.2e %5.2f\n", name,
           symmetric ? "LL'" : "LU", m.n, (long long)B->nnz, (double)entries / (double)B->nnz, 1e3 * first,
           1e3 * again, 1e3 * product, again / product, m.shift, error_on_pattern(c, &m, B),
           1e-9 * m.flops / again);
    sd_incomplete_free(c, &m);
}

static void measure_both(const char *operand, const settings *s)
{
    bench_problem p;
    sd_context c;
    sd_csr B, half;
    const saddle_hooks hooks = {.size = sizeof hooks};
    if (bench_problem_open(&p, operand, &hooks)) exit(1);
    sd_context_init(&c, NULL, 0);
    if (sd_csr_from_view(&c, &p.A, false, &half, NULL)) stop(operand, c.message);
    if (half.half && sd_csr_expand(&c, &half, &B)) stop(operand, c.message);
    if (half.half)
        sd_csr_free(&c, &half);
    else
        B = half;
    if (p.symmetric) measure(p.matrix.name, &c, &B, true, s);
    measure(p.matrix.name, &c, &B, false, s);
    sd_csr_free(&c, &B);
    bench_problem_free(&p);
}

int main(int argc, char **argv)
{
    settings s = {{.level = 0, .most = 10, .threads = 1}, 10};
    int k = 1;
    for (; k + 1 < argc && strncmp(argv[k], "--", 2) == 0; k += 2) {
        if (strcmp(argv[k], "--level") == 0) s.rule.level = atoi(argv[k + 1]);
        if (strcmp(argv[k], "--threads") == 0) s.rule.threads = atoi(argv[k + 1]);
        if (strcmp(argv[k], "--repeat") == 0) s.repeat = atoi(argv[k + 1]);
        if (strcmp(argv[k], "--tau") == 0) {
            s.rule.level = -1;
            s.rule.tau = atof(argv[k + 1]);
        }
    }
    if (k >= argc || s.repeat < 1 || s.rule.threads < 1) {
        fprintf(stderr, "usage: incomplete [--level K] [--threads N] [--repeat N] [--tau T] MATRIX...\n");
        return 2;
    }
    printf(
        "matrix                   rows    entries    fill   first ms   again ms product ms    ratio    shift"
        "     error Gflop/s\n");
    for (; k < argc; ++k) measure_both(argv[k], &s);
    return 0;
}
