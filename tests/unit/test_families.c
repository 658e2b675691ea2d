/*
 * The families of test problems: against dense constructions written from the definitions, entry by
 * entry; their dimensions, structure and inertia; seeds, ranges and refusals.
 */
#include "cli/families.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static saddle_matrix make(const char *name, int64_t size, double param, uint64_t seed)
{
    saddle_matrix A;
    char message[SADDLE_MESSAGE_SIZE] = "";
    const saddle_status status = family_generate(name, size, param, seed, &A, message);
    if (status != SADDLE_OK) fail_msg("%s %d: %s", name, (int)size, message);
    return A;
}

static const int64_t *pointers(const saddle_matrix *A)
{
    return A->pointers;
}

static const double *values(const saddle_matrix *A)
{
    return A->values;
}

/* Lower triangle by columns, strictly ascending, finite, base 0. */
static void check_structure(const saddle_matrix *A)
{
    const int64_t *p = pointers(A);
    assert_int_equal(A->rows, A->columns);
    assert_int_equal(A->layout, SADDLE_COLUMNS);
    assert_int_equal(A->shape, SADDLE_LOWER);
    assert_int_equal(A->type, SADDLE_DOUBLE);
    assert_int_equal(A->pointer_bits, 64);
    assert_int_equal(A->base, 0);
    assert_int_equal(p[0], 0);
    assert_int_equal(p[A->columns], A->entries);
    for (int64_t j = 0; j < A->columns; j++) {
        assert_true(p[j] <= p[j + 1]);
        for (int64_t e = p[j]; e < p[j + 1]; e++) {
            assert_true(A->indices[e] >= j && A->indices[e] < A->rows);
            if (e > p[j]) assert_true(A->indices[e] > A->indices[e - 1]);
            assert_true(isfinite(values(A)[e]));
        }
    }
}

/* Both triangles, n x n by columns; what is not stored is NAN where `holes`, else 0. */
static double *dense(const saddle_matrix *A, int holes)
{
    const int64_t n = A->rows, *p = pointers(A);
    double *F = malloc((size_t)(n * n) * sizeof(double));
    assert_non_null(F);
    for (int64_t k = 0; k < n * n; k++) F[k] = holes ? NAN : 0.0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t e = p[j]; e < p[j + 1]; e++)
            F[A->indices[e] + j * n] = F[j + A->indices[e] * n] = values(A)[e];
    return F;
}

/* Signs of the eigenvalues of a dense symmetric matrix, by Jacobi's rotations (F is overwritten). */
static void inertia(double *F, int n, int *positive, int *negative)
{
    double off = 1.0;
    for (int sweep = 0; sweep < 60 && off > 1e-26; sweep++) {
        double total = 0.0;
        off = 0.0;
        for (int p = 0; p < n; p++)
            for (int q = 0; q < p; q++) {
                const double apq = F[p + q * n];
                if (apq == 0.0) continue;
                const double theta = (F[q + q * n] - F[p + p * n]) / (2.0 * apq);
                const double t = (theta < 0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double a = F[p + k * n], b = F[q + k * n];
                    F[p + k * n] = c * a - s * b;
                    F[q + k * n] = s * a + c * b;
                }
                for (int k = 0; k < n; k++) {
                    const double a = F[k + p * n], b = F[k + q * n];
                    F[k + p * n] = c * a - s * b;
                    F[k + q * n] = s * a + c * b;
                }
            }
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++) {
                total += F[p + q * n] * F[p + q * n];
                if (p != q) off += F[p + q * n] * F[p + q * n];
            }
        off /= total;
    }
    assert_true(off <= 1e-26);
    *positive = *negative = 0;
    for (int k = 0; k < n; k++) {
        *positive += F[k + k * n] > 0.0;
        *negative += F[k + k * n] < 0.0;
    }
}

static void check_inertia(const char *name, int64_t size, double param, int64_t positive, int64_t negative)
{
    saddle_matrix A = make(name, size, param, 1);
    int found_positive, found_negative;
    double *F = dense(&A, 0);
    inertia(F, (int)A.rows, &found_positive, &found_negative);
    if (found_positive != positive || found_negative != negative)
        fail_msg("%s %d P %g: inertia %d+ %d-, expected %d+ %d-", name, (int)size, param, found_positive,
                 found_negative, (int)positive, (int)negative);
    free(F);
    family_free(&A);
}

