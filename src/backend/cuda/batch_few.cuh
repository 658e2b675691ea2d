/*
 * L D L' of blocks of up to ALONE rows: one a lane (batch_alone.cuh), unless those of ALONE rows are so few
 * that most of the device would wait: a sub-warp each, in shared memory, then ends sooner.
 */
#pragma once

#include "backend/cuda/batch_alone.cuh"
#include "backend/cuda/batch_shared_ldlt.cuh"

namespace sd_cuda
{

template <class Alone, int RULE, class real>
void launch_few_or_alone(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b, int few)
{
    if (plan->first[ALONE + 1] - plan->first[ALONE] > few) {
        launch_alone<Alone>(e, plan, b);
        return;
    }
    launch_range<ldlt_shared_method<RULE>, real, ALONE, ALONE>(e, plan, b, ALONE, ALONE);
    launch_alone<Alone, real, ALONE - 1>(e, plan, b);
}

} /* namespace sd_cuda */
