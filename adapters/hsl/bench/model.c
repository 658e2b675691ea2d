/* Terms in the order in which they were added; entries of derivatives are in the order of the terms. */
#include "adapters/hsl/bench/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *more(void *memory, size_t count, size_t size)
{
    void *const result = realloc(memory, (count ? count : 1) * size);
    if (!result) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return result;
}

model *model_new(int n)
{
    model *const p = more(NULL, 1, sizeof *p);
    *p = (model){.n = n, .unique = true};
    p->x_lower = more(NULL, (size_t)n, sizeof(double));
    p->x_upper = more(NULL, (size_t)n, sizeof(double));
    p->x_start = more(NULL, (size_t)n, sizeof(double));
    for (int i = 0; i < n; ++i) set_variable(p, i, -INFINITY, INFINITY, 0);
    return p;
}

void model_free(model *p)
{
    if (!p) return;
    free(p->x_lower);
    free(p->x_upper);
    free(p->x_start);
    free(p->g_lower);
    free(p->g_upper);
    free(p->terms);
    free(p);
}

/* Ipopt takes 2e19 for infinity. */
static double bounded(double bound)
{
    return fmin(fmax(bound, -2e19), 2e19);
}

void set_variable(model *p, int variable, double lower, double upper, double start)
{
    p->x_lower[variable] = bounded(lower);
    p->x_upper[variable] = bounded(upper);
    p->x_start[variable] = start;
}

int add_row(model *p, double lower, double upper)
{
    if (p->m == p->rows_room) {
        p->rows_room = p->rows_room ? 2 * p->rows_room : 64;
        p->g_lower = more(p->g_lower, (size_t)p->rows_room, sizeof(double));
        p->g_upper = more(p->g_upper, (size_t)p->rows_room, sizeof(double));
    }
    p->g_lower[p->m] = bounded(lower);
    p->g_upper[p->m] = bounded(upper);
    return p->m++;
}

/* Whether the function has a second derivative that is not 0. */
static bool is_curved(function f)
{
    return f != LINEAR;
}

static void add_term(model *p, term t)
{
    if (t.coefficient == 0) return;
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 256;
        p->terms = more(p->terms, p->room, sizeof *p->terms);
    }
    p->terms[p->count++] = t;
    if (t.row != OBJECTIVE) p->jacobian += t.count;
    for (int k = 0; k < t.count; ++k) p->hessian += k + is_curved(t.factor[k].phi);
}

void add_constant(model *p, int row, double c)
{
    add_term(p, (term){.row = row, .coefficient = c});
}

void add1(model *p, int row, double c, function f, int a)
{
    add_term(p, (term){.row = row, .coefficient = c, .count = 1, .factor = {{f, a}}});
}

void add2(model *p, int row, double c, function f, int a, function g, int b)
{
    add_term(p, (term){.row = row, .coefficient = c, .count = 2, .factor = {{f, a}, {g, b}}});
}

void add3(model *p, int row, double c, function f, int a, function g, int b, function h, int d)
{
    add_term(p, (term){.row = row, .coefficient = c, .count = 3, .factor = {{f, a}, {g, b}, {h, d}}});
}

void add4(model *p, int row, double c, const factor factors[FACTORS])
{
    term t = {.row = row, .coefficient = c, .count = FACTORS};
    memcpy(t.factor, factors, sizeof t.factor);
    add_term(p, t);
}

void add_distance(model *p, int row, double w, int a, double target)
{
    add1(p, row, w, SQUARE, a);
    add1(p, row, -2 * w * target, LINEAR, a);
    add_constant(p, row, w * target * target);
}

void add_difference(model *p, int row, double w, int a, int b)
{
    add1(p, row, w, SQUARE, a);
    add1(p, row, w, SQUARE, b);
    add2(p, row, -2 * w, LINEAR, a, LINEAR, b);
}

