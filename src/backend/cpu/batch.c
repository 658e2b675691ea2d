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

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) SD_ISA(x##_double)
#define MATH(x) x
#define SINGLE 0
#define TINY SD_BLOCK_TINY_DOUBLE
#define LARGEST DBL_MAX
typedef int64_t integer_double;
#define LDLT_ABREAST MOST /* rows up to which Bunch-Kaufman is faster one block a lane */
#include "backend/cpu/batch_kernels.inc"
#define work double
#define OF(x) x##_double
#define WORK(x) x##_double
#define MIXED 0
#include "backend/cpu/batch_apply.inc"
#undef work
#undef OF
#undef WORK
#undef real
#undef NAME
#undef PUBLIC
#undef MATH
#undef SINGLE
#undef TINY
#undef LARGEST

#define real float
#define NAME(x) x##_single
#define PUBLIC(x) SD_ISA(x##_single)
#define MATH(x) x##f
#define SINGLE 1
#define TINY SD_BLOCK_TINY_SINGLE
#define LARGEST FLT_MAX
typedef int32_t integer_single;
#undef LDLT_ABREAST
#define LDLT_ABREAST 16
#include "backend/cpu/batch_kernels.inc"
#define work float
#define OF(x) x##_single
#define WORK(x) x##_single
#include "backend/cpu/batch_apply.inc"
#undef work
#undef OF
#undef WORK
#undef MIXED
#define work double
#define OF(x) x##_mixed
#define WORK(x) x##_double
#define MIXED 1
#include "backend/cpu/batch_apply.inc"

void SD_ISA(batch_apply_double)(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b,
                                sd_vector *y)
{
    if (e->status) return;
    apply_all_double(e, x, columns, b->data, y->data);
}

void SD_ISA(batch_apply_single)(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b,
                                sd_vector *y)
{
    if (e->status) return;
    if (b->precision == SD_DOUBLE)
        apply_all_mixed(e, x, columns, b->data, y->data);
    else
        apply_all_single(e, x, columns, b->data, y->data);
}
