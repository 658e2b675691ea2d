/*
 * Reference kernels on fronts: the plainest loops that do what front.h says, the oracle of all tests.
 * Included once a precision, with `real` and NAME(x) defined.
 *
 * factor, threshold rule. Columns are eliminated one by one, right-looking, so that at every step the front
 * holds the Schur complement S of the pivots so far. A column j of S is eliminated as
 *
 *     a zero pivot  where all |s_ij| <= small,
 *     1x1           where all |s_ij / s_jj| <= 1/u,
 *     2x2           with the first column t such that [s_ij s_it] [s_jj s_tj; s_tj s_tt]^-1 is at most 1/u
 *                   in all rows i, and the determinant is not lost to cancellation,
 *
 * the rows of columns that failed before and the rows below the columns included. After a success the search
 * begins again at the first column left. What is left in a root is eliminated with complete pivoting: Bunch
 * and Parlett, Direct methods for solving symmetric indefinite systems of linear equations, 1971.
 */

/* Entry (i, j) of the panel, whichever triangle it is asked in. */
static real *NAME(at)(const sd_front *f, int32_t i, int32_t j)
{
    return (real *)f->panel + (i >= j ? i + j * f->ld : j + i * f->ld);
}

static void NAME(add_entries)(sd_front *f, const sd_front_entries *entries)
{
    for (int32_t k = 0; k < f->columns - f->delays; ++k)
        for (int64_t p = entries->ptr[k]; p < entries->ptr[k + 1]; ++p)
            *NAME(at)(f, f->delays + entries->row[p], f->delays + k) += (real)entries->value[p];
}

/* Adds to entry (i, j) of the front, i >= j, in its panel or its rest. */
static void NAME(add)(sd_front *f, int32_t i, int32_t j, real value)
{
    if (j < f->columns) {
        *NAME(at)(f, i, j) += value;
        return;
    }
    const int32_t q = f->rows - f->columns;
    if (f->rest_empty)
        for (int64_t k = 0; k < sd_rest_size(q); ++k) ((real *)f->rest)[k] = 0;
    f->rest_empty = false;
    ((real *)f->rest)[sd_rest_at(q, i - f->columns, j - f->columns)] += value;
}

static void NAME(add_child)(sd_front *f, const sd_front *child, const int32_t *place, int32_t at)
{
    const int32_t q = child->rows - child->columns, first = child->eliminated;
    for (int32_t j = 0; j < q && !child->rest_empty; ++j)
        for (int32_t i = j; i < q; ++i) NAME(add)
    (f, f->delays + place[i], f->delays + place[j], ((const real *)child->rest)[sd_rest_at(q, i, j)]);
    for (int32_t j = first; j < child->columns; ++j) {
        f->variable[at + j - first] = child->variable[j];
        for (int32_t i = j; i < child->rows; ++i) {
            const int32_t row = i < child->columns ? at + i - first : f->delays + place[i - child->columns];
            NAME(add)(f, row, at + j - first, *NAME(at)(child, i, j));
        }
    }
}

static int64_t NAME(work)(int32_t rows, int32_t columns)
{
    (void)rows;
    (void)columns;
    return 0;
}

static void NAME(swap)(real *a, real *b)
{
    const real c = *a;
    *a = *b;
    *b = c;
}

/* Exchanges columns and rows p and t, those of earlier columns of L too. */
static void NAME(exchange)(sd_front *f, int32_t p, int32_t t)
{
    if (p == t) return;
    for (int32_t i = 0; i < f->rows; ++i)
        if (i != p && i != t) NAME(swap)(NAME(at)(f, i, p), NAME(at)(f, i, t));
    NAME(swap)(NAME(at)(f, p, p), NAME(at)(f, t, t));
    const int32_t variable = f->variable[p];
    f->variable[p] = f->variable[t];
    f->variable[t] = variable;
}

/* The inverse of a 2x2 pivot [a b; b c], as s times [c -b; -b a] with a, b, c divided by the largest. */
typedef struct NAME(inverse) {
    real a, b, c, det, s;
} NAME(inverse);

static NAME(inverse) NAME(invert)(const sd_front *f, int32_t j, int32_t t)
{
    NAME(inverse) v = {*NAME(at)(f, j, j), *NAME(at)(f, t, j), *NAME(at)(f, t, t), 0, 0};
    const double largest = fmax(fmax(fabs((double)v.a), fabs((double)v.c)), fabs((double)v.b));
    v.a = (real)((double)v.a / largest);
    v.b = (real)((double)v.b / largest);
    v.c = (real)((double)v.c / largest);
    v.det = v.a * v.c - v.b * v.b;
    v.s = (real)(1 / (double)v.det / largest);
    return v;
}

/* The two entries of L in a row that holds x and y. */
static void NAME(divide)(const NAME(inverse) * v, real *x, real *y)
{
    const real l = (v->c * *x - v->b * *y) * v->s;
    *y = (v->a * *y - v->b * *x) * v->s;
    *x = l;
}

