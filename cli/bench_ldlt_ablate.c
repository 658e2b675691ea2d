#include "cli/bench_ldlt.h"
int ldlt_ablate(ldlt_bench *t, const ldlt_operands *o)
{
    (void)o;
    return usage_error(t->a, "--ablate is not there yet");
}
