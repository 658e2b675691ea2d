/* Writing: every view comes back as the matrix it is, and a failure leaves no file behind. */
#include "io_files.h"

#include "io/io.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

/* [2 -1 0; -1 0.1 3; 0 3 1e-300], symmetric, and its views. */
static const int32_t lower_ptr[] = {0, 2, 4, 5}, lower_ind[] = {0, 1, 1, 2, 2};
static const double lower_val[] = {2, -1, 0.1, 3, 1e-300};
static const char *const symmetric_drawing =
    "columns lower 3x3: 0=2 1=-1 / 1=0.10000000000000001 2=3 / 2=1e-300";

/* [1 2 0; 0 0 3; 4 0 5], general, by rows. */
static const int32_t general_ptr[] = {0, 2, 3, 5}, general_ind[] = {0, 1, 2, 0, 2};
static const double general_val[] = {1, 2, 3, 4, 5};
static const char *const general_drawing = "rows general 3x3: 0=1 1=2 / 2=3 / 0=4 2=5";

static const char *const names[] = {"x.mtx", "x.mtx.gz", "x.rb", "x.rb.gz"};

/* Writes the matrix in each format and sees that it comes back; that no other file is left, too. */
static void comes_back(const saddle_matrix *A, const char *drawing)
{
    for (size_t k = 0; k < 4; k++) {
        char message[SADDLE_MESSAGE_SIZE] = "";
        files_in_folder(1);
        const char *path = path_of(names[k]);
        if (saddle_write_matrix(path, A, "a comment\nof two lines", message) != SADDLE_OK)
            fail_msg("%s", message);
        assert_int_equal(files_in_folder(0), 1);
        assert_string_equal(drawn_from(path), drawing);
    }
}

static void every_view_of_a_symmetric_matrix_comes_back(void **state)
{
    (void)state;
    saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    comes_back(&A, symmetric_drawing);
    A.layout = SADDLE_ROWS;
    A.shape = SADDLE_UPPER;
    comes_back(&A, symmetric_drawing);

    const int64_t wide_ptr[] = {1, 2, 4, 6}; /* lower by rows, counted from 1, 64-bit pointers */
    const int32_t rows_ind[] = {1, 2, 1, 3, 2};
    const double rows_val[] = {2, 0.1, -1, 1e-300, 3};
    A = (saddle_matrix){sizeof(saddle_matrix),
                        3,
                        3,
                        5,
                        SADDLE_ROWS,
                        SADDLE_LOWER,
                        SADDLE_DOUBLE,
                        1,
                        64,
                        wide_ptr,
                        rows_ind,
                        NULL,
                        rows_val};
    comes_back(&A, symmetric_drawing);

    const int32_t full_ptr[] = {0, 2, 5, 7}, full_ind[] = {0, 1, 0, 1, 2, 1, 2};
    const double full_val[] = {2, -1, -1, 0.1, 3, 3, 1e-300};
    A = (saddle_matrix){sizeof(saddle_matrix),
                        3,
                        3,
                        7,
                        SADDLE_COLUMNS,
                        SADDLE_FULL,
                        SADDLE_DOUBLE,
                        0,
                        32,
                        full_ptr,
                        full_ind,
                        NULL,
                        full_val};
    comes_back(&A, symmetric_drawing);

    const int32_t row[] = {3, 1, 2, 1, 2}, col[] = {3, 1, 3, 2, 2}; /* upper, counted from 1, any order */
    const double val[] = {1e-300, 2, 3, -1, 0.1};
    A = (saddle_matrix){sizeof(saddle_matrix),
                        3,
                        3,
                        5,
                        SADDLE_COORDINATES,
                        SADDLE_UPPER,
                        SADDLE_DOUBLE,
                        1,
                        0,
                        NULL,
                        row,
                        col,
                        val};
    comes_back(&A, symmetric_drawing);
}

