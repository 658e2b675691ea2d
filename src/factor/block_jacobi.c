/*
 * Block-Jacobi: M is the block diagonal of P A Q for the blocks of a preparation, and M^-1 r is one small
 * solve per block (Anzt, Dongarra, Flegar, Quintana-Orti, Variable-size batched Gauss-Huard for block-Jacobi
 * preconditioning).
 *
 * Blocks may be stored in single precision with vectors in double: they are rounded, factored in single and
 * applied in double, which halves what an application reads. `adaptive` does so with the blocks whose
 * condition allows it (Anzt, Dongarra, Flegar, Higham, Quintana-Orti, Adaptive precision in block-Jacobi
 * preconditioning): |B| |B^-1| in the 1-norm, from an explicit inverse, times the rounding of single at most
 * 1 %, and neither norm near the ends of single's range.
 */
#include "factor/block_jacobi.h"

#include "factor/block_inverses.h"

#include <math.h>
#include <stdlib.h>

static const double SINGLE_CONDITION = 0.01 / 0x1p-24;
static const double SINGLE_RANGE = 0x1p100;
enum {
    EXPONENT_SINGLE = 60
}; /* a matrix whose largest entry is beyond 2^+-60 is scaled before it is rounded */

/* The blocks of `plan`, taken out of A and brought to the scale of m, in the precision of A. */
static sd_batch extract(sd_engine *e, const sd_sparse *A, const sd_block_request *q, const bool *wanted,
                        const sd_batch_plan *plan, const sd_block_jacobi *m)
{
    sd_batch_map map;
    sd_batch x = sd_batch_new(e, plan, A->precision, "diagonal blocks");
    if (e->status) return x;
    if (!sd_batch_map_place(e, q->blocks, q->start, wanted, q->source, q->target, &map)) {
        sd_batch_extract(e, A, &map, &x);
        if (m->exponent) {
            sd_vector entries = {x.data, plan->entries, x.precision};
            sd_scale(e, ldexp(1.0, -m->exponent), &entries);
        }
    }
    sd_batch_map_unplace(e, &map);
    return x;
}

/* x, in double, rounded to single. */
static void round_blocks(sd_engine *e, sd_batch *x)
{
    sd_batch rounded = sd_batch_new(e, x->plan, SD_SINGLE, "diagonal blocks");
    if (!e->status) {
        const sd_vector from = {x->data, x->plan->entries, SD_DOUBLE};
        sd_vector to = {rounded.data, x->plan->entries, SD_SINGLE};
        sd_from_double(e, &from, &to);
    }
    sd_batch_free(e, x);
    *x = rounded;
}

static double flops_of(sd_batch_kernel kernel, double n)
{
    const double cube = n * n * n;
    if (kernel == SD_JORDAN) return 2 * cube;
    return sd_batch_symmetric(kernel) ? cube / 3 : 2 * cube / 3;
}

/* Adds up what became of the blocks of a part. */
static saddle_status count_states(sd_engine *e, const sd_block_request *q, const bool *wanted,
                                  const sd_block_part *part, sd_block_jacobi *m)
{
    sd_batch_state *state = sd_alloc(e->context, q->blocks, sizeof *state, "states of blocks");
    if (!state) return e->status = e->context->status;
    e->backend->download(e, part->factors.state, state, q->blocks * (int64_t)sizeof *state);
    double flops = 0;
    for (int32_t k = 0; k < q->blocks && !e->status; ++k) {
        if (wanted && !wanted[k]) continue;
        const int32_t size = q->start[k + 1] - q->start[k];
        flops += flops_of(q->kernel, size);
        if (size > m->largest) m->largest = size;
        if (state[k].negative > 0) m->positive = false;
        m->two_by_two += __builtin_popcount(state[k].pairs);
        if (state[k].status == SD_BLOCK_OK) continue;
        ++m->replaced[state[k].status - 1];
        if (m->first_replaced < 0 || k < m->first_replaced) m->first_replaced = k;
    }
    m->flops += (int64_t)flops;
    m->blocks += part->plan.count;
    m->entries += part->plan.entries;
    m->bytes += part->plan.entries * (int64_t)sd_precision_size(part->factors.precision) +
                2 * (int64_t)part->plan.rows + q->blocks * (int64_t)(sizeof *state + sizeof *part->plan.job);
    sd_free(e->context, state);
    return e->status;
}