static bool NAME(is_zero)(const sd_front *f, int32_t k, int32_t j, double small)
{
    for (int32_t i = k; i < f->rows; ++i)
        if (!(fabs((double)*NAME(at)(f, i, j)) <= small)) return false;
    return true;
}

static bool NAME(is_stable)(const sd_front *f, int32_t k, int32_t j, double u)
{
    for (int32_t i = k; i < f->rows; ++i)
        if (i != j && !(fabs((double)(*NAME(at)(f, i, j) / *NAME(at)(f, j, j))) <= 1 / u)) return false;
    const double pivot = fabs((double)*NAME(at)(f, j, j));
    return pivot > 0 && isfinite(pivot);
}

static bool NAME(is_stable_pair)(const sd_front *f, int32_t k, int32_t j, int32_t t, double u)
{
    const NAME(inverse) v = NAME(invert)(f, j, t);
    if (!(fabs((double)v.det) >= 0.5 * fmax(fabs((double)(v.a * v.c)), (double)(v.b * v.b)))) return false;
    if (v.b == 0 || !isfinite((double)v.s)) return false;
    for (int32_t i = k; i < f->rows; ++i) {
        if (i == j || i == t) continue;
        real x = *NAME(at)(f, i, j), y = *NAME(at)(f, i, t);
        NAME(divide)(&v, &x, &y);
        if (!(fabs((double)x) <= 1 / u) || !(fabs((double)y) <= 1 / u)) return false;
    }
    return true;
}

static void NAME(count)(sd_pivots *pivots, double d)
{
    pivots->positive += d > 0;
    pivots->negative += d < 0;
    pivots->zero += d == 0;
}

/* Column k is a zero pivot. */
static void NAME(drop)(sd_front *f, int32_t k, sd_pivots *pivots)
{
    real *d = f->d;
    d[2 * k] = d[2 * k + 1] = 0;
    for (int32_t i = k + 1; i < f->rows; ++i) *NAME(at)(f, i, k) = 0;
    pivots->zero += 1;
}

/* Column k is eliminated by pivot d, and subtracted from the columns right of it. */
static void NAME(eliminate)(sd_front *f, int32_t k, real pivot, sd_pivots *pivots)
{
    real *d = f->d;
    d[2 * k] = pivot;
    d[2 * k + 1] = 0;
    NAME(count)(pivots, (double)pivot);
    for (int32_t i = k + 1; i < f->rows; ++i) *NAME(at)(f, i, k) /= pivot;
    for (int32_t j = k + 1; j < f->columns; ++j)
        for (int32_t i = j; i < f->rows; ++i)
            *NAME(at)(f, i, j) -= *NAME(at)(f, i, k) * (pivot * *NAME(at)(f, j, k));
}

static void NAME(eliminate_pair)(sd_front *f, int32_t k, sd_pivots *pivots)
{
    const NAME(inverse) v = NAME(invert)(f, k, k + 1);
    real *d = f->d, *a = &d[2 * k], *b = &d[2 * k + 1], *c = &d[2 * k + 2];
    *a = *NAME(at)(f, k, k);
    *b = *NAME(at)(f, k + 1, k);
    *c = *NAME(at)(f, k + 1, k + 1);
    d[2 * k + 3] = 0;
    const bool mixed = v.det < 0, below = *a + *c < 0;
    pivots->two_by_two += 1;
    pivots->negative += mixed ? 1 : 2 * below;
    pivots->positive += mixed ? 1 : 2 * !below;
    *NAME(at)(f, k + 1, k) = 0;
    for (int32_t i = k + 2; i < f->rows; ++i) NAME(divide)(&v, NAME(at)(f, i, k), NAME(at)(f, i, k + 1));
    for (int32_t j = k + 2; j < f->columns; ++j) {
        const real x = *NAME(at)(f, j, k), y = *NAME(at)(f, j, k + 1);
        const real p = *a * x + *b * y, q = *b * x + *c * y;
        for (int32_t i = j; i < f->rows; ++i)
            *NAME(at)(f, i, j) -= *NAME(at)(f, i, k) * p + *NAME(at)(f, i, k + 1) * q;
    }
}

/* One step of the threshold rule from column k on: how many columns it eliminated. */
static int32_t NAME(threshold_step)(sd_front *f, int32_t k, const sd_pivoting *pivoting, sd_pivots *pivots)
{
    for (int32_t j = k; j < f->columns; ++j) {
        if (NAME(is_zero)(f, k, j, pivoting->small)) {
            NAME(exchange)(f, k, j);
            NAME(drop)(f, k, pivots);
            return 1;
        }
        if (NAME(is_stable)(f, k, j, pivoting->u)) {
            NAME(exchange)(f, k, j);
            NAME(eliminate)(f, k, *NAME(at)(f, k, k), pivots);
            return 1;
        }
        for (int32_t t = k; t < f->columns; ++t) {
            if (t == j || !NAME(is_stable_pair)(f, k, j, t, pivoting->u)) continue;
            NAME(exchange)(f, k, j < t ? j : t);
            NAME(exchange)(f, k + 1, j < t ? t : j);
            NAME(eliminate_pair)(f, k, pivots);
            return 2;
        }
    }
    return 0;
}

