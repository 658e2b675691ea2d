/* Parsing of the command line by the tables of options; see options.h. */
#include "cli/options.h"

#include "cli/command.h"
#include "cli/given.h"
#include "cli/help.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option talk_options[] = {
    OPTION_FLAG("quiet", 'q', "print only errors"),
    OPTION_FLAG("verbose", 'v', "print more details"),
    OPTION_END,
};

static const option common_options[] = {
    OPTION_FLAG("help", 'h', "print this help"),
    OPTION_FLAG("version", 0, "print version, commit, BLAS and CUDA"),
    OPTION_END,
};

static void add_option(arguments *a, const option *o)
{
    assert(a->option_count < OPTION_MOST);
    a->options[a->option_count++] = *o;
}

bool argument_taken(const arguments *a, const saddle_option *row)
{
    return strcmp(a->command->library, "*") == 0 || word_number(a->command->library, row->name) >= 0;
}

void arguments_begin(arguments *a, const command *c)
{
    memset(a, 0, sizeof *a);
    a->command = c;
    a->library = saddle_options_default();
    for (const option *o = c->options; o && o->is.name; ++o) add_option(a, o);
    const saddle_option *row;
    for (int k = 0; (row = saddle_option_at(k)); ++k) {
        if (!argument_taken(a, row)) continue;
        char *name = a->names[a->option_count];
        snprintf(name, sizeof a->names[0], "%s", row->name);
        for (char *p = name; *p; ++p) {
            if (*p == '_') *p = '-';
        }
        option o = {*row, 0, NULL, NULL};
        o.is.name = name;
        if (given_takes_file(row)) {
            given_stands(row, a->stands[a->option_count], sizeof a->stands[0]);
            o.stands = a->stands[a->option_count];
        }
        add_option(a, &o);
    }
    for (const option *o = talk_options; !c->hidden && o->is.name; ++o) add_option(a, o);
    for (const option *o = common_options; o->is.name; ++o) add_option(a, o);
}

static int find_option(const arguments *a, const char *name, size_t length)
{
    for (int k = 0; k < a->option_count; ++k) {
        const char *known = a->options[k].is.name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) return k;
    }
    return -1;
}

/* The library's options are those whose names are kept in a->names. */
static bool is_library_option(const arguments *a, int k)
{
    return a->options[k].is.name == a->names[k];
}

static int unknown_option(const arguments *a, const char *text, size_t length)
{
    const char *words[OPTION_MOST];
    char name[64];
    for (int k = 0; k < a->option_count; ++k) words[k] = a->options[k].is.name;
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), text);
    const char *near = nearest_word(name, words, a->option_count);
    if (near) return usage_error(a, "there is no option --%s; did you mean --%s?", name, near);
    return usage_error(a, "there is no option --%s", name);
}

static bool parse_count(const char *text, int64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && !*end;
}

/* The program never calls setlocale, so strtod takes a point whatever the user's language. */
static bool parse_real(const char *text, double *value)
{
    char *end;
    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    *value = strtod(text, &end);
    return !*end;
}

/* Checks one of the command's own values by its type and range. */
static int check_value(const arguments *a, const option *o, const char *text)
{
    const saddle_option *is = &o->is;
    double value = 0;
    int64_t count = 0;
    if (is->type == 't') {
        return *text ? EXIT_DONE : usage_error(a, "--%s requires a value that is not empty", is->name);
    }
    if (is->type == 'c') {
        if (word_number(is->words, text) >= 0) return EXIT_DONE;
        return usage_error(a, "--%s cannot be \"%s\": it must be one of %s", is->name, text, is->words);
    }
    const bool read = is->type == 'n' ? parse_count(text, &count) : parse_real(text, &value);
    if (!read) {
        return usage_error(a, "--%s cannot be \"%s\": it must be %s", is->name, text,
                           is->type == 'n' ? "a nonnegative integer" : "a number such as 1e-8");
    }
    if (is->type == 'n') value = (double)count;
    if (!(value >= is->least && value <= is->most)) {
        return usage_error(a, "--%s cannot be %s: it must be between %g and %g", is->name, text, is->least,
                           is->most);
    }
    return EXIT_DONE;
}

static int take_value(arguments *a, int k, const char *text)
{
    a->given[k] = text;
    if (!is_library_option(a, k)) return check_value(a, &a->options[k], text);
    if (given_takes_file(&a->options[k].is)) return given_take(a, &a->options[k].is, text);
    char message[SADDLE_MESSAGE_SIZE] = "";
    if (saddle_options_set(&a->library, a->options[k].is.name, text, message) == SADDLE_OK) return EXIT_DONE;
    /* The library's message begins with its own name of the option: max_memory. */
    for (char *p = message; *p && *p != ' '; ++p) {
        if (*p == '_') *p = '-';
    }
    return usage_error(a, "--%s", message);
}

bool option_is_switch(const option *o)
{
    return o->is.type == 'c' && strcmp(o->is.words, "off|on") == 0;
}

/* A value that is not one: "--out -q". "-" and "-1.5" are values. */
static bool looks_like_option(const char *text)
{
    return text[0] == '-' && (text[1] == '-' || (text[1] >= 'a' && text[1] <= 'z'));
}

