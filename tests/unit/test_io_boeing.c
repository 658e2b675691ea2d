/* Rutherford-Boeing and Harwell-Boeing files, and the Fortran formats in their headers. */
#include "io_files.h"

#include "io/fortran.h"

#include <stdbool.h>

#define TITLE "A matrix                                                                key     \n"

static const char *drawn(const char *text)
{
    return drawn_from(make_file("a.rb", text));
}

static const char *failure(const char *text, saddle_status status, int line)
{
    return failure_of(make_file("bad.rb", text), status, line);
}

static void reads_an_unsymmetric_matrix(void **state)
{
    (void)state;
    assert_string_equal(drawn(TITLE "             3             1             1             1\n"
                                    "RUA                        3             3             5             0\n"
                                    "(4I4)           (5I3)           (5E12.4)            \n"
                                    "   1   3   4   6\n"
                                    "  1  3  2  1  3\n"
                                    "  1.0000E+00 -2.5000E+00  3.0000D+00  4.0000E-01  5.0000E+01\n"),
                        "rows general 3x3: 0=1 2=0.40000000000000002 / 1=3 / 0=-2.5 2=50");
}

static void reads_a_symmetric_matrix_whose_numbers_touch(void **state)
{
    (void)state;
    assert_string_equal(drawn(TITLE "4 1 1 2\n"
                                    "rsa 2 2 3 0\n"
                                    "(3I1) (3I1) (1P,2E10.3)\n"
                                    "134\n"
                                    "122\n"
                                    "-1.000E+00-2.000E-03\n"
                                    " 1.234-103\n"),
                        "columns lower 2x2: 0=-1 1=-0.002 / 1=1.2340000000000001e-103");
}

static void reads_patterns_integers_and_skew_matrices(void **state)
{
    (void)state;
    assert_string_equal(drawn(TITLE "2 1 1 0\nPSA 2 2 2 0\n(10I8)          (10I8)\n"
                                    "       1       3       3\n       1       2\n"),
                        "columns lower 2x2: 0=1 1=1 /");
    assert_string_equal(drawn(TITLE "3 1 1 1\nIUA 2 2 2 0\n(3I2)(2I2)(2I5)\n 1 2 3\n 2 2\n   -7   12\n"),
                        "rows general 2x2: / 0=-7 1=12");
    assert_string_equal(drawn(TITLE "3 1 1 1\nRZA 2 2 1 0\n(3I2)(2I2)(2F5.1)\n 1 2 2\n 2\n  4.5\n"),
                        "rows general 2x2: 1=-4.5 / 0=4.5");
}

static void passes_over_right_hand_sides_of_harwell_boeing(void **state)
{
    (void)state;
    assert_string_equal(drawn(TITLE
                              "             4             1             1             1             1\n"
                              "RSA                        1             1             1             0\n"
                              "(2I4)           (1I4)           (1E12.4)            (1E12.4)            \n"
                              "F                          1             0\n"
                              "   1   2\n   1\n  2.0000E+00\n  3.0000E+00\n"),
                        "columns lower 1x1: 0=2");
    assert_string_equal(
        drawn(TITLE "3 1 1 1 0\nRSA 1 1 1 0\n(2I4) (1I4) (1E12.4)\n   1   2\n   1\n  2.0000E+00\n\n"),
        "columns lower 1x1: 0=2");
}

static void reads_a_gzipped_file_and_a_blank_title(void **state)
{
    (void)state;
    assert_string_equal(drawn_from(make_gzip("a.rb.gz", "   \n3 1 1 1\nRSA 1 1 1 0\n(2I4) (1I4) (1E12.4)\n"
                                                        "   1   2\n   1\n  2.0000E+00")),
                        "columns lower 1x1: 0=2");
}

