/*
 * Options by name, from the one table in saddle.h.
 *
 * Texts are the same whatever the locale: numbers are parsed and printed with a point. A struct
 * that an older caller made is shorter than ours: what it does not hold has its default, and what
 * it holds beyond ours (a newer caller) is not looked at.
 */
#include "core/options.h"

#include "core/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct option_row {
    saddle_option option;
    size_t offset, end; /* of its field */
} option_row;

/* Choices are read and written as int; bindings count on it too. */
_Static_assert(sizeof(saddle_method) == sizeof(int), "an enum is as wide as an int");

#define FIELD(name)                                                                                          \
    offsetof(saddle_options, name), offsetof(saddle_options, name) + sizeof((saddle_options *)0)->name

static const option_row rows[] = {
#define CHOICE(name, type, value, words, help) {{#name, words, help, 'c', value, 0, 0}, FIELD(name)},
#define NUMBER(name, value, least, most, help, type)                                                         \
    {{#name, NULL, help, type, (double)(value), (double)(least), (double)(most)}, FIELD(name)},
#define COUNT(name, value, least, most, help) NUMBER(name, value, least, most, help, 'n')
#define REAL(name, value, least, most, help) NUMBER(name, value, least, most, help, 'r')
#define BYTES(name, value, least, most, help) NUMBER(name, value, least, most, help, 'b')
    SADDLE_OPTION_TABLE(CHOICE, COUNT, REAL, BYTES)
#undef CHOICE
#undef COUNT
#undef REAL
#undef BYTES
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const saddle_option *saddle_option_at(int k)
{
    return k >= 0 && k < ROWS ? &rows[k].option : NULL;
}

bool sd_same_name(const char *ours, const char *name)
{
    while (*ours && (*ours == *name || (*ours == '_' && *name == '-'))) ++ours, ++name;
    return !*ours && !*name;
}

bool sd_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strchr(words, '|'); at; at = strchr(at + 1, '|'))
        if (strncmp(at + 1, word, length) == 0 && at[1 + length] == '|') return true;
    return false;
}

bool sd_options_differ(const saddle_options *a, const saddle_options *b, const char *but)
{
    for (int k = 0; k < ROWS; ++k) {
        const size_t at = rows[k].offset, bytes = rows[k].end - at;
        if (sd_has_word(but, rows[k].option.name)) continue;
        if (memcmp((const char *)a + at, (const char *)b + at, bytes) != 0) return true;
    }
    return false;
}

void sd_options_copy(const saddle_options *from, const char *names, saddle_options *to)
{
    for (int k = 0; k < ROWS; ++k) {
        const size_t at = rows[k].offset, bytes = rows[k].end - at;
        if (sd_has_word(names, rows[k].option.name)) memcpy((char *)to + at, (const char *)from + at, bytes);
    }
}

static const option_row *find_row(const char *name)
{
    for (int k = 0; k < ROWS; ++k)
        if (sd_same_name(rows[k].option.name, name)) return &rows[k];
    return NULL;
}

const char *sd_option_words(const char *name)
{
    const option_row *row = find_row(name);
    return row ? row->option.words : NULL;
}

/* Finds word number k in "a|b|c": its start, and its length through *length; NULL beyond the last. */
static const char *find_word(const char *words, int k, size_t *length)
{
    for (; k > 0; --k) {
        words = strchr(words, '|');
        if (!words) return NULL;
        ++words;
    }
    *length = strcspn(words, "|");
    return words;
}

static int write_word(const char *words, int k, char *text, size_t size)
{
    size_t length = 0;
    const char *word = words && k >= 0 ? find_word(words, k, &length) : NULL;
    return snprintf(text, size, "%.*s", word ? (int)length : 0, word ? word : "");
}

const char *saddle_option_word(const char *name, int k, char *text, size_t text_size)
{
    if (text && text_size > 0) write_word(name ? sd_option_words(name) : NULL, k, text, text_size);
    return text;
}

double sd_field_number(const void *field, char type)
{
    int choice;
    int64_t count;
    double real;
    switch (type) {
    case 'c': memcpy(&choice, field, sizeof choice); return choice;
    case 'r': memcpy(&real, field, sizeof real); return real;
    default: memcpy(&count, field, sizeof count); return (double)count;
    }
}

int sd_field_text(const void *field, char type, const char *words, char *text, size_t size)
{
    if (type == 'c') return write_word(words, (int)sd_field_number(field, type), text, size);
    if (type == 'r') return sd_print_double(sd_field_number(field, type), 17, text, size);
    int64_t count; /* beyond 2^53 a double has not all its digits */
    memcpy(&count, field, sizeof count);
    return snprintf(text, size, "%" PRId64, count);
}

void saddle_options_init(saddle_options *to, size_t size)
{
    if (!to) return;
    saddle_options options;
    memset(&options, 0, sizeof options);
    options.size = size;
#define CHOICE_DEFAULT(name, type, value, words, help) options.name = (value);
#define NUMBER_DEFAULT(name, value, least, most, help) options.name = (value);
    SADDLE_OPTION_TABLE(CHOICE_DEFAULT, NUMBER_DEFAULT, NUMBER_DEFAULT, NUMBER_DEFAULT)
#undef CHOICE_DEFAULT
#undef NUMBER_DEFAULT
    sd_give(&options, sizeof options, to, size);
}

saddle_options *saddle_options_new(const saddle_hooks *hooks)
{
    sd_context c;
    saddle_options *options = sd_context_open(&c, hooks) ? NULL : sd_alloc(&c, 1, sizeof *options, "options");
    if (options) saddle_options_init(options, sizeof *options);
    return options;
}

void saddle_options_free(saddle_options *options, const saddle_hooks *hooks)
{
    sd_context c;
    if (!sd_context_open(&c, hooks)) sd_free(&c, options);
}

/* A count with one of the suffixes K, M, G (powers of 1024) where those are allowed. */
static bool parse_count(const char *text, bool suffix, int64_t *value)
{
    uint64_t number = 0;
    const char *p = text;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; ++p) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (number > ((uint64_t)INT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    int shift = 0;
    if (suffix && *p) {
        const char *found = strchr("KMGkmg", *p);
        if (!found || p[1]) return false;
        shift = 10 * (int)(1 + (found - "KMGkmg") % 3);
        ++p;
    }
    if (*p || number > ((uint64_t)INT64_MAX >> shift)) return false;
    *value = (int64_t)(number << shift);
    return true;
}

static saddle_status set_choice(sd_context *c, const option_row *row, int *field, const char *text)
{
    size_t length;
    const char *word;
    for (int k = 0; (word = find_word(row->option.words, k, &length)); ++k) {
        if (strlen(text) == length && strncmp(word, text, length) == 0) {
            *field = k;
            return SADDLE_OK;
        }
    }
    return sd_fail(c, SADDLE_BAD_OPTION, "%s cannot be \"%s\": it must be one of %s", row->option.name, text,
                   row->option.words);
}

/*
 * Where a word has a number of its own, NAME_WORD, both may be given at once, "word:number": returns the row
 * of the number, and its text through *number. NULL: there is none, and the text is to be read as it is.
 */
static const option_row *find_number(const option_row *row, const char *text, const char **number)
{
    char name[64];
    const char *colon = strchr(text, ':');
    if (row->option.type != 'c' || !colon) return NULL;
    const int length = snprintf(name, sizeof name, "%s_%.*s", row->option.name, (int)(colon - text), text);
    if (length < 0 || (size_t)length >= sizeof name) return NULL;
    *number = colon + 1;
    return find_row(name);
}

static saddle_status out_of_range(sd_context *c, const saddle_option *o, const char *text, double most)
{
    char low[64], high[64];
    sd_print_double(o->least, 6, low, sizeof low);
    sd_print_double(most, 6, high, sizeof high);
    return sd_fail(c, SADDLE_BAD_OPTION, "%s cannot be %s: it must be between %s and %s", o->name, text, low,
                   high);
}

static saddle_status set_number(sd_context *c, const option_row *row, void *field, const char *text)
{
    const saddle_option *o = &row->option;
    double real = 0;
    int64_t count = 0;
    const bool read =
        o->type == 'r' ? sd_parse_double_text(text, &real) : parse_count(text, o->type == 'b', &count);
    if (!read) {
        return sd_fail(c, SADDLE_BAD_OPTION, "%s cannot be \"%s\": it must be %s", o->name, text,
                       o->type == 'r'   ? "a number such as 1e-8"
                       : o->type == 'b' ? "a number of bytes such as 4000000 or 500M or 2G"
                                        : "a nonnegative integer");
    }
    const double value = o->type == 'r' ? real : (double)count;
    if (!(value >= o->least && value <= o->most)) return out_of_range(c, o, text, o->most);
    if (o->type == 'r')
        memcpy(field, &real, sizeof real);
    else
        memcpy(field, &count, sizeof count);
    return SADDLE_OK;
}

saddle_status saddle_options_set(saddle_options *options, const char *name, const char *text, char *message)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    if (!options || !name || !text) {
        sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_options_set: an argument is NULL");
        return sd_tell(&c, c.status, message);
    }
    const option_row *row = find_row(name);
    if (!row || row->end > options->size) {
        sd_fail(&c, SADDLE_BAD_OPTION, "there is no option \"%s\"", name);
        return sd_tell(&c, c.status, message);
    }
    char *field = (char *)options + row->offset;
    char word[64];
    const char *number;
    const option_row *beside = find_number(row, text, &number);
    saddle_status status = SADDLE_OK;
    if (beside && beside->end <= options->size) {
        status = set_number(&c, beside, (char *)options + beside->offset, number);
        snprintf(word, sizeof word, "%.*s", (int)(number - 1 - text), text);
        text = word;
    }
    if (!status)
        status = row->option.type == 'c' ? set_choice(&c, row, (int *)(void *)field, text)
                                         : set_number(&c, row, field, text);
    return sd_tell(&c, status, message);
}

saddle_status saddle_options_get(const saddle_options *options, const char *name, char *text,
                                 size_t text_size)
{
    if (!options || !name || !text || text_size == 0) return SADDLE_BAD_ARGUMENT;
    const option_row *row = find_row(name);
    if (!row || row->end > options->size) return SADDLE_BAD_OPTION;
    const int length = sd_field_text((const char *)options + row->offset, row->option.type, row->option.words,
                                     text, text_size);
    return length >= 0 && (size_t)length < text_size ? SADDLE_OK : SADDLE_BAD_ARGUMENT;
}

saddle_status sd_options_take(sd_context *c, const saddle_options *from, saddle_options *to)
{
    saddle_options_init(to, sizeof *to);
    if (!from) return SADDLE_OK;
    if (from->size < sizeof from->size || from->size > 1 << 20) {
        return sd_fail(c, SADDLE_BAD_OPTION,
                       "options.size is %zu: initialise options with saddle_options_default()", from->size);
    }
    for (int k = 0; k < ROWS; ++k) {
        const saddle_option *o = &rows[k].option;
        char *field = (char *)to + rows[k].offset;
        if (rows[k].end > from->size) continue;
        memcpy(field, (const char *)from + rows[k].offset, rows[k].end - rows[k].offset);
        const double value = sd_field_number(field, o->type);
        double most = o->most;
        if (o->type == 'c') {
            most = 0;
            for (const char *p = o->words; *p; ++p) most += *p == '|';
        }
        if (!(value >= o->least && value <= most)) {
            char text[64];
            sd_print_double(value, 6, text, sizeof text);
            return out_of_range(c, o, text, most);
        }
    }
    return SADDLE_OK;
}
