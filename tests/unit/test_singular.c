/*
 * What is called singular is singular, and what is called solved has a solution: nonsingular systems near the
 * limit of the precision (stiff chains, Laplacians with a small shift), whose solution is nearly a null
 * vector, and small singular ones, whose consistency rational arithmetic decides, by every method.
 */
#include "hard_matrices.h"

#include "exact.h"

static const char *const METHODS[] = {"method=direct,simplicial=on",
                                      "method=direct,simplicial=off",
                                      "method=ldlt",
                                      "method=jacobi",
                                      "method=direct,factorization=static",
                                      "method=diagonal",
                                      "method=auto"};
enum { FACTORING = 5, METHODS_ALL = sizeof METHODS / sizeof *METHODS };

/* Solves for b = A times ones, as it rounds, by every method; how many of the answers were accurate. */
static int never_singular(const dense *d, const char *what)
{
    double *ones = test_alloc((size_t)d->n, sizeof *ones), *b = test_alloc((size_t)d->n, sizeof *b);
    double *x = test_alloc((size_t)d->n, sizeof *x);
    saddle_matrix A = view_plain(d, SADDLE_LOWER);
    int solved = 0;
    for (int i = 0; i < d->n; ++i) ones[i] = 1;
    dense_times(d, ones, b);
    for (int m = 0; m < METHODS_ALL; ++m) {
        const saddle_info info = solve_with(&A, b, x, METHODS[m]);
        if (info.status == SADDLE_SINGULAR)
            fail_msg("%s, n %d, %s: nonsingular, but %s", what, d->n, METHODS[m], info.message);
        if (info.inertia_certain == 1) assert_int_equal(info.inertia_zero, 0);
        solved += info.status == SADDLE_OK;
    }
    view_free(&A);
    free(ones);
    free(b);
    free(x);
    return solved;
}

/* Springs in a row, their stiffness over up to twelve decades, the first one fixed at its other end. */
static dense stiff_chain(rng *r)
{
    const int n = rng_between(r, 3, 30);
    const double decades = rng_uniform(r, 6, 12);
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        const double stiffness = rng_decades(r, 0, decades);
        dense_set(&d, i, i, dense_at(&d, i, i) + stiffness);
        if (i == 0) continue;
        set_both(&d, i, i - 1, -stiffness);
        dense_set(&d, i - 1, i - 1, dense_at(&d, i - 1, i - 1) + stiffness);
    }
    return d;
}

static void stiff_chains_are_not_singular(void **state)
{
    (void)state;
    rng r = rng_start("stiff chains");
    int cases = 0, solved = 0;
    for (int k = is_slow() ? 20 : is_full() ? 4000 : 200; k > 0; --k) {
        char name[64];
        snprintf(name, sizeof name, "chain, %d left", k);
        dense d = stiff_chain(&r);
        if (exact_inertia_of(d.n, d.a).zero == 0) { /* rounding may have made it singular */
            solved += never_singular(&d, name);
            ++cases;
        }
        dense_free(&d);
    }
    print_message("           %d chains, %d of %d answers accurate\n", cases, solved, METHODS_ALL * cases);
    assert_true(cases > 0 && solved >= METHODS_ALL * cases / 2);
}

typedef enum shape { PATH, CYCLE, STAR, GRID, COMPLETE, TREE, SHAPES } shape;

static bool is_edge(rng *r, shape s, int n, int i, int j) /* j < i */
{
    const int side = 10;
    switch (s) {
    case PATH: return i == j + 1;
    case CYCLE: return i == j + 1 || (j == 0 && i == n - 1);
    case STAR: return j == 0;
    case GRID: return (i == j + 1 && i % side) || i == j + side;
    case COMPLETE: return true;
    default: return i == j + 1 ? i % 3 != 0 : i % 3 == 0 && j == (int)(rng_next(r) % (uint64_t)i);
    }
}

/* Its Laplacian, plus `shift` on the diagonal: strictly dominant, and so positive definite. */
static dense shifted_laplacian(rng *r, shape s, int n, double shift)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (is_edge(r, s, n, i, j)) set_both(&d, i, j, -1);
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum -= dense_at(&d, i, j);
        dense_set(&d, i, i, sum + shift);
        assert_true(dense_at(&d, i, i) > sum);
    }
    return d;
}

static void laplacians_with_a_small_shift_are_not_singular(void **state)
{
    (void)state;
    rng r = rng_start("shifted Laplacians");
    static const int sizes[] = {10, 30, 50, 100, 150};
    int cases = 0, solved = 0;
    for (int s = 0; s < SHAPES; ++s) {
        for (int k = 0; k < (is_slow() ? 2 : 5); ++k) {
            char name[64];
            if (s == COMPLETE && sizes[k] > 50) continue; /* whose diagonal does not hold the shift exactly */
            snprintf(name, sizeof name, "graph %d", s);
            dense d = shifted_laplacian(&r, (shape)s, sizes[k], 1.8e-12);
            solved += never_singular(&d, name);
            ++cases;
            dense_free(&d);
        }
    }
    print_message("           %d Laplacians, %d of %d answers accurate\n", cases, solved,
                  METHODS_ALL * cases);
    assert_true(solved >= METHODS_ALL * cases / 2);
}

