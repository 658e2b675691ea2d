/*
 * The MA97-compatible interface over Saddle. An analysis (akeep) has the pattern, the order that was asked
 * for and a solver that waits for values; the first factors made of it (fkeep) take that solver over and keep
 * it, so that one analysis may have many factors.
 *
 * *akeep cannot be trusted where an analysis begins: Ipopt passes a variable that was never set (ma97_order
 * best), or the handle of the last analysis, which then is to be freed (matched orders). A handle that is
 * live is freed only if the variable that it comes in is the one that its factors were made through: a
 * forgotten copy on the stack is no reason to free what another variable still holds.
 */
#include "adapters/hsl/ma97.h"

#include "adapters/common/handles.h"
#include "adapters/hsl/engine.h"
#include "adapters/hsl/pattern.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { ANALYSIS, FACTORS }; /* kinds of handles */
enum { DEFINITE = 3, INDEFINITE = 4 };
enum {
    ORDER_USER = 0,
    ORDER_AMD = 1,
    ORDER_DEGREE = 2,
    ORDER_METIS = 3,
    ORDER_PAIRED = 4,
    ORDER_AUTO = 5,
    ORDER_MATCHED_AMD = 7,
    ORDER_MATCHED_METIS = 8
};
static const double SMALL = 1e-20; /* the default: below it, the library's own judgement is enough */

typedef struct analysis {
    int64_t n, entries;
    int base;
    bool checked;        /* the pattern is kept here, cleaned */
    hsl_pattern pattern; /* if checked */
    hsl_wish wish;
    int32_t *order;           /* one that was given or computed; NULL: left to the values */
    struct ma97_info_d about; /* what the analysis told */
    pthread_mutex_t lock;     /* of the next two: several threads may make factors of it */
    hsl_engine *engine;       /* analysed; NULL once factors have it */
    void **home;              /* the variable by which factors were made of it; NULL: none were */
} analysis;

typedef struct factors {
    hsl_engine *engine;
    void *akeep;    /* the analysis that they were made with */
    double *values; /* room for those of a pattern that was cleaned */
    struct ma97_info_d about;
} factors;

static door_handles handles = DOOR_HANDLES_EMPTY;

/* ---- control and info ---- */

EXPORT void ma97_default_control_d(struct ma97_control_d *control)
{
    if (!control) return;
    *control = (struct ma97_control_d){.f_arrays = 0,
                                       .action = 1,
                                       .nemin = 8,
                                       .multiplier = 1.1,
                                       .ordering = ORDER_AUTO,
                                       .print_level = 0,
                                       .scaling = 0,
                                       .small = SMALL,
                                       .u = 0.01,
                                       .unit_diagnostics = 6,
                                       .unit_error = 6,
                                       .unit_warning = 6,
                                       .factor_min = 20000000,
                                       .solve_min = 100000,
                                       .consist_tol = DBL_EPSILON};
}

static void begin_info(struct ma97_info_d *info)
{
    *info = (struct ma97_info_d){.num_neg = -1, .num_factor = -1, .num_flops = -1};
}

static int narrow(int64_t count)
{
    return count > INT_MAX ? INT_MAX : count < 0 ? 0 : (int)count;
}

static int flag_of(saddle_status status)
{
    switch (status) {
    case SADDLE_OK: return 0;
    case SADDLE_OUT_OF_MEMORY:
    case SADDLE_MEMORY_LIMIT: return MA97_NO_MEMORY;
    case SADDLE_BAD_MATRIX:
    case SADDLE_PATTERN_CHANGED: return MA97_BAD_PATTERN;
    case SADDLE_BAD_ARGUMENT: return MA97_BAD_ARGUMENT;
    case SADDLE_BAD_VALUE: return MA97_BAD_VALUE;
    case SADDLE_NOT_DEFINITE: return MA97_NOT_DEFINITE;
    case SADDLE_WRONG_ORDER: return MA97_CALL_SEQUENCE;
    default: return MA97_OTHER;
    }
}

