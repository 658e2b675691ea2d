/*
 * How the triangular solves of ic and ilu are done.
 *
 * Sweeps that are asked for are tried on a vector of signs: where residuals diverge, which triangles that are
 * far from normal make them do, or so many sweeps leave a useless one (solve/swept.h), solves are exact
 * instead, or the factorization fails. As many as a vector needs go on until they are past that. Where the
 * options leave it open, solves are exact on the CPU, where a sweep reads as much as an exact solve; on a GPU
 * sweeps are taken if the cost model (factor/trisolve_cost.h) says that they are faster, as many as bring the
 * residual of the trial below NEAR: over entries, or over blocks where only these come near, since a sweep
 * over blocks takes three to five times as long there. With `tune` all are timed, on any device.
 */
#include "method/incomplete/incomplete.h"

#include <math.h>
#include <stdio.h>

enum { SWEEPS_LEAST = 2, SWEEPS_MOST = 32, BLOCK_SWEEPS = 4, TIMED = 5 };
static const double NEAR = 0.1; /* as exact as it pays: the paper, section 3.1 */

/* The worse one of both triangles. */
static double residual_of(const sd_sweep_trial *trial)
{
    return fmax(trial->residual[0], trial->residual[1]);
}

static saddle_status try_sweeps(sd_engine *e, const sd_incomplete_state *s, sd_trisolve how,
                                sd_sweep_trial *trial)
{
    const sd_two_triangles of = sd_triangles_view(&s->triangles, how.kind, 1);
    const int sweeps = how.sweeps > 0 ? how.sweeps : of.enough < SWEEPS_MOST ? (int)of.enough : SWEEPS_MOST;
    return sd_swept_try(e, &of, sweeps > 0 ? sweeps : 1, trial);
}

/* Why sweeps are not used; false where they may be. */
static bool is_refused(sd_trisolve how, const sd_sweep_trial *trial, char *why, size_t room)
{
    if (trial->diverged)
        snprintf(why, room, "triangular solves by sweeps diverge (residual %.1e)",
                 fmax(trial->largest[0], trial->largest[1]));
    else
        snprintf(why, room, "triangular solves by %d sweeps are far off (residual %.1e)", how.sweeps,
                 residual_of(trial));
    return trial->diverged || (how.sweeps > 0 && trial->useless);
}

/* What was asked for, unless it is of no use. */
static saddle_status take(sd_engine *e, const sd_problem *p, sd_trisolve how, sd_incomplete_state *s)
{
    sd_context *c = e->context;
    sd_sweep_trial trial;
    char why[100];
    const saddle_status status = try_sweeps(e, s, how, &trial);
    if (status) return status;
    s->trisolve = how;
    s->trisolve_residual = residual_of(&trial);
    if (!is_refused(how, &trial, why, sizeof why)) return SADDLE_OK;
    if (p->options->fallback == SADDLE_FALLBACK_NONE)
        return e->status = sd_fail(c, SADDLE_NOT_CONVERGED,
                                   "%s: use trisolve exact, another number of trisolve_sweeps, larger blocks "
                                   "or another blocking, or fallback exact",
                                   why);
    sd_log(c, SADDLE_LOG_WARNING, "%s: exact solves are used instead", why);
    s->trisolve = (sd_trisolve){SD_TRISOLVE_EXACT, 0};
    s->fallback = true;
    return SADDLE_OK;
}

/* The least sweeps that come near, doubled from few on; of kind exact where none do. */
static saddle_status find_sweeps(sd_engine *e, sd_trisolve_kind kind, int most, sd_incomplete_state *s,
                                 sd_trisolve *found)
{
    *found = (sd_trisolve){SD_TRISOLVE_EXACT, 0};
    for (int sweeps = SWEEPS_LEAST; sweeps <= most; sweeps *= 2) {
        const sd_trisolve how = {kind, sweeps};
        sd_sweep_trial trial;
        const saddle_status status = try_sweeps(e, s, how, &trial);
        if (status) return status;
        if (trial.diverged || !(residual_of(&trial) <= NEAR)) continue;
        *found = how;
        s->trisolve_residual = residual_of(&trial);
        break;
    }
    return SADDLE_OK;
}

