/*
 * block_apply: y = F^-1 b, the factors in `real`, vectors and arithmetic in `work`. Included once a pair of
 * these by blocks.c: OF(x) names what is of the pair, WORK(x) what is of the precision of the work.
 *
 * A block is read once, by columns, and its part of the vector stays in the first cache: forward and backward
 * substitution take a multiple of a column at a time. Gauss-Huard wants the rows of its lower triangle: it is
 * transposed first.
 */

/* One block's factors, as they are stored. */
typedef struct OF(factored) {
    int n;
    sd_block_kernel kernel;
    uint32_t pairs;
    const real *a;
    const uint8_t *row, *column;
} OF(factored);

/* Rows v LANES .. n) of a column, at most LANES of them, in the precision of the work; 0 beyond. */
static inline WORK(vec) OF(part)(const real *column, int v, int n)
{
    const int left = n - v * WORK(LANES);
    const real *p = column + v * WORK(LANES);
#if !MIXED
    return WORK(get)(p, left);
#elif defined(__AVX512F__)
    const __mmask8 lanes = left >= 8 ? 0xff : (__mmask8)((1u << left) - 1);
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, p));
#elif defined(__AVX2__)
    const __m128i lanes = _mm_cmpgt_epi32(_mm_set1_epi32(left), _mm_setr_epi32(0, 1, 2, 3));
    return _mm256_cvtps_pd(_mm_maskload_ps(p, lanes));
#else
    WORK(vec) x = {0};
    for (int l = 0; l < WORK(LANES) && l < left; ++l) x[l] = p[l];
    return x;
#endif
}

/* x -= u column, in `rows` of it; V vectors are all that there are. */
static inline void OF(subtract)(const OF(factored) * f, int j, work u, uint32_t rows, work *x)
{
    const real *column = f->a + j * f->n;
    const int first = rows ? __builtin_ctz(rows) / WORK(LANES) : 0;
    const int last = rows ? (31 - __builtin_clz(rows)) / WORK(LANES) : -1;
    for (int v = first; v <= last; ++v) {
        const WORK(vec) c = WORK(keep)(WORK(lanes_of)(rows, v), OF(part)(column, v, f->n));
        work *at = x + v * WORK(LANES);
        WORK(store)(at, WORK(minus_product)(WORK(load)(at), c, WORK(all)(u)));
    }
}

/* 1 over the diagonal. */
static inline void OF(reciprocals)(const OF(factored) * f, work *inverse)
{
    for (int i = 0; i < f->n; ++i) inverse[i] = f->a[i * (f->n + 1)];
    for (int i = 0; i < f->n; ++i) inverse[i] = 1 / inverse[i];
}

/* Rows 0 .. n). */
static inline uint32_t OF(rows_below)(int n)
{
    return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

/* x = (L D U)^-1 x; entries of D beside the diagonal are not of L, nor of U. */
static inline void OF(solve_ldu)(const OF(factored) * f, const work *inverse, work *x)
{
    const int n = f->n;
    const uint32_t all = OF(rows_below)(n);
    for (int j = 0; j < n - 1; ++j)
        OF(subtract)(f, j, x[j], all & ~OF(rows_below)(j + 1 + (int)(f->pairs >> j & 1)), x);
    for (int s = 0; s < n; ++s) {
        if (f->pairs >> s & 1) {
            const sd_pair_double d = {f->a[s * (n + 1)], f->a[s * (n + 1) + 1], f->a[(s + 1) * (n + 1)]};
            const sd_pair_double i = sd_pair_inverse_double(d);
            const double first = x[s], second = x[s + 1];
            x[s] = (work)(i.a * first + i.b * second);
            x[s + 1] = (work)(i.b * first + i.c * second);
            ++s;
        } else {
            x[s] *= inverse[s];
        }
    }
    for (int j = n - 1; j > 0; --j)
        OF(subtract)(f, j, x[j], OF(rows_below)(j - (int)(f->pairs >> (j - 1) & 1)), x);
}

/* x = (L L')^-1 x */
static inline void OF(solve_llt)(const OF(factored) * f, const work *inverse, work *x)
{
    const uint32_t all = OF(rows_below)(f->n);
    for (int j = 0; j < f->n; ++j) {
        x[j] *= inverse[j];
        OF(subtract)(f, j, x[j], all & ~OF(rows_below)(j + 1), x);
    }
    for (int j = f->n - 1; j >= 0; --j) {
        x[j] *= inverse[j];
        OF(subtract)(f, j, x[j], OF(rows_below)(j), x);
    }
}

/* x = A^-1 x: the columns of the inverse one after the other, into a sum of each parity. */
static inline void OF(multiply)(const OF(factored) * f, work *x)
{
    const int n = f->n;
    _Alignas(64) work y[MOST];
    for (int v = 0; v * WORK(LANES) < n; ++v) {
        WORK(vec) even = {0}, odd = {0};
        int j = 0;
        for (; j + 1 < n; j += 2) {
            even = WORK(plus_product)(even, OF(part)(f->a + j * n, v, n), WORK(all)(x[j]));
            odd = WORK(plus_product)(odd, OF(part)(f->a + (j + 1) * n, v, n), WORK(all)(x[j + 1]));
        }
        if (j < n) even = WORK(plus_product)(even, OF(part)(f->a + j * n, v, n), WORK(all)(x[j]));
        WORK(store)(y + v * WORK(LANES), even + odd);
    }
    memcpy(x, y, sizeof y);
}

/* The rows of a Gauss-Huard block, and its columns above the diagonal, in the precision of the work. */
typedef struct OF(rows) {
    _Alignas(64) work lower[MOST * MOST], upper[MOST * MOST];
} OF(rows);

static inline void OF(unpack_huard)(const OF(factored) * f, OF(rows) * r, int ld)
{
    const int n = f->n;
    for (int j = 0; j < n; ++j)
        for (int v = 0; v * WORK(LANES) < n; ++v)
            WORK(store)(r->upper + j * ld + v * WORK(LANES), OF(part)(f->a + j * n, v, n));
    WORK(transpose)(r->upper, r->lower, n, n, ld);
    if (f->kernel == SD_HUARD) return;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < k; ++i) r->upper[k * ld + i] = r->lower[(n - 1 - k) * ld + n - 1 - i];
}

