/* Between a caller's view and ours, and checks of it: nothing is allocated, nothing is trusted. See csr.h. */
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

saddle_matrix sd_view_of(int64_t rows, int64_t columns, int64_t entries, const int64_t *pointers,
                         const int32_t *indices, const double *values)
{
    return (saddle_matrix){.size = sizeof(saddle_matrix),
                           .rows = rows,
                           .columns = columns,
                           .entries = entries,
                           .type = SADDLE_DOUBLE,
                           .pointer_bits = 64,
                           .pointers = pointers,
                           .indices = indices,
                           .values = values};
}

void sd_view_free(sd_context *c, saddle_matrix *A)
{
    const void *const arrays[] = {A->pointers, A->indices, A->col_indices, A->values};
    for (int k = 0; k < 4; ++k) sd_free(c, (void *)(uintptr_t)arrays[k]);
    memset(A, 0, sizeof *A);
}

void sd_view_give(saddle_matrix *made, saddle_matrix *to, size_t size)
{
    made->size = size;
    sd_give(made, sizeof *made, to, size);
}

void saddle_matrix_free(saddle_matrix *A, const saddle_hooks *hooks)
{
    sd_context c;
    saddle_matrix view;
    if (!A || sd_context_open(&c, hooks)) return;
    if (sd_take(&c, A, SD_VIEW_LEAST, &view, sizeof view, "saddle_matrix")) return;
    sd_view_free(&c, &view);
    memset(A, 0, A->size);
}

saddle_status sd_view_take(sd_context *c, const saddle_matrix *from, saddle_matrix *view)
{
    static const int64_t start[] = {0, 1}; /* the one pointer of no rows, by base */
    if (!from) return sd_fail(c, SADDLE_BAD_ARGUMENT, "the matrix is NULL");
    const saddle_status status = sd_take(c, from, SD_VIEW_LEAST, view, sizeof *view, "saddle_matrix");
    if (status || view->pointers || view->layout == SADDLE_COORDINATES) return status;
    if ((view->layout == SADDLE_ROWS ? view->rows : view->columns) == 0) {
        view->pointers = &start[view->base == 1];
        view->pointer_bits = 64;
    }
    return SADDLE_OK;
}

saddle_status sd_view_check_fields(sd_context *c, const saddle_matrix *A)
{
    if (A->rows < 0 || A->columns < 0 || A->entries < 0) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "the matrix is %lld x %lld with %lld entries: sizes must not be negative",
                       (long long)A->rows, (long long)A->columns, (long long)A->entries);
    }
    if (A->rows != A->columns) {
        return sd_fail(c, SADDLE_NOT_SUPPORTED,
                       "the matrix is rectangular, %lld x %lld: only square systems can be solved",
                       (long long)A->rows, (long long)A->columns);
    }
    if (A->rows > INT32_MAX - 1) {
        return sd_fail(c, SADDLE_NOT_SUPPORTED,
                       "the matrix is too large: %lld rows, at most %d are supported", (long long)A->rows,
                       INT32_MAX - 1);
    }
    if (A->layout > SADDLE_COORDINATES || A->shape > SADDLE_FULL || A->type > SADDLE_FLOAT) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "the matrix has layout %d, shape %d, type %d: at least one is unknown", (int)A->layout,
                       (int)A->shape, (int)A->type);
    }
    if (A->base != 0 && A->base != 1)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "the matrix has base %d: it must be 0 or 1", A->base);
    if (A->layout == SADDLE_COORDINATES) {
        if (A->entries > 0 && (!A->indices || !A->col_indices))
            return sd_fail(c, SADDLE_BAD_ARGUMENT,
                           "the matrix is in coordinates, but indices or col_indices is NULL");
        return SADDLE_OK;
    }
    if (A->pointer_bits != 32 && A->pointer_bits != 64)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "the matrix has pointer_bits %d: it must be 32 or 64",
                       A->pointer_bits);
    if (!A->pointers) return sd_fail(c, SADDLE_BAD_ARGUMENT, "the pointers of the matrix are NULL");
    if (A->entries > 0 && !A->indices)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "the indices of the matrix are NULL");
    return SADDLE_OK;
}

