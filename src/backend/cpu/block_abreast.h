/*
 * Symmetric blocks abreast, one a lane: LANES of them are eliminated at once, entry by entry, so that nothing
 * is folded across lanes and no block waits for its own searches and divisions. Included once a precision by
 * blocks.c, before the kernels that work so.
 *
 * A group holds the lower triangles: entry (i, j), i >= j, of all blocks is vector place(n, i, j). A block
 * that wants more than these kernels do, because a pivot is small or something is not finite, is `odd` and
 * left to those of block_factor.h, whatever its neighbours are; where fewer blocks are left than there are
 * lanes, the last one is in several and written once. So a block's result is that of its lane.
 */

enum { NAME(BYTES) = (int)sizeof(real) }; /* rows whose numbers fit into a lane, a byte each */

typedef struct NAME(abreast) {
    NAME(vec) a[MOST * (MOST + 1) / 2 + 8];         /* columns are read in tiles, which end beyond the last */
    NAME(vec) c[MOST], l[MOST], second[MOST];       /* of a step: its column, its multipliers, the next ones */
    NAME(vec) across[MOST];                         /* a row of what is left */
    NAME(bits) row[MOST], order[MOST / NAME(BYTES)]; /* rows by position; packed */
    NAME(bits) pairs, negative;                     /* of the state */
    NAME(lanes) odd;
    const char *next[NAME(LANES)]; /* blocks of the next group, read ahead */
} NAME(abreast);

/* Lanes where a is at least b. */
static inline NAME(lanes) NAME(at_least)(NAME(vec) a, NAME(vec) b)
{
#if defined(__AVX512F__)
    return CMP_MASK(a, b, _CMP_GE_OQ);
#else
    return (NAME(bits))(a >= b);
#endif
}

/* Lanes where a is not at least b, or NaN. */
static inline NAME(lanes) NAME(not_at_least)(NAME(vec) a, NAME(vec) b)
{
#if defined(__AVX512F__)
    return CMP_MASK(a, b, _CMP_NGE_UQ);
#else
    return ~(NAME(bits))(a >= b);
#endif
}

static inline NAME(lanes) NAME(equal_bits)(NAME(bits) a, NAME(bits) b)
{
#if defined(__AVX512F__) && SINGLE
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
#elif defined(__AVX512F__)
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
#else
    return (NAME(bits))(a == b);
#endif
}

static inline NAME(lanes) NAME(greater_bits)(NAME(bits) a, NAME(bits) b)
{
#if defined(__AVX512F__) && SINGLE
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
#elif defined(__AVX512F__)
    return _mm512_cmpgt_epi64_mask((__m512i)a, (__m512i)b);
#else
    return (NAME(bits))(a > b);
#endif
}

static inline uint32_t NAME(bits_of)(NAME(lanes) lanes)
{
#if defined(__AVX512F__)
    return lanes;
#else
    return (uint32_t)MM(movemask)((NAME(vec))lanes);
#endif
}

static inline NAME(bits) NAME(choose_bits)(NAME(lanes) lanes, NAME(bits) a, NAME(bits) b)
{
    return (NAME(bits))NAME(choose)(lanes, (NAME(vec))a, (NAME(vec))b);
}

static inline NAME(bits) NAME(keep_bits)(NAME(lanes) lanes, NAME(bits) a)
{
    return (NAME(bits))NAME(keep)(lanes, (NAME(vec))a);
}

/* Lane k of vector at[k]. */
static inline NAME(vec) NAME(gather)(const NAME(vec) * from, NAME(bits) at)
{
    NAME(bits) lane;
    for (int l = 0; l < NAME(LANES); ++l) lane[l] = l;
    const NAME(bits) from_lane = at * NAME(LANES) + lane;
#if defined(__AVX512F__) && SINGLE
    return (NAME(vec))_mm512_i32gather_ps((__m512i)from_lane, from, 4);
#elif defined(__AVX512F__)
    return (NAME(vec))_mm512_i64gather_pd((__m512i)from_lane, from, 8);
#elif SINGLE
    return (NAME(vec))_mm256_i32gather_ps((const float *)from, (__m256i)from_lane, 4);
#else
    return (NAME(vec))_mm256_i64gather_pd((const double *)from, (__m256i)from_lane, 8);
#endif
}

/* The largest key of each lane and, among equals, the largest code, which is below 2^12. */
typedef struct NAME(winner) {
    NAME(vec) top;
#if SINGLE
    NAME(bits) code;
#endif
} NAME(winner);

static inline NAME(winner) NAME(no_winner)(void)
{
    return (NAME(winner)){0};
}

