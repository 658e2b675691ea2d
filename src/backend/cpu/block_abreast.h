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
    NAME(vec) * a; /* the triangles, and room for what the last tile has beyond them */
    struct {
        NAME(vec) c, l, second; /* of a step: its column, its multipliers, those of the next step */
    } at[MOST];
    NAME(vec) across[MOST], goes[MOST];              /* rows of what is left that change places */
    NAME(lanes) here[MOST];                          /* where position i has one of them */
    NAME(bits) row[MOST], order[MOST / NAME(BYTES)]; /* rows by position; packed */
    NAME(bits) pairs, negative;                      /* of the state */
    NAME(lanes) odd;
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

/* Lanes in a and b, in a or b, in a and not in b: the compiler would take masks out of their registers. */
#if defined(__AVX512F__) && SINGLE
#define LANES_BY(operation, a, b) _##operation##_mask16(a, b)
#elif defined(__AVX512F__)
#define LANES_BY(operation, a, b) _##operation##_mask8(a, b)
#endif
static inline NAME(lanes) NAME(both)(NAME(lanes) a, NAME(lanes) b)
{
#if defined(__AVX512F__)
    return LANES_BY(kand, a, b);
#else
    return a & b;
#endif
}

static inline NAME(lanes) NAME(either)(NAME(lanes) a, NAME(lanes) b)
{
#if defined(__AVX512F__)
    return LANES_BY(kor, a, b);
#else
    return a | b;
#endif
}

static inline NAME(lanes) NAME(without)(NAME(lanes) a, NAME(lanes) b)
{
#if defined(__AVX512F__)
    return LANES_BY(kandn, b, a);
#else
    return a & ~b;
#endif
}
#undef LANES_BY

static inline NAME(lanes) NAME(not_lanes)(NAME(lanes) a)
{
#if defined(__AVX512F__) && SINGLE
    return _knot_mask16(a);
#elif defined(__AVX512F__)
    return _knot_mask8(a);
#else
    return ~a;
#endif
}

/* Lanes in b where they are in a, otherwise in c. */
static inline NAME(lanes) NAME(choose_lanes)(NAME(lanes) a, NAME(lanes) b, NAME(lanes) c)
{
    return NAME(either)(NAME(both)(a, b), NAME(without)(c, a));
}

static inline NAME(bits) NAME(choose_bits)(NAME(lanes) lanes, NAME(bits) a, NAME(bits) b)
{
    return (NAME(bits))NAME(choose)(lanes, (NAME(vec))a, (NAME(vec))b);
}

static inline NAME(bits) NAME(keep_bits)(NAME(lanes) lanes, NAME(bits) a)
{
    return (NAME(bits))NAME(keep)(lanes, (NAME(vec))a);
}

/* Lane k of vector at[k]: single loads, which are faster than the instruction that gathers. */
static inline NAME(vec) NAME(gather)(const NAME(vec) * from, NAME(bits) at)
{
    NAME(integer) place_of[NAME(LANES)];
    memcpy(place_of, &at, sizeof at);
    const real *lane = (const real *)from;
    NAME(vec) x;
    UNROLL for (int k = 0; k < NAME(LANES); ++k) x[k] = lane[place_of[k] * NAME(LANES) + k];
    return x;
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
    const NAME(lanes) first = NAME(both)(NAME(equal_bits)(key, top), NAME(greater_bits)(code, w->code));
    const NAME(lanes) more = NAME(both)(lanes, NAME(either)(NAME(greater_bits)(key, top), first));
    w->top = NAME(choose)(more, (NAME(vec))key, w->top);
    w->code = NAME(choose_bits)(more, code, w->code);
#else
    w->top = NAME(top_coded)(NAME(keep)(lanes, NAME(coded)(a, code)), w->top);
#endif
}

