/* The reference's kernels on batches of small dense blocks: the templates beside this file, in both
 * precisions; and the application of factors in single to vectors in double. */
#include "backend/reference/blocks.h"

#include <float.h>

/* Job k of the plan has so many rows. */
static int rows_of_job(const sd_block_plan *plan, int32_t k)
{
    int s = 1;
    while (plan->first[s + 1] <= k) ++s;
    return s;
}

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) sd_reference_##x##_double
#define MATH(x) x
#define TINY SD_BLOCK_TINY_DOUBLE
#include "backend/reference/block_elimination.h"
#include "backend/reference/block_symmetric.h"
/* after both */
#include "backend/reference/block_factor.h"
#include "backend/reference/block_matrix.h"
#include "backend/reference/ldlt_run.h"
#include "backend/reference/ldlt_solve.h"
/* after it */
#include "backend/reference/ldlt_entries.h"
#define work double
#define WORK(x) x##_double
#define NAME_WORK(x) x##_double
#include "backend/reference/block_apply.h"
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
#include "backend/reference/block_elimination.h"
#include "backend/reference/block_symmetric.h"
/* after both */
#include "backend/reference/block_factor.h"
#include "backend/reference/block_matrix.h"
#include "backend/reference/ldlt_run.h"
#include "backend/reference/ldlt_solve.h"
/* after it */
#include "backend/reference/ldlt_entries.h"
#define work float
#define WORK(x) x##_single
#define NAME_WORK(x) x##_single
#include "backend/reference/block_apply.h"
#undef work
#undef WORK
#undef NAME_WORK
#define work double
#define WORK(x) x##_double
#define NAME_WORK(x) x##_mixed
#include "backend/reference/block_apply.h"

void sd_reference_block_apply_double(sd_engine *e, const sd_block_factors *x, int columns, const sd_vector *b,
                                     sd_vector *y)
{
    if (e->status) return;
    apply_all_double(x, columns, b->data, y->data);
}

void sd_reference_block_apply_single(sd_engine *e, const sd_block_factors *x, int columns, const sd_vector *b,
                                     sd_vector *y)
{
    if (e->status) return;
    if (b->precision == SD_DOUBLE)
        apply_all_mixed(x, columns, b->data, y->data);
    else
        apply_all_single(x, columns, b->data, y->data);
}
