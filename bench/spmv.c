/* `saddle bench spmv`: y = Ax at one thread and at all, beside a copy of the bytes that the product reads. */
#include "bench/timings.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9 }; /* of a call: enough for the set-up to be told from the products */

/* max_i |y - Ax|_i / (|A| |x|)_i, with Ax summed in long double, for A by rows. */
static double product_error(const saddle_matrix *A, const double *x, const double *y)
{
    const int64_t *start = A->pointers;
    const double *values = A->values;
    double worst = 0.0;
    for (int64_t i = 0; i < A->rows; ++i) {
        long double sum = 0, size = 0;
        for (int64_t k = start[i]; k < start[i + 1]; ++k) {
            const long double term = (long double)values[k] * x[A->indices[k]];
            sum += term;
            size += fabsl(term);
        }
        if (size > 0) worst = fmax(worst, (double)(fabsl(y[i] - sum) / size));
    }
    return worst;
}

static double time_copy(const timings *t, int64_t bytes)
{
    double best = NAN;
    char *from = malloc((size_t)bytes), *to = malloc((size_t)bytes);
    if (from && to) {
        best = INFINITY;
        memset(from, 1, (size_t)bytes);
        memset(to, 2, (size_t)bytes);
        for (int64_t k = 0; k < t->repeat; ++k) {
            const double began = seconds();
            memcpy(to, from, (size_t)bytes);
            /* The copy is used, so that it is made. */
            if (((volatile char *)to)[bytes - 1] != 1) break;
            best = better_time(t, "copy", best, began);
        }
    }
    free(from);
    free(to);
    return best;
}

typedef struct product {
    saddle_matrix A, rows; /* as it was read, and whole, by rows */
    double *x, *y;
    int64_t bytes; /* that a product reads and writes */
} product;

/* The best time of a call with this many columns. */
static saddle_status time_columns(timings *t, product *p, const char *what, int64_t columns, int threads,
                                  double *best, char *message)
{
    *best = INFINITY;
    for (int64_t k = 0; k < t->repeat; ++k) {
        const double began = seconds();
        const saddle_status status =
            saddle_multiply(&p->A, columns, p->x, p->A.rows, p->y, p->A.rows, threads, &t->hooks, message);
        if (status != SADDLE_OK) return status;
        *best = better_time(t, what, *best, began);
    }
    return SADDLE_OK;
}

/* A product is what each further column of a call takes: checks and set-up are made once a call. */
static saddle_status time_product(timings *t, product *p, const char *what, int threads, char *message)
{
    double one, many;
    saddle_status status = time_columns(t, p, what, 1, threads, &one, message);
    if (status == SADDLE_OK) status = time_columns(t, p, what, COLUMNS, threads, &many, message);
    if (status != SADDLE_OK) return status;
    const double each = many > one ? (many - one) / (COLUMNS - 1) : many / COLUMNS;
    add_timing(t, what, each, p->bytes, "copy", product_error(&p->rows, p->x, p->y));
    return SADDLE_OK;
}

static saddle_status begin_product(timings *t, product *p, const char *path, char *message)
{
    random_stream stream = random_begin(1);
    saddle_status status = saddle_read_matrix(path, &t->hooks, &p->A, message);
    if (status != SADDLE_OK) return status;
    status = saddle_convert(&p->A, SADDLE_ROWS, SADDLE_GENERAL, &t->hooks, &p->rows, message);
    if (status != SADDLE_OK) return status;
    t->n = p->A.rows;
    t->entries = p->A.entries;
    p->x = malloc((size_t)(p->A.columns + 1) * COLUMNS * sizeof *p->x);
    p->y = calloc((size_t)(p->A.rows + 1) * COLUMNS, sizeof *p->y);
    if (!p->x || !p->y) return SADDLE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < p->A.columns * COLUMNS; ++i) p->x[i] = random_between(&stream, -1.0, 1.0);
    p->bytes = p->rows.entries * 12 + (p->A.rows + 1) * 8 + (p->A.rows + p->A.columns) * 8;
    return SADDLE_OK;
}

static int measure_spmv(timings *t, const char *path)
{
    product p = {.x = NULL};
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status = begin_product(t, &p, path, message);
    if (status == SADDLE_OK) {
        add_timing(t, "copy", time_copy(t, p.bytes), p.bytes, NULL, NAN);
        status = time_product(t, &p, "y = Ax, 1 thread", 1, message);
    }
    if (status == SADDLE_OK) status = time_product(t, &p, "y = Ax, all threads", 0, message);
    saddle_matrix_free(&p.A, &t->hooks);
    saddle_matrix_free(&p.rows, &t->hooks);
    free(p.x);
    free(p.y);
    if (status == SADDLE_OK) return EXIT_DONE;
    return fail(exit_status(status), "%s", message[0] ? message : saddle_status_text(status));
}

static int run_spmv(const arguments *a)
{
    return timings_run(a, measure_spmv);
}

const command command_spmv = {
    .name = "spmv",
    .operands = "A.mtx[.gz]",
    .help = "y = Ax, compared with a copy of the bytes that it touches",
    .about = "The time of y = Ax, on one thread and on all, compared with a memory copy of as many bytes as "
             "the product touches; the error is the largest |y - Ax| / (|A| |x|) over the rows.",
    .examples = "  saddle bench spmv A.mtx.gz --json -\n",
    .options = timings_options,
    .library = "",
    .least = 1,
    .most = 1,
    .run = run_spmv,
};
