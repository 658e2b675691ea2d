/*
 * The families of test problems.
 *
 * Grid points are numbered with x running fastest, then y, then z; a grid of two dimensions is one
 * of three with a single layer. The Laplacian has 2d on its diagonal and -1 for each neighbour,
 * which is h^2 times the five- or seven-point approximation of -Laplace with zero boundary values.
 *
 * Stokes and Darcy live on a staggered (MAC) grid of N^d cells: a velocity or flux on every face
 * between two cells (walls have none), a pressure in every cell but the last, which is dropped
 * because only differences of pressures matter. With the velocities first the matrix is
 *
 *     [ A  B' ]     B has +1 where a face is at the upper side of a cell (flow out of it) and -1
 *     [ B  0  ]     where it is at the lower side: the discrete divergence.
 *
 * Optimal control in discrete time, `ocp` and `mpc`, goes stage by stage, as the solvers of such
 * problems number their unknowns: with inputs u, states x and multipliers l of the dynamics
 * x_{k+1} = A_k x_k + B_k u_k (x_0 is given), stage k has the unknowns u_k, x_{k+1}, l_{k+1}. `mpc`
 * softens bounds on the states by slacks s and keeps their multipliers m: u_k, x_{k+1}, s, l_{k+1}, m.
 *
 * A column of the lower triangle depends on its own grid point or stage alone, so all but `ipm` are
 * written straight into the result, column after column.
 */
#include "cli/families.h"

#include "cli/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 2147483646.0 /* below 2^31 - 1: indices have 32 bits */

/* The matrix under construction. Room for all entries is there before the first is pushed. */
typedef struct builder {
    int64_t size; /* N */
    int axes;     /* d */
    double param;
    family_stages stages;
    random_stream random;
    int64_t n, column, entries;
    int64_t *pointers;
    int32_t *indices;
    double *values;
    bool failed; /* memory ran out */
} builder;

static void push(builder *b, int64_t row, double value)
{
    b->indices[b->entries] = (int32_t)row;
    b->values[b->entries++] = value;
}

static void end_column(builder *b)
{
    b->pointers[++b->column] = b->entries;
}

/* A box of points: its lengths, and the way from a point to its next neighbour along each axis. */
typedef struct box {
    int64_t length[3], stride[3], points;
} box;

/* N along each of the problem's axes, less one along `shorter` (-1: along none). */
static box make_box(const builder *b, int shorter)
{
    box g;
    g.points = 1;
    for (int a = 0; a < 3; a++) {
        g.length[a] = a < b->axes ? b->size - (a == shorter) : 1;
        g.stride[a] = g.points;
        g.points *= g.length[a];
    }
    return g;
}

/* Goes on to the next point, x fastest. */
static void advance(const box *g, int64_t point[3])
{
    for (int a = 0; a < 3; a++) {
        if (++point[a] < g->length[a]) return;
        point[a] = 0;
    }
}

/* One column of a Laplacian whose first row is `first`: all of it, or from the diagonal down. */
static void push_stencil(builder *b, const box *g, const int64_t point[3], int64_t first, double centre,
                         double side, bool whole)
{
    int64_t row = first;
    for (int a = 0; a < 3; a++) row += point[a] * g->stride[a];
    for (int a = 2; whole && a >= 0; a--)
        if (point[a] > 0) push(b, row - g->stride[a], side);
    push(b, row, centre);
    for (int a = 0; a < 3; a++)
        if (point[a] + 1 < g->length[a]) push(b, row + g->stride[a], side);
}

static void fill_shifted(builder *b, double shift)
{
    const box g = make_box(b, -1);
    int64_t point[3] = {0, 0, 0};
    for (int64_t k = 0; k < g.points; k++, advance(&g, point)) {
        push_stencil(b, &g, point, 0, 2.0 * b->axes - shift, -1.0, false);
        end_column(b);
    }
}

