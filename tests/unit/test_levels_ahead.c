/*
 * The second scheduling thread of ldlt: the levels of blocks that were pushed back are made beside the work
 * on the others. For ThreadSanitizer above all; the linker sends every pthread_create of the library through
 * the one below (tests/CMakeLists.txt), so that a test knows whether the thread was there.
 */
#include "failing_allocator.h"
#include "solving.h"

#include <errno.h>
#include <pthread.h>

enum { SIZE = 4, GROUP = 24, N = 400 };

static int started, refused;
static bool refuse;

typedef void *thread_function(void *);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_function *run,
                          void *self);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_function *run,
                          void *self);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_function *run,
                          void *self)
{
    if (refuse) {
        ++refused;
        return EAGAIN;
    }
    ++started;
    return __real_pthread_create(thread, attributes, run, self);
}

static void couple(dense *d, int i, int j, double value)
{
    dense_set(d, i, j, value);
    dense_set(d, j, i, value);
}

/* Blocks without a diagonal come first; then some that leave others without one, so that more are pushed back
 * while the levels of the first are being made. Both wait for those at the end, each for its own. */
static dense singular_blocks(void)
{
    dense d = dense_new(N);
    for (int i = 0; i < GROUP; ++i) {
        const int left = GROUP + i, emptied = 2 * GROUP + i, end = 3 * GROUP + i;
        couple(&d, i, end, 1);
        couple(&d, left, left, 2);
        couple(&d, left, emptied, 2);
        couple(&d, emptied, emptied, 2);
        couple(&d, emptied, end + GROUP, 1);
    }
    for (int i = 3 * GROUP; i < N; ++i) {
        couple(&d, i, i, 3 + i % 7);
        if (i + SIZE < N) couple(&d, i, i + SIZE, 1);
    }
    return d;
}

static saddle_info pushing_back(const dense *d, const char *fill, int threads, double *x)
{
    double b[N];
    char options[300];
    for (int i = 0; i < N; ++i) b[i] = 1 + i % 11;
    snprintf(
        options, sizeof options,
        "method=ldlt,fill=%s,threads=%d,scaling=none,pairs=off,order=natural,blocking=grid,block_size=%d",
        fill, threads, SIZE);
    const saddle_options chosen = options_of(options);
    failing_allocator counted = {0}; /* which has no lock of its own */
    const saddle_hooks hooks = failing_hooks(&counted);
    saddle_matrix A = view_plain(d, SADDLE_LOWER);
    saddle_solver *solver;
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_create(&solver, &chosen, &hooks, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, b, N, x, N, &info), SADDLE_OK);
    saddle_destroy(&solver);
    view_free(&A);
    assert_int_equal(counted.live, 0);
    assert_int_equal(info.pushed_back, 2 * GROUP / SIZE);
    return info;
}

static void the_second_thread_changes_no_bit(void **state)
{
    (void)state;
    static const char *const fills[] = {"tau:0", "tau:0.01", "none"};
    static double without[N], x[N];
    dense d = singular_blocks();
    for (int k = 0; k < 3; ++k) {
        refuse = true;
        refused = started = 0;
        const saddle_info alone = pushing_back(&d, fills[k], 1, without);
        assert_true(refused > 0);
        refuse = false;
        for (int threads = 1; threads <= 4; ++threads) {
            started = 0;
            const saddle_info info = pushing_back(&d, fills[k], threads, x);
            assert_true(started > 0);
            assert_int_equal(info.pushed_back, alone.pushed_back);
            assert_int_equal(info.factor_nnz, alone.factor_nnz);
            assert_memory_equal(without, x, sizeof x);
        }
    }
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_second_thread_changes_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
