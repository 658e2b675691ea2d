/*
 * The kernels of kernels.h for one instruction set, made of the library's templates with other searches: see
 * backend/cpu/batch.c.
 */
#include "backend/cpu/batch_pieces.h"
#include "backend/cpu/isa.h"
#include "bench/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SEARCH_COLUMN(c, rows, s, V) ((void)(c), (s)) /* without interchanges */
#define SEARCH_NARROW NAME(search_both)
#define COLUMNS_MOVE 1

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) SD_ISA(x##_double)
#define MATH(x) x
#define SINGLE 0
#define TINY SD_BLOCK_TINY_DOUBLE
#define LARGEST DBL_MAX
typedef int64_t integer_double;
#include "bench/kernels/cpu/batch_kernels.inc"
#undef real
#undef NAME
#undef PUBLIC
#undef MATH
#undef SINGLE
#undef TINY
#undef LARGEST

#define real float
#define NAME(x) x##_single
#define PUBLIC(x) SD_ISA(x##_single)
#define MATH(x) x##f
#define SINGLE 1
#define TINY SD_BLOCK_TINY_SINGLE
#define LARGEST FLT_MAX
typedef int32_t integer_single;
#include "bench/kernels/cpu/batch_kernels.inc"
