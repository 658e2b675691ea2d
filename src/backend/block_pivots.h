/*
 * 2x2 pivots [a b; b c] of LDL', in SD_REAL: included twice by blocks.h. A pair is only taken where b is the
 * largest entry that its rows share with others, so all is formed from x = a / b and y = c / b: the
 * determinant is b^2 (xy - 1), and xy is of the order of 1 or less however far apart a and c are. Squares of
 * the entries themselves would leave the range of single precision. No header of its own.
 */

typedef struct SD_OF(sd_pair) {
    SD_REAL a, b, c;
} SD_OF(sd_pair);

/* x, y and t = 1 / (b (xy - 1)), whose divisor may overflow: the inverse is t [y -1; -1 x]. */
typedef struct SD_OF(sd_pair_solver) {
    SD_REAL x, y, t;
} SD_OF(sd_pair_solver);

/* xy - 1, which has the sign of the determinant. */
SD_BLOCK_FUNCTION SD_REAL SD_OF(sd_pair_determinant)(SD_OF(sd_pair) p)
{
    return SD_MATH(fma)(p.a / p.b, p.c / p.b, (SD_REAL)-1);
}

/*
 * LDL' without interchanges: whether rows s and s + 1, whose entries are p, are one pivot. The norm of a
 * pivot's inverse bounds the multipliers; the pair is taken where its bound, (max(|a|, |c|) + |b|) / |ac -
 * b^2|, is below alpha times that of a alone, 1 / |a|.
 */
SD_BLOCK_FUNCTION bool SD_OF(sd_pair_is_better)(SD_OF(sd_pair) p)
{
    if (!(SD_MATH(fabs)(p.b) >= SD_TINY)) return false;
    const SD_REAL x = SD_MATH(fabs)(p.a / p.b), y = SD_MATH(fabs)(p.c / p.b);
    return x == 0 ||
           ((x > y ? x : y) + 1) * x < (SD_REAL)SD_BLOCK_ALPHA * SD_MATH(fabs)(SD_OF(sd_pair_determinant)(p));
}

/* Whether it is no pivot: singular, or so small that t would not be finite. */
SD_BLOCK_FUNCTION bool SD_OF(sd_pair_is_zero)(SD_OF(sd_pair) p)
{
    return !(SD_MATH(fabs)(p.b * SD_OF(sd_pair_determinant)(p)) >= SD_TINY);
}

SD_BLOCK_FUNCTION SD_OF(sd_pair_solver) SD_OF(sd_pair_solver_of)(SD_OF(sd_pair) p)
{
    const SD_OF(sd_pair_solver) solver = {p.a / p.b, p.c / p.b, 1 / SD_OF(sd_pair_determinant)(p) / p.b};
    return solver;
}

/* Where its entries are known to be finite: of a pair that was taken, in double. */
SD_BLOCK_FUNCTION SD_OF(sd_pair) SD_OF(sd_pair_inverse)(SD_OF(sd_pair) p)
{
    const SD_OF(sd_pair_solver) d = SD_OF(sd_pair_solver_of)(p);
    const SD_OF(sd_pair) inverse = {d.y * d.t, -d.t, d.x * d.t};
    return inverse;
}

/* [u v] <- [u v] D^-1 */
SD_BLOCK_FUNCTION void SD_OF(sd_pair_solve)(SD_OF(sd_pair_solver) d, SD_REAL *u, SD_REAL *v)
{
    const SD_REAL first = d.t * SD_MATH(fma)(d.y, *u, -*v), second = d.t * SD_MATH(fma)(d.x, *v, -*u);
    *u = first;
    *v = second;
}

/* How many of its eigenvalues are negative. */
SD_BLOCK_FUNCTION int SD_OF(sd_pair_negative)(SD_OF(sd_pair) p)
{
    if (SD_OF(sd_pair_determinant)(p) < 0) return 1;
    return p.a < 0 ? 2 : 0;
}

