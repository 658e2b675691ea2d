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
    fetch_column(&m->next, s);
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
        fetch_column(&m->next, s);
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

/* Brings row p to position s, and what stood there to where p was. */
static inline void NAME(bring)(NAME(block) * m, int s, int p)
{
    const int other = m->row[s], from = m->place[p];
    m->row[from] = other;
    m->place[other] = from;
    m->row[s] = p;
    m->place[p] = s;
}

/* Takes what a pivot changes from column j; l of a 1x1 pivot has a second column of zeros. */
static inline void NAME(subtract_from)(NAME(block) * m, NAME(symmetric) * w,
                                       NAME(vec) l[2][MOST / NAME(LANES)], int j, sd_block_kernel kernel,
                                       const int V)
{
    real *column = m->a + j * V * NAME(LANES);
    const NAME(vec) u = NAME(all)(w->c[0][j]), z = NAME(all)(w->c[1][j]);
    UNROLL for (int v = 0; v < V; ++v)
    {
        NAME(vec) x = NAME(minus_product)(NAME(load)(column + v * NAME(LANES)), l[0][v], u);
        x = NAME(minus_product)(x, l[1][v], z);
        NAME(store)(column + v * NAME(LANES), x);
        if (kernel == SD_LDLT_COMPLETE)
            NAME(enter)(&w->best, NAME(keep)(NAME(lanes_of)(~(UINT32_C(1) << j), v), x), j, v);
    }
}

/* Takes what a pivot changes from all that is left. */
static inline void NAME(subtract_pivot)(NAME(block) * m, NAME(symmetric) * w,
                                        NAME(vec) l[2][MOST / NAME(LANES)], sd_block_kernel kernel,
                                        const int V)
{
    if (!m->rows) return;
    if (kernel == SD_LDLT_COMPLETE) w->best = NAME(no_leader)(m->rows, V);
    for (uint32_t left = m->rows; left; left &= left - 1)
        NAME(subtract_from)(m, w, l, __builtin_ctz(left), kernel, V);
    for (int k = 0; k < 2 && kernel == SD_LDLT_COMPLETE; ++k)
        UNROLL for (int v = 0; v < V; ++v) w->diagonal[v] =
            NAME(minus_product)(w->diagonal[v], l[k][v], NAME(load)(w->c[k] + v * NAME(LANES)));
}

/* With D^-1 = t [y -1; -1 x] for a 2x2 pivot and t for a 1x1: what makes L of its columns. */
typedef struct NAME(solver) {
    real x, y, t;
    int negative;
} NAME(solver);

