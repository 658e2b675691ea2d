/* LDL' without fronts, plainly. */
#include "backend/simplicial_pivots.h"

#include <string.h>

/* Whether a row of L keeps to the bound. */
static bool is_bounded(const double *l, int32_t width, double limit)
{
    bool bounded = true;
    for (int32_t c = 0; c < width; ++c) bounded = bounded && fabs(l[c]) <= limit;
    return bounded;
}

/* The entry of row k in a node, whose columns y has in y[node->k] and on: L D = y, and what y has in the rows
 * of the node before k is updated. Returns what the diagonal loses. */
static double eliminate(sd_simplicial *m, sd_node *node)
{
    const double *in = m->inverse + 2 * (int64_t)node->k;
    double *y = m->y + node->k, *l = m->l + node->next, lost = 0;
    for (int64_t e = node->begin; e < node->next; ++e)
        m->y[m->s.row[e]] -= m->l[e] * y[(e - node->begin) % node->width];
    l[0] = node->width == 1 ? in[0] * y[0] : in[0] * y[0] + in[1] * y[1];
    if (node->width == 2) l[1] = in[1] * y[0] + in[2] * y[1];
    for (int32_t c = 0; c < node->width; ++c) {
        lost += l[c] * y[c];
        y[c] = 0;
    }
    node->next += node->width;
    return lost;
}

/* Row k of L and its part of D; false where an entry is too large. */
static bool make_row(sd_simplicial *m, int32_t first, int32_t k, const double *values, double limit)
{
    const sd_sequence *s = &m->s;
    double *d = m->d + 2 * (int64_t)k, lost = 0;
    bool bounded = true;
    for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e) m->y[s->column[e]] = values[s->from[e]];
    for (int64_t t = s->list_ptr[k]; t < s->list_ptr[k + 1]; ++t) {
        sd_node *node = &s->node[s->list[t]];
        const int64_t at = node->next;
        lost += eliminate(m, node);
        bounded = bounded && is_bounded(m->l + at, node->width, limit);
    }
    if (k > first) d[-1] = m->y[first];
    d[0] = m->y[k] - lost;
    d[1] = 0;
    m->y[first] = m->y[k] = 0;
    return bounded;
}

static bool run(sd_simplicial *m, const double *values, const sd_pivoting *rule, sd_pivots *pivots)
{
    const sd_sequence *s = &m->s;
    const double limit = rule->rule == SD_PIVOT_THRESHOLD ? 1 / rule->u : INFINITY;
    sd_found found = {.least = INFINITY};
    bool ok = true;
    memset(m->y, 0, (size_t)s->n * sizeof *m->y);
    for (int32_t j = 0; j < s->nodes; ++j) s->node[j].next = s->node[j].begin;
    for (int32_t j = 0; j < s->nodes && ok; ++j) {
        const int32_t first = s->node[j].k, width = s->node[j].width;
        for (int32_t c = 0; c < width; ++c) ok = ok && make_row(m, first, first + c, values, limit);
        ok =
            ok && (width == 2 ? sd_take_pair(m, first, rule, &found) : sd_take_pivot(m, first, rule, &found));
    }
    sd_found_tell(&found, m, pivots);
    return ok;
}

static void forward(const sd_simplicial *m, int32_t k, double *x)
{
    for (int32_t j = 0; j < m->s.nodes; ++j) {
        const sd_node *node = &m->s.node[j];
        for (int64_t e = node->begin; e < node->end; ++e)
            for (int32_t r = 0; r < k; ++r)
                x[(int64_t)m->s.row[e] * k + r] -=
                    m->l[e] * x[(node->k + (e - node->begin) % node->width) * k + r];
    }
}

/* x1 = D^-1 x1 of a node. */
static void divide(const double *in, int32_t width, int32_t k, double *x)
{
    for (int32_t r = 0; r < k; ++r) {
        const double a = x[r], b = width == 2 ? x[k + r] : 0;
        x[r] = width == 2 ? in[0] * a + in[1] * b : in[0] * a;
        if (width == 2) x[k + r] = in[1] * a + in[2] * b;
    }
}

static void backward(const sd_simplicial *m, bool scaled, int32_t k, double *x)
{
    for (int32_t j = m->s.nodes - 1; j >= 0; --j) {
        const sd_node *node = &m->s.node[j];
        double *own = x + (int64_t)node->k * k;
        if (scaled) divide(m->inverse + 2 * (int64_t)node->k, node->width, k, own);
        for (int64_t e = node->begin; e < node->end; ++e)
            for (int32_t r = 0; r < k; ++r)
                own[(e - node->begin) % node->width * k + r] -= m->l[e] * x[(int64_t)m->s.row[e] * k + r];
    }
}

const sd_simplicial_kernels sd_simplicial_reference = {run, forward, backward};
