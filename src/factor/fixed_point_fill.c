/*
 * Fixed-point sweeps on a pattern that is found on the way, ParICT and ParILUT: see fixed_point.h.
 *
 * From sweeps on the pattern of B on, a step is (H. Anzt, E. Chow, J. Dongarra, 2018, Algorithm 2):
 *
 *     candidates   (i, j) outside the pattern where L U or B has an entry, with c_ij = (B - L U)_ij
 *     a sweep      on the pattern with them
 *     a cut        the largest entries stay; their number, and the least size, are the rule's
 *     sweeps       on what stays
 *
 * and steps end when the pattern hardly changes. A candidate below the least size is left out at once: it
 * would be cut all the same, and there may be many. So may there be where a row of very many entries comes
 * early: it joins every two of them. Such a row, of more than HUB sqrt(n), brings no candidates. Which
 * entries are the largest is decided exactly; among equal ones, by their order.
 *
 * Candidates of row i are found by a search through row i and the rows that it names, by one thread; a first
 * pass counts them, a second one writes them to their places.
 */
#include "factor/fixed_point.h"

#include "core/sort.h"
#include "factor/fixed_point_sweep.h"
#include "factor/largest.h"

#include <math.h>
#include <omp.h>

enum { STEPS = 5, CHUNK = 64, HUB = 10 };
static const double HARDLY = 0.01; /* of the entries are new: the pattern has been found */

/* What a thread searches with; all of it is clear between rows. */
typedef struct searcher {
    double *left; /* of B, by columns */
    bool *seen;
    int32_t *list, *room;
} searcher;

/* Which entries stay: those of a larger size than `least`, and of those that have it, up to entry `last`. */
typedef struct bar {
    double least;
    int64_t last;
} bar;

typedef struct filling {
    sd_sweeping t;
    searcher *searchers;
    bool *seen;
    int32_t *lists;
    double *root; /* of the magnitude of each pivot */
    double hub;   /* entries of a row that brings no candidates, and more */
} filling;

/* One half while its pattern changes. */
typedef struct growth {
    const filling *f;
    const sd_sweep_half *half;
    const sd_csr *B;
    const double *unit;
    sd_csr by_columns; /* the other half */
    sd_csr rows;       /* with what is new */
    bool *fresh;       /* for each entry */
} growth;

static const char WHAT[] = "the pattern of fixed-point sweeps";

/* ---- candidates ---- */

static inline void look_at(searcher *s, int32_t j, double value, int32_t *count)
{
    if (!s->seen[j]) {
        s->seen[j] = true;
        s->list[(*count)++] = j;
    }
    s->left[j] += value;
}

/* Finds the candidates of row i: their number, their columns in `list`, B - L U in `left`. */
static int32_t search_row(const growth *g, int32_t i, searcher *s)
{
    const sd_csr *P = &g->half->rows, *Q = &g->by_columns, *B = g->B;
    const double least = g->f->t.rule->tau * g->f->root[i];
    int32_t count = 0, kept = 0;
    for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) s->seen[P->ind[k]] = true;
    for (int64_t k = B->ptr[i]; k < B->ptr[i + 1] && B->ind[k] < i; ++k)
        look_at(s, B->ind[k], B->val[k], &count);
    for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) {
        const int64_t begin = Q->ptr[P->ind[k]], end = Q->ptr[P->ind[k] + 1];
        for (int64_t q = begin; q < end && Q->ind[q] < i && (double)(end - begin) <= g->f->hub; ++q)
            look_at(s, Q->ind[q], -P->val[k] * Q->val[q], &count);
    }
    for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) {
        s->seen[P->ind[k]] = false;
        s->left[P->ind[k]] = 0;
    }
    for (int32_t k = 0; k < count; ++k) {
        const int32_t j = s->list[k];
        s->seen[j] = false;
        if (fabs(s->left[j]) > 0 && fabs(s->left[j]) >= least * g->f->root[j])
            s->list[kept++] = j;
        else
            s->left[j] = 0;
    }
    return kept;
}

