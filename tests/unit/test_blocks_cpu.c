/* The CPU's kernels on blocks, in all its tables, against the reference. */
#include "block_oracle.h"

#include "backend/cpu/cpu.h"

enum { TABLES = 3 };

/* The tables that this processor runs; NULL for the others. */
static const sd_backend *table(int t)
{
#ifdef SD_HAVE_AVX2
    if (t == 1) return sd_cpu_has_avx2() ? &sd_cpu_avx2 : NULL;
    if (t == 2) return sd_cpu_has_avx512() ? &sd_cpu_avx512 : NULL;
#endif
    return t == 0 ? &sd_cpu_portable : NULL;
}

static const char *const table_names[TABLES] = {"portable", "avx2", "avx512"};

static factors factor_on(const sd_backend *backend, int threads, const batch *b, const sd_block_rule *rule)
{
    bench s;
    bench_open(&s, backend, threads);
    factors f = factor_batch(&s.e, b, rule);
    bench_close(&s);
    return f;
}

/* Where rounding decides what becomes of a block, and where it does not. */
static bool is_delicate(block_kind kind)
{
    return kind == NEARLY_SINGULAR || kind == SPREAD || kind == GRADED || kind == HUGE_ENTRIES ||
           kind == DENORMAL;
}

static void check_factors(const batch *b, const factors *mine, const factors *reference, int t)
{
    for (int32_t k = 0; k < b->blocks; ++k) {
        const char *name = kernel_names[mine->kernel], *kind = kind_names[b->kind[k]];
        const int n = batch_size(b, k);
        assert_well_formed(b, mine, k);
        if (!is_delicate(b->kind[k]) && mine->state[k].status != reference->state[k].status)
            fail_msg("%s, %s: status %d, not %d (%s, %d rows)", name, table_names[t], mine->state[k].status,
                     reference->state[k].status, kind, n);
        if (mine->state[k].status || mine->kernel >= SD_JORDAN || mine->state[k].perturbed || k % 4 != t)
            continue;
        const double error = rounding_error(b, mine, k);
        if (!(error <= ROUNDINGS))
            fail_msg("%s, %s, %s: %g roundings (%s, %d rows)", name, table_names[t],
                     precision_name(b->precision), error, kind, n);
    }
}

static void every_table_factors_as_the_reference_does(void **state)
{
    (void)state;
    rng r = rng_start("factors");
    for (int step = 0; step < SD_BLOCK_KERNELS * SD_PRECISIONS * 2; ++step) {
        const sd_block_rule rule = {.kernel = (sd_block_kernel)(step / 4), .small = step / 2 % 2 ? 1e-2 : 0};
        const sd_precision precision = (sd_precision)(step % 2);
        batch b = batch_of_kinds(&r, precision, sd_block_symmetric(rule.kernel), ALL_KINDS, 1);
        factors reference = factor_on(&sd_backend_reference, 1, &b, &rule);
        for (int t = 0; t < TABLES; ++t) {
            if (!table(t)) continue;
            factors f = factor_on(table(t), 2, &b, &rule);
            check_factors(&b, &f, &reference, t);
            free_factors(&f);
        }
        free_factors(&reference);
        batch_free(&b);
    }
}

static bool same_factors(const factors *f, const factors *g)
{
    const size_t bytes = (size_t)f->entries * sd_precision_size(f->precision);
    return memcmp(f->data, g->data, bytes) == 0 && memcmp(f->row, g->row, (size_t)f->rows) == 0 &&
           memcmp(f->column, g->column, (size_t)f->rows) == 0 &&
           memcmp(f->state, g->state, sizeof *f->state * (size_t)f->blocks) == 0;
}

/* A block alone in a batch, of the batch b. */
static batch one_block(const batch *b, int32_t k)
{
    const int size = batch_size(b, k);
    batch one = batch_new(b->precision, 1, &size);
    const size_t real = sd_precision_size(b->precision);
    memcpy(one.data, (const char *)b->data + (size_t)b->entry[k] * real, (size_t)(size * size) * real);
    return one;
}

