/* The reference's applications of factored blocks, its extraction and norms. */
#include "block_checks.h"

typedef struct place {
    bench s;
    checking c;
} place;

static void open_reference(place *p)
{
    bench_open(&p->s, &sd_backend_reference, 1);
    p->c = (checking){.e = &p->s.e, .compare = true};
}

/* Factors of every kind, and right-hand sides for them. */
typedef struct problem {
    batch b;
    factors f;
    int32_t rows;
    double *rhs; /* COLUMNS of them */
    int32_t *order[2];
    bool *wanted;
} problem;

enum { COLUMNS = 5 };

static problem problem_new(rng *r, sd_engine *e, sd_batch_kernel kernel, sd_precision precision, int kinds)
{
    problem p = {.b = batch_of_kinds(r, precision, is_symmetric(kernel), kinds, 1)};
    const sd_batch_rule rule = {.kernel = kernel};
    p.f = factor_batch(e, &p.b, &rule);
    p.rows = p.b.start[p.b.blocks];
    p.rhs = test_alloc((size_t)p.rows * COLUMNS, sizeof *p.rhs);
    for (int32_t i = 0; i < p.rows * COLUMNS; ++i) p.rhs[i] = (float)rng_unit(r);
    for (int k = 0; k < 2; ++k) {
        p.order[k] = test_alloc((size_t)p.rows, sizeof(int32_t));
        rng_permutation(r, p.rows, p.order[k]);
    }
    p.wanted = test_alloc((size_t)p.b.blocks, sizeof *p.wanted);
    for (int32_t k = 0; k < p.b.blocks; ++k) p.wanted[k] = rng_below(r, 2);
    return p;
}

static void problem_free(problem *p)
{
    free(p->rhs);
    for (int k = 0; k < 2; ++k) free(p->order[k]);
    free(p->wanted);
    free_factors(&p->f);
    batch_free(&p->b);
}

static void applications_solve_with_the_factors(void **state)
{
    (void)state;
    rng r = rng_start("applications");
    place s;
    open_reference(&s);
    for (int step = 0; step < BENCH_KERNELS * 3; ++step) {
        const sd_batch_kernel kernel = (sd_batch_kernel)(step / 3);
        const sd_precision precision = step % 3 ? SD_SINGLE : SD_DOUBLE;
        const sd_precision vectors = step % 3 == 1 ? SD_SINGLE : SD_DOUBLE;
        problem p = problem_new(&r, &s.s.e, kernel, precision, ALL_KINDS);
        const int32_t *one = p.order[0], *two = p.order[1];
        const application ways[] = {{1, vectors, NULL, NULL, NULL, false, NULL},
                                    {COLUMNS, vectors, one, two, NULL, false, NULL},
                                    {COLUMNS, vectors, NULL, two, NULL, false, NULL},
                                    {2, vectors, one, NULL, NULL, false, NULL},
                                    {3, vectors, one, one, NULL, true, NULL},
                                    {COLUMNS, vectors, two, two, p.wanted, true, NULL},
                                    {2, vectors, one, two, p.wanted, false, NULL},
                                    {0, vectors, one, two, NULL, false, NULL}};
        for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k)
            check_application(&s.c, &p.b, &p.f, &ways[k], p.rhs);
        problem_free(&p);
    }
    bench_close(&s.s);
}

/* The same bits, wherever y is and however many right-hand sides there are. */
static void the_way_of_an_application_does_not_change_its_bits(void **state)
{
    (void)state;
    rng r = rng_start("bits");
    place s;
    open_reference(&s);
    for (sd_batch_kernel kernel = 0; kernel < BENCH_KERNELS; ++kernel) {
        problem p = problem_new(&r, &s.s.e, kernel, SD_SINGLE, BLOCK_KINDS);
        for (sd_precision vectors = 0; vectors < SD_PRECISIONS; ++vectors) {
            const application apart = {COLUMNS, vectors, p.order[0], p.order[0], NULL, false, NULL};
            application in_place = apart;
            in_place.in_place = true;
            checking a = {.e = &s.s.e}, b = {.e = &s.s.e};
            check_application(&a, &p.b, &p.f, &apart, p.rhs);
            check_application(&b, &p.b, &p.f, &in_place, p.rhs);
            assert_true(a.bits == b.bits && a.bits != 0);
        }
        problem_free(&p);
    }
    bench_close(&s.s);
}

/* b / max|a|, or b where there is no such number. */
static void what_was_replaced_gives_finite_results(void **state)
{
    (void)state;
    rng r = rng_start("replaced");
    place s;
    open_reference(&s);
    for (int step = 0; step < BENCH_KERNELS * SD_PRECISIONS; ++step) {
        const sd_batch_kernel kernel = (sd_batch_kernel)(step / SD_PRECISIONS);
        problem p = problem_new(&r, &s.s.e, kernel, (sd_precision)(step % SD_PRECISIONS), ALL_KINDS);
        placed_batch placed;
        const application plain = {1, p.b.precision, NULL, NULL, NULL, false, NULL};
        put_factors(&s.s.e, &p.b, &p.f, &plain, &placed);
        sd_vector v = sd_vector_new(&s.s.e, p.b.precision, p.rows, "test");
        double *x = test_alloc((size_t)p.rows, sizeof *x);
        sd_vector_put(&s.s.e, p.rhs, &v);
        sd_batch_apply(&s.s.e, &placed.f, 1, &v, &v);
        sd_vector_get(&s.s.e, &v, x);
        for (int32_t k = 0; k < p.b.blocks; ++k)
            for (int32_t i = p.b.start[k]; i < p.b.start[k + 1]; ++i)
                if (p.f.state[k].status) assert_true(isfinite(x[i]) && (x[i] < 0) == (p.rhs[i] < 0));
        free(x);
        sd_vector_free(&s.s.e, &v);
        unplace_batch(&s.s.e, &placed);
        problem_free(&p);
    }
    bench_close(&s.s);
}

static void extraction_finds_the_entries_of_the_blocks(void **state)
{
    (void)state;
    rng r = rng_start("extraction");
    place s;
    open_reference(&s);
    for (int way = 0; way < 4 * 2 * 2 * 2 * 2 * 2; ++way) {
        const bool half = way >> 2 & 1, source = way >> 3 & 1, target = way >> 4 & 1, some = way >> 5 & 1;
        const int regular = way >> 6 & 1 ? 1 + rng_below(&r, SD_BLOCK_MOST) : 0;
        if (half && source != target) continue;
        extraction x = extraction_new(&r, (shape)(way & 3), 150 + way, half, regular, source, target, some);
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)
            check_extraction(&s.c, &x, precision);
        extraction_free(&x);
    }
    bench_close(&s.s);
}

static void norms_are_the_largest_sums_of_columns(void **state)
{
    (void)state;
    rng r = rng_start("norms");
    place s;
    open_reference(&s);
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b = batch_of_kinds(&r, precision, false, ALL_KINDS, 1);
        bool *wanted = test_alloc((size_t)b.blocks, sizeof *wanted);
        for (int32_t k = 0; k < b.blocks; ++k) wanted[k] = rng_below(&r, 2);
        check_norms(&s.c, &b, NULL);
        check_norms(&s.c, &b, wanted);
        free(wanted);
        batch_free(&b);
    }
    bench_close(&s.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applications_solve_with_the_factors),
        cmocka_unit_test(the_way_of_an_application_does_not_change_its_bits),
        cmocka_unit_test(what_was_replaced_gives_finite_results),
        cmocka_unit_test(extraction_finds_the_entries_of_the_blocks),
        cmocka_unit_test(norms_are_the_largest_sums_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
