/*
 * Every backend against reference: one walk over tables x precisions x threads x kernels.
 *
 * check_NAME belongs to row NAME of kernels.def; a row without a check does not compile. A check
 * runs its kernel over all sizes (or all matrices), compares with reference within the rounding of
 * the sums, and records the bits that came out: these must be the same from run to run, at any
 * number of threads, and in all tables of the cpu. Data goes in and out by upload and download only,
 * so that the same walk runs on a GPU (SADDLE_TEST_CUDA=1).
 */
#include "helpers.h"

#include "backend/cpu/cpu.h"
#include "matrix/slices.h"

enum { PANEL_ROOM = SD_PANEL, LARGEST = 150001 };
static const int64_t sizes[] = {1, 2, 7, 4095, 4096, 4097, LARGEST};
static const int thread_counts[] = {1, 2, 3, 8};

/* One backend at work in one precision, with reference beside it. */
typedef struct setting {
    sd_context c;
    sd_engine e, reference;
    sd_precision precision;
    uint64_t bits; /* of everything that the running check recorded */
    bool compare;  /* with reference; later walks need only the bits of the first */
} setting;

static double *data[4]; /* random numbers in [-1, 1), room for a panel */

/* ---- matrices ---- */

typedef enum pattern { BANDED, WIDE, ARROW, LAST_COLUMN, GAPS, DENSE } pattern;

typedef struct problem {
    const char *name;
    pattern pattern;
    int32_t n;
    bool half;
    sd_csr csr;
} problem;

