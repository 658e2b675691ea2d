/*
 * What the drivers of `saddle bench blocks` share: build/bin/peers/blocks-cpu (cpu.c) and blocks-cuda
 * (cuda.cu). Each is a program of its own,
 *
 *     blocks-cpu|blocks-cuda [--part kernels|mixed|apply|setup|all] [--quick] [--threads N] [--reference]
 *         [--kernel NAME] [--size ROWS] [--version default|registers|shared|all]
 *         [--instructions default|portable|avx2|avx512]
 *
 * (--kernel more than once, for more than one; --size is not for mixed batches; the default version is
 * measured whatever is chosen; instructions are the CPU's), which prints a line as soon as it has something
 * to tell:
 *
 *     machine TEXT            where it runs
 *     note TEXT               what is not as it should be
 *     step K OF               what comes next is case K of OF
 *     measured KEY=VALUE ...  one measurement
 *     failed TEXT             and nothing follows
 *     done                    all is measured
 *
 * The keys of a measurement, all of them in every line and in this order:
 *
 *     part       kernels, mixed, apply or setup
 *     work       factor, apply, copy (the blocks of a batch, once) or gemm (the peak of one core)
 *     who        saddle, lapack, cublas, cusolver, or machine for copy and gemm
 *     name       the kernel, or the peer's routine
 *     version    default, registers or shared
 *     precision  double or single
 *     size       rows of a block; 0: mixed, 1 to 32
 *     batch      blocks
 *     rows       of all of them
 *     seconds    the median for one batch
 *     bytes      that must move: what is read once and what is written once
 *     flops      of the elimination that the kernel is named after, whatever it does
 *     residual   the worst of a sample of blocks (below); nan: not looked at
 *     replaced   blocks of the batch that could not be factored
 *     two_by_two 2x2 pivots of LDL' in all blocks of the batch
 *
 * A time is the median of groups of calls. A call works on one slot of two pools, from which it reads and
 * into which it writes, and the next call on the next slot, so that no cache holds what comes: the pools have
 * 512 MB together, less where memory is short (a note tells).
 *
 * Residuals are formed in long double on the host, norms are Frobenius':
 *
 *     factors      |PAQ - LDU| / |A|, and what LL' and LDL' have in place of LDU
 *     inverses     |AX - I| / (|A| |X|)
 *     Gauss-Huard, sytrf, applications     |b - Ax| / (|A| |x| + |b|) of one right-hand side
 */
#pragma once

#include "backend/batch_memory.h"
#include "bench/kernels/kernels.h"

/* Blocks that a kernel is meant for. */
typedef enum blocks_kind {
    BLOCKS_GENERAL,   /* entries between -1 and 1 */
    BLOCKS_DOMINANT,  /* with n on the diagonal: for elimination without interchanges */
    BLOCKS_SYMMETRIC, /* indefinite */
    BLOCKS_MATCHED,   /* of every other block the neighbours are strong pairs, of the others the diagonal is
                         strong: what a matching leaves to LDL' without interchanges */
    BLOCKS_DEFINITE,
    BLOCKS_KINDS
} blocks_kind;

/* What a result is, for its residual. */
typedef enum blocks_form {
    BLOCKS_LDU,
    BLOCKS_LU, /* LAPACK's: U has the diagonal */
    BLOCKS_LLT,
    BLOCKS_LDLT,
    BLOCKS_INVERSE,
    BLOCKS_HUARD,
    BLOCKS_HUARD_TRANSPOSED,
    BLOCKS_SOLUTION /* of the right-hand side of the block */
} blocks_form;

enum { BLOCKS_PERIOD = 10000 }; /* block k is block k mod BLOCKS_PERIOD again */

/* Of the library's kernels and those of kernels/kernels.h. */
extern const char *const blocks_kernel_names[BENCH_KERNELS];
blocks_kind blocks_kind_of(sd_batch_kernel kernel);
blocks_form blocks_form_of(sd_batch_kernel kernel);
/* Multiplications and additions of its elimination, to leading order. */
double blocks_flops(sd_batch_kernel kernel, int32_t n);

/* Rows of a block in a batch of this size; where that is 0, mixed: 1 to 32, each as often. */
int32_t blocks_rows(int32_t size, int32_t block);
/* Its first row and its first entry. */
void blocks_place(int32_t size, int32_t block, int64_t *row, int64_t *entry);

