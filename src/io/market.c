/*
 * Matrix Market files (Boisvert, Pozo and Remington, NISTIR 5935, 1996): a banner
 *
 *     %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric
 *
 * comments, a line with the sizes, and one entry per line: "row column value" counted from 1, or, for
 * arrays, the values column by column (of a symmetric one only the lower triangle, of a skew one
 * only what is strictly below the diagonal).
 */
#include "core/number.h"
#include "io/assemble.h"
#include "io/io.h"
#include "matrix/csr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct header {
    bool coordinate, pattern, integer;
    sd_symmetry symmetry;
    int64_t rows, cols, entries; /* entries of the file */
} header;

bool sd_is_market_banner(sd_span line)
{
    return line.begin < line.end && *line.begin == '%';
}

static saddle_status read_object(sd_text *t, sd_span *line, header *h)
{
    char q[SD_QUOTE];
    sd_span word = sd_next_word(line);
    if (!sd_span_is(word, "%%matrixmarket")) {
        return sd_malformed(t, "the file begins with '%s' instead of '%%%%MatrixMarket'", sd_quote(word, q));
    }
    word = sd_next_word(line);
    if (!sd_span_is(word, "matrix")) {
        return sd_malformed(t, "the banner has '%s' instead of 'matrix'", sd_quote(word, q));
    }
    word = sd_next_word(line);
    h->coordinate = sd_span_is(word, "coordinate");
    if (!h->coordinate && !sd_span_is(word, "array")) {
        return sd_malformed(t, "the format '%s' is neither 'coordinate' nor 'array'", sd_quote(word, q));
    }
    return SADDLE_OK;
}

static saddle_status read_field(sd_text *t, sd_span field, header *h)
{
    char q[SD_QUOTE];
    h->pattern = sd_span_is(field, "pattern");
    h->integer = sd_span_is(field, "integer");
    if (sd_span_is(field, "complex")) {
        return sd_text_fail(t, SADDLE_NOT_SUPPORTED, "complex matrices are not supported");
    }
    if (!h->pattern && !h->integer && !sd_span_is(field, "real") && !sd_span_is(field, "double")) {
        return sd_malformed(t, "the field '%s' is not one of 'real', 'integer', 'pattern', 'complex'",
                            sd_quote(field, q));
    }
    return SADDLE_OK;
}

static saddle_status read_symmetry(sd_text *t, sd_span symmetry, header *h)
{
    char q[SD_QUOTE];
    if (sd_span_is(symmetry, "hermitian")) {
        return sd_text_fail(t, SADDLE_NOT_SUPPORTED, "Hermitian matrices are not supported");
    }
    h->symmetry = sd_span_is(symmetry, "symmetric")        ? SD_SYMMETRIC
                  : sd_span_is(symmetry, "skew-symmetric") ? SD_SKEW
                                                           : SD_GENERAL;
    if (h->symmetry == SD_GENERAL && !sd_span_is(symmetry, "general")) {
        return sd_malformed(t, "the symmetry '%s' is not one of 'general', 'symmetric', 'skew-symmetric'",
                            sd_quote(symmetry, q));
    }
    if (h->pattern && (!h->coordinate || h->symmetry == SD_SKEW)) {
        return sd_malformed(t, "a pattern cannot be %s", h->coordinate ? "skew-symmetric" : "an array");
    }
    return SADDLE_OK;
}

static saddle_status read_banner(sd_text *t, sd_span line, header *h)
{
    saddle_status status = read_object(t, &line, h);
    if (!status) status = read_field(t, sd_next_word(&line), h);
    return status ? status : read_symmetry(t, sd_next_word(&line), h);
}

/* The next line that is neither blank nor a comment, without leading blanks. */
static inline saddle_status next_line(sd_text *t, sd_span *line)
{
    for (;;) {
        const saddle_status status = sd_text_line(t, line);
        if (status != SADDLE_OK || !line->begin) return status;
        line->begin = sd_skip_blanks(line->begin, line->end);
        if (line->begin < line->end && *line->begin != '%') return SADDLE_OK;
    }
}

static saddle_status read_sizes(sd_text *t, header *h)
{
    sd_span line;
    const saddle_status status = next_line(t, &line);
    if (status != SADDLE_OK) return status;
    if (!line.begin) return sd_malformed(t, "the file ends before the size line");
    static const char *const names[] = {"rows", "columns", "entries"};
    int64_t size[3] = {0};
    const int wanted = h->coordinate ? 3 : 2;
    for (int k = 0; k < wanted; k++) {
        char q[SD_QUOTE];
        const sd_span word = sd_next_word(&line);
        if (sd_parse_int64(word.begin, word.end, &size[k]) != word.end || size[k] < 0) {
            return sd_malformed(t, "'%s' is not a valid number of %s", sd_quote(word, q), names[k]);
        }
    }
    line = sd_trim(line);
    if (line.begin < line.end) {
        char q[SD_QUOTE];
        return sd_malformed(t, "unexpected '%s' after the %d sizes", sd_quote(line, q), wanted);
    }
    if (size[0] > SD_SIZE_MOST || size[1] > SD_SIZE_MOST) {
        return sd_text_fail(t, SADDLE_NOT_SUPPORTED,
                            "%lld rows, %lld columns: more than %lld are not supported", (long long)size[0],
                            (long long)size[1], (long long)SD_SIZE_MOST);
    }
    if (h->symmetry != SD_GENERAL && size[0] != size[1]) {
        return sd_malformed(t, "a symmetric matrix cannot have %lld rows and %lld columns",
                            (long long)size[0], (long long)size[1]);
    }
    h->rows = size[0];
    h->cols = size[1];
    const int64_t n = h->rows;
    h->entries = h->coordinate                 ? size[2]
                 : h->symmetry == SD_SYMMETRIC ? n * (n + 1) / 2
                 : h->symmetry == SD_SKEW      ? n * (n - 1) / 2
                                               : n * h->cols;
    return SADDLE_OK;
}