/* An error: the flag, and a line where the control asks for one. */
static void refuse(const struct ma97_control_d *control, struct ma97_info_d *info, const char *call, int flag,
                   saddle_status status, const char *message)
{
    info->flag = flag;
    info->stat = status;
    if (control->print_level >= 0) hsl_say(control->unit_error, "%s: %s", call, message);
}

/* What a factorization with this control is to be. scale: the host's, or room for ours. */
static void wish_of(const struct ma97_control_d *control, int matrix_type, const double *scale,
                    hsl_wish *wish)
{
    wish->threshold = control->u;
    wish->small = control->small > SMALL ? control->small : 0;
    wish->scale = NULL;
    switch (control->scaling) {
    case 1:
    case 3: wish->scaling = SADDLE_SCALING_MC64; break;
    case 2:
    case 4: wish->scaling = SADDLE_SCALING_RUIZ; break;
    default:
        wish->scaling = scale && control->scaling <= 0 ? SADDLE_SCALING_USER : HSL_SCALING_UNASKED;
        if (wish->scaling == SADDLE_SCALING_USER) wish->scale = scale;
    }
    wish->factorization = matrix_type == DEFINITE ? SADDLE_FACTORIZATION_CHOLESKY : SADDLE_FACTORIZATION_AUTO;
}

/* ---- analysis ---- */

static void free_analysis(analysis *a)
{
    if (!a) return;
    hsl_engine_free(a->engine);
    hsl_pattern_free(&a->pattern);
    pthread_mutex_destroy(&a->lock);
    free(a->order);
    free(a);
}

static void order_of(const struct ma97_control_d *control, hsl_wish *wish)
{
    wish->order = SADDLE_ORDER_AUTO;
    wish->pairs = SADDLE_AUTO;
    switch (control->ordering) {
    case ORDER_USER:
        wish->order = SADDLE_ORDER_USER;
        wish->pairs = SADDLE_OFF;
        break;
    case ORDER_AMD:
    case ORDER_DEGREE:
        wish->order = SADDLE_ORDER_AMD;
        wish->pairs = SADDLE_OFF;
        break;
    case ORDER_METIS:
        wish->order = SADDLE_ORDER_METIS;
        wish->pairs = SADDLE_OFF;
        break;
    case ORDER_PAIRED:
    case ORDER_MATCHED_AMD:
        wish->order = SADDLE_ORDER_AMD;
        wish->pairs = SADDLE_ON;
        break;
    case ORDER_MATCHED_METIS:
        wish->order = SADDLE_ORDER_METIS;
        wish->pairs = SADDLE_ON;
        break;
    default: break;
    }
}

static bool is_matched(const struct ma97_control_d *control)
{
    return control->ordering == ORDER_MATCHED_AMD || control->ordering == ORDER_MATCHED_METIS;
}

/* The view of a pattern by columns, that was not checked. */
static saddle_matrix columns_view(int64_t n, const int *ptr, const int *row, const double *val, int base)
{
    saddle_matrix A = saddle_symmetric(n, ptr, row, val);
    A.base = base;
    A.entries = n > 0 ? ptr[n] - base : 0;
    return A;
}

/* Whether the pointers are those of columns. */
static bool has_columns(int64_t n, const int *ptr, int base)
{
    if (n > 0 && ptr[0] != base) return false;
    for (int64_t j = 0; j < n; ++j)
        if (ptr[j + 1] < ptr[j]) return false;
    return true;
}

