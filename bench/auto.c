/*
 * `saddle bench auto`: what `auto` takes beside each method that could have been named.
 *
 * Each run is a process of its own, `saddle solve`, from the matrix in memory to a verified x: what it says
 * of preparation, plan, factorization and solve is counted, reading and the program's own start are not. A
 * run that takes too long or too much memory, or that does not reach the tolerance, is left out and listed;
 * so are those of methods that were hopeless at a smaller size of the same family, or that have taken ten
 * times as long as the best. `auto` must solve what any method solves.
 */
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/problem.h"
#include "cli/paths.h"
#include "cli/program.h"
#include "cli/progress.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { METHODS = 8, FAMILIES = 14 };
static const char *const methods[METHODS] = {"auto",    "direct", "diagonal", "ldlt",
                                             "bjacobi", "jacobi", "ic",       "ilu"};
static const double NEAR[] = {1.25, 1.5};

/* The generated problems: n rows are `each` times the size to the power `dimensions`. */
static const struct {
    const char *family, *parameter;
    double each;
    int dimensions;
} families[FAMILIES] = {
    {"lap2d", "", 1, 2},   {"lap2d", ":0.5", 1, 2}, {"lap3d", "", 1, 3},    {"lap3d", ":1.5", 1, 3},
    {"elas3d", "", 3, 3},  {"stokes2d", "", 3, 2},  {"stokes3d", "", 4, 3}, {"darcy2d", "", 3, 2},
    {"darcy3d", "", 4, 3}, {"pdeco2d", "", 3, 2},   {"pdeco3d", "", 3, 3},  {"kktz", "", 2, 2},
    {"ipm", "", 1.5, 1},   {"helm2d", "", 1, 2},
};

typedef enum outcome { SOLVED, UNSOLVED, LATE, MEMORY, REFUSED, HOPELESS } outcome;
static const char *const outcome_words[] = {"solved",
                                            "not to the tolerance",
                                            "slower than 3 times the best, or than the limit",
                                            "too much memory",
                                            "refused",
                                            "not tried: hopeless at a smaller size"};
static const double SLOW = 3; /* times the best, and the seconds of --grace: not waited for any longer */

typedef struct auto_row {
    char name[64], used[24]; /* the method that auto ended with */
    int64_t n;
    double seconds[METHODS]; /* NaN: left out */
    outcome outcome[METHODS];
    double ratio; /* auto / best of the others; infinite: auto failed; NaN: nobody solved it */
} auto_row;

typedef struct auto_bench {
    const arguments *a;
    saddle_hooks hooks;
    char saddle[4096], matrix[4096], json[4096], message[SADDLE_MESSAGE_SIZE];
    auto_row *rows;
    int count, room;
} auto_bench;

/* The number after a key in a line; NaN where it is not there. */
static double number_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* Seconds of a run from its JSON; what it came to. */
static outcome read_json(const char *path, double *seconds, char *used, size_t used_size)
{
    static char line[1 << 20];
    bool converged = false;
    FILE *file = fopen(path, "r");
    *seconds = NAN;
    while (file && fgets(line, sizeof line, file)) {
        char word[24] = "";
        converged = converged || strstr(line, "\"converged\": true");
        if (sscanf(line, " \"method\": \"%23[a-z]\"", word) == 1) snprintf(used, used_size, "%s", word);
        if (strstr(line, "\"time\": {"))
            *seconds = number_of(line, "\"prepare\": ") + number_of(line, "\"plan\": ") +
                       number_of(line, "\"factor\": ") + number_of(line, "\"solve\": ");
    }
    if (file) fclose(file);
    return converged ? SOLVED : UNSOLVED;
}

