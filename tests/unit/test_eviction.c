/*
 * Which panels leave a device, on trees made up at random: steps run everything once and in the order of the
 * schedule, those that leave fit their regions, all of it fits the bytes that there are, and no fewer levels
 * would do. What stays never grows to where something else is, in that level or in a later one.
 */
#include "tree_shapes.h"

#include "plan/eviction.h"

enum { TREES = 60, ROOMS = 12 };

/* Bytes that are not for panels, in each level. */
static int64_t extents[FRONTS];

static int64_t extent_of(const sd_panels *p, int32_t level)
{
    return p->extent ? p->extent[level] : 0;
}

/* Steps go through the schedule from its beginning to its end. */
static void assert_everything_runs(const sd_panels *p, const sd_eviction *e, const sd_panel_step *step)
{
    const sd_schedule *s = p->schedule;
    int32_t cluster = 0, large = 0, level = 0;
    int64_t host = 0, kept = 0, all = 0, most = 0, needed = 0;
    for (int32_t k = 0; k < e->steps; ++k) {
        const sd_panel_step *at = &step[k];
        int64_t bytes = 0, rows = 0;
        assert_true(at->level == level || at->level == level + 1);
        level = at->level;
        assert_int_equal(at->cluster_from, cluster);
        assert_int_equal(at->large_from, large);
        cluster = at->cluster_to;
        large = at->large_to;
        assert_true(s->cluster_ptr[level] <= at->cluster_from && cluster <= s->cluster_ptr[level + 1]);
        assert_true(s->large_ptr[level] <= at->large_from && large <= s->large_ptr[level + 1]);
        for (int32_t c = at->cluster_from; c < at->cluster_to; ++c) {
            assert_int_equal(c >= at->cluster_tiny, c >= s->cluster_tiny[level]);
            for (int64_t i = s->cluster_from[c]; i < s->cluster_from[c + 1]; ++i)
                bytes += sd_panel_planned(p, s->cluster_front[i]);
        }
        assert_true(at->cluster_from <= at->cluster_tiny && at->cluster_tiny <= at->cluster_to);
        for (int32_t i = at->large_from; i < at->large_to; ++i) {
            bytes += sd_panel_planned(p, s->large_front[i]);
            rows += sd_step_rows(p->tree, s->large_front[i]);
        }
        if (at->large_to > at->large_from + 1 && p->most_rows > 0) assert_true(rows <= p->most_rows);
        most = rows > most ? rows : most;
        assert_int_equal(at->planned, bytes);
        all += bytes;
        assert_int_equal(at->capacity > 0, k < e->evicted);
        assert_int_equal(at->capacity > 0, level < e->levels);
        if (at->capacity == 0) kept += bytes;
        const int64_t now = kept > 0 ? sd_with_slack(kept, p->slack) : 0;
        needed = now + extent_of(p, level) > needed ? now + extent_of(p, level) : needed;
        if (at->capacity == 0) {
            assert_true(now <= at->ceiling);
            for (int32_t l = level; l < s->levels; ++l) assert_true(at->ceiling + extent_of(p, l) <= e->kept);
            continue;
        }
        assert_int_equal(at->capacity, sd_with_slack(bytes, p->slack));
        assert_true(at->capacity <= e->region);
        assert_int_equal(at->host, host);
        host += at->capacity;
    }
    assert_int_equal(cluster, s->clusters);
    assert_int_equal(large, s->large);
    assert_int_equal(all, e->planned);
    assert_int_equal(most, e->rows);
    assert_int_equal(host, e->host);
    if (e->levels > 0) assert_true(e->kept < needed + 256);
    assert_true(e->kept >= needed);
}

static void check_room(const sd_panels *p, int64_t room)
{
    const sd_eviction e = sd_eviction_choose(p, room);
    assert_int_equal(e.fits, room >= e.least);
    if (!e.fits) return;
    sd_panel_step *step = test_alloc((size_t)e.steps, sizeof *step);
    sd_eviction_steps(p, &e, step);
    assert_everything_runs(p, &e, step);
    assert_true(e.kept + 2 * e.region <= room);
    if (e.levels == 0 && p->most_rows == 0) assert_int_equal(e.steps, p->schedule->levels);
    assert_int_equal(e.levels == 0, e.whole <= room);
    if (!p->extent) assert_int_equal(e.whole, sd_with_slack(e.planned, p->slack));
    free(step);
}

static void steps_run_everything_and_keep_to_their_room(void **state)
{
    (void)state;
    rng r = rng_start("eviction");
    shape *s = test_alloc(1, sizeof *s);
    for (int k = 0; k < TREES; ++k) {
        sd_context c;
        sd_schedule made;
        sd_context_init(&c, NULL, 0);
        make_shape(&r, 1 + rng_below(&r, FRONTS), 5 + rng_below(&r, 300), s);
        assert_int_equal(sd_schedule_make(&c, &s->t, &made), SADDLE_OK);
        const int64_t largest = rng_below(&r, 1 << 21);
        for (int32_t l = 0; l < made.levels; ++l) extents[l] = largest > 0 ? rng_below(&r, (int)largest) : 0;
        const sd_panels p = {
            &s->t, &made, k % 2 ? 8 : 4, k % 3 * 0.2, k % 5 ? 0 : 500 * (k % 4 + 1), k % 4 ? extents : NULL};
        const sd_eviction whole = sd_eviction_choose(&p, INT64_MAX), none = sd_eviction_choose(&p, 0);
        assert_true(whole.fits && whole.levels == 0 && whole.host == 0 && whole.region == 0);
        assert_false(none.fits);
        check_room(&p, none.least - 1);
        check_room(&p, none.least + 512); /* regions are whole numbers of units */
        for (int room = 0; room <= ROOMS; ++room) check_room(&p, whole.whole / ROOMS * room);
        sd_schedule_free(&c, &made);
    }
    free(s);
}

/* With less room, more levels leave. */
static void less_room_means_more_on_the_host(void **state)
{
    (void)state;
    rng r = rng_start("eviction by room");
    shape *s = test_alloc(1, sizeof *s);
    sd_context c;
    sd_schedule made;
    sd_context_init(&c, NULL, 0);
    make_shape(&r, FRONTS, 200, s);
    assert_int_equal(sd_schedule_make(&c, &s->t, &made), SADDLE_OK);
    const sd_panels p = {&s->t, &made, 8, 0.03, 0, NULL};
    const int64_t whole = sd_eviction_choose(&p, INT64_MAX).whole;
    int32_t levels = 0;
    for (int64_t room = whole; room > 0; room -= whole / 16) {
        const sd_eviction e = sd_eviction_choose(&p, room);
        if (!e.fits) break;
        assert_true(e.levels >= levels);
        levels = e.levels;
    }
    assert_true(levels > 0);
    sd_schedule_free(&c, &made);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_run_everything_and_keep_to_their_room),
        cmocka_unit_test(less_room_means_more_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
