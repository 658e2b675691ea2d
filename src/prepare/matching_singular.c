/*
 * Matchings of structurally singular matrices.
 *
 * Symmetric: with I the rows of a maximum matching, A(I, I) is structurally regular and is matched by itself
 * (I. S. Duff and S. Pralet, SIAM J. Matrix Anal. Appl. 27 (2005), section 4).
 *
 * General: the rows that alternating paths reach from free rows, and the columns on these paths, form the
 * tall part of the matrix; the other rows and columns the wide part (A. L. Dulmage and N. S. Mendelsohn,
 * Coverings of bipartite graphs, Canad. J. Math. 10 (1958)). Every maximum matching matches all columns of
 * the tall part and all rows of the wide part, each with its own part, so that each is optimal by itself: the
 * wide part by its rows, the tall one by its columns, that is, transposed. Rows of the tall part have no
 * entries outside it; where rows of the wide part have entries in tall columns, the duals of the tall part
 * are moved from its columns to its rows until these are feasible too.
 */
#include "prepare/assignment.h"

#include <math.h>

/* B = A(R, C) for the rows and columns that have a number >= 0 in row and col, padded with empty rows to
 * `size`, the larger of both counts. */
static saddle_status take_part(sd_context *c, const sd_csr *A, const int32_t *row, const int32_t *col,
                               int32_t size, sd_csr *B)
{
    int32_t rows = 0;
    *B = (sd_csr){.n = size};
    B->ptr = sd_alloc(c, (int64_t)size + 1, sizeof *B->ptr, "part of the matrix");
    B->ind = B->ptr ? sd_alloc(c, A->nnz, sizeof *B->ind, "part of the matrix") : NULL;
    B->val = B->ind ? sd_alloc(c, A->nnz, sizeof *B->val, "part of the matrix") : NULL;
    if (!B->val) {
        sd_csr_free(c, B);
        return c->status;
    }
    for (int32_t i = 0; i < A->n; ++i) {
        if (row[i] < 0) continue;
        B->ptr[rows++] = B->nnz;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            if (col[A->ind[k]] < 0) continue;
            B->ind[B->nnz] = col[A->ind[k]];
            B->val[B->nnz++] = A->val[k];
        }
    }
    while (rows <= size) B->ptr[rows++] = B->nnz;
    return SADDLE_OK;
}

/* s_i = 1 / max_k |a_ik| s_k over matched k, in logarithms; 1 where there is none. */
static void scale_unmatched(const sd_assignment *a, const double *log_scale, sd_matching *m)
{
    for (int32_t i = 0; i < a->n; ++i) {
        double least = HUGE_VAL;
        if (m->row_of[i] >= 0) continue;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k)
            if (m->row_of[a->ind[k]] >= 0) least = fmin(least, a->cost[k] - log_scale[a->ind[k]]);
        m->row_scale[i] = m->col_scale[i] = least < HUGE_VAL ? sd_scale_of_log(least) : 1.0;
    }
}

saddle_status sd_match_regular_part(sd_context *c, const sd_csr *A, const sd_assignment *a, sd_matching *m)
{
    const int32_t n = A->n;
    int32_t rank = 0;
    sd_csr B = {0};
    sd_assignment part = {0};
    int32_t *number = sd_alloc(c, n, sizeof *number, "matched rows");
    int32_t *row = number ? sd_alloc(c, n, sizeof *row, "matched rows") : NULL;
    double *log_scale = row ? sd_alloc(c, n, sizeof *log_scale, "logarithms of the scaling") : NULL;
    saddle_status status = c->status;
    if (!log_scale) goto done;
    for (int32_t i = 0; i < n; ++i) {
        number[i] = a->row[i].col >= 0 ? rank : -1;
        if (number[i] >= 0) row[rank++] = i;
        m->row_of[i] = -1;
    }
    status = take_part(c, A, number, number, rank, &B);
    if (!status) status = sd_assignment_solve(c, &B, SD_START_SYMMETRIC, &part, &m->rank);
    if (status) goto done;
    sd_assignment_average(&part);
    for (int32_t k = 0; k < rank; ++k) {
        const int32_t j = row[k];
        if (part.col[k].row >= 0) m->row_of[j] = row[part.col[k].row];
        log_scale[j] = part.col[k].v;
        m->row_scale[j] = m->col_scale[j] = sd_scale_of_log(log_scale[j]);
    }
    scale_unmatched(a, log_scale, m);
done:
    sd_assignment_free(c, &part);
    sd_csr_free(c, &B);
    sd_free(c, log_scale);
    sd_free(c, row);
    sd_free(c, number);
    return status;
}

/* The two parts: which of them a row or column is in, and its number there. */
typedef struct parts {
    int32_t *tall_row, *tall_col; /* numbers in the tall part, or -1 */
    int32_t *wide_row, *wide_col;
    int32_t tall_rows, wide_cols; /* the larger count of each part */
} parts;

/* Marks what alternating paths reach from free rows, by setting tall_row and tall_col to 0. `queue` has n
 * places. */
