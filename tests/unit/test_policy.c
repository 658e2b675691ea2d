/*
 * The policy of `auto`: which ladder it makes of what it knows, and how solvers go up such ladders: every
 * rung, every way from one to the next, the limit of memory, cancelling, and what is learned.
 */
#include "failing_allocator.h"
#include "inside.h"
#include "solving.h"
#include <math.h>

#include <pthread.h>

/* ---- ladders ---- */

static const sd_outlook symmetric = {
    .symmetric = true, .n = 1000, .nnz = 10000, .planned = true, .fits = true};

/* The methods of a ladder, by their words. */
static const char *words_of(const sd_ladder *l)
{
    static char text[128];
    char word[24];
    text[0] = 0;
    for (int k = 0; k < l->rungs; ++k) {
        strcat(text, k > 0 ? " " : "");
        strcat(text, saddle_option_word("method", l->rung[k].method->number, word, sizeof word));
    }
    return text;
}

static sd_ladder ladder_of(sd_outlook o)
{
    return sd_policy_ladder(&sd_policy_default, &o);
}

static void what_is_cheap_goes_to_the_direct_solver(void **state)
{
    (void)state;
    sd_outlook o = symmetric;
    for (int k = 0; k < 4; ++k) {
        o.symmetric = k & 1;
        o.definite = k == 3;
        o.flops = k == 1 ? sd_policy_default.hopeless : sd_policy_default.expensive;
        sd_ladder l = ladder_of(o);
        assert_string_equal(words_of(&l), "direct");
        o.flops *= 1.001;
        l = ladder_of(o);
        assert_string_not_equal(words_of(&l), "direct");
    }
}

static void expensive_indefinite_matrices_get_ldlt_first(void **state)
{
    (void)state;
    sd_outlook o = symmetric;
    o.flops = 2e13;
    sd_ladder l = ladder_of(o);
    assert_string_equal(words_of(&l), "ldlt ldlt ldlt direct");
    for (int k = 0; k < 3; ++k) assert_true(l.rung[k].tau == sd_policy_default.tau[k]);
    assert_true(l.most_flops == 2e12 && l.iterations == 300);
    o.fits = false;
    l = ladder_of(o);
    assert_string_equal(words_of(&l), "ldlt ldlt ldlt");
    assert_true(l.most_flops == 0);
}

static void what_was_learned_shortens_the_ladder(void **state)
{
    (void)state;
    static const char *const fits[] = {"ldlt ldlt ldlt direct", "ldlt ldlt direct", "ldlt direct", "direct"};
    static const char *const not [] = {"ldlt ldlt ldlt", "ldlt ldlt", "ldlt", "ldlt"};
    sd_outlook o = symmetric;
    o.flops = 2e13;
    for (o.learned = 0; o.learned <= 3; ++o.learned) {
        o.fits = true;
        sd_ladder l = ladder_of(o);
        assert_string_equal(words_of(&l), fits[o.learned]);
        assert_int_equal(l.first, o.learned);
        o.fits = false;
        l = ladder_of(o);
        assert_string_equal(words_of(&l), not [o.learned]);
        assert_true(l.rung[0].tau == sd_policy_default.tau[o.learned < 2 ? o.learned : 2]);
    }
}

static void expensive_definite_and_general_matrices_get_iterations_first(void **state)
{
    (void)state;
    for (int general = 0; general < 2; ++general) {
        sd_outlook o = symmetric;
        o.flops = 1e12;
        o.definite = !general;
        o.symmetric = !general;
        sd_ladder l = ladder_of(o);
        assert_string_equal(words_of(&l), general ? "ilu direct" : "diagonal direct");
        assert_int_equal(l.iterations, (int64_t)(0.5 * 1e12 / (20.0 * 11000)));
        o.fits = false;
        l = ladder_of(o);
        assert_string_equal(words_of(&l), general ? "ilu diagonal none" : "diagonal none");
        assert_true(l.iterations == INT64_MAX);
        o.planned = false; /* as where the order alone is expensive: planned when it is needed */
        l = ladder_of(o);
        assert_string_equal(words_of(&l), general ? "ilu direct" : "diagonal none direct");
        o.krylov_named = true;
        l = ladder_of(o);
        assert_string_equal(words_of(&l), general ? "ilu diagonal none" : "diagonal none");
        o.krylov_named = false;
        o.planned = o.scarce = true;
        l = ladder_of(o);
        assert_string_equal(words_of(&l), "diagonal none");
    }
}

