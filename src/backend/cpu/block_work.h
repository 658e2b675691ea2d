/*
 * A block at work, in the first cache: read from the batch, written back in the order of its pivots. Included
 * once a precision by blocks.c, before the kernels.
 *
 * Its columns (or rows, of Gauss-Huard) are V vectors each, with 0 beyond the block.
 */

typedef struct NAME(block) {
    _Alignas(64) real a[MOST * MOST + 64];        /* further on: loads of whole vectors stay inside */
    _Alignas(64) real b[MOST * MOST + 64];        /* what is written */
    _Alignas(64) real d[MOST], inverse[MOST];     /* pivots by position, and their reciprocals */
    _Alignas(64) real e[MOST];                    /* of a 2x2 pivot: its entry beside the diagonal */
    _Alignas(64) int32_t row[MOST], column[MOST]; /* rows and columns by position */
    int32_t place[MOST];                          /* of LDL': positions of rows */
    uint32_t rows;                                /* rows that have been no pivot yet, as bits */
    int n, status;
    real small, bound; /* pivots below bound want attention */
    sd_block_state state;
} NAME(block);

/* The first failure is the one that is told. */
static inline void NAME(fail)(NAME(block) * m, int status)
{
    if (!m->status) m->status = status;
}

/* A 1x1 pivot that is too small or not finite: moved away from 0, or 1 in a block that has failed. */
static __attribute__((noinline, cold)) real NAME(settle_hard)(NAME(block) * m, real d)
{
    if (!isfinite(d)) {
        NAME(fail)(m, SD_BLOCK_NOT_FINITE);
        return 1;
    }
    if (MATH(fabs)(d) < m->small) {
        d = d < 0 ? -m->small : m->small;
        ++m->state.perturbed;
    }
    if (MATH(fabs)(d) >= TINY) return d;
    NAME(fail)(m, SD_BLOCK_SINGULAR);
    return 1;
}

static inline real NAME(settle)(NAME(block) * m, real d)
{
    const real size = MATH(fabs)(d);
    return __builtin_expect(size >= m->bound && size <= LARGEST, 1) ? d : NAME(settle_hard)(m, d);
}

/* Takes in a block of n rows. One multiply a vector shows what is not finite: 0 times it is NaN. */
static inline void NAME(read_block)(const real *from, int n, const sd_block_rule *rule, NAME(block) * m,
                                    const int V)
{
    const int ld = V * NAME(LANES);
    const bool moved =
        rule->kernel <= SD_LDU_FULL || (rule->kernel >= SD_LDLT_STATIC && rule->kernel <= SD_LDLT_COMPLETE);
    const bool by_rows = rule->kernel >= SD_HUARD;
    NAME(vec) odd = {0};
    real *to = by_rows ? m->b : m->a;
    for (int j = 0; j < n; ++j) UNROLL for (int v = 0; v < V; ++v)
        {
            const int left = n - v * NAME(LANES);
            const NAME(vec) x = left > 0 ? NAME(get)(from + j * n + v * NAME(LANES), left) : NAME(all)(0);
            odd += x * NAME(all)(0);
            NAME(store)(to + j * ld + v * NAME(LANES), x);
        }
    if (by_rows) {
        memset(m->b + n * ld, 0, sizeof(real) * (size_t)((ld - n) * ld));
        NAME(transpose)(m->b, m->a, ld, n, ld);
    }
    UNROLL for (int v = 0; v < V; ++v)
    {
        NAME(store)(m->d + v * NAME(LANES), NAME(all)(0));
        NAME(store)(m->inverse + v * NAME(LANES), NAME(all)(0));
    }
    m->n = n;
    m->rows = UINT32_MAX >> (MOST - n);
    m->status = NAME(all_at_most)(odd, 0) ? SD_BLOCK_OK : SD_BLOCK_NOT_FINITE;
    m->state = (sd_block_state){0};
    m->small = moved ? (real)rule->small : 0;
    m->bound = m->small > TINY ? m->small : TINY;
    for (int i = 0; i < ld; ++i) m->row[i] = m->column[i] = m->place[i] = i;
}

/* Column t of LDU, U scaled by the pivots; or of the inverse, whose rows are scaled so late. */
static inline void NAME(order_columns)(NAME(block) * m, int n, sd_block_kernel kernel, const int V)
{
    const int ld = V * NAME(LANES);
    const NAME(order) order = NAME(order_of)(m->row, V);
    for (int t = 0; t < n; ++t) {
        const real *column = m->a + (kernel == SD_LDU_FULL ? m->column[t] : t) * ld;
        real *to = m->b + (kernel == SD_JORDAN ? m->row[t] : t) * ld;
        const uint32_t above = kernel == SD_JORDAN ? UINT32_MAX : (UINT32_C(1) << t) - 1;
        UNROLL for (int v = 0; v < V; ++v)
        {
            NAME(vec) x = NAME(ordered)(column, &order, v, V);
            x = NAME(choose)(NAME(lanes_of)(above, v), x * NAME(load)(m->inverse + v * NAME(LANES)), x);
            if (kernel != SD_JORDAN)
                x = NAME(choose)(NAME(lanes_of)(UINT32_C(1) << t, v), NAME(load)(m->d + v * NAME(LANES)), x);
            NAME(store)(to + v * NAME(LANES), x);
        }
    }
}

