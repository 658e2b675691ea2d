/*
 * Saddle: sparse linear systems Ax = b, especially the symmetric indefinite ones (saddle-point and
 * KKT systems) of optimisation, mixed finite elements and control.
 *
 * This header is the complete public interface. Read it from top to bottom:
 *
 *     1  the simplest use            6  the four verbs
 *     2  status and messages         7  preparation: scaling, matching, ordering, blocking
 *     3  matrices                    8  operations on matrices and vectors
 *     4  options and hooks           9  files
 *     5  what happened: info
 *
 * 1. THE SIMPLEST USE
 *
 *     // A is symmetric, n x n: lower triangle by columns, indices from 0, in the caller's arrays.
 *     saddle_matrix A = saddle_symmetric(n, colptr, rowind, values);
 *     saddle_info info = saddle_info_default();
 *     if (saddle_solve_once(&A, b, x, NULL, &info) != SADDLE_OK)
 *         fprintf(stderr, "%s\n", info.message);
 *     printf("backward error %.1e\n", info.backward_error);
 *
 * To solve more than once, keep a solver: analyse the pattern, factor the values (again whenever they
 * change), solve (for many right-hand sides, from many threads).
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
 * General rules. The library never prints, never exits and never leaks memory. Every error it reports is
 * measured on the caller's own A and b. Results are identical bit by bit from run to run and for any number
 * of threads, on the same machine and device. Counts are 64 bits wide.
 *
 * Structs that begin with their size may grow at the end. A library newer than its caller treats members that
 * the caller does not have as 0 (options: as their defaults). An older library returns SADDLE_BAD_ARGUMENT if
 * a matrix or hooks have a nonzero member that it does not know.
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
#define SADDLE_VERSION_MINOR 2
#define SADDLE_VERSION_PATCH 0

/* "0.2.0", and the commit that the library was built from ("unknown" outside a repository). */
SADDLE_API const char *saddle_version(void);
SADDLE_API const char *saddle_commit(void);

/* ------------------------------------------------------------------------------------------------
 * 2. STATUS AND MESSAGES
 *
 * 0 is success, negative is failure. The text of a code says what it means. The message that comes with it
 * names the file, line, row, column, value or option at fault and what to do about it. It is kept by the
 * solver, in info, or in the caller's buffer of SADDLE_MESSAGE_SIZE characters (which may be NULL).
 */
#define SADDLE_STATUS_TABLE(ROW)                                                                             \
    ROW(SADDLE_OK, 0, "success")                                                                             \
    ROW(SADDLE_NOT_CONVERGED, -1, "the requested accuracy was not reached")                                  \
    ROW(SADDLE_CANCELLED, -2, "cancelled by the caller")                                                     \
    ROW(SADDLE_OUT_OF_MEMORY, -3, "out of memory")                                                           \
    ROW(SADDLE_MEMORY_LIMIT, -4, "the memory limit is too small")                                            \
    ROW(SADDLE_BAD_ARGUMENT, -5, "an argument is missing or out of range")                                   \
    ROW(SADDLE_BAD_OPTION, -6, "an option is unknown or out of range")                                       \
    ROW(SADDLE_BAD_MATRIX, -7, "the matrix is malformed")                                                    \
    ROW(SADDLE_BAD_VALUE, -8, "a value is NaN or infinite")                                                  \
    ROW(SADDLE_NOT_SUPPORTED, -9, "this kind of matrix is not supported")                                    \
    ROW(SADDLE_SINGULAR, -10, "the matrix is singular and the system is inconsistent")                       \
    ROW(SADDLE_WRONG_ORDER, -11, "a required earlier call is missing")                                       \
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
 * A saddle_matrix is a view: the caller keeps the arrays. A symmetric matrix is given by one triangle or by
 * both, a general matrix by all its entries. Indices are 32 bits wide, pointers 32 or 64, both counted from
 * `base`, 0 or 1. Indices need not be sorted. Duplicate entries are summed. Explicit zeros stay in the
 * pattern. A matrix with no rows is valid: it is solved, and its arrays and vectors may be NULL.
 *
 *     saddle_matrix A = {.size = sizeof A, .rows = n, .columns = n, ...};     // or saddle_symmetric, below
 */
typedef enum saddle_layout {
    SADDLE_COLUMNS,    /* compressed columns: column j is indices[pointers[j] .. pointers[j+1]) */
    SADDLE_ROWS,       /* compressed rows: the same with rows */
    SADDLE_COORDINATES /* entry k is in row indices[k], column col_indices[k]; no pointers */
} saddle_layout;

typedef enum saddle_shape {
    SADDLE_GENERAL, /* nothing is assumed, but symmetry is detected */
    SADDLE_LOWER,   /* symmetric, only i >= j is stored */
    SADDLE_UPPER,   /* symmetric, only i <= j is stored */
    SADDLE_FULL     /* symmetric, both triangles are stored and must agree */
} saddle_shape;

typedef enum saddle_type { SADDLE_DOUBLE, SADDLE_FLOAT } saddle_type;

typedef struct saddle_matrix {
    size_t size;           /* sizeof(saddle_matrix), so that it can grow; set unused members to 0 */
    int64_t rows, columns; /* must be equal for the solver */
    int64_t entries;       /* stored entries; for compressed layouts pointers[n] - base */
    saddle_layout layout;
    saddle_shape shape;
    saddle_type type;           /* of the values */
    int base;                   /* 0 or 1 */
    int pointer_bits;           /* 32 or 64 */
    const void *pointers;       /* n + 1 of them; NULL for coordinates; may be NULL if n = 0 */
    const int32_t *indices;     /* row indices (column indices for SADDLE_ROWS) */
    const int32_t *col_indices; /* column indices, for coordinates only */
    const void *values;         /* NULL: a pattern without values, for analysis only */
} saddle_matrix;

/* The most common view: symmetric, lower triangle by columns (the same as the upper triangle by rows),
 * double, indices from 0, 32-bit pointers. */
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
 * Every choice has a number here and a word in the table below; off and on have the same numbers everywhere.
 * An enum is as wide as an int.
 */
