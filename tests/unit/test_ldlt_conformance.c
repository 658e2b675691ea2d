/*
 * Block LDL' on every backend against reference: the rows ldlt_* of blocks.def, over plans that sd_ldlt_find
 * made of generated matrices, in both precisions; and sd_ldlt_refactor against what was found.
 *
 * The bound of a comparison is reference's too: the same kernel over magnitudes, with signs such that nothing
 * cancels, gives what the sum of all terms is, and rounding may lose a unit of it for each of them. Bits must
 * be the same from run to run and at any number of threads; those of different tables may differ.
 */
#include "blocks.h"

#include "backend/cpu/cpu.h"
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
        sd_ldlt_values values;
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
                               .small = 1e-8,
                               .generations = 1,
                               .most_pushed = p->n,
                               .precision = precision,
                               .threads = 1};
    sd_ldlt_counts counts;
    if (sd_ldlt_find(c, &p->B, &rule, NULL, &p->found[precision].plan, &p->found[precision].values, &counts))
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
            sd_ldlt_values_free(&host, &p->found[precision].values);
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
    sd_precision precision;
    sd_ldlt_runner mine, its;
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
    return (sd_ldlt_numbers){OF(data), OF(weighed), OF(square), OF(inverse), w->precision};
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

static void release(sd_engine *e, const void *block)
{
    e->backend->release(e, (void *)(uintptr_t)block);
}

static void unplace_matrix(sd_engine *e, const sd_sparse *S)
{
    release(e, S->ptr);
    release(e, S->ind);
    release(e, S->val);
}

/* ---- rows of blocks.def ---- */

static void check_scatter(walker *w)
{
    const sd_ldlt_runner *r = &w->its;
    both data = random_both(w, r->entries, 1, 0), square = random_both(w, r->squares, 1, 0);
    for (int which = 0; which < (w->compare ? 2 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_sparse A = place_matrix(e, &w->p->A, w->precision);
        sd_ldlt_numbers x = numbers_of(w, &data, NULL, &square, NULL, which);
        sd_ldlt_scatter(e, &A, which ? &w->its.map : &w->mine.map, r->entries, r->squares, &x);
        unplace_matrix(e, &A);
    }
    compare(w, &data, 0, "scattered C");
    compare(w, &square, 0, "scattered S");
    free_both(w, &data);
    free_both(w, &square);
}

/* All targets at once, into other places (a sweep), then level by level in place. */
static void check_update(walker *w)
{
    const sd_ldlt_runner *r = &w->its;
    const int32_t levels = r->plan->levels;
    both data = random_both(w, r->entries, 1, 1), square = random_both(w, r->squares, 1, 1);
    both from = random_both(w, r->entries, 1, 1), weighed = random_both(w, r->weighed, 1, -1);
    both to = random_both(w, r->entries, 1, 1), to_square = random_both(w, r->squares, 1, 1);
    double most = 0;
    for (int64_t t = 0; t < r->run.count + (int64_t)r->run.blocks; ++t)
        most = fmax(most, (double)(r->run.first[t + 1] - r->run.first[t]));
    const double roundings = SD_BLOCK_MOST * most + 4;
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_runner *own = which ? &w->its : &w->mine;
        const sd_ldlt_numbers a = numbers_of(w, &data, NULL, &square, NULL, which);
        const sd_ldlt_numbers with = numbers_of(w, &from, &weighed, NULL, NULL, which);
        sd_ldlt_numbers x = numbers_of(w, &to, NULL, &to_square, NULL, which);
        sd_ldlt_update(e, &own->run, &own->part[levels + own->chunks], &a, &with, &x);
    }
    compare(w, &to, roundings, "C of a sweep");
    compare(w, &to_square, roundings, "S of a sweep");
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_runner *own = which ? &w->its : &w->mine;
        sd_ldlt_numbers x = numbers_of(w, &data, &weighed, &square, NULL, which);
        const int32_t l = levels / 2; /* one level, which changes in place */
        sd_ldlt_update(e, &own->run, &own->part[l], &x, &x, &x);
    }
    compare(w, &data, roundings, "C of a level");
    compare(w, &square, roundings, "S of a level");
    both *all[] = {&data, &square, &from, &weighed, &to, &to_square};
    for (int k = 0; k < 6; ++k) free_both(w, all[k]);
}

