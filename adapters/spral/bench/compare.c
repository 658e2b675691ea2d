/*
 * SPRAL's SSIDS and Saddle through the same interface, in one run.
 *
 *     spral-compare [--with LIBRARY] [--repeat R] [--ordering 1|2] [--scaling S] [--limit SECONDS] [FILE ...]
 *
 * FILE is a symmetric matrix; without one some are made here. The library to compare with is SPRAL's own,
 * libspral.so, found by CMake (SADDLE_SPRAL) or given; without one Saddle runs alone. Both take turns, each
 * time is the best of R (3). Beside the times of analyse, factor (again, with the same values) and solve1
 * stand the backward error of x, the negative eigenvalues and the flag. SSIDS asks for OMP_CANCELLATION=true
 * before the program begins, so it begins again with it; its analysis checks the matrix, so that the
 * factorization needs no pattern (why: bench/peers/ssids.c).
 */
#include "loaded.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct figures {
    double analyse, factor, solve, error;
    int flag, negative, delayed;
    int64_t entries;
} figures;

typedef struct settings {
    int repeat, ordering, scaling, limit;
} settings;

static double least(double a, double b)
{
    return b < a || a == 0 ? b : a;
}

/* One turn of one library. */
static void take_turn(const loaded *with, const lower *a, const settings *s, figures *f)
{
    struct spral_ssids_options options;
    struct spral_ssids_inform inform;
    void *akeep = NULL, *fkeep = NULL;
    const saddle_matrix A = view_of(a);
    double *const b = malloc((size_t)a->n * sizeof *b), *const x = malloc((size_t)a->n * sizeof *x);
    double *const ones = malloc((size_t)a->n * sizeof *ones);
    for (int i = 0; i < a->n; ++i) ones[i] = 1;
    saddle_multiply(&A, 1, ones, a->n, b, a->n, 1, NULL, NULL);
    memcpy(x, b, (size_t)a->n * sizeof *x);
    with->default_options(&options);
    options.print_level = -1;
    options.ordering = s->ordering;
    options.scaling = s->scaling;
    double start = seconds();
    with->analyse(true, a->n, NULL, a->ptr, a->row, a->val, &akeep, &options, &inform);
    f->analyse = least(f->analyse, seconds() - start);
    for (int again = 0; again < 2 && inform.flag >= 0; ++again) {
        start = seconds();
        with->factor(false, NULL, NULL, a->val, NULL, akeep, &fkeep, &options, &inform);
        f->factor = least(f->factor, seconds() - start);
    }
    f->flag = inform.flag;
    f->negative = inform.num_neg;
    f->delayed = inform.num_delay;
    f->entries = inform.num_factor;
    start = seconds();
    if (inform.flag >= 0) with->solve1(0, x, akeep, fkeep, &options, &inform);
    f->solve = least(f->solve, seconds() - start);
    saddle_errors errors = {NAN, NAN, NAN};
    if (inform.flag >= 0) saddle_measure(&A, b, x, NULL, 1, NULL, &errors, NULL);
    f->error = errors.backward;
    with->free(&akeep, &fkeep);
    free(b);
    free(x);
    free(ones);
}

static void print_figures(const char *who, const figures *f)
{
    printf("  %-7s %9.4f %9.4f %9.5f  %8.1e %8d %5d %8d %10lld\n", who, f->analyse, f->factor, f->solve,
           f->error, f->negative, f->flag, f->delayed, (long long)f->entries);
}

/* Our times over theirs. */
typedef struct ratios {
    double analyse, factor, solve;
} ratios;

/* False: there is nothing to compare with, or one of both failed. */
static bool compare(const char *name, const lower *a, const loaded *ours, const loaded *theirs,
                    const settings *s, ratios *r)
{
    figures one = {0}, other = {0};
    for (int turn = 0; turn < s->repeat; ++turn) {
        take_turn(ours, a, s, &one);
        if (theirs) take_turn(theirs, a, s, &other);
    }
    printf("%s: n %d, %lld entries in the triangle\n", name, a->n, (long long)a->ptr[a->n]);
    print_figures("saddle", &one);
    if (theirs) print_figures("ssids", &other);
    fflush(stdout);
    *r = (ratios){one.analyse / other.analyse, one.factor / other.factor, one.solve / other.solve};
    return theirs && one.flag >= 0 && other.flag >= 0;
}

/* The same in a process of its own, which the other library may end, and which ends after so many seconds
 * (60). */
