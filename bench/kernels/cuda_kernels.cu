/*
 * The CUDA module's kernels against a device-to-device copy measured in the same run.
 *
 *     cuda_kernels [MIB]
 *
 * Vectors and matrices of at least MIB (512) megabytes, far beyond the cache. A time is the median
 * of repeats; a rate counts the bytes that must move (every operand read once, every result written
 * once) and stands as a percentage of the copy's rate. Products are run with every number of lanes a
 * row, `*` marking the one that the module chooses. Beside the times: the largest error of
 * y = Ax over |A||x|, measured in double-double, and whether a second run gave the same bits.
 */
#include "backend/cuda/cuda.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace sd_cuda;

namespace
{

constexpr int REPEATS = 15;

void *host_allocate(size_t bytes, void *)
{
    return malloc(bytes);
}

void host_release(void *data, void *)
{
    free(data);
}

/* An engine, and an end to the program where something fails. */
struct bench {
    sd_context c = {};
    sd_device d = {};
    sd_engine e = {};
    cudaEvent_t from = nullptr, to = nullptr;
    double copy_rate = 0; /* bytes a millisecond */

    void check()
    {
        if (!e.status && !c.status) return;
        printf("failed: %s\n", c.message);
        exit(1);
    }

    bench()
    {
        c.hooks.allocate = host_allocate;
        c.hooks.release = host_release;
        d.backend = sd_cuda_backend();
        d.backend->open(&c, &d);
        check();
        e.context = &c;
        e.backend = d.backend;
        e.device = d;
        e.backend->begin(&e);
        check();
        cudaEventCreate(&from);
        cudaEventCreate(&to);
    }

    ~bench()
    {
        e.backend->end(&e);
        d.backend->close(&c, &d);
    }

    void *memory(int64_t bytes)
    {
        void *data = e.backend->allocate(&e, bytes, "benchmark");
        check();
        return data;
    }

    sd_vector vector(int64_t n, sd_precision precision)
    {
        return {memory(n * (int64_t)sd_precision_size(precision)), n, precision};
    }

    template <class T> const T *put(const std::vector<T> &host)
    {
        void *data = memory((int64_t)(host.size() * sizeof(T)));
        e.backend->upload(&e, host.data(), data, (int64_t)(host.size() * sizeof(T)));
        return static_cast<const T *>(data);
    }

    void release(const void *data)
    {
        e.backend->release(&e, const_cast<void *>(data));
    }

    /* Median of the milliseconds that `work` takes on the device. */
    double time(const std::function<void()> &work)
    {
        std::vector<double> all;
        for (int k = -2; k < REPEATS; ++k) {
            float ms = 0;
            cudaEventRecord(from, state_of(&e)->stream);
            work();
            cudaEventRecord(to, state_of(&e)->stream);
            failed(&e, cudaEventSynchronize(to), "benchmark");
            sd_wait(&e);
            check();
            cudaEventElapsedTime(&ms, from, to);
            if (k >= 0) all.push_back(ms);
        }
        std::nth_element(all.begin(), all.begin() + REPEATS / 2, all.end());
        return all[REPEATS / 2];
    }

