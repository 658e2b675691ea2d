#pragma once

#include "bench/bench.h"

/* `saddle bench direct --part fronts`: fronts.c. */
int fronts_run(const arguments *a);
