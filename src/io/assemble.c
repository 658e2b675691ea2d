/*
 * From entries in the order of a file to a compressed matrix. See assemble.h.
 *
 * Entries that came in the order of the result are copied. Others are distributed over the rows
 * (columns, for symmetric matrices: below, "row" is what is compressed) by counting, which keeps the
 * order of the file inside a row, and the rows that are not sorted then are sorted one by one, by
 * merging, which keeps it too: so duplicates are summed in the order of the file.
 */
#include "io/assemble.h"

#include "matrix/csr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    RUN = 24,                 /* up to here insertion sorts faster than merging */
    EMPTY_ROWS = 1 << 24,     /* more rows than this ... */
    EMPTY_ROWS_PER_ENTRY = 64 /* ... must not be almost all empty */
};

typedef struct csr {
    int64_t n, room; /* rows; entries that there is room for */
    int64_t *start;
    int32_t *index;
    double *value;
} csr;

void sd_entries_init(sd_entries *e, sd_context *c, sd_symmetry symmetry, int64_t rows, int64_t cols)
{
    sd_list_init(&e->list, c, sizeof(sd_entry));
    e->symmetry = symmetry;
    e->rows = rows;
    e->cols = cols;
    e->last = -1;
    e->sorted = symmetry != SD_SKEW; /* the other half never is */
    e->duplicate_line = 0;
}

void sd_entries_clear(sd_entries *e)
{
    sd_list_clear(&e->list);
}

static void csr_free(sd_context *c, csr *m)
{
    sd_free_all(c, m->start, m->index, m->value);
    memset(m, 0, sizeof *m);
}

/* start[i + 1] becomes the number of entries of row i; returns the number of all of them. */
static int64_t count_rows(const sd_entries *e, int64_t *start)
{
    const bool by_columns = e->symmetry == SD_SYMMETRIC, both = e->symmetry == SD_SKEW;
    int64_t all = 0;
    for (const sd_list_chunk *chunk = e->list.first; chunk; chunk = chunk->next) {
        const sd_entry *entry = (const sd_entry *)chunk->items;
        const int64_t count = sd_chunk_count(&e->list, chunk);
        for (int64_t k = 0; k < count; k++) {
            start[1 + (by_columns ? entry[k].col : entry[k].row)]++;
            if (both && entry[k].row != entry[k].col) {
                start[1 + entry[k].col]++;
                all++;
            }
        }
        all += count;
    }
    return all;
}

/* The entries are in order already. */
static void copy_sorted(sd_entries *e, csr *m)
{
    const bool by_columns = e->symmetry == SD_SYMMETRIC;
    int64_t at = 0;
    for (const sd_list_chunk *chunk = e->list.first; chunk; chunk = sd_list_drop(&e->list)) {
        const sd_entry *entry = (const sd_entry *)chunk->items;
        const int64_t count = sd_chunk_count(&e->list, chunk);
        for (int64_t k = 0; k < count; k++, at++) {
            m->index[at] = by_columns ? entry[k].row : entry[k].col;
            m->value[at] = entry[k].value;
        }
    }
}

static inline void put(csr *m, int32_t row, int32_t col, double value)
{
    const int64_t at = m->start[row]++;
    m->index[at] = col;
    m->value[at] = value;
}

/* On entry start[i] is where row i begins; the same afterwards. */
static void distribute(sd_entries *e, csr *m)
{
    for (const sd_list_chunk *chunk = e->list.first; chunk; chunk = sd_list_drop(&e->list)) {
        const sd_entry *entry = (const sd_entry *)chunk->items;
        const int64_t count = sd_chunk_count(&e->list, chunk);
        for (int64_t k = 0; k < count; k++) {
            const sd_entry x = entry[k];
            if (e->symmetry == SD_SYMMETRIC) {
                put(m, x.col, x.row, x.value);
            } else {
                put(m, x.row, x.col, x.value);
                if (e->symmetry == SD_SKEW && x.row != x.col) put(m, x.col, x.row, -x.value);
            }
        }
    }
    for (int64_t i = m->n; i > 0; i--) m->start[i] = m->start[i - 1];
    m->start[0] = 0;
}

static saddle_status compress(sd_context *c, sd_entries *e, csr *m)
{
    m->n = e->symmetry == SD_SYMMETRIC ? e->cols : e->rows;
    m->start = sd_alloc_zero(c, m->n + 1, sizeof *m->start, "row pointers");
    if (!m->start) return c->status;
    m->room = count_rows(e, m->start);
    for (int64_t i = 0; i < m->n; i++) m->start[i + 1] += m->start[i];
    m->index = sd_alloc(c, m->room, sizeof *m->index, "indices");
    m->value = sd_alloc(c, m->room, sizeof *m->value, "values");
    if (!m->index || !m->value) return c->status;
    if (e->sorted) {
        copy_sorted(e, m);
    } else {
        distribute(e, m);
    }
    return SADDLE_OK;
}

