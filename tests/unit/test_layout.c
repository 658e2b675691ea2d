/*
 * Where contribution blocks and what fronts work in are, on trees made up at random: nothing that is there at
 * the same time overlaps, neither another block nor panels, with room for delays, that grow from the other
 * end; and hardly more memory is taken than the level with most of it needs.
 */
#include "tree_shapes.h"

#include "plan/contribution.h"
#include "plan/eviction.h"
#include "plan/layout.h"

enum { TREES = 80 };

/* A tree with its layout. */
typedef struct laid_out {
    shape shape;
    sd_context c;
    sd_schedule s;
    sd_panels p;
    int32_t level_of[FRONTS];
    sd_level_bytes level[FRONTS];
    sd_layout to;
    void *memory;
} laid_out;

static void find_levels(laid_out *x)
{
    const sd_schedule *s = &x->s;
    for (int32_t l = 0; l < s->levels; ++l) {
        for (int64_t k = s->cluster_from[s->cluster_ptr[l]]; k < s->cluster_from[s->cluster_ptr[l + 1]]; ++k)
            x->level_of[s->cluster_front[k]] = l;
        for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k) x->level_of[s->large_front[k]] = l;
    }
}

static void lay_out(rng *r, int32_t fronts, int size, int scratch, int number_bytes, laid_out *x)
{
    make_shape(r, fronts, size, &x->shape);
    sd_context_init(&x->c, NULL, 0);
    assert_int_equal(sd_schedule_make(&x->c, &x->shape.t, &x->s), SADDLE_OK);
    x->p = (sd_panels){&x->shape.t, &x->s, number_bytes, 0.03, 0, NULL};
    find_levels(x);
    int64_t panels = 0, largest;
    for (int32_t l = 0; l < x->s.levels; ++l) {
        panels += sd_level_planned(&x->p, l, &largest);
        x->level[l] =
            (sd_level_bytes){sd_with_slack(panels, x->p.slack), scratch > 0 ? rng_below(r, scratch) : 0};
    }
    const size_t bytes = (size_t)sd_layout_room(&x->shape.t, &x->s);
    x->memory = test_alloc(bytes + 1, 1);
    memset(x->memory, 0x5a, bytes + 1);
    sd_layout_make(&x->shape.t, &x->s, number_bytes, x->level, x->memory, &x->to);
    assert_int_equal(((char *)x->memory)[bytes], 0x5a); /* it keeps to its room */
    x->p.extent = x->to.extent;
}

static void free_layout(laid_out *x)
{
    free(x->memory);
    sd_schedule_free(&x->c, &x->s);
    assert_int_equal(x->c.bytes, 0);
}

/* Bytes of the arena. */
typedef struct interval {
    int64_t begin, end;
    int32_t from, to;
} interval;

static int64_t list_intervals(const laid_out *x, interval *all)
{
    const sd_tree *t = &x->shape.t;
    int64_t count = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int64_t numbers = sd_rest_size(sd_front_below(t, f));
        if (t->parent[f] < 0) assert_int_equal(x->to.rest[f], -1);
        if (x->s.inner[f]) assert_int_equal(x->to.rest[f], x->s.rest[f]);
        if (t->parent[f] < 0 || x->s.inner[f]) continue;
        assert_int_equal(x->to.rest[f] % 2, 0);
        all[count++] =
            (interval){x->to.rest[f] * x->p.number_bytes, (x->to.rest[f] + numbers) * x->p.number_bytes,
                       x->level_of[f], x->level_of[t->parent[f]]};
    }
    for (int32_t l = 0; l < x->s.levels; ++l) {
        assert_int_equal(x->to.scratch[l] % 256, 0);
        all[count++] = (interval){x->to.scratch[l], x->to.scratch[l] + x->level[l].scratch, l, l};
    }
    return count;
}

static void assert_nothing_overlaps(const laid_out *x)
{
    interval *all = test_alloc((size_t)2 * FRONTS, sizeof *all);
    const int64_t count = list_intervals(x, all);
    for (int64_t i = 0; i < count; ++i) {
        assert_true(0 <= all[i].begin && all[i].end <= x->to.bytes);
        for (int32_t l = all[i].from; l <= all[i].to; ++l)
            assert_true(all[i].begin == all[i].end || all[i].begin >= x->to.bytes - x->to.extent[l]);
        for (int64_t j = 0; j < i; ++j) {
            const bool together = all[i].from <= all[j].to && all[j].from <= all[i].to;
            const bool apart = all[i].begin >= all[j].end || all[j].begin >= all[i].end;
            assert_true(!together || apart || all[i].begin == all[i].end || all[j].begin == all[j].end);
        }
    }
    free(all);
}

/* Panels of each step, as far as the device lets them grow, end before everything that is there in this step
 * or will be in a later one; and as planned, with their room for delays, they fit. */
