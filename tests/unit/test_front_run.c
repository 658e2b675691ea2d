/*
 * Solves with fronts on a device: all parts, several numbers of right-hand sides, both precisions. A whole
 * solve must undo the matrix; D^-1 is what was fetched says; forward and backward are each other's transpose;
 * and parts one after the other are the whole.
 */
#include "backend_or_skip.h"
#include "csr_of.h"
#include "factoring.h"

#include "backend/front_run.h"
#include "factor/multifrontal.h"
#include "prepare/order.h"

/* Right-hand sides, and rows between two of their columns beyond n. */
enum { MOST_COLUMNS = 70, APART = 3 };

/* A matrix as a device has it. */
typedef struct device_run {
    sd_context c;
    sd_device d;
    sd_engine e;
    sd_csr A;
    sd_tree tree;
    sd_schedule s;
    sd_factors host; /* for its values */
    sd_front_run *run;
    sd_precision precision;
    sd_run_result result;
} device_run;

static void make_tree(device_run *t)
{
    sd_context *c = &t->c;
    sd_graph g = {0};
    int64_t taken_out;
    int32_t *order = test_alloc((size_t)t->A.n, sizeof *order);
    assert_int_equal(sd_graph_from_csr(c, &t->A, true, NULL, &g), SADDLE_OK);
    assert_int_equal(sd_order_graph(c, &g, SADDLE_ORDER_AMD, order, &taken_out), SADDLE_OK);
    assert_int_equal(sd_tree_make(c, &t->A, &g, order, true, &t->tree), SADDLE_OK);
    assert_int_equal(sd_schedule_make(c, &t->tree, &t->s), SADDLE_OK);
    sd_graph_free(c, &g);
    free(order);
}

static void run_make(device_run *t, const sd_backend *cuda, const dense *d, sd_precision precision, double u,
                     sd_presolve presolve, bool profile)
{
    const sd_pivoting pivoting = {
        .rule = SD_PIVOT_THRESHOLD, .u = u, .small = precision == SD_DOUBLE ? 1e-14 : 1e-6};
    *t = (device_run){.precision = precision};
    double *scale = test_alloc((size_t)d->n, sizeof *scale);
    for (int i = 0; i < d->n; ++i) scale[i] = 1;
    sd_context_init(&t->c, NULL, 0);
    t->A = csr_of(&t->c, d);
    make_tree(t);
    assert_int_equal(sd_factors_make(&t->c, &t->tree, sd_cpu()->fronts, precision, 0.5, &t->host), SADDLE_OK);
    sd_factors_take(&t->host, &t->A, scale, 0, 1);
    open_engine_on(&t->c, cuda, 1, &t->d, &t->e);
    assert_non_null(cuda->fronts);
    assert_int_equal(cuda->fronts->make(&t->e, &t->tree, &t->s, precision, 0.2, &t->run), SADDLE_OK);
    const sd_run_job job = {
        .values = t->host.values, .pivoting = &pivoting, .presolve = presolve, .profile = profile};
    if (cuda->fronts->factor(&t->e, t->run, &job, &t->result)) fail_msg("%s", t->c.message);
    free(scale);
}

static void run_free(device_run *t)
{
    t->e.backend->fronts->free(&t->e, t->run);
    sd_engine_close(&t->e);
    sd_device_close(&t->c, &t->d);
    sd_factors_free(&t->c, &t->host);
    sd_schedule_free(&t->c, &t->s);
    sd_tree_free(&t->c, &t->tree);
    sd_csr_free(&t->c, &t->A);
    assert_int_equal(t->c.bytes, 0);
}

static void solve(device_run *t, int parts, int64_t k, double *x)
{
    const int64_t ldx = t->tree.n + APART;
    if (t->e.backend->fronts->solve(&t->e, t->run, parts, k, x, ldx)) fail_msg("%s", t->c.message);
    for (int64_t r = 0; r < k; ++r)
        for (int i = 0; i < APART; ++i) assert_true(x[r * ldx + t->tree.n + i] == 7);
}

static double *columns_new(rng *r, const device_run *t)
{
    const int64_t ldx = t->tree.n + APART;
    double *x = test_alloc((size_t)ldx * MOST_COLUMNS, sizeof *x);
    for (int64_t k = 0; k < ldx * MOST_COLUMNS; ++k) x[k] = k % ldx < t->tree.n ? rng_unit(r) : 7;
    return x;
}

