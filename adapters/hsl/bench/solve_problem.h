/* One problem, solved by Ipopt with one linear solver in a process of its own. */
#pragma once

#include "adapters/hsl/bench/problems.h"

typedef struct outcome {
    int status;     /* Ipopt's: 0 solved, 1 to the acceptable level; DIED below */
    int iterations; /* all of them, those of the restoration phase too */
    double objective;
    double seconds; /* of linear algebra, by Ipopt's own timing statistics */
    double whole;   /* of the whole solve */
} outcome;

enum { DIED = -1000 }; /* a crash, or no end within the time that it had */

typedef struct setting {
    const char *linear_solver;
    int seconds;              /* after which it is ended; 0: never */
    int print_level;          /* Ipopt's, 0: silent */
    bool cpu;                 /* seconds of a core instead of those of a clock */
    const char *const *extra; /* further options, "name=value", up to a NULL */
} setting;

/* x, which has p->n numbers, gets the solution. */
outcome solve_problem(model *p, const setting *how, double *x);

static inline int is_solved(const outcome *o)
{
    return o->status == 0 || o->status == 1;
}
