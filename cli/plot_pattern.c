/*
 * The sparsity pattern of a matrix.
 *
 * Entries are counted by sign into bins: one for each entry as long as the matrix has no more rows
 * than the picture has pixels, else one for each pixel. A bin's hue says how many of its entries
 * are positive (blue) or negative (vermillion: the two stay apart for the colour-blind), its shade
 * how full it is, by the logarithm, so that a lone entry still shows beside a dense block.
 *
 * Blocks on the diagonal are a tint under the entries and a line around them, as far as they are large
 * enough to be seen.
 */
#include "cli/axes.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/paths.h"
#include "cli/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 400, MOST_BINS = SIDE, MOST_SQUARES = 160, LEAST_ROWS = 10 };
enum { BLOCK_TINT = 0xf3ecd0, PAIR_TINT = 0xdccb85, BLOCK_LINE = 0x8a7a3a };
static const double LEAST_TINT = 1.5, LEAST_LINE = 5.0; /* sides that can be seen */
enum { POSITIVE, NEGATIVE, ZERO, PLAIN, SIGNS };
static const uint32_t sign_colour[SIGNS] = {BLUE, VERMILLION, GREY, INK};
static const char *const sign_name[SIGNS] = {"positive", "negative", "zero", "entries"};

typedef struct bins {
    int rows, columns;
    uint32_t *count[SIGNS]; /* by rows */
    int64_t total[SIGNS];
} bins;

static int sign_of(const saddle_matrix *A, int64_t entry)
{
    if (!A->values) return PLAIN;
    const double v = A->type == SADDLE_DOUBLE ? ((const double *)A->values)[entry]
                                              : (double)((const float *)A->values)[entry];
    return v > 0 ? POSITIVE : v < 0 ? NEGATIVE : ZERO;
}

static void count_one(const saddle_matrix *A, bins *b, int64_t row, int64_t column, int sign)
{
    const int64_t r = row * b->rows / A->rows, c = column * b->columns / A->columns;
    uint32_t *count = &b->count[sign][r * b->columns + c];
    if (*count < UINT32_MAX) ++*count;
    b->total[sign]++;
}

static void count_entry(const saddle_matrix *A, bins *b, int64_t row, int64_t column, int64_t entry)
{
    const int sign = sign_of(A, entry);
    count_one(A, b, row, column, sign);
    if (row != column && (A->shape == SADDLE_LOWER || A->shape == SADDLE_UPPER))
        count_one(A, b, column, row, sign);
}

static int64_t pointer(const saddle_matrix *A, int64_t k)
{
    return (A->pointer_bits == 64 ? ((const int64_t *)A->pointers)[k] : ((const int32_t *)A->pointers)[k]) -
           A->base;
}

static void count_entries(const saddle_matrix *A, bins *b)
{
    if (A->layout == SADDLE_COORDINATES) {
        for (int64_t e = 0; e < A->entries; e++)
            count_entry(A, b, A->indices[e] - A->base, A->col_indices[e] - A->base, e);
        return;
    }
    const bool by_columns = A->layout == SADDLE_COLUMNS;
    const int64_t lines = by_columns ? A->columns : A->rows;
    for (int64_t k = 0; k < lines; k++)
        for (int64_t e = pointer(A, k); e < pointer(A, k + 1); e++) {
            const int64_t other = A->indices[e] - A->base;
            count_entry(A, b, by_columns ? other : k, by_columns ? k : other, e);
        }
}

static bool make_bins(const saddle_matrix *A, bins *b)
{
    const int64_t largest = A->rows > A->columns ? A->rows : A->columns;
    const double scale = largest > MOST_BINS ? (double)MOST_BINS / (double)largest : 1.0;
    *b = (bins){.rows = (int)ceil(scale * (double)A->rows), .columns = (int)ceil(scale * (double)A->columns)};
    const size_t cells = (size_t)b->rows * (size_t)b->columns;
    bool done = true;
    for (int s = 0; s < SIGNS; s++) {
        b->count[s] = calloc(cells ? cells : 1, sizeof(uint32_t));
        done = done && b->count[s];
    }
    if (done && cells) count_entries(A, b);
    return done;
}

static uint32_t blend(uint32_t from, uint32_t to, double share)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double a = from >> shift & 255, b = to >> shift & 255;
        mixed |= (uint32_t)(a + share * (b - a) + 0.5) << shift;
    }
    return mixed;
}

/* The mean of the signs' colours, weighted by count. */
static uint32_t hue(const bins *b, int64_t k, double *full)
{
    uint32_t colour = 0xffffff;
    *full = 0;
    for (int s = 0; s < SIGNS; s++) {
        if (!b->count[s][k]) continue;
        *full += b->count[s][k];
        colour = blend(colour, sign_colour[s], b->count[s][k] / *full);
    }
    return colour;
}

