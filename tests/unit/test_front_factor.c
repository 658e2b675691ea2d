/*
 * The factorization of fronts on the CPU: P'AP = L D L' + what is left, entry by entry within rounding, for
 * every instruction set that this processor has, in double and single; |l| <= 1/u; inertia; delays; singular
 * and non-finite fronts; the same bits whether pieces are handed to other threads or not.
 */
#include "unit/helpers.h"

#include "backend/blas.h"
#include "backend/cpu/cpu.h"
#include "backend/front.h"

#include <float.h>
#include <omp.h>

/* A front with a copy of the matrix that it was made of. */
typedef struct trial {
    int m, n;
    double *matrix; /* m x m, symmetric */
    bool single;
    sd_front f;
    sd_pivots pivots;
    sd_pivoting how;
    void *work;
    sd_crew *crew;
    const sd_front_kernels *kernels;
} trial;

static size_t real_size(bool single)
{
    return single ? sizeof(float) : sizeof(double);
}

static double get(const void *a, int64_t k, bool single)
{
    return single ? (double)((const float *)a)[k] : ((const double *)a)[k];
}

static void put(void *a, int64_t k, bool single, double x)
{
    if (single)
        ((float *)a)[k] = (float)x;
    else
        ((double *)a)[k] = x;
}

static trial trial_new(const sd_front_kernels *table, bool single, int m, int n)
{
    trial t = {.m = m, .n = n, .single = single, .kernels = table + single};
    t.matrix = test_alloc((size_t)m * (size_t)m, sizeof(double));
    t.how = (sd_pivoting){.rule = SD_PIVOT_THRESHOLD, .u = 0.01, .small = 1e-20};
    t.f = (sd_front){.rows = m, .columns = n, .ld = m + 3};
    t.f.panel = test_alloc((size_t)(m + 3) * (size_t)n, real_size(single));
    t.f.rest = test_alloc((size_t)sd_rest_size(m - n), real_size(single));
    t.f.d = test_alloc(2 * (size_t)n, real_size(single));
    t.f.variable = test_alloc((size_t)n, sizeof(int32_t));
    t.work = test_alloc((size_t)t.kernels->work(m, n), real_size(single));
    return t;
}

static void trial_free(trial *t)
{
    free(t->matrix);
    free(t->f.panel);
    free(t->f.rest);
    free(t->f.d);
    free(t->f.variable);
    free(t->work);
}

static void set(trial *t, int i, int j, double x)
{
    if (t->single) x = (double)(float)x;
    t->matrix[(size_t)i * (size_t)t->m + (size_t)j] = t->matrix[(size_t)j * (size_t)t->m + (size_t)i] = x;
}

static double at(const trial *t, int i, int j)
{
    return t->matrix[(size_t)i * (size_t)t->m + (size_t)j];
}

/* The front from the matrix; what lies above the diagonal and in an empty rest is not to be looked at. */
static void assemble(trial *t, bool rest_empty)
{
    for (int j = 0; j < t->n; ++j) {
        t->f.variable[j] = j;
        for (int i = 0; i < t->m; ++i) put(t->f.panel, j * t->f.ld + i, t->single, i < j ? 77 : at(t, i, j));
    }
    const int q = t->m - t->n;
    for (int64_t k = 0; k < sd_rest_size(q); ++k) put(t->f.rest, k, t->single, NAN);
    for (int j = 0; j < q; ++j)
        for (int i = j; i < q; ++i) {
            if (rest_empty) set(t, t->n + i, t->n + j, 0);
            if (!rest_empty) put(t->f.rest, sd_rest_at(q, i, j), t->single, at(t, t->n + i, t->n + j));
        }
    t->f.rest_empty = rest_empty;
    t->f.eliminated = -1;
    t->pivots = (sd_pivots){0};
}

static void factor_and_update(void *what, int32_t item)
{
    trial *t = what;
    (void)item;
    t->kernels->factor(&t->f, &t->how, &t->pivots, t->work, t->crew);
    t->kernels->update(&t->f, t->work, NULL, t->crew);
}

static void run(trial *t, int threads)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_blas_enter();
    if (threads == 0) {
        factor_and_update(t, 0);
    } else {
        assert_int_equal(sd_crew_make(&c, 1, &t->crew), SADDLE_OK);
        sd_crew_run(t->crew, threads, factor_and_update, t);
        sd_crew_free(&c, t->crew);
        t->crew = NULL;
    }
    sd_blas_leave();
}

/* Entry (i, k) of L, k eliminated. */
static double l_at(const trial *t, int i, int k)
{
    return i < k ? 0 : i == k ? 1 : get(t->f.panel, k * t->f.ld + i, t->single);
}