static double *columns_copy(const device_run *t, const double *from)
{
    const size_t count = (size_t)(t->tree.n + APART) * MOST_COLUMNS;
    double *x = test_alloc(count, sizeof *x);
    memcpy(x, from, count * sizeof *x);
    return x;
}

/* b = A x for columns by position. */
static void times_matrix(const device_run *t, const dense *d, int64_t k, const double *x, double *b)
{
    const int n = d->n, ldx = n + APART;
    for (int r = 0; r < k; ++r)
        for (int i = 0; i < n; ++i) {
            long double sum = 0;
            for (int j = 0; j < n; ++j)
                sum += (long double)dense_at(d, t->tree.order[i], t->tree.order[j]) * x[r * ldx + j];
            b[r * ldx + i] = (double)sum;
        }
}

static double largest_of(const device_run *t, const double *x, int64_t k)
{
    const int64_t n = t->tree.n, ldx = n + APART;
    double largest = 0;
    for (int64_t r = 0; r < k; ++r)
        for (int64_t i = 0; i < n; ++i) {
            const double a = fabs(x[r * ldx + i]);
            if (!(a <= largest)) largest = a;
        }
    return largest;
}

static void assert_near(const device_run *t, const double *x, const double *y, int64_t k, double tolerance)
{
    const int64_t n = t->tree.n, ldx = n + APART;
    double worst = 0;
    for (int64_t r = 0; r < k; ++r)
        for (int64_t i = 0; i < n; ++i) {
            const double a = fabs(x[r * ldx + i] - y[r * ldx + i]);
            if (!(a <= worst)) worst = a;
        }
    const double size = fmax(largest_of(t, x, k), largest_of(t, y, k));
    if (!(worst <= tolerance * size)) fail_msg("%g beside %g", worst, size);
}

static const int64_t counts[] = {1, 2, 3, 17};

/* A (A^-1 b) = b for b = A x. */
static void assert_undoes(device_run *t, const dense *d, rng *r, double tolerance)
{
    double *x = columns_new(r, t), *b = columns_copy(t, x), *again = columns_copy(t, x);
    times_matrix(t, d, 17, x, b);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
        memcpy(x, b, (size_t)(t->tree.n + APART) * MOST_COLUMNS * sizeof *x);
        solve(t, SD_SOLVE_WHOLE, counts[c], x);
        times_matrix(t, d, counts[c], x, again);
        assert_near(t, again, b, counts[c], tolerance * fmax(1, largest_of(t, x, counts[c])));
    }
    free(x);
    free(b);
    free(again);
}

/* The whole is its parts, bit by bit where nothing is computed otherwise. */
static void assert_parts_make_whole(device_run *t, rng *r, double tolerance)
{
    static const int ways[][3] = {{SD_SOLVE_FORWARD, SD_SOLVE_DIAGONAL, SD_SOLVE_BACKWARD},
                                  {SD_SOLVE_FORWARD | SD_SOLVE_DIAGONAL, SD_SOLVE_BACKWARD, 0},
                                  {SD_SOLVE_FORWARD, SD_SOLVE_DIAGONAL | SD_SOLVE_BACKWARD, 0}};
    double *b = columns_new(r, t), *whole = columns_copy(t, b);
    solve(t, SD_SOLVE_WHOLE, MOST_COLUMNS, whole);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
            double *x = columns_copy(t, b);
            for (int k = 0; k < 3 && ways[way][k]; ++k) solve(t, ways[way][k], counts[c], x);
            assert_near(t, x, whole, counts[c], tolerance);
            free(x);
        }
    free(b);
    free(whole);
}

/* u' (L^-1 v) = (L'^-1 u)' v. */
static void assert_transposed(device_run *t, rng *r, double tolerance)
{
    const int64_t n = t->tree.n;
    double *u = columns_new(r, t), *v = columns_new(r, t);
    double *below = columns_copy(t, v), *above = columns_copy(t, u);
    solve(t, SD_SOLVE_FORWARD, 1, below);
    solve(t, SD_SOLVE_BACKWARD, 1, above);
    double one = 0, other = 0, size = 0;
    for (int64_t i = 0; i < n; ++i) {
        one += u[i] * below[i];
        other += above[i] * v[i];
        size += fabs(u[i] * below[i]) + fabs(above[i] * v[i]);
    }
    if (!(fabs(one - other) <= tolerance * size)) fail_msg("%g and %g", one, other);
    free(u);
    free(v);
    free(below);
    free(above);
}

