/* Debugging: solves by one thread. */
#include "backend/cuda/front_memory.cuh"
namespace sd_cuda {
namespace {
template <class real> __device__ int32_t var_of(const forest<real> &w, int32_t f, const front_state<real> &s, int i)
{ return i < s.columns ? s.variable[i] : w.rows[w.row_ptr[f] + i - s.columns]; }
template <class real> __global__ void plain(forest<real> w, int parts, int k, double *x)
{
    for (int r = 0; r < k; ++r, x += w.n) {
        if (parts & 1) for (int f = 0; f < w.fronts; ++f) { const front_state<real> s = w.front[f];
            for (int j = 0; j < s.eliminated; ++j) for (int i = j + 1; i < s.rows; ++i)
                x[var_of(w, f, s, i)] -= (double)s.panel[i + (int64_t)j * s.ld] * x[s.variable[j]]; }
        if (parts & 2) for (int f = 0; f < w.fronts; ++f) { const front_state<real> s = w.front[f];
            for (int j = 0; j < s.eliminated; ++j) {
                double a = s.d[2 * j], b = s.d[2 * j + 1], *p = &x[s.variable[j]];
                if (b == 0) { *p = a == 0 ? 0 : *p / a; continue; }
                double c = s.d[2 * j + 2], *q = &x[s.variable[j + 1]]; a /= b; c /= b;
                double det = a * c - 1, in0, in1, in2;
                if (fabs(det) > 8 * DBL_EPSILON) { double t = 1 / det / b; in0 = c * t; in1 = -t; in2 = a * t; }
                else { double tr = a + c, t = 1 / tr / tr / b; in0 = a * t; in1 = t; in2 = c * t; }
                const double u = *p, v = *q; *p = in0 * u + in1 * v; *q = in1 * u + in2 * v; ++j; } }
        if (parts & 4) for (int f = w.fronts - 1; f >= 0; --f) { const front_state<real> s = w.front[f];
            for (int j = s.eliminated - 1; j >= 0; --j) for (int i = j + 1; i < s.rows; ++i)
                x[s.variable[j]] -= (double)s.panel[i + (int64_t)j * s.ld] * x[var_of(w, f, s, i)]; }
    }
}
template <class real> saddle_status go(sd_engine *e, run_memory<real> *m, int parts, int64_t k, double *x, int64_t ldx)
{
    const int64_t n = m->w.n;
    double *at = (double *)get_room(e, n * k * 8 + 8, "x");
    for (int64_t r = 0; r < k; ++r) e->backend->upload(e, x + r * ldx, at + r * n, n * 8);
    launch_with(e, "solve", plain<real>, 1, 1, m->w, parts, (int)k, at);
    for (int64_t r = 0; r < k; ++r) e->backend->download(e, at + r * n, x + r * ldx, n * 8);
    e->backend->release(e, at);
    return e->status;
}
}
saddle_status solve_parts(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x, int64_t ldx)
{ return IN_PRECISION(run, go, e, parts, k, x, ldx); }
}
