/* See quasidefinite.h. */
#include "bench/direct/quasidefinite.h"

#include "bench/bench.h"
#include "bench/peers/timing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The triangle once more, with every diagonal entry there and none of them zero. Columns are sorted: the
 * diagonal comes first. */
static bool replace_zeros(quasidefinite *q, const saddle_matrix *lower, double delta)
{
    const int64_t n = lower->rows, *start = lower->pointers, room = lower->entries + n + 1;
    const double *from = lower->values;
    int64_t *pointers = malloc(((size_t)n + 1) * sizeof *pointers), entries = 0;
    int32_t *indices = malloc((size_t)room * sizeof *indices);
    double *values = malloc((size_t)room * sizeof *values);
    q->owned[0] = pointers;
    q->owned[1] = indices;
    q->owned[2] = values;
    if (!pointers || !indices || !values) return false;
    for (int64_t j = 0; j < n; ++j) {
        int64_t k = start[j];
        const bool stored = k < start[j + 1] && lower->indices[k] == j;
        const double diagonal = stored ? from[k++] : 0.0;
        pointers[j] = entries;
        q->replaced += diagonal == 0.0;
        indices[entries] = (int32_t)j;
        values[entries++] = diagonal == 0.0 ? -delta : diagonal;
        for (; k < start[j + 1]; ++k) {
            indices[entries] = lower->indices[k];
            values[entries++] = from[k];
        }
    }
    pointers[n] = entries;
    q->A = *lower;
    q->A.pointers = pointers;
    q->A.indices = indices;
    q->A.values = values;
    q->A.entries = entries;
    return true;
}

static saddle_status take_matrix(quasidefinite *q, const saddle_matrix *A, double delta, char *message)
{
    saddle_matrix lower;
    memset(&lower, 0, sizeof lower);
    saddle_status status = saddle_convert(A, SADDLE_COLUMNS, SADDLE_LOWER, &q->hooks, &lower, message);
    if (status != SADDLE_OK) return status;
    const int64_t n = lower.rows;
    q->b = malloc(((size_t)n + 1) * sizeof *q->b);
    q->x = malloc(((size_t)n + 1) * sizeof *q->x);
    q->r = malloc(((size_t)n + 1) * sizeof *q->r);
    if (q->b && q->x && q->r && replace_zeros(q, &lower, delta)) {
        for (int64_t i = 0; i < n; ++i) q->x[i] = 1.0;
        status = saddle_multiply(&q->A, 1, q->x, n, q->b, n, 1, &q->hooks, message);
    } else {
        status = SADDLE_OUT_OF_MEMORY;
        snprintf(message, SADDLE_MESSAGE_SIZE, "out of memory for the matrix");
    }
    saddle_matrix_free(&lower, &q->hooks);
    return status;
}

int quasidefinite_open(quasidefinite *q, const char *operand, double delta, bool file,
                       const saddle_hooks *hooks)
{
    char path[4096], message[SADDLE_MESSAGE_SIZE] = "";
    const char *folder = getenv("SADDLE_MATRICES");
    bench_problem p;
    *q = (quasidefinite){.hooks = *hooks};
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", operand);
    const int opened = bench_problem_open(&p, access(path, R_OK) == 0 ? path : operand, hooks);
    if (opened != EXIT_DONE) return opened;
    q->matrix = p.matrix;
    saddle_status status = take_matrix(q, &p.A, delta, message);
    bench_problem_free(&p);
    if (status == SADDLE_OK && file) {
        const int made = bench_temporary(".mtx", q->path, sizeof q->path);
        if (made != EXIT_DONE) {
            q->path[0] = 0;
            quasidefinite_close(q);
            return made;
        }
        status = saddle_write_matrix(q->path, &q->A, operand, message);
    }
    if (status == SADDLE_OK) return EXIT_DONE;
    quasidefinite_close(q);
    return fail(exit_status(status), "%s: %s", operand, message);
}

void quasidefinite_close(quasidefinite *q)
{
    if (q->path[0]) unlink(q->path);
    for (int k = 0; k < 3; ++k) free(q->owned[k]);
    free(q->b);
    free(q->x);
    free(q->r);
    memset(q, 0, sizeof *q);
}

double quasidefinite_error(const quasidefinite *q)
{
    saddle_errors e = {NAN, NAN, NAN};
    const saddle_status status = saddle_measure(&q->A, q->b, q->x, NULL, 1, &q->hooks, &e, NULL);
    return status == SADDLE_OK ? e.backward : NAN;
}

saddle_status calls_begin(saddle_calls *c, quasidefinite *q, const saddle_options *options, const char *words,
                          char *message)
{
    *c = (saddle_calls){.q = q, .options = *options, .info = saddle_info_default()};
    bench_set(&c->options, words);
    saddle_status status = saddle_create(&c->solver, &c->options, &q->hooks, message);
    if (status != SADDLE_OK) return status;
    status = saddle_analyse(c->solver, &q->A);
    if (status == SADDLE_OK) status = saddle_factor(c->solver, &q->A);
    if (status != SADDLE_OK) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", saddle_message(c->solver));
    return status;
}

void calls_end(saddle_calls *c)
{
    saddle_destroy(&c->solver);
}

bool call_factor(void *self)
{
    const saddle_calls *c = self;
    return saddle_factor(c->solver, &c->q->A) == SADDLE_OK;
}

/* Whether the accuracy asked for was reached is told by the errors. */
bool call_solve(void *self)
{
    saddle_calls *c = self;
    const int64_t n = c->q->A.rows;
    const saddle_status status = saddle_solve(c->solver, 1, c->q->b, n, c->q->x, n, &c->info);
    return status == SADDLE_OK || status == SADDLE_NOT_CONVERGED;
}

static bool solve_in_place(void *self, double *x)
{
    const saddle_calls *c = self;
    const int64_t n = c->q->A.rows;
    return saddle_solve_part(c->solver, SADDLE_FORWARD, 1, x, n, NULL) == SADDLE_OK &&
           saddle_solve_part(c->solver, SADDLE_DIAGONAL, 1, x, n, NULL) == SADDLE_OK &&
           saddle_solve_part(c->solver, SADDLE_BACKWARD, 1, x, n, NULL) == SADDLE_OK;
}

bool call_parts(void *self)
{
    const saddle_calls *c = self;
    memcpy(c->q->x, c->q->b, (size_t)c->q->A.rows * sizeof *c->q->x);
    return solve_in_place(self, c->q->x);
}

bool call_parts_refined(void *self)
{
    const saddle_calls *c = self;
    return timing_refined(&c->q->A, solve_in_place, self, c->q->b, c->q->x, c->q->r);
}

bool call_factor_solve(void *self)
{
    return call_factor(self) && call_solve(self);
}

bool call_factor_parts(void *self)
{
    return call_factor(self) && call_parts(self);
}

bool call_once(void *self)
{
    saddle_calls *c = self;
    const saddle_status status = saddle_solve_once(&c->q->A, c->q->b, c->q->x, &c->options, &c->info);
    return status == SADDLE_OK || status == SADDLE_NOT_CONVERGED;
}
