/*
 * The preparation as a user sees it: every choice of every option on random matrices gives a valid order,
 * scaling, pairs and blocks, whose measures a dense oracle confirms; views of the same matrix give the same
 * result; what cannot be used is refused by name; nothing leaks.
 */
#include "helpers.h"

#include "failing_allocator.h"
#include "grids.h"

enum { ROUNDS = 150, SCALINGS = 6, ORDERS = 5, BLOCKINGS = 11 };

static saddle_preparation prepared(const saddle_matrix *A, const saddle_options *o, const saddle_given *given)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_preparation p;
    if (saddle_prepare(A, o, given, NULL, &p, message) != SADDLE_OK) fail_msg("%s", message);
    return p;
}

static void assert_refused(const saddle_matrix *A, const saddle_options *o, const saddle_given *given,
                           saddle_status status, const char *part)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_preparation p;
    assert_int_equal(saddle_prepare(A, o, given, NULL, &p, message), status);
    assert_contains(message, part);
    assert_null(p.permutation);
    assert_null(p.row_scale);
}

/* A saddle-point matrix [H B'; B 0] with a zero block: its pairs are a must. */
static dense saddle_point(rng *r, int n)
{
    dense d = dense_random(r, n, 0.15, true);
    for (int i = 0; i < n; ++i) {
        dense_set(&d, i, i, i < n / 2 ? 0.0 : rng_sixteenth(r) / 1024);
        const double value = 1.0 + rng_below(r, 16) / 16.0;
        dense_set(&d, i, (i + n / 2) % n, value);
        dense_set(&d, (i + n / 2) % n, i, value);
    }
    return d;
}

/* B of saddle.h's section 7, dense. */
static dense prepared_matrix(const dense *d, const saddle_preparation *p)
{
    dense b = dense_new(d->n);
    for (int k = 0; k < d->n; ++k) {
        for (int l = 0; l < d->n; ++l) {
            const int i = p->row_permutation[k], j = p->permutation[l];
            if (!d->there[i * d->n + j]) continue;
            dense_set(&b, k, l, p->row_scale[i] * dense_at(d, i, j) * p->col_scale[j]);
        }
    }
    return b;
}

/* Entries of L and the sum of their squares by column, by elimination on the dense pattern of B + B'. */
static void symbolic(const dense *b, int64_t *nnz, double *flops)
{
    const int n = b->n;
    bool *full = test_alloc((size_t)n * (size_t)n, sizeof *full);
    *nnz = 0;
    *flops = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) full[i * n + j] = b->there[i * n + j] || b->there[j * n + i];
    for (int k = 0; k < n; ++k) {
        int count = 1;
        for (int i = k + 1; i < n; ++i) {
            if (!full[i * n + k]) continue;
            ++count;
            for (int j = k + 1; j < n; ++j) full[i * n + j] = full[i * n + j] || full[k * n + j];
        }
        for (int i = k + 1; i < n; ++i) full[k * n + i] = full[i * n + k];
        *nnz += count;
        *flops += (double)count * count;
    }
    free(full);
}

static void assert_blocks(const saddle_preparation *p, int most)
{
    assert_int_equal(p->block_start[0], 0);
    assert_int_equal(p->block_start[p->blocks], p->n);
    for (int64_t k = 0; k < p->blocks; ++k)
        assert_in_range(p->block_start[k + 1] - p->block_start[k], 1, most);
}

/* Partners are mutual and stand side by side, in one block unless a grid or single rows cut them. */
static void assert_pairs(const dense *d, const saddle_preparation *p)
{
    int *position = test_alloc((size_t)d->n, sizeof *position),
        *block = test_alloc((size_t)d->n, sizeof *block);
    int64_t pairs = 0;
    for (int64_t b = 0; b < p->blocks; ++b)
        for (int k = p->block_start[b]; k < p->block_start[b + 1]; ++k) block[k] = (int)b;
    for (int k = 0; k < d->n; ++k) position[p->permutation[k]] = k;
    for (int i = 0; i < d->n; ++i) {
        const int j = p->partner[i];
        if (j < 0) continue;
        ++pairs;
        assert_int_equal(p->partner[j], i);
        assert_true(dense_at(d, i, j) != 0);
        assert_int_equal(abs(position[i] - position[j]), 1);
        if (p->blocking > SADDLE_BLOCKING_GRID) assert_int_equal(block[position[i]], block[position[j]]);
    }
    assert_int_equal(pairs, 2 * p->two_by_two);
    free(position);
    free(block);
}

