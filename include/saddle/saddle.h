/*
 * Saddle: sparse linear systems Ax = b, above all the symmetric indefinite ones (saddle-point and
 * KKT systems) of optimisation, mixed finite elements and control.
 *
 * This header is the whole public interface. It can be read from top to bottom:
 *
 *     1  the simplest use            6  the four verbs
 *     2  status and messages         7  preparation: scaling, matching, ordering, blocking
 *     3  matrices                    8  work on matrices and vectors
 *     4  options and hooks           9  files
 *     5  what happened: info
 *
 * 1. THE SIMPLEST USE
 *
 *     // A is symmetric, n x n: its lower triangle by columns, counted from 0, the caller's arrays.
 *     saddle_matrix A = saddle_symmetric(n, colptr, rowind, values);
 *     saddle_info info = saddle_info_default();
 *     if (saddle_solve_once(&A, b, x, NULL, &info) != SADDLE_OK)
 *         fprintf(stderr, "%s\n", info.message);
 *     printf("backward error %.1e\n", info.backward_error);
 *
 * Whoever solves more than once keeps a solver: analyse the pattern, factor the values (again and
 * again as they change), solve (for many right-hand sides, from many threads).
 *
 *     saddle_solver *solver;
 *     saddle_create(&solver, &options, NULL, NULL);
 *     saddle_analyse(solver, &A);
 *     for (...) {
 *         saddle_factor(solver, &A);                  // new values, same pattern
 *         saddle_solve(solver, 1, b, n, x, n, &info);
 *     }
 *     saddle_destroy(&solver);
 *
 * What holds everywhere. The library never prints, never exits and leaks nothing on any path. Every
 * error it reports is measured on the caller's own A and b. Results have the same bits from run to
 * run and at any number of threads, on the same machine and device. Counts are 64 bits wide.
 *
 * Structs that begin with their size may grow at their end. A library that is newer than its caller takes
 * what the caller does not know as 0 (options: as their defaults); one that is older says SADDLE_BAD_ARGUMENT
 * where a matrix or hooks have a member that it does not know and that is not 0.
 */
#ifndef SADDLE_H
#define SADDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SADDLE_API __attribute__((visibility("default")))
#else
#define SADDLE_API
#endif

#define SADDLE_VERSION_MAJOR 0
#define SADDLE_VERSION_MINOR 1
#define SADDLE_VERSION_PATCH 0

/* "0.1.0", and the commit it was built from ("unknown" outside a repository). */
SADDLE_API const char *saddle_version(void);
SADDLE_API const char *saddle_commit(void);

/* ------------------------------------------------------------------------------------------------
 * 2. STATUS AND MESSAGES
 *
 * 0 is success, negative is failure. The text of a code says what it means; the message that comes
 * with it (of the solver, in info, or in the caller's buffer of SADDLE_MESSAGE_SIZE characters, or
 * NULL) names the file, line, row, column, value or option at fault and what to do about it.
 */
#define SADDLE_STATUS_TABLE(ROW)                                                                             \
    ROW(SADDLE_OK, 0, "success")                                                                             \
    ROW(SADDLE_NOT_CONVERGED, -1, "the accuracy asked for was not reached")                                  \
    ROW(SADDLE_CANCELLED, -2, "cancelled by the caller")                                                     \
    ROW(SADDLE_OUT_OF_MEMORY, -3, "out of memory")                                                           \
    ROW(SADDLE_MEMORY_LIMIT, -4, "the memory limit is too small")                                            \
    ROW(SADDLE_BAD_ARGUMENT, -5, "an argument is missing or out of its range")                               \
    ROW(SADDLE_BAD_OPTION, -6, "an option is unknown or out of its range")                                   \
    ROW(SADDLE_BAD_MATRIX, -7, "the matrix is malformed")                                                    \
    ROW(SADDLE_BAD_VALUE, -8, "a value is NaN or infinite")                                                  \
    ROW(SADDLE_NOT_SUPPORTED, -9, "this kind of matrix is not supported")                                    \
    ROW(SADDLE_SINGULAR, -10, "the matrix is singular and the system inconsistent")                          \
    ROW(SADDLE_WRONG_ORDER, -11, "a call came before the one that it needs")                                 \
    ROW(SADDLE_PATTERN_CHANGED, -12, "the pattern is not the one that was analysed")                         \
    ROW(SADDLE_FILE_OPEN, -13, "a file cannot be opened")                                                    \
    ROW(SADDLE_FILE_FORMAT, -14, "a file is malformed")                                                      \
    ROW(SADDLE_FILE_WRITE, -15, "a file cannot be written")                                                  \
    ROW(SADDLE_NO_DEVICE, -16, "there is no such device")                                                    \
    ROW(SADDLE_DEVICE_FAILED, -17, "the device failed")                                                      \
    ROW(SADDLE_NOT_DEFINITE, -18, "the matrix is not positive definite")

#define SADDLE_ENUM_ROW(name, code, text) name = (code),
typedef enum saddle_status { SADDLE_STATUS_TABLE(SADDLE_ENUM_ROW) } saddle_status;
#undef SADDLE_ENUM_ROW

SADDLE_API const char *saddle_status_text(saddle_status status);

#define SADDLE_MESSAGE_SIZE 512

/* ------------------------------------------------------------------------------------------------
 * 3. MATRICES
 *
 * A saddle_matrix is a view: the arrays stay the caller's. A symmetric matrix is given by one
 * triangle or by both; a general one by all its entries. Indices are 32 bits wide, pointers 32 or
 * 64, both counted from `base` 0 or 1. Rows need not be sorted. Entries that stand twice are added
 * up. Explicit zeros stay in the pattern. A matrix without rows is one like any other: it is solved, its
 * arrays and vectors may be NULL.
 *
 *     saddle_matrix A = {.size = sizeof A, .rows = n, .columns = n, ...};     // or saddle_symmetric, below
 */
typedef enum saddle_layout {
    SADDLE_COLUMNS,    /* compressed columns: column j is indices[pointers[j] .. pointers[j+1]) */
    SADDLE_ROWS,       /* compressed rows, the same with rows */
    SADDLE_COORDINATES /* entry k stands in row indices[k], column col_indices[k]; no pointers */
} saddle_layout;

typedef enum saddle_shape {
    SADDLE_GENERAL, /* nothing is assumed (but symmetry is noticed) */
    SADDLE_LOWER,   /* symmetric, only i >= j is stored */
    SADDLE_UPPER,   /* symmetric, only i <= j is stored */
    SADDLE_FULL     /* symmetric, both triangles are stored (and must agree) */
} saddle_shape;

