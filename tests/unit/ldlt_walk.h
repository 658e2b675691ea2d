/*
 * What test_ldlt_conformance.c walks over: generated matrices with their blocks and the plans that
 * sd_ldlt_find made of them, and a backend at work beside reference.
 */
#pragma once

#include "blocks.h"

#include "factor/ldlt_run.h"

typedef enum pattern { MESH, KKT, SPIKE, HUB, STREWN } pattern;

typedef struct problem {
    const char *name;
    pattern pattern;
    int32_t n;
    int size; /* rows of a block, the last may be smaller; 0: anything from 1 to 32 */
    bool half;
    sd_fill_kind fill;
    sd_csr A;
    sd_block_matrix B;
    int32_t *start, *order; /* blocks of rows order[r] of A */
    double *scale;          /* of A's rows */
    struct {
        sd_ldlt_plan plan;
        sd_ldlt_numbers numbers;
    } found[SD_PRECISIONS];
} problem;

static problem problems[] = {
    {.name = "one block of one row", .pattern = MESH, .n = 1, .size = 1},
    {.name = "one block", .pattern = STREWN, .n = 5, .size = 8, .half = true},
    {.name = "grid", .pattern = MESH, .n = 900, .size = 8, .half = true, .fill = SD_FILL_TAU},
    {.name = "grid, blocks of one row", .pattern = MESH, .n = 400, .size = 1, .fill = SD_FILL_TAU},
    {.name = "grid, blocks of 32 rows", .pattern = MESH, .n = 900, .size = 32, .fill = SD_FILL_TAU},
    {.name = "grid, blocks of all sizes", .pattern = MESH, .n = 900, .fill = SD_FILL_LEVEL},
    {.name = "KKT", .pattern = KKT, .n = 600, .size = 8, .half = true, .fill = SD_FILL_TAU},
    {.name = "grid, no fill", .pattern = MESH, .n = 600, .size = 5, .fill = SD_FILL_NONE},
    {.name = "arrow", .pattern = SPIKE, .n = 800, .size = 2, .fill = SD_FILL_TAU},
    {.name = "a row with hundreds of neighbours", .pattern = HUB, .n = 1500, .size = 3, .fill = SD_FILL_TAU},
    {.name = "scattered, all sizes", .pattern = STREWN, .n = 500, .half = true, .fill = SD_FILL_TAU},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0], SIDE = 30 };

/* ---- problems ---- */

static double hashed(uint64_t seed, int32_t i, int32_t j)
{
    rng r = {seed ^ ((uint64_t)(i < j ? i : j) << 32) ^ (uint64_t)(i < j ? j : i)};
    rng_next(&r);
    return rng_unit(&r);
}

/* Entry (i, j) of the matrix, 0 where there is none; (j, i) is the same. The diagonal, where there is one,
 * stands out enough for factors to be of moderate size. */
static double entry_of(const problem *p, uint64_t seed, int32_t i, int32_t j)
{
    const int32_t low = i < j ? i : j, high = i < j ? j : i, constraints = 2 * p->n / 3;
    const double value = hashed(seed, i, j);
    if (i == j)
        return p->pattern == KKT && i >= constraints ? 0 : p->pattern == HUB && i == 0 ? 50 : 6 + value;
    switch (p->pattern) {
    case MESH: return (high - low == 1 && high % SIDE > 0) || high - low == SIDE ? value : 0;
    case KKT:
        if (high >= constraints && low < constraints)
            return high - constraints == low / 2 ? 3 + value : hashed(seed + 1, i, j) > 0.995 ? value : 0;
        return high < constraints && (high - low == 1 || high - low == SIDE) ? value : 0;
    case SPIKE: return high == p->n - 1 || high - low == 1 ? value / 4 : 0;
    case HUB: return low == 0 && high % 3 == 0 ? value / 4 : high - low == 3 && high % 12 == 0 ? value : 0;
    default: return hashed(seed + 1, i, j) > 0.97 ? value / 2 : 0;
    }
}

static void make_matrix(sd_context *c, uint64_t seed, problem *p)
{
    sd_csr *A = &p->A;
    *A = (sd_csr){.n = p->n, .half = p->half};
    A->ptr = sd_alloc_zero(c, (int64_t)p->n + 1, sizeof *A->ptr, "test");
    for (int fill = 0; fill < 2; ++fill) {
        int64_t next = 0;
        for (int32_t i = 0; i < p->n; ++i) {
            for (int32_t j = p->half ? i : 0; j < p->n; ++j) {
                const double value = entry_of(p, seed, i, j);
                if (value == 0) continue;
                if (fill) A->ind[next] = j;
                if (fill) A->val[next] = value;
                ++next;
            }
            A->ptr[i + 1] = next;
        }
        if (fill) break;
        A->nnz = next;
        A->ind = sd_alloc(c, next, sizeof *A->ind, "test");
        A->val = sd_alloc(c, next, sizeof *A->val, "test");
        assert_true(A->ptr && A->ind && A->val);
    }
}