static void assert_matching(const dense *d, const saddle_preparation *p)
{
    bool *used = test_alloc((size_t)d->n, sizeof *used);
    int64_t count = 0;
    double sum = 0;
    for (int j = 0; j < d->n; ++j) {
        const int i = p->matching[j];
        if (i < 0) continue;
        assert_in_range(i, 0, d->n - 1);
        assert_false(used[i]);
        used[i] = true;
        assert_true(dense_at(d, i, j) != 0);
        ++count;
        sum += log(fabs(dense_at(d, i, j)));
    }
    assert_int_equal(count, p->structural_rank);
    assert_true(fabs(sum - p->log_product) <= 1e-9 * (1 + fabs(sum)));
    free(used);
}

static void check_everything(const dense *d, const saddle_preparation *p, int most)
{
    int64_t nnz;
    double flops;
    assert_int_equal(p->n, d->n);
    assert_permutation(p->permutation, d->n);
    assert_permutation(p->row_permutation, d->n);
    for (int i = 0; i < d->n; ++i) {
        assert_true(isfinite(p->row_scale[i]) && p->row_scale[i] > 0);
        assert_true(isfinite(p->col_scale[i]) && p->col_scale[i] > 0);
    }
    if (p->symmetric) {
        assert_ptr_equal(p->row_scale, p->col_scale);
        assert_ptr_equal(p->permutation, p->row_permutation);
    }
    dense b = prepared_matrix(d, p);
    symbolic(&b, &nnz, &flops);
    assert_int_equal(p->factor_nnz, nnz);
    assert_true(p->factor_flops == flops);
    if (p->matching) assert_matching(d, p);
    assert_int_equal(p->pairs == SADDLE_ON && p->symmetric, p->partner != NULL);
    assert_int_equal(p->block_size, p->blocking == SADDLE_BLOCKING_NONE ? 1 : most);
    assert_blocks(p, p->block_size);
    if (p->partner) assert_pairs(d, p);
    dense_free(&b);
}

static void every_choice_gives_a_valid_preparation(void **state)
{
    (void)state;
    rng r = rng_start("every choice");
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 3) > 0;
        const int n = 1 + rng_below(&r, 40);
        dense d = symmetric && rng_below(&r, 2) ? saddle_point(&r, n) : dense_random(&r, n, 0.2, symmetric);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric));
        saddle_options o = saddle_options_default();
        o.scaling = rng_below(&r, SCALINGS);
        o.order = rng_below(&r, ORDERS);
        o.blocking = rng_below(&r, BLOCKINGS);
        o.pairs = rng_below(&r, 3);
        o.block_size = 2 + rng_below(&r, 31);
        if (o.blocking == SADDLE_BLOCKING_PAIRS) o.pairs = SADDLE_AUTO;
        saddle_preparation p = prepared(&A, &o, NULL);
        check_everything(&d, &p, (int)o.block_size);
        saddle_preparation_free(&p, NULL);
        assert_null(p.permutation);
        view_free(&A);
        dense_free(&d);
    }
}

static void the_default_bounds_all_entries_by_one(void **state)
{
    (void)state;
    rng r = rng_start("bounded by one");
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 1 + rng_below(&r, 30), 0.3, symmetric);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric));
        saddle_preparation p = prepared(&A, NULL, NULL);
        dense b = prepared_matrix(&d, &p);
        for (int k = 0; k < d.n * d.n; ++k) assert_true(fabs(b.a[k]) <= 1 + 1e-10);
        if (p.structural_rank == d.n) assert_true(fabs(p.log_scaled) <= 1e-10 * d.n);
        if (!p.symmetric && p.structural_rank == d.n)
            for (int k = 0; k < d.n; ++k) assert_true(fabs(b.a[k * d.n + k]) >= 1 - 1e-10);
        dense_free(&b);
        saddle_preparation_free(&p, NULL);
        view_free(&A);
        dense_free(&d);
    }
}

