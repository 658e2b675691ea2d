/*
 * Gauss-Huard elimination with interchanges of columns: Anzt, Dongarra, Flegar, Quintana-Orti and Tomas,
 * Variable-size batched Gauss-Huard for block-Jacobi preconditioning, Figure 1. Included once a precision by
 * blocks.c, after block_elimination.h.
 *
 * The work holds the block by rows, so that lanes are columns: a column that has been a pivot leaves `rows`,
 * as in block_elimination.h. Line 17 of step k and line 6 of step k + 1 go over the earlier rows together.
 */

/* Line 8 to 14 of step k for its row r, after line 6: the scaled row, 0 in columns that are done. */
static inline void NAME(huard_pivot)(NAME(block) * m, int k, NAME(vec) * r, const int V)
{
    real *row = m->a + k * V * NAME(LANES);
    UNROLL for (int v = 0; v < V; ++v)
    {
        r[v] = NAME(choose)(NAME(lanes_of)(m->rows, v), r[v], NAME(load)(row + v * NAME(LANES)));
        NAME(store)(row + v * NAME(LANES), r[v]);
    }
    fetch_column(&m->next, k);
    const int p = NAME(search)(r, m->rows, V);
    const real d = NAME(settle)(m, row[p]);
    m->column[k] = p;
    m->rows &= ~(UINT32_C(1) << p);
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(lanes) left = NAME(lanes_of)(m->rows, v);
        const NAME(vec) scaled = r[v] * NAME(all)(1 / d);
        NAME(store)(row + v * NAME(LANES), NAME(choose)(left, scaled, r[v]));
        r[v] = NAME(keep)(left, scaled);
    }
}

/* Line 17 of step k, with its scaled row r, and line 6 of the next row, which takes the place of r. */
static inline void NAME(huard_update)(NAME(block) * m, int k, NAME(vec) * r, const int V)
{
    enum { ALL = MOST / NAME(LANES) };
    const int ld = V * NAME(LANES), p = m->column[k];
    const real *next = m->a + (k + 1) * ld;
    NAME(vec) c[ALL];
    UNROLL for (int v = 0; v < V; ++v) c[v] = NAME(load)(next + v * NAME(LANES));
    for (int i = 0; i < k; ++i) {
        real *row = m->a + i * ld;
        const NAME(vec) u = NAME(all)(row[p]), w = NAME(all)(next[m->column[i]]);
        UNROLL for (int v = 0; v < V; ++v)
        {
            const NAME(vec) x = NAME(minus_product)(NAME(load)(row + v * NAME(LANES)), u, r[v]);
            NAME(store)(row + v * NAME(LANES), x);
            c[v] = NAME(minus_product)(c[v], w, x);
        }
    }
    UNROLL for (int v = 0; v < V; ++v) r[v] = NAME(minus_product)(c[v], NAME(all)(next[p]), r[v]);
}

static inline void NAME(huard)(NAME(block) * m, int n, const int V, const int K)
{
    NAME(vec) r[FLIGHT][MOST / NAME(LANES)];
    for (int k = 0; k < K; ++k)
        UNROLL for (int v = 0; v < V; ++v) r[k][v] = NAME(load)(m[k].a + v * NAME(LANES));
    for (int s = 0; s < n; ++s) {
        for (int k = 0; k < K; ++k) NAME(huard_pivot)(&m[k], s, r[k], V);
        if (s + 1 == n) break;
        for (int k = 0; k < K; ++k) NAME(huard_update)(&m[k], s, r[k], V);
    }
}
