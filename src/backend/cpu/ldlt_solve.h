/*
 * Triangular solves with a block LDL', in `real`: see backend/ldlt.h. Rows of one level are shared among
 * threads; levels that are too thin for that follow one another on one thread. A row's sums are in the order
 * of its list, whoever makes them. Included once a precision by ldlt.c. No header of its own.
 */

/* sum <- sum + B v, B a block as its row lists it; the stored columns stand for those of the other side. */
static inline void NAME(add_block)(const sd_ldlt_block *b, const real *data, const real *v, real *sum)
{
    const int rows = b->height;
    const real *c = data + b->entry;
    real part[SD_BLOCK_MOST];
    for (int r = 0; r < rows; ++r) part[r] = 0;
    for (uint32_t left = b->columns; left; left &= left - 1, c += rows) {
        const real factor = v[__builtin_ctz(left)];
        for (int r = 0; r < rows; ++r) part[r] = FUSED(c[r], factor, part[r]);
    }
    const real *p = part;
    for (uint32_t left = b->rows; left; left &= left - 1) sum[__builtin_ctz(left)] += *p++;
}

/* The same where they stand for its own rows. */
static inline void NAME(add_transposed)(const sd_ldlt_block *b, const real *data, const real *v, real *sum)
{
    const int columns = b->width;
    const real *c = data + b->entry;
    real part[SD_BLOCK_MOST], *p = part;
    for (uint32_t left = b->columns; left; left &= left - 1) *p++ = v[__builtin_ctz(left)];
    for (uint32_t left = b->rows; left; left &= left - 1, c += columns) {
        real total = 0;
        for (int k = 0; k < columns; ++k) total = FUSED(c[k], part[k], total);
        sum[__builtin_ctz(left)] += total;
    }
}

/* sum <- sum + what blocks begin .. end) of the list make of v. */
static inline void NAME(add_list)(const sd_ldlt_factors *x, int64_t begin, int64_t end, const real *v,
                                  real *sum)
{
    for (int64_t k = begin; k < end; ++k) {
        const sd_ldlt_block *block = &x->list[k];
        if (block->transposed)
            NAME(add_transposed)(block, x->data, v + x->start[block->other], sum);
        else
            NAME(add_block)(block, x->data, v + x->start[block->other], sum);
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
    const real *g = (const real *)x->inverse + x->square[i];
    real sum[SD_BLOCK_MOST] = {0}, product[SD_BLOCK_MOST] = {0};
    NAME(add_list)(x, begin, last, from, sum);
    for (int p = 0; p < size && forward; ++p) sum[p] = b[first + p] - sum[p];
    for (int p = 0; p < size && (forward || begin < last); ++p)
        for (int q = 0; q < size; ++q) product[q] = FUSED(g[q + p * size], sum[p], product[q]);
    for (int q = 0; q < size; ++q) to[first + q] = forward ? product[q] : b[first + q] - product[q];
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
