/*
 * LAPACK as a peer: the dense dsysv, in its two halves dsytrf and dsytrs. What a caller with a tiny system
 * would use who has no sparse solver. A factorization begins with filling the square anew.
 */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2000 }; /* rows: 32 MB */

void dsytrf_(const char *uplo, const int *n, double *a, const int *lda, int *pivots, double *work,
             const int *lwork, int *info, size_t length);
void dsytrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivots, double *b, const int *ldb, int *info, size_t length);

static const saddle_matrix *A;
static int n, *pivots, work_room;
static double *square, *work;

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    double best = 0.0;
    int info = 0;
    const int ask = -1;
    (void)setting;
    (void)threads; /* those of the BLAS */
    A = lower;
    if (lower->rows > MOST) return peer_error("more than %d rows: too many for a dense matrix", MOST);
    n = (int)lower->rows;
    const int lead = n > 0 ? n : 1;
    square = malloc(((size_t)n * (size_t)n + 1) * sizeof *square);
    pivots = malloc(((size_t)n + 1) * sizeof *pivots);
    if (!square || !pivots) return peer_error("out of memory for the matrix");
    dsytrf_("L", &n, square, &lead, pivots, &best, &ask, &info, 1);
    work_room = (int)best;
    work = malloc(((size_t)work_room + 1) * sizeof *work);
    return work ? true : peer_error("out of memory for the workspace");
}

static bool analyse(void)
{
    return true;
}

static bool factor(void)
{
    const int64_t *pointers = A->pointers;
    const double *values = A->values;
    const int lead = n > 0 ? n : 1;
    int info = 0;
    memset(square, 0, (size_t)n * (size_t)n * sizeof *square);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t k = pointers[j]; k < pointers[j + 1]; ++k) square[A->indices[k] + j * n] = values[k];
    dsytrf_("L", &n, square, &lead, pivots, work, &work_room, &info, 1);
    return info == 0 ? true : peer_error("dsytrf returned info %d", info);
}

static bool solve(int64_t columns, double *x)
{
    const int nrhs = (int)columns, lead = n > 0 ? n : 1;
    int info = 0;
    dsytrs_("L", &n, &nrhs, square, &lead, pivots, x, &lead, &info, 1);
    return info == 0 ? true : peer_error("dsytrs returned info %d", info);
}

static void facts(peer_facts *f)
{
    f->factor_nnz = 0.5 * n * (n + 1.0);
    f->flops = (double)n * n * n / 3.0;
    snprintf(f->version, sizeof f->version, "LAPACK dsysv");
    snprintf(f->ordering, sizeof f->ordering, "none");
}

static void end(void)
{
    free(square);
    free(pivots);
    free(work);
}

int main(int argc, char **argv)
{
    static const peer lapack = {"lapack", NULL, begin, analyse, factor, solve, facts, end};
    return peer_main(&lapack, argc, argv);
}
