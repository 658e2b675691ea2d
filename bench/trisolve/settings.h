/* The settings of `saddle bench trisolve`. */
#pragma once

#include "bench/trisolve/trisolve.h"

/* Whether those of --settings can be; an exit status, with the message on standard error. */
int settings_check(const arguments *a);
