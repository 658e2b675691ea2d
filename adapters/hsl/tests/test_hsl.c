/*
 * The interfaces as Ipopt calls them: handles that were never set, changed thresholds, singular matrices,
 * flags, bases, parts of a solve, threads, and memory after thousands of solves. MA27 alone: test_ma27.c.
 */
#include "host.h"

#include "adapters/common/environment.h"
#include "adapters/common/handles.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void test_layouts_are_those_of_compiled_programs(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct ma97_control_d), 216);
    assert_int_equal(sizeof(struct ma97_info_d), 176);
    assert_int_equal(offsetof(struct ma97_control_d, u), 48);
    assert_int_equal(offsetof(struct ma97_control_d, factor_min), 72);
    assert_int_equal(offsetof(struct ma97_control_d, consist_tol), 104);
    assert_int_equal(offsetof(struct ma97_control_d, rspare), 136);
    assert_int_equal(offsetof(struct ma97_info_d, num_delay), 36);
    assert_int_equal(offsetof(struct ma97_info_d, num_neg), 56);
    assert_int_equal(offsetof(struct ma97_info_d, stat), 72);
}

static void test_ma97_factors_and_solves_as_ipopt_does(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double x[2 * N];
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    for (int turn = 1; turn <= 3; ++turn) {
        double val[ENTRIES];
        for (int k = 0; k < ENTRIES; ++k) val[k] = val1[k] * turn;
        ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
        assert_int_equal(info.flag, 0);
        assert_int_equal(info.num_neg, 2);
        assert_int_equal(info.matrix_rank, N);
        assert_true(info.num_factor > 0 && info.num_flops > 0);
        right_hand_side(val, x);
        right_hand_side(val, x + N);
        memset(&info, 1, sizeof info);
        ma97_solve_d(0, 2, x, N, &akeep, &fkeep, &control, &info);
        assert_int_equal(info.flag, 0);
        assert_int_equal(info.num_neg, 2);
        assert_solution(x);
        assert_solution(x + N);
    }
    ma97_finalise_d(&akeep, &fkeep);
    assert_null(akeep);
    assert_null(fkeep);
}

static void test_ma97_solves_with_the_factorization(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double x[N];
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    right_hand_side(val1, x);
    ma97_factor_solve_d(4, ptr1, row1, val1, 1, x, N, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    assert_int_equal(info.num_neg, 2);
    assert_solution(x);
    ma97_finalise_d(&akeep, &fkeep);
}

static void test_ma97_parts_of_a_solve_make_it_whole(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double x[N], y[N];
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
    right_hand_side(val1, x);
    memcpy(y, x, sizeof y);
    for (int job = 1; job <= 3; ++job) ma97_solve_d(job, 1, x, N, &akeep, &fkeep, &control, &info);
    assert_solution(x);
    ma97_solve_d(1, 1, y, N, &akeep, &fkeep, &control, &info);
    ma97_solve_d(4, 1, y, N, &akeep, &fkeep, &control, &info);
    assert_int_equal(info.flag, 0);
    assert_solution(y);
    ma97_solve_d(5, 1, y, N, &akeep, &fkeep, &control, &info);
    assert_int_equal(info.flag, MA97_BAD_ARGUMENT);
    ma97_finalise_d(&akeep, &fkeep);
}

static void test_ma97_takes_indices_from_0_and_checks_them(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    /* the same matrix with a duplicate of (1, 1), an entry above the diagonal and one out of range */
    static const int ptr[N + 1] = {0, 4, 7, 9, 10, 12}, row[] = {0, 2, 3, 0, 1, 4, 0, 2, 3, 3, 4, 99};
    static const double val[] = {1, 1, 1, 1, 3, 1, 7, 4, 1, 0, 0, 7};
    double x[N];
    control.f_arrays = 0;
    ma97_analyse_d(1, N, ptr, row, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_OUT_OF_RANGE_AND_DUPLICATES);
    assert_int_equal(info.matrix_outrange, 2);
    assert_int_equal(info.matrix_dup, 1);
    assert_int_equal(info.matrix_missing_diag, 0);
    ma97_factor_d(4, NULL, NULL, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.num_neg, 2);
    right_hand_side(val1, x);
    ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
    assert_solution(x);
    ma97_finalise_d(&akeep, &fkeep);
    ma97_analyse_d(0, N, ptr, row, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_PATTERN);
    assert_null(akeep);
}

static void test_ma97_tells_singular_from_wrong_inertia(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double val[ENTRIES], x[N] = {0};
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    memcpy(val, val1, sizeof val);
    val[0] = -2; /* another inertia */
    val[5] = -4;
    ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    assert_int_equal(info.num_neg, 3);
    val[4] = 0; /* a constraint without entries */
    ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_SINGULAR_STOP);
    control.action = 1;
    ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_SINGULAR);
    assert_int_equal(info.matrix_rank, N - 1);
    ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
    assert_int_equal(info.flag, MA97_SINGULAR);
    for (int i = 0; i < N; ++i) assert_true(isfinite(x[i]));
    val[0] = NAN;
    ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_VALUE);
    ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    ma97_finalise_d(&akeep, &fkeep);
}