typedef enum saddle_type { SADDLE_DOUBLE, SADDLE_FLOAT } saddle_type;

typedef struct saddle_matrix {
    size_t size;           /* sizeof(saddle_matrix), so that it can grow; members without a value are 0 */
    int64_t rows, columns; /* the solver wants them equal */
    int64_t entries;       /* stored entries; for compressed layouts pointers[n] - base */
    saddle_layout layout;
    saddle_shape shape;
    saddle_type type;           /* of the values */
    int base;                   /* 0 or 1 */
    int pointer_bits;           /* 32 or 64 */
    const void *pointers;       /* n + 1 of them; NULL for coordinates, and allowed where n = 0 */
    const int32_t *indices;     /* row indices (columns for SADDLE_ROWS) */
    const int32_t *col_indices; /* column indices, for coordinates only */
    const void *values;         /* NULL: a pattern without values, good for analysis only */
} saddle_matrix;

/* The commonest view: symmetric, its lower triangle by columns (which is the upper one by rows), in
 * double, from 0, with 32-bit pointers. */
static inline saddle_matrix saddle_symmetric(int64_t n, const int32_t *colptr, const int32_t *rowind,
                                             const double *values)
{
    saddle_matrix A;
    A.size = sizeof A;
    A.rows = A.columns = n;
    A.entries = n > 0 && colptr ? colptr[n] : 0;
    A.layout = SADDLE_COLUMNS;
    A.shape = SADDLE_LOWER;
    A.type = SADDLE_DOUBLE;
    A.base = 0;
    A.pointer_bits = 32;
    A.pointers = colptr;
    A.indices = rowind;
    A.col_indices = NULL;
    A.values = values;
    return A;
}

/* The same for a general square matrix by rows. */
static inline saddle_matrix saddle_general(int64_t n, const int32_t *rowptr, const int32_t *colind,
                                           const double *values)
{
    saddle_matrix A = saddle_symmetric(n, rowptr, colind, values);
    A.layout = SADDLE_ROWS;
    A.shape = SADDLE_GENERAL;
    return A;
}

typedef enum saddle_kind { SADDLE_KIND_UNKNOWN, SADDLE_KIND_SPD, SADDLE_KIND_INDEFINITE } saddle_kind;

/* ------------------------------------------------------------------------------------------------
 * 4. OPTIONS AND HOOKS
 *
 * What can be chosen has a number here and a word below; off and on are the same numbers everywhere. An
 * enum is as wide as an int.
 */
typedef enum saddle_switch { SADDLE_OFF = 0, SADDLE_ON = 1, SADDLE_AUTO = 2 } saddle_switch;
typedef enum saddle_method {
    SADDLE_METHOD_AUTO,
    SADDLE_METHOD_DIAGONAL,
    SADDLE_METHOD_NONE,
    SADDLE_METHOD_DIRECT,
    SADDLE_METHOD_BJACOBI,
    SADDLE_METHOD_LDLT,
    SADDLE_METHOD_JACOBI
} saddle_method;
typedef enum saddle_krylov {
    SADDLE_KRYLOV_AUTO,
    SADDLE_KRYLOV_CG,
    SADDLE_KRYLOV_MINRES,
    SADDLE_KRYLOV_SQMR,
    SADDLE_KRYLOV_GMRES,
    SADDLE_KRYLOV_FGMRES,
    SADDLE_KRYLOV_BICGSTAB,
    SADDLE_KRYLOV_REFINE,
    SADDLE_KRYLOV_NONE
} saddle_krylov;
typedef enum saddle_stop {
    SADDLE_STOP_ANY,
    SADDLE_STOP_RESIDUAL,
    SADDLE_STOP_NORMWISE,
    SADDLE_STOP_COMPONENTWISE
} saddle_stop;
typedef enum saddle_device {
    SADDLE_DEVICE_AUTO,
    SADDLE_DEVICE_CPU,
    SADDLE_DEVICE_CUDA,
    SADDLE_DEVICE_REFERENCE
} saddle_device;
typedef enum saddle_precision {
    SADDLE_PRECISION_DOUBLE,
    SADDLE_PRECISION_SINGLE,
    SADDLE_PRECISION_MIXED
} saddle_precision;
typedef enum saddle_scaling {
    SADDLE_SCALING_AUTO,
    SADDLE_SCALING_MC64,
    SADDLE_SCALING_RUIZ,
    SADDLE_SCALING_AUCTION,
    SADDLE_SCALING_COL2,
    SADDLE_SCALING_NONE,
    SADDLE_SCALING_USER
} saddle_scaling;
typedef enum saddle_order {
    SADDLE_ORDER_AUTO,
    SADDLE_ORDER_METIS,
    SADDLE_ORDER_AMD,
    SADDLE_ORDER_RCM,
    SADDLE_ORDER_NATURAL,
    SADDLE_ORDER_USER
} saddle_order;
typedef enum saddle_blocking {
    SADDLE_BLOCKING_AUTO,
    SADDLE_BLOCKING_NONE,
    SADDLE_BLOCKING_GRID,
    SADDLE_BLOCKING_PAIRS,
    SADDLE_BLOCKING_CLUSTERS,
    SADDLE_BLOCKING_SUPERVARIABLES,
    SADDLE_BLOCKING_COSINE,
    SADDLE_BLOCKING_PRIORITY,
    SADDLE_BLOCKING_PRIORITY_DYNAMIC,
    SADDLE_BLOCKING_METIS,
    SADDLE_BLOCKING_PABLO
} saddle_blocking;
typedef enum saddle_factorization {
    SADDLE_FACTORIZATION_AUTO,
    SADDLE_FACTORIZATION_LDLT,
    SADDLE_FACTORIZATION_CHOLESKY,
    SADDLE_FACTORIZATION_STATIC
} saddle_factorization;
typedef enum saddle_block_kernel {
    SADDLE_BLOCK_KERNEL_AUTO,
    SADDLE_BLOCK_KERNEL_HUARD,
    SADDLE_BLOCK_KERNEL_HUARD_T,
    SADDLE_BLOCK_KERNEL_JORDAN,
    SADDLE_BLOCK_KERNEL_LU,
    SADDLE_BLOCK_KERNEL_LDLT,
    SADDLE_BLOCK_KERNEL_LLT
} saddle_block_kernel;
typedef enum saddle_block_precision {
    SADDLE_BLOCK_PRECISION_DOUBLE,
    SADDLE_BLOCK_PRECISION_SINGLE,
    SADDLE_BLOCK_PRECISION_ADAPTIVE
} saddle_block_precision;
typedef enum saddle_fill {
    SADDLE_FILL_AUTO,
    SADDLE_FILL_NONE,
    SADDLE_FILL_LEVEL,
    SADDLE_FILL_TAU
} saddle_fill;
typedef enum saddle_pivot {
    SADDLE_PIVOT_BUNCH_KAUFMAN,
    SADDLE_PIVOT_STATIC,
    SADDLE_PIVOT_COMPLETE
} saddle_pivot;
typedef enum saddle_sweep_order { SADDLE_SWEEP_ORDER_ROW, SADDLE_SWEEP_ORDER_BLOCK } saddle_sweep_order;
typedef enum saddle_fallback { SADDLE_FALLBACK_EXACT, SADDLE_FALLBACK_NONE } saddle_fallback;
typedef enum saddle_trisolve {
    SADDLE_TRISOLVE_AUTO,
    SADDLE_TRISOLVE_EXACT,
    SADDLE_TRISOLVE_BLOCK_JACOBI,
    SADDLE_TRISOLVE_JACOBI
} saddle_trisolve;
typedef enum saddle_factor_precision {
    SADDLE_FACTOR_PRECISION_AUTO,
    SADDLE_FACTOR_PRECISION_DOUBLE,
    SADDLE_FACTOR_PRECISION_SINGLE
} saddle_factor_precision;

