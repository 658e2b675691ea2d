/*
 * The library's own form of a matrix: compressed rows, sorted, every entry once, counted from 0.
 *
 * A matrix that the caller gives by one triangle stays that way (`half`: row i holds the columns
 * >= i, which is the lower triangle by columns); all others have every entry. Where the caller's
 * arrays are in this form already they can be borrowed instead of copied.
 */
#pragma once

#include "core/context.h"

typedef struct sd_csr {
    int32_t n;
    int64_t nnz; /* stored */
    bool half;
    int64_t *ptr;
    int32_t *ind;
    double *val; /* NULL for a pattern */
    bool borrowed_ind, borrowed_val;
} sd_csr;

/* Entry k of a view is added to val[map[k]]; NULL where entry k is entry k. */
typedef int64_t sd_map;

/* Bytes of the first version of saddle_matrix. */
#define SD_VIEW_LEAST (offsetof(saddle_matrix, values) + sizeof(const void *))

/* A matrix that the library has made, of these arrays; its layout and shape are set by who has made it. */
saddle_matrix sd_view_of(int64_t rows, int64_t columns, int64_t entries, const int64_t *pointers,
                         const int32_t *indices, const double *values);

/* Frees the arrays of such a matrix and empties it. */
void sd_view_free(sd_context *c, saddle_matrix *A);

/* Hands it over to a caller whose saddle_matrix has `size` bytes. */
void sd_view_give(saddle_matrix *made, saddle_matrix *to, size_t size);

/* Takes over a caller's view, of whatever version of saddle_matrix; where it has no rows, it may have come
 * without pointers. */
saddle_status sd_view_take(sd_context *c, const saddle_matrix *from, saddle_matrix *view);

/*
 * Checks that a view can be read at all: fields, sizes, pointers, indices. SADDLE_BAD_ARGUMENT,
 * SADDLE_NOT_SUPPORTED or SADDLE_BAD_MATRIX with a message that names the place. faults, which may
 * be NULL, gets the counts of saddle_facts that concern single entries. One pass, no memory.
 */
saddle_status sd_view_check(sd_context *c, const saddle_matrix *A, saddle_facts *faults);

/* Whether a view has a pattern; otherwise it is of values in the order of one that was analysed. */
static inline bool sd_view_has_pattern(const saddle_matrix *A)
{
    return A->pointers || A->layout == SADDLE_COORDINATES;
}

/* The fields alone: what a function has to know before it reads the arrays. */
saddle_status sd_view_check_fields(sd_context *c, const saddle_matrix *A);

/* The same for the values alone: SADDLE_BAD_VALUE names the first that is NaN or infinite. */
saddle_status sd_view_check_values(sd_context *c, const saddle_matrix *A, int64_t *not_finite);

/*
 * Brings a checked view into the form above. `borrow` allows the caller's arrays to be used where
 * they fit; otherwise everything is copied. map, which may be NULL, gets the map by which values of
 * the same pattern are taken over later (freed with sd_free). Without values csr->val is NULL.
 */
saddle_status sd_csr_from_view(sd_context *c, const saddle_matrix *A, bool borrow, sd_csr *csr, sd_map **map);
void sd_csr_free(sd_context *c, sd_csr *csr);

/* Fills csr->val again from a view of the same pattern; false where a value is not finite. */
bool sd_csr_take_values(sd_csr *csr, const saddle_matrix *A, const sd_map *map);

/* SADDLE_BAD_VALUE, naming the place, if the sum of finite entries is not finite. */
saddle_status sd_csr_check_sums(sd_context *c, const saddle_matrix *A, const sd_csr *csr);

/* A number that tells patterns apart: size, layout, shape, pointers and indices, whatever their base and
 * width. */
uint64_t sd_view_fingerprint(const saddle_matrix *A);

/* Whether a matrix with all its entries is symmetric in pattern and in value. When it is not, row
 * and col (which may be NULL) name an entry whose mirror image is missing or different. */
saddle_status sd_csr_symmetry(sd_context *c, const sd_csr *csr, bool *pattern, bool *value, int32_t *row,
                              int32_t *col);

/* B = the transpose of A as arrays: with A by rows, B is A by columns. */
saddle_status sd_csr_transpose(sd_context *c, const sd_csr *A, sd_csr *B);

/* The stored value at (i, j), 0 where there is none. */
double sd_csr_at(const sd_csr *A, int32_t i, int32_t j);

/* All entries of a half matrix. */
saddle_status sd_csr_expand(sd_context *c, const sd_csr *half, sd_csr *full);

/* The first place of the ascending list ind[begin .. end) whose index is not below j; end where all are. */
static inline int64_t sd_find_index(const int32_t *ind, int64_t begin, int64_t end, int32_t j)
{
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (ind[middle] < j)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Pointer j of a view, counted from 0. One that was not checked may wrap around, to a wrong value. */
static inline int64_t sd_view_pointer(const saddle_matrix *A, int64_t j)
{
    const int64_t p =
        A->pointer_bits == 32 ? ((const int32_t *)A->pointers)[j] : ((const int64_t *)A->pointers)[j];
    return (int64_t)((uint64_t)p - (uint64_t)A->base);
}

/* Value k of a view. */
static inline double sd_view_value(const saddle_matrix *A, int64_t k)
{
    return A->type == SADDLE_DOUBLE ? ((const double *)A->values)[k] : (double)((const float *)A->values)[k];
}
