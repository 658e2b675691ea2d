/*
 * The monitor: when an iteration is done, and why.
 *
 * A method's recurrence gives a residual norm that may be in another norm (MINRES), only a bound
 * (SQMR), or drift away from the truth in rounding. So it decides nothing: it only says when to look.
 * A look computes the residual of x itself, accumulated in double-double, and the ratio of truth to
 * estimate. The next look comes when estimate * ratio says so, and also every so often, since the
 * componentwise error is not seen by any recurrence.
 */
#include "solve/krylov.h"

#include "solve/measure.h"

#include <math.h>

enum {
    FIRST_LOOK = 10,    /* iterations to the first look that nothing called for */
    LOOK_AT_LEAST = 50, /* iterations between such looks, in the end */
    STALL_WINDOW = 500, /* iterations without progress that count as stagnation */
    IN_VAIN = 32        /* restarts without progress after breakdowns: from another x there may be none */
};

static const double STALL_GAIN = 0.99; /* progress is at least this reduction */
static const double DIVERGED = 1e12;   /* of the norm of b */
static const double DRIFT = 100;       /* truth over estimate, against the first look */
static const double SPENT = 1e-30;     /* fall of the estimate that no residual can have followed */
static const double NULL_TO = 1e-12;   /* |A r| relative to |A||r|, entry by entry, that is rounding */

saddle_status sd_vectors_new(sd_engine *e, const sd_vector *like, int count, sd_vector *vectors)
{
    for (int k = 0; k < count; ++k)
        vectors[k] = sd_vector_new(e, like->precision, like->n, "vectors of the iteration");
    return e->status;
}

void sd_vectors_free(sd_engine *e, int count, sd_vector *vectors)
{
    for (int k = 0; k < count; ++k) sd_vector_free(e, &vectors[k]);
}

saddle_status sd_monitor_begin(sd_monitor *m, sd_engine *e, const sd_system *s, double tol, int stop,
                               int64_t maxiter)
{
    *m = (sd_monitor){.e = e, .s = s, .tol = tol, .stop = stop, .maxiter = maxiter, .relative = 1, .best = 1};
    m->ratio = m->first_ratio = 1;
    m->least_estimate = INFINITY;
    m->next_look = FIRST_LOOK;
    m->looked_at = -1;
    m->restarted_from = INFINITY;
    const char *what = "vectors of the monitor";
    m->r = sd_vector_new(e, s->b->precision, s->b->n, what);
    m->best_x = sd_vector_new(e, s->b->precision, s->b->n, what);
    m->abs_b = sd_vector_new(e, s->b->precision, s->b->n, what);
    m->weight = sd_vector_new(e, s->b->precision, s->b->n, what);
    sd_engine_reserve(e, s->b->n, s->A);
    if (e->status) return e->status;
    sd_copy(e, s->b, &m->r);
    sd_absolute(e, s->b, &m->abs_b);
    m->norm_b = sqrt(sd_dot_of(e, s->b, s->b));
    sd_norm_inf(e, s->b, &m->norm_b_inf);
    return e->status;
}

void sd_monitor_end(sd_monitor *m)
{
    sd_vector_free(m->e, &m->r);
    sd_vector_free(m->e, &m->best_x);
    sd_vector_free(m->e, &m->abs_b);
    sd_vector_free(m->e, &m->weight);
}

void sd_monitor_give_up(sd_monitor *m, saddle_reason reason)
{
    if (m->reason == SADDLE_REASON_NONE) m->reason = reason;
}

static sd_action give_up(sd_monitor *m, saddle_reason reason)
{
    sd_monitor_give_up(m, reason);
    return SD_STOP;
}

static void record(sd_monitor *m, double relative)
{
    if (m->history_length < m->history_room) m->history[m->history_length] = relative;
    ++m->history_length;
}

/* Whether the recurrence has run on far below what rounding leaves of a residual. */
static bool is_spent(const sd_monitor *m)
{
    return m->estimate <= SPENT * m->first_estimate;
}

