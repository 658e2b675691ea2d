/*
 * Factorizations of symmetric blocks: LL' and LDL'. Included once a precision by blocks.c, after
 * block_elimination.h.
 *
 * Rows and columns stay where they are; row[s] is the one at position s. Column p of the work holds what is
 * left of column p of the block while p is in `rows`, and then column p of L, 0 in the rows before it. What
 * is left is held in both triangles, so a column is there to be searched whichever is the pivot.
 */

/* The root of a pivot of LL', or 1 where there is none. */
static inline real NAME(root)(NAME(block) * m, real d)
{
    if (d >= TINY && d <= LARGEST) return MATH(sqrt)(d);
    NAME(fail)(m, isfinite(d) ? SD_BLOCK_INDEFINITE : SD_BLOCK_NOT_FINITE);
    return 1;
}

/* Column s of L from what is left of it, in the rows of `left` (constant lanes beyond first are not read). */
static inline void NAME(cholesky_column)(NAME(block) * m, int s, NAME(vec) * c, int first, const int V)
{
    real *column = m->a + s * V * NAME(LANES);
    const real root = NAME(root)(m, column[s]);
    const NAME(vec) inverse = NAME(all)(1 / root);
    const uint32_t below = ~((UINT32_C(2) << s) - 1);
    m->d[s] = root;
    UNROLL for (int v = 0; v < V; ++v)
    {
        if (v < first) continue;
        c[v] = NAME(keep)(NAME(lanes_of)(below, v), c[v] * inverse);
        NAME(store)(column + v * NAME(LANES), c[v]);
    }
}

/* LL' in order, two columns at a time, in the lower triangle. */
static inline void NAME(cholesky)(NAME(block) * m, int n, const int V)
{
    enum { ALL = MOST / NAME(LANES) };
    const int ld = V * NAME(LANES);
    for (int s = 0; s < n; s += 2) {
        real *first = m->a + s * ld, *second = first + ld;
        const int from = s / NAME(LANES);
        NAME(vec) l[2][ALL];
        UNROLL for (int v = 0; v < V; ++v) l[0][v] = NAME(load)(first + v * NAME(LANES));
        NAME(cholesky_column)(m, s, l[0], from, V);
        if (s + 1 == n) return;
        const NAME(vec) u = NAME(all)(first[s + 1]);
        UNROLL for (int v = 0; v < V; ++v)
        {
            l[1][v] = NAME(minus_product)(NAME(load)(second + v * NAME(LANES)), l[0][v], u);
            NAME(store)(second + v * NAME(LANES), l[1][v]);
        }
        NAME(cholesky_column)(m, s + 1, l[1], from, V);
        for (int j = s + 2; j < n; ++j) {
            real *column = m->a + j * ld;
            const int start = j / NAME(LANES);
            const NAME(vec) w = NAME(all)(first[j]), z = NAME(all)(second[j]);
            UNROLL for (int v = 0; v < V; ++v)
            {
                if (v < start) continue;
                const NAME(vec) x = NAME(minus_product)(NAME(load)(column + v * NAME(LANES)), l[0][v], w);
                NAME(store)(column + v * NAME(LANES), NAME(minus_product)(x, l[1][v], z));
            }
        }
    }
}

/* The diagonal of a block, as a column. */
static inline void NAME(diagonal)(const NAME(block) * m, NAME(vec) * d, const int V)
{
    real of[MOST] = {0};
    for (int i = 0; i < m->n; ++i) of[i] = m->a[i * (V * NAME(LANES) + 1)];
    UNROLL for (int v = 0; v < V; ++v) d[v] = NAME(load)(of + v * NAME(LANES));
}

/* LL' with the largest diagonal entry next: the diagonal is kept up to date, a column is computed when its
 * turn comes. */
