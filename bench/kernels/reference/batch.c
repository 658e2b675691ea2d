/* The kernels of kernels.h as plain loops: what all others are held against. See backend/reference/batch.c.
 */
#include "backend/reference/batch.h"
#include "bench/kernels/kernels.h"

BENCH_DECLARE(bench_reference);

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) sd_bench_reference_##x##_double
#define MATH(x) x
#define TINY SD_BLOCK_TINY_DOUBLE
#include "bench/kernels/reference/batch_kernels.inc"
#undef real
#undef NAME
#undef PUBLIC
#undef MATH
#undef TINY

#define real float
#define NAME(x) x##_single
#define PUBLIC(x) sd_bench_reference_##x##_single
#define MATH(x) x##f
#define TINY SD_BLOCK_TINY_SINGLE
#include "bench/kernels/reference/batch_kernels.inc"
