/* The choice among instruction sets: the only place that asks the processor. */
#include "backend/cpu/cpu.h"

SD_CPU_DECLARE(portable);
static bool has_portable(void)
{
    return true;
}

#ifdef SD_CPU_X86
SD_CPU_DECLARE(avx2);
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

SD_CPU_DECLARE(avx512);
static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

#define ROW(isa, core)                                                                                       \
    {                                                                                                        \
#isa, has_##isa, core, &sd_##isa##_backend, sd_##isa##_fronts, sd_##isa##_ldlt, sd_##isa##_columns,  \
            sd_##isa##_residual, &sd_##isa##_abreast                                                         \
    }
const sd_cpu_isa sd_cpu_isas[] = {
    ROW(portable, NULL),
#ifdef SD_CPU_X86
    ROW(avx2, "Haswell"),
    ROW(avx512, "SkylakeX"),
#endif
};
const int sd_cpu_isa_count = sizeof sd_cpu_isas / sizeof *sd_cpu_isas;

const sd_cpu_isa *sd_cpu(void)
{
    int best = sd_cpu_isa_count - 1;
    while (!sd_cpu_isas[best].supported()) --best;
    return &sd_cpu_isas[best];
}
