/*
 * The plots: PNG files that unpack to the pixels meant, SVG files with the marks meant, whatever the
 * layout of the matrix or the values of the history; refusals that leave no file.
 */
#include "cli/command.h"
#include "cli/families.h"
#include "cli/font.h"
#include "cli/paths.h"
#include "cli/picture.h"
#include "cli/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

/* The program's own prints; this one keeps the text. (cmocka has a macro of this name.) */
static char told[SADDLE_MESSAGE_SIZE];

int(fail)(int exit, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(told, sizeof told, format, list);
    va_end(list);
    return exit;
}

/* Every test works in a folder of its own, which is removed with what the tests left in it. */
static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "plots.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("plot.png"));
    unlink(in_folder("plot.svg"));
    return rmdir(folder);
}

/* A whole file, with a 0 after it. */
static unsigned char *load(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    unsigned char *data = malloc((size_t)size + 1);
    assert_non_null(data);
    *length = fread(data, 1, (size_t)size, file);
    assert_int_equal(*length, size);
    data[size] = 0;
    fclose(file);
    return data;
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

typedef struct pixels {
    uint32_t columns, rows;
    unsigned char *rgb;
} pixels;

/* Undoes a PNG by the standard: check sums, inflate, filters None and Up. */
static pixels decode(const unsigned char *data, size_t length)
{
    pixels p = {0};
    uLongf size = 0;
    unsigned char *plain = NULL;
    bool ended = false;
    assert_memory_equal(data, "\x89PNG\r\n\x1a\n", 8);
    for (size_t at = 8; at < length;) {
        const uint32_t part = big_endian(data + at);
        const unsigned char *type = data + at + 4, *body = type + 4;
        assert_true(at + 12 + part <= length);
        assert_int_equal(crc32(0, type, part + 4), big_endian(body + part));
        if (memcmp(type, "IHDR", 4) == 0) {
            p.columns = big_endian(body);
            p.rows = big_endian(body + 4);
            assert_memory_equal(body + 8, "\x08\x02\x00\x00\x00", 5);
            size = (uLongf)p.rows * (3 * (uLongf)p.columns + 1);
            plain = malloc(size);
            assert_non_null(plain);
        }
        if (memcmp(type, "IDAT", 4) == 0) {
            const uLongf expected = size;
            assert_int_equal(uncompress(plain, &size, body, part), Z_OK);
            assert_int_equal(size, expected);
        }
        ended = memcmp(type, "IEND", 4) == 0;
        at += 12 + part;
    }
    assert_true(ended);
    p.rgb = calloc((size_t)p.rows * p.columns, 3);
    assert_non_null(p.rgb);
    const size_t row = 3 * (size_t)p.columns;
    for (uint32_t r = 0; r < p.rows; ++r) {
        const unsigned char filter = plain[r * (row + 1)];
        assert_true(filter == 0 || filter == 2);
        for (size_t k = 0; k < row; ++k)
            p.rgb[r * row + k] = (unsigned char)(plain[r * (row + 1) + 1 + k] +
                                                 (filter == 2 && r > 0 ? p.rgb[(r - 1) * row + k] : 0));
    }
    free(plain);
    return p;
}

static pixels load_png(const char *path)
{
    size_t length;
    unsigned char *data = load(path, &length);
    pixels p = decode(data, length);
    free(data);
    return p;
}

static int64_t count_colour(const pixels *p, uint32_t colour)
{
    int64_t count = 0;
    for (size_t k = 0; k < (size_t)p->rows * p->columns; ++k) {
        const unsigned char *rgb = p->rgb + 3 * k;
        count += ((uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2]) == colour;
    }
    return count;
}

static int64_t occurrences(const char *path, const char *text)
{
    size_t length;
    int64_t count = 0;
    unsigned char *data = load(path, &length);
    assert_int_equal(strlen((char *)data), length);
    for (const char *p = (char *)data; (p = strstr(p, text)); ++p) ++count;
    free(data);
    return count;
}

static void roundtrip(int columns, int rows, int colours)
{
    uint32_t *image = malloc((size_t)columns * (size_t)rows * sizeof *image);
    assert_non_null(image);
    for (int k = 0; k < columns * rows; ++k) image[k] = (uint32_t)(k % colours * 2654435761u) & 0xffffff;
    bytes out = {0};
    assert_true(png_encode(image, columns, rows, &out));
    pixels p = decode(out.data, out.length);
    assert_int_equal(p.columns, columns);
    assert_int_equal(p.rows, rows);
    for (int k = 0; k < columns * rows; ++k)
        assert_int_equal((uint32_t)p.rgb[3 * k] << 16 | (uint32_t)p.rgb[3 * k + 1] << 8 | p.rgb[3 * k + 2],
                         image[k]);
    free(p.rgb);
    free(out.data);
    free(image);
}

static void test_png_roundtrip(void **state)
{
    (void)state;
    enum { COLUMNS = 37, ROWS = 23 };
    const int colour_counts[] = {COLUMNS * ROWS, 1};
    for (int i = 0; i < 2; ++i) roundtrip(COLUMNS, ROWS, colour_counts[i]);
}

enum { POSITIVE = 0x0072b2, NEGATIVE = 0xd55e00 };

/* A square for every entry of both triangles, and one for each colour in the legend. */
static void test_pattern_marks(void **state)
{
    (void)state;
    saddle_matrix A;
    assert_int_equal(family_generate("lap2d", 4, NAN, 1, &A, NULL), SADDLE_OK);
    assert_int_equal(plot_pattern(in_folder("plot.svg"), &A, "A"), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), "fill=\"#0072b2\""), 16 + 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), "fill=\"#d55e00\""), 48 + 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">A: n = 16, 64 entries<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), "</svg>"), 1);

    assert_int_equal(plot_pattern(in_folder("plot.png"), &A, "A"), EXIT_DONE);
    pixels p = load_png(in_folder("plot.png"));
    const int64_t positive = count_colour(&p, POSITIVE), negative = count_colour(&p, NEGATIVE);
    assert_true(positive > 16 * 30 * 30);
    assert_true(negative > 2.5 * (double)positive && negative < 3.2 * (double)positive);
    free(p.rgb);
    family_free(&A);
}

