/*
 * From a caller's view to the library's form (csr.h).
 *
 * Entries go into their rows by counting, and two stable passes (first by column, then by row) sort
 * them in time proportional to n + nnz. What occurs twice is summed in the order in which the
 * caller gave it, so the sums do not depend on anything else.
 */
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

/* Entry k of the view, in the row and column of the library's form. */
static inline void place(const saddle_matrix *A, int64_t line, int64_t k, int32_t *row, int32_t *col)
{
    int32_t i = A->indices[k] - A->base, j;
    if (A->layout == SADDLE_COORDINATES) {
        j = A->col_indices[k] - A->base;
    } else {
        j = (int32_t)line;
    }
    if (A->layout == SADDLE_ROWS) {
        const int32_t swap = i;
        i = j;
        j = swap;
    }
    /* a triangle is kept as columns >= row */
    const bool turn = A->shape == SADDLE_LOWER;
    *row = turn ? j : i;
    *col = turn ? i : j;
}

/* Calls body for each entry k of the view with its place row, col. */
#define EACH_ENTRY(A, body)                                                                                  \
    do {                                                                                                     \
        int32_t row, col;                                                                                    \
        if ((A)->layout == SADDLE_COORDINATES) {                                                             \
            for (int64_t k = 0; k < (A)->entries; ++k) {                                                     \
                place(A, 0, k, &row, &col);                                                                  \
                body;                                                                                        \
            }                                                                                                \
        } else {                                                                                             \
            for (int64_t line = 0; line < (A)->rows; ++line) {                                               \
                for (int64_t k = sd_view_pointer(A, line); k < sd_view_pointer(A, line + 1); ++k) {          \
                    place(A, line, k, &row, &col);                                                           \
                    body;                                                                                    \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* Whether the arrays are in the library's form as they are, except for base and widths. */
static bool in_form(const saddle_matrix *A)
{
    if (A->layout == SADDLE_COORDINATES) return false;
    if (A->layout == SADDLE_COLUMNS && (A->shape == SADDLE_GENERAL || A->shape == SADDLE_UPPER)) return false;
    if (A->layout == SADDLE_ROWS && A->shape == SADDLE_LOWER) return false;
    for (int64_t line = 0; line < A->rows; ++line) {
        for (int64_t k = sd_view_pointer(A, line) + 1; k < sd_view_pointer(A, line + 1); ++k)
            if (A->indices[k] <= A->indices[k - 1]) return false;
    }
    return true;
}

static saddle_status take_over(sd_context *c, const saddle_matrix *A, bool borrow, sd_csr *csr)
{
    csr->nnz = A->entries;
    csr->ptr = sd_alloc(c, A->rows + 1, sizeof *csr->ptr, "row pointers");
    if (!csr->ptr) return c->status;
    for (int64_t j = 0; j <= A->rows; ++j) csr->ptr[j] = sd_view_pointer(A, j);
    csr->borrowed_ind = borrow && A->base == 0;
    if (csr->borrowed_ind) {
        csr->ind = (int32_t *)(uintptr_t)A->indices;
    } else {
        csr->ind = sd_alloc(c, A->entries, sizeof *csr->ind, "column indices");
        if (!csr->ind) return c->status;
        for (int64_t k = 0; k < A->entries; ++k) csr->ind[k] = A->indices[k] - A->base;
    }
    if (!A->values) return SADDLE_OK;
    csr->borrowed_val = borrow && A->type == SADDLE_DOUBLE;
    if (csr->borrowed_val) {
        csr->val = (double *)(uintptr_t)A->values;
        return SADDLE_OK;
    }
    csr->val = sd_alloc(c, A->entries, sizeof *csr->val, "values");
    if (!csr->val) return c->status;
    sd_csr_take_values(csr, A, NULL);
    return SADDLE_OK;
}

/* Turns counts into the positions where each bucket begins. */
static void counts_to_starts(int64_t *count, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i <= n; ++i) {
        const int64_t next = sum + count[i];
        count[i] = sum;
        sum = next;
    }
}

/* Sorts the entries by row, then column: order[p] is the entry at place p, cols[k] the column of entry k,
 * row_start, which comes with zeros, where each row begins. */
static saddle_status sort_entries(sd_context *c, const saddle_matrix *A, int64_t *order, int32_t *cols,
                                  int64_t *row_start)
{
    saddle_status status = SADDLE_OK;
    int64_t *col_start = sd_alloc_zero(c, A->rows + 1, sizeof *col_start, "column counts");
    int64_t *by_col = sd_alloc(c, A->entries, sizeof *by_col, "entries by column");
    int32_t *rows = sd_alloc(c, A->entries, sizeof *rows, "rows of the entries");
    if (!col_start || !by_col || !rows) {
        status = c->status;
        goto done;
    }
    EACH_ENTRY(A, (++row_start[row], ++col_start[col], rows[k] = row, cols[k] = col));
    counts_to_starts(row_start, A->rows);
    counts_to_starts(col_start, A->rows);
    for (int64_t k = 0; k < A->entries; ++k) by_col[col_start[cols[k]]++] = k;
    for (int64_t p = 0; p < A->entries; ++p) {
        const int64_t k = by_col[p];
        order[row_start[rows[k]]++] = k;
    }
    /* each start has moved on to the next one */
    memmove(row_start + 1, row_start, (size_t)A->rows * sizeof *row_start);
    row_start[0] = 0;
done:
    sd_free_all(c, rows, by_col, col_start);
    return status;
}

saddle_status sd_csr_check_sums(sd_context *c, const saddle_matrix *A, const sd_csr *csr)
{
    for (int32_t i = 0; i < csr->n; ++i) {
        for (int64_t k = csr->ptr[i]; k < csr->ptr[i + 1]; ++k) {
            if (isfinite(csr->val[k])) continue;
            const int32_t j = csr->ind[k];
            const bool turned = A->shape == SADDLE_LOWER;
            return sd_fail(c, SADDLE_BAD_VALUE,
                           "the sum of the entries at row %lld, column %lld is not finite",
                           (long long)(turned ? j : i) + A->base, (long long)(turned ? i : j) + A->base);
        }
    }
    return SADDLE_OK;
}

/* Writes the sorted entries into csr, each place once, and the map. */
static saddle_status merge_entries(sd_context *c, const saddle_matrix *A, const int64_t *order,
                                   const int32_t *cols, const int64_t *row_start, sd_csr *csr, sd_map *map)
{
    int64_t count = 0;
    for (int32_t i = 0; i < csr->n; ++i) {
        for (int64_t p = row_start[i]; p < row_start[i + 1]; ++p)
            count += p == row_start[i] || cols[order[p]] != cols[order[p - 1]];
    }
    csr->nnz = count;
    csr->ind = sd_alloc(c, count, sizeof *csr->ind, "column indices");
    if (!csr->ind) return c->status;
    count = 0;
    for (int32_t i = 0; i < csr->n; ++i) {
        csr->ptr[i] = count;
        for (int64_t p = row_start[i]; p < row_start[i + 1]; ++p) {
            const int64_t k = order[p];
            if (p == row_start[i] || cols[k] != cols[order[p - 1]]) csr->ind[count++] = cols[k];
            map[k] = count - 1;
        }
    }
    csr->ptr[csr->n] = count;
    if (!A->values) return SADDLE_OK;
    csr->val = sd_alloc(c, count, sizeof *csr->val, "values");
    if (!csr->val) return c->status;
    sd_csr_take_values(csr, A, map);
    return count < A->entries ? sd_csr_check_sums(c, A, csr) : SADDLE_OK;
}

static saddle_status assemble(sd_context *c, const saddle_matrix *A, sd_csr *csr, sd_map **map)
{
    saddle_status status;
    sd_map *own_map = NULL;
    int64_t *order = sd_alloc(c, A->entries, sizeof *order, "order of the entries");
    int32_t *cols = sd_alloc(c, A->entries, sizeof *cols, "columns of the entries");
    int64_t *row_start = sd_alloc_zero(c, A->rows + 1, sizeof *row_start, "row counts");
    csr->ptr = sd_alloc(c, A->rows + 1, sizeof *csr->ptr, "row pointers");
    if (!order || !cols || !row_start || !csr->ptr) {
        status = c->status;
        goto done;
    }
    status = sort_entries(c, A, order, cols, row_start);
    if (status) goto done;
    own_map = sd_alloc(c, A->entries, sizeof *own_map, "map of the entries");
    status = own_map ? merge_entries(c, A, order, cols, row_start, csr, own_map) : c->status;
    if (!status && map) {
        *map = own_map;
        own_map = NULL;
    }
done:
    sd_free_all(c, own_map, row_start, cols, order);
    return status;
}

saddle_status sd_csr_from_view(sd_context *c, const saddle_matrix *A, bool borrow, sd_csr *csr, sd_map **map)
{
    *csr = (sd_csr){.n = (int32_t)A->rows, .half = A->shape == SADDLE_LOWER || A->shape == SADDLE_UPPER};
    if (map) *map = NULL;
    const saddle_status status = in_form(A) ? take_over(c, A, borrow, csr) : assemble(c, A, csr, map);
    if (status) sd_csr_free(c, csr);
    return status;
}

void sd_csr_free(sd_context *c, sd_csr *csr)
{
    sd_free(c, csr->ptr);
    if (!csr->borrowed_ind) sd_free(c, csr->ind);
    if (!csr->borrowed_val) sd_free(c, csr->val);
    *csr = (sd_csr){0};
}

/* A sum of 0 times each value is NaN where one of them is not finite; in LANES sums, for the compiler. */
enum { LANES = 8 };

bool sd_csr_take_values(sd_csr *csr, const saddle_matrix *A, const sd_map *map)
{
    double nothing[LANES] = {0};
    if (map) memset(csr->val, 0, (size_t)csr->nnz * sizeof *csr->val);
    if (map) {
        for (int64_t k = 0; k < A->entries; ++k) {
            const double value = sd_view_value(A, k);
            csr->val[map[k]] += value;
            nothing[k % LANES] += 0 * value;
        }
    } else if (A->type == SADDLE_DOUBLE) {
        const double *from = A->values;
        int64_t k = 0;
        for (; k + LANES <= A->entries; k += LANES)
            for (int l = 0; l < LANES; ++l) nothing[l] += 0 * (csr->val[k + l] = from[k + l]);
        for (; k < A->entries; ++k) nothing[0] += 0 * (csr->val[k] = from[k]);
    } else {
        for (int64_t k = 0; k < A->entries; ++k)
            nothing[k % LANES] += 0 * (csr->val[k] = sd_view_value(A, k));
    }
    for (int l = 1; l < LANES; ++l) nothing[0] += nothing[l];
    return nothing[0] == 0;
}

/*
 * Every row keeps a cursor on the first of its entries that no row above has asked for. Row i asks
 * row j > i for its mirror image of (i, j); since rows ask in order, that is where the cursor of j
 * must stand. When row i's turn comes, its cursor must have passed all columns < i.
 */
saddle_status sd_csr_symmetry(sd_context *c, const sd_csr *csr, bool *pattern, bool *value, int32_t *row,
                              int32_t *col)
{
    *pattern = *value = true;
    int64_t *cursor = sd_alloc(c, csr->n, sizeof *cursor, "cursors of the symmetry test");
    if (!cursor) return c->status;
    memcpy(cursor, csr->ptr, (size_t)csr->n * sizeof *cursor);
    int32_t bad_i = -1, bad_j = -1;
    for (int32_t i = 0; i < csr->n && *pattern; ++i) {
        if (cursor[i] < csr->ptr[i + 1] && csr->ind[cursor[i]] < i) {
            *pattern = false;
            bad_i = i, bad_j = csr->ind[cursor[i]];
        }
        for (int64_t k = cursor[i]; k < csr->ptr[i + 1] && *pattern; ++k) {
            const int32_t j = csr->ind[k];
            if (j <= i) continue;
            if (cursor[j] < csr->ptr[j + 1] && csr->ind[cursor[j]] < i) {
                *pattern = false; /* a row above should have asked for this one */
                bad_i = j, bad_j = csr->ind[cursor[j]];
            } else if (cursor[j] >= csr->ptr[j + 1] || csr->ind[cursor[j]] != i) {
                *pattern = false;
                bad_i = i, bad_j = j;
            } else {
                if (*value && csr->val && csr->val[cursor[j]] != csr->val[k]) {
                    *value = false;
                    bad_i = i, bad_j = j;
                }
                ++cursor[j];
            }
        }
    }
    if (!*pattern) *value = false;
    if (row) *row = bad_i;
    if (col) *col = bad_j;
    sd_free(c, cursor);
    return SADDLE_OK;
}

saddle_status sd_csr_expand(sd_context *c, const sd_csr *half, sd_csr *full)
{
    const int32_t n = half->n;
    *full = (sd_csr){.n = n};
    int64_t *next = sd_alloc_zero(c, (int64_t)n + 1, sizeof *next, "row counts");
    full->ptr = sd_alloc(c, (int64_t)n + 1, sizeof *full->ptr, "row pointers");
    if (!next || !full->ptr) goto fail;
    for (int32_t i = 0; i < n; ++i) {
        for (int64_t k = half->ptr[i]; k < half->ptr[i + 1]; ++k) {
            ++next[i];
            if (half->ind[k] != i) ++next[half->ind[k]];
        }
    }
    counts_to_starts(next, n);
    memcpy(full->ptr, next, ((size_t)n + 1) * sizeof *next);
    full->nnz = full->ptr[n];
    full->ind = sd_alloc(c, full->nnz, sizeof *full->ind, "column indices");
    if (half->val) full->val = sd_alloc(c, full->nnz, sizeof *full->val, "values");
    if (!full->ind || (half->val && !full->val)) goto fail;
    /* row i's entries left of the diagonal have come from the rows above by the time of its turn */
    for (int32_t i = 0; i < n; ++i) {
        for (int64_t k = half->ptr[i]; k < half->ptr[i + 1]; ++k) {
            const int32_t j = half->ind[k];
            for (int mirror = 0; mirror <= (j != i); ++mirror) {
                const int64_t p = next[mirror ? j : i]++;
                full->ind[p] = mirror ? i : j;
                if (half->val) full->val[p] = half->val[k];
            }
        }
    }
    sd_free(c, next);
    return SADDLE_OK;
fail:
    sd_free(c, next);
    sd_csr_free(c, full);
    return c->status;
}

saddle_status sd_csr_transpose(sd_context *c, const sd_csr *A, sd_csr *B)
{
    const int32_t n = A->n;
    *B = (sd_csr){.n = n, .nnz = A->nnz, .half = A->half};
    B->ptr = sd_alloc_zero(c, (int64_t)n + 2, sizeof *B->ptr, "pointers");
    B->ind = sd_alloc(c, A->nnz, sizeof *B->ind, "indices");
    if (A->val) B->val = sd_alloc(c, A->nnz, sizeof *B->val, "values");
    if (!B->ptr || !B->ind || (A->val && !B->val)) {
        sd_csr_free(c, B);
        return c->status;
    }
    /* shifted by two, so that after the scatter ptr[j] is where j begins */
    for (int64_t k = 0; k < A->nnz; ++k) ++B->ptr[A->ind[k] + 2];
    for (int32_t j = 2; j <= n; ++j) B->ptr[j] += B->ptr[j - 1];
    for (int32_t i = 0; i < n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int64_t p = B->ptr[A->ind[k] + 1]++;
            B->ind[p] = i;
            if (A->val) B->val[p] = A->val[k];
        }
    }
    return SADDLE_OK;
}

double sd_csr_at(const sd_csr *A, int32_t i, int32_t j)
{
    const int64_t end = A->ptr[i + 1], k = sd_find_index(A->ind, A->ptr[i], end, j);
    return k < end && A->ind[k] == j ? A->val[k] : 0.0;
}
