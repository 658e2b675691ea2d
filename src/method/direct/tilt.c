/*
 * Matrices whose entries are too far apart for double precision: products of a scaling with them overflow or
 * underflow before both factors have met. Such a matrix is balanced first by powers of two, 2^(t_i + t_j)
 * a_ij, which is exact, with t from Ruiz' method (D. Ruiz, A scaling algorithm to equilibrate both rows and
 * columns norms in matrices, 2001) on the exponents; everything else is done with the balanced matrix.
 */
#include "method/direct/direct.h"

#include <math.h>
#include <string.h>

enum {
    FAR = 300,   /* powers of two between the largest and the least entry */
    SUITS = 40,  /* the power of two that an entry balanced by an earlier balance may have */
    SWEEPS = 24, /* the distance to balance halves each time, from 2098 at most */
    NONE = -100000
};

/* Magnitudes in the order of their bits: one more than those of a positive number, 0 for 0. */
static uint64_t size_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits << 1;
}

/* ilogb of a number that is not 0, in line where it is a normal one. */
static int exponent_of(double value)
{
    const int biased = (int)(size_of(value) >> 53);
    return biased > 0 ? biased - 1023 : ilogb(value);
}

bool sd_direct_are_far(double largest, double smallest)
{
    return largest > 0 && (size_of(largest) >> 53) > (size_of(smallest) >> 53) + FAR;
}

bool sd_direct_is_far(const sd_csr *M)
{
    uint64_t most = 0, least = UINT64_MAX; /* 0 - 1 is larger than all others */
    for (int64_t k = 0; k < M->nnz; ++k) {
        const uint64_t size = size_of(M->val[k]), below = size - 1;
        most = size > most ? size : most;
        least = below < least ? below : least;
    }
    return most > 0 && (most >> 53) > ((least + 1) >> 53) + FAR;
}

/* The exponents of the largest balanced entry of every row. */
static void find_largest(const sd_csr *M, const double *t, double *largest)
{
    for (int32_t i = 0; i < M->n; ++i) largest[i] = NONE;
    for (int32_t i = 0; i < M->n; ++i) {
        for (int64_t k = M->ptr[i]; k < M->ptr[i + 1]; ++k) {
            const int32_t j = M->ind[k];
            if (M->val[k] == 0) continue;
            const double exponent = exponent_of(M->val[k]) + t[i] + t[j];
            if (exponent > largest[i]) largest[i] = exponent;
            if (M->half && exponent > largest[j]) largest[j] = exponent;
        }
    }
}

bool sd_direct_is_balanced(const sd_csr *M, const int32_t *tilt)
{
    for (int32_t i = 0; i < M->n; ++i) {
        for (int64_t k = M->ptr[i]; k < M->ptr[i + 1]; ++k)
            if (M->val[k] != 0 && exponent_of(M->val[k]) + tilt[i] + tilt[M->ind[k]] > SUITS) return false;
    }
    return true;
}

saddle_status sd_direct_balance(sd_context *c, const sd_csr *M, int32_t *tilt)
{
    double *t = sd_alloc_zero(c, 2 * (int64_t)M->n, sizeof *t, "balance");
    if (!t) return c->status;
    double *const largest = t + M->n;
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        find_largest(M, t, largest);
        for (int32_t i = 0; i < M->n; ++i)
            if (largest[i] > NONE) t[i] -= 0.5 * largest[i];
    }
    for (int32_t i = 0; i < M->n; ++i) tilt[i] = (int32_t)lround(t[i]);
    sd_free(c, t);
    return SADDLE_OK;
}

int64_t sd_direct_tilted(const sd_csr *M, const int32_t *tilt, double *to)
{
    int64_t lost = 0;
    for (int32_t i = 0; i < M->n; ++i) {
        for (int64_t k = M->ptr[i]; k < M->ptr[i + 1]; ++k) {
            const int shift = tilt[i] + tilt[M->ind[k]];
            to[k] = ldexp(M->val[k], shift);
            lost += ldexp(to[k], -shift) != M->val[k];
        }
    }
    return lost;
}