/* Seconds of an application, the least of some. */
static saddle_status time_of(sd_engine *e, const sd_incomplete_state *s, sd_trisolve how, double *seconds)
{
    const sd_two_triangles of = sd_triangles_view(&s->triangles, how.kind, 1);
    sd_vector r = sd_vector_new(e, SD_DOUBLE, of.n, "a vector");
    sd_swept m;
    double dot;
    *seconds = INFINITY;
    if (!e->status) sd_fill(e, 1.0, &r);
    sd_swept_make(e, &of, how.sweeps, &m);
    for (int k = 0; k < TIMED && !e->status; ++k) {
        const double start = sd_seconds();
        sd_swept_apply(e, &m, &r, &r);
        sd_dot(e, &r, &r, &dot); /* which is there when the rest is */
        *seconds = fmin(*seconds, sd_seconds() - start);
        if (!e->status) sd_fill(e, 1.0, &r);
    }
    sd_swept_free(e, &m);
    sd_vector_free(e, &r);
    return e->status;
}

static void tell_tuned(sd_engine *e, double exact, double seconds, sd_trisolve how)
{
    static const char *const words[] = {"exact", "block-jacobi", "jacobi"};
    sd_log(e->context, SADDLE_LOG_INFO,
           "measured: an exact application %.3g ms, the best by sweeps %.3g ms; the options trisolve %s, "
           "trisolve_sweeps %d repeat the choice",
           1e3 * exact, 1e3 * seconds, words[how.kind], how.sweeps);
}

static bool has_blocks(const sd_incomplete_state *s)
{
    return s->triangles.lower.blocks > 0;
}

/* The fastest one by a clock. */
static saddle_status tune(sd_engine *e, sd_incomplete_state *s)
{
    const sd_trisolve exact = {SD_TRISOLVE_EXACT, 0};
    sd_trisolve best = exact;
    double of_exact, least = INFINITY, residual = 0;
    saddle_status status = time_of(e, s, exact, &of_exact);
    for (int blocks = 0; blocks <= has_blocks(s) && !status; ++blocks) {
        sd_trisolve how;
        double seconds = INFINITY;
        status = find_sweeps(e, blocks ? SD_TRISOLVE_BLOCKS : SD_TRISOLVE_ENTRIES, SWEEPS_MOST, s, &how);
        if (!status && how.kind != SD_TRISOLVE_EXACT) status = time_of(e, s, how, &seconds);
        if (status || !(seconds < least)) continue;
        least = seconds;
        if (least < of_exact) best = how, residual = s->trisolve_residual;
    }
    if (status) return status;
    tell_tuned(e, of_exact, least, best);
    s->trisolve = best;
    s->trisolve_residual = residual;
    return SADDLE_OK;
}

/* As the cost model has it. */
static saddle_status predict(sd_engine *e, const sd_problem *p, sd_incomplete_state *s)
{
    if (p->device != SADDLE_DEVICE_CUDA) return SADDLE_OK;
    const int worth = sd_triangles_sweeps_worth(&s->triangles);
    sd_trisolve how;
    saddle_status status = find_sweeps(e, SD_TRISOLVE_ENTRIES, worth, s, &how);
    if (!status && how.kind == SD_TRISOLVE_EXACT && has_blocks(s))
        status = find_sweeps(e, SD_TRISOLVE_BLOCKS, worth / BLOCK_SWEEPS, s, &how);
    if (status || how.kind == SD_TRISOLVE_EXACT) return status;
    s->trisolve = how;
    return SADDLE_OK;
}

saddle_status sd_incomplete_choose(sd_engine *e, const sd_problem *p, sd_incomplete_state *s)
{
    const saddle_options *o = p->options;
    const int sweeps = (int)o->trisolve_sweeps;
    s->trisolve = (sd_trisolve){SD_TRISOLVE_EXACT, 0};
    s->trisolve_residual = 0;
    s->fallback = false;
    switch (o->trisolve) {
    case SADDLE_TRISOLVE_EXACT: return SADDLE_OK;
    case SADDLE_TRISOLVE_JACOBI: return take(e, p, (sd_trisolve){SD_TRISOLVE_ENTRIES, sweeps}, s);
    case SADDLE_TRISOLVE_BLOCK_JACOBI: return take(e, p, (sd_trisolve){SD_TRISOLVE_BLOCKS, sweeps}, s);
    default: return o->tune == SADDLE_ON ? tune(e, s) : predict(e, p, s);
    }
}