static problem problems[] = {
    {.name = "one by one", .pattern = DENSE, .n = 1},
    {.name = "one by one, half", .pattern = DENSE, .n = 1, .half = true},
    {.name = "seven, gaps", .pattern = GAPS, .n = 7},
    {.name = "seven, gaps, half", .pattern = GAPS, .n = 7, .half = true},
    {.name = "banded", .pattern = BANDED, .n = 20000},
    {.name = "banded, half", .pattern = BANDED, .n = 20000, .half = true},
    {.name = "wide", .pattern = WIDE, .n = 20000},
    {.name = "wide, half", .pattern = WIDE, .n = 20000, .half = true},
    {.name = "arrow", .pattern = ARROW, .n = 70000},
    {.name = "arrow, half", .pattern = ARROW, .n = 70000, .half = true},
    {.name = "dense last column, half", .pattern = LAST_COLUMN, .n = 70000, .half = true},
    {.name = "empty rows, half", .pattern = GAPS, .n = 50000, .half = true},
    {.name = "dense, half", .pattern = DENSE, .n = 650, .half = true},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

/* The columns of row i, ascending; those left of the diagonal are not wanted of a half matrix. */
static int32_t columns_of_row(const problem *p, int32_t i, rng *r, int32_t *columns)
{
    const int32_t n = p->n, first = p->half ? i : 0;
    int32_t count = 0;
#define WANT(from, to, condition)                                                                            \
    for (int32_t j = (from) > first ? (from) : first; j < (to) && j < n; ++j)                                \
        if (condition) columns[count++] = j
    switch (p->pattern) {
    case BANDED: WANT(i - 12, i + 13, true); break;
    case WIDE:
        for (int32_t j = first + rng_below(r, 2000); j < n; j += 1 + rng_below(r, 3300)) columns[count++] = j;
        break;
    case ARROW:
        WANT(0, i > 0 ? 1 : n, true);
        if (i > 0) WANT(i, i + 2, true);
        break;
    case LAST_COLUMN:
        WANT(i, i + 1, i < n - 1);
        WANT(n - 1, n, true);
        break;
    case GAPS: WANT(i - 12, i + 13, i % 3 != 1 && j % 3 != 1); break;
    case DENSE: WANT(0, n, true); break;
    }
#undef WANT
    return count;
}

static void make_problem(sd_context *c, problem *p, rng *r)
{
    const int64_t room = p->pattern == DENSE ? (int64_t)p->n * p->n : (int64_t)p->n * 30 + p->n;
    sd_csr *A = &p->csr;
    *A = (sd_csr){.n = p->n, .half = p->half};
    A->ptr = sd_alloc_zero(c, (int64_t)p->n + 1, sizeof *A->ptr, "test");
    A->ind = sd_alloc(c, room, sizeof *A->ind, "test");
    A->val = sd_alloc(c, room, sizeof *A->val, "test");
    assert_true(A->ptr && A->ind && A->val);
    for (int32_t i = 0; i < p->n; ++i) {
        A->nnz += columns_of_row(p, i, r, A->ind + A->nnz);
        A->ptr[i + 1] = A->nnz;
        assert_true(A->nnz <= room);
    }
    for (int64_t k = 0; k < A->nnz; ++k) A->val[k] = rng_unit(r);
}

/* A matrix in the memory of an engine, with what is to be freed. */
typedef struct placed {
    sd_sparse sparse;
    sd_slices slices;
    void *blocks[3];
} placed;

static void *upload(sd_engine *e, const void *from, int64_t bytes)
{
    void *block = e->backend->allocate(e, bytes, "test");
    assert_non_null(block);
    e->backend->upload(e, from, block, bytes);
    return block;
}

static placed place(sd_engine *e, const sd_csr *A, sd_precision precision)
{
    placed p = {0};
    if (e->status) return p;
    float *rounded = NULL;
    const void *values = A->val;
    if (precision == SD_SINGLE) {
        values = rounded = test_alloc((size_t)A->nnz, sizeof *rounded);
        for (int64_t k = 0; k < A->nnz; ++k) rounded[k] = (float)A->val[k];
    }
    p.blocks[0] = upload(e, A->ptr, ((int64_t)A->n + 1) * (int64_t)sizeof *A->ptr);
    p.blocks[1] = upload(e, A->ind, A->nnz * (int64_t)sizeof *A->ind);
    p.blocks[2] = upload(e, values, A->nnz * (int64_t)sd_precision_size(precision));
    free(rounded);
    p.sparse = (sd_sparse){.n = A->n,
                           .nnz = A->nnz,
                           .half = A->half,
                           .precision = precision,
                           .ptr = p.blocks[0],
                           .ind = p.blocks[1],
                           .val = p.blocks[2]};
    if (e->backend->host_memory) {
        assert_int_equal(sd_slices_make(e->context, A, &p.slices), SADDLE_OK);
        p.sparse.slices = p.slices.count;
        p.sparse.slice = p.slices.slice;
        p.sparse.window = p.slices.window;
        p.sparse.offset = p.slices.offset;
        p.sparse.window_total = p.slices.window_total;
    }
    assert_int_equal(sd_engine_reserve(e, A->n, &p.sparse), SADDLE_OK);
    return p;
}

static void unplace(sd_engine *e, placed *p)
{
    for (int k = 0; k < 3; ++k) e->backend->release(e, p->blocks[k]);
    if (e->backend->host_memory) sd_slices_free(e->context, &p->slices);
}

/* ---- vectors in and out, comparison, record ---- */

static sd_vector put_data(sd_engine *e, sd_precision precision, int64_t n, const double *host)
{
    sd_vector x = sd_vector_new(e, precision, n, "test");
    sd_vector_put(e, host, &x);
    sd_engine_reserve(e, n, NULL);
    return x;
}

/* The same numbers on both engines. */
typedef struct pair {
    sd_vector mine, theirs;
} pair;

static pair put_pair(setting *s, int64_t n, const double *host)
{
    pair p = {put_data(&s->e, s->precision, n, host), put_data(&s->reference, s->precision, n, host)};
    return p;
}

static void free_pair(setting *s, pair *p)
{
    sd_vector_free(&s->e, &p->mine);
    sd_vector_free(&s->reference, &p->theirs);
}

static void record(setting *s, const void *bytes, size_t count)
{
    for (size_t k = 0; k < count; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + k, count - k < sizeof word ? count - k : sizeof word);
        s->bits = ((s->bits ^ word) * UINT64_C(0x9e3779b97f4a7c15));
        s->bits ^= s->bits >> 29;
    }
}

static double unit(const setting *s)
{
    return s->precision == SD_DOUBLE ? 0x1p-53 : 0x1p-24;
}

