/* The kernels of kernels.h on the GPU, and the library's in the version that is asked for. */
#include "bench/kernels/cuda/batch_bench.cuh"

namespace sd_cuda
{
namespace
{

template <class real>
void factor_in_registers(sd_engine *e, const sd_batch_rule *rule, const sd_batch *x, sd_batch_factors *f)
{
    const batch<real> b = batch_of<real>(rule, x, f);
    if (rule->kernel == BENCH_LDU || rule->kernel == BENCH_LDU_FULL)
        bench_ldu(e, rule->kernel, x->plan, b);
    else if (rule->kernel == BENCH_LLT_DIAGONAL)
        bench_llt_diagonal(e, x->plan, b);
    else if (rule->kernel == SD_LDLT_STATIC)
        factor_ldlt_static(e, x->plan, b, 0);
    else if (rule->kernel == SD_LDLT_BUNCH_KAUFMAN)
        factor_ldlt_bunch_kaufman(e, x->plan, b, 0);
    else
        batch_factor<real>(e, rule, x, f);
}

template <class real>
void factor(sd_engine *e, const sd_batch_rule *rule, bench_version version, const sd_batch *x,
            sd_batch_factors *f)
{
    f->kernel = bench_form(rule->kernel);
    if (version == BENCH_DEFAULT && rule->kernel < SD_BATCH_KERNELS)
        batch_factor<real>(e, rule, x, f);
    else if (version != BENCH_SHARED)
        factor_in_registers<real>(e, rule, x, f);
    else if (sd_batch_symmetric(f->kernel))
        bench_symmetric_shared(e, rule->kernel, x->plan, batch_of<real>(rule, x, f));
    else
        bench_general_shared(e, rule->kernel, x->plan, batch_of<real>(rule, x, f));
}

} /* namespace */
} /* namespace sd_cuda */

extern "C" __attribute__((visibility("default"))) void
sd_bench_cuda_factor(sd_engine *e, const sd_batch_rule *rule, bench_version version, const sd_batch *x,
                     sd_batch_factors *f)
{
    if (e->status) return;
    if (x->precision == SD_DOUBLE)
        sd_cuda::factor<double>(e, rule, version, x, f);
    else
        sd_cuda::factor<float>(e, rule, version, x, f);
}
