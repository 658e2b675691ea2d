/*
 * Systems abreast: each of many systems that are factored and solved at once has the bits, the inertia and
 * the status that it has alone, whatever becomes of those beside it; and the kernels have the bits of those
 * for one system, for every instruction set.
 */
#include "factoring.h"
#include "inside.h"

#include "backend/cpu/cpu.h"
#include "failing_allocator.h"
#include "systems.h"

enum { N = 48, COUNT = 21, WIDE = SD_ABREAST_MOST };

static dense problem_of(rng *r, int kind)
{
    switch (kind) {
    case 0: return indefinite_problem(r, N);
    case 1: return kkt_problem(r, N, N / 3, 0);
    case 2: return symmetric_problem(r, N, true);
    default: return symmetric_problem(r, N, false);
    }
}

static systems systems_new(rng *r, int kind)
{
    dense d = problem_of(r, kind);
    return systems_of(r, &d, COUNT, 0, 0.03);
}

/* A solver that has analysed the values that the view came with. */
static saddle_solver *analysed(const systems *s, const char *list, int threads)
{
    saddle_solver *solver;
    char message[SADDLE_MESSAGE_SIZE];
    saddle_options options = options_of(list);
    options.method = SADDLE_METHOD_DIRECT;
    options.threads = threads;
    if (saddle_create(&solver, &options, NULL, message)) fail_msg("%s", message);
    assert_int_equal(saddle_analyse(solver, &s->A), SADDLE_OK);
    return solver;
}

typedef struct outcomes {
    double x[COUNT * N];
    saddle_result results[COUNT];
} outcomes;

static void assert_same_system(const outcomes *a, const outcomes *b, int k, const char *list)
{
    const saddle_result *p = &a->results[k], *q = &b->results[k];
    if (p->status != q->status || p->reason != q->reason)
        fail_msg("%s: system %d: %s, %s; alone %s, %s", list, k, saddle_status_text(p->status),
                 saddle_reason_text(p->reason), saddle_status_text(q->status), saddle_reason_text(q->reason));
    if (memcmp(&p->backward_error, &q->backward_error, 3 * sizeof(double)))
        fail_msg("%s: system %d has other errors than alone", list, k);
    assert_int_equal(p->converged, q->converged);
    assert_int_equal(p->inertia_certain, q->inertia_certain);
    assert_int_equal(p->inertia_positive, q->inertia_positive);
    assert_int_equal(p->inertia_negative, q->inertia_negative);
    assert_int_equal(p->inertia_zero, q->inertia_zero);
    assert_int_equal(p->iterations, q->iterations);
    assert_string_equal(p->message, q->message);
    assert_memory_equal(a->x + k * N, b->x + k * N, N * sizeof(double));
}

static void assert_same(const outcomes *a, const outcomes *b, const char *list)
{
    for (int k = 0; k < COUNT; ++k) assert_same_system(a, b, k, list);
}

/* One after the other, each by a call of its own. */
static void run_alone(const systems *s, const char *list, outcomes *to)
{
    saddle_solver *solver = analysed(s, list, 1);
    for (int k = 0; k < COUNT; ++k) {
        saddle_factor_solve_many(solver, &s->A, 1, s->values + k * s->A.entries, s->A.entries, s->b + k * N,
                                 N, to->x + k * N, N, &to->results[k]);
        assert_true(!solver->many.member[0].solved || sd_cpu()->abreast->width < 3);
    }
    saddle_destroy(&solver);
}

/* All at once, in one call and in two, with one thread and two. Returns how many of the last were done
 * abreast. */
