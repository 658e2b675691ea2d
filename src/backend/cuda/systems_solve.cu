/*
 * Solves of many systems: see systems.cuh. What a system goes through is what solve/abreast.h does, in the
 * same steps: x = A^-1 b, errors measured with residuals in double-double, corrections while they help; a
 * witness of the inertia (method/direct/certificate.c) is solved along with b.
 */
#include "backend/cuda/systems.cuh"

#include <float.h>

namespace sd_cuda
{
namespace
{

constexpr double SAFE = 0x1p+200; /* vectors within it and its inverse are measured as they are */
constexpr int FAR_EXPONENT = 40;  /* of two: sizes up to that are left as they are */
constexpr int STEPS = 15, IDLE_MOST = 2;
constexpr int VECTORS = 6, BY_PIVOT = 2; /* that a system needs, those that solves work on apart */

/* A system at work: its numbers, and vectors by row of A; t by k. */
struct solving {
    const double *a, *l, *inverse;
    double *b, *x, *y, *r; /* the best is x, refinement stands at y, with residual r */
    double *column, *witness;
    double *t[2];
    double norm;
    int exponent;
};

__device__ inline int far_exponent(double largest)
{
    const int exponent = largest == 0 || isinf(largest) ? 0 : ilogb(largest);
    return exponent <= FAR_EXPONENT && exponent >= -FAR_EXPONENT ? 0 : exponent;
}

/* 2^shift in two factors: one alone may lie outside the range of doubles. */
struct power {
    double half, rest;

    __device__ explicit power(int shift) : half(ldexp(1.0, shift / 2)), rest(ldexp(1.0, shift - shift / 2))
    {
    }
};

/* The factors of a step's terms. */
struct step_factors {
    double a, b;

