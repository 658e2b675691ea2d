/* Factorizations of many systems: see systems.cuh. */
#include "backend/cuda/systems.cuh"

#include <float.h>

namespace sd_cuda
{
namespace
{

constexpr double NEAR = 0x1p+140; /* entries within it and its inverse are not far apart, nor far from 1 */
constexpr int EXPONENT_MOST = 1022;

/* A system at work. */
struct system_at_work {
    double *a, *l, *inverse, *y;
    double power;
};

/* Entry e of the scaled matrix. */
__device__ inline double scaled(const systems_plan &w, const system_at_work &s, int e)
{
    const sd_term in = w.place[e];
    return (w.scale[in.a] * (at(s.a, e) * s.power)) * w.scale[in.b];
}

/* Takes the values over. *most and *least are those of their sizes, zeros apart; false where one is not
 * finite. */
template <class real>
__device__ bool take_values(const systems_plan &w, const system_place &p, const real *from, double *a,
                            double *most, double *least)
{
    double found[3] = {0, 0, 0}, none[1] = {0}; /* largest, 1 / least, not finite */
    for (int e = p.worker; e < w.nnz; e += p.workers) {
        double v = 0;
        if (w.source_ptr)
            for (int t = w.source_ptr[e]; t < w.source_ptr[e + 1]; ++t)
                v += static_cast<double>(from[w.source[t]]);
        else
            v = static_cast<double>(from[e]);
        at(a, e) = v;
        const double size = fabs(v);
        if (!(size <= DBL_MAX)) found[2] = 1;
        found[0] = larger_of(size, found[0]);
        if (size > 0) found[1] = larger_of(1 / size, found[1]);
    }
    combine_workers(found, none);
    *most = found[0];
    *least = 1 / found[1];
    return found[2] == 0;
}

/* Whether the scaling suits the values; *norm is that of A. */
__device__ bool is_scaled(const systems_plan &w, const system_place &p, const system_at_work &s,
                          const systems_rule &rule, double *norm)
{
    double found[4] = {0, 0, 0, 0}, none[1] = {0}; /* norm, stale, 1 / least matched, largest */
    for (int i = p.worker; i < w.n; i += p.workers) {
        double sum = 0;
        for (int t = w.row_ptr[i]; t < w.row_ptr[i + 1]; ++t) sum += fabs(at(s.a, w.row[t].a));
        found[0] = larger_of(sum, found[0]);
    }
    for (int t = p.worker; t < w.matchings; t += p.workers) {
        const double size = fabs(scaled(w, s, w.matched[t]));
        if (!(size >= rule.stale && size <= rule.grown)) found[1] = 1;
        found[2] = larger_of(1 / size, found[2]);
    }
    for (int e = p.worker; e < w.nnz; e += p.workers) found[3] = larger_of(fabs(scaled(w, s, e)), found[3]);
    combine_workers(found, none);
    *norm = found[0];
    return found[1] == 0 || found[3] * found[2] <= rule.misscaled;
}

/* What is found of a system by one of its workers. */
struct system_tally {
    bool bad = false;
    double least = INFINITY;
    int negative = 0, zero = 0, perturbed = 0;
};

/* D and its inverse at k, 1x1. */
__device__ inline double take_pivot(const system_at_work &s, const systems_plan &w, const systems_rule &rule,
                                    int k, bool counted, system_tally *t)
{
    double d = s.y[(static_cast<int64_t>(w.entries) + 2 * k) * GROUP];
    bool changed = false;
    if (rule.rule == SD_PIVOT_STATIC) {
        const int expected = rule.signs ? rule.signs[k] : 0, sign = expected ? expected : d < 0 ? -1 : 1;
        changed = d * sign < rule.regularise;
        if (changed) d = sign * rule.regularise;
    }
    const double inverse = d == 0 ? 0 : 1 / d;
    if (!counted) return inverse;
    const double size = fabs(d);
    if (rule.rule == SD_PIVOT_POSITIVE)
        t->bad |= !(d > 0 && d <= DBL_MAX);
    else if (rule.rule != SD_PIVOT_STATIC)
        t->bad |= !(size > rule.small && size <= DBL_MAX);
    t->perturbed += changed;
    t->negative += d < 0;
    t->zero += d == 0;
    t->least = size < t->least ? size : t->least;
    s.inverse[2 * static_cast<int64_t>(k) * GROUP] = inverse;
    s.inverse[(2 * static_cast<int64_t>(k) + 1) * GROUP] = 0;
    return inverse;
}

struct pair_inverse {
    double a, b, c;
};

/* The same of a 2x2 pivot. One that falls into two is not taken. */
__device__ inline pair_inverse take_pair(const system_at_work &s, const systems_plan &w, int k, bool counted,
                                         system_tally *t)
{
    const double *const d = s.y + (static_cast<int64_t>(w.entries) + 2 * k) * GROUP;
    const double d0 = d[0], d1 = d[GROUP], d2 = d[2 * GROUP];
    const double a = d0 / d1, c = d2 / d1, determinant = a * c - 1, size = fabs(determinant);
    const double scale = 1 / determinant / d1;
    const pair_inverse in = {c * scale, -scale, a * scale};
    if (!counted) return in;
    const double sizes = fabs(d0) + fabs(d2) + 2 * fabs(d1), least = size * d1 * d1 / (2 * sizes);
    t->bad |= !(d1 != 0 && size > 8 * DBL_EPSILON && size <= DBL_MAX);
    t->negative += determinant < 0 ? 1 : d0 < 0 ? 2 : 0;
    t->least = least < t->least ? least : t->least;
    double *const to = s.inverse + 2 * static_cast<int64_t>(k) * GROUP;
    to[0] = in.a;
    to[GROUP] = in.b;
    to[2 * GROUP] = in.c;
    to[3 * GROUP] = 0;
    return in;
}

/* y becomes l, or D its inverse. */
__device__ inline void finish_item(const systems_plan &w, const system_at_work &s, const systems_rule &rule,
                                   int out, int pivot, system_tally *t)
{
    const bool pair = pivot < 0, counted = out < 0;
    if (!pair) {
        const double inverse = take_pivot(s, w, rule, pivot, counted, t);
        if (counted) return;
        const double u = at(s.y, out) * inverse;
        at(s.l, out) = u;
        t->bad |= !(fabs(u) <= rule.limit);
        return;
    }
    const pair_inverse in = take_pair(s, w, ~pivot, counted, t);
    if (counted) return;
    const double a = at(s.y, out), b = at(s.y, out + 1);
    const double u = fma(in.a, a, in.b * b), v = fma(in.b, a, in.c * b);
    at(s.l, out) = u;
    at(s.l, out + 1) = v;
    t->bad |= !(fabs(u) <= rule.limit) || !(fabs(v) <= rule.limit);
}

/* All numbers, round by round. */
__device__ void run_steps(const systems_plan &w, const system_place &p, const system_at_work &s,
                          const systems_rule &rule, system_tally *t)
{
    for (int k = p.worker; k < w.entries + 2 * w.n; k += p.workers)
        at(s.y, k) = w.start[k] < 0 ? 0 : scaled(w, s, w.start[k]);
    __syncthreads();
    step_reader steps(w.factor, p);
    for (int k = 0; k < w.factor.count; ++k) {
        const sd_step now = steps.take();
        const int count = now.what & SD_STEP_COUNT;
        if (count > 0) {
            const double a = at(s.l, now.term[0].a), b = at(s.y, now.term[0].b);
            const double c = count > 1 ? at(s.l, now.term[1].a) : 0,
                         d = count > 1 ? at(s.y, now.term[1].b) : 0;
            double y = fma(-a, b, at(s.y, now.out));
            if (count > 1) y = fma(-c, d, y);
            at(s.y, now.out) = y;
        } else if (now.what & SD_STEP_ITEM) {
            finish_item(w, s, rule, now.out, now.term[0].b, t);
        }
        if (now.what & SD_STEP_MEET) __syncthreads();
    }
}

template <class real>
__global__ void __launch_bounds__(SYSTEM_THREADS)
    factor_systems(systems_plan w, systems_factors f, int64_t count, const real *values, int64_t stride,
                   systems_rule rule, double *space)
{
    const system_place p;
    const int64_t numbers = (static_cast<int64_t>(w.entries) + 2 * w.n) * GROUP;
    double *const y =
        space ? space + static_cast<int64_t>(blockIdx.x) * numbers : static_cast<double *>(shared_room());
    for (int64_t group = blockIdx.x; group * GROUP < count; group += gridDim.x) {
        const int64_t system = group * GROUP + p.lane;
        const real *const from = values + (system < count ? system : count - 1) * stride;
        system_at_work s = {f.a + group * w.nnz * GROUP + p.lane, f.l + group * w.entries * GROUP + p.lane,
                            f.inverse + group * 2 * w.n * GROUP + p.lane, y + p.lane, 1};
        double most, least, norm;
        bool good = take_values(w, p, from, s.a, &most, &least) && most < NEAR && least > 1 / NEAR;
        const int exponent = (most == 0 || !good ? 0 : ilogb(most)) - w.largest_exponent;
        good &= exponent <= EXPONENT_MOST && exponent >= -EXPONENT_MOST;
        if (good) s.power = ldexp(1.0, -exponent);
        good &= is_scaled(w, p, s, rule, &norm);
        system_tally t;
        run_steps(w, p, s, rule, &t);
        double found[2] = {t.bad ? 1.0 : 0.0, -t.least};
        double sums[3] = {static_cast<double>(t.negative), static_cast<double>(t.zero),
                          static_cast<double>(t.perturbed)};
        combine_workers(found, sums);
        good &=
            found[0] == 0 && sums[1] == 0 && !(rule.rule == SD_PIVOT_THRESHOLD && -found[1] <= rule.suspect);
        if (p.worker != 0 || system >= count) continue;
        f.norm[system] = norm;
        f.exponent[system] = exponent;
        sd_system_outcome o = {};
        o.state = good ? SD_SYSTEM_FACTORED : 0;
        o.negative = static_cast<int>(sums[0]);
        o.zero = static_cast<int>(sums[1]);
        o.perturbed = static_cast<int>(sums[2]);
        f.outcome[system] = o;
    }
}

template <class real>
void run_factors(sd_engine *e, const systems_plan &w, const systems_factors &f, int64_t count,
                 const void *values, int64_t stride, const systems_rule &rule, int shared, double *space)
{
    allow_shared(e, factor_systems<real>, shared);
    launch_grid(e, "factorizations", false, factor_systems<real>, dim3(system_blocks(e, count)),
                w.workers * GROUP, shared, w, f, count, static_cast<const real *>(values), stride, rule,
                space);
}

} /* namespace */

void launch_system_factors(sd_engine *e, const systems_plan &w, const systems_factors &f, int64_t count,
                           const void *values, int64_t stride, bool single, const systems_rule &rule)
{
    const int64_t each =
        (static_cast<int64_t>(w.entries) + 2 * w.n) * GROUP * static_cast<int64_t>(sizeof(double));
    const bool fits = each <= SHARED_MOST;
    void *space = fits ? NULL : get_room(e, each * system_blocks(e, count), "factorizations at work");
    if (e->status) return;
    (single ? run_factors<float> : run_factors<double>)(e, w, f, count, values, stride, rule,
                                                        fits ? static_cast<int>(each) : 0,
                                                        static_cast<double *>(space));
    e->backend->release(e, space);
}

} /* namespace sd_cuda */
