/*
 * Every backend's kernels on blocks against reference: one walk over tables x precisions x threads x rows of
 * batch.def, kernels on batches within each, those of the benchmark too (bench/kernels). On cuda those
 * are in a module of their own, as is the second version of every factorization.
 *
 * check_NAME belongs to row NAME of batch.def; a row without a check does not compile. Factors must satisfy
 * the bounds of block_oracle.h, and have reference's pivots where rounding cannot change them: where there is
 * no growth and three slightly different blocks have the same, or where all arithmetic is exact. The bits
 * must be the same from run to run, at any number of threads, and wherever in a batch a block stands; those
 * of different tables may differ. Data goes in and out by upload and download only.
 */
#include "block_checks.h"
#include "block_material.h"
#include "isa_tables.h"

#include "backend/cpu/cpu.h"

enum { TIMES = 10 }; /* allowed of reference's residual, or of one rounding where that is smaller */
static const int thread_counts[] = {1, 2, 3, 8};

typedef struct walker {
    checking c;
    sd_precision precision;
    bench_version version;
    int kernels; /* that the backend has */
} walker;

enum { EXTRACTIONS = 8 };
static extraction extractions[EXTRACTIONS];

/* ---- factorizations ---- */

/* max over some right-hand sides of the residual of solutions in long double. */
static double factors_residual(const material *m, const factors *f, int32_t k)
{
    double most = 0;
    if (f->kernel == SD_JORDAN) {
        const size_t size = sd_precision_size(f->precision);
        return inverse_residual(&m->b, k, (char *)f->data + (size_t)m->b.entry[k] * size);
    }
    for (int64_t c = 0; c < COLUMNS; ++c) {
        const double *rhs = m->rhs + c * m->b.start[m->b.blocks] + m->b.start[k];
        number x[SD_BLOCK_MOST];
        double rounded[SD_BLOCK_MOST];
        apply_oracle(&m->b, f, k, rhs, x);
        for (int i = 0; i < batch_size(&m->b, k); ++i) rounded[i] = (double)x[i].value;
        most = fmax(most, residual_of(&m->b, k, rhs, rounded));
    }
    return most;
}

static void compare_block(const material *m, const factors *f, const known *reference, int32_t k,
                          double small)
{
    const batch *b = &m->b;
    const char *kernel = kernel_names[f->kernel], *kind = kind_names[b->kind[k]];
    const int n = batch_size(b, k);
    assert_well_formed(b, f, k);
    if (reference->certain[k] && !same_pivots(b, f, &reference->f, k)) {
        const sd_batch_state mine = f->state[k], its = reference->f.state[k];
        fail_msg(
            "%s in %s: block %d (%s, %d rows) has other pivots than reference: status %d and %d, pairs %x "
            "and %x, %d and %d negative, %d and %d moved",
            kernel, precision_name(b->precision), k, kind, n, mine.status, its.status, mine.pairs, its.pairs,
            mine.negative, its.negative, mine.perturbed, its.perturbed);
    }
    if (f->state[k].status) {
        assert_replaced(b, f, k);
    } else if (!has_triangles(f->kernel)) {
        if (reference->f.state[k].status || b->kind[k] == HUGE_ENTRIES) return;
        const double mine = factors_residual(m, f, k), its = factors_residual(m, &reference->f, k);
        if (!(mine <= TIMES * fmax(its, 1)))
            fail_msg("%s in %s (%s, %d rows): residual %g, reference's %g", kernel,
                     precision_name(b->precision), kind, n, mine, its);
    } else if (small > 0) {
        const moved count = check_small_pivots(b, f, k, small);
        assert_in_range(f->state[k].perturbed, count.least, count.most);
    } else {
        const double error = rounding_error(b, f, k);
        if (!(error <= ROUNDINGS))
            fail_msg("%s in %s (%s, %d rows): %g roundings", kernel, precision_name(b->precision), kind, n,
                     error);
    }
}

