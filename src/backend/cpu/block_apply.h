/*
 * block_apply: y = F^-1 b, the factors in `real`, vectors and arithmetic in `work`. Included once a pair of
 * these by blocks.c: OF(x) names what is of the pair, WORK(x) what is of the precision of the work.
 *
 * A block is read once, by columns, and its part of the vector stays in V registers: forward and backward
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
    ahead next; /* the block after this one */
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

/* 1 over the diagonal; 1 beyond it, and for the inverse, which wants none. */
static inline void OF(reciprocals)(const OF(factored) * f, WORK(vec) * inverse, const int V)
{
    _Alignas(64) work d[MOST];
    if (f->kernel == SD_JORDAN) {
        UNROLL for (int v = 0; v < V; ++v) inverse[v] = WORK(all)(1);
        return;
    }
    for (int i = 0; i < V * WORK(LANES); ++i) d[i] = i < f->n ? (work)f->a[i * (f->n + 1)] : 1;
    UNROLL for (int v = 0; v < V; ++v) inverse[v] = WORK(all)(1) / WORK(load)(d + v * WORK(LANES));
}

/* Rows 0 .. n). */
static inline uint32_t OF(rows_below)(int n)
{
    return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

/* x = L^-1 x, by columns of L: unit lower triangular, without the entries of D that stand below the diagonal;
 * or with a diagonal, whose reciprocals are `inverse`. x stays in registers. */
static inline void OF(forward)(const OF(factored) * f, const WORK(vec) * inverse, WORK(vec) * x, const int V)
{
    const int n = f->n;
    UNROLL for (int b = 0; b < V; ++b)
    {
        for (int l = 0; l < WORK(LANES) && b * WORK(LANES) + l < n; ++l) {
            const int j = b * WORK(LANES) + l;
            fetch_column(&f->next, j);
            const uint32_t below = ~OF(rows_below)(j + 1 + (int)(f->pairs >> j & 1));
            if (inverse) x[b] = WORK(choose)(WORK(lanes_of)(UINT32_C(1) << j, b), x[b] * inverse[b], x[b]);
            const WORK(vec) u = WORK(spread)(x[b], l);
            UNROLL for (int v = 0; v < V; ++v)
            {
                if (v < b || v * WORK(LANES) >= n) continue;
                const WORK(vec) c = OF(part)(f->a + j * n, v, n);
                x[v] = WORK(minus_product)(x[v], v > b + 1 ? c : WORK(keep)(WORK(lanes_of)(below, v), c), u);
            }
        }
    }
}

/* x = U^-1 x, alike. */
static inline void OF(backward)(const OF(factored) * f, const WORK(vec) * inverse, WORK(vec) * x, const int V)
{
    const int n = f->n;
    UNROLL for (int b = V - 1; b >= 0; --b)
    {
        for (int l = WORK(LANES) - 1; l >= 0; --l) {
            const int j = b * WORK(LANES) + l;
            if (j >= n) continue;
            const uint32_t above = OF(rows_below)(j - (j > 0 ? (int)(f->pairs >> (j - 1) & 1) : 0));
            if (inverse) x[b] = WORK(choose)(WORK(lanes_of)(UINT32_C(1) << j, b), x[b] * inverse[b], x[b]);
            const WORK(vec) u = WORK(spread)(x[b], l);
            UNROLL for (int v = 0; v < V; ++v)
            {
                if (v > b) continue;
                const WORK(vec) c = OF(part)(f->a + j * n, v, n);
                x[v] = WORK(minus_product)(x[v], v < b - 1 ? c : WORK(keep)(WORK(lanes_of)(above, v), c), u);
            }
        }
    }
}

/* x = D^-1 x: 1x1 pivots by their reciprocals, then 2x2 ones from what stood there. */
static inline void OF(divide)(const OF(factored) * f, const WORK(vec) * inverse, WORK(vec) * x, const int V)
{
    _Alignas(64) work before[MOST + 1], after[MOST + 1];
    UNROLL for (int v = 0; v < V; ++v) WORK(store)(before + v * WORK(LANES), x[v]);
    UNROLL for (int v = 0; v < V; ++v) x[v] = x[v] * inverse[v];
    if (!f->pairs) return;
    UNROLL for (int v = 0; v < V; ++v) WORK(store)(after + v * WORK(LANES), x[v]);
    for (uint32_t left = f->pairs; left; left &= left - 1) {
        const int s = __builtin_ctz(left);
        const real *d = f->a + s * (f->n + 1);
        const sd_pair_double pair = {d[0], d[1], d[f->n + 1]}, i = sd_pair_inverse_double(pair);
        const double first = before[s], second = before[s + 1];
        after[s] = (work)(i.a * first + i.b * second);
        after[s + 1] = (work)(i.b * first + i.c * second);
    }
    UNROLL for (int v = 0; v < V; ++v) x[v] = WORK(load)(after + v * WORK(LANES));
}

/* x = A^-1 x: the columns of the inverse one after the other, into a sum of each parity. */
static inline void OF(multiply)(const OF(factored) * f, WORK(vec) * x, const int V)
{
    const int n = f->n;
    _Alignas(64) work b[MOST + 1];
    WORK(vec) even[MOST / WORK(LANES)], odd[MOST / WORK(LANES)];
    UNROLL for (int v = 0; v < V; ++v)
    {
        WORK(store)(b + v * WORK(LANES), x[v]);
        even[v] = odd[v] = WORK(all)(0);
    }
    for (int j = 0; j < n; j += 2) {
        fetch_column(&f->next, j);
        fetch_column(&f->next, j + 1);
        UNROLL for (int v = 0; v < V; ++v)
        {
            if (v * WORK(LANES) >= n) continue;
            even[v] = WORK(plus_product)(even[v], OF(part)(f->a + j * n, v, n), WORK(all)(b[j]));
            if (j + 1 < n)
                odd[v] = WORK(plus_product)(odd[v], OF(part)(f->a + (j + 1) * n, v, n), WORK(all)(b[j + 1]));
        }
    }
    UNROLL for (int v = 0; v < V; ++v) x[v] = even[v] + odd[v];
}

/* A Gauss-Huard block, in the precision of the work: its rows, and its columns above the diagonal. */
typedef struct OF(rows) {
    _Alignas(64) work lower[MOST * MOST], upper[MOST * MOST];
} OF(rows);

/* Column k above the diagonal of a transposed block is its row n - 1 - k, from the end. */
static inline void OF(unpack_huard)(const OF(factored) * f, OF(rows) * r, const int V)
{
    const int n = f->n, ld = V * WORK(LANES);
    for (int j = 0; j < n; ++j) {
        fetch_column(&f->next, j);
        UNROLL for (int v = 0; v < V; ++v) if (v * WORK(LANES) < n)
            WORK(store)(r->upper + (j * V + v) * WORK(LANES), OF(part)(f->a + j * n, v, n));
    }
    WORK(transpose)(r->upper, r->lower, n, n, ld);
    if (f->kernel == SD_HUARD) return;
    _Alignas(64) int32_t reversed[MOST];
    for (int i = 0; i < ld; ++i) reversed[i] = i < n ? n - 1 - i : i;
    const WORK(order) order = WORK(order_of)(reversed, V);
    for (int k = 0; k < n; ++k)
        UNROLL for (int v = 0; v < V; ++v) WORK(store)(
            r->upper + (k * V + v) * WORK(LANES), WORK(ordered)(r->lower + (n - 1 - k) * ld, &order, v, V));
}

/* Lines 7, 15 and 18 of Figure 1 of Anzt et al., Variable-size batched Gauss-Huard. */
static inline void OF(solve_huard)(const OF(rows) * r, int n, const WORK(vec) * inverse, WORK(vec) * x,
                                   const int V)
{
    UNROLL for (int b = 0; b < V; ++b)
    {
        for (int l = 0; l < WORK(LANES) && b * WORK(LANES) + l < n; ++l) {
            const int k = b * WORK(LANES) + l;
            const WORK(lanes) before = WORK(lanes_of)(OF(rows_below)(k), b);
            const work *row = r->lower + k * V * WORK(LANES), *column = r->upper + k * V * WORK(LANES);
            WORK(vec) sum = WORK(keep)(before, WORK(load)(row + b * WORK(LANES))) * x[b];
            UNROLL for (int v = 0; v < b; ++v) sum =
                WORK(plus_product)(sum, WORK(load)(row + v * WORK(LANES)), x[v]);
            const WORK(vec) u = (WORK(spread)(x[b], l) - WORK(total)(sum)) * WORK(spread)(inverse[b], l);
            const WORK(vec) c = WORK(keep)(before, WORK(load)(column + b * WORK(LANES)));
            UNROLL for (int v = 0; v < b; ++v) x[v] =
                WORK(minus_product)(x[v], WORK(load)(column + v * WORK(LANES)), u);
            x[b] = WORK(choose)(WORK(lanes_of)(UINT32_C(1) << k, b), u, WORK(minus_product)(x[b], c, u));
        }
    }
}

/* One right-hand side x of a block. */
static inline void OF(solve)(const OF(factored) * f, const WORK(vec) * inverse, const OF(rows) * r, work *x,
                             const int V)
{
    WORK(vec) z[MOST / WORK(LANES)];
    UNROLL for (int v = 0; v < V; ++v) z[v] = WORK(load)(x + v * WORK(LANES));
    if (f->kernel == SD_JORDAN) {
        OF(multiply)(f, z, V);
    } else if (f->kernel >= SD_HUARD) {
        OF(solve_huard)(r, f->n, inverse, z, V);
    } else if (f->kernel == SD_LLT || f->kernel == SD_LLT_DIAGONAL) {
        OF(forward)(f, inverse, z, V);
        OF(backward)(f, inverse, z, V);
    } else {
        OF(forward)(f, NULL, z, V);
        OF(divide)(f, inverse, z, V);
        OF(backward)(f, NULL, z, V);
    }
    UNROLL for (int v = 0; v < V; ++v) WORK(store)(x + v * WORK(LANES), z[v]);
}

/* All right-hand sides of one block. */
static inline void OF(apply_job)(const OF(factored) * f, const sd_block_plan *plan, int32_t row, int columns,
                                 const work *b, work *y, const int V)
{
    const int n = f->n;
    const uint8_t *to = sd_block_symmetric(f->kernel) ? f->row : f->column;
    _Alignas(64) work x[MOST];
    WORK(vec) inverse[MOST / WORK(LANES)];
    OF(rows) r;
    OF(reciprocals)(f, inverse, V);
    if (f->kernel >= SD_HUARD) OF(unpack_huard)(f, &r, V);
    UNROLL for (int v = 0; v < V; ++v) WORK(store)(x + v * WORK(LANES), WORK(all)(0));
    for (int64_t c = 0; c < columns; ++c) {
        const work *from = b + c * plan->rows;
        work *out = y + c * plan->rows;
        for (int i = 0; i < n; ++i) {
            const int32_t at = row + f->row[i];
            x[i] = from[plan->source ? plan->source[at] : at];
        }
        OF(solve)(f, inverse, &r, x, V);
        for (int i = 0; i < n; ++i) {
            const int32_t at = row + to[i];
            out[plan->target ? plan->target[at] : at] = x[i];
        }
    }
}

/* What a piece of work wants to know. */
typedef struct OF(applying) {
    const sd_block_factors *x;
    int columns;
    const work *b;
    work *y;
} OF(applying);

static inline void OF(apply_jobs)(const OF(applying) * w, piece p, const int V)
{
    const sd_block_factors *x = w->x;
    const sd_block_plan *plan = x->plan;
    for (int32_t i = p.first; i < p.last; ++i) {
        const sd_block_job job = plan->job[i];
        const OF(factored) f = {
            .n = p.rows,
            .kernel = x->kernel,
            .pairs = x->state[job.block].pairs,
            .a = (const real *)x->data + job.entry,
            .row = x->row + job.row,
            .column = x->column + job.row,
            .next = {i + 1 < p.last ? (const char *)((const real *)x->data + plan->job[i + 1].entry) : NULL,
                     sizeof(real) * (size_t)p.rows}};
        OF(apply_job)(&f, plan, job.row, w->columns, w->b, w->y, V);
    }
}

/* One function a number of vectors. */
#define SIZED(rows)                                                                                          \
    static __attribute__((noinline, flatten)) void OF(apply_##rows)(const OF(applying) * w, piece p)         \
    {                                                                                                        \
        OF(apply_jobs)(w, p, (rows + WORK(LANES) - 1) / WORK(LANES));                                        \
    }
SIZED(8)
SIZED(16)
SIZED(32)
#undef SIZED

static void OF(apply_all)(sd_engine *e, const sd_block_factors *x, int columns, const work *b, work *y)
{
    const OF(applying) w = {x, columns, b, y};
    const int threads = team(e, x->plan);
    const pieces cut = cut_plan(x->plan);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, x->plan, k);
        if (p.rows <= 8)
            OF(apply_8)(&w, p);
        else if (p.rows <= 16)
            OF(apply_16)(&w, p);
        else
            OF(apply_32)(&w, p);
    }
}
