/*
 * Blocks without symmetry in their elimination, by columns: LDU without and with interchanges of rows, and
 * Gauss-Jordan. Included once a precision by blocks.c.
 *
 * Rows stay where they are: a row that has been a pivot leaves `rows`, the multipliers of a column are 0 in
 * the rows that it does not change, and the order of the pivots is applied when the result is written. Two
 * pivots are found before the other columns are touched, so that these are read and written half as often;
 * every entry still sees the pivots one after the other.
 */

/* Two columns of multipliers, and the rows of their pivots. */
typedef struct NAME(step) {
    NAME(vec) l[2][MOST / NAME(LANES)];
    int p[2];
    real between; /* the first multiplier of the second pivot's row */
} NAME(step);

/* The pivots of column s in K blocks, which the searches of all find side by side. */
static inline void NAME(find_pivots)(const NAME(block) * m, int s, sd_block_kernel kernel, int *p,
                                     const int V, const int K)
{
    UNROLL for (int k = 0; k < K; ++k)
    {
        NAME(vec) c[MOST / NAME(LANES)];
        UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(load)(m[k].a + (s * V + v) * NAME(LANES));
        p[k] = kernel == SD_LDU ? s : NAME(search)(c, m[k].rows, V);
    }
}

/* Takes row p for the pivot of column s, whose entries are c: makes the multipliers of the other rows. */
static inline void NAME(pivot)(NAME(block) * m, int s, int p, const NAME(vec) * c, NAME(step) * t, int which,
                               sd_block_kernel kernel, const int V)
{
    const real d = NAME(settle)(m, m->a[s * V * NAME(LANES) + p]), inverse = 1 / d;
    m->d[s] = d;
    m->inverse[s] = inverse;
    m->row[s] = t->p[which] = p;
    m->rows &= ~(UINT32_C(1) << p);
    const uint32_t others = kernel == SD_JORDAN ? ~(UINT32_C(1) << p) : m->rows;
    const NAME(vec) factor = NAME(all)(inverse);
    UNROLL for (int v = 0; v < V; ++v) t->l[which][v] = NAME(keep)(NAME(lanes_of)(others, v), c[v] * factor);
}

/* c - l u */
static inline void NAME(eliminate)(NAME(vec) * c, const NAME(vec) * l, real u, const int V)
{
    UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(minus_product)(c[v], l[v], NAME(all)(u));
}

/* Column s of LDU keeps what its earlier pivots left; that of the inverse becomes -l, and 1 in row p. */
static inline void NAME(finish_column)(real *column, const NAME(vec) * c, const NAME(vec) * l, uint32_t rows,
                                       int p, sd_block_kernel kernel, const int V)
{
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(vec) x = kernel == SD_JORDAN
                                ? NAME(choose)(NAME(lanes_of)(UINT32_C(1) << p, v), NAME(all)(1), -l[v])
                                : NAME(choose)(NAME(lanes_of)(rows, v), l[v], c[v]);
        NAME(store)(column + v * NAME(LANES), x);
    }
}

/* The pivot p of column s, which is taken from column s + 1 at once; a second that would have no effect. */
static inline void NAME(first_pivot)(NAME(block) * m, int s, int p, NAME(step) * t, sd_block_kernel kernel,
                                     const int V)
{
    enum { ALL = MOST / NAME(LANES) };
    const int ld = V * NAME(LANES);
    real *first = m->a + s * ld, *second = first + ld;
    NAME(vec) c[ALL], z[ALL];
    fetch_column(&m->next, s);
    UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(load)(first + v * NAME(LANES));
    NAME(pivot)(m, s, p, c, t, 0, kernel, V);
    NAME(finish_column)(first, c, t->l[0], m->rows, p, kernel, V);
    t->p[1] = p;
    t->between = 0;
    UNROLL for (int v = 0; v < V; ++v) t->l[1][v] = NAME(all)(0);
    if (s + 1 == m->n) return;
    UNROLL for (int v = 0; v < V; ++v) z[v] = NAME(load)(second + v * NAME(LANES));
    NAME(eliminate)(z, t->l[0], second[p], V);
    UNROLL for (int v = 0; v < V; ++v) NAME(store)(second + v * NAME(LANES), z[v]);
}

