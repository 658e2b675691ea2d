/* MA27's interface as Ipopt calls it: arrays that move or are too small, matrices that are found again,
 * orders. */
#include "host.h"

#include "adapters/hsl/ma27_cache.h"

static void test_ma27_factors_and_solves_as_ipopt_does(void **state)
{
    (void)state;
    ma27 s;
    ma27_begin(&s);
    for (int turn = 1; turn <= 3; ++turn) {
        double val[ENTRIES];
        for (int k = 0; k < ENTRIES; ++k) val[k] = val1[k] * turn;
        s.cntl[0] = pow(s.cntl[0], 0.75);
        ma27_factor(&s, val);
        assert_int_equal(s.info[0], 0);
        assert_int_equal(s.info[14], 2);
        assert_ma27_solves(&s, val);
        assert_ma27_solves(&s, val);
    }
    ma27_end(&s);
}

static void test_ma27_tells_singular_and_arrays_that_are_too_small(void **state)
{
    (void)state;
    ma27 s;
    double val[ENTRIES];
    ma27_begin(&s);
    memcpy(val, val1, sizeof val);
    val[4] = 0;
    ma27_factor(&s, val);
    assert_int_equal(s.info[0], MA27_SINGULAR);
    assert_int_equal(s.info[1], N - 1);
    const int la = s.la, liw = s.liw;
    s.la = 3;
    ma27_factor(&s, val1);
    assert_int_equal(s.info[0], MA27_A_TOO_SMALL);
    assert_int_equal(s.info[1], la);
    s.la = la;
    s.liw = 3;
    ma27_factor(&s, val1);
    assert_int_equal(s.info[0], MA27_IW_TOO_SMALL);
    assert_int_equal(s.info[1], liw);
    s.liw = liw;
    val[0] = INFINITY;
    ma27_factor(&s, val);
    assert_int_equal(s.info[0], MA27_FAILED);
    ma27_factor(&s, val1);
    assert_int_equal(s.info[0], 0);
    assert_ma27_solves(&s, val1);
    ma27_end(&s);
}

/* More analyses than are kept, arrays that move between the calls, two factorizations of one analysis. */
static void test_ma27_finds_its_matrix_whatever_is_kept(void **state)
{
    (void)state;
    enum { MANY = 3 * HSL_KEPT };
    static ma27 s[MANY];
    for (int k = 0; k < MANY; ++k) {
        ma27_begin(&s[k]);
        ma27_factor(&s[k], val1);
    }
    assert_true(hsl_keep_count() <= HSL_KEPT);
    for (int k = 0; k < MANY; ++k) { /* most of their solvers are gone by now */
        assert_ma27_solves(&s[k], val1);
        ma27_factor(&s[k], val1);
        assert_int_equal(s[k].info[14], 2);
    }
    ma27 *const one = &s[0];
    int *const iw = one->iw, *const other_iw = malloc((size_t)one->liw * sizeof *iw);
    double *const a = one->a, *const other_a = malloc((size_t)one->la * sizeof *a), val[ENTRIES];
    for (int k = 0; k < ENTRIES; ++k) val[k] = -3 * val1[k];
    one->iw = other_iw;
    one->a = other_a;
    ma27_factor(one, val);
    assert_int_equal(one->info[14], 3);
    assert_ma27_solves(one, val);
    one->iw = iw;
    one->a = a;
    assert_ma27_solves(one, val1);
    free(other_iw);
    free(other_a);
    for (int k = 0; k < MANY; ++k) ma27_end(&s[k]);
    assert_true(hsl_keep_count() <= HSL_KEPT);
}

static void test_ma27_solves_nothing_that_it_does_not_know(void **state)
{
    (void)state;
    ma27 s;
    double x[N] = {1, 2, 3, 4, 5};
    ma27_begin(&s);
    memset(s.iw, 7, (size_t)s.liw * sizeof *s.iw);
    ma27_solve(&s, x);
    assert_true(isnan(x[0]));
    ma27_end(&s);
}

static void test_ma27_takes_an_order(void **state)
{
    (void)state;
    const int n = N, nz = ENTRIES, iflag = 1;
    ma27 s;
    int room[64], length = 64;
    double ops;
    ma27_begin(&s);
    for (int i = 0; i < N; ++i) s.ikeep[i] = N - i;
    ma27ad_(&n, &nz, irn, icn, room, &length, s.ikeep, s.iw1, &s.nsteps, &iflag, s.icntl, s.cntl, s.info,
            &ops);
    assert_int_equal(s.info[0], 0);
    ma27_factor(&s, val1);
    assert_int_equal(s.info[14], 2);
    assert_ma27_solves(&s, val1);
    s.ikeep[0] = s.ikeep[1];
    ma27ad_(&n, &nz, irn, icn, room, &length, s.ikeep, s.iw1, &s.nsteps, &iflag, s.icntl, s.cntl, s.info,
            &ops);
    assert_int_equal(s.info[0], MA27_FAILED);
    ma27_end(&s);
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ma27_factors_and_solves_as_ipopt_does),
        cmocka_unit_test(test_ma27_tells_singular_and_arrays_that_are_too_small),
        cmocka_unit_test(test_ma27_finds_its_matrix_whatever_is_kept),
        cmocka_unit_test(test_ma27_solves_nothing_that_it_does_not_know),
        cmocka_unit_test(test_ma27_takes_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
