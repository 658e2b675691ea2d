/* What the tests of this door share, in the common language of C and C++: checks that print TAP, and dense
 * matrices to compare with. */
#pragma once

#include "spral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_made = 0, checks_failed = 0;

static inline void check_at(int line, int truth, const char *text)
{
    ++checks_made;
    if (truth) return;
    ++checks_failed;
    printf("# line %d: %s\n", line, text);
}
#define CHECK(truth) check_at(__LINE__, (truth) != 0, #truth)

typedef struct named_test {
    const char *name;
    void (*run)(void);
} named_test;

static inline int run_tests(const named_test *tests, int count)
{
    int failed = 0;
    printf("1..%d\n", count);
    for (int k = 0; k < count; ++k) {
        checks_failed = 0;
        tests[k].run();
        failed += checks_failed > 0;
        printf("%s %d - %s\n", checks_failed ? "not ok" : "ok", k + 1, tests[k].name);
        fflush(stdout);
    }
    printf("# %d checks\n", checks_made);
    return failed > 0;
}

enum { MOST = 64 };

/* A symmetric matrix, dense, and its lower triangle by columns from `base`. */
typedef struct system_of {
    int n, base;
    double a[MOST][MOST];
    int64_t ptr[MOST + 1];
    int ptr32[MOST + 1], row[MOST * MOST], col[MOST * MOST];
    double val[MOST * MOST];
} system_of;

static inline void compress(system_of *s)
{
    int count = 0;
    for (int j = 0; j < s->n; ++j) {
        s->ptr[j] = s->ptr32[j] = count + s->base;
        for (int i = j; i < s->n; ++i) {
            if (s->a[i][j] == 0) continue;
            s->row[count] = i + s->base;
            s->col[count] = j + s->base;
            s->val[count++] = s->a[i][j];
        }
    }
    s->ptr[s->n] = s->ptr32[s->n] = count + s->base;
}

static inline system_of *new_system(int n, int base)
{
    system_of *s = (system_of *)calloc(1, sizeof *s);
    s->n = n;
    s->base = base;
    return s;
}

static inline void put(system_of *s, int i, int j, double value)
{
    s->a[i][j] = s->a[j][i] = value;
}

/* (2 1; 1 4 1 . 1; . 1 3 2; . . 2 -1; . 1 . . 2): 4 positive eigenvalues and 1 negative one. */
static inline system_of *five(int base)
{
    system_of *s = new_system(5, base);
    put(s, 0, 0, 2), put(s, 1, 0, 1), put(s, 1, 1, 4), put(s, 2, 1, 1), put(s, 4, 1, 1);
    put(s, 2, 2, 3), put(s, 3, 2, 2), put(s, 3, 3, -1), put(s, 4, 4, 2);
    compress(s);
    return s;
}

static inline double random_in(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

/* (H B'; B 0) with m rows in B, of full rank: n - m positive eigenvalues and m negative ones. */
static inline system_of *saddle_point(int n, int m, int base, uint64_t seed)
{
    system_of *s = new_system(n, base);
    for (int i = 0; i < n - m; ++i) put(s, i, i, 2 + random_in(&seed));
    for (int i = 0; i + 1 < n - m; ++i) put(s, i + 1, i, 0.4 * random_in(&seed));
    for (int i = 0; i < m; ++i) {
        put(s, n - m + i, i, 1 + 0.5 * random_in(&seed));
        put(s, n - m + i, n - m - 1 - i, random_in(&seed));
    }
    compress(s);
    return s;
}

/* b = A x. */
static inline void multiply(const system_of *s, const double *x, double *b)
{
    for (int i = 0; i < s->n; ++i) {
        b[i] = 0;
        for (int j = 0; j < s->n; ++j) b[i] += s->a[i][j] * x[j];
    }
}

static inline double distance(int n, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* b for the solution 1, 2, 3, ... */
static inline void make_rhs(const system_of *s, double *b)
{
    double x[MOST];
    for (int i = 0; i < s->n; ++i) x[i] = i + 1;
    multiply(s, x, b);
}

/* How far x is from 1, 2, 3, ... */
static inline double off(int n, const double *x)
{
    double y[MOST];
    for (int i = 0; i < n; ++i) y[i] = i + 1;
    return distance(n, x, y);
}

static inline struct spral_ssids_options quiet_options(int base)
{
    struct spral_ssids_options options;
    spral_ssids_default_options(&options);
    options.array_base = base;
    options.print_level = -1;
    return options;
}
