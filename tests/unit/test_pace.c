/* Threads that make the same steps, and wait for what others have made of them (core/pace.h). */
#include "helpers.h"

#include "core/pace.h"

#include <omp.h>

/* Every thread adds up in each step what all left in the step before, as soon as they have made it: with
 * threads that are more than processors too. */
static void steps_see_what_others_made_before(void **state)
{
    (void)state;
    enum { MOST = 5, STEPS = 400 };
    static uint64_t found[STEPS][MOST];
    for (int wanted = 1; wanted <= MOST; ++wanted) {
        sd_pace_thread room[MOST];
        sd_pace pace;
        int threads = 0;
        memset(found, 0, sizeof found);
#pragma omp parallel num_threads(wanted)
        {
            const int t = omp_get_thread_num();
#pragma omp single
            {
                threads = omp_get_num_threads();
                sd_pace_make(&pace, threads, room);
            }
            for (int32_t k = 0; k < STEPS; ++k) {
                uint64_t sum = (uint64_t)(k + t);
                sd_pace_await(&pace, t, k);
                for (int other = 0; k > 0 && other < threads; ++other)
                    sum += (uint64_t)(1 + other) * found[k - 1][other];
                found[k][t] = sum;
                sd_pace_made(&pace, t, k + 1);
            }
        }
        sd_pace_free(&pace);
        for (int32_t k = 0; k < STEPS; ++k)
            for (int t = 0; t < threads; ++t) {
                uint64_t sum = (uint64_t)(k + t);
                for (int other = 0; k > 0 && other < threads; ++other)
                    sum += (uint64_t)(1 + other) * found[k - 1][other];
                assert_int_equal(found[k][t], sum);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_see_what_others_made_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
