/* Threads of the host: with handles of their own, with factors of their own on one analysis, and solving with
 * the same factors. The answers have the bits of one thread. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 8, N = 60, M = 20 };

typedef struct task {
    const system_of *s;
    void *akeep, *fkeep; /* shared, or NULL */
    double x[N];
    int faults;
} task;

static void note(task *t, const struct spral_ssids_inform *inform)
{
    t->faults += inform->flag != 0 && inform->flag != 4;
}

/* What is not shared is made here, round after round. */
static void *work(void *given)
{
    task *t = (task *)given;
    const system_of *s = t->s;
    struct spral_ssids_options options = quiet_options(0);
    struct spral_ssids_inform inform;
    for (int round = 0; round < ROUNDS; ++round) {
        void *akeep = t->akeep, *fkeep = t->fkeep;
        if (!akeep) spral_ssids_analyse(true, N, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
        if (!t->akeep) note(t, &inform);
        if (!fkeep) spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
        if (!t->fkeep) note(t, &inform);
        make_rhs(s, t->x);
        spral_ssids_solve1(0, t->x, akeep, fkeep, &options, &inform);
        note(t, &inform);
        t->faults += inform.num_neg != M;
        if (!t->fkeep) spral_ssids_free_fkeep(&fkeep);
        if (!t->akeep) spral_ssids_free_akeep(&akeep);
    }
    return NULL;
}

static void run_threads(bool analysed, bool factored)
{
    system_of *s = saddle_point(N, M, 0, 7);
    struct spral_ssids_options options = quiet_options(0);
    struct spral_ssids_inform inform;
    void *akeep = NULL, *fkeep = NULL;
    task tasks[THREADS], alone;
    pthread_t threads[THREADS];
    memset(tasks, 0, sizeof tasks);
    memset(&alone, 0, sizeof alone);
    alone.s = s;
    work(&alone);
    CHECK(alone.faults == 0 && off(N, alone.x) < 1e-10);
    if (analysed) spral_ssids_analyse(true, N, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    if (factored) spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    for (int k = 0; k < THREADS; ++k) {
        tasks[k].s = s;
        tasks[k].akeep = akeep;
        tasks[k].fkeep = fkeep;
        CHECK(pthread_create(&threads[k], NULL, work, &tasks[k]) == 0);
    }
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(threads[k], NULL);
        CHECK(tasks[k].faults == 0 && memcmp(tasks[k].x, alone.x, sizeof alone.x) == 0);
    }
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void handles_of_their_own(void)
{
    run_threads(false, false);
}

static void factors_of_their_own(void)
{
    run_threads(true, false);
}

static void solves_with_the_same_factors(void)
{
    run_threads(true, true);
}

int main(void)
{
    static const named_test tests[] = {
        {"threads with handles of their own", handles_of_their_own},
        {"threads with factors of their own", factors_of_their_own},
        {"threads that solve with the same factors", solves_with_the_same_factors}};
    return run_tests(tests, 3);
}
