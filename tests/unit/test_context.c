/* The context of a call: memory, its limit and its failures, messages, progress, log, threads. */
#include "helpers.h"

#include "core/available.h"
#include "core/context.h"
#include "failing_allocator.h"

#include <omp.h>

static void blocks_are_aligned_and_writable_to_the_end(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    void *pieces[65];
    for (int k = 0; k < 65; ++k) {
        pieces[k] = sd_alloc(&c, k, 1, "memory");
        assert_non_null(pieces[k]);
        assert_int_equal((uintptr_t)pieces[k] % 64, 0);
        memset(pieces[k], 0xab, (size_t)k);
    }
    assert_true(c.bytes > 64 * 65 / 2);
    assert_true(c.bytes == c.peak);
    for (int k = 0; k < 65; ++k) sd_free(&c, pieces[k]);
    sd_free(&c, NULL);
    assert_int_equal(c.bytes, 0);
    assert_true(c.peak > 0);
}

static void zeroed_blocks_are_zero(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    unsigned char *dirty = sd_alloc(&c, 1000, 1, "memory");
    memset(dirty, 0xff, 1000);
    sd_free(&c, dirty);
    unsigned char *clean = sd_alloc_zero(&c, 125, 8, "memory");
    for (int k = 0; k < 1000; ++k) assert_int_equal(clean[k], 0);
    sd_free(&c, clean);
}

static void the_peak_is_the_most_in_use_at_once(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    void *a = sd_alloc(&c, 1000, 8, "a");
    const int64_t one = c.bytes;
    assert_in_range(one, 8000, 8200);
    sd_free(&c, a);
    a = sd_alloc(&c, 1000, 8, "a");
    void *b = sd_alloc(&c, 500, 8, "b");
    assert_in_range(c.peak, 12000, 12400);
    sd_free(&c, a);
    sd_free(&c, b);
    assert_int_equal(c.bytes, 0);
    assert_in_range(c.peak, 12000, 12400);
}

/* Linux would promise them, and end the program when it uses them. */
static void more_than_the_machine_has_is_refused(void **state)
{
    (void)state;
    sd_context c;
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    const int64_t left = sd_memory_available();
    if (left < 0) {
        print_message("           this system does not tell what memory it has left\n");
        skip();
    }
    sd_context_init(&c, NULL, 0);
    assert_null(sd_alloc(&c, 2 * left + (INT64_C(1) << 32), 1, "far too much"));
    assert_int_equal(c.status, SADDLE_OUT_OF_MEMORY);
    assert_non_null(strstr(c.message, "far too much"));
    assert_non_null(strstr(c.message, "the machine has"));
    assert_int_equal(c.bytes, 0);
    sd_context_init(&c, &hooks, 0); /* a caller's own allocator decides itself */
    f.fail_at = 1;
    assert_null(sd_alloc(&c, 2 * left + (INT64_C(1) << 32), 1, "far too much"));
    assert_int_equal(f.allocations, 1);
}

static void the_limit_holds_at_every_value(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    void *memory = sd_alloc(&c, 100, 8, "memory");
    const int64_t needed = c.bytes;
    sd_free(&c, memory);
    for (int64_t limit = 1; limit <= needed + 2; ++limit) {
        failing_allocator f = {0};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context_init(&c, &hooks, limit);
        memory = sd_alloc(&c, 100, 8, "memory of the test");
        if (limit < needed) {
            assert_null(memory);
            assert_int_equal(c.status, SADDLE_MEMORY_LIMIT);
            assert_contains(c.message, "memory of the test");
            char advice[64];
            snprintf(advice, sizeof advice, "raise max_memory by at least %lld", (long long)(needed - limit));
            assert_contains(c.message, advice);
            assert_int_equal(f.allocations, 0);
        } else {
            assert_non_null(memory);
            assert_null(sd_alloc(&c, 1, 1, "one more"));
            assert_int_equal(c.status, SADDLE_MEMORY_LIMIT);
            sd_free(&c, memory);
        }
        assert_int_equal(f.live, 0);
        assert_int_equal(c.bytes, 0);
    }
}

static void sizes_beyond_any_memory_are_refused_without_asking(void **state)
{
    (void)state;
    static const struct {
        int64_t count;
        size_t size;
    } all[] = {{-1, 8},
               {INT64_MAX, 8},
               {INT64_MAX, 1},
               {INT64_MAX / 8, 8},
               {INT64_MAX / 8 + 1, 16},
               {(int64_t)1 << 61, 8},
               {INT64_MIN, 1}};
    for (int limited = 0; limited < 2; ++limited) {
        for (int k = 0; k < (int)(sizeof all / sizeof all[0]); ++k) {
            failing_allocator f = {0};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, limited ? 1 << 20 : 0);
            assert_null(sd_alloc(&c, all[k].count, all[k].size, "too much"));
            assert_true(c.status == SADDLE_OUT_OF_MEMORY);
            assert_contains(c.message, "too much");
            assert_int_equal(f.allocations, 0);
            assert_int_equal(c.bytes, 0);
        }
    }
}

