/*
 * A second stream of a factorization: front_memory.cuh. Events order it and the engine's; the host waits for
 * neither.
 */
#include "backend/cuda/front_memory.cuh"

namespace sd_cuda
{

bool side_stream::begin(sd_engine *e)
{
    const char *what = "stream of clusters";
    state *s = state_of(e);
    const on_device current(s->device);
    if (e->status || failed(e, current.error, what)) return false;
    if (!stream_ && (failed(e, cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), what) ||
                     failed(e, cudaEventCreateWithFlags(&begun_, cudaEventDisableTiming), what) ||
                     failed(e, cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), what)))
        return false;
    if (failed(e, cudaEventRecord(begun_, s->stream), what) ||
        failed(e, cudaStreamWaitEvent(stream_, begun_, 0), what))
        return false;
    engines_ = s->stream;
    s->stream = stream_;
    return true;
}

void side_stream::end(sd_engine *e)
{
    state *s = state_of(e);
    const on_device current(s->device);
    failed(e, cudaEventRecord(done_, stream_), "stream of clusters");
    s->stream = engines_;
}

void side_stream::join(sd_engine *e)
{
    const state *s = state_of(e);
    const on_device current(s->device);
    failed(e, cudaStreamWaitEvent(s->stream, done_, 0), "stream of clusters");
}

void side_stream::free(sd_engine *e)
{
    const on_device current(state_of(e)->device);
    if (done_) cudaEventDestroy(done_);
    if (begun_) cudaEventDestroy(begun_);
    if (stream_) cudaStreamDestroy(stream_);
    *this = side_stream();
}

} /* namespace sd_cuda */