static double fullest(const bins *b)
{
    double most = 1;
    for (int64_t k = 0; k < (int64_t)b->rows * b->columns; k++) {
        double full = 0;
        for (int s = 0; s < SIGNS; s++) full += b->count[s][k];
        if (full > most) most = full;
    }
    return most;
}

/* What stands on the diagonal, blocks first, then pairs. */
typedef struct marks {
    const plot_blocks *blocks;
    int64_t n, count;
    double row; /* the length of a row in the picture */
} marks;

typedef struct mark {
    int64_t first, rows;
    uint32_t tint;
} mark;

static marks make_marks(const plot_blocks *blocks, int64_t n, double height)
{
    marks m = {blocks, n, 0, n > 0 ? height / (double)n : 0};
    if (blocks) m.count = blocks->blocks + blocks->pairs;
    return m;
}

static mark mark_at(const marks *m, int64_t k)
{
    const plot_blocks *b = m->blocks;
    if (k >= b->blocks) return (mark){b->pair_start[k - b->blocks], 2, PAIR_TINT};
    return (mark){b->block_start[k], b->block_start[k + 1] - b->block_start[k], BLOCK_TINT};
}

static bool tint_seen(const marks *m, mark d)
{
    return d.rows > 1 && m->row * (double)d.rows >= LEAST_TINT;
}

static void draw_tints(picture *p, const marks *m, double x, double y)
{
    for (int64_t k = 0; k < m->count; k++) {
        const mark d = mark_at(m, k);
        const double at = m->row * (double)d.first, side = m->row * (double)d.rows;
        if (tint_seen(m, d)) picture_box(p, x + at, y + at, side, side, d.tint);
    }
}

/* A line around each block, single rows too, where it is large enough. */
static void draw_lines(picture *p, const marks *m, double x, double y)
{
    const double pen = 0.75;
    for (int64_t k = 0; m->blocks && k < m->blocks->blocks; k++) {
        const mark d = mark_at(m, k);
        const double side = m->row * (double)d.rows, left = x + m->row * (double)d.first;
        const double top = y + m->row * (double)d.first;
        const double corners[] = {left,       top,  left + side, top,  left + side,
                                  top + side, left, top + side,  left, top};
        if (d.rows > 1 && side >= LEAST_LINE) picture_line(p, 5, corners, pen, 0, BLOCK_LINE);
    }
}

/* Few enough bins to show each as a square with a gap around it. */
static void draw_squares(picture *p, const bins *b, double x, double y, double cell)
{
    const double gap = cell >= 4 ? fmin(cell / 10, 1.5) : 0;
    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->columns; c++) {
            double full;
            const uint32_t colour = hue(b, (int64_t)r * b->columns + c, &full);
            if (full > 0)
                picture_box(p, x + c * cell + gap / 2, y + r * cell + gap / 2, cell - gap, cell - gap,
                            colour);
        }
}

/* Tints the bins of a diagonal block of rows first .. last, n of them in all. */
static void tint_pixels(const bins *b, uint32_t *pixels, int64_t n, int64_t first, int64_t last,
                        uint32_t tint)
{
    const int64_t from = first * b->rows / n, to = last * b->rows / n;
    for (int64_t r = from; r <= to; r++)
        for (int64_t c = from; c <= to; c++) pixels[r * b->columns + c] = tint;
}

static void draw_shades(picture *p, const bins *b, const marks *m, double x, double y, double width,
                        double height)
{
    const double least = 0.55, most = fullest(b);
    const size_t cells = (size_t)b->rows * (size_t)b->columns;
    uint32_t *pixels = malloc(cells * sizeof(uint32_t));
    for (size_t k = 0; pixels && k < cells; k++) pixels[k] = 0xffffff;
    for (int64_t k = 0; pixels && k < m->count; k++) {
        const mark d = mark_at(m, k);
        if (tint_seen(m, d)) tint_pixels(b, pixels, m->n, d.first, d.first + d.rows - 1, d.tint);
    }
    for (size_t k = 0; pixels && k < cells; k++) {
        double full;
        const uint32_t colour = hue(b, (int64_t)k, &full);
        const double shade = most > 1 ? least + (1 - least) * log(full) / log(most) : 1;
        if (full > 0) pixels[k] = blend(pixels[k], colour, shade);
    }
    picture_image(p, x, y, width, height, b->columns, b->rows, pixels);
}

