/*
 * Blocks and matrices: extraction of diagonal blocks, norms, products. Included once a precision by blocks.c.
 */

/* Entry (r, c) of the blocks, where these are rows of one block. */
static inline void NAME(put_entry)(const sd_block_map *map, int32_t r, int32_t c, real value, real *data)
{
    const int32_t k = map->block[r], first = map->start[k], rows = map->start[k + 1] - first;
    if (c < first || c >= first + rows || map->entry[k] < 0) return;
    data[map->entry[k] + (r - first) + (int64_t)(c - first) * rows] = value;
}

/* No two entries of the matrix go to one place, so rows may be taken in any order. */
void PUBLIC(block_extract)(sd_engine *e, const sd_sparse *A, const sd_block_map *map, sd_blocks *x)
{
    if (e->status) return;
    real *data = x->data;
    const real *value = A->val;
    const int threads = team(e, x->plan);
    const int64_t entries = x->plan->entries;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < entries; ++k) data[k] = 0;
#pragma omp for schedule(dynamic, 512)
        for (int32_t i = 0; i < A->n; ++i) {
            const int32_t r = map->row_place ? map->row_place[i] : i;
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
                const int32_t c = map->column_place ? map->column_place[A->ind[k]] : A->ind[k];
                NAME(put_entry)(map, r, c, value[k], data);
                if (A->half) NAME(put_entry)(map, c, r, value[k], data);
            }
        }
    }
}

/* The 1-norm of a block, in double. */
static inline double NAME(norm_of)(const real *a, int n)
{
    double norm = 0;
    for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += fabs((double)a[i + j * n]);
        if (!(sum <= DBL_MAX)) return DBL_MAX;
        if (sum > norm) norm = sum;
    }
    return norm;
}

void PUBLIC(block_norms)(sd_engine *e, const sd_blocks *x, sd_vector *norms)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    double *norm = norms->data;
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
    if (plan->count < plan->blocks) memset(norm, 0, sizeof *norm * (size_t)plan->blocks);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, plan, k);
        for (int32_t i = p.first; i < p.last; ++i)
            norm[plan->job[i].block] = NAME(norm_of)((const real *)x->data + plan->job[i].entry, p.rows);
    }
}

/* W = A D, rows x inner, a column at every ld, for one term. */
static inline void NAME(times_pivots)(const sd_block_term *t, int rows, const real *a,
                                      const sd_block_factors *d, int ld, real *w)
{
    const int inner = t->inner;
    const real *f = t->d < 0 ? NULL : (const real *)d->data + t->d;
    const uint32_t pairs = f ? d->state[t->d_block].pairs : 0;
    for (int s = 0; s < inner; ++s)
        for (int i = 0; i < ld; ++i)
            w[i + s * ld] = i >= rows ? 0 : t->a_transposed ? a[s + i * inner] : a[i + s * rows];
    for (int s = 0; f && s < inner; ++s) {
        real *u = w + s * ld, *v = u + ld;
        if (pairs >> s & 1) {
            const real p = f[s * (inner + 1)], q = f[s * (inner + 1) + 1], r = f[(s + 1) * (inner + 1)];
            for (int i = 0; i < rows; ++i) {
                const real first = u[i], second = v[i];
                u[i] = MATH(fma)(first, p, second * q);
                v[i] = MATH(fma)(first, q, second * r);
            }
            ++s;
        } else {
            for (int i = 0; i < rows; ++i) u[i] *= f[s * (inner + 1)];
        }
    }
}

/* `width` columns of C, from column j on: C <- C - W B' for one term. */
static inline __attribute__((always_inline)) void NAME(subtract_columns)(const sd_block_term *t, int columns,
                                                                         const real *w, const real *b, int ld,
                                                                         int j, real *c, const int V,
                                                                         const int width)
{
    NAME(vec) sum[4][MOST / NAME(LANES)] = {{{0}}};
    UNROLL for (int k = 0; k < width; ++k) UNROLL for (int v = 0; v < V; ++v) sum[k][v] =
        NAME(load)(c + (j + k) * ld + v * NAME(LANES));
    for (int s = 0; s < t->inner; ++s) {
        UNROLL for (int k = 0; k < width; ++k)
        {
            const NAME(vec) u =
                NAME(all)(t->b_transposed ? b[s + (j + k) * t->inner] : b[j + k + s * columns]);
            UNROLL for (int v = 0; v < V; ++v) sum[k][v] =
                NAME(minus_product)(sum[k][v], NAME(load)(w + s * ld + v * NAME(LANES)), u);
        }
    }
    UNROLL for (int k = 0; k < width; ++k) UNROLL for (int v = 0; v < V; ++v)
        NAME(store)(c + (j + k) * ld + v * NAME(LANES), sum[k][v]);
}