/* One step of complete pivoting over columns k and on, for a front with no rows below them. A NaN counts as
 * the largest and is eliminated like a number. */
static int32_t NAME(complete_step)(sd_front *f, int32_t k, double small, sd_pivots *pivots)
{
    int32_t diagonal = k, row = k, column = k;
    double most = -1, off = -1;
    for (int32_t j = k; j < f->columns; ++j) {
        for (int32_t i = j; i < f->columns; ++i) {
            const double a = fabs((double)*NAME(at)(f, i, j));
            double *largest = i == j ? &most : &off;
            if (a <= *largest || isnan(*largest)) continue;
            *largest = a;
            if (i == j) diagonal = j;
            if (i != j) row = i, column = j;
        }
    }
    if (most <= small && off <= small) {
        NAME(drop)(f, k, pivots);
        return 1;
    }
    const double alpha = (1 + sqrt(17.0)) / 8;
    if (!(most < alpha * off)) {
        NAME(exchange)(f, k, diagonal);
        NAME(eliminate)(f, k, *NAME(at)(f, k, k), pivots);
        return 1;
    }
    NAME(exchange)(f, k, column);
    NAME(exchange)(f, k + 1, row);
    NAME(eliminate_pair)(f, k, pivots);
    return 2;
}

/* The pivot that the static rule takes for p: of the expected sign and not too small. A NaN stays. */
static real NAME(regular)(const sd_front *f, int32_t k, const sd_pivoting *pivoting, sd_pivots *pivots)
{
    const double p = (double)*NAME(at)(f, k, k);
    const int expected = pivoting->signs ? pivoting->signs[f->variable[k]] : 0;
    const int sign = expected ? expected : p < 0 ? -1 : 1;
    if (!(p * sign < pivoting->regularise)) return (real)p;
    pivots->perturbed += 1;
    return (real)(sign * pivoting->regularise);
}

static void NAME(factor)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots, void *work, bool split)
{
    (void)work;
    (void)split;
    int32_t k = 0, step = 1;
    for (; k < f->columns && step; k += step) {
        if (pivoting->rule == SD_PIVOT_THRESHOLD) {
            step = NAME(threshold_step)(f, k, pivoting, pivots);
            if (!step && pivoting->root) step = NAME(complete_step)(f, k, pivoting->small, pivots);
            continue;
        }
        const bool fixed = pivoting->rule == SD_PIVOT_STATIC;
        const real pivot = fixed ? NAME(regular)(f, k, pivoting, pivots) : *NAME(at)(f, k, k);
        if (!fixed && !(pivot > 0)) break;
        if (pivot == 0)
            NAME(drop)(f, k, pivots);
        else
            NAME(eliminate)(f, k, pivot, pivots);
    }
    f->eliminated = k;
}

/* (D L')_kj for the eliminated column k and row j. */
static real NAME(scaled)(const sd_front *f, int32_t k, int32_t j)
{
    const real *d = f->d;
    real sum = d[2 * k] * *NAME(at)(f, j, k);
    if (d[2 * k + 1] != 0) sum += d[2 * k + 1] * *NAME(at)(f, j, k + 1);
    if (k > 0 && d[2 * k - 1] != 0) sum += d[2 * k - 1] * *NAME(at)(f, j, k - 1);
    return sum;
}

static void NAME(update)(sd_front *f, void *work, bool split)
{
    (void)work;
    (void)split;
    const int32_t q = f->rows - f->columns;
    for (int32_t j = 0; j < q; ++j) {
        for (int32_t i = j; i < q; ++i) {
            real *entry = (real *)f->rest + sd_rest_at(q, i, j);
            real sum = f->rest_empty ? 0 : *entry;
            for (int32_t k = 0; k < f->eliminated; ++k)
                sum -= *NAME(at)(f, f->columns + i, k) * NAME(scaled)(f, k, f->columns + j);
            *entry = sum;
        }
    }
    f->rest_empty = false;
}

static double NAME(largest)(const sd_front *f)
{
    double most = 0;
    for (int32_t k = 0; k < f->eliminated; ++k) {
        for (int32_t i = k + 1; i < f->rows; ++i) {
            const double a = fabs((double)*NAME(at)(f, i, k));
            if (!(a <= most) && !isnan(most)) most = a;
        }
    }
    return most;
}

static void NAME(forward)(const sd_front *f, int32_t k, void *w)
{
    real *x = w;
    for (int32_t j = 0; j < f->eliminated; ++j)
        for (int32_t i = j + 1; i < f->rows; ++i)
            for (int32_t r = 0; r < k; ++r)
                x[(int64_t)i * k + r] -= *NAME(at)(f, i, j) * x[(int64_t)j * k + r];
}

static void NAME(backward)(const sd_front *f, int32_t k, void *w)
{
    real *x = w;
    for (int32_t j = f->eliminated - 1; j >= 0; --j)
        for (int32_t i = j + 1; i < f->rows; ++i)
            for (int32_t r = 0; r < k; ++r)
                x[(int64_t)j * k + r] -= *NAME(at)(f, i, j) * x[(int64_t)i * k + r];
}
