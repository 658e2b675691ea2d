/* The program `saddle`: finds the command, parses its options, runs it. */
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const command *const commands[] = {
#define ROW(name) &command_##name,
    COMMAND_TABLE(ROW)
#undef ROW
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const command *command_at(int k)
{
    return k >= 0 && k < COMMANDS ? commands[k] : NULL;
}

int exit_status(saddle_status status)
{
    switch (status) {
    case SADDLE_OK: return EXIT_DONE;
    case SADDLE_NOT_DEFINITE:
    case SADDLE_NOT_CONVERGED: return EXIT_NOT_REACHED;
    case SADDLE_CANCELLED: return EXIT_INTERRUPTED;
    case SADDLE_OUT_OF_MEMORY:
    case SADDLE_MEMORY_LIMIT: return EXIT_MEMORY;
    case SADDLE_BAD_OPTION: return EXIT_USAGE;
    case SADDLE_BAD_ARGUMENT:
    case SADDLE_BAD_MATRIX:
    case SADDLE_BAD_VALUE:
    case SADDLE_NOT_SUPPORTED:
    case SADDLE_WRONG_ORDER:
    case SADDLE_PATTERN_CHANGED:
    case SADDLE_FILE_OPEN:
    case SADDLE_FILE_FORMAT:
    case SADDLE_FILE_WRITE: return EXIT_FILE;
    case SADDLE_SINGULAR: return EXIT_SINGULAR;
    case SADDLE_NO_DEVICE:
    case SADDLE_DEVICE_FAILED: return EXIT_DEVICE;
    }
    return EXIT_FILE;
}

int fail(int exit, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("saddle: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return exit;
}

int usage_error(const arguments *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "saddle %s: ", a->command->name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\nTry \"saddle %s --help\".\n", a->command->name);
    va_end(list);
    return EXIT_USAGE;
}

static const command *find_command(const char *name)
{
    for (int k = 0; k < COMMANDS; ++k) {
        if (strcmp(commands[k]->name, name) == 0) return commands[k];
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *words[COMMANDS];
    struct stat is;
    int count = 0;
    for (int k = 0; k < COMMANDS; ++k) {
        if (!commands[k]->hidden) words[count++] = commands[k]->name;
    }
    const char *near = nearest_word(name, words, count);
    fprintf(stderr, "saddle: there is no command \"%s\"", name);
    if (near)
        fprintf(stderr, "; did you mean \"saddle %s\"?", near);
    else if (stat(name, &is) == 0)
        fprintf(stderr, "; did you mean \"saddle solve %s\"?", name);
    fputs("\nTry \"saddle --help\".\n", stderr);
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_program_help(stderr);
        return EXIT_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        const command *c = argc > 2 ? find_command(argv[2]) : NULL;
        if (argc > 2 && !c) return unknown_command(argv[2]);
        if (c)
            print_command_help(stdout, c);
        else
            print_program_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(first, "--version") == 0) {
        print_version(stdout);
        return EXIT_DONE;
    }
    if (first[0] == '-' && first[1]) {
        fprintf(stderr, "saddle: the command comes first: saddle COMMAND %s\nTry \"saddle --help\".\n",
                first);
        return EXIT_USAGE;
    }
    const command *c = find_command(first);
    if (!c) return unknown_command(first);

    static arguments a;
    arguments_begin(&a, c);
    const int status = arguments_parse(&a, argc - 2, argv + 2);
    if (status != EXIT_DONE) return status;
    if (argument_flag(&a, "help")) {
        print_command_help(stdout, c);
        return EXIT_DONE;
    }
    if (argument_flag(&a, "version")) {
        print_version(stdout);
        return EXIT_DONE;
    }
    return c->run(&a);
}

/*
 * Two things must be so before the libraries are loaded, so the program starts itself again. Where it cannot,
 * it goes on as it is.
 * - OpenMP's threads spin by default while they wait for each other, which on a machine that has other
 *   work to do takes many times as long (docs/design/0001-foundation.md). The runtime reads its policy when
 *   it is loaded; the user's own choice stays.
 * - OpenBLAS starts threads when it is loaded. SIGINT and SIGTERM are not for them (progress.c says why):
 *   they are blocked over the start, and that they are tells that this is the second.
 */
static void start_again(char **argv)
{
    sigset_t signals, before;
    const bool chosen = getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT");
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before);
    const bool again = chosen && sigismember(&before, SIGTERM) == 1;
    if (!again && (chosen || setenv("OMP_WAIT_POLICY", "passive", 1) == 0)) execv("/proc/self/exe", argv);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

int main(int argc, char **argv)
{
    start_again(argv);
    const int status = run(argc, argv);
    /* What was printed must have arrived: a full disk is an error, not a short report. */
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        const int failed = fail(EXIT_FILE, "standard output cannot be written%s%s", errno ? ": " : "",
                                errno ? strerror(errno) : "");
        return status == EXIT_DONE ? failed : status;
    }
    return status;
}
