/*
 * An inertia that is told as certain is exact; one that is in doubt has bounds that hold the exact one. The
 * oracle is rational arithmetic, on families of small matrices whose signs are hard to tell: factored at
 * once; after placeholder zeros; after a positive definite matrix of the same pattern, so that experience
 * chooses Cholesky's factorization. SADDLE_TEST_FULL=1: tens of thousands of them.
 */
#include "hard_matrices.h"

#include "exact.h"

/* What a family came to. */
typedef struct tally {
    int cases, singular, doubts, wrong;
} tally;

/* Holds info against the exact inertia; `what` names the case. */
static void judge(const saddle_info *info, const dense *d, const char *what, tally *t)
{
    const exact_inertia exact = exact_inertia_of(d->n, d->a);
    const bool certain = info->inertia_certain;
    const bool same = info->inertia_positive == exact.positive && info->inertia_negative == exact.negative &&
                      info->inertia_zero == exact.zero;
    const bool within = info->negative_least <= exact.negative && exact.negative <= info->negative_most;
    if ((certain && !same) || !within) {
        print_message(
            "           %s, n %d: %lld, %lld, %lld, certain %d, negative from %lld to %lld; exactly "
            "%lld, %lld, %lld\n",
            what, d->n, (long long)info->inertia_positive, (long long)info->inertia_negative,
            (long long)info->inertia_zero, certain, (long long)info->negative_least,
            (long long)info->negative_most, (long long)exact.positive, (long long)exact.negative,
            (long long)exact.zero);
        ++t->wrong;
    }
    assert_int_equal(certain, info->inertia_doubt == SADDLE_DOUBT_NONE);
    if (certain) assert_int_equal(info->negative_least, info->negative_most);
    if (certain) assert_true(info->inertia_risk <= 1e-6);
    assert_int_equal(info->rank, info->inertia_positive + info->inertia_negative);
    assert_int_equal(info->rank + info->inertia_zero, d->n);
    ++t->cases;
    t->singular += exact.zero > 0;
    t->doubts += !certain;
}

static void tell(const char *what, const tally *t)
{
    print_message("           %s: %d, %d singular, %d in doubt, %d wrong\n", what, t->cases, t->singular,
                  t->doubts, t->wrong);
}

/* ---- what is factored before, with the same pattern ---- */

/* Half of the diagonal and a third of the other entries are zero, though stored. */
static dense placeholders(rng *r, const dense *d)
{
    dense before = dense_copy(d);
    for (int i = 0; i < d->n; ++i)
        for (int j = 0; j <= i; ++j)
            if (d->there[i * d->n + j] && rng_below(r, 6) < (i == j ? 3 : 2)) set_both(&before, i, j, 0);
    return before;
}

/* Each entry of another size. */
static dense other_sizes(rng *r, const dense *d)
{
    dense before = dense_copy(d);
    for (int i = 0; i < d->n; ++i)
        for (int j = 0; j <= i; ++j)
            if (d->there[i * d->n + j]) set_both(&before, i, j, dense_at(d, i, j) * rng_decades(r, -12, 12));
    return before;
}

/* Diagonally dominant; d gets a whole diagonal, of stored zeros where it had none. */
static dense dominant(dense *d)
{
    dense before = dense_copy(d);
    for (int i = 0; i < d->n; ++i) {
        double sum = 0;
        for (int j = 0; j < d->n; ++j) sum += i == j ? 0 : fabs(dense_at(d, i, j));
        dense_set(&before, i, i, 1.1 * sum + fabs(dense_at(d, i, i)) + 1e-3);
        d->there[i * d->n + i] = true;
    }
    return before;
}

typedef enum past { PAST_NONE, PAST_PLACEHOLDERS, PAST_OTHER_SIZES, PAST_DEFINITE } past;

static void factor_again(saddle_solver *solver, const dense *d)
{
    saddle_matrix A = view_plain(d, SADDLE_LOWER);
    if (saddle_factor(solver, &A)) fail_msg("%s", saddle_message(solver));
    view_free(&A);
}

