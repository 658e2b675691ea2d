/* Methods ic and ilu: their rows in the table, the preparation, what info says. */
#include "method/incomplete/incomplete.h"

#include "prepare/prepare.h"

#include <math.h>

/* Whether sweeps may go by blocks. */
static bool may_use_blocks(const sd_problem *p)
{
    const int how = p->options->trisolve;
    return how == SADDLE_TRISOLVE_BLOCK_JACOBI ||
           (how == SADDLE_TRISOLVE_AUTO && p->device == SADDLE_DEVICE_CUDA);
}

/* The options of the preparation, with what is left open decided. */
static saddle_options decide(const sd_problem *p, const sd_csr *whole, bool symmetric)
{
    saddle_options o = *p->options;
    if (o.order == SADDLE_ORDER_AUTO) o.order = SADDLE_ORDER_RCM;
    if (o.pairs == SADDLE_AUTO) o.pairs = sd_pairs_for(&o, !symmetric && sd_has_small_diagonal(whole));
    if (o.scaling == SADDLE_SCALING_AUTO)
        o.scaling = symmetric              ? SADDLE_SCALING_COL2
                    : o.pairs == SADDLE_ON ? SADDLE_SCALING_MC64
                                           : SADDLE_SCALING_RUIZ;
    if (o.blocking == SADDLE_BLOCKING_AUTO)
        o.blocking = may_use_blocks(p) ? SADDLE_BLOCKING_ADJACENT : SADDLE_BLOCKING_NONE;
    if (o.block_size == 0) o.block_size = SD_INCOMPLETE_BLOCK;
    return o;
}

static saddle_status prepare(sd_context *c, const sd_problem *p, const sd_csr *A, bool symmetric,
                             saddle_preparation *to)
{
    const saddle_options o = decide(p, A, symmetric);
    if (o.trisolve == SADDLE_TRISOLVE_BLOCK_JACOBI && o.blocking == SADDLE_BLOCKING_NONE)
        return sd_fail(c, SADDLE_BAD_OPTION,
                       "trisolve \"block-jacobi\" needs blocks, but blocking is \"none\": choose a blocking, "
                       "or trisolve jacobi");
    return sd_prepare_factor(c, A, symmetric, &o, p->given, to);
}

static saddle_status prepare_symmetric(sd_context *c, const sd_problem *p, const sd_csr *A,
                                       saddle_preparation *to)
{
    return prepare(c, p, A, true, to);
}

static saddle_status prepare_general(sd_context *c, const sd_problem *p, const sd_csr *A,
                                     saddle_preparation *to)
{
    return prepare(c, p, A, false, to);
}

static saddle_status plan_ic(sd_context *c, const sd_problem *p, void **made, saddle_info *info)
{
    return sd_plan_preparation(c, p, prepare_symmetric, made, info);
}

static saddle_status plan_ilu(sd_context *c, const sd_problem *p, void **made, saddle_info *info)
{
    return sd_plan_preparation(c, p, prepare_general, made, info);
}

static saddle_status factor_ic(sd_engine *e, const sd_problem *p, const void *planned,
                               const sd_strength *strength, void **factors, bool *given_up)
{
    (void)strength;
    return sd_incomplete_factor(e, p, planned, true, factors, given_up);
}

static saddle_status factor_ilu(sd_engine *e, const sd_problem *p, const void *planned,
                                const sd_strength *strength, void **factors, bool *given_up)
{
    (void)strength;
    return sd_incomplete_factor(e, p, planned, false, factors, given_up);
}

static void report(const void *factors, saddle_info *info)
{
    static const int words[] = {SADDLE_TRISOLVE_EXACT, SADDLE_TRISOLVE_BLOCK_JACOBI, SADDLE_TRISOLVE_JACOBI};
    const sd_incomplete_state *s = factors;
    const sd_incomplete *m = &s->numbers;
    const sd_triangles *t = &s->triangles;
    info->factor_nnz = m->lower.ptr[m->n] + (m->symmetric ? 0 : m->upper.ptr[m->n]) + m->n;
    info->factor_flops = isnan(m->flops) ? -1 : (int64_t)m->flops;
    info->factor_bytes = t->bytes + s->there.bytes;
    info->levels = t->lower.levels > t->upper.levels ? t->lower.levels : t->upper.levels;
    info->fill_tau = s->rule.level < 0 ? s->rule.tau : NAN;
    info->shift = m->shift;
    info->restarts = m->restarts;
    info->sweeps = m->sweeps > 0 ? m->sweeps : -1;
    info->pattern_residual = m->sweeps > 0 ? m->residual : NAN;
    info->fallback = s->fallback;
    info->trisolve = words[s->trisolve.kind];
    info->trisolve_sweeps = s->trisolve.kind == SD_TRISOLVE_EXACT ? -1 : s->trisolve.sweeps;
    info->trisolve_residual = s->trisolve_residual;
    if (m->diagonal) /* not on a device */
        sd_incomplete_dominance(m, t->lower.blocks, s->preparation->block_start, &info->dominance,
                                &info->block_dominance);
    if (t->lower.blocks == 0) return;
    info->blocks = t->lower.blocks;
    info->block_size = t->lower.largest;
}

