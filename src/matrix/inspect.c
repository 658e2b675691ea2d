/*
 * What a matrix is: faults, symmetry, diagonal, dominance, norms, and its kind where that can be
 * proved in one pass over the entries.
 *
 * Positive definite for certain: symmetric with a positive diagonal, every row weakly dominant and
 * in each connected component one strictly so (Taussky). Indefinite for certain: a diagonal with
 * both signs, a zero diagonal entry beside a nonzero, or a 2x2 minor a_ii a_jj - a_ij^2 < 0. All
 * else is unknown: a factorization will tell.
 */
#include "matrix/inspect.h"

#include "core/dd.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double MINOR_ROUNDING = 2e-14; /* a minor that is negative by less may be so by rounding */
static const double NEAR = 0x1p+400;        /* squares of numbers between this and its inverse are numbers */

/* Sums over each row, in the whole matrix, of |a_ij| off the diagonal, carried as hi + lo so that
 * a comparison with the diagonal is not decided by rounding. */
typedef struct row_sums {
    double *hi, *lo, *diagonal, *columns;
    int64_t *length; /* nonzeros */
    int32_t *parent; /* components, by union-find */
} row_sums;

int64_t sd_inspect_bytes(const sd_csr *A)
{
    return (int64_t)A->n * (int64_t)(4 * sizeof(double) + sizeof(int64_t) + sizeof(int32_t));
}

static row_sums place_sums(int32_t n, void *room)
{
    row_sums s = {.hi = room};
    memset(room, 0, (size_t)n * (4 * sizeof(double) + sizeof(int64_t)));
    s.lo = s.hi + n;
    s.diagonal = s.lo + n;
    s.columns = s.diagonal + n;
    s.length = (int64_t *)(void *)(s.columns + n);
    s.parent = (int32_t *)(void *)(s.length + n);
    return s;
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void join(int32_t *parent, int32_t i, int32_t j)
{
    const int32_t a = root_of(parent, i), b = root_of(parent, j);
    parent[a > b ? a : b] = a > b ? b : a;
}

static void add_off_diagonal(row_sums *s, int32_t i, double size)
{
    sd_dd_add(&s->hi[i], &s->lo[i], size);
    ++s->length[i];
}

/* The one pass over the entries. */
static void gather(const sd_csr *A, saddle_facts *f, row_sums *s)
{
    double scale = 0, squares = 0; /* the Frobenius norm is scale * sqrt(squares) */
    f->smallest = INFINITY;
    f->missing_diagonal = A->n;
    for (int32_t i = 0; i < A->n; ++i) s->parent[i] = i;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double size = fabs(A->val[k]);
            const int times = A->half && j != i ? 2 : 1;
            f->nnz += times;
            if (j == i) --f->missing_diagonal;
            if (size == 0) {
                f->explicit_zeros += times;
                continue;
            }
            if (size < f->smallest) f->smallest = size;
            if (size > scale) {
                squares = squares * (scale / size) * (scale / size) + times;
                scale = size;
            } else {
                squares += times * (size / scale) * (size / scale);
            }
            const int64_t reach = j > i ? (int64_t)j - i : (int64_t)i - j;
            if (reach > f->bandwidth) f->bandwidth = reach;
            if (!A->half) s->columns[j] += size;
            if (j == i) {
                s->diagonal[i] = A->val[k];
                ++s->length[i];
                continue;
            }
            add_off_diagonal(s, i, size);
            if (A->half) add_off_diagonal(s, j, size);
            join(s->parent, i, j);
        }
    }
    f->largest = scale;
    f->norm_frobenius = scale * sqrt(squares);
    if (isinf(f->smallest)) f->smallest = 0;
}

