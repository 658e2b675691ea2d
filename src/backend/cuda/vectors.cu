/*
 * Vectors on the GPU: element by element, and reductions (vectors.cuh).
 *
 * Element-wise kernels do per entry what the CPU's do, each operation rounded (--fmad=false), so they
 * give the CPU's bits.
 */
#include "backend/cuda/vectors.cuh"

namespace sd_cuda
{
namespace
{

/* A number: the host's, or one that an earlier kernel leaves `here`. */
struct number {
    const double *here;
    double value;
    __device__ double get() const
    {
        return here ? __ldcg(here) : value;
    }
};

number number_at(const sd_engine *e, const double *place)
{
    if (!place) return {NULL, 1};
    const double *const here = still_to_come(e, place);
    return {here, here ? 0 : *place};
}

/* An sd_scalar on its way to a kernel. */
struct scalar {
    number over[2], under[2], gram[3];
    bool positive, tested;
    double rounding;

    scalar(const sd_engine *e, const sd_scalar *s)
        : positive(s->positive), tested(s->gram != NULL), rounding(s->rounding)
    {
        for (int k = 0; k < 2; ++k) over[k] = number_at(e, s->over[k]);
        for (int k = 0; k < 2; ++k) under[k] = number_at(e, s->under[k]);
        for (int k = 0; k < 3; ++k) gram[k] = number_at(e, s->gram ? s->gram + k : NULL);
    }