/* Ticks in the middle of every row and column of a round number, counted from 1. */
static void draw_ticks(picture *p, double x, double y, double width, double height, int64_t rows,
                       int64_t columns)
{
    char text[32];
    const int64_t step = axes_step(rows > columns ? rows : columns, 6);
    for (int64_t t = step; t <= columns; t += step) {
        const double at = x + width * ((double)t - 0.5) / (double)columns;
        picture_box(p, at - FRAME_PEN / 2, y - FRAME_PEN - TICK, FRAME_PEN, TICK, INK);
        picture_text(p, at, y - FRAME_PEN - TICK - 4, LABEL_SIZE, ANCHOR_MIDDLE, INK,
                     count_text(t, text, sizeof(text)));
    }
    for (int64_t t = step; t <= rows; t += step) {
        const double at = y + height * ((double)t - 0.5) / (double)rows;
        axes_tick_left(p, x, at, count_text(t, text, sizeof(text)));
    }
}

/* "name: n = 1,000, 4,960 entries" */
static void draw_title(picture *p, const saddle_matrix *A, const bins *b, const char *name, double x,
                       double width)
{
    char text[400], rows[32], columns[32], entries[32];
    int64_t count = 0;
    for (int s = 0; s < SIGNS; s++) count += b->total[s];
    count_text(A->rows, rows, sizeof(rows));
    count_text(A->columns, columns, sizeof(columns));
    count_text(count, entries, sizeof(entries));
    if (A->rows == A->columns)
        snprintf(text, sizeof(text), "%s: n = %s, %s entries", name, rows, entries);
    else
        snprintf(text, sizeof(text), "%s: %s rows, %s columns, %s entries", name, rows, columns, entries);
    axes_title(p, x, width, text);
}

/* How many entries have which sign. */
static void draw_legend(picture *p, const bins *b, double x, double y, double width)
{
    int64_t key = 0;
    for (int s = 0; s < PLAIN; s++) {
        char text[64], number[32];
        if (!b->total[s]) continue;
        snprintf(text, sizeof(text), "%s %s", count_text(b->total[s], number, sizeof(number)), sign_name[s]);
        axes_key(p, x + width / 3 * (double)key++, y, sign_colour[s], true, text);
    }
}

/* How many blocks and pairs there are, with their tints where any can be seen. */
static void draw_marks_legend(picture *p, const marks *m, double x, double y, double width)
{
    const char *const names[] = {"blocks", "pairs"};
    const uint32_t tints[] = {BLOCK_TINT, PAIR_TINT};
    const int64_t counts[] = {m->blocks->blocks, m->blocks->pairs};
    bool seen[] = {false, false};
    int64_t key = 0;
    for (int64_t k = 0; k < m->count; k++) {
        if (tint_seen(m, mark_at(m, k))) seen[k >= counts[0]] = true;
    }
    for (int s = 0; s < 2; s++) {
        char text[64], number[32];
        if (!counts[s]) continue;
        snprintf(text, sizeof(text), "%s %s%s", count_text(counts[s], number, sizeof(number)), names[s],
                 seen[s] ? "" : ", too small to see");
        axes_key(p, x + width / 2 * (double)key++, y, tints[s], seen[s], text);
    }
}

static int draw_pattern(const char *path, const saddle_matrix *A, const bins *b, const plot_blocks *blocks,
                        const char *name)
{
    const int larger = b->rows > b->columns ? b->rows : b->columns;
    const int pixels = SIDE * PICTURE_PIXELS / (larger > LEAST_ROWS ? larger : LEAST_ROWS);
    const double cell = (double)pixels / PICTURE_PIXELS;
    const double width = cell * (b->columns ? b->columns : 1), height = cell * (b->rows ? b->rows : 1);
    const double x = 72, y = 60, legend = fmax(width, 300);
    const marks m = make_marks(blocks, A->rows, height);
    picture p = picture_begin(x + legend + 28, y + height + (m.count ? 60 : 40));
    if (larger <= MOST_SQUARES) {
        draw_tints(&p, &m, x, y);
        draw_squares(&p, b, x, y, cell);
    } else if (b->rows > 0 && b->columns > 0) {
        draw_shades(&p, b, &m, x, y, width, height);
    }
    draw_lines(&p, &m, x, y);
    axes_frame(&p, x, y, width, height);
    draw_ticks(&p, x, y, width, height, A->rows, A->columns);
    draw_title(&p, A, b, name, x, width);
    draw_legend(&p, b, x, y + height + 24, legend);
    if (m.count) draw_marks_legend(&p, &m, x, y + height + 44, legend);
    const int status = picture_save(&p, path);
    picture_end(&p);
    return status;
}

int plot_prepared(const char *path, const saddle_matrix *A, const plot_blocks *blocks, const char *name)
{
    bins b;
    int status = plot_check(path);
    if (status != EXIT_DONE) return status;
    if (make_bins(A, &b))
        status = draw_pattern(path, A, &b, blocks, name);
    else
        status = fail(EXIT_MEMORY, "%s: out of memory while drawing the plot", path);
    for (int s = 0; s < SIGNS; s++) free(b.count[s]);
    return status;
}

int plot_pattern(const char *path, const saddle_matrix *A, const char *name)
{
    return plot_prepared(path, A, NULL, name);
}
