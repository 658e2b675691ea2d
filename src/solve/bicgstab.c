/*
 * BiCGSTAB (van der Vorst 1992; Saad, algorithm 7.7), preconditioned on the right so that its residual
 * is that of the system. Its breakdowns (r0'r near 0, omega near 0) begin again from the true
 * residual with a new shadow vector, and are named where that does not help. So does stagnation, more often
 * than in methods whose residuals fall steadily: where this one stands still depends on rounding.
 */
#include "solve/krylov.h"

#include <math.h>

enum { R, SHADOW, P, V, Z, T, VECTORS };
enum { PATIENCE = 4 }; /* restarts in vain */

/*
 * Of an iteration: x'x, x'y and y'y of the shadow and r, the shadow and v, r and t. alpha = rho / sigma and
 * omega = t'r / t't are made of them where the vectors are, so that an iteration is one trip. Where sigma
 * vanishes alpha is 0.
 */
typedef struct products {
    double sr[3], sv[3], rt[3], square;
    double rho, alpha, omega;
} products;

/* Everything from v = A M^-1 p to the new r and its product with the shadow. */
static void iterate(sd_engine *e, const sd_system *s, sd_vector *v, sd_vector *x, products *d)
{
    const double rounding = sd_rounding(x->precision);
    const sd_scalar alpha = {.over = {&d->rho}, .under = {&d->sv[1]}, .gram = d->sv, .rounding = rounding};
    const sd_scalar omega = {.over = {&d->rt[1]}, .under = {&d->rt[2]}, .positive = true};
    d->rho = d->sr[1];
    const sd_vector *z = sd_preconditioned(e, s->M, &v[P], &v[Z]);
    sd_spmv(e, s->A, z, &v[V]);
    sd_gram(e, &v[SHADOW], &v[V], d->sv);
    sd_advance(e, &alpha, z, &v[V], x, &v[R], &d->square);
    z = sd_preconditioned(e, s->M, &v[R], &v[Z]);
    sd_spmv(e, s->A, z, &v[T]);
    sd_gram(e, &v[R], &v[T], d->rt);
    sd_advance(e, &omega, z, &v[T], x, &v[R], &d->square);
    sd_gram(e, &v[SHADOW], &v[R], d->sr);
    sd_wait(e);
    d->alpha = sd_scalar_value(&alpha);
    d->omega = sd_scalar_value(&omega);
}

void sd_bicgstab(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    sd_vector v[VECTORS] = {{0}};
    const double rounding = sd_rounding(s->b->precision);
    products d = {.rho = 0};
    m->patience = PATIENCE;
    sd_action action = sd_vectors_new(e, s->b, VECTORS, v) ? SD_STOP : SD_RESTART;
    while (action != SD_STOP && !e->status) {
        const bool fresh = action == SD_RESTART;
        if (fresh) {
            sd_copy(e, &m->r, &v[R]);
            sd_copy(e, &m->r, &v[SHADOW]);
            sd_copy(e, &m->r, &v[P]);
            sd_gram(e, &v[SHADOW], &v[R], d.sr);
            sd_wait(e);
        }
        if (sd_gram_vanishes(d.sr, rounding)) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_RHO);
            continue;
        }
        if (!fresh) {
            const sd_scalar beta = {.over = {&d.sr[1], &d.alpha}, .under = {&d.rho, &d.omega}};
            const sd_scalar omega = {.over = {&d.omega}};
            sd_direction(e, &v[R], &beta, &omega, &v[V], &v[P]);
        }
        iterate(e, s, v, x, &d);
        if (sd_gram_vanishes(d.sv, rounding)) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_SIGMA);
            continue;
        }
        action = sd_monitor_step(m, sqrt(d.square));
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
        if (action == SD_GO_ON && sd_gram_vanishes(d.rt, rounding))
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_BREAKDOWN_OMEGA);
    }
    sd_vectors_free(e, VECTORS, v);
}
