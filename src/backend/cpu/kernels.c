/*
 * The CPU kernels on vectors and sparse matrices for one instruction set, and the backend's table for it. No
 * sum is reassociated and fma is only used where it is written, so all give the same bits. The kernels on
 * blocks are those of batch.c and ldlt.c.
 */
#include "backend/cpu/isa.h"
#include "core/chain.h"
#include "core/dd.h"
#include "core/pace.h"

#include <math.h>
#include <omp.h>

enum {
    LANES = 8,              /* interleaved sums of a reduction: two AVX2 registers of doubles */
    GATHER = 256,           /* rows whose windows are summed at a time */
    PARALLEL_FROM = 131072, /* entries below which a team of threads costs more than it saves */
    SD_SWEEP_PIECE = 1024   /* rows of a sweep that a thread takes at a time */
};

typedef enum product_mode { PLAIN, ABSOLUTE, EXTENDED } product_mode;

static int team(const sd_engine *e, int64_t entries)
{
    return entries < PARALLEL_FROM ? 1 : e->threads;
}

static double fold(const double sum[LANES])
{
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* The chunks' results, `count` each of the SD_PANEL places, added in order. */
static void add_chunks(const double *part, int64_t chunks, int count, double *result)
{
    for (int k = 0; k < count; ++k) {
        result[k] = 0;
        for (int64_t c = 0; c < chunks; ++c) result[k] += part[c * SD_PANEL + k];
    }
}

/* `mode` is a constant wherever this is called, so only one line of it is left. */
static inline void add_product(double *hi, double *lo, double a, double x, const product_mode mode)
{
    if (mode == EXTENDED)
        sd_dd_add_product(hi, lo, a, x);
    else if (mode == ABSOLUTE)
        *hi += fabs(a * x);
    else
        *hi += a * x;
}

#define TEMPLATE "backend/cpu/kernels.inc"
#include "backend/both_precisions.inc"

#define BACKEND SD_ISA(backend)
#define BACKEND_NAME "cpu"
#define BACKEND_SUBSTITUTES true
#define BATCH(name) SD_ISA(name)
#include "backend/host_table.inc"
