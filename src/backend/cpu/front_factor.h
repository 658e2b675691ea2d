/*
 * A front factored by panels, and its rest brought up to date. Included once for each precision (fronts.c).
 *
 * Panels of PANEL columns go from left to right (front_panel.h); columns that fail in one go to the end, are
 * tried again when all others are done, as long as that takes a fair part of them, and are left to the
 * sequential kernel (front_sequential.h) then. Without threshold pivoting no column moves.
 */

/* Numbers between columns of the buffer for W: room for whole strips, and not a multiple of a page's half,
 * where columns would fight for the same lines of the cache. */
static int64_t NAME(w_leading)(int32_t rows)
{
    const int64_t line = 64 / sizeof(real), whole = (rows + STRIP_ROWS + line - 1) / line * line;
    return whole % (32 * line) == 0 ? whole + line : whole;
}

static int64_t NAME(numbers)(int64_t bytes)
{
    return (bytes + (int64_t)sizeof(real) - 1) / (int64_t)sizeof(real);
}

static int64_t NAME(solve_pieces)(int32_t rows)
{
    return rows / SOLVE_ROWS + 1;
}

/* The tile, W, the rows that moved, which columns fail: in this order. W has two columns at least, for a 2x2.
 */
static int64_t NAME(work)(int32_t rows, int32_t columns)
{
    const int64_t w = NAME(w_leading)(rows) * (columns < 2 ? 2 : columns < PANEL ? columns : PANEL);
    return NAME(numbers)(sizeof(NAME(tile))) + w + NAME(numbers)(columns * (int64_t)sizeof(int32_t)) +
           NAME(numbers)(NAME(solve_pieces)(rows) * TILE);
}

static NAME(job)
    NAME(job_of)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots, void *work, bool split)
{
    const int32_t n = f->columns;
    NAME(job)
    j = {.f = f,
         .pivoting = pivoting,
         .pivots = pivots,
         .split = split,
         .a = f->panel,
         .d = f->d,
         .ld = f->ld,
         .m = f->rows,
         .n = n,
         .ldw = NAME(w_leading)(f->rows),
         .tile = work};
    j.w = (real *)work + NAME(numbers)(sizeof(NAME(tile)));
    real *moved = j.w + j.ldw * (n < 2 ? 2 : n < PANEL ? n : PANEL);
    j.moved = (int32_t *)(void *)moved;
    j.failing = (unsigned char *)(moved + NAME(numbers)(n * (int64_t)sizeof(int32_t)));
    j.bound = (real)(1 / pivoting->u);
    j.small = (real)pivoting->small;
    return j;
}

/* Every column of [e, n) is tried once. False: a pivot was not positive where all must be. */
static bool NAME(factor_round)(NAME(job) * j)
{
    int32_t untested = j->n;
    while (j->e < untested) {
        const int32_t end = untested - j->e < PANEL ? untested : j->e + PANEL;
        if (!NAME(factor_panel)(j, end)) return false;
        const int32_t failed = end - j->e, ahead = untested - end;
        for (int32_t c = 0; c < failed && c < ahead; ++c) NAME(exchange)(j, j->e + c, untested - 1 - c, 0);
        untested -= failed;
    }
    return true;
}

/* Puts beside every other column of [e, n) the one that its largest entry is with, so that a tile may find
 * 2x2 pivots in it where all its diagonal blocks are zero, as in [0 B; B' 0]. */
static void NAME(pair_up)(NAME(job) * j)
{
    for (int32_t c = j->e; c + 1 < j->n; c += 2) {
        const real *a = j->a + c * j->ld;
        int32_t with = c + 1;
        for (int32_t i = c + 2; i < j->n; ++i)
            if (NAME(fabs)(a[i]) > NAME(fabs)(a[with])) with = i;
        NAME(exchange)(j, c + 1, with, 0);
    }
}

static void NAME(factor)(sd_front *f, const sd_pivoting *pivoting, sd_pivots *pivots, void *work, bool split)
{
    NAME(job) j = NAME(job_of)(f, pivoting, pivots, work, split);
    bool paired = false;
    while (j.e < j.n) {
        const int32_t before = j.e, fair = (j.n - before + RETRY_PART - 1) / RETRY_PART;
        if (!NAME(factor_round)(&j)) break;
        if (j.e - before >= fair) {
            paired = false;
        } else if (!paired && j.n - j.e > 2) {
            NAME(pair_up)(&j);
            paired = true;
        } else {
            NAME(factor_columns)(&j);
            if (pivoting->root) NAME(finish_root)(&j);
            break;
        }
    }
    f->eliminated = j.e;
}

/* ---- the rest ---- */

typedef struct NAME(rest_job) {
    const sd_front *f;
    int32_t from, to; /* pivots */
    real *w;
    int64_t ldw;
} NAME(rest_job);

/* W = L2 D for a piece of the rows. */
static void NAME(multiply_piece)(void *what, int32_t piece)
{
    const NAME(rest_job) *j = what;
    const sd_front *f = j->f;
    const real *d = f->d;
    const int32_t begin = piece * SOLVE_ROWS, q = f->rows - f->columns;
    const int32_t end = q - begin < SOLVE_ROWS ? q : begin + SOLVE_ROWS;
    for (int32_t k = j->from; k < j->to; ++k) {
        const real *l = (const real *)f->panel + k * f->ld + f->columns;
        real *w = j->w + (k - j->from) * j->ldw;
        const real a = d[2 * k], b = d[2 * k + 1];
        if (b == 0) {
            for (int32_t i = begin; i < end; ++i) w[i] = l[i] * a;
            continue;
        }
        const real *l2 = l + f->ld, c = d[2 * k + 2];
        real *w2 = w + j->ldw;
        for (int32_t i = begin; i < end; ++i) {
            w[i] = l[i] * a + l2[i] * b;
            w2[i] = l[i] * b + l2[i] * c;
        }
        ++k;
    }
}

static void NAME(update)(sd_front *f, void *work, bool split)
{
    const int32_t q = f->rows - f->columns;
    const real *d = f->d;
    NAME(rest_job) j = {.f = f, .w = work, .ldw = NAME(w_leading)(q)};
    if (f->eliminated == 0 && f->rest_empty && q > 0)
        memset(f->rest, 0, (size_t)sd_rest_size(q) * sizeof(real));
    for (j.from = 0; j.from < f->eliminated && q > 0; j.from = j.to) {
        j.to = f->eliminated - j.from < PANEL ? f->eliminated : j.from + PANEL;
        if (j.to < f->eliminated && d[2 * j.to - 1] != 0) --j.to; /* not between the halves of a 2x2 */
        each_piece((q + SOLVE_ROWS - 1) / SOLVE_ROWS, NAME(multiply_piece), &j, split);
        NAME(trapezoid)
        rest = {.m = q,
                .n = q,
                .k = j.to - j.from,
                .a = (const real *)f->panel + j.from * f->ld + f->columns,
                .lda = f->ld,
                .b = j.w,
                .ldb = j.ldw,
                .c = f->rest,
                .cleared = f->rest_empty && j.from == 0};
        NAME(subtract)(&rest, split);
    }
    f->rest_empty = false;
}
