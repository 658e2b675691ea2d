/*
 * The CPU's kernels on small fronts, its assembly and its solves against the reference kernels, for every
 * instruction set that this processor has.
 */
#include "fronts.h"

#include "backend/cpu/cpu.h"

enum { ROUNDS = 1500 };

static const sd_front_kernels *tables; /* of the instruction set that main has come to */

/* A front of the same matrix, factored by the reference kernels. */
static test_front reference_of(const test_front *t, bool rest, const sd_pivoting *pivoting)
{
    test_front s = front_new(sd_fronts_reference, t->single, t->f.rows, t->f.columns, 0);
    memcpy(s.a, t->a, sizeof *s.a * (size_t)(t->f.rows * t->f.rows));
    front_load(&s, rest);
    front_factor(&s, sd_fronts_reference, pivoting);
    return s;
}

/* The reference kernels find no pivot in the columns that were left (u a little larger, for rounding). */
static void assert_nothing_left(const test_front *t)
{
    const int e = t->f.eliminated, columns = t->f.columns - e, rows = t->f.rows - e;
    test_front left = front_new(sd_fronts_reference, t->single, rows, columns, 0);
    for (int j = 0; j < columns; ++j)
        for (int i = j; i < rows; ++i) front_value(&left, i, j, front_at(&t->f, t->single, i + e, j + e));
    front_load(&left, false);
    sd_pivoting stricter = threshold;
    stricter.u *= 1.001;
    stricter.small = 0;
    front_factor(&left, sd_fronts_reference, &stricter);
    assert_int_equal(left.f.eliminated - left.pivots.zero, 0);
    front_free(&left);
}

static void fronts_are_factored_like_the_reference(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    int64_t mine = 0, theirs = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const front_kind kind = (front_kind)(round % FRONT_KINDS);
        const int columns = 1 + rng_below(&r, 32), most = round % 100 == 99 ? 300 : 100;
        const int below = rng_below(&r, 4) ? rng_below(&r, most) : 0;
        test_front t = front_new(tables, rng_below(&r, 2), columns + below, columns, rng_below(&r, 9));
        const bool rest = rng_below(&r, 2);
        sd_pivoting pivoting = threshold_of(below == 0);
        if (rng_below(&r, 4) == 0) pivoting.u = 0.5;
        front_fill(&t, &r, kind);
        front_load(&t, rest);
        front_factor(&t, tables, &pivoting);
        assert_factored(&t, &pivoting);
        test_front s = reference_of(&t, rest, &pivoting);
        const bool regular = kind != FRONT_SINGULAR && kind != FRONT_SPARSE && kind != FRONT_SADDLE;
        if (t.f.eliminated == columns && s.f.eliminated == columns && regular) {
            assert_int_equal(t.pivots.positive, s.pivots.positive);
            assert_int_equal(t.pivots.negative, s.pivots.negative);
            assert_int_equal(t.pivots.zero, s.pivots.zero);
        }
        if (t.f.eliminated < columns && pivoting.u == threshold.u) assert_nothing_left(&t);
        mine += t.f.eliminated;
        theirs += s.f.eliminated;
        front_free(&t);
        front_free(&s);
    }
    print_message("           eliminated %lld, the reference %lld\n", (long long)mine, (long long)theirs);
    assert_true(100 * mine >= 99 * theirs);
}

/* Whole numbers with an exact elimination: a path graph's Laplacian has one zero pivot, at its end. */
static void a_singular_root_has_its_rank(void **state)
{
    (void)state;
    for (int n = 1; n <= 24; ++n) {
        test_front t = front_new(tables, n % 2, n, n, 0);
        for (int i = 0; i + 1 < n; ++i) {
            front_value(&t, i + 1, i, -1);
            front_value(&t, i, i, t.a[i * n + i] + 1);
            front_value(&t, i + 1, i + 1, 1);
        }
        front_load(&t, false);
        const sd_pivoting pivoting = threshold_of(true);
        front_factor(&t, tables, &pivoting);
        assert_int_equal(t.f.eliminated, n);
        assert_int_equal(t.pivots.zero, 1);
        assert_int_equal(t.pivots.positive, n - 1);
        front_free(&t);
    }
}

