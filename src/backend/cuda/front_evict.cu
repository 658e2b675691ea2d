/*
 * Panels that leave the device while it factors: plan/eviction.h has the steps.
 *
 * A step fills one of two regions. When it is done, the copy engine brings what was planned of it to pinned
 * memory of the host, in a stream of its own, and a kernel what delays have added, for only the device knows
 * how much that is. Two steps later, when the region is needed again, or at the end, fronts of the step are
 * told that their panels are on the host. Kernels reach them there through the same addresses as before, over
 * the bus. Events order the two streams; the host waits for nothing.
 */
#include "backend/cuda/front_memory.cuh"
#include "backend/cuda/memory.cuh"

#include <string.h>

namespace sd_cuda
{
namespace
{

struct alignas(16) sixteen_bytes {
    uint64_t word[2];
};

/* What is in a heap behind the first `planned` bytes. */
__global__ void __launch_bounds__(BLOCK)
    copy_rest(const front_heap *heap, int64_t planned, char *to, const front_tally *tally)
{
    constexpr int64_t SIZE = sizeof(sixteen_bytes);
    if (*static_cast<const volatile int *>(&tally->stop) != 0) return;
    const sixteen_bytes *from = reinterpret_cast<const sixteen_bytes *>(heap->memory);
    const int64_t used = static_cast<int64_t>(heap->used), step = static_cast<int64_t>(gridDim.x) * BLOCK;
    for (int64_t k = planned / SIZE + static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; k < used / SIZE;
         k += step)
        reinterpret_cast<sixteen_bytes *>(to)[k] = from[k];
}

template <class T> __device__ inline T *moved(T *at, const char *from, char *to)
{
    return reinterpret_cast<T *>(to + (reinterpret_cast<const char *>(at) - from));
}

/* Fronts whose panels were at `from`, and have gone to `to`. */
template <class real>
__global__ void __launch_bounds__(BLOCK)
    move_fronts(forest<real> w, const int32_t *front, int64_t count, const char *from, char *to)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k >= count || is_stopped(w)) return;
    front_state<real> *s = &w.front[front[k]];
    s->panel = moved(s->panel, from, to);
    s->d = moved(s->d, from, to);
    s->variable = moved(s->variable, from, to);
}

bool is_within_limit(sd_engine *e, int64_t bytes)
{
    sd_context *c = e->context;
    const long long used = c->elsewhere + c->bytes, wanted = bytes, limit = c->limit;
    if (limit <= 0 || wanted <= limit - used) return true;
    e->status = fail(c, SADDLE_MEMORY_LIMIT,
                     "memory limit: columns of the factors that do not fit on the GPU need %lld bytes in "
                     "addition to %lld in use; the limit is %lld (raise max-memory to at least %lld)",
                     wanted, used, limit, used + wanted);
    return false;
}

bool get_pinned(sd_engine *e, panel_places *p)
{
    sd_context *c = e->context;
    if (!is_within_limit(e, p->host_bytes)) return false;
    void *memory = NULL;
    const cudaError_t error = cudaHostAlloc(&memory, static_cast<size_t>(p->host_bytes),
                                            cudaHostAllocPortable | cudaHostAllocMapped);
    if (error == cudaSuccess) {
        p->host = static_cast<char *>(memory);
        p->counted = p->host_bytes;
        c->bytes += p->counted;
        if (c->bytes > c->peak) c->peak = c->bytes;
        return true;
    }
    cudaGetLastError(); /* being short of memory is no failure of the device */
    if (error == cudaErrorMemoryAllocation)
        e->status = fail(c, SADDLE_OUT_OF_MEMORY,
                         "out of memory: cannot allocate %lld bytes of pinned host memory for columns of the "
                         "factors that do not fit on the GPU (use device cpu, or a larger GPU)",
                         static_cast<long long>(p->host_bytes));
    else
        failed(e, error, "pinned memory");
    return false;
}

/* Panels, which are released when there have to be more. */
char *get_panels(sd_engine *e, int64_t bytes, const char *what)
{
    void *memory = e->status ? NULL : allocate_leaving(e, bytes, what);
    if (!memory && !e->status) e->status = e->context->status;
    return static_cast<char *>(memory);
}

bool get_streams(sd_engine *e, panel_places *p)
{
    const char *what = "stream of the copies";
    if (failed(e, cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking), what)) return false;
    for (int k = 0; k < 2; ++k)
        if (failed(e, cudaEventCreateWithFlags(&p->ready[k], cudaEventDisableTiming), what) ||
            failed(e, cudaEventCreateWithFlags(&p->copied[k], cudaEventDisableTiming), what))
            return false;
    return true;
}

} /* namespace */

