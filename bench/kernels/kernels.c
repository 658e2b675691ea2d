/* Which of the kernels of kernels.h an engine's backend means. */
#include "bench/kernels/kernels.h"

#include "backend/cpu/cpu.h"

#include <dlfcn.h>
#include <string.h>

typedef void factor_function(sd_engine *e, const sd_batch_rule *rule, const sd_batch *x, sd_batch_factors *f);

typedef struct host_kernels {
    const char *name; /* of the reference, or of an instruction set */
    factor_function *factor[SD_PRECISIONS];
} host_kernels;

BENCH_DECLARE(bench_reference);
BENCH_DECLARE(bench_portable);
#ifdef SD_CPU_X86
BENCH_DECLARE(bench_avx2);
BENCH_DECLARE(bench_avx512);
#endif

#define ROW(name)                                                                                            \
    {                                                                                                        \
#name,                                                                                               \
        {                                                                                                    \
            sd_bench_##name##_batch_factor_double, sd_bench_##name##_batch_factor_single                     \
        }                                                                                                    \
    }
static const host_kernels rows[] = {ROW(reference), ROW(portable),
#ifdef SD_CPU_X86
                                    ROW(avx2), ROW(avx512)
#endif
};

static const char *name_of(const sd_backend *backend)
{
    for (int k = 0; k < sd_cpu_isa_count; ++k)
        if (sd_cpu_isas[k].backend == backend) return sd_cpu_isas[k].name;
    return backend->name;
}

/* Of the module that was loaded. */
static struct {
    const sd_backend *backend;
    void (*factor)(sd_engine *e, const sd_batch_rule *rule, bench_version version, const sd_batch *x,
                   sd_batch_factors *f);
} cuda;

const sd_backend *bench_cuda_module(sd_context *c, const char *path)
{
    sd_cuda_entry entry = NULL;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module) {
        *(void **)&entry = dlsym(module, SD_CUDA_ENTRY);
        *(void **)&cuda.factor = dlsym(module, BENCH_CUDA_FACTOR);
    }
    cuda.backend = entry && cuda.factor ? entry() : NULL;
    if (!cuda.backend) sd_fail(c, SADDLE_NO_DEVICE, "%s is not the benchmark's CUDA module", path);
    return cuda.backend;
}

void bench_factor(sd_engine *e, const sd_batch_rule *rule, bench_version version, const sd_batch *x,
                  sd_batch_factors *f)
{
    if (cuda.backend && e->backend == cuda.backend) {
        cuda.factor(e, rule, version, x, f);
        return;
    }
    if ((int)rule->kernel < SD_BATCH_KERNELS) {
        sd_batch_factor(e, rule, x, f);
        return;
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        if (strcmp(rows[k].name, name_of(e->backend)) == 0) rows[k].factor[x->precision](e, rule, x, f);
}
