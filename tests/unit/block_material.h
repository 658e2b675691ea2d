/*
 * What the conformance of blocks is tested with: batches in which every block stands several times, and what
 * reference makes of them, with a word on which of its pivots do not depend on rounding.
 */
#pragma once

#include "block_solving.h"

enum { COPIES = 4, COLUMNS = 2 };
static const double small_pivot = 0x1p-10;

/* What reference makes of a batch by one kernel, with small pivots moved or not. */
typedef struct known {
    factors f;
    bool *certain; /* of each block: its pivots do not depend on rounding */
} known;

/* COPIES of blocks of every kind and size, symmetric or not, in a random order. */
typedef struct material {
    batch b;
    int32_t *first; /* of each block: the first one that is the same */
    bool *wanted;
    int32_t *order[2];
    double *rhs;
} material;

static material materials[2][SD_PRECISIONS]; /* not symmetric, symmetric */
static known known_factors[BENCH_KERNELS][2][SD_PRECISIONS];

static material *material_of(sd_batch_kernel kernel, sd_precision precision)
{
    return &materials[is_symmetric(kernel)][precision];
}

/* A batch of these blocks of another one. */
static batch pick(const batch *b, int32_t count, const int32_t *which)
{
    int *size = test_alloc((size_t)count, sizeof *size);
    for (int32_t k = 0; k < count; ++k) size[k] = batch_size(b, which[k]);
    batch p = batch_new(b->precision, count, size);
    const size_t one = sd_precision_size(b->precision);
    for (int32_t k = 0; k < count; ++k) {
        p.kind[k] = b->kind[which[k]];
        memcpy((char *)p.data + (size_t)p.entry[k] * one, (char *)b->data + (size_t)b->entry[which[k]] * one,
               (size_t)(p.entry[k + 1] - p.entry[k]) * one);
    }
    free(size);
    return p;
}

/* Of every kind every third size, so that each size is there in a third of the kinds. */
static batch make_distinct(rng *r, bool symmetric, sd_precision precision)
{
    batch all = batch_of_kinds(r, precision, symmetric, ALL_KINDS, 1);
    int32_t *which = test_alloc((size_t)all.blocks, sizeof *which), count = 0;
    for (int32_t k = 0; k < all.blocks; ++k)
        if (((int)all.kind[k] + batch_size(&all, k)) % 3 == 0) which[count++] = k;
    batch distinct = pick(&all, count, which);
    free(which);
    batch_free(&all);
    return distinct;
}

static void make_material(rng *r, bool symmetric, sd_precision precision, material *m)
{
    batch distinct = make_distinct(r, symmetric, precision);
    const int32_t blocks = COPIES * distinct.blocks;
    int32_t *order = test_alloc((size_t)blocks, sizeof *order);
    int32_t *seen = test_alloc((size_t)distinct.blocks, sizeof *seen);
    m->first = test_alloc((size_t)blocks, sizeof *m->first);
    m->wanted = test_alloc((size_t)blocks, sizeof *m->wanted);
    rng_permutation(r, blocks, order);
    for (int32_t k = 0; k < distinct.blocks; ++k) seen[k] = -1;
    for (int32_t k = 0; k < blocks; ++k) {
        order[k] %= distinct.blocks;
        if (seen[order[k]] < 0) seen[order[k]] = k;
        m->first[k] = seen[order[k]];
        m->wanted[k] = rng_below(r, 3) > 0;
    }
    m->b = pick(&distinct, blocks, order);
    const int32_t rows = m->b.start[blocks];
    for (int k = 0; k < 2; ++k) {
        m->order[k] = test_alloc((size_t)rows, sizeof(int32_t));
        rng_permutation(r, rows, m->order[k]);
    }
    m->rhs = test_alloc((size_t)rows * COLUMNS, sizeof *m->rhs);
    for (int32_t k = 0; k < rows * COLUMNS; ++k) m->rhs[k] = (float)rng_unit(r);
    free(order);
    free(seen);
    batch_free(&distinct);
}

