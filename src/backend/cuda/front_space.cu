/*
 * Memory that solves work in. It is kept from one solve to the next, since to get it costs more than a small
 * solve; solves at the same time have one each. A solve is not waited for: whoever has the memory next, in
 * another stream, begins after it.
 */
#include "backend/cuda/front_memory.cuh"

#include <pthread.h>

namespace sd_cuda
{
namespace
{

void free_space(sd_context *c, solve_space *space)
{
    if (space->done) cudaEventDestroy(space->done);
    if (space->memory) cudaFree(space->memory);
    c->hooks.release(space, c->hooks.user);
}

/* The largest that is idle. */
solve_space *take_idle(solve_spaces *all)
{
    solve_space **best = NULL, *found = NULL;
    pthread_mutex_lock(&all->lock);
    for (solve_space **at = &all->idle; *at; at = &(*at)->next)
        if (!best || (*at)->bytes > (*best)->bytes) best = at;
    if (best) {
        found = *best;
        *best = found->next;
    }
    pthread_mutex_unlock(&all->lock);
    return found;
}

bool is_within_limit(sd_engine *e, int64_t bytes, const char *what)
{
    sd_context *c = e->context;
    const long long used = c->elsewhere + c->bytes, wanted = bytes, limit = c->limit;
    if (limit <= 0 || wanted <= limit - used) return true;
    e->status = fail(c, SADDLE_MEMORY_LIMIT,
                     "memory limit: %s needs %lld bytes in addition to %lld in use; the limit is %lld "
                     "(raise max-memory to at least %lld)",
                     what, wanted, used, limit, used + wanted);
    return false;
}

solve_space *make_space(sd_engine *e, int64_t bytes, const char *what)
{
    sd_context *c = e->context;
    solve_space *space = static_cast<solve_space *>(c->hooks.allocate(sizeof(solve_space), c->hooks.user));
    cudaError_t error = cudaErrorMemoryAllocation;
    if (space) {
        *space = {};
        space->bytes = bytes;
        error = cudaMalloc(&space->memory, static_cast<size_t>(bytes > 0 ? bytes : 1));
        if (error == cudaSuccess) error = cudaEventCreateWithFlags(&space->done, cudaEventDisableTiming);
    }
    if (error == cudaSuccess) return space;
    if (space) free_space(c, space);
    cudaGetLastError(); /* being short of memory is no failure of the device */
    if (error == cudaErrorMemoryAllocation)
        e->status =
            fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate %lld bytes on the GPU for %s",
                 static_cast<long long>(bytes), what);
    else
        failed(e, error, what);
    return NULL;
}

} /* namespace */

solve_space *take_space(sd_engine *e, solve_spaces *all, int64_t bytes, const char *what)
{
    const state *s = state_of(e);
    sd_context *c = e->context;
    const on_device current(s->device);
    if (e->status || failed(e, current.error, what) || !is_within_limit(e, bytes, what)) return NULL;
    solve_space *space = take_idle(all);
    if (space && space->bytes < bytes) {
        failed(e, cudaEventSynchronize(space->done), what);
        free_space(c, space);
        space = NULL;
    }
    if (!space) space = make_space(e, bytes, what);
    if (!space) return NULL;
    c->bytes += space->bytes;
    if (c->bytes > c->peak) c->peak = c->bytes;
    failed(e, cudaStreamWaitEvent(s->stream, space->done, 0), what);
    return space;
}

void give_space(sd_engine *e, solve_spaces *all, solve_space *space, const char *what)
{
    if (!space) return;
    const state *s = state_of(e);
    const on_device current(s->device);
    failed(e, cudaEventRecord(space->done, s->stream), what);
    e->context->bytes -= space->bytes;
    pthread_mutex_lock(&all->lock);
    space->next = all->idle;
    all->idle = space;
    pthread_mutex_unlock(&all->lock);
}

void make_spaces(solve_spaces *all)
{
    pthread_mutex_init(&all->lock, NULL);
}

void free_spaces(sd_engine *e, solve_spaces *all)
{
    const on_device current(state_of(e)->device);
    while (all->idle) {
        solve_space *space = all->idle;
        all->idle = space->next;
        cudaEventSynchronize(space->done);
        free_space(e->context, space);
    }
    pthread_mutex_destroy(&all->lock);
}

} /* namespace sd_cuda */
