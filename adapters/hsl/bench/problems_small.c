/*
 * Small and nasty: dependent equalities, solutions at which no constraint qualification holds, multipliers
 * without bound, Hessians that are indefinite or singular on the way, bad scaling. W. Hock and K.
 * Schittkowski, Test Examples for Nonlinear Programming Codes, 1981 (hs...); others are named where they are
 * from.
 */
#include "adapters/hsl/bench/problems.h"

#include <math.h>

#define NONE INFINITY

static model *make_hs071(int size)
{
    model *p = model_new(4);
    (void)size;
    static const double start[] = {1, 5, 5, 1};
    for (int i = 0; i < 4; ++i) set_variable(p, i, 1, 5, start[i]);
    add2(p, OBJECTIVE, 1, SQUARE, 0, LINEAR, 3);
    add3(p, OBJECTIVE, 1, LINEAR, 0, LINEAR, 1, LINEAR, 3);
    add3(p, OBJECTIVE, 1, LINEAR, 0, LINEAR, 2, LINEAR, 3);
    add1(p, OBJECTIVE, 1, LINEAR, 2);
    int r = add_row(p, 25, NONE);
    add4(p, r, 1, (const factor[]){{LINEAR, 0}, {LINEAR, 1}, {LINEAR, 2}, {LINEAR, 3}});
    r = add_row(p, 40, 40);
    for (int i = 0; i < 4; ++i) add1(p, r, 1, SQUARE, i);
    return p;
}

/* x1 + x2 = 2 three times, once doubled, once the sum of others: the Jacobian has rank 2 of 4. */
static model *make_dependent_rows(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) add_distance(p, OBJECTIVE, 1 + i % 3, i, i);
    static const double scale[] = {1, 2, -0.5};
    for (int k = 0; k < 3; ++k) {
        const int r = add_row(p, 2 * scale[k], 2 * scale[k]);
        add1(p, r, scale[k], LINEAR, 0);
        add1(p, r, scale[k], LINEAR, 1);
    }
    const int r = add_row(p, 3, 3);
    for (int i = 2; i < size; ++i) add1(p, r, 1, LINEAR, i);
    return p;
}

/* A circle twice, and the plane that touches it where the solution is: rank 1 there. */
static model *make_dependent_circles(int size)
{
    model *p = model_new(3);
    (void)size;
    for (int i = 0; i < 3; ++i) set_variable(p, i, -NONE, NONE, 0.5 - 0.2 * i);
    add1(p, OBJECTIVE, 1, LINEAR, 0);
    add1(p, OBJECTIVE, 1, LINEAR, 1);
    add1(p, OBJECTIVE, 1, SQUARE, 2);
    for (int k = 1; k <= 2; ++k) {
        const int r = add_row(p, 2 * k, 2 * k);
        add1(p, r, k, SQUARE, 0);
        add1(p, r, k, SQUARE, 1);
    }
    return p;
}

/* (1 - x)^3 - y >= 0 */
static void add_cusp(model *p)
{
    const int r = add_row(p, 0, NONE);
    add_constant(p, r, 1);
    add1(p, r, -3, LINEAR, 0);
    add1(p, r, 3, SQUARE, 0);
    add1(p, r, -1, CUBE, 0);
    add1(p, r, -1, LINEAR, 1);
}

/* hs013: the constraint has no gradient that a multiplier could use at (1, 0). */
static model *make_hs013(int size)
{
    model *p = model_new(2);
    (void)size;
    set_variable(p, 0, 0, NONE, -2);
    set_variable(p, 1, 0, NONE, -2);
    add_distance(p, OBJECTIVE, 1, 0, 2);
    add1(p, OBJECTIVE, 1, SQUARE, 1);
    add_cusp(p);
    return p;
}

/* Kuhn and Tucker: min -x, y <= (1 - x)^3, y >= 0. Multipliers grow without bound. */
static model *make_cusp(int size)
{
    model *p = model_new(2);
    (void)size;
    set_variable(p, 0, -NONE, NONE, -2);
    set_variable(p, 1, 0, NONE, 1);
    add1(p, OBJECTIVE, -1, LINEAR, 0);
    add_cusp(p);
    return p;
}

