/*
 * Application of factored blocks, y = F^-1 b, the factors in `real` and the vectors and all arithmetic in
 * `work`. Included once a pair of these by blocks.c, with
 * NAME_WORK, and WORK for the names of blocks.h, defined. No header of its own.
 */

/* One block's factors, as they are stored. */
typedef struct NAME_WORK(factored) {
    int n;
    sd_block_kernel kernel;
    uint32_t pairs;
    const real *a;
    const uint8_t *row, *column;
} NAME_WORK(factored);

static inline work NAME_WORK(entry)(const NAME_WORK(factored) * f, int i, int j)
{
    return (work)f->a[i + j * f->n];
}

/* x = L^-1 x, L unit lower triangular. The first subdiagonal entry of a 2x2 pivot is D's, not L's. */
static void NAME_WORK(apply_forward)(const NAME_WORK(factored) * f, work *x)
{
    for (int j = 0; j < f->n; ++j)
        for (int i = j + 1 + (int)(f->pairs >> j & 1); i < f->n; ++i)
            x[i] -= NAME_WORK(entry)(f, i, j) * x[j];
}

/* x = U^-1 x, U unit upper triangular. */
static void NAME_WORK(apply_backward)(const NAME_WORK(factored) * f, work *x)
{
    for (int j = f->n - 1; j >= 0; --j)
        for (int i = j - 1; i >= 0; --i)
            if (i + 1 != j || !(f->pairs >> i & 1)) x[i] -= NAME_WORK(entry)(f, i, j) * x[j];
}

static void NAME_WORK(apply_diagonal)(const NAME_WORK(factored) * f, work *x)
{
    for (int s = 0; s < f->n; ++s) {
        if (f->pairs >> s & 1) {
            const WORK(sd_pair) d = {NAME_WORK(entry)(f, s, s), NAME_WORK(entry)(f, s + 1, s),
                                     NAME_WORK(entry)(f, s + 1, s + 1)};
            WORK(sd_pair_solve)(WORK(sd_pair_solver_of)(d), &x[s], &x[s + 1]);
            ++s;
        } else {
            x[s] /= NAME_WORK(entry)(f, s, s);
        }
    }
}

/* x = (L L')^-1 x */
static void NAME_WORK(apply_cholesky)(const NAME_WORK(factored) * f, work *x)
{
    for (int j = 0; j < f->n; ++j) {
        x[j] /= NAME_WORK(entry)(f, j, j);
        for (int i = j + 1; i < f->n; ++i) x[i] -= NAME_WORK(entry)(f, i, j) * x[j];
    }
    for (int j = f->n - 1; j >= 0; --j) {
        x[j] /= NAME_WORK(entry)(f, j, j);
        for (int i = j - 1; i >= 0; --i) x[i] -= NAME_WORK(entry)(f, i, j) * x[j];
    }
}

/* x = M x, M the inverse */
static void NAME_WORK(apply_inverse)(const NAME_WORK(factored) * f, work *x)
{
    work b[SD_BLOCK_MOST];
    memcpy(b, x, sizeof *x * (size_t)f->n);
    for (int i = 0; i < f->n; ++i) {
        x[i] = 0;
        for (int j = 0; j < f->n; ++j) x[i] += NAME_WORK(entry)(f, i, j) * b[j];
    }
}

/* Lines 7, 15 and 18 of Figure 1 of Anzt et al., Variable-size batched Gauss-Huard. */
static void NAME_WORK(apply_huard)(const NAME_WORK(factored) * f, work *x)
{
    const int n = f->n;
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < k; ++j) x[k] -= NAME_WORK(entry)(f, k, j) * x[j];
        x[k] /= NAME_WORK(entry)(f, k, k);
        for (int i = 0; i < k; ++i) {
            const work u =
                f->kernel == SD_HUARD ? NAME_WORK(entry)(f, i, k) : NAME_WORK(entry)(f, n - 1 - k, n - 1 - i);
            x[i] -= u * x[k];
        }
    }
}

/* x = (P' F Q')^-1 x, P and Q the permutations of the block; a symmetric one has Q = P'. */
static void NAME_WORK(apply_block)(const NAME_WORK(factored) * f, work *x)
{
    work z[SD_BLOCK_MOST];
    for (int i = 0; i < f->n; ++i) z[i] = x[f->row[i]];
    switch (f->kernel) {
    case SD_LLT:
    case SD_LLT_DIAGONAL: NAME_WORK(apply_cholesky)(f, z); break;
    case SD_JORDAN: NAME_WORK(apply_inverse)(f, z); break;
    case SD_HUARD:
    case SD_HUARD_TRANSPOSED: NAME_WORK(apply_huard)(f, z); break;
    default:
        NAME_WORK(apply_forward)(f, z);
        NAME_WORK(apply_diagonal)(f, z);
        NAME_WORK(apply_backward)(f, z);
    }
    const uint8_t *to = sd_block_symmetric(f->kernel) ? f->row : f->column;
    for (int i = 0; i < f->n; ++i) x[to[i]] = z[i];
}

static void NAME_WORK(apply_all)(const sd_block_factors *x, int columns, const work *b, work *y)
{
    const sd_block_plan *plan = x->plan;
    for (int32_t k = 0; k < plan->count; ++k) {
        const sd_block_job job = plan->job[k];
        const NAME_WORK(factored) f = {.n = rows_of_job(plan, k),
                                       .kernel = x->kernel,
                                       .pairs = x->state[job.block].pairs,
                                       .a = (const real *)x->data + job.entry,
                                       .row = x->row + job.row,
                                       .column = x->column + job.row};
        for (int64_t c = 0; c < columns; ++c) {
            work z[SD_BLOCK_MOST];
            for (int32_t i = 0, r = job.row; i < f.n; ++i, ++r)
                z[i] = b[c * plan->rows + (plan->source ? plan->source[r] : r)];
            NAME_WORK(apply_block)(&f, z);
            for (int32_t i = 0, r = job.row; i < f.n; ++i, ++r)
                y[c * plan->rows + (plan->target ? plan->target[r] : r)] = z[i];
        }
    }
}
