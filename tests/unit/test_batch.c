/* Plans of batches and maps of matrices: sizes, jobs, the orders, and what happens when memory runs out. */
#include "failing_allocator.h"
#include "helpers.h"

#include "backend/batch_memory.h"

/* A blocking of some rows, with all that a plan may be asked for. */
typedef struct blocking {
    int32_t blocks, start[65];
    bool wanted[64];
    int32_t source[64 * SD_BLOCK_MOST], target[64 * SD_BLOCK_MOST];
} blocking;

static blocking random_blocking(rng *r, int32_t blocks, int regular)
{
    blocking b = {.blocks = blocks};
    for (int32_t k = 0; k < blocks; ++k) {
        b.start[k + 1] = b.start[k] + (regular ? regular : 1 + rng_below(r, SD_BLOCK_MOST));
        b.wanted[k] = rng_below(r, 3) > 0;
    }
    rng_permutation(r, b.start[blocks], b.source);
    rng_permutation(r, b.start[blocks], b.target);
    return b;
}

static void open_engine(sd_context *c, sd_engine *e, const saddle_hooks *hooks)
{
    sd_context_init(c, hooks, 0);
    assert_int_equal(sd_engine_open_host(c, e, SADDLE_DEVICE_REFERENCE, 1), SADDLE_OK);
}

static void close_engine(sd_context *c, sd_engine *e)
{
    sd_engine_close(e);
    assert_int_equal(c->bytes, 0);
}

/* Every wanted block has one job, by size and then by number; entries follow each other by number. */
static void check_jobs(const blocking *b, const bool *wanted, const sd_batch_plan *plan)
{
    int64_t entry = 0;
    int32_t count = 0;
    for (int32_t k = 0; k < b->blocks; ++k) {
        if (wanted && !wanted[k]) continue;
        const int32_t size = b->start[k + 1] - b->start[k];
        int32_t found = 0;
        for (int32_t j = plan->first[size]; j < plan->first[size + 1]; ++j) {
            const sd_batch_job job = plan->job[j];
            if (j > plan->first[size]) assert_true(plan->job[j - 1].block < job.block);
            if (job.block != k) continue;
            assert_true(job.row == b->start[k] && job.entry == entry);
            ++found;
        }
        assert_int_equal(found, 1);
        entry += (int64_t)size * size;
        ++count;
    }
    assert_int_equal(plan->count, count);
    assert_int_equal(plan->entries, entry);
    assert_int_equal(plan->blocks, b->blocks);
    assert_int_equal(plan->rows, b->start[b->blocks]);
    assert_true(plan->first[0] == 0 && plan->first[1] == 0);
    assert_int_equal(plan->first[SD_BLOCK_MOST + 1], count);
}

static void plans_have_a_job_for_every_wanted_block(void **state)
{
    (void)state;
    rng r = rng_start("plans");
    sd_context c;
    sd_engine e;
    open_engine(&c, &e, NULL);
    for (int trial = 0; trial < 300; ++trial) {
        const blocking b = random_blocking(&r, rng_below(&r, 65), 0);
        const bool *wanted = trial % 2 ? b.wanted : NULL;
        sd_batch_plan plan;
        assert_int_equal(sd_batch_place(&e, b.blocks, b.start, wanted, NULL, NULL, &plan), SADDLE_OK);
        check_jobs(&b, wanted, &plan);
        assert_true(!plan.source && !plan.target);
        sd_batch_unplace(&e, &plan);
        assert_true(!plan.job && plan.count == 0);
    }
    close_engine(&c, &e);
}

static void plans_of_equal_blocks_are_regular(void **state)
{
    (void)state;
    rng r = rng_start("regular");
    sd_context c;
    sd_engine e;
    open_engine(&c, &e, NULL);
    for (int size = 1; size <= SD_BLOCK_MOST; ++size) {
        blocking b = random_blocking(&r, 1 + rng_below(&r, 64), size);
        bool none_left_out = true;
        for (int32_t k = 0; k < b.blocks; ++k) none_left_out = none_left_out && b.wanted[k];
        sd_batch_plan plan;
        assert_int_equal(sd_batch_place(&e, b.blocks, b.start, NULL, NULL, NULL, &plan), SADDLE_OK);
        assert_int_equal(plan.regular, size);
        for (int32_t k = 0; k < b.blocks; ++k) {
            const sd_batch_job job = plan.job[k];
            assert_true(job.block == k && job.row == k * size && job.entry == (int64_t)k * size * size);
        }
        sd_batch_unplace(&e, &plan);
        assert_int_equal(sd_batch_place(&e, b.blocks, b.start, b.wanted, NULL, NULL, &plan), SADDLE_OK);
        assert_int_equal(plan.regular, none_left_out ? size : 0);
        sd_batch_unplace(&e, &plan);
        for (int32_t k = b.blocks; k > 0; --k) b.start[k] += 1; /* the first block has one row more */
        if (b.blocks == 1 || size == SD_BLOCK_MOST) continue;
        assert_int_equal(sd_batch_place(&e, b.blocks, b.start, NULL, NULL, NULL, &plan), SADDLE_OK);
        assert_int_equal(plan.regular, 0);
        sd_batch_unplace(&e, &plan);
    }
    close_engine(&c, &e);
}

