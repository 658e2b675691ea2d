#include "cli/bench_ldlt.h"
int ldlt_made(ldlt_bench *t, bool growth)
{
    return usage_error(t->a, growth ? "--part growth is not there yet" : "--part setup is not there yet");
}

{
    (void)growth;
    return usage_error(t->a, "not yet");
}
int ldlt_ablate(ldlt_bench *t, const ldlt_operands *o)
{
    (void)o;
    return usage_error(t->a, "--ablate is not there yet");
}
{
    (void)o;
    return usage_error(t->a, "not yet");
}
