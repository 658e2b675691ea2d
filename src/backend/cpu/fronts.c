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
    PANEL = 128,           /* columns of an outer panel */
    DEPTH = 256,           /* pivots of a front that its rest is updated by at a time */
    TILE = 32,             /* columns factored at a time */
    TILE_ROWS = 256,       /* rows of a piece of a product, in a front with many rows */
    SOLVE_ROWS = 64,       /* rows of a piece of the solve below a tile, twice as many in a front with many */
    MANY_ROWS = 2048,      /* from which on a front has enough pieces for many threads */
    PERMUTED_COLUMNS = 64, /* whose rows one thread permutes at a time */
    RETRY_PART = 8,        /* failed columns are tried again while a round takes one in so many */
    OWN_ROWS = 96,         /* rows of C, and depth, that the kernel here takes at a time: C stays in the */
    OWN_DEPTH = 128,       /* second cache */
    BLAS_DEPTH = 32,       /* products of less depth or work are not worth a call of the BLAS */
    BLAS_WORK = 200000,
    TAIL_DEPTH = 64,
    PACK_STRIPES = 4,     /* strips that are packed at a time */
    PACK_LEAST = 32,      /* columns of C, and depth, that are worth packing, */
    PACK_ENTRIES = 16384, /* and entries of L: fewer stay in cache as they are */
    PACK_BLOCK = 6,       /* strips that stay in the second cache */
    PACK_AHEAD = 8,       /* columns of a strip that are fetched ahead */
#ifdef __AVX512F__        /* 32 registers */
    PACKED = 1,
    PACK_VECTORS = 2,
    PACK_COLUMNS = 8,
    MICRO_VECTORS = 3,
    MICRO_COLUMNS = 8,
    STRIP_VECTORS = 4,
    STRIP_COLUMNS = 4
#else /* 16 registers; without AVX2 the BLAS is faster */
#ifdef __AVX2__
    PACKED = 1,
#else
    PACKED = 0,
#endif
    PACK_VECTORS = 3,
    PACK_COLUMNS = 4,
    MICRO_VECTORS = 3,
    MICRO_COLUMNS = 4,
    STRIP_VECTORS = 2,
    STRIP_COLUMNS = 4
#endif
};

/* A 2x2 pivot whose determinant is this much smaller than its terms is taken for singular. */
#define PAIR_CANCELLATION 0x1p-7
#define STRIP_ROWS (STRIP_VECTORS * NAME(LANES))

#define TEMPLATE "backend/cpu/front_kernels.inc"
#include "backend/both_precisions.inc"

const sd_front_kernels SD_ISA(fronts)[SD_PRECISIONS] = {SD_FRONT_KERNELS(double, &SD_ISA(simplicial)),
                                                        SD_FRONT_KERNELS(single, NULL)};