/* x y <= 0 with x, y >= 0, in pairs: no interior, no constraint qualification anywhere. */
static model *make_complementarity(int size)
{
    model *p = model_new(2 * size);
    for (int i = 0; i < size; ++i) {
        set_variable(p, 2 * i, 0, NONE, 2);
        set_variable(p, 2 * i + 1, 0, NONE, 0.1);
        add_distance(p, OBJECTIVE, 1, 2 * i, 2 + 0.1 * i);
        add_distance(p, OBJECTIVE, 1, 2 * i + 1, 0.5);
        add2(p, add_row(p, -NONE, 0), 1, LINEAR, 2 * i, LINEAR, 2 * i + 1);
    }
    return p;
}

/* A double well in every variable, weakly coupled, from beside the hill between the wells. */
static model *make_wells(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) {
        set_variable(p, i, -5, 5, 0.2);
        add1(p, OBJECTIVE, 1, FOURTH, i);
        add1(p, OBJECTIVE, -8, SQUARE, i);
        add1(p, OBJECTIVE, -1, LINEAR, i);
        if (i > 0) add_difference(p, OBJECTIVE, 0.1, i, i - 1);
    }
    return p;
}

/* Beside a saddle point: x^2 - y^2 + y^4 from (1, 0.01), under an equality that leaves both free. */
static model *make_saddle_start(int size)
{
    model *p = model_new(3);
    (void)size;
    set_variable(p, 0, -NONE, NONE, 1);
    set_variable(p, 1, -NONE, NONE, 0.01);
    set_variable(p, 2, -NONE, NONE, 1);
    add1(p, OBJECTIVE, 1, SQUARE, 0);
    add1(p, OBJECTIVE, -1, SQUARE, 1);
    add1(p, OBJECTIVE, 1, FOURTH, 1);
    const int r = add_row(p, 0, 0);
    add1(p, r, 1, LINEAR, 2);
    add1(p, r, -1, LINEAR, 0);
    add1(p, r, -1, LINEAR, 1);
    return p;
}

/* A concave quadratic over a box cut by one plane. */
static model *make_concave(int size)
{
    model *p = model_new(size);
    const int r = add_row(p, 0.3 * size, 0.3 * size);
    for (int i = 0; i < size; ++i) {
        set_variable(p, i, 0, 1, 0.3 + 0.02 * i);
        add_distance(p, OBJECTIVE, -1 - 0.1 * i, i, 0.4);
        add1(p, r, 1, LINEAR, i);
    }
    return p;
}

/* Rosenbrock's valley, chained: no constraints at all. */
static model *make_valley(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) set_variable(p, i, -NONE, NONE, i % 2 ? 1 : -1.2);
    for (int i = 0; i + 1 < size; ++i) { /* 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2 */
        add1(p, OBJECTIVE, 100, SQUARE, i + 1);
        add2(p, OBJECTIVE, -200, LINEAR, i + 1, SQUARE, i);
        add1(p, OBJECTIVE, 100, FOURTH, i);
        add_distance(p, OBJECTIVE, 1, i, 1);
    }
    p->unique = false;
    return p;
}

/* Every third variable is fixed by its bounds, and some of them by an equality as well. */
static model *make_fixed(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) {
        if (i % 3 == 0)
            set_variable(p, i, 0.5, 0.5, 0.5);
        else
            set_variable(p, i, -3, 3, 1);
        add1(p, OBJECTIVE, 1, FOURTH, i);
        add1(p, OBJECTIVE, -1 - 0.1 * i, LINEAR, i);
    }
    for (int i = 0; i + 2 < size; i += 2) {
        const int r = add_row(p, -NONE, 1);
        add2(p, r, 1, LINEAR, i, LINEAR, i + 1);
        add1(p, r, 1, LINEAR, i + 2);
    }
    return p;
}

/* Powell's badly scaled system: 1e4 x y = 1, exp(-x) + exp(-y) = 1.0001; nothing is left to minimise. */
static model *make_powell(int size)
{
    model *p = model_new(2); /* the variables are -x and -y */
    (void)size;
    set_variable(p, 0, -NONE, NONE, 0);
    set_variable(p, 1, -NONE, NONE, -1);
    add2(p, add_row(p, 1, 1), 1e4, LINEAR, 0, LINEAR, 1);
    const int r = add_row(p, 1.0001, 1.0001);
    add1(p, r, 1, EXPONENTIAL, 0);
    add1(p, r, 1, EXPONENTIAL, 1);
    p->unique = false; /* x and y may change places */
    return p;
}

