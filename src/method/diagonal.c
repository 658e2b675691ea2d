/*
 * Diagonal (Jacobi) preconditioning: z_i = r_i / a_ii.
 *
 * An entry that is 0 (or below 1e-30 of its row) is replaced by the largest entry of its row, an empty row by
 * 1; one so small that its inverse is beyond the range of the precision by the least that is not. With
 * option `absolute` |a_ii| is taken.
 */
#include "method/method.h"

#include <math.h>

typedef struct diagonal {
    sd_vector inverse[SD_PRECISIONS]; /* of the diagonal of A 2^-exponent; data NULL where not made */
    int64_t replaced;                 /* entries that something else stands for */
    bool positive;
} diagonal;

/* The diagonal and the largest entry of every row of the whole matrix. */
static void find_rows(const sd_csr *A, double *entries, double *largest)
{
    for (int32_t i = 0; i < A->n; ++i) entries[i] = largest[i] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double size = fabs(A->val[k]);
            if (j == i) entries[i] = A->val[k];
            if (size > largest[i]) largest[i] = size;
            if (A->half && size > largest[j]) largest[j] = size;
        }
    }
}

/* The inverses for the system with A 2^-exponent, in one precision. */
static saddle_status invert(sd_engine *e, const sd_csr *A, bool absolute, int exponent,
                            sd_precision precision, diagonal *d)
{
    sd_context *c = e->context;
    const double most = precision == SD_DOUBLE ? 0x1p1000 : 0x1p120; /* products with it stay finite */
    double *entries = sd_alloc(c, A->n, sizeof *entries, "diagonal");
    double *largest = sd_alloc(c, A->n, sizeof *largest, "largest entries");
    saddle_status status = entries && largest ? SADDLE_OK : c->status;
    if (!status) {
        d->replaced = 0;
        d->positive = true;
        find_rows(A, entries, largest);
        for (int32_t i = 0; i < A->n; ++i) {
            double entry = entries[i];
            const bool vanishes = !(fabs(entry) > 1e-30 * largest[i]);
            if (absolute) entry = fabs(entry);
            if (vanishes) entry = largest[i] > 0 ? largest[i] : ldexp(1.0, exponent);
            if (entry < 0) d->positive = false;
            const double inverse = 1 / ldexp(entry, -exponent);
            const bool bounded = fabs(inverse) > most;
            entries[i] = bounded ? copysign(most, inverse) : inverse;
            d->replaced += vanishes || bounded;
        }
        d->inverse[precision] = sd_vector_new(e, precision, A->n, "inverse of the diagonal");
        sd_vector_put(e, entries, &d->inverse[precision]);
        status = e->status;
    }
    sd_free_all(c, entries, largest);
    return status;
}

static void free_factors(sd_engine *e, void *factors)
{
    diagonal *d = factors;
    for (int k = 0; k < SD_PRECISIONS; ++k) sd_vector_free(e, &d->inverse[k]);
    sd_free(e->context, d);
}

/* In every precision that the iteration may ask for. */
static saddle_status factor(sd_engine *e, const sd_problem *p, const void *plan, const sd_strength *strength,
                            void **factors, bool *given_up)
{
    (void)plan, (void)strength;
    diagonal *d = *factors = sd_alloc_zero(e->context, 1, sizeof *d, "diagonal");
    if (!d) return e->context->status;
    *given_up = false;
    saddle_status status = SADDLE_OK;
    for (sd_precision k = SD_DOUBLE; k <= sd_iteration_precision(p) && !status; ++k)
        status = invert(e, p->A, p->options->absolute == SADDLE_ON, p->op[k].exponent, k, d);
    return status;
}

static void report(const void *factors, saddle_info *info)
{
    const diagonal *d = factors;
    info->factor_nnz = info->factor_flops = d->inverse[SD_DOUBLE].n;
    info->factor_bytes = 0;
    for (int k = 0; k < SD_PRECISIONS; ++k)
        if (d->inverse[k].data) info->factor_bytes += d->inverse[k].n * (int64_t)sd_precision_size(k);
    info->perturbed = d->replaced;
}

static int krylov(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c;
    return sd_krylov_for(p, true, ((const diagonal *)factors)->positive);
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const diagonal *d = self;
    sd_multiply(e, &d->inverse[r->precision], r, z);
}

static saddle_status precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                  const sd_operator *op, sd_preconditioner *M)
{
    (void)p, (void)op;
    const diagonal *d = factors;
    *M = (sd_preconditioner){.apply = apply, .self = d, .positive = d->positive, .symmetric = true};
    return e->status;
}

const sd_method sd_method_diagonal = {.number = SADDLE_METHOD_DIAGONAL,
                                      .name = "the diagonal",
                                      .options = "|absolute|",
                                      .on_device = true,
                                      .absolute = true,
                                      .light = true,
                                      .factor = factor,
                                      .report = report,
                                      .free_factors = free_factors,
                                      .krylov = krylov,
                                      .precondition = precondition};
