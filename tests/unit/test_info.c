/*
 * Info by name: every row of the table has a name, a line of help, and the number and the text that its
 * member has, before and after a solve; infos of another length; infos on the heap.
 */
#include "helpers.h"

#include "failing_allocator.h"

static const int32_t colptr[] = {0, 2, 4, 4}, rowind[] = {0, 2, 1, 2};
static const double values[] = {2, 1, 2, 1}, b[] = {0, 0, 2};

static void solve_into(saddle_info *info, const char *method)
{
    const saddle_matrix A = saddle_symmetric(3, colptr, rowind, values);
    saddle_options options = saddle_options_default();
    double x[3];
    assert_int_equal(saddle_options_set(&options, "method", method, NULL), SADDLE_OK);
    assert_int_equal(saddle_options_set(&options, "device", "cpu", NULL), SADDLE_OK);
    assert_int_equal(saddle_solve_once(&A, b, x, &options, info), SADDLE_OK);
}

static double number(const saddle_info *info, const char *name)
{
    double value = -1e300;
    if (saddle_info_number(info, name, &value)) fail_msg("there is no number \"%s\"", name);
    return value;
}

static void expect_text(const saddle_info *info, const char *name, const char *expected)
{
    char text[SADDLE_MESSAGE_SIZE] = "";
    if (saddle_info_get(info, name, text, sizeof text)) fail_msg("there is no text \"%s\"", name);
    assert_string_equal(text, expected);
}

static void every_name_stands_once_with_its_help(void **state)
{
    (void)state;
    int count = 0;
    for (; saddle_info_at(count); ++count) {
        const saddle_info_item *item = saddle_info_at(count);
        assert_true(strlen(item->help) > 0 && strlen(item->name) > 0);
        assert_non_null(strchr("cnrx", item->type));
        for (int other = 0; other < count; ++other)
            assert_string_not_equal(item->name, saddle_info_at(other)->name);
    }
    assert_true(count > 50);
    assert_null(saddle_info_at(-1));
    assert_null(saddle_info_at(count + 1000));
}

