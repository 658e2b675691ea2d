/* Measures of a prepared matrix in its blocks: what the fields of saddle_preparation of the same names say.
 */
#pragma once

#include "matrix/csr.h"

/* Takes scalings (NULL: ones), orders, blocks and block_start from p and fills in the measures; all are 0 for
 * n = 0. A is whole. O(nnz + the blocks' inverses). */
saddle_status sd_measure_blocks(sd_context *c, const sd_csr *A, saddle_preparation *p);
