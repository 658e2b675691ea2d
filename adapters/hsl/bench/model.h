/*
 * Nonlinear programs whose derivatives are exact and written once:
 *
 *     min f(x)   lower_g <= g(x) <= upper_g   lower_x <= x <= upper_x
 *
 * f and every g_i are sums of terms c * phi_1(x_a) phi_2(x_b) ..., products of up to four functions of one
 * variable each, all variables of a term different. The product rule gives the gradient and the Hessian of a
 * term from phi, phi' and phi''; sums in an argument become products (exp(x + y) = exp(x) exp(y)) or a
 * variable of their own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum function {
    LINEAR,
    SQUARE,
    CUBE,
    FOURTH,
    SINE,
    COSINE,
    EXPONENTIAL,
    LOGARITHM,
    RECIPROCAL,
    ROOT
} function;

typedef struct factor {
    function phi;
    int variable;
} factor;

enum { FACTORS = 4, OBJECTIVE = -1 };

typedef struct term {
    int row; /* of g, or OBJECTIVE */
    int count;
    double coefficient;
    factor factor[FACTORS];
} term;

typedef struct model {
    int n, m;
    double *x_lower, *x_upper, *x_start; /* n */
    double *g_lower, *g_upper;           /* m */
    term *terms;
    size_t count, room;
    int rows_room;
    int jacobian, hessian; /* entries, duplicates counted */
    bool unique;           /* the solution is: x can be compared */
} model;

/* n variables without bounds, that start at 0. Memory that runs out ends the program. */
model *model_new(int n);
void model_free(model *p);

void set_variable(model *p, int variable, double lower, double upper, double start);
/* A constraint without terms yet; its row. */
int add_row(model *p, double lower, double upper);

/* c phi(x_a), c phi(x_a) psi(x_b) and so on; row OBJECTIVE for the objective. A constant has no factors. */
void add_constant(model *p, int row, double c);
void add1(model *p, int row, double c, function f, int a);
void add2(model *p, int row, double c, function f, int a, function g, int b);
void add3(model *p, int row, double c, function f, int a, function g, int b, function h, int d);
void add4(model *p, int row, double c, const factor factors[FACTORS]);
/* w (x_a - target)^2 */
void add_distance(model *p, int row, double w, int a, double target);
/* w (x_a - x_b)^2 */
void add_difference(model *p, int row, double w, int a, int b);

double model_objective(const model *p, const double *x);
void model_gradient(const model *p, const double *x, double *gradient);
void model_constraints(const model *p, const double *x, double *g);
/* Entries by coordinates, from 0: their places if values is NULL, otherwise their values. Those of the
 * Hessian of objective * f + sum_i lambda_i g_i are in the lower triangle. */
void model_jacobian(const model *p, const double *x, int *row, int *col, double *values);
void model_hessian(const model *p, const double *x, double objective, const double *lambda, int *row,
                   int *col, double *values);