static void an_order_is_not_paid_for_in_vain(void **state)
{
    (void)state;
    const sd_policy *p = &sd_policy_default;
    sd_outlook o = {.symmetric = true, .nnz = p->order_entries};
    assert_true(sd_policy_plans(p, &o));
    o.definite = true;
    assert_true(sd_policy_plans(p, &o));
    ++o.nnz;
    assert_false(sd_policy_plans(p, &o));
    o.definite = false;
    assert_true(sd_policy_plans(p, &o));
    for (o.symmetric = false; o.nnz > 1; o.nnz /= 2) { /* general: ilu comes first, whatever the size */
        const sd_ladder l = ladder_of(o);
        assert_string_equal(words_of(&l), "ilu direct");
        assert_true(o.nnz < p->guess_entries ? l.iterations < p->iterations : l.iterations == p->iterations);
        o.dominant = true;
        const sd_ladder easy = ladder_of(o);
        assert_string_equal(words_of(&easy), "diagonal direct");
        o.dominant = false;
        assert_false(sd_policy_plans(p, &o));
        sd_outlook lost = o;
        lost.lost = true;
        assert_true(sd_policy_plans(p, &lost));
    }
    o = (sd_outlook){.symmetric = true, .krylov_named = true};
    assert_false(sd_policy_plans(p, &o));
}

static void what_is_guessed_to_be_far_beyond_is_not_ordered_ahead(void **state)
{
    (void)state;
    const sd_policy *p = &sd_policy_default;
    for (int definite = 0; definite < 2; ++definite) {
        sd_outlook o = {.symmetric = true, .definite = definite, .n = 1000, .nnz = p->guess_entries};
        assert_true(sd_policy_guesses(p, &o));
        assert_true(sd_policy_plans(p, &o));
        o.nnz = p->order_entries + 1; /* the guess is what counts where there is one */
        o.guess = definite ? p->worth * (double)(o.nnz + o.n) : p->beyond * p->hopeless;
        assert_true(sd_policy_plans(p, &o));
        o.guess *= 1.001;
        assert_false(sd_policy_plans(p, &o));
        const sd_ladder l = ladder_of(o);
        assert_string_equal(words_of(&l), definite ? "diagonal direct" : "ldlt ldlt ldlt direct");
        assert_int_equal(l.iterations, definite ? 75 : p->iterations);
        assert_true(definite || l.most_flops == p->share * o.guess);
        o.guess *= 1000; /* but no more than half an order pays for */
        assert_int_equal(ladder_of(o).iterations, definite ? 400 : p->iterations);
    }
    const sd_outlook small = {.symmetric = true, .nnz = p->guess_entries - 1};
    assert_false(sd_policy_guesses(p, &small));
}

/* One solve: iterations race a direct solver that is not planned, whatever the matrix is. */
static void one_solve_begins_with_a_race(void **state)
{
    (void)state;
    const sd_policy *p = &sd_policy_default;
    for (int k = 0; k < 8; ++k) {
        sd_outlook o = {.symmetric = k & 1, .definite = k == 3, .positive = k & 4, .n = 1000};
        o.once = true;
        o.nnz = p->race.entries;
        sd_ladder l = ladder_of(o);
        assert_string_equal(words_of(&l), o.symmetric ? "diagonal" : "ilu");
        assert_true(l.race && sd_policy_races(p, &o) && !sd_policy_plans(p, &o));
        sd_outlook not [4] = {o, o, o, o};
        not [0].once = false;
        not [1].lost = true;
        not [2].krylov_named = true;
        --not [3].nnz;
        for (int j = 0; j < 4; ++j) assert_false(sd_policy_races(p, &not [j]) || ladder_of(not [j]).race);
        o.lost = o.planned = o.fits = true; /* what follows on one that was lost */
        o.flops = 1e12;
        l = ladder_of(o);
        assert_string_equal(words_of(&l), "direct");
    }
}

