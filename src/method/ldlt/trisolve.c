/*
 * How the triangular solves of a block LDL' are done.
 *
 * Where that is left open, exact solves; on a GPU sweeps, where the cost model (factor/trisolve_cost.h) says
 * that 4 or more over each triangle would take no longer: then as many are taken as bring a vector of signs
 * within NEAR of what the exact solve makes of it, if so many are worth it. Their number is fixed, so that
 * the preconditioner stays symmetric.
 */
#include "method/ldlt/ldlt.h"

#include <math.h>

enum { SWEEPS_LEAST = 4 };
static const double NEAR = 1e-3; /* so that iterations hardly notice */

static void tell(sd_engine *e, const sd_trisolve_work *work, int sweeps, const sd_block_ldlt *m)
{
    sd_log(e->context, SADDLE_LOG_INFO,
           "predicted: exact solve %.2g ms, %d sweeps over each triangle %.2g ms: using %s",
           1e3 * sd_trisolve_cost_exact(&sd_trisolve_gpu, work), sweeps,
           1e3 * sd_trisolve_cost_swept(&sd_trisolve_gpu, work, sweeps),
           m->trisolve.kind == SD_TRISOLVE_EXACT ? "exact solves" : "sweeps");
}

saddle_status sd_choose_trisolve(sd_engine *e, int given, sd_block_ldlt *m)
{
    const sd_trisolve_work work = sd_ldlt_work_of(&m->plan, m->factors.precision);
    const int worth = sd_trisolve_sweeps_worth(&sd_trisolve_gpu, &work), last = given > 0 ? given : worth;
    const sd_two_triangles triangles = sd_ldlt_triangles(m, SD_TRISOLVE_BLOCKS);
    sd_sweep_trial trial = {.apart = INFINITY};
    int sweeps = given > 0 ? given : SWEEPS_LEAST;
    for (; sweeps <= worth && sweeps <= last; sweeps *= 2)
        if (sd_swept_try(e, &triangles, sweeps, &trial) || trial.apart <= NEAR) break;
    m->trisolve =
        trial.apart <= NEAR ? (sd_trisolve){SD_TRISOLVE_BLOCKS, sweeps} : (sd_trisolve){SD_TRISOLVE_EXACT, 0};
    if (!e->status) tell(e, &work, given > 0 ? given : SWEEPS_LEAST, m);
    return e->status;
}

saddle_status sd_ldlt_prepare_solves(sd_engine *e, const sd_problem *p, sd_batch_kernel kernel,
                                     sd_block_ldlt *m)
{
    const int sweeps = (int)p->options->trisolve_sweeps;
    saddle_status status = sd_ldlt_place(e, m);
    sd_ldlt_unplace_signs(e, m);
    if (!status && p->options->absolute == SADDLE_ON && !m->positive) {
        status = sd_ldlt_place_signs(e, m);
        m->positive = !status;
    }
    if (status) return status;
    m->trisolve = (sd_trisolve){SD_TRISOLVE_EXACT, 0};
    switch (p->options->trisolve) {
    case SADDLE_TRISOLVE_EXACT: return SADDLE_OK;
    case SADDLE_TRISOLVE_BLOCK_JACOBI:
        m->trisolve = (sd_trisolve){SD_TRISOLVE_BLOCKS, sweeps};
        return SADDLE_OK;
    case SADDLE_TRISOLVE_JACOBI:
        m->trisolve = (sd_trisolve){SD_TRISOLVE_ENTRIES, sweeps};
        return sd_ldlt_place_entries(e, kernel, m);
    default: return p->device == SADDLE_DEVICE_CUDA ? sd_choose_trisolve(e, sweeps, m) : SADDLE_OK;
    }
}
