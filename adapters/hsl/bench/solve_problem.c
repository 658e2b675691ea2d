/* Through Ipopt's C interface. Its timing statistics are printed only, so they are read from its log. */
#include "adapters/hsl/bench/solve_problem.h"

#include <IpStdCInterface.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Bool get_objective(Index n, Number *x, Bool new_x, Number *value, UserDataPtr user)
{
    (void)n, (void)new_x;
    *value = model_objective(user, x);
    return TRUE;
}

static Bool get_gradient(Index n, Number *x, Bool new_x, Number *gradient, UserDataPtr user)
{
    (void)n, (void)new_x;
    model_gradient(user, x, gradient);
    return TRUE;
}

static Bool get_constraints(Index n, Number *x, Bool new_x, Index m, Number *g, UserDataPtr user)
{
    (void)n, (void)new_x, (void)m;
    model_constraints(user, x, g);
    return TRUE;
}

static Bool get_jacobian(Index n, Number *x, Bool new_x, Index m, Index entries, Index *row, Index *col,
                         Number *values, UserDataPtr user)
{
    (void)n, (void)new_x, (void)m, (void)entries;
    model_jacobian(user, x, row, col, values);
    return TRUE;
}

static Bool get_hessian(Index n, Number *x, Bool new_x, Number objective, Index m, Number *lambda,
                        Bool new_lambda, Index entries, Index *row, Index *col, Number *values,
                        UserDataPtr user)
{
    (void)n, (void)new_x, (void)m, (void)new_lambda, (void)entries;
    model_hessian(user, x, objective, lambda, row, col, values);
    return TRUE;
}

/* The time in a line "Name...: cpu (sys: s wall: w)". */
static double read_seconds(const char *line, bool cpu)
{
    const char *const wall = strstr(line, "wall:"), *const sys = strstr(line, "(sys:"),
                      *const colon = strchr(line, ':');
    if (!wall || !sys || !colon) return 0;
    return cpu ? strtod(colon + 1, NULL) + strtod(sys + 5, NULL) : strtod(wall + 5, NULL);
}

/* The seconds of linear algebra in a log, and the count of iterations. Those are the ones of the solver of
 * augmented systems, which does nothing but call the linear solver: the lines "LinearSystem..." add up to
 * less with MUMPS, whose factorizations Ipopt 3.11 does not time (it prints 0 there). */
static void read_log(const char *path, bool cpu, outcome *o)
{
    static const char iterations[] = "Number of Iterations....: ";
    char line[512];
    FILE *const log = fopen(path, "r");
    if (!log) return;
    while (fgets(line, sizeof line, log)) {
        const char *const count = strstr(line, iterations);
        if (count) o->iterations = (int)strtol(count + strlen(iterations), NULL, 10);
        if (strstr(line, "StdAugSystemSolverMultiSolve")) o->seconds = read_seconds(line, cpu);
        if (!strncmp(line, "OverallAlgorithm", 16)) o->whole = read_seconds(line, cpu);
    }
    fclose(log);
}

/* "name=value": a whole number, a number or a word, whichever Ipopt takes. */
static void set_option(IpoptProblem nlp, const char *option)
{
    char name[128], *end;
    snprintf(name, sizeof name, "%s", option);
    char *const equals = strchr(name, '='), *const value = equals ? equals + 1 : name;
    if (equals) *equals = '\0';
    const double number = strtod(value, &end);
    const bool is_number = end > value && *end == '\0';
    const bool taken = (is_number && AddIpoptIntOption(nlp, name, (int)number)) ||
                       (is_number && AddIpoptNumOption(nlp, name, number)) ||
                       AddIpoptStrOption(nlp, name, value);
    if (!taken) fprintf(stderr, "Ipopt refuses the option %s\n", option);
}

static void set_options(IpoptProblem nlp, const setting *how, char *log)
{
    char option[128];
    snprintf(option, sizeof option, "print_level=%d", how->print_level);
    set_option(nlp, option);
    snprintf(option, sizeof option, "linear_solver=%s", how->linear_solver);
    set_option(nlp, option);
    set_option(nlp, "print_timing_statistics=yes");
    set_option(nlp, "sb=yes");
    OpenIpoptOutputFile(nlp, log, 5);
    for (const char *const *extra = how->extra; extra && *extra; ++extra) set_option(nlp, *extra);
}

/* In the process of its own. */
static outcome solve_here(model *p, const setting *how, double *x, char *log)
{
    outcome o = {.status = DIED};
    IpoptProblem nlp = CreateIpoptProblem(p->n, p->x_lower, p->x_upper, p->m, p->g_lower, p->g_upper,
                                          p->jacobian, p->hessian, 0, get_objective, get_constraints,
                                          get_gradient, get_jacobian, get_hessian);
    if (!nlp) return o;
    set_options(nlp, how, log);
    memcpy(x, p->x_start, (size_t)p->n * sizeof *x);
    o.status = IpoptSolve(nlp, x, NULL, &o.objective, NULL, NULL, NULL, p);
    FreeIpoptProblem(nlp);
    read_log(log, how->cpu, &o);
    return o;
}

/* All of a pipe's bytes, or false. */
static bool read_all(int from, void *to, size_t bytes)
{
    char *at = to;
    while (bytes > 0) {
        const ssize_t got = read(from, at, bytes);
        if (got <= 0) return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool write_all(int to, const void *from, size_t bytes)
{
    const char *at = from;
    while (bytes > 0) {
        const ssize_t put = write(to, at, bytes);
        if (put <= 0) return false;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

outcome solve_problem(model *p, const setting *how, double *x)
{
    outcome o = {.status = DIED};
    char log[] = "/tmp/saddle-ipopt-XXXXXX";
    const size_t bytes = (size_t)p->n * sizeof *x;
    int ends[2];
    const int file = mkstemp(log);
    if (file < 0 || pipe(ends)) return o;
    close(file);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (how->seconds) alarm((unsigned)how->seconds);
        o = solve_here(p, how, x, log);
        fflush(NULL);
        _exit(write_all(ends[1], &o, sizeof o) && write_all(ends[1], x, bytes) ? 0 : 1);
    }
    close(ends[1]);
    outcome found;
    if (child > 0 && read_all(ends[0], &found, sizeof found) && read_all(ends[0], x, bytes)) o = found;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    unlink(log);
    return o;
}
