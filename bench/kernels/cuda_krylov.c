/*
 * What an iteration costs: the library's own CG, BiCGSTAB and GMRES on the 7-point Laplacian, against the
 * time that its product and its vector operations take at the rate of a copy measured in the same run.
 *
 *     cuda_krylov [cuda|cpu [SIDE...]]
 *
 * Cubes of SIDE points an edge (100 and 159). An iteration's time is that of a long run less that of a short
 * one over the iterations between, the looks of the monitor among them; each is the best of several. The
 * floor counts val, ind, ptr, x and y of the product once, and for each vector operation of the textbook its
 * operands and its result once (Gram-Schmidt twice, as the method is): see floors[]. Beside it: whether two
 * runs gave the same bits.
 */
#include "bench/kernels/engine_timing.h"
#include "cli/families.h"
#include "method/method.h"
#include "solve/krylov.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESTART = 50 };

typedef struct method {
    const char *name;
    void (*run)(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m);
    int products;          /* an iteration */
    double vectors, apply; /* of n numbers that are read or written; applications of M */
    int64_t few, many;     /* iterations of the two runs */
} method;

/*
 * CG: p'q 2, x 3, r 3, r'r 1, p 3 (and r'z 2 where there is an M). BiCGSTAB: two dots with the shadow 4, p 4,
 * the half step 3, t's and t't 3, x 4, r 3, r'r 1. GMRES with k vectors, k = 25.5 on average: twice V'w, k +
 * 1, and w - V h, k + 2; the norm 1, the new vector 2. The diagonal: 3.
 */
static const method methods[] = {
    {"CG", sd_cg, 1, 12, 1, 50, 150},
    {"BiCGSTAB", sd_bicgstab, 2, 22, 2, 40, 120},
    {"GMRES(50)", sd_gmres, 1, 2 * (2 * 25.5 + 3) + 3, 1, RESTART, 3 * RESTART},
};

/* The Laplacian on a cube, whole. */
static sd_csr laplacian(sd_context *c, int32_t side)
{
    saddle_matrix lower;
    sd_csr half = {0}, A = {0};
    check(c, family_generate("lap3d", side, 0, 1, &lower, c->message));
    check(c, sd_csr_from_view(c, &lower, false, &half, NULL));
    check(c, sd_csr_expand(c, &half, &A));
    sd_csr_free(c, &half);
    family_free(&lower);
    return A;
}

/* Best seconds of `maxiter` iterations from 0; x holds the last result. */
static double run(sd_engine *e, const sd_system *s, const method *how, int64_t maxiter, sd_vector *x)
{
    double best = 1e300;
    for (int k = 0; k < REPEATS; ++k) {
        sd_monitor m;
        sd_fill(e, 0.0, x);
        check(e->context, sd_monitor_begin(&m, e, s, 1e-300, SADDLE_STOP_ANY, maxiter));
        const double begin = sd_seconds();
        how->run(e, s, x, &m);
        const double passed = sd_seconds() - begin; /* the last look has waited for everything */
        check(e->context, e->status);
        if (m.iterations != maxiter)
            fprintf(stderr, "%s stopped at %lld\n", how->name, (long long)m.iterations);
        sd_monitor_end(&m);
        if (passed < best) best = passed;
    }
    return best;
}

static void measure(sd_engine *e, const sd_system *s, const method *how, double rate, double *host)
{
    const int64_t n = s->b->n, nnz = s->A->nnz;
    sd_vector x = sd_vector_new(e, SD_DOUBLE, n, "x");
    const double few = run(e, s, how, how->few, &x);
    double many = run(e, s, how, how->many, &x);
    sd_vector_get(e, &x, host);
    const double again = run(e, s, how, how->many, &x);
    sd_vector_get(e, &x, host + n);
    check(e->context, e->status);
    if (again < many) many = again;
    const double product = 12.0 * (double)nnz + 24.0 * (double)n;
    const bool diagonal = s->M->apply != NULL;
    double vectors = how->vectors + (diagonal ? 3 * how->apply : 0);
    if (diagonal && how->run == sd_cg) vectors += 2;
    const double floor = (how->products * product + 8.0 * vectors * (double)n) / rate;
    const double passed = (many - few) / (double)(how->many - how->few);
    printf("%9lld %-10s %-9s %9.1f %9.1f %6.2f  %s\n", (long long)n, how->name,
           diagonal ? "diagonal" : "none", 1e6 * passed, 1e6 * floor, passed / floor,
           memcmp(host, host + n, (size_t)n * sizeof *host) == 0 ? "same bits" : "OTHER BITS");
    fflush(stdout);
    sd_vector_free(e, &x);
}

static void measure_cube(sd_engine *e, int32_t side, double rate)
{
    sd_context *c = e->context;
    sd_csr A = laplacian(c, side);
    sd_operator op;
    void *d = NULL;
    bool given_up;
    const saddle_options options = saddle_options_default();
    check(c, sd_operator_make(e, &A, SD_DOUBLE, SD_SUMS_BY_SLICES, &op));
    const sd_problem problem = {.options = &options, .A = &A, .op = &op};
    check(c, sd_method_diagonal.factor(e, &problem, NULL, NULL, &d, &given_up));
    double *host = sd_alloc(c, 2 * (int64_t)A.n, sizeof *host, "x of two runs");
    if (!host) check(c, c->status);
    for (int32_t i = 0; i < A.n; ++i) host[i] = (double)((uint32_t)i * 2654435761u) / 4294967296.0 - 0.5;
    sd_vector b = sd_vector_new(e, SD_DOUBLE, A.n, "b");
    sd_vector_put(e, host, &b);
    check(c, e->status);
    for (int k = 0; k < 2; ++k) {
        const sd_method *how = k == 0 ? &sd_method_none : &sd_method_diagonal;
        sd_preconditioner M;
        check(c, how->precondition(e, &problem, d, &op, &M));
        const sd_system s = {&op.sparse, op.norm_inf, &M, &b, RESTART};
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; ++i)
            measure(e, &s, &methods[i], rate, host);
    }
    sd_free(c, host);
    sd_vector_free(e, &b);
    sd_method_diagonal.free_factors(e, d);
    sd_operator_free(e, &op);
    sd_csr_free(c, &A);
}

int main(int argc, char **argv)
{
    const bool cpu = argc > 1 && strcmp(argv[1], "cpu") == 0;
    if (argc > 1 && !cpu && strcmp(argv[1], "cuda") != 0) {
        fprintf(stderr, "usage: cuda_krylov [cuda|cpu [SIDE...]]\n");
        return 2;
    }
    sd_context c;
    sd_device d;
    sd_engine e;
    sd_context_init(&c, NULL, 0);
    check(&c, sd_device_open(&c, &d, cpu ? SADDLE_DEVICE_CPU : SADDLE_DEVICE_CUDA, 0));
    check(&c, sd_engine_open(&c, &d, &e, sd_thread_count(0)));
    const double rate = copy_rate(&e, (int64_t)(cpu ? 128 : 512) << 20);
    printf("copy %.0f GB/s\n%9s %-10s %-9s %9s %9s %6s\n", rate / 1e9, "n", "method", "", "us/iter", "floor",
           "ratio");
    if (argc > 2) {
        for (int k = 2; k < argc; ++k) measure_cube(&e, (int32_t)strtol(argv[k], NULL, 10), rate);
    } else {
        measure_cube(&e, 100, rate);
        measure_cube(&e, 159, rate);
    }
    sd_engine_close(&e);
    sd_device_close(&c, &d);
    return 0;
}
