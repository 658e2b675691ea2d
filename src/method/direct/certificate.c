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
 * the pivots zero (small_pivots.c). Where there is no proof that it is 0 exactly (exact_zeros.c), the zeros
 * may be eigenvalues of either sign, however small.
 *
 * All this is of the matrix that was factored. Where balancing has lost entries of A (tilt.c), and they may
 * matter, it says nothing of A, and every sign is in doubt.
 *
 * Where nothing contracts, the factorization is made again, equilibrated and with thresholds up to 0.5; then
 * the smallest pivot is set apart. If that does not help either, the number of eigenvalues of G of size 1 or
 * more, which is how many signs may be wrong, is bounded by orthogonal iteration of a block of random
 * vectors.
 */
#include "method/direct/direct.h"

#include "factor/rank.h"

#include <math.h>
#include <string.h>

static const double RISK = 1e-6;     /* of a certificate */
static const double LITTLE = 1e-9;   /* of a random vector, in a direction that it is not to miss */
static const double CONTRACTS = 0.3; /* a late step that leaves more of x than this is not worth another */
static const double STAYS = 1e-3;    /* a direction of which more is left is one that does not contract */
static const double APART = 1e-8;    /* pivots up to this size, relative to a largest entry of 1 */
static const double CLEAR = 1e-24;   /* z'Az beside |z|'|A||z| that is no rounding of double-double */
static const double DIGITS = 1e3;    /* and beside its own error */
/* What is tried in turn. Equilibration helps more than a large threshold does: the scaling of a matching
 * makes large entries equal, not rows, and the small eigenvalues of an interior-point system get lost in it.
 */
static const sd_strength REMEDIES[] = {{.tau = NAN, .threshold = 0.1, .equilibrated = true},
                                       {.tau = NAN, .threshold = 0.5},
                                       {.tau = NAN, .threshold = 0.5, .equilibrated = true}};
enum { UNKNOWN = 2 };             /* a sign that is none */
enum { NOTHING, FILLING, KNOWN }; /* states of an examination */
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
        if (!isfinite(left)) break;
        *risk = sqrt(2) * left;
        /* G is far from normal: x may well grow before it contracts */
        if (*risk <= RISK || (step >= EARLY && !(left <= CONTRACTS * before))) break;
        before = left;
    }
    return status;
}

/* The same from what a rider has left, or with x random, from the beginning. */
static saddle_status certify_from(const examining *q, const sd_rider *rider, double *x, double *y,
                                  double *risk)
{
    if (rider && rider->left <= 1) {
        const double *left = rider->column + q->A->n;
        for (int32_t i = 0; i < q->A->n; ++i) x[q->d->plan->tree.position[i]] = left[i];
        return certify(q, x, y, rider->left, risk);
    }
    sd_direct_witness(q->A->n, x);
    return certify(q, x, y, norm_of(q->A->n, x), risk);
}

/* v = C_rr^-1 (C z)_r, C the scaled matrix: z - v is orthogonal, in C, to all that regular pivots reach. */
static saddle_status find_correction(const examining *q, const double *z, double *v)
{
    const sd_factors *f = sd_direct_numbers(q->d);
    sd_direct_multiply(q->d, q->A, z, v, q->room);
    sd_split_null_space(f, false, v);
    return sd_triangular_solve(q->c, f, &q->d->room, SD_SOLVE_WHOLE, 1, v, q->A->n, q->threads);
}

/* The sign of a single pivot that was set apart, that of z'Az with z in double-double; 0 where it is not
 * known. *size is that of z'Az, beside |z|'|A||z|. work has 3 n numbers. */