/* Just below what sd_alloc refuses by itself: the sum with the bytes in use must not wrap. */
static void the_limit_is_compared_without_overflow(void **state)
{
    (void)state;
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    sd_context c;
    sd_context_init(&c, &hooks, 4096);
    void *memory = sd_alloc(&c, 1000, 1, "small");
    assert_non_null(memory);
    assert_null(sd_alloc(&c, INT64_MAX - 200, 1, "huge"));
    assert_null(sd_alloc(&c, INT64_MAX / 2 - 100, 1, "huge"));
    assert_true(c.status == SADDLE_MEMORY_LIMIT || c.status == SADDLE_OUT_OF_MEMORY);
    assert_int_equal(f.allocations, 1);
    sd_free(&c, memory);
}

static void a_failing_allocator_is_reported_and_harms_nothing(void **state)
{
    (void)state;
    failing_allocator f = {.fail_at = 2};
    const saddle_hooks hooks = failing_hooks(&f);
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    void *first = sd_alloc(&c, 10, 8, "first");
    const int64_t bytes = c.bytes;
    assert_null(sd_alloc(&c, 10, 8, "the second"));
    assert_int_equal(c.status, SADDLE_OUT_OF_MEMORY);
    assert_contains(c.message, "the second");
    assert_true(c.bytes == bytes);
    void *third = sd_alloc_zero(&c, 10, 8, "third");
    assert_non_null(third);
    sd_free(&c, first);
    sd_free(&c, third);
    assert_int_equal(f.live, 0);
}

/* The call is refused, and its context can still be used to say so. */
static void one_memory_hook_alone_is_refused_and_not_used(void **state)
{
    (void)state;
    failing_allocator f = {0};
    saddle_hooks hooks = failing_hooks(&f);
    hooks.release = NULL;
    sd_context c;
    assert_int_equal(sd_context_open(&c, &hooks), SADDLE_BAD_ARGUMENT);
    assert_contains(c.message, "no release");
    void *memory = sd_alloc(&c, 1, 1, "memory");
    assert_non_null(memory);
    sd_free(&c, memory);
    assert_int_equal(f.allocations, 0);
}

static void long_messages_are_cut_and_ended(void **state)
{
    (void)state;
    char text[2000], message[SADDLE_MESSAGE_SIZE];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_fail(&c, SADDLE_BAD_VALUE, "%s", text), SADDLE_BAD_VALUE);
    assert_int_equal(c.status, SADDLE_BAD_VALUE);
    memset(message, 0xff, sizeof message);
    assert_int_equal(sd_tell(&c, c.status, message), SADDLE_BAD_VALUE);
    assert_int_equal(strlen(message), SADDLE_MESSAGE_SIZE - 1);
    assert_int_equal(sd_tell(&c, SADDLE_OK, NULL), SADDLE_OK);
}

typedef struct listener {
    int calls, cancel_at;
    saddle_progress last;
    int level;
    char line[SADDLE_MESSAGE_SIZE];
} listener;

static int listen_progress(const saddle_progress *progress, void *user)
{
    listener *l = user;
    l->last = *progress;
    return ++l->calls == l->cancel_at ? 7 : 0;
}

static void listen_log(int level, const char *line, void *user)
{
    listener *l = user;
    l->level = level;
    snprintf(l->line, sizeof l->line, "%s", line);
}

static void progress_is_passed_on_and_can_cancel(void **state)
{
    (void)state;
    listener l = {.cancel_at = 3};
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = listen_progress, .user = &l};
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    assert_int_equal(sd_progress(&c, "read", 5, 10, NAN), SADDLE_OK);
    assert_string_equal(l.last.stage, "read");
    assert_int_equal(l.last.done, 5);
    assert_int_equal(l.last.total, 10);
    assert_true(isnan(l.last.residual));
    assert_int_equal(sd_progress(&c, "solve", 1, 0, 0.5), SADDLE_OK);
    assert_true(l.last.residual == 0.5);
    assert_int_equal(c.status, SADDLE_OK);
    assert_int_equal(sd_progress(&c, "solve", 22, 0, 0.5), SADDLE_CANCELLED);
    assert_int_equal(c.status, SADDLE_CANCELLED);
    assert_contains(c.message, "solve");
    assert_contains(c.message, "22");
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_progress(&c, "solve", 1, 0, 0.5), SADDLE_OK);
}