static void refuses_by_name_what_is_not_supported(void **state)
{
    (void)state;
    static const struct {
        const char *type, *word;
    } cases[] = {{"CUA 2 2 1 0", "complex"},
                 {"CSA 2 2 1 0", "complex"},
                 {"RHA 2 2 1 0", "Hermitian"},
                 {"RSE 2 2 1 4", "elemental"},
                 {"RRA 2 3 1 0", "rectangular"},
                 {"RUA 2 3 1 0", "rectangular"},
                 {"PUE 2 2 1 4", "elemental"},
                 {"QUA 2 2 1 0", "another file"},
                 {"RUA 2147483647 2147483647 1 0", "2147483647 rows"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[400];
        snprintf(text, sizeof text, TITLE "3 1 1 1\n%s\n(3I2)(2I2)(2F5.1)\n", cases[k].type);
        const char *message = failure(text, SADDLE_NOT_SUPPORTED, 3);
        if (!strstr(message, cases[k].word)) fail_msg("'%s' is not in '%s'", cases[k].word, message);
    }
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {"", SADDLE_FILE_FORMAT, 1, "neither"},
        {"1 1 1\n", SADDLE_FILE_FORMAT, 2, "neither"},
        {"1 1 1 1 1 1\n", SADDLE_FILE_FORMAT, 2, "neither"},
        {"1 1 x 1\n", SADDLE_FILE_FORMAT, 2, "neither"},
        {"1 1 -1 1\n", SADDLE_FILE_FORMAT, 2, "neither"},
        {"3 1 1 1\n", SADDLE_FILE_FORMAT, 2, "ends inside the header"},
        {"3 1 1 1\nXYZ 2 2 2 0\n", SADDLE_FILE_FORMAT, 3, "neither"},
        {"3 1 1 1\nRUAA 2 2 2 0\n", SADDLE_FILE_FORMAT, 3, "neither"},
        {"3 1 1 1\nRUA 2 2\n", SADDLE_FILE_FORMAT, 3, "rows, columns and entries"},
        {"3 1 1 1\nRUA 2 -2 2\n", SADDLE_FILE_FORMAT, 3, "rows, columns and entries"},
        {"3 1 1 1\nRUA 1 1 9223372036854775807\n", SADDLE_FILE_FORMAT, 3, "rows, columns and entries"},
        {"3 1 1 0\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n", SADDLE_FILE_FORMAT, 3, "no values"},
        {"3 1 1 0\nPZA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n", SADDLE_FILE_FORMAT, 3, "pattern"},
        {"3 1 1 1\nRUA 2 2 2 0\n", SADDLE_FILE_FORMAT, 3, "ends inside the header"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)\n", SADDLE_FILE_FORMAT, 4, "'' is not a format of values"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3F2.1)(2I2)(2F5.1)\n", SADDLE_FILE_FORMAT, 4, "format of pointers"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2A2)(2F5.1)\n", SADDLE_FILE_FORMAT, 4,
         "'(2A2)' is not a format of row"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2\n", SADDLE_FILE_FORMAT, 5, "columns 5 to 6"},
        {"3 1 1 1\nRUA 2 2 2 0\n(2I2)(2I2)(2F5.1)\n 1 2\n", SADDLE_FILE_FORMAT, 5,
         "declares 3 column pointers, but the file ends after 2 at line 5"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 0 2 3\n", SADDLE_FILE_FORMAT, 5, "pointer 0 of column 1"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 2\n", SADDLE_FILE_FORMAT, 5, "pointer 2 of column 3"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 4 3\n", SADDLE_FILE_FORMAT, 5, "pointer 4 of column 2"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 x 3\n", SADDLE_FILE_FORMAT, 5, "'x', among the column"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n", SADDLE_FILE_FORMAT, 5,
         "declares 2 row indices"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 3\n", SADDLE_FILE_FORMAT, 6,
         "row 3 of column 2 is outside 1..2"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.0\n", SADDLE_FILE_FORMAT, 7,
         "columns 6 to 10"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(1F5.1)\n 1 2 3\n 1 2\n  1.0\n", SADDLE_FILE_FORMAT, 7,
         "declares 2 values, but the file ends after 1 at line 7"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.0  x.0\n", SADDLE_FILE_FORMAT, 7,
         "'x.0'"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.0  1+x\n", SADDLE_FILE_FORMAT, 7,
         "'1+x'"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.0  NaN\n", SADDLE_BAD_VALUE, 7, "'NaN'"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.01e999\n", SADDLE_BAD_VALUE, 7,
         "'1e999'"},
        {"3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.0  1.0\n\nmore\n", SADDLE_FILE_FORMAT, 9,
         "'more' follows the end"},
        {"3 1 1 1\nRZA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n  1.0  1.0\n", SADDLE_FILE_FORMAT, 7,
         "skew"},
        {"3 1 1 1\nRUA 2000000000 2000000000 1000000000000 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n",
         SADDLE_FILE_FORMAT, 5, "declares 2000000001 column pointers"},
    };
    assert_refused("bad.rb", TITLE, cases, sizeof cases / sizeof cases[0]);
}

