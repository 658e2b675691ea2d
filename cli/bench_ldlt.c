/*
 * `saddle bench ldlt`: block LDL' preconditioners beside the direct solver.
 *
 *   (no part)   every matrix by every recipe: solved or not, iterations, stored entries, seconds
 *   anchors     the matrices that have published figures
 *   setup       generated 3-D problems: the setup of ldlt beside the direct factorization
 *   backends    iterations on the reference, the CPU and a GPU beside each other
 *   growth      doubling series of generated problems: exponents of time against entries
 *   --ablate    Table I and Figure 3 of Stretching Jacobi
 */
#define _GNU_SOURCE
#include "cli/bench_ldlt.h"

#include "cli/bench.h"
#include "cli/outputs.h"
#include "cli/plot.h"
#include "cli/progress.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIMIT 60.0 /* seconds of a run */

enum {
    PART_ALL = 0,
    PART_SETUP = 4,
    PART_ANCHORS = 5,
    PART_GROWTH = 6,
    PART_BACKENDS = 7
}; /* words of --part (bench.c) */

static bool add_path(ldlt_operands *o, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    if (o->count == o->room) {
        const int room = 2 * o->room + 64;
        char **paths = realloc(o->paths, (size_t)room * sizeof *paths);
        if (!paths) return false;
        o->paths = paths;
        o->room = room;
    }
    o->paths[o->count] = strdup(path);
    return o->paths[o->count] && ++o->count;
}

static int is_matrix(const struct dirent *entry)
{
    static const char *const endings[] = {".mtx", ".mtx.gz", ".rb", ".rb.gz"};
    const size_t length = strlen(entry->d_name);
    for (int k = 0; k < 4; ++k) {
        const size_t ending = strlen(endings[k]);
        if (length > ending && strcmp(entry->d_name + length - ending, endings[k]) == 0) return 1;
    }
    return 0;
}

/* The matrices of a folder, by name. */
static int add_folder(ldlt_operands *o, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_matrix, alphasort);
    bool added = true;
    if (count < 0) return fail(EXIT_FILE, "%s: cannot be opened: %s", folder, strerror(errno));
    for (int k = 0; k < count; ++k) {
        added = added && add_path(o, folder, entries[k]->d_name);
        free(entries[k]);
    }
    free(entries);
    return added ? EXIT_DONE : fail(EXIT_MEMORY, "no memory for the names of matrices");
}

/* What was given, folders opened; otherwise two folders of $SADDLE_MATRICES. */
static int find_operands(const arguments *a, ldlt_operands *o)
{
    static const char *const folders[] = {"indefinite", "kkt"};
    const char *matrices = getenv("SADDLE_MATRICES");
    int status = EXIT_DONE;
    if (a->operand_count < 2 && !(matrices && *matrices))
        return usage_error(a, "there is no matrix to measure with: name some, or their folder in "
                              "SADDLE_MATRICES");
    for (int k = 0; a->operand_count < 2 && k < 2 && status == EXIT_DONE; ++k) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/%s", matrices, folders[k]);
        status = add_folder(o, folder);
    }
    for (int k = 1; k < a->operand_count && status == EXIT_DONE; ++k) {
        struct stat is;
        if (stat(a->operands[k], &is) == 0 && S_ISDIR(is.st_mode))
            status = add_folder(o, a->operands[k]);
        else if (!add_path(o, "", a->operands[k]))
            status = fail(EXIT_MEMORY, "no memory for the names of matrices");
    }
    return status;
}

static void free_operands(ldlt_operands *o)
{
    for (int k = 0; k < o->count; ++k) free(o->paths[k]);
    free(o->paths);
}

/* Options that would do nothing. */
static int check_options(const arguments *a)
{
    const int part = argument_choice(a, "part");
    const bool ablate = argument_flag(a, "ablate"), made = part == PART_SETUP || part == PART_GROWTH;
    if (part != PART_ALL && part < PART_SETUP)
        return usage_error(a, "--part %s is for bench blocks", argument_text(a, "part"));
    if (ablate && part != PART_ALL)
        return usage_error(a, "--ablate and --part are two kinds of run: take one");
    if (argument_given(a, "size") && !made)
        return usage_error(a, "--size is for --part setup and --part growth");
    if (argument_given(a, "methods") && (made || ablate))
        return usage_error(a, "--methods is for matrices: not with --ablate, --part setup and --part growth");
    if (argument_given(a, "device") && part == PART_BACKENDS)
        return usage_error(a, "--part backends goes through all devices: --methods chooses among them");
    if (argument_given(a, "plot") && !ablate && part != PART_GROWTH)
        return usage_error(a, "--plot is for --ablate and --part growth");
    if (a->library.scaling == SADDLE_SCALING_USER || a->library.order == SADDLE_ORDER_USER)
        return usage_error(a, "a scaling or an order in a file is for one matrix: it will not do here");
    return EXIT_DONE;
}

int ldlt_walk(ldlt_bench *t, const ldlt_operands *o, void (*measure)(ldlt_bench *t, void *report),
              void *report)
{
    int status = EXIT_DONE;
    for (int k = 0; k < o->count; ++k) {
        const int loaded = ldlt_load(t, o->paths[k]);
        if (loaded == EXIT_DONE) {
            measure(t, report);
            ldlt_unload(t);
        } else {
            status = loaded;
        }
        progress_end();
        if (loaded != EXIT_INTERRUPTED && progress_interrupted())
            return fail(EXIT_INTERRUPTED, "interrupted at %s", o->paths[k]);
        if (progress_interrupted()) break;
    }
    return status;
}

static int run_part(ldlt_bench *t, ldlt_operands *o)
{
    const int part = argument_choice(t->a, "part");
    if (argument_flag(t->a, "ablate")) return ldlt_ablate(t, o);
    if (part == PART_SETUP || part == PART_GROWTH) return ldlt_made(t, part == PART_GROWTH);
    if (part == PART_BACKENDS) return ldlt_backends(t, o);
    return ldlt_matrices(t, o, part == PART_ANCHORS);
}

int bench_ldlt(const arguments *a)
{
    static const char *const outputs[] = {"json", "plot"};
    const int part = argument_choice(a, "part");
    const bool made = part == PART_SETUP || part == PART_GROWTH;
    ldlt_bench t = {.a = a, .limit = argument_given(a, "limit") ? argument_real(a, "limit") : LIMIT};
    ldlt_operands operands = {0, 0, NULL};
    int status = check_options(a);
    if (status == EXIT_DONE) status = outputs_spare_operands(a, outputs, 2);
    if (status == EXIT_DONE) status = plot_check(argument_text(a, "plot"));
    if (status == EXIT_DONE) status = outputs_check(a, outputs, 2);
    if (status == EXIT_DONE && !made) status = find_operands(a, &operands);
    if (status == EXIT_DONE) {
        t.hooks = progress_begin(a);
        status = run_part(&t, &operands);
        progress_end();
    }
    free_operands(&operands);
    return status;
}