/* Block number `block`, n x n by columns, rounded to the precision. */
void blocks_make(blocks_kind kind, sd_precision precision, int32_t block, int32_t n, double *a);
/* Its right-hand side. */
void blocks_make_rhs(sd_precision precision, int32_t block, int32_t n, double *b);

/* A result, widened to double. What a form does not use may be NULL. */
typedef struct blocks_result {
    blocks_form form;
    int32_t n;
    const double *f;             /* n x n by columns; of BLOCKS_SOLUTION n numbers */
    const uint8_t *row, *column; /* as in backend/batch.h; NULL: the identity */
    uint32_t pairs;
} blocks_result;

/* The residual of what was made of A, whose right-hand side is b; infinity where it is no number. */
double blocks_residual(const blocks_result *r, const double *a, const double *b);

/* ------------------------------------------------------------------------------------------------
 * Measuring (measure.c), with what a device brings.
 */
typedef struct blocks_bench blocks_bench;
typedef struct blocks_batch blocks_batch;

typedef void blocks_work(blocks_bench *b, const blocks_batch *x, void *what, int64_t slot);

/* Blocks of one kind that lie in the pools. */
struct blocks_batch {
    const char *part;
    sd_batch_plan plan;
    sd_precision precision;
    int32_t size;              /* 0: mixed */
    int64_t bytes;             /* of the blocks */
    int64_t from_slots, slots; /* of what is read, of what is written */
    sd_batch_factors factors;  /* data: of slot 0 */
};

/* Blocks of a slot, and the room for what becomes of them, in the backend's memory. */
void *blocks_from(const blocks_bench *b, const blocks_batch *x, int64_t slot);
void *blocks_to(const blocks_bench *b, const blocks_batch *x, int64_t slot);

/* A routine of another library, for batches of one size. */
typedef struct blocks_peer {
    const char *who, *name;
    blocks_kind kind;
    blocks_form form;
    sd_batch_kernel alike; /* of which it has the operations */
    bool in_place;         /* it works on blocks_to, where the blocks are put before the clock starts */
    bool (*begin)(blocks_bench *b, const blocks_batch *x); /* false: it does not do such a batch */
    blocks_work *run;
    /* The rows with which those of the block were exchanged, counted from 1, after slot 0; NULL: none */
    void (*pivots)(blocks_bench *b, const blocks_batch *x, int32_t block, int32_t *pivot);
    /* Solves with block `block` of slot 0; for BLOCKS_SOLUTION */
    void (*solve)(blocks_bench *b, const blocks_batch *x, int32_t block, double *x_and_b);
    void (*end)(blocks_bench *b);
} blocks_peer;

typedef struct blocks_device {
    int versions; /* 1: default; 3: default, registers, shared */
    /* Seconds that `count` calls take, on slots first, first + 1, ... */
    double (*time)(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, int64_t first,
                   int64_t count);
    void (*copy)(blocks_bench *b, const void *from, void *to, int64_t bytes);
    double (*gemm)(sd_precision precision, double *flops); /* seconds of one; NULL: there is none */
    int peer_count;
    const blocks_peer *peers;
} blocks_device;

struct blocks_bench {
    sd_context context;
    sd_engine engine;
    const blocks_device *device;
    const char *part; /* "all", or the only one */
    bool quick, reference;
    unsigned kernels; /* wanted, as bits */
    int32_t size;     /* the only one wanted, or 0 */
    int version;      /* the only one wanted beside the default; 0: none, -1: all */
    const char *instructions;
    int threads;
    int64_t memory;            /* bytes that may be taken */
    int64_t footprint;         /* bytes that go by before a slot comes again, at least */
    char *from, *to, *vectors; /* the pools */
    double *host;              /* BLOCKS_PERIOD blocks of 32 x 32 */
};

/* Fills in the options; false where they are wrong, and the usage is told. */
bool blocks_options(blocks_bench *b, int argc, char **argv, const char *name);

/* Measures everything. The engine is open. */
void blocks_run(blocks_bench *b);

/* Ends the program with a line where the engine, or something else (text not NULL), failed. */
void blocks_check(blocks_bench *b, const char *text);
