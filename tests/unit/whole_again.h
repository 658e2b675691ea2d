/* A solver after a factorization that ran out of memory: it must be as good as a new one. */
#pragma once

#include "failing_allocator.h"
#include "solving.h"

/* Lets each allocation of a first factorization fail, and of one with factors there, and expects the bits of
 * x that there are without a failure; `bits`: false where factors depend on those before. */
static inline void assert_whole_again(const saddle_matrix *A, const double *b, const char *list, bool bits)
{
    const int64_t n = A->rows;
    const saddle_options options = options_of(list);
    double *x = test_alloc((size_t)n, sizeof *x), *wanted = test_alloc((size_t)n, sizeof *wanted);
    for (int again = 0; again < 2; ++again) {
        bool failed = true;
        for (int64_t k = 0; failed; ++k) {
            failing_allocator f = {0};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_solver *s = NULL;
            assert_int_equal(saddle_create(&s, &options, &hooks, NULL), SADDLE_OK);
            if (again) assert_int_equal(saddle_factor(s, A), SADDLE_OK);
            f.fail_at = k > 0 ? f.allocations + k : 0;
            saddle_factor(s, A);
            failed = f.failed || k == 0;
            f.fail_at = 0;
            if (saddle_factor(s, A)) fail_msg("%s: after allocation %d: %s", list, (int)k, saddle_message(s));
            assert_int_equal(saddle_solve(s, 1, b, n, x, n, NULL), SADDLE_OK);
            if (k == 0) memcpy(wanted, x, (size_t)n * sizeof *x);
            if (bits && memcmp(x, wanted, (size_t)n * sizeof *x) != 0)
                fail_msg("%s: x differs after allocation %d", list, (int)k);
            saddle_destroy(&s);
            assert_int_equal(f.live, 0);
        }
    }
    free(x);
    free(wanted);
}
