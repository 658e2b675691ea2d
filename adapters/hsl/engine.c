/*
 * Ipopt asks for the number of negative eigenvalues after every factorization and before any solve, and
 * refines solutions itself, on the larger system that this one was reduced from. So the inertia is certified
 * at once (saddle_query, which costs about a solve) and a solve applies the factors and nothing else:
 * refining here as well costs more than it gains (docs/design/0014-doors.md).
 */
#include "adapters/hsl/engine.h"

#include "adapters/common/environment.h"
#include "adapters/common/size.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double THRESHOLD_LEAST = 1e-10, THRESHOLD_MOST = 0.5; /* of the option */
enum { FACTORIZATIONS = 30 };                                      /* of an interior-point method */

hsl_engine *hsl_engine_new(void)
{
    hsl_engine *e = calloc(1, sizeof *e);
    if (e) e->info = saddle_info_default();
    return e;
}

void hsl_engine_free(hsl_engine *e)
{
    if (!e) return;
    saddle_destroy(&e->solver);
    free(e->given);
    free(e->order);
    free(e->told);
    free(e);
}

void hsl_say(int unit, const char *format, ...)
{
    if (unit < 0) return;
    FILE *const stream = unit == 6 ? stdout : stderr;
    va_list arguments;
    va_start(arguments, format);
    fputs("saddle: ", stream);
    vfprintf(stream, format, arguments);
    fputc('\n', stream);
    va_end(arguments);
    fflush(stream); /* the host may write to the same place by other means */
}

void hsl_engine_speak(hsl_engine *e, const char *interface, int unit)
{
    char device[32];
    if (e->spoken == e->info.device) return;
    e->spoken = e->info.device;
    saddle_info_get(&e->info, "device", device, sizeof device);
    hsl_say(unit,
            "Saddle %s (%s), device %s, %d thread%s. %s-compatible interface implemented by Saddle; "
            "contains no HSL code.",
            saddle_version(), saddle_commit(), device, (int)e->info.threads, e->info.threads == 1 ? "" : "s",
            interface);
}

void hsl_engine_report(const hsl_engine *e, int unit)
{
    const hsl_outcome *o = &e->outcome;
    char doubt[64], scaling[32];
    saddle_info_get(&e->info, "inertia_doubt", doubt, sizeof doubt);
    saddle_options_get(&e->options, "scaling", scaling, sizeof scaling);
    hsl_say(unit,
            "n %lld, u %.1e, scaling %s: %.2e operations, %lld delayed, %lld pairs, %lld negative, "
            "rank %lld%s, doubt %s, %.1e s, plan %.1e s",
            (long long)e->n, e->options.threshold, scaling, (double)o->operations, (long long)o->delayed,
            (long long)o->two_by_two, (long long)o->negative, (long long)o->rank,
            o->singular ? " (singular)" : "", doubt, e->info.time_factor,
            e->info.time_prepare + e->info.time_plan);
}

static saddle_status fail(hsl_engine *e, saddle_status status, const char *message)
{
    snprintf(e->message, sizeof e->message, "%s", message);
    return status;
}

/* The library's word for what a call returned. */
static saddle_status check(hsl_engine *e, saddle_status status)
{
    return status ? fail(e, status, saddle_message(e->solver)) : SADDLE_OK;
}

saddle_status hsl_environment(saddle_options *options, bool *print, char *message)
{
    const saddle_status status = door_environment(options, print, message);
    if (status) fprintf(stderr, "saddle: %s\n", message);
    return status;
}

static saddle_status options_of(hsl_engine *e, const hsl_wish *wish, saddle_options *o)
{
    *o = saddle_options_default();
    o->method = SADDLE_METHOD_DIRECT;
    o->krylov = SADDLE_KRYLOV_NONE;
    o->verify = SADDLE_OFF;
    o->factorizations = FACTORIZATIONS;
    o->threshold = fmin(fmax(wish->threshold, THRESHOLD_LEAST), THRESHOLD_MOST);
    o->scaling = wish->scaling;
    o->order = wish->order;
    o->pairs = wish->pairs;
    o->factorization = wish->factorization;
    return hsl_environment(o, &e->print, e->message);
}

