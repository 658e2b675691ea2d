/* The device, streams, events and errors. What a call asks for is done when it returns, but for copies to
 * pinned memory: these are done when the stream, or an event behind them, is waited for, or something else is
 * asked of the stream. */
#include "parts.h"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <vector>

namespace
{

constexpr int VERSION = 13000, PROCESSORS = emulated::PROCESSORS;
constexpr int SHARED = static_cast<int>(emulated::MOST_SHARED);

struct error_text {
    cudaError_t error;
    const char *name, *text;
};
constexpr error_text texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "driver version is insufficient"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no device"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
};

const error_text *text_of(cudaError_t error)
{
    static constexpr error_text unknown = {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
    for (const error_text &t : texts)
        if (t.error == error) return &t;
    return &unknown;
}

} /* namespace */

const char *cudaGetErrorName(cudaError_t error)
{
    return text_of(error)->name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return text_of(error)->text;
}

/* No error comes later than the call that made it. */
cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

cudaError_t cudaPeekAtLastError()
{
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    if (device != 0) return cudaErrorInvalidDevice;
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = PROCESSORS; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; return cudaSuccess;
    case cudaDevAttrCooperativeLaunch: *value = 1; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = SHARED + 1024; return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device != 0) return cudaErrorInvalidDevice;
    *properties = {};
    snprintf(properties->name, sizeof properties->name, "emulated");
    size_t unused;
    cudaMemGetInfo(&unused, &properties->totalGlobalMem);
    properties->sharedMemPerBlock = emulated::USUAL_SHARED;
    properties->sharedMemPerBlockOptin = emulated::MOST_SHARED;
    properties->sharedMemPerMultiprocessor = emulated::MOST_SHARED + 1024;
    properties->major = 9;
    properties->multiProcessorCount = PROCESSORS;
    properties->warpSize = warpSize;
    properties->maxThreadsPerBlock = emulated::THREADS;
    properties->maxThreadsPerMultiProcessor = emulated::ON_PROCESSOR;
    properties->l2CacheSize = 1 << 20;
    properties->cooperativeLaunch = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}

struct CUstream_st {
    std::vector<std::function<void()>> work;
};

namespace
{
std::mutex streams;
CUstream_st legacy, of_the_thread; /* what CUDA knows by the numbers 1 and 2 in place of an address */

cudaStream_t by_number(cudaStream_t stream)
{
    const uintptr_t number = reinterpret_cast<uintptr_t>(stream);
    return number == 1 ? &legacy : number == 2 ? &of_the_thread : stream;
}
}

void emulated::put_off(cudaStream_t stream, const std::function<void()> &work)
{
    const std::lock_guard<std::mutex> locked(streams);
    by_number(stream)->work.push_back(work);
}

void emulated::finish(cudaStream_t stream)
{
    const std::lock_guard<std::mutex> locked(streams);
    stream = by_number(stream);
    if (!stream) return;
    for (const std::function<void()> &work : stream->work) work();
    stream->work.clear();
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = new CUstream_st;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return cudaStreamCreate(stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    emulated::finish(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    emulated::finish(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    emulated::finish(stream);
    return cudaSuccess;
}

struct CUevent_st {
    std::chrono::steady_clock::time_point at;
    cudaStream_t stream; /* that may have something before it; NULL: none */
};

/* What comes before the event in its stream is done, and with it what comes before this in the waiting one. */
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned)
{
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new CUevent_st();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const std::lock_guard<std::mutex> locked(streams);
    event->at = std::chrono::steady_clock::now();
    stream = by_number(stream);
    event->stream = stream && !stream->work.empty() ? stream : nullptr;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return emulated::events_are_late() ? cudaErrorNotReady : cudaEventSynchronize(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (event->stream) emulated::finish(event->stream);
    event->stream = nullptr;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
    return cudaSuccess;
}
