/*
 * What the door adds to a call: the same factorization and the same solve through ma97_factor, ma97_solve,
 * ma27bd, ma27cd and through saddle.h, in turns, the least time of each. Exits with 1 where it is more than
 * 3 % of a factorization at n = 10,000 or 20 microseconds a call at n = 10 (a figure, not a test: it depends
 * on what else the machine does).
 *
 *     hsl-overhead [TURNS]
 */
#include "saddle/saddle.h"

#include "adapters/hsl/ma27.h"
#include "adapters/hsl/ma97.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct system {
    int n, nz, *ptr, *row, *irn, *icn;
    double *val, *x;
} system_of;

static void *room(size_t count, size_t size)
{
    void *const memory = calloc(count ? count : 1, size);
    if (!memory) exit(1);
    return memory;
}

/* Coupled masses with a constraint between every two: variables, then multipliers. */
static system_of make(int n)
{
    const int variables = n - n / 3;
    system_of s = {.n = n};
    const size_t most = 4 * (size_t)n;
    s.ptr = room((size_t)n + 1, sizeof *s.ptr);
    s.row = room(most, sizeof *s.row);
    s.irn = s.row;
    s.icn = room(most, sizeof *s.icn);
    s.val = room(most, sizeof *s.val);
    s.x = room((size_t)n, sizeof *s.x);
    for (int j = 0; j < n; ++j) {
        s.ptr[j] = s.nz + 1;
        const int rows[] = {j, j + 1, j < variables ? variables + j / 2 : n};
        for (int k = 0; k < 3; ++k) {
            if (rows[k] >= n || (k == 1 && j + 1 >= variables)) continue;
            s.row[s.nz] = rows[k] + 1;
            s.icn[s.nz] = j + 1;
            s.val[s.nz++] = k == 0 ? (j < variables ? 3 : 0) : k == 1 ? -1 : 1 + j % 2;
        }
        s.x[j] = 1;
    }
    s.ptr[n] = s.nz + 1;
    return s;
}

