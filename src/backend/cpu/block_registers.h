/*
 * LDU with interchanges of rows of blocks of LANES rows, in registers: a column is a vector, and a block is
 * LANES of them. Included by blocks.c for AVX-512 in double, after block_factor.h's kernels; the operations
 * are those of block_elimination.h.
 *
 * Rows stay where they are until the result is written. GROUP blocks are eliminated at once, as each waits
 * for its searches. A block with a pivot that is small, or with something that is not finite, shows it in its
 * result and is left to block_factor.h: what is not finite stays so whatever is taken from it, and is scaled
 * by 0 only where the pivot is infinite.
 */
enum { GROUP = 4, ROWS = 8, AHEAD = 12 };

typedef struct eight {
    __m512d c[ROWS];
    __m512i order; /* rows by position, in the lowest three bits */
    __mmask8 rows; /* that have been no pivot yet */
} eight;

static inline __m512i largest_of_all(__m512i x)
{
    const __m256i a = _mm256_max_epu64(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    const __m128i b = _mm_max_epu64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return _mm512_broadcastq_epi64(_mm_max_epu64(b, _mm_unpackhi_epi64(b, b)));
}

static inline void read_columns(eight *m, const double *from)
{
    UNROLL for (int j = 0; j < ROWS; ++j) m->c[j] = _mm512_loadu_pd(from + j * ROWS);
    m->rows = 0xff;
    m->order = _mm512_setzero_si512();
}

/* The pivot of column s: its multipliers, and what it takes from the columns after it. */
static inline void eliminate_column(eight *m, int s)
{
    const __m512i code = _mm512_setr_epi64(63, 62, 61, 60, 59, 58, 57, 56);
    const __m512d c = m->c[s];
    const __m512i coded = _mm512_maskz_mov_epi64(m->rows, (__m512i)coded_double(c, (bits_double)code));
    const __m512i top = largest_of_all(coded);
    const __m512i p = _mm512_xor_si512(top, _mm512_set1_epi64(63));
    const __m128d d = _mm512_castpd512_pd128(_mm512_permutexvar_pd(p, c));
    const __m512d inverse = _mm512_broadcastsd_pd(_mm_div_sd(_mm_set_sd(1), d));
    m->rows = _mm512_mask_cmpneq_epi64_mask(m->rows, coded, top);
    m->order = _mm512_mask_mov_epi64(m->order, (__mmask8)(1u << s), p);
    const __m512d l = _mm512_maskz_mul_pd(m->rows, c, inverse);
    m->c[s] = _mm512_mask_mov_pd(c, m->rows, l);
    UNROLL for (int j = s + 1; j < ROWS; ++j) m->c[j] =
        _mm512_fnmadd_pd(l, _mm512_permutexvar_pd(p, m->c[j]), m->c[j]);
}

/* Puts the rows in their order and scales U. Whether all is finite and no pivot below bound. */
static inline bool finish_columns(eight *m, __m512d bound)
{
    __m512d d = _mm512_setzero_pd(), zero[2] = {d, d};
    UNROLL for (int t = 0; t < ROWS; ++t)
    {
        m->c[t] = _mm512_permutexvar_pd(m->order, m->c[t]);
        d = _mm512_mask_mov_pd(d, (__mmask8)(1u << t), m->c[t]);
    }
    const __m512d inverse = _mm512_div_pd(_mm512_set1_pd(1), d);
    UNROLL for (int t = 0; t < ROWS; ++t)
    {
        m->c[t] = _mm512_mask_mul_pd(m->c[t], (__mmask8)((1u << t) - 1), m->c[t], inverse);
        zero[t % 2] = _mm512_fmadd_pd(m->c[t], _mm512_setzero_pd(), zero[t % 2]);
    }
    const __m512d least = _mm512_add_pd(bound, _mm512_add_pd(zero[0], zero[1]));
    return _mm512_cmp_pd_mask((__m512d)absolute_double(d), least, _CMP_NGE_UQ) == 0;
}

static inline void write_columns(const eight *m, const sd_block_job *job, const factoring_double *x)
{
    double *to = (double *)x->f->data + job->entry;
    const bool stream = x->stream && job->entry % ROWS == 0;
    UNROLL for (int j = 0; j < ROWS; ++j)
    {
        if (stream)
            _mm512_stream_pd(to + j * ROWS, m->c[j]);
        else
            _mm512_storeu_pd(to + j * ROWS, m->c[j]);
    }
    const __m512i low = _mm512_and_si512(m->order, _mm512_set1_epi64(7));
    const uint64_t identity = UINT64_C(0x0706050403020100);
    _mm_storel_epi64((__m128i *)(x->f->row + job->row), _mm512_cvtepi64_epi8(low));
    memcpy(x->f->column + job->row, &identity, sizeof identity);
    x->f->state[job->block] = (sd_block_state){0};
}

/* Jobs first .. first + count), of ROWS rows each. */
static __attribute__((noinline, flatten)) void factor_in_registers(const factoring_double *x, int32_t first,
                                                                   int32_t count)
{
    const double small = x->rule->small;
    const __m512d bound = _mm512_set1_pd(small > TINY ? small : TINY);
    const sd_block_job *job = x->plan->job + first;
    eight m[GROUP];
    for (int32_t done = 0; done < count; done += GROUP) {
        const int left = count - done < GROUP ? count - done : GROUP;
        UNROLL for (int k = 0; k < GROUP; ++k)
        {
            const double *from = x->from + job[done + (k < left ? k : left - 1)].entry;
            read_columns(&m[k], from);
            const int32_t after = first + done + AHEAD + k < x->plan->count ? done + AHEAD + k : 0;
            const ahead next = {(const char *)(x->from + job[after].entry), sizeof(double) * ROWS * ROWS};
            fetch_column(&next, 0);
        }
        UNROLL for (int s = 0; s < ROWS; ++s) UNROLL for (int k = 0; k < GROUP; ++k)
            eliminate_column(&m[k], s);
        for (int k = 0; k < left; ++k) {
            if (finish_columns(&m[k], bound))
                write_columns(&m[k], &job[done + k], x);
            else
                factor_8_double(x, first + done + k, 1, ROWS);
        }
    }
}
