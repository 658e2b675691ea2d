/*
 * Block LDL' on every backend against reference: the rows ldlt_* of batch.def, over plans that sd_ldlt_find
 * made of generated matrices, in both precisions; and sd_ldlt_refactor against what was found.
 *
 * The bound of a comparison is reference's too: the same kernel over magnitudes, with signs such that nothing
 * cancels, gives what the sum of all terms is, and rounding may lose a unit of it for each of them. Bits must
 * be the same from run to run and at any number of threads; those of different tables may differ.
 */
#include "blocks.h"
#include "isa_tables.h"
#include "ldlt_walk.h"

#include "backend/cpu/cpu.h"

/* ---- rows of batch.def ---- */

static void check_scatter(walker *w, sd_precision of_matrix)
{
    const sd_ldlt_schedule *r = &w->its;
    both data = random_both(w, r->entries, 1, 0), square = random_both(w, r->squares, 1, 0);
    for (int which = 0; which < (w->compare ? 2 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_sparse A = place_matrix(e, &w->p->A, of_matrix);
        sd_ldlt_numbers x = numbers_of(w, &data, NULL, &square, NULL, which);
        x.scale = sd_to_backend(e, w->p->scale, A.n * (int64_t)sizeof *x.scale, "test");
        sd_ldlt_scatter(e, &A, which ? &w->its : &w->mine, &x);
        sd_release(e, x.scale);
        unplace_matrix(e, &A);
    }
    compare(w, &data, 0, "scattered C");
    compare(w, &square, 0, "scattered S");
    free_both(w, &data);
    free_both(w, &square);
}

/* All targets at once, into other places (a sweep), then level by level in place. */
static void check_update(walker *w)
{
    const sd_ldlt_schedule *r = &w->its;
    const int32_t levels = r->levels;
    both data = random_both(w, r->entries, 1, 1), square = random_both(w, r->squares, 1, 1);
    both from = random_both(w, r->entries, 1, 1), weighed = random_both(w, r->weighed, 1, -1);
    both to = random_both(w, r->entries, 1, 1), to_square = random_both(w, r->squares, 1, 1);
    double most = 0;
    for (int64_t t = 0; t < r->count + (int64_t)r->blocks; ++t)
        most = fmax(most, (double)(r->first[t + 1] - r->first[t]));
    const double roundings = SD_BLOCK_MOST * most + 4;
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_schedule *own = which ? &w->its : &w->mine;
        const sd_ldlt_numbers a = numbers_of(w, &data, NULL, &square, NULL, which);
        const sd_ldlt_numbers with = numbers_of(w, &from, &weighed, NULL, NULL, which);
        sd_ldlt_numbers x = numbers_of(w, &to, NULL, &to_square, NULL, which);
        sd_ldlt_update(e, own, &own->part[levels + own->chunks], &a, &with, &x);
    }
    compare(w, &to, roundings, "C of a sweep");
    compare(w, &to_square, roundings, "S of a sweep");
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_schedule *own = which ? &w->its : &w->mine;
        sd_ldlt_numbers x = numbers_of(w, &data, &weighed, &square, NULL, which);
        const int32_t l = levels / 2; /* one level, which changes in place */
        sd_ldlt_update(e, own, &own->part[l], &x, &x, &x);
    }
    compare(w, &data, roundings, "C of a level");
    compare(w, &square, roundings, "S of a level");
    both *all[] = {&data, &square, &from, &weighed, &to, &to_square};
    for (int k = 0; k < 6; ++k) free_both(w, all[k]);
}

static void check_weigh(walker *w)
{
    const sd_ldlt_schedule *r = &w->its;
    both data = random_both(w, r->entries, 1, 1), inverse = random_both(w, r->squares, 1, 1);
    both weighed = random_both(w, r->weighed, 1, 1);
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_schedule *own = which ? &w->its : &w->mine;
        sd_ldlt_numbers x = numbers_of(w, &data, &weighed, NULL, &inverse, which);
        sd_ldlt_weigh(e, own, &own->part[r->levels + own->chunks], &x);
    }
    compare(w, &weighed, SD_BLOCK_MOST + 2, "W");
    free_both(w, &data);
    free_both(w, &inverse);
    free_both(w, &weighed);
}

