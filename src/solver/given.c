/*
 * What the caller gives in addition to the matrix: scaling, order, signs. Copies, kept by the solver and
 * freed with it. Each is checked here on its own; whether it fits the matrix shows at the next analysis or
 * factorization, which makes its plan anew where that depends on what was given.
 */
#include "prepare/order.h"
#include "prepare/scaling.h"
#include "solver/solver.h"

#include <string.h>

/* A copy of n numbers, or NULL where there are none; *failed is set where there is no memory. */
static void *copy(sd_context *c, int64_t n, size_t size, const void *from, bool *failed)
{
    if (!from) return NULL;
    void *to = sd_alloc(c, n, size, "what the caller gave");
    if (to)
        memcpy(to, from, (size_t)n * size);
    else
        *failed = true;
    return to;
}

static void drop(saddle_solver *s, const void *block)
{
    void *owned;
    memcpy(&owned, &block, sizeof owned); /* what is const to its readers is ours */
    sd_free(&s->c, owned);
}

/* What went wrong is said by saddle_message, as for analyse and factor. */
static saddle_status tell(saddle_solver *s, saddle_status status)
{
    return sd_tell(&s->c, status, s->info.message);
}

static saddle_status check_count(sd_context *c, const char *call, int64_t n)
{
    if (n >= 0 && n <= INT32_MAX) return SADDLE_OK;
    return sd_fail(c, SADDLE_BAD_ARGUMENT, "%s: n is %lld", call, (long long)n);
}

static saddle_status check_given(sd_context *c, int64_t n, const saddle_given *g)
{
    saddle_status status = check_count(c, "saddle_set_given", n);
    if (!status && g->row_scale) status = sd_scale_check(c, g->row_scale, (int32_t)n, "row_scale");
    if (!status && g->col_scale) status = sd_scale_check(c, g->col_scale, (int32_t)n, "col_scale");
    if (!status && g->permutation) status = sd_order_check(c, g->permutation, (int32_t)n, "permutation");
    return status;
}

saddle_status saddle_set_given(saddle_solver *solver, int64_t n, const saddle_given *given)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    const saddle_status status = given ? check_given(&solver->c, n, given) : SADDLE_OK;
    if (status) return tell(solver, status);
    bool failed = false;
    saddle_given kept = {0};
    if (given) {
        kept.row_scale = copy(&solver->c, n, sizeof(double), given->row_scale, &failed);
        if (given->col_scale != given->row_scale) /* NULL is the same */
            kept.col_scale = copy(&solver->c, n, sizeof(double), given->col_scale, &failed);
        kept.permutation = copy(&solver->c, n, sizeof(int32_t), given->permutation, &failed);
    }
    const saddle_given old = failed ? kept : solver->given;
    drop(solver, old.row_scale);
    drop(solver, old.col_scale);
    drop(solver, old.permutation);
    if (failed) return tell(solver, solver->c.status);
    solver->given = kept;
    solver->given_n = n;
    solver->given_anew = true;
    sd_many_lend_given(solver);
    return SADDLE_OK;
}

saddle_status saddle_set_signs(saddle_solver *solver, int64_t n, const int8_t *signs)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    if (signs && check_count(&solver->c, "saddle_set_signs", n)) return tell(solver, solver->c.status);
    for (int64_t i = 0; signs && i < n; ++i) {
        if (signs[i] >= -1 && signs[i] <= 1) continue;
        return tell(solver, sd_fail(&solver->c, SADDLE_BAD_ARGUMENT,
                                    "saddle_set_signs: sign %lld (counted from 1) is %d, not 1, -1 or 0",
                                    (long long)i + 1, signs[i]));
    }
    bool failed = false;
    int8_t *kept = copy(&solver->c, n, sizeof *kept, signs, &failed);
    if (failed) return tell(solver, solver->c.status);
    sd_free(&solver->c, solver->signs);
    solver->signs = kept;
    solver->signs_n = n;
    sd_many_lend_given(solver);
    return SADDLE_OK;
}