static int check_abreast(const systems *s, const char *list)
{
    outcomes alone, together;
    int done = 0;
    const size_t bytes = (size_t)s->A.entries * sizeof(double);
    double *turned = test_alloc(COUNT, bytes);
    memcpy(turned, s->values + s->A.entries, (COUNT - 1) * bytes);
    memcpy(turned + (COUNT - 1) * s->A.entries, s->values, bytes);
    run_alone(s, list, &alone);
    for (int threads = 1; threads <= 2; ++threads) {
        saddle_solver *solver = analysed(s, list, threads);
        for (int round = 0; round < 2; ++round) {
            memset(together.x, 1, sizeof together.x);
            saddle_factor_solve_many(solver, &s->A, COUNT, s->values, s->A.entries, s->b, N, together.x, N,
                                     together.results);
            assert_same(&together, &alone, list);
        }
        for (int64_t k = 0; k < solver->many.count; ++k) done += solver->many.member[k].solved;
        memcpy(together.x, s->b, sizeof together.x); /* in place */
        saddle_factor_solve_many(solver, &s->A, COUNT, s->values, s->A.entries, together.x, N, together.x, N,
                                 together.results);
        assert_same(&together, &alone, list);
        saddle_factor_many(solver, &s->A, COUNT, turned, s->A.entries, NULL); /* others before */
        saddle_factor_many(solver, &s->A, COUNT, s->values, s->A.entries, NULL);
        saddle_solve_many(solver, COUNT, s->b, N, together.x, N, together.results);
        assert_same(&together, &alone, list);
        memset(together.x, 1, sizeof together.x);
        saddle_solve_many(solver, COUNT, s->b, N, together.x, N, together.results);
        for (int k = 0; k < COUNT;
             ++k) { /* no witness rides along with this one: fronts have other kernels */
            const sd_direct *d = solver->many.member[k].work[0].factors;
            if (d && d->factored && d->factors[SD_DOUBLE].simplicial)
                assert_same_system(&together, &alone, k, list);
        }
        saddle_destroy(&solver);
    }
    free(turned);
    return done;
}

enum { ABREAST = 8 }; /* of these: the others are solved alone, or factored too */
static const char *const OPTIONS[] = {"simplicial=on",
                                      "simplicial=on,factorization=ldlt",
                                      "simplicial=on,factorization=static",
                                      "simplicial=on,certify=off",
                                      "simplicial=on,krylov=none",
                                      "simplicial=on,krylov=refine",
                                      "simplicial=on,krylov=none,verify=off,certify=off",
                                      "simplicial=on,krylov=refine,verify=off,certify=off",
                                      "simplicial=on,krylov=refine,verify=off",
                                      "simplicial=on,krylov=gmres",
                                      "simplicial=on,check=on",
                                      "simplicial=on,scaling=none",
                                      "simplicial=on,precision=mixed",
                                      "simplicial=on,device=reference",
                                      "simplicial=off"};

static void systems_abreast_have_the_bits_that_they_have_alone(void **state)
{
    (void)state;
    rng r = rng_start("abreast");
    for (size_t o = 0; o < sizeof OPTIONS / sizeof *OPTIONS; ++o) {
        int done = 0;
        for (int kind = 0; kind < 4; ++kind) {
            systems s = systems_new(&r, kind);
            done += check_abreast(&s, OPTIONS[o]);
            systems_free(&s);
        }
        if (o < ABREAST) assert_true(done > 0); /* otherwise this tests nothing */
    }
}

/* And those that saddle_factor and saddle_solve give. */
static void systems_abreast_have_the_bits_of_a_loop(void **state)
{
    (void)state;
    rng r = rng_start("abreast and a loop");
    for (int kind = 0; kind < 4; ++kind) {
        systems s = systems_new(&r, kind);
        outcomes together;
        double x[N];
        saddle_solver *solver = analysed(&s, "simplicial=on", 2),
                      *one = analysed(&s, "simplicial=on,replan=off", 1);
        assert_int_equal(saddle_factor(one, &s.A), SADDLE_OK);
        saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.A.entries, s.b, N, together.x, N,
                                 together.results);
        for (int k = 0; k < COUNT; ++k) {
            saddle_matrix A = s.A;
            A.values = s.values + k * s.A.entries;
            saddle_info info = saddle_info_default();
            assert_int_equal(saddle_factor(one, &A), SADDLE_OK);
            assert_int_equal(saddle_solve(one, 1, s.b + k * N, N, x, N, &info), SADDLE_OK);
            if (!info.simplicial || info.sequences > 1)
                break; /* it has learned what systems abreast do not */
            if (info.factorization != SADDLE_FACTORIZATION_LDLT) continue;
            assert_memory_equal(x, together.x + k * N, sizeof x);
            assert_true(info.backward_error == together.results[k].backward_error);
            assert_int_equal(info.inertia_negative, together.results[k].inertia_negative);
        }
        saddle_destroy(&solver);
        saddle_destroy(&one);
        systems_free(&s);
    }
}

