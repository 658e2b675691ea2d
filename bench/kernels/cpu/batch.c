/*
 * The kernels of kernels.h for one instruction set, made of the library's templates with other searches: see
 * backend/cpu/batch.c.
 */
#include "backend/cpu/batch_pieces.h"
#include "backend/cpu/isa.h"
#include "bench/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SEARCH_COLUMN(c, rows, s, V) ((void)(c), (s)) /* without interchanges */
#define SEARCH_NARROW NAME(search_both)
#define COLUMNS_MOVE 1
#define PUBLIC(x) SD_ISA(NAME(x))
#define TEMPLATE "bench/kernels/cpu/batch_kernels.inc"
#include "backend/both_precisions.inc"