/* Block k of f, which was made of b, and block j of g, made of c, have the same bits. */
static void assert_same_bits(const batch *b, const factors *f, int32_t k, const batch *c, const factors *g,
                             int32_t j)
{
    const size_t one = sd_precision_size(b->precision), n = (size_t)batch_size(b, k);
    const bool same = memcmp((char *)f->data + (size_t)b->entry[k] * one,
                             (char *)g->data + (size_t)c->entry[j] * one, n * n * one) == 0 &&
                      memcmp(f->row + b->start[k], g->row + c->start[j], n) == 0 &&
                      memcmp(f->column + b->start[k], g->column + c->start[j], n) == 0 &&
                      memcmp(&f->state[k], &g->state[j], sizeof f->state[k]) == 0;
    if (!same)
        fail_msg("%s in %s: a block (%s, %d rows) has other bits at place %d of %d than at %d of %d",
                 kernel_names[f->kernel], precision_name(b->precision), kind_names[b->kind[k]], (int)n, k,
                 b->blocks, j, c->blocks);
}

/* SADDLE_TEST_ONCE: every kernel runs, but once, which is enough for a tool that is a hundred times slower.
 */
static bool once(void)
{
    return getenv("SADDLE_TEST_ONCE") != NULL;
}

/* The blocks of one size by themselves: a regular plan. */
static void check_regular(walker *w, const sd_batch_rule *rule, const material *m, const factors *f, int size)
{
    int32_t *which = test_alloc((size_t)m->b.blocks, sizeof *which), count = 0;
    for (int32_t k = 0; k < m->b.blocks; ++k)
        if (batch_size(&m->b, k) == size) which[count++] = k;
    count -= size % 4; /* not always whole copies */
    batch b = pick(&m->b, count, which);
    factors g = factor_batch_as(w->c.e, &b, rule, w->version);
    for (int32_t k = 0; k < count; ++k) assert_same_bits(&b, &g, k, &m->b, f, which[k]);
    free_factors(&g);
    batch_free(&b);
    free(which);
}

static void factor_by(walker *w, sd_batch_kernel kernel, int moved_small)
{
    const material *m = material_of(kernel, w->precision);
    const double small = moved_small ? small_pivot : 0;
    const sd_batch_rule rule = {.kernel = kernel, .small = small};
    factors f = factor_batch_as(w->c.e, &m->b, &rule, w->version);
    note_bits(&w->c, f.data, (size_t)f.entries * sd_precision_size(f.precision));
    note_bits(&w->c, f.row, (size_t)f.rows);
    note_bits(&w->c, f.column, (size_t)f.rows);
    note_bits(&w->c, f.state, (size_t)f.blocks * sizeof *f.state);
    for (int32_t k = 0; k < m->b.blocks; ++k) {
        assert_same_bits(&m->b, &f, k, &m->b, &f, m->first[k]);
        if (w->c.compare && m->first[k] == k)
            compare_block(m, &f, &known_factors[kernel][moved_small][w->precision], k, small);
    }
    for (int size = 1; size <= SD_BLOCK_MOST && w->c.compare && !moved_small && !once();
         size += is_slow() ? 15 : 1)
        check_regular(w, &rule, m, &f, size);
    free_factors(&f);
}

/* Pivots on either side of SD_BLOCK_TINY, a pair below it, a pivot and an entry that become infinite. */
static batch edge_blocks(sd_precision precision, bool symmetric)
{
    const double tiny = precision == SD_DOUBLE ? SD_BLOCK_TINY_DOUBLE : (double)SD_BLOCK_TINY_SINGLE;
    const double large = precision == SD_DOUBLE ? 1e308 : 3e38, root = sqrt(large), b = 1.2 * tiny;
    const double one[] = {tiny}, zero[] = {tiny * (1 - 0x1p-20)}, pair[] = {0.6 * b, b, b, 0.6 * b};
    const double pivot[] = {1, 1, large, -large}, beside[] = {1 / root, 0, 2 * root, 1};
    const int size[] = {1, 1, 2, 2, 2};
    batch e = batch_new(precision, symmetric ? 3 : 5, size);
    batch_set(&e, 0, one);
    batch_set(&e, 1, zero);
    batch_set(&e, 2, pair);
    if (symmetric) return e;
    batch_set(&e, 3, pivot);
    batch_set(&e, 4, beside);
    return e;
}

