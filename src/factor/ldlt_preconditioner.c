/* Block LDL' as a preconditioner: see ldlt_preconditioner.h. */
#include "factor/ldlt_preconditioner.h"

#include <math.h>

static const double SETTLED = 1e-2; /* change of a sweep beside its result */

/* The scaling of row i of A: see ldlt_preconditioner.h. */
static double scale_of(const sd_block_ldlt *m, int32_t i)
{
    const double *given = m->preparation.row_scale;
    return ldexp(given ? given[i] : 1.0, m->exponent / 2);
}

/* m->order: the preparation's rows, block by block as the plan numbers them. */
static saddle_status make_order(sd_context *c, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    if (m->order) return SADDLE_OK;
    m->order = sd_alloc(c, plan->n, sizeof *m->order, "order of rows");
    if (!m->order) return c->status;
    for (int32_t i = 0, r = 0; i < plan->blocks; ++i) {
        int32_t from = m->preparation.block_start[plan->block_at[i]];
        for (; r < plan->start[i + 1]; ++r) m->order[r] = m->preparation.permutation[from++];
    }
    return SADDLE_OK;
}

saddle_status sd_ldlt_begin_run(sd_engine *e, sd_block_ldlt *m, const sd_csr *layout, sd_precision precision)
{
    sd_context *c = e->context;
    double *scale = sd_alloc(c, layout->n, sizeof *scale, "scaling");
    saddle_status status = scale ? make_order(c, m) : c->status;
    sd_ldlt_end_run(e, m);
    for (int32_t i = 0; i < layout->n && !status; ++i) scale[i] = scale_of(m, i);
    if (!status) status = sd_ldlt_schedule_make(c, &m->plan, layout, m->order, &m->schedule);
    if (!status) status = sd_ldlt_schedule_place(e, &m->schedule);
    if (!status) status = sd_ldlt_numbers_make(e, &m->schedule, precision, layout->n, scale, &m->numbers);
    m->placed = true;
    if (status) sd_ldlt_end_run(e, m);
    sd_free(c, scale);
    return e->status = status;
}

void sd_ldlt_end_run(sd_engine *e, sd_block_ldlt *m)
{
    sd_ldlt_numbers_free(e->context, m->placed ? e : NULL, &m->numbers);
    sd_ldlt_schedule_unplace(e, &m->schedule);
    m->placed = false;
}

/* A host array where the backend can read it. */
static const void *placed(sd_engine *e, const void *host, int64_t count, size_t size)
{
    return e->backend->host_memory ? host : sd_to_backend(e, host, count * (int64_t)size, "factors");
}

static saddle_status place_scale(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const int32_t n = m->plan.n;
    double *scale = sd_alloc(c, n, sizeof *scale, "scaling");
    if (!scale || make_order(c, m)) e->status = c->status;
    if (!m->scale.data) m->scale = sd_vector_new(e, SD_DOUBLE, n, "scaling");
    for (int32_t r = 0; r < n && !e->status; ++r) scale[r] = scale_of(m, m->order[r]);
    if (!e->status) sd_vector_put(e, scale, &m->scale);
    sd_free(c, scale);
    return e->status;
}

/* The pattern, which stays as it is from one factorization to the next. */
static void place_pattern(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    const int64_t blocks = plan->blocks;
    sd_ldlt_factors *f = &m->factors;
    *f = sd_ldlt_factors_of(plan, &m->numbers);
    f->start = placed(e, plan->start, blocks + 1, sizeof *plan->start);
    f->row = placed(e, plan->row, blocks + 1, sizeof *plan->row);
    f->diagonal = placed(e, plan->diagonal, blocks, sizeof *plan->diagonal);
    f->square = placed(e, plan->square, blocks + 1, sizeof *plan->square);
    f->list = placed(e, plan->list, plan->row[blocks], sizeof *plan->list);
    f->order = placed(e, m->order, plan->n, sizeof *m->order);
}

static void place_numbers(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    const size_t number = sd_precision_size(m->numbers.precision);
    sd_ldlt_numbers found = m->numbers;
    if (m->placed) return;
    m->placed = true;
    if (e->backend->host_memory) return;
    m->numbers.data = sd_to_backend(e, found.data, plan->entries * (int64_t)number, "factors");
    m->numbers.inverse =
        sd_to_backend(e, found.inverse, plan->square[plan->blocks] * (int64_t)number, "factors");
    sd_ldlt_numbers_free(e->context, NULL, &found);
}

saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m)
{
    if (place_scale(e, m)) return e->status;
    if (!m->factors.start) place_pattern(e, m);
    place_numbers(e, m);
    m->factors.scale = m->scale.data;
    m->factors.precision = m->numbers.precision;
    m->factors.data = m->numbers.data;
    m->factors.inverse = m->numbers.inverse;
    return e->status;
}

