/* A dense test matrix in the library's own form, whole; freed with sd_csr_free. */
#pragma once

#include "helpers.h"
#include "matrix/csr.h"

static inline sd_csr csr_of(sd_context *c, const dense *d)
{
    saddle_matrix A = view_plain(d, SADDLE_GENERAL);
    sd_csr csr;
    assert_int_equal(sd_csr_from_view(c, &A, false, &csr, NULL), SADDLE_OK);
    view_free(&A);
    return csr;
}