/* Cleans the pattern: what is out of range is left out, and counted as duplicates are. */
static saddle_status clean(analysis *a, const int *ptr, const int *row)
{
    const size_t room = (size_t)(a->entries ? a->entries : 1);
    struct ma97_info_d *const t = &a->about;
    int32_t *const col = malloc(room * sizeof *col);
    if (!col) return SADDLE_OUT_OF_MEMORY;
    for (int64_t j = 0; j < a->n; ++j)
        for (int64_t k = ptr[j] - a->base; k < ptr[j + 1] - a->base; ++k) col[k] = (int32_t)j + a->base;
    const saddle_status status = hsl_pattern_take(&a->pattern, a->n, a->entries, row, col, a->base, false);
    free(col);
    if (status) return status;
    t->matrix_outrange = narrow(a->pattern.outside);
    t->matrix_dup = narrow(a->pattern.duplicates);
    t->matrix_missing_diag = narrow(a->pattern.missing_diagonal);
    t->flag = (t->matrix_outrange ? MA97_OUT_OF_RANGE : 0) + (t->matrix_dup ? MA97_DUPLICATES : 0);
    if (t->matrix_missing_diag) t->flag = t->flag ? MA97_MISSING_DIAGONAL_AND_MORE : MA97_MISSING_DIAGONAL;
    return SADDLE_OK;
}

/* The host's order, the position of each variable, as the variable at each position. */
static saddle_status take_order(analysis *a, const int *order, char *message)
{
    a->order = malloc((size_t)(a->n ? a->n : 1) * sizeof *a->order);
    if (!a->order) return SADDLE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < a->n; ++i) a->order[i] = -1;
    for (int64_t i = 0; i < a->n; ++i) {
        const int64_t position = order ? (int64_t)order[i] - a->base : -1;
        if (position < 0 || position >= a->n || a->order[position] >= 0) {
            snprintf(message, SADDLE_MESSAGE_SIZE, "the order is not a permutation");
            return SADDLE_BAD_OPTION;
        }
        a->order[position] = (int32_t)i;
    }
    return SADDLE_OK;
}

/* The order, by the pattern alone or with values by a matching, and what it will cost. */
static saddle_status find_order(analysis *a, const saddle_matrix *A, char *message)
{
    saddle_options options = saddle_options_default();
    saddle_preparation p;
    options.order = a->wish.order;
    saddle_status status = hsl_environment(&options, NULL, message); /* threads, memory, an order */
    if (status) return status;
    options.scaling = A->values ? SADDLE_SCALING_MC64 : SADDLE_SCALING_NONE;
    options.pairs = A->values ? SADDLE_ON : SADDLE_OFF;
    status = saddle_prepare(A, &options, NULL, NULL, &p, message);
    if (status) return status;
    a->order = p.permutation ? malloc((size_t)(a->n ? a->n : 1) * sizeof *a->order) : NULL;
    if (a->order) memcpy(a->order, p.permutation, (size_t)a->n * sizeof *a->order);
    a->about.num_factor = p.factor_nnz;
    a->about.num_flops = p.factor_flops < 9e18 ? (long)p.factor_flops : LONG_MAX;
    saddle_preparation_free(&p, NULL);
    return a->order || a->n == 0 ? SADDLE_OK : SADDLE_OUT_OF_MEMORY;
}

/* The place of every variable in the order of elimination. */
static void tell_order(const analysis *a, int *order)
{
    for (int64_t k = 0; k < a->n && a->order; ++k) order[a->order[k]] = (int)k + a->base;
}

/* The solver of an analysis; A has values if they decide the order. */
static saddle_status build_engine(const analysis *a, const saddle_matrix *A, hsl_engine **engine,
                                  char *message)
{
    hsl_wish wish = a->wish;
    if (a->order) wish.order = SADDLE_ORDER_USER;
    *engine = hsl_engine_new();
    if (!*engine) return SADDLE_OUT_OF_MEMORY;
    const saddle_status status = hsl_engine_analyse(*engine, A, &wish, a->order);
    if (!status) return SADDLE_OK;
    snprintf(message, SADDLE_MESSAGE_SIZE, "%s", (*engine)->message);
    hsl_engine_free(*engine);
    *engine = NULL;
    return status;
}

