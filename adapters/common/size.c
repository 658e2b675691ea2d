/* The library scales A by S so that 2^-e S A S has entries of about 1, and counts the power of two to D.
 * Hosts know a scaled matrix as one with entries of about 1, so what they call small is that, times this
 * size. */
#include "adapters/common/size.h"

#include <math.h>

double door_size(int64_t count, const double *values)
{
    double largest = 0;
    for (int64_t k = 0; k < count; ++k) largest = fmax(largest, fabs(values[k]));
    return largest > 0 ? ldexp(1, ilogb(largest)) : 1;
}
