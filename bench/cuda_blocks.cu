/*
 * block_factor of the CUDA module against a device-to-device copy of the same blocks in the same run, and
 * against the reference kernels.
 *
 *     cuda_blocks [check[=BLOCKS]] [registers|shared] [n=N ...] [KERNEL ...]
 *
 * KERNEL is a number of sd_block_kernel; without one, all. Of each, both versions or the one named:
 * milliseconds as multiples of the copy, the median of repeats over sets of buffers of at least 512 MB
 * together, for batches of equal sizes and for one of sizes 1 to 32 mixed; blocks whose pivots, permutations
 * or state differ from the reference's, and the largest difference of an entry over the largest entry.
 * `check`: mixed sizes of hostile blocks, with and without perturbation, differences only.
 */
#include "backend/cuda/cuda.cuh"

extern "C" {
#include "backend/reference/blocks.h"
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

using namespace sd_cuda;

namespace
{

constexpr int REPEATS = 11;
constexpr int DIFFERENT = 2000; /* blocks of equal size, over and over again in a batch */
const char *const NAMES[] = {"ldu",           "ldu partial", "ldu full", "llt",   "llt diagonal", "static",
                             "bunch-kaufman", "complete",    "jordan",   "huard", "huard-t"};

void *host_allocate(size_t bytes, void *)
{
    return malloc(bytes);
}

void host_release(void *data, void *)
{
    free(data);
}

struct bench {
    sd_context c = {};
    sd_engine e = {};
    cudaEvent_t from = nullptr, to = nullptr;

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
        e.context = &c;
        e.backend = sd_cuda_backend();
        e.backend->open(&c, &e, 0);
        check();
        cudaEventCreate(&from);
        cudaEventCreate(&to);
    }
    ~bench()
    {
        e.backend->close(&e);
    }
    template <class T> T *memory(int64_t count)
    {
        void *data = e.backend->allocate(&e, count * (int64_t)sizeof(T), "benchmark");
        check();
        return static_cast<T *>(data);
    }
    template <class T> void put(const std::vector<T> &host, T *data)
    {
        e.backend->upload(&e, host.data(), data, (int64_t)(host.size() * sizeof(T)));
    }
    template <class T> void get(const T *data, std::vector<T> &host)
    {
        e.backend->download(&e, data, host.data(), (int64_t)(host.size() * sizeof(T)));
        check();
    }
    void release(const void *data)
    {
        e.backend->release(&e, const_cast<void *>(data));
    }

    /* Median of the milliseconds of work(set) on the device. */
    double time(int64_t sets, const std::function<void(int)> &work)
    {
        std::vector<double> all;
        for (int k = 0; k < REPEATS + 2; ++k) {
            float ms = 0;
            cudaEventRecord(from, state_of(&e)->stream);
            work((int)(k % sets));
            cudaEventRecord(to, state_of(&e)->stream);
            failed(&e, cudaEventSynchronize(to), "benchmark");
            check();
            cudaEventElapsedTime(&ms, from, to);
            if (k >= 2) all.push_back(ms);
        }
        std::nth_element(all.begin(), all.begin() + REPEATS / 2, all.end());
        return all[REPEATS / 2];
    }
};

uint64_t seed = 1;
double noise()
{
    seed = (seed + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    uint64_t k = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(k ^ (k >> 31)) / 9223372036854775808.0;
}

/* A batch on the host: sizes, plan, entries. */
template <class real> struct host_batch {
    std::vector<sd_block_job> job;
    std::vector<int> size; /* by block */
    sd_block_plan plan = {};
    std::vector<real> entry;

    /* of n rows each, or of all sizes where n is 0; entries of no more than DIFFERENT blocks of n rows */
    host_batch(int n, int count)
    {
        for (int k = 0; k < count; ++k) size.push_back(n ? n : 1 + (int)(std::fabs(noise()) * 31.999));
        std::vector<int32_t> start(count + 1, 0);
        for (int k = 0; k < count; ++k) start[k + 1] = start[k] + size[k];
        int64_t at = 0;
        for (int s = 1; s <= 32; ++s) {
            plan.first[s] = (int32_t)job.size();
            for (int k = 0; k < count; ++k)
                if (size[k] == s) {
                    job.push_back({at, start[k], k});
                    at += s * s;
                }
        }
        plan.first[33] = (int32_t)job.size();
        plan.count = plan.blocks = count;
        plan.rows = start[count];
        plan.entries = at;
        plan.regular = n;
        plan.job = job.data();
        entry.resize((size_t)(n && count > DIFFERENT ? DIFFERENT * n * n : at));
    }

    void fill(sd_block_kernel kernel)
    {
        for (const sd_block_job &w : job) {
            const int n = size[w.block];
            if (w.entry + n * n > (int64_t)entry.size()) break;
            real *a = &entry[(size_t)w.entry];
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i) a[i + j * n] = (real)noise();
            symmetrize(kernel, n, a);
            if (kernel == SD_LLT || kernel == SD_LLT_DIAGONAL || kernel == SD_LDU)
                for (int i = 0; i < n; ++i) a[i + i * n] += (real)n;
        }
    }
    static void symmetrize(sd_block_kernel kernel, int n, real *a)
    {
        if (sd_block_symmetric(kernel))
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < j; ++i) a[i + j * n] = a[j + i * n];
    }

    void fill_hostile(sd_block_kernel kernel)
    {
        fill(kernel);
        for (const sd_block_job &w : job) {
            const int n = size[w.block], i0 = (int)(std::fabs(noise()) * n) % n;
            real *a = &entry[(size_t)w.entry];
            const int kind = w.block % 16, wide = sizeof(real) == 8 ? 150 : 15;
            for (int k = 0; k < n * n; ++k) {
                const int i = k % n, j = k / n;
                if (kind == 1) a[k] = (real)(noise() < 0 ? -1 : 1);
                if (kind == 2) a[k] = (real)(std::fabs(noise()) < 0.2 ? 1 : 0);
                if (kind == 3) a[k] = (real)(a[k] * std::pow(10.0, wide * (i + j - n) / (double)n));
                if (kind == 4 && (i == i0 || j == i0)) a[k] = 0;
                if (kind == 5) a[k] = (real)((i + i0) % n == j ? 2 : 0);
                if (kind == 6 && k == i0) a[k] = (real)NAN;
                if (kind == 7 && k == i0 * n) a[k] = (real)INFINITY;
                if (kind == 8) a[k] = 0;
                if (kind == 9) a[k] *= (real)(sizeof(real) == 8 ? 1e-300 : 1e-36);
                if (kind == 10) a[k] *= (real)(sizeof(real) == 8 ? 1e300 : 1e36);
                if (kind == 11 && i == j) a[k] = 0;
                if (kind == 12) a[k] = (real)(i == 0 || j == 0 || i == j ? a[k] : 0);
                if (kind == 13) a[k] = (real)1;
                if (kind == 14) a[k] *= (real)(sizeof(real) == 8 ? 1e-310 : 1e-41);
            }
            symmetrize(kernel, n, a);
        }
    }
};

