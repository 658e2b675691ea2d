/*
 * Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna, 2018), its
 * state filled from the seed by splitmix64. `solve --rhs random` and `gen` draw from it, so a seed
 * written in a report gives the same problem again.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct random_stream {
    uint64_t state[4];
    double spare; /* the second number of the last pair of normals */
    bool has_spare;
} random_stream;

/* Every seed will do, 0 too: splitmix64 never gives four zeros in a row. */
static inline random_stream random_begin(uint64_t seed)
{
    random_stream r = {{0}, 0.0, false};
    for (int k = 0; k < 4; ++k) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        r.state[k] = z ^ (z >> 31);
    }
    return r;
}

static inline uint64_t random_rotate(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

/* 64 random bits. */
static inline uint64_t random_bits(random_stream *r)
{
    uint64_t *s = r->state;
    const uint64_t result = random_rotate(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = random_rotate(s[3], 45);
    return result;
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double random_uniform(random_stream *r)
{
    return (double)(random_bits(r) >> 11) * 0x1p-53;
}

/* Uniform in [low, high). */
static inline double random_between(random_stream *r, double low, double high)
{
    return low + (high - low) * random_uniform(r);
}

/* Uniform in 0 .. count - 1, for count > 0, without bias: draws beyond the last whole multiple of
 * count are thrown away. */
static inline uint64_t random_below(random_stream *r, uint64_t count)
{
    const uint64_t reject = (UINT64_MAX - count + 1) % count;
    uint64_t bits;
    do bits = random_bits(r);
    while (bits < reject);
    return bits % count;
}

/* Standard normal, by Box and Muller: a pair from two uniforms, the first of them never 0. */
static inline double random_normal(random_stream *r)
{
    if (r->has_spare) {
        r->has_spare = false;
        return r->spare;
    }
    const double radius = sqrt(-2.0 * log(1.0 - random_uniform(r)));
    const double angle = 6.283185307179586476925286766559 * random_uniform(r);
    r->spare = radius * sin(angle);
    r->has_spare = true;
    return radius * cos(angle);
}
