/*
 * Rutherford-Boeing files (Duff, Grimes and Lewis, RAL-TR-97-031, 1997) and their forerunner,
 * Harwell-Boeing (1992): assembled matrices by columns. Four lines of header
 *
 *     title                                                                   key
 *     lines in all, of pointers, of row indices, of values (Harwell: and of right-hand sides)
 *     type            rows          columns       entries       (elemental entries)
 *     format of pointers, of row indices, of values (Harwell: and of right-hand sides)
 *
 * (Harwell: one more about right-hand sides where there are any) and then the three lists in their
 * Fortran formats, counted from 1. The type has three letters: R, I or P (pattern) for the values;
 * S, U or Z (skew) for the symmetry; A for assembled. Right-hand sides are passed over.
 */
#include "core/number.h"
#include "io/assemble.h"
#include "io/fortran.h"
#include "io/io.h"

typedef struct header {
    int64_t value_lines, rhs_lines;
    char type[3];
    int64_t rows, cols, entries;
    sd_symmetry symmetry;
    bool pattern;
    sd_format pointers, indices, values;
} header;

/* Up to most integers of a line; returns how many, or -1 where something else stands there. */
static int integers(sd_span line, int64_t *numbers, int most)
{
    int count = 0;
    for (;;) {
        const sd_span word = sd_next_word(&line);
        if (word.begin == word.end) return count;
        if (count == most) return -1;
        if (sd_parse_int64(word.begin, word.end, &numbers[count]) != word.end || numbers[count] < 0)
            return -1;
        count++;
    }
}

static saddle_status header_line(sd_text *t, sd_span *line)
{
    const saddle_status status = sd_text_line(t, line);
    if (status != SADDLE_OK || line->begin) return status;
    return sd_malformed(t, "the file ends inside the header");
}

static saddle_status neither(sd_text *t)
{
    return sd_malformed(t, "this is neither a Matrix Market file (which begins with %%%%MatrixMarket) nor a "
                           "Rutherford-Boeing file");
}

static bool one_of(char ch, const char *letters)
{
    return ch != '\0' && strchr(letters, ch);
}

static saddle_status check_type(sd_text *t, header *h)
{
    const char *type = h->type;
    const char *refused = type[0] == 'C'   ? "complex matrices"
                          : type[0] == 'Q' ? "matrices with their values in another file"
                          : type[1] == 'H' ? "Hermitian matrices"
                          : type[2] == 'E' ? "elemental (unassembled) matrices"
                          : type[1] == 'R' || h->rows != h->cols
                              ? "rectangular matrices in a Rutherford-Boeing file"
                              : NULL;
    if (refused) {
        return sd_text_fail(t, SADDLE_NOT_SUPPORTED,
                            "%s (type %.3s, %lld rows, %lld columns) are not supported", refused, type,
                            (long long)h->rows, (long long)h->cols);
    }
    if (h->rows > SD_SIZE_MOST) {
        return sd_text_fail(t, SADDLE_NOT_SUPPORTED, "%lld rows: more than %lld are not supported",
                            (long long)h->rows, (long long)SD_SIZE_MOST);
    }
    h->symmetry = type[1] == 'S' ? SD_SYMMETRIC : type[1] == 'Z' ? SD_SKEW : SD_GENERAL;
    h->pattern = type[0] == 'P';
    if (h->pattern && h->symmetry == SD_SKEW) {
        return sd_malformed(t, "a pattern cannot be skew-symmetric (type %.3s)", type);
    }
    if (!h->pattern && h->value_lines == 0 && h->entries > 0) {
        return sd_malformed(t, "the type is %.3s, but the header declares no values", type);
    }
    return SADDLE_OK;
}

static saddle_status read_type_line(sd_text *t, header *h)
{
    sd_span line;
    const saddle_status status = header_line(t, &line);
    if (status != SADDLE_OK) return status;
    const sd_span word = sd_next_word(&line);
    if (word.end - word.begin != 3) return neither(t);
    for (int k = 0; k < 3; k++) {
        const char ch = word.begin[k];
        h->type[k] = (char)(ch >= 'a' && ch <= 'z' ? ch - 32 : ch);
    }
    if (!one_of(h->type[0], "RIPCQ") || !one_of(h->type[1], "SUZHR") || !one_of(h->type[2], "AE"))
        return neither(t);
    int64_t size[4] = {0};
    if (integers(line, size, 4) < 3 || size[2] == INT64_MAX) {
        char q[SD_QUOTE];
        return sd_malformed(t, "'%s' should be rows, columns and entries", sd_quote(sd_trim(line), q));
    }
    h->rows = size[0];
    h->cols = size[1];
    h->entries = size[2];
    return check_type(t, h);
}

static saddle_status read_formats(sd_text *t, header *h)
{
    sd_span line;
    const saddle_status status = header_line(t, &line);
    if (status != SADDLE_OK) return status;
    static const char *const names[] = {"pointers", "row indices", "values"};
    sd_format *formats[] = {&h->pointers, &h->indices, &h->values};
    for (int k = 0; k < (h->pattern ? 2 : 3); k++) {
        char q[SD_QUOTE];
        const sd_span text = sd_next_format(&line);
        if (!sd_parse_format(text, formats[k]) || (k < 2 && !formats[k]->integer)) {
            return sd_malformed(t, "'%s' is not a format of %s that can be read", sd_quote(text, q),
                                names[k]);
        }
    }
    return SADDLE_OK;
}

