/* See operands.h. */
#define _GNU_SOURCE
#include "bench/operands.h"

#include "cli/memory.h"
#include "cli/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int add_path(bench_operands *o, const char *folder, const char *name)
{
    char path[4096];
    char **one = one_more(&o->paths, &o->count, &o->room, sizeof *one);
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    return one && (*one = strdup(path)) ? EXIT_DONE
                                        : fail(EXIT_MEMORY, "out of memory for the names of matrices");
}

static int is_matrix(const struct dirent *entry)
{
    static const char *const endings[] = {".mtx", ".mtx.gz", ".rb", ".rb.gz"};
    for (int k = 0; k < 4; ++k)
        if (path_ends(entry->d_name, endings[k])) return 1;
    return 0;
}

static int add_folder(bench_operands *o, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_matrix, alphasort);
    int status = EXIT_DONE;
    if (count < 0) return fail(EXIT_FILE, "%s: cannot be opened: %s", folder, strerror(errno));
    for (int k = 0; k < count; ++k) {
        if (status == EXIT_DONE) status = add_path(o, folder, entries[k]->d_name);
        free(entries[k]);
    }
    free(entries);
    return status;
}

int bench_operands_add(bench_operands *o, const char *operand)
{
    struct stat is;
    const bool folder = stat(operand, &is) == 0 && S_ISDIR(is.st_mode);
    return folder ? add_folder(o, operand) : add_path(o, "", operand);
}

int bench_operands_find(bench_operands *o, const arguments *a, const char *const *folders, int count)
{
    const char *matrices = getenv("SADDLE_MATRICES");
    int status = EXIT_DONE;
    if (a->operand_count == 0 && !(matrices && *matrices))
        return usage_error(a, "no matrix is given: name some, or set SADDLE_MATRICES to their folder");
    for (int k = 0; a->operand_count == 0 && k < count && status == EXIT_DONE; ++k) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/%s", matrices, folders[k]);
        status = bench_operands_add(o, folder);
    }
    for (int k = 0; k < a->operand_count && status == EXIT_DONE; ++k)
        status = bench_operands_add(o, a->operands[k]);
    return status;
}

void bench_operands_free(bench_operands *o)
{
    for (int64_t k = 0; k < o->count; ++k) free(o->paths[k]);
    free(o->paths);
}
