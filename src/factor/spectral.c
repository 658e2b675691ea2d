/*
 * Eigenvalues of small symmetric matrices by Jacobi's rotations, sweep by sweep over all pairs of rows
 * (H. Rutishauser, The Jacobi method for real symmetric matrices, Numer. Math. 9, 1966): slow for large
 * matrices, but simple, and small eigenvalues are as accurate as the matrix allows.
 */
#include "factor/spectral.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST = 32, SWEEPS = 40 };

void sd_absolute_pair(double a, double b, double c, double inverse[3])
{
    const double half = 0.5 * (a + c), radius = hypot(0.5 * (a - c), b);
    const double large = half >= 0 ? half + radius : half - radius;
    double small = large == 0 ? 0 : (a / large) * c - (b / large) * b;
    double x = b, y = small - a; /* (a - small) x + b y = 0 */
    if (fabs(c - small) > fabs(a - small)) x = small - c, y = b;
    const double norm = hypot(x, y);
    x = norm == 0 ? 1 : x / norm;
    y = norm == 0 ? 0 : y / norm;
    if (fabs(small) <= 8 * DBL_EPSILON * fabs(large)) small = 1;
    const double of_small = 1 / fabs(small), of_large = large == 0 ? 1 : 1 / fabs(large);
    inverse[0] = of_small * x * x + of_large * y * y;
    inverse[1] = (of_small - of_large) * x * y;
    inverse[2] = of_small * y * y + of_large * x * x;
}

/* Makes entry (p, q) zero; v turns along. */
static void rotate(int n, double *m, double *v, int p, int q)
{
    const double theta = (m[q + q * n] - m[p + p * n]) / (2 * m[p + q * n]);
    const double t = isinf(theta) ? 0 : (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / hypot(t, 1), s = t * c;
    for (int k = 0; k < n; ++k) { /* columns */
        const double x = m[k + p * n], y = m[k + q * n];
        m[k + p * n] = c * x - s * y;
        m[k + q * n] = s * x + c * y;
    }
    for (int k = 0; k < n; ++k) { /* and rows */
        const double x = m[p + k * n], y = m[q + k * n];
        m[p + k * n] = c * x - s * y;
        m[q + k * n] = s * x + c * y;
    }
    m[p + q * n] = m[q + p * n] = 0;
    for (int k = 0; k < n; ++k) {
        const double x = v[k + p * n], y = v[k + q * n];
        v[k + p * n] = c * x - s * y;
        v[k + q * n] = s * x + c * y;
    }
}

/* Whether an entry still counts beside the diagonal entries of its row and column. */
static bool counts(int n, const double *m, int p, int q)
{
    const double size = fabs(m[p + q * n]);
    return size > 0 && size > 0.25 * DBL_EPSILON * sqrt(fabs(m[p + p * n])) * sqrt(fabs(m[q + q * n]));
}

/* m becomes diagonal, v has the eigenvectors as its columns. */
static void diagonalise(int n, double *m, double *v)
{
    bool changed = true;
    memset(v, 0, (size_t)(n * n) * sizeof *v);
    for (int k = 0; k < n; ++k) v[k + k * n] = 1;
    for (int sweep = 0; sweep < SWEEPS && changed; ++sweep) {
        changed = false;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                if (!counts(n, m, p, q)) continue;
                rotate(n, m, v, p, q);
                changed = true;
            }
    }
}

/* to = V diag(of) V', its two triangles the same to the last bit. */
static void compose(int n, const double *v, const double *of, double *to)
{
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += of[k] * v[i + k * n] * v[j + k * n];
            to[i + j * n] = to[j + i * n] = sum;
        }
}

void sd_spectral(int n, double *m, double *absolute, double *sign)
{
    double v[MOST * MOST], size[MOST], signs[MOST];
    diagonalise(n, m, v);
    for (int k = 0; k < n; ++k) {
        size[k] = fabs(m[k + k * n]);
        signs[k] = m[k + k * n] < 0 ? -1 : 1;
    }
    if (absolute) compose(n, v, size, absolute);
    if (sign) compose(n, v, signs, sign);
}
