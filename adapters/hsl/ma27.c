/*
 * The MA27-compatible interface over Saddle: analysis (ma27ad), factorization (ma27bd), solve (ma27cd).
 *
 * The host's arrays hold, in place of what MA27 would put there,
 *
 *     ikeep (3 n)     in its second column the number of the analysis, in the first the order, if the host
 *                     gave one: the number is then odd
 *     iw              a header (below) with the numbers of the analysis and of the factors, then the rows and
 *                     the columns of all entries
 *     a               the values of the matrix, as they came
 *
 * so that a and iw alone say what to solve for, whatever has become of the solver (ma27_cache.h). Ipopt
 * allocates iw anew between the analysis and the factorization, and passes no ikeep to a solve.
 */
#include "adapters/hsl/ma27.h"

#include "adapters/hsl/ma27_cache.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* At the beginning of iw. */
typedef struct header {
    uint64_t mark, analysis, factors;
    int32_t n, nz;
} header;
enum { HEADER = sizeof(header) / sizeof(int32_t) };
static const uint64_t MARK = UINT64_C(0x656c646461536d32); /* of this layout */

/* Streams and levels of icntl: [0] errors, [1] diagnostics, [2] how many of these. */
static void say_error(const int *icntl, const char *call, const char *message)
{
    if (icntl[0] > 0) hsl_say(icntl[0], "%s: %s", call, message);
}

EXPORT void ma27id_(int *icntl, double *cntl)
{
    memset(icntl, 0, MA27_ICNTL * sizeof *icntl);
    memset(cntl, 0, MA27_CNTL * sizeof *cntl);
    icntl[0] = icntl[1] = 6;
    icntl[3] = INT_MAX;
    icntl[4] = 1;
    cntl[0] = 0.1; /* threshold */
    cntl[1] = 1.0; /* density at which MA27 would take a row for full; not used */
    cntl[2] = 0.0; /* pivots below it are zero */
}

static hsl_wish wish_of(const double *cntl, bool order)
{
    return (hsl_wish){.threshold = fabs(cntl[0]),
                      .small = cntl[2] > 0 ? cntl[2] : 0,
                      .scaling = HSL_SCALING_UNASKED,
                      .order = order ? SADDLE_ORDER_USER : SADDLE_ORDER_AUTO,
                      .pairs = order ? SADDLE_OFF : SADDLE_AUTO};
}

/* ---- numbers in the host's arrays, which may be aligned for integers only ---- */

static uint64_t read_number(const int *array)
{
    uint64_t number;
    memcpy(&number, array, sizeof number);
    return number;
}

static bool has_order(uint64_t number)
{
    return number & 1;
}

/* Whether iw has a matrix of this size, and its header. */
static bool read_header(const int *iw, int64_t liw, int n, header *h)
{
    if (liw < HEADER) return false;
    memcpy(h, iw, sizeof *h);
    return h->mark == MARK && h->n == n && h->nz >= 0 && liw >= HEADER + 2 * (int64_t)h->nz;
}

/* ---- analysis ---- */

/* The order in the first column of ikeep, the position of each variable, as the variable at each position. */
static saddle_status read_order(int64_t n, const int *ikeep, int32_t **order, char *message)
{
    *order = malloc((size_t)n * sizeof **order);
    if (!*order) return SADDLE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n; ++i) (*order)[i] = -1;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t position = (int64_t)ikeep[i] - 1;
        if (position < 0 || position >= n || (*order)[position] >= 0) {
            snprintf(message, SADDLE_MESSAGE_SIZE, "the order in ikeep is not a permutation");
            return SADDLE_BAD_ARGUMENT;
        }
        (*order)[position] = (int32_t)i;
    }
    return SADDLE_OK;
}

/* Analyses a pattern into an empty solver. ikeep is read where the number says that it has an order. */
static saddle_status build(hsl_kept *k, int n, int nz, const int *irn, const int *icn, const int *ikeep,
                           const double *cntl, char *message)
{
    int32_t *order = NULL;
    saddle_status status = SADDLE_OK;
    if (ikeep && has_order(k->number)) status = read_order(n, ikeep, &order, message);
    if (!status) status = hsl_pattern_take(&k->pattern, n, nz, irn, icn, 1, true);
    if (!status && !(k->engine = hsl_engine_new())) status = SADDLE_OUT_OF_MEMORY;
    if (!status) {
        const hsl_wish wish = wish_of(cntl, order);
        const saddle_matrix A = hsl_pattern_view(&k->pattern, NULL);
        status = hsl_engine_analyse(k->engine, &A, &wish, order);
        if (status) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", k->engine->message);
    }
    free(order);
    return status;
}

