/* The judge of a race: an iteration of a known rate goes on as long as it is predicted to be worth it. */
#include "helpers.h"

#include "solve/race.h"

/* The iteration at which a race of so many digits an iteration, to 10 of them, is given up; 0: it was won. */
static int64_t run(sd_race race, double rate)
{
    for (int64_t k = 1; rate * (double)k < 10; ++k) {
        const double norm = pow(10, -rate * (double)k);
        if (!sd_race_goes_on(&race, k, norm, norm / 1e-10)) return k;
        if (k == 10000) fail_msg("a race of %g digits an iteration goes on for ever", rate);
    }
    return 0;
}

static void it_goes_on_as_long_as_it_pays(void **state)
{
    (void)state;
    const sd_race race = {.first = 20, .most = 100, .limit = 1000};
    assert_int_equal(run(race, 0.2), 0);       /* 50 iterations */
    assert_int_equal(run(race, 0.102), 0);     /* 99 */
    assert_in_range(run(race, 0.095), 20, 40); /* 106 */
    assert_in_range(run(race, 0.001), 20, 40);
}

static void it_is_not_judged_before_the_first_iterations(void **state)
{
    (void)state;
    assert_int_equal(run((sd_race){.first = 60, .most = 10, .limit = 1000}, 0.2), 0);
    assert_in_range(run((sd_race){.first = 30, .most = 10, .limit = 1000}, 0.2), 30, 45);
}

static void what_there_will_not_be_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(run((sd_race){.first = 20, .most = 1e9, .limit = 2000}, 0.01), 0); /* 1000 */
    assert_in_range(run((sd_race){.first = 20, .most = 1e9, .limit = 500}, 0.01), 20, 40);
}

static void count_look(sd_race *race)
{
    ++*(int *)race->self;
    race->most = 100;
}

static void more_is_found_out_once_and_not_before_it_is_needed(void **state)
{
    (void)state;
    int looks = 0;
    const sd_race race = {.first = 20, .most = 10, .limit = 1000, .look = count_look, .self = &looks};
    assert_int_equal(run(race, 1), 0); /* 10 iterations */
    assert_int_equal(looks, 0);
    assert_int_equal(run(race, 0.2), 0);
    assert_int_equal(looks, 1);
}

static void one_that_stands_still_is_given_up(void **state)
{
    (void)state;
    sd_race race = {.first = 20, .most = 1e9, .limit = 1e9};
    int64_t k = 1;
    while (k < 1000 && sd_race_goes_on(&race, k, 0.5, 1e9)) ++k;
    assert_in_range(k, 20, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_on_as_long_as_it_pays),
        cmocka_unit_test(it_is_not_judged_before_the_first_iterations),
        cmocka_unit_test(what_there_will_not_be_is_not_waited_for),
        cmocka_unit_test(more_is_found_out_once_and_not_before_it_is_needed),
        cmocka_unit_test(one_that_stands_still_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
