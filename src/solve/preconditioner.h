/* What a Krylov method sees of a preconditioner. */
#pragma once

#include "backend/backend.h"

/* z = M^-1 r. Without `apply` M is the identity. */
typedef struct sd_preconditioner {
    void (*apply)(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z);
    const void *self;
    bool positive;  /* positive definite, whichever matrix it is at the moment */
    bool negative;  /* -M is */
    bool symmetric; /* one matrix, whatever the vector, and symmetric */
    /* what one solve has of its own, freed with it; NULL: nothing */
    void *owned;
    void (*release)(sd_engine *e, void *owned);
} sd_preconditioner;

static inline void sd_preconditioner_free(sd_engine *e, sd_preconditioner *M)
{
    if (M->owned) M->release(e, M->owned);
    M->owned = NULL;
}

static inline void sd_precondition(sd_engine *e, const sd_preconditioner *M, const sd_vector *r, sd_vector *z)
{
    if (M->apply)
        M->apply(M->self, e, r, z);
    else
        sd_copy(e, r, z);
}

/* M^-1 r where it is only read: in z, or r itself where M is the identity. */
static inline const sd_vector *sd_preconditioned(sd_engine *e, const sd_preconditioner *M, const sd_vector *r,
                                                 sd_vector *z)
{
    if (!M->apply) return r;
    M->apply(M->self, e, r, z);
    return z;
}
