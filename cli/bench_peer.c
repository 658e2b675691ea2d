/* See bench_peer.h. The words between the two are those of bench/peers/peer.h. */
#define _GNU_SOURCE
#include "cli/bench_peer.h"

#include "cli/bench_driver.h"
#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool peer_find(const char *name, const char *folder, char *path, size_t path_size)
{
    char file[64];
    snprintf(file, sizeof file, "peer-%s", name);
    return driver_find(file, folder, path, path_size);
}

/* The child: its environment is set by env, as this process has threads. */
static void become_driver(const peer_process *p, int socket, const char *path, const char *matrix,
                          int threads)
{
    char openmp[40], blas[48], count[16];
    snprintf(openmp, sizeof openmp, "OMP_NUM_THREADS=%d", threads);
    snprintf(blas, sizeof blas, "OPENBLAS_NUM_THREADS=%d", threads);
    snprintf(count, sizeof count, "%d", threads);
    const char *const argv[] = {"env", openmp, blas, path, matrix, "--turns", "--threads", count, NULL};
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(socket, 0) < 0 || dup2(socket, 1) < 0) _exit(127);
    if (!p->verbose && dup2(null, 2) < 0) _exit(127);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* The child is ended; false, so that it can be returned. */
static bool give_up(peer_process *p, const char *why)
{
    if (!p->error[0]) snprintf(p->error, sizeof p->error, "%s", why);
    if (p->child > 0) {
        kill(p->child, SIGKILL);
        waitpid(p->child, NULL, 0);
        close(p->socket);
    }
    p->child = 0;
    return false;
}

/* Waits for up to 0.2 s until there is something to read; false, and the child is gone, when it is late. */
static bool wait_for_word(peer_process *p, bool *ready)
{
    struct pollfd one = {.fd = p->socket, .events = POLLIN};
    const double began = seconds();
    *ready = poll(&one, 1, 1 + (int)(1e3 * fmin(fmax(p->left, 0.0), 0.2))) > 0;
    p->left -= seconds() - began;
    if (progress_interrupted()) return give_up(p, "interrupted");
    return *ready || p->left > 0.0 ? true : give_up(p, "took too long");
}

/* Reads up to the end of a line; false, and the child is gone, where none comes. */
static bool read_line(peer_process *p)
{
    bool ready;
    p->length = 0;
    while (p->length == 0 || p->line[p->length - 1] != '\n') {
        if (!wait_for_word(p, &ready)) return false;
        if (!ready) continue;
        const ssize_t got = read(p->socket, p->line + p->length, sizeof p->line - 1 - p->length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return give_up(p, "ended without a word");
        p->length += (size_t)got;
    }
    p->line[p->length - 1] = 0;
    p->told = p->line[0] == '{';
    return true;
}

static void ask(peer_process *p, const char *word)
{
    if (p->child <= 0 || p->told) return;
    if (send(p->socket, word, strlen(word), MSG_NOSIGNAL) < 0)
        give_up(p, "ended without a word");
    else
        read_line(p);
}

void peer_start(peer_process *p, const char *path, const char *matrix, int threads, double limit,
                bool verbose)
{
    int ends[2];
    memset(p, 0, sizeof *p);
    p->verbose = verbose;
    p->limit = p->left = limit;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        give_up(p, strerror(errno));
        return;
    }
    p->child = fork();
    if (p->child == 0) become_driver(p, ends[1], path, matrix, threads);
    p->socket = ends[0];
    close(ends[1]);
    if (p->child > 0) {
        read_line(p);
    } else {
        give_up(p, "cannot be started");
        close(ends[0]);
    }
}

void peer_turn(peer_process *p)
{
    if (p->turns > 0 && p->left < 2.0 / 3.0 * p->limit) return;
    p->turns++;
    ask(p, "turn\n");
}

static double told_number(const char *line, const char *key)
{
    char quoted[48], *end;
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    if (!at) return NAN;
    const double number = strtod(at + strlen(quoted), &end);
    return end == at + strlen(quoted) ? NAN : number; /* null is no number */
}

static bool told_text(const char *line, const char *key, char *text, size_t text_size)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
    const char *at = strstr(line, quoted);
    if (!at) return false;
    at += strlen(quoted);
    snprintf(text, text_size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

peer_result peer_nothing(void)
{
    peer_result r = {.ran = false};
    r.analysis = r.factor = r.solve = r.solve_64 = r.factor_nnz = r.flops = r.peak_bytes = NAN;
    r.resident_bytes = r.delayed = r.two_by_two = r.negative = NAN;
    r.backward_error = r.componentwise_error = NAN;
    r.backward_error_random = r.componentwise_error_random = NAN;
    return r;
}

static void take_result(const char *line, peer_result *r)
{
    r->ran = true;
    told_text(line, "version", r->version, sizeof r->version);
    told_text(line, "ordering", r->ordering, sizeof r->ordering);
    r->analysis = told_number(line, "analysis");
    r->factor = told_number(line, "factor");
    r->solve = told_number(line, "solve");
    r->solve_64 = told_number(line, "solve_64");
    r->factor_nnz = told_number(line, "factor_nnz");
    r->flops = told_number(line, "flops");
    r->peak_bytes = told_number(line, "peak_bytes");
    r->resident_bytes = told_number(line, "resident_bytes");
    r->delayed = told_number(line, "delayed");
    r->two_by_two = told_number(line, "two_by_two");
    r->negative = told_number(line, "negative");
    r->backward_error = told_number(line, "backward_error");
    r->componentwise_error = told_number(line, "componentwise_error");
    r->backward_error_random = told_number(line, "backward_error_random");
    r->componentwise_error_random = told_number(line, "componentwise_error_random");
}

void peer_end(peer_process *p, peer_result *result)
{
    *result = peer_nothing();
    ask(p, "tell\n");
    if (p->told && !told_text(p->line, "error", result->error, sizeof result->error))
        take_result(p->line, result);
    if (p->child > 0 && !p->told) give_up(p, "told nothing");
    if (p->error[0]) snprintf(result->error, sizeof result->error, "%s", p->error);
    give_up(p, ""); /* it has told: what it still does is to free memory */
}
