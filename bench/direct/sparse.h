/* `saddle bench direct --part sparse`. */
#pragma once

#include "cli/command.h"

/* The whole of it; an exit status. */
int sparse_run(const arguments *a);
