/*
 * Kernels on batches of small blocks (backend/batch.h) that no option of the library selects, and versions
 * that are never the faster ones: what the benchmark measures beside the library's.
 *
 * - BENCH_LDU, BENCH_LDU_FULL: P A Q = L D U without interchanges, and with those of rows and columns
 *   (Thuerck, Stretching Jacobi, Algorithm 1). Their factors have the form of SD_LDU_PARTIAL's.
 * - BENCH_LLT_DIAGONAL: P A P' = L L' with the largest diagonal entry as the next pivot. Its factors have the
 *   form of SD_LLT's.
 *
 * What batch.h says of pivots, of small ones and of what cannot be factored holds of these as well; where a
 * search is of rows and columns both, any of the pivots may be taken whose keys differ in the low
 * SD_BLOCK_EQUAL_BITS only.
 */
#pragma once

#include "backend/backend.h"

#define BENCH_LDU ((sd_batch_kernel)SD_BATCH_KERNELS)
#define BENCH_LDU_FULL ((sd_batch_kernel)(SD_BATCH_KERNELS + 1))
#define BENCH_LLT_DIAGONAL ((sd_batch_kernel)(SD_BATCH_KERNELS + 2))
#define BENCH_KERNELS ((int)SD_BATCH_KERNELS + 3) /* with the library's */

/* The library's kernel whose form the factors have. */
static inline sd_batch_kernel bench_form(sd_batch_kernel kernel)
{
    if (kernel == BENCH_LLT_DIAGONAL) return SD_LLT;
    return kernel == BENCH_LDU || kernel == BENCH_LDU_FULL ? SD_LDU_PARTIAL : kernel;
}

/* A rule for the templates of the library, which see the form, and for those here, which see the kernel. */
typedef struct bench_rule {
    sd_batch_rule rule;
    sd_batch_kernel kernel;
} bench_rule;

static inline bench_rule bench_rule_of(const sd_batch_rule *rule)
{
    const bench_rule b = {{bench_form(rule->kernel), rule->small}, rule->kernel};
    return b;
}

/* On a GPU a kernel has two versions, which give the same result to rounding. */
typedef enum bench_version { BENCH_DEFAULT, BENCH_REGISTERS, BENCH_SHARED } bench_version;

/* sd_batch_factor for any of the kernels; f->kernel becomes the form. On the host there is one version, and
 * on a GPU that is not of bench_cuda_module there are only the library's kernels. */
void bench_factor(sd_engine *e, const sd_batch_rule *rule, bench_version version, const sd_batch *x,
                  sd_batch_factors *f);

/* Loads libsaddle_bench_cuda.so, the CUDA module with the benchmark's kernels: its table, or NULL with the
 * message of c. */
const sd_backend *bench_cuda_module(sd_context *c, const char *path);
#define BENCH_CUDA_FACTOR "sd_bench_cuda_factor" /* bench_factor of the module */

/* Those of the reference and of the CPU's instruction sets. */
#define BENCH_DECLARE(where)                                                                                 \
    void sd_##where##_batch_factor_double(sd_engine *e, const sd_batch_rule *rule, const sd_batch *x,        \
                                          sd_batch_factors *f);                                              \
    void sd_##where##_batch_factor_single(sd_engine *e, const sd_batch_rule *rule, const sd_batch *x,        \
                                          sd_batch_factors *f)
