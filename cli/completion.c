/* Completion for bash and zsh, from the tables of commands and options; see manual.h. */
#include "cli/manual.h"

#include "cli/help.h"
#include "cli/program.h"

#include <string.h>

/* What a value may be: words for the shell to offer, and whether a file name is one of them. */
typedef struct offer {
    char words[256];
    bool file;
} offer;

/* A placeholder is all capitals: N, SIZE, FILE. A1 is a word. */
static bool is_placeholder(const char *part)
{
    return part[strspn(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == 0;
}

static offer offer_of(const char *choices)
{
    offer o = {"", false};
    char part[64];
    while (next_word(&choices, part, sizeof part)) {
        if (strcmp(part, "FILE") == 0) o.file = true;
        if (is_placeholder(part)) continue;
        const size_t used = strlen(o.words);
        snprintf(o.words + used, sizeof o.words - used, "%s%s", used ? " " : "", part);
    }
    return o;
}

static void bash_action(FILE *out, const offer *o)
{
    if (*o->words) fprintf(out, " words='%s'", o->words);
    if (o->file) fputs(" files=yes", out);
    if (!*o->words && !o->file) fputs(" return", out);
    fputs(" ;;\n", out);
}

/* What another program's help lists: its commands, and the options of one. */
#define LIST_COMMANDS "--help 2>/dev/null | sed -n 's/^  \\([a-z][a-z]*\\).*/\\1/p'"
#define LIST_OPTIONS "--help 2>/dev/null | sed -nE 's/^  (-., )?(--[a-z-]+).*/\\2/p'"

static void bash_started(FILE *out, const char *name)
{
    fprintf(out,
            "    '%s '*) if [[ $COMP_CWORD -eq 2 ]]; then words=$(saddle %s " LIST_COMMANDS
            "); elif [[ $cur == -* ]]; then words=$(saddle %s \"${COMP_WORDS[2]}\" " LIST_OPTIONS
            "); else files=yes; fi ;;\n",
            name, name, name);
}

static void zsh_started(FILE *out, const char *name)
{
    fprintf(out,
            "    %s) if (( CURRENT == 2 )); then compadd -- $(saddle %s " LIST_COMMANDS
            "); elif [[ $PREFIX == -* ]]; then compadd -- $(saddle %s $words[2] " LIST_OPTIONS
            "); else _files; fi ;;\n",
            name, name, name);
}

static void bash_command(FILE *out, const command *c)
{
    static arguments a;
    arguments_begin(&a, c);
    for (int k = 0; k < a.option_count; ++k) {
        const option *o = &a.options[k];
        if (o->is.type == 'f') continue;
        offer value = offer_of(option_stands(o));
        value.file = value.file || option_is_switch(o); /* which may have no value */
        fprintf(out, "    '%s --%s')", c->name, o->is.name);
        bash_action(out, &value);
    }
    fprintf(out, "    '%s '*) if [[ $cur == -* ]]; then words='", c->name);
    for (int k = 0; k < a.option_count; ++k) fprintf(out, "%s--%s", k ? " " : "", a.options[k].is.name);
    fputs("'", out);
    if (c->words) {
        const offer operand = offer_of(c->words);
        fprintf(out, "; elif [[ $COMP_CWORD -eq 2 ]]; then words='%s'", operand.words);
    }
    fputs("; else files=yes; fi ;;\n", out);
}

void print_bash_completion(FILE *out)
{
    const command *const *commands = program_running()->commands;
    fputs("# bash completion for saddle, made by \"saddle manual bash\"\n"
          "_saddle()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= files=\n"
          "    # --name=value comes as three words\n"
          "    if [[ $cur == = ]]; then cur=\n"
          "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    COMPREPLY=()\n"
          "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    for (const command *const *c = commands; *c; ++c) {
        if (!(*c)->hidden) fprintf(out, "%s ", (*c)->name);
    }
    fputs("--help --version' -- \"$cur\"))\n"
          "        return\n"
          "    fi\n"
          "    case \"${COMP_WORDS[1]} $prev\" in\n",
          out);
    for (const command *const *c = commands; *c; ++c) {
        if ((*c)->start)
            bash_started(out, (*c)->name);
        else
            bash_command(out, *c);
    }
    fputs("    esac\n"
          "    if [[ -n $files ]]; then\n"
          "        local IFS=$'\\n'\n"
          "        compopt -o filenames 2>/dev/null || :\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "        IFS=$' \\t\\n'\n"
          "    fi\n"
          "    if [[ -n $words ]]; then COMPREPLY+=($(compgen -W \"$words\" -- \"$cur\")); fi\n"
          "}\n"
          "complete -F _saddle saddle\n",
          out);
}

/* Help inside '...[...]': quotes, brackets and colons have a meaning there. */
static void zsh_text(FILE *out, const char *text)
{
    for (const char *p = text; *p; ++p) {
        if (*p == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *p))
            fprintf(out, "\\%c", *p);
        else
            fputc(*p, out);
    }
}

static void zsh_value(FILE *out, const offer *o)
{
    if (*o->words && o->file)
        fprintf(out, "{_alternative \"words:word:(%s)\" \"files:file:_files\"}", o->words);
    else if (*o->words)
        fprintf(out, "(%s)", o->words);
    else
        fputs(o->file ? "_files" : " ", out);
}

static void zsh_command(FILE *out, const command *c)
{
    static arguments a;
    arguments_begin(&a, c);
    fprintf(out, "    %s) _arguments \\\n", c->name);
    for (int k = 0; k < a.option_count; ++k) {
        const option *o = &a.options[k];
        const bool flag = o->is.type == 'f';
        if (o->letter)
            fprintf(out, "        '-%c[", o->letter), zsh_text(out, o->is.help), fputs("]' \\\n", out);
        fprintf(out, "        '--%s%s[", o->is.name, flag ? "" : "=");
        zsh_text(out, o->is.help);
        fputc(']', out);
        if (!flag) {
            const offer value = offer_of(option_stands(o));
            fputs(option_is_switch(o) ? "::value:" : ":value:", out);
            zsh_value(out, &value);
        }
        fputs("' \\\n", out);
    }
    if (c->words) {
        const offer operand = offer_of(c->words);
        fputs("        '1:what:", out);
        zsh_value(out, &operand);
        fputs("' \\\n", out);
    }
    fputs("        '*:file:_files' ;;\n", out);
}

void print_zsh_completion(FILE *out)
{
    const command *const *commands = program_running()->commands;
    fputs("#compdef saddle\n# zsh completion for saddle, made by \"saddle manual zsh\"\n"
          "_saddle()\n{\n"
          "    local -a commands\n"
          "    commands=(\n",
          out);
    for (const command *const *c = commands; *c; ++c) {
        if ((*c)->hidden) continue;
        fprintf(out, "        '%s:", (*c)->name);
        zsh_text(out, (*c)->help);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local name=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $name in\n",
          out);
    for (const command *const *c = commands; *c; ++c) {
        if ((*c)->start)
            zsh_started(out, (*c)->name);
        else
            zsh_command(out, *c);
    }
    fputs("    esac\n}\n_saddle \"$@\"\n", out);
}
