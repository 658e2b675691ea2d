/*
 * The residual of one column and all that its errors are made of, for one instruction set: one pass over the
 * matrix. All give the same bits.
 *
 * r = b - A x in double-double (core/dd.h) and w = |A||x| + |b|. Rows of a half matrix get terms from the
 * rows above; slices have windows of their own, as in kernels.inc, and only a large matrix has more than one
 * slice. Sums over rows are carried in LANES interleaved sums for each slice, which are added in order.
 */
#include "backend/cpu/isa.h"
#include "core/dd.h"

#include <math.h>

enum {
    LANES = 8,
    PARALLEL_FROM = 131072 /* entries below which a team of threads costs more than it saves */
};

static const double SAFE = SD_RESIDUAL_SAFE;

/* The sums of rows: those of a slice's window begin at its first row. */
typedef struct row_sums {
    double *hi, *lo, *weight;
} row_sums;

static row_sums window_of(const sd_sparse *A, int32_t s, double *room)
{
    double *const hi = room + A->offset[s] - A->slice[s];
    return (row_sums){hi, hi + A->window_total, hi + 2 * A->window_total};
}

static inline void subtract(double *hi, double *lo, double *weight, double a, double x)
{
    const double product = -a * x;
    *lo += fma(-a, x, -product);
    sd_dd_add(hi, lo, product);
    *weight += fabs(product);
}

#ifdef __FMA__
/* Two rows side by side, row i and the other one that entry (i, j) of a half matrix has a term for. */
typedef struct row_pair {
    __m128d hi, lo, weight;
} row_pair;

static inline row_pair pair_of(double hi, double lo, double weight)
{
    return (row_pair){_mm_set1_pd(hi), _mm_set1_pd(lo), _mm_set1_pd(weight)};
}

/* Row i loses a x_j, and row j, whose sums are elsewhere, a x_i: what subtract does for either. */
static inline void subtract_both(row_pair *p, const row_sums *w, int32_t j, double a, __m128d x)
{
    const __m128d minus = _mm_set1_pd(-a), product = _mm_mul_pd(minus, x);
    const __m128d hi = _mm_loadh_pd(p->hi, &w->hi[j]), sum = _mm_add_pd(hi, product);
    const __m128d part = _mm_sub_pd(sum, hi), sign = _mm_set1_pd(-0.0);
    const __m128d error = _mm_fmsub_pd(minus, x, product);
    const __m128d rest = _mm_add_pd(_mm_sub_pd(hi, _mm_sub_pd(sum, part)), _mm_sub_pd(product, part));
    const __m128d lo = _mm_add_pd(_mm_add_pd(_mm_loadh_pd(p->lo, &w->lo[j]), error), rest);
    const __m128d size = _mm_andnot_pd(sign, product);
    p->hi = sum;
    p->lo = lo;
    p->weight = _mm_add_pd(_mm_loadh_pd(p->weight, &w->weight[j]), size);
    _mm_storeh_pd(&w->hi[j], p->hi);
    _mm_storeh_pd(&w->lo[j], p->lo);
    _mm_storeh_pd(&w->weight[j], p->weight);
}

/* Entries [k, stop) of row i, beside the diagonal. */
static inline void subtract_row(const sd_sparse *A, int64_t k, int64_t stop, const double *x, double xi,
                                const row_sums *w, double *hi, double *lo, double *weight)
{
    const double *val = A->val;
    row_pair p = pair_of(*hi, *lo, *weight);
    for (; k < stop; ++k) {
        const int32_t j = A->ind[k];
        subtract_both(&p, w, j, val[k], _mm_set_pd(xi, x[j]));
    }
    *hi = _mm_cvtsd_f64(p.hi);
    *lo = _mm_cvtsd_f64(p.lo);
    *weight = _mm_cvtsd_f64(p.weight);
}
#else
static inline void subtract_row(const sd_sparse *A, int64_t k, int64_t stop, const double *x, double xi,
                                const row_sums *w, double *hi, double *lo, double *weight)
{
    const double *val = A->val;
    for (; k < stop; ++k) {
        const int32_t j = A->ind[k];
        subtract(hi, lo, weight, val[k], x[j]);
        subtract(&w->hi[j], &w->lo[j], &w->weight[j], val[k], xi);
    }
}
#endif

