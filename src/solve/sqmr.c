/*
 * SQMR, the symmetric QMR method without look-ahead (Freund and Nachtigal, A new Krylov-subspace method
 * for symmetric indefinite linear systems, 1994): A symmetric, M symmetric and possibly indefinite.
 *
 * The residual that is minimised is the quasi-residual tau, which is not the residual; the monitor
 * relates the two. rho = r'M^-1 r and sigma = q'Aq are compared with the norms of their factors: where
 * they vanish relative to those the recurrence divides by rounding errors, and begins again.
 */
#include "solve/krylov.h"

#include <math.h>

/* x'y, or 0 where it is nothing but rounding. */
static double dot_or_zero(sd_engine *e, const sd_vector *x, const sd_vector *y)
{
    double gram[3] = {0};
    sd_gram(e, x, y, gram);
    sd_wait(e);
    return sd_gram_vanishes(gram, sd_rounding(x->precision)) ? 0 : gram[1];
}

void sd_sqmr(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    sd_vector v[5] = {{0}};
    sd_vector *r = &v[0], *q = &v[1], *t = &v[2], *d = &v[3], *z = &v[4];
    double rho = 0, tau = 0, theta = 0;
    sd_action action = sd_vectors_new(e, s->b, 5, v) ? SD_STOP : SD_RESTART;
    while (action != SD_STOP && !e->status) {
        if (action == SD_RESTART) {
            sd_copy(e, &m->r, r);
            sd_precondition(e, s->M, r, q);
            sd_fill(e, 0.0, d);
            tau = sqrt(sd_dot_of(e, r, r));
            theta = 0;
            rho = dot_or_zero(e, r, q);
        }
        if (rho == 0) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_RHO);
            continue;
        }
        sd_spmv(e, s->A, q, t);
        const double sigma = dot_or_zero(e, q, t);
        if (sigma == 0) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_SIGMA);
            continue;
        }
        const double alpha = rho / sigma, old_theta = theta;
        sd_axpy(e, -alpha, t, r);
        theta = tau > 0 ? sqrt(sd_dot_of(e, r, r)) / tau : 0;
        const double c2 = 1 / (1 + theta * theta);
        tau *= theta * sqrt(c2);
        sd_axpby(e, c2 * alpha, q, c2 * old_theta * old_theta, d);
        sd_axpy(e, 1.0, d, x);
        action = sd_monitor_step(m, tau);
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
        if (action != SD_GO_ON) continue;
        sd_precondition(e, s->M, r, z);
        const double next = dot_or_zero(e, r, z);
        sd_axpby(e, 1.0, z, next / rho, q);
        rho = next;
    }
    sd_vectors_free(e, 5, v);
}