/* [0 B; B' 0] in pairs (k, k + m/2): no diagonal is ever good, every pair is found. */
static void zero_diagonals_find_their_partners(void **state)
{
    (void)state;
    for (int m = 1; m <= 12; ++m) {
        test_front t = front_new(tables, m % 2, 2 * m + 5, 2 * m, 0);
        for (int k = 0; k < m; ++k) {
            front_value(&t, m + k, k, k % 2 ? -4 : 2);
            front_value(&t, 2 * m + k % 5, k, 1);
        }
        front_load(&t, false);
        front_factor(&t, tables, &threshold);
        assert_factored(&t, &threshold);
        assert_int_equal(t.pivots.two_by_two, m);
        assert_int_equal(t.pivots.negative, m);
        front_free(&t);
    }
}

static void a_nan_does_not_hang_and_is_seen(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 400; ++round) {
        const int columns = 1 + rng_below(&r, 20), below = rng_below(&r, 2) * rng_below(&r, 40);
        test_front t = front_new(tables, round % 2, columns + below, columns, 0);
        front_fill(&t, &r, round % 5 ? FRONT_RANDOM : FRONT_DOMINANT);
        assert_nan_seen(&t, tables, &r, round % 3 ? NAN : INFINITY);
        front_free(&t);
    }
}

static void other_rules_are_those_of_the_reference(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    int8_t signs[24];
    for (int round = 0; round < 300; ++round) {
        const int columns = 1 + rng_below(&r, 24), rows = columns + rng_below(&r, 60);
        const bool fixed = round % 2, rest = rng_below(&r, 2);
        for (int k = 0; k < 24; ++k) signs[k] = (int8_t)(rng_below(&r, 3) - 1);
        const sd_pivoting pivoting = {.rule = fixed ? SD_PIVOT_STATIC : SD_PIVOT_POSITIVE,
                                      .regularise = 0.5,
                                      .signs = rng_below(&r, 2) ? signs : NULL};
        test_front t = front_new(tables, 0, rows, columns, rng_below(&r, 3));
        front_fill(&t, &r, FRONT_RANDOM);
        for (int i = 0; i < rows * rows; ++i) t.a[i] /= 50; /* little growth from a wrong or replaced pivot */
        const int bad = rng_below(&r, 2 * columns);
        for (int i = 0; i < rows; ++i) {
            const double size = i == bad ? (round / 2 % 2 ? 0.1 : -1) : 2;
            front_value(&t, i, i, fixed && rng_below(&r, 2) ? -size : size);
        }
        front_load(&t, rest);
        front_factor(&t, tables, &pivoting);
        test_front s = reference_of(&t, rest, &pivoting);
        assert_int_equal(t.f.eliminated, s.f.eliminated);
        assert_pivots(&t.pivots, &s.pivots);
        assert_int_equal(t.pivots.perturbed, s.pivots.perturbed);
        const bool whole = t.f.eliminated == columns;
        for (int k = 0; k < 2 * columns && whole; ++k)
            assert_true(fabs(number_at(t.f.d, 0, k) - number_at(s.f.d, 0, k)) <=
                        1e-10 * fabs(number_at(s.f.d, 0, k)));
        if (whole && !t.pivots.perturbed) assert_true(front_error(&t) <= 20.0 * rows);
        front_free(&t);
        front_free(&s);
    }
}

/* q of n places, ascending: in runs of about so many. */
static void random_places(rng *r, int n, int q, int run, int32_t *place)
{
    int count = 0;
    for (int p = 0; p < n && count < q;) {
        const int length = 1 + rng_below(r, 2 * run), spare = n - p - (q - count);
        const int skip =
            spare > 0 && rng_below(r, 3) ? 1 + rng_below(r, spare < run + 2 ? spare : run + 2) : 0;
        p += skip;
        for (int k = 0; k < length && count < q; ++k) place[count++] = p++;
    }
    assert_int_equal(count, q);
}

static test_front random_child(rng *r, int single, int done, int late, int q)
{
    test_front child = front_new(sd_fronts_reference, single, done + late + q, done + late, rng_below(r, 3));
    front_fill(&child, r, FRONT_RANDOM);
    front_load(&child, rng_below(r, 8) > 0);
    child.f.eliminated = done;
    return child;
}