/* L, D and L' of a symmetric block. */
static inline void NAME(order_both)(NAME(block) * m, int n, const int V)
{
    const int ld = V * NAME(LANES);
    const NAME(order) order = NAME(order_of)(m->row, V);
    for (int t = 0; t < n; ++t) {
        const real *column = m->a + m->row[t] * ld;
        UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) x = NAME(ordered)(column, &order, v, V), d = NAME(load)(m->d + v * NAME(LANES));
            NAME(store)
            (m->b + t * ld + v * NAME(LANES), NAME(choose)(NAME(lanes_of)(UINT32_C(1) << t, v), d, x));
        }
        if (m->state.pairs >> t & 1) m->b[t * ld + t + 1] = m->e[t];
    }
    NAME(mirror)(m->b, n, ld);
}

/* The rows of Gauss-Huard as columns; what is above the diagonal about the anti-diagonal if so wanted: column
 * n - 1 - i has row i from its end. */
static inline void NAME(order_rows)(NAME(block) * m, int n, sd_block_kernel kernel, const int V)
{
    const int ld = V * NAME(LANES);
    NAME(order) order = NAME(order_of)(m->column, V);
    for (int i = 0; i < n; ++i)
        UNROLL for (int v = 0; v < V; ++v)
            NAME(store)(m->b + i * ld + v * NAME(LANES), NAME(ordered)(m->a + i * ld, &order, v, V));
    if (kernel == SD_HUARD) {
        NAME(transpose)(m->b, m->a, ld, n, ld); /* its rows beyond n are 0 */
        return;
    }
    _Alignas(64) int32_t reversed[MOST];
    for (int i = 0; i < ld; ++i) reversed[i] = i < n ? n - 1 - i : i;
    _Alignas(64) real columns[MOST * MOST];
    NAME(transpose)(m->b, columns, ld, n, ld);
    order = NAME(order_of)(reversed, V);
    for (int j = 0; j < n; ++j) UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) below = NAME(load)(columns + j * ld + v * NAME(LANES));
            const NAME(vec) x = NAME(ordered)(m->b + (n - 1 - j) * ld, &order, v, V);
            NAME(store)
            (m->a + j * ld + v * NAME(LANES),
             NAME(choose)(NAME(lanes_of)((UINT32_C(1) << j) - 1, v), x, below));
        }
}

/* The scaled identity in place of a block: `from` still has the block. */
static __attribute__((noinline, cold)) void NAME(replace)(NAME(block) * m, const real *from, real *to,
                                                          sd_block_kernel kernel)
{
    const int n = m->n, status = m->status;
    real most = 0;
    bool finite = true;
    for (int k = 0; k < n * n; ++k) {
        finite = finite && isfinite(from[k]);
        if (MATH(fabs)(from[k]) > most) most = MATH(fabs)(from[k]);
    }
    if (!finite || most < TINY) most = 1;
    const real diagonal = kernel == SD_JORDAN                             ? 1 / most
                          : kernel == SD_LLT || kernel == SD_LLT_DIAGONAL ? MATH(sqrt)(most)
                                                                          : most;
    for (int k = 0; k < n * n; ++k) to[k] = k % (n + 1) == 0 ? diagonal : 0;
    m->state = (sd_block_state){.status = (uint8_t)(finite ? status : SD_BLOCK_NOT_FINITE)};
    for (int i = 0; i < n; ++i) m->row[i] = m->column[i] = i;
}

/* Writes what stands in `a` or `b` of the work, or a replacement of it. */
static inline void NAME(write_block)(NAME(block) * m, const real *from, real *to, int n,
                                     sd_block_kernel kernel, const int V)
{
    const int ld = V * NAME(LANES);
    const real *result = kernel >= SD_HUARD ? m->a : m->b;
    NAME(vec) odd = {0};
    for (int j = 0; j < n; ++j)
        UNROLL for (int v = 0; v < V; ++v) odd +=
            NAME(load)(result + j * ld + v * NAME(LANES)) * NAME(all)(0);
    if (!NAME(all_at_most)(odd, 0)) NAME(fail)(m, SD_BLOCK_NOT_FINITE);
    if (m->status) {
        NAME(replace)(m, from, to, kernel);
        return;
    }
    for (int j = 0; j < n; ++j) UNROLL for (int v = 0; v < V; ++v)
        {
            const int left = n - v * NAME(LANES);
            if (left > 0)
                NAME(put)(to + j * n + v * NAME(LANES), NAME(load)(result + j * ld + v * NAME(LANES)), left);
        }
}
