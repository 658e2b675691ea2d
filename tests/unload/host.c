/*
 * A program that knows nothing of Saddle loads a library that uses it, and drops it while Saddle's threads
 * are still about (Ipopt 3.14 does so with its linear solvers):
 *
 *     unload_host PLUGIN
 *
 * OpenMP keeps the threads of a finished region waiting in its own code. Unless that stays where it is they
 * run into nothing, so libsaddle.so says that it must not be unmapped. Threads that sleep would be caught
 * when they wake only, so here they spin.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 3 };

int main(int count, char **argument)
{
    if (count != 2) return 2;
    setenv("GOMP_SPINCOUNT", "infinity", 1);
    for (int turn = 0; turn < TURNS; ++turn) {
        void *const plugin = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        int (*solve)(void) = NULL;
        *(void **)&solve = dlsym(plugin, "solve_grid");
        const int status = solve ? solve() : -1;
        if (status != 0) {
            fprintf(stderr, "turn %d: status %d\n", turn, status);
            return 1;
        }
        dlclose(plugin);
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL); /* a thread that runs is caught */
    }
    return 0;
}
