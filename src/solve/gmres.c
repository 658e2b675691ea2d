/*
 * GMRES(m) (Saad and Schultz 1986) and FGMRES(m) (Saad 1993), preconditioned on the right, so that
 * what they minimise is the residual of the system itself, whatever M is.
 *
 * The basis is orthogonalised by classical Gram-Schmidt, twice (Giraud, Langou and Rozloznik: twice is
 * enough): two passes over the basis in panels of SD_PANEL vectors. What the second leaves of w has the
 * norm sqrt(w'w - h'h), h its coefficients, and is only measured where these are not small relative to w.
 * Panels are allocated as they are reached, so that a solve that needs ten vectors does not pay for a
 * hundred.
 */
#include "solve/krylov.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SMALL_PART = 1e-2; /* of w'w: what is left without so little has lost no digit */
static const double DEPENDENT_TO = 16 * DBL_EPSILON; /* what is left of a column relative to its norm */

typedef struct basis {
    sd_vector *panel; /* each of SD_PANEL vectors, one after the other */
    int panels;
} basis;

typedef struct cycle {
    sd_engine *e;
    const sd_system *s;
    bool flexible;
    int64_t most; /* columns in a cycle */
    basis v, z;   /* z only where flexible */
    double *h;    /* R of the Hessenberg matrix, column k at h + k (most + 1) */
    double *cs, *sn, *g, *y;
    sd_vector w, u, trial;
} cycle;

static sd_vector basis_at(const basis *b, int64_t k, const sd_vector *like)
{
    const sd_vector *panel = &b->panel[k / SD_PANEL];
    char *data = panel->data;
    data += (size_t)(k % SD_PANEL) * (size_t)like->n * sd_precision_size(like->precision);
    return (sd_vector){data, like->n, like->precision};
}

/* Makes sure that vector k exists. */
static bool basis_reach(sd_engine *e, basis *b, int64_t k, const sd_vector *like)
{
    if (k / SD_PANEL < b->panels) return true;
    b->panel[b->panels] = sd_vector_new(e, like->precision, SD_PANEL * like->n, "basis vectors of GMRES");
    if (e->status) return false;
    ++b->panels;
    return true;
}

static void basis_free(sd_engine *e, basis *b)
{
    for (int k = 0; k < b->panels; ++k) sd_vector_free(e, &b->panel[k]);
    sd_free(e->context, b->panel);
}

static saddle_status cycle_new(cycle *c)
{
    sd_context *context = c->e->context;
    const sd_vector *b = c->s->b;
    const int64_t rows = c->most + 1;
    c->v.panel = sd_alloc(context, rows / SD_PANEL + 1, sizeof(sd_vector), "panels of GMRES");
    c->z.panel = sd_alloc(context, rows / SD_PANEL + 1, sizeof(sd_vector), "panels of GMRES");
    c->h = sd_alloc_zero(context, c->most * rows + 4 * rows, sizeof(double), "Hessenberg matrix of GMRES");
    if (!c->v.panel || !c->z.panel || !c->h) return c->e->status = context->status;
    c->cs = c->h + c->most * rows;
    c->sn = c->cs + rows;
    c->g = c->sn + rows;
    c->y = c->g + rows;
    c->w = sd_vector_new(c->e, b->precision, b->n, "vectors of GMRES");
    c->u = sd_vector_new(c->e, b->precision, b->n, "vectors of GMRES");
    c->trial = sd_vector_new(c->e, b->precision, b->n, "vectors of GMRES");
    return c->e->status;
}

static void cycle_free(cycle *c)
{
    basis_free(c->e, &c->v);
    basis_free(c->e, &c->z);
    sd_free(c->e->context, c->h);
    sd_vector_free(c->e, &c->w);
    sd_vector_free(c->e, &c->u);
    sd_vector_free(c->e, &c->trial);
}

/* x0 + M^-1 V y, or x0 + Z y, with R y = g, into trial. */
static void form_solution(cycle *c, const sd_vector *x0, int64_t columns)
{
    const int64_t rows = c->most + 1;
    for (int64_t i = columns - 1; i >= 0; --i) {
        double sum = c->g[i];
        for (int64_t k = i + 1; k < columns; ++k) sum -= c->h[k * rows + i] * c->y[k];
        c->y[i] = c->h[i * rows + i] != 0 ? sum / c->h[i * rows + i] : 0;
    }
    sd_vector *target = c->flexible || !c->s->M->apply ? &c->trial : &c->w;
    const basis *b = c->flexible ? &c->z : &c->v;
    if (target == &c->trial)
        sd_copy(c->e, x0, &c->trial);
    else
        sd_fill(c->e, 0.0, &c->w);
    sd_basis_axpy(c->e, (int)columns, 1.0, c->y, b->panel, target);
    if (target == &c->trial) return;
    sd_precondition(c->e, c->s->M, &c->w, &c->trial);
    sd_axpy(c->e, 1.0, x0, &c->trial);
}

/* Applies the rotations so far to column k, makes the next one, and returns the residual norm. Where
 * the space is exhausted and the column depends on those before it, A is singular there, and the
 * column takes no part. */