/* The factors of a batch on the host. */
template <class real> struct host_factors {
    std::vector<real> data;
    std::vector<uint8_t> row, column;
    std::vector<sd_block_state> state;
    explicit host_factors(const sd_block_plan &plan)
        : data((size_t)plan.entries), row((size_t)plan.rows), column((size_t)plan.rows),
          state((size_t)plan.blocks)
    {
    }
    sd_block_factors view(const sd_block_plan *plan, sd_precision precision)
    {
        return {plan, data.data(), precision, SD_LDU, row.data(), column.data(), state.data()};
    }
};

/* The same on the device, with sets of entries one after the other. */
template <class real> struct device_batch {
    bench &b;
    const host_batch<real> &host;
    int64_t sets;
    real *x, *f;
    uint8_t *row, *column;
    sd_block_state *state;
    sd_block_job *job;
    sd_block_plan plan;
    double copy = 0;

    device_batch(bench &owner, const host_batch<real> &given, int64_t footprint) : b(owner), host(given)
    {
        const int64_t bytes = given.plan.entries * (int64_t)sizeof(real);
        sets = footprint / bytes + 1;
        x = b.memory<real>(sets * given.plan.entries);
        f = b.memory<real>(sets * given.plan.entries);
        row = b.memory<uint8_t>(given.plan.rows);
        column = b.memory<uint8_t>(given.plan.rows);
        state = b.memory<sd_block_state>(given.plan.blocks);
        job = b.memory<sd_block_job>(given.plan.count);
        plan = given.plan;
        plan.job = job;
        b.put(given.job, job);
        b.put(given.entry, x);
        for (int64_t done = (int64_t)given.entry.size(); done < sets * plan.entries; done *= 2)
            cudaMemcpyAsync(x + done, x, sizeof(real) * (size_t)std::min(done, sets * plan.entries - done),
                            cudaMemcpyDeviceToDevice, state_of(&b.e)->stream);
        cudaMemset(f, 0xff, (size_t)bytes);
        if (footprint)
            copy = b.time(sets, [&](int k) {
                cudaMemcpyAsync(f + k * plan.entries, x + k * plan.entries, (size_t)bytes,
                                cudaMemcpyDeviceToDevice, state_of(&b.e)->stream);
            });
        cudaMemset(f, 0xff, (size_t)bytes);
    }
    ~device_batch()
    {
        for (const void *data :
             {(void *)x, (void *)f, (void *)row, (void *)column, (void *)state, (void *)job})
            b.release(data);
    }
    void factor(const sd_block_rule &rule, int set, bool in_place)
    {
        const sd_precision precision = sizeof(real) == 8 ? SD_DOUBLE : SD_SINGLE;
        const sd_blocks blocks = {&plan, x + set * plan.entries, precision};
        sd_block_factors factors = {
            &plan, in_place ? blocks.data : f + set * plan.entries, precision, SD_LDU, row, column, state};
        sd_block_factor(&b.e, &rule, &blocks, &factors);
        b.check();
    }
    void get(host_factors<real> &to, bool in_place)
    {
        b.get(in_place ? x : f, to.data);
        b.get(row, to.row);
        b.get(column, to.column);
        b.get(state, to.state);
    }
};

