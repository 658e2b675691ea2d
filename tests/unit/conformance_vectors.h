/* Checks of the vector kernels against reference, one check_NAME a row of kernels.def. */
#pragma once

#include "conformance.h"

static void check_fill(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        sd_fill(&s->e, 0.1, &x.mine);
        sd_fill(&s->reference, 0.1, &x.theirs);
        compare_vectors(s, &x, NULL, "fill");
        free_pair(s, &x);
    }
}

static void check_copy(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        sd_copy(&s->e, &x.mine, &y.mine);
        sd_copy(&s->reference, &x.theirs, &y.theirs);
        compare_vectors(s, &y, NULL, "copy");
        compare_vectors(s, &x, NULL, "source of copy");
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_scale(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        sd_scale(&s->e, -1.7, &x.mine);
        sd_scale(&s->reference, -1.7, &x.theirs);
        compare_vectors(s, &x, NULL, "scale");
        free_pair(s, &x);
    }
}

/* |alpha x| + |beta y|, doubled for the two roundings of a sum of products. */
static double *combination_bound(int64_t n, double alpha, double beta)
{
    double *bound = alloc_bound(n);
    for (int64_t i = 0; i < n; ++i) bound[i] = 2 * (fabs(alpha * data[0][i]) + fabs(beta * data[1][i]));
    return bound;
}

