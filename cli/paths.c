/* See paths.h. */
#include "cli/paths.h"

#include "cli/command.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool path_ends(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

void matrix_name(const char *path, char *name, size_t name_size)
{
    static const char *const endings[] = {".gz", ".mtx", ".rb"};
    const char *slash = strrchr(path, '/');
    snprintf(name, name_size, "%s", slash ? slash + 1 : path);
    for (int k = 0; k < 3; ++k)
        if (path_ends(name, endings[k])) name[strlen(name) - strlen(endings[k])] = 0;
}

bool same_file(const char *one, const char *two)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(two, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

int plot_check(const char *path)
{
    if (!path || path_ends(path, ".png") || path_ends(path, ".svg")) return EXIT_DONE;
    return fail(EXIT_USAGE, "%s: the file name of a plot must end in .png or .svg", path);
}