template <class real>
void compare(const host_batch<real> &host, const host_factors<real> &mine, const host_factors<real> &other,
             bool list)
{
    int orders = 0, states = 0, wild = 0;
    double worst = 0;
    const int count = host.plan.count;
    for (int k = 0; k < count; ++k) {
        const sd_block_job &w = host.job[(size_t)k];
        const int n = host.size[w.block];
        const bool order = memcmp(&mine.row[w.row], &other.row[w.row], n) ||
                           memcmp(&mine.column[w.row], &other.column[w.row], n);
        const bool state = memcmp(&mine.state[w.block], &other.state[w.block], sizeof(sd_block_state)) != 0;
        double most = 0, apart = 0;
        for (int i = 0; i < n * n; ++i) {
            const double p = mine.data[(size_t)w.entry + i], q = other.data[(size_t)w.entry + i];
            if (!std::isfinite(p)) ++wild;
            most = std::max(most, std::fabs(q));
            apart = std::max(apart, std::fabs(p - q));
        }
        if (!order && !state) worst = std::max(worst, apart / most);
        orders += order;
        states += state;
        if (list && (order || state || apart > 1e-2 * most) && orders + states < 6)
            printf("\n    block %d (kind %d) n %d: order %d, states %x %d %d %d | %x %d %d %d apart %.1e",
                   w.block, w.block % 16, n, order, mine.state[w.block].pairs, mine.state[w.block].status,
                   mine.state[w.block].negative, mine.state[w.block].perturbed, other.state[w.block].pairs,
                   other.state[w.block].status, other.state[w.block].negative, other.state[w.block].perturbed,
                   apart / most);
    }
    printf("  orders %d states %d wild %d apart %.1e", orders, states, wild, worst);
}

