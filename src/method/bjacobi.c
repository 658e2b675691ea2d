/*
 * Block-Jacobi: which blocks, which kernel, and what info says of it. The blocks themselves:
 * factor/block_jacobi.c.
 *
 * Where options leave it open, matched entries are looked for only where some row has a small diagonal entry:
 * then pairs are kept in one block (symmetric A), or matched entries are brought to the diagonal (general A),
 * since a block without them would be near to singular. Otherwise rows stay where they are, and the matrix is
 * equilibrated only to tell strong entries from weak ones.
 */
#include "factor/block_jacobi.h"
#include "method/method.h"
#include "prepare/prepare.h"

/* The options of the preparation, with what is left open decided. */
static saddle_options decide(const sd_problem *p, const sd_csr *whole)
{
    saddle_options o = *p->options;
    const bool single_rows = o.block_size == 1 && p->facts->symmetric;
    if (o.pairs == SADDLE_AUTO)
        o.pairs = sd_pairs_for(&o, p->facts->kind != SADDLE_KIND_SPD && !single_rows &&
                                       sd_has_small_diagonal(whole));
    if (o.scaling == SADDLE_SCALING_AUTO)
        o.scaling = o.pairs == SADDLE_ON ? SADDLE_SCALING_MC64 : SADDLE_SCALING_RUIZ;
    return o;
}

static saddle_status prepare(sd_context *c, const sd_problem *p, const sd_csr *A, saddle_preparation *to)
{
    const saddle_options o = decide(p, A);
    return sd_prepare_blocks(c, A, p->facts->symmetric, &o, p->given, to);
}

/* Blocks of rows, from the values of A. */
static saddle_status plan(sd_context *c, const sd_problem *p, void **made, saddle_info *info)
{
    const saddle_status status = sd_plan_preparation(c, p, prepare, made, info);
    if (status) return status;
    const saddle_preparation *blocking = *made;
    sd_log(c, SADDLE_LOG_INFO, "bjacobi: %lld blocks of at most %lld rows", (long long)blocking->blocks,
           (long long)blocking->largest_block);
    return SADDLE_OK;
}

/* The option's word for what was decided, and its kernel. */
static int choose_kernel(const sd_problem *p, sd_batch_kernel *kernel)
{
    static const sd_batch_kernel kernels[] = {
        [SADDLE_BLOCK_KERNEL_HUARD] = SD_HUARD,   [SADDLE_BLOCK_KERNEL_HUARD_T] = SD_HUARD_TRANSPOSED,
        [SADDLE_BLOCK_KERNEL_JORDAN] = SD_JORDAN, [SADDLE_BLOCK_KERNEL_LU] = SD_LDU_PARTIAL,
        [SADDLE_BLOCK_KERNEL_LLT] = SD_LLT,       [SADDLE_BLOCK_KERNEL_LDLT] = SD_LDLT_BUNCH_KAUFMAN};
    int word = p->options->block_kernel;
    if (word == SADDLE_BLOCK_KERNEL_AUTO)
        word = !p->facts->symmetric                ? SADDLE_BLOCK_KERNEL_HUARD
               : p->facts->kind == SADDLE_KIND_SPD ? SADDLE_BLOCK_KERNEL_LLT
                                                   : SADDLE_BLOCK_KERNEL_LDLT;
    *kernel = kernels[word];
    return word;
}

typedef struct blocks {
    sd_block_jacobi m;
    int word; /* of option block_kernel, as it was decided */
} blocks;

static void free_factors(sd_engine *e, void *factors)
{
    sd_block_jacobi_free(e, &((blocks *)factors)->m);
    sd_free(e->context, factors);
}

static void warn(sd_context *c, const sd_block_jacobi *m)
{
    const int64_t replaced = m->replaced[0] + m->replaced[1] + m->replaced[2];
    if (replaced == 0) return;
    sd_log(c, SADDLE_LOG_WARNING,
           "bjacobi: %lld of %d blocks were replaced by a multiple of the identity (%lld singular, %lld not "
           "positive definite, %lld overflowed); the first is block %d",
           (long long)replaced, m->blocks, (long long)m->replaced[SD_BLOCK_SINGULAR - 1],
           (long long)m->replaced[SD_BLOCK_INDEFINITE - 1], (long long)m->replaced[SD_BLOCK_NOT_FINITE - 1],
           m->first_replaced + 1);
}