/* Row i with its candidates. */
static void write_row(growth *g, int32_t i, int32_t count, searcher *s)
{
    const sd_csr *P = &g->half->rows;
    int64_t old = P->ptr[i];
    int32_t next = 0;
    sd_sort_indices(s->list, count, s->room);
    for (int64_t k = g->rows.ptr[i]; k < g->rows.ptr[i + 1]; ++k) {
        g->fresh[k] = old == P->ptr[i + 1] || (next < count && s->list[next] < P->ind[old]);
        if (g->fresh[k]) {
            const int32_t j = s->list[next++];
            g->rows.ind[k] = j;
            g->rows.val[k] = g->unit ? s->left[j] / g->unit[j] : s->left[j];
        } else {
            g->rows.ind[k] = P->ind[old];
            g->rows.val[k] = P->val[old++];
        }
    }
}

/* A row's length, or the row itself once there is memory for it. */
static void search_rows(growth *g)
{
    const int threads = g->f->t.threads;
    const int32_t n = g->f->t.n;
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(threads) if (threads > 1)
    for (int32_t i = 0; i < n; ++i) {
        searcher *s = &g->f->searchers[threads > 1 ? omp_get_thread_num() : 0];
        const int32_t count = search_row(g, i, s);
        if (g->rows.ind)
            write_row(g, i, count, s);
        else
            g->rows.ptr[i + 1] = g->half->rows.ptr[i + 1] - g->half->rows.ptr[i] + count;
        for (int32_t k = 0; k < count; ++k) s->left[s->list[k]] = 0;
    }
}

/* Lengths of rows, in ptr[i + 1], become pointers, and the rows get memory. */
static saddle_status reserve_rows(sd_context *c, sd_csr *rows)
{
    rows->ptr[0] = 0;
    for (int32_t i = 0; i < rows->n; ++i) rows->ptr[i + 1] += rows->ptr[i];
    rows->nnz = rows->ptr[rows->n];
    rows->ind = sd_alloc(c, rows->nnz, sizeof *rows->ind, WHAT);
    rows->val = sd_alloc(c, rows->nnz, sizeof *rows->val, WHAT);
    return rows->ind && rows->val ? SADDLE_OK : c->status;
}

static saddle_status grow(filling *f, sd_sweep_half *h, growth *g)
{
    sd_sweeping *t = &f->t;
    *g = (growth){.f = f, .half = h, .B = sd_sweeping_matrix(t, h), .unit = sd_sweeping_unit(t, h)};
    g->rows = (sd_csr){.n = t->n, .ptr = sd_alloc(t->c, (int64_t)t->n + 1, sizeof(int64_t), WHAT)};
    if (!g->rows.ptr) return t->c->status;
    saddle_status status = sd_csr_transpose(t->c, &sd_sweeping_other(t, h)->rows, &g->by_columns);
    if (status) return status;
    search_rows(g);
    status = reserve_rows(t->c, &g->rows);
    g->fresh = status ? NULL : sd_alloc(t->c, g->rows.nnz, sizeof *g->fresh, WHAT);
    if (!g->fresh) return t->c->status;
    search_rows(g);
    return SADDLE_OK;
}

static void growth_free(sd_context *c, growth *g)
{
    sd_csr_free(c, &g->by_columns);
    sd_csr_free(c, &g->rows);
    sd_free(c, g->fresh);
}

/* What has grown takes the place of what it grew from. */
static void replace(sd_context *c, sd_sweep_half *h, sd_csr *rows)
{
    sd_csr_free(c, &h->rows);
    h->rows = *rows;
    *rows = (sd_csr){0};
}

/* ---- the cut ---- */

static void find_roots(filling *f)
{
    for (int32_t i = 0; i < f->t.n; ++i)
        f->root[i] = f->t.symmetric ? f->t.diagonal[i] : sqrt(fabs(f->t.diagonal[i]));
}

static void measure(const filling *f, const sd_sweep_half *h, double *size)
{
    const sd_sweeping *t = &f->t;
    const double *unit = sd_sweeping_unit(t, h);
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(t->threads) if (t->threads > 1)
    for (int32_t i = 0; i < t->n; ++i) {
        for (int64_t k = h->rows.ptr[i]; k < h->rows.ptr[i + 1]; ++k) {
            const int32_t j = h->rows.ind[k];
            size[k] = fabs(h->rows.val[k] * (unit ? unit[j] : 1)) / (f->root[i] * f->root[j]);
        }
    }
}

