/*
 * The CPU's kernels on batches of small dense blocks for one instruction set. Results may differ in their
 * last bits between instruction sets; never by the number of threads, nor by where in a batch a block stands.
 *
 * SIMD runs across blocks, one a lane (batch_narrow.inc, batch_abreast.inc), or inside a block: a column is
 * then V vectors of rows. Permutations are implicit until a result is written (Anzt et al., Variable-size
 * batched Gauss-Huard; Thuerck, Stretching Jacobi), and a few blocks are eliminated side by side, as the
 * search for one's pivot leaves the processor waiting. The kernels are templates in V, the constant argument
 * of functions that are all inlined.
 */
#include "backend/cpu/isa.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = SD_BLOCK_MOST,
    NARROW = 8,            /* rows of blocks that may be eliminated one a lane */
    FLIGHT = 4,            /* blocks that are eliminated side by side, at most */
    PIECE = 64,            /* blocks that one thread takes at a time, or four times as many small ones */
    TEAM_FROM = 512,       /* blocks below which a team of threads costs more than it saves */
    STREAM_FROM = 16 << 20 /* bytes of results that are written past the caches */
};

/* A block that is read soon: asked for a column at a time beside the elimination of another, as all at once
 * would hold up what is needed now. */
typedef struct ahead {
    const char *block; /* NULL: none */
    size_t column;     /* bytes */
} ahead;

static inline void fetch_column(const ahead *next, int j)
{
    if (!next->block) return;
    const char *first = next->block + (size_t)j * next->column;
    for (size_t k = 0; k < next->column; k += 64) __builtin_prefetch(first + k, 0, 2);
}

#ifdef __AVX2__
/* Entry (i, j), i >= j, of a lower triangle of n rows by columns. */
static inline int place(int n, int i, int j)
{
    return j * (2 * n - j - 1) / 2 + i;
}
#endif

static int team(const sd_engine *e, const sd_batch_plan *plan)
{
    return plan->count < TEAM_FROM ? 1 : e->threads;
}

/* The jobs of a plan in pieces of one size of blocks: those of s rows begin with piece first[s]. */
typedef struct pieces {
    int32_t count;
    int32_t first[MOST + 2];
} pieces;

typedef struct piece {
    int32_t first, last;
    int rows;
} piece;

static int32_t piece_of_rows(int s)
{
    return s <= NARROW ? 4 * PIECE : PIECE;
}

static pieces cut_plan(const sd_batch_plan *plan)
{
    pieces p = {0};
    for (int s = 0; s <= MOST; ++s) {
        const int32_t size = piece_of_rows(s), blocks = plan->first[s + 1] - plan->first[s];
        p.first[s + 1] = p.first[s] + (blocks + size - 1) / size;
    }
    p.count = p.first[MOST + 1];
    return p;
}

static piece piece_of(const pieces *p, const sd_batch_plan *plan, int32_t k)
{
    int s = 1;
    while (p->first[s + 1] <= k) ++s;
    const int32_t size = piece_of_rows(s), first = plan->first[s] + (k - p->first[s]) * size;
    const int32_t left = plan->first[s + 1] - first;
    return (piece){first, first + (left < size ? left : size), s};
}

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) SD_ISA(x##_double)
#define MATH(x) x
#define SINGLE 0
#define TINY SD_BLOCK_TINY_DOUBLE
#define LARGEST DBL_MAX
typedef int64_t integer_double;
#define LDLT_ABREAST MOST /* rows up to which Bunch-Kaufman is faster one block a lane */
#include "backend/cpu/batch_kernels.inc"
#define work double
#define OF(x) x##_double
#define WORK(x) x##_double
#define MIXED 0
#include "backend/cpu/batch_apply.inc"
#undef work
#undef OF
#undef WORK
#undef real
#undef NAME
#undef PUBLIC
#undef MATH
#undef SINGLE
#undef TINY
#undef LARGEST

#define real float
#define NAME(x) x##_single
#define PUBLIC(x) SD_ISA(x##_single)
#define MATH(x) x##f
#define SINGLE 1
#define TINY SD_BLOCK_TINY_SINGLE
#define LARGEST FLT_MAX
typedef int32_t integer_single;
#undef LDLT_ABREAST
#define LDLT_ABREAST 16
#include "backend/cpu/batch_kernels.inc"
#define work float
#define OF(x) x##_single
#define WORK(x) x##_single
#include "backend/cpu/batch_apply.inc"
#undef work
#undef OF
#undef WORK
#undef MIXED
#define work double
#define OF(x) x##_mixed
#define WORK(x) x##_double
#define MIXED 1
#include "backend/cpu/batch_apply.inc"

void SD_ISA(batch_apply_double)(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b,
                                sd_vector *y)
{
    if (e->status) return;
    apply_all_double(e, x, columns, b->data, y->data);
}

void SD_ISA(batch_apply_single)(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b,
                                sd_vector *y)
{
    if (e->status) return;
    if (b->precision == SD_DOUBLE)
        apply_all_mixed(e, x, columns, b->data, y->data);
    else
        apply_all_single(e, x, columns, b->data, y->data);
}