static void compare_number(setting *s, double mine, double theirs, double bound, const char *what, int64_t n)
{
    assert_int_equal(s->e.status, SADDLE_OK);
    record(s, &mine, sizeof mine);
    if (s->compare && !(fabs(mine - theirs) <= bound))
        fail_msg("%s: %.17g where reference has %.17g, %g allowed (n = %lld, %s, %d threads)", what, mine,
                 theirs, bound, (long long)n, s->e.backend->name, s->e.threads);
}

/* bound is a number for each entry, in units of rounding; NULL asks for the same bits. */
static void compare_vectors(setting *s, const pair *p, const double *bound, const char *what)
{
    const int64_t n = p->mine.n, bytes = n * (int64_t)sd_precision_size(p->mine.precision);
    double *mine = test_alloc((size_t)n, sizeof *mine), *theirs = test_alloc((size_t)n, sizeof *theirs);
    void *raw = test_alloc((size_t)n, sizeof(double));
    s->e.backend->download(&s->e, p->mine.data, raw, bytes);
    assert_int_equal(s->e.status, SADDLE_OK);
    record(s, raw, (size_t)bytes);
    if (s->compare) {
        sd_vector_get(&s->e, &p->mine, mine);
        sd_vector_get(&s->reference, &p->theirs, theirs);
    }
    for (int64_t i = 0; i < n && s->compare; ++i) {
        const double allowed = bound ? unit(s) * bound[i] : 0;
        if (!(fabs(mine[i] - theirs[i]) <= allowed))
            fail_msg("%s: entry %lld of %lld is %.17g where reference has %.17g, %g allowed (%s, %d threads)",
                     what, (long long)i, (long long)n, mine[i], theirs[i], allowed, s->e.backend->name,
                     s->e.threads);
    }
    free(mine);
    free(theirs);
    free(raw);
}

#define EACH_SIZE(n)                                                                                         \
    for (size_t size_ = 0; size_ < sizeof sizes / sizeof sizes[0]; ++size_)                                  \
        for (int64_t n = sizes[size_], once_ = 1; once_; once_ = 0)

static double *alloc_bound(int64_t n)
{
    return test_alloc((size_t)n, sizeof(double));
}

/* ---- the checks of the vector kernels ---- */

static void check_fill(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        sd_fill(&s->e, 0.1, &x.mine);
        sd_fill(&s->reference, 0.1, &x.theirs);
        compare_vectors(s, &x, NULL, "fill");
        free_pair(s, &x);
    }
}

static void check_copy(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        sd_copy(&s->e, &x.mine, &y.mine);
        sd_copy(&s->reference, &x.theirs, &y.theirs);
        compare_vectors(s, &y, NULL, "copy");
        compare_vectors(s, &x, NULL, "source of copy");
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_scale(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        sd_scale(&s->e, -1.7, &x.mine);
        sd_scale(&s->reference, -1.7, &x.theirs);
        compare_vectors(s, &x, NULL, "scale");
        free_pair(s, &x);
    }
}

/* |alpha x| + |beta y|, doubled for the two roundings of a sum of products. */
static double *combination_bound(int64_t n, double alpha, double beta)
{
    double *bound = alloc_bound(n);
    for (int64_t i = 0; i < n; ++i) bound[i] = 2 * (fabs(alpha * data[0][i]) + fabs(beta * data[1][i]));
    return bound;
}