/* Rows that follow one another in blocks, blocks in a random order; one that meets all others comes last. */
static int32_t make_blocks(rng *r, problem *p)
{
    int32_t *first = test_alloc((size_t)p->n + 1, sizeof *first), blocks = 0, next = 0;
    for (int32_t i = 0; i < p->n; ++blocks) {
        first[blocks] = i;
        i += p->size ? p->size : 1 + rng_below(r, SD_BLOCK_MOST);
    }
    first[blocks] = p->n;
    int32_t *shuffled = test_alloc((size_t)blocks, sizeof *shuffled);
    rng_permutation(r, blocks, shuffled);
    for (int32_t k = 0; k < blocks && p->pattern == SPIKE; ++k) shuffled[k] = k;
    for (int32_t k = 0; k < blocks && p->pattern == HUB; ++k) shuffled[k] = blocks - 1 - k;
    p->start = test_alloc((size_t)blocks + 1, sizeof *p->start);
    p->order = test_alloc((size_t)p->n, sizeof *p->order);
    for (int32_t k = 0; k < blocks; ++k) {
        for (int32_t i = first[shuffled[k]]; i < first[shuffled[k] + 1]; ++i) p->order[next++] = i;
        p->start[k + 1] = next;
    }
    free(first);
    free(shuffled);
    return blocks;
}

static void find_factors(sd_context *c, problem *p, sd_precision precision)
{
    const sd_ldlt_rule rule = {.fill = p->fill,
                               .level = 2,
                               .tau = 1e-3,
                               .kernel = SD_LDLT_BUNCH_KAUFMAN,
                               .weak = 1e-8,
                               .small = 1e-8,
                               .generations = 1,
                               .most_pushed = p->n,
                               .precision = precision,
                               .threads = 1};
    sd_ldlt_counts counts;
    if (sd_ldlt_find(c, &p->B, &rule, NULL, &p->found[precision].plan, &p->found[precision].numbers, &counts))
        fail_msg("%s: %s", p->name, c->message);
    assert_int_equal(counts.perturbed, 0);
}

static sd_context host;

static int make_all(void **state)
{
    (void)state;
    rng r = rng_start("conformance of block LDL'");
    sd_context_init(&host, NULL, 0);
    for (int k = 0; k < PROBLEMS; ++k) {
        problem *p = &problems[k];
        make_matrix(&host, rng_next(&r), p);
        const int32_t blocks = make_blocks(&r, p);
        p->scale = test_alloc((size_t)p->n, sizeof *p->scale);
        for (int32_t i = 0; i < p->n; ++i) p->scale[i] = exp2(rng_unit(&r) / 4);
        sd_csr whole = {0};
        if (p->half) assert_int_equal(sd_csr_expand(&host, &p->A, &whole), SADDLE_OK);
        assert_int_equal(sd_block_matrix_make(&host, p->half ? &whole : &p->A, p->order, p->scale, blocks,
                                              p->start, &p->B),
                         SADDLE_OK);
        sd_csr_free(&host, &whole);
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)
            find_factors(&host, p, precision);
    }
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        problem *p = &problems[k];
        sd_csr_free(&host, &p->A);
        sd_block_matrix_free(&host, &p->B);
        free(p->start);
        free(p->order);
        free(p->scale);
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
            sd_ldlt_plan_free(&host, &p->found[precision].plan);
            sd_ldlt_numbers_free(&host, NULL, &p->found[precision].numbers);
        }
    }
    assert_int_equal(host.bytes, 0);
    return 0;
}

/* Row of A at each row of the plan's blocks. */
static int32_t *order_of(const problem *p, const sd_ldlt_plan *plan)
{
    int32_t *order = test_alloc((size_t)p->n, sizeof *order), r = 0;
    for (int32_t i = 0; i < plan->blocks; ++i)
        for (int32_t from = p->start[plan->block_at[i]]; r < plan->start[i + 1]; ++r, ++from)
            order[r] = p->order[from];
    return order;
}

/* ---- a backend at work ---- */

typedef struct walker {
    sd_engine *e, *reference;
    const problem *p;
    const sd_ldlt_plan *plan;
    sd_precision precision;
    sd_ldlt_schedule mine, its;
    bool compare;
    uint64_t bits;
    rng r;
} walker;