/* The same picture from columns, rows and coordinates, lower, upper and full, from 0 and 1, double
 * and float. */
static void test_pattern_layouts(void **state)
{
    (void)state;
    /* [2 -1 0; -1 0 3; 0 3 5], the 0 not stored */
    const int32_t ptr[] = {0, 2, 3, 4}, lower[] = {0, 1, 2, 2};
    const double values[] = {2, -1, 3, 5};
    const int64_t ptr64[] = {1, 3, 5, 7};
    const int32_t full[] = {1, 2, 1, 3, 2, 3};
    const float full_values[] = {2, -1, -1, 3, 3, 5};
    const int32_t row[] = {0, 0, 1, 2}, column[] = {0, 1, 2, 2};
    const saddle_matrix views[] = {
        saddle_symmetric(3, ptr, lower, values),
        {sizeof(saddle_matrix), 3, 3, 4, SADDLE_ROWS, SADDLE_UPPER, SADDLE_DOUBLE, 0, 32, ptr, lower, NULL,
         values},
        {sizeof(saddle_matrix), 3, 3, 6, SADDLE_ROWS, SADDLE_GENERAL, SADDLE_FLOAT, 1, 64, ptr64, full, NULL,
         full_values},
        {sizeof(saddle_matrix), 3, 3, 6, SADDLE_COLUMNS, SADDLE_FULL, SADDLE_FLOAT, 1, 64, ptr64, full, NULL,
         full_values},
        {sizeof(saddle_matrix), 3, 3, 4, SADDLE_COORDINATES, SADDLE_UPPER, SADDLE_DOUBLE, 0, 0, NULL, row,
         column, values},
    };
    size_t first_length = 0;
    unsigned char *first = NULL;
    for (size_t k = 0; k < sizeof views / sizeof views[0]; ++k) {
        size_t length;
        assert_int_equal(plot_pattern(in_folder("plot.svg"), &views[k], "A"), EXIT_DONE);
        unsigned char *data = load(in_folder("plot.svg"), &length);
        if (k == 0) {
            first = data;
            first_length = length;
            continue;
        }
        assert_int_equal(length, first_length);
        assert_memory_equal(data, first, length);
        free(data);
    }
    free(first);
}

static void test_pattern_extremes(void **state)
{
    (void)state;
    saddle_matrix A, empty = {0}, wide;
    assert_int_equal(family_generate("stokes2d", 60, NAN, 1, &A, NULL), SADDLE_OK);
    assert_int_equal(plot_pattern(in_folder("plot.png"), &A, "A"), EXIT_DONE);
    pixels p = load_png(in_folder("plot.png"));
    assert_true(p.columns <= 1100 && p.rows <= 1100);
    free(p.rgb);
    assert_int_equal(plot_pattern(in_folder("plot.svg"), &A, "A"), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), "data:image/png;base64,iVBORw0KGgo"), 1);
    family_free(&A);

    assert_int_equal(plot_pattern(in_folder("plot.png"), &empty, "A"), EXIT_DONE);
    const int32_t row[] = {0, 1}, column[] = {0, 99999};
    wide = (saddle_matrix){.size = sizeof(saddle_matrix),
                           .rows = 2,
                           .columns = 100000,
                           .entries = 2,
                           .layout = SADDLE_COORDINATES,
                           .indices = row,
                           .col_indices = column};
    assert_int_equal(plot_pattern(in_folder("plot.png"), &wide, "A"), EXIT_DONE);
    assert_int_equal(plot_pattern(in_folder("plot.svg"), &wide, "A"), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">A: 2 rows, 100,000 columns, 2 entries<"), 1);
    wide.rows = wide.entries = 0;
    assert_int_equal(plot_pattern(in_folder("plot.png"), &wide, "A"), EXIT_DONE);
}

