/*
 * Applications of blocks, extraction and norms on any engine, held against oracles. What comes out
 * is noted, so that later runs can be held to the same bits.
 */
#pragma once

#include "block_solving.h"

#include "solve/operator.h"

typedef struct checking {
    sd_engine *e;
    bool compare; /* with the oracles; where only bits are wanted, that is left out */
    uint64_t bits;
} checking;

static inline void note_bits(checking *c, const void *bytes, size_t count)
{
    for (size_t k = 0; k < count; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + k, count - k < sizeof word ? count - k : sizeof word);
        c->bits = (c->bits ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        c->bits ^= c->bits >> 29;
    }
}

/* Brings an array of numbers from the engine, and notes it. */
static inline void *get_reals(checking *c, const void *data, sd_precision precision, int64_t count)
{
    const int64_t bytes = count * (int64_t)sd_precision_size(precision);
    void *host = reals_new(precision, count);
    c->e->backend->download(c->e, data, host, bytes);
    assert_int_equal(c->e->status, SADDLE_OK);
    note_bits(c, host, (size_t)bytes);
    return host;
}

/* ---- applications ---- */

/* How factors are applied. */
typedef struct application {
    int columns;
    sd_precision vectors;
    const int32_t *source, *target; /* may be NULL */
    const bool *wanted;             /* likewise */
    bool in_place;
    const int32_t *first; /* may be NULL: where first[k] is not k, block k is another one's copy, and not
                             looked at */
} application;

/* Factors that were made elsewhere, of the blocks that are wanted. */
static inline void put_factors(sd_engine *e, const batch *b, const factors *f, const application *a,
                               placed_batch *p)
{
    assert_int_equal(sd_batch_place(e, b->blocks, b->start, a->wanted, a->source, a->target, &p->plan),
                     SADDLE_OK);
    p->x = (sd_batch){0};
    p->f = (sd_batch_factors){.plan = &p->plan, .precision = f->precision, .kernel = bench_form(f->kernel)};
    p->f.data = place_numbers(e, b, f->data, a->wanted, p->plan.entries);
    p->f.row = sd_to_backend(e, f->row, f->rows, "test");
    p->f.column = sd_to_backend(e, f->column, f->rows, "test");
    p->f.state = sd_to_backend(e, f->state, f->blocks * (int64_t)sizeof *f->state, "test");
    assert_int_equal(e->status, SADDLE_OK);
}

/* One block's part of y, for one right-hand side, where b has row r at source[r]. */
static inline void check_block_application(const batch *b, const factors *f, int32_t k, const application *a,
                                           const double *rhs, const void *y)
{
    const int n = batch_size(b, k);
    const double unit = unit_of(a->vectors), most = a->vectors == SD_DOUBLE ? DBL_MAX : FLT_MAX;
    double part[SD_BLOCK_MOST];
    number x[SD_BLOCK_MOST];
    for (int i = 0; i < n; ++i) {
        const int32_t r = b->start[k] + i;
        part[i] = rhs[a->source ? a->source[r] : r];
    }
    apply_oracle(b, f, k, part, x);
    bool moderate = true; /* or the numbers on the way may have overflowed */
    for (int i = 0; i < n; ++i) moderate = moderate && fabsl(x[i].value) + x[i].error < most * 1e-3;
    for (int i = 0; i < n && moderate; ++i) {
        const int32_t r = b->start[k] + i;
        const double mine = real_at(y, a->vectors, a->target ? a->target[r] : r);
        const long double error = fabsl((long double)mine - x[i].value);
        const long double allowed =
            2 * (unit * x[i].error + n * (a->vectors == SD_DOUBLE ? 0x1p-1074 : 0x1p-149));
        if (!(error <= allowed))
            fail_msg("%s: row %d of block %d (%s, %d rows) is %g, not %Lg; %Lg allowed",
                     kernel_names[f->kernel], i, k, kind_names[b->kind[k]], n, mine, x[i].value, allowed);
    }
}

