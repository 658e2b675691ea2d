/*
 * QDLDL as a peer: simplicial LDL' up to the first zero pivot, without pivoting, meant for quasidefinite
 * matrices: what is not regularised fails, or gives a solution that the errors show. It has no settings. The
 * order is AMD's, the one that it is used with; indices have 32 bits, which it is fastest with. A
 * factorization takes the values from the caller's order to the permuted one, as every user has to.
 */
#include "peer.h"

#include <amd.h>
#include <limits.h>
#include <qdldl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const saddle_matrix *A;
static QDLDL_int n;
static int *order; /* the row at each position */
/* The upper triangle of the permuted matrix by columns, and where each entry of A stands in it. */
static QDLDL_int *start, *row, *where;
static double *value;
static QDLDL_int *parent, *counts, *integers;
static QDLDL_bool *marks;
/* L by columns, D and its inverse. */
static QDLDL_int *L_start, *L_row, L_entries, positive;
static double *L_value, *D, *inverse, *work;

/* n, or any other number of them, of a size; at least one. */
static void *room(int64_t count, size_t size)
{
    return malloc(((size_t)count + 1) * size);
}

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    const int64_t rows = lower->rows;
    (void)setting;
    (void)threads; /* it has one */
    A = lower;
    if (lower->entries > INT_MAX) return peer_error("too many entries for 32-bit indices");
    n = (QDLDL_int)rows;
    order = room(rows, sizeof *order);
    start = room(rows + 1, sizeof *start);
    row = room(lower->entries, sizeof *row);
    where = room(lower->entries, sizeof *where);
    value = room(lower->entries, sizeof *value);
    parent = room(rows, sizeof *parent);
    counts = room(rows, sizeof *counts);
    integers = room(3 * rows, sizeof *integers);
    marks = room(rows, sizeof *marks);
    L_start = room(rows + 1, sizeof *L_start);
    D = room(rows, sizeof *D);
    inverse = room(rows, sizeof *inverse);
    work = room(rows, sizeof *work);
    return order && start && row && where && value && parent && counts && integers && marks && L_start && D &&
                   inverse && work
               ? true
               : peer_error("out of memory for the matrix");
}

/* AMD orders A + A': a triangle is enough. */
static bool find_order(void)
{
    const int64_t *pointers = A->pointers;
    int *narrow = room(A->rows + 1, sizeof *narrow);
    int status = AMD_OUT_OF_MEMORY;
    if (narrow) {
        for (int64_t j = 0; j <= A->rows; ++j) narrow[j] = (int)pointers[j];
        status = amd_order(n, narrow, A->indices, order, NULL, NULL);
    }
    free(narrow);
    return status == AMD_OK || status == AMD_OK_BUT_JUMBLED ? true
                                                            : peer_error("AMD returned status %d", status);
}

/* Places of the entries of A in the permuted upper triangle. integers holds the position of each row. */
static void permute(void)
{
    const int64_t *pointers = A->pointers;
    QDLDL_int *position = integers, *next = integers + n;
    for (QDLDL_int k = 0; k < n; ++k) position[order[k]] = k;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t k = pointers[j]; k < pointers[j + 1]; ++k) {
            const QDLDL_int a = position[j], b = position[A->indices[k]];
            start[(a > b ? a : b) + 1]++;
        }
    for (QDLDL_int j = 0; j < n; ++j) start[j + 1] += start[j];
    memcpy(next, start, (size_t)n * sizeof *next);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t k = pointers[j]; k < pointers[j + 1]; ++k) {
            const QDLDL_int a = position[j], b = position[A->indices[k]];
            where[k] = next[a > b ? a : b]++;
            row[where[k]] = a > b ? b : a;
        }
}

static bool analyse(void)
{
    if (!find_order()) return false;
    permute();
    L_entries = QDLDL_etree(n, start, row, integers, counts, parent);
    if (L_entries < 0) return peer_error("an empty column, or too many entries of L");
    free(L_row);
    free(L_value);
    L_row = room(L_entries, sizeof *L_row);
    L_value = room(L_entries, sizeof *L_value);
    return L_row && L_value ? true : peer_error("out of memory for L");
}

static bool factor(void)
{
    const double *values = A->values;
    for (int64_t k = 0; k < A->entries; ++k) value[where[k]] = values[k];
    positive = QDLDL_factor(n, start, row, value, L_start, L_row, L_value, D, inverse, counts, parent, marks,
                            integers, work);
    return positive >= 0 ? true : peer_error("a zero pivot");
}

static bool solve(int64_t columns, double *x)
{
    for (int64_t c = 0; c < columns; ++c, x += n) {
        for (QDLDL_int k = 0; k < n; ++k) work[k] = x[order[k]];
        QDLDL_solve(n, L_start, L_row, L_value, inverse, work);
        for (QDLDL_int k = 0; k < n; ++k) x[order[k]] = work[k];
    }
    return true;
}

/* Of all arrays of begin and analyse. */
static double bytes(void)
{
    const double of_row = 7 * sizeof *order + sizeof *marks + 3 * sizeof *D + sizeof *start;
    const double of_entry = 2 * sizeof *row + sizeof *value, of_l = sizeof *L_row + sizeof *L_value;
    return of_row * (double)n + of_entry * (double)A->entries + of_l * (double)L_entries;
}

static void facts(peer_facts *f)
{
    f->factor_nnz = (double)L_entries + (double)n;
    f->flops = 0;
    for (QDLDL_int j = 0; j < n; ++j) f->flops += (double)counts[j] * ((double)counts[j] + 2.0);
    f->negative = n - positive;
    f->peak_bytes = bytes();
    f->delayed = f->two_by_two = 0;
    snprintf(f->version, sizeof f->version, "QDLDL %d.%d.%d", QDLDL_VERSION_MAJOR, QDLDL_VERSION_MINOR,
             QDLDL_VERSION_PATCH);
    snprintf(f->ordering, sizeof f->ordering, "amd");
}

static void end(void)
{
    void *const all[] = {order, start,   row,   where,   value, parent,  counts, integers,
                         marks, L_start, L_row, L_value, D,     inverse, work};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) free(all[k]);
}

int main(int argc, char **argv)
{
    static const peer qdldl = {"qdldl", NULL, begin, analyse, factor, solve, facts, end};
    return peer_main(&qdldl, argc, argv);
}
