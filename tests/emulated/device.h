/* The words, variables and functions of device code. */
#pragma once

/* ---- words ---- */

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
/* A block has shared memory to itself while it runs. All such variables, and nothing else, are the
 * thread-local memory of the module, which is thus one piece that can be filled with garbage: shared.cc. */
#define __shared__ static thread_local

/* ---- where a thread is ---- */

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};
extern uint3 threadIdx, blockIdx; /* of the fiber that runs: set at every switch */
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
inline int2 make_int2(int x, int y)
{
    return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w)
{
    return {x, y, z, w};
}
inline float2 make_float2(float x, float y)
{
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y)
{
    return {x, y};
}

/* ---- threads that wait for one another ---- */

/* Dynamic shared memory of the block; NULL where the launch asked for none. */
void *emulated_shared_memory();

/* Lets others run, of this block and of all that are alive: to be called wherever a thread waits for what
 * another writes. */
void emulated_yield();

/* The word, which the host may have written in the meantime: knobs.h. */
int emulated_look(const int *at);

namespace emulated
{

/* A call in the source: for the message of a deadlock. */
struct place {
    const char *what, *file;
    int line;
};

/* What the lanes of a warp do together once all are there; given[k] is what lane k of `lanes` brought. */
typedef void (*action)(void *const *given, unsigned lanes);

/* Waits until all lanes of the mask that have not ended are at this action with this mask; the last to come
 * does it for all. */
void together(unsigned mask, void *given, action act, place at);

/* Waits for all threads of the block that have not ended: how many there are, and in how many `yes`. */
struct votes {
    int all, yes;
};
votes meet(bool yes, place at);

int lane();

/* Prints what the thread did wrong, and aborts. */
[[noreturn]] void refuse(place at, const char *why);

/* Numbers that nobody wrote: not a number in both precisions, and no index. */
constexpr uint64_t GARBAGE = 0xfff7fff7fff7fff7u;

template <class F> inline void each_lane(unsigned lanes, const F &f)
{
    for (; lanes; lanes &= lanes - 1) f(__builtin_ctz(lanes));
}

template <class T, class F> inline void join(void *const *given, unsigned lanes, const F &f)
{
    T sum = *static_cast<T *>(given[__builtin_ctz(lanes)]);
    each_lane(lanes & (lanes - 1), [&](int k) { sum = f(sum, *static_cast<T *>(given[k])); });
    each_lane(lanes, [&](int k) { *static_cast<T *>(given[k]) = sum; });
}

struct shuffled {
    uint64_t value;
    int from; /* lane; one outside the mask has nothing to give */
};
void shuffle(void *const *given, unsigned lanes);

template <class T> inline T take_from(unsigned mask, T value, int from, place at)
{
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= sizeof(uint64_t), "one number");
    shuffled s = {0, from};
    memcpy(&s.value, &value, sizeof value);
    together(mask, &s, shuffle, at);
    memcpy(&value, &s.value, sizeof value);
    return value;
}

} /* namespace emulated */

#define EMULATED_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(EMULATED_PLACE)
{
    emulated::meet(false, {"__syncthreads", file, line});
}
inline int __syncthreads_or(int yes, EMULATED_PLACE)
{
    return emulated::meet(yes, {"__syncthreads_or", file, line}).yes > 0;
}
inline int __syncthreads_and(int yes, EMULATED_PLACE)
{
    const emulated::votes v = emulated::meet(yes, {"__syncthreads_and", file, line});
    return v.yes == v.all;
}
inline int __syncthreads_count(int yes, EMULATED_PLACE)
{
    return emulated::meet(yes, {"__syncthreads_count", file, line}).yes;
}

inline void __syncwarp(unsigned mask = ~0u, EMULATED_PLACE)
{
    emulated::together(mask, nullptr, [](void *const *, unsigned) {}, {"__syncwarp", file, line});
}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int from, int width = warpSize, EMULATED_PLACE)
{
    const int first = emulated::lane() & ~(width - 1);
    return emulated::take_from(mask, value, first | (from & (width - 1)), {"__shfl_sync", file, line});
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = warpSize, EMULATED_PLACE)
{
    const int own = emulated::lane(), first = own & ~(width - 1), from = own - static_cast<int>(by);
    return emulated::take_from(mask, value, from < first ? own : from, {"__shfl_up_sync", file, line});
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = warpSize, EMULATED_PLACE)
{
    const int own = emulated::lane(), end = (own & ~(width - 1)) + width, from = own + static_cast<int>(by);
    return emulated::take_from(mask, value, from >= end ? own : from, {"__shfl_down_sync", file, line});
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = warpSize, EMULATED_PLACE)
{
    const int own = emulated::lane(), end = (own & ~(width - 1)) + width, from = own ^ bits;
    return emulated::take_from(mask, value, from >= end ? own : from, {"__shfl_xor_sync", file, line});
}

