/*
 * What saddle_inspect says of a matrix: counts and norms against the dense oracle, certificates of
 * definiteness against eigenvalues.
 */
#include "helpers.h"

#include "failing_allocator.h"
#include "matrix/inspect.h"

enum { LARGEST = 12 };

/* The eigenvalues of a symmetric matrix by cyclic Jacobi rotations. */
static void eigenvalues(const dense *d, double *lambda)
{
    const int n = d->n;
    double a[LARGEST][LARGEST];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) a[i][j] = dense_at(d, i, j);
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0;
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                off += fabs(a[p][q]);
                if (a[p][q] == 0) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; ++k) {
                    const double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; ++k) {
                    const double pk = a[p][k], qk = a[q][k];
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                }
            }
        }
        if (off == 0) break;
    }
    for (int i = 0; i < n; ++i) lambda[i] = a[i][i];
}

static saddle_facts inspect(const dense *d, saddle_shape shape)
{
    saddle_matrix A = view_plain(d, shape);
    saddle_facts facts;
    char message[SADDLE_MESSAGE_SIZE];
    const saddle_status status = saddle_inspect(&A, NULL, &facts, message);
    if (status) fail_msg("%s", message);
    view_free(&A);
    return facts;
}

/* The kind is the same however a symmetric matrix is stored. */
static saddle_kind kind_of(const dense *d)
{
    const saddle_kind kind = inspect(d, SADDLE_LOWER).kind;
    assert_int_equal(inspect(d, SADDLE_UPPER).kind, kind);
    assert_int_equal(inspect(d, SADDLE_FULL).kind, kind);
    assert_int_equal(inspect(d, SADDLE_GENERAL).kind, kind);
    return kind;
}

static saddle_kind kind_of_rows(int n, const double *rows)
{
    dense d = dense_from(n, rows);
    const saddle_kind kind = kind_of(&d);
    dense_free(&d);
    return kind;
}

static void certificates_on_matrices_made_by_hand(void **state)
{
    (void)state;
    /* the 1-D Laplacian: weakly dominant, strictly at its ends, connected */
    assert_int_equal(kind_of_rows(4, (double[]){2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2}),
                     SADDLE_KIND_SPD);
    /* Neumann conditions: singular, so neither */
    assert_int_equal(kind_of_rows(3, (double[]){1, -1, 0, -1, 2, -1, 0, -1, 1}), SADDLE_KIND_UNKNOWN);
    /* Dirichlet on one component, Neumann on the other */
    assert_int_equal(kind_of_rows(4, (double[]){2, -1, 0, 0, -1, 2, 0, 0, 0, 0, 1, -1, 0, 0, -1, 1}),
                     SADDLE_KIND_UNKNOWN);
    assert_int_equal(kind_of_rows(1, (double[]){3}), SADDLE_KIND_SPD);
    assert_int_equal(kind_of_rows(2, (double[]){3, 0, 0, 1e-300}), SADDLE_KIND_SPD);
    assert_int_not_equal(kind_of_rows(1, (double[]){-3}), SADDLE_KIND_SPD);
    assert_int_not_equal(kind_of_rows(2, (double[]){1, 0, 0, 0}), SADDLE_KIND_SPD);
    /* a saddle point: a zero diagonal entry beside a nonzero */
    assert_int_equal(kind_of_rows(2, (double[]){1, 1, 1, 0}), SADDLE_KIND_INDEFINITE);
    assert_int_equal(kind_of_rows(2, (double[]){0, 1, 1, 0}), SADDLE_KIND_INDEFINITE);
    /* both signs on the diagonal */
    assert_int_equal(kind_of_rows(2, (double[]){1, 0, 0, -1}), SADDLE_KIND_INDEFINITE);
    /* a negative minor, with a positive and with a negative diagonal */
    assert_int_equal(kind_of_rows(2, (double[]){1, 2, 2, 1}), SADDLE_KIND_INDEFINITE);
    assert_int_equal(kind_of_rows(2, (double[]){-1, 2, 2, -1}), SADDLE_KIND_INDEFINITE);
    /* a minor of 0 is no proof: this one is singular */
    assert_int_equal(kind_of_rows(2, (double[]){1, 2, 2, 4}), SADDLE_KIND_UNKNOWN);
    /* an arrow: positive definite, and not dominant */
    assert_int_not_equal(kind_of_rows(4, (double[]){4, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1}),
                         SADDLE_KIND_INDEFINITE);
    /* not symmetric: not looked at */
    dense d = dense_from(2, (double[]){1, 2, 3, 1});
    assert_int_equal(inspect(&d, SADDLE_GENERAL).kind, SADDLE_KIND_UNKNOWN);
    dense_free(&d);
}

