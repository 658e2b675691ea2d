/* LDL' without fronts. See simplicial.h. */
#include "factor/simplicial.h"

#include <float.h>
#include <math.h>
#include <string.h>

saddle_status sd_simplicial_make(sd_context *c, const sd_tree *tree, int32_t *variable, const bool *pair,
                                 sd_simplicial **made)
{
    sd_simplicial *m = *made = sd_alloc_zero(c, 1, sizeof *m, "factors");
    if (!m) {
        sd_free(c, variable);
        return c->status;
    }
    const saddle_status status = sd_sequence_make(c, tree, variable, pair, &m->s);
    if (!status) {
        const int64_t n = m->s.n, entries = n > 0 ? m->s.node[m->s.nodes - 1].end : 0;
        m->l = sd_alloc(c, entries, sizeof *m->l, "columns of the factors");
        m->d = sd_alloc(c, 2 * n, sizeof *m->d, "pivots");
        m->inverse = sd_alloc(c, 2 * n, sizeof *m->inverse, "pivots");
        m->y = sd_alloc_zero(c, n, sizeof *m->y, "factors");
        if (m->l && m->d && m->inverse && m->y) return SADDLE_OK;
    }
    sd_simplicial_free(c, m);
    *made = NULL;
    return c->status;
}

void sd_simplicial_free(sd_context *c, sd_simplicial *m)
{
    if (!m) return;
    sd_sequence_free(c, &m->s);
    sd_free_all(c, m->l, m->d, m->inverse, m->y, m);
}

int64_t sd_simplicial_bytes(const sd_simplicial *m)
{
    const int64_t entries = m->s.nodes > 0 ? m->s.node[m->s.nodes - 1].end : 0;
    return entries * (int64_t)(sizeof *m->l + sizeof *m->s.row) + 4 * (int64_t)m->s.n * (int64_t)sizeof *m->d;
}

int64_t sd_simplicial_predict(const sd_tree *t)
{
    return sd_sequence_bytes(t->n, t->column_nnz, t->entry_ptr[t->n]) +
           (t->column_nnz + 5 * (int64_t)t->n) * (int64_t)sizeof(double);
}

/* The inverse of D at k; a 2x2 pivot that is of rank one has its pseudo-inverse, as in solves with fronts. */
void sd_simplicial_invert(sd_simplicial *m, int32_t k)
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

/* What a row has to keep to, and whether it has. */
typedef struct checked {
    double limit; /* of |l| */
    bool broken;
} checked;

/* Row k: y, which holds A's row, becomes L's, node by node; returns what the diagonal loses. */
static inline double eliminate_row(sd_simplicial *m, int32_t k, checked *check)
{
    const sd_sequence *s = &m->s;
    double *restrict const y = m->y, *restrict const l = m->l, lost = 0;
    const int32_t *restrict const row = s->row;
    bool broken = false;
    for (int64_t t = s->list_ptr[k]; t < s->list_ptr[k + 1]; ++t) {
        sd_node *const node = &s->node[s->list[t]];
        const int64_t end = node->next;
        const double *const in = m->inverse + 2 * (int64_t)node->k;
        double *const own = y + node->k;
        if (node->width == 1) {
            const double a = own[0], u = a * in[0];
            own[0] = 0;
            for (int64_t e = node->begin; e < end; ++e) y[row[e]] -= l[e] * a;
            l[end] = u;
            lost += u * a;
            broken |= !(fabs(u) <= check->limit);
            node->next = end + 1;
            continue;
        }
        const double a = own[0], b = own[1], u = in[0] * a + in[1] * b, v = in[1] * a + in[2] * b;
        own[0] = own[1] = 0;
        for (int64_t e = node->begin; e < end; e += 2) y[row[e]] -= l[e] * a + l[e + 1] * b;
        l[end] = u;
        l[end + 1] = v;
        lost += u * a + v * b;
        broken |= !(fabs(u) <= check->limit) | !(fabs(v) <= check->limit);
        node->next = end + 2;
    }
    check->broken = broken;
    return lost;
}

/* A static pivot: not below the least size, and of the sign that is expected. */
static double regular(double pivot, int32_t variable, const sd_pivoting *rule, sd_pivots *pivots)
{
    const int expected = rule->signs ? rule->signs[variable] : 0;
    const int sign = expected ? expected : pivot < 0 ? -1 : 1;
    if (!(pivot * sign < rule->regularise)) return pivot;
    ++pivots->perturbed;
    return sign * rule->regularise;
}

static void count_pivot(double d, sd_pivots *pivots)
{
    pivots->positive += d > 0;
    pivots->negative += d < 0;
    pivots->zero += d == 0;
}