static void check_axpy(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        double *bound = combination_bound(n, 0.3, 1);
        sd_axpy(&s->e, 0.3, &x.mine, &y.mine);
        sd_axpy(&s->reference, 0.3, &x.theirs, &y.theirs);
        compare_vectors(s, &y, bound, "axpy");
        free(bound);
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_axpby(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        double *bound = combination_bound(n, 0.3, -1.1);
        sd_axpby(&s->e, 0.3, &x.mine, -1.1, &y.mine);
        sd_axpby(&s->reference, 0.3, &x.theirs, -1.1, &y.theirs);
        compare_vectors(s, &y, bound, "axpby");
        free(bound);
        sd_fill(&s->e, NAN, &y.mine); /* with beta = 0 it is not read */
        sd_axpby(&s->e, 0.3, &x.mine, 0, &y.mine);
        sd_axpby(&s->reference, 0.3, &x.theirs, 0, &y.theirs);
        compare_vectors(s, &y, NULL, "axpby with beta = 0");
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_multiply(setting *s)
{
    EACH_SIZE(n)
    {
        pair d = put_pair(s, n, data[0]), x = put_pair(s, n, data[1]), y = put_pair(s, n, data[2]);
        sd_multiply(&s->e, &d.mine, &x.mine, &y.mine);
        sd_multiply(&s->reference, &d.theirs, &x.theirs, &y.theirs);
        compare_vectors(s, &y, NULL, "multiply");
        sd_multiply(&s->e, &d.mine, &x.mine, &x.mine); /* in place */
        sd_multiply(&s->reference, &d.theirs, &x.theirs, &x.theirs);
        compare_vectors(s, &x, NULL, "multiply in place");
        free_pair(s, &d);
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_absolute(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        sd_absolute(&s->e, &x.mine, &y.mine);
        sd_absolute(&s->reference, &x.theirs, &y.theirs);
        compare_vectors(s, &y, NULL, "absolute");
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

/* n u sum |x y|, on either side; products of floats are exact in double. */
static double dot_bound(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += fabs(x[i] * y[i]);
    return 2 * (double)(n + 1) * 0x1p-53 * sum;
}

static void check_dot(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        double mine = 1e30, theirs = -1e30;
        sd_dot(&s->e, &x.mine, &y.mine, &mine);
        sd_dot(&s->reference, &x.theirs, &y.theirs, &theirs);
        compare_number(s, mine, theirs, dot_bound(n, data[0], data[1]), "dot", n);
        sd_dot(&s->e, &x.mine, &x.mine, &mine); /* with itself */
        sd_dot(&s->reference, &x.theirs, &x.theirs, &theirs);
        compare_number(s, mine, theirs, dot_bound(n, data[0], data[0]), "dot with itself", n);
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

/* The places where a number that is not finite may hide: both ends and a few between. */
static int64_t hiding_place(int k, int64_t n)
{
    const int64_t places[] = {n > 4096 ? 4096 : n - 1, 0, n / 2, n - 1};
    return places[k];
}

/* One place is enough where there are many entries. */
static int hiding_places(int64_t n)
{
    return n > 5000 ? 1 : 4;
}

static void norm_of_odd_numbers(setting *s, int64_t n)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, -1000};
    for (int k = 0; k < 16; ++k) {
        if (k % 4 >= hiding_places(n)) continue;
        double *x = test_alloc((size_t)n, sizeof *x), norm = -1;
        memcpy(x, data[0], (size_t)n * sizeof *x);
        const int64_t at = hiding_place(k % 4, n);
        x[at] = odd[k / 4];
        sd_vector v = put_data(&s->e, s->precision, n, x);
        sd_norm_inf(&s->e, &v, &norm);
        if (k < 4)
            assert_true(isnan(norm));
        else
            assert_true(norm == fabs(odd[k / 4]));
        if (k >= 4 && k < 8 && n > 1) { /* NaN beats infinity wherever it stands */
            x[(at + n / 2 + 1) % n == at ? (at + 1) % n : (at + n / 2 + 1) % n] = NAN;
            sd_vector_put(&s->e, x, &v);
            sd_norm_inf(&s->e, &v, &norm);
            assert_true(isnan(norm));
        }
        sd_vector_free(&s->e, &v);
        free(x);
    }
}

static void check_norm_inf(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        double mine = -1, theirs = -1;
        sd_norm_inf(&s->e, &x.mine, &mine);
        sd_norm_inf(&s->reference, &x.theirs, &theirs);
        compare_number(s, mine, theirs, 0, "norm_inf", n);
        sd_fill(&s->e, 0, &x.mine);
        sd_norm_inf(&s->e, &x.mine, &mine);
        assert_true(mine == 0);
        free_pair(s, &x);
        norm_of_odd_numbers(s, n);
    }
}

/* {x_i, y_i, max |x_i| / y_i} beside ratios of at most 1 */
static const double odd_ratios[][3] = {
    {0, 0, 1},     {5, 0, INFINITY},        {-5, 0, INFINITY},         {NAN, 1, NAN},    {0, NAN, NAN},
    {NAN, 0, NAN}, {INFINITY, 1, INFINITY}, {INFINITY, INFINITY, NAN}, {1, INFINITY, 1}, {-3, 1, 3},
};

static void ratio_of_odd_numbers(setting *s, int64_t n)
{
    double *x = test_alloc((size_t)n, sizeof *x), *y = test_alloc((size_t)n, sizeof *y);
    for (size_t k = 0; k < 4 * sizeof odd_ratios / sizeof odd_ratios[0]; ++k) {
        const double *odd = odd_ratios[k / 4];
        if ((int)(k % 4) >= hiding_places(n)) continue;
        for (int64_t i = 0; i < n; ++i) x[i] = i % 2 ? 1 : -1, y[i] = 1;
        const int64_t at = hiding_place((int)(k % 4), n);
        x[at] = odd[0];
        y[at] = odd[1];
        const double expected = n == 1 && odd[2] == 1 ? 0 : odd[2];
        double ratio = -1;
        sd_vector a = put_data(&s->e, s->precision, n, x), b = put_data(&s->e, s->precision, n, y);
        sd_ratio_max(&s->e, &a, &b, &ratio);
        if (isnan(expected) ? !isnan(ratio) : ratio != expected)
            fail_msg("ratio_max: %g / %g among ones gives %g (n = %lld)", odd[0], odd[1], ratio,
                     (long long)n);
        sd_vector_free(&s->e, &a);
        sd_vector_free(&s->e, &b);
    }
    free(x);
    free(y);
}

static void check_ratio_max(setting *s)
{
    EACH_SIZE(n)
    {
        double *y = test_alloc((size_t)n, sizeof *y);
        for (int64_t i = 0; i < n; ++i) y[i] = 0.01 + fabs(data[1][i]);
        pair a = put_pair(s, n, data[0]), b = put_pair(s, n, y);
        double mine = -1, theirs = -1;
        sd_ratio_max(&s->e, &a.mine, &b.mine, &mine);
        sd_ratio_max(&s->reference, &a.theirs, &b.theirs, &theirs);
        compare_number(s, mine, theirs, 0, "ratio_max", n);
        free_pair(s, &a);
        free_pair(s, &b);
        free(y);
        ratio_of_odd_numbers(s, n);
    }
}

static void check_panel_dot(setting *s)
{
    EACH_SIZE(n)
    {
        pair v = put_pair(s, n * SD_PANEL, data[0]), w = put_pair(s, n, data[1]);
        for (int m = 1; m <= SD_PANEL; ++m) {
            double mine[SD_PANEL + 1], theirs[SD_PANEL + 1];
            for (int k = 0; k <= SD_PANEL; ++k) mine[k] = theirs[k] = 1e30;
            sd_panel_dot(&s->e, m, &v.mine, &w.mine, mine);
            sd_panel_dot(&s->reference, m, &v.theirs, &w.theirs, theirs);
            for (int k = 0; k < m; ++k)
                compare_number(s, mine[k], theirs[k], dot_bound(n, data[0] + k * n, data[1]), "panel_dot", n);
            assert_true(mine[m] == 1e30);
        }
        free_pair(s, &v);
        free_pair(s, &w);
    }
}

static void check_panel_axpy(setting *s)
{
    const double h[SD_PANEL] = {0.5, -0.3, 1.7, 1e-3, -2.1, 0.9, 0, 11};
    EACH_SIZE(n)
    {
        pair v = put_pair(s, n * SD_PANEL, data[0]);
        for (int m = 1; m <= SD_PANEL; ++m) {
            pair w = put_pair(s, n, data[1]);
            double *bound = alloc_bound(n);
            for (int64_t i = 0; i < n; ++i) {
                bound[i] = fabs(data[1][i]);
                for (int k = 0; k < m; ++k) bound[i] += fabs(h[k] * data[0][k * n + i]);
                bound[i] *= 2 * (m + 1);
            }
            sd_panel_axpy(&s->e, m, h, &v.mine, &w.mine);
            sd_panel_axpy(&s->reference, m, h, &v.theirs, &w.theirs);
            compare_vectors(s, &w, bound, "panel_axpy");
            free(bound);
            free_pair(s, &w);
        }
        free_pair(s, &v);
    }
}

static void check_from_double(setting *s)
{
    EACH_SIZE(n)
    {
        sd_vector mine = put_data(&s->e, SD_DOUBLE, n, data[0]),
                  theirs = put_data(&s->reference, SD_DOUBLE, n, data[0]);
        pair x = put_pair(s, n, data[1]);
        sd_from_double(&s->e, &mine, &x.mine);
        sd_from_double(&s->reference, &theirs, &x.theirs);
        compare_vectors(s, &x, NULL, "from_double");
        sd_vector_free(&s->e, &mine);
        sd_vector_free(&s->reference, &theirs);
        free_pair(s, &x);
    }
}

static void check_to_double(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        pair wide = {put_data(&s->e, SD_DOUBLE, n, data[1]), put_data(&s->reference, SD_DOUBLE, n, data[1])};
        sd_to_double(&s->e, &x.mine, &wide.mine);
        sd_to_double(&s->reference, &x.theirs, &wide.theirs);
        compare_vectors(s, &wide, NULL, "to_double");
        free_pair(s, &x);
        free_pair(s, &wide);
    }
}

/* ---- the checks of the sparse kernels ---- */

/* |A| |x| and the number of terms of each row, from the matrix itself. */
static void row_sizes(const sd_csr *A, const double *x, double *size, double *terms)
{
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            size[i] += fabs(A->val[k] * x[j]);
            terms[i] += 1;
            if (!A->half || j == i) continue;
            size[j] += fabs(A->val[k] * x[i]);
            terms[j] += 1;
        }
    }
}