/* The batch with every entry changed by up to `by` of itself, alike on both sides of the diagonal. */
static batch shaken(rng *r, const batch *b, bool symmetric, double by)
{
    int *size = test_alloc((size_t)b->blocks, sizeof *size);
    for (int32_t k = 0; k < b->blocks; ++k) size[k] = batch_size(b, k);
    batch p = batch_new(b->precision, b->blocks, size);
    for (int32_t k = 0; k < b->blocks; ++k) {
        double a[SQUARE];
        for (int at = 0; at < size[k] * size[k]; ++at)
            a[at] = batch_at(b, k, at % size[k], at / size[k]) * (1 + by * rng_unit(r));
        if (symmetric) make_symmetric(size[k], a);
        p.kind[k] = b->kind[k];
        batch_set(&p, k, a);
    }
    free(size);
    return p;
}

static bool same_pivots(const batch *b, const factors *f, const factors *g, int32_t k)
{
    const size_t n = (size_t)batch_size(b, k);
    return memcmp(&f->state[k], &g->state[k], sizeof f->state[k]) == 0 &&
           memcmp(f->row + b->start[k], g->row + b->start[k], n) == 0 &&
           memcmp(f->column + b->start[k], g->column + b->start[k], n) == 0;
}

/* Kinds whose elimination is exact, or that are judged before it begins. */
static bool is_exact(const batch *b, const factors *f, int32_t k)
{
    switch (b->kind[k]) {
    case ALL_ZERO:
    case DENORMAL:
    case WITH_NAN:
    case WITH_INFINITY:
    case ALL_ONES:
    case PERMUTATION: return true;
    case HADAMARD: return has_triangles(f->kernel) && (f->state[k].status || rounding_error(b, f, k) == 0);
    default: return false;
    }
}

/* Whether rounding is too small to have a say: not where what is left becomes rounding errors alone, which it
 * does in blocks of these kinds, and after large growth. */
static bool is_sound(const batch *b, const factors *f, int32_t k)
{
    static difference d;
    const int n = batch_size(b, k);
    long double most = 0, growth = 0;
    if (b->kind[k] == SPREAD || b->kind[k] == NEARLY_SINGULAR || b->kind[k] == TIES) return false;
    if (b->kind[k] == HUGE_ENTRIES) return false;
    if (picks_among_equals(f->kernel) && (b->kind[k] == HADAMARD || b->kind[k] == PERMUTATION)) return false;
    if (!has_triangles(f->kernel) || f->state[k].status) return true;
    difference_of(b, f, k, &d);
    for (int at = 0; at < n * n; ++at) {
        most = fmaxl(most, fabsl((long double)batch_at(b, k, at % n, at / n)));
        growth = fmaxl(growth, d.unit[at] / (n * unit_of(b->precision)));
    }
    return growth <= 1e3L * most;
}

static void make_known(rng *r, sd_engine *e, sd_batch_kernel kernel, sd_precision precision, int moved_small)
{
    const material *m = material_of(kernel, precision);
    known *n = &known_factors[kernel][moved_small][precision];
    const sd_batch_rule rule = {.kernel = kernel, .small = moved_small ? small_pivot : 0};
    n->f = factor_batch(e, &m->b, &rule);
    n->certain = test_alloc((size_t)m->b.blocks, sizeof *n->certain);
    for (int32_t k = 0; k < m->b.blocks; ++k) n->certain[k] = is_sound(&m->b, &n->f, k);
    /* by some roundings, or by what leaves pivots that are all but equal to a backend's choice */
    const bool picks = picks_among_equals(kernel);
    const double by = precision == SD_SINGLE ? 1e-4 : picks ? 0x1p-14 : 1e-9;
    for (int trial = 0; trial < (picks ? 6 : 3); ++trial) {
        batch other = shaken(r, &m->b, is_symmetric(kernel), by);
        factors f = factor_batch(e, &other, &rule);
        for (int32_t k = 0; k < m->b.blocks; ++k)
            n->certain[k] = n->certain[k] && same_pivots(&m->b, &n->f, &f, k);
        free_factors(&f);
        batch_free(&other);
    }
    for (int32_t k = 0; k < m->b.blocks; ++k)
        n->certain[k] = n->certain[k] || (!moved_small && !picks && is_exact(&m->b, &n->f, k));
}