/*
 * One table makes the struct, saddle_options_set, the program's command line, its help, the manual
 * page and the shell completion. The words of a choice stand in the order of their numbers. New rows,
 * and new words of a choice, are added at the end: programs that were compiled before go on as they are.
 *
 *     CHOICE(name, type, default, words, help)   COUNT, REAL, BYTES(name, default, least, most, help)
 */
#define SADDLE_OPTION_TABLE(CHOICE, COUNT, REAL, BYTES)                                                      \
    CHOICE(method, saddle_method, SADDLE_METHOD_AUTO, "auto|diagonal|none|direct|bjacobi|ldlt|jacobi",       \
           "solver or preconditioner; auto tries and checks, a named one stays")                             \
    CHOICE(krylov, saddle_krylov, SADDLE_KRYLOV_AUTO,                                                        \
           "auto|cg|minres|sqmr|gmres|fgmres|bicgstab|refine|none",                                          \
           "iteration; auto goes by symmetry and definiteness")                                              \
    COUNT(restart, 100, 1, 10000, "vectors kept by GMRES and FGMRES before a restart")                       \
    COUNT(maxiter, 1000, 0, INT64_MAX, "most iterations, counted over restarts")                             \
    REAL(tol, 1e-10, 0.0, 1.0, "accuracy asked for")                                                         \
    CHOICE(stop, saddle_stop, SADDLE_STOP_ANY, "any|residual|normwise|componentwise",                        \
           "what tol bounds: any is the relative residual or the componentwise error")                       \
    CHOICE(device, saddle_device, SADDLE_DEVICE_AUTO, "auto|cpu|cuda|reference",                             \
           "where to run; reference is the plain test oracle")                                               \
    CHOICE(precision, saddle_precision, SADDLE_PRECISION_DOUBLE, "double|single|mixed",                      \
           "of the iteration; mixed refines single in double")                                               \
    COUNT(threads, 0, 0, 4096, "0 takes OMP_NUM_THREADS, else the cores this process may use")               \
    BYTES(max_memory, 0, 0, INT64_MAX, "most bytes to allocate (K, M, G); 0 sets no limit")                  \
    CHOICE(scaling, saddle_scaling, SADDLE_SCALING_AUTO, "auto|mc64|ruiz|auction|col2|none|user",            \
           "of the matrix before all else; auto is mc64")                                                    \
    CHOICE(order, saddle_order, SADDLE_ORDER_AUTO, "auto|metis|amd|rcm|natural|user",                        \
           "of elimination; auto predicts the work and chooses")                                             \
    CHOICE(pairs, saddle_switch, SADDLE_AUTO, "off|on|auto",                                                 \
           "keep matched pairs together (general matrices: matched entries on the diagonal)")                \
    CHOICE(blocking, saddle_blocking, SADDLE_BLOCKING_AUTO,                                                  \
           "auto|none|grid|pairs|clusters|supervariables|cosine|priority|priority-dynamic|metis|pablo",      \
           "blocks of rows; auto is clusters for bjacobi and where a block size is given, otherwise none")   \
    COUNT(block_size, 0, 0, 32, "most rows of a block; 0 is 8")                                              \
    CHOICE(factorization, saddle_factorization, SADDLE_FACTORIZATION_AUTO, "auto|ldlt|cholesky|static",      \
           "of the direct solver; auto is cholesky where the matrix is known to be positive definite")       \
    REAL(threshold, 0.01, 1e-10, 0.5, "pivots of the direct solver keep every |l| below its inverse")        \
    REAL(regularise, 1e-8, 0.0, 1.0, "least pivot of the static factorization, beside a largest entry of 1") \
    CHOICE(check, saddle_switch, SADDLE_OFF, "off|on", "verify |l| <= 1/threshold over the whole factor")    \
    CHOICE(block_kernel, saddle_block_kernel, SADDLE_BLOCK_KERNEL_AUTO,                                      \
           "auto|huard|huard-t|jordan|lu|ldlt|llt",                                                          \
           "of bjacobi; auto is llt where A is known to be positive definite, ldlt where symmetric, huard")  \
    CHOICE(block_precision, saddle_block_precision, SADDLE_BLOCK_PRECISION_DOUBLE, "double|single|adaptive", \
           "in which bjacobi keeps its blocks; adaptive is single where a block's condition allows it")      \
    CHOICE(fill, saddle_fill, SADDLE_FILL_AUTO, "auto|none|level|tau",                                       \
           "blocks that ldlt keeps beyond A's: none, level:K, tau:T; auto is tau, by what all of it would "  \
           "take")                                                                                           \
    REAL(fill_tau, 0.01, 0.0, 1.0, "a block of fill is kept where its part of L is at least this large")     \
    COUNT(fill_level, 1, 0, 255, "a block of fill is kept up to this level")                                 \
    CHOICE(pivot, saddle_pivot, SADDLE_PIVOT_BUNCH_KAUFMAN, "bunch-kaufman|static|complete",                 \
           "search for pivots inside the blocks of ldlt and jacobi")                                         \
    CHOICE(push_back, saddle_switch, SADDLE_ON, "off|on",                                                    \
           "move blocks with small pivots to the end of the elimination")                                    \
    REAL(small_pivot, 0.0, 0.0, 1.0,                                                                         \
         "pivots below it are moved away from 0, beside a largest entry of 1; 0 is 1e-8 or 1e-4")            \
    COUNT(sweeps, 8, 1, 10000, "of jacobi")                                                                  \
    CHOICE(sweep_order, saddle_sweep_order, SADDLE_SWEEP_ORDER_ROW, "row|block",                             \
           "sweeps go row by row in chunks, or replace all blocks at once")                                  \
    REAL(relax, 1.0, 0.01, 1.0, "small_pivot is multiplied by it after each sweep")                          \
    CHOICE(fallback, saddle_fallback, SADDLE_FALLBACK_EXACT, "exact|none",                                   \
           "what jacobi does where its sweeps diverge")                                                      \
    CHOICE(trisolve, saddle_trisolve, SADDLE_TRISOLVE_AUTO, "auto|exact|block-jacobi|jacobi",                \
           "triangular solves of ldlt and jacobi: by levels, or by sweeps over blocks or entries")           \
    COUNT(trisolve_sweeps, 0, 0, 10000, "of swept triangular solves; 0 is as many as they need")             \
    CHOICE(factor_precision, saddle_factor_precision, SADDLE_FACTOR_PRECISION_AUTO, "auto|double|single",    \
           "in which ldlt and jacobi keep their factors; auto is single where a complete factorization "     \
           "would be dear and no inverse of a block is large")                                               \
    COUNT(device_index, 0, 0, 4096, "which of several GPUs, counted from 0; there is one cpu, number 0")

