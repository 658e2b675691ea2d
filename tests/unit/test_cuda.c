/*
 * The CUDA module beyond what the conformance tests ask of every backend: bits, long rows, memory,
 * failures, solves at once. Skipped where there is no GPU; with SADDLE_TEST_CUDA set that fails.
 */
#include "helpers.h"

#include "backend/backend.h"
#include "failing_allocator.h"

#include <pthread.h>

/* An engine on the GPU and one that runs the reference, for the same work. */
typedef struct engines {
    sd_context gpu_context, host_context;
    sd_device device;
    sd_engine gpu, host;
} engines;

static int setup(void **state)
{
    engines *s = calloc(1, sizeof *s);
    if (!s) return -1;
    sd_context_init(&s->gpu_context, NULL, 0);
    sd_context_init(&s->host_context, NULL, 0);
    sd_engine_open_host(&s->host_context, &s->host, SADDLE_DEVICE_REFERENCE, 1);
    if (!sd_device_open(&s->gpu_context, &s->device, SADDLE_DEVICE_CUDA, 0))
        sd_engine_open(&s->gpu_context, &s->device, &s->gpu, 1);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    engines *s = *state;
    sd_engine_close(&s->gpu);
    sd_device_close(&s->gpu_context, &s->device);
    sd_engine_close(&s->host);
    const bool clean = s->gpu_context.bytes == 0 && s->host_context.bytes == 0;
    free(s);
    return clean ? 0 : -1;
}

static engines *with_gpu(void **state)
{
    engines *s = *state;
    if (s->gpu.backend) return s;
    const char *wanted = getenv("SADDLE_TEST_CUDA");
    if (wanted && *wanted) fail_msg("SADDLE_TEST_CUDA is set: %s", s->gpu_context.message);
    skip();
    return NULL;
}

static const sd_precision precisions[] = {SD_DOUBLE, SD_SINGLE};
static const int64_t sizes[] = {0, 1, 31, 255, 257, 1024, 4095, 4096, 4097, 8193, 100003};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static sd_vector put(sd_engine *e, sd_precision precision, const double *host, int64_t n)
{
    sd_vector x = sd_vector_new(e, precision, n, "test vector");
    sd_vector_put(e, host, &x);
    sd_engine_reserve(e, n, NULL);
    assert_int_equal(e->status, SADDLE_OK);
    return x;
}

static double *get(sd_engine *e, const sd_vector *x)
{
    double *host = test_alloc((size_t)x->n, sizeof *host);
    sd_vector_get(e, x, host);
    if (e->status) fail_msg("%s", e->context->message);
    return host;
}

static double *random_numbers(rng *r, int64_t n)
{
    double *x = test_alloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; ++i) x[i] = rng_unit(r);
    return x;
}

static void assert_same_bits(const double *a, const double *b, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; ++i)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s: entry %lld of %lld is %.17g, not %.17g", what, (long long)i, (long long)n, a[i],
                     b[i]);
}

/* ---- element by element ---- */

/* Every kernel that has no sum in it, in a row; x and y are views that begin at an odd place. */
static double *run_elementwise(sd_engine *e, sd_precision precision, const double *from, int64_t n)
{
    const size_t size = sd_precision_size(precision);
    sd_vector whole_x = put(e, precision, from, n + 1), whole_y = put(e, precision, from + n + 1, n + 1);
    sd_vector x = {(char *)whole_x.data + size, n, precision},
              y = {(char *)whole_y.data + size, n, precision};
    sd_vector z = sd_vector_new(e, precision, n, "z"), wide = sd_vector_new(e, SD_DOUBLE, n, "wide");
    sd_axpy(e, 0.3, &x, &y);
    sd_axpby(e, -1.7, &y, 0.9, &x);
    sd_multiply(e, &x, &y, &z);
    sd_scale(e, 1.1, &z);
    sd_axpby(e, 2.3, &z, 0.0, &x);
    sd_absolute(e, &x, &x);
    sd_axpy(e, -0.7, &z, &z);
    sd_axpy(e, 1.0, &z, &x);
    sd_copy(e, &x, &z);
    sd_to_double(e, &z, &wide);
    sd_scale(e, 1.0 / 3.0, &wide);
    sd_from_double(e, &wide, &z);
    double *result = get(e, &z);
    sd_vector_free(e, &whole_x);
    sd_vector_free(e, &whole_y);
    sd_vector_free(e, &z);
    sd_vector_free(e, &wide);
    return result;
}

