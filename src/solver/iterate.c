/*
 * Scale b to about 1, iterate, scale x back.
 *
 * Mixed precision is refinement around the iteration: corrections are computed in single, residuals
 * and x are kept in double (Higham and Mary, Mixed precision algorithms in numerical linear algebra,
 * Acta Numerica 2022, section 5).
 */
#include "solver/iterate.h"

#include "core/power.h"
#include "solve/krylov.h"

#include <math.h>
#include <string.h>

static const double MIXED_INNER_TOL = 1e-4; /* a correction in single: four digits, safely reached */
enum { MIXED_MOST = 50 };

static void run_method(int krylov, sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    switch (krylov) {
    case SADDLE_KRYLOV_CG: sd_cg(e, s, x, m); break;
    case SADDLE_KRYLOV_FCG: sd_fcg(e, s, x, m); break;
    case SADDLE_KRYLOV_MINRES: sd_minres(e, s, x, m); break;
    case SADDLE_KRYLOV_SQMR: sd_sqmr(e, s, x, m); break;
    case SADDLE_KRYLOV_FGMRES: sd_fgmres(e, s, x, m); break;
    case SADDLE_KRYLOV_BICGSTAB: sd_bicgstab(e, s, x, m); break;
    case SADDLE_KRYLOV_REFINE: sd_refine(e, s, x, m); break;
    case SADDLE_KRYLOV_NONE:
        sd_precondition(e, s->M, s->b, x);
        sd_monitor_give_up(m, SADDLE_REASON_NO_ITERATION);
        break;
    default: sd_gmres(e, s, x, m); break;
    }
}

static void apply_negative(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    sd_precondition(e, self, r, z);
    sd_scale(e, -1.0, z);
}

static bool wants_positive(int krylov)
{
    return krylov == SADDLE_KRYLOV_CG || krylov == SADDLE_KRYLOV_MINRES || krylov == SADDLE_KRYLOV_FCG;
}

/* M as a method wants it: where only definite ones will do, -M makes the same iterates of a negative one. CG
 * then says of A that it is not positive definite. */
static sd_preconditioner definite(const sd_preconditioner *M, int krylov)
{
    if (!M->negative || !wants_positive(krylov)) return *M;
    return (sd_preconditioner){
        .apply = apply_negative, .self = M, .positive = true, .symmetric = M->symmetric};
}

/* Why a method may not even begin; SADDLE_REASON_NONE where it may. */
static saddle_reason refusal(const sd_problem *p, const sd_preconditioner *M, int krylov)
{
    const bool flexible = krylov == SADDLE_KRYLOV_FCG;
    const bool needs_symmetry =
        krylov == SADDLE_KRYLOV_CG || krylov == SADDLE_KRYLOV_MINRES || krylov == SADDLE_KRYLOV_SQMR;
    if ((needs_symmetry || flexible) && !p->facts->symmetric) return SADDLE_REASON_NOT_SYMMETRIC;
    if (needs_symmetry && !M->symmetric) return SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER;
    if (wants_positive(krylov) && !M->positive) return SADDLE_REASON_PRECONDITIONER;
    return SADDLE_REASON_NONE;
}

/* History goes on where an attempt before it left off. */
static void share_history(const saddle_info *info, sd_monitor *m)
{
    if (!info->history || info->history_room <= info->history_length) return;
    m->history = info->history + info->history_length;
    m->history_room = info->history_room - info->history_length;
}

/* Iterates on b (host, scaled to about 1) in one precision; x, which may be b, is the best that was seen. */
static saddle_status iterate(sd_engine *e, const sd_problem *p, sd_precision precision, const sd_goal *goal,
                             const double *b, double *x, sd_attempt *attempt, saddle_info *info)
{
    const sd_operator *op = &p->op[precision];
    const int32_t n = op->sparse.n;
    sd_preconditioner own = {0};
    attempt->method->precondition(e, p, attempt->factors, op, &own);
    const sd_preconditioner M = definite(&own, attempt->krylov);
    sd_vector vectors[2] = {sd_vector_new(e, precision, n, "right-hand side"),
                            sd_vector_new(e, precision, n, "solution")};
    const sd_system s = {&op->sparse, op->norm_inf, &M, &vectors[0], goal->restart};
    sd_monitor m;
    sd_vector_put(e, b, &vectors[0]);
    sd_monitor_begin(&m, e, &s, goal->tol, goal->stop, goal->maxiter);
    share_history(info, &m);
    m.race = goal->race;
    if (!e->status) {
        sd_monitor_give_up(&m, refusal(p, &M, attempt->krylov));
        if (goal->maxiter == 0) sd_monitor_give_up(&m, SADDLE_REASON_MAXITER);
        if (!m.reason) run_method(attempt->krylov, e, &s, &vectors[1], &m);
        sd_monitor_conclude(&m, &vectors[1]);
        sd_vector_get(e, &m.best_x, x);
    }
    info->history_length += m.history_length;
    attempt->iterations += m.iterations;
    attempt->converged = m.converged;
    attempt->reason = m.reason;
    sd_monitor_end(&m);
    sd_vectors_free(e, 2, vectors);
    sd_preconditioner_free(e, &own);
    return e->status;
}