/* All of an analysis but its handle. */
static saddle_status analyse(analysis *a, const int *ptr, const int *row, const double *val,
                             const struct ma97_control_d *control, int *order, char *message)
{
    saddle_status status = a->checked ? clean(a, ptr, row) : SADDLE_OK;
    if (status) return status;
    double *room = NULL;
    const double *values = is_matched(control) ? val : NULL;
    if (values && a->checked) {
        values = hsl_pattern_values(&a->pattern, values, &room);
        if (!values) return SADDLE_OUT_OF_MEMORY;
    }
    const saddle_matrix A =
        a->checked ? hsl_pattern_view(&a->pattern, values) : columns_view(a->n, ptr, row, values, a->base);
    wish_of(control, INDEFINITE, NULL, &a->wish);
    order_of(control, &a->wish);
    if (is_matched(control)) a->wish.scaling = SADDLE_SCALING_MC64;
    a->about.ordering = control->ordering;
    const bool by_pattern = a->wish.order == SADDLE_ORDER_METIS || a->wish.order == SADDLE_ORDER_AMD;
    if (control->ordering == ORDER_USER)
        status = take_order(a, order, message);
    else if ((by_pattern && a->wish.pairs == SADDLE_OFF) || order)
        status = find_order(a, &A, message);
    if (!status) status = build_engine(a, &A, &a->engine, message);
    if (!status && order) tell_order(a, order);
    free(room);
    return status;
}

static bool has_home(analysis *a, void **akeep)
{
    pthread_mutex_lock(&a->lock);
    const bool same = a->home == akeep;
    pthread_mutex_unlock(&a->lock);
    return same;
}

/* What *akeep had before: freed if it is ours and this is its variable. */
static void free_previous(void **akeep)
{
    analysis *a = door_handles_find(&handles, ANALYSIS, *akeep);
    if (a && has_home(a, akeep)) free_analysis(door_handles_remove(&handles, ANALYSIS, *akeep));
    *akeep = NULL;
}

EXPORT void ma97_analyse_d(int check, int n, const int ptr[], const int row[], double val[], void **akeep,
                           const struct ma97_control_d *control, struct ma97_info_d *info, int order[])
{
    static const char call[] = "ma97_analyse";
    char message[SADDLE_MESSAGE_SIZE] = "";
    if (!control || !info) return;
    begin_info(info);
    if (!akeep) {
        refuse(control, info, call, MA97_CALL_SEQUENCE, SADDLE_BAD_ARGUMENT, "akeep is NULL");
        return;
    }
    free_previous(akeep);
    const int base = control->f_arrays ? 1 : 0;
    if (n < 0 || (n > 0 && !ptr)) {
        refuse(control, info, call, MA97_BAD_N, SADDLE_BAD_ARGUMENT, "n is negative, or ptr is NULL");
        return;
    }
    if (!has_columns(n, ptr, base) || (n > 0 && ptr[n] > base && !row)) {
        refuse(control, info, call, MA97_BAD_PATTERN, SADDLE_BAD_MATRIX,
               "ptr does not begin with the base or decreases, or row is NULL");
        return;
    }
    if (is_matched(control) && !val) {
        refuse(control, info, call, MA97_BAD_ARGUMENT, SADDLE_BAD_ARGUMENT, "a matched order needs val");
        return;
    }
    analysis *const a = calloc(1, sizeof *a);
    saddle_status status = a ? SADDLE_OK : SADDLE_OUT_OF_MEMORY;
    if (a) {
        pthread_mutex_init(&a->lock, NULL);
        a->n = n;
        a->entries = n > 0 ? ptr[n] - base : 0;
        a->base = base;
        a->checked = check;
        begin_info(&a->about);
        status = analyse(a, ptr, row, val, control, order, message);
    }
    if (!status) *akeep = door_handles_add(&handles, ANALYSIS, a);
    if (!status && !*akeep) status = SADDLE_OUT_OF_MEMORY;
    if (status) {
        const bool permuted = control->ordering == ORDER_USER && status == SADDLE_BAD_OPTION;
        refuse(control, info, call, permuted ? MA97_BAD_ORDER : flag_of(status), status,
               *message ? message : saddle_status_text(status));
        free_analysis(a);
        return;
    }
    *info = a->about;
}

/* ---- factors ---- */

