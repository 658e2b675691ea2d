/* Matrix Market files: what they say is what is read, and what is wrong with them is said. */
#include "io_files.h"

#include "io/io.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

#define BANNER(words) "%%MatrixMarket matrix " words "\n"
#define BANNER_FORMAT(words) "%%%%MatrixMarket matrix " words "\n" /* for printf */

static const char *drawn(const char *text)
{
    return drawn_from(make_file("a.mtx", text));
}

static const char *failure(const char *text, saddle_status status, int line)
{
    return failure_of(make_file("bad.mtx", text), status, line);
}

static void reads_symmetric_files_by_columns(void **state)
{
    (void)state;
    assert_string_equal(
        drawn(BANNER("coordinate real symmetric") "3 3 4\n1 1 2\n2 1 -1\n2 2 3.5\n3 3 1e-3\n"),
        "columns lower 3x3: 0=2 1=-1 / 1=3.5 / 2=0.001");
}

static void moves_entries_above_the_diagonal_below_it(void **state)
{
    (void)state;
    assert_string_equal(drawn(BANNER("coordinate real symmetric") "3 3 3\n1 3 5\n2 2 1\n1 2 4\n"),
                        "columns lower 3x3: 1=4 2=5 / 1=1 /");
}

static void reads_general_files_by_rows_in_any_order(void **state)
{
    (void)state;
    const char *const right = "rows general 3x3: 0=1 2=2 / 1=3 / 0=4 1=5 2=6";
    assert_string_equal(
        drawn(BANNER("coordinate real general") "3 3 6\n1 1 1\n1 3 2\n2 2 3\n3 1 4\n3 2 5\n3 3 6\n"), right);
    assert_string_equal(
        drawn(BANNER("coordinate real general") "3 3 6\n1 1 1\n3 1 4\n2 2 3\n3 2 5\n1 3 2\n3 3 6\n"), right);
    assert_string_equal(
        drawn(BANNER("coordinate real general") "3 3 6\n3 3 6\n1 3 2\n3 1 4\n2 2 3\n3 2 5\n1 1 1\n"), right);
}

static void sorts_long_rows_and_adds_duplicates_in_the_order_of_the_file(void **state)
{
    (void)state;
    enum { N = 1000 };
    static char text[40 * 3 * N];
    size_t at = (size_t)snprintf(text, sizeof text, BANNER_FORMAT("coordinate real general") "%d %d %d\n", 2,
                                 N, 2 * N);
    /* row 1 by steps of 387, which is prime to N, and each entry again with 2^-40 of it */
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < N; k++) {
            const int j = k * 387 % N;
            at += (size_t)snprintf(text + at, sizeof text - at, "1 %d %.17g\n", j + 1,
                                   pass == 0 ? (double)j : ldexp((double)j, -40));
        }
    }
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_matrix A;
    assert_int_equal(saddle_read_matrix(make_file("a.mtx", text), &hooks, &A, NULL), SADDLE_OK);
    assert_true(A.entries == N);
    for (int j = 0; j < N; j++) {
        assert_int_equal(A.indices[j], j);
        assert_true(((const double *)A.values)[j] == (double)j + ldexp((double)j, -40));
    }
    saddle_matrix_free(&A, &hooks);
    assert_true(f.live == 0);
}

static void expands_skew_symmetric_files(void **state)
{
    (void)state;
    assert_string_equal(drawn(BANNER("coordinate real skew-symmetric") "3 3 3\n2 1 4\n1 3 5\n2 2 0\n"),
                        "rows general 3x3: 1=-4 2=5 / 0=4 1=0 / 0=-5");
    assert_string_equal(drawn(BANNER("array real skew-symmetric") "3 3\n1\n2\n3\n"),
                        "rows general 3x3: 1=-1 2=-2 / 0=1 2=-3 / 0=2 1=3");
}

static void takes_patterns_as_ones_and_integers_as_they_are(void **state)
{
    (void)state;
    assert_string_equal(drawn(BANNER("coordinate pattern general") "2 2 2\n1 2\n2 2\n"),
                        "rows general 2x2: 1=1 / 1=1");
    assert_string_equal(drawn(BANNER("coordinate integer symmetric") "2 2 2\n1 1 -3\n2 1 12\n"),
                        "columns lower 2x2: 0=-3 1=12 /");
}

