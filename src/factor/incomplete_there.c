/* Incomplete factors in the memory of a device: see incomplete_there.h. */
#include "factor/incomplete_there.h"

#include "factor/fixed_point_sweep.h"

#include <math.h>

enum { WIDE = 128 }; /* rows of a level on average, from which on they are made level by level */

bool sd_incomplete_is_there(const sd_engine *e, const sd_incomplete *m, const sd_csr *B)
{
    return e->backend->incomplete && B->nnz <= INT32_MAX && m->lower.ptr[m->n] <= INT32_MAX &&
           (m->symmetric || m->upper.ptr[m->n] <= INT32_MAX);
}

/* ---- arrays ---- */

static void *room(sd_engine *e, int64_t count, size_t size, sd_incomplete_there *t)
{
    t->bytes += count * (int64_t)size;
    return sd_allocate(e, count * (int64_t)size, "an incomplete factorization");
}

static const void *copied(sd_engine *e, const void *host, int64_t count, size_t size, sd_incomplete_there *t)
{
    if (!host) return NULL;
    t->bytes += count * (int64_t)size;
    return sd_to_backend(e, host, count * (int64_t)size, "an incomplete factorization");
}

/* at[k]: the entry of B that entry k of a pattern by rows is; -1: none. */
static int32_t *find_entries(sd_context *c, const sd_csr *B, const sd_pattern *p)
{
    int32_t *at = sd_alloc(c, p->ptr[p->n], sizeof *at, "entries of a pattern");
    for (int32_t i = 0; i < p->n && at; ++i) {
        int64_t b = B->ptr[i];
        for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k) {
            while (b < B->ptr[i + 1] && B->ind[b] < p->ind[k]) ++b;
            at[k] = b < B->ptr[i + 1] && B->ind[b] == p->ind[k] ? (int32_t)b : -1;
        }
    }
    return at;
}

static void place_half(sd_engine *e, const sd_pattern *p, const int32_t *at, bool swept, sd_pattern_half *h,
                       sd_incomplete_there *t)
{
    h->entries = p->ptr[p->n];
    h->ptr = copied(e, p->ptr, (int64_t)p->n + 1, sizeof *p->ptr, t);
    h->ind = copied(e, p->ind, h->entries, sizeof *p->ind, t);
    h->at = copied(e, at, h->entries, sizeof *at, t);
    h->val = room(e, h->entries, sizeof *h->val, t);
    if (swept) h->next = room(e, h->entries, sizeof *h->next, t);
}

static saddle_status place_lower(sd_engine *e, const sd_csr *B, const sd_incomplete *m, bool swept,
                                 sd_incomplete_there *t)
{
    int32_t *at = find_entries(e->context, B, &m->lower);
    if (!at) return e->context->status;
    place_half(e, &m->lower, at, swept, &t->f.lower, t);
    sd_free(e->context, at);
    return e->status;
}

/* U' by rows, and t->turned. */
static saddle_status place_upper(sd_engine *e, const sd_csr *B, const sd_incomplete *m, bool swept,
                                 sd_incomplete_there *t)
{
    sd_context *c = e->context;
    const int64_t entries = m->upper.ptr[m->n];
    sd_pattern columns = {0};
    int32_t *from = NULL, *of_rows = find_entries(c, B, &m->upper);
    int32_t *at = sd_alloc(c, entries, sizeof *at, "entries of a pattern");
    t->turned = sd_alloc(c, entries, sizeof *t->turned, "entries of a pattern");
    saddle_status status = of_rows && at && t->turned ? SADDLE_OK : c->status;
    if (!status) status = sd_pattern_transpose(c, &m->upper, &columns, &from);
    if (!status) {
        for (int64_t k = 0; k < entries; ++k) {
            at[k] = of_rows[from[k]];
            t->turned[from[k]] = (int32_t)k;
        }
        place_half(e, &columns, at, swept, &t->f.upper, t);
        status = e->status;
    }
    sd_pattern_free(c, &columns);
    sd_free_all(c, from, of_rows, at);
    return status;
}