static void element_by_element_gives_the_bits_of_reference(void **state)
{
    engines *s = with_gpu(state);
    rng r = rng_start("elementwise");
    for (size_t p = 0; p < COUNT(precisions); ++p) {
        for (size_t k = 0; k < COUNT(sizes); ++k) {
            double *from = random_numbers(&r, 2 * sizes[k] + 2);
            double *gpu = run_elementwise(&s->gpu, precisions[p], from, sizes[k]);
            double *host = run_elementwise(&s->host, precisions[p], from, sizes[k]);
            assert_same_bits(gpu, host, sizes[k], "elementwise");
            free(from);
            free(gpu);
            free(host);
        }
    }
}

/* ---- reductions ---- */

/* h_k = v_k'w of a panel of m vectors, then w'w, and w + sum_k h_k v_k. */
static double *run_panel(sd_engine *e, sd_precision precision, int m, const double *from, int64_t n,
                         double *h)
{
    sd_vector v = put(e, precision, from, m * n), w = put(e, precision, from + m * n, n);
    sd_basis_dot(e, m, &v, &w, h);
    sd_wait(e);
    sd_basis_axpy(e, m, 1.0, from, &v, &w);
    double *result = get(e, &w);
    sd_vector_free(e, &v);
    sd_vector_free(e, &w);
    return result;
}

static void panels_agree_with_reference_and_with_single_dots(void **state)
{
    engines *s = with_gpu(state);
    rng r = rng_start("panels");
    for (size_t p = 0; p < COUNT(precisions); ++p) {
        for (int m = 1; m <= SD_PANEL; ++m) {
            const int64_t n = sizes[rng_below(&r, (int)COUNT(sizes) - 1) + 1];
            double *from = random_numbers(&r, (m + 1) * n + SD_PANEL), h[SD_PANEL + 1],
                   expected[SD_PANEL + 1];
            double *gpu = run_panel(&s->gpu, precisions[p], m, from, n, h);
            double *host = run_panel(&s->host, precisions[p], m, from, n, expected);
            assert_same_bits(gpu, host, n, "panel_axpy");
            sd_vector w = put(&s->gpu, precisions[p], from + m * n, n);
            for (int k = 0; k < m; ++k) {
                if (!(fabs(h[k] - expected[k]) <= (double)n * 1e-16 * (double)n))
                    fail_msg("dot %d of %d, n = %lld: %.17g, not %.17g", k, m, (long long)n, h[k],
                             expected[k]);
                sd_vector v = put(&s->gpu, precisions[p], from + k * n, n);
                const double alone = sd_dot_of(&s->gpu, &v, &w);
                assert_same_bits(&h[k], &alone, 1, "a dot alone and in a panel");
                sd_vector_free(&s->gpu, &v);
            }
            sd_vector_free(&s->gpu, &w);
            free(from);
            free(gpu);
            free(host);
        }
    }
}