/* Whether row i is strictly dominant (1), weakly (0) or not (-1). */
static int compare_dominance(const row_sums *s, int32_t i)
{
    double hi = fabs(s->diagonal[i]), lo = -s->lo[i];
    sd_dd_add(&hi, &lo, -s->hi[i]);
    const double difference = hi + lo;
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static void summarise_rows(const sd_csr *A, saddle_facts *f, const row_sums *s)
{
    f->least_dominance = INFINITY;
    f->shortest_row = f->longest_row = A->n > 0 ? s->length[0] : 0;
    for (int32_t i = 0; i < A->n; ++i) {
        const double off = s->hi[i] + s->lo[i], size = fabs(s->diagonal[i]);
        f->zero_diagonal += size == 0;
        f->negative_diagonal += s->diagonal[i] < 0;
        f->empty_rows += s->length[i] == 0;
        if (s->length[i] < f->shortest_row) f->shortest_row = s->length[i];
        if (s->length[i] > f->longest_row) f->longest_row = s->length[i];
        f->dominant_rows += compare_dominance(s, i) > 0;
        if (off > 0 && size / off < f->least_dominance) f->least_dominance = size / off;
        if (off == 0 && size == 0) f->least_dominance = 0;
        if (off + size > f->norm_inf) f->norm_inf = off + size;
        if (!A->half && s->columns[i] > f->norm_one) f->norm_one = s->columns[i];
    }
    if (A->half) f->norm_one = f->norm_inf;
}

/* Roots take the places of lo, which are not needed any more. */
static bool has_negative_minor(const sd_csr *A, row_sums *s)
{
    double *const root = s->lo;
    for (int32_t i = 0; i < A->n; ++i) root[i] = sqrt(fabs(s->diagonal[i])) * (1 + MINOR_ROUNDING / 4);
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            if (j != i && fabs(A->val[k]) > root[i] * root[j]) return true;
        }
    }
    return false;
}

/* Every row weakly dominant, and in each component one strictly. Marks the roots of those in length. */
static bool is_taussky(int32_t n, row_sums *s)
{
    for (int32_t i = 0; i < n; ++i)
        if (compare_dominance(s, i) < 0) return false;
    for (int32_t i = 0; i < n; ++i)
        if (compare_dominance(s, i) > 0) s->length[root_of(s->parent, i)] = -1;
    for (int32_t i = 0; i < n; ++i)
        if (s->length[root_of(s->parent, i)] != -1) return false;
    return true;
}

static saddle_kind kind_of(const sd_csr *A, const saddle_facts *f, row_sums *s)
{
    if (!f->symmetric) return SADDLE_KIND_UNKNOWN;
    const int64_t positive = A->n - f->zero_diagonal - f->negative_diagonal;
    if (positive > 0 && f->negative_diagonal > 0) return SADDLE_KIND_INDEFINITE;
    if (positive == A->n && is_taussky(A->n, s)) return SADDLE_KIND_SPD;
    return has_negative_minor(A, s) ? SADDLE_KIND_INDEFINITE : SADDLE_KIND_UNKNOWN;
}

saddle_status sd_csr_inspect(sd_context *c, const sd_csr *A, saddle_facts *f, void *room)
{
    void *own = NULL;
    bool pattern = true, value = true;
    saddle_status status = SADDLE_OK;
    if (!A->half) status = sd_csr_symmetry(c, A, &pattern, &value, NULL, NULL);
    if (status) return status;
    f->pattern_symmetric = pattern;
    f->symmetric = value;
    if (!room) room = own = sd_alloc(c, sd_inspect_bytes(A), 1, "row sums");
    if (!room) return c->status;
    row_sums s = place_sums(A->n, room);
    gather(A, f, &s);
    summarise_rows(A, f, &s);
    f->kind = kind_of(A, f, &s);
    sd_free(c, own);
    return SADDLE_OK;
}

/* ---- the same in less time, of a half matrix: its rows begin with their diagonal entry, if they have one
 * ----
 */

static bool starts_with_diagonal(const sd_csr *A, int32_t i)
{
    return A->ptr[i] < A->ptr[i + 1] && A->ind[A->ptr[i]] == i;
}
static double diagonal_of(const sd_csr *A, int32_t i)
{
    return starts_with_diagonal(A, i) ? A->val[A->ptr[i]] : 0;
}

static bool is_connected(int32_t n, int32_t *parent)
{
    for (int32_t i = 1; i < n; ++i)
        if (root_of(parent, i) != root_of(parent, 0)) return false;
    return true;
}

/* As `gather`, but only what Taussky's condition needs; of a connected matrix all rows have one root. */
static void gather_dominance(const sd_csr *A, bool connected, row_sums *s)
{
    for (int32_t i = 0; i < A->n; ++i) s->parent[i] = connected ? 0 : i;
    for (int32_t i = 0; i < A->n; ++i) {
        s->diagonal[i] = diagonal_of(A, i);
        for (int64_t k = A->ptr[i] + starts_with_diagonal(A, i); k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double size = fabs(A->val[k]);
            if (size == 0) continue;
            sd_dd_add(&s->hi[i], &s->lo[i], size);
            sd_dd_add(&s->hi[j], &s->lo[j], size);
            if (!connected) join(s->parent, i, j);
        }
    }
}