static void free_factors(factors *f)
{
    if (!f) return;
    hsl_engine_free(f->engine);
    free(f->values);
    free(f);
}

/* The solver that was analysed, if no other factors have it. */
static hsl_engine *take_engine(analysis *a)
{
    pthread_mutex_lock(&a->lock);
    hsl_engine *const engine = a->engine;
    a->engine = NULL;
    pthread_mutex_unlock(&a->lock);
    return engine;
}

static void set_home(analysis *a, void **akeep)
{
    pthread_mutex_lock(&a->lock);
    a->home = akeep;
    pthread_mutex_unlock(&a->lock);
}

/* The factors of a handle, or new ones, with a solver for this analysis. */
static saddle_status take_factors(analysis *a, const void *akeep, const int *ptr, const int *row,
                                  void **fkeep, factors **taken, char *message)
{
    factors *f = door_handles_find(&handles, FACTORS, *fkeep);
    if (!f) {
        f = calloc(1, sizeof *f);
        *fkeep = f ? door_handles_add(&handles, FACTORS, f) : NULL;
        if (!*fkeep) {
            free(f);
            return SADDLE_OUT_OF_MEMORY;
        }
    }
    *taken = f;
    if (f->akeep == akeep && f->engine) return SADDLE_OK;
    const saddle_device spoken = f->engine ? f->engine->spoken : SADDLE_DEVICE_AUTO;
    hsl_engine_free(f->engine);
    free(f->values);
    f->values = NULL;
    f->engine = take_engine(a);
    f->akeep = NULL;
    if (!f->engine) { /* the analysis has other factors already */
        if (!a->checked && a->n > 0 && (!ptr || !row)) {
            snprintf(message, SADDLE_MESSAGE_SIZE, "ptr or row is NULL");
            return SADDLE_BAD_ARGUMENT;
        }
        const saddle_matrix A =
            a->checked ? hsl_pattern_view(&a->pattern, NULL) : columns_view(a->n, ptr, row, NULL, a->base);
        const saddle_status status = build_engine(a, &A, &f->engine, message);
        if (status) return status;
    }
    f->engine->spoken =
        spoken; /* Ipopt analyses before every factorization where it asks for a matched order */
    f->akeep = (void *)(uintptr_t)akeep;
    return SADDLE_OK;
}

/* What a factorization tells. */
static void tell(const analysis *a, factors *f, const struct ma97_control_d *control)
{
    const hsl_outcome *o = &f->engine->outcome;
    f->about = a->about;
    f->about.matrix_rank = narrow(o->rank);
    f->about.maxfront = narrow(o->largest_front);
    f->about.num_delay = narrow(o->delayed);
    f->about.num_factor = o->entries;
    f->about.num_flops = o->operations;
    f->about.num_neg = (int)o->negative;
    f->about.num_sup = narrow(o->fronts);
    f->about.num_two = narrow(o->two_by_two);
    f->about.flag = 0;
    if (o->singular) f->about.flag = control->action ? MA97_SINGULAR : MA97_SINGULAR_STOP;
}