static void every_view_of_a_general_matrix_comes_back(void **state)
{
    (void)state;
    saddle_matrix A = saddle_general(3, general_ptr, general_ind, general_val);
    comes_back(&A, general_drawing);
    const int32_t row[] = {0, 2, 0, 1, 2, 2}, col[] = {0, 0, 1, 2, 2, 0};
    const float val[] = {1, 3.5f, 2, 3, 5, 0.5f}; /* one in two parts */
    A = (saddle_matrix){sizeof(saddle_matrix),
                        3,
                        3,
                        6,
                        SADDLE_COORDINATES,
                        SADDLE_GENERAL,
                        SADDLE_FLOAT,
                        0,
                        0,
                        NULL,
                        row,
                        col,
                        val};
    comes_back(&A, general_drawing);
    const int32_t columns_ptr[] = {0, 2, 3, 5}, columns_ind[] = {2, 0, 0, 2, 1};
    const double columns_val[] = {4, 1, 2, 5, 3};
    A = saddle_general(3, columns_ptr, columns_ind, columns_val);
    A.layout = SADDLE_COLUMNS;
    comes_back(&A, general_drawing);
}

static void patterns_empty_and_rectangular_matrices_come_back(void **state)
{
    (void)state;
    saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, NULL);
    comes_back(&A, "columns lower 3x3: 0=1 1=1 / 1=1 2=1 / 2=1");
    const int32_t nothing[] = {0, 0, 0};
    A = saddle_symmetric(2, nothing, NULL, lower_val);
    comes_back(&A, "columns lower 2x2: /");
    A = saddle_symmetric(0, nothing, NULL, NULL);
    comes_back(&A, "columns lower 0x0:");
    A = saddle_general(3, general_ptr, general_ind, general_val);
    A.columns = 4;
    assert_int_equal(saddle_write_matrix(path_of("x.mtx"), &A, NULL, NULL), SADDLE_OK);
    assert_string_equal(drawn_from(path_of("x.mtx")), "rows general 3x4: 0=1 1=2 / 2=3 / 0=4 2=5");
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_write_matrix(path_of("x.rb"), &A, NULL, message), SADDLE_NOT_SUPPORTED);
    assert_non_null(strstr(message, "rectangular"));
}

static uint64_t seed = UINT64_C(7);

static uint64_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed ^ seed >> 29;
}

/* Values of any magnitude, bit by bit, in every format. */
static void random_matrices_come_back_bit_by_bit(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    enum { N = 60, MOST = 1200 };
    for (int round = 0; round < 20; round++) {
        int64_t ptr[N + 1] = {0};
        int32_t ind[MOST];
        double val[MOST];
        int64_t count = 0;
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                if (next_random() % 4 != 0 || count == MOST) continue;
                const uint64_t bits = next_random();
                memcpy(&val[count], &bits, sizeof bits);
                if (!isfinite(val[count])) val[count] = 0.1;
                if (round % 2 == 1) val[count] = (double)(int64_t)(next_random() % 2000) / 8 - 100;
                ind[count++] = j;
            }
            ptr[i + 1] = count;
        }
        const saddle_matrix A = {sizeof A, N,   N,   count, SADDLE_ROWS, SADDLE_GENERAL, SADDLE_DOUBLE, 0,
                                 64,       ptr, ind, NULL,  val};
        for (size_t k = 0; k < 4; k++) {
            saddle_matrix B;
            assert_int_equal(saddle_write_matrix(path_of(names[k]), &A, NULL, NULL), SADDLE_OK);
            assert_int_equal(saddle_read_matrix(path_of(names[k]), NULL, &B, NULL), SADDLE_OK);
            assert_true(B.layout == SADDLE_ROWS && B.entries == count);
            assert_memory_equal(B.pointers, ptr, sizeof ptr);
            assert_memory_equal(B.indices, ind, (size_t)count * sizeof *ind);
            assert_memory_equal(B.values, val, (size_t)count * sizeof *val);
            saddle_matrix_free(&B, NULL);
        }
        int64_t n;
        double *values;
        assert_int_equal(saddle_write_vector(path_of("v.mtx.gz"), count, val, "a vector", NULL), SADDLE_OK);
        assert_int_equal(saddle_read_vector(path_of("v.mtx.gz"), NULL, &n, &values, NULL), SADDLE_OK);
        assert_true(n == count);
        assert_memory_equal(values, val, (size_t)count * sizeof *val);
        saddle_vector_free(values, NULL);
    }
}

