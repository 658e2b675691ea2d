/*
 * METIS as the library calls it: partitions; the caller's random numbers, signal handlers and signals stay as
 * they are; and threads at once get what one gets alone.
 */
#define _GNU_SOURCE /* random */
#include "helpers.h"

#include "failing_allocator.h"
#include "graphs.h"
#include "prepare/metis.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { ROUNDS = 400 };

static void partition_of(const sd_graph *g, int32_t parts, int32_t *part)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int v = 0; v < g->n; ++v) part[v] = -1;
    if (sd_metis_partition(&c, g, parts, part)) fail_msg("%s", c.message);
    for (int v = 0; v < g->n; ++v) assert_in_range(part[v], 0, parts - 1);
    assert_int_equal(c.bytes, 0);
}

static void random_graphs_are_partitioned(void **state)
{
    (void)state;
    rng r = rng_start("partitions");
    for (int round = 0; round < ROUNDS; ++round) {
        const int n = 1 + rng_below(&r, 120);
        adjacency a = adjacency_random(&r, n, fabs(rng_unit(&r)) * 8 / n);
        sd_graph g = graph_of(&a);
        int32_t *first = test_alloc((size_t)n, sizeof *first),
                *second = test_alloc((size_t)n, sizeof *second);
        if (rng_below(&r, 2)) give_sizes(&r, &g);
        if (rng_below(&r, 2)) give_weights(&r, &g);
        const int32_t parts = rng_below(&r, 3) ? 1 + n / 8 : 1 + rng_below(&r, n);
        partition_of(&g, parts, first);
        partition_of(&g, parts, second);
        assert_memory_equal(first, second, (size_t)n * sizeof *first);
        free(first);
        free(second);
        graph_drop(&g);
        adjacency_free(&a);
    }
}

/* A ladder whose rails are heavy, whatever the scale of its rows: all rungs are cut, where by the number of
 * edges, or in the order of the vertices, it would be the two rails half-way. */
static void partitions_cut_light_edges(void **state)
{
    (void)state;
    const int n = 64;
    for (int scaled = 0; scaled < 2; ++scaled) {
        sd_graph g = graph_grid(n / 2, 2);
        int32_t part[64];
        g.weight = test_alloc((size_t)g.ptr[n], sizeof *g.weight);
        for (int v = 0; v < n; ++v) {
            for (int64_t k = g.ptr[v]; k < g.ptr[v + 1]; ++k) {
                const int w = g.ind[k];
                const double scale = scaled ? ldexp(1.0, 10 * (v % 2 + w % 2)) : 1.0;
                g.weight[k] = scale * (w == (v ^ 1) ? 0.01 : 1.0);
            }
        }
        partition_of(&g, 2, part);
        assert_int_not_equal(part[0], part[1]);
        for (int v = 2; v < n; ++v) assert_int_equal(part[v], part[v - 2]);
        graph_drop(&g);
    }
}

static void impossible_partitions_are_refused(void **state)
{
    (void)state;
    sd_context c;
    int32_t part[10];
    sd_graph g = graph_path(10), empty = graph_path(0);
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_metis_partition(&c, &g, 0, part), SADDLE_BAD_ARGUMENT);
    assert_int_equal(sd_metis_partition(&c, &g, 11, part), SADDLE_BAD_ARGUMENT);
    assert_contains(c.message, "10 vertices cannot be partitioned into 11 parts");
    assert_int_equal(sd_metis_partition(&c, &empty, 1, part), SADDLE_OK);
    graph_drop(&empty);
    graph_drop(&g);
}

/* NOLINTBEGIN(cert-msc30-c,cert-msc32-c,cert-msc50-cpp,cert-msc51-cpp): rand is what is tested. */
static void the_callers_random_numbers_go_on_untouched(void **state)
{
    (void)state;
    int alone[20];
    sd_graph g = graph_grid(30, 30);
    int32_t part[900];
    srand(7);
    for (int k = 0; k < 20; ++k) alone[k] = k % 2 ? rand() : (int)random();
    srand(7);
    for (int k = 0; k < 20; ++k) {
        assert_int_equal(k % 2 ? rand() : (int)random(), alone[k]);
        int64_t dense_rows;
        free(order_of(&g, SADDLE_ORDER_METIS, &dense_rows));
        partition_of(&g, 100, part);
    }
    graph_drop(&g);
}

static void orders_do_not_depend_on_the_callers_random_numbers(void **state)
{
    (void)state;
    sd_graph g = graph_grid(40, 40);
    int64_t dense_rows;
    srand(1);
    int32_t *first = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
    srand(99);
    rand();
    int32_t *second = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
    assert_memory_equal(first, second, (size_t)g.n * sizeof *first);
    free(first);
    free(second);
    graph_drop(&g);
}
/* NOLINTEND(cert-msc30-c,cert-msc32-c,cert-msc50-cpp,cert-msc51-cpp) */

static void handle(int number, siginfo_t *info, void *where)
{
    (void)number;
    (void)info;
    (void)where;
}