typedef void product(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b, sd_vector *y);

static void run_product(setting *s, const problem *p, product *run, bool extended, const char *what)
{
    if (p->half && !s->e.backend->host_memory) return; /* operators expand them there */
    const int32_t n = p->n;
    placed mine = place(&s->e, &p->csr, s->precision), theirs = place(&s->reference, &p->csr, s->precision);
    pair x = put_pair(s, n, data[0]), b = put_pair(s, n, data[1]), y = put_pair(s, n, data[2]);
    double *bound = alloc_bound(n), *terms = alloc_bound(n), *r = alloc_bound(n);
    char name[128];
    snprintf(name, sizeof name, "%s (%s)", what, p->name);
    if (s->compare) row_sizes(&p->csr, data[0], bound, terms);
    run(&s->e, &mine.sparse, &x.mine, &b.mine, &y.mine);
    run(&s->reference, &theirs.sparse, &x.theirs, &b.theirs, &y.theirs);
    sd_vector_get(&s->reference, &y.theirs, r);
    for (int32_t i = 0; i < n && s->compare; ++i) {
        const double size = bound[i] + fabs(data[1][i]);
        if (extended) /* rounded once, after sums in twice the precision of double */
            bound[i] = 2 * fabs(r[i]) + 4 * (terms[i] + 2) * (terms[i] + 2) * 0x1p-106 / unit(s) * size;
        else
            bound[i] = 2 * (terms[i] + 2) * size;
    }
    compare_vectors(s, &y, bound, name);
    free(bound);
    free(terms);
    free(r);
    free_pair(s, &x);
    free_pair(s, &b);
    free_pair(s, &y);
    unplace(&s->e, &mine);
    unplace(&s->reference, &theirs);
}

