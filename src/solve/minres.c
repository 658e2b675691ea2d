/*
 * MINRES (Paige and Saunders, Solution of sparse indefinite systems of linear equations, SIAM J.
 * Numer. Anal. 12, 1975) with a positive definite preconditioner: Lanczos in the inner product of
 * M^-1, a QR factorization of the tridiagonal matrix by rotations, and x by a three-term recurrence.
 *
 * phi is the residual norm in M^-1, which the monitor relates to the 2-norm. An indefinite M makes
 * the "norm" r'M^-1 r negative: refused by name. When |A r| has fallen far below |A||r|, x is close to
 * a least-squares solution: the next step would divide by that little, and is not taken. The process
 * begins again from the true residual, which either leads on or ends in the null space.
 */
#include "solve/krylov.h"

#include <float.h>
#include <math.h>

typedef struct lanczos {
    sd_vector v[7];
    double beta, old_beta; /* of the Lanczos process */
    double dbar, epsilon;  /* what the rotations have left of the next columns */
    double cs, sn, phi;
    double gradient; /* the largest |A r| / |r| since the start, in the norms of the process */
    bool first;
} lanczos;

static const double DIP = 1e-8; /* of |A r| / |r| since the start, beyond which rounding takes over */

enum { OLD_R, R, Y, V, W, OLD_W, OLDER_W, VECTORS };

/* r'M^-1 r for the new Lanczos vector: its root, or -1 where M is not positive definite. */
static double norm_in_m(sd_engine *e, const sd_system *s, const sd_vector *r, sd_vector *y)
{
    sd_precondition(e, s->M, r, y);
    const double square = sd_dot_of(e, r, y);
    if (square >= 0 || isnan(square)) return sqrt(square);
    const double rounding = DBL_EPSILON * sqrt(sd_dot_of(e, r, r) * sd_dot_of(e, y, y));
    return square < -rounding ? -1 : 0;
}

static bool start(sd_engine *e, const sd_system *s, lanczos *l, sd_monitor *m)
{
    sd_copy(e, &m->r, &l->v[R]);
    sd_fill(e, 0.0, &l->v[OLD_R]);
    sd_fill(e, 0.0, &l->v[W]);
    sd_fill(e, 0.0, &l->v[OLD_W]);
    l->beta = norm_in_m(e, s, &l->v[R], &l->v[Y]);
    if (l->beta < 0) return false;
    l->old_beta = l->dbar = l->epsilon = l->sn = l->gradient = 0;
    l->cs = -1;
    l->phi = l->beta;
    l->first = true;
    return true;
}

/* The next Lanczos vector; alpha, or NaN where M is refused. */
static double advance(sd_engine *e, const sd_system *s, lanczos *l)
{
    sd_axpby(e, 1 / l->beta, &l->v[Y], 0.0, &l->v[V]);
    sd_spmv(e, s->A, &l->v[V], &l->v[Y]);
    if (!l->first) sd_axpy(e, -l->beta / l->old_beta, &l->v[OLD_R], &l->v[Y]);
    l->first = false;
    const double alpha = sd_dot_of(e, &l->v[V], &l->v[Y]);
    sd_axpy(e, -alpha / l->beta, &l->v[R], &l->v[Y]);
    const sd_vector oldest = l->v[OLD_R];
    l->v[OLD_R] = l->v[R];
    l->v[R] = l->v[Y];
    l->v[Y] = oldest;
    l->old_beta = l->beta;
    l->beta = norm_in_m(e, s, &l->v[R], &l->v[Y]);
    return l->beta < 0 ? NAN : alpha;
}

/* Whether r has come as close to the null space as one run of the process brings it. */
static bool is_least_squares(lanczos *l, double alpha)
{
    const double gradient = hypot(l->sn * l->dbar - l->cs * alpha, l->cs * l->beta);
    l->gradient = fmax(l->gradient, gradient);
    return gradient <= DIP * l->gradient;
}

/* Rotates the new column of the tridiagonal matrix and moves x along w. */
static void move(sd_engine *e, lanczos *l, double alpha, sd_vector *x)
{
    const double old_epsilon = l->epsilon;
    const double delta = l->cs * l->dbar + l->sn * alpha;
    const double gbar = l->sn * l->dbar - l->cs * alpha;
    l->epsilon = l->sn * l->beta;
    l->dbar = -l->cs * l->beta;
    double gamma = hypot(gbar, l->beta);
    if (gamma == 0) gamma = DBL_MIN;
    l->cs = gbar / gamma;
    l->sn = l->beta / gamma;
    const double step = l->cs * l->phi;
    l->phi *= l->sn;
    const sd_vector oldest = l->v[OLDER_W];
    l->v[OLDER_W] = l->v[OLD_W];
    l->v[OLD_W] = l->v[W];
    l->v[W] = oldest;
    sd_axpby(e, 1 / gamma, &l->v[V], 0.0, &l->v[W]);
    sd_axpy(e, -old_epsilon / gamma, &l->v[OLDER_W], &l->v[W]);
    sd_axpy(e, -delta / gamma, &l->v[OLD_W], &l->v[W]);
    sd_axpy(e, step, &l->v[W], x);
}

void sd_minres(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    lanczos l = {0};
    sd_action action = sd_vectors_new(e, s->b, VECTORS, l.v) ? SD_STOP : SD_RESTART;
    while (action != SD_STOP && !e->status) {
        if (action == SD_RESTART && !start(e, s, &l, m)) {
            sd_monitor_give_up(m, SADDLE_REASON_PRECONDITIONER);
            break;
        }
        if (l.beta == 0) { /* the space is exhausted: x is as good as it gets */
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_STAGNATION);
            continue;
        }
        const double alpha = advance(e, s, &l);
        if (isnan(alpha)) {
            sd_monitor_give_up(m, isnan(l.beta) ? SADDLE_REASON_OVERFLOW : SADDLE_REASON_PRECONDITIONER);
            break;
        }
        if (is_least_squares(&l, alpha)) {
            action = sd_monitor_breakdown(m, x, SADDLE_REASON_STAGNATION);
            continue;
        }
        move(e, &l, alpha, x);
        action = sd_monitor_step(m, l.phi);
        if (action == SD_LOOK) action = sd_monitor_look(m, x);
    }
    sd_vectors_free(e, VECTORS, l.v);
}