/* A matrix of rank 1 but for the rounding of its entries: which signs its small eigenvalues have is chance.
 */
static void test_a_count_in_doubt_is_singular_and_no_number(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    static const int ptr[] = {1, 4, 6, 7}, row[] = {1, 2, 3, 2, 3, 3};
    static const double val[] = {0.1, 0.3, 0.7, 0.9, 2.1, 4.9}; /* a a' for a = (1, 3, 7), divided by 10 */
    ma97_analyse_d(0, 3, ptr, row, NULL, &akeep, &control, &info, NULL);
    ma97_factor_d(4, ptr, row, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_SINGULAR_STOP);
    assert_int_equal(info.num_neg, -1);
    control.action = 1;
    ma97_factor_d(4, ptr, row, val, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_SINGULAR);
    assert_int_equal(info.num_neg, -1);
    ma97_finalise_d(&akeep, &fkeep);
}

static void test_ma97_never_follows_a_handle_that_is_not_live(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *garbage = (void *)(uintptr_t)0xdeadbeefcafe, *fkeep = NULL, *none = NULL;
    double x[N] = {0};
    ma97_factor_d(4, ptr1, row1, val1, &garbage, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
    ma97_solve_d(0, 1, x, N, &garbage, &garbage, &control, &info);
    assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
    ma97_analyse_d(0, N, ptr1, row1, NULL, &garbage, &control, &info, NULL); /* ma97_order best */
    assert_int_equal(info.flag, 0);
    void *const stale = garbage;
    ma97_factor_d(4, ptr1, row1, val1, &garbage, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    void *forgotten = garbage; /* a copy that was left on the stack: its analysis lives elsewhere */
    ma97_analyse_d(0, N, ptr1, row1, NULL, &forgotten, &control, &info, NULL);
    assert_ptr_not_equal(forgotten, garbage);
    ma97_factor_d(4, ptr1, row1, val1, &garbage, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    ma97_free_akeep_d(&forgotten);
    ma97_analyse_d(0, N, ptr1, row1, NULL, &garbage, &control, &info, NULL); /* in its own place: freed */
    assert_int_equal(info.flag, 0);
    void *old = stale;
    ma97_factor_d(4, ptr1, row1, val1, &old, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
    ma97_solve_d(0, 1, x, N, &garbage, &garbage, &control, &info); /* an analysis is no factors */
    assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
    ma97_finalise_d(&garbage, &fkeep);
    ma97_finalise_d(&none, NULL);
    ma97_finalise_d(NULL, NULL);
    ma97_free_akeep_d(NULL);
    void *again = stale;
    ma97_free_akeep_d(&again);
    assert_null(again);
}

static void test_ma97_refuses_what_is_missing(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    ma97_analyse_d(0, -1, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_N);
    ma97_analyse_d(0, N, NULL, row1, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_N);
    ma97_analyse_d(0, N, ptr1, NULL, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_PATTERN);
    ma97_analyse_d(0, N, ptr1, row1, NULL, NULL, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, NULL, &info, NULL); /* nowhere to say so */
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    ma97_factor_d(4, ptr1, row1, NULL, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_ARGUMENT);
    ma97_factor_d(1, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_ARGUMENT);
    ma97_factor_d(3, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_NOT_DEFINITE);
    ma97_finalise_d(&akeep, &fkeep);
    ma97_analyse_d(0, 0, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, 0);
    ma97_finalise_d(&akeep, &fkeep);
}

static void test_ma97_honours_threshold_scaling_and_small(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double x[N], scale[N] = {0}, val[ENTRIES];
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    for (int step = 0; step < 12; ++step) { /* as Ipopt raises it */
        control.u = step ? pow(control.u, 0.75) : 1e-8;
        ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
        assert_int_equal(info.num_neg, 2);
    }
    for (control.scaling = 4; control.scaling >= 0; --control.scaling) { /* 0: that of 1 is used again */
        ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, scale);
        assert_int_equal(info.flag, 0);
        assert_int_equal(info.num_neg, 2);
        for (int i = 0; i < N; ++i) assert_true(scale[i] > 0 && isfinite(scale[i]));
        right_hand_side(val1, x);
        ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
        assert_solution(x);
    }
    control.scaling = 0;
    for (int i = 0; i < N; ++i) scale[i] = 1;
    memcpy(val, val1, sizeof val);
    val[3] = val[4] = 1e-9; /* rows 2 and 5 */
    ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, scale);
    assert_int_equal(info.flag, 0);
    control.small = 1e-6;
    ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, scale);
    assert_int_equal(info.flag, MA97_SINGULAR_STOP);
    assert_int_equal(info.matrix_rank, N - 2);
    for (control.scaling = 1; control.scaling <= 2; ++control.scaling) { /* small only before it is scaled */
        for (int k = 0; k < ENTRIES; ++k) val[k] = 1e-9 * val1[k];
        ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, scale);
        assert_int_equal(info.flag, 0);
        assert_int_equal(info.num_neg, 2);
    }
    ma97_finalise_d(&akeep, &fkeep);
}

