/*
 * MUMPS as a peer: SYM = 2 (symmetric indefinite, for positive definite matrices too, which is the
 * comparison that a user makes who does not know), 80 % more workspace than predicted, no refinement, no
 * null pivots, its own scaling and threshold; one process.
 *
 * METIS is asked for, ICNTL(7) = 5; a MUMPS that is built without it, as Debian's is, takes SCOTCH or AMF
 * in its place, and says so in INFOG(7). With --setting metis METIS is called here and its order given,
 * within the time of the analysis: MUMPS then leaves out its matching and the compressed graph, which costs
 * it dearly on matrices with zeros on the diagonal.
 *
 * Two more settings are what its users' guide offers for a kind of matrix: posdef is SYM = 1, without
 * pivoting, for positive definite ones; compressed is ICNTL(12) = 2, the ordering of the graph in which the
 * pairs of a matching are one vertex, for augmented systems, with the matching that maximises the product,
 * ICNTL(6) = 5.
 */
#include "peer.h"

#include <dmumps_c.h>
#include <math.h>
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arrays of the manual are counted from 1. */
#define ICNTL(k) id.icntl[(k)-1]
#define INFOG(k) id.infog[(k)-1]
#define RINFOG(k) id.rinfog[(k)-1]

enum { JOB_BEGIN = -1, JOB_END = -2, JOB_ANALYSE = 1, JOB_FACTOR = 2, JOB_SOLVE = 3 };
enum { ORDER_GIVEN = 1, ORDER_METIS = 5 };
enum { WORKSPACE_SMALL = -9, WORKSPACE_SMALL_TOO = -8 };

static DMUMPS_STRUC_C id;
static bool begun, give_metis, posdef;
static idx_t *graph_start, *graph_next, *order, *position;

static bool run_job(int job)
{
    id.job = job;
    dmumps_c(&id);
    return INFOG(1) >= 0 ? true
                         : peer_error("MUMPS returned INFOG(1) = %d, INFOG(2) = %d", INFOG(1), INFOG(2));
}

/* Both ends of every edge, without loops, in rising order. */
static bool make_graph(const saddle_matrix *lower)
{
    const int64_t n = lower->rows, *start = lower->pointers;
    graph_start = calloc((size_t)n + 2, sizeof *graph_start);
    graph_next = malloc(((size_t)lower->entries * 2 + 1) * sizeof *graph_next);
    order = malloc(((size_t)n + 1) * sizeof *order);
    position = malloc(((size_t)n + 1) * sizeof *position);
    if (!graph_start || !graph_next || !order || !position) return peer_error("out of memory for the graph");
    for (int64_t j = 0; j < n; ++j)
        for (int64_t k = start[j]; k < start[j + 1]; ++k) {
            if (lower->indices[k] == j) continue;
            graph_start[j + 2]++;
            graph_start[lower->indices[k] + 2]++;
        }
    for (int64_t j = 0; j < n; ++j) graph_start[j + 2] += graph_start[j + 1];
    for (int64_t j = 0; j < n; ++j)
        for (int64_t k = start[j]; k < start[j + 1]; ++k) {
            const int32_t i = lower->indices[k];
            if (i == j) continue;
            graph_next[graph_start[i + 1]++] = (idx_t)j;
            graph_next[graph_start[j + 1]++] = i;
        }
    return true;
}

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    const int64_t n = lower->rows, *start = lower->pointers;
    const bool metis = strcmp(setting, "metis") == 0;
    (void)threads; /* those of the BLAS */
    posdef = strcmp(setting, "posdef") == 0;
    if (posdef && !peer_diagonal_positive(lower)) return peer_error("not positive definite");
    id.par = 1;
    id.sym = posdef ? 1 : 2;
    id.comm_fortran = -987654; /* MPI_COMM_WORLD, says the manual */
    if (!run_job(JOB_BEGIN)) return false;
    begun = true;
    for (int k = 1; k <= 4; ++k) ICNTL(k) = k == 4 ? 0 : -1; /* prints nothing */
    give_metis = metis;
    ICNTL(7) = metis ? ORDER_GIVEN : ORDER_METIS;
    if (strcmp(setting, "compressed") == 0) {
        ICNTL(6) = 5;
        ICNTL(12) = 2;
    }
    ICNTL(10) = 0;
    ICNTL(14) = 80;
    ICNTL(24) = 0;
    id.n = (MUMPS_INT)n;
    id.nnz = lower->entries;
    id.irn = malloc(((size_t)lower->entries + 1) * sizeof *id.irn);
    id.jcn = malloc(((size_t)lower->entries + 1) * sizeof *id.jcn);
    id.a = malloc(((size_t)lower->entries + 1) * sizeof *id.a);
    if (!id.irn || !id.jcn || !id.a) return peer_error("out of memory for the matrix");
    for (int64_t j = 0; j < n; ++j)
        for (int64_t k = start[j]; k < start[j + 1]; ++k) {
            id.irn[k] = lower->indices[k] + 1;
            id.jcn[k] = (MUMPS_INT)j + 1;
        }
    memcpy(id.a, lower->values, (size_t)lower->entries * sizeof *id.a);
    return metis ? make_graph(lower) : true;
}