static void fill_laplacian(builder *b)
{
    fill_shifted(b, b->param);
}

/* -Laplace u - k^2 u with P points a wavelength 2 pi / k: k h = 2 pi / P. */
static void fill_helmholtz(builder *b)
{
    const double kh = 6.283185307179586 / b->param;
    fill_shifted(b, kh * kh);
}

/* The 3x3 blocks -(I + d d' / |d|^2) / 2 of the 13 neighbours that come after a point, one column
 * of each; zeros are not stored. */
static void push_elastic_neighbours(builder *b, const box *g, const int64_t point[3], int64_t k, int column)
{
    for (int64_t z = 0; z <= 1; z++)
        for (int64_t y = -1; y <= 1; y++)
            for (int64_t x = -1; x <= 1; x++) {
                const int64_t d[3] = {x, y, z};
                const int64_t offset = x + y * g->stride[1] + z * g->stride[2];
                if (z == 0 && (y < 0 || (y == 0 && x <= 0))) continue;
                bool inside = true;
                for (int a = 0; a < 3; a++)
                    inside = inside && point[a] + d[a] >= 0 && point[a] + d[a] < g->length[a];
                if (!inside) continue;
                for (int r = 0; r < 3; r++) {
                    const double coupling =
                        (double)(r == column) + (double)(d[r] * d[column]) / (double)(x * x + y * y + z * z);
                    if (coupling != 0.0) push(b, 3 * (k + offset) + r, -0.5 * coupling);
                }
            }
}

static void fill_elasticity(builder *b)
{
    const box g = make_box(b, -1);
    int64_t point[3] = {0, 0, 0};
    for (int64_t k = 0; k < g.points; k++, advance(&g, point))
        for (int c = 0; c < 3; c++) {
            push(b, 3 * k + c, 82.0 - b->param);
            for (int r = c + 1; r < 3; r++) push(b, 3 * k + r, 0.5);
            push_elastic_neighbours(b, &g, point, k, c);
            end_column(b);
        }
}

/* Stokes and Darcy differ only in what stands in A: a Laplacian for each component of the velocity,
 * or a random diagonal. */
static void fill_staggered(builder *b, bool stokes)
{
    const box cells = make_box(b, -1);
    const int64_t pressures = cells.points - 1, velocities = b->n - pressures;
    for (int a = 0; a < b->axes; a++) {
        const box faces = make_box(b, a);
        const int64_t first = b->column;
        int64_t point[3] = {0, 0, 0};
        for (int64_t k = 0; k < faces.points; k++, advance(&faces, point)) {
            if (stokes)
                push_stencil(b, &faces, point, first, 2.0 * b->axes * b->param, -b->param, false);
            else
                push(b, first + k, exp(b->param * random_normal(&b->random)));
            int64_t cell = 0;
            for (int c = 0; c < 3; c++) cell += point[c] * cells.stride[c];
            push(b, velocities + cell, 1.0);
            if (cell + cells.stride[a] < pressures) push(b, velocities + cell + cells.stride[a], -1.0);
            end_column(b);
        }
    }
}

static void fill_stokes(builder *b)
{
    fill_staggered(b, true);
}

static void fill_darcy(builder *b)
{
    fill_staggered(b, false);
}

/* State, control, adjoint: [M 0 K; 0 beta M -M; K -M 0] with M = h^d I, K = h^(d-2) Laplacian. */
static void fill_control(builder *b)
{
    const box g = make_box(b, -1);
    const double h = 1.0 / (double)(b->size + 1);
    const double stiffness = b->axes == 2 ? 1.0 : h, mass = stiffness * h * h;
    int64_t point[3] = {0, 0, 0};
    for (int64_t k = 0; k < g.points; k++, advance(&g, point)) {
        push(b, k, mass);
        push_stencil(b, &g, point, 2 * g.points, 2.0 * b->axes * stiffness, -stiffness, true);
        end_column(b);
    }
    for (int64_t k = 0; k < g.points; k++) {
        push(b, g.points + k, b->param * mass);
        push(b, 2 * g.points + k, -mass);
        end_column(b);
    }
}

