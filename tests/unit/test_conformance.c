/*
 * Every backend against reference: one walk over tables x precisions x threads x kernels.
 *
 * check_NAME belongs to row NAME of kernels.def; a row without a check does not compile. A check
 * runs its kernel over all sizes (or all matrices), compares with reference within the rounding of
 * the sums, and records the bits that came out: these must be the same from run to run, at any
 * number of threads, and in all tables of the cpu. Data goes in and out by upload and download only,
 * so that the same walk runs on a GPU (SADDLE_TEST_CUDA=1).
 */
#include "backend_or_skip.h"
#include "conformance_sparse.h"
#include "conformance_triangle.h"
#include "conformance_vectors.h"

static const struct {
    const char *name;
    void (*check)(setting *s);
} checks[] = {
#define KERNEL(name, parameters, arguments) {#name, check_##name},
#include "backend/kernels.def"
#undef KERNEL
};
enum { CHECKS = sizeof checks / sizeof checks[0] };

static void open_on(setting *s, const sd_backend *backend, int threads, sd_precision precision, bool compare)
{
    sd_context_init(&s->c, NULL, 0);
    s->precision = precision;
    open_engine_on(&s->c, backend, threads, &s->d, &s->e);
    assert_int_equal(sd_engine_open_host(&s->c, &s->reference, SADDLE_DEVICE_REFERENCE, 1), SADDLE_OK);
    s->compare = compare;
    if (!compare) s->reference.status = SADDLE_CANCELLED; /* its kernels do nothing */
}

static void close_all(setting *s)
{
    sd_engine_close(&s->e);
    sd_device_close(&s->c, &s->d);
    sd_engine_close(&s->reference);
    assert_int_equal(s->c.bytes, 0);
}

/* The bits of the first walk of a family of backends, which all later ones must repeat. */
typedef struct family {
    bool known;
    uint64_t bits[CHECKS][SD_PRECISIONS];
} family;

static void walk(const sd_backend *backend, family *f)
{
    const int counts = sizeof thread_counts / sizeof thread_counts[0];
    const bool brief = is_brief(backend);
    const int runs = brief ? 0 : is_slow() ? 1 : counts;
    for (int run = 0; run <= runs; ++run) { /* the last number of threads twice */
        const int threads = thread_counts[brief ? 1 : run < counts ? run : counts - 1];
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
            setting s;
            open_on(&s, backend, threads, p, !f->known);
            for (int k = 0; k < CHECKS; ++k) {
                s.bits = UINT64_C(14695981039346656037);
                checks[k].check(&s);
                if (f->known && f->bits[k][p] != s.bits)
                    fail_msg("%s has other bits at %d threads, in %s, than before", checks[k].name, threads,
                             p == SD_DOUBLE ? "double" : "single");
                if (!f->known) f->bits[k][p] = s.bits;
            }
            close_all(&s);
        }
        f->known = true;
    }
}

static family cpu_family;

static void the_portable_table_conforms(void **state)
{
    (void)state;
    walk(isa_or_skip("portable"), &cpu_family);
}

/* After the portable one, whose bits it must repeat. */
static void the_avx2_table_conforms_with_the_same_bits(void **state)
{
    (void)state;
    assert_true(cpu_family.known);
    walk(isa_or_skip("avx2"), &cpu_family);
}

static void the_avx512_table_conforms_with_the_same_bits(void **state)
{
    (void)state;
    assert_true(cpu_family.known);
    walk(isa_or_skip("avx512"), &cpu_family);
}

static void the_cuda_module_conforms(void **state)
{
    (void)state;
    family f = {0};
    walk(cuda_or_skip(), &f);
}

/* A matrix whose products are cut into pieces, or the walk would not show what it should. */
static void the_problems_really_have_several_slices(void **state)
{
    (void)state;
    int whole = 0, half = 0, large = 0;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int k = 0; k < PROBLEMS; ++k) {
        sd_slices s;
        assert_int_equal(sd_slices_make(&c, &problems[k].csr, &s), SADDLE_OK);
        assert_int_equal(s.slice[0], 0);
        assert_int_equal(s.slice[s.count], problems[k].n);
        for (int32_t i = 0; i < s.count; ++i) assert_true(s.slice[i] <= s.slice[i + 1]);
        if (s.count > 8) ++*(problems[k].half ? &half : &whole);
        large += problems[k].csr.nnz > 200000;
        sd_slices_free(&c, &s);
    }
    assert_true(whole >= 2 && half >= 2 && large >= 5);
    assert_int_equal(c.bytes, 0);
}