/* D (D^-1 x) = x where D is regular, and 0 where a pivot is zero. */
static void assert_diagonal(device_run *t, rng *r, double tolerance)
{
    const int64_t n = t->tree.n;
    sd_run_front *front = test_alloc((size_t)t->tree.fronts, sizeof *front);
    int32_t *variable = test_alloc((size_t)n, sizeof *variable);
    double *d = test_alloc(2 * (size_t)n, sizeof *d), *b = columns_new(r, t), *x = columns_copy(t, b);
    assert_int_equal(t->e.backend->fronts->fetch(&t->e, t->run, front, variable, d), SADDLE_OK);
    solve(t, SD_SOLVE_DIAGONAL, 2, x);
    for (int64_t k = 0; k < n; ++k) {
        const int64_t at = variable[k] + n + APART;
        const bool second = k > 0 && d[2 * k - 1] != 0;
        if (d[2 * k] == 0 && d[2 * k + 1] == 0 && !second) assert_true(x[at] == 0);
        if (d[2 * k] == 0 && d[2 * k + 1] == 0 && !second) continue;
        const double before = second ? d[2 * k - 1] * x[variable[k - 1] + n + APART] : 0;
        const double after = d[2 * k + 1] != 0 ? d[2 * k + 1] * x[variable[k + 1] + n + APART] : 0;
        const double size = fabs(d[2 * k] * x[at]) + fabs(before) + fabs(after) + fabs(b[at]);
        assert_true(fabs(d[2 * k] * x[at] + before + after - b[at]) <= tolerance * size);
    }
    free(front);
    free(variable);
    free(d);
    free(b);
    free(x);
}

/* A column's power of two, beyond any that single precision has, and what is far from it. */
static double size_of_column(int64_t k)
{
    static const double sizes[] = {1, 0x1p670, 0, 0x1p-670, 0x1p100, 0x1p-980, 0x1p-100};
    return sizes[k % 7];
}

/* Z = A^-1 R between vectors in a frame, which leaves out the first and the last three rows where it is
 * small. What solve makes of the same columns, brought near 1, says what is right. */
static void assert_frames(device_run *t, rng *r, int64_t k, bool turned, bool small)
{
    const int32_t n = t->tree.n, count = small && n > 6 ? n - 3 : n, in = count < n ? 3 : 0;
    const int64_t ldr = n + 2, bytes = ldr * k * (int64_t)sizeof(double);
    const sd_backend *b = t->e.backend;
    double *scale = test_alloc((size_t)n, sizeof *scale), *at = columns_new(r, t);
    double *z = test_alloc((size_t)(ldr * k), sizeof *z), *from = test_alloc((size_t)(ldr * k), sizeof *from);
    const sd_solve_frame frame = {count, turned ? 0 : in, turned ? in : 0, t->tree.position, scale, -7};
    for (int32_t i = 0; i < n; ++i) scale[i] = ldexp(1 + rng_unit(r) / 4, (int)(i % 5));
    for (int64_t j = 0; j < ldr * k; ++j) from[j] = j % ldr < count ? rng_unit(r) : 7;
    for (int64_t c = 0; c < k; ++c)
        for (int32_t i = 0; i < n; ++i) at[c * (n + APART) + i] = 0;
    for (int64_t c = 0; c < k; ++c)
        for (int32_t i = 0; i < count; ++i) {
            at[c * (n + APART) + t->tree.position[in + i]] = scale[in + i] * from[c * ldr + i];
            from[c * ldr + i] *= size_of_column(c);
        }
    solve(t, SD_SOLVE_WHOLE, k, at);
    double *there = sd_to_backend(&t->e, from, bytes, "test");
    assert_int_equal(b->fronts->frame(&t->e, t->run, &frame), SADDLE_OK);
    assert_int_equal(b->fronts->apply(&t->e, t->run, turned, k, there, ldr, there, ldr), SADDLE_OK);
    b->download(&t->e, there, z, bytes);
    sd_release(&t->e, there);
    assert_int_equal(t->e.status, SADDLE_OK);
    const double precision = t->precision == SD_DOUBLE ? 1e-13 : 1e-5;
    for (int64_t c = 0; c < k; ++c) {
        double most = 0;
        for (int32_t i = 0; i < n; ++i) most = fmax(most, fabs(at[c * (n + APART) + i]));
        for (int32_t i = 0; i < count; ++i) {
            const double wanted = scale[i] * at[c * (n + APART) + t->tree.position[i]] * 128;
            const double found = z[c * ldr + i];
            if (size_of_column(c) == 0)
                assert_true(found == 0);
            else if (most < 1e90) /* not where the matrix is singular to working precision */
                assert_true(fabs(found / size_of_column(c) - wanted) <= 128 * 32 * precision * most);
        }
        for (int64_t i = count; i < ldr; ++i) assert_true(z[c * ldr + i] == 7);
    }
    free(scale);
    free(at);
    free(z);
    free(from);
}

