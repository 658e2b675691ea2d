/*
 * block_factor: blocks of one size in groups of FLIGHT, by their kernel. Included once a precision by
 * blocks.c, after the kernels.
 *
 * Blocks of a group do not see each other; where fewer are left than a group has, the last one is done again
 * and not written.
 */

/* What a piece of work wants to know. */
typedef struct NAME(factoring) {
    const sd_block_rule *rule;
    const sd_block_plan *plan;
    const real *from;
    sd_block_factors *f;
    bool stream; /* whether results are so many that they would only drive others from the caches */
} NAME(factoring);

/* SIDE of the blocks go side by side in LDU with partial pivoting, whose code is then written out SIDE times.
 */
static inline void NAME(eliminate_group)(NAME(block) * m, int n, sd_block_kernel kernel, const int V,
                                         const int K, const int SIDE)
{
    switch (kernel) {
    case SD_LDU:
        for (int k = 0; k < K; ++k) NAME(eliminate_rows)(&m[k], n, SD_LDU, V, 1);
        break;
    case SD_LDU_PARTIAL:
        for (int k = 0; k < K; k += SIDE) NAME(eliminate_rows)(&m[k], n, SD_LDU_PARTIAL, V, SIDE);
        break;
    case SD_JORDAN:
        for (int k = 0; k < K; ++k) NAME(eliminate_rows)(&m[k], n, SD_JORDAN, V, 1);
        break;
    case SD_LDU_FULL: NAME(eliminate_both)(m, n, V, K); break;
    case SD_LLT:
        for (int k = 0; k < K; ++k) NAME(cholesky)(&m[k], n, V);
        break;
    case SD_LLT_DIAGONAL:
        for (int k = 0; k < K; ++k) NAME(cholesky_diagonal)(&m[k], n, V);
        break;
    case SD_LDLT_STATIC: NAME(ldlt)(m, n, SD_LDLT_STATIC, V, K); break;
    case SD_LDLT_BUNCH_KAUFMAN: NAME(ldlt)(m, n, SD_LDLT_BUNCH_KAUFMAN, V, K); break;
    case SD_LDLT_COMPLETE: NAME(ldlt)(m, n, SD_LDLT_COMPLETE, V, K); break;
    default: NAME(huard)(m, n, V, K);
    }
}

/* Permutations and state of a job. The inverse has no permutation, though its pivots had. */
static inline void NAME(write_order)(const NAME(block) * m, const sd_block_job *job, sd_block_factors *f,
                                     int n)
{
    uint8_t row[MOST], column[MOST];
    for (int i = 0; i < MOST; ++i) row[i] = (uint8_t)(f->kernel == SD_JORDAN ? i : m->row[i]);
    for (int i = 0; i < MOST; ++i) column[i] = (uint8_t)m->column[i];
    memcpy(f->row + job->row, row, (size_t)n);
    memcpy(f->column + job->row, column, (size_t)n);
    f->state[job->block] = m->state;
}

/* Jobs first .. first + count), of n rows each. */
static inline void NAME(factor_jobs)(const NAME(factoring) * x, int32_t first, int32_t count, int n,
                                     const int V, const int K, const int SIDE)
{
    NAME(block) m[FLIGHT];
    const sd_block_kernel kernel = x->rule->kernel;
    const bool stream = x->stream && n == V * NAME(LANES);
    for (int32_t done = 0; done < count; done += K) {
        for (int k = 0; k < K; ++k) {
            const int32_t at = done + k < count ? done + k : count - 1;
            const bool last = done + K + k >= count;
            NAME(read_block)(x->from + x->plan->job[first + at].entry, n, x->rule, &m[k], V);
            m[k].next.column = sizeof(real) * (size_t)n;
            m[k].next.block = last ? NULL : (const char *)(x->from + x->plan->job[first + at + K].entry);
        }
        NAME(eliminate_group)(m, n, kernel, V, K, SIDE);
        for (int k = 0; k < K && done + k < count; ++k) {
            const sd_block_job *job = &x->plan->job[first + done + k];
            const bool aligned = job->entry % NAME(LANES) == 0; /* not after blocks of other sizes */
            NAME(write_block)
            (&m[k], x->from + job->entry, (real *)x->f->data + job->entry, n, kernel, stream && aligned, V);
            NAME(write_order)(&m[k], job, x->f, n);
        }
    }
}

/* One function a number of vectors. */
#define SIZED(rows, K, SIDE)                                                                                 \
    static __attribute__((noinline, flatten)) void NAME(factor_##rows)(const NAME(factoring) * x,            \
                                                                       int32_t first, int32_t count, int n)  \
    {                                                                                                        \
        NAME(factor_jobs)(x, first, count, n, VECTORS(rows), K, SIDE);                                       \
    }
#if defined(__AVX512F__)
SIZED(8, 4, 1)
SIZED(16, 3, 3)
SIZED(32, 2, 2)
#if !SINGLE
SIZED(24, 2, 2)
#endif
#else
SIZED(8, 4, 1)
SIZED(16, 2, 1)
SIZED(32, 1, 1)
#endif
#undef SIZED

/* SIMD inside a block. */
static __attribute__((noinline)) void NAME(factor_apart)(const NAME(factoring) * x, int32_t first,
                                                         int32_t count, int n)
{
    if (n <= 8)
        NAME(factor_8)(x, first, count, n);
    else if (n <= 16)
        NAME(factor_16)(x, first, count, n);
#if defined(__AVX512F__) && !SINGLE
    else if (n <= 24)
        NAME(factor_24)(x, first, count, n);
#endif
    else
        NAME(factor_32)(x, first, count, n);
}

#ifdef __AVX2__
#include "backend/cpu/block_abreast.h"

#include "backend/cpu/block_abreast_ldlt.h"

#include "backend/cpu/block_abreast_narrow.h"

#include "backend/cpu/block_abreast_factor.h"

#include "backend/cpu/block_narrow.h"
#endif
#if defined(__AVX512F__) && !SINGLE
#include "backend/cpu/block_registers.h"
#endif

static void NAME(factor_piece)(const NAME(factoring) * x, piece p)
{
    const int32_t count = p.last - p.first;
#ifdef __AVX2__
    const sd_block_kernel kernel = x->rule->kernel;
#if defined(__AVX512F__) && !SINGLE
    if (p.rows == ROWS && kernel == SD_LDU_PARTIAL)
        factor_in_registers(x, p.first, count);
    else
#endif
        if ((p.rows <= NARROW && (kernel == SD_LDU_PARTIAL || kernel == SD_LLT)) ||
            (p.rows == 4 && kernel == SD_LDU_FULL))
        NAME(factor_lanes)(x, p.first, count, p.rows);
    else if (kernel == SD_LDLT_STATIC || (kernel == SD_LDLT_BUNCH_KAUFMAN && p.rows <= LDLT_ABREAST))
        NAME(factor_ldlt)(x, p.first, count, p.rows);
    else
#endif
        NAME(factor_apart)(x, p.first, count, p.rows);
}

void PUBLIC(block_factor)(sd_engine *e, const sd_block_rule *rule, const sd_blocks *x, sd_block_factors *f)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    const bool stream =
        plan->entries * (int64_t)sizeof(real) > STREAM_FROM && (uintptr_t)f->data % sizeof(NAME(vec)) == 0;
    const NAME(factoring) what = {rule, plan, x->data, f, stream};
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
    f->kernel = rule->kernel;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) NAME(factor_piece)(&what, piece_of(&cut, plan, k));
}
