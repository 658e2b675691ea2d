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
#undef FABS
#undef REAL_MAX
#if SINGLE
#define FABS fabsf
#define REAL_MAX FLT_MAX
#else
#define FABS fabs
#define REAL_MAX DBL_MAX
#endif
enum {
    NAME(GROUP) = 4,
    NAME(SMALL_COLUMNS) = 24,
    NAME(SMALL_ROWS) = 160,
    NAME(SMALL_BELOW) = 512 /* with very few columns there may be more rows */
};

static inline bool NAME(is_small)(int32_t rows, int32_t columns)
{
    return columns <= NAME(SMALL_COLUMNS) && (rows <= NAME(SMALL_ROWS) || columns <= NAME(GROUP)) &&
           rows <= NAME(SMALL_BELOW);
}

/* Of |x| over some numbers; finite is 0, or NaN where one of them is NaN or infinite. */
typedef struct NAME(extent) {
    real largest, finite;
} NAME(extent);

static inline NAME(extent) NAME(column_most)(const real *x, int32_t n)
{
    NAME(vec) largest = {0}, finite = {0};
    const NAME(vec) zero = {0};
    int32_t i = 0;
    for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
        const NAME(vec) v = NAME(load)(x + i);
        largest = NAME(larger)(NAME(absolute)(v), largest);
        finite = NAME(minus_product)(finite, v, zero);
    }
    if (i < n) {
        const NAME(vec) v = NAME(load_part)(x + i, n - i);
        largest = NAME(larger)(NAME(absolute)(v), largest);
        finite = NAME(minus_product)(finite, v, zero);
    }
    return (NAME(extent)){NAME(largest_lane)(largest), NAME(sum_lanes)(finite)};
}

/* x -= l w over n rows of `count` columns x, x + ld .. : the part of pivots that is not in registers yet.
 * l has `pivots` columns; w[p] has the factors of the columns. */
typedef struct NAME(terms) {
    const real *l;
    int64_t ld;
    int32_t pivots;
    const real (*w)[NAME(GROUP)];
} NAME(terms);

/* `vectors` vectors of rows from `row` on by `count` columns; or, for a tail, one of `part` lanes. */
static inline __attribute__((always_inline)) void NAME(subtract_tile)(const NAME(terms) * m, int32_t row,
                                                                      real *x, int64_t ldx, int count,
                                                                      int vectors, bool tail, int part,
                                                                      bool empty)
{
    NAME(vec) sum[NAME(GROUP)][2];
    const real *l = m->l + row;
    x += row;
    for (int c = 0; c < count; ++c)
        for (int v = 0; v < vectors; ++v) {
            const real *from = x + c * ldx + v * NAME(LANES);
            sum[c][v] = empty ? (NAME(vec)){0} : tail ? NAME(load_part)(from, part) : NAME(load)(from);
        }
    for (int32_t p = 0; p < m->pivots; ++p) {
        for (int v = 0; v < vectors; ++v) {
            const real *from = l + p * m->ld + v * NAME(LANES);
            const NAME(vec) lv = tail ? NAME(load_part)(from, part) : NAME(load)(from);
            for (int c = 0; c < count; ++c)
                sum[c][v] = NAME(minus_product)(sum[c][v], lv, NAME(all)(m->w[p][c]));
        }
    }
    for (int c = 0; c < count; ++c)
        for (int v = 0; v < vectors; ++v) {
            real *to = x + c * ldx + v * NAME(LANES);
            if (tail)
                NAME(store_part)(to, sum[c][v], part);
            else
                NAME(store)(to, sum[c][v]);
        }
}

