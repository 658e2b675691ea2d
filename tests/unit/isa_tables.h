/* The tables of the CPU as tests, one for each instruction set, of a program with a walk over a backend. */
#pragma once

#include "backend_or_skip.h"

static void walk(const sd_backend *backend); /* the program's own */

static void the_portable_table_conforms(void **state)
{
    (void)state;
    walk(isa_or_skip("portable"));
}

static void the_avx2_table_conforms(void **state)
{
    (void)state;
    walk(isa_or_skip("avx2"));
}

static void the_avx512_table_conforms(void **state)
{
    (void)state;
    walk(isa_or_skip("avx512"));
}
