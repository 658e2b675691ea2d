/* Block LDL' as the driver of swept solves sees it: see ldlt_solve.h. */
#include "solve/ldlt_solve.h"

static const sd_ldlt_factors *factors_of(const sd_two_triangles *t)
{
    return t->factors;
}

static void enter(const sd_two_triangles *t, sd_engine *e, const sd_vector *r, sd_vector *b)
{
    sd_enter(e, &factors_of(t)->frame, 1, r, b);
}

static void leave(const sd_two_triangles *t, sd_engine *e, const sd_vector *y, sd_vector *z)
{
    sd_leave(e, &factors_of(t)->frame, 1, y, z);
}

static void exact(const sd_two_triangles *t, sd_engine *e, const sd_vector *r, sd_vector *z, sd_vector *work)
{
    sd_ldlt_solve(e, factors_of(t), r, z, work);
}

static void sweep_blocks(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                         const sd_vector *from, sd_vector *to)
{
    sd_ldlt_sweep(e, factors_of(t), first, b, from, to);
}

static void sweep_entries(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                          const sd_vector *from, sd_vector *to)
{
    sd_ldlt_sweep_entries(e, factors_of(t), first ? SD_LDLT_FORWARD : SD_LDLT_BACKWARD, b, from, to);
}

/* t, after the first triangle, times the signs. */
static void between_blocks(const sd_two_triangles *t, sd_engine *e, const sd_vector *x, sd_vector *b)
{
    const sd_vector of_t = {x->data, t->n, x->precision};
    sd_batch_apply(e, factors_of(t)->signs, 1, &of_t, b);
}

/* x is u and behind it t. */
static void between_entries(const sd_two_triangles *t, sd_engine *e, const sd_vector *x, sd_vector *b)
{
    sd_vector of_t = {(char *)x->data + t->n * (int64_t)sd_precision_size(x->precision), t->n, x->precision};
    if (factors_of(t)->signs) sd_batch_apply(e, factors_of(t)->signs, 1, &of_t, &of_t);
    sd_ldlt_sweep_entries(e, factors_of(t), SD_LDLT_BETWEEN, &of_t, NULL, b);
}

static const sd_triangle_functions over_blocks = {
    .enter = enter, .leave = leave, .exact = exact, .sweep = sweep_blocks};
static const sd_triangle_functions over_blocks_with_signs = {
    .enter = enter, .leave = leave, .exact = exact, .sweep = sweep_blocks, .between = between_blocks};
static const sd_triangle_functions over_entries = {
    .enter = enter, .leave = leave, .exact = exact, .sweep = sweep_entries, .between = between_entries};

/* An entry needs no more sweeps than there are levels of them. */
sd_two_triangles sd_ldlt_triangles(const sd_block_ldlt *ldlt, sd_trisolve_kind kind)
{
    const sd_ldlt_factors *f = &ldlt->factors;
    const bool entries = kind == SD_TRISOLVE_ENTRIES;
    const int64_t n = f->n, levels = f->levels, depth = levels * f->largest;
    return (sd_two_triangles){.can = entries    ? &over_entries
                                     : f->signs ? &over_blocks_with_signs
                                                : &over_blocks,
                              .factors = f,
                              .kind = kind,
                              .symmetric = true,
                              .columns = 1,
                              .n = n,
                              .width = entries ? 2 * n : n,
                              .room = 2 * n,
                              .enough = !entries    ? levels
                                        : depth < n ? depth
                                                    : n,
                              .precision = f->precision};
}