static bool has_stalled(const sd_monitor *m)
{
    return m->iterations - m->least_at > STALL_WINDOW;
}

sd_action sd_monitor_step(sd_monitor *m, double estimate)
{
    ++m->iterations;
    m->estimate = estimate;
    if (m->first_estimate == 0) m->first_estimate = estimate;
    const double relative = estimate * m->ratio / m->norm_b;
    record(m, relative);
    if (m->e->status) return give_up(m, SADDLE_REASON_DEVICE);
    if (sd_progress(m->e->context, "solve", m->iterations, m->maxiter, relative))
        return give_up(m, SADDLE_REASON_CANCELLED);
    if (!isfinite(estimate)) return give_up(m, SADDLE_REASON_OVERFLOW);
    if (relative > DIVERGED) return give_up(m, SADDLE_REASON_DIVERGENCE);
    if (estimate < STALL_GAIN * m->least_estimate) {
        m->least_estimate = estimate;
        m->least_at = m->iterations;
    }
    if (m->race && !sd_race_goes_on(m->race, m->iterations, estimate, relative / m->tol))
        return give_up(m, SADDLE_REASON_SLOW);
    const bool last = m->iterations >= m->maxiter;
    const bool look = m->iterations >= m->next_look || is_spent(m) || has_stalled(m);
    return relative <= m->tol || look || last ? SD_LOOK : SD_GO_ON;
}

/* Which of the bounds that were requested holds; SADDLE_REASON_NONE where none does. */
static saddle_reason bound_that_holds(sd_monitor *m, const sd_vector *x)
{
    sd_engine *e = m->e;
    const bool any = m->stop == SADDLE_STOP_ANY;
    if ((any || m->stop == SADDLE_STOP_RESIDUAL) && m->relative <= m->tol) return SADDLE_REASON_RESIDUAL;
    if (m->stop == SADDLE_STOP_NORMWISE) {
        double norm_x = NAN, norm_r = NAN;
        sd_norm_inf(e, x, &norm_x);
        sd_norm_inf(e, &m->r, &norm_r);
        if (norm_r <= m->tol * (m->s->norm_a * norm_x + m->norm_b_inf)) return SADDLE_REASON_NORMWISE;
    }
    if (any || m->stop == SADDLE_STOP_COMPONENTWISE) {
        double worst = NAN, share = NAN;
        sd_spmv_abs(e, m->s->A, x, &m->weight);
        sd_axpy(e, 1.0, &m->abs_b, &m->weight);
        sd_ratio_max(e, &m->r, &m->weight, &worst);
        sd_ratio_max(e, &m->abs_b, &m->weight, &share);
        if (any ? sd_solves_componentwise(worst, share, m->tol) : worst <= m->tol)
            return SADDLE_REASON_COMPONENTWISE;
    }
    return SADDLE_REASON_NONE;
}

/* Looks at x without drawing conclusions about the method. False where x is not finite. */
static bool examine(sd_monitor *m, const sd_vector *x)
{
    sd_engine *e = m->e;
    sd_residual_dd(e, m->s->A, x, m->s->b, &m->r);
    const double norm = sqrt(sd_dot_of(e, &m->r, &m->r));
    m->looked_at = m->iterations;
    m->relative = norm / m->norm_b;
    if (e->status || !isfinite(norm)) return false;
    const saddle_reason holds = bound_that_holds(m, x);
    m->converged = holds != SADDLE_REASON_NONE;
    if (m->relative < m->best || m->converged) {
        m->best = m->relative;
        sd_copy(e, x, &m->best_x);
    }
    if (m->converged) m->reason = holds;
    return true;
}

/* Whether A z is 0 to rounding in every row; product and m->weight are overwritten. */
static bool is_null_vector(sd_monitor *m, const sd_vector *z, sd_vector *product)
{
    double worst = NAN;
    sd_spmv(m->e, m->s->A, z, product);
    sd_spmv_abs(m->e, m->s->A, z, &m->weight);
    sd_ratio_max(m->e, product, &m->weight, &worst);
    return worst <= NULL_TO;
}

