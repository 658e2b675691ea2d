/*
 * Is the inertia that of A? Certified, or in doubt and between which bounds.
 *
 * The factors are those of M = L D L', and the signs of D are those of M's eigenvalues exactly (Sylvester).
 * A is M + E, all of it scaled. Along M + tE, t from 0 to 1, a sign changes only where M + tE is singular:
 * where -1/t is an eigenvalue of M^-1 E. So if G = I - M^-1 A = -M^-1 E has no eigenvalue of size 1 or more,
 * A has the inertia of M, whatever the scaling, the condition of A or the growth of L. G is the matrix of
 * iterative refinement.
 *
 * Let w, of norm 1, be a left eigenvector of G for an eigenvalue of size 1 or more. Then |w'G^k x| >= |w'x|,
 * so that |G^k x| >= |w'x| in the 2-norm. For x with independent entries, uniform in (-1, 1), w'x has a
 * density of at most sqrt(1/2), whatever w is (K. Ball, Cube slicing in R^n, Proc. Amer. Math. Soc. 97, 1986:
 * sections of the unit cube have at most volume sqrt(2)). Hence, for one x,
 *
 *     P(|G^k x| <= delta although there is such an eigenvalue) <= sqrt(2) delta.
 *
 * One solve with a random right-hand side is enough wherever x comes back with a few digits; where it does
 * not, it is applied again, with products in double-double: rounding errors of products and solves act as a
 * part of E. (Normwise bounds, n u cond(A) < 1, certify nothing beyond cond(A) = 1e14: interior-point systems
 * end there.) A complex w counts for its real or imaginary part; eigenvalues that matter here are real.
 *
 * Zero pivots are left out on both sides: what is certified is the part of A without their variables, A_rr.
 * The inertia of A is that of A_rr and that of its Schur complement, which is 0 up to rounding by what made
 * the pivots zero (small_pivots.c). Whether it is 0 exactly is seen from z'Az, z random in the null space:
 * its error is that of z squared. If it is not, the zeros may be eigenvalues of either sign, however small.
 *
 * Where nothing contracts, the factorization is made again with thresholds up to 0.5; if that does not help
 * either, the number of eigenvalues of G of size 1 or more, which is how many signs may be wrong, is bounded
 * by orthogonal iteration of a block of random vectors.
 */
#include "method/direct/direct.h"

#include "core/dd.h"
#include "factor/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double RISK = 1e-6;     /* of a certificate */
static const double CONTRACTS = 0.3; /* a late step that leaves more of x than this is not worth another */
static const double STAYS = 1e-3;    /* a direction of which more is left is one that does not contract */
static const double EXACT = 1e-26;   /* z'Az beside |z|'|A||z| that is 0 up to double-double */
/* What is tried in turn. Equilibration helps more than a large threshold does: the scaling of a matching
 * makes large entries equal, not rows, and the small eigenvalues of an interior-point system get lost in it.
 */
static const sd_strength REMEDIES[] = {{.tau = NAN, .threshold = 0.1, .equilibrated = true},
                                       {.tau = NAN, .threshold = 0.5},
                                       {.tau = NAN, .threshold = 0.5, .equilibrated = true}};
enum { EARLY = 4, STEPS = 16, BLOCK = 8, BLOCK_MOST = 64, ROUNDS = 4 };

/* Uniform in (-1, 1), odd multiples of 2^-53: splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom
 * number generators, 2014) with a fixed start, so that the same matrix always has the same certificate. */
static double random_number(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)((int64_t)(z >> 10) - (INT64_C(1) << 53)) * 0x1p-53;
}

static double norm_of(int32_t n, const double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < n; ++i) sum += x[i] * x[i];
    return sqrt(sum);
}

/* An examination at work. */
typedef struct examining {
    sd_context *c;
    const sd_direct *d;
    const sd_csr *A;
    int threads;
    double *room; /* 3 n */
} examining;

/* x = G x for m columns, by position, without the part of zero pivots; y has room for as many. */
static saddle_status contract(const examining *q, int64_t m, double *x, double *y)
{
    const sd_factors *f = sd_direct_numbers(q->d);
    const int32_t n = q->A->n;
    for (int64_t j = 0; j < m; ++j) {
        if (q->d->zero > 0) sd_split_null_space(f, false, x + j * n);
        sd_direct_multiply(q->d, q->A, x + j * n, y + j * n, q->room);
        if (q->d->zero > 0) sd_split_null_space(f, false, y + j * n);
    }
    const saddle_status status =
        sd_triangular_solve(q->c, f, &q->d->room, SD_SOLVE_WHOLE, m, y, n, q->threads);
    for (int64_t k = 0; k < m * n && !status; ++k) x[k] -= y[k];
    return status;
}