/* The same bits every time, by whatever engine. */
static void assert_repeats(device_run *t, rng *r)
{
    const size_t bytes = (size_t)(t->tree.n + APART) * MOST_COLUMNS * sizeof(double);
    double *b = columns_new(r, t), *first = columns_copy(t, b), *second = columns_copy(t, b);
    sd_engine other;
    assert_int_equal(sd_engine_open(&t->c, &t->d, &other, 1), SADDLE_OK);
    solve(t, SD_SOLVE_WHOLE, 3, first);
    assert_int_equal(
        other.backend->fronts->solve(&other, t->run, SD_SOLVE_WHOLE, 3, second, t->tree.n + APART),
        SADDLE_OK);
    assert_memory_equal(second, first, bytes);
    sd_engine_close(&other);
    free(b);
    free(first);
    free(second);
}

/* A NaN of any bits, also those that stand for a number still to come, ends in a NaN. */
static void assert_ends(device_run *t)
{
    const int64_t n = t->tree.n;
    double *x = test_alloc((size_t)(n + APART), sizeof *x);
    for (int parts = 1; parts <= SD_SOLVE_WHOLE; ++parts) {
        memset(x, 0xff, (size_t)n * sizeof *x);
        for (int i = 0; i < APART; ++i) x[n + i] = 7;
        solve(t, parts, 1, x);
        for (int64_t i = 0; i < n; ++i) assert_true(isnan(x[i]) || (x[i] == 0 && parts & SD_SOLVE_DIAGONAL));
    }
    free(x);
}

/* Without column k of L a front does not change the number of its variable, and L^-1 that alone. */
static void assert_forgets_a_column(device_run *t)
{
    const int64_t n = t->tree.n;
    sd_run_front *front = test_alloc((size_t)t->tree.fronts, sizeof *front);
    int32_t *variable = test_alloc((size_t)n, sizeof *variable);
    double *d = test_alloc(2 * (size_t)n, sizeof *d), *x = test_alloc((size_t)(n + APART), sizeof *x);
    assert_int_equal(t->e.backend->fronts->fetch(&t->e, t->run, front, variable, d), SADDLE_OK);
    for (int32_t f = 0; f < t->tree.fronts; ++f) {
        const int32_t k = front[f].eliminated / 2;
        if (front[f].eliminated == 0) continue;
        assert_int_equal(t->e.backend->fronts->clear(&t->e, t->run, f, k, NULL), SADDLE_OK);
        for (int64_t i = 0; i < n + APART; ++i) x[i] = i < n ? 0 : 7;
        x[variable[front[f].at + k]] = 1;
        solve(t, SD_SOLVE_FORWARD, 1, x);
        for (int64_t i = 0; i < n; ++i) assert_true(x[i] == (i == variable[front[f].at + k]));
    }
    free(front);
    free(variable);
    free(d);
    free(x);
}

/* What a test asks of a matrix. */
typedef struct expectation {
    double u;
    bool delays, pairs, zeros, large;
} expectation;

static void check_one(const dense *d, rng *r, sd_presolve presolve, sd_precision precision,
                      const expectation *wanted)
{
    const double tolerance = precision == SD_DOUBLE ? 1e-9 : 1e-2;
    device_run t;
    run_make(&t, cuda_or_skip(), d, precision, wanted->u, presolve, false);
    for (int k = 0; k < SD_PARTS; ++k) assert_true(isnan(t.result.profile.seconds[k]));
    if (wanted->delays) assert_true(t.result.delayed > 0);
    if (wanted->pairs) assert_true(t.result.pivots.two_by_two > 0);
    if (wanted->zeros) assert_true(t.result.pivots.zero > 0);
    if (wanted->large) assert_true(t.s.large > 0);
    if (presolve == SD_PRESOLVE_WHOLE) assert_int_equal(t.result.waits, 2);
    assert_undoes(&t, d, r, tolerance);
    assert_transposed(&t, r, tolerance);
    assert_frames(&t, r, 9, false, false);
    assert_forgets_a_column(&t);
    run_free(&t);
}