static void test_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t size, n, entries; /* entries -1: random */
    } cases[] = {
        {"lap2d", 1, 1, 1},           {"lap2d", 10, 100, 280},
        {"lap3d", 5, 125, 425},       {"elas3d", 1, 3, 6},
        {"elas3d", 4, 192, -1},       {"stokes2d", 2, 7, -1},
        {"stokes2d", 30, 2639, -1},   {"stokes3d", 20, 30799, -1},
        {"darcy2d", 250, 186999, -1}, {"darcy3d", 24, 53567, -1},
        {"pdeco2d", 10, 300, 760},    {"pdeco3d", 20, 24000, -1},
        {"kktz", 150, 45000, -1},     {"ipm", 2, 3, -1},
        {"ipm", 60000, 90000, -1},    {"ipm", 5, 7, -1},
        {"ocp", 1, 10, -1},           {"ocp", 50, 500, -1},
        {"mpc", 3, 54, -1},           {"helm2d", 7, 49, 133},
        {"helm3d", 3, 27, 81},        {"stokes2d", 300, 269399, -1},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        saddle_matrix A = make(cases[k].name, cases[k].size, NAN, 1);
        check_structure(&A);
        assert_int_equal(A.rows, cases[k].n);
        if (cases[k].entries >= 0) assert_int_equal(A.entries, cases[k].entries);
        family_free(&A);
    }
}

/* Grid point -> number, or -1 outside. */
static int64_t at(const int64_t length[3], int64_t x, int64_t y, int64_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= length[0] || y >= length[1] || z >= length[2]) return -1;
    return x + length[0] * (y + length[1] * z);
}

/* F(first_row + i, first_column + j) for the Laplacian, NAN elsewhere left alone. */
static void dense_laplacian(double *F, int64_t n, int64_t first_row, int64_t first_column,
                            const int64_t length[3], int axes, double factor, double shift)
{
    static const int step[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int64_t z = 0; z < length[2]; z++)
        for (int64_t y = 0; y < length[1]; y++)
            for (int64_t x = 0; x < length[0]; x++) {
                const int64_t i = first_row + at(length, x, y, z);
                F[i + (first_column + at(length, x, y, z)) * n] = 2 * axes * factor - shift;
                for (int s = 0; s < 6; s++) {
                    const int64_t j = at(length, x + step[s][0], y + step[s][1], z + step[s][2]);
                    if (j >= 0) F[i + (first_column + j) * n] = -factor;
                }
            }
}

static double *holes(int64_t n)
{
    double *F = malloc((size_t)(n * n) * sizeof(double));
    assert_non_null(F);
    for (int64_t k = 0; k < n * n; k++) F[k] = NAN;
    return F;
}

/* Fails where A and F differ, in what is stored (NAN: not) or in value. Frees both. */
static void compare(const char *what, saddle_matrix *A, double *expected)
{
    const int64_t n = A->rows;
    double *found = dense(A, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double f = found[i + j * n], e = expected[i + j * n];
            if (isnan(f) != isnan(e) || (!isnan(f) && fabs(f - e) > 1e-15 * fabs(e)))
                fail_msg("%s (%d, %d): %.17g, expected %.17g", what, (int)i, (int)j, f, e);
        }
    free(found);
    free(expected);
    family_free(A);
}

static void test_laplacians(void **state)
{
    (void)state;
    const double kh = 2.0 * 3.14159265358979323846 / 10.0;
    for (int axes = 2; axes <= 3; axes++)
        for (int64_t N = 1; N <= 4; N++) {
            const int64_t length[3] = {N, N, axes == 2 ? 1 : N}, n = N * N * length[2];
            saddle_matrix A = make(axes == 2 ? "lap2d" : "lap3d", N, 1.5, 1);
            double *F = holes(n);
            dense_laplacian(F, n, 0, 0, length, axes, 1.0, 1.5);
            compare("lap", &A, F);
            A = make(axes == 2 ? "helm2d" : "helm3d", N, NAN, 1);
            F = holes(n);
            dense_laplacian(F, n, 0, 0, length, axes, 1.0, kh * kh);
            compare("helm", &A, F);
        }
}