static void a_race_is_longer_where_more_is_at_stake(void **state)
{
    (void)state;
    const sd_policy *p = &sd_policy_default;
    double first, most, next_first, next_most;
    sd_outlook o = {.symmetric = true, .positive = true, .n = 100000, .nnz = 500000};
    sd_policy_race(p, &o, &first, &most);
    assert_true(first >= 5 && first < 0.12 * most && most < 200); /* a part of what an order costs */
    o.symmetric = false;
    sd_policy_race(p, &o, &next_first, &next_most);
    assert_true(next_first == first && next_most < most);
    o.symmetric = true;
    for (o.guess = 1e8; o.guess < 1e13; o.guess *= 10) {
        sd_policy_race(p, &o, &next_first, &next_most);
        assert_true(next_first > first && next_most > most && next_first < 0.12 * next_most);
        first = next_first;
        most = next_most;
    }
    o.positive = false;
    sd_policy_race(p, &o, &first, &most);
    assert_true(first == p->race.signed_first && most == p->race.signed_most);
}

/* ---- solvers ---- */

/*
 * Three parts, each an arrow whose hub is eliminated first, and a row of -1: with couplings c beside ones all
 * blocks of fill have a weight between c^2 / (1 - c^2) and a few times that. tau 0.9, 0.3 and 0 keep those of
 * the first part, of the first two, of all; and one iteration is enough only where nothing was left out.
 */
enum { SPOKES = 2, PART = SPOKES + 1, N = 3 * PART + 1 };
static const double couplings[] = {0.695, 0.55, 0.3};
static const char natural[] = "scaling=none,order=natural,pairs=off,blocking=grid,block_size=1,"
                              "factor_precision=double";

static dense three_parts(void)
{
    dense d = dense_new(N);
    for (int part = 0; part < 3; ++part) {
        const int hub = part * PART;
        for (int i = hub; i < hub + PART; ++i) dense_set(&d, i, i, 1);
        for (int i = hub + 1; i < hub + PART; ++i) {
            dense_set(&d, i, hub, couplings[part]);
            dense_set(&d, hub, i, couplings[part]);
        }
    }
    dense_set(&d, N - 1, N - 1, -1);
    return d;
}

static const sd_policy steep = {.expensive = 0,
                                .product = 20,
                                .share = 1e9,
                                .tau = {0.9, 0.3, 0},
                                .iterations = 1,
                                .order_entries = 1000,
                                .guess_entries = INT64_MAX};

static saddle_solver *solver_with(const sd_policy *policy, const char *list, const saddle_hooks *hooks)
{
    const saddle_options options = options_of(list);
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &options, hooks, NULL), SADDLE_OK);
    sd_set_policy(s, policy);
    return s;
}

/* Solves for a b that lives in one part. */
static saddle_info solve_part(const saddle_solver *s, const dense *d, int part, saddle_status wanted)
{
    double b[N] = {0}, x[N];
    saddle_info info = saddle_info_default();
    for (int i = part * PART; i < (part + 1) * PART; ++i) b[i] = 1 + i % 3;
    assert_int_equal(saddle_solve(s, 1, b, N, x, N, &info), wanted);
    if (!wanted) assert_true(relative_residual_of(d, b, x) <= 1e-10);
    return info;
}

static void every_rung_is_reached_and_told(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int part = 0; part < 3; ++part) {
        saddle_solver *s = solver_with(&steep, natural, NULL);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), "ldlt ldlt ldlt direct");
        const saddle_info info = solve_part(s, &d, part, SADDLE_OK);
        assert_int_equal(info.method, SADDLE_METHOD_LDLT);
        assert_true(info.fill_tau == steep.tau[part]);
        assert_int_equal(info.tried, part);
        for (int k = 0; k < part; ++k) {
            assert_int_equal(info.tried_list[k].method, SADDLE_METHOD_LDLT);
            assert_int_equal(info.tried_list[k].why_left, SADDLE_REASON_MAXITER);
        }
        assert_int_equal(s->experience->rung, part);
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

static void the_direct_solver_is_the_last_rung(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    sd_policy blunt = steep;
    for (int k = 0; k < 3; ++k) blunt.tau[k] = 0.95; /* none of them is enough for the last part */
    saddle_solver *s = solver_with(&blunt, natural, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    for (int again = 0; again < 2; ++again) {
        const saddle_info info = solve_part(s, &d, 2, SADDLE_OK);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.tried, again ? 0 : 3);
        assert_int_equal(info.inertia_negative, 1);
        assert_true(isnan(info.fill_tau)); /* nothing of ldlt's factors is left in it */
        assert_int_equal(info.replaced_blocks, -1);
        assert_int_equal(s->experience->rung, 3);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK); /* begins with what was enough */
        assert_string_equal(words_of(&s->ladder), "direct");
        assert_int_equal(s->info.inertia_negative, 1);
    }
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

