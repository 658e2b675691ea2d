/* The CPU backend's tables, one an instruction set. */
#ifndef SD_CPU_H
#define SD_CPU_H

#include "backend/front.h"
#include "backend/host.h"
#include "backend/ldlt.h"

extern const sd_backend sd_cpu_portable;
#ifdef SD_HAVE_AVX2
extern const sd_backend sd_cpu_avx2, sd_cpu_avx512;
bool sd_cpu_has_avx2(void);
bool sd_cpu_has_avx512(void);
#endif

/* Their kernels on blocks. */
#define KERNEL(name, parameters, arguments)                                                                  \
    void sd_portable_##name##_double parameters;                                                             \
    void sd_portable_##name##_single parameters;                                                             \
    void sd_avx2_##name##_double parameters;                                                                 \
    void sd_avx2_##name##_single parameters;                                                                 \
    void sd_avx512_##name##_double parameters;                                                               \
    void sd_avx512_##name##_single parameters;
#include "backend/batch.def"
#undef KERNEL

sd_residual_columns sd_columns_portable, sd_columns_avx2, sd_columns_avx512;
extern const sd_front_kernels sd_fronts_portable[2], sd_fronts_avx2[2], sd_fronts_avx512[2];
extern const sd_ldlt_kernels sd_ldlt_portable[SD_PRECISIONS], sd_ldlt_avx2[SD_PRECISIONS],
    sd_ldlt_avx512[SD_PRECISIONS];

#endif
