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
    NAME(vec) diagonal; /* of what is there */
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

/* Bunch and Kaufman's choice from |a_ss|, the largest below it, which is in row r, the diagonal entry of row
 * r and the largest beside that; in the blocks that do not end a 2x2 pivot. */
static inline NAME(decision) NAME(weigh)(NAME(vec) diagonal, NAME(vec) below, NAME(vec) other,
                                         NAME(vec) beside, NAME(lanes) ends, NAME(lanes) next)
{
    const NAME(vec) alpha = NAME(all)((real)SD_BLOCK_ALPHA), tiny = NAME(all)(TINY), least = alpha * below;
    const NAME(lanes) large =
        NAME(either)(NAME(at_least)(diagonal, least), NAME(at_least)(diagonal, least * (below / beside)));
    const NAME(lanes) stays = NAME(either)(ends, NAME(both)(NAME(at_least)(diagonal, tiny), large));
    const NAME(lanes) moves = NAME(without)(NAME(at_least)(below, tiny), stays);
    const NAME(lanes) pair = NAME(without)(moves, NAME(at_least)(other, alpha * beside));
    return (NAME(decision)){.pair = pair, .exchange = NAME(without)(moves, NAME(both)(pair, next))};
}

static inline NAME(decision) NAME(decide_bunch_kaufman)(NAME(abreast) * m, int s, int n, NAME(lanes) ends)
{
    const NAME(lanes) all = NAME(equal_bits)(m->pairs, m->pairs);
    const NAME(vec) *a = m->a;
    NAME(winner) in_column = NAME(no_winner)(), in_row = NAME(no_winner)();
    for (int i = s + 1; i < n; ++i)
        NAME(compete)(&in_column, a[place(n, i, s)], ((63 - m->row[i]) << 6) | (63 - i), all);
    const NAME(bits) r = 63 - (NAME(winning_code)(&in_column) & 63);
    NAME(row_across)(m, s, n, r);
    for (int j = s; j < n; ++j) {
        const NAME(lanes) others = NAME(without)(all, NAME(equal_bits)(r, NAME(all_bits)(j)));
        NAME(compete)(&in_row, m->across[j], ((63 - m->row[j]) << 6) | (63 - j), others);
    }
    const NAME(bits) q = 63 - (NAME(winning_code)(&in_row) & 63);
    const NAME(vec) other = NAME(gather)(m->across, r);
    NAME(decision)
    d = NAME(weigh)(NAME(absolute)(a[place(n, s, s)]), NAME(absolute)(m->across[s]), NAME(absolute)(other),
                    NAME(absolute)(NAME(gather)(m->across, q)), ends,
                    NAME(equal_bits)(r, NAME(all_bits)(s + 1)));
    d.other = r;
    d.diagonal = other;
    return d;
}

/* sd_pair_is_better, of positions s and s + 1. */
static inline NAME(decision) NAME(decide_static)(const NAME(vec) * a, int s, int n, NAME(lanes) ends)
{
    const NAME(vec) b = a[place(n, s + 1, s)], x = a[place(n, s, s)] / b, y = a[place(n, s + 1, s + 1)] / b;
    const NAME(vec) determinant = NAME(absolute)(NAME(plus_product)(NAME(all)(-1), x, y));
    const NAME(vec) u = NAME(absolute)(x), v = NAME(absolute)(y);
    const NAME(vec) bound = (NAME(larger)(u, v) + NAME(all)(1)) * u;
    const NAME(lanes) better = NAME(not_at_least)(bound, NAME(all)((real)SD_BLOCK_ALPHA) * determinant);
    const NAME(lanes) zero = NAME(at_least)(NAME(all)(0), u);
    const NAME(lanes) beside = NAME(without)(NAME(at_least)(NAME(absolute)(b), NAME(all)(TINY)), ends);
    return (NAME(decision)){.pair = NAME(both)(beside, NAME(either)(better, zero))};
}

/*
 * With T = s or s + 1 the position that row R goes to: row T becomes `across`, row R `goes`, what T had;
 * where they meet, (T, T) and (R, R) change places and (R, T) stays. Columns s and s + 1 are exchanged at
 * once, the others when they are read next.
 */
