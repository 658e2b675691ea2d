/* The CPU backend: what it has for each instruction set, and the choice among them. */
#pragma once

#include "backend/cpu/abreast.h"
#include "backend/front.h"
#include "backend/host.h"
#include "backend/residual.h"
#include "backend/simplicial.h"

/* r = b - A x, accumulated in double-double and rounded once, and w = |A||x| + |b|, for a matrix with all its
 * entries and SD_COLUMNS columns side by side, b[i SD_COLUMNS + c], in host memory. */
enum { SD_COLUMNS = 8 };
typedef void sd_residual_columns(int32_t n, const int64_t *ptr, const int32_t *ind, const double *val,
                                 const double *b, const double *x, double *r, double *w);

/* The same for one column and a matrix of slices, whole or half, without w, and what errors are made of.
 * False where a number is so far from 1 that it has to be scaled first; then there is no r, which may be
 * NULL. room has sd_residual_room(A) numbers. */
typedef bool sd_residual_measured(const sd_sparse *A, int threads, const double *b, const double *x,
                                  double *room, double *r, sd_residual_norms *to);
static inline int64_t sd_residual_room(const sd_sparse *A)
{
    enum { NORMS = sizeof(sd_residual_norms) / sizeof(double), SUMS = 3 };
    return NORMS * (int64_t)A->slices + (A->half ? SUMS * A->window_total : 0);
}

/* A row for each instruction set. Tables in both precisions are by sd_precision. */
typedef struct sd_cpu_isa {
    const char *name;
    bool (*supported)(void); /* by this processor */
    const char *blas_core;   /* OpenBLAS' name for its kernels with these instructions; NULL: any will do */
    const sd_backend *backend;
    const sd_front_kernels *fronts;
    const sd_ldlt_kernels *ldlt;
    sd_residual_columns *columns;
    sd_residual_measured *residual;
    const sd_abreast_kernels *abreast;
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
    extern const sd_simplicial_kernels sd_##isa##_simplicial;                                                \
    extern const sd_ldlt_kernels sd_##isa##_ldlt[SD_PRECISIONS];                                             \
    sd_residual_columns sd_##isa##_columns;                                                                  \
    sd_residual_measured sd_##isa##_residual;                                                                \
    sd_abreast_measured sd_##isa##_abreast_residual;                                                         \
    sd_abreast_difference sd_##isa##_abreast_difference;                                                     \
    extern const sd_abreast_kernels sd_##isa##_abreast
