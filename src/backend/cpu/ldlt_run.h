/*
 * Block LDL' on a known pattern, in `real`: see backend/ldlt.h. A target stands in an accumulator by rows, as
 * the columns of ldlt_column.h do; of a product W C', C is spread over whole rows of vectors first. Included
 * once a precision by ldlt.c. No header of its own.
 */

void PUBLIC(ldlt_scatter)(sd_engine *e, const sd_sparse *A, const sd_ldlt_map *map, int64_t entries,
                          int64_t squares, sd_ldlt_numbers *x)
{
    if (e->status) return;
    real *const data = x->data, *const square = x->square;
    const int threads = A->n < TEAM_FROM ? 1 : e->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < entries; ++k) data[k] = 0;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < squares; ++k) square[k] = 0;
#pragma omp for schedule(dynamic, 512)
        for (int32_t i = 0; i < A->n; ++i) {
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
                const int64_t t = map->target[k];
                if (t == SD_LDLT_NOWHERE) continue;
                const real scaled = (real)sd_ldlt_scaled(sd_ldlt_number(A->val, A->precision, k),
                                                         map->scale[i], map->scale[A->ind[k]]);
                *(t >= 0 ? data + t : square - 1 - t) = scaled;
            }
        }
    }
}

/* A target at work. */
typedef struct NAME(target) {
    _Alignas(64) real sum[SD_BLOCK_MOST * SD_BLOCK_MOST]; /* by rows, ld apart */
    _Alignas(64) real spread[SD_BLOCK_MOST * SD_BLOCK_MOST];
} NAME(target);

/* sum <- sum - W_a C_b', in all rows of a and all columns of b. */
static inline __attribute__((always_inline)) void NAME(subtract_pair)(const sd_ldlt_shape *a,
                                                                      const sd_ldlt_shape *b,
                                                                      const sd_ldlt_numbers *from, int ld,
                                                                      NAME(target) * t, const int V)
{
    const real *const w = (const real *)from->weighed + a->weighed;
    const real *c = (const real *)from->data + b->entry;
    int place[SD_BLOCK_MOST];
    int count = 0;
    for (uint32_t left = b->rows; left; left &= left - 1) place[count++] = __builtin_ctz(left);
    for (int s = 0; s < b->width; ++s, c += b->height) {
        real *const row = t->spread + s * ld;
        UNROLL for (int v = 0; v < V; ++v) NAME(store)(row + v * NAME(LANES), (NAME(vec)){0});
        for (int k = 0; k < count; ++k) row[place[k]] = c[k];
    }
    const real *wi = w;
    for (uint32_t left = a->rows; left; left &= left - 1, ++wi) {
        real *const row = t->sum + __builtin_ctz(left) * ld;
        NAME(vec) sum[NAME(MOST_VECTORS)];
        UNROLL for (int v = 0; v < V; ++v) sum[v] = NAME(load)(row + v * NAME(LANES));
        const real *with = t->spread;
        for (uint32_t inner = b->columns; inner; inner &= inner - 1, with += ld) {
            const NAME(vec) factor = NAME(all)(wi[__builtin_ctz(inner) * a->height]);
            UNROLL for (int v = 0; v < V; ++v) sum[v] =
                NAME(minus_product)(sum[v], factor, NAME(load)(with + v * NAME(LANES)));
        }
        UNROLL for (int v = 0; v < V; ++v) NAME(store)(row + v * NAME(LANES), sum[v]);
    }
}

static inline __attribute__((always_inline)) void NAME(subtract_pairs)(const sd_ldlt_run *p, int64_t t,
                                                                       const sd_ldlt_numbers *from, int ld,
                                                                       NAME(target) * at, const int V)
{
    for (int64_t k = p->first[t]; k < p->first[t + 1]; ++k)
        NAME(subtract_pair)(&p->shape[p->pair[k].a], &p->shape[p->pair[k].b], from, ld, at, V);
}

static void NAME(update_shape)(const sd_ldlt_run *p, int32_t t, const real *a, const sd_ldlt_numbers *from,
                               real *x)
{
    const sd_ldlt_shape *const shape = &p->shape[t];
    const int ld = sd_ldlt_ld(shape->size, SINGLE ? SD_SINGLE : SD_DOUBLE);
    const int rows = p->start[shape->row + 1] - p->start[shape->row];
    NAME(target) at;
    const real *next = a + shape->entry;
    if (p->first[t] == p->first[t + 1]) {
        if (x != a) memcpy(x + shape->entry, next, (size_t)(shape->height * shape->width) * sizeof *x);
        return;
    }
    memset(at.sum, 0, (size_t)(rows * ld) * sizeof *at.sum);
    for (uint32_t c = shape->columns; c; c &= c - 1)
        for (uint32_t r = shape->rows; r; r &= r - 1)
            at.sum[__builtin_ctz(r) * ld + __builtin_ctz(c)] = *next++;
    BY_WIDTH(ld, NAME(subtract_pairs), p, t, from, ld, &at);
    NAME(keep_block)(at.sum, ld, shape->rows, shape->columns, x + shape->entry);
}

static void NAME(update_square)(const sd_ldlt_run *p, int32_t j, const real *a, const sd_ldlt_numbers *from,
                                real *x)
{
    const int size = p->start[j + 1] - p->start[j], ld = sd_ldlt_ld(size, SINGLE ? SD_SINGLE : SD_DOUBLE);
    NAME(target) at;
    memset(at.sum, 0, (size_t)(size * ld) * sizeof *at.sum);
    for (int c = 0; c < size; ++c)
        for (int r = c; r < size; ++r) at.sum[r * ld + c] = a[p->square[j] + r + c * size];
    BY_WIDTH(ld, NAME(subtract_pairs), p, (int64_t)p->count + j, from, ld, &at);
    NAME(keep_diagonal)(at.sum, ld, size, x + p->square[j]);
}

void PUBLIC(ldlt_update)(sd_engine *e, const sd_ldlt_run *p, const sd_ldlt_part *part,
                         const sd_ldlt_numbers *a, const sd_ldlt_numbers *from, sd_ldlt_numbers *x)
{
    if (e->status) return;
    const int threads =
        part->shape_end - part->shape + part->block_end - part->block < LEVEL_TEAM ? 1 : e->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(dynamic, 16) nowait
        for (int32_t t = part->shape; t < part->shape_end; ++t)
            NAME(update_shape)(p, t, a->data, from, x->data);
#pragma omp for schedule(dynamic, 8)
        for (int32_t j = part->block; j < part->block_end; ++j)
            NAME(update_square)(p, j, a->square, from, x->square);
    }
}

void PUBLIC(ldlt_weigh)(sd_engine *e, const sd_ldlt_run *p, const sd_ldlt_part *part, sd_ldlt_numbers *x)
{
    if (e->status) return;
    const int threads =
        part->shape_end - part->shape + part->block_end - part->block < LEVEL_TEAM ? 1 : e->threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t t = part->shape; t < part->shape_end; ++t) {
        const sd_ldlt_shape *const a = &p->shape[t];
        const real *const c = (const real *)x->data + a->entry;
        const real *const g = (const real *)x->inverse + p->square[a->column];
        for (int s = 0; s < a->size; ++s) {
            real *const w = (real *)x->weighed + a->weighed + s * a->height;
            const real *from = c;
            for (int i = 0; i < a->height; ++i) w[i] = 0;
            for (uint32_t left = a->columns; left; left &= left - 1, from += a->height) {
                const real factor = g[__builtin_ctz(left) + s * a->size];
                for (int i = 0; i < a->height; ++i) w[i] = FUSED(from[i], factor, w[i]);
            }
        }
    }
}
