/*
 * What tests may set of the emulated GPU, whose launches have ended when they return: it can look as if they
 * had not. A function that only this module exports gives their address.
 */
#pragma once

typedef struct emulated_knobs {
    int late;  /* an event that is asked for is not there yet */
    int looks; /* device code finds a word written that the host may write: at the look with this number from
                  1 on, and at all after it; 0: as it is */
    int looked;
} emulated_knobs;

/* Two more functions give callers in other languages device memory: void *emulated_memory_take(size_t bytes)
 * and void emulated_memory_give(void *data). */

#define EMULATED_KNOBS "emulated_knobs_of" /* a function without arguments, which returns their address */
