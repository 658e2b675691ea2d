#include "adapters/hsl/bench/problems.h"

const problem *problem_at(int k)
{
    if (k < small_count) return &small_problems[k];
    k -= small_count;
    if (k < control_count) return &control_problems[k];
    k -= control_count;
    return k < pde_count ? &pde_problems[k] : 0;
}
