/*
 * SSIDS of SPRAL as a peer, through its C interface (adapters/spral/include has the declarations): a matrix
 * is not said to be positive definite, its own order and no scaling by default. With --setting matching the
 * order and the scaling by a matching, ordering = 2 and scaling = 3, which its documentation advises for
 * matrices that are hard to scale. It wants OMP_CANCELLATION=true before the program begins, so it begins
 * again with it. The matrix is given by indices from 1: spral_ssids_factor, as it is in 2025, given indices
 * from 0, copies all of them into memory for n + 1.
 */
#include "peer.h"

#include "adapters/spral/include/spral_ssids.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const saddle_matrix *A;
static struct spral_ssids_options options;
static struct spral_ssids_inform inform;
static void *akeep, *fkeep;
static int64_t *pointers; /* from 1 */
static int *rows;

static bool good(const char *what)
{
    return inform.flag >= 0 ? true : peer_error("SSIDS' %s returned flag %d", what, inform.flag);
}

static bool number_from_one(void)
{
    const int64_t *const p = A->pointers;
    const int32_t *const i = A->indices;
    pointers = malloc(((size_t)A->rows + 1) * sizeof *pointers);
    rows = malloc(((size_t)p[A->rows] + 1) * sizeof *rows);
    if (!pointers || !rows) return false;
    for (int64_t j = 0; j <= A->rows; ++j) pointers[j] = p[j] + 1;
    for (int64_t k = 0; k < p[A->rows]; ++k) rows[k] = i[k] + 1;
    return true;
}

static bool begin(const saddle_matrix *lower, const char *setting, int threads)
{
    const bool matching = strcmp(setting, "matching") == 0;
    (void)threads; /* those of OpenMP */
    A = lower;
    if (lower->rows > INT_MAX) return peer_error("too many rows for 32-bit indices");
    if (!number_from_one()) return peer_error("out of memory");
    spral_ssids_default_options(&options);
    options.array_base = 1;
    options.print_level = -1;
    options.use_gpu = false;
    options.ordering = matching ? 2 : options.ordering;
    options.scaling = matching ? 3 : options.scaling;
    return true;
}

static bool analyse(void)
{
    spral_ssids_free(&akeep, &fkeep);
    spral_ssids_analyse(false, (int)A->rows, NULL, pointers, rows, A->values, &akeep, &options, &inform);
    return good("analyse");
}

static bool factor(void)
{
    spral_ssids_factor(false, pointers, rows, A->values, NULL, akeep, &fkeep, &options, &inform);
    return good("factor");
}

static bool solve(int64_t columns, double *x)
{
    struct spral_ssids_inform solved;
    spral_ssids_solve(0, (int)columns, x, (int)A->rows, akeep, fkeep, &options, &solved);
    return solved.flag >= 0 ? true : peer_error("SSIDS' solve returned flag %d", solved.flag);
}

static void facts(peer_facts *f)
{
    f->factor_nnz = (double)inform.num_factor;
    f->flops = (double)inform.num_flops;
    f->delayed = inform.num_delay;
    f->two_by_two = inform.num_two;
    f->negative = inform.num_neg;
    strcpy(f->version, "SSIDS");
    strcpy(f->ordering, options.ordering == 2 ? "matching" : "metis");
}

static void end(void)
{
    spral_ssids_free(&akeep, &fkeep);
    free(pointers);
    free(rows);
}

int main(int argc, char **argv)
{
    static const peer ssids = {"ssids", "matching", begin, analyse, factor, solve, facts, end};
    if (!getenv("OMP_CANCELLATION") && setenv("OMP_CANCELLATION", "true", 1) == 0)
        execv("/proc/self/exe", argv);
    return peer_main(&ssids, argc, argv);
}