static void maxima_find_every_place_and_keep_nan(void **state)
{
    engines *s = with_gpu(state);
    sd_engine *e = &s->gpu;
    const int64_t n = 10007, places[] = {0, 1, 255, 256, 4095, 4096, 8191, 10006};
    double *host = test_alloc((size_t)n, sizeof *host), *ones = test_alloc((size_t)n, sizeof *ones);
    for (int64_t i = 0; i < n; ++i) host[i] = -0.5, ones[i] = 1;
    for (size_t p = 0; p < COUNT(precisions); ++p) {
        for (size_t k = 0; k < COUNT(places); ++k) {
            const double tried[] = {-2.0, INFINITY, NAN};
            for (size_t t = 0; t < COUNT(tried); ++t) {
                host[places[k]] = tried[t];
                sd_vector x = put(e, precisions[p], host, n), y = put(e, precisions[p], ones, n);
                double most = 0, ratio = 0;
                sd_norm_inf(e, &x, &most);
                sd_ratio_max(e, &x, &y, &ratio);
                if (isnan(tried[t]))
                    assert_true(isnan(most) && isnan(ratio));
                else
                    assert_true(most == fabs(tried[t]) && ratio == fabs(tried[t]));
                sd_vector_free(e, &x);
                sd_vector_free(e, &y);
            }
            host[places[k]] = -0.5;
        }
    }
    free(host);
    free(ones);
}

static void ratio_takes_zero_over_zero_as_zero(void **state)
{
    engines *s = with_gpu(state);
    sd_engine *e = &s->gpu;
    const double x[] = {0, 0, 3}, y[] = {0, -0.0, -1}, above[] = {0, 1, 0}, below[] = {0, 0, 1};
    double ratio = -1;
    sd_vector a = put(e, SD_DOUBLE, x, 3), b = put(e, SD_DOUBLE, y, 3);
    sd_ratio_max(e, &a, &b, &ratio);
    assert_true(ratio == 0); /* a negative denominator is none that a method makes; it never wins */
    sd_vector_put(e, above, &a);
    sd_vector_put(e, below, &b);
    sd_ratio_max(e, &a, &b, &ratio);
    assert_true(isinf(ratio));
    sd_vector_free(e, &a);
    sd_vector_free(e, &b);
}

/* ---- products ---- */

/* A random matrix on the host whose row i has about length(i) entries. */
typedef struct sparse_rows {
    int32_t n;
    int64_t nnz, longest;
    int64_t *ptr;
    int32_t *ind;
    double *val;
    float *single;
} sparse_rows;

typedef int64_t (*row_length)(int32_t i, int32_t n, rng *r);

static int64_t length_tridiagonal(int32_t i, int32_t n, rng *r)
{
    (void)r;
    return i == 0 || i == n - 1 ? 2 : 3;
}
static int64_t length_one(int32_t i, int32_t n, rng *r)
{
    (void)n, (void)r;
    return i % 3 != 0;
}
static int64_t length_any(int32_t i, int32_t n, rng *r)
{
    (void)i, (void)n;
    return rng_below(r, 60);
}
static int64_t length_whole(int32_t i, int32_t n, rng *r)
{
    (void)i, (void)r;
    return n;
}
static int64_t length_arrow(int32_t i, int32_t n, rng *r)
{
    (void)r;
    return i == n / 2 ? n : 2;
}
/* rows around every edge that choose_shape draws */
static int64_t length_stairs(int32_t i, int32_t n, rng *r)
{
    static const int64_t lengths[] = {64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 40000};
    (void)r;
    const int64_t length = i % 701 == 0 ? lengths[i / 701 % (int)COUNT(lengths)] : 1;
    return length < n ? length : n;
}

static const struct {
    const char *name;
    row_length length;
    int32_t n;
} patterns[] = {
    {"one row", length_whole, 1},      {"tridiagonal", length_tridiagonal, 5003},
    {"one or none", length_one, 3001}, {"any up to 60", length_any, 4001},
    {"whole", length_whole, 400},      {"arrow", length_arrow, 300007},
    {"stairs", length_stairs, 100003},
};

