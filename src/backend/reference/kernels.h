/*
 * Reference kernels: the plainest loops that do what kernels.def says, the oracle of all tests.
 * Included once a precision, with `real` and NAME(x) defined.
 */
static void NAME(fill)(sd_engine *e, double alpha, sd_vector *x)
{
    if (e->status) return;
    for (int64_t i = 0; i < x->n; ++i) ((real *)x->data)[i] = (real)alpha;
}

static void NAME(copy)(sd_engine *e, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    for (int64_t i = 0; i < x->n; ++i) ((real *)y->data)[i] = ((const real *)x->data)[i];
}

static void NAME(scale)(sd_engine *e, double alpha, sd_vector *x)
{
    if (e->status) return;
    for (int64_t i = 0; i < x->n; ++i) ((real *)x->data)[i] *= (real)alpha;
}

static void NAME(axpby)(sd_engine *e, double alpha, const sd_vector *x, double beta, sd_vector *y)
{
    if (e->status) return;
    const real *xs = x->data;
    real *ys = y->data;
    for (int64_t i = 0; i < x->n; ++i)
        ys[i] = (real)beta == 0 ? (real)alpha * xs[i] : (real)alpha * xs[i] + (real)beta * ys[i];
}

static void NAME(axpy)(sd_engine *e, double alpha, const sd_vector *x, sd_vector *y)
{
    NAME(axpby)(e, alpha, x, 1.0, y);
}

static void NAME(multiply)(sd_engine *e, const sd_vector *d, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *ds = d->data, *xs = x->data;
    for (int64_t i = 0; i < x->n; ++i) ((real *)y->data)[i] = ds[i] * xs[i];
}

static void NAME(absolute)(sd_engine *e, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    for (int64_t i = 0; i < x->n; ++i) ((real *)y->data)[i] = ABS(((const real *)x->data)[i]);
}

static void NAME(dot)(sd_engine *e, const sd_vector *x, const sd_vector *y, double *result)
{
    if (e->status) return;
    const real *xs = x->data, *ys = y->data;
    double sum = 0;
    for (int64_t i = 0; i < x->n; ++i) sum += (double)xs[i] * (double)ys[i];
    *result = sum;
}

static void NAME(advance)(sd_engine *e, const sd_scalar *alpha, const sd_vector *p, const sd_vector *q,
                          sd_vector *x, sd_vector *r, double *square)
{
    if (e->status) return;
    const double a = sd_scalar_value(alpha);
    NAME(axpy)(e, a, p, x);
    NAME(axpy)(e, -a, q, r);
    NAME(dot)(e, r, r, square);
}

static void NAME(direction)(sd_engine *e, const sd_vector *x, const sd_scalar *beta, const sd_scalar *omega,
                            const sd_vector *v, sd_vector *p)
{
    if (e->status) return;
    if (omega) NAME(axpy)(e, -sd_scalar_value(omega), v, p);
    NAME(axpby)(e, 1.0, x, sd_scalar_value(beta), p);
}

static void NAME(gram)(sd_engine *e, const sd_vector *x, const sd_vector *y, double *g)
{
    NAME(dot)(e, x, x, &g[0]);
    NAME(dot)(e, x, y, &g[1]);
    NAME(dot)(e, y, y, &g[2]);
}

static void NAME(norm_inf)(sd_engine *e, const sd_vector *x, double *result)
{
    if (e->status) return;
    double most = 0;
    for (int64_t i = 0; i < x->n && !isnan(most); ++i) {
        const double a = fabs((double)((const real *)x->data)[i]);
        if (!(a <= most)) most = a;
    }
    *result = most;
}

static void NAME(ratio_max)(sd_engine *e, const sd_vector *x, const sd_vector *y, double *result)
{
    if (e->status) return;
    double most = 0;
    for (int64_t i = 0; i < x->n && !isnan(most); ++i) {
        const double a = fabs((double)((const real *)x->data)[i]), b = ((const real *)y->data)[i];
        const double ratio = a == 0 && b == 0 ? 0 : a / b;
        if (!(ratio <= most)) most = ratio;
    }
    *result = most;
}

/* Vector k of a basis in panels. */
static sd_vector NAME(basis_vector)(const sd_vector *x, int k, int64_t n)
{
    return (sd_vector){(real *)x[k / SD_PANEL].data + k % SD_PANEL * n, n, x->precision};
}

static void NAME(basis_dot)(sd_engine *e, int count, const sd_vector *x, const sd_vector *w, double *h)
{
    for (int k = 0; k < count; ++k) {
        const sd_vector v = NAME(basis_vector)(x, k, w->n);
        NAME(dot)(e, &v, w, &h[k]);
    }
    NAME(dot)(e, w, w, &h[count]);
}

static void NAME(basis_axpy)(sd_engine *e, int count, double sign, const double *h, const sd_vector *x,
                             sd_vector *w)
{
    for (int k = 0; k < count; ++k) {
        const sd_vector v = NAME(basis_vector)(x, k, w->n);
        NAME(axpy)(e, sign * h[k], &v, w);
    }
}

static void NAME(from_double)(sd_engine *e, const sd_vector *source, sd_vector *x)
{
    if (e->status) return;
    for (int64_t i = 0; i < x->n; ++i) ((real *)x->data)[i] = (real)((const double *)source->data)[i];
}

static void NAME(to_double)(sd_engine *e, const sd_vector *x, sd_vector *target)
{
    if (e->status) return;
    for (int64_t i = 0; i < x->n; ++i) ((double *)target->data)[i] = ((const real *)x->data)[i];
}

static void NAME(spmv)(sd_engine *e, const sd_sparse *A, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *a = A->val, *xs = x->data;
    real *ys = y->data;
    for (int32_t i = 0; i < A->n; ++i) ys[i] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            ys[i] += a[k] * xs[j];
            if (A->half && j != i) ys[j] += a[k] * xs[i];
        }
    }
}

static void NAME(spmv_abs)(sd_engine *e, const sd_sparse *A, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *a = A->val, *xs = x->data;
    real *ys = y->data;
    for (int32_t i = 0; i < A->n; ++i) ys[i] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            ys[i] += ABS(a[k] * xs[j]);
            if (A->half && j != i) ys[j] += ABS(a[k] * xs[i]);
        }
    }
}

/* hi and lo stand in the scratch: a half matrix adds to rows further down. */
static void NAME(residual_dd)(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b,
                              sd_vector *r)
{
    if (e->status) return;
    const real *a = A->val, *xs = x->data;
    double *hi = e->scratch, *lo = hi + A->n;
    for (int32_t i = 0; i < A->n; ++i) hi[i] = (double)((const real *)b->data)[i], lo[i] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            sd_dd_add_product(&hi[i], &lo[i], -(double)a[k], xs[j]);
            if (A->half && j != i) sd_dd_add_product(&hi[j], &lo[j], -(double)a[k], xs[i]);
        }
    }
    for (int32_t i = 0; i < A->n; ++i) ((real *)r->data)[i] = (real)(hi[i] + lo[i]);
}
