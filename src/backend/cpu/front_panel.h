/*
 * One outer panel of a front: its columns are tried a tile at a time, accepted where L stays within 1/u.
 * Included once for each precision (fronts.c).
 *
 * The method is the a-posteriori threshold pivoting of Hogg, Ovtchinnikov and Scott ("A sparse symmetric
 * indefinite direct solver for GPU architectures") and Duff, Hogg and Lopez ("A new sparse LDL' solver using
 * a posteriori threshold pivoting"). Columns of a front are in this order:
 *
 *     [0, base) eliminated by earlier panels | [base, e) by this one | [e, g) untested | [g, end) failed in
 * this panel | [end, n) of later panels, and those that failed in earlier ones
 *
 * Columns from e to `end` always hold the Schur complement of [0, e). A step takes the tile of the next
 * columns:
 *
 *     1. the tile is factored by itself, P' X P = L11 D L11' (front_tile.h);
 *     2. the rows below are solved into a buffer, W = A21 P L11^-T, the panel being left as it was, and
 *        L21 = W D^-1 is checked against 1/u;
 *     3. the pivots before the first column that failed (never half of a 2x2) are accepted: L is written into
 *        the panel; the other columns, which are still there, get the accepted pivots subtracted;
 *     4. the columns [tile, end) get W L' subtracted;
 *     5. columns not accepted: zero pivots if they are zero altogether, else to the end of the untested ones.
 *
 * W = L D stays beside L until the panel is done: one product with all its pivots then brings the columns
 * after the panel up to date. Only the lower triangle exists, so a column's entries left of the diagonal are
 * found in its row; all rows from e on count in the check, those of failed columns too.
 *
 * Exchanges of rows in the columns before `base` wait in `moved` and are made together when the panel is
 * done: one at a time each would touch a cache line for every number.
 */

typedef struct NAME(job) {
    sd_front *f;
    const sd_pivoting *pivoting;
    sd_pivots *pivots;
    bool split;
    real *a, *d;
    int64_t ld;
    int32_t m, n;
    int32_t base, e, g, end;
    real *w; /* L D of this panel's pivots: row i of pivot p at [(p - base) ldw + i - base] */
    int64_t ldw;
    int32_t *moved;         /* moved[i]: which row stands at i since the panel began, i from base to n */
    unsigned char *failing; /* of each piece of rows and each column of the tile */
    NAME(tile) * tile;
    real bound, small;
    int32_t accepted;
} NAME(job);

static real *NAME(w_at)(const NAME(job) * j, int32_t row, int32_t pivot)
{
    return j->w + (pivot - j->base) * j->ldw + (row - j->base);
}

/* ---- rows below the tile ---- */

/* L = W D^-1 of a strip, pivots [0, count), into columns ld apart. */
static void NAME(scale_strip)(const NAME(tile) * t, int32_t count, const real *w, int64_t ldw, real *l,
                              int64_t ld)
{
    for (int32_t k = 0; k < count; ++k) {
        const NAME(vec) a = NAME(all)(t->inverse[2 * k]), b = NAME(all)(t->inverse[2 * k + 1]);
        if (t->d[2 * k + 1] == 0) {
            for (int v = 0; v < STRIP_VECTORS; ++v)
                NAME(store)(l + k * ld + v * NAME(LANES), NAME(load)(w + k * ldw + v * NAME(LANES)) * a);
            continue;
        }
        const NAME(vec) c = NAME(all)(t->inverse[2 * k + 2]);
        for (int v = 0; v < STRIP_VECTORS; ++v) {
            const NAME(vec) w1 = NAME(load)(w + k * ldw + v * NAME(LANES));
            const NAME(vec) w2 = NAME(load)(w + (k + 1) * ldw + v * NAME(LANES));
            NAME(store)(l + k * ld + v * NAME(LANES), NAME(plus_product)(w1 * a, w2, b));
            NAME(store)(l + (k + 1) * ld + v * NAME(LANES), NAME(plus_product)(w1 * b, w2, c));
        }
        ++k;
    }
}

