/*
 * What kernels may expect of the emulated GPU, and which of their mistakes it shows. A library of its own,
 * for its thread-local variables are taken for shared memory.
 */
#include "backend/cuda/ptx.cuh"

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <setjmp.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

namespace
{

constexpr unsigned ALL = ~0u;

/* Numbers of the device that the host sees, as zeros. */
template <class T> class numbers
{
    T *data = nullptr;

  public:
    explicit numbers(size_t n)
    {
        assert_int_equal(cudaMalloc(&data, n * sizeof(T)), cudaSuccess);
        cudaMemset(data, 0, n * sizeof(T));
    }
    numbers(const numbers &) = delete;
    numbers &operator=(const numbers &) = delete;
    ~numbers()
    {
        cudaFree(data);
    }
    operator T *() const
    {
        return data;
    }
};

template <class... Parameters, class... Arguments>
cudaError_t run(void (*kernel)(Parameters...), int blocks, int threads, int shared_bytes, bool cooperative,
                const Arguments &...arguments)
{
    cudaLaunchAttribute all = {};
    all.id = cudaLaunchAttributeCooperative;
    all.val.cooperative = 1;
    cudaLaunchConfig_t shape = {};
    shape.gridDim = dim3(static_cast<unsigned>(blocks));
    shape.blockDim = dim3(static_cast<unsigned>(threads));
    shape.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
    shape.attrs = &all;
    shape.numAttrs = cooperative;
    return cudaLaunchKernelEx(&shape, kernel, static_cast<Parameters>(arguments)...);
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, int threads, const Arguments &...arguments)
{
    assert_int_equal(run(kernel, blocks, threads, 0, false, arguments...), cudaSuccess);
}

/* f() in the usual order and in some that are drawn. */
constexpr int ORDERS = 8;
template <class F> void in_any_order(const F &f)
{
    unsetenv("SADDLE_EMULATED_SEED");
    f();
    for (int seed = 1; seed < ORDERS; ++seed) {
        setenv("SADDLE_EMULATED_SEED", std::to_string(seed).c_str(), 1);
        f();
    }
    unsetenv("SADDLE_EMULATED_SEED");
}

/* What f() writes to stderr until it aborts, in a process of its own. */
template <class F> std::string last_words(const F &f)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        signal(SIGABRT, SIG_DFL);
        f();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char piece[512];
    for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0;) said.append(piece, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return said;
}

void assert_says(const std::string &said, const char *wanted)
{
    if (said.find(wanted) == std::string::npos) fail_msg("no \"%s\" in: %s", wanted, said.c_str());
}

/* ---- warps ---- */

template <class T> __global__ void shuffle(T *out)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const T own = static_cast<T>(threadIdx.x + 1);
    T *const to = out + 8 * threadIdx.x;
    to[0] = __shfl_sync(ALL, own, 3);
    to[1] = __shfl_sync(ALL, own, lane + 1, 8);
    to[2] = __shfl_up_sync(ALL, own, 2);
    to[3] = __shfl_up_sync(ALL, own, 3, 8);
    to[4] = __shfl_down_sync(ALL, own, 2);
    to[5] = __shfl_down_sync(ALL, own, 3, 8);
    to[6] = __shfl_xor_sync(ALL, own, 5);
    to[7] = __shfl_xor_sync(ALL, own, 12, 8);
}

template <class T> void check_shuffles()
{
    numbers<T> out(8 * 64);
    launch(shuffle<T>, 1, 64, out);
    for (int t = 0; t < 64; ++t) {
        const int warp = t / 32 * 32, lane = t % 32, group = lane / 8 * 8;
        const int from[] = {3,
                            group + (lane + 1) % 8,
                            lane < 2 ? lane : lane - 2,
                            lane % 8 < 3 ? lane : lane - 3,
                            lane + 2 > 31 ? lane : lane + 2,
                            lane % 8 + 3 > 7 ? lane : lane + 3,
                            lane ^ 5,
                            (lane ^ 12) > group + 7 ? lane : lane ^ 12};
        for (int k = 0; k < 8; ++k) assert_true(out[8 * t + k] == static_cast<T>(warp + from[k] + 1));
    }
}

void shuffles_take_from_the_right_lanes(void **)
{
    in_any_order([] {
        check_shuffles<int>();
        check_shuffles<unsigned long long>();
        check_shuffles<float>();
        check_shuffles<double>();
    });
}