saddle_status plan_places(sd_engine *e, const sd_panels *p, const sd_eviction *choice, panel_places *places)
{
    const saddle_hooks *hooks = &e->context->hooks;
    const size_t steps = static_cast<size_t>(choice->steps);
    const size_t bytes = steps * sizeof(sd_panel_step) + (steps + 1) * sizeof(front_heap);
    char *memory = static_cast<char *>(hooks->allocate(bytes, hooks->user));
    *places = {};
    if (!memory)
        return e->status = fail(e->context, SADDLE_OUT_OF_MEMORY,
                                "out of memory: cannot allocate the steps of a factorization");
    places->step = reinterpret_cast<sd_panel_step *>(memory);
    places->heap = reinterpret_cast<front_heap *>(memory + steps * sizeof(sd_panel_step));
    sd_eviction_steps(p, choice, places->step);
    places->steps = choice->steps;
    places->evicted = choice->evicted;
    places->kept_bytes = choice->kept;
    places->region_bytes = choice->region;
    places->host_bytes = choice->host;
    return SADDLE_OK;
}

bool get_places(sd_engine *e, panel_places *p)
{
    const char *what = "columns of the factors";
    const on_device current(state_of(e)->device);
    if (failed(e, current.error, what)) return false;
    p->kept = get_panels(e, p->kept_bytes, what);
    if (p->evicted > 0) p->region = get_panels(e, 2 * p->region_bytes, what);
    if (e->status || (p->evicted > 0 && (!get_pinned(e, p) || !get_streams(e, p)))) return false;
    for (int32_t k = 0; k <= p->evicted; ++k) {
        const bool leaves = k < p->evicted;
        p->heap[k] = {leaves ? p->region + k % 2 * p->region_bytes : p->kept, 0};
    }
    return true;
}

void free_places(sd_engine *e, panel_places *p)
{
    const saddle_hooks *hooks = &e->context->hooks;
    const on_device current(state_of(e)->device);
    if (p->stream) cudaStreamSynchronize(p->stream); /* a run may have failed while it copied */
    for (int k = 0; k < 2; ++k) {
        if (p->ready[k]) cudaEventDestroy(p->ready[k]);
        if (p->copied[k]) cudaEventDestroy(p->copied[k]);
    }
    if (p->stream) cudaStreamDestroy(p->stream);
    if (p->host) {
        cudaStreamSynchronize(state_of(e)->stream); /* as may a kernel that reads what was copied */
        cudaFreeHost(p->host);
    }
    e->context->bytes -= p->counted;
    e->backend->release(e, p->kept);
    e->backend->release(e, p->region);
    if (p->step) hooks->release(p->step, hooks->user);
    *p = {};
}

template <class real> void send_step(sd_engine *e, const run_memory<real> *m, int32_t k)
{
    const char *what = "columns on their way to the host";
    const panel_places &p = m->places;
    const sd_panel_step &s = p.step[k];
    const on_device current(state_of(e)->device);
    if (e->status || failed(e, current.error, what)) return;
    char *to = p.host + s.host;
    failed(e, cudaEventRecord(p.ready[k % 2], state_of(e)->stream), what);
    failed(e, cudaStreamWaitEvent(p.stream, p.ready[k % 2], 0), what);
    cudaLaunchConfig_t shape = {};
    shape.gridDim = dim3(32);
    shape.blockDim = dim3(BLOCK);
    shape.stream = p.stream;
    failed(e,
           cudaLaunchKernelEx(&shape, copy_rest, static_cast<const front_heap *>(m->w.heap + k), s.planned,
                              to, static_cast<const front_tally *>(m->w.tally)),
           what);
    failed(e,
           cudaMemcpyAsync(to, p.heap[k].memory, static_cast<size_t>(s.planned), cudaMemcpyDeviceToHost,
                           p.stream),
           what);
    failed(e, cudaEventRecord(p.copied[k % 2], p.stream), what);
}

template <class real> void settle_step(sd_engine *e, const run_memory<real> *m, int32_t k)
{
    const char *what = "columns on the host";
    const panel_places &p = m->places;
    const sd_panel_step &s = p.step[k];
    const int64_t *from = m->schedule->cluster_from;
    const on_device current(state_of(e)->device);
    if (e->status || failed(e, current.error, what)) return;
    const front_list lists[2] = {
        {m->clusters.front + from[s.cluster_from], from[s.cluster_to] - from[s.cluster_from]},
        {m->large.front + s.large_from, s.large_to - s.large_from}};
    failed(e, cudaStreamWaitEvent(state_of(e)->stream, p.copied[k % 2], 0), what);
    for (const front_list &list : lists)
        launch(e, what, move_fronts<real>, (list.count + BLOCK - 1) / BLOCK, m->w, list.front, list.count,
               static_cast<const char *>(p.heap[k].memory), p.host + s.host);
}

template void send_step<double>(sd_engine *, const run_memory<double> *, int32_t);
template void send_step<float>(sd_engine *, const run_memory<float> *, int32_t);
template void settle_step<double>(sd_engine *, const run_memory<double> *, int32_t);
template void settle_step<float>(sd_engine *, const run_memory<float> *, int32_t);

} /* namespace sd_cuda */