/* The pivot that ends at row k, where its node does; false where the rule does not allow it. */
static inline bool take_pivot(sd_simplicial *m, int32_t k, const sd_pivoting *rule, sd_pivots *pivots)
{
    double *const d = m->d + 2 * (int64_t)k;
    switch (rule->rule) {
    case SD_PIVOT_STATIC: d[0] = regular(d[0], m->s.variable[k], rule, pivots); break;
    case SD_PIVOT_POSITIVE:
        if (!(d[0] > 0 && d[0] <= DBL_MAX)) return false;
        break;
    default:
        if (!(fabs(d[0]) > rule->small && fabs(d[0]) <= DBL_MAX)) return false;
    }
    count_pivot(d[0], pivots);
    if (fabs(d[0]) < m->least) m->least = fabs(d[0]);
    m->inverse[2 * (int64_t)k] = d[0] == 0 ? 0 : 1 / d[0];
    m->inverse[2 * (int64_t)k + 1] = 0;
    return true;
}

/* The same of a 2x2 pivot that begins at k; one that falls into two is two. */
static bool take_pair(sd_simplicial *m, int32_t k, const sd_pivoting *rule, sd_pivots *pivots)
{
    const double *const d = m->d + 2 * (int64_t)k;
    if (d[1] == 0) return take_pivot(m, k, rule, pivots) && take_pivot(m, k + 1, rule, pivots);
    const double determinant = (d[0] / d[1]) * (d[2] / d[1]) - 1;
    if (!(fabs(determinant) > 8 * DBL_EPSILON && fabs(determinant) <= DBL_MAX)) return false;
    sd_simplicial_invert(m, k);
    /* of one sign where the determinant is positive; the smaller eigenvalue is determinant / larger */
    pivots->positive += determinant < 0 ? 1 : d[0] > 0 ? 2 : 0;
    pivots->negative += determinant < 0 ? 1 : d[0] < 0 ? 2 : 0;
    const double sizes = fabs(d[0]) + fabs(d[2]) + 2 * fabs(d[1]);
    const double least = fabs(determinant) * d[1] * d[1] / (2 * sizes);
    if (least < m->least) m->least = least;
    ++pivots->two_by_two;
    return true;
}

bool sd_simplicial_run(sd_simplicial *m, const double *values, const sd_pivoting *rule, sd_pivots *pivots)
{
    const sd_sequence *s = &m->s;
    checked check = {.limit = rule->rule == SD_PIVOT_THRESHOLD ? 1 / rule->u : INFINITY};
    bool ok = true;
    *pivots = (sd_pivots){0};
    m->least = INFINITY;
    for (int32_t j = 0; j < s->nodes; ++j) s->node[j].next = s->node[j].begin;
    for (int32_t j = 0; j < s->nodes && ok; ++j) {
        const int32_t first = s->node[j].k, last = first + s->node[j].width - 1;
        for (int32_t k = first; k <= last; ++k) {
            double *const d = m->d + 2 * (int64_t)k;
            for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e)
                m->y[s->column[e]] = values[s->from[e]];
            const double lost = eliminate_row(m, k, &check);
            if (k > first) d[-1] = m->y[first];
            d[0] = m->y[k] - lost;
            d[1] = 0;
            m->y[first] = m->y[k] = 0;
            if (check.broken) break;
        }
        ok = !check.broken &&
             (last > first ? take_pair(m, first, rule, pivots) : take_pivot(m, first, rule, pivots));
    }
    if (!ok) memset(m->y, 0, (size_t)s->n * sizeof *m->y);
    return ok;
}

void sd_simplicial_clear(sd_simplicial *m, int32_t k, const double *v)
{
    const sd_sequence *s = &m->s;
    int32_t low = 0, high = s->nodes - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (s->node[middle].k <= k)
            low = middle;
        else
            high = middle - 1;
    }
    const sd_node *node = &s->node[low];
    const int32_t step = node->width;
    for (int64_t e = node->begin + (k - node->k); e < node->end; e += step) {
        const double along = v ? v[0] * m->l[e] + v[1] * m->l[e + 1] : 0;
        m->l[e] = v ? along * v[0] : 0;
        if (v) m->l[e + 1] = along * v[1];
    }
}

double sd_simplicial_largest(const sd_simplicial *m)
{
    const int64_t entries = m->s.nodes > 0 ? m->s.node[m->s.nodes - 1].end : 0;
    double largest = 0;
    for (int64_t e = 0; e < entries; ++e) {
        if (isnan(m->l[e])) return m->l[e];
        if (fabs(m->l[e]) > largest) largest = fabs(m->l[e]);
    }
    return largest;
}
