/*
 * Small pivots: rounding, or not?
 *
 * The pivot d_k of A = L D L' is z'Az for z = L'^-1 e_k. When it is small, most of what was subtracted to
 * make it has cancelled and few digits are left, perhaps not even its sign. But z'Az is stationary in z: an
 * error of z enters squared. So with the z that the factors give and z'Az accumulated in double-double on the
 * caller's own A, the pivot comes out nearly as exact as A itself is, and can be compared with
 *
 *     g = |z|' |A| |z|.
 *
 * - |z'Az| within a few roundings of g: then rounding the entries of a singular matrix may have given A. The
 * pivot is taken for zero and its D^-1 for 0. (For the rounded A of a singular B, Bz = 0, z'Az = z'(A - B)z.)
 * Where g is itself no more than what the rounding of z leaves in it (z touches no nonzero of A but by its
 * rounding, as with a constraint that occurs twice), the same holds of |z'Az| <= (eps |z|)^2, the error of z
 * squared relative to a largest entry of about 1.
 * - |z'Az| far above that: it is the pivot, with its sign, and takes the place of the one that was computed.
 * Where the two differ the factors were not exact, and nor is z, by more than its rounding: it is refined
 * first, by a step of its own, so that an error of z does not pass for a pivot.
 * - between the two the pivot stays as it was computed.
 *
 * In a 2x2 pivot its eigenvalues are looked at, with their eigenvectors for e_k; they are never replaced.
 */
#include "method/direct/direct.h"

#include "factor/rank.h"

#include <math.h>
#include <string.h>

static const double SQUARED = 64 * DBL_EPSILON * DBL_EPSILON; /* (8 eps)^2: the error of z, squared */
static const double CERTAIN = 1e-24; /* of g: what double-double leaves of z'Az, with digits to spare */
static const double REPLACED = 0.25; /* a pivot that is off by more is replaced */
enum {
    SUSPECTS_MOST = 4096,
    FIRST_BATCH = 4, /* the smallest tell whether others are worth looking at */
    ROOM = 4000000   /* numbers in the vectors that are computed together */
};

/* Memory of a batch: vectors z by position and their corrections, width of each; a vector by position, and
 * room for products. */
typedef struct batch {
    const sd_csr *M;
    const sd_suspect *s;
    int64_t many;
    double *z, *correction, *v, *room;
    bool doubtful[SD_RHS_BLOCK];
} batch;

/* The pivot, and g; z takes its correction. */
static double exact_pivot(const batch *w, const sd_direct *d, int64_t k, bool corrected, double *g)
{
    const int64_t n = w->M->n;
    return sd_direct_form(d, w->M, w->z + k * n, corrected ? w->correction + k * n : NULL, w->v, w->room, g);
}

/* What becomes of one suspect. Where z was not corrected and may not be good enough to tell: nothing, and it
 * is doubtful. True where it is zero. */
static bool settle(batch *w, sd_direct *d, int64_t k, bool corrected)
{
    const sd_suspect *s = &w->s[k];
    double g, square = 0;
    w->doubtful[k] = s->second && !corrected; /* after the smaller eigenvalue, which may be doubtful */
    if (w->doubtful[k]) return false;
    if (s->second && !sd_is_of_rank_one(sd_direct_numbers(d), s)) return false; /* the smaller one stayed */
    const double exact = exact_pivot(w, d, k, corrected, &g);
    for (int64_t i = k * w->M->n; i < (k + 1) * w->M->n; ++i) square += w->z[i] * w->z[i];
    int64_t *const before = s->eigenvalue > 0 ? &d->positive : &d->negative;
    if (!isfinite(exact) || !isfinite(g)) return false;
    if (fabs(exact) <= SD_ROUNDING * g || fabs(exact) <= SQUARED * square) {
        sd_make_zero(&d->factors[d->precision], s);
        --*before;
        ++d->zero;
        return true;
    }
    const bool wrong = fabs(exact - s->eigenvalue) > REPLACED * fabs(s->eigenvalue);
    w->doubtful[k] = wrong && !corrected;
    if (!wrong || !corrected || s->position[1] >= 0 || fabs(exact) <= CERTAIN * g) return false;
    sd_replace_pivot(&d->factors[d->precision], s, exact);
    --*before;
    ++*(exact > 0 ? &d->positive : &d->negative);
    return false;
}

/* v = 0 from the pivot of a suspect on, in the order of elimination; and at all suspects, whose pivots are
 * not to be trusted. */
