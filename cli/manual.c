/* Help on the terminal, the manual page, and the command `manual` that prints it; see manual.h. */
#include "cli/manual.h"

#include <string.h>

static const environment_row environment[] = {
    {"OMP_NUM_THREADS", "threads to use where --threads is not given"},
    {"SADDLE_LOG", "warning, info or debug: how much of the library's log goes to standard error"},
    {"SADDLE_CUDA_MODULE", "the file of the CUDA module, where it is not beside the library"},
    {"SADDLE_MATRICES", "the folder of test matrices of bench ldlt, where none is named"},
    {"NO_COLOR", "where it is set and not empty: no colours on a terminal"},
};

const environment_row *environment_at(int k)
{
    return k >= 0 && k < (int)(sizeof environment / sizeof environment[0]) ? &environment[k] : NULL;
}

bool next_word(const char **words, char *part, size_t part_size)
{
    const size_t length = strcspn(*words, "|");
    if (!**words) return false;
    snprintf(part, part_size, "%.*s", (int)length, *words);
    *words += length + ((*words)[length] == '|');
    return true;
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

/* "--tol X" or "-q, --quiet". */
static void option_head(const option *o, char *text, size_t text_size)
{
    const char *stands = option_stands(o);
    char letter[8] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    if (option_is_switch(o))
        snprintf(text, text_size, "--%s [%s]", o->is.name, stands);
    else
        snprintf(text, text_size, "%s--%s%s%s", letter, o->is.name, *stands ? " " : "", stands);
}

static void option_tail(const option *o, char *text, size_t text_size)
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

/* "solve A.mtx" */
static void usage_of(const command *c, char *text, size_t text_size)
{
    snprintf(text, text_size, "%s%s%s", c->name, *c->operands ? " " : "", c->operands);
}

void print_program_help(FILE *out)
{
    fputs("Usage: saddle COMMAND [options]\n\n"
          "Solves sparse linear systems Ax = b, above all the symmetric indefinite ones.\n\nCommands:\n",
          out);
    const command *c;
    for (int k = 0; (c = command_at(k)); ++k) {
        char head[64];
        usage_of(c, head, sizeof head);
        if (!c->hidden) print_row(out, head, c->help);
    }
    fputs("\n\"saddle COMMAND --help\" tells a command's options, \"saddle --version\" what this is.\n"
          "The simplest use: saddle solve A.mtx --out x.mtx\n",
          out);
}

void print_command_help(FILE *out, const command *c)
{
    static arguments a;
    char head[256], tail[512];
    arguments_begin(&a, c);
    usage_of(c, head, sizeof head);
    fprintf(out, "Usage: saddle %s [options]\n\n", head);
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

/* Text in roff: a hyphen that can be copied, no request by accident. */
static void roff_text(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (const char *p = text; *p; ++p) {
        if (*p == '-')
            fputs("\\-", out);
        else if (*p == '\\')
            fputs("\\e", out);
        else if (p[0] == '\n' && p[1] == '\n')
            fputs("\n.PP", out);
        else
            fputc(*p, out);
    }
    fputc('\n', out);
}

static void roff_row(FILE *out, const char *head, const char *tail)
{
    fputs(".TP\n.B ", out);
    roff_text(out, head);
    roff_text(out, tail);
}

static void roff_command(FILE *out, const command *c)
{
    static arguments a;
    char head[256], tail[512];
    arguments_begin(&a, c);
    usage_of(c, head, sizeof head);
    fputs(".SS saddle ", out);
    roff_text(out, head);
    roff_text(out, c->about);
    for (int k = 0; c->list_title && c->list(k, head, tail, sizeof head); ++k) roff_row(out, head, tail);
    for (int k = 0; k < a.option_count; ++k) {
        option_head(&a.options[k], head, sizeof head);
        option_tail(&a.options[k], tail, sizeof tail);
        roff_row(out, head, tail);
    }
    if (c->examples) {
        fputs(".PP\nExamples:\n.PP\n.nf\n", out);
        roff_text(out, c->examples);
        fputs(".fi\n", out);
    }
}

void print_man_page(FILE *out)
{
    const command *c;
    fprintf(out, ".TH SADDLE 1 \"\" \"saddle %s\" \"User Commands\"\n", saddle_version());
    fputs(".SH NAME\nsaddle \\- solve sparse symmetric indefinite linear systems\n.SH SYNOPSIS\n", out);
    for (int k = 0; (c = command_at(k)); ++k) {
        if (c->hidden) continue;
        fprintf(out, ".B saddle %s\n", c->name);
        if (*c->operands) roff_text(out, c->operands);
        fputs("[options]\n.br\n", out);
    }
    fputs(".SH DESCRIPTION\n"
          "Saddle solves sparse linear systems Ax = b, above all the symmetric indefinite ones\n"
          "(saddle\\-point and KKT systems). Matrices are Matrix Market or Rutherford\\-Boeing files, also\n"
          "gzipped; \\- is standard input or output. Every error reported is measured on the matrix and the\n"
          "right\\-hand side as they were given. Outputs are written to a temporary file and renamed.\n"
          ".SH COMMANDS\n",
          out);
    for (int k = 0; (c = command_at(k)); ++k) {
        if (!c->hidden) roff_command(out, c);
    }
    fputs(".SH EXIT STATUS\n", out);
#define ROW(name, number, text) roff_row(out, #number, text);
    EXIT_TABLE(ROW)
#undef ROW
    fputs(".SH ENVIRONMENT\n", out);
    const environment_row *e;
    for (int k = 0; (e = environment_at(k)); ++k) roff_row(out, e->name, e->help);
}

static int run_manual(const arguments *a)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out);
    } forms[] = {{"man", print_man_page}, {"bash", print_bash_completion}, {"zsh", print_zsh_completion}};
    for (int k = 0; k < (int)(sizeof forms / sizeof forms[0]); ++k) {
        if (strcmp(a->operands[0], forms[k].name) != 0) continue;
        forms[k].print(stdout);
        return EXIT_DONE;
    }
    return usage_error(a, "\"%s\" is not one of man, bash, zsh", a->operands[0]);
}

const command command_manual = {
    .name = "manual",
    .operands = "man|bash|zsh",
    .help = "this manual as a man page, or shell completion",
    .about = "Prints the manual page, or the completion of commands and options for a shell.",
    .examples = "  saddle manual man | man -l -       # read the manual\n"
                "  . <(saddle manual bash)            # completion in this shell\n",
    .library = "",
    .words = "man|bash|zsh",
    .least = 1,
    .most = 1,
    .hidden = true,
    .run = run_manual,
};