/* It used to be refused once, and taken for the one in use when it came again. */
static void test_ma97_refuses_a_bad_scaling_every_time(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double x[N], scale[N] = {1, 2, 3, 4, 5};
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    for (int turn = 0; turn < 3; ++turn) {
        if (turn == 1) ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, scale);
        const double bad[] = {0, -1, NAN, INFINITY};
        for (int k = 0; k < 8; ++k) {
            double wrong[N] = {1, 1, bad[k / 2], 1, 1};
            ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, wrong);
            assert_int_equal(info.flag, MA97_BAD_VALUE);
            ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
            assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
        }
        ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, turn ? scale : NULL);
        assert_int_equal(info.flag, 0);
        right_hand_side(val1, x);
        ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
        assert_solution(x);
    }
    ma97_finalise_d(&akeep, &fkeep);
}

/* A right-hand side that is no number fails the call, and what fails leaves no factors. */
static void test_ma97_has_no_factors_after_a_failure(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double x[N] = {1, 2, NAN, 4, 5};
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    ma97_factor_solve_d(4, ptr1, row1, val1, 1, x, N, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_VALUE);
    assert_int_equal(info.num_neg, -1);
    ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
    assert_int_equal(info.flag, MA97_CALL_SEQUENCE);
    ma97_finalise_d(&akeep, &fkeep);
}

static void test_ma97_takes_a_matrix_without_rows(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    double nothing = 1;
    int order = 1;
    for (control.ordering = 0; control.ordering <= 8; ++control.ordering)
        for (control.scaling = 0; control.scaling <= 4; ++control.scaling) {
            void *akeep = NULL, *fkeep = NULL;
            ma97_analyse_d(1, 0, ptr1, row1, &nothing, &akeep, &control, &info, &order);
            assert_int_equal(info.flag, 0);
            ma97_factor_d(4, ptr1, row1, &nothing, &akeep, &fkeep, &control, &info, &nothing);
            assert_int_equal(info.flag, 0);
            assert_int_equal(info.num_neg, 0);
            ma97_solve_d(0, 1, &nothing, 0, &akeep, &fkeep, &control, &info);
            assert_int_equal(info.flag, 0);
            ma97_finalise_d(&akeep, &fkeep);
        }
}

