/* Triangular factors of many shapes on the host, with levels, blocks and the inverses of these, and where an
 * engine has them. */
#pragma once

#include "helpers.h"

#include "backend/backend.h"

typedef enum shape { ALONE, CHAIN, FULL, STREWN, LAYERS, HOLES, GRID } shape;

/* Rows off the diagonal, columns ascending. Numbers off the diagonal sum up to less than half of it in each
 * row, so that solutions are of the size of b. */
typedef struct factor {
    const char *name;
    shape shape;
    int32_t n;
    bool upper, shared; /* shared: the numbers lie in another order */
    int64_t *ptr, *split, *square;
    int32_t *ind, *from, *level, *row, *start;
    int32_t levels, blocks, largest;
    int64_t longest;              /* entries of a row */
    double *val, *reciprocal;     /* val[k] is entry k, wherever it lies */
    double *placed_val, *inverse; /* as `from` says; of the blocks */
} factor;

/* Whether row i has an entry so many columns from the diagonal. */
static bool shape_has(const factor *f, rng *r, int32_t i, int32_t away)
{
    const int32_t rank = f->upper ? f->n - 1 - i : i;
    switch (f->shape) {
    case ALONE: return false;
    case CHAIN: return away == 1;
    case FULL: return true;
    case STREWN: return away < 2000 && away % 16 == 5 && rng_below(r, 25) == 0;
    case LAYERS:
        return rank >= 1500 && away > rank % 1500 && away <= rank % 1500 + 700 && away % 8 == 3 &&
               rng_below(r, 20) == 0;
    case HOLES: return rank % 3 != 1 && away <= 12 && away % 3 != 1;
    default: return (away == 1 && rank % 30 > 0) || (away == 30 && rank % 900 >= 30) || away == 900;
    }
}

static void make_entries(rng *r, factor *f)
{
    const int64_t room = f->shape == FULL ? (int64_t)f->n * f->n : (int64_t)f->n * 40;
    const int32_t far = f->shape < FULL ? f->shape : f->shape == HOLES ? 12 : f->shape == GRID ? 900 : 2200;
    f->ptr = test_alloc((size_t)f->n + 1, sizeof *f->ptr);
    f->ind = test_alloc((size_t)room, sizeof *f->ind);
    f->ptr[0] = 0;
    for (int32_t i = 0; i < f->n; ++i) {
        int64_t next = f->ptr[i];
        const int32_t reach = f->upper ? f->n - 1 - i : i, most = reach < far ? reach : far;
        for (int32_t s = 0; s < most; ++s) {
            const int32_t away = f->upper ? s + 1 : most - s;
            if (shape_has(f, r, i, away)) f->ind[next++] = f->upper ? i + away : i - away;
            assert_true(next <= room);
        }
        f->ptr[i + 1] = next;
        f->longest = next - f->ptr[i] > f->longest ? next - f->ptr[i] : f->longest;
    }
    const int64_t count = f->ptr[f->n];
    f->val = test_alloc((size_t)count, sizeof *f->val);
    f->placed_val = test_alloc((size_t)count, sizeof *f->placed_val);
    f->from = test_alloc((size_t)count, sizeof *f->from);
    f->reciprocal = test_alloc((size_t)f->n, sizeof *f->reciprocal);
    for (int64_t k = 0; k < count; ++k) f->from[k] = (int32_t)k;
    if (f->shared) rng_permutation(r, (int)count, f->from);
    for (int32_t i = 0; i < f->n; ++i) {
        f->reciprocal[i] = (float)(0.5 + 0.25 * rng_unit(r));
        for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k) {
            f->val[k] = (float)(0.5 * rng_unit(r) / (double)(f->ptr[i + 1] - f->ptr[i]));
            f->placed_val[f->from[k]] = f->val[k];
        }
    }
}

static void make_levels(factor *f)
{
    int32_t *of = test_alloc((size_t)f->n, sizeof *of);
    for (int32_t rank = 0; rank < f->n; ++rank) {
        const int32_t i = f->upper ? f->n - 1 - rank : rank;
        for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k)
            if (of[f->ind[k]] >= of[i]) of[i] = of[f->ind[k]] + 1;
        if (of[i] >= f->levels) f->levels = of[i] + 1;
    }
    f->level = test_alloc((size_t)f->levels + 1, sizeof *f->level);
    f->row = test_alloc((size_t)f->n, sizeof *f->row);
    for (int32_t i = 0; i < f->n; ++i) ++f->level[of[i] + 1];
    for (int32_t l = 0; l < f->levels; ++l) f->level[l + 1] += f->level[l];
    int32_t *next = test_alloc((size_t)f->levels + 1, sizeof *next);
    memcpy(next, f->level, (size_t)f->levels * sizeof *next);
    for (int32_t i = 0; i < f->n; ++i) f->row[next[of[i]]++] = i;
    free(next);
    free(of);
}

