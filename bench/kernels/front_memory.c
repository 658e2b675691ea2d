/*
 * The memory that the direct solver takes on a GPU, as it is predicted before any is allocated: of matrices
 * and of problems that are made, by its parts. No GPU is needed, only the module: SADDLE_CUDA_MODULE may name
 * the emulated one. Not installed; the target is bench_front_memory.
 *
 *     front_memory [--processors P] [--limit BYTES] [--slack PART] MATRIX|FOLDER...
 *
 * P multiprocessors (132, an H200's), at most so many bytes for the factorization (0: any number), this part
 * of the panels free for delays (0.03 at first; 0.31 and more where a factorization has begun again). An
 * operand that is no file names a problem that is made, as for saddle bench; general matrices are left out.
 * In MB:
 *
 *     plan, lists, values   the plan; lists of what is handed up and of tasks; A's entries, states of fronts
 *     panels                without delays
 *     kept                  the memory with panels at one end and the arena at the other
 *     arena, work           the most of it that is no panel; of that, the most that fronts of a level work in
 *     delays                of kept: what delays may take in any case
 *     source, solve         where values come from; a solve with one right-hand side
 *     matrix                A by rows, with the places of its values
 *     all                   plan + lists + values + kept + source + solve + matrix
 */
#include "bench/bench.h"
#include "bench/operands.h"
#include "bench/problem.h"

#include "method/direct/direct.h"
#include "solver/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct device {
    int processors;
    int64_t limit;
    double slack;
} device;

/* A as products have it, both triangles; and at home, by stored entry, with the places of its values among
 * the former and among the caller's. */
static int64_t matrix_bytes(const saddle_solver *s)
{
    const int64_t n = s->A.n, stored = s->A.nnz;
    int64_t whole = stored;
    for (int32_t i = 0; i < s->A.n && s->A.half; ++i)
        for (int64_t k = s->A.ptr[i]; k < s->A.ptr[i + 1]; ++k) whole += s->A.ind[k] != i;
    const int64_t places = (s->A.half ? whole : 0) + (s->map ? s->entries : 0);
    return 8 * (n + 1) + (4 + 8) * whole + 8 * stored + 4 * places;
}

static void print_row(const char *name, const saddle_solver *s, const sd_run_bytes *b)
{
    const int64_t matrix = matrix_bytes(s);
    const int64_t part[] = {b->plan,   b->lists, b->values, b->panels,
                            b->kept,   b->arena, b->work,   b->delays,
                            b->source, b->solve, matrix,    b->device + b->source + b->solve + matrix};
    printf("%-24s", name);
    for (size_t k = 0; k < sizeof part / sizeof part[0]; ++k) printf(" %8.1f", 1e-6 * (double)part[k]);
    if (b->host > 0) printf("  %.1f on the host", 1e-6 * (double)b->host);
    printf("\n");
    fflush(stdout);
}

/* The plan is the CPU's; the schedule is that of a device. */
static saddle_status predict(saddle_solver *s, const device *d, sd_run_bytes *b)
{
    const sd_backend *cuda = sd_backend_cuda(&s->c);
    const sd_direct_plan *plan = s->work[0].plan;
    sd_schedule made;
    saddle_status status = cuda ? sd_schedule_make(&s->c, &plan->tree, &made) : s->c.status;
    if (status) return status;
    status =
        cuda->fronts->bytes(&s->c, NULL, d->processors, &plan->tree, &made, SD_DOUBLE, d->slack, d->limit, b);
    sd_schedule_free(&s->c, &made);
    return status;
}

static int measure(const bench_problem *p, const device *d)
{
    saddle_options o = saddle_options_default();
    saddle_solver *s = NULL;
    sd_run_bytes b = {0};
    char message[SADDLE_MESSAGE_SIZE] = "";
    bench_set(&o, "method=direct device=cpu");
    saddle_status status = saddle_create(&s, &o, NULL, message);
    if (!status) status = saddle_analyse(s, &p->A);
    if (!status) status = predict(s, d, &b);
    if (!status && b.device == 0) printf("%-24s at least %.1f\n", p->matrix.name, 1e-6 * (double)b.least);
    if (!status && b.device > 0) print_row(p->matrix.name, s, &b);
    if (status) fprintf(stderr, "%s: %s\n", p->matrix.name, s ? saddle_message(s) : message);
    saddle_destroy(&s);
    return status ? EXIT_USAGE : EXIT_DONE;
}

int main(int argc, char **argv)
{
    device d = {.processors = 132, .slack = SD_DELAY_ROOM};
    bench_operands operands = {0};
    int status = EXIT_DONE;
    const saddle_hooks hooks = saddle_hooks_default();
    for (int k = 1; k < argc && status == EXIT_DONE; ++k) {
        if (k + 1 < argc && strcmp(argv[k], "--processors") == 0)
            d.processors = atoi(argv[++k]);
        else if (k + 1 < argc && strcmp(argv[k], "--limit") == 0)
            d.limit = strtoll(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--slack") == 0)
            d.slack = strtod(argv[++k], NULL);
        else
            status = bench_operands_add(&operands, argv[k]);
    }
    printf("%-24s     plan    lists   values   panels     kept    arena     work   delays   source    solve "
           "  matrix      all\n",
           "MB");
    for (int64_t k = 0; k < operands.count; ++k) {
        bench_problem p;
        const int opened = bench_problem_open(&p, operands.paths[k], &hooks);
        if (opened == EXIT_DONE && p.symmetric && measure(&p, &d) != EXIT_DONE) status = EXIT_USAGE;
        if (opened == EXIT_DONE)
            bench_problem_free(&p);
        else
            status = opened;
    }
    bench_operands_free(&operands);
    return status;
}