static void check_edges(walker *w, sd_batch_kernel kernel)
{
    const sd_batch_rule rule = {.kernel = kernel};
    batch b = edge_blocks(w->precision, is_symmetric(kernel));
    bench s;
    bench_open(&s, &sd_backend_reference, 1);
    factors mine = factor_batch_as(w->c.e, &b, &rule, w->version), its = factor_batch(&s.e, &b, &rule);
    for (int32_t k = 0; k < b.blocks; ++k) {
        assert_well_formed(&b, &mine, k);
        if (mine.state[k].status != its.state[k].status)
            fail_msg("%s in %s: status %d of edge %d, reference's %d", kernel_names[kernel],
                     precision_name(w->precision), mine.state[k].status, k, its.state[k].status);
        if (mine.state[k].status) assert_replaced(&b, &mine, k);
    }
    free_factors(&mine);
    free_factors(&its);
    bench_close(&s);
    batch_free(&b);
}

static void check_batch_factor(walker *w)
{
    for (sd_batch_kernel kernel = 0; (int)kernel < w->kernels; ++kernel) {
        factor_by(w, kernel, 0);
        if (is_ldu(kernel) || is_ldlt(kernel)) factor_by(w, kernel, 1);
        if (w->c.compare) check_edges(w, kernel);
    }
}

/* ---- the other rows ---- */

static void check_batch_apply(walker *w)
{
    for (sd_batch_kernel kernel = 0; (int)kernel < w->kernels; ++kernel) {
        const material *m = material_of(kernel, w->precision);
        const factors *f = &known_factors[kernel][0][w->precision].f;
        const int32_t *one = m->order[0], *two = m->order[1];
        for (sd_precision vectors = 0; vectors <= w->precision; ++vectors) {
            const application ways[] = {{1, vectors, NULL, NULL, NULL, false, m->first},
                                        {COLUMNS, vectors, one, two, NULL, false, m->first},
                                        {2, vectors, two, two, m->wanted, true, m->first}};
            for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k)
                check_application(&w->c, &m->b, f, &ways[k], m->rhs);
        }
    }
}

static void check_batch_extract(walker *w)
{
    for (int k = 0; k < EXTRACTIONS; ++k) check_extraction(&w->c, &extractions[k], w->precision);
}

static void check_batch_norms(walker *w)
{
    check_norms(&w->c, &materials[0][w->precision].b, NULL);
    check_norms(&w->c, &materials[0][w->precision].b, materials[0][w->precision].wanted);
}

static void check_batch_invert(walker *w)
{
    for (sd_batch_kernel kernel = SD_LDLT_STATIC; kernel <= SD_LDLT_COMPLETE; ++kernel) {
        const material *m = material_of(kernel, w->precision);
        check_inverses(&w->c, &m->b, &known_factors[kernel][0][w->precision].f, m->first);
    }
}

/* Rows that need more than blocks: test_ldlt_conformance.c walks through them. */
static void elsewhere(walker *w)
{
    (void)w;
}
#define check_ldlt_solve elsewhere
#define check_ldlt_sweep elsewhere
#define check_ldlt_split elsewhere
#define check_ldlt_sweep_entries elsewhere
#define check_ldlt_scatter elsewhere
#define check_ldlt_update elsewhere
#define check_ldlt_weigh elsewhere

static const struct {
    const char *name;
    void (*check)(walker *w);
} checks[] = {
#define KERNEL(name, parameters, arguments) {#name, check_##name},
#include "backend/batch.def"
#undef KERNEL
};
enum { CHECKS = sizeof checks / sizeof checks[0] };

