/* A program as users of SSIDS write it: the system of the documentation, by columns and with a topology. It
 * prints the solutions 1 2 3 4 5; tests/drop_in.sh compiles and links it in the ways of its users. */
#include "spral.h"

#include <stdio.h>
#include <stdlib.h>

static void stop_if_failed(const struct spral_ssids_inform *inform, void **akeep, void **fkeep)
{
    if (inform->flag >= 0) return;
    printf("flag %d\n", inform->flag);
    spral_ssids_free(akeep, fkeep);
    exit(1);
}

int main(void)
{
    const int n = 5;
    int64_t ptr[] = {1, 3, 6, 8, 9, 10};
    int row[] = {1, 2, 2, 3, 5, 3, 4, 4, 5};
    double val[] = {2.0, 1.0, 4.0, 1.0, 1.0, 3.0, 2.0, -1.0, 2.0};
    void *akeep = NULL, *fkeep = NULL;
    struct spral_ssids_options options;
    struct spral_ssids_inform inform;
    struct spral_numa_region region = {2, 0, NULL};
    spral_ssids_default_options(&options);
    options.array_base = 1;
    for (int with_topology = 0; with_topology <= 1; ++with_topology) {
        double x[] = {4.0, 17.0, 19.0, 2.0, 12.0};
        int order[5];
        if (with_topology)
            spral_ssids_analyse_topology(true, n, NULL, ptr, row, NULL, &akeep, &options, &inform, 1,
                                         &region);
        else
            spral_ssids_analyse(true, n, NULL, ptr, row, NULL, &akeep, &options, &inform);
        stop_if_failed(&inform, &akeep, &fkeep);
        spral_ssids_factor(false, NULL, NULL, val, NULL, akeep, &fkeep, &options, &inform);
        stop_if_failed(&inform, &akeep, &fkeep);
        spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
        stop_if_failed(&inform, &akeep, &fkeep);
        printf("solution:");
        for (int i = 0; i < n; ++i) printf(" %.10e", x[i]);
        spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, order, NULL);
        printf("\npivots:");
        for (int i = 0; i < n; ++i) printf(" %d", order[i]);
        printf("\n");
        if (spral_ssids_free(&akeep, &fkeep) != 0) return 1;
    }
    return 0;
}
