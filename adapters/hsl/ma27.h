/*
 * The MA27-compatible interface of this door: declarations of our own for four Fortran subroutines, by which
 * Ipopt uses a solver of that name. Implemented by Saddle; contains no HSL code.
 *
 * Every argument is passed by its address, integers have 32 bits, indices count from 1. Entries may be in
 * either triangle, duplicates are summed, those out of range are left out. docs/ipopt.md says what is
 * honoured and what info has.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { MA27_ICNTL = 30, MA27_CNTL = 5, MA27_INFO = 20 };

/* info[0] */
enum {
    MA27_OUT_OF_RANGE = 1, /* info[1] entries were left out */
    MA27_SINGULAR = 3,     /* info[1] is the rank */
    MA27_BAD_N = -1,
    MA27_BAD_NZ = -2,
    MA27_IW_TOO_SMALL = -3, /* info[1] is the length it needs, and so with the next one */
    MA27_A_TOO_SMALL = -4,
    MA27_FAILED = -7 /* info[1] is the saddle_status */
};

void ma27id_(int *icntl, double *cntl);
void ma27ad_(const int *n, const int *nz, const int *irn, const int *icn, int *iw, const int *liw, int *ikeep,
             int *iw1, int *nsteps, const int *iflag, const int *icntl, const double *cntl, int *info,
             double *ops);
void ma27bd_(const int *n, const int *nz, const int *irn, const int *icn, double *a, const int *la, int *iw,
             const int *liw, int *ikeep, const int *nsteps, int *maxfrt, int *iw1, const int *icntl,
             const double *cntl, int *info);
void ma27cd_(const int *n, const double *a, const int *la, const int *iw, const int *liw, double *w,
             const int *maxfrt, double *rhs, int *iw1, const int *nsteps, const int *icntl,
             const double *cntl);

#ifdef __cplusplus
}
#endif