/* Applies f, which was made of b, to `columns` right-hand sides of rhs; y is -77 before. */
static inline void check_application(checking *c, const batch *b, const factors *f, const application *a,
                                     const double *rhs)
{
    sd_engine *e = c->e;
    const int32_t rows = b->start[b->blocks];
    const int64_t count = (int64_t)a->columns * rows;
    placed_batch p;
    put_factors(e, b, f, a, &p);
    sd_vector from = sd_vector_new(e, a->vectors, count, "test"),
              to = sd_vector_new(e, a->vectors, count, "test");
    sd_vector_put(e, rhs, &from);
    sd_fill(e, -77, &to);
    sd_batch_apply(e, &p.f, a->columns, &from, a->in_place ? &from : &to);
    void *y = get_reals(c, a->in_place ? from.data : to.data, a->vectors, count);
    for (int64_t column = 0; column < a->columns && c->compare; ++column) {
        const double *part = rhs + column * rows;
        const char *result = (char *)y + (size_t)(column * rows) * sd_precision_size(a->vectors);
        for (int32_t k = 0; k < b->blocks; ++k) {
            if (!a->wanted || a->wanted[k]) {
                if (!a->first || a->first[k] == k) check_block_application(b, f, k, a, part, result);
                continue;
            }
            for (int32_t r = b->start[k]; r < b->start[k + 1]; ++r) {
                const int32_t at = a->target ? a->target[r] : r;
                assert_true(real_at(result, a->vectors, at) == (a->in_place ? part[at] : -77));
            }
        }
    }
    free(y);
    sd_vector_free(e, &from);
    sd_vector_free(e, &to);
    unplace_batch(e, &p);
}

/* ---- inverses ---- */

/* Those that an engine makes of factors, in their layout. */
static inline void *inverses_of(checking *c, const batch *b, const factors *f)
{
    const application all = {0};
    placed_batch p;
    put_factors(c->e, b, f, &all, &p);
    sd_batch y = sd_batch_new(c->e, &p.plan, f->precision, "test");
    assert_int_equal(c->e->status, SADDLE_OK);
    fill_bytes(c->e, y.data, p.plan.entries * (int64_t)sd_precision_size(f->precision), UNTOUCHED);
    sd_batch_invert(c->e, &p.f, &y);
    void *host = get_reals(c, y.data, f->precision, p.plan.entries);
    sd_batch_free(c->e, &y);
    unplace_batch(c->e, &p);
    return host;
}

/* Symmetric, and no worse than reference's; of a replaced block that of its replacement. */
static inline void check_inverse(const batch *b, const factors *f, int32_t k, const char *mine,
                                 const char *its)
{
    enum { TIMES_INVERSE = 10 };
    const int n = batch_size(b, k);
    const size_t from = (size_t)b->entry[k] * sd_precision_size(f->precision);
    bool finite = true;
    for (int i = 0; i < n * n; ++i) {
        const double x = real_at(mine + from, f->precision, i), y = real_at(its + from, f->precision, i);
        const double mirrored = real_at(mine + from, f->precision, i % n * n + i / n);
        finite = finite && isfinite(x) && isfinite(y);
        if (memcmp(&x, &mirrored, sizeof x) != 0 && finite)
            fail_msg("block %d: its inverse is not symmetric", k);
        if (f->state[k].status && !(fabs(x - y) <= 4 * unit_of(f->precision) * fabs(y)))
            fail_msg("block %d was replaced: entry %d of its inverse is %g, reference's %g", k, i, x, y);
    }
    if (f->state[k].status || b->kind[k] == HUGE_ENTRIES || !finite) return;
    const double residual = inverse_residual(b, k, mine + from), known = inverse_residual(b, k, its + from);
    if (!(residual <= TIMES_INVERSE * fmax(known, 1)))
        fail_msg("%s (%s, %d rows): the inverse has a residual of %g, reference's %g",
                 kernel_names[f->kernel], kind_names[b->kind[k]], n, residual, known);
}

