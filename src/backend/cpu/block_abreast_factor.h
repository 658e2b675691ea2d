/*
 * Groups of blocks abreast on their way: read, eliminated, written beside the elimination of the next group.
 * Included once a precision by blocks.c, after the kernels.
 */

/* The jobs that a group begins with are to be read to `next`: `left` of them, or more than it takes. */
static inline void NAME(begin_abreast)(NAME(beside) * b, const NAME(factoring) * x, const sd_block_job *job,
                                       int left, NAME(vec) * next)
{
    b->next = left > 0 ? next : NULL;
    b->finite = 0;
    for (int k = 0; k < NAME(LANES) && left > 0; ++k) {
        b->from[k] = x->from + job[k < left ? k : left - 1].entry;
        const bool more = job - x->plan->job + NAME(LANES) + k < x->plan->count;
        b->ahead[k] = (const char *)(x->from + job[more ? NAME(LANES) + k : 0].entry);
    }
}

/* Sends a group on its way: lanes that are odd, or of no block, go aside. */
static inline void NAME(end_abreast)(NAME(abreast) * m, const NAME(factoring) * x, const sd_block_job *job,
                                     int left, int n, NAME(beside) * b, real *aside)
{
    const uint32_t odd = NAME(bits_of)(m->odd);
    NAME(pack_order)(m, n);
    b->results = m->a;
    b->stream = x->stream && n * n % NAME(TILE) == 0;
    for (int k = 0; k < NAME(LANES); ++k) {
        const bool here = k < left && !(odd >> k & 1);
        b->to[k] = here ? (real *)x->f->data + job[k].entry : aside;
        if (k < left) b->stream = b->stream && job[k].entry % NAME(TILE) == 0;
        if (here)
            NAME(write_lane)(m, k, &job[k], x->f, n);
        else if (k < left)
            NAME(factor_apart)(x, (int32_t)(job - x->plan->job) + k, 1, n);
    }
}

static inline void NAME(eliminate_abreast)(NAME(abreast) * m, NAME(beside) * b, int n,
                                           const sd_block_rule *rule, const int N)
{
    if (N && rule->kernel == SD_LDLT_STATIC)
        NAME(ldlt_narrow)(m, b, n, rule, SD_LDLT_STATIC, N);
    else if (N)
        NAME(ldlt_narrow)(m, b, n, rule, SD_LDLT_BUNCH_KAUFMAN, N);
    else if (rule->kernel == SD_LDLT_STATIC)
        NAME(ldlt_abreast)(m, b, n, rule, SD_LDLT_STATIC);
    else
        NAME(ldlt_abreast)(m, b, n, rule, SD_LDLT_BUNCH_KAUFMAN);
}

/* Jobs first .. first + count), of n rows each. */
static inline void NAME(factor_abreast)(const NAME(factoring) * x, int32_t first, int32_t count, int n,
                                        const int N)
{
    enum { ROOM = MOST * (MOST + 1) / 2 + 8, L = NAME(LANES) };
    NAME(vec) room[3][ROOM]; /* in turns: of the results, of the group at work, of the next one */
    _Alignas(64) real aside[MOST * MOST];
    uint16_t source[MOST * MOST + 8];
    const sd_block_job *job = x->plan->job + first;
    NAME(abreast) m;
    NAME(beside) b = {.source = source};
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) source[i + j * n] = (uint16_t)(i > j ? place(n, i, j) : place(n, j, i));
    for (int e = n * n; e < n * n + 8; ++e) source[e] = 0;
    NAME(begin_abreast)(&b, x, job, count, room[0]);
    for (int s = 0; s < n; ++s) NAME(step_beside)(&b, n, s);
    for (int32_t done = 0; done < count; done += L) {
        m.a = room[done / L % 3];
        m.odd = NAME(lanes_of)(~b.finite, 0);
        m.pairs = m.negative = NAME(all_bits)(0);
        for (int i = 0; i < n; ++i) m.row[i] = NAME(all_bits)(i);
        NAME(begin_abreast)(&b, x, job + done + L, count - done - L, room[(done / L + 1) % 3]);
        NAME(eliminate_abreast)(&m, &b, n, x->rule, N);
        NAME(end_abreast)(&m, x, job + done, count - done, n, &b, aside);
        for (int s = 0; s < n && !N; ++s) NAME(step_beside)(&b, n, s);
    }
    b.next = NULL;
    for (int s = 0; s < n && N; ++s) NAME(step_beside)(&b, n, s);
}

static __attribute__((noinline, flatten)) void NAME(factor_ldlt)(const NAME(factoring) * x, int32_t first,
                                                                 int32_t count, int n)
{
    if (n == 4)
        NAME(factor_abreast)(x, first, count, 4, 4);
    else if (n <= 8)
        NAME(factor_abreast)(x, first, count, n, 8);
    else
        NAME(factor_abreast)(x, first, count, n, 0);
}
