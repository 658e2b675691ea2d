/*
 * Structs that grow: a caller that was compiled against another version of the header has longer or
 * shorter ones, and the library writes no byte beyond what the caller has. Of a matrix and of hooks, which it
 * reads, what the caller does not have is 0, what he has beyond ours must be 0, and a size that is none is
 * refused by every function that takes one, with a message that says so.
 */
#include "helpers.h"

#include "failing_allocator.h"
#include "matrix/csr.h"

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
    const size_t sizes[] = {sizeof(size_t), offsetof(saddle_info, rank), sizeof(saddle_info), sizeof room};
    for (int k = 0; k < 4; ++k) {
        memset(&room, MARK, sizeof room);
        saddle_info_init(&room.info, sizes[k]);
        assert_int_equal(room.info.size, sizes[k]);
        assert_untouched(&room, least(sizes[k], sizeof(saddle_info)), sizeof room);
        if (k >= 1) assert_true(room.info.n == -1 && room.info.history == NULL);
        if (k >= 2) assert_int_equal(room.info.rank, -1);
    }
}

/* It crashed. */
static void init_of_null_does_nothing(void **state)
{
    (void)state;
    saddle_options_init(NULL, sizeof(saddle_options));
    saddle_info_init(NULL, sizeof(saddle_info));
    assert_null(saddle_option_word("method", 0, NULL, 16));
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

/* ---- a matrix and hooks ---- */

static const int32_t colptr[] = {0, 2, 3, 4}, rowind[] = {0, 2, 1, 2};
static const double values[] = {4, 1, 3, 5};

/* A struct of a caller who is newer than the library: 16 bytes longer. */
typedef struct newer_matrix {
    saddle_matrix known;
    char more[16];
} newer_matrix;

typedef struct newer_hooks {
    saddle_hooks known;
    char more[16];
} newer_hooks;

static newer_matrix sound_matrix(void)
{
    newer_matrix A = {.known = saddle_symmetric(3, colptr, rowind, values)};
    A.known.size = sizeof A;
    return A;
}

typedef struct outcome {
    saddle_status status;
    char message[SADDLE_MESSAGE_SIZE];
} outcome;

enum { CALLS = 9 };

/* Call number k of those that take a matrix or hooks. */
static outcome call(int k, const saddle_matrix *A, const saddle_hooks *hooks)
{
    outcome o = {0};
    const double x[3] = {1, 2, 3};
    double y[3];
    int64_t n;
    double *vector = NULL;
    saddle_facts facts;
    saddle_matrix B = {0};
    saddle_errors errors;
    saddle_preparation p;
    saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    switch (k) {
    case 0: o.status = saddle_inspect(A, hooks, &facts, o.message); break;
    case 1:
        o.status = saddle_convert(A, SADDLE_ROWS, SADDLE_FULL, hooks, &B, o.message);
        if (!o.status) assert_int_equal(B.size, sizeof B);
        saddle_matrix_free(&B, hooks);
        break;
    case 2: o.status = saddle_multiply(A, 1, x, 3, y, 3, 1, hooks, o.message); break;
    case 3: o.status = saddle_measure(A, x, x, NULL, 1, hooks, &errors, o.message); break;
    case 4:
        o.status = saddle_prepare(A, NULL, NULL, hooks, &p, o.message);
        saddle_preparation_free(&p, hooks);
        break;
    case 5:
        o.status = saddle_create(&solver, NULL, hooks, o.message);
        if (!o.status) {
            o.status = saddle_factor(solver, A);
            snprintf(o.message, sizeof o.message, "%s", saddle_message(solver));
        }
        saddle_destroy(&solver);
        break;
    case 6:
        o.status = saddle_create(&solver, NULL, hooks, o.message);
        if (!o.status) {
            o.status = saddle_analyse(solver, A);
            snprintf(o.message, sizeof o.message, "%s", saddle_message(solver));
        }
        saddle_destroy(&solver);
        break;
    case 7: /* writes, and reads it again */
        o.status = saddle_write_matrix("growth.mtx", A, NULL, o.message);
        if (!o.status) o.status = saddle_read_matrix("growth.mtx", hooks, &B, o.message);
        saddle_matrix_free(&B, hooks);
        remove("growth.mtx");
        break;
    default:
        o.status = hooks ? saddle_read_vector("growth.mtx", hooks, &n, &vector, o.message)
                         : saddle_solve_once(A, x, y, NULL, &info);
        if (!hooks) snprintf(o.message, sizeof o.message, "%s", info.message);
        if (o.status == SADDLE_FILE_OPEN) o.status = SADDLE_OK; /* it came that far */
    }
    return o;
}

static void a_matrix_whose_size_is_none_is_refused(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, sizeof(size_t), SD_VIEW_LEAST - 1, (size_t)1 << 40, (size_t)-1};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        newer_matrix A = sound_matrix();
        A.known.size = sizes[s];
        for (int k = 0; k < CALLS; ++k) {
            const outcome o = call(k, &A.known, NULL);
            if (o.status != SADDLE_BAD_ARGUMENT) fail_msg("call %d took the size %zu", k, sizes[s]);
            assert_contains(o.message, "sizeof(saddle_matrix)");
        }
        saddle_matrix_free(&A.known, NULL); /* of arrays that are not the library's: it must not touch them */
        assert_true(A.known.values == values);
    }
}

