/* What the kernels of kernels.h on the GPU share: their functions, and launches of the versions in shared
 * memory. */
#pragma once

#include "backend/cuda/batch_shared_ldlt.cuh"

extern "C" {
#include "bench/kernels/kernels.h"
}

namespace sd_cuda
{

/* Launches Method for sizes least .. N, four at a time; the room of a block, of N rows, decides how many
 * are at work. */
template <class Method, class real, int N, int L>
void launch_shared_class(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b, int least)
{
    for (int size = least; size <= N; size += 4)
        launch_range<Method, real, N, L>(e, plan, b, size, size + 3 < N ? size + 3 : N);
}

template <class Method, class real>
void launch_shared(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_shared_class<Method, real, 32, 32>(e, plan, b, 25);
    launch_shared_class<Method, real, 24, 32>(e, plan, b, 17);
    launch_shared_class<Method, real, 16, 16>(e, plan, b, 9);
    launch_shared_class<Method, real, 8, 8>(e, plan, b, 1);
}

/* In registers: BENCH_LDU or BENCH_LDU_FULL; BENCH_LLT_DIAGONAL. */
template <class real>
void bench_ldu(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b);
template <class real> void bench_llt_diagonal(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b);

/* In shared memory: all kernels. */
template <class real>
void bench_general_shared(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan,
                          const batch<real> &b);
template <class real>
void bench_symmetric_shared(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan,
                            const batch<real> &b);

} /* namespace sd_cuda */
