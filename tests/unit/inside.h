/* What a solver's methods keep to themselves, for tests that look inside. */
#pragma once

#include "method/direct/direct.h"
#include "method/ldlt/ldlt.h"
#include "solver/solver.h"

static inline const sd_direct *direct_of(const saddle_solver *s)
{
    return sd_find_work(s, &sd_method_direct)->factors;
}

static inline sd_ldlt_state *ldlt_of(const saddle_solver *s)
{
    const sd_work *work = sd_find_work(s, &sd_method_ldlt);
    return (work ? work : sd_find_work(s, &sd_method_jacobi))->factors;
}