/* [D K; K 0], nearly all of D zero and not stored. */
static void fill_kktz(builder *b)
{
    const box g = make_box(b, -1);
    int64_t point[3] = {0, 0, 0};
    for (int64_t k = 0; k < g.points; k++, advance(&g, point)) {
        if (random_uniform(&b->random) < 0.05) push(b, k, random_between(&b->random, -0.5, 0.5));
        push_stencil(b, &g, point, g.points, 4.0, -1.0, true);
        end_column(b);
    }
}

/* A whole number in least..most. */
static int64_t draw_between(random_stream *random, int64_t least, int64_t most)
{
    return least + (int64_t)random_below(random, (uint64_t)(most - least + 1));
}

enum { IPM_REACH = 200, IPM_ENTRIES = 4 };

/* Entries of the triangle by rows, as they are drawn: `count[i]` of them in row i, one row after
 * the other. */
typedef struct drawn {
    int32_t *columns;
    double *values;
    int8_t *count;
} drawn;

/* Row i of the variables: its diagonal, and for three rows in ten a coupling to one before it. */
static int64_t draw_variable(builder *b, int64_t i, int32_t *columns, double *values)
{
    int64_t count = 0;
    const bool coupled = random_uniform(&b->random) < 0.3;
    if (coupled && i > 0) {
        columns[count] = (int32_t)draw_between(&b->random, i > IPM_REACH ? i - IPM_REACH : 0, i - 1);
        values[count++] = random_between(&b->random, -5e-3, 5e-3);
    }
    columns[count] = (int32_t)i;
    values[count++] = pow(10.0, b->param * random_between(&b->random, -1.0, 1.0));
    return count;
}

/* Constraint k: 1..2 at variable 2k, which is its own and keeps the constraints independent, and
 * up to three more; then -1e-8 on one diagonal in five. */
static int64_t draw_constraint(builder *b, int64_t k, int32_t *columns, double *values)
{
    const int64_t own = 2 * k, last = b->size - 1;
    const int64_t wanted = b->size < IPM_ENTRIES ? b->size : IPM_ENTRIES;
    int64_t count = 0;
    columns[count] = (int32_t)own;
    values[count++] = random_between(&b->random, 1.0, 2.0);
    while (count < wanted) {
        const bool anywhere = random_uniform(&b->random) < 0.02;
        const int64_t least = anywhere || own < IPM_REACH ? 0 : own - IPM_REACH;
        const int64_t most = anywhere || own + IPM_REACH > last ? last : own + IPM_REACH;
        const int32_t column = (int32_t)draw_between(&b->random, least, most);
        bool taken = false;
        for (int64_t e = 0; e < count; e++) taken = taken || columns[e] == column;
        if (taken) continue;
        columns[count] = column;
        values[count++] = random_between(&b->random, -1.0, 1.0);
    }
    if (random_uniform(&b->random) < 0.2) {
        columns[count] = (int32_t)(b->size + k);
        values[count++] = -1e-8;
    }
    return count;
}

/* Rows to columns: rows are taken in order, so every column comes out sorted. pointers[j] is where
 * column j's next entry goes, and at the end where column j + 1 begins. */
static void transpose(builder *b, const drawn *rows)
{
    for (int64_t e = 0; e < b->entries; e++)
        if (rows->columns[e] + 1 < b->n) b->pointers[rows->columns[e] + 2]++;
    for (int64_t j = 2; j <= b->n; j++) b->pointers[j] += b->pointers[j - 1];
    for (int64_t i = 0, e = 0; i < b->n; i++)
        for (int64_t last = e + rows->count[i]; e < last; e++) {
            const int64_t to = b->pointers[rows->columns[e] + 1]++;
            b->indices[to] = (int32_t)i;
            b->values[to] = rows->values[e];
        }
    b->column = b->n;
}

