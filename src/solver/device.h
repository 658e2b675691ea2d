/* The device that a solver is on: see device.c. */
#pragma once

#include "solver/solver.h"

/* Device auto decides anew for every pattern. */
saddle_status sd_device_return(saddle_solver *solver);
/* Device auto moves to a GPU if that is predicted to pay, before a factorization whose plan there is. Where
 * it cannot, the log says why, and nothing has changed. */
void sd_device_choose(saddle_solver *solver);
/* Whether device auto has moved to a GPU. */
bool sd_device_has_moved(const saddle_solver *solver);
/* Whether a factorization that failed so is to be made on the host, to which device auto has returned for
 * good: the GPU has not the memory, or failed. */
bool sd_device_give_up(saddle_solver *solver, saddle_status status);
