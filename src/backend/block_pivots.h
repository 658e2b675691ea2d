/*
 * 2x2 pivots [a b; b c] of LDL', in SD_REAL: included twice by blocks.h. All are formed after division by the
 * largest magnitude, so that nothing overflows on the way. No header of its own.
 */

typedef struct SD_OF(sd_pair) {
    SD_REAL a, b, c;
} SD_OF(sd_pair);

/* The largest of |a|, |b|, |c|. */
SD_BLOCK_FUNCTION SD_REAL SD_OF(sd_pair_largest)(SD_OF(sd_pair) p)
{
    const SD_REAL a = SD_MATH(fabs)(p.a), b = SD_MATH(fabs)(p.b), c = SD_MATH(fabs)(p.c);
    const SD_REAL m = a > b ? a : b;
    return m > c ? m : c;
}

/* The pair over its largest magnitude m > 0. */
SD_BLOCK_FUNCTION SD_OF(sd_pair) SD_OF(sd_pair_over)(SD_OF(sd_pair) p, SD_REAL m)
{
    const SD_OF(sd_pair) q = {p.a / m, p.b / m, p.c / m};
    return q;
}

SD_BLOCK_FUNCTION SD_REAL SD_OF(sd_pair_determinant)(SD_OF(sd_pair) p)
{
    return SD_MATH(fma)(p.a, p.c, -p.b * p.b);
}

/*
 * LDL' without interchanges: whether rows s and s + 1, whose entries are p, are one pivot. The norm of a
 * pivot's inverse bounds the multipliers; the pair is taken where its bound, (max(|a|, |c|) + |b|) / |ac -
 * b^2|, is below alpha times that of a alone, 1 / |a|.
 */
SD_BLOCK_FUNCTION bool SD_OF(sd_pair_is_better)(SD_OF(sd_pair) p)
{
    const SD_REAL m = SD_OF(sd_pair_largest)(p);
    if (!(m > 0)) return false;
    const SD_OF(sd_pair) q = SD_OF(sd_pair_over)(p, m);
    const SD_REAL a = SD_MATH(fabs)(q.a), c = SD_MATH(fabs)(q.c);
    return ((a > c ? a : c) + SD_MATH(fabs)(q.b)) * a <
           (SD_REAL)SD_BLOCK_ALPHA * SD_MATH(fabs)(SD_OF(sd_pair_determinant)(q));
}

/* The inverse of a pair that is not singular. */
SD_BLOCK_FUNCTION SD_OF(sd_pair) SD_OF(sd_pair_inverse)(SD_OF(sd_pair) p)
{
    const SD_REAL m = SD_OF(sd_pair_largest)(p);
    const SD_OF(sd_pair) q = SD_OF(sd_pair_over)(p, m);
    const SD_REAL d = SD_OF(sd_pair_determinant)(q);
    const SD_OF(sd_pair) inverse = {q.c / d / m, -q.b / d / m, q.a / d / m};
    return inverse;
}

/* How many of its eigenvalues are negative. */
SD_BLOCK_FUNCTION int SD_OF(sd_pair_negative)(SD_OF(sd_pair) p)
{
    const SD_REAL m = SD_OF(sd_pair_largest)(p);
    if (!(m > 0)) return 0;
    const SD_OF(sd_pair) q = SD_OF(sd_pair_over)(p, m);
    if (SD_OF(sd_pair_determinant)(q) < 0) return 1;
    return q.a + q.c < 0 ? 2 : 0;
}

/*
 * Moves eigenvalues of less than `small` in magnitude to +-small, their signs kept (0 has +), and returns how
 * many. A rotation by theta, tan 2 theta = 2b / (a - c), makes the pair diagonal.
 */
SD_BLOCK_FUNCTION int SD_OF(sd_pair_clamp)(SD_OF(sd_pair) * p, SD_REAL small)
{
    const SD_REAL half = (p->a - p->c) / 2, middle = p->a / 2 + p->c / 2;
    const SD_REAL radius = SD_MATH(hypot)(half, p->b);
    SD_REAL high = middle + radius, low = middle - radius;
    const int count = (SD_MATH(fabs)(high) < small) + (SD_MATH(fabs)(low) < small);
    if (count == 0) return 0;
    if (SD_MATH(fabs)(high) < small) high = high < 0 ? -small : small;
    if (SD_MATH(fabs)(low) < small) low = low < 0 ? -small : small;
    /* cos and sin of 2 theta */
    const SD_REAL c2 = radius > 0 ? half / radius : 1, s2 = radius > 0 ? p->b / radius : 0;
    const SD_REAL mean = high / 2 + low / 2, apart = (high - low) / 2;
    p->a = mean + apart * c2;
    p->b = apart * s2;
    p->c = mean - apart * c2;
    return count;
}