static void fill_ipm(builder *b)
{
    const int64_t constraints = b->n - b->size;
    const size_t room = (size_t)(2 * b->size + (IPM_ENTRIES + 1) * constraints);
    drawn rows = {calloc(room, sizeof(int32_t)), malloc(room * sizeof(double)), malloc((size_t)b->n)};
    b->failed = !rows.columns || !rows.values || !rows.count;
    for (int64_t i = 0; i < b->n && !b->failed; i++) {
        int32_t *columns = rows.columns + b->entries;
        double *values = rows.values + b->entries;
        const int64_t count = i < b->size ? draw_variable(b, i, columns, values)
                                          : draw_constraint(b, i - b->size, columns, values);
        rows.count[i] = (int8_t)count;
        b->entries += count;
    }
    if (!b->failed) transpose(b, &rows);
    free(rows.columns);
    free(rows.values);
    free(rows.count);
}

enum { BARRIER_DECADES = 6 };

/* What a barrier adds to a diagonal: s / z or z / s, far from 1 to either side near the end. */
static double draw_barrier(builder *b)
{
    return pow(10.0, random_between(&b->random, -BARRIER_DECADES, BARRIER_DECADES));
}

/* Column j of B_k: input j drives two neighbouring states, which are spread over all of them. */
static void push_input(builder *b, int64_t j, int64_t multipliers, bool bounded)
{
    const int64_t nx = b->stages.states, first = j * nx / b->stages.inputs;
    push(b, b->column, random_between(&b->random, 0.1, 1.0) + (bounded ? draw_barrier(b) : 0.0));
    push(b, multipliers + first, random_between(&b->random, 0.5, 1.0));
    if (first + 1 < nx) push(b, multipliers + first + 1, random_between(&b->random, -0.5, 0.5));
    end_column(b);
}

/* Column j of the states: its weight, -1 in the row that defines it, its bound where it has one, and
 * column j of the next A_k: tridiagonal, a chain of which every row sum is at most 1. */
static void push_state(builder *b, int64_t j, int64_t multipliers, int64_t bounds, int64_t next)
{
    const int64_t nx = b->stages.states;
    push(b, b->column, random_between(&b->random, 0.5, 2.0));
    push(b, multipliers + j, -1.0);
    if (bounds >= 0) push(b, bounds + j, 1.0);
    for (int64_t i = j - 1; i <= j + 1 && next >= 0; i++)
        if (i >= 0 && i < nx)
            push(b, next + i,
                 i == j ? random_between(&b->random, 0.6, 0.8) : random_between(&b->random, -0.1, 0.1));
    end_column(b);
}

/* Regularised multipliers of the dynamics: -delta, or nothing. */
static void push_multipliers(builder *b)
{
    for (int64_t j = 0; j < b->stages.states; j++) {
        if (b->param > 0.0) push(b, b->column, -b->param);
        end_column(b);
    }
}

/* Bounds x - s <= c: -1 for the slack, which has a weight; -s/z - delta on the diagonal of the bound. */
static void fill_stages(builder *b, bool bounded)
{
    const int64_t nx = b->stages.states, nu = b->stages.inputs;
    const int64_t stage = b->n / b->size, slacks = nu + nx, multipliers = slacks + (bounded ? nx : 0);
    for (int64_t k = 0; k < b->size; k++) {
        const int64_t first = k * stage, own = first + multipliers, bounds = bounded ? own + nx : -1;
        const int64_t next = k + 1 < b->size ? own + stage : -1;
        for (int64_t j = 0; j < nu; j++) push_input(b, j, own, bounded);
        for (int64_t j = 0; j < nx; j++) push_state(b, j, own, bounds, next);
        for (int64_t j = 0; j < nx && bounded; j++) {
            push(b, b->column, 1e-2 + draw_barrier(b));
            push(b, bounds + j, -1.0);
            end_column(b);
        }
        push_multipliers(b);
        for (int64_t j = 0; j < nx && bounded; j++) {
            push(b, b->column, -draw_barrier(b) - b->param);
            end_column(b);
        }
    }
}

