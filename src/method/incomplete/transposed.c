/*
 * L U transposed: z = M'^-1 r on the host, by one thread, with the numbers that the host has in double, or
 * that are brought from a device for one call.
 *
 * Vectors enter as they leave otherwise, and solves are with U' and then L'. Rows of R are columns of R': a
 * number that is known is subtracted from all that come after it. N sweeps with R' are the transpose of N
 * sweeps with R, since with D the diagonal, or its blocks,
 *
 *     ((I - D^-1 R)^j D^-1)' = (I - D'^-1 R')^j D'^-1
 *
 * so that a swept M has the swept M' here. Where the number of sweeps is left to each vector there is no
 * matrix to transpose: then solves are exact, as such sweeps nearly are.
 */
#include "method/incomplete/incomplete.h"

#include <math.h>
#include <string.h>

/* One triangle, by rows. */
typedef struct half {
    const sd_pattern *p;
    const double *val, *diagonal; /* NULL: ones */
    bool upper;
} half;

/* One call's view. */
typedef struct turned {
    const sd_incomplete_state *s;
    sd_incomplete numbers; /* those of s, or its pattern with numbers in `brought` */
    double *brought;
    int exponent;   /* of what leaves otherwise */
    int sweeps;     /* over each triangle */
    int32_t *block; /* of each row; NULL: sweeps are not over blocks */
    double *work;   /* 3 n */
} turned;

/* x = E'^-1 x, E what R has in one block; without blocks all of R, or its diagonal alone. */
static void solve_within(const half *R, const int32_t *block, bool diagonal, double *x)
{
    const int32_t n = R->p->n;
    for (int32_t k = 0; k < n; ++k) {
        const int32_t i = R->upper ? k : n - 1 - k;
        if (R->diagonal) x[i] /= R->diagonal[i];
        for (int64_t e = R->p->ptr[i]; e < R->p->ptr[i + 1] && !diagonal; ++e)
            if (!block || block[R->p->ind[e]] == block[i]) x[R->p->ind[e]] -= R->val[e] * x[i];
    }
}

/* r = b - R' x */
static void residual(const half *R, const double *b, const double *x, double *r)
{
    const int32_t n = R->p->n;
    for (int32_t i = 0; i < n; ++i) r[i] = b[i] - (R->diagonal ? R->diagonal[i] : 1) * x[i];
    for (int32_t i = 0; i < n; ++i)
        for (int64_t e = R->p->ptr[i]; e < R->p->ptr[i + 1]; ++e) r[R->p->ind[e]] -= R->val[e] * x[i];
}

/* x = what solves with R' make of x; b and r are room. */
static void solve_half(const turned *t, const half *R, double *x, double *b, double *r)
{
    const int32_t n = R->p->n;
    if (t->s->trisolve.kind == SD_TRISOLVE_EXACT || t->sweeps == 0) {
        solve_within(R, NULL, false, x);
        return;
    }
    memcpy(b, x, (size_t)n * sizeof *b);
    solve_within(R, t->block, !t->block, x);
    for (int k = 1; k < t->sweeps; ++k) {
        residual(R, b, x, r);
        solve_within(R, t->block, !t->block, r);
        for (int32_t i = 0; i < n; ++i) x[i] += r[i];
    }
}

static double scale_of(const double *scale, int32_t i)
{
    return scale ? scale[i] : 1;
}

static int32_t at(const int32_t *order, int32_t k)
{
    return order ? order[k] : k;
}

static void apply(const void *self, const double *r, double *z)
{
    const turned *t = self;
    const saddle_preparation *q = t->s->preparation;
    const sd_incomplete *m = &t->numbers;
    const half upper = {&m->upper, m->upper_val, m->diagonal, true},
               lower = {&m->lower, m->lower_val, NULL, false};
    double *const y = t->work, *const b = y + m->n, *const room = b + m->n;
    for (int32_t k = 0; k < m->n; ++k) {
        const int32_t i = at(q->permutation, k);
        y[k] = ldexp(scale_of(q->col_scale, i) * r[i], t->exponent);
    }
    solve_half(t, &upper, y, b, room);
    solve_half(t, &lower, y, b, room);
    for (int32_t k = 0; k < m->n; ++k) {
        const int32_t i = at(q->row_permutation, k);
        z[i] = scale_of(q->row_scale, i) * y[k];
    }
}

static void release(sd_engine *e, void *self)
{
    turned *t = self;
    if (t) sd_free_all(e->context, t->block, t->work, t->brought);
    sd_free(e->context, t);
}

static void find_blocks(turned *t)
{
    const saddle_preparation *q = t->s->preparation;
    for (int64_t k = 0; k < q->blocks; ++k)
        for (int32_t i = q->block_start[k]; i < q->block_start[k + 1]; ++i) t->block[i] = (int32_t)k;
}

/* The numbers of a device. */
static saddle_status bring(sd_engine *e, turned *t)
{
    sd_incomplete *m = &t->numbers;
    const int64_t n = m->n, lower = m->lower.ptr[n], upper = m->upper.ptr[n];
    t->brought = sd_alloc(e->context, n + lower + upper, sizeof *t->brought, "numbers of a factorization");
    if (!t->brought) return e->status = e->context->status;
    m->diagonal = t->brought;
    m->lower_val = m->diagonal + n;
    m->upper_val = m->lower_val + lower;
    return sd_incomplete_there_fetch(e, &t->s->there, m->lower_val, m->upper_val, m->diagonal);
}

saddle_status sd_incomplete_precondition_transposed(sd_engine *e, const sd_problem *p, const void *factors,
                                                    const sd_operator *op, sd_preconditioner *M)
{
    (void)p;
    sd_context *c = e->context;
    const sd_incomplete_state *s = factors;
    const int64_t n = s->numbers.n;
    turned *t = sd_alloc_zero(c, 1, sizeof *t, "preconditioner");
    if (t) {
        const sd_two_triangles of = sd_triangles_view(&s->triangles, s->trisolve.kind, 1);
        *t = (turned){.s = s,
                      .numbers = s->numbers,
                      .exponent = op->exponent - s->prepared.exponent,
                      .sweeps = sd_swept_worth(&of, s->trisolve.sweeps)};
        t->work = sd_alloc(c, 3 * n, sizeof *t->work, "preconditioner");
    }
    const bool blocks = s->trisolve.kind == SD_TRISOLVE_BLOCKS;
    if (t && blocks) t->block = sd_alloc(c, n, sizeof *t->block, "preconditioner");
    if (!t || !t->work || (blocks && !t->block)) e->status = c->status;
    if (!e->status && !s->numbers.diagonal) bring(e, t);
    if (!e->status && blocks) find_blocks(t);
    const sd_hosted by = {.apply = apply, .release = release, .self = t, .n = (int32_t)n};
    return sd_precondition_hosted(e, &by, M);
}