static saddle_info info_after(rng *r, past what, dense *d, const char *list)
{
    dense before = what == PAST_PLACEHOLDERS  ? placeholders(r, d)
                   : what == PAST_OTHER_SIZES ? other_sizes(r, d)
                   : what == PAST_DEFINITE    ? dominant(d)
                                              : dense_copy(d);
    static const char *const forms[] = {"auto", "on", "off"}; /* columns or fronts */
    char all[256];
    snprintf(all, sizeof all, "%s%ssimplicial=%s", list, *list ? "," : "", forms[r ? rng_below(r, 3) : 0]);
    saddle_solver *solver = factor_dense(&before, SADDLE_LOWER, all);
    if (what == PAST_DEFINITE) assert_int_equal(info_of(solver).inertia_positive, d->n);
    if (what != PAST_NONE) factor_again(solver, d);
    const saddle_info info = info_of(solver);
    saddle_destroy(&solver);
    dense_free(&before);
    return info;
}

static void walk_families(const char *title, past what, int count, const char *list)
{
    rng r = rng_start(title);
    int wrong = 0;
    for (int f = 0; f < FAMILIES_ALL; ++f) {
        tally t = {0, 0, 0, 0};
        for (int k = 0; k < count; ++k) {
            rng own = {rng_next(&r)};
            char name[128];
            snprintf(name, sizeof name, "%s, %s, number %d", title, FAMILIES[f].name, k);
            dense d = FAMILIES[f].make(&own);
            const saddle_info info = info_after(&own, what, &d, list);
            judge(&info, &d, name, &t);
            dense_free(&d);
        }
        if (t.doubts > 0 || t.wrong > 0 || is_full()) tell(FAMILIES[f].name, &t);
        if (FAMILIES[f].whole) assert_true(t.doubts <= 1 + t.cases / 50);
        wrong += t.wrong;
    }
    assert_int_equal(wrong, 0);
}

static int cases(void)
{
    return is_slow() ? 4 : is_full() ? 400 : 10;
}

static void certain_counts_are_exact(void **state)
{
    (void)state;
    walk_families("factored at once", PAST_NONE, cases(), "");
}

static void certain_counts_are_exact_after_placeholder_zeros(void **state)
{
    (void)state;
    walk_families("after placeholder zeros", PAST_PLACEHOLDERS, cases(), "");
}

static void certain_counts_are_exact_after_entries_of_other_sizes(void **state)
{
    (void)state;
    walk_families("after entries of other sizes", PAST_OTHER_SIZES, cases(), "");
}

static void certain_counts_are_exact_after_a_positive_definite_matrix(void **state)
{
    (void)state;
    walk_families("after a positive definite matrix", PAST_DEFINITE, cases(), "");
}

static void certain_counts_are_exact_whatever_the_options(void **state)
{
    (void)state;
    static const char *const lists[] = {"device=reference", "scaling=ruiz,order=natural",
                                        "pairs=off,order=amd", "scaling=none,threshold=0.5",
                                        "threshold=1e-8,factorization=ldlt"};
    for (int k = 0; k < 5; ++k) walk_families(lists[k], PAST_NONE, 1 + cases() / 5, lists[k]);
}

/* ---- every 3x3 of small whole numbers ---- */

static void every_3x3_of_small_whole_numbers(void **state)
{
    (void)state;
    tally t = {0, 0, 0, 0};
    for (int k = 0; k < SMALL_ALL; k += small_step()) {
        dense d = small_numbers(k);
        char name[64];
        snprintf(name, sizeof name, "3x3, number %d", k);
        const saddle_info info = info_after(NULL, PAST_NONE, &d, "");
        judge(&info, &d, name, &t);
        dense_free(&d);
    }
    tell("3x3", &t);
    assert_int_equal(t.wrong, 0);
    assert_int_equal(t.doubts, 0);
}

/* ---- entries that are lost ---- */

/* Entries from 1e-310 to 1e288. The powers of two that balance the first matrix would leave nothing of an
 * entry of the second, where three larger ones of the first are zero, and a sign depends on it. */