static void fill_ocp(builder *b)
{
    fill_stages(b, false);
}

static void fill_mpc(builder *b)
{
    fill_stages(b, true);
}

#define HUGE_P 1e6
#define SHIFT "shift, subtracted from the diagonal"
#define CONTRAST "spread of the coefficients exp(P g), g normal"
#define BETA "weight beta of the control"
#define DECADES "spread of the diagonal 10^(P u), u uniform in -1..1"
#define POINTS "grid points per wavelength"
#define DELTA "regularisation, -P on the diagonal of the multipliers"

/* The public row, and how to make it: dimensions, unknowns a point (or how they are counted otherwise), most
 * entries in a column on average, what fills them in. */
enum { STAGGERED = -1, IPM = -2, OCP = -3, MPC = -4 };
#define RECIPE(name, what, parameter, value, least, most, n, least_n, random, axes, unknowns, entries, fill) \
    {                                                                                                        \
        {name, what, parameter, value, least, most, n, least_n, random}, axes, unknowns, entries, fill       \
    }
static const struct recipe {
    family about;
    int axes, unknowns, per_column;
    void (*fill)(builder *b);
} recipes[] = {
    RECIPE("lap2d", "Laplacian, 5-point", SHIFT, 0, -HUGE_P, HUGE_P, "N^2", 1, 0, 2, 1, 3, fill_laplacian),
    RECIPE("lap3d", "Laplacian, 7-point", SHIFT, 0, -HUGE_P, HUGE_P, "N^3", 1, 0, 3, 1, 4, fill_laplacian),
    RECIPE("elas3d", "elasticity-like, 27-point, 3 unknowns per point", SHIFT, 0, -HUGE_P, HUGE_P, "3 N^3", 1,
           0, 3, 3, 28, fill_elasticity),
    RECIPE("stokes2d", "Stokes flow on a staggered grid", "viscosity", 1, 1e-12, 1e12, "3 N^2 - 2 N - 1", 2,
           0, 2, STAGGERED, 4, fill_stokes),
    RECIPE("stokes3d", "Stokes flow on a staggered grid", "viscosity", 1, 1e-12, 1e12, "4 N^3 - 3 N^2 - 1", 2,
           0, 3, STAGGERED, 5, fill_stokes),
    RECIPE("darcy2d", "Darcy flow in a random medium", CONTRAST, 3, 0, 50, "3 N^2 - 2 N - 1", 2, 1, 2,
           STAGGERED, 3, fill_darcy),
    RECIPE("darcy3d", "Darcy flow in a random medium", CONTRAST, 3, 0, 50, "4 N^3 - 3 N^2 - 1", 2, 1, 3,
           STAGGERED, 3, fill_darcy),
    RECIPE("pdeco2d", "optimal control of Poisson's equation", BETA, 1e-4, 1e-100, 1e100, "3 N^2", 1, 0, 2, 3,
           3, fill_control),
    RECIPE("pdeco3d", "optimal control of Poisson's equation", BETA, 1e-4, 1e-100, 1e100, "3 N^3", 1, 0, 3, 3,
           4, fill_control),
    RECIPE("kktz", "[D K; K 0], K a Laplacian, D diagonal with 5 % nonzeros", NULL, 0, 0, 0, "2 N^2", 1, 1, 2,
           2, 3, fill_kktz),
    RECIPE("ipm", "interior-point KKT, N variables, N/2 constraints", DECADES, 4, 0, 100, "3 N / 2", 2, 1, 1,
           IPM, 3, fill_ipm),
    RECIPE("ocp", "optimal control of a chain, N stages", DELTA, 1e-8, 0, 1e100, "N (2 states + inputs)", 1,
           1, 1, OCP, 3, fill_ocp),
    RECIPE("mpc", "interior-point system of predictive control, soft bounds, N stages", DELTA, 1e-8, 0, 1e100,
           "N (4 states + inputs)", 1, 1, 1, MPC, 3, fill_mpc),
    RECIPE("helm2d", "Helmholtz, 5-point", POINTS, 10, 2, HUGE_P, "N^2", 1, 0, 2, 1, 3, fill_helmholtz),
    RECIPE("helm3d", "Helmholtz, 7-point", POINTS, 10, 2, HUGE_P, "N^3", 1, 0, 3, 1, 4, fill_helmholtz),
};
enum { RECIPES = sizeof(recipes) / sizeof(recipes[0]) };