__global__ void vote(unsigned *out)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned *const to = out + 8 * threadIdx.x;
    to[0] = __ballot_sync(ALL, lane % 3 == 0);
    to[1] = static_cast<unsigned>(__any_sync(ALL, lane == 9) * 2 + __all_sync(ALL, lane != 9));
    to[2] = __reduce_max_sync(ALL, lane * 7 % 32);
    to[3] = __reduce_add_sync(ALL, lane);
    to[4] = static_cast<unsigned>(__reduce_min_sync(ALL, static_cast<int>(lane) - 5));
    to[5] = __match_any_sync(ALL, static_cast<int>(lane % 4));
    /* halves that do not know of each other, one of them more often */
    const unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
    for (unsigned k = 0; k < (lane < 16 ? 3u : 5u); ++k) to[6] += __reduce_or_sync(half, lane < 16 ? 1u : 2u);
    to[7] = lane < 16 ? 0 : __shfl_sync(half, lane, 20);
}

void votes_and_reductions_keep_to_their_masks(void **)
{
    in_any_order([] {
        numbers<unsigned> out(8 * 32);
        launch(vote, 1, 32, out);
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned *const got = out + 8 * lane;
            assert_int_equal(got[0], 0x49249249u);
            assert_int_equal(got[1], 2);
            assert_int_equal(got[2], 31);
            assert_int_equal(got[3], 31 * 16);
            assert_int_equal(static_cast<int>(got[4]), -5);
            assert_int_equal(got[5], 0x11111111u << lane % 4);
            assert_int_equal(got[6], lane < 16 ? 3 : 10);
            assert_int_equal(got[7], lane < 16 ? 0 : 20);
        }
    });
}

__global__ void multiply(const double *A, const double *B, double *C, double *c)
{
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    double a[8], b[4], sum[4], small[2];
    for (int i = 0; i < 8; ++i) a[i] = A[(g + 8 * (i % 2)) * 16 + t + 4 * (i / 2)];
    for (int i = 0; i < 4; ++i) b[i] = B[(t + 4 * i) * 8 + g];
    for (int i = 0; i < 4; ++i) sum[i] = C[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (int i = 0; i < 2; ++i) small[i] = C[g * 8 + 2 * t + i];
    sd_cuda::mma_16x8x16(sum, a, b);
    sd_cuda::mma_8x8x4(small, A[g * 16 + t], B[t * 8 + g]);
    for (int i = 0; i < 4; ++i) C[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = sum[i];
    for (int i = 0; i < 2; ++i) c[g * 8 + 2 * t + i] = small[i];
}

void products_by_a_warp_have_the_bits_of_a_plain_product(void **)
{
    in_any_order([] {
        numbers<double> A(16 * 16), B(16 * 8), C(16 * 8), c(8 * 8);
        for (int i = 0; i < 256; ++i) A[i] = 1.0 / (3 + i * 7 % 101);
        for (int i = 0; i < 128; ++i) B[i] = 1.0 / (5 + i * 11 % 103);
        for (int i = 0; i < 128; ++i) C[i] = 1.0 / (7 + i * 13 % 107);
        double large[128], small[64];
        for (int i = 0; i < 128; ++i) {
            large[i] = C[i];
            for (int k = 0; k < 16; ++k) {
                large[i] = fma(A[i / 8 * 16 + k], B[k * 8 + i % 8], large[i]);
                if (k == 3 && i < 64) small[i] = large[i];
            }
        }
        launch(multiply, 1, 32, A, B, C, c);
        assert_memory_equal(C, large, sizeof large);
        assert_memory_equal(c, small, sizeof small);
    });
}

/* ---- blocks ---- */

__global__ void count_votes(int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t >= 90) return; /* those that have ended are not waited for */
    out[4 * t] = __syncthreads_count(t % 9 == 0);
    out[4 * t + 1] = __syncthreads_or(t == 50);
    out[4 * t + 2] = __syncthreads_and(t < 90);
    out[4 * t + 3] = __syncthreads_and(t != 3);
}

void a_barrier_counts_those_that_have_not_ended(void **)
{
    in_any_order([] {
        numbers<int> out(4 * 90);
        launch(count_votes, 1, 100, out);
        for (int t = 0; t < 90; ++t) {
            assert_int_equal(out[4 * t], 10);
            assert_int_equal(out[4 * t + 1], 1);
            assert_int_equal(out[4 * t + 2], 1);
            assert_int_equal(out[4 * t + 3], 0);
        }
    });
}

/* Each thread takes the number of the one before it, which may not be there yet without a barrier. */
__global__ void pass_on(int *out, bool wait)
{
    __shared__ int number[128];
    const int t = static_cast<int>(threadIdx.x);
    number[t] = t;
    if (wait) __syncthreads();
    out[t] = t > 0 ? number[t - 1] : -1;
}

bool is_passed_on(bool wait)
{
    numbers<int> out(128);
    launch(pass_on, 1, 128, out, wait);
    for (int t = 0; t < 128; ++t)
        if (out[t] != t - 1) return false;
    return true;
}

void a_missing_barrier_shows_in_another_order(void **)
{
    int right = 0;
    in_any_order([&] {
        assert_true(is_passed_on(true));
        right += is_passed_on(false);
    });
    assert_int_equal(right, 1); /* in the usual order alone */
}

__global__ void read_unwritten(double *out)
{
    __shared__ double number;
    if (threadIdx.x == 0) out[blockIdx.x] = number;
    number = threadIdx.x;
}

void shared_memory_is_garbage_before_it_is_written(void **)
{
    numbers<double> out(20);
    launch(read_unwritten, 20, 64, out);
    for (int k = 0; k < 20; ++k) assert_true(out[k] != out[k]);
}

/* ---- grids ---- */

__device__ void wait_for_all(unsigned *ticket, unsigned wanted)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(ticket, 1);
        while (sd_cuda::load_acquire(ticket) < wanted) sd_cuda::nap();
    }
    __syncthreads();
}