static void plans_keep_the_orders_that_they_are_given(void **state)
{
    (void)state;
    rng r = rng_start("orders");
    sd_context c;
    sd_engine e;
    open_engine(&c, &e, NULL);
    const blocking b = random_blocking(&r, 20, 0);
    const size_t bytes = sizeof *b.source * (size_t)b.start[b.blocks];
    const int32_t *const orders[] = {NULL, b.source, b.target};
    for (int way = 0; way < 9; ++way) {
        const int32_t *source = orders[way / 3], *target = orders[way % 3];
        sd_batch_plan plan;
        assert_int_equal(sd_batch_place(&e, b.blocks, b.start, NULL, source, target, &plan), SADDLE_OK);
        assert_true(!plan.source == !source && !plan.target == !target);
        assert_true((plan.source == plan.target) == (source == target)); /* so that kernels can tell */
        if (source) assert_memory_equal(plan.source, source, bytes);
        if (target) assert_memory_equal(plan.target, target, bytes);
        sd_batch_unplace(&e, &plan);
    }
    close_engine(&c, &e);
}

static void maps_tell_where_each_row_and_column_stands(void **state)
{
    (void)state;
    rng r = rng_start("maps");
    sd_context c;
    sd_engine e;
    open_engine(&c, &e, NULL);
    for (int way = 0; way < 2 * 9; ++way) {
        const blocking b = random_blocking(&r, 1 + rng_below(&r, 64), 0);
        const int32_t *const orders[] = {NULL, b.source, b.target};
        const int32_t *source = orders[way / 2 / 3], *target = orders[way / 2 % 3];
        const bool *wanted = way % 2 ? b.wanted : NULL;
        sd_batch_map map;
        assert_int_equal(sd_batch_map_place(&e, b.blocks, b.start, wanted, source, target, &map), SADDLE_OK);
        assert_memory_equal(map.start, b.start, sizeof *b.start * ((size_t)b.blocks + 1));
        assert_true(!map.row_place == !source && !map.column_place == !target);
        int64_t entry = 0;
        for (int32_t k = 0; k < b.blocks; ++k) {
            const int64_t size = b.start[k + 1] - b.start[k];
            const bool in = !wanted || wanted[k];
            assert_int_equal(map.entry[k], in ? entry : -1);
            entry += in ? size * size : 0;
            for (int32_t row = b.start[k]; row < b.start[k + 1]; ++row) {
                assert_int_equal(map.block[row], k);
                if (source) assert_int_equal(map.row_place[source[row]], row);
                if (target) assert_int_equal(map.column_place[target[row]], row);
            }
        }
        sd_batch_map_unplace(&e, &map);
        assert_true(!map.block && !map.row_place);
    }
    close_engine(&c, &e);
}

/* All that batch.h makes, in one call after the other; frees what was made. Whether all of it was. */
static bool make_everything(sd_engine *e, const blocking *b)
{
    sd_batch_plan plan;
    sd_batch_map map = {0};
    sd_batch x = {0};
    sd_batch_factors f = {0};
    bool made = !sd_batch_place(e, b->blocks, b->start, b->wanted, b->source, b->target, &plan);
    if (!made) {
        assert_true(!plan.job && !plan.source && !plan.target && plan.count == 0);
    } else {
        x = sd_batch_new(e, &plan, SD_SINGLE, "blocks");
        f = sd_batch_factors_new(e, &plan, SD_DOUBLE);
        made = x.data && f.data && f.row && f.column && f.state;
        assert_true(made == !e->status);
        if (e->status) assert_true(!f.data && !f.row && !f.column && !f.state);
    }
    const saddle_status status =
        sd_batch_map_place(e, b->blocks, b->start, b->wanted, b->source, b->target, &map);
    assert_true(status == e->status);
    if (status) assert_true(!map.block && !map.start && !map.entry && !map.row_place && !map.column_place);
    made = made && !status;
    sd_batch_map_unplace(e, &map);
    sd_batch_free(e, &x);
    sd_batch_factors_free(e, &f);
    sd_batch_unplace(e, &plan);
    return made;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing");
    const blocking b = random_blocking(&r, 30, 0);
    for (int64_t k = 1;; ++k) {
        failing_allocator fail = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&fail);
        sd_context c;
        sd_engine e;
        open_engine(&c, &e, &hooks);
        const bool made = make_everything(&e, &b);
        assert_true(made == !fail.failed);
        assert_int_equal(e.status, fail.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
        close_engine(&c, &e);
        assert_int_equal(fail.live, 0);
        if (!fail.failed) {
            assert_true(k > 12);
            break;
        }
    }
}

/* As kernels do. */
static void nothing_is_made_after_a_failure(void **state)
{
    (void)state;
    rng r = rng_start("after a failure");
    const blocking b = random_blocking(&r, 10, 0);
    sd_context c;
    sd_engine e;
    open_engine(&c, &e, NULL);
    e.status = SADDLE_DEVICE_FAILED;
    assert_false(make_everything(&e, &b));
    assert_int_equal(e.status, SADDLE_DEVICE_FAILED);
    e.status = SADDLE_OK;
    close_engine(&c, &e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_have_a_job_for_every_wanted_block),
        cmocka_unit_test(plans_of_equal_blocks_are_regular),
        cmocka_unit_test(plans_keep_the_orders_that_they_are_given),
        cmocka_unit_test(maps_tell_where_each_row_and_column_stands),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(nothing_is_made_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
