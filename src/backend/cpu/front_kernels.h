/*
 * All kernels on fronts in one precision, each part after those it is built from, and the choice between the
 * blocked kernels and those for small fronts. Included once for each precision (fronts.c).
 */
#include "backend/cpu/front_vector.h"

#include "backend/cpu/front_lanes.h"

#include "backend/cpu/front_multiply.h"

#include "backend/cpu/front_tile.h"

#include "backend/cpu/front_panel.h"

#include "backend/cpu/front_sequential.h"

#include "backend/cpu/front_factor.h"

#include "backend/cpu/front_small.h"

#include "backend/cpu/front_assembly.h"

#include "backend/cpu/front_solve.h"

static void NAME(factor_front)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots, void *work,
                               bool split)
{
    if (NAME(is_small)(f->rows, f->columns))
        NAME(small_factor)(f, pivoting, pivots);
    else
        NAME(factor)(f, pivoting, pivots, work, split);
}

static void NAME(update_front)(sd_front *f, void *work, bool split)
{
    if (NAME(has_small_update)(f->rows, f->columns))
        NAME(small_update)(f);
    else
        NAME(update)(f, work, split);
}