/* Weak dominance is not decided by rounding: 0.1 + 0.2 + 0.3 + ... against the sum in doubles. */
static void dominance_is_exact_where_sums_round(void **state)
{
    (void)state;
    const double tenth = 0.1, sum = 0.1 + 0.1 + 0.1; /* rounded up: above three times 0.1 */
    dense d = dense_new(4);
    for (int j = 1; j < 4; ++j) {
        dense_set(&d, 0, j, -tenth);
        dense_set(&d, j, 0, -tenth);
        dense_set(&d, j, j, tenth);
    }
    dense_set(&d, 0, 0, sum);
    assert_true((sum - tenth) - tenth > tenth);
    saddle_facts facts = inspect(&d, SADDLE_LOWER);
    assert_int_equal(facts.dominant_rows, 1);
    assert_int_equal(facts.kind, SADDLE_KIND_SPD);
    dense_set(&d, 0, 0, nextafter(sum, 0));
    facts = inspect(&d, SADDLE_LOWER);
    assert_int_equal(facts.dominant_rows, 0);
    assert_int_not_equal(facts.kind, SADDLE_KIND_SPD);
    dense_free(&d);
}

static void the_kind_never_contradicts_the_eigenvalues(void **state)
{
    (void)state;
    rng r = rng_start("kinds");
    int found[3] = {0};
    for (int round = 0; round < 20000; ++round) {
        const int n = 1 + rng_below(&r, LARGEST);
        dense d = dense_random(&r, n, 0.7 * fabs(rng_unit(&r)), true);
        if (rng_below(&r, 2)) { /* near the borderline of dominance */
            for (int i = 0; i < n; ++i) {
                double sum = 0;
                for (int j = 0; j < n; ++j) sum += j == i ? 0 : fabs(dense_at(&d, i, j));
                dense_set(&d, i, i, sum + (rng_below(&r, 4) == 0 ? 0.0625 : 0));
            }
            if (rng_below(&r, 4) == 0) dense_set(&d, 0, 0, dense_at(&d, 0, 0) - 0.0625);
        }
        const saddle_kind kind = inspect(&d, rng_below(&r, 2) ? SADDLE_LOWER : SADDLE_GENERAL).kind;
        ++found[kind];
        double lambda[LARGEST], least = INFINITY, most = -INFINITY, rounding;
        eigenvalues(&d, lambda);
        for (int i = 0; i < n; ++i) {
            least = fmin(least, lambda[i]);
            most = fmax(most, lambda[i]);
        }
        rounding = 1e-12 * fmax(fabs(least), fabs(most));
        if (kind == SADDLE_KIND_SPD && !(least > rounding))
            fail_msg("called positive definite with an eigenvalue of %g", least);
        if (kind == SADDLE_KIND_INDEFINITE && !(least < rounding && most > -rounding && least < most))
            fail_msg("called indefinite with eigenvalues in [%g, %g]", least, most);
        dense_free(&d);
    }
    for (int k = 0; k < 3; ++k) assert_true(found[k] > 100); /* all kinds were really tried */
}

static double oracle_norm(const dense *d, bool columns)
{
    double most = 0;
    for (int i = 0; i < d->n; ++i) {
        double sum = 0;
        for (int j = 0; j < d->n; ++j) sum += fabs(columns ? dense_at(d, j, i) : dense_at(d, i, j));
        most = fmax(most, sum);
    }
    return most;
}

static void assert_counts(const dense *d, const saddle_facts *f)
{
    const int n = d->n;
    int64_t nnz = 0, zeros = 0, missing = 0, zero_diagonal = 0, negative = 0, empty = 0, dominant = 0,
            shortest = n, longest = 0, bandwidth = 0;
    double least_dominance = INFINITY, largest = 0, smallest = INFINITY, squares = 0;
    bool pattern = true, value = true;
    for (int i = 0; i < n; ++i) {
        int64_t length = 0;
        double off = 0;
        for (int j = 0; j < n; ++j) {
            const double a = dense_at(d, i, j);
            const bool there = d->there[i * n + j];
            nnz += there;
            zeros += there && a == 0;
            length += a != 0;
            if (a != 0) {
                largest = fmax(largest, fabs(a));
                smallest = fmin(smallest, fabs(a));
                if (abs(i - j) > bandwidth) bandwidth = abs(i - j);
            }
            if (j != i) off += fabs(a);
            squares += a * a;
            pattern = pattern && there == d->there[j * n + i];
            value = value && there == d->there[j * n + i] && a == dense_at(d, j, i);
        }
        const double diagonal = dense_at(d, i, i);
        missing += !d->there[i * n + i];
        zero_diagonal += diagonal == 0;
        negative += diagonal < 0;
        empty += length == 0;
        dominant += fabs(diagonal) > off;
        if (length < shortest) shortest = length;
        if (length > longest) longest = length;
        least_dominance = fmin(least_dominance, off > 0         ? fabs(diagonal) / off
                                                : diagonal == 0 ? 0
                                                                : INFINITY);
    }
    if (largest == 0) smallest = 0;
    assert_int_equal(f->nnz, nnz);
    assert_int_equal(f->explicit_zeros, zeros);
    assert_int_equal(f->missing_diagonal, missing);
    assert_int_equal(f->zero_diagonal, zero_diagonal);
    assert_int_equal(f->negative_diagonal, negative);
    assert_int_equal(f->empty_rows, empty);
    assert_int_equal(f->dominant_rows, dominant);
    assert_int_equal(f->shortest_row, shortest);
    assert_int_equal(f->longest_row, longest);
    assert_int_equal(f->bandwidth, bandwidth);
    assert_int_equal(f->pattern_symmetric, pattern);
    assert_int_equal(f->symmetric, value);
    assert_true(f->largest == largest && f->smallest == smallest);
    assert_true(f->least_dominance == least_dominance);
    assert_true(f->norm_inf == oracle_norm(d, false) && f->norm_one == oracle_norm(d, true));
    assert_true(fabs(f->norm_frobenius - sqrt(squares)) <= 1e-14 * sqrt(squares));
}

