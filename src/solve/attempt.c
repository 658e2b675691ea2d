/*
 * One attempt at a right-hand side: scale b to about 1, iterate, scale x back.
 *
 * Mixed precision is refinement around the iteration: corrections are computed in single, residuals
 * and x are kept in double (Higham and Mary, Mixed precision algorithms in numerical linear algebra,
 * Acta Numerica 2022, section 5).
 */
#include "core/power.h"
#include "solve/krylov.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

static const double MIXED_INNER_TOL = 1e-4; /* a correction in single: four digits, safely reached */
enum { MIXED_MOST = 50 };

/* Conjugate gradients where all is definite; otherwise FGMRES, and SQMR where its vectors would take more
 * than half of the memory that is left. */
static int choose_for_ldlt(const saddle_solver *s)
{
    const saddle_options *o = &s->options;
    const bool symmetric = sd_trisolve_symmetric(s->ldlt.trisolve);
    const int64_t vectors = 2 * (o->restart < o->maxiter ? o->restart : o->maxiter);
    const double bytes =
        (double)vectors * (double)s->A.n * (double)sd_precision_size(sd_iteration_precision(s));
    if (symmetric && s->ldlt.positive && s->facts.kind == SADDLE_KIND_SPD) return SADDLE_KRYLOV_CG;
    if (symmetric && o->max_memory > 0 && bytes > 0.5 * (double)(o->max_memory - s->c.bytes))
        return SADDLE_KRYLOV_SQMR;
    return SADDLE_KRYLOV_FGMRES;
}

int sd_choose_krylov(const saddle_solver *solver, int method)
{
    const int asked = solver->options.krylov;
    const bool blocks = method == SADDLE_METHOD_BJACOBI;
    const bool positive =
        method == SADDLE_METHOD_NONE || (blocks ? solver->block_jacobi.positive : solver->diagonal.positive);
    if (asked != SADDLE_KRYLOV_AUTO) return asked;
    if (method == SADDLE_METHOD_DIRECT) return SADDLE_KRYLOV_REFINE;
    if (sd_is_ldlt(method)) return choose_for_ldlt(solver);
    if (!solver->facts.symmetric) return SADDLE_KRYLOV_GMRES;
    if (blocks && !sd_batch_symmetric(solver->block_jacobi.kernel)) return SADDLE_KRYLOV_GMRES;
    if (!positive) return SADDLE_KRYLOV_SQMR;
    return solver->facts.kind == SADDLE_KIND_SPD ? SADDLE_KRYLOV_CG : SADDLE_KRYLOV_MINRES;
}

static void run_method(int krylov, sd_engine *e, const sd_system *s, sd_vector *x, sd_monitor *m)
{
    switch (krylov) {
    case SADDLE_KRYLOV_CG: sd_cg(e, s, x, m); break;
    case SADDLE_KRYLOV_MINRES: sd_minres(e, s, x, m); break;
    case SADDLE_KRYLOV_SQMR: sd_sqmr(e, s, x, m); break;
    case SADDLE_KRYLOV_FGMRES: sd_fgmres(e, s, x, m); break;
    case SADDLE_KRYLOV_BICGSTAB: sd_bicgstab(e, s, x, m); break;
    case SADDLE_KRYLOV_REFINE: sd_refine(e, s, x, m); break;
    case SADDLE_KRYLOV_NONE:
        sd_precondition(e, s->M, s->b, x);
        sd_monitor_give_up(m, SADDLE_REASON_MAXITER);
        break;
    default: sd_gmres(e, s, x, m); break;
    }
}

/* Why a method may not even begin; SADDLE_REASON_NONE where it may. */
static saddle_reason refusal(const saddle_solver *solver, const sd_preconditioner *M, int krylov)
{
    const bool needs_symmetry =
        krylov == SADDLE_KRYLOV_CG || krylov == SADDLE_KRYLOV_MINRES || krylov == SADDLE_KRYLOV_SQMR;
    if (needs_symmetry && !solver->facts.symmetric) return SADDLE_REASON_NOT_SYMMETRIC;
    if (needs_symmetry && !M->symmetric) return SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER;
    if ((krylov == SADDLE_KRYLOV_CG || krylov == SADDLE_KRYLOV_MINRES) && !M->positive)
        return SADDLE_REASON_PRECONDITIONER;
    return SADDLE_REASON_NONE;
}

static sd_preconditioner choose_preconditioner(const saddle_solver *solver, const sd_attempt *attempt,
                                               const sd_direct_inverse *inverse, const sd_ldlt_inverse *ldlt)
{
    switch (attempt->method) {
    case SADDLE_METHOD_DIRECT: return sd_direct_preconditioner(inverse);
    case SADDLE_METHOD_NONE: return (sd_preconditioner){.positive = true, .symmetric = true};
    case SADDLE_METHOD_BJACOBI: return sd_block_jacobi_preconditioner(&solver->block_jacobi);
    case SADDLE_METHOD_LDLT:
    case SADDLE_METHOD_JACOBI: return sd_ldlt_preconditioner(ldlt);
    default: return sd_diagonal_preconditioner(&solver->diagonal);
    }
}

/* What an iteration is asked for. */
typedef struct request {
    sd_precision precision;
    double tol;
    int stop;
    int64_t maxiter;
} request;

