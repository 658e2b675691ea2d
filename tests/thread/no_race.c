/* The ways in which the cpu backend uses OpenMP, without a race: ThreadSanitizer must stay silent. */
#include <stdio.h>

enum { N = 65536, CHUNK = 1024, CHUNKS = N / CHUNK };

int main(void)
{
    static double x[N], part[CHUNKS];
    double sum = 0;
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(4) schedule(static)
        for (int i = 0; i < N; ++i) x[i] = i + round;
#pragma omp parallel num_threads(4)
        {
#pragma omp for schedule(dynamic, 1)
            for (int c = 0; c < CHUNKS; ++c) {
                part[c] = 0;
                for (int i = c * CHUNK; i < (c + 1) * CHUNK; ++i) part[c] += x[i];
            }
#pragma omp for
            for (int i = 0; i < N; ++i) x[N - 1 - i] = part[i / CHUNK];
        }
        for (int c = 0; c < CHUNKS; ++c) sum += part[c];
    }
    printf("%g\n", sum);
    return sum > 0 ? 0 : 1;
}