static void reads_arrays_without_their_zeros(void **state)
{
    (void)state;
    assert_string_equal(drawn(BANNER("array real general") "2 3\n1\n0\n3\n-0.0\n0\n6\n"),
                        "rows general 2x3: 0=1 1=3 / 2=6");
    assert_string_equal(drawn(BANNER("array real symmetric") "3 3\n1\n2\n0\n4\n5\n6\n"),
                        "columns lower 3x3: 0=1 1=2 / 1=4 2=5 / 2=6");
    assert_string_equal(drawn(BANNER("array integer general") "1 1\n7\n"), "columns lower 1x1: 0=7");
    assert_string_equal(drawn(BANNER("array integer general") "1 1\n7.0\n"), "columns lower 1x1: 0=7");
}

static void keeps_explicit_zeros_of_coordinate_files(void **state)
{
    (void)state;
    assert_string_equal(drawn(BANNER("coordinate real general") "2 2 3\n1 1 0\n1 2 1\n2 1 0.0\n"),
                        "rows general 2x2: 0=0 1=1 / 0=0");
}

static void notices_symmetry_of_general_files(void **state)
{
    (void)state;
    assert_string_equal(
        drawn(BANNER("coordinate real general") "3 3 6\n1 1 4\n1 3 2\n2 2 5\n3 1 2\n3 3 1\n2 1 0\n"),
        "rows general 3x3: 0=4 2=2 / 0=0 1=5 / 0=2 2=1"); /* the zero has no mirror image */
    assert_string_equal(drawn(BANNER("coordinate real general") "3 3 5\n1 1 4\n1 3 2\n2 2 5\n3 1 2\n3 3 1\n"),
                        "columns lower 3x3: 0=4 2=2 / 1=5 / 2=1");
    assert_string_equal(drawn(BANNER("coordinate real general") "3 3 4\n1 2 2\n2 1 2\n2 3 1\n3 2 1\n"),
                        "columns lower 3x3: 1=2 / 2=1 /");
    /* different in one value, by one unit in the last place; in one place; one entry more */
    assert_string_equal(drawn(BANNER("coordinate real general") "2 2 2\n1 2 1\n2 1 1.0000000000000002\n"),
                        "rows general 2x2: 1=1 / 0=1.0000000000000002");
    assert_string_equal(drawn(BANNER("coordinate real general") "3 3 2\n1 2 1\n3 1 1\n"),
                        "rows general 3x3: 1=1 / / 0=1");
    assert_string_equal(drawn(BANNER("coordinate real general") "3 3 3\n1 2 1\n2 1 1\n2 3 1\n"),
                        "rows general 3x3: 1=1 / 0=1 2=1 /");
    assert_string_equal(drawn(BANNER("coordinate real general") "2 3 1\n1 1 1\n"), "rows general 2x3: 0=1 /");
}

static void is_lenient_where_the_field_is(void **state)
{
    (void)state;
    const char *const right = "columns lower 2x2: 0=1.5 1=-1500 / 1=0.25";
    assert_string_equal(drawn("%%matrixmarket MATRIX Coordinate REAL SYMMETRIC  \r\n% comment\r\n\r\n"
                              "  2\t2 3 \r\n 1 1 +1.5\r\n% between\r\n\r\n2\t1\t-1.5D3  \r\n2 2 .25"),
                        right);
    assert_string_equal(
        drawn(BANNER("coordinate real symmetric") "%\n% c\n2 2 3\n2 2 25e-2\n\n1 1 1.5\n2 1 -1.5d+03"),
        right);
    assert_string_equal(drawn(BANNER("coordinate real symmetric") "0 0 0\n"), "columns lower 0x0:");
    assert_string_equal(drawn(BANNER("coordinate real general") "2 2 0\n\n% nothing\n"),
                        "columns lower 2x2: /");
}

static void passes_over_a_comment_longer_than_its_buffer(void **state)
{
    (void)state;
    enum { LENGTH = 700000 };
    char *text = malloc(LENGTH + 200);
    assert_non_null(text);
    const int at = snprintf(text, 100, BANNER_FORMAT("coordinate real general") "%%");
    memset(text + at, 'x', LENGTH);
    snprintf(text + at + LENGTH, 100, "\n1 2 1\n1 2 3\n");
    assert_string_equal(drawn(text), "rows general 1x2: 1=3");
    text[at - 1] = 'x'; /* the same without % is no line of a matrix */
    assert_non_null(strstr(failure(text, SADDLE_FILE_FORMAT, 2), "longer than"));
    free(text);
}