static void run_spmv(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b, sd_vector *y)
{
    (void)b;
    sd_spmv(e, A, x, y);
}

static void run_spmv_abs(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b,
                         sd_vector *y)
{
    (void)b;
    sd_spmv_abs(e, A, x, y);
}

static void check_spmv(setting *s)
{
    for (int k = 0; k < PROBLEMS; ++k) run_product(s, &problems[k], run_spmv, false, "spmv");
}

static void check_spmv_abs(setting *s)
{
    for (int k = 0; k < PROBLEMS; ++k) run_product(s, &problems[k], run_spmv_abs, false, "spmv_abs");
}

static void check_residual_dd(setting *s)
{
    for (int k = 0; k < PROBLEMS; ++k) run_product(s, &problems[k], sd_residual_dd, true, "residual_dd");
}

/* ---- the walk ---- */

static const struct {
    const char *name;
    void (*check)(setting *s);
} checks[] = {
#define KERNEL(name, parameters, arguments) {#name, check_##name},
#include "backend/kernels.def"
#undef KERNEL
};
enum { CHECKS = sizeof checks / sizeof checks[0] };

static void open_on(setting *s, const sd_backend *backend, int threads, sd_precision precision, bool compare)
{
    sd_context_init(&s->c, NULL, 0);
    s->precision = precision;
    s->e = (sd_engine){.context = &s->c, .threads = threads, .backend = backend};
    const saddle_status status = backend->open(&s->c, &s->e, 0);
    if (status) fail_msg("%s: %s", backend->name, s->c.message);
    assert_int_equal(sd_engine_open(&s->c, &s->reference, SADDLE_DEVICE_REFERENCE, 1), SADDLE_OK);
    s->compare = compare;
    if (!compare) s->reference.status = SADDLE_CANCELLED; /* its kernels do nothing */
}

