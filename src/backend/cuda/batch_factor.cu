/*
 * batch_factor: which version of which kernel.
 */
#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{
namespace
{

template <class real>
void factor_in_registers(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan,
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
void factor_in_shared(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b)
{
    if (sd_batch_symmetric(kernel))
        factor_symmetric_shared(e, kernel, plan, b);
    else
        factor_general_shared(e, kernel, plan, b);
}

} /* namespace */

template <class real>
void batch_factor(sd_engine *e, const sd_batch_rule *rule, const sd_batch *x, sd_batch_factors *f)
{
    if (e->status) return;
    const sd_batch_plan *plan = x->plan;
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
    /* that in registers is the faster one of every kernel and size (saddle bench blocks) */
    if (rule->version == SD_BATCH_SHARED)
        factor_in_shared(e, rule->kernel, plan, b);
    else
        factor_in_registers(e, rule->kernel, plan, b);
}

template void batch_factor<double>(sd_engine *, const sd_batch_rule *, const sd_batch *, sd_batch_factors *);
template void batch_factor<float>(sd_engine *, const sd_batch_rule *, const sd_batch *, sd_batch_factors *);

} /* namespace sd_cuda */
