/*
 * n = 0: a matrix without rows is solved, not refused. Every function that takes a matrix takes it, in every
 * layout and shape, with or without the one pointer that it has; every method factors it; its inertia is
 * (0, 0, 0), its answer has no entries, and that is exact.
 */
#include "io_files.h"

#include "helpers.h"

static const int32_t pointer32[] = {0, 1};
static const int64_t pointer64[] = {0, 1};

enum { VIEWS = 3 * 4 * 2 * 2 * 3 };

/* Views of it: by layout, shape, type, base, and pointers of 32 bits, of 64, or none at all. */
static saddle_matrix view_of(int k)
{
    const int base = k / 24 % 2, pointers = k / 48;
    saddle_matrix A = {.size = sizeof A,
                       .layout = (saddle_layout)(k % 3),
                       .shape = (saddle_shape)(k / 3 % 4),
                       .type = (saddle_type)(k / 12 % 2),
                       .base = base};
    if (A.layout == SADDLE_COORDINATES || pointers == 2) return A;
    A.pointer_bits = pointers ? 64 : 32;
    A.pointers = pointers ? (const void *)&pointer64[base] : (const void *)&pointer32[base];
    return A;
}

static void every_view_is_inspected_converted_and_multiplied(void **state)
{
    (void)state;
    for (int k = 0; k < VIEWS; ++k) {
        const saddle_matrix A = view_of(k);
        char message[SADDLE_MESSAGE_SIZE] = "";
        saddle_facts facts;
        saddle_errors errors = {1, 1, 1};
        saddle_matrix B;
        assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_OK);
        assert_true(facts.rows == 0 && facts.nnz == 0 && facts.missing_diagonal == 0 &&
                    facts.empty_rows == 0);
        assert_true(facts.symmetric && facts.pattern_symmetric && facts.kind == SADDLE_KIND_SPD);
        assert_true(facts.shortest_row == 0 && facts.longest_row == 0 && facts.bandwidth == 0);
        assert_true(facts.norm_one == 0 && facts.norm_inf == 0 && facts.norm_frobenius == 0);
        for (int columns = 0; columns < 4; ++columns)
            assert_int_equal(saddle_multiply(&A, columns, NULL, 0, NULL, 0, 1, NULL, message), SADDLE_OK);
        assert_int_equal(saddle_measure(&A, NULL, NULL, NULL, 1, NULL, &errors, message), SADDLE_OK);
        assert_true(errors.backward == 0 && errors.componentwise == 0 && errors.relative_residual == 0);
        for (int to = 0; to < 12; ++to) {
            assert_int_equal(
                saddle_convert(&A, (saddle_layout)(to % 3), (saddle_shape)(to / 3), NULL, &B, message),
                SADDLE_OK);
            assert_true(B.rows == 0 && B.columns == 0 && B.entries == 0);
            assert_int_equal(saddle_inspect(&B, NULL, &facts, message), SADDLE_OK);
            saddle_matrix_free(&B, NULL);
        }
    }
}

static void every_preparation_of_it_is_empty(void **state)
{
    (void)state;
    static const char *const names[] = {"scaling", "order", "pairs", "blocking"};
    for (int k = 0; k < VIEWS; ++k) {
        const saddle_matrix A = view_of(k);
        for (int option = 0; option < 4; ++option) {
            char word[32], message[SADDLE_MESSAGE_SIZE] = "";
            for (int w = 0; saddle_option_word(names[option], w, word, sizeof word)[0]; ++w) {
                saddle_options o = saddle_options_default();
                saddle_preparation p;
                const double scale[1] = {1};
                const int32_t permutation[1] = {0};
                const saddle_given given = {.row_scale = scale, .permutation = permutation};
                assert_int_equal(saddle_options_set(&o, names[option], word, NULL), SADDLE_OK);
                if (saddle_prepare(&A, &o, &given, NULL, &p, message))
                    fail_msg("view %d, %s %s: %s", k, names[option], word, message);
                assert_true(p.n == 0 && p.nnz == 0 && p.blocks == 0 && p.two_by_two <= 0);
                assert_true(p.factor_nnz == 0 && p.factor_flops == 0 && p.tree_height == 0);
                assert_true(p.largest_block == 0 && p.levels == 0 && p.stored_entries == 0);
                saddle_preparation_free(&p, NULL);
            }
        }
    }
}

