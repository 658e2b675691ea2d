/* Methods at work for a solver: see work.c. */
#pragma once

#include "solver/solver.h"

/* The method's place, a free one where it is not at work yet. */
sd_work *sd_work_place(saddle_solver *solver, const sd_method *method);
/* Frees its factors; or all of it. */
void sd_work_free_factors(saddle_solver *solver, sd_work *work);
void sd_work_forget(saddle_solver *solver, sd_work *work);

/* Plans a method from the values of A, where it is not planned. */
saddle_status sd_work_plan(saddle_solver *solver, const sd_method *method);
/* Whether the memory allows what a method was planned for, and a look at new values in addition. */
saddle_status sd_work_check_memory(saddle_solver *solver, const sd_method *method);
/* What is planned before it is known what is tried: a named method, or the direct solver where `auto` needs
 * to compare with it. */
saddle_status sd_work_plan_ahead(saddle_solver *solver);
/* Plans, decides and factors, now that the values are known. */
saddle_status sd_work_run(saddle_solver *solver);
/* Whether what comes next is the direct solver alone. */
bool sd_work_is_direct(saddle_solver *solver);
/* Whether one solve is expected, and nothing was said that only the direct solver can do. */
bool sd_solves_once(const saddle_options *options);

/* The matrix as iterations and measurements multiply with it. */
saddle_status sd_make_operators(saddle_solver *solver);
void sd_forget_operators(saddle_solver *solver);
