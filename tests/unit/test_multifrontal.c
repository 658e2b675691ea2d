/*
 * The multifrontal factorization as tasks: whoever runs a front, and whenever that is, its bits are the same.
 * The kernels are the CPU's, some of which sleep for a random time before they begin.
 */
#include "helpers.h"

#include "backend/cpu/cpu.h"
#include "factor/multifrontal.h"
#include "prepare/order.h"

#include <time.h>

enum { SIDE = 60, MOST_NANOSECONDS = 200000 };

/* (I + L, -I; -I, 0) with the Laplacian L of a grid, values a little different: indefinite, with delays. */
static void make_matrix(sd_context *c, sd_csr *A)
{
    const int32_t half = SIDE * SIDE, n = 2 * half;
    int32_t *colptr = test_alloc((size_t)n + 1, sizeof *colptr), k = 0;
    int32_t *rowind = test_alloc(4 * (size_t)n, sizeof *rowind);
    double *values = test_alloc(4 * (size_t)n, sizeof *values);
    rng r = {1};
    for (int32_t j = 0; j < n; ++j) {
        const int32_t row[] = {j, j % SIDE < SIDE - 1 ? j + 1 : n, j + SIDE < half ? j + SIDE : n, j + half};
        colptr[j] = k;
        for (int e = 0; e < (j < half ? 4 : 0); ++e) {
            if (row[e] == n) continue;
            values[k] = (e == 0 ? 4.5 : -1) * (1 + 0.1 * rng_unit(&r));
            rowind[k++] = row[e];
        }
    }
    colptr[n] = k;
    const saddle_matrix view = saddle_symmetric(n, colptr, rowind, values);
    assert_int_equal(sd_csr_from_view(c, &view, false, A, NULL), SADDLE_OK);
    free(colptr);
    free(rowind);
    free(values);
}

static void make_tree(sd_context *c, const sd_csr *A, sd_tree *tree)
{
    sd_csr whole = {0};
    sd_graph g = {0};
    int64_t taken_out;
    int32_t *order = test_alloc((size_t)A->n, sizeof *order);
    assert_int_equal(sd_csr_expand(c, A, &whole), SADDLE_OK);
    assert_int_equal(sd_graph_from_csr(c, &whole, true, NULL, &g), SADDLE_OK);
    assert_int_equal(sd_order_graph(c, &g, SADDLE_ORDER_AMD, order, &taken_out), SADDLE_OK);
    assert_int_equal(sd_tree_make(c, A, &g, order, NULL, true, tree), SADDLE_OK);
    assert_true(tree->groups > 1); /* or there would be nothing to share */
    sd_graph_free(c, &g);
    sd_csr_free(c, &whole);
    free(order);
}

/* ---- kernels that sleep ---- */

static void doze(void)
{
    struct timespec now, wait = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    wait.tv_nsec = now.tv_nsec / 7 * 2654435761L % MOST_NANOSECONDS;
    nanosleep(&wait, NULL);
}

#define DOZING(single, name)                                                                                 \
    static void factor_##name(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots, void *work,       \
                              sd_crew *crew)                                                                 \
    {                                                                                                        \
        doze();                                                                                              \
        sd_cpu()->fronts[single].factor(f, pivoting, pivots, work, crew);                                    \
    }                                                                                                        \
    static void update_##name(sd_front *f, void *work, const sd_filling *filling, sd_crew *crew)             \
    {                                                                                                        \
        if (f->rows % 4 == 0) doze();                                                                        \
        sd_cpu()->fronts[single].update(f, work, filling, crew);                                             \
    }
DOZING(0, double)
DOZING(1, single)

static void make_dozing(sd_front_kernels kernels[SD_PRECISIONS])
{
    memcpy(kernels, sd_cpu()->fronts, SD_PRECISIONS * sizeof *kernels);
    kernels[SD_DOUBLE].factor = factor_double;
    kernels[SD_DOUBLE].update = update_double;
    kernels[SD_SINGLE].factor = factor_single;
    kernels[SD_SINGLE].update = update_single;
}

/* ---- runs ---- */

static sd_factors factor(sd_context *c, const sd_csr *A, const sd_tree *tree, const sd_front_kernels *kernels,
                         sd_precision precision, int threads)
{
    const sd_factor_options options = {.pivoting = {.rule = SD_PIVOT_THRESHOLD, .u = 0.01, .small = 1e-20},
                                       .threads = threads};
    double *scale = test_alloc((size_t)A->n, sizeof *scale);
    sd_factors f;
    for (int32_t i = 0; i < A->n; ++i) scale[i] = 1;
    assert_int_equal(sd_factors_make(c, tree, kernels, precision, 0.5, &f), SADDLE_OK);
    sd_factors_take(&f, A, scale, 0, 1);
    assert_int_equal(sd_factors_run(c, &f, &options), SADDLE_OK);
    free(scale);
    return f;
}

static void assert_same_factors(const sd_factors *f, const sd_factors *g)
{
    assert_memory_equal(&f->pivots, &g->pivots, sizeof f->pivots);
    assert_int_equal(f->delayed, g->delayed);
    assert_int_equal(f->nnz, g->nnz);
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *a = &f->front[k], *b = &g->front[k];
        const size_t number = sd_precision_size(f->precision), columns = (size_t)a->columns;
        assert_int_equal(a->rows, b->rows);
        assert_int_equal(a->columns, b->columns);
        assert_int_equal(a->eliminated, b->eliminated);
        assert_memory_equal(a->variable, b->variable, columns * sizeof *a->variable);
        assert_memory_equal(a->d, b->d, 2 * (size_t)a->eliminated * number);
        for (int64_t j = 0; j < a->eliminated; ++j) /* below the diagonal */
            assert_memory_equal((char *)a->panel + (size_t)(j * a->ld + j + 1) * number,
                                (char *)b->panel + (size_t)(j * b->ld + j + 1) * number,
                                (size_t)(a->rows - j - 1) * number);
    }
}

static void whoever_runs_a_front_and_whenever_has_the_same_bits(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    sd_front_kernels dozing[SD_PRECISIONS];
    sd_context c;
    sd_csr A;
    sd_tree tree;
    sd_context_init(&c, NULL, 0);
    make_dozing(dozing);
    make_matrix(&c, &A);
    make_tree(&c, &A, &tree);
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        sd_factors first = factor(&c, &A, &tree, sd_cpu()->fronts, precision, 1);
        assert_true(first.delayed > 0);
        for (int run = 0; run < 8; ++run) {
            sd_factors again = factor(&c, &A, &tree, dozing, precision, threads[run % 4]);
            assert_same_factors(&first, &again);
            sd_factors_free(&c, &again);
        }
        sd_factors_free(&c, &first);
    }
    sd_tree_free(&c, &tree);
    sd_csr_free(&c, &A);
    assert_int_equal(c.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_runs_a_front_and_whenever_has_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