/* ---- the walk ---- */

static void walk_kernels(const sd_backend *backend, bench_version version, int kernels)
{
    /* the host's part of cuda has one thread */
    const int counts = backend->host_memory ? sizeof thread_counts / sizeof thread_counts[0] : 1;
    uint64_t bits[CHECKS][SD_PRECISIONS];
    const bool brief = is_brief(backend);
    const int runs = once() || brief ? 0 : is_slow() ? 1 : counts;
    for (int run = 0; run <= runs; ++run) { /* the last number of threads twice */
        const int threads = thread_counts[brief ? 1 : run < counts ? run : counts - 1];
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
            bench s;
            bench_open(&s, backend, threads);
            for (int k = 0; k < CHECKS; ++k) {
                walker w = {{&s.e, run == 0, 0}, p, version, kernels};
                checks[k].check(&w);
                if (run == 0) bits[k][p] = w.c.bits;
                if (bits[k][p] != w.c.bits)
                    fail_msg("%s has other bits at %d threads, in %s, than before", checks[k].name, threads,
                             precision_name(p));
            }
            bench_close(&s);
        }
    }
}

static void walk(const sd_backend *backend)
{
    walk_kernels(backend, BENCH_DEFAULT, BENCH_KERNELS);
}

static void the_cuda_module_conforms_by_default(void **state)
{
    (void)state;
    walk_kernels(cuda_or_skip(), BENCH_DEFAULT, SD_BATCH_KERNELS);
}

static void the_cuda_module_conforms_in_registers(void **state)
{
    (void)state;
    walk_kernels(bench_cuda_or_skip(), BENCH_REGISTERS, BENCH_KERNELS);
}

static void the_cuda_module_conforms_in_shared_memory(void **state)
{
    (void)state;
    walk_kernels(bench_cuda_or_skip(), BENCH_SHARED, BENCH_KERNELS);
}

/* Or the comparison of pivots would show nothing. */
static void most_blocks_have_certain_pivots(void **state)
{
    (void)state;
    for (sd_batch_kernel kernel = 0; kernel < BENCH_KERNELS; ++kernel) {
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
            const known *n = &known_factors[kernel][0][p];
            const batch *b = &material_of(kernel, p)->b;
            int32_t certain = 0, ties = 0;
            for (int32_t k = 0; k < n->f.blocks; ++k) {
                certain += n->certain[k];
                ties += n->certain[k] && (b->kind[k] == HADAMARD || b->kind[k] == PERMUTATION);
            }
            assert_true(certain > n->f.blocks / 2);
            if (!picks_among_equals(kernel))
                assert_true(ties >= COPIES * SD_BLOCK_MOST / 3); /* that of PERMUTATION, at least */
        }
    }
}

/* All bytes of what the kernels would have written are as they were. */
static void assert_untouched(sd_engine *e, const void *memory, int64_t bytes)
{
    uint8_t *host = test_alloc((size_t)bytes, 1);
    e->status = SADDLE_OK;
    e->backend->download(e, memory, host, bytes);
    for (int64_t k = 0; k < bytes; ++k) assert_int_equal(host[k], UNTOUCHED);
    e->status = SADDLE_DEVICE_FAILED;
    free(host);
}

