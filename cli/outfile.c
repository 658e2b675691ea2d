/* See outfile.h. */
#define _GNU_SOURCE
#include "cli/outfile.h"

#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *path, int error)
{
    if (strcmp(path, "-") == 0) path = "standard output";
    return fail(EXIT_FILE, "%s: cannot be written: %s", path, strerror(error));
}

/* A file under a name of its own beside the target, with the permissions of any new file. */
static int open_temporary(outfile *o)
{
    const size_t size = strlen(o->target) + 8;
    o->temporary = malloc(size);
    if (!o->temporary) return -1;
    snprintf(o->temporary, size, "%s.XXXXXX", o->target);
    const int file = mkstemp(o->temporary);
    if (file < 0) {
        free(o->temporary);
        o->temporary = NULL;
        return -1;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file, 0666 & ~mask);
    return file;
}

/* 0, or the errno of what failed, with nothing left behind. */
static int open_stream(outfile *o, const char *path)
{
    struct stat is;
    int file;
    memset(o, 0, sizeof *o);
    o->path = path;
    if (strcmp(path, "-") == 0) {
        o->stream = stdout;
        return 0;
    }
    const bool exists = stat(path, &is) == 0;
    if (exists && S_ISDIR(is.st_mode)) return EISDIR;
    if (exists && !S_ISREG(is.st_mode)) {
        file = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        /* Through a link the file it points to is replaced, not the link. */
        o->target = exists ? realpath(path, NULL) : strdup(path);
        file = o->target ? open_temporary(o) : -1;
    }
    o->stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (o->stream) return 0;
    const int error = errno;
    if (file >= 0) close(file);
    outfile_close(o, false);
    return error;
}

int outfile_open(outfile *o, const char *path)
{
    const int error = open_stream(o, path);
    return error ? cannot_write(path, error) : EXIT_DONE;
}

int outfile_close(outfile *o, bool keep)
{
    int status = EXIT_DONE, error = 0;
    if (o->stream) {
        errno = 0;
        const bool earlier = ferror(o->stream) != 0;
        const bool now = (o->stream == stdout ? fflush(stdout) : fclose(o->stream)) != 0;
        if (earlier || now) error = errno ? errno : EIO;
    }
    if (o->temporary && keep && !error && rename(o->temporary, o->target) != 0) error = errno;
    if (o->temporary && (!keep || error)) unlink(o->temporary);
    if (keep && error) status = cannot_write(o->path, error);
    free(o->temporary);
    free(o->target);
    memset(o, 0, sizeof *o);
    return status;
}

int outfile_check(const char *path)
{
    outfile o;
    struct stat is;
    if (!path || strcmp(path, "-") == 0) return 0;
    /* Opening a pipe would wait for its reader. */
    if (stat(path, &is) == 0 && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)) return 0;
    const int error = open_stream(&o, path);
    if (!error) outfile_close(&o, false);
    return error;
}

int outfile_refuse(const char *path)
{
    const int error = outfile_check(path);
    return error ? cannot_write(path, error) : EXIT_DONE;
}