/* The members, through the same table, against the answers by name. */
static void every_number_is_that_of_its_member(void **state)
{
    (void)state;
    saddle_info before = saddle_info_default(), after = saddle_info_default();
    solve_into(&after, "direct");
    const saddle_info *both[] = {&before, &after};
    for (int k = 0; k < 2; ++k) {
        const saddle_info *i = both[k];
#define SAME(name, ...)                                                                                      \
    assert_true(number(i, #name) == (double)i->name || (isnan((double)i->name) && isnan(number(i, #name))));
        SADDLE_INFO_TABLE(SAME, SAME, SAME, SAME, SAME)
#undef SAME
        assert_true(number(i, "status") == i->status);
    }
    assert_true(after.n == 3 && after.inertia_positive == 2 && after.inertia_negative == 1);
}

static void before_anything_is_known_counts_are_minus_1_and_numbers_nan(void **state)
{
    (void)state;
    const saddle_info info = saddle_info_default();
    assert_true(info.size == sizeof info && info.status == SADDLE_OK && info.message[0] == 0);
    assert_true(info.n == -1 && info.rank == -1 && info.factor_nnz == -1 && info.generations == -1);
    assert_true(isnan(info.backward_error) && isnan(info.first_error) && isnan(info.fill_tau));
    assert_true(info.iterations == 0 && info.tried == 0 && info.history_length == 0 && info.peak_bytes == 0);
    assert_true(info.time_prepare == 0 && info.time_plan == 0 && info.time_factor == 0);
    assert_true(info.history == NULL && info.history_room == 0);
    expect_text(&info, "n", "unknown");
    expect_text(&info, "backward_error", "unknown");
    expect_text(&info, "reason", "not run");
    expect_text(&info, "kind", "unknown");
    expect_text(&info, "method", "auto");
    expect_text(&info, "converged", "no");
    expect_text(&info, "tried_list", "");
}

static void choices_are_told_by_their_words(void **state)
{
    (void)state;
    saddle_info info = saddle_info_default();
    solve_into(&info, "direct");
    expect_text(&info, "method", "direct");
    expect_text(&info, "krylov", "refine");
    expect_text(&info, "device", "cpu");
    expect_text(&info, "precision", "double");
    expect_text(&info, "factorization", "ldlt");
    expect_text(&info, "kind", "indefinite");
    expect_text(&info, "converged", "yes");
    expect_text(&info, "symmetric", "yes");
    expect_text(&info, "status", "success");
    expect_text(&info, "message", "");
    expect_text(&info, "n", "3");
    expect_text(&info, "inertia-negative", "1"); /* dashes and underscores are alike */
    for (int k = 0; k <= SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER; ++k) {
        info.reason = (saddle_reason)k;
        expect_text(&info, "reason", saddle_reason_text(info.reason));
    }
    info.block_kernel = SADDLE_BLOCK_KERNEL_HUARD_T;
    expect_text(&info, "block_kernel", "huard-t");
    info.trisolve = SADDLE_TRISOLVE_BLOCK_JACOBI;
    expect_text(&info, "trisolve", "block-jacobi");
    info.method = (saddle_method)1000;
    expect_text(&info, "method", "");
    info.status = SADDLE_SINGULAR;
    expect_text(&info, "status", saddle_status_text(SADDLE_SINGULAR));
    info.factor_flops = INT64_MAX;
    expect_text(&info, "factor_flops", "9223372036854775807");
    info.time_solve = 0.1;
    expect_text(&info, "time_solve", "0.10000000000000001");
}

static void what_was_tried_is_one_text(void **state)
{
    (void)state;
    saddle_info info = saddle_info_default();
    info.tried = 2;
    info.tried_list[0].method = SADDLE_METHOD_LDLT;
    info.tried_list[0].krylov = SADDLE_KRYLOV_FGMRES;
    info.tried_list[0].why_left = SADDLE_REASON_STAGNATION;
    info.tried_list[1].method = SADDLE_METHOD_DIAGONAL;
    info.tried_list[1].krylov = SADDLE_KRYLOV_CG;
    info.tried_list[1].why_left = SADDLE_REASON_MAXITER;
    const char *all = "ldlt + fgmres: stagnation; diagonal + cg: iteration limit";
    expect_text(&info, "tried_list", all);
    char text[128];
    for (size_t room = 1; room <= strlen(all); ++room) { /* never beyond its end, never cut without a word */
        memset(text, 'x', sizeof text);
        assert_int_equal(saddle_info_get(&info, "tried_list", text, room), SADDLE_BAD_ARGUMENT);
        assert_true(text[room] == 'x');
    }
    assert_int_equal(saddle_info_get(&info, "tried_list", text, strlen(all) + 1), SADDLE_OK);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    const saddle_info info = saddle_info_default();
    char text[64];
    double value;
    const char *const none[] = {"", "nosuch", "history", "size", "metho", "methods", "message "};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; ++k) {
        assert_int_equal(saddle_info_get(&info, none[k], text, sizeof text), SADDLE_BAD_ARGUMENT);
        assert_int_equal(saddle_info_number(&info, none[k], &value), SADDLE_BAD_ARGUMENT);
    }
    assert_int_equal(saddle_info_number(&info, "message", &value), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_number(&info, "tried_list", &value), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_number(NULL, "n", &value), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_number(&info, NULL, &value), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_number(&info, "n", NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_get(NULL, "n", text, sizeof text), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_get(&info, "n", NULL, 8), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_get(&info, "n", text, 0), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_get(&info, "n", text, 3), SADDLE_BAD_ARGUMENT);
}

/* One that an older caller made ends somewhere before ours does. */
static void a_shorter_info_has_only_what_it_has(void **state)
{
    (void)state;
    saddle_info info;
    double value;
    char text[64];
    saddle_info_init(&info, offsetof(saddle_info, rank));
    assert_int_equal(saddle_info_number(&info, "inertia_zero", &value), SADDLE_OK);
    assert_int_equal(saddle_info_number(&info, "rank", &value), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_info_get(&info, "time_solve", text, sizeof text), SADDLE_BAD_ARGUMENT);
}

static void on_the_heap_it_is_the_same_and_keeps_a_history(void **state)
{
    (void)state;
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    double history[10] = {-1};
    saddle_info *info = saddle_info_new(&hooks);
    saddle_options *options = saddle_options_new(&hooks);
    assert_non_null(info);
    assert_non_null(options);
    assert_int_equal(f.live, 2);
    expect_text(info, "n", "unknown");
    char text[16];
    assert_int_equal(saddle_options_get(options, "restart", text, sizeof text), SADDLE_OK);
    assert_string_equal(text, "100");
    saddle_info_set_history(info, history, 10);
    solve_into(info, "none");
    assert_true(number(info, "history_length") > 0 && history[0] >= 0);
    saddle_info_set_history(NULL, history, 10);
    saddle_info_free(info, &hooks);
    saddle_info_free(NULL, &hooks);
    saddle_options_free(options, &hooks);
    assert_int_equal(f.live, 0);
    f = (failing_allocator){.fail_at = 1};
    assert_null(saddle_info_new(&hooks));
    f = (failing_allocator){.fail_at = 1};
    assert_null(saddle_options_new(&hooks));
    info = saddle_info_new(NULL);
    assert_non_null(info);
    saddle_info_free(info, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_stands_once_with_its_help),
        cmocka_unit_test(every_number_is_that_of_its_member),
        cmocka_unit_test(before_anything_is_known_counts_are_minus_1_and_numbers_nan),
        cmocka_unit_test(choices_are_told_by_their_words),
        cmocka_unit_test(what_was_tried_is_one_text),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(a_shorter_info_has_only_what_it_has),
        cmocka_unit_test(on_the_heap_it_is_the_same_and_keeps_a_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
