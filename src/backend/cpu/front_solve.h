/*
 * Solves with the L of a front, and its largest entry. Included once a precision, after front_vector.h.
 *
 * One right-hand side: the panel is read once, four columns at a time: axpys forward, dot products backward,
 * whose sums run in a fixed number of lanes. Several right-hand sides lie side by side in each row of w, so
 * that the vectors run over them. Columns are taken in blocks; the triangle of a block is solved in slivers,
 * everything else is a product C -= A B with A a part of L or L', in tiles of registers.
 */
enum {
    NAME(AXPYS) = 4,    /* columns at a time, one right-hand side */
    NAME(BLOCK) = 64,   /* columns of a block, several right-hand sides */
    NAME(SLIVER) = 8,   /* columns solved by plain loops */
    NAME(STRETCH) = 128 /* rows whose part of L stays in cache while all right-hand sides go by */
};

static double NAME(largest)(const sd_front *f)
{
    const NAME(vec) zero = {0};
    NAME(vec) largest = {0}, finite = {0};
    for (int32_t j = 0; j < f->eliminated; ++j) {
        const real *l = (const real *)f->panel + j * f->ld;
        for (int32_t i = j + 1; i < f->rows; i += NAME(LANES)) {
            const int32_t left = f->rows - i;
            const NAME(vec) v = left < NAME(LANES) ? NAME(load_part)(l + i, left) : NAME(load)(l + i);
            largest = NAME(larger)(NAME(absolute)(v), largest);
            finite = NAME(minus_product)(finite, NAME(absolute)(v), zero);
        }
    }
    real most = NAME(largest_lane)(largest);
    if (NAME(sum_lanes)(finite) == 0) return (double)most;
    for (int32_t j = 0; j < f->eliminated; ++j) /* infinite or NaN: which of the two? */
        for (int32_t i = j + 1; i < f->rows; ++i) {
            const real l = ((const real *)f->panel)[i + j * f->ld];
            if (l != l) return (double)l;
        }
    return (double)most;
}

/* w -= L x over n rows, `count` columns of L. */
static inline __attribute__((always_inline)) void NAME(subtract_axpys)(int32_t n, const real *l, int64_t ld,
                                                                       int count, const real *x, real *w)
{
    NAME(vec) factor[NAME(AXPYS)];
    UNROLL
    for (int c = 0; c < count; ++c) factor[c] = NAME(all)(x[c]);
    int32_t i = 0;
    for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
        NAME(vec) sum = NAME(load)(w + i);
        UNROLL
        for (int c = 0; c < count; ++c) sum = NAME(minus_product)(sum, NAME(load)(l + i + c * ld), factor[c]);
        NAME(store)(w + i, sum);
    }
    if (i == n) return;
    NAME(vec) sum = NAME(load_part)(w + i, n - i);
    UNROLL
    for (int c = 0; c < count; ++c)
        sum = NAME(minus_product)(sum, NAME(load_part)(l + i + c * ld, n - i), factor[c]);
    NAME(store_part)(w + i, sum, n - i);
}

static void NAME(forward_one)(const sd_front *f, real *w)
{
    const int32_t e = f->eliminated;
    for (int32_t j = 0, end; j < e; j = end) {
        const real *l = (const real *)f->panel + j * f->ld;
        end = e - j < NAME(AXPYS) ? e : j + NAME(AXPYS);
        for (int32_t c = j; c < end; ++c)
            for (int32_t i = c + 1; i < end; ++i) w[i] -= l[i + (c - j) * f->ld] * w[c];
        const int32_t n = f->rows - end;
        switch (end - j) {
        case 1: NAME(subtract_axpys)(n, l + end, f->ld, 1, w + j, w + end); break;
        case 2: NAME(subtract_axpys)(n, l + end, f->ld, 2, w + j, w + end); break;
        case 3: NAME(subtract_axpys)(n, l + end, f->ld, 3, w + j, w + end); break;
        default: NAME(subtract_axpys)(n, l + end, f->ld, 4, w + j, w + end); break;
        }
    }
}