/* Powers of two, so that a scaled vector is what it was but for its exponents. */
static double *random_scale(walker *w, int32_t n)
{
    double *scale = test_alloc((size_t)n, sizeof *scale);
    for (int32_t i = 0; i < n; ++i) scale[i] = exp2(floor(3 * rng_unit(&w->r)));
    return scale;
}

/* Factors of random numbers, so small off the diagonal that magnitudes do not grow. */
static sd_ldlt_factors place_factors(walker *w, const both *data, const both *inverse, const double *scale,
                                     int which)
{
    sd_engine *e = which ? w->reference : w->e;
    const sd_ldlt_plan *plan = w->plan;
    const int64_t blocks = plan->blocks;
    int32_t *order = order_of(w->p, plan);
    const sd_ldlt_numbers x = numbers_of(w, data, NULL, NULL, inverse, which);
    sd_ldlt_factors f = sd_ldlt_factors_of(plan, &x);
    f.start = sd_to_backend(e, plan->start, (blocks + 1) * (int64_t)sizeof *plan->start, "test");
    f.row = sd_to_backend(e, plan->row, (blocks + 1) * (int64_t)sizeof *plan->row, "test");
    f.diagonal = sd_to_backend(e, plan->diagonal, blocks * (int64_t)sizeof *plan->diagonal, "test");
    f.square = sd_to_backend(e, plan->square, (blocks + 1) * (int64_t)sizeof *plan->square, "test");
    f.list = sd_to_backend(e, plan->list, plan->row[blocks] * (int64_t)sizeof *plan->list, "test");
    f.frame = (sd_frame){plan->n, sd_to_backend(e, order, plan->n * (int64_t)sizeof *order, "test"),
                         sd_to_backend(e, scale, plan->n * (int64_t)sizeof *scale, "test"), f.precision};
    assert_int_equal(e->status, SADDLE_OK);
    free(order);
    return f;
}

static void unplace_factors(sd_engine *e, const sd_ldlt_factors *f)
{
    const void *owned[] = {f->start, f->row, f->diagonal, f->square, f->list, f->frame.order, f->frame.scale};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) sd_release(e, owned[k]);
}

/* z = M^-1 r by levels, and from there on by some sweeps. */
static void solve_both_ways(sd_engine *e, const sd_ldlt_factors *f, const sd_vector *r, sd_vector *z)
{
    sd_vector work[3];
    for (int k = 0; k < 3; ++k) work[k] = sd_vector_new(e, f->precision, 2 * (int64_t)f->n, "test");
    const sd_vector from = {work[0].data, f->n, f->precision};
    sd_vector b = from, first = {work[1].data, f->n, f->precision},
              second = {work[2].data, f->n, f->precision};
    sd_ldlt_solve(e, f, r, z, &work[0]);
    sd_ldlt_solve(e, f, z, z, &work[0]);
    sd_enter(e, &f->frame, 1, z, &b);
    sd_ldlt_sweep(e, f, true, &b, NULL, &first);
    sd_ldlt_sweep(e, f, true, &b, &first, &second);
    sd_ldlt_sweep(e, f, false, &second, NULL, &first);
    sd_ldlt_sweep(e, f, false, &second, &first, &b);
    sd_leave(e, &f->frame, 1, &b, z);
    for (int k = 0; k < 3; ++k) sd_vector_free(e, &work[k]);
}

static double longest_list(const sd_ldlt_plan *plan)
{
    int64_t longest = 1;
    for (int32_t i = 0; i < plan->blocks; ++i)
        longest = plan->row[i + 1] - plan->row[i] > longest ? plan->row[i + 1] - plan->row[i] : longest;
    return (double)longest;
}

static void check_solve(walker *w)
{
    const sd_ldlt_plan *plan = w->plan;
    const double terms = (longest_list(plan) + 1) * plan->largest;
    both data = random_both(w, plan->entries, 1 / terms, -1);
    both inverse = random_both(w, plan->square[plan->blocks], 1, 1);
    double *scale = random_scale(w, plan->n);
    both r = random_both(w, plan->n, 1, 1), z = random_both(w, plan->n, 1, 1);
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_factors f = place_factors(w, &data, &inverse, scale, which);
        const sd_vector from = {numbers_of(w, &r, NULL, NULL, NULL, which).data, plan->n, w->precision};
        sd_vector to = {numbers_of(w, &z, NULL, NULL, NULL, which).data, plan->n, w->precision};
        solve_both_ways(e, &f, &from, &to);
        unplace_factors(e, &f);
    }
    compare(w, &z, 8 * terms + 128, "solution");
    both *all[] = {&data, &inverse, &r, &z};
    for (int k = 0; k < 4; ++k) free_both(w, all[k]);
    free(scale);
}