/* The bar that at most `most` of `count` entries pass. */
static bar set_bar(const double *size, int64_t count, int64_t most, double tau, int threads)
{
    bar b = {.least = tau, .last = count};
    if (count <= most) return b;
    if (most == 0) return (bar){.least = INFINITY, .last = -1};
    const double at = sd_largest(size, count, most, threads);
    if (at < tau) return b;
    b.least = at;
    for (int64_t k = 0; k < count; ++k) most -= size[k] > at;
    for (b.last = -1; most > 0;) most -= size[++b.last] == at;
    return b;
}

static inline bool passes(const bar *b, const double *size, int64_t k)
{
    return size[k] > b->least || (size[k] == b->least && k <= b->last);
}

/* Leaves in a half what passes; its first entry is number `first` of all. Adds up how many are new. */
static saddle_status cut(filling *f, sd_sweep_half *h, const bar *b, const double *size, int64_t first,
                         const bool *fresh, int64_t *new)
{
    sd_sweeping *t = &f->t;
    const sd_csr *P = &h->rows;
    sd_csr rows = {.n = t->n, .ptr = sd_alloc(t->c, (int64_t)t->n + 1, sizeof(int64_t), WHAT)};
    if (!rows.ptr) return t->c->status;
    int64_t came = 0;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->threads > 1) reduction(+ : came)
    for (int32_t i = 0; i < t->n; ++i) {
        rows.ptr[i + 1] = 0;
        for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) {
            if (!passes(b, size, first + k)) continue;
            ++rows.ptr[i + 1];
            came += fresh[k];
        }
    }
    const saddle_status status = reserve_rows(t->c, &rows);
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->threads > 1 && !status)
    for (int32_t i = 0; i < (status ? 0 : t->n); ++i) {
        int64_t to = rows.ptr[i];
        for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) {
            if (!passes(b, size, first + k)) continue;
            rows.ind[to] = P->ind[k];
            rows.val[to++] = P->val[k];
        }
    }
    *new += came;
    if (!status) replace(t->c, h, &rows);
    sd_csr_free(t->c, &rows);
    return status;
}

/* The number of entries that may stay. */
static int64_t most_of(const sd_sweeping *t, int64_t count)
{
    const sd_csr *B = t->B->B;
    int64_t diagonal = 0;
    for (int32_t i = 0; i < t->n; ++i) {
        const int64_t k = sd_find_index(B->ind, B->ptr[i], B->ptr[i + 1], i);
        diagonal += k < B->ptr[i + 1] && B->ind[k] == i;
    }
    const double most = t->rule->most * (double)((B->nnz - diagonal) / (t->symmetric ? 2 : 1));
    return most < (double)count ? (int64_t)most : count;
}

static saddle_status cut_both(filling *f, const bool *fresh_lower, const bool *fresh_upper, int64_t *new)
{
    sd_sweeping *t = &f->t;
    const int64_t lower = t->lower.rows.nnz, count = lower + t->upper.rows.nnz;
    double *size = sd_alloc(t->c, count, sizeof *size, WHAT);
    if (!size) return t->c->status;
    find_roots(f);
    measure(f, &t->lower, size);
    if (!t->symmetric) measure(f, &t->upper, size + lower);
    const bar b = set_bar(size, count, most_of(t, count), t->rule->tau, t->threads);
    saddle_status status = cut(f, &t->lower, &b, size, 0, fresh_lower, new);
    if (!status && !t->symmetric) status = cut(f, &t->upper, &b, size, lower, fresh_upper, new);
    sd_free(t->c, size);
    return status;
}

/* ---- steps ---- */

/* Candidates, a sweep, a cut, sweeps. *new is the number of entries that have come and stay. */
static saddle_status step(filling *f, int64_t *new, bool *broken)
{
    sd_sweeping *t = &f->t;
    growth lower = {0}, upper = {0};
    *new = 0;
    find_roots(f);
    saddle_status status = grow(f, &t->lower, &lower);
    if (!status && !t->symmetric) status = grow(f, &t->upper, &upper);
    if (!status) {
        replace(t->c, &t->lower, &lower.rows);
        if (!t->symmetric) replace(t->c, &t->upper, &upper.rows);
        status = sd_sweeping_fit(t);
    }
    if (!status) {
        bool usable;
        *broken = !isfinite(sd_sweep(t, &usable)) || !usable;
        sd_sweeping_accept(t);
    }
    if (!status && !*broken) status = cut_both(f, lower.fresh, upper.fresh, new);
    growth_free(t->c, &lower);
    growth_free(t->c, &upper);
    if (!status && !*broken) status = sd_sweeping_fit(t);
    return status || *broken ? status : sd_sweeping_iterate(t, broken);
}