/* Blocks of more than one row are tinted and outlined, pairs too; what is too small is only counted. */
static void test_blocks_on_the_diagonal(void **state)
{
    (void)state;
    saddle_matrix A;
    const int32_t start[] = {0, 8, 15, 16}, first[] = {2, 9};
    const plot_blocks blocks = {3, start, 2, first};
    assert_int_equal(family_generate("lap2d", 4, NAN, 1, &A, NULL), SADDLE_OK);
    assert_int_equal(plot_prepared(in_folder("plot.svg"), &A, &blocks, "A, prepared"), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), "fill=\"#f3ecd0\""), 2 + 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), "fill=\"#dccb85\""), 2 + 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), "#8a7a3a"), 2);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">A, prepared: n = 16, 64 entries<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">3 blocks<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">2 pairs<"), 1);
    family_free(&A);

    int32_t many[1801];
    for (int32_t k = 0; k <= 1800; ++k) many[k] = 2 * k;
    const plot_blocks small = {1800, many, 1, first};
    assert_int_equal(family_generate("lap2d", 60, NAN, 1, &A, NULL), SADDLE_OK);
    assert_int_equal(plot_prepared(in_folder("plot.svg"), &A, &small, "A, prepared"), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">1,800 blocks, too small to see<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">1 pairs, too small to see<"), 1);
    family_free(&A);
}

static void test_convergence(void **state)
{
    (void)state;
    double history[20];
    for (int k = 0; k < 20; ++k) history[k] = pow(10.0, -0.5 * k);
    assert_int_equal(plot_convergence(in_folder("plot.svg"), history, 20, 1e-8, "a < b & \"c\" \xff\xc3\xa9"),
                     EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), "stroke-dasharray"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">tol = 1e-08<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">a &lt; b &amp; \"c\" ?\xc3\xa9<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">-8</tspan>"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), "stroke=\"#0072b2\""), 1 + 20);
    assert_int_equal(plot_convergence(in_folder("plot.png"), history, 20, 1e-8, "title"), EXIT_DONE);
    pixels p = load_png(in_folder("plot.png"));
    assert_true(count_colour(&p, POSITIVE) > 1000);
    assert_true(count_colour(&p, NEGATIVE) > 500);
    free(p.rgb);
}

/* The rows of the first and the last pixel in which a column of a picture has this colour; -1: none has. */
static void find_colour(const pixels *p, uint32_t column, uint32_t colour, int rows[2])
{
    rows[0] = rows[1] = -1;
    for (uint32_t r = 0; r < p->rows; ++r) {
        const unsigned char *rgb = p->rgb + 3 * ((size_t)r * p->columns + column);
        if (((uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2]) != colour) continue;
        if (rows[0] < 0) rows[0] = (int)r;
        rows[1] = (int)r;
    }
}

/* A title that is wider than the picture has smaller letters. */
static void test_titles_fit(void **state)
{
    (void)state;
    saddle_matrix A;
    char name[200];
    memset(name, 'm', sizeof name);
    name[80] = 0;
    assert_int_equal(family_generate("lap2d", 4, NAN, 1, &A, NULL), SADDLE_OK);
    assert_int_equal(plot_pattern(in_folder("plot.svg"), &A, "A"), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), "font-size=\"13\""), 1);
    assert_int_equal(plot_pattern(in_folder("plot.svg"), &A, name), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), "font-size=\"13\""), 0);
    assert_int_equal(occurrences(in_folder("plot.svg"), "mmm: n = 16, 64 entries<"), 1);
    family_free(&A);
}

/* A residual of 0 is a ring on a place of its own at the foot of the axis, with its tick and a word; the
 * decades above it are those of the others, and where no residual is 0 there is none of that. */