/* Whether two scalings of n rows are the same, or both are none. */
static bool is_same(int64_t n, const double *a, const double *b)
{
    return a && b ? memcmp(a, b, (size_t)n * sizeof *a) == 0 : a == b;
}

/* A copy of an array, or NULL for NULL; *enough becomes false if there is no memory. */
static void *copy_of(const void *array, size_t bytes, bool *enough)
{
    void *const copy = array ? malloc(bytes + 1) : NULL;
    if (copy) memcpy(copy, array, bytes);
    *enough = *enough && (copy || !array);
    return copy;
}

/* Gives the solver the host's scaling, and the order that it has. One that is refused is not kept: it would
 * be taken for the one in use when it comes again. */
static saddle_status give(hsl_engine *e, const double *scale)
{
    bool enough = true;
    free(e->given);
    e->given = copy_of(scale, (size_t)e->n * sizeof *scale, &enough);
    if (!enough) return fail(e, SADDLE_OUT_OF_MEMORY, "no memory for a scaling");
    const saddle_given given = {.row_scale = e->given, .permutation = e->order};
    const saddle_status status =
        check(e, saddle_set_given(e->solver, e->n, e->given || e->order ? &given : NULL));
    if (status) {
        free(e->given);
        e->given = NULL;
    }
    return status;
}

saddle_status hsl_engine_analyse(hsl_engine *e, const saddle_matrix *A, const hsl_wish *wish,
                                 const int32_t *order)
{
    e->n = A->rows;
    e->entries = A->entries;
    bool enough = true;
    e->factored = e->wished = false;
    saddle_destroy(&e->solver);
    free(e->order);
    free(e->told);
    e->told = NULL;
    e->order = copy_of(order, (size_t)e->n * sizeof *order, &enough);
    saddle_status status =
        enough ? options_of(e, wish, &e->options) : fail(e, SADDLE_OUT_OF_MEMORY, "no memory for an order");
    if (!status) status = saddle_create(&e->solver, &e->options, NULL, e->message);
    if (!status) status = give(e, wish->scale);
    if (!status) status = check(e, saddle_analyse(e->solver, A));
    if (!status) {
        e->wish = *wish;
        e->wished = true;
    }
    return status;
}

/* Options follow the host's wishes: most often nothing has changed. A scaling of ours that comes back is one
 * that we are asked to keep. */
static saddle_status follow(hsl_engine *e, const hsl_wish *wish)
{
    saddle_status status = SADDLE_OK;
    hsl_wish next = *wish;
    const hsl_wish *had = &e->wish;
    if (wish->scale && e->told && is_same(e->n, wish->scale, e->told)) {
        next.scaling = had->scaling;
        next.scale = NULL;
    }
    const bool same = next.threshold == had->threshold && next.scaling == had->scaling &&
                      next.order == had->order && next.pairs == had->pairs &&
                      next.factorization == had->factorization;
    if (!is_same(e->n, next.scale, e->given)) status = give(e, next.scale);
    if (!status && !same) {
        saddle_options options;
        status = options_of(e, &next, &options);
        if (!status) status = check(e, saddle_set_options(e->solver, &options));
        if (!status) e->options = options;
    }
    if (!status) e->wish = next;
    return status;
}

saddle_status hsl_engine_scaling(hsl_engine *e, double *scale)
{
    bool enough = true;
    const saddle_status status = check(e, saddle_get_scaling(e->solver, scale));
    if (status) return status;
    free(e->told);
    e->told = copy_of(scale, (size_t)e->n * sizeof *scale, &enough);
    return enough ? SADDLE_OK : fail(e, SADDLE_OUT_OF_MEMORY, "no memory for a scaling");
}

/* Makes pivots zero that are smaller than the host wants: 1x1 pivots, and 2x2 pivots all of whose entries
 * are. With a scaling of the library's that is measured in the scaled matrix, with entries of about 1. What
 * the library found stays as it is where there are none. */
