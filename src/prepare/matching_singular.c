/*
 * Matchings of structurally singular matrices.
 *
 * Symmetric: with I the rows of a maximum matching, A(I, I) is structurally regular and is matched by itself
 * (I. S. Duff and S. Pralet, SIAM J. Matrix Anal. Appl. 27 (2005), section 4).
 *
 * General: the rows that alternating paths reach from free rows, and the columns on these paths, form the
 * tall part of the matrix; the rows and columns that they reach, the other way, from free columns the wide
 * part (A. L. Dulmage and N. S. Mendelsohn, Coverings of bipartite graphs, Canad. J. Math. 10 (1958)). Every
 * maximum matching matches all columns of the tall part and all rows of the wide one, and each part with
 * itself. So the matching of what lies between them is optimal already; the wide part is matched again by its
 * rows, the tall one by its columns, that is, transposed. Tall rows have no entries outside tall columns, and
 * wide columns none outside wide rows: where duals that came from different parts do not agree on the entries
 * between them, tall duals are moved from columns to rows, and wide ones from rows to columns, until they do.
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
    sd_free_all(c, log_scale, row, number);
    return status;
}

/* The numbers of rows and columns in each part, or -1. */
typedef struct parts {
    int32_t *tall_row, *tall_col;
    int32_t *wide_row, *wide_col;
    int32_t tall_rows, wide_cols; /* the larger count of each part */
} parts;

/* Gives 0 to the rows and columns that alternating paths reach from free rows. `queue` has n places. */
static void reach_tall(const sd_assignment *a, parts *p, int32_t *queue)
{
    int32_t count = 0;
    for (int32_t i = 0; i < a->n; ++i) {
        p->tall_row[i] = a->row[i].col < 0 ? 0 : -1;
        p->tall_col[i] = -1;
        if (a->row[i].col < 0) queue[count++] = i;
    }
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

/* The same from free columns; T is the transpose of A. */
static void reach_wide(const sd_assignment *a, const sd_csr *T, parts *p, int32_t *queue)
{
    int32_t count = 0;
    for (int32_t j = 0; j < a->n; ++j) {
        p->wide_row[j] = -1;
        p->wide_col[j] = a->col[j].row < 0 ? 0 : -1;
        if (a->col[j].row < 0) queue[count++] = j;
    }
    for (int32_t q = 0; q < count; ++q) {
        for (int64_t k = T->ptr[queue[q]]; k < T->ptr[queue[q] + 1]; ++k) {
            const int32_t i = T->ind[k];
            if (p->wide_row[i] >= 0 || T->val[k] == 0) continue;
            p->wide_row[i] = 0;
            p->wide_col[a->row[i].col] = 0;
            queue[count++] = a->row[i].col;
        }
    }
}

/* Numbers what is marked; gives the count. */
static int32_t number_marked(int32_t n, int32_t *mark)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; ++i)
        if (mark[i] >= 0) mark[i] = count++;
    return count;
}

/* Takes over the duals and matchings of both parts; the one of the tall part is transposed back.
 * `list` has n places. */
static void combine(const parts *p, const sd_assignment *wide, const sd_assignment *tall, int32_t *list,
                    sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) { /* no row is in both parts: those of the tall one from the end */
        if (p->wide_row[i] >= 0) {
            list[p->wide_row[i]] = i;
            a->row[i].u = wide->row[p->wide_row[i]].u;
        }
        if (p->tall_row[i] >= 0) {
            list[a->n - 1 - p->tall_row[i]] = i;
            a->row[i].u = tall->col[p->tall_row[i]].v;
        }
    }
    for (int32_t j = 0; j < a->n; ++j) {
        if (p->wide_col[j] >= 0) {
            const sd_assigned_column *q = &wide->col[p->wide_col[j]];
            a->col[j].v = q->v;
            a->col[j].row = q->row >= 0 ? list[q->row] : -1;
        }
        if (p->tall_col[j] >= 0) {
            const sd_assigned_row *q = &tall->row[p->tall_col[j]];
            a->col[j].v = q->u;
            a->col[j].row = q->col >= 0 ? list[a->n - 1 - q->col] : -1;
        }
    }
}

/* The least slack, or 0, of the entries that lie in the part's rows and outside its columns, or the other way
 * round. */
static double least_slack(const sd_assignment *a, const int32_t *row, const int32_t *col, bool in_rows)
{
    double least = 0.0;
    for (int32_t i = 0; i < a->n; ++i) {
        if ((row[i] >= 0) != in_rows) continue;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k)
            if ((col[a->ind[k]] >= 0) != in_rows) least = fmin(least, sd_slack(a, i, k));
    }
    return least;
}

/* Moves duals of a part from its columns to its rows. */
static void move_duals(sd_assignment *a, const int32_t *row, const int32_t *col, double by)
{
    for (int32_t i = 0; i < a->n; ++i) {
        if (row[i] >= 0) a->row[i].u += by;
        if (col[i] >= 0) a->col[i].v -= by;
    }
}

/* Matches both parts again; `list` has n places. */
static saddle_status match_parts(sd_context *c, const sd_csr *A, const parts *p, int32_t *list,
                                 sd_assignment *a)
{
    int32_t rank;
    sd_csr wide_part = {0}, tall_part = {0}, turned = {0};
    sd_assignment wide = {0}, tall = {0};
    saddle_status status = take_part(c, A, p->wide_row, p->wide_col, p->wide_cols, &wide_part);
    if (!status) status = sd_assignment_solve(c, &wide_part, SD_START_LEVEL, &wide, &rank);
    if (!status) status = take_part(c, A, p->tall_row, p->tall_col, p->tall_rows, &tall_part);
    if (!status) status = sd_csr_transpose(c, &tall_part, &turned);
    if (!status) status = sd_assignment_solve(c, &turned, SD_START_LEVEL, &tall, &rank);
    if (!status) {
        combine(p, &wide, &tall, list, a);
        move_duals(a, p->tall_row, p->tall_col, -least_slack(a, p->tall_row, p->tall_col, false));
        move_duals(a, p->wide_row, p->wide_col, least_slack(a, p->wide_row, p->wide_col, true));
    }
    sd_assignment_free(c, &wide);
    sd_assignment_free(c, &tall);
    sd_csr_free(c, &wide_part);
    sd_csr_free(c, &tall_part);
    sd_csr_free(c, &turned);
    return status;
}

saddle_status sd_match_singular(sd_context *c, const sd_csr *A, sd_assignment *a, sd_matching *m)
{
    const int64_t n = A->n;
    sd_csr T = {0};
    int32_t *numbers = sd_alloc(c, 4 * n, sizeof *numbers, "parts of a singular matrix");
    int32_t *list = numbers ? sd_alloc(c, n, sizeof *list, "parts of a singular matrix") : NULL;
    saddle_status status = list ? sd_csr_transpose(c, A, &T) : c->status;
    if (status) goto done;
    parts p = {numbers, numbers + n, numbers + 2 * n, numbers + 3 * n, 0, 0};
    reach_tall(a, &p, list);
    reach_wide(a, &T, &p, list);
    p.tall_rows = number_marked(A->n, p.tall_row);
    number_marked(A->n, p.tall_col);
    number_marked(A->n, p.wide_row);
    p.wide_cols = number_marked(A->n, p.wide_col);
    status = match_parts(c, A, &p, list, a);
    if (status) goto done;
    sd_assignment_centre(a);
    sd_assignment_give(a, m);
done:
    sd_csr_free(c, &T);
    sd_free_all(c, list, numbers);
    return status;
}
