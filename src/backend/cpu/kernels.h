/*
 * CPU kernels: OpenMP over pieces that do not depend on the number of threads, loops that the
 * compiler turns into SIMD. Included once a precision, with `real` and NAME(x) defined.
 *
 * Element-wise kernels give the same bits however they are cut. Reductions are cut into chunks of
 * SD_CHUNK entries, each summed in LANES interleaved sums, the chunks' sums added in index order.
 * Products go by the slices of the matrix. Sums are carried in double in both precisions.
 */

/* y_i = f(x_i): a loop over all entries, in parallel where there are enough of them. */
#define EACH(n)                                                                                              \
    const int threads_ = team(e, n);                                                                         \
    _Pragma(                                                                                                 \
        "omp parallel for simd schedule(static) num_threads(threads_) if (threads_ > 1)") for (int64_t i =   \
                                                                                                   0;        \
                                                                                               i < (n); ++i)

static void NAME(fill)(sd_engine *e, double alpha, sd_vector *x)
{
    if (e->status) return;
    real *restrict xs = x->data;
    const real a = (real)alpha;
    EACH(x->n) xs[i] = a;
}

static void NAME(copy)(sd_engine *e, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *xs = x->data;
    real *ys = y->data;
    EACH(x->n) ys[i] = xs[i];
}

static void NAME(scale)(sd_engine *e, double alpha, sd_vector *x)
{
    if (e->status) return;
    real *xs = x->data;
    const real a = (real)alpha;
    EACH(x->n) xs[i] *= a;
}

static void NAME(axpy)(sd_engine *e, double alpha, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *xs = x->data;
    real *ys = y->data;
    const real a = (real)alpha;
    EACH(x->n) ys[i] += a * xs[i];
}

static void NAME(axpby)(sd_engine *e, double alpha, const sd_vector *x, double beta, sd_vector *y)
{
    if (e->status) return;
    const real *xs = x->data;
    real *ys = y->data;
    const real a = (real)alpha, b = (real)beta;
    if (b == 0) {
        EACH(x->n) ys[i] = a * xs[i];
    } else {
        EACH(x->n) ys[i] = a * xs[i] + b * ys[i];
    }
}

static void NAME(multiply)(sd_engine *e, const sd_vector *d, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *ds = d->data, *xs = x->data;
    real *ys = y->data;
    EACH(x->n) ys[i] = ds[i] * xs[i];
}

static void NAME(absolute)(sd_engine *e, const sd_vector *x, sd_vector *y)
{
    if (e->status) return;
    const real *xs = x->data;
    real *ys = y->data;
    EACH(x->n) ys[i] = (real)fabs((double)xs[i]);
}

static void NAME(from_double)(sd_engine *e, const sd_vector *source, sd_vector *x)
{
    if (e->status) return;
    const double *from = source->data;
    real *xs = x->data;
    EACH(x->n) xs[i] = (real)from[i];
}

static void NAME(to_double)(sd_engine *e, const sd_vector *x, sd_vector *target)
{
    if (e->status) return;
    const real *xs = x->data;
    double *to = target->data;
    EACH(x->n) to[i] = xs[i];
}

static double NAME(chunk_dot)(const real *x, const real *y, int64_t count)
{
    double sum[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; ++l) sum[l] += (double)x[i + l] * (double)y[i + l];
    for (int l = 0; i < count; ++i, ++l) sum[l] += (double)x[i] * (double)y[i];
    return fold(sum);
}

/* Dots of m <= SD_PANEL vectors, one after the other in v, with w. */
static void NAME(panel_dot)(sd_engine *e, int m, const real *v, const sd_vector *w, double *h)
{
    if (e->status) return;
    const int64_t n = w->n, chunks = (n + SD_CHUNK - 1) / SD_CHUNK;
    const real *ws = w->data;
    double *part = e->scratch;
    const int threads = team(e, n * m);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t begin = c * SD_CHUNK, count = n - begin < SD_CHUNK ? n - begin : SD_CHUNK;
        for (int k = 0; k < m; ++k)
            part[c * SD_PANEL + k] = NAME(chunk_dot)(v + k * n + begin, ws + begin, count);
    }
    add_chunks(part, chunks, m, h);
}

static void NAME(basis_dot)(sd_engine *e, int count, const sd_vector *x, const sd_vector *w, double *h)
{
    for (int k = 0; k < count; k += SD_PANEL)
        NAME(panel_dot)(e, count - k < SD_PANEL ? count - k : SD_PANEL, x[k / SD_PANEL].data, w, h + k);
    NAME(panel_dot)(e, 1, w->data, w, h + count);
}

static void NAME(dot)(sd_engine *e, const sd_vector *x, const sd_vector *y, double *result)
{
    NAME(panel_dot)(e, 1, x->data, y, result);
}

