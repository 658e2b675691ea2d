/* Rutherford-Boeing files (see boeing.c): by columns, sorted, with 17 digits. */
#include "core/number.h"
#include "io/assemble.h"
#include "io/walk.h"
#include "matrix/csr.h"

#include <stdio.h>
#include <string.h>

typedef struct gatherer {
    sd_entries entries;
    bool transpose;
} gatherer;

static saddle_status gather_entry(void *user, int32_t row, int32_t col, double value)
{
    gatherer *g = user;
    const bool added = g->transpose ? sd_entries_add(&g->entries, col, row, value, 0)
                                    : sd_entries_add(&g->entries, row, col, value, 0);
    return added ? SADDLE_OK : g->entries.list.context->status;
}

static int digits_of(int64_t n)
{
    int digits = 1;
    for (; n >= 10; n /= 10) digits++;
    return digits;
}

static int64_t lines_of(int64_t count, int per_line)
{
    return (count + per_line - 1) / per_line;
}

/* Integer k, from 0, of count, width wide, as many in a line as go into 80 columns. */
static void write_integer(sd_output *o, int64_t number, int width, int64_t k, int64_t count)
{
    const bool ends = (k + 1) % (80 / width) == 0 || k + 1 == count;
    sd_output_print(o, "%*lld%s", width, (long long)number, ends ? "\n" : "");
}

/* Fortran takes digits without a point for digits behind one. */
static void print_with_point(double value, char *text, size_t size)
{
    const size_t length = (size_t)sd_print_double(value, 17, text, size);
    if (strchr(text, '.')) return;
    const size_t at = strcspn(text, "e");
    memmove(text + at + 1, text + at, length + 1 - at);
    text[at] = '.';
}

/* The columns of B as a Rutherford-Boeing file; the type is A's. */
static saddle_status write_columns(sd_output *o, const saddle_matrix *A, const saddle_matrix *B,
                                   const char *comment)
{
    enum { VALUE_WIDTH = 25, VALUES_PER_LINE = 3 };
    const int64_t n = A->columns, entries = B->entries;
    const int pointer_width = digits_of(entries + 1) + 1, index_width = digits_of(n) + 1;
    const int64_t pointer_lines = lines_of(n + 1, 80 / pointer_width),
                  index_lines = lines_of(entries, 80 / index_width),
                  value_lines = A->values ? lines_of(entries, VALUES_PER_LINE) : 0;
    const char *title = comment ? comment + strspn(comment, "% ") : ""; /* % is for Matrix Market */
    const int title_length = (int)strcspn(title, "\n");
    char pointer_format[32], index_format[32], value_format[32] = "";
    snprintf(pointer_format, sizeof pointer_format, "(%dI%d)", 80 / pointer_width, pointer_width);
    snprintf(index_format, sizeof index_format, "(%dI%d)", 80 / index_width, index_width);
    if (A->values) snprintf(value_format, sizeof value_format, "(%dE%d.16)", VALUES_PER_LINE, VALUE_WIDTH);
    sd_output_print(o, "%-72.*s%-8s\n", title_length < 72 ? title_length : 72, title, "saddle");
    sd_output_print(o, "%14lld%14lld%14lld%14lld\n", (long long)(pointer_lines + index_lines + value_lines),
                    (long long)pointer_lines, (long long)index_lines, (long long)value_lines);
    sd_output_print(o, "%c%cA%11s%14lld%14lld%14lld%14d\n", A->values ? 'R' : 'P',
                    A->shape == SADDLE_GENERAL ? 'U' : 'S', "", (long long)n, (long long)n,
                    (long long)entries, 0);
    sd_output_print(o, "%-16s%-16s%-20s\n", pointer_format, index_format, value_format);
    const int64_t *start = B->pointers;
    for (int64_t k = 0; k <= n && o->status == SADDLE_OK; k++) {
        write_integer(o, start[k] + 1, pointer_width, k, n + 1);
    }
    for (int64_t k = 0; k < entries && o->status == SADDLE_OK; k++) {
        write_integer(o, (int64_t)B->indices[k] + 1, index_width, k, entries);
    }
    for (int64_t k = 0; A->values && k < entries && o->status == SADDLE_OK; k++) {
        const bool ends = (k + 1) % VALUES_PER_LINE == 0 || k + 1 == entries;
        char text[VALUE_WIDTH + 8];
        print_with_point(((const double *)B->values)[k], text, sizeof text);
        sd_output_print(o, "%*s%s", VALUE_WIDTH, text, ends ? "\n" : "");
    }
    return o->status;
}

/* By columns whatever the view: the columns of a general matrix are the rows of its transpose. */
saddle_status sd_write_boeing(sd_context *c, sd_output *o, const saddle_matrix *A, const char *comment)
{
    if (A->rows != A->columns) {
        return sd_fail(c, SADDLE_NOT_SUPPORTED,
                       "%.300s: a rectangular matrix (%lld rows, %lld columns) cannot be written as "
                       "Rutherford-Boeing: use Matrix Market (.mtx)",
                       o->name, (long long)A->rows, (long long)A->columns);
    }
    const bool general = A->shape == SADDLE_GENERAL;
    saddle_matrix B = {0};
    gatherer g = {.transpose = general};
    sd_entries_init(&g.entries, c, general ? SD_GENERAL : SD_SYMMETRIC, A->columns, A->rows);
    saddle_status status = sd_walk(c, o->name, A, gather_entry, &g);
    if (status == SADDLE_OK) status = sd_assemble(&g.entries, o->name, false, &B);
    if (status == SADDLE_OK) status = write_columns(o, A, &B, comment);
    sd_view_free(c, &B);
    sd_entries_clear(&g.entries);
    return status;
}