/* Columns ascend with gaps as even as they can be. */
static sparse_rows rows_make(rng *r, row_length length, int32_t n)
{
    sparse_rows A = {.n = n, .ptr = test_alloc((size_t)n + 1, sizeof *A.ptr)};
    for (int32_t i = 0; i < n; ++i) {
        const int64_t count = length(i, n, r);
        A.ptr[i + 1] = A.ptr[i] + count;
        if (count > A.longest) A.longest = count;
    }
    A.nnz = A.ptr[n];
    A.ind = test_alloc((size_t)A.nnz, sizeof *A.ind);
    A.val = test_alloc((size_t)A.nnz, sizeof *A.val);
    A.single = test_alloc((size_t)A.nnz, sizeof *A.single);
    for (int32_t i = 0; i < n; ++i) {
        const int64_t count = A.ptr[i + 1] - A.ptr[i];
        for (int64_t k = 0; k < count; ++k) A.ind[A.ptr[i] + k] = (int32_t)(k * n / count);
    }
    for (int64_t k = 0; k < A.nnz; ++k) {
        A.single[k] = (float)rng_unit(r);
        A.val[k] = A.single[k] * (1 + 0x1p-30);
    }
    return A;
}

static void rows_free(sparse_rows *A)
{
    free(A->ptr);
    free(A->ind);
    free(A->val);
    free(A->single);
}

static sd_sparse rows_on_host(const sparse_rows *A, sd_precision precision)
{
    return (sd_sparse){.n = A->n,
                       .nnz = A->nnz,
                       .precision = precision,
                       .ptr = A->ptr,
                       .ind = A->ind,
                       .val = precision == SD_DOUBLE ? (const void *)A->val : (const void *)A->single};
}

static void *to_gpu(sd_engine *e, const void *host, int64_t bytes)
{
    void *block = e->backend->allocate(e, bytes, "test matrix");
    assert_non_null(block);
    e->backend->upload(e, host, block, bytes);
    return block;
}

static sd_sparse rows_on_gpu(sd_engine *e, const sparse_rows *A, sd_precision precision)
{
    sd_sparse S = rows_on_host(A, precision);
    S.ptr = to_gpu(e, S.ptr, (S.n + 1) * (int64_t)sizeof *S.ptr);
    S.ind = to_gpu(e, S.ind, S.nnz * (int64_t)sizeof *S.ind);
    S.val = to_gpu(e, S.val, S.nnz * (int64_t)sd_precision_size(precision));
    return S;
}

static void rows_release(sd_engine *e, sd_sparse *S)
{
    e->backend->release(e, (void *)(uintptr_t)S->ptr);
    e->backend->release(e, (void *)(uintptr_t)S->ind);
    e->backend->release(e, (void *)(uintptr_t)S->val);
}

/* The three products, one after the other in one array of 3 n. */
static double *run_products(sd_engine *e, const sd_sparse *A, const double *from)
{
    const int64_t n = A->n;
    double *all = test_alloc((size_t)(3 * n), sizeof *all);
    sd_vector x = put(e, A->precision, from, n), b = put(e, A->precision, from + n, n);
    sd_vector y = sd_vector_new(e, A->precision, n, "y");
    sd_engine_reserve(e, n, A);
    sd_residual_dd(e, A, &x, &b, &y);
    sd_vector_get(e, &y, all);
    sd_spmv(e, A, &x, &y);
    sd_vector_get(e, &y, all + n);
    sd_spmv_abs(e, A, &x, &y);
    sd_vector_get(e, &y, all + 2 * n);
    if (e->status) fail_msg("%s", e->context->message);
    sd_vector_free(e, &x);
    sd_vector_free(e, &b);
    sd_vector_free(e, &y);
    return all;
}

/* Sums differ by their order alone: within length eps (|A||x| + |b|), residual_dd within one rounding. */
static void assert_products(const sparse_rows *A, sd_precision precision, const double *gpu,
                            const double *host, const char *name)
{
    const double eps = precision == SD_DOUBLE ? 0x1p-53 : 0x1p-24;
    const int64_t n = A->n;
    for (int64_t i = 0; i < 3 * n; ++i) {
        const double length = (double)(A->ptr[i % n + 1] - A->ptr[i % n]), weight = host[2 * n + i % n] + 1;
        const bool extended = i < n;
        const double allowed = extended ? 2 * eps * fabs(host[i]) + length * length * 0x1p-104 * weight
                                        : 2 * (length + 2) * eps * weight;
        if (!(fabs(gpu[i] - host[i]) <= allowed))
            fail_msg("%s, product %d, row %d: %.17g, not %.17g (allowed %g)", name, (int)(i / n),
                     (int)(i % n), gpu[i], host[i], allowed);
    }
}