/* The largest of a vector, and whether all of it but zeros is near 1. */
static bool find_largest(int64_t n, const double *x, double *largest)
{
    double most[LANES] = {0}, least[LANES], nothing[LANES] = {0};
    int64_t i = 0;
    for (int l = 0; l < LANES; ++l) least[l] = SAFE;
#define LANE(l)                                                                                              \
    do {                                                                                                     \
        const double size = fabs(x[i + l]), positive = size > 0 ? size : 1;                                  \
        nothing[l] += 0 * size; /* NaN where one is */                                                       \
        most[l] = size > most[l] ? size : most[l];                                                           \
        least[l] = positive < least[l] ? positive : least[l];                                                \
    } while (0)
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; ++l) LANE(l);
    for (; i < n; ++i) LANE(0);
#undef LANE
    bool near = true;
    *largest = 0;
    for (int l = 0; l < LANES; ++l) {
        near = near && nothing[l] == 0 && most[l] < SAFE && least[l] > 1 / SAFE;
        *largest = most[l] > *largest ? most[l] : *largest;
    }
    return near;
}

/* What a few rows add to the norms of a slice. */
typedef struct lanes {
    double largest[LANES], square_r[LANES], square_b[LANES], ratio[LANES], share[LANES];
} lanes;

static inline void take_rows(int count, const double *r, const double *weight, const double *b, lanes *to)
{
    for (int l = 0; l < count; ++l) {
        const double size = fabs(r[l]), of_b = fabs(b[l]);
        const double inverse = weight[l] > 0 ? 1 / weight[l] : 0;
        const double ratio = size * inverse, share = of_b * inverse;
        to->largest[l] = size > to->largest[l] ? size : to->largest[l];
        to->square_r[l] += size * size;
        to->square_b[l] += of_b * of_b;
        to->ratio[l] = ratio > to->ratio[l] ? ratio : to->ratio[l];
        to->share[l] = share > to->share[l] ? share : to->share[l];
    }
}

static void fold(const lanes *from, sd_residual_norms *to)
{
    for (int l = 0; l < LANES; ++l) {
        to->largest_r = from->largest[l] > to->largest_r ? from->largest[l] : to->largest_r;
        to->square_r += from->square_r[l];
        to->square_b += from->square_b[l];
        to->ratio = from->ratio[l] > to->ratio ? from->ratio[l] : to->ratio;
        to->share = from->share[l] > to->share ? from->share[l] : to->share;
    }
}

/* Rows of slice s of a matrix that is stored whole. */
static void run_rows(const sd_sparse *A, int32_t s, const double *b, const double *x, double *r,
                     sd_residual_norms *to)
{
    const double *val = A->val;
    lanes sums = {0};
    for (int32_t begin = A->slice[s]; begin < A->slice[s + 1]; begin += LANES) {
        const int count = A->slice[s + 1] - begin < LANES ? A->slice[s + 1] - begin : LANES;
        double hi[LANES], lo[LANES], weight[LANES];
        for (int l = 0; l < count; ++l) {
            double sum = b[begin + l], low = 0, size = fabs(sum);
            for (int64_t k = A->ptr[begin + l]; k < A->ptr[begin + l + 1]; ++k)
                subtract(&sum, &low, &size, val[k], x[A->ind[k]]);
            hi[l] = sum;
            lo[l] = low;
            weight[l] = size;
        }
        for (int l = 0; l < count; ++l) hi[l] += lo[l];
        for (int l = 0; l < count && r; ++l) r[begin + l] = hi[l];
        take_rows(count, hi, weight, b + begin, &sums);
    }
    fold(&sums, to);
}

