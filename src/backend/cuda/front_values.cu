/*
 * Values of the tree made on the device, from those of A that are there: 2^-exponent S A S.
 *
 * What is found on the way is whole numbers and extremes, for which the order does not matter: sizes of
 * doubles are ordered as the whole numbers with the same bits are.
 */
#include "backend/cuda/front_memory.cuh"

#include <string.h>

namespace sd_cuda
{

struct taken_values {
    unsigned long long largest, most, least, stale; /* bits of sizes, and a count */
};

namespace
{

constexpr unsigned long long INFINITE = 0x7ff0000000000000ull;

__device__ inline unsigned long long bits_of(double size)
{
    return static_cast<unsigned long long>(__double_as_longlong(size));
}

/* The largest of all threads of a block joins what is at `to`. By all threads. */
__device__ inline void join_largest(unsigned long long own, unsigned long long *to)
{
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(ALL_LANES, own, step);
        own = other > own ? other : own;
    }
    if (threadIdx.x % WARP == 0 && own > 0) atomicMax(to, own);
}

__global__ void begin_taking(taken_values *taken)
{
    if (threadIdx.x == 0) *taken = {0, 0, INFINITE, 0};
}

__global__ void __launch_bounds__(BLOCK)
    find_largest(int64_t count, const double *__restrict__ values, taken_values *taken)
{
    unsigned long long most = 0;
    const int64_t step = static_cast<int64_t>(gridDim.x) * BLOCK;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; k < count; k += step) {
        const unsigned long long size = bits_of(fabs(values[k]));
        most = size > most ? size : most;
    }
    join_largest(most, &taken->largest);
}

/* 2^-exponent of the scaled matrix, a double of its own: its exponent is at most 1022 in size, which the host
 * checks afterwards. */
__device__ inline double power_for(const taken_values *taken, int largest_exponent)
{
    const double largest = __longlong_as_double(static_cast<long long>(taken->largest));
    const int of_a = largest > 0 && largest <= 1.7976931348623157e308 ? ilogb(largest) : 0;
    const int exponent = of_a - largest_exponent, most = 1022;
    return ldexp(1.0, -min(max(exponent, -most), most));
}

__global__ void __launch_bounds__(BLOCK)
    scale_values(int64_t count, const double *__restrict__ a, const int32_t *__restrict__ row,
                 const int32_t *__restrict__ column, const int32_t *__restrict__ target,
                 const double *__restrict__ scale, int largest_exponent, taken_values *taken, double *values)
{
    unsigned long long most = 0;
    const double power = power_for(taken, largest_exponent);
    const int64_t step = static_cast<int64_t>(gridDim.x) * BLOCK;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; k < count; k += step) {
        const int32_t to = target[k];
        if (to < 0) continue;
        const double value = scale[row[k]] * (a[k] * power) * scale[column[k]];
        const unsigned long long size = bits_of(fabs(value));
        values[to] = value;
        most = size > most ? size : most;
    }
    join_largest(most, &taken->most);
}

__global__ void __launch_bounds__(BLOCK)
    look_at_matched(int n, const int32_t *__restrict__ matched, const double *__restrict__ values, double low,
                    double high, taken_values *taken)
{
    unsigned long long least = INFINITE, stale = 0;
    for (int j = static_cast<int>(blockIdx.x) * BLOCK + static_cast<int>(threadIdx.x); j < n;
         j += static_cast<int>(gridDim.x) * BLOCK) {
        const int32_t at = matched[j];
        const double size = at >= 0 ? fabs(values[at]) : 1;
        stale += !(size >= low && size <= high);
        if (at >= 0 && bits_of(size) < least) least = bits_of(size);
    }
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(ALL_LANES, least, step);
        least = other < least ? other : least;
        stale += __shfl_xor_sync(ALL_LANES, stale, step);
    }
    if (threadIdx.x % WARP > 0) return;
    if (least < INFINITE) atomicMin(&taken->least, least);
    if (stale > 0) atomicAdd(&taken->stale, stale);
}