/* One process, for at most `limit` seconds; CHILD_STOP where the user asked to stop. */
static child_word run_once(auto_bench *t, int method, double limit, outcome *came_to, double *seconds,
                           char *used, size_t used_size)
{
    char threads[24], line[256];
    const char *memory = argument_text(t->a, "memory");
    const char *argv[] = {t->saddle,      "solve", t->matrix, "--method", methods[method],
                          "--threads",    threads, "--json",  t->json,    "-q",
                          "--max-memory", memory,  NULL};
    snprintf(threads, sizeof threads, "%lld", (long long)t->a->library.threads);
    child c;
    child_word word = CHILD_LINE;
    if (!child_start(&c, argv, limit, true)) return CHILD_STOP;
    while (word == CHILD_LINE) word = child_line(&c, line, sizeof line);
    const int status = child_end(&c, word != CHILD_END);
    *seconds = NAN;
    *came_to = word == CHILD_LATE ? LATE : status == EXIT_MEMORY || status == -1 ? MEMORY : REFUSED;
    if (word == CHILD_END && (status == EXIT_DONE || status == EXIT_NOT_REACHED))
        *came_to = read_json(t->json, seconds, used, used_size);
    if (*came_to != SOLVED) *seconds = NAN;
    return word;
}

/* The least time of the methods from the first on; infinite where none has solved it. */
static double best_of(const auto_row *row, int first)
{
    double best = INFINITY;
    for (int k = first; k < METHODS; ++k)
        best = fmin(best, isnan(row->seconds[k]) ? INFINITY : row->seconds[k]);
    return best;
}

static void compare(auto_row *row)
{
    const double best = best_of(row, 1);
    row->ratio = isfinite(best) ? (isnan(row->seconds[0]) ? INFINITY : row->seconds[0] / best) : NAN;
}

/* Whether two names, as "lap3d_46:1.5" and "lap3d_100:1.5", are of the same family of generated problems. */
static bool is_family(const char *a, const char *b)
{
    const size_t word = strcspn(a, "_");
    const char *parameter = strchr(a, ':'), *other = strchr(b, ':');
    bool known = false;
    for (int k = 0; k < FAMILIES; ++k)
        known = known || (strlen(families[k].family) == word && strncmp(a, families[k].family, word) == 0);
    return known && strncmp(a, b, word + 1) == 0 &&
           strcmp(parameter ? parameter : "", other ? other : "") == 0;
}

/* Whether a method was far behind, or solved nothing, at a smaller size. `auto` is always run. */
static bool is_hopeless(const auto_bench *t, const auto_row *row, int method)
{
    const double far = (double)argument_count(t->a, "skip");
    for (int k = 0; k < t->count && method > 0; ++k) {
        const auto_row *r = &t->rows[k];
        if (r->n >= row->n || !is_family(r->name, row->name)) continue;
        if (r->outcome[method] != SOLVED || r->seconds[method] > far * best_of(r, 0)) return true;
    }
    return false;
}

/* Seconds that a run may take. */
static double limit_of(const auto_bench *t, const auto_row *row, int method)
{
    const double most = (double)argument_count(t->a, "limit"), grace = (double)argument_count(t->a, "grace");
    return method > 0 ? fmin(most, grace + SLOW * best_of(row, 0)) : most;
}

/* Turns of all methods. What takes less than a tenth of a second is disturbed by anything: there are more of
 * it. */
static int64_t turns_of(const auto_row *row, int64_t done, int64_t repeat)
{
    enum { MORE = 4 };
    return done > 0 && best_of(row, 0) < 0.1 ? MORE * repeat : repeat;
}

/* All methods on the matrix that was written; 0 or an exit status. */
static int run_methods(auto_bench *t, auto_row *row)
{
    const int64_t repeat = argument_count(t->a, "repeat");
    for (int k = 0; k < METHODS; ++k) {
        row->seconds[k] = NAN;
        row->outcome[k] = is_hopeless(t, row, k) ? HOPELESS : SOLVED;
    }
    for (int64_t turn = 0; turn < turns_of(row, turn, repeat); ++turn) {
        for (int k = 0; k < METHODS; ++k) {
            double seconds;
            char used[24] = "";
            if (row->outcome[k] != SOLVED) continue;
            if (run_once(t, k, limit_of(t, row, k), &row->outcome[k], &seconds, used, sizeof used) ==
                    CHILD_STOP ||
                progress_interrupted())
                return fail(EXIT_INTERRUPTED, "interrupted at %s", row->name);
            row->seconds[k] = fmin(seconds, isnan(row->seconds[k]) ? INFINITY : row->seconds[k]);
            if (!isfinite(row->seconds[k])) row->seconds[k] = NAN;
            if (k == 0) snprintf(row->used, sizeof row->used, "%s", used);
        }
    }
    compare(row);
    return EXIT_DONE;
}

