/*
 * The host while it waits for a factorization that somebody wants to be told of: it looks whether the device
 * is done, reads the tally now and then, and asks the device to stop where the caller wants that.
 *
 * All of it goes through a stream of its own, beside the kernels. Where nobody is to be told, nothing of this
 * is made, and the host waits in one transfer (front_run.cu).
 */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

/* Of one run; all zero where nobody is told. */
class front_watch
{
  public:
    /* Once a run. Where there is no memory for it, nobody is told. */
    void make(sd_engine *e);
    void free(sd_engine *e);
    bool is_on() const
    {
        return words_ != nullptr;
    }
    /* The tally has been cleared: it may be read and written beside what is launched from here on. */
    void start(sd_engine *e, front_tally *tally);
    /* Returns when all that was launched is done; false where job->report did not want to wait for it, and
     * the device will do so soon. `planned` operations are the whole. */
    bool wait(sd_engine *e, const sd_run_job *job, double planned);
    /* After that, when the device has done everything: what it was asked is not left on its way to the next
     * factorization. */
    void end(sd_engine *e);

  private:
    struct words;
    void read();
    void ask(sd_engine *e);
    words *words_; /* pinned */
    front_tally *tally_;
    cudaStream_t stream_;
    cudaEvent_t begun_, done_;
};

} /* namespace sd_cuda */
