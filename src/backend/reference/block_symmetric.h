/*
 * Factorizations of one symmetric block, in `real`: LL' and LDL'.
 *
 * The block at work holds both its triangles: what is left of it, and L with L' above it, are symmetric at
 * every step, so that rows and columns may be exchanged over their whole length.
 *
 * LDL': a pivot is 1x1 or 2x2. Its columns C give L = C D^-1, and what is left becomes A - L C'; as D may
 * have been moved away from singular, that is A - L D L' with the D that is kept. Static: the next row, or
 * the next two where sd_pair_is_better says so. Bunch and Kaufman, Some stable methods for calculating
 * inertia and solving symmetric linear systems: with the largest entry below the diagonal, at row r of column
 * s, and the largest beside the diagonal of row r. Bunch and Parlett, Direct methods for solving symmetric
 * indefinite systems: the largest on the diagonal against the largest beside it.
 *
 * Included once a precision by blocks.c, after block_elimination.h. No header of its own.
 */

static void NAME(swap_both)(NAME(block) * m, int p, int q)
{
    if (p == q) return;
    NAME(swap_rows)(m, p, q);
    NAME(swap_columns)(m, p, q);
}

/* The largest of the diagonal from position s on. */
static int NAME(largest_diagonal)(NAME(block) * m, int s)
{
    int p = s;
    for (int i = s + 1; i < m->n; ++i)
        if (NAME(is_larger)(m, i, i, p, p)) p = i;
    return p;
}

static int NAME(llt)(NAME(block) * m, sd_block_kernel kernel)
{
    for (int s = 0; s < m->n; ++s) {
        if (kernel == SD_LLT_DIAGONAL) NAME(swap_both)(m, s, NAME(largest_diagonal)(m, s));
        const real d = *NAME(at)(m, s, s);
        if (!isfinite(d)) return SD_BLOCK_NOT_FINITE;
        if (d < TINY) return SD_BLOCK_INDEFINITE;
        const real root = MATH(sqrt)(d), inverse = 1 / root;
        *NAME(at)(m, s, s) = root;
        for (int i = s + 1; i < m->n; ++i)
            *NAME(at)(m, i, s) = *NAME(at)(m, s, i) = *NAME(at)(m, i, s) * inverse;
        for (int j = s + 1; j < m->n; ++j)
            for (int i = j; i < m->n; ++i)
                *NAME(at)(m, i, j) = *NAME(at)(m, j, i) =
                    MATH(fma)(-*NAME(at)(m, i, s), *NAME(at)(m, j, s), *NAME(at)(m, i, j));
    }
    return SD_BLOCK_OK;
}

/* The next pivot: position p, and q where it is 2x2 (else q is p). */
typedef struct NAME(choice) {
    int p, q;
} NAME(choice);

static NAME(choice) NAME(choose_static)(NAME(block) * m, int s)
{
    NAME(choice) c = {s, s};
    if (s + 1 == m->n) return c;
    const NAME(sd_pair) pair = {*NAME(at)(m, s, s), *NAME(at)(m, s + 1, s), *NAME(at)(m, s + 1, s + 1)};
    if (NAME(sd_pair_is_better)(pair)) c.q = s + 1;
    return c;
}

/* The row of the largest entry of column j beside the diagonal, from position s on; -1 where there is none.
 */
static int NAME(largest_beside)(NAME(block) * m, int s, int j)
{
    int p = -1;
    for (int i = s; i < m->n; ++i)
        if (i != j && (p < 0 || NAME(is_larger)(m, i, j, p, j))) p = i;
    return p;
}

static NAME(choice) NAME(choose_bunch_kaufman)(NAME(block) * m, int s)
{
    const real alpha = (real)SD_BLOCK_ALPHA;
    const NAME(choice) in_place = {s, s};
    const int r = NAME(largest_beside)(m, s, s);
    if (r < 0) return in_place;
    const real diagonal = MATH(fabs)(*NAME(at)(m, s, s)), below = MATH(fabs)(*NAME(at)(m, r, s));
    if (below < TINY || (diagonal >= TINY && diagonal >= alpha * below)) return in_place;
    const real beside = MATH(fabs)(*NAME(at)(m, NAME(largest_beside)(m, s, r), r));
    if (diagonal >= TINY && diagonal >= alpha * below * (below / beside)) return in_place;
    if (MATH(fabs)(*NAME(at)(m, r, r)) >= alpha * beside) return (NAME(choice)){r, r};
    return (NAME(choice)){s, r};
}