/* ---- whole numbers ---- */

typedef struct outcome {
    int systems, inconsistent, wrong;
} outcome;

/* Neither is an inconsistent system solved, nor a nonsingular one singular, by any method that factors. */
static void judge(const dense *d, const double *b, const char *what, outcome *o)
{
    const bool consistent = exact_is_consistent(d->n, d->a, b),
               regular = exact_rank_of(d->n, d->n, d->a) == d->n;
    saddle_matrix A = view_plain(d, SADDLE_LOWER);
    double *x = test_alloc((size_t)d->n, sizeof *x);
    ++o->systems;
    o->inconsistent += !consistent;
    for (int m = 0; m < FACTORING; ++m) {
        const saddle_info info = solve_with(&A, b, x, METHODS[m]);
        const bool bad =
            (info.status == SADDLE_OK && !consistent) || (info.status == SADDLE_SINGULAR && regular);
        if (bad)
            print_message("           %s, b %.17g %.17g %.17g, %s: %s, relative residual %g: %s\n", what,
                          b[0], b[1], b[2], METHODS[m], regular ? "nonsingular" : "inconsistent",
                          info.relative_residual, saddle_reason_text(info.reason));
        o->wrong += bad;
    }
    free(x);
    view_free(&A);
}

static void tell(const outcome *o)
{
    print_message("           %d systems, %d inconsistent, %d answers wrong\n", o->systems, o->inconsistent,
                  o->wrong);
    assert_true(o->inconsistent > 0);
    assert_int_equal(o->wrong, 0);
}

static void every_3x3_is_solved_or_singular_as_it_is(void **state)
{
    (void)state;
    rng r = rng_start("3x3");
    outcome o = {0, 0, 0};
    for (int k = 0; k < SMALL_ALL; k += small_step()) {
        dense d = small_numbers(k);
        double b[3];
        char name[64];
        snprintf(name, sizeof name, "3x3, number %d", k);
        for (int i = 0; i < 3; ++i) b[i] = rng_between(&r, -3, 3);
        judge(&d, b, name, &o);
        for (int i = 0; i < 3; ++i) b[i] = rng_unit(&r);
        judge(&d, b, name, &o);
        dense_free(&d);
    }
    tell(&o);
}

/* A singular 2x2 and a number of its own: an x with a huge null vector in it satisfies the componentwise
 * test, but is no null vector itself. */
static void a_huge_null_vector_beside_something_else_is_no_solution(void **state)
{
    (void)state;
    static const struct {
        int number;
        double b[3];
    } cases[] = {{1583, {-1, 0, -2}},
                 {4708, {-2, 0, -2}},
                 {4708, {-2, -3, 1}},
                 {12861, {-1, 3, 0}},
                 {13864, {-2, 1, 0}},
                 {14364, {1, -1, 0}},
                 {15361, {-2, -3, 0}},
                 {1593, {1, 2, -3}},
                 {4036, {-3, -1, 0}},
                 {10339, {2, 2, 0}},
                 {10335, {-1, 3, 0}},
                 {10335, {2, 1, 0}},
                 {10906, {0.50565383187239821, -0.98960031077194621, -0.80409025411621204}}};
    outcome o = {0, 0, 0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        dense d = small_numbers(cases[k].number);
        judge(&d, cases[k].b, "3x3", &o);
        dense_free(&d);
    }
    tell(&o);
}

/* Consistent or not, of whole numbers: graphs, redundant constraints, anything. */
static void larger_systems_are_solved_or_singular_as_they_are(void **state)
{
    (void)state;
    rng r = rng_start("larger systems");
    outcome o = {0, 0, 0};
    for (int f = 0; f < FAMILIES_ALL; ++f) {
        for (int k = 0; FAMILIES[f].whole && k < (is_slow() ? 4 : is_full() ? 1000 : 30); ++k) {
            dense d = FAMILIES[f].make(&r);
            double *x = test_alloc((size_t)d.n, sizeof *x), *b = test_alloc((size_t)d.n, sizeof *b);
            for (int i = 0; i < d.n; ++i) x[i] = rng_between(&r, -3, 3);
            dense_times(&d, x, b);
            if (k % 2) b[rng_below(&r, d.n)] += 1;
            judge(&d, b, FAMILIES[f].name, &o);
            free(x);
            free(b);
            dense_free(&d);
        }
    }
    tell(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_chains_are_not_singular),
        cmocka_unit_test(laplacians_with_a_small_shift_are_not_singular),
        cmocka_unit_test(every_3x3_is_solved_or_singular_as_it_is),
        cmocka_unit_test(a_huge_null_vector_beside_something_else_is_no_solution),
        cmocka_unit_test(larger_systems_are_solved_or_singular_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
