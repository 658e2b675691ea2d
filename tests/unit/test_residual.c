/* The residual of one column in one pass: the same bits for every instruction set and any number of threads,
 * for a matrix stored by half or whole, and the errors that the reference finds. */
#include "helpers.h"

#include "backend/cpu/cpu.h"
#include "solve/measure.h"

enum { N = 60000, REACH = 40, ROW = 6 };

typedef struct problem {
    sd_csr half, whole;
    double *b, *x;
} problem;

/* A band with a few entries a row, far enough apart for windows to overlap. */
static problem problem_new(sd_context *c)
{
    rng r = rng_start("residual");
    problem p = {.half = {.n = N, .half = true}};
    p.half.ptr = sd_alloc(c, N + 1, sizeof *p.half.ptr, "test");
    p.half.ind = sd_alloc(c, N * ROW, sizeof *p.half.ind, "test");
    p.half.val = sd_alloc(c, N * ROW, sizeof *p.half.val, "test");
    p.b = test_alloc(N, sizeof *p.b);
    p.x = test_alloc(N, sizeof *p.x);
    int64_t k = 0;
    for (int i = 0; i < N; ++i) {
        p.half.ptr[i] = k;
        for (int j = i; j < N && j <= i + REACH && k < p.half.ptr[i] + ROW; j += 1 + rng_below(&r, REACH / 2))
            if (j > i || rng_below(&r, 3)) p.half.ind[k] = j, p.half.val[k++] = rng_unit(&r);
        p.b[i] = rng_below(&r, 20) ? rng_unit(&r) : 0;
        p.x[i] = rng_unit(&r);
    }
    p.half.nnz = p.half.ptr[N] = k;
    assert_int_equal(sd_csr_expand(c, &p.half, &p.whole), SADDLE_OK);
    return p;
}

static void problem_free(sd_context *c, problem *p)
{
    sd_csr_free(c, &p->half);
    sd_csr_free(c, &p->whole);
    free(p->b);
    free(p->x);
}

static void every_table_has_the_same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    problem p = problem_new(&c);
    double *r = test_alloc(N, sizeof *r), *first = test_alloc(N, sizeof *first);
    for (int form = 0; form < 2; ++form) {
        sd_engine e;
        sd_operator op;
        sd_residual_norms before = {0}, found;
        assert_int_equal(sd_engine_open_host(&c, &e, SADDLE_DEVICE_CPU, 1), SADDLE_OK);
        assert_int_equal(sd_operator_make(&e, form ? &p.whole : &p.half, SD_DOUBLE, SD_SUMS_BY_SLICES, &op),
                         SADDLE_OK);
        assert_true(op.sparse.slices > 4 && op.sparse.half == !form);
        assert_int_equal(sd_engine_reserve(&e, N, &op.sparse), SADDLE_OK);
        for (const sd_cpu_isa *isa = sd_cpu_isas; isa <= sd_cpu(); ++isa) {
            for (int threads = 1; threads <= 5; threads += 2) {
                assert_true(isa->residual(&op.sparse, threads, p.b, p.x, e.scratch, r, &found));
                if (isa == sd_cpu_isas && threads == 1) {
                    before = found;
                    memcpy(first, r, N * sizeof *r);
                }
                assert_memory_equal(&found, &before, sizeof found);
                assert_memory_equal(r, first, N * sizeof *r);
            }
        }
        sd_operator_free(&e, &op);
        sd_engine_close(&e);
    }
    problem_free(&c, &p);
    free(r);
    free(first);
    assert_int_equal(c.bytes, 0);
}

static void errors_are_those_of_the_reference(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    problem p = problem_new(&c);
    saddle_errors errors[2][2];
    double share[2][2], *r[2] = {test_alloc(N, sizeof **r), test_alloc(N, sizeof **r)};
    for (int form = 0; form < 2; ++form) {
        for (int of = 0; of < 2; ++of) {
            sd_engine e;
            sd_operator op;
            assert_int_equal(sd_engine_open_host(&c, &e, of ? SADDLE_DEVICE_REFERENCE : SADDLE_DEVICE_CPU, 1),
                             SADDLE_OK);
            assert_int_equal(
                sd_operator_make(&e, form ? &p.whole : &p.half, SD_DOUBLE, SD_SUMS_BY_SLICES, &op),
                SADDLE_OK);
            assert_int_equal(sd_measure(&e, &op, p.b, p.x, r[of], &errors[form][of], &share[form][of]),
                             SADDLE_OK);
            sd_operator_free(&e, &op);
            sd_engine_close(&e);
        }
        const saddle_errors *mine = &errors[form][0], *plain = &errors[form][1];
        assert_true(fabs(mine->backward / plain->backward - 1) <= 1e-14);
        assert_true(fabs(mine->componentwise / plain->componentwise - 1) <= 1e-14);
        assert_true(fabs(mine->relative_residual / plain->relative_residual - 1) <= 1e-12);
        assert_true(fabs(share[form][0] / share[form][1] - 1) <= 1e-14);
        for (int i = 0; i < N; ++i) assert_true(fabs(r[0][i] - r[1][i]) <= 1e-15 * fabs(r[1][i]));
    }
    problem_free(&c, &p);
    free(r[0]);
    free(r[1]);
}

/* Numbers that have to be scaled first are left to others, and so is what is not a number. */
static void what_is_far_from_one_is_refused(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    problem p = problem_new(&c);
    sd_engine e;
    sd_operator op;
    sd_residual_norms found;
    const double far[] = {0x1p+250, -0x1p-250, INFINITY, NAN};
    assert_int_equal(sd_engine_open_host(&c, &e, SADDLE_DEVICE_CPU, 1), SADDLE_OK);
    assert_int_equal(sd_operator_make(&e, &p.half, SD_DOUBLE, SD_SUMS_BY_SLICES, &op), SADDLE_OK);
    assert_int_equal(sd_engine_reserve(&e, N, &op.sparse), SADDLE_OK);
    for (int k = 0; k < 8; ++k) {
        const int at = k % 2 ? N - 1 : 77;
        double *v = k % 3 ? p.x : p.b, before = v[at];
        v[at] = far[k / 2];
        assert_false(sd_cpu()->residual(&op.sparse, 1, p.b, p.x, e.scratch, NULL, &found));
        v[at] = before;
    }
    assert_true(sd_cpu()->residual(&op.sparse, 1, p.b, p.x, e.scratch, NULL, &found));
    sd_operator_free(&e, &op);
    sd_engine_close(&e);
    problem_free(&c, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_has_the_same_bits_with_any_number_of_threads),
        cmocka_unit_test(errors_are_those_of_the_reference),
        cmocka_unit_test(what_is_far_from_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
