/*
 * Structs that grow: a caller that was compiled against another version of the header has longer or
 * shorter ones, and the library writes no byte beyond what the caller has.
 */
#include "helpers.h"

enum { BEYOND = 64, MARK = 0x5a };

/* Whether the bytes from `known` on are as they were marked. */
static void assert_untouched(const void *block, size_t known, size_t size)
{
    for (size_t k = known; k < size; ++k) assert_int_equal(((const unsigned char *)block)[k], MARK);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void defaults_fit_the_options_of_any_version(void **state)
{
    (void)state;
    struct {
        saddle_options options;
        unsigned char beyond[BEYOND];
    } room;
    const saddle_options ours = saddle_options_default();
    const size_t sizes[] = {sizeof(size_t), offsetof(saddle_options, tol), sizeof ours, sizeof room};
    for (int k = 0; k < 4; ++k) {
        memset(&room, MARK, sizeof room);
        saddle_options_init(&room.options, sizes[k]);
        assert_int_equal(room.options.size, sizes[k]);
        assert_untouched(&room, least(sizes[k], sizeof ours), sizeof room);
        if (k >= 1) assert_int_equal(room.options.maxiter, ours.maxiter);
        if (k >= 2) assert_true(room.options.tol == ours.tol);
    }
}

static void defaults_fit_the_info_of_any_version(void **state)
{
    (void)state;
    struct {
        saddle_info info;
        unsigned char beyond[BEYOND];
    } room;
    const size_t sizes[] = {sizeof(size_t), offsetof(saddle_info, history), sizeof(saddle_info), sizeof room};
    for (int k = 0; k < 4; ++k) {
        memset(&room, MARK, sizeof room);
        saddle_info_init(&room.info, sizes[k]);
        assert_int_equal(room.info.size, sizes[k]);
        assert_untouched(&room, least(sizes[k], sizeof(saddle_info)), sizeof room);
        if (k >= 1) assert_int_equal(room.info.n, -1);
        if (k >= 2) assert_null(room.info.history);
    }
}

static void facts_fit_the_caller_of_any_version(void **state)
{
    (void)state;
    struct {
        saddle_facts facts;
        unsigned char beyond[BEYOND];
    } room;
    const double rows[] = {2, 1, 1, 3};
    dense d = dense_from(2, rows);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const size_t sizes[] = {sizeof(size_t), offsetof(saddle_facts, kind), sizeof(saddle_facts), sizeof room};
    for (int k = 0; k < 4; ++k) {
        memset(&room, MARK, sizeof room);
        assert_int_equal(saddle_inspect_sized(&A, NULL, &room.facts, sizes[k], NULL), SADDLE_OK);
        assert_int_equal(room.facts.size, sizes[k]);
        assert_untouched(&room, least(sizes[k], sizeof(saddle_facts)), sizeof room);
        if (k >= 1) assert_int_equal(room.facts.nnz, 4);
        if (k >= 2) assert_true(room.facts.largest == 3);
    }
    view_free(&A);
    dense_free(&d);
}

static void a_solver_that_was_not_made_still_tells_why(void **state)
{
    (void)state;
    const double rows[] = {2, 1, 1, 3}, b[] = {1, 1};
    double x[2], history[4];
    dense d = dense_from(2, rows);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_options options = saddle_options_default();
    options.restart = 0;
    const size_t sizes[] = {offsetof(saddle_info, n), sizeof(saddle_info)};
    for (int k = 0; k < 2; ++k) {
        saddle_info info;
        memset(&info, MARK, sizeof info);
        info.size = sizes[k];
        info.history = history;
        info.history_room = 4;
        assert_int_equal(saddle_solve_once(&A, b, x, &options, &info), SADDLE_BAD_OPTION);
        assert_int_equal(info.status, SADDLE_BAD_OPTION);
        assert_contains(info.message, "restart");
        assert_ptr_equal(info.history, history);
        assert_int_equal(info.history_room, 4);
        assert_int_equal(info.size, sizes[k]);
    }
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fit_the_options_of_any_version),
        cmocka_unit_test(defaults_fit_the_info_of_any_version),
        cmocka_unit_test(facts_fit_the_caller_of_any_version),
        cmocka_unit_test(a_solver_that_was_not_made_still_tells_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
