/*
 * What the tests of this door share: a matrix, and the calls of a host of MA97 and of MA27, as Ipopt makes
 * them.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "adapters/hsl/ma27.h"
#include "adapters/hsl/ma97.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A KKT matrix: the lower triangle by columns, from 1, as Ipopt gives it. Inertia (3, 2, 0).
 *
 *     2 . 1 1 .        rows 1 to 3: a Hessian
 *     . 3 . . 1        rows 4 and 5: two constraints, of which the second is 0 with `last` = 0
 *     1 . 4 1 .
 *     1 . 1 0 .
 *     . 1 . . 0 */
enum { N = 5, ENTRIES = 9 };
static const int ptr1[N + 1] = {1, 4, 6, 8, 9, 10}, row1[] = {1, 3, 4, 2, 5, 3, 4, 4, 5};
static const double val1[] = {2, 1, 1, 3, 1, 4, 1, 0, 0};

static inline void multiply(const double *val, const double *x, double *y)
{
    for (int i = 0; i < N; ++i) y[i] = 0;
    for (int j = 0; j < N; ++j)
        for (int k = ptr1[j] - 1; k < ptr1[j + 1] - 1; ++k) {
            const int i = row1[k] - 1;
            y[i] += val[k] * x[j];
            if (i != j) y[j] += val[k] * x[i];
        }
}

static inline void assert_solution(const double *x)
{
    for (int i = 0; i < N; ++i) assert_true(fabs(x[i] - (i + 1)) < 1e-12);
}

static inline void right_hand_side(const double *val, double *b)
{
    const double x[N] = {1, 2, 3, 4, 5};
    multiply(val, x, b);
}

/* As Ipopt begins. */
static inline struct ma97_control_d ipopt_control(void)
{
    struct ma97_control_d control;
    ma97_default_control_d(&control);
    control.f_arrays = 1;
    control.action = 0;
    control.u = 1e-8;
    control.print_level = -1;
    return control;
}

/* ---- MA27 ---- */

/* All that a caller of MA27 has. */
typedef struct ma27 {
    int icntl[MA27_ICNTL], info[MA27_INFO], *iw, ikeep[3 * N], iw1[2 * N], liw, la, nsteps, maxfrt;
    double cntl[MA27_CNTL], *a;
} ma27;
static const int irn[] = {1, 1, 4, 2, 5, 3, 4, 4, 5}, icn[] = {1, 3, 1, 2, 2, 3, 3, 4, 5}; /* (1, 3) above */

static inline void ma27_begin(ma27 *s)
{
    const int n = N, nz = ENTRIES, iflag = 0;
    int room[64], length = 64;
    double ops;
    memset(s, 0, sizeof *s);
    ma27id_(s->icntl, s->cntl);
    s->icntl[0] = s->icntl[1] = 0;
    s->cntl[0] = 1e-8;
    ma27ad_(&n, &nz, irn, icn, room, &length, s->ikeep, s->iw1, &s->nsteps, &iflag, s->icntl, s->cntl,
            s->info, &ops);
    assert_int_equal(s->info[0], 0);
    s->la = s->info[4];
    s->liw = s->info[5];
    assert_true(s->la >= ENTRIES && s->liw > 0 && s->nsteps >= 1);
    s->iw = malloc((size_t)s->liw * sizeof *s->iw);
    s->a = malloc((size_t)s->la * sizeof *s->a);
}

static inline void ma27_end(ma27 *s)
{
    free(s->iw);
    free(s->a);
}

static inline void ma27_factor(ma27 *s, const double *val)
{
    const int n = N, nz = ENTRIES;
    memcpy(s->a, val, ENTRIES * sizeof *val);
    ma27bd_(&n, &nz, irn, icn, s->a, &s->la, s->iw, &s->liw, s->ikeep, &s->nsteps, &s->maxfrt, s->iw1,
            s->icntl, s->cntl, s->info);
}

static inline void ma27_solve(ma27 *s, double *x)
{
    const int n = N;
    double w[N];
    ma27cd_(&n, s->a, &s->la, s->iw, &s->liw, w, &s->maxfrt, x, s->iw1, &s->nsteps, s->icntl, s->cntl);
}

static inline void assert_ma27_solves(ma27 *s, const double *val)
{
    double x[N];
    right_hand_side(val, x);
    ma27_solve(s, x);
    assert_solution(x);
}
