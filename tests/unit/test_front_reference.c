/*
 * The reference kernels on fronts against what they mean: the front multiplied together again from L, D and
 * the rest, the bound on L, counts of pivots, solves against dense ones, assembly against a dense sum.
 */
#include "fronts.h"

enum { ROUNDS = 400 };

static const sd_front_kernels *const tables = sd_fronts_reference;

static void fronts_multiply_together_again(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    int delayed[FRONT_KINDS] = {0};
    for (int round = 0; round < ROUNDS; ++round) {
        const front_kind kind = (front_kind)(round % FRONT_KINDS);
        const int columns = 1 + rng_below(&r, 20), below = rng_below(&r, round % 50 == 49 ? 180 : 30);
        test_front t = front_new(tables, rng_below(&r, 2), columns + below, columns, rng_below(&r, 3));
        const sd_pivoting pivoting = threshold_of(below == 0);
        front_fill(&t, &r, kind);
        front_load(&t, rng_below(&r, 2));
        front_factor(&t, tables, &pivoting);
        assert_factored(&t, &pivoting);
        if (below == 0) assert_int_equal(t.f.eliminated, columns);
        delayed[kind] += columns - t.f.eliminated;
        front_free(&t);
    }
    assert_true(delayed[FRONT_DELAYED] > 100);
    assert_int_equal(delayed[FRONT_DOMINANT], 0);
}

/* Rank and signature of B E B', E = diag(1, -1, 1 ..), B of full rank, as the root finds them. */
static void a_singular_root_has_its_rank(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 200; ++round) {
        const int n = 2 + rng_below(&r, 15), rank = rng_below(&r, n + 1);
        test_front t = front_new(tables, 0, n, n, 0);
        for (int i = 0; i < n; ++i) /* whole rows beyond the rank repeat earlier ones, so zeros are exact */
            for (int j = 0; j <= i; ++j)
                front_value(&t, i, j, i < rank && j < rank && i == j ? (i % 2 ? -3 : 2) : 0);
        for (int i = rank; i < n && rank > 0; ++i) {
            const int copy = rng_below(&r, rank);
            for (int j = 0; j < i; ++j) front_value(&t, i, j, t.a[(j == i ? copy : j) * n + copy]);
            front_value(&t, i, i, t.a[copy * n + copy]);
        }
        front_load(&t, false);
        const sd_pivoting pivoting = threshold_of(true);
        front_factor(&t, tables, &pivoting);
        assert_int_equal(t.f.eliminated, n);
        assert_int_equal(t.pivots.zero, n - rank);
        assert_int_equal(t.pivots.negative, rank / 2);
        assert_int_equal(t.pivots.positive, rank - rank / 2);
        assert_factored(&t, &pivoting);
        front_free(&t);
    }
}

static void a_zero_column_is_a_zero_pivot_and_no_delay(void **state)
{
    (void)state;
    test_front t = front_new(tables, 0, 5, 2, 0);
    front_value(&t, 1, 1, 4);
    front_value(&t, 4, 1, 2);
    front_value(&t, 3, 0, 1e-21);
    front_load(&t, false);
    front_factor(&t, tables, &threshold);
    assert_int_equal(t.f.eliminated, 2);
    assert_int_equal(t.pivots.zero, 1);
    assert_int_equal(t.pivots.positive, 1);
    assert_true(tables[0].largest(&t.f) == 0.5);
    front_free(&t);
}

/* [0 x; x 0] with rows below: one 2x2 pivot, its L bounded. */
static void a_zero_diagonal_takes_a_pair(void **state)
{
    (void)state;
    test_front t = front_new(tables, 0, 4, 2, 0);
    front_value(&t, 1, 0, 2);
    front_value(&t, 2, 0, 6);
    front_value(&t, 3, 1, 8);
    front_load(&t, true);
    front_factor(&t, tables, &threshold);
    assert_int_equal(t.pivots.two_by_two, 1);
    assert_int_equal(t.pivots.negative, 1);
    assert_int_equal(t.pivots.positive, 1);
    assert_true(front_at(&t.f, 0, 1, 0) == 0);
    assert_true(front_at(&t.f, 0, 2, 1) == 3 && front_at(&t.f, 0, 3, 0) == 4);
    assert_true(front_at(&t.f, 0, 3, 2) == -24);
    front_free(&t);
}

