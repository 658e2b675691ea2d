/*
 * The matrix as the iteration multiplies with it: A 2^-exponent, in a precision, on a backend.
 *
 * The power of two is exact and keeps products away from overflow: it is taken for single precision
 * and where the largest entry of A lies outside 2^-300 .. 2^300. (Entries that are more than 2^-1000
 * below the largest may be lost then.) Otherwise the arrays of the matrix are used as they are.
 */
#pragma once

#include "backend/backend.h"
#include "plan/slices.h"

typedef struct sd_operator {
    sd_sparse sparse;
    int exponent;
    double norm_inf; /* of A 2^-exponent */
    sd_csr from;     /* A, whose arrays are not owned */
    int smallest;    /* floor(log2 |a|) of its smallest entry that is not 0 */
    /* what is owned: host arrays where the backend works on them, its own memory otherwise */
    sd_csr whole;
    void *values; /* NULL where the matrix's own are used */
    sd_slices slices;
    void *device[3]; /* ptr, ind, val */
} sd_operator;

/*
 * How the sums of a row are to be made. By slices is the fastest. In order of the columns, as a plain
 * loop over the whole row makes them, they have the same bits whether the half is multiplied in one piece
 * (no memory, one thread) or both triangles are stored.
 */
typedef enum sd_sums { SD_SUMS_BY_SLICES, SD_SUMS_IN_ORDER, SD_SUMS_IN_ORDER_WHOLE } sd_sums;

/* A must outlive the operator. */
saddle_status sd_operator_make(sd_engine *e, const sd_csr *A, sd_precision precision, sd_sums sums,
                               sd_operator *op);
/* Whether an operator made of A serves its new values too, of which these are the facts; if so its norm (that
 * of A) is replaced. */
bool sd_operator_refresh(sd_operator *op, const sd_csr *A, const saddle_facts *facts);
/* The same of an operator whose values somebody else replaces. */
bool sd_operator_renew(sd_operator *op, const saddle_facts *facts);
void sd_operator_free(sd_engine *e, sd_operator *op);

/* floor(log2 |largest|) over a host array, 0 where all are 0; and of the smallest that is not 0. */
int sd_largest_exponent(const double *values, int64_t count);
int sd_smallest_exponent(const double *values, int64_t count);
