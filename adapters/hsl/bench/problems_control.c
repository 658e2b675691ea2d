/*
 * Optimal control in discrete time: stages of states and inputs, variable (stage, k) at stage * width + k,
 * and dynamics by the implicit midpoint or the backward Euler rule, one equality for each state and stage.
 */
#include "adapters/hsl/bench/problems.h"

#include <math.h>

#define NONE INFINITY

/* A horizon: `stages` steps of length h, `states` and `inputs` in each stage; the last stage has both. */
typedef struct horizon {
    int stages, states, inputs;
    double h;
} horizon;

static int at(const horizon *t, int stage, int k)
{
    return stage * (t->states + t->inputs) + k;
}

static model *new_control(const horizon *t)
{
    return model_new((t->stages + 1) * (t->states + t->inputs));
}

/* The row of x_{s+1} - x_s for state k, = 0 together with what is added to it. */
static int add_step(model *p, const horizon *t, int stage, int k)
{
    const int r = add_row(p, 0, 0);
    add1(p, r, 1, LINEAR, at(t, stage + 1, k));
    add1(p, r, -1, LINEAR, at(t, stage, k));
    return r;
}

/* x_s fixed for all states. */
static void fix_states(model *p, const horizon *t, int stage, const double *values)
{
    for (int k = 0; k < t->states; ++k) add1(p, add_row(p, values[k], values[k]), 1, LINEAR, at(t, stage, k));
}

/* A cart without friction, to rest in time 1 at least energy, the speed bounded. */
static model *make_cart(int size)
{
    const horizon t = {size, 2, 1, 1.0 / size};
    model *p = new_control(&t);
    for (int s = 0; s <= size; ++s) {
        set_variable(p, at(&t, s, 1), -1.2, 1.2, 0);
        set_variable(p, at(&t, s, 2), -9, 9, 0);
        add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, 2));
    }
    for (int s = 0; s < size; ++s) {
        int r = add_step(p, &t, s, 0);
        add1(p, r, -t.h / 2, LINEAR, at(&t, s, 1));
        add1(p, r, -t.h / 2, LINEAR, at(&t, s + 1, 1));
        r = add_step(p, &t, s, 1);
        add1(p, r, -t.h, LINEAR, at(&t, s, 2));
    }
    fix_states(p, &t, 0, (const double[]){0, 0});
    fix_states(p, &t, size, (const double[]){1, 0});
    return p;
}

/* A pendulum is swung up by a bounded torque. */
static model *make_pendulum(int size)
{
    const horizon t = {size, 2, 1, 6.0 / size};
    model *p = new_control(&t);
    for (int s = 0; s <= size; ++s) {
        set_variable(p, at(&t, s, 0), -10, 10, 3.14159265358979 * s / size);
        set_variable(p, at(&t, s, 1), -8, 8, 0.5);
        set_variable(p, at(&t, s, 2), -3, 3, 0.1);
        add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, 2));
        add1(p, OBJECTIVE, 0.1 * t.h, SQUARE, at(&t, s, 1));
    }
    for (int s = 0; s < size; ++s) {
        int r = add_step(p, &t, s, 0);
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 1));
        r = add_step(p, &t, s, 1); /* v' = -2 sin a - 0.1 v + u */
        add1(p, r, 2 * t.h, SINE, at(&t, s + 1, 0));
        add1(p, r, 0.1 * t.h, LINEAR, at(&t, s + 1, 1));
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 2));
    }
    fix_states(p, &t, 0, (const double[]){0, 0});
    fix_states(p, &t, size, (const double[]){3.14159265358979, 0});
    p->unique = false; /* the input of the first stage acts on nothing, and a swing has its mirror image */
    return p;
}

