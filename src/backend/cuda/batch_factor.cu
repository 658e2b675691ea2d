/*
 * batch_factor: which kernel.
 */
#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{

/* So many blocks of 8 rows, or fewer, are faster a sub-warp each, in shared memory: of 10,000 LDL' in order
 * then takes 0.92 of the time, Bunch and Kaufman's 0.88, of 100,000 both take 1.7 times as long (H200,
 * bench/results/2026-11-15-h200-blocks/blocks.txt). */
constexpr int FEW = 10000;

template <class real>
void batch_factor(sd_engine *e, const sd_batch_rule *rule, const sd_batch *x, sd_batch_factors *f)
{
    if (e->status) return;
    const sd_batch_plan *plan = x->plan;
    const batch<real> b = batch_of<real>(rule, x, f);
    f->kernel = rule->kernel;
    switch (rule->kernel) {
    case SD_LDU_PARTIAL: factor_ldu(e, plan, b); break;
    case SD_LLT: factor_llt(e, plan, b); break;
    case SD_LDLT_STATIC: factor_ldlt_static(e, plan, b, FEW); break;
    case SD_LDLT_BUNCH_KAUFMAN: factor_ldlt_bunch_kaufman(e, plan, b, FEW); break;
    case SD_LDLT_COMPLETE: factor_ldlt_complete(e, plan, b); break;
    case SD_JORDAN: factor_jordan(e, plan, b); break;
    default: factor_huard(e, rule->kernel, plan, b); break;
    }
}

BOTH(batch_factor)

} /* namespace sd_cuda */
