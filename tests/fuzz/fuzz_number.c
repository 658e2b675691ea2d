/* Numbers: what is read is what strtod and strtoll read, to the bit, and comes back when printed. */
#include "core/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                    \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_double(const char *begin, const char *end, char *copy)
{
    double value = 0;
    const char *after = sd_parse_double(begin, end, &value);
    const size_t length = (size_t)((after ? after : end) - begin);
    memcpy(copy, begin, length);
    copy[length] = '\0';
    for (char *p = copy; *p; p++) {
        if (*p == 'd' || *p == 'D') *p = 'e';
    }
    char *stop;
    const double right = strtod(copy, &stop);
    if (!after) { /* strtod passes over blanks */
        MUST(stop == copy || strchr(" \t\n\v\f\r", copy[0]));
        return;
    }
    MUST(stop == copy + length);
    MUST(same_bits(value, right));
    char text[64];
    double back;
    MUST(sd_print_double(value, 17, text, sizeof text) == (int)strlen(text));
    MUST(sd_parse_double_text(text, &back) && same_bits(back, value));
}

static void check_integer(const char *begin, const char *end, char *copy)
{
    int64_t value = 0;
    const char *after = sd_parse_int64(begin, end, &value);
    const size_t length = (size_t)((after ? after : end) - begin);
    memcpy(copy, begin, length);
    copy[length] = '\0';
    char *stop;
    errno = 0;
    const long long right = strtoll(copy, &stop, 10);
    if (!after) {
        MUST(stop == copy || errno == ERANGE || strchr(" \t\n\v\f\r", copy[0]));
        return;
    }
    MUST(stop == copy + length && errno == 0 && value == right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *begin = (const char *)data;
    char *copy = malloc(size + 1);
    if (!copy) return 0;
    check_double(begin, begin + size, copy);
    check_integer(begin, begin + size, copy);
    free(copy);
    return 0;
}