static void fail_on(const sd_backend *backend, sd_precision precision)
{
    const material *m = &materials[1][precision];
    const int64_t size = (int64_t)sd_precision_size(precision);
    bench s;
    placed_batch p;
    bench_open(&s, backend, 2);
    place_batch(&s.e, &m->b, NULL, NULL, NULL, &p);
    sd_vector v = sd_vector_new(&s.e, precision, p.plan.rows, "test");
    sd_vector norms = sd_vector_new(&s.e, SD_DOUBLE, p.plan.blocks, "test");
    fill_bytes(&s.e, v.data, v.n * size, UNTOUCHED);
    fill_bytes(&s.e, norms.data, norms.n * (int64_t)sizeof(double), UNTOUCHED);
    const sd_batch_rule rule = {.kernel = SD_LDLT_STATIC}, other = {.kernel = BENCH_LLT_DIAGONAL};
    const sd_sparse empty = {.precision = precision};
    const sd_batch_map map = {0};
    sd_batch out = {&p.plan, p.f.data, precision};
    s.e.status = SADDLE_DEVICE_FAILED;
    sd_batch_extract(&s.e, &empty, &map, &out);
    sd_batch_factor(&s.e, &rule, &p.x, &p.f);
    bench_factor(&s.e, &other, BENCH_DEFAULT, &p.x, &p.f);
    sd_batch_norms(&s.e, &p.x, &norms);
    sd_batch_apply(&s.e, &p.f, 1, &v, &v);
    sd_batch_invert(&s.e, &p.f, &out);
    assert_int_equal(s.e.status, SADDLE_DEVICE_FAILED);
    assert_untouched(&s.e, p.f.data, p.plan.entries * size);
    assert_untouched(&s.e, p.f.state, p.plan.blocks * (int64_t)sizeof *p.f.state);
    assert_untouched(&s.e, v.data, v.n * size);
    assert_untouched(&s.e, norms.data, norms.n * (int64_t)sizeof(double));
    s.e.status = SADDLE_OK;
    sd_vector_free(&s.e, &v);
    sd_vector_free(&s.e, &norms);
    unplace_batch(&s.e, &p);
    bench_close(&s);
}

static void kernels_do_nothing_after_a_failure(void **state)
{
    (void)state;
    const sd_backend *tables[] = {&sd_backend_reference, sd_cpu_isas[0].backend, sd_cpu()->backend};
    for (int t = 0; t < 3; ++t)
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p) fail_on(tables[t], p);
}

static int make_all(void **state)
{
    (void)state;
    rng r = rng_start("conformance of blocks");
    bench s;
    bench_open(&s, &sd_backend_reference, 1);
    for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
        for (int symmetric = 0; symmetric < 2; ++symmetric)
            make_material(&r, symmetric, p, &materials[symmetric][p]);
        for (sd_batch_kernel kernel = 0; kernel < BENCH_KERNELS; ++kernel)
            for (int moved_small = 0; moved_small < 2; ++moved_small)
                if (!moved_small || is_ldu(kernel) || is_ldlt(kernel))
                    make_known(&r, &s.e, kernel, p, moved_small);
    }
    for (int k = 0; k < EXTRACTIONS; ++k) {
        const shape form = (shape)(k % 4);
        const bool half = k >= 4;
        extractions[k] = extraction_new(&r, form, form == LONG_ROW ? 6000 : 1500, half, k % 3 ? 0 : 8, k != 1,
                                        k != 2 && k != 1, k % 2);
    }
    bench_close(&s);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (sd_precision p = 0; p < SD_PRECISIONS; ++p) {
        for (int k = 0; k < 2; ++k) {
            material *m = &materials[k][p];
            batch_free(&m->b);
            free(m->first);
            free(m->wanted);
            free(m->order[0]);
            free(m->order[1]);
            free(m->rhs);
            for (sd_batch_kernel kernel = 0; kernel < BENCH_KERNELS; ++kernel) {
                free_factors(&known_factors[kernel][k][p].f);
                free(known_factors[kernel][k][p].certain);
            }
        }
    }
    for (int k = 0; k < EXTRACTIONS; ++k) extraction_free(&extractions[k]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_blocks_have_certain_pivots),
        cmocka_unit_test(kernels_do_nothing_after_a_failure),
        cmocka_unit_test(the_portable_table_conforms),
        cmocka_unit_test(the_avx2_table_conforms),
        cmocka_unit_test(the_avx512_table_conforms),
        cmocka_unit_test(the_cuda_module_conforms_by_default),
        cmocka_unit_test(the_cuda_module_conforms_in_registers),
        cmocka_unit_test(the_cuda_module_conforms_in_shared_memory),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