/* As it is in the array: taking the base off one that was not checked could overflow. */
static int64_t raw_pointer(const saddle_matrix *A, int64_t j)
{
    return A->pointer_bits == 32 ? ((const int32_t *)A->pointers)[j] : ((const int64_t *)A->pointers)[j];
}

static saddle_status check_pointers(sd_context *c, const saddle_matrix *A)
{
    const char *line = A->layout == SADDLE_ROWS ? "row" : "column";
    if (raw_pointer(A, 0) != A->base) {
        return sd_fail(c, SADDLE_BAD_MATRIX, "the pointer of %s %d is %lld: it must equal the base, %d", line,
                       A->base, (long long)raw_pointer(A, 0), A->base);
    }
    for (int64_t j = 0; j < A->rows; ++j) {
        if (raw_pointer(A, j + 1) < raw_pointer(A, j)) {
            return sd_fail(
                c, SADDLE_BAD_MATRIX, "the pointer after %s %lld is %lld, less than the previous one, %lld",
                line, (long long)j + A->base, (long long)raw_pointer(A, j + 1), (long long)raw_pointer(A, j));
        }
    }
    if (sd_view_pointer(A, A->rows) != A->entries) {
        return sd_fail(c, SADDLE_BAD_MATRIX,
                       "the last pointer implies %lld entries, but the matrix has entries = %lld",
                       (long long)sd_view_pointer(A, A->rows), (long long)A->entries);
    }
    return SADDLE_OK;
}

/* One entry, at (i, j) counted from 0 in 64 bits, since what was subtracted may have overflowed. */
static saddle_status check_entry(sd_context *c, const saddle_matrix *A, int64_t i, int64_t j,
                                 saddle_facts *facts)
{
    const bool lower = A->shape == SADDLE_LOWER;
    if (i < 0 || i >= A->rows || j < 0 || j >= A->rows) {
        if (facts->out_of_range++ > 0) return SADDLE_BAD_MATRIX;
        return sd_fail(
            c, SADDLE_BAD_MATRIX, "the entry at row %lld, column %lld is outside the %lld x %lld matrix",
            (long long)i + A->base, (long long)j + A->base, (long long)A->rows, (long long)A->rows);
    }
    if ((lower && i < j) || (A->shape == SADDLE_UPPER && i > j)) {
        if (facts->wrong_triangle++ > 0) return SADDLE_BAD_MATRIX;
        return sd_fail(c, SADDLE_BAD_MATRIX, "the entry at row %lld, column %lld is outside the %s triangle",
                       (long long)i + A->base, (long long)j + A->base, lower ? "lower" : "upper");
    }
    return SADDLE_OK;
}

static saddle_status check_indices(sd_context *c, const saddle_matrix *A, saddle_facts *facts)
{
    saddle_status status = SADDLE_OK;
    if (A->layout == SADDLE_COORDINATES) {
        for (int64_t k = 0; k < A->entries; ++k) {
            const int64_t i = (int64_t)A->indices[k] - A->base, j = (int64_t)A->col_indices[k] - A->base;
            const saddle_status found = check_entry(c, A, i, j, facts);
            if (found) status = found;
        }
        return status;
    }
    const bool rows = A->layout == SADDLE_ROWS;
    for (int64_t line = 0; line < A->rows; ++line) {
        bool sorted = true;
        for (int64_t k = sd_view_pointer(A, line); k < sd_view_pointer(A, line + 1); ++k) {
            const int64_t other = (int64_t)A->indices[k] - A->base;
            const saddle_status found =
                rows ? check_entry(c, A, line, other, facts) : check_entry(c, A, other, line, facts);
            if (found) status = found;
            if (k > sd_view_pointer(A, line) && A->indices[k] <= A->indices[k - 1]) sorted = false;
        }
        facts->unsorted += !sorted;
    }
    return status;
}