/* Van der Pol's oscillator is damped, one state bounded below. */
static model *make_oscillator(int size)
{
    const horizon t = {size, 2, 1, 10.0 / size};
    model *p = new_control(&t);
    for (int s = 0; s <= size; ++s) {
        set_variable(p, at(&t, s, 0), -0.25, NONE, 0);
        set_variable(p, at(&t, s, 1), -NONE, NONE, 1);
        set_variable(p, at(&t, s, 2), -1, 1, 0);
        for (int k = 0; k < 3; ++k) add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, k));
    }
    for (int s = 0; s < size; ++s) {
        int r = add_step(p, &t, s, 0); /* x' = (1 - y^2) x - y + u */
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 0));
        add2(p, r, t.h, SQUARE, at(&t, s + 1, 1), LINEAR, at(&t, s + 1, 0));
        add1(p, r, t.h, LINEAR, at(&t, s + 1, 1));
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 2));
        r = add_step(p, &t, s, 1);
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 0));
    }
    fix_states(p, &t, 0, (const double[]){0, 1});
    return p;
}

/* A batch reactor: as much of the product of a -> b as possible, the heating u speeds up a waste too. */
static model *make_reactor(int size)
{
    const horizon t = {size, 2, 1, 1.0 / size};
    model *p = new_control(&t);
    for (int s = 0; s <= size; ++s) {
        set_variable(p, at(&t, s, 0), 0, 1.1, 1);
        set_variable(p, at(&t, s, 1), 0, 1.1, 0);
        set_variable(p, at(&t, s, 2), 0, 5, 1);
        if (s > 0) add_difference(p, OBJECTIVE, 1e-4 / t.h, at(&t, s, 2), at(&t, s - 1, 2));
    }
    add1(p, OBJECTIVE, -1, LINEAR, at(&t, size, 1));
    for (int s = 0; s < size; ++s) {
        int r = add_step(p, &t, s, 0); /* a' = -(u + u^2 / 2) a */
        add2(p, r, t.h, LINEAR, at(&t, s + 1, 2), LINEAR, at(&t, s + 1, 0));
        add2(p, r, t.h / 2, SQUARE, at(&t, s + 1, 2), LINEAR, at(&t, s + 1, 0));
        r = add_step(p, &t, s, 1); /* b' = u a */
        add2(p, r, -t.h, LINEAR, at(&t, s + 1, 2), LINEAR, at(&t, s + 1, 0));
    }
    fix_states(p, &t, 0, (const double[]){1, 0});
    return p;
}

/* A car with a bounded turn drives around a disc that stands in its way. */
static model *make_car(int size)
{
    const horizon t = {size, 3, 2, 10.0 / size}; /* x, y, heading; speed, turn */
    model *p = new_control(&t);
    for (int s = 0; s <= size; ++s) {
        const double way = (double)s / size;
        set_variable(p, at(&t, s, 0), -NONE, NONE, 10 * way);
        set_variable(p, at(&t, s, 1), -NONE, NONE, 2 * sin(3.14159265358979 * way));
        set_variable(p, at(&t, s, 2), -3, 3, 0.1);
        set_variable(p, at(&t, s, 3), 0, 2, 1);
        set_variable(p, at(&t, s, 4), -1, 1, 0);
        add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, 3));
        add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, 4));
        const int r = add_row(p, 1.5 * 1.5, NONE); /* (x - 5)^2 + (y + 0.2)^2 */
        add_distance(p, r, 1, at(&t, s, 0), 5);
        add_distance(p, r, 1, at(&t, s, 1), -0.2);
    }
    for (int s = 0; s < size; ++s) {
        int r = add_step(p, &t, s, 0);
        add2(p, r, -t.h, LINEAR, at(&t, s + 1, 3), COSINE, at(&t, s + 1, 2));
        r = add_step(p, &t, s, 1);
        add2(p, r, -t.h, LINEAR, at(&t, s + 1, 3), SINE, at(&t, s + 1, 2));
        r = add_step(p, &t, s, 2);
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 4));
    }
    fix_states(p, &t, 0, (const double[]){0, 0, 0});
    fix_states(p, &t, size, (const double[]){10, 0, 0});
    return p;
}

