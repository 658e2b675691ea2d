/* See sequence.h. */
#include "bench/sequence/sequence.h"

#include "cli/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LAST_MU = 1e-9;
static const double REGULAR = 1e-8; /* of free variables and of equalities, as methods add it */
static const double NOISE = 0.15;   /* decades that a ratio is off the central path */

/* ---- a sequence from a matrix ---- */

/* Where the diagonal is, and what of it stays: all, or, where it is replaced, enough for the block of the
 * variables to be positive definite. */
static void find_diagonal(sequence *s, bool replaced)
{
    const int64_t *start = s->A.pointers, n = s->A.rows;
    const int32_t *row = s->A.indices;
    for (int64_t j = 0; j < n; ++j)
        s->diagonal[j] = start[j] < start[j + 1] && row[start[j]] == j ? start[j] : -1;
    for (int64_t j = 0; j < n; ++j) {
        const double d = s->diagonal[j] >= 0 ? s->values[s->diagonal[j]] : 0;
        s->fixed[j] = replaced ? copysign(fmin(fabs(d), REGULAR), d) : d;
    }
    for (int64_t j = 0; j < n && replaced; ++j) {
        for (int64_t k = start[j]; k < start[j + 1]; ++k) {
            const int32_t i = row[k];
            if (i == j || !(s->fixed[i] > 0 && s->fixed[j] > 0)) continue;
            s->fixed[i] += fabs(s->values[k]);
            s->fixed[j] += fabs(s->values[k]);
        }
    }
}

/* Which rows have bounds, and where they tend to: half are active in the end, a tenth hardly decided. */
static void draw_limits(sequence *s)
{
    const int64_t n = s->A.rows;
    random_stream random = random_begin(s->seed);
    for (int64_t j = 0; j < n; ++j) {
        const double part = (double)j / (double)n, chosen = random_uniform(&random);
        const double kind = random_uniform(&random), size = pow(10, random_between(&random, -2, 2));
        const double d = s->diagonal[j] >= 0 ? s->values[s->diagonal[j]] : 0;
        const bool bounded = d > 0 ? part >= s->rules.first && part < s->rules.last && chosen < s->rules.share
                                   : d < 0 && chosen < s->rules.share;
        s->limit[j] = !bounded || fabs(d) <= REGULAR ? NAN : kind < 0.5 ? -size : kind < 0.9 ? size : 0;
    }
}

bool sequence_is_file(const sequence_rules *rules)
{
    return strstr(rules->operand, ".mtx") || strstr(rules->operand, ".rb");
}

saddle_status sequence_make(const saddle_matrix *K, const sequence_rules *rules, uint64_t seed,
                            const saddle_hooks *hooks, sequence *s, char *message)
{
    *s = (sequence){.rules = *rules, .seed = seed, .hooks = *hooks};
    const saddle_status status = saddle_convert(K, SADDLE_COLUMNS, SADDLE_LOWER, hooks, &s->A, message);
    if (status != SADDLE_OK) return status;
    const size_t n = (size_t)s->A.rows, entries = (size_t)s->A.entries;
    s->values = malloc((entries + 1) * sizeof *s->values);
    s->fixed = malloc((n + 1) * sizeof *s->fixed);
    s->limit = malloc((n + 1) * sizeof *s->limit);
    s->diagonal = malloc((n + 1) * sizeof *s->diagonal);
    if (!s->values || !s->fixed || !s->limit || !s->diagonal) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "out of memory for a sequence");
        return SADDLE_OUT_OF_MEMORY;
    }
    memcpy(s->values, s->A.values, entries * sizeof *s->values);
    find_diagonal(s, sequence_is_file(rules));
    draw_limits(s);
    return SADDLE_OK;
}

