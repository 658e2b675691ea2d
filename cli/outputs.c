/* See outputs.h. */
#include "cli/outputs.h"

#include <string.h>
#include <sys/stat.h>

bool is_standard(const arguments *a, const char *name)
{
    const char *text = argument_text(a, name);
    return text && strcmp(text, "-") == 0;
}

bool same_file(const char *one, const char *two)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(two, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static int check_two(const arguments *a, const char *name, const char *other)
{
    const char *one = argument_text(a, name), *two = argument_text(a, other);
    if (!one || !two || strcmp(one, two) != 0 || strncmp(one, "/dev/", 5) == 0) return EXIT_DONE;
    if (strcmp(one, "-") == 0)
        return usage_error(a, "only one of --%s and --%s can be standard output", name, other);
    return usage_error(a, "--%s and --%s name the same file, %s: one would be lost", name, other, one);
}

int outputs_check(const arguments *a, const char *const *names, int count)
{
    for (int k = 0; k < count; ++k) {
        const char *path = argument_text(a, names[k]);
        if (path && strcmp(path, "-") != 0 && strcmp(path, a->operands[0]) == 0)
            return usage_error(a, "--%s %s would overwrite the matrix", names[k], path);
        for (int i = 0; i < k; ++i) {
            const int status = check_two(a, names[i], names[k]);
            if (status != EXIT_DONE) return status;
        }
    }
    return EXIT_DONE;
}

int outputs_spare_operands(const arguments *a, const char *const *names, int count)
{
    for (int k = 1; k < a->operand_count; ++k) {
        for (int o = 0; o < count; ++o) {
            const char *path = argument_text(a, names[o]);
            if (path && same_file(path, a->operands[k]))
                return usage_error(a, "--%s %s would overwrite the matrix", names[o], path);
        }
    }
    return EXIT_DONE;
}
