#include "cli/bench_blocks.h"
int plot_blocks(const blocks_report *t, const char *path)
{
    (void)t, (void)path;
    return 0;
}