static inline void NAME(cholesky_diagonal)(NAME(block) * m, int n, const int V)
{
    enum { ALL = MOST / NAME(LANES) };
    const int ld = V * NAME(LANES);
    NAME(vec) d[ALL], c[ALL];
    real of[MOST];
    NAME(diagonal)(m, d, V);
    for (int s = 0; s < n; ++s) {
        UNROLL for (int v = 0; v < V; ++v) NAME(store)(of + v * NAME(LANES), d[v]);
        const int p = NAME(search)(d, m->rows, V);
        real *column = m->a + p * ld;
        const real root = NAME(root)(m, of[p]);
        m->d[s] = root;
        m->row[s] = p;
        m->rows &= ~(UINT32_C(1) << p);
        UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(load)(column + v * NAME(LANES));
        for (int t = 0; t < s; ++t) {
            const real *l = m->a + m->row[t] * ld;
            const NAME(vec) u = NAME(all)(l[p]);
            UNROLL for (int v = 0; v < V; ++v) c[v] =
                NAME(minus_product)(c[v], NAME(load)(l + v * NAME(LANES)), u);
        }
        UNROLL for (int v = 0; v < V; ++v)
        {
            c[v] = NAME(keep)(NAME(lanes_of)(m->rows, v), c[v] * NAME(all)(1 / root));
            d[v] = NAME(minus_product)(d[v], c[v], c[v]);
            NAME(store)(column + v * NAME(LANES), c[v]);
        }
    }
}

/* LDL' at work: the columns of the next pivot as they were, the diagonal and the search of complete pivoting.
 */
typedef struct NAME(symmetric) {
    real c[2][MOST];
    NAME(vec) diagonal[MOST / NAME(LANES)];
    NAME(leader) best;
} NAME(symmetric);

/* Takes what a pivot with columns l (one or two) changes from all that is left. */
static inline void NAME(subtract_pivot)(NAME(block) * m, NAME(symmetric) * w,
                                        NAME(vec) l[2][MOST / NAME(LANES)], bool two, sd_block_kernel kernel,
                                        const int V)
{
    const int ld = V * NAME(LANES);
    if (!m->rows) return;
    if (kernel == SD_LDLT_COMPLETE) w->best = NAME(no_leader)(m->rows, V);
    for (uint32_t left = m->rows; left; left &= left - 1) {
        const int j = __builtin_ctz(left);
        real *column = m->a + j * ld;
        const NAME(vec) u = NAME(all)(w->c[0][j]), z = NAME(all)(w->c[1][j]);
        UNROLL for (int v = 0; v < V; ++v)
        {
            NAME(vec) x = NAME(minus_product)(NAME(load)(column + v * NAME(LANES)), l[0][v], u);
            if (two) x = NAME(minus_product)(x, l[1][v], z);
            NAME(store)(column + v * NAME(LANES), x);
            if (kernel == SD_LDLT_COMPLETE)
                NAME(enter)(&w->best, NAME(keep)(NAME(lanes_of)(~(UINT32_C(1) << j), v), x), j, v);
        }
    }
    if (kernel != SD_LDLT_COMPLETE) return;
    for (int k = 0; k < 1 + two; ++k)
        UNROLL for (int v = 0; v < V; ++v) w->diagonal[v] =
            NAME(minus_product)(w->diagonal[v], l[k][v], NAME(load)(w->c[k] + v * NAME(LANES)));
}

/* The 1x1 pivot p at position s. */
static inline void NAME(pivot_one)(NAME(block) * m, int s, int p, NAME(symmetric) * w, sd_block_kernel kernel,
                                   const int V)
{
    real *column = m->a + p * V * NAME(LANES);
    const real d = NAME(settle)(m, column[p]);
    const NAME(vec) inverse = NAME(all)(1 / d);
    NAME(vec) l[2][MOST / NAME(LANES)];
    m->d[s] = d;
    m->state.negative += d < 0;
    m->rows &= ~(UINT32_C(1) << p);
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(vec) c = NAME(load)(column + v * NAME(LANES));
        l[0][v] = NAME(keep)(NAME(lanes_of)(m->rows, v), c * inverse);
        NAME(store)(w->c[0] + v * NAME(LANES), c);
        NAME(store)(column + v * NAME(LANES), l[0][v]);
    }
    NAME(subtract_pivot)(m, w, l, false, kernel, V);
}