static void too_expensive_a_preconditioner_gives_way_to_the_direct_solver(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    sd_policy poor = steep;
    poor.share = 1e-6;
    poor.tau[0] = 0;
    saddle_solver *s = solver_with(&poor, natural, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_string_equal(words_of(&s->ladder), "direct");
    assert_int_equal(solve_part(s, &d, 2, SADDLE_OK).method, SADDLE_METHOD_DIRECT);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* The next factorization of the pattern begins with the rung that sufficed; another pattern knows nothing. */
static void what_sufficed_is_learned_for_the_pattern(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *s = solver_with(&steep, natural, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    solve_part(s, &d, 1, SADDLE_OK);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_int_equal(s->ladder.first, 1);
    assert_true(s->info.fill_tau == steep.tau[1]);
    assert_int_equal(solve_part(s, &d, 2, SADDLE_OK).tried, 1);
    assert_int_equal(s->experience->rung, 2);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_int_equal(s->ladder.first, 2);
    assert_int_equal(solve_part(s, &d, 0, SADDLE_OK).tried, 0);
    assert_int_equal(s->experience->rung, 2); /* an easy one does not unlearn it */
    assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
    assert_int_equal(s->experience->rung, 0);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

typedef struct job {
    const saddle_solver *s;
    const dense *d;
    int part;
} job;

static void *run_job(void *argument)
{
    const job *j = argument;
    for (int k = 0; k < 20; ++k) solve_part(j->s, j->d, j->part, SADDLE_OK);
    return NULL;
}

static void what_is_learned_does_not_depend_on_who_ends_last(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int round = 0; round < 4; ++round) {
        saddle_solver *s = solver_with(&steep, natural, NULL);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        pthread_t threads[3];
        job jobs[3];
        for (int t = 0; t < 3; ++t) {
            jobs[t] = (job){s, &d, orders[round % 3][t]};
            if (round < 3)
                solve_part(s, &d, jobs[t].part, SADDLE_OK);
            else
                assert_int_equal(pthread_create(&threads[t], NULL, run_job, &jobs[t]), 0);
        }
        for (int t = 0; t < 3 && round == 3; ++t) pthread_join(threads[t], NULL);
        assert_int_equal(s->experience->rung, 2);
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

/* Without room for the direct solver it is not on the ladder, and not tried. */
static void the_limit_of_memory_leaves_the_direct_solver_out(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    enum { SIZE = 800 };
    dense d = symmetric_problem(&r, SIZE, false);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *s = solver_with(&steep, "", NULL);
    assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
    char list[64];
    snprintf(list, sizeof list, "max_memory=%lld", (long long)s->info.planned_bytes - 1);
    saddle_destroy(&s);
    sd_policy mild = sd_policy_default;
    mild.expensive = mild.hopeless = 0;
    s = solver_with(&mild, list, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_string_equal(words_of(&s->ladder), "ldlt ldlt ldlt");
    assert_true(s->ladder.most_flops == 0);
    double b[SIZE], x[SIZE];
    for (int i = 0; i < SIZE; ++i) b[i] = rng_unit(&r);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(s, 1, b, SIZE, x, SIZE, &info), SADDLE_OK);
    assert_int_equal(info.method, SADDLE_METHOD_LDLT);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

static void definite_matrices_go_from_iterations_to_the_direct_solver(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    enum { SIZE = 100, REFINEMENT_MOST = 16 };
    dense d = dense_new(SIZE); /* a Laplacian, which takes CG as many iterations as it has rows */
    for (int i = 0; i < SIZE; ++i) dense_set(&d, i, i, 2);
    for (int i = 1; i < SIZE; ++i) {
        dense_set(&d, i, i - 1, -1);
        dense_set(&d, i - 1, i, -1);
    }
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double b[SIZE], x[SIZE];
    for (int i = 0; i < SIZE; ++i) b[i] = rng_unit(&r);
    for (int huge = 0; huge < 2; ++huge) { /* with a plan, and without one before it is needed */
        sd_policy p = steep;
        p.product = 1e9; /* so that an iteration is all that the direct solver's cost pays for */
        if (huge) p.order_entries = 1;
        saddle_solver *s = solver_with(&p, huge ? "maxiter=60" : "", NULL);
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), huge ? "diagonal none direct" : "diagonal direct");
        assert_int_equal(isnan(s->info.planned_flops), huge);
        const saddle_status status = saddle_solve(s, 1, b, SIZE, x, SIZE, &info);
        assert_int_equal(status, SADDLE_OK);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.tried, 1); /* for `none` there are no iterations left */
        assert_int_equal(info.tried_list[0].why_left, SADDLE_REASON_MAXITER);
        assert_true(info.iterations <= REFINEMENT_MOST); /* its own, not those that were in vain */
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

/* ---- races ---- */

enum { CHAIN = 100 };

/* A Laplacian, which takes CG as many iterations as it has rows, and what it is with a larger diagonal. */
static dense chain(double diagonal)
{
    dense d = dense_new(CHAIN);
    for (int i = 0; i < CHAIN; ++i) dense_set(&d, i, i, diagonal);
    for (int i = 1; i < CHAIN; ++i) {
        dense_set(&d, i, i - 1, -1);
        dense_set(&d, i - 1, i, -1);
    }
    return d;
}

/* 5 iterations before it is judged, and up to 50. */
static sd_policy sprint(void)
{
    sd_policy p = sd_policy_default;
    p.race = (sd_race_rule){
        .entries = 1, .order_row = 50, .step_row = 1, .first_order = 0.1, .most = 1, .general = 1};
    return p;
}

static saddle_info race(saddle_solver *s, const dense *d, int columns, double *x)
{
    double b[3 * CHAIN];
    for (int i = 0; i < columns * CHAIN; ++i) b[i] = 1 + i % 7;
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(s, columns, b, CHAIN, x, CHAIN, &info), SADDLE_OK);
    for (int k = 0; k < columns; ++k)
        assert_true(relative_residual_of(d, b + k * CHAIN, x + k * CHAIN) <= 1e-10);
    return info;
}

static void a_race_that_is_won_plans_nothing(void **state)
{
    (void)state;
    dense d = chain(4);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const sd_policy p = sprint();
    double x[3 * CHAIN];
    saddle_solver *s = solver_with(&p, "factorizations=1", NULL);
    for (int again = 0; again < 2; ++again) {
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        const saddle_info info = race(s, &d, 3, x);
        assert_int_equal(info.method, SADDLE_METHOD_DIAGONAL);
        assert_int_equal(info.tried, 0);
        assert_true(info.iterations > 3 * 5 && isnan(info.planned_flops) && !s->experience->lost);
    }
    saddle_destroy(&s);
    s = solver_with(&p, "", NULL); /* more than one is expected: factors are worth having */
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_string_equal(words_of(&s->ladder), "direct");
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* The direct solver takes over, once for all columns, with its predictions and times; the next factorization
 * of the pattern begins with it. The bits and the choice are those of any number of threads. */
static void a_race_that_is_lost_ends_with_the_direct_solver(void **state)
{
    (void)state;
    dense d = chain(2);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const sd_policy p = sprint();
    double x[2][3 * CHAIN];
    int64_t spent[2];
    for (int threads = 0; threads < 2; ++threads) {
        char list[64];
        snprintf(list, sizeof list, "factorizations=1,threads=%d", threads + 1);
        saddle_solver *s = solver_with(&p, list, NULL);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), "diagonal");
        saddle_info info = race(s, &d, 1, x[threads]);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.tried, 1);
        assert_int_equal(info.tried_list[0].method, SADDLE_METHOD_DIAGONAL);
        assert_int_equal(info.tried_list[0].why_left, SADDLE_REASON_SLOW);
        assert_int_equal(info.inertia_positive, CHAIN);
        assert_true(info.planned_flops > 0 && info.time_prepare > 0 && info.time_solve > 0);
        spent[threads] = info.iterations;
        info = race(s, &d, 3, x[threads]);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_true(s->experience->lost);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), "direct");
        assert_int_equal(race(s, &d, 1, x[threads]).tried, 0);
        saddle_destroy(&s);
    }
    assert_int_equal(spent[0], spent[1]);
    assert_memory_equal(x[0], x[1], CHAIN * sizeof(double));
    view_free(&A);
    dense_free(&d);
}