/* Maratos: full steps along the circle raise both the objective and the violation. */
static model *make_maratos(int size)
{
    model *p = model_new(2);
    (void)size;
    set_variable(p, 0, -NONE, NONE, 0.8);
    set_variable(p, 1, -NONE, NONE, 0.6);
    const int r = add_row(p, 1, 1);
    for (int i = 0; i < 2; ++i) {
        add1(p, OBJECTIVE, 20, SQUARE, i);
        add1(p, r, 1, SQUARE, i);
    }
    add1(p, OBJECTIVE, -1, LINEAR, 0);
    return p;
}

/* Wachter and Biegler, Failure of global convergence for a class of interior point methods, 2000. */
static model *make_crossing(int size)
{
    model *p = model_new(3);
    (void)size;
    set_variable(p, 0, -NONE, NONE, 3);
    set_variable(p, 1, 0, NONE, 3);
    set_variable(p, 2, 0, NONE, 1);
    add1(p, OBJECTIVE, 1, LINEAR, 0);
    int r = add_row(p, 1, 1);
    add1(p, r, 1, SQUARE, 0);
    add1(p, r, -1, LINEAR, 1);
    r = add_row(p, 0.5, 0.5);
    add1(p, r, 1, LINEAR, 0);
    add1(p, r, -1, LINEAR, 2);
    return p;
}

/* hs106, a heat exchanger network: variables from 10 to 10,000, linear objective. */
static model *make_hs106(int size)
{
    model *p = model_new(8);
    (void)size;
    static const double start[] = {5000, 5000, 5000, 200, 350, 150, 225, 425};
    for (int i = 0; i < 8; ++i)
        set_variable(p, i, i == 0 ? 100 : i < 3 ? 1000 : 10, i < 3 ? 10000 : 1000, start[i]);
    for (int i = 0; i < 3; ++i) add1(p, OBJECTIVE, 1, LINEAR, i);
    static const int plus[] = {3, 4, 7}, also[] = {5, 6, 4}, less[] = {-1, 3, -1};
    static const double weight[] = {0.0025, 0.0025, 0.01};
    for (int k = 0; k < 3; ++k) {
        const int r = add_row(p, -NONE, 1);
        add1(p, r, weight[k], LINEAR, plus[k]);
        add1(p, r, k < 2 ? weight[k] : -weight[k], LINEAR, also[k]);
        if (less[k] >= 0) add1(p, r, -weight[k], LINEAR, less[k]);
    }
    int r = add_row(p, -83333.333, NONE);
    add2(p, r, 1, LINEAR, 0, LINEAR, 5);
    add1(p, r, -833.33252, LINEAR, 3);
    add1(p, r, -100, LINEAR, 0);
    r = add_row(p, 0, NONE);
    add2(p, r, 1, LINEAR, 1, LINEAR, 6);
    add1(p, r, -1250, LINEAR, 4);
    add2(p, r, -1, LINEAR, 1, LINEAR, 3);
    add1(p, r, 1250, LINEAR, 3);
    r = add_row(p, 1250000, NONE);
    add2(p, r, 1, LINEAR, 2, LINEAR, 7);
    add2(p, r, -1, LINEAR, 2, LINEAR, 4);
    add1(p, r, 2500, LINEAR, 4);
    return p;
}

/* A linear program at whose vertex three times as many constraints meet as it has variables. */
static model *make_vertex(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) {
        set_variable(p, i, 0, NONE, 0.1);
        add1(p, OBJECTIVE, -1, LINEAR, i);
    }
    for (int k = 0; k < 3 * size; ++k) {
        const int a = k % size, b = (k + 1 + k / size) % size;
        const double w = 1 + k % 4;
        const int r = add_row(p, -NONE, 1 + w);
        add1(p, r, 1, LINEAR, a);
        add1(p, r, w, LINEAR, b);
    }
    return p;
}

/* Transport from size sources to as many sinks: one equality too many, and no curvature anywhere. */
static model *make_transport(int size)
{
    model *p = model_new(size * size);
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
            set_variable(p, i * size + j, 0, NONE, 1);
            add1(p, OBJECTIVE, 1 + fabs(i - 1.3 * j) + 0.01 * ((7 * i + 3 * j) % 11), LINEAR, i * size + j);
        }
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < size; ++i) {
            const int r = add_row(p, 10, 10);
            for (int j = 0; j < size; ++j) add1(p, r, 1, LINEAR, side ? j * size + i : i * size + j);
        }
    p->unique = false;
    return p;
}