static saddle_status factor(sd_engine *e, const sd_problem *p, const void *planned,
                            const sd_strength *strength, void **factors, bool *given_up)
{
    (void)strength;
    sd_context *c = e->context;
    const saddle_preparation *blocking = planned;
    const sd_operator *op = &p->op[sd_iteration_precision(p)];
    sd_block_request q = {.precision = p->options->block_precision,
                          .absolute = p->options->absolute == SADDLE_ON,
                          .largest = sd_largest_exponent(p->A->val, p->A->nnz) - op->exponent,
                          .blocks = (int32_t)blocking->blocks,
                          .start = blocking->block_start,
                          .source = blocking->row_permutation,
                          .target = blocking->permutation};
    blocks *made = *factors = sd_alloc_zero(c, 1, sizeof *made, "diagonal blocks");
    if (!made) return c->status;
    *given_up = false;
    made->word = choose_kernel(p, &q.kernel);
    if (sd_batch_symmetric(q.kernel) && !p->facts->symmetric)
        return sd_fail(c, SADDLE_BAD_OPTION,
                       "block_kernel \"%s\" requires a symmetric matrix: use huard, huard-t, jordan or lu",
                       made->word == SADDLE_BLOCK_KERNEL_LLT ? "llt" : "ldlt");
    if (q.absolute && !sd_batch_symmetric(q.kernel))
        return sd_fail(c, SADDLE_BAD_OPTION,
                       "absolute requires symmetric blocks: use block_kernel ldlt, or turn it off");
    q.absolute = q.absolute && q.kernel != SD_LLT; /* which is positive as it is */
    const saddle_status status = sd_block_jacobi_make(e, &op->sparse, &q, &made->m);
    if (!status) warn(c, &made->m);
    return status;
}

static void report(const void *factors, saddle_info *info)
{
    const blocks *made = factors;
    const sd_block_jacobi *m = &made->m;
    info->block_kernel = made->word;
    info->blocks = m->blocks;
    info->block_size = m->largest;
    info->factor_nnz = m->entries;
    info->factor_flops = m->flops;
    info->factor_bytes = m->bytes;
    info->two_by_two = m->two_by_two;
    info->replaced_blocks = m->replaced[0] + m->replaced[1] + m->replaced[2];
    info->single_blocks = m->part[SD_SINGLE].plan.count;
}

static int krylov(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c;
    const sd_block_jacobi *m = &((const blocks *)factors)->m;
    return sd_krylov_for(p, sd_batch_symmetric(m->kernel), m->positive);
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    sd_block_jacobi_apply(e, self, r, z);
}

static saddle_status precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                  const sd_operator *op, sd_preconditioner *M)
{
    (void)p, (void)op;
    const sd_block_jacobi *m = &((const blocks *)factors)->m;
    *M = (sd_preconditioner){
        .apply = apply, .self = m, .positive = m->positive, .symmetric = sd_batch_symmetric(m->kernel)};
    return e->status;
}

static void apply_transposed(const void *self, const double *r, double *z)
{
    sd_block_jacobi_transposed(self, r, z);
}

static void release_transposed(sd_engine *e, void *self)
{
    if (self) sd_block_jacobi_drop(e, self);
    sd_free(e->context, self);
}

static saddle_status precondition_transposed(sd_engine *e, const sd_problem *p, const void *factors,
                                             const sd_operator *op, sd_preconditioner *M)
{
    (void)op;
    sd_block_jacobi *here = sd_alloc_zero(e->context, 1, sizeof *here, "preconditioner");
    if (!here && !e->status) e->status = e->context->status;
    if (here) sd_block_jacobi_bring(e, &((const blocks *)factors)->m, here);
    const sd_hosted by = {
        .apply = apply_transposed, .release = release_transposed, .self = here, .n = p->A->n};
    return sd_precondition_hosted(e, &by, M);
}

const sd_method sd_method_bjacobi = {
    .number = SADDLE_METHOD_BJACOBI,
    .name = "block-Jacobi",
    .options = "|scaling|order|pairs|blocking|block_size|block_kernel|block_precision|absolute|",
    .on_device = true,
    .absolute = true,
    .plan = plan,
    .free_plan = sd_free_preparation,
    .factor = factor,
    .report = report,
    .free_factors = free_factors,
    .krylov = krylov,
    .precondition = precondition,
    .precondition_transposed = precondition_transposed};