/* Six hundred decades need scales beyond the range: what is cut off must not lift an entry above 1. */
static void scales_that_are_cut_off_bound_all_entries_too(void **state)
{
    (void)state;
    rng r = rng_start("cut off");
    int cut = 0;
    for (int round = 0; round < 20 * ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 2 + rng_below(&r, 8), 0.4, symmetric);
        for (int i = 0; i < d.n; ++i) {
            for (int j = 0; j < d.n; ++j) {
                if (!d.there[i * d.n + j] || (symmetric && j < i)) continue;
                d.a[i * d.n + j] = pow(10.0, 300.0 * rng_unit(&r));
                if (symmetric) d.a[j * d.n + i] = d.a[i * d.n + j];
            }
        }
        saddle_matrix A = view_plain(&d, symmetric ? SADDLE_LOWER : SADDLE_GENERAL);
        saddle_options o = saddle_options_default();
        o.scaling = rng_below(&r, 2) ? SADDLE_SCALING_MC64 : SADDLE_SCALING_AUCTION;
        saddle_preparation p = prepared(&A, &o, NULL);
        dense b = prepared_matrix(&d, &p);
        for (int k = 0; k < d.n * d.n; ++k)
            if (!(fabs(b.a[k]) <= 1 + 1e-10)) fail_msg("round %d: an entry is %g", round, b.a[k]);
        for (int i = 0; i < d.n; ++i) cut += p.row_scale[i] < 1e-300 || p.row_scale[i] > 1e300;
        dense_free(&b);
        saddle_preparation_free(&p, NULL);
        view_free(&A);
        dense_free(&d);
    }
    assert_true(cut > 0);
}

static void assert_same(const saddle_preparation *a, const saddle_preparation *b)
{
    const size_t n = (size_t)a->n;
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->row_scale, b->row_scale, n * sizeof *a->row_scale);
    assert_memory_equal(a->permutation, b->permutation, n * sizeof *a->permutation);
    assert_int_equal(a->blocks, b->blocks);
    assert_memory_equal(a->block_start, b->block_start, (size_t)(a->blocks + 1) * sizeof *a->block_start);
    assert_int_equal(a->partner != NULL, b->partner != NULL);
    if (a->partner) assert_memory_equal(a->partner, b->partner, n * sizeof *a->partner);
    assert_int_equal(a->factor_nnz, b->factor_nnz);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->stored_entries, b->stored_entries);
}

static void views_of_one_matrix_give_one_preparation(void **state)
{
    (void)state;
    rng r = rng_start("views");
    for (int round = 0; round < 30; ++round) {
        dense d = saddle_point(&r, 10 + rng_below(&r, 40));
        saddle_options o = saddle_options_default();
        o.blocking = rng_below(&r, BLOCKINGS);
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        saddle_preparation p = prepared(&A, &o, NULL);
        for (int k = 0; k < 4; ++k) {
            saddle_matrix other = view_make(&r, &d, rng_style(&r, true));
            saddle_preparation q = prepared(&other, &o, NULL);
            assert_same(&p, &q);
            saddle_preparation_free(&q, NULL);
            view_free(&other);
        }
        saddle_preparation_free(&p, NULL);
        view_free(&A);
        dense_free(&d);
    }
}

static void what_the_user_gives_is_used(void **state)
{
    (void)state;
    rng r = rng_start("given");
    dense d = dense_random(&r, 12, 0.3, true);
    saddle_matrix A = view_plain(&d, SADDLE_UPPER);
    int32_t order[12];
    double scale[12];
    for (int k = 0; k < 12; ++k) {
        order[k] = (5 * k + 3) % 12;
        scale[k] = ldexp(1.0, k - 6);
    }
    const saddle_given given = {.row_scale = scale, .permutation = order};
    saddle_options o = saddle_options_default();
    o.scaling = SADDLE_SCALING_USER;
    o.order = SADDLE_ORDER_USER;
    saddle_preparation p = prepared(&A, &o, &given);
    assert_memory_equal(p.permutation, order, sizeof order);
    assert_memory_equal(p.row_scale, scale, sizeof scale);
    assert_null(p.partner);
    saddle_preparation_free(&p, NULL);

    order[4] = order[7];
    assert_refused(&A, &o, &given, SADDLE_BAD_ARGUMENT, "position 8");
    order[4] = 12;
    assert_refused(&A, &o, &given, SADDLE_BAD_ARGUMENT, "position 5");
    order[4] = -1;
    assert_refused(&A, &o, &given, SADDLE_BAD_ARGUMENT, "position 5");
    order[4] = (5 * 4 + 3) % 12;
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (int k = 0; k < 4; ++k) {
        scale[9] = bad[k];
        assert_refused(&A, &o, &given, SADDLE_BAD_VALUE, "10");
    }
    assert_refused(&A, &o, NULL, SADDLE_BAD_ARGUMENT, "permutation");
    o.order = SADDLE_ORDER_AUTO;
    assert_refused(&A, &o, NULL, SADDLE_BAD_ARGUMENT, "row_scale");
    view_free(&A);
    dense_free(&d);
}