static void a_balance_that_loses_entries_is_made_anew(void **state)
{
    (void)state;
    static const struct {
        int i, j;
        double value;
        bool gone;
    } entries[] = {{1, 0, 9.2945718957248647e157, true},    {1, 1, -7.0137899168268897e-192, false},
                   {2, 0, -2.1416968802911359e-220, false}, {2, 2, -2, false},
                   {3, 0, -2.6075084279381266e-310, false}, {3, 1, 3.6678177336340401e-227, false},
                   {3, 2, 1.7662235235636024e-203, false},  {4, 0, 6.7117040251545667e-161, false},
                   {4, 4, -2.564030621693884e288, false},   {5, 0, 1.407490981457599e-39, true},
                   {5, 4, -3.9272536778968755e-73, false},  {5, 5, 9.8002116528947231e-176, true}};
    static const char *const lists[] = {"", "simplicial=off", "replan=off", "device=reference"};
    tally t = {0, 0, 0, 0};
    for (int l = 0; l < 4; ++l) {
        dense before = dense_new(6), after = dense_new(6);
        for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) {
            set_both(&before, entries[k].i, entries[k].j, entries[k].value);
            set_both(&after, entries[k].i, entries[k].j, entries[k].gone ? 0 : entries[k].value);
        }
        saddle_solver *solver = factor_dense(&before, SADDLE_LOWER, lists[l]);
        saddle_info info = info_of(solver);
        judge(&info, &before, "before", &t);
        factor_again(solver, &after);
        info = info_of(solver);
        judge(&info, &after, "after", &t);
        saddle_destroy(&solver);
        dense_free(&before);
        dense_free(&after);
    }
    tell("entries that balancing may lose", &t);
    assert_int_equal(t.wrong, 0);
    assert_int_equal(t.doubts, 0);
}

/* A matrix with an eigenvalue of 1e-33, which only the last digits of double-double tell from zero, in all
 * sizes: what is told is the same, and right. */
static void powers_of_two_do_not_change_a_verdict(void **state)
{
    (void)state;
    static const struct {
        int i, j;
        double value;
    } entries[] = {
        {1, 0, -1.7729002186765166e301}, {3, 1, 9.2003441399181208e300},  {4, 1, -6.8556044706246397e300},
        {5, 2, -8.8554307278470731e300}, {5, 4, 9.8241848188141518e300},  {5, 5, -4.6535757723619798e300},
        {6, 0, 1.1092152762829306e301},  {6, 1, -1.1342447655778612e301}, {6, 3, -5.7561966316838466e300},
        {6, 4, -4.2892099210451345e300}, {7, 4, 4.7009005092781476e300},  {7, 5, 4.453498610157757e300}};
    static const int powers[] = {0, -1, -10, -300, -745, -999, -1001, -1300, -1900};
    static const char *const lists[] = {"", "pairs=on,simplicial=on", "device=reference"};
    tally t = {0, 0, 0, 0};
    for (int l = 0; l < 3; ++l) {
        saddle_info first = saddle_info_default();
        for (int p = 0; p < 9; ++p) {
            dense d = dense_new(8);
            for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k)
                set_both(&d, entries[k].i, entries[k].j, ldexp(entries[k].value, powers[p]));
            saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, lists[l]);
            const saddle_info info = info_of(solver);
            judge(&info, &d, lists[l], &t);
            if (p == 0) first = info;
            assert_int_equal(info.inertia_doubt, first.inertia_doubt);
            assert_int_equal(info.inertia_negative, first.inertia_negative);
            assert_int_equal(info.inertia_zero, first.inertia_zero);
            saddle_destroy(&solver);
            dense_free(&d);
        }
    }
    tell("powers of two", &t);
    assert_int_equal(t.wrong, 0);
}

/* (I B'; B 0), two rows of B within a rounding of a multiple of a third. Of a 2x2 pivot made of rounding the
 * larger eigenvalue is called zero, the smaller one is just too large for that. */