static void a_block_has_the_same_bits_at_any_number_of_threads_and_alone(void **state)
{
    (void)state;
    rng r = rng_start("bits");
    for (int step = 0; step < SD_BLOCK_KERNELS * TABLES * SD_PRECISIONS; ++step) {
        const int t = step / SD_PRECISIONS % TABLES;
        const sd_block_rule rule = {.kernel = (sd_block_kernel)(step / SD_PRECISIONS / TABLES),
                                    .small = 1e-3};
        if (!table(t)) continue;
        batch b = batch_of_kinds(&r, (sd_precision)(step % SD_PRECISIONS), sd_block_symmetric(rule.kernel),
                                 ALL_KINDS, 1);
        const size_t real = sd_precision_size(b.precision);
        factors f = factor_on(table(t), 1, &b, &rule), g = factor_on(table(t), 3, &b, &rule);
        assert_true(same_factors(&f, &g));
        for (int32_t k = 0; k < b.blocks; k += 7) {
            batch alone = one_block(&b, k);
            factors h = factor_on(table(t), 1, &alone, &rule);
            assert_memory_equal(h.data, (char *)f.data + (size_t)b.entry[k] * real, (size_t)h.entries * real);
            assert_memory_equal(h.row, f.row + b.start[k], (size_t)h.rows);
            assert_memory_equal(h.state, &f.state[k], sizeof *h.state);
            free_factors(&h);
            batch_free(&alone);
        }
        free_factors(&f);
        free_factors(&g);
        batch_free(&b);
    }
}

/* ---- application ---- */

enum { SIDES = 3 };

/* Blocks whose conditions are small, so that answers may be compared. */
static batch well_conditioned(rng *r, sd_precision precision, sd_block_kernel kernel, int32_t blocks)
{
    int *size = test_alloc((size_t)blocks, sizeof *size);
    double a[SQUARE];
    for (int32_t k = 0; k < blocks; ++k) size[k] = 1 + (int)(k % SD_BLOCK_MOST);
    batch b = batch_new(precision, blocks, size);
    for (int32_t k = 0; k < blocks; ++k) {
        const block_kind kind = is_cholesky(kernel) || k % 2 ? DOMINANT : PERMUTATION;
        const bool plain = kernel == SD_LDU || kernel == SD_LDLT_STATIC;
        const bool symmetric = sd_block_symmetric(kernel);
        fill_block(r, size[k],
                   is_cholesky(kernel) ? POSITIVE
                   : plain             ? DOMINANT
                                       : kind,
                   symmetric, precision, a);
        for (int i = 0; i < size[k] && is_cholesky(kernel); ++i) a[i * (size[k] + 1)] += size[k];
        batch_set(&b, k, a);
    }
    free(size);
    return b;
}

/* Factors on one engine, application there to SIDES vectors that are all given in double. */
static void solve_on(const sd_backend *backend, int threads, const batch *b, sd_block_kernel kernel,
                     sd_precision vectors, const int32_t *source, const int32_t *target, const double *rhs,
                     double *y)
{
    bench s;
    const sd_block_rule rule = {.kernel = kernel};
    bench_open(&s, backend, threads);
    placed_batch p;
    place_batch(&s.e, b, NULL, source, target, &p);
    sd_vector x = sd_vector_new(&s.e, vectors, (int64_t)SIDES * p.plan.rows, "x");
    sd_vector z = sd_vector_new(&s.e, vectors, (int64_t)SIDES * p.plan.rows, "z");
    sd_vector_put(&s.e, rhs, &x);
    sd_block_factor(&s.e, &rule, &p.x, &p.f);
    sd_block_apply(&s.e, &p.f, SIDES, &x, &z);
    sd_vector_get(&s.e, &z, y);
    if (source == target) { /* in place */
        double *again = test_alloc((size_t)SIDES * (size_t)p.plan.rows, sizeof *again);
        sd_block_apply(&s.e, &p.f, SIDES, &x, &x);
        sd_vector_get(&s.e, &x, again);
        assert_memory_equal(y, again, sizeof *y * (size_t)SIDES * (size_t)p.plan.rows);
        free(again);
    }
    sd_vector_free(&s.e, &x);
    sd_vector_free(&s.e, &z);
    unplace_batch(&s.e, &p);
    bench_close(&s);
}