static void test_elasticity(void **state)
{
    (void)state;
    for (int64_t N = 1; N <= 3; N++) {
        const int64_t points = N * N * N, n = 3 * points;
        saddle_matrix A = make("elas3d", N, 2.0, 1);
        double *F = holes(n);
        for (int64_t p = 0; p < points; p++)
            for (int64_t q = 0; q < points; q++) {
                const int64_t d[3] = {p % N - q % N, p / N % N - q / N % N, p / N / N - q / N / N};
                const int64_t square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                if (llabs(d[0]) > 1 || llabs(d[1]) > 1 || llabs(d[2]) > 1) continue;
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) {
                        double v = r == c ? 80.0 : 0.5;
                        if (p != q) v = -0.5 * ((r == c) + (double)(d[r] * d[c]) / (double)square);
                        if (v != 0.0) F[3 * p + r + (3 * q + c) * n] = v;
                    }
            }
        compare("elas3d", &A, F);
    }
}

/* B, entry by entry: every cell against every face. */
static void dense_divergence(double *F, int64_t n, int64_t N, int axes)
{
    const int64_t cells[3] = {N, N, axes == 2 ? 1 : N}, pressures = cells[0] * cells[1] * cells[2] - 1;
    int64_t first = 0;
    for (int a = 0; a < axes; a++) {
        int64_t length[3] = {cells[0], cells[1], cells[2]};
        length[a]--;
        for (int64_t cell = 0; cell < pressures; cell++) {
            int64_t c[3] = {cell % N, cell / N % N, cell / N / N};
            const int64_t row = n - pressures + cell, upper = at(length, c[0], c[1], c[2]);
            if (upper >= 0) F[row + (first + upper) * n] = F[first + upper + row * n] = 1.0;
            c[a]--;
            const int64_t lower = at(length, c[0], c[1], c[2]);
            if (lower >= 0) F[row + (first + lower) * n] = F[first + lower + row * n] = -1.0;
        }
        first += length[0] * length[1] * length[2];
    }
    assert_int_equal(first, n - pressures);
}

static void test_staggered(void **state)
{
    (void)state;
    for (int axes = 2; axes <= 3; axes++)
        for (int64_t N = 2; N <= 4; N++) {
            saddle_matrix A = make(axes == 2 ? "stokes2d" : "stokes3d", N, 0.01, 1);
            const int64_t n = A.rows;
            double *F = holes(n);
            int64_t first = 0;
            for (int a = 0; a < axes; a++) {
                int64_t length[3] = {N, N, axes == 2 ? 1 : N};
                length[a]--;
                dense_laplacian(F, n, first, first, length, axes, 0.01, 0.0);
                first += length[0] * length[1] * length[2];
            }
            dense_divergence(F, n, N, axes);
            compare("stokes", &A, F);

            A = make(axes == 2 ? "darcy2d" : "darcy3d", N, NAN, 5);
            F = holes(n);
            for (int64_t k = 0; k < first; k++) { /* the diagonal is random: its log is within 6 sigma */
                assert_int_equal(A.indices[pointers(&A)[k]], k);
                F[k + k * n] = values(&A)[pointers(&A)[k]];
                assert_true(fabs(log(F[k + k * n])) < 18.0);
            }
            dense_divergence(F, n, N, axes);
            compare("darcy", &A, F);
        }
}

static void test_darcy_statistics(void **state)
{
    (void)state;
    saddle_matrix A = make("darcy2d", 100, 2.0, 3);
    const int64_t fluxes = 2 * 99 * 100;
    double sum = 0.0, squares = 0.0;
    for (int64_t k = 0; k < fluxes; k++) {
        const double g = log(values(&A)[pointers(&A)[k]]) / 2.0;
        sum += g;
        squares += g * g;
    }
    assert_true(fabs(sum / (double)fluxes) < 0.03);
    assert_true(fabs(squares / (double)fluxes - 1.0) < 0.05);
    family_free(&A);
}

static void test_control(void **state)
{
    (void)state;
    for (int axes = 2; axes <= 3; axes++)
        for (int64_t N = 1; N <= 3; N++) {
            const int64_t length[3] = {N, N, axes == 2 ? 1 : N}, m = N * N * length[2], n = 3 * m;
            const double h = 1.0 / (double)(N + 1), mass = pow(h, axes);
            saddle_matrix A = make(axes == 2 ? "pdeco2d" : "pdeco3d", N, NAN, 1);
            double *F = holes(n);
            dense_laplacian(F, n, 0, 2 * m, length, axes, pow(h, axes - 2), 0.0);
            dense_laplacian(F, n, 2 * m, 0, length, axes, pow(h, axes - 2), 0.0);
            for (int64_t k = 0; k < m; k++) {
                F[k + k * n] = mass;
                F[m + k + (m + k) * n] = 1e-4 * mass;
                F[2 * m + k + (m + k) * n] = F[m + k + (2 * m + k) * n] = -mass;
            }
            compare("pdeco", &A, F);
        }
}