static void reads_gzip_and_several_members(void **state)
{
    (void)state;
    const char *const text = BANNER("coordinate real general") "2 2 1\n1 2 3\n";
    assert_string_equal(drawn_from(make_gzip("a.mtx.gz", text)), "rows general 2x2: 1=3 /");
    char bytes[4096];
    size_t length =
        read_bytes(make_gzip("part1.gz", BANNER("coordinate real general") "2 2 1\n1 "), bytes, 2048);
    length += read_bytes(make_gzip("part2.gz", "2 3\n"), bytes + length, 1024);
    memset(bytes + length, 0, 512); /* tapes pad with zeros */
    assert_string_equal(drawn_from(make_file_of("two.mtx", bytes, length)), "rows general 2x2: 1=3 /");
    assert_string_equal(drawn_from(make_file_of("two.mtx", bytes, length + 512)), "rows general 2x2: 1=3 /");
    bytes[length] = 'x';
    assert_non_null(
        strstr(failure_of(make_file_of("two.mtx", bytes, length + 512), SADDLE_FILE_FORMAT, 3), "corrupt"));
}

static void names_truncated_and_corrupt_gzip(void **state)
{
    (void)state;
    char text[8000];
    int at = snprintf(text, sizeof text, BANNER_FORMAT("coordinate real general") "200 200 200\n");
    for (int k = 1; k <= 200; k++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %.17g\n", k, 201 - k, sin(k));
    }
    char bytes[8000];
    const size_t length = read_bytes(make_gzip("a.mtx.gz", text), bytes, sizeof bytes);
    static const size_t short_by[] = {1, 4, 8, 9, 100, 1000};
    for (size_t k = 0; k < sizeof short_by / sizeof short_by[0]; k++) {
        const char *path = make_file_of("short.mtx.gz", bytes, length - short_by[k]);
        char message[SADDLE_MESSAGE_SIZE];
        saddle_matrix A;
        assert_int_equal(saddle_read_matrix(path, NULL, &A, message), SADDLE_FILE_FORMAT);
        assert_non_null(strstr(message, "truncated"));
    }
    for (size_t k = 3; k < length; k += 97) { /* a flipped bit anywhere: the checksum at the latest */
        if (k >= 4 && k < 10) continue;       /* the header's time and system */
        bytes[k] ^= 4;
        char message[SADDLE_MESSAGE_SIZE];
        saddle_matrix A;
        const saddle_status status =
            saddle_read_matrix(make_file_of("flip.mtx.gz", bytes, length), NULL, &A, message);
        bytes[k] ^= 4;
        if (status == SADDLE_OK) saddle_matrix_free(&A, NULL);
        assert_true(status == SADDLE_FILE_FORMAT || status == SADDLE_BAD_VALUE ||
                    status == SADDLE_NOT_SUPPORTED);
    }
}

static void reads_standard_input(void **state)
{
    (void)state;
    const int saved = dup(STDIN_FILENO);
    assert_non_null(
        freopen(make_file("a.mtx", BANNER("coordinate real general") "1 2 1\n1 2 x\n"), "r", stdin));
    char message[SADDLE_MESSAGE_SIZE];
    saddle_matrix A;
    const saddle_status status = saddle_read_matrix("-", NULL, &A, message);
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_int_equal(status, SADDLE_FILE_FORMAT);
    assert_string_equal(message, "standard input:3: 'x' is not a number");
}