/* The largest sum of a row of |A|: a row is complete when those above it have been passed. sums is work. */
static double sum_rows(const sd_csr *A, double *sums)
{
    double norm = 0;
    memset(sums, 0, (size_t)A->n * sizeof *sums);
    for (int32_t i = 0; i < A->n; ++i) {
        const bool stored = starts_with_diagonal(A, i);
        double sum = sums[i];
        for (int64_t k = A->ptr[i] + stored; k < A->ptr[i + 1]; ++k) {
            const double size = fabs(A->val[k]);
            sum += size;
            sums[A->ind[k]] += size;
        }
        if (stored) sum += fabs(A->val[A->ptr[i]]);
        norm = sum > norm ? sum : norm;
    }
    return norm;
}

/* The sums of the rows off the diagonal, and whether there is a negative minor, in one pass; squares neither
 * overflow nor vanish. */
static bool sum_rows_and_minors(const sd_csr *A, double *sums, double *diagonal)
{
    bool negative = false;
    memset(sums, 0, (size_t)A->n * sizeof *sums);
    for (int32_t i = 0; i < A->n; ++i) diagonal[i] = fabs(diagonal_of(A, i));
    for (int32_t i = 0; i < A->n; ++i) {
        const double own = diagonal[i] * (1 + MINOR_ROUNDING);
        double sum = sums[i];
        for (int64_t k = A->ptr[i] + starts_with_diagonal(A, i); k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double size = fabs(A->val[k]);
            sum += size;
            sums[j] += size;
            negative |= size * size > own * diagonal[j];
        }
        sums[i] = sum;
    }
    return negative;
}

static double norm_of(const sd_csr *A, const double *sums)
{
    double norm = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        const double row = sums[i] + fabs(diagonal_of(A, i));
        norm = row > norm ? row : norm;
    }
    return norm;
}

/* The largest and the smallest entry, and how many are 0. */
SD_WITH_FMA static int64_t find_extremes(const sd_csr *A, double *largest, double *smallest)
{
    double most = 0, least = INFINITY, zeros = 0;
    const double *const val = A->val;
#pragma omp simd reduction(max : most) reduction(min : least) reduction(+ : zeros)
    for (int64_t k = 0; k < A->nnz; ++k) {
        const double size = fabs(val[k]), positive = size > 0 ? size : INFINITY;
        most = size > most ? size : most;
        least = positive < least ? positive : least;
        zeros += size == 0 ? 1 : 0;
    }
    *largest = most;
    *smallest = most > 0 ? least : 0;
    return (int64_t)zeros;
}

/* Whether a nonzero stands beside a zero of the diagonal: no definite matrix has one. */
static bool has_bare_entry(const sd_csr *A)
{
    for (int32_t i = 0; i < A->n; ++i) {
        const bool bare = diagonal_of(A, i) == 0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k)
            if (A->val[k] != 0 && (bare || diagonal_of(A, A->ind[k]) == 0)) return true;
    }
    return false;
}

/* What sums of rows, with an error of n roundings, tell of Taussky's condition on a matrix with a positive
 * diagonal: 1 every row is strictly dominant, -1 one is not even weakly so, 0 nothing. */
static int glance_at_dominance(const sd_csr *A, const double *sums)
{
    const double error = 2 * (double)A->n * DBL_EPSILON;
    bool strict = true;
    for (int32_t i = 0; i < A->n; ++i) {
        const double difference = diagonal_of(A, i) - sums[i], most = error * sums[i];
        if (difference < -most) return -1;
        strict = strict && difference > most;
    }
    return strict;
}

/* The kind of a half matrix, the diagonal of which is of one sign or zero, with the sums of its rows. What is
 * in doubt is computed anew in the places of the sums. */
static saddle_kind glance_at_kind(const sd_csr *A, const saddle_facts *f, double *sums, bool minor,
                                  bool *connected)
{
    if (f->zero_diagonal > 0 && has_bare_entry(A)) return SADDLE_KIND_INDEFINITE;
    const bool positive = f->zero_diagonal + f->negative_diagonal == 0;
    const int dominance = positive ? glance_at_dominance(A, sums) : -1;
    if (dominance == 0) {
        row_sums s = place_sums(A->n, sums);
        gather_dominance(A, *connected && f->explicit_zeros == 0, &s);
        *connected = *connected || is_connected(A->n, s.parent);
        if (is_taussky(A->n, &s)) return SADDLE_KIND_SPD;
    }
    return dominance == 1 ? SADDLE_KIND_SPD : minor ? SADDLE_KIND_INDEFINITE : SADDLE_KIND_UNKNOWN;
}

