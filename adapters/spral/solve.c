/*
 * Solves with the factors, in whole and in part, and queries of them.
 *
 * With the scaling T that was applied here and the solver's own U, S = U T and U (T A T) U = (PL) D (PL)'. U
 * is 2^-shift times what the solver has, and D therefore 4^-shift times:
 *
 *     job 1  x = L^-1 P' U T b     2  x = D^-1 b     3  x = T U P L'^-1 b     4  3 after 2     0  4 after 1
 *
 * In between vectors are in the order of the pivots here, but the caller's are in that of the variables:
 * SPRAL's code puts what jobs 1 and 2 return back to its variables, and takes the vectors of jobs 2, 3 and 4
 * from there (src/ssids/fkeep.F90 of its repository, inner_solve_cpu), which its formulas do not say. Of a
 * positive definite matrix L is what SSIDS calls L times D^-1/2, so the parts 1 and 3 each take a root of D.
 */
#include "adapters/spral/keep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CALL[] = "ssids_solve";

/* The factors of handles that belong together; NULL: they do not, or there are none. */
static ssids_fkeep *open_factors(const void *akeep, const void *fkeep)
{
    const ssids_akeep *const a = ssids_find_akeep(akeep);
    ssids_fkeep *const f = ssids_find_fkeep(fkeep);
    return a && f && f->akeep == a && f->factored ? f : NULL;
}

static void shift_columns(int32_t n, int exponent, int64_t nrhs, double *x, int64_t ldx)
{
    for (int64_t c = 0; c < nrhs && exponent != 0; ++c)
        for (int32_t i = 0; i < n; ++i) x[c * ldx + i] = ldexp(x[c * ldx + i], exponent);
}

static void scale_columns(int32_t n, const double *scale, int64_t nrhs, double *x, int64_t ldx)
{
    for (int64_t c = 0; c < nrhs && scale; ++c)
        for (int32_t i = 0; i < n; ++i) x[c * ldx + i] *= scale[i];
}

/* x = D^-1/2 x, of a positive definite matrix. */
static int apply_roots(const ssids_fkeep *f, int64_t nrhs, double *x, int64_t ldx)
{
    const int32_t n = f->akeep->pattern.n;
    double *const d = malloc((2 * (size_t)n + 1) * sizeof *d);
    const int flag = d ? ssids_flag_of(saddle_get_pivots(f->own.solver, NULL, d)) : SSIDS_ALLOCATION;
    for (int32_t k = 0; k < n && !flag; ++k) d[k] = 1 / sqrt(d[2 * (int64_t)k]);
    if (!flag) scale_columns(n, d, nrhs, x, ldx);
    free(d);
    return flag;
}

static int run_part(const ssids_fkeep *f, saddle_part part, int64_t nrhs, double *x, int64_t ldx,
                    char *message)
{
    int flag = SSIDS_SUCCESS;
    if (part == SADDLE_DIAGONAL && f->inverse) {
        ssids_apply_inverse(f, nrhs, x, ldx);
        return flag;
    }
    const int32_t n = f->akeep->pattern.n;
    if (part == SADDLE_FORWARD) scale_columns(n, f->scale, nrhs, x, ldx);
    if (part == SADDLE_BACKWARD && f->posdef) flag = apply_roots(f, nrhs, x, ldx);
    if (!flag) flag = ssids_flag_of(saddle_solve_part(f->own.solver, part, nrhs, x, ldx, message));
    if (!flag && part == SADDLE_FORWARD && f->posdef) flag = apply_roots(f, nrhs, x, ldx);
    if (!flag && part == SADDLE_BACKWARD) scale_columns(n, f->scale, nrhs, x, ldx);
    if (!flag && !f->posdef) /* where L has a factor too, it is that of S */
        shift_columns(n, part == SADDLE_DIAGONAL ? 2 * f->shift : -f->shift, nrhs, x, ldx);
    return flag;
}

/* All of A^-1 at once. */
static int run_whole(const ssids_fkeep *f, int64_t nrhs, double *x, int64_t ldx, char *message)
{
    const int32_t n = f->akeep->pattern.n;
    scale_columns(n, f->scale, nrhs, x, ldx);
    const saddle_status status = saddle_apply(f->own.solver, 0, nrhs, x, ldx, x, ldx, message);
    scale_columns(n, f->scale, nrhs, x, ldx);
    return ssids_flag_of(status);
}

/* Columns from the order of the variables into that of the pivots, or back. */
static int permute(const ssids_fkeep *f, bool back, int64_t nrhs, double *x, int64_t ldx)
{
    const size_t n = (size_t)f->akeep->pattern.n;
    int32_t *const order = malloc((n + 1) * sizeof *order);
    double *const column = malloc((n + 1) * sizeof *column);
    const int flag =
        order && column ? ssids_flag_of(saddle_get_pivots(f->own.solver, order, NULL)) : SSIDS_ALLOCATION;
    for (int64_t c = 0; c < nrhs && !flag; ++c, x += ldx) {
        for (size_t k = 0; k < n; ++k) column[back ? (size_t)order[k] : k] = x[back ? k : (size_t)order[k]];
        memcpy(x, column, n * sizeof *column);
    }
    free(order);
    free(column);
    return flag;
}

