/* The problems that the door for Ipopt is tried with: problems.c lists them. */
#pragma once

#include "adapters/hsl/bench/model.h"

typedef enum group { SMALL, CONTROL, PDE } group;

typedef struct problem {
    const char *name;
    group group;
    model *(*make)(int size);
    int quick, full; /* sizes: for a test, and for a benchmark */
    const char *what;
} problem;

/* Problem number k, or NULL beyond the last. */
const problem *problem_at(int k);

/* problems_small.c, problems_control.c, problems_pde.c */
extern const problem small_problems[], control_problems[], pde_problems[];
extern const int small_count, control_count, pde_count;