static void assert_panels_keep_away(const laid_out *x, int64_t room)
{
    const sd_eviction e = sd_eviction_choose(&x->p, room);
    if (!e.fits) return;
    sd_panel_step *step = test_alloc((size_t)e.steps, sizeof *step);
    interval *all = test_alloc((size_t)2 * FRONTS, sizeof *all);
    const int64_t count = list_intervals(x, all), arena = e.kept - x->to.bytes;
    sd_eviction_steps(&x->p, &e, step);
    int64_t planned = 0;
    assert_true(arena >= 0 && arena % 16 == 0);
    for (int32_t k = e.evicted; k < e.steps; ++k) {
        planned += step[k].planned;
        assert_true(sd_with_slack(planned, x->p.slack) <= step[k].ceiling);
        for (int64_t i = 0; i < count; ++i)
            if (all[i].to >= step[k].level && all[i].begin < all[i].end)
                assert_true(step[k].ceiling <= arena + all[i].begin);
    }
    free(all);
    free(step);
}

static void what_is_there_at_the_same_time_does_not_overlap(void **state)
{
    (void)state;
    rng r = rng_start("layout");
    laid_out *x = test_alloc(1, sizeof *x);
    for (int round = 0; round < TREES; ++round) {
        const int size = round % 3 == 0 ? 6 : round % 3 == 1 ? 40 : 200;
        lay_out(&r, 1 + rng_below(&r, FRONTS), size, round % 4 ? 1 << (4 * (round % 4) + 8) : 0,
                round % 2 ? 8 : 4, x);
        assert_nothing_overlaps(x);
        const sd_eviction whole = sd_eviction_choose(&x->p, INT64_MAX);
        assert_int_equal(whole.levels, 0);
        assert_panels_keep_away(x, INT64_MAX);
        for (int k = 0; k < 5; ++k)
            assert_panels_keep_away(x, whole.least + (whole.whole - whole.least) * k / 4);
        free_layout(x);
    }
    free(x);
}

/* Most that some level needs, whatever the places. */
static int64_t bound_of(const laid_out *x)
{
    const sd_tree *t = &x->shape.t;
    int64_t most = 0;
    for (int32_t l = 0; l < x->s.levels; ++l) {
        int64_t bytes = x->level[l].panels + x->level[l].scratch;
        for (int32_t f = 0; f < t->fronts; ++f)
            if (t->parent[f] >= 0 && !x->s.inner[f] && x->level_of[f] <= l && l <= x->level_of[t->parent[f]])
                bytes += x->p.number_bytes * sd_rest_size(sd_front_below(t, f));
        if (bytes > most) most = bytes;
    }
    return most;
}

static void gaps_are_few(void **state)
{
    (void)state;
    rng r = rng_start("layout gaps");
    laid_out *x = test_alloc(1, sizeof *x);
    double sum = 0;
    for (int round = 0; round < TREES; ++round) {
        lay_out(&r, FRONTS, 60, 1 << 16, 8, x);
        const double part = (double)sd_eviction_choose(&x->p, INT64_MAX).whole / (double)bound_of(x);
        assert_true(part >= 1 && part < 1.25);
        sum += part;
        free_layout(x);
    }
    assert_true(sum / TREES < 1.03);
    free(x);
}

/* A chain is a level a front: each block is there in two of them. */
static void a_chain_takes_two_blocks(void **state)
{
    (void)state;
    enum { COLUMNS = 100, BELOW = 100 };
    laid_out *x = test_alloc(1, sizeof *x);
    shape *s = &x->shape;
    memset(s, 0, sizeof *s);
    s->t = (sd_tree){.fronts = FRONTS, .first = s->first, .parent = s->parent, .child = s->child};
    s->t.child_ptr = s->child_ptr;
    s->t.row_ptr = s->row_ptr;
    for (int32_t f = 0; f < FRONTS; ++f) {
        s->first[f + 1] = COLUMNS * (f + 1);
        s->row_ptr[f + 1] = s->row_ptr[f] + (f < FRONTS - 1 ? BELOW : 0);
        s->parent[f] = f < FRONTS - 1 ? f + 1 : -1;
        s->child_ptr[f + 1] = f;
        s->child[f] = f;
    }
    sd_context_init(&x->c, NULL, 0);
    assert_int_equal(sd_schedule_make(&x->c, &s->t, &x->s), SADDLE_OK);
    assert_int_equal(x->s.levels, FRONTS);
    memset(x->level, 0, sizeof x->level);
    find_levels(x);
    x->memory = test_alloc((size_t)sd_layout_room(&s->t, &x->s), 1);
    x->p = (sd_panels){&s->t, &x->s, 8, 0, 0, NULL};
    sd_layout_make(&s->t, &x->s, 8, x->level, x->memory, &x->to);
    assert_nothing_overlaps(x);
    assert_int_equal(x->to.bytes, (2 * 8 * sd_rest_size(BELOW) + 255) / 256 * 256);
    free_layout(x);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_at_the_same_time_does_not_overlap),
        cmocka_unit_test(gaps_are_few),
        cmocka_unit_test(a_chain_takes_two_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
