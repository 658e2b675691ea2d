/*
 * Small pivots: from A = L D L' follows A z = d_k l_k for z = L'^-1 e_k, so A has a singular value of at
 * most |d_k| |l_k| / |z|. Where that is no more than rounding, of the size of |L| |D| |L'| where z is, the
 * pivot is as good as zero and A is singular to working precision; a basic solution then sets its D^-1 to 0.
 * For a 2x2 pivot e_k is an eigenvector of it. Here are the candidates; the driver computes z for them
 * (solve/direct.c).
 */
#include "factor/rank.h"

#include <stdlib.h>
#include <string.h>

static double panel_at(const sd_factors *f, const sd_front *front, int32_t i, int32_t j)
{
    const int64_t at = j * front->ld + i;
    return f->precision == SD_DOUBLE ? ((const double *)front->panel)[at]
                                     : (double)((const float *)front->panel)[at];
}

static double d_at(const sd_factors *f, const sd_front *front, int32_t k)
{
    return f->precision == SD_DOUBLE ? ((const double *)front->d)[k] : (double)((const float *)front->d)[k];
}

static void set_d(const sd_factors *f, const sd_front *front, int32_t k, double value)
{
    if (f->precision == SD_DOUBLE)
        ((double *)front->d)[k] = value;
    else
        ((float *)front->d)[k] = (float)value;
}

/* The eigenvalue of (a b; b c) of the smaller size, with its eigenvector; and the larger one. */
static double small_eigenvalue(double a, double b, double c, double vector[2], double *large)
{
    const double half = 0.5 * (a + c), radius = hypot(0.5 * (a - c), b);
    *large = half >= 0 ? half + radius : half - radius;
    const double small = *large == 0 ? 0 : (a / *large) * c - (b / *large) * b;
    double x = b, y = small - a; /* (a - small) x + b y = 0 */
    if (fabs(c - small) > fabs(a - small)) {
        x = small - c;
        y = b;
    }
    const double norm = hypot(x, y);
    vector[0] = norm == 0 ? 1 : x / norm;
    vector[1] = norm == 0 ? 0 : y / norm;
    return small;
}

/* |L v| for a pivot at column j. */
static double column_norm(const sd_factors *f, const sd_front *front, int32_t j, const double v[2])
{
    double sum = v[0] * v[0] + v[1] * v[1];
    const bool pair = v[1] != 0;
    for (int32_t i = j + 1 + pair; i < front->rows; ++i) {
        const double l = v[0] * panel_at(f, front, i, j) + (pair ? v[1] * panel_at(f, front, i, j + 1) : 0);
        sum += l * l;
    }
    return sqrt(sum);
}

static int by_size(const void *a, const void *b)
{
    const sd_suspect *x = a, *y = b;
    if (fabs(x->eigenvalue) != fabs(y->eigenvalue)) return fabs(x->eigenvalue) < fabs(y->eigenvalue) ? -1 : 1;
    if (x->front != y->front) return x->front < y->front ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->larger - y->larger;
}

/* Keeps the smallest `most`: a full array is sorted and its larger half makes room. */
static void add_suspect(sd_suspect *list, int64_t *kept, int64_t most, const sd_suspect *suspect)
{
    if (*kept == most) {
        qsort(list, (size_t)most, sizeof *list, by_size);
        *kept = most / 2;
    }
    list[(*kept)++] = *suspect;
}

/* The suspects at column j of a front: one or two. */
static int suspects_at(const sd_factors *f, int32_t k, int32_t j, sd_suspect found[2])
{
    const sd_front *front = &f->front[k];
    const double a = d_at(f, front, 2 * j), b = d_at(f, front, 2 * j + 1);
    found[0] = (sd_suspect){
        .front = k, .column = j, .position = {front->variable[j], -1}, .vector = {1, 0}, .eigenvalue = a};
    if (b == 0) return a != 0;
    sd_suspect *small = &found[0], *large = &found[1];
    small->position[1] = front->variable[j + 1];
    *large = *small;
    small->eigenvalue = small_eigenvalue(a, b, d_at(f, front, 2 * j + 2), small->vector, &large->eigenvalue);
    large->larger = true;
    large->vector[0] = -small->vector[1];
    large->vector[1] = small->vector[0];
    return 2;
}