/* Column j of the inverse of the diagonal block that begins at row `first`. */
static void invert_column(const factor *f, int32_t first, int32_t size, int32_t j, double *to)
{
    for (int32_t s = 0; s < size; ++s) {
        const int32_t r = f->upper ? size - 1 - s : s, i = first + r;
        double sum = r == j ? 1 : 0;
        for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k)
            if (f->ind[k] >= first && f->ind[k] < first + size) sum -= f->val[k] * to[f->ind[k] - first];
        to[r] = sum * f->reciprocal[i];
    }
}

/* Blocks of so many rows, or of any number of them where that is 0. */
static void make_blocks(rng *r, factor *f, int32_t rows)
{
    int64_t entries = 0;
    f->start = test_alloc((size_t)f->n + 1, sizeof *f->start);
    f->square = test_alloc((size_t)f->n + 1, sizeof *f->square);
    f->split = test_alloc((size_t)f->n, sizeof *f->split);
    for (int32_t i = 0; i < f->n; ++f->blocks) {
        const int32_t wanted = rows ? rows : 1 + rng_below(r, SD_BLOCK_MOST);
        const int32_t size = wanted < f->n - i ? wanted : f->n - i;
        for (int32_t s = i; s < i + size; ++s) {
            f->split[s] = f->ptr[s];
            while (f->split[s] < f->ptr[s + 1] && f->ind[f->split[s]] < (f->upper ? i + size : i))
                ++f->split[s];
        }
        f->largest = size > f->largest ? size : f->largest;
        entries += (int64_t)size * size;
        i += size;
        f->start[f->blocks + 1] = i;
        f->square[f->blocks + 1] = entries;
    }
    f->inverse = test_alloc((size_t)entries, sizeof *f->inverse);
    for (int32_t q = 0; q < f->blocks; ++q) {
        const int32_t first = f->start[q], size = f->start[q + 1] - first;
        for (int32_t j = 0; j < size; ++j)
            invert_column(f, first, size, j, f->inverse + f->square[q] + (int64_t)j * size);
    }
}

static void factor_make(rng *r, factor *f, int32_t rows_of_block)
{
    make_entries(r, f);
    make_levels(f);
    make_blocks(r, f, rows_of_block);
}

static void factor_free(factor *f)
{
    void *all[] = {f->ptr, f->split, f->square, f->ind,     f->from,       f->level,
                   f->row, f->start, f->val,    f->inverse, f->reciprocal, f->placed_val};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) free(all[k]);
    *f = (factor){.name = f->name, .shape = f->shape, .n = f->n, .upper = f->upper, .shared = f->shared};
}

/* ---- in the memory of an engine ---- */

static const void *factor_numbers(sd_engine *e, sd_precision precision, int64_t count, const double *host)
{
    void *rounded = test_alloc((size_t)count, sizeof(double));
    for (int64_t k = 0; k < count; ++k) sd_put_number(rounded, precision, k, host[k]);
    const void *to = sd_to_backend(e, rounded, count * (int64_t)sd_precision_size(precision), "test");
    assert_non_null(to);
    free(rounded);
    return to;
}

static sd_triangle factor_place(sd_engine *e, const factor *f, sd_precision precision)
{
    const int64_t n = f->n, count = f->ptr[n];
#define PLACED(array, length) sd_to_backend(e, f->array, (length) * (int64_t)sizeof *f->array, "test")
    const sd_triangle x = {.n = f->n,
                           .upper = f->upper,
                           .precision = precision,
                           .entries = count,
                           .longest = f->longest,
                           .ptr = PLACED(ptr, n + 1),
                           .ind = PLACED(ind, count),
                           .from = f->shared ? PLACED(from, count) : NULL,
                           .val = factor_numbers(e, precision, count, f->placed_val),
                           .reciprocal = factor_numbers(e, precision, n, f->reciprocal),
                           .levels = f->levels,
                           .level = f->level,
                           .row = PLACED(row, n),
                           .blocks = f->blocks,
                           .largest = f->largest,
                           .start = PLACED(start, f->blocks + 1),
                           .split = PLACED(split, n),
                           .square = PLACED(square, f->blocks + 1),
                           .inverse = factor_numbers(e, precision, f->square[f->blocks], f->inverse)};
#undef PLACED
    assert_int_equal(e->status, SADDLE_OK);
    assert_int_equal(sd_engine_reserve(e, n, NULL), SADDLE_OK);
    return x;
}

static void factor_unplace(sd_engine *e, const sd_triangle *x)
{
    const void *owned[] = {x->ptr, x->ind,   x->from,  x->val,    x->reciprocal,
                           x->row, x->start, x->split, x->square, x->inverse};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) sd_release(e, owned[k]);
}
