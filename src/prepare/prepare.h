/*
 * The stage between the matrix and the plan: scale, match, pair, order, block, measure. The result is the
 * public saddle_preparation; its arrays come from the context's allocator.
 */
#pragma once

#include "prepare/etree.h"

/* Whether a nested dissection is worth its time where the order by degree predicts these operations and
 * entries of L: `size` counts vertices and stored edges (choose.c). */
bool sd_dissection_pays(const saddle_options *o, double flops, double entries, double size);

/* In operations of a factorization, at some 1e10 a second, on the matrices of `saddle bench sequence`: a
 * column that is delayed is tried several times in its front. */
enum { SD_DELAY_WORK = 30000 };

/* The operations of a complete factorization of a symmetric matrix, guessed from its pattern without an
 * order; NaN: it cannot be known (guess.c). */
saddle_status sd_guess_flops(sd_context *c, const sd_csr *A, double *flops);

/* The steps that progress is told in. */
/* Of the progress: values, graph, order, result, measures (which are left out where nobody asks for them). */
enum { SD_PREPARE_STEPS = 5 };

/* A is whole, its values checked; options have been taken (core/options.h). On failure p holds nothing. */
saddle_status sd_prepare(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                         const saddle_given *given, saddle_preparation *p);

/* The same for a factorization that plans on: without blocks and their measures, and with the graph of a
 * symmetric A and the elimination tree of its order, which are the caller's to free. */
saddle_status sd_prepare_order(sd_context *c, const sd_csr *A, const saddle_options *options,
                               const saddle_given *given, saddle_preparation *p, sd_graph *graph,
                               sd_elimination *tree);

/* The same for a method that needs blocks and no order: where options leave it open rows stay in theirs,
 * blocks are clusters. Without measures, except for largest_block. */
saddle_status sd_prepare_blocks(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                                const saddle_given *given, saddle_preparation *p);

/* The same for a factorization of blocks: where options leave it open blocks are clusters, ordered by nested
 * dissection. Without measures, except for largest_block. */
saddle_status sd_prepare_factor(sd_context *c, const sd_csr *A, bool symmetric, const saddle_options *options,
                                const saddle_given *given, saddle_preparation *p);

/* The scaling, and the matching where one is made for it, of a symmetric A that keeps its order: row_scale
 * and matching of p alone. */
saddle_status sd_prepare_scaling(sd_context *c, const sd_csr *A, const saddle_options *options,
                                 saddle_preparation *p);

void sd_preparation_free(sd_context *c, saddle_preparation *p);

/* Measures of a prepared matrix in its blocks, as the fields of saddle_preparation of the same names say. It
 * takes scalings (NULL: ones), orders, blocks and block_start from p and fills in the measures; all are 0 for
 * n = 0. A is whole. O(nnz + the blocks' inverses). */
saddle_status sd_measure_blocks(sd_context *c, const sd_csr *A, saddle_preparation *p);