static void names_what_is_wrong_in_the_header(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {"", SADDLE_FILE_FORMAT, 0, "empty"},
        {BANNER("coordinate integer general") "1 1 1\n1 1 3.5\n", SADDLE_FILE_FORMAT, 3,
         "'3.5' is not an integer"},
        {"\n", SADDLE_FILE_FORMAT, 1, "neither"},
        {"hello\n", SADDLE_FILE_FORMAT, 1, "neither"},
        {"1 2 3\n4 5 6\n", SADDLE_FILE_FORMAT, 2, "neither"},
        {"%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", SADDLE_FILE_FORMAT, 1,
         "%MatrixMarket"},
        {"%%MatrixMarket\n1 1 1\n", SADDLE_FILE_FORMAT, 1, "matrix"},
        {"%%MatrixMarket vector coordinate real general\n", SADDLE_FILE_FORMAT, 1, "'vector'"},
        {BANNER("sparse real general"), SADDLE_FILE_FORMAT, 1, "'sparse'"},
        {BANNER("coordinate quaternion general"), SADDLE_FILE_FORMAT, 1, "'quaternion'"},
        {BANNER("coordinate real"), SADDLE_FILE_FORMAT, 1, "symmetry ''"},
        {BANNER("coordinate real lower"), SADDLE_FILE_FORMAT, 1, "'lower'"},
        {BANNER("array pattern general"), SADDLE_FILE_FORMAT, 1, "pattern"},
        {BANNER("coordinate pattern skew-symmetric"), SADDLE_FILE_FORMAT, 1, "pattern"},
        {BANNER("coordinate complex general") "1 1 1\n1 1 1 0\n", SADDLE_NOT_SUPPORTED, 1, "complex"},
        {BANNER("coordinate complex hermitian"), SADDLE_NOT_SUPPORTED, 1, "complex"},
        {BANNER("coordinate real hermitian"), SADDLE_NOT_SUPPORTED, 1, "Hermitian"},
        {BANNER("coordinate real general"), SADDLE_FILE_FORMAT, 1, "size line"},
        {BANNER("coordinate real general") "% only a comment\n", SADDLE_FILE_FORMAT, 2, "size line"},
        {BANNER("coordinate real general") "3 3\n", SADDLE_FILE_FORMAT, 2, "entries"},
        {BANNER("coordinate real general") "3 x 1\n", SADDLE_FILE_FORMAT, 2,
         "'x' is not a valid number of columns"},
        {BANNER("coordinate real general") "3 3 1 7\n", SADDLE_FILE_FORMAT, 2, "unexpected '7'"},
        {BANNER("coordinate real general") "-3 3 1\n", SADDLE_FILE_FORMAT, 2, "'-3'"},
        {BANNER("coordinate real general") "3 3 -1\n", SADDLE_FILE_FORMAT, 2, "'-1'"},
        {BANNER("coordinate real general") "3 3 99999999999999999999\n", SADDLE_FILE_FORMAT, 2,
         "'9999999999"},
        {BANNER("coordinate real general") "3.0 3 1\n", SADDLE_FILE_FORMAT, 2, "'3.0'"},
        {BANNER("coordinate real general") "2147483647 1 0\n", SADDLE_NOT_SUPPORTED, 2, "2147483647"},
        {BANNER("coordinate real symmetric") "3 4 1\n1 1 1\n", SADDLE_FILE_FORMAT, 2, "3 rows and 4 columns"},
        {BANNER("array real skew-symmetric") "2 3\n1\n", SADDLE_FILE_FORMAT, 2, "2 rows and 3 columns"},
    };
    assert_refused("bad.mtx", "", cases, sizeof cases / sizeof cases[0]);
}