/* What solves with the 2x2 pivot at position s, moved away from singular where the rule says so. */
static inline NAME(sd_pair_solver) NAME(settle_pair)(NAME(block) * m, int s, NAME(sd_pair) d)
{
    const NAME(sd_pair) any = {0, 1, 0};
    if (!(MATH(fabs)(d.a) <= LARGEST && MATH(fabs)(d.b) <= LARGEST && MATH(fabs)(d.c) <= LARGEST)) {
        NAME(fail)(m, SD_BLOCK_NOT_FINITE);
        d = any;
    }
    if (m->small > 0) m->state.perturbed += (uint8_t)NAME(sd_pair_clamp)(&d, m->small);
    if (NAME(sd_pair_is_zero)(d)) {
        NAME(fail)(m, SD_BLOCK_SINGULAR);
        d = any;
    }
    m->d[s] = d.a;
    m->d[s + 1] = d.c;
    m->e[s] = d.b;
    m->state.negative += (uint8_t)NAME(sd_pair_negative)(d);
    m->state.pairs |= UINT32_C(1) << s;
    return NAME(sd_pair_solver_of)(d);
}

/* The 2x2 pivot p, q at positions s and s + 1. */
static inline void NAME(pivot_two)(NAME(block) * m, int s, int p, int q, NAME(symmetric) * w,
                                   sd_block_kernel kernel, const int V)
{
    const int ld = V * NAME(LANES);
    real *first = m->a + p * ld, *second = m->a + q * ld;
    const NAME(sd_pair) d = {first[p], first[q], second[q]};
    const NAME(sd_pair_solver) solver = NAME(settle_pair)(m, s, d);
    const NAME(vec) x = NAME(all)(solver.x), y = NAME(all)(solver.y), t = NAME(all)(solver.t);
    NAME(vec) l[2][MOST / NAME(LANES)];
    m->rows &= ~(UINT32_C(1) << p | UINT32_C(1) << q);
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(vec) c = NAME(load)(first + v * NAME(LANES)), z = NAME(load)(second + v * NAME(LANES));
        const NAME(lanes) left = NAME(lanes_of)(m->rows, v);
        l[0][v] = NAME(keep)(left, t * NAME(plus_product)(-z, y, c));
        l[1][v] = NAME(keep)(left, t * NAME(plus_product)(-c, x, z));
        NAME(store)(w->c[0] + v * NAME(LANES), c);
        NAME(store)(w->c[1] + v * NAME(LANES), z);
        NAME(store)(first + v * NAME(LANES), l[0][v]);
        NAME(store)(second + v * NAME(LANES), l[1][v]);
    }
    NAME(subtract_pivot)(m, w, l, true, kernel, V);
}

/* The row of the largest entry of column j among `rows`. */
static inline int NAME(search_column)(const NAME(block) * m, int j, uint32_t rows, const int V)
{
    NAME(vec) c[MOST / NAME(LANES)];
    UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(load)(m->a + (j * V + v) * NAME(LANES));
    return NAME(search)(c, rows, V);
}

/* The next pivot: rows p and q, the same where it is 1x1. */
typedef struct NAME(choice) {
    int p, q;
} NAME(choice);

static inline NAME(choice) NAME(choose_static)(const NAME(block) * m, int s, int ld)
{
    if (s + 1 == m->n) return (NAME(choice)){s, s};
    const NAME(sd_pair) pair = {m->a[s * ld + s], m->a[s * ld + s + 1], m->a[(s + 1) * ld + s + 1]};
    return (NAME(choice)){s, s + NAME(sd_pair_is_better)(pair)};
}

