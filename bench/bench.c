/* See bench.h. */
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/child.h"
#include "cli/probe.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool bench_prints(const arguments *a)
{
    return !argument_given(a, "quiet") && !is_standard(a, "json");
}

void print_column(const char *format, int width, double number)
{
    char text[40] = "-";
    if (isfinite(number)) snprintf(text, sizeof text, format, number);
    printf("%*s", width, text);
}

void print_columns(const char *columns, const double *numbers)
{
    for (char format[16], *rest; *columns; columns = rest + strspn(rest, " ")) {
        const int width = (int)strtol(columns, &rest, 10);
        const size_t length = strcspn(rest, " ");
        snprintf(format, sizeof format, "%%%.*s", (int)length, rest);
        rest += length;
        print_column(format, width, *numbers++);
    }
}

int bench_check_operands(const arguments *a)
{
    for (int k = 0; k < a->operand_count; ++k) {
        if (strcmp(a->operands[k], "-") == 0)
            return usage_error(a, "standard input cannot be used: the file is read several times");
    }
    return EXIT_DONE;
}

int bench_check_files(const arguments *a)
{
    if (a->library.scaling != SADDLE_SCALING_USER && a->library.order != SADDLE_ORDER_USER) return EXIT_DONE;
    return usage_error(
        a, "a scaling or an order from a file applies to a single matrix and cannot be used here");
}

int bench_temporary(const char *ending, char *path, size_t path_size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, path_size, "%s/saddle-bench.XXXXXX%s", folder && *folder ? folder : "/tmp", ending);
    const int file = mkstemps(path, (int)strlen(ending));
    if (file < 0) return fail(EXIT_FILE, "%s: cannot be written: %s", path, strerror(errno));
    close(file);
    return EXIT_DONE;
}

bool bench_driver(const char *name, const char *folder, char *path, size_t path_size)
{
    char beside[64];
    snprintf(beside, sizeof beside, "peers/%s", name);
    if (!folder) return program_beside(beside, path, path_size);
    const int length = snprintf(path, path_size, "%s/%s", folder, name);
    if (length <= 0 || (size_t)length >= path_size || strcmp(folder, "none") == 0) return false;
    return access(path, X_OK) == 0;
}

int bench_choose(const arguments *a, const char *list, const char *const *names, int count, bool *wanted)
{
    const char *name = argument_text(a, list);
    for (int k = 0; k < count; ++k) wanted[k] = !name;
    while (name) {
        const size_t length = strcspn(name, ",");
        int found = count;
        for (int k = 0; k < count; ++k)
            if (strlen(names[k]) == length && strncmp(name, names[k], length) == 0) found = k;
        if (found == count) return usage_error(a, "--%s: there is no \"%.*s\"", list, (int)length, name);
        wanted[found] = true;
        name = name[length] ? name + length + 1 : NULL;
    }
    return EXIT_DONE;
}

/* With one thread on the CPU seconds are those that the process had a core, which other programs on the
 * machine do not lengthen. */
bool bench_core_time(const arguments *a)
{
    return argument_count(a, "threads") == 1 &&
           (a->library.device == SADDLE_DEVICE_AUTO || a->library.device == SADDLE_DEVICE_CPU);
}

void bench_today(char *day, size_t size)
{
    const time_t now = time(NULL);
    struct tm date;
    day[0] = 0;
    if (gmtime_r(&now, &date)) strftime(day, size, "%Y-%m-%d", &date);
}

void bench_print_run(const arguments *a)
{
    char day[16];
    machine_probe machine;
    probe_machine(&machine);
    bench_today(day, sizeof day);
    printf("\nSaddle %s (commit %s), %s, %s, %s; threads: %" PRId64 "\n", saddle_version(), saddle_commit(),
           day, machine.cpu, machine.simd, argument_count(a, "threads"));
    if (bench_core_time(a)) printf("seconds are CPU time of one core\n");
}

saddle_status bench_try_set(saddle_options *o, const char *words, char *message)
{
    char word[64];
    saddle_status status = SADDLE_OK;
    for (size_t length; *words && status == SADDLE_OK; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        char *value = strchr(word, '=');
        if (value) *value++ = 0;
        status = saddle_options_set(o, word, value ? value : "", message);
    }
    return status;
}

void bench_set(saddle_options *o, const char *words)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    if (bench_try_set(o, words, message) != SADDLE_OK) fail(EXIT_USAGE, "%s", message);
}

void bench_json_head(json *j, const char *name)
{
    JSON_PUT(j, true, J_TEXT("commit", saddle_commit()), J_TEXT("bench", name));
}

double bench_now(const bench_limit *l)
{
    struct timespec now;
    if (!l->core || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return seconds();
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int watch(const saddle_progress *where, void *user)
{
    bench_limit *l = user;
    const int stop = l->hooks.progress(where, l->hooks.user);
    l->late = l->late || bench_now(l) > l->until;
    return stop || l->late;
}

saddle_hooks bench_limited(bench_limit *l, const arguments *a, double limit)
{
    saddle_hooks hooks = l->hooks;
    hooks.progress = watch;
    hooks.user = l;
    if (!argument_given(a, "verbose")) hooks.log = NULL;
    l->until = bench_now(l) + limit;
    l->late = false;
    return hooks;
}

int bench_save(const arguments *a, int status, json_writer *write, const void *report)
{
    const char *path = argument_text(a, "json");
    const int written = path ? json_write(path, write, report) : EXIT_DONE;
    return status == EXIT_DONE ? written : status;
}

/* The picture from a JSON file that is there. */
static int draw(const char *path, const char *plot)
{
    char script[4096];
    program_beside("saddle-bench-plot", script, sizeof script);
    const char *const argv[] = {script, path, plot, NULL};
    if (child_run(argv, NULL) == 0) return EXIT_DONE;
    return fail(EXIT_FILE,
                "%s was not drawn: drawing requires python3 with matplotlib (Debian: python3-matplotlib); to "
                "draw it later: saddle-bench-plot %s %s",
                plot, path, plot);
}

int bench_draw(const arguments *a, int status, json_writer *write, const void *report)
{
    const char *path = argument_text(a, "json"), *plot = argument_text(a, "plot");
    char temporary[4096] = "";
    struct stat is;
    int drawn = bench_save(a, EXIT_DONE, write, report);
    if (plot && drawn == EXIT_DONE) {
        if (!path || stat(path, &is) != 0 || !S_ISREG(is.st_mode)) {
            drawn = bench_temporary(".json", temporary, sizeof temporary);
            if (drawn == EXIT_DONE) drawn = json_write(path = temporary, write, report);
        }
        if (drawn == EXIT_DONE) drawn = draw(path, plot);
        if (drawn == EXIT_DONE && *temporary) unlink(temporary); /* what was measured is not lost */
    }
    return status == EXIT_DONE ? drawn : status;
}
