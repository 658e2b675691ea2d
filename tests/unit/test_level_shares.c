/* How threads share triangles whose rows stand by levels (plan/level_shares.h): every row is made once, and
 * none before what it needs. */
#include "failing_allocator.h"
#include "helpers.h"

#include "plan/level_shares.h"

enum { THIN = 8, WIDEST = 30, NEEDED = 3 };

/* A triangle by levels: rows need some of the level before, mostly those near their own place in it, and a
 * few of earlier ones. */
typedef struct leveled {
    sd_pattern p;
    int32_t levels, *level;
} leveled;

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Ranks that the row of rank r of level l needs, ascending; how many. */
static int needs(rng *r, const int32_t *level, int32_t l, int32_t rank, int32_t *of)
{
    int count = 0;
    if (l == 0) return 0;
    const int32_t before = level[l] - level[l - 1],
                  near = (int32_t)((int64_t)(rank - level[l]) * before / (level[l + 1] - level[l]));
    of[count++] = level[l - 1] + (rng_below(r, 4) ? near : rng_below(r, before));
    while (count < NEEDED && rng_below(r, 2)) of[count++] = rng_below(r, level[l]);
    qsort(of, (size_t)count, sizeof *of, by_number);
    int kept = 1;
    for (int k = 1; k < count; ++k)
        if (of[k] != of[kept - 1]) of[kept++] = of[k];
    return kept;
}

static leveled random_levels(rng *r, int32_t levels, bool upper)
{
    leveled x = {.levels = levels, .level = test_alloc((size_t)levels + 1, sizeof *x.level)};
    for (int32_t l = 0; l < levels; ++l)
        x.level[l + 1] = x.level[l] + 1 + rng_below(r, rng_below(r, 3) ? WIDEST : THIN);
    const int32_t n = x.p.n = x.level[levels];
    int32_t(*of)[NEEDED] = test_alloc((size_t)n, sizeof *of), l = 0;
    int *count = test_alloc((size_t)n, sizeof *count);
    for (int32_t rank = 0; rank < n; ++rank) {
        if (rank == x.level[l + 1]) ++l;
        count[rank] = needs(r, x.level, l, rank, of[rank]);
    }
    x.p.ptr = test_alloc((size_t)n + 1, sizeof *x.p.ptr);
    x.p.ind = test_alloc((size_t)n * NEEDED, sizeof *x.p.ind);
    for (int32_t i = 0; i < n; ++i) {
        const int32_t rank = upper ? n - 1 - i : i;
        int64_t next = x.p.ptr[i];
        for (int k = 0; k < count[rank]; ++k)
            x.p.ind[next++] = upper ? n - 1 - of[rank][count[rank] - 1 - k] : of[rank][k];
        x.p.ptr[i + 1] = next;
    }
    free(of);
    free(count);
    return x;
}

static void free_levels(leveled *x)
{
    free(x->level);
    free(x->p.ptr);
    free(x->p.ind);
}

/* What has been made, when, and by which lane. */
typedef struct maker {
    int32_t step;
    int lane;
} maker;

/* Rows first .. end) as the lane makes them in a step: `waits` if it has waited for the step before. */
static void make_rows(const leveled *x, bool upper, int32_t first, int32_t end, maker by, bool waits,
                      maker *made)
{
    for (int32_t rank = first; rank < end; ++rank) {
        const int32_t i = upper ? x->p.n - 1 - rank : rank;
        for (int64_t k = x->p.ptr[i]; k < x->p.ptr[i + 1]; ++k) {
            const maker other = made[upper ? x->p.n - 1 - x->p.ind[k] : x->p.ind[k]];
            assert_true(other.step >= 0);
            if (other.lane == by.lane) continue;
            assert_true(other.step < by.step - (waits ? 0 : 1));
        }
        assert_int_equal(made[rank].step, -1);
        made[rank] = by;
    }
}

