/* The crew: every task and every piece runs once, pieces within pieces, whatever the number of threads; tasks
 * by priority; runs that follow each other at once, as those of a small factorization do. */
#include "unit/helpers.h"

#include "core/barrier.h"
#include "core/crew.h"

#include <omp.h>
#include <stdatomic.h>

enum { TASKS = 200, ROUNDS = 4, PIECES = 37 };

/* Of many pieces and of few, which are given out otherwise. */
static const int32_t counts[ROUNDS] = {PIECES, 31, 1, 6};

typedef struct job {
    sd_crew *crew;
    atomic_int tasks, pieces, later;
    atomic_int each[TASKS];
} job;

typedef struct part {
    job *j;
    int32_t task;
    atomic_int done;
} part;

static void count_piece(void *what, int32_t piece)
{
    part *p = what;
    atomic_fetch_add(&p->j->pieces, piece + 1);
    atomic_fetch_add(&p->done, 1);
}

static void count_later(void *what, int32_t piece)
{
    part *p = what;
    atomic_fetch_add(&p->j->later, piece + 1);
}

/* Some pieces wait while others are made and done; the last quarter of the tasks posts another task each. */
static void run_one(void *what, int32_t item)
{
    job *j = what;
    part p = {.j = j, .task = item}, q = {.j = j, .task = item};
    sd_pieces *later = sd_crew_start(j->crew, PIECES, count_later, &q);
    for (int round = 0, done = 0; round < ROUNDS; ++round) {
        sd_crew_each(j->crew, counts[round], count_piece, &p);
        done += counts[round];
        assert_int_equal(atomic_load(&p.done), done);
    }
    sd_crew_join(j->crew, later);
    atomic_fetch_add(&j->each[item], 1);
    atomic_fetch_add(&j->tasks, 1);
    if (item >= TASKS / 4) sd_crew_post(j->crew, 1, run_one, j, item - TASKS / 4);
}

static void begin(void *what, int32_t item)
{
    job *j = what;
    (void)item;
    for (int32_t t = 3 * TASKS / 4; t < TASKS; ++t) sd_crew_post(j->crew, t % 5, run_one, j, t);
}

static void test_everything_runs_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    sd_context c;
    sd_context_init(&c, NULL, 0);
    int sum = 0;
    for (int round = 0; round < ROUNDS; ++round) sum += counts[round] * (counts[round] + 1) / 2;
    for (int k = 0; k < 4; ++k) {
        job *j = test_alloc(1, sizeof *j);
        memset(j, 0, sizeof *j);
        assert_int_equal(sd_crew_make(&c, TASKS, &j->crew), SADDLE_OK);
        for (int run = 1; run <= 3; ++run) {
            sd_crew_run(j->crew, threads[k], begin, j);
            assert_int_equal(atomic_load(&j->tasks), run * TASKS);
            assert_int_equal(atomic_load(&j->pieces), run * TASKS * sum);
            assert_int_equal(atomic_load(&j->later), run * TASKS * (PIECES * (PIECES + 1) / 2));
            for (int t = 0; t < TASKS; ++t) assert_int_equal(atomic_load(&j->each[t]), run);
        }
        sd_crew_free(&c, j->crew);
        free(j);
    }
    assert_int_equal(c.bytes, 0);
}

typedef struct sequence {
    sd_crew *crew;
    int32_t item[6];
    int count;
} sequence;

static void note(void *what, int32_t item)
{
    sequence *s = what;
    s->item[s->count++] = item;
}

static void post_some(void *what, int32_t item)
{
    sequence *s = what;
    static const double priority[] = {-1, 3, 3, 7, -1, 0};
    (void)item;
    for (int32_t k = 5; k >= 0; --k) sd_crew_post(s->crew, priority[k], note, s, k);
}

static void test_tasks_come_by_priority(void **state)
{
    (void)state;
    static const int32_t expected[] = {3, 1, 2, 5, 0, 4};
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sequence s = {0};
    assert_int_equal(sd_crew_make(&c, 6, &s.crew), SADDLE_OK);
    sd_crew_run(s.crew, 1, post_some, &s);
    assert_int_equal(s.count, 6);
    assert_memory_equal(s.item, expected, sizeof expected);
    sd_crew_free(&c, s.crew);
}

static void nothing(void *what, int32_t item)
{
    atomic_fetch_add((atomic_int *)what, item + 1);
}

static void test_many_short_runs(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_crew *crew;
    atomic_int runs = 0;
    assert_int_equal(sd_crew_make(&c, 1, &crew), SADDLE_OK);
    for (int k = 0; k < 2000; ++k) sd_crew_run(crew, 1 + k % 4, nothing, &runs);
    assert_int_equal(atomic_load(&runs), 2000);
    sd_crew_each(NULL, 4, nothing, &runs);
    assert_int_equal(atomic_load(&runs), 2010);
    sd_crew_free(&c, crew);
}

/* Each thread counts, waits, and finds that all have counted. */
static void test_barrier_lets_none_through_early(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 8};
    for (int k = 0; k < 3; ++k) {
        sd_barrier barrier;
        atomic_int count = 0, early = 0;
        int plain[8] = {0}; /* each its own; the neighbour's is read after the barrier */
        sd_barrier_make(&barrier, threads[k]);
#pragma omp parallel num_threads(threads[k])
        {
#pragma omp for schedule(static, 1)
            for (int t = 0; t < threads[k]; ++t) {
                for (int round = 1; round <= 300; ++round) {
                    atomic_fetch_add(&count, 1);
                    plain[t] = round;
                    sd_barrier_wait(&barrier);
                    if (atomic_load(&count) < round * threads[k]) atomic_fetch_add(&early, 1);
                    if (plain[(t + 1) % threads[k]] != round) atomic_fetch_add(&early, 1);
                    sd_barrier_wait(&barrier);
                }
            }
        }
        sd_barrier_free(&barrier);
        assert_int_equal(atomic_load(&early), 0);
        assert_int_equal(atomic_load(&count), 300 * threads[k]);
    }
}

/* More threads than processors: spins in vain become short, and those that were not grow to what is most. */
static void test_spins_in_vain_become_short(void **state)
{
    (void)state;
    sd_spins s = {0};
    sd_spins_begin(&s, omp_get_num_procs() + 1);
    const int most = sd_spins_now(&s);
    assert_true(most > 0);
    sd_spun(&s, false);
    assert_int_equal(sd_spins_now(&s), most);
    for (int k = 0; k < 100; ++k) sd_spun(&s, true);
    const int least = sd_spins_now(&s);
    assert_in_range(least, 1, most / 10);
    sd_spins_begin(&s, omp_get_num_procs() + 1);
    assert_int_equal(sd_spins_now(&s), least); /* what was learnt is kept */
    for (int k = 0; k < 100; ++k) sd_spun(&s, false);
    assert_int_equal(sd_spins_now(&s), most);
    sd_spins_begin(&s, 1); /* as many as there are: it may spin for longer */
    for (int k = 0; k < 100; ++k) sd_spun(&s, false);
    assert_true(sd_spins_now(&s) > most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spins_in_vain_become_short),      cmocka_unit_test(test_everything_runs_once),
        cmocka_unit_test(test_tasks_come_by_priority),          cmocka_unit_test(test_many_short_runs),
        cmocka_unit_test(test_barrier_lets_none_through_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