static const char *content(const char *name)
{
    static char text[4096];
    text[read_bytes(path_of(name), text, sizeof text - 1)] = '\0';
    return text;
}

static void files_look_as_the_formats_say(void **state)
{
    (void)state;
    const saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    assert_int_equal(saddle_write_matrix(path_of("x.mtx"), &A, "one\n\ntwo", NULL), SADDLE_OK);
    assert_string_equal(content("x.mtx"),
                        "%%MatrixMarket matrix coordinate real symmetric\n% one\n% \n% two\n3 3 5\n"
                        "1 1 2\n2 1 -1\n2 2 0.1\n3 2 3\n3 3 1e-300\n");
    assert_int_equal(saddle_write_matrix(path_of("x.rb"), &A, "one\ntwo", NULL), SADDLE_OK);
    assert_string_equal(content("x.rb"),
                        "one                                                                     saddle  \n"
                        "             4             1             1             2\n"
                        "RSA                        3             3             5             0\n"
                        "(40I2)          (40I2)          (3E25.16)           \n"
                        " 1 3 5 6\n 1 2 2 3 3\n"
                        "                       2.                      -1.      0.10000000000000001\n"
                        "                       3.                  1.e-300\n");
    const double x[] = {1, 0.1, -1e300};
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), 3, x, NULL, NULL), SADDLE_OK);
    assert_string_equal(content("v.mtx"),
                        "%%MatrixMarket matrix array real general\n3 1\n1\n0.10000000000000001\n"
                        "-1.0000000000000001e+300\n");
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), 0, NULL, NULL, NULL), SADDLE_OK);
    assert_string_equal(content("v.mtx"), "%%MatrixMarket matrix array real general\n0 1\n");
}

static void a_title_is_not_taken_for_a_banner(void **state)
{
    (void)state;
    const saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    assert_int_equal(saddle_write_matrix(path_of("x.rb"), &A, "%% of all", NULL), SADDLE_OK);
    assert_string_equal(drawn_from(path_of("x.rb")), symmetric_drawing);
}

static void a_comment_of_any_length_is_written(void **state)
{
    (void)state;
    char comment[3000];
    memset(comment, 'c', sizeof comment - 1);
    comment[sizeof comment - 1] = '\0';
    const double x = 1;
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), 1, &x, comment, NULL), SADDLE_OK);
    const char *text = content("v.mtx");
    assert_int_equal(strspn(strchr(text, 'c') ? strstr(text, "% c") + 2 : "", "c"), sizeof comment - 1);
    const saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    assert_int_equal(saddle_write_matrix(path_of("x.rb"), &A, comment, NULL), SADDLE_OK);
    assert_string_equal(drawn_from(path_of("x.rb")), symmetric_drawing);
}

/* Fails with this status and word, whatever was there before is left, and nothing else. */
static void refuses(const char *path, const saddle_matrix *A, saddle_status status, const char *word)
{
    const int before = files_in_folder(0);
    char message[SADDLE_MESSAGE_SIZE] = "";
    const saddle_status got = saddle_write_matrix(path, A, NULL, message);
    if (got != status) fail_msg("status %d instead of %d: %s", got, status, message);
    if (!strstr(message, word)) fail_msg("'%s' is not in '%s'", word, message);
    assert_int_equal(files_in_folder(0), before);
}

