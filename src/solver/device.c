/*
 * The device that a solver is on.
 *
 * Device auto begins on the host. Before each factorization by the direct solver it is predicted what a GPU
 * would save (policy.h); when that, over the factorizations that are expected or have been made, is more than
 * it costs to open one, the solver moves: the plan gets what a GPU needs in addition, numbers are freed, and
 * all that factorizations have taught (scalings, what they have cost) goes along. It moves once, and tries
 * once. Everything depends on counts, so that it is the same factorization in every run.
 */
#include "solver/device.h"

#include "core/options.h"
#include "solver/work.h"

/* Numbers go, and what factorizations have taught where it does not depend on the device stays. */
static void leave_factors(saddle_solver *s)
{
    for (int k = 0; k < SD_RUNGS_MOST; ++k) {
        sd_work *w = &s->work[k];
        if (!w->method || !w->factors) continue;
        if (w->method->leave)
            w->method->leave(&s->e, w->factors);
        else
            sd_work_free_factors(s, w);
        w->ready = false;
    }
    sd_many_forget(s);
}

/* From now on everything is done by another engine; what the one before has made goes with it. */
static void change_device(saddle_solver *s, int device, sd_device opened, sd_engine e)
{
    leave_factors(s);
    sd_forget_operators(s);
    sd_engine_close(&s->e);
    sd_device_close(&s->c, &s->opened);
    s->opened = opened;
    s->e = e;
    s->device = s->info.device = device;
}

/* Opens a device with an engine on it; both or neither. */
static saddle_status open_device(saddle_solver *s, int device, int index, sd_device *opened, sd_engine *e)
{
    *e = (sd_engine){0};
    saddle_status status = sd_device_open(&s->c, opened, device, index);
    if (status) return status;
    status = sd_engine_open(&s->c, opened, e, s->threads);
    if (status) sd_device_close(&s->c, opened);
    return status;
}

/* The plan of the direct solver is for another device from now on, or as it was. */
static saddle_status move_plan(saddle_solver *s, int device)
{
    const sd_work *w = sd_find_work(s, &sd_method_direct);
    sd_problem p = sd_problem_of(s);
    p.device = device;
    return w && w->planned ? w->method->move(&s->c, &p, w->plan, &s->info) : SADDLE_OK;
}

bool sd_device_has_moved(const saddle_solver *s)
{
    return s->options.device == SADDLE_DEVICE_AUTO && s->device == SADDLE_DEVICE_CUDA;
}

static saddle_status return_to_host(saddle_solver *s)
{
    sd_device opened;
    sd_engine e;
    const saddle_status status = open_device(s, SADDLE_DEVICE_CPU, 0, &opened, &e);
    if (!status) change_device(s, SADDLE_DEVICE_CPU, opened, e);
    return status;
}

saddle_status sd_device_return(saddle_solver *s)
{
    s->moved = false;
    s->runs = 0;
    return sd_device_has_moved(s) ? return_to_host(s) : SADDLE_OK;
}

/* The plan of the direct solver, and all that will be made by it, moves to a GPU; or nothing does. */
static void move_to_gpu(saddle_solver *s)
{
    sd_device opened;
    sd_engine e;
    saddle_status status = open_device(s, SADDLE_DEVICE_CUDA, (int)s->options.device_index, &opened, &e);
    if (!status) {
        leave_factors(s); /* so that their memory is not counted twice */
        status = move_plan(s, SADDLE_DEVICE_CUDA);
        if (!status && (status = sd_work_check_memory(s, &sd_method_direct))) move_plan(s, SADDLE_DEVICE_CPU);
        if (status) {
            sd_engine_close(&e);
            sd_device_close(&s->c, &opened);
        }
    }
    if (status)
        sd_log(&s->c, SADDLE_LOG_INFO, "%s: staying on the CPU", s->c.message);
    else
        change_device(s, SADDLE_DEVICE_CUDA, opened, e);
}

void sd_device_choose(saddle_solver *s)
{
    const sd_work *w = sd_find_work(s, &sd_method_direct);
    sd_counts counts;
    if (s->options.device != SADDLE_DEVICE_AUTO || s->moved || !w || !w->planned) return;
    if (s->many.kept) return; /* systems that were factored would have to go */
    if (!w->method->counts(w->plan, w->factors, &counts)) return;
    if (!sd_policy_moves(&s->policy, &counts, sd_expected_factorizations(&s->options), s->runs)) return;
    if (!sd_work_is_direct(s)) return;
    sd_log(&s->c, SADDLE_LOG_INFO,
           "after %lld factorizations: a GPU is predicted to save %.2g of %.2g s in each: moving",
           (long long)s->runs, sd_policy_gain(&s->policy, &counts), sd_policy_host_time(&s->policy, &counts));
    s->moved = true; /* it is tried once */
    move_to_gpu(s);
}

bool sd_device_give_up(saddle_solver *s, saddle_status status)
{
    const bool lacks =
        status == SADDLE_OUT_OF_MEMORY || status == SADDLE_MEMORY_LIMIT || status == SADDLE_DEVICE_FAILED;
    if (!sd_device_has_moved(s) || !lacks) return false;
    sd_log(&s->c, SADDLE_LOG_INFO, "%s: returning to the CPU", s->c.message);
    if (return_to_host(s)) return false;
    move_plan(s, SADDLE_DEVICE_CPU);
    return true;
}
