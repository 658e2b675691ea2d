/*
 * SADDLE_OPTIONS, the options that a user gives to a door whose host has none of its own for them:
 *
 *     SADDLE_OPTIONS="threads=4 device=cpu threshold=1e-6"
 *
 * Names and values are those of saddle_options_set, separated by spaces or commas. They win over what the
 * host asks for. One more word, print=on, asks a door to say what it runs on even if the host does not. What
 * a direct solver of A is no longer one with, another method and absolute=on, is refused.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

/* Sets in *options what the variable says; *print (which may be NULL) is whether it says print=on. A word
 * that is refused leaves the status and a message (of SADDLE_MESSAGE_SIZE) that names it. */
saddle_status door_environment(saddle_options *options, bool *print, char *message);
