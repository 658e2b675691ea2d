/*
 * PARDISO of Intel's MKL as a peer: mtype -2, symmetric indefinite, for positive definite matrices too. By
 * default with its own defaults: no scaling, no matching, pivots below 1e-8 of the norm replaced. With
 * --setting matching the scaling and the matching that its manual advises for saddle-point systems.
 * Refinement is its own choice: up to two steps where pivots were replaced.
 *
 * It is called through libmkl_rt, whose layers are chosen at run time: 32-bit integers, no threads for one
 * thread, else GNU's OpenMP, which the process has already. The arrays of the manual are counted from 1.
 */
#include "peer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of mkl_pardiso.h and mkl_service.h, so that the library alone is enough. */
void pardiso(void *handle, const int *most, const int *which, const int *type, const int *phase, const int *n,
             const void *a, const int *ia, const int *ja, int *perm, const int *nrhs, int *iparm,
             const int *print, void *b, void *x, int *error);
int MKL_Set_Interface_Layer(int layer);
int MKL_Set_Threading_Layer(int layer);
void MKL_Set_Num_Threads(int threads);
void MKL_Get_Version_String(char *text, int length);
enum { INTERFACE_LP64 = 0, THREADING_GNU = 3, THREADING_SEQUENTIAL = 1 };
enum { ANALYSE = 11, FACTOR = 22, SOLVE = 33, RELEASE = -1, INDEFINITE = -2 };
#define IPARM(k) iparm[(k)-1]

static void *handle[64];
static int iparm[64], n, *start, *column;
static double *value, *solution;
static int64_t *from; /* the entry of A, or -1 for a zero of the diagonal that A does not have */
static const saddle_matrix *A;
static int64_t solution_room;
static bool begun;

static bool run_phase(int phase, int columns, double *b, double *x)
{
    const int one = 1, type = INDEFINITE, quiet = 0;
    int error = 0;
    begun = true;
    pardiso(handle, &one, &one, &type, &phase, &n, value, start, column, NULL, &columns, iparm, &quiet, b, x,
            &error);
    return error == 0 ? true : peer_error("PARDISO returned error %d in phase %d", error, phase);
}

/* The lower triangle by columns is the upper one by rows; every diagonal entry has to be there. */
static bool take_matrix(const saddle_matrix *lower)
{
    const int64_t *pointers = lower->pointers, rows = lower->rows, most = lower->entries + rows;
    if (most > INT_MAX) return peer_error("too many entries for 32-bit indices");
    n = (int)rows;
    start = malloc(((size_t)rows + 1) * sizeof *start);
    column = malloc(((size_t)most + 1) * sizeof *column);
    value = malloc(((size_t)most + 1) * sizeof *value);
    from = malloc(((size_t)most + 1) * sizeof *from);
    if (!start || !column || !value || !from) return peer_error("out of memory for the matrix");
    int entries = 0;
    for (int j = 0; j < n; ++j) {
        start[j] = entries;
        if (pointers[j] == pointers[j + 1] || lower->indices[pointers[j]] != j) {
            column[entries] = j;
            from[entries++] = -1;
        }
        for (int64_t k = pointers[j]; k < pointers[j + 1]; ++k) {
            column[entries] = lower->indices[k];
            from[entries++] = k;
        }
    }
    start[n] = entries;
    return true;
}

static void take_values(void)
{
    const double *values = A->values;
    for (int k = 0; k < start[n]; ++k) value[k] = from[k] < 0 ? 0.0 : values[from[k]];
}

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    A = lower;
    if (!take_matrix(lower)) return false;
    take_values();
    MKL_Set_Interface_Layer(INTERFACE_LP64);
    MKL_Set_Threading_Layer(threads == 1 ? THREADING_SEQUENTIAL : THREADING_GNU);
    MKL_Set_Num_Threads(threads);
    const bool matching = strcmp(setting, "matching") == 0;
    /* The defaults of the manual for this type, written down where one differs from zero. */
    IPARM(1) = 1;
    IPARM(2) = 2;
    IPARM(10) = 8;
    IPARM(11) = IPARM(13) = matching;
    IPARM(18) = IPARM(19) = -1; /* entries and operations are told */
    IPARM(21) = 1;
    IPARM(35) = 1; /* from 0 */
    return true;
}

static bool analyse(void)
{
    return (!begun || run_phase(RELEASE, 1, NULL, NULL)) && run_phase(ANALYSE, 1, NULL, NULL);
}

static bool factor(void)
{
    take_values();
    return run_phase(FACTOR, 1, NULL, NULL);
}

static bool solve(int64_t columns, double *x)
{
    const int64_t room = columns * n;
    if (room > solution_room) {
        free(solution);
        solution = malloc((size_t)room * sizeof *solution);
        solution_room = solution ? room : 0;
        if (!solution) return peer_error("out of memory for the solutions");
    }
    if (!run_phase(SOLVE, (int)columns, x, solution)) return false;
    memcpy(x, solution, (size_t)room * sizeof *x);
    return true;
}

static void facts(peer_facts *f)
{
    char text[200] = "";
    const int inner = IPARM(16) + IPARM(17);
    MKL_Get_Version_String(text, sizeof text - 1);
    const char *version = strstr(text, "Version ");
    f->factor_nnz = IPARM(18) < 0 ? f->factor_nnz : IPARM(18);
    f->flops = 1e6 * IPARM(19);
    f->peak_bytes = 1024.0 * (IPARM(15) > inner ? IPARM(15) : inner);
    f->negative = IPARM(23);
    snprintf(f->version, sizeof f->version, "MKL PARDISO %.*s", version ? (int)strcspn(version + 8, " -") : 0,
             version ? version + 8 : "");
    snprintf(f->ordering, sizeof f->ordering, "metis");
}

static void end(void)
{
    if (begun) run_phase(RELEASE, 1, NULL, NULL);
    free(start);
    free(column);
    free(value);
    free(from);
    free(solution);
}

int main(int argc, char **argv)
{
    static const peer mkl = {"pardiso", "matching", begin, analyse, factor, solve, facts, end};
    return peer_main(&mkl, argc, argv);
}
