/*
 * What the tests of files share: a folder of their own that is gone afterwards, files made from a
 * string, matrices drawn as a string, and reading under an allocator that counts.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "saddle/saddle.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char test_folder[200];

/* Set-up and tear-down of a group. */
static int make_folder(void **state)
{
    (void)state;
    const char *place = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/saddle-test-XXXXXX", place ? place : ".");
    return mkdtemp(test_folder) ? 0 : -1;
}

/* Counts the files in the folder, removing them if asked to. */
static int files_in_folder(int remove_them)
{
    DIR *folder = opendir(test_folder);
    if (!folder) return -1;
    int count = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        char path[500];
        snprintf(path, sizeof path, "%s/%s", test_folder, entry->d_name);
        if (remove_them) unlink(path);
        count++;
    }
    closedir(folder);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    files_in_folder(1);
    return rmdir(test_folder);
}

/* The path of a file in the folder, valid until the next call but one. */
static const char *path_of(const char *name)
{
    static char paths[2][300];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", test_folder, name);
    return paths[turn];
}

static inline const char *make_file_of(const char *name, const void *bytes, size_t length)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, length, file) == length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *make_file(const char *name, const char *text)
{
    return make_file_of(name, text, strlen(text));
}

static inline const char *make_gzip(const char *name, const char *text)
{
    const char *path = path_of(name);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static inline size_t read_bytes(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, room, file);
    fclose(file);
    return length;
}

/* "columns lower 2x2: 0=2 1=-1 / 1=2": each column (row) with its indices from 0 and values. */
static inline const char *draw(const saddle_matrix *A)
{
    static char text[4096];
    static const char *const layouts[] = {"columns", "rows", "coordinates"};
    static const char *const shapes[] = {"general", "lower", "upper", "full"};
    assert_int_equal(A->type, SADDLE_DOUBLE);
    assert_int_equal(A->base, 0);
    assert_int_equal(A->pointer_bits, 64);
    const int64_t *start = A->pointers, n = A->layout == SADDLE_ROWS ? A->rows : A->columns;
    assert_true(start[0] == 0 && start[n] == A->entries);
    size_t at = (size_t)snprintf(text, sizeof text, "%s %s %lldx%lld:", layouts[A->layout], shapes[A->shape],
                                 (long long)A->rows, (long long)A->columns);
    for (int64_t i = 0; i < n; i++) {
        if (i > 0) at += (size_t)snprintf(text + at, sizeof text - at, " /");
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            at += (size_t)snprintf(text + at, sizeof text - at, " %d=%.17g", A->indices[k],
                                   ((const double *)A->values)[k]);
            assert_true(at < sizeof text);
        }
    }
    return text;
}

/* Reads a file that must be good, draws it, and sees that nothing is left. */
static inline const char *drawn_from(const char *path)
{
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_matrix A;
    if (saddle_read_matrix(path, &hooks, &A, message) != SADDLE_OK) fail_msg("%s", message);
    const char *drawing = draw(&A);
    saddle_matrix_free(&A, &hooks);
    assert_true(f.live == 0);
    return drawing;
}

/* The message that reading a matrix fails with: it begins with the path and, unless 0, the line. */
static inline const char *failure_of(const char *path, saddle_status status, int line)
{
    static char message[SADDLE_MESSAGE_SIZE];
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_matrix A;
    memset(&A, 1, sizeof A);
    const saddle_status got = saddle_read_matrix(path, &hooks, &A, message);
    if (got != status) fail_msg("status %d instead of %d: %s", got, status, message);
    assert_true(f.live == 0);
    assert_true(!A.pointers && !A.indices && !A.values && A.rows == 0);
    char start[400];
    if (line > 0) {
        snprintf(start, sizeof start, "%s:%d: ", path, line);
    } else {
        snprintf(start, sizeof start, "%s: ", path);
    }
    if (strncmp(message, start, strlen(start)) != 0)
        fail_msg("'%s' does not begin with '%s'", message, start);
    return message + strlen(start);
}

/* A text that is refused, and a word of what is said of it and its line; 0: of no line. */
typedef struct bad_text {
    const char *text;
    saddle_status status;
    int line;
    const char *word;
} bad_text;

/* Each text is refused in a file of this name, behind this beginning. */
static inline void assert_refused(const char *name, const char *beginning, const bad_text *cases,
                                  size_t count)
{
    for (size_t k = 0; k < count; k++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s", beginning, cases[k].text);
        const char *message = failure_of(make_file(name, text), cases[k].status, cases[k].line);
        if (!strstr(message, cases[k].word)) fail_msg("'%s' is not in '%s'", cases[k].word, message);
    }
}

/* Lets every allocation of reading this file fail in turn. */
static inline void survives_failing_allocations(const char *path)
{
    int64_t failures = 0;
    for (int64_t k = 1;; k++) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        char message[SADDLE_MESSAGE_SIZE] = "";
        saddle_matrix A;
        const saddle_status status = saddle_read_matrix(path, &hooks, &A, message);
        if (status == SADDLE_OK) saddle_matrix_free(&A, &hooks);
        assert_true(f.live == 0);
        if (!f.failed) {
            assert_int_equal(status, SADDLE_OK);
            break;
        }
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
        assert_true(strncmp(message, path, strlen(path)) == 0);
        failures++;
    }
    assert_true(failures >= 4);
}
