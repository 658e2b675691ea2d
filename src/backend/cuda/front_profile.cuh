/* How long the parts of a factorization take on the device: an event after each of its launches. */
#pragma once

#include "backend/cuda/cuda.cuh"

extern "C" {
#include "backend/front_run.h"
}

namespace sd_cuda
{

/* Of one run; all zero where nothing is measured, and then nothing is recorded. */
class front_clock
{
  public:
    /* For so many steps; negative: no more. Where there is no memory for it, nothing is measured. */
    void turn(sd_engine *e, int steps);
    bool is_on() const
    {
        return events_ != nullptr;
    }
    /* A factorization begins; what was launched since the mark before is one part's. */
    void start(sd_engine *e);
    void mark(sd_engine *e, sd_part part);
    /* Adds what was marked. The device has done all of it. */
    void read(sd_engine *e, double seconds[SD_PARTS]);

  private:
    cudaEvent_t *events_;
    signed char *parts_;
    int count_, room_;
};

} /* namespace sd_cuda */
