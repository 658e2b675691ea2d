/* The module that tests of a GPU need. */
#ifndef TEST_CUDA_MODULE_H
#define TEST_CUDA_MODULE_H

#include "helpers.h"

#include "backend/backend.h"

/* The cuda module where SADDLE_TEST_CUDA=1 asks for it; otherwise the test is skipped. */
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
