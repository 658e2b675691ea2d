/* Solves with two triangles: see swept.h. */
#include "solve/swept.h"

#include "factor/block_ldlt.h"

#include <math.h>

static const double SETTLED = 1e-2; /* change of a sweep relative to its result */

saddle_status sd_swept_make(sd_engine *e, const sd_two_triangles *of, int sweeps, sd_swept *m)
{
    *m = (sd_swept){.of = *of, .sweeps = sd_swept_worth(of, sweeps)};
    m->work[0] = sd_vector_new(e, of->precision, of->room, "triangular solves");
    for (int k = 1; k < 3 && of->kind != SD_TRISOLVE_EXACT; ++k)
        m->work[k] = sd_vector_new(e, of->precision, of->width, "triangular solves");
    return sd_engine_reserve(e, of->n, NULL);
}

void sd_swept_free(sd_engine *e, sd_swept *m)
{
    for (int k = 0; k < 3; ++k) sd_vector_free(e, &m->work[k]);
}

/* The first n numbers of a vector. */
static sd_vector head_of(const sd_vector *x, int64_t n)
{
    return (sd_vector){x->data, n, x->precision};
}

static void swap(sd_vector *x, sd_vector *y)
{
    const sd_vector kept = *x;
    *x = *y;
    *y = kept;
}

/* Whether a sweep changed little: then another would change even less. `before` is lost. */
static bool has_settled(sd_engine *e, int64_t n, const sd_vector *after, const sd_vector *before)
{
    const sd_vector x = head_of(after, n);
    sd_vector y = head_of(before, n);
    double change = 0, size = 0;
    sd_axpby(e, 1.0, &x, -1.0, &y);
    sd_norm_inf(e, &y, &change);
    sd_norm_inf(e, &x, &size);
    return !(change > SETTLED * size);
}

/* Sweeps over one triangle, for b, between two vectors; returns how many. The last result is in *to. */
static int sweep(const sd_swept *m, sd_engine *e, bool first, int sweeps, const sd_vector *b, sd_vector *from,
                 sd_vector *to)
{
    const sd_two_triangles *t = &m->of;
    const int64_t most = sweeps > 0 ? sweeps : t->enough;
    int done = 1;
    t->can->sweep(t, e, first, b, NULL, to);
    while (done < most && !e->status) {
        swap(from, to);
        t->can->sweep(t, e, first, b, from, to);
        ++done;
        if (sweeps == 0 && has_settled(e, t->n, to, from)) break;
    }
    return done;
}

/* Sweeps from 0 on both triangles, equal numbers of them where the application has to be symmetric. */
static void apply_swept(const sd_swept *m, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_two_triangles *t = &m->of;
    sd_vector b = head_of(&m->work[0], t->n), from = m->work[1], to = m->work[2];
    t->can->enter(t, e, r, &b);
    const int sweeps = sweep(m, e, true, m->sweeps, &b, &from, &to);
    if (t->can->between)
        t->can->between(t, e, &to, &b);
    else
        swap(&b, &to);
    sweep(m, e, false, t->symmetric ? sweeps : m->sweeps, &b, &from, &to);
    t->can->leave(t, e, &to, z);
}

void sd_swept_apply(sd_engine *e, const sd_swept *m, const sd_vector *r, sd_vector *z)
{
    sd_vector work = m->work[0];
    if (m->of.kind == SD_TRISOLVE_EXACT)
        m->of.can->exact(&m->of, e, r, z, &work);
    else
        apply_swept(m, e, r, z);
}

/* ---- how well they do ---- */

int sd_swept_history(sd_engine *e, const sd_swept *m, bool first, int sweeps, const sd_vector *b,
                     double *residual)
{
    const sd_two_triangles *t = &m->of;
    const double size = sqrt(sd_dot_of(e, b, b));
    sd_vector from = m->work[1], to = m->work[2];
    int done = 0;
    while (done < sweeps && !e->status) {
        t->can->sweep(t, e, first, b, done > 0 ? &from : NULL, &to);
        sd_vector left = head_of(&from, t->n);
        t->can->residual(t, e, first, b, &to, &left);
        const double norm = sqrt(sd_dot_of(e, &left, &left));
        residual[done++] = size > 0 ? norm / size : norm;
        swap(&from, &to);
        if (sd_swept_diverged(residual[done - 1])) break;
    }
    return e->status ? 0 : done;
}

/* Both triangles with the signs as they are: what comes of one is not for the other to suffer from. */
static void try_residuals(sd_engine *e, const sd_swept *m, const sd_vector *signs, double *history,
                          sd_sweep_trial *trial)
{
    sd_vector b = head_of(&m->work[0], m->of.n);
    for (int k = 0; k < 2 && !e->status; ++k) {
        m->of.can->enter(&m->of, e, signs, &b);
        const int done = sd_swept_history(e, m, k == 0, m->sweeps, &b, history);
        trial->largest[k] = 0;
        for (int s = 0; s < done; ++s) {
            trial->residual[k] = history[s];
            if (!(history[s] <= trial->largest[k])) trial->largest[k] = history[s];
            trial->diverged |= sd_swept_diverged(history[s]);
        }
        trial->useless |=
            trial->residual[k] > SD_SWEEPS_USELESS && trial->residual[k] > SD_SWEEPS_GROWN * history[0];
    }
}

saddle_status sd_swept_try(sd_engine *e, const sd_two_triangles *of, int sweeps, sd_sweep_trial *trial)
{
    const sd_precision precision = SD_DOUBLE; /* as the vectors of an iteration */
    double *signs = sd_alloc(e->context, of->n, sizeof *signs, "a vector"), change = 0, size = 0;
    double *history = sd_alloc(e->context, sweeps, sizeof *history, "residuals of sweeps");
    sd_vector r = sd_vector_new(e, precision, of->n, "a vector");
    sd_vector z[2] = {sd_vector_new(e, precision, of->n, "a vector"),
                      sd_vector_new(e, precision, of->n, "a vector")};
    *trial = (sd_sweep_trial){.apart = INFINITY, .residual = {NAN, NAN}, .largest = {NAN, NAN}};
    if ((!signs || !history) && !e->status) e->status = e->context->status;
    for (int64_t i = 0; i < of->n && !e->status; ++i) signs[i] = sd_ldlt_sign((int32_t)i);
    sd_engine_reserve(e, of->n, NULL);
    if (!e->status) sd_vector_put(e, signs, &r);
    for (int k = 0; k < 2; ++k) {
        sd_two_triangles way = *of;
        sd_swept m;
        if (k == 0) way.kind = SD_TRISOLVE_EXACT;
        if (!sd_swept_make(e, &way, sweeps, &m)) sd_swept_apply(e, &m, &r, &z[k]);
        if (k == 1 && of->can->residual && !e->status) try_residuals(e, &m, &r, history, trial);
        sd_swept_free(e, &m);
    }
    if (!e->status) {
        sd_norm_inf(e, &z[0], &size);
        sd_axpy(e, -1.0, &z[1], &z[0]);
        sd_norm_inf(e, &z[0], &change);
        if (isfinite(change) && isfinite(size)) trial->apart = size > 0 ? change / size : 0;
        trial->diverged |= !isfinite(trial->apart);
    }
    sd_vector_free(e, &r);
    for (int k = 0; k < 2; ++k) sd_vector_free(e, &z[k]);
    sd_free_all(e->context, signs, history);
    return e->status;
}
