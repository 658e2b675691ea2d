/* Methods ldlt and jacobi: their rows in the table, the preparation, what info says. */
#include "method/ldlt/ldlt.h"

#include "prepare/prepare.h"

#include <math.h>

/* Pairs are kept unless A is known to be definite. */
static saddle_status prepare(sd_context *c, const sd_problem *p, const sd_csr *A, saddle_preparation *to)
{
    saddle_options o = *p->options;
    if (o.pairs == SADDLE_AUTO)
        o.pairs = sd_pairs_for(&o, p->facts->kind != SADDLE_KIND_SPD && o.block_size != 1);
    return sd_prepare_factor(c, A, true, &o, p->given, to);
}

static saddle_status plan(sd_context *c, const sd_problem *p, void **made, saddle_info *info)
{
    return sd_plan_preparation(c, p, prepare, made, info);
}

/* That of a complete factorization: what is left out shows when it is made. */
static sd_cost cost(const void *plan)
{
    const saddle_preparation *p = plan;
    return (sd_cost){.flops = p->factor_flops, .entries = (double)p->factor_nnz};
}

static saddle_status factor_by_levels(sd_engine *e, const sd_problem *p, const void *planned,
                                      const sd_strength *strength, void **factors, bool *given_up)
{
    return sd_ldlt_factor(e, p, planned, strength, false, factors, given_up);
}

static saddle_status factor_by_sweeps(sd_engine *e, const sd_problem *p, const void *planned,
                                      const sd_strength *strength, void **factors, bool *given_up)
{
    return sd_ldlt_factor(e, p, planned, strength, true, factors, given_up);
}

static void free_factors(sd_engine *e, void *factors)
{
    sd_block_ldlt_free(e, &((sd_ldlt_state *)factors)->m);
    sd_free(e->context, factors);
}

static void report(const void *factors, saddle_info *info)
{
    static const int words[] = {SADDLE_TRISOLVE_EXACT, SADDLE_TRISOLVE_BLOCK_JACOBI, SADDLE_TRISOLVE_JACOBI};
    const sd_ldlt_state *state = factors;
    const sd_block_ldlt *m = &state->m;
    const sd_ldlt_plan *pattern = &m->plan;
    const int64_t number = (int64_t)sd_precision_size(m->factors.precision);
    const int64_t squares = pattern->square[pattern->blocks];
    info->blocks = pattern->blocks;
    info->block_size = pattern->largest;
    info->levels = pattern->levels;
    info->factor_nnz = pattern->entries + squares;
    info->factor_flops = (int64_t)state->counts.flops;
    info->factor_bytes =
        info->factor_nnz * number + pattern->row[pattern->blocks] * (int64_t)sizeof *pattern->list;
    if (m->trisolve.kind == SD_TRISOLVE_ENTRIES) info->factor_bytes += squares * number;
    info->two_by_two = state->counts.two_by_two;
    info->perturbed = state->counts.perturbed;
    info->pushed_back = m->pushed_back;
    info->generations = m->pushed_back > 0;
    info->replaced_blocks = state->counts.replaced;
    info->single_blocks = m->factors.precision == SD_SINGLE ? pattern->blocks : 0;
    info->fill_tau = state->rule.fill == SD_FILL_TAU ? m->tau : NAN;
    info->sweeps = state->swept && !m->fallback ? state->counts.sweeps : -1;
    info->sweeps_exact = info->sweeps >= 0 && state->counts.exact;
    info->replanned = state->replanned;
    info->fallback = m->fallback;
    info->trisolve = words[m->trisolve.kind];
    info->pattern_residual = state->pattern;
    info->reconstruction_error = state->reconstruction;
}

/* Conjugate gradients where all is definite; otherwise FGMRES, and SQMR where its vectors would take more
 * than half of the memory that is left. */
static int krylov(const sd_context *c, const sd_problem *p, const void *factors)
{
    const saddle_options *o = p->options;
    const sd_block_ldlt *m = &((const sd_ldlt_state *)factors)->m;
    const bool symmetric = sd_trisolve_symmetric(m->trisolve);
    const int64_t vectors = 2 * (o->restart < o->maxiter ? o->restart : o->maxiter);
    const double bytes =
        (double)vectors * (double)p->A->n * (double)sd_precision_size(sd_iteration_precision(p));
    if (symmetric && o->absolute == SADDLE_ON) return sd_krylov_for(p, true, true);
    if (symmetric && m->positive && p->facts->kind == SADDLE_KIND_SPD) return SADDLE_KRYLOV_CG;
    if (symmetric && o->max_memory > 0 && bytes > 0.5 * (double)(o->max_memory - c->bytes))
        return SADDLE_KRYLOV_SQMR;
    return SADDLE_KRYLOV_FGMRES;
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

static saddle_status precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                  const sd_operator *op, sd_preconditioner *M)
{
    (void)p, (void)op;
    const sd_block_ldlt *m = &((const sd_ldlt_state *)factors)->m;
    const bool symmetric = sd_trisolve_symmetric(m->trisolve);
    sd_swept *inverse = sd_alloc_zero(e->context, 1, sizeof *inverse, "preconditioner");
    *M = (sd_preconditioner){.apply = apply,
                             .self = inverse,
                             .positive = m->positive,
                             .symmetric = symmetric,
                             .owned = inverse,
                             .release = release};
    if (!inverse) return e->status = e->context->status;
    const sd_two_triangles triangles = sd_ldlt_triangles(m, m->trisolve.kind);
    return sd_swept_make(e, &triangles, m->trisolve.sweeps, inverse);
}

#define ROW(method, further_options, how)                                                                    \
    {                                                                                                        \
        .number = method, .name = "block LDL'",                                                              \
        .options =                                                                                           \
            "|scaling|order|pairs|blocking|block_size|check|fill|fill_tau|fill_level|pivot|push_back|"       \
            "small_pivot|trisolve|trisolve_sweeps|factor_precision|absolute|" further_options,               \
        .on_device = true, .absolute = true, .needs_symmetry = true, .signed_as_A = true, .plan = plan,      \
        .cost = cost, .free_plan = sd_free_preparation, .factor = how, .refactor = sd_ldlt_factor_again,     \
        .report = report, .free_factors = free_factors, .krylov = krylov, .precondition = precondition,      \
    }
const sd_method sd_method_ldlt = ROW(SADDLE_METHOD_LDLT, "", factor_by_levels);
const sd_method sd_method_jacobi =
    ROW(SADDLE_METHOD_JACOBI, "sweeps|sweep_order|relax|fallback|", factor_by_sweeps);