static void print_row(const auto_row *row)
{
    printf("%-28.28s %9lld  %-9s", row->name, (long long)row->n, row->used);
    for (int k = 0; k < METHODS; ++k) print_column("%.3f", 9, row->seconds[k]);
    print_column("%.2f", 8, row->ratio);
    printf("%s\n", isinf(row->ratio) ? " auto failed" : "");
    fflush(stdout);
}

static void print_header(void)
{
    printf("%-28s %9s  %-9s", "seconds", "n", "auto used");
    for (int k = 0; k < METHODS; ++k) printf("%9s", methods[k]);
    printf("%8s\n", "/ best");
}

/* How many are within a factor of the best, of how many that anybody solved. */
static int count_near(const auto_bench *t, double factor, int *of)
{
    int near = 0;
    *of = 0;
    for (int k = 0; k < t->count; ++k) {
        near += t->rows[k].ratio <= factor;
        *of += !isnan(t->rows[k].ratio);
    }
    return near;
}

static void print_summary(const auto_bench *t)
{
    int of;
    for (int k = 0; k < 2; ++k) {
        const int near = count_near(t, NEAR[k], &of);
        printf("%sauto within %.2f of the best: %d of %d (%.0f %%)\n", k ? "" : "\n", NEAR[k], near, of,
               of ? 100.0 * near / of : 0.0);
    }
    printf("left out:");
    for (int k = 0; k < t->count; ++k)
        for (int m = 0; m < METHODS; ++m)
            if (t->rows[k].outcome[m] != SOLVED)
                printf("\n    %s %s: %s", t->rows[k].name, methods[m], outcome_words[t->rows[k].outcome[m]]);
    putchar('\n');
}

/* One matrix, from a file or made. One that cannot be read is told and left out. */
static int bench_one(auto_bench *t, const char *operand, bool print)
{
    bench_problem p;
    auto_row *row = &t->rows[t->count];
    *row = (auto_row){0};
    snprintf(row->name, sizeof row->name, "%s", operand);
    saddle_status status = bench_problem_load(&p, operand, &t->hooks, t->message);
    if (status == SADDLE_OK) {
        matrix_name(operand, row->name, sizeof row->name);
        row->n = p.A.rows;
        status = saddle_write_matrix(t->matrix, &p.A, NULL, t->message);
        bench_problem_free(&p);
    }
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    if (status != SADDLE_OK) return fail(exit_status(status), "%s", t->message);
    const int ended = run_methods(t, row);
    if (ended != EXIT_DONE) return ended;
    if (t->count++ == 0 && print) print_header();
    if (print) print_row(row);
    return EXIT_DONE;
}

/* The families at about n rows. */
static int bench_families(auto_bench *t, double n, bool print)
{
    int status = EXIT_DONE;
    for (int k = 0; k < FAMILIES && status != EXIT_INTERRUPTED; ++k) {
        char operand[64];
        const double size = pow(n / families[k].each, 1.0 / families[k].dimensions);
        snprintf(operand, sizeof operand, "%s_%.0f%s", families[k].family, size, families[k].parameter);
        const int one = bench_one(t, operand, print);
        if (one != EXIT_DONE) status = one;
    }
    return status;
}

static int bench_all(auto_bench *t, bool print)
{
    static const double sizes[] = {1e4, 1e5, 1e6};
    int status = EXIT_DONE;
    for (int k = 0; k < t->a->operand_count && status != EXIT_INTERRUPTED; ++k) {
        const int one = bench_one(t, t->a->operands[k], print);
        if (one != EXIT_DONE) status = one;
    }
    const double most = t->a->operand_count > 0 && !argument_given(t->a, "families")
                            ? 0
                            : (double)argument_count(t->a, "rows");
    for (int k = 0; k < 3 && status != EXIT_INTERRUPTED; ++k) {
        const int some = sizes[k] <= most ? bench_families(t, sizes[k], print) : EXIT_DONE;
        if (some != EXIT_DONE) status = some;
    }
    return status;
}