enum { RANDOM_ROWS = 2500, NEEDY_ROWS = 300 };

/*
 * A random graph with this many edges a row, whose factorization is costly, and apart from it a few pairs of
 * rows without diagonal, too few to decide. With `matched` every row of the graph has its partner, which it
 * could do without and which makes the order of pairs more expensive; with `holes` one of both has 0 on its
 * diagonal and no other neighbour.
 */
static saddle_matrix costly_matrix(rng *r, int degree, bool matched, bool holes)
{
    const int n = RANDOM_ROWS + NEEDY_ROWS, room = RANDOM_ROWS * (degree + 2) + NEEDY_ROWS;
    int32_t *row = test_alloc((size_t)room, sizeof *row), *col = test_alloc((size_t)room, sizeof *col);
    double *value = test_alloc((size_t)room, sizeof *value);
    int count = 0;
    for (int i = 0; i < RANDOM_ROWS; ++i) {
        row[count] = col[count] = i;
        value[count++] = holes && i % 2 ? 0 : matched ? 0.3 : 1.0;
        for (int k = 0; k < degree; ++k) {
            const int j = rng_below(r, RANDOM_ROWS);
            if (j == i || j / 2 == i / 2 || (holes && (i % 2 || j % 2))) continue;
            row[count] = i > j ? i : j;
            col[count] = i > j ? j : i;
            value[count++] = 0.1;
        }
        if (!matched || i % 2 == 0) continue;
        row[count] = i;
        col[count] = i - 1;
        value[count++] = 1.0;
    }
    for (int i = RANDOM_ROWS; i < n; i += 2) {
        row[count] = i + 1;
        col[count] = i;
        value[count++] = 1.0;
    }
    const saddle_matrix A = {.size = sizeof A,
                             .rows = n,
                             .columns = n,
                             .entries = count,
                             .layout = SADDLE_COORDINATES,
                             .shape = SADDLE_LOWER,
                             .indices = row,
                             .col_indices = col,
                             .values = value};
    return A;
}

/* Two orderings only where the values leave it open and the work is worth it; then the work decides. */
static void the_undecided_is_ordered_both_ways_where_it_is_worth_it(void **state)
{
    (void)state;
    rng r = rng_start("both ways");
    static const struct {
        int degree;
        bool matched;
        int orderings, pairs;
    } cases[] = {{1, false, 1, SADDLE_ON}, {6, false, 2, SADDLE_ON}, {6, true, 2, SADDLE_OFF}};
    for (int k = 0; k < 3; ++k) {
        saddle_matrix A = costly_matrix(&r, cases[k].degree, cases[k].matched, false);
        saddle_preparation p = prepared(&A, NULL, NULL);
        assert_int_equal(p.orderings, cases[k].orderings);
        assert_int_equal(p.pairs, cases[k].pairs);
        saddle_preparation_free(&p, NULL);
        view_free(&A);
    }
}

/* An order without pairs would save enough, but not what its missing pivots cost: rows with 0 on the diagonal
 * and a single neighbour come first. */
static void pivots_that_will_be_missing_are_charged(void **state)
{
    (void)state;
    rng r = rng_start("missing pivots");
    saddle_matrix A = costly_matrix(&r, 4, true, true);
    saddle_options o = saddle_options_default();
    o.order = SADDLE_ORDER_AMD;
    o.factorizations = 1000000;
    saddle_preparation ways[3];
    const saddle_switch pairs[] = {SADDLE_OFF, SADDLE_ON, SADDLE_AUTO};
    for (int k = 0; k < 3; ++k) {
        o.pairs = pairs[k];
        ways[k] = prepared(&A, &o, NULL);
    }
    assert_true(ways[0].factor_flops < 0.55 * ways[1].factor_flops);
    assert_int_equal(ways[2].orderings, 2);
    assert_int_equal(ways[2].pairs, SADDLE_ON);
    for (int k = 0; k < 3; ++k) saddle_preparation_free(&ways[k], NULL);
    view_free(&A);
}

/* Both ways are ordered side by side, and dissected by tasks. */
static void the_same_bits_at_any_number_of_threads(void **state)
{
    (void)state;
    rng r = rng_start("threads");
    static const int threads[] = {1, 2, 3, 5};
    for (int matched = 0; matched < 2; ++matched) {
        saddle_matrix A = costly_matrix(&r, 6, matched, false);
        saddle_options o = saddle_options_default();
        saddle_preparation first = {0};
        for (int k = 0; k < 4; ++k) {
            o.threads = threads[k];
            saddle_preparation p = prepared(&A, &o, NULL);
            assert_int_equal(p.orderings, 2);
            if (k == 0) {
                first = p;
                continue;
            }
            assert_same(&first, &p);
            saddle_preparation_free(&p, NULL);
        }
        saddle_preparation_free(&first, NULL);
        view_free(&A);
    }
}

