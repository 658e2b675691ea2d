/*
 * LDL' of blocks abreast of up to N = 4 or 8 rows, in registers: what block_abreast_ldlt.h does, written out
 * for N rows, a constant, so that rows are exchanged by choosing lanes. What is beyond a block's n rows is
 * the identity, which no search chooses. Included once a precision by blocks.c, after block_abreast_ldlt.h.
 */

typedef struct NAME(triangle) {
    NAME(vec) a[NARROW * (NARROW + 1) / 2]; /* (i, j), i >= j, at place(N, i, j) */
    NAME(vec) across[NARROW], second[NARROW];
    NAME(bits) row[NARROW];
    NAME(lanes) here[NARROW]; /* where position i has the row that was found */
} NAME(triangle);

static inline NAME(vec) * NAME(entry)(NAME(triangle) * t, int i, int j, const int N)
{
    return &t->a[i > j ? place(N, i, j) : place(N, j, i)];
}

static inline NAME(bits) NAME(code_at)(const NAME(triangle) * t, int i)
{
    return ((63 - t->row[i]) << 6) | (63 - i);
}

/* The row of the largest entry of column s below the diagonal, and all of that row that is left. */
static inline void NAME(find_row)(NAME(triangle) * t, int s, NAME(lanes) all, const int N)
{
    NAME(winner) best = NAME(no_winner)();
    UNROLL for (int i = s + 1; i < N; ++i)
        NAME(compete)(&best, *NAME(entry)(t, i, s, N), NAME(code_at)(t, i), all);
    const NAME(bits) position = NAME(winning_code)(&best) & 63;
    UNROLL for (int i = s + 1; i < N; ++i) t->here[i] = NAME(equal_bits)(position, NAME(all_bits)(63 - i));
    UNROLL for (int j = s; j < N; ++j)
    {
        NAME(vec) x = *NAME(entry)(t, s + 1, j, N);
        UNROLL for (int i = s + 2; i < N; ++i) x = NAME(choose)(t->here[i], *NAME(entry)(t, i, j, N), x);
        t->across[j] = x;
    }
}

static inline NAME(decision)
    NAME(decide_narrow)(NAME(triangle) * t, int s, NAME(lanes) ends, NAME(lanes) all, const int N)
{
    NAME(winner) best = NAME(no_winner)();
    NAME(find_row)(t, s, all, N);
    NAME(compete)(&best, t->across[s], NAME(code_at)(t, s), all);
    UNROLL for (int j = s + 1; j < N; ++j)
        NAME(compete)(&best, t->across[j], NAME(code_at)(t, j), NAME(without)(all, t->here[j]));
    const NAME(bits) position = NAME(winning_code)(&best) & 63;
    NAME(vec) other = t->across[s + 1], beside = t->across[s];
    UNROLL for (int j = s + 1; j < N; ++j)
    {
        other = NAME(choose)(t->here[j], t->across[j], other);
        beside = NAME(choose)(NAME(equal_bits)(position, NAME(all_bits)(63 - j)), t->across[j], beside);
    }
    return NAME(weigh)(NAME(absolute)(*NAME(entry)(t, s, s, N)), NAME(absolute)(t->across[s]),
                       NAME(absolute)(other), NAME(absolute)(beside), ends, t->here[s + 1]);
}

/* Exchanges x, which stands at the position that a row goes to, with what stands where the row was. */
static inline void NAME(exchange_entries)(NAME(triangle) * t, int s, NAME(vec) *const *x, NAME(lanes) one,
                                          NAME(lanes) two, const int N)
{
    const NAME(vec) first = *x[s], next = *x[s + 1], goes = NAME(choose)(two, next, first);
    NAME(vec) comes = goes;
    UNROLL for (int i = s + 1; i < N; ++i) comes = NAME(choose)(t->here[i], *x[i], comes);
    UNROLL for (int i = s + 1; i < N; ++i) * x[i] = NAME(choose)(t->here[i], goes, *x[i]);
    *x[s] = NAME(choose)(one, comes, *x[s]);
    *x[s + 1] = NAME(choose)(two, comes, *x[s + 1]);
}

/* Rows and columns of what is left: with T = s or s + 1 the position that row R goes to, its row becomes
 * `across` and row R what T had; (T, T) and (R, R) change places, (R, T) stays. */