const family *family_at(int k)
{
    return k >= 0 && k < RECIPES ? &recipes[k].about : NULL;
}

static const struct recipe *find_recipe(const char *name)
{
    for (int k = 0; k < RECIPES; k++)
        if (strcmp(name, recipes[k].about.name) == 0) return &recipes[k];
    return NULL;
}

const family *family_find(const char *name)
{
    const struct recipe *r = find_recipe(name);
    return r ? &r->about : NULL;
}

bool family_has_stages(const family *f)
{
    const int unknowns = find_recipe(f->name)->unknowns;
    return unknowns == OCP || unknowns == MPC;
}

/* n for a size, in floating point: exact as long as it is small enough to be made. */
static double rows_of(const struct recipe *r, double size, const family_stages *stages)
{
    const double cells = r->axes == 2 ? size * size : size * size * size;
    switch (r->unknowns) {
    case STAGGERED: return r->axes * (cells - cells / size) + cells - 1.0;
    case IPM: return size + floor(size / 2.0);
    case OCP: return size * (2.0 * (double)stages->states + (double)stages->inputs);
    case MPC: return size * (4.0 * (double)stages->states + (double)stages->inputs);
    default: return r->unknowns * cells;
    }
}

/* The largest size of at most so many rows, one below the least where there is none: by bisection, so that a
 * table row needs no inverse of its formula. */
static int64_t size_within(const struct recipe *r, double rows, const family_stages *stages)
{
    int64_t fits = r->about.least_size - 1, fails = (int64_t)MOST_ROWS + 1;
    while (fails - fits > 1) {
        const int64_t middle = fits + (fails - fits) / 2;
        *(rows_of(r, (double)middle, stages) <= rows ? &fits : &fails) = middle;
    }
    return fits;
}

const family_stages family_stages_default = {4, 2};

int64_t family_size(const char *name, int64_t rows)
{
    const struct recipe *r = find_recipe(name);
    const int64_t size = size_within(r, (double)rows - 1.0, &family_stages_default) + 1;
    const int64_t most = size_within(r, MOST_ROWS, &family_stages_default);
    return size < most ? size : most;
}

int family_axes(const char *name)
{
    return find_recipe(name)->axes;
}

