/*
 * METIS by itself, as a peer to compare with: METIS_NodeND with its default options on the whole graph of
 * A + A', rows of high degree and all.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

typedef struct bare_metis {
    void *function; /* METIS_NodeND, of the METIS that saddle is linked with */
    bool edgeless;  /* there is nothing to order */
    int32_t *start, *perm, *back;
    saddle_matrix graph; /* both ends of every edge, by rows, without loops */
    saddle_hooks hooks;
} bare_metis;

/* Makes the graph. Where there is no METIS, no edge or no memory bare_metis_time gives NaN. End with
 * bare_metis_end in any case. */
void bare_metis_begin(bare_metis *m, const saddle_matrix *A, const saddle_hooks *hooks);

/* Seconds of one call. */
double bare_metis_time(bare_metis *m);

void bare_metis_end(bare_metis *m);
