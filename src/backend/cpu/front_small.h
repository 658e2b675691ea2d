/*
 * Fronts of few columns: all in the nearest cache, no BLAS. Included once a precision, after front_vector.h.
 *
 * Columns come in groups of GROUP. A group is first brought up to date by all pivots so far (left-looking:
 * each column is loaded and stored once), then its columns are eliminated one after the other, right-looking
 * inside the group. Mostly the first column left is a good 1x1 pivot, which one pass for its largest entry
 * shows: max |a_ik| |1/a_kk| <= 1/u. Where not, it is tried with its right neighbour. Where that fails too,
 * all columns are brought up to date and the search goes over all of them, column by column, as in the
 * reference kernels. What a root has left is eliminated with complete pivoting (Bunch and Parlett 1971).
 *
 * Rows are handled in whole vectors from the pivot down, so that entries above the diagonal of later columns
 * are written too: they are not kept.
 */
#undef REAL_MAX
#if SINGLE
#define REAL_MAX FLT_MAX
#else
#define REAL_MAX DBL_MAX
#endif
enum {
    NAME(GROUP) = 4,
    NAME(TALL) = WIDTH_BYTES == 64 ? 3 : 2, /* vectors of a tile: as many sums as 32 or 16 registers hold */
    NAME(SMALL_COLUMNS) = 32,
    NAME(SMALL_ROWS) = 512
};

static inline bool NAME(is_small)(int32_t rows, int32_t columns)
{
    return columns <= NAME(SMALL_COLUMNS) && rows <= NAME(SMALL_ROWS);
}

/* The blocked product is worth its packing from a rest of this order on, unless there are very few columns.
 */
static inline bool NAME(has_small_update)(int32_t rows, int32_t columns)
{
    return NAME(is_small)(rows, columns) && (rows - columns <= SD_REST_WIDTH || columns <= 2 * NAME(GROUP));
}

/* The largest |x| of some numbers, lane by lane; finite is 0, or NaN after a NaN or an infinity. */
typedef struct NAME(extent) {
    NAME(vec) largest, finite;
} NAME(extent);

static inline void NAME(widen)(NAME(extent) * e, NAME(vec) v)
{
    const NAME(vec) zero = {0};
    e->largest = NAME(larger)(NAME(absolute)(v), e->largest);
    e->finite = NAME(minus_product)(e->finite, v, zero);
}

static inline NAME(vec) NAME(extent_of)(const real *x, int32_t n)
{
    NAME(extent) e = {{0}, {0}};
    int32_t i = 0;
    for (; i + NAME(LANES) <= n; i += NAME(LANES)) NAME(widen)(&e, NAME(load)(x + i));
    if (i < n) NAME(widen)(&e, NAME(load_part)(x + i, n - i));
    return e.largest + e.finite;
}

/* What is known of the first column left: its extent, if it is that of column `known`. */
typedef struct NAME(ahead) {
    int32_t known;
    NAME(vec) extent;
} NAME(ahead);

/* x -= l w over n rows of `count` columns x, x + ld .. : the part of pivots that is not in registers yet.
 * l has `pivots` columns; w[p] has the factors of the columns. */
typedef struct NAME(terms) {
    const real *l;
    int64_t ld;
    int32_t pivots;
    const real (*w)[NAME(GROUP)];
} NAME(terms);

/* Rows from `row` on by `count` columns: `vectors` vectors, of the last of which `part` lanes are there. */
static inline __attribute__((always_inline)) void NAME(subtract_tile)(const NAME(terms) * m, int32_t row,
                                                                      real *x, int64_t ldx, int count,
                                                                      int vectors, int part, bool empty)
{
    enum { L = NAME(LANES) };
    NAME(vec) sum[NAME(GROUP)][NAME(TALL)], lv[NAME(TALL)];
    const real *l = m->l + row;
    const int last = vectors - 1;
    x += row;
    UNROLL
    for (int c = 0; c < count; ++c) {
        UNROLL
        for (int v = 0; v < vectors; ++v) {
            const real *from = x + c * ldx + v * L;
            sum[c][v] = empty ? (NAME(vec)){0} : v < last ? NAME(load)(from) : NAME(load_part)(from, part);
        }
    }
    for (int32_t p = 0; p < m->pivots; ++p, l += m->ld) {
        UNROLL
        for (int v = 0; v < vectors; ++v)
            lv[v] = v < last ? NAME(load)(l + v * L) : NAME(load_part)(l + v * L, part);
        UNROLL
        for (int c = 0; c < count; ++c) {
            const NAME(vec) w = NAME(all)(m->w[p][c]);
            UNROLL
            for (int v = 0; v < vectors; ++v) sum[c][v] = NAME(minus_product)(sum[c][v], lv[v], w);
        }
    }
    UNROLL
    for (int c = 0; c < count; ++c) {
        UNROLL
        for (int v = 0; v < vectors; ++v) {
            real *to = x + c * ldx + v * L;
            if (v < last)
                NAME(store)(to, sum[c][v]);
            else
                NAME(store_part)(to, sum[c][v], part);
        }
    }
}