static void check_axpy(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        double *bound = combination_bound(n, 0.3, 1);
        sd_axpy(&s->e, 0.3, &x.mine, &y.mine);
        sd_axpy(&s->reference, 0.3, &x.theirs, &y.theirs);
        compare_vectors(s, &y, bound, "axpy");
        free(bound);
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_axpby(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        double *bound = combination_bound(n, 0.3, -1.1);
        sd_axpby(&s->e, 0.3, &x.mine, -1.1, &y.mine);
        sd_axpby(&s->reference, 0.3, &x.theirs, -1.1, &y.theirs);
        compare_vectors(s, &y, bound, "axpby");
        free(bound);
        sd_fill(&s->e, NAN, &y.mine); /* with beta = 0 it is not read */
        sd_axpby(&s->e, 0.3, &x.mine, 0, &y.mine);
        sd_axpby(&s->reference, 0.3, &x.theirs, 0, &y.theirs);
        compare_vectors(s, &y, NULL, "axpby with beta = 0");
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_multiply(setting *s)
{
    EACH_SIZE(n)
    {
        pair d = put_pair(s, n, data[0]), x = put_pair(s, n, data[1]), y = put_pair(s, n, data[2]);
        sd_multiply(&s->e, &d.mine, &x.mine, &y.mine);
        sd_multiply(&s->reference, &d.theirs, &x.theirs, &y.theirs);
        compare_vectors(s, &y, NULL, "multiply");
        sd_multiply(&s->e, &d.mine, &x.mine, &x.mine); /* in place */
        sd_multiply(&s->reference, &d.theirs, &x.theirs, &x.theirs);
        compare_vectors(s, &x, NULL, "multiply in place");
        free_pair(s, &d);
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_absolute(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        sd_absolute(&s->e, &x.mine, &y.mine);
        sd_absolute(&s->reference, &x.theirs, &y.theirs);
        compare_vectors(s, &y, NULL, "absolute");
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

/* n u sum |x y|, on either side; products of floats are exact in double. */
static double dot_bound(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += fabs(x[i] * y[i]);
    return 2 * (double)(n + 1) * 0x1p-53 * sum;
}

static void check_dot(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        double mine = 1e30, theirs = -1e30;
        sd_dot(&s->e, &x.mine, &y.mine, &mine);
        sd_dot(&s->reference, &x.theirs, &y.theirs, &theirs);
        compare_number(s, mine, theirs, dot_bound(n, data[0], data[1]), "dot", n);
        sd_dot(&s->e, &x.mine, &x.mine, &mine); /* with itself */
        sd_dot(&s->reference, &x.theirs, &x.theirs, &theirs);
        compare_number(s, mine, theirs, dot_bound(n, data[0], data[0]), "dot with itself", n);
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

static void check_gram(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), y = put_pair(s, n, data[1]);
        const double *factors[][2] = {{data[0], data[0]}, {data[0], data[1]}, {data[1], data[1]}};
        double mine[4] = {1e30, 1e30, 1e30, 1e30}, theirs[3];
        sd_gram(&s->e, &x.mine, &y.mine, mine);
        sd_wait(&s->e);
        sd_gram(&s->reference, &x.theirs, &y.theirs, theirs);
        for (int k = 0; k < 3; ++k)
            compare_number(s, mine[k], theirs[k], dot_bound(n, factors[k][0], factors[k][1]), "gram", n);
        assert_true(mine[3] == 1e30);
        const double alone = sd_dot_of(&s->e, &x.mine, &y.mine);
        assert_true(mine[1] == alone); /* a dot alone and among others */
        free_pair(s, &x);
        free_pair(s, &y);
    }
}

/* p, q, x and r; p is r itself where they are the same. */
static void check_advance_of(setting *s, int64_t n, bool same)
{
    pair q = put_pair(s, n, data[1]), x = put_pair(s, n, data[2]), r = put_pair(s, n, data[3]);
    pair p = same ? r : put_pair(s, n, data[0]);
    double mine = 1e30, theirs = -1e30;
    double *bound = alloc_bound(n), sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double size = fabs(data[3][i]) + fabs(0.3 * data[1][i]);
        bound[i] = 2 * (fabs(data[2][i]) + 0.3);
        sum += size * size;
    }
    const double three = 3, ten = 10;
    const sd_scalar alpha = {.over = {&three}, .under = {&ten}};
    sd_advance(&s->e, &alpha, &p.mine, &q.mine, &x.mine, &r.mine, &mine);
    sd_wait(&s->e);
    sd_advance(&s->reference, &alpha, &p.theirs, &q.theirs, &x.theirs, &r.theirs, &theirs);
    compare_vectors(s, &x, bound, "x of advance");
    for (int64_t i = 0; i < n; ++i) bound[i] = 2 * (fabs(data[3][i]) + 0.3);
    compare_vectors(s, &r, bound, "r of advance");
    compare_number(s, mine, theirs, (8 * unit(s) + 2 * (double)(n + 1) * 0x1p-53) * sum, "advance", n);
    free(bound);
    if (!same) free_pair(s, &p);
    free_pair(s, &q);
    free_pair(s, &x);
    free_pair(s, &r);
}

/* x += alpha q, alpha = q'r / q'q, without waiting for these; 0 where q is. */
static void step_along(sd_engine *e, const sd_vector *q, sd_vector *x, sd_vector *r, double *numbers)
{
    const sd_scalar alpha = {.over = {&numbers[1]},
                             .under = {&numbers[0]},
                             .positive = true,
                             .gram = numbers,
                             .rounding = 0x1p-52};
    sd_gram(e, q, r, numbers);
    sd_advance(e, &alpha, q, q, x, r, &numbers[3]);
    sd_wait(e);
}

static void check_advance_of_results(setting *s, int64_t n)
{
    pair q = put_pair(s, n, data[1]), x = put_pair(s, n, data[2]), r = put_pair(s, n, data[3]);
    double mine[4] = {0}, theirs[4] = {1, 1, 1, 1}, *bound = alloc_bound(n);
    step_along(&s->e, &q.mine, &x.mine, &r.mine, mine);
    step_along(&s->reference, &q.theirs, &x.theirs, &r.theirs, theirs);
    const double alpha = theirs[1] / theirs[0];
    const double error =
        (dot_bound(n, data[1], data[3]) + fabs(alpha) * dot_bound(n, data[1], data[1])) / theirs[0];
    for (int64_t i = 0; i < n; ++i)
        bound[i] = 4 * (fabs(data[2][i]) + fabs(alpha * data[1][i])) + error / unit(s) * fabs(data[1][i]);
    compare_vectors(s, &x, bound, "advance by results that were to come");
    sd_fill(&s->e, 0, &q.mine);
    sd_fill(&s->reference, 0, &q.theirs);
    step_along(&s->e, &q.mine, &x.mine, &r.mine, mine);
    step_along(&s->reference, &q.theirs, &x.theirs, &r.theirs, theirs);
    compare_vectors(s, &x, bound, "advance by nothing");
    free(bound);
    free_pair(s, &q);
    free_pair(s, &x);
    free_pair(s, &r);
}

static void check_advance(setting *s)
{
    EACH_SIZE(n)
    {
        check_advance_of_results(s, n);
        check_advance_of(s, n, false);
        check_advance_of(s, n, true);
    }
}

static void check_direction(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]), v = put_pair(s, n, data[1]), p = put_pair(s, n, data[2]);
        double *bound = alloc_bound(n);
        for (int64_t i = 0; i < n; ++i)
            bound[i] = 4 * (fabs(data[0][i]) + 1.1 * (fabs(data[2][i]) + fabs(0.3 * data[1][i])));
        const double three = 3, ten = 10, eleven = -11;
        const sd_scalar beta = {.over = {&eleven}, .under = {&ten}};
        const sd_scalar omega = {.over = {&three}, .under = {&ten}};
        sd_direction(&s->e, &x.mine, &beta, &omega, &v.mine, &p.mine);
        sd_direction(&s->reference, &x.theirs, &beta, &omega, &v.theirs, &p.theirs);
        compare_vectors(s, &p, bound, "direction");
        for (int64_t i = 0; i < n; ++i) bound[i] = 3 * bound[i] + 2 * fabs(data[0][i]);
        sd_direction(&s->e, &x.mine, &beta, NULL, NULL, &p.mine);
        sd_direction(&s->reference, &x.theirs, &beta, NULL, NULL, &p.theirs);
        compare_vectors(s, &p, bound, "direction without omega");
        free(bound);
        free_pair(s, &x);
        free_pair(s, &v);
        free_pair(s, &p);
    }
}