/* A race that is not given up before the iterations end: it left none for the direct solver. */
static void a_race_leaves_iterations_for_the_direct_solver(void **state)
{
    (void)state;
    dense d = chain(2);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    sd_policy p = sprint();
    p.race.order_row = 1e9;
    double x[CHAIN];
    saddle_solver *s = solver_with(&p, "factorizations=1,maxiter=45", NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    const saddle_info info = race(s, &d, 1, x);
    assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
    assert_int_equal(info.tried_list[0].why_left, SADDLE_REASON_MAXITER);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* Where the direct solver does not fit after a race, ldlt or iterations do; with more memory never worse. */
static void what_follows_a_race_keeps_the_limit_of_memory(void **state)
{
    (void)state;
    dense d = chain(2);
    dense_set(&d, CHAIN - 1, CHAIN - 1, 0); /* not definite */
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const sd_policy p = sprint();
    int solved[SADDLE_METHOD_JACOBI + 1] = {0};
    bool once = false;
    for (int limit = 20000; limit < 400000; limit += 4000) {
        char list[64];
        double b[CHAIN], x[CHAIN];
        for (int i = 0; i < CHAIN; ++i) b[i] = 1 + i % 7;
        snprintf(list, sizeof list, "factorizations=1,max_memory=%d", limit);
        saddle_solver *s = solver_with(&p, list, NULL);
        saddle_info info = saddle_info_default();
        saddle_status status = saddle_factor(s, &A);
        if (!status) status = saddle_solve(s, 1, b, CHAIN, x, CHAIN, &info);
        assert_true(!status || (!once && (status == SADDLE_MEMORY_LIMIT || status == SADDLE_NOT_CONVERGED)));
        assert_true(info.peak_bytes <= limit);
        once = once || !status;
        if (!status) ++solved[info.method];
        saddle_destroy(&s);
    }
    assert_true(solved[SADDLE_METHOD_DIRECT] > 0);
    view_free(&A);
    dense_free(&d);
}

/* ---- device auto ---- */

/* A line of tests/data/device/figures.tsv, which says what it is. */
typedef struct figure {
    char system[40];
    sd_counts counts;
    double cpu, gpu; /* milliseconds */
} figure;

/* Those with both times in one run come first. */
enum { FIGURES_MOST = 100, TOGETHER = 35 };

static int read_figures(figure *figures)
{
    char path[4096], line[512], cpu[24], gpu[24];
    const char *folder = getenv("SADDLE_TEST_DATA");
    int count = 0, again;
    snprintf(path, sizeof path, "%s/device/figures.tsv", folder ? folder : "tests/data");
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, file) && count < FIGURES_MOST) {
        figure *f = &figures[count];
        sd_counts *k = &f->counts;
        if (line[0] == '#') continue;
        const int read = sscanf(line, "%39s %lf %lf %lf %lf %lf %lf %lf %lf %lf %d %23s %23s", f->system,
                                &k->rows, &k->entries, &k->fronts, &k->levels, &k->flops, &k->critical,
                                &k->factor_entries, &k->delayed, &k->suspects, &again, cpu, gpu);
        assert_int_equal(read, 13);
        k->again = again;
        f->cpu = strcmp(cpu, "-") == 0 ? NAN : strtod(cpu, NULL);
        f->gpu = strcmp(gpu, "-") == 0 ? NAN : strtod(gpu, NULL);
        ++count;
    }
    fclose(file);
    return count;
}