static void test_a_residual_of_zero_is_no_decade(void **state)
{
    (void)state;
    const double history[] = {1, 1e-3, 1e-6, 0}, least[] = {1, 1e-3, 1e-6, 1e-14};
    assert_int_equal(plot_convergence(in_folder("plot.svg"), history, 4, 1e-5, NULL), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">exactly 0<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), "text-anchor=\"end\">0<"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">-6</tspan>"), 1);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">-7</tspan>"), 0);
    assert_int_equal(plot_convergence(in_folder("plot.svg"), least, 4, 1e-5, NULL), EXIT_DONE);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">exactly 0<"), 0);
    assert_int_equal(occurrences(in_folder("plot.svg"), "text-anchor=\"end\">0<"), 0);
    assert_int_equal(occurrences(in_folder("plot.svg"), ">-14</tspan>"), 1);

    /* The decades end 44 above the lower edge, at 320; the ring's middle is 14 above it. */
    int rows[2];
    const uint32_t beside_the_frame = (66 + 460) * PICTURE_PIXELS - 7;
    assert_int_equal(plot_convergence(in_folder("plot.png"), history, 4, 1e-5, NULL), EXIT_DONE);
    pixels p = load_png(in_folder("plot.png"));
    find_colour(&p, beside_the_frame, POSITIVE, rows);
    free(p.rgb);
    assert_in_range(rows[1], (320 - 14) * PICTURE_PIXELS - 2, (320 - 14) * PICTURE_PIXELS + 10);
}

/* Whatever stands in a history, the picture comes, and no coordinate is NaN. */
static void test_convergence_extremes(void **state)
{
    (void)state;
    const double odd[] = {1, NAN, 1e-3, INFINITY, 0, -1, 1e-320, 1e300, 1e-5};
    enum { LONG = 300000 };
    double *slow = malloc(LONG * sizeof *slow);
    assert_non_null(slow);
    for (int k = 0; k < LONG; ++k) slow[k] = 1.0 / (1 + k);
    const struct {
        const double *history;
        int64_t length;
        double tol;
    } cases[] = {{odd, 9, 1e-10}, {odd, 0, 1e-10}, {odd + 1, 1, 0},  {odd + 4, 1, 0},
                 {odd, 1, 1},     {odd, 1, 0},     {slow, LONG, 0.5}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        assert_int_equal(
            plot_convergence(in_folder("plot.png"), cases[k].history, cases[k].length, cases[k].tol, NULL),
            EXIT_DONE);
        assert_int_equal(
            plot_convergence(in_folder("plot.svg"), cases[k].history, cases[k].length, cases[k].tol, NULL),
            EXIT_DONE);
        assert_int_equal(occurrences(in_folder("plot.svg"), "nan"), 0);
        assert_int_equal(occurrences(in_folder("plot.svg"), "inf"), 0);
        size_t length;
        free(load(in_folder("plot.svg"), &length));
        assert_true(length < 60000);
    }
    free(slow);
}

static void test_refusals(void **state)
{
    (void)state;
    const double history[] = {1, 0.1};
    static const char *const paths[] = {"plot.gif", "plot", "plot.png.gz", "png", ".svg", "-"};
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; ++k) {
        told[0] = 0;
        assert_int_equal(plot_check(paths[k]), EXIT_USAGE);
        assert_int_equal(plot_convergence(paths[k], history, 2, 0.1, NULL), EXIT_USAGE);
        assert_non_null(strstr(told, ".png"));
        assert_non_null(strstr(told, ".svg"));
        assert_int_equal(access(paths[k], F_OK), -1);
    }
    assert_int_equal(plot_check(NULL), EXIT_DONE);
    assert_int_equal(plot_check("A.PNG"), EXIT_DONE);
    assert_int_equal(plot_convergence("no/such/folder/plot.svg", history, 2, 0.1, NULL), EXIT_FILE);
    assert_non_null(strstr(told, "no/such/folder/plot.svg"));
}

/* Every glyph stays within its width and between tail and top. */
static double widest, lowest, highest, leftmost;

static void measure(void *user, double x0, double y0, double x1, double y1)
{
    (void)user;
    widest = fmax(widest, fmax(x0, x1));
    leftmost = fmin(leftmost, fmin(x0, x1));
    lowest = fmin(lowest, fmin(y0, y1));
    highest = fmax(highest, fmax(y0, y1));
}

static void test_font(void **state)
{
    (void)state;
    for (int c = 33; c < 127; ++c) {
        const char text[2] = {(char)c, 0};
        widest = highest = -1e9;
        leftmost = lowest = 1e9;
        const double width = font_draw(text, measure, NULL);
        if (!(leftmost >= 0 && widest <= width && lowest >= -3 && highest <= 11 && highest > lowest - 1e-9))
            fail_msg("glyph '%c': x %g..%g of %g, y %g..%g", c, leftmost, widest, width, lowest, highest);
    }
    assert_true(font_width("ab", 10) > font_width("a", 10) + font_width("b", 10));
    assert_true(font_width("\xc3\xa9", 10) == font_width("?", 10));
    assert_true(font_width("", 10) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png_roundtrip),
        cmocka_unit_test_setup_teardown(test_pattern_marks, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_pattern_layouts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_pattern_extremes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_blocks_on_the_diagonal, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_convergence, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_titles_fit, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_residual_of_zero_is_no_decade, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_convergence_extremes, make_folder, remove_folder),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_font),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