static void test_ma97_honours_orders(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    double x[N], val[ENTRIES];
    memcpy(val, val1, sizeof val);
    for (control.ordering = 0; control.ordering <= 8; ++control.ordering) {
        int order[N] = {5, 4, 3, 2, 1}, seen[N + 1] = {0};
        void *akeep = NULL, *fkeep = NULL;
        ma97_analyse_d(0, N, ptr1, row1, control.ordering >= 7 ? val : NULL, &akeep, &control, &info, order);
        assert_int_equal(info.flag, 0);
        for (int i = 0; i < N; ++i) ++seen[order[i]];
        for (int i = 1; i <= N; ++i) assert_int_equal(seen[i], 1);
        if (control.ordering == 0) assert_int_equal(order[0], 5);
        if (control.ordering == 1 || control.ordering == 3) assert_true(info.num_flops > 0);
        ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
        assert_int_equal(info.num_neg, 2);
        right_hand_side(val, x);
        ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
        assert_solution(x);
        if (control.ordering >= 7) { /* analysed again in the same place, with the factors that there are */
            ma97_analyse_d(0, N, ptr1, row1, val, &akeep, &control, &info, NULL);
            ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, NULL);
            assert_int_equal(info.num_neg, 2);
        }
        ma97_finalise_d(&akeep, &fkeep);
    }
    int twice[N] = {1, 1, 2, 3, 4};
    void *akeep = NULL;
    control.ordering = 0;
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, twice);
    assert_int_equal(info.flag, MA97_BAD_ORDER);
    control.ordering = 7;
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_BAD_ARGUMENT);
}

/* Ipopt analyses before every factorization where it asks for a matched order and for scaling. */
static void test_ma97_says_once_what_runs(void **state)
{
    (void)state;
    struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep = NULL;
    double val[ENTRIES], scale[N];
    FILE *const file = tmpfile();
    fflush(stdout);
    const int kept = dup(fileno(stdout));
    assert_true(file && dup2(fileno(file), fileno(stdout)) >= 0);
    memcpy(val, val1, sizeof val);
    control.print_level = control.scaling = 1;
    control.ordering = 7;
    for (int turn = 0; turn < 3; ++turn) {
        ma97_analyse_d(0, N, ptr1, row1, val, &akeep, &control, &info, NULL);
        ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep, &control, &info, scale);
    }
    ma97_finalise_d(&akeep, &fkeep);
    fflush(stdout);
    dup2(kept, fileno(stdout));
    close(kept);
    rewind(file);
    char line[256];
    int lines = 0;
    while (fgets(line, sizeof line, file)) ++lines;
    fclose(file);
    assert_int_equal(info.flag, 0);
    assert_int_equal(lines, 1);
}

static void test_ma97_one_analysis_has_many_factors(void **state)
{
    (void)state;
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    void *akeep = NULL, *fkeep[3] = {NULL};
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    for (int k = 0; k < 3; ++k) {
        double val[ENTRIES];
        for (int i = 0; i < ENTRIES; ++i) val[i] = val1[i] * (k + 1);
        ma97_factor_d(4, ptr1, row1, val, &akeep, &fkeep[k], &control, &info, NULL);
        assert_int_equal(info.flag, 0);
    }
    for (int k = 0; k < 3; ++k) {
        double x[N];
        right_hand_side(val1, x);
        for (int i = 0; i < N; ++i) x[i] *= k + 1;
        ma97_solve_d(0, 1, x, N, &akeep, &fkeep[k], &control, &info);
        assert_solution(x);
        ma97_finalise_d(NULL, &fkeep[k]);
    }
    ma97_free_akeep_d(&akeep);
}

/* ---- what both share ---- */

