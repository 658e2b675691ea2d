/* See child.h. */
#define _GNU_SOURCE
#include "bench/child.h"

#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: becomes the program, with these as its standard streams. */
static void become(const char *const *argv, int in, int out, int error)
{
    if (in < 0 || out < 0 || error < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(error, 2) < 0)
        _exit(127);
    progress_child();
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static int wait_for(pid_t process)
{
    int status = 0;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int child_run(const char *const *argv, const char *output)
{
    const pid_t process = fork();
    if (process == 0)
        become(argv, open("/dev/null", O_RDONLY | O_CLOEXEC),
               output ? open(output, O_WRONLY | O_TRUNC | O_CLOEXEC) : 1, 2);
    return process > 0 ? wait_for(process) : -1;
}

bool child_start(child *c, const char *const *argv, double limit, bool quiet)
{
    int ends[2];
    memset(c, 0, sizeof *c);
    c->left = limit;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    c->process = fork();
    if (c->process == 0) become(argv, ends[1], ends[1], quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : 2);
    close(ends[1]);
    c->socket = ends[0];
    if (c->process > 0) return true;
    close(ends[0]);
    c->process = 0;
    return false;
}

/* Waits for up to 0.2 s until there is something to read. */
static bool is_ready(child *c)
{
    struct pollfd one = {.fd = c->socket, .events = POLLIN};
    const double began = seconds();
    const bool ready = poll(&one, 1, 1 + (int)(1e3 * fmin(fmax(c->left, 0.0), 0.2))) > 0;
    c->left -= seconds() - began;
    return ready;
}

/* Moves a line, or what fills the room, out of what was read. */
static bool take_line(child *c, char *line, size_t line_size)
{
    const char *end = memchr(c->text, '\n', c->length);
    if (!end && c->length < sizeof c->text) return false;
    const size_t length = end ? (size_t)(end - c->text) : c->length, used = end ? length + 1 : length;
    snprintf(line, line_size, "%.*s", (int)length, c->text);
    c->length -= used;
    memmove(c->text, c->text + used, c->length);
    return true;
}

child_word child_line(child *c, char *line, size_t line_size)
{
    while (!take_line(c, line, line_size)) {
        const bool ready = is_ready(c);
        if (progress_interrupted()) return CHILD_STOP;
        if (!ready && c->left <= 0.0) return CHILD_LATE;
        if (!ready) continue;
        const ssize_t got = read(c->socket, c->text + c->length, sizeof c->text - c->length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return CHILD_END;
        c->length += (size_t)got;
    }
    return CHILD_LINE;
}

const char *child_why(child_word word)
{
    switch (word) {
    case CHILD_LATE: return "took too long";
    case CHILD_STOP: return "interrupted";
    default: return "ended without output";
    }
}

bool child_tell(child *c, const char *word)
{
    return send(c->socket, word, strlen(word), MSG_NOSIGNAL) >= 0;
}

int child_end(child *c, bool kill_it)
{
    if (c->process <= 0) return -1;
    if (kill_it) kill(c->process, SIGKILL);
    close(c->socket);
    const int status = wait_for(c->process);
    c->process = 0;
    return status;
}
