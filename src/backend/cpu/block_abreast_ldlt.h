/*
 * LDL' of symmetric blocks abreast: static and with Bunch and Kaufman's pivots. Included once a precision by
 * blocks.c, after block_abreast.h.
 *
 * Blocks stay in step: a 2x2 pivot of columns s and s + 1 is two steps, each of which takes one multiple of a
 * column from what is left, as a 1x1 pivot does. The first step of one leaves column s + 1 alone and makes
 * the multipliers of the second. Lanes tell what a block does: nothing is foreseeable, so nothing branches
 * but the exchange of rows, which is done a block at a time.
 */

/* What a step does in each block. */
typedef struct NAME(decision) {
    NAME(lanes) pair;     /* begins a 2x2 pivot */
    NAME(lanes) exchange; /* brings position `other` to s, or to s + 1 */
    NAME(bits) other;
} NAME(decision);

/* The row of what is left that is at a position of its own in each block. */
static inline void NAME(row_across)(NAME(abreast) * m, int s, int n, NAME(bits) position)
{
    const NAME(bits) below = (position * (2 * n - 1 - position)) >> 1; /* of its column */
    for (int j = s; j < n; ++j) {
        const NAME(lanes) beyond = NAME(greater_bits)(NAME(all_bits)(j), position);
        m->across[j] = NAME(gather)(
            m->a, NAME(choose_bits)(beyond, below + j, position + NAME(all_bits)(place(n, 0, j))));
    }
}

/* Bunch and Kaufman's search, in the blocks that do not end a 2x2 pivot. */
static inline NAME(decision) NAME(decide_bunch_kaufman)(NAME(abreast) * m, int s, int n, NAME(lanes) ends)
{
    const NAME(lanes) all = NAME(equal_bits)(m->pairs, m->pairs);
    const NAME(vec) alpha = NAME(all)((real)SD_BLOCK_ALPHA), tiny = NAME(all)(TINY), *a = m->a;
    NAME(winner) in_column = NAME(no_winner)(), in_row = NAME(no_winner)();
    for (int i = s + 1; i < n; ++i)
        NAME(compete)(&in_column, a[place(n, i, s)], ((63 - m->row[i]) << 6) | (63 - i), all);
    const NAME(bits) r = 63 - (NAME(winning_code)(&in_column) & 63);
    NAME(row_across)(m, s, n, r);
    for (int j = s; j < n; ++j)
        NAME(compete)
    (&in_row, m->across[j], ((63 - m->row[j]) << 6) | (63 - j),
     (NAME(lanes))~NAME(equal_bits)(r, NAME(all_bits)(j)));
    const NAME(bits) q = 63 - (NAME(winning_code)(&in_row) & 63);
    const NAME(vec) diagonal = NAME(absolute)(a[place(n, s, s)]), below = NAME(absolute)(m->across[s]);
    const NAME(vec) other = NAME(absolute)(NAME(gather)(m->across, r));
    const NAME(vec) beside = NAME(absolute)(NAME(gather)(m->across, q)), least = alpha * below;
    const NAME(lanes) large =
        NAME(at_least)(diagonal, least) | NAME(at_least)(diagonal, least * (below / beside));
    const NAME(lanes) moves = (NAME(lanes))(NAME(at_least)(below, tiny) & ~ends &
                                            ~(NAME(at_least)(diagonal, tiny) & large));
    NAME(decision) d = {.other = r};
    d.pair = (NAME(lanes))(moves & ~NAME(at_least)(other, alpha * beside));
    d.exchange = (NAME(lanes))(moves & ~(d.pair & NAME(equal_bits)(r, NAME(all_bits)(s + 1))));
    return d;
}

/* sd_pair_is_better, of positions s and s + 1. */
static inline NAME(decision) NAME(decide_static)(const NAME(abreast) * m, int s, int n, NAME(lanes) ends)
{
    const NAME(vec) b = m->a[place(n, s + 1, s)], x = m->a[place(n, s, s)] / b,
                    y = m->a[place(n, s + 1, s + 1)] / b;
    const NAME(vec) determinant = NAME(absolute)(NAME(plus_product)(NAME(all)(-1), x, y));
    const NAME(vec) u = NAME(absolute)(x), v = NAME(absolute)(y);
    const NAME(vec) bound = (NAME(larger)(u, v) + NAME(all)(1)) * u;
    const NAME(lanes) better = NAME(not_at_least)(bound, NAME(all)((real)SD_BLOCK_ALPHA) * determinant);
    const NAME(lanes) zero = NAME(at_least)(NAME(all)(0), u);
    return (NAME(decision)){
        .pair = (NAME(lanes))(NAME(at_least)(NAME(absolute)(b), NAME(all)(TINY)) & ~ends & (better | zero))};
}

