/* The CPU backend's tables, one an instruction set. */
#ifndef SD_CPU_H
#define SD_CPU_H

#include "backend/front.h"
#include "backend/host.h"

extern const sd_backend sd_cpu_portable;
#ifdef SD_HAVE_AVX2
extern const sd_backend sd_cpu_avx2;
#endif

sd_residual_columns sd_columns_portable, sd_columns_avx2, sd_columns_avx512;
extern const sd_front_kernels sd_fronts_portable[2], sd_fronts_avx2[2], sd_fronts_avx512[2];

#endif