/* Sixteenths: every sum is exact, so all but the Frobenius norm can be compared with ==. */
static void the_facts_agree_with_the_dense_oracle(void **state)
{
    (void)state;
    rng r = rng_start("facts");
    for (int round = 0; round < 4000; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 1 + rng_below(&r, 8), fabs(rng_unit(&r)), symmetric);
        const view_style style = rng_style(&r, symmetric);
        saddle_matrix A = view_make(&r, &d, style);
        saddle_facts facts;
        assert_int_equal(saddle_inspect(&A, NULL, &facts, NULL), SADDLE_OK);
        assert_int_equal(facts.size, sizeof facts);
        assert_int_equal(facts.rows, d.n);
        assert_int_equal(facts.columns, d.n);
        assert_int_equal(facts.entries, A.entries);
        assert_int_equal(facts.out_of_range + facts.not_finite + facts.wrong_triangle, 0);
        if (!style.duplicated) assert_int_equal(facts.duplicates, 0);
        const bool half = style.shape == SADDLE_LOWER || style.shape == SADDLE_UPPER;
        if (!half) assert_int_equal(facts.duplicates, A.entries - facts.nnz);
        if (!style.shuffled && !style.duplicated) assert_int_equal(facts.unsorted, 0);
        assert_counts(&d, &facts);
        view_free(&A);
        dense_free(&d);
    }
}

static void unsorted_lines_and_duplicates_are_counted(void **state)
{
    (void)state;
    const int32_t ptr[] = {0, 2, 4, 7}, ind[] = {1, 0, 0, 1, 2, 2, 2};
    const double val[] = {1, 1, 1, 1, 1, 1, 1};
    const saddle_matrix A = saddle_general(3, ptr, ind, val);
    saddle_facts facts;
    assert_int_equal(saddle_inspect(&A, NULL, &facts, NULL), SADDLE_OK);
    assert_int_equal(facts.unsorted, 2);
    assert_int_equal(facts.duplicates, 2);
    assert_int_equal(facts.nnz, 5);
    assert_true(facts.largest == 3);
}

static void norms_do_not_overflow_on_the_way(void **state)
{
    (void)state;
    const double scales[] = {1e300, 1e-300, 1e308, 4.94e-324};
    for (int k = 0; k < 4; ++k) {
        dense d = dense_from(2, (double[]){scales[k], 0, 0, scales[k]});
        const saddle_facts facts = inspect(&d, SADDLE_LOWER);
        assert_true(facts.norm_inf == scales[k]);
        if (k < 2) assert_true(fabs(facts.norm_frobenius / scales[k] - sqrt(2)) < 1e-14);
        assert_int_equal(facts.kind, SADDLE_KIND_SPD);
        dense_free(&d);
    }
}

static void both_triangles_must_agree_where_both_are_given(void **state)
{
    (void)state;
    dense d = dense_from(2, (double[]){1, 2, 3, 1});
    saddle_matrix A = view_plain(&d, SADDLE_FULL);
    saddle_facts facts;
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_MATRIX);
    assert_contains(message, "row 1, column 2");
    assert_int_equal(facts.nnz, 4); /* filled in all the same */
    view_free(&A);
    dense_free(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int round = 0; round < 20; ++round) {
        dense d = dense_random(&r, 5, 0.6, true);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, true));
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_facts facts;
            char message[SADDLE_MESSAGE_SIZE];
            const saddle_status status = saddle_inspect(&A, &hooks, &facts, message);
            assert_int_equal(f.live, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
            assert_contains(message, "memory");
        }
        view_free(&A);
        dense_free(&d);
    }
}

