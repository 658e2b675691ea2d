/* Pieces that wait for earlier ones (core/chain.h), taken by any number of threads. */
#include "helpers.h"

#include "core/chain.h"

#include <omp.h>

/* Every piece adds up what two earlier ones left: with threads that are more than processors too. */
static void pieces_see_what_earlier_ones_left(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    static uint64_t expected[PIECES], found[PIECES];
    static atomic_uchar done[PIECES];
    for (int k = 0; k < PIECES; ++k)
        expected[k] = k < 7 ? (uint64_t)k : 3 * expected[k - 1 - k % 5] + expected[k / 2] + (uint64_t)k;
    for (int threads = 1; threads <= 5; ++threads) {
        sd_chain chain;
        memset(found, 0, sizeof found);
#pragma omp parallel num_threads(threads)
        {
            int32_t known = 0;
#pragma omp single
            sd_chain_make(&chain, omp_get_num_threads(), PIECES, done);
            for (int32_t k = sd_chain_take(&chain); k >= 0; k = sd_chain_take(&chain)) {
                if (k >= 7) sd_chain_await(&chain, k - k % 5, &known);
                found[k] = k < 7 ? (uint64_t)k : 3 * found[k - 1 - k % 5] + found[k / 2] + (uint64_t)k;
                sd_chain_done(&chain, k);
            }
        }
        sd_chain_free(&chain);
        assert_memory_equal(found, expected, sizeof found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_see_what_earlier_ones_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