static inline void check_inverses(checking *c, const batch *b, const factors *f, const int32_t *first)
{
    char *mine = inverses_of(c, b, f);
    if (c->compare) {
        bench s;
        bench_open(&s, &sd_backend_reference, 1);
        checking reference = {&s.e, false, 0};
        char *its = inverses_of(&reference, b, f);
        for (int32_t k = 0; k < b->blocks; ++k)
            if (first[k] == k) check_inverse(b, f, k, mine, its);
        free(its);
        bench_close(&s);
    }
    free(mine);
}

/* ---- extraction ---- */

typedef enum shape { BAND, SCATTERED, LONG_ROW, EMPTY_ROWS } shape;

/* A matrix and a blocking of it. */
typedef struct extraction {
    sd_csr A;
    int32_t blocks, *start;
    const int32_t *source, *target; /* may be NULL */
    bool *wanted;
    int32_t *orders[2]; /* what source and target point to */
} extraction;

static inline bool has_entry(rng *r, shape form, int32_t n, int32_t i, int32_t j)
{
    switch (form) {
    case BAND: return abs(i - j) < 20 && rng_below(r, 3) > 0;
    case SCATTERED: return abs(i - j) < 40 ? rng_below(r, 2) : rng_below(r, n) < 8;
    case LONG_ROW: return i == n / 3 || j == n / 3 || (abs(i - j) < 8 && rng_below(r, 2));
    default: return i % 5 > 1 && abs(i - j) < 12;
    }
}

static inline void fill_matrix(rng *r, shape form, int32_t n, bool half, sd_csr *A)
{
    int64_t room = 1 << 16;
    *A = (sd_csr){.n = n, .half = half};
    A->ptr = test_alloc((size_t)n + 1, sizeof *A->ptr);
    A->ind = test_alloc((size_t)room, sizeof *A->ind);
    for (int32_t i = 0; i < n; ++i) {
        for (int32_t j = half ? i : 0; j < n; ++j) {
            if (!has_entry(r, form, n, i, j)) continue;
            if (A->nnz == room) {
                A->ind = realloc(A->ind, (size_t)(room *= 2) * sizeof *A->ind);
                assert_non_null(A->ind);
            }
            A->ind[A->nnz++] = j;
        }
        A->ptr[i + 1] = A->nnz;
    }
    A->val = test_alloc((size_t)A->nnz, sizeof *A->val);
    for (int64_t k = 0; k < A->nnz; ++k) A->val[k] = rng_unit(r);
}

/* Blocks of up to 32 rows, of one size where `regular` is not 0; orders as they are asked for. */
static inline extraction extraction_new(rng *r, shape form, int32_t n, bool half, int regular, bool source,
                                        bool target, bool some)
{
    extraction x = {0};
    if (regular) n -= n % regular;
    fill_matrix(r, form, n, half, &x.A);
    x.start = test_alloc((size_t)n + 1, sizeof *x.start);
    while (x.start[x.blocks] < n) {
        const int32_t size = regular ? regular : 1 + rng_below(r, SD_BLOCK_MOST),
                      left = n - x.start[x.blocks];
        x.start[x.blocks + 1] = x.start[x.blocks] + (size < left ? size : left);
        ++x.blocks;
    }
    for (int k = 0; k < 2; ++k) {
        x.orders[k] = test_alloc((size_t)n, sizeof(int32_t));
        rng_permutation(r, n, x.orders[k]);
    }
    if (source) x.source = x.orders[0];
    if (target) x.target = half ? x.source : x.orders[1];
    if (some) {
        x.wanted = test_alloc((size_t)x.blocks, sizeof *x.wanted);
        for (int32_t k = 0; k < x.blocks; ++k) x.wanted[k] = rng_below(r, 3) > 0;
    }
    return x;
}