static void check_weigh(walker *w)
{
    const sd_ldlt_runner *r = &w->its;
    both data = random_both(w, r->entries, 1, 1), inverse = random_both(w, r->squares, 1, 1);
    both weighed = random_both(w, r->weighed, 1, 1);
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_runner *own = which ? &w->its : &w->mine;
        sd_ldlt_numbers x = numbers_of(w, &data, &weighed, NULL, &inverse, which);
        sd_ldlt_weigh(e, &own->run, &own->part[r->plan->levels + own->chunks], &x);
    }
    compare(w, &weighed, SD_BLOCK_MOST + 2, "W");
    free_both(w, &data);
    free_both(w, &inverse);
    free_both(w, &weighed);
}

/* Factors of random numbers, so small off the diagonal that magnitudes do not grow. */
static sd_ldlt_factors place_factors(walker *w, const both *data, const both *inverse, const both *scale,
                                     int which)
{
    sd_engine *e = which ? w->reference : w->e;
    const sd_ldlt_plan *plan = w->its.plan;
    const int64_t blocks = plan->blocks;
    int32_t *order = order_of(w->p, plan);
    const sd_ldlt_numbers x = numbers_of(w, data, scale, NULL, inverse, which);
    const sd_ldlt_factors f = {
        .n = plan->n,
        .blocks = plan->blocks,
        .levels = plan->levels,
        .largest = plan->largest,
        .level = plan->level,
        .start = sd_to_backend(e, plan->start, (blocks + 1) * (int64_t)sizeof *plan->start, "test"),
        .row = sd_to_backend(e, plan->row, (blocks + 1) * (int64_t)sizeof *plan->row, "test"),
        .diagonal = sd_to_backend(e, plan->diagonal, blocks * (int64_t)sizeof *plan->diagonal, "test"),
        .square = sd_to_backend(e, plan->square, (blocks + 1) * (int64_t)sizeof *plan->square, "test"),
        .list = sd_to_backend(e, plan->list, plan->row[blocks] * (int64_t)sizeof *plan->list, "test"),
        .data = x.data,
        .inverse = x.inverse,
        .order = sd_to_backend(e, order, plan->n * (int64_t)sizeof *order, "test"),
        .scale = x.weighed,
        .precision = w->precision};
    assert_int_equal(e->status, SADDLE_OK);
    free(order);
    return f;
}

static void unplace_factors(sd_engine *e, const sd_ldlt_factors *f)
{
    const void *owned[] = {f->start, f->row, f->diagonal, f->square, f->list, f->order};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) release(e, owned[k]);
}

/* Into another vector, then from that into itself. */
/* z = M^-1 r by levels, and from there on by some sweeps. */
static void solve_both_ways(sd_engine *e, const sd_ldlt_factors *f, const sd_vector *r, sd_vector *z)
{
    sd_vector work[3];
    for (int k = 0; k < 3; ++k) work[k] = sd_vector_new(e, f->precision, 2 * (int64_t)f->n, "test");
    const sd_vector from = {work[0].data, f->n, f->precision};
    sd_vector b = from, first = {work[1].data, f->n, f->precision},
              second = {work[2].data, f->n, f->precision};
    sd_ldlt_solve(e, f, r, z, &work[0]);
    sd_ldlt_solve(e, f, z, z, &work[0]);
    sd_ldlt_enter(e, f, z, &b);
    sd_ldlt_sweep(e, f, true, &b, NULL, &first);
    sd_ldlt_sweep(e, f, true, &b, &first, &second);
    sd_ldlt_sweep(e, f, false, &second, NULL, &first);
    sd_ldlt_sweep(e, f, false, &second, &first, &b);
    sd_ldlt_leave(e, f, &b, z);
    for (int k = 0; k < 3; ++k) sd_vector_free(e, &work[k]);
}

static void check_solve(walker *w)
{
    const sd_ldlt_plan *plan = w->its.plan;
    int64_t longest = 1;
    for (int32_t i = 0; i < plan->blocks; ++i)
        longest = plan->row[i + 1] - plan->row[i] > longest ? plan->row[i + 1] - plan->row[i] : longest;
    const double terms = (double)((longest + 1) * plan->largest);
    both data = random_both(w, plan->entries, 1 / terms, -1);
    both inverse = random_both(w, plan->square[plan->blocks], 1, 1), scale = random_both(w, plan->n, 1, 1);
    both r = random_both(w, plan->n, 1, 1), z = random_both(w, plan->n, 1, 1);
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_factors f = place_factors(w, &data, &inverse, &scale, which);
        const sd_vector from = {numbers_of(w, &r, NULL, NULL, NULL, which).data, plan->n, w->precision};
        sd_vector to = {numbers_of(w, &z, NULL, NULL, NULL, which).data, plan->n, w->precision};
        solve_both_ways(e, &f, &from, &to);
        unplace_factors(e, &f);
    }
    compare(w, &z, 8 * terms + 128, "solution");
    both *all[] = {&data, &inverse, &scale, &r, &z};
    for (int k = 0; k < 5; ++k) free_both(w, all[k]);
}

