/* Every allocation of the door's own fails once, in a session of all calls: it is told, nothing is lost (a
 * sanitizer looks), and what comes after it works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "adapters/common/failing_at.h"
#include "adapters/hsl/ma27.h"
#include "adapters/hsl/ma97.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* [2 . 1; . -3 .; 1 . 4] with an entry above the diagonal, which is left out. x = 1 solves A x = b. */
enum { N = 3, ENTRIES = 5 };
static const int ptr[N + 1] = {1, 3, 4, 6}, row[ENTRIES] = {1, 3, 2, 1, 3};
static const double b[N] = {3, -3, 5};

/* The session may begin anew with what it has. */
typedef struct session97 {
    struct ma97_control_d control;
    struct ma97_info_d info;
    void *akeep, *fkeep, *other;
    double x[N], scale[N];
} session97;

/* The first flag that is an error, or 0. Everything goes on as if there were none. */
static int run_ma97(session97 *s)
{
    double val[ENTRIES] = {2, 1, -3, 99, 4};
    int order[N] = {1, 2, 3}, flag = 0;
    for (int i = 0; i < N; ++i) s->scale[i] = 1;
    memcpy(s->x, b, sizeof b);
    ma97_analyse_d(1, N, ptr, row, val, &s->akeep, &s->control, &s->info, order);
    if (s->info.flag < 0) flag = s->info.flag;
    ma97_factor_d(4, NULL, NULL, val, &s->akeep, &s->fkeep, &s->control, &s->info, s->scale);
    if (!flag && s->info.flag < 0) flag = s->info.flag;
    ma97_factor_d(4, NULL, NULL, val, &s->akeep, &s->other, &s->control, &s->info, s->scale);
    if (!flag && s->info.flag < 0) flag = s->info.flag;
    ma97_solve_d(0, 1, s->x, N, &s->akeep, &s->fkeep, &s->control, &s->info);
    if (!flag && s->info.flag < 0) flag = s->info.flag;
    return flag;
}

static void test_ma97_tells_that_memory_is_short(void **state)
{
    (void)state;
    for (int ordering = 0; ordering <= 8; ++ordering) {
        bool failed = true;
        for (int k = 0; failed; ++k) {
            session97 s = {0};
            ma97_default_control_d(&s.control);
            s.control.f_arrays = 1;
            s.control.print_level = -1;
            s.control.ordering = ordering;
            s.control.scaling = ordering % 3;
            s.control.small = 1e-10;
            left = k;
            const int flag = run_ma97(&s);
            failed = left < 0;
            left = -1;
            assert_int_equal(flag, failed ? MA97_NO_MEMORY : 0);
            assert_int_equal(run_ma97(&s), 0);
            for (int i = 0; i < N; ++i) assert_true(fabs(s.x[i] - 1) < 1e-14);
            assert_int_equal(s.info.num_neg, 1);
            ma97_finalise_d(&s.akeep, &s.fkeep);
            ma97_finalise_d(NULL, &s.other);
        }
    }
}

/* The first error of analysis and factorization; x is NaN where the solve fails. */
static int run_ma27(int iflag, double *x)
{
    const int n = N, nz = ENTRIES, irn[ENTRIES] = {1, 3, 2, 7, 3}, icn[ENTRIES] = {1, 1, 2, 1, 3};
    int icntl[MA27_ICNTL], info[MA27_INFO], ikeep[3 * N] = {3, 2, 1}, iw[64] = {0}, iw1[2 * N], liw = 64,
                                                      la = ENTRIES, nsteps, maxfrt;
    double cntl[MA27_CNTL], a[ENTRIES] = {2, 1, -3, 99, 4}, w[N], ops;
    ma27id_(icntl, cntl);
    icntl[0] = icntl[1] = 0;
    cntl[2] = 1e-10;
    memcpy(x, b, sizeof b);
    ma27ad_(&n, &nz, irn, icn, iw, &liw, ikeep, iw1, &nsteps, &iflag, icntl, cntl, info, &ops);
    if (info[0] < 0) return info[0];
    ma27bd_(&n, &nz, irn, icn, a, &la, iw, &liw, ikeep, &nsteps, &maxfrt, iw1, icntl, cntl, info);
    ma27cd_(&n, a, &la, iw, &liw, w, &maxfrt, x, iw1, &nsteps, icntl, cntl);
    return info[0] < 0 ? info[0] : 0;
}

static void test_ma27_tells_that_memory_is_short(void **state)
{
    (void)state;
    for (int iflag = 0; iflag <= 1; ++iflag) {
        bool failed = true;
        for (int k = 0; failed; ++k) {
            double x[N];
            left = k;
            const int flag = run_ma27(iflag, x);
            failed = left < 0;
            left = -1;
            assert_int_equal(flag, failed ? MA27_FAILED : 0);
            assert_int_equal(run_ma27(iflag, x), 0);
            for (int i = 0; i < N; ++i) assert_true(fabs(x[i] - 1) < 1e-14);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ma97_tells_that_memory_is_short),
        cmocka_unit_test(test_ma27_tells_that_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
