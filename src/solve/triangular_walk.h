/*
 * A block of k right-hand sides through the tree, in one precision: included twice by triangular.c.
 * `real`, NAME(x) and SINGULAR (a determinant that is rounding) are defined there.
 */

/* w1 = D^-1 w1, a 2x2 pivot by its inverse with the largest entry divided out; zero pivots give 0. */
static void NAME(apply_inverse)(const sd_front *front, int32_t k, real *w)
{
    const real *d = front->d;
    for (int32_t j = 0; j < front->eliminated; ++j) {
        real *row = w + (int64_t)j * k;
        if (d[2 * j + 1] == 0) {
            const real inverse = d[2 * j] == 0 ? 0 : 1 / d[2 * j];
            for (int32_t r = 0; r < k; ++r) row[r] *= inverse;
            continue;
        }
        const real b = d[2 * j + 1], a = d[2 * j] / b, c = d[2 * j + 2] / b;
        real in[3]; /* (a 1; 1 c) b: its inverse is (c -1; -1 a) / (b (a c - 1)) */
        const real determinant = a * c - 1;
        if (determinant > SINGULAR || determinant < -SINGULAR) {
            const real scale = 1 / determinant / b;
            in[0] = c * scale, in[1] = -scale, in[2] = a * scale;
        } else { /* of rank one: its pseudo-inverse is itself over its trace squared */
            const real trace = a + c, scale = 1 / trace / trace / b;
            in[0] = a * scale, in[1] = scale, in[2] = c * scale;
        }
        real *next = row + k;
        for (int32_t r = 0; r < k; ++r) {
            const real p = row[r], q = next[r];
            row[r] = in[0] * p + in[1] * q;
            next[r] = in[1] * p + in[2] * q;
        }
        ++j;
    }
}

/* Adds what a child hands up to the vector of its parent. */
static void NAME(add_handed)(const walk *s, int32_t parent, int32_t child, const real *handed, real *w)
{
    const sd_tree *t = s->f->tree;
    const int32_t k = s->k, below = sd_front_below(t, child), shift = s->f->front[parent].delays;
    const int32_t *place = t->place + t->row_ptr[child];
    for (int32_t i = 0; i < below; ++i) {
        real *row = w + (int64_t)(shift + place[i]) * k;
        for (int32_t r = 0; r < k; ++r) row[r] += handed[(int64_t)i * k + r];
    }
}

/* The vector of a front: children add to it in the order before pivoting, so it begins with 0. */
static void NAME(begin_front)(const walk *s, int32_t f, real *w)
{
    memset(w, 0, (size_t)s->f->front[f].rows * (size_t)s->k * sizeof *w);
}

/* The fully summed rows get what x has of their variables, in the order of the pivots; then L^-1 and D^-1.
 * They go back to x, those that were not eliminated too, for the parent; the others to `handed`. */
static void NAME(end_front)(const walk *s, int32_t f, real *w, real *handed)
{
    const sd_front *front = &s->f->front[f];
    const int32_t k = s->k, own = s->f->tree->first[f];
    real *x = s->x;
    for (int32_t i = front->delays; i < front->columns; ++i) { /* what children handed to own columns */
        real *row = x + (int64_t)(own + i - front->delays) * k;
        for (int32_t r = 0; r < k; ++r) row[r] += w[(int64_t)i * k + r];
    }
    for (int32_t i = 0; i < front->columns; ++i)
        memcpy(w + (int64_t)i * k, x + (int64_t)front->variable[i] * k, (size_t)k * sizeof *w);
    s->f->kernels->forward(front, k, w);
    if (s->parts & SD_SOLVE_DIAGONAL) NAME(apply_inverse)(front, k, w);
    for (int32_t i = 0; i < front->columns; ++i)
        memcpy(x + (int64_t)front->variable[i] * k, w + (int64_t)i * k, (size_t)k * sizeof *w);
    if (handed)
        memcpy(handed, w + (int64_t)front->columns * k,
               (size_t)(front->rows - front->columns) * (size_t)k * sizeof *w);
}

static int64_t NAME(children_room)(const walk *s, int32_t f)
{
    const sd_tree *t = s->f->tree;
    int64_t rows = 0;
    for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e) rows += sd_front_below(t, t->child[e]);
    return rows * s->k;
}

/* The fronts of a group; what they hand up waits on a stack with two ends (plan/groups.c). */
static void NAME(forward_group)(const walk *s, int32_t g, void *scratch)
{
    const sd_tree *t = s->f->tree;
    real *w = scratch, *low = w + s->room->largest * s->k, *high = low + s->room->stack * s->k;
    for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) {
        const int64_t waiting = NAME(children_room)(s, f), own = (int64_t)sd_front_below(t, f) * s->k;
        real *from = t->odd[f] ? low - waiting : high + waiting, *handed = NULL;
        NAME(begin_front)(s, f, w);
        for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e) {
            const int64_t rows = (int64_t)sd_front_below(t, t->child[e]) * s->k;
            if (!t->odd[f]) from -= rows;
            NAME(add_handed)(s, f, t->child[e], from, w);
            if (t->odd[f]) from += rows;
        }
        if (t->odd[f])
            low -= waiting;
        else
            high += waiting;
        if (s->room->slot[f] >= 0) {
            handed = (real *)s->handed + s->room->slot[f] * s->k;
        } else if (t->parent[f] >= 0 && t->odd[f]) {
            handed = high -= own;
        } else if (t->parent[f] >= 0) {
            handed = low;
            low += own;
        }
        NAME(end_front)(s, f, w, handed);
    }
}

