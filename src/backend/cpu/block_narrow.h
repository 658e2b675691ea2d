/*
 * Blocks of up to NARROW rows, one a lane: LANES of them are eliminated at once, entry by entry, so that
 * nothing is folded across lanes and no block has work of its own. LDU with interchanges of rows, of 4 rows
 * also with those of rows and columns, and LL'.
 * Included once a precision by blocks.c, after block_factor.h's kernels.
 *
 * The operations on a block are those of block_elimination.h and block_symmetric.h, in the same order. A
 * block that wants more than these, because a pivot is small or something is not finite, is left to them.
 */

/* N, a constant wherever it is an argument, is n or more: what is beyond the block is that of the identity,
 * which leaves the block alone. */
typedef struct NAME(narrow) {
    NAME(vec) a[NARROW * NARROW];           /* entry (i, j) at i + j N */
    NAME(vec) given[NARROW * NARROW + 8];   /* at i + j n: of the block, then of the result */
    NAME(bits) row[NARROW], column[NARROW]; /* rows and columns by position */
    NAME(lanes) odd;                        /* blocks that are left to others */
} NAME(narrow);

/* The blocks at from[k] side by side. */
static inline void NAME(read_narrow)(const real *const *from, int n, NAME(narrow) * m, const int N)
{
    const int whole = n * n / NAME(TILE) * NAME(TILE);
    for (int k = 0; k < NAME(LANES); k += NAME(TILE))
        for (int e = 0; e < whole; e += NAME(TILE)) {
            const real *part[NAME(TILE)];
            UNROLL for (int c = 0; c < NAME(TILE); ++c) part[c] = from[k + c] + e;
            NAME(transpose_columns)(part, (real *)(m->given + e) + k, NAME(LANES));
        }
    for (int e = whole; e < n * n; ++e)
        for (int k = 0; k < NAME(LANES); ++k) m->given[e][k] = from[k][e];
    NAME(vec) zero[4] = {{0}};
    for (int j = 0; j < N; ++j) {
        m->row[j] = m->column[j] = NAME(all_bits)(j);
        UNROLL for (int i = 0; i < N; ++i)
        {
            const NAME(vec) x = i < n && j < n ? m->given[i + j * n] : NAME(all)(i == j);
            zero[i % 4] += x * NAME(all)(0);
            m->a[i + j * N] = x;
        }
    }
    m->odd = NAME(not_at_least)((zero[0] + zero[1]) + (zero[2] + zero[3]), NAME(all)(0));
}

/* The rows of the pivots of column s: lanes is where position i has it, for i from s on. */
static inline void NAME(search_narrow)(const NAME(narrow) * m, int s, const int N, NAME(lanes) * lanes)
{
#if SINGLE
    NAME(bits) top = NAME(all_bits)(0), best = NAME(all_bits)(NARROW);
    for (int i = s; i < N; ++i) {
        const NAME(bits) key = (NAME(bits))NAME(absolute)(m->a[i + s * N]), more = (NAME(bits))(key > top);
        top = (key & more) | (top & ~more);
    }
    for (int i = s; i < N; ++i) {
        const NAME(bits) equal = (NAME(bits))((NAME(bits))NAME(absolute)(m->a[i + s * N]) == top);
        const NAME(bits) lower = equal & (NAME(bits))(m->row[i] < best);
        best = (m->row[i] & lower) | (best & ~lower);
    }
    UNROLL for (int i = s; i < N; ++i) lanes[i] = NAME(equal_bits)(m->row[i], best);
#else
    NAME(vec) coded[NARROW], top = NAME(all)(0);
    UNROLL for (int i = s; i < N; ++i)
    {
        coded[i] = NAME(coded)(m->a[i + s * N], 63 - m->row[i]);
        top = NAME(top_coded)(coded[i], top);
    }
    UNROLL for (int i = s; i < N; ++i) lanes[i] = NAME(equal_bits)((NAME(bits))coded[i], (NAME(bits))top);
#endif
}

/* Exchanges positions s and, in each block, that of its pivot in a column; then takes multiples l of what
 * came to s from the rows below it, where there are any. Returns what came. */
