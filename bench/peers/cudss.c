/*
 * NVIDIA's cuDSS as a peer: symmetric, on the first GPU, with the matrix, right-hand sides and solutions in
 * its memory. By default with its own defaults; with --setting matching Bunch-Kaufman pivots and the matching
 * that maximises the product of the diagonal, which it has for symmetric indefinite systems. No refinement.
 *
 * `factor` is the first factorization after an analysis, `refactor` one with new values, which are on the GPU
 * already. What is told of solves is their time on the GPU, from there to there.
 *
 * Memory is told twice: what the GPU has less free after the first solve than before the analysis, but for
 * what the handle takes (`device_bytes`, as it is measured for Saddle), and the peak that cuDSS estimates for
 * itself
 * (`device_bytes_estimate`). Peers take turns, so nobody else's memory changes in between.
 */
#include "peer.h"
#include "timing.h"

#include <cuda_runtime_api.h>
#include <cudss.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT = 20, MOST_COLUMNS = 64 };

static cudssHandle_t handle;
static cudssConfig_t config;
static cudssData_t data;
static cudssMatrix_t matrix, right, left;
static void *start, *column, *value, *b, *x; /* on the GPU */
static int64_t n;
static bool factored, weighed;
static double first = NAN, again = NAN, held;

static bool went_well(cudaError_t error, const char *what)
{
    return error == cudaSuccess ? true : peer_error("%s: %s", what, cudaGetErrorString(error));
}

static bool taken(cudssStatus_t status, const char *what)
{
    return status == CUDSS_STATUS_SUCCESS ? true
                                          : peer_error("cuDSS returned status %d: %s", (int)status, what);
}

static bool put(void **to, const void *from, size_t bytes)
{
    return went_well(cudaMalloc(to, bytes + 1), "memory of the GPU") &&
           (!from || went_well(cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice), "matrix"));
}

/* The lower triangle by columns is the upper one by rows. */
static bool put_matrix(const saddle_matrix *lower, cudssMatrixType_t type)
{
    const int64_t *pointers = lower->pointers, entries = lower->entries;
    n = lower->rows;
    if (entries > INT_MAX) return peer_error("too many entries for 32-bit indices");
    int *offsets = malloc(((size_t)n + 1) * sizeof *offsets);
    if (!offsets) return peer_error("out of memory for the matrix");
    for (int64_t k = 0; k <= n; ++k) offsets[k] = (int)pointers[k];
    const bool there = put(&start, offsets, ((size_t)n + 1) * sizeof *offsets) &&
                       put(&column, lower->indices, (size_t)entries * sizeof(int)) &&
                       put(&value, lower->values, (size_t)entries * sizeof(double)) &&
                       put(&b, NULL, (size_t)n * MOST_COLUMNS * sizeof(double)) &&
                       put(&x, NULL, (size_t)n * MOST_COLUMNS * sizeof(double));
    free(offsets);
    return there &&
           taken(cudssMatrixCreateCsr(&matrix, n, n, entries, start, NULL, column, value, CUDA_R_32I,
                                      CUDA_R_32I, CUDA_R_64F, type, CUDSS_MVIEW_UPPER, CUDSS_BASE_ZERO),
                 "the matrix");
}

static bool set(cudssConfigParam_t parameter, const void *setting, size_t bytes)
{
    return taken(cudssConfigSet(config, parameter, setting, bytes), "a setting");
}

/* Vectors of so many columns, at b and x. */
static bool describe(int64_t columns)
{
    if (right) cudssMatrixDestroy(right);
    if (left) cudssMatrixDestroy(left);
    right = left = NULL;
    return taken(cudssMatrixCreateDn(&right, n, columns, n, b, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR), "b") &&
           taken(cudssMatrixCreateDn(&left, n, columns, n, x, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR), "x");
}

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    const cudssPivotType_t pivots = CUDSS_PIVOT_BUNCH_KAUFMAN;
    const cudssMatchingAlg_t matching = CUDSS_MATCHING_ALG_MAX_DIAG_PRODUCT;
    const int none = 0;
    (void)threads;
    if (!taken(cudssCreate(&handle), "no handle") || !taken(cudssConfigCreate(&config), "no settings") ||
        !taken(cudssDataCreate(handle, &data), "no data") || !put_matrix(lower, CUDSS_MTYPE_SYMMETRIC) ||
        !describe(1) || !set(CUDSS_CONFIG_IR_N_STEPS, &none, sizeof none))
        return false;
    if (strcmp(setting, "matching") != 0) return true;
    return set(CUDSS_CONFIG_PIVOT_TYPE, &pivots, sizeof pivots) &&
           set(CUDSS_CONFIG_MATCHING_ALG, &matching, sizeof matching);
}