static int run_job(const ssids_fkeep *f, int job, int64_t nrhs, double *x, int64_t ldx, char *message)
{
    int flag = SSIDS_SUCCESS;
    if (job == 0 && !f->inverse) return run_whole(f, nrhs, x, ldx, message);
    if (job >= 2) flag = permute(f, false, nrhs, x, ldx);
    if (job == 0 || job == 1) flag = run_part(f, SADDLE_FORWARD, nrhs, x, ldx, message);
    if (!flag && (job == 0 || job == 2 || job == 4))
        flag = run_part(f, SADDLE_DIAGONAL, nrhs, x, ldx, message);
    if (!flag && (job == 0 || job == 3 || job == 4))
        flag = run_part(f, SADDLE_BACKWARD, nrhs, x, ldx, message);
    if (!flag && (job == 1 || job == 2)) flag = permute(f, true, nrhs, x, ldx);
    return flag;
}

void spral_ssids_solve(int job, int nrhs, double *x, int ldx, void *akeep, void *fkeep,
                       const struct spral_ssids_options *options, struct spral_ssids_inform *inform)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    const ssids_fkeep *const f = open_factors(akeep, fkeep);
    int flag = f ? SSIDS_SUCCESS : SSIDS_CALL_SEQUENCE;
    *inform = f ? f->inform : (ssids_inform){0};
    if (!flag && (job < 0 || job > 4 || (f->posdef && (job == 2 || job == 4)))) flag = SSIDS_JOB;
    if (!flag && (nrhs < 1 || ldx < f->akeep->pattern.n)) flag = SSIDS_X_SIZE;
    if (!flag && !x && f->akeep->pattern.n > 0) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "x is NULL");
        flag = SSIDS_UNKNOWN;
    }
    if (!flag) flag = run_job(f, job, nrhs, x, ldx, message);
    if (flag) ssids_tell(CALL, options, flag, message, inform); /* a warning of factor stays */
}

void spral_ssids_solve1(int job, double *x1, void *akeep, void *fkeep,
                        const struct spral_ssids_options *options, struct spral_ssids_inform *inform)
{
    const ssids_fkeep *const f = open_factors(akeep, fkeep);
    spral_ssids_solve(job, 1, x1, f ? f->akeep->pattern.n : 0, akeep, fkeep, options, inform);
}

/* The beginning of a query: the factors, if there are any of this kind. */
static ssids_fkeep *begin_query(const char *call, const void *akeep, const void *fkeep, bool posdef,
                                const ssids_options *options, ssids_inform *inform)
{
    ssids_fkeep *const f = open_factors(akeep, fkeep);
    const bool fits = f && f->posdef == posdef;
    *inform = f ? f->inform : (ssids_inform){0};
    inform->flag = SSIDS_SUCCESS; /* warnings of factor are those of solves */
    if (fits) return f;
    const int other = posdef ? SSIDS_NOT_LLT : SSIDS_NOT_LDLT;
    ssids_tell(call, options, f ? other : SSIDS_CALL_SEQUENCE, NULL, inform);
    return NULL;
}

void spral_ssids_enquire_posdef(const void *akeep, const void *fkeep,
                                const struct spral_ssids_options *options, struct spral_ssids_inform *inform,
                                double *d)
{
    static const char call[] = "ssids_enquire_posdef";
    const ssids_fkeep *const f = begin_query(call, akeep, fkeep, true, options, inform);
    if (!f || !d) return;
    const int32_t n = f->akeep->pattern.n;
    double *const pivots = malloc((2 * (size_t)n + 1) * sizeof *pivots);
    const int flag =
        pivots ? ssids_flag_of(saddle_get_pivots(f->own.solver, NULL, pivots)) : SSIDS_ALLOCATION;
    for (int32_t k = 0; k < n && !flag; ++k) d[k] = ldexp(sqrt(pivots[2 * (int64_t)k]), -f->shift);
    free(pivots);
    if (flag) ssids_tell(call, options, flag, NULL, inform);
}

void spral_ssids_enquire_indef(const void *akeep, const void *fkeep,
                               const struct spral_ssids_options *options, struct spral_ssids_inform *inform,
                               int *piv_order, double *d)
{
    static const char call[] = "ssids_enquire_indef";
    const ssids_fkeep *const f = begin_query(call, akeep, fkeep, false, options, inform);
    if (!f) return;
    const int32_t n = f->akeep->pattern.n;
    const int base = options->array_base;
    int32_t *const order = malloc(((size_t)n + 1) * sizeof *order);
    const int flag = order ? ssids_get_pivots(f, order, d) : SSIDS_ALLOCATION;
    for (int32_t k = 0; k < n && !flag && piv_order; ++k) {
        if (order[k] < 0)
            piv_order[-1 - order[k]] = base == 0 ? k : -(k + base); /* from 0 SPRAL has no sign: 0 has none */
        else
            piv_order[order[k]] = k + base;
    }
    free(order);
    if (flag) ssids_tell(call, options, flag, NULL, inform);
}

void spral_ssids_alter(const double *d, const void *akeep, void *fkeep,
                       const struct spral_ssids_options *options, struct spral_ssids_inform *inform)
{
    static const char call[] = "ssids_alter";
    ssids_fkeep *const f = begin_query(call, akeep, fkeep, false, options, inform);
    if (!f) return;
    if (!d && f->akeep->pattern.n > 0) {
        ssids_tell(call, options, SSIDS_UNKNOWN, "d is NULL", inform);
        return;
    }
    const size_t count = 2 * (size_t)f->akeep->pattern.n;
    if (!f->inverse) f->inverse = malloc((count + 1) * sizeof *f->inverse);
    if (!f->inverse) {
        ssids_tell(call, options, SSIDS_ALLOCATION, NULL, inform);
        return;
    }
    for (size_t k = 0; k < count; ++k) f->inverse[k] = d[k];
    if (count > 0) f->inverse[count - 1] = 0; /* there is no next row */
}