static void log_lines_reach_the_hook_and_nothing_else(void **state)
{
    (void)state;
    listener l = {0};
    const saddle_hooks hooks = {.size = sizeof hooks, .log = listen_log, .user = &l};
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    sd_log(&c, SADDLE_LOG_INFO, "%d of %s", 3, "them");
    assert_int_equal(l.level, SADDLE_LOG_INFO);
    assert_string_equal(l.line, "3 of them");
    sd_context_init(&c, NULL, 0);
    sd_log(&c, SADDLE_LOG_INFO, "%d of %s", 4, "them");
    assert_string_equal(l.line, "3 of them");
}

static void threads_come_from_the_option_then_the_environment(void **state)
{
    (void)state;
    /* OpenMP reads the environment once: now, before clang's aborts on the nonsense below. */
    assert_in_range(omp_get_num_procs(), 1, 65536);
    assert_int_equal(sd_thread_count(3), 3);
    setenv("OMP_NUM_THREADS", "5", 1);
    assert_int_equal(sd_thread_count(0), 5);
    assert_int_equal(sd_thread_count(2), 2);
    const char *const nonsense[] = {"", "no", "-3", "0", "99999999999999999999"};
    for (int k = 0; k < 5; ++k) {
        setenv("OMP_NUM_THREADS", nonsense[k], 1);
        assert_in_range(sd_thread_count(0), 1, 4096);
    }
    unsetenv("OMP_NUM_THREADS");
    assert_in_range(sd_thread_count(0), 1, 4096);
}

/* The OpenMP runtime ends the program when it cannot start its threads. */
static void absurd_numbers_of_threads_are_bounded(void **state)
{
    (void)state;
    assert_in_range(sd_thread_count(-1), 1, 4096);
    assert_in_range(sd_thread_count(1 << 30), 1, 4096);
    assert_in_range(sd_thread_count(INT64_MAX), 1, 4096);
    assert_in_range(sd_thread_count((INT64_C(1) << 32) + 1), 1, 4096);
}

static void the_clock_goes_forward(void **state)
{
    (void)state;
    double last = sd_seconds();
    for (int k = 0; k < 1000; ++k) {
        const double now = sd_seconds();
        assert_true(now >= last);
        last = now;
    }
}

/* A nest is used as long as it lasts, is counted like other memory, and a caller's allocator has none. */
static void memory_comes_from_the_nest_while_there_is_some(void **state)
{
    (void)state;
    char nest[1024];
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_context_nest(&c, nest, sizeof nest);
    double *first = sd_alloc(&c, 30, sizeof *first, "first"),
           *second = sd_alloc(&c, 30, sizeof *second, "2nd");
    double *large = sd_alloc_zero(&c, 1000, sizeof *large, "large");
    assert_true((char *)first > nest && (char *)(first + 30) <= nest + sizeof nest);
    assert_true((char *)second > nest && (char *)(second + 30) <= nest + sizeof nest);
    assert_true(second >= first + 30 && (uintptr_t)second % 64 == 0);
    assert_false((char *)large > nest && (char *)large < nest + sizeof nest);
    for (int k = 0; k < 30; ++k) first[k] = second[k] = 1;
    assert_true(c.bytes > (int64_t)(1060 * sizeof(double)));
    sd_free(&c, first);
    sd_free_all(&c, second, large);
    assert_int_equal(c.bytes, 0);
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    sd_context_init(&c, &hooks, 0);
    sd_context_nest(&c, nest, sizeof nest);
    first = sd_alloc(&c, 1, 1, "first");
    assert_int_equal(f.live, 1);
    sd_free(&c, first);
    assert_int_equal(f.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_from_the_nest_while_there_is_some),
        cmocka_unit_test(blocks_are_aligned_and_writable_to_the_end),
        cmocka_unit_test(zeroed_blocks_are_zero),
        cmocka_unit_test(the_peak_is_the_most_in_use_at_once),
        cmocka_unit_test(more_than_the_machine_has_is_refused),
        cmocka_unit_test(the_limit_holds_at_every_value),
        cmocka_unit_test(sizes_beyond_any_memory_are_refused_without_asking),
        cmocka_unit_test(the_limit_is_compared_without_overflow),
        cmocka_unit_test(a_failing_allocator_is_reported_and_harms_nothing),
        cmocka_unit_test(one_memory_hook_alone_is_refused_and_not_used),
        cmocka_unit_test(long_messages_are_cut_and_ended),
        cmocka_unit_test(progress_is_passed_on_and_can_cancel),
        cmocka_unit_test(log_lines_reach_the_hook_and_nothing_else),
        cmocka_unit_test(threads_come_from_the_option_then_the_environment),
        cmocka_unit_test(absurd_numbers_of_threads_are_bounded),
        cmocka_unit_test(the_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
