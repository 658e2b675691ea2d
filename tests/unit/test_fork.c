/*
 * A child of fork() has only the thread that forked. The OpenMP runtime still counts on the team that this
 * thread had in the parent, and waits for it without end: the library has to do without one there (Python's
 * multiprocessing forks in this way).
 */
#include "solving.h"

#include "grids.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define WITH_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_THREAD_SANITIZER
#endif
#endif

enum { SIDE = 60, SECONDS_MOST = 100 }; /* a guard against waiting without end, not a timing */

/* Each starts a team for a grid of this size. */
static const char *const lists[] = {"method=auto,threads=2", "method=direct,threads=2",
                                    "method=ldlt,threads=2"};
enum { LISTS = 3 };

typedef struct told {
    int lines; /* of the log that say why there is one thread only */
} told;

static void take_line(int level, const char *line, void *user)
{
    (void)level;
    if (strstr(line, "fork")) ++((told *)user)->lines;
}

/* In a child there is no test framework: what goes wrong is its exit status. */
static void want(bool right, int number)
{
    if (!right) _exit(number);
}

/* known: the same factors gave this x, and give the same bits with any number of threads. */
static void solve_again(saddle_solver *solver, const grid_problem *p, double *x, const double *known)
{
    saddle_info info = saddle_info_default();
    want(saddle_solve(solver, 1, p->b, p->n, x, p->n, &info) == SADDLE_OK, 2);

    want(info.threads == 1, 3);
    want(!known || memcmp(x, known, (size_t)p->n * sizeof *x) == 0, 4);
}

static void run_child(saddle_solver *inherited, int list, const grid_problem *p, double *x,
                      const double *known)
{
    told t = {0};
    saddle_hooks hooks = saddle_hooks_default();
    hooks.log = take_line;
    hooks.user = &t;
    alarm(SECONDS_MOST);
    solve_again(inherited, p, x, known);
    want(saddle_factor(inherited, &p->A) == SADDLE_OK, 5);
    solve_again(inherited, p, x, NULL);
    saddle_options options = options_of(lists[list]);
    options.threads = 0;
    saddle_solver *own = NULL;
    want(saddle_create(&own, &options, &hooks, NULL) == SADDLE_OK, 6);
    want(saddle_factor(own, &p->A) == SADDLE_OK, 7);
    solve_again(own, p, x, known);
    want(t.lines > 0, 8);
    saddle_destroy(&own);
    saddle_destroy(&inherited);
    _exit(0);
}

static void a_child_of_a_process_that_had_threads_solves_too(void **state)
{
    (void)state;
#ifdef WITH_THREAD_SANITIZER
    skip(); /* it allows no new thread after a fork, and ldlt starts one */
#endif
    setenv("OMP_NUM_THREADS", "2", 1); /* the default, on a machine of one core too */
    grid_problem p = grid_new(SIDE, 1);
    double *x = test_alloc((size_t)p.n, sizeof *x), *known = test_alloc((size_t)p.n, sizeof *x);
    for (int k = 0; k < LISTS; ++k) {
        const saddle_options options = options_of(lists[k]);
        saddle_solver *solver = NULL;
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
        if (saddle_factor(solver, &p.A)) fail_msg("%s", saddle_message(solver));
        if (saddle_solve(solver, 1, p.b, p.n, known, p.n, &info)) fail_msg("%s", info.message);
        assert_int_equal(info.threads, 2);
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) run_child(solver, k, &p, x, known);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) fail_msg("%s: the child ended by signal %d", lists[k], WTERMSIG(status));
        if (WEXITSTATUS(status)) fail_msg("%s: the child failed at %d", lists[k], WEXITSTATUS(status));
        saddle_destroy(&solver);
    }
    free(x);
    free(known);
    grid_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_of_a_process_that_had_threads_solves_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
