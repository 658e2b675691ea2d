/*
 * Systems abreast by the direct solver: systems of one pattern and plan are scaled, factored without fronts
 * and solved all at once (factor/abreast.h, solve/abreast.h), ahead of their own factorizations and solves,
 * which take over what is ready and find the same bits that they would have computed.
 *
 * What is done here is the ordinary course alone: the scaling of the plan, the sequence of pivots that
 * another system left (sd_problem.like), factors without a small pivot, a witness of the inertia that comes
 * back. A system that departs from it is left as it was and takes its own way.
 */
#include "method/direct/direct.h"

#include "backend/cpu/cpu.h"
#include "factor/abreast.h"
#include "factor/rank.h"
#include "solve/abreast.h"

#include <math.h>

static const int EXPONENT_MOST = 1022; /* 2^-exponent is a number */
/* Bytes that systems abreast may take before half as many are faster, because they stay in a cache: measured
 * once on Zen 4, at n = 2880 (5 MB) 8 systems are still 1.07 times as fast as 4, at n = 10000 (17 MB) 0.8
 * times. */
static const int64_t CACHED = 8000000;

/* A system's place. */
typedef struct place {
    const sd_problem *p; /* while systems are factored and solved */
    const sd_csr *A;
    bool factored;  /* as the ordinary course would do it */
    bool parted;    /* its own factors have the numbers */
    bool solvable;  /* and there is nothing to be settled before it is solved */
    bool certified; /* by its witness; or there is nothing to certify */
    int exponent;
    int64_t stale;
    double left; /* of the witness */
} place;

struct sd_abreast {
    const sd_direct *like;
    sd_pivot_rule rule;
    int32_t n;
    int count; /* systems at the moment; places beyond it repeat the first */
    sd_abreast_factors f;
    sd_abreast_memory m;
    int8_t *signs;
    double *random; /* the witness before it rides */
    double *out;    /* solutions, n of each place */
    place place[SD_ABREAST_MOST];
    sd_abreast_column column[SD_ABREAST_MOST];
};

/* Nothing is certified on the way then. */
bool sd_direct_is_unmeasured(const sd_problem *p)
{
    return p->options->verify == SADDLE_OFF && p->options->krylov != SADDLE_KRYLOV_AUTO;
}

static bool has_solves(const sd_problem *p)
{
    const int krylov = p->options->krylov;
    const sd_operator *op = &p->op[SD_DOUBLE];
    return (krylov == SADDLE_KRYLOV_AUTO || krylov == SADDLE_KRYLOV_REFINE || krylov == SADDLE_KRYLOV_NONE) &&
           op->exponent == 0 && op->sparse.half && op->sparse.val == p->A->val &&
           !(sd_direct_is_unmeasured(p) && p->options->certify == SADDLE_ON);
}

bool sd_direct_has_course(const sd_problem *p, const sd_direct *d)
{
    const sd_factors *f = &d->factors[SD_DOUBLE];
    return d->plan->columns && d->precision == SD_DOUBLE && f->simplicial && !d->plan->general &&
           !d->plan->tilt && !d->tilt && p->A->half && p->options->check == SADDLE_OFF && p->A->n > 0 &&
           p->device != SADDLE_DEVICE_REFERENCE; /* which rounds in its own way */
}

static int64_t bytes_of(const sd_problem *p, const sd_direct *d, int wide)
{
    const sd_tree *t = &d->plan->tree;
    return sd_abreast_bytes(&d->factors[SD_DOUBLE].simplicial->s, t->entry_ptr[t->n], wide) +
           sd_abreast_memory_bytes(&p->op[SD_DOUBLE].sparse, wide) +
           (int64_t)t->n * (wide + 2) * (int64_t)sizeof(double) + (int64_t)sizeof(sd_abreast);
}

static const sd_abreast_kernels *kernels_for(const sd_problem *p, const sd_direct *d)
{
    const sd_abreast_kernels *on = sd_cpu()->abreast;
    return on->narrower && bytes_of(p, d, on->width) > CACHED ? on->narrower : on;
}

static saddle_status make(sd_context *c, const sd_problem *p, const void *like, bool factored, bool solved,
                          sd_abreast **made)
{
    const sd_direct *d = like;
    *made = NULL;
    if (!sd_direct_has_course(p, d) || !(factored || has_solves(p))) return SADDLE_OK;
    const sd_abreast_kernels *on = kernels_for(p, d);
    const sd_sequence *s = &d->factors[SD_DOUBLE].simplicial->s;
    sd_abreast *g = *made = sd_alloc_zero(c, 1, sizeof *g, "systems abreast");
    if (!g) return c->status;
    g->like = d;
    g->rule = d->rule;
    g->n = p->A->n;
    saddle_status status =
        sd_abreast_make(c, on, s, d->plan->tree.entry_ptr[d->plan->tree.n], factored, &g->f);
    if (!status)
        status =
            sd_abreast_memory_make(c, &p->op[SD_DOUBLE].sparse, on->width, solved && has_solves(p), &g->m);
    if (!status && g->rule == SD_PIVOT_STATIC) {
        g->signs = sd_alloc(c, g->n, sizeof *g->signs, "signs");
        status = g->signs ? SADDLE_OK : c->status;
    }
    if (!status && g->m.b) {
        g->random = sd_alloc(c, g->n, sizeof *g->random, "systems abreast");
        g->out = sd_alloc(c, (int64_t)g->n * on->width, sizeof *g->out, "systems abreast");
        status = g->random && g->out ? SADDLE_OK : c->status;
        if (!status) sd_direct_witness(g->n, g->random);
    }
    return status;
}

