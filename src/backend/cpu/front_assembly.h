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
enum {
    NAME(RUN) = (int)NAME(LANES) > 8 ? (int)NAME(LANES) : 8, /* shorter ones are quicker entry by entry */
    NAME(PIECES) = 256
};

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

/* A store across two lines of cache costs two: longer runs begin with the part of a vector before a line. */
static inline void NAME(add_run)(real *restrict to, const real *restrict from, int32_t n)
{
    int32_t i = 0;
    if (n > 8 * NAME(LANES)) {
        const int part = (int)(-((uintptr_t)to / sizeof(real)) % NAME(LANES));
        if (part) NAME(store_part)(to, NAME(load_part)(to, part) + NAME(load_part)(from, part), part);
        i = part;
    }
    for (; n - i > NAME(LANES); i += NAME(LANES))
        NAME(store)(to + i, NAME(load)(to + i) + NAME(load)(from + i));
    const NAME(vec) sum = NAME(load_part)(to + i, n - i) + NAME(load_part)(from + i, n - i);
    NAME(store_part)(to + i, sum, n - i);
}

static inline void NAME(copy_run)(real *restrict to, const real *restrict from, int32_t n)
{
    int32_t i = 0;
    for (; n - i > NAME(LANES); i += NAME(LANES)) NAME(store)(to + i, NAME(load)(from + i));
    NAME(store_part)(to + i, NAME(load_part)(from + i, n - i), n - i);
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

/* Goes through the columns of a rest: row i of column j is at + i. */
typedef struct NAME(cursor) {
    int64_t at;
    int32_t j, ld;
} NAME(cursor);

static inline NAME(cursor) NAME(cursor_at)(int32_t q, int32_t j)
{
    const int32_t top = j / SD_REST_WIDTH * SD_REST_WIDTH;
    return (NAME(cursor)){sd_rest_at(q, j, j) - j, j, q - top};
}

/* From column j to a later one; mostly the next. */
static inline void NAME(move_to)(NAME(cursor) * c, int32_t q, int32_t j)
{
    if ((c->j ^ j) < SD_REST_WIDTH) { /* the same block */
        c->at += (int64_t)(j - c->j) * c->ld;
        c->j = j;
    } else {
        *c = NAME(cursor_at)(q, j);
    }
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

/* The child's columns from `first` on, into the rest. */
static void NAME(add_to_rest)(sd_front *f, const sd_front *child, const int32_t *place, int32_t first,
                              const NAME(piece) * piece, const NAME(piece) * end)
{
    const int32_t q = child->rows - child->columns, order = f->rows - f->columns;
    const int32_t own = f->columns - f->delays;
    NAME(cursor) from = NAME(cursor_at)(q, first), to = NAME(cursor_at)(order, place[first] - own);
    for (int32_t j = first; j < q; ++j) {
        NAME(move_to)(&from, q, j);
        NAME(move_to)(&to, order, place[j] - own);
        while (piece->end <= j) ++piece;
        NAME(add_column)(f->rest, to.at - own, (const real *)child->rest + from.at, place, j, piece, end);
    }
}

/* The child has every row of the rest, from its row `first` on: copied. */
static void NAME(copy_to_rest)(sd_front *f, const sd_front *child, int32_t first)
{
    const int32_t q = child->rows - child->columns, order = f->rows - f->columns;
    NAME(cursor) from = NAME(cursor_at)(q, first), to = NAME(cursor_at)(order, 0);
    for (int32_t j = 0; j < order; ++j) {
        NAME(move_to)(&from, q, first + j);
        NAME(move_to)(&to, order, j);
        real *column = (real *)f->rest + to.at;
        for (int32_t i = j - j % SD_REST_WIDTH; i < j; ++i) column[i] = 0;
        NAME(copy_run)(column + j, (const real *)child->rest + from.at + first + j, order - j);
    }
}

static void NAME(add_child)(sd_front *f, const sd_front *child, const int32_t *place, int32_t at)
{
    const int32_t q = child->rows - child->columns, own = f->columns - f->delays;
    const int32_t order = f->rows - f->columns;
    NAME(piece) pieces[NAME(PIECES)];
    const int32_t count = NAME(cut)(q, place, pieces);
    const NAME(piece) *piece = pieces, *const end = pieces + count;
    NAME(add_delays)(f, child, place, at, pieces, count);
    if (child->rest_empty || q == 0) return;
    int32_t j = 0;
    NAME(cursor) from = NAME(cursor_at)(q, 0);
    for (; j < q && place[j] < own; ++j) {
        NAME(move_to)(&from, q, j);
        while (piece->end <= j) ++piece;
        NAME(add_column)
        (f->panel, f->delays + (f->delays + place[j]) * f->ld, (const real *)child->rest + from.at, place, j,
         piece, end);
    }
    if (j == q) return;
    if (f->rest_empty && q - j == order) {
        NAME(copy_to_rest)(f, child, j);
    } else {
        if (f->rest_empty) memset(f->rest, 0, (size_t)sd_rest_size(order) * sizeof(real));
        NAME(add_to_rest)(f, child, place, j, piece, end);
    }
    f->rest_empty = false;
}
