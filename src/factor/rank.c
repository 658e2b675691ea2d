/*
 * Small pivots of a factorization, by the size of their eigenvalues. method/direct/small_pivots.c
 * checks them with z = L'^-1 e_k.
 */
#include "factor/rank.h"

#include "factor/device_fronts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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

static int by_size(const void *a, const void *b)
{
    const sd_suspect *x = a, *y = b;
    if (fabs(x->eigenvalue) != fabs(y->eigenvalue)) return fabs(x->eigenvalue) < fabs(y->eigenvalue) ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->second - y->second;
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

/* The suspects at column j; both eigenvalues of a 2x2 pivot may be. */
static int suspects_at(const sd_factors *f, const sd_run *run, int32_t k, int64_t j, double limit,
                       sd_suspect found[2])
{
    const double a = sd_get_d(f, run, 2 * j), b = sd_get_d(f, run, 2 * j + 1);
    if (b == 0 && (a == 0 || !(fabs(a) <= limit))) return 0; /* as nearly all of them */
    sd_suspect s = {.run = k,
                    .column = (int32_t)j,
                    .position = {run->variable[j], -1},
                    .vector = {1, 0},
                    .eigenvalue = a};
    if (b == 0) {
        found[0] = s;
        return 1;
    }
    /* the smaller one is det / (the larger one), and that is at most the sum of all sizes */
    const double c = sd_get_d(f, run, 2 * j + 2), sizes = fabs(a) + fabs(c) + 2 * fabs(b);
    if (fabs(a * c - b * b) > 2 * limit * sizes) return 0;
    double large;
    s.eigenvalue = small_eigenvalue(a, b, c, s.vector, &large);
    s.position[1] = run->variable[j + 1];
    if (!(fabs(s.eigenvalue) <= limit)) return 0;
    found[0] = found[1] = s;
    found[1].second = true;
    found[1].eigenvalue = large;
    found[1].vector[0] = -s.vector[1];
    found[1].vector[1] = s.vector[0];
    return fabs(large) <= limit ? 2 : 1;
}

bool sd_has_suspects(const sd_factors *f, const sd_run *run)
{
    for (int64_t j = 0; j < run->count; ++j) {
        sd_suspect found[2];
        if (suspects_at(f, run, 0, j, SD_SUSPECT, found) > 0) return true;
        j += sd_get_d(f, run, 2 * j + 1) != 0;
    }
    return false;
}

bool sd_may_have_suspects(const sd_factors *f)
{
    return f->simplicial ? f->simplicial->least <= SD_SUSPECT : f->suspects;
}

int64_t sd_find_suspects(const sd_factors *f, double limit, sd_suspect *suspects, int64_t most)
{
    int64_t kept = 0;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j) {
            sd_suspect found[2];
            const int count = suspects_at(f, &run, k, j, limit, found);
            for (int i = 0; i < count; ++i) add_suspect(suspects, &kept, most, &found[i]);
            j += sd_get_d(f, &run, 2 * j + 1) != 0;
        }
    }
    qsort(suspects, (size_t)kept, sizeof *suspects, by_size);
    return kept;
}

int64_t sd_find_zeros(const sd_factors *f, sd_suspect *zeros, int64_t most)
{
    int64_t count = 0;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j) {
            const double a = sd_get_d(f, &run, 2 * j), b = sd_get_d(f, &run, 2 * j + 1);
            sd_suspect s = {
                .run = k, .column = (int32_t)j, .position = {run.variable[j], -1}, .vector = {1, 0}};
            double large = 1, small = a;
            if (b != 0) {
                small = small_eigenvalue(a, b, sd_get_d(f, &run, 2 * j + 2), s.vector, &large);
                s.position[1] = run.variable[++j];
            }
            if (b == 0 ? a != 0 : fabs(small) > SD_RANK_ONE * fabs(large)) continue;
            if (count < most) zeros[count] = s;
            ++count;
        }
    }
    return count;
}

/* Columns k and k + 1 of L, below the pivot, keep what they have along v; without v column k alone is 0. The
 * rest of a null vector's column is as much rounding as its pivot, and a solve is to take nothing from it. */