typedef struct saddle_options {
    size_t size; /* sizeof(saddle_options), so that it can grow */
#define SADDLE_FIELD_CHOICE(name, type, value, words, help) type name;
#define SADDLE_FIELD_COUNT(name, value, least, most, help) int64_t name;
#define SADDLE_FIELD_REAL(name, value, least, most, help) double name;
    SADDLE_OPTION_TABLE(SADDLE_FIELD_CHOICE, SADDLE_FIELD_COUNT, SADDLE_FIELD_REAL, SADDLE_FIELD_COUNT)
#undef SADDLE_FIELD_CHOICE
#undef SADDLE_FIELD_COUNT
#undef SADDLE_FIELD_REAL
} saddle_options;

/* The defaults. Compiled into the caller, so that the library is told how long its struct is. */
SADDLE_API void saddle_options_init(saddle_options *options, size_t size);
static inline saddle_options saddle_options_default(void)
{
    saddle_options options;
    saddle_options_init(&options, sizeof options);
    return options;
}

/* Sets one option by its name and text ("tol", "1e-8"); message may be NULL. */
SADDLE_API saddle_status saddle_options_set(saddle_options *options, const char *name, const char *text,
                                            char *message);

/* Writes the value of an option as text that saddle_options_set would take. */
SADDLE_API saddle_status saddle_options_get(const saddle_options *options, const char *name, char *text,
                                            size_t text_size);

/* The table itself, for programs that want to offer the options: row k, or NULL beyond the last. */
typedef struct saddle_option {
    const char *name, *words, *help; /* words is NULL but for a choice */
    char type;                       /* 'c' choice, 'n' count, 'r' real, 'b' bytes */
    double value, least, most;       /* default and range; of a choice the number of its word */
} saddle_option;
SADDLE_API const saddle_option *saddle_option_at(int k);

/* Word number k of a choice, copied into text; "" beyond the last. */
SADDLE_API const char *saddle_option_word(const char *name, int k, char *text, size_t text_size);

/* Where a long piece of work has got to. */
typedef struct saddle_progress {
    const char *stage;   /* "read", "prepare", "analyse", "factor", "solve" */
    int64_t done, total; /* bytes read, iterations, ...; total 0 where it is not known */
    double residual;     /* relative residual in "solve", as the iteration sees it; otherwise NaN */
} saddle_progress;

typedef enum saddle_log_level {
    SADDLE_LOG_WARNING = 1,
    SADDLE_LOG_INFO = 2,
    SADDLE_LOG_DEBUG = 3
} saddle_log_level;

/* The caller's own functions, each of which may be NULL. They must outlive what they are given to;
 * where several threads solve at once they are called from all of them. Progress and log are also called from
 * threads of the library's own, one at a time. */
typedef struct saddle_hooks {
    size_t size;                                          /* sizeof(saddle_hooks), so that it can grow */
    void *(*allocate)(size_t bytes, void *user);          /* NULL on failure; needs malloc's alignment */
    void (*release)(void *block, void *user);             /* both hooks or neither */
    void (*log)(int level, const char *line, void *user); /* a saddle_log_level */
    int (*progress)(const saddle_progress *progress, void *user); /* other than 0 cancels */
    void *user;
} saddle_hooks;

/* Hooks that do nothing of their own; {.size = sizeof(saddle_hooks), .log = ...} is the same in one line. */
static inline saddle_hooks saddle_hooks_default(void)
{
    saddle_hooks hooks;
    hooks.size = sizeof hooks;
    hooks.allocate = NULL;
    hooks.release = NULL;
    hooks.log = NULL;
    hooks.progress = NULL;
    hooks.user = NULL;
    return hooks;
}

/* Options on the heap, for languages that do not know the struct: the defaults, or NULL without memory. hooks
 * may be NULL, and are the same for both. */
SADDLE_API saddle_options *saddle_options_new(const saddle_hooks *hooks);
SADDLE_API void saddle_options_free(saddle_options *options, const saddle_hooks *hooks);

/* ------------------------------------------------------------------------------------------------
 * 5. WHAT HAPPENED
 *
 * Counts that are not known are -1, numbers that are not known NaN, choices that were not made AUTO or 0.
 */