constexpr int ROOM = 64 * sizeof(int);

/* Blocks hand their shared memory around. */
__global__ void turn_around(int *global, unsigned *ticket, int *out)
{
    int *const own = static_cast<int *>(emulated_shared_memory());
    const int t = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
    const int size = static_cast<int>(blockDim.x), blocks = static_cast<int>(gridDim.x);
    own[t] = block * size + t;
    for (int step = 1; step <= blocks; ++step) {
        global[block * size + t] = own[t];
        wait_for_all(ticket, gridDim.x * static_cast<unsigned>(2 * step - 1));
        own[t] = global[(block + 1) % blocks * size + t];
        wait_for_all(ticket, gridDim.x * static_cast<unsigned>(2 * step));
    }
    out[block * size + t] = own[t];
}

void blocks_of_a_cooperative_launch_wait_for_one_another(void **)
{
    int fit = 0, processors = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, turn_around, 64, ROOM);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    const int blocks = fit * processors;
    assert_true(blocks > 1);
    in_any_order([&] {
        const size_t n = static_cast<size_t>(64 * blocks);
        numbers<int> global(n), out(n);
        numbers<unsigned> ticket(1);
        assert_int_equal(run(turn_around, blocks, 64, ROOM, true, global, ticket, out), cudaSuccess);
        for (size_t k = 0; k < n; ++k) assert_int_equal(out[k], k);
    });
    assert_int_equal(run(turn_around, blocks + 1, 64, ROOM, true, nullptr, nullptr, nullptr),
                     cudaErrorCooperativeLaunchTooLarge);
}

/* The first block waits for the last: all may be alive, if they are few. */
__global__ void wait_for_last(unsigned *ticket)
{
    if (blockIdx.x + 1 == gridDim.x)
        atomicAdd(ticket, 1);
    else
        while (sd_cuda::load_acquire(ticket) == 0) sd_cuda::nap();
}

void blocks_that_spin_let_those_behind_them_begin(void **)
{
    in_any_order([] {
        numbers<unsigned> ticket(1);
        launch(wait_for_last, 8, 1, ticket);
        assert_int_equal(*ticket, 1);
    });
}

/* ---- what is refused ---- */

__global__ void miss_barrier(int *)
{
    if (blockIdx.x == 1 && threadIdx.x == 5) __syncwarp(3u << 5);
    __syncthreads();
}

void a_deadlock_says_who_waits_where(void **)
{
    const std::string said = last_words([] { run(miss_barrier, 2, 8, 0, false, nullptr); });
    assert_says(said, "deadlock in kernel (anonymous namespace)::miss_barrier");
    assert_says(said, "block (1, 0, 0) thread (5, 0, 0): __syncwarp");
    assert_says(said, "block (1, 0, 0) thread (6, 0, 0) to (7, 0, 0): __syncthreads");
    assert_says(said, "test_emulator.cc:");
}

__global__ void leave_mask(int *)
{
    __shfl_sync(1u, 0, 0);
}

void a_lane_outside_its_mask_is_refused(void **)
{
    assert_says(last_words([] { run(leave_mask, 1, 32, 0, false, nullptr); }), "not in its own mask");
}

__global__ void share_at_once(int *out)
{
    __shared__ int number;
    number = static_cast<int>(blockIdx.x) + 1;
    emulated_yield();
    *out = number;
}

void shared_variables_of_blocks_at_once_are_refused(void **)
{
    const std::string said = last_words([] {
        numbers<int> out(1);
        run(share_at_once, 2, 1, 0, true, out);
    });
    assert_says(said, "share_at_once");
    assert_says(said, "dynamic shared memory");
}

__global__ void write_behind(double *at)
{
    *at = 0;
}

void writing_behind_the_end_is_found(void **)
{
    const std::string said = last_words([] {
        numbers<double> x(3);
        run(write_behind, 1, 1, 0, false, x + 3);
    });
    if (said.find("AddressSanitizer") == std::string::npos) assert_says(said, "behind the end of 24 bytes");
}

