/*
 * Triangular solves with a block LDL', in `real`: see backend/ldlt.h. Rows of one level are shared among
 * threads; levels that are too thin for that follow one another on one thread. A row's sums are in the order
 * of its list, whoever makes them. Included once a precision by ldlt.c. No header of its own.
 */

/* The first n numbers, at most LANES; all of them in one load where they fill a vector. */
static inline NAME(vec) NAME(load_some)(const real *p, int n)
{
    return n >= NAME(LANES) ? NAME(load)(p) : NAME(load_part)(p, n);
}

/* sum <- sum - B v, B a block as its row lists it; the stored columns stand for those of the other side. */
static inline void NAME(minus_block)(const sd_ldlt_block *b, const real *data, const real *v, real *sum)
{
    const int rows = b->height;
    const real *c = data + b->entry;
    for (int r = 0; r < rows; r += NAME(LANES)) {
        const real *at = c + r;
        const int left = rows - r;
        NAME(vec) part = {0};
        for (uint32_t bits = b->columns; bits; bits &= bits - 1, at += rows)
            part = NAME(minus_product)(part, NAME(all)(v[__builtin_ctz(bits)]), NAME(load_some)(at, left));
        if (rows == 8 * (int)sizeof(b->rows) || b->rows >> rows == 0) { /* rows without gaps */
            NAME(store)(sum + r, NAME(load)(sum + r) + part);
            continue;
        }
        uint32_t bits = b->rows;
        for (int k = 0; k < r; ++k) bits &= bits - 1;
        for (int k = 0; k < NAME(LANES) && bits; ++k, bits &= bits - 1) sum[__builtin_ctz(bits)] += part[k];
    }
}

/* The same where they stand for its own rows: lane by lane, to be added up when the row is done. */
static inline void NAME(minus_transposed)(const sd_ldlt_block *b, const real *data, const real *v,
                                          NAME(vec) * lanes)
{
    const int columns = b->width;
    const real *c = data + b->entry, *x = v;
    real packed[SD_BLOCK_MOST];
    if (columns < 8 * (int)sizeof(b->columns) && b->columns >> columns) {
        real *next = packed;
        for (uint32_t left = b->columns; left; left &= left - 1) *next++ = v[__builtin_ctz(left)];
        x = packed;
    }
    for (int k = 0; k < columns; k += NAME(LANES)) {
        const NAME(vec) with = NAME(load_some)(x + k, columns - k);
        const real *at = c + k;
        for (uint32_t left = b->rows; left; left &= left - 1, at += columns) {
            NAME(vec) *const sum = &lanes[__builtin_ctz(left)];
            *sum = NAME(minus_product)(*sum, with, NAME(load_some)(at, columns - k));
        }
    }
}

/* sum <- sum - the blocks list[begin .. last) of a row of `size` rows times those of v that they stand for.
 */
static inline void NAME(minus_list)(const sd_ldlt_factors *x, int64_t begin, int64_t last, const real *v,
                                    int size, real *sum)
{
    enum { AHEAD = 4 };
    const real *const data = x->data;
    NAME(vec) lanes[SD_BLOCK_MOST];
    if (begin == last) return;
    for (int p = 0; p < size; ++p) lanes[p] = (NAME(vec)){0};
    for (int64_t k = begin; k < last; ++k) {
        const sd_ldlt_block *const block = &x->list[k];
        if (k + AHEAD < last) __builtin_prefetch(data + x->list[k + AHEAD].entry);
        if (block->transposed)
            NAME(minus_transposed)(block, data, v + x->start[block->other], lanes);
        else
            NAME(minus_block)(block, data, v + x->start[block->other], sum);
    }
    for (int p = 0; p < size; ++p) sum[p] += NAME(sum_lanes)(lanes[p]);
}

/* y <- y + G x, size x size; y has room for whole vectors. */
static inline void NAME(plus_inverse)(const real *g, int size, const real *x, real *y)
{
    for (int r = 0; r < size; r += NAME(LANES)) {
        NAME(vec) sum = NAME(load)(y + r);
        for (int p = 0; p < size; ++p)
            sum = NAME(minus_product)(sum, NAME(all)(-x[p]), NAME(load_some)(g + p * size + r, size - r));
        NAME(store)(y + r, sum);
    }
}