static void factor(const char *call, int matrix_type, const int *ptr, const int *row, const double *val,
                   int nrhs, double *x, int ldx, void **akeep, void **fkeep,
                   const struct ma97_control_d *control, struct ma97_info_d *info, double *scale)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    factors *f = NULL;
    if (!control || !info) return;
    begin_info(info);
    analysis *const a = akeep ? door_handles_find(&handles, ANALYSIS, *akeep) : NULL;
    if (!a || !fkeep) {
        refuse(control, info, call, MA97_CALL_SEQUENCE, SADDLE_WRONG_ORDER,
               is_matched(control)
                   ? "there was no analysis; Ipopt makes one for a matched order only where it "
                     "scales: set ma97_scaling to mc64"
                   : "akeep is not that of a live analysis, or fkeep is NULL");
        return;
    }
    if ((matrix_type != DEFINITE && matrix_type != INDEFINITE) || (!val && a->entries > 0) ||
        (nrhs > 0 && (!x || ldx < a->n))) {
        refuse(control, info, call, MA97_BAD_ARGUMENT, SADDLE_BAD_ARGUMENT,
               "matrix_type is neither 3 nor 4, val or x is NULL, or ldx is below n");
        return;
    }
    set_home(a, akeep);
    saddle_status status = take_factors(a, *akeep, ptr, row, fkeep, &f, message);
    const double *values = val;
    if (!status && a->checked) values = hsl_pattern_values(&a->pattern, val, &f->values);
    if (!status && val && !values) status = SADDLE_OUT_OF_MEMORY;
    if (!status) {
        hsl_wish wish = f->engine->wish;
        wish_of(control, matrix_type, scale, &wish);
        status = hsl_engine_factor(f->engine, values, &wish, nrhs, x, ldx);
        if (!status && scale && control->scaling > 0) status = hsl_engine_scaling(f->engine, scale);
        if (status) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", f->engine->message);
    }
    if (status) {
        refuse(control, info, call, flag_of(status), status, *message ? message : saddle_status_text(status));
        if (f) begin_info(&f->about);
        return;
    }
    tell(a, f, control);
    *info = f->about;
    if (control->print_level > 0 || f->engine->print)
        hsl_engine_speak(f->engine, "MA97", control->print_level > 0 ? control->unit_diagnostics : 6);
    if (control->print_level > 1) hsl_engine_report(f->engine, control->unit_diagnostics);
}

EXPORT void ma97_factor_d(int matrix_type, const int ptr[], const int row[], const double val[], void **akeep,
                          void **fkeep, const struct ma97_control_d *control, struct ma97_info_d *info,
                          double scale[])
{
    factor("ma97_factor", matrix_type, ptr, row, val, 0, NULL, 0, akeep, fkeep, control, info, scale);
}

EXPORT void ma97_factor_solve_d(int matrix_type, const int ptr[], const int row[], const double val[],
                                int nrhs, double x[], int ldx, void **akeep, void **fkeep,
                                const struct ma97_control_d *control, struct ma97_info_d *info,
                                double scale[])
{
    factor("ma97_factor_solve", matrix_type, ptr, row, val, nrhs, x, ldx, akeep, fkeep, control, info, scale);
}

EXPORT void ma97_solve_d(int job, int nrhs, double x[], int ldx, void **akeep, void **fkeep,
                         const struct ma97_control_d *control, struct ma97_info_d *info)
{
    static const char call[] = "ma97_solve";
    char message[SADDLE_MESSAGE_SIZE] = "";
    if (!control || !info) return;
    begin_info(info);
    (void)akeep; /* the factors have all that a solve needs */
    const factors *const f = fkeep ? door_handles_find(&handles, FACTORS, *fkeep) : NULL;
    if (!f || !f->engine) {
        refuse(control, info, call, MA97_CALL_SEQUENCE, SADDLE_WRONG_ORDER, "fkeep has no factors");
        return;
    }
    if (job < 0 || job > 4 || nrhs < 1 || !x || ldx < f->engine->n) {
        refuse(control, info, call, MA97_BAD_ARGUMENT, SADDLE_BAD_ARGUMENT,
               "job is not 0 to 4, nrhs is below 1, x is NULL, or ldx is below n");
        return;
    }
    const saddle_status status = hsl_engine_solve(f->engine, job, nrhs, x, ldx, message);
    if (status) {
        refuse(control, info, call, flag_of(status), status, message);
        return;
    }
    *info = f->about;
}

/* ---- the end ---- */

EXPORT void ma97_free_akeep_d(void **akeep)
{
    if (!akeep) return;
    free_analysis(door_handles_remove(&handles, ANALYSIS, *akeep));
    *akeep = NULL;
}

EXPORT void ma97_finalise_d(void **akeep, void **fkeep)
{
    ma97_free_akeep_d(akeep);
    if (!fkeep) return;
    free_factors(door_handles_remove(&handles, FACTORS, *fkeep));
    *fkeep = NULL;
}