static inline void NAME(exchange_abreast)(NAME(abreast) * m, int s, int n, const NAME(decision) * d)
{
    const NAME(lanes) two = NAME(both)(d->exchange, d->pair), one = NAME(without)(d->exchange, d->pair);
    NAME(vec) *first = m->a + place(n, 0, s), *next = m->a + place(n, 0, s + 1);
    NAME(vec) *across = m->across, *goes = m->goes;
    const NAME(vec) top = NAME(choose)(two, next[s + 1], first[s]);
    const NAME(vec) corner = NAME(choose)(two, across[s + 1], across[s]);
    for (int i = s + 1; i < n; ++i) {
        m->here[i] = NAME(both)(NAME(equal_bits)(d->other, NAME(all_bits)(i)), d->exchange);
        goes[i] = NAME(choose)(m->here[i], top, NAME(choose)(two, next[i], first[i]));
        across[i] = NAME(choose)(m->here[i], corner, across[i]);
    }
    goes[s] = NAME(choose)(one, corner, NAME(choose)(two, first[s + 1], first[s]));
    goes[s + 1] = NAME(choose)(two, corner, goes[s + 1]);
    across[s] = NAME(choose)(one, d->diagonal, across[s]);
    across[s + 1] = NAME(choose)(two, d->diagonal, across[s + 1]);
    first[s] = NAME(choose)(one, across[s], first[s]);
    for (int i = s + 1; i < n; ++i) {
        const NAME(vec) x = NAME(choose)(m->here[i], goes[s], first[i]);
        const NAME(vec) y = NAME(choose)(m->here[s + 1], goes[i], next[i]);
        first[i] = NAME(choose)(one, across[i], x);
        next[i] = NAME(choose)(two, across[i], NAME(choose)(m->here[i], goes[s + 1], y));
    }
    first[s + 1] = NAME(choose)(two, across[s], first[s + 1]);
}

static inline void NAME(swap)(real *a, int p, int q)
{
    const real x = a[p * NAME(LANES)];
    a[p * NAME(LANES)] = a[q * NAME(LANES)];
    a[q * NAME(LANES)] = x;
}

/* The same for the rows of L, which nothing reads soon: a block at a time. */
static inline void NAME(exchange_done)(NAME(abreast) * m, int s, int n, const NAME(decision) * d)
{
    const uint32_t pair = NAME(bits_of)(d->pair);
    const NAME(integer) *other = (const NAME(integer) *)&d->other;
    for (uint32_t left = NAME(bits_of)(d->exchange); left; left &= left - 1) {
        const int k = __builtin_ctz(left), t = s + (int)(pair >> k & 1), r = (int)other[k];
        real *a = (real *)m->a + k;
        NAME(integer) *row = (NAME(integer) *)m->row + k;
        for (int j = 0, in_j = 0; j < s; in_j += n - 1 - j, ++j) NAME(swap)(a, in_j + t, in_j + r);
        const NAME(integer) goes = row[t * NAME(LANES)];
        row[t * NAME(LANES)] = row[r * NAME(LANES)];
        row[r * NAME(LANES)] = goes;
    }
}

/* Notes what became of the pivots at s: d of 1x1, and the determinant and first entry a of 2x2 ones. */
static inline void NAME(count_abreast)(NAME(abreast) * m, int s, NAME(lanes) pair, NAME(lanes) ends,
                                       NAME(vec) determinant, NAME(vec) a)
{
    const NAME(vec) none = NAME(all)(0);
    const NAME(lanes) below = NAME(not_at_least)(a, none), apart = NAME(not_at_least)(determinant, none);
    const NAME(lanes) one = NAME(choose_lanes)(pair, apart, NAME(without)(below, ends));
    const NAME(lanes) two = NAME(without)(NAME(both)(below, pair), apart);
    m->negative += NAME(keep_bits)(one, NAME(all_bits)(1)) + NAME(keep_bits)(two, NAME(all_bits)(2));
    m->pairs |= NAME(keep_bits)(pair, NAME(all_bits)((NAME(integer))(UINT32_C(1) << s)));
}

/* What makes L of the columns of a pivot: l = inverse c of a 1x1, of a 2x2 as sd_pair_solve. */
typedef struct NAME(divisor) {
    NAME(vec) x, y, inverse;
} NAME(divisor);

/*
 * The pivot a, or [a b; b c] where it is a pair, at position s. Eigenvalues of a pair that `small` may
 * concern make a block odd: they multiply to b times b (xy - 1), and neither is above max(|a|, |c|) + |b|.
 */
