/*
 * 2x2 pivots [a b; b c] of LDL', in SD_REAL: included twice by blocks.h. A pair is only taken where b is the
 * largest entry that its rows share with others, so all is formed from x = a / b and y = c / b: the
 * determinant is b^2 (xy - 1), and xy is of the order of 1 or less however far apart a and c are. Squares of
 * the entries themselves would leave the range of single precision. No header of its own.
 */

/* b is at least SD_TINY. */
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
    return !(SD_MATH(fabs)(p.b) >= SD_TINY && SD_MATH(fabs)(p.b * SD_OF(sd_pair_determinant)(p)) >= SD_TINY);
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

/*
 * Moves eigenvalues of less than `small` in magnitude to +-small, their signs kept (0 has +), and returns how
 * many. A rotation by theta, tan 2 theta = 2b / (a - c), makes the pair diagonal. The eigenvalue nearer to 0
 * is the determinant over the other one: as a difference it would lose its sign where b is small beside a
 * and c. It is moved further than `small` where the rounding of the other would make the pair singular again,
 * and a b that is next to nothing stays what x and y can be formed with. All in quarters: the other may be
 * twice the largest entry.
 */
SD_BLOCK_FUNCTION int SD_OF(sd_pair_clamp)(SD_OF(sd_pair) * p, SD_REAL small)
{
    const SD_REAL a = p->a / 4, b = p->b / 4, c = p->c / 4, least = small / 4;
    const SD_REAL half = a / 2 - c / 2, middle = a / 2 + c / 2, radius = SD_MATH(hypot)(half, b);
    const SD_REAL determinant = SD_OF(sd_pair_determinant)(*p);
    SD_REAL far = middle < 0 ? middle - radius : middle + radius;
    SD_REAL near = SD_MATH(fabs)(a * (c / far) - b * (b / far));
    const int count = (SD_MATH(fabs)(far) < least) + (near < least);
    if (count == 0) return 0;
    const SD_REAL seen =
        SD_MATH(fabs)(far) * (SD_REAL)(sizeof(SD_REAL) == sizeof(double) ? 0x1p-50 : 0x1p-21);
    if (near < least) near = seen > least ? seen : least;
    if (determinant < 0 ? far > 0 : determinant > 0 && far < 0) near = -near;
    if (SD_MATH(fabs)(far) < least) far = far < 0 ? -least : least;
    const SD_REAL high = middle < 0 ? near : far, low = middle < 0 ? far : near;
    const SD_REAL mean = high / 2 + low / 2, apart = high / 2 - low / 2;
    p->a = 4 * (mean + apart * (half / radius)); /* half / radius is cos 2 theta, b / radius the sine */
    p->b = 4 * (apart * (b / radius));
    p->c = 4 * (mean - apart * (half / radius));
    const SD_REAL beside =
        SD_MATH(sqrt)(SD_MATH(fabs)(p->a)) * SD_MATH(sqrt)(SD_MATH(fabs)(p->c)) * (SD_REAL)0x1p-60;
    if (SD_MATH(fabs)(p->b) < beside) p->b = p->b < 0 ? -beside : beside;
    return count;
}