/* max |mine - found| is nothing beside max |found|. */
static void compare_found(walker *w, const void *block, const void *found, int64_t count, const char *what)
{
    const int64_t bytes = count * (int64_t)sd_precision_size(w->precision);
    void *mine = reals_new(w->precision, count);
    double most = 0, error = 0;
    w->e->backend->download(w->e, block, mine, bytes);
    assert_int_equal(w->e->status, SADDLE_OK);
    note(w, mine, (size_t)bytes);
    for (int64_t k = 0; k < count; ++k) {
        const double x = real_at(mine, w->precision, k), y = real_at(found, w->precision, k);
        if (!isfinite(x)) fail_msg("%s of %s is not finite", what, w->p->name);
        most = fmax(most, fabs(y));
        error = fmax(error, fabs(x - y));
    }
    if (!(error <= 2000 * unit_of(w->precision) * most))
        fail_msg("%s of %s differs by %g of %g from what was found", what, w->p->name, error, most);
    free(mine);
}

static void check_refactor(walker *w)
{
    const sd_block_rule rule = {.kernel = SD_LDLT_BUNCH_KAUFMAN, .small = 1e-8};
    const sd_ldlt_values *found = &w->p->found[w->precision].values;
    const sd_sparse A = place_matrix(w->e, &w->p->A, w->precision);
    sd_ldlt_numbers x;
    sd_ldlt_counts counts;
    assert_int_equal(sd_ldlt_numbers_make(w->e, &w->mine, w->precision, &x), SADDLE_OK);
    assert_int_equal(sd_ldlt_refactor(w->e, &w->mine, &A, &rule, &x, &counts), SADDLE_OK);
    assert_int_equal(counts.perturbed + counts.replaced, 0);
    compare_found(w, x.data, found->data, w->mine.entries, "C");
    compare_found(w, x.inverse, found->inverse, w->mine.squares, "G");
    sd_ldlt_numbers_free(w->e, &x);
    unplace_matrix(w->e, &A);
}

/* ---- the walk ---- */

static uint64_t run_checks(const sd_backend *backend, int threads, const problem *p, sd_precision precision,
                           bool compared)
{
    bench s, t;
    bench_open(&s, backend, threads);
    bench_open(&t, &sd_backend_reference, 1);
    const sd_ldlt_plan *plan = &p->found[precision].plan;
    int32_t *order = order_of(p, plan);
    walker w = {
        .e = &s.e, .reference = &t.e, .p = p, .precision = precision, .compare = compared, .r = {4711}};
    assert_int_equal(sd_ldlt_runner_make(&s.e, plan, &p->A, order, p->scale, &w.mine), SADDLE_OK);
    assert_int_equal(sd_ldlt_runner_make(&t.e, plan, &p->A, order, p->scale, &w.its), SADDLE_OK);
    check_scatter(&w);
    check_update(&w);
    check_weigh(&w);
    check_solve(&w);
    check_refactor(&w);
    sd_ldlt_runner_free(&s.e, &w.mine);
    sd_ldlt_runner_free(&t.e, &w.its);
    free(order);
    bench_close(&s);
    bench_close(&t);
    return w.bits;
}

static void walk(const sd_backend *backend)
{
    const bool once = getenv("SADDLE_TEST_ONCE") != NULL; /* for tools that are a hundred times slower */
    for (int k = 0; k < PROBLEMS; ++k) {
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
            const uint64_t bits = run_checks(backend, 1, &problems[k], precision, true);
            if (!once && run_checks(backend, 2, &problems[k], precision, false) != bits)
                fail_msg("%s: other bits the second time", problems[k].name);
        }
    }
}

static void reference_conforms_with_itself(void **state)
{
    (void)state;
    walk(&sd_backend_reference);
}

static void the_portable_table_conforms(void **state)
{
    (void)state;
    walk(&sd_cpu_portable);
}

static void the_avx2_table_conforms(void **state)
{
    (void)state;
    walk(avx2_or_skip());
}

static void the_avx512_table_conforms(void **state)
{
    (void)state;
    walk(avx512_or_skip());
}

static void the_cuda_module_conforms(void **state)
{
    (void)state;
    walk(cuda_or_skip());
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_conforms_with_itself), cmocka_unit_test(the_portable_table_conforms),
        cmocka_unit_test(the_avx2_table_conforms),        cmocka_unit_test(the_avx512_table_conforms),
        cmocka_unit_test(the_cuda_module_conforms),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
