/*
 * Ipopt on a list of problems, with MUMPS and through the door of Saddle:
 *
 *     ipopt-problems [OPTION ...] [PROBLEM ...]
 *
 *     --library DIR     the folder with our libhsl.so (required: it goes into LD_LIBRARY_PATH)
 *     --size full       large problems; quick (the default) is for a test
 *     --group NAME      small, control or pde; all of them without it
 *     --solvers A,B     ma97,ma27 are compared with mumps
 *     --repeat N        the least time of N solves counts (1)
 *     --seconds N       a solve that takes longer has failed (300)
 *     --set NAME=VALUE  another option of Ipopt for all solvers; may be repeated
 *     --write DIR       solves nothing, but writes each problem into a file of this folder: n, m, terms and
 *                       whether x is unique; bounds and start of every variable; bounds of every constraint;
 *                       every term (row or -1 for the objective, coefficient, function and variable of each
 *                       factor)
 *     --print           Ipopt's own output
 *     --cpu             seconds of a core, for a machine that is busy with other things
 *
 * Fails if a problem that MUMPS solves is not solved, or differs in its solution, or if the iterations of a
 * solver are more than those of MUMPS in the sum. Times are told and not judged.
 */
#include "adapters/hsl/bench/solve_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOLVERS = 4, EXTRA = 16 };
static const double SAME_OBJECTIVE = 1e-6, SAME_X = 1e-4;

typedef struct choice {
    const char *library, *group, *write;
    bool full, print, cpu;
    int repeat, seconds, solvers, names, extras;
    const char *solver[SOLVERS], *extra[EXTRA + 1];
    char **name;
} choice;

static const char *const group_names[] = {"small", "control", "pde"};

/* What is added up for a solver. */
typedef struct total {
    int solved, iterations, wrong, large;
    double log_ratio; /* of seconds to those of MUMPS, on large problems */
} total;

static void usage(const char *why)
{
    fprintf(stderr, "ipopt-problems: %s (its source says what there is)\n", why);
    exit(2);
}

static choice read_arguments(int count, char **argument)
{
    choice c = {.repeat = 1, .seconds = 300, .solver = {"mumps"}, .solvers = 1};
    static char words[128];
    const char *list = "ma97,ma27";
    int k = 1;
    for (; k < count && !strncmp(argument[k], "--", 2); ++k) {
        const char *name = argument[k] + 2;
        if (!strcmp(name, "print") || !strcmp(name, "cpu")) {
            *(*name == 'p' ? &c.print : &c.cpu) = true;
            continue;
        }
        if (++k == count) usage("an option has no value");
        char *const value = argument[k];
        if (!strcmp(name, "library"))
            c.library = value;
        else if (!strcmp(name, "write"))
            c.write = value;
        else if (!strcmp(name, "size"))
            c.full = !strcmp(value, "full");
        else if (!strcmp(name, "group"))
            c.group = value;
        else if (!strcmp(name, "solvers"))
            list = value;
        else if (!strcmp(name, "repeat"))
            c.repeat = (int)strtol(value, NULL, 10);
        else if (!strcmp(name, "seconds"))
            c.seconds = (int)strtol(value, NULL, 10);
        else if (!strcmp(name, "set") && c.extras < EXTRA)
            c.extra[c.extras++] = value;
        else
            usage("an option is unknown");
    }
    snprintf(words, sizeof words, "%s",
             list); /* arguments stay as they are: the program begins again with them */
    for (char *word = strtok(words, ","); word && c.solvers < SOLVERS; word = strtok(NULL, ","))
        c.solver[c.solvers++] = word;
    c.name = argument + k;
    c.names = count - k;
    if (!c.library) usage("--library is missing");
    return c;
}

/* The folder of the library is looked at when a program begins, so this one begins again. */
static void begin_with_library(const choice *c, char **argument)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    const size_t length = strlen(c->library);
    if (path && !strncmp(path, c->library, length)) return;
    const size_t room = length + 2 + (path ? strlen(path) : 0);
    char *const longer = malloc(room);
    if (!longer) usage("out of memory");
    snprintf(longer, room, "%s%s%s", c->library, path ? ":" : "", path ? path : "");
    setenv("LD_LIBRARY_PATH", longer, 1);
    execv("/proc/self/exe", argument);
    usage("cannot begin again");
}

static bool is_chosen(const choice *c, const problem *p)
{
    if (c->group && strcmp(c->group, group_names[p->group]) != 0) return false;
    for (int k = 0; k < c->names; ++k)
        if (!strcmp(c->name[k], p->name)) return true;
    return c->names == 0;
}

static outcome solve_repeatedly(const choice *c, model *p, const char *solver, double *x)
{
    const setting how = {.linear_solver = solver,
                         .seconds = c->seconds,
                         .print_level = c->print ? 5 : 0,
                         .cpu = c->cpu,
                         .extra = c->extra};
    outcome best = solve_problem(p, &how, x);
    for (int k = 1; k < c->repeat; ++k) {
        const outcome o = solve_problem(p, &how, x);
        if (o.seconds < best.seconds) best.seconds = o.seconds;
        if (o.whole < best.whole) best.whole = o.whole;
    }
    return best;
}

/* The largest difference of x, relative to its largest entry or 1. */
static double distance(int n, const double *x, const double *y)
{
    double most = 0, size = 1;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return most / size;
}