static void a_nan_does_not_hang_and_is_seen(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 200; ++round) {
        const int columns = 2 + rng_below(&r, 8), below = rng_below(&r, 2) * rng_below(&r, 5);
        test_front t = front_new(tables, round % 2, columns + below, columns, 0);
        front_fill(&t, &r, FRONT_RANDOM);
        assert_nan_seen(&t, tables, &r, round % 3 ? NAN : INFINITY);
        front_free(&t);
    }
}

static void positive_pivots_stop_at_the_first_that_is_not(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    const sd_pivoting positive = {.rule = SD_PIVOT_POSITIVE};
    for (int round = 0; round < 100; ++round) {
        const int columns = 1 + rng_below(&r, 20), rows = columns + rng_below(&r, 20);
        const int bad = rng_below(&r, 2 * columns);
        test_front t = front_new(tables, round % 2, rows, columns, 1);
        front_fill(&t, &r, FRONT_DOMINANT);
        for (int i = 0; i < rows; ++i) front_value(&t, i, i, i == bad ? (round % 3 - 1) * 100 : rows + 1.0);
        front_load(&t, true);
        front_factor(&t, tables, &positive);
        if (bad >= columns || round % 3 == 2) {
            assert_int_equal(t.f.eliminated, columns);
            assert_int_equal(t.pivots.positive, columns);
            assert_true(front_error(&t) <= 20.0 * rows);
        } else {
            assert_int_equal(t.f.eliminated, bad);
        }
        front_free(&t);
    }
}

static void static_pivots_have_the_signs_they_should(void **state)
{
    (void)state;
    const int8_t signs[] = {1, 1, -1, -1, 0, 0, 0};
    const double given[] = {3, -1, -2, 5, -4, 1e-9, -1e-9}, taken[] = {3, 0.5, -2, -0.5, -4, 0.5, -0.5};
    sd_pivoting fixed = {.rule = SD_PIVOT_STATIC, .regularise = 0.5, .signs = signs};
    test_front t = front_new(tables, 0, 8, 7, 0);
    for (int k = 0; k < 7; ++k) {
        front_value(&t, k, k, given[k]);
        front_value(&t, 7, k, 1);
    }
    front_load(&t, false);
    front_factor(&t, tables, &fixed);
    assert_int_equal(t.f.eliminated, 7);
    for (int k = 0; k < 7; ++k) {
        assert_true(number_at(t.f.d, 0, 2 * k) == taken[k] && number_at(t.f.d, 0, 2 * k + 1) == 0);
        assert_true(front_at(&t.f, 0, 7, k) == 1 / taken[k]);
    }
    assert_int_equal(t.pivots.perturbed, 4);
    assert_int_equal(t.pivots.positive, 3);
    assert_int_equal(t.pivots.negative, 4);
    front_free(&t);
}

/* L' (L w) from w by the dense product is undone by forward and backward. */
static void solves_undo_products(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 200; ++round) {
        const int columns = 1 + rng_below(&r, 12), rows = columns + rng_below(&r, 20),
                  k = 1 + rng_below(&r, 4);
        test_front t = front_new(tables, 0, rows, columns, 1);
        front_fill(&t, &r, FRONT_DELAYED);
        for (int i = 0; i < columns; i += 2) front_value(&t, i, i, 500);
        front_load(&t, true);
        front_factor(&t, tables, &threshold);
        const int e = t.f.eliminated, n = rows * k;
        double *x = test_alloc((size_t)n, sizeof *x), *lx = test_alloc((size_t)n, sizeof *x);
        double *ltx = test_alloc((size_t)n, sizeof *x);
        for (int i = 0; i < n; ++i) x[i] = rng_unit(&r);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < rows; ++j)
                for (int c = 0; c < k; ++c) {
                    lx[i * k + c] += (j < e ? front_l(&t, i, j) : i == j) * x[j * k + c];
                    ltx[i * k + c] += (i < e ? front_l(&t, j, i) : i == j) * x[j * k + c];
                }
        tables[0].forward(&t.f, k, lx);
        tables[0].backward(&t.f, k, ltx);
        for (int i = 0; i < n; ++i) {
            assert_true(fabs(lx[i] - x[i]) < 1e-9);
            assert_true(fabs(ltx[i] - x[i]) < 1e-9);
        }
        free(x);
        free(lx);
        free(ltx);
        front_free(&t);
    }
}