/* x -= L' w over n rows, `count` columns of L; two sums a column, in turn. */
static inline __attribute__((always_inline)) void NAME(subtract_dots)(int32_t n, const real *l, int64_t ld,
                                                                      int count, const real *w, real *x)
{
    enum { L = NAME(LANES) };
    NAME(vec) even[NAME(AXPYS)] = {{0}}, odd[NAME(AXPYS)] = {{0}};
    int32_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L) {
        const NAME(vec) a = NAME(load)(w + i), b = NAME(load)(w + i + L);
        UNROLL
        for (int c = 0; c < count; ++c) {
            even[c] = NAME(minus_product)(even[c], NAME(load)(l + i + c * ld), a);
            odd[c] = NAME(minus_product)(odd[c], NAME(load)(l + i + L + c * ld), b);
        }
    }
    for (; i < n; i += L) {
        const int part = n - i < L ? n - i : L;
        const NAME(vec) a = NAME(load_part)(w + i, part);
        UNROLL
        for (int c = 0; c < count; ++c)
            even[c] = NAME(minus_product)(even[c], NAME(load_part)(l + i + c * ld, part), a);
    }
    UNROLL
    for (int c = 0; c < count; ++c) x[c] += NAME(sum_lanes)(even[c] + odd[c]);
}

static void NAME(backward_one)(const sd_front *f, real *w)
{
    for (int32_t end = f->eliminated, j; end > 0; end = j) {
        j = (end - 1) / NAME(AXPYS) * NAME(AXPYS);
        const real *l = (const real *)f->panel + j * f->ld;
        const int32_t n = f->rows - end;
        switch (end - j) {
        case 1: NAME(subtract_dots)(n, l + end, f->ld, 1, w + end, w + j); break;
        case 2: NAME(subtract_dots)(n, l + end, f->ld, 2, w + end, w + j); break;
        case 3: NAME(subtract_dots)(n, l + end, f->ld, 3, w + end, w + j); break;
        default: NAME(subtract_dots)(n, l + end, f->ld, 4, w + end, w + j); break;
        }
        for (int32_t c = end - 1; c >= j; --c)
            for (int32_t i = c + 1; i < end; ++i) w[c] -= l[i + (c - j) * f->ld] * w[i];
    }
}

/* C -= A B with C of m x k and B of p x k by rows of k numbers, A a part of L or of L'. */
typedef struct NAME(rows_product) {
    const real *l;
    int64_t ld;
    const real *b;
    real *c;
    int32_t k, p;
} NAME(rows_product);

/* The tile of `count` rows from i and `vectors` vectors from r, or, for a tail, one of `part` lanes. */
static inline __attribute__((always_inline)) void NAME(rows_tile)(const NAME(rows_product) * m, int32_t i,
                                                                  int32_t r, int count, int vectors,
                                                                  bool tail, int part, bool transposed)
{
    const int64_t down = transposed ? m->ld : 1, across = transposed ? 1 : m->ld;
    NAME(vec) sum[NAME(SLIVER)][2];
    const real *a = m->l + i * down, *b = m->b + r;
    real *to = m->c + (int64_t)i * m->k + r;
    UNROLL
    for (int c = 0; c < count; ++c) {
        UNROLL
        for (int v = 0; v < vectors; ++v) {
            const real *from = to + (int64_t)c * m->k + v * NAME(LANES);
            sum[c][v] = tail ? NAME(load_part)(from, part) : NAME(load)(from);
        }
    }
    for (int32_t j = 0; j < m->p; ++j, a += across, b += m->k) {
        NAME(vec) row[2];
        UNROLL
        for (int v = 0; v < vectors; ++v)
            row[v] = tail ? NAME(load_part)(b, part) : NAME(load)(b + v * NAME(LANES));
        if (!transposed && r == 0) __builtin_prefetch(a + 2 * NAME(SLIVER)); /* the columns are far apart */
        UNROLL
        for (int c = 0; c < count; ++c) {
            const NAME(vec) factor = NAME(all)(a[c * down]);
            UNROLL
            for (int v = 0; v < vectors; ++v) sum[c][v] = NAME(minus_product)(sum[c][v], row[v], factor);
        }
    }
    UNROLL
    for (int c = 0; c < count; ++c) {
        UNROLL
        for (int v = 0; v < vectors; ++v) {
            real *back = to + (int64_t)c * m->k + v * NAME(LANES);
            if (tail)
                NAME(store_part)(back, sum[c][v], part);
            else
                NAME(store)(back, sum[c][v]);
        }
    }
}

/* `count` rows from i on, for all right-hand sides. */
static inline __attribute__((always_inline)) void NAME(rows_strip)(const NAME(rows_product) * m, int32_t i,
                                                                   int count, bool transposed)
{
    enum { L = NAME(LANES) };
    int32_t r = 0;
    for (; r + 2 * L <= m->k; r += 2 * L) NAME(rows_tile)(m, i, r, count, 2, false, L, transposed);
    for (; r + L <= m->k; r += L) NAME(rows_tile)(m, i, r, count, 1, false, L, transposed);
    if (r < m->k) NAME(rows_tile)(m, i, r, count, 1, true, m->k - r, transposed);
}

