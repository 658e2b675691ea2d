/*
 * The arena and the heap of panels: blocks lie on cache lines, never overlap and keep what is written; all
 * that was given back is one piece again, so that the same requests allocate nothing the second time.
 */
#include "helpers.h"

#include "factor/storage.h"
#include "failing_allocator.h"

enum { BLOCKS = 40, STEPS = 4000, FIRST = 1 << 14, PANELS = 1 << 14 };

typedef struct holding {
    unsigned char *at;
    int64_t bytes;
    unsigned char mark;
} holding;

static void assert_whole(const holding *h)
{
    for (int64_t i = 0; i < h->bytes; ++i) assert_int_equal(h->at[i], h->mark);
}

static void drop(sd_storage *s, holding *h)
{
    assert_whole(h);
    sd_storage_give(s, h->at, h->bytes);
    h->at = NULL;
}

/* Blocks come and go by chance; in the end all are given back. */
static void churn(sd_context *c, sd_storage *s, rng *r)
{
    holding held[BLOCKS] = {{0}};
    for (int step = 0; step < STEPS; ++step) {
        holding *h = &held[rng_below(r, BLOCKS)];
        if (h->at) {
            drop(s, h);
            continue;
        }
        *h = (holding){.bytes = rng_below(r, 3) ? rng_below(r, 300) : rng_below(r, 3000), .mark = step % 251};
        h->at = sd_storage_take(c, s, h->bytes, "a block");
        assert_non_null(h->at);
        assert_int_equal((uintptr_t)h->at % 64, 0);
        memset(h->at, h->mark, (size_t)h->bytes);
    }
    for (int k = 0; k < BLOCKS; ++k)
        if (held[k].at) drop(s, &held[k]);
}

static void blocks_keep_what_is_in_them(void **state)
{
    (void)state;
    rng r = rng_start("blocks");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < 10; ++round) {
        sd_storage *s;
        assert_int_equal(sd_storage_make(&c, 0, 0, round % 2 ? 0 : FIRST, BLOCKS, &s), SADDLE_OK);
        churn(&c, s, &r);
        const int64_t bytes = c.bytes;
        void *all = sd_storage_take(&c, s, FIRST, "the first chunk as one block");
        if (round % 2 == 0) assert_int_equal(c.bytes, bytes);
        sd_storage_give(s, all, FIRST);
        sd_storage_free(&c, s);
        assert_int_equal(c.bytes, 0);
    }
}

/* Panels of these sizes, each marked, in turn of two threads that have room of their own for some of them. */
/* Many threads at once hold many times what one has: mip_fast0507 on 16 threads ran out of chunks. */
static void many_blocks_at_once(void **state)
{
    (void)state;
    enum { MANY = 20000, BYTES = 3000 };
    sd_context c;
    sd_storage *s;
    void **blocks = test_alloc(MANY, sizeof *blocks);
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_storage_make(&c, 0, 0, 100000, MANY, &s), SADDLE_OK);
    for (int k = 0; k < MANY; ++k) {
        blocks[k] = sd_storage_take(&c, s, BYTES, "a block");
        if (!blocks[k]) fail_msg("%s", c.message);
    }
    for (int k = 0; k < MANY; ++k) sd_storage_give(s, blocks[k], BYTES);
    sd_storage_free(&c, s);
    assert_int_equal(c.bytes, 0);
    free(blocks);
}

static void take_panels(sd_context *c, sd_storage *s, const int *sizes, holding *panels)
{
    sd_panel_room room[2] = {{0}};
    int64_t bytes[2] = {0};
    for (int k = 0; k < BLOCKS / 2; ++k) bytes[k % 2] += sd_storage_planned(s, sizes[k]);
    for (int t = 0; t < 2; ++t) room[t] = sd_storage_reserve(s, bytes[t]);
    for (int k = 0; k < BLOCKS; ++k) {
        void *at = sd_storage_panel(c, s, &room[k % 2], sizes[k]);
        panels[k] = (holding){.at = at, .bytes = sizes[k], .mark = k};
        assert_non_null(panels[k].at);
        assert_int_equal((uintptr_t)panels[k].at % 8, 0);
        memset(panels[k].at, k, (size_t)sizes[k]);
    }
    for (int k = 0; k < BLOCKS; ++k) assert_whole(&panels[k]);
}

static void panels_again_take_no_new_memory(void **state)
{
    (void)state;
    rng r = rng_start("panels");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < 50; ++round) {
        int sizes[BLOCKS];
        holding panels[BLOCKS];
        sd_storage *s;
        for (int k = 0; k < BLOCKS; ++k) sizes[k] = rng_below(&r, round % 2 ? 20000 : 300);
        assert_int_equal(sd_storage_make(&c, PANELS, PANELS, 0, BLOCKS, &s), SADDLE_OK);
        const int64_t planned = c.bytes;
        take_panels(&c, s, sizes, panels);
        const int64_t bytes = c.bytes;
        assert_int_equal(bytes > planned, round % 2); /* what fits the plan allocates nothing at all */
        for (int again = 0; again < 3; ++again) {
            if (again == 1) sd_storage_trim(&c, s);
            assert_int_equal(sd_storage_clear(&c, s), SADDLE_OK);
            take_panels(&c, s, sizes, panels);
            assert_int_equal(c.bytes, bytes);
        }
        sd_storage_free(&c, s);
        assert_int_equal(c.bytes, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_context_init(&c, &hooks, 0);
        sd_storage *s;
        saddle_status status = sd_storage_make(&c, 64, 64, 64, 2, &s);
        if (!status && !sd_storage_take(&c, s, 1000, "a block")) status = c.status;
        if (!status && !sd_storage_panel(&c, s, &(sd_panel_room){0}, 1000)) status = c.status;
        sd_storage_free(&c, s);
        assert_int_equal(f.live, 0);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_what_is_in_them),
        cmocka_unit_test(many_blocks_at_once),
        cmocka_unit_test(panels_again_take_no_new_memory),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
