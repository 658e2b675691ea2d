/*
 * What holds for every input of a reader of matrices: it fails with a status and a message that
 * names the file, within a memory limit, or gives a matrix that is well formed, and that comes back
 * the same when it is written and read again. Nothing is left allocated.
 */
#pragma once

#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                    \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

enum { MEMORY_LIMIT = 64 << 20, SMALL = 2000 };

static int64_t fuzz_compressed(const saddle_matrix *A)
{
    return A->layout == SADDLE_ROWS ? A->rows : A->columns;
}

static void fuzz_well_formed(const saddle_matrix *A)
{
    const bool symmetric = A->shape == SADDLE_LOWER;
    const int64_t *start = A->pointers, n = fuzz_compressed(A), other = A->rows + A->columns - n;
    MUST(A->layout == (symmetric ? SADDLE_COLUMNS : SADDLE_ROWS));
    MUST(symmetric ? A->rows == A->columns : A->shape == SADDLE_GENERAL);
    MUST(A->type == SADDLE_DOUBLE && A->base == 0 && A->pointer_bits == 64);
    MUST(start[0] == 0 && start[n] == A->entries);
    for (int64_t i = 0; i < n; i++) {
        MUST(start[i] <= start[i + 1]);
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            MUST(A->indices[k] >= (symmetric ? i : 0) && A->indices[k] < other);
            MUST(k == start[i] || A->indices[k] > A->indices[k - 1]);
            MUST(isfinite(((const double *)A->values)[k]));
        }
    }
}

/* A path that only this process uses. */
static const char *fuzz_path(const char *suffix)
{
    static char path[256];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/saddle-fuzz-%ld%s", folder ? folder : ".", (long)getpid(), suffix);
    return path;
}

static void fuzz_comes_back(const saddle_matrix *A, const char *suffix)
{
    sd_context c;
    saddle_matrix B;
    sd_context_init(&c, NULL, MEMORY_LIMIT);
    const char *path = fuzz_path(suffix);
    MUST(sd_write_matrix(&c, path, A, NULL) == SADDLE_OK);
    MUST(sd_read_matrix(&c, path, &B) == SADDLE_OK);
    unlink(path);
    const size_t entries = (size_t)A->entries, n = (size_t)fuzz_compressed(A);
    MUST(A->rows == B.rows && A->columns == B.columns && A->entries == B.entries);
    MUST(A->layout == B.layout && A->shape == B.shape);
    MUST(memcmp(A->pointers, B.pointers, (n + 1) * sizeof(int64_t)) == 0);
    MUST(memcmp(A->indices, B.indices, entries * sizeof(int32_t)) == 0);
    MUST(memcmp(A->values, B.values, entries * sizeof(double)) == 0);
    saddle_matrix_free(&B, NULL);
}

static inline void fuzz_reader(const uint8_t *data, size_t size, const char *suffix)
{
    sd_context c;
    saddle_matrix A;
    sd_context_init(&c, NULL, MEMORY_LIMIT);
    const saddle_status status = sd_read_matrix_memory(&c, "input", data, size, &A);
    if (status != SADDLE_OK) {
        MUST(status < 0 && status != SADDLE_OUT_OF_MEMORY && strncmp(c.message, "input:", 6) == 0);
        MUST(c.bytes == 0 && !A.pointers);
        return;
    }
    fuzz_well_formed(&A);
    const bool writable = A.rows == A.columns || strcmp(suffix, ".mtx") == 0;
    if (writable && A.rows < SMALL && A.columns < SMALL && A.entries < SMALL) fuzz_comes_back(&A, suffix);
    saddle_matrix_free(&A, NULL);
}