/* Solves for any number of right-hand sides, and asks for everything. */
static void solve_all(const char *options, const saddle_solver *solver, saddle_method method)
{
    for (int64_t nrhs = 0; nrhs < 40; nrhs = 2 * nrhs + 1) {
        saddle_info info = saddle_info_default();
        double history[4];
        info.history = history;
        info.history_room = 4;
        if (saddle_solve(solver, nrhs, NULL, 0, NULL, 0, &info)) fail_msg("%s: %s", options, info.message);
        assert_true(info.converged && info.n == 0 && info.nnz == 0 && info.iterations == 0);
        if (nrhs == 0) continue;
        if (method) assert_int_equal(info.method, method);
        assert_true(info.method != SADDLE_METHOD_AUTO && info.krylov != SADDLE_KRYLOV_AUTO);
        assert_int_equal(info.reason, SADDLE_REASON_ZERO_RHS);
        assert_true(info.backward_error == 0 && info.componentwise_error == 0 && info.relative_residual == 0);
    }
}

static void solve_by(const char *method, const char *krylov, const char *rest, const saddle_matrix *A)
{
    char text[128], message[SADDLE_MESSAGE_SIZE] = "";
    snprintf(text, sizeof text, "method=%s,krylov=%s%s%s", method, krylov, *rest ? "," : "", rest);
    saddle_options o = saddle_options_default();
    saddle_solver *solver;
    assert_int_equal(saddle_options_set(&o, "method", method, NULL), SADDLE_OK);
    assert_int_equal(saddle_options_set(&o, "krylov", krylov, NULL), SADDLE_OK);
    char list[96], *at = list;
    snprintf(list, sizeof list, "%s", rest);
    while (*at) {
        char *name = at, *value = strchr(at, '=');
        *value++ = '\0';
        at = value + strcspn(value, ",");
        if (*at) *at++ = '\0';
        assert_int_equal(saddle_options_set(&o, name, value, NULL), SADDLE_OK);
    }
    assert_int_equal(saddle_create(&solver, &o, NULL, message), SADDLE_OK);
    saddle_matrix pattern = *A;
    pattern.values = NULL;
    if (saddle_analyse(solver, &pattern)) fail_msg("%s: %s", text, saddle_message(solver));
    for (int again = 0; again < 2; ++again) {
        if (saddle_factor(solver, A)) fail_msg("%s: %s", text, saddle_message(solver));
        solve_all(text, solver, o.method);
    }
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    assert_true(info.n == 0 && info.symmetric && info.factor_nnz <= 0);
    if (o.method == SADDLE_METHOD_DIRECT && o.precision == SADDLE_PRECISION_DOUBLE &&
        o.factorization != SADDLE_FACTORIZATION_STATIC) {
        assert_true(info.inertia_positive == 0 && info.inertia_negative == 0 && info.inertia_zero == 0);
        assert_int_equal(info.rank, 0);
        assert_true(info.delayed == 0 && info.two_by_two == 0 && info.fronts == 0);
    }
    if (o.method == SADDLE_METHOD_DIRECT) {
        double condition = -1;
        assert_int_equal(saddle_condition(solver, &condition, message), SADDLE_OK);
        assert_true(condition == 0);
        int32_t order;
        double number;
        assert_int_equal(saddle_get_order(solver, &order), SADDLE_OK);
        assert_int_equal(saddle_get_pivots(solver, &order, &number), SADDLE_OK);
        assert_int_equal(saddle_get_scaling(solver, &number), SADDLE_OK);
        for (int part = 0; part < 3; ++part)
            assert_int_equal(saddle_solve_part(solver, (saddle_part)part, 3, NULL, 0, message), SADDLE_OK);
        assert_int_equal(saddle_set_d(solver, &number), SADDLE_OK);
        solve_all(text, solver, o.method);
    }
    saddle_destroy(&solver);
}

static void every_method_and_iteration_solves_it(void **state)
{
    (void)state;
    const saddle_matrix A = saddle_symmetric(0, NULL, NULL, NULL), B = saddle_general(0, NULL, NULL, NULL);
    char method[32], krylov[32];
    for (int m = 0; saddle_option_word("method", m, method, sizeof method)[0]; ++m) {
        for (int k = 0; saddle_option_word("krylov", k, krylov, sizeof krylov)[0]; ++k) {
            solve_by(method, krylov, "", &A);
            solve_by(method, krylov, "device=reference", &B);
            solve_by(method, krylov, "precision=single", &B);
            solve_by(method, krylov, "precision=mixed", &A);
        }
    }
}