/* Of G = S^-1, which is all that is kept of S: its factors give S, and those of S give N. */
saddle_status sd_ldlt_place_entries(sd_engine *e, sd_batch_kernel kernel, sd_block_ldlt *m)
{
    const sd_ldlt_factors *f = &m->factors;
    const sd_batch_rule rule = {.kernel = kernel};
    sd_batch_plan plan = {0};
    sd_batch_factors of_inverse = {0}, of_square = {0};
    sd_batch_free(e, &m->below);
    m->factors.below = NULL;
    sd_batch_place(e, m->plan.blocks, m->plan.start, NULL, NULL, NULL, &plan);
    if (!e->status) of_inverse = sd_batch_factors_new(e, &plan, f->precision);
    if (!e->status) of_square = sd_batch_factors_new(e, &plan, f->precision);
    if (!e->status) m->below = sd_batch_new(e, &plan, f->precision, "factors");
    if (!e->status) {
        const sd_batch inverse = {&plan, (void *)(uintptr_t)f->inverse, f->precision};
        sd_batch square = {&plan, of_square.data, f->precision};
        sd_batch_factor(e, &rule, &inverse, &of_inverse);
        sd_batch_invert(e, &of_inverse, &square);
        sd_batch_factor(e, &rule, &square, &of_square);
        sd_ldlt_split(e, &of_square, &of_inverse, &m->below);
    }
    sd_batch_factors_free(e, &of_inverse);
    sd_batch_factors_free(e, &of_square);
    sd_batch_unplace(e, &plan);
    m->below.plan = NULL;
    m->factors.below = m->below.data;
    return e->status;
}

void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const saddle_preparation preparation = m->preparation;
    const int exponent = m->exponent, shift = m->shift;
    const sd_ldlt_factors *f = &m->factors;
    const void *pattern[] = {f->start, f->row, f->diagonal, f->square, f->list, f->order};
    for (size_t k = 0; k < sizeof pattern / sizeof pattern[0] && !e->backend->host_memory; ++k)
        sd_release(e, pattern[k]);
    sd_batch_free(e, &m->below);
    sd_vector_free(e, &m->scale);
    sd_free(c, m->order);
    sd_ldlt_end_run(e, m);
    sd_ldlt_plan_free(c, &m->plan);
    *m = (sd_block_ldlt){.preparation = preparation, .shift = shift, .exponent = exponent, .residual = NAN};
}

saddle_status sd_ldlt_inverse_make(sd_engine *e, const sd_block_ldlt *ldlt, sd_trisolve how,
                                   sd_ldlt_inverse *m)
{
    const sd_precision precision = ldlt->factors.precision;
    const int64_t n = ldlt->factors.n, swept = how.kind == SD_TRISOLVE_ENTRIES ? 2 * n : n;
    *m = (sd_ldlt_inverse){.factors = &ldlt->factors, .positive = ldlt->positive, .trisolve = how};
    m->work[0] = sd_vector_new(e, precision, 2 * n, "triangular solves");
    for (int k = 1; k < 3 && how.kind != SD_TRISOLVE_EXACT; ++k)
        m->work[k] = sd_vector_new(e, precision, swept, "triangular solves");
    return e->status;
}

void sd_ldlt_inverse_free(sd_engine *e, sd_ldlt_inverse *m)
{
    for (int k = 0; k < 3; ++k) sd_vector_free(e, &m->work[k]);
}

/* ---- sweeps ---- */

/* Those n numbers of a vector that begin at entry `first`. */
static sd_vector part_of(const sd_vector *x, int64_t first, int64_t n)
{
    return (sd_vector){(char *)x->data + first * (int64_t)sd_precision_size(x->precision), n, x->precision};
}

/* Whether a sweep changed little: then another would change even less. `before` is lost. */
static bool has_settled(sd_engine *e, int32_t n, const sd_vector *after, const sd_vector *before)
{
    const sd_vector x = part_of(after, 0, n);
    sd_vector y = part_of(before, 0, n);
    double change = 0, size = 0;
    sd_axpby(e, 1.0, &x, -1.0, &y);
    sd_norm_inf(e, &y, &change);
    sd_norm_inf(e, &x, &size);
    return !(change > SETTLED * size);
}

static void sweep_once(const sd_ldlt_inverse *m, sd_engine *e, bool forward, const sd_vector *b,
                       const sd_vector *from, sd_vector *to)
{
    if (m->trisolve.kind == SD_TRISOLVE_ENTRIES)
        sd_ldlt_sweep_entries(e, m->factors, forward ? SD_LDLT_FORWARD : SD_LDLT_BACKWARD, b, from, to);
    else
        sd_ldlt_sweep(e, m->factors, forward, b, from, to);
}

