/*
 * What the first GPU can do, and how much of its memory is free:
 *
 *     peer-card
 *
 * prints the best rate of cublasDgemm over a few sizes in flop/s, the best rate of reading its memory in
 * bytes a second (a sum by cublasDasum) and the GPU's name, as one JSON object; then, for every line that it
 * reads, the free memory in bytes, as the driver counts it over all processes. cuBLAS is loaded when it runs.
 */
#include "timing.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEAT = 5, LARGEST = 8192, READ = 1 << 28 };

typedef cublasStatus_t gemm_function(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                     const double *, const double *, int, const double *, int, const double *,
                                     double *, int);
typedef cublasStatus_t sum_function(cublasHandle_t, int, const double *, int, double *);
typedef cublasStatus_t create_function(cublasHandle_t *);

/* ISO C has no cast from an object to a function. */
static bool find(void *library, const char *name, void *function, size_t size)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (symbol) memcpy(function, &symbol, size);
    return symbol != NULL;
}

/* Numbers that are no zeros: products with those take less power and time. */
static double *some_numbers(int64_t count)
{
    double *numbers = malloc((size_t)count * sizeof *numbers), *there = NULL;
    if (!numbers) return NULL;
    for (int64_t k = 0; k < count; ++k) numbers[k] = 1.0 / (double)(k % 1009 + 1);
    if (cudaMalloc((void **)&there, (size_t)count * sizeof *numbers) != cudaSuccess) there = NULL;
    if (there) cudaMemcpy(there, numbers, (size_t)count * sizeof *numbers, cudaMemcpyHostToDevice);
    free(numbers);
    return there;
}

static double gemm_best(gemm_function *gemm, cublasHandle_t handle, double *numbers)
{
    const double one = 1.0, zero = 0.0;
    const int64_t apart = (int64_t)LARGEST * LARGEST;
    double best = NAN;
    for (int n = LARGEST / 8; n <= LARGEST; n *= 2)
        for (int k = 0; k < REPEAT; ++k) {
            cudaDeviceSynchronize();
            const double began = timing_now();
            if (gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, numbers, n, numbers + apart, n, &zero,
                     numbers + 2 * apart, n) ||
                cudaDeviceSynchronize() != cudaSuccess)
                return NAN;
            best = fmax(best, 2.0 * n * n * n / (timing_now() - began));
        }
    return best;
}

static double read_best(sum_function *sum, cublasHandle_t handle, const double *numbers)
{
    double best = NAN, total;
    for (int k = 0; k < REPEAT; ++k) {
        const double began = timing_now();
        if (sum(handle, READ / 2, numbers, 1, &total)) return NAN; /* waits for the total */
        best = fmax(best, sizeof(double) * (READ / 2) / (timing_now() - began));
    }
    return best;
}

int main(void)
{
    struct cudaDeviceProp card;
    cublasHandle_t handle;
    create_function *create;
    gemm_function *gemm;
    sum_function *sum;
    char line[16];
    size_t unused = 0, all;
    void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
    double *numbers = NULL, rate = NAN, bandwidth = NAN;
    if (!library) library = dlopen("libcublas.so", RTLD_NOW | RTLD_LOCAL);
    if (cudaGetDeviceProperties(&card, 0) != cudaSuccess) {
        puts("{\"error\": \"there is no GPU\"}");
        return 1;
    }
    if (find(library, "cublasCreate_v2", &create, sizeof create) &&
        find(library, "cublasDgemm_v2", &gemm, sizeof gemm) &&
        find(library, "cublasDasum_v2", &sum, sizeof sum) && create(&handle) == CUBLAS_STATUS_SUCCESS &&
        (numbers = some_numbers(3 * (int64_t)LARGEST * LARGEST))) {
        rate = gemm_best(gemm, handle, numbers);
        bandwidth = read_best(sum, handle, numbers);
    }
    cudaFree(numbers);
    printf("{\"card\": \"%s\", \"dgemm\": %.6g, \"bandwidth\": %.6g}\n", card.name,
           isfinite(rate) ? rate : 0.0, isfinite(bandwidth) ? bandwidth : 0.0);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        cudaMemGetInfo(&unused, &all);
        printf("%zu\n", unused);
        fflush(stdout);
    }
    return 0;
}
