/*
 * Solves with the factors of a multifrontal factorization: L, D, L', and all three.
 *
 * Right-hand sides are taken in blocks of SD_RHS_BLOCK, a block row by row (the right-hand sides of a row
 * side by side), so that a panel of L is read once for all of them. Forward, every front has a vector of its
 * own, to which its children add what they hand up, as in the factorization: no two fronts write to the
 * same place, so any number of threads gives the same bits. Backward, a front only reads from its ancestors.
 */
#pragma once

#include "backend/front_run.h"
#include "factor/multifrontal.h"

enum { SD_RHS_BLOCK = 32 };

/* What a solve works in: sizes that depend on the factors alone. */
typedef struct sd_solve_room {
    int64_t largest; /* rows of the largest front */
    int64_t handed;  /* rows that groups and fronts above them hand up */
    int64_t stack;   /* most rows waiting within a group */
    int64_t *slot;   /* where each of the former begins; of every front */
} sd_solve_room;

/* room is empty, or that of an earlier factorization on the same tree. */
saddle_status sd_solve_room_make(sd_context *c, const sd_factors *f, sd_solve_room *room);
void sd_solve_room_free(sd_context *c, sd_solve_room *room);

/* What blocks are solved in, kept from one call to the next: memory that is new to the process costs more to
 * touch than a small solve. Begins as {0}. */
typedef struct sd_solve_memory {
    int32_t k; /* columns that it is for, by this many threads */
    int threads;
    void *x, *handed;
    char *scratch;
    int32_t *waiting;
    sd_crew *crew;
} sd_solve_memory;
void sd_solve_memory_free(sd_context *c, sd_solve_memory *memory);

/* Z = (L D L')^-1 R for columns in a frame; Z may be R. memory may be NULL. */
saddle_status sd_triangular_between(sd_context *c, const sd_factors *f, const sd_solve_room *room,
                                    const sd_solve_frame *frame, int64_t nrhs, const double *r, int64_t ldr,
                                    double *z, int64_t ldz, int threads, sd_solve_memory *memory);

/*
 * X = (the parts of) (L D L')^-1 X for nrhs columns of n doubles, by position, leading dimension ldx. In the
 * precision of the factors. A zero pivot's D^-1 is 0.
 */
saddle_status sd_triangular_solve(sd_context *c, const sd_factors *f, const sd_solve_room *room, int parts,
                                  int64_t nrhs, double *x, int64_t ldx, int threads);