void sequence_step(sequence *s, int k)
{
    const double part = (double)k / (SEQUENCE_LENGTH - 1),
                 mu = s->rules.mu * pow(LAST_MU / s->rules.mu, part);
    const bool empty = k == 0 && s->rules.placeholder;
    random_stream random = random_begin(s->seed * (SEQUENCE_LENGTH + 1) + (uint64_t)k);
    for (int64_t j = 0; j < s->A.rows; ++j) {
        const double c = s->limit[j], noise = pow(10, NOISE * random_normal(&random));
        if (isnan(c)) continue;
        const double root = sqrt(c * c + 4 * mu);
        const double x = c >= 0 ? (c + root) / 2 : 2 * mu / (root - c), ratio = noise * mu / (x * x);
        const bool variable = s->fixed[j] > 0;
        const double changed = variable ? s->fixed[j] + s->rules.weight * ratio : s->fixed[j] - 1 / ratio;
        s->values[s->diagonal[j]] = empty ? 0 : changed;
    }
    for (int64_t j = 0; j < s->A.rows; ++j)
        if (isnan(s->limit[j]) && s->diagonal[j] >= 0) s->values[s->diagonal[j]] = s->fixed[j];
}

void sequence_free(sequence *s)
{
    saddle_matrix_free(&s->A, &s->hooks);
    free(s->values);
    free(s->fixed);
    free(s->limit);
    free(s->diagonal);
    *s = (sequence){0};
}

/* ---- optimal control ---- */

enum { STATES = 8, CONTROLS = 3, STEP = STATES + CONTROLS + STATES };

typedef struct triplets {
    int64_t count;
    int32_t *row, *column;
    double *value;
} triplets;

static void put(triplets *t, int64_t i, int64_t j, double value)
{
    t->row[t->count] = (int32_t)(i > j ? i : j);
    t->column[t->count] = (int32_t)(i > j ? j : i);
    t->value[t->count++] = value;
}

/* min sum x'Qx + u'Ru, x_(k+1) = F x_k + G u_k, F and G the same in every step. A step has x, u and the
 * multipliers of the equations of x_k. */
static void fill_lqr(triplets *t, int64_t steps)
{
    random_stream random = random_begin(1);
    double F[STATES][STATES], G[STATES][CONTROLS];
    for (int i = 0; i < STATES; ++i) {
        for (int j = 0; j < STATES; ++j) F[i][j] = (i == j) + 0.1 * random_normal(&random);
        for (int j = 0; j < CONTROLS; ++j) G[i][j] = 0.1 * random_normal(&random);
    }
    for (int64_t k = 0; k < steps; ++k) {
        const int64_t x = k * STEP, u = x + STATES, y = u + CONTROLS;
        for (int i = 0; i < STATES; ++i) put(t, x + i, x + i, i % 2 ? 1 : 0.01);
        for (int i = 0; i < CONTROLS; ++i) put(t, u + i, u + i, 0.1);
        for (int i = 0; i < STATES; ++i) put(t, y + i, x + i, -1);
        for (int i = 0; i < STATES && k + 1 < steps; ++i) {
            for (int j = 0; j < STATES; ++j) put(t, y + STEP + i, x + j, F[i][j]);
            for (int j = 0; j < CONTROLS; ++j) put(t, y + STEP + i, u + j, G[i][j]);
        }
    }
}

saddle_status sequence_lqr(int64_t steps, const saddle_hooks *hooks, saddle_matrix *A, char *message)
{
    const size_t most = (size_t)steps * (2 * STATES + CONTROLS + STATES * (STATES + CONTROLS));
    triplets t = {.row = malloc(most * sizeof *t.row),
                  .column = malloc(most * sizeof *t.column),
                  .value = malloc(most * sizeof *t.value)};
    saddle_status status = SADDLE_OUT_OF_MEMORY;
    if (t.row && t.column && t.value) {
        fill_lqr(&t, steps);
        const saddle_matrix made = {.size = sizeof made,
                                    .rows = steps * STEP,
                                    .columns = steps * STEP,
                                    .entries = t.count,
                                    .layout = SADDLE_COORDINATES,
                                    .shape = SADDLE_LOWER,
                                    .type = SADDLE_DOUBLE,
                                    .indices = t.row,
                                    .col_indices = t.column,
                                    .values = t.value};
        status = saddle_convert(&made, SADDLE_COLUMNS, SADDLE_LOWER, hooks, A, message);
    } else {
        snprintf(message, SADDLE_MESSAGE_SIZE, "out of memory for a control problem");
    }
    free(t.row);
    free(t.column);
    free(t.value);
    return status;
}
