/* Any view of a matrix, entry by entry. See walk.h. */
#include "io/walk.h"

#include "io/io.h"
#include "matrix/csr.h"

#include <math.h>

static saddle_status bad_view(sd_context *c, const char *name, const char *what)
{
    return sd_fail(c, SADDLE_BAD_ARGUMENT, "%.300s: the matrix to write has %s", name, what);
}

saddle_status sd_check_view(sd_context *c, const char *name, const saddle_matrix *A)
{
    const bool coordinates = A->layout == SADDLE_COORDINATES;
    if (A->rows < 0 || A->columns < 0 || A->rows > SD_SIZE_MOST || A->columns > SD_SIZE_MOST) {
        return bad_view(c, name, "a size out of range");
    }
    if (A->layout != SADDLE_COLUMNS && A->layout != SADDLE_ROWS && !coordinates)
        return bad_view(c, name, "an unknown layout");
    if (A->shape != SADDLE_GENERAL && A->rows != A->columns) {
        return sd_fail(c, SADDLE_BAD_MATRIX,
                       "%.300s: a symmetric matrix cannot have %lld rows and %lld columns", name,
                       (long long)A->rows, (long long)A->columns);
    }
    if (A->base != 0 && A->base != 1) return bad_view(c, name, "a base other than 0 or 1");
    if (!coordinates && A->pointer_bits != 32 && A->pointer_bits != 64) {
        return bad_view(c, name, "pointers of neither 32 nor 64 bits");
    }
    if (A->entries < 0 || (A->entries > 0 && !A->indices) ||
        (coordinates && A->entries > 0 && !A->col_indices) || (!coordinates && !A->pointers)) {
        return bad_view(c, name, "missing arrays");
    }
    return SADDLE_OK;
}

/* Checks one entry and visits it, unless the other triangle of a full matrix has it as well. */
static saddle_status visit_entry(sd_context *c, const char *name, const saddle_matrix *A, int64_t row,
                                 int64_t col, int64_t k, sd_visitor visit, void *user)
{
    const double value = A->values ? sd_view_value(A, k) : 1;
    const char *fault = row < 0 || row >= A->rows || col < 0 || col >= A->columns ? "is out of range"
                        : A->shape == SADDLE_LOWER && row < col                   ? "is above the diagonal"
                        : A->shape == SADDLE_UPPER && row > col                   ? "is below the diagonal"
                                                                                  : NULL;
    if (fault) {
        return sd_fail(c, SADDLE_BAD_MATRIX, "%.300s: entry %lld, row %lld, column %lld (counted from 0), %s",
                       name, (long long)k, (long long)row, (long long)col, fault);
    }
    if (!isfinite(value)) {
        return sd_fail(c, SADDLE_BAD_VALUE,
                       "%.300s: the value %g in row %lld, column %lld (counted from 0) is not finite", name,
                       value, (long long)row, (long long)col);
    }
    if (A->shape == SADDLE_FULL && row < col) return SADDLE_OK;
    if (A->shape == SADDLE_UPPER) return visit(user, (int32_t)col, (int32_t)row, value);
    return visit(user, (int32_t)row, (int32_t)col, value);
}

saddle_status sd_walk(sd_context *c, const char *name, const saddle_matrix *A, sd_visitor visit, void *user)
{
    saddle_status status = SADDLE_OK;
    if (A->layout == SADDLE_COORDINATES) {
        for (int64_t k = 0; status == SADDLE_OK && k < A->entries; k++) {
            status = visit_entry(c, name, A, (int64_t)A->indices[k] - A->base,
                                 (int64_t)A->col_indices[k] - A->base, k, visit, user);
        }
        return status;
    }
    const bool by_rows = A->layout == SADDLE_ROWS;
    const int64_t n = by_rows ? A->rows : A->columns;
    int64_t k = 0;
    for (int64_t major = 0; major < n; major++) {
        const int64_t end = sd_view_pointer(A, major + 1);
        if (sd_view_pointer(A, major) != k || end < k || end > A->entries) {
            return sd_fail(c, SADDLE_BAD_MATRIX,
                           "%.300s: pointers %lld and %lld do not increase from 0 to %lld", name,
                           (long long)major, (long long)major + 1, (long long)A->entries);
        }
        for (; k < end; k++) {
            const int64_t minor = (int64_t)A->indices[k] - A->base;
            status =
                visit_entry(c, name, A, by_rows ? major : minor, by_rows ? minor : major, k, visit, user);
            if (status != SADDLE_OK) return status;
        }
    }
    if (k == A->entries) return SADDLE_OK;
    return sd_fail(c, SADDLE_BAD_MATRIX, "%.300s: the last pointer is %lld, but there are %lld entries", name,
                   (long long)k, (long long)A->entries);
}
