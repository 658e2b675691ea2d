/*
 * Proof that a symmetric system has no solution: a vector z with A z = 0 to rounding, so that a matrix within
 * rounding of A, entry by entry, is singular with z in its null space, and z'b not 0.
 *
 * To rounding: |Az| is nothing beside |A||z| in every row, and |z|'|Az| is no more than a few roundings of
 * |z|'|A||z|. The second is what rounding the entries of A can do to z'Az; a stiff matrix, regular but of
 * condition 1e12, keeps the first and not the second. Where the factors are certified to be those of a
 * regular matrix there is nothing to look for.
 *
 * Such a z is what no x can take away from b. Where an iteration minimises the residual it ends near
 * r = b - Ax = z, or M^-1 r = z where it minimises in the norm of M. Where it does not end there, x
 * grows along z: its componentwise error is then small whatever b is, and z = x. Rounding leaves a
 * part in r or x that A does reach. It is subtracted: A y = A v has a solution, and v - y is z where A is
 * singular, 0 where it is not. A factorization with zero pivots gives z at once.
 */
#include "solve/measure.h"
#include "solver/iterate.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SINGULAR_TO = 1e-12; /* |A z| / |A||z|, entry by entry, of a null vector */
static const double ROUNDING =
    2 * DBL_EPSILON;                /* |z|'|A z| / |z|'|A||z|: as in method/direct/small_pivots.c */
static const double SUSPECT = 1e-4; /* |A v| / |A||v| from which on it is worth the iteration */
static const double HARDLY = 1e-8;  /* |v|'|A v| / |v|'|A||v| likewise: some rows may reach all of b */
static const double PART = 1e-3;    /* of v that z must be */
static const double NOISE = 1e-13;  /* of a null vector's largest entry */
static const double ALONG_B = 1e-6; /* |z'b| / |z||b| that is no rounding */
enum { ITERATIONS_LEAST = 100 };

typedef struct search {
    sd_engine *e;
    const sd_problem *p;
    const sd_method *method; /* of the attempt before, and its factors */
    const void *factors;
    sd_vector z, product, weight; /* product is -A z */
    double *v, *y, *c;            /* on the host; v scaled to about 1 */
    double mean;                  /* |z|'|A z| / |z|'|A||z| */
    int32_t n;
} search;

static saddle_status begin(search *q)
{
    q->z = sd_vector_new(q->e, SD_DOUBLE, q->n, "null vector");
    q->product = sd_vector_new(q->e, SD_DOUBLE, q->n, "A times the null vector");
    q->weight = sd_vector_new(q->e, SD_DOUBLE, q->n, "weights of the null vector");
    q->v = sd_alloc(q->e->context, 3 * (int64_t)q->n, sizeof *q->v, "null vector");
    if (!q->v && !q->e->status) q->e->status = q->e->context->status;
    sd_engine_reserve(q->e, q->n, &q->p->op[SD_DOUBLE].sparse);
    if (!q->e->status) {
        q->y = q->v + q->n;
        q->c = q->y + q->n;
    }
    return q->e->status;
}

static void end(search *q)
{
    sd_vector_free(q->e, &q->z);
    sd_vector_free(q->e, &q->product);
    sd_vector_free(q->e, &q->weight);
    sd_free(q->e->context, q->v);
}

/* |z|'|A z| / |z|'|A||z|, from the vectors. */
static double mean_ratio(search *q)
{
    double of_product = 0, of_weight = 0;
    double *const z = q->c, *const other = q->y;
    sd_vector_get(q->e, &q->z, z);
    sd_vector_get(q->e, &q->product, other);
    for (int32_t i = 0; i < q->n; ++i) of_product += fabs(z[i] * other[i]);
    sd_vector_get(q->e, &q->weight, other);
    for (int32_t i = 0; i < q->n; ++i) of_weight += fabs(z[i]) * other[i];
    return of_weight > 0 ? of_product / of_weight : INFINITY;
}

/* max |A z|_i / (|A||z|)_i, and the mean; NaN after a failure. */
static double null_ratio(search *q)
{
    const sd_sparse *A = &q->p->op[SD_DOUBLE].sparse;
    double worst = NAN;
    sd_fill(q->e, 0.0, &q->weight);
    sd_residual_dd(q->e, A, &q->z, &q->weight, &q->product);
    sd_spmv_abs(q->e, A, &q->z, &q->weight);
    sd_ratio_max(q->e, &q->product, &q->weight, &worst);
    q->mean = q->e->status ? NAN : mean_ratio(q);
    return worst;
}