/* Vectors in double on factors of either precision: levels, and what enters and leaves sweeps. */
static void check_double_vectors(walker *w)
{
    const sd_ldlt_plan *plan = w->plan;
    const int32_t n = plan->n;
    const double terms = (longest_list(plan) + 1) * plan->largest;
    both data = random_both(w, plan->entries, 1 / terms, -1);
    both inverse = random_both(w, plan->square[plan->blocks], 1, 1);
    double *scale = random_scale(w, n), *b = test_alloc((size_t)n, sizeof *b);
    double *x[3];
    for (int32_t i = 0; i < n; ++i) b[i] = 1 + fabs(rng_unit(&w->r)) / 3; /* no number of single precision */
    for (int which = 0; which < 3; ++which) x[which] = test_alloc((size_t)n, sizeof *x[which]);
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        const sd_ldlt_factors f = place_factors(w, &data, &inverse, scale, which);
        sd_vector r = sd_vector_new(e, SD_DOUBLE, n, "test"), z = sd_vector_new(e, SD_DOUBLE, n, "test");
        sd_vector_put(e, b, &r);
        solve_both_ways(e, &f, &r, &z);
        sd_vector_get(e, &z, x[which]);
        assert_int_equal(e->status, SADDLE_OK);
        sd_vector_free(e, &r);
        sd_vector_free(e, &z);
        unplace_factors(e, &f);
    }
    note(w, x[0], (size_t)n * sizeof *x[0]);
    for (int32_t i = 0; i < n && w->compare; ++i) {
        const double allowed = (8 * terms + 128) * unit_of(w->precision) * x[2][i];
        if (!(fabs(x[0][i] - x[1][i]) <= allowed))
            fail_msg("%s, vectors in double: entry %d is %.17g, reference's %.17g, %g allowed", w->p->name, i,
                     x[0][i], x[1][i], allowed);
    }
    for (int which = 0; which < 3; ++which) free(x[which]);
    free(b);
    free(scale);
    free_both(w, &data);
    free_both(w, &inverse);
}

/* ---- sweeps over single entries ---- */

/* Two sweeps forward, what is between, two backward: numbers of all four in `all`, 6 n of them. */
static void sweep_entries(sd_engine *e, const sd_ldlt_factors *f, const sd_vector *b, char *all)
{
    const int64_t n = f->n, number = (int64_t)sd_precision_size(f->precision);
#define PIECE(first, count) ((sd_vector){all + (first)*n * number, (count)*n, f->precision})
    sd_vector first = PIECE(0, 2), second = PIECE(2, 2), v = PIECE(0, 1), w = PIECE(4, 1), last = PIECE(5, 1);
    const sd_vector t = PIECE(3, 1);
#undef PIECE
    sd_ldlt_sweep_entries(e, f, SD_LDLT_FORWARD, b, NULL, &first);
    sd_ldlt_sweep_entries(e, f, SD_LDLT_FORWARD, b, &first, &second);
    sd_ldlt_sweep_entries(e, f, SD_LDLT_BETWEEN, &t, NULL, &v);
    sd_ldlt_sweep_entries(e, f, SD_LDLT_BACKWARD, &v, NULL, &w);
    sd_ldlt_sweep_entries(e, f, SD_LDLT_BACKWARD, &v, &w, &last);
}

/* C and N are so small that b = 1 and signs that do not cancel in u and w bound all of it but a factor of 2:
 * what N takes away again is less than an eighth. */
