/*
 * Triangular solves with a block LDL': by levels, or by Jacobi sweeps over blocks or single entries. See
 * ldlt_solve.h.
 */
#include "solve/ldlt_solve.h"

#include <math.h>

static const double SETTLED = 1e-2; /* change of a sweep relative to its result */

saddle_status sd_ldlt_inverse_make(sd_engine *e, const sd_block_ldlt *ldlt, sd_trisolve how,
                                   sd_ldlt_inverse *m)
{
    const sd_precision precision = ldlt->factors.precision;
    const int64_t n = ldlt->factors.n, swept = how.kind == SD_TRISOLVE_ENTRIES ? 2 * n : n;
    *m = (sd_ldlt_inverse){.factors = &ldlt->factors, .trisolve = how};
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
    sd_enter(e, &m->factors->frame, 1, r, &b);
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
    sd_leave(e, &m->factors->frame, 1, &to, z);
}

void sd_ldlt_apply(sd_engine *e, const sd_ldlt_inverse *m, const sd_vector *r, sd_vector *z)
{
    sd_vector work = m->work[0];
    if (m->trisolve.kind == SD_TRISOLVE_EXACT)
        sd_ldlt_solve(e, m->factors, r, z, &work);
    else
        apply_swept(m, e, r, z);
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
        if (!sd_ldlt_inverse_make(e, ldlt, how[k], &m)) sd_ldlt_apply(e, &m, &r, &z[k]);
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
