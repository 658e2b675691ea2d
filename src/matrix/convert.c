/* Conversion between the layouts and shapes of saddle_matrix, through the library's own form. */
#include "matrix/csr.h"
#include "matrix/inspect.h"

/* The triangle with columns >= row of a symmetric matrix with all its entries. */
static saddle_status upper_part(sd_context *c, const sd_csr *A, sd_csr *B)
{
    *B = (sd_csr){.n = A->n, .half = true};
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) B->nnz += A->ind[k] >= i;
    B->ptr = sd_alloc(c, (int64_t)A->n + 1, sizeof *B->ptr, "pointers");
    B->ind = sd_alloc(c, B->nnz, sizeof *B->ind, "indices");
    B->val = sd_alloc(c, B->nnz, sizeof *B->val, "values");
    if (!B->ptr || !B->ind || !B->val) {
        sd_csr_free(c, B);
        return c->status;
    }
    int64_t p = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        B->ptr[i] = p;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            if (A->ind[k] < i) continue;
            B->ind[p] = A->ind[k];
            B->val[p++] = A->val[k];
        }
    }
    B->ptr[A->n] = p;
    return SADDLE_OK;
}

/* *csr replaced by what make(c, csr, &other) gives. */
static saddle_status replace(sd_context *c, sd_csr *csr,
                             saddle_status (*make)(sd_context *, const sd_csr *, sd_csr *))
{
    sd_csr other;
    const saddle_status status = make(c, csr, &other);
    if (status) return status;
    sd_csr_free(c, csr);
    *csr = other;
    return SADDLE_OK;
}

/* The row of each entry, for coordinates. */
static saddle_status spell_rows(sd_context *c, const sd_csr *csr, int32_t **rows)
{
    *rows = sd_alloc(c, csr->nnz, sizeof **rows, "row indices");
    if (!*rows) return c->status;
    for (int32_t i = 0; i < csr->n; ++i)
        for (int64_t k = csr->ptr[i]; k < csr->ptr[i + 1]; ++k) (*rows)[k] = i;
    return SADDLE_OK;
}

static saddle_status convert(sd_context *c, const saddle_matrix *A, saddle_layout layout, saddle_shape shape,
                             saddle_matrix *B)
{
    const bool half = shape == SADDLE_LOWER || shape == SADDLE_UPPER;
    sd_csr csr = {0};
    int32_t *spelled = NULL;
    saddle_status status = sd_view_check(c, A, NULL);
    if (!status) status = sd_view_check_values(c, A, NULL);
    if (!status) status = sd_csr_from_view(c, A, false, &csr, NULL);
    if (!status && !csr.half && shape != SADDLE_GENERAL) status = sd_require_symmetric(c, &csr);
    if (!status && csr.half && !half) status = replace(c, &csr, sd_csr_expand);
    if (!status && !csr.half && half) status = replace(c, &csr, upper_part);
    /* compressed rows of the upper triangle are compressed columns of the lower one; coordinates are
     * spelled out from either */
    const bool by_columns = layout == SADDLE_COLUMNS;
    const bool turn = layout != SADDLE_COORDINATES && half ? by_columns != (shape == SADDLE_LOWER)
                                                           : by_columns && shape == SADDLE_GENERAL;
    if (!status && turn) status = replace(c, &csr, sd_csr_transpose);
    if (!status && layout == SADDLE_COORDINATES) status = spell_rows(c, &csr, &spelled);
    if (status) {
        sd_csr_free(c, &csr);
        return status;
    }
    *B = sd_view_of(A->rows, A->columns, csr.nnz, csr.ptr, csr.ind, csr.val);
    B->layout = layout;
    B->shape = shape;
    if (layout == SADDLE_COORDINATES) {
        sd_free(c, csr.ptr);
        B->pointers = NULL;
        B->indices = shape == SADDLE_LOWER ? csr.ind : spelled;
        B->col_indices = shape == SADDLE_LOWER ? spelled : csr.ind;
    }
    return SADDLE_OK;
}

saddle_status saddle_convert_sized(const saddle_matrix *A, saddle_layout layout, saddle_shape shape,
                                   const saddle_hooks *hooks, saddle_matrix *B, size_t size, char *message)
{
    sd_context c;
    saddle_matrix view, made = {0};
    saddle_status status = sd_context_open(&c, hooks);
    if (!status && (!B || size < SD_VIEW_LEAST || layout > SADDLE_COORDINATES || shape > SADDLE_FULL))
        status = sd_fail(&c, SADDLE_BAD_ARGUMENT,
                         "saddle_convert: B is NULL, size is too small, or the layout or shape is unknown");
    if (!status) status = sd_view_take(&c, A, &view);
    if (!status) status = convert(&c, &view, layout, shape, &made);
    if (!status) sd_view_give(&made, B, size);
    return sd_tell(&c, status, message);
}