#define SADDLE_REASON_TABLE(ROW)                                                                             \
    ROW(SADDLE_REASON_NONE, "not run")                                                                       \
    ROW(SADDLE_REASON_RESIDUAL, "relative residual")                                                         \
    ROW(SADDLE_REASON_COMPONENTWISE, "componentwise error")                                                  \
    ROW(SADDLE_REASON_NORMWISE, "normwise error")                                                            \
    ROW(SADDLE_REASON_ZERO_RHS, "zero right-hand side")                                                      \
    ROW(SADDLE_REASON_MAXITER, "iteration limit")                                                            \
    ROW(SADDLE_REASON_STAGNATION, "stagnation")                                                              \
    ROW(SADDLE_REASON_DIVERGENCE, "divergence")                                                              \
    ROW(SADDLE_REASON_OVERFLOW, "overflow")                                                                  \
    ROW(SADDLE_REASON_PRECISION, "limit of the precision")                                                   \
    ROW(SADDLE_REASON_BREAKDOWN_RHO, "breakdown: rho near zero")                                             \
    ROW(SADDLE_REASON_BREAKDOWN_SIGMA, "breakdown: sigma near zero")                                         \
    ROW(SADDLE_REASON_BREAKDOWN_OMEGA, "breakdown: omega near zero")                                         \
    ROW(SADDLE_REASON_NOT_POSITIVE, "matrix not positive definite")                                          \
    ROW(SADDLE_REASON_PRECONDITIONER, "preconditioner not positive definite")                                \
    ROW(SADDLE_REASON_NOT_SYMMETRIC, "matrix not symmetric")                                                 \
    ROW(SADDLE_REASON_INCONSISTENT, "singular and inconsistent")                                             \
    ROW(SADDLE_REASON_CANCELLED, "cancelled")                                                                \
    ROW(SADDLE_REASON_MEMORY, "out of memory")                                                               \
    ROW(SADDLE_REASON_DEVICE, "device failure")                                                              \
    ROW(SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER, "preconditioner not symmetric")

#define SADDLE_ENUM_ROW(name, text) name,
typedef enum saddle_reason { SADDLE_REASON_TABLE(SADDLE_ENUM_ROW) } saddle_reason;
#undef SADDLE_ENUM_ROW

SADDLE_API const char *saddle_reason_text(saddle_reason reason);

#define SADDLE_REASON_WORD(name, text) text "|"
#define SADDLE_REASON_WORDS SADDLE_REASON_TABLE(SADDLE_REASON_WORD)

#define SADDLE_TRIED_MAX 8

/*
 * One table makes the struct, the values of what is not known, and the names by which everything can be asked
 * for. New rows are added at the end.
 *
 *     CHOICE(name, type, words, help)   words NULL: those of the option of this name
 *     TRUTH(name, help)                 0 or 1
 *     COUNT(name, value, help)          the value before anything is known: -1, or 0 of what is counted up
 *     REAL(name, help)                  NaN where it is not known
 *     SECONDS(name, help)
 */
#define SADDLE_INFO_TABLE(CHOICE, TRUTH, COUNT, REAL, SECONDS)                                               \
    /* the matrix */                                                                                         \
    COUNT(n, -1, "rows of the matrix")                                                                       \
    COUNT(nnz, -1, "entries of the whole matrix, both triangles")                                            \
    TRUTH(symmetric, "whether the matrix is symmetric")                                                      \
    CHOICE(kind, saddle_kind, "unknown|spd|indefinite", "what is known of its definiteness")                 \
    /* what was run, after every `auto` was decided */                                                       \
    CHOICE(method, saddle_method, NULL, "solver or preconditioner")                                          \
    CHOICE(krylov, saddle_krylov, NULL, "iteration")                                                         \
    CHOICE(device, saddle_device, NULL, "where it ran")                                                      \
    CHOICE(precision, saddle_precision, NULL, "of the iteration")                                            \
    COUNT(threads, 0, "threads it could use")                                                                \
    TRUTH(values_in_analysis, "whether the analysis depended on values")                                     \
    /* how it ended; with several right-hand sides the worst of them */                                      \
    TRUTH(converged, "whether the accuracy asked for was reached")                                           \
    CHOICE(reason, saddle_reason, SADDLE_REASON_WORDS, "which accuracy was reached, or why none was")        \
    COUNT(iterations, 0, "of the method that gave x, summed over right-hand sides")                          \
    REAL(backward_error, "|b - Ax| / (|A| |x| + |b|) in the infinity norm")                                  \
    REAL(componentwise_error, "largest |b - Ax|_i / (|A| |x| + |b|)_i")                                      \
    REAL(relative_residual, "|b - Ax| / |b| in the 2-norm")                                                  \
    COUNT(tried, 0, "attempts of `auto` before the last: see tried_list")                                    \
    COUNT(history_length, 0, "residuals of the first right-hand side, kept or not")                          \
    /* the factorization */                                                                                  \
    COUNT(inertia_positive, -1, "positive eigenvalues of A")                                                 \
    COUNT(inertia_negative, -1, "negative eigenvalues of A")                                                 \
    COUNT(inertia_zero, -1, "zero eigenvalues of A")                                                         \
    COUNT(rank, -1, "of A, where its inertia is known")                                                      \
    COUNT(factor_nnz, -1, "entries stored for L and D")                                                      \
    COUNT(factor_flops, -1, "operations of the factorization")                                               \
    COUNT(factor_bytes, -1, "bytes of the factors")                                                          \
    COUNT(blocks, -1, "blocks of rows")                                                                      \
    COUNT(block_size, -1, "rows of the largest block")                                                       \
    COUNT(levels, -1, "levels of blocks that depend on each other")                                          \
    COUNT(fronts, -1, "fronts of the direct solver")                                                         \
    COUNT(largest_front, -1, "rows of the largest front")                                                    \
    COUNT(two_by_two, -1, "pivots of two rows")                                                              \
    COUNT(perturbed, -1, "pivots moved away from 0")                                                         \
    COUNT(delayed, -1, "columns delayed to a parent front")                                                  \
    COUNT(pushed_back, -1, "blocks pushed back to the end of the elimination")                               \
    COUNT(sweeps, -1, "of jacobi")                                                                           \
    TRUTH(fallback, "whether a sweep method went over to the exact schedule")                                \
    /* the direct solver */                                                                                  \
    CHOICE(factorization, saddle_factorization, NULL, "as it was done; auto: none was")                      \
    COUNT(planned_nnz, -1, "entries of L, predicted before any number was computed, without delays")         \
    REAL(planned_flops, "operations, predicted likewise")                                                    \
    COUNT(planned_bytes, -1, "bytes, predicted likewise")                                                    \
    REAL(largest_l, "largest |l_ij|, where check is on")                                                     \
    COUNT(stale, -1, "matched entries that have become small, or very large: analyse again")                 \
    COUNT(regularised_positive, -1, "positive pivots of a static factorization: those of a matrix near A")   \
    COUNT(regularised_negative, -1, "negative pivots of a static factorization")                             \
    REAL(first_error, "backward error before refinement")                                                    \
    /* block-Jacobi */                                                                                       \
    CHOICE(block_kernel, saddle_block_kernel, NULL, "as it was done; auto: none was")                        \
    COUNT(replaced_blocks, -1, "blocks that could not be factored: a multiple of the identity is used")      \
    COUNT(single_blocks, -1, "blocks kept in single precision")                                              \
    /* block LDL': ldlt and jacobi */                                                                        \
    REAL(fill_tau, "threshold of the fill, as it was decided")                                               \
    COUNT(generations, -1, "of blocks pushed back")                                                          \
    REAL(pattern_residual, "max |A - L D L'| on the pattern, relative to a largest entry of 1: of sweeps, "  \
                           "or where check is on")                                                           \
    REAL(reconstruction_error, "|L D L' - A| / |A| in the infinity norm, where check is on")                 \
    CHOICE(trisolve, saddle_trisolve, NULL, "triangular solves, as they were done")                          \
    /* what it took */                                                                                       \
    COUNT(peak_bytes, 0, "most bytes allocated at once")                                                     \
    SECONDS(time_prepare, "seconds of scaling, matching, ordering and blocking")                             \
    SECONDS(time_plan, "seconds of symbolic work")                                                           \
    SECONDS(time_factor, "seconds of the numeric factorization")                                             \
    SECONDS(time_solve, "seconds of the solve")                                                              \
    COUNT(device_index, 0, "which of several GPUs it ran on")