static void glance_at_diagonal(const sd_csr *A, saddle_facts *f)
{
    int64_t stored = 0, negative = 0, nonzero = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        const double diagonal = diagonal_of(A, i);
        stored += starts_with_diagonal(A, i);
        negative += diagonal < 0;
        nonzero += diagonal != 0;
    }
    f->negative_diagonal = negative;
    f->zero_diagonal = A->n - nonzero;
    f->nnz = 2 * A->nnz - stored;
    f->explicit_zeros = nonzero - stored; /* as zeros are counted twice, these once too often */
}

saddle_status sd_csr_glance(sd_context *c, const sd_csr *A, sd_glance *at, saddle_facts *f)
{
    void *const room = at->room;
    if (!A->half) return sd_csr_inspect(c, A, f, room);
    const saddle_facts before = *f;
    void *own = room ? NULL : sd_alloc(c, sd_inspect_bytes(A), 1, "row sums");
    if (!room && !own) return c->status;
    double *const sums = room ? room : own;
    bool minor = false;
    f->pattern_symmetric = f->symmetric = true;
    glance_at_diagonal(A, f);
    f->explicit_zeros += 2 * find_extremes(A, &f->largest, &f->smallest);
    const bool told = f->negative_diagonal > 0 && f->negative_diagonal + f->zero_diagonal < A->n;
    const bool proof = at->kind && !told, near = f->largest < NEAR && f->smallest > 1 / NEAR;
    if (proof && near) minor = sum_rows_and_minors(A, sums, sums + A->n);
    f->norm_one = f->norm_inf = !at->norms ? NAN : proof && near ? norm_of(A, sums) : sum_rows(A, sums);
    f->kind = told ? SADDLE_KIND_INDEFINITE : SADDLE_KIND_UNKNOWN;
    if (proof && near) f->kind = glance_at_kind(A, f, sums, minor, &at->connected);
    sd_free(c, own);
    if (!proof || near) return SADDLE_OK;
    *f = before;
    return sd_csr_inspect(c, A, f, room);
}

saddle_status sd_csr_norm(sd_context *c, const sd_csr *A, double *norm)
{
    double *sums = sd_alloc(c, A->n, sizeof *sums, "row sums");
    if (!sums) return c->status;
    *norm = sum_rows(A, sums);
    sd_free(c, sums);
    return SADDLE_OK;
}

saddle_status sd_require_symmetric(sd_context *c, const sd_csr *A)
{
    bool pattern, value;
    int32_t i, j;
    const saddle_status status = sd_csr_symmetry(c, A, &pattern, &value, &i, &j);
    if (status || value) return status;
    /* columns may have been taken for rows: nothing is said that would not hold for both */
    return sd_fail(
        c, SADDLE_BAD_MATRIX,
        pattern ? "the matrix is not symmetric: the entry at row %d, column %d (counted from 1) differs "
                  "from the entry at row %d, column %d"
                : "the matrix is not symmetric: of the entries at row %d, column %d (counted from 1) "
                  "and at row %d, column %d only one is stored",
        i + 1, j + 1, j + 1, i + 1);
}

saddle_status saddle_inspect_sized(const saddle_matrix *given, const saddle_hooks *hooks, saddle_facts *facts,
                                   size_t size, char *message)
{
    sd_context c;
    saddle_matrix A;
    saddle_status status = sd_context_open(&c, hooks);
    if (!status && !facts) status = sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_inspect: facts is NULL");
    if (!status) status = sd_view_take(&c, given, &A);
    if (status) return sd_tell(&c, status, message);
    saddle_facts f = {.size = size, .rows = A.rows, .columns = A.columns, .entries = A.entries};
    sd_csr csr = {0};
    status = sd_view_check(&c, &A, &f);
    if (!status) status = sd_view_check_values(&c, &A, &f.not_finite);
    if (!status) status = sd_csr_from_view(&c, &A, true, &csr, NULL);
    if (!status) {
        f.duplicates = A.entries - csr.nnz;
        status = sd_csr_inspect(&c, &csr, &f, NULL);
    }
    if (!status && A.shape == SADDLE_FULL) status = sd_require_symmetric(&c, &csr);
    sd_csr_free(&c, &csr);
    sd_give(&f, sizeof f, facts, size);
    return sd_tell(&c, status, message);
}