/* Iterates on b (host, scaled to about 1) in one precision; x, which may be b, is the best that was seen. */
static saddle_status iterate(const saddle_solver *solver, sd_engine *e, const request *q, const double *b,
                             double *x, sd_attempt *attempt, saddle_info *info)
{
    const sd_operator *op = &solver->op[q->precision];
    const sd_direct_inverse inverse = {attempt->direct, op->sparse.n, op->exponent};
    const int32_t n = op->sparse.n;
    sd_ldlt_inverse ldlt = {0};
    if (attempt->ldlt) sd_ldlt_inverse_make(e, attempt->ldlt, attempt->ldlt->trisolve, &ldlt);
    const sd_preconditioner M = choose_preconditioner(solver, attempt, &inverse, &ldlt);
    sd_vector vectors[2] = {sd_vector_new(e, q->precision, n, "right-hand side"),
                            sd_vector_new(e, q->precision, n, "solution")};
    const sd_system s = {&op->sparse, op->norm_inf, &M, &vectors[0], solver->options.restart};
    sd_monitor m;
    sd_vector_put(e, b, &vectors[0]);
    sd_monitor_begin(&m, e, &s, q->tol, q->stop, q->maxiter);
    if (info->history && info->history_room > info->history_length) {
        m.history = info->history + info->history_length;
        m.history_room = info->history_room - info->history_length;
    }
    if (!e->status) {
        sd_monitor_give_up(&m, refusal(solver, &M, attempt->krylov));
        if (q->maxiter == 0) sd_monitor_give_up(&m, SADDLE_REASON_MAXITER);
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
    sd_ldlt_inverse_free(e, &ldlt);
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
static saddle_status iterate_mixed(const saddle_solver *solver, sd_engine *e, double *x, sd_attempt *attempt,
                                   saddle_info *info)
{
    const saddle_options *o = &solver->options;
    const int32_t n = solver->A.n;
    const int apart = solver->op[SD_DOUBLE].exponent - solver->op[SD_SINGLE].exponent;
    double *work = sd_alloc(e->context, 4 * (int64_t)n, sizeof *work, "mixed precision");
    if (!work) return e->status = e->context->status;
    double *r = work, *d = r + n, *trial = d + n, *b = trial + n;
    memcpy(b, x, (size_t)n * sizeof *b);
    memcpy(r, b, (size_t)n * sizeof *r);
    memset(x, 0, (size_t)n * sizeof *x);
    double norm = host_norm(r, n);
    const double goal = (o->stop == SADDLE_STOP_ANY || o->stop == SADDLE_STOP_RESIDUAL ? o->tol : 0.0) * norm;
    for (int pass = 0; pass < MIXED_MOST && norm > goal && !e->status; ++pass) {
        const int shift = sd_largest_exponent(r, n);
        sd_shift(n, r, -shift, r);
        const request q = {SD_SINGLE, MIXED_INNER_TOL, SADDLE_STOP_RESIDUAL,
                           attempt->maxiter - attempt->iterations};
        if (iterate(solver, e, &q, r, d, attempt, info)) break;
        for (int32_t i = 0; i < n; ++i) trial[i] = x[i] + ldexp(d[i], shift + apart);
        host_residual(e, &solver->op[SD_DOUBLE], b, trial, r);
        const double next = host_norm(r, n);
        const bool better = next < norm;
        if (better) memcpy(x, trial, (size_t)n * sizeof *x);
        const bool on =
            attempt->reason == SADDLE_REASON_RESIDUAL || attempt->reason == SADDLE_REASON_STAGNATION;
        attempt->converged = better && next <= goal;
        if (attempt->converged || !on) break;
        attempt->reason = SADDLE_REASON_STAGNATION;
        if (next > 0.5 * norm) break;
        norm = next;
    }
    if (attempt->converged) attempt->reason = SADDLE_REASON_RESIDUAL;
    sd_free(e->context, work);
    return e->status;
}

saddle_status sd_run_attempt(const saddle_solver *solver, sd_engine *e, const double *b, double *x,
                             sd_attempt *attempt, saddle_info *info)
{
    const saddle_options *o = &solver->options;
    const int32_t n = solver->A.n;
    const bool direct = attempt->method == SADDLE_METHOD_DIRECT; /* its factors may be single, nothing else */
    const bool single = o->precision == SADDLE_PRECISION_SINGLE && !direct;
    const sd_operator *op = &solver->op[single ? SD_SINGLE : SD_DOUBLE];
    const int of_b = sd_largest_exponent(b, n);
    sd_shift(n, b, -of_b, x); /* b gives way to x */
    const request q = {single ? SD_SINGLE : SD_DOUBLE, o->tol, o->stop, attempt->maxiter};
    const saddle_status status = o->precision == SADDLE_PRECISION_MIXED && !direct
                                     ? iterate_mixed(solver, e, x, attempt, info)
                                     : iterate(solver, e, &q, x, x, attempt, info);
    bool finite = true;
    if (!status) sd_shift(n, x, of_b - op->exponent, x);
    for (int32_t i = 0; i < n && !status; ++i) finite = finite && isfinite(x[i]);
    if (!finite) {
        attempt->converged = false;
        attempt->reason = SADDLE_REASON_OVERFLOW;
    }
    if (status || !finite) memset(x, 0, (size_t)n * sizeof *x);
    return status;
}