/* B: where its entries come from, and the scaling of its rows and columns. */
static saddle_status place_matrix(sd_engine *e, const sd_prepared *from, const saddle_preparation *p,
                                  sd_incomplete_there *t)
{
    sd_context *c = e->context;
    const sd_csr *B = &from->B;
    const int64_t n = B->n;
    sd_pattern_factors *f = &t->f;
    int32_t *source = sd_alloc(c, B->nnz, sizeof *source, "entries of a matrix");
    double *scale = sd_alloc(c, 2 * n, sizeof *scale, "scaling");
    if (source && scale) {
        for (int64_t k = 0; k < B->nnz; ++k) source[k] = (int32_t)from->source[k];
        for (int64_t r = 0; r < n; ++r) {
            scale[r] = p->row_scale ? p->row_scale[p->row_permutation[r]] : 1;
            scale[n + r] = p->col_scale ? p->col_scale[p->permutation[r]] : 1;
        }
        f->nnz = B->nnz;
        f->ptr = copied(e, B->ptr, n + 1, sizeof *B->ptr, t);
        f->ind = copied(e, B->ind, B->nnz, sizeof *B->ind, t);
        f->source = copied(e, source, B->nnz, sizeof *source, t);
        f->row_scale = copied(e, scale, n, sizeof *scale, t);
        f->column_scale = copied(e, scale + n, n, sizeof *scale, t);
        f->b = room(e, B->nnz, sizeof *f->b, t);
    }
    const saddle_status status = source && scale ? e->status : c->status;
    sd_free_all(c, source, scale);
    return status;
}

static saddle_status place_rows(sd_engine *e, const sd_incomplete *m, bool swept, sd_incomplete_there *t)
{
    sd_pattern_factors *f = &t->f;
    int32_t levels, *level, *order;
    const saddle_status status = sd_incomplete_levels(e->context, m, &levels, &level, &order);
    if (status) return status;
    if (m->n >= (int64_t)WIDE * levels) f->order = copied(e, order, m->n, sizeof *order, t);
    sd_free_all(e->context, level, order);
    f->own = room(e, m->n, sizeof(double), t);
    f->most = room(e, m->n, sizeof(double), t);
    f->diagonal = room(e, m->n, sizeof(double), t);
    f->broken = room(e, 1, sizeof *f->broken, t);
    if (swept) f->next = room(e, m->n, sizeof(double), t);
    if (swept) f->change = room(e, m->n, sizeof(double), t);
    return e->status;
}

/* sum over the entries of p of the rows of `other` that they meet. */
static double count_products(const sd_pattern *p, const sd_pattern *other)
{
    double count = 0;
    for (int64_t k = 0; k < p->ptr[p->n]; ++k)
        count += (double)(other->ptr[p->ind[k] + 1] - other->ptr[p->ind[k]]);
    return count;
}

/* As the host counts them: incomplete_ic.c, incomplete_ilu.c, and about as many as fixed_point_sweep.c. */
static void count_flops(const sd_incomplete *m, sd_incomplete_there *t)
{
    const sd_pattern *other = m->symmetric ? &m->lower : &m->upper;
    const double products = count_products(&m->lower, other), entries = (double)m->lower.ptr[m->n];
    t->flops = 2 * (products + (m->symmetric ? 2 : 1) * entries);
    t->flops_of_sweep = 2 * products + 3 * entries;
    if (!m->symmetric) t->flops_of_sweep = 2 * t->flops_of_sweep;
}

saddle_status sd_incomplete_there_make(sd_engine *e, const sd_prepared *B, const saddle_preparation *p,
                                       const sd_incomplete *m, bool swept, sd_incomplete_there *t)
{
    *t = (sd_incomplete_there){.f = {.n = m->n,
                                     .symmetric = m->symmetric,
                                     .least = m->symmetric ? SD_PIVOT_ROUNDING : SD_PIVOT_SMALL}};
    saddle_status status = place_matrix(e, B, p, t);
    if (!status) status = place_lower(e, &B->B, m, swept, t);
    if (!status && !m->symmetric) status = place_upper(e, &B->B, m, swept, t);
    if (!status) status = place_rows(e, m, swept, t);
    if (!status) count_flops(m, t);
    return e->status = status;
}

