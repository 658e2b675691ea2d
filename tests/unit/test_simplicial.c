/*
 * The kernels of LDL' without fronts: those of every instruction set give what the reference gives, refuse
 * what it refuses, and give every right-hand side the bits that it has alone.
 */
#include "helpers.h"

#include "csr_of.h"

#include "backend/cpu/cpu.h"
#include "factor/multifrontal.h"
#include "factor/simplicial.h"
#include "prepare/graph.h"

enum { SIZE = 40, ROUNDS = 60, RHS = 5 };

/* A tree in the order of the rows, its values, and pairs here and there. */
typedef struct material {
    sd_context c;
    sd_tree tree;
    sd_factors f;
    bool pair[SIZE];
} material;

static void material_make(material *m, rng *r)
{
    dense d = dense_random(r, SIZE, 0.08, true);
    int32_t order[SIZE];
    double scale[SIZE];
    sd_graph g;
    sd_context_init(&m->c, NULL, 0);
    for (int i = 0; i < SIZE; ++i) {
        order[i] = i;
        scale[i] = 1;
        dense_set(&d, i, i, (rng_below(r, 2) ? 4 : -4) + rng_unit(r));
    }
    sd_csr A = csr_of(&m->c, &d);
    assert_int_equal(sd_graph_from_csr(&m->c, &A, true, NULL, &g), SADDLE_OK);
    assert_int_equal(sd_tree_make(&m->c, &A, &g, order, NULL, false, &m->tree), SADDLE_OK);
    assert_int_equal(sd_factors_make(&m->c, &m->tree, sd_fronts_reference, SD_DOUBLE, 0, &m->f), SADDLE_OK);
    sd_factors_take(&m->f, &A, scale, 0, 1);
    for (int k = 0; k < SIZE; ++k)
        m->pair[k] = k + 1 < SIZE && !(k > 0 && m->pair[k - 1]) && !rng_below(r, 4);
    sd_graph_free(&m->c, &g);
    sd_csr_free(&m->c, &A);
    dense_free(&d);
}

static void material_free(material *m)
{
    sd_factors_free(&m->c, &m->f);
    sd_tree_free(&m->c, &m->tree);
}

static sd_simplicial *columns_of(material *m, bool pairs)
{
    sd_simplicial *made;
    int32_t *variable = sd_alloc(&m->c, SIZE, sizeof *variable, "sequence of pivots");
    assert_non_null(variable);
    for (int32_t k = 0; k < SIZE; ++k) variable[k] = k;
    assert_int_equal(sd_simplicial_make(&m->c, &m->tree, variable, pairs ? m->pair : NULL, &made), SADDLE_OK);
    return made;
}

static void assert_near(int64_t n, const double *a, const double *b)
{
    for (int64_t k = 0; k < n; ++k) assert_true(fabs(a[k] - b[k]) <= 1e-9 * (1 + fabs(b[k])));
}

static void check_solves(const sd_simplicial_kernels *kernels, const sd_simplicial *mine,
                         const sd_simplicial *theirs, rng *r)
{
    for (int32_t k = 1; k <= RHS; ++k) {
        for (int way = 0; way < 3; ++way) {
            double x[SIZE * RHS], y[SIZE * RHS], one[SIZE];
            for (int i = 0; i < SIZE * k; ++i) x[i] = y[i] = rng_unit(r);
            for (int i = 0; i < SIZE; ++i) one[i] = x[i * k + k - 1];
            if (way == 0) {
                kernels->forward(mine, k, x);
                kernels->forward(mine, 1, one);
                sd_simplicial_reference.forward(theirs, k, y);
            } else {
                kernels->backward(mine, way == 1, k, x);
                kernels->backward(mine, way == 1, 1, one);
                sd_simplicial_reference.backward(theirs, way == 1, k, y);
            }
            assert_near((int64_t)SIZE * k, x, y);
            for (int i = 0; i < SIZE; ++i) assert_memory_equal(&one[i], &x[i * k + k - 1], sizeof *one);
        }
    }
}

/* True where the pivots were taken. */
static bool check_kernels(const sd_simplicial_kernels *kernels, material *m, const sd_pivoting *rule, rng *r)
{
    const bool pairs = rule->rule == SD_PIVOT_THRESHOLD;
    sd_simplicial *mine = columns_of(m, pairs), *theirs = columns_of(m, pairs);
    sd_pivots found, expected;
    const bool taken = sd_simplicial_reference.run(theirs, m->f.values, rule, &expected);
    assert_int_equal(kernels->run(mine, m->f.values, rule, &found), taken);
    for (int k = 0; k < SIZE; ++k) assert_true(mine->y[k] == 0); /* ready for the next */
    if (taken) {
        assert_near(mine->s.node[mine->s.nodes - 1].end, mine->l, theirs->l);
        assert_near(2 * SIZE, mine->d, theirs->d);
        assert_memory_equal(&found, &expected, sizeof found);
        assert_near(1, &mine->least, &theirs->least);
        assert_int_equal(found.positive + found.negative + found.zero, SIZE);
        check_solves(kernels, mine, theirs, r);
    }
    sd_simplicial_free(&m->c, mine);
    sd_simplicial_free(&m->c, theirs);
    return taken;
}