static bool is_null(const search *q, double ratio)
{
    return ratio <= SINGULAR_TO && q->mean <= ROUNDING;
}

/* z = v, scaled to about 1; null_ratio of it. */
static double take_candidate(search *q)
{
    const int shift = sd_largest_exponent(q->v, q->n);
    for (int32_t i = 0; i < q->n; ++i) q->v[i] = ldexp(q->v[i], -shift);
    sd_vector_put(q->e, q->v, &q->z);
    return null_ratio(q);
}

/* v without entries that are rounding beside the others, where that makes a null vector of it; its ratio. */
static double clean_candidate(search *q, double ratio)
{
    if (is_null(q, ratio)) return ratio;
    double *before = sd_alloc(q->e->context, q->n, sizeof *before, "null vector");
    if (!before) {
        q->e->status = q->e->context->status;
        return ratio;
    }
    memcpy(before, q->v, (size_t)q->n * sizeof *before);
    for (int32_t i = 0; i < q->n; ++i)
        if (fabs(q->v[i]) <= NOISE) q->v[i] = 0; /* the largest is about 1 */
    double cleaned = take_candidate(q);
    if (!is_null(q, cleaned)) {
        memcpy(q->v, before, (size_t)q->n * sizeof *before);
        cleaned = take_candidate(q);
    }
    sd_free(q->e->context, before);
    return cleaned;
}

/* v -= y with A y = A v by the factors, product being -A v; then entries of v that are rounding are 0. */
static void polish_by_factors(search *q)
{
    double largest = 0;
    sd_vector_get(q->e, &q->product, q->c);
    const saddle_status status = q->method->solve(q->e, q->factors, 1, q->c, q->n, q->y, q->n, NULL);
    if (status) q->e->status = status;
    for (int32_t i = 0; i < q->n && !status; ++i) {
        q->v[i] += q->y[i];
        largest = fmax(largest, fabs(q->v[i]));
    }
    for (int32_t i = 0; i < q->n; ++i)
        if (fabs(q->v[i]) <= NOISE * largest) q->v[i] = 0;
}

/* Makes z = v - y with A y = A v, product being -A v, by an iteration with this preconditioner. */
static saddle_reason polish(search *q, const sd_method *method, const void *factors, int64_t maxiter)
{
    saddle_info info = saddle_info_default();
    sd_attempt attempt = {.method = method, .factors = factors, .krylov = SADDLE_KRYLOV_MINRES};
    const sd_goal goal = {.tol = SINGULAR_TO,
                          .stop = SADDLE_STOP_RESIDUAL,
                          .precision = SADDLE_PRECISION_DOUBLE,
                          .restart = q->p->options->restart,
                          .maxiter = maxiter};
    double largest = 0;
    sd_vector_get(q->e, &q->product, q->c);
    for (int32_t i = 0; i < q->n; ++i) q->c[i] = -q->c[i];
    if (sd_iterate(q->e, q->p, &goal, q->c, q->y, &attempt, &info)) return SADDLE_REASON_NONE;
    for (int32_t i = 0; i < q->n; ++i) {
        q->y[i] = q->v[i] - q->y[i];
        largest = fmax(largest, fabs(q->y[i]));
    }
    sd_vector_put(q->e, q->y, &q->z);
    if (attempt.reason == SADDLE_REASON_CANCELLED) return SADDLE_REASON_CANCELLED;
    if (!(largest >= PART)) return SADDLE_REASON_NONE;
    memcpy(q->v, q->y, (size_t)q->n * sizeof *q->v);
    return is_null(q, clean_candidate(q, take_candidate(q))) ? SADDLE_REASON_INCONSISTENT
                                                             : SADDLE_REASON_NONE;
}

static bool is_along(int32_t n, const double *z, const double *b)
{
    const int of_b = sd_largest_exponent(b, n);
    double zb = 0, zz = 0, bb = 0;
    for (int32_t i = 0; i < n; ++i) {
        const double value = ldexp(b[i], -of_b);
        zb += z[i] * value;
        zz += z[i] * z[i];
        bb += value * value;
    }
    return fabs(zb) >= ALONG_B * sqrt(zz) * sqrt(bb);
}

