/* See peer.h. Errors are measured on the matrix that was read, with residuals in double-double. */
#define _GNU_SOURCE
#include "peer.h"

#include "cli/random.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 64, TURN_MOST = 50 };
#define TURN_SECONDS 0.02

typedef struct peer_run {
    const peer *p;
    const char *path;
    int repeat, threads;
    bool metis, turns;
    saddle_matrix A, lower;
    double *b, *x;
    peer_facts told;
} peer_run;

static char error_text[SADDLE_MESSAGE_SIZE];

bool peer_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error_text, sizeof error_text, format, list);
    va_end(list);
    return false;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* OpenBLAS reads its environment before main: it has to be told. */
static void set_blas_threads(int threads)
{
    void (*set)(int);
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set, &symbol, sizeof set);
    if (symbol) set(threads);
}

static bool parse(peer_run *r, int argc, char **argv)
{
    for (int k = 1; k < argc; ++k) {
        const bool more = k + 1 < argc;
        if (strcmp(argv[k], "--turns") == 0)
            r->turns = true;
        else if (strcmp(argv[k], "--repeat") == 0 && more)
            r->repeat = (int)strtol(argv[++k], NULL, 10);
        else if (strcmp(argv[k], "--threads") == 0 && more)
            r->threads = (int)strtol(argv[++k], NULL, 10);
        else if (strcmp(argv[k], "--order") == 0 && more)
            r->metis = strcmp(argv[++k], "metis") == 0;
        else if (argv[k][0] != '-' && !r->path)
            r->path = argv[k];
        else
            return false;
    }
    return r->path && r->repeat > 0 && r->threads > 0;
}

static bool load(peer_run *r)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status = saddle_read_matrix(r->path, NULL, &r->A, message);
    if (status == SADDLE_OK)
        status = saddle_convert(&r->A, SADDLE_COLUMNS, SADDLE_LOWER, NULL, &r->lower, message);
    if (status != SADDLE_OK) return peer_error("%s", message);
    const size_t n = (size_t)r->lower.rows;
    r->b = malloc((n + 1) * sizeof *r->b);
    r->x = malloc((n + 1) * COLUMNS * sizeof *r->x);
    return r->b && r->x ? true : peer_error("out of memory for the right-hand sides");
}

static bool take_turn(peer_run *r)
{
    double began = seconds();
    if (!r->p->analyse()) return false;
    r->told.analysis = fmin(r->told.analysis, seconds() - began);
    const double first = seconds();
    for (int k = 0; k < TURN_MOST && (k == 0 || seconds() - first < TURN_SECONDS); ++k) {
        began = seconds();
        if (!r->p->factor()) return false;
        r->told.factor = fmin(r->told.factor, seconds() - began);
    }
    return true;
}

static void answer(const char *word)
{
    puts(word);
    fflush(stdout);
}

static bool take_turns(peer_run *r)
{
    char line[16];
    for (int k = 0; !r->turns && k < r->repeat; ++k)
        if (!take_turn(r)) return false;
    if (!r->turns) return true;
    answer("ready");
    while (fgets(line, sizeof line, stdin) && strcmp(line, "turn\n") == 0) {
        if (!take_turn(r)) return false;
        answer("turn");
    }
    return true;
}

static bool solve_columns(peer_run *r, int64_t columns, double *best)
{
    const int64_t n = r->lower.rows;
    for (int k = 0; k < 2; ++k) {
        for (int64_t c = 0; c < columns; ++c) memcpy(r->x + c * n, r->b, (size_t)n * sizeof *r->x);
        const double began = seconds();
        if (!r->p->solve(columns, r->x)) return false;
        *best = fmin(*best, seconds() - began);
    }
    return true;
}

static bool measure(peer_run *r, double *backward, double *componentwise)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_errors errors;
    if (!solve_columns(r, 1, &r->told.solve)) return false;
    if (saddle_measure(&r->lower, r->b, r->x, NULL, 1, NULL, &errors, message) != SADDLE_OK)
        return true; /* x is not finite */
    *backward = errors.backward;
    *componentwise = errors.componentwise;
    return true;
}

static bool measure_both(peer_run *r)
{
    const int64_t n = r->lower.rows;
    peer_facts *f = &r->told;
    random_stream stream = random_begin(1);
    for (int64_t i = 0; i < n; ++i) r->x[i] = 1.0;
    if (saddle_multiply(&r->lower, 1, r->x, n, r->b, n, 1, NULL, error_text) != SADDLE_OK) return false;
    if (!measure(r, &f->backward_error, &f->componentwise_error)) return false;
    for (int64_t i = 0; i < n; ++i) r->b[i] = random_between(&stream, -1.0, 1.0);
    return measure(r, &f->backward_error_random, &f->componentwise_error_random) &&
           solve_columns(r, COLUMNS, &f->solve_64);
}

/* The most that was resident, in bytes, from /proc. */
static double resident_peak(void)
{
    char line[256];
    long long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtoll(line + 6, NULL, 10);
    if (file) fclose(file);
    return kilobytes < 0 ? NAN : 1024.0 * (double)kilobytes;
}

static void tell_text(const char *key, const char *text)
{
    printf(", \"%s\": \"", key);
    for (; *text; ++text) putchar(*text == '"' || *text == '\\' || (unsigned char)*text < 32 ? ' ' : *text);
    putchar('"');
}

/* Counts with all their digits. */
static void tell_number(const char *key, double number)
{
    const bool whole = number == floor(number) && fabs(number) < 1e15;
    printf(", \"%s\": ", key);
    printf(!isfinite(number) ? "null" : whole ? "%.0f" : "%.9g", number);
}

static void tell(peer_run *r)
{
    peer_facts *f = &r->told;
    f->resident_bytes = resident_peak();
    r->p->facts(f);
    printf("{\"peer\": \"%s\"", r->p->name);
    tell_text("version", f->version);
    tell_text("ordering", f->ordering);
    tell_number("n", (double)r->lower.rows);
#define ROW(name) tell_number(#name, f->name);
    PEER_NUMBERS(ROW)
#undef ROW
    puts("}");
}

int peer_main(const peer *p, int argc, char **argv)
{
    peer_run r = {.p = p, .repeat = 5, .threads = 1};
#define ROW(name) r.told.name = NAN;
    PEER_NUMBERS(ROW)
#undef ROW
    if (!parse(&r, argc, argv)) {
        fprintf(stderr,
                "usage: peer-%s A.mtx[.gz] [--repeat R] [--threads N] [--order own|metis] [--turns]\n",
                p->name);
        return 2;
    }
    set_blas_threads(r.threads);
    bool good = load(&r);
    if (good) {
        good = p->begin(&r.lower, r.metis) && take_turns(&r) && measure_both(&r);
        if (good) tell(&r);
        p->end();
    }
    if (!good) {
        printf("{\"peer\": \"%s\"", p->name);
        tell_text("error", error_text);
        puts("}");
    }
    saddle_matrix_free(&r.A, NULL);
    saddle_matrix_free(&r.lower, NULL);
    free(r.b);
    free(r.x);
    return good ? 0 : 1;
}