/* x'x, x'y, y'y of a chunk: one pass, each sum as chunk_dot makes it. */
static void NAME(chunk_gram)(const real *x, const real *y, int64_t count, double *g)
{
    double xx[LANES] = {0}, xy[LANES] = {0}, yy[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; ++l) {
            xx[l] += (double)x[i + l] * (double)x[i + l];
            xy[l] += (double)x[i + l] * (double)y[i + l];
            yy[l] += (double)y[i + l] * (double)y[i + l];
        }
    for (int l = 0; i < count; ++i, ++l) {
        xx[l] += (double)x[i] * (double)x[i];
        xy[l] += (double)x[i] * (double)y[i];
        yy[l] += (double)y[i] * (double)y[i];
    }
    g[0] = fold(xx);
    g[1] = fold(xy);
    g[2] = fold(yy);
}

static void NAME(gram)(sd_engine *e, const sd_vector *x, const sd_vector *y, double *g)
{
    if (e->status) return;
    const int64_t n = x->n, chunks = (n + SD_CHUNK - 1) / SD_CHUNK;
    const real *xs = x->data, *ys = y->data;
    double *part = e->scratch;
    const int threads = team(e, n);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t begin = c * SD_CHUNK, count = n - begin < SD_CHUNK ? n - begin : SD_CHUNK;
        NAME(chunk_gram)(xs + begin, ys + begin, count, part + c * SD_PANEL);
    }
    add_chunks(part, chunks, 3, g);
}

static void NAME(advance)(sd_engine *e, const sd_scalar *alpha, const sd_vector *p, const sd_vector *q,
                          sd_vector *x, sd_vector *r, double *square)
{
    if (e->status) return;
    const int64_t n = x->n, chunks = (n + SD_CHUNK - 1) / SD_CHUNK;
    const real *ps = p->data, *qs = q->data, a = (real)sd_scalar_value(alpha);
    real *xs = x->data, *rs = r->data;
    double *part = e->scratch;
    const int threads = team(e, n);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t begin = c * SD_CHUNK, end = n - begin < SD_CHUNK ? n : begin + SD_CHUNK;
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) xs[i] += a * ps[i];
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) rs[i] -= a * qs[i];
        part[c * SD_PANEL] = NAME(chunk_dot)(rs + begin, rs + begin, end - begin);
    }
    add_chunks(part, chunks, 1, square);
}

static void NAME(direction)(sd_engine *e, const sd_vector *x, const sd_scalar *beta, const sd_scalar *omega,
                            const sd_vector *v, sd_vector *p)
{
    if (e->status) return;
    const real *xs = x->data, b = (real)sd_scalar_value(beta);
    real *ps = p->data;
    if (omega) {
        const real *vs = v->data, o = (real)sd_scalar_value(omega);
        EACH(x->n) ps[i] = xs[i] + b * (ps[i] - o * vs[i]);
    } else {
        EACH(x->n) ps[i] = xs[i] + b * ps[i];
    }
}

static void NAME(panel_axpy)(sd_engine *e, int m, double sign, const double *h, const real *v, sd_vector *w)
{
    if (e->status) return;
    const int64_t n = w->n, chunks = (n + SD_CHUNK - 1) / SD_CHUNK;
    real *ws = w->data;
    const int threads = team(e, n * m);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t begin = c * SD_CHUNK, end = n - begin < SD_CHUNK ? n : begin + SD_CHUNK;
        for (int k = 0; k < m; ++k) {
            const real a = (real)(sign * h[k]);
            const real *vk = v + k * n;
            for (int64_t i = begin; i < end; ++i) ws[i] += a * vk[i];
        }
    }
}

static void NAME(basis_axpy)(sd_engine *e, int count, double sign, const double *h, const sd_vector *x,
                             sd_vector *w)
{
    for (int k = 0; k < count; k += SD_PANEL) NAME(panel_axpy)
    (e, count - k < SD_PANEL ? count - k : SD_PANEL, sign, h + k, x[k / SD_PANEL].data, w);
}

/* A maximum has no order to keep, so the threads may share it out as they like. */
static void NAME(norm_inf)(sd_engine *e, const sd_vector *x, double *result)
{
    if (e->status) return;
    const real *xs = x->data;
    double most = 0;
    int nan = 0;
    const int threads = team(e, x->n);
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(max : most) reduction(| : nan)
    for (int64_t i = 0; i < x->n; ++i) {
        const double a = fabs((double)xs[i]);
        nan |= a != a;
        most = a > most ? a : most;
    }
    *result = nan ? NAN : most;
}

static void NAME(ratio_max)(sd_engine *e, const sd_vector *x, const sd_vector *y, double *result)
{
    if (e->status) return;
    const real *xs = x->data, *ys = y->data;
    double most = 0;
    int nan = 0;
    const int threads = team(e, x->n);
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(max : most) reduction(| : nan)
    for (int64_t i = 0; i < x->n; ++i) {
        const double a = xs[i] == 0 && ys[i] == 0 ? 0.0 : fabs((double)xs[i]) / (double)ys[i];
        nan |= a != a;
        most = a > most ? a : most;
    }
    *result = nan ? NAN : most;
}