static saddle_status fail_short(sd_text *t, const header *h, int64_t k)
{
    return sd_malformed(t, "the header declares %lld entries, but the file ends after %lld at line %lld",
                        (long long)h->entries, (long long)k, (long long)t->line);
}

static saddle_status check_end(sd_text *t, const header *h)
{
    sd_span line;
    const saddle_status status = next_line(t, &line);
    if (status != SADDLE_OK || !line.begin) return status;
    char q[SD_QUOTE];
    return sd_malformed(t, "unexpected '%s' after the %lld entries declared in the header",
                        sd_quote(sd_trim(line), q), (long long)h->entries);
}

/* A value must be a finite number with nothing but blanks behind it: says what is wrong. An array's is
 * number `entry` of it, from 1; 0 where row and column are in the line. */
static saddle_status explain_value(sd_text *t, const header *h, sd_span text, int64_t entry)
{
    char q[SD_QUOTE], which[40] = "";
    double value;
    const sd_span word = sd_next_word(&text);
    text = sd_trim(text);
    if (word.begin == word.end) return sd_malformed(t, "the value is missing");
    if (sd_parse_double(word.begin, word.end, &value) != word.end) {
        return sd_malformed(t, "'%s' is not a number", sd_quote(word, q));
    }
    if (!isfinite(value)) {
        const size_t length = (size_t)(word.end - word.begin); /* only inf and nan have an n */
        const bool named = memchr(word.begin, 'n', length) || memchr(word.begin, 'N', length);
        if (entry > 0) snprintf(which, sizeof which, " of entry %lld", (long long)entry);
        return sd_text_fail(t, SADDLE_BAD_VALUE, "the value '%s'%s is %s", sd_quote(word, q), which,
                            named ? "not finite" : "out of the range of double");
    }
    if (h->integer && value != trunc(value)) {
        return sd_malformed(t, "'%s' is not an integer, although the banner says 'integer'",
                            sd_quote(word, q));
    }
    return sd_malformed(t, "unexpected '%s' after the value", sd_quote(text, q));
}

/* The value that ends a line; false where explain_value has something to say. */
static inline bool parse_value(const header *h, const char *p, const char *end, double *value)
{
    p = sd_parse_double(sd_skip_blanks(p, end), end, value);
    if (!p || !isfinite(*value) || (h->integer && *value != trunc(*value))) return false;
    return sd_skip_blanks(p, end) == end;
}

static saddle_status explain_coordinates(sd_text *t, const header *h, sd_span line)
{
    char q[SD_QUOTE];
    for (int k = 0; k < 2; k++) {
        const char *name = k == 0 ? "row" : "column";
        const int64_t most = k == 0 ? h->rows : h->cols;
        int64_t index;
        const sd_span word = sd_next_word(&line);
        if (word.begin == word.end) return sd_malformed(t, "the %s is missing", name);
        if (sd_parse_int64(word.begin, word.end, &index) != word.end) {
            return sd_malformed(t, "'%s' is not a %s", sd_quote(word, q), name);
        }
        if (index < 1 || index > most) {
            return sd_malformed(t, "%s %lld is outside 1..%lld", name, (long long)index, (long long)most);
        }
    }
    if (!h->pattern) return explain_value(t, h, line, 0);
    return sd_malformed(t, "unexpected '%s' after the row and column of a pattern",
                        sd_quote(sd_trim(line), q));
}

/* One entry, counted from 1; false where explain_coordinates has something to say. */
static inline bool parse_entry(const header *h, sd_span line, int64_t *row, int64_t *col, double *value)
{
    const char *p = sd_parse_int64(line.begin, line.end, row);
    if (!p || p == line.end || !sd_is_blank(*p)) return false;
    p = sd_parse_int64(sd_skip_blanks(p, line.end), line.end, col);
    if (!p || *row < 1 || *row > h->rows || *col < 1 || *col > h->cols) return false;
    if (h->pattern) {
        *value = 1;
        return sd_skip_blanks(p, line.end) == line.end;
    }
    return p < line.end && sd_is_blank(*p) && parse_value(h, p, line.end, value);
}

