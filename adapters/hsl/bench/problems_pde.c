/*
 * Control of partial differential equations on the unit square, N x N points inside, five-point Laplacian,
 * zero on the boundary unless said otherwise; and one in time and space. F. Troeltzsch, Optimal Control of
 * Partial Differential Equations, 2010, has problems of this kind.
 */
#include "adapters/hsl/bench/problems.h"

#include <math.h>

#define NONE INFINITY

/* N x N points; the state is variable (i, j), what comes after it has its own first number. */
static int at(int size, int i, int j)
{
    return j * size + i;
}

/* The row of -h^2 Laplace y at every point, = 0 together with what is added; the first of them. */
static int add_laplacians(model *p, int size)
{
    const int first = p->m;
    for (int j = 0; j < size; ++j)
        for (int i = 0; i < size; ++i) {
            const int r = add_row(p, 0, 0);
            add1(p, r, 4, LINEAR, at(size, i, j));
            if (i > 0) add1(p, r, -1, LINEAR, at(size, i - 1, j));
            if (i + 1 < size) add1(p, r, -1, LINEAR, at(size, i + 1, j));
            if (j > 0) add1(p, r, -1, LINEAR, at(size, i, j - 1));
            if (j + 1 < size) add1(p, r, -1, LINEAR, at(size, i, j + 1));
        }
    return first;
}

/* A state that is wanted, a bump off the middle. */
static double wanted(int size, int i, int j)
{
    const double x = (i + 1.0) / (size + 1), y = (j + 1.0) / (size + 1);
    return 16 * x * (1 - x) * y * (1 - y) * exp(x - 0.5 * y);
}

/* ||y - wanted||^2 / 2 + alpha ||u||^2 / 2, with a control at every point from `first` on. */
static void add_tracking(model *p, int size, int first, double alpha)
{
    const double cell = 1.0 / ((size + 1.0) * (size + 1.0));
    for (int j = 0; j < size; ++j)
        for (int i = 0; i < size; ++i) {
            add_distance(p, OBJECTIVE, cell / 2, at(size, i, j), wanted(size, i, j));
            if (first >= 0) add1(p, OBJECTIVE, alpha * cell / 2, SQUARE, first + at(size, i, j));
        }
}

/* Controls everywhere, in bounds: -h^2 Laplace y = h^2 u. */
static model *new_distributed(int size, double lower, double upper, double alpha)
{
    const int points = size * size;
    const double cell = 1.0 / ((size + 1.0) * (size + 1.0));
    model *p = model_new(2 * points);
    for (int k = 0; k < points; ++k) set_variable(p, points + k, lower, upper, 0);
    add_tracking(p, size, points, alpha);
    const int first = add_laplacians(p, size);
    for (int k = 0; k < points; ++k) add1(p, first + k, -cell, LINEAR, points + k);
    return p;
}

static model *make_distributed(int size)
{
    return new_distributed(size, 0, 30, 1e-4);
}

/* -Laplace y + y^3 = u, and y may not exceed a ceiling. */
static model *make_semilinear(int size)
{
    model *p = new_distributed(size, -NONE, NONE, 1e-4);
    const double cell = 1.0 / ((size + 1.0) * (size + 1.0));
    for (int k = 0; k < size * size; ++k) {
        add1(p, k, cell, CUBE, k);
        set_variable(p, k, -NONE, 0.8, 0);
    }
    return p;
}

/* -Laplace y - 2 e^y = u: Bratu. */
static model *make_bratu(int size)
{
    model *p = new_distributed(size, -10, 10, 1e-3);
    const double cell = 1.0 / ((size + 1.0) * (size + 1.0));
    for (int k = 0; k < size * size; ++k) add1(p, k, -2 * cell, EXPONENTIAL, k);
    return p;
}

/* -Laplace y + u y = 20: the control is a coefficient. */
static model *make_coefficient(int size)
{
    const int points = size * size;
    const double cell = 1.0 / ((size + 1.0) * (size + 1.0));
    model *p = model_new(2 * points);
    for (int k = 0; k < points; ++k) set_variable(p, points + k, 0, 50, 1);
    add_tracking(p, size, points, 1e-4);
    const int first = add_laplacians(p, size);
    for (int k = 0; k < points; ++k) {
        add2(p, first + k, cell, LINEAR, points + k, LINEAR, k);
        p->g_lower[first + k] = p->g_upper[first + k] = 20 * cell;
    }
    return p;
}