/* The order by degree is enough for one factorization, not for many: what is predicted falls then. */
static void expected_factorizations_pay_for_an_order(void **state)
{
    (void)state;
    grid_problem g = grid_new(60, 1);
    saddle_options o = saddle_options_default();
    o.pairs = SADDLE_OFF;
    o.factorizations = 1;
    saddle_preparation once = prepared(&g.A, &o, NULL);
    o.factorizations = 1000000;
    saddle_preparation often = prepared(&g.A, &o, NULL);
    o.max_memory = once.peak_bytes; /* no room for a dissection: the order that is there is used */
    saddle_preparation limited = prepared(&g.A, &o, NULL);
    assert_int_equal(once.order, SADDLE_ORDER_AMD);
    assert_int_equal(often.order, SADDLE_ORDER_ND);
    assert_true(often.factor_flops < once.factor_flops);
    assert_same(&once, &limited);
    saddle_preparation_free(&limited, NULL);
    saddle_preparation_free(&often, NULL);
    saddle_preparation_free(&once, NULL);
    grid_free(&g);
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("contradictions");
    dense d = saddle_point(&r, 10);
    saddle_matrix A = view_plain(&d, SADDLE_UPPER);
    saddle_options o = saddle_options_default();
    o.blocking = SADDLE_BLOCKING_PAIRS;
    o.pairs = SADDLE_OFF;
    assert_refused(&A, &o, NULL, SADDLE_BAD_OPTION, "pairs");
    o.blocking = SADDLE_BLOCKING_CLUSTERS;
    o.pairs = SADDLE_ON;
    o.block_size = 1;
    assert_refused(&A, &o, NULL, SADDLE_BAD_OPTION, "block_size");
    o.pairs = SADDLE_AUTO;
    saddle_preparation p = prepared(&A, &o, NULL);
    assert_int_equal(p.blocks, 10);
    assert_null(p.partner);
    saddle_preparation_free(&p, NULL);
    view_free(&A);
    dense_free(&d);
}

static void odd_matrices_are_prepared(void **state)
{
    (void)state;
    /* an empty row, zero diagonals, explicit zeros, one entry, six hundred decades */
    static const double rows[][9] = {{0, 1, 0, 1, 0, 0, 0, 0, 0},
                                     {0, 0, 0, 0, 0, 0, 0, 0, 0},
                                     {0, 0, 0, 0, 5, 0, 0, 0, 0},
                                     {1e-300, 1e300, 0, 1e300, 0, 1e-300, 0, 1e-300, 1e300},
                                     {5e-324, 1, 1, 1, 5e-324, 1, 1, 1, 5e-324}};
    for (int m = 0; m < 5; ++m) {
        for (int choice = 0; choice < SCALINGS * ORDERS * BLOCKINGS; ++choice) {
            dense d = dense_from(3, rows[m]);
            dense_set(&d, 0, 0, dense_at(&d, 0, 0)); /* explicit where it is zero */
            saddle_matrix A = view_plain(&d, SADDLE_UPPER);
            saddle_options o = saddle_options_default();
            o.scaling = choice % SCALINGS;
            o.order = choice / SCALINGS % ORDERS;
            o.blocking = choice / (SCALINGS * ORDERS);
            saddle_preparation p = prepared(&A, &o, NULL);
            check_everything(&d, &p, 8);
            saddle_preparation_free(&p, NULL);
            view_free(&A);
            dense_free(&d);
        }
    }
}

static void a_pattern_counts_as_ones(void **state)
{
    (void)state;
    rng r = rng_start("pattern");
    dense d = dense_random(&r, 20, 0.2, false);
    saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
    saddle_matrix pattern = A;
    pattern.values = NULL;
    saddle_preparation p = prepared(&pattern, NULL, NULL);
    for (int k = 0; k < d.n * d.n; ++k) d.a[k] = d.there[k];
    check_everything(&d, &p, 1);
    saddle_preparation_free(&p, NULL);
    view_free(&A);
    dense_free(&d);
}