static inline NAME(vec) NAME(change_narrow)(NAME(vec) * column, int s, const int N, const NAME(lanes) * lanes,
                                            const NAME(vec) * l)
{
    const NAME(vec) given = column[s];
    NAME(vec) x = given;
    UNROLL for (int i = s + 1; i < N; ++i) x = NAME(choose)(lanes[i], column[i], x);
    UNROLL for (int i = s + 1; i < N; ++i)
    {
        const NAME(vec) y = NAME(choose)(lanes[i], given, column[i]);
        column[i] = l ? NAME(minus_product)(y, l[i], x) : y;
    }
    return column[s] = x;
}

/* The pivot of all that is left, brought to column s; lanes as of search_narrow. */
static inline void NAME(search_both)(NAME(narrow) * m, int s, const int N, NAME(lanes) * lanes)
{
    const NAME(lanes) all = NAME(equal_bits)(m->row[0], m->row[0]);
    NAME(winner) best[2] = {NAME(no_winner)(), NAME(no_winner)()};
    UNROLL for (int j = s; j < N; ++j) UNROLL for (int i = s; i < N; ++i)
        NAME(compete)(&best[i % 2], m->a[i + j * N], ((63 - m->row[i]) << 6) | (63 - m->column[j]), all);
    NAME(unite)(&best[0], &best[1]);
    const NAME(bits) code = NAME(winning_code)(&best[0]), row = 63 - (code >> 6), column = 63 - (code & 63);
    UNROLL for (int i = s; i < N; ++i) lanes[i] = NAME(equal_bits)(m->row[i], row);
    UNROLL for (int j = s + 1; j < N; ++j)
    {
        const NAME(lanes) here = NAME(equal_bits)(m->column[j], column);
        UNROLL for (int i = 0; i < N; ++i)
        {
            const NAME(vec) x = m->a[i + s * N], y = m->a[i + j * N];
            m->a[i + s * N] = NAME(choose)(here, y, x);
            m->a[i + j * N] = NAME(choose)(here, x, y);
        }
        const NAME(bits) first = m->column[s];
        m->column[s] = NAME(choose_bits)(here, m->column[j], first);
        m->column[j] = NAME(choose_bits)(here, first, m->column[j]);
    }
}

static inline void NAME(eliminate_narrow)(NAME(narrow) * m, real bound, sd_block_kernel kernel, const int N)
{
    UNROLL for (int s = 0; s < N; ++s)
    {
        NAME(lanes) lanes[NARROW];
        NAME(vec) *pivots = m->a + s * N, l[NARROW];
        if (kernel == SD_LDU_FULL)
            NAME(search_both)(m, s, N, lanes);
        else
            NAME(search_narrow)(m, s, N, lanes);
        UNROLL for (int j = 0; j <= s; ++j) NAME(change_narrow)(m->a + j * N, s, N, lanes, NULL);
        NAME(vec) row[NARROW];
        UNROLL for (int i = s; i < N; ++i) row[i] = (NAME(vec))m->row[i];
        NAME(change_narrow)(row, s, N, lanes, NULL);
        UNROLL for (int i = s; i < N; ++i) m->row[i] = (NAME(bits))row[i];
        const NAME(vec) d = pivots[s], inverse = NAME(all)(1) / d;
        m->odd |= NAME(not_at_least)(NAME(absolute)(d), NAME(all)(bound));
        UNROLL for (int i = s + 1; i < N; ++i) pivots[i] = l[i] = pivots[i] * inverse;
        UNROLL for (int j = s + 1; j < N; ++j) m->a[s + j * N] =
            NAME(change_narrow)(m->a + j * N, s, N, lanes, l) * inverse;
    }
}

static inline void NAME(cholesky_narrow)(NAME(narrow) * m, const int N)
{
    for (int s = 0; s < N; ++s) {
        NAME(vec) *l = m->a + s * N;
        m->odd |= NAME(not_at_least)(l[s], NAME(all)(TINY));
        const NAME(vec) root = (NAME(vec))MM(sqrt)(l[s]), inverse = NAME(all)(1) / root;
        l[s] = root;
        for (int i = s + 1; i < N; ++i) l[i] = l[i] * inverse;
        for (int j = s + 1; j < N; ++j) {
            m->a[s + j * N] = l[j];
            for (int i = j; i < N; ++i) m->a[i + j * N] = NAME(minus_product)(m->a[i + j * N], l[i], l[j]);
        }
    }
}