static void clear_columns(const sd_factors *f, const sd_suspect *s, const double *v)
{
    const int32_t k = s->column;
    if (f->simplicial) sd_simplicial_clear(f->simplicial, k, v);
    if (f->simplicial || f->precision != SD_DOUBLE) return;
    if (f->device) {
        sd_device_fronts_clear(f, s->run, k, v);
        return;
    }
    const sd_front *front = &f->front[s->run];
    double *l = (double *)front->panel + k * front->ld, *next = l + front->ld;
    for (int32_t i = k + (v ? 2 : 1); i < front->rows; ++i) {
        const double along = v ? v[0] * l[i] + v[1] * next[i] : 0;
        l[i] = v ? along * v[0] : 0;
        if (v) next[i] = along * v[1];
    }
}

void sd_make_zero(sd_factors *f, const sd_suspect *s)
{
    const int32_t k = s->column;
    const sd_run run = sd_run_of(f, s->run);
    if (s->position[1] < 0) {
        sd_put_d(f, s->run, k, 0, 0);
        clear_columns(f, s, NULL);
        return;
    }
    double v[2], large;
    if (s->second) { /* after the smaller one: nothing is left of it */
        sd_put_d(f, s->run, k, 0, 0);
        sd_put_d(f, s->run, k + 1, 0, 0);
        clear_columns(f, s, (const double[2]){0, 0});
        return;
    }
    small_eigenvalue(sd_get_d(f, &run, 2 * (int64_t)k), sd_get_d(f, &run, 2 * (int64_t)k + 1),
                     sd_get_d(f, &run, 2 * (int64_t)k + 2), v, &large);
    sd_put_d(f, s->run, k, large * v[1] * v[1], -large * v[0] * v[1]);
    sd_put_d(f, s->run, k + 1, large * v[0] * v[0], 0);
    clear_columns(f, s, (const double[2]){-v[1], v[0]});
}

bool sd_is_of_rank_one(const sd_factors *f, const sd_suspect *s)
{
    const sd_run run = sd_run_of(f, s->run);
    const int64_t k = 2 * (int64_t)s->column;
    double v[2], large;
    const double a = sd_get_d(f, &run, k), b = sd_get_d(f, &run, k + 1), c = sd_get_d(f, &run, k + 2);
    const double small = small_eigenvalue(a, b, c, v, &large);
    return fabs(small) <= SD_RANK_ONE * fabs(large);
}

void sd_replace_pivot(sd_factors *f, const sd_suspect *s, double value)
{
    sd_put_d(f, s->run, s->column, value, 0);
}

bool sd_split_null_space(const sd_factors *f, bool keep, double *x)
{
    bool any = false;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j) {
            const double a = sd_get_d(f, &run, 2 * j), b = sd_get_d(f, &run, 2 * j + 1);
            double *p = x + run.variable[j];
            if (b == 0) {
                any |= a == 0 && *p != 0;
                if ((a == 0) != keep) *p = 0;
                continue;
            }
            double v[2], large, *q = x + run.variable[++j], along = 0;
            const double small = small_eigenvalue(a, b, sd_get_d(f, &run, 2 * j), v, &large);
            if (fabs(small) <= SD_RANK_ONE * fabs(large)) along = v[0] * *p + v[1] * *q;
            any |= along != 0;
            *p = keep ? along * v[0] : *p - along * v[0];
            *q = keep ? along * v[1] : *q - along * v[1];
        }
    }
    return any;
}

/* Signs of a 2x2 pivot's eigenvalues, -1, 0 or 1. One that is of rank one to rounding is so for solves too.
 */
static void pivot_signs(double a, double b, double c, int signs[2])
{
    const double p = a / b, q = c / b, product = p * q; /* 1 + det / b^2 */
    const int trace = a + c > 0 ? 1 : -1;
    signs[0] = trace;
    signs[1] = product > 1 ? trace : -trace;
    if (fabs(product - 1) <= SD_RANK_ONE) signs[1] = 0;
}

void sd_add_signs(const sd_factors *f, const sd_run *run, int64_t count[3])
{
    for (int64_t j = 0; j < run->count; ++j) {
        const double a = sd_get_d(f, run, 2 * j), b = sd_get_d(f, run, 2 * j + 1);
        if (b == 0) {
            ++count[(a > 0) - (a < 0) + 1];
            continue;
        }
        int signs[2];
        pivot_signs(a, b, sd_get_d(f, run, 2 * ++j), signs);
        ++count[signs[0] + 1];
        ++count[signs[1] + 1];
    }
}

void sd_count_signs(const sd_factors *f, int64_t count[3])
{
    count[0] = count[1] = count[2] = 0;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        sd_add_signs(f, &run, count);
    }
}
