/* The arena and the heap of panels: blocks never overlap, come back whole, and need no new memory the second
 * time. */
#include "helpers.h"

#include "factor/storage.h"
#include "failing_allocator.h"

#include <string.h>

enum { BLOCKS = 64, ROUNDS = 4000 };

typedef struct held {
    char *block;
    int64_t bytes;
    char mark;
} held;

static void assert_whole(const held *h)
{
    for (int64_t i = 0; i < h->bytes; ++i) assert_int_equal(h->block[i], h->mark);
}

/* Takes and gives at random; what is held keeps its contents. */
static void play(sd_context *c, sd_storage *s, rng *r)
{
    held h[BLOCKS] = {{0}};
    for (int round = 0; round < ROUNDS; ++round) {
        held *at = &h[(int)(fabs(rng_unit(r)) * (BLOCKS - 1))];
        if (at->block) {
            assert_whole(at);
            sd_storage_give(s, at->block, at->bytes);
            at->block = NULL;
            continue;
        }
        at->bytes = (int64_t)(3000 * pow(fabs(rng_unit(r)), 4));
        at->mark = (char)round;
        at->block = sd_storage_take(c, s, at->bytes, "test");
        assert_non_null(at->block);
        assert_int_equal((uintptr_t)at->block % 64, 0);
        memset(at->block, at->mark, (size_t)at->bytes);
    }
    for (int k = 0; k < BLOCKS; ++k) {
        if (!h[k].block) continue;
        assert_whole(&h[k]);
        sd_storage_give(s, h[k].block, h[k].bytes);
    }
}

static void blocks_keep_to_themselves(void **state)
{
    (void)state;
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    sd_context c;
    sd_storage *s;
    rng r = rng_start("storage"), again = r;
    sd_context_init(&c, &hooks, 0);
    assert_int_equal(sd_storage_make(&c, 100, 1000, BLOCKS, &s), SADDLE_OK);
    play(&c, s, &r);
    const int64_t allocations = f.allocations;
    sd_storage_clear(s);
    play(&c, s, &again);
    assert_int_equal(f.allocations, allocations); /* the same once more */
    sd_storage_free(&c, s);
    assert_int_equal(f.live, 0);
}

static void panels_begin_where_they_were_planned(void **state)
{
    (void)state;
    sd_context c;
    sd_storage *s;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_storage_make(&c, 1000, 64, 4, &s), SADDLE_OK);
    for (int run = 0; run < 3; ++run) {
        char *panel[40];
        for (int k = 0; k < 40; ++k) {
            panel[k] = sd_storage_panel(&c, s, 100 + k);
            assert_non_null(panel[k]);
            assert_int_equal((uintptr_t)panel[k] % 8, 0);
            memset(panel[k], k, (size_t)(100 + k));
        }
        for (int k = 0; k < 40; ++k)
            for (int i = 0; i < 100 + k; ++i) assert_int_equal(panel[k][i], k);
        assert_true(panel[1] - panel[0] == 104); /* side by side while there is room */
        sd_storage_clear(s);
    }
    sd_storage_free(&c, s);
    assert_int_equal(c.bytes, 0);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_storage *s;
        sd_context_init(&c, &hooks, 0);
        if (!sd_storage_make(&c, 100, 100, 4, &s)) {
            void *block = sd_storage_take(&c, s, 10000, "test"), *panel = sd_storage_panel(&c, s, 10000);
            assert_true(f.failed ? !block || !panel : block && panel);
        }
        sd_storage_free(&c, s);
        assert_int_equal(f.live, 0);
        if (!f.failed) break;
        assert_int_equal(c.status, SADDLE_OUT_OF_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_to_themselves),
        cmocka_unit_test(panels_begin_where_they_were_planned),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