/* Row i of a solve or a sweep: forward to_i = G_i (b_i - sum C_ik from_k), backward to_i = b_i - G_i (sum
 * C_ki' from_k); from is NULL where it is 0. */
static void NAME(solve_row)(const sd_ldlt_factors *x, int32_t i, bool forward, const real *b,
                            const real *from, real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const int64_t begin = forward ? x->row[i] : x->diagonal[i];
    const int64_t last = !from ? begin : forward ? x->diagonal[i] : x->row[i + 1];
    const real *const g = (const real *)x->inverse + x->square[i];
    real sum[SD_BLOCK_MOST] = {0}, result[SD_BLOCK_MOST] = {0};
    NAME(minus_list)(x, begin, last, from, size, sum);
    for (int p = 0; p < size; ++p) *(forward ? &sum[p] : &result[p]) += b[first + p];
    if (forward || begin < last) NAME(plus_inverse)(g, size, sum, result);
    memcpy(to + first, result, (size_t)size * sizeof *to);
}

/* Whether a level is too little work for a team. */
static inline bool NAME(is_thin)(const sd_ldlt_factors *x, int32_t l)
{
    return x->row[x->level[l + 1]] - x->row[x->level[l]] < SD_LDLT_THIN;
}

static void NAME(solve_levels)(const sd_ldlt_factors *x, bool forward, int threads, real *y)
{
    int32_t l = forward ? 0 : x->levels - 1;
    const int32_t step = forward ? 1 : -1;
#pragma omp parallel num_threads(threads) if (threads > 1) firstprivate(l)
    while (l >= 0 && l < x->levels) {
        if (threads == 1 || !NAME(is_thin)(x, l)) {
#pragma omp for schedule(static)
            for (int32_t k = x->level[l]; k < x->level[l + 1]; ++k) NAME(solve_row)(x, k, forward, y, y, y);
            l += step;
        } else {
            int32_t beyond = l;
            while (beyond >= 0 && beyond < x->levels && NAME(is_thin)(x, beyond)) beyond += step;
#pragma omp single
            for (int32_t thin = l; thin != beyond; thin += step)
                for (int32_t k = x->level[thin]; k < x->level[thin + 1]; ++k)
                    NAME(solve_row)(x, k, forward, y, y, y);
            l = beyond;
        }
    }
}

static int NAME(team)(const sd_engine *e, const sd_ldlt_factors *x)
{
    return x->blocks < SD_LDLT_TEAM ? 1 : e->threads;
}

void PUBLIC(ldlt_enter)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *y)
{
    if (e->status) return;
    const real *const from = r->data, *const scale = x->scale;
    real *const to = y->data;
    const int threads = NAME(team)(e, x);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < x->n; ++k) to[k] = from[x->order[k]] * scale[k];
}

void PUBLIC(ldlt_leave)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *y, sd_vector *z)
{
    if (e->status) return;
    const real *const from = y->data, *const scale = x->scale;
    real *const to = z->data;
    const int threads = NAME(team)(e, x);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < x->n; ++k) to[x->order[k]] = from[k] * scale[k];
}

void PUBLIC(ldlt_sweep)(sd_engine *e, const sd_ldlt_factors *x, bool forward, const sd_vector *b,
                        const sd_vector *from, sd_vector *to)
{
    if (e->status) return;
    const int threads = NAME(team)(e, x);
#pragma omp parallel for schedule(dynamic, 32) num_threads(threads) if (threads > 1)
    for (int32_t i = 0; i < x->blocks; ++i)
        NAME(solve_row)(x, i, forward, b->data, from ? from->data : NULL, to->data);
}

void PUBLIC(ldlt_solve)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *z,
                        sd_vector *work)
{
    PUBLIC(ldlt_enter)(e, x, r, work);
    if (e->status) return;
    NAME(solve_levels)(x, true, NAME(team)(e, x), work->data);
    NAME(solve_levels)(x, false, NAME(team)(e, x), work->data);
    PUBLIC(ldlt_leave)(e, x, work, z);
}