static int64_t bytes(const sd_problem *p, const void *like)
{
    const sd_direct *d = like;
    return sd_direct_has_course(p, d) ? bytes_of(p, d, kernels_for(p, d)->width) : 0;
}

static void destroy(sd_context *c, sd_abreast *g)
{
    if (!g) return;
    sd_abreast_free(c, &g->f);
    sd_abreast_memory_free(c, &g->m);
    sd_free_all(c, g->signs, g->random, g->out, g);
}

static int width(const sd_abreast *g)
{
    return g->f.on->width;
}

/* Where factors have the numbers of the sequence; NULL: they were never without fronts. */
static sd_simplicial *numbers_of(const sd_abreast *g, const sd_direct *d)
{
    const sd_factors *like = &g->like->factors[SD_DOUBLE], *f = &d->factors[SD_DOUBLE];
    return like->simplicial == like->found ? f->found : f->plain;
}

/* ---- factorizations ---- */

/* The entries of all matrices side by side. */
static void join_values(sd_abreast *g, int count, const sd_problem *const *p)
{
    const double *from[SD_ABREAST_MOST];
    g->count = count;
    for (int c = 0; c < width(g); ++c) {
        g->place[c] = (place){.p = p[c < count ? c : 0]};
        g->place[c].A = g->place[c].p->A;
        from[c] = g->place[c].A->val;
    }
    g->f.on->join(p[0]->A->nnz, from, g->m.a);
}

/* Whether a system is scaled and pivoted as `like` was; its exponent. */
static bool is_ordinary(const sd_abreast *g, place *at)
{
    const sd_problem *p = at->p;
    const bool far = p->options->scaling != SADDLE_SCALING_USER &&
                     sd_direct_are_far(p->facts->largest, p->facts->smallest);
    at->exponent = sd_largest_exponent(&p->facts->largest, 1) - g->like->plan->largest_exponent;
    return !far && sd_direct_rule(g->like->plan, p, false, 0) == g->rule && at->exponent >= -EXPONENT_MOST &&
           at->exponent <= EXPONENT_MOST && (!p->signs || p->signs_n == p->A->n);
}

static void factor(sd_abreast *g, int count, const sd_problem *const *p, void *const *factors)
{
    sd_simplicial *to[SD_ABREAST_MOST] = {0};
    const sd_tree *t = &g->like->plan->tree;
    double power[SD_ABREAST_MOST];
    join_values(g, count, p);
    for (int c = 0; c < width(g); ++c) {
        g->place[c].factored = is_ordinary(g, &g->place[c]);
        power[c] = ldexp(1, g->place[c].factored ? -g->place[c].exponent : 0);
    }
    const bool signs = g->signs && p[0]->signs && p[0]->signs_n == g->n;
    for (int32_t k = 0; k < t->n && signs; ++k) g->signs[k] = p[0]->signs[t->order[k]];
    const sd_pivoting pivoting =
        sd_direct_pivoting(g->rule, SD_DOUBLE, p[0]->options, signs ? g->signs : NULL);
    g->f.on->scale(p[0]->A, g->m.a, t->target, g->like->plan->p.row_scale, power, g->f.values);
    g->f.on->factor(g->f.s, g->f.values, &pivoting, &g->f.numbers, g->f.outcome);
    for (int c = 0; c < count; ++c) {
        place *const at = &g->place[c];
        const sd_abreast_outcome *found = &g->f.outcome[c];
        const sd_scaled scaled = {g->f.values + c, width(g)};
        at->factored = at->factored && !found->refused;
        if (!at->factored) continue;
        at->stale = sd_direct_count_stale(g->like->plan, g->like->plan->matched, &scaled, 1);
        if (at->stale > 0 && sd_direct_is_misscaled(g->like->plan, g->like->plan->matched, &scaled))
            at->factored = false;
        at->solvable = at->factored && found->pivots.zero == 0 &&
                       !(g->rule == SD_PIVOT_THRESHOLD && found->least <= SD_SUSPECT);
        if (at->factored && factors[c]) to[c] = numbers_of(g, factors[c]);
        at->parted = to[c] != NULL;
    }
    sd_abreast_part(&g->f, to);
}

bool sd_direct_is_ready(const sd_problem *p, sd_pivot_rule rule, sd_ready *ready)
{
    const sd_abreast *g = p->abreast;
    if (!g || !g->place[p->place].factored || g->rule != rule || g->place[p->place].A != p->A) return false;
    *ready = (sd_ready){.numbers = {&g->f, p->place, p->solved || g->place[p->place].parted},
                        .exponent = g->place[p->place].exponent,
                        .stale = g->place[p->place].stale};
    return true;
}