    double percent(double bytes, double ms) const
    {
        return 100 * bytes / ms / copy_rate;
    }
};

/* Numbers between -1 and 1 from their place. */
__host__ __device__ double noise(uint64_t k)
{
    k = (k + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(k ^ (k >> 31)) / 9223372036854775808.0;
}

template <class real> __global__ void make_noise(int64_t n, real *x, uint64_t seed)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        x[i] = (real)noise(seed + (uint64_t)i);
}

void randomise(bench &b, sd_vector &x, uint64_t seed)
{
    if (x.precision == SD_DOUBLE)
        launch(&b.e, "noise", make_noise<double>, 4096, x.n, (double *)x.data, seed);
    else
        launch(&b.e, "noise", make_noise<float>, 4096, x.n, (float *)x.data, seed);
    b.check();
}

void reserve(bench &b, int64_t n)
{
    b.release(b.e.scratch);
    b.e.scratch_bytes = 16 * n + 128 * (n / SD_CHUNK_LEAST + 1);
    b.e.scratch = b.memory(b.e.scratch_bytes);
}

void row(const bench &b, const char *name, const char *precision, double bytes, double ms)
{
    printf("%-12s %-7s %9.1f MB %9.4f ms %7.0f GB/s %6.1f %%\n", name, precision, bytes / 1e6, ms,
           bytes / ms / 1e6, b.percent(bytes, ms));
}

void measure_copy(bench &b, int64_t bytes)
{
    sd_vector x = b.vector(bytes / 8, SD_DOUBLE), y = b.vector(bytes / 8, SD_DOUBLE);
    randomise(b, x, 1);
    const double ms = b.time([&] {
        failed(
            &b.e,
            cudaMemcpyAsync(y.data, x.data, (size_t)bytes, cudaMemcpyDeviceToDevice, state_of(&b.e)->stream),
            "copy");
    });
    b.copy_rate = 2.0 * (double)bytes / ms;
    row(b, "memcpy", "bytes", 2.0 * (double)bytes, ms);
    b.release(x.data);
    b.release(y.data);
}

void measure_vectors(bench &b, int64_t bytes, sd_precision precision)
{
    const char *name = precision == SD_DOUBLE ? "double" : "single";
    const int64_t n = bytes / (int64_t)sd_precision_size(precision);
    const double size = (double)bytes;
    sd_engine *e = &b.e;
    sd_vector v = b.vector(SD_PANEL * n, precision), x = v, y = b.vector(n, precision);
    x.n = n;
    double h[SD_PANEL] = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3}, out[SD_PANEL + 1];
    randomise(b, v, 1);
    randomise(b, y, 2);
    reserve(b, n);
    row(b, "fill", name, size, b.time([&] { sd_fill(e, 1.0, &x); }));
    randomise(b, x, 3);
    row(b, "copy", name, 2 * size, b.time([&] { sd_copy(e, &x, &y); }));
    row(b, "scale", name, 2 * size, b.time([&] { sd_scale(e, 1.0000001, &y); }));
    row(b, "axpy", name, 3 * size, b.time([&] { sd_axpy(e, 1e-3, &x, &y); }));
    row(b, "axpby", name, 3 * size, b.time([&] { sd_axpby(e, 1e-3, &x, 0.5, &y); }));
    row(b, "dot", name, 2 * size, b.time([&] { sd_dot(e, &x, &y, out); }));
    row(b, "norm_inf", name, size, b.time([&] { sd_norm_inf(e, &x, out); }));
    row(b, "ratio_max", name, 2 * size, b.time([&] { sd_ratio_max(e, &x, &y, out); }));
    row(b, "basis_dot 4", name, 5 * size, b.time([&] { sd_basis_dot(e, 4, &v, &y, out); }));
    row(b, "basis_dot 8", name, 9 * size, b.time([&] { sd_basis_dot(e, 8, &v, &y, out); }));
    row(b, "basis_axpy 8", name, 10 * size, b.time([&] { sd_basis_axpy(e, 8, 1.0, h, &v, &y); }));
    b.release(v.data);
    b.release(y.data);
}

/* A matrix on the host: rows with entries at i + offset, and whatever a caller adds. */
struct host_matrix {
    std::string name;
    std::vector<int64_t> ptr = {0};
    std::vector<int32_t> ind;
    int64_t longest = 0;

    void end_row()
    {
        longest = std::max(longest, (int64_t)ind.size() - ptr.back());
        ptr.push_back((int64_t)ind.size());
    }
};

host_matrix banded(const char *name, int64_t n, const std::vector<int64_t> &offsets, bool arrow)
{
    host_matrix A;
    A.name = name;
    A.ind.reserve((size_t)n * (offsets.size() + (arrow ? 2 : 0)));
    for (int64_t i = 0; i < n; ++i) {
        if (arrow && i == 0)
            for (int64_t j = 0; j < n; ++j) A.ind.push_back((int32_t)j);
        else
            for (const int64_t d : offsets)
                if (i + d >= 0 && i + d < n) A.ind.push_back((int32_t)(i + d));
        A.end_row();
    }
    return A;
}