/* Bunch and Kaufman, Some stable methods for calculating inertia and solving symmetric linear systems. */
static inline NAME(choice) NAME(choose_bunch_kaufman)(const NAME(block) * m, int s, const int V)
{
    const real alpha = (real)SD_BLOCK_ALPHA;
    const int ld = V * NAME(LANES), k = m->row[s];
    const NAME(choice) in_place = {k, k};
    const uint32_t others = m->rows & ~(UINT32_C(1) << k);
    if (!others) return in_place;
    const int r = NAME(search_column)(m, k, others, V);
    const real diagonal = MATH(fabs)(m->a[k * ld + k]), below = MATH(fabs)(m->a[k * ld + r]);
    if (below < TINY || (diagonal >= TINY && diagonal >= alpha * below)) return in_place;
    const int q = NAME(search_column)(m, r, m->rows & ~(UINT32_C(1) << r), V);
    const real beside = MATH(fabs)(m->a[r * ld + q]);
    if (diagonal >= TINY && diagonal >= alpha * below * (below / beside)) return in_place;
    if (MATH(fabs)(m->a[r * ld + r]) >= alpha * beside) return (NAME(choice)){r, r};
    return (NAME(choice)){k, r};
}

/* Bunch and Parlett, Direct methods for solving symmetric indefinite systems of linear equations. */
static inline NAME(choice)
    NAME(choose_complete)(const NAME(block) * m, const NAME(symmetric) * w, const int V)
{
    const int ld = V * NAME(LANES), r = NAME(search)(w->diagonal, m->rows, V);
    int q;
    const int p = NAME(leave)(&w->best, m->rows, &q, V);
    const real diagonal = MATH(fabs)(m->a[r * ld + r]), beside = p == q ? 0 : MATH(fabs)(m->a[q * ld + p]);
    if (beside < TINY || (diagonal >= TINY && diagonal >= (real)SD_BLOCK_ALPHA * beside))
        return (NAME(choice)){r, r};
    return p < q ? (NAME(choice)){p, q} : (NAME(choice)){q, p};
}

/* Brings row p to position s, and what stood there to where p was. */
static inline void NAME(bring)(NAME(block) * m, int s, int p)
{
    const int other = m->row[s], from = m->place[p];
    m->row[from] = other;
    m->place[other] = from;
    m->row[s] = p;
    m->place[p] = s;
}

static inline void NAME(ldlt)(NAME(block) * m, int n, sd_block_kernel kernel, const int V)
{
    NAME(symmetric) w;
    if (kernel == SD_LDLT_COMPLETE) {
        NAME(diagonal)(m, w.diagonal, V);
        w.best = NAME(no_leader)(m->rows, V);
        for (int j = 0; j < n; ++j) UNROLL for (int v = 0; v < V; ++v)
            {
                const NAME(vec) x = NAME(load)(m->a + (j * V + v) * NAME(LANES));
                NAME(enter)(&w.best, NAME(keep)(NAME(lanes_of)(~(UINT32_C(1) << j), v), x), j, v);
            }
    }
    for (int s = 0; s < n;) {
        const NAME(choice) c = kernel == SD_LDLT_STATIC          ? NAME(choose_static)(m, s, V * NAME(LANES))
                               : kernel == SD_LDLT_BUNCH_KAUFMAN ? NAME(choose_bunch_kaufman)(m, s, V)
                                                                 : NAME(choose_complete)(m, &w, V);
        NAME(bring)(m, s, c.p);
        if (c.p == c.q) {
            NAME(pivot_one)(m, s, c.p, &w, kernel, V);
            ++s;
        } else {
            NAME(bring)(m, s + 1, c.q);
            NAME(pivot_two)(m, s, c.p, c.q, &w, kernel, V);
            s += 2;
        }
    }
}
