/*
 * Solves with a factorization of two triangles, exactly or by Jacobi sweeps: the driver.
 *
 * z = M^-1 r is made of r in the frame of the factors, a solve with the first triangle, perhaps something
 * between, a solve with the second, and z in the frame of the matrix. A solve by N sweeps begins at 0 and has
 * two vectors, before and after a sweep; its first sweep is D^-1 b (in the paper that backend/triangle.h
 * names this is the first guess, so that N here is N - 1 there). Equal numbers over both triangles leave M
 * symmetric where the second is the transpose of the first, and definite: with P(R) what N sweeps make of
 * R^-1, P(L') = P(L)', and P(L) is triangular with the diagonal of L^-1. So it is also where sweeps go on
 * until they change little: their number is then that of the first triangle. L and U have each its own.
 *
 * Sweeps are exact in the end, but a triangle that is far from normal makes residuals grow first: beyond
 * SD_SWEEPS_DIVERGED of b they count as diverged, long before they overflow. A preconditioner bears much
 * less, but more than b: CG has converged with residuals of up to 43, GMRES with 85 (docs/trisolve.md), and
 * with more as a rule only where the first sweep, the division by D, had left as much and others added
 * little. So a fixed number of sweeps is useless where they leave more than SD_SWEEPS_USELESS of b, and more
 * than SD_SWEEPS_GROWN times what the first one left.
 */
#pragma once

#include "backend/backend.h"
#include "factor/trisolve.h"

#define SD_SWEEPS_DIVERGED 1e12
#define SD_SWEEPS_USELESS 100
#define SD_SWEEPS_GROWN 2

typedef struct sd_two_triangles sd_two_triangles;

/* What a factorization offers; vectors are those of its frame, except for r and z. */
typedef struct sd_triangle_functions {
    void (*enter)(const sd_two_triangles *t, sd_engine *e, const sd_vector *r, sd_vector *b);
    void (*leave)(const sd_two_triangles *t, sd_engine *e, const sd_vector *y, sd_vector *z);
    void (*exact)(const sd_two_triangles *t, sd_engine *e, const sd_vector *r, sd_vector *z, sd_vector *work);
    /* from is NULL where it is 0, and never `to` */
    void (*sweep)(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                  const sd_vector *from, sd_vector *to);
    /* b of the second triangle from what the first one gave; NULL: that itself */
    void (*between)(const sd_two_triangles *t, sd_engine *e, const sd_vector *x, sd_vector *b);
    /* r = b - R x; NULL: it has none */
    void (*residual)(const sd_two_triangles *t, sd_engine *e, bool first, const sd_vector *b,
                     const sd_vector *x, sd_vector *r);
} sd_triangle_functions;

struct sd_two_triangles {
    const sd_triangle_functions *can;
    const void *factors;
    sd_trisolve_kind kind; /* which sweeps they are */
    bool symmetric;        /* the second is the first one transposed */
    int columns;           /* right-hand sides at once */
    int64_t n;             /* numbers of a right-hand side; the first n of an iterate are its result */
    int64_t width, room;   /* of an iterate; of the work of an exact solve, n at least */
    int64_t enough;        /* sweeps that are exact, but for rounding and overflow */
    sd_precision precision;
};

/* One solve's use of it. */
typedef struct sd_swept {
    sd_two_triangles of;
    int sweeps;        /* of each triangle, never more than `enough`; 0: until they change little */
    sd_vector work[3]; /* two more than one where swept */
} sd_swept;

/* So many sweeps, but for those that change nothing. */
static inline int sd_swept_worth(const sd_two_triangles *of, int sweeps)
{
    return of->enough > 0 && sweeps > of->enough ? (int)of->enough : sweeps;
}

/* Takes what applications need; *m may be freed whether that failed or not. */
saddle_status sd_swept_make(sd_engine *e, const sd_two_triangles *of, int sweeps, sd_swept *m);
void sd_swept_free(sd_engine *e, sd_swept *m);

/* z = M^-1 r, of either precision. */
void sd_swept_apply(sd_engine *e, const sd_swept *m, const sd_vector *r, sd_vector *z);

/*
 * Residuals |b - R x| / |b| in the 2-norm after each of so many sweeps over the first or second triangle, for
 * b in the frame of the factors; of swept triangles with a residual. It ends where they diverge. Returns how
 * many there are.
 */
int sd_swept_history(sd_engine *e, const sd_swept *m, bool first, int sweeps, const sd_vector *b,
                     double *residual);

/* Whether a residual of these is beyond all use. */
static inline bool sd_swept_diverged(double residual)
{
    return !(residual <= SD_SWEEPS_DIVERGED);
}

/* What becomes of a vector of signs. */
typedef struct sd_sweep_trial {
    double apart; /* |z - y| / |y| in the infinity norm, y exact; infinite where something is not finite */
    double residual[2]; /* after the last sweep over each triangle; NaN where it has none, */
    double largest[2];  /* and the largest on the way */
    bool diverged;
    bool useless; /* as a fixed number */
} sd_sweep_trial;

/* So many sweeps over each triangle, beside exact solves. */
saddle_status sd_swept_try(sd_engine *e, const sd_two_triangles *of, int sweeps, sd_sweep_trial *trial);
