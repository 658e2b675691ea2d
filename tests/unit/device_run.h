/* What the tests of fronts on a device share: a matrix as a device has it, and some to factor. */
#pragma once

#include "backend_or_skip.h"
#include "csr_of.h"
#include "factoring.h"

#include "backend/front_run.h"
#include "factor/multifrontal.h"
#include "prepare/order.h"

typedef struct device_run {
    sd_context c;
    sd_device d;
    sd_engine e;
    sd_csr A;
    sd_tree tree;
    sd_schedule s;
    sd_factors host; /* for its values */
    sd_front_run *run;
    sd_precision precision;
    sd_run_result result;
    sd_run_pivots pivots; /* as they came with the result */
} device_run;

static inline void make_tree(device_run *t)
{
    sd_context *c = &t->c;
    sd_graph g = {0};
    int64_t taken_out;
    int32_t *order = test_alloc((size_t)t->A.n, sizeof *order);
    assert_int_equal(sd_graph_from_csr(c, &t->A, true, NULL, &g), SADDLE_OK);
    assert_int_equal(sd_order_graph(c, &g, SADDLE_ORDER_AMD, order, &taken_out), SADDLE_OK);
    assert_int_equal(sd_tree_make(c, &t->A, &g, order, NULL, true, &t->tree), SADDLE_OK);
    assert_int_equal(sd_schedule_make(c, &t->tree, &t->s), SADDLE_OK);
    sd_graph_free(c, &g);
    free(order);
}

/* Everything up to the run itself, whose status this is; to be freed in any case. */
static inline saddle_status run_open(device_run *t, const sd_backend *cuda, const dense *d,
                                     sd_precision precision, double slack, int64_t limit)
{
    *t = (device_run){.precision = precision};
    double *scale = test_alloc((size_t)d->n, sizeof *scale);
    for (int i = 0; i < d->n; ++i) scale[i] = 1;
    sd_context_init(&t->c, NULL, 0);
    t->A = csr_of(&t->c, d);
    make_tree(t);
    assert_int_equal(sd_factors_make(&t->c, &t->tree, sd_cpu()->fronts, precision, 0.5, &t->host), SADDLE_OK);
    sd_factors_take(&t->host, &t->A, scale, 0, 1);
    free(scale);
    t->pivots = (sd_run_pivots){test_alloc((size_t)t->tree.fronts, sizeof *t->pivots.front),
                                test_alloc((size_t)d->n, sizeof *t->pivots.variable),
                                test_alloc(2 * (size_t)d->n, sizeof *t->pivots.d)};
    open_engine_on(&t->c, cuda, 1, &t->d, &t->e);
    assert_non_null(cuda->fronts);
    return cuda->fronts->make(&t->e, &t->tree, &t->s, precision, slack, limit, &t->run);
}

static inline saddle_status run_factor(device_run *t, double u, sd_presolve presolve, bool profile)
{
    const sd_pivoting pivoting = {
        .rule = SD_PIVOT_THRESHOLD, .u = u, .small = t->precision == SD_DOUBLE ? 1e-14 : 1e-6};
    const sd_run_job job = {.values = t->host.values,
                            .pivoting = &pivoting,
                            .presolve = presolve,
                            .profile = profile,
                            .pivots = &t->pivots};
    return t->e.backend->fronts->factor(&t->e, t->run, &job, &t->result);
}

static inline void run_free(device_run *t)
{
    t->e.backend->fronts->free(&t->e, t->run);
    sd_engine_close(&t->e);
    sd_device_close(&t->c, &t->d);
    sd_factors_free(&t->c, &t->host);
    sd_schedule_free(&t->c, &t->s);
    sd_tree_free(&t->c, &t->tree);
    sd_csr_free(&t->c, &t->A);
    free(t->pivots.front);
    free(t->pivots.variable);
    free(t->pivots.d);
    assert_int_equal(t->c.bytes, 0);
}

/* Fronts that are cut into pieces: full blocks of `size`, joined in a chain by a few rows each. */
static inline dense chain_problem(rng *r, int blocks, int size, int joint)
{
    dense d = dense_new(blocks * (size - joint) + joint);
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < size; ++i)
            for (int j = 0; j <= i; ++j) {
                const int p = b * (size - joint) + i, q = b * (size - joint) + j;
                set_both(&d, p, q, rng_unit(r));
            }
    return d;
}
