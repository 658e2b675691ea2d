/*
 * Residuals of systems abreast, for one instruction set: what residual.c, and kernels.inc in double, compute
 * for one half matrix, in the same order, so that each has the same bits.
 */
#include "backend/cpu/abreast_vector.h"

#include <string.h>

enum { SUMS = 8 /* interleaved, as LANES of residual.c */ };

static const double SAFE = 0x1p+200;

/* The largest of each vector; `near` loses those that are not near 1, zeros apart. */
static vec find_largest(int64_t n, const vec *x, bits *near)
{
    vec most = all(0), least = all(SAFE), nothing = all(0);
    for (int64_t i = 0; i < n; ++i) {
        const vec size = absolute(x[i]), positive = choose((bits)(size > all(0)), size, all(1));
        nothing += all(0) * size; /* NaN where one is */
        most = larger(size, most);
        least = smaller(positive, least);
    }
    *near &= (bits)(nothing == all(0)) & (bits)(most < all(SAFE)) & (bits)(least > all(1 / SAFE));
    return most;
}

/* The sums of rows: those of a slice's window begin at its first row. */
typedef struct row_sums {
    vec *hi, *lo, *weight;
} row_sums;

static row_sums window_of(const sd_sparse *A, int32_t s, vec *room)
{
    vec *const hi = room + A->offset[s] - A->slice[s];
    return (row_sums){hi, hi + A->window_total, hi + 2 * A->window_total};
}

INLINE void add_to(vec *hi, vec *lo, vec a)
{
    const vec sum = *hi + a, part = sum - *hi;
    *lo += (*hi - (sum - part)) + (a - part);
    *hi = sum;
}

INLINE void subtract(vec *hi, vec *lo, vec *weight, vec a, vec x)
{
    const vec product = -a * x;
    *lo += EXACT(-a, x, -product);
    add_to(hi, lo, product);
    *weight += absolute(product);
}

static void run_slice(const sd_sparse *A, int32_t s, const vec *a, const vec *b, const vec *x, vec *room)
{
    const int32_t first = A->slice[s], mine = A->slice[s + 1], end = A->window[s];
    const row_sums w = window_of(A, s, room);
    for (int32_t i = first; i < mine; ++i) {
        w.hi[i] = b[i];
        w.weight[i] = absolute(b[i]);
    }
    for (int32_t i = mine; i < end; ++i) w.hi[i] = w.weight[i] = all(0);
    for (int32_t i = first; i < end; ++i) w.lo[i] = all(0);
    for (int32_t i = first; i < mine; ++i) {
        const vec xi = x[i];
        int64_t k = A->ptr[i];
        const int64_t stop = A->ptr[i + 1];
        vec hi = w.hi[i], lo = w.lo[i], weight = w.weight[i];
        if (k < stop && A->ind[k] == i) subtract(&hi, &lo, &weight, a[k++], xi);
        for (; k < stop; ++k) {
            const int32_t j = A->ind[k];
            subtract(&hi, &lo, &weight, a[k], x[j]);
            subtract(&w.hi[j], &w.lo[j], &w.weight[j], a[k], xi);
        }
        w.hi[i] = hi;
        w.lo[i] = lo;
        w.weight[i] = weight;
    }
}

/* What rows add to the norms. */
typedef struct norms {
    vec largest, ratio, share, square_r[SUMS], square_b[SUMS];
} norms;

INLINE void take_row(vec r, vec weight, vec b, int at, norms *to)
{
    const vec size = absolute(r), of_b = absolute(b);
    const vec inverse = choose((bits)(weight > all(0)), all(1) / weight, all(0));
    to->largest = larger(size, to->largest);
    to->ratio = larger(size * inverse, to->ratio);
    to->share = larger(of_b * inverse, to->share);
    to->square_r[at] += size * size;
    to->square_b[at] += of_b * of_b;
}

