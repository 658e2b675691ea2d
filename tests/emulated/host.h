/* The runtime's functions for the host: one device, whose memory is the host's and whose launches have ended
 * when they return. */
#pragma once

#include <cstddef>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNotReady = 600,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorUnknown = 999
};
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

/* ---- the device ---- */

enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
    int l2CacheSize, cooperativeLaunch;
};
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceSynchronize();

/* ---- streams and events: all is done when a call returns, but for copies to pinned memory ---- */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventDisableTiming = 2 };
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);

/* ---- memory, filled with garbage when it is handed out ---- */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    int handleTypes;
    cudaMemLocation location;
};
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
cudaError_t cudaMalloc(void **data, size_t bytes);
template <class T> cudaError_t cudaMalloc(T **data, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(data), bytes);
}
cudaError_t cudaMallocAsync(void **data, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void **data, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFree(void *data);
cudaError_t cudaFreeAsync(void *data, cudaStream_t stream);
cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void **data, size_t bytes, unsigned flags = 0);
cudaError_t cudaFreeHost(void *data);
cudaError_t cudaMemGetInfo(size_t *unused, size_t *all);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *data);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *data, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void *data, int byte, size_t bytes, cudaStream_t stream = nullptr);

/* ---- launches ---- */

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes;
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
union cudaLaunchAttributeValue {
    int cooperative;
    int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

namespace emulated
{
typedef void (*any_kernel)();
cudaError_t launch(const cudaLaunchConfig_t &shape, any_kernel kernel, const std::function<void()> &body);
cudaError_t set_attribute(any_kernel kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes *attributes, any_kernel kernel);
cudaError_t occupancy(int *blocks, any_kernel kernel, int threads, size_t shared_bytes);

template <class... Parameters, size_t... I>
std::tuple<Parameters...> unpack(void **arguments, std::index_sequence<I...>)
{
    return std::tuple<Parameters...>(*static_cast<Parameters *>(arguments[I])...);
}

template <class... Parameters>
cudaError_t launch_packed(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream, bool cooperative)
{
    const auto values = unpack<Parameters...>(arguments, std::index_sequence_for<Parameters...>());
    cudaLaunchAttribute all = {};
    all.id = cudaLaunchAttributeCooperative;
    all.val.cooperative = 1;
    const cudaLaunchConfig_t shape = {grid, block, shared_bytes, stream, &all, cooperative ? 1u : 0u};
    return launch(shape, reinterpret_cast<any_kernel>(kernel), [&] { std::apply(kernel, values); });
}
} /* namespace emulated */

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *shape, void (*kernel)(Parameters...),
                               Arguments &&...arguments)
{
    const std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
    return emulated::launch(*shape, reinterpret_cast<emulated::any_kernel>(kernel),
                            [&] { std::apply(kernel, values); });
}
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    return emulated::launch_packed(kernel, grid, block, arguments, shared_bytes, stream, false);
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr)
{
    return emulated::launch_packed(kernel, grid, block, arguments, shared_bytes, stream, true);
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value)
{
    return emulated::set_attribute(reinterpret_cast<emulated::any_kernel>(kernel), attribute, value);
}
template <class... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(Parameters...))
{
    return emulated::get_attributes(attributes, reinterpret_cast<emulated::any_kernel>(kernel));
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(Parameters...),
                                                          int threads, size_t shared_bytes)
{
    return emulated::occupancy(blocks, reinterpret_cast<emulated::any_kernel>(kernel), threads, shared_bytes);
}
