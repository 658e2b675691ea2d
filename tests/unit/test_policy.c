/*
 * The policy of `auto`: which ladder it makes of what it knows, when it orders, guesses and races, and where
 * a solver runs. test_ladder.c has what solvers do on such ladders.
 */
#include "helpers.h"
#include "inside.h"

#include <math.h>

/* ---- ladders ---- */

static const sd_outlook symmetric = {
    .symmetric = true, .n = 1000, .nnz = 10000, .planned = true, .fits = true};

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_solve_begins_with_a_race),
        cmocka_unit_test(a_race_is_longer_where_more_is_at_stake),
        cmocka_unit_test(what_is_cheap_goes_to_the_direct_solver),
        cmocka_unit_test(expensive_indefinite_matrices_get_ldlt_first),
        cmocka_unit_test(what_was_learned_shortens_the_ladder),
        cmocka_unit_test(expensive_definite_and_general_matrices_get_iterations_first),
        cmocka_unit_test(an_order_is_not_paid_for_in_vain),
        cmocka_unit_test(what_is_guessed_to_be_far_beyond_is_not_ordered_ahead),
        cmocka_unit_test(measured_systems_go_to_the_better_side),
        cmocka_unit_test(what_is_counted_decides_where_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
