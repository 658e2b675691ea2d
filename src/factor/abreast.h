/*
 * LDL' without fronts of systems abreast: several matrices of one pattern on one sequence (simplicial.h), all
 * at once by the kernels of backend/cpu/abreast.h. Each is checked on its own, and one that is refused has to
 * be factored alone.
 */
#pragma once

#include "backend/cpu/abreast.h"
#include "factor/simplicial.h"

typedef struct sd_abreast_factors {
    const sd_abreast_kernels *on;
    const sd_sequence *s;
    double *values; /* of the scaled matrices, by entry of the tree; NULL: others have factored them */
    sd_abreast_numbers numbers;
    sd_abreast_outcome outcome[SD_ABREAST_MOST];
} sd_abreast_factors;

/* What a factorization takes instead of computing it: the numbers at a place. */
typedef struct sd_abreast_place {
    const sd_abreast_factors *from;
    int at;
    bool counts_only; /* nobody will look at the numbers, or they were parted before */
} sd_abreast_place;

/* The sequence, of a tree with so many entries, must outlive them. Only with `factored` there is memory to
 * factor in; otherwise numbers are joined. */
saddle_status sd_abreast_make(sd_context *c, const sd_abreast_kernels *on, const sd_sequence *s,
                              int64_t entries, bool factored, sd_abreast_factors *f);
void sd_abreast_free(sd_context *c, sd_abreast_factors *f);
int64_t sd_abreast_bytes(const sd_sequence *s, int64_t entries, int width);

/* The numbers of all places, from factors on the same sequence. */
void sd_abreast_join(sd_abreast_factors *f, const sd_simplicial *const *from);
/* The numbers of all places into factors on the same sequence, where there are such. */
void sd_abreast_part(const sd_abreast_factors *f, sd_simplicial *const *to);
/* Takes over what is at a place. */
void sd_abreast_take(const sd_abreast_place *place, sd_simplicial *to, sd_pivots *pivots);