/* Takes the winner of another search into the first. */
static inline void NAME(unite)(NAME(winner) * w, const NAME(winner) * other)
{
#if SINGLE
    NAME(compete)(w, other->top, other->code, NAME(equal_bits)(w->code, w->code));
#else
    w->top = NAME(top_coded)(other->top, w->top);
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

/* Whether n numbers are finite. */
static inline bool NAME(are_finite)(const real *from, int n)
{
    NAME(vec) zero[4] = {{0}};
    int e = 0;
    for (; e + 4 * NAME(LANES) <= n; e += 4 * NAME(LANES))
        UNROLL for (int k = 0; k < 4; ++k) zero[k] =
            NAME(plus_product)(zero[k], NAME(load)(from + e + k * NAME(LANES)), NAME(all)(0));
    for (; e < n; e += NAME(LANES))
        zero[0] = NAME(plus_product)(zero[0], NAME(get)(from + e, n - e), NAME(all)(0));
    return NAME(all_at_most)((zero[0] + zero[1]) + (zero[2] + zero[3]), 0);
}

/* What goes on beside the elimination of a group, as neither memory nor the processor should wait for the
 * other: the results of the group before it are written, the group after it is read, the one after that is
 * asked for. */
typedef struct NAME(beside) {
    const NAME(vec) * results; /* NULL: none */
    const uint16_t *source;    /* entry e of a block is vector source[e] of its group */
    real *to[NAME(LANES)];
    bool stream;
    NAME(vec) * next; /* NULL: none */
    const real *from[NAME(LANES)];
    uint32_t finite; /* blocks of the next group that are */
    const char *ahead[NAME(LANES)];
} NAME(beside);

/* Entries first .. last) of the results, tile by tile. */
static inline void NAME(write_abreast)(const NAME(beside) * b, int n, int first, int last)
{
    for (int e = first; e < last; e += NAME(TILE))
        for (int k = 0; k < NAME(LANES); k += NAME(TILE)) {
            const real *part[NAME(TILE)];
            UNROLL for (int c = 0; c < NAME(TILE); ++c) part[c] =
                (const real *)(b->results + b->source[e + c]) + k;
            NAME(transpose_out)(part, b->to + k, e, n * n - e, b->stream);
        }
}

/* Column j of the lower triangles of the next blocks; of blocks of half a tile columns j and j + 1. */
static inline void NAME(read_abreast)(NAME(beside) * b, int n, int j)
{
    const bool two = 2 * n == NAME(TILE);
    if (two && j % 2 == 1) return;
    for (int i = two ? 0 : j; i < n; i += NAME(TILE))
        for (int k = 0; k < NAME(LANES); k += NAME(TILE)) {
            const real *part[NAME(TILE)];
            UNROLL for (int c = 0; c < NAME(TILE); ++c) part[c] = b->from[k + c] + j * n + i;
            if (two)
                NAME(transpose_pair)(part, (real *)b->next + k, n, j);
            else
                NAME(transpose_part)(part, n - i, (real *)(b->next + place(n, i, j)) + k, NAME(LANES));
        }
}

/* Asks for column s of the blocks that are read after the next. */
static inline void NAME(ask_ahead)(const NAME(beside) * b, int n, int s)
{
    for (int k = 0; k < NAME(LANES); ++k) {
        const ahead next = {b->ahead[k], sizeof(real) * (size_t)n};
        fetch_column(&next, s);
    }
}

/* What step s of n has of reading, and of writing. */
static inline void NAME(read_step)(NAME(beside) * b, int n, int s)
{
    if (!b->next) return;
    for (int k = NAME(LANES) * s / n; k < NAME(LANES) * (s + 1) / n; ++k)
        b->finite |= (uint32_t)NAME(are_finite)(b->from[k], n * n) << k;
    NAME(read_abreast)(b, n, s);
    NAME(ask_ahead)(b, n, s);
}

static inline void NAME(write_step)(const NAME(beside) * b, int n, int s)
{
    const int tiles = (n * n + NAME(TILE) - 1) / NAME(TILE);
    if (b->results) NAME(write_abreast)
    (b, n, tiles * s / n * NAME(TILE), s + 1 == n ? n * n : tiles * (s + 1) / n * NAME(TILE));
}

/* Both of them: apart from the kernels, and written out for the sizes that fill the lanes. */
static __attribute__((noinline, flatten)) void NAME(step_beside)(NAME(beside) * b, int n, int s)
{
    if (n == 8) {
        NAME(write_step)(b, 8, s);
        NAME(read_step)(b, 8, s);
    } else if (n == 4) {
        NAME(write_step)(b, 4, s);
        NAME(read_step)(b, 4, s);
    } else {
        NAME(write_step)(b, n, s);
        NAME(read_step)(b, n, s);
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
