/* See progress.h. Signals are the process's, so there is one progress, too: the state is static. */
#define _GNU_SOURCE
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double BAR_AFTER = 0.3, BAR_EVERY = 0.1, LINE_EVERY = 5.0, AGAIN_AFTER = 0.3; /* seconds */

static struct {
    bool quiet, terminal, bar_shown;
    int level;  /* of the log */
    double tol; /* what the residual is to reach */
    double began, shown;
    char stage[16];
    int64_t done, total;
    double residual;
} now;

static atomic_bool interrupted;
static bool watching;    /* a thread waits for signals */
static sigset_t watched; /* those it waits for */

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool colour_wanted(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no_color && *no_color) || (term && strcmp(term, "dumb") == 0)) return false;
    return isatty(fileno(stream)) == 1;
}

/* The first signal asks, a second one kills as if it had never been caught. `timeout` and the like
 * send theirs twice at once, to the process and to its group: that is still the first. */
static void take_signal(int number)
{
    static double first;
    const double time = seconds();
    if (interrupted && time - first > AGAIN_AFTER) {
        signal(number, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
        raise(number);
    }
    if (!interrupted) first = time;
    interrupted = true;
}

static void *watch_signals(void *unused)
{
    int number;
    for (;;) {
        if (sigwait(&watched, &number) == 0) take_signal(number);
    }
    return unused;
}

/*
 * Signals are waited for by a thread of their own and blocked in all others, which have their mask from the
 * one that starts them: METIS puts handlers of its own in place of any, and these can only run in its own
 * thread. (Threads that libraries start before main are seen to in main.c.) A signal that was to be ignored
 * when the program began (nohup, a shell's background) stays so.
 */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    static pthread_t watcher;
    struct sigaction action;
    if (watching) return;
    sigemptyset(&watched);
    for (int k = 0; k < 2; ++k) {
        const bool ignored = sigaction(numbers[k], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (!ignored) sigaddset(&watched, numbers[k]);
    }
    pthread_sigmask(SIG_BLOCK, &watched, NULL);
    watching = pthread_create(&watcher, NULL, watch_signals, NULL) == 0;
    if (!watching) pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
}

void progress_child(void)
{
    if (watching) pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
}

bool progress_interrupted(void)
{
    return interrupted;
}

static void clear_bar(void)
{
    if (now.bar_shown) fputs("\r\033[K", stderr);
    now.bar_shown = false;
}

void progress_where(char *text, size_t text_size)
{
    if (!*now.stage) {
        snprintf(text, text_size, "before the first stage");
    } else if (strcmp(now.stage, "solve") == 0) {
        char limit[40] = "", residual[48] = "";
        if (now.total > 0) snprintf(limit, sizeof limit, " of at most %" PRId64, now.total);
        if (isfinite(now.residual)) {
            snprintf(residual, sizeof residual, ", relative residual %.1e", now.residual);
        }
        snprintf(text, text_size, "in solve, iteration %" PRId64 "%s%s", now.done, limit, residual);
    } else if (now.total > 0) {
        snprintf(text, text_size, "in %s, at %.0f %%", now.stage,
                 100.0 * (double)now.done / (double)now.total);
    } else {
        snprintf(text, text_size, "in %s, at %" PRId64, now.stage, now.done);
    }
}

/* How far it is: of an iteration, the way of the residual down to the tolerance on a logarithmic
 * scale, or the share of the iterations allowed, whichever is more. */
static double fraction_done(void)
{
    double fraction = now.total > 0 ? (double)now.done / (double)now.total : 0.0;
    if (now.residual > 0 && now.residual < 1 && now.tol > 0 && now.tol < 1) {
        fraction = fmax(fraction, log(now.residual) / log(now.tol));
    }
    return fmin(fraction, 1.0);
}

static void show_bar(void)
{
    enum { CELLS = 24 };
    char text[80] = "", bar[CELLS + 1];
    struct winsize size;
    int width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width = size.ws_col;
    if (isfinite(now.residual))
        snprintf(text, sizeof text, "iteration %" PRId64 ", residual %.1e", now.done, now.residual);
    else if (now.total > 0)
        snprintf(text, sizeof text, "%.0f %%", 100.0 * (double)now.done / (double)now.total);
    const int full = (int)(fraction_done() * CELLS);
    for (int k = 0; k < CELLS; ++k) bar[k] = k < full ? '#' : '.';
    bar[CELLS] = 0;
    /* A line that wraps could not be cleared again. */
    const int room = width - CELLS - 12;
    if (room > 0) fprintf(stderr, "\r%-8.8s[%s] %.*s\033[K", now.stage, bar, room, text);
    fflush(stderr);
    now.bar_shown = true;
}

static void show(void)
{
    char where[128];
    const double time = seconds();
    if (now.quiet) return;
    if (now.terminal) {
        if (time - now.began < BAR_AFTER || time - now.shown < BAR_EVERY) return;
        show_bar();
    } else {
        if (time - now.shown < LINE_EVERY) return;
        progress_where(where, sizeof where);
        fprintf(stderr, "saddle: %s (%.0f s)\n", where, time - now.began);
    }
    now.shown = time;
}

static int progress_hook(const saddle_progress *p, void *user)
{
    (void)user;
    snprintf(now.stage, sizeof now.stage, "%s", p->stage);
    now.done = p->done;
    now.total = p->total;
    now.residual = p->residual;
    show();
    return interrupted;
}

static void log_hook(int level, const char *line, void *user)
{
    (void)user;
    if (level > now.level) return;
    clear_bar();
    fprintf(stderr, "saddle: %s%s\n", level == SADDLE_LOG_WARNING ? "warning: " : "", line);
}

static int log_level(bool quiet, bool verbose)
{
    static const char *const words[] = {"warning", "info", "debug"};
    const char *text = getenv("SADDLE_LOG");
    if (quiet) return 0;
    for (int k = 0; text && k < 3; ++k) {
        if (strcmp(text, words[k]) == 0) return k + 1;
    }
    if (text && *text) {
        fprintf(stderr, "saddle: warning: SADDLE_LOG is \"%s\": it must be one of warning, info, debug\n",
                text);
    }
    return verbose ? SADDLE_LOG_INFO : SADDLE_LOG_WARNING;
}

saddle_hooks progress_begin(const arguments *a)
{
    const char *term = getenv("TERM");
    memset(&now, 0, sizeof now);
    now.quiet = argument_given(a, "quiet");
    now.terminal = isatty(STDERR_FILENO) == 1 && !(term && strcmp(term, "dumb") == 0);
    now.level = log_level(now.quiet, argument_given(a, "verbose"));
    now.tol = a->library.tol;
    now.residual = NAN;
    now.began = now.shown = seconds();
    catch_signals();
    return (saddle_hooks){.size = sizeof(saddle_hooks), .log = log_hook, .progress = progress_hook};
}

void progress_end(void)
{
    clear_bar();
}