/* Rows of slice s: the windows of the slices before it that reach into it are added in order. */
static void gather_slice(const sd_sparse *A, int32_t s, const vec *b, vec *room, vec *r, norms *to)
{
    const row_sums w = window_of(A, s, room);
    const int32_t first = A->slice[s], stop = A->slice[s + 1];
    for (int32_t t = 0; t < s; ++t) {
        const row_sums other = window_of(A, t, room);
        const int32_t end = A->window[t] < stop ? A->window[t] : stop;
        for (int32_t i = first; i < end; ++i) {
            add_to(&w.hi[i], &w.lo[i], other.hi[i]);
            w.lo[i] += other.lo[i];
            w.weight[i] += other.weight[i];
        }
    }
    for (int32_t i = first; i < stop; ++i) {
        r[i] = w.hi[i] + w.lo[i];
        take_row(r[i], w.weight[i], b[i], (i - first) % SUMS, to);
    }
}

void SD_ISA(abreast_residual)(const sd_sparse *A, const double *values, const double *of_b,
                              const double *of_x, double *memory, double *residual, sd_residual_norms *to,
                              bool *near)
{
    const vec *const a = (const void *)values, *const b = (const void *)of_b, *const x = (const void *)of_x;
    vec *const room = (void *)memory, square_r = all(0), square_b = all(0);
    bits is_near = ~(bits){0};
    norms found = {.largest = all(0)};
    const vec largest_x = find_largest(A->n, x, &is_near), largest_b = find_largest(A->n, b, &is_near);
    for (int32_t s = 0; s < A->slices; ++s) run_slice(A, s, a, b, x, room);
    for (int32_t s = 0; s < A->slices; ++s) {
        vec part_r = all(0), part_b = all(0);
        for (int l = 0; l < SUMS; ++l) found.square_r[l] = found.square_b[l] = all(0);
        gather_slice(A, s, b, room, (void *)residual, &found);
        for (int l = 0; l < SUMS; ++l) {
            part_r += found.square_r[l];
            part_b += found.square_b[l];
        }
        square_r += part_r;
        square_b += part_b;
    }
    EACH
    {
        near[c] = is_near[c] != 0;
        to[c] = (sd_residual_norms){.largest_r = found.largest[c],
                                    .largest_b = largest_b[c],
                                    .largest_x = largest_x[c],
                                    .square_r = square_r[c],
                                    .square_b = square_b[c],
                                    .ratio = found.ratio[c],
                                    .share = found.share[c]};
    }
}

/* ---- in double ---- */

static void multiply_slice(const sd_sparse *A, int32_t s, const vec *a, const vec *x, vec *room)
{
    const int32_t first = A->slice[s];
    vec *const sums = room + A->offset[s] - first;
    for (int32_t i = first; i < A->window[s]; ++i) sums[i] = all(0);
    for (int32_t i = first; i < A->slice[s + 1]; ++i) {
        const vec xi = x[i];
        vec sum = sums[i];
        int64_t k = A->ptr[i];
        const int64_t stop = A->ptr[i + 1];
        if (k < stop && A->ind[k] == i) sum += a[k++] * xi;
        for (; k < stop; ++k) {
            const int32_t j = A->ind[k];
            sum += a[k] * x[j];
            sums[j] += a[k] * xi;
        }
        sums[i] = sum;
    }
}

void SD_ISA(abreast_difference)(const sd_sparse *A, const double *values, const double *of_b,
                                const double *of_x, double *memory, double *difference)
{
    const vec *const b = (const void *)of_b;
    vec *const room = (void *)memory, *const r = (void *)difference;
    for (int32_t s = 0; s < A->slices; ++s)
        multiply_slice(A, s, (const void *)values, (const void *)of_x, room);
    for (int32_t i = 0; i < A->n; ++i) r[i] = all(0);
    for (int32_t s = 0; s < A->slices; ++s) { /* the windows that reach into a row, in order */
        const vec *const sums = room + A->offset[s] - A->slice[s];
        for (int32_t i = A->slice[s]; i < A->window[s]; ++i) r[i] += sums[i];
    }
    for (int32_t i = 0; i < A->n; ++i) r[i] = b[i] - r[i];
}
