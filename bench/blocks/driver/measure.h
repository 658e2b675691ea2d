/* Measuring one batch (measure.c), for the parts of the benchmark (parts.c). */
#pragma once

#include "bench/blocks/driver/driver.h"

typedef struct blocks_case {
    const char *part;
    sd_precision precision;
    int32_t size;  /* 0: mixed */
    int32_t batch; /* blocks */
} blocks_case;

/* A measurement, but for what the batch says. */
typedef struct blocks_line {
    const char *work, *who, *name, *version;
    double seconds, bytes, flops, residual;
    int32_t replaced;
    int64_t two_by_two;
} blocks_line;
void blocks_tell(const blocks_batch *x, const blocks_line *line);

/* Memory of the backend; the program ends where there is none. */
void *blocks_memory(blocks_bench *b, int64_t bytes, const char *what);

/* The batch of a case; `pool` bytes go by before a slot comes again. */
blocks_batch blocks_begin(blocks_bench *b, const blocks_case *c, int64_t pool);
void blocks_end(blocks_bench *b, blocks_batch *x);

/* Puts blocks of a kind into every slot that is read; copies them into all that are written. */
void blocks_fill(blocks_bench *b, const blocks_batch *x, blocks_kind kind);
void blocks_restore(blocks_bench *b, const blocks_batch *x);

/* Copies what stands in `done` bytes of a pool on and on, until there are `bytes`. */
void blocks_spread(blocks_bench *b, char *pool, int64_t done, int64_t bytes);

/* Seconds of so many calls; of one call, the median over groups of calls. Slot 0 is among them, and the
 * blocks of all slots are the same: what is looked at afterwards is what it left there. */
double blocks_time_calls(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, int64_t first,
                         int64_t count);
double blocks_time_work(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, bool in_place);

/* What is looked at: a kernel's result, a peer's, or that of an application. */
typedef struct blocks_sample {
    blocks_kind kind;
    blocks_form form;
    const blocks_peer *peer;
    const void *solution; /* in the backend's memory */
} blocks_sample;
/* The worst residual over the first and the last blocks, of slot 0. */
double blocks_worst(blocks_bench *b, const blocks_batch *x, const blocks_sample *s);
/* Blocks that could not be factored, and the 2x2 pivots of LDL' in all of them. */
void blocks_count(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel, blocks_line *line);

/* Factors a slot by the blocks_rule `what`. */
typedef struct blocks_rule {
    sd_batch_rule rule;
    bench_version version;
} blocks_rule;
blocks_work blocks_factor_slot;

/* Whole measurements, which are told. */
void blocks_measure_kernel(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel, int version);
void blocks_measure_peer(blocks_bench *b, const blocks_batch *x, const blocks_peer *peer);
void blocks_measure_copy(blocks_bench *b, const blocks_batch *x);
void blocks_measure_gemm(blocks_bench *b, const blocks_batch *x); /* the peak of a core */
