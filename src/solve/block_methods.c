/*
 * Block-Jacobi in a solver: which blocks, which kernel, and what info says of it.
 *
 * Where options leave it open, matched entries are looked for only where some row has a small diagonal entry:
 * then pairs are kept in one block (symmetric A), or matched entries are brought to the diagonal (general A),
 * since a block without them would be near to singular. Otherwise rows stay where they are, and the matrix is
 * equilibrated only to tell strong entries from weak ones.
 */
#include "prepare/prepare.h"
#include "solve/solver.h"

#include <math.h>

static const double SMALL_DIAGONAL = 1e-3; /* beside the largest entry of its row */

/* Whether some row has a diagonal entry that is small. */
static bool has_small_diagonal(const sd_csr *A)
{
    for (int32_t i = 0; i < A->n; ++i) {
        double diagonal = 0, largest = 0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const double size = fabs(A->val[k]);
            if (A->ind[k] == i) diagonal = size;
            if (size > largest) largest = size;
        }
        if (diagonal < SMALL_DIAGONAL * largest) return true;
    }
    return false;
}

/* The options of the preparation, with what is left open decided. */
static saddle_options decide(const saddle_solver *s, const sd_csr *whole)
{
    saddle_options o = s->options;
    const bool single_rows = o.block_size == 1 && s->facts.symmetric;
    if (o.pairs == SADDLE_AUTO) {
        const bool wants = s->facts.kind != SADDLE_KIND_SPD && !single_rows && has_small_diagonal(whole);
        o.pairs = wants ? SADDLE_ON : SADDLE_OFF;
    }
    if (o.scaling == SADDLE_SCALING_AUTO)
        o.scaling = o.pairs == SADDLE_ON ? SADDLE_SCALING_MC64 : SADDLE_SCALING_RUIZ;
    return o;
}

saddle_status sd_plan_block_jacobi(saddle_solver *s)
{
    sd_context *c = &s->c;
    sd_csr whole = {0};
    saddle_status status = SADDLE_OK;
    if ((s->given.row_scale || s->given.permutation) && s->given_n != s->A.n)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "scaling or order were given for n = %lld, and n is %d",
                       (long long)s->given_n, s->A.n);
    if (s->A.half) status = sd_csr_expand(c, &s->A, &whole);
    if (!status) {
        const sd_csr *A = s->A.half ? &whole : &s->A;
        const saddle_options o = decide(s, A);
        const saddle_given *given = s->given.row_scale || s->given.permutation ? &s->given : NULL;
        s->blocking.size = sizeof s->blocking;
        status = sd_prepare_blocks(c, A, s->facts.symmetric, &o, given, &s->blocking);
    }
    sd_csr_free(c, &whole);
    if (status) return status;
    s->info.time_prepare += s->blocking.time_total;
    sd_log(c, SADDLE_LOG_INFO, "bjacobi: %lld blocks of at most %lld rows", (long long)s->blocking.blocks,
           (long long)s->blocking.largest_block);
    return SADDLE_OK;
}

sd_precision sd_iteration_precision(const saddle_solver *s)
{
    return s->options.precision == SADDLE_PRECISION_DOUBLE ? SD_DOUBLE : SD_SINGLE;
}

/* The option's word for what was decided, and its kernel. */
static int choose_kernel(const saddle_solver *s, sd_batch_kernel *kernel)
{
    static const sd_batch_kernel kernels[] = {
        [SADDLE_BLOCK_KERNEL_HUARD] = SD_HUARD,   [SADDLE_BLOCK_KERNEL_HUARD_T] = SD_HUARD_TRANSPOSED,
        [SADDLE_BLOCK_KERNEL_JORDAN] = SD_JORDAN, [SADDLE_BLOCK_KERNEL_LU] = SD_LDU_PARTIAL,
        [SADDLE_BLOCK_KERNEL_LLT] = SD_LLT,       [SADDLE_BLOCK_KERNEL_LDLT] = SD_LDLT_BUNCH_KAUFMAN};
    int word = s->options.block_kernel;
    if (word == SADDLE_BLOCK_KERNEL_AUTO)
        word = !s->facts.symmetric                ? SADDLE_BLOCK_KERNEL_HUARD
               : s->facts.kind == SADDLE_KIND_SPD ? SADDLE_BLOCK_KERNEL_LLT
                                                  : SADDLE_BLOCK_KERNEL_LDLT;
    *kernel = kernels[word];
    return word;
}

/* What info says of the blocks, and a warning where some had to be replaced. */
static void tell(saddle_solver *s, int word)
{
    const sd_block_jacobi *m = &s->block_jacobi;
    saddle_info *info = &s->info;
    info->block_kernel = word;
    info->blocks = m->blocks;
    info->block_size = m->largest;
    info->factor_nnz = m->entries;
    info->factor_flops = m->flops;
    info->factor_bytes = m->bytes;
    info->two_by_two = m->two_by_two;
    info->replaced_blocks = m->replaced[0] + m->replaced[1] + m->replaced[2];
    info->single_blocks = m->part[SD_SINGLE].plan.count;
    if (info->replaced_blocks > 0)
        sd_log(
            &s->c, SADDLE_LOG_WARNING,
            "bjacobi: %lld of %d blocks were replaced by a multiple of the identity (%lld singular, %lld not "
            "positive definite, %lld beyond the range of numbers), the first of them number %d",
            (long long)info->replaced_blocks, m->blocks, (long long)m->replaced[SD_BLOCK_SINGULAR - 1],
            (long long)m->replaced[SD_BLOCK_INDEFINITE - 1], (long long)m->replaced[SD_BLOCK_NOT_FINITE - 1],
            m->first_replaced + 1);
}

saddle_status sd_make_block_jacobi(saddle_solver *s)
{
    const saddle_preparation *p = &s->blocking;
    const sd_operator *op = &s->op[sd_iteration_precision(s)];
    sd_block_request q = {.precision = s->options.block_precision,
                          .largest = sd_largest_exponent(s->A.val, s->A.nnz) - op->exponent,
                          .blocks = (int32_t)p->blocks,
                          .start = p->block_start,
                          .source = p->row_permutation,
                          .target = p->permutation};
    const int word = choose_kernel(s, &q.kernel);
    if (sd_batch_symmetric(q.kernel) && !s->facts.symmetric)
        return sd_fail(&s->c, SADDLE_BAD_OPTION,
                       "block_kernel \"%s\" wants a symmetric matrix: take huard, huard-t, jordan or lu",
                       word == SADDLE_BLOCK_KERNEL_LLT ? "llt" : "ldlt");
    const saddle_status status = sd_block_jacobi_make(&s->e, &op->sparse, &q, &s->block_jacobi);
    if (!status) tell(s, word);
    return status;
}