/* What may be the matter with a system. */
static void spoil(const systems *s, int k, int what)
{
    double *const values = s->values + k * s->A.entries, *const b = s->b + k * N;
    switch (what) {
    case 0: values[5] = NAN; break;
    case 1: b[3] = INFINITY; break;
    case 2: memset(values, 0, (size_t)s->A.entries * sizeof *values); break;
    case 3: memset(b, 0, N * sizeof *b); break;
    case 4: /* pivots that the sequence does not allow */
        for (int64_t e = 0; e < s->A.entries; ++e)
            if (s->A.rows > 0 && e % 3 == 0) values[e] *= 1e-9;
        break;
    case 5:
        for (int64_t e = 0; e < s->A.entries; ++e) values[e] *= e % 2 ? 1e12 : 1e-12;
        break;
    case 6:
        for (int64_t e = 0; e < s->A.entries; ++e) values[e] *= 1e200;
        break;
    case 7:
        for (int64_t e = 0; e < s->A.entries; ++e) values[e] *= e % 2 ? 1e150 : 1e-150;
        break;
    case 8:
        for (int i = 0; i < N; ++i) b[i] *= 1e-250;
        break;
    default:
        for (int64_t e = 0; e < s->A.entries; ++e) values[e] = -values[e];
    }
}

/* A chain so long that eight of them leave the cache: fewer are done at a time, by other kernels. */
static void long_systems_have_the_bits_that_they_have_alone(void **state)
{
    (void)state;
    enum { LONG = 20000, FEW = 5, ENTRIES = 2 * LONG - 1 };
    rng r = rng_start("long systems abreast");
    int32_t *pointers = test_alloc(LONG + 1, sizeof *pointers), *rows = test_alloc(ENTRIES, sizeof *rows);
    double *values = test_alloc(FEW * ENTRIES, sizeof *values), *b = test_alloc(FEW * LONG, sizeof *b);
    double *x = test_alloc(FEW * LONG, sizeof *x), *alone = test_alloc(LONG, sizeof *alone);
    for (int32_t j = 0, at = 0; j <= LONG; ++j) {
        pointers[j] = at;
        for (int32_t i = j; i < j + 2 && i < LONG; ++i) rows[at++] = i;
    }
    for (int k = 0; k < FEW; ++k)
        for (int e = 0; e < ENTRIES; ++e) /* diagonal entries of both signs, then one beside each */
            values[k * ENTRIES + e] = e % 2 ? 1 + 0.1 * rng_unit(&r) : (e % 3 ? 4 : -4) + rng_unit(&r);
    for (int k = 0; k < FEW * LONG; ++k) b[k] = rng_unit(&r);
    const systems s = {.A = saddle_symmetric(LONG, pointers, rows, values)};
    saddle_solver *solver = analysed(&s, "simplicial=on", 1), *one = analysed(&s, "simplicial=on", 1);
    saddle_result results[FEW], result;
    assert_int_equal(saddle_factor_solve_many(solver, &s.A, FEW, values, ENTRIES, b, LONG, x, LONG, results),
                     SADDLE_OK);
    for (int k = 0; k < FEW; ++k) {
        assert_int_equal(saddle_factor_solve_many(one, &s.A, 1, values + k * ENTRIES, ENTRIES, b + k * LONG,
                                                  LONG, alone, LONG, &result),
                         SADDLE_OK);
        assert_memory_equal(alone, x + k * LONG, LONG * sizeof *alone);
        assert_true(result.inertia_certain && results[k].inertia_certain);
        assert_int_equal(result.inertia_negative, results[k].inertia_negative);
    }
    saddle_destroy(&solver);
    saddle_destroy(&one);
    free(pointers);
    free(rows);
    free(values);
    free(b);
    free(x);
    free(alone);
}

