/* The pivots of a factorization without fronts, as every backend takes them. */
#pragma once

#include "backend/simplicial.h"

#include <float.h>
#include <math.h>

/* The inverse of D at k; a 2x2 pivot that is of rank one has its pseudo-inverse, as in solves with fronts. */
static inline void sd_invert_pivot(sd_simplicial *m, int32_t k)
{
    const double *d = m->d + 2 * (int64_t)k;
    double *in = m->inverse + 2 * (int64_t)k;
    if (d[1] == 0) {
        in[0] = d[0] == 0 ? 0 : 1 / d[0];
        in[1] = 0;
        return;
    }
    const double b = d[1], a = d[0] / b, c = d[2] / b, determinant = a * c - 1;
    in[3] = 0;
    if (fabs(determinant) > 8 * DBL_EPSILON) {
        const double scale = 1 / determinant / b;
        in[0] = c * scale, in[1] = -scale, in[2] = a * scale;
    } else {
        const double trace = a + c, scale = 1 / trace / trace / b;
        in[0] = a * scale, in[1] = scale, in[2] = c * scale;
    }
}

/* A static pivot: not below the least size, and of the sign that is expected. */
static inline double sd_regular_pivot(double pivot, int32_t variable, const sd_pivoting *rule,
                                      sd_pivots *pivots)
{
    const int expected = rule->signs ? rule->signs[variable] : 0;
    const int sign = expected ? expected : pivot < 0 ? -1 : 1;
    if (!(pivot * sign < rule->regularise)) return pivot;
    ++pivots->perturbed;
    return sign * rule->regularise;
}

static inline void sd_count_pivot(double d, sd_pivots *pivots)
{
    pivots->positive += d > 0;
    pivots->negative += d < 0;
    pivots->zero += d == 0;
}

/* The pivot that ends at row k, where its node does; false where the rule does not allow it. */
static inline bool sd_take_pivot(sd_simplicial *m, int32_t k, const sd_pivoting *rule, sd_pivots *pivots)
{
    double *const d = m->d + 2 * (int64_t)k;
    switch (rule->rule) {
    case SD_PIVOT_STATIC: d[0] = sd_regular_pivot(d[0], m->s.variable[k], rule, pivots); break;
    case SD_PIVOT_POSITIVE:
        if (!(d[0] > 0 && d[0] <= DBL_MAX)) return false;
        break;
    default:
        if (!(fabs(d[0]) > rule->small && fabs(d[0]) <= DBL_MAX)) return false;
    }
    sd_count_pivot(d[0], pivots);
    if (fabs(d[0]) < m->least) m->least = fabs(d[0]);
    m->inverse[2 * (int64_t)k] = d[0] == 0 ? 0 : 1 / d[0];
    m->inverse[2 * (int64_t)k + 1] = 0;
    return true;
}

/* The same of a 2x2 pivot that begins at k; one that falls into two is two. */
static inline bool sd_take_pair(sd_simplicial *m, int32_t k, const sd_pivoting *rule, sd_pivots *pivots)
{
    const double *const d = m->d + 2 * (int64_t)k;
    if (d[1] == 0) return sd_take_pivot(m, k, rule, pivots) && sd_take_pivot(m, k + 1, rule, pivots);
    const double determinant = (d[0] / d[1]) * (d[2] / d[1]) - 1;
    if (!(fabs(determinant) > 8 * DBL_EPSILON && fabs(determinant) <= DBL_MAX)) return false;
    sd_invert_pivot(m, k);
    /* of one sign where the determinant is positive; the smaller eigenvalue is determinant / larger */
    pivots->positive += determinant < 0 ? 1 : d[0] > 0 ? 2 : 0;
    pivots->negative += determinant < 0 ? 1 : d[0] < 0 ? 2 : 0;
    const double sizes = fabs(d[0]) + fabs(d[2]) + 2 * fabs(d[1]);
    const double least = fabs(determinant) * d[1] * d[1] / (2 * sizes);
    if (least < m->least) m->least = least;
    ++pivots->two_by_two;
    return true;
}
