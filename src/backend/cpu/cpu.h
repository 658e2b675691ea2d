/* The CPU backend: what it has for each instruction set, and the choice among them. */
#pragma once

#include "backend/front.h"
#include "backend/host.h"

/* r = b - A x, accumulated in double-double and rounded once, and w = |A||x| + |b|, for a matrix with all its
 * entries and SD_COLUMNS columns side by side, b[i SD_COLUMNS + c], in host memory. */
enum { SD_COLUMNS = 8 };
typedef void sd_residual_columns(int32_t n, const int64_t *ptr, const int32_t *ind, const double *val,
                                 const double *b, const double *x, double *r, double *w);

/* A row for each instruction set. Tables in both precisions are by sd_precision. */
typedef struct sd_cpu_isa {
    const char *name;
    bool (*supported)(void); /* by this processor */
    const char *blas_core;   /* OpenBLAS' name for its kernels with these instructions; NULL: any will do */
    const sd_backend *backend;
    const sd_front_kernels *fronts;
    const sd_ldlt_kernels *ldlt;
    sd_residual_columns *columns;
} sd_cpu_isa;

/* From `portable`, which every processor runs, to the best. */
extern const sd_cpu_isa sd_cpu_isas[];
extern const int sd_cpu_isa_count;

/* The best that this processor runs. */
const sd_cpu_isa *sd_cpu(void);

/* What the sources that are compiled once for each instruction set (CMakeLists.txt) make. */
#define SD_CPU_DECLARE(isa)                                                                                  \
    extern const sd_backend sd_##isa##_backend;                                                              \
    extern const sd_front_kernels sd_##isa##_fronts[SD_PRECISIONS];                                          \
    extern const sd_ldlt_kernels sd_##isa##_ldlt[SD_PRECISIONS];                                             \
    sd_residual_columns sd_##isa##_columns