/* Checks all that must hold of a factored front. */
static void check(const trial *t, const char *what)
{
    const int m = t->m, n = t->n, e = t->f.eliminated, q = m - n;
    const double eps = t->single ? FLT_EPSILON : DBL_EPSILON;
    double *l = test_alloc((size_t)m * (size_t)(e + 1), sizeof *l); /* by rows */
    double *w = test_alloc((size_t)m * (size_t)(e + 1), sizeof *w); /* L D */
    double *size = test_alloc((size_t)m * (size_t)(e + 1), sizeof *size);
    assert_in_range(e, 0, n);
    assert_int_equal(t->pivots.positive + t->pivots.negative + t->pivots.zero, e);
    assert_false(t->f.rest_empty);
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < e; ++k) {
            l[i * e + k] = l_at(t, i, k);
            if (t->how.rule == SD_PIVOT_THRESHOLD && !(fabs(l[i * e + k]) <= 1 / t->how.u))
                fail_msg("%s: |l(%d, %d)| = %g (m %d, n %d)", what, i, k, l[i * e + k], m, n);
        }
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < e; ++k) {
            const double d = get(t->f.d, 2 * k, t->single), below = get(t->f.d, 2 * k + 1, t->single);
            const double above = k ? get(t->f.d, 2 * k - 1, t->single) : 0;
            assert_true(below == 0 || above == 0);
            if (below != 0) assert_true(k + 1 < e && l[(k + 1) * e + k] == 0);
            double x = l[i * e + k] * d, s = fabs(x);
            if (below != 0) x += l[i * e + k + 1] * below, s += fabs(l[i * e + k + 1] * below);
            if (above != 0) x += l[i * e + k - 1] * above, s += fabs(l[i * e + k - 1] * above);
            w[i * e + k] = x, size[i * e + k] = s;
        }
    bool *seen = test_alloc((size_t)n, sizeof *seen);
    for (int i = 0; i < n; ++i) {
        assert_in_range(t->f.variable[i], 0, n - 1);
        assert_false(seen[t->f.variable[i]]);
        seen[t->f.variable[i]] = true;
    }
    for (int j = 0; j < m; ++j)
        for (int i = j; i < m; ++i) {
            const double a = at(t, i < n ? t->f.variable[i] : i, j < n ? t->f.variable[j] : j);
            double left = 0, s;
            if (j >= n)
                left = get(t->f.rest, sd_rest_at(q, i - n, j - n), t->single);
            else if (j >= e)
                left = get(t->f.panel, j * t->f.ld + i, t->single);
            double sum = left;
            s = fabs(left) + fabs(a);
            for (int k = 0; k < e; ++k) sum += l[i * e + k] * w[j * e + k];
            for (int k = 0; k < e; ++k) s += fabs(l[i * e + k]) * size[j * e + k];
            if (!(fabs(sum - a) <= 8 * (e + 4) * eps * s + 2 * t->how.small))
                fail_msg("%s: (%d, %d) is %g, not %g, of %g (m %d, n %d, e %d)", what, i, j, sum, a, s, m, n,
                         e);
        }
    free(l), free(w), free(size), free(seen);
}

/* ---- kinds of fronts ---- */

enum {
    RANDOM,
    SADDLE_POINT,
    ANTIDIAGONAL_BLOCKS,
    TINY_DIAGONAL,
    GRADED,
    LOW_RANK,
    DUPLICATES,
    ZERO_COLUMNS,
    HEAVY_BELOW,
    TIES,
    PERMUTATION,
    ALL_ZERO,
    KINDS
};
static const char *const kind_names[] = {
    "random",     "saddle point", "antidiagonal blocks", "tiny diagonal", "graded",      "low rank",
    "duplicates", "zero columns", "heavy below",         "ties",          "permutation", "all zero"};

static void fill_low_rank(trial *t, rng *r)
{
    const int rank = 1 + t->n / 3;
    double *v = test_alloc((size_t)t->m * (size_t)rank, sizeof *v);
    for (int k = 0; k < t->m * rank; ++k) v[k] = rng_below(r, 5) - 2;
    for (int i = 0; i < t->m; ++i)
        for (int j = 0; j <= i; ++j) {
            double x = 0;
            for (int k = 0; k < rank; ++k) x += v[i * rank + k] * v[j * rank + k] * (k % 2 ? -1 : 1);
            set(t, i, j, x);
        }
    free(v);
}