static void reach_tall(const sd_assignment *a, parts *p, int32_t *queue)
{
    int32_t count = 0;
    for (int32_t i = 0; i < a->n; ++i) {
        p->tall_row[i] = p->tall_col[i] = -1;
        if (a->row[i].col < 0) queue[count++] = i;
    }
    for (int32_t q = 0; q < count; ++q) p->tall_row[queue[q]] = 0;
    for (int32_t q = 0; q < count; ++q) {
        for (int64_t k = a->ptr[queue[q]]; k < a->ptr[queue[q] + 1]; ++k) {
            const int32_t j = a->ind[k];
            if (p->tall_col[j] >= 0 || a->cost[k] == HUGE_VAL) continue;
            p->tall_col[j] = 0;
            p->tall_row[a->col[j].row] = 0;
            queue[count++] = a->col[j].row;
        }
    }
}

static void number_parts(int32_t n, parts *p)
{
    int32_t wide_rows = 0, tall_cols = 0;
    p->tall_rows = p->wide_cols = 0;
    for (int32_t i = 0; i < n; ++i) {
        const bool tall_row = p->tall_row[i] >= 0, tall_col = p->tall_col[i] >= 0;
        p->tall_row[i] = tall_row ? p->tall_rows++ : -1;
        p->wide_row[i] = tall_row ? -1 : wide_rows++;
        p->tall_col[i] = tall_col ? tall_cols++ : -1;
        p->wide_col[i] = tall_col ? -1 : p->wide_cols++;
    }
}

/* Where the transposed problem of the tall part stands by columns, it is turned round. */
static void combine(const parts *p, const sd_assignment *wide, const sd_assignment *tall, int32_t *wide_list,
                    sd_assignment *a)
{
    int32_t *tall_list = wide_list + a->n; /* rows of each part by number */
    for (int32_t i = 0; i < a->n; ++i) {
        if (p->tall_row[i] >= 0) tall_list[p->tall_row[i]] = i;
        if (p->wide_row[i] >= 0) wide_list[p->wide_row[i]] = i;
    }
    for (int32_t i = 0; i < a->n; ++i) {
        a->row[i].u = p->tall_row[i] >= 0 ? tall->col[p->tall_row[i]].v : wide->row[p->wide_row[i]].u;
        if (p->tall_col[i] >= 0) {
            const sd_assigned_row *q = &tall->row[p->tall_col[i]];
            a->col[i].v = q->u;
            a->col[i].row = q->col >= 0 ? tall_list[q->col] : -1;
        } else {
            const sd_assigned_column *q = &wide->col[p->wide_col[i]];
            a->col[i].v = q->v;
            a->col[i].row = q->row >= 0 ? wide_list[q->row] : -1;
        }
    }
}

/* Makes the entries of wide rows in tall columns feasible. */
static void lower_tall_columns(const parts *p, sd_assignment *a)
{
    double least = 0.0;
    for (int32_t i = 0; i < a->n; ++i)
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1] && p->tall_row[i] < 0; ++k)
            if (p->tall_col[a->ind[k]] >= 0) least = fmin(least, sd_slack(a, i, k));
    for (int32_t i = 0; i < a->n; ++i) {
        if (p->tall_row[i] >= 0) a->row[i].u -= least;
        if (p->tall_col[i] >= 0) a->col[i].v += least;
    }
}

/* Solves both parts; `list` has 2 n places. */
static saddle_status match_parts(sd_context *c, const sd_csr *A, const parts *p, int32_t *list,
                                 sd_assignment *a)
{
    int32_t rank;
    sd_csr part = {0}, turned = {0};
    sd_assignment wide = {0}, tall = {0};
    saddle_status status = take_part(c, A, p->wide_row, p->wide_col, p->wide_cols, &part);
    if (!status) status = sd_assignment_solve(c, &part, SD_START_LEVEL, &wide, &rank);
    if (status) goto done;
    /* the assignments look at the pattern of their parts: wide is done with its own */
    sd_csr_free(c, &part);
    status = take_part(c, A, p->tall_row, p->tall_col, p->tall_rows, &part);
    if (!status) status = sd_csr_transpose(c, &part, &turned);
    if (!status) status = sd_assignment_solve(c, &turned, SD_START_LEVEL, &tall, &rank);
    if (status) goto done;
    combine(p, &wide, &tall, list, a);
    lower_tall_columns(p, a);
done:
    sd_assignment_free(c, &wide);
    sd_assignment_free(c, &tall);
    sd_csr_free(c, &part);
    sd_csr_free(c, &turned);
    return status;
}

saddle_status sd_match_singular(sd_context *c, const sd_csr *A, sd_assignment *a, sd_matching *m)
{
    const int64_t n = A->n;
    saddle_status status = SADDLE_OK;
    int32_t *numbers = sd_alloc(c, 4 * n, sizeof *numbers, "parts of a singular matrix");
    int32_t *list = numbers ? sd_alloc(c, 2 * n, sizeof *list, "parts of a singular matrix") : NULL;
    if (!list) {
        status = c->status;
        goto done;
    }
    parts p = {numbers, numbers + n, numbers + 2 * n, numbers + 3 * n, 0, 0};
    reach_tall(a, &p, list);
    number_parts(A->n, &p);
    status = match_parts(c, A, &p, list, a);
    if (status) goto done;
    sd_assignment_centre(a);
    sd_assignment_give(a, m);
done:
    sd_free(c, list);
    sd_free(c, numbers);
    return status;
}
