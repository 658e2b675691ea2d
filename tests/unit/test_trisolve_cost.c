/* The cost model of solves with a block LDL' on plans that are laid down here: which it takes for faster. */
#include "helpers.h"

#include "factor/trisolve_cost.h"
#include "plan/ldlt_plan.h"

/* `levels` levels of `width` blocks of 8 rows; each is coupled with `couplings` blocks of the level before
 * it, all of whose entries are there. */
static sd_ldlt_plan plan_of(int32_t levels, int32_t width, int32_t couplings)
{
    const int32_t blocks = levels * width;
    sd_ldlt_plan p = {.n = 8 * blocks, .blocks = blocks, .levels = levels, .largest = 8};
    p.level = test_alloc((size_t)levels + 1, sizeof *p.level);
    p.start = test_alloc((size_t)blocks + 1, sizeof *p.start);
    p.row = test_alloc((size_t)blocks + 1, sizeof *p.row);
    p.diagonal = test_alloc((size_t)blocks + 1, sizeof *p.diagonal);
    p.square = test_alloc((size_t)blocks + 1, sizeof *p.square);
    p.list = test_alloc((size_t)blocks * 2 * (size_t)couplings + 1, sizeof *p.list);
    p.level[0] = p.start[0] = 0;
    p.row[0] = p.square[0] = 0;
    for (int32_t l = 0; l < levels; ++l) {
        p.level[l + 1] = (l + 1) * width;
        for (int32_t i = p.level[l]; i < p.level[l + 1]; ++i) {
            int64_t next = p.row[i];
            p.start[i + 1] = 8 * (i + 1);
            p.square[i + 1] = 64 * ((int64_t)i + 1);
            for (int32_t k = 0; k < couplings && l > 0; ++k)
                p.list[next++] = (sd_ldlt_block){.height = 8, .width = 8, .other = i - width};
            p.diagonal[i] = next;
            for (int32_t k = 0; k < couplings && l + 1 < levels; ++k)
                p.list[next++] = (sd_ldlt_block){.height = 8, .width = 8, .other = i + width};
            p.row[i + 1] = next;
        }
    }
    p.entries = p.row[blocks] / 2 * 64;
    return p;
}

static void free_plan(sd_ldlt_plan *p)
{
    free(p->level);
    free(p->start);
    free(p->row);
    free(p->diagonal);
    free(p->square);
    free(p->list);
}

static sd_trisolve_work work_of(int32_t levels, int32_t width, int32_t couplings)
{
    sd_ldlt_plan p = plan_of(levels, width, couplings);
    const sd_trisolve_work w = sd_ldlt_work_of(&p, SD_DOUBLE);
    free_plan(&p);
    return w;
}

static void a_plan_is_counted(void **state)
{
    (void)state;
    const sd_trisolve_work w = work_of(10, 300, 2);
    assert_int_equal(w.levels, 10);
    assert_true(w.longest == 32);
    assert_true(w.bytes == 8 * (2.0 * (9 * 300 * 2 * 64 + 3000 * 64) + 4 * 24000) + 9 * 300 * 4 * 24.0);
}

/* A GPU waits for a level, so that sweeps over a long chain are faster, and over few wide levels are not. */
static void solves_by_levels_or_by_sweeps(void **state)
{
    (void)state;
    const sd_trisolve_work chain = work_of(2000, 1, 1), wide = work_of(3, 20000, 3),
                           narrow = work_of(2000, 60, 4);
    assert_true(sd_trisolve_cost_swept(&sd_trisolve_gpu, &chain, 4) <
                sd_trisolve_cost_exact(&sd_trisolve_gpu, &chain));
    assert_true(sd_trisolve_cost_swept(&sd_trisolve_gpu, &wide, 4) >
                sd_trisolve_cost_exact(&sd_trisolve_gpu, &wide));
    assert_true(sd_trisolve_sweeps_worth(&sd_trisolve_gpu, &chain) >= 16);
    assert_true(sd_trisolve_sweeps_worth(&sd_trisolve_gpu, &wide) < 4);
    const sd_trisolve_work *all[] = {&chain, &wide, &narrow};
    for (int k = 0; k < 3; ++k) {
        const int worth = sd_trisolve_sweeps_worth(&sd_trisolve_gpu, all[k]);
        assert_true(sd_trisolve_cost_swept(&sd_trisolve_gpu, all[k], worth) <=
                    sd_trisolve_cost_exact(&sd_trisolve_gpu, all[k]) * (1 + 1e-12));
        if (worth < all[k]->levels)
            assert_true(sd_trisolve_cost_swept(&sd_trisolve_gpu, all[k], worth + 1) >
                        sd_trisolve_cost_exact(&sd_trisolve_gpu, all[k]));
    }
}

static void nothing_costs_nothing_that_is_not_finite(void **state)
{
    (void)state;
    const sd_trisolve_work all[] = {work_of(0, 0, 0), work_of(1, 1, 0)};
    for (int k = 0; k < 2; ++k) {
        assert_true(isfinite(sd_trisolve_cost_exact(&sd_trisolve_gpu, &all[k])) &&
                    isfinite(sd_trisolve_cost_swept(&sd_trisolve_gpu, &all[k], 4)));
        assert_true(sd_trisolve_sweeps_worth(&sd_trisolve_gpu, &all[k]) <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_counted),
        cmocka_unit_test(solves_by_levels_or_by_sweeps),
        cmocka_unit_test(nothing_costs_nothing_that_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