/* Why this is not the solution of MUMPS; NULL: it is. */
static const char *find_fault(const model *p, const outcome *o, const outcome *reference, const double *x,
                              const double *y)
{
    if (!is_solved(reference)) return NULL;
    if (!is_solved(o)) return o->status == DIED ? "died" : "not solved";
    if (o->status > reference->status) return "less accurate";
    if (!(fabs(o->objective - reference->objective) <= SAME_OBJECTIVE * fmax(1, fabs(reference->objective))))
        return "another objective";
    return p->unique && !(distance(p->n, x, y) <= SAME_X) ? "another solution" : NULL;
}

/* Problem number k, into a file whose name begins with it. */
static void write_problem(const choice *c, const problem *what, int k)
{
    model *const p = what->make(c->full ? what->full : what->quick);
    char path[4096];
    snprintf(path, sizeof path, "%s/%02d-%s", c->write, k, what->name);
    FILE *const file = fopen(path, "w");
    if (!file) usage("cannot write a problem");
    fprintf(file, "%d %d %zu %d\n", p->n, p->m, p->count, p->unique);
    for (int i = 0; i < p->n; ++i)
        fprintf(file, "%.17g %.17g %.17g\n", p->x_lower[i], p->x_upper[i], p->x_start[i]);
    for (int i = 0; i < p->m; ++i) fprintf(file, "%.17g %.17g\n", p->g_lower[i], p->g_upper[i]);
    for (size_t t = 0; t < p->count; ++t) {
        fprintf(file, "%d %.17g", p->terms[t].row, p->terms[t].coefficient);
        for (int i = 0; i < p->terms[t].count; ++i)
            fprintf(file, " %d %d", p->terms[t].factor[i].phi, p->terms[t].factor[i].variable);
        fprintf(file, "\n");
    }
    if (fclose(file)) usage("cannot write a problem");
    model_free(p);
}

/* Runs a problem with all solvers; totals[0] is that of MUMPS. */
static void run(const choice *c, const problem *what, total totals[SOLVERS])
{
    model *const p = what->make(c->full ? what->full : what->quick);
    double *const x = malloc((size_t)p->n * sizeof *x), *const y = malloc((size_t)p->n * sizeof *y);
    outcome reference = {.status = DIED};
    if (!x || !y) usage("out of memory");
    printf("%-18s %7d %7d", what->name, p->n, p->m);
    for (int k = 0; k < c->solvers; ++k) {
        total *const t = &totals[k];
        const outcome o = solve_repeatedly(c, p, c->solver[k], k ? x : y);
        if (k == 0) reference = o;
        const char *const fault = find_fault(p, &o, &reference, x, y);
        const bool both = is_solved(&o) && is_solved(&reference);
        t->solved += is_solved(&o);
        t->wrong += k > 0 && fault;
        if (both) t->iterations += o.iterations;
        if (both && what->group != SMALL && reference.seconds > 0) {
            t->log_ratio += log(fmax(o.seconds, 1e-3) / fmax(reference.seconds, 1e-3));
            ++t->large;
        }
        printf("  %5d %8.3f", o.iterations, o.seconds);
        if (k > 0) printf(" %5.2f", fmax(o.seconds, 1e-3) / fmax(reference.seconds, 1e-3));
        if (!is_solved(&o)) printf(" (status %d)", o.status);
        if (k > 0 && fault)
            printf(" FAILED: %s (f %.9g, with MUMPS %.9g)", fault, o.objective, reference.objective);
        fflush(stdout);
    }
    printf("\n");
    free(x);
    free(y);
    model_free(p);
}

int main(int count, char **argument)
{
    const choice c = read_arguments(count, argument);
    if (c.write) {
        for (int k = 0; problem_at(k); ++k)
            if (is_chosen(&c, problem_at(k))) write_problem(&c, problem_at(k), k);
        return 0;
    }
    begin_with_library(&c, argument);
    total totals[SOLVERS] = {{0}};
    int problems = 0, failures = 0;
    printf("%-18s %7s %7s", "problem", "n", "m");
    for (int k = 0; k < c.solvers; ++k) printf("  %5s %8s%s", c.solver[k], "seconds", k ? " ratio" : "");
    printf("\n");
    for (int k = 0; problem_at(k); ++k) {
        if (!is_chosen(&c, problem_at(k))) continue;
        run(&c, problem_at(k), totals);
        ++problems;
    }
    for (int k = 0; k < c.solvers; ++k) {
        const total *t = &totals[k];
        printf("%s: %d of %d solved, %d iterations where MUMPS solves too", c.solver[k], t->solved, problems,
               t->iterations);
        if (k > 0 && t->large)
            printf(", seconds of linear algebra beside MUMPS' %.3f in the geometric mean of %d large ones",
                   exp(t->log_ratio / t->large), t->large);
        printf("\n");
        failures += t->wrong;
    }
    for (int k = 1; k < c.solvers; ++k)
        if (totals[k].wrong == 0 && totals[k].iterations > totals[0].iterations) {
            printf("FAILED: %s takes more iterations than MUMPS in the sum\n", c.solver[k]);
            ++failures;
        }
    if (problems == 0) usage("there is no such problem");
    return failures ? 1 : 0;
}