/* Steps from x, of which `before` is left, while they pay. *risk is what is certified. */
static saddle_status certify(const examining *q, double *x, double *y, double before, double *risk)
{
    saddle_status status = SADDLE_OK;
    *risk = INFINITY;
    for (int step = 0; step < STEPS && !status; ++step) {
        status = contract(q, 1, x, y);
        const double left = norm_of(q->A->n, x);
        if (getenv("DBG")) fprintf(stderr, "step %d left %.2e\n", step, left);
        if (!isfinite(left)) break;
        *risk = sqrt(2) * left;
        /* G is far from normal: x may well grow before it contracts */
        if (*risk <= RISK || (step >= EARLY && !(left <= CONTRACTS * before))) break;
        before = left;
    }
    return status;
}

/* The same with x random, from the beginning. */
static saddle_status certify_anew(const examining *q, double *x, double *y, double *risk)
{
    uint64_t state = 1;
    for (int32_t i = 0; i < q->A->n; ++i) x[i] = random_number(&state);
    return certify(q, x, y, norm_of(q->A->n, x), risk);
}

/* Whether zero pivots are zero up to double-double. z and its correction have n numbers each, v too. */
static saddle_status check_zeros(const examining *q, double *z, double *correction, double *v, bool *exact)
{
    const sd_factors *f = sd_direct_numbers(q->d);
    const int32_t n = q->A->n;
    uint64_t state = 2;
    saddle_status status = SADDLE_OK;
    *exact = true;
    for (int vectors = 0; vectors < 2 && *exact && !status; ++vectors) {
        for (int32_t i = 0; i < n; ++i) z[i] = random_number(&state);
        sd_split_null_space(f, true, z);
        status = sd_triangular_solve(q->c, f, &q->d->room, SD_SOLVE_BACKWARD, 1, z, n, q->threads);
        if (status) break;
        sd_direct_multiply(q->d, q->A, z, correction, q->room);
        sd_split_null_space(f, false, correction);
        status = sd_triangular_solve(q->c, f, &q->d->room, SD_SOLVE_WHOLE, 1, correction, n, q->threads);
        double g; /* what rounding errors of the form are relative to */
        sd_direct_form(q->d, q->A, z, NULL, v, q->room, &g);
        double unused;
        const double form = sd_direct_form(q->d, q->A, z, correction, v, q->room, &unused);
        *exact = fabs(form) <= EXACT * g;
    }
    return status;
}

/* Orthonormal columns, by modified Gram-Schmidt, twice; growth takes the factor of each. */
static void orthonormalise(int32_t n, int64_t m, double *x, double *growth)
{
    for (int64_t j = 0; j < m; ++j) {
        double *const y = x + j * n, norm = 0;
        for (int pass = 0; pass < 2; ++pass) {
            for (int64_t i = 0; i < j; ++i) {
                double along = 0;
                for (int32_t k = 0; k < n; ++k) along += x[i * n + k] * y[k];
                for (int32_t k = 0; k < n; ++k) y[k] -= along * x[i * n + k];
            }
            if (pass == 0) norm = norm_of(n, y);
        }
        const double left = norm_of(n, y);
        growth[j] *= left <= 1e-14 * norm ? 0 : left;
        for (int32_t k = 0; k < n; ++k) y[k] = left > 0 && isfinite(left) ? y[k] / left : 0;
    }
}

/* How many eigenvalues of G may be of size 1 or more: *count, n where it cannot be told. */
static saddle_status count_staying(const examining *q, int64_t *count)
{
    const int64_t n = q->A->n;
    *count = n;
    for (int64_t m = BLOCK < n ? BLOCK : n;; m = 2 * m < n ? 2 * m : n) {
        double growth[BLOCK_MOST];
        double *x = sd_alloc(q->c, 2 * m * n, sizeof *x, "examination of the inertia");
        if (!x) return q->c->status;
        uint64_t state = 3;
        for (int64_t k = 0; k < m * n; ++k) x[k] = random_number(&state);
        for (int64_t j = 0; j < m; ++j) growth[j] = 1;
        saddle_status status = SADDLE_OK;
        for (int round = 0; round < ROUNDS && !status; ++round) {
            status = contract(q, m, x, x + m * n);
            orthonormalise(q->A->n, m, x, growth);
        }
        sd_free(q->c, x);
        int64_t staying = 0;
        bool finite = true;
        for (int64_t j = 0; j < m; ++j) {
            staying += !(growth[j] <= STAYS);
            finite = finite && isfinite(growth[j]);
        }
        if (!status && finite && (staying < m || m == n)) *count = staying;
        if (status || !finite || staying < m || m == n || 2 * m > BLOCK_MOST) return status;
    }
}

