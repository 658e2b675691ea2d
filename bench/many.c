/*
 * `saddle bench many`: systems with one pattern in one call of saddle_factor_solve_many, on one thread and on
 * two, beside the same systems by saddle_factor and saddle_solve in a loop; or, with --device cuda, on all
 * cores and on the GPU, with the arrays on the host and on the device. The ways take turns; each time is the
 * best of all turns.
 */
#include "bench/bench.h"
#include "bench/device_arrays.h"
#include "bench/problem.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LOOP, MANY, MANY_TWO, CORES, GPU, GPU_ARRAYS, WAYS };
enum { SYSTEMS_MOST = 1000, NUMBERS_MOST = 4000000, MATRICES_MOST = 64 };

typedef struct row {
    bench_matrix matrix;
    double seconds[WAYS]; /* a system */
    double error;         /* the worst backward error of the systems */
    int64_t systems;
} row;

typedef struct report {
    const arguments *a;
    int rows;
    row row[MATRICES_MOST];
} report;

/* What a matrix is measured with. */
typedef struct systems {
    saddle_matrix A;
    int64_t n, count;
    double *values, *b, *x;
    saddle_result *results;
    saddle_solver *solver[WAYS];
    int first, end;        /* of the ways */
    device_arrays *device; /* NULL: no arrays there */
    double *values_there, *b_there, *x_there;
} systems;

static void free_systems(systems *s)
{
    for (int way = 0; way < WAYS; ++way) saddle_destroy(&s->solver[way]);
    device_array_free(s->device, s->values_there);
    device_array_free(s->device, s->b_there);
    device_array_free(s->device, s->x_there);
    device_arrays_close(s->device);
    free(s->values);
    free(s->b);
    free(s->x);
    free(s->results);
}

static saddle_options options_of(int way)
{
    saddle_options o = saddle_options_default();
    bench_set(&o, "method=direct");
    if (way <= MANY_TWO) o.threads = way == MANY_TWO ? 2 : 1;
    if (way >= GPU) bench_set(&o, "device=cuda");
    return o;
}

/* Systems whose values differ by up to a tenth; all of them fit a cache, unless their number is given. */
static saddle_status make_systems(systems *s, int64_t wanted, char *message)
{
    const int64_t entries = s->A.entries, most = NUMBERS_MOST / (entries + 2 * s->n + 1);
    const double *from = s->A.values;
    s->count = wanted > 0 ? wanted : most < 2 ? 2 : most > SYSTEMS_MOST ? SYSTEMS_MOST : most;
    s->values = malloc((size_t)(s->count * entries + 1) * sizeof *s->values);
    s->b = malloc((size_t)(s->count * s->n + 1) * sizeof *s->b);
    s->x = malloc((size_t)(s->count * s->n + 1) * sizeof *s->x);
    s->results = malloc((size_t)s->count * sizeof *s->results);
    if (!s->values || !s->b || !s->x || !s->results) return SADDLE_OUT_OF_MEMORY;
    for (int64_t k = 0; k < s->count; ++k)
        for (int64_t e = 0; e < entries; ++e)
            s->values[k * entries + e] = from[e] * (1 + 0.01 * (double)((31 * k + 7 * e) % 11));
    for (int64_t k = 0; k < s->count * s->n; ++k) s->b[k] = 1 + (double)(k % 7);
    saddle_status status = SADDLE_OK;
    for (int way = s->first; way < s->end && !status; ++way) {
        const saddle_options o = options_of(way);
        status = saddle_create(&s->solver[way], &o, NULL, message);
        if (!status) status = saddle_factor(s->solver[way], &s->A);
    }
    return status;
}

/* The same arrays on the GPU; where that does not work, there is one way less. */
static void put_systems(systems *s)
{
    const size_t each = (size_t)s->count * sizeof(double), n = (size_t)s->n;
    if (s->end <= GPU_ARRAYS) return;
    s->device = device_arrays_open();
    s->values_there = device_array_of(s->device, s->values, each * (size_t)s->A.entries);
    s->b_there = device_array_of(s->device, s->b, each * n);
    s->x_there = device_array_of(s->device, s->b, each * n);
    if (!s->values_there || !s->b_there || !s->x_there) s->end = GPU_ARRAYS;
}