/* A solver that is used for ever takes at most 1.3 times as long as on the better side, and one that is used
 * once opens no device for it. */
static void measured_systems_go_to_the_better_side(void **state)
{
    (void)state;
    const sd_policy *p = &sd_policy_default;
    figure figures[FIGURES_MOST];
    const int count = read_figures(figures);
    int moved = 0;
    assert_true(count > TOGETHER);
    for (int k = 0; k < TOGETHER; ++k) {
        const figure *f = &figures[k];
        const bool moves = sd_policy_moves(p, &f->counts, INT64_MAX, 1);
        const double taken = moves ? f->gpu : f->cpu, better = fmin(f->cpu, f->gpu);
        if (taken > 1.3 * better) fail_msg("%s: %.2f ms, but %.2f elsewhere", f->system, taken, better);
        assert_false(sd_policy_moves(p, &f->counts, 1, 0));
        assert_false(sd_policy_moves(p, &f->counts, 10, 0));
        moved += moves;
    }
    assert_true(moved >= 7);
    for (int k = TOGETHER; k < count; ++k) { /* more than a Gflop */
        const figure *f = &figures[k];
        assert_true(sd_policy_moves(p, &f->counts, INT64_MAX, 1));
        if (strcmp(f->system, "lap3d_40") == 0) {
            assert_false(sd_policy_moves(p, &f->counts, 10, 0)); /* nothing is known of its pivots yet */
            assert_true(sd_policy_moves(p, &f->counts, 10, 1));
            assert_false(sd_policy_moves(p, &f->counts, 1, 1));
        }
        if (strcmp(f->system, "lap3d_60") == 0) assert_true(sd_policy_moves(p, &f->counts, 1, 0));
    }
}