static void close_all(setting *s)
{
    sd_engine_close(&s->e);
    sd_engine_close(&s->reference);
    assert_int_equal(s->c.bytes, 0);
}

/* The bits of the first walk of a family of backends, which all later ones must repeat. */
typedef struct family {
    bool known;
    uint64_t bits[CHECKS][SD_PRECISIONS];
} family;

static void walk(const sd_backend *backend, family *f)
{
    const int counts = sizeof thread_counts / sizeof thread_counts[0];
    for (int run = 0; run <= counts; ++run) { /* the last number of threads twice */
        const int threads = thread_counts[run < counts ? run : counts - 1];
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
            setting s;
            open_on(&s, backend, threads, p, !f->known);
            for (int k = 0; k < CHECKS; ++k) {
                s.bits = UINT64_C(14695981039346656037);
                checks[k].check(&s);
                if (f->known && f->bits[k][p] != s.bits)
                    fail_msg("%s has other bits at %d threads, in %s, than before", checks[k].name, threads,
                             p == SD_DOUBLE ? "double" : "single");
                if (!f->known) f->bits[k][p] = s.bits;
            }
            close_all(&s);
        }
        f->known = true;
    }
}

static family cpu_family;

static void the_portable_table_conforms(void **state)
{
    (void)state;
    walk(&sd_cpu_portable, &cpu_family);
}

/* After the portable one, whose bits it must repeat. */
static void the_avx2_table_conforms_with_the_same_bits(void **state)
{
    (void)state;
#ifdef SD_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        assert_true(cpu_family.known);
        walk(&sd_cpu_avx2, &cpu_family);
        return;
    }
#endif
    print_message("           this processor has no AVX2\n");
    skip();
}

static void the_cuda_module_conforms(void **state)
{
    (void)state;
    const char *wanted = getenv("SADDLE_TEST_CUDA");
    if (!wanted || strcmp(wanted, "1") != 0) {
        print_message("           SADDLE_TEST_CUDA=1 runs it\n");
        skip();
    }
    sd_context c;
    sd_context_init(&c, NULL, 0);
    const sd_backend *cuda = sd_backend_cuda(&c);
    if (!cuda) fail_msg("%s", c.message);
    family f = {0};
    walk(cuda, &f);
}

/* A matrix whose products are cut into pieces, or the walk would not show what it should. */
static void the_problems_really_have_several_slices(void **state)
{
    (void)state;
    int whole = 0, half = 0, large = 0;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int k = 0; k < PROBLEMS; ++k) {
        sd_slices s;
        assert_int_equal(sd_slices_make(&c, &problems[k].csr, &s), SADDLE_OK);
        assert_int_equal(s.slice[0], 0);
        assert_int_equal(s.slice[s.count], problems[k].n);
        for (int32_t i = 0; i < s.count; ++i) assert_true(s.slice[i] <= s.slice[i + 1]);
        if (s.count > 8) ++*(problems[k].half ? &half : &whole);
        large += problems[k].csr.nnz > 200000;
        sd_slices_free(&c, &s);
    }
    assert_true(whole >= 2 && half >= 2 && large >= 5);
    assert_int_equal(c.bytes, 0);
}