static void entries_go_below_the_delays(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 2, 3};
    const int32_t row[] = {0, 3, 1};
    const double value[] = {1, 2, 3};
    test_front t = front_new(tables, 1, 6, 4, 0);
    t.f.delays = 2;
    front_load(&t, false);
    for (int twice = 0; twice < 2; ++twice)
        for (int k = 0; k < 4; ++k) /* a column at a time */
            tables[1].add_entries(&t.f, &(sd_front_entries){ptr, row, value}, &(sd_span){k, k + 1, true});
    for (int j = 0; j < 4; ++j)
        for (int i = j; i < 6; ++i) {
            const double wanted = i == 2 && j == 2 ? 2 : i == 5 && j == 2 ? 4 : i == 3 && j == 3 ? 6 : 0;
            assert_true(front_at(&t.f, 1, i, j) == wanted);
        }
    front_free(&t);
}

/* Two children with delays and rests, added to a parent: a dense sum by place. */
static void children_add_up(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 200; ++round) {
        const int s = round % 2, own = 1 + rng_below(&r, 10), below = rng_below(&r, round % 20 ? 20 : 200);
        const int late[2] = {rng_below(&r, 3), rng_below(&r, 3)}, delays = late[0] + late[1];
        test_front t = front_new(tables, s, delays + own + below, delays + own, 0);
        t.f.delays = delays;
        front_load(&t, false);
        double *sum = test_alloc((size_t)(t.f.rows * t.f.rows), sizeof *sum);
        bool inner = false;
        sd_span span[2] = {{0, rng_below(&r, t.f.rows + 1), true}, {0, t.f.rows, true}};
        span[1].from = span[0].to;
        for (int c = 0, at = 0; c < 2; at += late[c++]) {
            const int q = rng_below(&r, own + below + 1), done = rng_below(&r, 4);
            int32_t *place = test_alloc((size_t)q + 1, sizeof *place);
            for (int k = 0, p = 0; p < own + below && k < q; ++p)
                if (rng_below(&r, own + below - p) < q - k) place[k++] = p;
            test_front child = front_new(tables, s, done + late[c] + q, done + late[c], 2);
            for (int i = 0; i < child.f.rows; ++i)
                for (int j = 0; j <= i; ++j) front_value(&child, i, j, rng_sixteenth(&r));
            front_load(&child, true);
            child.f.eliminated = done;
            for (int k = 0; k < 2; ++k) tables[s].add_child(&t.f, &child.f, place, at, &span[k]);
            for (int j = done; j < child.f.rows; ++j) {
                const int m = child.f.columns, to = j < m ? at + j - done : delays + place[j - m];
                if (j < m) assert_int_equal(t.f.variable[to], j);
                for (int i = j; i < child.f.rows; ++i)
                    sum[(i < m ? at + i - done : delays + place[i - m]) * t.f.rows + to] +=
                        child.a[i * child.f.rows + j];
                inner = inner || to >= t.f.columns;
            }
            free(place);
            front_free(&child);
        }
        for (int k = 0; k < 2; ++k) assert_int_equal(span[k].rest_empty, !inner);
        t.f.rest_empty = !inner;
        for (int j = 0; j < t.f.rows; ++j)
            for (int i = j; i < t.f.rows; ++i) assert_true(front_at(&t.f, s, i, j) == sum[i * t.f.rows + j]);
        free(sum);
        front_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_multiply_together_again),
        cmocka_unit_test(a_singular_root_has_its_rank),
        cmocka_unit_test(a_zero_column_is_a_zero_pivot_and_no_delay),
        cmocka_unit_test(a_zero_diagonal_takes_a_pair),
        cmocka_unit_test(a_nan_does_not_hang_and_is_seen),
        cmocka_unit_test(positive_pivots_stop_at_the_first_that_is_not),
        cmocka_unit_test(static_pivots_have_the_signs_they_should),
        cmocka_unit_test(solves_undo_products),
        cmocka_unit_test(entries_go_below_the_delays),
        cmocka_unit_test(children_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