/* All terms of one target, in order. */
static inline __attribute__((always_inline)) void
NAME(subtract_target)(const sd_block_products *p, const sd_block_target *target, const real *x,
                      const sd_block_factors *d, real *out, const int V)
{
    const int rows = target->rows, columns = target->columns, ld = V * NAME(LANES);
    _Alignas(64) real c[MOST * MOST], w[MOST * MOST];
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < ld; ++i) c[i + j * ld] = i < rows ? out[i + j * rows] : 0;
    for (int32_t t = target->first; t < target->last; ++t) {
        const sd_block_term *term = &p->term[t];
        NAME(times_pivots)(term, rows, x + term->a, d, ld, w);
        int j = 0;
        for (; j + 3 < columns; j += 4) NAME(subtract_columns)(term, columns, w, x + term->b, ld, j, c, V, 4);
        for (; j < columns; ++j) NAME(subtract_columns)(term, columns, w, x + term->b, ld, j, c, V, 1);
    }
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
            out[i + j * rows] = target->symmetric && i < j ? c[j + i * ld] : c[i + j * ld];
}

void PUBLIC(block_subtract)(sd_engine *e, const sd_block_products *p, const sd_blocks *x,
                            const sd_block_factors *d, sd_blocks *c)
{
    if (e->status) return;
    real *out = c->data;
    const int threads = p->targets < PIECE ? 1 : e->threads;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < p->targets; ++k) {
        const sd_block_target *t = &p->target[k];
        if (t->rows <= 8)
            NAME(subtract_target)(p, t, x->data, d, out + t->c, VECTORS(8));
        else if (t->rows <= 16)
            NAME(subtract_target)(p, t, x->data, d, out + t->c, VECTORS(16));
        else
            NAME(subtract_target)(p, t, x->data, d, out + t->c, VECTORS(32));
    }
}

/* c + a b, as the vectors round it. */
static inline real NAME(fused)(real c, real a, real b)
{
#ifdef __AVX2__
    return MATH(fma)(a, b, c);
#else
    return c + a * b;
#endif
}

/* Column c of the inverse of L D L', in the order of the pivots: y = L'^-1 D^-1 L^-1 y, y a column of the
 * permutation. */
static inline void NAME(solve_unit)(const real *f, int n, uint32_t pairs, const uint8_t *row, int c, real *y)
{
    for (int s = 0; s < n; ++s) y[s] = row[s] == c ? 1 : 0;
    for (int s = 0; s < n; ++s) {
        if (s > 0 && pairs >> (s - 1) & 1) continue;
        const int width = pairs >> s & 1 ? 2 : 1;
        for (int i = s + width; i < n; ++i)
            for (int j = s; j < s + width; ++j) y[i] = NAME(fused)(y[i], -f[i + j * n], y[j]);
    }
    for (int s = 0; s < n; ++s) {
        if (pairs >> s & 1) {
            const NAME(sd_pair) p = {f[s + s * n], f[s + 1 + s * n], f[s + 1 + (s + 1) * n]};
            NAME(sd_pair_solve)(NAME(sd_pair_solver_of)(p), &y[s], &y[s + 1]);
            ++s;
        } else {
            y[s] /= f[s + s * n];
        }
    }
    for (int s = n - 1; s >= 0; --s) {
        const int first = s > 0 && pairs >> (s - 1) & 1 ? s - 1 : s;
        for (int j = first; j <= s; ++j)
            for (int i = s + 1; i < n; ++i) y[j] = NAME(fused)(y[j], -f[i + j * n], y[i]);
        s = first;
    }
}

void PUBLIC(block_invert)(sd_engine *e, const sd_block_factors *x, sd_blocks *y)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, plan, k);
        for (int32_t i = p.first; i < p.last; ++i) {
            const sd_block_job job = plan->job[i];
            const uint8_t *row = x->row + job.row;
            real *to = (real *)y->data + job.entry, column[MOST];
            for (int c = 0; c < p.rows; ++c) {
                NAME(solve_unit)
                ((const real *)x->data + job.entry, p.rows, x->state[job.block].pairs, row, c, column);
                for (int s = 0; s < p.rows; ++s)
                    if (row[s] >= c) to[row[s] + c * p.rows] = to[c + row[s] * p.rows] = column[s];
            }
        }
    }
}