static void names_what_is_wrong_in_an_entry(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {"3 3 3\n1 1 1\n2 2 2\n", SADDLE_FILE_FORMAT, 4,
         "declares 3 entries, but the file ends after 2 at line 4"},
        {"3 3 1000000000000\n1 1 1\n2 2 2\n3 3 3\n", SADDLE_FILE_FORMAT, 5, "declares 1000000000000 entries"},
        {"3 3 1\n1 1 1\n2 2 2\n", SADDLE_FILE_FORMAT, 4, "'2 2 2' after the 1 entries"},
        {"3 3 1\n1 1 1\n\n% c\njunk\n", SADDLE_FILE_FORMAT, 6, "unexpected 'junk'"},
        {"3 3 1\n4 1 1\n", SADDLE_FILE_FORMAT, 3, "row 4 is outside 1..3"},
        {"3 3 1\n1 0 1\n", SADDLE_FILE_FORMAT, 3, "column 0 is outside 1..3"},
        {"3 3 1\n-1 1 1\n", SADDLE_FILE_FORMAT, 3, "row -1 is outside"},
        {"3 3 1\n1 4294967297 1\n", SADDLE_FILE_FORMAT, 3, "column 4294967297 is outside"},
        {"3 3 1\n1 99999999999999999999 1\n", SADDLE_FILE_FORMAT, 3, "is not a column"},
        {"3 3 1\n1.0 1 1\n", SADDLE_FILE_FORMAT, 3, "'1.0' is not a row"},
        {"3 3 1\nx 1 1\n", SADDLE_FILE_FORMAT, 3, "'x' is not a row"},
        {"3 3 1\n1\n", SADDLE_FILE_FORMAT, 3, "the column is missing"},
        {"3 3 1\n1 2\n", SADDLE_FILE_FORMAT, 3, "the value is missing"},
        {"3 3 1\n1 2 \t\r\n", SADDLE_FILE_FORMAT, 3, "the value is missing"},
        {"3 3 1\n1 2 x\n", SADDLE_FILE_FORMAT, 3, "'x' is not a number"},
        {"3 3 1\n1 2 1,5\n", SADDLE_FILE_FORMAT, 3, "'1,5' is not a number"},
        {"3 3 1\n1 2 0x1p3\n", SADDLE_FILE_FORMAT, 3, "'0x1p3' is not a number"},
        {"3 3 1\n1 2 3 4\n", SADDLE_FILE_FORMAT, 3, "unexpected '4' after the value"},
        {"3 3 1\n1 2 3x\n", SADDLE_FILE_FORMAT, 3, "'3x' is not a number"},
        {"3 3 1\n1 2 \001\377\n", SADDLE_FILE_FORMAT, 3, "'\?\?' is not a number"},
        {"3 3 2\n1 1 1\n1 2 nan\n", SADDLE_BAD_VALUE, 4, "'nan' is not finite"},
        {"3 3 1\n1 2 -Inf\n", SADDLE_BAD_VALUE, 3, "'-Inf' is not finite"},
        {"3 3 1\n1 2 1e309\n", SADDLE_BAD_VALUE, 3, "'1e309' is out of the range"},
        {"2 2 2\n1 2 1.7e308\n1 2 1.7e308\n", SADDLE_BAD_VALUE, 0,
         "sum of the entries in row 1, column 2 overflows"},
        {"2000000000 2000000000 1\n1 1 1\n", SADDLE_NOT_SUPPORTED, 0, "2000000000"},
        /* numbers of row and column whose sum is more than 32 bits hold */
        {"2000000000 2000000000 1\n2000000000 2000000000 1\n", SADDLE_NOT_SUPPORTED, 0, "2000000000"},
    };
    assert_refused("bad.mtx", BANNER("coordinate real general"), cases, sizeof cases / sizeof cases[0]);
    assert_non_null(
        strstr(failure(BANNER("coordinate pattern general") "2 2 1\n1 1 5\n", SADDLE_FILE_FORMAT, 3),
               "unexpected '5'"));
    assert_non_null(strstr(
        failure(BANNER("coordinate real skew-symmetric") "2 2 1\n2 2 5\n", SADDLE_FILE_FORMAT, 3), "skew"));
    assert_non_null(strstr(failure(BANNER("array real general") "2 1\n1\n", SADDLE_FILE_FORMAT, 3),
                           "declares 2 entries, but the file ends after 1 at line 3"));
    assert_non_null(
        strstr(failure(BANNER("array real general") "2 1\n1 2\n", SADDLE_FILE_FORMAT, 3), "unexpected '2'"));
    assert_non_null(strstr(failure(BANNER("array real general") "1 1\ninf\n", SADDLE_BAD_VALUE, 3), "'inf'"));
    assert_non_null(
        strstr(failure(BANNER("array real general") "1 1\n1\n2\n", SADDLE_FILE_FORMAT, 4), "unexpected '2'"));
    /* A header that claims the most that can be claimed costs nothing. */
    failure(BANNER("array real general") "2147483646 2147483646\n1\n", SADDLE_FILE_FORMAT, 3);
}