    __device__ step_factors(const sd_step &s, const double *l)
    {
        const int count = s.what & SD_STEP_COUNT;
        a = count > 0 ? at(l, s.term[0].a) : 0;
        b = count > 1 ? at(l, s.term[1].a) : 0;
    }
};

/* t = L^-1 t, or L'^-1 t. What does not depend on t is loaded a step ahead. */
template <int COLUMNS>
__device__ void run_steps(const systems_steps &list, const system_place &p, const solving &s)
{
    step_reader steps(list, p);
    step_factors l(steps.ahead(), s.l);
    for (int k = 0; k < list.count; ++k) {
        const sd_step now = steps.take();
        const step_factors next(steps.ahead(), s.l);
        const int count = now.what & SD_STEP_COUNT;
        if (count > 0) {
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                double x = fma(-l.a, at(s.t[c], now.term[0].b), at(s.t[c], now.out));
                if (count > 1) x = fma(-l.b, at(s.t[c], now.term[1].b), x);
                at(s.t[c], now.out) = x;
            }
        }
        l = next;
        if (now.what & SD_STEP_MEET) __syncthreads();
    }
}

/* t = (L D L')^-1 t */
template <int COLUMNS>
__device__ void run_solve(const systems_plan &w, const system_place &p, const solving &s)
{
    run_steps<COLUMNS>(w.forward, p, s);
    for (int k = p.worker; k < w.n; k += p.workers) {
        const int b = w.pivot[k];
        const double *const in = s.inverse + 2 * static_cast<int64_t>(k) * GROUP;
        for (int c = 0; c < COLUMNS; ++c) {
            double *const v = s.t[c] + static_cast<int64_t>(k) * GROUP;
            if (b >= 0) {
                v[0] *= in[0];
            } else if (b == ~k) {
                const double own = v[0], next = v[GROUP];
                v[0] = fma(in[0], own, in[GROUP] * next);
                v[GROUP] = fma(in[GROUP], own, in[2 * GROUP] * next);
            }
        }
    }
    __syncthreads();
    run_steps<COLUMNS>(w.backward, p, s);
}

/* y = A^-1 r, or y += A^-1 r; and column = A^-1 column, where there are two. */
__device__ void solve_along(const systems_plan &w, const system_place &p, const solving &s, const double *r,
                            bool first, bool both)
{
    double most[2] = {0, 0}, none[1] = {0};
    for (int i = p.worker; i < w.n; i += p.workers) {
        most[0] = larger_of(fabs(w.scale[i] * at(r, i)), most[0]);
        if (both) most[1] = larger_of(fabs(w.scale[i] * at(s.column, i)), most[1]);
    }
    combine_workers(most, none);
    const int shift = far_exponent(most[0]), other = both ? far_exponent(most[1]) : 0;
    const power into(-shift), into_other(-other), out(shift - s.exponent), out_other(other - s.exponent);
    for (int i = p.worker; i < w.n; i += p.workers) {
        const int k = w.position[i];
        at(s.t[0], k) = w.scale[i] * at(r, i) * into.half * into.rest;
        if (both) at(s.t[1], k) = w.scale[i] * at(s.column, i) * into_other.half * into_other.rest;
    }
    __syncthreads();
    if (both)
        run_solve<2>(w, p, s);
    else
        run_solve<1>(w, p, s);
    for (int i = p.worker; i < w.n; i += p.workers) {
        const int k = w.position[i];
        const double z = w.scale[i] * at(s.t[0], k) * out.half * out.rest;
        at(s.y, i) = first ? z : at(s.y, i) + z;
        if (both) at(s.column, i) = w.scale[i] * at(s.t[1], k) * out_other.half * out_other.rest;
    }
    __syncthreads();
}

/* column = A S witness */
__device__ void send_witness(const systems_plan &w, const system_place &p, const solving &s)
{
    for (int i = p.worker; i < w.n; i += p.workers) {
        double before = 0, own = 0;
        for (int t = w.row_ptr[i]; t < w.row_ptr[i + 1]; ++t) {
            const sd_term in = w.row[t];
            const double product = at(s.a, in.a) * (w.scale[in.b] * at(s.witness, in.b));
            if (in.b < i)
                before += product;
            else
                own += product;
        }
        at(s.column, i) = before + own;
    }
    __syncthreads();
}

/* witness -= S^-1 column; its norm. */
__device__ double take_witness(const systems_plan &w, const system_place &p, const solving &s)
{
    double none[1] = {0}, square[1] = {0};
    for (int i = p.worker; i < w.n; i += p.workers) {
        const double x = at(s.witness, i) - at(s.column, i) / w.scale[i];
        at(s.witness, i) = x;
        square[0] += x * x;
    }
    combine_workers(none, square);
    return sqrt(square[0]);
}

/* What is known of a vector. */
struct vector_size {
    double largest;
    bool finite, near;
};

__device__ vector_size size_of(const systems_plan &w, const system_place &p, const double *v, double *square)
{
    double most[3] = {0, 0, 0}, sum[1] = {0}; /* largest, 1 / least, not finite */
    for (int i = p.worker; i < w.n; i += p.workers) {
        const double size = fabs(at(v, i));
        if (!(size <= DBL_MAX)) most[2] = 1;
        most[0] = larger_of(size, most[0]);
        if (size > 0) most[1] = larger_of(1 / size, most[1]);
        sum[0] += size * size;
    }
    combine_workers(most, sum);
    *square = sum[0];
    const bool finite = most[2] == 0;
    return {most[0], finite, finite && most[0] < SAFE && most[1] < SAFE};
}

struct residual_norms {
    double backward, componentwise, residual;
};

/* r = b - A y in double-double, and the errors of y. */
__device__ residual_norms measure(const systems_plan &w, const system_place &p, const solving &s,
                                  double largest_x, double largest_b, double square_b)
{
    double most[2] = {0, 0}, sum[1] = {0};
    for (int i = p.worker; i < w.n; i += p.workers) {
        const double b = at(s.b, i);
        double hi = b, lo = 0, weight = fabs(b);
        for (int t = w.row_ptr[i]; t < w.row_ptr[i + 1]; ++t) {
            const sd_term in = w.row[t];
            const double a = at(s.a, in.a), y = at(s.y, in.b), product = -a * y;
            lo += fma(-a, y, -product);
            const double total = hi + product, part = total - hi;
            lo += (hi - (total - part)) + (product - part);
            hi = total;
            weight += fabs(product);
        }
        const double r = hi + lo, size = fabs(r), inverse = weight > 0 ? 1 / weight : 0;
        at(s.r, i) = r;
        most[0] = larger_of(size, most[0]);
        most[1] = larger_of(size * inverse, most[1]);
        sum[0] += size * size;
    }
    combine_workers(most, sum);
    const bool none = most[0] == 0;
    return {none ? 0 : most[0] / (s.norm * largest_x + largest_b), most[1],
            none ? 0 : sqrt(sum[0]) / sqrt(square_b)};
}

/* r = b - A y in double. */
__device__ void subtract_product(const systems_plan &w, const system_place &p, const solving &s)
{
    for (int i = p.worker; i < w.n; i += p.workers) {
        double sum = 0;
        for (int t = w.row_ptr[i]; t < w.row_ptr[i + 1]; ++t)
            sum += at(s.a, w.row[t].a) * at(s.y, w.row[t].b);
        at(s.r, i) = at(s.b, i) - sum;
    }
    __syncthreads();
}

/* Where a system's refinement stands. */
struct answer {
    residual_norms errors;
    int steps, idle;
    bool solved;    /* as far as it has come */
    bool certified; /* or there is nothing to certify */
    bool waiting;   /* its witness is */
};

__device__ void keep_best(const systems_plan &w, const system_place &p, const solving &s)
{
    for (int i = p.worker; i < w.n; i += p.workers) at(s.x, i) = at(s.y, i);
}

/* What came of the witnesses; those that need another ride get one. */
__device__ void arrive(const systems_plan &w, const system_place &p, const solving &s,
                       const sd_systems_goal &goal, answer *q)
{
    const double left = take_witness(w, p, s);
    if (q->waiting) {
        q->certified = left <= goal.left;
        q->waiting = !q->certified && left <= 1;
    }
    if (__syncthreads_or(q->waiting)) send_witness(w, p, s);
}

/* As sd_answer_begin and sd_answer_next (solve/refinement.h) do. */
__device__ void take_errors(const systems_plan &w, const system_place &p, const solving &s,
                            const sd_systems_goal &goal, const residual_norms &found, bool first, answer *q)
{
    bool better = first;
    if (first) {
        q->idle = goal.corrections && found.componentwise > DBL_EPSILON ? 0 : IDLE_MOST;
    } else {
        const double before = q->errors.componentwise, now = found.componentwise;
        better = now < before;
        q->idle = now <= 0.5 * before ? 0 : q->idle + 1;
        if (!(now > DBL_EPSILON)) q->idle = IDLE_MOST;
    }
    ++q->steps;
    if (!better) return;
    q->errors = found;
    keep_best(w, p, s);
}

/* With errors measured. */
__device__ void refine(const systems_plan &w, const system_place &p, const solving &s,
                       const sd_systems_goal &goal, const vector_size &b, double square_b, answer *q)
{
    bool both = __syncthreads_or(q->waiting);
    if (both) send_witness(w, p, s);
    for (int step = 0;; ++step) {
        solve_along(w, p, s, step == 0 ? s.b : s.r, step == 0, both);
        if (both) arrive(w, p, s, goal, q);
        double square;
        const vector_size x = size_of(w, p, s.y, &square);
        const residual_norms found = measure(w, p, s, x.largest, b.largest, square_b);
        if (q->solved && q->idle < IDLE_MOST) {
            q->solved = x.near;
            if (q->solved) take_errors(w, p, s, goal, found, step == 0, q);
        }
        const bool active = q->solved && q->idle < IDLE_MOST;
        if (step == STEPS || !__syncthreads_or(active)) break;
        both = __syncthreads_or(q->waiting && active);
        if (!active) q->waiting = false;
    }
    const residual_norms &found = q->errors;
    q->solved &= q->certified && found.residual <= goal.residual && found.backward <= goal.backward &&
                 found.componentwise <= goal.componentwise;
}

/* As the factors give it, or corrected once. */
__device__ void solve_plainly(const systems_plan &w, const system_place &p, const solving &s,
                              const sd_systems_goal &goal, answer *q)
{
    double square;
    solve_along(w, p, s, s.b, true, false);
    q->solved &= size_of(w, p, s.y, &square).finite;
    if (goal.corrections) {
        subtract_product(w, p, s);
        solve_along(w, p, s, s.r, false, false);
        q->solved &= size_of(w, p, s.y, &square).finite;
    }
    keep_best(w, p, s);
}

__global__ void __launch_bounds__(SYSTEM_THREADS, 1)
    solve_systems(systems_plan w, systems_factors f, int64_t count, const double *b, int64_t ldb, double *x,
                  int64_t ldx, sd_systems_goal goal, sd_system_outcome *outcome, double *space, bool outside)
{
    const system_place p;
    const int64_t numbers = static_cast<int64_t>(w.n) * GROUP;
    const int64_t each = numbers * (outside ? VECTORS + BY_PIVOT : VECTORS);
    double *const vectors = space + static_cast<int64_t>(blockIdx.x) * each + p.lane;
    double *const solved =
        outside ? vectors + VECTORS * numbers : static_cast<double *>(shared_room()) + p.lane;
    for (int64_t group = blockIdx.x; group * GROUP < count; group += gridDim.x) {
        const int64_t system = group * GROUP + p.lane, of = system < count ? system : count - 1;
        solving s;
        s.a = f.a + group * w.nnz * GROUP + p.lane;
        s.l = f.l + group * w.entries * GROUP + p.lane;
        s.inverse = f.inverse + group * 2 * w.n * GROUP + p.lane;
        s.b = vectors;
        s.x = s.b + numbers;
        s.y = s.x + numbers;
        s.r = s.y + numbers;
        s.column = s.r + numbers;
        s.witness = s.column + numbers;
        s.t[0] = solved;
        s.t[1] = solved + numbers;
        s.norm = f.norm[of];
        s.exponent = f.exponent[of];
        sd_system_outcome o = f.outcome[of];
        for (int i = p.worker; i < w.n; i += p.workers) {
            at(s.b, i) = b[of * ldb + i];
            at(s.witness, i) = w.random[i];
        }
        __syncthreads();
        double square_b;
        const vector_size size = size_of(w, p, s.b, &square_b);
        answer q = {};
        q.solved = (o.state & SD_SYSTEM_FACTORED) && system < count && size.finite;
        if (goal.measured) {
            q.solved &= size.near && size.largest > 0;
            q.certified = !goal.certified || (o.state & SD_SYSTEM_CERTIFIED);
            q.waiting = q.solved && !q.certified;
            refine(w, p, s, goal, size, square_b, &q);
        } else {
            solve_plainly(w, p, s, goal, &q);
        }
        __syncthreads();
        if (q.solved)
            for (int i = p.worker; i < w.n; i += p.workers) x[of * ldx + i] = at(s.x, i);
        if (p.worker == 0 && system < count) {
            if (goal.measured && goal.certified && q.solved) o.state |= SD_SYSTEM_CERTIFIED;
            /* others that solve with the same factors write the same */
            f.outcome[system].state = o.state;
            if (q.solved) o.state |= SD_SYSTEM_SOLVED;
            o.backward = q.errors.backward;
            o.componentwise = q.errors.componentwise;
            o.residual = q.errors.residual;
            o.steps = q.steps;
            outcome[system] = o;
        }
        __syncthreads();
    }
}

} /* namespace */

void launch_system_solves(sd_engine *e, const systems_plan &w, const systems_factors &f, int64_t count,
                          const double *b, int64_t ldb, double *x, int64_t ldx, const sd_systems_goal &goal,
                          sd_system_outcome *outcome)
{
    const int64_t vector = static_cast<int64_t>(w.n) * GROUP * static_cast<int64_t>(sizeof(double));
    const bool fits = BY_PIVOT * vector <= SHARED_MOST;
    const int blocks = system_blocks(e, count), shared = fits ? static_cast<int>(BY_PIVOT * vector) : 0;
    void *space = get_room(e, (fits ? VECTORS : VECTORS + BY_PIVOT) * vector * blocks, "solves at work");
    if (e->status) return;
    allow_shared(e, solve_systems, shared);
    launch_grid(e, "solves", false, solve_systems, dim3(blocks), w.workers * GROUP, shared, w, f, count, b,
                ldb, x, ldx, goal, outcome, static_cast<double *>(space), !fits);
    e->backend->release(e, space);
}

} /* namespace sd_cuda */
