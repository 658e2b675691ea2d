/*
 * Threshold partial pivoting, a column at a time, for what the blocked method could not take; and at a root,
 * where nothing can be delayed, complete pivoting for what is left then. Included once for each precision
 * (fronts.c).
 *
 * Column p with its largest entry off the diagonal, at row t of those that can be pivots, is
 *     a 1x1 pivot where |a_pp| >= u max_i |a_ip|, over all rows;
 *     a 2x2 pivot with t where |D^-1| (max |a_ip|, max |a_it|)' <= 1/u, over the rows other than p and t;
 * so that every |l| <= 1/u (Duff and Reid, "The multifrontal solution of indefinite sparse symmetric linear
 * equations"). The test of the 2x2 is never made on a singular one. At rows = columns the largest entry of
 * all always gives one of the two, u being at most 1/2.
 */

typedef struct NAME(column_sizes) {
    real diagonal, largest; /* off the diagonal; Inf where there is a NaN */
    real beside;            /* the largest in the rows of columns not eliminated, and where */
    int32_t at;
} NAME(column_sizes);

/* Entries of column c from row e on, rows `c` and `without` left out. */
static NAME(column_sizes) NAME(measure_column)(const NAME(job) * j, int32_t c, int32_t without)
{
    NAME(column_sizes) s = {j->a[c * j->ld + c], 0, 0, c};
    for (int32_t i = j->e; i < j->m; ++i) {
        if (i == c || i == without) continue;
        const real x = NAME(fabs)(i < c ? j->a[i * j->ld + c] : j->a[c * j->ld + i]);
        if (!(x <= s.largest)) s.largest = x < (real)INFINITY ? x : (real)INFINITY;
        if (i < j->n && x > s.beside) s.beside = x, s.at = i;
    }
    return s;
}

/* Column e is a 1x1 pivot. */
static void NAME(apply_one)(NAME(job) * j)
{
    const int32_t e = j->e;
    real *l = j->a + e * j->ld, *w = j->w;
    const real d = l[e];
    j->d[2 * (int64_t)e] = d, j->d[2 * (int64_t)e + 1] = 0;
    memcpy(w + e + 1, l + e + 1, (size_t)(j->m - e - 1) * sizeof(real));
    for (int32_t i = e + 1; i < j->m; ++i) l[i] /= d;
    for (int32_t c = e + 1; c < j->n; ++c) {
        real *x = j->a + c * j->ld;
        for (int32_t i = c; i < j->m; ++i) x[i] -= l[i] * w[c];
    }
    j->pivots->positive += d > 0;
    j->pivots->negative += d < 0;
    ++j->e;
}

/* Columns e and e + 1 are a 2x2 pivot. */
static void NAME(apply_two)(NAME(job) * j)
{
    const int32_t e = j->e;
    real *l1 = j->a + e * j->ld, *l2 = l1 + j->ld, *w1 = j->w, *w2 = j->w + j->ldw;
    const real d[3] = {l1[e], l1[e + 1], l2[e + 1]};
    real inverse[3];
    const bool mixed = NAME(invert_two)(d, inverse) < 0;
    memcpy(j->d + 2 * (int64_t)e, (real[4]){d[0], d[1], d[2], 0}, 4 * sizeof(real));
    l1[e + 1] = 0;
    for (int32_t i = e + 2; i < j->m; ++i) {
        w1[i] = l1[i], w2[i] = l2[i];
        l1[i] = inverse[0] * w1[i] + inverse[1] * w2[i];
        l2[i] = inverse[1] * w1[i] + inverse[2] * w2[i];
    }
    for (int32_t c = e + 2; c < j->n; ++c) {
        real *x = j->a + c * j->ld;
        for (int32_t i = c; i < j->m; ++i) x[i] -= l1[i] * w1[c] + l2[i] * w2[c];
    }
    j->pivots->two_by_two += 1;
    j->pivots->positive += mixed ? 1 : 2 * (d[0] > 0);
    j->pivots->negative += mixed ? 1 : 2 * (d[0] < 0);
    j->e += 2;
}

