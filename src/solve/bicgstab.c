/*
 * BiCGSTAB (van der Vorst 1992; Saad, algorithm 7.7), preconditioned on the right so that its residual
 * is that of the system. Its breakdowns (r0'r near 0, omega near 0) begin again from the true
 * residual with a new shadow vector, and are named where that does not help.
 */
#include "solve/krylov.h"

#include <math.h>

enum { R, SHADOW, P, V, Z, T, VECTORS };

void sd_bicgstab(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    sd_vector v[VECTORS] = {{0}};
    double rho = 0, alpha = 0, omega = 0;
    sd_action action = sd_vectors_new(e, s->b, VECTORS, v) ? SD_STOP : SD_RESTART;
    while (action != SD_STOP && !e->status) {
        const double old_rho = rho;
        const bool fresh = action == SD_RESTART;
        if (fresh) {
            sd_copy(e, &m->r, &v[R]);
            sd_copy(e, &m->r, &v[SHADOW]);
            sd_copy(e, &m->r, &v[P]);
        }
        rho = sd_dot_of(e, &v[SHADOW], &v[R]);
        if (sd_vanishes(e, rho, &v[SHADOW], &v[R])) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_RHO);
            continue;
        }
        if (!fresh) {
            sd_axpy(e, -omega, &v[V], &v[P]);
            sd_axpby(e, 1.0, &v[R], rho / old_rho * (alpha / omega), &v[P]);
        }
        sd_precondition(e, s->M, &v[P], &v[Z]);
        sd_spmv(e, s->A, &v[Z], &v[V]);
        const double sigma = sd_dot_of(e, &v[SHADOW], &v[V]);
        if (sd_vanishes(e, sigma, &v[SHADOW], &v[V])) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_SIGMA);
            continue;
        }
        alpha = rho / sigma;
        sd_axpy(e, alpha, &v[Z], x);
        sd_axpy(e, -alpha, &v[V], &v[R]);
        sd_precondition(e, s->M, &v[R], &v[Z]);
        sd_spmv(e, s->A, &v[Z], &v[T]);
        const double along = sd_dot_of(e, &v[T], &v[R]);
        const double square = sd_dot_of(e, &v[T], &v[T]);
        omega = square > 0 ? along / square : 0;
        sd_axpy(e, omega, &v[Z], x);
        const bool stuck = sd_vanishes(e, along, &v[T], &v[R]);
        sd_axpy(e, -omega, &v[T], &v[R]);
        action = sd_monitor_step(m, sqrt(sd_dot_of(e, &v[R], &v[R])));
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
        if (action == SD_GO_ON && stuck) action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_OMEGA);
    }
    sd_vectors_free(e, VECTORS, v);
}
