/* Info by name, from the one table in saddle.h, and infos of another length than ours. See info.h. */
#include "core/info.h"

#include "core/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct info_row {
    saddle_info_item item;
    size_t offset, end; /* of its field */
} info_row;

#define FIELD(name) offsetof(saddle_info, name), offsetof(saddle_info, name) + sizeof((saddle_info *)0)->name

static const info_row rows[] = {
    {{"status", NULL, "status code returned by the call, and its meaning as text", 'c'}, FIELD(status)},
    {{"message", NULL, "what went wrong, in words", 'x'}, FIELD(message)},
    {{"tried_list", NULL, "what `auto` tried before, and why each attempt failed", 'x'}, FIELD(tried_list)},
#define CHOICE(name, type, words, help) {{#name, words, help, 'c'}, FIELD(name)},
#define TRUTH(name, help) CHOICE(name, int, "no|yes", help)
#define COUNT(name, value, help) {{#name, NULL, help, 'n'}, FIELD(name)},
#define REAL(name, help) {{#name, NULL, help, 'r'}, FIELD(name)},
    SADDLE_INFO_TABLE(CHOICE, TRUTH, COUNT, REAL, REAL)
#undef CHOICE
#undef TRUTH
#undef COUNT
#undef REAL
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const saddle_info_item *saddle_info_at(int k)
{
    return k >= 0 && k < ROWS ? &rows[k].item : NULL;
}

const saddle_info sd_info_unknown = {.size = sizeof(saddle_info),
#define KNOWN(name, ...)
#define COUNT(name, value, help) .name = (value),
#define REAL(name, help) .name = NAN,
                                     SADDLE_INFO_TABLE(KNOWN, KNOWN, COUNT, REAL, KNOWN)
#undef KNOWN
#undef COUNT
#undef REAL
};

void saddle_info_init(saddle_info *to, size_t size)
{
    if (!to) return;
    sd_give(&sd_info_unknown, sizeof sd_info_unknown, to, size);
    sd_give(&size, sizeof size, to, size);
}

bool sd_info_has_history(const saddle_info *info)
{
    return info->size >= offsetof(saddle_info, history_length) + sizeof info->history_length;
}

void sd_info_give(const saddle_info *ours, saddle_info *to)
{
    const size_t size = to->size;
    const bool kept = size >= offsetof(saddle_info, history_room) + sizeof to->history_room;
    double *const history = kept ? to->history : NULL;
    const int64_t room = kept ? to->history_room : 0;
    sd_give(ours, sizeof *ours, to, size);
    to->size = size;
    if (kept) {
        to->history = history;
        to->history_room = room;
    }
}

/* The row of a name that this info is long enough to have. */
static const info_row *find_row(const saddle_info *info, const char *name)
{
    for (int k = 0; info && name && k < ROWS; ++k)
        if (sd_same_name(rows[k].item.name, name)) return rows[k].end <= info->size ? &rows[k] : NULL;
    return NULL;
}

saddle_status saddle_info_number(const saddle_info *info, const char *name, double *value)
{
    const info_row *row = find_row(info, name);
    if (!row || !value || row->item.type == 'x') return SADDLE_BAD_ARGUMENT;
    *value = sd_field_number((const char *)info + row->offset, row->item.type);
    return SADDLE_OK;
}

/* Each takes what it writes to, and returns the length that all of it has. */

static int write_tried(const saddle_info *info, char *text, size_t size)
{
    char method[32], krylov[32];
    int length = snprintf(text, size, "%s", "");
    for (int k = 0; k < info->tried && k < SADDLE_TRIED_MAX; ++k) {
        const size_t used = (size_t)length < size ? (size_t)length : size;
        saddle_option_word("method", (int)info->tried_list[k].method, method, sizeof method);
        saddle_option_word("krylov", (int)info->tried_list[k].krylov, krylov, sizeof krylov);
        length += snprintf(text + used, size - used, "%s%s + %s: %s", k ? "; " : "", method, krylov,
                           saddle_reason_text(info->tried_list[k].why_left));
    }
    return length;
}

static int write_text(const saddle_info *info, const info_row *row, char *text, size_t size)
{
    if (row->offset == offsetof(saddle_info, tried_list)) return write_tried(info, text, size);
    if (row->offset == offsetof(saddle_info, status))
        return snprintf(text, size, "%s", saddle_status_text(info->status));
    if (row->item.type == 'x') return snprintf(text, size, "%s", info->message);
    const char *field = (const char *)info + row->offset;
    const double number = sd_field_number(field, row->item.type);
    if (isnan(number) || (row->item.type == 'n' && number < 0)) return snprintf(text, size, "unknown");
    const char *words = row->item.words ? row->item.words : sd_option_words(row->item.name);
    return sd_field_text(field, row->item.type, words, text, size);
}

saddle_status saddle_info_get(const saddle_info *info, const char *name, char *text, size_t text_size)
{
    const info_row *row = find_row(info, name);
    if (!row || !text || text_size == 0) return SADDLE_BAD_ARGUMENT;
    const int length = write_text(info, row, text, text_size);
    return length >= 0 && (size_t)length < text_size ? SADDLE_OK : SADDLE_BAD_ARGUMENT;
}

saddle_info *saddle_info_new(const saddle_hooks *hooks)
{
    sd_context c;
    saddle_info *info = sd_context_open(&c, hooks) ? NULL : sd_alloc(&c, 1, sizeof *info, "info");
    if (info) saddle_info_init(info, sizeof *info);
    return info;
}

void saddle_info_free(saddle_info *info, const saddle_hooks *hooks)
{
    sd_context c;
    if (!sd_context_open(&c, hooks)) sd_free(&c, info);
}

void saddle_info_set_history(saddle_info *info, double *history, int64_t room)
{
    if (!info || !sd_info_has_history(info)) return;
    info->history = history;
    info->history_room = room;
}