typedef struct saddle_info {
    size_t size;          /* sizeof(saddle_info) */
    saddle_status status; /* the same as the call returned */
    char message[SADDLE_MESSAGE_SIZE];

    /* what `auto` tried before, and why it went on */
    struct {
        saddle_method method;
        saddle_krylov krylov;
        saddle_reason why_left;
    } tried_list[SADDLE_TRIED_MAX];

    /* Relative residuals, one an iteration, the last one true: set history to an array of
     * history_room before the call to get up to that many. */
    double *history;
    int64_t history_room;

#define SADDLE_FIELD_CHOICE(name, type, words, help) type name;
#define SADDLE_FIELD_TRUTH(name, help) int name;
#define SADDLE_FIELD_COUNT(name, value, help) int64_t name;
#define SADDLE_FIELD_REAL(name, help) double name;
    SADDLE_INFO_TABLE(SADDLE_FIELD_CHOICE, SADDLE_FIELD_TRUTH, SADDLE_FIELD_COUNT, SADDLE_FIELD_REAL,
                      SADDLE_FIELD_REAL)
#undef SADDLE_FIELD_CHOICE
#undef SADDLE_FIELD_TRUTH
#undef SADDLE_FIELD_COUNT
#undef SADDLE_FIELD_REAL
} saddle_info;

/* An info in which nothing is known yet; compiled into the caller, as the options are. */
SADDLE_API void saddle_info_init(saddle_info *info, size_t size);
static inline saddle_info saddle_info_default(void)
{
    saddle_info info;
    saddle_info_init(&info, sizeof info);
    return info;
}

/*
 * The same by name, for other languages: these need not know what the struct looks like, nor how long it is.
 * Beside the rows of the table there are the names status, message, and tried_list (as one text).
 *
 * The number of an item: of a choice that of its word, -1 or NaN where it is not known. SADDLE_BAD_ARGUMENT
 * where there is no such item, or it is a text.
 */
SADDLE_API saddle_status saddle_info_number(const saddle_info *info, const char *name, double *value);

/* The same as text: a word, "yes" or "no", a number with all its digits, "unknown". SADDLE_BAD_ARGUMENT where
 * there is no such item, or no room for all of it. */
SADDLE_API saddle_status saddle_info_get(const saddle_info *info, const char *name, char *text,
                                         size_t text_size);

/* What there is: item k, or NULL beyond the last. */
typedef struct saddle_info_item {
    const char *name, *words, *help; /* words of a choice; NULL: those of the option of this name */
    char type;                       /* 'c' choice, 'n' count, 'r' real, 'x' text */
} saddle_info_item;
SADDLE_API const saddle_info_item *saddle_info_at(int k);

/* An info on the heap, in which nothing is known yet; NULL without memory. hooks may be NULL, and are the
 * same for both. */
SADDLE_API saddle_info *saddle_info_new(const saddle_hooks *hooks);
SADDLE_API void saddle_info_free(saddle_info *info, const saddle_hooks *hooks);

/* Where the residuals go: sets history and history_room. */
SADDLE_API void saddle_info_set_history(saddle_info *info, double *history, int64_t room);

/* ------------------------------------------------------------------------------------------------
 * 6. THE FOUR VERBS: analyse, factor, solve, query
 *
 * A solver is used by one thread at a time for analyse and factor. Solves on a factored solver may
 * run at once: each has its own info and workspace and writes nothing into the solver.
 */
typedef struct saddle_solver saddle_solver;

/* options, hooks and message may be NULL; options and hooks are copied. *solver is NULL on failure. */
SADDLE_API saddle_status saddle_create(saddle_solver **solver, const saddle_options *options,
                                       const saddle_hooks *hooks, char *message);

/* Checks the pattern and decides all that depends on it. Where A has values and the direct solver will be
 * used, its scaling and order are made from them now; without values that is left to the first
 * saddle_factor (info.values_in_analysis says which). */
SADDLE_API saddle_status saddle_analyse(saddle_solver *solver, const saddle_matrix *A);

/* Takes the values of A, which has the pattern that was analysed (or is analysed now, where no
 * analysis was made). The arrays of A are copied and not needed afterwards. */
SADDLE_API saddle_status saddle_factor(saddle_solver *solver, const saddle_matrix *A);

/* What saddle_factor and saddle_analyse take beside the matrix, for all calls from now on; copied, and
 * given up with NULL. The options scaling and order say `user` for these to be used. */
struct saddle_given; /* section 7 */
SADDLE_API saddle_status saddle_set_given(saddle_solver *solver, int64_t n, const struct saddle_given *given);

/* The sign (1, -1; 0: not known) that the pivot of each row ought to have in a static factorization: those of
 * a quasidefinite matrix are known before. NULL gives them up. */
SADDLE_API saddle_status saddle_set_signs(saddle_solver *solver, int64_t n, const int8_t *signs);

