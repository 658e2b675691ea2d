/*
 * Seconds of a solve with two triangles, exact and by sweeps, predicted from counts of the plan and a few
 * constants of the machine. The terms are those that the schedules have; with B the bytes that are read,
 *
 *     exact solve       2 launches + levels x hop + B / rate          a level waits for one before it
 *     a sweep each way  2 launches + B / rate + longest x step        the longest row is read by one sub-warp
 *
 * The constants of sd_trisolve_gpu are fitted to measured times of block LDL' (docs/ldlt.md says how well).
 * Those of sd_triangle_gpu, for compressed rows and sweeps over entries, are fitted to three problems
 * (docs/trisolve.md, "On a GPU"), but for the longest row, of which 8 entries are taken at a time in one
 * latency of the memory. They decide only which of the two is used, and a factor of two in them does no harm.
 * A CPU needs no model: a sweep reads as much as an exact solve there, and waits for no level.
 */
#pragma once

#include "plan/trisolve_work.h"

/* Seconds: of a launch; from one level to the next; of a byte; of a column of the longest row. */
typedef struct sd_trisolve_machine {
    double launch, hop, byte, column;
} sd_trisolve_machine;
extern const sd_trisolve_machine sd_trisolve_gpu, sd_triangle_gpu;

/* Seconds. A solve is of both triangles; N sweeps are N over each. */
double sd_trisolve_cost_exact(const sd_trisolve_machine *of, const sd_trisolve_work *w);
double sd_trisolve_cost_swept(const sd_trisolve_machine *of, const sd_trisolve_work *w, int sweeps);

/* The most sweeps over each triangle that take no longer than an exact solve, and no more than there are
 * levels, as so many are exact; 0: not even one. */
int sd_trisolve_sweeps_worth(const sd_trisolve_machine *of, const sd_trisolve_work *w);