/* Every row weakly dominant; the first strictly, where it is `grounded`. */
static void make_laplacian(dense *d, bool grounded)
{
    for (int i = 0; i < d->n; ++i) {
        double sum = i == 0 && grounded;
        for (int j = 0; j < d->n; ++j) {
            if (j > i) dense_set(d, i, j, ceil(dense_at(d, i, j)));
            if (j > i) dense_set(d, j, i, dense_at(d, i, j));
            if (j != i) sum += fabs(dense_at(d, i, j));
        }
        dense_set(d, i, i, sum);
    }
}

/* What the solver looks at in every factorization says what a whole inspection says. */
static void a_glance_sees_what_an_inspection_sees(void **state)
{
    (void)state;
    rng r = rng_start("glance");
    int kinds[3] = {0}, proved_again = 0;
    for (int round = 0; round < 600; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, LARGEST - 1), 0.3, true);
        for (int i = 0; i < d.n; ++i) { /* definite, semidefinite to the eye, or as it is */
            if (round % 3 && dense_at(&d, i, i) < 0) dense_set(&d, i, i, -dense_at(&d, i, i));
            if (round % 3 == 1) dense_set(&d, i, i, 5000);
            if (round % 7 == 0 && rng_below(&r, 4) == 0) dense_set(&d, i, i, 0);
        }
        if (round % 5 == 2) make_laplacian(&d, round % 4 != 0);
        saddle_matrix A = view_plain(&d, round % 2 ? SADDLE_LOWER : SADDLE_FULL);
        saddle_facts whole, part = {.size = sizeof part};
        assert_int_equal(saddle_inspect(&A, NULL, &whole, NULL), SADDLE_OK);
        sd_context c;
        sd_csr csr;
        const bool norms = round % 4 < 3; /* a matrix with all its entries has them in any case */
        double room[8 * LARGEST], norm = NAN;
        sd_glance at = {.room = round % 5 ? room : NULL, .norms = norms, .kind = true};
        sd_context_init(&c, NULL, 0);
        assert_int_equal(sd_csr_from_view(&c, &A, true, &csr, NULL), SADDLE_OK);
        assert_true(sd_inspect_bytes(&csr) <= (int64_t)sizeof room);
        assert_int_equal(sd_csr_glance(&c, &csr, &at, &part), SADDLE_OK);
        assert_int_equal(part.nnz, whole.nnz);
        assert_int_equal(part.explicit_zeros, whole.explicit_zeros);
        assert_int_equal(part.zero_diagonal, whole.zero_diagonal);
        assert_int_equal(part.negative_diagonal, whole.negative_diagonal);
        assert_int_equal(part.symmetric, whole.symmetric);
        assert_int_equal(part.pattern_symmetric, whole.pattern_symmetric);
        assert_int_equal(part.kind, whole.kind);
        if (isnan(part.norm_inf)) {
            assert_true(!norms && csr.half && isnan(part.norm_one));
            assert_int_equal(sd_csr_norm(&c, &csr, &norm), SADDLE_OK);
            part.norm_inf = part.norm_one = norm;
        }
        assert_true(part.norm_inf == whole.norm_inf && part.norm_one == whole.norm_one);
        assert_true(part.largest == whole.largest && part.smallest == whole.smallest);
        ++kinds[part.kind];
        saddle_facts again = {.size = sizeof again}; /* with what was found of the pattern */
        assert_int_equal(sd_csr_glance(&c, &csr, &at, &again), SADDLE_OK);
        assert_int_equal(again.kind, whole.kind);
        saddle_facts seen = {.size = sizeof seen}; /* no proof is wanted */
        at.kind = false;
        assert_int_equal(sd_csr_glance(&c, &csr, &at, &seen), SADDLE_OK);
        assert_true(seen.kind == whole.kind || (csr.half && seen.kind == SADDLE_KIND_UNKNOWN));
        proved_again += at.connected && again.kind == SADDLE_KIND_SPD;
        sd_csr_free(&c, &csr);
        view_free(&A);
        dense_free(&d);
    }
    for (int k = 0; k < 3; ++k) assert_true(kinds[k] > 10);
    assert_true(proved_again > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_on_matrices_made_by_hand),
        cmocka_unit_test(dominance_is_exact_where_sums_round),
        cmocka_unit_test(the_kind_never_contradicts_the_eigenvalues),
        cmocka_unit_test(the_facts_agree_with_the_dense_oracle),
        cmocka_unit_test(unsorted_lines_and_duplicates_are_counted),
        cmocka_unit_test(norms_do_not_overflow_on_the_way),
        cmocka_unit_test(both_triangles_must_agree_where_both_are_given),
        cmocka_unit_test(a_glance_sees_what_an_inspection_sees),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