static inline __attribute__((always_inline)) void
NAME(subtract_columns)(const NAME(terms) * m, int32_t n, real *x, int64_t ldx, int count, bool empty)
{
    enum { L = NAME(LANES) };
    int32_t i = 0;
    for (; n - i > NAME(TALL) * L; i += NAME(TALL) * L)
        NAME(subtract_tile)(m, i, x, ldx, count, NAME(TALL), L, empty);
    if (n - i <= L)
        NAME(subtract_tile)(m, i, x, ldx, count, 1, n - i, empty);
    else if (n - i <= 2 * L)
        NAME(subtract_tile)(m, i, x, ldx, count, 2, n - i - L, empty);
    else
        NAME(subtract_tile)(m, i, x, ldx, count, NAME(TALL), n - i - (NAME(TALL) - 1) * L, empty);
}

static void NAME(subtract_terms)(const NAME(terms) * m, int32_t n, real *x, int64_t ldx, int count,
                                 bool empty)
{
    switch (count * 2 + empty) {
    case 2: NAME(subtract_columns)(m, n, x, ldx, 1, false); break;
    case 3: NAME(subtract_columns)(m, n, x, ldx, 1, true); break;
    case 4: NAME(subtract_columns)(m, n, x, ldx, 2, false); break;
    case 5: NAME(subtract_columns)(m, n, x, ldx, 2, true); break;
    case 6: NAME(subtract_columns)(m, n, x, ldx, 3, false); break;
    case 7: NAME(subtract_columns)(m, n, x, ldx, 3, true); break;
    case 8: NAME(subtract_columns)(m, n, x, ldx, 4, false); break;
    default: NAME(subtract_columns)(m, n, x, ldx, 4, true); break;
    }
}

/* w[p] = (D L')_p for rows row .. row + count - 1 of L and the first `pivots` columns. */
static inline __attribute__((always_inline)) void
NAME(scale_count)(const sd_front *f, int32_t pivots, int32_t row, int count, real (*w)[NAME(GROUP)])
{
    const real *d = f->d, *l = (const real *)f->panel + row;
    for (int32_t p = 0; p < pivots; ++p, l += f->ld) {
        const real a = d[2 * p], b = d[2 * p + 1];
        if (b == 0) {
            UNROLL
            for (int c = 0; c < count; ++c) w[p][c] = a * l[c];
            continue;
        }
        const real e = d[2 * p + 2], *next = l + f->ld;
        UNROLL
        for (int c = 0; c < count; ++c) {
            w[p][c] = a * l[c] + b * next[c];
            w[p + 1][c] = b * l[c] + e * next[c];
        }
        ++p;
        l += f->ld;
    }
}

static inline void NAME(scale_rows)(const sd_front *f, int32_t pivots, int32_t row, int count,
                                    real (*w)[NAME(GROUP)])
{
    if (count == NAME(GROUP))
        NAME(scale_count)(f, pivots, row, NAME(GROUP), w);
    else
        NAME(scale_count)(f, pivots, row, count, w);
}