/* The pivot p of column s + 1. */
static inline void NAME(second_pivot)(NAME(block) * m, int s, int p, NAME(step) * t, sd_block_kernel kernel,
                                      const int V)
{
    const int ld = V * NAME(LANES);
    real *first = m->a + s * ld, *second = first + ld;
    NAME(vec) c[MOST / NAME(LANES)], z[MOST / NAME(LANES)];
    fetch_column(&m->next, s + 1);
    UNROLL for (int v = 0; v < V; ++v) z[v] = NAME(load)(second + v * NAME(LANES));
    NAME(pivot)(m, s + 1, p, z, t, 1, kernel, V);
    NAME(finish_column)(second, z, t->l[1], m->rows, p, kernel, V);
    t->between = first[p];
    if (kernel != SD_JORDAN) return;
    UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(load)(first + v * NAME(LANES));
    NAME(eliminate)(c, t->l[1], t->between, V);
    UNROLL for (int v = 0; v < V; ++v) NAME(store)(first + v * NAME(LANES), c[v]);
    t->between = -t->between;
}

/* The pivots of columns s and s + 1 of K blocks; of s alone where it is the last. */
static inline void NAME(two_pivots)(NAME(block) * m, int s, int n, NAME(step) * t, sd_block_kernel kernel,
                                    const int V, const int K)
{
    int p[FLIGHT];
    NAME(find_pivots)(m, s, kernel, p, V, K);
    UNROLL for (int k = 0; k < K; ++k) NAME(first_pivot)(&m[k], s, p[k], &t[k], kernel, V);
    if (s + 1 == n) return;
    NAME(find_pivots)(m, s + 1, kernel, p, V, K);
    UNROLL for (int k = 0; k < K; ++k) NAME(second_pivot)(&m[k], s, p[k], &t[k], kernel, V);
}

/* Both pivots' multiples from columns first .. last). */
static inline void NAME(sweep)(NAME(block) * m, int first, int last, const NAME(step) * t, const int V)
{
    const int ld = V * NAME(LANES);
    for (int j = first; j < last; ++j) {
        real *column = m->a + j * ld;
        const NAME(vec) u = NAME(all)(column[t->p[0]]);
        const NAME(vec) w = NAME(minus_product)(NAME(all)(column[t->p[1]]), NAME(all)(t->between), u);
        UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) x = NAME(minus_product)(NAME(load)(column + v * NAME(LANES)), t->l[0][v], u);
            NAME(store)(column + v * NAME(LANES), NAME(minus_product)(x, t->l[1][v], w));
        }
    }
}

/* K blocks of the same size at once. The columns of the next two pivots go before the others: their searches
 * then run beside the sweeps, of this block and of its neighbours. */
static inline void NAME(eliminate_rows)(NAME(block) * m, int n, sd_block_kernel kernel, const int V,
                                        const int K)
{
    NAME(step) t[FLIGHT], next[FLIGHT];
    NAME(two_pivots)(m, 0, n, t, kernel, V, K);
    int s = 0;
    for (; s + 2 < n; s += 2) {
        const int near = s + 4 < n ? s + 4 : n;
        UNROLL for (int k = 0; k < K; ++k) NAME(sweep)(&m[k], s + 2, near, &t[k], V);
        NAME(two_pivots)(m, s + 2, n, next, kernel, V, K);
        UNROLL for (int k = 0; k < K; ++k)
        {
            NAME(sweep)(&m[k], near, n, &t[k], V);
            if (kernel == SD_JORDAN) NAME(sweep)(&m[k], 0, s, &t[k], V);
            t[k] = next[k];
        }
    }
    UNROLL for (int k = 0; k < K && kernel == SD_JORDAN; ++k) NAME(sweep)(&m[k], 0, s, &t[k], V);
}

/* The largest of what is left: packed or not, see NAME(search). */
typedef struct NAME(leader) {
    NAME(vec) key[MOST / NAME(LANES)];
#if SINGLE
    NAME(vec) column[MOST / NAME(LANES)];
#endif
} NAME(leader);

/* Takes vector v of column j, which comes after all lower columns, into the search. */
static inline void NAME(enter)(NAME(leader) * best, NAME(vec) a, int j, int v)
{
#if SINGLE
    const NAME(vec) key = NAME(absolute)(a);
#if defined(__AVX512F__)
    const NAME(lanes) more = CMP_MASK(key, best->key[v], _CMP_GT_OQ);
#else
    const NAME(lanes) more = (NAME(bits))(key > best->key[v]);
#endif
    best->column[v] = NAME(choose)(more, NAME(all)((real)j), best->column[v]);
    best->key[v] = NAME(larger)(key, best->key[v]);
#else
    best->key[v] = NAME(top_coded)(NAME(coded)(a, NAME(all_bits)(63 - j)), best->key[v]);
#endif
}