/* r = (b - A x) with op in double: everything scaled to about 1 already. */
static void host_residual(sd_engine *e, const sd_operator *op, const double *b, const double *x, double *r)
{
    sd_vector v[3];
    for (int k = 0; k < 3; ++k) v[k] = sd_vector_new(e, SD_DOUBLE, op->sparse.n, "residual");
    sd_engine_reserve(e, op->sparse.n, &op->sparse);
    sd_vector_put(e, b, &v[0]);
    sd_vector_put(e, x, &v[1]);
    if (!e->status) sd_residual_dd(e, &op->sparse, &v[1], &v[0], &v[2]);
    sd_vector_get(e, &v[2], r);
    sd_vectors_free(e, 3, v);
}

static double host_norm(const double *r, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; ++i) sum += r[i] * r[i];
    return sqrt(sum);
}

/* x, which holds b on entry, in units of 2^-op.exponent of double; corrections in units of single. */
static saddle_status iterate_mixed(sd_engine *e, const sd_problem *p, const sd_goal *goal, double *x,
                                   sd_attempt *attempt, saddle_info *info)
{
    const int32_t n = p->A->n;
    const int apart = p->op[SD_DOUBLE].exponent - p->op[SD_SINGLE].exponent;
    double *work = sd_alloc(e->context, 4 * (int64_t)n, sizeof *work, "mixed precision");
    if (!work) return e->status = e->context->status;
    double *r = work, *d = r + n, *trial = d + n, *b = trial + n;
    memcpy(b, x, (size_t)n * sizeof *b);
    memcpy(r, b, (size_t)n * sizeof *r);
    memset(x, 0, (size_t)n * sizeof *x);
    double norm = host_norm(r, n);
    const bool residual = goal->stop == SADDLE_STOP_ANY || goal->stop == SADDLE_STOP_RESIDUAL;
    const double least = (residual ? goal->tol : 0.0) * norm;
    for (int pass = 0; pass < MIXED_MOST && norm > least && !e->status; ++pass) {
        const int shift = sd_largest_exponent(r, n);
        const sd_goal inner = {.tol = MIXED_INNER_TOL,
                               .stop = SADDLE_STOP_RESIDUAL,
                               .restart = goal->restart,
                               .maxiter = goal->maxiter - attempt->iterations};
        sd_shift(n, r, -shift, r);
        if (iterate(e, p, SD_SINGLE, &inner, r, d, attempt, info)) break;
        for (int32_t i = 0; i < n; ++i) trial[i] = x[i] + ldexp(d[i], shift + apart);
        host_residual(e, &p->op[SD_DOUBLE], b, trial, r);
        const double next = host_norm(r, n);
        const bool better = next < norm;
        if (better) memcpy(x, trial, (size_t)n * sizeof *x);
        const bool on =
            attempt->reason == SADDLE_REASON_RESIDUAL || attempt->reason == SADDLE_REASON_STAGNATION;
        attempt->converged = better && next <= least;
        if (attempt->converged || !on) break;
        attempt->reason = SADDLE_REASON_STAGNATION;
        if (next > 0.5 * norm) break;
        norm = next;
    }
    if (attempt->converged) attempt->reason = SADDLE_REASON_RESIDUAL;
    sd_free(e->context, work);
    return e->status;
}

saddle_status sd_iterate(sd_engine *e, const sd_problem *p, const sd_goal *goal, const double *b, double *x,
                         sd_attempt *attempt, saddle_info *info)
{
    const int32_t n = p->A->n;
    const sd_precision precision = goal->precision == SADDLE_PRECISION_SINGLE ? SD_SINGLE : SD_DOUBLE;
    const int of_b = sd_largest_exponent(b, n);
    sd_shift(n, b, -of_b, x); /* b gives way to x */
    const saddle_status status = goal->precision == SADDLE_PRECISION_MIXED
                                     ? iterate_mixed(e, p, goal, x, attempt, info)
                                     : iterate(e, p, precision, goal, x, x, attempt, info);
    bool finite = true;
    if (!status) sd_shift(n, x, of_b - p->op[precision].exponent, x);
    for (int32_t i = 0; i < n && !status; ++i) finite = finite && isfinite(x[i]);
    if (!finite) {
        attempt->converged = false;
        attempt->reason = SADDLE_REASON_OVERFLOW;
    }
    if (status || !finite) memset(x, 0, (size_t)n * sizeof *x);
    return status;
}
