/*
 * NVIDIA's cuSPARSE as a peer of incomplete factorizations: csric02 on the pattern of a level of fill, or
 * csrilu02 where the matrix is not symmetric, and triangular solves by SpSV, all on the first GPU.
 *
 *     peer-cusparse MATRIX [--level K] [--order rcm|natural|amd|nd] [--tol T] [--maxiter N]
 *
 * A matrix is a file, or a problem that is made: lap3d_128. Its rows are in the order that is asked for,
 * reverse Cuthill-McKee by default, as Saddle has them; incomplete factors do not depend on a scaling of rows
 * and columns, so there is none. Of a symmetric matrix CG solves A x = 1 with cuBLAS's vectors and cuSPARSE's
 * products. One JSON object on standard output: seconds of the analyses, of a factorization, of an
 * application (both triangles), of a product with A and of one with L; iterations, seconds of the iteration,
 * the residual |b - Ax| / |b|.
 */
#include "bench/problem.h"
#include "timing.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { APPLICATIONS = 50, TIMES = 5 };

static _Noreturn void give_up(const char *what, int code)
{
    printf("{\"peer\": \"cusparse\", \"error\": \"%s (%d)\"}\n", what, code);
    exit(1);
}

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        const int code = (int)(call);                                                                        \
        if (code) give_up(#call, code);                                                                      \
    } while (0)

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) give_up("out of memory", 0);
    return memory;
}

/* ---- the matrix ---- */

/* By rows, columns ascending; on the GPU too. */
typedef struct rows {
    int n, nnz;
    int *ptr, *ind, *ptr_there, *ind_there;
    double *val, *val_there;
} rows;

static void rows_make(rows *a, int n, int64_t nnz)
{
    if (nnz > INT_MAX) give_up("too many entries for 32-bit indices", 0);
    *a = (rows){.n = n, .nnz = (int)nnz};
    a->ptr = room((size_t)n + 1, sizeof *a->ptr);
    a->ind = room((size_t)nnz, sizeof *a->ind);
    a->val = room((size_t)nnz, sizeof *a->val);
}