template <class real>
void reference_of(const host_batch<real> &host, const sd_block_rule &rule, host_factors<real> &f)
{
    sd_engine e = {};
    const sd_precision precision = sizeof(real) == 8 ? SD_DOUBLE : SD_SINGLE;
    const sd_blocks x = {&host.plan, const_cast<real *>(host.entry.data()), precision};
    sd_block_factors view = f.view(&host.plan, precision);
    if (sizeof(real) == 8)
        sd_reference_block_factor_double(&e, &rule, &x, &view);
    else
        sd_reference_block_factor_single(&e, &rule, &x, &view);
}

std::vector<sd_block_version> versions = {SD_BLOCK_REGISTERS, SD_BLOCK_SHARED};
std::vector<int> sizes; /* 0: mixed */

template <class real> void check_kernel(bench &b, sd_block_kernel kernel, int blocks)
{
    for (const double small : {0.0, 1e-3}) {
        host_batch<real> host(0, blocks);
        host.fill_hostile(kernel);
        host_factors<real> mine(host.plan), other(host.plan);
        reference_of(host, {kernel, SD_BLOCK_FASTER, small}, other);
        for (const sd_block_version version : versions) {
            device_batch<real> device(b, host, 0);
            const bool in_place = version == SD_BLOCK_SHARED;
            device.factor({kernel, version, small}, 0, in_place);
            device.get(mine, in_place);
            printf("%-14s %s small %g %-9s", NAMES[kernel], sizeof(real) == 8 ? "double" : "single", small,
                   version == SD_BLOCK_SHARED ? "shared" : "registers");
            compare(host, mine, other, true);
            printf("\n");
        }
    }
}

template <class real> void measure(bench &b, sd_block_kernel kernel, int n, int count)
{
    host_batch<real> host(n, count);
    host.fill(kernel);
    device_batch<real> device(b, host, (int64_t)512 << 20);
    for (const sd_block_version version : versions) {
        const sd_block_rule rule = {kernel, version, 0.0};
        const double ms = b.time(device.sets, [&](int set) { device.factor(rule, set, false); });
        printf("%-14s %s n %2d %6d %-9s %8.4f ms %6.3f copies (%.4f)", NAMES[kernel],
               sizeof(real) == 8 ? "double" : "single", n, count,
               version == SD_BLOCK_SHARED ? "shared" : "registers", ms, ms / device.copy, device.copy);
        if (n) {
            host_batch<real> part(n, DIFFERENT);
            part.entry = host.entry;
            host_factors<real> mine(part.plan), other(part.plan);
            reference_of(part, rule, other);
            device.get(mine, false);
            compare(part, mine, other, false);
        }
        printf("\n");
        fflush(stdout);
    }
}

template <class real> void measure_all(bench &b, sd_block_kernel kernel)
{
    for (const int n : sizes) measure<real>(b, kernel, n, 100000);
}

} /* namespace */

int main(int argc, char **argv)
{
    bench b;
    int check = 0;
    std::vector<int> kernels;
    for (int k = 1; k < argc; ++k)
        if (!strncmp(argv[k], "check", 5))
            check = argv[k][5] == '=' ? std::max(1, atoi(argv[k] + 6)) : 20000;
        else if (!strcmp(argv[k], "registers"))
            versions = {SD_BLOCK_REGISTERS};
        else if (!strcmp(argv[k], "shared"))
            versions = {SD_BLOCK_SHARED};
        else if (!strncmp(argv[k], "n=", 2))
            sizes.push_back(atoi(argv[k] + 2));
        else
            kernels.push_back(atoi(argv[k]));
    if (sizes.empty()) sizes = {4, 8, 16, 24, 32, 0};
    if (kernels.empty())
        for (int k = 0; k < SD_BLOCK_KERNELS; ++k) kernels.push_back(k);
    b.e.backend->describe(&b.c, 0);
    printf("%s\n", b.c.message);
    for (const int k : kernels) {
        if (k < 0 || k >= SD_BLOCK_KERNELS) return 2;
        const sd_block_kernel kernel = (sd_block_kernel)k;
        if (check) {
            check_kernel<double>(b, kernel, check);
            check_kernel<float>(b, kernel, check);
        } else {
            measure_all<double>(b, kernel);
            measure_all<float>(b, kernel);
        }
    }
    return 0;
}