static void note(walker *w, const void *bytes, size_t count)
{
    for (size_t k = 0; k < count; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + k, count - k < sizeof word ? count - k : sizeof word);
        w->bits = (w->bits ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        w->bits ^= w->bits >> 29;
    }
}

/* An array in the backend's memory, and a copy at reference. */
typedef struct both {
    void *mine, *its, *size; /* size: magnitudes, at reference */
    int64_t count;
} both;

static void *rounded(sd_precision precision, int64_t count, const double *from, double sign)
{
    void *to = reals_new(precision, count);
    for (int64_t k = 0; k < count; ++k) {
        const double value = sign == 0 ? from[k] : sign * fabs(from[k]);
        if (precision == SD_DOUBLE)
            ((double *)to)[k] = value;
        else
            ((float *)to)[k] = (float)value;
    }
    return to;
}

/* Random numbers below `size`; the magnitudes have this sign. */
static both random_both(walker *w, int64_t count, double size, double sign)
{
    double *numbers = test_alloc((size_t)count, sizeof *numbers);
    const int64_t bytes = count * (int64_t)sd_precision_size(w->precision);
    for (int64_t k = 0; k < count; ++k) numbers[k] = size * rng_unit(&w->r);
    void *plain = rounded(w->precision, count, numbers, 0),
         *magnitude = rounded(w->precision, count, numbers, sign);
    const both b = {sd_to_backend(w->e, plain, bytes, "test"),
                    sd_to_backend(w->reference, plain, bytes, "test"),
                    sd_to_backend(w->reference, magnitude, bytes, "test"), count};
    assert_true(b.mine && b.its && b.size);
    free(plain);
    free(magnitude);
    free(numbers);
    return b;
}

static void free_both(walker *w, both *b)
{
    w->e->backend->release(w->e, b->mine);
    w->reference->backend->release(w->reference, b->its);
    w->reference->backend->release(w->reference, b->size);
}

/* |mine - its| <= roundings * unit * size */
static void compare(walker *w, const both *b, double roundings, const char *what)
{
    const int64_t bytes = b->count * (int64_t)sd_precision_size(w->precision);
    void *mine = reals_new(w->precision, b->count);
    w->e->backend->download(w->e, b->mine, mine, bytes);
    assert_int_equal(w->e->status, SADDLE_OK);
    note(w, mine, (size_t)bytes);
    for (int64_t k = 0; k < b->count && w->compare; ++k) {
        const double x = real_at(mine, w->precision, k), y = real_at(b->its, w->precision, k);
        const double allowed = roundings * unit_of(w->precision) * real_at(b->size, w->precision, k);
        if (!(fabs(x - y) <= allowed))
            fail_msg("%s of %s: entry %lld of %lld is %.17g, reference's %.17g, %g allowed", what, w->p->name,
                     (long long)k, (long long)b->count, x, y, allowed);
    }
    free(mine);
}

static sd_ldlt_numbers numbers_of(const walker *w, const both *data, const both *weighed, const both *square,
                                  const both *inverse, int which)
{
#define OF(b) ((b) ? (which == 0 ? (b)->mine : which == 1 ? (b)->its : (b)->size) : NULL)
    return (sd_ldlt_numbers){OF(data), OF(inverse), OF(weighed), OF(square), NULL, w->precision};
#undef OF
}

/* A matrix in the memory of an engine. */
static sd_sparse place_matrix(sd_engine *e, const sd_csr *A, sd_precision precision)
{
    void *values = rounded(precision, A->nnz, A->val, 0);
    const sd_sparse S = {
        .n = A->n,
        .nnz = A->nnz,
        .half = A->half,
        .precision = precision,
        .ptr = sd_to_backend(e, A->ptr, ((int64_t)A->n + 1) * (int64_t)sizeof *A->ptr, "test"),
        .ind = sd_to_backend(e, A->ind, A->nnz * (int64_t)sizeof *A->ind, "test"),
        .val = sd_to_backend(e, values, A->nnz * (int64_t)sd_precision_size(precision), "test")};
    assert_int_equal(e->status, SADDLE_OK);
    free(values);
    return S;
}

static void unplace_matrix(sd_engine *e, const sd_sparse *S)
{
    sd_release(e, S->ptr);
    sd_release(e, S->ind);
    sd_release(e, S->val);
}

static void place_schedule(const walker *w, sd_engine *e, sd_ldlt_schedule *s)
{
    int32_t *order = order_of(w->p, w->plan);
    assert_int_equal(sd_ldlt_schedule_make(e->context, w->plan, &w->p->A, order, s), SADDLE_OK);
    assert_int_equal(sd_ldlt_schedule_place(e, s), SADDLE_OK);
    free(order);
}