static void write_json(json *j, const void *report)
{
    const auto_bench *t = report;
    bench_json_head(j, "auto");
    json_count(j, "threads", t->a->library.threads);
    json_array(j, "rows");
    for (int k = 0; k < t->count; ++k) {
        const auto_row *row = &t->rows[k];
        json_object(j, NULL);
        JSON_PUT(j, true, J_TEXT("name", row->name), J_COUNT("n", row->n), J_TEXT("used", row->used));
        json_object(j, "seconds");
        for (int m = 0; m < METHODS; ++m) json_number(j, methods[m], row->seconds[m]);
        json_close(j);
        json_object(j, "outcome");
        for (int m = 0; m < METHODS; ++m) json_text(j, methods[m], outcome_words[row->outcome[m]]);
        json_close(j);
        json_number(j, "ratio", row->ratio);
        json_close(j);
    }
    json_close(j);
}

static int run_auto(const arguments *a)
{
    const bool print = bench_prints(a);
    auto_bench t = {.a = a, .room = a->operand_count + 3 * FAMILIES};
    int status = bench_check_operands(a);
    if (status != EXIT_DONE) return status;
    if (!program_beside("saddle", t.saddle, sizeof t.saddle))
        return fail(EXIT_FILE, "the program saddle is not beside saddle-bench");
    t.rows = calloc((size_t)t.room, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    status = bench_temporary(".mtx", t.matrix, sizeof t.matrix);
    if (status == EXIT_DONE) status = bench_temporary(".json", t.json, sizeof t.json);
    t.hooks = progress_begin(a);
    if (status == EXIT_DONE) status = bench_all(&t, print);
    progress_end();
    if (*t.matrix) unlink(t.matrix);
    if (*t.json) unlink(t.json);
    if (print && t.count > 0) print_summary(&t);
    status = bench_save(a, status, write_json, &t);
    free(t.rows);
    return status;
}

static const option auto_options[] = {
    OPTION_COUNT("rows", "N", 100000, 10000, 1000000,
                 "generated problems of 10000, 100000 and 1000000 rows, up to this many"),
    OPTION_FLAG("families", 0, "the generated problems too, where matrices are named"),
    OPTION_COUNT("limit", "S", 300, 1, 1000000, "seconds that a run may take"),
    OPTION_COUNT("grace", "S", 1, 0, 1000000, "seconds beyond 3 times the best that a run may take"),
    OPTION_TEXT("memory", "SIZE", "8G", "memory that a run may use"),
    OPTION_COUNT("skip", "F", 10, 1, 1000000,
                 "methods F times slower than the best at a smaller size of a family are not tried"),
    OPTION_COUNT("repeat", "N", 1, 1, 100, "runs of each; the best counts"),
    BENCH_JSON,
    OPTION_END,
};

const command command_auto = {
    .name = "auto",
    .operands = "[A.mtx[.gz]...]",
    .help = "the time of auto, compared with that of every named method",
    .about =
        "For each matrix, or for the generated families: the time from the matrix in memory to a verified "
        "solution with --method auto and with each method that can be named, each run in a process of its "
        "own. Runs that exceed the limits of time or memory, that take three times as long as the best, or "
        "that do not reach the tolerance are left out and listed; a method that was left out, or far slower, "
        "at a smaller size of a family is not tried at a larger one. The last lines say how often "
        "auto is within 1.25 and 1.5 of the best.",
    .examples = "  saddle bench auto --threads 2\n"
                "  saddle bench auto matrices/kkt/*.mtx.gz --limit 60\n",
    .options = auto_options,
    .library = "threads",
    .least = 0,
    .most = INT_MAX,
    .run = run_auto,
};