static saddle_status read_coordinates(sd_text *t, const header *h, sd_entries *e)
{
    for (int64_t k = 0; k < h->entries; k++) {
        sd_span line;
        const saddle_status status = next_line(t, &line);
        if (status != SADDLE_OK) return status;
        if (!line.begin) return fail_short(t, h, k);
        int64_t row, col;
        double value;
        if (!parse_entry(h, line, &row, &col, &value)) return explain_coordinates(t, h, line);
        if (h->symmetry == SD_SKEW && row == col && value != 0) {
            return sd_malformed(t, "a skew-symmetric matrix cannot have %g in row and column %lld", value,
                                (long long)row);
        }
        if (!sd_entries_add(e, (int32_t)(row - 1), (int32_t)(col - 1), value, t->line)) {
            return t->context->status;
        }
    }
    return check_end(t, h);
}

static saddle_status next_array_value(sd_text *t, const header *h, int64_t k, double *value)
{
    sd_span line;
    const saddle_status status = next_line(t, &line);
    if (status != SADDLE_OK) return status;
    if (!line.begin) return fail_short(t, h, k);
    return parse_value(h, line.begin, line.end, value) ? SADDLE_OK : explain_value(t, h, line, k + 1);
}

static saddle_status read_array(sd_text *t, const header *h, sd_entries *e)
{
    int64_t row = h->symmetry == SD_SKEW, col = 0;
    for (int64_t k = 0; k < h->entries; k++) {
        double value = 0;
        const saddle_status status = next_array_value(t, h, k, &value);
        if (status != SADDLE_OK) return status;
        if (value != 0 && !sd_entries_add(e, (int32_t)row, (int32_t)col, value, t->line)) {
            return t->context->status;
        }
        if (++row < h->rows) continue;
        col++;
        row = h->symmetry == SD_GENERAL ? 0 : h->symmetry == SD_SKEW ? col + 1 : col;
    }
    return check_end(t, h);
}

saddle_status sd_market_matrix(sd_text *t, sd_span banner, saddle_matrix *A)
{
    header h = {0};
    saddle_status status = read_banner(t, banner, &h);
    if (status == SADDLE_OK) status = read_sizes(t, &h);
    if (status != SADDLE_OK) return status;
    sd_entries e;
    sd_entries_init(&e, t->context, h.symmetry, h.rows, h.cols);
    status = h.coordinate ? read_coordinates(t, &h, &e) : read_array(t, &h, &e);
    if (status == SADDLE_OK) status = sd_assemble(&e, t->name, true, A);
    sd_entries_clear(&e);
    return status;
}

static saddle_status read_dense_vector(sd_text *t, const header *h, double **values)
{
    sd_list list;
    sd_list_init(&list, t->context, sizeof(double));
    saddle_status status = SADDLE_OK;
    for (int64_t k = 0; status == SADDLE_OK && k < h->entries; k++) {
        double value = 0;
        status = next_array_value(t, h, k, &value);
        if (status != SADDLE_OK) break;
        double *item = sd_list_add(&list);
        if (item) {
            *item = value;
        } else {
            status = t->context->status;
        }
    }
    if (status == SADDLE_OK) status = check_end(t, h);
    if (status == SADDLE_OK) {
        *values = sd_list_to_array(&list, "the vector");
        if (!*values) status = t->context->status;
    }
    sd_list_clear(&list);
    return status;
}

/* The matrix of one column by rows, and from it the vector. */
static saddle_status read_sparse_vector(sd_text *t, const header *h, double **values)
{
    sd_context *c = t->context;
    saddle_matrix A = {0};
    sd_entries e;
    sd_entries_init(&e, c, SD_GENERAL, h->rows, h->cols);
    saddle_status status = read_coordinates(t, h, &e);
    if (status == SADDLE_OK) status = sd_assemble(&e, t->name, false, &A);
    if (status == SADDLE_OK) {
        *values = sd_alloc_zero(c, h->rows, sizeof **values, "the vector");
        if (!*values) status = c->status;
        const int64_t *start = A.pointers;
        const double *value = A.values;
        for (int64_t i = 0; *values && i < h->rows; i++) {
            if (start[i] < start[i + 1]) (*values)[i] = value[start[i]];
        }
    }
    sd_view_free(c, &A);
    sd_entries_clear(&e);
    return status;
}

saddle_status sd_market_vector(sd_text *t, sd_span banner, int64_t *n, double **values)
{
    header h = {0};
    saddle_status status = read_banner(t, banner, &h);
    if (status == SADDLE_OK) status = read_sizes(t, &h);
    if (status != SADDLE_OK) return status;
    if (h.cols != 1) {
        return sd_text_fail(
            t, SADDLE_NOT_SUPPORTED,
            "a vector must have 1 column, not %lld (several right-hand sides in a file are not "
            "supported)",
            (long long)h.cols);
    }
    if (h.symmetry != SD_GENERAL) return sd_malformed(t, "a vector must be 'general', not symmetric");
    status = h.coordinate ? read_sparse_vector(t, &h, values) : read_dense_vector(t, &h, values);
    if (status == SADDLE_OK) *n = h.rows;
    return status;
}
