/*
 * Absolute values and signs of small symmetric matrices, by their eigenvalues: for M = V diag(l) V',
 * |M| = V diag(|l|) V' and sign(M) = V diag(sign l) V', so that |M| = sign(M) M.
 */
#pragma once

/* |M|^-1 of M = (a b; b c), as its entries (1, 1), (2, 1), (2, 2). An eigenvalue that is 0, or so much
 * smaller than the other one that it is rounding, counts as 1. */
void sd_absolute_pair(double a, double b, double c, double inverse[3]);

/* Both of M, n x n with n up to 32, which is overwritten; either may be NULL. sign(0) is 1, and |0| is 0. */
void sd_spectral(int n, double *m, double *absolute, double *sign);
