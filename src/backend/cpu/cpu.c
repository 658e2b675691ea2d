/* The CPU backend: the best table that this processor runs. */
#include "backend/cpu/cpu.h"

#ifdef SD_HAVE_AVX2
bool sd_cpu_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}

bool sd_cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

const sd_backend *sd_backend_cpu(void)
{
#ifdef SD_HAVE_AVX2
    if (sd_cpu_has_avx512()) return &sd_cpu_avx512;
    if (sd_cpu_has_avx2()) return &sd_cpu_avx2;
#endif
    return &sd_cpu_portable;
}

const sd_front_kernels *sd_fronts_cpu(void)
{
#ifdef SD_HAVE_AVX2
    if (sd_cpu_has_avx512()) return sd_fronts_avx512;
    if (sd_cpu_has_avx2()) return sd_fronts_avx2;
#endif
    return sd_fronts_portable;
}

sd_residual_columns *sd_columns_cpu(void)
{
#ifdef SD_HAVE_AVX2
    if (sd_cpu_has_avx512()) return sd_columns_avx512;
    if (sd_cpu_has_avx2()) return sd_columns_avx2;
#endif
    return sd_columns_portable;
}

const sd_ldlt_kernels *sd_ldlt_cpu(void)
{
#ifdef SD_HAVE_AVX2
    if (sd_cpu_has_avx512()) return sd_ldlt_avx512;
    if (sd_cpu_has_avx2()) return sd_ldlt_avx2;
#endif
    return sd_ldlt_portable;
}
