/*
 * `saddle bench reproduce` and `saddle bench standing`: pages that show the tables and figures of a paper, or
 * Saddle beside other solvers, made from what the other benchmarks measure. What runs them and writes the
 * page is Python (bench/pages), which stands in ../share/saddle/pages from the program; here are the options,
 * and the start.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#include "cli/program.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct paper {
    const char *name, *what;
} paper;

static const paper papers[] = {
    {"stretching", "Thuerck, Stretching Jacobi: block LDL^T with two-stage pivoting, and its relaxation"},
    {"huard", "Anzt and others: batched Gauss-Huard for block-Jacobi preconditioning"},
    {"trisolve", "Chow and others: iterative triangular solves with incomplete factors"},
    {"ssids", "Hogg and others: a sparse symmetric indefinite direct solver for GPUs"},
};
enum { PAPERS = sizeof papers / sizeof *papers };

static bool paper_row(int k, char *head, char *tail, size_t size)
{
    if (k >= PAPERS) return false;
    snprintf(head, size, "%s", papers[k].name);
    snprintf(tail, size, "%s", papers[k].what);
    return true;
}

static int check_paper(const arguments *a)
{
    const char *names[PAPERS];
    for (int k = 0; k < PAPERS; ++k) {
        names[k] = papers[k].name;
        if (strcmp(a->operands[0], names[k]) == 0) return EXIT_DONE;
    }
    const char *near = nearest_word(a->operands[0], names, PAPERS);
    return usage_error(a, "there is no paper \"%s\"%s%s%s", a->operands[0], near ? "; did you mean \"" : "",
                       near ? near : "", near ? "\"?" : "");
}

static const option page_options[] = {
    OPTION_TEXT("out", "DIR", NULL, "folder for the results and the page, made if it is not there"),
    OPTION_CHOICE("device", "cpu|cuda", "where Saddle runs"),
    OPTION_TEXT("matrices", "DIR", NULL,
                "folder of matrices, with MANIFEST.tsv (default: SADDLE_MATRICES; without either, only "
                "generated problems)"),
    OPTION_FLAG("quick", 0, "small problems, under two minutes in all, for a first look"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads of every solver"),
    OPTION_TEXT("part", "NUMBER", NULL,
                "measure again what this part needs, and nothing else: \"Figure 3\" (3a, 3b, ...)"),
    OPTION_FLAG("again", 0, "measure everything again"),
    OPTION_COUNT("minutes", "N", 0, 0, 100000,
                 "end between two steps before so many minutes are over; 0: no limit"),
    OPTION_FLAG("draw", 0,
                "measure nothing: write the page from the results in the folder, as they were asked for, "
                "also another machine's"),
    OPTION_END,
};
enum { OPTIONS = sizeof page_options / sizeof *page_options };

/* The options that were given, as words for another program; how many words. */
static int pass_options(const arguments *a, char (*texts)[2][24], const char **argv)
{
    int count = 0;
    for (int k = 0; k < OPTIONS - 1; ++k) {
        const option *o = &page_options[k];
        if (!argument_given(a, o->is.name)) continue;
        snprintf(texts[k][0], sizeof texts[k][0], "--%s", o->is.name);
        argv[count++] = texts[k][0];
        if (o->is.type == 'n') {
            snprintf(texts[k][1], sizeof texts[k][1], "%" PRId64, argument_count(a, o->is.name));
            argv[count++] = texts[k][1];
        } else if (o->is.type != 'f') {
            argv[count++] = argument_text(a, o->is.name);
        }
    }
    return count;
}

/* Becomes the interpreter, with what was given. Returns where it cannot. */
static int start_pages(const arguments *a)
{
    char script[4096], saddle[4096], texts[OPTIONS][2][24];
    const char *argv[2 * OPTIONS + 8] = {"python3", script, a->command->name};
    int count = 3;
    if (!argument_text(a, "out"))
        return usage_error(a, "--out DIR is missing: the folder for the results and the page");
    if (!program_beside("../share/saddle/pages/__main__.py", script, sizeof script))
        return fail(EXIT_FILE,
                    "%s is not there; to install it, run \"cmake --install BUILD --component bench\" where "
                    "Saddle was built",
                    script);
    if (!program_beside("saddle", saddle, sizeof saddle))
        return fail(EXIT_FILE, "the program saddle is not beside saddle-bench");
    if (a->operand_count) argv[count++] = a->operands[0];
    argv[count++] = "--program";
    argv[count++] = saddle;
    count += pass_options(a, texts, argv + count);
    if (argument_given(a, "quiet")) argv[count++] = "--quiet";
    if (argument_given(a, "verbose")) argv[count++] = "--verbose";
    argv[count] = NULL;
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    return fail(EXIT_FILE,
                "python3 cannot be started: %s; the pages require python3 with matplotlib (Debian: apt-get "
                "install python3-matplotlib)",
                strerror(errno));
}

static int run_reproduce(const arguments *a)
{
    const int status = check_paper(a);
    return status == EXIT_DONE ? start_pages(a) : status;
}

#define ABOUT_PAGES                                                                                          \
    "\n\nThe page, DIR/index.html, is one file that needs no network; DIR/summary.md is its summary as "     \
    "Markdown, with the pictures beside it. Each result is kept in DIR/results.jsonl as soon as it is "      \
    "there: the same command goes on where it was interrupted, and measures again only what another "        \
    "commit of Saddle measured. A step that exceeds its time limit counts as failed of kind \"time\". "      \
    "Requires python3 with matplotlib (Debian: python3-matplotlib)."

const command command_reproduce = {
    .name = "reproduce",
    .operands = "PAPER",
    .help = "the tables, figures and claims of a paper, on a page",
    .about = "Measures what a paper reports, each table and figure by its number, on the paper's matrices "
             "as far as they are at hand and on generated problems in place of others, and writes a page "
             "that shows the paper's numbers beside those measured and says which of its claims hold. "
             "Takes up to an hour; --quick two minutes." ABOUT_PAGES,
    .list_title = "Papers",
    .list = paper_row,
    .examples = "  saddle bench reproduce huard --out huard --quick\n"
                "  saddle bench reproduce ssids --out ssids --matrices matrices\n"
                "  saddle bench reproduce ssids --out ssids --matrices matrices --part \"Table 4\"\n"
                "  saddle bench reproduce stretching --out gpu --device cuda --minutes 8\n",
    .options = page_options,
    .library = "",
    .words = "stretching|huard|trisolve|ssids",
    .least = 1,
    .most = 1,
    .run = run_reproduce,
};

const command command_standing = {
    .name = "standing",
    .operands = "",
    .help = "Saddle compared with every solver whose driver was built, on a page",
    .about =
        "Measures Saddle and every peer whose driver was built (where Saddle is built; drivers are not "
        "installed) on real and generated systems, and writes a page with performance profiles of time, "
        "memory and accuracy, a table of failures, and growth with the size of the problem. Takes up to an "
        "hour; --quick two minutes." ABOUT_PAGES,
    .examples = "  saddle bench standing --out standing --quick\n"
                "  saddle bench standing --out standing --matrices matrices\n"
                "  saddle bench standing --out standing --draw    # the page from results that are there\n",
    .options = page_options,
    .library = "",
    .least = 0,
    .most = 0,
    .run = start_pages,
};