host_matrix scattered(const char *name, int64_t n, int degree)
{
    host_matrix A;
    A.name = name;
    A.ind.reserve((size_t)(n * degree));
    for (int64_t i = 0; i < n; ++i) {
        for (int k = 0; k < degree; ++k)
            A.ind.push_back((int32_t)(std::fabs(noise((uint64_t)(i * degree + k))) * (double)(n - 1)));
        A.end_row();
    }
    return A;
}

/* Offsets of a stencil that takes all of {-reach .. reach}^dimensions, or only the axes. */
std::vector<int64_t> stencil(int64_t side, int dimensions, bool corners)
{
    std::vector<int64_t> offsets;
    const int64_t y = dimensions > 1 ? side : 0, z = dimensions > 2 ? side * side : 0;
    for (int k = -(z > 0); k <= (z > 0); ++k)
        for (int j = -(y > 0); j <= (y > 0); ++j)
            for (int i = -1; i <= 1; ++i)
                if (corners || std::abs(i) + std::abs(j) + std::abs(k) <= 1)
                    offsets.push_back(k * z + j * y + i);
    return offsets;
}

/* |y - Ax| / |A||x| at its largest, and whether y comes out the same again. */
void check_product(bench &b, const sd_sparse &A, const sd_vector &x, sd_vector &y)
{
    sd_engine *e = &b.e;
    sd_vector r = b.vector(x.n, x.precision), weight = b.vector(x.n, x.precision);
    double error = 0, change = 0;
    sd_spmv(e, &A, &x, &y);
    sd_residual_dd(e, &A, &x, &y, &r);
    sd_spmv_abs(e, &A, &x, &weight);
    sd_ratio_max(e, &r, &weight, &error);
    sd_spmv(e, &A, &x, &r);
    sd_axpy(e, -1.0, &y, &r);
    sd_norm_inf(e, &r, &change);
    b.check();
    printf("  error %.1e, %s", error, change == 0 ? "same bits" : "OTHER BITS");
    b.release(r.data);
    b.release(weight.data);
}

template <class real> void measure_products(bench &b, const host_matrix &host, sd_precision precision)
{
    sd_engine *e = &b.e;
    const int64_t n = (int64_t)host.ptr.size() - 1, nnz = host.ptr.back();
    sd_vector value = b.vector(nnz, precision), x = b.vector(n, precision), y = b.vector(n, precision);
    randomise(b, value, 1);
    randomise(b, x, 2);
    reserve(b, n);
    sd_sparse A = {};
    A.n = (int32_t)n;
    A.nnz = nnz;
    A.longest = host.longest;
    A.precision = precision;
    A.ptr = b.put(host.ptr);
    A.ind = b.put(host.ind);
    A.val = value.data;
    const double bytes = (double)nnz * (4 + sizeof(real)) + (double)n * (8 + 2 * sizeof(real));
    printf("%-10s %-6s %9lld %10lld %7.0f", host.name.c_str(), precision == SD_DOUBLE ? "double" : "single",
           (long long)n, (long long)nnz, bytes / 1e6);
    const row_shape chosen = choose_shape(&A);
    for (int lanes = 1; lanes <= WARP; lanes *= 2) {
        const row_shape shape = {lanes, chosen.few, chosen.long_row, chosen.piece};
        const double ms = b.time([&] { product<real, PLAIN>(e, "spmv", shape, &A, &x, nullptr, &y); });
        printf(" %5.1f%c", b.percent(bytes, ms), lanes == chosen.lanes ? '*' : ' ');
    }
    const double ms = b.time([&] { sd_spmv(e, &A, &x, &y); });
    const double dd = b.time([&] { sd_residual_dd(e, &A, &x, &y, &y); });
    printf(" %9.4f ms %7.4f ms", ms, dd);
    check_product(b, A, x, y);
    printf("\n");
    fflush(stdout);
    for (const void *data : {value.data, x.data, y.data, (void *)A.ptr, (void *)A.ind}) b.release(data);
}