/* Columns first .. end - 1 of the panel are brought up to date by the first `pivots` pivots. */
static void NAME(catch_up)(sd_front *f, int32_t pivots, int32_t first, int32_t end)
{
    real w[NAME(SMALL_COLUMNS)][NAME(GROUP)], *panel = f->panel;
    for (int32_t j = first; j < end && pivots; j += NAME(GROUP)) {
        const int count = end - j < NAME(GROUP) ? end - j : NAME(GROUP);
        NAME(scale_rows)(f, pivots, j, count, w);
        const NAME(terms) m = {panel + j, f->ld, pivots, (const real(*)[NAME(GROUP)])w};
        NAME(subtract_terms)(&m, f->rows - j, panel + j + j * f->ld, f->ld, count, false);
    }
}

static void NAME(count_pivot)(sd_pivots *pivots, real d)
{
    pivots->positive += d > 0;
    pivots->negative += d < 0;
    pivots->zero += d == 0;
}

/* All lanes are at most `small`, which may be too small for a float. */
static bool NAME(is_below)(NAME(vec) extent, double small)
{
    for (int l = 0; l < NAME(LANES); ++l)
        if (!((double)extent[l] <= small)) return false;
    return true;
}

/* Column k is a zero pivot. */
static void NAME(drop_column)(sd_front *f, int32_t k, sd_pivots *pivots, NAME(ahead) * next)
{
    real *d = f->d;
    next->known = -1;
    d[2 * k] = d[2 * k + 1] = 0;
    memset((real *)f->panel + k + 1 + k * f->ld, 0, (size_t)(f->rows - k - 1) * sizeof(real));
    pivots->zero += 1;
}

/* x, a column below its pivot, becomes l; subtracted from `count` columns right of it. The extent of the
 * first of those. */
static inline __attribute__((always_inline)) NAME(vec)
    NAME(eliminate_by_one)(real *x, int64_t ld, int32_t n, real inverse, int count)
{
    NAME(vec) w[NAME(GROUP)];
    NAME(extent) e = {{0}, {0}};
    UNROLL
    for (int c = 0; c < count; ++c) w[c] = NAME(all)(x[c]);
    for (int32_t i = 0; i < n; i += NAME(LANES)) {
        const int part = n - i;
        const bool whole = part >= NAME(LANES);
        const NAME(vec) l = (whole ? NAME(load)(x + i) : NAME(load_part)(x + i, part)) * inverse;
        if (whole)
            NAME(store)(x + i, l);
        else
            NAME(store_part)(x + i, l, part);
        UNROLL
        for (int c = 0; c < count; ++c) {
            real *to = x + i + (c + 1) * ld;
            NAME(vec) y = whole ? NAME(load)(to) : NAME(load_part)(to, part);
            y = NAME(minus_product)(y, l, w[c]);
            if (c == 0) NAME(widen)(&e, y);
            if (whole)
                NAME(store)(to, y);
            else
                NAME(store_part)(to, y, part);
        }
    }
    return e.largest + e.finite;
}

/* Column k by its pivot d, subtracted from columns k + 1 .. end - 1. inverse is 1/d. */
static void NAME(pivot_one)(sd_front *f, int32_t k, int32_t end, real pivot, real inverse, sd_pivots *pivots,
                            NAME(ahead) * next)
{
    real *d = f->d, *x = (real *)f->panel + k + 1 + k * f->ld;
    const int32_t n = f->rows - k - 1;
    real w[1][NAME(GROUP)];
    d[2 * k] = pivot;
    d[2 * k + 1] = 0;
    NAME(count_pivot)(pivots, pivot);
    next->known = k + 1;
    switch (end - k - 1) {
    case 0:
        NAME(eliminate_by_one)(x, f->ld, n, inverse, 0);
        next->known = -1;
        break;
    case 1: next->extent = NAME(eliminate_by_one)(x, f->ld, n, inverse, 1); break;
    case 2: next->extent = NAME(eliminate_by_one)(x, f->ld, n, inverse, 2); break;
    case 3: next->extent = NAME(eliminate_by_one)(x, f->ld, n, inverse, 3); break;
    default: next->extent = NAME(eliminate_by_one)(x, f->ld, n, inverse, 4); break;
    }
    for (int32_t j = k + 1 + NAME(GROUP); j < end; j += NAME(GROUP)) {
        const int count = end - j < NAME(GROUP) ? end - j : NAME(GROUP);
        UNROLL
        for (int c = 0; c < count; ++c) w[0][c] = pivot * x[j + c - k - 1];
        const NAME(terms) m = {x + j - k - 1, f->ld, 1, (const real(*)[NAME(GROUP)])w};
        NAME(subtract_terms)(&m, f->rows - j, x + j - k - 1 + (j - k) * f->ld, f->ld, count, false);
    }
}