static void check_entries(walker *w)
{
    const sd_ldlt_plan *plan = w->plan;
    const double terms = (longest_list(plan) + 1) * plan->largest;
    both data = random_both(w, plan->entries, 0.1 / (terms * plan->largest), -1);
    both inverse = random_both(w, plan->square[plan->blocks], 1, 1);
    double *scale = random_scale(w, plan->n);
    both below = random_both(w, plan->square[plan->blocks], 0.1 / plan->largest, -1);
    both b = random_both(w, plan->n, 1, 1), all = random_both(w, 6 * (int64_t)plan->n, 1, 1);
    for (int32_t i = 0; i < plan->n; ++i) {
        if (w->precision == SD_DOUBLE) ((double *)b.size)[i] = 1;
        if (w->precision == SD_SINGLE) ((float *)b.size)[i] = 1;
    }
    for (int which = 0; which < (w->compare ? 3 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        sd_ldlt_factors f = place_factors(w, &data, &inverse, scale, which);
        f.below = numbers_of(w, &below, NULL, NULL, NULL, which).data;
        const sd_vector from = {numbers_of(w, &b, NULL, NULL, NULL, which).data, plan->n, w->precision};
        sweep_entries(e, &f, &from, numbers_of(w, &all, NULL, NULL, NULL, which).data);
        unplace_factors(e, &f);
    }
    compare(w, &all, 8 * terms + 128, "sweeps over entries");
    both *owned[] = {&data, &inverse, &below, &b, &all};
    for (int k = 0; k < 5; ++k) free_both(w, owned[k]);
    free(scale);
}

/* Factors of blocks in the memory of an engine: random numbers, rows in any order, some pivots 2x2, some
 * blocks replaced. */
static sd_batch_factors place_blocks(walker *w, sd_engine *e, const sd_batch_plan *plan, const both *data,
                                     int which)
{
    const sd_ldlt_plan *of = w->plan;
    rng r = {99};
    sd_batch_factors f = sd_batch_factors_new(e, plan, w->precision);
    uint8_t *row = test_alloc((size_t)of->n, 1);
    sd_batch_state *state = test_alloc((size_t)of->blocks, sizeof *state);
    assert_int_equal(e->status, SADDLE_OK);
    for (int32_t i = 0; i < of->blocks; ++i) {
        const int size = of->start[i + 1] - of->start[i];
        int32_t order[SD_BLOCK_MOST];
        rng_permutation(&r, size, order);
        for (int s = 0; s < size; ++s) row[of->start[i] + s] = (uint8_t)order[s];
        state[i] = (sd_batch_state){.status = rng_below(&r, 8) == 0 ? SD_BLOCK_SINGULAR : SD_BLOCK_OK};
        for (int s = 0; s + 1 < size; ++s)
            if (rng_below(&r, 3) == 0) state[i].pairs |= UINT32_C(1) << s++;
    }
    e->backend->upload(e, row, f.row, of->n);
    e->backend->upload(e, state, f.state, of->blocks * (int64_t)sizeof *state);
    e->backend->release(e, f.data);
    f.data = numbers_of(w, data, NULL, NULL, NULL, which).data;
    free(row);
    free(state);
    return f;
}

static void check_split(walker *w)
{
    const sd_ldlt_plan *of = w->plan;
    const int64_t squares = of->square[of->blocks];
    both data = random_both(w, squares, 1, 1), below = random_both(w, squares, 1, 1);
    for (int which = 0; which < (w->compare ? 2 : 1); ++which) {
        sd_engine *e = which ? w->reference : w->e;
        sd_batch_plan plan;
        assert_int_equal(sd_batch_place(e, of->blocks, of->start, NULL, NULL, NULL, &plan), SADDLE_OK);
        sd_batch_factors x = place_blocks(w, e, &plan, &data, which);
        sd_batch to = {&plan, numbers_of(w, &below, NULL, NULL, NULL, which).data, w->precision};
        sd_ldlt_split(e, &x, &x, &to);
        x.data = NULL;
        sd_batch_factors_free(e, &x);
        sd_batch_unplace(e, &plan);
    }
    compare(w, &below, 0, "N");
    free_both(w, &data);
    free_both(w, &below);
}

/* max |mine - found| is nothing beside max |found|. */
static void compare_found(walker *w, const void *block, const void *found, int64_t count, const char *what)
{
    const int64_t bytes = count * (int64_t)sd_precision_size(w->precision);
    void *mine = reals_new(w->precision, count);
    double most = 0, error = 0;
    w->e->backend->download(w->e, block, mine, bytes);
    assert_int_equal(w->e->status, SADDLE_OK);
    note(w, mine, (size_t)bytes);
    for (int64_t k = 0; k < count; ++k) {
        const double x = real_at(mine, w->precision, k), y = real_at(found, w->precision, k);
        if (!isfinite(x)) fail_msg("%s of %s is not finite", what, w->p->name);
        most = fmax(most, fabs(y));
        error = fmax(error, fabs(x - y));
    }
    if (!(error <= 2000 * unit_of(w->precision) * most))
        fail_msg("%s of %s differs by %g of %g from what was found", what, w->p->name, error, most);
    free(mine);
}

static void check_refactor(walker *w)
{
    const sd_batch_rule rule = {.kernel = SD_LDLT_BUNCH_KAUFMAN, .small = 1e-8};
    const sd_ldlt_numbers *found = &w->p->found[w->precision].numbers;
    const sd_sparse A = place_matrix(w->e, &w->p->A, w->precision);
    sd_ldlt_numbers x;
    sd_ldlt_counts counts;
    assert_int_equal(sd_ldlt_numbers_make(w->e, &w->mine, w->precision, w->p->n, w->p->scale, &x), SADDLE_OK);
    assert_int_equal(sd_ldlt_refactor(w->e, &w->mine, &A, &rule, &x, &counts), SADDLE_OK);
    assert_int_equal(counts.perturbed + counts.replaced, 0);
    compare_found(w, x.data, found->data, w->mine.entries, "C");
    compare_found(w, x.inverse, found->inverse, w->mine.squares, "G");
    sd_ldlt_numbers_free(w->e->context, w->e, &x);
    unplace_matrix(w->e, &A);
}

/* ---- the walk ---- */

static uint64_t run_checks(const sd_backend *backend, int threads, const problem *p, sd_precision precision,
                           bool compared)
{
    bench s, t;
    bench_open(&s, backend, threads);
    bench_open(&t, &sd_backend_reference, 1);
    const sd_ldlt_plan *plan = &p->found[precision].plan;
    walker w = {.e = &s.e,
                .reference = &t.e,
                .p = p,
                .plan = plan,
                .precision = precision,
                .compare = compared,
                .r = {4711}};
    place_schedule(&w, &s.e, &w.mine);
    place_schedule(&w, &t.e, &w.its);
    check_scatter(&w, w.precision);
    check_scatter(&w, SD_DOUBLE);
    check_update(&w);
    check_weigh(&w);
    check_solve(&w);
    check_double_vectors(&w);
    check_entries(&w);
    check_split(&w);
    check_refactor(&w);
    sd_ldlt_schedule_unplace(&s.e, &w.mine);
    sd_ldlt_schedule_unplace(&t.e, &w.its);
    bench_close(&s);
    bench_close(&t);
    return w.bits;
}

static void walk(const sd_backend *backend)
{
    const bool brief = is_brief(backend);
    const bool once =
        brief || getenv("SADDLE_TEST_ONCE") != NULL; /* for tools that are a hundred times slower */
    for (int k = 0; k < PROBLEMS; ++k) {
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
            const uint64_t bits = run_checks(backend, brief ? 2 : 1, &problems[k], precision, true);
            if (!once && run_checks(backend, 2, &problems[k], precision, false) != bits)
                fail_msg("%s: other bits the second time", problems[k].name);
        }
    }
}

/* Not the whole walk, in which reference would stand beside itself: what sd_ldlt_find found is from other
 * code. */
static void reference_makes_the_factors_that_were_found(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
            bench s;
            bench_open(&s, &sd_backend_reference, 1);
            walker w = {.e = &s.e,
                        .p = &problems[k],
                        .plan = &problems[k].found[precision].plan,
                        .precision = precision};
            place_schedule(&w, &s.e, &w.mine);
            check_refactor(&w);
            sd_ldlt_schedule_unplace(&s.e, &w.mine);
            bench_close(&s);
        }
    }
}

static void the_cuda_module_conforms(void **state)
{
    (void)state;
    walk(cuda_or_skip());
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_makes_the_factors_that_were_found),
        cmocka_unit_test(the_portable_table_conforms),
        cmocka_unit_test(the_avx2_table_conforms),
        cmocka_unit_test(the_avx512_table_conforms),
        cmocka_unit_test(the_cuda_module_conforms),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