/* What one call costs where there is nothing to move. */
void measure_latency(bench &b)
{
    sd_engine *e = &b.e;
    const int calls = 2000;
    const host_matrix host = banded("", 1000, {-1, 0, 1}, false);
    sd_vector value = b.vector(3000, SD_DOUBLE), x = b.vector(1000, SD_DOUBLE), y = b.vector(1000, SD_DOUBLE);
    for (sd_vector *v : {&value, &x, &y}) randomise(b, *v, 1);
    reserve(b, 1000);
    sd_sparse A = {};
    A.n = 1000;
    A.nnz = host.ptr.back();
    A.longest = host.longest;
    A.ptr = b.put(host.ptr);
    A.ind = b.put(host.ind);
    A.val = value.data;
    double result = 0;
    const auto each = [&](const char *name, const std::function<void()> &work) {
        for (int k = 0; k < 100; ++k) work();
        sd_dot(e, &x, &x, &result);
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < calls; ++k) work();
        sd_dot(e, &x, &x, &result);
        b.check();
        const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
        printf("%-12s %6.2f us a call, n = 1000\n", name, passed.count() / calls);
    };
    each("axpy", [&] { sd_axpy(e, 1e-9, &x, &y); });
    each("dot", [&] { sd_dot(e, &x, &y, &result); });
    each("spmv", [&] { sd_spmv(e, &A, &x, &y); });
    for (const void *data : {value.data, x.data, y.data, (void *)A.ptr, (void *)A.ind}) b.release(data);
}

} /* namespace */

int main(int argc, char **argv)
{
    const int64_t mib = argc > 1 ? strtoll(argv[1], nullptr, 10) : 512;
    if (mib < 1 || mib > 4096) {
        fprintf(stderr, "usage: cuda_kernels [MIB], 1 to 4096\n");
        return 2;
    }
    bench b;
    b.e.backend->describe(&b.c, 0);
    printf("%s\n", b.c.message);
    measure_copy(b, mib << 20);
    measure_vectors(b, mib << 20, SD_DOUBLE);
    measure_vectors(b, mib << 20, SD_SINGLE);
    measure_latency(b);

    /* about as many entries each: 8 + 4 bytes an entry */
    const int64_t entries = 3 * (mib << 20) / 12;
    const int64_t side2 = (int64_t)std::sqrt((double)entries / 5),
                  side3 = (int64_t)std::cbrt((double)entries / 7),
                  side27 = (int64_t)std::cbrt((double)entries / 27);
    std::vector<int64_t> band;
    for (int64_t d = -40; d <= 40; ++d) band.push_back(d);
    printf("\nproducts: %% of the copy's rate by lanes a row; milliseconds of spmv and residual_dd\n");
    printf("%-10s %-6s %9s %10s %7s %6d %6d %6d %6d %6d %6d\n", "matrix", "", "n", "nnz", "MB", 1, 2, 4, 8,
           16, 32);
    const std::vector<host_matrix> all = {
        banded("diagonal", entries / 2, {0}, false),
        banded("3-point", entries / 3, stencil(0, 1, true), false),
        banded("5-point", side2 * side2, stencil(side2, 2, false), false),
        banded("7-point", side3 * side3 * side3, stencil(side3, 3, false), false),
        banded("27-point", side27 * side27 * side27, stencil(side27, 3, true), false),
        banded("band 81", entries / 81, band, false),
        banded("arrow", entries / 6, {-1, 0, 1}, true),
        scattered("random 16", entries / 16, 16),
    };
    for (const host_matrix &A : all) measure_products<double>(b, A, SD_DOUBLE);
    for (const host_matrix &A : all) measure_products<float>(b, A, SD_SINGLE);
    return 0;
}
