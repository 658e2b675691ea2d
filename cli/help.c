/* Help on the terminal, from the tables of commands and options; see help.h. */
#include "cli/help.h"

#include "cli/program.h"

#include <string.h>

bool next_word(const char **words, char *part, size_t part_size)
{
    const size_t length = strcspn(*words, "|");
    if (!**words) return false;
    snprintf(part, part_size, "%.*s", (int)length, *words);
    *words += length + ((*words)[length] == '|');
    return true;
}

int word_number(const char *words, const char *word)
{
    char part[64];
    for (int k = 0; words && next_word(&words, part, sizeof part); ++k)
        if (strcmp(part, word) == 0) return k;
    return -1;
}

enum { LEFT = 26, WIDTH = 96 };

/* Prints words from column `at`, broken so that lines begin at `indent` and end before WIDTH. */
static void print_wrapped(FILE *out, const char *text, int at, int indent)
{
    bool first = true;
    while (*text) {
        const int length = (int)strcspn(text, " \n");
        if (!first && at + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            ++at;
        }
        fprintf(out, "%.*s", length, text);
        at += length;
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", indent, "");
            at = indent;
            first = true;
        } else {
            first = false;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

void option_head(const option *o, char *text, size_t text_size)
{
    const char *stands = option_stands(o);
    char letter[8] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    if (option_is_switch(o))
        snprintf(text, text_size, "--%s [%s]", o->is.name, stands);
    else
        snprintf(text, text_size, "%s--%s%s%s", letter, o->is.name, *stands ? " " : "", stands);
}

void option_tail(const option *o, char *text, size_t text_size)
{
    char value[64];
    option_default(o, value, sizeof value);
    if (*value)
        snprintf(text, text_size, "%s (default %s)", o->is.help, value);
    else
        snprintf(text, text_size, "%s", o->is.help);
}

/* Prints a head; one that is too wide is broken after a '|'. Returns the column it ends at. */
static int print_head(FILE *out, const char *head)
{
    int at = fprintf(out, "  ");
    while (*head) {
        const size_t part = strcspn(head, "|"), length = part + (head[part] == '|');
        if (at + (int)length > WIDTH) at = fprintf(out, "\n%*s", LEFT, "") - 1;
        at += fprintf(out, "%.*s", (int)length, head);
        head += length;
    }
    return at;
}

static void print_row(FILE *out, const char *head, const char *tail)
{
    int at = print_head(out, head);
    if (at > LEFT - 2) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", LEFT - at, "");
    print_wrapped(out, tail, LEFT, LEFT);
}

void command_usage(const command *c, char *text, size_t text_size)
{
    snprintf(text, text_size, "%s%s%s", c->name, *c->operands ? " " : "", c->operands);
}

void print_program_help(FILE *out)
{
    const program *p = program_running();
    fprintf(out, "Usage: %s %s [options]\n\n%s\n\n%c%ss:\n", p->name, p->stands, p->about,
            p->noun[0] - 'a' + 'A', p->noun + 1);
    for (const command *const *c = p->commands; *c; ++c) {
        char head[64];
        command_usage(*c, head, sizeof head);
        if (!(*c)->hidden) print_row(out, head, (*c)->help);
    }
    fprintf(out,
            "\n"
            "\"%s %s --help\" shows the options of a %s, \"saddle --version\" the version.\n"
            "%s\n",
            p->name, p->stands, p->noun, p->hint);
}

void print_command_help(FILE *out, const command *c)
{
    static arguments a;
    char head[256], tail[512];
    arguments_begin(&a, c);
    command_usage(c, head, sizeof head);
    fprintf(out, "Usage: %s %s [options]\n\n", program_running()->name, head);
    print_wrapped(out, c->about, 0, 0);
    if (c->list_title) fprintf(out, "\n%s:\n", c->list_title);
    for (int k = 0; c->list_title && c->list(k, head, tail, sizeof head); ++k) print_row(out, head, tail);
    fputs("\nOptions:\n", out);
    for (int k = 0; k < a.option_count; ++k) {
        option_head(&a.options[k], head, sizeof head);
        option_tail(&a.options[k], tail, sizeof tail);
        print_row(out, head, tail);
    }
    if (c->examples) fprintf(out, "\nExamples:\n%s", c->examples);
}