/* Rows of a matrix that is stored whole: out_i = [b_i -] sum_j a_ij x_j. */
static inline void NAME(whole_product)(sd_engine *e, const sd_sparse *A, const real *x, const real *b,
                                       real *out, const product_mode mode)
{
    const real *a = A->val;
    const int threads = team(e, A->nnz);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int32_t s = 0; s < A->slices; ++s) {
        for (int32_t i = A->slice[s]; i < A->slice[s + 1]; ++i) {
            double hi = mode == EXTENDED ? (double)b[i] : 0, lo = 0;
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k)
                add_product(&hi, &lo, mode == EXTENDED ? -(double)a[k] : (double)a[k], x[A->ind[k]], mode);
            out[i] = (real)(mode == EXTENDED ? hi + lo : hi);
        }
    }
}

/* What slice s of a half matrix adds to its window, in scratch: hi, and behind all windows lo. */
static inline void NAME(half_slice)(const sd_sparse *A, int32_t s, const real *x, double *scratch,
                                    const product_mode mode)
{
    const real *a = A->val;
    const int32_t first = A->slice[s], end = A->window[s];
    double *hi = scratch + A->offset[s] - first;
    double *lo = mode == EXTENDED ? hi + A->window_total : hi;
    for (int32_t i = first; i < end; ++i) hi[i] = 0;
    if (mode == EXTENDED)
        for (int32_t i = first; i < end; ++i) lo[i] = 0;
    /* what the rows above have added to row i comes first: columns in order, as in a whole row */
    for (int32_t i = first; i < A->slice[s + 1]; ++i) {
        const double xi = x[i];
        double sum = hi[i], low = mode == EXTENDED ? lo[i] : 0;
        int64_t k = A->ptr[i];
        const int64_t stop = A->ptr[i + 1];
        if (k < stop && A->ind[k] == i) add_product(&sum, &low, a[k++], xi, mode);
        for (; k < stop; ++k) {
            const int32_t j = A->ind[k];
            add_product(&sum, &low, a[k], x[j], mode);
            add_product(&hi[j], &lo[j], a[k], xi, mode);
        }
        hi[i] = sum;
        if (mode == EXTENDED) lo[i] = low;
    }
}

/* Rows of slice s: the windows that reach into it, added in order of their slices. */
static inline void NAME(half_gather)(const sd_sparse *A, int32_t s, const real *b, const double *scratch,
                                     real *out, const product_mode mode)
{
    for (int32_t begin = A->slice[s]; begin < A->slice[s + 1]; begin += GATHER) {
        const int32_t end = A->slice[s + 1] - begin < GATHER ? A->slice[s + 1] : begin + GATHER;
        double hi[GATHER], lo[GATHER];
        for (int32_t i = begin; i < end; ++i) hi[i - begin] = lo[i - begin] = 0;
        for (int32_t t = 0; t <= s; ++t) {
            const int32_t stop = A->window[t] < end ? A->window[t] : end;
            const double *part = scratch + A->offset[t] - A->slice[t];
            for (int32_t i = begin; i < stop; ++i) {
                if (mode == EXTENDED) {
                    sd_dd_add(&hi[i - begin], &lo[i - begin], part[i]);
                    lo[i - begin] += part[i + A->window_total];
                } else {
                    hi[i - begin] += part[i];
                }
            }
        }
        for (int32_t i = begin; i < end; ++i) {
            double value = hi[i - begin];
            if (mode == EXTENDED) {
                sd_dd_add(&value, &lo[i - begin], -(double)b[i]);
                value = -(value + lo[i - begin]);
            }
            out[i] = (real)value;
        }
    }
}

static inline void NAME(product)(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b,
                                 sd_vector *y, const product_mode mode)
{
    if (e->status) return;
    const real *bs = b ? b->data : NULL, *xs = x->data;
    if (!A->half) {
        NAME(whole_product)(e, A, xs, bs, y->data, mode);
        return;
    }
    const int threads = team(e, 2 * A->nnz);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(dynamic, 1)
        for (int32_t s = 0; s < A->slices; ++s) NAME(half_slice)(A, s, xs, e->scratch, mode);
#pragma omp for schedule(dynamic, 1)
        for (int32_t s = 0; s < A->slices; ++s) NAME(half_gather)(A, s, bs, e->scratch, y->data, mode);
    }
}

static void NAME(spmv)(sd_engine *e, const sd_sparse *A, const sd_vector *x, sd_vector *y)
{
    NAME(product)(e, A, x, NULL, y, PLAIN);
}

static void NAME(spmv_abs)(sd_engine *e, const sd_sparse *A, const sd_vector *x, sd_vector *y)
{
    NAME(product)(e, A, x, NULL, y, ABSOLUTE);
}

static void NAME(residual_dd)(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b,
                              sd_vector *r)
{
    NAME(product)(e, A, x, b, r, EXTENDED);
}

#undef EACH
