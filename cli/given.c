/* See given.h. */
#include "cli/given.h"

#include "cli/help.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { WORDS_MOST = 32, WORD_SIZE = 32, PATH_SIZE = 4096 };

bool given_takes_file(const saddle_option *row)
{
    return word_number(row->words, "user") >= 0;
}

void given_stands(const saddle_option *row, char *text, size_t text_size)
{
    const char *words = row->words;
    char word[WORD_SIZE];
    size_t used = 0;
    text[0] = 0;
    while (next_word(&words, word, sizeof word) && used < text_size) {
        used += (size_t)snprintf(text + used, text_size - used, "%s%s", used ? "|" : "",
                                 strcmp(word, "user") == 0 ? "FILE" : word);
    }
}

static bool exists(const char *path)
{
    struct stat is;
    return strcmp(path, "-") == 0 || stat(path, &is) == 0;
}

/* Splits "ROWS,COLS" at the first comma that leaves two files. */
static bool two_files(const char *text, char *first, const char **second)
{
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        const size_t length = (size_t)(comma - text);
        if (length >= PATH_SIZE) return false;
        memcpy(first, text, length);
        first[length] = 0;
        *second = comma + 1;
        if (length && exists(first) && exists(*second)) return true;
    }
    return false;
}

static bool is_scaling(const saddle_option *row)
{
    return strcmp(row->name, "scaling") == 0;
}

/* The words of the program: all of the library's but "user". Returns how many. */
static int program_words(const saddle_option *row, char (*word)[WORD_SIZE], const char **words)
{
    const char *rest = row->words;
    int count = 0;
    while (count < WORDS_MOST && next_word(&rest, word[count], WORD_SIZE)) {
        if (strcmp(word[count], "user") == 0) continue;
        words[count] = word[count];
        ++count;
    }
    return count;
}

int given_take(arguments *a, const saddle_option *row, const char *text)
{
    static char first[PATH_SIZE];
    char word[WORDS_MOST][WORD_SIZE], stands[128];
    const char *words[WORDS_MOST], *second;
    const int count = program_words(row, word, words);
    if (!*text) return usage_error(a, "--%s requires a value that is not empty", row->name);
    const bool known = strcmp(text, "user") != 0 && word_number(row->words, text) >= 0;
    const bool file = !known && (exists(text) || (is_scaling(row) && two_files(text, first, &second)));
    if (known || file) {
        saddle_options_set(&a->library, row->name, file ? "user" : text, NULL);
        return EXIT_DONE;
    }
    const char *near = nearest_word(text, words, count);
    if (near)
        return usage_error(a, "--%s cannot be \"%s\": there is no such file; did you mean %s?", row->name,
                           text, near);
    given_stands(row, stands, sizeof stands);
    return usage_error(a, "--%s cannot be \"%s\": it must be one of %s, and there is no such file", row->name,
                       text, stands);
}

/* How many files of an option's value are standard input. */
static int count_standard(const char *text)
{
    static char first[PATH_SIZE];
    const char *second = "";
    if (!text) return 0;
    if (exists(text) || !two_files(text, first, &second)) return strcmp(text, "-") == 0;
    return (strcmp(first, "-") == 0) + (strcmp(second, "-") == 0);
}

int given_check(const arguments *a, const char *matrix, const char *const *names)
{
    char list[128] = "the matrix";
    int count = strcmp(matrix, "-") == 0;
    for (int k = 0; names[k]; ++k) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", names[k + 1] ? ", " : " and ", names[k]);
        count += count_standard(argument_text(a, names[k]));
    }
    if (count > 1) return usage_error(a, "only one of %s can be standard input", list);
    return EXIT_DONE;
}

static saddle_status read_given(const char *path, int64_t n, const char *what, const saddle_hooks *hooks,
                                double **values, char *message)
{
    int64_t length = 0;
    const saddle_status status = saddle_read_vector(path, hooks, &length, values, message);
    if (status != SADDLE_OK || length == n) return status;
    saddle_vector_free(*values, hooks);
    *values = NULL;
    snprintf(message, SADDLE_MESSAGE_SIZE,
             "%.200s: the %s has %" PRId64 " entries, the matrix has %" PRId64 " rows", path, what, length,
             n);
    return SADDLE_FILE_FORMAT;
}

