/* Diagonal (Jacobi) preconditioning: z_i = r_i / a_ii. */
#include "factor/diagonal.h"

#include <math.h>

/* The diagonal and the largest entry of every row of the whole matrix. */
static void find_rows(const sd_csr *A, double *diagonal, double *largest)
{
    for (int32_t i = 0; i < A->n; ++i) diagonal[i] = largest[i] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double size = fabs(A->val[k]);
            if (j == i) diagonal[i] = A->val[k];
            if (size > largest[i]) largest[i] = size;
            if (A->half && size > largest[j]) largest[j] = size;
        }
    }
}

saddle_status sd_diagonal_make(sd_engine *e, const sd_csr *A, int exponent, sd_precision precision,
                               sd_diagonal *d)
{
    sd_context *c = e->context;
    const double most = precision == SD_DOUBLE ? 0x1p1000 : 0x1p120; /* products with it stay finite */
    double *diagonal = sd_alloc(c, A->n, sizeof *diagonal, "diagonal");
    double *largest = sd_alloc(c, A->n, sizeof *largest, "largest entries");
    saddle_status status = diagonal && largest ? SADDLE_OK : c->status;
    if (!status) {
        d->replaced = 0;
        d->positive = true;
        find_rows(A, diagonal, largest);
        for (int32_t i = 0; i < A->n; ++i) {
            double entry = diagonal[i];
            const bool vanishes = !(fabs(entry) > 1e-30 * largest[i]);
            if (vanishes) entry = largest[i] > 0 ? largest[i] : ldexp(1.0, exponent);
            if (entry < 0) d->positive = false;
            const double inverse = 1 / ldexp(entry, -exponent);
            const bool bounded = fabs(inverse) > most;
            diagonal[i] = bounded ? copysign(most, inverse) : inverse;
            d->replaced += vanishes || bounded;
        }
        d->inverse[precision] = sd_vector_new(e, precision, A->n, "inverse of the diagonal");
        sd_vector_put(e, diagonal, &d->inverse[precision]);
        status = e->status;
    }
    sd_free(c, diagonal);
    sd_free(c, largest);
    return status;
}

void sd_diagonal_free(sd_engine *e, sd_diagonal *d)
{
    for (int p = 0; p < SD_PRECISIONS; ++p) sd_vector_free(e, &d->inverse[p]);
    *d = (sd_diagonal){0};
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_diagonal *d = self;
    sd_multiply(e, &d->inverse[r->precision], r, z);
}

sd_preconditioner sd_diagonal_preconditioner(const sd_diagonal *d)
{
    return (sd_preconditioner){apply, d, d->positive, true};
}