/* Whether columns p and q, measured without each other, make a 2x2 pivot within the bound. */
static bool NAME(is_stable_pair)(const NAME(job) * j, const NAME(column_sizes) * p,
                                 const NAME(column_sizes) * q, real beside)
{
    double s[3], scale;
    const double det = fabs(NAME(scale_two)((real[3]){p->diagonal, beside, q->diagonal}, s, &scale));
    const double a = s[0], b = s[1], c = s[2];
    if (!(det > PAIR_CANCELLATION * fmax(fabs(a * c), b * b))) return false;
    const double bound = (1 - 32 * EPSILON_OF(real)) * j->bound * scale;
    return (fabs(c) * p->largest + fabs(b) * q->largest) / det <= bound &&
           (fabs(b) * p->largest + fabs(a) * q->largest) / det <= bound;
}

/* Tries column p, alone or with another; true where something was eliminated. */
static bool NAME(try_column)(NAME(job) * j, int32_t p)
{
    NAME(column_sizes) s = NAME(measure_column)(j, p, p);
    if (NAME(fabs)(s.diagonal) <= j->small && s.largest <= j->small) {
        NAME(exchange)(j, j->e, p, 0);
        NAME(zero_pivot)(j);
        return true;
    }
    const double tight = (1 + 4 * EPSILON_OF(real)) * j->pivoting->u;
    if (NAME(fabs)(s.diagonal) > j->small && NAME(fabs)(s.diagonal) < (real)INFINITY &&
        NAME(fabs)(s.diagonal) >= tight * s.largest) {
        NAME(exchange)(j, j->e, p, 0);
        NAME(apply_one)(j);
        return true;
    }
    if (!(s.beside > j->small)) return false;
    const int32_t first = p < s.at ? p : s.at, second = p < s.at ? s.at : p;
    const NAME(column_sizes) a = NAME(measure_column)(j, first, second);
    const NAME(column_sizes) b = NAME(measure_column)(j, second, first);
    if (!NAME(is_stable_pair)(j, &a, &b, j->a[first * j->ld + second])) return false;
    NAME(exchange)(j, j->e, first, 0);
    NAME(exchange)(j, j->e + 1, second, 0);
    NAME(apply_two)(j);
    return true;
}

/* Goes round the columns until none of them can be taken. */
static void NAME(factor_columns)(NAME(job) * j)
{
    int32_t p = j->e;
    for (int32_t missed = 0; missed < j->n - j->e;) {
        if (p < j->e || p >= j->n) p = j->e;
        missed = NAME(try_column)(j, p) ? 0 : missed + 1;
        ++p;
    }
}

/* The largest finite entry of the columns that are left, in their own rows. */
static real NAME(find_largest_left)(const NAME(job) * j, int32_t *row, int32_t *column)
{
    real largest = 0;
    for (int32_t c = j->e; c < j->n; ++c)
        for (int32_t i = c; i < j->n; ++i) {
            const real x = NAME(fabs)(j->a[c * j->ld + i]);
            if (x > largest && x < (real)INFINITY) largest = x, *row = i, *column = c;
        }
    return largest;
}

/* A root takes every column: complete pivoting; then zeros, or what is no number, which stays as it is. */
static void NAME(finish_root)(NAME(job) * j)
{
    int32_t r = 0, c = 0;
    real largest;
    while (j->e < j->n && (largest = NAME(find_largest_left)(j, &r, &c)) > j->small) {
        int32_t on_diagonal = j->e;
        real top = 0;
        for (int32_t k = j->e; k < j->n; ++k) {
            const real x = NAME(fabs)(j->a[k * j->ld + k]);
            if (x > top && x < (real)INFINITY) top = x, on_diagonal = k;
        }
        if (2 * top >= largest) {
            NAME(exchange)(j, j->e, on_diagonal, 0);
            NAME(apply_one)(j);
        } else if (isfinite(j->a[r * j->ld + r]) && isfinite(j->a[c * j->ld + c])) {
            NAME(exchange)(j, j->e, c, 0);
            NAME(exchange)(j, j->e + 1, r, 0);
            NAME(apply_two)(j);
        } else {
            break;
        }
    }
    while (j->e < j->n) {
        const int64_t e = j->e;
        const real d = j->a[e * j->ld + e];
        bool finite = isfinite(d);
        for (int32_t i = j->e + 1; i < j->n; ++i) finite &= isfinite(j->a[e * j->ld + i]) != 0;
        if (finite) {
            NAME(zero_pivot)(j);
        } else {
            j->d[2 * e] = d, j->d[2 * e + 1] = 0;
            ++j->e;
        }
    }
}