static void every_instruction_set_gives_what_the_reference_gives(void **state)
{
    (void)state;
    rng r = rng_start("columns' kernels");
    const sd_pivoting rules[] = {{.rule = SD_PIVOT_THRESHOLD, .u = 1e-3, .small = 1e-150},
                                 {.rule = SD_PIVOT_THRESHOLD, .u = 0.5, .small = 1e-150},
                                 {.rule = SD_PIVOT_STATIC, .regularise = 4.2},
                                 {.rule = SD_PIVOT_POSITIVE}};
    enum { RULES = sizeof rules / sizeof *rules };
    int taken[RULES] = {0}, refused[RULES] = {0};
    for (int round = 0; round < ROUNDS; ++round) {
        material m;
        material_make(&m, &r);
        for (int isa = 0; isa < sd_cpu_isa_count && sd_cpu_isas[isa].supported(); ++isa) {
            for (int k = 0; k < RULES; ++k) {
                const sd_simplicial_kernels *kernels = sd_cpu_isas[isa].fronts[SD_DOUBLE].simplicial;
                ++*(check_kernels(kernels, &m, &rules[k], &r) ? &taken[k] : &refused[k]);
            }
        }
        material_free(&m);
    }
    assert_true(taken[0] > 0 && taken[2] > 0);
    assert_true(refused[1] > 0 && refused[3] > 0 && refused[2] == 0);
}

/* Two sequences of the same pivots, one with places. True where the pivots were taken. */
static bool check_columns(const sd_simplicial_kernels *kernels, material *m, bool pairs,
                          const sd_pivoting *rule)
{
    sd_simplicial *rows = columns_of(m, pairs), *columns = columns_of(m, pairs);
    const size_t entries = (size_t)rows->s.node[rows->s.nodes - 1].end, pivots = 2 * SIZE;
    bool taken = false;
    assert_true(sd_sequence_has_places(&columns->s));
    assert_int_equal(sd_sequence_place(&m->c, &columns->s), SADDLE_OK);
    for (int again = 0; again < 2; ++again) { /* a run does not depend on what the last one left */
        sd_pivots by_rows, by_columns;
        taken = kernels->run(rows, m->f.values, rule, &by_rows);
        assert_int_equal(kernels->run(columns, m->f.values, rule, &by_columns), taken);
        for (int k = 0; k < SIZE; ++k) assert_true(rows->y[k] == 0 && columns->y[k] == 0);
        if (!taken) continue;
        assert_memory_equal(columns->l, rows->l, entries * sizeof *rows->l);
        assert_memory_equal(columns->d, rows->d, pivots * sizeof *rows->d);
        assert_memory_equal(columns->inverse, rows->inverse, pivots * sizeof *rows->inverse);
        assert_memory_equal(&by_columns, &by_rows, sizeof by_rows);
        assert_memory_equal(&columns->least, &rows->least, sizeof rows->least);
    }
    sd_simplicial_free(&m->c, columns);
    sd_simplicial_free(&m->c, rows);
    return taken;
}

static void columns_have_the_bits_of_rows(void **state)
{
    (void)state;
    rng r = rng_start("columns by rows and by columns");
    const sd_pivoting rules[] = {{.rule = SD_PIVOT_THRESHOLD, .u = 1e-3, .small = 1e-150},
                                 {.rule = SD_PIVOT_THRESHOLD, .u = 0.2, .small = 1e-150},
                                 {.rule = SD_PIVOT_STATIC, .regularise = 4.2},
                                 {.rule = SD_PIVOT_POSITIVE}};
    int taken = 0, refused = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        material m;
        material_make(&m, &r);
        for (int isa = 0; isa < sd_cpu_isa_count && sd_cpu_isas[isa].supported(); ++isa) {
            const sd_simplicial_kernels *kernels = sd_cpu_isas[isa].fronts[SD_DOUBLE].simplicial;
            for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k) {
                const bool pairs = rules[k].rule == SD_PIVOT_THRESHOLD && round % 2 == 0;
                ++*(check_columns(kernels, &m, pairs, &rules[k]) ? &taken : &refused);
            }
        }
        material_free(&m);
    }
    assert_true(taken > 0 && refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_the_bits_of_rows),
        cmocka_unit_test(every_instruction_set_gives_what_the_reference_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