/* The inverse of [a b; b c], divided by its largest entry: s [c -b; -b a]. */
typedef struct NAME(two) {
    real a, b, c, det, s;
} NAME(two);

static inline NAME(two) NAME(make_two)(real a, real b, real c)
{
    real largest = NAME(fabs)(a) > NAME(fabs)(c) ? NAME(fabs)(a) : NAME(fabs)(c);
    if (NAME(fabs)(b) > largest) largest = NAME(fabs)(b);
    NAME(two) v = {a / largest, b / largest, c / largest, 0, 0};
    v.det = v.a * v.c - v.b * v.b;
    v.s = 1 / v.det / largest;
    return v;
}

/* The determinant keeps at least half of its larger part, so that its sign is right. */
static inline bool NAME(is_regular_two)(const NAME(two) * v)
{
    const real ac = NAME(fabs)(v->a * v->c), bb = v->b * v->b;
    return NAME(fabs)(v->det) >= (real)0.5 * (ac > bb ? ac : bb) && v->b != 0 && NAME(fabs)(v->s) <= REAL_MAX;
}

/* The extent of L in columns x and y, over n rows. */
static NAME(vec) NAME(extent_of_two)(const NAME(two) * v, const real *x, const real *y, int32_t n)
{
    const real a = v->a * v->s, b = v->b * v->s, c = v->c * v->s;
    NAME(extent) e = {{0}, {0}};
    for (int32_t i = 0; i < n; i += NAME(LANES)) {
        const bool whole = i + NAME(LANES) <= n;
        const NAME(vec) xv = whole ? NAME(load)(x + i) : NAME(load_part)(x + i, n - i);
        const NAME(vec) yv = whole ? NAME(load)(y + i) : NAME(load_part)(y + i, n - i);
        NAME(widen)(&e, c * xv - b * yv);
        NAME(widen)(&e, a * yv - b * xv);
    }
    return e.largest + e.finite;
}

/* As eliminate_by_one, for columns x and x + ld. */
static inline __attribute__((always_inline)) NAME(vec)
    NAME(eliminate_by_two)(real *x, int64_t ld, int32_t n, const NAME(two) * v, int count)
{
    const real a = v->a * v->s, b = v->b * v->s, c = v->c * v->s;
    real *y = x + ld;
    NAME(vec) w[NAME(GROUP)][2];
    NAME(extent) e = {{0}, {0}};
    UNROLL
    for (int j = 0; j < count; ++j) w[j][0] = NAME(all)(x[j]), w[j][1] = NAME(all)(y[j]);
    for (int32_t i = 0; i < n; i += NAME(LANES)) {
        const int part = n - i < NAME(LANES) ? n - i : NAME(LANES);
        const NAME(vec) xv = NAME(load_part)(x + i, part), yv = NAME(load_part)(y + i, part);
        const NAME(vec) l = c * xv - b * yv, m = a * yv - b * xv;
        NAME(store_part)(x + i, l, part);
        NAME(store_part)(y + i, m, part);
        UNROLL
        for (int j = 0; j < count; ++j) {
            real *to = x + i + (j + 2) * ld;
            NAME(vec) z = NAME(minus_product)(NAME(load_part)(to, part), l, w[j][0]);
            z = NAME(minus_product)(z, m, w[j][1]);
            if (j == 0) NAME(widen)(&e, z);
            NAME(store_part)(to, z, part);
        }
    }
    return e.largest + e.finite;
}

static void NAME(record_two)(const real *x, const real *y, bool mixed, real *d, sd_pivots *pivots)
{
    d[0] = x[0];
    d[1] = x[1];
    d[2] = y[1];
    d[3] = 0;
    const bool below = d[0] + d[2] < 0;
    pivots->two_by_two += 1;
    pivots->negative += mixed ? 1 : 2 * below;
    pivots->positive += mixed ? 1 : 2 * !below;
}

