/* The manual page, and the command `manual` that prints it; see manual.h. */
#include "cli/manual.h"

#include "cli/help.h"
#include "cli/program.h"

#include <string.h>

static const environment_row environment[] = {
    {"OMP_NUM_THREADS", "number of threads if --threads is not given"},
    {"SADDLE_LOG", "warning, info or debug: how much of the library's log goes to standard error"},
    {"SADDLE_CUDA_MODULE", "path of the CUDA module, if it is not next to the library"},
    {"SADDLE_CUDA_MEMORY", "apart: every array on a GPU is allocated by itself, for compute-sanitizer"},
    {"SADDLE_MATRICES", "folder of test matrices for bench ldlt, if no matrix is given"},
    {"NO_COLOR", "no colours on a terminal if set and not empty"},
};

const environment_row *environment_at(int k)
{
    return k >= 0 && k < (int)(sizeof environment / sizeof environment[0]) ? &environment[k] : NULL;
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
    command_usage(c, head, sizeof head);
    fputs(".SS saddle ", out);
    roff_text(out, head);
    roff_text(out, c->about);
    for (int k = 0; c->list_title && c->list(k, head, tail, sizeof head); ++k) roff_row(out, head, tail);
    for (int k = 0; !c->start && k < a.option_count; ++k) {
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
    const command *const *commands = program_running()->commands;
    fprintf(out, ".TH SADDLE 1 \"\" \"saddle %s\" \"User Commands\"\n", saddle_version());
    fputs(".SH NAME\nsaddle \\- solve sparse symmetric indefinite linear systems\n.SH SYNOPSIS\n", out);
    for (const command *const *c = commands; *c; ++c) {
        if ((*c)->hidden) continue;
        fprintf(out, ".B saddle %s\n", (*c)->name);
        if (*(*c)->operands) roff_text(out, (*c)->operands);
        fputs("[options]\n.br\n", out);
    }
    fputs(".SH DESCRIPTION\n"
          "Saddle solves sparse linear systems Ax = b, especially symmetric indefinite ones\n"
          "(saddle\\-point and KKT systems). Matrices are Matrix Market or Rutherford\\-Boeing files, "
          "optionally\n"
          "gzipped; \\- is standard input or output. Every error reported is measured on the matrix and the\n"
          "right\\-hand side as given. Output is written to a temporary file, which is then renamed.\n"
          ".SH COMMANDS\n",
          out);
    for (const command *const *c = commands; *c; ++c) {
        if (!(*c)->hidden) roff_command(out, *c);
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
    .help = "print the manual page or shell completion",
    .about = "Prints the manual page, or completion of commands and options for a shell.",
    .examples = "  saddle manual man | man -l -       # read the manual\n"
                "  . <(saddle manual bash)            # completion in this shell\n",
    .library = "",
    .words = "man|bash|zsh",
    .least = 1,
    .most = 1,
    .hidden = true,
    .run = run_manual,
};
