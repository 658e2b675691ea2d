/*
 * block_factor: which version of which kernel.
 */
#include "backend/cuda/block_lanes.cuh"

namespace sd_cuda
{
namespace
{

template <class real>
void factor_in_registers(sd_engine *e, sd_block_kernel kernel, const sd_block_plan *plan,
                         const batch<real> &b)
{
    switch (kernel) {
    case SD_LDU:
    case SD_LDU_PARTIAL:
    case SD_LDU_FULL: factor_ldu(e, kernel, plan, b); break;
    case SD_LLT:
    case SD_LLT_DIAGONAL: factor_llt(e, kernel, plan, b); break;
    case SD_LDLT_STATIC: factor_ldlt_static(e, plan, b); break;
    case SD_LDLT_BUNCH_KAUFMAN: factor_ldlt_bunch_kaufman(e, plan, b); break;
    case SD_LDLT_COMPLETE: factor_ldlt_complete(e, plan, b); break;
    case SD_JORDAN: factor_jordan(e, plan, b); break;
    default: factor_huard(e, kernel, plan, b); break;
    }
}

template <class real>
void factor_in_shared(sd_engine *e, sd_block_kernel kernel, const sd_block_plan *plan, const batch<real> &b)
{
    if (sd_block_symmetric(kernel))
        factor_symmetric_shared(e, kernel, plan, b);
    else
        factor_general_shared(e, kernel, plan, b);
}

/* The largest blocks whose kernel is faster in registers: see saddle bench blocks. The search of Bunch and
 * Kaufman's rule, and the rows and columns that it exchanges, are what shared memory is better at. */
int most_in_registers(sd_block_kernel kernel, bool single)
{
    if (kernel == SD_LDLT_BUNCH_KAUFMAN) return single ? 16 : 8;
    if (kernel == SD_LDLT_COMPLETE && !single) return 16;
    return SD_BLOCK_MOST;
}

} /* namespace */

template <class real>
void block_factor(sd_engine *e, const sd_block_rule *rule, const sd_blocks *x, sd_block_factors *f)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    batch<real> b = {};
    b.x = static_cast<const real *>(x->data);
    b.f = static_cast<real *>(f->data);
    b.row = f->row;
    b.column = f->column;
    b.state = f->state;
    b.job = plan->job;
    b.regular = plan->regular;
    b.small = static_cast<real>(rule->small);
    f->kernel = rule->kernel;
    const int most = rule->version == SD_BLOCK_FASTER ? most_in_registers(rule->kernel, sizeof(real) == 4)
                     : rule->version == SD_BLOCK_REGISTERS ? SD_BLOCK_MOST
                                                           : 0;
    b.lowest = 1;
    b.highest = most;
    factor_in_registers(e, rule->kernel, plan, b);
    b.lowest = most + 1;
    b.highest = SD_BLOCK_MOST;
    factor_in_shared(e, rule->kernel, plan, b);
}

template void block_factor<double>(sd_engine *, const sd_block_rule *, const sd_blocks *, sd_block_factors *);
template void block_factor<float>(sd_engine *, const sd_block_rule *, const sd_blocks *, sd_block_factors *);

} /* namespace sd_cuda */
