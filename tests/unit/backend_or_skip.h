/* Backends that a machine may not have: a test of one that is not there is skipped, and says so. */
#ifndef BACKEND_OR_SKIP_H
#define BACKEND_OR_SKIP_H

#include "helpers.h"

#include "backend/cpu/cpu.h"

static inline const sd_backend *avx2_or_skip(void)
{
#ifdef SD_HAVE_AVX2
    if (sd_cpu_has_avx2()) return &sd_cpu_avx2;
#endif
    print_message("           this processor has no AVX2\n");
    skip();
    return NULL;
}

static inline const sd_backend *avx512_or_skip(void)
{
#ifdef SD_HAVE_AVX2
    if (sd_cpu_has_avx512()) return &sd_cpu_avx512;
#endif
    print_message("           this processor has no AVX-512\n");
    skip();
    return NULL;
}

/* The cuda module where SADDLE_TEST_CUDA=1 asks for it. */
static inline const sd_backend *cuda_or_skip(void)
{
    const char *wanted = getenv("SADDLE_TEST_CUDA");
    if (!wanted || strcmp(wanted, "1") != 0) {
        print_message("           SADDLE_TEST_CUDA=1 runs it\n");
        skip();
    }
    sd_context c;
    sd_context_init(&c, NULL, 0);
    const sd_backend *cuda = sd_backend_cuda(&c);
    if (!cuda) fail_msg("%s", c.message);
    return cuda;
}

#endif
