/*
 * Seconds of a solve with block LDL' on a GPU, exact and by sweeps, predicted from the plan and a few
 * constants of the machine. The terms are those that the schedules have; with B the bytes that a solve reads,
 *
 *     exact solve       2 launches + levels x hop + B / rate          a level waits for one before it
 *     a sweep each way  2 launches + B / rate + longest x step        the longest row is read by one sub-warp
 *
 * Constants are fitted to measured times (docs/ldlt.md says how well); they decide only which of the
 * two is used, and a factor of two in them does no harm. A CPU needs no model: a sweep reads as much as an
 * exact solve there.
 */
#pragma once

#include "plan/ldlt_plan.h"

/* Seconds. A solve is of both triangles; N sweeps are N over each. */
double sd_ldlt_cost_exact(const sd_ldlt_work *w);
double sd_ldlt_cost_swept(const sd_ldlt_work *w, int sweeps);

/* The most sweeps over each triangle that take no longer than an exact solve, and no more than there are
 * levels, as so many are exact; 0: not even one. */
int sd_ldlt_sweeps_worth(const sd_ldlt_work *w);
