/* The guarded set of handles, and the ends of what is behind them. */
#include "adapters/spral/keep.h"

#include "adapters/common/handles.h"

#include <stdlib.h>

enum { AKEEP = 1, FKEEP = 2 };
enum { BYTES_KEPT = 16000000 }; /* of factors: a smaller solver waits for the akeep's next fkeep */

static door_handles live = DOOR_HANDLES_EMPTY;

ssids_akeep *ssids_find_akeep(const void *handle)
{
    return handle ? door_handles_find(&live, AKEEP, handle) : NULL;
}

ssids_fkeep *ssids_find_fkeep(const void *handle)
{
    return handle ? door_handles_find(&live, FKEEP, handle) : NULL;
}

void ssids_drop_akeep(ssids_akeep *a)
{
    if (!a || atomic_fetch_sub(&a->owners, 1) > 1) return;
    ssids_free_pattern(&a->pattern);
    saddle_destroy(&a->spare.solver);
    pthread_mutex_destroy(&a->lock);
    free(a->permutation);
    free(a->scale);
    free(a);
}

/* A small solver goes back to its akeep, since the next fkeep would have to plan the tree again. */
static void return_solver(ssids_fkeep *f)
{
    ssids_akeep *a = f->akeep;
    if (!f->own.solver || f->bytes > BYTES_KEPT) return;
    pthread_mutex_lock(&a->lock);
    if (!a->spare.solver) {
        a->spare = f->own;
        f->own.solver = NULL;
    }
    pthread_mutex_unlock(&a->lock);
}

static void free_fkeep(ssids_fkeep *f)
{
    if (!f) return;
    if (atomic_load(&f->akeep->owners) > 1) return_solver(f);
    saddle_destroy(&f->own.solver);
    ssids_drop_akeep(f->akeep);
    free(f->values);
    free(f->scale);
    free(f->inverse);
    free(f);
}

void *ssids_give_akeep(ssids_akeep *a)
{
    void *const handle = door_handles_add(&live, AKEEP, a);
    if (!handle) ssids_drop_akeep(a);
    return handle;
}

void *ssids_give_fkeep(ssids_fkeep *f)
{
    void *const handle = door_handles_add(&live, FKEEP, f);
    if (!handle) free_fkeep(f);
    return handle;
}

int spral_ssids_free_akeep(void **akeep)
{
    if (!akeep) return 0;
    if (*akeep) ssids_drop_akeep(door_handles_remove(&live, AKEEP, *akeep));
    *akeep = NULL;
    return 0;
}

int spral_ssids_free_fkeep(void **fkeep)
{
    if (!fkeep) return 0;
    if (*fkeep) free_fkeep(door_handles_remove(&live, FKEEP, *fkeep));
    *fkeep = NULL;
    return 0;
}

int spral_ssids_free(void **akeep, void **fkeep)
{
    spral_ssids_free_fkeep(fkeep);
    return spral_ssids_free_akeep(akeep);
}