/* Takes a into the search, in those lanes. */
static inline void NAME(compete)(NAME(winner) * w, NAME(vec) a, NAME(bits) code, NAME(lanes) lanes)
{
#if SINGLE
    const NAME(bits) key = (NAME(bits))NAME(absolute)(a), top = (NAME(bits))w->top;
    const NAME(lanes) more = (NAME(lanes))(
        lanes & (NAME(greater_bits)(key, top) |
                 (NAME(equal_bits)(key, top) & NAME(greater_bits)(code, w->code))));
    w->top = NAME(choose)(more, (NAME(vec))key, w->top);
    w->code = NAME(choose_bits)(more, code, w->code);
#else
    w->top = NAME(top_coded)(NAME(keep)(lanes, NAME(coded)(a, code)), w->top);
#endif
}

static inline NAME(bits) NAME(winning_code)(const NAME(winner) * w)
{
#if SINGLE
    return w->code;
#else
    return (NAME(bits))w->top & NAME(all_bits)(0xfff);
#endif
}

static inline NAME(lanes) NAME(no_lanes)(void)
{
    return (NAME(lanes)){0};
}

/* Whether n numbers are finite. */
static inline bool NAME(are_finite)(const real *from, int n)
{
    NAME(vec) zero[4] = {{0}};
    int e = 0;
    for (; e + 4 * NAME(LANES) <= n; e += 4 * NAME(LANES))
        UNROLL for (int k = 0; k < 4; ++k)
            zero[k] = NAME(plus_product)(zero[k], NAME(load)(from + e + k * NAME(LANES)), NAME(all)(0));
    for (; e < n; e += NAME(LANES))
        zero[0] = NAME(plus_product)(zero[0], NAME(get)(from + e, n - e), NAME(all)(0));
    return NAME(all_at_most)((zero[0] + zero[1]) + (zero[2] + zero[3]), 0);
}

/* The lower triangles of the blocks at from[k] side by side. */
static inline void NAME(read_abreast)(const real *const *from, int n, NAME(abreast) * m)
{
    uint32_t finite = 0;
    for (int k = 0; k < NAME(LANES); ++k) finite |= (uint32_t)NAME(are_finite)(from[k], n * n) << k;
    m->odd = NAME(lanes_of)(~finite, 0);
    for (int j = 0; j < n; ++j) {
        m->row[j] = NAME(all_bits)(j);
        for (int i = j; i < n; i += NAME(TILE))
            for (int k = 0; k < NAME(LANES); k += NAME(TILE)) {
                const real *part[NAME(TILE)];
                UNROLL for (int c = 0; c < NAME(TILE); ++c) part[c] = from[k + c] + j * n + i;
                NAME(transpose_part)(part, n - i, (real *)(m->a + place(n, i, j)) + k, NAME(LANES));
            }
    }
    m->pairs = m->negative = NAME(all_bits)(0);
}

/* Asks for column s of the blocks that are next. */
static inline void NAME(fetch_abreast)(const NAME(abreast) * m, int n, int s)
{
    for (int k = 0; k < NAME(LANES); ++k) {
        const ahead next = {m->next[k], sizeof(real) * (size_t)n};
        fetch_column(&next, s);
    }
}

/* The triangles and what mirrors them, tile by tile to where the blocks go. source[e] is the vector of entry
 * e of a block. */
static inline void NAME(write_abreast)(const NAME(abreast) * m, const uint16_t *source, int n,
                                       real *const *to, bool stream)
{
    for (int e = 0; e < n * n; e += NAME(TILE))
        for (int k = 0; k < NAME(LANES); k += NAME(TILE)) {
            const real *part[NAME(TILE)];
            UNROLL for (int c = 0; c < NAME(TILE); ++c) part[c] = (const real *)(m->a + source[e + c]) + k;
            NAME(transpose_out)(part, to + k, e, n * n - e, stream);
        }
}

/* Rows by position as bytes. */
static inline void NAME(pack_order)(NAME(abreast) * m, int n)
{
    for (int i = 0; i < n; i += NAME(BYTES)) {
        NAME(bits) packed = m->row[i];
        for (int b = 1; b < NAME(BYTES) && i + b < n; ++b) packed |= m->row[i + b] << (8 * b);
        m->order[i / NAME(BYTES)] = packed;
    }
}

/* Order and state of lane k. */
static inline void NAME(write_lane)(const NAME(abreast) * m, int k, const sd_block_job *job,
                                    sd_block_factors *f, int n)
{
    static const uint8_t identity[MOST] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const NAME(integer) *order = (const NAME(integer) *)m->order + k;
    uint8_t row[MOST];
    for (int i = 0; i < n; i += NAME(BYTES))
        memcpy(row + i, order + i / NAME(BYTES) * NAME(LANES), NAME(BYTES));
    memcpy(f->row + job->row, row, (size_t)n);
    memcpy(f->column + job->row, identity, (size_t)n);
    f->state[job->block] = (sd_block_state){.pairs = (uint32_t)((const NAME(integer) *)&m->pairs)[k],
                                            .negative = (uint8_t)((const NAME(integer) *)&m->negative)[k]};
}
