/* What the conformance tests share: a backend beside reference, matrices, vectors in and out, comparison. */
#pragma once

#include "helpers.h"

#include "backend/cpu/cpu.h"
#include "plan/slices.h"

enum { PANEL_ROOM = SD_PANEL, LARGEST = 150001 };
static const int64_t sizes[] = {1, 2, 7, 4095, 4096, 4097, LARGEST};
static const int thread_counts[] = {1, 2, 3, 8};

/* One backend at work in one precision, with reference beside it. */
typedef struct setting {
    sd_context c;
    sd_device d;
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
    for (int32_t i = 0; i < A->n; ++i)
        if (A->ptr[i + 1] - A->ptr[i] > p.sparse.longest) p.sparse.longest = A->ptr[i + 1] - A->ptr[i];
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
