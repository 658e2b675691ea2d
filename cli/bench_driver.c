/* See bench_driver.h. */
#define _GNU_SOURCE
#include "cli/bench_driver.h"

#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool driver_find(const char *file, const char *folder, char *path, size_t path_size)
{
    char self[2048];
    int length;
    if (folder) {
        length = snprintf(path, path_size, "%s/%s", folder, file);
    } else {
        const ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
        if (got <= 0) return false;
        self[got] = 0;
        char *slash = strrchr(self, '/');
        if (slash) *slash = 0;
        length = snprintf(path, path_size, "%s/peers/%s", self, file);
    }
    return length > 0 && (size_t)length < path_size && access(path, X_OK) == 0;
}

bool driver_start(driver *d, const char *const *argv)
{
    int ends[2];
    memset(d, 0, sizeof *d);
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    d->child = fork();
    if (d->child == 0) {
        const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null < 0 || dup2(null, 0) < 0 || dup2(ends[1], 1) < 0) _exit(127);
        progress_child();
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    d->pipe = ends[0];
    if (d->child < 0) {
        close(ends[0]);
        d->child = 0;
    }
    return d->child > 0;
}

bool driver_line(driver *d, char *line, size_t line_size)
{
    for (;;) {
        const char *end = memchr(d->text, '\n', d->length);
        if (end || d->length == sizeof d->text) {
            const size_t length = end ? (size_t)(end - d->text) : d->length;
            const size_t used = end ? length + 1 : length;
            snprintf(line, line_size, "%.*s", (int)length, d->text);
            d->length -= used;
            memmove(d->text, d->text + used, d->length);
            return true;
        }
        struct pollfd one = {.fd = d->pipe, .events = POLLIN};
        const int ready = poll(&one, 1, 200);
        if (progress_interrupted()) return false;
        if (ready <= 0) continue;
        const ssize_t got = read(d->pipe, d->text + d->length, sizeof d->text - d->length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        d->length += (size_t)got;
    }
}

int driver_end(driver *d)
{
    int status = 0;
    if (d->child <= 0) return -1;
    if (progress_interrupted()) kill(d->child, SIGKILL);
    close(d->pipe);
    const bool ended = waitpid(d->child, &status, 0) == d->child;
    d->child = 0;
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