/* All systems in one way. */
static saddle_status run_way(systems *s, int way)
{
    const int64_t n = s->n, entries = s->A.entries;
    saddle_status status = SADDLE_OK;
    if (way == GPU_ARRAYS)
        return saddle_factor_solve_many(s->solver[way], &s->A, s->count, s->values_there, entries, s->b_there,
                                        n, s->x_there, n, s->results);
    if (way != LOOP)
        return saddle_factor_solve_many(s->solver[way], &s->A, s->count, s->values, entries, s->b, n, s->x, n,
                                        s->results);
    for (int64_t k = 0; k < s->count && !status; ++k) {
        saddle_matrix A = s->A;
        A.values = s->values + k * entries;
        status = saddle_factor(s->solver[way], &A);
        if (!status) status = saddle_solve(s->solver[way], 1, s->b + k * n, n, s->x + k * n, n, NULL);
    }
    return status;
}

static saddle_status measure(systems *s, int64_t repeat, row *r)
{
    saddle_status status = SADDLE_OK;
    for (int way = 0; way < WAYS; ++way) r->seconds[way] = INFINITY;
    r->systems = s->count;
    for (int64_t k = 0; k < repeat && !status; ++k) {
        for (int way = s->first; way < s->end && !status; ++way) {
            const double began = seconds();
            status = run_way(s, way);
            r->seconds[way] = fmin(r->seconds[way], (seconds() - began) / (double)s->count);
        }
    }
    for (int64_t k = 0; k < s->count && !status; ++k) r->error = fmax(r->error, s->results[k].backward_error);
    return status;
}

static bool is_on_gpu(const arguments *a)
{
    return argument_choice(a, "device") == 1;
}

static int measure_operand(report *to, const char *operand, const saddle_hooks *hooks)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    bench_problem p;
    systems s = {.count = 0};
    row *r = &to->row[to->rows];
    int found = bench_problem_open(&p, operand, hooks);
    if (found != EXIT_DONE) return found;
    *r = (row){.matrix = p.matrix};
    saddle_status status = saddle_convert(&p.A, SADDLE_COLUMNS, SADDLE_LOWER, hooks, &s.A, message);
    s.n = p.A.rows;
    const bool cuda = is_on_gpu(to->a);
    s.first = cuda ? CORES : LOOP;
    s.end = cuda ? WAYS : CORES;
    if (!status) status = make_systems(&s, argument_count(to->a, "systems"), message);
    if (!status) put_systems(&s);
    if (!status) status = measure(&s, argument_count(to->a, "repeat"), r);
    if (!status) ++to->rows;
    free_systems(&s);
    saddle_matrix_free(&s.A, hooks);
    bench_problem_free(&p);
    if (status == SADDLE_OK) return EXIT_DONE;
    return fail(exit_status(status), "%s: %s", operand, message[0] ? message : saddle_status_text(status));
}

static void print_gpu_rows(const report *r)
{
    printf("milliseconds of all systems: refactor + solve, refined, errors verified, inertia certified\n");
    printf("%-24s%9s%9s%11s%11s%11s%14s%10s\n", "", "n", "systems", "all cores", "GPU", "its arrays",
           "cores/arrays", "error");
    for (const row *w = r->row; w < r->row + r->rows; ++w) {
        const double all = 1e3 * (double)w->systems;
        printf("%-24.24s%9" PRId64 "%9" PRId64, w->matrix.name, w->matrix.n, w->systems);
        PRINT_COLUMNS("11.3f 11.3f 11.3f 14.2f", all * w->seconds[CORES], all * w->seconds[GPU],
                      all * w->seconds[GPU_ARRAYS],
                      isfinite(all * w->seconds[GPU_ARRAYS]) ? w->seconds[CORES] / w->seconds[GPU_ARRAYS]
                                                             : NAN);
        printf("%10.1e\n", w->error);
    }
}

