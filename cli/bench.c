/*
 * `saddle bench`: starts the benchmarks, which are a program of their own, saddle-bench (bench/main.c). It
 * stands beside this one, in ../libexec or on the PATH, or is not installed.
 */
#include "cli/program.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int start_bench(char **argv)
{
    static const char *const places[] = {"saddle-bench", "../libexec/saddle-bench"};
    static char name[] = "saddle-bench";
    char path[4096];
    argv[1] = name;
    for (int k = 0; k < 2; ++k) {
        if (program_beside(places[k], path, sizeof path)) execv(path, argv + 1);
    }
    execvp(name, argv + 1);
    if (errno != ENOENT) return fail(EXIT_USAGE, "saddle-bench cannot be started: %s", strerror(errno));
    return fail(EXIT_USAGE,
                "the benchmarks are a separate program, saddle-bench, which is not installed; to install it, "
                "run \"cmake --install BUILD --component bench\" where Saddle was built");
}

const command command_bench = {
    .name = "bench",
    .operands = "WHAT [A.mtx[.gz]...]",
    .help = "benchmarks, with a peer or a lower bound measured in the same run",
    .about = "Starts saddle-bench, a separate program, if it is installed (cmake --install BUILD --component "
             "bench). \"saddle bench --help\" lists the benchmarks; \"saddle bench WHAT --help\" shows the "
             "options of one.",
    .examples = "  saddle bench read A.mtx.gz\n"
                "  saddle bench direct matrices/kkt/*.mtx.gz lap3d_30:1.5 --json direct.json\n",
    .library = "",
    .start = start_bench,
};