static double entry_of(int kind, rng *r, int i, int j, int n)
{
    const double x = rng_unit(r);
    switch (kind) {
    case SADDLE_POINT: return i >= n / 2 && i < n && j >= n / 2 ? 0 : x;
    case ANTIDIAGONAL_BLOCKS: return (i < n / 2) == (j < n / 2) && i < n ? 0 : x;
    case TINY_DIAGONAL: return i == j ? 1e-14 * x : x;
    case GRADED: return x * pow(10.0, -(i % 31) / 2.0 - (j % 31) / 2.0);
    case HEAVY_BELOW: return i >= n && j % 3 == 0 ? 1e4 * x : x;
    case TIES: return rng_below(r, 3) - 1;
    case ALL_ZERO: return 0;
    default: return x;
    }
}

static void fill(trial *t, int kind, rng *r)
{
    for (int i = 0; i < t->m; ++i)
        for (int j = 0; j <= i; ++j) set(t, i, j, entry_of(kind, r, i, j, t->n));
    if (kind == LOW_RANK) fill_low_rank(t, r);
    if (kind == DUPLICATES)
        for (int k = 1; k < t->n; k += 3) {
            for (int i = 0; i < t->m; ++i) set(t, i, k, at(t, i, k - 1));
            set(t, k, k, at(t, k - 1, k - 1));
        }
    if (kind == ZERO_COLUMNS)
        for (int k = 0; k < t->n; k += 2)
            for (int i = 0; i < t->m; ++i) set(t, i, k, 0);
    if (kind == PERMUTATION) {
        int32_t *order = test_alloc((size_t)t->m, sizeof *order);
        rng_permutation(r, t->m, order);
        for (int i = 0; i < t->m; ++i)
            for (int j = 0; j <= i; ++j) set(t, i, j, 0);
        for (int i = 0; i + 1 < t->m; i += 2) set(t, order[i], order[i + 1], 1);
        free(order);
    }
}

static void test_threshold_reconstructs_every_kind(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const int sizes[][2] = {{1, 1},     {2, 2},     {3, 1},    {7, 5},    {16, 16},
                                   {33, 32},   {60, 17},   {65, 64},  {100, 90}, {150, 130},
                                   {270, 265}, {400, 300}, {467, 301}};
    for (const sd_cpu_isa *isa = sd_cpu_isas; isa <= sd_cpu(); ++isa)
        for (int single = 0; single < 2; ++single)
            for (int kind = 0; kind < KINDS; ++kind)
                for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); ++s) {
                    if (s > 9 && (isa < sd_cpu() || (is_slow() && kind % 4))) continue;
                    trial t = trial_new(isa->fronts, single, sizes[s][0], sizes[s][1]);
                    fill(&t, kind, &r);
                    static const double thresholds[] = {0.01, 0.1, 0.5, 1e-4};
                    t.how.u = thresholds[rng_below(&r, 4)];
                    if (kind == LOW_RANK || kind == DUPLICATES) t.how.small = single ? 1e-3 : 1e-12;
                    t.how.root = t.m == t.n;
                    assemble(&t, rng_below(&r, 2));
                    run(&t, 0);
                    check(&t, kind_names[kind]);
                    if (t.how.root) assert_int_equal(t.f.eliminated, t.n);
                    trial_free(&t);
                }
}

static void test_random_sizes(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int k = 0; k < (is_slow() ? 40 : 300); ++k) {
        const int n = 1 + rng_below(&r, 1 + rng_below(&r, 200)),
                  m = n + rng_below(&r, 1 + rng_below(&r, 150));
        const int kind = rng_below(&r, KINDS);
        trial t = trial_new(sd_cpu()->fronts, rng_below(&r, 2), m, n);
        fill(&t, kind, &r);
        t.how.root = m == n;
        if (kind == LOW_RANK || kind == DUPLICATES) t.how.small = t.single ? 1e-3 : 1e-12;
        assemble(&t, rng_below(&r, 2));
        run(&t, 0);
        check(&t, kind_names[kind]);
        trial_free(&t);
    }
}

/* Largest sizes, where products go through the BLAS and panels follow each other. */
static void test_several_panels(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const int kinds[] = {RANDOM, SADDLE_POINT, HEAVY_BELOW};
    for (int k = 0; k < (is_slow() ? 1 : 3); ++k) {
        trial t = trial_new(sd_cpu()->fronts, false, 1000, 550);
        fill(&t, kinds[k], &r);
        assemble(&t, k == 0);
        run(&t, 0);
        check(&t, kind_names[kinds[k]]);
        trial_free(&t);
    }
}

/* A well-scaled indefinite front has nothing to delay. */
static void test_random_front_delays_nothing(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    trial t = trial_new(sd_cpu()->fronts, false, 300, 200);
    fill(&t, RANDOM, &r);
    assemble(&t, true);
    run(&t, 0);
    assert_int_equal(t.f.eliminated, 200);
    trial_free(&t);
}