static void test_kktz(void **state)
{
    (void)state;
    const int64_t N = 4, m = N * N, length[3] = {N, N, 1}, n = 2 * m;
    saddle_matrix A = make("kktz", N, NAN, 1);
    double *F = holes(n), *found = dense(&A, 1);
    dense_laplacian(F, n, 0, m, length, 2, 1.0, 0.0);
    dense_laplacian(F, n, m, 0, length, 2, 1.0, 0.0);
    for (int64_t k = 0; k < m; k++) F[k + k * n] = found[k + k * n];
    free(found);
    compare("kktz", &A, F);

    A = make("kktz", 100, NAN, 1);
    int64_t stored = 0;
    for (int64_t k = 0; k < 10000; k++) {
        const int64_t e = pointers(&A)[k];
        if (A.indices[e] != k) continue;
        stored++;
        assert_true(fabs(values(&A)[e]) <= 0.5);
    }
    assert_true(stored > 400 && stored < 600);
    family_free(&A);
}

/* The numbers of entries and their ranges, as the definition has them. */
static void test_ipm(void **state)
{
    (void)state;
    const int64_t N = 20000, constraints = N / 2;
    saddle_matrix A = make("ipm", N, NAN, 9);
    const int64_t *p = pointers(&A);
    int64_t couplings = 0, far = 0, regular = 0, entries = 0;
    int *row = calloc((size_t)constraints, sizeof(int));
    assert_non_null(row);
    for (int64_t j = 0; j < A.columns; j++)
        for (int64_t e = p[j]; e < p[j + 1]; e++) {
            const int64_t i = A.indices[e];
            const double v = values(&A)[e];
            if (j >= N) {
                assert_int_equal(i, j);
                assert_true(v == -1e-8);
                regular++;
            } else if (i == j) {
                assert_true(v >= 1e-4 && v <= 1e4);
            } else if (i < N) {
                assert_true(i - j <= 200 && fabs(v) <= 5e-3);
                couplings++;
            } else {
                const int64_t own = 2 * (i - N);
                row[i - N]++;
                entries++;
                far += llabs(j - own) > 200;
                if (j == own)
                    assert_true(v >= 1.0 && v <= 2.0);
                else
                    assert_true(fabs(v) <= 1.0);
            }
        }
    for (int64_t k = 0; k < constraints; k++) assert_int_equal(row[k], 4);
    assert_true(llabs(couplings - 3 * N / 10) < N / 50);
    assert_true(llabs(regular - constraints / 5) < constraints / 50);
    assert_true(far > 0 && far < 3 * entries / 100);
    free(row);
    family_free(&A);
}

/* A dense symmetric matrix, read by block: where stage k has its inputs, states, slacks, multipliers and
 * bounds. */
typedef struct stage_view {
    const double *F;
    int64_t n, stage, nu, nx;
    int bounded;
} stage_view;

static double entry(const stage_view *v, int64_t i, int64_t j)
{
    return v->F[i + j * v->n];
}

static void check_range(double value, double least, double most)
{
    if (!(value >= least && value <= most)) fail_msg("%g is not in %g..%g", value, least, most);
}