static void a_system_that_departs_does_not_disturb_those_beside_it(void **state)
{
    (void)state;
    enum { WHATS = 10 };
    rng r = rng_start("abreast departures");
    for (size_t o = 0; o < 3; ++o) {
        for (int kind = 0; kind < 4; ++kind) {
            systems s = systems_new(&r, kind);
            for (int what = 0; what < WHATS; ++what) spoil(&s, 2 * what % COUNT, what);
            check_abreast(&s, OPTIONS[o]);
            systems_free(&s);
        }
    }
}

/* A path whose Laplacian has a shift: from none, where it is singular, up to 1. Pivots that may be rounding
 * are settled before anything is solved, and what is solved is not accurate at once. */
static void nearly_singular_systems_are_left_to_themselves(void **state)
{
    (void)state;
    rng r = rng_start("abreast shifts");
    for (int sign = -1; sign <= 1; sign += 2) {
        dense d = dense_new(N);
        for (int i = 0; i < N; ++i) dense_set(&d, i, i, sign * (i % (N - 1) ? 3.0 : 2.0));
        for (int i = 0; i + 1 < N; ++i) set_both(&d, i, i + 1, -sign);
        systems s = {.A = view_plain(&d, SADDLE_LOWER)};
        s.first = s.A.values;
        s.values = test_alloc((size_t)(COUNT * s.A.entries), sizeof *s.values);
        s.b = test_alloc(COUNT * N, sizeof *s.b);
        for (int k = 0; k < COUNT; ++k) {
            const double shift = k % 3 == 0 ? 1 : k % 3 == 1 ? 0 : ldexp(1, -40 - k);
            for (int64_t e = 0; e < s.A.entries; ++e) {
                const double value = view_value(&s.A, e); /* the diagonal has the shift of 1 */
                s.values[k * s.A.entries + e] = sign * value > 0 ? value - sign + sign * shift : value;
            }
        }
        for (int k = 0; k < COUNT * N; ++k) s.b[k] = rng_unit(&r);
        for (size_t o = 0; o < ABREAST; ++o) check_abreast(&s, OPTIONS[o]);
        systems_free(&s);
        dense_free(&d);
    }
}

/* The Laplacian of a path whose weights are whole numbers, in every system others: singular, with matched
 * entries that are not what the scaling was made for. A solve then makes a plan and factors of its own, which
 * are not those that the systems abreast have. */
static void singular_systems_that_are_planned_anew_are_left_to_themselves(void **state)
{
    (void)state;
    rng r = rng_start("abreast weights");
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) dense_set(&d, i, i, i % (N - 1) ? 3.0 : 2.0);
    for (int i = 0; i + 1 < N; ++i) set_both(&d, i, i + 1, -1);
    systems s = {.A = view_plain(&d, SADDLE_LOWER)};
    s.first = s.A.values;
    s.values = test_alloc((size_t)(COUNT * s.A.entries), sizeof *s.values);
    s.b = test_alloc(COUNT * N, sizeof *s.b);
    for (int k = 0; k < COUNT; ++k) {
        double *const values = s.values + k * s.A.entries, before = 0;
        for (int64_t e = 0; e < s.A.entries; ++e) {
            const bool diagonal = view_value(&s.A, e) > 0, last = e + 1 == s.A.entries;
            if (!diagonal) continue;
            const double weight = last ? 0 : 1 + rng_below(&r, 1 << rng_below(&r, 20));
            values[e] = before + weight;
            if (!last) values[e + 1] = -weight;
            before = weight;
        }
    }
    for (int k = 0; k < COUNT * N; ++k) s.b[k] = rng_unit(&r);
    for (size_t o = 0; o < ABREAST; ++o) check_abreast(&s, OPTIONS[o]);
    systems_free(&s);
    dense_free(&d);
}