static void every_variant_of_a_method_solves_it(void **state)
{
    (void)state;
    static const struct {
        const char *method, *option;
    } all[] = {{"direct", "factorization"},
               {"direct", "check"},
               {"direct", "scaling"},
               {"direct", "order"},
               {"direct", "pairs"},
               {"bjacobi", "block_kernel"},
               {"bjacobi", "blocking"},
               {"ldlt", "blocking"},
               {"bjacobi", "block_precision"},
               {"ldlt", "fill"},
               {"ldlt", "pivot"},
               {"ldlt", "push_back"},
               {"ldlt", "trisolve"},
               {"ldlt", "check"},
               {"ldlt", "factor_precision"},
               {"jacobi", "sweep_order"},
               {"jacobi", "fallback"},
               {"jacobi", "trisolve"},
               {"jacobi", "check"},
               {"none", "stop"},
               {"diagonal", "stop"}};
    const saddle_matrix A = saddle_symmetric(0, NULL, NULL, NULL);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) {
        char word[32], text[96];
        for (int w = 0; saddle_option_word(all[k].option, w, word, sizeof word)[0]; ++w) {
            if (strcmp(word, "user") == 0) continue;
            snprintf(text, sizeof text, "%s=%s%s", all[k].option, word,
                     strcmp(word, "pairs") == 0 ? ",pairs=on" : "");
            solve_by(all[k].method, "auto", text, &A);
        }
    }
}

static void one_call_solves_it(void **state)
{
    (void)state;
    for (int k = 0; k < VIEWS; ++k) {
        const saddle_matrix A = view_of(k);
        saddle_info info = saddle_info_default();
        if (saddle_solve_once(&A, NULL, NULL, NULL, &info)) fail_msg("view %d: %s", k, info.message);
        assert_true(info.converged && info.backward_error == 0);
    }
}

/* Nothing but entries where there can be none is wrong with it. */
static void entries_of_no_rows_are_refused(void **state)
{
    (void)state;
    const int32_t index[] = {0};
    const double value[] = {1};
    char message[SADDLE_MESSAGE_SIZE];
    saddle_facts facts;
    for (int layout = 0; layout < 3; ++layout) {
        saddle_matrix A = {.size = sizeof A,
                           .entries = 1,
                           .layout = (saddle_layout)layout,
                           .pointer_bits = 32,
                           .indices = index,
                           .col_indices = index,
                           .values = value};
        assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_MATRIX);
        A.pointers = pointer32;
        assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_MATRIX);
    }
}

static void files_hold_it(void **state)
{
    (void)state;
    static const char *const names[] = {"e.mtx", "e.mtx.gz", "e.rb", "e.rb.gz"};
    for (int k = 0; k < VIEWS; ++k) {
        for (int f = 0; f < 4; ++f) {
            const saddle_matrix A = view_of(k);
            saddle_matrix B;
            char message[SADDLE_MESSAGE_SIZE] = "";
            const char *path = path_of(names[f]);
            if (saddle_write_matrix(path, &A, "nothing", message)) fail_msg("%s", message);
            if (saddle_read_matrix(path, NULL, &B, message)) fail_msg("%s", message);
            assert_true(B.rows == 0 && B.columns == 0 && B.entries == 0);
            assert_true((B.shape == SADDLE_GENERAL || B.shape == SADDLE_LOWER) && B.pointers);
            saddle_matrix_free(&B, NULL);
        }
    }
    char message[SADDLE_MESSAGE_SIZE] = "";
    int64_t n = -1;
    double *vector = NULL;
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), 0, NULL, NULL, message), SADDLE_OK);
    if (saddle_read_vector(path_of("v.mtx"), NULL, &n, &vector, message)) fail_msg("%s", message);
    assert_int_equal(n, 0);
    saddle_vector_free(vector, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_is_inspected_converted_and_multiplied),
        cmocka_unit_test(every_preparation_of_it_is_empty),
        cmocka_unit_test(every_method_and_iteration_solves_it),
        cmocka_unit_test(every_variant_of_a_method_solves_it),
        cmocka_unit_test(one_call_solves_it),
        cmocka_unit_test(entries_of_no_rows_are_refused),
        cmocka_unit_test(files_hold_it),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