static saddle_status find_sign(const examining *q, double *work, int *sign, double *size)
{
    const sd_factors *f = sd_direct_numbers(q->d);
    const int32_t n = q->A->n;
    double *const z = work, *const correction = z + n, *const v = correction + n, g, corrected, error = 0;
    *sign = 0;
    *size = NAN;
    for (int32_t i = 0; i < n; ++i) z[i] = 1;
    sd_split_null_space(f, true, z);
    saddle_status status = sd_triangular_solve(q->c, f, &q->d->room, SD_SOLVE_BACKWARD, 1, z, n, q->threads);
    if (!status) status = find_correction(q, z, correction);
    if (status) return status;
    sd_direct_form(q->d, q->A, z, NULL, v, q->room,
                   &g); /* what rounding errors of the form are relative to */
    const double form = sd_direct_form(q->d, q->A, z, correction, v, q->room, &corrected);
    /* what another correction would change says how much was left after the first */
    status = find_correction(q, z, correction);
    sd_direct_multiply(q->d, q->A, z, v, q->room);
    for (int32_t i = 0; i < n; ++i) error += fabs(correction[i] * v[i]);
    *size = fabs(form) / corrected;
    if (isfinite(g) && fabs(form) > DIGITS * error + CLEAR * g) *sign = form > 0 ? 1 : -1;
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

/*
 * Whether what balancing has lost (tilt.c) may matter: *matters. It is a matrix F, and no sign depends on it
 * where |M^-1 F| < 1. An entry that underflowed has an error of 2^-1075 at most, scaled as the others are.
 * And |M^-1 x| >= |M^-1| |w'x| for a singular vector w, where x is the witness: |w'x| > LITTLE but for a
 * probability of sqrt(2) LITTLE, as above.
 */
static saddle_status find_loss(const examining *q, double *x, bool *matters)
{
    const sd_direct *d = q->d;
    const sd_factors *f = sd_direct_numbers(d);
    const int32_t n = q->A->n;
    double largest = 0;
    sd_direct_witness(n, x);
    if (d->zero > 0) sd_split_null_space(f, false, x);
    const saddle_status status = sd_triangular_solve(q->c, f, &d->room, SD_SOLVE_WHOLE, 1, x, n, q->threads);
    if (d->zero > 0) sd_split_null_space(f, false, x);
    for (int32_t i = 0; i < n; ++i) largest = fmax(largest, d->scale[i]);
    const double inverse = log2(norm_of(n, x)) - log2(LITTLE);
    const double size = log2(n) + 2 * log2(largest) - 1075 - d->exponent;
    *matters = !(inverse + size < -1);
    return status;
}

/* The verdict on these factors. */
static saddle_status examine(const examining *q, const sd_rider *rider, bool last, sd_verdict *v)
{
    const sd_direct *d = q->d;
    const int64_t n = q->A->n;
    bool exact = true, lost = false;
    int64_t staying = 0;
    double *x = sd_alloc(q->c, 3 * n, sizeof *x, "examination of the inertia");
    if (!x) return q->c->status;
    *v = (sd_verdict){.positive = d->positive, .negative = d->negative, .zero = d->zero};
    saddle_status status = certify_from(q, rider, x, x + n, &v->risk);
    if (!status && d->lost > 0) status = find_loss(q, x, &lost);
    if (d->lost > 0) v->risk += sqrt(2) * LITTLE;
    v->weak = !(v->risk <= RISK);
    if (!status && d->zero > 0 && !v->weak) status = sd_direct_zeros_are_exact(q->c, d, q->A, &exact);
    sd_free(q->c, x);
    if (!status && v->weak && last) status = count_staying(q, &staying);
    const bool doubtful = v->weak || lost;
    v->doubt = doubtful ? SADDLE_DOUBT_ILL_CONDITIONED : exact ? SADDLE_DOUBT_NONE : SADDLE_DOUBT_SINGULAR;
    if (lost || (v->weak && !last)) staying = n;
    v->least = d->negative > staying ? d->negative - staying : 0;
    v->most = d->negative + staying + (doubtful || !exact ? d->zero : 0);
    if (v->most > n) v->most = n;
    return status;
}

/*
 * The smallest pivot apart: the rest of A is certified without it, and its own sign is that of z'Az in
 * double-double. So a matrix whose condition is far beyond double precision, but for one small eigenvalue, is
 * settled all the same. The factors are not to be used any more.
 */
static saddle_status examine_apart(const examining *q, sd_direct *d, sd_verdict *v)
{
    const int64_t n = q->A->n;
    sd_suspect smallest[2];
    int sign = 0;
    double risk, size;
    saddle_status status = sd_factors_fetch(q->c, sd_direct_numbers(d));
    if (status) return status;
    if (d->lost > 0 || d->zero > 0) return SADDLE_OK;
    if (sd_find_suspects(sd_direct_numbers(d), APART, smallest, 2) == 0) return SADDLE_OK;
    double *x = sd_alloc(q->c, 3 * n, sizeof *x, "examination of the inertia");
    if (!x) return q->c->status;
    sd_make_zero(&d->factors[d->precision], &smallest[0]);
    --*(smallest[0].eigenvalue > 0 ? &d->positive : &d->negative);
    d->zero = 1;
    status = certify_from(q, NULL, x, x + n, &risk);
    if (!status) status = find_sign(q, x, &sign, &size);
    sd_free(q->c, x);
    if (status || !(risk <= RISK) || sign == 0 || !isfinite(size)) return status;
    const bool zero = size <= SD_ROUNDING;
    v->positive = d->positive + (sign > 0 && !zero);
    v->negative = d->negative + (sign < 0 && !zero);
    v->zero = zero;
    v->least = zero ? d->negative : v->negative;
    v->most = zero ? d->negative + 1 : v->negative;
    v->doubt = zero ? SADDLE_DOUBT_SINGULAR : SADDLE_DOUBT_NONE;
    v->risk = risk;
    return SADDLE_OK;
}

/* The verdict on other factors of the same matrix. */
static saddle_status examine_again(sd_engine *e, const sd_problem *p, const sd_direct *d,
                                   const sd_strength *strength, bool last, sd_verdict *v)
{
    void *made = NULL;
    bool given_up;
    sd_csr M;
    saddle_status status = sd_direct_factor(e, p, d->plan, strength, &made, &given_up);
    if (!status) sd_direct_matrix(made, p->A, &M);
    examining q = {.c = e->context, .d = made, .A = &M, .threads = p->threads};
    if (!status) {
        q.room = sd_alloc(q.c, 3 * (int64_t)p->A->n, sizeof *q.room, "examination of the inertia");
        status = q.room ? examine(&q, NULL, last, v) : q.c->status;
        if (!status && last && v->weak) status = examine_apart(&q, made, v);
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
static saddle_status find_verdict(sd_engine *e, const sd_problem *p, const sd_direct *d,
                                  const sd_rider *rider, sd_verdict *v)
{
    enum { TRIES = sizeof REMEDIES / sizeof REMEDIES[0] };
    sd_csr M;
    sd_direct_matrix(d, p->A, &M);
    examining q = {.c = e->context, .d = d, .A = &M, .threads = p->threads};
    q.room = sd_alloc(q.c, 3 * (int64_t)p->A->n, sizeof *q.room, "examination of the inertia");
    saddle_status status = q.room ? examine(&q, rider, false, v) : q.c->status;
    sd_free(q.c, q.room);
    for (int k = 0; k < TRIES && !status && v->doubt != SADDLE_DOUBT_NONE; ++k) {
        sd_verdict other;
        sd_log(e->context, SADDLE_LOG_INFO, "the inertia is not certain: factoring%s with threshold %g",
               REMEDIES[k].equilibrated ? " the equilibrated matrix" : "", REMEDIES[k].threshold);
        status = examine_again(e, p, d, &REMEDIES[k], k + 1 == TRIES, &other);
        if (!status && is_better(&other, v)) {
            *v = other;
            v->remedy = &REMEDIES[k];
        }
        if (v->doubt == SADDLE_DOUBT_SINGULAR) break; /* twice */
    }
    return status;
}

/* Whether there is an inertia to be examined. */
static bool has_inertia(const sd_direct *d)
{
    return !d->plan->general && d->rule != SD_PIVOT_STATIC && d->precision == SD_DOUBLE && !d->changed;
}

const sd_verdict *sd_direct_verdict(const sd_direct *d)
{
    return has_inertia(d) && atomic_load(&d->examined->state) == KNOWN ? &d->examined->verdict : NULL;
}

/* ---- along with a solve ---- */

/* What rides: the column is A S x, x of the scaled matrix by row; x lies behind it. */

/* c = A S x */
static void make_column(const sd_direct *d, const sd_csr *A, const double *x, double *c)
{
    memset(c, 0, (size_t)A->n * sizeof *c);
    for (int32_t i = 0; i < A->n; ++i) {
        const double mine = d->scale[i] * x[i];
        double sum = 0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            sum += A->val[k] * (d->scale[j] * x[j]);
            if (A->half && j != i) c[j] += A->val[k] * mine;
        }
        c[i] += sum;
    }
}

/* x -= S^-1 column: a step of refinement. It needs another ride where more is left of it than the risk
 * allows, and where it contracts at all. */
static void arrived(sd_rider *rider)
{
    const sd_direct *d = rider->factors;
    const int32_t n = rider->A->n;
    double *x = rider->column + n, sum = 0;
    for (int32_t i = 0; i < n; ++i) {
        x[i] -= rider->column[i] / d->scale[i];
        sum += x[i] * x[i];
    }
    rider->left = sqrt(sum);
    ++rider->rides;
    rider->waiting = !sd_direct_is_certain(rider->left) && rider->left <= 1;
    if (rider->waiting) make_column(d, rider->A, x, rider->column);
}

void sd_direct_witness(int32_t n, double *x)
{
    uint64_t state = 1;
    for (int32_t i = 0; i < n; ++i) x[i] = random_number(&state);
}

bool sd_direct_is_certain(double left)
{
    return sqrt(2) * left <= RISK;
}

double sd_direct_left_most(void)
{
    return RISK / sqrt(2);
}

void sd_direct_board(const sd_problem *p, const void *factors, sd_rider *rider)
{
    const sd_direct *d = factors;
    if (!has_inertia(d) || d->zero > 0 || d->tilt || sd_direct_verdict(d)) return;
    double *const x = rider->column + p->A->n;
    sd_direct_witness(p->A->n, x);
    make_column(d, p->A, x, rider->column);
    rider->waiting = true;
    rider->arrived = arrived;
    rider->factors = d;
    rider->A = p->A;
}

saddle_status sd_direct_examine(sd_engine *e, const sd_problem *p, const sd_direct *d, const sd_rider *rider)
{
    sd_verdict v;
    if (!has_inertia(d) || sd_direct_verdict(d)) return SADDLE_OK;
    if (rider && sd_direct_is_certain(rider->left)) {
        v = (sd_verdict){.positive = d->positive,
                         .negative = d->negative,
                         .least = d->negative,
                         .most = d->negative,
                         .risk = sqrt(2) * rider->left};
    } else {
        const saddle_status status = find_verdict(e, p, d, rider, &v);
        if (status == SADDLE_CANCELLED) return status;
        if (status) {
            v = (sd_verdict){.doubt = SADDLE_DOUBT_NO_RESOURCES,
                             .positive = d->positive,
                             .negative = d->negative,
                             .zero = d->zero,
                             .most = p->A->n,
                             .risk = NAN};
        }
    }
    int nothing = NOTHING;
    if (atomic_compare_exchange_strong(&d->examined->state, &nothing, FILLING)) {
        d->examined->verdict = v;
        atomic_store(&d->examined->state, KNOWN);
    }
    while (atomic_load(&d->examined->state) != KNOWN) { /* another solve is copying the same */
    }
    return SADDLE_OK;
}