/* Columns k and k + 1 by a 2x2 pivot, subtracted from columns k + 2 .. end - 1. */
static void NAME(pivot_two)(sd_front *f, int32_t k, int32_t end, const NAME(two) * v, sd_pivots *pivots,
                            NAME(ahead) * next)
{
    real *d = (real *)f->d + 2 * k, *x = (real *)f->panel + k + k * f->ld, *y = x + f->ld;
    const int32_t n = f->rows - k - 2;
    real w[2][NAME(GROUP)];
    NAME(record_two)(x, y, v->det < 0, d, pivots);
    x[1] = 0;
    next->known = k + 2;
    switch (end - k - 2) {
    case 0:
        NAME(eliminate_by_two)(x + 2, f->ld, n, v, 0);
        next->known = -1;
        break;
    case 1: next->extent = NAME(eliminate_by_two)(x + 2, f->ld, n, v, 1); break;
    case 2: next->extent = NAME(eliminate_by_two)(x + 2, f->ld, n, v, 2); break;
    case 3: next->extent = NAME(eliminate_by_two)(x + 2, f->ld, n, v, 3); break;
    default: next->extent = NAME(eliminate_by_two)(x + 2, f->ld, n, v, 4); break;
    }
    for (int32_t j = k + 2 + NAME(GROUP); j < end; j += NAME(GROUP)) {
        const int count = end - j < NAME(GROUP) ? end - j : NAME(GROUP);
        for (int i = 0; i < count; ++i) {
            w[0][i] = d[0] * x[j + i - k] + d[1] * y[j + i - k];
            w[1][i] = d[1] * x[j + i - k] + d[2] * y[j + i - k];
        }
        const NAME(terms) m = {x + j - k, f->ld, 2, (const real(*)[NAME(GROUP)])w};
        NAME(subtract_terms)(&m, f->rows - j, x + j - k + (j - k) * f->ld, f->ld, count, false);
    }
}

/* Exchanges columns and rows p and t > p, those of earlier columns of L too. */
static void NAME(exchange_columns)(sd_front *f, int32_t p, int32_t t)
{
    real *panel = f->panel, *x = panel + p * f->ld, *y = panel + t * f->ld, swap;
    if (p == t) return;
#define EXCHANGE(a, b) (swap = (a), (a) = (b), (b) = swap)
    for (int32_t j = 0; j < p; ++j) EXCHANGE(panel[p + j * f->ld], panel[t + j * f->ld]);
    for (int32_t j = p + 1; j < t; ++j) EXCHANGE(x[j], panel[t + j * f->ld]);
    for (int32_t i = t + 1; i < f->rows; ++i) EXCHANGE(x[i], y[i]);
    EXCHANGE(x[p], y[t]);
#undef EXCHANGE
    const int32_t variable = f->variable[p];
    f->variable[p] = f->variable[t];
    f->variable[t] = variable;
}

/* The first column left, k, alone or with its neighbour if that is up to date (below end): how many columns
 * were eliminated. */
static int32_t NAME(take_first)(sd_front *f, int32_t k, int32_t end, const sd_pivoting *pivoting,
                                sd_pivots *pivots, NAME(ahead) * next)
{
    const real *x = (const real *)f->panel + k + k * f->ld, *y = x + f->ld;
    const real limit = (real)(1 / pivoting->u), pivot = x[0], inverse = 1 / pivot;
    const NAME(vec) extent = next->known == k ? next->extent : NAME(extent_of)(x, f->rows - k);
    if ((double)NAME(fabs)(pivot) <= pivoting->small && NAME(is_below)(extent, pivoting->small)) {
        NAME(drop_column)(f, k, pivots, next);
        return 1;
    }
    if (NAME(all_at_most)(extent * NAME(fabs)(inverse), limit)) {
        NAME(pivot_one)(f, k, end, pivot, inverse, pivots, next);
        return 1;
    }
    if (k + 1 >= end) return 0;
    const NAME(two) v = NAME(make_two)(x[0], x[1], y[1]);
    if (!NAME(is_regular_two)(&v)) return 0;
    if (!NAME(all_at_most)(NAME(extent_of_two)(&v, x + 2, y + 2, f->rows - k - 2), limit)) return 0;
    NAME(pivot_two)(f, k, end, &v, pivots, next);
    return 2;
}