static NAME(choice) NAME(choose_complete)(NAME(block) * m, int s)
{
    const int r = NAME(largest_diagonal)(m, s);
    NAME(choice) c = {-1, -1};
    for (int j = s; j < m->n; ++j)
        for (int i = s; i < m->n; ++i)
            if (i != j && (c.p < 0 || NAME(is_larger)(m, i, j, c.p, c.q))) c.p = i, c.q = j;
    const real diagonal = MATH(fabs)(*NAME(at)(m, r, r));
    const real beside = c.p < 0 ? 0 : MATH(fabs)(*NAME(at)(m, c.p, c.q));
    if (beside < TINY || (diagonal >= TINY && diagonal >= (real)SD_BLOCK_ALPHA * beside)) c.p = c.q = r;
    return c;
}

/* What is left becomes A - l c', l and c being columns of the positions from `first` on. */
static void NAME(subtract_column)(NAME(block) * m, int first, const real *l, const real *c)
{
    for (int j = first; j < m->n; ++j)
        for (int i = j; i < m->n; ++i)
            *NAME(at)(m, i, j) = *NAME(at)(m, j, i) = MATH(fma)(-l[i], c[j], *NAME(at)(m, i, j));
}

static int NAME(eliminate_one)(NAME(block) * m, int s, real small)
{
    real *d = NAME(at)(m, s, s), c[SD_BLOCK_MOST], l[SD_BLOCK_MOST];
    const int status = NAME(settle)(m, d, small);
    if (status) return status;
    m->state.negative += *d < 0;
    const real inverse = 1 / *d;
    for (int i = s + 1; i < m->n; ++i) {
        c[i] = *NAME(at)(m, i, s);
        l[i] = *NAME(at)(m, i, s) = *NAME(at)(m, s, i) = c[i] * inverse;
    }
    NAME(subtract_column)(m, s + 1, l, c);
    return SD_BLOCK_OK;
}

static int NAME(eliminate_two)(NAME(block) * m, int s, real small)
{
    NAME(sd_pair) d = {*NAME(at)(m, s, s), *NAME(at)(m, s + 1, s), *NAME(at)(m, s + 1, s + 1)};
    real c[2][SD_BLOCK_MOST], l[2][SD_BLOCK_MOST];
    if (!isfinite(d.a) || !isfinite(d.b) || !isfinite(d.c)) return SD_BLOCK_NOT_FINITE;
    if (small > 0) m->state.perturbed += (uint8_t)NAME(sd_pair_clamp)(&d, small);
    if (NAME(sd_pair_is_zero)(d)) return SD_BLOCK_SINGULAR;
    m->state.negative += (uint8_t)NAME(sd_pair_negative)(d);
    m->state.pairs |= UINT32_C(1) << s;
    *NAME(at)(m, s, s) = d.a;
    *NAME(at)(m, s + 1, s) = *NAME(at)(m, s, s + 1) = d.b;
    *NAME(at)(m, s + 1, s + 1) = d.c;
    const NAME(sd_pair_solver) inverse = NAME(sd_pair_solver_of)(d);
    for (int i = s + 2; i < m->n; ++i) {
        l[0][i] = c[0][i] = *NAME(at)(m, i, s);
        l[1][i] = c[1][i] = *NAME(at)(m, i, s + 1);
        NAME(sd_pair_solve)(inverse, &l[0][i], &l[1][i]);
        for (int k = 0; k < 2; ++k) *NAME(at)(m, i, s + k) = *NAME(at)(m, s + k, i) = l[k][i];
    }
    for (int k = 0; k < 2; ++k) NAME(subtract_column)(m, s + 2, l[k], c[k]);
    return SD_BLOCK_OK;
}

static int NAME(ldlt)(NAME(block) * m, sd_block_kernel kernel, real small)
{
    int s = 0, status = SD_BLOCK_OK;
    while (s < m->n && !status) {
        NAME(choice)
        c = kernel == SD_LDLT_STATIC          ? NAME(choose_static)(m, s)
            : kernel == SD_LDLT_BUNCH_KAUFMAN ? NAME(choose_bunch_kaufman)(m, s)
                                              : NAME(choose_complete)(m, s);
        const bool two = c.p != c.q;
        NAME(swap_both)(m, s, c.p);
        if (c.q == s) c.q = c.p; /* it stood where the first one went */
        if (two) NAME(swap_both)(m, s + 1, c.q);
        status = two ? NAME(eliminate_two)(m, s, small) : NAME(eliminate_one)(m, s, small);
        s += two ? 2 : 1;
    }
    return status;
}