static void release_numbers(sd_engine *e, sd_incomplete_there *t)
{
    const void *all[] = {t->number[0], t->number[1], t->order};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) sd_release(e, all[k]);
    t->number[0] = t->number[1] = t->order = NULL;
}

void sd_incomplete_there_free(sd_engine *e, sd_incomplete_there *t)
{
    sd_pattern_factors *f = &t->f;
    const void *all[] = {f->order,    f->ptr,       f->ind,          f->source,    f->row_scale,
                         f->b,        f->own,       f->column_scale, f->most,      f->diagonal,
                         f->next,     f->change,    f->broken,       f->lower.ptr, f->lower.ind,
                         f->lower.at, f->lower.val, f->lower.next,   f->upper.ptr, f->upper.ind,
                         f->upper.at, f->upper.val, f->upper.next};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) sd_release(e, all[k]);
    release_numbers(e, t);
    sd_free(e->context, t->turned);
    *t = (sd_incomplete_there){0};
}

/* ---- factors ---- */

typedef struct trying {
    sd_engine *e;
    const sd_incomplete_rule *rule;
    sd_incomplete_there *t;
    double norm;
} trying;

static saddle_status eliminate(trying *try, sd_incomplete *m, bool *broken)
{
    sd_engine *e = try->e;
    saddle_status status = sd_progress(e->context, "factor", 0, m->n, NAN);
    if (status) return e->status = status;
    e->backend->incomplete->eliminate(e, &try->t->f, broken);
    m->flops += try->t->flops;
    return e->status;
}

static double sweep(void *self, bool *usable)
{
    const trying *try = self;
    double change = 0;
    bool broken = true;
    try->e->backend->incomplete->sweep(try->e, &try->t->f, &change, &broken);
    *usable = !broken && !try->e->status;
    return try->norm > 0 ? change / try->norm : change;
}

static void exchange(double **a, double **b)
{
    double *const kept = *a;
    *a = *b;
    *b = kept;
}

static void accept(void *self)
{
    sd_pattern_factors *f = &((trying *)self)->t->f;
    exchange(&f->lower.val, &f->lower.next);
    exchange(&f->upper.val, &f->upper.next);
    exchange(&f->diagonal, &f->next);
}

static saddle_status iterate(trying *try, sd_incomplete *m, bool *broken)
{
    sd_engine *e = try->e;
    sd_sweeps s = {.sweep = sweep, .accept = accept, .self = try, .beginning = NAN};
    e->backend->incomplete->guess(e, &try->t->f, &try->norm, broken);
    if (e->status || *broken) return e->status;
    const saddle_status status = sd_sweeps_iterate(e->context, try->rule, &s, broken);
    m->flops += (s.sweeps + 1) * try->t->flops_of_sweep;
    m->sweeps = s.sweeps;
    m->residual = s.residual;
    return e->status ? e->status : status;
}

static saddle_status attempt_once(trying *try, sd_incomplete *m, bool *broken)
{
    return try->rule->swept ? iterate(try, m, broken) : eliminate(try, m, broken);
}

/* The other sign as sd_prepared_turn has it, whose factors break down at the first pivot. */
static saddle_status turn(trying *try)
{
    sd_engine *e = try->e;
    sd_context *c = e->context;
    sd_pattern_factors *f = &try->t->f;
    const int64_t bytes = f->n * (int64_t)sizeof(double);
    double *own = sd_alloc(c, f->n, sizeof *own, "the diagonal of a matrix");
    double *most = sd_alloc(c, f->n, sizeof *most, "the largest entries of rows");
    if (!own || !most) e->status = c->status;
    if (!e->status) e->backend->download(e, f->own, own, bytes);
    if (!e->status) e->backend->download(e, f->most, most, bytes);
    bool negative = false, other = e->status != SADDLE_OK;
    for (int32_t i = 0; i < f->n && !other; ++i) {
        negative |= own[i] < 0;
        other = !(own[i] < 0) && most[i] > 0;
    }
    if (negative && !other) f->unit = -f->unit;
    sd_free_all(c, own, most);
    return e->status;
}

