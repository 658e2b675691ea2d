/* No preconditioner: M = I. */
#include "method/method.h"

static saddle_status factor(sd_engine *e, const sd_problem *p, const void *plan, const sd_strength *strength,
                            void **factors, bool *given_up)
{
    (void)p, (void)plan, (void)strength, (void)factors;
    *given_up = false;
    return e->status;
}

static void report(const void *factors, saddle_info *info)
{
    (void)factors;
    info->factor_nnz = info->factor_flops = info->factor_bytes = info->perturbed = 0;
}

static int krylov(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c, (void)factors;
    return sd_krylov_for(p, true, true);
}

static saddle_status precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                  const sd_operator *op, sd_preconditioner *M)
{
    (void)p, (void)factors, (void)op;
    *M = (sd_preconditioner){.positive = true, .symmetric = true};
    return e->status;
}

const sd_method sd_method_none = {.number = SADDLE_METHOD_NONE,
                                  .name = "the iteration",
                                  .options = "|",
                                  .on_device = true,
                                  .light = true,
                                  .factor = factor,
                                  .report = report,
                                  .krylov = krylov,
                                  .precondition = precondition};