/* What slice s of a half matrix adds to its window. */
static void run_slice(const sd_sparse *A, int32_t s, const double *b, const double *x, double *room)
{
    const double *val = A->val;
    const int32_t first = A->slice[s], mine = A->slice[s + 1], end = A->window[s];
    const row_sums w = window_of(A, s, room);
    for (int32_t i = first; i < mine; ++i) {
        w.hi[i] = b[i];
        w.weight[i] = fabs(b[i]);
    }
    for (int32_t i = mine; i < end; ++i) w.hi[i] = w.weight[i] = 0;
    for (int32_t i = first; i < end; ++i) w.lo[i] = 0;
    for (int32_t i = first; i < mine; ++i) {
        const double xi = x[i];
        int64_t k = A->ptr[i];
        const int64_t stop = A->ptr[i + 1];
        double hi = w.hi[i], lo = w.lo[i], weight = w.weight[i];
        if (k < stop && A->ind[k] == i) subtract(&hi, &lo, &weight, val[k++], xi);
        subtract_row(A, k, stop, x, xi, &w, &hi, &lo, &weight);
        w.hi[i] = hi;
        w.lo[i] = lo;
        w.weight[i] = weight;
    }
}

/* Rows of slice s: the windows of the slices before it that reach into it are added in order. */
static void gather_slice(const sd_sparse *A, int32_t s, const double *b, double *room, double *r,
                         sd_residual_norms *to)
{
    const row_sums w = window_of(A, s, room);
    const int32_t first = A->slice[s], stop = A->slice[s + 1];
    lanes sums = {0};
    for (int32_t t = 0; t < s; ++t) {
        const row_sums other = window_of(A, t, room);
        const int32_t end = A->window[t] < stop ? A->window[t] : stop;
        for (int32_t i = first; i < end; ++i) {
            sd_dd_add(&w.hi[i], &w.lo[i], other.hi[i]);
            w.lo[i] += other.lo[i];
            w.weight[i] += other.weight[i];
        }
    }
    for (int32_t i = first; i < stop; ++i) w.hi[i] += w.lo[i];
    for (int32_t i = first; i < stop && r; ++i) r[i] = w.hi[i];
    int32_t i = first;
    for (; i + LANES <= stop; i += LANES) take_rows(LANES, w.hi + i, w.weight + i, b + i, &sums);
    take_rows(stop - i, w.hi + i, w.weight + i, b + i, &sums);
    fold(&sums, to);
}

static inline void run_piece(const sd_sparse *A, int32_t s, const double *b, const double *x, double *room,
                             double *r, sd_residual_norms *parts)
{
    if (A->half)
        run_slice(A, s, b, x, room);
    else
        run_rows(A, s, b, x, r, &parts[s]);
}

static void run_slices(const sd_sparse *A, int threads, const double *b, const double *x, double *room,
                       double *r, sd_residual_norms *parts)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int32_t s = 0; s < A->slices; ++s) run_piece(A, s, b, x, room, r, parts);
            /* a window reaches only into slices after its own */
#pragma omp for schedule(dynamic, 1)
        for (int32_t s = 0; s < A->slices; ++s)
            if (A->half) gather_slice(A, s, b, room, r, &parts[s]);
    }
}

bool SD_ISA(residual)(const sd_sparse *A, int threads, const double *b, const double *x, double *room,
                      double *r, sd_residual_norms *to)
{
    sd_residual_norms *parts = (sd_residual_norms *)(void *)room;
    double *windows = (double *)(void *)(parts + A->slices);
    *to = (sd_residual_norms){0};
    if (!find_largest(A->n, x, &to->largest_x) || !find_largest(A->n, b, &to->largest_b)) return false;
    for (int32_t s = 0; s < A->slices; ++s) parts[s] = (sd_residual_norms){0};
    if (threads > 1 && A->nnz >= PARALLEL_FROM) {
        run_slices(A, threads, b, x, windows, r, parts);
    } else { /* no team of one thread: it would cost more than a small product */
        for (int32_t s = 0; s < A->slices; ++s) run_piece(A, s, b, x, windows, r, parts);
        for (int32_t s = 0; s < A->slices && A->half; ++s) gather_slice(A, s, b, windows, r, &parts[s]);
    }
    for (int32_t s = 0; s < A->slices; ++s) {
        to->square_r += parts[s].square_r;
        to->square_b += parts[s].square_b;
        to->largest_r = parts[s].largest_r > to->largest_r ? parts[s].largest_r : to->largest_r;
        to->ratio = parts[s].ratio > to->ratio ? parts[s].ratio : to->ratio;
        to->share = parts[s].share > to->share ? parts[s].share : to->share;
    }
    return true;
}