/* Column j of what columns k and on hold, rows k and below, whole. */
static void NAME(gather)(const sd_front *f, int32_t k, int32_t j, real *x)
{
    const real *panel = f->panel;
    for (int32_t i = k; i < j; ++i) x[i - k] = panel[j + i * f->ld];
    memcpy(x + j - k, panel + j + j * f->ld, (size_t)(f->rows - j) * sizeof *x);
}

/* Column j, gathered in x, with column t. */
static bool NAME(take_pair)(sd_front *f, int32_t k, int32_t j, int32_t t, const real *x, real limit,
                            sd_pivots *pivots, NAME(ahead) * next)
{
    real left[NAME(SMALL_ROWS)], right[NAME(SMALL_ROWS)];
    const int32_t n = f->rows - k;
    NAME(gather)(f, k, t, right);
    const NAME(two) v = j < t ? NAME(make_two)(x[j - k], x[t - k], right[t - k])
                              : NAME(make_two)(right[t - k], x[t - k], x[j - k]);
    if (!NAME(is_regular_two)(&v)) return false;
    memcpy(left, x, (size_t)n * sizeof *x);
    left[j - k] = left[t - k] = right[j - k] = right[t - k] = 0;
    const NAME(vec) both = NAME(extent_of_two)(&v, j < t ? left : right, j < t ? right : left, n);
    if (!NAME(all_at_most)(both, limit)) return false;
    NAME(exchange_columns)(f, k, j < t ? j : t);
    NAME(exchange_columns)(f, k + 1, j < t ? t : j);
    NAME(pivot_two)(f, k, f->columns, &v, pivots, next);
    return true;
}

/* Any pivot among columns k and on, all up to date: how many columns were eliminated. */
static int32_t NAME(take_any)(sd_front *f, int32_t k, const sd_pivoting *pivoting, sd_pivots *pivots,
                              NAME(ahead) * next)
{
    real x[NAME(SMALL_ROWS)];
    const real limit = (real)(1 / pivoting->u);
    for (int32_t j = k; j < f->columns; ++j) {
        NAME(gather)(f, k, j, x);
        const real pivot = x[j - k], inverse = 1 / pivot;
        const NAME(vec) extent = NAME(extent_of)(x, f->rows - k);
        if (NAME(is_below)(extent, pivoting->small)) {
            NAME(exchange_columns)(f, k, j);
            NAME(drop_column)(f, k, pivots, next);
            return 1;
        }
        if (NAME(all_at_most)(extent * NAME(fabs)(inverse), limit)) {
            NAME(exchange_columns)(f, k, j);
            NAME(pivot_one)(f, k, f->columns, pivot, inverse, pivots, next);
            return 1;
        }
        for (int32_t t = k; t < f->columns; ++t) { /* [x y] = [l m] D bounds x by (|d_jj| + |d_tj|) / u */
            const real bound = NAME(fabs)(pivot) + NAME(fabs)(x[t - k]);
            if (t == j || !NAME(all_at_most)(extent, bound * limit)) continue;
            if (NAME(take_pair)(f, k, j, t, x, limit, pivots, next)) return 2;
        }
    }
    return 0;
}

/* Column k by its pivot, however small that is: its inverse may be infinite. */
static void NAME(divide_by_pivot)(sd_front *f, int32_t k, sd_pivots *pivots)
{
    real *panel = f->panel, *x = panel + k * f->ld, *d = f->d;
    d[2 * k] = x[k];
    d[2 * k + 1] = 0;
    NAME(count_pivot)(pivots, x[k]);
    for (int32_t i = k + 1; i < f->rows; ++i) x[i] /= x[k];
    for (int32_t j = k + 1; j < f->columns; ++j)
        for (int32_t i = j; i < f->rows; ++i) panel[i + j * f->ld] -= x[i] * (x[k] * x[j]);
}

