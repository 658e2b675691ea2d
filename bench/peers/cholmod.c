/*
 * CHOLMOD as a peer, for positive definite matrices, METIS ordering: by default supernodal LL', its best;
 * with
 * --setting ldlt simplicial LDL', the only one that it has.
 */
#include "peer.h"

#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static cholmod_common common;
static cholmod_sparse *A;
static cholmod_factor *L;
static cholmod_dense *X, *Y, *E;
static bool ldlt;
static size_t peak; /* of its memory, before solves with many right-hand sides */

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    (void)threads; /* those of the BLAS */
    ldlt = strcmp(setting, "ldlt") == 0;
    const size_t n = (size_t)lower->rows, entries = (size_t)lower->entries;
    cholmod_l_start(&common);
    if (!peer_diagonal_positive(lower)) return peer_error("not positive definite");
    common.print = 0;
    common.supernodal = ldlt ? CHOLMOD_SIMPLICIAL : CHOLMOD_SUPERNODAL;
    common.final_ll = !ldlt;
    common.quick_return_if_not_posdef = 1;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_METIS;
    common.postorder = 1;
    A = cholmod_l_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, &common);
    if (!A) return peer_error("out of memory for the matrix");
    SuiteSparse_long *row = A->i;
    memcpy(A->p, lower->pointers, (n + 1) * sizeof(int64_t));
    for (size_t k = 0; k < entries; ++k) row[k] = lower->indices[k];
    memcpy(A->x, lower->values, entries * sizeof(double));
    return true;
}

static bool analyse(void)
{
    cholmod_l_free_factor(&L, &common);
    L = cholmod_l_analyze(A, &common);
    return L ? true : peer_error("CHOLMOD's analysis returned status %d", common.status);
}

static bool factor(void)
{
    cholmod_l_factorize(A, L, &common);
    peak = common.memory_usage;
    if (common.status == CHOLMOD_NOT_POSDEF) return peer_error("not positive definite");
    return common.status >= CHOLMOD_OK ? true : peer_error("CHOLMOD returned status %d", common.status);
}

static bool solve(int64_t columns, double *x)
{
    const size_t n = A->nrow;
    cholmod_dense B = {.nrow = n, .ncol = (size_t)columns, .nzmax = n * (size_t)columns, .d = n};
    B.x = x;
    B.xtype = CHOLMOD_REAL;
    B.dtype = CHOLMOD_DOUBLE;
    if (!cholmod_l_solve2(CHOLMOD_A, L, &B, NULL, &X, NULL, &Y, &E, &common))
        return peer_error("CHOLMOD's solve returned status %d", common.status);
    memcpy(x, X->x, n * (size_t)columns * sizeof *x);
    return true;
}

static void facts(peer_facts *f)
{
    int version[3];
    cholmod_l_version(version);
    f->factor_nnz = common.lnz;
    f->flops = common.fl;
    f->peak_bytes = (double)peak;
    f->delayed = f->two_by_two = 0;
    if (!ldlt) f->negative = 0; /* the signs of D are not told */
    snprintf(f->version, sizeof f->version, "CHOLMOD %d.%d.%d", version[0], version[1], version[2]);
    snprintf(f->ordering, sizeof f->ordering, "%s", L->ordering == CHOLMOD_METIS ? "metis" : "amd");
}

static void end(void)
{
    cholmod_l_free_dense(&X, &common);
    cholmod_l_free_dense(&Y, &common);
    cholmod_l_free_dense(&E, &common);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&A, &common);
    cholmod_l_finish(&common);
}

int main(int argc, char **argv)
{
    static const peer cholmod = {"cholmod", "ldlt", begin, analyse, factor, solve, facts, end};
    return peer_main(&cholmod, argc, argv);
}