static void insertion_sort(int32_t *index, double *value, int64_t count)
{
    for (int64_t k = 1; k < count; k++) {
        const int32_t key = index[k];
        const double v = value[k];
        int64_t at = k;
        for (; at > 0 && index[at - 1] > key; at--) {
            index[at] = index[at - 1];
            value[at] = value[at - 1];
        }
        index[at] = key;
        value[at] = v;
    }
}

/* Merges the sorted parts a..b and b..end of the first arrays into the second ones. */
static void merge(const int32_t *index, const double *value, int64_t a, int64_t b, int64_t end,
                  int32_t *to_index, double *to_value)
{
    const int64_t middle = b;
    for (int64_t at = a; at < end; at++) {
        const int64_t from = b == end || (a < middle && index[a] <= index[b]) ? a++ : b++;
        to_index[at] = index[from];
        to_value[at] = value[from];
    }
}

/* Stable; the scratch arrays have room for count, or are not used where count <= RUN. */
static void sort_row(int32_t *index, double *value, int64_t count, int32_t *index2, double *value2)
{
    for (int64_t a = 0; a < count; a += RUN) {
        insertion_sort(index + a, value + a, count - a < RUN ? count - a : RUN);
    }
    for (int64_t width = RUN; width < count; width *= 2) {
        for (int64_t a = 0; a < count; a += 2 * width) {
            const int64_t b = a + width < count ? a + width : count;
            const int64_t end = b + width < count ? b + width : count;
            merge(index, value, a, b, end, index2, value2);
        }
        memcpy(index, index2, (size_t)count * sizeof *index);
        memcpy(value, value2, (size_t)count * sizeof *value);
    }
}

static bool row_is_sorted(const csr *m, int64_t i)
{
    for (int64_t k = m->start[i] + 1; k < m->start[i + 1]; k++) {
        if (m->index[k] < m->index[k - 1]) return false;
    }
    return true;
}

static saddle_status sort_rows(sd_context *c, csr *m)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < m->n; i++) {
        const int64_t count = m->start[i + 1] - m->start[i];
        if (count > longest && !row_is_sorted(m, i)) longest = count;
    }
    if (longest == 0) return SADDLE_OK;
    const int64_t room = longest > RUN ? longest : 0;
    int32_t *index = sd_alloc(c, room, sizeof *index, "sorting indices");
    double *value = sd_alloc(c, room, sizeof *value, "sorting values");
    const bool room_found = index && value;
    for (int64_t i = 0; room_found && i < m->n; i++) {
        if (row_is_sorted(m, i)) continue;
        const int64_t at = m->start[i];
        sort_row(m->index + at, m->value + at, m->start[i + 1] - at, index, value);
    }
    sd_free_all(c, index, value);
    return room_found ? SADDLE_OK : c->status;
}

/* The first row in which an index stands twice, or n; *place is that of its second entry. */
static int64_t first_duplicate(const csr *m, int64_t *place)
{
    for (int64_t i = 0; i < m->n; i++) {
        for (int64_t k = m->start[i] + 1; k < m->start[i + 1]; k++) {
            if (m->index[k] != m->index[k - 1]) continue;
            *place = k;
            return i;
        }
    }
    return m->n;
}

/* Adds up the duplicates of all rows from this one on; the rows are sorted. Returns their number;
 * of a skew matrix, where each has its mirror image, the number in the lower triangle. */
static int64_t add_up(csr *m, int64_t first_row, sd_symmetry symmetry)
{
    int64_t duplicates = 0, to = m->start[first_row], from = to;
    for (int64_t i = first_row; i < m->n; i++) {
        const int64_t begin = to, end = m->start[i + 1];
        for (; from < end; from++) {
            const int32_t j = m->index[from];
            if (to > begin && m->index[to - 1] == j) {
                m->value[to - 1] += m->value[from];
                duplicates += symmetry != SD_SKEW || j <= i;
            } else {
                m->index[to] = j;
                m->value[to] = m->value[from];
                to++;
            }
        }
        m->start[i + 1] = to;
    }
    return duplicates;
}