static saddle_status drop_small(hsl_engine *e, double small, const double *values)
{
    if (e->options.scaling != SADDLE_SCALING_NONE && e->options.scaling != SADDLE_SCALING_USER)
        small *= door_size(e->entries, values);
    hsl_outcome *const o = &e->outcome;
    double *const d = malloc(2 * (size_t)e->n * sizeof *d);
    int64_t dropped = 0;
    if (!d) return fail(e, SADDLE_OUT_OF_MEMORY, "no memory for the pivots");
    saddle_status status = check(e, saddle_get_pivots(e->solver, NULL, d));
    for (int64_t k = 0; k < e->n && !status;) {
        const bool pair = d[2 * k + 1] != 0;
        double *const p = d + 2 * k;
        const double most = pair ? fmax(fmax(fabs(p[0]), fabs(p[1])), fabs(p[2])) : fabs(p[0]);
        if (most > 0 && most < small) {
            dropped += 1 + pair;
            const bool opposite = pair && p[0] * p[2] - p[1] * p[1] < 0;
            if (o->negative >= 0) o->negative -= opposite ? 1 : p[0] < 0 ? 1 + pair : 0;
            p[0] = 0;
            if (pair) p[1] = p[2] = 0;
        }
        k += 1 + pair;
    }
    if (!status && dropped > 0) {
        o->rank -= dropped;
        o->singular = true;
        status = check(e, saddle_set_d(e->solver, d));
    }
    free(d);
    return status;
}

/* What the host is told. */
static void conclude(hsl_engine *e)
{
    const saddle_info *i = &e->info;
    const bool unknown = i->inertia_negative < 0; /* e.g. factorization=static, which counts nothing */
    const bool doubt = unknown || (!i->inertia_certain && e->options.certify == SADDLE_ON);
    e->outcome = (hsl_outcome){.singular = doubt || i->inertia_zero > 0,
                               .rank = i->rank,
                               .negative = doubt ? -1 : i->inertia_negative,
                               .two_by_two = i->two_by_two,
                               .delayed = i->delayed,
                               .fronts = i->fronts,
                               .largest_front = i->largest_front,
                               .entries = i->factor_nnz,
                               .operations = i->factor_flops};
}

saddle_status hsl_engine_factor(hsl_engine *e, const double *values, const hsl_wish *wish, int64_t nrhs,
                                double *b, int64_t ldb)
{
    e->factored = false;
    if (!e->wished) return fail(e, SADDLE_WRONG_ORDER, "the matrix was not analysed");
    saddle_status status = follow(e, wish);
    if (!status) status = check(e, saddle_factor_values(e->solver, SADDLE_DOUBLE, values));
    if (status) return status;
    e->factored = true;
    if (nrhs > 0) status = hsl_engine_solve(e, 0, nrhs, b, ldb, e->message);
    if (!status) status = check(e, saddle_query(e->solver, &e->info));
    if (!status) {
        conclude(e);
        if (wish->small > 0) status = drop_small(e, wish->small, values);
    }
    e->factored = !status; /* factors of which nothing was told are no use */
    return status;
}

/* The parts of a solve that belong to a job, in their order. */
static saddle_status solve_parts(const saddle_solver *solver, int job, int64_t nrhs, double *x, int64_t ldx,
                                 char *message)
{
    static const struct {
        int count;
        saddle_part part[2];
    } parts[] = {[1] = {1, {SADDLE_FORWARD}},
                 [2] = {1, {SADDLE_DIAGONAL}},
                 [3] = {1, {SADDLE_BACKWARD}},
                 [4] = {2, {SADDLE_DIAGONAL, SADDLE_BACKWARD}}};
    saddle_status status = SADDLE_OK;
    for (int k = 0; k < parts[job].count && !status; ++k)
        status = saddle_solve_part(solver, parts[job].part[k], nrhs, x, ldx, message);
    return status;
}

saddle_status hsl_engine_solve(const hsl_engine *e, int job, int64_t nrhs, double *x, int64_t ldx,
                               char *message)
{
    if (!e->factored) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "the matrix was not factored");
        return SADDLE_WRONG_ORDER;
    }
    if (job != 0) return solve_parts(e->solver, job, nrhs, x, ldx, message);
    saddle_info info = saddle_info_default();
    const saddle_status status = saddle_solve(e->solver, nrhs, x, ldx, x, ldx, &info);
    /* the best x that there is, of a singular system or of poor factors, is the host's to judge */
    if (!status || status == SADDLE_NOT_CONVERGED || status == SADDLE_SINGULAR) return SADDLE_OK;
    snprintf(message, SADDLE_MESSAGE_SIZE, "%s", info.message);
    return status;
}