/* The places where a number that is not finite may hide: both ends and a few between. */
static int64_t hiding_place(int k, int64_t n)
{
    const int64_t places[] = {n > 4096 ? 4096 : n - 1, 0, n / 2, n - 1};
    return places[k];
}

/* One place is enough where there are many entries. */
static int hiding_places(int64_t n)
{
    return n > 5000 ? 1 : 4;
}

static void norm_of_odd_numbers(setting *s, int64_t n)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, -1000};
    for (int k = 0; k < 16; ++k) {
        if (k % 4 >= hiding_places(n)) continue;
        double *x = test_alloc((size_t)n, sizeof *x), norm = -1;
        memcpy(x, data[0], (size_t)n * sizeof *x);
        const int64_t at = hiding_place(k % 4, n);
        x[at] = odd[k / 4];
        sd_vector v = put_data(&s->e, s->precision, n, x);
        sd_norm_inf(&s->e, &v, &norm);
        if (k < 4)
            assert_true(isnan(norm));
        else
            assert_true(norm == fabs(odd[k / 4]));
        if (k >= 4 && k < 8 && n > 1) { /* NaN beats infinity wherever it stands */
            x[(at + n / 2 + 1) % n == at ? (at + 1) % n : (at + n / 2 + 1) % n] = NAN;
            sd_vector_put(&s->e, x, &v);
            sd_norm_inf(&s->e, &v, &norm);
            assert_true(isnan(norm));
        }
        sd_vector_free(&s->e, &v);
        free(x);
    }
}

static void check_norm_inf(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        double mine = -1, theirs = -1;
        sd_norm_inf(&s->e, &x.mine, &mine);
        sd_norm_inf(&s->reference, &x.theirs, &theirs);
        compare_number(s, mine, theirs, 0, "norm_inf", n);
        sd_fill(&s->e, 0, &x.mine);
        sd_norm_inf(&s->e, &x.mine, &mine);
        assert_true(mine == 0);
        free_pair(s, &x);
        norm_of_odd_numbers(s, n);
    }
}