/* Hilbert's matrix as the Hessian: condition 1e13 at size 10. */
static model *make_hilbert(int size)
{
    model *p = model_new(size);
    const int r = add_row(p, 1, 1);
    for (int i = 0; i < size; ++i) {
        set_variable(p, i, -10, 10, 1);
        add1(p, OBJECTIVE, 0.5 / (2 * i + 1), SQUARE, i);
        for (int j = 0; j < i; ++j) add2(p, OBJECTIVE, 1.0 / (i + j + 1), LINEAR, i, LINEAR, j);
        add1(p, r, i % 2 ? -1 : 1, LINEAR, i);
    }
    p->unique = false;
    return p;
}

/* Units from 1e-6 to 1e6 in one chain of reactions. */
static model *make_units(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) {
        const double unit = pow(10, 12.0 * i / (size - 1) - 6);
        set_variable(p, i, 0, 10 * unit, unit);
        add_distance(p, OBJECTIVE, 1 / (unit * unit), i, 2 * unit);
        if (i == 0) continue;
        const double before = pow(10, 12.0 * (i - 1) / (size - 1) - 6);
        /* x_i x_{i-1}, in their units */
        add2(p, add_row(p, 0.5, 2), 1 / (unit * before), LINEAR, i, LINEAR, i - 1);
    }
    return p;
}

/* A Hessian of rank 1: every point of a plane is a solution. */
static model *make_flat(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) {
        set_variable(p, i, 0, 1, 0.9);
        add1(p, OBJECTIVE, 1, SQUARE, i);
        add1(p, OBJECTIVE, -2, LINEAR, i);
        for (int j = 0; j < i; ++j) add2(p, OBJECTIVE, 2, LINEAR, i, LINEAR, j);
    }
    p->unique = false;
    return p;
}

/* The square of an equality instead of itself: its gradient vanishes where it holds. */
static model *make_squared(int size)
{
    model *p = model_new(size);
    for (int i = 0; i < size; ++i) {
        set_variable(p, i, -NONE, NONE, 2);
        add_distance(p, OBJECTIVE, 1, i, 1 + i);
    }
    const int r = add_row(p, -NONE, 1e-8); /* (x_0 + x_1 - 1)^2 */
    add1(p, r, 1, SQUARE, 0);
    add1(p, r, 1, SQUARE, 1);
    add2(p, r, 2, LINEAR, 0, LINEAR, 1);
    add1(p, r, -2, LINEAR, 0);
    add1(p, r, -2, LINEAR, 1);
    add_constant(p, r, 1);
    return p;
}

const problem small_problems[] = {
    {"hs071", SMALL, make_hs071, 0, 0, "Ipopt's own example"},
    {"dependent_rows", SMALL, make_dependent_rows, 8, 8, "equalities of rank 2 in 4 rows"},
    {"dependent_circles", SMALL, make_dependent_circles, 0, 0, "the same nonlinear equality twice"},
    {"hs013", SMALL, make_hs013, 0, 0, "no constraint qualification at the solution"},
    {"cusp", SMALL, make_cusp, 0, 0, "multipliers without bound"},
    {"complementarity", SMALL, make_complementarity, 10, 10, "x y <= 0, x, y >= 0"},
    {"wells", SMALL, make_wells, 40, 40, "indefinite on the way"},
    {"saddle_start", SMALL, make_saddle_start, 0, 0, "begins beside a saddle point"},
    {"concave", SMALL, make_concave, 20, 20, "concave over a polytope"},
    {"valley", SMALL, make_valley, 50, 50, "Rosenbrock, no constraints"},
    {"fixed", SMALL, make_fixed, 30, 30, "variables fixed by their bounds"},
    {"powell", SMALL, make_powell, 0, 0, "badly scaled, as many equalities as variables"},
    {"maratos", SMALL, make_maratos, 0, 0, "second-order corrections"},
    {"crossing", SMALL, make_crossing, 0, 0, "needs a restoration phase"},
    {"hs106", SMALL, make_hs106, 0, 0, "values from 10 to 10,000"},
    {"vertex", SMALL, make_vertex, 12, 12, "a degenerate vertex"},
    {"transport", SMALL, make_transport, 12, 12, "one equality too many, no curvature"},
    {"hilbert", SMALL, make_hilbert, 10, 10, "Hessian of condition 1e13"},
    {"units", SMALL, make_units, 25, 25, "units from 1e-6 to 1e6"},
    {"flat", SMALL, make_flat, 30, 30, "Hessian of rank 1"},
    {"squared", SMALL, make_squared, 6, 6, "a gradient that vanishes"},
};
const int small_count = sizeof small_problems / sizeof *small_problems;
