/*
 * Device memory of an engine: pieces of what cudaMalloc gave, used again in the order of the engine's stream.
 * To release a piece waits for nothing, and the next one of its size is there at once.
 *
 * Not the driver's pools, which do as much: a pool takes memory from the device 32 MiB at a time (of 14 small
 * systems 13 took some multiple of that and a few MB on an H200, bench-real.txt in
 * bench/results/2026-11-18-h200), where many a system needs less, and each engine has memory of its own.
 */
#pragma once

#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

/* Slabs, from cudaMalloc, stand one behind the other, and of each its pieces, by their addresses. */
struct memory_piece {
    char *data;
    size_t bytes;
    int64_t wanted; /* bytes that somebody has asked for and uses; -1: nobody */
    bool begins;    /* a slab */
    bool alone;     /* in a slab that goes back to the device with it */
    memory_piece *next;
};

/* None as yet. By SADDLE_CUDA_MEMORY=apart every array is a slab of its own that is given back at once, so
 * that compute-sanitizer sees what is written behind its end; on an emulated device, which sees that too, it
 * is so unless the variable says `pieces`. */
void begin_memory(device_memory *m);

/* A piece of so many bytes; NULL where there is none: *error is cudaSuccess if the host had no memory. What
 * `leaves` goes back to the device when it is released, unless it is small: so for what grows, since a slab
 * stays as long as anything is in it, were it some small array behind the end of a large one. */
void *take_piece(sd_context *c, device_memory *m, int64_t bytes, bool leaves, cudaError_t *error);
/* That, as a backend allocates. */
void *allocate_leaving(sd_engine *e, int64_t bytes, const char *what);

/* Nobody uses the piece at `data` any more: its bytes, as they were asked for; -1 if nobody did. */
int64_t give_piece(sd_context *c, device_memory *m, const void *data);

/* Something that is in use, or NULL. */
void *piece_in_use(const device_memory *m);

/* Gives slabs back to the device that nobody uses, but for so many bytes of them. Waits for the device. */
void trim_memory(sd_context *c, device_memory *m, size_t keep);

/* Gives everything back, also what is in use. */
void free_memory(sd_context *c, device_memory *m);

} /* namespace sd_cuda */