/* Controls on the four sides, in bounds, in place of the zero boundary. */
static model *make_boundary(int size)
{
    const int points = size * size;
    const double side = 1.0 / (size + 1);
    model *p = model_new(points + 4 * size);
    for (int k = 0; k < 4 * size; ++k) {
        set_variable(p, points + k, 0, 0.9, 0.1);
        add1(p, OBJECTIVE, 0.005 * side, SQUARE, points + k);
    }
    add_tracking(p, size, -1, 0);
    const int first = add_laplacians(p, size);
    for (int k = 0; k < size; ++k) {
        add1(p, first + at(size, 0, k), -1, LINEAR, points + k);
        add1(p, first + at(size, size - 1, k), -1, LINEAR, points + size + k);
        add1(p, first + at(size, k, 0), -1, LINEAR, points + 2 * size + k);
        add1(p, first + at(size, k, size - 1), -1, LINEAR, points + 3 * size + k);
    }
    return p;
}

/* A membrane under load over an obstacle: a quadratic with bounds, no constraint. */
static model *make_obstacle(int size)
{
    const double cell = 1.0 / ((size + 1.0) * (size + 1.0));
    model *p = model_new(size * size);
    for (int j = 0; j < size; ++j)
        for (int i = 0; i < size; ++i) {
            const int k = at(size, i, j);
            set_variable(p, k, 0.3 * wanted(size, i, j) - 0.25, 2, 0.5);
            add1(p, OBJECTIVE, 2, SQUARE, k);
            if (i > 0) add2(p, OBJECTIVE, -1, LINEAR, k, LINEAR, at(size, i - 1, j));
            if (j > 0) add2(p, OBJECTIVE, -1, LINEAR, k, LINEAR, at(size, i, j - 1));
            add1(p, OBJECTIVE, 6 * cell, LINEAR, k);
        }
    return p;
}

/* Heat in a rod, N points and N steps, heated at its ends: y_t = y_xx - y^3 / 10, a profile at the end. */
static model *make_heat(int size)
{
    const double k = 1.0 / size, h = 1.0 / (size + 1), c = k / (h * h);
    const int inputs = size * size;
    model *p = model_new(size * size + 2 * size);
    for (int s = 0; s < size; ++s)
        for (int i = 0; i < size; ++i) {
            const int r = add_row(p, 0, 0), y = s * size + i;
            add1(p, r, 1 + 2 * c, LINEAR, y);
            add1(p, r, 0.1 * k, CUBE, y);
            if (s > 0) add1(p, r, -1, LINEAR, y - size);
            add1(p, r, -c, LINEAR, i > 0 ? y - 1 : inputs + s);
            add1(p, r, -c, LINEAR, i + 1 < size ? y + 1 : inputs + size + s);
            if (s + 1 == size) add_distance(p, OBJECTIVE, h, y, wanted(size, i, size / 2));
        }
    for (int s = 0; s < 2 * size; ++s) {
        set_variable(p, inputs + s, -1, 2, 0);
        add1(p, OBJECTIVE, 1e-2 * k, SQUARE, inputs + s);
    }
    p->unique = false; /* what was heated long ago is hardly felt */
    return p;
}

const problem pde_problems[] = {
    {"distributed", PDE, make_distributed, 16, 120, "linear, controls in bounds"},
    {"semilinear", PDE, make_semilinear, 16, 120, "y^3, a ceiling for the state"},
    {"bratu", PDE, make_bratu, 16, 120, "e^y"},
    {"coefficient", PDE, make_coefficient, 16, 80, "the control is a coefficient"},
    {"boundary", PDE, make_boundary, 20, 160, "controls on the boundary"},
    {"obstacle", PDE, make_obstacle, 24, 200, "bounds only"},
    {"heat", PDE, make_heat, 20, 100, "in time and space"},
};
const int pde_count = sizeof pde_problems / sizeof *pde_problems;