static void assert_same_front(const test_front *t, const test_front *s)
{
    assert_int_equal(t->f.rest_empty, s->f.rest_empty);
    for (int j = 0; j < t->f.columns; ++j) assert_int_equal(t->f.variable[j], s->f.variable[j]);
    for (int j = 0; j < t->f.rows; ++j)
        for (int i = j; i < t->f.rows; ++i)
            assert_true(front_at(&t->f, t->single, i, j) == front_at(&s->f, s->single, i, j));
}

static void children_add_up_to_the_same_bits(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 400; ++round) {
        const bool large = round % 100 == 99;
        const int own = 1 + rng_below(&r, 12), below = rng_below(&r, large ? 900 : round % 10 ? 40 : 300);
        const int late = rng_below(&r, 2) * rng_below(&r, 4), children = 1 + rng_below(&r, 3);
        test_front t = front_new(tables, round % 2, children * late + own + below, children * late + own, 1);
        test_front s = front_new(sd_fronts_reference, round % 2, t.f.rows, t.f.columns, 0);
        t.f.delays = s.f.delays = children * late;
        front_load(&t, false);
        front_load(&s, false);
        enum { SPANS = 4 };
        sd_span whole = {0, s.f.rows, true}, span[SPANS];
        for (int k = 0; k < SPANS; ++k) { /* cut anywhere: some may be empty */
            const int from = k ? span[k - 1].to : 0;
            const int to = k + 1 < SPANS ? from + rng_below(&r, s.f.rows - from + 1) : s.f.rows;
            span[k] = (sd_span){from, to, true};
        }
        for (int c = 0; c < children; ++c) {
            const int q = rng_below(&r, 3) ? rng_below(&r, own + below + 1) : own + below;
            int32_t *place = test_alloc((size_t)q + 1, sizeof *place);
            random_places(&r, own + below, q, large ? 1 : 1 + rng_below(&r, 30), place);
            test_front child = random_child(&r, round % 2, rng_below(&r, 4), late, q);
            for (int k = SPANS - 1; k >= 0; --k)
                tables[t.single].add_child(&t.f, &child.f, place, c * late, &span[k]);
            sd_fronts_reference[s.single].add_child(&s.f, &child.f, place, c * late, &whole);
            free(place);
            front_free(&child);
        }
        for (int k = 0; k < SPANS; ++k) assert_int_equal(span[k].rest_empty, whole.rest_empty);
        t.f.rest_empty = s.f.rest_empty = whole.rest_empty;
        assert_same_front(&t, &s);
        front_free(&t);
        front_free(&s);
    }
}

static void entries_go_below_the_delays(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 3, 4};
    const int32_t row[] = {0, 3, 3, 1};
    const double value[] = {1, 2, 0.5, 3};
    for (int single = 0; single < 2; ++single) {
        test_front t = front_new(tables, single, 6, 4, 1),
                   s = front_new(sd_fronts_reference, single, 6, 4, 0);
        t.f.delays = s.f.delays = 2;
        front_load(&t, false);
        front_load(&s, false);
        const sd_span whole = {0, 6, true}, left = {0, 3, true}, right = {3, 6, true};
        tables[single].add_entries(&t.f, &(sd_front_entries){ptr, row, value}, &right);
        tables[single].add_entries(&t.f, &(sd_front_entries){ptr, row, value}, &left);
        sd_fronts_reference[single].add_entries(&s.f, &(sd_front_entries){ptr, row, value}, &whole);
        assert_same_front(&t, &s);
        front_free(&t);
        front_free(&s);
    }
}

