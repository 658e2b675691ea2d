/*
 * What a solve with the direct solver's factors costs on the device: vectors lie in its memory, nothing is
 * refined and nothing measured; and how far that is from reading the factors twice at the rate of a copy.
 *
 *     cuda_solve FAMILY SIZE [PARAMETER [OPTION=VALUE...]]
 *
 * A parameter `-` is the default.
 *
 * For each number of right-hand sides: the best of REPEATS, each of several solves one after the other, and
 * the largest difference to what one right-hand side alone gives, beside the largest entry. The rate of a
 * read is taken to be that of a copy, which counts what it reads and what it writes.
 */
#include "bench/kernels/engine_timing.h"
#include "cli/families.h"
#include "method/direct/direct.h"
#include "solver/solver.h"

#include <string.h>

static const int64_t counts[] = {1, 2, 4, 8, 16, 32, 64};
enum { COUNTS = sizeof counts / sizeof *counts, MOST = 64 };

static void set(saddle_options *o, char *text)
{
    char message[SADDLE_MESSAGE_SIZE], *value = strchr(text, '=');
    if (value) *value++ = 0;
    if (!value || saddle_options_set(o, text, value, message)) {
        fprintf(stderr, "%s\n", value ? message : "an option has the form NAME=VALUE");
        exit(2);
    }
}

static saddle_solver *factor(const saddle_matrix *A, int count, char **option)
{
    char message[SADDLE_MESSAGE_SIZE];
    saddle_solver *s;
    saddle_options o = saddle_options_default();
    static char fixed[][16] = {"method=direct", "device=cuda", "krylov=none"};
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; ++k) set(&o, fixed[k]);
    for (int k = 0; k < count; ++k) set(&o, option[k]);
    if (saddle_create(&s, &o, NULL, message)) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    if (saddle_factor(s, A)) {
        fprintf(stderr, "%s\n", saddle_message(s));
        exit(1);
    }
    return s;
}

/* The largest difference of each column to that of the first solve, beside the largest entry. */
static double difference(sd_engine *e, int64_t n, int64_t k, const double *z, const double *wanted,
                         double *host)
{
    double most = 0, size = 0;
    e->backend->download(e, z, host, n * k * (int64_t)sizeof *host);
    for (int64_t j = 0; j < n * k; ++j) {
        const double apart = fabs(host[j] - wanted[j]);
        if (!(apart <= most)) most = apart;
        size = fmax(size, fabs(wanted[j]));
    }
    return most / size;
}

static void measure(sd_engine *e, const sd_direct *d, const double *host, double rate)
{
    const sd_factors *f = sd_direct_numbers(d);
    const int64_t n = d->plan->n, bytes = sd_device_fronts_bytes(f);
    const sd_solve_frame frame = {d->plan->n, 0, 0, d->plan->tree.position, d->scale, d->exponent};
    const double floor = 2.0 * (double)bytes / rate;
    sd_vector r = sd_vector_new(e, SD_DOUBLE, n * MOST, "right-hand sides");
    sd_vector z = sd_vector_new(e, SD_DOUBLE, n * MOST, "solutions");
    double *wanted = malloc((size_t)(n * MOST) * sizeof *wanted),
           *found = malloc((size_t)(n * MOST) * sizeof *found);
    sd_vector_put(e, host, &r);
    for (int64_t c = 0; c < MOST; ++c) {
        check(e->context, sd_device_fronts_apply(e, f, &frame, 1, (double *)r.data + c * n, n,
                                                 (double *)z.data + c * n, n));
    }
    e->backend->download(e, z.data, wanted, n * MOST * (int64_t)sizeof *wanted);
    printf("  n %lld, factors %.1f MB, floor %.3f ms\n", (long long)n, 1e-6 * (double)bytes, 1e3 * floor);
    for (int k = 0; k < COUNTS; ++k) {
        sd_fill(e, NAN, &z);
        BEST_OF(best, e, &z, counts[k] > 8 ? 2 : 10,
                check(e->context, sd_device_fronts_apply(e, f, &frame, counts[k], r.data, n, z.data, n)));
        printf("  %3lld rhs %9.3f ms  %5.1f %% of floor  difference %.1e\n", (long long)counts[k], 1e3 * best,
               100 * floor / best, difference(e, n, counts[k], z.data, wanted, found));
    }
    sd_vector_free(e, &r);
    sd_vector_free(e, &z);
    free(wanted);
    free(found);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "cuda_solve FAMILY SIZE [PARAMETER [OPTION=VALUE...]]\n");
        return 2;
    }
    sd_context c;
    sd_engine e;
    saddle_matrix A;
    sd_context_init(&c, NULL, 0);
    check(&c, family_generate(argv[1], atoi(argv[2]),
                              argc > 3 && strcmp(argv[3], "-") != 0 ? atof(argv[3]) : NAN, 1, &A, c.message));
    saddle_solver *s = factor(&A, argc > 4 ? argc - 4 : 0, argv + 4);
    const sd_work *work = sd_find_work(s, &sd_method_direct);
    double *host = malloc((size_t)A.rows * MOST * sizeof *host);
    for (int64_t k = 0; k < (int64_t)A.rows * MOST; ++k) host[k] = (double)((k * 7919) % 1000 - 500) / 500;
    check(&c, sd_engine_open(&c, &s->opened, &e, 1));
    check(&c, sd_engine_reserve(&e, 1, NULL));
    printf("%s %s\n", argv[1], argv[2]);
    measure(&e, work->factors, host, copy_rate(&e, (int64_t)1 << 30));
    sd_engine_close(&e);
    saddle_destroy(&s);
    family_free(&A);
    free(host);
    return 0;
}