/* A pivot that wants to be moved, or cannot be: settled one case after the other. */
static __attribute__((noinline, cold)) NAME(solver)
    NAME(settle_slowly)(NAME(block) * m, int s, bool two, NAME(sd_pair) d)
{
    if (!two) {
        m->d[s] = NAME(settle)(m, d.a);
        return (NAME(solver)){1, 1, 1 / m->d[s], m->d[s] < 0};
    }
    const NAME(sd_pair) any = {0, 1, 0};
    if (!isfinite(d.a) || !isfinite(d.b) || !isfinite(d.c)) {
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
    const NAME(sd_pair_solver) p = NAME(sd_pair_solver_of)(d);
    return (NAME(solver)){p.x, p.y, p.t, NAME(sd_pair_negative)(d)};
}

/* The pivot d at position s: both kinds are computed, and one is looked up, as a choice would become a
 * branch. */
static inline NAME(solver) NAME(settle_pivot)(NAME(block) * m, int s, bool two, NAME(sd_pair) d)
{
    const real x = d.a / d.b, y = d.c / d.b, determinant = MATH(fma)(x, y, -1);
    const real pivot[2] = {d.a, d.b * determinant}, second[2] = {1, y}, beside[2] = {1, d.b};
    const bool finite =
        (MATH(fabs)(d.a) <= LARGEST) & (MATH(fabs)(d.b) <= LARGEST) & (MATH(fabs)(d.c) <= LARGEST);
    const real size = MATH(fabs)(pivot[two]); /* which may overflow though d does not */
    const bool large = (size >= m->bound) & (size <= LARGEST) & (MATH(fabs)(beside[two]) >= TINY);
    m->d[s] = d.a;
    m->d[s + 1] = d.c;
    m->e[s] = d.b;
    const bool hard = two & (m->small > 0), well = finite & large;
    if (__builtin_expect(hard | (well == 0), 0)) return NAME(settle_slowly)(m, s, two, d);
    const int one = two & (determinant < 0), others = (d.a < 0) << two;
    return (NAME(solver)){x, second[two], 1 / pivot[two], one | (others & (one - 1))};
}

/* The pivot of rows p and q, which are the same where it is 1x1, at position s; returns the position after
 * it. Without branches: a 1x1 pivot is a 2x2 one whose second column is 0. */
static inline int NAME(take_pivot)(NAME(block) * m, int s, int p, int q, NAME(symmetric) * w,
                                   sd_block_kernel kernel, const int V)
{
    const int ld = V * NAME(LANES);
    const bool two = p != q;
    real *first = m->a + p * ld, *second = m->a + q * ld;
    NAME(bring)(m, s, p);
    NAME(bring)(m, s + two, q);
    const NAME(solver) d = NAME(settle_pivot)(m, s, two, (NAME(sd_pair)){first[p], first[q], second[q]});
    const NAME(vec) x = NAME(all)(d.x), y = NAME(all)(d.y), t = NAME(all)(d.t);
    NAME(vec) l[2][MOST / NAME(LANES)];
    m->state.negative += (uint8_t)d.negative;
    m->state.pairs |= (uint32_t)two << s;
    m->rows &= ~(UINT32_C(1) << p | UINT32_C(1) << q);
    fetch_column(&m->next, s);
    fetch_column(&m->next, s + two);
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(lanes) left = NAME(lanes_of)(m->rows, v),
                          of_two = NAME(lanes_of)(m->rows & -(uint32_t)two, v);
        const NAME(vec) c = NAME(keep)(left, NAME(load)(first + v * NAME(LANES)));
        const NAME(vec) z = NAME(keep)(of_two, NAME(load)(second + v * NAME(LANES)));
        l[0][v] = t * NAME(plus_product)(-z, y, c);
        l[1][v] = t * NAME(keep)(of_two, NAME(plus_product)(-c, x, z));
        NAME(store)(w->c[0] + v * NAME(LANES), c);
        NAME(store)(w->c[1] + v * NAME(LANES), z);
    }
    UNROLL for (int v = 0; v < V; ++v) NAME(store)(second + v * NAME(LANES), l[1][v]);
    UNROLL for (int v = 0; v < V; ++v) NAME(store)(first + v * NAME(LANES), l[0][v]);
    NAME(subtract_pivot)(m, w, l, kernel, V);
    return s + 1 + two;
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

/* Bunch and Kaufman, Some stable methods for calculating inertia and solving symmetric linear systems.
 * Nothing here is foreseeable, so all is computed and no branch is taken. */
static inline NAME(choice) NAME(choose_bunch_kaufman)(const NAME(block) * m, int s, const int V)
{
    const real alpha = (real)SD_BLOCK_ALPHA;
    const int ld = V * NAME(LANES), k = m->row[s];
    const NAME(choice) in_place = {k, k};
    const uint32_t others = m->rows & ~(UINT32_C(1) << k);
    if (!others) return in_place;
    const int r = NAME(search_column)(m, k, others, V);
    const int q = NAME(search_column)(m, r, m->rows & ~(UINT32_C(1) << r), V);
    const real diagonal = MATH(fabs)(m->a[k * ld + k]), below = MATH(fabs)(m->a[k * ld + r]);
    const real other = MATH(fabs)(m->a[r * ld + r]), beside = MATH(fabs)(m->a[r * ld + q]);
    const int large = (diagonal >= alpha * below) | (diagonal >= alpha * below * (below / beside));
    const int stays = (below < TINY) | ((diagonal >= TINY) & large), both = !(other >= alpha * beside);
    const int row[2] = {r, k};
    return (NAME(choice)){row[stays | both], row[stays]};
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

static inline void NAME(start_complete)(NAME(block) * m, NAME(symmetric) * w, const int V)
{
    NAME(diagonal)(m, w->diagonal, V);
    w->best = NAME(no_leader)(m->rows, V);
    for (int j = 0; j < m->n; ++j) UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) x = NAME(load)(m->a + (j * V + v) * NAME(LANES));
            NAME(enter)(&w->best, NAME(keep)(NAME(lanes_of)(~(UINT32_C(1) << j), v), x), j, v);
        }
}

/* K blocks at once, each at a position of its own: their searches run side by side, then their eliminations.
 */
static inline void NAME(ldlt)(NAME(block) * m, int n, sd_block_kernel kernel, const int V, const int K)
{
    NAME(symmetric) w[FLIGHT];
    NAME(choice) c[FLIGHT];
    int at[FLIGHT] = {0}, left = K;
    if (kernel == SD_LDLT_COMPLETE)
        for (int k = 0; k < K; ++k) NAME(start_complete)(&m[k], &w[k], V);
    while (left > 0) {
        for (int k = 0; k < K; ++k) {
            if (at[k] >= n) continue;
            c[k] = kernel == SD_LDLT_STATIC          ? NAME(choose_static)(&m[k], at[k], V * NAME(LANES))
                   : kernel == SD_LDLT_BUNCH_KAUFMAN ? NAME(choose_bunch_kaufman)(&m[k], at[k], V)
                                                     : NAME(choose_complete)(&m[k], &w[k], V);
        }
        for (int k = 0; k < K; ++k) {
            if (at[k] >= n) continue;
            at[k] = NAME(take_pivot)(&m[k], at[k], c[k].p, c[k].q, &w[k], kernel, V);
            left -= at[k] >= n;
        }
    }
}