static void check_presolve(const dense *d, rng *r, sd_presolve presolve, const expectation *wanted)
{
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)
        check_one(d, r, presolve, precision, wanted);
}

/* What does not depend on the presolve, and longer. */
static void check_all(const dense *d, rng *r, const expectation *wanted)
{
    const sd_backend *cuda = cuda_or_skip();
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        const double tolerance = precision == SD_DOUBLE ? 1e-9 : 1e-2;
        device_run t;
        run_make(&t, cuda, d, precision, wanted->u, SD_PRESOLVE_BAND, false);
        assert_parts_make_whole(&t, r, tolerance);
        assert_diagonal(&t, r, tolerance);
        assert_frames(&t, r, 1, false, false);
        assert_frames(&t, r, 9, true, true);
        assert_frames(&t, r, MOST_COLUMNS, false, true);
        assert_repeats(&t, r);
        assert_ends(&t);
        run_free(&t);
    }
}

static void check(const dense *d, rng *r, const expectation *wanted)
{
    static int turn;
    if (is_about_memory() && wanted->large) { /* one presolve in one precision, in turn */
        check_one(d, r, (sd_presolve)(turn % 3), (sd_precision)(turn % SD_PRECISIONS), wanted);
        ++turn;
        return;
    }
    for (sd_presolve presolve = SD_PRESOLVE_OFF; presolve <= SD_PRESOLVE_WHOLE; ++presolve)
        check_presolve(d, r, presolve, wanted);
    check_all(d, r, wanted);
}

static void one_equation(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("one_equation");
    dense d = dense_new(1);
    dense_set(&d, 0, 0, -4);
    check(&d, &r, &(expectation){.u = 0.01});
    dense_free(&d);
}

static void indefinite_with_pairs(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("indefinite_with_pairs");
    dense d = indefinite_problem(&r, 150);
    check(&d, &r, &(expectation){.u = 0.1, .pairs = true, .delays = true});
    dense_free(&d);
}

/* Fronts that are cut into pieces: full blocks of `size`, joined in a chain by a few rows each. */
static dense chain_problem(rng *r, int blocks, int size, int joint)
{
    dense d = dense_new(blocks * (size - joint) + joint);
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < size; ++i)
            for (int j = 0; j <= i; ++j) {
                const int p = b * (size - joint) + i, q = b * (size - joint) + j;
                set_both(&d, p, q, rng_unit(r));
            }
    return d;
}

static void fronts_in_pieces(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("fronts_in_pieces");
    dense d = chain_problem(&r, 2, 190, 60);
    check(&d, &r, &(expectation){.u = 0.01, .pairs = true, .large = true});
    dense_free(&d);
}

/* Few columns, and rows below them that are shared out. */
static void tall_fronts(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("tall_fronts");
    dense d = chain_problem(&r, 2, 400, 330);
    check(&d, &r, &(expectation){.u = 0.01, .pairs = true, .large = true});
    dense_free(&d);
}

/* Pivots that are too small beside the rows that they share with the parent. */
static void delays_between_fronts_in_pieces(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("delays_between_fronts_in_pieces");
    dense d = chain_problem(&r, 3, 170, 70);
    for (int b = 0; b < 3; ++b)
        for (int i = 0; i < 60; ++i)
            for (int j = 0; j < 60; ++j) dense_set(&d, 100 * b + i + 10, 100 * b + j + 10, i == j ? 1e-6 : 0);
    check(&d, &r, &(expectation){.u = 0.01, .delays = true, .large = true});
    dense_free(&d);
}

static void singular_and_several_roots(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("singular_and_several_roots");
    dense parts[] = {kkt_problem(&r, 60, 20, 2), indefinite_problem(&r, 40), chain_problem(&r, 1, 130, 0)};
    dense d = dense_new(60 + 40 + 130 + 3); /* and three rows without an entry but on the diagonal */
    for (int k = 0, at = 0; k < 3; at += parts[k].n, ++k)
        for (int i = 0; i < parts[k].n; ++i)
            for (int j = 0; j < parts[k].n; ++j)
                if (parts[k].there[i * parts[k].n + j])
                    dense_set(&d, at + i, at + j, dense_at(&parts[k], i, j));
    for (int i = 0; i < 3; ++i) dense_set(&d, 230 + i, 230 + i, i - 1);
    check(&d, &r, &(expectation){.u = 0.01, .zeros = true, .large = true});
    for (int k = 0; k < 3; ++k) dense_free(&parts[k]);
    dense_free(&d);
}