/* ---- solves ---- */

/* Factors that the systems have already; those that are not of the sequence are left out. */
static void load(sd_abreast *g, int count, const sd_problem *const *p, const void *const *factors)
{
    const sd_simplicial *from[SD_ABREAST_MOST];
    const sd_simplicial *any = NULL;
    join_values(g, count, p);
    for (int c = 0; c < width(g); ++c) {
        const sd_direct *d = factors[c < count ? c : 0];
        const sd_factors *f = d ? &d->factors[SD_DOUBLE] : NULL;
        place *const at = &g->place[c];
        from[c] = NULL;
        at->solvable = d && d->factored && d->rule == g->rule && d->precision == SD_DOUBLE && !d->changed &&
                       !d->tilt && d->zero == 0 && d->scale == d->plan->p.row_scale && f->simplicial &&
                       f->simplicial == numbers_of(g, d);
        if (!at->solvable) continue;
        at->exponent = d->exponent;
        at->certified = sd_direct_verdict(d) != NULL;
        any = from[c] = f->simplicial;
    }
    for (int c = 0; c < width(g) && any; ++c)
        if (!from[c]) from[c] = any;
    if (any) sd_abreast_join(&g->f, from);
}

static void arrived(sd_abreast_rider *rider, const bool *aboard)
{
    sd_abreast *g = rider->what;
    const double *scale = g->like->plan->p.row_scale;
    double square[SD_ABREAST_MOST];
    bool again = false;
    g->f.on->arrive(g->n, scale, g->m.column, g->m.witness, square);
    for (int c = 0; c < width(g); ++c) {
        if (!aboard[c]) continue;
        g->place[c].left = sqrt(square[c]);
        g->place[c].certified = sd_direct_is_certain(g->place[c].left);
        rider->waiting[c] = !g->place[c].certified && g->place[c].left <= 1;
        again |= rider->waiting[c];
    }
    if (again) g->f.on->send(g->place[0].p->A, g->m.a, scale, g->m.witness, g->m.column);
}

/* Witnesses board where there is an inertia to be certified. */
static bool board(sd_abreast *g, sd_abreast_rider *rider)
{
    const sd_problem *p = g->place[0].p;
    const bool wanted = p->options->certify == SADDLE_ON && g->rule != SD_PIVOT_STATIC;
    bool any = false;
    *rider = (sd_abreast_rider){.arrived = arrived, .what = g};
    for (int c = 0; c < g->count; ++c) {
        place *const at = &g->place[c];
        at->certified |= !wanted;
        rider->waiting[c] = at->solvable && !at->certified;
        any |= rider->waiting[c];
    }
    if (!any) return false;
    for (int32_t i = 0; i < g->n; ++i)
        for (int c = 0; c < width(g); ++c) g->m.witness[(int64_t)i * width(g) + c] = g->random[i];
    g->f.on->send(p->A, g->m.a, g->like->plan->p.row_scale, g->m.witness, g->m.column);
    return true;
}

/* x of the columns that are to be solved, and how they were. */
static void solve_columns(sd_abreast *g, double *const *to, sd_done *done)
{
    const sd_problem *p = g->place[0].p;
    const double *scale = g->like->plan->p.row_scale;
    const bool refined = p->options->krylov != SADDLE_KRYLOV_NONE, plain = sd_direct_is_unmeasured(p);
    sd_abreast_rider rider;
    const bool riding = !plain && board(g, &rider);
    if (plain)
        sd_abreast_solve(&g->f, &g->m, scale, refined, g->column);
    else
        sd_abreast_refine(&g->f, &g->m, scale, refined, riding ? &rider : NULL, g->column);
    g->f.on->part(g->n, g->m.x, to);
    for (int c = 0; c < g->count; ++c)
        if (g->column[c].solved && (plain || g->place[c].certified))
            done[c] = (sd_done){
                .x = to[c], .answer = plain ? NULL : &g->column[c].answer, .left = g->place[c].left};
}

static void solve(sd_abreast *g, const double *const *b, sd_done *done)
{
    double *to[SD_ABREAST_MOST];
    bool any = false;
    for (int c = 0; c < width(g); ++c) {
        const int from = c < g->count ? c : 0;
        const sd_operator *op = &g->place[from].p->op[SD_DOUBLE];
        g->column[c] = (sd_abreast_column){.b = b[from], .op = op, .exponent = g->place[from].exponent};
        g->column[c].solved = c < g->count && g->m.b && g->place[c].solvable && has_solves(g->place[c].p);
        any |= g->column[c].solved;
        to[c] = g->out ? g->out + (int64_t)c * g->n : NULL;
        if (c < g->count) done[c] = (sd_done){.x = NULL};
    }
    if (any) solve_columns(g, to, done);
}

const sd_abreast_method sd_direct_abreast = {.make = make,
                                             .free = destroy,
                                             .bytes = bytes,
                                             .width = width,
                                             .factor = factor,
                                             .load = load,
                                             .solve = solve};
