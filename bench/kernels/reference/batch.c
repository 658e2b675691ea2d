/* The kernels of kernels.h as plain loops: what others are held against. See backend/reference/batch.c. */
#include "backend/reference/batch.h"
#include "bench/kernels/kernels.h"

#include <float.h>

BENCH_DECLARE(bench_reference);

#define PUBLIC_NAME(x) sd_bench_reference_##x
#define PUBLIC_OF(x) PUBLIC_NAME(x)
#define PUBLIC(x) PUBLIC_OF(NAME(x))
#define TEMPLATE "bench/kernels/reference/batch_kernels.inc"
#include "backend/both_precisions.inc"