/* A chain of eight masses and springs, three of them pushed, one stiff spring with a cubic part. */
static model *make_chain(int size)
{
    enum { MASSES = 8, PUSHED = 3 };
    const horizon t = {size, 2 * MASSES, PUSHED, 8.0 / size};
    model *p = new_control(&t);
    double start[2 * MASSES] = {0};
    for (int s = 0; s <= size; ++s) {
        for (int k = 0; k < MASSES; ++k) {
            set_variable(p, at(&t, s, k), -1.5, 1.5, 0);
            add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, k));
        }
        for (int k = 0; k < PUSHED; ++k) {
            set_variable(p, at(&t, s, 2 * MASSES + k), -0.5, 0.5, 0);
            add1(p, OBJECTIVE, 0.1 * t.h, SQUARE, at(&t, s, 2 * MASSES + k));
        }
    }
    for (int s = 0; s < size; ++s)
        for (int k = 0; k < MASSES; ++k) {
            int r = add_step(p, &t, s, k);
            add1(p, r, -t.h, LINEAR, at(&t, s + 1, MASSES + k));
            r = add_step(p, &t, s, MASSES + k);
            add1(p, r, 2 * t.h, LINEAR, at(&t, s + 1, k));
            if (k > 0) add1(p, r, -t.h, LINEAR, at(&t, s + 1, k - 1));
            if (k + 1 < MASSES) add1(p, r, -t.h, LINEAR, at(&t, s + 1, k + 1));
            if (k == MASSES / 2) add1(p, r, 5 * t.h, CUBE, at(&t, s + 1, k));
            for (int u = 0; u < PUSHED; ++u)
                if (k == 3 * u) add1(p, r, -t.h, LINEAR, at(&t, s + 1, 2 * MASSES + u));
        }
    for (int k = 0; k < MASSES; ++k) start[k] = k % 2 ? 1 : -0.6;
    fix_states(p, &t, 0, start);
    return p;
}

/* A drone in a plane: thrust of two rotors, tilt, from one corner to another under a ceiling. */
static model *make_drone(int size)
{
    const horizon t = {size, 6, 2,
                       4.0 / size}; /* x, y, tilt and their speeds; sum and difference of thrusts */
    model *p = new_control(&t);
    for (int s = 0; s <= size; ++s) {
        const double way = (double)s / size;
        set_variable(p, at(&t, s, 0), -NONE, NONE, 4 * way);
        set_variable(p, at(&t, s, 1), 0, 2.2, 0.2 + 1.8 * way);
        set_variable(p, at(&t, s, 2), -1.2, 1.2, 0);
        set_variable(p, at(&t, s, 6), 0, 20, 9.81);
        set_variable(p, at(&t, s, 7), -4, 4, 0);
        add_distance(p, OBJECTIVE, 0.1 * t.h, at(&t, s, 6), 9.81);
        add1(p, OBJECTIVE, t.h, SQUARE, at(&t, s, 7));
    }
    for (int s = 0; s < size; ++s) {
        for (int k = 0; k < 3; ++k) add1(p, add_step(p, &t, s, k), -t.h, LINEAR, at(&t, s + 1, 3 + k));
        int r = add_step(p, &t, s, 3);
        add2(p, r, t.h, LINEAR, at(&t, s + 1, 6), SINE, at(&t, s + 1, 2));
        r = add_step(p, &t, s, 4);
        add2(p, r, -t.h, LINEAR, at(&t, s + 1, 6), COSINE, at(&t, s + 1, 2));
        add_constant(p, r, 9.81 * t.h);
        r = add_step(p, &t, s, 5);
        add1(p, r, -t.h, LINEAR, at(&t, s + 1, 7));
    }
    fix_states(p, &t, 0, (const double[]){0, 0.2, 0, 0, 0, 0});
    fix_states(p, &t, size, (const double[]){4, 2, 0, 0, 0, 0});
    return p;
}

const problem control_problems[] = {
    {"cart", CONTROL, make_cart, 500, 30000, "convex, bounded speed"},
    {"pendulum", CONTROL, make_pendulum, 300, 10000, "swung up"},
    {"oscillator", CONTROL, make_oscillator, 500, 60000, "a state bounded"},
    {"reactor", CONTROL, make_reactor, 500, 30000, "bilinear"},
    {"car", CONTROL, make_car, 200, 10000, "around an obstacle"},
    {"chain", CONTROL, make_chain, 100, 4000, "19 variables a stage"},
    {"drone", CONTROL, make_drone, 200, 6000, "thrust and tilt"},
};
const int control_count = sizeof control_problems / sizeof *control_problems;
