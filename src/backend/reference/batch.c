/* The reference's kernels on batches of small dense blocks: the templates next to this file, in both
 * precisions; and the application of factors in single to vectors in double. */
#include "backend/reference/batch.h"

#include <float.h>

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) sd_reference_##x##_double
#define MATH(x) x
#define TINY SD_BLOCK_TINY_DOUBLE
#include "backend/reference/batch_block.inc"
/* after it */
#include "backend/reference/batch_elimination.inc"
#include "backend/reference/batch_symmetric.inc"
/* after both */
#include "backend/reference/batch_choice.inc"
#include "backend/reference/batch_matrix.inc"
#include "backend/reference/ldlt_run.inc"
#include "backend/reference/ldlt_solve.inc"
/* after it */
#include "backend/reference/ldlt_entries.inc"
#define work double
#define WORK(x) x##_double
#define NAME_WORK(x) x##_double
#include "backend/reference/batch_apply.inc"
#undef work
#undef WORK
#undef NAME_WORK
#undef real
#undef NAME
#undef PUBLIC
#undef MATH
#undef TINY

#define real float
#define NAME(x) x##_single
#define PUBLIC(x) sd_reference_##x##_single
#define MATH(x) x##f
#define TINY SD_BLOCK_TINY_SINGLE
#include "backend/reference/batch_block.inc"
/* after it */
#include "backend/reference/batch_elimination.inc"
#include "backend/reference/batch_symmetric.inc"
/* after both */
#include "backend/reference/batch_choice.inc"
#include "backend/reference/batch_matrix.inc"
#include "backend/reference/ldlt_run.inc"
#include "backend/reference/ldlt_solve.inc"
/* after it */
#include "backend/reference/ldlt_entries.inc"
#define work float
#define WORK(x) x##_single
#define NAME_WORK(x) x##_single
#include "backend/reference/batch_apply.inc"
#undef work
#undef WORK
#undef NAME_WORK
#define work double
#define WORK(x) x##_double
#define NAME_WORK(x) x##_mixed
#include "backend/reference/batch_apply.inc"

void sd_reference_batch_apply_double(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b,
                                     sd_vector *y)
{
    if (e->status) return;
    apply_all_double(x, columns, b->data, y->data);
}

void sd_reference_batch_apply_single(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b,
                                     sd_vector *y)
{
    if (e->status) return;
    if (b->precision == SD_DOUBLE)
        apply_all_mixed(x, columns, b->data, y->data);
    else
        apply_all_single(x, columns, b->data, y->data);
}
