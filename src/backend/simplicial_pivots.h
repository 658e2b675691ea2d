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

/* What a factorization has found so far; its caller keeps it in registers. */
typedef struct sd_found {
    int64_t negative, zero, two_by_two, perturbed;
    double least;
} sd_found;

/* At the end of n rows. */
static inline void sd_found_tell(const sd_found *found, sd_simplicial *m, sd_pivots *pivots)
{
    m->least = found->least;
    *pivots = (sd_pivots){.positive = m->s.n - found->negative - found->zero,
                          .negative = found->negative,
                          .zero = found->zero,
                          .two_by_two = found->two_by_two,
                          .perturbed = found->perturbed};
}

/* A static pivot: not below the least size, and of the sign that is expected. */
static inline double sd_regular_pivot(double pivot, int32_t variable, const sd_pivoting *rule,
                                      sd_found *found)
{
    const int expected = rule->signs ? rule->signs[variable] : 0;
    const int sign = expected ? expected : pivot < 0 ? -1 : 1;
    if (!(pivot * sign < rule->regularise)) return pivot;
    ++found->perturbed;
    return sign * rule->regularise;
}

/* The pivot at k; false where the rule does not allow it. */
static inline bool sd_take_pivot(sd_simplicial *m, int32_t k, const sd_pivoting *rule, sd_found *found)
{
    double pivot = m->d[2 * (int64_t)k];
    if (rule->rule == SD_PIVOT_STATIC)
        m->d[2 * (int64_t)k] = pivot = sd_regular_pivot(pivot, m->s.variable[k], rule, found);
    const double size = fabs(pivot);
    if (rule->rule == SD_PIVOT_POSITIVE && !(pivot > 0 && size <= DBL_MAX)) return false;
    if (rule->rule == SD_PIVOT_THRESHOLD && !(size > rule->small && size <= DBL_MAX)) return false;
    found->negative += pivot < 0;
    found->zero += pivot == 0;
    found->least = size < found->least ? size : found->least;
    m->inverse[2 * (int64_t)k] = pivot == 0 ? 0 : 1 / pivot;
    m->inverse[2 * (int64_t)k + 1] = 0;
    return true;
}

/* The same of a 2x2 pivot that begins at k; one that falls into two is two. */
static inline bool sd_take_pair(sd_simplicial *m, int32_t k, const sd_pivoting *rule, sd_found *found)
{
    const double *const d = m->d + 2 * (int64_t)k;
    if (d[1] == 0) return sd_take_pivot(m, k, rule, found) && sd_take_pivot(m, k + 1, rule, found);
    const double determinant = (d[0] / d[1]) * (d[2] / d[1]) - 1;
    if (!(fabs(determinant) > 8 * DBL_EPSILON && fabs(determinant) <= DBL_MAX)) return false;
    sd_invert_pivot(m, k);
    /* of one sign where the determinant is positive; the smaller eigenvalue is determinant / larger */
    found->negative += determinant < 0 ? 1 : d[0] < 0 ? 2 : 0;
    const double sizes = fabs(d[0]) + fabs(d[2]) + 2 * fabs(d[1]);
    const double least = fabs(determinant) * d[1] * d[1] / (2 * sizes);
    found->least = least < found->least ? least : found->least;
    ++found->two_by_two;
    return true;
}