static void print_rows(const report *r)
{
    if (is_on_gpu(r->a)) {
        print_gpu_rows(r);
        return;
    }
    printf("microseconds a system: refactor + solve, refined, errors verified, inertia certified\n");
    printf("%-24s%9s%11s%11s%11s%14s%10s\n", "", "n", "loop", "many", "many/loop", "two threads", "error");
    for (const row *w = r->row; w < r->row + r->rows; ++w) {
        printf("%-24.24s%9" PRId64, w->matrix.name, w->matrix.n);
        PRINT_COLUMNS("11.2f 11.2f 11.2f 8.2f", 1e6 * w->seconds[LOOP], 1e6 * w->seconds[MANY],
                      w->seconds[MANY] / w->seconds[LOOP], w->seconds[MANY] / w->seconds[MANY_TWO]);
        printf(" times%10.1e\n", w->error);
    }
}

static void write_json(json *j, const void *from)
{
    const report *r = from;
    bench_json_head(j, "many");
    json_array(j, "rows");
    for (const row *w = r->row; w < r->row + r->rows; ++w) {
        json_object(j, NULL);
        bench_json_matrix(j, &w->matrix);
        if (is_on_gpu(r->a))
            JSON_PUT(j, true, J_COUNT("systems", w->systems), J_NUMBER("all_cores", w->seconds[CORES]),
                     J_NUMBER("gpu", w->seconds[GPU]), J_NUMBER("gpu_arrays", w->seconds[GPU_ARRAYS]),
                     J_NUMBER("backward_error", w->error));
        else
            JSON_PUT(j, true, J_NUMBER("loop", w->seconds[LOOP]), J_NUMBER("many", w->seconds[MANY]),
                     J_NUMBER("two_threads", w->seconds[MANY_TWO]), J_NUMBER("backward_error", w->error));
        json_close(j);
    }
    json_close(j);
}

static int run_many(const arguments *a)
{
    report *r = calloc(1, sizeof *r);
    if (!r) return fail(EXIT_MEMORY, "out of memory");
    r->a = a;
    int status = bench_check_operands(a);
    if (status == EXIT_DONE) {
        const saddle_hooks hooks = progress_begin(a);
        for (int k = 0; k < a->operand_count && status == EXIT_DONE; ++k)
            status = measure_operand(r, a->operands[k], &hooks);
        progress_end();
    }
    if (r->rows > 0 && bench_prints(a)) print_rows(r);
    if (r->rows > 0) status = bench_save(a, status, write_json, r);
    free(r);
    return status;
}

static const option many_options[] = {
    OPTION_CHOICE("device", "cpu|cuda", "cuda: all cores and the GPU, arrays on the host and there"),
    OPTION_COUNT("systems", "N", 0, 0, 10000000, "systems; 0: as many as fit a cache, up to 1000"),
    BENCH_REPEAT, BENCH_JSON, OPTION_END};

const command command_many = {
    .name = "many",
    .operands = "A.mtx[.gz]...",
    .help = "many systems with one pattern in one call, compared with a loop",
    .about =
        "Microseconds of a system: up to 1000 systems that differ in their values, factored and solved by "
        "saddle_factor_solve_many on one thread and on two, compared with a loop of saddle_factor and "
        "saddle_solve on one thread. With --device cuda milliseconds of all systems, on all cores and on the "
        "GPU, "
        "with the arrays of values, b and x on the host and in the GPU's memory. Symmetric matrices. An "
        "operand such as mpc_10x2x1 that is not a "
        "file names a generated problem (saddle gen).",
    .examples = "  saddle bench many ocp_12x2x1 mpc_7x2x1 --repeat 20\n"
                "  saddle bench many ocp_12x2x1 --device cuda --systems 10000\n",
    .options = many_options,
    .library = "",
    .least = 1,
    .most = MATRICES_MOST,
    .run = run_many,
};