/* Sweeps that are enough for an exact solve: an entry needs no more than there are levels of them. */
static int64_t enough_sweeps(const sd_ldlt_inverse *m)
{
    const int64_t levels = m->factors->levels, depth = levels * m->factors->largest;
    if (m->trisolve.kind == SD_TRISOLVE_BLOCKS) return levels;
    return depth < m->factors->n ? depth : m->factors->n;
}

/* Sweeps over one triangle, for b, between two vectors; returns how many. The last result is in *to. */
static int sweep(const sd_ldlt_inverse *m, sd_engine *e, bool forward, int sweeps, const sd_vector *b,
                 sd_vector *from, sd_vector *to)
{
    const int64_t most = sweeps > 0 ? sweeps : enough_sweeps(m);
    int done = 1;
    sweep_once(m, e, forward, b, NULL, to);
    while (done < most && !e->status) {
        const sd_vector swap = *from;
        *from = *to;
        *to = swap;
        sweep_once(m, e, forward, b, from, to);
        ++done;
        if (sweeps == 0 && has_settled(e, m->factors->n, to, from)) break;
    }
    return done;
}

/* Equal numbers of sweeps from 0 on both triangles, so that the application is symmetric. */
static void apply_swept(const sd_ldlt_inverse *m, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const int32_t n = m->factors->n;
    sd_vector b = part_of(&m->work[0], 0, n), from = m->work[1], to = m->work[2];
    sd_ldlt_enter(e, m->factors, r, &b);
    const int sweeps = sweep(m, e, true, m->trisolve.sweeps, &b, &from, &to);
    if (m->trisolve.kind == SD_TRISOLVE_ENTRIES) {
        const sd_vector t = part_of(&to, n, n);
        sd_ldlt_sweep_entries(e, m->factors, SD_LDLT_BETWEEN, &t, NULL, &b);
    } else {
        const sd_vector swap = b;
        b = to;
        to = swap;
    }
    sweep(m, e, false, sweeps, &b, &from, &to);
    sd_ldlt_leave(e, m->factors, &to, z);
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_ldlt_inverse *m = self;
    sd_vector work = m->work[0];
    if (m->trisolve.kind == SD_TRISOLVE_EXACT)
        sd_ldlt_solve(e, m->factors, r, z, &work);
    else
        apply_swept(m, e, r, z);
}

sd_preconditioner sd_ldlt_preconditioner(const sd_ldlt_inverse *m)
{
    const bool symmetric = sd_trisolve_symmetric(m->trisolve);
    return (sd_preconditioner){apply, m, symmetric && m->positive, symmetric};
}

saddle_status sd_ldlt_try_sweeps(sd_engine *e, const sd_block_ldlt *ldlt, int sweeps, double *apart)
{
    const sd_trisolve how[] = {{SD_TRISOLVE_EXACT, 0}, {SD_TRISOLVE_BLOCKS, sweeps}};
    const sd_precision precision = SD_DOUBLE; /* as the vectors of an iteration */
    const int32_t n = ldlt->factors.n;
    double *signs = sd_alloc(e->context, n, sizeof *signs, "a vector"), change = 0, size = 0;
    sd_vector r = sd_vector_new(e, precision, n, "a vector");
    sd_vector z[2] = {sd_vector_new(e, precision, n, "a vector"), sd_vector_new(e, precision, n, "a vector")};
    if (!signs && !e->status) e->status = e->context->status;
    for (int32_t i = 0; i < n && !e->status; ++i) signs[i] = sd_ldlt_sign(i);
    sd_engine_reserve(e, n, NULL);
    if (!e->status) sd_vector_put(e, signs, &r);
    for (int k = 0; k < 2; ++k) {
        sd_ldlt_inverse m;
        if (!sd_ldlt_inverse_make(e, ldlt, how[k], &m)) apply(&m, e, &r, &z[k]);
        sd_ldlt_inverse_free(e, &m);
    }
    if (!e->status) {
        sd_norm_inf(e, &z[0], &size);
        sd_axpy(e, -1.0, &z[1], &z[0]);
        sd_norm_inf(e, &z[0], &change);
    }
    *apart = isfinite(change) && isfinite(size) ? (size > 0 ? change / size : 0) : INFINITY;
    sd_vector_free(e, &r);
    for (int k = 0; k < 2; ++k) sd_vector_free(e, &z[k]);
    sd_free(e->context, signs);
    return e->status;
}