typedef enum saddle_switch { SADDLE_OFF = 0, SADDLE_ON = 1, SADDLE_AUTO = 2 } saddle_switch;
typedef enum saddle_method {
    SADDLE_METHOD_AUTO,
    SADDLE_METHOD_DIAGONAL,
    SADDLE_METHOD_NONE,
    SADDLE_METHOD_DIRECT,
    SADDLE_METHOD_BJACOBI,
    SADDLE_METHOD_LDLT,
    SADDLE_METHOD_JACOBI,
    SADDLE_METHOD_IC,
    SADDLE_METHOD_ILU
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
    SADDLE_KRYLOV_NONE,
    SADDLE_KRYLOV_FCG
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
    SADDLE_ORDER_USER,
    SADDLE_ORDER_ND
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
    SADDLE_BLOCKING_PABLO,
    SADDLE_BLOCKING_ADJACENT
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
typedef enum saddle_presolve {
    SADDLE_PRESOLVE_OFF,
    SADDLE_PRESOLVE_BAND,
    SADDLE_PRESOLVE_WHOLE,
    SADDLE_PRESOLVE_AUTO
} saddle_presolve;
typedef enum saddle_trisolve {
    SADDLE_TRISOLVE_AUTO,
    SADDLE_TRISOLVE_EXACT,
    SADDLE_TRISOLVE_BLOCK_JACOBI,
    SADDLE_TRISOLVE_JACOBI
} saddle_trisolve;
/* How ic and ilu compute their factors. */
typedef enum saddle_setup { SADDLE_SETUP_EXACT, SADDLE_SETUP_SWEEPS } saddle_setup;
typedef enum saddle_factor_precision {
    SADDLE_FACTOR_PRECISION_AUTO,
    SADDLE_FACTOR_PRECISION_DOUBLE,
    SADDLE_FACTOR_PRECISION_SINGLE
} saddle_factor_precision;

/*
 * One table generates the struct, saddle_options_set, the program's command line, its help, the manual page
 * and the shell completion. The words of a choice are in the order of their numbers. New rows, and new words
 * of a choice, are added at the end, so that compiled programs keep working.
 *
 *     CHOICE(name, type, default, words, help)   COUNT, REAL, BYTES(name, default, least, most, help)
 */
#define SADDLE_OPTION_TABLE(CHOICE, COUNT, REAL, BYTES)                                                      \
    CHOICE(method, saddle_method, SADDLE_METHOD_AUTO,                                                        \
           "auto|diagonal|none|direct|bjacobi|ldlt|jacobi|ic|ilu",                                           \
           "solver or preconditioner; auto tries several and checks, any other is used as it is")            \
    CHOICE(krylov, saddle_krylov, SADDLE_KRYLOV_AUTO,                                                        \
           "auto|cg|minres|sqmr|gmres|fgmres|bicgstab|refine|none|fcg",                                      \
           "iteration; auto chooses by symmetry and definiteness")                                           \
    COUNT(restart, 100, 1, 10000, "basis vectors of GMRES and FGMRES before a restart")                      \
    COUNT(maxiter, 1000, 0, INT64_MAX, "maximum number of iterations, counted over restarts")                \
    REAL(tol, 1e-10, 0.0, 1.0, "requested accuracy")                                                         \
    CHOICE(stop, saddle_stop, SADDLE_STOP_ANY, "any|residual|normwise|componentwise",                        \
           "what tol bounds; any: the relative residual or the componentwise error")                         \
    CHOICE(device, saddle_device, SADDLE_DEVICE_AUTO, "auto|cpu|cuda|reference",                             \
           "where to run; reference is plain code used as an oracle in tests")                               \
    CHOICE(precision, saddle_precision, SADDLE_PRECISION_DOUBLE, "double|single|mixed",                      \
           "precision of the iteration; mixed refines single in double")                                     \
    COUNT(threads, 0, 0, 4096,                                                                               \
          "number of threads; 0: OMP_NUM_THREADS, or else the cores available to the process")               \
    BYTES(max_memory, 0, 0, INT64_MAX, "maximum number of bytes to allocate (K, M, G); 0: no limit")         \
    CHOICE(scaling, saddle_scaling, SADDLE_SCALING_AUTO, "auto|mc64|ruiz|auction|col2|none|user",            \
           "scaling of the matrix; auto is mc64, with ic col2, with ilu and bjacobi ruiz where nothing "     \
           "needs to be matched")                                                                            \
    CHOICE(order, saddle_order, SADDLE_ORDER_AUTO, "auto|metis|amd|rcm|natural|user|nd",                     \
           "order of elimination; auto predicts the work and chooses, with ic and ilu it is rcm, with "      \
           "bjacobi natural")                                                                                \
    CHOICE(pairs, saddle_switch, SADDLE_AUTO, "off|on|auto",                                                 \
           "keep matched pairs together (general matrices: move matched entries to the diagonal)")           \
    CHOICE(blocking, saddle_blocking, SADDLE_BLOCKING_AUTO,                                                  \
           "auto|none|grid|pairs|clusters|supervariables|cosine|priority|priority-dynamic|metis|pablo|"      \
           "adjacent",                                                                                       \
           "grouping of rows into blocks; auto is clusters for bjacobi, ldlt and jacobi, or if a block "     \
           "size is given, adjacent for block-jacobi solves of ic and ilu, otherwise none")                  \
    COUNT(block_size, 0, 0, 32, "maximum number of rows in a block; 0 is 8, with ic and ilu 12")             \
    CHOICE(factorization, saddle_factorization, SADDLE_FACTORIZATION_AUTO, "auto|ldlt|cholesky|static",      \
           "factorization of the direct solver; auto is cholesky if the matrix is known to be positive "     \
           "definite")                                                                                       \
    REAL(threshold, 0.01, 1e-10, 0.5, "pivot threshold u of the direct solver: every |l| is at most 1/u")    \
    REAL(regularise, 1e-8, 0.0, 1.0,                                                                         \
         "smallest pivot of the static factorization, relative to a largest entry of 1")                     \
    CHOICE(check, saddle_switch, SADDLE_OFF, "off|on", "verify |l| <= 1/threshold over the whole factor")    \
    CHOICE(block_kernel, saddle_block_kernel, SADDLE_BLOCK_KERNEL_AUTO,                                      \
           "auto|huard|huard-t|jordan|lu|ldlt|llt",                                                          \
           "kernel of bjacobi; auto is llt if A is known to be positive definite, else ldlt if symmetric, "  \
           "else huard")                                                                                     \
    CHOICE(block_precision, saddle_block_precision, SADDLE_BLOCK_PRECISION_DOUBLE, "double|single|adaptive", \
           "precision of the blocks of bjacobi; adaptive is single if the condition of a block allows it")   \
    CHOICE(fill, saddle_fill, SADDLE_FILL_AUTO, "auto|none|level|tau",                                       \
           "fill blocks that ldlt keeps: none, level:K, tau:T; auto is tau, chosen by the cost of complete " \
           "fill; entries that ic and ilu keep: auto is what level says")                                    \
    REAL(fill_tau, 0.01, 0.0, 1.0,                                                                           \
         "a fill block is kept if its part of L is at least this large; ic and ilu keep entries of at "      \
         "least this part of the norm of their row")                                                         \
    COUNT(fill_level, 1, 0, 255, "a fill block is kept up to this level")                                    \
    CHOICE(pivot, saddle_pivot, SADDLE_PIVOT_BUNCH_KAUFMAN, "bunch-kaufman|static|complete",                 \
           "pivot search inside the blocks of ldlt and jacobi")                                              \
    CHOICE(push_back, saddle_switch, SADDLE_ON, "off|on",                                                    \
           "move blocks with small pivots to the end of the elimination")                                    \
    REAL(small_pivot, 0.0, 0.0, 1.0,                                                                         \
         "pivots below it are perturbed, relative to a largest entry of 1; 0 is 1e-8, raised to 1e-4 if "    \
         "needed")                                                                                           \
    COUNT(sweeps, 8, 1, 10000, "maximum number of sweeps of jacobi, and of ic and ilu with setup sweeps")    \
    CHOICE(sweep_order, saddle_sweep_order, SADDLE_SWEEP_ORDER_ROW, "row|block",                             \
           "row: sweep row by row in chunks; block: replace all blocks at once")                             \
    REAL(relax, 1.0, 0.01, 1.0, "small_pivot is multiplied by it after each sweep")                          \
    CHOICE(fallback, saddle_fallback, SADDLE_FALLBACK_EXACT, "exact|none",                                   \
           "what jacobi, and swept triangular solves of ic and ilu, do if sweeps diverge")                   \
    CHOICE(trisolve, saddle_trisolve, SADDLE_TRISOLVE_AUTO, "auto|exact|block-jacobi|jacobi",                \
           "triangular solves of ldlt, jacobi, ic and ilu: exact, or by sweeps over blocks or entries")      \
    COUNT(trisolve_sweeps, 0, 0, 10000, "sweeps of a triangular solve; 0: as many as needed")                \
    CHOICE(                                                                                                  \
        factor_precision, saddle_factor_precision, SADDLE_FACTOR_PRECISION_AUTO, "auto|double|single",       \
        "precision of the factors of ldlt and jacobi; auto is single if a complete factorization would be "  \
        "expensive and no inverse of a block is large; of ic and ilu, auto is that of the iteration")        \
    COUNT(device_index, 0, 0, 4096, "which of several GPUs, counted from 0; the only cpu is number 0")       \
    CHOICE(replan, saddle_switch, SADDLE_AUTO, "off|on|auto",                                                \
           "match, scale and order anew for new values of the same pattern, direct solver: on every time, "  \
           "auto if it pays")                                                                                \
    CHOICE(certify, saddle_switch, SADDLE_ON, "off|on", "certify the inertia that the direct solver counts") \
    CHOICE(simplicial, saddle_switch, SADDLE_AUTO, "off|on|auto",                                            \
           "factor column by column instead of in fronts, direct solver: auto if L is very sparse")          \
    CHOICE(verify, saddle_switch, SADDLE_ON, "off|on",                                                       \
           "measure the errors of solutions; off, with direct and krylov none or refine (then one step of "  \
           "it): "                                                                                           \
           "return them unmeasured")                                                                         \
    COUNT(factorizations, 0, 0, 1000000000,                                                                  \
          "factorizations expected on the pattern, for which an expensive order may pay; 0: 1 for a single " \
          "solve (saddle_solve_once, the program), otherwise 10")                                            \
    CHOICE(profile, saddle_switch, SADDLE_OFF, "off|on",                                                     \
           "measure the parts of factorizations by the direct solver on a GPU, and count tiles of pivots")   \
    CHOICE(presolve, saddle_presolve, SADDLE_PRESOLVE_AUTO, "off|band|whole|auto",                           \
           "what the direct solver on a GPU inverts after a factorization for faster solves: nothing, "      \
           "squares on the diagonal of L, the triangles of all fronts; auto is band")                        \
    BYTES(device_memory, 0, 0, INT64_MAX,                                                                    \
          "maximum number of bytes of GPU memory for a factorization of the direct solver (K, M, G); 0: "    \
          "what is free, less a reserve")                                                                    \
    COUNT(level, 0, 0, 255, "level of fill of ic and ilu, if fill is auto")                                  \
    REAL(fill_most, 5.0, 0.0, 1000.0,                                                                        \
         "entries that ic and ilu keep by threshold (fill tau:T), for each entry of a row of the matrix")    \
    CHOICE(setup, saddle_setup, SADDLE_SETUP_EXACT, "exact|sweeps",                                          \
           "how ic and ilu compute their factors: by elimination, or by sweeps over all entries at once")    \
    CHOICE(tune, saddle_switch, SADDLE_OFF, "off|on",                                                        \
           "measure, instead of predicting, which triangular solves of ic and ilu are fastest; the log "     \
           "says which options repeat the choice")                                                           \
    CHOICE(absolute, saddle_switch, SADDLE_OFF, "off|on",                                                    \
           "precondition with the absolute values of the pivots (direct, ldlt, jacobi), diagonal blocks "    \
           "(bjacobi) or diagonal entries: positive definite, for krylov minres and cg")

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

/* The defaults; does nothing if options is NULL. The inline function is compiled into the caller, so that the
 * library learns the size of the caller's struct. */
SADDLE_API void saddle_options_init(saddle_options *options, size_t size);
static inline saddle_options saddle_options_default(void)
{
    saddle_options options;
    saddle_options_init(&options, sizeof options);
    return options;
}

/* Sets an option by name, with its value as text ("tol", "1e-8"); message may be NULL. */
SADDLE_API saddle_status saddle_options_set(saddle_options *options, const char *name, const char *text,
                                            char *message);

/* Writes the value of an option as text that saddle_options_set accepts. */
SADDLE_API saddle_status saddle_options_get(const saddle_options *options, const char *name, char *text,
                                            size_t text_size);

/* The table itself, for programs that expose the options: row k, or NULL beyond the last. */
typedef struct saddle_option {
    const char *name, *words, *help; /* words is NULL except for a choice */
    char type;                       /* 'c' choice, 'n' count, 'r' real, 'b' bytes */
    double value, least, most;       /* default and range; for a choice, numbers of its words */
} saddle_option;
SADDLE_API const saddle_option *saddle_option_at(int k);

/* Word number k of a choice, copied into text; "" beyond the last. */
SADDLE_API const char *saddle_option_word(const char *name, int k, char *text, size_t text_size);

/* How far a long operation has got. "read", "prepare", "analyse" and "factor" end with done = total; total of
 * "solve" is the most iterations there may be. A stage may be begun again (another order, factors in double
 * after all), and "prepare" is part of "analyse". There is no report, and no cancelling, while METIS runs. */
typedef struct saddle_progress {
    const char *stage;   /* "read", "prepare", "analyse", "factor", "check", "solve" */
    int64_t done, total; /* bytes read, iterations, ...; total is 0 if unknown */
    double residual;     /* relative residual in "solve", as computed by the iteration; otherwise NaN */
} saddle_progress;

typedef enum saddle_log_level {
    SADDLE_LOG_WARNING = 1,
    SADDLE_LOG_INFO = 2,
    SADDLE_LOG_DEBUG = 3
} saddle_log_level;

/* The caller's own functions; each may be NULL. They must remain valid as long as the object that they were
 * given to. A single library call uses them one at a time, but not always from the caller's thread;
 * concurrent library calls use them concurrently. */
typedef struct saddle_hooks {
    size_t size;                                          /* sizeof(saddle_hooks), so that it can grow */
    void *(*allocate)(size_t bytes, void *user);          /* NULL on failure; aligned as malloc */
    void (*release)(void *memory, void *user);            /* both or neither: one alone is refused */
    void (*log)(int level, const char *line, void *user); /* a saddle_log_level */
    int (*progress)(const saddle_progress *progress, void *user); /* nonzero cancels */
    void *user;
} saddle_hooks;

/* Hooks that are all NULL. An initialiser {.size = sizeof(saddle_hooks), .log = ...} also works. */
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

/* Options on the heap, for languages that do not mirror the struct: the defaults, or NULL if out of memory.
 * hooks may be NULL; give the same hooks to both functions. */
SADDLE_API saddle_options *saddle_options_new(const saddle_hooks *hooks);
SADDLE_API void saddle_options_free(saddle_options *options, const saddle_hooks *hooks);

/* ------------------------------------------------------------------------------------------------
 * 5. WHAT HAPPENED
 *
 * An unknown count is -1, an unknown number NaN, and a choice that was not made AUTO or 0.
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
    ROW(SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER, "preconditioner not symmetric")                            \
    ROW(SADDLE_REASON_SINGULAR, "singular to working precision")                                             \
    ROW(SADDLE_REASON_NO_ITERATION, "no iteration was made")                                                 \
    ROW(SADDLE_REASON_NOT_MEASURED, "not measured")                                                          \
    ROW(SADDLE_REASON_SLOW, "slower than the next method")

#define SADDLE_ENUM_ROW(name, text) name,
typedef enum saddle_reason { SADDLE_REASON_TABLE(SADDLE_ENUM_ROW) } saddle_reason;
#undef SADDLE_ENUM_ROW

SADDLE_API const char *saddle_reason_text(saddle_reason reason);

#define SADDLE_REASON_WORD(name, text) text "|"
#define SADDLE_REASON_WORDS SADDLE_REASON_TABLE(SADDLE_REASON_WORD)

/* Why a count of eigenvalues is not certain. */
typedef enum saddle_doubt {
    SADDLE_DOUBT_NONE,         /* it is */
    SADDLE_DOUBT_NOT_EXAMINED, /* the matrix has not been factored in double precision, or not with pivoting,
                                  or nobody asked */
    SADDLE_DOUBT_SINGULAR,     /* zero eigenvalues may be tiny ones of either sign: rounding the entries of A
                                  decides */
    SADDLE_DOUBT_ILL_CONDITIONED, /* rounding errors of the factorization may have changed signs */
    SADDLE_DOUBT_NO_RESOURCES     /* memory was too short to find out */
} saddle_doubt;
#define SADDLE_DOUBT_WORDS "none|not examined|singular to rounding|ill-conditioned to rounding|out of memory"

#define SADDLE_TRIED_MAX 8

/*
 * One table generates the struct, the initial values, and the names by which items can be queried. New rows
 * are added at the end.
 *
 *     CHOICE(name, type, words, help)   words NULL: those of the option of the same name
 *     TRUTH(name, help)                 0 or 1
 *     COUNT(name, value, help)          value: the initial value, -1 for unknown, or 0 for a counter
 *     REAL(name, help)                  NaN if unknown
 *     SECONDS(name, help)
 */
#define SADDLE_INFO_TABLE(CHOICE, TRUTH, COUNT, REAL, SECONDS)                                               \
    /* the matrix */                                                                                         \
    COUNT(n, -1, "rows of the matrix")                                                                       \
    COUNT(nnz, -1, "entries of the whole matrix, both triangles")                                            \
    TRUTH(symmetric, "whether the matrix is symmetric")                                                      \
    CHOICE(kind, saddle_kind, "unknown|spd|indefinite", "what is known about its definiteness")              \
    /* what was run, with every `auto` resolved */                                                           \
    CHOICE(method, saddle_method, NULL, "solver or preconditioner")                                          \
    CHOICE(krylov, saddle_krylov, NULL, "iteration")                                                         \
    CHOICE(device, saddle_device, NULL, "where it ran")                                                      \
    CHOICE(precision, saddle_precision, NULL, "precision of the iteration")                                  \
    COUNT(threads, 0, "number of threads it could use")                                                      \
    TRUTH(values_in_analysis, "whether the analysis depended on values")                                     \
    /* how it ended; with several right-hand sides, the worst of them */                                     \
    TRUTH(converged, "whether the requested accuracy was reached")                                           \
    CHOICE(reason, saddle_reason, SADDLE_REASON_WORDS, "which accuracy was reached, or why none was")        \
    COUNT(iterations, 0, "iterations of the last method, summed over right-hand sides")                      \
    REAL(backward_error, "|b - Ax| / (|A| |x| + |b|) in the infinity norm")                                  \
    REAL(componentwise_error, "maximum of |b - Ax|_i / (|A| |x| + |b|)_i")                                   \
    REAL(relative_residual, "|b - Ax| / |b| in the 2-norm")                                                  \
    COUNT(tried, 0, "number of attempts of `auto` before the last: see tried_list")                          \
    COUNT(history_length, 0, "number of residuals of the first right-hand side, stored or not")              \
    /* the factorization */                                                                                  \
    COUNT(inertia_positive, -1, "positive eigenvalues of A")                                                 \
    COUNT(inertia_negative, -1, "negative eigenvalues of A")                                                 \
    COUNT(inertia_zero, -1, "zero eigenvalues of A")                                                         \
    COUNT(rank, -1, "rank of A, if its inertia is known")                                                    \
    COUNT(factor_nnz, -1, "entries stored for L and D")                                                      \
    COUNT(factor_flops, -1, "operations of the factorization")                                               \
    COUNT(factor_bytes, -1, "bytes of the factors")                                                          \
    COUNT(blocks, -1, "number of blocks of rows")                                                            \
    COUNT(block_size, -1, "rows in the largest block")                                                       \
    COUNT(levels, -1, "number of levels of the block schedule")                                              \
    COUNT(fronts, -1, "number of fronts of the direct solver")                                               \
    COUNT(largest_front, -1, "rows in the largest front")                                                    \
    COUNT(two_by_two, -1, "number of 2x2 pivots")                                                            \
    COUNT(perturbed, -1, "perturbed pivots")                                                                 \
    COUNT(delayed, -1, "columns delayed to a parent front")                                                  \
    COUNT(pushed_back, -1, "blocks pushed back to the end of the elimination")                               \
    COUNT(sweeps, -1, "sweeps that jacobi performed")                                                        \
    TRUTH(fallback, "whether sweeps were given up for the exact schedule, or for exact triangular solves")   \
    /* the direct solver */                                                                                  \
    CHOICE(factorization, saddle_factorization, NULL, "the one used; auto: none was made")                   \
    COUNT(planned_nnz, -1, "entries of L predicted by the analysis, without delayed pivots")                 \
    REAL(planned_flops, "operations, predicted likewise")                                                    \
    COUNT(planned_bytes, -1, "bytes, predicted likewise")                                                    \
    REAL(largest_l, "largest |l_ij|, if check is on")                                                        \
    COUNT(stale, -1, "matched entries that have become too small or too large: analyse again")               \
    COUNT(regularised_positive, -1,                                                                          \
          "positive pivots of a static factorization, which belongs to a matrix near A")                     \
    COUNT(regularised_negative, -1, "negative pivots of a static factorization")                             \
    REAL(first_error, "backward error before refinement")                                                    \
    /* block-Jacobi */                                                                                       \
    CHOICE(block_kernel, saddle_block_kernel, NULL, "the one used; auto: none was made")                     \
    COUNT(replaced_blocks, -1,                                                                               \
          "blocks that could not be factored and were replaced by a multiple of the identity")               \
    COUNT(single_blocks, -1, "blocks kept in single precision")                                              \
    /* block LDL': ldlt and jacobi */                                                                        \
    REAL(fill_tau, "threshold of the fill that was used")                                                    \
    COUNT(generations, -1, "generations of blocks pushed back: 0 or 1")                                      \
    REAL(pattern_residual,                                                                                   \
         "max |A - L D L'| on the pattern, relative to a largest entry of 1: with sweeps, "                  \
         "or if check is on")                                                                                \
    REAL(reconstruction_error, "|L D L' - A| / |A| in the infinity norm, if check is on")                    \
    CHOICE(trisolve, saddle_trisolve, NULL, "kind of triangular solves that was used")                       \
    /* resources */                                                                                          \
    COUNT(peak_bytes, 0, "largest number of bytes allocated at once")                                        \
    SECONDS(time_prepare, "seconds of scaling, matching, ordering and blocking")                             \
    SECONDS(time_plan, "seconds of symbolic work")                                                           \
    SECONDS(time_factor, "seconds of the numeric factorization")                                             \
    SECONDS(time_solve, "seconds of the solve")                                                              \
    COUNT(device_index, 0, "number of the GPU it ran on")                                                    \
    TRUTH(sweeps_exact, "whether the sweeps were enough for the pattern to give the exact factorization")    \
    TRUTH(replanned, "whether the previous plan of ldlt was stale and a new one was made")                   \
    /* how far the inertia can be relied on */                                                               \
    TRUTH(inertia_certain, "whether the inertia is that of A itself, certified after the factorization")     \
    COUNT(negative_least, -1, "lower bound on the number of negative eigenvalues of A")                      \
    COUNT(negative_most, -1, "upper bound on the number of negative eigenvalues of A")                       \
    CHOICE(inertia_doubt, saddle_doubt, SADDLE_DOUBT_WORDS, "why the inertia is not certain")                \
    REAL(inertia_risk, "bound on the probability that the certificate is wrong")                             \
    /* the direct solver on a sequence of matrices */                                                        \
    COUNT(replans, 0, "times that a new plan was made since the analysis")                                   \
    COUNT(rescalings, -1, "times that the matrix was matched and scaled anew on the plan in use")            \
    TRUTH(simplicial, "whether the factors are columns, without fronts")                                     \
    COUNT(sequences, -1,                                                                                     \
          "times that fronts had to find a sequence of pivots for columns, on the plan in use")              \
    /* how far threads can help */                                                                           \
    REAL(critical_flops,                                                                                     \
         "operations of planned_flops that must follow each other, with any number of threads")              \
    /* the last factorization on a GPU; the others if profile is on */                                       \
    COUNT(waits, -1, "times that the host waited for the GPU")                                               \
    REAL(profile_assembly, "seconds in which large fronts were assembled")                                   \
    REAL(profile_factor, "seconds in which columns were eliminated, of small fronts with all their work")    \
    REAL(profile_contribution, "seconds in which contribution blocks of large fronts were computed")         \
    REAL(profile_other, "seconds of transfers and everything else on the GPU")                               \
    COUNT(tiles_0, -1, "tiles of up to 32 columns of which fewer than 1/8 were accepted as pivots")          \
    COUNT(tiles_1, -1, "tiles of which at least 1/8 and fewer than 2/8 were")                                \
    COUNT(tiles_2, -1, "at least 2/8 and fewer than 3/8")                                                    \
    COUNT(tiles_3, -1, "at least 3/8 and fewer than 4/8")                                                    \
    COUNT(tiles_4, -1, "at least 4/8 and fewer than 5/8")                                                    \
    COUNT(tiles_5, -1, "at least 5/8 and fewer than 6/8")                                                    \
    COUNT(tiles_6, -1, "at least 6/8 and fewer than 7/8")                                                    \
    COUNT(tiles_7, -1, "at least 7/8, not all")                                                              \
    COUNT(tiles_8, -1, "tiles all of whose columns were accepted")                                           \
    REAL(profile_presolve, "seconds in which inverses for the solves were computed")                         \
    /* and its memory */                                                                                     \
    COUNT(device_bytes, -1, "bytes of GPU memory that the factorization takes")                              \
    COUNT(offloaded_bytes, -1, "bytes of host memory for factors that do not fit on the GPU")                \
    /* ic and ilu */                                                                                         \
    REAL(shift, "what was added to the diagonal, relative to the largest entry of each row, so that the "    \
                "factorization did not break down")                                                          \
    COUNT(restarts, -1, "times that it began again with a larger shift")                                     \
    COUNT(trisolve_sweeps, -1, "sweeps over each triangle; 0: as many as a solve needs")                     \
    REAL(trisolve_residual, "|c - R y| / |c| in the 2-norm after these sweeps for a vector c of signs, the " \
                            "larger one of both triangles; 0 if exact solves were asked for or chosen; of "  \
                            "sweeps that were given up, where fallback says so")                             \
    REAL(dominance, "mean over rows of L of the sum of |l_ij / l_ii|, j < i")                                \
    REAL(block_dominance, "mean over block rows of L of the sum of |L_ij| |L_ii^-1| in the Frobenius norm, " \
                          "if there are blocks")                                                             \
    /* the assembly tree of the direct solver, as the analysis plans it, without delayed pivots */           \
    COUNT(planned_fronts, -1, "fronts of the tree")                                                          \
    COUNT(planned_height, -1, "fronts on the longest way to a root")                                         \
    COUNT(planned_rows, -1, "rows of the largest front")                                                     \
    COUNT(planned_columns, -1, "columns of the widest front, which are eliminated together")

typedef struct saddle_info {
    size_t size;          /* sizeof(saddle_info) */
    saddle_status status; /* the status that the call returned */
    char message[SADDLE_MESSAGE_SIZE];

    /* what `auto` tried before, and why each attempt failed */
    struct {
        saddle_method method;
        saddle_krylov krylov;
        saddle_reason why_left;
    } tried_list[SADDLE_TRIED_MAX];

    /* Relative residuals, one per iteration; the last one is the true residual. To get up to history_room of
     * them, set history to an array of that length before the call. */
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

/* An info in which nothing is known yet; the same if it is NULL, and inline for the same reason, as the
 * options. */
SADDLE_API void saddle_info_init(saddle_info *info, size_t size);
static inline saddle_info saddle_info_default(void)
{
    saddle_info info;
    saddle_info_init(&info, sizeof info);
    return info;
}

/*
 * Access by name, for other languages, which then need not know the layout or the size of the struct. In
 * addition to the rows of the table there are the names status, message, and tried_list (as one text).
 *
 * The value of an item as a number: for a choice the number of its word; -1 or NaN if unknown. Returns
 * SADDLE_BAD_ARGUMENT if there is no such item, or if it is a text.
 */
SADDLE_API saddle_status saddle_info_number(const saddle_info *info, const char *name, double *value);

/* The value of an item as text: a word, "yes" or "no", a number with all its digits, or "unknown". Returns
 * SADDLE_BAD_ARGUMENT if there is no such item, or if the text does not fit. */
SADDLE_API saddle_status saddle_info_get(const saddle_info *info, const char *name, char *text,
                                         size_t text_size);

/* The list of items: item k, or NULL beyond the last. */
typedef struct saddle_info_item {
    const char *name, *words, *help; /* words of a choice; NULL: those of the option of the same name */
    char type;                       /* 'c' choice, 'n' count, 'r' real, 'x' text */
} saddle_info_item;
SADDLE_API const saddle_info_item *saddle_info_at(int k);

/* An info on the heap, in which nothing is known yet; NULL if out of memory. hooks may be NULL; give the same
 * hooks to both functions. */
SADDLE_API saddle_info *saddle_info_new(const saddle_hooks *hooks);
SADDLE_API void saddle_info_free(saddle_info *info, const saddle_hooks *hooks);

/* Sets history and history_room, the array that receives the residuals. */
SADDLE_API void saddle_info_set_history(saddle_info *info, double *history, int64_t room);

/* ------------------------------------------------------------------------------------------------
 * 6. THE FOUR VERBS: analyse, factor, solve, query
 *
 * What may be called from several threads at the same time (names without "saddle_" and "_sized"):
 *
 *     concurrently on one           solve, solve_many, solve_part, apply, condition, get_order, get_pivots,
 *     factored solver               get_l, get_scaling, query, message. Each solve has its own info and
 *                                   workspace. A message remains valid until the next call of the following
 *                                   kind.
 *     alone on its solver           analyse, factor, factor_values, factor_many, factor_solve_many,
 *                                   set_options, set_stream, set_given, set_signs, set_d, destroy. No other
 *                                   call on this solver may run meanwhile. Other solvers are not affected.
 *     always                        create, solve_once, version, commit, status_text, reason_text, option_at,
 *                                   option_word, info_at, describe_device, blas_core.
 *     on objects that no other      options_init, options_new, options_free, options_set, options_get,
 *     thread is writing             info_init, info_new, info_free, info_number, info_get, info_set_history,
 *                                   prepare, preparation_free, inspect, convert, matrix_free, multiply,
 *                                   measure, read_matrix, write_matrix, read_vector, write_vector,
 *                                   vector_free.
 *
 * Two things are shared by the whole process: METIS (order and blocking metis) is called by one thread at a
 * time; and OpenBLAS is held at one thread while a direct factorization or solve runs.
 *
 * After fork(): solvers of the parent and new ones can be used in the child, on the CPU. If the thread that
 * forked had used the library with several threads, its calls in the child run with one (OpenMP has lost the
 * others), which the log and info.threads say; a thread that the child starts itself may use several. No
 * other thread of the parent may be inside a call of the library while it forks, and a GPU cannot be used in
 * the child.
 */
typedef struct saddle_solver saddle_solver;

/* options, hooks and message may be NULL; options and hooks are copied. *solver is NULL on failure. */
SADDLE_API saddle_status saddle_create(saddle_solver **solver, const saddle_options *options,
                                       const saddle_hooks *hooks, char *message);

/* New options for a solver that exists, NULL: the defaults. What a solve is asked for (krylov, restart,
 * maxiter, tol, stop, verify, certify, threads, max_memory) holds from the next call on. Everything else
 * holds from the next saddle_factor on, and solves until then use the present factors: with what the plan
 * does not depend on (threshold, regularise, factorization, small_pivot, check, replan, profile, absolute)
 * that is a refactorization as always, with any other change it plans anew. The systems of saddle_factor_many
 * keep the options that they were factored with. device and device_index cannot change. On failure, which
 * saddle_message explains, the options stay as they were. */
SADDLE_API saddle_status saddle_set_options(saddle_solver *solver, const saddle_options *options);

/* Checks the pattern and decides everything that depends on it. If A has values and the direct solver will be
 * used, its scaling and order are computed from them now; without values this is left to the first
 * saddle_factor (info.values_in_analysis says which). */
SADDLE_API saddle_status saddle_analyse(saddle_solver *solver, const saddle_matrix *A);

/* Factors the values of A. Its pattern must be the one that was analysed; without an earlier analysis it is
 * analysed now. The arrays of A are copied and not needed afterwards. The direct solver keeps its scaling and
 * order for new values while that pays, and computes them anew when it does not (option replan; info.replans
 * and info.rescalings say how often). */
SADDLE_API saddle_status saddle_factor(saddle_solver *solver, const saddle_matrix *A);

/* The same for the next values on the pattern that was analysed, in the order in which its entries were given
 * then: nothing of the pattern is looked at or compared. */
SADDLE_API saddle_status saddle_factor_values(saddle_solver *solver, saddle_type type, const void *values);

/* With device cuda, A.values (never its pattern), b and x may be in the memory of that GPU, or in managed
 * memory; each may be there or on the host. Values that are there when a pattern is factored again are
 * factored without being waited for: the host gets its copy of them while the GPU works. What is asked of the
 * GPU runs in a stream of the library's own, which waits for nobody: the caller's work on these arrays must
 * be done. Or a stream of the caller's (a cudaStream_t) is given here, used by all later calls with this
 * solver; what was put into it before a call comes first. It must outlive the solver, or give way to another
 * one; NULL: the library's own. All calls return when their results are there. */
SADDLE_API saddle_status saddle_set_stream(saddle_solver *solver, void *stream);

/* With device auto a solver begins on the host, where all its arrays are, and the direct solver moves to a
 * GPU before the factorization from which on that is predicted to pay, if there is one: the larger the
 * system, and the more factorizations are expected (option factorizations) or were made on the pattern, the
 * sooner. It is decided by counts alone, so that it is the same factorization in every run; info.device says
 * where it is. Only there the last bits of results may change. It moves once; where the GPU fails or has not
 * the memory it stays on the host, or returns to it for good. Devices cpu and cuda are kept to. */

/* A scaling and an order of the caller, used by all later calls of saddle_analyse and saddle_factor if the
 * options scaling and order are `user`. They are copied; NULL removes them. What depends on them is planned
 * anew by the next saddle_factor; solves until then use the present factors. Numbers that are not positive
 * and finite, or not a permutation, are refused now, and what was given before stays; an n that is not that
 * of the matrix is refused by the next saddle_analyse or saddle_factor. saddle_message says what is wrong. */
struct saddle_given; /* section 7 */
SADDLE_API saddle_status saddle_set_given(saddle_solver *solver, int64_t n, const struct saddle_given *given);

/* The expected sign (1 or -1; 0: unknown) of the pivot of each row in a static factorization; the signs of a
 * quasidefinite matrix are known in advance. They are copied, used by the next saddle_factor and checked as
 * above; NULL removes them. */
SADDLE_API saddle_status saddle_set_signs(saddle_solver *solver, int64_t n, const int8_t *signs);

/* Solves AX = B for nrhs columns with leading dimensions ldb, ldx >= n. x receives the best solution found,
 * whatever the status, and never NaN. b and x may be the same array, with ldb = ldx. info may be NULL. */
SADDLE_API saddle_status saddle_solve(const saddle_solver *solver, int64_t nrhs, const double *b, int64_t ldb,
                                      double *x, int64_t ldx, saddle_info *info);

/* x = M^-1 b, or M'^-1 b if transposed is not 0, for nrhs columns: the preconditioner that was factored, or
 * the factors of the direct solver, applied once, without iteration, refinement or measurement, for a Krylov
 * method of the caller. b and x as for saddle_solve, wherever they are. M is that of the method which
 * saddle_factor decided on, so name one. On failure, if the arguments were right, x is 0;
 * SADDLE_NOT_CONVERGED says that it overflows. message may be NULL. */
SADDLE_API saddle_status saddle_apply(const saddle_solver *solver, int transposed, int64_t nrhs,
                                      const double *b, int64_t ldb, double *x, int64_t ldx, char *message);

/* What is known after analyse or factor, and the message of the most recent of them. The inertia is certified
 * here unless a solve has done so (docs/direct.md): that costs a solve, and more only where it is in doubt.
 */
SADDLE_API saddle_status saddle_query(const saddle_solver *solver, saddle_info *info);
SADDLE_API const char *saddle_message(const saddle_solver *solver);

SADDLE_API void saddle_destroy(saddle_solver **solver);

/*
 * Access to the factors of the direct solver: S A S = P' L D L' P with a diagonal S, a permutation P, L unit
 * lower triangular and D with 1x1 and 2x2 blocks. All of these return SADDLE_WRONG_ORDER if there are no such
 * factors. (A general matrix is factored through a symmetric matrix of twice its size and has no factors of
 * its own; only its condition number is available.)
 *
 * Parts of a solve, in place, without refinement, for nrhs columns of n with leading dimension ldx:
 *     FORWARD  x = L^-1 P S x        DIAGONAL  x = D^-1 x        BACKWARD  x = S P' L'^-1 x
 * Applied one after the other they give A^-1; D^-1 of a zero pivot is 0. In between, x is in pivot order.
 */
typedef enum saddle_part { SADDLE_FORWARD, SADDLE_DIAGONAL, SADDLE_BACKWARD } saddle_part;
SADDLE_API saddle_status saddle_solve_part(const saddle_solver *solver, saddle_part part, int64_t nrhs,
                                           double *x, int64_t ldx, char *message);

/* The planned elimination order: the row of A at each position. It is known after saddle_analyse with values,
 * too, if method is direct. */
SADDLE_API saddle_status saddle_get_order(const saddle_solver *solver, int32_t *order);
/* The elimination order after pivoting, and D: d[2k] is its diagonal, d[2k+1] its entry (k+1, k), which is
 * nonzero only at the first row of a 2x2 pivot. Either may be NULL. */
SADDLE_API saddle_status saddle_get_pivots(const saddle_solver *solver, int32_t *order, double *d);
/* L by compressed columns in that order, its unit diagonal and entries that are exactly 0 left out, rows
 * ascending. A first call with indices and values NULL fills in pointers (n + 1 of them), whose last is the
 * number of entries; a second one fills in the rest, of which either may be NULL. Factors in single precision
 * are given as doubles. */
SADDLE_API saddle_status saddle_get_l(const saddle_solver *solver, int64_t *pointers, int32_t *indices,
                                      double *values);
/* The diagonal of S. */
SADDLE_API saddle_status saddle_get_scaling(const saddle_solver *solver, double *scale);
/* Replaces D, in the format above with 2x2 pivots in the same places, until the next saddle_factor. The
 * factors are then no longer those of A: solves are not refined, and errors are still measured on A.
 * saddle_message says what is wrong with a d that is refused. */
SADDLE_API saddle_status saddle_set_d(saddle_solver *solver, const double *d);

/* An estimate of the condition number |A| |A^-1| in the 1-norm, rarely too small by more than a factor of
 * three (Higham and Tisseur). It costs a few solves. Infinite if A is singular. Not after saddle_set_d. */
SADDLE_API saddle_status saddle_condition(const saddle_solver *solver, double *condition, char *message);

/* Analyse, factor and solve in one call, for one right-hand side. */
SADDLE_API saddle_status saddle_solve_once(const saddle_matrix *A, const double *b, double *x,
                                           const saddle_options *options, saddle_info *info);

/*
 * Many systems with one pattern, A_k x_k = b_k for k = 0 ... count - 1, by the direct solver: all of them
 * share one analysis, and threads are given whole systems. A describes the pattern, which must be symmetric
 * (shape lower, upper or full), and the type of the values; its own values are not used. Those of system k
 * begin at values + k stride (in numbers of that type, stride >= A->entries), its b and x at b + k ldb and x
 * + k ldx.
 *
 *     saddle_factor_many        factors all of them and keeps the factors: memory for count systems
 *     saddle_solve_many         solves with these, as often as needed; count is that of the factors
 *     saddle_factor_solve_many  does both and keeps nothing: memory for at most 8 systems for each thread
 *
 * Every system is treated on its own, as if it were the first after the analysis: its results have the same
 * bits whatever the others are, and for any number of threads. One that fails does not disturb the others:
 * results, an array of count (which may be NULL), has its status and message, and its x is 0. The call
 * returns the status of the first system that failed, and saddle_message names it (except after
 * saddle_solve_many, which writes nothing into the solver). The analysis is that of saddle_analyse or
 * saddle_factor; without one, system 0 is analysed. It is never made anew here: if values have become very
 * different, analyse one of the systems again. Systems that were factored stay until the next
 * saddle_factor_many, saddle_factor_solve_many or saddle_analyse, or until saddle_factor makes a new plan;
 * the factors of saddle_factor are not affected, unless what saddle_set_options or saddle_set_given said
 * since asks for a new plan: these two make it then, and saddle_factor has to come again. If max_memory is
 * set, each system in memory gets an equal share of it, and there is only one for each thread where 8 would
 * not fit.
 *
 * With device cuda all systems are factored and solved at once on the GPU, if one of them takes no more than
 * 1e8 operations and the matrix is given by one triangle; those that need other pivots than the first,
 * singular ones and the like are then done on the host, with the same results. values, b and x may be in host
 * or in device memory, each on its own; the call returns when all is done. Systems go in portions of 1 GB, or
 * of what max_memory leaves; saddle_factor_many needs device memory for all of them.
 *
 * saddle_solve_many may run concurrently with itself and with solves; the other two are alone on their
 * solver.
 */
typedef struct saddle_result {
    saddle_status status;
    saddle_reason reason; /* these and the following as in info */
    int converged;
    int inertia_certain;
    int64_t inertia_positive, inertia_negative, inertia_zero;
    int64_t iterations;
    double backward_error, componentwise_error, relative_residual;
    char message[128]; /* cut to fit */
} saddle_result;

SADDLE_API saddle_status saddle_factor_many_sized(saddle_solver *solver, const saddle_matrix *A,
                                                  int64_t count, const void *values, int64_t stride,
                                                  saddle_result *results, size_t size);
SADDLE_API saddle_status saddle_solve_many_sized(const saddle_solver *solver, int64_t count, const double *b,
                                                 int64_t ldb, double *x, int64_t ldx, saddle_result *results,
                                                 size_t size);
SADDLE_API saddle_status saddle_factor_solve_many_sized(saddle_solver *solver, const saddle_matrix *A,
                                                        int64_t count, const void *values, int64_t stride,
                                                        const double *b, int64_t ldb, double *x, int64_t ldx,
                                                        saddle_result *results, size_t size);
static inline saddle_status saddle_factor_many(saddle_solver *solver, const saddle_matrix *A, int64_t count,
                                               const void *values, int64_t stride, saddle_result *results)
{
    return saddle_factor_many_sized(solver, A, count, values, stride, results, sizeof *results);
}
static inline saddle_status saddle_solve_many(const saddle_solver *solver, int64_t count, const double *b,
                                              int64_t ldb, double *x, int64_t ldx, saddle_result *results)
{
    return saddle_solve_many_sized(solver, count, b, ldb, x, ldx, results, sizeof *results);
}
static inline saddle_status saddle_factor_solve_many(saddle_solver *solver, const saddle_matrix *A,
                                                     int64_t count, const void *values, int64_t stride,
                                                     const double *b, int64_t ldb, double *x, int64_t ldx,
                                                     saddle_result *results)
{
    return saddle_factor_solve_many_sized(solver, A, count, values, stride, b, ldb, x, ldx, results,
                                          sizeof *results);
}

/* Describes device number k of a kind ("cuda", 0: name, memory), or says why there is none. */
SADDLE_API saddle_status saddle_describe_device(const char *kind, int k, char *message);

/* OpenBLAS chooses its kernels when it is loaded, by the model of the processor. If it does not know the
 * model, it takes kernels for a much older one. Returns the value for the environment variable
 * OPENBLAS_CORETYPE with which it would use this processor's instructions, or NULL if it does so already, or
 * is another BLAS. *taken (taken may be NULL) becomes its name for the kernels that it took, or NULL. A
 * variable set after the BLAS was loaded has no effect: the program `saddle` sets it and starts again. */
SADDLE_API const char *saddle_blas_core(const char **taken);

/* ------------------------------------------------------------------------------------------------
 * 7. PREPARATION: scaling, matching, pairs, ordering, blocking
 *
 * The steps before a factorization, for use on their own. They compute diagonal matrices R and C and orders
 * p and q of the rows and columns of A such that the prepared matrix
 *
 *     B(k, l) = (R(p_k) A(p_k, q_l)) C(q_l)
 *
 * has entries of magnitude at most about 1, has its large entries on or next to the diagonal, and fills in
 * little when it is factored. For symmetric A the two scalings are the same, and so are the two orders. Every
 * index here is counted from 0.
 *
 * The options scaling, order, pairs, blocking and block_size control the steps. scaling "user" and order
 * "user" use what the caller gives, after checking it.
 */
typedef struct saddle_given {
    const double *row_scale, *col_scale; /* n positive numbers each; col_scale NULL: the same as row_scale */
    const int32_t *permutation;          /* the old index at each new position */
} saddle_given;                          /* closed: it will not grow */

/* An unknown count is -1, an unknown number NaN, a choice that was not made AUTO, and an array that does not
 * exist NULL. The arrays belong to the library: free them with saddle_preparation_free and the same hooks. */
typedef struct saddle_preparation {
    size_t size;    /* sizeof(saddle_preparation) */
    int64_t n, nnz; /* nnz: entries of the whole matrix */
    int symmetric;

    saddle_scaling scaling; /* this and the next three: the choices made */
    saddle_order order;
    saddle_switch pairs;
    saddle_blocking blocking;
    int block_size; /* maximum number of rows in a block; 1 without blocking */
    int orderings;  /* how many were computed to decide: 1 or 2 */

    double *row_scale, *col_scale;          /* for symmetric A the same array */
    int32_t *permutation, *row_permutation; /* q and p; for symmetric A the same array */
    int32_t *matching;                      /* the row matched with each column, or -1; NULL: no matching */
    int32_t *partner;                       /* of each row in a 2x2 pair, or -1; NULL: no pairs are kept */
    int64_t blocks;
    int32_t *block_start; /* first row of each block in the new order, then n; blocks + 1 of them */

    /* the matching: its size (an auction may not find the largest), and its objective in natural
     * logarithms */
    int64_t structural_rank;
    double log_product, log_scaled; /* sum of log |a_ij| and of log |r_i a_ij c_j| over the matching */
    int64_t two_by_two;             /* pairs kept */
    int64_t dense_rows;             /* rows of very high degree, which are ordered last */

    /* A complete factorization of the pattern of B + B' in this order without pivoting: entries of L
     * including its diagonal, the sum over columns of the squared column counts, the height of the
     * elimination tree. */
    int64_t factor_nnz;
    double factor_flops;
    int64_t tree_height;

    /* Measures of B in its blocks (of single rows without blocking). */
    int64_t largest_block;
    int64_t levels;         /* level sets of the block lower triangle, without fill */
    int64_t stored_entries; /* in all dense blocks that contain an entry, both triangles */
    /* |B_ii| - sum_j!=i |B_ij| in the 1-norm, over block rows: Stretching Jacobi, section VII */
    double dominance_least, dominance_mean, dominance_largest;
    /* means over rows of sum_j!=i |b_ij| / |b_ii|, and over block rows of sum_j!=i |B_ij| |B_ii^-1| in
     * the Frobenius norm: Jacobi triangular solves, section 3.3. Infinite if a diagonal block is singular. */
    double off_diagonal_dominance, block_off_diagonal_dominance;

    /* seconds */
    double time_matching, time_scaling, time_pairs, time_graph, time_order, time_counts, time_blocking,
        time_measures, time_total;
    int64_t peak_bytes; /* maximum in use; what METIS allocates is not counted */
} saddle_preparation;

/* options, given and hooks may be NULL. On failure there are no arrays to free. */
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
 * 8. OPERATIONS ON MATRICES AND VECTORS
 */
typedef struct saddle_facts {
    size_t size;                         /* sizeof(saddle_facts), set by saddle_inspect */
    int64_t rows, columns, entries, nnz; /* nnz: of the whole matrix, duplicates counted once */
    /* faults: the solver refuses the first two; the message names the entry */
    int64_t out_of_range, not_finite;
    int64_t wrong_triangle; /* e.g. entries of SADDLE_LOWER above the diagonal: refused */
    int64_t unsorted;       /* columns (rows) whose indices are not increasing */
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

/* Inspects a matrix. Even on failure, the facts found so far are filled in. */
SADDLE_API saddle_status saddle_inspect_sized(const saddle_matrix *A, const saddle_hooks *hooks,
                                              saddle_facts *facts, size_t size, char *message);
static inline saddle_status saddle_inspect(const saddle_matrix *A, const saddle_hooks *hooks,
                                           saddle_facts *facts, char *message)
{
    return saddle_inspect_sized(A, hooks, facts, sizeof *facts, message);
}

/* B receives the entries of A in this layout and shape, sorted, duplicates summed, base 0, 64-bit pointers,
 * double. Its arrays belong to the library: free them with saddle_matrix_free and the same hooks. To convert
 * from general to symmetric, the matrix must be symmetric in value. */
SADDLE_API saddle_status saddle_convert_sized(const saddle_matrix *A, saddle_layout to_layout,
                                              saddle_shape to_shape, const saddle_hooks *hooks,
                                              saddle_matrix *B, size_t size, char *message);
static inline saddle_status saddle_convert(const saddle_matrix *A, saddle_layout to_layout,
                                           saddle_shape to_shape, const saddle_hooks *hooks, saddle_matrix *B,
                                           char *message)
{
    return saddle_convert_sized(A, to_layout, to_shape, hooks, B, sizeof *B, message);
}
/* Frees arrays allocated by the library and sets all of A to 0; does nothing if it is 0 already. */
SADDLE_API void saddle_matrix_free(saddle_matrix *A, const saddle_hooks *hooks);

/* Y = AX for `columns` columns with leading dimensions ldx, ldy >= n, on `threads` threads (0: as for the
 * option). The terms of a row are summed in the order of its columns. */
SADDLE_API saddle_status saddle_multiply(const saddle_matrix *A, int64_t columns, const double *x,
                                         int64_t ldx, double *y, int64_t ldy, int threads,
                                         const saddle_hooks *hooks, char *message);

/* The errors of x as a solution of Ax = b, with the residual accumulated in double-double. residual, an array
 * of n numbers, may be NULL. */
typedef struct saddle_errors {
    double backward, componentwise, relative_residual;
} saddle_errors; /* closed: it will not grow */
SADDLE_API saddle_status saddle_measure(const saddle_matrix *A, const double *b, const double *x,
                                        double *residual, int threads, const saddle_hooks *hooks,
                                        saddle_errors *errors, char *message);

/* ------------------------------------------------------------------------------------------------
 * 9. FILES
 *
 * Matrix Market (coordinate and array; real, integer, pattern; general, symmetric, skew-symmetric)
 * and Rutherford-Boeing, either of them gzipped or not. "-" is standard input or output. The input format is
 * recognised by its content, the output format is chosen by the file name (.mtx or .rb, with or without .gz).
 * Output is written to a temporary file, which is then renamed. Free what the readers allocate with
 * saddle_matrix_free and saddle_vector_free.
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

/* An n x 1 array; an n x 1 coordinate matrix can be read too. Written with 17 digits. */
SADDLE_API saddle_status saddle_read_vector(const char *path, const saddle_hooks *hooks, int64_t *n,
                                            double **values, char *message);
SADDLE_API saddle_status saddle_write_vector(const char *path, int64_t n, const double *values,
                                             const char *comment, char *message);
SADDLE_API void saddle_vector_free(double *values, const saddle_hooks *hooks);

#ifdef __cplusplus
}
#endif

#endif