/* Lines 7, 15 and 18 of Figure 1 of Anzt et al., Variable-size batched Gauss-Huard. */
static inline void OF(solve_huard)(const OF(rows) * r, int n, int ld, const work *inverse, work *x)
{
    for (int k = 0; k < n; ++k) {
        WORK(vec) sum = {0};
        const uint32_t before = OF(rows_below)(k);
        const int vectors = (k + WORK(LANES) - 1) / WORK(LANES);
        for (int v = 0; v < vectors; ++v) {
            const WORK(vec) l = WORK(load)(r->lower + k * ld + v * WORK(LANES));
            sum = WORK(plus_product)(sum, WORK(keep)(WORK(lanes_of)(before, v), l),
                                     WORK(load)(x + v * WORK(LANES)));
        }
        const work u = (x[k] - WORK(sum_lanes)(sum)) * inverse[k];
        for (int v = 0; v < vectors; ++v) {
            const WORK(vec) c =
                WORK(keep)(WORK(lanes_of)(before, v), WORK(load)(r->upper + k * ld + v * WORK(LANES)));
            work *at = x + v * WORK(LANES);
            WORK(store)(at, WORK(minus_product)(WORK(load)(at), c, WORK(all)(u)));
        }
        x[k] = u;
    }
}

/* All right-hand sides of one block. */
static inline void OF(apply_job)(const OF(factored) * f, const sd_block_plan *plan, int32_t row, int columns,
                                 const work *b, work *y)
{
    const int n = f->n, ld = (n + MOST / 4 - 1) / (MOST / 4) * (MOST / 4);
    const int wide = ld > WORK(LANES) ? ld : WORK(LANES);
    const uint8_t *to = sd_block_symmetric(f->kernel) ? f->row : f->column;
    const bool huard = f->kernel >= SD_HUARD;
    _Alignas(64) work inverse[MOST], x[MOST] = {0};
    OF(rows) r;
    OF(reciprocals)(f, inverse);
    if (huard) OF(unpack_huard)(f, &r, wide);
    for (int64_t c = 0; c < columns; ++c) {
        const work *from = b + c * plan->rows;
        work *out = y + c * plan->rows;
        for (int i = 0; i < n; ++i) {
            const int32_t at = row + f->row[i];
            x[i] = from[plan->source ? plan->source[at] : at];
        }
        if (huard)
            OF(solve_huard)(&r, n, wide, inverse, x);
        else if (f->kernel == SD_JORDAN)
            OF(multiply)(f, x);
        else if (f->kernel == SD_LLT || f->kernel == SD_LLT_DIAGONAL)
            OF(solve_llt)(f, inverse, x);
        else
            OF(solve_ldu)(f, inverse, x);
        for (int i = 0; i < n; ++i) {
            const int32_t at = row + to[i];
            out[plan->target ? plan->target[at] : at] = x[i];
        }
    }
}

static void OF(apply_all)(sd_engine *e, const sd_block_factors *x, int columns, const work *b, work *y)
{
    const sd_block_plan *plan = x->plan;
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, plan, k);
        for (int32_t i = p.first; i < p.last; ++i) {
            const sd_block_job job = plan->job[i];
            const OF(factored) f = {.n = p.rows,
                                    .kernel = x->kernel,
                                    .pairs = x->state[job.block].pairs,
                                    .a = (const real *)x->data + job.entry,
                                    .row = x->row + job.row,
                                    .column = x->column + job.row};
            OF(apply_job)(&f, plan, job.row, columns, b, y);
        }
    }
}