static inline void NAME(swap)(real *a, int p, int q)
{
    const real x = a[p * NAME(LANES)];
    a[p * NAME(LANES)] = a[q * NAME(LANES)];
    a[q * NAME(LANES)] = x;
}

/* Exchanges positions t < r of the block in lane k. */
static inline void NAME(exchange)(NAME(abreast) * m, int n, int k, int t, int r)
{
    real *a = (real *)m->a + k;
    NAME(integer) *row = (NAME(integer) *)m->row + k;
    const int in_t = place(n, 0, t), in_r = place(n, 0, r);
    NAME(swap)(a, in_t + t, in_r + r);
    for (int j = t + 1; j < r; ++j) NAME(swap)(a, in_t + j, place(n, r, j));
    for (int i = r + 1; i < n; ++i) NAME(swap)(a, in_t + i, in_r + i);
    for (int j = 0; j < t; ++j) NAME(swap)(a, place(n, t, j), place(n, r, j));
    const NAME(integer) other = row[t * NAME(LANES)];
    row[t * NAME(LANES)] = row[r * NAME(LANES)];
    row[r * NAME(LANES)] = other;
}

static inline void NAME(exchange_abreast)(NAME(abreast) * m, int s, int n, const NAME(decision) * d)
{
    const uint32_t pair = NAME(bits_of)(d->pair);
    const NAME(integer) *other = (const NAME(integer) *)&d->other;
    for (uint32_t left = NAME(bits_of)(d->exchange); left; left &= left - 1) {
        const int k = __builtin_ctz(left);
        NAME(exchange)(m, n, k, s + (int)(pair >> k & 1), (int)other[k]);
    }
}

/*
 * The pivot at s: column s as it was, its multipliers, and those of s + 1 where it is a 2x2 one; L and D in
 * their place. Eigenvalues of a pair that `small` may concern make a block odd: they multiply to b times
 * b (xy - 1), and neither is above max(|a|, |c|) + |b|.
 */
static inline void NAME(take_abreast)(NAME(abreast) * m, int s, int n, const NAME(lanes) pair,
                                      NAME(lanes) ends, const sd_block_rule *rule)
{
    const NAME(vec) small = NAME(all)((real)rule->small), tiny = NAME(all)(TINY), none = NAME(all)(0);
    const bool last = s + 1 == n;
    const NAME(vec) a = m->a[place(n, s, s)], b = last ? none : m->a[place(n, s + 1, s)];
    const NAME(vec) over = NAME(choose)(pair, b, NAME(all)(1)), x = a / over;
    const NAME(vec) y = (last ? none : m->a[place(n, s + 1, s + 1)]) / over;
    const NAME(vec) determinant = NAME(plus_product)(NAME(all)(-1), x, y);
    const NAME(vec) pivot = NAME(choose)(pair, b * determinant, a), inverse = NAME(all)(1) / pivot;
    const NAME(vec) most = NAME(larger)(NAME(absolute)(x), NAME(absolute)(y)) + NAME(all)(1);
    const NAME(vec) least =
        NAME(larger)(small * NAME(choose)(pair, most + most, NAME(all)(1)), tiny);
    const NAME(lanes) below = NAME(not_at_least)(NAME(absolute)(pivot), least) |
                              NAME(not_at_least)(NAME(all)(LARGEST), NAME(absolute)(pivot));
    m->odd |= (NAME(lanes))((below & ~ends) | (pair & NAME(not_at_least)(NAME(absolute)(b), tiny)));
    const NAME(lanes) negative = (NAME(lanes))(NAME(not_at_least)(pivot, none) & ~ends & ~pair);
    const NAME(lanes) apart = (NAME(lanes))(NAME(not_at_least)(determinant, none) & pair);
    const NAME(lanes) both = (NAME(lanes))(NAME(not_at_least)(a, none) & pair & ~apart);
    m->negative += NAME(keep_bits)((NAME(lanes))(negative | apart), NAME(all_bits)(1)) +
                   NAME(keep_bits)(both, NAME(all_bits)(2));
    m->pairs |= NAME(keep_bits)(pair, NAME(all_bits)((NAME(integer))(UINT32_C(1) << s)));
    NAME(vec) zero = pivot * none;
    for (int i = s + 1; i < n; ++i) {
        const NAME(vec) c = m->a[place(n, i, s)], z = m->a[place(n, i, s + 1)];
        const NAME(vec) first = inverse * NAME(choose)(pair, NAME(plus_product)(-z, y, c), c);
        const NAME(vec) l = NAME(choose)(ends, m->second[i], first);
        m->second[i] = inverse * NAME(plus_product)(-c, x, z);
        m->c[i] = c;
        m->l[i] = m->a[place(n, i, s)] = l;
        zero = NAME(plus_product)(zero, l, none);
    }
    m->odd |= NAME(not_at_least)(zero, none);
    if (last) return;
    m->a[place(n, s + 1, s)] = NAME(choose)(pair, b, m->l[s + 1]);
    m->c[s + 1] = NAME(choose)(pair, none, m->c[s + 1]);
}