/* The longer a solver is used the sooner it moves, and what the host has to look at keeps it. */
static void what_is_counted_decides_where_it_runs(void **state)
{
    (void)state;
    sd_policy p = sd_policy_default;
    p.device = (sd_device_rule){
        .host = {.row = 2, .entry = 1, .critical = 1, .flop = 1},
        .gpu = {.call = 1, .front = 1, .level = 1, .critical = 1, .delay = 1, .suspect = 2, .again = 50},
        .open = 5,
        .plan_front = 1,
        .plan_entry = 1};
    sd_counts k = {.rows = 2, .entries = 3, .fronts = 2, .levels = 1, .flops = 1, .critical = 4};
    assert_true(sd_policy_host_time(&p, &k) == 12 && sd_policy_gain(&p, &k) == 4);
    assert_false(sd_policy_moves(&p, &k, 10, 0)); /* 4 for 7 */
    assert_false(sd_policy_moves(&p, &k, 1, 1));
    assert_true(sd_policy_moves(&p, &k, 1, 2) && sd_policy_moves(&p, &k, 2, 1));
    k.factor_entries = 1;
    assert_false(sd_policy_moves(&p, &k, 2, 1)); /* 8 for 8 */
    k.delayed = k.suspects = 1;
    assert_true(sd_policy_gain(&p, &k) == 1);
    assert_true(sd_policy_moves(&p, &k, 1, 9) && !sd_policy_moves(&p, &k, 1, 8));
    k.again = true;
    assert_false(sd_policy_moves(&p, &k, INT64_MAX, INT64_MAX));
}

/* ---- memory ---- */

/* Where a stronger rung does not fit, what the weaker ones found is the answer, with its errors. It was a
 * failure that knew none. */
static void what_does_not_fit_leaves_the_best_so_far(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double b[N] = {0}, x[N];
    int solved = 0, kept = 0;
    for (int i = 2 * PART; i < N; ++i) b[i] = 1 + i % 3;
    for (int limit = 20000; limit < 200000; limit += 250) {
        char list[256];
        snprintf(list, sizeof list, "%s,max_memory=%d", natural, limit);
        saddle_solver *s = solver_with(&steep, list, NULL);
        saddle_info info = saddle_info_default();
        saddle_status status = saddle_factor(s, &A);
        if (!status) status = saddle_solve(s, 1, b, N, x, N, &info);
        solved += !status && info.method == SADDLE_METHOD_LDLT;
        if (info.reason == SADDLE_REASON_MEMORY && status == SADDLE_NOT_CONVERGED) {
            ++kept;
            assert_true(fabs(info.relative_residual - relative_residual_of(&d, b, x)) <= 1e-12);
            assert_true(info.relative_residual < 1);
            assert_true(info.tried > 0 && info.tried_list[info.tried - 1].why_left == SADDLE_REASON_MEMORY);
        }
        saddle_destroy(&s);
    }
    assert_true(solved > 0 && kept > 0);
    view_free(&A);
    dense_free(&d);
}

/* ---- cancelling and failures on the way up ---- */

typedef struct watcher {
    failing_allocator memory;
    int calls, cancel_at;
} watcher;

