/*
 * Instructions that C++ has no words for, as functions; the only file with assembly. Where device code is
 * compiled for the host (tests/emulated), SADDLE_EMULATED is defined and each has a version in C++.
 *
 * Lanes of a warp that make a product together call mma_8x8x4 or mma_16x8x16 all at once. With g = lane / 4
 * and t = lane % 4 (PTX ISA, "Matrix Fragments for mma"), a lane hands in
 *
 *     8 x 8 x 4:    a = A(g, t), b = B(t, g), c[i] = C(g, 2 t + i)
 *     16 x 8 x 16:  a[i] = A(g + 8 (i % 2), t + 4 (i / 2)), b[i] = B(t + 4 i, g),
 *                   c[i] = C(g + 8 (i / 2), 2 t + i % 2)
 *
 * and has its numbers of C + A B in c. Every sum is made in the order of the inner index, from C on, each
 * product added by one fused multiply-add.
 */
#pragma once

#include <stdint.h>

#include <cuda_runtime.h>

namespace sd_cuda
{

#ifndef SADDLE_EMULATED

/* ---- kernels that begin before the one before them has ended ---- */

__device__ inline void wait_for_others()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_others_begin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* ---- memory that other blocks write or read meanwhile ---- */

/* Stores take the bits, of which the caller chooses those of what is not a number. */
__device__ inline double load_relaxed(const double *at)
{
    long long bits;
    asm volatile("ld.relaxed.gpu.global.s64 %0, [%1];" : "=l"(bits) : "l"(at));
    return __longlong_as_double(bits);
}
__device__ inline float load_relaxed(const float *at)
{
    int bits;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(bits) : "l"(at));
    return __int_as_float(bits);
}
__device__ inline long long load_relaxed(const long long *at)
{
    long long value;
    asm volatile("ld.relaxed.gpu.global.s64 %0, [%1];" : "=l"(value) : "l"(at));
    return value;
}
__device__ inline int load_relaxed(const int *at)
{
    int value;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
/* What a thread of the same block writes, which the first cache may have. */
__device__ inline double load_near(const double *at)
{
    long long bits;
    asm volatile("ld.relaxed.cta.global.s64 %0, [%1];" : "=l"(bits) : "l"(at));
    return __longlong_as_double(bits);
}
__device__ inline void store_relaxed(long long *at, long long value)
{
    asm volatile("st.relaxed.gpu.global.s64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
__device__ inline void store_relaxed(int *at, int value)
{
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ inline void store_relaxed(double *at, long long bits)
{
    asm volatile("st.relaxed.gpu.global.s64 [%0], %1;" ::"l"(at), "l"(bits) : "memory");
}
__device__ inline void store_relaxed(float *at, int bits)
{
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(bits) : "memory");
}
__device__ inline int load_acquire(const int *at)
{
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
__device__ inline unsigned load_acquire(const unsigned *at)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
/* A word that the host may write while the kernel runs. */
__device__ inline int load_from_host(const int *at)
{
    int value;
    asm volatile("ld.relaxed.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
__device__ inline void store_release(int *at, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ inline void store_release(unsigned *at, unsigned value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

/* In a loop that waits for such memory: at once, or after some time that others may use. */
__device__ inline void look_again()
{
}
__device__ inline void nap()
{
    __nanosleep(64);
}

/* ---- where memory is ---- */

__device__ inline void assume_global(const void *at)
{
    __builtin_assume(__isGlobal(at));
}

/* ---- memory that is read once ---- */

/* What the second cache gives up first. */
__device__ inline uint64_t policy_of_leaving()
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline int32_t load_with(const int32_t *at, uint64_t policy)
{
    int32_t value;
    asm("ld.global.nc.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(value) : "l"(at), "l"(policy));
    return value;
}
__device__ inline double load_with(const double *at, uint64_t policy)
{
    double value;
    asm("ld.global.nc.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(at), "l"(policy));
    return value;
}

/* ---- copies to shared memory that go on while others compute ---- */

/* 8 or 16 bytes; zeros where they are not there, in which case `global` is any valid address. */
__device__ inline void cp_async_8(void *shared, const void *global, bool there)
{
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const int bytes = there ? 8 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(global), "r"(bytes)
                 : "memory");
}
__device__ inline void cp_async_16(void *shared, const void *global, bool there)
{
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes)
                 : "memory");
}
__device__ inline void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* For all of the thread's groups but the last `left`. */
template <int left> __device__ inline void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

/* ---- memory of a block ---- */

/* The dynamic shared memory of the block. */
__device__ inline void *shared_room()
{
    extern __shared__ __align__(16) unsigned char room[];
    return room;
}

/* ---- numbers ---- */

/* 1 / x to 20 bits or more (single: all but the last); what is too small for a normal number is 0. */
__device__ inline double reciprocal_guess(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
__device__ inline float reciprocal_guess(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Keeps the compiler from computing what follows from a number long before it is needed, or from remembering
 * what it computed from it: with everything unrolled that would fill the registers. */
__device__ inline void keep_here(int &number)
{
    asm volatile("" : "+r"(number));
}

/* ---- products by a warp ---- */

__device__ inline void mma_8x8x4(double (&c)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
}

/* Before compute capability 9.0 by the smaller one: the fragments are those of its tiles. */
__device__ inline void mma_16x8x16(double (&c)[4], const double (&a)[8], const double (&b)[4])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
    double upper[2] = {c[0], c[1]}, lower[2] = {c[2], c[3]};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        mma_8x8x4(upper, a[2 * k], b[k]);
        mma_8x8x4(lower, a[2 * k + 1], b[k]);
    }
    c[0] = upper[0];
    c[1] = upper[1];
    c[2] = lower[0];
    c[3] = lower[1];
#endif
}

#else /* emulated: fibers of one thread, which switch where they wait for one another */

inline void wait_for_others()
{
}
inline void let_others_begin()
{
}

template <class T> inline T load_relaxed(const T *at)
{
    return *const_cast<const volatile T *>(at);
}
inline double load_near(const double *at)
{
    return load_relaxed(at);
}
inline void store_relaxed(long long *at, long long value)
{
    *const_cast<volatile long long *>(at) = value;
}
inline void store_relaxed(int *at, int value)
{
    *const_cast<volatile int *>(at) = value;
}
inline void store_relaxed(double *at, long long bits)
{
    *const_cast<volatile double *>(at) = __longlong_as_double(bits);
}
inline void store_relaxed(float *at, int bits)
{
    *const_cast<volatile float *>(at) = __int_as_float(bits);
}
template <class T> inline T load_acquire(const T *at)
{
    return load_relaxed(at);
}
inline int load_from_host(const int *at)
{
    return emulated_look(at);
}
template <class T> inline void store_release(T *at, emulated_operand<T> value)
{
    *const_cast<volatile T *>(at) = value;
}
inline void look_again()
{
    emulated_yield();
}
inline void nap()
{
    emulated_yield();
}

inline void assume_global(const void *)
{
}

inline uint64_t policy_of_leaving()
{
    return 0;
}
template <class T> inline T load_with(const T *at, uint64_t)
{
    return *at;
}

inline void cp_async_8(void *shared, const void *global, bool there)
{
    if ((reinterpret_cast<uintptr_t>(shared) | reinterpret_cast<uintptr_t>(global)) % 8)
        emulated::refuse({"cp.async", "", 0}, "an address is not aligned");
    if (there)
        memcpy(shared, global, 8);
    else
        memset(shared, 0, 8);
}
inline void cp_async_16(void *shared, const void *global, bool there)
{
    if ((reinterpret_cast<uintptr_t>(shared) | reinterpret_cast<uintptr_t>(global)) % 16)
        emulated::refuse({"cp.async", "", 0}, "an address is not aligned");
    if (there)
        memcpy(shared, global, 16);
    else
        memset(shared, 0, 16);
}
inline void cp_async_commit()
{
}
template <int> inline void cp_async_wait()
{
}

inline void *shared_room()
{
    return emulated_shared_memory();
}

/* No better than it is on a device: the last bits are cut off. */
inline double reciprocal_guess(double x)
{
    if (fabs(x) < 0x1p-1022) x = copysign(0, x);
    const double y = 1 / x;
    return fabs(y) < 0x1p-1022 ? copysign(0, y) : __hiloint2double(__double2hiint(y), 0);
}
inline float reciprocal_guess(float x)
{
    if (fabs(x) < 0x1p-126f) x = copysign(0.0f, x);
    const float y = 1 / x;
    return fabs(y) < 0x1p-126f ? copysign(0.0f, y) : __uint_as_float(__float_as_uint(y) & ~1u);
}

inline void keep_here(int &)
{
}

struct mma_operands {
    double *c;
    const double *a, *b;
};

/* C + A B with `halves` x 8 rows and 4 x `steps` inner ones, of which each lane has its numbers. */
template <int halves, int steps> inline void mma_by_all(void *const *given, unsigned lanes)
{
    const auto of = [&](int lane) { return static_cast<const mma_operands *>(given[lane]); };
    if (lanes != ~0u) emulated::refuse({"mma", "", 0}, "lanes of the warp have ended");
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 2 * halves; ++i) {
            const int half = i / 2, row = lane / 4, column = 2 * (lane % 4) + i % 2;
            double sum = of(lane)->c[i];
            for (int k = 0; k < 4 * steps; ++k)
                sum = fma(of(4 * row + k % 4)->a[half + halves * (k / 4)], of(4 * column + k % 4)->b[k / 4],
                          sum);
            of(lane)->c[i] = sum;
        }
}

inline void mma_8x8x4(double (&c)[2], double a, double b, EMULATED_PLACE)
{
    mma_operands own = {c, &a, &b};
    emulated::together(~0u, &own, mma_by_all<1, 1>, {"mma_8x8x4", file, line});
}
inline void mma_16x8x16(double (&c)[4], const double (&a)[8], const double (&b)[4], EMULATED_PLACE)
{
    mma_operands own = {c, a, b};
    emulated::together(~0u, &own, mma_by_all<2, 4>, {"mma_16x8x16", file, line});
}

#endif

} /* namespace sd_cuda */
