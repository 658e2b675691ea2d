/*
 * Factorization: values onto the pattern of an akeep.
 *
 * A scaling of the caller's, or that of a matching, is applied here, so that the solver's plan does not
 * depend on it; the others are the solver's own. Only the pattern decides about the plan, and the scaling
 * about anything more than new numbers in it.
 */
#include "adapters/spral/keep.h"

#include "adapters/common/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CALL[] = "ssids_factor";
static const double SMALL_DEFAULT = 1e-20; /* up to here it is the solver that finds out what is zero */

static saddle_scaling scaling_of(const ssids_options *options)
{
    switch (options->scaling) {
    case 1: return SADDLE_SCALING_MC64;
    case 2: return SADDLE_SCALING_AUCTION;
    case 3: return SADDLE_SCALING_NONE; /* that of the akeep, applied here */
    default: return options->scaling > 3 ? SADDLE_SCALING_RUIZ : SADDLE_SCALING_NONE;
    }
}

static double *room(double **kept, int64_t count)
{
    if (!*kept) *kept = malloc(((size_t)count + 1) * sizeof **kept);
    return *kept;
}

/* The scaling that the solver does not know of, into f->scale. */
static int take_scale(ssids_fkeep *f, const ssids_options *options, const double *scale)
{
    const ssids_akeep *a = f->akeep;
    const size_t n = (size_t)a->pattern.n;
    const double *const from = options->scaling == 3 ? a->scale : options->scaling <= 0 ? scale : NULL;
    if (!from) {
        free(f->scale);
        f->scale = NULL;
        return SSIDS_SUCCESS;
    }
    if (!room(&f->scale, (int64_t)n)) return SSIDS_ALLOCATION;
    if (n > 0) memcpy(f->scale, from, n * sizeof *from);
    return SSIDS_SUCCESS;
}

/* The values as the solver gets them; *val stays where they are the caller's. */
static int take_values(ssids_fkeep *f, const double **val)
{
    const ssids_pattern *p = &f->akeep->pattern;
    if (!p->from && !f->scale) return SSIDS_SUCCESS;
    if (!room(&f->values, p->kept)) return SSIDS_ALLOCATION;
    ssids_take_values(p, *val, f->scale, f->values);
    *val = f->values;
    return SSIDS_SUCCESS;
}

/* Whether the count of negative eigenvalues may be wrong although it was looked at, or there is none. */
static bool in_doubt(const ssids_fkeep *f, const saddle_info *info)
{
    if (f->posdef) return false;
    return info->inertia_negative < 0 || (!info->inertia_certain && f->own.options.certify != SADDLE_OFF);
}

/* Says what is known of the count, which is then no number: a program that looks at no warning must not take
 * it for the truth. */
static void tell_doubt(const saddle_info *info, bool full, ssids_inform *inform, char *message)
{
    if (info->inertia_negative < 0)
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "the factorization that SADDLE_OPTIONS asks for counts nothing");
    else
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "%s: between %lld and %lld eigenvalues are negative, %d were counted",
                 full ? "no pivot is zero, but rounding may have changed signs" : "rounding decides on signs",
                 (long long)info->negative_least, (long long)info->negative_most, inform->num_neg);
    inform->num_neg = -1;
}

/* What the factors were found to be. Returns a flag: 0, or that the matrix is singular or in doubt. */
static int look(ssids_fkeep *f, const ssids_options *options, const double *val, char *message)
{
    saddle_info info = saddle_info_default();
    ssids_inform *inform = &f->inform;
    const saddle_status status = saddle_query(f->own.solver, &info);
    if (status) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "%s", info.message);
        return ssids_flag_of(status);
    }
    f->bytes = info.factor_bytes;
    f->shift = 0;
    if (f->own.options.scaling != SADDLE_SCALING_NONE) /* half of the exponent, rounded up */
        f->shift = (int)ceil(0.5 * ilogb(door_size(f->akeep->pattern.kept, val)));
    inform->matrix_rank = ssids_int(info.rank < 0 ? f->akeep->pattern.n : info.rank);
    inform->maxfront = ssids_int(info.largest_front > 0 ? info.largest_front : info.planned_rows);
    inform->num_delay = ssids_int(info.delayed);
    inform->num_factor = info.factor_nnz;
    inform->num_flops = info.factor_flops;
    inform->num_neg = ssids_int(info.inertia_negative);
    inform->num_two = ssids_int(info.two_by_two);
    ssids_note(options, f->print,
               "factored on %s, %lld threads: %lld entries in L, %d columns delayed, %d 2x2 pivots",
               info.device == SADDLE_DEVICE_CUDA ? "a GPU" : "the CPU", (long long)info.threads,
               (long long)inform->num_factor, inform->num_delay, inform->num_two);
    if (options->small > SMALL_DEFAULT && !f->posdef) {
        const int flag = ssids_drop_small(f, options->small);
        if (flag) return flag;
    }
    const bool full = inform->matrix_rank == f->akeep->pattern.n, doubt = in_doubt(f, &info);
    if (doubt) tell_doubt(&info, full, inform, message);
    if (!full) return options->action ? SSIDS_RANK : SSIDS_SINGULAR;
    return doubt ? SSIDS_RANK : SSIDS_SUCCESS;
}