saddle_status sd_view_check(sd_context *c, const saddle_matrix *A, saddle_facts *faults)
{
    saddle_facts none = {0};
    saddle_status status = sd_view_check_fields(c, A);
    if (!status && A->layout != SADDLE_COORDINATES) status = check_pointers(c, A);
    if (!status) status = check_indices(c, A, faults ? faults : &none);
    return status;
}

saddle_status sd_view_check_values(sd_context *c, const saddle_matrix *A, int64_t *not_finite)
{
    int64_t count = 0, first = -1;
    if (!A->values && A->entries > 0)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "the values of the matrix are NULL");
    for (int64_t k = A->entries - 1; k >= 0; --k) {
        if (!isfinite(sd_view_value(A, k))) ++count, first = k;
    }
    if (not_finite) *not_finite = count;
    if (count == 0) return SADDLE_OK;
    int64_t line = 0;
    if (A->layout == SADDLE_COORDINATES) {
        line = (int64_t)A->col_indices[first] - A->base;
    } else {
        while (sd_view_pointer(A, line + 1) <= first) ++line;
    }
    const int64_t other = (int64_t)A->indices[first] - A->base;
    const int64_t i = A->layout == SADDLE_ROWS ? line : other, j = A->layout == SADDLE_ROWS ? other : line;
    return sd_fail(c, SADDLE_BAD_VALUE, "the entry at row %lld, column %lld is %g%s", (long long)i + A->base,
                   (long long)j + A->base, sd_view_value(A, first),
                   count > 1 ? ", and more entries are NaN or infinite" : "");
}

/*
 * A hash of words of 64 bits in LANES chains, so that a processor multiplies one of them in every cycle. A
 * step is invertible in the word and in the chain: a single other word is always seen, several are missed
 * with a probability of 2^-64.
 */
enum { LANES = 8 };

static inline uint64_t mix(uint64_t chain, uint64_t word)
{
    chain = (chain ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return chain ^ (chain >> 32);
}

/* Indices two at a time, without their base. */
static void mix_indices(const int32_t *indices, int64_t count, int base, uint64_t *chain)
{
    const uint64_t both = (uint64_t)base << 32 | (uint64_t)base;
    int64_t k = 0;
    for (; k + 2 * LANES <= count; k += 2 * LANES) {
        for (int l = 0; l < LANES; ++l) {
            uint64_t word;
            memcpy(&word, indices + k + 2 * l, sizeof word);
            chain[l] = mix(chain[l], word - both);
        }
    }
    for (; k < count; ++k) chain[k % LANES] = mix(chain[k % LANES], (uint64_t)indices[k] - (uint64_t)base);
}

uint64_t sd_view_fingerprint(const saddle_matrix *A)
{
    uint64_t chain[LANES];
    for (int l = 0; l < LANES; ++l) chain[l] = (uint64_t)l;
    chain[0] = mix(chain[0], (uint64_t)A->rows);
    chain[1] = mix(chain[1], (uint64_t)A->entries);
    chain[2] = mix(chain[2], (uint64_t)A->layout);
    chain[3] = mix(chain[3], (uint64_t)A->shape);
    if (A->layout == SADDLE_COORDINATES) {
        mix_indices(A->col_indices, A->entries, A->base, chain);
    } else {
        for (int64_t j = 0; j <= A->rows; ++j)
            chain[j % LANES] = mix(chain[j % LANES], (uint64_t)sd_view_pointer(A, j));
    }
    mix_indices(A->indices, A->entries, A->base, chain);
    for (int l = 1; l < LANES; ++l) chain[0] = mix(chain[0], chain[l]);
    return chain[0];
}