static saddle_status attempt(void *self, sd_incomplete *m, bool *broken)
{
    trying *try = self;
    sd_pattern_factors *f = &try->t->f;
    f->shift = m->shift;
    saddle_status status = attempt_once(try, m, broken);
    if (status || !*broken || !f->symmetric || m->restarts > 0) return status;
    status = turn(try);
    return status || f->unit > 0 ? status : attempt_once(try, m, broken);
}

saddle_status sd_incomplete_there_factor(sd_engine *e, const sd_incomplete_rule *rule, const double *values,
                                         int exponent, sd_incomplete *m, sd_incomplete_there *t,
                                         sd_prepared *B)
{
    trying try = {.e = e, .rule = rule, .t = t};
    double size = 0;
    sd_engine_reserve(e, t->f.lower.entries + t->f.upper.entries + m->n, NULL);
    if (e->status) return e->status;
    e->backend->incomplete->values(e, &t->f, values, &size);
    const int own = size > 0 && isfinite(size) ? ilogb(size) : 0;
    t->f.unit = ldexp(1, -own);
    B->exponent = own + exponent;
    m->sweeps = 0;
    const saddle_status status = e->status ? e->status : sd_try_shifts(e->context, attempt, &try, m);
    B->negated = t->f.unit < 0;
    if (status && !e->status) e->status = status;
    return e->status;
}

/* ---- triangles ---- */

/* The number of entry k of a triangle among those of its half. */
static int32_t number_of(const sd_incomplete *m, const sd_incomplete_there *t, const sd_triangles *x,
                         bool upper, int64_t k)
{
    const bool shared = upper && m->symmetric;
    const int64_t own = shared ? x->layout[1].from[k] : k;
    const int32_t *source = x->layout[upper && !shared].source;
    const int64_t found = source ? source[own] : own;
    return upper && !shared ? t->turned[found] : (int32_t)found;
}

/* All of them or, where that fails, none: without numbers entries would be taken for those of their place. */
static saddle_status number_entries(sd_engine *e, const sd_incomplete *m, const sd_triangles *x,
                                    sd_incomplete_there *t)
{
    sd_context *c = e->context;
    const int64_t n = m->n, bytes = t->bytes;
    for (int k = 0; k < 2 && !e->status; ++k) {
        const int64_t entries = x->layout[k].pattern.ptr[n];
        if (k == 0 && !x->layout[0].source) continue; /* as they are */
        int32_t *number = sd_alloc(c, entries, sizeof *number, "numbers of entries");
        if (!number) e->status = c->status;
        for (int64_t i = 0; i < entries && number; ++i) number[i] = number_of(m, t, x, k == 1, i);
        t->number[k] = copied(e, number, entries, sizeof *number, t);
        sd_free(c, number);
    }
    t->order = copied(e, x->order, n, sizeof *x->order, t);
    t->numbered = !e->status;
    if (t->numbered) return SADDLE_OK;
    release_numbers(e, t);
    t->bytes = bytes;
    return e->status;
}

saddle_status sd_incomplete_there_fill(sd_engine *e, const sd_incomplete *m, sd_incomplete_there *t,
                                       const sd_triangles *x)
{
    if (!t->numbered && number_entries(e, m, x, t)) return e->status;
    e->backend->incomplete->fill(e, &t->f, t->number[0], t->order, &x->lower);
    if (!e->status) e->backend->incomplete->fill(e, &t->f, t->number[1], t->order, &x->upper);
    return e->status;
}

saddle_status sd_incomplete_there_fetch(sd_engine *e, const sd_incomplete_there *t, double *lower,
                                        double *upper, double *diagonal)
{
    const sd_pattern_factors *f = &t->f;
    const int64_t entries = f->upper.entries;
    e->backend->download(e, f->lower.val, lower, f->lower.entries * (int64_t)sizeof *lower);
    e->backend->download(e, f->diagonal, diagonal, f->n * (int64_t)sizeof *diagonal);
    if (f->symmetric || e->status) return e->status;
    double *columns = sd_alloc(e->context, entries, sizeof *columns, "numbers of U");
    if (!columns) return e->status = e->context->status;
    e->backend->download(e, f->upper.val, columns, entries * (int64_t)sizeof *columns);
    for (int64_t k = 0; k < entries && !e->status; ++k) upper[k] = columns[t->turned[k]];
    sd_free(e->context, columns);
    return e->status;
}