static void names_a_file_that_cannot_be_opened(void **state)
{
    (void)state;
    assert_non_null(strstr(failure_of(path_of("nowhere.mtx"), SADDLE_FILE_OPEN, 0), "No such file"));
    assert_non_null(strstr(failure_of(test_folder, SADDLE_FILE_OPEN, 0), "directory"));
    char message[SADDLE_MESSAGE_SIZE];
    saddle_matrix A;
    assert_int_equal(saddle_read_matrix(NULL, NULL, &A, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_read_matrix("x", NULL, NULL, message), SADDLE_BAD_ARGUMENT);
    char name[1000]; /* a path longer than a message: its end counts */
    memset(name, '/', sizeof name);
    snprintf(name + 980, 20, "nowhere.mtx");
    assert_int_equal(saddle_read_matrix(name, NULL, &A, message), SADDLE_FILE_OPEN);
    assert_non_null(strstr(message, "nowhere.mtx: cannot be opened: No such file"));
}

static void refuses_binary_junk(void **state)
{
    (void)state;
    char bytes[3000];
    uint32_t x = 1;
    for (size_t k = 0; k < sizeof bytes; k++) {
        x = x * 1664525 + 1013904223;
        bytes[k] = (char)(x >> 24);
    }
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_matrix A;
    assert_int_equal(saddle_read_matrix(make_file_of("junk", bytes, sizeof bytes), &hooks, &A, NULL),
                     SADDLE_FILE_FORMAT);
    bytes[0] = '\x1f'; /* as gzip begins */
    bytes[1] = (char)0x8b;
    assert_int_equal(saddle_read_matrix(make_file_of("junk.gz", bytes, sizeof bytes), &hooks, &A, NULL),
                     SADDLE_FILE_FORMAT);
    assert_true(f.live == 0);
}

typedef struct log_lines {
    int count;
    char last[SADDLE_MESSAGE_SIZE];
} log_lines;

static void keep_line(int level, const char *line, void *user)
{
    log_lines *lines = user;
    assert_int_equal(level, SADDLE_LOG_WARNING);
    lines->count++;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static void warns_once_of_duplicates(void **state)
{
    (void)state;
    static const struct {
        const char *text, *drawing, *warning;
    } cases[] = {
        {BANNER("coordinate real general") "2 2 4\n1 1 1\n1 1 2\n1 1 4\n2 1 1\n",
         "rows general 2x2: 0=7 / 0=1",
         "2 duplicate entries were summed; the first is in row 1, column 1 (line 4)"},
        {BANNER("coordinate real general") "2 2 3\n2 1 1\n1 1 2\n2 1 4\n", "rows general 2x2: 0=2 / 0=5",
         "1 duplicate entry was summed; the first is in row 2, column 1"},
        {BANNER("coordinate real symmetric") "3 3 3\n2 2 1\n3 1 2\n1 3 4\n", "columns lower 3x3: 2=6 / 1=1 /",
         "1 duplicate entry was summed; the first is in row 3, column 1"},
        {BANNER("coordinate real skew-symmetric") "2 2 2\n2 1 1\n2 1 2\n", "rows general 2x2: 1=-3 / 0=3",
         "1 duplicate entry was summed; the first is in row 1, column 2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        log_lines lines = {0};
        const saddle_hooks hooks = {.size = sizeof hooks, .log = keep_line, .user = &lines};
        const char *path = make_file("dup.mtx", cases[k].text);
        saddle_matrix A;
        assert_int_equal(saddle_read_matrix(path, &hooks, &A, NULL), SADDLE_OK);
        assert_string_equal(draw(&A), cases[k].drawing);
        saddle_matrix_free(&A, &hooks);
        char right[SADDLE_MESSAGE_SIZE];
        snprintf(right, sizeof right, "%s: %s", path, cases[k].warning);
        assert_int_equal(lines.count, 1);
        assert_string_equal(lines.last, right);
    }
}

/* A file of several buffers and blocks, the entries of a symmetric band in a random order or sorted. */
static const char *make_large(int shuffled, int n)
{
    const char *path = path_of(shuffled ? "shuffled.mtx" : "sorted.mtx");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, BANNER_FORMAT("coordinate real symmetric") "%d %d %d\n", n, n, 2 * n - 1);
    const int64_t step = shuffled ? 7919 : 1;
    for (int64_t k = 0; k < 2 * n - 1; k++) {
        const int64_t place = k * step % (2 * n - 1);
        fprintf(file, "%lld %lld %lld.5\n", (long long)((place + 1) / 2 + 1), (long long)(place / 2 + 1),
                (long long)place);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static void reads_files_of_many_blocks_the_same_in_any_order(void **state)
{
    (void)state;
    const int n = 100000;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        failing_allocator f = {0};
        const saddle_hooks hooks = failing_hooks(&f);
        saddle_matrix A;
        assert_int_equal(saddle_read_matrix(make_large(shuffled, n), &hooks, &A, NULL), SADDLE_OK);
        assert_true(A.entries == 2 * n - 1);
        const int64_t *start = A.pointers;
        const double *value = A.values;
        for (int64_t j = 0; j < n; j++) {
            assert_true(start[j] == 2 * j);
            for (int64_t k = start[j]; k < start[j + 1]; k++) {
                assert_true(A.indices[k] == (k + 1) / 2 && value[k] == (double)k + 0.5);
            }
        }
        saddle_matrix_free(&A, &hooks);
        assert_true(f.live == 0);
    }
}

typedef struct watcher {
    int calls, stop_at;
    int64_t done, total;
} watcher;

static int watch(const saddle_progress *progress, void *user)
{
    watcher *w = user;
    assert_string_equal(progress->stage, "read");
    assert_true(progress->done >= w->done && isnan(progress->residual));
    w->done = progress->done;
    w->total = progress->total;
    return ++w->calls == w->stop_at;
}

static void reports_progress_and_can_be_cancelled(void **state)
{
    (void)state;
    const char *path = make_large(0, 50000);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    watcher w = {0};
    saddle_hooks hooks = {.size = sizeof hooks, .progress = watch, .user = &w};
    saddle_matrix A;
    assert_int_equal(saddle_read_matrix(path, &hooks, &A, NULL), SADDLE_OK);
    saddle_matrix_free(&A, &hooks);
    assert_true(w.calls > 3 && w.done == about.st_size && w.total == about.st_size);
    w = (watcher){.stop_at = 2};
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_read_matrix(path, &hooks, &A, message), SADDLE_CANCELLED);
    assert_int_equal(w.calls, 2);
    assert_true(strncmp(message, path, strlen(path)) == 0);
    assert_null(A.values);
}

static void a_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    survives_failing_allocations(make_large(0, 3000));
    survives_failing_allocations(make_large(1, 3000));
    survives_failing_allocations(make_gzip("a.mtx.gz", BANNER("coordinate real symmetric") "1 1 1\n1 1 1\n"));
    survives_failing_allocations(
        make_file("a.mtx", BANNER("coordinate real general") "2 2 3\n1 1 1\n1 2 3\n2 1 3\n")); /* halved */
    char text[2000]; /* a row that must be sorted by merging */
    int at = snprintf(text, sizeof text, BANNER_FORMAT("coordinate real general") "1 100 100\n");
    for (int k = 100; k > 0; k--) at += snprintf(text + at, sizeof text - (size_t)at, "1 %d 1\n", k);
    survives_failing_allocations(make_file("a.mtx", text));
}

static void keeps_to_a_memory_limit(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 1000000);
    saddle_matrix A;
    assert_int_equal(sd_read_matrix(&c, make_large(0, 100000), &A), SADDLE_MEMORY_LIMIT);
    assert_true(c.bytes == 0);
}

