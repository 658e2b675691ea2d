/* What a solver's methods keep to themselves, for tests that look inside. */
#pragma once

#include "method/direct/direct.h"
#include "method/ldlt/ldlt.h"
#include "solver/solver.h"

#include <string.h>

static inline const sd_direct *direct_of(const saddle_solver *s)
{
    return sd_find_work(s, &sd_method_direct)->factors;
}

static inline sd_ldlt_state *ldlt_of(const saddle_solver *s)
{
    const sd_work *work = sd_find_work(s, &sd_method_ldlt);
    return (work ? work : sd_find_work(s, &sd_method_jacobi))->factors;
}

/* The methods of a ladder, by their words. */
static inline const char *words_of(const sd_ladder *l)
{
    static char text[128];
    char word[24];
    text[0] = 0;
    for (int k = 0; k < l->rungs; ++k) {
        strcat(text, k > 0 ? " " : "");
        strcat(text, saddle_option_word("method", l->rung[k].method->number, word, sizeof word));
    }
    return text;
}
