/* What the parts of the emulator share. */
#pragma once

#include "cuda_runtime.h"

namespace emulated
{

/* The device. */
constexpr int PROCESSORS = 4, THREADS = 1024, ON_PROCESSOR = 2048;
constexpr size_t USUAL_SHARED = 48 << 10, MOST_SHARED = 227 << 10;

void fill_with_garbage(void *data, size_t bytes);
bool is_garbage(const void *data, size_t bytes);

/* Memory of the device and of a block: see memory.cc. */
void *take_memory(size_t bytes, bool host);
void give_memory(void *data);
bool is_pinned(const void *data);

/* What a stream has still to do: see runtime.cc. `finish` does it. */
void finish(cudaStream_t stream);
void put_off(cudaStream_t stream, const std::function<void()> &work);

/* Around the run of one block, or of all where `many` are alive at once, which may not have shared variables:
 * see shared.cc. */
void begin_shared(any_kernel kernel);
void end_shared(any_kernel kernel, bool many);

/* What tests set: see knobs.h. */
bool events_are_late();

/* For messages. */
const char *name_of(any_kernel kernel);
[[noreturn]] void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

} /* namespace emulated */