/* L L' of a path, l up to 34 at its beginning in some of them: no pivot is small and |l| is allowed, but the
 * inverse of L grows so fast that the witness of the inertia does not come back. */
static void systems_in_doubt_are_left_to_themselves(void **state)
{
    (void)state;
    enum { STEEP = 12 };
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) dense_set(&d, i, i, 1);
    for (int i = 0; i + 1 < N; ++i) set_both(&d, i, i + 1, i % 2 ? 0.1 : -0.1);
    systems s = {.A = view_plain(&d, SADDLE_LOWER)};
    s.first = s.A.values;
    s.values = test_alloc((size_t)(COUNT * s.A.entries), sizeof *s.values);
    s.b = test_alloc(COUNT * N, sizeof *s.b);
    for (int k = 0; k < COUNT; ++k) {
        double *const values = s.values + k * s.A.entries, before = 0;
        int row = 0;
        for (int64_t e = 0; e < s.A.entries; ++e) {
            const bool diagonal = view_value(&s.A, e) == 1;
            const double l = row < STEEP && k % 4 != 1 ? 0.37 + 1.7 * k : 0.3;
            values[e] = diagonal ? 1 + before : l;
            s.b[k * N + row] += values[e]; /* x = 1: its residual is small, too */
            row += !diagonal;
            if (!diagonal) s.b[k * N + row] += values[e];
            if (!diagonal) before = l * l; /* that it adds to the next */
        }
    }
    static const char *const lists[] = {"simplicial=on,scaling=none,order=natural,factorization=ldlt",
                                        "simplicial=on,scaling=none,order=natural,krylov=none"};
    for (int o = 0; o < 2; ++o) assert_true(check_abreast(&s, lists[o]) > 0);
    systems_free(&s);
    dense_free(&d);
}

/* Cholesky, where one of them is not definite. */
static void each_has_its_own_definiteness(void **state)
{
    (void)state;
    rng r = rng_start("abreast cholesky");
    systems s = systems_new(&r, 2);
    outcomes found;
    spoil(&s, 4, WIDE + 1);
    spoil(&s, 12, WIDE + 1);
    assert_true(check_abreast(&s, "simplicial=on,factorization=cholesky") > 0);
    check_abreast(&s, "simplicial=on");
    saddle_solver *solver = analysed(&s, "simplicial=on,factorization=cholesky", 2);
    assert_int_equal(saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.A.entries, s.b, N, found.x, N,
                                              found.results),
                     SADDLE_NOT_DEFINITE);
    assert_contains(saddle_message(solver), "system 4 of 21");
    for (int k = 0; k < COUNT; ++k)
        assert_int_equal(found.results[k].status, k == 4 || k == 12 ? SADDLE_NOT_DEFINITE : SADDLE_OK);
    saddle_destroy(&solver);
    systems_free(&s);
}

/* Signs that are given after systems were factored hold for those that follow. */
static void static_pivots_have_the_signs_of_now(void **state)
{
    (void)state;
    rng r = rng_start("abreast signs");
    systems s = systems_new(&r, 1);
    outcomes alone, together;
    int8_t signs[2][N];
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < N; ++i) signs[k][i] = (int8_t)((i < 2 * N / 3) == (k == 0) ? 1 : -1);
    saddle_solver *solver = analysed(&s, "simplicial=on,factorization=static,krylov=none", 1);
    saddle_solver *one = analysed(&s, "simplicial=on,factorization=static,krylov=none", 1);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(saddle_set_signs(solver, N, signs[k]), SADDLE_OK);
        assert_int_equal(saddle_set_signs(one, N, signs[k]), SADDLE_OK);
        saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.A.entries, s.b, N, together.x, N,
                                 together.results);
        for (int j = 0; j < COUNT; ++j)
            saddle_factor_solve_many(one, &s.A, 1, s.values + j * s.A.entries, s.A.entries, s.b + j * N, N,
                                     alone.x + j * N, N, &alone.results[j]);
        assert_same(&together, &alone, "signs");
    }
    saddle_destroy(&solver);
    saddle_destroy(&one);
    systems_free(&s);
}

