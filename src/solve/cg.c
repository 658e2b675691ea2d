/*
 * Conjugate gradients with a preconditioner (Hestenes and Stiefel; Saad, Iterative methods for sparse
 * linear systems, 2nd ed., algorithm 9.1), for A and M positive definite.
 *
 * p'Ap <= 0 proves that A is not positive definite, r'z < 0 that M is not: both are named.
 *
 * Where M changes from one iteration to the next, the new direction is made conjugate to the one before it
 * (Y. Notay, Flexible conjugate gradients, 2000, with one direction kept): p <- z - (z'Ap / p'Ap) p. With a
 * fixed M that is the same in exact arithmetic, for one more product of vectors.
 */
#include "solve/krylov.h"

#include <math.h>

static void iterate(sd_engine *e, const sd_system *s, bool flexible, sd_vector *x, sd_monitor *m)
{
    sd_vector v[4] = {{0}};
    sd_vector *r = &v[0], *p = &v[2], *q = &v[3];
    sd_action action = sd_vectors_new(e, s->b, 4, v) ? SD_STOP : SD_RESTART;
    double rho = 0;
    while (action != SD_STOP && !e->status) {
        if (action == SD_RESTART) {
            sd_copy(e, &m->r, r);
            const sd_vector *z = sd_preconditioned(e, s->M, r, &v[1]);
            sd_copy(e, z, p);
            rho = sd_dot_of(e, r, z);
        }
        if (rho < 0) {
            sd_monitor_give_up(m, SADDLE_REASON_PRECONDITIONER);
            break;
        }
        /* all of a step before any of it is known: one trip. Where p'q is not above 0, the step is 0. */
        double pq[3] = {0}, rz[3] = {0}, zq[3] = {0}, square = 0;
        const sd_scalar alpha = {.over = {&rho}, .under = {&pq[1]}, .positive = true};
        sd_spmv(e, s->A, p, q);
        sd_gram(e, p, q, pq);
        sd_advance(e, &alpha, p, q, x, r, &square);
        const sd_vector *z = sd_preconditioned(e, s->M, r, &v[1]);
        if (z != r) sd_gram(e, r, z, rz);
        if (flexible) sd_gram(e, z, q, zq);
        sd_wait(e);
        const double curvature = pq[1], next = z == r ? square : rz[1];
        if (!(curvature > 0)) {
            sd_monitor_give_up(m, isnan(curvature) ? SADDLE_REASON_OVERFLOW : SADDLE_REASON_NOT_POSITIVE);
            break;
        }
        action = sd_monitor_step(m, sqrt(square));
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
        if (action != SD_GO_ON) continue;
        const double along = -zq[1];
        const sd_scalar beta = {.over = {flexible ? &along : &next}, .under = {flexible ? &curvature : &rho}};
        sd_direction(e, z, &beta, NULL, NULL, p);
        rho = next;
    }
    sd_vectors_free(e, 4, v);
}

void sd_cg(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    iterate(e, s, false, x, m);
}

void sd_fcg(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    iterate(e, s, true, x, m);
}