static saddle_status read_scaling(const char *text, const saddle_matrix *A, const saddle_hooks *hooks,
                                  given *g, char *message)
{
    static char first[PATH_SIZE];
    const char *second = NULL;
    const bool two = !exists(text) && two_files(text, first, &second);
    if (two && A->shape != SADDLE_GENERAL) {
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "%.200s: a symmetric matrix has a single scaling for rows and columns: give one file", text);
        return SADDLE_FILE_FORMAT;
    }
    saddle_status status = read_given(two ? first : text, A->rows, "scaling", hooks, &g->row_scale, message);
    if (status == SADDLE_OK && two)
        status = read_given(second, A->rows, "scaling", hooks, &g->col_scale, message);
    g->arrays.row_scale = g->row_scale;
    g->arrays.col_scale = g->col_scale;
    return status;
}

static saddle_status no_memory(int64_t n, char *message)
{
    snprintf(message, SADDLE_MESSAGE_SIZE, "out of memory for %" PRId64 " rows", n);
    return SADDLE_OUT_OF_MEMORY;
}

/* From numbers counted from 1, as permutation.mtx has them, to the library's from 0. Whether none stands
 * twice the library sees. */
static saddle_status read_order(const char *path, int64_t n, memory *m, const saddle_hooks *hooks, given *g,
                                char *message)
{
    double *values = NULL;
    saddle_status status = read_given(path, n, "order", hooks, &values, message);
    if (status == SADDLE_OK && !(g->permutation = memory_take(m, n, sizeof *g->permutation)))
        status = no_memory(n, message);
    for (int64_t k = 0; status == SADDLE_OK && k < n; ++k) {
        const bool whole = values[k] == floor(values[k]);
        if (whole && values[k] >= 1 && values[k] <= (double)n) {
            g->permutation[k] = (int32_t)(values[k] - 1);
            continue;
        }
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "%.200s: not a permutation: position %" PRId64 " holds %.17g, which is %s %" PRId64, path,
                 k + 1, values[k], whole ? "not between 1 and" : "not an integer between 1 and", n);
        status = SADDLE_FILE_FORMAT;
    }
    saddle_vector_free(values, hooks);
    g->arrays.permutation = g->permutation;
    return status;
}

saddle_status given_read_signs(const char *path, int64_t n, memory *m, const saddle_hooks *hooks, given *g,
                               char *message)
{
    double *values = NULL;
    saddle_status status = read_given(path, n, "vector of signs", hooks, &values, message);
    if (status == SADDLE_OK && !(g->signs = memory_take(m, n, sizeof *g->signs)))
        status = no_memory(n, message);
    for (int64_t k = 0; status == SADDLE_OK && k < n; ++k) {
        g->signs[k] = (int8_t)(values[k] > 0 ? 1 : values[k] < 0 ? -1 : 0);
        if (values[k] == g->signs[k]) continue;
        snprintf(message, SADDLE_MESSAGE_SIZE,
                 "%.200s: not a vector of signs: entry %" PRId64 " is %.17g, not 1, -1 or 0", path, k + 1,
                 values[k]);
        status = SADDLE_FILE_FORMAT;
    }
    saddle_vector_free(values, hooks);
    return status;
}

saddle_status given_read(const arguments *a, const saddle_matrix *A, memory *m, const saddle_hooks *hooks,
                         given *g, char *message)
{
    saddle_status status = SADDLE_OK;
    *g = (given){0};
    if (a->library.scaling == SADDLE_SCALING_USER)
        status = read_scaling(argument_text(a, "scaling"), A, hooks, g, message);
    if (status == SADDLE_OK && a->library.order == SADDLE_ORDER_USER)
        status = read_order(argument_text(a, "order"), A->rows, m, hooks, g, message);
    return status;
}

void given_free(given *g, memory *m, const saddle_hooks *hooks)
{
    saddle_vector_free(g->row_scale, hooks);
    saddle_vector_free(g->col_scale, hooks);
    memory_give(m, g->permutation);
    memory_give(m, g->signs);
    *g = (given){0};
}

const char *given_at_fault(const arguments *a, saddle_status status)
{
    const bool refused = status == SADDLE_BAD_ARGUMENT || status == SADDLE_BAD_VALUE;
    if (status == SADDLE_BAD_ARGUMENT && a->library.order == SADDLE_ORDER_USER)
        return argument_text(a, "order");
    if (refused && a->library.scaling == SADDLE_SCALING_USER) return argument_text(a, "scaling");
    return NULL;
}