/* Too little memory for systems abreast is enough for one at a time. */
static void a_limit_leaves_one_at_a_time(void **state)
{
    (void)state;
    rng r = rng_start("abreast limits");
    systems s = systems_new(&r, 0);
    outcomes alone, together;
    run_alone(&s, "simplicial=on", &alone);
    saddle_solver *solver = analysed(&s, "simplicial=on,max_memory=400K", 1);
    saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.A.entries, s.b, N, together.x, N,
                             together.results);
    assert_null(solver->many.abreast);
    assert_same(&together, &alone, "limit");
    saddle_destroy(&solver);
    systems_free(&s);
}

/* In one call, and in two; one thread, since the allocator counts. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("abreast allocations");
    systems s = systems_new(&r, 1);
    outcomes found;
    enum { FEW = SD_ABREAST_MOST };
    for (int kept = 0; kept < 2; ++kept) {
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            const saddle_options options = options_of("threads=1,method=direct,simplicial=on");
            saddle_solver *solver = NULL;
            saddle_status status = saddle_create(&solver, &options, &hooks, NULL);
            if (!status && kept) status = saddle_factor_many(solver, &s.A, FEW, s.values, s.A.entries, NULL);
            if (!status && kept) status = saddle_solve_many(solver, FEW, s.b, N, found.x, N, found.results);
            if (!status && !kept)
                status = saddle_factor_solve_many(solver, &s.A, FEW, s.values, s.A.entries, s.b, N, found.x,
                                                  N, found.results);
            saddle_destroy(&solver);
            assert_int_equal(f.live, 0);
            assert_true(status == SADDLE_OK || (f.failed && status == SADDLE_OUT_OF_MEMORY));
            if (!f.failed) break;
        }
    }
    systems_free(&s);
}

/* ---- kernels ---- */

/* `wide` systems of the solver's pattern for the kernels: numbers of each alone and of all abreast. */
typedef struct material {
    const sd_abreast_kernels *on;
    const sd_sequence *s;
    int64_t l, entries;
    double *values[WIDE], *joined;
    sd_abreast_factors f;
} material;

static void take_lane(int64_t n, const double *from, int wide, int c, double *to)
{
    for (int64_t k = 0; k < n; ++k) to[k] = from[k * wide + c];
}

static void assert_lane(int64_t n, const double *rows, int wide, int c, const double *own)
{
    double *lane = test_alloc((size_t)n + 1, sizeof *lane);
    take_lane(n, rows, wide, c, lane);
    assert_memory_equal(lane, own, (size_t)n * sizeof *lane);
    free(lane);
}

/* x of columns side by side, solved abreast and alone. */
static void check_solve(const material *q, const sd_simplicial_kernels *alone, const sd_simplicial *own,
                        int c, rng *r)
{
    const int wide = q->on->width;
    sd_context context;
    sd_context_init(&context, NULL, 0);
    for (int columns = 1; columns <= 2; ++columns) {
        double x[2 * N];
        double *rows = sd_alloc_zero(&context, 2 * N, (size_t)wide * sizeof *rows, "test");
        for (int k = 0; k < columns * N; ++k) rows[k * wide + c] = x[k] = rng_unit(r);
        alone->forward(own, columns, x);
        alone->backward(own, true, columns, x);
        q->on->solve(q->s, &q->f.numbers, columns, rows);
        assert_lane(columns * N, rows, wide, c, x);
        sd_free(&context, rows);
    }
}