/* Solves AX = B for nrhs columns with leading dimensions ldb, ldx >= n. x receives the best
 * solution found whatever the status, NaN never. b and x may be the same array, with ldb = ldx. info may
 * be NULL. */
SADDLE_API saddle_status saddle_solve(const saddle_solver *solver, int64_t nrhs, const double *b, int64_t ldb,
                                      double *x, int64_t ldx, saddle_info *info);

/* What is known after analyse or factor, and the message of the last of them. */
SADDLE_API saddle_status saddle_query(const saddle_solver *solver, saddle_info *info);
SADDLE_API const char *saddle_message(const saddle_solver *solver);

SADDLE_API void saddle_destroy(saddle_solver **solver);

/*
 * More of the direct solver: S A S = P' L D L' P with a diagonal S, a permutation P, L unit lower triangular
 * and D of 1x1 and 2x2 blocks. All of these say SADDLE_WRONG_ORDER where there are no such factors (a general
 * matrix is factored through a symmetric one of twice its size, and has none of its own: only its condition
 * can be asked for).
 *
 * Parts of a solve, in place, without refinement, for nrhs columns of n with leading dimension ldx:
 *     FORWARD  x = L^-1 P S x        DIAGONAL  x = D^-1 x        BACKWARD  x = S P' L'^-1 x
 * One after the other they are A^-1; a zero pivot's D^-1 is 0. Between them x is in the order of the pivots.
 */
typedef enum saddle_part { SADDLE_FORWARD, SADDLE_DIAGONAL, SADDLE_BACKWARD } saddle_part;
SADDLE_API saddle_status saddle_solve_part(const saddle_solver *solver, saddle_part part, int64_t nrhs,
                                           double *x, int64_t ldx, char *message);

/* The row of A in each place of the elimination order as it was planned. */
SADDLE_API saddle_status saddle_get_order(const saddle_solver *solver, int32_t *order);
/* The same as it came after pivoting, and D: d[2k] is its diagonal, d[2k+1] its entry (k+1, k), which is not
 * 0 at the first row of a 2x2 pivot only. Either may be NULL. */
SADDLE_API saddle_status saddle_get_pivots(const saddle_solver *solver, int32_t *order, double *d);
/* The diagonal of S. */
SADDLE_API saddle_status saddle_get_scaling(const saddle_solver *solver, double *scale);
/* Changes D, given as above with 2x2 pivots in the same places. What the solver solves from then on is not
 * A: solves are not refined and errors are still measured on A. Until the next saddle_factor. What is wrong
 * with a d is said by saddle_message. */
SADDLE_API saddle_status saddle_set_d(saddle_solver *solver, const double *d);

/* An estimate of the condition number |A| |A^-1| in the 1-norm, seldom more than three times too small
 * (Higham and Tisseur); a few solves. Infinite where A is singular. Not after saddle_set_d. */
SADDLE_API saddle_status saddle_condition(const saddle_solver *solver, double *condition, char *message);

/* All of it for one right-hand side. */
SADDLE_API saddle_status saddle_solve_once(const saddle_matrix *A, const double *b, double *x,
                                           const saddle_options *options, saddle_info *info);

/* Says what device number k of a kind is ("cuda", 0: name, memory), or why there is none. */
SADDLE_API saddle_status saddle_describe_device(const char *kind, int k, char *message);

/* ------------------------------------------------------------------------------------------------
 * 7. PREPARATION: scaling, matching, pairs, ordering, blocking
 *
 * What is done to a matrix before it is factored, for those who want it by itself. From A come
 * diagonal matrices R and C and orders p and q of rows and columns such that the prepared matrix
 *
 *     B(k, l) = (R(p_k) A(p_k, q_l)) C(q_l)
 *
 * has entries of at most about 1 in size, with its large entries on the diagonal or beside it, and
 * fills in little when it is factored. For symmetric A the two scalings are one, and so are the two
 * orders. Every index here is counted from 0.
 *
 * The options scaling, order, pairs, blocking and block_size say what is done. scaling "user" and
 * order "user" take what the caller gives; both are checked.
 */
typedef struct saddle_given {
    const double *row_scale, *col_scale; /* n positive numbers each; col_scale NULL: the same as the rows' */
    const int32_t *permutation;          /* the old index at each new position */
} saddle_given;                          /* closed: it will not grow */

/* Counts that are not known are -1, numbers that are not known NaN, choices that were not made AUTO, arrays
 * that do not exist NULL. The arrays are the library's: they are freed with saddle_preparation_free and the
 * same hooks. */
typedef struct saddle_preparation {
    size_t size;    /* sizeof(saddle_preparation) */
    int64_t n, nnz; /* nnz of the whole matrix */
    int symmetric;

    saddle_scaling scaling; /* this and the next three as they were decided */
    saddle_order order;
    saddle_switch pairs;
    saddle_blocking blocking;
    int block_size; /* most rows of a block; 1 without blocking */
    int orderings;  /* how many were made to decide: 1, or 2 */

    double *row_scale, *col_scale;          /* for symmetric A the same array */
    int32_t *permutation, *row_permutation; /* q and p; for symmetric A the same array */
    int32_t *matching;                      /* the row matched with each column, or -1; NULL: none was made */
    int32_t *partner;                       /* of each row in a 2x2 pair, or -1; NULL: no pairs are kept */
    int64_t blocks;
    int32_t *block_start; /* first row of each block in the new order, then n; blocks + 1 of them */

    /* the matching: how many entries it has (an auction may find fewer than there could be), and its
     * objective in natural logarithms */
    int64_t structural_rank;
    double log_product, log_scaled; /* sum of log |a_ij| and of log |r_i a_ij c_j| over the matching */
    int64_t two_by_two;             /* pairs kept */
    int64_t dense_rows;             /* rows of very high degree, ordered last */

    /* A complete factorization in this order without pivoting, of the pattern of B + B': entries of L
     * with its diagonal, the sum of the squares of their counts by column, the height of the elimination
     * tree. */
    int64_t factor_nnz;
    double factor_flops;
    int64_t tree_height;

    /* Measures of B in its blocks (of single rows where there is no blocking). */
    int64_t largest_block;
    int64_t levels;         /* level sets of the block lower triangle, without fill */
    int64_t stored_entries; /* of all dense blocks that hold an entry, both triangles */
    /* |B_ii| - sum_j!=i |B_ij| in the 1-norm, over block rows: Stretching Jacobi, section VII */
    double dominance_least, dominance_mean, dominance_largest;
    /* means over rows of sum_j!=i |b_ij| / |b_ii|, and over block rows of sum_j!=i |B_ij| |B_ii^-1| in
     * the Frobenius norm: Jacobi triangular solves, section 3.3. Infinite where a diagonal is singular. */
    double off_diagonal_dominance, block_off_diagonal_dominance;

    /* seconds */
    double time_matching, time_scaling, time_pairs, time_graph, time_order, time_counts, time_blocking,
        time_measures, time_total;
    int64_t peak_bytes; /* in use at once; what METIS allocates is not counted */
} saddle_preparation;

