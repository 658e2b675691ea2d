/*
 * The CPU's kernels on fronts for one instruction set. Results may differ in their last bits between
 * instruction sets, never between runs on one processor.
 */
#include "backend/blas.h"
#include "backend/cpu/isa.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* few vectors at a time, in registers */
#undef UNROLL
#define UNROLL UNROLL_ALWAYS

enum {
    PANEL = 256,           /* columns of an outer panel: how deep the large products are */
    TILE = 32,             /* columns factored at a time */
    TILE_ROWS = 512,       /* rows of a piece of a product */
    SOLVE_ROWS = 256,      /* rows of a piece of the solve below a tile */
    PERMUTED_COLUMNS = 64, /* whose rows one thread permutes at a time */
    RETRY_PART = 8,        /* failed columns are tried again while a round takes one in so many */
    OWN_ROWS = 96,         /* rows of C, and depth, that the kernel here takes at a time: C stays in the */
    OWN_DEPTH = 128,       /* second cache */
    BLAS_WORK = 200000,    /* products of less than this, or not deep, are not worth packing */
    TAIL_DEPTH = 64,
#ifdef __AVX512F__ /* 32 registers, and the kernel here is as fast as OpenBLAS' own at any depth */
    BLAS_DEPTH = PANEL,
    MICRO_VECTORS = 3,
    MICRO_COLUMNS = 8,
    STRIP_VECTORS = 4,
    STRIP_COLUMNS = 4
#else /* 16 registers */
    BLAS_DEPTH = 32,
    MICRO_VECTORS = 3,
    MICRO_COLUMNS = 4,
    STRIP_VECTORS = 2,
    STRIP_COLUMNS = 4
#endif
};

/* A 2x2 pivot whose determinant is this much smaller than its terms is taken for singular. */
#define PAIR_CANCELLATION 0x1p-7
#define STRIP_ROWS (STRIP_VECTORS * NAME(LANES))

/* Runs body(what, 0 .. count - 1): in order, or as tasks of whoever's parallel region this is in. */
static void each_piece(int32_t count, void (*body)(void *what, int32_t piece), void *what, bool split)
{
    if (!split || count < 2) {
        for (int32_t k = 0; k < count; ++k) body(what, k);
        return;
    }
#pragma omp taskgroup
    for (int32_t k = 0; k < count; ++k) {
#pragma omp task default(none) firstprivate(body, what, k)
        body(what, k);
    }
}

#define TEMPLATE "backend/cpu/front_kernels.inc"
#include "backend/both_precisions.inc"

const sd_front_kernels SD_ISA(fronts)[SD_PRECISIONS] = {SD_FRONT_KERNELS(double), SD_FRONT_KERNELS(single)};
