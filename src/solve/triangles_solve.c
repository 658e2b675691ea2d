/* Triangles as the driver of swept solves sees them: see triangles_solve.h. */
#include "solve/triangles_solve.h"

static const sd_triangle *triangle_of(const sd_two_triangles *t, bool first)
{
    const sd_triangles *of = t->factors;
    return first ? &of->lower : &of->upper;
}

static void enter(const sd_two_triangles *t, sd_engine *e, const sd_vector *r, sd_vector *b)
{
    sd_enter(e, &((const sd_triangles *)t->factors)->enter, t->columns, r, b);
}

static void leave(const sd_two_triangles *t, sd_engine *e, const sd_vector *y, sd_vector *z)
{
    sd_leave(e, &((const sd_triangles *)t->factors)->leave, t->columns, y, z);
}

static void exact(const sd_two_triangles *t, sd_engine *e, const sd_vector *r, sd_vector *z, sd_vector *work)
{
    enter(t, e, r, work);
    sd_triangle_solve(e, triangle_of(t, true), t->columns, work, work);
    sd_triangle_solve(e, triangle_of(t, false), t->columns, work, work);
    leave(t, e, work, z);
}

static void sweep(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                  const sd_vector *from, sd_vector *to)
{
    sd_triangle_sweep(e, triangle_of(t, first),
                      t->kind == SD_TRISOLVE_BLOCKS ? SD_SWEEP_BLOCKS : SD_SWEEP_ENTRIES, t->columns, b, from,
                      to);
}

static void residual(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                     const sd_vector *x, sd_vector *r)
{
    sd_triangle_residual(e, triangle_of(t, first), t->columns, b, x, r);
}

static const sd_triangle_functions functions = {
    .enter = enter, .leave = leave, .exact = exact, .sweep = sweep, .residual = residual};

sd_two_triangles sd_triangles_view(const sd_triangles *t, sd_trisolve_kind kind, int columns)
{
    const int64_t n = (int64_t)t->lower.n * columns;
    const int32_t levels = t->lower.levels > t->upper.levels ? t->lower.levels : t->upper.levels;
    return (sd_two_triangles){.can = &functions,
                              .factors = t,
                              .kind = kind,
                              .symmetric = t->symmetric,
                              .columns = columns,
                              .n = n,
                              .width = n,
                              .room = n,
                              .enough = kind == SD_TRISOLVE_BLOCKS ? t->block_levels : levels,
                              .precision = t->lower.precision};
}