static double free_memory(void)
{
    size_t available = 0, all;
    cudaMemGetInfo(&available, &all);
    return (double)available;
}

static bool run_phase(int phase, const char *what)
{
    const double before = weighed ? 0.0 : free_memory();
    const bool good = taken(cudssExecute(handle, phase, config, data, matrix, left, right), what) &&
                      went_well(cudaDeviceSynchronize(), what);
    if (!weighed) held += before - free_memory(); /* later calls are timed */
    weighed = weighed || phase == CUDSS_PHASE_SOLVE;
    return good;
}

static bool analyse(void)
{
    factored = false;
    return run_phase(CUDSS_PHASE_ANALYSIS, "analysis");
}

/* What it found while it factored; that is told late, and would be a failure of the solve. */
static bool is_fine(void)
{
    int info = 0;
    size_t written = 0;
    return taken(cudssDataGet(handle, data, CUDSS_DATA_INFO, &info, sizeof info, &written), "info") &&
           (info == 0 ? true : peer_error("cuDSS found a failure at %d", info));
}

static bool factor(void)
{
    if (!factored) {
        const double began = timing_now();
        if (!run_phase(CUDSS_PHASE_FACTORIZATION, "factorization") || !is_fine()) return false;
        first = fmin(first, timing_now() - began);
        factored = true;
    }
    const double began = timing_now();
    if (!run_phase(CUDSS_PHASE_REFACTORIZATION, "refactorization")) return false;
    again = fmin(again, timing_now() - began);
    return true;
}

static bool solve(int64_t columns, double *there)
{
    const size_t bytes = (size_t)(n * columns) * sizeof *there;
    if (columns > MOST_COLUMNS) return peer_error("too many right-hand sides");
    return describe(columns) && went_well(cudaMemcpy(b, there, bytes, cudaMemcpyHostToDevice), "b") &&
           run_phase(CUDSS_PHASE_SOLVE, "solve") &&
           went_well(cudaMemcpy(there, x, bytes, cudaMemcpyDeviceToHost), "x");
}

static bool solve_there(void *self)
{
    (void)self;
    return run_phase(CUDSS_PHASE_SOLVE, "solve");
}

/* Seconds of a solve between vectors on the GPU; NaN where it fails. */
static double time_solve(int64_t columns)
{
    double best = NAN;
    if (!describe(columns)) return NAN;
    for (int k = 0; k < REPEAT; ++k)
        if (!timing_calls(solve_there, NULL, &best)) return NAN;
    return best;
}

static void facts(peer_facts *f)
{
    int64_t entries = 0, estimates[16] = {0};
    int inertia[2] = {-1, -1}, version[3] = {0};
    double flops = NAN;
    size_t written = 0;
    f->factor = first;
    f->refactor = again;
    f->solve = time_solve(1);
    f->solve_64 = time_solve(MOST_COLUMNS);
    if (!cudssDataGet(handle, data, CUDSS_DATA_LU_NNZ, &entries, sizeof entries, &written))
        f->factor_nnz = (double)entries;
    if (!cudssDataGet(handle, data, CUDSS_DATA_FLOPS, &flops, sizeof flops, &written)) f->flops = flops;
    if (!cudssDataGet(handle, data, CUDSS_DATA_INERTIA, inertia, sizeof inertia, &written))
        f->negative = inertia[1] < 0 ? NAN : inertia[1];
    if (!cudssDataGet(handle, data, CUDSS_DATA_MEMORY_ESTIMATES, estimates, sizeof estimates, &written))
        f->device_bytes_estimate = (double)estimates[1]; /* without what is the caller's */
    if (weighed) f->device_bytes = held;
    cudssGetProperty(MAJOR_VERSION, &version[0]);
    cudssGetProperty(MINOR_VERSION, &version[1]);
    cudssGetProperty(PATCH_LEVEL, &version[2]);
    snprintf(f->version, sizeof f->version, "cuDSS %d.%d.%d", version[0], version[1], version[2]);
    snprintf(f->ordering, sizeof f->ordering, "its own");
}

static void end(void)
{
    cudssMatrix_t const described[] = {matrix, right, left};
    void *const arrays[] = {start, column, value, b, x};
    for (int k = 0; k < 3; ++k)
        if (described[k]) cudssMatrixDestroy(described[k]);
    if (data) cudssDataDestroy(handle, data);
    if (config) cudssConfigDestroy(config);
    if (handle) cudssDestroy(handle);
    for (int k = 0; k < 5; ++k) cudaFree(arrays[k]);
}

int main(int argc, char **argv)
{
    static const peer cudss = {"cudss", "matching", begin, analyse, factor, solve, facts, end};
    return peer_main(&cudss, argc, argv);
}