static inline void NAME(subtract_abreast)(NAME(abreast) * m, int s, int n)
{
    for (int j = s + 1; j < n; ++j) {
        const NAME(vec) c = m->c[j];
        NAME(vec) *a = m->a + place(n, 0, j);
        for (int i = j; i < n; ++i) a[i] = NAME(minus_product)(a[i], m->l[i], c);
    }
}

static inline void NAME(ldlt_abreast)(NAME(abreast) * m, int n, const sd_block_rule *rule,
                                      sd_block_kernel kernel)
{
    NAME(lanes) ends = NAME(no_lanes)();
    for (int s = 0; s < n; ++s) {
        NAME(decision) d = {0};
        NAME(fetch_abreast)(m, n, s);
        if (s + 1 < n && kernel == SD_LDLT_STATIC) d = NAME(decide_static)(m, s, n, ends);
        if (s + 1 < n && kernel == SD_LDLT_BUNCH_KAUFMAN) {
            d = NAME(decide_bunch_kaufman)(m, s, n, ends);
            NAME(exchange_abreast)(m, s, n, &d);
        }
        NAME(take_abreast)(m, s, n, d.pair, ends, rule);
        NAME(subtract_abreast)(m, s, n);
        ends = d.pair;
    }
}

/* Jobs first .. first + count), of n rows each. */
static inline void NAME(factor_abreast)(const NAME(factoring) * x, int32_t first, int32_t count, int n)
{
    const sd_block_kernel kernel = x->rule->kernel;
    NAME(abreast) m;
    uint16_t source[MOST * MOST + 8] = {0};
    _Alignas(64) real aside[MOST * MOST]; /* where lanes go that are not written */
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) source[i + j * n] = (uint16_t)(i > j ? place(n, i, j) : place(n, j, i));
    for (int32_t done = 0; done < count; done += NAME(LANES)) {
        const sd_block_job *job = x->plan->job + first + done;
        const int left = count - done < NAME(LANES) ? count - done : NAME(LANES);
        bool stream = x->stream && n * n % NAME(TILE) == 0;
        const real *from[NAME(LANES)];
        real *to[NAME(LANES)];
        for (int k = 0; k < NAME(LANES); ++k) {
            const int64_t entry = job[k < left ? k : left - 1].entry;
            const int32_t after = done + NAME(LANES) + k < count ? NAME(LANES) + k : 0;
            from[k] = x->from + entry;
            stream = stream && entry % NAME(TILE) == 0;
            m.next[k] = (const char *)(x->from + job[after].entry);
        }
        NAME(read_abreast)(from, n, &m);
        if (kernel == SD_LDLT_STATIC)
            NAME(ldlt_abreast)(&m, n, x->rule, SD_LDLT_STATIC);
        else
            NAME(ldlt_abreast)(&m, n, x->rule, SD_LDLT_BUNCH_KAUFMAN);
        const uint32_t odd = NAME(bits_of)(m.odd);
        for (int k = 0; k < NAME(LANES); ++k)
            to[k] = k >= left || odd >> k & 1 ? aside : (real *)x->f->data + job[k].entry;
        NAME(pack_order)(&m, n);
        NAME(write_abreast)(&m, source, n, to, stream);
        for (int k = 0; k < left; ++k) {
            if (odd >> k & 1)
                NAME(factor_apart)(x, first + done + k, 1, n);
            else
                NAME(write_lane)(&m, k, &job[k], x->f, n);
        }
    }
}

static __attribute__((noinline, flatten)) void NAME(factor_ldlt)(const NAME(factoring) * x, int32_t first,
                                                                 int32_t count, int n)
{
    NAME(factor_abreast)(x, first, count, n);
}
