/*
 * The matrix at home in a device's memory: new values go there first, or are there already, and whatever
 * multiplies or factors there finds them; the host brings them over while the device works.
 */
#pragma once

#include "solver/solver.h"

/* Makes a home for the values of the analysed pattern, where there is a device and the operator lies in its
 * memory as it is. To do without one is no failure. */
saddle_status sd_home_make(saddle_solver *solver);
void sd_home_free(saddle_solver *solver);

/* The operator of the solver gets the values that A has on the host; false where it has to be made anew. */
bool sd_home_refresh(saddle_solver *solver);

/* Whether p is in the memory of the solver's device. */
bool sd_is_there(const saddle_solver *solver, const void *p);

/* Values that are there are brought to the host: A then has them in *brought, which is the caller's to free.
 */
saddle_status sd_bring_values(saddle_solver *solver, saddle_matrix *A, void **brought);

/* Whether A, of the pattern that was analysed, can be factored before the host has looked at its values. */
bool sd_home_accepts(const saddle_solver *solver, const saddle_matrix *A);
/* Does so. *done is false where it has to be factored once more, as if its values had just been taken. */
saddle_status sd_home_factor(saddle_solver *solver, const saddle_matrix *A, bool *done);