static void free_system(system_of *s)
{
    free(s->ptr);
    free(s->row);
    free(s->icn);
    free(s->val);
    free(s->x);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Least seconds of factorization and solve. The matrix is given to saddle.h as each interface has it: by
 * columns, and by coordinates. */
enum { COLUMNS, MA97, COORDINATES, MA27, WAYS };
typedef struct times {
    double factor[WAYS], solve[WAYS];
} times;

static void note(double *least, double start)
{
    *least = fmin(*least, now() - start);
}

static void plain(const system_of *s, saddle_solver *solver, int way, times *t)
{
    saddle_info info = saddle_info_default();
    double start = now();
    saddle_factor_values(solver, SADDLE_DOUBLE, s->val);
    saddle_query(solver, &info);
    note(&t->factor[way], start);
    start = now();
    saddle_solve(solver, 1, s->x, s->n, s->x, s->n, &info);
    note(&t->solve[way], start);
}

static times measure(const system_of *s, int turns)
{
    times t;
    for (int way = 0; way < WAYS; ++way) t.factor[way] = t.solve[way] = INFINITY;
    struct ma97_control_d control;
    struct ma97_info_d about;
    void *akeep = NULL, *fkeep = NULL;
    saddle_options options = saddle_options_default();
    saddle_solver *columns = NULL, *coordinates = NULL;
    int icntl[MA27_ICNTL], info[MA27_INFO], nsteps, maxfrt, iflag = 0;
    double cntl[MA27_CNTL], ops;
    int *ikeep = room(3 * (size_t)s->n, sizeof *ikeep), *iw1 = room(2 * (size_t)s->n, sizeof *iw1);
    ma97_default_control_d(&control);
    control.f_arrays = 1;
    control.u = 1e-8;
    ma97_analyse_d(0, s->n, s->ptr, s->row, NULL, &akeep, &control, &about, NULL);
    ma27id_(icntl, cntl);
    cntl[0] = 1e-8;
    ma27ad_(&s->n, &s->nz, s->irn, s->icn, NULL, &iflag, ikeep, iw1, &nsteps, &iflag, icntl, cntl, info,
            &ops);
    int la = info[4], liw = info[5], *iw = room((size_t)liw, sizeof *iw);
    double *a = room((size_t)la, sizeof *a), w = 0;
    memcpy(a, s->val, (size_t)s->nz * sizeof *a);
    /* the options that the door uses */
    options.method = SADDLE_METHOD_DIRECT;
    options.krylov = SADDLE_KRYLOV_NONE;
    options.verify = SADDLE_OFF;
    options.scaling = SADDLE_SCALING_RUIZ;
    options.threshold = 1e-8;
    options.factorizations = 30;
    saddle_matrix A = saddle_symmetric(s->n, s->ptr, s->row, NULL);
    A.base = 1;
    A.entries = s->nz;
    if (saddle_create(&columns, &options, NULL, NULL) || saddle_analyse(columns, &A)) exit(1);
    A.layout = SADDLE_COORDINATES;
    A.pointers = NULL;
    A.col_indices = s->icn;
    if (saddle_create(&coordinates, &options, NULL, NULL) || saddle_analyse(coordinates, &A)) exit(1);
    for (int turn = 0; turn < turns; ++turn) {
        plain(s, columns, COLUMNS, &t);
        plain(s, coordinates, COORDINATES, &t);
        double start = now();
        ma97_factor_d(4, s->ptr, s->row, s->val, &akeep, &fkeep, &control, &about, NULL);
        note(&t.factor[MA97], start);
        start = now();
        ma97_solve_d(0, 1, s->x, s->n, &akeep, &fkeep, &control, &about);
        note(&t.solve[MA97], start);
        start = now();
        ma27bd_(&s->n, &s->nz, s->irn, s->icn, a, &la, iw, &liw, ikeep, &nsteps, &maxfrt, iw1, icntl, cntl,
                info);
        note(&t.factor[MA27], start);
        start = now();
        ma27cd_(&s->n, a, &la, iw, &liw, &w, &maxfrt, s->x, iw1, &nsteps, icntl, cntl);
        note(&t.solve[MA27], start);
        if (about.flag || info[0]) exit(1);
    }
    ma97_finalise_d(&akeep, &fkeep);
    saddle_destroy(&columns);
    saddle_destroy(&coordinates);
    free(ikeep);
    free(iw1);
    free(iw);
    free(a);
    return t;
}

int main(int count, char **argument)
{
    static const char *const names[] = {"columns", "MA97", "entries", "MA27"};
    static const int sizes[] = {10, 10000};
    int worse = 0;
    printf("%7s %-9s %12s %12s   microseconds, least; what the door adds\n", "n", "through", "factor",
           "solve");
    for (int k = 0; k < 2; ++k) {
        system_of s = make(sizes[k]);
        const int turns = count > 1 ? (int)strtol(argument[1], NULL, 10) : sizes[k] == 10 ? 20000 : 500;
        const times t = measure(&s, turns);
        for (int m = 0; m < WAYS; ++m) {
            const int plain_way = m / 2 * 2;
            const double factor = t.factor[m] - t.factor[plain_way], solve = t.solve[m] - t.solve[plain_way];
            printf("%7d %-9s %12.2f %12.2f", sizes[k], names[m], 1e6 * t.factor[m], 1e6 * t.solve[m]);
            if (m % 2)
                printf("   %+.2f us, %+.2f %%; %+.2f us", 1e6 * factor, 100 * factor / t.factor[plain_way],
                       1e6 * solve);
            printf("\n");
            worse += sizes[k] == 10 ? factor > 20e-6 || solve > 20e-6 : factor > 0.03 * t.factor[plain_way];
        }
        free_system(&s);
    }
    return worse ? 1 : 0;
}