/* Blocks of stage k, and how many entries its part of the lower triangle has. */
static int64_t check_stage(const stage_view *v, int64_t k, double delta)
{
    const double most = v->bounded ? 1.1e6 : 2.0;
    const int64_t u = k * v->stage, x = u + v->nu, s = x + v->nx, l = s + (v->bounded ? v->nx : 0),
                  m = l + v->nx, before = x - v->stage;
    int64_t entries = 0;
    for (int64_t j = 0; j < v->nu; j++) {
        const int64_t first = j * v->nx / v->nu;
        check_range(entry(v, u + j, u + j), 0.1, most);
        check_range(entry(v, l + first, u + j), 0.5, 1.0);
        entries += 2;
        if (first + 1 < v->nx) check_range(entry(v, l + first + 1, u + j), -0.5, 0.5);
        entries += first + 1 < v->nx;
    }
    for (int64_t i = 0; i < v->nx; i++) {
        check_range(entry(v, x + i, x + i), 0.5, 2.0);
        assert_true(entry(v, l + i, x + i) == -1.0);
        entries += 2;
        if (delta > 0.0) assert_true(entry(v, l + i, l + i) == -delta);
        entries += delta > 0.0;
        for (int64_t j = i - 1; j <= i + 1 && k > 0; j++) {
            if (j < 0 || j >= v->nx) continue;
            check_range(entry(v, l + i, before + j), i == j ? 0.6 : -0.1, i == j ? 0.8 : 0.1);
            entries++;
        }
        if (!v->bounded) continue;
        check_range(entry(v, s + i, s + i), 1e-2, most);
        check_range(-entry(v, m + i, m + i), 1e-6 + delta, most);
        assert_true(entry(v, m + i, x + i) == 1.0 && entry(v, m + i, s + i) == -1.0);
        entries += 4;
    }
    return entries;
}

static void check_stages(const char *name, int64_t N, family_stages stages, double delta)
{
    saddle_matrix A;
    const int bounded = strcmp(name, "mpc") == 0;
    assert_int_equal(family_generate_stages(name, N, &stages, delta, 1, &A, NULL), SADDLE_OK);
    check_structure(&A);
    double *F = dense(&A, 1);
    const stage_view v = {F, A.rows, A.rows / N, stages.inputs, stages.states, bounded};
    assert_int_equal(v.stage, (bounded ? 4 : 2) * stages.states + stages.inputs);
    int64_t entries = 0;
    for (int64_t k = 0; k < N; k++) entries += check_stage(&v, k, delta);
    assert_int_equal(A.entries, entries);
    for (int64_t k = 0; k < A.rows * A.rows; k++)
        if (isnan(F[k])) F[k] = 0.0;
    if (!bounded) { /* the spread of mpc is beyond what rotations resolve */
        int positive, negative;
        inertia(F, (int)A.rows, &positive, &negative);
        assert_int_equal(positive, N * (stages.states + stages.inputs));
        assert_int_equal(negative, N * stages.states);
    }
    free(F);
    family_free(&A);
}

static void test_stages(void **state)
{
    (void)state;
    static const family_stages shapes[] = {{1, 1}, {2, 1}, {4, 2}, {5, 5}, {7, 3}};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (int64_t N = 1; N <= 4; N++) {
            check_stages("ocp", N, shapes[k], 0.0);
            check_stages("ocp", N, shapes[k], 1e-8);
            check_stages("mpc", N, shapes[k], 0.0);
            check_stages("mpc", N, shapes[k], 1e-4);
        }
    static const family_stages wrong[] = {{0, 0}, {2, 3}, {3, 0}, {1001, 1}, {-1, -1}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        saddle_matrix A;
        char message[SADDLE_MESSAGE_SIZE] = "";
        assert_int_equal(family_generate_stages("ocp", 3, &wrong[k], NAN, 1, &A, message),
                         SADDLE_BAD_ARGUMENT);
        assert_non_null(strstr(message, "inputs in 1..states"));
        assert_int_equal(family_generate_stages("lap2d", 3, &wrong[k], NAN, 1, &A, NULL), SADDLE_OK);
        family_free(&A);
    }
}

static void test_inertia(void **state)
{
    (void)state;
    check_inertia("lap2d", 6, NAN, 36, 0);
    check_inertia("lap3d", 3, NAN, 27, 0);
    check_inertia("lap2d", 3, 100.0, 0, 9);
    check_inertia("lap2d", 2, 3.0, 3, 1); /* eigenvalues 2, 4, 4, 6 */
    check_inertia("elas3d", 2, NAN, 24, 0);
    check_inertia("elas3d", 2, 200.0, 0, 24);
    check_inertia("stokes2d", 4, 0.01, 24, 15);
    check_inertia("stokes3d", 2, NAN, 12, 7);
    check_inertia("darcy2d", 4, NAN, 24, 15);
    check_inertia("darcy3d", 2, NAN, 12, 7);
    check_inertia("pdeco2d", 4, NAN, 32, 16);
    check_inertia("pdeco3d", 2, NAN, 16, 8);
    check_inertia("kktz", 5, NAN, 25, 25);
    check_inertia("helm2d", 3, NAN, 9, 0);
    check_inertia("helm2d", 7, 10.0, 48, 1);
}

