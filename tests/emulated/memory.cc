/*
 * Memory of the device. It is filled with garbage when it is handed out and when it is given back, and stands
 * in a list, so that what was never handed out is not taken back. Behind it stands a guard that must be as it
 * was then; under AddressSanitizer nothing does, for that sees more. There are 4 GB of it, and as much pinned
 * memory of the host, or as many bytes as SADDLE_EMULATED_MEMORY and SADDLE_EMULATED_PINNED say.
 */
#include "parts.h"

#include <cstdlib>
#include <map>
#include <mutex>

#if defined(__SANITIZE_ADDRESS__)
#define GUARDED_ELSEWHERE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARDED_ELSEWHERE 1
#endif
#endif

namespace emulated
{
namespace
{

constexpr size_t ALL = static_cast<size_t>(4) << 30, ALIGNED = 256;
#ifdef GUARDED_ELSEWHERE
constexpr size_t GUARD = 0;
#else
constexpr size_t GUARD = 256;
#endif

std::mutex lock;
/* What stands at an address. */
struct piece {
    size_t bytes;
    bool host;
};
std::map<const void *, piece> handed_out;
size_t used[2]; /* of the device, and of the host */

size_t all_of(bool host)
{
    const char *const bytes = getenv(host ? "SADDLE_EMULATED_PINNED" : "SADDLE_EMULATED_MEMORY");
    return bytes ? static_cast<size_t>(strtoull(bytes, nullptr, 10)) : ALL;
}

/* Where the piece is that an address lies in. */
std::map<const void *, piece>::iterator piece_at(const void *data)
{
    auto next = handed_out.upper_bound(data);
    if (next == handed_out.begin()) return handed_out.end();
    --next;
    const char *const end = static_cast<const char *>(next->first) + next->second.bytes;
    return static_cast<const char *>(data) < end ? next : handed_out.end();
}

} /* namespace */

void *take_memory(size_t bytes, bool host)
{
    const std::lock_guard<std::mutex> locked(lock);
    void *data = nullptr;
    if (used[host] + bytes > all_of(host) || posix_memalign(&data, ALIGNED, bytes + GUARD)) return nullptr;
    fill_with_garbage(data, bytes);
    fill_with_garbage(static_cast<char *>(data) + bytes, GUARD);
    handed_out[data] = {bytes, host};
    used[host] += bytes;
    return data;
}

void give_memory(void *data)
{
    const std::lock_guard<std::mutex> locked(lock);
    const auto found = handed_out.find(data);
    if (found == handed_out.end()) give_up("%p is given back, but was not handed out", data);
    const size_t bytes = found->second.bytes;
    if (!is_garbage(static_cast<char *>(data) + bytes, GUARD))
        give_up("something was written behind the end of %zu bytes of device memory", bytes);
    fill_with_garbage(data, bytes);
    used[found->second.host] -= bytes;
    handed_out.erase(found);
    free(data);
}

bool is_of_device(const void *data)
{
    const std::lock_guard<std::mutex> locked(lock);
    const auto found = piece_at(data);
    return found != handed_out.end() && !found->second.host;
}

bool is_pinned(const void *data)
{
    const std::lock_guard<std::mutex> locked(lock);
    const auto found = piece_at(data);
    return found != handed_out.end() && found->second.host;
}

} /* namespace emulated */

using emulated::give_memory;
using emulated::take_memory;

cudaError_t cudaMalloc(void **data, size_t bytes)
{
    *data = take_memory(bytes, false);
    return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMallocAsync(void **data, size_t bytes, cudaStream_t)
{
    return cudaMalloc(data, bytes);
}

cudaError_t cudaMallocFromPoolAsync(void **data, size_t bytes, cudaMemPool_t, cudaStream_t)
{
    return cudaMalloc(data, bytes);
}

cudaError_t cudaFree(void *data)
{
    if (data) give_memory(data);
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *data, cudaStream_t)
{
    return cudaFree(data);
}

cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned)
{
    *data = take_memory(bytes, true);
    return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMallocHost(void **data, size_t bytes, unsigned flags)
{
    return cudaHostAlloc(data, bytes, flags);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *data)
{
    *attributes = {emulated::is_of_device(data) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0};
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *data)
{
    return cudaFree(data);
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
    const std::lock_guard<std::mutex> locked(emulated::lock);
    *all = emulated::all_of(false);
    *unused = *all > emulated::used[0] ? *all - emulated::used[0] : 0;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
    *pool = reinterpret_cast<cudaMemPool_t>(new char);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    delete reinterpret_cast<char *>(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    if (bytes) memcpy(to, from, bytes);
    return cudaSuccess;
}

/* To pinned memory of the host only when somebody waits for the stream: who does not, finds garbage there, or
 * has overwritten what was to be copied. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (stream && kind == cudaMemcpyDeviceToHost && emulated::is_pinned(to)) {
        emulated::put_off(stream, [=] { cudaMemcpy(to, from, bytes, kind); });
        return cudaSuccess;
    }
    emulated::finish(stream);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void *data, int byte, size_t bytes)
{
    if (bytes) memset(data, byte, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *data, int byte, size_t bytes, cudaStream_t stream)
{
    emulated::finish(stream);
    return cudaMemset(data, byte, bytes);
}