static void check_isa(const sd_cpu_isa *isa, const saddle_solver *solver, rng *r)
{
    const sd_direct *d = direct_of(solver);
    const sd_factors *f = &d->factors[SD_DOUBLE];
    sd_simplicial *own = f->simplicial;
    const sd_pivoting rule = sd_direct_pivoting(d->rule, SD_DOUBLE, &solver->options, NULL);
    material q = {.on = isa->abreast, .s = &own->s, .entries = f->tree->entry_ptr[N]};
    const int wide = q.on->width;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_abreast_make(&c, q.on, q.s, q.entries, true, &q.f), SADDLE_OK);
    q.l = own->s.node[own->s.nodes - 1].end;
    for (int k = 0; k < wide; ++k) {
        q.values[k] = test_alloc((size_t)q.entries, sizeof **q.values);
        const double noise = k == 1 ? 1e6 : 0.01; /* one that is refused */
        for (int64_t e = 0; e < q.entries; ++e) q.values[k][e] = f->values[e] * (1 + noise * rng_unit(r));
    }
    q.on->join(q.entries, (const double *const *)q.values, q.f.values);
    q.on->factor(q.s, q.f.values, &rule, &q.f.numbers, q.f.outcome);
    for (int k = 0; k < wide; ++k) {
        sd_pivots pivots;
        const bool kept = isa->fronts[SD_DOUBLE].simplicial->run(own, q.values[k], &rule, &pivots);
        assert_true(kept || q.f.outcome[k].refused);
        if (!q.f.outcome[k].refused) {
            assert_memory_equal(&pivots, &q.f.outcome[k].pivots, sizeof pivots);
            assert_true(own->least == q.f.outcome[k].least);
            assert_lane(q.l, q.f.numbers.l, wide, k, own->l);
            assert_lane(2 * N, q.f.numbers.d, wide, k, own->d);
            assert_lane(2 * N, q.f.numbers.inverse, wide, k, own->inverse);
            check_solve(&q, isa->fronts[SD_DOUBLE].simplicial, own, k, r);
        }
        free(q.values[k]);
    }
    for (int64_t k = 0; k < N * wide; ++k) assert_true(q.f.numbers.y[k] == 0);
    sd_abreast_free(&c, &q.f);
}

static void kernels_have_the_bits_of_those_for_one_system(void **state)
{
    (void)state;
    rng r = rng_start("abreast kernels");
    static const char *const lists[] = {"simplicial=on,factorization=ldlt",
                                        "simplicial=on,factorization=static",
                                        "simplicial=on,factorization=cholesky"};
    int checked = 0, pairs = 0;
    for (int k = 0; k < 24; ++k) {
        dense d = problem_of(&r, k % 3 == 2 ? 2 : k % 4);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, lists[k % 3]);
        if (direct_of(solver)->factors[SD_DOUBLE].simplicial) {
            pairs += info_of(solver).two_by_two > 0;
            for (int i = 0; i < sd_cpu_isa_count; ++i)
                if (sd_cpu_isas[i].supported()) check_isa(&sd_cpu_isas[i], solver, &r);
            ++checked;
        }
        saddle_destroy(&solver);
        dense_free(&d);
    }
    assert_true(checked > 12 && pairs > 0);
}