static void kernels_do_nothing_after_a_failure(void **state)
{
    (void)state;
    const sd_backend *tables[] = {&sd_backend_reference, sd_cpu_isas[0].backend, sd_cpu()->backend};
    for (int t = 0; t < 3; ++t) {
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
            setting s;
            open_on(&s, tables[t], 1, p, true);
            placed A = place(&s.e, &problems[2].csr, p), H = place(&s.e, &problems[3].csr, p);
            pair x = put_pair(&s, 7, data[0]), y = put_pair(&s, 7, data[1]);
            sd_vector wide = put_data(&s.e, SD_DOUBLE, 7, data[2]);
            double result = 42, h[3] = {42, 42, 42};
            s.e.status = SADDLE_DEVICE_FAILED;
            sd_fill(&s.e, 3, &y.mine);
            sd_copy(&s.e, &x.mine, &y.mine);
            sd_scale(&s.e, 3, &y.mine);
            sd_axpy(&s.e, 3, &x.mine, &y.mine);
            sd_axpby(&s.e, 3, &x.mine, 2, &y.mine);
            sd_multiply(&s.e, &x.mine, &x.mine, &y.mine);
            sd_absolute(&s.e, &x.mine, &y.mine);
            sd_dot(&s.e, &x.mine, &y.mine, &result);
            const sd_scalar one = {.positive = false};
            sd_advance(&s.e, &one, &x.mine, &x.mine, &y.mine, &y.mine, &result);
            sd_direction(&s.e, &x.mine, &one, &one, &x.mine, &y.mine);
            sd_norm_inf(&s.e, &x.mine, &result);
            sd_ratio_max(&s.e, &x.mine, &y.mine, &result);
            sd_gram(&s.e, &x.mine, &y.mine, h);
            sd_basis_dot(&s.e, 1, &x.mine, &y.mine, h);
            sd_wait(&s.e);
            sd_basis_axpy(&s.e, 1, 1.0, h, &x.mine, &y.mine);
            sd_from_double(&s.e, &wide, &y.mine);
            sd_to_double(&s.e, &x.mine, &wide);
            for (int half = 0; half < 2; ++half) {
                const sd_sparse *a = half ? &H.sparse : &A.sparse;
                sd_spmv(&s.e, a, &x.mine, &y.mine);
                sd_spmv_abs(&s.e, a, &x.mine, &y.mine);
                sd_residual_dd(&s.e, a, &x.mine, &x.mine, &y.mine);
            }
            const sd_triangle one_row =
                factor_place(&s.reference, &triangles[1], p); /* one row, in host memory too */
            const sd_frame frame = place_frame(&s.reference, p, 7);
            sd_triangle_solve(&s.e, &one_row, 1, &x.mine, &y.mine);
            sd_triangle_sweep(&s.e, &one_row, SD_SWEEP_ENTRIES, 1, &x.mine, NULL, &y.mine);
            sd_triangle_residual(&s.e, &one_row, 1, &x.mine, &x.mine, &y.mine);
            sd_enter(&s.e, &frame, 1, &x.mine, &y.mine);
            sd_leave(&s.e, &frame, 1, &x.mine, &y.mine);
            factor_unplace(&s.reference, &one_row);
            unplace_frame(&s.reference, &frame);
            assert_true(result == 42 && h[0] == 42 && h[1] == 42 && h[2] == 42);
            assert_int_equal(s.e.status, SADDLE_DEVICE_FAILED);
            s.e.status = SADDLE_OK;
            compare_vectors(&s, &y, NULL, "after a failure");
            double got[7];
            sd_vector_get(&s.e, &wide, got);
            assert_memory_equal(got, data[2], sizeof got);
            sd_vector_free(&s.e, &wide);
            free_pair(&s, &x);
            free_pair(&s, &y);
            unplace(&s.e, &A);
            unplace(&s.e, &H);
            close_all(&s);
        }
    }
}

static sd_context problem_context;

static int make_data(void **state)
{
    (void)state;
    rng r = rng_start("conformance");
    for (int k = 0; k < 4; ++k) {
        const size_t room = (size_t)LARGEST * (k == 0 ? PANEL_ROOM : 1);
        data[k] = test_alloc(room, sizeof *data[k]);
        for (size_t i = 0; i < room; ++i) data[k][i] = rng_unit(&r);
    }
    sd_context_init(&problem_context, NULL, 0);
    for (int k = 0; k < PROBLEMS; ++k) make_problem(&problem_context, &problems[k], &r);
    for (int k = 0; k < TRIANGLES; ++k) factor_make(&r, &triangles[k], k % 3 == 1 ? 8 : 0);
    return 0;
}

static int free_data(void **state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) free(data[k]);
    for (int k = 0; k < PROBLEMS; ++k) sd_csr_free(&problem_context, &problems[k].csr);
    for (int k = 0; k < TRIANGLES; ++k) factor_free(&triangles[k]);
    return 0;
}

static void a_host_has_one_device(void **state)
{
    (void)state;
    sd_context c;
    sd_device d;
    sd_context_init(&c, NULL, 0);
    for (int kind = SADDLE_DEVICE_CPU; kind <= SADDLE_DEVICE_REFERENCE; ++kind) {
        if (kind == SADDLE_DEVICE_CUDA) continue;
        assert_int_equal(sd_device_open(&c, &d, kind, 1), SADDLE_NO_DEVICE);
        assert_contains(c.message, "no device 1");
        assert_null(d.backend);
        sd_device_close(&c, &d);
        assert_int_equal(sd_device_open(&c, &d, kind, 0), SADDLE_OK);
        sd_device_close(&c, &d);
        assert_null(d.backend);
    }
    assert_int_equal(c.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_has_one_device),
        cmocka_unit_test(the_problems_really_have_several_slices),
        cmocka_unit_test(the_portable_table_conforms),
        cmocka_unit_test(the_avx2_table_conforms_with_the_same_bits),
        cmocka_unit_test(the_avx512_table_conforms_with_the_same_bits),
        cmocka_unit_test(the_cuda_module_conforms),
        cmocka_unit_test(kernels_do_nothing_after_a_failure),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