/* Marks the columns of L that go beyond the bound in a strip. L is formed as in scale_strip, to the bit. */
static void NAME(check_strip)(const NAME(job) * j, const real *w, unsigned char *failing)
{
    const NAME(tile) *t = j->tile;
    const NAME(vec) bound = NAME(all)(j->bound);
    for (int32_t k = 0; k < t->count; ++k, w += j->ldw) {
        const NAME(vec) a = NAME(all)(t->inverse[2 * k]), b = NAME(all)(t->inverse[2 * k + 1]);
        NAME(bits) good = NAME(within)(NAME(all)(0), bound), also = good;
        if (t->d[2 * k + 1] == 0) {
            UNROLL for (int v = 0; v < STRIP_VECTORS; ++v) good &=
                NAME(within)(NAME(load)(w + v * NAME(LANES)) * a, bound);
            failing[k] |= NAME(any_zero)(good);
            continue;
        }
        const NAME(vec) c = NAME(all)(t->inverse[2 * k + 2]);
        for (int v = 0; v < STRIP_VECTORS; ++v) {
            const NAME(vec) w1 = NAME(load)(w + v * NAME(LANES)),
                            w2 = NAME(load)(w + j->ldw + v * NAME(LANES));
            good &= NAME(within)(NAME(plus_product)(w1 * a, w2, b), bound);
            also &= NAME(within)(NAME(plus_product)(w1 * b, w2, c), bound);
        }
        failing[k] |= NAME(any_zero)(good & also);
        ++k, w += j->ldw;
    }
}

/* The accepted columns of L, and the others brought up to date, of `rows` rows from i on. */
static void NAME(accept_strip)(const NAME(job) * j, int32_t i, int32_t rows)
{
    const NAME(tile) *t = j->tile;
    const real *w = NAME(w_at)(j, i, j->e);
    real *a = j->a + j->e * j->ld + i;
    real rest[TILE * STRIP_ROWS], l[TILE * STRIP_ROWS];
    for (int32_t c = j->accepted; c < t->width; ++c) {
        real *x = rest + (c - j->accepted) * STRIP_ROWS;
        memcpy(x, a + t->order[c] * j->ld, (size_t)rows * sizeof(real));
        for (int32_t k = 0; k < j->accepted; ++k) {
            const real factor = t->lower[k * TILE + c];
            for (int32_t r = 0; r < rows; ++r) x[r] -= w[k * j->ldw + r] * factor;
        }
    }
    if (rows == STRIP_ROWS) {
        NAME(scale_strip)(t, j->accepted, w, j->ldw, a, j->ld);
    } else {
        NAME(scale_strip)(t, j->accepted, w, j->ldw, l, STRIP_ROWS);
        for (int32_t c = 0; c < j->accepted; ++c)
            memcpy(a + c * j->ld, l + c * STRIP_ROWS, (size_t)rows * sizeof(real));
    }
    for (int32_t c = j->accepted; c < t->width; ++c)
        memcpy(a + c * j->ld, rest + (c - j->accepted) * STRIP_ROWS, (size_t)rows * sizeof(real));
}

/* Columns of the tile, permuted, into the buffer; rows that are not there are zeros. */
static void NAME(gather_strip)(const NAME(job) * j, int32_t i, int32_t rows, real *w)
{
    const real *a = j->a + j->e * j->ld + i;
    for (int32_t c = 0; c < j->tile->count; ++c) {
        real *to = w + c * j->ldw;
        const real *from = a + j->tile->order[c] * j->ld;
        if (rows == STRIP_ROWS) {
            for (int v = 0; v < STRIP_VECTORS; ++v)
                NAME(store)(to + v * NAME(LANES), NAME(load)(from + v * NAME(LANES)));
        } else {
            memcpy(to, from, (size_t)rows * sizeof(real));
            memset(to + rows, 0, (size_t)(STRIP_ROWS - rows) * sizeof(real));
        }
    }
}

