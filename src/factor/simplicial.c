/* LDL' without fronts. See simplicial.h. */
#include "factor/simplicial.h"

#include "backend/simplicial_pivots.h"

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
        m->l = sd_alloc(c, entries + 2 * n, sizeof *m->l, "columns of the factors");
        m->d = m->l ? m->l + entries : NULL;
        m->inverse = sd_alloc(c, 2 * n, sizeof *m->inverse, "pivots");
        m->y = sd_alloc_zero(c, n, sizeof *m->y, "factors");
        if (m->l && m->inverse && m->y) return SADDLE_OK;
    }
    sd_simplicial_free(c, m);
    *made = NULL;
    return c->status;
}

void sd_simplicial_free(sd_context *c, sd_simplicial *m)
{
    if (!m) return;
    sd_sequence_free(c, &m->s);
    sd_free_all(c, m->l, m->inverse, m->y, m);
}

int64_t sd_simplicial_bytes(const sd_simplicial *m)
{
    const int64_t entries = m->s.nodes > 0 ? m->s.node[m->s.nodes - 1].end : 0;
    return entries * (int64_t)(sizeof *m->l + sizeof *m->s.row) + 4 * (int64_t)m->s.n * (int64_t)sizeof *m->d;
}

int64_t sd_simplicial_predict(const sd_tree *t, bool again)
{
    const int64_t entries = t->entry_ptr[t->n];
    return sd_sequence_bytes(t->n, t->column_nnz, entries) +
           (t->column_nnz + 5 * (int64_t)t->n) * (int64_t)sizeof(double) +
           (again ? sd_sequence_place_bytes(t->column_flops, t->column_nnz, entries) : 0);
}

void sd_simplicial_invert(sd_simplicial *m, int32_t k)
{
    sd_invert_pivot(m, k);
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