/* Whole numbers of 64 bits as some of 32, on the device. They fit. */
const int32_t *put_narrow(sd_engine *e, const int64_t *from, int64_t count, int32_t *to)
{
    sd_context *c = e->context;
    const int64_t bytes = count * static_cast<int64_t>(sizeof(int32_t));
    int32_t *host = static_cast<int32_t *>(c->hooks.allocate(static_cast<size_t>(bytes) + 1, c->hooks.user));
    if (!host) {
        e->status = fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the places of the values");
        return NULL;
    }
    for (int64_t k = 0; k < count; ++k) host[k] = static_cast<int32_t>(from[k]);
    if (to)
        e->backend->upload(e, host, to, bytes);
    else
        to = static_cast<int32_t *>(copy_to_device(e, host, bytes, "places of the values"));
    c->hooks.release(host, c->hooks.user);
    return to;
}

/* The row of each entry, and all that does not change. */
void put_pattern(sd_engine *e, const sd_run_values *from, int32_t n, value_source *s)
{
    sd_context *c = e->context;
    const char *what = "places of the values";
    const int64_t bytes = from->count * static_cast<int64_t>(sizeof(int32_t));
    int32_t *row = static_cast<int32_t *>(c->hooks.allocate(static_cast<size_t>(bytes) + 1, c->hooks.user));
    if (!row) {
        e->status = fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the rows of the values");
        return;
    }
    for (int32_t i = 0; i < n; ++i)
        for (int64_t k = from->ptr[i]; k < from->ptr[i + 1]; ++k) row[k] = i;
    s->row = static_cast<const int32_t *>(copy_to_device(e, row, bytes, what));
    c->hooks.release(row, c->hooks.user);
    s->column = static_cast<const int32_t *>(copy_to_device(e, from->ind, bytes, what));
    s->target = put_narrow(e, from->target, from->count, NULL);
    s->scale = static_cast<double *>(get_room(e, n * static_cast<int64_t>(sizeof(double)), what));
    s->matched = static_cast<int32_t *>(get_room(e, n * static_cast<int64_t>(sizeof(int32_t)), what));
    s->taken = static_cast<taken_values *>(get_room(e, sizeof *s->taken, what));
    s->bytes = 3 * bytes + 12 * int64_t{n} + static_cast<int64_t>(sizeof *s->taken);
}

} /* namespace */

void take_values(sd_engine *e, const sd_run_values *from, const sd_tree *t, double *values,
                 value_source *source)
{
    const int64_t most = 4 * int64_t{state_of(e)->processors}, wanted = (from->count + BLOCK - 1) / BLOCK,
                  blocks = wanted < most ? wanted : most;
    const bool first = !source->taken;
    if (first) put_pattern(e, from, t->n, source);
    if (e->status) return;
    if (first || from->anew) {
        e->backend->upload(e, from->scale, source->scale, t->n * static_cast<int64_t>(sizeof(double)));
        if (from->matched) put_narrow(e, from->matched, t->n, source->matched);
    }
    launch(e, "values", begin_taking, 1, source->taken);
    launch(e, "values", find_largest, blocks, from->count, from->values, source->taken);
    launch(e, "values", scale_values, blocks, from->count, from->values, source->row, source->column,
           source->target, source->scale, from->largest_exponent, source->taken, values);
    if (from->matched)
        launch(e, "values", look_at_matched, (t->n + BLOCK - 1) / BLOCK, t->n, source->matched, values,
               from->least, from->most, source->taken);
}

void fetch_taken(sd_engine *e, const value_source *source, sd_run_taken *taken)
{
    taken_values found = {};
    e->backend->download(e, source->taken, &found, sizeof found);
    memcpy(&taken->largest, &found.largest, sizeof taken->largest);
    memcpy(&taken->most, &found.most, sizeof taken->most);
    memcpy(&taken->least_matched, &found.least, sizeof taken->least_matched);
    taken->stale = static_cast<int64_t>(found.stale);
}

void free_values(sd_engine *e, value_source *source)
{
    const void *all[] = {source->row,   source->column,  source->target,
                         source->scale, source->matched, source->taken};
    for (const void *memory : all) e->backend->release(e, const_cast<void *>(memory));
    *source = value_source();
}

} /* namespace sd_cuda */
