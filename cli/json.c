/* See json.h. The program never calls setlocale: numbers are printed with a point. */
#include "cli/json.h"
#include "cli/numbers.h"

#include "saddle/saddle.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at p (RFC 3629: no overlong forms, no surrogates), 0 for none. */
static int utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80) return 1;
    const int length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    for (int k = 1; k < length; ++k) {
        if ((p[k] & 0xc0) != 0x80) return 0;
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return length;
}

/* File names may hold any bytes, JSON only UTF-8: what is not becomes the replacement character. */
static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const int length = utf8_length(p);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else
            fwrite(p, 1, (size_t)length, out);
        p += length ? length : 1;
    }
    fputc('"', out);
}

/* The comma and the key before a value. */
static void before_value(json *j, const char *key)
{
    if (!j->empty[j->depth]) fputs(j->depth == 0 ? "," : ", ", j->out);
    j->empty[j->depth] = false;
    if (j->depth == 0) fputs("\n ", j->out);
    if (!key) return;
    write_string(j->out, key);
    fputs(": ", j->out);
}

static void open_level(json *j, const char *key, char opener, char closer)
{
    before_value(j, key);
    assert(j->depth + 1 < JSON_DEPTH);
    ++j->depth;
    j->closer[j->depth] = closer;
    j->empty[j->depth] = true;
    fputc(opener, j->out);
}

int json_begin(json *j, const char *path)
{
    memset(j, 0, sizeof *j);
    const int status = outfile_open(&j->file, path);
    if (status != 0) return status;
    j->out = j->file.stream;
    j->empty[0] = true;
    fputc('{', j->out);
    json_text(j, "saddle", saddle_version());
    return 0;
}

int json_end(json *j)
{
    assert(j->depth == 0);
    fputs("\n}\n", j->out);
    return outfile_close(&j->file, true);
}

void json_object(json *j, const char *key)
{
    open_level(j, key, '{', '}');
}

void json_array(json *j, const char *key)
{
    open_level(j, key, '[', ']');
}

void json_close(json *j)
{
    assert(j->depth > 0);
    fputc(j->closer[j->depth--], j->out);
}

void json_text(json *j, const char *key, const char *text)
{
    before_value(j, key);
    if (text)
        write_string(j->out, text);
    else
        fputs("null", j->out);
}

void json_count(json *j, const char *key, int64_t count)
{
    before_value(j, key);
    if (count >= 0)
        fprintf(j->out, "%" PRId64, count);
    else
        fputs("null", j->out);
}

void json_number(json *j, const char *key, double number)
{
    char text[40];
    number_text(number, text, sizeof text);
    before_value(j, key);
    fputs(text, j->out);
}

void json_truth(json *j, const char *key, int truth)
{
    before_value(j, key);
    fputs(truth < 0 ? "null" : truth ? "true" : "false", j->out);
}

void json_choice(json *j, const char *option, int choice)
{
    char word[32];
    const bool told = choice >= 0 && *saddle_option_word(option, choice, word, sizeof word);
    json_text(j, option, told && strcmp(word, "auto") != 0 ? word : NULL);
}

void json_counts(json *j, bool known, const json_count_row *rows, size_t count)
{
    for (size_t k = 0; k < count; ++k) json_count(j, rows[k].key, known ? rows[k].count : -1);
}

void json_numbers(json *j, bool known, const json_number_row *rows, size_t count)
{
    for (size_t k = 0; k < count; ++k) json_number(j, rows[k].key, known ? rows[k].number : NAN);
}