static void keep_before(const batch *w, const sd_factors *f, const sd_suspect *s, double *v)
{
    for (int32_t k = s->run; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int32_t j = k == s->run ? s->column : 0; j < run.count; ++j) v[run.variable[j]] = 0;
    }
    for (int64_t k = 0; k < w->many; ++k) {
        v[w->s[k].position[0]] = 0;
        if (w->s[k].position[1] >= 0) v[w->s[k].position[1]] = 0;
    }
}

/* The correction of every z, a step of refinement: L^-1 A z = D L'z is to be 0 at all pivots before the
 * suspect's own. */
static saddle_status correct(sd_context *c, batch *w, sd_direct *d)
{
    const sd_factors *f = sd_direct_numbers(d);
    const int64_t n = w->M->n;
    for (int64_t k = 0; k < w->many; ++k)
        sd_direct_multiply(d, w->M, w->z + k * n, w->correction + k * n, w->room);
    saddle_status status =
        sd_triangular_solve(c, f, &d->room, SD_SOLVE_FORWARD, w->many, w->correction, n, 1);
    if (status) return status;
    for (int64_t k = 0; k < w->many; ++k) keep_before(w, f, &w->s[k], w->correction + k * n);
    status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_DIAGONAL, w->many, w->correction, n, 1);
    if (status) return status;
    return sd_triangular_solve(c, f, &d->room, SD_SOLVE_BACKWARD, w->many, w->correction, n, 1);
}

/* Suspects side by side; *zero tells whether any of them was. */
static saddle_status settle_together(sd_context *c, batch *w, sd_direct *d, bool *zero)
{
    const int64_t n = w->M->n;
    bool any = false;
    memset(w->z, 0, (size_t)(n * w->many) * sizeof *w->z);
    for (int64_t k = 0; k < w->many; ++k) {
        w->z[k * n + w->s[k].position[0]] = w->s[k].vector[0];
        if (w->s[k].position[1] >= 0) w->z[k * n + w->s[k].position[1]] = w->s[k].vector[1];
    }
    saddle_status status =
        sd_triangular_solve(c, sd_direct_numbers(d), &d->room, SD_SOLVE_BACKWARD, w->many, w->z, n, 1);
    for (int64_t k = 0; k < w->many && !status; ++k) {
        *zero |= settle(w, d, k, false);
        any |= w->doubtful[k];
    }
    if (status || !any) return status;
    status = correct(c, w, d);
    for (int64_t k = 0; k < w->many && !status; ++k)
        if (w->doubtful[k]) *zero |= settle(w, d, k, true);
    return status;
}

saddle_status sd_settle_small_pivots(sd_context *c, const sd_csr *M, sd_direct *d)
{
    const int32_t n = M->n;
    const sd_factors *f = sd_direct_numbers(d);
    if (!sd_may_have_suspects(f)) return SADDLE_OK; /* as where n = 0 */
    int64_t width = ROOM / (2 * (int64_t)n) + 1;
    if (width > SD_RHS_BLOCK) width = SD_RHS_BLOCK;
    const int64_t most = n < SUSPECTS_MOST ? n : SUSPECTS_MOST;
    sd_suspect *suspects = sd_alloc(c, most, sizeof *suspects, "small pivots");
    if (!suspects) return c->status;
    const int64_t count = d->suspects = sd_find_suspects(f, SD_SUSPECT, suspects, most);
    if (count == 0) {
        sd_free(c, suspects);
        return SADDLE_OK;
    }
    saddle_status status = SADDLE_OK;
    double *z = sd_alloc(c, (2 * width + 4) * n, sizeof *z, "small pivots");
    if (!z) status = c->status;
    /* the smallest come first: where none of a batch is zero, nor are others; signs are seen to by the
     * certificate */
    bool zero = true;
    for (int64_t first = 0, many; first < count && zero && !status; first += many) {
        const int64_t batch_most = first == 0 && width > FIRST_BATCH ? FIRST_BATCH : width;
        many = count - first < batch_most ? count - first : batch_most;
        zero = false;
        batch w = {.M = M,
                   .s = suspects + first,
                   .many = many,
                   .z = z,
                   .correction = z + width * n,
                   .v = z + 2 * width * n,
                   .room = z + (2 * width + 1) * n};
        status = settle_together(c, &w, d, &zero);
    }
    sd_free_all(c, z, suspects);
    return status;
}