static inline NAME(divisor) NAME(settle_abreast)(NAME(abreast) * m, int s, NAME(vec) a, NAME(vec) b,
                                                 NAME(vec) c, NAME(lanes) pair, NAME(lanes) ends, real small)
{
    const NAME(vec) tiny = NAME(all)(TINY), one = NAME(all)(1);
    const NAME(vec) over = NAME(choose)(pair, b, one), x = a / over, y = c / over;
    const NAME(vec) determinant = NAME(plus_product)(-one, x, y);
    const NAME(vec) pivot = NAME(choose)(pair, b * determinant, a);
    const NAME(vec) most = NAME(larger)(NAME(absolute)(x), NAME(absolute)(y)) + one;
    const NAME(vec) least = NAME(larger)(NAME(all)(small) * NAME(choose)(pair, most + most, one), tiny);
    const NAME(lanes) large = NAME(both)(NAME(at_least)(NAME(absolute)(pivot), least),
                                         NAME(at_least)(NAME(all)(LARGEST), NAME(absolute)(pivot)));
    const NAME(lanes) beside = NAME(both)(pair, NAME(not_at_least)(NAME(absolute)(b), tiny));
    m->odd = NAME(either)(m->odd, NAME(without)(NAME(not_lanes)(large), ends));
    m->odd = NAME(either)(m->odd, beside);
    NAME(count_abreast)(m, s, pair, ends, determinant, a);
    return (NAME(divisor)){x, y, one / pivot};
}

/* Row i of the multipliers of a pivot and, for those of the second of a pair, of the step after it. */
static inline NAME(vec) NAME(multiplier)(const NAME(divisor) * d, NAME(vec) c, NAME(vec) z, NAME(lanes) pair,
                                         NAME(lanes) ends, NAME(vec) * second)
{
    const NAME(vec) first = d->inverse * NAME(choose)(pair, NAME(plus_product)(-z, d->y, c), c);
    const NAME(vec) l = NAME(choose)(ends, *second, first);
    *second = d->inverse * NAME(plus_product)(-c, d->x, z);
    return l;
}

/* The pivot at s: column s as it was, its multipliers, and those of s + 1 where it is a 2x2 one; L and D in
 * their place. */
static inline void NAME(take_abreast)(NAME(abreast) * m, int s, int n, NAME(lanes) pair, NAME(lanes) ends,
                                      real small)
{
    const NAME(vec) none = NAME(all)(0);
    const bool last = s + 1 == n;
    NAME(vec) *column = m->a + place(n, 0, s), *next = m->a + place(n, 0, s + 1), zero = none;
    const NAME(vec) b = last ? none : column[s + 1];
    const NAME(divisor) d =
        NAME(settle_abreast)(m, s, column[s], b, last ? none : next[s + 1], pair, ends, small);
    for (int i = s + 1; i < n; ++i) {
        const NAME(vec) c = column[i], l = NAME(multiplier)(&d, c, next[i], pair, ends, &m->at[i].second);
        const bool beside = i == s + 1;
        m->at[i].c = beside ? NAME(choose)(pair, none, c) : c;
        m->at[i].l = l;
        column[i] = beside ? NAME(choose)(pair, b, l) : l;
        zero = NAME(plus_product)(zero, l, none);
    }
    m->odd = NAME(either)(m->odd, NAME(not_at_least)(zero, none));
}

/* Takes the multiples of the pivot's column from what is left, rows exchanged where they are still to be. */
static inline void NAME(subtract_abreast)(NAME(abreast) * m, int s, int n, bool exchange)
{
    for (int j = s + 1; j < n; ++j) {
        const bool change = exchange && j > s + 1;
        const NAME(lanes) here = m->here[j];
        const NAME(vec) c = m->at[j].c, goes = m->goes[j];
        NAME(vec) *a = m->a + place(n, 0, j);
        UNROLL for (int i = j; i < n; ++i)
        {
            NAME(vec) x = a[i];
            if (change) x = NAME(choose)(m->here[i], goes, NAME(choose)(here, m->goes[i], x));
            a[i] = NAME(minus_product)(x, m->at[i].l, c);
        }
    }
}

static inline void NAME(ldlt_abreast)(NAME(abreast) * m, const NAME(beside) * b, int n,
                                      const sd_block_rule *rule, sd_block_kernel kernel)
{
    NAME(lanes) ends = (NAME(lanes)){0};
    for (int s = 0; s < n; ++s) {
        NAME(decision) d = {0};
        NAME(ask_ahead)(b, n, s);
        if (s + 1 < n && kernel == SD_LDLT_STATIC) d = NAME(decide_static)(m->a, s, n, ends);
        if (s + 1 < n && kernel == SD_LDLT_BUNCH_KAUFMAN) {
            d = NAME(decide_bunch_kaufman)(m, s, n, ends);
            NAME(exchange_abreast)(m, s, n, &d);
        }
        NAME(take_abreast)(m, s, n, d.pair, ends, (real)rule->small);
        NAME(subtract_abreast)(m, s, n, kernel == SD_LDLT_BUNCH_KAUFMAN);
        if (s + 1 < n && kernel == SD_LDLT_BUNCH_KAUFMAN) NAME(exchange_done)(m, s, n, &d);
        ends = d.pair;
    }
}