/* The title has been read. */
static saddle_status read_header(sd_text *t, header *h)
{
    sd_span line;
    saddle_status status = sd_text_line(t, &line);
    if (status != SADDLE_OK) return status;
    int64_t lines[5] = {0};
    if (!line.begin || integers(line, lines, 5) < 4) return neither(t);
    h->value_lines = lines[3];
    h->rhs_lines = lines[4];
    status = read_type_line(t, h);
    if (status == SADDLE_OK) status = read_formats(t, h);
    if (status == SADDLE_OK && h->rhs_lines > 0) status = header_line(t, &line);
    return status;
}

/* The pointers, which must ascend from 1 to one beyond the entries. */
static saddle_status read_pointers(sd_text *t, const header *h, sd_list *list)
{
    sd_fields f;
    sd_fields_begin(&f, t, &h->pointers, "column pointers", h->cols + 1);
    int64_t last = 1;
    for (int64_t j = 0; j <= h->cols; j++) {
        int64_t pointer;
        const saddle_status status = sd_next_integer(&f, &pointer);
        if (status != SADDLE_OK) return status;
        const bool ends_wrong = (j == 0 && pointer != 1) || (j == h->cols && pointer != h->entries + 1);
        if (pointer < last || pointer > h->entries + 1 || ends_wrong) {
            return sd_malformed(t, "pointer %lld of column %lld: pointers must increase from 1 to %lld",
                                (long long)pointer, (long long)j + 1, (long long)h->entries + 1);
        }
        int64_t *item = sd_list_add(list);
        if (!item) return t->context->status;
        *item = last = pointer;
    }
    return SADDLE_OK;
}

/* The rows of column j: as many entries, of value 1 for the time being. */
static saddle_status read_column(sd_fields *f, const header *h, int64_t j, int64_t count, sd_entries *e)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t row;
        const saddle_status status = sd_next_integer(f, &row);
        if (status != SADDLE_OK) return status;
        if (row < 1 || row > h->rows) {
            return sd_malformed(f->text, "row %lld of column %lld is outside 1..%lld", (long long)row,
                                (long long)j + 1, (long long)h->rows);
        }
        if (!sd_entries_add(e, (int32_t)(row - 1), (int32_t)j, 1, f->text->line))
            return f->text->context->status;
    }
    return SADDLE_OK;
}

/* Uses the pointers up. */
static saddle_status read_indices(sd_text *t, const header *h, sd_list *pointers, sd_entries *e)
{
    sd_fields f;
    sd_fields_begin(&f, t, &h->indices, "row indices", h->entries);
    int64_t last = 1, j = -1; /* the first pointer is 1 and closes no column */
    for (const sd_list_chunk *chunk = pointers->first; chunk; chunk = sd_list_drop(pointers)) {
        const int64_t *pointer = (const int64_t *)chunk->items;
        const int64_t count = sd_chunk_count(pointers, chunk);
        for (int64_t k = 0; k < count; k++, j++) {
            const saddle_status status = read_column(&f, h, j, pointer[k] - last, e);
            if (status != SADDLE_OK) return status;
            last = pointer[k];
        }
    }
    return SADDLE_OK;
}

static saddle_status read_values(sd_text *t, const header *h, sd_entries *e)
{
    sd_fields f;
    sd_fields_begin(&f, t, &h->values, "values", h->entries);
    for (sd_list_chunk *chunk = e->list.first; chunk; chunk = chunk->next) {
        sd_entry *const end = (sd_entry *)chunk->items + sd_chunk_count(&e->list, chunk);
        for (sd_entry *entry = (sd_entry *)chunk->items; entry < end; entry++) {
            const saddle_status status = sd_next_real(&f, &entry->value);
            if (status != SADDLE_OK) return status;
            if (h->symmetry == SD_SKEW && entry->row == entry->col && entry->value != 0) {
                return sd_malformed(t, "a skew-symmetric matrix cannot have %g in row and column %lld",
                                    entry->value, (long long)entry->row + 1);
            }
        }
    }
    return SADDLE_OK;
}

/* Behind the values come right-hand sides, where the header says so, or nothing. */
static saddle_status check_end(sd_text *t, const header *h)
{
    sd_span line;
    while (h->rhs_lines == 0) {
        const saddle_status status = sd_text_line(t, &line);
        if (status != SADDLE_OK || !line.begin) return status;
        line = sd_trim(line);
        if (line.begin == line.end) continue;
        char q[SD_QUOTE];
        return sd_malformed(t, "'%s' follows the end of the matrix declared in the header",
                            sd_quote(line, q));
    }
    return SADDLE_OK;
}

saddle_status sd_boeing_matrix(sd_text *t, saddle_matrix *A)
{
    header h = {0};
    saddle_status status = read_header(t, &h);
    if (status != SADDLE_OK) return status;
    sd_list pointers;
    sd_entries e;
    sd_list_init(&pointers, t->context, sizeof(int64_t));
    sd_entries_init(&e, t->context, h.symmetry, h.rows, h.cols);
    status = read_pointers(t, &h, &pointers);
    if (status == SADDLE_OK) status = read_indices(t, &h, &pointers, &e);
    if (status == SADDLE_OK && !h.pattern) status = read_values(t, &h, &e);
    if (status == SADDLE_OK) status = check_end(t, &h);
    if (status == SADDLE_OK) status = sd_assemble(&e, t->name, true, A);
    sd_list_clear(&pointers);
    sd_entries_clear(&e);
    return status;
}
