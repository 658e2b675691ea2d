/* See program.h. */
#include "cli/program.h"

#include "cli/help.h"
#include "cli/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMMANDS_MOST = 16 };

static const program *running;

const program *program_running(void)
{
    return running;
}

bool program_beside(const char *file, char *path, size_t path_size)
{
    const ssize_t got = readlink("/proc/self/exe", path, path_size);
    if (got <= 0 || (size_t)got >= path_size) return false;
    path[got] = 0;
    char *name = strrchr(path, '/') + 1;
    const size_t room = path_size - (size_t)(name - path);
    return (size_t)snprintf(name, room, "%s", file) < room && access(path, X_OK) == 0;
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
    fprintf(stderr, "%s %s: ", running->name, a->command->name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\nTry \"%s %s --help\".\n", running->name, a->command->name);
    va_end(list);
    return EXIT_USAGE;
}

static const command *find_command(const char *name)
{
    const command *const *c = running->commands;
    while (*c && strcmp((*c)->name, name) != 0) ++c;
    return *c;
}

static int unknown_command(const char *name)
{
    const char *words[COMMANDS_MOST];
    struct stat is;
    int count = 0;
    for (const command *const *c = running->commands; *c; ++c) {
        if (!(*c)->hidden) words[count++] = (*c)->name;
    }
    const char *near = nearest_word(name, words, count);
    fprintf(stderr, "%s: there is no %s \"%s\"", running->name, running->noun, name);
    if (near)
        fprintf(stderr, "; did you mean \"%s %s\"?", running->name, near);
    else if (running->usual && stat(name, &is) == 0)
        fprintf(stderr, "; did you mean \"%s %s %s\"?", running->name, running->usual, name);
    fprintf(stderr, "\nTry \"%s --help\".\n", running->name);
    return EXIT_USAGE;
}

/* "help" or "help NAME". */
static int help(char *name)
{
    const command *c = name ? find_command(name) : NULL;
    if (name && !c) return unknown_command(name);
    if (c && c->start) return c->start((char *[]){NULL, name, (char[]){"--help"}, NULL});
    if (c)
        print_command_help(stdout, c);
    else
        print_program_help(stdout);
    return EXIT_DONE;
}

static int run_command(const command *c, int argc, char **argv)
{
    static arguments a;
    arguments_begin(&a, c);
    const int status = arguments_parse(&a, argc, argv);
    if (status != EXIT_DONE) return status;
    if (argument_given(&a, "help")) {
        print_command_help(stdout, c);
        return EXIT_DONE;
    }
    if (argument_given(&a, "version")) {
        print_version(stdout);
        return EXIT_DONE;
    }
    return c->run(&a);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_program_help(stderr);
        return EXIT_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
        return help(argv[2]);
    if (strcmp(first, "--version") == 0) {
        print_version(stdout);
        return EXIT_DONE;
    }
    if (first[0] == '-' && first[1]) {
        fprintf(stderr,
                "%s: the %s must come first: %s %s %s\n"
                "Try \"%s --help\".\n",
                running->name, running->noun, running->name, running->stands, first, running->name);
        return EXIT_USAGE;
    }
    const command *c = find_command(first);
    if (!c) return unknown_command(first);
    return c->start ? c->start(argv) : run_command(c, argc - 2, argv + 2);
}

/* Under valgrind /proc/self/exe is valgrind, and what is started instead would not be checked. */
static bool under_valgrind(void)
{
    const char *loaded = getenv("LD_PRELOAD");
    return loaded && strstr(loaded, "/vgpreload_");
}

/* OpenBLAS has to be told its kernels where it does not know the processor; the user's own choice stays. */
static void choose_blas_core(void)
{
    const char *taken, *core = saddle_blas_core(&taken);
    if (!core || getenv("OPENBLAS_CORETYPE")) return;
    setenv("OPENBLAS_CORETYPE", core, 1);
    setenv(BLAS_TAKEN, taken, 1);
}

/*
 * Three things must be so before the libraries are loaded, so the program starts itself again. Where it
 * cannot, it goes on as it is.
 * - OpenMP's threads spin by default while they wait for each other, which on a machine that has other
 *   work to do takes many times as long (docs/design/0001-foundation.md). The runtime reads its policy when
 *   it is loaded; the user's own choice stays.
 * - OpenBLAS chooses its kernels when it is loaded. BLAS_TAKEN tells `doctor` what it would have taken.
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
    const bool again = under_valgrind() || (chosen && sigismember(&before, SIGTERM) == 1);
    if (!again) choose_blas_core();
    if (!again && (chosen || setenv("OMP_WAIT_POLICY", "passive", 1) == 0)) execv("/proc/self/exe", argv);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

int program_main(const program *p, int argc, char **argv)
{
    running = p;
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