static void products_agree_with_reference_whatever_the_rows(void **state)
{
    engines *s = with_gpu(state);
    rng r = rng_start("products");
    for (size_t k = 0; k < COUNT(patterns); ++k) {
        sparse_rows A = rows_make(&r, patterns[k].length, patterns[k].n);
        double *from = random_numbers(&r, 2 * (int64_t)A.n);
        for (size_t p = 0; p < COUNT(precisions); ++p) {
            sd_sparse host_A = rows_on_host(&A, precisions[p]);
            sd_sparse gpu_A = rows_on_gpu(&s->gpu, &A, precisions[p]);
            double *host = run_products(&s->host, &host_A, from);
            double *gpu = run_products(&s->gpu, &gpu_A, from);
            assert_products(&A, precisions[p], gpu, host, patterns[k].name);
            gpu_A.longest = A.longest; /* knowing it may spare a launch and changes nothing else */
            double *again = run_products(&s->gpu, &gpu_A, from);
            assert_same_bits(gpu, again, 3 * (int64_t)A.n, patterns[k].name);
            rows_release(&s->gpu, &gpu_A);
            free(host);
            free(gpu);
            free(again);
        }
        rows_free(&A);
        free(from);
    }
}

static void a_half_matrix_is_refused(void **state)
{
    engines *s = with_gpu(state);
    sd_context c;
    sd_engine e;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_engine_open(&c, &s->device, &e, 1), SADDLE_OK);
    const double one[] = {1};
    sd_vector x = put(&e, SD_DOUBLE, one, 1);
    const sd_sparse A = {.n = 1, .half = true};
    sd_spmv(&e, &A, &x, &x);
    assert_int_equal(e.status, SADDLE_NOT_SUPPORTED);
    assert_contains(c.message, "spmv");
    sd_vector_free(&e, &x);
    sd_engine_close(&e);
    assert_int_equal(c.bytes, 0);
}

/* ---- solves at once ---- */

typedef struct worker {
    const sd_device *device;
    const sparse_rows *A;
    const double *from;
    double *result;
    double dot;
    saddle_status status;
} worker;

/* Again and again with another engine, whose stream may have been another thread's. */
static void *work(void *argument)
{
    worker *w = argument;
    sd_context c;
    sd_engine e;
    sd_context_init(&c, NULL, 0);
    for (int k = is_about_memory() ? 4 : 0; k < 5 && !w->status; ++k) {
        w->status = sd_engine_open(&c, w->device, &e, 1);
        if (w->status) return NULL;
        sd_sparse A = rows_on_gpu(&e, w->A, SD_DOUBLE);
        free(w->result);
        w->result = run_products(&e, &A, w->from);
        sd_vector x = put(&e, SD_DOUBLE, w->from, w->A->n);
        w->dot = sd_dot_of(&e, &x, &x);
        sd_vector_free(&e, &x);
        rows_release(&e, &A);
        w->status = e.status;
        sd_engine_close(&e);
    }
    return NULL;
}

static void engines_at_once_give_the_same_bits(void **state)
{
    engines *s = with_gpu(state);
    rng r = rng_start("engines at once");
    sparse_rows A = rows_make(&r, length_stairs, 100003);
    double *from = random_numbers(&r, 2 * (int64_t)A.n);
    worker workers[4];
    pthread_t threads[4];
    for (int k = 0; k < 4; ++k) {
        workers[k] = (worker){.device = &s->device, .A = &A, .from = from};
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < 4; ++k) assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(workers[k].status, SADDLE_OK);
        assert_same_bits(workers[0].result, workers[k].result, 3 * (int64_t)A.n, "products at once");
        assert_same_bits(&workers[0].dot, &workers[k].dot, 1, "dots at once");
    }
    for (int k = 0; k < 4; ++k) free(workers[k].result);
    rows_free(&A);
    free(from);
}

