/* The CPU backend: the best table that this processor runs. */
#include "backend/cpu/cpu.h"

const sd_backend *sd_backend_cpu(void)
{
#ifdef SD_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &sd_cpu_avx2;
#endif
    return &sd_cpu_portable;
}

const sd_front_kernels *sd_fronts_cpu(void)
{
#ifdef SD_HAVE_AVX2
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        return sd_fronts_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return sd_fronts_avx2;
#endif
    return sd_fronts_portable;
}