static void NAME(forward_top)(const walk *s, int32_t f, void *scratch)
{
    const sd_tree *t = s->f->tree;
    real *w = scratch, *handed = s->handed;
    NAME(begin_front)(s, f, w);
    for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e)
        NAME(add_handed)(s, f, t->child[e], handed + s->room->slot[t->child[e]] * s->k, w);
    NAME(end_front)(s, f, w, s->room->slot[f] < 0 ? NULL : handed + s->room->slot[f] * s->k);
}

static void NAME(backward_front)(const walk *s, int32_t f, void *scratch)
{
    const sd_tree *t = s->f->tree;
    const sd_front *front = &s->f->front[f];
    const int32_t k = s->k;
    const size_t row = (size_t)k * sizeof(real);
    real *w = scratch, *x = s->x;
    const int32_t *rows = t->rows + t->row_ptr[f];
    for (int32_t i = 0; i < front->columns; ++i)
        memcpy(w + (int64_t)i * k, x + (int64_t)front->variable[i] * k, row);
    for (int32_t i = front->columns; i < front->rows; ++i)
        memcpy(w + (int64_t)i * k, x + (int64_t)rows[i - front->columns] * k, row);
    s->f->kernels->backward(front, k, w);
    for (int32_t i = 0; i < front->eliminated; ++i)
        memcpy(x + (int64_t)front->variable[i] * k, w + (int64_t)i * k, row);
}

/* D^-1 alone. */
static void NAME(diagonal_front)(const walk *s, int32_t f, void *scratch)
{
    const sd_front *front = &s->f->front[f];
    const int32_t k = s->k;
    const size_t row = (size_t)k * sizeof(real);
    real *w = scratch, *x = s->x;
    for (int32_t i = 0; i < front->eliminated; ++i)
        memcpy(w + (int64_t)i * k, x + (int64_t)front->variable[i] * k, row);
    NAME(apply_inverse)(front, k, w);
    for (int32_t i = 0; i < front->eliminated; ++i)
        memcpy(x + (int64_t)front->variable[i] * k, w + (int64_t)i * k, row);
}

/* Between columns of doubles and a block by rows, ROWS of them at a time, which stay in the cache. */
static void NAME(gather)(const double *x, int64_t ldx, int32_t n, int32_t k, void *block)
{
    real *to = block;
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t end = n - first < ROWS ? n : first + ROWS;
        for (int32_t r = 0; r < k; ++r)
            for (int64_t i = first; i < end; ++i) to[i * k + r] = (real)x[r * ldx + i];
    }
}

static void NAME(scatter)(const void *block, int32_t n, int32_t k, double *x, int64_t ldx)
{
    const real *from = block;
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t end = n - first < ROWS ? n : first + ROWS;
        for (int32_t r = 0; r < k; ++r)
            for (int64_t i = first; i < end; ++i) x[r * ldx + i] = from[i * k + r];
    }
}

/* The same through a frame, whose columns from `at` on these are. A power of two goes in two steps: one alone
 * may lie outside the range of doubles. */
static void NAME(gather_frame)(const sd_solve_frame *q, int64_t at, const double *r, int64_t ldr, int32_t n,
                               int32_t k, void *block)
{
    real *to = block;
    const double *scale = q->scale + q->in;
    const int32_t *position = q->position + q->in;
    if (q->count < n) memset(to, 0, (size_t)n * (size_t)k * sizeof *to);
    for (int64_t first = 0; first < q->count; first += ROWS) {
        const int64_t end = q->count - first < ROWS ? q->count : first + ROWS;
        for (int32_t c = 0; c < k; ++c) {
            const int shift = -q->shift_in[at + c];
            const double half = ldexp(1, shift / 2), rest = ldexp(1, shift - shift / 2);
            for (int64_t i = first; i < end; ++i)
                to[(int64_t)position[i] * k + c] = (real)(scale[i] * r[c * ldr + i] * half * rest);
        }
    }
}

static void NAME(scatter_frame)(const sd_solve_frame *q, int64_t at, const void *block, int32_t k, double *z,
                                int64_t ldz)
{
    const real *from = block;
    const double *scale = q->scale + q->out;
    const int32_t *position = q->position + q->out;
    for (int64_t first = 0; first < q->count; first += ROWS) {
        const int64_t end = q->count - first < ROWS ? q->count : first + ROWS;
        for (int32_t c = 0; c < k; ++c) {
            const int shift = q->shift_out[at + c];
            const double half = ldexp(1, shift / 2), rest = ldexp(1, shift - shift / 2);
            for (int64_t i = first; i < end; ++i)
                z[c * ldz + i] = scale[i] * from[(int64_t)position[i] * k + c] * half * rest;
        }
    }
}

static const walker NAME(walker) = {NAME(forward_group),  NAME(forward_top),  NAME(backward_front),
                                    NAME(diagonal_front), NAME(gather),       NAME(scatter),
                                    NAME(gather_frame),   NAME(scatter_frame)};