/* Entries below that are too large: the columns are delayed, those that are sound are not. */
static void test_unstable_columns_are_delayed(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    trial t = trial_new(sd_cpu()->fronts, false, 120, 80);
    for (int i = 0; i < t.m; ++i)
        for (int j = 0; j <= i; ++j) set(&t, i, j, i == j ? 4 : j < t.n ? 0.01 * rng_unit(&r) : 0);
    for (int j = 0; j < t.n; j += 5) set(&t, 100, j, 1e5);
    assemble(&t, false);
    run(&t, 0);
    check(&t, "delays");
    assert_int_equal(t.f.eliminated, 64);
    for (int j = 64; j < 80; ++j) assert_int_equal(t.f.variable[j] % 5, 0);
    trial_free(&t);
}

/* Inertia of L D L' with a known D. */
static void test_inertia_is_found(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int k = 0; k < 60; ++k) {
        const int n = 1 + rng_below(&r, 120);
        trial t = trial_new(sd_cpu()->fronts, false, n, n);
        double *l = test_alloc((size_t)n * (size_t)n, sizeof *l);
        int *sign = test_alloc((size_t)n, sizeof *sign), count[3] = {0};
        for (int i = 0; i < n; ++i) {
            sign[i] = rng_below(&r, 7) == 0 ? 0 : rng_below(&r, 2) ? 1 : -1;
            ++count[sign[i] + 1];
            for (int j = 0; j <= i; ++j)
                l[i * n + j] = i == j ? 1 : (rng_below(&r, 3) - 1) * (rng_below(&r, n) < 3);
        }
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j) {
                double x = 0;
                for (int p = 0; p <= j; ++p) x += l[i * n + p] * sign[p] * l[j * n + p];
                set(&t, i, j, x);
            }
        t.how.root = true;
        t.how.small = 1e-9;
        assemble(&t, true);
        run(&t, 0);
        check(&t, "inertia");
        assert_int_equal(t.pivots.negative, count[0]);
        assert_int_equal(t.pivots.zero, count[1]);
        assert_int_equal(t.pivots.positive, count[2]);
        free(l), free(sign);
        trial_free(&t);
    }
}

static void fill_definite(trial *t, rng *r)
{
    for (int i = 0; i < t->m; ++i)
        for (int j = 0; j <= i; ++j) set(t, i, j, i == j ? t->m : rng_unit(r));
}

static void test_positive_rule(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const int sizes[][2] = {{1, 1}, {5, 3}, {64, 64}, {90, 33}, {300, 200}, {700, 400}};
    for (int single = 0; single < 2; ++single)
        for (int s = 0; s < 6; ++s) {
            trial t = trial_new(sd_cpu()->fronts, single, sizes[s][0], sizes[s][1]);
            fill_definite(&t, &r);
            t.how.rule = SD_PIVOT_POSITIVE;
            assemble(&t, s % 2);
            run(&t, 0);
            check(&t, "positive");
            assert_int_equal(t.f.eliminated, t.n);
            assert_int_equal(t.pivots.positive, t.n);
            for (int k = 0; k < t.n; ++k) assert_int_equal(t.f.variable[k], k);
            const int bad = t.n / 2;
            set(&t, bad, bad, -1);
            assemble(&t, false);
            t.kernels->factor(&t.f, &t.how, &t.pivots, t.work, NULL);
            assert_int_equal(t.f.eliminated, bad);
            set(&t, bad, bad, NAN);
            assemble(&t, false);
            t.kernels->factor(&t.f, &t.how, &t.pivots, t.work, NULL);
            assert_int_equal(t.f.eliminated, bad);
            trial_free(&t);
        }
}

/* Pivots that are too small or of the wrong sign are replaced, and counted; the result is that of the matrix
 * with those diagonals. */