/* phi, phi' and phi'' at x. */
static void evaluate(function f, double x, double d[3])
{
    switch (f) {
    case LINEAR: d[0] = x, d[1] = 1, d[2] = 0; break;
    case SQUARE: d[0] = x * x, d[1] = 2 * x, d[2] = 2; break;
    case CUBE: d[0] = x * x * x, d[1] = 3 * x * x, d[2] = 6 * x; break;
    case FOURTH: d[0] = x * x * x * x, d[1] = 4 * x * x * x, d[2] = 12 * x * x; break;
    case SINE: d[0] = sin(x), d[1] = cos(x), d[2] = -d[0]; break;
    case COSINE: d[0] = cos(x), d[1] = -sin(x), d[2] = -d[0]; break;
    case EXPONENTIAL: d[0] = d[1] = d[2] = exp(x); break;
    case LOGARITHM: d[0] = log(x), d[1] = 1 / x, d[2] = -1 / (x * x); break;
    case RECIPROCAL: d[0] = 1 / x, d[1] = -d[0] * d[0], d[2] = -2 * d[1] * d[0]; break;
    case ROOT: d[0] = sqrt(x), d[1] = 0.5 / d[0], d[2] = -0.25 / (d[0] * x); break;
    }
}

static void evaluate_factors(const term *t, const double *x, double d[FACTORS][3])
{
    for (int k = 0; k < t->count; ++k) evaluate(t->factor[k].phi, x[t->factor[k].variable], d[k]);
}

/* The product of all factors, each differentiated as often as it is named by k or l (-1: nobody). */
static double product(const term *t, double d[FACTORS][3], int k, int l)
{
    double value = t->coefficient;
    for (int i = 0; i < t->count; ++i) value *= d[i][(i == k) + (i == l)];
    return value;
}

static double value_of(const term *t, const double *x)
{
    double d[FACTORS][3];
    evaluate_factors(t, x, d);
    return product(t, d, -1, -1);
}

double model_objective(const model *p, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < p->count; ++k)
        if (p->terms[k].row == OBJECTIVE) sum += value_of(&p->terms[k], x);
    return sum;
}

void model_constraints(const model *p, const double *x, double *g)
{
    for (int i = 0; i < p->m; ++i) g[i] = 0;
    for (size_t k = 0; k < p->count; ++k)
        if (p->terms[k].row != OBJECTIVE) g[p->terms[k].row] += value_of(&p->terms[k], x);
}

void model_gradient(const model *p, const double *x, double *gradient)
{
    double d[FACTORS][3];
    for (int i = 0; i < p->n; ++i) gradient[i] = 0;
    for (size_t k = 0; k < p->count; ++k) {
        const term *t = &p->terms[k];
        if (t->row != OBJECTIVE) continue;
        evaluate_factors(t, x, d);
        for (int i = 0; i < t->count; ++i) gradient[t->factor[i].variable] += product(t, d, i, -1);
    }
}

void model_jacobian(const model *p, const double *x, int *row, int *col, double *values)
{
    double d[FACTORS][3];
    int at = 0;
    for (size_t k = 0; k < p->count; ++k) {
        const term *t = &p->terms[k];
        if (t->row == OBJECTIVE) continue;
        if (values) evaluate_factors(t, x, d);
        for (int i = 0; i < t->count; ++i, ++at) {
            if (values) {
                values[at] = product(t, d, i, -1);
            } else {
                row[at] = t->row;
                col[at] = t->factor[i].variable;
            }
        }
    }
}

void model_hessian(const model *p, const double *x, double objective, const double *lambda, int *row,
                   int *col, double *values)
{
    double d[FACTORS][3];
    int at = 0;
    for (size_t k = 0; k < p->count; ++k) {
        const term *t = &p->terms[k];
        if (values) evaluate_factors(t, x, d);
        const double weight = !values ? 0 : t->row == OBJECTIVE ? objective : lambda[t->row];
        for (int i = 0; i < t->count; ++i)
            for (int j = 0; j <= i; ++j) {
                const int a = t->factor[i].variable, b = t->factor[j].variable;
                if (i == j && !is_curved(t->factor[i].phi)) continue;
                if (values) {
                    values[at] = weight * product(t, d, i, j);
                } else {
                    row[at] = a > b ? a : b;
                    col[at] = a > b ? b : a;
                }
                ++at;
            }
    }
}