static void hooks_whose_size_is_none_are_refused(void **state)
{
    (void)state;
    const newer_matrix A = sound_matrix();
    const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(saddle_hooks) - 1, (size_t)1 << 40};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        saddle_hooks hooks = saddle_hooks_default();
        hooks.size = sizes[s];
        for (int k = 0; k < CALLS; ++k) {
            const outcome o = call(k, &A.known, &hooks);
            if (o.status != SADDLE_BAD_ARGUMENT) fail_msg("call %d took the size %zu", k, sizes[s]);
            assert_contains(o.message, "sizeof(saddle_hooks)");
        }
        double *vector = NULL;
        saddle_vector_free(vector, &hooks);
    }
}

static void no_memory(void *memory, void *user)
{
    (void)memory, (void)user;
}

static void *never(size_t bytes, void *user)
{
    (void)bytes, (void)user;
    return NULL;
}

/* They were ignored, and malloc and free used instead. */
static void one_memory_hook_without_the_other_is_refused(void **state)
{
    (void)state;
    const newer_matrix A = sound_matrix();
    saddle_hooks half[2] = {saddle_hooks_default(), saddle_hooks_default()};
    half[0].allocate = never;
    half[1].release = no_memory;
    for (int h = 0; h < 2; ++h) {
        for (int k = 0; k < CALLS; ++k) {
            const outcome o = call(k, &A.known, &half[h]);
            if (o.status != SADDLE_BAD_ARGUMENT) fail_msg("call %d took half of the hooks", k);
            assert_contains(o.message, h == 0 ? "allocate but no release" : "release but no allocate");
        }
        assert_null(saddle_options_new(&half[h]));
        assert_null(saddle_info_new(&half[h]));
    }
}

static void a_newer_caller_is_served_as_long_as_it_asks_nothing_new(void **state)
{
    (void)state;
    failing_allocator f = {0};
    for (int k = 0; k < CALLS; ++k) {
        newer_matrix A = sound_matrix();
        newer_hooks hooks = {.known = failing_hooks(&f)};
        hooks.known.size = sizeof hooks;
        assert_int_equal(call(k, &A.known, NULL).status, SADDLE_OK);
        assert_int_equal(call(k, &A.known, &hooks.known).status, SADDLE_OK);
        A.more[15] = 1;
        const outcome of_matrix = call(k, &A.known, NULL);
        assert_int_equal(of_matrix.status, SADDLE_BAD_ARGUMENT);
        assert_contains(of_matrix.message, "does not know");
        A.more[15] = 0;
        hooks.more[0] = 1;
        const outcome of_hooks = call(k, &A.known, &hooks.known);
        assert_int_equal(of_hooks.status, SADDLE_BAD_ARGUMENT);
        assert_contains(of_hooks.message, "does not know");
    }
    assert_int_equal(f.live, 0);
}

static void what_the_library_fills_in_has_the_callers_length(void **state)
{
    (void)state;
    char message[SADDLE_MESSAGE_SIZE];
    const newer_matrix A = sound_matrix();
    newer_matrix B;
    memset(&B, 0x55, sizeof B);
    assert_int_equal(saddle_convert_sized(&A.known, SADDLE_ROWS, SADDLE_UPPER, NULL, &B.known,
                                          sizeof(saddle_matrix), message),
                     SADDLE_OK);
    for (size_t k = 0; k < sizeof B.more; ++k) assert_int_equal(B.more[k], 0x55);
    assert_int_equal(B.known.size, sizeof(saddle_matrix));
    saddle_matrix_free(&B.known, NULL);
    saddle_matrix_free(&B.known, NULL); /* a second time there is nothing to do */
    for (size_t k = 0; k < sizeof B.more; ++k) assert_int_equal(B.more[k], 0x55);
    assert_int_equal(
        saddle_convert_sized(&A.known, SADDLE_ROWS, SADDLE_UPPER, NULL, &B.known, SD_VIEW_LEAST - 1, message),
        SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_read_matrix_sized("none.mtx", NULL, &B.known, SD_VIEW_LEAST - 1, message),
                     SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_read_matrix("none.mtx", NULL, &B.known, message), SADDLE_FILE_OPEN);
    saddle_matrix_free(&B.known, NULL); /* after a failure, too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fit_the_options_of_any_version),
        cmocka_unit_test(defaults_fit_the_info_of_any_version),
        cmocka_unit_test(init_of_null_does_nothing),
        cmocka_unit_test(facts_fit_the_caller_of_any_version),
        cmocka_unit_test(a_solver_that_was_not_made_still_tells_why),
        cmocka_unit_test(a_matrix_whose_size_is_none_is_refused),
        cmocka_unit_test(hooks_whose_size_is_none_are_refused),
        cmocka_unit_test(one_memory_hook_without_the_other_is_refused),
        cmocka_unit_test(a_newer_caller_is_served_as_long_as_it_asks_nothing_new),
        cmocka_unit_test(what_the_library_fills_in_has_the_callers_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