static void tell_failure(const int *icntl, int *info, const char *call, saddle_status status,
                         const char *message)
{
    info[0] = MA27_FAILED;
    info[1] = status;
    say_error(icntl, call, *message ? message : saddle_status_text(status));
}

/* The lengths that a and iw need. */
static void tell_lengths(int nz, int64_t n, int *info)
{
    const int64_t real = nz > n ? nz : n, whole = HEADER + 2 * (int64_t)nz;
    info[4] = info[2] = (int)real;
    info[5] = info[3] = (int)(whole < INT_MAX ? whole : INT_MAX);
}

EXPORT void ma27ad_(const int *n, const int *nz, const int *irn, const int *icn, int *iw, const int *liw,
                    int *ikeep, int *iw1, int *nsteps, const int *iflag, const int *icntl, const double *cntl,
                    int *info, double *ops)
{
    static const char call[] = "ma27ad";
    char message[SADDLE_MESSAGE_SIZE] = "";
    (void)iw, (void)liw, (void)iw1; /* room that is not needed */
    memset(info, 0, MA27_INFO * sizeof *info);
    *nsteps = 1;
    *ops = 0;
    if (*n < 1 || *nz < 0) {
        info[0] = *n < 1 ? MA27_BAD_N : MA27_BAD_NZ;
        info[1] = *n < 1 ? *n : *nz;
        say_error(icntl, call, "n is below 1, or nz is negative");
        return;
    }
    hsl_keep_overwrite(ikeep);
    const uint64_t number = (hsl_number() & ~UINT64_C(1)) | (*iflag == 1);
    hsl_kept *const k = hsl_keep_new(number);
    saddle_status status = k ? SADDLE_OK : SADDLE_OUT_OF_MEMORY;
    if (!status) status = build(k, *n, *nz, irn, icn, ikeep, cntl, message);
    if (status) {
        tell_failure(icntl, info, call, status, message);
        hsl_keep_free(k);
        return;
    }
    tell_lengths(*nz, *n, info);
    if (k->pattern.outside > 0) {
        info[0] = MA27_OUT_OF_RANGE;
        info[1] = (int)k->pattern.outside;
    }
    memcpy(ikeep + *n, &number, sizeof number);
    k->array = ikeep;
    hsl_keep_give_back(k);
}

/* ---- factorization ---- */

/* The solver for these arrays, to be changed: the one of the analysis, or one that is made anew. */
static saddle_status take_solver(int n, int nz, const int *irn, const int *icn, const int *ikeep,
                                 const double *cntl, hsl_kept **taken, char *message)
{
    const uint64_t number = read_number(ikeep + n);
    hsl_kept *k = hsl_keep_take(number);
    *taken = NULL;
    if (k && (k->pattern.n != n || k->pattern.given != nz)) {
        hsl_keep_give_back(k);
        k = NULL;
    }
    if (!k) {
        k = hsl_keep_new(number);
        if (!k) return SADDLE_OUT_OF_MEMORY;
        const saddle_status status = build(k, n, nz, irn, icn, ikeep, cntl, message);
        if (status) {
            hsl_keep_free(k);
            return status;
        }
        k->array = ikeep;
    }
    *taken = k;
    return SADDLE_OK;
}

/* Writes the matrix into iw. What an earlier factorization of this analysis wrote is still right. */
static void write_iw(int *iw, int64_t liw, int n, int nz, const int *irn, const int *icn, const hsl_kept *k)
{
    const header h = {.mark = MARK, .analysis = k->number, .factors = k->factors, .n = n, .nz = nz};
    header before;
    const bool same = read_header(iw, liw, n, &before) && before.analysis == h.analysis && before.nz == nz;
    memcpy(iw, &h, sizeof h);
    if (same) return;
    memcpy(iw + HEADER, irn, (size_t)nz * sizeof *irn);
    memcpy(iw + HEADER + nz, icn, (size_t)nz * sizeof *icn);
}

/* What a factorization tells. */
static void tell(const hsl_kept *k, int nz, int *info)
{
    const hsl_outcome *o = &k->engine->outcome;
    tell_lengths(nz, k->pattern.n, info);
    info[8] = info[4];
    info[9] = info[5];
    info[13] = (int)o->two_by_two;
    info[14] = (int)o->negative;
    if (k->pattern.outside > 0) {
        info[0] = MA27_OUT_OF_RANGE;
        info[1] = (int)k->pattern.outside;
    }
    if (o->singular) {
        info[0] = MA27_SINGULAR;
        info[1] = (int)(o->rank < 0 ? 0 : o->rank);
    }
}

