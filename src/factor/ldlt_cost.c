/* The cost of solves with a block LDL': see ldlt_cost.h. */
#include "factor/ldlt_cost.h"

/* Seconds, of an H200: of a launch; from one level to the next; of a byte; of a column of the longest row. */
static const struct {
    double launch, hop, byte, column;
} gpu = {5.0e-6, 1.1e-6, 4.1e-13, 2.3e-7};

sd_ldlt_work sd_ldlt_work_of(const sd_ldlt_plan *plan, sd_precision precision)
{
    const double number = (double)sd_precision_size(precision);
    int64_t longest[2] = {0, 0}; /* of each triangle */
    for (int32_t i = 0; i < plan->blocks; ++i) {
        int64_t columns[2] = {0, 0};
        for (int64_t k = plan->row[i]; k < plan->row[i + 1]; ++k)
            columns[k >= plan->diagonal[i]] += plan->list[k].width;
        for (int k = 0; k < 2; ++k) longest[k] = columns[k] > longest[k] ? columns[k] : longest[k];
    }
    return (sd_ldlt_work){
        .levels = plan->levels,
        .bytes = number * (2.0 * (double)(plan->entries + plan->square[plan->blocks]) + 4.0 * plan->n) +
                 (double)plan->row[plan->blocks] * (double)sizeof *plan->list,
        .longest = (double)(longest[0] + longest[1])};
}

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
