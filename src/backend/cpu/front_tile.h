/*
 * The diagonal tile: up to TILE columns of a front, factored on their own in a square that stays in the first
 * cache. Included once for each precision (fronts.c).
 *
 *     P' X P = L11 D L11'
 *
 * With threshold pivoting the pivots are chosen by complete pivoting after Bunch and Parlett ("Direct methods
 * for solving symmetric indefinite systems of linear equations"), with 1/2 in the place of their 0.64: the
 * largest entry on the diagonal is the pivot if it is at least half the largest of all, which bounds |l| by
 * 2; else the 2x2 around the largest of all, and |l| <= 1 / (1 - 1/2) = 2. So no entry of L11 stands in the
 * way of any threshold u <= 1/2, and all that can fail lies below the tile. Such a 2x2 has det < 0: one
 * eigenvalue of each sign, and no cancellation in the determinant.
 *
 * X is kept whole, not as a triangle, and nothing is moved: a column that was eliminated leaves the list of
 * active ones, and the mask `alive` keeps its row out of L and out of the search. Ties go to the lowest
 * index.
 */

typedef struct NAME(tile) {
    real x[TILE * TILE];     /* by columns */
    real l[TILE * TILE];     /* column k: that of pivot k, by the rows of x */
    real w[TILE * TILE];     /* the same before the division by D */
    real lower[TILE * TILE]; /* L11: column k of it, by the order of pivots */
    real diagonal[TILE], row_largest[TILE];
    NAME(integer) alive[TILE]; /* -1 or 0 */
    real d[2 * TILE];
    real inverse[2 * TILE]; /* of D, laid out as d */
    int32_t order[TILE];    /* which column of x is pivot k, and after the pivots those that are none */
    int32_t active[TILE];   /* columns that are left, ascending */
    int32_t width, count, left, perturbed;
} NAME(tile);

static int32_t NAME(vectors)(const NAME(tile) * t)
{
    return (t->width + NAME(LANES) - 1) / NAME(LANES);
}

/* The tile at column e of a panel. */
static void NAME(tile_load)(NAME(tile) * t, const real *a, int64_t ld, int32_t width)
{
    const int32_t padded = (width + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES);
    t->width = t->left = width;
    t->count = t->perturbed = 0;
    for (int32_t j = 0; j < width; ++j) {
        for (int32_t i = width; i < padded; ++i) t->x[j * TILE + i] = 0;
        for (int32_t i = j; i < width; ++i) t->x[j * TILE + i] = t->x[i * TILE + j] = a[j * ld + i];
    }
    for (int32_t j = 0; j < padded; ++j) {
        t->alive[j] = j < width ? -1 : 0;
        t->diagonal[j] = j < width ? t->x[j * TILE + j] : 0;
        t->active[j] = j;
    }
}

/* Takes column c off the list. */
static void NAME(retire)(NAME(tile) * t, int32_t c)
{
    int32_t at = 0;
    while (t->active[at] != c) ++at;
    --t->left;
    for (; at < t->left; ++at) t->active[at] = t->active[at + 1];
    t->alive[c] = 0;
    t->order[t->count++] = c;
}

/* max |x(i, j)| over the columns that are left, for each row. */
static void NAME(measure)(NAME(tile) * t)
{
    for (int32_t v = 0; v < NAME(vectors)(t); ++v) {
        NAME(vec) largest = NAME(all)(0);
        for (int32_t p = 0; p < t->left; ++p)
            largest = NAME(larger)(NAME(absolute)(NAME(load)(t->x + t->active[p] * TILE + v * NAME(LANES))),
                                   largest);
        NAME(store)(t->row_largest + v * NAME(LANES), largest);
    }
}

/* |value| in vector v of the rows, 0 in those that are gone. */
static inline NAME(vec) NAME(sizes)(const NAME(tile) * t, const real *value, int32_t v)
{
    const NAME(bits) alive = NAME(load_bits)(t->alive + v * NAME(LANES));
    return (NAME(vec))(alive & (NAME(bits))NAME(absolute)(NAME(load)(value + v * NAME(LANES))));
}

/* The largest |value| among the rows that are left; and where it is. */
static inline real NAME(find_size)(const NAME(tile) * t, const real *value)
{
    NAME(vec) largest = NAME(all)(0);
    for (int32_t v = 0; v < NAME(vectors)(t); ++v) largest = NAME(larger)(NAME(sizes)(t, value, v), largest);
    return NAME(top_lane)(largest);
}

static inline int32_t NAME(find_row)(const NAME(tile) * t, const real *value, real size)
{
    for (int32_t v = 0; v < NAME(vectors)(t); ++v) {
        const unsigned lanes = NAME(equal_lanes)(NAME(sizes)(t, value, v), size);
        if (lanes) return v * NAME(LANES) + __builtin_ctz(lanes);
    }
    return 0;
}

