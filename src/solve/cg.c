/*
 * Conjugate gradients with a preconditioner (Hestenes and Stiefel; Saad, Iterative methods for sparse
 * linear systems, 2nd ed., algorithm 9.1), for A and M positive definite.
 *
 * p'Ap <= 0 proves that A is not positive definite, r'z < 0 that M is not: both are named.
 */
#include "solve/krylov.h"

#include <math.h>

void sd_cg(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    sd_vector v[4] = {{0}};
    sd_vector *r = &v[0], *z = &v[1], *p = &v[2], *q = &v[3];
    sd_action action = sd_vectors_new(e, s->b, 4, v) ? SD_STOP : SD_RESTART;
    double rho = 0;
    while (action != SD_STOP && !e->status) {
        if (action == SD_RESTART) {
            sd_copy(e, &m->r, r);
            sd_precondition(e, s->M, r, z);
            sd_copy(e, z, p);
            rho = sd_dot_of(e, r, z);
        }
        if (rho < 0) {
            sd_monitor_give_up(m, SADDLE_REASON_PRECONDITIONER);
            break;
        }
        sd_spmv(e, s->A, p, q);
        const double curvature = sd_dot_of(e, p, q);
        if (!(curvature > 0)) {
            sd_monitor_give_up(m, isnan(curvature) ? SADDLE_REASON_OVERFLOW : SADDLE_REASON_NOT_POSITIVE);
            break;
        }
        const double alpha = rho / curvature;
        sd_axpy(e, alpha, p, x);
        sd_axpy(e, -alpha, q, r);
        action = sd_monitor_step(m, sqrt(sd_dot_of(e, r, r)));
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
        if (action != SD_GO_ON) continue;
        sd_precondition(e, s->M, r, z);
        const double next = sd_dot_of(e, r, z);
        sd_axpby(e, 1.0, z, next / rho, p);
        rho = next;
    }
    sd_vectors_free(e, 4, v);
}