static saddle_status check(const struct recipe *r, const char *name, int64_t size, double param,
                           const family_stages *stages, char *message)
{
    if (!r) {
        int used =
            snprintf(message, SADDLE_MESSAGE_SIZE, "there is no family \"%.40s\"; the families are", name);
        for (int k = 0; k < RECIPES; k++)
            used += snprintf(message + used, (size_t)(SADDLE_MESSAGE_SIZE - used), "%s %s", k ? "," : "",
                             recipes[k].about.name);
        return SADDLE_BAD_ARGUMENT;
    }
    const family *f = &r->about;
    if (family_has_stages(f) &&
        (stages->inputs < 1 || stages->inputs > stages->states || stages->states > FAMILY_MOST_STATES)) {
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "%s: %lld states and %lld inputs: the states must be in 1..%d, the inputs in 1..states",
                 name, (long long)stages->states, (long long)stages->inputs, FAMILY_MOST_STATES);
        return SADDLE_BAD_ARGUMENT;
    }
    const int64_t most = size_within(r, MOST_ROWS, stages);
    if (size < f->least_size || size > most) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "%s: the size is %lld, but must be in %lld..%lld (n = %s)",
                 name, (long long)size, (long long)f->least_size, (long long)most, f->dimension);
        return SADDLE_BAD_ARGUMENT;
    }
    if (!f->parameter && !isnan(param)) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "%s has no parameter, but %g was given", name, param);
        return SADDLE_BAD_ARGUMENT;
    }
    if (param < f->least || param > f->most) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "%s: the parameter (%s) is %g, but must be in %g..%g", name,
                 f->parameter, param, f->least, f->most);
        return SADDLE_BAD_ARGUMENT;
    }
    return SADDLE_OK;
}

/* Room for every entry at once: a system that hands out memory page by page gives no more than is
 * written, and what is left over goes back at the end. */
static void allocate(builder *b, int per_column)
{
    const size_t room = (size_t)b->n * (size_t)per_column;
    b->pointers = calloc((size_t)b->n + 1, sizeof(int64_t));
    b->indices = malloc(room * sizeof(int32_t));
    b->values = malloc(room * sizeof(double));
    b->failed = !b->pointers || !b->indices || !b->values;
}

static void trim(builder *b)
{
    const size_t kept = b->entries > 0 ? (size_t)b->entries : 1;
    int32_t *indices = realloc(b->indices, kept * sizeof(int32_t));
    double *values = realloc(b->values, kept * sizeof(double));
    if (indices) b->indices = indices;
    if (values) b->values = values;
}

saddle_status family_generate(const char *name, int64_t size, double param, uint64_t seed, saddle_matrix *A,
                              char *message)
{
    return family_generate_stages(name, size, &family_stages_default, param, seed, A, message);
}

saddle_status family_generate_stages(const char *name, int64_t size, const family_stages *stages,
                                     double param, uint64_t seed, saddle_matrix *A, char *message)
{
    char unheard[SADDLE_MESSAGE_SIZE];
    if (!message) message = unheard;
    memset(A, 0, sizeof(*A));
    const struct recipe *r = find_recipe(name);
    const saddle_status status = check(r, name, size, param, stages, message);
    if (status != SADDLE_OK) return status;

    builder b = {
        .size = size, .axes = r->axes, .param = isnan(param) ? r->about.value : param, .stages = *stages};
    b.n = (int64_t)rows_of(r, (double)size, stages);
    b.random = random_begin(seed);
    allocate(&b, r->per_column);
    if (!b.failed) r->fill(&b);
    if (b.failed) {
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "%s: out of memory for a matrix of %lld rows; choose a smaller size", name, (long long)b.n);
        free(b.pointers);
        free(b.indices);
        free(b.values);
        return SADDLE_OUT_OF_MEMORY;
    }
    while (b.column < b.n) end_column(&b); /* columns that have nothing below the diagonal */
    trim(&b);
    *A = (saddle_matrix){.size = sizeof(saddle_matrix),
                         .rows = b.n,
                         .columns = b.n,
                         .entries = b.entries,
                         .layout = SADDLE_COLUMNS,
                         .shape = SADDLE_LOWER,
                         .type = SADDLE_DOUBLE,
                         .base = 0,
                         .pointer_bits = 64,
                         .pointers = b.pointers,
                         .indices = b.indices,
                         .values = b.values};
    return SADDLE_OK;
}

/* A view's arrays are const; these are ours, and the way over an integer drops that without a
 * warning. */
static void free_const(const void *block)
{
    free((void *)(uintptr_t)block);
}

void family_free(saddle_matrix *A)
{
    free_const(A->pointers);
    free_const(A->indices);
    free_const(A->values);
    memset(A, 0, sizeof(*A));
}