static double rotate(cycle *c, int64_t k, double column, double length)
{
    double *h = c->h + k * (c->most + 1);
    for (int64_t i = 0; i < k; ++i) {
        const double t = c->cs[i] * h[i] + c->sn[i] * h[i + 1];
        h[i + 1] = c->cs[i] * h[i + 1] - c->sn[i] * h[i];
        h[i] = t;
    }
    const double pivot = hypot(h[k], h[k + 1]);
    const bool dependent = length == 0 && pivot <= DEPENDENT_TO * column;
    c->cs[k] = dependent ? 0 : h[k] / pivot;
    c->sn[k] = dependent ? 1 : h[k + 1] / pivot;
    h[k] = dependent ? 0 : pivot;
    h[k + 1] = 0;
    c->g[k + 1] = -c->sn[k] * c->g[k];
    c->g[k] *= c->cs[k];
    return fabs(c->g[k + 1]);
}

/* The next basis vector, from vector k: false where memory ran out. *column is the norm of A M^-1 v_k,
 * *length what is left of it outside the space so far, 0 where that is exhausted. */
static bool expand(cycle *c, int64_t k, double *column, double *length)
{
    sd_engine *e = c->e;
    double *h = c->h + k * (c->most + 1);
    if (!basis_reach(e, &c->v, k + 1, c->s->b) || (c->flexible && !basis_reach(e, &c->z, k, c->s->b)))
        return false;
    sd_vector v = basis_at(&c->v, k, c->s->b), next = basis_at(&c->v, k + 1, c->s->b);
    sd_vector z = c->flexible ? basis_at(&c->z, k, c->s->b) : c->u;
    const sd_vector *from = &z;
    if (c->flexible)
        sd_precondition(e, c->s->M, &v, &z);
    else
        from = sd_preconditioned(e, c->s->M, &v, &z);
    sd_spmv(e, c->s->A, from, &c->w);
    const int count = (int)k + 1;
    memset(h, 0, (size_t)(c->most + 1) * sizeof *h);
    sd_basis_dot(e, count, c->v.panel, &c->w, h);
    sd_basis_axpy(e, count, -1.0, h, c->v.panel, &c->w);
    sd_basis_dot(e, count, c->v.panel, &c->w, c->y);
    sd_wait(e);
    sd_basis_axpy(e, count, -1.0, c->y, c->v.panel, &c->w);
    const double first = h[count], second = c->y[count]; /* w'w as it came, and after one pass */
    double gone = 0;                                     /* of its square, in the other */
    for (int64_t i = 0; i <= k; ++i) {
        h[i] += c->y[i];
        gone += c->y[i] * c->y[i];
    }
    *column = sqrt(first);
    *length = sqrt(gone <= SMALL_PART * second ? second - gone : sd_dot_of(e, &c->w, &c->w));
    if (*length <= DBL_EPSILON * *column) *length = 0;
    h[k + 1] = *length;
    if (*length > 0) sd_axpby(e, 1 / *length, &c->w, 0.0, &next);
    return !e->status;
}

/* One cycle, beginning at the true residual in m->r; x moves to its end. */
static sd_action run_cycle(cycle *c, sd_vector *x, sd_monitor *m)
{
    const double beta = sqrt(sd_dot_of(c->e, &m->r, &m->r));
    if (!basis_reach(c->e, &c->v, 0, c->s->b)) return SD_STOP;
    sd_vector v0 = basis_at(&c->v, 0, c->s->b);
    sd_axpby(c->e, 1 / beta, &m->r, 0.0, &v0);
    c->g[0] = beta;
    for (int64_t k = 0; k < c->most; ++k) {
        double column, length;
        if (!expand(c, k, &column, &length)) return SD_STOP;
        sd_action action = sd_monitor_step(m, rotate(c, k, column, length));
        const bool end = k + 1 == c->most || length == 0;
        if (action == SD_LOOK || action == SD_STOP || end) {
            form_solution(c, x, k + 1);
            if (action == SD_STOP || end) sd_copy(c->e, &c->trial, x);
        }
        if (action == SD_LOOK || (action == SD_GO_ON && end)) {
            action = sd_monitor_look(m, &c->trial);
            if (action == SD_STOP || action == SD_RESTART) sd_copy(c->e, &c->trial, x);
        }
        if (action == SD_STOP || action == SD_RESTART) return action;
        if (length == 0) return sd_monitor_breakdown(m, x, SADDLE_REASON_STAGNATION);
    }
    return SD_GO_ON;
}

static void solve(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m, bool flexible)
{
    cycle c = {.e = e, .s = s, .flexible = flexible, .most = s->restart < s->b->n ? s->restart : s->b->n};
    sd_action action = cycle_new(&c) ? SD_STOP : SD_GO_ON;
    int stalled = 0;
    while (action != SD_STOP && !e->status) {
        const double before = m->relative;
        action = run_cycle(&c, x, m);
        /* a restarted method that gains nothing in a cycle never will: the next one is the same */
        stalled = m->relative > 0.999 * before ? stalled + 1 : 0;
        if (action != SD_STOP && stalled == 3) {
            sd_monitor_give_up(m, SADDLE_REASON_STAGNATION);
            action = SD_STOP;
        }
    }
    cycle_free(&c);
}

void sd_gmres(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    solve(e, s, x, m, false);
}

void sd_fgmres(sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    solve(e, s, x, m, true);
}