/* Steps 2 and 3 above, for one piece of the rows below the tile. Where nothing can fail they are one. */
static void NAME(solve_piece)(void *what, int32_t piece)
{
    const NAME(job) *j = what;
    const int32_t below = j->e + j->tile->width, begin = below + piece * SOLVE_ROWS;
    const int32_t end = j->m - begin < SOLVE_ROWS ? j->m : begin + SOLVE_ROWS;
    const bool certain = j->pivoting->rule != SD_PIVOT_THRESHOLD;
    unsigned char *failing = j->failing + (int64_t)piece * TILE;
    memset(failing, 0, TILE);
    for (int32_t i = begin; i < end; i += STRIP_ROWS) {
        const int32_t rows = end - i < STRIP_ROWS ? end - i : STRIP_ROWS;
        real *w = NAME(w_at)(j, i, j->e);
        NAME(gather_strip)(j, i, rows, w);
        NAME(solve_strip)(j->tile, j->tile->count, w, j->ldw);
        if (certain)
            NAME(accept_strip)(j, i, rows);
        else
            NAME(check_strip)(j, w, failing);
    }
}

static void NAME(accept_piece)(void *what, int32_t piece)
{
    const NAME(job) *j = what;
    const int32_t begin = j->e + j->tile->width + piece * SOLVE_ROWS;
    const int32_t end = j->m - begin < SOLVE_ROWS ? j->m : begin + SOLVE_ROWS;
    for (int32_t i = begin; i < end; i += STRIP_ROWS)
        NAME(accept_strip)(j, i, end - i < STRIP_ROWS ? end - i : STRIP_ROWS);
}

/* ---- the tile ---- */

/* How many pivots of the tile hold: those before the first column that failed in any row. */
static int32_t NAME(count_accepted)(const NAME(job) * j, int32_t pieces)
{
    const NAME(tile) *t = j->tile;
    for (int32_t k = 0; k < t->count; ++k) {
        const int32_t both = t->d[2 * k + 1] != 0; /* a 2x2 is marked at its first column */
        bool fails = false;
        for (int32_t p = 0; p < pieces; ++p) fails |= j->failing[(int64_t)p * TILE + k];
        for (int32_t c = k + 1; c < t->width; ++c)
            fails |= !(NAME(fabs)(t->lower[k * TILE + c]) <= j->bound) |
                     (c > k + both && !(NAME(fabs)(t->lower[(k + both) * TILE + c]) <= j->bound));
        if (fails) return k;
        k += both;
    }
    return t->count;
}

/* The rows of the tile itself: L11 of the accepted pivots, and for the rows that are left W and their
 * columns, from the entries that the panel still holds. */
static void NAME(accept_tile)(NAME(job) * j)
{
    NAME(tile) *t = j->tile;
    real *a = j->a + j->e * j->ld + j->e;
    const int32_t count = j->accepted, width = t->width;
    for (int32_t c = count; c < width; ++c)
        for (int32_t r = c; r < width; ++r) {
            const int32_t p = t->order[c], q = t->order[r];
            real x = p < q ? a[p * j->ld + q] : a[q * j->ld + p];
            for (int32_t k = 0; k < count; ++k) x -= t->lower[k * TILE + r] * t->w[k * TILE + p];
            t->x[c * TILE + r] = x;
        }
    for (int32_t c = count; c < width; ++c)
        memcpy(a + c * j->ld + c, t->x + c * TILE + c, (size_t)(width - c) * sizeof(real));
    for (int32_t k = 0; k < count; ++k) {
        memcpy(a + k * j->ld + k + 1, t->lower + k * TILE + k + 1, (size_t)(width - k - 1) * sizeof(real));
        for (int32_t c = count; c < width; ++c)
            *NAME(w_at)(j, j->e + c, j->e + k) = t->w[k * TILE + t->order[c]];
    }
}

/* The tile's order, for the rows of it in columns [base, e), for W, for the variables and for what waits. */
static void NAME(permute_tile)(NAME(job) * j)
{
    const NAME(tile) *t = j->tile;
    real old[TILE];
    int32_t variable[TILE], moved[TILE];
    const size_t width = (size_t)t->width;
    for (int32_t p = j->base; p < j->e; ++p) {
        real *rows[2] = {j->a + p * j->ld + j->e, NAME(w_at)(j, j->e, p)};
        for (int s = 0; s < 2; ++s) {
            memcpy(old, rows[s], width * sizeof *old);
            for (int32_t c = 0; c < t->width; ++c) rows[s][c] = old[t->order[c]];
        }
    }
    memcpy(variable, j->f->variable + j->e, width * sizeof *variable);
    memcpy(moved, j->moved + j->e, width * sizeof *moved);
    for (int32_t c = 0; c < t->width; ++c) {
        j->f->variable[j->e + c] = variable[t->order[c]];
        j->moved[j->e + c] = moved[t->order[c]];
    }
}