/* All of it. Returns a flag. */
static int run(ssids_fkeep *f, const ssids_options *options, const double *val, double *scale, char *message)
{
    saddle_options o;
    ssids_akeep *const a = f->akeep;
    free(f->inverse);
    f->inverse = NULL;
    int flag = take_scale(f, options, scale);
    if (!flag) flag = take_values(f, &val);
    if (!flag) flag = ssids_solver_options(options, scaling_of(options), a->threads, &o, &f->print, message);
    if (!flag && f->posdef) o.factorization = SADDLE_FACTORIZATION_CHOLESKY;
    if (!flag) flag = ssids_prepare_solver(a, &f->own, &o, message);
    if (flag) return flag;
    const saddle_status status = saddle_factor_values(f->own.solver, SADDLE_DOUBLE, val);
    if (status) {
        if (status != SADDLE_NOT_DEFINITE)
            snprintf(message, SADDLE_MESSAGE_SIZE, "%s", saddle_message(f->own.solver));
        return ssids_flag_of(status);
    }
    flag = look(f, options, val, message);
    f->factored = flag >= 0;
    if (flag >= 0 && scale && (options->scaling > 0 || f->scale)) {
        if (saddle_get_scaling(f->own.solver, scale)) return SSIDS_UNKNOWN;
        for (int32_t i = 0; i < a->pattern.n; ++i) scale[i] = ldexp(scale[i], -f->shift);
        for (int32_t i = 0; i < a->pattern.n && f->scale; ++i) scale[i] *= f->scale[i];
    }
    if (flag == SSIDS_SUCCESS && a->scale && options->scaling != 3) return SSIDS_UNUSED_SCALING;
    return flag;
}

/* The fkeep that the caller has, if it is one of this akeep; a new one otherwise. NULL: out of memory. */
static ssids_fkeep *open_fkeep(ssids_akeep *a, void **fkeep)
{
    ssids_fkeep *f = ssids_find_fkeep(*fkeep);
    if (f && f->akeep == a) return f;
    spral_ssids_free_fkeep(fkeep);
    f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->akeep = a;
    atomic_fetch_add(&a->owners, 1);
    *fkeep = ssids_give_fkeep(f);
    return *fkeep ? f : NULL;
}

static void factor(bool posdef, bool has_pattern, const double *val, double *scale, void *akeep, void **fkeep,
                   const ssids_options *options, ssids_inform *inform)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    ssids_akeep *const a = ssids_find_akeep(akeep);
    *inform = (ssids_inform){0};
    if (!a || !fkeep) {
        ssids_tell(CALL, options, SSIDS_CALL_SEQUENCE, a ? "fkeep is NULL" : "there is no such akeep",
                   inform);
        return;
    }
    ssids_fkeep *const f = open_fkeep(a, fkeep);
    int flag = f ? SSIDS_SUCCESS : SSIDS_ALLOCATION;
    *inform = a->inform;
    if (f) {
        f->factored = false;
        f->posdef = posdef;
        f->inform = a->inform;
    }
    if (!flag && !a->checked && !has_pattern) flag = SSIDS_PTR_ROW;
    if (!flag && !val && a->pattern.entries > 0) flag = SSIDS_VAL;
    if (!flag && options->scaling == 3 && !a->scale) flag = SSIDS_NO_SCALING;
    if (!flag) flag = run(f, options, val, scale, message);
    if (f) *inform = f->inform;
    ssids_tell(CALL, options, flag, message, inform);
    if (flag == SSIDS_SUCCESS) inform->flag = a->warning; /* which was printed once */
    if (f) f->inform = *inform;
}

void spral_ssids_factor(bool posdef, const int64_t *ptr, const int *row, const double *val, double *scale,
                        void *akeep, void **fkeep, const struct spral_ssids_options *options,
                        struct spral_ssids_inform *inform)
{
    factor(posdef, ptr && row, val, scale, akeep, fkeep, options, inform);
}

void spral_ssids_factor_ptr32(bool posdef, const int *ptr, const int *row, const double *val, double *scale,
                              void *akeep, void **fkeep, const struct spral_ssids_options *options,
                              struct spral_ssids_inform *inform)
{
    factor(posdef, ptr && row, val, scale, akeep, fkeep, options, inform);
}