static bool compare_apart(const char *name, const lower *a, const loaded *ours, const loaded *theirs,
                          const settings *s, ratios *r)
{
    int ends[2], how = 0;
    fflush(stdout);
    if (pipe(ends)) return false;
    const pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)s->limit);
        if (compare(name, a, ours, theirs, s, r) && write(ends[1], r, sizeof *r) < 0) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    const bool both = child > 0 && read(ends[0], r, sizeof *r) == (ssize_t)sizeof *r;
    close(ends[0]);
    if (child > 0) waitpid(child, &how, 0);
    if (child < 0 || WIFSIGNALED(how))
        printf("%s: n %d, not compared: %s\n", name, a->n,
               child < 0 ? "no process" : strsignal(WTERMSIG(how)));
    return both;
}

/* Logarithms of ratios, added up. */
typedef struct means {
    ratios sums;
    int count;
} means;

static void add(means *to, const ratios *r)
{
    to->sums.analyse += log(r->analyse);
    to->sums.factor += log(r->factor);
    to->sums.solve += log(r->solve);
    ++to->count;
}

static bool read_lower(const char *path, lower *a)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_matrix file = {0}, A = {0};
    saddle_status status = saddle_read_matrix(path, NULL, &file, message);
    if (!status) status = saddle_convert(&file, SADDLE_COLUMNS, SADDLE_LOWER, NULL, &A, message);
    saddle_matrix_free(&file, NULL);
    if (status) {
        fprintf(stderr, "%s: %s\n", path, message);
        return false;
    }
    *a = new_lower((int)A.columns, A.entries + 1);
    memcpy(a->ptr, A.pointers, ((size_t)a->n + 1) * sizeof *a->ptr);
    memcpy(a->row, A.indices, (size_t)A.entries * sizeof *a->row);
    memcpy(a->val, A.values, (size_t)A.entries * sizeof *a->val);
    saddle_matrix_free(&A, NULL);
    return true;
}

int main(int argc, char **argv)
{
    settings s = {.repeat = 3, .ordering = 1, .limit = 60};
    const char *with = THEIRS;
    loaded ours, theirs;
    means total = {0};
    ratios r;
    int at = 1;
    if (!getenv("OMP_CANCELLATION")) {
        setenv("OMP_CANCELLATION", "true", 1);
        execv("/proc/self/exe", argv);
    }
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        const char *const value = at + 1 < argc ? argv[at + 1] : NULL;
        if (value && !strcmp(argv[at], "--with")) {
            with = value;
        } else if (value && !strcmp(argv[at], "--repeat")) {
            s.repeat = (int)strtol(value, NULL, 10);
        } else if (value && !strcmp(argv[at], "--ordering")) {
            s.ordering = (int)strtol(value, NULL, 10);
        } else if (value && !strcmp(argv[at], "--scaling")) {
            s.scaling = (int)strtol(value, NULL, 10);
        } else if (value && !strcmp(argv[at], "--limit") && (int)strtol(value, NULL, 10) > 0) {
            s.limit = (int)strtol(value, NULL, 10);
        } else {
            fprintf(stderr,
                    "usage: spral-compare [--with LIBRARY] [--repeat R] [--ordering 1|2] [--scaling S] "
                    "[--limit SECONDS] [FILE ...]\n");
            return strcmp(argv[at], "--help") ? 2 : 0;
        }
    }
    if (!load(OURS, 0, &ours)) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    const bool both = *with && load(with, OF_THEIR_OWN, &theirs);
    printf("Saddle %s (%s) beside %s\n", saddle_version(), saddle_commit(),
           both ? with : "nothing: SPRAL's library was not found; give it by --with");
    if (*with && !both) printf("%s\n", dlerror());
    printf("seconds    analyse    factor     solve     error negative  flag  delayed  entries L\n");
    for (int k = at; k < argc; ++k) {
        lower a;
        if (!read_lower(argv[k], &a)) return 3;
        if (compare_apart(argv[k], &a, &ours, both ? &theirs : NULL, &s, &r)) add(&total, &r);
        free_lower(&a);
    }
    for (int k = 0; k < 4 && at >= argc; ++k) {
        static const char *const names[] = {"grid 100 x 100, shift 1.5", "grid 400 x 400, shift 1.5",
                                            "grid 30 x 30 x 30, shift 1.5", "control on 150 x 150"};
        lower a = k == 0   ? grid_matrix(100, 1, 1.5)
                  : k == 1 ? grid_matrix(400, 1, 1.5)
                  : k == 2 ? grid_matrix(30, 30, 1.5)
                           : control_matrix(150, 1e-4);
        if (compare_apart(names[k], &a, &ours, both ? &theirs : NULL, &s, &r)) add(&total, &r);
        free_lower(&a);
    }
    if (total.count)
        printf("saddle / ssids, geometric mean of %d: analyse %.2f, factor %.2f, solve %.2f\n", total.count,
               exp(total.sums.analyse / total.count), exp(total.sums.factor / total.count),
               exp(total.sums.solve / total.count));
    return 0;
}