/* --name, --name=value, --name value at argv[*i]; moves *i to the last one used. */
static int parse_long(arguments *a, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2;
    const size_t length = strcspn(name, "=");
    const int k = find_option(a, name, length);
    if (k < 0) return unknown_option(a, name, length);
    const option *o = &a->options[k];
    if (o->is.type == 'f') {
        if (name[length]) return usage_error(a, "--%s takes no value", o->is.name);
        a->given[k] = "";
        return EXIT_DONE;
    }
    if (name[length]) return take_value(a, k, name + length + 1);
    const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    if (option_is_switch(o) && !(next && word_number(o->is.words, next) >= 0)) return take_value(a, k, "on");
    if (!next || looks_like_option(next)) {
        return usage_error(a, "--%s requires a value: %s", o->is.name, option_stands(o));
    }
    ++*i;
    return take_value(a, k, next);
}

/* -q, or several at once: -qv. */
static int parse_short(arguments *a, const char *letters)
{
    for (const char *p = letters; *p; ++p) {
        int k = 0;
        while (k < a->option_count && a->options[k].letter != *p) ++k;
        if (k == a->option_count) return usage_error(a, "there is no option -%c", *p);
        a->given[k] = "";
    }
    return EXIT_DONE;
}

int arguments_parse(arguments *a, int argc, char **argv)
{
    int operands = 0, status = EXIT_DONE;
    bool ended = false;
    for (int i = 0; i < argc; ++i) {
        char *text = argv[i];
        if (ended || text[0] != '-' || !text[1])
            argv[operands++] = text;
        else if (strcmp(text, "--") == 0)
            ended = true;
        else if (text[1] == '-')
            status = parse_long(a, argc, argv, &i);
        else
            status = parse_short(a, text + 1);
        if (status != EXIT_DONE) return status;
        if (argument_given(a, "help") || argument_given(a, "version")) return EXIT_DONE;
    }
    a->operands = argv;
    a->operand_count = operands;
    if (operands < a->command->least) {
        return usage_error(a, "%s is missing", operands ? "an operand" : a->command->operands);
    }
    if (operands > a->command->most) {
        return usage_error(a, "unexpected operand \"%s\"", argv[a->command->most]);
    }
    return EXIT_DONE;
}

static int must_find(const arguments *a, const char *name)
{
    const int k = find_option(a, name, strlen(name));
    assert(k >= 0);
    return k;
}

bool argument_given(const arguments *a, const char *name)
{
    return a->given[must_find(a, name)] != NULL;
}

const char *argument_text(const arguments *a, const char *name)
{
    const int k = must_find(a, name);
    return a->given[k] ? a->given[k] : a->options[k].initial;
}

int64_t argument_count(const arguments *a, const char *name)
{
    const int k = must_find(a, name);
    int64_t value = (int64_t)a->options[k].is.value;
    if (a->given[k]) parse_count(a->given[k], &value);
    return value;
}

double argument_real(const arguments *a, const char *name)
{
    const int k = must_find(a, name);
    double value = a->options[k].is.value;
    if (a->given[k]) parse_real(a->given[k], &value);
    return value;
}

int argument_choice(const arguments *a, const char *name)
{
    const int k = must_find(a, name);
    return a->given[k] ? word_number(a->options[k].is.words, a->given[k]) : (int)a->options[k].is.value;
}

const char *option_stands(const option *o)
{
    if (o->stands) return o->stands;
    switch (o->is.type) {
    case 'c': return o->is.words;
    case 'n': return "N";
    case 'r': return "X";
    case 'b': return "SIZE";
    case 't': return "TEXT";
    default: return "";
    }
}

void option_default(const option *o, char *text, size_t text_size)
{
    text[0] = 0;
    if (o->is.type == 't' && o->initial) snprintf(text, text_size, "%s", o->initial);
    const char *words = o->is.words;
    for (double k = o->is.value; o->is.type == 'c' && k >= 0; --k) next_word(&words, text, text_size);
    if (strchr("nrb", o->is.type) && !isnan(o->is.value)) snprintf(text, text_size, "%.15g", o->is.value);
}

/* The number of letters to insert, drop, change or swap with their neighbour (Damerau's distance). */
static int edit_distance(const char *s, const char *t)
{
    enum { MOST = 32 };
    int d[MOST + 1][MOST + 1];
    const int m = (int)strlen(s), n = (int)strlen(t);
    if (m > MOST || n > MOST) return MOST;
    for (int i = 0; i <= m; ++i) {
        for (int j = 0; j <= n; ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (s[i - 1] != t[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && s[i - 1] == t[j - 2] && s[i - 2] == t[j - 1] &&
                d[i - 2][j - 2] + 1 < best) {
                best = d[i - 2][j - 2] + 1;
            }
            d[i][j] = best;
        }
    }
    return d[m][n];
}

const char *nearest_word(const char *text, const char *const *words, int count)
{
    const char *best = NULL;
    int least = 1 + (int)strlen(text) / 3;
    if (least > 3) least = 3;
    for (int k = 0; k < count; ++k) {
        const bool begins = strlen(text) > 2 && strncmp(words[k], text, strlen(text)) == 0;
        const int distance = begins ? 0 : edit_distance(text, words[k]);
        if (distance < least || (distance == least && !best)) {
            least = distance;
            best = words[k];
        }
    }
    return best;
}