static inline __attribute__((always_inline)) void
NAME(subtract_columns)(const NAME(terms) * m, int32_t n, real *x, int64_t ldx, int count, bool empty)
{
    enum { L = NAME(LANES) };
    int32_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L) NAME(subtract_tile)(m, i, x, ldx, count, 2, false, L, empty);
    for (; i + L <= n; i += L) NAME(subtract_tile)(m, i, x, ldx, count, 1, false, L, empty);
    if (i < n) NAME(subtract_tile)(m, i, x, ldx, count, 1, true, n - i, empty);
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
static inline void NAME(scale_rows)(const sd_front *f, int32_t pivots, int32_t row, int count,
                                    real (*w)[NAME(GROUP)])
{
    const real *d = f->d, *l = (const real *)f->panel + row;
    for (int32_t p = 0; p < pivots; ++p, l += f->ld) {
        const real a = d[2 * p], b = d[2 * p + 1];
        if (b == 0) {
            for (int c = 0; c < count; ++c) w[p][c] = a * l[c];
            continue;
        }
        const real e = d[2 * p + 2], *next = l + f->ld;
        for (int c = 0; c < count; ++c) {
            w[p][c] = a * l[c] + b * next[c];
            w[p + 1][c] = b * l[c] + e * next[c];
        }
        ++p;
        l += f->ld;
    }
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

static void NAME(drop_column)(sd_front *f, int32_t k, sd_pivots *pivots)
{
    real *d = f->d;
    d[2 * k] = d[2 * k + 1] = 0;
    memset((real *)f->panel + k + 1 + k * f->ld, 0, (size_t)(f->rows - k - 1) * sizeof(real));
    pivots->zero += 1;
}

/* Column k by its pivot d, subtracted from columns k + 1 .. end - 1. inverse is 1/d. */
static void NAME(pivot_one)(sd_front *f, int32_t k, int32_t end, real pivot, real inverse, sd_pivots *pivots)
{
    real *d = f->d, *x = (real *)f->panel + k + 1 + k * f->ld;
    const int32_t n = f->rows - k - 1;
    real w[1][NAME(GROUP)];
    d[2 * k] = pivot;
    d[2 * k + 1] = 0;
    NAME(count_pivot)(pivots, pivot);
    for (int32_t i = 0; i < n; ++i) x[i] *= inverse;
    for (int32_t j = k + 1; j < end; j += NAME(GROUP)) {
        const int count = end - j < NAME(GROUP) ? end - j : NAME(GROUP);
        for (int c = 0; c < count; ++c) w[0][c] = pivot * x[j + c - k - 1];
        const NAME(terms) m = {x + j - k - 1, f->ld, 1, (const real(*)[NAME(GROUP)])w};
        NAME(subtract_terms)(&m, f->rows - j, x + j - k - 1 + (j - k) * f->ld, f->ld, count, false);
    }
}

/* The inverse of [a b; b c], divided by its largest entry: s [c -b; -b a]. */
typedef struct NAME(two) {
    real a, b, c, det, s;
} NAME(two);

static inline NAME(two) NAME(make_pair)(real a, real b, real c)
{
    real largest = FABS(a) > FABS(c) ? FABS(a) : FABS(c);
    if (FABS(b) > largest) largest = FABS(b);
    NAME(two) v = {a / largest, b / largest, c / largest, 0, 0};
    v.det = v.a * v.c - v.b * v.b;
    v.s = 1 / v.det / largest;
    return v;
}

/* The determinant keeps at least half of its larger part, so that its sign is right. */
static inline bool NAME(is_regular_two)(const NAME(two) * v)
{
    const real ac = FABS(v->a * v->c), bb = v->b * v->b;
    return FABS(v->det) >= (real)0.5 * (ac > bb ? ac : bb) && v->b != 0 && FABS(v->s) <= REAL_MAX;
}

/* The larger entry of L in every row of columns x and y, over n rows. */
static NAME(extent) NAME(pair_most)(const NAME(two) * v, const real *x, const real *y, int32_t n)
{
    const NAME(vec) a = NAME(all)(v->a * v->s), b = NAME(all)(v->b * v->s), c = NAME(all)(v->c * v->s);
    const NAME(vec) zero = {0};
    NAME(vec) largest = {0}, finite = {0};
    for (int32_t i = 0; i < n; i += NAME(LANES)) {
        const bool whole = i + NAME(LANES) <= n;
        const NAME(vec) xv = whole ? NAME(load)(x + i) : NAME(load_part)(x + i, n - i);
        const NAME(vec) yv = whole ? NAME(load)(y + i) : NAME(load_part)(y + i, n - i);
        const NAME(vec) l = c * xv - b * yv, m = a * yv - b * xv;
        largest = NAME(larger)(NAME(absolute)(l), largest);
        largest = NAME(larger)(NAME(absolute)(m), largest);
        finite = NAME(minus_product)(NAME(minus_product)(finite, l, zero), m, zero);
    }
    return (NAME(extent)){NAME(largest_lane)(largest), NAME(sum_lanes)(finite)};
}

/* Columns k and k + 1 by a 2x2 pivot, subtracted from columns k + 2 .. end - 1. */
static void NAME(pivot_two)(sd_front *f, int32_t k, int32_t end, const NAME(two) * v, sd_pivots *pivots)
{
    real *d = (real *)f->d + 2 * k, *x = (real *)f->panel + k + k * f->ld, *y = x + f->ld;
    real w[2][NAME(GROUP)];
    d[0] = x[0];
    d[1] = x[1];
    d[2] = y[1];
    d[3] = x[1] = 0;
    const bool mixed = v->det < 0, below = d[0] + d[2] < 0;
    pivots->two_by_two += 1;
    pivots->negative += mixed ? 1 : 2 * below;
    pivots->positive += mixed ? 1 : 2 * !below;
    const real a = v->a * v->s, b = v->b * v->s, c = v->c * v->s;
    for (int32_t i = 2; i < f->rows - k; ++i) {
        const real l = c * x[i] - b * y[i];
        y[i] = a * y[i] - b * x[i];
        x[i] = l;
    }
    for (int32_t j = k + 2; j < end; j += NAME(GROUP)) {
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
                                sd_pivots *pivots)
{
    const real *x = (const real *)f->panel + k + k * f->ld, *y = x + f->ld;
    const real limit = (real)(1 / pivoting->u), inverse = 1 / x[0];
    const NAME(extent) most = NAME(column_most)(x, f->rows - k);
    if (most.finite != 0) return 0;
    if ((double)most.largest <= pivoting->small) {
        NAME(drop_column)(f, k, pivots);
        return 1;
    }
    if (most.largest * FABS(inverse) <= limit) {
        NAME(pivot_one)(f, k, end, x[0], inverse, pivots);
        return 1;
    }
    if (k + 1 >= end) return 0;
    const NAME(two) v = NAME(make_pair)(x[0], x[1], y[1]);
    if (!NAME(is_regular_two)(&v)) return 0;
    const NAME(extent) both = NAME(pair_most)(&v, x + 2, y + 2, f->rows - k - 2);
    if (both.finite != 0 || !(both.largest <= limit)) return 0;
    NAME(pivot_two)(f, k, end, &v, pivots);
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
                            sd_pivots *pivots)
{
    real left[NAME(SMALL_BELOW)], right[NAME(SMALL_BELOW)];
    const int32_t n = f->rows - k;
    NAME(gather)(f, k, t, right);
    const NAME(two) v = j < t ? NAME(make_pair)(x[j - k], x[t - k], right[t - k])
                              : NAME(make_pair)(right[t - k], x[t - k], x[j - k]);
    if (!NAME(is_regular_two)(&v)) return false;
    memcpy(left, x, (size_t)n * sizeof *x);
    left[j - k] = left[t - k] = right[j - k] = right[t - k] = 0;
    const NAME(extent) both = NAME(pair_most)(&v, j < t ? left : right, j < t ? right : left, n);
    if (both.finite != 0 || !(both.largest <= limit)) return false;
    NAME(exchange_columns)(f, k, j < t ? j : t);
    NAME(exchange_columns)(f, k + 1, j < t ? t : j);
    NAME(pivot_two)(f, k, f->columns, &v, pivots);
    return true;
}

/* Any pivot among columns k and on, all up to date: how many columns were eliminated. */
static int32_t NAME(take_any)(sd_front *f, int32_t k, const sd_pivoting *pivoting, sd_pivots *pivots)
{
    real x[NAME(SMALL_BELOW)];
    const real limit = (real)(1 / pivoting->u);
    for (int32_t j = k; j < f->columns; ++j) {
        NAME(gather)(f, k, j, x);
        const real pivot = x[j - k], inverse = 1 / pivot;
        const NAME(extent) most = NAME(column_most)(x, f->rows - k);
        if (most.finite != 0) continue;
        if ((double)most.largest <= pivoting->small) {
            NAME(exchange_columns)(f, k, j);
            NAME(drop_column)(f, k, pivots);
            return 1;
        }
        if (most.largest * FABS(inverse) <= limit) {
            NAME(exchange_columns)(f, k, j);
            NAME(pivot_one)(f, k, f->columns, pivot, inverse, pivots);
            return 1;
        }
        for (int32_t t = k; t < f->columns; ++t) { /* [x y] = [l m] D bounds x by (|d_jj| + |d_tj|) / u */
            const real bound = FABS(pivot) + FABS(x[t - k]);
            if (t == j || !(bound * limit >= most.largest)) continue;
            if (NAME(take_pair)(f, k, j, t, x, limit, pivots)) return 2;
        }
    }
    return 0;
}

/* Complete pivoting over columns k and on of a root; a NaN counts as the largest. */
static int32_t NAME(take_largest)(sd_front *f, int32_t k, double small, sd_pivots *pivots)
{
    int32_t diagonal = k, row = k, column = k;
    real most = -1, off = -1, *panel = f->panel;
    for (int32_t j = k; j < f->columns; ++j) {
        for (int32_t i = j; i < f->columns; ++i) {
            const real a = FABS(panel[i + j * f->ld]);
            real *largest = i == j ? &most : &off;
            if (a <= *largest || isnan(*largest)) continue;
            *largest = a;
            if (i == j) diagonal = j;
            if (i != j) row = i, column = j;
        }
    }
    if ((double)most <= small && (double)off <= small) {
        NAME(drop_column)(f, k, pivots);
        return 1;
    }
    real *x = panel + k + k * f->ld;
    if (!(most < (real)0.6403882032022076 * off)) { /* (1 + sqrt 17) / 8 */
        NAME(exchange_columns)(f, k, diagonal);
        for (int32_t i = 1; i < f->rows - k; ++i) x[i] /= x[0];
        NAME(pivot_one)(f, k, f->columns, x[0], 1, pivots);
        return 1;
    }
    NAME(exchange_columns)(f, k, column);
    NAME(exchange_columns)(f, k + 1, row);
    const NAME(two) v = NAME(make_pair)(x[0], x[1], x[f->ld + 1]);
    NAME(pivot_two)(f, k, f->columns, &v, pivots);
    return 2;
}

/* Column k as it comes, with the rule POSITIVE or STATIC. */
static int32_t NAME(take_next)(sd_front *f, int32_t k, int32_t end, const sd_pivoting *pivoting,
                               sd_pivots *pivots)
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
        NAME(drop_column)(f, k, pivots);
    else
        NAME(pivot_one)(f, k, end, pivot, 1 / pivot, pivots);
    return 1;
}

static void NAME(small_factor)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots)
{
    const bool threshold = pivoting->rule == SD_PIVOT_THRESHOLD;
    int32_t k = 0, end = 0, step; /* columns k .. end - 1 are up to date */
    for (; k < f->columns; k += step) {
        const int32_t group = f->columns - k < NAME(GROUP) ? f->columns : k + NAME(GROUP);
        if (k == end) {
            NAME(catch_up)(f, k, end, group);
            end = group;
        }
        step = threshold ? NAME(take_first)(f, k, end, pivoting, pivots)
                         : NAME(take_next)(f, k, end, pivoting, pivots);
        if (!step && threshold && end < group) { /* its neighbour is not up to date yet */
            NAME(catch_up)(f, k, end, group);
            end = group;
            step = NAME(take_first)(f, k, end, pivoting, pivots);
        }
        if (step) continue;
        if (!threshold) break;
        NAME(catch_up)(f, k, end, f->columns);
        end = f->columns;
        step = NAME(take_any)(f, k, pivoting, pivots);
        if (!step && pivoting->root) step = NAME(take_largest)(f, k, pivoting->small, pivots);
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