/* Whether r or M^-1 r, r the residual of x, lies in the null space of A: no Krylov space leads out of
 * there. Vectors of the monitor are lent, and made again at the end. */
static bool is_stuck(sd_monitor *m, const sd_vector *x)
{
    bool stuck = is_null_vector(m, &m->r, &m->abs_b);
    if (!stuck && m->s->M->apply) {
        sd_precondition(m->e, m->s->M, &m->r, &m->abs_b);
        stuck = is_null_vector(m, &m->abs_b, &m->r);
        sd_residual_dd(m->e, m->s->A, x, m->s->b, &m->r);
    }
    sd_absolute(m->e, m->s->b, &m->abs_b);
    return stuck;
}

/* The recurrence no longer tells the truth. Beginning again helps as long as that made progress. */
static sd_action restart(sd_monitor *m, const sd_vector *x, saddle_reason reason)
{
    if (is_stuck(m, x)) { /* the best there is, in the norm of the method */
        sd_copy(m->e, x, &m->best_x);
        m->best = m->relative;
        return give_up(m, reason);
    }
    /* strictly: from a residual that underflows to 0 without meeting the bound it would never end */
    const bool progress = m->relative < 0.5 * m->restarted_from;
    m->in_vain = progress ? 0 : m->in_vain + 1;
    if (m->in_vain > (reason == SADDLE_REASON_STAGNATION ? m->patience : IN_VAIN)) return give_up(m, reason);
    sd_log(m->e->context, SADDLE_LOG_DEBUG, "restart at iteration %lld, relative residual %.1e: %s",
           (long long)m->iterations, m->relative, saddle_reason_text(reason));
    if (progress) m->restarted_from = m->relative;
    m->ratio = m->first_ratio = 1;
    m->first_estimate = 0;
    m->least_estimate = INFINITY;
    m->least_at = m->iterations;
    return SD_RESTART;
}

sd_action sd_monitor_look(sd_monitor *m, const sd_vector *x)
{
    const bool called = m->estimate * m->ratio <= m->tol * m->norm_b;
    const int64_t pause = m->iterations / 2;
    m->next_look = m->iterations + (pause < FIRST_LOOK      ? FIRST_LOOK
                                    : pause > LOOK_AT_LEAST ? LOOK_AT_LEAST
                                                            : pause);
    if (!examine(m, x)) return give_up(m, m->e->status ? SADDLE_REASON_DEVICE : SADDLE_REASON_OVERFLOW);
    if (m->converged) return SD_STOP;
    if (m->iterations >= m->maxiter) return give_up(m, SADDLE_REASON_MAXITER);
    const bool first = m->ratio == 1 && m->first_ratio == 1;
    const double ratio = m->estimate > 0 ? m->relative * m->norm_b / m->estimate : INFINITY;
    if (!first && called && ratio > DRIFT * m->first_ratio) return restart(m, x, SADDLE_REASON_STAGNATION);
    if (is_spent(m) || has_stalled(m)) return restart(m, x, SADDLE_REASON_STAGNATION);
    m->ratio = ratio;
    if (first) m->first_ratio = ratio;
    return SD_GO_ON;
}

sd_action sd_monitor_breakdown(sd_monitor *m, const sd_vector *x, saddle_reason reason)
{
    if (!examine(m, x)) return give_up(m, m->e->status ? SADDLE_REASON_DEVICE : SADDLE_REASON_OVERFLOW);
    if (m->converged) return SD_STOP;
    if (m->iterations >= m->maxiter) return give_up(m, SADDLE_REASON_MAXITER);
    return restart(m, x, reason);
}

void sd_monitor_conclude(sd_monitor *m, const sd_vector *x)
{
    const bool left = m->reason == SADDLE_REASON_SLOW; /* for what does not begin with this x */
    if (m->looked_at == m->iterations || m->e->status || left) return;
    const saddle_reason reason = m->reason;
    const bool finite = examine(m, x);
    if (finite && m->converged) return;
    m->reason = reason;
}