static void test_static_rule(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int k = 0; k < 20; ++k) {
        const int n = 1 + rng_below(&r, 150), m = n + rng_below(&r, 50);
        trial t = trial_new(sd_cpu()->fronts, false, m, n);
        int8_t *signs = test_alloc((size_t)n, sizeof *signs);
        fill_definite(&t, &r);
        for (int i = 0; i < n; ++i) {
            signs[i] = (int8_t)(rng_below(&r, 3) - 1);
            if (signs[i] < 0) set(&t, i, i, -at(&t, i, i));
        }
        t.how = (sd_pivoting){.rule = SD_PIVOT_STATIC, .u = 0.01, .regularise = 1e-3, .signs = signs};
        assemble(&t, true);
        run(&t, 0);
        check(&t, "static");
        assert_int_equal(t.f.eliminated, n);
        assert_int_equal(t.pivots.perturbed, 0);
        const int wrong = rng_below(&r, n);
        for (int i = 0; i < m; ++i) set(&t, i, wrong, 0);
        set(&t, wrong, wrong, signs[wrong] ? -signs[wrong] : 1e-9);
        assemble(&t, true);
        run(&t, 0);
        assert_int_equal(t.pivots.perturbed, 1);
        assert_true(get(t.f.d, 2 * wrong, false) == (signs[wrong] < 0 ? -1e-3 : 1e-3));
        free(signs);
        trial_free(&t);
    }
}

static void test_not_a_number_ends(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 120; ++k) {
        const int n = 1 + rng_below(&r, 80), m = n + (k % 2 ? rng_below(&r, 40) : 0);
        trial t = trial_new(sd_cpu()->fronts, rng_below(&r, 2), m, n);
        fill(&t, rng_below(&r, KINDS), &r);
        for (int p = rng_below(&r, 4); p >= 0; --p) set(&t, rng_below(&r, m), rng_below(&r, n), bad[k % 3]);
        if (k % 10 == 0)
            for (int i = 0; i < m; ++i)
                for (int j = 0; j <= i; ++j) set(&t, i, j, NAN);
        t.how.root = m == n;
        static const sd_pivot_rule rules[] = {SD_PIVOT_THRESHOLD, SD_PIVOT_THRESHOLD, SD_PIVOT_STATIC,
                                              SD_PIVOT_POSITIVE};
        t.how.rule = rules[k % 4];
        assemble(&t, false);
        run(&t, 0);
        if (t.how.root && t.how.rule != SD_PIVOT_POSITIVE) assert_int_equal(t.f.eliminated, n);
        assert_in_range(t.f.eliminated, 0, n);
        trial_free(&t);
    }
}

static void test_split_gives_the_same_bits(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const int kinds[] = {RANDOM, SADDLE_POINT, HEAVY_BELOW};
    for (int k = 0; k < 6; k += is_slow() ? 3 : 1) { /* a kind in double, another in single */
        const uint64_t seed = rng_next(&r);
        trial t[4];
        for (int threads = 0; threads < 4; ++threads) {
            rng same = {seed};
            t[threads] = trial_new(sd_cpu()->fronts, k % 2, 1400, 300);
            fill(&t[threads], kinds[k / 2], &same);
            assemble(&t[threads], k == 1);
            run(&t[threads], threads);
            const size_t size = real_size(k % 2);
            assert_int_equal(t[threads].f.eliminated, t[0].f.eliminated);
            assert_memory_equal(t[threads].f.d, t[0].f.d, 2 * (size_t)t[0].f.eliminated * size);
            assert_memory_equal(t[threads].f.variable, t[0].f.variable, 300 * sizeof(int32_t));
            for (int j = 0; j < 300; ++j) {
                const size_t at_j = ((size_t)j * 1403 + (size_t)j + 1) * size;
                assert_memory_equal((char *)t[threads].f.panel + at_j, (char *)t[0].f.panel + at_j,
                                    (size_t)(1399 - j) * size);
            }
            for (int j = 0; j < 1100; ++j) {
                const size_t at_j = (size_t)sd_rest_at(1100, j, j) * size;
                assert_memory_equal((char *)t[threads].f.rest + at_j, (char *)t[0].f.rest + at_j,
                                    (size_t)(1100 - j) * size);
            }
        }
        for (int threads = 0; threads < 4; ++threads) trial_free(&t[threads]);
    }
}

static void test_nothing_eliminated_clears_an_empty_rest(void **state)
{
    (void)state;
    trial t = trial_new(sd_cpu()->fronts, false, 200, 1);
    set(&t, 150, 0, 1);
    assemble(&t, true);
    run(&t, 0);
    assert_int_equal(t.f.eliminated, 0);
    check(&t, "nothing");
    trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threshold_reconstructs_every_kind),
        cmocka_unit_test(test_random_sizes),
        cmocka_unit_test(test_several_panels),
        cmocka_unit_test(test_random_front_delays_nothing),
        cmocka_unit_test(test_unstable_columns_are_delayed),
        cmocka_unit_test(test_inertia_is_found),
        cmocka_unit_test(test_positive_rule),
        cmocka_unit_test(test_static_rule),
        cmocka_unit_test(test_not_a_number_ends),
        cmocka_unit_test(test_split_gives_the_same_bits),
        cmocka_unit_test(test_nothing_eliminated_clears_an_empty_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