/* Ends the search: the row among `rows`, its lowest column in *column. */
static inline int NAME(leave)(const NAME(leader) * best, uint32_t rows, int *column, const int V)
{
#if SINGLE
    real of[MOST];
    UNROLL for (int v = 0; v < V; ++v) NAME(store)(of + v * NAME(LANES), best->column[v]);
    const int p = NAME(search)(best->key, rows, V);
    *column = (int)of[p];
    return p;
#else
    NAME(vec) top = {0};
    NAME(bits) code;
    for (int l = 0; l < NAME(LANES); ++l) code[l] = (63 - l) * 64;
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(vec) coded = (NAME(vec))((NAME(bits))best->key[v] | (code - v * NAME(LANES) * 64));
        top = NAME(top_coded)(NAME(keep)(NAME(lanes_of)(rows, v), coded), top);
    }
    const int found = NAME(top_code)(top);
    *column = 63 - found % 64;
    return 63 - found / 64;
#endif
}

static inline NAME(leader) NAME(no_leader)(uint32_t columns, const int V)
{
    NAME(leader) best;
    UNROLL for (int v = 0; v < V; ++v)
    {
        best.key[v] = NAME(all)(0);
#if SINGLE
        best.column[v] = NAME(all)((real)__builtin_ctz(columns));
#endif
    }
    (void)columns;
    return best;
}

/* The first search over a whole block. */
static inline void NAME(first_leader)(NAME(block) * m, NAME(leader) * best, const int V)
{
    *best = NAME(no_leader)(m->rows, V);
    for (int j = 0; j < m->n; ++j)
        UNROLL for (int v = 0; v < V; ++v)
            NAME(enter)(best, NAME(load)(m->a + (j * V + v) * NAME(LANES)), j, v);
}

/* One step of LDU with interchanges of rows and columns: columns stay where they are, as rows do. */
static inline void NAME(full_step)(NAME(block) * m, int s, uint32_t *columns, NAME(leader) * best,
                                   const int V)
{
    enum { ALL = MOST / NAME(LANES) };
    const int ld = V * NAME(LANES);
    NAME(vec) c[ALL], l[ALL];
    int q;
    fetch_column(&m->next, s);
    const int p = NAME(leave)(best, m->rows, &q, V);
    real *pivots = m->a + q * ld;
    const real d = NAME(settle)(m, pivots[p]), inverse = 1 / d;
    m->d[s] = d;
    m->inverse[s] = inverse;
    m->row[s] = p;
    m->column[s] = q;
    m->rows &= ~(UINT32_C(1) << p);
    *columns &= ~(UINT32_C(1) << q);
    if (!*columns) return;
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(lanes) left = NAME(lanes_of)(m->rows, v);
        c[v] = NAME(load)(pivots + v * NAME(LANES));
        l[v] = NAME(keep)(left, c[v] * NAME(all)(inverse));
        NAME(store)(pivots + v * NAME(LANES), NAME(choose)(left, l[v], c[v]));
    }
    *best = NAME(no_leader)(*columns, V);
    for (uint32_t left = *columns; left; left &= left - 1) {
        const int j = __builtin_ctz(left);
        real *column = m->a + j * ld;
        const NAME(vec) u = NAME(all)(column[p]);
        UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) x = NAME(minus_product)(NAME(load)(column + v * NAME(LANES)), l[v], u);
            NAME(store)(column + v * NAME(LANES), x);
            NAME(enter)(best, x, j, v);
        }
    }
}

static inline void NAME(eliminate_both)(NAME(block) * m, int n, const int V, const int K)
{
    NAME(leader) best[FLIGHT];
    uint32_t columns[FLIGHT];
    for (int k = 0; k < K; ++k) {
        columns[k] = m[k].rows;
        NAME(first_leader)(&m[k], &best[k], V);
    }
    for (int s = 0; s < n; ++s)
        for (int k = 0; k < K; ++k) NAME(full_step)(&m[k], s, &columns[k], &best[k], V);
}