/* Column c as it stands, without the rows that are gone, is the unscaled column of pivot k. */
static void NAME(take_column)(NAME(tile) * t, int32_t k, int32_t c)
{
    for (int32_t v = 0; v < NAME(vectors)(t); ++v) {
        const NAME(bits) alive = NAME(load_bits)(t->alive + v * NAME(LANES));
        const NAME(vec) x = NAME(load)(t->x + c * TILE + v * NAME(LANES));
        NAME(store)(t->w + k * TILE + v * NAME(LANES), (NAME(vec))(alive & (NAME(bits))x));
    }
}

/* Rows [i, i + V vectors) of what a 1x1 pivot does to the tile: L, the diagonal, and the columns that are
 * left. */
static inline __attribute__((always_inline)) void NAME(eliminate_one_rows)(const int V, NAME(tile) * t,
                                                                           int32_t k, int32_t i, real inverse)
{
    const real *w = t->w + k * TILE;
    NAME(vec) l[4], largest[4];
    UNROLL for (int v = 0; v < V; ++v)
    {
        const int32_t at = i + v * NAME(LANES);
        const NAME(vec) wv = NAME(load)(w + at);
        l[v] = wv * NAME(all)(inverse);
        largest[v] = NAME(all)(0);
        NAME(store)(t->l + k * TILE + at, l[v]);
        NAME(store)(t->diagonal + at, NAME(minus_product)(NAME(load)(t->diagonal + at), l[v], wv));
    }
    for (int32_t p = 0; p < t->left; ++p) {
        real *column = t->x + t->active[p] * TILE + i;
        const NAME(vec) factor = NAME(all)(w[t->active[p]]);
        UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) x = NAME(minus_product)(NAME(load)(column + v * NAME(LANES)), l[v], factor);
            NAME(store)(column + v * NAME(LANES), x);
            largest[v] = NAME(larger)(NAME(absolute)(x), largest[v]);
        }
    }
    UNROLL for (int v = 0; v < V; ++v) NAME(store)(t->row_largest + i + v * NAME(LANES), largest[v]);
}

static void NAME(eliminate_one)(NAME(tile) * t, int32_t c, real d)
{
    const int32_t k = t->count;
    const real inverse = d != 0 ? 1 / d : 0;
    NAME(retire)(t, c);
    NAME(take_column)(t, k, c);
    t->d[2 * k] = d, t->d[2 * k + 1] = 0;
    t->inverse[2 * k] = inverse, t->inverse[2 * k + 1] = 0;
    int32_t v = 0;
    for (; v + 4 <= NAME(vectors)(t); v += 4) NAME(eliminate_one_rows)(4, t, k, v * NAME(LANES), inverse);
    for (; v + 2 <= NAME(vectors)(t); v += 2) NAME(eliminate_one_rows)(2, t, k, v * NAME(LANES), inverse);
    if (v < NAME(vectors)(t)) NAME(eliminate_one_rows)(1, t, k, v * NAME(LANES), inverse);
}

/* The 2x2 pivot of columns r and s, whose entry off the diagonal is by far the largest. */
static void NAME(eliminate_two)(NAME(tile) * t, int32_t r, int32_t s)
{
    const int32_t k = t->count;
    const real b = t->x[r * TILE + s], d[3] = {t->diagonal[r], b, t->diagonal[s]};
    real in[3];
    NAME(invert_two)(d, in);
    NAME(retire)(t, r), NAME(retire)(t, s);
    NAME(take_column)(t, k, r), NAME(take_column)(t, k + 1, s);
    memcpy(t->d + 2 * k, (real[4]){d[0], d[1], d[2], 0}, 4 * sizeof(real));
    memcpy(t->inverse + 2 * k, (real[4]){in[0], in[1], in[2], 0}, 4 * sizeof(real));
    const real *wr = t->w + k * TILE, *ws = wr + TILE;
    for (int32_t v = 0; v < NAME(vectors)(t); ++v) {
        const int32_t i = v * NAME(LANES);
        const NAME(vec) w1 = NAME(load)(wr + i), w2 = NAME(load)(ws + i);
        const NAME(vec) l1 = NAME(plus_product)(w1 * NAME(all)(in[0]), w2, NAME(all)(in[1]));
        const NAME(vec) l2 = NAME(plus_product)(w1 * NAME(all)(in[1]), w2, NAME(all)(in[2]));
        NAME(vec) largest = NAME(all)(0);
        NAME(store)(t->l + k * TILE + i, l1);
        NAME(store)(t->l + (k + 1) * TILE + i, l2);
        const NAME(vec) diagonal = NAME(minus_product)(NAME(load)(t->diagonal + i), l1, w1);
        NAME(store)(t->diagonal + i, NAME(minus_product)(diagonal, l2, w2));
        for (int32_t p = 0; p < t->left; ++p) {
            const int32_t j = t->active[p];
            NAME(vec) x = NAME(minus_product)(NAME(load)(t->x + j * TILE + i), l1, NAME(all)(wr[j]));
            x = NAME(minus_product)(x, l2, NAME(all)(ws[j]));
            NAME(store)(t->x + j * TILE + i, x);
            largest = NAME(larger)(NAME(absolute)(x), largest);
        }
        NAME(store)(t->row_largest + i, largest);
    }
}

