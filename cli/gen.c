/* `saddle gen`: test problems, from the families of families.h to a file. */
#include "cli/command.h"
#include "cli/families.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/outfile.h"
#include "cli/progress.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool parse_size(const char *text, int64_t *size)
{
    char *end;
    errno = 0;
    *size = strtoll(text, &end, 10);
    return *text && !*end && errno == 0;
}

static int unknown_family(const arguments *a, const char *name)
{
    enum { MOST = 32 };
    const char *words[MOST];
    int count = 0;
    for (const family *f; count < MOST && (f = family_at(count)); ++count) words[count] = f->name;
    const char *near = nearest_word(name, words, count);
    return usage_error(a, "there is no family \"%s\"%s%s%s", name, near ? "; did you mean " : "",
                       near ? near : "", near ? "?" : "");
}

/* What makes the same file again, for its first lines. */
static void describe(const arguments *a, const family *f, int64_t size, double param, char *text,
                     size_t text_size)
{
    char number[32], given[48] = "", stages[64] = "";
    number_text(isnan(param) ? f->value : param, number, sizeof number);
    if (f->parameter) snprintf(given, sizeof given, " --param %s", number);
    if (family_has_stages(f))
        snprintf(stages, sizeof stages, " --states %" PRId64 " --inputs %" PRId64,
                 argument_count(a, "states"), argument_count(a, "inputs"));
    snprintf(text, text_size, "saddle gen %s %" PRId64 "%s%s --seed %" PRId64 "\n%s, n = %s; saddle %s",
             f->name, size, stages, given, argument_count(a, "seed"), f->what, f->dimension,
             saddle_version());
}

static int make_and_write(const arguments *a, const family *f, int64_t size, double param)
{
    const char *path = argument_text(a, "out");
    char message[SADDLE_MESSAGE_SIZE] = "", comment[256];
    saddle_matrix A;
    const uint64_t seed = (uint64_t)argument_count(a, "seed");
    const family_stages stages = {argument_count(a, "states"), argument_count(a, "inputs")};
    saddle_status status = family_generate_stages(f->name, size, &stages, param, seed, &A, message);
    if (status == SADDLE_BAD_ARGUMENT) return usage_error(a, "%s", message);
    if (status == SADDLE_OK && progress_interrupted()) {
        family_free(&A);
        return fail(EXIT_INTERRUPTED, "interrupted; nothing was written");
    }
    if (status == SADDLE_OK) {
        describe(a, f, size, param, comment, sizeof comment);
        status = saddle_write_matrix(path, &A, comment, message);
        if (status == SADDLE_OK && argument_given(a, "verbose"))
            fprintf(stderr, "%s: n %" PRId64 ", %" PRId64 " entries of the lower triangle\n", f->name, A.rows,
                    A.entries);
        family_free(&A);
    }
    return status == SADDLE_OK ? EXIT_DONE : fail(exit_status(status), "%s", message);
}

static int run_gen(const arguments *a)
{
    int64_t size;
    const family *f = family_find(a->operands[0]);
    if (!f) return unknown_family(a, a->operands[0]);
    if (!parse_size(a->operands[1], &size))
        return usage_error(a, "the size cannot be \"%s\": it must be an integer", a->operands[1]);
    if (!family_has_stages(f) && (argument_given(a, "states") || argument_given(a, "inputs")))
        return usage_error(a, "%s has no stages: --states and --inputs are for ocp and mpc", f->name);
    int status = outfile_refuse(argument_text(a, "out"));
    if (status != EXIT_DONE) return status;
    /* A signal that comes while the file is written waits until it is whole; a second one does not. */
    progress_begin(a);
    status = make_and_write(a, f, size, argument_real(a, "param"));
    progress_end();
    return status;
}

static bool family_row(int k, char *head, char *tail, size_t size)
{
    const family *f = family_at(k);
    if (!f) return false;
    snprintf(head, size, "%s", f->name);
    if (f->parameter)
        snprintf(tail, size, "%s; n = %s; P: %s (default %g)", f->what, f->dimension, f->parameter, f->value);
    else
        snprintf(tail, size, "%s; n = %s", f->what, f->dimension);
    return true;
}

static const option gen_options[] = {
    OPTION_REAL("param", "P", NAN, -DBL_MAX, DBL_MAX,
                "parameter of the family; each family has its own default"),
    OPTION_COUNT("states", "N", 4, 1, FAMILY_MOST_STATES, "states of a stage of ocp and mpc"),
    OPTION_COUNT("inputs", "N", 2, 1, FAMILY_MOST_STATES,
                 "inputs of a stage of ocp and mpc, at most as many as states"),
    OPTION_COUNT("seed", "N", 1, 0, INT64_MAX, "random seed of darcy2d, darcy3d, kktz, ipm, ocp and mpc"),
    OPTION_TEXT("out", "FILE|-", "-", "where to write the matrix: .mtx or .rb, optionally with .gz"),
    OPTION_END,
};

const command command_gen = {
    .name = "gen",
    .operands = "FAMILY SIZE",
    .help = "generate a test problem",
    .about = "Generates a symmetric matrix from a family of test problems, of size N, and writes its lower "
             "triangle. The same command generates the same matrix on every machine; the first comment of "
             "the file records the command.",
    .list_title = "Families",
    .list = family_row,
    .examples = "  saddle gen stokes2d 50 --out stokes.mtx.gz   # 7,399 unknowns\n"
                "  saddle gen lap3d 30 --param 1.5 | saddle solve -\n"
                "  saddle gen ocp 1000 --states 8 --inputs 3 --param 0 --out ocp.mtx\n",
    .options = gen_options,
    .library = "",
    .words =
        "lap2d|lap3d|elas3d|stokes2d|stokes3d|darcy2d|darcy3d|pdeco2d|pdeco3d|kktz|ipm|ocp|mpc|helm2d|helm3d",
    .least = 2,
    .most = 2,
    .run = run_gen,
};
