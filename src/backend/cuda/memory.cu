/* Device memory of an engine: memory.cuh. */
#include "backend/cuda/memory.cuh"

#include <stdlib.h>
#include <string.h>

namespace sd_cuda
{
namespace
{

constexpr size_t SLAB = 2 << 20; /* as the device's memory is dealt out */
constexpr size_t UNIT = 512;     /* as cudaMalloc aligns */

size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

bool is_free(const memory_piece *p)
{
    return p && p->wanted < 0;
}

bool is_whole_slab(const memory_piece *p)
{
    return p->begins && (!p->next || p->next->begins);
}

memory_piece *new_piece(sd_context *c)
{
    return static_cast<memory_piece *>(c->hooks.allocate(sizeof(memory_piece), c->hooks.user));
}

/* The smallest that is large enough. */
memory_piece *best_fit(const device_memory *m, size_t bytes)
{
    memory_piece *best = NULL;
    for (memory_piece *p = m->pieces; p; p = p->next)
        if (is_free(p) && p->bytes >= bytes && (!best || p->bytes < best->bytes)) best = p;
    return best;
}

memory_piece *new_slab(sd_context *c, device_memory *m, size_t bytes, cudaError_t *error)
{
    memory_piece *p = new_piece(c);
    if (!p) return NULL;
    void *data = NULL;
    *error = cudaMalloc(&data, bytes);
    if (*error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* being short of memory is no failure of the device */
        trim_memory(c, m, 0);
        *error = cudaMalloc(&data, bytes);
    }
    if (*error != cudaSuccess) {
        cudaGetLastError();
        c->hooks.release(p, c->hooks.user);
        return NULL;
    }
    *p = {static_cast<char *>(data), bytes, -1, true, false, m->pieces};
    m->pieces = p;
    return p;
}

/* What is behind the first bytes becomes a piece of its own; false without memory for its description. */
bool cut(sd_context *c, memory_piece *p, size_t bytes)
{
    if (p->bytes - bytes < UNIT) return true;
    memory_piece *rest = new_piece(c);
    if (!rest) return false;
    *rest = {p->data + bytes, p->bytes - bytes, -1, false, false, p->next};
    p->bytes = bytes;
    p->next = rest;
    return true;
}

/* Takes in the piece behind it, if both are free and of one slab. */
void join_next(sd_context *c, memory_piece *p)
{
    memory_piece *next = p->next;
    if (!is_free(p) || !is_free(next) || next->begins) return;
    p->bytes += next->bytes;
    p->next = next->next;
    c->hooks.release(next, c->hooks.user);
}

void free_slab(sd_context *c, memory_piece *p)
{
    cudaFree(p->data);
    c->hooks.release(p, c->hooks.user);
}

} /* namespace */

void begin_memory(device_memory *m)
{
    const char *const set = getenv("SADDLE_CUDA_MEMORY");
#ifdef SADDLE_EMULATED
    *m = {NULL, !set || strcmp(set, "pieces") != 0};
#else
    *m = {NULL, set && strcmp(set, "apart") == 0};
#endif
}

void *take_piece(sd_context *c, device_memory *m, int64_t bytes, bool leaves, cudaError_t *error)
{
    const size_t wanted = bytes > 0 ? static_cast<size_t>(bytes) : 1, rounded = round_up(wanted, UNIT);
    const bool alone = m->apart || (leaves && wanted >= SLAB);
    *error = cudaSuccess;
    memory_piece *p = alone ? NULL : best_fit(m, rounded);
    if (!p) p = new_slab(c, m, alone ? wanted : round_up(rounded, SLAB), error);
    if (!p || (!alone && !cut(c, p, rounded))) return NULL;
    p->wanted = bytes;
    p->alone = alone;
    return p->data;
}

int64_t give_piece(sd_context *c, device_memory *m, const void *data)
{
    memory_piece *before = NULL, *p = m->pieces;
    for (; p && (p->data != data || is_free(p)); p = p->next) before = p;
    if (!data || !p) return -1;
    const int64_t bytes = p->wanted;
    if (p->alone) {
        (before ? before->next : m->pieces) = p->next;
        free_slab(c, p);
        return bytes;
    }
    p->wanted = -1;
    join_next(c, p);
    if (before && !p->begins) join_next(c, before);
    return bytes;
}

void *piece_in_use(const device_memory *m)
{
    for (const memory_piece *p = m->pieces; p; p = p->next)
        if (!is_free(p)) return p->data;
    return NULL;
}

void trim_memory(sd_context *c, device_memory *m, size_t keep)
{
    size_t kept = 0;
    for (memory_piece **at = &m->pieces; *at;) {
        memory_piece *p = *at;
        const bool goes = is_free(p) && is_whole_slab(p) && kept + p->bytes > keep;
        if (is_free(p) && is_whole_slab(p) && !goes) kept += p->bytes;
        if (!goes) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free_slab(c, p);
    }
}

void free_memory(sd_context *c, device_memory *m)
{
    while (m->pieces) {
        memory_piece *p = m->pieces;
        m->pieces = p->next;
        if (p->begins) cudaFree(p->data);
        c->hooks.release(p, c->hooks.user);
    }
}

} /* namespace sd_cuda */