/* What is left goes to the end of the order, and L11 is written down in that order. */
static void NAME(tile_finish)(NAME(tile) * t)
{
    for (int32_t p = 0; p < t->left; ++p) t->order[t->count + p] = t->active[p];
    for (int32_t k = 0; k < t->count; ++k)
        for (int32_t c = k + 1; c < t->width; ++c) t->lower[k * TILE + c] = t->l[k * TILE + t->order[c]];
}

/* Complete pivoting until only entries up to `small` are left. */
static void NAME(tile_threshold)(NAME(tile) * t, real small)
{
    NAME(measure)(t);
    while (t->left > 0) {
        const real on_diagonal = NAME(find_size)(t, t->diagonal),
                   largest = NAME(find_size)(t, t->row_largest);
        if (!(largest > small) || !(largest < (real)INFINITY)) break;
        if (2 * on_diagonal >= largest) {
            const int32_t p = NAME(find_row)(t, t->diagonal, on_diagonal);
            NAME(eliminate_one)(t, p, t->diagonal[p]);
        } else {
            const int32_t r = NAME(find_row)(t, t->row_largest, largest);
            const real beside = NAME(find_size)(t, t->x + r * TILE);
            const int32_t with = NAME(find_row)(t, t->x + r * TILE, beside);
            /* x is symmetric up to rounding, unless there is something in it that is no number */
            if (!(2 * beside >= largest && beside < (real)INFINITY) || with == r) break;
            NAME(eliminate_two)(t, r, with);
        }
    }
    NAME(tile_finish)(t);
}

/* In the order of the columns; stops where a pivot is not positive. */
static void NAME(tile_positive)(NAME(tile) * t)
{
    for (int32_t c = 0; c < t->width && t->diagonal[c] > 0; ++c) NAME(eliminate_one)(t, c, t->diagonal[c]);
    NAME(tile_finish)(t);
}

/* In the order of the columns; pivots below `least`, or of a sign other than the one expected, are replaced.
 */
static void NAME(tile_static)(NAME(tile) * t, const sd_pivoting *pivoting, const int32_t *variable)
{
    const real least = (real)pivoting->regularise;
    for (int32_t c = 0; c < t->width; ++c) {
        real d = t->diagonal[c];
        const int expected = pivoting->signs ? pivoting->signs[variable[c]] : 0;
        const int sign = expected ? expected : d < 0 ? -1 : 1;
        if (NAME(fabs)(d) < least || sign * d < 0) {
            d = (real)sign * least;
            ++t->perturbed;
        }
        NAME(eliminate_one)(t, c, d);
    }
    NAME(tile_finish)(t);
}

/* Rows below the tile, STRIP_VECTORS vectors of them and `count` columns: b = b L11^-T, in place. */
static void NAME(solve_strip)(const NAME(tile) * t, int32_t count, real *b, int64_t ldb)
{
    int32_t c = 0;
    for (; c + STRIP_COLUMNS <= count; c += STRIP_COLUMNS) {
        NAME(vec) x[STRIP_COLUMNS][STRIP_VECTORS];
        UNROLL for (int q = 0; q < STRIP_COLUMNS; ++q) UNROLL for (int v = 0; v < STRIP_VECTORS; ++v)
            x[q][v] = NAME(load)(b + (c + q) * ldb + v * NAME(LANES));
        for (int32_t k = 0; k < c; ++k) {
            const real *l = t->lower + k * TILE + c;
            NAME(vec) left[STRIP_VECTORS];
            UNROLL for (int v = 0; v < STRIP_VECTORS; ++v) left[v] =
                NAME(load)(b + k * ldb + v * NAME(LANES));
            UNROLL for (int q = 0; q < STRIP_COLUMNS; ++q) UNROLL for (int v = 0; v < STRIP_VECTORS; ++v)
                x[q][v] = NAME(minus_product)(x[q][v], left[v], NAME(all)(l[q]));
        }
        UNROLL for (int q = 0; q < STRIP_COLUMNS; ++q)
        {
            UNROLL for (int p = 0; p < q; ++p) UNROLL for (int v = 0; v < STRIP_VECTORS; ++v) x[q][v] =
                NAME(minus_product)(x[q][v], x[p][v], NAME(all)(t->lower[(c + p) * TILE + c + q]));
            UNROLL for (int v = 0; v < STRIP_VECTORS; ++v)
                NAME(store)(b + (c + q) * ldb + v * NAME(LANES), x[q][v]);
        }
    }
    for (; c < count; ++c) {
        for (int v = 0; v < STRIP_VECTORS; ++v) {
            NAME(vec) x = NAME(load)(b + c * ldb + v * NAME(LANES));
            for (int32_t k = 0; k < c; ++k)
                x = NAME(minus_product)(x, NAME(load)(b + k * ldb + v * NAME(LANES)),
                                        NAME(all)(t->lower[k * TILE + c]));
            NAME(store)(b + c * ldb + v * NAME(LANES), x);
        }
    }
}