/* Of a pair, its eigenvalues: that of the larger magnitude, and the one nearer to 0, which is the determinant
 * over the other: as a difference it would be lost where b is small beside a or c. What rounding does to it
 * is below `seen`. All of them over 4, as the first may be twice the largest entry. */
typedef struct SD_OF(sd_pair_eigenvalues) {
    SD_REAL far, near, seen;
} SD_OF(sd_pair_eigenvalues);

SD_BLOCK_FUNCTION SD_OF(sd_pair_eigenvalues) SD_OF(sd_pair_eigenvalues_of)(SD_OF(sd_pair) p)
{
    const SD_REAL a = p.a / 4, b = p.b / 4, c = p.c / 4, middle = a / 2 + c / 2;
    const SD_REAL radius = SD_MATH(hypot)(a / 2 - c / 2, b);
    const SD_REAL far = middle < 0 ? middle - radius : middle + radius;
    const SD_REAL near = SD_MATH(fabs)(a * (c / far) - b * (b / far));
    const SD_REAL determinant = SD_OF(sd_pair_determinant)(p);
    const SD_REAL size = SD_MATH(fabs)(a * (c / far)) + SD_MATH(fabs)(b * (b / far));
    const SD_OF(sd_pair_eigenvalues) e = {
        far, (determinant < 0 ? far > 0 : determinant > 0 && far < 0) ? -near : near, 8 * SD_UNIT * size};
    return e;
}

/* Both eigenvalues are moved to +-small: small times a reflection, or the identity, in which b stays what x
 * and y can be formed with. */
SD_BLOCK_FUNCTION SD_OF(sd_pair)
    SD_OF(sd_pair_of_size)(SD_OF(sd_pair) p, SD_OF(sd_pair_eigenvalues) e, SD_REAL small)
{
    const SD_REAL half = p.a / 8 - p.c / 8, b = p.b / 4, radius = SD_MATH(hypot)(half, b);
    const SD_REAL sign = e.far < 0 ? -small : small;
    const SD_OF(sd_pair) alike = {sign, small * SD_NEXT_TO_NOTHING, sign};
    const SD_OF(sd_pair) apart = {small * (half / radius), small * (b / radius), -small * (half / radius)};
    return (e.near < 0) == (e.far < 0) ? alike : apart;
}

/*
 * Moves eigenvalues of less than `small` in magnitude to +-small, their signs kept (0 has +), and returns how
 * many. The nearer to 0 alone is moved along its eigenvector, so that entries far apart stay what they are;
 * and further than `small`, where that would be lost in rounding.
 */
SD_BLOCK_FUNCTION int SD_OF(sd_pair_clamp)(SD_OF(sd_pair) * p, SD_REAL small)
{
    const SD_OF(sd_pair_eigenvalues) e = SD_OF(sd_pair_eigenvalues_of)(*p);
    const SD_REAL least = small / 4 > e.seen ? small / 4 : e.seen;
    if (!(SD_MATH(fabs)(e.near) < small / 4)) return 0;
    if (SD_MATH(fabs)(e.far) < small / 4) {
        *p = SD_OF(sd_pair_of_size)(*p, e, small);
        return 2;
    }
    const bool second = SD_MATH(fabs)(p->c) >= SD_MATH(fabs)(p->a); /* which the other's vector leans to */
    const SD_REAL beside = (second ? p->c : p->a) / 4 - e.near, length = SD_MATH(hypot)(beside, p->b / 4);
    const SD_REAL u = beside / length, v = -(p->b / 4) / length; /* the eigenvector */
    const SD_REAL by = 4 * ((e.near < 0 ? -least : least) - e.near);
    p->a += by * (second ? u * u : v * v);
    p->b += by * u * v;
    p->c += by * (second ? v * v : u * u);
    const SD_REAL next_to_nothing =
        SD_MATH(sqrt)(SD_MATH(fabs)(p->a)) * SD_MATH(sqrt)(SD_MATH(fabs)(p->c)) * SD_NEXT_TO_NOTHING;
    if (SD_MATH(fabs)(p->b) < next_to_nothing) p->b = p->b < 0 ? -next_to_nothing : next_to_nothing;
    return 1;
}