/* Triangles of several squares, the last of which is not full, whose inverses are joined on several levels.
 */
static void triangles_of_several_squares(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("triangles_of_several_squares");
    dense d = chain_problem(&r, 2, 350, 30);
    const expectation wanted = {.u = 0.01, .pairs = true, .large = true};
    check_one(&d, &r, SD_PRESOLVE_WHOLE, SD_SINGLE, &wanted);
    if (!is_about_memory()) check_one(&d, &r, SD_PRESOLVE_WHOLE, SD_DOUBLE, &wanted);
    dense_free(&d);
}

/* Every number of right-hand sides up to more than are taken at once. */
static void numbers_of_right_hand_sides(void **state)
{
    (void)state;
    cuda_or_skip();
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("numbers_of_right_hand_sides");
    dense d = indefinite_problem(&r, 40);
    for (int which = 0; which < 3 * SD_PRECISIONS; ++which) {
        const sd_precision precision = which / 3;
        const sd_presolve presolve = which % 3;
        device_run t;
        run_make(&t, cuda, &d, precision, 0.01, presolve, false);
        double *b = columns_new(&r, &t), *all = columns_copy(&t, b);
        for (int64_t c = 0; c < MOST_COLUMNS; ++c) solve(&t, SD_SOLVE_WHOLE, 1, all + c * (t.tree.n + APART));
        for (int64_t k = 1; k <= MOST_COLUMNS;
             k += presolve == SD_PRESOLVE_BAND && !is_about_memory() ? 1 : 9) {
            double *x = columns_copy(&t, b);
            solve(&t, SD_SOLVE_WHOLE, k, x);
            assert_near(&t, x, all, k, precision == SD_DOUBLE ? 1e-10 : 1e-3);
            free(x);
            assert_frames(&t, &r, k, k % 2 == 0, k % 3 == 0);
        }
        free(b);
        free(all);
        run_free(&t);
    }
    dense_free(&d);
}

static int64_t tiles_of(const sd_run_profile *p)
{
    int64_t all = 0;
    for (int k = 0; k < SD_TILE_CLASSES; ++k) all += p->tiles[k];
    return all;
}

/* Tiles of a full matrix: as many as its columns fill, and where columns are refused more, not all of them
 * whole. */
static void profiles_count_tiles_and_measure_parts(void **state)
{
    (void)state;
    cuda_or_skip();
    enum { SIZE = 150, TILES = (SIZE + 31) / 32 };
    rng r = rng_start("profiles_count_tiles_and_measure_parts");
    dense d = chain_problem(&r, 1, SIZE, 0), hard = chain_problem(&r, 2, SIZE, 60);
    for (int i = 0; i < SIZE; ++i) dense_set(&d, i, i, SIZE);
    for (int i = 10; i < 70; ++i)
        for (int j = 10; j < 70; ++j) dense_set(&hard, i, j, i == j ? 1e-6 : 0);
    const sd_backend *cuda = cuda_or_skip();
    device_run t;
    run_make(&t, cuda, &d, SD_DOUBLE, 0.01, SD_PRESOLVE_BAND, true);
    assert_int_equal(tiles_of(&t.result.profile), TILES);
    assert_int_equal(t.result.profile.tiles[SD_TILE_CLASSES - 1], TILES);
    for (int k = 0; k < SD_PARTS; ++k) assert_true(t.result.profile.seconds[k] >= 0);
    assert_int_equal(t.result.waits, 1);
    run_free(&t);
    run_make(&t, cuda, &hard, SD_SINGLE, 0.01, SD_PRESOLVE_OFF, true);
    assert_true(tiles_of(&t.result.profile) > t.result.profile.tiles[SD_TILE_CLASSES - 1]);
    run_free(&t);
    dense_free(&d);
    dense_free(&hard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_equation),
        cmocka_unit_test(indefinite_with_pairs),
        cmocka_unit_test(fronts_in_pieces),
        cmocka_unit_test(tall_fronts),
        cmocka_unit_test(delays_between_fronts_in_pieces),
        cmocka_unit_test(singular_and_several_roots),
        cmocka_unit_test(triangles_of_several_squares),
        cmocka_unit_test(numbers_of_right_hand_sides),
        cmocka_unit_test(profiles_count_tiles_and_measure_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