/* 28 bytes an entry and 16 a row, and little besides. */
static void memory_is_proportional_to_the_entries(void **state)
{
    (void)state;
    const int n = 100000;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        sd_context c;
        sd_context_init(&c, NULL, 0);
        saddle_matrix A;
        assert_int_equal(sd_read_matrix(&c, make_large(shuffled, n), &A), SADDLE_OK);
        const int64_t blocks = 3 << 20; /* the read buffer, and what is free in the last block */
        assert_true(c.peak < 28 * A.entries + 16 * (int64_t)n + blocks);
        saddle_matrix_free(&A, NULL);
    }
}

static const char *vector_failure(const char *text, saddle_status status)
{
    static char message[SADDLE_MESSAGE_SIZE];
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    int64_t n = -1;
    double *values = (double *)&n;
    const char *path = make_file("v.mtx", text);
    const saddle_status got = saddle_read_vector(path, &hooks, &n, &values, message);
    if (got != status) fail_msg("status %d instead of %d: %s", got, status, message);
    assert_true(f.live == 0 && n == 0 && !values);
    assert_true(strncmp(message, path, strlen(path)) == 0);
    return message;
}

static void reads_vectors(void **state)
{
    (void)state;
    static const char *const texts[] = {BANNER("array real general") "3 1\n1.5\n0\n-2\n",
                                        BANNER("coordinate real general") "3 1 2\n3 1 -2\n1 1 1.5\n",
                                        BANNER("coordinate real general") "3 1 3\n1 1 1\n3 1 -2\n1 1 .5\n"};
    for (size_t k = 0; k < 3; k++) {
        const char *path = make_file("v.mtx", texts[k]);
        for (int64_t fail_at = 1, failed = 1; failed; fail_at++) {
            failing_allocator f = {.fail_at = fail_at};
            const saddle_hooks hooks = failing_hooks(&f);
            int64_t n;
            double *values;
            const saddle_status status = saddle_read_vector(path, &hooks, &n, &values, NULL);
            failed = f.failed;
            assert_int_equal(status, failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!failed) {
                assert_true(n == 3 && values[0] == 1.5 && values[1] == 0 && values[2] == -2);
                saddle_vector_free(values, &hooks);
            }
            assert_true(f.live == 0);
        }
    }
    assert_non_null(
        strstr(vector_failure(BANNER("array real general") "3 2\n1\n2\n3\n4\n5\n6\n", SADDLE_NOT_SUPPORTED),
               ":2: a vector must have 1 column, not 2"));
    assert_non_null(
        strstr(vector_failure(BANNER("array real symmetric") "1 1\n1\n", SADDLE_FILE_FORMAT), "general"));
    assert_non_null(strstr(vector_failure(BANNER("array real general") "3 1\n1\n2\n", SADDLE_FILE_FORMAT),
                           ":4: the header declares 3 entries"));
    assert_non_null(
        strstr(vector_failure(BANNER("array real general") "1 1\nnan\n", SADDLE_BAD_VALUE), ":3: "));
    assert_non_null(
        strstr(vector_failure(BANNER("array real general") "1000000000 1\n1\n", SADDLE_FILE_FORMAT),
               "declares 1000000000"));
    assert_non_null(strstr(
        vector_failure(BANNER("coordinate real general") "2000000000 1 1\n1 1 1\n", SADDLE_NOT_SUPPORTED),
        "2000000000"));
    vector_failure("", SADDLE_FILE_FORMAT);
    vector_failure("title\n1 1 1 1\nRUA 1 1 1 0\n", SADDLE_FILE_FORMAT);
    int64_t n;
    assert_int_equal(saddle_read_vector("x", NULL, &n, NULL, NULL), SADDLE_BAD_ARGUMENT);
    saddle_vector_free(NULL, NULL);
}