/* {x_i, y_i, max |x_i| / y_i} beside ratios of at most 1 */
static const double odd_ratios[][3] = {
    {0, 0, 1},     {5, 0, INFINITY},        {-5, 0, INFINITY},         {NAN, 1, NAN},    {0, NAN, NAN},
    {NAN, 0, NAN}, {INFINITY, 1, INFINITY}, {INFINITY, INFINITY, NAN}, {1, INFINITY, 1}, {-3, 1, 3},
};

static void ratio_of_odd_numbers(setting *s, int64_t n)
{
    double *x = test_alloc((size_t)n, sizeof *x), *y = test_alloc((size_t)n, sizeof *y);
    for (size_t k = 0; k < 4 * sizeof odd_ratios / sizeof odd_ratios[0]; ++k) {
        const double *odd = odd_ratios[k / 4];
        if ((int)(k % 4) >= hiding_places(n)) continue;
        for (int64_t i = 0; i < n; ++i) x[i] = i % 2 ? 1 : -1, y[i] = 1;
        const int64_t at = hiding_place((int)(k % 4), n);
        x[at] = odd[0];
        y[at] = odd[1];
        const double expected = n == 1 && odd[2] == 1 ? 0 : odd[2];
        double ratio = -1;
        sd_vector a = put_data(&s->e, s->precision, n, x), b = put_data(&s->e, s->precision, n, y);
        sd_ratio_max(&s->e, &a, &b, &ratio);
        if (isnan(expected) ? !isnan(ratio) : ratio != expected)
            fail_msg("ratio_max: %g / %g among ones gives %g (n = %lld)", odd[0], odd[1], ratio,
                     (long long)n);
        sd_vector_free(&s->e, &a);
        sd_vector_free(&s->e, &b);
    }
    free(x);
    free(y);
}

static void check_ratio_max(setting *s)
{
    EACH_SIZE(n)
    {
        double *y = test_alloc((size_t)n, sizeof *y);
        for (int64_t i = 0; i < n; ++i) y[i] = 0.01 + fabs(data[1][i]);
        pair a = put_pair(s, n, data[0]), b = put_pair(s, n, y);
        double mine = -1, theirs = -1;
        sd_ratio_max(&s->e, &a.mine, &b.mine, &mine);
        sd_ratio_max(&s->reference, &a.theirs, &b.theirs, &theirs);
        compare_number(s, mine, theirs, 0, "ratio_max", n);
        free_pair(s, &a);
        free_pair(s, &b);
        free(y);
        ratio_of_odd_numbers(s, n);
    }
}

/* Vectors of a basis in the tests: whole panels, a part of one, and more panels than a GPU takes at once. */
static const int basis_counts[] = {1, 3, 8, 9, 21, 24, 150};

typedef struct pair_of_bases {
    pair panel[150 / SD_PANEL + 1];
    sd_vector mine[150 / SD_PANEL + 1], theirs[150 / SD_PANEL + 1];
    int panels;
} pair_of_bases;

/* Vector k is data[0] from an offset that differs from k to k. */
static const double *basis_data(int64_t n, int k)
{
    return data[0] + (k % SD_PANEL * n + k / SD_PANEL) % ((int64_t)LARGEST * PANEL_ROOM - n + 1);
}

static pair_of_bases put_bases(setting *s, int64_t n, int count)
{
    pair_of_bases b = {.panels = (count + SD_PANEL - 1) / SD_PANEL};
    double *host = test_alloc((size_t)(SD_PANEL * n), sizeof *host);
    for (int p = 0; p < b.panels; ++p) {
        for (int k = 0; k < SD_PANEL; ++k)
            memcpy(host + k * n, basis_data(n, p * SD_PANEL + k), (size_t)n * sizeof *host);
        b.panel[p] = put_pair(s, SD_PANEL * n, host);
        b.mine[p] = b.panel[p].mine;
        b.theirs[p] = b.panel[p].theirs;
    }
    free(host);
    return b;
}

static void free_bases(setting *s, pair_of_bases *b)
{
    for (int p = 0; p < b->panels; ++p) free_pair(s, &b->panel[p]);
}