static void solves_are_those_of_the_reference(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 400; ++round) {
        const int most = round % 20 ? 30 : 200, columns = 1 + rng_below(&r, most);
        const int rows = columns + rng_below(&r, 2 * most), single = rng_below(&r, 2);
        const int k = rng_below(&r, 3) ? 1 + rng_below(&r, 70) : 1, count = rows * k;
        test_front t = front_new(tables, single, rows, columns, rng_below(&r, 3));
        front_fill(&t, &r, FRONT_RANDOM);
        for (int i = 0; i < rows * rows; ++i) t.a[i] /= rows;
        front_load(&t, false);
        t.f.eliminated = rng_below(&r, 3) ? columns : rng_below(&r, columns + 1);
        for (int way = 0; way < 2; ++way) {
            void *w = numbers_new(single, count), *v = numbers_new(single, count);
            for (int i = 0; i < count; ++i) {
                const double x = rng_unit(&r);
                number_set(w, single, i, x);
                number_set(v, single, i, x);
            }
            (way ? tables[single].forward : tables[single].backward)(&t.f, k, w);
            (way ? sd_fronts_reference[single].forward : sd_fronts_reference[single].backward)(&t.f, k, v);
            for (int i = 0; i < count; ++i)
                if (!(fabs(number_at(w, single, i) - number_at(v, single, i)) <= (single ? 1e-4 : 1e-12)))
                    fail_msg("row %d of %d, way %d: %g, not %g", i / k, rows, way, number_at(w, single, i),
                             number_at(v, single, i));
            free(w);
            free(v);
        }
        front_free(&t);
    }
}

/* The witness of the inertia rides along with the first solve alone: the last bits of x must not tell. */
static void a_companion_does_not_change_a_bit(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 200; ++round) {
        const int columns = 1 + rng_below(&r, 40), rows = columns + rng_below(&r, 90), single = round % 2;
        test_front t = front_new(tables, single, rows, columns, rng_below(&r, 3));
        front_fill(&t, &r, FRONT_RANDOM);
        for (int i = 0; i < rows * rows; ++i) t.a[i] /= rows;
        front_load(&t, false);
        t.f.eliminated = columns;
        for (int way = 0; way < 2; ++way) {
            void *two = numbers_new(single, 2 * rows), *one = numbers_new(single, rows);
            for (int i = 0; i < rows; ++i) {
                number_set(two, single, 2 * i, rng_unit(&r));
                number_set(two, single, 2 * i + 1, rng_unit(&r));
                number_set(one, single, i, number_at(two, single, 2 * i));
            }
            (way ? tables[single].forward : tables[single].backward)(&t.f, 2, two);
            (way ? tables[single].forward : tables[single].backward)(&t.f, 1, one);
            for (int i = 0; i < rows; ++i)
                assert_true(number_at(one, single, i) == number_at(two, single, 2 * i));
            free(two);
            free(one);
        }
        front_free(&t);
    }
}

static void the_largest_entry_is_that_of_the_reference(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 300; ++round) {
        const int columns = 1 + rng_below(&r, 30), rows = columns + rng_below(&r, 60), single = round % 2;
        test_front t = front_new(tables, single, rows, columns, rng_below(&r, 3));
        front_fill(&t, &r, FRONT_RANDOM);
        if (round % 3) front_value(&t, rng_below(&r, rows), rng_below(&r, rows), INFINITY);
        if (round % 5 == 0) front_value(&t, rng_below(&r, rows), rng_below(&r, rows), NAN);
        front_load(&t, false);
        t.f.eliminated = rng_below(&r, columns + 1);
        const double mine = tables[single].largest(&t.f);
        const double theirs = sd_fronts_reference[single].largest(&t.f);
        assert_true(mine == theirs || (isnan(mine) && isnan(theirs)));
        front_free(&t);
    }
}

static int run_all(const char *name, const sd_front_kernels *kernels)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_are_factored_like_the_reference),
        cmocka_unit_test(a_singular_root_has_its_rank),
        cmocka_unit_test(zero_diagonals_find_their_partners),
        cmocka_unit_test(a_nan_does_not_hang_and_is_seen),
        cmocka_unit_test(other_rules_are_those_of_the_reference),
        cmocka_unit_test(children_add_up_to_the_same_bits),
        cmocka_unit_test(entries_go_below_the_delays),
        cmocka_unit_test(solves_are_those_of_the_reference),
        cmocka_unit_test(a_companion_does_not_change_a_bit),
        cmocka_unit_test(the_largest_entry_is_that_of_the_reference),
    };
    tables = kernels;
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    int failed = 0;
    for (int k = 0; k < sd_cpu_isa_count; ++k)
        if (sd_cpu_isas[k].supported()) failed += run_all(sd_cpu_isas[k].name, sd_cpu_isas[k].fronts);
    return failed;
}