static void check_applications(rng *r, sd_block_kernel kernel, sd_precision precision, sd_precision vectors)
{
    batch b = well_conditioned(r, precision, kernel, 640);
    const int32_t rows = b.start[b.blocks];
    const size_t length = (size_t)SIDES * (size_t)rows;
    int32_t *order[2] = {test_alloc((size_t)rows, sizeof(int32_t)),
                         test_alloc((size_t)rows, sizeof(int32_t))};
    double *rhs = test_alloc(length, sizeof *rhs), *wanted = test_alloc(length, sizeof *rhs);
    double *got = test_alloc(length, sizeof *rhs), *again = test_alloc(length, sizeof *rhs);
    for (int k = 0; k < 2; ++k) rng_permutation(r, rows, order[k]);
    for (size_t i = 0; i < length; ++i) rhs[i] = (double)(float)rng_unit(r);
    for (int how = 0; how < 3; ++how) { /* in order, permuted, from one order to another */
        const int32_t *source = how ? order[0] : NULL, *target = how == 2 ? order[1] : source;
        solve_on(&sd_backend_reference, 1, &b, kernel, vectors, source, target, rhs, wanted);
        for (int t = 0; t < TABLES; ++t) {
            if (!table(t)) continue;
            solve_on(table(t), 1, &b, kernel, vectors, source, target, rhs, got);
            solve_on(table(t), 2, &b, kernel, vectors, source, target, rhs, again);
            assert_memory_equal(got, again, length * sizeof *got);
            const double allowed = 400 * unit_of(vectors == SD_SINGLE ? SD_SINGLE : precision);
            for (size_t i = 0; i < length; ++i)
                if (!(fabs(got[i] - wanted[i]) <= allowed))
                    fail_msg("%s in %s, %s: entry %zu is %g off", kernel_names[kernel],
                             precision_name(precision), table_names[t], i, fabs(got[i] - wanted[i]));
        }
    }
    for (int k = 0; k < 2; ++k) free(order[k]);
    free(rhs);
    free(wanted);
    free(got);
    free(again);
    batch_free(&b);
}

static void every_table_applies_as_the_reference_does(void **state)
{
    (void)state;
    rng r = rng_start("applications");
    for (sd_block_kernel kernel = 0; kernel < SD_BLOCK_KERNELS; ++kernel) {
        check_applications(&r, kernel, SD_DOUBLE, SD_DOUBLE);
        check_applications(&r, kernel, SD_SINGLE, SD_SINGLE);
        check_applications(&r, kernel, SD_SINGLE, SD_DOUBLE);
    }
}

/* ---- norms, products, extraction ---- */

/* Norms of a batch of which some blocks are in the plan, on one engine. */
static void norms_on(const sd_backend *backend, const batch *b, const bool *wanted, double *norm)
{
    bench s;
    bench_open(&s, backend, 2);
    placed_batch p;
    place_batch(&s.e, b, wanted, NULL, NULL, &p);
    sd_vector x = sd_vector_new(&s.e, SD_DOUBLE, b->blocks, "norms");
    sd_block_norms(&s.e, &p.x, &x);
    sd_vector_get(&s.e, &x, norm);
    sd_vector_free(&s.e, &x);
    unplace_batch(&s.e, &p);
    bench_close(&s);
}

static void every_table_has_the_norms_of_the_reference(void **state)
{
    (void)state;
    rng r = rng_start("norms");
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b = batch_of_kinds(&r, precision, false, ALL_KINDS, 1);
        double *mine = test_alloc((size_t)b.blocks, sizeof *mine);
        double *theirs = test_alloc((size_t)b.blocks, sizeof *theirs);
        bool *wanted = test_alloc((size_t)b.blocks, sizeof *wanted);
        for (int32_t k = 0; k < b.blocks; ++k) wanted[k] = k % 3 != 1;
        for (int t = 0; t < TABLES; ++t) {
            if (!table(t)) continue;
            norms_on(table(t), &b, wanted, mine);
            norms_on(&sd_backend_reference, &b, wanted, theirs);
            for (int32_t k = 0; k < b.blocks; ++k)
                assert_true(fabs(mine[k] - theirs[k]) <= 64 * DBL_EPSILON * theirs[k]);
        }
        free(mine);
        free(theirs);
        free(wanted);
        batch_free(&b);
    }
}

enum { TARGETS = 700 };

/* Random products over one array of numbers, with pivots of one factored block among the terms. */
typedef struct products {
    sd_block_target target[TARGETS];
    sd_block_term term[2 * TARGETS];
    int64_t entries; /* of all targets */
} products;

