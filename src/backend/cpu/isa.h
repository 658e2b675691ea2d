/* What the kernels that are compiled once for each instruction set share: names, loops, roundings. */
#ifndef SD_CPU_ISA_H
#define SD_CPU_ISA_H

#ifdef __AVX2__
#include <immintrin.h>
#endif

#if !defined(__AVX2__) /* 16 vectors a row or column are a loop */
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* a b + c, as the vectors round it */
#ifdef __FMA__
#define FUSED(a, b, c) MATH(fma)(a, b, c)
#else
#define FUSED(a, b, c) ((c) + (a) * (b))
#endif

#define PUBLIC_NAME(isa, x) sd_##isa##_##x
#define PUBLIC_OF(isa, x) PUBLIC_NAME(isa, x)
#define VECTORS(rows) (((rows) + NAME(LANES) - 1) / NAME(LANES))

#endif