#define EACH_BASIS(count, n)                                                                                 \
    for (size_t count_ = 0; count_ < sizeof basis_counts / sizeof basis_counts[0]; ++count_)                 \
        for (int count = basis_counts[count_], twice_ = 1; twice_; twice_ = 0)                               \
            if ((count) * (n) < 1000000)

static void check_basis_dot(setting *s)
{
    double mine[152], theirs[151];
    EACH_SIZE(n) EACH_BASIS(count, n)
    {
        pair_of_bases v = put_bases(s, n, count);
        pair w = put_pair(s, n, data[1]);
        for (int k = 0; k <= count + 1; ++k) mine[k] = 1e30;
        sd_basis_dot(&s->e, count, v.mine, &w.mine, mine);
        sd_wait(&s->e);
        sd_basis_dot(&s->reference, count, v.theirs, &w.theirs, theirs);
        for (int k = 0; k <= count; ++k)
            compare_number(s, mine[k], theirs[k],
                           dot_bound(n, k < count ? basis_data(n, k) : data[1], data[1]), "basis_dot", n);
        assert_true(mine[count + 1] == 1e30);
        free_bases(s, &v);
        free_pair(s, &w);
    }
}

/* Whether h is known or still to come must make no difference. */
static void check_basis_axpy(setting *s)
{
    double h[150], mine[151];
    EACH_SIZE(n) EACH_BASIS(count, n)
    {
        pair_of_bases v = put_bases(s, n, count);
        pair w = put_pair(s, n, data[1]), u = put_pair(s, n, data[1]);
        double *bound = alloc_bound(n);
        for (int64_t i = 0; i < n; ++i) bound[i] = fabs(data[1][i]);
        for (int k = 0; k < count; ++k) {
            h[k] = k % 7 == 6 ? 0 : 0.5 - 0.3 * (k % 5);
            for (int64_t i = 0; i < n; ++i) bound[i] += fabs(h[k] * basis_data(n, k)[i]);
        }
        for (int64_t i = 0; i < n; ++i) bound[i] *= 2 * (count + 1);
        const double sign = count % 2 ? 1 : -1;
        sd_basis_axpy(&s->e, count, sign, h, v.mine, &w.mine);
        sd_basis_axpy(&s->reference, count, sign, h, v.theirs, &w.theirs);
        compare_vectors(s, &w, bound, "basis_axpy");
        sd_vector_put(&s->e, data[1], &w.mine);
        sd_basis_dot(&s->e, count, v.mine, &w.mine, mine);
        sd_basis_axpy(&s->e, count, sign, mine, v.mine, &w.mine);
        sd_wait(&s->e);
        sd_basis_axpy(&s->e, count, sign, mine, v.mine, &u.mine);
        sd_axpy(&s->e, -1.0, &u.mine, &w.mine);
        double difference = NAN;
        sd_norm_inf(&s->e, &w.mine, &difference);
        assert_true(difference == 0);
        free(bound);
        free_bases(s, &v);
        free_pair(s, &w);
        free_pair(s, &u);
    }
}

static void check_from_double(setting *s)
{
    EACH_SIZE(n)
    {
        sd_vector mine = put_data(&s->e, SD_DOUBLE, n, data[0]),
                  theirs = put_data(&s->reference, SD_DOUBLE, n, data[0]);
        pair x = put_pair(s, n, data[1]);
        sd_from_double(&s->e, &mine, &x.mine);
        sd_from_double(&s->reference, &theirs, &x.theirs);
        compare_vectors(s, &x, NULL, "from_double");
        sd_vector_free(&s->e, &mine);
        sd_vector_free(&s->reference, &theirs);
        free_pair(s, &x);
    }
}

static void check_to_double(setting *s)
{
    EACH_SIZE(n)
    {
        pair x = put_pair(s, n, data[0]);
        pair wide = {put_data(&s->e, SD_DOUBLE, n, data[1]), put_data(&s->reference, SD_DOUBLE, n, data[1])};
        sd_to_double(&s->e, &x.mine, &wide.mine);
        sd_to_double(&s->reference, &x.theirs, &wide.theirs);
        compare_vectors(s, &wide, NULL, "to_double");
        free_pair(s, &x);
        free_pair(s, &wide);
    }
}
