/*
 * The CPU's kernels on batches of small dense blocks for one instruction set. Results may differ in their
 * last bits between instruction sets; never by the number of threads, nor by where in a batch a block is.
 *
 * SIMD runs across blocks, one a lane (batch_narrow.inc, batch_abreast.inc), or inside a block: a column is
 * then V vectors of rows. Permutations are implicit until a result is written (Anzt et al., Variable-size
 * batched Gauss-Huard; Thuerck, Stretching Jacobi), and a few blocks are eliminated side by side, as the
 * search for one's pivot leaves the processor waiting. The kernels are templates in V, the constant argument
 * of functions that are all inlined.
 */
#include "backend/cpu/batch_pieces.h"
#include "backend/cpu/isa.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Parameters of the templates: see batch_elimination.inc and batch_narrow.inc. */
#define SEARCH_COLUMN(c, rows, s, V) NAME(search)(c, rows, V)
#define SEARCH_NARROW NAME(search_narrow)
#define COLUMNS_MOVE 0
#define LDLT_ABREAST (SINGLE ? 16 : MOST) /* rows up to which Bunch-Kaufman is faster one block a lane */
#define PUBLIC(x) SD_ISA(NAME(x))

#define TEMPLATE "backend/cpu/batch_kernels.inc"
#include "backend/both_precisions.inc"