static void a_pair_is_not_made_zero_by_half(void **state)
{
    (void)state;
    enum { VARIABLES = 11, ROWS = 18 };
    static const struct {
        int i, j;
        double value;
    } entries[] = {{11, 0, -0.5206368330380493},
                   {11, 2, 0.3333347177091581},
                   {11, 5, 0.9465210230112748},
                   {11, 9, -0.1047136888164939},
                   {12, 1, -0.6595694716585367},
                   {12, 4, 0.3830284942485103},
                   {12, 5, -1.7256852091475863},
                   {12, 6, 0},
                   {12, 7, -1.7589317789408192},
                   {12, 8, 0},
                   {12, 10, 0.19699398593947606},
                   {13, 1, -0.32978473582926865},
                   {13, 4, 0.19151424712425494},
                   {13, 5, -0.8628426045737959},
                   {13, 6, 0},
                   {13, 7, -0.8794658894704084},
                   {13, 10, 0.09849699296973806},
                   {14, 5, -0.23497228921791713},
                   {14, 9, -0.036131892896147155},
                   {15, 1, 0.32978473582926804},
                   {15, 4, -0.1915142471242557},
                   {15, 5, 0.8628426045737996},
                   {15, 7, 0.7663085310659261},
                   {16, 7, -0.05657867920224313},
                   {16, 10, 0.049248496484869175},
                   {17, 4, -0.7384261440354227},
                   {17, 7, -0.3109493891848698},
                   {17, 10, 0.16847957411854564}};
    static const char *const lists[] = {"", "threshold=1e-3,order=metis,simplicial=on",
                                        "threshold=0.1,order=metis,scaling=ruiz", "simplicial=off"};
    tally t = {0, 0, 0, 0};
    dense d = dense_new(ROWS);
    for (int i = 0; i < VARIABLES; ++i) dense_set(&d, i, i, 1);
    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k)
        set_both(&d, entries[k].i, entries[k].j, entries[k].value);
    for (int l = 0; l < 4; ++l) {
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, lists[l]);
        const saddle_info info = info_of(solver);
        judge(&info, &d, lists[l], &t);
        saddle_destroy(&solver);
    }
    dense_free(&d);
    tell("rows within a rounding", &t);
    assert_int_equal(t.wrong, 0);
}

/* ---- zeros ---- */

/* The part with an exact zero and a null vector of large entries does not hide what is small in another part;
 * nor is a pivot of 1e-30 a zero: (1, 1 + e; 1 + e, 1 + 2e) has the determinant -e^2. */
static void zeros_hide_no_signs(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        int n;
        double rows[36];
    } cases[] = {
        {"scaling=none", 3, {1, 1, 0, 1, 1, 0, 0, 0, -1e-30}},
        {"scaling=none,order=natural", 6, {1, -64, 0,    0,   0, 0, -64, 4097, -64, 0,    0, 0,
                                           0, -64, 4097, -64, 0, 0, 0,   0,    -64, 4096, 0, 0,
                                           0, 0,   0,    0,   1, 1, 0,   0,    0,   0,    1, 1 - 0x1p-52}},
        {"", 2, {1, 1 + 0x1p-50, 1 + 0x1p-50, 1 + 0x1p-49}},
        {"scaling=ruiz,order=natural", /* singular by its pattern */
         5,
         {0.22566903081450948,
          -2.7124427558024395,
          0,
          0,
          0,
          -2.7124427558024395,
          0,
          -3.5210184262723403,
          0,
          0,
          0,
          -3.5210184262723403,
          0,
          -0.05963080389577666,
          -1.2314954429016136,
          0,
          0,
          -0.05963080389577666,
          0,
          0,
          0,
          0,
          -1.2314954429016136,
          0,
          0}},
        {"", /* a Laplacian, its row sums rounded */
         3,
         {0.003114976532490996, -0.0007403869946324123, -0.0023745895378585835, -0.0007403869946324123,
          0.0008118712087673268, -7.148421413491447e-05, -0.0023745895378585835, -7.148421413491447e-05,
          0.002446073751993498}},
    };
    tally t = {0, 0, 0, 0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        dense d = dense_from(cases[k].n, cases[k].rows);
        const saddle_info info = info_after(NULL, PAST_NONE, &d, cases[k].list);
        judge(&info, &d, cases[k].list, &t);
        dense_free(&d);
    }
    assert_int_equal(t.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_counts_are_exact),
        cmocka_unit_test(certain_counts_are_exact_after_placeholder_zeros),
        cmocka_unit_test(certain_counts_are_exact_after_entries_of_other_sizes),
        cmocka_unit_test(certain_counts_are_exact_after_a_positive_definite_matrix),
        cmocka_unit_test(certain_counts_are_exact_whatever_the_options),
        cmocka_unit_test(every_3x3_of_small_whole_numbers),
        cmocka_unit_test(a_balance_that_loses_entries_is_made_anew),
        cmocka_unit_test(powers_of_two_do_not_change_a_verdict),
        cmocka_unit_test(a_pair_is_not_made_zero_by_half),
        cmocka_unit_test(zeros_hide_no_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
