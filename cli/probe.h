/* What is found on this machine: shared by `doctor` and --version. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BLAS_SERIAL = 0, BLAS_PTHREADS = 1, BLAS_OPENMP = 2, BLAS_UNKNOWN = -1 };

typedef struct blas_probe {
    bool found;
    int flavour;      /* one of the above */
    char library[64]; /* the file it is in: "libopenblasp-r0.3.21.so" */
    char config[256]; /* "OpenBLAS 0.3.21 ... Haswell", "" where it does not tell */
} blas_probe;

/* The BLAS that the library calls. */
void probe_blas(blas_probe *b);
const char *blas_flavour_text(int flavour);

/* The libraries for orderings that saddle is linked with. */
typedef struct ordering_probe {
    bool found, works; /* works: it ordered a small graph */
    char library[64];  /* the file it is in, whose name has the version: "libmetis.so.5.1.0" */
    int index_bits;    /* 32 or 64 */
} ordering_probe;
void probe_metis(ordering_probe *p);
void probe_amd(ordering_probe *p);

typedef struct machine_probe {
    char cpu[128];
    const char *simd;  /* the widest vectors: "AVX-512", "AVX2", ... */
    int cores;         /* that this process may use */
    int64_t memory;    /* bytes of the machine, or less where the process is limited; -1: not known */
    int64_t available; /* that a new program can take; -1: not known */
} machine_probe;
void probe_machine(machine_probe *m);

void print_version(FILE *out);
