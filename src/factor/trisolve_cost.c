/* The cost of solves with two triangles: see trisolve_cost.h. */
#include "factor/trisolve_cost.h"

const sd_trisolve_machine sd_trisolve_gpu = {5.0e-6, 1.1e-6, 4.1e-13, 2.3e-7}; /* of an H200 */
const sd_trisolve_machine sd_triangle_gpu = {5.0e-6, 2.5e-6, 5.8e-13, 7.5e-8};

double sd_trisolve_cost_exact(const sd_trisolve_machine *of, const sd_trisolve_work *w)
{
    return 2 * of->launch + w->levels * of->hop + w->bytes * of->byte;
}

double sd_trisolve_cost_swept(const sd_trisolve_machine *of, const sd_trisolve_work *w, int sweeps)
{
    return 2 * of->launch + sweeps * (2 * of->launch + w->swept * of->byte + w->longest * of->column);
}

int sd_trisolve_sweeps_worth(const sd_trisolve_machine *of, const sd_trisolve_work *w)
{
    const double exact = sd_trisolve_cost_exact(of, w), none = sd_trisolve_cost_swept(of, w, 0);
    const double each = sd_trisolve_cost_swept(of, w, 1) - none;
    const double most = each > 0 ? (exact - none) / each : 0;
    if (!(most >= 1)) return 0;
    return most < w->levels ? (int)most : w->levels;
}