/* How many rows are made before the lane waits. */
static int64_t check_shares(const leveled *x, bool upper, const sd_level_shares *s)
{
    maker *made = test_alloc((size_t)x->p.n, sizeof *made);
    int64_t early = 0;
    for (int32_t rank = 0; rank < x->p.n; ++rank) made[rank].step = -1;
    for (int32_t k = 0; k < s->steps; ++k)
        for (int lane = 0; lane < s->lanes; ++lane) {
            const sd_level_share of = s->share[k * s->lanes + lane];
            const maker by = {k, lane};
            make_rows(x, upper, of.early, of.late, by, false, made);
            make_rows(x, upper, of.begin, of.early, by, true, made);
            make_rows(x, upper, of.late, of.end, by, true, made);
            early += of.late - of.early;
        }
    for (int32_t rank = 0; rank < x->p.n; ++rank) assert_true(made[rank].step >= 0);
    free(made);
    return early;
}

static void rows_are_made_once_and_after_what_they_need(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    int64_t early = 0;
    for (int round = 0; round < 200; ++round) {
        const bool upper = rng_below(&r, 2);
        leveled x = random_levels(&r, rng_below(&r, 40), upper);
        sd_context c;
        sd_level_shares s;
        sd_context_init(&c, NULL, 0);
        assert_int_equal(
            sd_level_shares_make(&c, &x.p, upper, x.levels, x.level, THIN, 1 + rng_below(&r, 5), &s),
            SADDLE_OK);
        assert_true(s.steps <= x.levels);
        early += check_shares(&x, upper, &s);
        sd_level_shares_free(&c, &s);
        assert_int_equal(c.bytes, 0);
        free_levels(&x);
    }
    assert_true(early > 0);
}

/* Level after level of rows that need the one at their own place: nobody has to wait. */
static void rows_that_need_their_own_lane_come_first(void **state)
{
    (void)state;
    enum { LEVELS = 20, WIDE = 64, ROWS = LEVELS * WIDE, LANES = 2 };
    static int64_t ptr[ROWS + 1];
    static int32_t ind[ROWS], level[LEVELS + 1];
    sd_context c;
    sd_level_shares s;
    for (int32_t i = 0; i < ROWS; ++i) {
        ptr[i + 1] = ptr[i] + (i >= WIDE);
        if (i >= WIDE) ind[ptr[i]] = i - WIDE;
    }
    for (int32_t l = 0; l <= LEVELS; ++l) level[l] = l * WIDE;
    const sd_pattern p = {ROWS, ptr, ind};
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_level_shares_make(&c, &p, false, LEVELS, level, THIN, LANES, &s), SADDLE_OK);
    assert_int_equal(s.steps, LEVELS);
    for (int k = 0; k < LEVELS * LANES; ++k) {
        assert_int_equal(s.share[k].late - s.share[k].early, WIDE / LANES);
        assert_int_equal(s.share[k].end - s.share[k].begin, WIDE / LANES);
    }
    sd_level_shares_free(&c, &s);
}

static void thin_levels_are_one_threads(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    int64_t ptr[] = {0, 0, 1, 2, 3, 4};
    int32_t ind[] = {0, 1, 2, 3};
    const int32_t level[] = {0, 1, 2, 3, 4, 5};
    const sd_pattern chain = {ROWS, ptr, ind};
    sd_context c;
    sd_level_shares s;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_level_shares_make(&c, &chain, false, ROWS, level, THIN, 3, &s), SADDLE_OK);
    assert_int_equal(s.steps, 1);
    assert_int_equal(s.share[0].end - s.share[0].begin, ROWS);
    for (int lane = 1; lane < 3; ++lane) assert_int_equal(s.share[lane].begin, s.share[lane].end);
    sd_level_shares_free(&c, &s);
}

static void no_memory_for_shares(void **state)
{
    (void)state;
    int64_t ptr[] = {0, 0};
    const int32_t level[] = {0, 1};
    const sd_pattern one = {1, ptr, NULL};
    failing_allocator a = {.fail_at = 1};
    const saddle_hooks hooks = failing_hooks(&a);
    sd_context c;
    sd_level_shares s;
    sd_context_init(&c, &hooks, 0);
    assert_int_equal(sd_level_shares_make(&c, &one, false, 1, level, THIN, 2, &s), SADDLE_OUT_OF_MEMORY);
    assert_null(s.share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_made_once_and_after_what_they_need),
        cmocka_unit_test(rows_that_need_their_own_lane_come_first),
        cmocka_unit_test(thin_levels_are_one_threads),
        cmocka_unit_test(no_memory_for_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