static void NAME(count_pivots)(NAME(job) * j)
{
    const NAME(tile) *t = j->tile;
    memcpy(j->d + 2 * (int64_t)j->e, t->d, 2 * (size_t)j->accepted * sizeof(real));
    for (int32_t k = 0; k < j->accepted; ++k) {
        if (t->d[2 * k + 1] != 0) { /* of complete pivoting: one eigenvalue of each sign */
            ++j->pivots->two_by_two, ++j->pivots->positive, ++j->pivots->negative, ++k;
            continue;
        }
        j->pivots->positive += t->d[2 * k] > 0;
        j->pivots->negative += t->d[2 * k] < 0;
        j->pivots->zero += t->d[2 * k] == 0;
    }
}

/* ---- exchanges ---- */

static inline void NAME(swap)(real *a, real *b)
{
    const real x = *a;
    *a = *b;
    *b = x;
}

/* Exchanges columns p and q, which are not eliminated, and their rows in the columns from `from` on. */
static void NAME(exchange)(NAME(job) * j, int32_t p, int32_t q, int32_t from)
{
    if (p == q) return;
    if (p > q) {
        const int32_t t = p;
        p = q, q = t;
    }
    real *a = j->a, *at_p = a + p * j->ld, *at_q = a + q * j->ld;
    for (int32_t k = from; k < p; ++k) NAME(swap)(a + k * j->ld + p, a + k * j->ld + q);
    NAME(swap)(at_p + p, at_q + q);
    for (int32_t k = p + 1; k < q; ++k) NAME(swap)(at_p + k, a + k * j->ld + q);
    for (int32_t i = q + 1; i < j->m; ++i) NAME(swap)(at_p + i, at_q + i);
    const int32_t variable = j->f->variable[p];
    j->f->variable[p] = j->f->variable[q];
    j->f->variable[q] = variable;
}

/* The same inside a panel, where W moves too and columns before `base` wait. */
static void NAME(exchange_in_panel)(NAME(job) * j, int32_t p, int32_t q)
{
    if (p == q) return;
    NAME(exchange)(j, p, q, j->base);
    for (int32_t k = j->base; k < j->e; ++k) NAME(swap)(NAME(w_at)(j, p, k), NAME(w_at)(j, q, k));
    const int32_t moved = j->moved[p];
    j->moved[p] = j->moved[q];
    j->moved[q] = moved;
}

/* Whether column c is zero: its row from e on, and what is below its diagonal. */
static bool NAME(is_zero_column)(const NAME(job) * j, int32_t c)
{
    for (int32_t i = c; i < j->m; ++i)
        if (!(NAME(fabs)(j->a[c * j->ld + i]) <= j->small)) return false;
    for (int32_t k = j->e; k < c; ++k)
        if (!(NAME(fabs)(j->a[k * j->ld + c]) <= j->small)) return false;
    return true;
}

/* Column e becomes a zero pivot. */
static void NAME(zero_pivot)(NAME(job) * j)
{
    memset(j->a + j->e * j->ld + j->e, 0, (size_t)(j->m - j->e) * sizeof(real));
    j->d[2 * (int64_t)j->e] = j->d[2 * (int64_t)j->e + 1] = 0;
    ++j->pivots->zero;
    ++j->e;
}

/* Columns [e, behind) were not accepted: zero pivots, or to the end of the untested ones. */
static void NAME(put_back)(NAME(job) * j, int32_t behind)
{
    for (int32_t c = j->e; c < behind; ++c) {
        if (!NAME(is_zero_column)(j, c)) continue;
        NAME(exchange_in_panel)(j, j->e, c);
        memset(NAME(w_at)(j, j->e, j->e), 0, (size_t)(j->m - j->e) * sizeof(real));
        NAME(zero_pivot)(j);
    }
    const int32_t failed = behind - j->e, untested = j->g - behind;
    for (int32_t c = 0; c < failed && c < untested; ++c) NAME(exchange_in_panel)(j, j->e + c, j->g - 1 - c);
    j->g -= failed;
}