/* The strict triangle of B that a half has to begin with. */
static saddle_status take_triangle(sd_sweeping *t, sd_sweep_half *h)
{
    const sd_csr *B = sd_sweeping_matrix(t, h);
    h->rows = (sd_csr){.n = t->n, .ptr = sd_alloc(t->c, (int64_t)t->n + 1, sizeof(int64_t), WHAT)};
    if (!h->rows.ptr) return t->c->status;
    for (int32_t i = 0; i < t->n; ++i)
        h->rows.ptr[i + 1] = sd_find_index(B->ind, B->ptr[i], B->ptr[i + 1], i) - B->ptr[i];
    const saddle_status status = reserve_rows(t->c, &h->rows);
    for (int32_t i = 0; i < t->n && !status; ++i)
        for (int64_t k = h->rows.ptr[i]; k < h->rows.ptr[i + 1]; ++k)
            h->rows.ind[k] = B->ind[B->ptr[i] + k - h->rows.ptr[i]];
    return status;
}

static saddle_status find_pattern(filling *f, bool *broken)
{
    sd_sweeping *t = &f->t;
    saddle_status status = take_triangle(t, &t->lower);
    if (!status && !t->symmetric) status = take_triangle(t, &t->upper);
    if (!status) status = sd_sweeping_fit(t);
    if (status) return status;
    *broken = !sd_sweeping_guess(t);
    if (!*broken) status = sd_sweeping_iterate(t, broken);
    for (int k = 0; k < STEPS && !status && !*broken; ++k) {
        int64_t new;
        status = step(f, &new, broken);
        if ((double)new <= HARDLY *(double)(t->lower.rows.nnz + t->upper.rows.nnz)) break;
    }
    return status;
}

static saddle_status open_searchers(filling *f)
{
    const sd_sweeping *t = &f->t;
    const int64_t all = (int64_t)t->threads * t->n;
    f->hub = HUB * sqrt(t->n);
    f->searchers = sd_alloc(t->c, t->threads, sizeof *f->searchers, WHAT);
    f->seen = sd_alloc_zero(t->c, all, sizeof *f->seen, WHAT);
    f->lists = sd_alloc(t->c, 2 * all, sizeof *f->lists, WHAT);
    f->root = sd_alloc(t->c, t->n, sizeof *f->root, WHAT);
    if (!f->searchers || !f->seen || !f->lists || !f->root) return t->c->status;
    for (int64_t k = 0; k < t->threads; ++k)
        f->searchers[k] = (searcher){t->zeros + k * t->n, f->seen + k * t->n, f->lists + 2 * k * t->n,
                                     f->lists + (2 * k + 1) * t->n};
    return SADDLE_OK;
}

/* Hands the arrays over to m. */
static saddle_status give(sd_sweeping *t, sd_incomplete *m)
{
    sd_csr upper = {0};
    if (!t->symmetric && sd_csr_transpose(t->c, &t->upper.rows, &upper)) return t->c->status;
    m->lower = (sd_pattern){.n = t->n, .ptr = t->lower.rows.ptr, .ind = t->lower.rows.ind};
    m->lower_val = t->lower.rows.val;
    m->upper = (sd_pattern){.n = upper.n, .ptr = upper.ptr, .ind = upper.ind};
    m->upper_val = upper.val;
    m->diagonal = t->diagonal;
    t->lower.rows = (sd_csr){0};
    t->diagonal = NULL;
    return SADDLE_OK;
}

static saddle_status try_fill(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule,
                              sd_incomplete *m, bool *broken)
{
    filling f = {0};
    saddle_status status = sd_sweeping_open(c, B, m->symmetric, rule, &f.t);
    if (!status) status = open_searchers(&f);
    if (!status) status = find_pattern(&f, broken);
    if (!status && !*broken) status = give(&f.t, m);
    sd_sweeping_close(&f.t, m);
    sd_free_all(c, f.searchers, f.seen, f.lists, f.root);
    return status;
}

saddle_status sd_fixed_point_fill(sd_context *c, const sd_csr *B, bool symmetric,
                                  const sd_incomplete_rule *rule, sd_incomplete *m)
{
    *m = (sd_incomplete){.symmetric = symmetric, .n = B->n};
    return sd_try_with_shifts(c, B, rule, try_fill, m);
}