/* A half matrix whose rows are far apart has windows that reach into later slices. */
static void residuals_have_the_bits_of_those_for_one_system(void **state)
{
    (void)state;
    rng r = rng_start("abreast residuals");
    enum { ROWS = 40, SLICES = 4 };
    static const int32_t slice[SLICES + 1] = {0, 9, 20, 31, ROWS};
    int64_t ptr[ROWS + 1], offset[SLICES], total = 0;
    int32_t ind[ROWS * 4], window[SLICES];
    int64_t nnz = 0;
    for (int i = 0; i < ROWS; ++i) {
        ptr[i] = nnz;
        if (i % 5) ind[nnz++] = i;
        for (int j = i + 1; j < ROWS; j += 1 + rng_below(&r, 12))
            if (nnz - ptr[i] < 4) ind[nnz++] = j;
    }
    ptr[ROWS] = nnz;
    for (int s = 0; s < SLICES; ++s) {
        window[s] = slice[s + 1];
        for (int64_t k = ptr[slice[s]]; k < ptr[slice[s + 1]]; ++k)
            if (ind[k] >= window[s]) window[s] = ind[k] + 1;
        offset[s] = total;
        total += window[s] - slice[s];
    }
    sd_context c;
    sd_engine e = {0};
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_engine_open_host(&c, &e, SADDLE_DEVICE_CPU, 1), SADDLE_OK);
    for (int i = 0; i < sd_cpu_isa_count; ++i) {
        if (!sd_cpu_isas[i].supported()) continue;
        const int wide = sd_cpu_isas[i].abreast->width;
        double val[ROWS * 4];
        sd_sparse A = {.n = ROWS,
                       .nnz = nnz,
                       .half = true,
                       .precision = SD_DOUBLE,
                       .ptr = ptr,
                       .ind = ind,
                       .val = val,
                       .slices = SLICES,
                       .slice = slice,
                       .window = window,
                       .offset = offset,
                       .window_total = total};
        double *rows = sd_alloc(&c, nnz + 4 * ROWS + 3 * total, (size_t)wide * sizeof *rows, "test");
        double *b = rows + nnz * wide, *x = b + ROWS * wide, *y = x + ROWS * wide, *z = y + ROWS * wide;
        double *room = z + ROWS * wide;
        double *own_room = test_alloc((size_t)sd_residual_room(&A), sizeof *own_room);
        for (int64_t k = 0; k < (nnz + 2 * ROWS) * wide; ++k)
            rows[k] = ldexp(rng_unit(&r), rng_below(&r, 40));
        if (wide > 2) x[2] = 1e300;
        sd_residual_norms found[WIDE];
        bool near[WIDE];
        sd_cpu_isas[i].abreast->residual(&A, rows, b, x, room, y, found, near);
        for (int k = 0; k < wide; ++k) {
            double own_b[ROWS], own_x[ROWS], own_r[ROWS];
            sd_residual_norms own;
            take_lane(nnz, rows, wide, k, val);
            take_lane(ROWS, b, wide, k, own_b);
            take_lane(ROWS, x, wide, k, own_x);
            assert_true(near[k] == sd_cpu_isas[i].residual(&A, 1, own_b, own_x, own_room, own_r, &own));
            assert_true(near[k] == (k != 2));
            if (!near[k]) continue;
            assert_lane(ROWS, y, wide, k, own_r);
            assert_memory_equal(&own, &found[k], sizeof own);
            if (sd_cpu() != &sd_cpu_isas[i]) continue;
            sd_vector from = {.n = ROWS, .precision = SD_DOUBLE, .data = own_x}, to = from;
            to.data = own_r;
            assert_int_equal(sd_engine_reserve(&e, ROWS, &A), SADDLE_OK);
            sd_spmv(&e, &A, &from, &to);
            for (int j = 0; j < ROWS; ++j) own_r[j] = own_b[j] - own_r[j];
            sd_cpu_isas[i].abreast->difference(&A, rows, b, x, room, z);
            assert_lane(ROWS, z, wide, k, own_r);
        }
        free(own_room);
        sd_free(&c, rows);
    }
    sd_engine_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_abreast_have_the_bits_that_they_have_alone),
        cmocka_unit_test(systems_abreast_have_the_bits_of_a_loop),
        cmocka_unit_test(long_systems_have_the_bits_that_they_have_alone),
        cmocka_unit_test(a_system_that_departs_does_not_disturb_those_beside_it),
        cmocka_unit_test(nearly_singular_systems_are_left_to_themselves),
        cmocka_unit_test(singular_systems_that_are_planned_anew_are_left_to_themselves),
        cmocka_unit_test(systems_in_doubt_are_left_to_themselves),
        cmocka_unit_test(each_has_its_own_definiteness),
        cmocka_unit_test(static_pivots_have_the_signs_of_now),
        cmocka_unit_test(a_limit_leaves_one_at_a_time),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(kernels_have_the_bits_of_those_for_one_system),
        cmocka_unit_test(residuals_have_the_bits_of_those_for_one_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
