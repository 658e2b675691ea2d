/*
 * What the door costs on top of the library: the same work by saddle.h alone and through the SSIDS interface,
 * taking turns, each time the least of all turns.
 *
 *     spral-overhead [--repeat R]
 *
 * All of it on one thread, in seconds of the core: other load disturbs those less. By saddle.h:
 * saddle_factor_values and saddle_query (which certifies the inertia, as the door does); then all parts of a
 * solve. Through the door: factor with the same fkeep, and solve1.
 */
#include "loaded.h"

typedef struct times {
    double factor, both, solve; /* by saddle.h: a factorization, the same with a query, a solve */
    double door_factor, door_solve, enquire; /* through the door */
} times;

static double core_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(double *best, double start, int calls)
{
    const double now = (core_seconds() - start) / calls;
    if (*best == 0 || now < *best) *best = now;
}

static void require(bool truth)
{
    if (truth) return;
    fprintf(stderr, "a call has failed\n");
    exit(2);
}

static saddle_solver *plain_solver(const lower *a)
{
    saddle_options o = saddle_options_default();
    saddle_solver *solver = NULL;
    const saddle_matrix A = view_of(a);
    o.method = SADDLE_METHOD_DIRECT;
    o.scaling = SADDLE_SCALING_NONE;
    o.pairs = SADDLE_OFF;
    o.replan = SADDLE_OFF;
    o.threads = 1;
    if (saddle_create(&solver, &o, NULL, NULL) || saddle_analyse(solver, &A)) exit(2);
    return solver;
}

static times measure(const loaded *door, const lower *a, int repeat, int calls)
{
    times t = {0};
    struct spral_ssids_options options;
    struct spral_ssids_inform inform;
    saddle_info info = saddle_info_default();
    void *akeep = NULL, *fkeep = NULL;
    saddle_solver *solver = plain_solver(a);
    double *const x = calloc((size_t)a->n, sizeof *x);
    int *const order = malloc((size_t)a->n * sizeof *order);
    door->default_options(&options);
    door->analyse(true, a->n, NULL, a->ptr, a->row, NULL, &akeep, &options, &inform);
    for (int turn = 0; turn < repeat; ++turn) { /* each begins with a call that brings its factors near */
        saddle_factor_values(solver, SADDLE_DOUBLE, a->val);
        double start = core_seconds();
        for (int k = 0; k < calls; ++k)
            require(saddle_factor_values(solver, SADDLE_DOUBLE, a->val) == SADDLE_OK);
        note(&t.factor, start, calls);
        start = core_seconds();
        for (int k = 0; k < calls; ++k) {
            saddle_factor_values(solver, SADDLE_DOUBLE, a->val);
            saddle_query(solver, &info);
        }
        note(&t.both, start, calls);
        require(info.inertia_certain);
        x[0] = 1;
        start = core_seconds();
        for (int k = 0; k < calls; ++k) saddle_apply(solver, 0, 1, x, a->n, x, a->n, NULL);
        note(&t.solve, start, calls);
        door->factor(false, NULL, NULL, a->val, NULL, akeep, &fkeep, &options, &inform);
        start = core_seconds();
        for (int k = 0; k < calls; ++k)
            door->factor(false, NULL, NULL, a->val, NULL, akeep, &fkeep, &options, &inform);
        note(&t.door_factor, start, calls);
        require(inform.flag == 0 && inform.num_neg == info.inertia_negative);
        memset(x, 0, (size_t)a->n * sizeof *x);
        x[0] = 1;
        start = core_seconds();
        for (int k = 0; k < calls; ++k) door->solve1(0, x, akeep, fkeep, &options, &inform);
        note(&t.door_solve, start, calls);
        require(inform.flag == 0);
        start = core_seconds();
        door->enquire_indef(akeep, fkeep, &options, &inform, order, NULL);
        note(&t.enquire, start, 1);
    }
    door->free(&akeep, &fkeep);
    saddle_destroy(&solver);
    free(x);
    free(order);
    return t;
}

static void report(const char *name, const lower *a, const times *t)
{
    const double micro = 1e6;
    printf("%s: n %d, microseconds\n", name, a->n);
    printf("  saddle.h: factor %.2f, factor and query %.2f, solve %.2f\n", micro * t->factor, micro * t->both,
           micro * t->solve);
    printf("  door: factor %.2f, solve1 %.2f, enquire_indef %.2f\n", micro * t->door_factor,
           micro * t->door_solve, micro * t->enquire);
    printf("  overhead: factor %+.2f (%+.2f %% of a factorization), solve1 %+.2f\n",
           micro * (t->door_factor - t->both), 100 * (t->door_factor - t->both) / t->factor,
           micro * (t->door_solve - t->solve));
}

int main(int argc, char **argv)
{
    const int repeat = argc > 2 && !strcmp(argv[1], "--repeat") ? (int)strtol(argv[2], NULL, 10) : 40;
    loaded door;
    setenv("SADDLE_OPTIONS", "threads=1", 1);
    if (!load(OURS, 0, &door)) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    printf("Saddle %s (%s), the least of %d turns\n", saddle_version(), saddle_commit(), repeat);
    lower tiny = grid_matrix(3, 1, 1.5), chain = grid_matrix(1, 10, 2.5), large = grid_matrix(100, 1, 1.5);
    lower control = control_matrix(71, 1e-4);
    times t = measure(&door, &tiny, 20 * repeat, 100);
    report("grid 3 x 3", &tiny, &t);
    t = measure(&door, &chain, 20 * repeat, 100);
    report("chain", &chain, &t);
    t = measure(&door, &large, repeat, 1);
    report("grid 100 x 100", &large, &t);
    t = measure(&door, &control, repeat, 1);
    report("control on 71 x 71", &control, &t);
    free_lower(&tiny);
    free_lower(&chain);
    free_lower(&large);
    free_lower(&control);
    return 0;
}
