/*
 * The schedule of a device, on trees made up at random: every front runs once, after its children; clusters
 * are connected, of small fronts; contribution blocks that are in one at the same time do not overlap.
 */
#include "failing_allocator.h"
#include "tree_shapes.h"

#include "plan/contribution.h"

/* Level of each front, and the number of its cluster, or -1. */
typedef struct found {
    int32_t level[FRONTS], cluster[FRONTS], place[FRONTS];
} found;

static void read_lists(const sd_tree *t, const sd_schedule *s, found *at)
{
    int32_t seen = 0;
    for (int32_t f = 0; f < t->fronts; ++f) at->level[f] = -1;
    for (int32_t l = 0; l < s->levels; ++l) {
        for (int32_t c = s->cluster_ptr[l]; c < s->cluster_ptr[l + 1]; ++c)
            for (int64_t k = s->cluster_from[c]; k < s->cluster_from[c + 1]; ++k, ++seen) {
                const int32_t f = s->cluster_front[k];
                assert_int_equal(at->level[f], -1);
                assert_true(sd_front_columns(t, f) + sd_front_below(t, f) <= SD_SMALL_ROWS);
                const int64_t columns = sd_front_columns(t, f), rows = columns + sd_front_below(t, f);
                if (c >= s->cluster_tiny[l]) assert_true(sd_small_numbers(rows, columns) <= SD_TINY_NUMBERS);
                at->level[f] = l;
                at->cluster[f] = c;
                at->place[f] = (int32_t)k;
                assert_int_equal(s->large_at[f], -1);
            }
        for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k, ++seen) {
            const int32_t f = s->large_front[k];
            assert_int_equal(at->level[f], -1);
            assert_true(sd_front_columns(t, f) + sd_front_below(t, f) > SD_SMALL_ROWS);
            at->level[f] = l;
            at->cluster[f] = -1;
            assert_int_equal(s->large_at[f], k);
        }
    }
    assert_int_equal(seen, t->fronts);
}

static bool are_together(const found *at, int32_t f, int32_t g)
{
    return at->cluster[f] >= 0 && at->cluster[f] == at->cluster[g];
}

static void check_order(const sd_tree *t, const sd_schedule *s, const found *at)
{
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t parent = t->parent[f];
        if (parent < 0) assert_false(s->inner[f]);
        if (!s->inner[f]) assert_int_equal(s->rest[f], -1);
        if (parent < 0) continue;
        assert_int_equal(s->inner[f], are_together(at, f, parent));
        if (s->inner[f])
            assert_true(at->place[f] < at->place[parent]);
        else
            assert_true(at->level[f] < at->level[parent]);
    }
    for (int32_t c = 0; c < s->clusters; ++c) /* connected: all but the last have their parent in it */
        for (int64_t k = s->cluster_from[c]; k + 1 < s->cluster_from[c + 1]; ++k)
            assert_true(s->inner[s->cluster_front[k]]);
}

/* Whether the blocks of two inner fronts are there at the same time and in the same memory. */
static bool meet(const sd_tree *t, const found *at, int32_t f, int32_t g)
{
    return are_together(at, f, g) && at->place[f] <= at->place[t->parent[g]] &&
           at->place[g] <= at->place[t->parent[f]];
}

static void check_places(const sd_tree *t, const sd_schedule *s, const found *at)
{
    for (int32_t f = 0; f < t->fronts; ++f) {
        if (!s->inner[f]) continue;
        const int64_t begin = s->rest[f], end = begin + sd_rest_size(sd_front_below(t, f));
        assert_true(begin >= 0 && begin % 2 == 0 && end <= s->workspace[at->level[f]]);
        for (int32_t g = 0; g < f; ++g) {
            if (!s->inner[g] || !meet(t, at, f, g)) continue;
            const int64_t other = s->rest[g], last = other + sd_rest_size(sd_front_below(t, g));
            assert_true(begin >= last || other >= end || begin == end || other == last);
        }
    }
}

static void schedules_run_everything_once_and_in_order(void **state)
{
    (void)state;
    rng r = rng_start("schedule");
    shape *s = malloc(sizeof *s);
    for (int round = 0; round < 60; ++round) {
        sd_context c;
        sd_schedule made;
        found at;
        sd_context_init(&c, NULL, 0);
        make_shape(&r, 1 + rng_below(&r, FRONTS), round % 3 == 0 ? 6 : round % 3 == 1 ? 40 : 200, s);
        assert_int_equal(sd_schedule_make(&c, &s->t, &made), SADDLE_OK);
        read_lists(&s->t, &made, &at);
        check_order(&s->t, &made, &at);
        check_places(&s->t, &made, &at);
        sd_schedule_free(&c, &made);
        assert_int_equal(c.bytes, 0);
    }
    free(s);
}

static void a_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    rng r = rng_start("schedule memory");
    shape *s = malloc(sizeof *s);
    make_shape(&r, 50, 60, s);
    for (int64_t k = 1;; k++) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_schedule made;
        sd_context_init(&c, &hooks, 0);
        const saddle_status status = sd_schedule_make(&c, &s->t, &made);
        if (!status) sd_schedule_free(&c, &made);
        assert_int_equal(f.live, 0);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_run_everything_once_and_in_order),
        cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