/* What LDL' factors becomes the inverse of its absolute value, |B|^-1 = |B^-1|. */
static saddle_status take_absolute(sd_engine *e, const sd_block_request *q, const bool *wanted,
                                   sd_block_part *part)
{
    sd_context *c = e->context;
    const int64_t bytes = part->plan.entries * (int64_t)sd_precision_size(part->factors.precision);
    sd_batch inverse = sd_batch_new(e, &part->plan, part->factors.precision, "diagonal blocks");
    void *numbers = sd_alloc(c, bytes, 1, "diagonal blocks");
    if (!numbers && !e->status) e->status = c->status;
    if (!e->status) sd_batch_invert(e, &part->factors, &inverse);
    if (!e->status) e->backend->download(e, inverse.data, numbers, bytes);
    int64_t at = 0;
    for (int32_t k = 0; k < q->blocks && !e->status; ++k) {
        const int32_t n = q->start[k + 1] - q->start[k];
        if (wanted && !wanted[k]) continue;
        sd_sign_blocks(1, (const int32_t[]){0, n}, &at, inverse.precision, 1, true, numbers);
        at += (int64_t)n * n;
    }
    if (!e->status) sd_batch_set_inverses(e, numbers, &part->factors);
    sd_batch_free(e, &inverse);
    sd_free(c, numbers);
    return e->status;
}

/* The blocks that are wanted, factored in a precision. */
static saddle_status make_part(sd_engine *e, const sd_sparse *A, const sd_block_request *q,
                               const bool *wanted, sd_precision precision, sd_block_jacobi *m)
{
    sd_block_part *part = &m->part[precision];
    const sd_batch_rule rule = {.kernel = q->kernel};
    if (sd_batch_place(e, q->blocks, q->start, wanted, q->source, q->target, &part->plan)) return e->status;
    sd_batch x = extract(e, A, q, wanted, &part->plan, m);
    if (!e->status && precision != x.precision) round_blocks(e, &x);
    part->factors = sd_batch_factors_new(e, &part->plan, precision);
    if (!e->status) sd_batch_factor(e, &rule, &x, &part->factors);
    sd_batch_free(e, &x);
    if (e->status || count_states(e, q, wanted, part, m)) return e->status;
    return q->absolute ? take_absolute(e, q, wanted, part) : SADDLE_OK;
}

/* single[k] = whether single precision is enough for block k, from its norm and that of its inverse. */
static void choose_single(int32_t blocks, const double *norm, const double *inverse,
                          const sd_batch_state *state, bool *single, int64_t *count)
{
    for (int32_t k = 0; k < blocks; ++k) {
        single[k] = state[k].status == SD_BLOCK_OK && norm[k] * inverse[k] <= SINGLE_CONDITION &&
                    norm[k] <= SINGLE_RANGE && inverse[k] <= SINGLE_RANGE;
        *count += single[k];
    }
}