int64_t sd_find_suspects(const sd_factors *f, double limit, sd_suspect *suspects, int64_t most)
{
    int64_t kept = 0;
    for (int32_t k = 0; k < f->tree->fronts && most > 0; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j) {
            sd_suspect found[2];
            const int count = suspects_at(f, k, j, found);
            for (int at = 0; at < count; ++at) {
                if (!(fabs(found[at].eigenvalue) <= limit)) continue;
                found[at].column_norm = column_norm(f, front, j, found[at].vector);
                add_suspect(suspects, &kept, most, &found[at]);
            }
            j += count == 2;
        }
    }
    qsort(suspects, (size_t)kept, sizeof *suspects, by_size);
    return kept;
}

/* What the pivot at column j of a front adds to the growth; returns how many columns it has. */
static int add_growth(const sd_factors *f, const sd_front *front, const int32_t *rows, int32_t j,
                      double *growth)
{
    const double a = fabs(d_at(f, front, 2 * j)), b = fabs(d_at(f, front, 2 * j + 1));
    const bool pair = b != 0;
    const double c = pair ? fabs(d_at(f, front, 2 * j + 2)) : 0;
    growth[front->variable[j]] += a;
    if (pair) growth[front->variable[j + 1]] += c;
    for (int32_t i = j + 1 + pair; i < front->rows; ++i) {
        const double l = fabs(panel_at(f, front, i, j)), m = pair ? fabs(panel_at(f, front, i, j + 1)) : 0;
        const int32_t at = i < front->columns ? front->variable[i] : rows[i - front->columns];
        growth[at] += l * (a * l + 2 * b * m) + m * c * m;
    }
    return 1 + pair;
}

void sd_find_growth(const sd_factors *f, double *growth)
{
    memset(growth, 0, (size_t)f->tree->n * sizeof *growth);
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        const int32_t *rows = f->tree->rows + f->tree->row_ptr[k];
        for (int32_t j = 0; j < front->eliminated;) j += add_growth(f, front, rows, j, growth);
    }
}

void sd_make_zero(sd_factors *f, const sd_suspect *s)
{
    const sd_front *front = &f->front[s->front];
    const int32_t k = 2 * s->column;
    const double a = d_at(f, front, k), b = d_at(f, front, k + 1), c = d_at(f, front, k + 2);
    if (s->position[1] < 0) {
        set_d(f, front, k, 0);
        return;
    }
    /* what is left is the other eigenvalue, or nothing where that has gone before */
    double v[2], large, kept = small_eigenvalue(a, b, c, v, &large);
    if (b == 0 || sd_pair_is_singular(a, b, c))
        kept = 0;
    else if (!s->larger) {
        kept = large;
        const double turn = v[0];
        v[0] = -v[1];
        v[1] = turn;
    }
    set_d(f, front, k, kept * v[0] * v[0]);
    set_d(f, front, k + 1, kept * v[0] * v[1]);
    set_d(f, front, k + 2, kept * v[1] * v[1]);
}

void sd_project_null(const sd_factors *f, double *w)
{
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j) {
            const double a = d_at(f, front, 2 * j), b = d_at(f, front, 2 * j + 1);
            if (b == 0) {
                if (a != 0) w[front->variable[j]] = 0;
                continue;
            }
            double *p = &w[front->variable[j]], *q = &w[front->variable[++j]], v[2] = {0, 0}, large;
            const double c = d_at(f, front, 2 * j);
            if (sd_pair_is_singular(a, b, c)) small_eigenvalue(a, b, c, v, &large);
            const double part = v[0] * *p + v[1] * *q;
            *p = part * v[0];
            *q = part * v[1];
        }
    }
}