static void refuses_matrices_that_are_malformed(void **state)
{
    (void)state;
    files_in_folder(1);
    const saddle_matrix good = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    for (size_t k = 0; k < 4; k += 2) {
        const char *path = path_of(names[k]);
        saddle_matrix A = good;
        const int32_t outside[] = {0, 1, 1, 3, 2}, above[] = {0, 1, 1, 0, 2}, descending[] = {0, 3, 2, 5};
        const double not_finite[] = {1, 2, NAN, 3, 4};
        A.indices = outside;
        refuses(path, &A, SADDLE_BAD_MATRIX, "row 3, column 1 (counted from 0), is out of range");
        A.indices = above;
        refuses(path, &A, SADDLE_BAD_MATRIX, "row 0, column 1 (counted from 0), is above");
        A = good;
        A.values = not_finite;
        refuses(path, &A, SADDLE_BAD_VALUE, "row 1, column 1");
        A = good;
        A.pointers = descending;
        refuses(path, &A, SADDLE_BAD_MATRIX, "pointers 1 and 2");
        const int64_t least[] = {1, INT64_MIN, 4, 6}; /* 1 cannot be taken off */
        A.pointers = least;
        A.pointer_bits = 64;
        A.base = 1;
        refuses(path, &A, SADDLE_BAD_MATRIX, "pointers 0 and 1");
        A = good;
        A.entries = 4;
        refuses(path, &A, SADDLE_BAD_MATRIX, "pointers 2 and 3");
        A.entries = 6;
        refuses(path, &A, SADDLE_BAD_MATRIX, "last pointer is 5");
        A = good;
        A.base = 2;
        refuses(path, &A, SADDLE_BAD_ARGUMENT, "base");
        A = good;
        A.pointer_bits = 16;
        refuses(path, &A, SADDLE_BAD_ARGUMENT, "neither 32 nor 64");
        A = good;
        A.pointers = NULL;
        refuses(path, &A, SADDLE_BAD_ARGUMENT, "missing");
        A = good;
        A.rows = -1;
        refuses(path, &A, SADDLE_BAD_ARGUMENT, "size");
        A = good;
        A.rows = 4;
        refuses(path, &A, SADDLE_BAD_MATRIX, "4 rows and 3 columns");
    }
    const double x[] = {1, INFINITY};
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), 2, x, NULL, message), SADDLE_BAD_VALUE);
    assert_non_null(strstr(message, "v.mtx: the value inf in row 1"));
    assert_int_equal(saddle_write_vector(path_of("v.rb"), 1, x, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), -1, x, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_write_vector(path_of("v.mtx"), 1, NULL, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_write_vector(NULL, 1, x, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_write_matrix(path_of("v.mtx"), NULL, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(files_in_folder(0), 0);
}

static void a_failure_leaves_the_old_file_and_no_other(void **state)
{
    (void)state;
    files_in_folder(1);
    const saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    refuses(path_of("x.txt"), &A, SADDLE_BAD_ARGUMENT, ".mtx");
    refuses(path_of("nowhere/x.mtx"), &A, SADDLE_FILE_WRITE, "No such file");
    char folder[300], long_name[5000];
    snprintf(folder, sizeof folder, "%s", path_of("folder.mtx"));
    assert_int_equal(mkdir(folder, 0700), 0);
    refuses(folder, &A, SADDLE_FILE_WRITE, "directory");
    assert_int_equal(rmdir(folder), 0);
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name + sizeof long_name - 5, ".mtx", 5);
    refuses(long_name, &A, SADDLE_FILE_WRITE, "name too long");
    make_file("x.mtx", "old");
    saddle_matrix bad = A;
    const int32_t outside[] = {0, 1, 1, 2, 3};
    bad.indices = outside;
    refuses(path_of("x.mtx"), &bad, SADDLE_BAD_MATRIX, "out of range");
    assert_string_equal(content("x.mtx"), "old");
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        print_message("no /dev/full on this machine\n");
        skip();
    }
    char link_name[300], message[SADDLE_MESSAGE_SIZE];
    static double x[20000];
    for (int packed = 0; packed < 2; packed++) {
        files_in_folder(1);
        snprintf(link_name, sizeof link_name, "%s", path_of(packed ? "full.mtx.gz" : "full.mtx"));
        assert_int_equal(symlink("/dev/full", link_name), 0);
        assert_int_equal(saddle_write_vector(link_name, 20000, x, NULL, message), SADDLE_FILE_WRITE);
        assert_non_null(strstr(message, "No space"));
        assert_int_equal(files_in_folder(0), 1);
    }
}

static void links_and_permissions_stay(void **state)
{
    (void)state;
    files_in_folder(1);
    const double x = 1;
    make_file("real.mtx", "old");
    assert_int_equal(chmod(path_of("real.mtx"), 0640), 0);
    assert_int_equal(symlink("real.mtx", path_of("link.mtx")), 0);
    assert_int_equal(saddle_write_vector(path_of("link.mtx"), 1, &x, NULL, NULL), SADDLE_OK);
    struct stat about;
    assert_int_equal(lstat(path_of("link.mtx"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path_of("real.mtx"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_non_null(strstr(content("real.mtx"), "MatrixMarket"));
    const mode_t mask = umask(027);
    assert_int_equal(saddle_write_vector(path_of("new.mtx"), 1, &x, NULL, NULL), SADDLE_OK);
    umask(mask);
    assert_int_equal(stat(path_of("new.mtx"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void minus_is_standard_output(void **state)
{
    (void)state;
    const double x[] = {1.5, -2};
    const int saved = dup(STDOUT_FILENO);
    const int file = open(path_of("out.mtx"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved >= 0 && file >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    const saddle_status status = saddle_write_vector("-", 2, x, NULL, NULL);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    assert_int_equal(status, SADDLE_OK);
    assert_string_equal(content("out.mtx"), "%%MatrixMarket matrix array real general\n2 1\n1.5\n-2\n");
}

static void a_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    files_in_folder(1);
    const saddle_matrix A = saddle_general(3, general_ptr, general_ind, general_val);
    for (size_t name = 0; name < 4; name++) {
        int64_t failures = 0;
        for (int64_t k = 1;; k++) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = sd_write_matrix(&c, path_of(names[name]), &A, NULL);
            assert_true(f.live == 0);
            if (!f.failed) {
                assert_int_equal(status, SADDLE_OK);
                break;
            }
            assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
            assert_int_equal(files_in_folder(0), 0);
            failures++;
        }
        assert_true(failures >= 1);
        assert_int_equal(files_in_folder(1), 1);
    }
}

static void a_comma_locale_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") || localeconv()->decimal_point[0] != ',') {
        setlocale(LC_ALL, "C");
        print_message("no locale de_DE.UTF-8 on this machine\n");
        skip();
    }
    const saddle_matrix A = saddle_symmetric(3, lower_ptr, lower_ind, lower_val);
    const saddle_status market = saddle_write_matrix(path_of("x.mtx"), &A, NULL, NULL);
    const saddle_status boeing = saddle_write_matrix(path_of("x.rb"), &A, NULL, NULL);
    setlocale(LC_ALL, "C");
    assert_int_equal(market, SADDLE_OK);
    assert_int_equal(boeing, SADDLE_OK);
    assert_null(strchr(content("x.mtx"), ','));
    assert_string_equal(drawn_from(path_of("x.mtx")), symmetric_drawing);
    assert_string_equal(drawn_from(path_of("x.rb")), symmetric_drawing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_of_a_symmetric_matrix_comes_back),
        cmocka_unit_test(every_view_of_a_general_matrix_comes_back),
        cmocka_unit_test(patterns_empty_and_rectangular_matrices_come_back),
        cmocka_unit_test(random_matrices_come_back_bit_by_bit),
        cmocka_unit_test(files_look_as_the_formats_say),
        cmocka_unit_test(a_title_is_not_taken_for_a_banner),
        cmocka_unit_test(a_comment_of_any_length_is_written),
        cmocka_unit_test(refuses_matrices_that_are_malformed),
        cmocka_unit_test(a_failure_leaves_the_old_file_and_no_other),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(links_and_permissions_stay),
        cmocka_unit_test(minus_is_standard_output),
        cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
        cmocka_unit_test(a_comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
