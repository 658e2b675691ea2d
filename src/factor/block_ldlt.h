/*
 * Block LDL' with two levels of pivoting, inside dense blocks and among them (D. Thuerck, Stretching Jacobi),
 * in the form without permutations of backend/ldlt.h.
 *
 * A factorization on the host finds out, column by column, which blocks of fill are worth keeping
 * (ldlt_find.c); from that come a plan, which can be run again for other values on any backend (ldlt_run.c),
 * and numbers.
 */
#pragma once

#include "backend/batch_memory.h"
#include "backend/ldlt.h"

/* The prepared matrix, (R A R) in the order of the blocks, and the graph of its blocks. */
typedef struct sd_block_matrix {
    int32_t n, blocks;
    int32_t *start;    /* first row of each block: blocks + 1 */
    int32_t *block_of; /* each row */
    sd_csr rows;       /* all entries; the columns of a row in no particular order */
    sd_graph graph;
    double largest; /* entry in magnitude */
} sd_block_matrix;

/* A is whole; order[r] is the row of A at row r, scale (NULL: ones) that of A's rows. */
saddle_status sd_block_matrix_make(sd_context *c, const sd_csr *A, const int32_t *order, const double *scale,
                                   int32_t blocks, const int32_t *start, sd_block_matrix *B);
/* All its values times 2^exponent. */
void sd_block_matrix_shift(int exponent, sd_block_matrix *B);
void sd_block_matrix_free(sd_context *c, sd_block_matrix *B);

typedef enum sd_fill_kind { SD_FILL_NONE, SD_FILL_LEVEL, SD_FILL_TAU } sd_fill_kind;

typedef struct sd_ldlt_rule {
    bool symbolic; /* the pattern alone: no number is looked at, and fill is not by threshold */
    sd_fill_kind fill;
    int level;  /* most, of SD_FILL_LEVEL */
    double tau; /* of SD_FILL_TAU: a row of fill is left out where max |C G| in it is below */
    sd_batch_kernel kernel;
    double weak;         /* a block with a pivot below it is pushed back */
    double small;        /* a pivot below it is moved away from 0 */
    int generations;     /* how often a block may be pushed back */
    int32_t most_pushed; /* blocks pushed back; beyond it small pivots are moved */
    double most_flops;   /* the search is given up beyond them, as too expensive; 0: no limit */
    double most_inverse; /* and beyond such an entry of an inverse of a diagonal block; 0: no limit */
    int64_t most;        /* numbers kept in off-diagonal blocks; beyond it fill is left out. 0: no limit */
    sd_precision precision;
    int threads;
    bool reference;
} sd_ldlt_rule;

/* Counts of a factorization. */
typedef struct sd_ldlt_counts {
    int64_t two_by_two, negative, perturbed, replaced; /* pivots; blocks */
    int64_t pushed_back;                               /* blocks */
    bool full, expensive;                              /* a limit was met: of numbers; one that ends it */
    double flops;
    double largest; /* entry of an inverse of a diagonal block */
    int sweeps;     /* that were made, where it was by sweeps */
    bool exact;     /* and whether they were as many as the pattern needs: no more would change anything */
} sd_ldlt_counts;

/* e is NULL where they are the host's, as the search leaves them. */
void sd_ldlt_numbers_free(sd_context *c, sd_engine *e, sd_ldlt_numbers *x);

/* Factors B and finds its pattern under way: in the order of its blocks, but with `last` (NULL: none)
 * behind all others. On failure nothing is kept, nor where it becomes too expensive; of
 * a symbolic one there are no numbers. */
saddle_status sd_ldlt_find(sd_context *c, const sd_block_matrix *B, const sd_ldlt_rule *rule,
                           const bool *last, sd_ldlt_plan *plan, sd_ldlt_numbers *x, sd_ldlt_counts *counts);

/* Factors for solves on the host, except for the order of the rows and their scaling. */
sd_ldlt_factors sd_ldlt_factors_of(const sd_ldlt_plan *plan, const sd_ldlt_numbers *x);

/* Signs without a pattern, the same for every matrix: vectors to try factors with. */
static inline double sd_ldlt_sign(int32_t r)
{
    return (uint32_t)r * 2654435761u >> 31 ? 1.0 : -1.0;
}

/*
 * How well the factors do for a vector v of ones and minus ones: |v - B M^-1 v| / |v| in the 2-norm, infinite
 * where it is not finite. 0 where nothing was left out or moved.
 */
saddle_status sd_ldlt_probe(sd_context *c, const sd_block_matrix *B, const sd_ldlt_plan *plan,
                            const sd_ldlt_numbers *numbers, int threads, double *error);
