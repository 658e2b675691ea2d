/* See peer.h. Errors are measured on the matrix that was read, with residuals in double-double. */
#define _GNU_SOURCE
#include "peer.h"

#include "cli/random.h"
#include "timing.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 64 };

typedef struct peer_run {
    const peer *p;
    const char *path, *setting;
    int repeat, threads;
    bool turns;
    saddle_matrix A, lower;
    double *b, *x, *r;
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

bool peer_diagonal_positive(const saddle_matrix *lower)
{
    const int64_t *start = lower->pointers;
    const double *values = lower->values;
    for (int64_t j = 0; j < lower->columns; ++j) {
        const int64_t first = start[j]; /* the diagonal, as rows ascend */
        if (first == start[j + 1] || lower->indices[first] != j || !(values[first] > 0.0)) return false;
    }
    return true;
}

/* OpenBLAS reads its environment before main: it has to be told. */
static void set_blas_threads(int threads)
{
    void (*set)(int);
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set, &symbol, sizeof set);
    if (symbol) set(threads);
}

/* Whether a word is one of "a|b|c". */
static bool is_setting(const char *settings, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = settings; at && *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0) return true;
    return strcmp(word, "default") == 0;
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
        else if (strcmp(argv[k], "--setting") == 0 && more)
            r->setting = argv[++k];
        else if (argv[k][0] != '-' && !r->path)
            r->path = argv[k];
        else
            return false;
    }
    return r->path && r->repeat > 0 && r->threads > 0 && is_setting(r->p->settings, r->setting);
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
    r->r = malloc((n + 1) * sizeof *r->r);
    r->x = malloc((n + 1) * COLUMNS * sizeof *r->x);
    if (!r->b || !r->r || !r->x) return peer_error("out of memory for the right-hand sides");
    for (size_t i = 0; i < n; ++i) r->x[i] = 1.0;
    status = saddle_multiply(&r->lower, 1, r->x, (int64_t)n, r->b, (int64_t)n, 1, NULL, message);
    return status == SADDLE_OK ? true : peer_error("%s", message);
}

static bool analyse_once(void *self)
{
    return ((const peer_run *)self)->p->analyse();
}

static bool factor_once(void *self)
{
    return ((const peer_run *)self)->p->factor();
}

static bool solve_in_place(void *self, double *x)
{
    return ((const peer_run *)self)->p->solve(1, x);
}

static bool solve_once(void *self)
{
    peer_run *r = self;
    memcpy(r->x, r->b, (size_t)r->lower.rows * sizeof *r->x);
    return solve_in_place(r, r->x);
}

static bool solve_refined_once(void *self)
{
    peer_run *r = self;
    return timing_refined(&r->lower, solve_in_place, r, r->b, r->x, r->r);
}

static bool take_turn(peer_run *r)
{
    peer_facts *f = &r->told;
    return timing_calls(analyse_once, r, &f->analysis) && timing_calls(factor_once, r, &f->factor) &&
           timing_calls(solve_once, r, &f->solve) && timing_calls(solve_refined_once, r, &f->solve_refined);
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

/* Errors of x, one column that was solved for. */
static void measure(const peer_run *r, double *backward, double *componentwise)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_errors errors;
    if (saddle_measure(&r->lower, r->b, r->x, NULL, 1, NULL, &errors, message) != SADDLE_OK)
        return; /* x is not finite */
    *backward = errors.backward;
    if (componentwise) *componentwise = errors.componentwise;
}

static bool measure_many(peer_run *r)
{
    const int64_t n = r->lower.rows;
    for (int k = 0; k < 2; ++k) {
        for (int64_t c = 0; c < COLUMNS; ++c) memcpy(r->x + c * n, r->b, (size_t)n * sizeof *r->x);
        const double began = timing_now();
        if (!r->p->solve(COLUMNS, r->x)) return false;
        r->told.solve_64 = fmin(r->told.solve_64, timing_now() - began);
    }
    return true;
}

static bool measure_all(peer_run *r)
{
    peer_facts *f = &r->told;
    random_stream stream = random_begin(1);
    if (!solve_once(r)) return false;
    measure(r, &f->backward_error, &f->componentwise_error);
    if (!solve_refined_once(r)) return false;
    measure(r, &f->backward_error_refined, NULL);
    for (int64_t i = 0; i < r->lower.rows; ++i) r->b[i] = random_between(&stream, -1.0, 1.0);
    if (!solve_once(r)) return false;
    measure(r, &f->backward_error_random, &f->componentwise_error_random);
    return measure_many(r);
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
    peer_run r = {.p = p, .setting = "default", .repeat = 5, .threads = 1};
#define ROW(name) r.told.name = NAN;
    PEER_NUMBERS(ROW)
#undef ROW
    if (!parse(&r, argc, argv)) {
        fprintf(stderr,
                "usage: peer-%s A.mtx[.gz] [--repeat R] [--threads N] [--setting default%s%s] [--turns]\n",
                p->name, p->settings ? "|" : "", p->settings ? p->settings : "");
        return 2;
    }
    set_blas_threads(r.threads);
    bool good = load(&r);
    if (good) {
        good = p->begin(&r.lower, r.setting, r.threads) && take_turns(&r) && measure_all(&r);
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
    free(r.r);
    return good ? 0 : 1;
}
