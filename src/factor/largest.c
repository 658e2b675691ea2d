/*
 * See largest.h. Numbers that are not negative are in the order of their bits read as whole numbers. So the
 * one of a rank is found digit by digit, the highest first: count those whose higher digits are known to be
 * its own, by the next digit, and see in which of the counts the rank falls. Unlike a selection by pivots it
 * is never slow, and counts are the same whoever adds them up.
 */
#include "factor/largest.h"

#include <string.h>

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & ~(UINT64_C(1) << 63); /* -0 is 0 */
}

double sd_largest(const double *x, int64_t count, int64_t rank, int threads)
{
    uint64_t known = 0;
    for (int shift = 64 - DIGIT; shift >= 0; shift -= DIGIT) {
        int64_t having[DIGITS] = {0};
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(+ : having)
        for (int64_t k = 0; k < count; ++k) {
            const uint64_t bits = bits_of(x[k]) >> shift;
            if (bits >> DIGIT == known) ++having[bits % DIGITS];
        }
        int digit = DIGITS - 1;
        for (; digit > 0 && having[digit] < rank; --digit) rank -= having[digit];
        known = known << DIGIT | (uint64_t)digit;
    }
    double found;
    memcpy(&found, &known, sizeof found);
    return found;
}
