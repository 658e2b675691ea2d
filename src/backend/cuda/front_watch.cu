/* The host while it waits: front_watch.cuh. */
#include "backend/cuda/front_watch.cuh"

#include <time.h>

namespace sd_cuda
{

/* Seconds. The host looks without a pause at first, so that nothing is lost on short factorizations; then it
 * sleeps for a part of the time that it has waited. */
constexpr double BUSY = 0.02, SLEEP_MOST = 1e-3, SLEEP_PART = 1.0 / 256;
/* It tells whenever another hundredth is done, as on the CPU, and as often as this where that takes longer:
 * large fronts are counted when they are done, and have to be stopped too. */
constexpr double QUIET = 0.05;
constexpr double STEPS = 100;

struct front_watch::words {
    front_tally tally;
    int asked;
};

namespace
{

double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void sleep_for(double seconds)
{
    const struct timespec t = {0, static_cast<long>(1e9 * (seconds < SLEEP_MOST ? seconds : SLEEP_MOST))};
    nanosleep(&t, NULL);
}

} /* namespace */

void front_watch::make(sd_engine *e)
{
    if (words_) return;
    const on_device current(state_of(e)->device);
    void *memory = NULL;
    const bool made = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess &&
                      cudaEventCreateWithFlags(&begun_, cudaEventDisableTiming) == cudaSuccess &&
                      cudaEventCreateWithFlags(&done_, cudaEventDisableTiming) == cudaSuccess &&
                      cudaHostAlloc(&memory, sizeof(words), cudaHostAllocDefault) == cudaSuccess;
    words_ = made ? static_cast<words *>(memory) : NULL;
    if (made) return;
    cudaGetLastError(); /* being short of memory is no failure of the device */
    free(e);
}

void front_watch::free(sd_engine *e)
{
    const on_device current(state_of(e)->device);
    if (stream_) cudaStreamSynchronize(stream_);
    if (words_) cudaFreeHost(words_);
    if (done_) cudaEventDestroy(done_);
    if (begun_) cudaEventDestroy(begun_);
    if (stream_) cudaStreamDestroy(stream_);
    *this = front_watch();
}

void front_watch::start(sd_engine *e, front_tally *tally)
{
    const on_device current(state_of(e)->device);
    tally_ = tally;
    failed(e, cudaEventRecord(begun_, state_of(e)->stream), "fronts");
    failed(e, cudaStreamWaitEvent(stream_, begun_, 0), "fronts");
}

/* The tally as it is comes over, in its own time. */
void front_watch::read()
{
    cudaMemcpyAsync(&words_->tally, tally_, sizeof words_->tally, cudaMemcpyDeviceToHost, stream_);
}

void front_watch::ask(sd_engine *e)
{
    const on_device current(state_of(e)->device);
    words_->asked = 1;
    failed(e,
           cudaMemcpyAsync(&tally_->asked, &words_->asked, sizeof words_->asked, cudaMemcpyHostToDevice,
                           stream_),
           "fronts");
}

bool front_watch::wait(sd_engine *e, const sd_run_job *job, double planned)
{
    if (e->status || failed(e, cudaEventRecord(done_, state_of(e)->stream), "fronts")) return true;
    const double began = now();
    double told = BUSY, part = 0;
    int step = 0;
    for (bool reading = false;;) {
        const cudaError_t error = cudaEventQuery(done_);
        if (error == cudaSuccess || (error != cudaErrorNotReady && failed(e, error, "fronts"))) return true;
        const double waited = now() - began;
        if (waited < BUSY) continue;
        if (reading && cudaStreamQuery(stream_) == cudaSuccess) {
            const double done = static_cast<double>(words_->tally.operations);
            part = done < planned ? done / planned : 1;
            reading = false;
        }
        const int reached = static_cast<int>(STEPS * part);
        if (reached > step || waited - told >= QUIET) {
            step = reached;
            told = waited;
            if (job->report(job->whom, part)) {
                ask(e);
                return false;
            }
        }
        if (!reading) read();
        reading = true;
        sleep_for(SLEEP_PART * waited);
    }
}

void front_watch::end(sd_engine *e)
{
    failed(e, cudaStreamSynchronize(stream_), "fronts");
}

} /* namespace sd_cuda */