static void test_options_of_the_environment_are_taken_or_refused(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    char message[SADDLE_MESSAGE_SIZE];
    bool print;
    setenv("SADDLE_OPTIONS", " threads=1, threshold=0.125 print=on", 1);
    assert_int_equal(door_environment(&options, &print, message), SADDLE_OK);
    assert_true(print);
    assert_int_equal(options.threads, 1);
    assert_true(options.threshold == 0.125);
    setenv("SADDLE_OPTIONS", "threshold=2", 1);
    assert_int_equal(door_environment(&options, &print, message), SADDLE_BAD_OPTION);
    assert_non_null(strstr(message, "threshold=2"));
    setenv("SADDLE_OPTIONS", "threads", 1);
    assert_int_equal(door_environment(&options, &print, message), SADDLE_BAD_OPTION);
    setenv("SADDLE_OPTIONS", "print=loud", 1);
    assert_int_equal(door_environment(&options, &print, message), SADDLE_BAD_OPTION);
    setenv("SADDLE_OPTIONS", "method=direct absolute=off", 1);
    assert_int_equal(door_environment(&options, &print, message), SADDLE_OK);
    setenv("SADDLE_OPTIONS", "method=ldlt", 1); /* its solutions are no solutions, its inertia none */
    assert_int_equal(door_environment(&options, &print, message), SADDLE_BAD_OPTION);
    assert_non_null(strstr(message, "method=ldlt"));
    setenv("SADDLE_OPTIONS", "absolute=on", 1);
    assert_int_equal(door_environment(&options, &print, message), SADDLE_BAD_OPTION);
    struct ma97_info_d info;
    const struct ma97_control_d control = ipopt_control();
    void *akeep = NULL;
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    assert_true(info.flag < 0);
    assert_null(akeep);
    setenv("SADDLE_OPTIONS", "factorization=static certify=off", 1); /* nothing is counted */
    void *fkeep = NULL;
    ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
    ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
    assert_int_equal(info.flag, MA97_SINGULAR_STOP);
    assert_int_equal(info.num_neg, -1);
    ma97_finalise_d(&akeep, &fkeep);
    unsetenv("SADDLE_OPTIONS");
}

static void test_handles_are_given_out_once(void **state)
{
    (void)state;
    static door_handles set = DOOR_HANDLES_EMPTY;
    int object[40];
    void *handle[40];
    for (int k = 0; k < 40; ++k) assert_non_null(handle[k] = door_handles_add(&set, k % 2, &object[k]));
    for (int k = 0; k < 40; ++k) {
        assert_ptr_equal(door_handles_find(&set, k % 2, handle[k]), &object[k]);
        assert_null(door_handles_find(&set, 1 - k % 2, handle[k]));
        assert_ptr_equal(door_handles_remove(&set, k % 2, handle[k]), &object[k]);
        assert_null(door_handles_remove(&set, k % 2, handle[k]));
    }
    assert_int_equal(door_handles_count(&set), 0);
    void *const next = door_handles_add(&set, 0, object);
    for (int k = 0; k < 40; ++k) assert_ptr_not_equal(next, handle[k]);
    door_handles_remove(&set, 0, next);
}

/* One Ipopt: begins, factors, solves, ends; with both interfaces. */
static void *run_one(void *argument)
{
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    const int rounds = *(const int *)argument;
    for (int round = 0; round < rounds; ++round) {
        void *akeep = NULL, *fkeep = NULL;
        double x[N];
        ma27 s;
        ma97_analyse_d(0, N, ptr1, row1, NULL, &akeep, &control, &info, NULL);
        ma27_begin(&s);
        for (int k = 0; k < 5; ++k) {
            ma97_factor_d(4, ptr1, row1, val1, &akeep, &fkeep, &control, &info, NULL);
            right_hand_side(val1, x);
            ma97_solve_d(0, 1, x, N, &akeep, &fkeep, &control, &info);
            assert_solution(x);
            ma27_factor(&s, val1);
            assert_ma27_solves(&s, val1);
        }
        ma97_finalise_d(&akeep, &fkeep);
        ma27_end(&s);
    }
    return NULL;
}

static void test_two_hosts_in_two_threads(void **state)
{
    (void)state;
    pthread_t thread[4];
    int rounds = 40;
    for (int k = 0; k < 4; ++k) assert_int_equal(pthread_create(&thread[k], NULL, run_one, &rounds), 0);
    for (int k = 0; k < 4; ++k) pthread_join(thread[k], NULL);
}

/* Bytes of the process that are in memory. */
static long resident(void)
{
    char line[256] = "", *second = line; /* pages of the process, and those in memory */
    FILE *const file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fgets(line, sizeof line, file)) strtol(line, &second, 10);
    fclose(file);
    return strtol(second, NULL, 10) * 4096;
}