/* METIS puts back the handlers of SIGTERM and SIGABRT that it found, but not their flags and masks. */
static void the_callers_signal_handlers_stay_as_they_are(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGABRT};
    struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART}, before[2], after;
    sigset_t mask, mask_after;
    sd_graph g = graph_grid(10, 10);
    int64_t dense_rows;
    sigemptyset(&ours.sa_mask);
    sigaddset(&ours.sa_mask, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int k = 0; k < 2; ++k) assert_int_equal(sigaction(signals[k], &ours, &before[k]), 0);
    free(order_of(&g, SADDLE_ORDER_METIS, &dense_rows));
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(sigaction(signals[k], &before[k], &after), 0);
        assert_true(after.sa_sigaction == handle);
        assert_int_equal(after.sa_flags & (SA_SIGINFO | SA_RESTART), SA_SIGINFO | SA_RESTART);
        assert_int_equal(after.sa_flags & (int)SA_RESETHAND, 0);
        assert_true(sigismember(&after.sa_mask, SIGUSR1));
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    assert_int_equal(sigismember(&mask, SIGTERM), sigismember(&mask_after, SIGTERM));
    graph_drop(&g);
}

static volatile sig_atomic_t terminations;

static void count_termination(int number)
{
    (void)number;
    ++terminations;
}

/* The timer's signal is the process's, and a BLAS has threads of its own: it is passed on to the one that
 * called METIS. */
static pthread_t caller;

static void terminate_twice(int number)
{
    if (!pthread_equal(pthread_self(), caller)) {
        pthread_kill(caller, number);
        return;
    }
    raise(SIGTERM);
    raise(SIGTERM);
}

/* METIS would take the first for its own and leave the second to end the process. */
static void a_sigterm_while_metis_runs_reaches_the_caller_afterwards(void **state)
{
    (void)state;
    struct sigaction on_term = {.sa_handler = count_termination}, on_alarm = {.sa_handler = terminate_twice};
    struct sigaction old_term, old_alarm;
    const struct itimerval soon = {.it_value = {.tv_usec = 2000}, .it_interval = {.tv_usec = 2000}},
                           never = {0};
    sd_graph g = graph_grid(200, 200);
    int64_t dense_rows;
    int32_t *calm = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
    caller = pthread_self();
    sigaction(SIGTERM, &on_term, &old_term);
    sigaction(SIGALRM, &on_alarm, &old_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    int32_t *disturbed = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old_alarm, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    assert_true(terminations > 0);
    assert_memory_equal(calm, disturbed, (size_t)g.n * sizeof *calm);
    free(calm);
    free(disturbed);
    graph_drop(&g);
}

typedef struct job {
    const sd_graph *g;
    const int32_t *order, *part; /* what must come out */
    int wrong;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    sd_context c;
    int32_t *result = malloc((size_t)j->g->n * sizeof *result);
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < 5 && result; ++round) {
        int64_t dense_rows;
        const size_t bytes = (size_t)j->g->n * sizeof *result;
        j->wrong += sd_order_graph(&c, j->g, SADDLE_ORDER_METIS, result, &dense_rows) != SADDLE_OK;
        j->wrong += memcmp(result, j->order, bytes) != 0;
        j->wrong += sd_metis_partition(&c, j->g, 200, result) != SADDLE_OK;
        j->wrong += memcmp(result, j->part, bytes) != 0;
    }
    if (!result) ++j->wrong;
    free(result);
    return NULL;
}

static void threads_at_once_get_what_one_gets_alone(void **state)
{
    (void)state;
    sd_graph g = graph_grid(40, 41);
    pthread_t threads[3];
    int32_t part[1640];
    int64_t dense_rows;
    int32_t *order = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
    partition_of(&g, 200, part);
    job jobs[3] = {{&g, order, part, 0}, {&g, order, part, 0}, {&g, order, part, 0}};
    for (int k = 0; k < 3; ++k) assert_int_equal(pthread_create(&threads[k], NULL, run_job, &jobs[k]), 0);
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
        assert_int_equal(jobs[k].wrong, 0);
    }
    free(order);
    graph_drop(&g);
}

static void every_allocation_of_a_partition_may_fail(void **state)
{
    (void)state;
    sd_graph g = graph_grid(15, 10);
    rng r = rng_start("failing allocations");
    give_sizes(&r, &g);
    give_weights(&r, &g);
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        int32_t part[150];
        sd_context_init(&c, &hooks, 0);
        const saddle_status status = sd_metis_partition(&c, &g, 20, part);
        assert_int_equal(f.live, 0);
        assert_int_equal(c.bytes, 0);
        assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
        if (!f.failed) break;
    }
    graph_drop(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_are_partitioned),
        cmocka_unit_test(partitions_cut_light_edges),
        cmocka_unit_test(impossible_partitions_are_refused),
        cmocka_unit_test(the_callers_random_numbers_go_on_untouched),
        cmocka_unit_test(orders_do_not_depend_on_the_callers_random_numbers),
        cmocka_unit_test(the_callers_signal_handlers_stay_as_they_are),
        cmocka_unit_test(a_sigterm_while_metis_runs_reaches_the_caller_afterwards),
        cmocka_unit_test(threads_at_once_get_what_one_gets_alone),
        cmocka_unit_test(every_allocation_of_a_partition_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
