/* Solves and refinement of systems abreast. See abreast.h. */
#include "solve/abreast.h"

#include "backend/cpu/cpu.h"
#include "solve/measure.h"

#include <math.h>
#include <string.h>

static int64_t rows_of(const sd_sparse *A, bool solved)
{
    return A->nnz + (solved ? 8 * (int64_t)A->n + 3 * A->window_total : 0);
}

int64_t sd_abreast_memory_bytes(const sd_sparse *A, int width)
{
    return rows_of(A, true) * width * (int64_t)sizeof(double);
}

saddle_status sd_abreast_memory_make(sd_context *c, const sd_sparse *A, int width, bool solved,
                                     sd_abreast_memory *m)
{
    const int64_t size = (int64_t)A->n * width;
    *m = (sd_abreast_memory){.a = sd_alloc(c, rows_of(A, solved) * width, sizeof *m->a, "systems abreast")};
    if (!m->a || !solved) return m->a ? SADDLE_OK : c->status;
    m->b = m->a + A->nnz * width;
    m->x = m->b + size;
    m->y = m->x + size;
    m->r = m->y + size;
    m->column = m->r + size;
    m->witness = m->column + size;
    m->block = m->witness + size;
    m->room = m->block + 2 * size;
    return SADDLE_OK;
}

void sd_abreast_memory_free(sd_context *c, sd_abreast_memory *m)
{
    sd_free(c, m->a);
    *m = (sd_abreast_memory){0};
}

/* Columns at work. */
typedef struct refining {
    const sd_abreast_factors *f;
    const sd_abreast_memory *m;
    const double *scale;
    sd_abreast_rider *rider;
    sd_abreast_column *columns;
    int width;
    int idle[SD_ABREAST_MOST];
} refining;

static bool is_active(const refining *q, int c)
{
    return q->columns[c].solved && q->idle[c] < SD_IDLE_MOST;
}

static bool any_active(const refining *q)
{
    for (int c = 0; c < q->width; ++c)
        if (is_active(q, c)) return true;
    return false;
}

/* 2^shift in two factors: one alone may lie outside the range of doubles. */
static void split_power(int shift, double *half, double *rest)
{
    *half = ldexp(1, shift / 2);
    *rest = ldexp(1, shift - shift / 2);
}

/* to = A^-1 r, and the same of the witnesses that wait, in a frame (triangular.h). */
static void solve_along(refining *q, const double *r, double *to)
{
    enum { MOST = 2 * SD_ABREAST_MOST };
    const sd_sequence *s = q->f->s;
    const sd_abreast_kernels *on = q->f->on;
    const double *const in[2] = {r, q->m->column};
    double *const out[2] = {to, q->m->column}, largest[MOST], half[MOST], rest[MOST];
    bool aboard[SD_ABREAST_MOST], far = false;
    int columns = 1, shifts[MOST];
    for (int c = 0; c < q->width; ++c) {
        aboard[c] = q->rider && q->rider->waiting[c] && is_active(q, c);
        if (aboard[c]) columns = 2;
    }
    on->enter(s->n, s->place, q->scale, columns, in, q->m->block, largest);
    for (int k = 0; k < columns * q->width; ++k) {
        shifts[k] = sd_far_exponent(largest[k]);
        split_power(-shifts[k], &half[k], &rest[k]);
        far |= shifts[k] != 0;
    }
    if (far) on->shift(s->n, columns, half, rest, q->m->block);
    on->solve(s, &q->f->numbers, columns, q->m->block);
    for (int k = 0; k < columns * q->width; ++k)
        split_power(shifts[k] - q->columns[k % q->width].exponent, &half[k], &rest[k]);
    on->leave(s->n, s->place, q->scale, half, rest, columns, q->m->block, out);
    if (columns == 2) q->rider->arrived(q->rider, aboard);
}

/* Measures y; `first` says that nothing was measured before. The better of it and x stays. */
static void measure(refining *q, bool first, bool corrections)
{
    const int64_t n = q->f->s->n;
    sd_residual_norms found[SD_ABREAST_MOST];
    bool near[SD_ABREAST_MOST], better = false;
    double chosen[SD_ABREAST_MOST] = {0};
    const double *y = corrections ? q->m->y : q->m->x;
    q->f->on->residual(&q->columns[0].op->sparse, q->m->a, q->m->b, y, q->m->room, q->m->r, found, near);
    for (int c = 0; c < q->width; ++c) {
        sd_abreast_column *const at = &q->columns[c];
        saddle_errors errors;
        if (!is_active(q, c)) continue;
        /* b = 0 has an answer of its own */
        at->solved = near[c] && sd_operator_is_near(at->op) && found[c].largest_b > 0;
        if (!at->solved) continue;
        sd_errors_of(&found[c], at->op->norm_inf, &errors);
        if (first)
            q->idle[c] = sd_answer_begin(&at->answer, &errors, found[c].share, corrections);
        else
            chosen[c] = sd_answer_next(&at->answer, &errors, found[c].share, &q->idle[c]);
        better |= chosen[c] != 0;
    }
    if (better) q->f->on->replace(n, chosen, y, q->m->x);
}

/* The right-hand sides side by side, and the first x. */
static void begin(refining *q)
{
    const double *b[SD_ABREAST_MOST];
    q->width = q->f->on->width;
    for (int c = 0; c < q->width; ++c) b[c] = q->columns[c].b;
    q->f->on->join(q->f->s->n, b, q->m->b);
    solve_along(q, q->m->b, q->m->x);
}

void sd_abreast_refine(const sd_abreast_factors *f, const sd_abreast_memory *m, const double *scale,
                       bool corrections, sd_abreast_rider *rider, sd_abreast_column *columns)
{
    const int64_t n = f->s->n;
    refining q = {.f = f, .m = m, .scale = scale, .rider = rider, .columns = columns};
    begin(&q);
    if (corrections) memcpy(m->y, m->x, (size_t)(n * q.width) * sizeof *m->y);
    measure(&q, true, corrections);
    for (int step = 0; step < SD_REFINEMENT_STEPS && any_active(&q); ++step) {
        solve_along(&q, m->r, m->r);
        f->on->add(n, m->r, m->y);
        measure(&q, false, true);
    }
}

/* Those of whom a vector is not finite are left out. */
static void require_finite(const refining *q, const double *x)
{
    bool finite[SD_ABREAST_MOST];
    q->f->on->finite(q->f->s->n, x, finite);
    for (int c = 0; c < q->width; ++c) q->columns[c].solved = q->columns[c].solved && finite[c];
}

void sd_abreast_solve(const sd_abreast_factors *f, const sd_abreast_memory *m, const double *scale,
                      bool refined, sd_abreast_column *columns)
{
    refining q = {.f = f, .m = m, .scale = scale, .columns = columns};
    begin(&q);
    require_finite(&q, m->b);
    require_finite(&q, m->x);
    if (!refined) return;
    f->on->difference(&columns[0].op->sparse, m->a, m->b, m->x, m->room, m->r);
    solve_along(&q, m->r, m->r);
    f->on->add(f->s->n, m->r, m->x);
    require_finite(&q, m->x);
}
