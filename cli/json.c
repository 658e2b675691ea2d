/* See json.h. The program never calls setlocale: numbers are printed with a point. */
#include "cli/json.h"
#include "cli/numbers.h"

#include "saddle/saddle.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* File names may hold any bytes, JSON only UTF-8: what is not becomes the replacement character. */
static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *p = text; *p;) {
        const size_t length = utf8_length(p);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (length == 1 && (*p < 0x20 || *p == 0x7f))
            fprintf(out, "\\u%04x", (unsigned)*p);
        else
            fwrite(p, 1, length, out);
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

int json_write(const char *path, json_writer *write, const void *what)
{
    json j = {.empty = {true}};
    const int status = outfile_open(&j.file, path);
    if (status != 0) return status;
    j.out = j.file.stream;
    fputc('{', j.out);
    json_text(&j, "saddle", saddle_version());
    write(&j, what);
    assert(j.depth == 0);
    fputs("\n}\n", j.out);
    return outfile_close(&j.file, true);
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

static const saddle_info_item *find_item(const char *name)
{
    const saddle_info_item *item;
    for (int k = 0; (item = saddle_info_at(k)) && strcmp(item->name, name) != 0; ++k) continue;
    assert(item);
    return item;
}

void json_info(json *j, bool known, const saddle_info *info, const char *names)
{
    char key[40], text[40], *name;
    double number = NAN;
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, names);
        name = strchr(key, '=');
        if (name) *name++ = 0;
        const saddle_info_item *item = find_item(name ? name : key);
        saddle_info_get(info, item->name, text, sizeof text);
        saddle_info_number(info, item->name, &number);
        if (item->type == 'r')
            json_number(j, key, known ? number : NAN);
        else if (item->type == 'n')
            json_count(j, key, known && strcmp(text, "unknown") != 0 ? strtoll(text, NULL, 10) : -1);
        else if (item->words)
            json_truth(j, key, known ? (int)number : -1);
        else
            json_choice(j, key, known ? (int)number : -1);
    }
}

void json_ending(json *j, int exit, const char *message)
{
    json_count(j, "status", exit);
    json_text(j, "message", message[0] ? message : NULL);
}

void json_put(json *j, bool known, const json_item *items, size_t count)
{
    for (const json_item *i = items; i < items + count; ++i) {
        switch (i->kind) {
        case 't': json_text(j, i->key, known ? i->text : NULL); break;
        case 'c': json_count(j, i->key, known ? i->count : -1); break;
        case 'n': json_number(j, i->key, known ? i->number : NAN); break;
        default: json_truth(j, i->key, known ? (int)i->count : -1);
        }
    }
}

void json_put_object(json *j, const char *key, bool known, const json_item *items, size_t count)
{
    json_object(j, key);
    json_put(j, known, items, count);
    json_close(j);
}

void json_numbers(json *j, const char *key, const double *numbers, int64_t count)
{
    json_array(j, key);
    for (int64_t k = 0; k < count; ++k) json_number(j, NULL, numbers[k]);
    json_close(j);
}