static void understands_formats(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int count, last_column, last_width; /* count 0: refused */
        bool integer;
    } cases[] = {{"(10I8)", 10, 72, 8, true},
                 {"(5E16.8)", 5, 64, 16, false},
                 {"(1P,3D24.16)", 3, 48, 24, false},
                 {"(1P3D24.16)", 3, 48, 24, false},
                 {"(-1P 3 D 24.16 )", 3, 48, 24, false},
                 {"(4(1PE20.12))", 4, 60, 20, false},
                 {"(1P,(4(E20.12)))", 4, 60, 20, false},
                 {"(i5)", 1, 0, 5, true},
                 {"(4E20.13E3)", 4, 60, 20, false},
                 {"(10(1X,I7))", 10, 73, 7, true},
                 {"(I4.2)", 1, 0, 4, true},
                 {"(2X,3G10.3,1X,F5.0)", 4, 33, 5, false},
                 {"", 0, 0, 0, false},
                 {"()", 0, 0, 0, false},
                 {"(10A8)", 0, 0, 0, false},
                 {"(10I)", 0, 0, 0, false},
                 {"(10I0)", 0, 0, 0, false},
                 {"(0(I8))", 0, 0, 0, false},
                 {"(257I1)", 0, 0, 0, false},
                 {"(5I1000)", 0, 0, 0, false},
                 {"(99999999999I1)", 0, 0, 0, false},
                 {"(5E16.)", 0, 0, 0, false},
                 {"(-5I8)", 0, 0, 0, false},
                 {"(5/I8)", 0, 0, 0, false},
                 {"(4096(4096(4096(0X))))", 0, 0, 0, false},
                 {"((((((((((I8))))))))))", 0, 0, 0, false}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *text = cases[k].text;
        sd_format format;
        const bool good = sd_parse_format((sd_span){text, text + strlen(text)}, &format);
        if (good != (cases[k].count > 0)) fail_msg("%s was %s", text, good ? "taken" : "refused");
        if (!good) continue;
        assert_int_equal(format.count, cases[k].count);
        assert_int_equal(format.column[format.count - 1], cases[k].last_column);
        assert_int_equal(format.width[format.count - 1], cases[k].last_width);
        assert_int_equal(format.integer, cases[k].integer);
    }
}

static void a_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    survives_failing_allocations(make_file("a.rb",
                                           TITLE "3 1 1 1\nRUA 2 2 2 0\n(3I2)(2I2)(2F5.1)\n 1 2 3\n 1 2\n"
                                                 "  1.0  2.0\n"));
    survives_failing_allocations(make_file("a.rb",
                                           TITLE "3 1 1 1\nRZA 2 2 1 0\n(3I2)(2I2)(2F5.1)\n 1 2 2\n 2\n"
                                                 "  1.0\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_an_unsymmetric_matrix),
        cmocka_unit_test(reads_a_symmetric_matrix_whose_numbers_touch),
        cmocka_unit_test(reads_patterns_integers_and_skew_matrices),
        cmocka_unit_test(passes_over_right_hand_sides_of_harwell_boeing),
        cmocka_unit_test(reads_a_gzipped_file_and_a_blank_title),
        cmocka_unit_test(refuses_by_name_what_is_not_supported),
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(understands_formats),
        cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