    __device__ double value() const
    {
        const double o[] = {over[0].get(), over[1].get()}, u[] = {under[0].get(), under[1].get()},
                     g[] = {gram[0].get(), gram[1].get(), gram[2].get()};
        if (tested && sd_gram_vanishes(g, rounding)) return 0;
        const sd_scalar s = {{&o[0], &o[1]}, {&u[0], &u[1]}, positive, NULL, 0};
        return sd_scalar_value(&s);
    }
};

/* x + beta (p - omega v), without omega x + beta p */
template <class real, bool without> struct directed {
    scalar beta, omega;
    const real *x, *v, *p;
    real b, o;
    __device__ void begin()
    {
        b = static_cast<real>(beta.value());
        if (!without) o = static_cast<real>(omega.value());
    }
    __device__ real operator()(int64_t i) const
    {
        return x[i] + b * (without ? p[i] : p[i] - o * v[i]);
    }
};

/* What is joined at entry i, m numbers at once: load(i) reads, values(i, read, value) makes them of what was
 * read (and may write at i). */
template <class real> struct pairs {
    const real *x, *y;
    struct read {
        real x, y;
    };
    __device__ read load(int64_t i) const
    {
        return {x[i], y[i]};
    }
};

template <class real> struct products : pairs<real> {
    __device__ void values(int64_t, const typename pairs<real>::read &o, double (&value)[1]) const
    {
        value[0] = static_cast<double>(o.x) * static_cast<double>(o.y);
    }
};

template <class real> struct squares : pairs<real> {
    __device__ void values(int64_t, const typename pairs<real>::read &o, double (&value)[3]) const
    {
        const double a = o.x, b = o.y;
        value[0] = a * a;
        value[1] = a * b;
        value[2] = b * b;
    }
};

/* x += a p, r -= a q, and r'r */
template <class real> struct stepped {
    scalar alpha;
    const real *p, *q;
    real *x, *r;
    real a;
    __device__ void begin()
    {
        a = static_cast<real>(alpha.value());
    }
    struct read {
        real p, q, x, r;
    };
    __device__ read load(int64_t i) const
    {
        return {p[i], q[i], x[i], r[i]};
    }
    __device__ void values(int64_t i, const read &o, double (&value)[1]) const
    {
        const real next = o.r - a * o.q;
        x[i] = o.x + a * o.p;
        r[i] = next;
        value[0] = static_cast<double>(next) * static_cast<double>(next);
    }
};

template <class real> struct magnitude {
    const real *x;
    using read = real;
    __device__ read load(int64_t i) const
    {
        return x[i];
    }
    __device__ void values(int64_t, read o, double (&value)[1]) const
    {
        value[0] = fabs(static_cast<double>(o));
    }
};

template <class real> struct ratio : pairs<real> {
    __device__ void values(int64_t, const typename pairs<real>::read &o, double (&value)[1]) const
    {
        const double a = fabs(static_cast<double>(o.x)), b = o.y;
        value[0] = a == 0 && b == 0 ? 0 : a / b;
    }
};

template <class real> const real *data_of(const sd_vector *x)
{
    return static_cast<const real *>(x->data);
}

template <class From, class To> void convert(sd_engine *e, const char *what, const sd_vector *x, sd_vector *y)
{
    const From *const xs = data_of<From>(x);
    for_each<To>(e, what, x->n, y->data, [=] __device__(int64_t i) { return static_cast<To>(xs[i]); });
}

} /* namespace */

template <class real> void fill(sd_engine *e, double alpha, sd_vector *x)
{
    const real a = static_cast<real>(alpha);
    for_each<real>(e, "fill", x->n, x->data, [=] __device__(int64_t) { return a; });
}

template <class real> void copy(sd_engine *e, const sd_vector *x, sd_vector *y)
{
    convert<real, real>(e, "copy", x, y);
}

template <class real> void scale(sd_engine *e, double alpha, sd_vector *x)
{
    const real a = static_cast<real>(alpha), *const xs = data_of<real>(x);
    for_each<real>(e, "scale", x->n, x->data, [=] __device__(int64_t i) { return xs[i] * a; });
}

template <class real> void axpy(sd_engine *e, double alpha, const sd_vector *x, sd_vector *y)
{
    const real a = static_cast<real>(alpha), *const xs = data_of<real>(x), *const ys = data_of<real>(y);
    for_each<real>(e, "axpy", x->n, y->data, [=] __device__(int64_t i) { return ys[i] + a * xs[i]; });
}

template <class real>
void direction(sd_engine *e, const sd_vector *x, const sd_scalar *beta, const sd_scalar *omega,
               const sd_vector *v, sd_vector *p)
{
    const real *const xs = data_of<real>(x), *const ps = data_of<real>(p);
    const scalar b(e, beta);
    if (omega) {
        const directed<real, false> f = {b, scalar(e, omega), xs, data_of<real>(v), ps, 0, 0};
        for_each<real>(e, "direction", x->n, p->data, f);
    } else {
        const directed<real, true> f = {b, b, xs, NULL, ps, 0, 0};
        for_each<real>(e, "direction", x->n, p->data, f);
    }
}

template <class real>
void advance(sd_engine *e, const sd_scalar *alpha, const sd_vector *p, const sd_vector *q, sd_vector *x,
             sd_vector *r, double *square)
{
    const stepped<real> f = {scalar(e, alpha),
                             data_of<real>(p),
                             data_of<real>(q),
                             static_cast<real *>(x->data),
                             static_cast<real *>(r->data),
                             0};
    reduction<addition, 1>(e, "advance", x->n, f, square);
}

template <class real> void gram(sd_engine *e, const sd_vector *x, const sd_vector *y, double *g)
{
    reduction<addition, 3>(e, "gram", x->n, squares<real>{data_of<real>(x), data_of<real>(y)}, g);
}

template <class real> void axpby(sd_engine *e, double alpha, const sd_vector *x, double beta, sd_vector *y)
{
    const real a = static_cast<real>(alpha), b = static_cast<real>(beta);
    const real *const xs = data_of<real>(x), *const ys = data_of<real>(y);
    if (b == 0)
        for_each<real>(e, "axpby", x->n, y->data, [=] __device__(int64_t i) { return a * xs[i]; });
    else
        for_each<real>(e, "axpby", x->n, y->data,
                       [=] __device__(int64_t i) { return a * xs[i] + b * ys[i]; });
}

template <class real> void multiply(sd_engine *e, const sd_vector *d, const sd_vector *x, sd_vector *y)
{
    const real *const ds = data_of<real>(d), *const xs = data_of<real>(x);
    for_each<real>(e, "multiply", x->n, y->data, [=] __device__(int64_t i) { return ds[i] * xs[i]; });
}

template <class real> void absolute(sd_engine *e, const sd_vector *x, sd_vector *y)
{
    const real *const xs = data_of<real>(x);
    for_each<real>(e, "absolute", x->n, y->data,
                   [=] __device__(int64_t i) { return static_cast<real>(fabs(static_cast<double>(xs[i]))); });
}

template <class real> void from_double(sd_engine *e, const sd_vector *source, sd_vector *x)
{
    convert<double, real>(e, "from_double", source, x);
}

template <class real> void to_double(sd_engine *e, const sd_vector *x, sd_vector *target)
{
    convert<real, double>(e, "to_double", x, target);
}

template <class real> void dot(sd_engine *e, const sd_vector *x, const sd_vector *y, double *result)
{
    reduction<addition, 1>(e, "dot", x->n, products<real>{data_of<real>(x), data_of<real>(y)}, result);
    collect(e);
}

template <class real> void norm_inf(sd_engine *e, const sd_vector *x, double *result)
{
    reduction<largest, 1>(e, "norm_inf", x->n, magnitude<real>{data_of<real>(x)}, result);
    collect(e);
}

template <class real> void ratio_max(sd_engine *e, const sd_vector *x, const sd_vector *y, double *result)
{
    reduction<largest, 1>(e, "ratio_max", x->n, ratio<real>{data_of<real>(x), data_of<real>(y)}, result);
    collect(e);
}

/* The rows of kernels.def that are defined here, in both precisions. */
BOTH(fill)
BOTH(copy)
BOTH(scale)
BOTH(axpy)
BOTH(axpby)
BOTH(advance)
BOTH(direction)
BOTH(gram)
BOTH(multiply)
BOTH(absolute)
BOTH(dot)
BOTH(norm_inf)
BOTH(ratio_max)
BOTH(from_double)
BOTH(to_double)

} /* namespace sd_cuda */