static inline void extraction_free(extraction *x)
{
    free(x->A.ptr);
    free(x->A.ind);
    free(x->A.val);
    free(x->start);
    free(x->wanted);
    for (int k = 0; k < 2; ++k) free(x->orders[k]);
    *x = (extraction){0};
}

/* Entry (i, j) of the matrix. */
static inline double matrix_at(const sd_csr *A, int32_t i, int32_t j)
{
    if (A->half && j < i) {
        const int32_t swap = i;
        i = j;
        j = swap;
    }
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (A->ind[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A->ptr[i + 1] && A->ind[low] == j ? A->val[low] : 0;
}

static inline void check_extraction(checking *c, const extraction *x, sd_precision precision)
{
    sd_engine *e = c->e;
    sd_operator op;
    sd_batch_plan plan;
    sd_batch_map map;
    assert_int_equal(sd_operator_make(e, &x->A, precision, SD_SUMS_BY_SLICES, &op), SADDLE_OK);
    assert_true(op.sparse.half ==
                (x->A.half && e->backend->host_memory)); /* operators expand them elsewhere */
    assert_int_equal(sd_batch_place(e, x->blocks, x->start, x->wanted, NULL, NULL, &plan), SADDLE_OK);
    assert_int_equal(sd_batch_map_place(e, x->blocks, x->start, x->wanted, x->source, x->target, &map),
                     SADDLE_OK);
    sd_batch blocks = sd_batch_new(e, &plan, precision, "test");
    fill_bytes(e, blocks.data, plan.entries * (int64_t)sd_precision_size(precision), UNTOUCHED);
    sd_batch_extract(e, &op.sparse, &map, &blocks);
    void *data = get_reals(c, blocks.data, precision, plan.entries);
    int64_t next = 0;
    for (int32_t k = 0; k < x->blocks && c->compare; ++k) {
        if (x->wanted && !x->wanted[k]) continue;
        for (int32_t j = x->start[k]; j < x->start[k + 1]; ++j) {
            for (int32_t i = x->start[k]; i < x->start[k + 1]; ++i) {
                double a = matrix_at(&x->A, x->source ? x->source[i] : i, x->target ? x->target[j] : j);
                a = ldexp(a, -op.exponent);
                if (precision == SD_SINGLE) a = (float)a;
                if (real_at(data, precision, next++) != a)
                    fail_msg("row %d, column %d of the blocks is not %g", i, j, a);
            }
        }
    }
    free(data);
    sd_batch_free(e, &blocks);
    sd_batch_map_unplace(e, &map);
    sd_batch_unplace(e, &plan);
    sd_operator_free(e, &op);
}

/* ---- norms ---- */

static inline void check_norms(checking *c, const batch *b, const bool *wanted)
{
    placed_batch p;
    place_batch(c->e, b, wanted, NULL, NULL, &p);
    sd_vector norms = sd_vector_new(c->e, SD_DOUBLE, b->blocks, "test");
    sd_fill(c->e, -77, &norms);
    sd_batch_norms(c->e, &p.x, &norms);
    double *norm = get_reals(c, norms.data, SD_DOUBLE, b->blocks);
    for (int32_t k = 0; k < b->blocks && c->compare; ++k) {
        const int n = batch_size(b, k);
        long double most = 0;
        bool finite = true;
        for (int j = 0; j < n; ++j) {
            long double sum = 0;
            for (int i = 0; i < n; ++i) sum += fabsl((long double)batch_at(b, k, i, j));
            finite = finite && isfinite(sum);
            if (sum > most) most = sum;
        }
        if (wanted && !wanted[k])
            assert_true(norm[k] == 0);
        else if (!finite || most > DBL_MAX * (1 + n * 0x1p-53L))
            assert_true(norm[k] == DBL_MAX);
        else
            assert_true(fabsl((long double)norm[k] - most) <= n * 0x1p-53L * most);
    }
    free(norm);
    sd_vector_free(c->e, &norms);
    unplace_batch(c->e, &p);
}