static inline __attribute__((always_inline)) void NAME(subtract_rows)(const NAME(rows_product) * m,
                                                                      int32_t rows, bool transposed)
{
    enum { TALL = WIDTH_BYTES == 64 ? 8 : 4 }; /* 16 registers hold 4 x 2 sums, 32 hold 8 x 2 */
    int32_t i = 0;
    for (; i + TALL <= rows; i += TALL) NAME(rows_strip)(m, i, TALL, transposed);
    for (; i + 2 <= rows; i += 2) NAME(rows_strip)(m, i, 2, transposed);
    for (; i < rows; ++i) NAME(rows_strip)(m, i, 1, transposed);
}

/* C -= L B and C -= L' B for `rows` rows of C. */
static void NAME(subtract_plain)(NAME(rows_product) m, int32_t rows)
{
    NAME(subtract_rows)(&m, rows, false);
}

static void NAME(subtract_transposed)(NAME(rows_product) m, int32_t rows)
{
    NAME(subtract_rows)(&m, rows, true);
}

/* The triangle of columns j .. end - 1, forward: slivers by plain loops, the rest of the block by products.
 */
static void NAME(forward_triangle)(const sd_front *f, int32_t j, int32_t end, int32_t k, real *w)
{
    const real *l = f->panel;
    for (int32_t next; j < end; j = next) {
        next = end - j < NAME(SLIVER) ? end : j + NAME(SLIVER);
        for (int32_t c = j; c < next; ++c)
            for (int32_t i = c + 1; i < next; ++i) {
                const real factor = l[i + c * f->ld], *x = w + (int64_t)c * k;
                real *y = w + (int64_t)i * k;
                for (int32_t r = 0; r < k; ++r) y[r] -= factor * x[r];
            }
        const NAME(rows_product)
            m = {l + next + j * f->ld, f->ld, w + (int64_t)j * k, w + (int64_t)next * k, k, next - j};
        NAME(subtract_plain)(m, end - next);
    }
}

static void NAME(backward_triangle)(const sd_front *f, int32_t first, int32_t end, int32_t k, real *w)
{
    const real *l = f->panel;
    for (int32_t next = end, j; next > first; next = j) {
        j = first + (next - first - 1) / NAME(SLIVER) * NAME(SLIVER);
        const NAME(rows_product)
            m = {l + next + j * f->ld, f->ld, w + (int64_t)next * k, w + (int64_t)j * k, k, end - next};
        NAME(subtract_transposed)(m, next - j);
        for (int32_t c = next - 1; c >= j; --c)
            for (int32_t i = c + 1; i < next; ++i) {
                const real factor = l[i + c * f->ld], *x = w + (int64_t)i * k;
                real *y = w + (int64_t)c * k;
                for (int32_t r = 0; r < k; ++r) y[r] -= factor * x[r];
            }
    }
}

static void NAME(forward)(const sd_front *f, int32_t k, void *w)
{
    if (k == 1) {
        NAME(forward_one)(f, w);
        return;
    }
    real *x = w;
    for (int32_t j = 0, end; j < f->eliminated; j = end) {
        end = f->eliminated - j < NAME(BLOCK) ? f->eliminated : j + NAME(BLOCK);
        NAME(forward_triangle)(f, j, end, k, x);
        const real *l = (const real *)f->panel + j * f->ld;
        const NAME(rows_product) m = {l + end, f->ld, x + (int64_t)j * k, x + (int64_t)end * k, k, end - j};
        NAME(subtract_plain)(m, f->rows - end);
    }
}

static void NAME(backward)(const sd_front *f, int32_t k, void *w)
{
    if (k == 1) {
        NAME(backward_one)(f, w);
        return;
    }
    real *x = w;
    for (int32_t end = f->eliminated, j; end > 0; end = j) {
        j = (end - 1) / NAME(BLOCK) * NAME(BLOCK);
        const real *l = (const real *)f->panel + j * f->ld;
        for (int32_t i = end; i < f->rows; i += NAME(STRETCH)) {
            const int32_t n = f->rows - i < NAME(STRETCH) ? f->rows - i : NAME(STRETCH);
            const NAME(rows_product) m = {l + i, f->ld, x + (int64_t)i * k, x + (int64_t)j * k, k, n};
            NAME(subtract_transposed)(m, end - j);
        }
        NAME(backward_triangle)(f, j, end, k, x);
    }
}