void launches_that_no_device_runs_are_refused(void **)
{
    assert_int_equal(run(pass_on, 1, 1025, 0, false, nullptr, true), cudaErrorInvalidConfiguration);
    assert_int_equal(run(pass_on, 0, 32, 0, false, nullptr, true), cudaErrorInvalidConfiguration);
    assert_int_equal(run(pass_on, 1, 32, 64 << 10, false, nullptr, true), cudaErrorInvalidConfiguration);
}

void a_larger_room_must_be_asked_for(void **)
{
    numbers<unsigned> ticket(1);
    assert_int_equal(
        cudaFuncSetAttribute(wait_for_last, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10),
        cudaSuccess);
    assert_int_equal(run(wait_for_last, 1, 32, 64 << 10, false, ticket), cudaSuccess);
    assert_int_equal(*ticket, 32);
}

/* ---- streams and memory ---- */

/* A copy to pinned memory is there when its event has been waited for, by whatever stream, not before. */
void copies_to_the_host_come_late(void **)
{
    cudaStream_t one, other;
    cudaEvent_t copied;
    int *there = nullptr, *here = nullptr;
    assert_int_equal(cudaStreamCreate(&one), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&other), cudaSuccess);
    assert_int_equal(cudaEventCreate(&copied), cudaSuccess);
    assert_int_equal(cudaMalloc(&there, sizeof *there), cudaSuccess);
    assert_int_equal(cudaHostAlloc(reinterpret_cast<void **>(&here), sizeof *here, cudaHostAllocMapped),
                     cudaSuccess);
    *there = 7;
    *here = 0;
    assert_int_equal(cudaMemcpyAsync(here, there, sizeof *here, cudaMemcpyDeviceToHost, one), cudaSuccess);
    assert_int_equal(cudaEventRecord(copied, one), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(other), cudaSuccess);
    assert_int_equal(*here, 0);
    assert_int_equal(cudaStreamWaitEvent(other, copied, 0), cudaSuccess);
    assert_int_equal(*here, 7);
    cudaFree(there);
    cudaFreeHost(here);
    cudaEventDestroy(copied);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
}

void memory_is_as_much_as_is_said(void **)
{
    void *data = nullptr;
    size_t unused, all;
    setenv("SADDLE_EMULATED_MEMORY", "1000", 1);
    setenv("SADDLE_EMULATED_PINNED", "10", 1);
    assert_int_equal(cudaMalloc(&data, 1001), cudaErrorMemoryAllocation);
    assert_int_equal(cudaHostAlloc(&data, 11, 0), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&data, 600), cudaSuccess);
    assert_int_equal(cudaMemGetInfo(&unused, &all), cudaSuccess);
    assert_int_equal(unused, 400);
    assert_int_equal(all, 1000);
    unsetenv("SADDLE_EMULATED_MEMORY");
    unsetenv("SADDLE_EMULATED_PINNED");
    cudaFree(data);
}

/* ---- numbers ---- */

__global__ void round_up(double *x)
{
    x[0] = __fma_ru(1, 1, 0x1p-60);
    x[1] = __fma_rn(1, 1, 0x1p-60);
    x[2] = sd_cuda::reciprocal_guess(3.0);
}

void rounding_is_that_of_the_device(void **)
{
    numbers<double> x(3);
    launch(round_up, 1, 1, x);
    assert_true(x[0] == 1 + 0x1p-52 && x[1] == 1);
    assert_true(fabs(3 * x[2] - 1) < 0x1p-20 && x[2] != 1.0 / 3);
}

} /* namespace */

extern "C" __attribute__((visibility("default"))) int test_emulator(void)
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_take_from_the_right_lanes),
        cmocka_unit_test(votes_and_reductions_keep_to_their_masks),
        cmocka_unit_test(products_by_a_warp_have_the_bits_of_a_plain_product),
        cmocka_unit_test(a_barrier_counts_those_that_have_not_ended),
        cmocka_unit_test(a_missing_barrier_shows_in_another_order),
        cmocka_unit_test(shared_memory_is_garbage_before_it_is_written),
        cmocka_unit_test(blocks_of_a_cooperative_launch_wait_for_one_another),
        cmocka_unit_test(blocks_that_spin_let_those_behind_them_begin),
        cmocka_unit_test(a_deadlock_says_who_waits_where),
        cmocka_unit_test(a_lane_outside_its_mask_is_refused),
        cmocka_unit_test(shared_variables_of_blocks_at_once_are_refused),
        cmocka_unit_test(writing_behind_the_end_is_found),
        cmocka_unit_test(launches_that_no_device_runs_are_refused),
        cmocka_unit_test(a_larger_room_must_be_asked_for),
        cmocka_unit_test(copies_to_the_host_come_late),
        cmocka_unit_test(memory_is_as_much_as_is_said),
        cmocka_unit_test(rounding_is_that_of_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