/* Factors of one analysis, whose pattern was cleaned so that values are copied. */
enum { SHARING = 4 };
static void *shared_akeep;
static void *factor_shared(void *argument)
{
    static const double val[] = {2, 1, 1, 3, 1, 7, 4, 1, 0, 0};
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    const double times = *(const double *)argument;
    double scaled[10], x[N];
    for (int k = 0; k < 10; ++k) scaled[k] = times * val[k];
    for (int round = 0; round < 50; ++round) {
        void *fkeep = NULL;
        ma97_factor_d(4, NULL, NULL, scaled, &shared_akeep, &fkeep, &control, &info, NULL);
        assert_int_equal(info.flag, 0);
        right_hand_side(val1, x);
        for (int i = 0; i < N; ++i) x[i] *= times;
        ma97_solve_d(0, 1, x, N, &shared_akeep, &fkeep, &control, &info);
        assert_solution(x);
        ma97_finalise_d(NULL, &fkeep);
    }
    return NULL;
}

static void test_threads_factor_one_analysis(void **state)
{
    (void)state;
    static const int ptr[N + 1] = {1, 4, 7, 9, 10, 11}, row[] = {1, 3, 4, 2, 5, 1, 3, 4, 4, 5};
    static double times[SHARING] = {1, 2, 4, 8};
    const struct ma97_control_d control = ipopt_control();
    struct ma97_info_d info;
    pthread_t thread[SHARING];
    ma97_analyse_d(1, N, ptr, row, NULL, &shared_akeep, &control, &info, NULL);
    assert_int_equal(info.matrix_outrange, 1);
    for (int k = 0; k < SHARING; ++k)
        assert_int_equal(pthread_create(&thread[k], NULL, factor_shared, &times[k]), 0);
    for (int k = 0; k < SHARING; ++k) pthread_join(thread[k], NULL);
    ma97_free_akeep_d(&shared_akeep);
}

static void test_ten_thousand_solves_leak_nothing(void **state)
{
    (void)state;
    int rounds = 200;
    run_one(&rounds);
    const long before = resident();
    rounds = 1000; /* with 5 factorizations and solves in each, through both interfaces */
    run_one(&rounds);
    const long grown = resident() - before;
    print_message("           memory has grown by %ld bytes\n", grown);
    if (!getenv("SADDLE_TEST_SLOW")) assert_true(grown < 4 << 20); /* a sanitizer keeps what was freed */
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts_are_those_of_compiled_programs),
        cmocka_unit_test(test_ma97_factors_and_solves_as_ipopt_does),
        cmocka_unit_test(test_ma97_solves_with_the_factorization),
        cmocka_unit_test(test_ma97_parts_of_a_solve_make_it_whole),
        cmocka_unit_test(test_ma97_takes_indices_from_0_and_checks_them),
        cmocka_unit_test(test_ma97_tells_singular_from_wrong_inertia),
        cmocka_unit_test(test_a_count_in_doubt_is_singular_and_no_number),
        cmocka_unit_test(test_ma97_never_follows_a_handle_that_is_not_live),
        cmocka_unit_test(test_ma97_refuses_what_is_missing),
        cmocka_unit_test(test_ma97_honours_threshold_scaling_and_small),
        cmocka_unit_test(test_ma97_refuses_a_bad_scaling_every_time),
        cmocka_unit_test(test_ma97_has_no_factors_after_a_failure),
        cmocka_unit_test(test_ma97_takes_a_matrix_without_rows),
        cmocka_unit_test(test_ma97_honours_orders),
        cmocka_unit_test(test_ma97_says_once_what_runs),
        cmocka_unit_test(test_ma97_one_analysis_has_many_factors),
        cmocka_unit_test(test_options_of_the_environment_are_taken_or_refused),
        cmocka_unit_test(test_handles_are_given_out_once),
        cmocka_unit_test(test_two_hosts_in_two_threads),
        cmocka_unit_test(test_threads_factor_one_analysis),
        cmocka_unit_test(test_ten_thousand_solves_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