static void a_comma_locale_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") || localeconv()->decimal_point[0] != ',') {
        setlocale(LC_ALL, "C");
        print_message("no locale de_DE.UTF-8 on this machine\n");
        skip();
    }
    saddle_matrix A;
    const saddle_status status = saddle_read_matrix(
        make_file("a.mtx", BANNER("coordinate real general") "1 2 1\n1 2 1.5\n"), NULL, &A, NULL);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, SADDLE_OK);
    assert_string_equal(draw(&A), "rows general 1x2: 1=1.5");
    saddle_matrix_free(&A, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_symmetric_files_by_columns),
        cmocka_unit_test(moves_entries_above_the_diagonal_below_it),
        cmocka_unit_test(reads_general_files_by_rows_in_any_order),
        cmocka_unit_test(sorts_long_rows_and_adds_duplicates_in_the_order_of_the_file),
        cmocka_unit_test(expands_skew_symmetric_files),
        cmocka_unit_test(takes_patterns_as_ones_and_integers_as_they_are),
        cmocka_unit_test(reads_arrays_without_their_zeros),
        cmocka_unit_test(keeps_explicit_zeros_of_coordinate_files),
        cmocka_unit_test(notices_symmetry_of_general_files),
        cmocka_unit_test(is_lenient_where_the_field_is),
        cmocka_unit_test(passes_over_a_comment_longer_than_its_buffer),
        cmocka_unit_test(reads_gzip_and_several_members),
        cmocka_unit_test(names_truncated_and_corrupt_gzip),
        cmocka_unit_test(reads_standard_input),
        cmocka_unit_test(names_what_is_wrong_in_the_header),
        cmocka_unit_test(names_what_is_wrong_in_an_entry),
        cmocka_unit_test(names_a_file_that_cannot_be_opened),
        cmocka_unit_test(refuses_binary_junk),
        cmocka_unit_test(warns_once_of_duplicates),
        cmocka_unit_test(reads_files_of_many_blocks_the_same_in_any_order),
        cmocka_unit_test(reports_progress_and_can_be_cancelled),
        cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
        cmocka_unit_test(keeps_to_a_memory_limit),
        cmocka_unit_test(memory_is_proportional_to_the_entries),
        cmocka_unit_test(reads_vectors),
        cmocka_unit_test(a_comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