static void every_failed_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int round = 0; round < 2 * BLOCKINGS; ++round) {
        const bool symmetric = round % 2;
        dense d = symmetric ? saddle_point(&r, 24) : dense_random(&r, 24, 0.2, false);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric));
        saddle_options o = saddle_options_default();
        o.blocking = round / 2;
        o.scaling = rng_below(&r, SCALINGS);
        o.order = rng_below(&r, ORDERS);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            char message[SADDLE_MESSAGE_SIZE] = "";
            saddle_preparation p;
            const saddle_status status = saddle_prepare(&A, &o, NULL, &hooks, &p, message);
            if (!status) saddle_preparation_free(&p, &hooks);
            assert_int_equal(f.live, 0);
            if (!f.failed) break;
            assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
            assert_null(p.permutation);
        }
        view_free(&A);
        dense_free(&d);
    }
}

/* The same where two orderings run at once. */
static void failed_allocations_of_threads_are_told_too(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations of threads");
    saddle_matrix A = costly_matrix(&r, 6, true, false);
    saddle_options o = saddle_options_default();
    o.threads = 2;
    for (int64_t k = 1;; k += 7) { /* which one it is depends on the threads */
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        saddle_preparation p;
        const saddle_status status = saddle_prepare(&A, &o, NULL, &hooks, &p, NULL);
        if (!status) saddle_preparation_free(&p, &hooks);
        assert_int_equal(f.live, 0);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
    }
    view_free(&A);
}

static void a_limit_of_memory_is_kept(void **state)
{
    (void)state;
    rng r = rng_start("memory limit");
    dense d = saddle_point(&r, 50);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_options o = saddle_options_default();
    saddle_preparation p = prepared(&A, &o, NULL);
    o.max_memory = p.peak_bytes;
    saddle_preparation_free(&p, NULL);
    p = prepared(&A, &o, NULL);
    saddle_preparation_free(&p, NULL);
    o.max_memory -= 1;
    assert_refused(&A, &o, NULL, SADDLE_MEMORY_LIMIT, "limit");
    view_free(&A);
    dense_free(&d);
}

static int stop_at(const saddle_progress *progress, void *user)
{
    return strcmp(progress->stage, "prepare") == 0 && progress->done == *(int64_t *)user;
}

static void every_step_can_be_cancelled(void **state)
{
    (void)state;
    rng r = rng_start("cancelled");
    dense d = saddle_point(&r, 30);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int64_t step = 0; step < 5; ++step) {
        const saddle_hooks hooks = {.size = sizeof hooks, .progress = stop_at, .user = &step};
        saddle_preparation p;
        assert_int_equal(saddle_prepare(&A, NULL, NULL, &hooks, &p, NULL), SADDLE_CANCELLED);
        assert_null(p.permutation);
    }
    view_free(&A);
    dense_free(&d);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    saddle_preparation p;
    saddle_matrix empty = {.size = sizeof empty, .pointer_bits = 32};
    memset(&p, 0xff, sizeof p); /* what a caller's stack holds */
    assert_int_equal(saddle_prepare(NULL, NULL, NULL, NULL, &p, NULL), SADDLE_BAD_ARGUMENT);
    assert_null(p.permutation);
    saddle_preparation_free(&p, NULL);
    assert_int_equal(saddle_prepare(&empty, NULL, NULL, NULL, NULL, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_prepare_sized(&empty, NULL, NULL, NULL, &p, sizeof(size_t), NULL),
                     SADDLE_BAD_ARGUMENT);
    saddle_preparation_free(NULL, NULL);
    saddle_preparation_free(&p, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_gives_a_valid_preparation),
        cmocka_unit_test(the_default_bounds_all_entries_by_one),
        cmocka_unit_test(scales_that_are_cut_off_bound_all_entries_too),
        cmocka_unit_test(views_of_one_matrix_give_one_preparation),
        cmocka_unit_test(what_the_user_gives_is_used),
        cmocka_unit_test(the_undecided_is_ordered_both_ways_where_it_is_worth_it),
        cmocka_unit_test(pivots_that_will_be_missing_are_charged),
        cmocka_unit_test(the_same_bits_at_any_number_of_threads),
        cmocka_unit_test(expected_factorizations_pay_for_an_order),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(odd_matrices_are_prepared),
        cmocka_unit_test(a_pattern_counts_as_ones),
        cmocka_unit_test(every_failed_allocation_is_told_and_nothing_leaks),
        cmocka_unit_test(failed_allocations_of_threads_are_told_too),
        cmocka_unit_test(a_limit_of_memory_is_kept),
        cmocka_unit_test(every_step_can_be_cancelled),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