static inline void NAME(exchange_left)(NAME(triangle) * t, int s, NAME(lanes) one, NAME(lanes) two,
                                       const int N)
{
    NAME(vec) goes[NARROW], *across = t->across, top = *NAME(entry)(t, s, s, N), other = top;
    top = NAME(choose)(two, *NAME(entry)(t, s + 1, s + 1, N), top);
    UNROLL for (int j = s; j < N; ++j)
    {
        goes[j] = NAME(choose)(two, *NAME(entry)(t, s + 1, j, N), *NAME(entry)(t, s, j, N));
        if (j > s) other = NAME(choose)(t->here[j], across[j], other);
    }
    const NAME(vec) corner = NAME(choose)(two, across[s + 1], across[s]);
    UNROLL for (int j = s + 1; j < N; ++j)
    {
        goes[j] = NAME(choose)(t->here[j], top, goes[j]);
        across[j] = NAME(choose)(t->here[j], corner, across[j]);
    }
    goes[s] = NAME(choose)(one, corner, goes[s]);
    goes[s + 1] = NAME(choose)(two, corner, goes[s + 1]);
    across[s] = NAME(choose)(one, other, across[s]);
    across[s + 1] = NAME(choose)(two, other, across[s + 1]);
    UNROLL for (int j = s; j < N; ++j) UNROLL for (int i = j; i < N; ++i)
    {
        NAME(vec) x = *NAME(entry)(t, i, j, N);
        if (j > s) x = NAME(choose)(t->here[j], goes[i], x);
        if (i > s) x = NAME(choose)(t->here[i], goes[j], x);
        if (j == s) x = NAME(choose)(one, across[i], x);
        if (j == s + 1) x = NAME(choose)(two, across[i], x);
        if (j == s && i == s + 1) x = NAME(choose)(two, across[s], x);
        *NAME(entry)(t, i, j, N) = x;
    }
}

static inline void NAME(exchange_narrow)(NAME(triangle) * t, int s, const NAME(decision) * d, const int N)
{
    const NAME(lanes) two = NAME(both)(d->exchange, d->pair), one = NAME(without)(d->exchange, d->pair);
    NAME(vec) * x[NARROW], row[NARROW];
    UNROLL for (int i = s + 1; i < N; ++i) t->here[i] = NAME(both)(t->here[i], d->exchange);
    NAME(exchange_left)(t, s, one, two, N);
    UNROLL for (int j = 0; j < s; ++j)
    {
        UNROLL for (int i = s; i < N; ++i) x[i] = NAME(entry)(t, i, j, N);
        NAME(exchange_entries)(t, s, x, one, two, N);
    }
    UNROLL for (int i = s; i < N; ++i)
    {
        row[i] = (NAME(vec))t->row[i];
        x[i] = &row[i];
    }
    NAME(exchange_entries)(t, s, x, one, two, N);
    UNROLL for (int i = s; i < N; ++i) t->row[i] = (NAME(bits))row[i];
}

static inline void NAME(take_narrow)(NAME(abreast) * m, NAME(triangle) * t, int s, NAME(lanes) pair,
                                     NAME(lanes) ends, real small, const int N)
{
    const NAME(vec) none = NAME(all)(0);
    NAME(vec) c[NARROW], l[NARROW], zero = none;
    const bool last = s + 1 == N;
    const NAME(vec) b = last ? none : *NAME(entry)(t, s + 1, s, N);
    const NAME(divisor) d = NAME(settle_abreast)(
        m, s, *NAME(entry)(t, s, s, N), b, last ? none : *NAME(entry)(t, s + 1, s + 1, N), pair, ends, small);
    UNROLL for (int i = s + 1; i < N; ++i)
    {
        c[i] = *NAME(entry)(t, i, s, N);
        l[i] = NAME(multiplier)(&d, c[i], *NAME(entry)(t, i, s + 1, N), pair, ends, &t->second[i]);
        *NAME(entry)(t, i, s, N) = i == s + 1 ? NAME(choose)(pair, b, l[i]) : l[i];
        zero = NAME(plus_product)(zero, l[i], none);
    }
    m->odd = NAME(either)(m->odd, NAME(not_at_least)(zero, none));
    if (!last) c[s + 1] = NAME(choose)(pair, none, c[s + 1]);
    UNROLL for (int j = s + 1; j < N; ++j) UNROLL for (int i = j; i < N; ++i) * NAME(entry)(t, i, j, N) =
        NAME(minus_product)(*NAME(entry)(t, i, j, N), l[i], c[j]);
}

static inline void NAME(ldlt_narrow)(NAME(abreast) * m, NAME(beside) * b, int n, const sd_block_rule *rule,
                                     sd_block_kernel kernel, const int N)
{
    const NAME(lanes) all = NAME(equal_bits)(m->pairs, m->pairs);
    NAME(lanes) ends = {0};
    NAME(triangle) t;
    UNROLL for (int j = 0; j < N; ++j)
    {
        t.row[j] = NAME(all_bits)(j);
        t.second[j] = NAME(all)(0);
        UNROLL for (int i = j; i < N; ++i) t.a[place(N, i, j)] =
            i < n ? m->a[place(n, i, j)] : NAME(all)(i == j);
    }
    UNROLL for (int s = 0; s < N; ++s)
    {
        NAME(decision) d = {0};
        if (s < n) NAME(step_beside)(b, n, s);
        if (s + 1 < N && kernel == SD_LDLT_STATIC) d = NAME(decide_static)(t.a, s, N, ends);
        if (s + 1 < N && kernel == SD_LDLT_BUNCH_KAUFMAN) {
            d = NAME(decide_narrow)(&t, s, ends, all, N);
            NAME(exchange_narrow)(&t, s, &d, N);
        }
        NAME(take_narrow)(m, &t, s, d.pair, ends, (real)rule->small, N);
        ends = d.pair;
    }
    UNROLL for (int j = 0; j < N; ++j)
    {
        if (j < n) m->row[j] = t.row[j];
        UNROLL for (int i = j; i < N; ++i) if (i < n) m->a[place(n, i, j)] = t.a[place(N, i, j)];
    }
}