/* The results one after the other, at every `stride`. */
static inline void NAME(unpack_narrow)(NAME(narrow) * m, int n, real *to, int stride, const int N)
{
    NAME(vec) zero[4] = {{0}};
    for (int j = 0; j < n; ++j) UNROLL for (int i = 0; i < N; ++i)
        {
            if (i >= n) continue;
            m->given[i + j * n] = m->a[i + j * N];
            zero[i % 4] += m->a[i + j * N] * NAME(all)(0);
        }
    m->odd |= NAME(not_at_least)((zero[0] + zero[1]) + (zero[2] + zero[3]), NAME(all)(0));
    for (int k = 0; k < NAME(LANES); k += NAME(TILE))
        for (int e = 0; e < n * n; e += NAME(TILE))
            NAME(transpose_tile)((const real *)(m->given + e) + k, NAME(LANES), to + k * stride + e, stride);
}

/* Writes the block of one lane, its order and its state. */
static inline void NAME(write_narrow)(const real *result, const NAME(narrow) * m, int k,
                                      const sd_block_job *job, sd_block_factors *f, int n, bool stream)
{
    real *to = (real *)f->data + job->entry;
    uint8_t row[NARROW], column[NARROW];
    const bool aligned = job->entry % NAME(LANES) == 0; /* not after blocks of other sizes */
    for (int e = 0; e < n * n; e += NAME(LANES)) {
        if (stream && aligned)
            MM(stream)(to + e, NAME(load)(result + e));
        else
            NAME(put)(to + e, NAME(load)(result + e), n * n - e);
    }
    for (int i = 0; i < NARROW; ++i) {
        row[i] = (uint8_t)((const NAME(integer) *)m->row)[i * NAME(LANES) + k];
        column[i] = (uint8_t)i;
    }
    for (int i = 0; i < 4 && f->kernel == SD_LDU_FULL; ++i)
        column[i] = (uint8_t)((const NAME(integer) *)m->column)[i * NAME(LANES) + k];
    memcpy(f->row + job->row, row, (size_t)n);
    memcpy(f->column + job->row, column, (size_t)n);
    f->state[job->block] = (sd_block_state){0};
}

/* Jobs first .. first + count), of n rows each. */
static inline void NAME(factor_narrow)(const NAME(factoring) * x, int32_t first, int32_t count, int n,
                                       const int N)
{
    enum { STRIDE = NARROW * NARROW + 8 };
    const real small = (real)x->rule->small, bound = small > TINY ? small : TINY;
    const bool stream = x->stream && n * n % NAME(LANES) == 0;
    _Alignas(64) real result[NAME(LANES) * STRIDE];
    NAME(narrow) m;
    for (int32_t done = 0; done < count; done += NAME(LANES)) {
        const sd_block_job *job = x->plan->job + first + done;
        const int left = count - done < NAME(LANES) ? count - done : NAME(LANES);
        const real *from[NAME(LANES)];
        for (int k = 0; k < NAME(LANES); ++k) from[k] = x->from + job[k < left ? k : left - 1].entry;
        NAME(read_narrow)(from, n, &m, N);
        for (int k = 0; k < NAME(LANES) && left + k < count - done; ++k) {
            const ahead next = {(const char *)(x->from + job[left + k].entry),
                                sizeof(real) * (size_t)(n * n)};
            fetch_column(&next, 0);
        }
        if (x->rule->kernel == SD_LLT)
            NAME(cholesky_narrow)(&m, N);
        else if (N == 4 && x->rule->kernel == SD_LDU_FULL)
            NAME(eliminate_narrow)(&m, bound, SD_LDU_FULL, N);
        else
            NAME(eliminate_narrow)(&m, bound, SD_LDU_PARTIAL, N);
        NAME(unpack_narrow)(&m, n, result, STRIDE, N);
        const uint32_t odd = NAME(bits_of)(m.odd);
        for (int k = 0; k < left; ++k) {
            if (odd >> k & 1)
                NAME(factor_8)(x, first + done + k, 1, n);
            else
                NAME(write_narrow)
            (result + k * STRIDE, &m, k, &job[k], x->f, n, stream);
        }
    }
}

static __attribute__((noinline, flatten)) void NAME(factor_lanes)(const NAME(factoring) * x, int32_t first,
                                                                  int32_t count, int n)
{
    if (n == 4)
        NAME(factor_narrow)(x, first, count, 4, 4);
    else if (n == 8)
        NAME(factor_narrow)(x, first, count, 8, 8);
    else if (n < 4)
        NAME(factor_narrow)(x, first, count, n, 4);
    else
        NAME(factor_narrow)(x, first, count, n, 8);
}
