/*
 * Assembly of a front: what A and the children have for it. Included once a precision, with `real` and
 * NAME(x) defined.
 *
 * add_child. Row r of the child's rest is row place[r] of the parent, so a column of the child is scattered
 * into one of the parent. Mostly many rows in a row stay neighbours. The rows are therefore cut into pieces
 * once a child: runs, whose places follow one another and which are added as vectors, and what lies between
 * them, which is scattered entry by entry. Columns that meet fully summed ones go into the panel, the others
 * into the rest.
 */
enum { NAME(RUN) = 6, NAME(PIECES) = 256 };

/* Rows first .. end - 1 of a child; `run`: their places follow one another. */
typedef struct NAME(piece) {
    int32_t first, end;
    bool run;
} NAME(piece);

static void NAME(add_entries)(sd_front *f, const sd_front_entries *entries)
{
    for (int32_t k = 0; k < f->columns - f->delays; ++k) {
        real *column = (real *)f->panel + f->delays + (f->delays + k) * f->ld;
        for (int64_t p = entries->ptr[k]; p < entries->ptr[k + 1]; ++p)
            column[entries->row[p]] += (real)entries->value[p];
    }
}

/* Cuts q rows into at most PIECES pieces, the last of which takes what is left; how many. */
static int32_t NAME(cut)(int32_t q, const int32_t *place, NAME(piece) * piece)
{
    int32_t count = 0;
    for (int32_t first = 0; first < q;) {
        int32_t end = first + 1;
        while (end < q && place[end] == place[end - 1] + 1) ++end;
        const bool run = end - first >= NAME(RUN);
        if (count && !run && !piece[count - 1].run)
            piece[count - 1].end = end;
        else
            piece[count++] = (NAME(piece)){first, end, run};
        first = end;
        if (count == NAME(PIECES)) {
            piece[count - 1].run = piece[count - 1].run && end == q;
            piece[count - 1].end = q;
            break;
        }
    }
    return count;
}

static inline void NAME(add_run)(real *restrict to, const real *restrict from, int32_t n)
{
    int32_t i = 0;
    for (; i + NAME(LANES) <= n; i += NAME(LANES))
        NAME(store)(to + i, NAME(load)(to + i) + NAME(load)(from + i));
    if (i < n) {
        const NAME(vec) sum = NAME(load_part)(to + i, n - i) + NAME(load_part)(from + i, n - i);
        NAME(store_part)(to + i, sum, n - i);
    }
}

/* array[start + place[i]] += from[i] for the rows of the pieces from row `first` on. */
static inline void NAME(add_column)(real *restrict array, int64_t start, const real *restrict from,
                                    const int32_t *place, int32_t first, const NAME(piece) * piece,
                                    const NAME(piece) * end)
{
    for (; piece < end; ++piece) {
        int32_t i = first > piece->first ? first : piece->first;
        if (piece->run) {
            NAME(add_run)(array + start + place[i], from + i, piece->end - i);
            continue;
        }
        for (; i + 4 <= piece->end; i += 4) { /* places differ: loads need not wait for stores */
            real *a = array + start + place[i], *b = array + start + place[i + 1];
            real *c = array + start + place[i + 2], *d = array + start + place[i + 3];
            const real p = *a + from[i], q = *b + from[i + 1], r = *c + from[i + 2], s = *d + from[i + 3];
            *a = p, *b = q, *c = r, *d = s;
        }
        for (; i < piece->end; ++i) array[start + place[i]] += from[i];
    }
}

/* Where column j of a rest of order q begins, counted so that row i is at + i. */
static inline int64_t NAME(rest_column)(int32_t q, int32_t j)
{
    return sd_rest_at(q, j, j) - j;
}

/* The columns that the child did not eliminate become columns `at` and on. */
static void NAME(add_delays)(sd_front *f, const sd_front *child, const int32_t *place, int32_t at,
                             const NAME(piece) * piece, int32_t count)
{
    for (int32_t j = child->eliminated; j < child->columns; ++j) {
        const int32_t k = at + j - child->eliminated;
        const real *from = (const real *)child->panel + j * child->ld;
        real *to = (real *)f->panel + k * f->ld;
        f->variable[k] = child->variable[j];
        NAME(add_run)(to + k, from + j, child->columns - j);
        NAME(add_column)(to, f->delays, from + child->columns, place, 0, piece, piece + count);
    }
}

/* An empty rest takes the child's columns from `first` on, each cleared just before; or, where the child has
 * all its rows, copied. */
static void NAME(fill_rest)(sd_front *f, const sd_front *child, const int32_t *place, int32_t first,
                            const NAME(piece) * piece, const NAME(piece) * end)
{
    const int32_t q = child->rows - child->columns, order = f->rows - f->columns;
    const int32_t own = f->columns - f->delays;
    real *rest = f->rest;
    for (int32_t k = 0, j = first; k < order; ++k) {
        const int32_t top = k - k % SD_REST_WIDTH;
        real *to = rest + NAME(rest_column)(order, k);
        if (j == q || place[j] - own != k) {
            memset(to + top, 0, (size_t)(order - top) * sizeof *to);
            continue;
        }
        const real *from = (const real *)child->rest + NAME(rest_column)(q, j);
        while (piece->end <= j) ++piece;
        if (q - j == order - k) {
            memset(to + top, 0, (size_t)(k - top) * sizeof *to);
            memcpy(to + k, from + j, (size_t)(order - k) * sizeof *to);
        } else {
            memset(to + top, 0, (size_t)(order - top) * sizeof *to);
            NAME(add_column)(to, -own, from, place, j, piece, end);
        }
        ++j;
    }
    f->rest_empty = false;
}

static void NAME(add_child)(sd_front *f, const sd_front *child, const int32_t *place, int32_t at)
{
    const int32_t q = child->rows - child->columns, own = f->columns - f->delays;
    const int32_t order = f->rows - f->columns;
    NAME(piece) pieces[NAME(PIECES)];
    const int32_t count = NAME(cut)(q, place, pieces);
    const NAME(piece) *piece = pieces, *const end = pieces + count;
    NAME(add_delays)(f, child, place, at, pieces, count);
    if (child->rest_empty) return;
    int32_t j = 0;
    for (; j < q && place[j] < own; ++j) {
        const real *from = (const real *)child->rest + NAME(rest_column)(q, j);
        while (piece->end <= j) ++piece;
        NAME(add_column)(f->panel, f->delays + (f->delays + place[j]) * f->ld, from, place, j, piece, end);
    }
    if (j == q) return;
    if (f->rest_empty) {
        NAME(fill_rest)(f, child, place, j, piece, end);
        return;
    }
    for (; j < q; ++j) {
        const real *from = (const real *)child->rest + NAME(rest_column)(q, j);
        while (piece->end <= j) ++piece;
        NAME(add_column)(f->rest, NAME(rest_column)(order, place[j] - own) - own, from, place, j, piece, end);
    }
}