static void make_products(rng *r, const batch *b, products *p)
{
    p->entries = 0;
    for (int k = 0; k < TARGETS; ++k) {
        const bool symmetric = k % 4 == 0;
        const int rows = 1 + (int)rng_below(r, 32), columns = symmetric ? rows : 1 + (int)rng_below(r, 32);
        p->target[k] = (sd_block_target){.c = p->entries,
                                         .first = 2 * k,
                                         .last = 2 * k + 1 + k % 2,
                                         .rows = (uint8_t)rows,
                                         .columns = (uint8_t)columns,
                                         .symmetric = symmetric};
        p->entries += rows * columns;
        for (int t = 2 * k; t < 2 * k + 2; ++t) {
            const int32_t d = (int32_t)rng_below(r, (uint64_t)b->blocks);
            const bool flip = rng_below(r, 2);
            p->term[t] = (sd_block_term){.a = (int64_t)rng_below(r, 500),
                                         .b = 3,
                                         .d = t % 3 == 0 ? -1 : b->entry[d],
                                         .d_block = d,
                                         .inner = (uint8_t)batch_size(b, d),
                                         .a_transposed = flip,
                                         .b_transposed = rng_below(r, 2)};
            if (symmetric) p->term[t].b = p->term[t].a, p->term[t].b_transposed = flip;
        }
    }
}

static void subtract_on(const sd_backend *backend, int threads, const batch *b, const products *p,
                        double *out)
{
    bench s;
    const sd_block_rule rule = {.kernel = SD_LDLT_BUNCH_KAUFMAN};
    bench_open(&s, backend, threads);
    placed_batch d;
    place_batch(&s.e, b, NULL, NULL, NULL, &d);
    sd_block_factor(&s.e, &rule, &d.x, &d.f);
    const size_t real = sd_precision_size(b->precision);
    void *start = reals_new(b->precision, p->entries);
    for (int64_t i = 0; i < p->entries; ++i) real_set(start, b->precision, i, (double)(i % 17) - 8);
    const sd_block_products what = {TARGETS, sd_to_backend(&s.e, p->target, sizeof p->target, "targets"),
                                    sd_to_backend(&s.e, p->term, sizeof p->term, "terms")};
    sd_blocks c = {NULL, sd_to_backend(&s.e, start, p->entries * (int64_t)real, "targets"), b->precision};
    sd_block_subtract(&s.e, &what, &d.x, &d.f, &c);
    s.e.backend->download(&s.e, c.data, start, p->entries * (int64_t)real);
    for (int64_t i = 0; i < p->entries; ++i) out[i] = real_at(start, b->precision, i);
    s.e.backend->release(&s.e, (void *)(uintptr_t)what.target);
    s.e.backend->release(&s.e, (void *)(uintptr_t)what.term);
    s.e.backend->release(&s.e, c.data);
    free(start);
    unplace_batch(&s.e, &d);
    bench_close(&s);
}

static void every_table_subtracts_products_as_the_reference_does(void **state)
{
    (void)state;
    rng r = rng_start("products");
    static products p;
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b = well_conditioned(&r, precision, SD_LDLT_BUNCH_KAUFMAN, 64);
        make_products(&r, &b, &p);
        double *wanted = test_alloc((size_t)p.entries, sizeof *wanted);
        double *got = test_alloc((size_t)p.entries, sizeof *got),
               *again = test_alloc((size_t)p.entries, sizeof *got);
        double most = 0;
        subtract_on(&sd_backend_reference, 1, &b, &p, wanted);
        for (int64_t i = 0; i < p.entries; ++i) most = fmax(most, fabs(wanted[i]));
        for (int t = 0; t < TABLES; ++t) {
            if (!table(t)) continue;
            subtract_on(table(t), 1, &b, &p, got);
            subtract_on(table(t), 2, &b, &p, again);
            assert_memory_equal(got, again, sizeof *got * (size_t)p.entries);
            for (int64_t i = 0; i < p.entries; ++i)
                assert_true(fabs(got[i] - wanted[i]) <= 100 * unit_of(precision) * most);
        }
        free(wanted);
        free(got);
        free(again);
        batch_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_factors_as_the_reference_does),
        cmocka_unit_test(a_block_has_the_same_bits_at_any_number_of_threads_and_alone),
        cmocka_unit_test(every_table_applies_as_the_reference_does),
        cmocka_unit_test(every_table_has_the_norms_of_the_reference),
        cmocka_unit_test(every_table_subtracts_products_as_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
