/* What a run takes of the device's memory, before any of it is allocated: as front_run.cu, front_tasks.cu,
 * front_values.cu and front_solve.cu then do. */
#include "backend/cuda/front_memory.cuh"

namespace sd_cuda
{

/* Numbers and counters that a factorization begins with as 0: the tally, then of each step two tickets, a
 * barrier and one more ticket. */
int64_t control_bytes(int32_t steps)
{
    return static_cast<int64_t>(sizeof(front_tally)) + 4 * static_cast<int64_t>(sizeof(unsigned)) * steps;
}

level_sizes measure_levels(const sd_tree *t, const sd_schedule *s)
{
    level_sizes most = {0, 0, 0};
    for (int32_t l = 0; l < s->levels; ++l) {
        int64_t rows = 0;
        for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k) {
            const int64_t own = sd_step_rows(t, s->large_front[k]);
            rows += own;
            if (own > most.tallest) most.tallest = own;
        }
        const int64_t large = s->large_ptr[l + 1] - s->large_ptr[l];
        if (large > most.large) most.large = large;
        if (rows > most.rows) most.rows = rows;
    }
    return most;
}

template <class real> run_sizes sizes_of(const sd_tree *t, const sd_schedule *s, int64_t blocks)
{
    constexpr int64_t REAL = sizeof(real);
    const level_sizes most = measure_levels(t, s);
    const int64_t n = t->n, fronts = t->fronts, rows = t->row_ptr[fronts], entries = t->entry_ptr[n];
    const int64_t clusters = s->clusters, listed = s->cluster_from[clusters];
    solve_tasks tasks = {};
    const int64_t plan = 28 * (fronts + 1) + 4 * t->child_ptr[fronts] + 8 * rows + 8 * (n + 1) + 4 * entries +
                         (8 + 1) * fronts + 8 * (clusters + 1) + 4 * listed + 4 * int64_t{s->large};
    const int64_t derived = fronts * static_cast<int64_t>(sizeof(front_plan)) + 8 * clusters + 4 * entries;
    const int64_t work = 8 * entries + fronts * static_cast<int64_t>(sizeof(front_state<real>)) + 12 * n +
                         4 * FLAG_COUNT + most.large * static_cast<int64_t>(large_work_bytes<real>()) +
                         8 * JOB_KINDS * (most.large + 1);
    const int64_t wide = blocks < clusters ? blocks : clusters;
    run_sizes sizes;
    sizes.blocks = REAL * (s->arena + s->workspace * wide);
    sizes.fixed = plan + derived + work + sizes.blocks + count_tasks(t, s, &tasks);
    constexpr solve_portion FEW = {4, 4};
    sizes.later = 12 * entries + 13 * n + (8 + REAL) * n * FEW.columns +
                  solve_bytes_of(t, tasks.rooms, true, REAL, FEW) + (1 << 12);
    return sizes;
}

template run_sizes sizes_of<double>(const sd_tree *, const sd_schedule *, int64_t);
template run_sizes sizes_of<float>(const sd_tree *, const sd_schedule *, int64_t);

} /* namespace sd_cuda */