/* What was asked for and never waited for, and what was never freed, is not the next engine's. */
static void an_engine_finds_nothing_of_the_one_before_it(void **state)
{
    engines *s = with_gpu(state);
    rng r = rng_start("one engine after the other");
    double *from = random_numbers(&r, 100003), never[3], first = 0;
    for (int k = 0; k < 4; ++k) {
        sd_context c;
        sd_engine e;
        sd_context_init(&c, NULL, 0);
        assert_int_equal(sd_engine_open(&c, &s->device, &e, 1), SADDLE_OK);
        assert_true(e.state != s->gpu.state);
        sd_vector x = put(&e, SD_DOUBLE, from, 100003);
        const double dot = sd_dot_of(&e, &x, &x);
        if (k == 0) first = dot;
        assert_same_bits(&first, &dot, 1, "dot");
        sd_gram(&e, &x, &x, never);
        if (k == 2) sd_spmv(&e, &(sd_sparse){.n = 1, .half = true}, &x, &x); /* which is refused */
        assert_int_equal(e.status, k == 2 ? SADDLE_NOT_SUPPORTED : SADDLE_OK);
        sd_engine_close(&e);
        assert_int_equal(c.bytes, 0);
    }
    free(from);
}

static void a_device_that_is_not_there_is_named(void **state)
{
    with_gpu(state);
    sd_context c;
    sd_device d;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_device_open(&c, &d, SADDLE_DEVICE_CUDA, 1000), SADDLE_NO_DEVICE);
    assert_contains(c.message, "1000");
    assert_null(d.backend);
    sd_device_close(&c, &d);
}

/* ---- memory and failures ---- */

static void memory_is_counted_and_limited(void **state)
{
    engines *s = with_gpu(state);
    sd_context c;
    sd_engine e;
    sd_context_init(&c, NULL, 100000);
    assert_int_equal(sd_engine_open(&c, &s->device, &e, 1), SADDLE_OK);
    sd_vector x = sd_vector_new(&e, SD_DOUBLE, 10000, "first vector");
    assert_non_null(x.data);
    assert_true(c.bytes >= 80000 && c.peak >= 80000);
    assert_null(e.backend->allocate(&e, 80000, "second vector"));
    assert_int_equal(c.status, SADDLE_MEMORY_LIMIT);
    assert_contains(c.message, "second vector");
    assert_contains(c.message, "160000");
    sd_vector_free(&e, &x);
    assert_int_equal(c.bytes, 0);
    void *empty = e.backend->allocate(&e, 0, "nothing");
    assert_non_null(empty);
    e.backend->release(&e, empty);
    e.backend->release(&e, NULL);
    sd_vector_new(&e, SD_DOUBLE, 1000, "never freed");
    sd_engine_close(&e);
    assert_int_equal(c.bytes, 0);
}

static void too_much_memory_is_no_failure_of_the_device(void **state)
{
    engines *s = with_gpu(state);
    sd_engine *e = &s->gpu;
    const double one[] = {3};
    assert_null(e->backend->allocate(e, INT64_C(1) << 46, "64 TiB"));
    assert_int_equal(e->context->status, SADDLE_OUT_OF_MEMORY);
    assert_contains(e->context->message, "64 TiB");
    assert_null(e->backend->allocate(e, -8, "less than nothing"));
    assert_int_equal(e->status, SADDLE_OK);
    sd_vector x = put(e, SD_DOUBLE, one, 1);
    assert_true(sd_dot_of(e, &x, &x) == 9);
    sd_vector_free(e, &x);
}

static void every_allocation_may_fail(void **state)
{
    with_gpu(state);
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_engine e;
        sd_context_init(&c, &hooks, 0);
        sd_device d;
        saddle_status status = sd_device_open(&c, &d, SADDLE_DEVICE_CUDA, 0);
        if (!status) status = sd_engine_open(&c, &d, &e, 1);
        if (!status) {
            sd_vector x = sd_vector_new(&e, SD_DOUBLE, 100, "x");
            sd_engine_reserve(&e, 100, NULL);
            status = e.status;
            sd_vector_free(&e, &x);
            sd_engine_close(&e);
        }
        sd_device_close(&c, &d);
        assert_int_equal(f.live, 0);
        assert_int_equal(c.bytes, 0);
        assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
        if (!f.failed) break;
    }
}

