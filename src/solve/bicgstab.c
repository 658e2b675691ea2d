/*
 * BiCGSTAB (van der Vorst 1992; Saad, algorithm 7.7), preconditioned on the right so that its residual
 * is that of the system. Its breakdowns (r0'r near 0, omega near 0) begin again from the true
 * residual with a new shadow vector, and are named where that does not help.
 */
#include "solve/krylov.h"

#include <math.h>

enum { R, SHADOW, P, V, Z, T, VECTORS };

/* x'x, x'y and y'y, at once. */
static void gram_of(sd_engine *e, const sd_vector *x, const sd_vector *y, double *gram)
{
    sd_gram(e, x, y, gram);
    sd_wait(e);
}

void sd_bicgstab(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    sd_vector v[VECTORS] = {{0}};
    const sd_precision precision = s->b->precision;
    double rho = 0, alpha = 0, omega = 0, square = 0;
    double rr[3] = {0}, sv[3], tr[3]; /* of the shadow and r, the shadow and v, t and r */
    sd_action action = sd_vectors_new(e, s->b, VECTORS, v) ? SD_STOP : SD_RESTART;
    while (action != SD_STOP && !e->status) {
        const double old_rho = rho;
        const bool fresh = action == SD_RESTART;
        if (fresh) {
            sd_copy(e, &m->r, &v[R]);
            sd_copy(e, &m->r, &v[SHADOW]);
            sd_copy(e, &m->r, &v[P]);
            gram_of(e, &v[SHADOW], &v[R], rr);
        }
        rho = rr[1];
        if (sd_vanishes(precision, rr)) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_RHO);
            continue;
        }
        if (!fresh) sd_direction(e, &v[R], rho / old_rho * (alpha / omega), omega, &v[V], &v[P]);
        const sd_vector *z = sd_preconditioned(e, s->M, &v[P], &v[Z]);
        sd_spmv(e, s->A, z, &v[V]);
        gram_of(e, &v[SHADOW], &v[V], sv);
        if (sd_vanishes(precision, sv)) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_SIGMA);
            continue;
        }
        alpha = rho / sv[1];
        sd_step(e, alpha, z, &v[V], x, &v[R], &square);
        z = sd_preconditioned(e, s->M, &v[R], &v[Z]);
        sd_spmv(e, s->A, z, &v[T]);
        gram_of(e, &v[T], &v[R], tr);
        omega = tr[0] > 0 ? tr[1] / tr[0] : 0;
        sd_step(e, omega, z, &v[T], x, &v[R], &square);
        gram_of(e, &v[SHADOW], &v[R], rr);
        action = sd_monitor_step(m, sqrt(square));
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
        if (action == SD_GO_ON && sd_vanishes(precision, tr))
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_OMEGA);
    }
    sd_vectors_free(e, VECTORS, v);
}
