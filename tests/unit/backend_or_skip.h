/* Backends that a machine may not have: a test of one that is not there is skipped, and says so. */
#pragma once

#include "helpers.h"

#include "backend/cpu/cpu.h"

/* The CPU's table of an instruction set. */
static inline const sd_backend *isa_or_skip(const char *name)
{
    const bool wanted = !is_about_threads() || strcmp(name, "portable") == 0;
    for (int k = 0; k < sd_cpu_isa_count && wanted; ++k)
        if (strcmp(sd_cpu_isas[k].name, name) == 0 && sd_cpu_isas[k].supported())
            return sd_cpu_isas[k].backend;
    print_message(wanted ? "           this processor has no %s\n"
                         : "           %s has the threads of portable\n",
                  name);
    skip();
    return NULL;
}

/* A sanitizer of memory has seen what there is after one walk, of two threads; that the bits are the same is
 * for the other walks of a backend to show. */
static inline bool is_brief(const sd_backend *backend)
{
    return is_slow() && !is_about_threads() && backend->host_memory;
}

/* An engine on a backend's first device. */
static inline void open_engine_on(sd_context *c, const sd_backend *backend, int threads, sd_device *d,
                                  sd_engine *e)
{
    if (sd_device_open_on(c, d, backend, 0) || sd_engine_open(c, d, e, threads))
        fail_msg("%s: %s", backend->name, c->message);
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
