/* What the sources share that are compiled once for each instruction set, SD_CPU_ISA (CMakeLists.txt): names,
 * loops, roundings. */
#pragma once

#include "backend/cpu/cpu.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Public names: sd_avx2_NAME and so on. */
#define SD_ISA_NAME(isa, x) sd_##isa##_##x
#define SD_ISA_OF(isa, x) SD_ISA_NAME(isa, x)
#define SD_ISA(x) SD_ISA_OF(SD_CPU_ISA, x)

#define SD_ISA_DECLARE(isa) SD_CPU_DECLARE(isa)
SD_ISA_DECLARE(SD_CPU_ISA);
/* The kernels on blocks, of which kernels.c makes the backend's table. */
#define KERNEL(name, parameters, arguments)                                                                  \
    void SD_ISA(name##_double) parameters;                                                                   \
    void SD_ISA(name##_single) parameters;
#include "backend/batch.def"
#undef KERNEL

#ifdef __clang__
#define UNROLL_ALWAYS _Pragma("unroll")
#else
#define UNROLL_ALWAYS _Pragma("GCC unroll 8")
#endif
#ifdef __AVX2__
#define UNROLL UNROLL_ALWAYS
#else /* 16 vectors a row or column are a loop */
#define UNROLL
#endif

/* a b + c, as the vectors round it */
#ifdef __FMA__
#define FUSED(a, b, c) MATH(fma)(a, b, c)
#else
#define FUSED(a, b, c) ((c) + (a) * (b))
#endif

/* as wide as a number */
typedef int64_t integer_double;
typedef int32_t integer_single;

#define VECTORS(rows) (((rows) + NAME(LANES) - 1) / NAME(LANES))