/* ---- the panel ---- */

static void NAME(factor_tile)(NAME(job) * j)
{
    NAME(tile) *t = j->tile;
    const int32_t width = j->g - j->e < TILE ? j->g - j->e : TILE;
    NAME(tile_load)(t, j->a + j->e * j->ld + j->e, j->ld, width);
    switch (j->pivoting->rule) {
    case SD_PIVOT_THRESHOLD: NAME(tile_threshold)(t, j->small); break;
    case SD_PIVOT_POSITIVE: NAME(tile_positive)(t); break;
    case SD_PIVOT_STATIC: NAME(tile_static)(t, j->pivoting, j->f->variable + j->e); break;
    }
}

/* One step. False: a pivot was not positive where all must be. */
static bool NAME(step)(NAME(job) * j)
{
    NAME(factor_tile)(j);
    NAME(tile) *t = j->tile;
    const int32_t behind = j->e + t->width, pieces = (j->m - behind + SOLVE_ROWS - 1) / SOLVE_ROWS;
    j->accepted = t->count;
    if (t->count) each_piece(pieces, NAME(solve_piece), j, j->split);
    if (j->pivoting->rule == SD_PIVOT_THRESHOLD) {
        j->accepted = NAME(count_accepted)(j, pieces);
        if (t->count) each_piece(pieces, NAME(accept_piece), j, j->split);
    }
    NAME(accept_tile)(j);
    if (j->pivoting->rule == SD_PIVOT_THRESHOLD) NAME(permute_tile)(j);
    NAME(count_pivots)(j);
    j->pivots->perturbed += t->perturbed;
    if (j->pivoting->rule == SD_PIVOT_POSITIVE && j->accepted < t->width) {
        j->e += j->accepted;
        return false;
    }
    NAME(trapezoid)
    rest = {.m = j->m - behind,
            .n = j->end - behind,
            .k = j->accepted,
            .a = j->a + j->e * j->ld + behind,
            .lda = j->ld,
            .b = NAME(w_at)(j, behind, j->e),
            .ldb = j->ldw,
            .c = j->a + behind * j->ld + behind,
            .ldc = j->ld};
    if (rest.k && rest.n) NAME(subtract)(&rest, j->split);
    j->e += j->accepted;
    if (j->e < behind) NAME(put_back)(j, behind);
    return true;
}

/* Rows that moved, in the columns of earlier panels, [PERMUTED_COLUMNS piece, ...). */
static void NAME(permute_piece)(void *what, int32_t piece)
{
    const NAME(job) *j = what;
    const int32_t begin = piece * PERMUTED_COLUMNS;
    const int32_t end = j->base - begin < PERMUTED_COLUMNS ? j->base : begin + PERMUTED_COLUMNS;
    real old[PANEL];
    for (int32_t p = begin; p < end; ++p) {
        real *a = j->a + p * j->ld;
        memcpy(old, a + j->base, (size_t)(j->end - j->base) * sizeof(real));
        for (int32_t i = j->base; i < j->end; ++i) a[i] = old[j->moved[i] - j->base];
    }
}

/* Eliminates what it can of columns [e, end), and brings all columns up to date. False as `step`. */
static bool NAME(factor_panel)(NAME(job) * j, int32_t end)
{
    j->base = j->e;
    j->g = j->end = end;
    for (int32_t i = j->base; i < end; ++i) j->moved[i] = i;
    while (j->e < j->g)
        if (!NAME(step)(j)) return false;
    NAME(trapezoid)
    rest = {.m = j->m - end,
            .n = j->n - end,
            .k = j->e - j->base,
            .a = j->a + j->base * j->ld + end,
            .lda = j->ld,
            .b = NAME(w_at)(j, end, j->base),
            .ldb = j->ldw,
            .c = j->a + end * j->ld + end,
            .ldc = j->ld};
    if (rest.k && rest.n) NAME(subtract)(&rest, j->split);
    const int32_t pieces = (j->base + PERMUTED_COLUMNS - 1) / PERMUTED_COLUMNS;
    if (j->pivoting->rule == SD_PIVOT_THRESHOLD) each_piece(pieces, NAME(permute_piece), j, j->split);
    return true;
}