/* Factors the values of a, which stay there. */
static saddle_status factor(hsl_kept *k, const double *a, const double *cntl, char *message)
{
    const hsl_wish wish = wish_of(cntl, k->engine->order);
    k->factors = 0;
    const double *const values = hsl_pattern_values(&k->pattern, a, &k->values);
    if (!values) return SADDLE_OUT_OF_MEMORY;
    const saddle_status status = hsl_engine_factor(k->engine, values, &wish, 0, NULL, 0);
    if (status) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", k->engine->message);
    if (!status) k->factors = hsl_number();
    return status;
}

EXPORT void ma27bd_(const int *n, const int *nz, const int *irn, const int *icn, double *a, const int *la,
                    int *iw, const int *liw, int *ikeep, const int *nsteps, int *maxfrt, int *iw1,
                    const int *icntl, const double *cntl, int *info)
{
    static const char call[] = "ma27bd";
    char message[SADDLE_MESSAGE_SIZE] = "";
    (void)nsteps, (void)iw1;
    memset(info, 0, MA27_INFO * sizeof *info);
    *maxfrt = 1;
    if (*n < 1 || *nz < 0) {
        info[0] = *n < 1 ? MA27_BAD_N : MA27_BAD_NZ;
        info[1] = *n < 1 ? *n : *nz;
        return;
    }
    tell_lengths(*nz, *n, info);
    if (*la < *nz || *liw < HEADER + 2 * (int64_t)*nz) {
        info[0] = *la < *nz ? MA27_A_TOO_SMALL : MA27_IW_TOO_SMALL;
        info[1] = *la < *nz ? info[4] : info[5];
        return;
    }
    hsl_kept *k;
    saddle_status status = take_solver(*n, *nz, irn, icn, ikeep, cntl, &k, message);
    if (!status) status = factor(k, a, cntl, message);
    if (!status) {
        write_iw(iw, *liw, *n, *nz, irn, icn, k);
        tell(k, *nz, info);
        *maxfrt = k->engine->outcome.largest_front > 1 ? (int)k->engine->outcome.largest_front : 1;
        const bool asked = icntl[1] > 0 && icntl[2] > 0;
        if (asked || k->engine->print) hsl_engine_speak(k->engine, "MA27", asked ? icntl[1] : 6);
        if (asked && icntl[2] > 1) hsl_engine_report(k->engine, icntl[1]);
    } else {
        tell_failure(icntl, info, call, status, message);
    }
    hsl_keep_give_back(k);
}

/* ---- solve ---- */

/* The solver with the factors that iw names, or one that factors the matrix in iw and a again. */
static saddle_status take_factors(const header *h, const int *iw, const double *a, const double *cntl,
                                  hsl_kept **taken, char *message)
{
    hsl_kept *k = hsl_keep_share(h->analysis, h->factors);
    if (!k) k = hsl_keep_share(h->factors, h->factors); /* made anew by an earlier solve */
    *taken = k;
    if (k) return SADDLE_OK;
    k = hsl_keep_new(h->factors); /* its own number: the analysis may have other factors by now */
    if (!k) return SADDLE_OUT_OF_MEMORY;
    saddle_status status = build(k, h->n, h->nz, iw + HEADER, iw + HEADER + h->nz, NULL, cntl, message);
    if (!status) status = factor(k, a, cntl, message);
    if (status) {
        hsl_keep_free(k);
        return status;
    }
    k->factors = h->factors;
    *taken = k;
    return SADDLE_OK;
}

/* There is no info to tell a failure by: the solution is then NaN, which no host takes for one. */
EXPORT void ma27cd_(const int *n, const double *a, const int *la, const int *iw, const int *liw, double *w,
                    const int *maxfrt, double *rhs, int *iw1, const int *nsteps, const int *icntl,
                    const double *cntl)
{
    char message[SADDLE_MESSAGE_SIZE] = "iw has no matrix that was factored";
    header h;
    hsl_kept *k = NULL;
    (void)w, (void)maxfrt, (void)iw1, (void)nsteps;
    saddle_status status = SADDLE_WRONG_ORDER;
    if (*n >= 1 && read_header(iw, *liw, *n, &h) && *la >= h.nz)
        status = take_factors(&h, iw, a, cntl, &k, message);
    if (!status) status = hsl_engine_solve(k->engine, 0, 1, rhs, *n, message);
    if (status) {
        say_error(icntl, "ma27cd", *message ? message : saddle_status_text(status));
        for (int i = 0; i < *n; ++i) rhs[i] = NAN;
    }
    hsl_keep_give_back(k);
}