/* options, given and hooks may be NULL. On failure no array exists. */
SADDLE_API saddle_status saddle_prepare_sized(const saddle_matrix *A, const saddle_options *options,
                                              const saddle_given *given, const saddle_hooks *hooks,
                                              saddle_preparation *preparation, size_t size, char *message);
static inline saddle_status saddle_prepare(const saddle_matrix *A, const saddle_options *options,
                                           const saddle_given *given, const saddle_hooks *hooks,
                                           saddle_preparation *preparation, char *message)
{
    return saddle_prepare_sized(A, options, given, hooks, preparation, sizeof *preparation, message);
}
SADDLE_API void saddle_preparation_free(saddle_preparation *preparation, const saddle_hooks *hooks);

/* ------------------------------------------------------------------------------------------------
 * 8. WORK ON MATRICES AND VECTORS
 */
typedef struct saddle_facts {
    size_t size;                         /* sizeof(saddle_facts), set by saddle_inspect */
    int64_t rows, columns, entries, nnz; /* nnz of the whole matrix, duplicates counted once */
    /* faults: the first two are refused by the solver, at the entry named in the message */
    int64_t out_of_range, not_finite;
    int64_t wrong_triangle; /* entries of SADDLE_LOWER above the diagonal, and the like: refused */
    int64_t unsorted;       /* columns (rows) whose indices do not ascend */
    int64_t duplicates, explicit_zeros;
    int64_t missing_diagonal;                 /* diagonal entries that are not stored */
    int64_t zero_diagonal, negative_diagonal; /* missing or 0; < 0 */
    int64_t empty_rows;                       /* rows without a nonzero */
    int64_t shortest_row, longest_row, bandwidth;
    int pattern_symmetric, symmetric; /* in structure; in value */
    saddle_kind kind;
    /* dominance of row i is |a_ii| / sum_j!=i |a_ij| (infinite in a diagonal row) */
    int64_t dominant_rows; /* strictly above 1 */
    double least_dominance;
    double norm_one, norm_inf, norm_frobenius, largest, smallest; /* smallest |a_ij| > 0 */
} saddle_facts;

/* Looks at everything; the facts are filled in as far as they could be found even on failure. */
SADDLE_API saddle_status saddle_inspect_sized(const saddle_matrix *A, const saddle_hooks *hooks,
                                              saddle_facts *facts, size_t size, char *message);
static inline saddle_status saddle_inspect(const saddle_matrix *A, const saddle_hooks *hooks,
                                           saddle_facts *facts, char *message)
{
    return saddle_inspect_sized(A, hooks, facts, sizeof *facts, message);
}

/* B gets A's entries in this layout and shape, sorted, duplicates added up, base 0, 64-bit pointers,
 * double: arrays of the library, to be freed with saddle_matrix_free and the same hooks. From
 * general to symmetric the matrix must be symmetric in value. */
SADDLE_API saddle_status saddle_convert_sized(const saddle_matrix *A, saddle_layout to_layout,
                                              saddle_shape to_shape, const saddle_hooks *hooks,
                                              saddle_matrix *B, size_t size, char *message);
static inline saddle_status saddle_convert(const saddle_matrix *A, saddle_layout to_layout,
                                           saddle_shape to_shape, const saddle_hooks *hooks, saddle_matrix *B,
                                           char *message)
{
    return saddle_convert_sized(A, to_layout, to_shape, hooks, B, sizeof *B, message);
}
/* Frees the arrays that the library has made and sets all of A to 0; nothing where that is 0 already. */
SADDLE_API void saddle_matrix_free(saddle_matrix *A, const saddle_hooks *hooks);

/* Y = AX for this many columns with leading dimensions ldx, ldy >= n, with `threads` threads (0: as the
 * option). The sums of a row are in the order of its columns. */
SADDLE_API saddle_status saddle_multiply(const saddle_matrix *A, int64_t columns, const double *x,
                                         int64_t ldx, double *y, int64_t ldy, int threads,
                                         const saddle_hooks *hooks, char *message);

/* The errors of x as an answer to Ax = b, with residuals accumulated in double-double. residual, of
 * n numbers, may be NULL. */
typedef struct saddle_errors {
    double backward, componentwise, relative_residual;
} saddle_errors;
SADDLE_API saddle_status saddle_measure(const saddle_matrix *A, const double *b, const double *x,
                                        double *residual, int threads, const saddle_hooks *hooks,
                                        saddle_errors *errors, char *message);

/* ------------------------------------------------------------------------------------------------
 * 9. FILES
 *
 * Matrix Market (coordinate and array; real, integer, pattern; general, symmetric, skew-symmetric)
 * and Rutherford-Boeing, each also gzipped. "-" is standard input or output. What is read is known
 * by its content, what is written by its name (.mtx, .rb, with .gz or without). Output is written
 * to a temporary file and renamed. What the readers allocate is freed with saddle_matrix_free and
 * saddle_vector_free.
 */
SADDLE_API saddle_status saddle_read_matrix_sized(const char *path, const saddle_hooks *hooks,
                                                  saddle_matrix *A, size_t size, char *message);
static inline saddle_status saddle_read_matrix(const char *path, const saddle_hooks *hooks, saddle_matrix *A,
                                               char *message)
{
    return saddle_read_matrix_sized(path, hooks, A, sizeof *A, message);
}
SADDLE_API saddle_status saddle_write_matrix(const char *path, const saddle_matrix *A, const char *comment,
                                             char *message);

/* An n x 1 array; a coordinate n x 1 matrix is read too. Written with 17 digits. */
SADDLE_API saddle_status saddle_read_vector(const char *path, const saddle_hooks *hooks, int64_t *n,
                                            double **values, char *message);
SADDLE_API saddle_status saddle_write_vector(const char *path, int64_t n, const double *values,
                                             const char *comment, char *message);
SADDLE_API void saddle_vector_free(double *values, const saddle_hooks *hooks);

#ifdef __cplusplus
}
#endif

#endif