inline unsigned __ballot_sync(unsigned mask, int yes, EMULATED_PLACE)
{
    unsigned ballot = yes ? 1u << emulated::lane() : 0;
    emulated::together(mask, &ballot,
                       [](void *const *given, unsigned lanes) {
                           emulated::join<unsigned>(given, lanes,
                                                    [](unsigned a, unsigned b) { return a | b; });
                       },
                       {"__ballot_sync", file, line});
    return ballot;
}
inline int __any_sync(unsigned mask, int yes, EMULATED_PLACE)
{
    return __ballot_sync(mask, yes, file, line) != 0;
}
inline int __all_sync(unsigned mask, int yes, EMULATED_PLACE)
{
    return __ballot_sync(mask, !yes, file, line) == 0;
}

/* The lane alone: others may or may not be with it. */
inline unsigned __activemask()
{
    return 1u << emulated::lane();
}

#define EMULATED_REDUCE(name, T, result)                                                                     \
    inline T name(unsigned mask, T value, EMULATED_PLACE)                                                    \
    {                                                                                                        \
        emulated::together(mask, &value,                                                                     \
                           [](void *const *given, unsigned lanes) {                                          \
                               emulated::join<T>(given, lanes, [](T a, T b) { return result; });             \
                           },                                                                                \
                           {#name, file, line});                                                             \
        return value;                                                                                        \
    }
EMULATED_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMULATED_REDUCE(__reduce_max_sync, int, a > b ? a : b)
EMULATED_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMULATED_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMULATED_REDUCE(__reduce_add_sync, unsigned, a + b)
EMULATED_REDUCE(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
EMULATED_REDUCE(__reduce_or_sync, unsigned, a | b)
EMULATED_REDUCE(__reduce_and_sync, unsigned, a &b)
EMULATED_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef EMULATED_REDUCE

template <class T> inline unsigned __match_any_sync(unsigned mask, T value, EMULATED_PLACE)
{
    unsigned alike = 0;
    for (int k = 0; k < warpSize; ++k) {
        if (!(mask >> k & 1)) continue;
        const T other = emulated::take_from(mask, value, k, {"__match_any_sync", file, line});
        if (other == value) alike |= 1u << k;
    }
    return alike;
}

/* ---- memory: one thread of the host runs all fibers, and they switch nowhere else ---- */

template <class T> struct emulated_same {
    typedef T type;
};
template <class T> using emulated_operand = typename emulated_same<T>::type;

#define EMULATED_ATOMIC(name, result)                                                                        \
    template <class T> inline T name(T *at, emulated_operand<T> by)                                          \
    {                                                                                                        \
        const T old = *at;                                                                                   \
        *at = static_cast<T>(result);                                                                        \
        return old;                                                                                          \
    }
EMULATED_ATOMIC(atomicAdd, old + by)
EMULATED_ATOMIC(atomicSub, old - by)
EMULATED_ATOMIC(atomicMax, old > by ? old : by)
EMULATED_ATOMIC(atomicMin, old < by ? old : by)
EMULATED_ATOMIC(atomicOr, old | by)
EMULATED_ATOMIC(atomicAnd, old &by)
EMULATED_ATOMIC(atomicXor, old ^ by)
EMULATED_ATOMIC(atomicExch, by)
EMULATED_ATOMIC(atomicInc, old >= by ? 0 : old + 1)
#undef EMULATED_ATOMIC
template <class T> inline T atomicCAS(T *at, emulated_operand<T> expected, emulated_operand<T> by)
{
    const T old = *at;
    if (old == expected) *at = by;
    return old;
}

inline void __threadfence()
{
}
inline void __threadfence_block()
{
}
inline void __threadfence_system()
{
}
inline void __nanosleep(unsigned)
{
    emulated_yield();
}
template <class T> inline T __ldg(const T *at)
{
    return *at;
}
template <class T> inline T __ldcg(const T *at)
{
    return *at;
}
template <class T> inline T __ldcs(const T *at)
{
    return *at;
}
template <class T> inline void __stcg(T *at, emulated_operand<T> value)
{
    *at = value;
}
template <class T> inline void __stcs(T *at, emulated_operand<T> value)
{
    *at = value;
}

/* ---- numbers ---- */

namespace emulated
{
template <class To, class From> inline To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
double fma_up(double a, double b, double c);   /* rounded towards +infinity */
double fma_down(double a, double b, double c); /* and towards -infinity */
} /* namespace emulated */

inline long long __double_as_longlong(double a)
{
    return emulated::bits_as<long long>(a);
}
inline double __longlong_as_double(long long a)
{
    return emulated::bits_as<double>(a);
}
inline int __float_as_int(float a)
{
    return emulated::bits_as<int>(a);
}
inline unsigned __float_as_uint(float a)
{
    return emulated::bits_as<unsigned>(a);
}
inline float __int_as_float(int a)
{
    return emulated::bits_as<float>(a);
}
inline float __uint_as_float(unsigned a)
{
    return emulated::bits_as<float>(a);
}
inline int __double2hiint(double a)
{
    return static_cast<int>(emulated::bits_as<uint64_t>(a) >> 32);
}
inline int __double2loint(double a)
{
    return static_cast<int>(emulated::bits_as<uint64_t>(a));
}
inline double __hiloint2double(int high, int low)
{
    return emulated::bits_as<double>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 |
                                     static_cast<uint32_t>(low));
}

inline int __popc(unsigned a)
{
    return __builtin_popcount(a);
}
inline int __popcll(unsigned long long a)
{
    return __builtin_popcountll(a);
}
inline int __ffs(int a)
{
    return __builtin_ffs(a);
}
inline int __ffsll(long long a)
{
    return __builtin_ffsll(a);
}
inline int __clz(int a)
{
    return a ? __builtin_clz(static_cast<unsigned>(a)) : 32;
}
inline int __clzll(long long a)
{
    return a ? __builtin_clzll(static_cast<unsigned long long>(a)) : 64;
}
inline unsigned __brev(unsigned a)
{
    unsigned turned = 0;
    for (int k = 0; k < 32; ++k) turned |= (a >> k & 1) << (31 - k);
    return turned;
}

inline double __fma_rn(double a, double b, double c)
{
    return std::fma(a, b, c);
}
inline float __fmaf_rn(float a, float b, float c)
{
    return std::fma(a, b, c);
}
inline double __fma_ru(double a, double b, double c)
{
    return emulated::fma_up(a, b, c);
}
inline double __fma_rd(double a, double b, double c)
{
    return emulated::fma_down(a, b, c);
}
inline double __dadd_rn(double a, double b)
{
    return a + b;
}
inline double __dsub_rn(double a, double b)
{
    return a - b;
}
inline double __dmul_rn(double a, double b)
{
    return a * b;
}
inline double __ddiv_rn(double a, double b)
{
    return a / b;
}
inline double __drcp_rn(double a)
{
    return 1 / a;
}
inline double __dsqrt_rn(double a)
{
    return std::sqrt(a);
}
inline float __fadd_rn(float a, float b)
{
    return a + b;
}
inline float __fsub_rn(float a, float b)
{
    return a - b;
}
inline float __fmul_rn(float a, float b)
{
    return a * b;
}
inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
inline double rsqrt(double a)
{
    return 1 / std::sqrt(a);
}

#define EMULATED_EXTREMES(T)                                                                                 \
    inline T max(T a, T b)                                                                                   \
    {                                                                                                        \
        return a > b ? a : b;                                                                                \
    }                                                                                                        \
    inline T min(T a, T b)                                                                                   \
    {                                                                                                        \
        return a < b ? a : b;                                                                                \
    }
EMULATED_EXTREMES(int)
EMULATED_EXTREMES(unsigned)
EMULATED_EXTREMES(long)
EMULATED_EXTREMES(unsigned long)
EMULATED_EXTREMES(long long)
EMULATED_EXTREMES(unsigned long long)
#undef EMULATED_EXTREMES
#define EMULATED_EXTREMES(T)                                                                                 \
    inline T max(T a, T b)                                                                                   \
    {                                                                                                        \
        return std::fmax(a, b);                                                                              \
    }                                                                                                        \
    inline T min(T a, T b)                                                                                   \
    {                                                                                                        \
        return std::fmin(a, b);                                                                              \
    }
EMULATED_EXTREMES(float)
EMULATED_EXTREMES(double)
#undef EMULATED_EXTREMES