static void *there(const void *from, size_t bytes)
{
    void *to = NULL;
    MUST(cudaMalloc(&to, bytes + 1));
    if (from) MUST(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static void rows_put(rows *a)
{
    a->ptr_there = there(a->ptr, ((size_t)a->n + 1) * sizeof *a->ptr);
    a->ind_there = there(a->ind, (size_t)a->nnz * sizeof *a->ind);
    a->val_there = there(a->val, (size_t)a->nnz * sizeof *a->val);
}

/* Entries of the whole matrix, by columns of the new order, then by rows: so columns come out ascending. */
static void permute(const saddle_matrix *from, const int32_t *place, bool symmetric, rows *a)
{
    const int n = (int)from->rows;
    const double *val = from->values;
    int64_t total = from->entries;
    for (int64_t k = 0; k < from->entries; ++k)
        total += symmetric && from->indices[k] != from->col_indices[k];
    rows turned;
    rows_make(&turned, n, total);
    rows_make(a, n, total);
    for (int turn = 0; turn < 2; ++turn) {
        for (int64_t k = 0; k < from->entries; ++k) {
            const int32_t i = place[from->indices[k]], j = place[from->col_indices[k]];
            for (int other = 0; other < (symmetric && i != j ? 2 : 1); ++other) {
                const int32_t r = other ? j : i, s = other ? i : j;
                if (turn == 0) {
                    ++turned.ptr[s + 1];
                } else {
                    const int at = turned.ptr[s]++;
                    turned.ind[at] = r;
                    turned.val[at] = val[k];
                }
            }
        }
        for (int s = 0; s < n && turn == 0; ++s) turned.ptr[s + 1] += turned.ptr[s];
    }
    for (int64_t k = 0; k < total; ++k) ++a->ptr[turned.ind[k] + 1];
    for (int r = 0; r < n; ++r) a->ptr[r + 1] += a->ptr[r];
    for (int s = 0, k = 0; s < n; ++s)
        for (; k < turned.ptr[s]; ++k) {
            const int at = a->ptr[turned.ind[k]]++;
            a->ind[at] = s;
            a->val[at] = turned.val[k];
        }
    for (int r = n; r > 0; --r) a->ptr[r] = a->ptr[r - 1];
    a->ptr[0] = 0;
    free(turned.ptr);
    free(turned.ind);
    free(turned.val);
}

static void load(const char *operand, const char *order, bool *symmetric, rows *a)
{
    const saddle_hooks hooks = {.size = sizeof hooks};
    char message[SADDLE_MESSAGE_SIZE];
    bench_problem p;
    saddle_matrix entries;
    saddle_preparation q;
    saddle_options o = saddle_options_default();
    if (bench_problem_open(&p, operand, &hooks)) give_up("the matrix cannot be read", 0);
    *symmetric = p.symmetric;
    if (saddle_options_set(&o, "order", order, NULL) || o.order == SADDLE_ORDER_USER)
        give_up("there is no such order here", 0);
    saddle_options_set(&o, "scaling", "none", NULL);
    saddle_options_set(&o, "blocking", "none", NULL);
    saddle_options_set(&o, "pairs", "off", NULL);
    MUST(saddle_prepare(&p.A, &o, NULL, &hooks, &q, message));
    MUST(saddle_convert(&p.A, SADDLE_COORDINATES, p.symmetric ? SADDLE_LOWER : SADDLE_GENERAL, &hooks,
                        &entries, message));
    int32_t *place = room((size_t)q.n, sizeof *place);
    for (int32_t k = 0; k < q.n; ++k) place[q.permutation[k]] = k;
    permute(&entries, place, p.symmetric, a);
    free(place);
    saddle_matrix_free(&entries, &hooks);
    saddle_preparation_free(&q, &hooks);
    bench_problem_free(&p);
}

/* ---- the pattern of a level of fill ---- */

/* Vertices beyond i that a search reaches from i in level + 1 edges through vertices below i; `list` has room
 * for n, `seen` has the last search that saw a vertex. (src/plan/level_fill.h has the theory.) */
static int search(const rows *a, int i, int level, int *list, int *seen, int *found)
{
    int count = 0, begin = 0, end = 0, reached = 0;
    seen[i] = i + 1;
    list[end++] = i;
    for (int edge = 0; edge <= level && begin < end; ++edge) {
        const int stop = end;
        for (; begin < stop; ++begin)
            for (int k = a->ptr[list[begin]]; k < a->ptr[list[begin] + 1]; ++k) {
                const int j = a->ind[k];
                if (seen[j] == i + 1) continue;
                seen[j] = i + 1;
                if (j < i) list[end++] = j;
                if (j > i) found[reached++] = j;
                ++count;
            }
    }
    return reached;
}

/* Places, which are in no order, are put into rows in the order of i: columns ascend. The graph of a general
 * matrix is taken to be symmetric in its pattern. */
static void fill(const rows *a, int level, bool lower_only, rows *m)
{
    const size_t n = (size_t)a->n;
    int *list = room(n, sizeof *list), *seen = room(n, sizeof *seen), *found = room(n, sizeof *found);
    int *lower = room(n + 1, sizeof *lower);
    int64_t entries = a->n;
    for (int i = 0; i < a->n; ++i) {
        const int count = search(a, i, level, list, seen, found);
        for (int k = 0; k < count; ++k) ++lower[found[k]];
        if (!lower_only) lower[i] += count;
        entries += (lower_only ? 1 : 2) * (int64_t)count;
    }
    rows_make(m, a->n, entries);
    for (int i = 0; i < a->n; ++i) m->ptr[i + 1] = m->ptr[i] + lower[i] + 1;
    int *next = lower;
    for (int i = 0; i < a->n; ++i) next[i] = m->ptr[i];
    memset(seen, 0, n * sizeof *seen);
    for (int i = 0; i < a->n; ++i) { /* what is below i is there by now */
        const int count = search(a, i, level, list, seen, found);
        m->ind[next[i]++] = i;
        for (int k = 0; k < count; ++k) m->ind[next[found[k]]++] = i;
        for (int k = 0; k < count && !lower_only; ++k) m->ind[next[i] + k] = found[k];
    }
    free(list);
    free(seen);
    free(found);
    free(lower);
}

static int ascending(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* The values of a on a pattern that has all its entries, or all of its lower triangle. */
static void take_values(const rows *a, rows *m)
{
    for (int i = 0; i < m->n; ++i) {
        qsort(m->ind + m->ptr[i], (size_t)(m->ptr[i + 1] - m->ptr[i]), sizeof *m->ind, ascending);
        int b = a->ptr[i];
        for (int k = m->ptr[i]; k < m->ptr[i + 1]; ++k) {
            while (b < a->ptr[i + 1] && a->ind[b] < m->ind[k]) ++b;
            m->val[k] = b < a->ptr[i + 1] && a->ind[b] == m->ind[k] ? a->val[b] : 0;
        }
    }
}

/* ---- the peer ---- */

static cusparseHandle_t sparse;
static cublasHandle_t blas;

/* A triangle of the factors, described for SpSV. */
typedef struct triangle {
    cusparseSpMatDescr_t matrix;
    cusparseOperation_t operation;
    cusparseSpSVDescr_t plan;
    void *buffer;
} triangle;

static cusparseSpMatDescr_t describe(const rows *a)
{
    cusparseSpMatDescr_t matrix;
    MUST(cusparseCreateCsr(&matrix, a->n, a->n, a->nnz, a->ptr_there, a->ind_there, a->val_there,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    return matrix;
}

static cusparseDnVecDescr_t vector_of(int n, double *numbers)
{
    cusparseDnVecDescr_t x;
    MUST(cusparseCreateDnVec(&x, n, numbers, CUDA_R_64F));
    return x;
}

static triangle triangle_make(const rows *m, bool upper, bool turned, bool unit)
{
    triangle t = {.matrix = describe(m),
                  .operation = turned ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE};
    cusparseFillMode_t part = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    MUST(cusparseSpMatSetAttribute(t.matrix, CUSPARSE_SPMAT_FILL_MODE, &part, sizeof part));
    MUST(cusparseSpMatSetAttribute(t.matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    MUST(cusparseSpSV_createDescr(&t.plan));
    return t;
}

static const double one = 1.0, minus = -1.0, zero = 0.0;

static void triangle_analyse(triangle *t, cusparseDnVecDescr_t b, cusparseDnVecDescr_t x)
{
    size_t bytes = 0;
    MUST(cusparseSpSV_bufferSize(sparse, t->operation, &one, t->matrix, b, x, CUDA_R_64F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, t->plan, &bytes));
    t->buffer = there(NULL, bytes);
    MUST(cusparseSpSV_analysis(sparse, t->operation, &one, t->matrix, b, x, CUDA_R_64F,
                               CUSPARSE_SPSV_ALG_DEFAULT, t->plan, t->buffer));
    MUST(cudaDeviceSynchronize());
}

static void triangle_solve(const triangle *t, cusparseDnVecDescr_t b, cusparseDnVecDescr_t x)
{
    MUST(cusparseSpSV_solve(sparse, t->operation, &one, t->matrix, b, x, CUDA_R_64F,
                            CUSPARSE_SPSV_ALG_DEFAULT, t->plan));
}

typedef struct product {
    cusparseSpMatDescr_t matrix;
    void *buffer;
} product;

static product product_make(const rows *a, cusparseDnVecDescr_t x, cusparseDnVecDescr_t y)
{
    product p = {.matrix = describe(a)};
    size_t bytes = 0;
    MUST(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p.matrix, x, &zero, y,
                                 CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, &bytes));
    p.buffer = there(NULL, bytes);
    MUST(cusparseSpMV_preprocess(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p.matrix, x, &zero, y,
                                 CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, p.buffer));
    return p;
}

static void multiply(const product *p, cusparseDnVecDescr_t x, cusparseDnVecDescr_t y)
{
    MUST(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, x, &zero, y, CUDA_R_64F,
                      CUSPARSE_SPMV_CSR_ALG2, p->buffer));
}

/* ---- factors ---- */

typedef struct times {
    double analysis, factor, solve_analysis, apply, product, product_lower;
} times;

/* In place, by csric02 or csrilu02; the values are put there again before each. */
static void factor(rows *m, bool symmetric, times *t)
{
    cusparseMatDescr_t kind;
    csric02Info_t ic;
    csrilu02Info_t ilu;
    int bytes = 0, at = -1;
    void *buffer;
    MUST(cusparseCreateMatDescr(&kind));
    MUST(cusparseCreateCsric02Info(&ic));
    MUST(cusparseCreateCsrilu02Info(&ilu));
    if (symmetric)
        MUST(cusparseDcsric02_bufferSize(sparse, m->n, m->nnz, kind, m->val_there, m->ptr_there, m->ind_there,
                                         ic, &bytes));
    else
        MUST(cusparseDcsrilu02_bufferSize(sparse, m->n, m->nnz, kind, m->val_there, m->ptr_there,
                                          m->ind_there, ilu, &bytes));
    buffer = there(NULL, (size_t)bytes);
    MUST(cudaDeviceSynchronize());
    double began = timing_now();
    if (symmetric)
        MUST(cusparseDcsric02_analysis(sparse, m->n, m->nnz, kind, m->val_there, m->ptr_there, m->ind_there,
                                       ic, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
    else
        MUST(cusparseDcsrilu02_analysis(sparse, m->n, m->nnz, kind, m->val_there, m->ptr_there, m->ind_there,
                                        ilu, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
    MUST(cudaDeviceSynchronize());
    t->analysis = timing_now() - began;
    for (int k = 0; k < TIMES; ++k) {
        MUST(cudaMemcpy(m->val_there, m->val, (size_t)m->nnz * sizeof *m->val, cudaMemcpyHostToDevice));
        MUST(cudaDeviceSynchronize());
        began = timing_now();
        if (symmetric)
            MUST(cusparseDcsric02(sparse, m->n, m->nnz, kind, m->val_there, m->ptr_there, m->ind_there, ic,
                                  CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
        else
            MUST(cusparseDcsrilu02(sparse, m->n, m->nnz, kind, m->val_there, m->ptr_there, m->ind_there, ilu,
                                   CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
        MUST(cudaDeviceSynchronize());
        t->factor = fmin(t->factor, timing_now() - began);
    }
    const cusparseStatus_t pivot = symmetric ? cusparseXcsric02_zeroPivot(sparse, ic, &at)
                                             : cusparseXcsrilu02_zeroPivot(sparse, ilu, &at);
    if (pivot == CUSPARSE_STATUS_ZERO_PIVOT) give_up("a pivot cannot be used in row", at);
    MUST(cudaFree(buffer));
}

/* ---- the iteration ---- */

typedef struct vectors {
    double *at[6]; /* on the GPU: b, x, r, z, p, q */
    cusparseDnVecDescr_t as[6];
} vectors;
enum { B, X, R, Z, P, Q };

static void apply(const triangle *t, const vectors *v, int from, int to)
{
    triangle_solve(&t[0], v->as[from], v->as[Q]);
    triangle_solve(&t[1], v->as[Q], v->as[to]);
}

static double dot(int n, const double *x, const double *y)
{
    double result;
    MUST(cublasDdot(blas, n, x, 1, y, 1, &result));
    return result;
}

/* CG from x = 0 until |r| <= tol |b|; the number of iterations. */
static int iterate(const rows *a, const product *A, const triangle *t, const vectors *v, double tol, int most)
{
    const int n = a->n;
    double *const *u = v->at;
    const double goal = tol * sqrt(dot(n, u[B], u[B]));
    double rho = 0;
    int done = 0;
    MUST(cudaMemset(u[X], 0, (size_t)n * sizeof(double)));
    MUST(cublasDcopy(blas, n, u[B], 1, u[R], 1));
    while (done < most && sqrt(dot(n, u[R], u[R])) > goal) {
        apply(t, v, R, Z);
        const double before = rho;
        rho = dot(n, u[R], u[Z]);
        const double beta = done > 0 ? rho / before : 0;
        if (done > 0) MUST(cublasDscal(blas, n, &beta, u[P], 1));
        if (done > 0)
            MUST(cublasDaxpy(blas, n, &one, u[Z], 1, u[P], 1));
        else
            MUST(cublasDcopy(blas, n, u[Z], 1, u[P], 1));
        multiply(A, v->as[P], v->as[Q]);
        const double alpha = rho / dot(n, u[P], u[Q]), back = -alpha;
        MUST(cublasDaxpy(blas, n, &alpha, u[P], 1, u[X], 1));
        MUST(cublasDaxpy(blas, n, &back, u[Q], 1, u[R], 1));
        ++done;
    }
    MUST(cudaDeviceSynchronize());
    return done;
}

static double residual(const rows *a, const product *A, const vectors *v)
{
    multiply(A, v->as[X], v->as[Q]);
    MUST(cublasDscal(blas, a->n, &minus, v->at[Q], 1));
    MUST(cublasDaxpy(blas, a->n, &one, v->at[B], 1, v->at[Q], 1));
    return sqrt(dot(a->n, v->at[Q], v->at[Q]) / dot(a->n, v->at[B], v->at[B]));
}

#define TIME(best, WORK)                                                                                     \
    for (int k = 0; k < TIMES; ++k) {                                                                        \
        MUST(cudaDeviceSynchronize());                                                                       \
        const double start = timing_now();                                                                   \
        for (int i = 0; i < APPLICATIONS; ++i) WORK;                                                         \
        MUST(cudaDeviceSynchronize());                                                                       \
        best = fmin(best, (timing_now() - start) / APPLICATIONS);                                            \
    }

static void number(const char *name, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.6g", name, value);
    else
        printf(", \"%s\": null", name);
}

static void run(const char *operand, const char *order, int level, double tol, int most)
{
    rows a, m;
    vectors v;
    times t = {NAN, NAN, NAN, NAN, NAN, NAN};
    bool symmetric;
    int version = 0, iterations = 0;
    double solve = NAN, left = NAN;
    MUST(cusparseCreate(&sparse));
    MUST(cublasCreate(&blas));
    load(operand, order, &symmetric, &a);
    fill(&a, level, symmetric, &m);
    take_values(&a, &m);
    rows_put(&a);
    rows_put(&m);
    double *ones = room((size_t)a.n, sizeof *ones);
    for (int i = 0; i < a.n; ++i) ones[i] = 1;
    for (int k = 0; k < 6; ++k) {
        v.at[k] = there(ones, (size_t)a.n * sizeof *ones);
        v.as[k] = vector_of(a.n, v.at[k]);
    }
    factor(&m, symmetric, &t);
    triangle both[] = {triangle_make(&m, false, false, !symmetric),
                       symmetric ? triangle_make(&m, false, true, false)
                                 : triangle_make(&m, true, false, false)};
    double began = timing_now();
    triangle_analyse(&both[0], v.as[R], v.as[Q]);
    triangle_analyse(&both[1], v.as[Q], v.as[Z]);
    t.solve_analysis = timing_now() - began;
    const product A = product_make(&a, v.as[P], v.as[Q]), L = product_make(&m, v.as[P], v.as[Q]);
    TIME(t.apply, apply(both, &v, R, Z));
    TIME(t.product, multiply(&A, v.as[P], v.as[Q]));
    TIME(t.product_lower, multiply(&L, v.as[P], v.as[Q]));
    for (int k = 0; k < 2 && symmetric; ++k) { /* the second is warm */
        began = timing_now();
        iterations = iterate(&a, &A, both, &v, tol, most);
        solve = timing_now() - began;
    }
    if (symmetric) left = residual(&a, &A, &v);
    MUST(cusparseGetVersion(sparse, &version));
    printf("{\"peer\": \"cusparse\", \"version\": \"%d\"", version);
    number("factor_nnz", m.nnz);
    number("analysis", t.analysis);
    number("factor", t.factor);
    number("solve_analysis", t.solve_analysis);
    number("apply", t.apply);
    number("product", t.product);
    number("product_lower", t.product_lower);
    number("iterations", symmetric ? iterations : NAN);
    number("solve", solve);
    number("relative_residual", left);
    printf("}\n");
}

int main(int argc, char **argv)
{
    int level = 0, most = 3000;
    double tol = 1e-6;
    const char *order = "rcm";
    for (int k = 2; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--level") == 0) level = atoi(argv[k + 1]);
        if (strcmp(argv[k], "--order") == 0) order = argv[k + 1];
        if (strcmp(argv[k], "--tol") == 0) tol = atof(argv[k + 1]);
        if (strcmp(argv[k], "--maxiter") == 0) most = atoi(argv[k + 1]);
    }
    if (argc < 2) give_up("usage: peer-cusparse MATRIX [--level K] [--order O] [--tol T] [--maxiter N]", 0);
    run(argv[1], order, level, tol, most);
    return 0;
}
