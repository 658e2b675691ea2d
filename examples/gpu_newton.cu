/*
 * Newton's method on a GPU: values, right-hand side and solution never leave it.
 *
 *     min sum_i (exp(x_i) - c_i x_i)  subject to  sum_i x_i = 0
 *
 * as in newton.c: each step solves
 *
 *     [ H  e ] [dx]     [ g + l e ]
 *     [ e' 0 ] [dl] = - [ e'x     ],   H = diag(exp(x)),  g = exp(x) - c.
 *
 * The pattern is analysed on the host, once. Kernels write the values of H and the right-hand side, and
 * saddle_factor_values and saddle_solve take the device's pointers, in the stream that the kernels ran in.
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000, THREADS = 256, BLOCKS = (N + 1 + THREADS - 1) / THREADS, NO_GPU = 77 };

/* x and b have N + 1 numbers, the last of x being the multiplier; values are those of newton.c's columns. */
static __global__ void write_values(const double *x, double *values)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= N) return;
    values[2 * i] = exp(x[i]);
    values[2 * i + 1] = 1;
}

static __global__ void write_right_hand_side(const double *x, double *b)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < N) b[i] = -(exp(x[i]) - (1 + i / (double)N) + x[N]);
    if (i != N) return;
    double sum = 0; /* one thread is enough for an example */
    for (int j = 0; j < N; ++j) sum += x[j];
    b[N] = -sum;
}

static __global__ void step_by(const double *d, double *x)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i <= N) x[i] += d[i];
}

/* max |b|, on the host. */
static double size_of(const double *b, double *host, cudaStream_t stream)
{
    double size = 0;
    cudaMemcpyAsync(host, b, (N + 1) * sizeof *b, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int i = 0; i <= N; ++i) size = fmax(size, fabs(host[i]));
    return size;
}

/* The pattern of newton.c, and values for the analysis. */
static saddle_solver *analyse(const saddle_options *options)
{
    int32_t *colptr = (int32_t *)malloc((N + 2) * sizeof *colptr);
    int32_t *rowind = (int32_t *)malloc(2 * N * sizeof *rowind);
    double *values = (double *)malloc(2 * N * sizeof *values);
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_solver *solver = NULL;
    for (int i = 0; i < N; ++i) {
        colptr[i] = 2 * i;
        rowind[2 * i] = i;
        rowind[2 * i + 1] = N;
        values[2 * i] = values[2 * i + 1] = 1;
    }
    colptr[N] = colptr[N + 1] = 2 * N;
    const saddle_matrix A = saddle_symmetric(N + 1, colptr, rowind, values);
    if (saddle_create(&solver, options, NULL, message) != SADDLE_OK) printf("%s\n", message);
    if (solver && saddle_analyse(solver, &A) != SADDLE_OK) {
        printf("%s\n", saddle_message(solver));
        saddle_destroy(&solver);
    }
    free(colptr);
    free(rowind);
    free(values);
    return solver;
}

int main(void)
{
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_describe_device("cuda", 0, message) != SADDLE_OK) {
        printf("%s\n", message);
        return NO_GPU;
    }
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    options.device = SADDLE_DEVICE_CUDA;
    saddle_solver *solver = analyse(&options);
    if (!solver) return 1;

    double *x, *b, *d, *values, *host = (double *)malloc((N + 1) * sizeof *host);
    cudaStream_t stream;
    cudaMalloc(&x, (N + 1) * sizeof *x);
    cudaMalloc(&b, (N + 1) * sizeof *b);
    cudaMalloc(&d, (N + 1) * sizeof *d);
    cudaMalloc(&values, 2 * N * sizeof *values);
    cudaMemset(x, 0, (N + 1) * sizeof *x);
    cudaStreamCreate(&stream);
    saddle_set_stream(solver, stream); /* so that nothing has to be waited for before a call */

    int done = 0;
    saddle_status status = SADDLE_OK;
    for (int step = 0; step < 20 && !done && status == SADDLE_OK; ++step) {
        write_right_hand_side<<<BLOCKS, THREADS, 0, stream>>>(x, b);
        const double norm = size_of(b, host, stream);
        printf("step %2d: residual of the conditions %.1e\n", step, norm);
        done = norm < 1e-9;
        if (done) break;
        write_values<<<BLOCKS, THREADS, 0, stream>>>(x, values);
        status = saddle_factor_values(solver, SADDLE_DOUBLE, values);
        if (status == SADDLE_OK) status = saddle_solve(solver, 1, b, N + 1, d, N + 1, NULL);
        step_by<<<BLOCKS, THREADS, 0, stream>>>(d, x);
    }
    if (status != SADDLE_OK) printf("%s: %s\n", saddle_status_text(status), saddle_message(solver));
    saddle_destroy(&solver); /* before its stream */
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(b);
    cudaFree(d);
    cudaFree(values);
    free(host);
    return done ? 0 : 1;
}