/* Conjugate gradients, if nothing speaks against A being positive definite: it says so itself if it is not.
 */
static int krylov_ic(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c;
    const sd_incomplete_state *s = factors;
    const bool fixed = sd_trisolve_symmetric(s->trisolve);
    const int kind = p->facts->kind;
    const bool positive = s->numbers.shift == 0 && !s->prepared.negated;
    if (kind == SADDLE_KIND_SPD || (kind == SADDLE_KIND_UNKNOWN && positive))
        return fixed ? SADDLE_KRYLOV_CG : SADDLE_KRYLOV_FCG;
    return fixed ? SADDLE_KRYLOV_MINRES : SADDLE_KRYLOV_FGMRES;
}

static int krylov_ilu(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c, (void)p;
    const sd_incomplete_state *s = factors;
    return sd_trisolve_symmetric(s->trisolve) ? SADDLE_KRYLOV_GMRES : SADDLE_KRYLOV_FGMRES;
}

static void release(sd_engine *e, void *owned)
{
    sd_swept_free(e, owned);
    sd_free(e->context, owned);
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    sd_swept_apply(e, self, r, z);
}

/* Sweeps of which there are as many as a vector needs go by one vector. */
static saddle_status precondition_columns(sd_engine *e, const sd_problem *p, const void *factors,
                                          const sd_operator *op, int *columns, sd_preconditioner *M)
{
    (void)p, (void)op;
    const sd_incomplete_state *s = factors;
    sd_swept *own = sd_alloc_zero(e->context, 1, sizeof *own, "preconditioner");
    *M = (sd_preconditioner){.apply = apply,
                             .self = own,
                             .positive = s->symmetric && !s->prepared.negated,
                             .negative = s->symmetric && s->prepared.negated,
                             .symmetric = s->symmetric && sd_trisolve_symmetric(s->trisolve),
                             .owned = own,
                             .release = release};
    if (!own) return e->status = e->context->status;
    if (!sd_trisolve_symmetric(s->trisolve)) *columns = 1;
    const sd_two_triangles triangles = sd_triangles_view(&s->triangles, s->trisolve.kind, *columns);
    return sd_swept_make(e, &triangles, s->trisolve.sweeps, own);
}

static saddle_status precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                  const sd_operator *op, sd_preconditioner *M)
{
    int columns = 1;
    return precondition_columns(e, p, factors, op, &columns, M);
}

#define ROW(method, its_name, its_plan, its_factor, its_krylov, symmetric)                                   \
    {                                                                                                        \
        .number = method, .name = its_name,                                                                  \
        .options = "|scaling|order|pairs|blocking|block_size|level|fill|fill_tau|fill_level|fill_most|"      \
                   "setup|sweeps|trisolve|trisolve_sweeps|fallback|tune|factor_precision|",                  \
        .on_device = true, .needs_symmetry = symmetric, .plan = its_plan, .free_plan = sd_free_preparation,  \
        .factor = its_factor, .refactor = sd_incomplete_refactor,                                            \
        .refactor_arriving = sd_incomplete_refactor_arriving, .report = report,                              \
        .free_factors = sd_incomplete_state_free, .krylov = its_krylov, .precondition = precondition,        \
        .precondition_columns = precondition_columns,                                                        \
        .precondition_transposed = symmetric ? NULL : sd_incomplete_precondition_transposed,                 \
    }
const sd_method sd_method_ic =
    ROW(SADDLE_METHOD_IC, "incomplete Cholesky", plan_ic, factor_ic, krylov_ic, true);
const sd_method sd_method_ilu =
    ROW(SADDLE_METHOD_ILU, "incomplete LU", plan_ilu, factor_ilu, krylov_ilu, false);
