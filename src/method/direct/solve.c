/* Solves with the factors of the direct solver. */
#include "core/power.h"
#include "factor/rank.h"
#include "method/direct/direct.h"
#include "solve/refinement.h"

#include <limits.h>
#include <math.h>

/* to = 2^(tilt + shift) from for a column of a balanced matrix; returns the exponent of the largest where
 * `take` leaves it out. */
static int tilt_column(int32_t n, const int32_t *tilt, const double *from, bool take, int shift, double *to)
{
    int most = INT_MIN;
    for (int32_t i = 0; i < n && take; ++i)
        if (from[i] != 0 && isfinite(from[i]) && ilogb(from[i]) + tilt[i] > most)
            most = ilogb(from[i]) + tilt[i];
    if (most == INT_MIN) most = 0;
    for (int32_t i = 0; i < n; ++i) to[i] = ldexp(from[i], tilt[i] + shift - most);
    return most;
}

/* Right-hand sides are rows `from` and on of the matrix that is factored, answers rows `to` and on. */
static sd_solve_frame frame_of(const sd_direct *d, int32_t from, int32_t to)
{
    return (sd_solve_frame){.count = d->plan->n,
                            .in = from,
                            .out = to,
                            .position = d->plan->tree.position,
                            .scale = d->scale,
                            .exponent = d->exponent};
}

static saddle_status apply(sd_context *c, const sd_direct *d, int32_t from, int32_t to, int64_t k,
                           const double *r, int64_t ldr, double *z, int64_t ldz, int threads,
                           sd_solve_memory *memory)
{
    const sd_solve_frame frame = frame_of(d, from, to);
    return sd_triangular_between(c, sd_direct_numbers(d), &d->room, &frame, k, r, ldr, z, ldz, threads,
                                 memory);
}

/* The same of a balanced matrix: what goes in and comes out may be farther apart than a scaling can reach. */
static saddle_status apply_tilted(sd_context *c, const sd_direct *d, int32_t from, int32_t to, int64_t k,
                                  const double *r, int64_t ldr, double *z, int64_t ldz, int threads)
{
    const int32_t n = d->plan->n;
    double *w = sd_alloc(c, n, sizeof *w, "right-hand sides");
    saddle_status status = w ? SADDLE_OK : c->status;
    for (int64_t j = 0; j < k && !status; ++j) {
        const int taken = tilt_column(n, d->tilt + from, r + j * ldr, true, 0, w);
        status = apply(c, d, from, to, 1, w, n, w, n, threads, NULL);
        tilt_column(n, d->tilt + to, w, false, taken, z + j * ldz);
    }
    sd_free(c, w);
    return status;
}

saddle_status sd_direct_apply(sd_context *c, const sd_direct *d, bool transposed, int64_t k, const double *r,
                              int64_t ldr, double *z, int64_t ldz, int threads, sd_solve_memory *memory)
{
    const int32_t second = d->plan->general ? d->plan->n : 0;
    if (d->tilt)
        return apply_tilted(c, d, transposed ? second : 0, transposed ? 0 : second, k, r, ldr, z, ldz,
                            threads);
    return apply(c, d, transposed ? second : 0, transposed ? 0 : second, k, r, ldr, z, ldz, threads, memory);
}

saddle_status sd_direct_solve(sd_engine *e, const void *factors, int64_t k, const double *r, int64_t ldr,
                              double *z, int64_t ldz, sd_solve_memory *memory)
{
    return sd_direct_apply(e->context, factors, false, k, r, ldr, z, ldz, e->threads, memory);
}

saddle_status sd_direct_solve_transposed(sd_engine *e, const void *factors, int64_t k, const double *r,
                                         int64_t ldr, double *z, int64_t ldz)
{
    return sd_direct_apply(e->context, factors, true, k, r, ldr, z, ldz, e->threads, NULL);
}

bool sd_direct_solves_there(const void *factors)
{
    const sd_direct *d = factors;
    return sd_direct_numbers(d)->device && !d->tilt;
}

saddle_status sd_direct_solve_there(sd_engine *e, const void *factors, int64_t k, const double *r,
                                    int64_t ldr, double *z, int64_t ldz)
{
    const sd_direct *d = factors;
    const sd_solve_frame frame = frame_of(d, 0, d->plan->general ? d->plan->n : 0);
    return sd_device_fronts_apply(e, sd_direct_numbers(d), &frame, k, r, ldr, z, ldz);
}

saddle_status sd_direct_null_vector(sd_context *c, const void *factors, const double *b, double *z,
                                    bool *found)
{
    const sd_direct *d = factors;
    const int32_t *position = d->plan->tree.position, n = d->plan->tree.n;
    const sd_factors *f = sd_direct_numbers(d);
    *found = false;
    if (d->plan->general || d->zero == 0) return SADDLE_OK;
    double *w = sd_alloc(c, n, sizeof *w, "null vector");
    if (!w) return c->status;
    const int of_b = sd_largest_exponent(b, n);
    for (int32_t i = 0; i < n; ++i) w[position[i]] = d->outer[i] * ldexp(b[i], -of_b);
    saddle_status status = sd_factors_fetch(c, f);
    if (!status) status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_FORWARD, 1, w, n, 1);
    if (!status) *found = sd_split_null_space(f, true, w);
    if (*found) status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_BACKWARD, 1, w, n, 1);
    for (int32_t i = 0; i < n && *found; ++i) z[i] = d->outer[i] * w[position[i]];
    sd_free(c, w);
    return status;
}

/* One solve's view of the factors. */
typedef struct inverse {
    const sd_direct *d;
    int exponent; /* of the operator */
    bool absolute;
    double *work; /* n, where absolute 2 n */
} inverse;

/* z = (2^-exponent A)^-1 r */
static void precondition(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const inverse *m = self;
    const int32_t n = m->d->plan->n;
    if (e->status) return;
    sd_vector_get(e, r, m->work);
    const saddle_status status = m->absolute
                                     ? sd_direct_absolute(e->context, m->d, m->work, m->work + n, e->threads)
                                     : sd_direct_solve(e, m->d, 1, m->work, n, m->work, n, NULL);
    if (status) e->status = status;
    if (m->exponent != 0) sd_shift(n, m->work, m->exponent, m->work);
    sd_vector_put(e, m->work, z);
}

static void release(sd_engine *e, void *owned)
{
    sd_free(e->context, ((inverse *)owned)->work);
    sd_free(e->context, owned);
}

saddle_status sd_direct_precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                     const sd_operator *op, sd_preconditioner *M)
{
    sd_context *c = e->context;
    const sd_direct *d = factors;
    const bool absolute = p->options->absolute == SADDLE_ON;
    inverse *m = sd_alloc_zero(c, 1, sizeof *m, "preconditioner");
    *M = (sd_preconditioner){.apply = precondition,
                             .self = m,
                             .owned = m,
                             .release = release,
                             .positive = absolute || (!d->plan->general && d->negative == 0 && d->zero == 0),
                             .symmetric = true};
    if (m) {
        m->d = d;
        m->exponent = op->exponent;
        m->absolute = absolute;
        m->work = sd_alloc(c, (absolute ? 2 : 1) * (int64_t)d->plan->n, sizeof *m->work, "preconditioner");
    }
    return m && m->work ? SADDLE_OK : (e->status = c->status);
}