/* The verdict on these factors. */
static saddle_status examine(const examining *q, bool last, sd_verdict *v)
{
    const sd_direct *d = q->d;
    const int64_t n = q->A->n;
    bool exact = true;
    int64_t staying = 0;
    double *x = sd_alloc(q->c, 3 * n, sizeof *x, "examination of the inertia");
    if (!x) return q->c->status;
    *v = (sd_verdict){.positive = d->positive, .negative = d->negative, .zero = d->zero};
    saddle_status status = certify_anew(q, x, x + n, &v->risk);
    v->weak = !(v->risk <= RISK);
    if (!status && d->zero > 0) status = check_zeros(q, x, x + n, x + 2 * n, &exact);
    sd_free(q->c, x);
    if (!status && v->weak && last) status = count_staying(q, &staying);
    v->doubt = v->weak ? SADDLE_DOUBT_ILL_CONDITIONED : exact ? SADDLE_DOUBT_NONE : SADDLE_DOUBT_SINGULAR;
    if (v->weak && !last) staying = n;
    v->least = d->negative > staying ? d->negative - staying : 0;
    v->most = d->negative + staying + (exact && !v->weak ? 0 : d->zero);
    if (v->most > n) v->most = n;
    return status;
}

/* The verdict on other factors of the same matrix. */
static saddle_status examine_again(sd_engine *e, const sd_problem *p, const sd_direct *d,
                                   const sd_strength *strength, bool last, sd_verdict *v)
{
    void *made = NULL;
    bool given_up;
    saddle_status status = sd_direct_factor(e, p, d->plan, strength, &made, &given_up);
    examining q = {.c = e->context, .d = made, .A = p->A, .threads = p->threads};
    if (!status) {
        q.room = sd_alloc(q.c, 3 * (int64_t)p->A->n, sizeof *q.room, "examination of the inertia");
        status = q.room ? examine(&q, last, v) : q.c->status;
    }
    sd_free(q.c, q.room);
    if (made) sd_direct_free(e, made);
    return status;
}

/* Whether a says more than b. */
static bool is_better(const sd_verdict *a, const sd_verdict *b)
{
    if ((a->doubt == SADDLE_DOUBT_NONE) != (b->doubt == SADDLE_DOUBT_NONE))
        return a->doubt == SADDLE_DOUBT_NONE;
    return a->most - a->least < b->most - b->least;
}

/* With these factors, and with others where they leave a doubt. */
static saddle_status find_verdict(sd_engine *e, const sd_problem *p, const sd_direct *d, sd_verdict *v)
{
    enum { TRIES = sizeof REMEDIES / sizeof REMEDIES[0] };
    examining q = {.c = e->context, .d = d, .A = p->A, .threads = p->threads};
    q.room = sd_alloc(q.c, 3 * (int64_t)p->A->n, sizeof *q.room, "examination of the inertia");
    saddle_status status = q.room ? examine(&q, false, v) : q.c->status;
    sd_free(q.c, q.room);
    for (int k = 0; k < TRIES && !status && v->doubt != SADDLE_DOUBT_NONE; ++k) {
        sd_verdict other;
        sd_log(e->context, SADDLE_LOG_INFO, "the inertia is not certain: factoring%s with threshold %g",
               REMEDIES[k].equilibrated ? " the equilibrated matrix" : "", REMEDIES[k].threshold);
        status = examine_again(e, p, d, &REMEDIES[k], k + 1 == TRIES, &other);
        if (!status && is_better(&other, v)) {
            *v = other;
            v->remedy = k + 1;
        }
        if (v->doubt == SADDLE_DOUBT_SINGULAR) break; /* twice */
    }
    return status;
}

saddle_status sd_direct_certify(sd_engine *e, const sd_problem *p, const void *factors, saddle_info *info)
{
    const sd_direct *d = factors;
    sd_examined *to = d->examined;
    if (d->plan->general || d->rule == SD_PIVOT_STATIC || d->precision != SD_DOUBLE || d->changed)
        return SADDLE_OK;
    if (atomic_load(&to->state) != 2) {
        sd_verdict v = {0};
        const saddle_status status = find_verdict(e, p, d, &v);
        if (status == SADDLE_CANCELLED) return status;
        if (status) {
            v = (sd_verdict){.doubt = SADDLE_DOUBT_NO_RESOURCES,
                             .positive = d->positive,
                             .negative = d->negative,
                             .zero = d->zero,
                             .most = p->A->n,
                             .risk = NAN};
        }
        int nothing = 0;
        if (atomic_compare_exchange_strong(&to->state, &nothing, 1)) {
            to->verdict = v;
            atomic_store(&to->state, 2);
        }
    }
    sd_direct_tell_verdict(d, info);
    return SADDLE_OK;
}

void sd_direct_tell_verdict(const sd_direct *d, saddle_info *info)
{
    if (atomic_load(&d->examined->state) != 2) return;
    const sd_verdict *v = &d->examined->verdict;
    info->inertia_positive = v->positive;
    info->inertia_negative = v->negative;
    info->inertia_zero = v->zero;
    info->rank = v->positive + v->negative;
    info->inertia_certain = v->doubt == SADDLE_DOUBT_NONE;
    info->negative_least = v->least;
    info->negative_most = v->most;
    info->inertia_doubt = v->doubt;
    info->inertia_risk = v->risk;
}