static void *watched_allocate(size_t bytes, void *user)
{
    return failing_allocate(bytes, &((watcher *)user)->memory);
}

static void watched_release(void *memory, void *user)
{
    failing_release(memory, &((watcher *)user)->memory);
}

static int watch(const saddle_progress *progress, void *user)
{
    watcher *w = user;
    (void)progress;
    return ++w->calls == w->cancel_at;
}

/* A call that is cancelled, or has no memory, at any time on the ladder says so, and leaves nothing behind;
 * the next one is as good as ever. */
static void every_rung_may_be_cancelled_or_fail(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    int cancelled = 0, failed = 0;
    sd_policy raced = steep; /* and after a race that is lost at once */
    raced.race = (sd_race_rule){.entries = 1, .step_row = 1, .signed_first = 1};
    for (int turn = 0; turn < 4; ++turn) {
        const bool memory = turn & 1;
        for (int at = 1;; ++at) {
            watcher w = {0};
            const saddle_hooks hooks = {.size = sizeof hooks,
                                        .allocate = watched_allocate,
                                        .release = watched_release,
                                        .progress = watch,
                                        .user = &w};
            saddle_solver *s = solver_with(turn < 2 ? &steep : &raced,
                                           turn < 2 ? natural : "factorizations=1,certify=off", &hooks);
            assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
            double b[N] = {0}, x[N];
            for (int i = 2 * PART; i < 3 * PART; ++i) b[i] = 1;
            saddle_info info = saddle_info_default();
            w.calls = 0;
            w.memory.allocations = 0;
            w.memory.fail_at = memory ? at : 0;
            w.cancel_at = memory ? 0 : at;
            const saddle_status status = saddle_solve(s, 1, b, N, x, N, &info);
            const bool hit = memory ? w.memory.failed : w.calls >= at;
            for (int i = 0; i < N; ++i) assert_true(isfinite(x[i]));
            if (memory && hit) assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
            if (!memory && hit && status) assert_int_equal(status, SADDLE_CANCELLED);
            cancelled += !memory && hit && status;
            failed += memory && hit;
            w.cancel_at = 0;
            w.memory.fail_at = 0;
            solve_part(s, &d, 2, SADDLE_OK);
            saddle_destroy(&s);
            assert_int_equal(w.memory.live, 0);
            if (!hit) break;
        }
    }
    assert_true(cancelled >= 3 && failed > 100); /* at every rung */
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_solve_begins_with_a_race),
        cmocka_unit_test(a_race_is_longer_where_more_is_at_stake),
        cmocka_unit_test(a_race_that_is_won_plans_nothing),
        cmocka_unit_test(a_race_that_is_lost_ends_with_the_direct_solver),
        cmocka_unit_test(a_race_leaves_iterations_for_the_direct_solver),
        cmocka_unit_test(what_follows_a_race_keeps_the_limit_of_memory),
        cmocka_unit_test(what_is_cheap_goes_to_the_direct_solver),
        cmocka_unit_test(expensive_indefinite_matrices_get_ldlt_first),
        cmocka_unit_test(what_was_learned_shortens_the_ladder),
        cmocka_unit_test(expensive_definite_and_general_matrices_get_iterations_first),
        cmocka_unit_test(an_order_is_not_paid_for_in_vain),
        cmocka_unit_test(what_is_guessed_to_be_far_beyond_is_not_ordered_ahead),
        cmocka_unit_test(every_rung_is_reached_and_told),
        cmocka_unit_test(the_direct_solver_is_the_last_rung),
        cmocka_unit_test(too_expensive_a_preconditioner_gives_way_to_the_direct_solver),
        cmocka_unit_test(what_sufficed_is_learned_for_the_pattern),
        cmocka_unit_test(what_is_learned_does_not_depend_on_who_ends_last),
        cmocka_unit_test(the_limit_of_memory_leaves_the_direct_solver_out),
        cmocka_unit_test(definite_matrices_go_from_iterations_to_the_direct_solver),
        cmocka_unit_test(measured_systems_go_to_the_better_side),
        cmocka_unit_test(what_is_counted_decides_where_it_runs),
        cmocka_unit_test(what_does_not_fit_leaves_the_best_so_far),
        cmocka_unit_test(every_rung_may_be_cancelled_or_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