/* Takes the part along z out of x, which changes nothing in Ax but its rounding; twice, since the first
 * time leaves rounding of a huge x. */
static void remove_part(int32_t n, const double *z, double *x)
{
    for (int pass = 0; pass < 2; ++pass) {
        const int of_x = sd_largest_exponent(x, n);
        double zx = 0, zz = 0;
        for (int32_t i = 0; i < n; ++i) {
            zx += z[i] * ldexp(x[i], -of_x);
            zz += z[i] * z[i];
        }
        for (int32_t i = 0; i < n; ++i) x[i] -= ldexp(zx / zz * z[i], of_x);
    }
}

/* v = M^-1 v where that is nearer to a null vector; its ratio. Only for M that cost nothing. */
static double try_preconditioner(search *q, const sd_preconditioner *M, double ratio)
{
    sd_precondition(q->e, M, &q->z, &q->z);
    if (null_ratio(q) < ratio) sd_vector_get(q->e, &q->z, q->v);
    return take_candidate(q);
}

/* Looks for a null vector near v, or near M^-1 v where that is closer to one. `known`: v is one by the zero
 * pivots of the factors. */
static saddle_reason search_from(search *q, bool known, int64_t iterations)
{
    sd_preconditioner M = {0};
    double ratio = clean_candidate(q, take_candidate(q));
    if (known && ratio > SINGULAR_TO) {
        polish_by_factors(q);
        ratio = take_candidate(q);
    }
    if (q->method->light) q->method->precondition(q->e, q->p, q->factors, &q->p->op[SD_DOUBLE], &M);
    const bool use = M.apply && M.positive;
    if (use && ratio > SINGULAR_TO) ratio = try_preconditioner(q, &M, ratio);
    sd_preconditioner_free(q->e, &M);
    const bool suspect = ratio <= SUSPECT || q->mean <= HARDLY;
    if (is_null(q, ratio) || (known && ratio <= SINGULAR_TO)) return SADDLE_REASON_INCONSISTENT;
    saddle_reason found = SADDLE_REASON_NONE;
    /* the first time leaves what its tolerance leaves */
    for (int pass = 0; pass < 2 && !found && (pass == 0 ? suspect : ratio <= SUSPECT); ++pass) {
        found = polish(q, use ? q->method : &sd_method_none, use ? q->factors : NULL,
                       iterations > ITERATIONS_LEAST ? iterations : ITERATIONS_LEAST);
        ratio = pass == 0 && !found ? null_ratio(q) : INFINITY;
    }
    return found;
}

/* The vector to begin with: by zero pivots, or x where that has converged, or its residual. */
static bool begin_at(search *q, const double *b, const double *x, bool converged)
{
    saddle_errors errors;
    bool known = false;
    if (q->method->null_vector) {
        const saddle_status status = q->method->null_vector(q->e->context, q->factors, b, q->v, &known);
        if (status) q->e->status = status;
    }
    if (!known && converged)
        memcpy(q->v, x, (size_t)q->n * sizeof *x);
    else if (!known)
        sd_measure(q->e, &q->p->op[SD_DOUBLE], b, x, q->v, &errors, NULL);
    return known;
}

saddle_reason sd_find_inconsistency(sd_engine *e, const sd_problem *p, const sd_method *method,
                                    const void *factors, const double *b, double *x, bool converged,
                                    int64_t iterations)
{
    search q = {.e = e, .p = p, .method = method, .factors = factors, .n = p->A->n};
    saddle_reason reason = SADDLE_REASON_NONE;
    if (!p->facts->symmetric) return reason;
    if (!begin(&q)) {
        const bool known = begin_at(&q, b, x, converged);
        bool nothing_left = false; /* x itself is a null vector */
        if (converged && !known) nothing_left = is_null(&q, clean_candidate(&q, take_candidate(&q)));
        reason = search_from(&q, known, iterations);
        sd_vector_get(e, &q.z, q.y);
        if (reason == SADDLE_REASON_INCONSISTENT && !is_along(q.n, q.y, b)) reason = SADDLE_REASON_NONE;
        if (reason == SADDLE_REASON_INCONSISTENT) remove_part(q.n, q.y, x);
        if (!reason && nothing_left) reason = SADDLE_REASON_SINGULAR;
    }
    end(&q);
    return reason;
}