/* Complete pivoting over columns k and on of a root; a NaN counts as the largest. */
static int32_t NAME(take_largest)(sd_front *f, int32_t k, double small, sd_pivots *pivots, NAME(ahead) * next)
{
    int32_t diagonal = k, row = k, column = k;
    real most = -1, off = -1, *panel = f->panel;
    for (int32_t j = k; j < f->columns; ++j) {
        for (int32_t i = j; i < f->columns; ++i) {
            const real a = NAME(fabs)(panel[i + j * f->ld]);
            real *largest = i == j ? &most : &off;
            if (a <= *largest || isnan(*largest)) continue;
            *largest = a;
            if (i == j) diagonal = j;
            if (i != j) row = i, column = j;
        }
    }
    if ((double)most <= small && (double)off <= small) {
        NAME(drop_column)(f, k, pivots, next);
        return 1;
    }
    real *x = panel + k + k * f->ld;
    next->known = -1;
    if (!(most < (real)0.6403882032022076 * off)) { /* (1 + sqrt 17) / 8 */
        NAME(exchange_columns)(f, k, diagonal);
        NAME(divide_by_pivot)(f, k, pivots);
        return 1;
    }
    NAME(exchange_columns)(f, k, column);
    NAME(exchange_columns)(f, k + 1, row);
    const NAME(two) v = NAME(make_two)(x[0], x[1], x[f->ld + 1]);
    NAME(pivot_two)(f, k, f->columns, &v, pivots, next);
    return 2;
}

/* Column k as it comes, with the rule POSITIVE or STATIC. */
static int32_t NAME(take_next)(sd_front *f, int32_t k, int32_t end, const sd_pivoting *pivoting,
                               sd_pivots *pivots, NAME(ahead) * next)
{
    real pivot = ((const real *)f->panel)[k + k * f->ld];
    if (pivoting->rule == SD_PIVOT_STATIC) {
        const int expected = pivoting->signs ? pivoting->signs[f->variable[k]] : 0;
        const int sign = expected ? expected : pivot < 0 ? -1 : 1;
        if ((double)pivot * sign < pivoting->regularise) {
            pivot = (real)(sign * pivoting->regularise);
            pivots->perturbed += 1;
        }
    } else if (!(pivot > 0)) {
        return 0;
    }
    if (pivot == 0)
        NAME(drop_column)(f, k, pivots, next);
    else
        NAME(pivot_one)(f, k, end, pivot, 1 / pivot, pivots, next);
    return 1;
}

static void NAME(small_factor)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots)
{
    const bool threshold = pivoting->rule == SD_PIVOT_THRESHOLD;
    NAME(ahead) next = {.known = -1};
    int32_t k = 0, end = 0, step; /* columns k .. end - 1 are up to date */
    for (; k < f->columns; k += step) {
        const int32_t group = f->columns - k < NAME(GROUP) ? f->columns : k + NAME(GROUP);
        if (k == end) {
            NAME(catch_up)(f, k, end, group);
            end = group;
        }
        step = threshold ? NAME(take_first)(f, k, end, pivoting, pivots, &next)
                         : NAME(take_next)(f, k, end, pivoting, pivots, &next);
        if (!step && threshold && end < group) { /* its neighbour is not up to date yet */
            NAME(catch_up)(f, k, end, group);
            end = group;
            step = NAME(take_first)(f, k, end, pivoting, pivots, &next);
        }
        if (step) continue;
        if (!threshold) break;
        NAME(catch_up)(f, k, end, f->columns);
        end = f->columns;
        step = NAME(take_any)(f, k, pivoting, pivots, &next);
        if (!step && pivoting->root) step = NAME(take_largest)(f, k, pivoting->small, pivots, &next);
        if (!step) break;
    }
    f->eliminated = k;
}

static void NAME(small_update)(sd_front *f)
{
    const int32_t q = f->rows - f->columns, e = f->eliminated;
    const real *l = (const real *)f->panel + f->columns;
    real w[NAME(SMALL_COLUMNS)][NAME(GROUP)];
    for (int32_t j = 0; j < q; j += NAME(GROUP)) {
        const int count = q - j < NAME(GROUP) ? q - j : NAME(GROUP);
        real *rest = (real *)f->rest + sd_rest_at(q, j, j);
        NAME(scale_rows)(f, e, f->columns + j, count, w);
        const NAME(terms) m = {l + j, f->ld, e, (const real(*)[NAME(GROUP)])w};
        NAME(subtract_terms)(&m, q - j, rest, q - j / SD_REST_WIDTH * SD_REST_WIDTH, count, f->rest_empty);
    }
    f->rest_empty = false;
}
