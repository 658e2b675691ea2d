/*
 * What a small solve costs: the time of saddle_solve on factors that are there, for the 5-point Laplacian of
 * 100 and of 10,000 rows by several methods; the median and the least of many. Only the public interface is
 * used. Not installed; the target is bench_small_solve, the program build/bench/small_solve.
 *
 *     small_solve [--device cpu|cuda] [--repeat N]
 */
#include "bench/kernels/timing.h"
#include "cli/families.h"
#include "cli/numbers.h"

#include <math.h>
#include <stdio.h>

enum { WARM = 5, LEAST = 5, MOST = 10000 };
static const double LONG = 3; /* seconds after which LEAST solves are enough */

static void stop(const char *what, const char *message)
{
    fprintf(stderr, "%s: %s\n", what, message);
    exit(1);
}

static void measure(const saddle_matrix *A, int32_t n, const char *device, const char *method, int repeat)
{
    static double seconds[MOST], b[MOST], x[MOST];
    saddle_options options = saddle_options_default();
    saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_options_set(&options, "device", device, message) ||
        saddle_options_set(&options, "method", method, message) ||
        saddle_create(&solver, &options, NULL, message))
        stop(method, message);
    if (saddle_factor(solver, A)) stop(method, saddle_message(solver));
    for (int32_t i = 0; i < n; ++i) b[i] = 1 + i % 7;
    int count = 0;
    const double began = now(CLOCK_MONOTONIC);
    for (int run = -WARM; run < repeat && (count < LEAST || now(CLOCK_MONOTONIC) - began < LONG); ++run) {
        const double start = now(CLOCK_MONOTONIC);
        if (saddle_solve(solver, 1, b, n, x, n, &info)) stop(method, info.message);
        if (run >= 0) seconds[count++] = now(CLOCK_MONOTONIC) - start;
    }
    saddle_destroy(&solver);
    const double median = median_of(seconds, count); /* and the least is first */
    printf("%-6s %6d %-9s %7d %10.1f %10.1f %10lld %.1e\n", device, n, method, count, 1e6 * median,
           1e6 * seconds[0], (long long)info.iterations, info.backward_error);
}

int main(int argc, char **argv)
{
    static const char *const methods[] = {"diagonal", "bjacobi", "ldlt"};
    const char *device = "cpu";
    int repeat = 200;
    for (int k = 1; k < argc; k += 2) {
        if (k + 1 < argc && strcmp(argv[k], "--device") == 0)
            device = argv[k + 1];
        else if (k + 1 < argc && strcmp(argv[k], "--repeat") == 0)
            repeat = atoi(argv[k + 1]);
        else
            repeat = 0;
        if (repeat < 1 || repeat > MOST) {
            fprintf(stderr, "usage: small_solve [--device cpu|cuda] [--repeat N]\n");
            return 2;
        }
    }
    printf("device   rows method     solves  median us   least us iterations backward error\n");
    for (int32_t side = 10; side <= 100; side += 90) {
        saddle_matrix A;
        char message[SADDLE_MESSAGE_SIZE];
        if (family_generate("lap2d", side, NAN, 1, &A, message)) stop("small_solve", message);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k)
            measure(&A, side * side, device, methods[k], repeat);
        family_free(&A);
    }
    return 0;
}
