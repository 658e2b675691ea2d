/* Fortran formats and the numbers that are in them. See fortran.h. */
#include "io/fortran.h"

#include "core/number.h"

#include <math.h>

enum { MOST_STEPS = 10000, MOST_DEPTH = 8, NUMBER_ROOM = 128 };

/* A format is expanded item by item; steps bounds repeats of groups that hold no number. */
typedef struct parser {
    const char *p, *end;
    sd_format *format;
    int column, steps;
} parser;

sd_span sd_next_format(sd_span *line)
{
    sd_span format = {line->begin, line->begin};
    while (format.begin < line->end && *format.begin != '(') format.begin++;
    int depth = 0;
    for (format.end = format.begin; format.end < line->end;) {
        const char ch = *format.end++;
        depth += (ch == '(') - (ch == ')');
        if (depth == 0) break;
    }
    if (depth != 0) format.end = format.begin;
    line->begin = format.end;
    return format;
}

static char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch + 32) : ch;
}

static void skip_blanks(parser *s)
{
    s->p = sd_skip_blanks(s->p, s->end);
}

/* A number without sign, or otherwise where there is none; -1 where it is too large. */
static int number(parser *s, int otherwise)
{
    skip_blanks(s);
    if (s->p == s->end || *s->p < '0' || *s->p > '9') return otherwise;
    int n = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        n = n * 10 + (*s->p - '0');
        if (n > SD_FORMAT_COLUMNS) return -1;
    }
    skip_blanks(s);
    return n;
}

/* Passes over a character, a letter in either case, where it is the next one. */
static bool take(parser *s, char ch)
{
    skip_blanks(s);
    if (s->p == s->end || lower(*s->p) != ch) return false;
    s->p++;
    return true;
}

/* Iw, Fw.d, Ew.d, Ew.dEe, Dw.d, Gw.d, after the repeat count. */
static bool parse_edit(parser *s, int repeat)
{
    sd_format *f = s->format;
    const char kind = lower(*s->p++);
    const int width = number(s, 0);
    if (width <= 0) return false;
    if (take(s, '.') && number(s, -1) < 0) return false;
    if (kind != 'i' && take(s, 'e') && number(s, -1) < 0) return false;
    if (kind != 'i') f->integer = false;
    for (int k = 0; k < repeat; k++) {
        if (f->count == SD_FORMAT_FIELDS || s->column + width > SD_FORMAT_COLUMNS) return false;
        f->column[f->count] = (int16_t)s->column;
        f->width[f->count] = (int16_t)width;
        f->count++;
        s->column += width;
    }
    return true;
}

static bool parse_group(parser *s, int depth);

static bool parse_item(parser *s, int depth)
{
    if (++s->steps > MOST_STEPS) return false;
    const bool negative = take(s, '-');
    const int repeat = number(s, 1);
    if (repeat < 0 || s->p == s->end) return false;
    if (take(s, 'p')) return true; /* scales what has no exponent: does not matter here */
    if (negative) return false;
    if (take(s, 'x')) {
        s->column += repeat;
        return s->column <= SD_FORMAT_COLUMNS;
    }
    if (*s->p == '(') {
        const char *group = s->p;
        for (int k = 0; k < repeat; k++) {
            s->p = group;
            if (!parse_group(s, depth + 1)) return false;
        }
        return repeat > 0;
    }
    const char kind = lower(*s->p);
    return (kind == 'i' || (kind >= 'd' && kind <= 'g')) && parse_edit(s, repeat);
}

static bool parse_group(parser *s, int depth)
{
    if (depth > MOST_DEPTH || !take(s, '(')) return false;
    while (!take(s, ')')) {
        if (s->p == s->end || !parse_item(s, depth)) return false;
        take(s, ',');
    }
    return true;
}

bool sd_parse_format(sd_span text, sd_format *format)
{
    format->count = 0;
    format->integer = true;
    parser s = {text.begin, text.end, format, 0, 0};
    return parse_group(&s, 0) && s.p == s.end && format->count > 0;
}

void sd_fields_begin(sd_fields *f, sd_text *t, const sd_format *format, const char *what, int64_t promised)
{
    *f = (sd_fields){.text = t, .format = format, .what = what, .promised = promised, .next = format->count};
}

/* The text of the next number, without blanks. */
static saddle_status next_field(sd_fields *f, sd_span *field)
{
    sd_text *t = f->text;
    if (f->next == f->format->count) {
        do {
            const saddle_status status = sd_text_line(t, &f->line);
            if (status != SADDLE_OK) return status;
            if (!f->line.begin) {
                return sd_malformed(t,
                                    "the header declares %lld %s, but the file ends after %lld at line %lld",
                                    (long long)f->promised, f->what, (long long)f->read, (long long)t->line);
            }
        } while (sd_skip_blanks(f->line.begin, f->line.end) == f->line.end);
        f->next = 0;
    }
    const int64_t length = f->line.end - f->line.begin;
    const int64_t begin = f->format->column[f->next], end = begin + f->format->width[f->next];
    field->begin = f->line.begin + (begin < length ? begin : length);
    field->end = f->line.begin + (end < length ? end : length);
    *field = sd_trim(*field);
    if (field->begin == field->end) {
        return sd_malformed(t, "columns %lld to %lld, where one of the %s should be, are blank",
                            (long long)begin + 1, (long long)end, f->what);
    }
    f->next++;
    f->read++;
    return SADDLE_OK;
}

saddle_status sd_next_integer(sd_fields *f, int64_t *value)
{
    sd_span field = {0};
    const saddle_status status = next_field(f, &field);
    if (status != SADDLE_OK) return status;
    if (sd_parse_int64(field.begin, field.end, value) == field.end) return SADDLE_OK;
    char q[SD_QUOTE];
    return sd_malformed(f->text, "'%s', among the %s, is not an integer", sd_quote(field, q), f->what);
}

/* Fortran leaves out the E before an exponent of three digits: puts it in again. */
static bool parse_without_letter(sd_span field, const char *sign, double *value)
{
    char text[NUMBER_ROOM];
    const size_t length = (size_t)(field.end - field.begin), before = (size_t)(sign - field.begin);
    if ((*sign != '+' && *sign != '-') || length + 1 > sizeof text) return false;
    memcpy(text, field.begin, before);
    text[before] = 'E';
    memcpy(text + before + 1, sign, length - before);
    return sd_parse_double(text, text + length + 1, value) == text + length + 1;
}

saddle_status sd_next_real(sd_fields *f, double *value)
{
    sd_span field = {0};
    const saddle_status status = next_field(f, &field);
    if (status != SADDLE_OK) return status;
    char q[SD_QUOTE];
    const char *after = sd_parse_double(field.begin, field.end, value);
    if (!after || (after < field.end && !parse_without_letter(field, after, value))) {
        return sd_malformed(f->text, "'%s', among the %s, is not a number", sd_quote(field, q), f->what);
    }
    if (isfinite(*value)) return SADDLE_OK;
    return sd_text_fail(f->text, SADDLE_BAD_VALUE,
                        "'%s', among the %s, is not finite or out of the range of double", sd_quote(field, q),
                        f->what);
}