static void after_a_failure_kernels_do_nothing(void **state)
{
    engines *s = with_gpu(state);
    sd_context c;
    sd_engine e;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_engine_open(&c, &s->device, &e, 1), SADDLE_OK);
    double host = 7, result = 5;
    sd_vector x = sd_vector_new(&e, SD_DOUBLE, 1, "x");
    sd_dot(&e, &x, &x, &result); /* no scratch was reserved */
    assert_int_equal(e.status, SADDLE_DEVICE_FAILED);
    assert_contains(c.message, "dot");
    snprintf(c.message, sizeof c.message, "the first message");
    sd_norm_inf(&e, &x, &result);
    sd_fill(&e, 1.0, &x);
    e.backend->download(&e, x.data, &host, sizeof host);
    assert_true(host == 7);
    assert_string_equal(c.message, "the first message");
    sd_vector_free(&e, &x);
    sd_engine_close(&e);
    assert_int_equal(c.bytes, 0);
}

static void a_device_is_described_or_refused_with_the_reason(void **state)
{
    (void)state;
    char message[SADDLE_MESSAGE_SIZE] = "";
    const saddle_status status = saddle_describe_device("cuda", 0, message);
    print_message("           %s\n", message);
    assert_true(status == SADDLE_OK || status == SADDLE_NO_DEVICE);
    assert_contains(message, status ? "CUDA" : "compute capability");
    assert_int_equal(saddle_describe_device("cuda", 1000, message), SADDLE_NO_DEVICE);
    saddle_options options = saddle_options_default();
    options.device = SADDLE_DEVICE_CUDA;
    options.device_index = 1000;
    saddle_solver *solver;
    assert_int_equal(saddle_create(&solver, &options, NULL, message), SADDLE_NO_DEVICE);
    assert_null(solver);
    if (!status) assert_contains(message, "1000");
    assert_contains(message, "CUDA");
}

static void a_matrix_without_rows_is_solved(void **state)
{
    with_gpu(state);
    static const char *const methods[] = {"auto", "none", "diagonal", "bjacobi", "ldlt", "jacobi"};
    const saddle_matrix A = saddle_symmetric(0, NULL, NULL, NULL);
    for (int m = 0; m < 6; ++m) {
        saddle_options options = saddle_options_default();
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_options_set(&options, "method", methods[m], NULL), SADDLE_OK);
        options.device = SADDLE_DEVICE_CUDA;
        if (saddle_solve_once(&A, NULL, NULL, &options, &info)) fail_msg("%s: %s", methods[m], info.message);
        assert_true(info.converged && info.relative_residual == 0);
    }
}

/* test_cuda [PATTERN]: the tests whose names match */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_described_or_refused_with_the_reason),
        cmocka_unit_test(element_by_element_gives_the_bits_of_reference),
        cmocka_unit_test(panels_agree_with_reference_and_with_single_dots),
        cmocka_unit_test(maxima_find_every_place_and_keep_nan),
        cmocka_unit_test(ratio_takes_zero_over_zero_as_zero),
        cmocka_unit_test(products_agree_with_reference_whatever_the_rows),
        cmocka_unit_test(a_half_matrix_is_refused),
        cmocka_unit_test(engines_at_once_give_the_same_bits),
        cmocka_unit_test(an_engine_finds_nothing_of_the_one_before_it),
        cmocka_unit_test(a_device_that_is_not_there_is_named),
        cmocka_unit_test(memory_is_counted_and_limited),
        cmocka_unit_test(too_much_memory_is_no_failure_of_the_device),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(after_a_failure_kernels_do_nothing),
        cmocka_unit_test(a_matrix_without_rows_is_solved),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