/* MUMPS wants the position of each row, from 1. */
static bool order_by_metis(void)
{
    idx_t n = (idx_t)id.n;
    if (graph_start[n] == 0)
        for (idx_t i = 0; i < n; ++i) position[i] = i;
    else if (METIS_NodeND(&n, graph_start, graph_next, NULL, NULL, order, position) != METIS_OK)
        return peer_error("METIS failed");
    for (idx_t i = 0; i < n; ++i) position[i]++;
    id.perm_in = position;
    return true;
}

static bool analyse(void)
{
    return (!give_metis || order_by_metis()) && run_job(JOB_ANALYSE);
}

/* Where many pivots are delayed the workspace is too small and MUMPS has to be asked again. */
static bool factor(void)
{
    while (!run_job(JOB_FACTOR)) {
        const bool small = INFOG(1) == WORKSPACE_SMALL || INFOG(1) == WORKSPACE_SMALL_TOO;
        if (!small || ICNTL(14) > 3000) return false;
        ICNTL(14) *= 2;
    }
    return posdef && INFOG(12) > 0 ? peer_error("not positive definite") : true;
}

static bool solve(int64_t columns, double *x)
{
    id.rhs = x;
    id.nrhs = (MUMPS_INT)columns;
    id.lrhs = id.n;
    return run_job(JOB_SOLVE);
}

/* A negative count is in millions. */
static double count_of(int infog)
{
    return infog < 0 ? -1e6 * infog : infog;
}

static void facts(peer_facts *f)
{
    static const char *const orderings[] = {"amd", "given", "amf", "scotch", "pord", "metis", "qamd"};
    f->factor_nnz = count_of(INFOG(29));
    f->flops = RINFOG(3);
    f->peak_bytes = (int64_t)INFOG(22) * 1000000;
    f->delayed = INFOG(13);
    f->two_by_two = id.keep[229 - 1];
    f->negative = INFOG(12);
    snprintf(f->version, sizeof f->version, "MUMPS %s", id.version_number);
    if (give_metis)
        snprintf(f->ordering, sizeof f->ordering, "metis");
    else if (INFOG(7) >= 0 && INFOG(7) <= 6)
        snprintf(f->ordering, sizeof f->ordering, "%s", orderings[INFOG(7)]);
}

static void end(void)
{
    id.perm_in = NULL; /* they are ours */
    id.rhs = NULL;
    if (begun) run_job(JOB_END);
    free(id.irn);
    free(id.jcn);
    free(id.a);
    free(graph_start);
    free(graph_next);
    free(order);
    free(position);
}

int main(int argc, char **argv)
{
    static const peer mumps = {"mumps", "metis|posdef|compressed", begin, analyse, factor, solve, facts, end};
    return peer_main(&mumps, argc, argv);
}
