/* The cost of solves with a block LDL': see ldlt_cost.h. */
#include "factor/ldlt_cost.h"

/* Seconds, of an H200: of a launch; from one level to the next; of a byte; of a column of the longest row. */
static const struct {
    double launch, hop, byte, column;
} gpu = {5.0e-6, 1.1e-6, 4.1e-13, 2.3e-7};

double sd_ldlt_cost_exact(const sd_ldlt_work *w)
{
    return 2 * gpu.launch + w->levels * gpu.hop + w->bytes * gpu.byte;
}

double sd_ldlt_cost_swept(const sd_ldlt_work *w, int sweeps)
{
    return 2 * gpu.launch + sweeps * (2 * gpu.launch + w->bytes * gpu.byte + w->longest * gpu.column);
}

int sd_ldlt_sweeps_worth(const sd_ldlt_work *w)
{
    const double exact = sd_ldlt_cost_exact(w), none = sd_ldlt_cost_swept(w, 0);
    const double each = sd_ldlt_cost_swept(w, 1) - none;
    const double most = each > 0 ? (exact - none) / each : 0;
    if (!(most >= 1)) return 0;
    return most < w->levels ? (int)most : w->levels;
}
