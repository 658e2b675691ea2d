/*
 * A block at work, in the first cache: read from the batch, written back in the order of its pivots. Included
 * once a precision by blocks.c, before the kernels.
 *
 * Its columns (or rows, of Gauss-Huard) are V vectors each, with 0 beyond the block.
 */

typedef struct NAME(block) {
    _Alignas(64) real a[MOST * MOST + 64];         /* further on: loads of whole vectors stay inside */
    _Alignas(64) real b[MOST * MOST + 64];         /* what is written */
    _Alignas(64) real d[MOST + 16], inverse[MOST]; /* pivots by position, and their reciprocals */
    _Alignas(64) real e[MOST];                     /* of a 2x2 pivot: its entry beside the diagonal */
    _Alignas(64) int32_t row[MOST], column[MOST];  /* rows and columns by position */
    int32_t place[MOST];                           /* of LDL': positions of rows */
    uint32_t rows;                                 /* rows that have been no pivot yet, as bits */
    int n, status;
    ahead next;        /* what the block after this one will be read from */
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

/* Whether sums of 0 times some numbers say that these were finite. */
static inline bool NAME(is_finite)(const NAME(vec) * odd, const int V)
{
    NAME(vec) sum = odd[0];
    UNROLL for (int v = 1; v < V; ++v) sum += odd[v];
    return NAME(all_at_most)(sum, 0);
}

/* Takes in a block of n rows. One multiply a vector shows what is not finite: 0 times it is NaN. */
static inline void NAME(read_block)(const real *from, int n, const sd_block_rule *rule, NAME(block) * m,
                                    const int V)
{
    const int ld = V * NAME(LANES);
    const bool moved =
        rule->kernel <= SD_LDU_FULL || (rule->kernel >= SD_LDLT_STATIC && rule->kernel <= SD_LDLT_COMPLETE);
    const bool by_rows = rule->kernel >= SD_HUARD;
    NAME(vec) odd[MOST / NAME(LANES)];
    real *to = by_rows ? m->b : m->a;
    UNROLL for (int v = 0; v < V; ++v) odd[v] = NAME(all)(0);
    for (int j = 0; j < n; ++j) UNROLL for (int v = 0; v < V; ++v)
        {
            const int left = n - v * NAME(LANES);
            const NAME(vec) x = left > 0 ? NAME(get)(from + j * n + v * NAME(LANES), left) : NAME(all)(0);
            odd[v] += x * NAME(all)(0);
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
    m->status = NAME(is_finite)(odd, V) ? SD_BLOCK_OK : SD_BLOCK_NOT_FINITE;
    m->state = (sd_block_state){0};
    m->small = moved ? (real)rule->small : 0;
    m->bound = m->small > TINY ? m->small : TINY;
    for (int i = 0; i < ld; ++i) m->row[i] = m->column[i] = m->place[i] = i;
}

/* Where a result goes: n rows at every `stride`, past the caches or not. */
typedef struct NAME(output) {
    real *to;
    int stride;
    bool stream;
} NAME(output);

static inline void NAME(emit)(const NAME(output) o, int j, const NAME(vec) * x, int n, const int V)
{
    real *to = o.to + j * o.stride;
#ifdef MM
    if (o.stream) {
        UNROLL for (int v = 0; v < V; ++v) MM(stream)(to + v * NAME(LANES), x[v]);
        return;
    }
#endif
    UNROLL for (int v = 0; v < V; ++v) if (n > v * NAME(LANES))
        NAME(put)(to + v * NAME(LANES), x[v], n - v * NAME(LANES));
}

/* Column t of LDU, U scaled by the pivots; or of the inverse, whose rows are scaled so late. Whether all is
 * finite. */
static inline bool NAME(order_columns)(const NAME(block) * m, int n, sd_block_kernel kernel,
                                       const NAME(output) o, const int V)
{
    enum { ALL = MOST / NAME(LANES) };
    const int ld = V * NAME(LANES);
    const NAME(order) order = NAME(order_of)(m->row, V);
    NAME(vec) odd[ALL], inverse[ALL], d[ALL];
    UNROLL for (int v = 0; v < V; ++v)
    {
        odd[v] = NAME(all)(0);
        inverse[v] = NAME(load)(m->inverse + v * NAME(LANES));
        d[v] = NAME(load)(m->d + v * NAME(LANES));
    }
    for (int t = 0; t < n; ++t) {
        const real *column = m->a + (kernel == SD_LDU_FULL ? m->column[t] : t) * ld;
        const uint32_t one = UINT32_C(1) << t, above = kernel == SD_JORDAN ? UINT32_MAX : one - 1;
        NAME(vec) x[ALL];
        UNROLL for (int v = 0; v < V; ++v)
        {
            x[v] = NAME(ordered)(column, &order, v, V);
            x[v] = NAME(choose)(NAME(lanes_of)(above, v), x[v] * inverse[v], x[v]);
            if (kernel != SD_JORDAN) x[v] = NAME(choose)(NAME(lanes_of)(one, v), d[v], x[v]);
            odd[v] += x[v] * NAME(all)(0);
        }
        NAME(emit)(o, kernel == SD_JORDAN ? m->row[t] : t, x, n, V);
    }
    return NAME(is_finite)(odd, V);
}

/* L, D and L' of a symmetric block. */
static inline void NAME(order_both)(NAME(block) * m, int n, const int V)
{
    const int ld = V * NAME(LANES);
    const NAME(order) order = NAME(order_of)(m->row, V);
    for (int t = 0; t < n; ++t) {
        const real *column = m->a + m->row[t] * ld;
        NAME(vec) x[MOST / NAME(LANES)];
        UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) d = NAME(load)(m->d + v * NAME(LANES));
            x[v] = NAME(choose)(NAME(lanes_of)(UINT32_C(1) << t, v), d, NAME(ordered)(column, &order, v, V));
        }
        UNROLL for (int v = 0; v < V; ++v) NAME(store)(m->b + t * ld + v * NAME(LANES), x[v]);
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

/* Copies a result from the work to where it goes, which may be nowhere. Whether all is finite. */
static inline bool NAME(copy_out)(const real *result, int n, const NAME(output) o, const int V)
{
    NAME(vec) odd[MOST / NAME(LANES)], x[MOST / NAME(LANES)];
    UNROLL for (int v = 0; v < V; ++v) odd[v] = NAME(all)(0);
    for (int j = 0; j < n; ++j) {
        UNROLL for (int v = 0; v < V; ++v)
        {
            x[v] = NAME(load)(result + (j * V + v) * NAME(LANES));
            odd[v] += x[v] * NAME(all)(0);
        }
        if (o.to) NAME(emit)(o, j, x, n, V);
    }
    return NAME(is_finite)(odd, V);
}

/* Writes the result of a block in its order, or what replaces it. Where it takes the place of the block, that
 * is first known to be good. */
static inline void NAME(write_block)(NAME(block) * m, const real *from, real *to, int n,
                                     sd_block_kernel kernel, bool stream, const int V)
{
    const bool apart = from != to;
    const NAME(output) there = {to, n, stream}, here = {m->b, V * NAME(LANES), false}, nowhere = {0};
    const real *result = kernel >= SD_HUARD ? m->a : m->b;
    bool finite;
    if (sd_block_symmetric(kernel) || kernel >= SD_HUARD) {
        if (sd_block_symmetric(kernel))
            NAME(order_both)(m, n, V);
        else
            NAME(order_rows)(m, n, kernel, V);
        finite = NAME(copy_out)(result, n, apart ? there : nowhere, V);
    } else {
        finite = NAME(order_columns)(m, n, kernel, apart ? there : here, V);
    }
    if (!finite) NAME(fail)(m, SD_BLOCK_NOT_FINITE);
    if (m->status)
        NAME(replace)(m, from, to, kernel);
    else if (!apart)
        NAME(copy_out)(result, n, there, V);
}
