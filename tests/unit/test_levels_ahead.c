/*
 * The second scheduling thread of ldlt: the levels of blocks that were pushed back are made beside the work
 * on the others. For ThreadSanitizer above all; the linker sends every pthread_create of the library through
 * the one below (tests/CMakeLists.txt), so that a test knows whether the thread was there.
 */
#include "solving.h"

#include <errno.h>
#include <pthread.h>

enum { N = 320, SIZE = 4, FIRST = N / 4 };

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

/* The first blocks have no diagonal of their own: they must wait for those that they are coupled with. */
static dense singular_blocks(void)
{
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) {
        if (i >= FIRST) dense_set(&d, i, i, 3 + i % 7);
        for (int step = i < FIRST ? FIRST : SIZE; step <= FIRST && i + step < N; step += FIRST - SIZE) {
            dense_set(&d, i, i + step, 1);
            dense_set(&d, i + step, i, 1);
        }
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
    const saddle_info info = solve_dense(d, SADDLE_LOWER, b, x, options);
    assert_int_equal(info.status, SADDLE_OK);
    assert_true(info.pushed_back > 1);
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
