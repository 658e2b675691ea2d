/* A system analysed, factored and solved by columns. */
#pragma once

#include "check.h"

typedef struct spral_ssids_options options_of;
typedef struct spral_ssids_inform inform_of;

/* Analyses and factors by columns; the handles are the caller's to free. */
static inline inform_of factor_system(const system_of *s, bool posdef, const options_of *options,
                                      void **akeep, void **fkeep)
{
    inform_of inform;
    spral_ssids_analyse(true, s->n, NULL, s->ptr, s->row, s->val, akeep, options, &inform);
    if (inform.flag < 0) return inform;
    spral_ssids_factor(posdef, NULL, NULL, s->val, NULL, *akeep, fkeep, options, &inform);
    return inform;
}

/* Solves for 1, 2, 3, ...: how far the answer is. */
static inline double solve_system(const system_of *s, void *akeep, void *fkeep, const options_of *options)
{
    double x[MOST];
    inform_of inform;
    make_rhs(s, x);
    spral_ssids_solve1(0, x, akeep, fkeep, options, &inform);
    return inform.flag < 0 ? INFINITY : off(s->n, x);
}
