/*
 * From entries in the order of a file to a compressed matrix: sorted, duplicates summed, symmetry detected.
 */
#pragma once

#include "io/list.h"

typedef enum sd_symmetry { SD_GENERAL, SD_SYMMETRIC, SD_SKEW } sd_symmetry;

typedef struct sd_entry {
    int32_t row, col;
    double value;
} sd_entry;

/* The entries of a file so far. Of a symmetric or skew matrix only one of (i,j), (j,i) is added. */
typedef struct sd_entries {
    sd_list list;
    sd_symmetry symmetry;
    int64_t rows, cols;
    int64_t last;           /* place of the last entry in the order of the result */
    bool sorted;            /* each so far came after the one before it, or in the same place */
    int64_t duplicate_line; /* of the first entry that came right after its equal; 0 for none */
} sd_entries;

void sd_entries_init(sd_entries *e, sd_context *c, sd_symmetry symmetry, int64_t rows, int64_t cols);
void sd_entries_clear(sd_entries *e);

/* Adds an entry, counted from 0, that stood in this line of the file; false when out of memory. */
static inline bool sd_entries_add(sd_entries *e, int32_t row, int32_t col, double value, int64_t line)
{
    if (e->symmetry == SD_SYMMETRIC && row < col) {
        const int32_t swap = row;
        row = col;
        col = swap;
    }
    const int64_t major = e->symmetry == SD_SYMMETRIC ? col : row;
    const int64_t minor = major == row ? col : row;
    const int64_t place = major * (INT64_C(1) << 32) + minor;
    if (place <= e->last) {
        if (place < e->last) e->sorted = false;
        if (place == e->last && e->duplicate_line == 0) e->duplicate_line = line;
    }
    e->last = place;
    sd_entry *entry = sd_list_add(&e->list);
    if (!entry) return false;
    *entry = (sd_entry){row, col, value};
    return true;
}

/*
 * Makes the matrix: symmetric ones by columns with their lower triangle, the others by rows, and
 * skew ones with both halves; a square one that is symmetric in structure and value all the same
 * becomes symmetric where notice_symmetry says so. The entries are freed on the way. name is the file's, for
 * the warning about duplicates and for messages. Takes at most 28 bytes an entry and 8 a row at once,
 * or 12 an entry and 16 a row in the test for symmetry; time linear in the entries, and
 * O(k log k) more for rows of k entries that came unsorted.
 */
saddle_status sd_assemble(sd_entries *e, const char *name, bool notice_symmetry, saddle_matrix *A);