static void kernels_do_nothing_after_a_failure(void **state)
{
    (void)state;
    const sd_backend *tables[] = {&sd_backend_reference, &sd_cpu_portable, sd_backend_cpu()};
    for (int t = 0; t < 3; ++t) {
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
            setting s;
            open_on(&s, tables[t], 1, p, true);
            placed A = place(&s.e, &problems[2].csr, p), H = place(&s.e, &problems[3].csr, p);
            pair x = put_pair(&s, 7, data[0]), y = put_pair(&s, 7, data[1]);
            sd_vector wide = put_data(&s.e, SD_DOUBLE, 7, data[2]);
            double result = 42, h[1] = {42};
            s.e.status = SADDLE_DEVICE_FAILED;
            sd_fill(&s.e, 3, &y.mine);
            sd_copy(&s.e, &x.mine, &y.mine);
            sd_scale(&s.e, 3, &y.mine);
            sd_axpy(&s.e, 3, &x.mine, &y.mine);
            sd_axpby(&s.e, 3, &x.mine, 2, &y.mine);
            sd_multiply(&s.e, &x.mine, &x.mine, &y.mine);
            sd_absolute(&s.e, &x.mine, &y.mine);
            sd_dot(&s.e, &x.mine, &y.mine, &result);
            sd_norm_inf(&s.e, &x.mine, &result);
            sd_ratio_max(&s.e, &x.mine, &y.mine, &result);
            sd_panel_dot(&s.e, 1, &x.mine, &y.mine, h);
            sd_panel_axpy(&s.e, 1, h, &x.mine, &y.mine);
            sd_from_double(&s.e, &wide, &y.mine);
            sd_to_double(&s.e, &x.mine, &wide);
            for (int half = 0; half < 2; ++half) {
                const sd_sparse *a = half ? &H.sparse : &A.sparse;
                sd_spmv(&s.e, a, &x.mine, &y.mine);
                sd_spmv_abs(&s.e, a, &x.mine, &y.mine);
                sd_residual_dd(&s.e, a, &x.mine, &x.mine, &y.mine);
            }
            assert_true(result == 42 && h[0] == 42);
            assert_int_equal(s.e.status, SADDLE_DEVICE_FAILED);
            s.e.status = SADDLE_OK;
            compare_vectors(&s, &y, NULL, "after a failure");
            double got[7];
            sd_vector_get(&s.e, &wide, got);
            assert_memory_equal(got, data[2], sizeof got);
            sd_vector_free(&s.e, &wide);
            free_pair(&s, &x);
            free_pair(&s, &y);
            unplace(&s.e, &A);
            unplace(&s.e, &H);
            close_all(&s);
        }
    }
}

static sd_context problem_context;

static int make_data(void **state)
{
    (void)state;
    rng r = rng_start("conformance");
    for (int k = 0; k < 4; ++k) {
        const size_t room = (size_t)LARGEST * (k == 0 ? PANEL_ROOM : 1);
        data[k] = test_alloc(room, sizeof *data[k]);
        for (size_t i = 0; i < room; ++i) data[k][i] = rng_unit(&r);
    }
    sd_context_init(&problem_context, NULL, 0);
    for (int k = 0; k < PROBLEMS; ++k) make_problem(&problem_context, &problems[k], &r);
    return 0;
}

static int free_data(void **state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) free(data[k]);
    for (int k = 0; k < PROBLEMS; ++k) sd_csr_free(&problem_context, &problems[k].csr);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_problems_really_have_several_slices),
        cmocka_unit_test(the_portable_table_conforms),
        cmocka_unit_test(the_avx2_table_conforms_with_the_same_bits),
        cmocka_unit_test(the_cuda_module_conforms),
        cmocka_unit_test(kernels_do_nothing_after_a_failure),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