static saddle_status add_up_duplicates(const sd_entries *e, const char *name, csr *m)
{
    sd_context *c = e->list.context;
    int64_t place = 0;
    const int64_t row = first_duplicate(m, &place);
    if (row == m->n) return SADDLE_OK;
    const bool by_columns = e->symmetry == SD_SYMMETRIC;
    const int32_t other = m->index[place];
    const int64_t duplicates = add_up(m, row, e->symmetry);
    for (int64_t i = row; i < m->n; i++) { /* finite entries may add up to infinity */
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            if (isfinite(m->value[k])) continue;
            const int64_t j = m->index[k];
            return sd_fail(c, SADDLE_BAD_VALUE,
                           "%s: the sum of the entries in row %lld, column %lld overflows double", name,
                           (long long)(by_columns ? j : i) + 1, (long long)(by_columns ? i : j) + 1);
        }
    }
    char line[40] = "";
    if (e->sorted) snprintf(line, sizeof line, " (line %lld)", (long long)e->duplicate_line);
    sd_log(c, SADDLE_LOG_WARNING, "%s: %lld duplicate %s summed; the first is in row %lld, column %lld%s",
           name, (long long)duplicates, duplicates == 1 ? "entry was" : "entries were",
           (long long)(by_columns ? other : row) + 1, (long long)(by_columns ? row : other) + 1, line);
    return SADDLE_OK;
}

/* Whether a square matrix with sorted rows is symmetric in structure and value. */
static saddle_status is_symmetric(sd_context *c, const csr *m, bool *symmetric)
{
    const sd_csr view = {
        .n = (int32_t)m->n, .nnz = m->start[m->n], .ptr = m->start, .ind = m->index, .val = m->value};
    bool pattern;
    return sd_csr_symmetry(c, &view, &pattern, symmetric, NULL, NULL);
}

/* Leaves of each row the diagonal and what is right of it: the lower triangle by columns. */
static void keep_half(csr *m)
{
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < m->n; i++) {
        const int64_t end = m->start[i + 1];
        for (; from < end; from++) {
            if (m->index[from] < i) continue;
            m->index[to] = m->index[from];
            m->value[to] = m->value[from];
            to++;
        }
        m->start[i + 1] = to;
    }
}

/* The first `count` items, in an array of their own; NULL, and none is left, where there is no memory. */
static void *shrink(sd_context *c, void *from, int64_t count, size_t size, const char *what)
{
    void *to = sd_alloc(c, count, size, what);
    if (to) memcpy(to, from, (size_t)count * size);
    sd_free(c, from);
    return to;
}

/* Gives back what was left empty, where it is worth a copy. */
static saddle_status trim(sd_context *c, csr *m)
{
    const int64_t count = m->start[m->n];
    if (count > m->room / 4 * 3) return SADDLE_OK;
    m->room = count;
    m->index = shrink(c, m->index, count, sizeof *m->index, "indices");
    if (m->index) m->value = shrink(c, m->value, count, sizeof *m->value, "values");
    return m->index && m->value ? SADDLE_OK : c->status;
}

/* Row pointers are the one thing whose size the header alone decides. */
static saddle_status check_rows(const sd_entries *e, const char *name)
{
    const int64_t n = e->rows > e->cols ? e->rows : e->cols, count = sd_list_count(&e->list);
    if (n <= EMPTY_ROWS || n / EMPTY_ROWS_PER_ENTRY <= count) return SADDLE_OK;
    return sd_fail(
        e->list.context, SADDLE_NOT_SUPPORTED,
        "%s: a matrix of size %lld with %lld entries, with almost all rows empty, is not supported", name,
        (long long)n, (long long)count);
}

saddle_status sd_assemble(sd_entries *e, const char *name, bool notice_symmetry, saddle_matrix *A)
{
    sd_context *c = e->list.context;
    csr m = {0};
    bool symmetric = e->symmetry == SD_SYMMETRIC;
    saddle_status status = check_rows(e, name);
    if (status == SADDLE_OK) status = compress(c, e, &m);
    if (status == SADDLE_OK && !e->sorted) status = sort_rows(c, &m);
    if (status == SADDLE_OK) status = add_up_duplicates(e, name, &m);
    if (status == SADDLE_OK && !symmetric && e->rows == e->cols && notice_symmetry) {
        status = is_symmetric(c, &m, &symmetric);
        if (symmetric) keep_half(&m);
    }
    if (status == SADDLE_OK) status = trim(c, &m);
    if (status != SADDLE_OK) {
        csr_free(c, &m);
        return status;
    }
    *A = sd_view_of(e->rows, e->cols, m.start[m.n], m.start, m.index, m.value);
    A->layout = symmetric ? SADDLE_COLUMNS : SADDLE_ROWS;
    A->shape = symmetric ? SADDLE_LOWER : SADDLE_GENERAL;
    return SADDLE_OK;
}
