/*
 * Block-Jacobi: four species diffuse over an M x M grid and react with each other at every point. The
 * reactions are strong, so the diagonal block of a point contains most of the coupling, and inverting it
 * takes fewer iterations than the diagonal alone. The device may be given: block_jacobi cuda.
 */
#include <saddle/saddle.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 40, SPECIES = 4, N = M * M * SPECIES, ENTRIES = N * (SPECIES + 4) };

static int32_t rowptr[N + 1], colind[ENTRIES];
static double values[ENTRIES], b[N], x[N];

/* A = diffusion (5-point) + reactions (a dense 4 x 4 block at each point), by rows. */
static saddle_matrix make_matrix(void)
{
    static const double reaction[SPECIES][SPECIES] = {
        {60, -59, 0, 0}, {-20, 100, -79, 0}, {0, -30, 90, -59}, {-40, 0, -20, 61}};
    static const int across[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    int32_t k = 0;
    for (int p = 0; p < M * M; ++p) {
        for (int s = 0; s < SPECIES; ++s) {
            rowptr[p * SPECIES + s] = k;
            for (int t = 0; t < SPECIES; ++t, ++k) {
                colind[k] = p * SPECIES + t;
                values[k] = reaction[s][t] + (s == t ? 4 : 0);
            }
            for (int a = 0; a < 4; ++a) {
                const int i = p % M + across[a][0], j = p / M + across[a][1];
                if (i < 0 || i >= M || j < 0 || j >= M) continue;
                colind[k] = (j * M + i) * SPECIES + s;
                values[k++] = -1;
            }
        }
    }
    rowptr[N] = k;
    return saddle_general(N, rowptr, colind, values);
}

/* Solves with blocks of at most `size` rows; returns the iterations, -1 on failure. */
static int64_t solve(const saddle_matrix *A, const char *device, int size)
{
    char message[SADDLE_MESSAGE_SIZE];
    saddle_options options = saddle_options_default();
    saddle_info info = saddle_info_default();
    options.method = SADDLE_METHOD_BJACOBI;
    options.blocking =
        SADDLE_BLOCKING_SUPERVARIABLES; /* rows with the same pattern: the species of a point */
    options.block_size = size;
    options.krylov = SADDLE_KRYLOV_BICGSTAB;
    if (saddle_options_set(&options, "device", device, message) != SADDLE_OK) {
        fprintf(stderr, "%s\n", message);
        return -1;
    }
    if (saddle_solve_once(A, b, x, &options, &info) != SADDLE_OK) {
        fprintf(stderr, "%s\n", info.message);
        return -1;
    }
    printf("%lld blocks of at most %lld rows: %lld iterations, relative residual %.1e\n",
           (long long)info.blocks, (long long)info.block_size, (long long)info.iterations,
           info.relative_residual);
    return info.iterations;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cpu";
    const saddle_matrix A = make_matrix();
    for (int i = 0; i < N; ++i) b[i] = 1;
    const int64_t single = solve(&A, device, 1), blocks = solve(&A, device, SPECIES);
    return single > 0 && blocks > 0 && blocks < single ? 0 : 1;
}
