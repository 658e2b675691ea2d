/* See outputs.h. */
#include "cli/outputs.h"

#include "cli/paths.h"

#include <string.h>
#include <sys/stat.h>

bool is_standard(const arguments *a, const char *name)
{
    const char *text = argument_text(a, name);
    return text && strcmp(text, "-") == 0;
}

static int check_two(const arguments *a, const char *name, const char *other)
{
    const char *one = argument_text(a, name), *two = argument_text(a, other);
    if (!one || !two || strcmp(one, two) != 0 || strncmp(one, "/dev/", 5) == 0) return EXIT_DONE;
    if (strcmp(one, "-") == 0)
        return usage_error(a, "only one of --%s and --%s can be standard output", name, other);
    return usage_error(a, "--%s and --%s name the same file, %s: one would overwrite the other", name, other,
                       one);
}

/* A device may be read and written. */
static bool overwrites(const char *path, const char *operand)
{
    struct stat is;
    if (strcmp(path, "-") == 0) return false;
    return strcmp(path, operand) == 0 ||
           (stat(path, &is) == 0 && S_ISREG(is.st_mode) && same_file(path, operand));
}

int outputs_check(const arguments *a, const char *const *names, int count)
{
    for (int k = 0; k < count; ++k) {
        const char *path = argument_text(a, names[k]);
        for (int i = 0; path && i < a->operand_count; ++i) {
            if (overwrites(path, a->operands[i]))
                return usage_error(a, "--%s %s would overwrite the matrix", names[k], path);
        }
        for (int i = 0; i < k; ++i) {
            const int status = check_two(a, names[i], names[k]);
            if (status != EXIT_DONE) return status;
        }
    }
    return EXIT_DONE;
}