/* Inverts all blocks for a moment, to learn their conditions. */
static saddle_status measure_conditions(sd_engine *e, const sd_sparse *A, const sd_block_request *q,
                                        const sd_block_jacobi *m, bool *single, int64_t *count)
{
    sd_context *c = e->context;
    const sd_batch_rule rule = {.kernel = SD_JORDAN};
    sd_batch_plan plan;
    sd_batch_state *state = sd_alloc(c, q->blocks, sizeof *state, "states of blocks");
    double *norms = sd_alloc(c, 2 * (int64_t)q->blocks, sizeof *norms, "norms of blocks");
    if (!state || !norms) e->status = c->status;
    if (!e->status && !sd_batch_place(e, q->blocks, q->start, NULL, q->source, q->target, &plan)) {
        sd_vector v = sd_vector_new(e, SD_DOUBLE, q->blocks, "norms of blocks");
        sd_batch x = extract(e, A, q, NULL, &plan, m);
        sd_batch_factors f = sd_batch_factors_new(e, &plan, A->precision);
        if (!e->status) {
            const sd_batch inverses = {&plan, f.data, f.precision};
            sd_batch_norms(e, &x, &v);
            sd_vector_get(e, &v, norms);
            sd_batch_factor(e, &rule, &x, &f);
            sd_batch_norms(e, &inverses, &v);
            sd_vector_get(e, &v, norms + q->blocks);
            e->backend->download(e, f.state, state, q->blocks * (int64_t)sizeof *state);
        }
        sd_batch_factors_free(e, &f);
        sd_batch_free(e, &x);
        sd_vector_free(e, &v);
        sd_batch_unplace(e, &plan);
        if (!e->status) choose_single(q->blocks, norms, norms + q->blocks, state, single, count);
    }
    sd_free_all(c, state, norms);
    return e->status;
}

/* Two parts, unless one of them would be empty. */
static saddle_status make_adaptive(sd_engine *e, const sd_sparse *A, const sd_block_request *q,
                                   sd_block_jacobi *m)
{
    int64_t count = 0;
    bool *wanted = sd_alloc(e->context, q->blocks, sizeof *wanted, "precisions of blocks");
    if (!wanted) return e->status = e->context->status;
    saddle_status status = measure_conditions(e, A, q, m, wanted, &count);
    if (!status && count > 0) status = make_part(e, A, q, count < q->blocks ? wanted : NULL, SD_SINGLE, m);
    for (int32_t k = 0; k < q->blocks && !status; ++k) wanted[k] = !wanted[k];
    if (!status && count < q->blocks) status = make_part(e, A, q, count > 0 ? wanted : NULL, SD_DOUBLE, m);
    sd_free(e->context, wanted);
    return status;
}

saddle_status sd_block_jacobi_make(sd_engine *e, const sd_sparse *A, const sd_block_request *q,
                                   sd_block_jacobi *m)
{
    const bool rounds = A->precision == SD_DOUBLE && q->precision != SADDLE_BLOCK_PRECISION_DOUBLE;
    *m = (sd_block_jacobi){
        .kernel = q->kernel, .positive = sd_batch_symmetric(q->kernel), .first_replaced = -1};
    if (rounds && abs(q->largest) > EXPONENT_SINGLE) m->exponent = q->largest;
    const bool single = q->precision == SADDLE_BLOCK_PRECISION_SINGLE;
    const saddle_status status = rounds && !single
                                     ? make_adaptive(e, A, q, m)
                                     : make_part(e, A, q, NULL, rounds ? SD_SINGLE : A->precision, m);
    if (q->absolute) m->positive = true;
    if (status) sd_block_jacobi_free(e, m);
    return status;
}

void sd_block_jacobi_free(sd_engine *e, sd_block_jacobi *m)
{
    for (int p = 0; p < SD_PRECISIONS; ++p) {
        sd_batch_factors_free(e, &m->part[p].factors);
        sd_batch_unplace(e, &m->part[p].plan);
    }
    *m = (sd_block_jacobi){0};
}

void sd_block_jacobi_apply(sd_engine *e, const sd_block_jacobi *m, const sd_vector *r, sd_vector *z)
{
    for (int p = 0; p < SD_PRECISIONS; ++p)
        if (m->part[p].plan.count > 0) sd_batch_apply(e, &m->part[p].factors, 1, r, z);
    if (m->exponent) sd_scale(e, ldexp(1.0, -m->exponent), z);
}
