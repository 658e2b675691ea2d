/*
 * Refinement: x += M^-1 (b - Ax), with the residual accumulated in double-double at every step
 * (Wilkinson; Higham, Accuracy and stability of numerical algorithms, chapter 12). With a good M, such
 * as a factorization, a few steps reach rounding; with a diagonal it is Jacobi's method.
 */
#include "solve/krylov.h"

#include <math.h>

void sd_refine(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    sd_vector z = sd_vector_new(e, s->b->precision, s->b->n, "correction");
    sd_action action = e->status ? SD_STOP : SD_GO_ON;
    while (action != SD_STOP && !e->status) {
        sd_precondition(e, s->M, &m->r, &z);
        sd_axpy(e, 1.0, &z, x);
        sd_residual_dd(e, s->A, x, s->b, &m->r);
        action = sd_monitor_step(m, sqrt(sd_dot_of(e, &m->r, &m->r)));
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
    }
    sd_vector_free(e, &z);
}
