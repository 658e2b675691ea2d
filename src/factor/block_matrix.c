/* The prepared matrix in its blocks: see block_ldlt.h. */
#include "core/power.h"
#include "factor/block_ldlt.h"

#include <math.h>
#include <stdlib.h>

void sd_block_matrix_free(sd_context *c, sd_block_matrix *B)
{
    sd_free_all(c, B->start, B->block_of);
    sd_csr_free(c, &B->rows);
    sd_graph_free(c, &B->graph);
    *B = (sd_block_matrix){0};
}

static void take_values(const sd_csr *A, const int32_t *order, const double *scale, sd_block_matrix *B)
{
    int64_t next = 0;
    B->largest = 0;
    for (int32_t r = 0; r < A->n; ++r) {
        const int32_t i = order[r];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k, ++next) {
            double value = A->val[k];
            if (scale) value = sd_scale_both(value, scale[i], scale[A->ind[k]]);
            B->rows.val[next] = value;
            if (fabs(value) > B->largest) B->largest = fabs(value);
        }
    }
}

static saddle_status place_rows(sd_context *c, const sd_csr *A, const int32_t *order, sd_block_matrix *B)
{
    const int32_t n = A->n;
    B->rows = (sd_csr){.n = n, .nnz = A->nnz};
    B->rows.ptr = sd_alloc(c, (int64_t)n + 1, sizeof *B->rows.ptr, "prepared matrix");
    B->rows.ind = sd_alloc(c, A->nnz, sizeof *B->rows.ind, "prepared matrix");
    B->rows.val = sd_alloc(c, A->nnz, sizeof *B->rows.val, "prepared matrix");
    int32_t *position = sd_alloc(c, n, sizeof *position, "positions");
    if (B->rows.ptr && B->rows.ind && B->rows.val && position) {
        int64_t next = 0;
        sd_invert_order(n, order, position);
        for (int32_t r = 0; r < n; ++r) {
            B->rows.ptr[r] = next;
            for (int64_t k = A->ptr[order[r]]; k < A->ptr[order[r] + 1]; ++k)
                B->rows.ind[next++] = position[A->ind[k]];
        }
        B->rows.ptr[n] = next;
    } else {
        sd_free(c, position);
        return c->status;
    }
    sd_free(c, position);
    return SADDLE_OK;
}

static int compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The neighbours of each block, once to count them and once to write them down. */
static void walk_blocks(const sd_block_matrix *B, int32_t *mark, sd_graph *g)
{
    int64_t next = 0;
    for (int32_t i = 0; i < B->blocks; ++i) mark[i] = -1;
    for (int32_t i = 0; i < B->blocks; ++i) {
        const int64_t first = next;
        mark[i] = i;
        g->ptr[i] = first;
        for (int64_t k = B->rows.ptr[B->start[i]]; k < B->rows.ptr[B->start[i + 1]]; ++k) {
            const int32_t j = B->block_of[B->rows.ind[k]];
            if (mark[j] == i) continue;
            mark[j] = i;
            if (g->ind) g->ind[next] = j;
            ++next;
        }
        if (g->ind) qsort(g->ind + first, (size_t)(next - first), sizeof *g->ind, compare);
    }
    g->ptr[B->blocks] = next;
}

static saddle_status make_graph(sd_context *c, sd_block_matrix *B)
{
    sd_graph *g = &B->graph;
    g->n = B->blocks;
    g->ptr = sd_alloc(c, (int64_t)B->blocks + 1, sizeof *g->ptr, "graph of blocks");
    int32_t *mark = sd_alloc(c, B->blocks, sizeof *mark, "marks");
    if (g->ptr && mark) {
        walk_blocks(B, mark, g);
        g->ind = sd_alloc(c, g->ptr[B->blocks], sizeof *g->ind, "graph of blocks");
        if (g->ind) walk_blocks(B, mark, g);
    }
    sd_free(c, mark);
    return g->ind ? SADDLE_OK : c->status;
}

saddle_status sd_block_matrix_make(sd_context *c, const sd_csr *A, const int32_t *order, const double *scale,
                                   int32_t blocks, const int32_t *start, sd_block_matrix *B)
{
    *B = (sd_block_matrix){.n = A->n, .blocks = blocks};
    B->start = sd_alloc(c, (int64_t)blocks + 1, sizeof *B->start, "blocks");
    B->block_of = sd_alloc(c, A->n, sizeof *B->block_of, "blocks");
    saddle_status status = B->start && B->block_of ? SADDLE_OK : c->status;
    if (!status) {
        for (int32_t i = 0; i <= blocks; ++i) B->start[i] = start[i];
        for (int32_t i = 0; i < blocks; ++i)
            for (int32_t r = start[i]; r < start[i + 1]; ++r) B->block_of[r] = i;
        status = place_rows(c, A, order, B);
    }
    if (!status) {
        take_values(A, order, scale, B);
        status = make_graph(c, B);
    }
    if (status) sd_block_matrix_free(c, B);
    return status;
}

void sd_block_matrix_shift(int exponent, sd_block_matrix *B)
{
    if (exponent == 0) return;
    sd_shift(B->rows.ptr[B->n], B->rows.val, exponent, B->rows.val);
    B->largest = ldexp(B->largest, exponent);
}