static int same(const saddle_matrix *A, const saddle_matrix *B)
{
    return A->rows == B->rows && A->entries == B->entries &&
           memcmp(A->pointers, B->pointers, (size_t)(A->columns + 1) * sizeof(int64_t)) == 0 &&
           memcmp(A->indices, B->indices, (size_t)A->entries * sizeof(int32_t)) == 0 &&
           memcmp(A->values, B->values, (size_t)A->entries * sizeof(double)) == 0;
}

static void test_seeds(void **state)
{
    (void)state;
    const family *f;
    for (int k = 0; (f = family_at(k)); k++) {
        saddle_matrix A = make(f->name, 12, NAN, 1), B = make(f->name, 12, NAN, 1),
                      C = make(f->name, 12, NAN, 2), D = make(f->name, 12, f->parameter ? f->value : NAN, 1);
        assert_true(same(&A, &B));
        assert_true(same(&A, &D));
        assert_int_equal(same(&A, &C), !f->random);
        family_free(&A);
        family_free(&B);
        family_free(&C);
        family_free(&D);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t size;
        double param;
        const char *says;
    } cases[] = {
        {"lap4d", 10, NAN, "lap2d, lap3d, elas3d"},
        {"", 10, NAN, "no family"},
        {"lap2d", 0, NAN, "in 1..46340"},
        {"lap2d", -5, NAN, "-5"},
        {"lap2d", 46341, NAN, "in 1..46340"},
        {"lap3d", 1291, NAN, "in 1..1290"},
        {"lap3d", INT64_MAX, NAN, "in 1..1290"},
        {"stokes2d", 1, NAN, "in 2.."},
        {"ipm", INT64_MAX, NAN, "in 2..1431655764"},
        {"kktz", 10, 1.0, "no parameter"},
        {"darcy2d", 10, -1.0, "in 0..50"},
        {"stokes3d", 4, 0.0, "viscosity"},
        {"lap2d", 4, INFINITY, "inf"},
        {"helm2d", 4, 1.0, "wavelength"},
        {"ocp", 0, NAN, "in 1..214748364 (n = N (2 states"},
        {"mpc", 3, -1e-8, "in 0..1e+100"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        saddle_matrix A;
        char message[SADDLE_MESSAGE_SIZE] = "";
        assert_int_equal(family_generate(cases[k].name, cases[k].size, cases[k].param, 1, &A, message),
                         SADDLE_BAD_ARGUMENT);
        if (!strstr(message, cases[k].says)) fail_msg("\"%s\" does not say \"%s\"", message, cases[k].says);
        assert_null(A.pointers);
        assert_int_equal(family_generate(cases[k].name, cases[k].size, cases[k].param, 1, &A, NULL),
                         SADDLE_BAD_ARGUMENT);
    }
}

static void test_table(void **state)
{
    (void)state;
    int rows = 0;
    for (const family *f; (f = family_at(rows)); rows++) {
        assert_ptr_equal(family_find(f->name), f);
        assert_true(f->value >= f->least && f->value <= f->most);
        saddle_matrix A = make(f->name, f->least_size, NAN, 1);
        check_structure(&A);
        family_free(&A);
    }
    assert_int_equal(rows, 15);
    assert_null(family_at(-1));
    assert_null(family_find("lap"));
}

/* The size found has as many rows as were asked for, and the one below it, where there is one, has not. */
static void test_size_of_rows(void **state)
{
    (void)state;
    static const int64_t wanted[] = {1, 10, 100, 2000, 20000};
    const family *f;
    for (int k = 0; (f = family_at(k)); ++k) {
        assert_in_range(family_axes(f->name), 1, 3);
        for (int i = 0; i < 5; ++i) {
            const int64_t size = family_size(f->name, wanted[i]);
            saddle_matrix A = make(f->name, size, NAN, 1);
            assert_true(A.rows >= wanted[i]);
            family_free(&A);
            if (size == f->least_size) continue;
            A = make(f->name, size - 1, NAN, 1);
            assert_true(A.rows < wanted[i]);
            family_free(&A);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_laplacians),
        cmocka_unit_test(test_elasticity),
        cmocka_unit_test(test_staggered),
        cmocka_unit_test(test_darcy_statistics),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_kktz),
        cmocka_unit_test(test_ipm),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_inertia),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_size_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
