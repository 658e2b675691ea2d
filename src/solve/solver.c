/* Create, analyse, factor, query, destroy. Solving is in solve.c. */
#include "solve/solver.h"

#include "core/options.h"
#include "matrix/inspect.h"
#include "prepare/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sd_solver_context(const saddle_solver *solver, sd_context *c)
{
    sd_context_init(c, solver ? &solver->c.hooks : NULL, 0);
    const int64_t limit = solver ? solver->options.max_memory : 0;
    if (limit > 0) c->limit = limit > solver->c.bytes ? limit - solver->c.bytes : 1;
}

saddle_status saddle_create(saddle_solver **solver, const saddle_options *options, const saddle_hooks *hooks,
                            char *message)
{
    sd_context c;
    saddle_status status = sd_context_open(&c, hooks);
    if (!solver)
        return sd_tell(&c, sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_create: the solver is NULL"), message);
    *solver = NULL;
    saddle_options taken;
    if (!status) status = sd_options_take(&c, options, &taken);
    if (status) return sd_tell(&c, status, message);
    saddle_solver *s = sd_alloc_zero(&c, 1, sizeof *s, "solver");
    if (!s) return sd_tell(&c, c.status, message);
    c.limit = taken.max_memory;
    s->c = c;
    s->options = taken;
    s->threads = sd_thread_count(taken.threads);
    s->device = taken.device == SADDLE_DEVICE_AUTO ? SADDLE_DEVICE_CPU : taken.device;
    s->info = saddle_info_default();
    s->info.device = s->device;
    s->info.precision = taken.precision;
    s->info.threads = s->threads;
    s->info.device_index = taken.device_index;
    status = sd_engine_open(&s->c, &s->e, s->device, s->threads);
    if (!status && taken.device_index > 0) status = s->e.backend->describe(&s->c, (int)taken.device_index);
    if (!status) s->c.message[0] = '\0';
    sd_tell(&s->c, status, message);
    if (status) saddle_destroy(&s);
    *solver = s;
    return status;
}

/* With the factors goes what info knows of them and of the values. */
static void forget_factors(saddle_solver *s)
{
    s->factored = false;
    const saddle_info nothing = saddle_info_default(), before = s->info;
    s->info = nothing;
    s->info.n = before.n;
    s->info.device = before.device;
    s->info.device_index = before.device_index;
    s->info.precision = before.precision;
    s->info.threads = before.threads;
    s->info.values_in_analysis = before.values_in_analysis;
    s->info.planned_flops = before.planned_flops;
    s->info.planned_nnz = before.planned_nnz;
    s->info.planned_bytes = before.planned_bytes;
    s->info.time_prepare = before.time_prepare;
    s->info.time_plan = before.time_plan;
    s->direct.factored = false; /* its memory is kept for the next factorization */
    s->e.status = SADDLE_OK;
    if (!s->e.backend) return;
    sd_diagonal_free(&s->e, &s->diagonal);
    sd_block_jacobi_free(&s->e, &s->block_jacobi);
}

static void forget_operators(saddle_solver *s)
{
    for (int p = 0; p < SD_PRECISIONS && s->e.backend; ++p) sd_operator_free(&s->e, &s->op[p]);
}

static void forget_analysis(saddle_solver *s)
{
    forget_factors(s);
    forget_operators(s);
    s->analysed = false;
    s->learned = 0;
    s->info.n = s->info.planned_nnz = s->info.planned_bytes = -1;
    s->info.planned_flops = NAN;
    s->info.values_in_analysis = 0;
    s->info.time_prepare = s->info.time_plan = 0;
    sd_direct_free(&s->c, &s->direct);
    sd_preparation_free(&s->c, &s->blocking);
    if (s->e.backend) sd_block_ldlt_free(&s->e, &s->ldlt);
    sd_preparation_free(&s->c, &s->ldlt.preparation);
    sd_csr_free(&s->c, &s->A);
    sd_free(&s->c, s->map);
    s->map = NULL;
}

void saddle_destroy(saddle_solver **solver)
{
    if (!solver || !*solver) return;
    saddle_solver *s = *solver;
    forget_analysis(s);
    saddle_set_given(s, 0, NULL);
    saddle_set_signs(s, 0, NULL);
    sd_engine_close(&s->e);
    sd_context c = s->c;
    sd_free(&c, s);
    *solver = NULL;
}

/* The end of analyse and factor: info says what the call returned. */
static saddle_status conclude(saddle_solver *s, saddle_status status)
{
    s->info.status = status;
    if (!status) s->c.message[0] = '\0';
    memcpy(s->info.message, s->c.message, sizeof s->info.message);
    s->info.peak_bytes = s->c.peak;
    return status;
}

/* Copies the values and checks them: each finite, their sums too, and symmetric where that was said. */
static saddle_status take_values(saddle_solver *s, const saddle_matrix *A)
{
    saddle_status status = sd_view_check_values(&s->c, A, NULL);
    if (status) return status;
    if (!s->A.val) s->A.val = sd_alloc(&s->c, s->A.nnz, sizeof *s->A.val, "values");
    if (!s->A.val) return s->c.status;
    sd_csr_take_values(&s->A, A, s->map);
    if (s->map) status = sd_csr_check_sums(&s->c, A, &s->A);
    if (status) return status;
    return s->shape == SADDLE_FULL ? sd_require_symmetric(&s->c, &s->A) : SADDLE_OK;
}

/* The matrix is looked at in memory that the direct solver has anyway, where it has been run before. */
static saddle_status look_at_values(saddle_solver *s)
{
    sd_storage *storage = s->direct.factors[s->direct.precision].storage;
    const int64_t bytes = sd_inspect_bytes(&s->A);
    void *room = storage ? sd_storage_take(&s->c, storage, bytes, "row sums") : NULL;
    const saddle_status status = sd_csr_inspect(&s->c, &s->A, &s->facts, room);
    if (room) sd_storage_give(storage, room, bytes);
    return status;
}

/* Takes the values and finds out what the matrix is. */
static saddle_status inspect_values(saddle_solver *s, const saddle_matrix *A)
{
    saddle_status status = take_values(s, A);
    s->facts = (saddle_facts){
        .size = sizeof s->facts, .rows = A->rows, .columns = A->columns, .entries = A->entries};
    if (!status) status = sd_progress(&s->c, "factor", 1, 3, NAN);
    if (!status) status = look_at_values(s);
    return status;
}

/* Whether the options may lead to a plan that values shape. */
static bool plans_by_values(const saddle_solver *s)
{
    return s->options.method != SADDLE_METHOD_DIAGONAL && s->options.method != SADDLE_METHOD_NONE;
}

static saddle_status analyse(saddle_solver *s, const saddle_matrix *A)
{
    const double start = sd_seconds();
    forget_analysis(s);
    saddle_status status = sd_progress(&s->c, "analyse", 0, 1, NAN);
    if (!status) status = sd_view_check(&s->c, A, NULL);
    if (status) return status;
    saddle_matrix pattern = *A;
    pattern.values = NULL;
    status = sd_csr_from_view(&s->c, &pattern, false, &s->A, &s->map);
    if (status) return status;
    s->fingerprint = sd_view_fingerprint(A);
    s->shape = A->shape;
    s->analysed = true;
    s->info.n = s->A.n;
    s->info.time_plan = sd_seconds() - start;
    if (!A->values || !plans_by_values(s)) return SADDLE_OK;
    status = inspect_values(s, A);
    if (!status && sd_wants_plan(s)) status = sd_plan_direct(s);
    if (!status && s->options.method == SADDLE_METHOD_DIRECT) status = sd_direct_fits(&s->c, &s->direct);
    if (!status && s->options.method == SADDLE_METHOD_BJACOBI) status = sd_plan_block_jacobi(s);
    if (!status && sd_is_ldlt(s->options.method)) status = sd_plan_ldlt(s);
    s->info.values_in_analysis =
        s->direct.planned || s->blocking.block_start || s->ldlt.preparation.block_start;
    return status;
}

/* Whether some attempt will run in this precision. */
static bool needs(const saddle_solver *s, sd_precision precision)
{
    return precision == SD_DOUBLE || s->options.precision != SADDLE_PRECISION_DOUBLE;
}

static bool uses(const saddle_solver *s, int method)
{
    for (int k = 0; k < s->methods; ++k)
        if (s->method[k] == method) return true;
    return false;
}

/* What the attempts need beside the direct solver. An operator that stands on A's own arrays stays. */
static saddle_status prepare_attempts(saddle_solver *s)
{
    saddle_status status = SADDLE_OK;
    for (int p = 0; p < SD_PRECISIONS && !status; ++p) {
        if (!needs(s, p)) continue;
        if (!sd_operator_refresh(&s->op[p], &s->A, s->facts.norm_inf)) {
            sd_operator_free(&s->e, &s->op[p]);
            status = sd_operator_make(&s->e, &s->A, p, SD_SUMS_BY_SLICES, &s->op[p]);
        }
        if (!status && uses(s, SADDLE_METHOD_DIAGONAL))
            status = sd_diagonal_make(&s->e, &s->A, s->op[p].exponent, p, &s->diagonal);
    }
    if (!status && uses(s, SADDLE_METHOD_BJACOBI)) status = sd_make_block_jacobi(s);
    if (!status && sd_is_ldlt(s->method[0])) status = sd_begin_ldlt(s);
    return status ? status : sd_engine_finish(&s->e); /* every solve has an engine of its own */
}

static saddle_status factor(saddle_solver *s, const saddle_matrix *A)
{
    saddle_status status = SADDLE_OK;
    if (!s->analysed)
        status = analyse(s, A);
    else if ((status = sd_view_check(&s->c, A, NULL)) == SADDLE_OK &&
             sd_view_fingerprint(A) != s->fingerprint)
        status = sd_fail(&s->c, SADDLE_PATTERN_CHANGED,
                         "the pattern is not the one that was analysed: call saddle_analyse again");
    if (status) return status;
    const double start = sd_seconds();
    forget_factors(s);
    status = sd_progress(&s->c, "factor", 0, 3, NAN);
    if (!status) status = inspect_values(s, A);
    const int64_t before = s->c.bytes;
    if (!status) status = sd_progress(&s->c, "factor", 2, 3, NAN);
    s->info.nnz = s->facts.nnz;
    s->info.symmetric = s->facts.symmetric;
    s->info.kind = s->facts.kind;
    double spent = -s->info.time_prepare - s->info.time_plan;
    if (!status) status = sd_choose_methods(s);
    if (!status) status = prepare_attempts(s);
    spent += s->info.time_prepare + s->info.time_plan;
    if (status) return status;
    const sd_sparse *product = &s->op[SD_DOUBLE].sparse;
    sd_log(&s->c, SADDLE_LOG_INFO, "n %d, %lld entries %s, products in %d slices", s->A.n,
           (long long)product->nnz, product->half ? "of a triangle" : "stored", product->slices);
    s->factored = true;
    s->info.time_factor = sd_seconds() - start - spent;
    if (s->method[0] != SADDLE_METHOD_DIAGONAL && s->method[0] != SADDLE_METHOD_NONE) return SADDLE_OK;
    s->info.factor_bytes = s->c.bytes - before;
    const bool diagonal = s->method[0] == SADDLE_METHOD_DIAGONAL;
    s->info.factor_nnz = s->info.factor_flops = diagonal ? s->A.n : 0;
    s->info.perturbed = diagonal ? s->diagonal.replaced : 0;
    return SADDLE_OK;
}

saddle_status saddle_analyse(saddle_solver *solver, const saddle_matrix *A)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    saddle_matrix view;
    saddle_status status = sd_view_take(&solver->c, A, &view);
    if (status)
        forget_analysis(solver);
    else
        status = analyse(solver, &view);
    return conclude(solver, status);
}

saddle_status saddle_factor(saddle_solver *solver, const saddle_matrix *A)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    saddle_matrix view;
    saddle_status status = sd_view_take(&solver->c, A, &view);
    if (!status) status = factor(solver, &view);
    if (status) {
        forget_factors(solver);
        forget_operators(solver);
    }
    return conclude(solver, status);
}

saddle_status saddle_query(const saddle_solver *solver, saddle_info *info)
{
    if (!solver || !info || info->size < sizeof info->size) return SADDLE_BAD_ARGUMENT;
    sd_info_give(&solver->info, info);
    return SADDLE_OK;
}

const char *saddle_message(const saddle_solver *solver)
{
    return solver ? solver->info.message : "the solver is NULL";
}
